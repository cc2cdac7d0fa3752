"""The linear algebra of SciPy: systems, factorisations and functions of matrices.

Formulas: Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation"
(2008), where no other source is named.
"""

import numpy as np
import scipy.linalg as sl

from tangentc.core.ops import stopped as stop_gradient
from tangentc.errors import NotDifferentiable, TurnedComplex
from tangentc.ops.table import say
from tangentc.rules.definitions.products import lstsq as least_squares
from tangentc.rules.fragment import inline, is_real
from tangentc.rules.linear_algebra import transposed
from tangentc.rules.matrices import adjugate, divided, on_the_diagonal, pairs_back, read_back
from tangentc.rules.matrices import as_read as triangle_read
from tangentc.rules.registry import adjoint_rule, defined, static, tangent_rule
from tangentc.rules.scipy import matrix_equations  # noqa: F401
from tangentc.rules.scipy.lu import one_matrix
from tangentc.rules.singular_values import svd_back, svd_moves, values_back, values_move


@inline
def outer(x, y):
    """The sum over the columns of what ``x`` and ``y`` make together."""
    return np.outer(x, y) if np.ndim(x) == 1 else x @ transposed(y)


# ------------------------------------------------------------------ systems
def as_read(a, assume_a, lower):
    """The matrix that is meant where only a part of ``a`` is read."""
    if assume_a in ("sym", "symmetric"):
        return np.tril(a) + np.tril(a, -1).T if lower else np.triu(a) + np.triu(a, 1).T
    if assume_a in ("her", "hermitian", "pos", "positive definite"):
        half = np.tril(a, -1) if lower else np.triu(a, 1)
        return half + np.conj(half).T + np.diag(np.real(np.diagonal(a)))
    if assume_a == "upper triangular":
        return np.triu(a)
    if assume_a == "lower triangular":
        return np.tril(a)
    if assume_a == "diagonal":
        return np.diag(np.diagonal(a))
    if assume_a == "tridiagonal":
        return np.tril(np.triu(a, -1), 1)
    return a


@defined(sl.solve)
def solve(a, b, lower=False, overwrite_a=False, overwrite_b=False, check_finite=True, assume_a=None, transposed=False):
    one_matrix(np.ndim(a), "solve")
    matrix = as_read(a, assume_a, lower)
    return np.linalg.solve(matrix.T if transposed else matrix, b)


@defined(sl.inv)
def inv(a, overwrite_a=False, check_finite=True, *, assume_a=None, lower=False):
    return np.linalg.inv(a if assume_a is None else as_read(a, assume_a, lower))


@defined(sl.det)
def det(a, overwrite_a=False, check_finite=True):
    return np.linalg.det(a)


@defined(sl.pinv)
def pinv(a, *, atol=None, rtol=None, return_rank=False, check_finite=True):
    return np.linalg.pinv(a)


@defined(sl.norm)
def norm(a, ord=None, axis=None, keepdims=False, check_finite=True):
    return np.linalg.norm(a, ord=ord, axis=axis, keepdims=keepdims)


# of full rank: with the pseudoinverse, as np.linalg.lstsq; the gelsy driver, which gives no singular values, is refused
@defined(sl.lstsq)
def lstsq(a, b, cond=None, *, check_finite=True):
    one_matrix(np.ndim(a), "lstsq")
    x, squares, rank, values = least_squares(a, b, cond)
    if rank < min(np.shape(a)):
        raise ValueError("scipy.linalg.lstsq is differentiated for a matrix of full rank")
    return x, squares if np.ndim(b) > 1 or len(squares) == 0 else squares[0], rank, values


@inline
def triangle(M, lower, unit_diagonal):
    """The part of a matrix that `scipy.linalg.solve_triangular` reads."""
    k = 1 if unit_diagonal else 0
    return np.tril(M, -k) if lower else np.triu(M, k)


