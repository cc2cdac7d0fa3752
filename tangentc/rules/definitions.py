"""What functions of NumPy compute, written with others that have rules.

Where a derivative flows through a call that no rule covers, the body stands in its place.  Parameters are those
of the function itself; what depends on ranks and options alone is worked out while compiling.
"""

from __future__ import annotations

import builtins
import cmath
import math
import operator

import numpy as np

from tangentc.core.ops import stopped as stop_gradient
from tangentc.rules.registry import defined, existing, static


@static
def axes_in(*bounds):
    return tuple(range(*bounds))


# ------------------------------------------------------------------ ufuncs and their methods
@defined((np.ufunc, "__call__"))
def of_dtype(ufunc, *args, dtype=None, casting="same_kind"):
    return ufunc(*[np.asarray(a, dtype=dtype) for a in args])


@defined((np.ufunc, "outer"))
def outer(ufunc, a, b):
    return ufunc(np.reshape(a, np.shape(a) + (1,) * np.ndim(b)), b)


@static
def whole(ufunc):
    """The function that reduces as this ufunc does."""
    return {np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min}.get(ufunc)


@static
def running(ufunc):
    return {np.add: np.cumsum, np.multiply: np.cumprod}.get(ufunc)


@defined((np.ufunc, "reduce"))
def reduce(ufunc, array, axis=0, dtype=None, out=None, keepdims=False):
    x = np.asarray(array, dtype=dtype) if dtype is not None or isinstance(array, (list, tuple)) else array
    if whole(ufunc) is not None:
        return whole(ufunc)(x, axis=axis, keepdims=keepdims)
    rows = np.moveaxis(x, axis, 0)
    result = np.positive(rows[0])
    for row in rows[1:]:
        result = ufunc(result, row)
    return np.expand_dims(result, axis) if keepdims else result


@defined((np.ufunc, "accumulate"))
def accumulate(ufunc, array, axis=0, dtype=None, out=None):
    x = np.asarray(array, dtype=dtype) if dtype is not None or isinstance(array, (list, tuple)) else array
    if running(ufunc) is not None:
        return running(ufunc)(x, axis=axis)
    rows = np.moveaxis(x, axis, 0)
    results = [rows[0]]
    for row in rows[1:]:
        results.append(ufunc(results[-1], row))
    return np.moveaxis(np.stack(results), 0, axis)


@defined((np.ufunc, "reduceat"))
def reduceat(ufunc, array, indices, axis=0, dtype=None, out=None):
    rows = np.moveaxis(array, axis, 0)
    results = []
    for k in range(len(indices)):
        result = rows[indices[k]]
        stop = indices[k + 1] if k + 1 < len(indices) else len(rows)
        for i in range(indices[k] + 1, stop):
            result = ufunc(result, rows[i])
        results.append(result)
    return np.moveaxis(np.stack(results), 0, axis)


# ------------------------------------------------------------------ elementary functions
@defined(np.divmod, builtins.divmod)
def quotient_and_remainder(x, y):
    return x // y, np.mod(x, y)


@defined(np.modf, math.modf)
def modf(x):
    return x - np.trunc(x), np.trunc(x)


@defined(np.frexp, math.frexp)
def frexp(x):
    exponent = np.frexp(stop_gradient(x))[1]
    return x / 2.0**exponent, exponent


@defined(np.ldexp, math.ldexp)
def ldexp(x, i):
    return x * 2.0**i


@defined(np.i0)
def i0(x):  # DLMF 10.32.1, by the trapezoidal rule, which is exact for so smooth and periodic a function
    count = 64 + 2 * int(np.ceil(np.max(np.abs(stop_gradient(x)), initial=0.0)))
    angles = np.arange(count) * (2 * math.pi / count)
    return np.mean(np.exp(np.expand_dims(x, -1) * np.cos(angles)), axis=-1)


@defined(builtins.complex)
def complex_number(real, imag=0.0):
    return real + 1j * imag


@defined(cmath.polar)
def polar(z):
    return np.abs(z), np.angle(z)


@defined(cmath.rect)
def rect(r, phi):
    return r * math.cos(phi) + 1j * (r * math.sin(phi))


@defined(cmath.phase)
def phase(z):
    return np.angle(z)


@defined(math.hypot)
def hypot(*coordinates):
    return math.sqrt(sum([x * x for x in coordinates]))


# ------------------------------------------------------------------ selection
@defined(np.select)
def select(condlist, choicelist, default=0):
    result = default
    for k in range(len(condlist)):
        last = len(condlist) - 1 - k
        result = np.where(condlist[last], choicelist[last], result)
    return result


@defined("a piece")
def piece(y, x, where, function):
    """One condition of `numpy.piecewise`, and its function or its value."""
    y[where] = function(x[where]) if callable(function) else function


@defined("the rest")
def rest(*conditions):
    """Where no condition of `numpy.piecewise` holds."""
    found = ~np.asarray(conditions[0])
    for condition in conditions:
        found = found & ~np.asarray(condition)
    return found


