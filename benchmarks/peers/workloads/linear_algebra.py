"""Linear algebra in loops: a triangular solve, and Cholesky's factorisation in place.

They stand for algorithms that no library has: the peers' own solvers are not called in their place.
"""

import numpy as np

from ..workload import Workload


def triangular_solve(L, b):
    """The sum of squares of the solution of L x = b; L of shape (n, n) is lower triangular."""
    x = b.copy()
    for i in range(len(b)):
        x[i] -= L[i, :i] @ x[:i]
        x[i] /= L[i, i]
    return np.sum(x * x)


def triangular_solve_by_hand(L, b):
    """The adjoint solves with L's transpose, and L's own is one outer product."""
    x = b.copy()
    for i in range(len(b)):
        x[i] = (x[i] - L[i, :i] @ x[:i]) / L[i, i]
    b_bar = 2 * x
    for i in range(len(b) - 1, -1, -1):
        b_bar[i] /= L[i, i]
        b_bar[:i] -= b_bar[i] * L[i, :i]
    return np.sum(x * x), (-np.tril(np.outer(b_bar, x)), b_bar)


def cholesky(A, weights):
    """A weighted sum of the Cholesky factor of A, which takes A's place; both have the shape (n, n).

    Above its diagonal A is neither read nor written, and `weights` is zero there.
    """
    L = A.copy()
    for k in range(len(L)):
        L[k, k] = np.sqrt(L[k, k] - L[k, :k] @ L[k, :k])
        L[k + 1 :, k] = (L[k + 1 :, k] - L[k + 1 :, :k] @ L[k, :k]) / L[k, k]
    return np.sum(weights * L)


def cholesky_by_hand(A, weights):
    """The columns from last to first, in place: I. Murray, Differentiation of the Cholesky decomposition, 2016."""
    L = A.copy()
    n = len(L)
    for k in range(n):
        L[k, k] = np.sqrt(L[k, k] - L[k, :k] @ L[k, :k])
        L[k + 1 :, k] = (L[k + 1 :, k] - L[k + 1 :, :k] @ L[k, :k]) / L[k, k]
    A_bar = weights.copy()
    for k in range(n - 1, -1, -1):
        A_bar[k, k] -= L[k + 1 :, k] @ A_bar[k + 1 :, k] / L[k, k]
        A_bar[k:, k] /= L[k, k]
        A_bar[k, :k] -= A_bar[k:, k] @ L[k:, :k]
        A_bar[k + 1 :, :k] -= np.outer(A_bar[k + 1 :, k], L[k, :k])
        A_bar[k, k] *= 0.5
    return np.sum(weights * L), A_bar


def a_system(n):
    rng = np.random.default_rng(2)
    return np.tril(rng.normal(size=(n, n))) / np.sqrt(n) + 2 * np.eye(n), rng.normal(size=n)


def a_positive_matrix(n):
    rng = np.random.default_rng(3)
    half = rng.normal(size=(n, n))
    return half @ half.T / n + np.eye(n), np.tril(rng.normal(size=(n, n)))


WORKLOADS = [
    Workload(
        "triangular_solve",
        triangular_solve,
        triangular_solve_by_hand,
        ("L", "b"),
        lambda: a_system(200),
        lambda: a_system(6),
    ),
    Workload(
        "cholesky", cholesky, cholesky_by_hand, ("A",), lambda: a_positive_matrix(100), lambda: a_positive_matrix(6)
    ),
]
