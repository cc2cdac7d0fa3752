"""Filters of `scipy.ndimage` in programs: what they write into, choices by values, integers, and other options."""

import numpy as np
import pytest
import scipy.ndimage as nd

import tangentc
from tangentc.inspection.check import five_point
from tangentc.rules.scipy import ndimage as rules

V = np.random.default_rng(0).normal(size=6)
K = np.array([1.0, 2.0, 3.0])


def smooth(x, output=None):
    return nd.gaussian_filter(x, 1.0, output=output)


def into_a_buffer(x):
    y = np.zeros(6)
    nd.gaussian_filter1d(x, 1.0, output=y)
    return np.sum(y**2)


def over_what_moved(x):
    y = x * 1
    nd.gaussian_filter1d(np.arange(6.0), 1.0, output=y)
    return np.sum(y**2) + x[0]


def into_by_position(x):
    y = x * 1
    _ = nd.gaussian_filter(np.arange(6.0), 1.0, 0, y)
    return np.sum(y**2) + x[0]


def without_a_rule_over_what_moved(x):
    y = x * 1
    nd.median_filter(np.arange(6.0), 3, None, y)
    return np.sum(y**2) + x[0]


def in_its_place(x):
    y = x * 2
    nd.convolve(y, K, output=y)
    return np.sum(y**2)


def of_a_dtype(x):
    kind = np.dtype(float)
    return np.sum(nd.convolve(x, K, output=x.dtype) ** 2 + nd.convolve(x, K, output="d") + nd.correlate(x, K, kind))


def through_a_wrapper(x):
    return np.sum(smooth(x * 2) ** 2)


def left_as_it_was(x):
    y = nd.gaussian_filter(x, 0.0)
    y[0] = 0
    return np.sum(y * x)


def several_times(x):
    y = x
    for _ in range(3):
        y = nd.gaussian_filter(y, 1.0, mode="wrap") + x
    return np.sum(y**2)


def mode_by_a_value(x):
    mode = "wrap" if x[0] < 0 else "constant"
    return np.sum(nd.convolve(x, K, mode=mode, cval=1.5) ** 2)


def margin_by_a_value(x):
    margin = 1.5 if x[0] > 0 else 0.0
    return np.sum(nd.convolve(x, K, mode="constant", cval=margin) ** 2) + np.sum(nd.correlate(x, K, cval=x[1]) ** 2)


def integers(x):
    return np.sum(nd.convolve((10 * x).astype(int), K) * x)


def sigma_over_integers(x):
    return np.sum(nd.gaussian_filter1d(np.arange(6), x[0] ** 2 + 1, output=float) ** 2)


def integers_stay_integers(x):
    return np.sum(nd.gaussian_filter1d(np.arange(6), x[0] ** 2 + 1)) * x[1]


def kernel_out_of_the_signal(x):
    return np.sum(nd.correlate(x, np.array([x[0], x[1], 2.0])) ** 2) + np.sum(nd.convolve(x, x) ** 2)


def of_two_axes(x):
    return np.sum(nd.gaussian_filter(x[None] * x[:, None], sigma=(1.0, x[0] ** 2 + 0.5)) ** 2)


PROGRAMS = (
    into_a_buffer, over_what_moved, into_by_position, without_a_rule_over_what_moved, in_its_place, of_a_dtype,
    through_a_wrapper, left_as_it_was, several_times, mode_by_a_value, margin_by_a_value, integers, sigma_over_integers,
    integers_stay_integers, kernel_out_of_the_signal, of_two_axes,
)  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_both_modes_agree_with_differences(f):
    for direction in np.eye(6):
        want = five_point(lambda t, d=direction: f(V + t * d), 1e-4)
        np.testing.assert_allclose(tangentc.jvp(f, (V,), (direction,))[1], want, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(tangentc.grad(f)(V) @ direction, want, rtol=1e-8, atol=1e-8)


def into_a_part(x):
    y = np.zeros(6)
    nd.gaussian_filter1d(x, 1.0, output=y[:6])
    return np.sum(y**2)


def into_through_a_wrapper(x):
    y = x * 2
    smooth(y, y)
    return np.sum(y**2)


def into_by_position_without_a_rule(x):
    y = x * 1
    nd.binary_erosion(np.arange(6.0) > 1, None, 1, None, y)
    return np.sum(y**2) + x[0]


@pytest.mark.parametrize("f", [into_a_part, into_through_a_wrapper, into_by_position_without_a_rule])
def test_what_may_be_written_into_is_refused(f):
    for derivative in (lambda: tangentc.grad(f)(V), lambda: tangentc.jvp(f, (V,), (V,))):
        with pytest.raises(tangentc.UnsafeMutation, match="which it may change"):
            derivative()


SHAPES = (
    ((5,), (3,)), ((5,), (4,)), ((3,), (9,)), ((2,), (8,)), ((1,), (5,)), ((4, 3), (3, 2)), ((2, 3), (5, 7)), ((0,), (3,)),
    ((0, 3), (3, 1)), ((3, 4), (1, 1)), ((2, 3, 4), (4, 2, 1)),
)  # fmt: skip


@pytest.mark.parametrize("mode", rules.MODES)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_the_three_forms_are_one(mode, shapes):
    """As SciPy has them, and adjoint to each other, for every origin, also where the kernel is longer than the line."""
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, *shapes[0])) + 1j * rng.normal(size=(2, *shapes[0]))
    w = rng.normal(size=shapes[1]) + 1j * rng.normal(size=shapes[1])
    for origin in range(-2, 3):
        for turned, function in ((False, nd.correlate), (True, nd.convolve)):
            try:
                want = function(x, w if turned else w.conj(), mode=mode, origin=origin)
            except ValueError:  # SciPy refuses an origin outside of the kernel
                continue
            options = (None, mode, origin, turned)
            found = rules.forth(x, w, *options)
            np.testing.assert_allclose(found, want, atol=1e-12)
            np.testing.assert_allclose(np.sum(rules.back(y, w, *options) * x), np.sum(y * found), atol=1e-12)
            np.testing.assert_allclose(np.sum(rules.weighed(x, y, w, *options) * w), np.sum(y * found), atol=1e-12)


def test_types_of_results_are_known():
    def energy(x):
        return np.sum(nd.gaussian_filter(x, (1.0, 2.0)) ** 2 + nd.uniform_filter(x, 3) * nd.convolve(x, K[None]))

    for f in (energy, lambda x: np.sum(nd.sobel(x, mode="wrap") ** 2)):
        assert "unbroadcast" not in tangentc.grad(f).source_for(np.ones((4, 5)))


def test_a_constant_is_not_moved_in_forward_mode():
    """A rule that is linear in each argument has no term for one that has no adjoint, as a shape to be like."""

    def of_shape(x, like):
        return x * np.ones(np.shape(like))

    @tangentc.adjoint_rule(of_shape, linear="each")
    def of_shape_rule(x, like, y, y_bar):
        return np.sum(y_bar), None

    tangent = tangentc.jvp(lambda x: of_shape(x, np.array([x, 2 * x])), (3.0,), (1.0,))[1]
    np.testing.assert_array_equal(tangent, [1.0, 1.0])
