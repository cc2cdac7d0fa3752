"""Derivatives of methods, callable objects and partial functions, and with respect to objects."""

import copy
import functools
import importlib
import inspect
import random
import re
import sys
import threading
import types
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from programs import parts

import tangentc
from tangentc import check_grads, differentiable, grad, hessian, hvp, jacfwd, jacobian, jvp, value_and_grad, vjp


class Layer:
    def __init__(self, W, b):
        self.W, self.b = W, b

    def __call__(self, x):
        return np.tanh(self.W @ x + self.b)


class Model:
    def __init__(self, W, b):
        self.layer = Layer(W, b)
        self.scale = 2.0
        self.name = "model"

    def loss(self, x):
        return self.scale * np.sum(self.layer(x) ** 2)

    def __call__(self, x):
        return self.loss(x) * 2

    @differentiable
    def energy(self, x):
        return np.sum(self.layer.W @ x) ** 2


@dataclass
class Point:
    x: float
    y: float

    def product(self, k):
        return self.x * self.y**2 * k


x = np.array([0.7, -0.3])


@pytest.fixture
def model():
    return Model(np.array([[0.3, -0.2], [0.5, 0.1]]), np.array([0.1, 0.2]))


def differences(f, x):
    return np.array([(f(x + e) - f(x - e)) / 2e-6 for e in 1e-6 * np.eye(len(x))])


def test_bound_methods_and_callable_objects(model):
    np.testing.assert_allclose(grad(model.loss)(x), differences(model.loss, x), rtol=1e-6)
    np.testing.assert_allclose(grad(model)(x), differences(model, x), rtol=1e-6)
    np.testing.assert_allclose(grad(Model.loss, wrt="x")(model, x), grad(model.loss)(x))
    value, pullback = vjp(model.loss, x)
    np.testing.assert_allclose(pullback(1.0)[0], grad(model.loss)(x))
    np.testing.assert_allclose(jvp(model.loss, (x,), (np.array([1.0, 0.0]),))[1], grad(model.loss)(x)[0])
    assert value == model.loss(x)


def test_the_object_may_change_between_calls(model):
    derivative = grad(model.loss)
    derivative(x)
    model.layer.W = 2 * model.layer.W
    model.scale = 3.0
    np.testing.assert_allclose(derivative(x), differences(model.loss, x), rtol=1e-6)


def test_with_respect_to_an_object(model):
    by_self = grad(model.loss, wrt="self")(x)
    assert list(by_self) == ["layer.W", "layer.b", "scale"]
    W = model.layer.W.copy()
    for index in np.ndindex(2, 2):
        values = []
        for step in (1e-6, -1e-6):
            model.layer.W = W.copy()
            model.layer.W[index] += step
            values.append(model.loss(x))
        np.testing.assert_allclose(by_self["layer.W"][index], (values[0] - values[1]) / 2e-6, rtol=1e-6)
    model.layer.W = W
    np.testing.assert_allclose(by_self["scale"], model.loss(x) / 2)
    np.testing.assert_array_equal(grad(model.loss, wrt="self.layer.W")(x), by_self["layer.W"])
    x_bar, b_bar = grad(model.loss, wrt=("x", "self.layer.b"))(x)
    np.testing.assert_array_equal(b_bar, by_self["layer.b"])
    np.testing.assert_array_equal(x_bar, grad(model.loss)(x))
    assert list(grad(lambda m, x: m.loss(x))(model, x)) == list(by_self)


def test_a_dataclass_has_a_gradient_of_its_class():
    assert grad(lambda p, k: p.product(k))(Point(2.0, 3.0), 2.0) == Point(18.0, 24.0)
    assert grad(lambda p, k: p.product(k), wrt="p.y")(Point(2.0, 3.0), 2.0) == 24.0


def test_bad_paths(model):
    with pytest.raises(tangentc.BadArgument, match="is not an attribute"):
        grad(model.loss, wrt="self.weights")(x)
    with pytest.raises(tangentc.UnsupportedSyntax, match="is not a function that tangentc can read"):
        grad(3.0)


