"""Singular values and vectors.

Formulas: Townsend, "Differentiating the singular value decomposition" (2016), and for complex matrices Wan and Zhang,
"Automatic differentiation for complex valued SVD" (2019).
"""

import numpy as np

from tangentc.rules.fragment import inline, is_real, is_zero
from tangentc.rules.matrices import (
    adjugate,
    conjugate,
    diagonal_matrix,
    divided,
    of_any_shape,
    on_the_diagonal,
    regular,
    skew,
    turned_over,
)
from tangentc.rules.registry import adjoint_rule, tangent_rule

Singular = type(np.linalg.svd(np.eye(1)))


def factorised(rng):
    shapes = [(3, 2), (2, 3), (3, 3), (2, 3, 2)]
    arrays = [regular(rng, *shape) for shape in shapes]
    return [((a,), {"full_matrices": False}) for a in arrays] + [
        ((arrays[0],), {"full_matrices": False, "compute_uv": False})
    ]


@inline
def turning(M, s):
    """The part of the diagonal that turns a complex vector."""
    return 0 * M if is_real(M) else 1j * diagonal_matrix(np.imag(on_the_diagonal(M)) / s)


# A = U diag(s) V^H, k = min(m, n) distinct singular values
@inline
def svd_back(A, U, s, Vh, U_adjoint, s_bar, Vh_adjoint):
    """The adjoint of a matrix from those of its singular vectors and values."""
    if is_zero(U_adjoint) and is_zero(Vh_adjoint):
        return conjugate(U * np.expand_dims(s_bar, -2) @ Vh)
    row = np.expand_dims(s, -2)
    column = np.expand_dims(s, -1)
    U_bar = conjugate(U_adjoint)
    Vh_bar = conjugate(Vh_adjoint)
    of_U = adjugate(U) @ U_bar
    of_V = Vh @ turned_over(Vh_bar, A)
    inner = divided(skew(of_U, A), s**2) * row + column * divided(skew(of_V, A), s**2) + diagonal_matrix(s_bar)
    beside_U = (U_bar - U @ of_U) / row
    beside_V = (Vh_bar - turned_over(of_V, A) @ Vh) / column
    if is_real(A):
        return (U @ inner + beside_U) @ Vh + U @ beside_V
    return conjugate((U @ (inner + turning(of_U, s)) + beside_U) @ Vh + U @ beside_V)


@inline
def svd_moves(A, U, s, Vh, A_dot):
    """The tangents of the singular vectors and values."""
    row = np.expand_dims(s, -2)
    column = np.expand_dims(s, -1)
    inner = adjugate(U) @ A_dot @ adjugate(Vh)
    of_U = divided(inner * row + column * turned_over(inner, A), s**2)
    of_V = divided(column * inner + turned_over(inner, A) * row, s**2)
    beside_U = (A_dot @ adjugate(Vh) - U @ inner) / row
    beside_V = (adjugate(U) @ A_dot - inner @ Vh) / column
    turns = of_U if is_real(A) else of_U + turning(inner, s)
    s_dot = np.copy(np.real(on_the_diagonal(inner)))  # a diagonal cannot be written
    return U @ turns + beside_U, s_dot, turned_over(of_V, A) @ Vh + beside_V


@inline
def values_back(factors, s_bar):
    """The adjoint of a matrix from that of its singular values."""
    return conjugate(factors[0] * np.expand_dims(s_bar, -2) @ factors[2])


@inline
def values_move(factors, A_dot):
    """The tangent of the singular values."""
    return np.real(on_the_diagonal(adjugate(factors[0]) @ A_dot @ adjugate(factors[2])))


@adjoint_rule(np.linalg.svd, samples=factorised, full_matrices=(False,))
def svd(A, y, y_bar, full_matrices=True, compute_uv=True):
    if not compute_uv:
        return values_back(np.linalg.svd(A, full_matrices=False), y_bar)
    return svd_back(A, y[0], y[1], y[2], y_bar[0], y_bar[1], y_bar[2])


@tangent_rule(np.linalg.svd)
def svd_tangent(A, y, A_dot, full_matrices=True, compute_uv=True):
    if not compute_uv:
        return values_move(np.linalg.svd(A, full_matrices=False), A_dot)
    return Singular(*svd_moves(A, y[0], y[1], y[2], A_dot))


@adjoint_rule(np.linalg.svdvals, samples=of_any_shape)
def svdvals(A, s, s_bar):
    return values_back(np.linalg.svd(A, full_matrices=False), s_bar)


@tangent_rule(np.linalg.svdvals)
def svdvals_tangent(A, s, A_dot):
    return values_move(np.linalg.svd(A, full_matrices=False), A_dot)
