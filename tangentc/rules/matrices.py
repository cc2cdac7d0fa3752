"""Functions of matrices: inverses, determinants, factorisations, norms.

Formulas where no source is named: Giles, "Collected matrix derivative results for algorithmic differentiation" (2008).
"""

import numpy as np

from tangentc.errors import NotDifferentiable
from tangentc.ops.table import say
from tangentc.rules.fragment import inline, is_changed, is_real, is_zero
from tangentc.rules.linear_algebra import transposed
from tangentc.rules.reductions import along
from tangentc.rules.registry import adjoint_rule, tangent_rule, zero_gradient
from tangentc.runtime import cofactors

SignAndLog = type(np.linalg.slogdet(np.eye(1)))
Eigen = type(np.linalg.eigh(np.eye(1)))
EigenPairs = type(np.linalg.eig(np.eye(1)))
Orthogonal = type(np.linalg.qr(np.eye(1)))


def regular(rng, *shape):
    """Matrices far from singular."""
    return 0.3 * rng.normal(size=shape) + np.eye(*shape[-2:]) * [2, 3, 5, 7][: shape[-1]]


def square(rng):
    z = regular(rng, 3, 3) + 1j * rng.normal(size=(3, 3))
    return [((a,), {}) for a in (regular(rng, 3, 3), regular(rng, 2, 3, 3), regular(rng, 1, 1), z)]


@inline
def as_matrix(y_bar, A):
    """A number for each matrix of ``A``, in a shape that broadcasts to that of ``A``."""
    return y_bar if np.ndim(A) == 2 else np.expand_dims(y_bar, (-2, -1))


@inline
def turned(M, A):
    """``M`` transposed: one matrix or a stack of them, as ``A`` is."""
    return M.T if np.ndim(A) == 2 else np.swapaxes(M, -1, -2)


@inline
def conjugate(x):
    """The complex conjugate; of real numbers they themselves."""
    return x if is_real(x) else np.conj(x)


@inline
def adjugate(M):
    """The conjugate transpose: one matrix or a stack of them."""
    return transposed(conjugate(M))


@inline
def turned_over(M, A):
    """The conjugate transpose of ``M``, a matrix or a stack of them as ``A`` is."""
    return turned(conjugate(M), A)


# ------------------------------------------------------------------ inverses
# Y = A^-1        Y_dot = -Y A_dot Y        A_bar = -Y^T Y_bar Y^T
@adjoint_rule(np.linalg.inv, samples=square)
def inv(A, Y, Y_bar):
    return -transposed(Y) @ Y_bar @ transposed(Y)


@tangent_rule(np.linalg.inv)
def inv_tangent(A, Y, A_dot):
    return -Y @ A_dot @ Y


def of_any_shape(rng):
    return [((regular(rng, *shape),), {}) for shape in ((3, 2), (2, 3), (3, 3), (2, 4, 3))]


# Golub and Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems whose
# variables separate" (1973), for a rank that does not change
@adjoint_rule(np.linalg.pinv, samples=of_any_shape)
def pinv(A, P, P_bar, rcond=None, rtol=None):
    Ph = adjugate(P)
    Pbt = turned(P_bar, A)
    beside = Pbt @ P @ Ph - A @ (P @ (Pbt @ P @ Ph))
    return conjugate(beside + Ph @ P @ Pbt - Ph @ P @ Pbt @ P @ A) - transposed(P) @ P_bar @ transposed(P)


@tangent_rule(np.linalg.pinv)
def pinv_tangent(A, P, A_dot, rcond=None, rtol=None):
    Ah_dot = adjugate(A_dot)
    Ph = adjugate(P)
    beside = P @ Ph @ Ah_dot - P @ Ph @ Ah_dot @ A @ P
    return beside + Ah_dot @ Ph @ P - P @ (A @ (Ah_dot @ Ph @ P)) - P @ A_dot @ P


def systems(rng):
    shapes = [((3, 3), (3,)), ((3, 3), (3, 2)), ((2, 3, 3), (2, 3, 1)), ((2, 3, 3), (3, 2)), ((2, 3, 3), (3,))]
    z = regular(rng, 3, 3) + 1j * rng.normal(size=(3, 3))
    return [((regular(rng, *a), rng.normal(size=b)), {}) for a, b in shapes] + [((z, rng.normal(size=3) + 1j), {})]


