"""The equations of Sylvester, Lyapunov and Riccati.

Formulas: Kao and Hennequin, "Automatic differentiation of Sylvester, Lyapunov, and algebraic Riccati equations"
(arXiv:2011.11430, 2020).
"""

import numpy as np
import scipy.linalg as sl

from tangentc.core.types import Array, of_dtype
from tangentc.errors import NotDifferentiable
from tangentc.ops.table import say
from tangentc.rules.fragment import inline, is_real
from tangentc.rules.linear_algebra import transposed
from tangentc.rules.registry import adjoint_rule, defined, tangent_rule


# A X + X B = Q: the adjoint of Q solves the transposed equation
@adjoint_rule(sl.solve_sylvester)
def solve_sylvester(A, B, Q, X, X_bar):
    Q_bar = sl.solve_sylvester(transposed(A), transposed(B), X_bar)
    return -Q_bar @ transposed(X), -transposed(X) @ Q_bar, Q_bar


@tangent_rule(sl.solve_sylvester)
def solve_sylvester_tangent(A, B, Q, X, A_dot, B_dot, Q_dot):
    return sl.solve_sylvester(A, B, Q_dot - A_dot @ X - X @ B_dot)


@defined(sl.solve_continuous_lyapunov, sl.solve_lyapunov)
def solve_continuous_lyapunov(a, q):
    return sl.solve_sylvester(a, np.conj(a).T, q)


@defined(sl.solve_discrete_lyapunov)  # by rows, A X A^H is (A kron conj(A)) x
def solve_discrete_lyapunov(a, q, method=None):
    n = len(a)
    return np.linalg.solve(np.eye(n * n) - np.kron(a, np.conj(a)), np.ravel(q)).reshape(n, n)


def not_plain():
    raise NotDifferentiable(
        "a Riccati equation of complex matrices, or with `e` or `s`", why="its rule is for the plain real one",
        way_out="solve it by Newton's iteration",
    )  # fmt: skip


# A^T P + P A - P B K + Q = 0 with K = R^-1 B^T P: what P moves by solves a Lyapunov equation of the closed loop A - B K
@inline
def continuous_gain(B, R, P):
    return np.linalg.solve(R, B.T @ P)


@adjoint_rule(sl.solve_continuous_are)
def solve_continuous_are(A, B, Q, R, P, P_bar, e=None, s=None, balanced=True):
    if not is_real(P) or e is not None or s is not None:
        not_plain()
    K = continuous_gain(B, R, P)
    S = sl.solve_continuous_lyapunov(A - B @ K, -P_bar)
    A_bar = P @ (S + S.T)
    return A_bar, -A_bar @ K.T, S, K @ S @ K.T


@tangent_rule(sl.solve_continuous_are)
def solve_continuous_are_tangent(A, B, Q, R, P, A_dot, B_dot, Q_dot, R_dot, e=None, s=None, balanced=True):
    if not is_real(P) or e is not None or s is not None:
        not_plain()
    K = continuous_gain(B, R, P)
    half = P @ (A_dot - B_dot @ K)
    return sl.solve_continuous_lyapunov((A - B @ K).T, -(half + half.T + Q_dot + K.T @ R_dot @ K))


# P = A^T P (A - B K) + Q with K = (R + B^T P B)^-1 B^T P A
@inline
def discrete_gain(A, B, R, P):
    return np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)


@adjoint_rule(sl.solve_discrete_are)
def solve_discrete_are(A, B, Q, R, P, P_bar, e=None, s=None, balanced=True):
    if not is_real(P) or e is not None or s is not None:
        not_plain()
    K = discrete_gain(A, B, R, P)
    closed = A - B @ K
    S = sl.solve_discrete_lyapunov(closed, P_bar)
    A_bar = P @ closed @ (S + S.T)
    return A_bar, -A_bar @ K.T, S, K @ S @ K.T


@tangent_rule(sl.solve_discrete_are)
def solve_discrete_are_tangent(A, B, Q, R, P, A_dot, B_dot, Q_dot, R_dot, e=None, s=None, balanced=True):
    if not is_real(P) or e is not None or s is not None:
        not_plain()
    K = discrete_gain(A, B, R, P)
    closed = A - B @ K
    half = closed.T @ P @ (A_dot - B_dot @ K)
    return sl.solve_discrete_lyapunov(closed.T, half + half.T + Q_dot + K.T @ R_dot @ K)


say(  # of random matrices there is no solution to ask for
    sl.solve_continuous_are, sl.solve_discrete_are,
    result_of_known=lambda call: of_dtype(call.args[2], Array("float64", ())),
)  # fmt: skip
