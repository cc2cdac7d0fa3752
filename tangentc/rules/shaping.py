"""Functions that move entries: the adjoint moves them back.

Formulas: a linear function whose matrix has ones and zeros, of which the adjoint is the transpose.
"""

import builtins

import numpy as np

from tangentc.core.ops import item
from tangentc.ops.table import existing
from tangentc.rules.fragment import inline
from tangentc.rules.registry import adjoint_rule, tangent_rule, zero_gradient
from tangentc.runtime import (
    along_axis,
    insertion,
    or_zero,
    order,
    passive,
    plus,
    reduce_to_shape,
    split_like,
    unbroadcast,
    zeros_of,
    zeros_of_copy,
)


def one_array(*options):
    return lambda rng: [((rng.normal(size=(3, 4)), *positional), named) for positional, named in options]


@adjoint_rule(
    np.reshape, linear="jointly", samples=one_array((((4, 3),), {}), ((-1,), {}), (((2, -1),), {})), order=("C", "F")
)
def reshape(x, shape, y, y_bar, order="C", copy=None):
    return np.reshape(y_bar, np.shape(x), order=order), None


@adjoint_rule(np.ravel, linear="jointly", samples=one_array(((), {})), order=("C", "F"))
def ravel(x, y, y_bar, order="C"):
    return np.reshape(y_bar, np.shape(x), order=order)


@adjoint_rule(np.transpose, linear="jointly", samples=one_array(((), {}), (((1, 0),), {}), ((), {"axes": (1, 0)})))
def transpose(x, y, y_bar, axes=None):
    if axes is None:
        return np.transpose(y_bar)
    return np.transpose(y_bar, inverse_permutation(axes))


def inverse_permutation(axes):
    return tuple(builtins.int(i) for i in np.argsort([a % len(axes) for a in axes]))


@adjoint_rule(np.swapaxes, linear="jointly", samples=one_array(((0, 1), {})))
def swapaxes(x, axis1, axis2, y, y_bar):
    return np.swapaxes(y_bar, axis1, axis2), None, None


@adjoint_rule(np.moveaxis, linear="jointly", samples=one_array(((0, 1), {})))
def moveaxis(x, source, destination, y, y_bar):
    return np.moveaxis(y_bar, destination, source), None, None


@adjoint_rule(np.expand_dims, linear="jointly", samples=one_array(((0,), {}), ((-1,), {}), (((0, 2),), {})))
def expand_dims(x, axis, y, y_bar):
    return np.reshape(y_bar, np.shape(x)), None


@adjoint_rule(
    np.squeeze,
    linear="jointly",
    samples=lambda rng: [((rng.normal(size=(3, 1, 2)),), {}), ((rng.normal(size=(1, 3)),), {"axis": 0})],
)
def squeeze(x, y, y_bar, axis=None):
    return np.reshape(y_bar, np.shape(x)) if axis is None else np.expand_dims(y_bar, axis)


@adjoint_rule(
    np.broadcast_to,
    linear="jointly",
    samples=one_array((((2, 3, 4),), {}))
    and (lambda rng: [((rng.normal(size=(3, 1)), (2, 3, 4)), {}), ((1.5, (2,)), {})]),
)
def broadcast_to(x, shape, y, y_bar):
    return reduce_to_shape(y_bar, np.shape(x)), None


@inline
def position(y_bar, axis, k):
    """The k-th part of the result along the axis on which parts were stacked."""
    if axis == 0:
        return y_bar[k]
    return np.moveaxis(y_bar, axis, 0)[k]


def several_arrays(rng):
    a, b = rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
    empty = np.zeros((0, 3))
    return [(([a, b],), {}), (((a, b),), {"axis": 1}), (([a, b],), {"axis": -1}), (([empty, empty],), {})]


@adjoint_rule(np.concatenate, linear="jointly", samples=several_arrays)
def concatenate(arrays, y, y_bar, axis=0):
    return split_like(y_bar, arrays, axis)


