"""Points at which Python's numbers raise, where NumPy's are infinite."""

import dataclasses
import math

import numpy as np
import pytest

from tangentc import grad, hessian, jvp, value_and_grad, vjp

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def root(x):
    return x**0.5


def chosen(x):
    return np.where(x > 0, np.log(x) * x**0.5, x)


def attempted(x):
    try:
        y = np.log(x) if x > 1 else 1 / x
    except ZeroDivisionError:
        return x**0.5
    return y


def test_each_derivative_is_infinite_where_the_root_is_zero():
    assert grad(root)(0.0) == grad(lambda x: math.sqrt(x))(0.0) == math.inf
    assert value_and_grad(root)(0.0) == (0.0, math.inf)
    assert jvp(root, (0.0,), (1.0,)) == (0.0, math.inf)
    value, pullback = vjp(root, 0.0)
    assert (value, pullback(2.0)) == (0.0, (math.inf,))
    assert hessian(lambda x: x**1.5)(0.0) == math.inf
    assert grad(lambda x: grad(lambda y: y**1.5)(x))(0.0) == math.inf
    assert grad(lambda p: p["a"][0] ** 0.5)({"a": [0.0]}) == {"a": [math.inf]}


@dataclasses.dataclass
class Pair:
    a: float
    b: float


def test_numbers_in_objects_and_of_arrays():
    assert grad(lambda p: p.a**0.5 + p.b)(Pair(0.0, 2.0)) == Pair(math.inf, 1.0)
    assert vjp(lambda p: math.sqrt(p.a), Pair(0.0, 2.0))[1](1.0) == (Pair(math.inf, 0.0),)
    assert grad(lambda x: math.sqrt(x[0]))(np.zeros(2)).tolist() == [math.inf, 0.0]


def test_numbers_that_math_gives():
    assert jvp(lambda x: math.sqrt(x) * 2, (0.0,), (1.0,))[1] == math.inf
    for f in (lambda x: math.sin(x) ** 0.5, lambda x: math.sqrt(math.sin(x))):
        assert grad(f)(0.0) == jvp(f, (0.0,), (1.0,))[1] == math.inf
        assert grad(f)(1.0) == pytest.approx(math.cos(1) / math.sin(1) ** 0.5 / 2)


def test_what_is_too_large_for_a_number_of_python():
    assert grad(math.atan)(1e200) == grad(np.arcsinh)(1e200) == 0.0
    assert grad(lambda x, y: math.atan2(x, y))(1e200, 1.0) == 0.0


def test_arms_that_are_not_taken():
    assert grad(chosen)(0.0) == vjp(chosen, 0.0)[1](1.0)[0] == jvp(chosen, (0.0,), (1.0,))[1] == 1.0
    assert hessian(chosen)(0.0) == 0.0


def test_a_function_that_raises_itself_still_does():
    for f in (lambda x: 1 / x, lambda x: x**-0.5, lambda x: math.exp(1000 + x)):
        with pytest.raises((ZeroDivisionError, OverflowError)):
            grad(f)(0.0)
        with pytest.raises((ZeroDivisionError, OverflowError)):
            vjp(f, 0.0)


def test_a_function_that_is_another_one_of_numbers_of_numpy():
    with pytest.raises(ZeroDivisionError):
        grad(attempted)(0.0)
    assert grad(attempted)(2.0) == 0.5


@pytest.mark.parametrize("take", [np.diag, lambda y: np.take(y, [0, 1]), lambda y: np.delete(y, 2)])
def test_what_is_taken_is_no_finite_wrong_number(take):
    gradient = grad(lambda x: np.sum(take(np.sqrt(x)) ** 2))(np.array([0.0, 4.0, 9.0]))  # which is 1 at 0
    assert np.isnan(gradient[0]) and gradient[1] == pytest.approx(1.0)


def test_zero_times_infinity_stays_where_it_is_taken():
    def replaced(x):
        r = np.sqrt(x)
        r[1] = 3.0
        return np.sum(r**2)

    def in_a_branch(x):
        r = np.sqrt(x)
        return np.sum(r**2) if x[1] > 1 else np.sum(x)

    for f in (lambda x: np.sqrt(x)[0] ** 2, lambda x: np.sum(np.sqrt(x)[[0, 1]] ** 2), replaced, in_a_branch):
        gradient = grad(f)(np.array([0.0, 4.0, 0.0]))
        assert np.isnan(gradient[0])
    mask = np.array([True, True, False])
    for f in (lambda x: np.sum(np.sqrt(x)[mask] ** 2), lambda x: np.sum(np.where(mask, np.sqrt(x) ** 2, 0.0))):
        np.testing.assert_array_equal(grad(f)(np.array([0.0, 4.0, 0.0])), [np.nan, 1.0, 0.0])


