"""Results that are lists, tuples and dicts of which only the call knows how long they are."""

import copy
from typing import NamedTuple

import numpy as np
import pytest
from programs import growing

import tangentc
from tangentc.inspection.check import five_point, flatten, rebuild


@pytest.mark.parametrize("function, args", growing.STRUCTURED, ids=[f.__name__ for f, _ in growing.STRUCTURED])
def test_pullback_and_tangent_agree_with_differences(function, args):
    x, *rest = args
    rng = np.random.default_rng(0)
    direction = rng.normal(size=x.shape)
    value, pullback = tangentc.vjp(function, *args)
    wanted = function(*args)
    assert type(value) is type(wanted) and str(value) == str(wanted)
    seed = rebuild(value, iter([rng.normal(size=a.shape) for _, a in flatten(value)]))
    _, tangent = tangentc.jvp(function, args, (direction, *(None for _ in rest)))
    given = float(np.sum(pullback(seed)[0] * direction))

    def product(a):
        return sum(float(np.sum(u * v)) for (_, u), (_, v) in zip(flatten(seed), flatten(a), strict=True))

    assert given == pytest.approx(product(tangent), rel=1e-12)
    assert given == pytest.approx(five_point(lambda t: product(function(x + t * direction, *rest)), 1e-3), rel=1e-8)


def test_pullback_of_an_adjoint_by_a_seed_that_is_a_dict():
    def pair(x):
        return dict([("a", x)], b=2 * x)

    adjoint = tangentc.adjoint(pair, wrt=0)
    assert adjoint(1.0, {"a": 1.0, "b": 2.0}) == 5.0
    assert tangentc.vjp(adjoint, 1.0, {"a": 1.0, "b": 2.0})[1](1.0) == (0.0, {"a": 1.0, "b": 2.0})


def test_added_to_dicts_in_lists():
    from tangentc.runtime import add_items

    shadow = [{"a": 1.0}, {"a": 2.0}]
    add_items(shadow, [{"a": 3.0}, {"a": 4.0}])
    assert shadow == [{"a": 4.0}, {"a": 6.0}]


def test_cotangents_of_empty_containers():
    def fun(d, x):
        return d.get("a", x) ** 2

    assert tangentc.vjp(fun, {}, 2.0)[1](1.0) == ({}, 4.0)
    assert tangentc.jvp(fun, ({}, 2.0), ({}, 1.0)) == (4.0, 4.0)


def test_a_gradient_of_no_real_number_is_a_type_error():
    with pytest.raises(TypeError, match="complex"):
        tangentc.grad(lambda x: x * 1j)(1.0)
    with pytest.raises(TypeError, match="one (real )?number"):
        tangentc.grad(lambda x: x > 1)(1.0)


def test_gradient_by_what_holds_nothing():
    def f(d, x):
        for k in d:
            x = x * d[k]
        return x

    assert tangentc.grad(f, wrt=(0, 1))({}, 2.0) == ({}, 1.0)
    assert tangentc.vjp(f, {}, 2.0)[1](1.0) == ({}, 1.0)
    assert tangentc.grad(lambda l, x: x * x)([], 2.0) == []
    assert tangentc.grad(lambda l, x: x * x)((), 2.0) == ()
    tangentc.check_grads(f, ({}, 2.0))
    with pytest.raises(tangentc.NotDifferentiable):
        tangentc.grad(lambda l, x: x * x)([1, 2], 2.0)


def test_second_derivatives_through_deep_copies():
    def nested(x):
        kept = [[x]]
        other = copy.deepcopy(kept)
        kept[0][0] = other[0][0] ** 2
        return kept[0][0]

    def flat(x):
        kept = [x]
        other = copy.deepcopy(kept)
        other[0] = other[0] ** 2
        return other[0] * kept[0]

    assert tangentc.grad(nested)(1.5) == 3.0
    with pytest.raises(tangentc.UnsafeMutation, match="deep copy"):
        tangentc.grad(tangentc.grad(nested))(1.5)
    assert tangentc.hvp(nested, (1.5,), (1.0,)) == 2.0
    assert tangentc.grad(flat)(1.5) == 3 * 1.5**2
    assert tangentc.grad(tangentc.grad(flat))(1.5) == 9.0


def test_second_derivative_through_lists_that_are_copied_and_grow():
    def f(x):
        kept = [[x], [x * 2]]
        other = copy.deepcopy(kept)
        other[0].append(kept[1][0])
        kept[0][0] = other[0][1] * x
        return np.sum(kept[0][0] * other[0][0])

    x = np.array([0.3, -0.7])
    assert np.allclose(tangentc.grad(f)(x), 6 * x**2)
    np.testing.assert_allclose(tangentc.hessian(f)(x), np.diag(12 * x))
    with pytest.raises(tangentc.UnsafeMutation, match="deep copy"):
        tangentc.grad(lambda x: np.sum(tangentc.grad(f)(x)))(x)


def test_an_array_of_which_some_entries_move():
    value, pullback = tangentc.vjp(lambda x: np.asarray([*x, 1.0]), np.array([1.0, 2.0]))
    np.testing.assert_array_equal(pullback(np.array([3.0, 4.0, 5.0]))[0], [3.0, 4.0])


class Pair(NamedTuple):
    first: float
    second: float


@pytest.mark.parametrize("tangent", [None, 0.0])
def test_where_nothing_moves_the_tangent_has_the_form_of_the_result(tangent):
    def f(x):
        return {"pair": Pair(x * x, np.sin(x)), "array": np.ones(2), "text": "t"}

    _, moved = tangentc.jvp(f, (2.0,), (tangent,))
    assert moved["pair"] == Pair(0.0, 0.0) and not moved["array"].any() and moved["text"] is None
