"""Functions of matrices: inverses, determinants, factorisations, norms.

Formulas: Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation" (2008), where no other source is named.
"""

import numpy as np

from tangentc.errors import NotDifferentiable
from tangentc.rules.fragment import inline, is_changed, is_real
from tangentc.rules.linear_algebra import transposed
from tangentc.rules.reductions import along, share
from tangentc.rules.registry import adjoint_rule, tangent_rule, zero_gradient
from tangentc.transform.calls import TAKES_ITEMS

TAKES_ITEMS.add(np.linalg.multi_dot)
SignAndLog = type(np.linalg.slogdet(np.eye(1)))
Eigen = type(np.linalg.eigh(np.eye(1)))
Singular = type(np.linalg.svd(np.eye(1)))
Orthogonal = type(np.linalg.qr(np.eye(1)))


def regular(rng, *shape):
    """Matrices far from singular."""
    return 0.3 * rng.normal(size=shape) + np.eye(*shape[-2:]) * [2, 3, 5][: shape[-1]]


def square(rng):
    z = regular(rng, 3, 3) + 1j * rng.normal(size=(3, 3))
    return [((a,), {}) for a in (regular(rng, 3, 3), regular(rng, 2, 3, 3), regular(rng, 1, 1), z)]


def real_square(rng):
    return square(rng)[:3]


@inline
def as_matrix(y_bar, A):
    """A number for each matrix of ``A``, in a shape that broadcasts to that of ``A``."""
    return y_bar if np.ndim(A) == 2 else np.expand_dims(y_bar, (-2, -1))


@inline
def turned(M, A):
    """``M`` transposed: one matrix or a stack of them, as ``A`` is."""
    return M.T if np.ndim(A) == 2 else np.swapaxes(M, -1, -2)


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
@adjoint_rule(np.linalg.pinv, samples=of_any_shape, real=True)
def pinv(A, P, P_bar):
    Pt = transposed(P)
    Pbt = turned(P_bar, A)
    beside = Pbt @ P @ Pt - A @ (P @ (Pbt @ P @ Pt))
    return beside + Pt @ P @ Pbt - Pt @ P @ Pbt @ P @ A - Pt @ P_bar @ Pt


@tangent_rule(np.linalg.pinv)
def pinv_tangent(A, P, A_dot):
    At_dot = transposed(A_dot)
    Pt = transposed(P)
    beside = P @ Pt @ At_dot - P @ Pt @ At_dot @ A @ P
    return beside + At_dot @ Pt @ P - P @ (A @ (At_dot @ Pt @ P)) - P @ A_dot @ P


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
# y = det A        A_bar = y_bar y A^-T
@adjoint_rule(np.linalg.det, samples=square)
def det(A, y, y_bar):
    return as_matrix(y_bar * y, A) * transposed(np.linalg.inv(A))


@tangent_rule(np.linalg.det)
def det_tangent(A, y, A_dot):
    return y * np.sum(transposed(np.linalg.inv(A)) * A_dot, axis=(-2, -1))


@adjoint_rule(np.linalg.slogdet, samples=real_square, real=True)
def slogdet(A, y, y_bar):
    return as_matrix(y_bar[1], A) * transposed(np.linalg.inv(A))


@tangent_rule(np.linalg.slogdet)
def slogdet_tangent(A, y, A_dot):
    return SignAndLog(np.zeros_like(y[0]), np.sum(transposed(np.linalg.inv(A)) * A_dot, axis=(-2, -1)))


# ------------------------------------------------------------------ symmetric matrices, of which one triangle is read
@inline
def on_the_triangle(S, A):
    """The adjoint of the lower triangle, from one of the whole symmetric matrix ``A`` or its transpose."""
    return np.tril(S) + np.tril(turned(S, A), -1)


@inline
def symmetric(M, A):
    """The symmetric matrix of the lower triangle of ``M``."""
    return np.tril(M) + turned(np.tril(M, -1), A)


@inline
def lower_half(A):
    """The lower triangle with half the diagonal."""
    return (np.tril(A) + np.tril(A, -1)) / 2


def definite(rng):
    def one(*shape):
        a = 0.3 * rng.normal(size=shape)
        return a + np.swapaxes(a, -1, -2) + np.diag([2.0, 4.0, 7.0][: shape[-1]])

    return [((one(3, 3),), {}), ((one(2, 3, 3),), {}), ((one(1, 1),), {})]