# op(A) x = b        b_bar = op(A)^-T x_bar        A_bar = -b_bar x^T, or its transpose
@adjoint_rule(
    sl.solve_triangular, trans=(0, 1, "N", "T"), lower=(True, False), unit_diagonal=(True, False),
    covers=lambda ranks, options: ranks[0] == 2,
)  # fmt: skip
def solve_triangular(A, b, x, x_bar, trans=0, lower=False, unit_diagonal=False):
    turned = trans == 1 or trans == "T"
    b_bar = sl.solve_triangular(A, x_bar, trans=0 if turned else 1, lower=lower, unit_diagonal=unit_diagonal)
    A_bar = outer(x, b_bar) if turned else outer(b_bar, x)
    return -triangle(A_bar, lower, unit_diagonal), b_bar


@tangent_rule(sl.solve_triangular)
def solve_triangular_tangent(A, b, x, A_dot, b_dot, trans=0, lower=False, unit_diagonal=False):
    M = triangle(A_dot, lower, unit_diagonal)
    right = b_dot - (M.T if trans == 1 or trans == "T" else M) @ x
    return sl.solve_triangular(A, right, trans=trans, lower=lower, unit_diagonal=unit_diagonal)


@defined(sl.solve_triangular)
def solve_with_triangle(a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, check_finite=True):
    if trans in (2, "C"):
        return sl.solve_triangular(np.conj(a), b, 1, lower=lower, unit_diagonal=unit_diagonal)
    return sl.solve_triangular(a, b, trans, lower=lower, unit_diagonal=unit_diagonal)


# ------------------------------------------------------------------ bands
# ab[u + i - j, j] = A[i, j], as scipy.linalg.solve_banded takes it
def band_transpose(ab, lower, upper):
    """The bands of the transposed matrix, which has ``upper`` diagonals below the main one."""
    n = ab.shape[1]
    out = np.zeros_like(ab)
    for k in range(lower + upper + 1):
        d = upper - k  # the diagonal above the main one
        out[lower + upper - k, max(-d, 0) : n - max(d, 0)] = ab[k, max(d, 0) : n - max(-d, 0)]
    return out


def band_product(ab, x, lower, upper):
    """The product of a band matrix and a vector or the columns of a matrix."""
    n = ab.shape[1]
    out = np.zeros((n, *x.shape[1:]), np.result_type(ab, x))
    for k in range(lower + upper + 1):
        d = upper - k
        part = ab[k, max(d, 0) : n - max(-d, 0)]
        rows = part.reshape((-1,) + (1,) * (x.ndim - 1)) * x[max(d, 0) : n - max(-d, 0)]
        out[max(-d, 0) : n - max(d, 0)] += rows
    return out


def band_outer(y, x, lower, upper):
    """The bands of ``y x^T``, summed over their columns."""
    n = len(x)
    out = np.zeros((lower + upper + 1, n), np.result_type(y, x))
    for k in range(lower + upper + 1):
        d = upper - k
        both = y[max(-d, 0) : n - max(d, 0)] * x[max(d, 0) : n - max(-d, 0)]
        out[k, max(d, 0) : n - max(-d, 0)] = both if both.ndim == 1 else both.sum(axis=-1)
    return out


say(band_transpose, band_product, band_outer, pure=True)


@adjoint_rule(band_transpose, linear="jointly")
def band_transpose_rule(ab, lower, upper, out, out_bar):
    return band_transpose(out_bar, upper, lower), None, None


@adjoint_rule(band_product, linear="each")
def band_product_rule(ab, x, lower, upper, y, y_bar):
    turned = band_transpose(ab, lower, upper)
    return band_outer(y_bar, x, lower, upper), band_product(turned, y_bar, upper, lower), None, None


@adjoint_rule(band_outer, linear="each")
def band_outer_rule(y, x, lower, upper, ab, ab_bar):
    turned = band_transpose(ab_bar, lower, upper)
    return band_product(ab_bar, x, lower, upper), band_product(turned, y, upper, lower), None, None