@defined(np.choose)
def choose(a, choices, out=None, mode="raise"):
    number = a if mode == "raise" else np.clip(a, 0, len(choices) - 1) if mode == "clip" else a % len(choices)
    result = choices[0]
    for k in range(1, len(choices)):
        result = np.where(number == k, choices[k], result)
    return np.where(number == 0, choices[0], result)


@defined(np.clip)
def clip(a, a_min=None, a_max=None, *, min=None, max=None):
    return np.clip(a, a_min if min is None else min, a_max if max is None else max)


@defined(np.interp)
def interp(x, xp, fp, left=None, right=None, period=None):
    if period is not None:
        order = np.argsort(stop_gradient(xp) % period)
        knots = (xp % period)[order]
        values = np.asarray(fp)[order]
        knots = np.concatenate([knots[-1:] - period, knots, knots[:1] + period])
        return np.interp(x % period, knots, np.concatenate([values[-1:], values, values[:1]]))
    y = np.interp(x, xp, fp)
    if left is not None:
        y = np.where(x < xp[0], left, y)
    if right is not None:
        y = np.where(x > xp[-1], right, y)
    return y


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


@defined(np.max, np.amax)
def max_of(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    x = np.asarray(a)
    largest = np.max(x if where is None else np.where(where, x, initial), axis=axis, keepdims=keepdims)
    return largest if initial is None else np.maximum(largest, initial)


@defined(np.min, np.amin)
def min_of(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    x = np.asarray(a)
    least = np.min(x if where is None else np.where(where, x, initial), axis=axis, keepdims=keepdims)
    return least if initial is None else np.minimum(least, initial)


def how_many(x, axis, keepdims, where):
    return np.sum(np.broadcast_to(where, np.shape(x)), axis=axis, keepdims=keepdims)


@defined(np.mean)
def mean(a, axis=None, dtype=None, out=None, keepdims=False, where=None):
    x = np.asarray(a, dtype=dtype)
    if where is None:
        return np.mean(x, axis=axis, keepdims=keepdims)
    return np.sum(np.where(where, x, 0), axis=axis, keepdims=keepdims) / how_many(x, axis, keepdims, where)


@defined(np.average)
def average(a, axis=None, weights=None, returned=False, keepdims=False):
    x = np.asarray(a)
    w = np.asarray(weights)
    if np.ndim(w) != np.ndim(x):
        w = np.expand_dims(w, axes_in(1, np.ndim(x)))
        w = np.moveaxis(w, 0, axis)
    total = np.sum(np.broadcast_to(w, np.shape(x)), axis=axis, keepdims=keepdims)
    result = np.sum(x * w, axis=axis, keepdims=keepdims) / total
    return (result, total) if returned else result


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
    return np.sqrt(np.var(a, axis=axis, dtype=dtype, ddof=free, keepdims=keepdims, where=counted, mean=mean))


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
    return np.var(np.where(numbers, a, 0), axis=axis, ddof=ddof, keepdims=keepdims, where=numbers)


@defined(np.nanstd)
def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=True, mean=None, correction=None):
    return np.sqrt(np.nanvar(a, axis=axis, ddof=ddof, keepdims=keepdims, where=where))


@defined(np.nancumsum)
def nancumsum(a, axis=None):
    return np.cumsum(np.where(np.isnan(a), 0, a), axis=axis)


@defined(np.nancumprod)
def nancumprod(a, axis=None):
    return np.cumprod(np.where(np.isnan(a), 1, a), axis=axis)


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


@defined(np.quantile)
def quantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False):
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
    result = ordered[below] + part * (ordered[above] - ordered[below])
    result = np.where(np.isnan(ordered[-1]), np.nan, result)
    if keepdims and np.ndim(level) == 0:
        return np.expand_dims(result, axes_in(np.ndim(x)) if axis is None else axis)
    return result


@defined(np.median)
def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    return np.quantile(a, 0.5, axis=axis, keepdims=keepdims)


@defined(np.percentile)
def percentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False):
    return np.quantile(a, np.asarray(q) / 100, axis=axis, method=method, keepdims=keepdims)


def quantile_of_numbers(a, q):
    return np.quantile(a[~np.isnan(a)], q)


@defined(np.nanquantile)
def nanquantile(a, q, axis=None):
    if axis is None:
        return quantile_of_numbers(np.ravel(a), q)
    return np.apply_along_axis(quantile_of_numbers, axis, a, q)


@defined(np.nanpercentile)
def nanpercentile(a, q, axis=None):
    return np.nanquantile(a, np.asarray(q) / 100, axis=axis)


@defined(np.nanmedian)
def nanmedian(a, axis=None):
    return np.nanquantile(a, 0.5, axis=axis)


# ------------------------------------------------------------------ sums and differences along an axis
@defined(np.cumsum)
def cumsum(a, axis=None, dtype=None, out=None):
    return np.cumsum(np.asarray(a, dtype=dtype), axis=axis)