def test_several_tests_are_put_together():
    def several(x):
        r = np.sqrt(x)
        inner = np.where(x > 0, np.where(x < 4, r, 2.0), 0.0)
        return np.sum(inner) + np.sum(np.where(x > 9, r**2, x)) + r[1] * (r[2] if x[0] < 1 else 2.0)

    np.testing.assert_allclose(grad(several)(np.array([0.0, 1.0, 16.0, 0.0])), [1.0, 3.5, 1.125, 1.0])
    nested = grad(lambda x: np.sum(np.where(x > -1, np.where(x < 4, np.exp(np.log(x)), 2.0), 0.0)))
    np.testing.assert_array_equal(nested(np.array([0.0, 1.0, 16.0])), [np.nan, 1.0, 0.0])


BOUNDED = [  # where it is 0 it is taken, and has no derivative that the chain rule knows
    lambda x: np.clip(np.exp(np.log(x)), -1.0, 9.0),
    lambda x: np.clip(np.exp(np.log(x)), None, 9.0),
    lambda x: np.maximum(np.exp(np.log(x)), -1.0),
    lambda x: np.minimum(2.0, np.exp(np.log(x))),
    lambda x: np.fmax(np.exp(np.log(x)), np.full(2, np.nan)),
    lambda x: np.nansum(np.exp(np.log(x))),
    lambda x: np.nan_to_num(np.exp(np.log(x))),
    lambda x: np.triu(np.sqrt(np.tile(x, (2, 1)))) ** 2,
]


@pytest.mark.parametrize("f", BOUNDED)
def test_bounds_and_triangles_say_what_is_taken(f):
    gradient = grad(lambda x: np.sum(f(x)))(np.array([0.0, 1.0]))
    assert np.isnan(gradient[0]) and gradient[1] > 0


LEFT_OUT = [
    (lambda x: np.clip(np.log(x), -5.0, 9.0), 1.0),
    (lambda x: np.clip(x, np.log(x), 9.0), 1.0),
    (lambda x: np.maximum(np.log(x), [-1.0, -2.0]), 1.0),
    (lambda x: np.fmin(-np.log(x), np.array([3.0, 2.0])), -1.0),
    (lambda x: np.fmax(x / x, 0.5), 0.0),
    (lambda x: np.nanprod(x * (x / x)), 1.0),
    (lambda x: np.nan_to_num(np.log(x), neginf=0.0), 1.0),
    (lambda x: np.tril(np.full((2, 2), np.log(x[::-1])), k=-1) + x, 3.0),
]


@pytest.mark.parametrize("f, slope", LEFT_OUT)
def test_what_bounds_and_triangles_leave_out_is_zero(f, slope):
    g, x = (lambda x: np.sum(f(x))), np.array([0.0, 1.0])
    gradient = grad(g)(x)
    assert np.all(np.isfinite(gradient)) and gradient[1] == slope
    assert jvp(g, (x,), (np.ones(2),))[1] == pytest.approx(np.sum(gradient))


def test_a_bound_that_moves_with_a_loop():
    def trips(x):
        total = 0.0
        for k in range(3):
            y = np.log(x)
            total += np.sum(np.maximum(y, k - 1.5) * (k + 1))
            y += 1
        return total

    assert grad(trips)(np.array([0.0, 2.0])).tolist() == [0.0, 3.0]
    assert grad(trips)(np.array([0.0, 1.0])).tolist() == [0.0, 3.0]


DATA, KNOWN = np.array([np.nan, 2.0, 4.0]), np.array([False, True, True])
MISSING = [  # what is not there is no number, and takes no part
    lambda m: np.sum(np.where(np.isnan(DATA), 0.0, (DATA - m) ** 2)),
    lambda m: np.nansum((DATA - m) ** 2),
    lambda m: np.sum(((DATA - m) ** 2)[KNOWN]),
    lambda m: np.sum((DATA * m)[~np.isnan(DATA)] ** 2),
    lambda m: np.sum((DATA * m) ** 2, where=KNOWN),
    lambda m: np.mean((DATA * m) ** 2, where=KNOWN),
    lambda m: np.sum(np.select([KNOWN], [DATA * m * m], 0.0)),
    lambda m: np.sum(np.nan_to_num(DATA * m * m)),
    lambda m: np.sum(np.fmin(DATA * m * m, 99.0)),
    lambda m: np.nanmean((DATA * m) ** 2),
    lambda m: np.nanmax(DATA * m * m) - np.nanmin(DATA * m),
    lambda m: np.nanvar(DATA * m),
    lambda m: np.nanmedian(DATA * m * m),
]