def test_decorated_methods(model):
    np.testing.assert_allclose(model.energy.grad(x), differences(model.energy, x), rtol=1e-6)
    assert model.energy.grad is model.energy.grad
    assert Model.energy.grad(model, x)["layer.W"].shape == (2, 2)


def doubled(f):
    @functools.wraps(f)
    def wrapper(*args, **keywords):
        return 2 * f(*args, **keywords)

    return wrapper


@doubled
def area(a, b=2.0):
    return a * a * b


def test_wrappers_and_partial_functions():
    assert grad(area)(3.0) == 24.0
    assert grad(area, wrt="b")(3.0, 5.0) == 18.0
    assert grad(functools.partial(area, b=1.0))(3.0) == 12.0
    assert grad(functools.lru_cache(lambda a: a**3))(2.0) == 12.0


def test_helpers_and_cells_are_looked_up_anew():
    scope = {}
    factor = 2.0

    def helper(a):
        return a * factor

    def f(a):
        return helper(a) * a

    derivative = grad(f)
    assert derivative(3.0) == 12.0
    factor = 5.0
    assert derivative(3.0) == 30.0

    def helper(a):  # noqa: F811
        return a * a

    assert derivative(3.0) == 27.0
    del scope


def mixed(x, *ys, scale=1.0, **more):
    return x * scale * sum(y * y for y in ys) + more.get("shift", 0.0) * x


@pytest.mark.parametrize(
    "args, keywords, expected",
    [
        ((2.0,), {}, 0.0),
        ((2.0, 1.0, 3.0), {}, 10.0),
        ((2.0, 1.0, 3.0), {"scale": 2.0}, 20.0),
        ((2.0, 1.0), {"shift": 5.0}, 6.0),
    ],
)
def test_any_number_of_arguments(args, keywords, expected):
    derivative = grad(mixed)
    assert derivative(*args, **keywords) == expected
    assert "def mixed_grad(" in derivative.source
    assert differentiable(mixed)(*args, **keywords) == mixed(*args, **keywords)
    assert differentiable(mixed).grad(*args, **keywords) == expected


class Weighted:
    def __init__(self, scale):
        self.scale = scale

    def loss(self, x, *others):
        total = x * 0.5
        for other in others:
            total = total + other * x * self.scale
        return total

    __call__ = loss

    def plain(self, x):
        return x * self.scale


@pytest.mark.parametrize("method", [Weighted(2.0).loss, Weighted(2.0)], ids=["method", "object"])
def test_a_method_of_any_number_of_arguments(method):
    """One more argument does not stand for the object: it was lost, and the gradient 0.5."""
    for args, expected in [((2.0,), 0.5), ((2.0, 3.0), 6.5), ((2.0, 3.0, 4.0), 14.5), ((2.0, 3.0), 6.5)]:
        assert grad(method)(*args) == expected
        assert tangentc.vjp(method, *args)[1](1.0)[0] == expected
        assert grad(grad(method))(*args) == 0.0
        assert tangentc.stages(method, *args)["reverse"].run(*args) == expected


def test_an_option_called_as_the_rest_of_them():
    def scaled(x, *k, **a):
        return x**2 * a.get("k", 1.0) * a.get("a", 1.0)

    assert grad(scaled)(3.0, k=2.0) == 12.0 and grad(scaled)(3.0, 1.0, a=2.0, k=2.0) == 24.0


def test_a_method_is_not_given_another_object():
    with pytest.raises(TypeError, match="too many positional arguments"):
        grad(Weighted(2.0).plain)(2.0, Weighted(3.0))
    assert grad(Weighted(2.0).plain, wrt="self")(2.0) == {"scale": 2.0}