@defined(np.cumprod)
def cumprod(a, axis=None, dtype=None, out=None):
    return np.cumprod(np.asarray(a, dtype=dtype), axis=axis)


@defined(*existing("cumulative_sum"))
def cumulative_sum(x, axis=None, dtype=None, out=None, include_initial=False):
    along = 0 if axis is None else axis
    sums = np.cumsum(x, axis=along)
    if include_initial:
        return np.concatenate([np.zeros_like(np.take(sums, [0], axis=along)), sums], axis=along)
    return sums


@defined(*existing("cumulative_prod"))
def cumulative_prod(x, axis=None, dtype=None, out=None, include_initial=False):
    along = 0 if axis is None else axis
    products = np.cumprod(x, axis=along)
    if include_initial:
        return np.concatenate([np.ones_like(np.take(products, [0], axis=along)), products], axis=along)
    return products


def margin(x, a, axis):
    """What is put before or after an array along an axis."""
    if np.ndim(x) > 0:
        return x
    return np.broadcast_to(x, np.shape(np.take(a, [0], axis=axis)))


@defined(np.diff)
def diff(a, n=1, axis=-1, prepend=None, append=None):
    x = a
    if prepend is not None:
        x = np.concatenate([margin(prepend, a, axis), x], axis=axis)
    if append is not None:
        x = np.concatenate([x, margin(append, a, axis)], axis=axis)
    return np.diff(x, n=n, axis=axis)


@defined(np.ediff1d)
def ediff1d(ary, to_end=None, to_begin=None):
    parts = [np.diff(np.ravel(ary))]
    if to_begin is not None:
        parts = [np.ravel(to_begin), *parts]
    if to_end is not None:
        parts = [*parts, np.ravel(to_end)]
    return np.concatenate(parts)


def slope_along(y, h, axis, edge_order):
    """Differences of second order inside, and of ``edge_order`` at the ends, for uneven steps too (Fornberg,
    "Generation of finite difference formulas on arbitrarily spaced grids", 1988)."""
    f = np.moveaxis(y, axis, 0)
    if np.ndim(h) == 0:
        steps = h * np.ones(len(f) - 1)
    else:
        steps = np.diff(h)
    d = np.expand_dims(steps, axes_in(1, np.ndim(f)))
    a, b = d[:-1], d[1:]
    inner = -b / (a * (a + b)) * f[:-2] + (b - a) / (a * b) * f[1:-1] + a / (b * (a + b)) * f[2:]
    if edge_order == 1:
        first, last = (f[1:2] - f[:1]) / d[:1], (f[-1:] - f[-2:-1]) / d[-1:]
    else:
        a, b = d[:1], d[1:2]
        first = -(2 * a + b) / (a * (a + b)) * f[:1] + (a + b) / (a * b) * f[1:2] - a / (b * (a + b)) * f[2:3]
        a, b = d[-2:-1], d[-1:]
        last = b / (a * (a + b)) * f[-3:-2] - (b + a) / (a * b) * f[-2:-1] + (2 * b + a) / (b * (a + b)) * f[-1:]
    return np.moveaxis(np.concatenate([first, inner, last]), 0, axis)


@defined(np.gradient)
def gradient(f, *varargs, axis=None, edge_order=1):
    if axis is not None and is_integer_like(axis):
        return slope_along(f, varargs[0] if len(varargs) else 1.0, axis, edge_order)
    axes = axes_in(np.ndim(f)) if axis is None else axis
    if len(varargs) == 1 and len(axes) == 1:
        return slope_along(f, varargs[0], axes[0], edge_order)
    steps = [varargs[0] if len(varargs) == 1 else varargs[k] if len(varargs) else 1.0 for k in range(len(axes))]
    if len(axes) == 1:
        return slope_along(f, steps[0], axes[0], edge_order)
    return tuple([slope_along(f, steps[k], axes[k], edge_order) for k in range(len(axes))])


@defined(np.trapezoid)
def trapezoid(y, x=None, dx=1.0, axis=-1):
    f = np.moveaxis(y, axis, -1)
    d = dx
    if x is not None:
        d = np.diff(x if np.ndim(x) == 1 else np.moveaxis(x, axis, -1))
    return np.sum(d * (f[..., 1:] + f[..., :-1]) / 2, axis=-1)


@defined(np.bincount)
def bincount(x, weights=None, minlength=0):
    counts = np.zeros(len(np.bincount(x, minlength=minlength)))
    np.add.at(counts, x, weights)
    return counts


