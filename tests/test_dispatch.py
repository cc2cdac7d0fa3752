"""What a call tries first: a function that takes the arguments that the code is right for, and can be read."""

import collections
import copy
import dataclasses
import functools
import gc
import linecache
import pickle
import threading

import numpy as np
import pytest

import tangentc
from tangentc import adjoint, grad, jvp, value_and_grad, vjp
from tangentc.core.types import Struct
from tangentc.core.values import type_of

SCALE, RATES, BUFFER = 2.0, [1.0, 2.0], np.zeros(3)


def scaled(x, n, mode="sum", *, power=2):
    total = np.sum(x[:n] ** power) * SCALE
    return total if mode == "sum" else total / n


def written_into(x, y):
    x[0] += y[1]
    return np.sum(x * y)


def beside_the_module(x, y):
    x[0] = y[1] * 2.0
    return np.sum(x * y) * BUFFER[0]


def taken(derivative, *args):
    """Whether a call with these arguments is taken without the general way."""
    return any(d.accepts(derivative.bind(args, {})) for d in derivative.code.dispatches)


def called(derivative, *args, times=2):
    for _ in range(times):
        result = derivative(*copy.deepcopy(args))
    return result


TEXT = """\
def scaled_grad_takes(x, n, mode="sum", *, power=2):
    # x: float64[n0]
    if not (type(x) is ndarray and x.dtype == float64 and x.ndim == 1):
        return None
    (n0,) = x.shape
    if not (n0 >= 8):
        return None
    # n: int
    if not (type(n) is int and (n < 8 or n != n0)):
        return None
    # mode: 'sum'
    if not (type(mode) is str and mode == "sum"):
        return None
    # power: int
    if not (type(power) is int and (power < 8 or power != n0)):
        return None
    # what scaled_grad depends on
    if not (
        rules.version == VERSION
        and not complex_results.get()
        and scaled.__code__ is scaled_code
        and scaled.__defaults__ is scaled_defaults
        and [*scaled.__kwdefaults__] == ["power"]
        and scaled.__kwdefaults__["power"] is power_default
        and test_dispatch["np"] is np
    ):
        return None
    SCALE = test_dispatch["SCALE"]
    if not (type(SCALE) is float):
        return None
    scaled_grad_names["SCALE"] = SCALE
    return x, n, mode, power
"""


def test_the_whole_text():
    text = grad(scaled).dispatch_for(np.ones(9), 3)
    version = tangentc.rules.registry.REGISTRY.version
    assert text == TEXT.replace("VERSION", str(version))


def test_of_a_decorated_function_and_of_what_is_given_by_name():
    decorated = tangentc.differentiable(scaled)
    text = decorated.dispatch_for(np.ones(9), n=3, mode="mean")
    assert 'mode == "mean"' in text and text == decorated.grad.dispatch_for(np.ones(9), 3, "mean")


def test_defaults_and_names_are_bound_by_it():
    gradient, x = grad(scaled), np.arange(9.0)
    wanted = called(gradient, x, 3)
    general = gradient._call_in_general
    gradient._call_in_general = lambda args, keywords: pytest.fail("the general way was asked")
    for call in (
        lambda: gradient(x, 3),
        lambda: gradient(n=3, x=x),
        lambda: gradient(x, 3, mode="sum"),
        lambda: gradient(x, 3, "sum", power=2),
    ):
        np.testing.assert_array_equal(call(), wanted)
    gradient._call_in_general = general
    for call in (lambda: gradient(), lambda: gradient(x, 3, more=1), lambda: gradient(x, 3, x=x)):
        with pytest.raises(TypeError, match="scaled: "):
            call()


def test_lengths_from_8_on_are_symbols_and_equal_ones_stay_equal():
    gradient = grad(lambda x, y, n: np.sum(x) * np.sum(y) * n, wrt=(0, 1))
    called(gradient, np.ones(9), np.ones(20), 9)
    for x, y, n, same in [(10, 30, 10, True), (10, 10, 10, False), (10, 30, 11, False), (7, 30, 7, False)]:
        assert taken(gradient, np.ones(x), np.ones(y), n) == same
    assert not taken(gradient, np.ones(10), np.ones(30), 10.0)
    called(gradient, np.ones(9), np.ones(20), 3)
    assert [taken(gradient, np.ones(10), np.ones(30), n) for n in (4, 30, 50, True)] == [True, False, True, False]


