"""What functions of NumPy compute: reductions and quantiles."""

from __future__ import annotations

import numpy as np

from tangentc.core.ops import stopped as stop_gradient
from tangentc.rules.definitions import axes_in
from tangentc.rules.registry import defined, static


# ------------------------------------------------------------------ reductions
@defined(np.sum)
def sum_of(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None):
    x = np.asarray(a, dtype=dtype)
    total = np.sum(x if where is None else np.where(where, x, 0), axis=axis, keepdims=keepdims)
    return total if initial is None else total + initial


@defined(np.prod)
def prod(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None):
    x = np.asarray(a, dtype=dtype)
    product = np.prod(x if where is None else np.where(where, x, 1), axis=axis, keepdims=keepdims)
    return product if initial is None else product * initial


def of_complex(extreme, x, axis, keepdims):
    """The first in the order of NumPy's complex numbers: by real part, and then by imaginary part."""
    here = x == extreme(stop_gradient(x), axis=axis, keepdims=True)
    return np.sum(np.where(here, x, 0), axis=axis, keepdims=keepdims) / np.sum(here, axis=axis, keepdims=keepdims)


def extreme_of(extreme, a, axis, keepdims, initial, where):
    x = np.asarray(a)
    x = x if where is None else np.where(where, x, initial)
    if np.iscomplexobj(x):
        return of_complex(extreme, x, axis, keepdims)
    return extreme(x, axis=axis, keepdims=keepdims)


@defined(np.max, np.amax)
def max_of(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    if initial is not None and np.size(a) == 0:
        return np.sum(a, axis=axis, keepdims=keepdims) + initial
    largest = extreme_of(np.max, a, axis, keepdims, initial, where)
    return largest if initial is None else np.maximum(largest, initial)


@defined(np.min, np.amin)
def min_of(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    if initial is not None and np.size(a) == 0:
        return np.sum(a, axis=axis, keepdims=keepdims) + initial
    least = extreme_of(np.min, a, axis, keepdims, initial, where)
    return least if initial is None else np.minimum(least, initial)


@defined(np.nanmax)
def nanmax(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    largest = extreme_of(np.nanmax, a, axis, keepdims, initial, where)
    return largest if initial is None else np.fmax(largest, initial)


@defined(np.nanmin)
def nanmin(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    least = extreme_of(np.nanmin, a, axis, keepdims, initial, where)
    return least if initial is None else np.fmin(least, initial)


def how_many(x, axis, keepdims, where):
    ones = np.broadcast_to(where, np.shape(x)).astype(np.result_type(np.real(x), np.float16))
    return np.sum(ones, axis=axis, keepdims=keepdims)


@defined(np.mean)
def mean(a, axis=None, dtype=None, out=None, keepdims=False, where=None):
    x = np.asarray(a, dtype=dtype)
    if where is None:
        return np.mean(x, axis=axis, keepdims=keepdims)
    return np.sum(np.where(where, x, 0), axis=axis, keepdims=keepdims) / how_many(x, axis, keepdims, where)


@static
def in_order(axis, rank):
    """The axes of weights, in the order of those of the array."""
    axes = axis if isinstance(axis, tuple) else (axis,)
    return tuple(sorted(range(len(axes)), key=lambda k: axes[k] % rank))


@defined(np.average)
def average(a, axis=None, weights=None, returned=False, keepdims=False):
    w = np.ones(np.shape(a), dtype=np.result_type(a)) if weights is None else weights
    if np.ndim(w) != np.ndim(a):
        w = np.expand_dims(np.transpose(w, in_order(axis, np.ndim(a))), others(axis, np.ndim(a)))
    total = np.sum(w, axis=axis, keepdims=keepdims)
    result = np.sum(a * w, axis=axis, keepdims=keepdims) / total
    return (result, total + np.zeros_like(result)) if returned else result


@defined(np.var)
def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=None, mean=None, correction=None):
    x = np.asarray(a, dtype=dtype)
    counted = True if where is None else where
    centre = np.mean(x, axis=axis, keepdims=True, where=counted) if mean is None else mean
    d = x - centre
    squares = np.real(d) ** 2 + np.imag(d) ** 2 if np.iscomplexobj(x) else d**2
    if where is not None:
        squares = np.where(where, squares, 0)
    free = how_many(x, axis, keepdims, counted) - (ddof if correction is None else correction)
    return np.sum(squares, axis=axis, keepdims=keepdims) / free


@defined(np.std)
def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=None, mean=None, correction=None):
    counted = True if where is None else where
    free = ddof if correction is None else correction
    spread = np.var(a, axis=axis, dtype=dtype, ddof=free, keepdims=keepdims, where=counted, mean=mean)
    alone = np.size(a) == np.size(spread)  # an entry does not deviate from itself
    return np.sqrt(spread + alone) * (1 - alone)


@defined(np.nansum)
def nansum(a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=True):
    return np.sum(np.where(np.isnan(a), 0, a), axis=axis, keepdims=keepdims, initial=initial, where=where)


@defined(np.nanprod)
def nanprod(a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=True):
    return np.prod(np.where(np.isnan(a), 1, a), axis=axis, keepdims=keepdims, initial=initial, where=where)


@defined(np.nanmean)
def nanmean(a, axis=None, dtype=None, out=None, keepdims=False, where=True):
    return np.mean(a, axis=axis, keepdims=keepdims, where=~np.isnan(a) & where)


@defined(np.nanvar)
def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=True, mean=None, correction=None):
    numbers = ~np.isnan(a) & where
    free = ddof if correction is None else correction
    return np.var(np.where(numbers, a, 0), axis=axis, ddof=free, keepdims=keepdims, where=numbers, mean=mean)


@defined(np.nanstd)
def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=True, mean=None, correction=None):
    free = ddof if correction is None else correction
    return np.sqrt(np.nanvar(a, axis=axis, ddof=free, keepdims=keepdims, where=where, mean=mean))