def test_argument_beyond_the_named_ones():
    assert grad(mixed, wrt=(0, 2))(2.0, 1.0, 3.0, scale=2.0) == (20.0, 24.0)
    assert vjp(mixed, 2.0, 1.0, 3.0)[1](1.0) == (10.0, 4.0, 12.0)
    assert jvp(mixed, (2.0, 1.0, 3.0), (0.0, 1.0, None))[1] == 4.0
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        grad(mixed)()


def test_higher_derivatives_by_arguments_beyond():
    f = lambda *a: a[0] ** 2 * a[1]
    assert hessian(f)(2.0, 3.0) == 6.0
    assert hvp(f, (2.0, 3.0), (1.0, 0.0)) == 6.0
    assert jacobian(f, wrt=1)(2.0, 3.0) == jacfwd(f, wrt=1)(2.0, 3.0) == 4.0
    check_grads(f, (2.0, 3.0))


def test_a_callable_object_stays_as_it_is():
    from programs.outside import V, callable_that_counts, partial_of_a_lambda

    check_grads(callable_that_counts, (V,), order=2)
    np.testing.assert_allclose(grad(callable_that_counts)(V), 4 * V)
    assert callable_that_counts.n == 0
    check_grads(partial_of_a_lambda, (V,), order=2)


SETTINGS = {"axis": 0, "keepdims": True}


def middle(x):
    return np.sum(np.median(x, **SETTINGS) ** 2)


def test_options_of_a_dict_are_those_that_it_has_now():
    x = np.arange(12.0).reshape(3, 4) ** 1.5
    gradient = grad(middle)
    for axis in (0, 1, 0):
        SETTINGS["axis"] = axis
        check_grads(middle, (x,), order=2)
        np.testing.assert_array_equal(np.count_nonzero(gradient(x), axis=axis), [[1] * 4, [2] * 3][axis])


def test_the_tangent_of_a_constant_result_has_its_structure():
    assert jvp(tangentc.adjoint(np.ceil, wrt=(0,)), (0.3, 1.0), (1.0, 1.0)) == ((0.0,), (0.0,))


def test_a_function_with_a_rule_keeps_its_parameters():
    def soft(x, beta=1.0):
        return np.log1p(np.exp(beta * x)) / beta

    @tangentc.elementwise(soft)
    def soft_rule(x, beta, y):
        return 7 * x, None

    assert tangentc.grad(soft)(2.0, beta=3.0) == tangentc.grad(soft)(x=2.0) == 14.0
    assert "soft(x, beta)" in tangentc.grad(soft).source_for(2.0)


def test_vectorised_functions_and_those_of_any_number_of_arguments():
    @np.vectorize
    def clipped(x, y):
        return x * y if x > 1 else y

    x, y = np.arange(3.0), np.arange(1.0, 4.0)
    x_bar, y_bar = tangentc.vjp(clipped, x, y)[1](np.ones(3))
    np.testing.assert_array_equal(x_bar, [0, 0, 3])
    np.testing.assert_array_equal(y_bar, [1, 1, 2])
    assert tangentc.grad(np.vectorize(lambda x: x * x))(3.0) == 6.0
    np.testing.assert_array_equal(tangentc.grad(np.einsum, wrt=1)("i,i->", x, y), y)


def test_a_value_of_the_module_is_as_long_as_the_argument_that_it_meets():
    weights = np.arange(9.0)

    def weighted(x):
        return np.sum(weights * x)

    assert "unbroadcast" not in tangentc.grad(weighted).source_for(np.ones(9))


def test_the_sign_of_a_real_number_is_a_constant():
    def turned(x):
        return np.sum(np.sign(x) * x)

    assert "x_bar = out_bar * np.sign(x)  #" in tangentc.grad(turned).source_for(np.ones(3))


def test_the_sign_of_a_complex_number_turns_with_it():
    def turned(x):
        return np.sum(np.abs(np.sign(x + 1j * x**2) - 1) ** 2 * x)

    tangentc.check_grads(turned, (np.array([0.3, -0.4, 1.2]),))