# A = L L^T        L_dot = L phi(L^-1 A_dot L^-T)        A_bar = L^-T phi(L^T L_bar) L^-1
# phi is `lower_half`; Murray, "Differentiation of the Cholesky decomposition" (2016)
@adjoint_rule(np.linalg.cholesky, samples=definite, real=True)
def cholesky(A, L, L_bar):
    Lt = transposed(L)
    half = np.linalg.solve(Lt, lower_half(Lt @ L_bar))
    return on_the_triangle(np.linalg.solve(Lt, turned(half, A)), A)


@tangent_rule(np.linalg.cholesky)
def cholesky_tangent(A, L, A_dot):
    half = np.linalg.solve(L, symmetric(A_dot, A))
    return L @ lower_half(np.linalg.solve(L, turned(half, A)))


@inline
def divided(numerator, values):
    """``numerator[i, j] / (values[j] - values[i])``, and zero on the diagonal."""
    gaps = np.expand_dims(values, -2) - np.expand_dims(values, -1)
    beside = numerator * (1 - np.eye(np.shape(values)[-1]))
    return beside / np.where((gaps == 0) & (beside == 0), 1, gaps)


@inline
def diagonal_matrix(values):
    return np.expand_dims(values, -1) * np.eye(np.shape(values)[-1])


@inline
def on_the_diagonal(A):
    return np.diagonal(A, 0, -2, -1)


# A = V diag(w) V^T        w_dot = diag(V^T A_dot V)        V_dot = V (F o V^T A_dot V),  F_ij = 1 / (w_j - w_i)
@adjoint_rule(np.linalg.eigh, samples=definite, real=True)
def eigh(A, y, y_bar):
    w = y[0]
    V = y[1]
    inner = diagonal_matrix(y_bar[0]) + divided(transposed(V) @ y_bar[1], w)
    return on_the_triangle(V @ inner @ transposed(V), A)


@tangent_rule(np.linalg.eigh)
def eigh_tangent(A, y, A_dot):
    w = y[0]
    V = y[1]
    inner = transposed(V) @ symmetric(A_dot, A) @ V
    return Eigen(on_the_diagonal(inner), V @ divided(inner, w))


@adjoint_rule(np.linalg.eigvalsh, samples=definite, real=True)
def eigvalsh(A, w, w_bar):
    V = np.linalg.eigh(A)[1]
    return on_the_triangle(V * np.expand_dims(w_bar, -2) @ transposed(V), A)


@tangent_rule(np.linalg.eigvalsh)
def eigvalsh_tangent(A, w, A_dot):
    V = np.linalg.eigh(A)[1]
    return on_the_diagonal(transposed(V) @ symmetric(A_dot, A) @ V)


# ------------------------------------------------------------------ singular values
def factorised(rng):
    shapes = [(3, 2), (2, 3), (3, 3), (2, 3, 2)]
    arrays = [regular(rng, *shape) for shape in shapes]
    return [((a,), {"full_matrices": False}) for a in arrays] + [((arrays[0],), {"compute_uv": False})]


def reduced_only(full_matrices):
    if full_matrices:
        raise NotDifferentiable(
            "np.linalg.svd with full_matrices=True is not differentiated",
            why="the vectors beyond the reduced factors are not unique",
            way_out="write full_matrices=False",
        )
    return True


@inline
def skew(M, A):
    return M - turned(M, A)


# A = U diag(s) V^T, k = min(m, n) distinct singular values; Townsend, "Differentiating the singular value
# decomposition" (2016)
@adjoint_rule(np.linalg.svd, samples=factorised, real=True)
def svd(A, y, y_bar, full_matrices=True, compute_uv=True):
    if not compute_uv:
        factors = np.linalg.svd(A, full_matrices=False)
        return factors[0] * np.expand_dims(y_bar, -2) @ factors[2]
    if reduced_only(full_matrices):
        U = y[0]
        s = y[1]
        Vt = y[2]
        row = np.expand_dims(s, -2)
        column = np.expand_dims(s, -1)
        of_U = transposed(U) @ y_bar[0]
        of_V = Vt @ turned(y_bar[2], A)
        inner = divided(skew(of_U, A), s**2) * row + column * divided(skew(of_V, A), s**2) + diagonal_matrix(y_bar[1])
        beside_U = (y_bar[0] - U @ of_U) / row
        beside_V = (y_bar[2] - turned(of_V, A) @ Vt) / column
        return (U @ inner + beside_U) @ Vt + U @ beside_V


