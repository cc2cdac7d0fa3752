"""Adjoints of arrays: shapes that are put back, entries that are added, partial derivatives of products."""

import types

import numpy as np

from tangentc.runtime.objects import _module


def unbroadcast(x_bar, x):
    """The adjoint of ``x``, summed back over the axes on which ``x`` was broadcast.

    Parameters: ``x_bar``, an array or number whose shape ``x`` broadcasts to, or that broadcasts to the
    shape of ``x``; ``x``, the primal value.  Returns an array or number with the shape and dtype of ``x``.

    >>> unbroadcast(np.ones((3, 2)), np.zeros(2))
    array([3., 3.])
    """
    shape = np.shape(x)
    if np.iscomplexobj(x_bar) and not np.iscomplexobj(x):
        x_bar = np.real(x_bar)
    extra = max(np.ndim(x_bar) - len(shape), 0)
    if extra:
        x_bar = np.sum(x_bar, axis=tuple(range(extra)))
    bar_shape = np.shape(x_bar)
    offset = len(shape) - len(bar_shape)
    ones = tuple(k for k, n in enumerate(bar_shape) if shape[k + offset] == 1 and n != 1)
    if ones:
        x_bar = np.sum(x_bar, axis=ones, keepdims=True)
    if not shape:
        return x_bar if getattr(x, "dtype", None) is None else x.dtype.type(x_bar)
    if np.shape(x_bar) != shape:
        return (
            _module(x).broadcast_to(_module(x).asarray(x_bar), shape).astype(x.dtype)
        )  # a copy, which may be added to
    return x_bar.astype(x.dtype, copy=False)


def order(keys, reverse=False):
    """The positions of the keys of a list in the order in which `sorted` has them.

    >>> order([0.5, 0.1, 0.3])
    [1, 2, 0]
    """
    return sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)


def shaped_like(x_bar, x):
    """The adjoint ``x_bar`` of a container in the container's own types: tuples where ``x`` has tuples.

    >>> shaped_like([0.0, [1.0, 2.0]], [5.0, (6.0, 7.0)])
    [0.0, (1.0, 2.0)]
    """
    if isinstance(x, list):
        return [shaped_like(b, item) for b, item in zip(x_bar, x, strict=True)]
    if isinstance(x, tuple):
        items = [shaped_like(b, item) for b, item in zip(x_bar, x, strict=True)]
        return type(x)(*items) if hasattr(x, "_fields") else tuple(items)
    if isinstance(x, dict):
        return {key: shaped_like(x_bar[key], item) for key, item in x.items()}
    if hasattr(x, "__dataclass_fields__"):
        return type(x)(**{key: shaped_like(getattr(x_bar, key), getattr(x, key)) for key in x.__dataclass_fields__})
    if isinstance(x_bar, types.SimpleNamespace):
        return x_bar
    return x_bar if hasattr(x, "shape") or isinstance(x, (float, complex)) else None


def reduce_to_shape(x_bar, shape):
    """Sum ``x_bar`` over the axes on which an array of this shape was broadcast to it.

    >>> reduce_to_shape(np.ones((3, 2)), (3, 1))
    array([[2.],
           [2.],
           [2.]])
    """
    extra = np.ndim(x_bar) - len(shape)
    if extra:
        x_bar = np.sum(x_bar, axis=tuple(range(extra)))
    ones = tuple(k for k, n in enumerate(shape) if n == 1 and np.shape(x_bar)[k] != 1)
    return np.sum(x_bar, axis=ones, keepdims=True) if ones else x_bar


def along_axis(x, indices, axis):
    """The subscript with which ``x[...]`` takes what `numpy.take_along_axis` takes.

    >>> x = np.array([[3.0, 1.0], [2.0, 5.0]])
    >>> x[along_axis(x, np.array([[1], [0]]), 1)]
    array([[1.],
           [2.]])
    """
    axis = axis % np.ndim(x)
    key = list(np.indices(np.shape(indices), sparse=True))
    key[axis] = indices
    return tuple(key)


def last_written(x_bar, key):
    """``x_bar[key]`` for the adjoint of ``x[key] = values``: of values written to one entry, only the last counts.

    >>> last_written(np.array([1.0, 2.0]), np.array([0, 0, 1]))
    array([0., 1., 2.])
    """
    order = _module(x_bar).full(np.shape(x_bar), -1)
    taken = x_bar[key]
    numbers = _module(x_bar).arange(np.size(taken)).reshape(np.shape(taken))
    order[key] = numbers
    return np.where(order[key] == numbers, taken, 0)