def test_a_ufunc_without_a_rule_is_named():
    with pytest.raises(tangentc.MissingRule, match="there is no rule for np.gcd"):
        tangentc.grad(lambda x: np.sum(np.gcd(x, x)))(np.ones(3))


def test_a_cast_to_single_precision_gives_a_gradient_of_the_argument():
    x = np.array([0.3, 0.7])
    gradient = grad(lambda x: np.sum(np.float32(x) ** 2))(x)
    np.testing.assert_allclose(gradient, 2 * x, rtol=1e-6)
    assert gradient.dtype == np.float64


def test_two_parts_of_one_object():
    """The adjoint of the object was read once for each part, and the second time it was zero."""

    class Pair:
        def __init__(self, a, b):
            self.a, self.b = a, b

    def product(p, k):
        return np.sum(p.a * p.b) * k

    a, b = np.array([1.0, 2.0]), np.array([3.0, 5.0])
    for of_a, of_b in (
        grad(product, wrt=("p.a", "p.b"))(Pair(a, b), 2.0),
        value_and_grad(product, wrt=["p.a", "p.b"])(Pair(a, b), 2.0)[1],
        grad(product, wrt=("p.a", "k", "p.b"))(Pair(a, b), 2.0)[::2],
    ):
        np.testing.assert_array_equal(of_a, 2 * b)
        np.testing.assert_array_equal(of_b, 2 * a)


@pytest.mark.parametrize("wrt", [(0, 0), ("p", 0), ("p", "p.a"), ("p.a", "p"), ("p.a", "k", "p.a")])
def test_the_same_twice(wrt):
    with pytest.raises(tangentc.BadArgument, match="twice"):
        grad(lambda p, k: np.sum(p.a) * k, wrt=wrt)(Point(1.0, 2.0), 2.0)


def test_what_is_returned_beside_the_gradient_is_what_it_was_at_the_end():
    """The adjoint sweep puts arrays and lists back to what they were: value and aux were those of the beginning."""
    x = np.array([1.0, 2.0, 3.0])

    def doubled(x):
        y = x * 1
        y *= 2
        return np.sum(y * y), y

    def listed(x):
        a = []
        for _ in range(2):
            x *= 2
            a.append(x)
        return np.sum(x * x), a

    def viewed(x):
        v = x[1:]
        x *= 2
        return np.sum(x), (v, {"x": x})

    def summed(x):
        a = np.zeros(())
        for v in x:
            a += v * v * (1 + a)
        return a

    for f in (doubled, listed, viewed):
        value, aux = f(x.copy())
        (found, beside), gradient = value_and_grad(f, has_aux=True)(x)
        assert found == value and str(beside) == str(aux)
        np.testing.assert_allclose(gradient, grad(lambda x: f(x)[0])(x))
    assert value_and_grad(summed)(x)[0] == summed(x) == 99.0


class Slotted:
    __slots__ = ("n", "u")

    def __init__(self, u):
        self.u, self.n = u, 0


def doubled_and_summed(s, x):
    s.u *= 2
    return np.sum(s.u * x * s.u)


def test_object_with_slots_is_an_argument():
    x, s = np.array([0.4, 0.7]), Slotted(np.array([1.0, 2.0]))
    gradient = grad(doubled_and_summed)(s, x)
    np.testing.assert_allclose(gradient["u"], [3.2, 11.2])
    np.testing.assert_array_equal(s.u, [1.0, 2.0])  # the caller's object is as it was
    np.testing.assert_allclose(vjp(doubled_and_summed, s, x)[1](1.0)[0].u, gradient["u"])


