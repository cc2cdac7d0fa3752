"""What functions of NumPy compute: products of matrices and linear algebra."""

from __future__ import annotations

import math

import numpy as np

from tangentc.core.ops import stopped as stop_gradient
from tangentc.rules.definitions import axes_in
from tangentc.rules.definitions.shapes import with_axes
from tangentc.rules.matrices import beyond_columns
from tangentc.rules.registry import defined, static


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


@static
def is_in_order(axes):
    return axes == tuple(range(len(axes)))


def turned(x, axes):
    return x if is_in_order(axes) else np.transpose(x, axes)


@defined(np.tensordot, np.linalg.tensordot)
def tensordot(a, b, axes=2):
    over = contracted(axes if isinstance(axes, int) else (tuple_of(axes[0]), tuple_of(axes[1])), np.ndim(a), np.ndim(b))
    A = turned(a, kept(over[0], np.ndim(a)) + over[0])
    B = turned(b, over[1] + kept(over[1], np.ndim(b)))
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
    cut = None if rcond is None or rcond == -1 else rcond
    x = np.linalg.pinv(a, rcond=cut) @ b
    rank = np.linalg.matrix_rank(stop_gradient(a), rtol=cut)
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
    rows, columns = np.shape(a)[-2], np.shape(a)[-1]
    Q, R = np.linalg.qr(a)
    if mode == "r":
        return R
    if mode == "reduced" or rows <= columns:
        return np.linalg.qr(a)
    below = np.zeros(np.shape(a)[:-2] + (rows - columns, columns))
    return np.concatenate([Q, beyond_columns(a)], axis=-1), np.concatenate([R, below], axis=-2)


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
    A = a if axes is None else np.moveaxis(a, axes, axes_in(-len(axes), 0))
    return np.reshape(np.linalg.solve(np.reshape(A, (np.size(b), -1)), np.ravel(b)), np.shape(A)[np.ndim(b) :])


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
