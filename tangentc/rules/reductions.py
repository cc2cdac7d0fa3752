"""Sums, means, products, extremes and variances along axes.

Formulas: by the definition of each function; an extreme that several entries share is shared by them evenly.
"""

import builtins

import numpy as np

from tangentc.rules.fragment import inline, is_alone
from tangentc.rules.registry import adjoint_rule, tangent_rule, zero_gradient
from tangentc.runtime import product_of_others, product_of_pairs, quantile_shares, quantile_steps

AXES = [{}, {"axis": 0}, {"axis": -1}, {"axis": (0, 1)}, {"axis": 1, "keepdims": True}, {"keepdims": True}]


def all_axes(rng):
    return [((rng.normal(size=(3, 4)),), options) for options in AXES] + [
        ((rng.normal(size=5),), {}),
        ((np.zeros((0, 3)),), {"axis": 1}),
    ]


@inline
def along(value, axis, keepdims):
    """A value of the reduction's shape, with the reduced axes put back at length one; a number that stands for one."""
    if axis is None or keepdims or np.ndim(value) == 0:
        return value
    return np.expand_dims(value, axis)


@inline
def count(x, y, axis):
    """How many entries go into each entry of the result."""
    if axis is None:
        return np.size(x)
    if isinstance(axis, int):
        return np.shape(x)[axis]
    return np.size(x) / np.size(y)


@adjoint_rule(np.sum, linear="jointly", samples=all_axes)
def sum(x, y, y_bar, axis=None, keepdims=False):
    return along(y_bar, axis, keepdims)


@adjoint_rule(np.mean, linear="jointly", samples=all_axes)
def mean(x, y, y_bar, axis=None, keepdims=False):
    return along(y_bar, axis, keepdims) / count(x, y, axis)


@adjoint_rule(np.prod, samples=all_axes)
def prod(x, y, y_bar, axis=None, keepdims=False):
    return along(y_bar, axis, keepdims) * product_of_others(x, axis)


@tangent_rule(np.prod)
def prod_tangent(x, y, x_dot, axis=None, keepdims=False):
    return np.sum(product_of_others(x, axis) * x_dot, axis=axis, keepdims=keepdims)


def without_result(rng):
    return [((rng.normal(size=(3, 4)),), {}), ((rng.normal(size=(3, 2)),), {"axis": 0})]


@adjoint_rule(product_of_others, samples=without_result)
def others(x, y, y_bar, axis=None):
    return product_of_pairs(x, y_bar, axis)


@tangent_rule(product_of_others)
def others_tangent(x, y, x_dot, axis=None):
    return product_of_pairs(x, x_dot, axis)


@inline
def share(x, y, axis, keepdims):
    """The share of each entry in an extreme: those that tie share it evenly."""
    is_extreme = x == along(y, axis, keepdims)
    return is_extreme / np.sum(is_extreme, axis=axis, keepdims=axis is not None)


@adjoint_rule(np.max, np.amax, np.min, np.amin, np.nanmax, np.nanmin, samples=all_axes, real=True)
def extreme(x, y, y_bar, axis=None, keepdims=False):
    return along(y_bar, axis, keepdims) * share(x, y, axis, keepdims)


@tangent_rule(np.max, np.amax, np.min, np.amin, np.nanmax, np.nanmin)
def extreme_tangent(x, y, x_dot, axis=None, keepdims=False):
    part = share(x, y, axis, keepdims)
    return np.sum(np.where(part == 0, 0, part * x_dot), axis=axis, keepdims=keepdims)


def far_apart(rng):
    """As `all_axes`, with entries so far apart that differences do not change their order."""

    def spread(x):
        return 0.3 * rng.permutation(x.size).reshape(x.shape) + 0.1

    return [((spread(x),), options) for (x,), options in all_axes(rng)]


@inline
def range_share(x, axis, keepdims):
    largest = share(x, np.max(x, axis=axis, keepdims=keepdims), axis, keepdims)
    return largest - share(x, np.min(x, axis=axis, keepdims=keepdims), axis, keepdims)


@adjoint_rule(np.ptp, samples=far_apart, real=True)
def ptp(x, y, y_bar, axis=None, keepdims=False):
    return along(y_bar, axis, keepdims) * range_share(x, axis, keepdims)


@tangent_rule(np.ptp)
def ptp_tangent(x, y, x_dot, axis=None, keepdims=False):
    return np.sum(range_share(x, axis, keepdims) * x_dot, axis=axis, keepdims=keepdims)


