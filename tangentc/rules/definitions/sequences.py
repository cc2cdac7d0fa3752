"""What functions of NumPy compute: sums, differences, covariance and polynomials."""

from __future__ import annotations

import numpy as np

from tangentc.core.ops import stopped as stop_gradient
from tangentc.ops.table import existing
from tangentc.rules.definitions import axes_in
from tangentc.rules.definitions.reductions import is_integer_like
from tangentc.rules.registry import defined, is_float
from tangentc.runtime import trapezoid_weights


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
        steps = np.diff(h + 0.0)
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
    if len(varargs) == 0 and len(axes) == 1:
        return slope_along(f, 1.0, axes[0], edge_order)
    if len(axes) == 1:
        return slope_along(f, varargs[0], axes[0], edge_order)
    if len(varargs) == 0:
        return tuple([slope_along(f, 1.0, axes[k], edge_order) for k in range(len(axes))])
    if len(varargs) == 1:
        return tuple([slope_along(f, varargs[0], axes[k], edge_order) for k in range(len(axes))])
    return tuple([slope_along(f, varargs[k], axes[k], edge_order) for k in range(len(axes))])


@defined(np.trapezoid)
def trapezoid(y, x=None, dx=1.0, axis=-1):
    f = np.moveaxis(y, axis, -1)
    d = dx
    if x is not None:
        d = np.diff(x if np.ndim(x) == 1 else np.moveaxis(x, axis, -1))
    return np.sum(d * (f[..., 1:] + f[..., :-1]) / 2, axis=-1)


@defined(trapezoid_weights)
def weights_of_trapezoid(y, x=None, dx=1.0, axis=-1):
    d = dx * np.ones(np.shape(y)[axis] - 1)
    if x is not None:
        places = np.asarray(x)
        d = np.diff(places if np.ndim(places) == 1 else np.moveaxis(places, axis, -1))
    none = np.zeros((*np.shape(d)[:-1], 1))
    weights = (np.concatenate([none, d], axis=-1) + np.concatenate([d, none], axis=-1)) / 2
    if np.ndim(weights) == 1:
        return np.expand_dims(weights, axes_in(1, np.ndim(y) - axis % np.ndim(y)))
    return np.moveaxis(weights, -1, axis)


@defined(np.bincount)
def bincount(x, weights=None, minlength=0):
    counts = np.zeros(len(np.bincount(x, minlength=minlength)))
    np.add.at(counts, np.asarray(x), weights)
    return counts


@defined(np.histogram)
def histogram(a, bins=10, range=None, density=None, weights=None):
    if isinstance(bins, str) or np.ndim(bins) == 0 and range is not None:
        edges = np.histogram_bin_edges(stop_gradient(a), bins, range)
    elif np.ndim(bins) == 0:
        edges = np.linspace(np.min(a), np.max(a), bins + 1)
    else:
        edges = np.asarray(bins)
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
    if fweights is None and aweights is None and is_float(X):
        C = np.cov(X, ddof=free)
        return C[0, 0] if np.ndim(C) == 2 and np.ndim(m) == 1 and y is None else C
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
    if np.ndim(C) == 0:
        return C / C
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
    if np.ndim(p) == 1:
        return np.polyval(np.asarray(p), np.asarray(x))
    y = np.zeros_like(x)
    for coefficients in p:  # Horner's rule, of several polynomials
        y = y * x + coefficients
    return y


@defined(np.polyfit)
def polyfit(x, y, deg, *, w=None):
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


@defined(np.arange)
def arange(start, stop=None, step=1, dtype=None):
    first, end = (0, start) if stop is None else (start, stop)
    count = len(np.arange(stop_gradient(first), stop_gradient(end), stop_gradient(step)))
    return first + step * np.arange(count)


@defined(np.linspace)
def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    y = np.asarray(np.moveaxis(np.linspace(start, stop, num, endpoint), 0, axis), dtype=dtype)
    return (y, (stop - start) / (num - 1 if endpoint else num)) if retstep else y


@defined(np.logspace)
def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    return np.power(base, np.linspace(start, stop, num=num, endpoint=endpoint, axis=axis))


@defined(np.geomspace)
def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    sign = np.sign(stop_gradient(start))
    line = sign * np.exp(np.linspace(np.log(start / sign), np.log(stop / sign), num, endpoint))
    return line if axis == 0 else np.moveaxis(line, 0, axis)


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
