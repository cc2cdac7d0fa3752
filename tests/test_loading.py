"""Emitted code is ordinary Python: tracebacks, pdb and inspect see it, and it goes when it is not needed."""

import gc
import inspect
import linecache
import subprocess
import sys
import threading
import traceback
import warnings
from pathlib import Path

import numpy as np
import pytest

import tangentc

SCALE = 2.0


def scaled(x):
    return np.sum(SCALE * x * x)


def helper(x):
    return x * 3.0


def uses_helper(x):
    return helper(x) * x


def with_default(x, k=2.0, *, shift=0.0):
    return x * x * k + shift


def sum_of_parts(x, n):
    return np.sum(np.exp(x[:n] + x[:2]))


def test_inspect_finds_the_emitted_text():
    gradient = tangentc.grad(scaled)
    gradient(np.ones(3))
    function = gradient.last.function
    assert inspect.getsource(function).startswith("def scaled_grad(x, out_bar=1.0):")
    assert inspect.getsource(function) in gradient.source
    assert "The gradient of scaled with respect to x." in inspect.getdoc(function)


def test_traceback_shows_the_emitted_line():
    with pytest.raises(ValueError) as caught:
        tangentc.grad(sum_of_parts)(np.ones(5), 3)
    frame = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert frame.filename.startswith("<tangentc sum_of_parts_grad")
    assert "x[:n]" in frame.line


def test_no_warning_where_a_constant_stands_for_an_option():
    from programs.exceptions import option_that_is_called_in_a_try

    with warnings.catch_warnings():  # of `None(x)`, in what is only tried
        warnings.simplefilter("error")
        assert tangentc.grad(option_that_is_called_in_a_try)(2.0) == 36.0


def test_text_is_freed_with_the_function():
    def run():
        gradient = tangentc.grad(lambda x: x * x * 17.0)
        gradient(2.0)
        return gradient.last.function.__code__.co_filename

    name = run()
    others = [tangentc.grad(lambda x: x) for _ in range(32)]  # of which no more are kept
    gc.collect()
    assert name not in linecache.cache and others


def test_globals_are_read_live(monkeypatch):
    gradient = tangentc.grad(scaled)
    np.testing.assert_array_equal(gradient(np.ones(2)), [4.0, 4.0])
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    np.testing.assert_array_equal(gradient(np.ones(2)), [10.0, 10.0])
    monkeypatch.setitem(globals(), "SCALE", np.array([1.0, 2.0]))
    np.testing.assert_array_equal(gradient(np.ones(2)), [2.0, 4.0])


def test_a_helper_that_changes_is_seen(monkeypatch):
    gradient = tangentc.grad(uses_helper)
    assert gradient(2.0) == 12.0
    monkeypatch.setitem(globals(), "helper", lambda x: x * x)
    assert gradient(2.0) == 12.0 and gradient(3.0) == 27.0


def test_a_closure_cell_that_changes_is_seen():
    k = 2.0

    def f(x):
        return k * x * x

    gradient = tangentc.grad(f)
    assert gradient(1.0) == 4.0
    k = 3.0
    assert gradient(1.0) == 6.0


def test_two_lambdas_on_one_line():
    f, g = (lambda x: x * x), (lambda x: x * x * x)
    assert tangentc.grad(f)(2.0) == 4.0 and tangentc.grad(g)(2.0) == 12.0


def test_types_are_told_apart():
    gradient = tangentc.grad(lambda x, y: np.sum(x * y), wrt=(0, 1))
    for x, y in [
        (2.0, 3.0),
        (np.ones(3), 2.0),
        (2.0, np.ones(9)),
        (np.ones((2, 1)), np.ones(3)),
        (np.ones(12), np.ones(1)),
    ]:
        gx, gy = gradient(x, y)
        assert np.shape(gx) == np.shape(x) and np.shape(gy) == np.shape(y)
        total = x * y + np.zeros(np.shape(x * y))
        assert np.sum(gx * x) == pytest.approx(np.sum(total)) and np.sum(gy * y) == pytest.approx(np.sum(total))


def test_the_same_code_serves_other_large_lengths():
    gradient = tangentc.grad(lambda x: np.sum(x * x))
    gradient(np.ones(20))
    first = gradient.last
    gradient(np.ones(300))
    assert gradient.last is first


def test_defaults_and_keywords():
    gradient = tangentc.grad(with_default)
    assert gradient(3.0) == 12.0
    assert gradient(3.0, 5.0) == 30.0
    assert gradient(x=3.0, k=5.0, shift=2.0) == 30.0
    assert tangentc.grad(with_default, wrt=("k", "shift"))(3.0) == (9.0, 1.0)
    with pytest.raises(TypeError, match="with_default"):
        gradient()


def test_value_and_grad_with_aux():
    def f(x):
        y = x * x
        return np.sum(y), {"y": y, "label": "squares"}

    (value, aux), gradient = tangentc.value_and_grad(f, has_aux=True)(np.array([1.0, 2.0]))
    assert value == 5.0 and aux["label"] == "squares"
    np.testing.assert_array_equal(aux["y"], [1.0, 4.0])
    np.testing.assert_array_equal(gradient, [2.0, 4.0])
    gradient, beside = tangentc.grad(f, has_aux=True)(np.array([1.0, 2.0]))
    np.testing.assert_array_equal(gradient, [2.0, 4.0])
    assert beside["label"] == "squares"


