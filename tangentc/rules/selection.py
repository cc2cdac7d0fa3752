"""Choosing between values: where, maximum, minimum, clip."""

import builtins

import numpy as np

from tangentc.rules.fragment import inline, is_literal
from tangentc.rules.registry import elementwise


@elementwise(np.where, domain=((-1, 1), (-2, 2), (-2, 2)))
def where(c, x, y, z):  # z is x where c, else y
    return None, np.where(c, 1, 0), np.where(c, 0, 1)


@inline
def larger(x, y):
    """The share of x in max(x, y): a tie is shared evenly, but against a number in the text x has none."""
    if is_literal(y):
        return np.where(x > y, 1, 0)
    return np.where(x > y, 1, np.where(x == y, 0.5, 0))


@elementwise(np.maximum, builtins.max, real=True)
def maximum(x, y, z):
    return larger(x, y), larger(y, x)


@inline
def smaller(x, y):
    if is_literal(y):
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