@defined(np.histogram)
def histogram(a, bins=10, range=None, density=None, weights=None):
    if not isinstance(bins, (int, str)):
        edges = np.asarray(bins)
    elif isinstance(bins, int) and range is None:
        edges = np.linspace(np.min(a), np.max(a), bins + 1)
    else:
        edges = np.histogram_bin_edges(stop_gradient(a), bins, range)
    fixed = stop_gradient(edges)
    place = np.searchsorted(fixed, np.ravel(stop_gradient(a)), side="right") - 1
    place = np.where(np.ravel(stop_gradient(a)) == fixed[-1], len(fixed) - 2, place)
    inside = (place >= 0) & (place < len(fixed) - 1)
    counts = np.zeros(len(fixed) - 1)
    if weights is None:
        np.add.at(counts, place[inside], 1.0)
    else:
        np.add.at(counts, place[inside], np.ravel(weights)[inside])
    if density:
        counts = counts / np.diff(edges) / np.sum(counts)
    return counts, edges


# ------------------------------------------------------------------ covariance, products and polynomials
def variables(m, rowvar):
    X = np.atleast_2d(m)
    if np.ndim(m) > 1 and not rowvar:
        X = X.T
    return X


@defined(np.cov)
def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, dtype=None):
    X = variables(m, rowvar)
    if y is not None:
        X = np.concatenate([X, variables(y, rowvar)], axis=0)
    free = (0 if bias else 1) if ddof is None else ddof
    w = np.ones(np.shape(X)[1])
    if fweights is not None:
        w = w * np.asarray(fweights)
    if aweights is not None:
        w = w * np.asarray(aweights)
    total = np.sum(w)
    fact = total - free if aweights is None else total - free * np.sum(w * aweights) / total
    X = X - np.expand_dims(np.sum(X * w, axis=1) / total, 1)
    C = X @ np.conj((X * w).T) / fact
    return C[0, 0] if np.ndim(m) == 1 and y is None else C


@defined(np.corrcoef)
def corrcoef(x, y=None, rowvar=True):
    if y is None and np.ndim(x) == 1:
        return 1.0 + 0 * np.sum(x)
    C = np.cov(x, rowvar=rowvar) if y is None else np.cov(x, y, rowvar)
    d = np.sqrt(np.real(np.diag(C)))
    return C / np.expand_dims(d, 1) / d


@defined(np.cross)
def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    x = np.moveaxis(a, axisa if axis is None else axis, -1)
    y = np.moveaxis(b, axisb if axis is None else axis, -1)
    return np.moveaxis(np.cross(x, y), -1, axisc if axis is None else axis)


@defined(np.convolve)
def convolve(a, v, mode="full"):
    return np.convolve(np.atleast_1d(a), np.atleast_1d(v), mode=mode)


@defined(np.polyval)
def polyval(p, x):
    return np.polyval(np.asarray(p), np.asarray(x))


@defined(np.polyfit)
def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    A = np.vander(np.asarray(x) + 0.0, deg + 1)
    b = np.asarray(y) + 0.0
    if w is not None:
        A = A * np.expand_dims(np.asarray(w), 1)
        b = b * (np.expand_dims(np.asarray(w), 1) if np.ndim(b) == 2 else np.asarray(w))
    scale = np.sqrt(np.sum(A * A, axis=0))
    solution = np.linalg.pinv(A / scale) @ b
    return solution / (np.expand_dims(scale, 1) if np.ndim(b) == 2 else scale)


@defined(np.polyder)
def polyder(p, m=1):
    for _ in range(m):
        p = p[:-1] * np.arange(len(p) - 1, 0, -1)
    return p


@defined(np.polyint)
def polyint(p, m=1):
    for _ in range(m):
        p = np.append(p / np.arange(len(p), 0, -1), 0.0)
    return p


@defined(np.polymul)
def polymul(a1, a2):
    return np.convolve(a1, a2)


@defined(np.polyadd)
def polyadd(a1, a2):
    n = max(len(a1), len(a2))
    return np.pad(a1, (n - len(a1), 0)) + np.pad(a2, (n - len(a2), 0))


@defined(np.polysub)
def polysub(a1, a2):
    n = max(len(a1), len(a2))
    return np.pad(a1, (n - len(a1), 0)) - np.pad(a2, (n - len(a2), 0))


@defined(np.vander)
def vander(x, N=None, increasing=False):
    powers = np.arange(len(x) if N is None else N)
    return np.expand_dims(x, 1) ** (powers if increasing else powers[::-1])


@defined(np.linspace)
def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    y = np.asarray(np.moveaxis(np.linspace(start, stop, num, endpoint), 0, axis), dtype=dtype)
    return (y, (stop - start) / (num - 1 if endpoint else num)) if retstep else y


@defined(np.logspace)
def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    return np.power(base, np.linspace(start, stop, num=num, endpoint=endpoint, axis=axis))


@defined(np.geomspace)
def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    return np.sign(start) * np.exp(np.linspace(np.log(np.abs(start)), np.log(np.abs(stop)), num, endpoint, axis=axis))


# ------------------------------------------------------------------ order
@defined(np.sort)
def sort(a, axis=-1, kind=None, order=None, stable=None):
    return np.sort(a, axis=axis)