def add_if_copied(x_bar, y_bar, order="C"):
    """Add ``y_bar`` to the shadow ``x_bar`` unless it is a view of it: for ``y = x.reshape(...)``.

    >>> x_bar = np.zeros((2, 2))
    >>> add_if_copied(x_bar, np.ones(4))
    >>> x_bar
    array([[1., 1.],
           [1., 1.]])
    """
    if not np.may_share_memory(x_bar, y_bar):
        x_bar += np.reshape(y_bar, np.shape(x_bar), order=order)


def split_like(x, arrays, axis=0):
    """Cut ``x`` along ``axis`` into parts as long as those of ``arrays``, the inverse of concatenate.

    >>> [part.tolist() for part in split_like(np.arange(3.0), [np.zeros(2), np.zeros(1)])]
    [[0.0, 1.0], [2.0]]
    """
    if axis is None:
        return [
            np.reshape(p, np.shape(a))
            for p, a in zip(split_like(x, [np.ravel(a) for a in arrays]), arrays, strict=True)
        ]
    ends = np.cumsum([np.shape(a)[axis] for a in arrays])
    return np.split(x, [int(end) for end in ends[:-1]], axis=axis)


def product_of_others(x, axis=None):
    """For each entry the product of the other entries along ``axis``: right also where entries are zero.

    >>> product_of_others(np.array([2.0, 0.0, 3.0]))
    array([0., 6., 0.])
    """
    x = _module(x).asarray(x)
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(a % x.ndim for a in axes)
    rest = tuple(a for a in range(x.ndim) if a not in axes)
    order = (*rest, *axes)
    moved = np.transpose(x, order)
    flat = np.reshape(moved, (*[x.shape[a] for a in rest], int(np.prod([x.shape[a] for a in axes]))))
    ones = np.ones_like(flat[..., :1])
    before = np.cumprod(np.concatenate([ones, flat[..., :-1]], axis=-1), axis=-1)
    after = np.cumprod(np.concatenate([ones, flat[..., :0:-1]], axis=-1), axis=-1)[..., ::-1]
    return np.transpose(np.reshape(before * after, moved.shape), [order.index(a) for a in range(x.ndim)])


def quantile_shares(x, q, axis=None):
    """For each entry its share in the quantile ``q`` along ``axis``, which lies between two neighbours in order (method
    "linear"; Hyndman and Fan, "Sample quantiles in statistical packages", 1996, definition 7); none where one is NaN.

    >>> quantile_shares(np.array([3.0, 1.0, 2.0]), 0.25)
    array([0. , 0.5, 0.5])
    """
    last = x.size - 1 if axis is None else np.prod([x.shape[a] for a in np.atleast_1d(axis)]) - 1
    part = q * last - min(max(int(np.floor(q * last)), 0), last)
    below, above = _neighbours(x, q, axis)
    return (1 - part) * below + part * above


def quantile_steps(x, q, axis=None):
    """For each entry its share in the slope of a quantile along ``q``: the step from a neighbour to the next.

    >>> quantile_steps(np.array([3.0, 1.0, 2.0]), 0.25)
    array([ 0., -2.,  2.])
    """
    below, above = _neighbours(x, q, axis)
    last = x.size - 1 if axis is None else np.prod([x.shape[a] for a in np.atleast_1d(axis)]) - 1
    return last * (above - below)


def _neighbours(x, q, axis):
    """Which entries come before and behind a quantile: two arrays of zeros and ones."""
    xp = _module(x)
    axes = tuple(range(x.ndim)) if axis is None else tuple(int(a) % x.ndim for a in np.atleast_1d(axis))
    order = (*axes, *(a for a in range(x.ndim) if a not in axes))
    moved = xp.transpose(x, order)
    rows = moved.reshape(-1, *moved.shape[len(axes) :])
    places, last = xp.argsort(rows, axis=0, kind="stable"), len(rows) - 1
    k = min(max(int(np.floor(q * last)), 0), last)
    at = xp.arange(last + 1).reshape(-1, *[1] * (rows.ndim - 1))
    numbers = ~xp.isnan(rows).any(axis=0)
    kind = np.result_type(x.dtype, np.float16)
    found = ((at == places[j]) & numbers for j in (k, min(k + 1, last)))
    back = [order.index(a) for a in range(x.ndim)]
    return [xp.transpose(f.reshape(moved.shape), back).astype(kind) for f in found]