@adjoint_rule(np.stack, linear="jointly", samples=several_arrays)
def stack(arrays, y, y_bar, axis=0):
    if axis == 0:
        return y_bar
    return [position(y_bar, axis, k) for k, _ in enumerate(arrays)]


@adjoint_rule(*existing("astype"), linear="jointly", samples=lambda rng: [((rng.normal(size=3), np.float64), {})])
def astype(x, dtype, y, y_bar):
    return y_bar, None


def items(rng):
    return [(([1.5, -2.0, 0.5],), {}), (([rng.normal(size=2), rng.normal(size=2)],), {}), ((rng.normal(size=3),), {})]


@adjoint_rule(np.array, linear="jointly", samples=items)
def array(x, y, y_bar, copy=True):
    return y_bar


@adjoint_rule(np.asarray, linear="jointly", samples=items)
def as_array(x, y, y_bar, order=None, copy=None):
    return y_bar


@adjoint_rule(np.copy, linear="jointly", samples=one_array(((), {}), ((), {"order": "K"})))
def copy_of_array(x, y, y_bar, order="K"):
    return y_bar


@adjoint_rule(
    np.ascontiguousarray,
    builtins.float,
    np.float64,
    linear="jointly",
    samples=one_array(((), {})) and (lambda rng: [((1.5,), {})]),
)
def copy(x, y, y_bar):
    return y_bar


@adjoint_rule(item, linear="jointly", samples=lambda rng: [((rng.normal(size=k),), {}) for k in ((1, 1), ())])
def only_item(x, y, y_bar):
    return y_bar if np.ndim(x) == 0 else np.full_like(x, y_bar)


@adjoint_rule(np.full, linear="jointly", samples=lambda rng: [(((2, 3), 1.5), {})])
def full(shape, fill_value, y, y_bar):
    return None, np.sum(y_bar) if np.ndim(fill_value) == 0 else reduce_to_shape(y_bar, np.shape(fill_value))


@adjoint_rule(np.full_like, samples=lambda rng: [((np.ones((2, 3)), 1.5), {}), ((np.ones((2, 3)), 1), {})])
def full_like(x, fill_value, y, y_bar):
    return None, np.sum(y_bar) if np.ndim(fill_value) == 0 else reduce_to_shape(y_bar, np.shape(fill_value))


@tangent_rule(np.full_like)
def full_like_tangent(x, fill_value, y, x_dot, fill_value_dot):
    return np.full_like(x, fill_value_dot)


def reduced(rng):
    return [((rng.normal(size=(3, 4)), (4,)), {})]


# what emitted code calls has rules too, so that it can be differentiated again
@adjoint_rule(reduce_to_shape, linear="jointly", samples=reduced)
def reduce_to_shape_rule(x, shape, y, y_bar):
    return np.broadcast_to(y_bar, np.shape(x)), None


@adjoint_rule(unbroadcast, linear="jointly", samples=lambda rng: [((rng.normal(size=(3, 4)), rng.normal(size=4)), {})])
def unbroadcast_rule(x_bar, x, y, y_bar):  # it sums or it expands, and its adjoint does the other
    return unbroadcast(y_bar, x_bar), None


@adjoint_rule(or_zero, linear="jointly", samples=lambda rng: [((rng.normal(size=3), rng.normal(size=3)), {})])
def or_zero_rule(x_dot, x, y, y_bar):
    return y_bar, None


@adjoint_rule(split_like, linear="jointly", samples=lambda rng: [((rng.normal(size=5), [np.ones(2), np.ones(3)]), {})])
def split_like_rule(x, arrays, y, y_bar, axis=0):
    return np.concatenate(y_bar, axis=axis), None


@adjoint_rule(plus, linear="jointly", samples=lambda rng: [((rng.normal(size=3), rng.normal(size=3)), {})])
def plus_rule(x_bar, contribution, y, y_bar):
    return y_bar, y_bar


zero_gradient(
    np.ndindex, insertion, order, passive, zeros_of, zeros_of_copy, along_axis, np.shape, np.ndim, np.size,
    *existing("broadcast_shapes", "may_share_memory", "shares_memory", "result_type"),
)  # fmt: skip
