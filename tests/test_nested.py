"""Derivatives inside a function that is differentiated, and second derivatives of whole programs."""

import copy

import numpy as np
import pytest
from programs import (
    arrays,
    carried,
    containers,
    copies_and_views,
    derived,
    entries,
    in_place,
    layouts,
    measured,
    polybench,
    recursive,
    regressions,
    scalars,
    shared,
    states,
    without_axes,
)
from programs.becoming import OF_ONE
from programs.test_programs import along, draw, fresh, moving, product

import tangentc
from tangentc import adjoint, grad, hvp, jvp, value_and_grad, vjp
from tangentc.derivative import Derivative
from tangentc.inspection.differences import five_point


def cube(x):
    return x**3


cube_grad = grad(cube)


def captured(x):
    g = grad(lambda t: t * t * x)
    return g(2.0) * x


def perturbation(x):
    return x * grad(lambda y: x + y)(1.0)


def twice(x):
    return grad(lambda y: y * grad(lambda z: z * y * x)(y))(x)


def forward(x):
    value, tangent = jvp(lambda t: np.sin(t) * x, (x,), (1.0,))
    return value * tangent


def pullback_of(x):
    value, pullback = vjp(lambda t: t**3, x)
    return pullback(2.0)[0] + value


def of_the_module(x):
    return cube_grad(x) + grad(cube)(x) * x


def value_too(x):
    value, slope = value_and_grad(lambda t: np.exp(t) * x)(0.5 * x)
    return value * slope


def with_seed(x):
    return adjoint(cube)(x, x)


def curvature(x):
    return hvp(lambda t: t**4 * x, (x,), (1.0,))


def newton(x):
    t = x
    for _ in range(3):
        t = t - (t * t - x) / grad(lambda s: s * s - x)(t)
    return t


SCALARS = [captured, perturbation, twice, forward, pullback_of, of_the_module, value_too, with_seed, curvature, newton]


@pytest.mark.parametrize("f", SCALARS, ids=lambda f: f.__name__)
def test_derivatives_inside(f):
    difference = five_point(lambda t: f(0.7 + t), 1e-3)
    np.testing.assert_allclose(grad(f)(0.7), difference, rtol=1e-8)
    np.testing.assert_allclose(jvp(f, (0.7,), (1.0,))[1], difference, rtol=1e-8)
    np.testing.assert_allclose(vjp(f, 0.7)[1](1.0)[0], difference, rtol=1e-8)


def descend(w, x):
    def loss(w):
        return np.sum(np.tanh(w * x) ** 2)

    for _ in range(3):
        w = w - 0.1 * grad(loss)(w)
    return loss(w)


def test_through_an_optimiser():
    w, x = np.array([0.5, -0.3]), np.array([1.0, 2.0])
    gradients = grad(descend, wrt=(0, 1))(w, x)
    directions = np.array([0.3, -0.8]), np.array([0.5, 0.1])
    difference = five_point(lambda t: descend(w + t * directions[0], x + t * directions[1]), 1e-3)
    np.testing.assert_allclose(sum(g @ d for g, d in zip(gradients, directions, strict=True)), difference, rtol=1e-8)


def first_counts_twice(a):
    b = a + 1.0
    return (b + a) + (b[0] + 1.5)


def test_pullback_as_a_function():
    """A pullback leaves the cotangent alone that it is given, and gives the same inside another derivative."""

    def pulled(x, v):
        return vjp(first_counts_twice, x)[1](v)[0]

    x, v = np.arange(5) * 0.3, np.arange(1.0, 6.0)
    value, pullback = vjp(pulled, x, v)
    np.testing.assert_array_equal(v, np.arange(1.0, 6.0))
    np.testing.assert_allclose(value, [17, 4, 6, 8, 10])
    np.testing.assert_allclose(value, pulled(x, v))
    np.testing.assert_allclose(pullback(np.ones(5))[1], [3, 3, 3, 3, 3])


def gradient(x):
    return np.gradient(x)


def test_pullback_of_a_function_called_gradient():
    """The name of its adjoint was that of a helper of the emitted code."""
    np.testing.assert_allclose(vjp(gradient, np.array([1.0, 2.0, 4.0, 7.0]))[1](np.ones(4))[0], [-1.5, 0.5, -0.5, 1.5])


def both_items(x):
    return list((x, x))  # noqa: C410


def test_pullback_of_a_tangent_of_a_list():
    _, pullback = vjp(lambda x, v: jvp(both_items, (x,), (v,))[1], 1.0, 0.3)
    assert pullback([1.0, 2.0]) == (0.0, 3.0)


def test_pullback_of_a_tangent_of_a_gradient_by_tuples():
    def product(y):
        return y[0] * y[1]

    def f(x):
        return np.sum(np.sin(np.array(grad(product)((x, x)))))

    _, pullback = vjp(lambda x, v: jvp(f, (x,), (v,))[1], 0.7, 1.0)
    np.testing.assert_allclose(pullback(1.0), (-2 * np.sin(0.7), 2 * np.cos(0.7)))


def test_third_order():
    assert grad(grad(grad(lambda x: x**5)))(2.0) == 240.0
    f = lambda x: np.sum(x**4)
    x, v = np.array([1.0, 2.0]), np.array([1.0, -1.0])
    third = grad(lambda x: np.sum(v * hvp(f, (x,), (v,))))(x)
    np.testing.assert_allclose(third, 24 * x * v * v)