@adjoint_rule(np.nansum, samples=all_axes)
def nansum(x, y, y_bar, axis=None, keepdims=False):
    return np.where(np.isnan(x), 0, along(y_bar, axis, keepdims))


@tangent_rule(np.nansum)
def nansum_tangent(x, y, x_dot, axis=None, keepdims=False):
    return np.sum(np.where(np.isnan(x), 0, x_dot), axis=axis, keepdims=keepdims)


@inline
def mean_weights(x, axis):
    numbers = ~np.isnan(x)
    return numbers / np.sum(numbers, axis=axis, keepdims=axis is not None)


@adjoint_rule(np.nanmean, samples=all_axes)
def nanmean(x, y, y_bar, axis=None, keepdims=False):
    return along(y_bar, axis, keepdims) * mean_weights(x, axis)


@tangent_rule(np.nanmean)
def nanmean_tangent(x, y, x_dot, axis=None, keepdims=False):
    part = mean_weights(x, axis)
    return np.sum(np.where(part == 0, 0, part * x_dot), axis=axis, keepdims=keepdims)


def weighted(rng):
    x, weights = rng.normal(size=(3, 4)), [[1, 2, 0, 1], [1, 1, 3, 1], [2, 1, 1, 5]]
    return [((x,), options) for options in AXES] + [
        ((x,), {"weights": weights}),
        ((x,), {"weights": weights, "axis": 1, "keepdims": True}),
        ((x,), {"weights": [1, 2, 3], "axis": 0}),
        ((x[0],), {"weights": [1, 2, 0, 3]}),
    ]


@inline
def normalised(weights, x, axis):
    """The weights in a shape that broadcasts to that of ``x``, with the sum one along ``axis``."""
    shaped = np.asarray(weights)
    if np.ndim(x) != np.ndim(shaped):
        shaped = np.expand_dims(in_order(shaped, axis, np.ndim(x)), others_than(axis, np.ndim(x)))
    return shaped / np.sum(shaped, axis=axis, keepdims=axis is not None)


@inline
def in_order(weights, axis, rank):
    """Weights whose axes are those of ``axis``, with them in the order of the array's."""
    if isinstance(axis, tuple):
        return np.transpose(weights, sorted_places(axis, rank))
    return weights


def sorted_places(axes, rank):
    return tuple(sorted(range(len(axes)), key=lambda k: axes[k] % rank))


def others_than(axis, rank):
    gone = [a % rank for a in (axis if isinstance(axis, tuple) else (axis,))]
    return tuple(a for a in range(rank) if a not in gone)


@adjoint_rule(np.average, linear="jointly", samples=weighted)
def average(x, y, y_bar, axis=None, weights=None, keepdims=False):
    if weights is None:
        return along(y_bar, axis, keepdims) / count(x, y, axis)
    return along(y_bar, axis, keepdims) * normalised(weights, x, axis)


def all_axes_and_ddof(rng):
    return all_axes(rng) + [((rng.normal(size=(3, 4)),), {"axis": 0, "ddof": 1})]


@inline
def deviation(x, axis):
    return x - np.mean(x, axis=axis, keepdims=axis is not None)


@adjoint_rule(np.var, samples=all_axes_and_ddof, real=True)
def var(x, y, y_bar, axis=None, ddof=0, keepdims=False):
    return 2 * along(y_bar, axis, keepdims) * deviation(x, axis) / (count(x, y, axis) - ddof)


@tangent_rule(np.var)
def var_tangent(x, y, x_dot, axis=None, ddof=0, keepdims=False):
    return 2 * np.sum(deviation(x, axis) * x_dot, axis=axis, keepdims=keepdims) / (count(x, y, axis) - ddof)


@adjoint_rule(np.std, samples=all_axes_and_ddof, singular=True, real=True)
def std(x, y, y_bar, axis=None, ddof=0, keepdims=False):
    if is_alone(x, axis) and ddof == 0:  # it does not deviate from itself
        return np.zeros_like(x)
    return along(y_bar / y, axis, keepdims) * deviation(x, axis) / (count(x, y, axis) - ddof)


@tangent_rule(np.std)
def std_tangent(x, y, x_dot, axis=None, ddof=0, keepdims=False):
    if is_alone(x, axis) and ddof == 0:
        return np.zeros_like(y)
    return np.sum(deviation(x, axis) * x_dot, axis=axis, keepdims=keepdims) / (count(x, y, axis) - ddof) / y