@adjoint_rule(sl.solve_banded)
def solve_banded(l_and_u, ab, b, x, x_bar):
    lower = l_and_u[0]
    upper = l_and_u[1]
    b_bar = sl.solve_banded((upper, lower), band_transpose(ab, lower, upper), x_bar)
    return None, -band_outer(b_bar, x, lower, upper), b_bar


@tangent_rule(sl.solve_banded)
def solve_banded_tangent(l_and_u, ab, b, x, l_and_u_dot, ab_dot, b_dot):
    return sl.solve_banded(l_and_u, ab, b_dot - band_product(ab_dot, x, l_and_u[0], l_and_u[1]))


@defined(sl.solve_banded)
def solve_bands(l_and_u, ab, b, overwrite_ab=False, overwrite_b=False, check_finite=True):
    return sl.solve_banded(l_and_u, ab, b)


# ------------------------------------------------------------------ factorisations
@defined(sl.cholesky)
def cholesky(a, lower=False, overwrite_a=False, check_finite=True):
    one_matrix(np.ndim(a), "cholesky")
    if lower:
        return np.linalg.cholesky(a)
    return np.conj(np.linalg.cholesky(np.conj(a.T)).T)


@defined(sl.qr)
def qr(a, overwrite_a=False, lwork=None, mode="full", pivoting=False, check_finite=True):
    if pivoting or mode not in ("full", "economic", "r"):
        raise ValueError("scipy.linalg.qr is differentiated without pivoting, with mode='full', 'economic' or 'r'")
    factors = np.linalg.qr(a, "reduced" if mode == "economic" else "complete")
    return (factors[1],) if mode == "r" else factors


KEEPS_TRIANGLE = bool(sl.cho_factor(np.array([[2.0, 1.0], [1.0, 2.0]]))[0][1, 0])  # as SciPy did before 1.18


@defined(sl.cho_factor)
def cho_factor(a, lower=False, overwrite_a=False, check_finite=True):
    one_matrix(np.ndim(a), "cho_factor")
    factor = sl.cholesky(a, lower=lower)
    if not KEEPS_TRIANGLE:
        return factor, lower
    return factor + (np.triu(a, 1) if lower else np.tril(a, -1)), lower  # the other triangle is left as it was


@defined(sl.cho_solve)
def cho_solve(c_and_lower, b, overwrite_b=False, check_finite=True):
    c, lower = c_and_lower
    if lower:
        return sl.solve_triangular(np.conj(c), sl.solve_triangular(c, b, 0, True), 1, True)
    return sl.solve_triangular(c, sl.solve_triangular(np.conj(c), b, 1, False), 0, False)


# ------------------------------------------------------------------ functions of matrices
# f([[A, E], [0, A]]) = [[f(A), L(A, E)], [0, f(A)]] for the derivative L of f at A in the direction E, and the adjoint
# of L(A, .) is L(A^T, .); Higham, "Functions of matrices" (2008), equation (3.16)
@inline
def beside(A, E):
    upper = np.concatenate([A, E], axis=-1)
    return np.concatenate([upper, np.concatenate([np.zeros_like(A), A], axis=-1)], axis=-2)


def as_real(X, Y):
    """A derivative of a function of a real matrix, of which rounding may leave imaginary parts.

    Raises `TurnedComplex` if the function's value ``Y`` is complex: the code around it was compiled for real numbers.
    """
    if np.iscomplexobj(Y):
        raise TurnedComplex(
            "a function of a real matrix gave complex numbers", why="its derivative was compiled for real ones",
            way_out="give it the matrix as complex numbers, A + 0j",
        )  # fmt: skip
    return np.real(X)


say(as_real, pure=True)


@adjoint_rule(as_real, linear="jointly")
def as_real_rule(X, Y, Z, Z_bar):
    return Z_bar, None