@pytest.mark.parametrize("f", MISSING)
def test_numbers_that_are_missing(f):
    m, h = 1.3, 1e-4
    slope = (f(m + h) - f(m - h)) / (2 * h)
    curvature = (f(m + h) - 2 * f(m) + f(m - h)) / h**2
    assert grad(f)(m) == pytest.approx(slope, rel=1e-6) == jvp(f, (m,), (1.0,))[1]
    assert hessian(f)(m) == pytest.approx(curvature, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("f", [lambda x: np.nansum(x * x), lambda x: np.nanmean(np.sin(x)), lambda x: np.nanvar(x * x)])
def test_arguments_that_are_missing(f):
    gradient = grad(f)(DATA)
    kept = grad(f)(DATA[1:])
    assert gradient[0] == 0.0
    np.testing.assert_allclose(gradient[1:], kept)
    np.testing.assert_allclose(jvp(f, (DATA,), (np.ones(3),))[1], np.sum(kept))


OUTSIDE = [
    (lambda x: np.sum(np.sqrt(np.maximum(x, 0.0))), -1.0),
    (lambda x: np.sum(np.clip(x, 0, None) ** 0.7), -1.0),
    (lambda x: np.sum(np.sqrt(np.clip(x, 0, 9))), -1.0),
    (lambda x: np.sum(np.arccos(np.clip(x / 2, -1, 1))), -7.0),
    (lambda x: np.max(np.log(x)), 0.0),
    (lambda x: np.min(1 / x) * 2, 0.0),
    (lambda x: max(np.log(x[0]), -1.0) + min(1 / x[0], 5.0) + x[1] ** 2, 0.0),
]


@pytest.mark.parametrize("f, outside", OUTSIDE)
def test_outside_of_bounds_nothing_moves(f, outside):
    x = np.array([outside, 1.5])
    gradient, second = grad(f)(x), hessian(f)(x)
    h = np.array([0.0, 1e-5])
    assert gradient[0] == 0.0 and np.all(second[0] == 0)
    assert gradient[1] == pytest.approx((f(x + h) - f(x - h)) / 2e-5, rel=1e-6)
    assert jvp(f, (x,), (np.ones(2),))[1] == pytest.approx(gradient[1])


def test_angles_of_points_far_out_and_near():
    for x in (1e-200, 1e200, -1e-170):
        assert grad(lambda y, x: np.arctan2(y, x))(x, x) == pytest.approx(0.5 / x)
        assert grad(lambda y, x: math.atan2(y, x), 1)(x, x) == pytest.approx(-0.5 / x)
    assert grad(lambda y: np.arctan2(y, np.int64(4_000_000_000)))(1.0) == pytest.approx(2.5e-10)


@pytest.mark.parametrize("largest", [np.max, np.min])
def test_an_extreme_that_is_no_number_has_no_derivative(largest):
    x = np.array([-1.0, 4.0])
    assert np.isnan(grad(lambda x: largest(np.sqrt(x)))(x)).any()
    assert np.isnan(grad(lambda x: largest(x))(np.array([np.nan, 1.0]))).any()


def test_given_data_that_are_no_numbers_are_not_looked_at_where_they_are_not_taken():
    def squares(x, data, weights):
        return np.sum(np.where(weights > 0, (x - data) ** 2 * data, 0.5 * x))

    x, data = np.array([1.0, 3.0]), np.array([np.nan, 2.0])
    np.testing.assert_array_equal(grad(squares)(x, data, np.array([0.0, 1.0])), [0.5, 4.0])
    np.testing.assert_array_equal(grad(squares)(x, np.inf, np.zeros(2)), [0.5, 0.5])
    np.testing.assert_array_equal(jvp(squares, (x, data, np.array([0.0, 1.0])), (np.ones(2), None, None))[1], 4.5)


def test_second_derivatives_of_what_is_not_taken():
    def powers(x):
        return np.where(x > 0.0, x**3, x**2 * np.inf)

    assert grad(grad(powers))(2.0) == 12.0
    assert hessian(lambda x: np.sum(powers(x)))(np.array([2.0]))[0, 0] == 12.0


def test_powers_of_a_zero_that_stands_in_the_code():
    def clamped(x, t):
        tau = 1.0 - t if t < 1.0 else 0.0
        return x * x + 3.0 * tau**0.35

    def whole(x, t):
        tau = 1 - t if t < 1 else 0
        return x * x + 3.0 * tau**0.35

    with np.errstate(divide="ignore"):
        for f in (clamped, whole, lambda x, t: x * x + 3.0 * max(1.0 - t, 0.0) ** 0.35):
            assert grad(f, wrt=(0, 1))(0.7, 2.0) == (1.4, 0.0)


def test_what_is_made_before_a_loop_that_does_not_run():
    def damped(x, dt, n):
        for _ in range(n):
            x = x * np.sqrt(dt)
        return x

    with np.errstate(invalid="ignore"):
        assert grad(damped)(2.0, -1.0, 0) == 1.0
        assert grad(damped, wrt=("x", "dt"))(2.0, -1.0, 0) == (1.0, 0.0)


def test_an_exponential_may_be_too_small_for_a_number():
    def f(x, p):
        return np.sum(np.exp(-(x**2)) ** p)

    at, p = np.array([0.5, 40.0]), 2.0  # np.exp(-1600.0) is 0
    x_bar, p_bar = grad(f, (0, 1))(at, p)
    np.testing.assert_allclose(x_bar, [-2 * np.exp(-0.5), 0.0])
    np.testing.assert_allclose(p_bar, -0.25 * np.exp(-0.5))