@defined(np.nancumsum)
def nancumsum(a, axis=None, dtype=None, out=None):
    return np.cumsum(np.where(np.isnan(a), 0, a), axis=axis, dtype=dtype)


@defined(np.nancumprod)
def nancumprod(a, axis=None, dtype=None, out=None):
    return np.cumprod(np.where(np.isnan(a), 1, a), axis=axis, dtype=dtype)


# ------------------------------------------------------------------ quantiles
@static
def others(axis, rank):
    """The axes that a reduction keeps."""
    gone = [a % rank for a in (axis if isinstance(axis, tuple) else (axis,))]
    return tuple(a for a in range(rank) if a not in gone)


@static
def ends_at(method):
    """The parameters of a continuous quantile (Hyndman and Fan, "Sample quantiles in statistical packages", 1996)."""
    known = {
        "linear": (1, 1), "hazen": (0.5, 0.5), "weibull": (0, 0), "median_unbiased": (1 / 3, 1 / 3),
        "normal_unbiased": (3 / 8, 3 / 8), "interpolated_inverted_cdf": (0, 1),
    }  # fmt: skip
    return known.get(method)


@static
def is_integer_like(axis):
    return isinstance(axis, int)


@static
def places_of(axis, rank, first):
    """Where the reduced axes are in a result that has ``first`` axes for the levels."""
    gone = range(rank) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return tuple(first + a % rank for a in gone)


@defined(np.quantile)
def quantile(a, q, axis=None, *, method="linear", keepdims=False):
    x = np.asarray(a)
    if axis is None:
        rows = np.ravel(x)
    elif is_integer_like(axis):
        rows = np.moveaxis(x, axis, 0)
    else:
        kept = np.transpose(x, tuple(axis) + others(axis, np.ndim(x)))
        rows = np.reshape(kept, (-1,) + np.shape(kept)[len(axis) :])
    ordered = np.sort(rows, axis=0)
    n = len(ordered)
    level = np.asarray(q)
    if ends_at(method) is not None:
        place = n * level + (ends_at(method)[0] + level * (1 - ends_at(method)[0] - ends_at(method)[1])) - 1
    else:
        place = np.quantile(np.arange(float(n)), stop_gradient(level), method=method)
    place = np.clip(place, 0, n - 1)
    below = np.asarray(np.floor(place), dtype=int)
    above = np.minimum(below + 1, n - 1)
    part = np.reshape(place - below, np.shape(level) + (1,) * (np.ndim(rows) - 1))
    if isinstance(q, float):
        part = part.astype(np.result_type(x, q))
    result = ordered[below] + part * (ordered[above] - ordered[below])
    result = np.where(np.isnan(ordered[-1]), np.nan, result)
    if keepdims:
        return np.expand_dims(result, places_of(axis, np.ndim(x), np.ndim(level)))
    return result


@defined(np.median)
def median(a, axis=None, *, keepdims=False):
    return np.quantile(a, 0.5, axis=axis, keepdims=keepdims)


@defined(np.percentile)
def percentile(a, q, axis=None, *, method="linear", keepdims=False):
    level = q / 100 if isinstance(q, (int, float)) else np.asarray(q) / 100
    return np.quantile(a, level, axis=axis, method=method, keepdims=keepdims)


def quantile_of_numbers(a, q):
    return np.quantile(a[~np.isnan(a)], q)


@defined(np.nanquantile)
def nanquantile(a, q, axis=None, *, keepdims=False):
    if axis is None:
        result = quantile_of_numbers(np.ravel(a), q)
    elif isinstance(axis, tuple):
        first = np.moveaxis(a, axis, axes_in(0, len(axis)))
        rows = np.reshape(first, (-1,) + np.shape(first)[len(axis) :])
        result = np.apply_along_axis(quantile_of_numbers, 0, rows, q)
    else:  # where the levels come first in the result
        result = np.apply_along_axis(quantile_of_numbers, 0, np.moveaxis(a, axis, 0), q)
    if keepdims:
        return np.expand_dims(result, places_of(axis, np.ndim(a), np.ndim(q)))
    return result


@defined(np.nanpercentile)
def nanpercentile(a, q, axis=None, *, keepdims=False):
    return np.nanquantile(a, np.asarray(q) / 100, axis=axis, keepdims=keepdims)


@defined(np.nanmedian)
def nanmedian(a, axis=None, *, keepdims=False):
    return np.nanquantile(a, 0.5, axis=axis, keepdims=keepdims)