FIRST_ORDER = {
    "slices_near_the_end", "slices_in_a_loop",  # lists that are longer or shorter than is known
    "determinant_by_minors",  # a recursion over lists of lists, whose adjoint saves them as deep as the calls go
    "two_functions_that_capture",  # a recursion whose adjoint gives several: their types are not found
}  # fmt: skip
SECOND = [
    (function, args)
    for module in (
        scalars,
        arrays,
        in_place,
        containers,
        regressions,
        polybench,
        layouts,
        without_axes,
        shared,
        carried,
        recursive,
        derived,
        copies_and_views,
        states,
        entries,
        measured,
    )
    for function, args in module.PROGRAMS
    if function.__name__ not in getattr(module, "REFUSED", ()) and function.__name__ not in FIRST_ORDER
]
REFUSED = {  # reverse over reverse
    "sum_copied_with_views",
    "sum_copied_with_what_moves",  # deep copies of what lies in several places
    "view_changed_before_the_pullback",  # as are these
    "network",  # a list of tuples of arrays that change is not followed
    "best_of_several",  # nor is one of tuples of numbers and lists
    "slices_near_the_end",
    "slices_in_a_loop",
    "slices_deleted",  # lists that are longer or shorter than is known
    "gradient_of_one_that_calls_itself",  # of a gradient already: what is saved lies as deep as the calls go
}


@pytest.mark.parametrize("function, args", SECOND, ids=[f"{k}-{f.__name__}" for k, (f, _) in enumerate(SECOND)])
def test_second_order_of_programs(function, args, rng):
    """Emitted adjoints, with their lists and shadows, are differentiated again, in both modes."""
    wrt = moving(args)
    derivative = grad(function, wrt=wrt)
    tangents = [draw(a, rng) if i in wrt else None for i, a in enumerate(args)]

    def slope(t):
        gradients = derivative(*along(fresh(args), tangents, t))
        return sum(product(g, tangents[i]) for i, g in zip(wrt, gradients, strict=True))

    def forward_over_reverse():
        _, dots = jvp(derivative, fresh(args), tangents)
        return sum(product(d, tangents[i]) for i, d in zip(wrt, dots, strict=True))

    def reverse_over_reverse():
        _, pullback = vjp(derivative, *fresh(args))
        bars = pullback(tuple(tangents[i] for i in wrt))
        return sum(product(bars[i], tangents[i]) for i in wrt)

    def forward_over_forward():
        moved = [tangents[i] for i in wrt]
        tangent = Derivative(function, "jvp", wrt)
        bound = tangent.bind(tuple(fresh(args)), {})  # defaults among them
        still = [None] * (len(bound) - len(args))
        emitted = tangent.compiled(bound).function
        _, (_, second) = jvp(emitted, (*bound, *fresh(moved)), (*fresh(tangents), *still, *(None for _ in moved)))
        return second

    difference = five_point(slope, 1e-4)
    np.testing.assert_allclose(forward_over_forward(), difference, rtol=2e-6, atol=1e-6)
    np.testing.assert_allclose(forward_over_reverse(), difference, rtol=2e-6, atol=1e-6)
    try:
        both = reverse_over_reverse()
    except tangentc.TangentcError:
        assert function.__name__ in REFUSED
        return
    np.testing.assert_allclose(both, difference, rtol=2e-6, atol=1e-6)


def test_arguments_stay_as_they_are():
    x = np.array([1.0, 2.0])
    before = copy.deepcopy(x)
    tangentc.hessian(lambda x: np.sum(x**3))(x)
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("f", OF_ONE, ids=lambda f: f.__name__)
def test_second_derivatives_of_what_becomes_numbers_that_move(f):
    """In all three orders of the modes; what is filled in the first trip is an array of integers."""
    x, d, h = np.array([0.3, 0.34, 0.62]), np.array([0.3, -0.5, 0.7]), 1e-4
    wanted = (f(x + h * d) - 2 * f(x) + f(x - h * d)) / h**2

    def slope(y):
        return tangentc.jvp(f, (y,), (d,))[1]

    found = tangentc.jvp(slope, (x,), (d,))[1], tangentc.grad(slope)(x) @ d, tangentc.hvp(f, (x,), (d,)) @ d
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def added_twice_and_scaled(a, u):
    w = u[:2]
    w += a if a > 0.1 else a
    w += a if a > 0.1 else a
    if a > -0.7:
        w *= np.cos(w)
    return np.sum(np.sin(u))


def test_names_of_the_second_order_are_its_own():
    """What a simplification had named was named again where what a branch saves is handed out of it."""
    a, u, da, du = 0.3, np.array([0.3, -0.2, 0.5]), 0.2, np.array([0.1, 0.6, -0.3])

    def along(a, u):
        a_bar, u_bar = tangentc.grad(added_twice_and_scaled, wrt=(0, 1))(a, u)
        return a_bar * 0.2 + np.sum(u_bar * np.array([0.1, 0.6, -0.3]))

    a_bar, u_bar = tangentc.grad(along, wrt=(0, 1))(a, u)
    _, (a_dot, u_dot) = tangentc.jvp(tangentc.grad(added_twice_and_scaled, wrt=(0, 1)), (a, u), (da, du))
    assert np.isclose(a_bar * da + u_bar @ du, a_dot * da + u_dot @ du, rtol=1e-12)