def test_arrays_of_another_byte_order_or_from_a_pickle():
    gradient, x = grad(lambda x: np.sum(x * x)), np.arange(3.0)
    called(gradient, x)
    assert taken(gradient, pickle.loads(pickle.dumps(x))) and not taken(gradient, x.astype(">f8"))
    called(gradient, x.astype(">f8"))
    assert taken(gradient, x.astype(">f8")) and taken(gradient, x)


def test_memory_that_is_shared_is_refused_as_before():
    gradient, x, y = grad(written_into), np.array([1.0, 2.0, 3.0]), np.arange(6.0)
    wanted = called(gradient, x, x.copy())
    assert taken(gradient, x, x.copy()) and taken(gradient, y[:3], y[3:])
    for pair in ((x, x), (x, x[:]), (y[:3], y[1:4]), (y[:3], y[2:-1])):
        assert not taken(gradient, *pair)
        with pytest.raises(tangentc.UnsafeMutation, match="written_into writes into argument 0, which shares memory"):
            gradient(*pair)
    np.testing.assert_array_equal(gradient(x, x.copy()), wanted)


def test_memory_of_the_module_that_is_read():
    gradient, x = grad(beside_the_module), np.ones(3)
    called(gradient, x, x.copy())
    assert taken(gradient, x, BUFFER) and not taken(gradient, BUFFER, x)
    with pytest.raises(tangentc.UnsafeMutation, match="argument 0, which shares memory with BUFFER"):
        gradient(BUFFER, x)


class Model:
    def __init__(self):
        self.W, self.b = np.ones((2, 3)), 0.5

    def loss(self, x):
        return np.sum(self.W @ x) * self.b


@pytest.mark.parametrize(
    "change",
    [
        lambda m, patch: setattr(m, "b", 2),
        lambda m, patch: setattr(m, "more", 2.0),
        lambda m, patch: delattr(m, "b"),
        lambda m, patch: setattr(m, "W", np.ones((3, 2))),
        lambda m, patch: patch.setattr(Model, "loss", lambda self, x: np.sum(x)),
        lambda m, patch: patch.setattr(Model, "more", property(lambda self: 1.0), raising=False),
        lambda m, patch: patch.setattr(Model.loss, "__defaults__", (1.0,)),
    ],
)
def test_an_object_and_its_class_that_change(change, monkeypatch):
    model, x = Model(), np.ones(3)
    for derivative, args in ((grad(model.loss), (x,)), (grad(lambda m, x: m.loss(x)), (model, x))):
        called(derivative, *args)
        bound, dispatches = derivative.bind(args, {}), derivative.code.dispatches
        model_, model.__dict__ = model.__dict__.copy(), model.__dict__
        assert any(d.takes(*args) for d in dispatches)
        with monkeypatch.context() as patch:
            change(model, patch)
            assert not any(d.accepts(bound) for d in dispatches)
        model.__dict__.clear()
        model.__dict__.update(model_)
        assert any(d.takes(*args) for d in dispatches)


def test_partial_functions_and_closures(monkeypatch):
    k = [1.0]
    part = functools.partial(lambda w, x: np.sum(w * x) * k[0], np.ones(3))
    gradient = grad(part)
    called(gradient, np.ones(3))
    assert taken(gradient, np.ones(3))
    k.append(np.ones(2))
    assert not taken(gradient, np.ones(3))
    k[:] = [3.0]
    assert taken(gradient, np.ones(3))
    np.testing.assert_array_equal(gradient(np.ones(3)), [3.0, 3.0, 3.0])
    k = (1.0,)
    assert not taken(gradient, np.ones(3))
    np.testing.assert_array_equal(gradient(np.ones(3)), [1.0, 1.0, 1.0])