@defined(np.partition)
def partition(a, kth, axis=-1, kind="introselect", order=None):
    if axis is None:
        return np.ravel(a)[np.argpartition(stop_gradient(a), kth, axis=None)]
    return np.take_along_axis(a, np.argpartition(stop_gradient(a), kth, axis=axis), axis)


@defined(np.unique)
def unique(ar):
    return np.ravel(ar)[np.unique(stop_gradient(ar), return_index=True)[1]]


@defined(np.union1d)
def union1d(ar1, ar2):
    both = np.concatenate([np.ravel(ar1), np.ravel(ar2)])
    return both[np.unique(stop_gradient(both), return_index=True)[1]]


@defined(np.trim_zeros)
def trim_zeros(filt, trim="fb"):
    there = np.nonzero(stop_gradient(filt))[0]
    first = there[0] if "f" in trim.lower() else 0
    return filt[first : there[-1] + 1 if "b" in trim.lower() else len(filt)]


# ------------------------------------------------------------------ shapes
@defined(np.broadcast_arrays)
def broadcast_arrays(*args):
    shape = np.broadcast_shapes(*[np.shape(a) for a in args])
    return tuple([np.broadcast_to(a, shape) for a in args])


@defined(np.atleast_1d)
def atleast_1d(*arys):
    return tuple([np.atleast_1d(a) for a in arys]) if len(arys) > 1 else np.atleast_1d(np.asarray(arys[0]))


@defined(np.atleast_2d)
def atleast_2d(*arys):
    return tuple([np.atleast_2d(a) for a in arys]) if len(arys) > 1 else np.atleast_2d(np.asarray(arys[0]))


@defined(np.atleast_3d)
def atleast_3d(*arys):
    return tuple([np.atleast_3d(a) for a in arys]) if len(arys) > 1 else np.atleast_3d(np.asarray(arys[0]))


@defined(np.stack)
def stack(arrays, axis=0):
    return np.stack([a for a in arrays], axis=axis)  # noqa: C416


@defined(np.concatenate)
def concatenate(arrays, axis=0):
    if axis is None:
        return np.concatenate([np.ravel(a) for a in arrays])
    return np.concatenate([np.asarray(a) for a in arrays], axis=axis)


@defined(np.vstack)
def vstack(tup, dtype=None, casting="same_kind"):
    return np.concatenate([np.atleast_2d(a) for a in tup])


@defined(np.hstack)
def hstack(tup, dtype=None, casting="same_kind"):
    parts = [np.atleast_1d(a) for a in tup]
    return np.concatenate(parts, axis=0 if np.ndim(parts[0]) == 1 else 1)


@defined(np.dstack)
def dstack(tup):
    return np.concatenate([np.atleast_3d(a) for a in tup], axis=2)


@defined(np.column_stack)
def column_stack(tup):
    return np.concatenate([np.expand_dims(a, 1) if np.ndim(a) == 1 else a for a in tup], axis=1)


def with_axes(a, rank):
    return np.reshape(a, (1,) * (rank - np.ndim(a)) + np.shape(a))


def block_row(parts, rank):
    if isinstance(parts, list):
        return np.concatenate([with_axes(a, max(rank, 1)) for a in parts], axis=-1)
    return parts


@defined(np.block)
def block(arrays):
    if not isinstance(arrays, list):
        return np.array(arrays)
    if isinstance(arrays[0], list):
        rows = [block_row(row, max(np.ndim(row[0]), 2)) for row in arrays]
        return np.concatenate(rows, axis=-2)
    return block_row(arrays, np.ndim(arrays[0]))


@defined(np.append)
def append(arr, values, axis=None):
    if axis is None:
        return np.concatenate([np.ravel(arr), np.ravel(values)])
    return np.concatenate([np.asarray(arr), np.asarray(values)], axis=axis)


@defined(np.insert)
def insert(arr, obj, values, axis=None):
    x = np.ravel(arr) if axis is None else np.moveaxis(arr, axis, 0)
    n = len(x)
    new = np.asarray(values)
    if axis is not None and np.ndim(obj) == 0:
        new = np.moveaxis(with_axes(new, np.ndim(arr)), 0, axis)
        new = np.moveaxis(new, axis, 0)
    elif axis is not None and np.ndim(new) == np.ndim(arr):
        new = np.moveaxis(new, axis, 0)
    count = np.size(obj) if np.ndim(obj) > 0 else np.size(new) if axis is None else len(new)
    before = np.broadcast_to(np.where(np.asarray(obj) < 0, np.asarray(obj) + n, obj), (count,))
    order = np.argsort(before, kind="stable")
    places = np.zeros(count, int)
    places[order] = before[order] + np.arange(count)
    kept = np.delete(np.arange(n + count), places)
    result = np.zeros((n + count,) + np.shape(x)[1:], dtype=np.asarray(x).dtype)
    result[kept] = x
    result[places] = new
    return result if axis is None else np.moveaxis(result, 0, axis)


@static
def grid_shape(k, rank, swapped):
    own = 1 - k if swapped and k < 2 else k
    return tuple(-1 if axis == own else 1 for axis in range(rank))