# ---------------------------------------------------------- attributes that are called like those of arrays
NAMED_LIKE_ARRAYS = """
import dataclasses
from typing import NamedTuple

import numpy as np


class Held:
    def __init__(self, value):
        self.NAME = value

    def doubled(self):
        return self.NAME * 2


class Other:
    def __init__(self, value):
        self.NAME = value
        self.more = 1


@dataclasses.dataclass
class Record:
    NAME: float


class Pair(NamedTuple):
    NAME: float
    more: float


class Asked:
    def __init__(self, value):
        self.value = value

    @property
    def NAME(self):
        return self.value * 3


OUTSIDE = Held(2.5)


def read(x):
    return Held(x * x).NAME * x * OUTSIDE.NAME * Record(x).NAME * Pair(x, 2.0).NAME * Asked(x).NAME


def assigned(x):
    o = Held(2.0)
    o.NAME = x * x
    o.NAME += x
    for _ in range(3):
        o.NAME = o.NAME * x
    return o.NAME * o.doubled() * getattr(o, "NAME")


def inside(x):
    d = {"p": Held(Held(x * x)), "q": [Record(x)]}
    return d["p"].NAME.NAME * x + d["q"][0].NAME


def changed(x):
    o = Held(np.array([x, x * x]))
    o.NAME[0] = x * 3
    return np.sum(o.NAME * x)


def several(x):
    total = 0.0
    for o in [Held(x), Other(x * x)]:
        total = total + o.NAME * x
    return total


def given(x, o=OUTSIDE):
    return x * o.NAME * x


def either(x):
    o = Held(x * x) if x > 0 else Other(x * 3)
    return o.NAME * x
"""


@pytest.mark.parametrize("name", ["T", "mT", "real", "imag", "shape", "size", "ndim", "dtype", "flat", "base", "data"])
def test_attributes_that_are_called_like_those_of_arrays(name, tmp_path, monkeypatch):
    (tmp_path / f"named_{name}.py").write_text(NAMED_LIKE_ARRAYS.replace("NAME", name))
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module(f"named_{name}")
    for f in (module.read, module.assigned, module.inside, module.changed, module.several, module.given):
        wanted = (f(0.8 + 1e-6) - f(0.8 - 1e-6)) / 2e-6
        np.testing.assert_allclose(tangentc.grad(f)(0.8), wanted, rtol=1e-7, err_msg=f.__name__)
        np.testing.assert_allclose(tangentc.jvp(f, (0.8,), (1.0,))[1], wanted, rtol=1e-7, err_msg=f.__name__)
    np.testing.assert_allclose(tangentc.grad(module.given, wrt=("x",))(0.8, module.Held(1.5))[0], 2.4)
    for mode in (tangentc.grad(module.either), lambda x: tangentc.jvp(module.either, (x,), (1.0,))):
        with pytest.raises(tangentc.TangentcError, match="its type is not known|there is no rule for this attribute"):
            mode(0.8)


def shuffle(x):
    return x * 3


def test_a_function_of_the_user_that_is_called_shuffle():
    assert tangentc.grad(lambda x: shuffle(x) * x)(1.5) == 9.0


# ---------------------------------------------------------- what a second call costs
class Scaled:
    def __init__(self, W, count):
        self.W, self.count = W, count

    def loss(self, x):
        return np.sum(self.W @ x[: self.count]) * self.count


def test_a_number_in_an_object_that_is_a_length_at_first():
    scaled, x = Scaled(np.ones((1, 1)), 10), np.arange(10.0)
    gradients = grad(scaled.loss), grad(lambda x, d: np.sum(x[: d["n"][0]] ** 2)), grad(lambda x, t: np.sum(x[: t[0]]))
    for n in (10, 8, 9, 10):
        scaled.W, scaled.count = np.ones((1, n)), n
        np.testing.assert_array_equal(gradients[0](x), np.where(np.arange(10) < n, n, 0.0))
        np.testing.assert_array_equal(gradients[1](x, {"n": [n, 1.0]}), np.where(np.arange(10) < n, 2 * x, 0.0))
        np.testing.assert_array_equal(gradients[2](x, (n, "a")), np.where(np.arange(10) < n, 1.0, 0.0))