def test_data_of_the_module_are_shown_to_the_code(monkeypatch):
    gradient = grad(lambda x: x * SCALE + sum(RATES) * x)
    assert called(gradient, 1.0) == 5.0
    monkeypatch.setitem(globals(), "SCALE", 7.0)
    assert taken(gradient, 1.0) and gradient(1.0) == 10.0
    monkeypatch.setitem(globals(), "RATES", [1.0, 2.0, 3.0])
    assert not taken(gradient, 1.0) and gradient(1.0) == 13.0


class Table:
    def __init__(self, count, length):
        self.values, self.count = np.ones(length), count


TABLE, COUNT = Table(3, 9), 9


def test_lengths_of_data_are_their_own(monkeypatch):
    gradient = grad(lambda x: np.sum(x * x) * TABLE.count * np.sum(TABLE.values) * COUNT)
    called(gradient, np.ones(9))
    assert taken(gradient, np.ones(9)) and taken(gradient, np.ones(20))
    for table, same in ((Table(5, 9), True), (Table(20, 9), True), (Table(9, 9), False), (Table(3, 20), False)):
        monkeypatch.setitem(globals(), "TABLE", table)
        assert taken(gradient, np.ones(20)) == same
        assert gradient.last.is_fresh(called=True) == same
    monkeypatch.setitem(globals(), "TABLE", Table(9, 9))
    gradient = grad(lambda x: np.sum(x * x) * TABLE.count * np.sum(TABLE.values) * COUNT)
    called(gradient, np.ones(9))
    monkeypatch.setitem(globals(), "TABLE", Table(10, 9))
    assert not taken(gradient, np.ones(9))


@dataclasses.dataclass
class Late:
    W: np.ndarray
    more: float = dataclasses.field(init=False)


def test_a_field_that_comes_later(monkeypatch):
    gradient, late = grad(lambda late: np.sum(late.W * 2.0)), Late(np.ones(3))
    called(gradient, late)
    assert taken(gradient, late)
    monkeypatch.setattr(Late, "more", 2.0, raising=False)
    assert not taken(gradient, late)


def test_a_rule_that_is_registered_since(monkeypatch):
    gradient = grad(lambda x: np.sum(x * x))
    called(gradient, np.ones(3))
    tangentc.zero_gradient(lambda x: x)
    assert not taken(gradient, np.ones(3))


def test_integers_whose_values_are_written_into_the_code():
    gradient, A = grad(lambda A, axes: np.transpose(A, axes)[0, 1] ** 2), np.arange(4.0).reshape(2, 2)
    called(gradient, A, (1, 0))
    assert taken(gradient, A, (1, 0)) and not taken(gradient, A, (0, 1))
    np.testing.assert_array_equal(gradient(A, (0, 1)), [[0, 2.0], [0, 0]])


ROOT = lambda x: np.sum(x**0.5)


def test_real_numbers_that_turn_out_to_be_complex():
    gradient = grad(lambda x: (x**0.5 * x**0.5).real)
    assert called(gradient, 4.0) == 1.0 and gradient(-4.0) == 1.0 and gradient(4.0) == 1.0
    assert grad(lambda x: x**0.5)(0.0) == np.inf


def test_python_numbers_that_raise():
    gradient = grad(lambda x: x**0.5)
    assert [gradient(x) for x in (4.0, 4.0, 0.0, 4.0, 0.0)] == [0.25, 0.25, np.inf, 0.25, np.inf]


def test_what_raises_says_the_same_each_time():
    gradient = grad(scaled)
    for args in ((np.ones(9), 3), (np.ones(9), "a"), (np.ones(9, int), 3), (np.ones((3, 3)), 3, None), ([], 3)):
        said = set()
        for _ in range(4):
            try:
                gradient(*args)
            except Exception as error:
                said.add((type(error), str(error)))
        assert len(said) <= 1
    assert isinstance(next(iter(said))[1], str)


def test_more_parts_than_are_looked_at_one_by_one():
    many = [np.ones(k % 5) for k in range(600)]
    gradient = grad(lambda arrays: np.sum(arrays[1]) * 2.0)
    for _ in range(3):
        np.testing.assert_array_equal(gradient(many)[1], [2.0])
    assert gradient.dispatch_for(many) == "" and not gradient.code.dispatches