@defined(np.meshgrid)
def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    rank = len(xi)
    swapped = indexing == "xy" and rank > 1
    grids = tuple([np.reshape(x, grid_shape(k, rank, swapped)) for k, x in enumerate(xi)])
    if not sparse:
        grids = np.broadcast_arrays(*grids)
    return tuple([np.copy(g) for g in grids]) if copy else grids


@defined(np.asanyarray)
def any_array(a, dtype=None, order=None):
    return np.asarray(a, dtype=dtype)


@defined(np.full)
def full(shape, fill_value, dtype=None, order="C"):
    return np.asarray(np.full(shape, fill_value), dtype=dtype)


@defined(np.array)
def array(object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0):
    made = np.array(object)
    made = np.asarray(made, dtype=dtype)
    return with_axes(made, ndmin) if np.ndim(made) < ndmin else made


# margins, one axis after the other, each as wide as what has been padded before
def joined(before, x, after, axis):
    return np.concatenate([before, x, after], axis=axis)


def first_of(x, count, axis):
    return np.take(x, np.arange(count), axis=axis)


def last_of(x, count, axis):
    return np.take(x, np.arange(np.shape(x)[axis] - count, np.shape(x)[axis]), axis=axis)


def odd(x, before, after, axis, around_edge):
    """Reflected in the point at each end; again and again, if the margins are wider than the array."""
    while before > 0 or after > 0:
        n = np.shape(x)[axis]
        widest = n - 1 if around_edge else n
        left, right = min(before, widest), min(after, widest)
        start = np.flip(np.take(x, np.arange(left) + (1 if around_edge else 0), axis=axis), axis)
        end = np.flip(np.take(x, np.arange(n - right, n) - (1 if around_edge else 0), axis=axis), axis)
        x = joined(2 * first_of(x, 1, axis) - start, x, 2 * last_of(x, 1, axis) - end, axis)
        before, after = before - left, after - right
    return x


@defined(np.pad)
def pad(
    array, pad_width, mode="constant", *, constant_values=0, stat_length=None, end_values=0, reflect_type="even"
):  # fmt: skip
    x = np.copy(array)
    rank = np.ndim(array)
    if mode == "empty":
        return np.pad(x, pad_width)
    widths = np.broadcast_to(pad_width, (rank, 2))
    for axis in range(rank):
        before, after = int(widths[axis, 0]), int(widths[axis, 1])
        if mode in ("reflect", "symmetric"):
            x = odd(x, before, after, axis, mode == "reflect")
            continue
        n = np.shape(x)[axis]
        if mode in ("mean", "maximum", "minimum", "median"):
            counts = np.broadcast_to(n if stat_length is None else stat_length, (rank, 2))
            head = first_of(x, min(n, int(counts[axis, 0])), axis)
            tail = last_of(x, min(n, int(counts[axis, 1])), axis)
            if mode == "mean":
                left, right = np.mean(head, axis=axis, keepdims=True), np.mean(tail, axis=axis, keepdims=True)
            elif mode == "maximum":
                left, right = np.max(head, axis=axis, keepdims=True), np.max(tail, axis=axis, keepdims=True)
            elif mode == "minimum":
                left, right = np.min(head, axis=axis, keepdims=True), np.min(tail, axis=axis, keepdims=True)
            else:
                left, right = np.median(head, axis=axis, keepdims=True), np.median(tail, axis=axis, keepdims=True)
            x = joined(np.repeat(left, before, axis=axis), x, np.repeat(right, after, axis=axis), axis)
            continue
        ends = np.broadcast_to(end_values if mode == "linear_ramp" else constant_values, (rank, 2))
        left, right = first_of(x, 1, axis) * 0 + ends[axis, 0], last_of(x, 1, axis) * 0 + ends[axis, 1]
        left, right = np.repeat(left, before, axis=axis), np.repeat(right, after, axis=axis)
        if mode == "linear_ramp":
            lead, trail = np.arange(before) / max(before, 1), np.arange(after)[::-1] / max(after, 1)
            lead = np.expand_dims(lead, axes_in(1, rank))
            trail = np.expand_dims(trail, axes_in(1, rank))
            left = left + np.moveaxis(lead, 0, axis) * (first_of(x, 1, axis) - left)
            right = right + np.moveaxis(trail, 0, axis) * (last_of(x, 1, axis) - right)
        x = joined(left, x, right, axis)
    return x


# ------------------------------------------------------------------ products of matrices
@static
def contracted(axes, rank_a, rank_b):
    """The axes of either array that tensordot sums over."""
    if isinstance(axes, int):
        return tuple(range(rank_a - axes, rank_a)), tuple(range(axes))
    a, b = axes
    a, b = ((a,) if isinstance(a, int) else a), ((b,) if isinstance(b, int) else b)
    return tuple(k % rank_a for k in a), tuple(k % rank_b for k in b)