@inline
def solved(A, b, one_column):
    """``A^-1 b``, where b holds a vector for each matrix if the right side was one vector."""
    if one_column and np.ndim(A) > 2:
        return np.linalg.solve(A, np.expand_dims(b, -1))[..., 0]
    return np.linalg.solve(A, b)


@inline
def times(A, x, one_column):
    if one_column and np.ndim(A) > 2:
        return (A @ np.expand_dims(x, -1))[..., 0]
    return A @ x


# x = A^-1 b        b_bar = A^-T x_bar        A_bar = -b_bar x^T
@adjoint_rule(np.linalg.solve, samples=systems)
def solve(A, b, x, x_bar):
    b_bar = solved(transposed(A), x_bar, np.ndim(b) == 1)
    if np.ndim(b) > 1:
        return -b_bar @ transposed(x), b_bar
    if np.ndim(A) == 2:
        return -np.outer(b_bar, x), b_bar
    return -np.expand_dims(b_bar, -1) * np.expand_dims(x, -2), b_bar


@tangent_rule(np.linalg.solve)
def solve_tangent(A, b, x, A_dot, b_dot):
    return solved(A, b_dot - times(A_dot, x, np.ndim(b) == 1), np.ndim(b) == 1)


# ------------------------------------------------------------------ determinants
# y = det A        A_bar = y_bar y A^-T, where y A^-T are the cofactors C of A, which singular matrices have as well
@adjoint_rule(np.linalg.det, samples=square)
def det(A, y, y_bar):
    return as_matrix(y_bar, A) * cofactors(A)


@tangent_rule(np.linalg.det)
def det_tangent(A, y, A_dot):
    return np.sum(cofactors(A) * A_dot, axis=(-2, -1))


@adjoint_rule(cofactors, samples=square)
def cofactors_rule(A, C, C_bar):  # dC = tr(C^T dA) A^-T - A^-T dA^T C
    B = transposed(np.linalg.inv(A))
    return as_matrix(np.sum(C_bar * B, axis=(-2, -1)), A) * C - C @ transposed(C_bar) @ B


@tangent_rule(cofactors)
def cofactors_tangent(A, C, A_dot):
    B = transposed(np.linalg.inv(A))
    return as_matrix(np.sum(C * A_dot, axis=(-2, -1)), A) * B - B @ transposed(A_dot) @ C


# log |det A| is the real part of log det A, and the sign turns with its imaginary part
@adjoint_rule(np.linalg.slogdet, samples=square)
def slogdet(A, y, y_bar):
    if is_real(A):
        return as_matrix(y_bar[1], A) * transposed(np.linalg.inv(A))
    return as_matrix(y_bar[1] + 1j * np.imag(y_bar[0] * y[0]), A) * transposed(np.linalg.inv(A))


@tangent_rule(np.linalg.slogdet)
def slogdet_tangent(A, y, A_dot):
    logarithm_dot = np.sum(transposed(np.linalg.inv(A)) * A_dot, axis=(-2, -1))
    if is_real(A):
        return SignAndLog(np.zeros_like(y[0]), logarithm_dot)
    return SignAndLog(1j * np.imag(logarithm_dot) * y[0], np.real(logarithm_dot))


# ------------------------------------------------------------------ symmetric matrices, of which one triangle is read
@inline
def on_the_triangle(S, A):
    """The adjoint of the lower triangle, from one of the whole Hermitian matrix ``A``, whose diagonal is real."""
    if is_real(S):
        return np.tril(S) + turned(np.triu(S, 1), A)
    return np.tril(S, -1) + turned_over(np.triu(S, 1), A) + real_diagonal(S)


@inline
def symmetric(M, A):
    """The Hermitian matrix of the lower triangle of ``M``, whose diagonal is real."""
    if is_real(M):
        return np.tril(M) + turned(np.tril(M, -1), A)
    return np.tril(M, -1) + turned_over(np.tril(M, -1), A) + real_diagonal(M)


@inline
def real_diagonal(M):
    return np.expand_dims(np.real(np.diagonal(M, 0, -2, -1)), -1) * np.eye(np.shape(M)[-1])


@inline
def lower_half(A):
    """The lower triangle with half the diagonal."""
    return (np.tril(A) + np.tril(A, -1)) / 2


def definite(rng):
    def one(*shape):
        a = 0.3 * rng.normal(size=shape)
        return a + np.swapaxes(a, -1, -2) + np.diag([2.0, 4.0, 7.0][: shape[-1]])

    return [((one(3, 3),), {}), ((one(2, 3, 3),), {}), ((one(1, 1),), {})]


