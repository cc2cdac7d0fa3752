"""Sums, means, products, extremes and variances along axes."""

import builtins

import numpy as np

from tangentc.rules.fragment import inline
from tangentc.rules.registry import adjoint_rule, tangent_rule, zero_gradient
from tangentc.runtime import product_of_others, product_of_pairs

AXES = [{}, {"axis": 0}, {"axis": -1}, {"axis": (0, 1)}, {"axis": 1, "keepdims": True}, {"keepdims": True}]


def all_axes(rng):
    return [((rng.normal(size=(3, 4)),), options) for options in AXES] + [
        ((rng.normal(size=5),), {}),
        ((np.zeros((0, 3)),), {"axis": 1}),
    ]


@inline
def along(value, axis, keepdims):
    """A value of the reduction's shape, with the reduced axes put back at length one."""
    if axis is None or keepdims:
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
    return is_extreme / np.sum(is_extreme, axis=axis, keepdims=True)


@adjoint_rule(np.max, np.amax, np.min, np.amin, samples=all_axes, real=True)
def extreme(x, y, y_bar, axis=None, keepdims=False):
    return along(y_bar, axis, keepdims) * share(x, y, axis, keepdims)


@tangent_rule(np.max, np.amax, np.min, np.amin)
def extreme_tangent(x, y, x_dot, axis=None, keepdims=False):
    return np.sum(share(x, y, axis, keepdims) * x_dot, axis=axis, keepdims=keepdims)


def all_axes_and_ddof(rng):
    return all_axes(rng) + [((rng.normal(size=(3, 4)),), {"axis": 0, "ddof": 1})]


@inline
def deviation(x, axis):
    return x - np.mean(x, axis=axis, keepdims=True)


@adjoint_rule(np.var, samples=all_axes_and_ddof, real=True)
def var(x, y, y_bar, axis=None, ddof=0, keepdims=False):
    return 2 * along(y_bar, axis, keepdims) * deviation(x, axis) / (count(x, y, axis) - ddof)


@tangent_rule(np.var)
def var_tangent(x, y, x_dot, axis=None, ddof=0, keepdims=False):
    return 2 * np.sum(deviation(x, axis) * x_dot, axis=axis, keepdims=keepdims) / (count(x, y, axis) - ddof)


@adjoint_rule(np.std, samples=all_axes_and_ddof, real=True)
def std(x, y, y_bar, axis=None, ddof=0, keepdims=False):
    return along(y_bar / y, axis, keepdims) * deviation(x, axis) / (count(x, y, axis) - ddof)


@tangent_rule(np.std)
def std_tangent(x, y, x_dot, axis=None, ddof=0, keepdims=False):
    return np.sum(deviation(x, axis) * x_dot, axis=axis, keepdims=keepdims) / (count(x, y, axis) - ddof) / y


def lists(rng):
    return [(([rng.normal(size=3), rng.normal(size=3)],), {}), (([1.0, 2.5, -1.0],), {})]


@adjoint_rule(builtins.sum, linear="jointly", samples=lists)
def sum_of_items(items, y, y_bar, start=0):
    return [y_bar for item in items]


zero_gradient(np.argmax, np.argmin, np.argsort, np.count_nonzero, np.any, np.all, np.nonzero)
