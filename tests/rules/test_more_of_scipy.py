"""What calls cannot say of the functions of SciPy: limits, points that coincide, and what is refused."""

import numpy as np
import pytest
import scipy.linalg as sl
import scipy.signal as sg
import scipy.special as sp
import scipy.stats as st
from scipy.interpolate import PchipInterpolator, interp1d, interpn
from scipy.spatial.distance import cdist, cosine, euclidean, pdist, squareform

import tangentc

LINES = interp1d(np.arange(3.0), np.arange(3.0))
COLUMNS = interp1d(np.arange(3.0), np.ones((2, 3)))
POINTS = np.array([[1.0, 2.0], [3.0, 1.0], [1.0, 2.0]])


def kernel(x):
    return np.sum(np.exp(-cdist(x, x)) + np.exp(-squareform(pdist(x, "cityblock"))))


def test_points_that_coincide_stay_at_no_distance():
    tangentc.check_grads(lambda x: np.exp(-cdist(x, x))[1], (POINTS,), order=2)
    assert np.isfinite(tangentc.grad(kernel)(POINTS)).all() and np.isfinite(tangentc.hessian(kernel)(POINTS)).all()
    assert tangentc.grad(lambda x: euclidean(x, POINTS[0]))(POINTS[0]).tolist() == [0.0, 0.0]
    assert tangentc.jvp(lambda x: euclidean(x, POINTS[0]), (POINTS[0],), (np.ones(2),))[1] == 0.0
    hessian = tangentc.hessian(lambda x: cosine(x, POINTS[0]))(POINTS[0])  # of the least of 1 - cos
    np.testing.assert_allclose(hessian, [[0.16, -0.08], [-0.08, 0.04]])


def of_another_metric(x):
    return np.sum(cdist(x, x, "jaccard"))


def with_an_option_of_another(x):
    return np.sum(pdist(x, p=3))


def of_a_function_with_options(x):
    return np.sum(cdist(x, x, lambda a, b: a @ b, w=[1.0, 2.0]))


REFUSED = [
    (of_another_metric, POINTS, "the metric 'jaccard' of scipy.spatial.distance is not differentiated"),
    (with_an_option_of_another, POINTS, "the metric 'euclidean' of scipy.spatial.distance .* with p"),
    (of_a_function_with_options, POINTS, "unexpected keyword argument"),
    (lambda x: sl.eigvalsh(x, x @ x, type=2), np.eye(2), "scipy.linalg.eigh of two matrices .* with type=2"),
    (lambda x: sl.eigvalsh(np.stack([x, x]), np.stack([x, x])), np.eye(2), "of a stack of matrices"),
    (lambda x: sl.eigvalsh(x, subset_by_value=[0, 2]), np.eye(2), "no rule for scipy.linalg._decomp.eigvalsh"),
    (lambda x: interp1d(np.arange(3.0), x, kind="nearest")(0.3), np.ones(3), "interp1d of kind 'nearest'"),
    (lambda x: interp1d(np.arange(3.0), x)(7.0), np.ones(3), "outside of the interpolation range"),
    (lambda x: LINES(10 * x), 1.0, "above the interpolation range"),
    (lambda x: np.sum(COLUMNS(x)), 1.0, "a call of interp1d is not differentiated"),
    (lambda x: PchipInterpolator(np.arange(3.0), x, extrapolate="periodic")(0.3), np.ones(3), "a periodic interpolant"),
    (lambda x: interpn((np.arange(3.0),), x, [0.3], method="nearest")[0], np.ones(3), "a grid with method='nearest'"),
    (lambda x: st.skew(x, nan_policy="omit"), np.ones(4), "no rule for scipy.stats._stats_py.skew"),
    (lambda x: sp.zeta(x), 2.5, "does not cover this call"),
    (lambda x: sp.zeta(x, 2.0), 2.5, "the first argument of zeta is not known in closed form"),
    (lambda x: sp.spherical_jn(2, x, derivative=True), 2.5, "derivative has no place in the rule"),
    (lambda x: np.sum(sg.convolve2d(x, x, boundary="wrap")), np.eye(2), "convolve2d .* with zeros around"),
    (lambda x: np.sum(sg.correlate2d(x, x, fillvalue=1)), np.eye(2), "no rule for"),
    (lambda x: np.sum(sg.convolve2d(x, x, fillvalue=x[0, 0])), np.zeros((2, 2)), "no rule for"),
    (lambda x: np.sum(sl.lstsq(x, x[0])[0]), np.ones((2, 2)), "lstsq is differentiated for a matrix of full rank"),
    (lambda x: np.sum(sg.hilbert(x + 0j)).real, np.ones(4), "must be real"),
    (lambda x: np.sum(sg.savgol_filter(x + 0j, 3, 1)).real, np.ones(4), "savgol_filter is differentiated in real"),
    (lambda x: np.sum(sg.savgol_filter(np.ones(4), 3, 1, 1, x)), 1.0, "no rule for"),
    (lambda x: np.sum(sg.detrend(x, overwrite_data=True)), np.ones(4), "no rule for"),
    (lambda x: np.sum(sg.filtfilt([x, 1], [1.0], np.ones(9), method="gust")), 1.0, "no rule for"),
    (lambda x: np.sum(sl.lstsq(x, x[0], lapack_driver="gelsy")[0]), np.eye(2), "no rule for"),
    (lambda x: np.sum(sl.lu(x)[1]), np.ones((2, 3)), "lu is differentiated for a square matrix"),
    (lambda x: np.sum(sl.lu(np.stack([x, x]))[1]), np.eye(2), "of a stack of matrices"),
    (lambda x: sp.comb(x, 2, repetition=True), 2.5, "no rule for scipy.special._basic.comb"),
]


