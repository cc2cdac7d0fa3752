"""What functions of NumPy compute: what changes the shape of arrays."""

from __future__ import annotations

import numpy as np

from tangentc.errors import NotDifferentiable
from tangentc.ops.table import existing
from tangentc.rules.definitions import axes_in
from tangentc.rules.registry import defined, static


# ------------------------------------------------------------------ shapes
@defined(np.broadcast_arrays)
def broadcast_arrays(*args):
    shape = np.broadcast_shapes(*[np.shape(a) for a in args])
    return tuple([np.broadcast_to(a, shape) for a in args])


@static
def at_most_four(rank):
    if rank > 4:
        raise NotDifferentiable(
            f"tolist of an array of {rank} axes", why="its loops are written for at most four",
            way_out="reshape it before, or loop over its first axis",
        )  # fmt: skip


@defined(np.ndarray.tolist)
def tolist(a):
    if np.ndim(a) == 0:
        return a.item()
    if np.ndim(a) == 1:
        return [x.item() for x in a]
    if np.ndim(a) == 2:
        return [[x.item() for x in row] for row in a]
    if np.ndim(a) == 3:
        return [[[x.item() for x in row] for row in plane] for plane in a]
    at_most_four(np.ndim(a))
    return [[[[x.item() for x in row] for row in plane] for plane in block] for block in a]


@defined(np.atleast_1d)
def atleast_1d(*arys):
    return tuple([np.atleast_1d(a) for a in arys]) if len(arys) > 1 else np.atleast_1d(np.asarray(arys[0]))


@defined(np.atleast_2d)
def atleast_2d(*arys):
    return tuple([np.atleast_2d(a) for a in arys]) if len(arys) > 1 else np.atleast_2d(np.asarray(arys[0]))


@defined(np.atleast_3d)
def atleast_3d(*arys):
    return tuple([np.atleast_3d(a) for a in arys]) if len(arys) > 1 else np.atleast_3d(np.asarray(arys[0]))


@defined(np.float16)
def float16(x):
    return np.asarray(x).astype(np.float16)[()]


@defined(np.float32)
def float32(x):
    return np.asarray(x).astype(np.float32)[()]


@defined(np.complex64)
def complex64(x):
    return np.asarray(x).astype(np.complex64)[()]


@defined(np.complex128)
def complex128(x):
    return np.asarray(x).astype(np.complex128)[()]


@defined(np.stack)
def stack(arrays, axis=0):
    return np.stack([a for a in arrays], axis=axis)  # noqa: C416


@defined(np.concatenate)
def concatenate(arrays, axis=0):
    if axis is None:
        return np.concatenate([np.ravel(a) for a in arrays])
    return np.concatenate([np.asarray(a) for a in arrays], axis=axis)


def side_by_side(stack):
    """The arrays of a stack joined along their second axis."""
    rows = np.moveaxis(stack, 0, 1)
    return np.copy(np.reshape(rows, (np.shape(rows)[0], -1) + np.shape(rows)[3:]))


@defined(np.vstack, *existing("row_stack"))
def vstack(tup, dtype=None, casting="same_kind"):
    if isinstance(tup, np.ndarray):
        if np.ndim(tup) == 2:
            return np.copy(tup)
        return np.copy(np.reshape(tup, (-1, 1) if np.ndim(tup) == 1 else (-1,) + np.shape(tup)[2:]))
    return np.concatenate([np.atleast_2d(a) for a in tup])


@defined(np.hstack)
def hstack(tup, dtype=None, casting="same_kind"):
    if isinstance(tup, np.ndarray):
        return side_by_side(tup) if np.ndim(tup) > 2 else tup.flatten()
    parts = [np.atleast_1d(a) for a in tup]
    return np.concatenate(parts, axis=0 if np.ndim(parts[0]) == 1 else 1)


@defined(np.dstack)
def dstack(tup):
    return np.concatenate([np.atleast_3d(a) for a in tup], axis=2)


@defined(np.column_stack)
def column_stack(tup):
    if isinstance(tup, np.ndarray):
        return side_by_side(tup) if np.ndim(tup) > 2 else np.copy(np.atleast_2d(tup.T))
    return np.concatenate([np.reshape(a, (-1, 1)) if np.ndim(a) < 2 else a for a in tup], axis=1)


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
    n, at = len(x), np.asarray(obj)
    new = np.asarray(values)
    if axis is not None and np.ndim(at) == 0:
        new = np.moveaxis(with_axes(new, np.ndim(arr)), 0, axis)
        new = np.moveaxis(new, axis, 0)
    elif axis is not None and np.ndim(new) == np.ndim(arr):
        new = np.moveaxis(new, axis, 0)
    count = np.size(at)
    if axis is None:
        count = max(count, np.size(new))
    elif np.ndim(new) == np.ndim(arr):
        count = max(count, len(new))
    before = np.broadcast_to(np.where(at < 0, at + n, at), (count,))
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


@defined(np.ix_)
def open_mesh(*args):
    rank = len(args)
    return tuple([np.reshape(x, grid_shape(k, rank, False)) for k, x in enumerate(args)])


@defined(np.asfortranarray)
def fortran_array(a, dtype=None):
    return np.copy(np.asarray(a, dtype=dtype), order="F")


@defined(np.asanyarray)
def any_array(a, dtype=None, order=None):
    return np.asarray(a, dtype=dtype)


@defined(np.full)
def full(shape, fill_value, dtype=None, order="C"):
    return np.asarray(np.full(shape, fill_value), dtype=dtype)


@defined(np.full_like)
def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None):
    shape, dtype = np.shape(a) if shape is None else shape, np.result_type(a) if dtype is None else dtype
    return np.full(shape, fill_value, dtype=dtype)


@defined(np.array)
def array(object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0):
    made = np.array(object) if order == "K" or order is None else np.copy(np.asarray(object), order=order)
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


def middle(x, axis):
    """The median along an axis, which stays."""
    ordered = np.sort(x, axis=axis)
    n = np.shape(x)[axis]
    pair = np.take(ordered, (n - 1) // 2, axis=axis) + np.take(ordered, n // 2, axis=axis)
    return np.expand_dims(pair / 2, axis)


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
                left, right = middle(head, axis), middle(tail, axis)
            x = joined(np.repeat(left, before, axis=axis), x, np.repeat(right, after, axis=axis), axis)
            continue
        ends = np.broadcast_to(end_values if mode == "linear_ramp" else constant_values, (rank, 2))
        left, right = first_of(x, 1, axis) * 0 + ends[axis, 0], last_of(x, 1, axis) * 0 + ends[axis, 1]
        left, right = np.repeat(left, before, axis=axis), np.repeat(right, after, axis=axis)
        if mode == "linear_ramp":
            lead, trail = np.arange(before) / max(before, 1), np.arange(after)[::-1] / max(after, 1)
            lead = np.expand_dims(lead, axes_in(1, rank)).astype(np.result_type(x, np.float16))
            trail = np.expand_dims(trail, axes_in(1, rank)).astype(np.result_type(x, np.float16))
            left = left + np.moveaxis(lead, 0, axis) * (first_of(x, 1, axis) - left)
            right = right + np.moveaxis(trail, 0, axis) * (last_of(x, 1, axis) - right)
        x = joined(left, x, right, axis)
    return x
