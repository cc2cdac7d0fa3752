"""Functions that join arrays, and functions that cut one into a list of parts.

Formulas: a linear function whose matrix has ones and zeros, of which the adjoint is the transpose.
"""

import numpy as np

from tangentc.ops.table import existing
from tangentc.rules.fragment import inline
from tangentc.rules.registry import adjoint_rule, tangent_rule
from tangentc.runtime import split_like


def lists_of(*shapes):
    return lambda rng: [(([rng.normal(size=a), rng.normal(size=b)],), {}) for a, b in shapes]


@inline
def parts(y_bar, arrays, blocks, axis):
    """The parts of ``y_bar`` that came from ``arrays``, which were joined as ``blocks``."""
    cut = split_like(y_bar, blocks, axis)
    return [np.reshape(cut[k], np.shape(a)) for k, a in enumerate(arrays)]


@adjoint_rule(
    np.vstack, *existing("row_stack"), linear="jointly",
    samples=lists_of((3, 3), ((2, 3), 3), ((2, 3), (1, 3)), ((), ())),
)  # fmt: skip
def vstack(arrays, y, y_bar):
    return parts(y_bar, arrays, [np.atleast_2d(a) for a in arrays], 0)


@adjoint_rule(np.hstack, linear="jointly", samples=lists_of((3, 2), ((2, 3), (2, 1)), ((), ())))
def hstack(arrays, y, y_bar):
    return parts(y_bar, arrays, [np.atleast_1d(a) for a in arrays], 0 if np.ndim(y) == 1 else 1)


@adjoint_rule(np.column_stack, linear="jointly", samples=lists_of((3, 3), ((3, 2), 3), ((2, 3), (2, 1))))
def column_stack(arrays, y, y_bar):
    return parts(y_bar, arrays, [a if np.ndim(a) >= 2 else np.reshape(a, (-1, 1)) for a in arrays], 1)


@adjoint_rule(np.dstack, linear="jointly", samples=lists_of((3, 3), ((2, 3), (2, 3)), ((2, 3, 2), (2, 3, 1))))
def dstack(arrays, y, y_bar):
    return parts(y_bar, arrays, [np.atleast_3d(a) for a in arrays], 2)


def appended(rng):
    n = rng.normal
    return [
        ((n(size=3), n(size=2)), {}),
        ((n(size=(2, 3)), 1.5), {}),
        ((n(size=(2, 3)), n(size=(2, 1))), {"axis": 1}),
        ((n(size=3), 1), {}),
    ]


@adjoint_rule(np.append, samples=appended)
def append(x, values, y, y_bar, axis=None):
    return split_like(y_bar, [x, values], axis)[0], split_like(y_bar, [x, values], axis)[1]


@tangent_rule(np.append)
def append_tangent(x, values, y, x_dot, values_dot, axis=None):
    return np.append(x_dot, values_dot, axis=axis)


def cuts(shape, *sections):
    return lambda rng: [((rng.normal(size=shape), *s), {}) for s in sections]


@adjoint_rule(np.split, np.array_split, linear="jointly", samples=cuts((4, 6), (2,), ([1, 3],), (3, 1), ([2], -1)))
def split(x, indices_or_sections, parts, parts_bar, axis=0):
    return np.concatenate(parts_bar, axis=axis), None


@adjoint_rule(np.vsplit, linear="jointly", samples=cuts((4, 6), (2,), ([1, 3],)))
def vsplit(x, indices_or_sections, parts, parts_bar):
    return np.concatenate(parts_bar, axis=0), None


@adjoint_rule(np.hsplit, linear="jointly", samples=lambda rng: cuts((4, 6), (2,), ([1, 3],))(rng) + cuts(4, (2,))(rng))
def hsplit(x, indices_or_sections, parts, parts_bar):
    return np.concatenate(parts_bar, axis=0 if np.ndim(x) == 1 else 1), None


@adjoint_rule(np.dsplit, linear="jointly", samples=cuts((2, 3, 4), (2,), ([1, 3],)))
def dsplit(x, indices_or_sections, parts, parts_bar):
    return np.concatenate(parts_bar, axis=2), None


@adjoint_rule(
    *existing("unstack"),
    linear="jointly",
    samples=lambda rng: [((rng.normal(size=(3, 2)),), {}), ((rng.normal(size=(3, 2)),), {"axis": 1})],
)
def unstack(x, parts, parts_bar, axis=0):
    return np.stack(parts_bar, axis=axis)


def axes(rng):
    a, b, c = rng.normal(size=3), rng.normal(size=2), rng.normal(size=4)
    return [((a, b), {}), ((a, b), {"indexing": "ij"}), ((a, b, c), {}), ((a,), {}), ((a, 1.5), {})]


def other_axes(k, count, indexing):
    """The axes of a grid along which the k-th array does not change."""
    own = 1 - k if indexing == "xy" and k < 2 <= count else k
    return tuple(a for a in range(count) if a != own)


@adjoint_rule(np.meshgrid, linear="jointly", samples=axes)
def meshgrid(*arrays, grids, grids_bar, indexing="xy"):
    return [
        np.reshape(np.sum(grids_bar[k], axis=other_axes(k, len(arrays), indexing)), np.shape(x))
        for k, x in enumerate(arrays)
    ]