@static
def kept(axes, rank):
    return tuple(k for k in range(rank) if k not in axes)


@defined(np.tensordot, np.linalg.tensordot)
def tensordot(a, b, axes=2):
    over = contracted(axes if isinstance(axes, int) else (tuple_of(axes[0]), tuple_of(axes[1])), np.ndim(a), np.ndim(b))
    A = np.transpose(a, kept(over[0], np.ndim(a)) + over[0])
    B = np.transpose(b, over[1] + kept(over[1], np.ndim(b)))
    return np.tensordot(A, B, axes=len(over[0]))


@static
def tuple_of(axes):
    return (axes,) if isinstance(axes, int) else tuple(axes)


@defined(np.inner)
def inner(a, b):
    x, y = np.asarray(a), np.asarray(b)
    if np.ndim(x) == 0 or np.ndim(y) == 0:
        return x * y
    return np.dot(x, y) if np.ndim(y) == 1 else np.tensordot(x, np.moveaxis(y, -1, 0), axes=1)


@defined(np.vecdot, np.linalg.vecdot)
def vecdot(x1, x2, axis=-1):
    return np.vecdot(np.moveaxis(x1, axis, -1), np.moveaxis(x2, axis, -1))


if hasattr(np, "matvec"):

    @defined(np.matvec)
    def matvec(x1, x2):
        return (x1 @ np.expand_dims(x2, -1))[..., 0]

    @defined(np.vecmat)
    def vecmat(x1, x2):
        return (np.conj(np.expand_dims(x1, -2)) @ x2)[..., 0, :]


@defined(np.kron)
def kron(a, b):
    rank = max(np.ndim(a), np.ndim(b))
    A, B = with_axes(a, rank), with_axes(b, rank)
    outer_product = np.expand_dims(A, axes_in(1, 2 * rank, 2)) * np.expand_dims(B, axes_in(0, 2 * rank, 2))
    return np.reshape(outer_product, np.array(np.shape(A)) * np.array(np.shape(B)))


@defined(np.linalg.multi_dot)
def multi_dot(arrays):
    product = arrays[0]
    for factor in arrays[1:]:
        product = product @ factor
    return product


@defined(np.linalg.lstsq)
def lstsq(a, b, rcond=None):
    x = np.linalg.pinv(a) @ b
    rank = np.linalg.matrix_rank(stop_gradient(a))
    difference = b - a @ x
    squares = np.atleast_1d(np.sum(np.real(difference * np.conj(difference)), axis=0))
    there = rank == np.shape(a)[1] and np.shape(a)[0] > np.shape(a)[1]
    return x, squares[: len(squares) if there else 0], rank, np.linalg.svdvals(a)


@static
def is_vector(rank, axis):
    return isinstance(axis, int) or axis is None and rank == 1


def vector_norm_of(x, ord, axis, keepdims):
    if ord == 2:
        return np.linalg.norm(x, axis=axis, keepdims=keepdims)
    if ord == math.inf:
        return np.max(np.abs(x), axis=axis, keepdims=keepdims)
    if ord == -math.inf:
        return np.min(np.abs(x), axis=axis, keepdims=keepdims)
    if ord == 0:
        return np.sum(np.where(x == 0, 0.0, 1.0), axis=axis, keepdims=keepdims)
    if ord == 1:
        return np.sum(np.abs(x), axis=axis, keepdims=keepdims)
    return np.sum(np.abs(x) ** ord, axis=axis, keepdims=keepdims) ** (1 / ord)


def matrix_norm_of(x, ord):
    if ord == "fro":
        return np.linalg.norm(x, axis=(-2, -1))
    if ord == "nuc":
        return np.sum(np.linalg.svdvals(x), axis=-1)
    if ord == 2:
        return np.max(np.linalg.svdvals(x), axis=-1)
    if ord == -2:
        return np.min(np.linalg.svdvals(x), axis=-1)
    sums = np.sum(np.abs(x), axis=-2 if abs(ord) == 1 else -1)
    return np.max(sums, axis=-1) if ord > 0 else np.min(sums, axis=-1)


@defined(np.linalg.norm)
def norm(x, ord=None, axis=None, keepdims=False):
    a = np.asarray(x)
    if ord is None:
        return np.linalg.norm(a, axis=axis, keepdims=keepdims)
    if is_vector(np.ndim(a), axis):
        return vector_norm_of(a, ord, axis, keepdims)
    value = matrix_norm_of(a if axis is None else np.moveaxis(a, axis, (-2, -1)), ord)
    return np.expand_dims(value, (0, 1) if axis is None else axis) if keepdims else value


@defined(np.linalg.vector_norm)
def vector_norm(x, *, axis=None, keepdims=False, ord=2):
    if axis is None:
        value = vector_norm_of(np.ravel(x), ord, 0, False)
        return np.reshape(value, (1,) * np.ndim(x)) if keepdims else value
    return vector_norm_of(x, ord, axis, keepdims)