def test_differentiable_leaves_the_function_alone():
    @tangentc.differentiable(wrt=("x", "y"))
    def product(x, y):
        """The product."""
        return x * y

    assert product(2.0, 3.0) == 6.0 and product.__name__ == "product" and product.__doc__ == "The product."
    assert product.grad(2.0, 3.0) == (3.0, 2.0)
    assert product.value_and_grad(2.0, 3.0) == (6.0, (3.0, 2.0))
    assert product.vjp(2.0, 3.0)[1](2.0) == (6.0, 4.0)
    assert product.jvp((2.0, 3.0), (1.0, None)) == (6.0, 3.0)
    assert product.adjoint(2.0, 3.0, 10.0) == (30.0, 20.0)
    assert "def product_grad(x, y, out_bar=1.0):" in product.source_for(2.0, 3.0)


def test_second_order():
    cube = lambda x: x * x * x
    assert tangentc.grad(tangentc.grad(cube))(2.0) == 12.0
    assert tangentc.grad(tangentc.grad(tangentc.grad(cube)))(2.0) == 6.0
    assert tangentc.jvp(tangentc.grad(cube), (2.0,), (1.0,)) == (12.0, 12.0)


def test_zero_gradients():
    gx, gy = tangentc.grad(lambda x, y: x * 2.0, wrt=(0, 1))(1.0, np.ones(3))
    assert gx == 2.0
    np.testing.assert_array_equal(gy, np.zeros(3))


def test_cotangents_of_integers_are_none():
    _, pullback = tangentc.vjp(lambda x, n: x * n, 2.0, 3)
    assert pullback(1.0) == (3, None)


@pytest.mark.parametrize("reduce", [np.sum, np.prod, np.linalg.norm, np.var, np.std, lambda x: x.dot(x)])
def test_gradient_of_float32_times_a_number_of_float64(reduce):
    def f(x):
        return reduce(x) * np.float64(2.0)

    x = np.array([0.7, -0.4, 1.3], np.float32)
    assert tangentc.grad(f)(x).dtype == np.float32
    np.testing.assert_allclose(tangentc.grad(f)(x), tangentc.grad(f)(x.astype(float)), rtol=1e-5)


def test_float32_stays_float32():
    x = np.ones((3, 2), np.float32)
    value, gradient = tangentc.value_and_grad(lambda x: np.mean(np.tanh(x * 1.5) ** 2))(x)
    assert gradient.dtype == np.float32 and value.dtype == np.float32
    mixed = tangentc.grad(lambda x, y: np.sum(x * y), wrt=(0, 1))(x, np.ones((3, 2)))
    assert mixed[0].dtype == np.float32 and mixed[1].dtype == np.float64


def test_threads_compile_at_once():
    gradient = tangentc.grad(lambda x: np.sum(np.sin(x) * x))
    results = []
    threads = [threading.Thread(target=lambda n=n: results.append(gradient(np.ones(n)))) for n in range(1, 13)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(len(r) for r in results) == list(range(1, 13))


def test_two_processes_emit_the_same_bytes():
    program = (
        "import sys; sys.path[:0] = ['tests']\n"
        "import test_targets as t, numpy as np, tangentc\n"
        "from programs import arrays, containers, in_place, scalars\n"
        "for name in t.CASES: print(t.emitted(name))\n"
        "for m in (scalars, arrays, in_place, containers):\n"
        "    for f, args in m.PROGRAMS: print(tangentc.grad(f).source_for(*args))\n"
    )
    root = Path(__file__).parent.parent
    outputs = []
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=root,
            capture_output=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
        )
        assert done.returncode == 0, done.stderr.decode()
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1] and len(outputs[0]) > 10_000


def test_import_is_light():
    program = (
        "import sys, tangentc; print(sorted(set(sys.modules) & {'rich', 'pygments', 'cupy', 'scipy', 'hypothesis'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=Path(__file__).parent.parent
    )
    assert done.stdout.strip() == "[]"


def adds_into(x, y):
    x[0] += y[1]
    return np.sum(x * y)


def test_arguments_that_overlap_and_are_written_are_refused():
    x = np.array([1.0, 2.0, 3.0])
    for call in (
        lambda: tangentc.grad(adds_into)(x, x),
        lambda: tangentc.vjp(adds_into, x[:2], x[1:]),
        lambda: tangentc.jvp(adds_into, (x, x), (x, None)),
    ):
        with pytest.raises(tangentc.UnsafeMutation, match="shares memory with argument 1"):
            call()
    np.testing.assert_array_equal(tangentc.grad(adds_into)(x, x.copy()), [1.0, 2.0, 3.0])


def test_vjp_without_copies():
    x = np.array([1.0, 2.0])
    value, pullback = tangentc.vjp(lambda x: x * x, x, copy=False)
    np.testing.assert_array_equal(pullback(np.ones(2))[0], [2.0, 4.0])


