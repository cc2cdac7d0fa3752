"""Functions whose result holds entries of their argument in other places.

Where the way back is not a function of NumPy's, the function itself is asked where each entry came from:
given the positions 0, 1, 2, ... in place of the entries, it gives the places at which its adjoint is added up.

Formulas: a linear function whose matrix has ones and zeros, of which the adjoint is the transpose.
"""

import numpy as np

from tangentc.errors import NotDifferentiable
from tangentc.ops.table import existing, say
from tangentc.rules.fragment import inline, is_changed, is_literal, is_square
from tangentc.rules.registry import adjoint_rule, tangent_rule, zero_gradient
from tangentc.runtime import last_written, marks, positions, resized, scatter, unpad


def calls(shape, *options):
    """Samples: an array of this shape, with each of several positional arguments or keywords."""
    return lambda rng: [
        ((rng.normal(size=shape), *(() if isinstance(o, dict) else o)), o if isinstance(o, dict) else {})
        for o in options
    ]


def several(*parts):
    return lambda rng: [sample for part in parts for sample in part(rng)]


zero_gradient(positions, marks)


# ------------------------------------------------------------------ whole axes
one_shift = calls((3, 4), (1,), (-1, 1), (2, 0))
shifts = several(one_shift, calls((3, 4), ((1, 2), (0, 1))), calls((0, 2), (1,)))


@adjoint_rule(np.roll, linear="jointly", samples=shifts)
def roll(x, shift, y, y_bar, axis=None):
    if np.ndim(shift) == 0:
        return np.roll(y_bar, -shift, axis=axis), None
    return np.roll(y_bar, np.negative(shift), axis=axis), None


@adjoint_rule(np.flip, linear="jointly", samples=calls((3, 4), {}, {"axis": 0}, {"axis": -1}, {"axis": (0, 1)}))
def flip(x, y, y_bar, axis=None):
    return np.flip(y_bar, axis)


@adjoint_rule(np.fliplr, linear="jointly", samples=calls((3, 4), {}))
def fliplr(x, y, y_bar):
    return np.fliplr(y_bar)


@adjoint_rule(np.flipud, linear="jointly", samples=calls((3, 4), {}))
def flipud(x, y, y_bar):
    return np.flipud(y_bar)


@adjoint_rule(np.rot90, linear="jointly", samples=calls((3, 4), {}, {"k": 2}, {"k": -1}, {"axes": (1, 0)}))
def rot90(x, y, y_bar, k=1, axes=(0, 1)):
    return np.rot90(y_bar, -k, axes)


@adjoint_rule(np.rollaxis, linear="jointly", samples=calls((2, 3, 4), (2,), (1,), (0, 3), (-1, 1), (0, -1)))
def rollaxis(x, axis, y, y_bar, start=0):
    return np.moveaxis(y_bar, *landing(axis, start, np.ndim(x))), None


def landing(axis, start, rank):
    """Where `np.rollaxis` puts an axis, and where it took it from."""
    axis, start = axis % rank, start + rank if start < 0 else start
    return (start - 1 if axis < start else start), axis


@adjoint_rule(*existing("matrix_transpose"), np.linalg.matrix_transpose, linear="jointly", samples=calls((2, 3, 4), {}))
def matrix_transpose(x, y, y_bar):
    return np.swapaxes(y_bar, -1, -2)


@adjoint_rule(
    np.atleast_1d, np.atleast_2d, np.atleast_3d,
    linear="jointly", samples=several(lambda rng: [((1.5,), {})], calls((3,), {}), calls((3, 2), {})),
)  # fmt: skip
def atleast(x, y, y_bar):
    return np.reshape(y_bar, np.shape(x))


@adjoint_rule(np.fft.fftshift, linear="jointly", samples=calls((3, 4), {}, {"axes": 0}, {"axes": (0, 1)}))
def fftshift(x, y, y_bar, axes=None):
    return np.fft.ifftshift(y_bar, axes)


@adjoint_rule(np.fft.ifftshift, linear="jointly", samples=calls((3, 4), {}, {"axes": 0}, {"axes": (0, 1)}))
def ifftshift(x, y, y_bar, axes=None):
    return np.fft.fftshift(y_bar, axes)


# ------------------------------------------------------------------ triangles and diagonals
triangles = several(calls((3, 4), {}, {"k": 1}, {"k": -2}), calls((2, 3, 3), {}), calls((3,), {}))


