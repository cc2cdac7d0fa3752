"""Jacobians and Hessians: values and shapes, for arrays, numbers and containers."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

import tangentc
from tangentc import grad, hessian, hvp, jacfwd, jacobian, jacrev
from tangentc.errors import BadArgument, NotDifferentiable

x = np.array([1.0, 2.0, -0.5])
A = np.arange(6.0).reshape(2, 3)


def quadratic(x):
    return A @ (x * x)


@pytest.mark.parametrize("make", [jacfwd, jacrev, jacobian])
def test_a_vector_by_a_vector(make):
    np.testing.assert_allclose(make(quadratic)(x), A * 2 * x)


@pytest.mark.parametrize("make", [jacfwd, jacrev])
def test_shapes_are_those_of_the_result_then_the_argument(make):
    result = make(lambda M: M @ M.T)(A)
    assert result.shape == (2, 2, 2, 3)
    step = 1e-6
    for index in np.ndindex(2, 3):
        moved = A.copy()
        moved[index] += step
        np.testing.assert_allclose(result[(..., *index)], (moved @ moved.T - A @ A.T) / step, atol=1e-5)


@pytest.mark.parametrize("make", [jacfwd, jacrev])
def test_numbers(make):
    assert make(lambda a: a * a)(3.0) == 6.0
    np.testing.assert_array_equal(make(lambda a: a * x)(3.0), x)
    np.testing.assert_array_equal(make(lambda x: x @ x)(x), 2 * x)


@pytest.mark.parametrize("make", [jacfwd, jacrev])
def test_several_arguments_and_containers(make):
    def f(p, s):
        return {"a": p["w"] * s, "b": (np.sum(p["w"]), s * p["b"])}

    by_p, by_s = make(f, wrt=("p", "s"))({"w": x, "b": 2.0}, 3.0)["a"]
    np.testing.assert_array_equal(by_p["w"], 3.0 * np.eye(3))
    np.testing.assert_array_equal(by_p["b"], np.zeros(3))
    np.testing.assert_array_equal(by_s, x)
    both = make(f, wrt=(0, 1))({"w": x, "b": 2.0}, 3.0)["b"]
    np.testing.assert_array_equal(both[0][0]["w"], np.ones(3))
    assert both[1][1] == 2.0 and both[1][0]["b"] == 3.0


class Point(NamedTuple):
    x: float
    y: float


def test_structures_are_kept():
    result = jacrev(lambda p: Point(p.x * p.y, p.x))(Point(2.0, 3.0))
    assert result == Point(Point(3.0, 2.0), Point(1.0, 0.0))


@dataclass
class Power:
    w: float
    n: int
    by: np.ndarray = field(default_factory=lambda: np.array([1.0, 2.0]))
    name: str = "power"


WITH_INTEGERS = [
    (lambda d: np.sum(d["w"] ** d["n"] * d["by"]), {"w": 2.0, "n": 3, "by": np.array([1.0, 2.0]), "at": None}),
    (lambda d: np.sum(d[0] ** d[1] * d[2]), [2.0, 3, np.array([1.0, 2.0]), "text", np.arange(3), []]),
    (lambda p: np.sum(p.w**p.n * p.by), Power(2.0, 3)),
    (lambda p: p.x**p.y, Point(2.0, 3)),
]


@pytest.mark.parametrize("f, x", WITH_INTEGERS, ids=["dict", "list", "dataclass", "named tuple"])
def test_containers_that_hold_integers_and_texts_too(f, x):
    def in_several_parts(x):
        return {"s": f(x), "n": 2, "t": "text"}

    slope = grad(f)(x)
    for make in (jacfwd, jacrev):
        assert as_text(make(f)(x)) == as_text(slope)
        assert as_text(make(in_several_parts)(x)) == as_text({"s": slope, "n": None, "t": None})
    blocks, along = hessian(f)(x), hvp(f, (x,), (slope,))
    parts = [0, 1] if isinstance(x, Point) else [0, 1, 2] if isinstance(x, list) else ["w", "n", "by"]
    for a in parts:
        rows = [(part(part(blocks, a), b), part(slope, b)) for b in parts]
        np.testing.assert_allclose(sum(np.tensordot(m, v, np.ndim(v)) for m, v in rows), part(along, a))


def part(value, key):
    return getattr(value, key) if isinstance(value, Power) else value[key]


def as_text(value):
    """A structure as text, whose numbers are rounded."""
    if isinstance(value, dict):
        return {k: as_text(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_text(v) for v in value]
    if isinstance(value, (Power, SimpleNamespace)):
        return as_text(vars(value))
    return value if value is None else np.round(value, 9).tolist()


def test_two_arguments_of_one_structure_are_a_tuple():
    for make in (jacfwd, jacrev):
        by_p, by_q = make(lambda p, q: p["w"] * q["w"] ** 2, wrt=(0, 1))({"w": 2.0}, {"w": 3.0})
        assert by_p == {"w": 9.0} and by_q == {"w": 12.0}
    blocks = hessian(lambda p, q: p["w"] * q["w"] ** 2, wrt=(0, 1))({"w": 2.0}, {"w": 3.0})
    assert blocks[0] == {"w": ({"w": 0.0}, {"w": 6.0})} and blocks[1] == {"w": ({"w": 6.0}, {"w": 4.0})}


def test_a_seed_of_a_result_that_holds_integers_and_objects():
    def both(x):
        return {"y": x * x, "n": 3, "p": Power(x, 2)}

    pullback = tangentc.vjp(both, 3.0)[1]
    assert pullback({"y": 1.0, "n": None, "p": None}) == (6.0,)
    assert pullback({"y": 1.0, "n": 0.0, "p": {"w": 10.0}}) == (16.0,)
    with pytest.raises(tangentc.BadSeed, match="has a part 'v' that its result has not"):
        pullback({"y": 1.0, "n": None, "p": {"v": 10.0}})
    with pytest.raises(tangentc.BadSeed, match="does not have the structure"):
        pullback({"y": 1.0})


def test_hessians():
    f = lambda x: np.sum(np.sin(x)) * x[0]
    H = hessian(f)(x)
    want = np.diag(-np.sin(x) * x[0])
    want[0] += np.cos(x)
    want[:, 0] += np.cos(x)
    np.testing.assert_allclose(H, want)
    v = np.array([0.3, -0.2, 0.7])
    np.testing.assert_allclose(hvp(f, (x,), (v,)), want @ v)
    blocks = hessian(lambda a, b: np.sum(a * a * b), wrt=(0, 1))(x, 2 * x)
    np.testing.assert_allclose(blocks[0][0], np.diag(4 * x))
    np.testing.assert_allclose(blocks[0][1], np.diag(2 * x))
    np.testing.assert_allclose(blocks[1][1], np.zeros((3, 3)))
    by_parts = hessian(lambda p: np.sum(p["w"] ** 2) * p["b"])({"w": x, "b": 3.0})
    np.testing.assert_allclose(by_parts["w"]["w"], 6 * np.eye(3))
    np.testing.assert_allclose(by_parts["w"]["b"], 2 * x)
    np.testing.assert_allclose(by_parts["b"]["w"], 2 * x)
    assert by_parts["b"]["b"] == 0.0


def test_hessian_of_a_vector():
    H = hessian(quadratic)(x)
    assert H.shape == (2, 3, 3)
    for i in range(2):
        np.testing.assert_allclose(H[i], np.diag(2 * A[i]))


def test_hessian_of_a_loop_with_stores():
    def f(x):
        u = x.copy()
        for _ in range(3):
            u[1:] = u[1:] - 0.1 * u[1:] * (u[1:] - u[:-1])
        return np.sum(u**3)

    H = hessian(f)(x)
    np.testing.assert_allclose(H, H.T)
    step, g = 1e-5, tangentc.grad(f)
    for k in range(3):
        e = step * np.eye(3)[k]
        np.testing.assert_allclose(H[:, k], (g(x + e) - g(x - e)) / (2 * step), rtol=1e-6, atol=1e-8)


def test_bad_calls():
    with pytest.raises(tangentc.BadArgument, match="does not name a parameter"):
        jacfwd(quadratic, wrt="y")(x)
    with pytest.raises(tangentc.BadArgument, match="is not given"):
        jacrev(lambda a, b: a * b, wrt=1)(1.0)
    with pytest.raises(tangentc.BadArgument, match="number or an array"):
        hessian(lambda a: (a, a))(1.0)


def test_the_arguments_stay_as_they_are():
    def doubles(a):
        a *= 2
        return np.sum(a**3)

    class Log:
        def __init__(self):
            self.lines = []

        def run(self, x):
            self.lines.append(1.0)
            return np.sum(x**2) * len(self.lines)

    x, log = np.array([0.3, 0.7, -0.4]), Log()
    for function in (hessian, lambda f: jacfwd(tangentc.grad(f))):
        np.testing.assert_allclose(function(doubles)(x), np.diag(48 * x))
        np.testing.assert_array_equal(x, [0.3, 0.7, -0.4])
        np.testing.assert_allclose(function(log.run)(x), 2 * np.eye(3))
        assert log.lines == []


def of_two(a, b):
    return np.sin(a) * b * np.sum(a)


def energy(x):
    return np.sum(np.sin(x) * x[0] * x[1])


class Layer:
    def __init__(self, w):
        self.w = w

    def __call__(self, x):
        return np.tanh(self.w * x)

    def scaled(self, x, by):
        return np.tanh(self.w * x) * by


LAYER, JACOBIAN = Layer(np.array([0.5, -0.2, 1.1])), jacobian(of_two)


def sum_of_hessian(x):
    return np.sum(hessian(energy)(x) ** 3)


def newton_steps(x):
    for _ in range(2):
        x = x - np.linalg.solve(jacobian(tangentc.grad(energy))(x) + 3 * np.eye(3), tangentc.grad(energy)(x))
    return np.sum(x * x)


def log_of_determinant(x):
    return np.linalg.slogdet(jacobian(lambda z: np.array([z[0] * z[1], np.sin(z[0]), z[2] * x[0]]))(x))[1]


def by_the_second(x):
    return np.sum(jacfwd(of_two, wrt=1)(x, 2 * x) * np.outer(x, x))


def of_a_number(x):
    return np.sum(jacfwd(lambda s: x * s * s)(2.0) ** 2) * hessian(lambda s: s**3 * x[0])(x[1])


def of_a_method(x):
    scale = x[0]
    return np.sum(jacfwd(LAYER.scaled)(x, x[1]) ** 2) + np.sum(jacrev(LAYER)(x * scale))


def made_outside(x):
    return np.sum(JACOBIAN(x, x) ** 2)


def in_a_loop(x):
    total = 0.0
    for k in range(3):
        total = total + np.trace(jacrev(lambda z: z**k * x)(x))
    return total


INSIDE = (
    sum_of_hessian,
    newton_steps,
    log_of_determinant,
    by_the_second,
    of_a_number,
    of_a_method,
    made_outside,
    in_a_loop,
)


@pytest.mark.parametrize("function", INSIDE, ids=[f.__name__ for f in INSIDE])
def test_inside_a_function_that_is_differentiated(function):
    tangentc.check_grads(function, (np.array([0.3, 0.7, -0.4]),), order=1)


def test_of_one_another():
    expected = hessian(energy)(x)
    for outer in (jacfwd, jacrev):
        for inner in (jacfwd, jacrev):
            np.testing.assert_allclose(outer(inner(energy))(x), expected, rtol=1e-12)
    third = jacfwd(hessian(energy))(x)
    np.testing.assert_allclose(hessian(tangentc.grad(energy))(x), third, rtol=1e-12)
    np.testing.assert_allclose(jacfwd(jacfwd(jacfwd(energy)))(x), third, rtol=1e-12)
    mixed = jacfwd(jacrev(of_two, wrt="b"), wrt="a")(x, 2 * x)
    assert mixed.shape == (3, 3, 3)
    np.testing.assert_allclose(mixed[0, 0], np.cos(x) * np.array([1, 0, 0]) * np.sum(x) + np.sin(x[0]))


def test_of_one_another_by_containers_is_refused():
    for function, args in ((jacrev(lambda d: d["a"] * 2), ({"a": x},)), (jacrev(of_two, wrt=(0, 1)), (x, x))):
        with pytest.raises((tangentc.UnsupportedSyntax, TypeError), match="part by part|by several arguments"):
            jacfwd(function)(*args)


def test_the_adjoint_of_a_gradient_has_its_seed_where_it_is_given():
    by, seed = tangentc.adjoint(tangentc.grad(energy)), np.array([2.0, 3.0, -1.0])
    h, third = hessian(energy)(x), jacfwd(hessian(energy))(x)
    np.testing.assert_allclose(by(x, seed), h @ seed)
    np.testing.assert_allclose(tangentc.jvp(by, (x, seed), (x, None))[1], third @ x @ seed)
    np.testing.assert_allclose(tangentc.jvp(by, (x, seed), (None, x))[1], h @ x)
    np.testing.assert_allclose(tangentc.vjp(by, x, seed)[1](x)[1], h @ x)
    np.testing.assert_allclose(tangentc.adjoint(by)(x, seed, x), third @ x @ seed)
    np.testing.assert_allclose(tangentc.grad(lambda x: np.sum(by(x, seed)))(x), third @ np.ones(3) @ seed)
    np.testing.assert_allclose(tangentc.grad(lambda x, s: by(x, s) @ s, wrt=1)(x, seed), 2 * h @ seed)


def test_of_an_array_without_axes():
    point = np.array(0.5)
    for by in (jacfwd, jacrev):
        assert by(lambda x: x**3)(point) == 0.75
        np.testing.assert_allclose(by(lambda x: np.sin(x) * np.array([1.0, 2.0]))(point), np.cos(0.5) * np.arange(1, 3))
    assert hessian(lambda x: x**3)(point) == 3.0


def test_of_an_array_with_an_infinite_entry():
    for by in (jacfwd, jacrev):
        np.testing.assert_array_equal(by(lambda x: 1 / x)(np.array([1.0, np.inf])), [[-1.0, 0.0], [0.0, 0.0]])


COMPLEX = [lambda x: x * 1j, np.fft.fft, lambda x: np.exp(1j * x) * x[0], lambda x: (x * 1j, x[0])]


@pytest.mark.parametrize("f", COMPLEX)
def test_complex_results_by_real_arguments(f):
    x, h = np.array([1.0, 2.0, -0.5]), 1e-6
    found, other = jacrev(f)(x), jacfwd(f)(x)
    units = [h * unit for unit in np.eye(3)]
    parts = (f(x)[:2] if isinstance(f(x), tuple) else (f(x),), found, other)
    for k, part in enumerate(parts[0]):
        at = (lambda v, k=k: f(v)[k]) if isinstance(f(x), tuple) else f
        wanted = np.stack([(at(x + u) - at(x - u)) / (2 * h) for u in units], axis=-1)
        for given in (found, other):
            np.testing.assert_allclose(given[k] if isinstance(f(x), tuple) else given, wanted, atol=1e-8)
        assert np.shape(part) + (3,) == np.shape(wanted)


def test_complex_results_inside_and_in_second_order():
    x = np.array([0.7, 0.3])
    by_rows = grad(lambda x: np.sum(np.abs(jacrev(lambda y: np.exp(1j * y) * y[0])(x) * (1 + 2j) + x * 1j) ** 2))(x)
    by_columns = grad(lambda x: np.sum(np.abs(jacfwd(lambda y: np.exp(1j * y) * y[0])(x) * (1 + 2j) + x * 1j) ** 2))(x)
    np.testing.assert_allclose(by_rows, by_columns)
    np.testing.assert_allclose(hessian(lambda x: np.exp(1j * x))(x)[0, 0, 0], -np.exp(0.7j))


def test_jacobians_by_complex_arguments():
    z = np.array([1 + 2j, 0.5 - 1j])
    for make in (jacrev, jacfwd):
        np.testing.assert_allclose(make(lambda z: z * z * 2j)(z), np.diag(4j * z))
        np.testing.assert_allclose(make(lambda z: np.abs(z) ** 2)(z), np.diag(2 * np.conj(z)))
        with pytest.raises(NotDifferentiable, match="not holomorphic"):
            make(lambda z: np.conj(z) * 2)(z)


def test_jacobians_of_nothing():
    nothing = np.zeros(0)
    assert hessian(lambda x: np.sum(x**2))(nothing).shape == jacrev(lambda x: x**2)(nothing).shape == (0, 0)
    assert jacfwd(lambda x: np.sum(x) * np.ones(3))(np.zeros((0, 2))).shape == (3, 0, 2)


def test_second_derivatives_of_the_area_under_one_point():
    assert hessian(lambda x: np.trapezoid(x**2))(np.array([2.0])).tolist() == [[0.0]]
    wanted = np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    np.testing.assert_allclose(hessian(lambda x: np.trapezoid(x**2))(np.ones(3)), wanted)


@pytest.mark.parametrize("make", [jacfwd, hessian])
def test_what_can_be_run_over_once_is_refused(make):
    with pytest.raises(BadArgument, match="argument 1, list_iterator, can be run over once"):
        make(lambda x, items: np.sum(x**3) * sum(items))(np.ones(2), iter([1.0, 2.0]))


class Inner:
    def __init__(self):
        self.scale, self.name = 1.5, "inner"


class Line:
    def __init__(self):
        self.W, self.b, self.power, self.name = np.array([[1.0, 0.5], [0.2, -0.4]]), 0.5, 3, "line"
        self.inner, self.others, self.log = Inner(), [Inner(), Inner()], [{"epoch": k} for k in range(3)]
        self.twice, self.me, self.calls = [1.0, 2.0], self, []

    def out(self, x):
        return (self.W @ x + self.b) ** self.power * self.inner.scale * self.others[1].scale

    def loss(self, x):
        self.calls.append(1.0)
        return np.sum(self.out(x))


POINT = np.array([0.3, 0.8])


def test_jacobians_by_an_object_have_the_form_of_its_gradient():
    line = Line()
    slope = grad(Line.loss)(line, POINT)
    assert sorted(slope) == ["W", "b", "inner.scale", "others"]
    for make in (jacfwd, jacrev):
        assert as_text(make(Line.loss)(line, POINT)) == as_text(slope)
        by = make(Line.out)(line, POINT)
        assert list(by) == list(slope) and by["W"].shape == (2, 2, 2) and by["inner.scale"].shape == (2,)
        assert by["others"][1].scale.shape == (2,) and by["others"][1].name is None
        for wrt in ("W", "inner.scale", "others"):
            assert as_text(make(Line.out, wrt=f"self.{wrt}")(line, POINT)) == as_text(by[wrt])
            assert as_text(make(line.out, wrt=f"self.{wrt}")(POINT)) == as_text(by[wrt])
        assert make(line.out, wrt="self.twice")(POINT)[1].tolist() == [0.0, 0.0]
        by_b, by_x = make(Line.out, wrt=("self.b", "x"))(line, POINT)
        assert as_text(by_b) == as_text(by["b"]) and as_text(by_x) == as_text(make(line.out)(POINT))
        with pytest.raises(BadArgument, match="wrt='v' is not an attribute of the argument of out"):
            make(line.out, wrt="self.v")(POINT)
        with pytest.raises(BadArgument, match="argument 1 of out is not given"):
            make(Line.out, wrt="x")(line)


def test_hessians_by_an_object_are_dicts_of_dicts():
    line, step = Line(), 1e-6
    blocks = hessian(Line.loss)(line, POINT)
    names = ["W", "b", "inner.scale", "others"]
    assert list(blocks) == names and all(list(blocks[n]) == names for n in ("W", "b", "inner.scale"))
    assert blocks["W"]["W"].shape == (2, 2, 2, 2) and line.calls == []
    above, below = Line(), Line()
    above.b, below.b = line.b + step, line.b - step
    up, down = grad(Line.loss)(above, POINT), grad(Line.loss)(below, POINT)
    for name in names[:3]:
        np.testing.assert_allclose(blocks[name]["b"], (up[name] - down[name]) / (2 * step), rtol=1e-6)
        np.testing.assert_allclose(blocks["b"][name], blocks[name]["b"])
    assert as_text(hessian(line.loss, wrt="self.W")(POINT)) == as_text(blocks["W"]["W"])
    rows = hessian(Line.out)(line, POINT)
    np.testing.assert_allclose(rows["W"]["b"].sum(axis=0), blocks["W"]["b"])
    both = hessian(line.loss, wrt=("self.b", "self.W"))(POINT)
    np.testing.assert_allclose(both[0][1], blocks["b"]["W"])


def test_a_gradient_by_an_object_is_a_tangent_of_it():
    line = Line()
    slope = grad(Line.loss)(line, POINT)
    squares = [*(np.sum(slope[n] ** 2) for n in ("W", "b", "inner.scale")), slope["others"][1].scale ** 2]
    for _ in range(2):  # the second call finds the code at once
        value, rate = tangentc.jvp(Line.loss, (line, POINT), (slope, None))
        np.testing.assert_allclose(rate, sum(squares))
        for part in ({"inner.scale": 2.0}, {"inner": {"scale": 2.0}}, {"inner": SimpleNamespace(scale=2.0)}):
            along = tangentc.jvp(Line.loss, (line, POINT), (part, None))[1]
            np.testing.assert_allclose(along, 2 * slope["inner.scale"])
        moved = hvp(Line.loss, (line, POINT), ({"b": 1.0}, None))
        np.testing.assert_allclose(moved["W"], hessian(Line.loss)(line, POINT)["W"]["b"])
        for wrong in ({"c": 1.0}, {"inner.c": 1.0}):
            with pytest.raises(tangentc.BadSeed, match="has a part 'c' that its argument has not"):
                tangentc.jvp(Line.loss, (line, POINT), (wrong, None))
        with pytest.raises(tangentc.BadSeed, match="does not have the shape of its argument"):
            tangentc.jvp(Line.loss, (line, POINT), ({"W": np.ones(3)}, None))
    assert value == Line().loss(POINT) and line.calls == []