def product_of_pairs(x, v, axis=None):
    """For each entry i the sum over k of v[k] times the product of the entries other than i and k: the
    derivative of `product_of_others` along ``v``, which is also its adjoint.

    >>> product_of_pairs(np.array([2.0, 0.0, 3.0]), np.array([1.0, 1.0, 1.0]))
    array([3., 5., 2.])
    """
    x = _module(x).asarray(x)
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(a % x.ndim for a in axes)
    v = np.broadcast_to(v, x.shape)
    total = np.zeros_like(x)
    for index in np.ndindex(*(x.shape[a] for a in axes)):
        place = [slice(None)] * x.ndim
        for a, k in zip(axes, index, strict=True):
            place[a] = slice(k, k + 1)
        without = x.copy()
        without[tuple(place)] = 1
        others = product_of_others(without, axis)
        others[tuple(place)] = 0
        total = total + v[tuple(place)] * others
    return total


def positions(x):
    """The place of each entry of ``x`` among all of them, counted row by row.

    >>> positions(np.zeros((2, 2)))
    array([[0, 1],
           [2, 3]])
    """
    return np.reshape(_module(x).arange(np.size(x)), np.shape(x))


def units(x):
    """For each entry of ``x``, an array of zeros with a one there; for a number, a one.  Raises `TypeError` for others.

    >>> units(np.zeros(2))
    array([[1., 0.],
           [0., 1.]])
    """
    if isinstance(x, (list, tuple, dict)):
        raise TypeError("inside a function, a Jacobian is that of an array by an array: take containers part by part")
    dtype = np.result_type(_module(x).asarray(x).dtype, np.float16)
    return np.reshape(_module(x).eye(np.size(x), dtype=dtype), (np.size(x), *np.shape(x)))


def scatter(values, places, x):
    """Add ``values`` up at flat ``places`` in an array of the shape of ``x``: the adjoint of taking entries.

    >>> scatter(np.array([1.0, 2.0, 3.0]), np.array([0, 1, 1]), np.zeros(3))
    array([1., 5., 0.])
    """
    total = _module(x).zeros(np.size(x), _module(x).asarray(values).dtype)
    _module(x).add.at(total, places, values)
    return np.reshape(total, np.shape(x))


def taken(y_bar, partial):
    """``y_bar * partial``, and zero where the adjoint is zero and the partial is not a finite number: what was not
    taken by `np.where`, a mask or a bound.

    >>> taken(np.array([0.0, 2.0]), np.array([np.inf, 3.0]))
    array([0., 6.])
    """
    return y_bar * np.where((y_bar == 0) & ~np.isfinite(partial), 0, partial)[()]


def unpad(y, x, pad_width):
    """What `np.pad` was given: ``y`` without its margins, in the shape of ``x``.

    >>> unpad(np.arange(5.0), np.zeros(2), (1, 2))
    array([1., 2.])
    """
    if isinstance(pad_width, dict):
        every = [(0, 0)] * np.ndim(x)
        for axis, width in pad_width.items():
            every[axis] = np.broadcast_to(width, 2)
        pad_width = every
    margins = np.broadcast_to(pad_width, (np.ndim(x), 2))
    inside = tuple(slice(int(before), int(before) + n) for (before, _), n in zip(margins, np.shape(x), strict=True))
    return np.copy(y[inside])


def resized(y, x):
    """``y`` cut off, or continued by zeros, at the end of each axis, in the shape of ``x``.

    >>> resized(np.ones(2), np.zeros(4)), resized(np.ones(3), np.zeros(1))
    (array([1., 1., 0., 0.]), array([1.]))
    """
    both = tuple(slice(min(m, n)) for m, n in zip(np.shape(y), np.shape(x), strict=True))
    out = _module(y).zeros(np.shape(x), y.dtype)
    out[both] = y[both]
    return out