def test_a_third_call_of_a_method_looks_nothing_up_again(monkeypatch):
    """The second has a function written that tells that the code is right; a signature alone costs more than that."""
    scaled, x = Scaled(np.ones((2, 3)), 3), np.ones(3)
    gradient, asked = grad(scaled.loss), []
    wanted = gradient(x)
    np.testing.assert_array_equal(gradient(x), wanted)
    for module, name in (
        (inspect, "signature"),
        (tangentc.derivative, "type_of"),
        (tangentc.frontend.dependencies, "data_type"),
    ):
        monkeypatch.setattr(module, name, lambda *args, name=name: asked.append(name), raising=False)
    np.testing.assert_array_equal(gradient(x), wanted)
    assert not asked


def test_defaults_are_those_that_the_function_has_now():
    def f(x, weights=[1.0, 2.0], *, more=1.0):  # noqa: B006
        return x * sum(weights) * more

    gradient = grad(f)
    assert gradient(2.0) == 3.0
    f.__defaults__[0].append(4.0)
    assert gradient(2.0) == 7.0
    f.__defaults__[0][0] = np.ones(2)
    with pytest.raises(tangentc.NotScalar):
        gradient(2.0)
    f.__defaults__ = ((5.0,),)
    f.__kwdefaults__["more"] = 2.0
    assert gradient(2.0) == 10.0 and gradient(2.0, more=3.0) == 15.0
    with pytest.raises(TypeError, match="too many positional arguments"):
        gradient(2.0, [1.0], 1.0, 2.0)


def needs_two(a, b):
    return a * b


def test_what_never_runs_is_not_refused_and_what_may_run_is():
    def f(x, option=None):
        return needs_two(x, x) if option is None else needs_two(option)

    def g(x):
        return needs_two(x, x) if x > 0 else needs_two(x)

    assert tangentc.grad(f)(3.0) == 6.0
    with pytest.raises(tangentc.UnsupportedSyntax, match="wrong arguments"):
        tangentc.grad(g)(3.0)


def test_what_lies_in_c_code_is_not_made_anew_without_its_contents():
    kept = [np.linalg.inv, random.Random(3), threading.Lock(), re.compile("a"), Level(2.5)]
    new = tangentc.runtime.copied(kept)
    assert new[0](np.eye(2)).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert new[1] is not kept[1] and new[1].random() == kept[1].random()
    assert new[2:4] == kept[2:4] and new[4] == 2.5


class Level(float):
    """A number with attributes."""


def test_a_namespace_is_an_object_like_others():
    def step(p, x):
        p.a *= x
        return np.sum(p.a * p.w)

    p = types.SimpleNamespace(a=2.0, w=np.array([1.0, 3.0]))
    value, (p_bar, x_bar) = tangentc.value_and_grad(step, wrt=(0, 1))(p, 3.0)
    assert (value, x_bar, p.a) == (24.0, 8.0, 2.0)
    assert p_bar["a"] == 12.0
    np.testing.assert_array_equal(p_bar["w"], [6.0, 6.0])
    tangentc.check_grads(step, (p, 3.0))


def test_a_name_that_only_the_run_knows_is_refused():
    class Machine:
        def __init__(self, x):
            self.x = x

        def double(self):
            self.x = self.x * 2

        def square(self):
            self.x = self.x**2

    def run(x, c):
        machine = Machine(x)
        getattr(machine, "double" if c > 0 else "square")()
        return machine.x

    with pytest.raises(tangentc.UnsupportedSyntax, match="name that is not known when compiling"):
        tangentc.grad(run)(2.0, 1.0)


