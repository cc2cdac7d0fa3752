"""Options of NumPy's and SciPy's functions that change what they give, and values outside of their domains."""

import numpy as np
import scipy.stats as stats
from scipy.linalg import sqrtm
from scipy.special import xlogy

ORDER, SUBSCRIPTS, AXES, SHAPE, MODE, WIDTHS = 1, "ij,kj->ik", (1, 0), (3, -1), "edge", ((1, 0), (0, 2))


def levels_that_keep_their_axes(A):
    return np.sum(np.percentile(A, [25, 60], axis=0, keepdims=True) * A) + np.sum(np.quantile(A, [0.3], keepdims=True))


def signs_of_complex_numbers(x, y):
    return np.sum(np.sign(x + 1j * y).real * np.array([1.0, 2.0]))


def columns_of_one_variable(x):
    return np.sum(stats.multivariate_normal.logpdf(x[:, None], 0.3, 2.0))


def counts_that_are_none(mu):
    return np.sum(stats.poisson.pmf([1.5, 2], mu))


def shapes_in_a_list(x):
    return np.sum(stats.gamma.logpdf(x, [1, 2]))


def nothing_times_a_logarithm(x):
    return np.sum(xlogy(np.array([0.0, 1.0]), x))


def fit_with_its_residuals(y):
    return np.polyfit(np.arange(5.0), y, 1, full=True)[1]


def fit_with_its_covariance(y):
    return np.sum(np.polyfit(np.arange(5.0), y, 1, cov=True)[0] ** 2)


def root_that_is_complex(A):
    return np.sum(np.abs(sqrtm(A)))


def median_that_reorders(x):
    return np.median(x, overwrite_input=True) + x[0]


def options_of_the_module(A):
    return (
        np.linalg.norm(A, ord=ORDER)
        + np.sum(np.einsum(SUBSCRIPTS, A, A)[0] ** 2)
        + np.sum(np.transpose(A, AXES)[0] ** 2)
        + np.sum(A.transpose(AXES)[1] * A.reshape(SHAPE)[0, 0])
        + np.sum(np.pad(A, WIDTHS, mode=MODE) ** 2)
    )


def options_of_a_closure(A):
    kind, axes = "fro", (-1, -2)

    def inner(B):
        return np.linalg.norm(B, kind) * np.transpose(B, axes)[0, 1]

    return inner(A) + inner(A * A)


def order_and_axis_as_arguments(x, ord=3, axis=0):
    return np.linalg.norm(x, ord=ord, axis=axis)


def axes_as_an_argument(A, axes):
    return np.sum(np.transpose(A, axes)[0] ** 2)


def levels_as_an_argument(A, levels=(0.2, 0.4), axis=1):
    return np.sum(np.quantile(A, levels, axis=axis) ** 2)


Y = np.array([1.0, 3, 2, 5, 7])
A = np.array([[0.3, 1.2, -0.7], [2.1, 0.4, 0.9]])
PROGRAMS = [
    (levels_that_keep_their_axes, (Y[:4].reshape(2, 2),)),
    (signs_of_complex_numbers, (np.array([1.0, -0.5]), np.array([2.0, 0.3]))),
    (columns_of_one_variable, (Y,)),
    (counts_that_are_none, (2.0,)),
    (shapes_in_a_list, (np.array([0.4, 1.3]),)),
    (nothing_times_a_logarithm, (np.array([0.3, 1.0]),)),
    (fit_with_its_residuals, (Y,)),
    (fit_with_its_covariance, (Y,)),
    (root_that_is_complex, (np.array([[-1.0, 0.3], [0.2, -2.0]]),)),
    (median_that_reorders, (Y[:4],)),
    (options_of_the_module, (A,)),
    (options_of_a_closure, (A,)),
    (order_and_axis_as_arguments, (Y,)),
    (axes_as_an_argument, (A, (1, 0))),
    (levels_as_an_argument, (A,)),
]
REFUSED = {"fit_with_its_residuals", "fit_with_its_covariance", "median_that_reorders"}