# A = L L^H        L_dot = L phi(L^-1 A_dot L^-H)        A_bar = L^-H phi(L^H L_bar) L^-1, all conjugated
# phi is `lower_half`; Murray, "Differentiation of the Cholesky decomposition" (2016)
@adjoint_rule(np.linalg.cholesky, samples=definite)
def cholesky(A, L, L_bar):
    L_inv = np.linalg.inv(L)  # two products with it cost less than two systems
    both = adjugate(L_inv) @ lower_half(adjugate(L) @ conjugate(L_bar)) @ L_inv
    if is_real(A):
        return on_the_triangle(both, A)
    return on_the_triangle(conjugate(both + turned_over(both, A)) / 2, A)


@tangent_rule(np.linalg.cholesky)
def cholesky_tangent(A, L, A_dot):
    L_inv = np.linalg.inv(L)
    return L @ lower_half(L_inv @ symmetric(A_dot, A) @ adjugate(L_inv))


@inline
def divided(numerator, values):
    """``numerator[i, j] / (values[j] - values[i])``, and zero on the diagonal."""
    gaps = np.expand_dims(values, -2) - np.expand_dims(values, -1)
    beside = numerator * (1 - np.eye(np.shape(values)[-1]))
    return beside / np.where((gaps == 0) & (beside == 0), 1, gaps)


@inline
def skew(M, A):
    return M - turned_over(M, A)


@inline
def diagonal_matrix(values):
    return np.expand_dims(values, -1) * np.eye(np.shape(values)[-1])


@inline
def on_the_diagonal(A):
    return np.diagonal(A, 0, -2, -1)


# A = V diag(w) V^H        w_dot = diag(V^H A_dot V)        V_dot = V (F o V^H A_dot V),  F_ij = 1 / (w_j - w_i)
@inline
def read_back(S, A, UPLO):
    """The adjoint of the triangle that is read, from one of the whole Hermitian matrix."""
    return on_the_triangle(S, A) if UPLO == "L" else turned(on_the_triangle(turned(S, A), A), A)


@inline
def as_read(A_dot, A, UPLO):
    """The tangent of the Hermitian matrix of which a triangle is read."""
    return symmetric(A_dot, A) if UPLO == "L" else turned(symmetric(turned(A_dot, A), A), A)


@inline
def pairs_back(w, V, w_bar, V_bar):
    """The adjoint of a Hermitian matrix from those of its eigenvalues and eigenvectors."""
    of_w = V * np.expand_dims(w_bar, -2)
    both = of_w if is_zero(V_bar) else of_w + V @ divided(adjugate(V) @ conjugate(V_bar), w)
    return conjugate(both @ adjugate(V))


@adjoint_rule(np.linalg.eigh, samples=definite, UPLO=("L", "U"))
def eigh(A, y, y_bar, UPLO="L"):
    return read_back(pairs_back(y[0], y[1], y_bar[0], y_bar[1]), A, UPLO)


@tangent_rule(np.linalg.eigh)
def eigh_tangent(A, y, A_dot, UPLO="L"):
    w = y[0]
    V = y[1]
    inner = adjugate(V) @ as_read(A_dot, A, UPLO) @ V
    return Eigen(np.copy(np.real(on_the_diagonal(inner))), V @ divided(inner, w))  # a diagonal cannot be written


@adjoint_rule(np.linalg.eigvalsh, samples=definite, UPLO=("L", "U"))
def eigvalsh(A, w, w_bar, UPLO="L"):
    V = np.linalg.eigh(A, UPLO)[1]
    return read_back(conjugate(V * np.expand_dims(w_bar, -2) @ adjugate(V)), A, UPLO)


@tangent_rule(np.linalg.eigvalsh)
def eigvalsh_tangent(A, w, A_dot, UPLO="L"):
    V = np.linalg.eigh(A, UPLO)[1]
    return np.real(on_the_diagonal(adjugate(V) @ as_read(A_dot, A, UPLO) @ V))


@inline
def turns(V):
    """Ones at the largest entry of each eigenvector, which LAPACK makes real."""
    largest = np.expand_dims(np.argmax(np.abs(V), axis=-2), -2)
    return np.expand_dims(np.arange(np.shape(V)[-1]), -1) == largest