# ------------------------------------------------------------------ quantiles: each is a sum of its two neighbours
def one_level(ranks, options):
    return len(ranks) == 1 or ranks[1] == 0


def levels(rng):
    return [((x, 0.3), options) for (x,), options in far_apart(rng)[:-1]]


def medians(rng):
    return far_apart(rng)[:-1]


@adjoint_rule(np.median, samples=medians, real=True)
def median(x, y, y_bar, axis=None, keepdims=False):
    return along(y_bar, axis, keepdims) * quantile_shares(x, 0.5, axis)


@tangent_rule(np.median)
def median_tangent(x, y, x_dot, axis=None, keepdims=False):
    return np.sum(quantile_shares(x, 0.5, axis) * x_dot, axis=axis, keepdims=keepdims)


@inline
def slope(x, q, axis, keepdims):
    steps = quantile_steps(x, q, axis)
    return np.sum(np.where(steps == 0, 0, steps * x), axis=axis, keepdims=keepdims)


@adjoint_rule(np.quantile, samples=levels, real=True, covers=one_level, method=("linear",))
def quantile(x, q, y, y_bar, axis=None, method="linear", keepdims=False):
    return along(y_bar, axis, keepdims) * quantile_shares(x, q, axis), np.sum(y_bar * slope(x, q, axis, keepdims))


@tangent_rule(np.quantile)
def quantile_tangent(x, q, y, x_dot, q_dot, axis=None, method="linear", keepdims=False):
    moved = np.sum(quantile_shares(x, q, axis) * x_dot, axis=axis, keepdims=keepdims)
    return moved + slope(x, q, axis, keepdims) * q_dot


zero_gradient(quantile_steps)


def shares_of(rng):
    return [((x, 0.3), {"axis": o["axis"]} if "axis" in o else {}) for (x,), o in far_apart(rng)[:-1]]


@adjoint_rule(quantile_shares, samples=shares_of)
def shares(x, q, y, y_bar, axis=None):
    return None, np.sum(y_bar * quantile_steps(x, q, axis))


@tangent_rule(quantile_shares)
def shares_tangent(x, q, y, x_dot, q_dot, axis=None):
    return quantile_steps(x, q, axis) * q_dot


def lists(rng):
    return [(([rng.normal(size=3), rng.normal(size=3)],), {}), (([1.0, 2.5, -1.0],), {})]


@adjoint_rule(builtins.sum, linear="jointly", samples=lists)
def sum_of_items(items, y, y_bar, start=0):
    return [y_bar for item in items]


zero_gradient(np.argmax, np.argmin, np.argsort, np.count_nonzero, np.any, np.all, np.nonzero)


def observations(rng):
    x = rng.normal(size=(3, 5))
    return [((x,), o) for o in ({}, {"rowvar": False}, {"bias": True}, {"ddof": 0})] + [((x[0],), {}), ((x[:1],), {})]


@inline
def rows(x, rowvar):
    """The variables as rows, each without its mean."""
    X = x if np.ndim(x) == 1 or rowvar else x.T
    return X - np.mean(X, axis=-1, keepdims=True)


@inline
def freedom(x, rowvar, bias, ddof):
    observations = np.shape(x)[-1] if np.ndim(x) == 1 or rowvar else np.shape(x)[0]
    return observations - (ddof if ddof is not None else 0 if bias else 1)


# C = X X^T / freedom        X_bar = (C_bar + C_bar^T) X / freedom
@adjoint_rule(np.cov, samples=observations, real=True)
def cov(x, C, C_bar, rowvar=True, bias=False, ddof=None):
    X = rows(x, rowvar)
    X_bar = (2 * C_bar * X if np.ndim(C) == 0 else (C_bar + C_bar.T) @ X) / freedom(x, rowvar, bias, ddof)
    return X_bar if rowvar or np.ndim(x) == 1 else X_bar.T


@tangent_rule(np.cov)
def cov_tangent(x, C, x_dot, rowvar=True, bias=False, ddof=None):
    X = rows(x, rowvar)
    X_dot = rows(x_dot, rowvar)
    if np.ndim(C) == 0:
        return 2 * np.sum(X * X_dot) / freedom(x, rowvar, bias, ddof)
    return (X_dot @ X.T + X @ X_dot.T) / freedom(x, rowvar, bias, ddof)