@adjoint_rule(np.triu, linear="jointly", samples=triangles)
def triu(x, y, y_bar, k=0):
    return np.triu(y_bar, k)


@adjoint_rule(np.tril, linear="jointly", samples=triangles)
def tril(x, y, y_bar, k=0):
    return np.tril(y_bar, k)


bands = [{}, {"k": 1}, {"k": -1}]


@adjoint_rule(np.diag, linear="jointly", samples=several(calls((3,), *bands), calls((3, 4), *bands)))
def diag(x, y, y_bar, k=0):
    if np.ndim(x) == 1:
        return np.diag(y_bar, k=k)
    if is_changed(x):
        return no_view()
    if is_square(x):
        return np.diag(y_bar, k=k)
    return scatter(y_bar, np.diag(positions(x), k), x)


@adjoint_rule(np.diagflat, linear="jointly", samples=several(calls((3,), *bands), calls((2, 2), {})))
def diagflat(x, y, y_bar, k=0):
    return np.reshape(np.diag(y_bar, k), np.shape(x))


def no_view():
    raise NotDifferentiable(
        "the diagonal of a matrix that is changed in place is not differentiated",
        why="it is memory of the matrix, and would change with it",
        way_out="take the diagonal of a copy, np.diag(A.copy())",
    )


planes = [{}, {"offset": 1}, {"offset": -1}]
spatial = calls((2, 3, 4), {}, {"axis1": 1, "axis2": 2}, {"axis1": -1, "axis2": 0, "offset": 1})


@adjoint_rule(np.diagonal, linear="jointly", samples=several(calls((3, 4), *planes), spatial))
def diagonal(x, y, y_bar, offset=0, axis1=0, axis2=1):
    return scatter(y_bar, np.diagonal(positions(x), offset, axis1, axis2), x)


@inline
def identity(x, offset):
    """The matrix of the shape of ``x`` with ones on a diagonal."""
    if offset == 0:
        return np.eye(np.shape(x)[0], np.shape(x)[1])
    return np.eye(np.shape(x)[0], np.shape(x)[1], k=offset)


@adjoint_rule(np.trace, linear="jointly", samples=several(calls((3, 4), *planes), spatial))
def trace(x, y, y_bar, offset=0, axis1=0, axis2=1):
    if np.ndim(x) == 2:
        return y_bar * identity(x, offset)
    return scatter(np.expand_dims(y_bar, -1), np.diagonal(positions(x), offset, axis1, axis2), x)


@adjoint_rule(np.linalg.diagonal, linear="jointly", samples=several(calls((3, 4), *planes), calls((2, 3, 4), {})))
def last_diagonal(x, y, y_bar, offset=0):
    return scatter(y_bar, np.diagonal(positions(x), offset, -2, -1), x)


@adjoint_rule(np.linalg.trace, linear="jointly", samples=several(calls((3, 4), *planes), calls((2, 3, 4), {})))
def last_trace(x, y, y_bar, offset=0):
    if np.ndim(x) == 2:
        return y_bar * identity(x, offset)
    return scatter(np.expand_dims(y_bar, -1), np.diagonal(positions(x), offset, -2, -1), x)


# ------------------------------------------------------------------ entries that are repeated, left out or chosen
repeats = several(calls((3, 2), (2,), (3, 0), (2, -1), ([1, 0, 2], 0)), calls((), (3,)))


@adjoint_rule(np.repeat, linear="jointly", samples=repeats)
def repeat(x, repeats, y, y_bar, axis=None):
    return scatter(y_bar, np.repeat(positions(x), repeats, axis=axis), x), None


@adjoint_rule(
    np.tile, linear="jointly", samples=several(calls((3, 2), (2,), ((2, 3),), ((2, 1, 3),)), calls((2,), (3,)))
)
def tile(x, reps, y, y_bar):
    return scatter(y_bar, np.tile(positions(x), reps), x), None


@adjoint_rule(np.resize, linear="jointly", samples=calls((2, 3), ((4, 2),), (4,), ((2, 2),)))
def resize(x, new_shape, y, y_bar):
    return scatter(y_bar, np.resize(positions(x), new_shape), x), None


