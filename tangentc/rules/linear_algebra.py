"""Products of matrices and vectors.

Formulas: Giles, "An extended collection of matrix derivative results for forward and reverse mode
algorithmic differentiation" (2008), section 2.
"""

import operator

import numpy as np

from tangentc.runtime import einsum_adjoint
from tangentc.rules.fragment import inline
from tangentc.rules.registry import adjoint_rule


def matrix_pairs(rng):
    n = rng.normal
    shapes = [((3, 4), (4, 2)), ((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 2)), ((2, 3, 4), (2, 4, 2)), ((2, 3, 4), (4, 2))]
    return [((n(size=a), n(size=b)), {}) for a, b in shapes + [((2, 3, 4), (4,)), ((4,), (2, 4, 3)), ((1, 3, 4), (2, 4, 2))]]


@inline
def transposed(A):
    if np.ndim(A) == 2:
        return A.T
    return np.swapaxes(A, -1, -2)


# Y = A @ B        A_bar = Y_bar B^T      B_bar = A^T Y_bar
@adjoint_rule(operator.matmul, np.matmul, linear="each", samples=matrix_pairs)
def matmul(A, B, Y, Y_bar):
    if np.ndim(A) == 1 and np.ndim(B) == 1:
        return Y_bar * B, Y_bar * A
    if np.ndim(B) == 1:
        A_bar = np.outer(Y_bar, B) if np.ndim(A) == 2 else np.expand_dims(Y_bar, -1) * B
        B_bar = transposed(A) @ Y_bar if np.ndim(A) == 2 else (transposed(A) @ np.expand_dims(Y_bar, -1))[..., 0]
        return A_bar, B_bar
    if np.ndim(A) == 1:
        A_bar = B @ Y_bar if np.ndim(B) == 2 else (B @ np.expand_dims(Y_bar, -1))[..., 0]
        B_bar = np.outer(A, Y_bar) if np.ndim(B) == 2 else np.expand_dims(A, -1) * np.expand_dims(Y_bar, -2)
        return A_bar, B_bar
    return Y_bar @ transposed(B), transposed(A) @ Y_bar


def dot_pairs(rng):
    n = rng.normal
    shapes = [((3, 4), (4, 2)), ((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 2)), ((2, 3, 4), (4, 2)), ((3, 4), (2, 4, 3))]
    return [((n(size=a), n(size=b)), {}) for a, b in shapes] + [((1.5, n(size=3)), {})]


# Y[i.., j.., l] = sum_k A[i.., k] B[j.., k, l]
@adjoint_rule(np.dot, linear="each", samples=dot_pairs)
def dot(A, B, Y, Y_bar):
    if np.ndim(A) == 0 or np.ndim(B) == 0 or np.ndim(A) == 1 and np.ndim(B) == 1:
        return Y_bar * B, Y_bar * A
    if np.ndim(A) == 2 and np.ndim(B) == 2:
        return Y_bar @ B.T, A.T @ Y_bar
    if np.ndim(B) == 1:
        A_bar = np.expand_dims(Y_bar, -1) * B
        B_bar = np.tensordot(Y_bar, A, axes=np.ndim(A) - 1)
        return A_bar, B_bar
    A_bar = np.tensordot(Y_bar, np.moveaxis(B, -2, -1), axes=np.ndim(B) - 1)
    B_bar = np.moveaxis(np.tensordot(np.moveaxis(A, -1, 0), Y_bar, axes=np.ndim(A) - 1), 0, -2)
    return A_bar, B_bar


def vector_pairs(rng):
    return [((rng.normal(size=3), rng.normal(size=4)), {}), ((rng.normal(size=(2, 3)), rng.normal(size=4)), {})]


@adjoint_rule(np.outer, linear="each", samples=vector_pairs)
def outer(a, b, Y, Y_bar):
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return Y_bar @ b, a @ Y_bar
    return np.reshape(Y_bar @ np.ravel(b), np.shape(a)), np.reshape(np.ravel(a) @ Y_bar, np.shape(b))


@adjoint_rule(np.inner, linear="each", samples=vector_pairs and (lambda rng: [((rng.normal(size=3), rng.normal(size=3)), {})]))
def inner(a, b, y, y_bar):
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return y_bar * b, y_bar * a
    return np.tensordot(y_bar, b, axes=np.ndim(b) - 1), np.tensordot(np.moveaxis(y_bar, range(np.ndim(a) - 1), range(-np.ndim(a) + 1, 0)), a, axes=np.ndim(a) - 1)


def contractions(rng):
    n = rng.normal
    return [
        (("ij,jk->ik", n(size=(2, 3)), n(size=(3, 4))), {}),
        (("bij,bjk->bik", n(size=(2, 2, 3)), n(size=(2, 3, 2))), {}),
        (("ij->j", n(size=(2, 3))), {}),
        (("ij,ij->", n(size=(2, 3)), n(size=(2, 3))), {}),
        (("i,j,k->ijk", n(size=2), n(size=3), n(size=2)), {}),
        (("ij,jk", n(size=(2, 3)), n(size=(3, 4))), {}),
        (("ij,k->ik", n(size=(2, 3)), n(size=4)), {}),
    ]


# each operand's adjoint is the contraction of the result's adjoint with the other operands
@adjoint_rule(np.einsum, linear="each", samples=contractions)
def einsum(subscripts, *operands, Y, Y_bar):
    return None, [einsum_adjoint(subscripts, k, Y_bar, operands) for k, _ in enumerate(operands)]
