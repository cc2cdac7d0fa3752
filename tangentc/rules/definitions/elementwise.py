"""What functions of NumPy compute: ufuncs, elementary functions and selection."""

from __future__ import annotations

import builtins
import cmath
import math

import numpy as np

from tangentc.core.ops import stopped as stop_gradient
from tangentc.rules.registry import defined, static


# ------------------------------------------------------------------ ufuncs and their methods
@defined((np.ufunc, "__call__"))
def of_dtype(ufunc, *args, dtype=None, casting="same_kind"):
    return ufunc(*[np.asarray(a, dtype=dtype) for a in args])


@defined((np.ufunc, "outer"))
def outer(ufunc, a, b, out=None):
    result = ufunc(np.reshape(a, np.shape(a) + (1,) * np.ndim(b)), b)
    if out is None:
        return result
    out[...] = result
    return out


@static
def whole(ufunc):
    """The function that reduces as this ufunc does."""
    return {np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min}.get(ufunc)


@static
def running(ufunc):
    return {np.add: np.cumsum, np.multiply: np.cumprod}.get(ufunc)


@defined((np.ufunc, "reduce"))
def reduce(ufunc, array, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=None):
    x = np.asarray(array, dtype=dtype) if dtype is not None or isinstance(array, (list, tuple)) else array
    if whole(ufunc) is not None:
        if initial is None and where is None:
            return whole(ufunc)(x, axis=axis, keepdims=keepdims)
        if where is None:
            return whole(ufunc)(x, axis=axis, keepdims=keepdims, initial=initial)
        if initial is None:
            return whole(ufunc)(x, axis=axis, keepdims=keepdims, where=where)
        return whole(ufunc)(x, axis=axis, keepdims=keepdims, initial=initial, where=where)
    rows = np.moveaxis(x, axis, 0)
    result = np.positive(rows[0]) if initial is None else ufunc(initial, rows[0])
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


@defined(math.log)
def log_to_base(x, base):
    return math.log(x) / math.log(base)


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


def piece(y, x, where, function):
    """One condition of `numpy.piecewise`, and its function or its value."""
    y[where] = function(x[where]) if callable(function) else function


def rest(*conditions):
    """Where no condition of `numpy.piecewise` holds."""
    found = ~np.asarray(conditions[0])
    for condition in conditions:
        found = found & ~np.asarray(condition)
    return found


@defined(np.choose)
def choose(a, choices, out=None, mode="raise"):
    n = len(choices)
    number = np.asarray(a) if mode == "raise" else np.clip(a, 0, n - 1) if mode == "clip" else np.asarray(a) % n
    result = choices[0]
    for k in range(1, n):
        result = np.where(number == k, choices[k], result)
    return np.where(number == 0, choices[0], result)


@defined(np.nan_to_num)
def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    return np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


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


@defined(np.real_if_close)
def real_if_close(a, tol=100):
    x = np.asarray(a)
    if not np.iscomplexobj(x):
        return x
    bound = tol * np.finfo(x.dtype).eps if tol > 1 else tol
    if np.all(np.abs(np.imag(stop_gradient(x))) < bound):
        return np.real(x)
    return x