class Key:
    """A key that shows itself in two lines."""

    def __repr__(self):
        return "key\nraise SystemExit"


def test_names_that_are_no_names_of_python():
    key, model = Key(), Model()
    parts = {key: 2.0, "a b": 1.0, "\u00b2": 1.0, "class": 1.0, "": 1.0, 'quo"te': 1.0, "new\nline": 1.0, 3: 1.0}
    vars(model).update({"class": 1.0, "\ufb01t": 2.0, "__hidden": 3.0})
    gradient = grad(lambda type, rules, x, mode: rules[3] * x * type.b, wrt="x")
    args = model, parts, 3.0, "it's\na 'text'"
    for _ in range(3):
        assert gradient(*args) == 0.5
    assert taken(gradient, *args) and not taken(gradient, *args[:3], "it's")
    assert not taken(gradient, model, {**parts, "": 1}, 3.0, args[3])
    vars(model)["\ufb01t"] = 2
    assert not taken(gradient, *args)


def test_only_the_newest_are_tried():
    gradient = grad(lambda x, k: np.sum(x) * abs(k))
    for n in range(1, 8):
        called(gradient, np.ones((1,) * n), 2.0)
        called(gradient, np.ones((1,) * n), 2)
        called(gradient, np.ones((1,) * n), 2j)
    assert len(gradient.code.dispatches) == 16 and not taken(gradient, np.ones(1), 2.0)
    called(gradient, np.ones(1), 2.0, times=1)
    assert taken(gradient, np.ones(1), 2.0)


def weighted(A, x, b):
    return np.sum(np.tanh(A @ x + b) ** 2)


def middle(u, k):
    v = u.copy()
    v[1:-1] = k * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(v**2) / len(u)


@pytest.mark.parametrize("kind", ["grad", "value_and_grad", "adjoint"])
def test_lengths_that_the_text_does_not_rest_on(kind, compilations):
    gradient = getattr(tangentc, kind)(weighted, wrt=("A", "b"))
    seed = (1.5,) if kind == "adjoint" else ()
    for rows, columns in ((3, 4), (4, 5), (7, 2), (2, 2), (30, 8), (6, 40)):
        A, x, b = np.linspace(-1, 1, rows * columns).reshape(rows, columns), np.ones(columns), np.linspace(0, 1, rows)
        got = gradient(A, x, b, *seed)
        t = np.tanh(A @ x + b)
        outer = np.outer(2 * t * (1 - t**2), x) * (seed or (1.0,))[0]
        np.testing.assert_allclose((got[1] if kind == "value_and_grad" else got)[0], outer)
    assert len(compilations) == 3  # for the first, for the second, and for both
    with pytest.raises(ValueError, match="do not fit"):
        gradient(np.ones((3, 4)), np.ones(5), np.ones(3), *seed)
    assert gradient(np.ones((3, 4)), np.ones(4), np.ones(1), *seed) is not None
    assert len(compilations) > 3


class Keeping:
    def __init__(self):
        self.seen, self.W, self.spare = [], np.array([[0.5, -0.2], [0.1, 0.9]]), [1.0]

    def forward(self, x):
        self.seen.append(x)
        return np.tanh(x @ self.W)


def kept(x, layer):
    return np.sum(layer.forward(x) ** 2) * len(layer.spare)


def test_lists_of_arguments_that_grow(compilations):
    gradient, layer, x = grad(kept), Keeping(), np.array([0.3, 0.7])
    t = np.tanh(x @ layer.W)
    want = layer.W @ (2 * t * (1 - t**2))
    for k in range(12):
        layer.forward(x * k)
        np.testing.assert_allclose(gradient(x, layer), want)
    assert (
        len(layer.seen) == 12 and len(compilations) == 1
    )  # what is in a list does not matter where more is put into it, and nothing read
    layer.spare = [1.0, 2.0, 3.0]
    np.testing.assert_allclose(gradient(x, layer), 3 * want)
    layer.seen.append("text")
    np.testing.assert_allclose(gradient(x, layer), 3 * want)


def chained(weights, x):
    for W in weights:
        x = np.tanh(x @ W)
    return np.sum(x)


