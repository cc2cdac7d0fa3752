"""Second derivatives where several arguments move, of which the rule for one may take another for an option."""

import numpy as np
import pytest

from tangentc import grad, hvp

rng = np.random.default_rng(3)
A = rng.normal(size=(3, 4))
B = np.abs(A) + 0.5
S = A @ A.T + np.eye(3)
u, v, w = np.array([0.1, 0.9, 2.0, 3.5]), rng.normal(size=4), np.array([0.5, 1.2, 0.7, 1.9])
MIXED = np.cos(np.arange(1, 50.0))


def mixed(y):
    y = np.asarray(y)
    return np.sum((np.ravel(y) ** 3 + np.ravel(y)) * MIXED[: np.size(y)])


def added_at(a, b):
    y = a.copy()
    np.add.at(y, [0, 0, 2], b[:3])
    np.multiply.at(y, [1, 1], b[:2])
    return y


CALLS = {
    "area, by places": (lambda a, b: np.trapezoid(a, x=b), A, u),
    "area, by places of each row": (lambda a, b: np.trapezoid(a, b * a, axis=0), A, B),
    "area, by a width": (lambda a, b: np.trapezoid(a, dx=b, axis=0), A, 0.7),
    "slope, by a width": (lambda a, b: np.gradient(a, b), v, 0.7),
    "slope, by places": (lambda a, b: np.gradient(a, b), v, u),
    "slope along an axis": (lambda a, b: np.gradient(a, b, axis=1), A, u),
    "slope along the last axis": (lambda a, b: np.gradient(a, b, axis=-1), A, u),
    "slope with better ends": (lambda a, b: np.gradient(a, b, edge_order=2), v, u),
    "average along an axis": (lambda a, b: np.average(a, weights=b, axis=1), A, w),
    "average": (lambda a, b: np.average(a, weights=b), A, B),
    "average with the sum": (lambda a, b: np.stack(np.average(a, weights=b, axis=1, returned=True)), A, w),
    "lower bound": (lambda a, b: np.clip(a, b, 1.0), A, 0.2),
    "upper bounds": (lambda a, b: np.clip(a, -0.5, b), A, w),
    "interpolated values": (lambda a, b: np.interp(a, u, b), w, v),
    "interpolated between places": (lambda a, b: np.interp(a, b, v), w, u),
    "interpolated, left of all": (lambda a, b: np.interp(a, u, v, left=b), w - 0.97, 0.3),
    "interpolated, right of all": (lambda a, b: np.interp(a, u, v, right=b), w + 2.03, 0.3),
    "interpolated, periodic": (lambda a, b: np.interp(a, b, v, period=5.0), w + 3.07, u),
    "quantile": (lambda a, b: np.quantile(a, b), v, 0.3),
    "quantiles along an axis": (lambda a, b: np.quantile(a, b, axis=1), A, np.array([0.3, 0.6])),
    "percentiles along an axis": (lambda a, b: np.percentile(a, b * 10, axis=1), A, np.array([3.0, 6.0])),
    "sum from": (lambda a, b: np.sum(a, axis=0, initial=b), A, 0.3),
    "product from": (lambda a, b: np.prod(a, axis=0, initial=b), A, 0.3),
    "largest, or": (lambda a, b: np.max(a, axis=0, initial=b), A, 0.3),
    "least, or": (lambda a, b: np.min(a, axis=0, initial=b), A, 0.3),
    "weighted covariance": (lambda a, b: np.cov(a, aweights=b), A, w),
    "covariance of two": (lambda a, b: np.cov(a, b), v, u),
    "correlation of two": (lambda a, b: np.corrcoef(a, b), v, u),
    "weights of a histogram": (lambda a, b: np.histogram(a, bins=[0.0, 1.0, 2.0], weights=b)[0], w, v),
    "density": (lambda a, b: np.histogram(u, bins=3, weights=a * b, density=True)[0], w, v),
    "counts": (lambda a, b: np.bincount([0, 1, 1, 2], weights=a * b), w, v),
    "polynomial": (lambda a, b: np.polyval(a, b), v, w),
    "fit": (lambda a, b: np.polyfit(a, b, 2), u, v),
    "weighted fit": (lambda a, b: np.polyfit(u, a, 2, w=b), v, w),
    "linspace": (lambda a, b: np.linspace(a, b, 5), 0.2, 1.3),
    "logspace": (lambda a, b: np.logspace(a, 1.0, 4, base=b), 0.2, 1.3),
    "geomspace": (lambda a, b: np.geomspace(a, b, 4), 0.2, 1.3),
    "where": (lambda a, b: np.where(a > 0, b * a, b**2), A, B),
    "select": (lambda a, b: np.select([a > 0.5, a > -0.5], [a * b, b], default=b * a**2), A, B),
    "convolution": (lambda a, b: np.convolve(a, b, "same"), v, w),
    "differences with ends": (lambda a, b: np.diff(a, prepend=b, append=b * 2), v, 0.3),
    "flat differences with ends": (lambda a, b: np.ediff1d(a, to_begin=b, to_end=[b * 2, 1.0]), v, 0.3),
    "insertion": (lambda a, b: np.insert(a, 1, b), v, 0.3),
    "least squares": (lambda a, b: np.linalg.lstsq(a, b, rcond=None)[0], B.T, v),
    "solution": (lambda a, b: np.linalg.solve(a, b), S, B),
    "power of a matrix": (lambda a, b: np.linalg.matrix_power(a, -2) @ b, S, B),
    "tensordot": (lambda a, b: np.tensordot(a, b, axes=([0], [1])), A, S),
    "cross product": (lambda a, b: np.cross(a[:, :3], b[:, :3]), A, B),
    "step": (lambda a, b: np.heaviside(a, b) * a, A, B),
    "choice": (lambda a, b: np.choose([0, 1, 1, 0], [a, b]), v, w),
    "remainder": (lambda a, b: np.divmod(a, b)[1] + np.fmod(a, b), v, w),
    "sign of another": (lambda a, b: np.copysign(a, b), v, w),
    "sums of slices": (lambda a, b: np.add.reduceat(a * b, [0, 2]), v, w),
    "reduced logaddexp": (lambda a, b: np.logaddexp.reduce(a * b), v, w),
    "added at": (lambda a, b: added_at(a, b), v, w),
}


@pytest.mark.parametrize("name", CALLS)
def test_second_derivatives_of_a_call_in_which_both_arguments_move(name):
    call, *primals = CALLS[name]

    def f(a, b):
        return mixed(call(a, b))

    directions = [rng.normal(size=np.shape(p)) if np.ndim(p) else rng.normal() for p in primals]
    h = 1e-5
    ahead, behind = ([p + t * d for p, d in zip(primals, directions)] for t in (h, -h))
    for k in (0, 1):
        by_differences = (np.asarray(grad(f, wrt=k)(*ahead)) - np.asarray(grad(f, wrt=k)(*behind))) / (2 * h)
        np.testing.assert_allclose(hvp(f, primals, directions, wrt=k), by_differences, rtol=1e-4, atol=1e-5)