# A V = V diag(w), |V_k| = 1        C = F o V^-1 A_dot V        V_dot = V (C - diag(Re diag(V^H V C)))
# and then each vector is turned back, so that its largest entry stays real; Boeddeker et al., "On the computation of
# complex-valued gradients with application to statistically optimum beamforming" (2017), section 4.10
@adjoint_rule(np.linalg.eig, samples=square)
def eig(A, y, y_bar):
    w = y[0]
    V = y[1]
    Vt = transposed(V)
    largest = turns(V)
    turned_back = np.expand_dims(np.imag(on_the_diagonal(Vt @ y_bar[1])), -2) / np.where(largest, V, 1)
    of_V = Vt @ (y_bar[1] - 1j * np.where(largest, turned_back, 0))
    lengths = Vt @ np.conj(V) * np.expand_dims(np.real(on_the_diagonal(of_V)), -2)
    return np.linalg.solve(Vt, diagonal_matrix(y_bar[0]) + divided(of_V - lengths, w)) @ Vt


@tangent_rule(np.linalg.eig)
def eig_tangent(A, y, A_dot):
    w = y[0]
    V = y[1]
    inner = np.linalg.solve(V, A_dot @ V)
    C = divided(inner, w)
    lengths = np.real(on_the_diagonal(np.conj(transposed(V)) @ V @ C))
    V_dot = V @ C - V * np.expand_dims(lengths, -2)
    largest = turns(V)
    rates = np.sum(np.where(largest, np.imag(V_dot / np.where(largest, V, 1)), 0), axis=-2, keepdims=True)
    return EigenPairs(on_the_diagonal(inner), V_dot - 1j * rates * V)


# ------------------------------------------------------------------ QR
def tall(rng):
    return [((regular(rng, *shape),), {}) for shape in ((4, 2), (3, 3), (2, 4, 3), (2, 4))]


@inline
def by_R(M, R):
    """``M R^-1``."""
    return turned(np.linalg.solve(transposed(R), turned(M, R)), R)


# A = Q R; the columns of A beyond its rows, [A, B] = Q [R, S], follow from S = Q^H B
# A_bar = (Q_bar + Q sym(M)) R^-H,  M = R R_bar^H - Q_bar^H Q,  sym(M) the Hermitian matrix of M's lower triangle;
# Walter and Lehmann, "Algorithmic differentiation of linear algebra functions" (2010)
@adjoint_rule(np.linalg.qr, samples=tall)
def qr(A, y, y_bar):
    Q = y[0]
    k = np.shape(Q)[-1]
    R = y[1][..., :k]
    R_bar = conjugate(y_bar[1][..., :k])
    S_bar = conjugate(y_bar[1][..., k:])
    Q_bar = conjugate(y_bar[0]) + A[..., k:] @ turned_over(S_bar, A)
    M = R @ turned_over(R_bar, A) - turned_over(Q_bar, A) @ Q
    left = turned_over(np.linalg.solve(R, turned_over(Q_bar + Q @ symmetric(M, A), A)), A)
    return conjugate(np.concatenate([left, Q @ S_bar], axis=-1))


@tangent_rule(np.linalg.qr)
def qr_tangent(A, y, A_dot):
    Q = y[0]
    k = np.shape(Q)[-1]
    R = y[1][..., :k]
    C = by_R(A_dot[..., :k], R)
    X = adjugate(Q) @ C
    turn = (
        skew(np.tril(X, -1), A)
        if is_real(A)
        else skew(np.tril(X, -1), A) + diagonal_matrix(1j * np.imag(on_the_diagonal(X)))
    )
    Q_dot = Q @ turn + C - Q @ X
    S_dot = turned_over(Q_dot, A) @ A[..., k:] + adjugate(Q) @ A_dot[..., k:]
    return Orthogonal(Q_dot, np.concatenate([(X - turn) @ R, S_dot], axis=-1))


def beyond_columns(a):
    """The columns of the complete Q of tall matrices beyond as many as they have themselves."""
    return np.linalg.qr(a, "complete")[0][..., np.shape(a)[-1] :]


say(beyond_columns, pure=True)


@adjoint_rule(beyond_columns)
def beyond_columns_rule(a, Q, Q_bar):
    return chosen_by_the_algorithm()


@tangent_rule(beyond_columns)
def beyond_columns_tangent(a, Q, a_dot):
    return tangent_of_chosen(Q, a_dot)


def tangent_of_chosen(Q, a_dot):
    """Raises `NotDifferentiable` when it runs: it is left out where nothing takes it."""
    chosen_by_the_algorithm()


say(tangent_of_chosen, pure=True)