@tangent_rule(np.linalg.svd)
def svd_tangent(A, y, A_dot, full_matrices=True, compute_uv=True):
    if not compute_uv:
        factors = np.linalg.svd(A, full_matrices=False)
        return on_the_diagonal(transposed(factors[0]) @ A_dot @ transposed(factors[2]))
    if reduced_only(full_matrices):
        U = y[0]
        s = y[1]
        Vt = y[2]
        row = np.expand_dims(s, -2)
        column = np.expand_dims(s, -1)
        inner = transposed(U) @ A_dot @ transposed(Vt)
        of_U = divided(inner * row + column * turned(inner, A), s**2)
        of_V = divided(column * inner + turned(inner, A) * row, s**2)
        beside_U = (A_dot @ transposed(Vt) - U @ inner) / row
        beside_V = (transposed(U) @ A_dot - inner @ Vt) / column
        return Singular(U @ of_U + beside_U, on_the_diagonal(inner), turned(of_V, A) @ Vt + beside_V)


@adjoint_rule(*(getattr(np.linalg, n) for n in ("svdvals",) if hasattr(np.linalg, n)), samples=of_any_shape, real=True)
def svdvals(A, s, s_bar):
    factors = np.linalg.svd(A, full_matrices=False)
    return factors[0] * np.expand_dims(s_bar, -2) @ factors[2]


@tangent_rule(*(getattr(np.linalg, n) for n in ("svdvals",) if hasattr(np.linalg, n)))
def svdvals_tangent(A, s, A_dot):
    factors = np.linalg.svd(A, full_matrices=False)
    return on_the_diagonal(transposed(factors[0]) @ A_dot @ transposed(factors[2]))


# ------------------------------------------------------------------ QR
def tall(rng):
    return [((regular(rng, *shape),), {}) for shape in ((4, 2), (3, 3), (2, 4, 3))]


@inline
def by_R(M, R):
    """``M R^-1``."""
    return turned(np.linalg.solve(transposed(R), turned(M, R)), R)


# A = Q R with at least as many rows as columns
# A_bar = (Q_bar + Q sym(M)) R^-T,  M = R R_bar^T - Q_bar^T Q,  sym(M) the symmetric matrix of M's lower triangle;
# Walter and Lehmann, "Algorithmic differentiation of linear algebra functions" (2010)
@adjoint_rule(np.linalg.qr, samples=tall, real=True)
def qr(A, y, y_bar):
    Q = y[0]
    R = y[1]
    M = R @ turned(y_bar[1], A) - turned(y_bar[0], A) @ Q
    return turned(np.linalg.solve(R, turned(y_bar[0] + Q @ symmetric(M, A), A)), A)


@tangent_rule(np.linalg.qr)
def qr_tangent(A, y, A_dot):
    Q = y[0]
    R = y[1]
    C = by_R(A_dot, R)
    X = transposed(Q) @ C
    turn = skew(np.tril(X, -1), A)
    return Orthogonal(Q @ turn + C - Q @ X, (X - turn) @ R)


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


def around(k, ranks):
    """The order of the factors beside the k-th one, transposed; None stands for the result."""
    if set(ranks) != {2}:
        raise NotDifferentiable(
            "np.linalg.multi_dot of vectors is not differentiated",
            why="its rule covers matrices alone",
            way_out="write the product with @",
        )
    return [*range(k - 1, -1, -1), None, *range(len(ranks) - 1, k, -1)]