# ---------------------------------------------------------- objects that keep what they saw
def test_the_gradient_of_an_object_is_like_it_was_given():
    """A log that grows, and a cache that is filled, while the function runs, are no part of the gradient."""
    rng = np.random.default_rng(7)
    cell = parts.Cell(rng.normal(size=(3, 3)), rng.normal(size=(3, 3)) * 0.3, log=[1.0])

    def loss(cell, xs):
        return np.sum(cell.run(xs) ** 2)

    def from_arrays(W, U):
        return loss(parts.Cell(W, U), parts.XY)

    gradient = tangentc.grad(loss)(cell, parts.XY)
    assert gradient.log == [0.0] and cell.log == [1.0]
    for given, wanted in zip(
        (gradient.W, gradient.U), tangentc.grad(from_arrays, wrt=(0, 1))(cell.W, cell.U), strict=True
    ):
        np.testing.assert_allclose(given, wanted, rtol=1e-12)


def test_layers_that_keep_what_they_saw_are_neither_copied_nor_mirrored():
    model = copy.deepcopy(parts.layers(parts.V))

    def loss(model, x):
        for layer in model:
            x = layer(x)
        return np.sum(x**2)

    text = tangentc.grad(loss).source_for(model, parts.XY)
    assert "copied(" not in text and "zeros_of" not in text and "cache[" not in text
    gradient = tangentc.grad(loss)(model, parts.XY)
    assert model[0].cache == {} and model[0].calls == 0 and gradient[1].cache == {}


class WithClassMethods:
    by = 2.0

    @tangentc.differentiable(wrt="x")
    @classmethod
    def outside(cls, x):
        return cls.by * x**3

    @classmethod
    @tangentc.differentiable(wrt="x")
    def inside(cls, x):
        return cls.by * x**3

    @tangentc.differentiable
    @staticmethod
    def static_outside(x):
        return x**3

    @staticmethod
    @tangentc.differentiable
    def static_inside(x):
        return x**3


class Threefold(WithClassMethods):
    by = 3.0


@pytest.mark.parametrize("name", ["outside", "inside", "static_outside", "static_inside"])
@pytest.mark.parametrize("owner", [WithClassMethods, WithClassMethods(), Threefold, Threefold()])
def test_class_and_static_methods_have_their_derivatives(owner, name):
    method = getattr(owner, name)
    slope = 12.0 * (1.0 if "static" in name else owner.by)
    assert method(2.0) == slope * 2 / 3 and tangentc.grad(method)(2.0) == slope
    assert tangentc.grad(lambda x: getattr(owner, name)(x) * 2)(2.0) == 2 * slope
    if name == "inside" and sys.version_info >= (3, 13):  # `classmethod` does not tell it of the class
        with pytest.raises(TypeError, match="missing .* 'x'; write @tangentc.differentiable above @classmethod"):
            method.grad(2.0)
        return
    assert method.grad(2.0) == slope and method.vjp(2.0)[1](1.0) == (slope,)
    assert method.value_and_grad(2.0) == (method(2.0), slope) and method.jvp((2.0,), (1.0,))[1] == slope
    assert tangentc.grad(lambda x: method.grad(x))(2.0) == slope


@dataclass
class Chain:
    parts: list

    def __call__(self, x):
        for part in self.parts:
            x = part(x)
        return x


@dataclass
class Weighed:
    w: Any

    def __call__(self, x):
        return self.w * x


@dataclass
class Counting:
    w: Any
    seen: Any

    def __call__(self, x):
        y = x * self.w
        self.seen = self.seen + np.mean(y)
        return y


def test_a_long_list_of_objects_in_objects_that_change(rng):
    """More items than are told apart: adjoints are added into those of the list, attributes by attributes."""
    inner = [
        Chain([Weighed(rng.uniform(0.9, 1.1, 2)), Counting(rng.uniform(0.9, 1.1, 2), np.zeros(()))]) for _ in range(18)
    ]
    net, x = Chain([Weighed(np.ones(2)), *inner]), np.array([0.5, 2.0])
    total = np.prod([part.w for one in inner for part in one.parts], axis=0) * x
    found = tangentc.grad(lambda net, x: np.sum(net(x)))(net, x)
    for mine, own in zip(found.parts[1:], inner):
        for part, primal in zip(mine.parts, own.parts):
            np.testing.assert_allclose(part.w, total / primal.w, rtol=1e-12)
