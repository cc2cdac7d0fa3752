"""What functions of NumPy compute: procedures, and functions of functions."""

from __future__ import annotations

import numpy as np

from tangentc.rules.definitions import axes_in
from tangentc.rules.registry import defined


# ------------------------------------------------------------------ procedures
def changing(function, options):
    """A call that changes its argument is always written out."""
    return True


@defined(np.putmask, always=changing)
def putmask(a, mask, values):
    flat = np.ravel(values)
    a[mask] = flat[(np.arange(np.size(a)) % len(flat))[np.ravel(mask)]]


@defined(np.place, always=changing)
def place(arr, mask, vals):
    flat = np.ravel(vals)
    arr[mask] = flat[np.arange(np.count_nonzero(mask)) % len(flat)]


@defined((np.ufunc, "at"), always=lambda at, options: at.__self__ not in (np.add, np.subtract))
def at(ufunc, a, indices, b=None):
    places = np.ravel(indices)
    if b is None:
        for k in range(len(places)):
            a[places[k]] = ufunc(a[places[k]])
    else:
        values = np.broadcast_to(b, (len(places),) + np.shape(a)[1:])
        for k in range(len(places)):
            a[places[k]] = ufunc(a[places[k]], values[k])


@defined(np.put, always=lambda put, options: "mode" in options)
def put(a, ind, v, mode="raise"):
    places = np.clip(ind, 0, np.size(a) - 1) if mode == "clip" else np.asarray(ind) % np.size(a)
    np.put(a, places, v)


@defined(np.fill_diagonal, always=lambda fill, options: "wrap" in options)
def fill_diagonal(a, val, wrap=False):
    places = np.arange(0, np.size(a), np.shape(a)[1] + 1)
    a[np.unravel_index(places, np.shape(a))] = np.resize(val, np.shape(places))


# ------------------------------------------------------------------ functions of functions
def vectorized(pyfunc, otypes, *args):
    """What ``np.vectorize(pyfunc)`` computes, with the dtype of its first result."""
    arrays = np.broadcast_arrays(*[np.asarray(a) for a in args])
    results = [pyfunc(*items) for items in zip(*[np.ravel(a) for a in arrays])]
    dtype = np.asarray(results[0]).dtype if otypes is None else otypes[0]
    return np.reshape(np.asarray(results, dtype=dtype), np.shape(arrays[0]))


@defined(np.vectorize.__call__, always=lambda call, options: call.signature is None and not options)
def call_vectorized(self, *args):
    return vectorized(self.pyfunc, self.otypes, *args)


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
    for axis in (axes,) if isinstance(axes, int) else axes:
        result = np.expand_dims(func(result, axis), axis)
    return result


@defined(np.fromfunction)
def fromfunction(function, shape, *, dtype=float, like=None, **kwargs):
    return function(*[np.asarray(g, dtype=dtype) for g in np.indices(shape)], **kwargs)


@defined(np.fromiter)
def fromiter(iter, dtype, count=-1):
    items = list(iter)
    return np.array(items if count < 0 else items[:count]).astype(dtype)