def test_lists_of_arrays_of_any_length(compilations):
    gradient = grad(chained)
    rng = np.random.default_rng(0)
    for sizes in ((3, 4, 2), (2, 5, 5, 3), (4, 4), (2, 3, 4, 5, 6), (9, 8, 10), (1, 3)):
        weights = [rng.normal(size=s) for s in zip(sizes, sizes[1:])]
        x = rng.normal(size=sizes[0])
        got = gradient(weights, x)
        for k, W in enumerate(weights):
            h = np.zeros_like(W)
            h[0, -1] = 1e-6
            up, down = ([*weights[:k], W + s * h, *weights[k + 1 :]] for s in (1, -1))
            np.testing.assert_allclose(got[k][0, -1], (chained(up, x) - chained(down, x)) / 2e-6, rtol=1e-5, atol=1e-8)
    assert len(compilations) < 12


def test_lengths_have_to_be_as_many_as_the_text_rests_on(compilations):
    gradient = grad(middle)
    for n in (6, 4, 5, 9, 7, 20):
        gradient(np.ones(n), 0.3)
    assert len(compilations) == 3
    for n in (2, 3):
        u = np.linspace(0.0, 1.0, n)
        want = [(middle(u + h, 0.3) - middle(u - h, 0.3)) / 2e-6 for h in 1e-6 * np.eye(n)]
        np.testing.assert_allclose(gradient(u, 0.3), want, atol=1e-8)
    assert len(compilations) <= 8


def test_adjoints_take_their_arguments_by_position():
    pulled, x = adjoint(lambda x, k=2.0: x * k), np.ones(3)
    np.testing.assert_array_equal(called(pulled, x, 3.0, x), [3.0, 3.0, 3.0])
    assert pulled.code.dispatches[0].accepts((x, 3.0, x)) and not pulled.code.dispatches[0].accepts(
        (x, 3.0, np.ones(4))
    )
    with pytest.raises(tangentc.BadArgument, match="takes 3 arguments by position"):
        pulled(x, k=3.0, out_bar=x)
    with pytest.raises(tangentc.BadSeed):
        pulled(x, 3.0, np.ones(4))


def test_derivatives_of_derivatives():
    second = grad(grad(lambda x: x**3 * SCALE))
    assert [second(2.0) for _ in range(4)] == [24.0] * 4 and taken(second, 2.0)
    pairs = value_and_grad(grad(lambda x: x**3))
    assert [pairs(2.0) for _ in range(3)] == [(12.0, 12.0)] * 3


def test_what_is_given_by_position_is_no_keyword():
    """It was taken for the keyword that comes next, and gave a number."""
    gradient = grad(lambda x, *, scale=1.0: x * scale)
    for _ in range(3):
        with pytest.raises(TypeError, match="too many positional arguments"):
            gradient(2.0, 3.0)
        assert gradient(2.0, scale=3.0) == 3.0 and gradient(2.0) == 1.0


def with_rest(x, *rest, scale=1.0, **more):
    return x * sum(rest) * scale + sum(more.values())


def test_functions_with_any_number_of_arguments():
    gradient = grad(with_rest)
    for _ in range(3):
        assert gradient(2.0, 3.0) == 3.0 and gradient(2.0, 3.0, 4.0) == 7.0 and gradient(2.0) == 0
        assert gradient(2.0, 3.0, scale=2.0) == 6.0 and gradient(2.0, 3.0, a=1.0) == 3.0