def test_a_container_made_by_a_constructor_does_not_lose_the_derivative():
    assert tangentc.grad(lambda x: dict(a=x * x)["a"])(2.0) == 4.0
    with pytest.raises(tangentc.TangentcError):
        tangentc.grad(lambda x: {x * x}.pop())(2.0)


def redefined(t):
    return t * t


@pytest.mark.parametrize(
    "function",
    [
        lambda x: sum(redefined(t) for t in (x, 1.0)),
        lambda x: sum([redefined(t) for t in (x, 1.0)]),
        lambda x: (lambda q: redefined(q))(x),
        lambda *xs: sum(redefined(t) for t in xs),
    ],
)
def test_redefined_helper_of_an_inner_function(function, monkeypatch):
    derivative = tangentc.grad(function)
    assert derivative(2.0) == 4.0
    assert tangentc.vjp(function, 2.0)[1](1.0) == (4.0,)
    monkeypatch.setitem(globals(), "redefined", lambda t: t**3)
    assert derivative(2.0) == 12.0
    assert tangentc.vjp(function, 2.0)[1](1.0) == (12.0,)
    assert tangentc.jvp(function, (2.0,), (1.0,))[1] == 12.0


def program_grad(x):
    return x**3


def program_jvp(x):
    return x**2


def program_primal(x):
    return x**2


def program(x):
    return program_grad(2.0) * x + program_jvp(1.5) * x**2 + program_primal(3.0) * program_grad(x)


def test_functions_of_the_user_named_as_emitted_ones_are():
    assert tangentc.grad(program)(1.0) == 8 + 2 * 2.25 + 27
    assert tangentc.jvp(program, (1.0,), (1.0,)) == (program(1.0), 39.5)
    assert tangentc.vjp(program, 1.0)[1](1.0) == (39.5,)


FUNCTIONS, TABLE, NUMBERS = [np.sin, np.cos], {"c": np.sin}, {"a": 1.0, "b": 2.0}


def through_a_list(x):
    return FUNCTIONS[0](x) * FUNCTIONS[-1](x)


def through_a_dict(x):
    return TABLE["c"](x)


def through_numbers(x):
    s = 0.0
    for _, v in NUMBERS.items():
        s += v * x**2
    return s


def with_defaults(x, a=2.0, *, b=3.0):
    return x**2 * a * b


def calling_it(x):
    return with_defaults(x)


@pytest.mark.parametrize(
    "function, change",
    [
        (through_a_list, lambda: FUNCTIONS.__setitem__(0, np.exp)),
        (through_a_list, lambda: FUNCTIONS.append(np.tanh)),
        (through_a_dict, lambda: TABLE.__setitem__("c", np.exp)),
        (through_numbers, lambda: NUMBERS.__setitem__("c", 3.0)),
        (through_numbers, lambda: NUMBERS.pop("a")),
        (with_defaults, lambda: setattr(with_defaults, "__defaults__", (5.0,))),
        (calling_it, lambda: setattr(with_defaults, "__kwdefaults__", {"b": 7.0})),
    ],
)
def test_what_changes_and_stays_the_same_object_is_seen(function, change):
    derivative = tangentc.grad(function)
    derivative(0.7)
    change()
    h = 1e-6
    difference = (function(0.7 + h) - function(0.7 - h)) / (2 * h)
    np.testing.assert_allclose(derivative(0.7), difference, rtol=1e-8)


def written_into(d):
    d["c"] *= 2
    return np.sum(d["c"] * d["w"])


def test_an_argument_that_holds_an_array_twice_is_refused_where_it_is_written():
    x = np.array([0.3, -0.7])
    with pytest.raises(tangentc.UnsafeMutation, match="holds the same memory twice"):
        tangentc.grad(written_into)({"w": x, "c": x})
    with pytest.raises(tangentc.UnsafeMutation, match="holds the same memory twice"):
        tangentc.vjp(written_into, {"w": x[1:], "c": x[1:]})
    tangentc.grad(written_into)({"w": x, "c": x.copy()})


def clipped(x):
    x[x < 0] = 0.0
    return x * x


def test_check_grads_leaves_its_arguments_as_they_are():
    x = np.array([0.3, -0.7])
    tangentc.check_grads(clipped, (x,))
    np.testing.assert_array_equal(x, [0.3, -0.7])


def test_numbers_of_single_precision_among_arrays_of_double_precision():
    for joined in (
        lambda y: np.sum(np.hstack([np.ones(1), y]) ** 2), lambda y: np.sum(np.vstack([np.ones(1), y]) ** 2),
        lambda y: np.sum(np.append(np.ones(2), y) ** 2), lambda y: np.sum(np.linspace(0, y, 3) ** 2),
    ):  # fmt: skip
        assert tangentc.grad(joined)(np.float32(1.25)).dtype == np.float32


def test_lambdas_of_constants_on_one_line():
    two, three = (lambda: 2.0), (lambda: 3.0)
    assert tangentc.grad(lambda x: x * two() * three())(1.0) == 6.0
