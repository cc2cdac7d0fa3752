"""Choosing between values: where, maximum, minimum, clip.

Formulas: by the definition of each function; at a tie the two arguments share evenly.
"""

import builtins

import numpy as np

from tangentc.ops.table import existing
from tangentc.rules.fragment import inline, is_integer, is_literal
from tangentc.rules.registry import adjoint_rule, elementwise, tangent_rule, zero_gradient
from tangentc.runtime import unbroadcast


@elementwise(np.where, domain=((-1, 1), (-2, 2), (-2, 2)))
def where(c, x, y, z):  # z is x where c, else y
    return None, np.where(c, 1, 0), np.where(c, 0, 1)


@inline
def larger(x, y):
    """The share of x in max(x, y): ties are shared evenly, but x has none against an integer or a number written."""
    if is_literal(y) or is_integer(y):
        return np.where(x > y, 1, 0)
    return np.where(x > y, 1, np.where(x == y, 0.5, 0))


@elementwise(np.maximum, builtins.max, real=True)
def maximum(x, y, z):
    return larger(x, y), larger(y, x)


@inline
def smaller(x, y):
    if is_literal(y) or is_integer(y):
        return np.where(x < y, 1, 0)
    return np.where(x < y, 1, np.where(x == y, 0.5, 0))


@elementwise(np.minimum, builtins.min, real=True)
def minimum(x, y, z):
    return smaller(x, y), smaller(y, x)


@elementwise(np.clip, domain=((-2, 2), (-1, -0.5), (0.5, 1)), real=True)
def clip(x, low, high, y):  # y = min(max(x, low), high)
    if low is None:
        return smaller(x, high), None, smaller(high, x)
    if high is None:
        return larger(x, low), larger(low, x), None
    from_x = larger(x, low) * smaller(x, high)
    from_low = larger(low, x) * smaller(low, high)
    from_high = smaller(high, np.maximum(x, low))
    return from_x, from_low, from_high


@elementwise(np.fmax, real=True)
def fmax(x, y, z):  # as maximum, except that a number wins over NaN
    return np.where(np.isnan(y), 1, larger(x, y)), np.where(np.isnan(x), 1, larger(y, x))


@elementwise(np.fmin, real=True)
def fmin(x, y, z):
    return np.where(np.isnan(y), 1, smaller(x, y)), np.where(np.isnan(x), 1, smaller(y, x))


zero_gradient(
    *existing(
        "searchsorted", "digitize", "argpartition", "lexsort", "flatnonzero", "argwhere", "nanargmax", "nanargmin"
    ),
    *existing("triu_indices", "tril_indices", "triu_indices_from", "tril_indices_from", "diag_indices"),
    *existing("diag_indices_from", "unravel_index", "ravel_multi_index"),
)


def cases(rng):
    tests = [np.array([True, False, False]), np.array([True, True, False])]
    return [
        ((tests, [rng.normal(size=3), rng.normal(size=3)]), {}),
        ((tests, [rng.normal(size=3), 1.5]), {"default": 2}),
    ]


@adjoint_rule(np.select, samples=cases)
def select(condlist, choicelist, y, y_bar, default=0):
    taken = np.select(condlist, [k for k, _ in enumerate(choicelist)], -1)
    return None, [unbroadcast(np.where(taken == k, y_bar, 0), choice) for k, choice in enumerate(choicelist)]


@tangent_rule(np.select)
def select_tangent(condlist, choicelist, y, condlist_dot, choicelist_dot, default=0):
    return np.select(condlist, [choice_dot for choice_dot in choicelist_dot])  # noqa: C416