def recurrence(a, b):
    """``s`` with ``s[i] = a[i] * s[i - 1] + b[i]`` along the first axis, from ``s[-1] = 0``.

    >>> recurrence(np.array([5.0, 2.0, 3.0]), np.array([1.0, 1.0, 1.0]))
    array([ 1.,  3., 10.])
    """
    s = _module(b).zeros(np.broadcast_shapes(np.shape(a), np.shape(b)), np.result_type(a, b))
    for i in range(len(s)):
        s[i] = a[i] * s[i - 1] + b[i] if i else b[i]
    return s


def trapezoid_weights(y, x=None, dx=1.0, axis=-1):
    """The weight of each entry of ``y`` in `np.trapezoid`, in a shape that broadcasts to that of ``y``.

    >>> trapezoid_weights(np.zeros(3), np.array([0.0, 1.0, 3.0]))
    array([0.5, 1.5, 1. ])
    """
    n, rank = np.shape(y)[axis], np.ndim(y)
    if x is not None and np.ndim(x) == 1:
        x = np.reshape(x, [-1 if a == axis % rank else 1 for a in range(rank)])
    if x is None:
        widths = _module(y).full([max(n - 1, 0) if a == axis % rank else 1 for a in range(rank)], dx)
    else:
        widths = np.diff(x, axis=axis)
    none = _module(y).zeros([1 if a == axis % rank else m for a, m in enumerate(np.shape(widths))])
    return (np.concatenate([none, widths], axis=axis) + np.concatenate([widths, none], axis=axis)) / 2


def adjoint_of_gradient(y, axis=-1):
    """The adjoint of `np.gradient` with unit spacing along one axis.

    >>> adjoint_of_gradient(np.array([1.0, 2.0, 4.0]))
    array([-2., -3.,  5.])
    """
    y = np.moveaxis(y, axis, 0)
    x = np.zeros_like(y)
    x[2:] += y[1:-1] / 2
    x[:-2] -= y[1:-1] / 2
    x[1] += y[0]
    x[0] -= y[0]
    x[-1] += y[-1]
    x[-2] -= y[-1]
    return np.moveaxis(x, 0, axis)


def hermitian_weights(y, axis=-1):
    """How often `np.fft.irfft` counts each entry of its argument for the result ``y``: once or twice.

    >>> hermitian_weights(np.zeros(6)), hermitian_weights(np.zeros(5))
    (array([1., 2., 2., 1.]), array([1., 2., 2.]))
    """
    n = np.shape(y)[axis]
    weights = _module(y).full(n // 2 + 1, 2.0)
    weights[0] = 1
    if n % 2 == 0:
        weights[-1] = 1
    return np.reshape(weights, [-1 if a == axis % np.ndim(y) else 1 for a in range(np.ndim(y))])


def marks(x, *keys):
    """An array of flags of the shape of ``x``, which are true at the entries that a subscript in ``keys`` takes.

    >>> marks(np.zeros(4), 0, slice(2, None))
    array([ True, False,  True,  True])
    """
    flags = np.zeros_like(x, dtype=bool)
    for key in keys:
        flags[key] = True
    return flags


def cofactors(A):
    """The matrices of cofactors, ``det(A) * inv(A).T``, which singular matrices have as well.

    Parameters: ``A``, square matrices of shape (..., n, n).  Returns an array of that shape.  Where one is nearly
    singular, they are the products of those of the factors U, S and V of ``A = U @ S @ V`` (Horn and Johnson, Matrix
    Analysis, 2nd edition, 0.8.2: cofactors are multiplicative).

    >>> cofactors(np.array([[1.0, 2.0], [2.0, 4.0]])).round(12)
    array([[ 4., -2.],
           [-2.,  1.]])
    """
    try:
        inverse = np.linalg.inv(A)
        condition = np.linalg.norm(A, axis=(-2, -1)) * np.linalg.norm(inverse, axis=(-2, -1))
        if np.all(condition < 1e8):
            return np.linalg.det(A)[..., None, None] * np.swapaxes(inverse, -1, -2)
    except np.linalg.LinAlgError:
        pass
    U, s, V = np.linalg.svd(A)
    others = np.prod(np.where(_module(A).eye(np.shape(A)[-1], dtype=bool), 1.0, s[..., None, :]), axis=-1)
    unit = (np.linalg.det(U) * np.linalg.det(V))[..., None, None]
    return (unit * (np.conj(U) * others[..., None, :]) @ np.conj(V)).astype(A.dtype)