@adjoint_rule(np.linalg.multi_dot, samples=chains)
def multi_dot(arrays, Y, Y_bar):
    factors = [A for A in arrays]  # noqa: C416
    ranks = [np.ndim(A) for A in factors]
    return [
        np.linalg.multi_dot([Y_bar if i is None else factors[i].T for i in around(k, ranks)])
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
    vectors = [{}, {"ord": 2}, {"ord": 1}, {"ord": 3}, {"ord": 0}, {"keepdims": True}]
    along_one = [{"axis": 0}, {"axis": -1, "keepdims": True}, {"axis": 1, "ord": 1}]
    matrix = [{}, {"ord": "fro"}, {"axis": (0, 1)}, {"ord": 1}, {"ord": -1}]
    spectral = [{"ord": 2}, {"ord": "nuc"}, {"ord": 2, "keepdims": True}]
    z = rng.normal(size=(3, 2)) + 1j * rng.normal(size=(3, 2))
    return [
        *[((x[0],), options) for options in vectors],
        *[((x,), options) for options in along_one + matrix + spectral],
        *[((np.stack([x, 2 * x]),), options) for options in ({}, {"axis": (1, 2)}, {"axis": 2, "ord": 4})],
        *[((z,), options) for options in ({}, {"axis": 0})],
    ]


def norm_of(ord, axis, rank, real):
    """What a norm measures: the entries along an axis, or the matrix as a whole."""
    if ord is None or (ord == "fro" and (rank == 2 or isinstance(axis, tuple))):
        return "euclidean"
    if isinstance(axis, int) or rank == 1:
        kind = {2: "euclidean", np.inf: "largest", -np.inf: "smallest"}.get(ord, "power")
    else:
        matrix = {1: "columns", -1: "columns", np.inf: "rows", -np.inf: "rows", 2: "spectral", "nuc": "nuclear"}
        kind = matrix.get(ord, "unknown") if axis is None else "unknown"
    if kind == "unknown" or not real and kind != "euclidean":
        raise NotDifferentiable(
            f"np.linalg.norm with ord={ord!r} is not differentiated here",
            why="its rule covers norms of vectors, and of one real matrix the orders 1, 2, inf, 'fro' and 'nuc'",
            way_out="write the norm with np.abs, np.sum and np.max",
        )
    return kind


@inline
def norm_slope(x, y, ord, axis, keepdims):
    """The derivative of a norm in each entry; NaN where the norm is zero and its slope has no direction."""
    return slope_of(norm_of(ord, axis, np.ndim(x), is_real(x)), x, y, ord, axis, keepdims)


@inline
def slope_of(kind, x, y, ord, axis, keepdims):
    if kind == "euclidean":
        return (x if is_real(x) else np.conj(x)) / along(y, axis, keepdims)
    if kind == "largest" or kind == "smallest":
        return np.sign(x) * share(np.abs(x), y, axis, keepdims)
    if kind == "power":
        if ord == 0:
            return 0 * x
        if ord == 1:
            return np.sign(x)
        return np.sign(x) * (np.abs(x) / along(y, axis, keepdims)) ** (ord - 1)
    if kind == "columns":
        return np.sign(x) * extreme_share(np.sum(np.abs(x), axis=0), ord)
    if kind == "rows":
        return np.sign(x) * np.expand_dims(extreme_share(np.sum(np.abs(x), axis=1), ord), 1)
    factors = np.linalg.svd(x, full_matrices=False)
    if kind == "spectral":
        return np.outer(factors[0][:, 0], factors[2][0])
    return factors[0] @ factors[2]


@inline
def extreme_share(sums, ord):
    """The share of each sum in the largest of them, for a negative order in the smallest."""
    return share(sums, np.max(sums) if ord > 0 else np.min(sums), None, False)


@adjoint_rule(np.linalg.norm, samples=norms)
def norm(x, y, y_bar, ord=None, axis=None, keepdims=False):
    return along(y_bar, axis, keepdims) * norm_slope(x, y, ord, axis, keepdims)


@tangent_rule(np.linalg.norm)
def norm_tangent(x, y, x_dot, ord=None, axis=None, keepdims=False):
    y_dot = np.sum(norm_slope(x, y, ord, axis, keepdims) * x_dot, axis=axis, keepdims=keepdims)
    return y_dot if is_real(x) else np.real(y_dot)


zero_gradient(np.linalg.matrix_rank)


def vector_norms(rng):
    x = rng.uniform(0.3, 2, (3, 4)) * rng.choice([-1, 1], (3, 4))
    options = [{}, {"axis": 0}, {"axis": 1, "keepdims": True}, {"ord": 1, "axis": 0}, {"ord": 3, "axis": (0, 1)}]
    return [((x,), o) for o in options] + [((x[0],), {"ord": 1}), ((x + 2j,), {})]


@adjoint_rule(np.linalg.vector_norm, samples=vector_norms)
def vector_norm(x, y, y_bar, ord=2, axis=None, keepdims=False):
    return along(y_bar, axis, keepdims) * entries_slope(x, y, ord, axis, keepdims)


@tangent_rule(np.linalg.vector_norm)
def vector_norm_tangent(x, y, x_dot, ord=2, axis=None, keepdims=False):
    y_dot = np.sum(entries_slope(x, y, ord, axis, keepdims) * x_dot, axis=axis, keepdims=keepdims)
    return y_dot if is_real(x) else np.real(y_dot)


@inline
def entries_slope(x, y, ord, axis, keepdims):
    return slope_of(norm_of(ord, 0, 1, is_real(x)), x, y, ord, axis, keepdims)