chosen = several(
    calls((4, 3), ([0, 2, 2], 0), ([[1, 0], [2, -1]], 1), ([5, 0, 5],), (1,), (2, 0)),
    lambda rng: [((rng.normal(size=3), [0, 4]), {"mode": "clip"})],
)


@adjoint_rule(np.take, linear="jointly", samples=chosen)
def take(x, indices, y, y_bar, axis=None, mode="raise"):
    return scatter(y_bar, np.take(positions(x), indices, axis=axis, mode=mode), x), None


along_axis = calls((2, 3), (np.array([[0, 2, 2, 1], [1, 0, 0, 0]]), 1), (np.array([[1, 0, 0]]), 0))


@adjoint_rule(np.take_along_axis, linear="jointly", samples=along_axis)
def take_along_axis(x, indices, axis, y, y_bar):
    return scatter(y_bar, np.take_along_axis(positions(x), indices, axis), x), None, None


@adjoint_rule(
    np.compress,
    linear="jointly",
    samples=lambda rng: [
        (([True, False, True], rng.normal(size=(3, 4))), {"axis": 0}),
        (([False, True, True], rng.normal(size=4)), {}),
    ],
)
def compress(condition, x, y, y_bar, axis=None):
    return None, scatter(y_bar, np.compress(condition, positions(x), axis=axis), x)


@adjoint_rule(
    np.extract,
    linear="jointly",
    samples=lambda rng: [((np.array([[True, False], [True, True]]), rng.normal(size=(2, 2))), {})],
)
def extract(condition, x, y, y_bar):
    return None, scatter(y_bar, np.extract(condition, positions(x)), x)


@inline
def place_of(k, x):
    """Where an entry is inserted before the entry ``k``."""
    return k if is_literal(k) and k >= 0 else np.where(k < 0, k + np.size(x), k)


def one_entry(ranks, options):
    return list(ranks) == [1, 0, 0]


def entries(rng):
    return [((rng.normal(size=3), k, v), {}) for k, v in ((0, 1.5), (-1, -0.5), (3, 2.0))]


@adjoint_rule(np.insert, samples=entries, covers=one_entry, axis=(None,))
def insert(x, k, value, y, y_bar, axis=None):
    return np.delete(y_bar, place_of(k, x)), None, y_bar[place_of(k, x)]


@tangent_rule(np.insert)
def insert_tangent(x, k, value, y, x_dot, k_dot, value_dot, axis=None):
    return np.insert(x_dot, k, value_dot)


@adjoint_rule(np.delete, linear="jointly", samples=calls((3, 4), (1, 0), ([0, 2], 1), (-1,)))
def delete(x, obj, y, y_bar, axis=None):
    return scatter(y_bar, np.delete(positions(x), obj, axis=axis), x), None


def changing_windows():
    raise NotDifferentiable(
        "windows and strided views of an array that is changed in place are not differentiated",
        why="they are memory of the array, and would change with it",
        way_out="take them of a copy: sliding_window_view(x.copy(), ...)",
    )


def strided_places(x, shape, strides):
    """Which entry of ``x`` stands at each place of `numpy.lib.stride_tricks.as_strided`, by the memory of both."""
    x = np.asarray(x)
    shape, strides = (x.shape if shape is None else shape), (x.strides if strides is None else strides)
    own, wanted = offsets(x.shape, x.strides).ravel(), offsets(shape, strides)
    order = np.argsort(own, kind="stable")
    found = np.searchsorted(own[order], wanted)
    if wanted.size and not (found.max() < own.size and np.array_equal(own[order][found], wanted)):
        raise ValueError("np.lib.stride_tricks.as_strided reads memory that is no entry of the array that it is given")
    return order[found]


def offsets(shape, strides):
    """How many bytes behind the first entry of an array each entry lies."""
    out = np.zeros(tuple(shape), np.int64)
    for axis, step in enumerate(strides):
        out += np.arange(out.shape[axis]).reshape((-1,) + (1,) * (out.ndim - axis - 1)) * int(step)
    return out


say(strided_places, pure=True)
zero_gradient(strided_places)


def strided(rng):
    options: list[dict] = [
        {}, {"shape": (), "strides": ()}, {"shape": (2, 3), "strides": (0, 0)}, {"shape": (0, 2), "strides": (8, 8)},
    ]  # fmt: skip
    return [((rng.normal(size=6),), given) for given in options]