@pytest.mark.parametrize("f, x, text", REFUSED)
def test_refused(f, x, text):
    with pytest.raises((tangentc.TangentcError, TypeError, ValueError), match=text):
        tangentc.grad(f)(x)


def test_limits_of_special_functions():
    for f, x, slope, second in (
        (lambda x: sp.lambertw(x).real, 0.0, 1.0, -2.0),
        (lambda x: sp.ellipk(x), 0.0, np.pi / 8, 9 * np.pi / 64),
        (lambda x: sp.ellipkm1(x), 1.0, -np.pi / 8, 9 * np.pi / 64),
        (lambda x: sp.ellipe(x), 0.0, -np.pi / 8, -3 * np.pi / 64),
        (lambda x: sp.exprel(x), 0.0, 1 / 2, 1 / 3),
        (lambda x: sp.spence(x), 1.0, -1.0, 1 / 2),
        (lambda a: sp.boxcox(np.e, a), 0.0, 1 / 2, 1 / 3),
        (lambda x: sp.sici(x)[0], 0.0, 1.0, 0.0),
    ):
        np.testing.assert_allclose([tangentc.grad(f)(x), tangentc.hessian(f)(x)], [slope, second], atol=1e-15)


def test_eigenvalues_may_coincide_where_no_vector_matters():
    np.testing.assert_allclose(tangentc.grad(lambda x: np.sum(sl.eigvalsh(x) ** 2))(np.eye(3)), 2 * np.eye(3))
    gradient = tangentc.grad(lambda x: np.sum(sl.eigh(x, subset_by_index=[0, 1])[0]))(np.eye(3))
    assert np.trace(gradient) == 2.0


def through_points_on_a_line(y):
    slope, intercept, _, _, _ = st.linregress(np.arange(4.0), y)
    return slope * intercept


def test_statistics_of_entries_that_are_equal_or_on_a_line():
    y = 2 * np.arange(4.0) + 1
    np.testing.assert_allclose(tangentc.grad(through_points_on_a_line)(y), [1.1, 0.7, 0.3, -0.1])
    with np.errstate(all="ignore"):
        value, gradient = tangentc.value_and_grad(lambda x: st.skew(x))(np.ones(4))
    assert np.isnan(value) and np.isnan(gradient).all()