def beyond_the_cut():
    raise NotDifferentiable(
        "the logarithm of a real matrix with negative eigenvalues is differentiated",
        why="they lie on the cut of the logarithm, where rounding decides for one side",
        way_out="take it by np.linalg.eig",
    )  # fmt: skip


def of_matrix(f):
    """Register the derivative of a function of matrices."""

    def adjoint(A, Y, Y_bar):
        if is_real(A) and not is_real(Y):
            beyond_the_cut()
        n = np.shape(A)[-1]
        A_bar = f(beside(transposed(A), Y_bar))[..., :n, n:]
        return as_real(A_bar, Y) if is_real(Y) else A_bar

    def tangent(A, Y, A_dot):
        if is_real(A) and not is_real(Y):
            beyond_the_cut()
        n = np.shape(A)[-1]
        Y_dot = f(beside(A, A_dot))[..., :n, n:]
        return as_real(Y_dot, Y) if is_real(Y) else Y_dot

    adjoint_rule(f)(adjoint)
    tangent_rule(f)(tangent)


# Y Y = A        Y Y_dot + Y_dot Y = A_dot
@adjoint_rule(sl.sqrtm, covers=lambda ranks, options: ranks[0] == 2)
def sqrtm(A, Y, Y_bar):
    A_bar = sl.solve_sylvester(transposed(Y), transposed(Y), Y_bar)
    return as_real(A_bar, Y) if is_real(Y) else A_bar


@tangent_rule(sl.sqrtm)
def sqrtm_tangent(A, Y, A_dot):
    Y_dot = sl.solve_sylvester(Y, Y, A_dot)
    return as_real(Y_dot, Y) if is_real(Y) else Y_dot


say(sl.sqrtm, sl.logm, turns_complex=True)

for function in (sl.expm, sl.logm, sl.sinm, sl.cosm, sl.tanm, sl.sinhm, sl.coshm, sl.tanhm):
    of_matrix(function)


# ------------------------------------------------------------------ singular values
# as np.linalg.svd, whose formulas stand in rules/singular_values.py
@adjoint_rule(sl.svd, full_matrices=(False,))
def svd(A, y, y_bar, full_matrices=True, compute_uv=True, lapack_driver="gesdd"):
    if not compute_uv:
        return values_back(sl.svd(A, full_matrices=False, lapack_driver=lapack_driver), y_bar)
    return svd_back(A, y[0], y[1], y[2], y_bar[0], y_bar[1], y_bar[2])


@tangent_rule(sl.svd)
def svd_tangent(A, y, A_dot, full_matrices=True, compute_uv=True, lapack_driver="gesdd"):
    if not compute_uv:
        return values_move(sl.svd(A, full_matrices=False, lapack_driver=lapack_driver), A_dot)
    return svd_moves(A, y[0], y[1], y[2], A_dot)


@defined(sl.svd)
def reduced_svd(
    a, full_matrices=True, compute_uv=True, overwrite_a=False, check_finite=True, lapack_driver="gesdd"
):  # fmt: skip
    if full_matrices and compute_uv and np.shape(a)[-1] != np.shape(a)[-2]:
        raise ValueError("scipy.linalg.svd of a matrix that is not square is differentiated with full_matrices=False")
    return sl.svd(a, full_matrices=False, compute_uv=compute_uv, lapack_driver=lapack_driver)


@defined(sl.svdvals)
def svdvals(a, overwrite_a=False, check_finite=True):
    return sl.svd(a, compute_uv=False)


# ------------------------------------------------------------------ eigenvalues
# as np.linalg.eigh, whose formulas stand in rules/matrices.py
@adjoint_rule(sl.eigh)
def eigh(A, y, y_bar, lower=True, driver=None):
    return read_back(pairs_back(y[0], y[1], y_bar[0], y_bar[1]), A, "L" if lower else "U")


