"""Triangular factors of SciPy's `lu`, `lu_factor`, and systems that are solved by them.

Formulas: de Hoog, Anderssen and Lukas, "Differentiation of matrix functionals using triangular factorization" (2011).
"""

import numpy as np
import scipy.linalg as sl

from tangentc.errors import NotDifferentiable
from tangentc.ops.table import say
from tangentc.rules.fragment import inline
from tangentc.rules.registry import adjoint_rule, defined, static, tangent_rule


@static
def one_matrix(rank, name):
    """Whether a stack of matrices is given: it is refused."""
    if rank != 2:
        raise NotDifferentiable(
            f"scipy.linalg.{name} of a stack of matrices", why="its rule is for one matrix",
            way_out=f"use np.linalg.{name} if there is one, or write a loop",
        )  # fmt: skip
    return True


@inline
def unit_lower(F):
    return np.tril(F, -1) + np.eye(np.shape(F)[0])


# P A = L U        with F = L^-1 P A_dot U^-1: the strict lower triangle is L tril(F, -1), the upper one triu(F) U
@adjoint_rule(sl.lu_factor, covers=lambda ranks, options: ranks[0] == 2)
def lu_factor(A, y, y_bar):
    F = y[0]
    of_L = unit_lower(F).T @ np.tril(y_bar[0], -1)
    of_U = np.triu(y_bar[0]) @ np.triu(F).T
    left = sl.solve_triangular(F, np.tril(of_L, -1) + np.triu(of_U), trans=1, lower=True, unit_diagonal=True)
    rows = sl.solve_triangular(F, left.T, trans=0, lower=False).T
    return rows[np.argsort(row_order(y[1]))]


@tangent_rule(sl.lu_factor)
def lu_factor_tangent(A, y, A_dot):
    F = y[0]
    left = sl.solve_triangular(F, A_dot[row_order(y[1])], lower=True, unit_diagonal=True)
    inner = sl.solve_triangular(F, left.T, trans=1, lower=False).T
    return unit_lower(F) @ np.tril(inner, -1) + np.triu(inner) @ np.triu(F), np.zeros_like(y[1])


@defined(sl.lu_factor)
def factor_lu(a, overwrite_a=False, check_finite=True):
    return sl.lu_factor(a)


def row_order(pivots):
    """The permutation that the row interchanges of LAPACK make together."""
    order = np.arange(len(pivots))
    for k, other in enumerate(pivots):
        order[[k, other]] = order[[other, k]]
    return order


say(row_order, pure=True)


# A = P L U, by lu_factor
@defined(sl.lu)
def lu(a, permute_l=False, *, p_indices=False):
    one_matrix(np.ndim(a), "lu")
    n = np.shape(a)[0]
    if np.shape(a)[1] != n:
        raise ValueError("scipy.linalg.lu is differentiated for a square matrix")
    packed, pivots = sl.lu_factor(a)
    order = row_order(pivots)
    L, U = np.tril(packed, -1) + np.eye(n), np.triu(packed)
    if permute_l:
        return L[np.argsort(order)], U
    return np.argsort(order) if p_indices else np.eye(n)[:, order], L, U


@defined(sl.lu_solve)
def lu_solve(lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True):
    lu, pivots = lu_and_piv
    order = row_order(pivots)
    if trans == 0:
        half = sl.solve_triangular(lu, b[order], lower=True, unit_diagonal=True)
        return sl.solve_triangular(lu, half, lower=False)
    half = sl.solve_triangular(lu, b, trans, lower=False)
    return sl.solve_triangular(lu, half, trans, lower=True, unit_diagonal=True)[np.argsort(order)]