def chosen_by_the_algorithm():
    raise NotDifferentiable(
        "the columns of Q beyond those of a tall matrix are differentiated",
        why="any basis of what the matrix does not span would do: which one it is, the algorithm chooses",
        way_out="use mode='economic' of scipy.linalg.qr, or mode='reduced' of np.linalg.qr",
    )  # fmt: skip


# ------------------------------------------------------------------ powers and chains
def powers(rng):
    return [((regular(rng, 3, 3), n), {}) for n in (0, 1, 2, 5, -1, -2)] + [((regular(rng, 2, 3, 3), 3), {})]


@inline
def power_along(A, B, n):
    """The derivative of ``A^n`` along B: the corner of a power of ``[[A, B], [0, A]]`` (Higham, "Functions of
    matrices" (2008), theorem 3.6)."""
    above = np.concatenate([A, B], axis=-1)
    below = np.concatenate([np.zeros_like(A), A], axis=-1)
    size = np.shape(A)[-1]
    return np.linalg.matrix_power(np.concatenate([above, below], axis=-2), n)[..., :size, size:]


def perhaps_itself():
    raise NotDifferentiable(
        "np.linalg.matrix_power of a matrix that is changed in place is not differentiated",
        why="the first power is the matrix itself, and would change with it",
        way_out="copy the matrix before the power, or the power before it is changed",
    )


@adjoint_rule(np.linalg.matrix_power, samples=powers)
def matrix_power(A, n, Y, Y_bar):
    if is_changed(A) or is_changed(Y):
        return perhaps_itself()
    return power_along(transposed(A), Y_bar, n), None


@tangent_rule(np.linalg.matrix_power)
def matrix_power_tangent(A, n, Y, A_dot):
    if is_changed(A) or is_changed(Y):
        return perhaps_itself()
    return power_along(A, A_dot, n)


# Y = A_1 ... A_n        A_bar_k = A_(k-1)^T ... A_1^T Y_bar A_n^T ... A_(k+1)^T
def chains(rng):
    n = rng.normal
    return [(([n(size=(2, 3)), n(size=(3, 4)), n(size=(4, 2))],), {}), (([n(size=(2, 3)), n(size=(3, 1))],), {})]


def around(k, count):
    """The order of the factors beside the k-th one, transposed; None stands for the result."""
    return [*range(k - 1, -1, -1), None, *range(count - 1, k, -1)]


@adjoint_rule(np.linalg.multi_dot, samples=chains, covers=lambda ranks, options: set(ranks[0]) == {2})
def multi_dot(arrays, Y, Y_bar):
    factors = [A for A in arrays]  # noqa: C416
    return [
        np.linalg.multi_dot([Y_bar if i is None else factors[i].T for i in around(k, len(factors))])
        for k, _ in enumerate(factors)
    ]


@tangent_rule(np.linalg.multi_dot)
def multi_dot_tangent(arrays, Y, arrays_dot):
    factors = [A for A in arrays]  # noqa: C416
    return sum(
        [
            np.linalg.multi_dot([arrays_dot[k] if i == k else factors[i] for i in range(len(factors))])
            for k, _ in enumerate(factors)
        ]
    )


# ------------------------------------------------------------------ norms
def norms(rng):
    x = rng.uniform(0.3, 2, (3, 4)) * rng.choice([-1, 1], (3, 4))
    z = rng.normal(size=(3, 2)) + 1j * rng.normal(size=(3, 2))
    return [
        *[((x[0],), options) for options in ({}, {"keepdims": True})],
        *[((x,), options) for options in ({}, {"axis": 0}, {"axis": -1, "keepdims": True}, {"axis": (0, 1)})],
        *[((z,), options) for options in ({}, {"axis": 0})],
    ]


# the root of the sum of squares; NaN where it is zero and its slope has no direction
@adjoint_rule(np.linalg.norm, samples=norms, singular=True, ord=(None,))
def norm(x, y, y_bar, ord=None, axis=None, keepdims=False):
    return along(y_bar, axis, keepdims) * (conjugate(x) / along(y, axis, keepdims))


@tangent_rule(np.linalg.norm)
def norm_tangent(x, y, x_dot, ord=None, axis=None, keepdims=False):
    y_dot = np.sum(conjugate(x) / along(y, axis, keepdims) * x_dot, axis=axis, keepdims=keepdims)
    return y_dot if is_real(x) else np.real(y_dot)


zero_gradient(np.linalg.matrix_rank)