@tangent_rule(sl.eigh)
def eigh_tangent(A, y, A_dot, lower=True, driver=None):
    V = y[1]
    inner = adjugate(V) @ triangle_read(A_dot, A, "L" if lower else "U") @ V
    return np.copy(np.real(on_the_diagonal(inner))), V @ divided(inner, y[0])


@static
def first_type(type):
    """Whether A x = w B x is solved: A B x = w x and B A x = w x are refused."""
    if type != 1:
        raise NotDifferentiable(
            f"scipy.linalg.eigh of two matrices is not differentiated with type={type}", why="the rule is for type=1",
            way_out="write it as np.linalg.eigh of one matrix, by np.linalg.cholesky",
        )  # fmt: skip
    return True


# A x = w B x        B = L L^H        (L^-1 A L^-H) (L^H x) = w (L^H x): Golub and Van Loan, "Matrix computations", 8.7
@defined(sl.eigh)
def eigen(
    a, b=None, *, lower=True, eigvals_only=False, overwrite_a=False, overwrite_b=False, type=1, check_finite=True,
    subset_by_index=None, driver=None,
):  # fmt: skip
    if b is None:
        w, V = sl.eigh(a, lower=lower, driver=driver)
    else:
        one_matrix(np.ndim(a), "eigh")
        first_type(type)
        L = np.linalg.cholesky(as_read(b, "her", lower))
        w, Y = sl.eigh(np.linalg.solve(L, np.conj(np.linalg.solve(L, as_read(a, "her", lower))).T))
        V = np.linalg.solve(np.conj(L).T, Y)
    if subset_by_index is not None:
        first, end = subset_by_index[0], subset_by_index[1] + 1
        w, V = w[..., first:end], V[..., first:end]
    if eigvals_only:
        return w
    if b is None and subset_by_index is None:
        return w, V
    metric = stop_gradient(V if b is None else as_read(b, "her", lower) @ V)
    found = sl.eigh(stop_gradient(a), stop_gradient(b), lower=lower, driver=driver, subset_by_index=subset_by_index)[
        1
    ]  # which turns each vector as SciPy does
    return w, V * np.sum(np.conj(metric) * found, axis=-2, keepdims=True)


@defined(sl.eigvalsh)
def eigvalsh(a, b=None, *, lower=True, type=1, check_finite=True, subset_by_index=None, driver=None):
    return sl.eigh(a, b, lower=lower, eigvals_only=True, type=type, subset_by_index=subset_by_index, driver=driver)


# ------------------------------------------------------------------ matrices of a form
@defined(sl.block_diag)
def block_diag(*arrs):
    blocks = [np.atleast_2d(a) for a in arrs]
    rows = sum([np.shape(b)[0] for b in blocks])
    columns = sum([np.shape(b)[1] for b in blocks])
    out = np.zeros((rows, columns), dtype=np.result_type(*blocks))
    row = column = 0
    for b in blocks:
        out[row : row + np.shape(b)[0], column : column + np.shape(b)[1]] = b
        row = row + np.shape(b)[0]
        column = column + np.shape(b)[1]
    return out


@defined(sl.toeplitz)
def toeplitz(c, r=None):
    column = np.ravel(c)
    row = np.conj(column) if r is None else np.ravel(r)
    values = np.concatenate([column[::-1], row[1:]])
    return values[len(column) - 1 - np.expand_dims(np.arange(len(column)), 1) + np.arange(len(row))]


@defined(sl.circulant)
def circulant(c):
    n = np.shape(c)[-1]
    return c[..., (np.expand_dims(np.arange(n), 1) - np.arange(n)) % n]


@defined(sl.hankel)
def hankel(c, r=None):
    column = np.ravel(c)
    row = np.zeros_like(column) if r is None else np.ravel(r)
    values = np.concatenate([column, row[1:]])
    return values[np.expand_dims(np.arange(len(column)), 1) + np.arange(len(row))]
