"""NumPy's functions: what they make, which memory it is, and what they take."""

import builtins
import copy
import math
import operator
import warnings

import numpy as np

from tangentc import runtime
from tangentc.ops.table import Op, existing, say

LIKE_THEIR_ARGUMENT: list[Op] = [
    np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.rollaxis, np.expand_dims, np.squeeze,
    np.asarray, np.asanyarray, np.ascontiguousarray, np.atleast_1d, np.atleast_2d, np.atleast_3d, np.real, np.imag,
    np.flip, np.fliplr, np.flipud, np.rot90, np.broadcast_to, np.broadcast_arrays, np.diagonal,
    np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit, np.lib.stride_tricks.sliding_window_view,
    np.lib.stride_tricks.as_strided,
    *existing("matrix_transpose", "permute_dims", "unstack"), np.linalg.matrix_transpose, np.linalg.diagonal,
]  # fmt: skip
say(*LIKE_THEIR_ARGUMENT, runtime.split_like, runtime.unbroadcast, view=True)
say(np.reshape, np.ravel, np.asarray, np.asanyarray, np.ascontiguousarray, may_copy=True)
say(np.reshape, np.ravel, np.ascontiguousarray, by_layout=True)
say(np.apply_along_axis, own_order=True)
say(np.real_if_close, np.trim_zeros, np.asfortranarray, np.ix_, np.diag, may_share=True)
say(
    np.diagonal, np.broadcast_to, np.broadcast_arrays, np.lib.stride_tricks.as_strided,
    np.lib.stride_tricks.sliding_window_view, read_only=True,
)  # fmt: skip
say(
    np.zeros, np.ones, np.empty, np.zeros_like, np.full_like, np.copy, copy.copy, copy.deepcopy, runtime.zeros_of,
    runtime.zeros_of_copy, runtime.copied, allocates=True,
)  # fmt: skip
say(runtime.copied, deep_copy=True)
say(np.errstate, np.printoptions, warnings.catch_warnings, only_settings=True)
say(np.where, np.clip, runtime.taken, runtime.real_power, elementwise=True)
say(np.shape, np.ndim, np.size, np.zeros_like, np.ones_like, np.empty_like, np.full_like, asks_form=True)
say(np.transpose, np.reshape, np.swapaxes, np.expand_dims, np.shape, np.arange, free=True)
say(np.zeros, np.ones, np.empty, np.full, np.arange, np.linspace, np.ascontiguousarray, compact=True)
say(
    builtins.set, np.histogram, np.histogram_bin_edges, np.histogram2d, np.histogramdd, np.unique, np.union1d,
    np.intersect1d, np.setdiff1d, np.setxor1d, new=True,
)  # fmt: skip

say(
    np.array, np.asarray, np.asanyarray, np.concatenate, np.stack, np.block, np.choose, np.piecewise, np.select,
    np.vstack, np.hstack, np.column_stack, np.dstack, np.linalg.multi_dot, builtins.sum, math.prod, math.fsum,
    math.dist, runtime.split_like, *existing("row_stack"), takes_items=True,
)  # fmt: skip
say(
    operator.matmul, np.matmul, np.dot, np.inner, np.outer, np.reshape, np.ravel, np.transpose, np.linalg.inv,
    np.linalg.solve, np.linalg.cholesky, np.linalg.det, np.tensordot, exact_adjoint=True,
)  # fmt: skip
say(np.sum, np.mean, np.prod, np.max, np.min, np.var, np.std, uniform=True)
say(
    np.concatenate, np.stack, np.vstack, np.hstack, np.column_stack, np.dstack, *existing("row_stack"),
    joins_arrays=True,
)  # fmt: skip
say(
    np.triu_indices, np.tril_indices, np.diag_indices, np.nonzero, np.triu_indices_from, np.tril_indices_from,
    distinct_places=True,
)  # fmt: skip

say(
    runtime.struct, runtime.unbroadcast, runtime.zeros_of, runtime.zeros_of_copy, runtime.once, runtime.shaped_like,
    runtime.reduce_to_shape, runtime.split_like, runtime.product_of_others, runtime.product_of_pairs,
    runtime.along_axis, runtime.copied, runtime.taken, runtime.last_written, runtime.positions, runtime.scatter,
    runtime.unpad, runtime.resized, runtime.recurrence, runtime.insertion, runtime.trapezoid_weights,
    runtime.adjoint_of_gradient, runtime.hermitian_weights, runtime.require_unchanged, runtime.require_bound,
    runtime.require_count, runtime.require_without_gaps, runtime.require_real, runtime.require_scalar,
    runtime.require_shape, runtime.passive, runtime.or_zero, runtime.order, runtime.cofactors, runtime.marks,
    runtime.first_state, runtime.quantile_shares, runtime.quantile_steps, pure=True,
)  # fmt: skip
say(runtime.quantile_shares, runtime.quantile_steps, keeps_shape=True)
say(runtime.snapshots, runtime.last_state, runtime.first_state, new=True)
say(runtime.keep_state, runtime.last_state, changes=True)