# the memory says where each entry is
@adjoint_rule(np.lib.stride_tricks.as_strided, samples=strided)
def as_strided(x, y, y_bar, shape=None, strides=None, subok=False, writeable=True):
    if is_changed(x):
        return changing_windows()
    return scatter(y_bar, strided_places(x, shape, strides), x)


@tangent_rule(np.lib.stride_tricks.as_strided)
def as_strided_tangent(x, y, x_dot, shape=None, strides=None, subok=False, writeable=True):
    if is_changed(x):
        return changing_windows()
    return np.take(x_dot, strided_places(x, shape, strides))


windows = several(
    calls((5,), (3,), (2,)), calls((3, 4), ((2, 2),)), lambda rng: [((rng.normal(size=(3, 4)), 2), {"axis": 1})]
)


@adjoint_rule(np.lib.stride_tricks.sliding_window_view, linear="jointly", samples=windows)
def sliding_window_view(x, window_shape, y, y_bar, axis=None):
    if is_changed(x):
        return changing_windows(), None
    return scatter(y_bar, np.lib.stride_tricks.sliding_window_view(positions(x), window_shape, axis), x), None


widths = calls((3, 4), (1,), ((1, 2),), (((1, 0), (0, 2)),))
modes = calls(
    (3, 4), *[{"pad_width": ((1, 2), (2, 1)), "mode": mode} for mode in ("edge", "reflect", "symmetric", "wrap")]
)
constants = calls((3,), {"pad_width": 2, "constant_values": 1.5})


COPYING = ("constant", "edge", "reflect", "symmetric", "wrap")


@adjoint_rule(np.pad, samples=several(widths, modes, constants), mode=COPYING)
def pad(x, pad_width, y, y_bar, mode="constant", constant_values=0):
    if mode == "constant":
        return unpad(y_bar, x, pad_width), None
    return scatter(y_bar, np.pad(positions(x), pad_width, mode=mode), x), None


@tangent_rule(np.pad)
def pad_tangent(x, pad_width, y, x_dot, mode="constant", constant_values=0):
    if mode == "constant":
        return np.pad(x_dot, pad_width)
    return np.pad(x_dot, pad_width, mode=mode)


# ------------------------------------------------------------------ order
def orders(rng):  # entries so far apart that differences do not change their order
    x = 0.3 * rng.permutation(12).reshape(3, 4) + 0.1
    return [((x,), o) for o in ({}, {"axis": 0}, {"axis": None})] + [((x[0],), {}), ((np.zeros((0, 2)),), {})]


@adjoint_rule(np.sort, samples=orders)
def sort(x, y, y_bar, axis=-1):
    order = np.argsort(x, axis=axis)
    sorted_back = np.take_along_axis(y_bar, np.argsort(order, axis=axis), axis)
    return np.reshape(sorted_back, np.shape(x)) if axis is None else sorted_back


@tangent_rule(np.sort)
def sort_tangent(x, y, x_dot, axis=-1):
    return np.take_along_axis(x_dot, np.argsort(x, axis=axis), axis)


# ------------------------------------------------------------------ the ways back have rules too
@adjoint_rule(
    scatter,
    linear="jointly",
    samples=lambda rng: [((rng.normal(size=4), np.array([0, 5, 5, 1]), np.zeros((2, 3))), {})],
)
def scatter_rule(values, places, x, y, y_bar):
    return np.take(y_bar, places), None, None


@adjoint_rule(unpad, linear="jointly", samples=lambda rng: [((rng.normal(size=5), np.zeros(2), (1, 2)), {})])
def unpad_rule(y, x, pad_width, z, z_bar):
    return np.pad(z_bar, pad_width), None, None


def sizes(rng):
    return [((rng.normal(size=(3, 2)), np.zeros((2, 4))), {}), ((rng.normal(size=3), np.zeros(3)), {})]


@adjoint_rule(resized, linear="jointly", samples=sizes)
def resized_rule(y, x, z, z_bar):
    return resized(z_bar, y), None


@adjoint_rule(last_written, linear="jointly", samples=lambda rng: [((rng.normal(size=4), np.array([2, 0, 2])), {})])
def last_written_rule(x_bar, key, y, y_bar):  # the entries that count are those that ones are kept at
    return scatter(last_written(np.ones_like(x_bar), key) * y_bar, positions(x_bar)[key], x_bar), None