@defined(np.linalg.cholesky)
def cholesky(a, /, *, upper=False):
    L = np.linalg.cholesky(np.conj(np.swapaxes(a, -1, -2)))
    return np.conj(np.swapaxes(L, -1, -2))


@defined(np.linalg.eigvals)
def eigvals(a):
    return np.linalg.eig(a)[0]


@defined(np.linalg.svd)
def svd(a, full_matrices=True, compute_uv=True):
    if compute_uv and np.shape(a)[-1] != np.shape(a)[-2]:
        raise ValueError("np.linalg.svd of a matrix that is not square is differentiated with full_matrices=False")
    return np.linalg.svd(a, full_matrices=False, compute_uv=compute_uv)


@defined(np.linalg.qr)
def qr(a, mode="reduced"):
    if mode == "complete" and np.shape(a)[-2] > np.shape(a)[-1]:
        raise ValueError("np.linalg.qr of a tall matrix is differentiated with mode='reduced'")
    return np.linalg.qr(a)[1] if mode == "r" else np.linalg.qr(a)


@defined(np.linalg.cond)
def cond(x, p=None):
    if p is None or p == 2 or p == -2:
        s = np.linalg.svdvals(x)
        return s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    return np.linalg.norm(x, p, axis=(-2, -1)) * np.linalg.norm(np.linalg.inv(x), p, axis=(-2, -1))


@defined(np.linalg.matrix_norm)
def matrix_norm(x, *, keepdims=False, ord="fro"):
    return np.linalg.norm(x, ord, axis=(-2, -1), keepdims=keepdims)


@defined(np.linalg.tensorsolve)
def tensorsolve(a, b, axes=None):
    return np.reshape(np.linalg.solve(np.reshape(a, (np.size(b), -1)), np.ravel(b)), np.shape(a)[np.ndim(b) :])


@defined(np.linalg.tensorinv)
def tensorinv(a, ind=2):
    size = int(np.prod(np.shape(a)[ind:]))
    return np.reshape(np.linalg.inv(np.reshape(a, (size, -1))), np.shape(a)[ind:] + np.shape(a)[:ind])


@static
def opposite(norm):
    return {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}[norm]


@defined(np.fft.hfft)
def hfft(a, n=None, axis=-1, norm=None, out=None):
    return np.fft.irfft(np.conj(a), n, axis=axis, norm=opposite(norm))


@defined(np.fft.ihfft)
def ihfft(a, n=None, axis=-1, norm=None, out=None):
    return np.conj(np.fft.rfft(a, n, axis=axis, norm=opposite(norm)))


# ------------------------------------------------------------------ procedures, always written out
@defined(np.putmask)
def putmask(a, mask, values):
    flat = np.ravel(values)
    a[mask] = flat[(np.arange(np.size(a)) % len(flat))[np.ravel(mask)]]


@defined(np.place)
def place(arr, mask, vals):
    flat = np.ravel(vals)
    arr[mask] = flat[np.arange(np.count_nonzero(mask)) % len(flat)]


@defined((np.ufunc, "at"))
def at(ufunc, a, indices, b=None):
    places = np.ravel(indices)
    if b is None:
        for k in range(len(places)):
            a[places[k]] = ufunc(a[places[k]])
    else:
        values = np.broadcast_to(b, (len(places),) + np.shape(a)[1:])
        for k in range(len(places)):
            a[places[k]] = ufunc(a[places[k]], values[k])


@defined(np.put)
def put(a, ind, v, mode="raise"):
    places = np.clip(ind, 0, np.size(a) - 1) if mode == "clip" else np.asarray(ind) % np.size(a)
    np.put(a, places, v)


@defined(np.fill_diagonal)
def fill_diagonal(a, val, wrap=False):
    places = np.arange(0, np.size(a), np.shape(a)[1] + 1)
    a[np.unravel_index(places, np.shape(a))] = val


# ------------------------------------------------------------------ functions of functions
@defined(np.apply_along_axis)
def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    rows = np.moveaxis(arr, axis, -1)
    results = [func1d(row, *args, **kwargs) for row in np.reshape(rows, (-1, np.shape(rows)[-1]))]
    made = np.reshape(np.stack(results), np.shape(rows)[:-1] + np.shape(results[0]))
    k = np.ndim(rows) - 1
    inner = np.ndim(made) - k
    at = axis % np.ndim(arr)
    return np.moveaxis(made, axes_in(k, k + inner), axes_in(at, at + inner))


@defined(np.apply_over_axes)
def apply_over_axes(func, a, axes):
    result = a
    for axis in axes:
        result = np.expand_dims(func(result, axis), axis)
    return result


@defined(np.fromfunction)
def fromfunction(function, shape, *, dtype=float, like=None, **kwargs):
    return function(*[np.asarray(g, dtype=dtype) for g in np.indices(shape)], **kwargs)


@defined(np.fromiter)
def fromiter(iter, dtype, count=-1):
    return np.array(list(iter))


del operator