def test_pullbacks_and_tangents():
    def f(x, y, n=2):
        return np.sum(x * y) * n

    x, y = np.ones(3), np.arange(3.0)
    Point = collections.namedtuple("Point", "a b")
    for function in (f, functools.partial(f, n=2), tangentc.differentiable(f)):
        for _ in range(4):
            value, pullback = vjp(function, x, y)
            assert value == 6.0 and len(pullback(1.0)) == 2
            np.testing.assert_array_equal(pullback(2.0)[0], [0.0, 4.0, 8.0])
            assert jvp(function, (x, y), (x, None)) == (6.0, 6.0)
            assert jvp(function, (x, y), (None, x)) == (6.0, 6.0)
            assert jvp(function, (x, y), (None, None)) == (6.0, 0.0)
            with pytest.raises(tangentc.BadSeed, match="the tangent of argument 0 of .* does not have the shape"):
                jvp(function, (x, y), (np.ones(4), None))
            with pytest.raises(tangentc.BadSeed):
                pullback(np.ones(2))
        for k in (3, 4):
            assert vjp(function, np.ones(k), np.ones(k))[1](1.0)[0].shape == (k,)
        value, pullback = vjp(function, x.astype(np.float32), y)
        assert pullback(1.0)[0].dtype == np.float32
    assert jvp(lambda p: p.a * p.b, (Point(2.0, 3.0),), (Point(1.0, 1.0),)) == (6.0, 5.0)


def test_pullbacks_of_a_function_that_changes():
    k = 2.0

    def f(x, y=3.0):
        return x * y * k

    for _ in range(3):
        assert vjp(f, 2.0)[1](1.0) == (6.0,) and jvp(f, (2.0,), (1.0,)) == (12.0, 6.0)
    k = 3.0
    assert vjp(f, 2.0)[1](1.0) == (9.0,) and jvp(f, (2.0,), (1.0,)) == (18.0, 9.0)
    f.__defaults__ = (1.0,)
    assert vjp(f, 2.0)[1](1.0) == (3.0,) and jvp(f, (2.0,), (1.0,)) == (6.0, 3.0)
    f.__code__ = (lambda x, y=3.0: x * x * y * k).__code__.replace(co_freevars=("k",))
    assert vjp(f, 2.0)[1](1.0) == (12.0,) and jvp(f, (2.0,), (1.0,)) == (12.0, 12.0)


def test_pullbacks_of_methods_of_several_objects():
    first, second = Model(), Model()
    second.b = 2.0
    for _ in range(4):
        assert vjp(first.loss, np.ones(3))[1](1.0)[0][0] == 1.0
        assert vjp(second.loss, np.ones(3))[1](1.0)[0][0] == 4.0
        assert jvp(second.loss, (np.ones(3),), (np.ones(3),))[1] == 12.0


def test_overlap_in_pullbacks():
    x = np.array([1.0, 2.0, 3.0])
    for _ in range(3):
        vjp(written_into, x, x.copy())
    with pytest.raises(tangentc.UnsafeMutation):
        vjp(written_into, x, x)


def test_derivatives_made_anew_share_their_code(monkeypatch):
    """`grad(f)(x)` in a loop compiles f once, as `grad(f)` before the loop does; another `wrt` is another code."""
    compiled = []
    compile_ = tangentc.derivative.Derivative._compile
    monkeypatch.setattr(
        tangentc.derivative.Derivative,
        "_compile",
        lambda self, *a, **k: compiled.append(self) or compile_(self, *a, **k),
    )
    x, model = np.array([1.0, 2.0, 3.0]), Model()
    for _ in range(3):
        np.testing.assert_array_equal(grad(written_into)(x.copy(), x), x)
        grad(model.loss)(x)
    assert len(compiled) == 2
    grad(written_into, wrt=1)(x.copy(), x)
    grad(Model().loss)(x)  # of another object
    assert len(compiled) == 4


def test_texts_are_forgotten_with_the_derivative():
    def run():
        gradient = grad(lambda x: x * x * 17.0)
        called(gradient, 2.0)
        return gradient.code.dispatches[0].takes.__code__.co_filename

    name = run()
    others = [grad(lambda x: x) for _ in range(32)]  # of which no more are kept
    gc.collect()
    assert name not in linecache.cache and others


class Slow:
    """An object that is looked at by two threads at once."""

    seen = None

    @property
    def W(self):
        if self.seen is None:
            type(self).seen = ()
            other = threading.Thread(target=lambda: setattr(type(self), "seen", type_of(self)))
            other.start()
            other.join()
        return 1.0


def test_threads_find_types_apart():
    slow = Slow()
    slow.__dict__["W"] = 1.0
    assert isinstance(type_of(slow), Struct) and isinstance(Slow.seen, Struct)
