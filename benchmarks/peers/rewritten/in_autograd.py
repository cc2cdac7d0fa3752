"""For HIPS autograd, which refuses stores into arrays: lists that grow, and arrays that are put together anew."""

from functools import partial

import autograd.numpy as np

from ..workload import with_numpy
from ..workloads import WORKLOADS
from . import functional


def assembled(icf, diagonal):
    """The factors of the mixture, read from one row of entries of which the first is zero."""
    K, d = diagonal.shape
    columns, rows = np.triu_indices(d, 1)
    place = np.zeros((d, d), dtype=int)
    place[np.arange(d), np.arange(d)] = 1 + np.arange(d)
    place[rows, columns] = 1 + d + np.arange(len(rows))
    return np.concatenate([np.zeros((K, 1)), diagonal, icf[:, d:]], axis=1)[:, place]


def gauss_seidel(u, f, sweeps):
    n = len(u)
    rows = [u[i] for i in range(n)]
    for _ in range(sweeps):
        for i in range(1, n - 1):
            old = rows[i]
            rhs = 0.25 * (rows[i - 1][1:-1] + rows[i + 1][1:-1] + old[2:] - f[i, 1:-1])
            row = [old[0]]
            for j in range(n - 2):
                row.append(rhs[j] + 0.25 * row[-1])
            rows[i] = np.array([*row, old[-1]])
    return sum(np.sum(row * row) for row in rows)


def triangular_solve(L, b):
    """By columns: a row's sum over a list that grows would put the list together in each row."""
    rest, total = b, 0.0
    for i in range(len(b)):
        x = rest[i] / L[i, i]
        rest = rest - L[:, i] * x
        total = total + x * x
    return total


def cholesky(A, weights):
    """The columns below the diagonal, one after another; of the rest of the matrix each takes its product away."""
    n = len(A)
    rest, total = A, 0.0
    for k in range(n):
        column = rest[:, 0] / np.sqrt(rest[0, 0])
        total = total + np.sum(weights[k:, k] * column)
        rest = rest[1:, 1:] - column[1:, None] * column[None, 1:]
    return total


def black_scholes(*numbers):
    from autograd.scipy.special import erf  # needs SciPy, which autograd does not ask for

    return _functional("black_scholes", erf=erf)(*numbers)


def attention_loss(x, Wq, Wk, Wv, Wo, n_heads, target):
    """The method `transpose` takes one tuple here."""
    B, T, D = x.shape
    d = D // n_heads
    q, k, v = (np.transpose((x @ W).reshape(B, T, n_heads, d), (0, 2, 1, 3)) for W in (Wq, Wk, Wv))
    scores = np.where(np.tril(np.ones((T, T), dtype=bool)), q @ np.swapaxes(k, 2, 3) / np.sqrt(d), -1e9)
    weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    weights = weights / np.sum(weights, axis=-1, keepdims=True)
    out = np.transpose(weights @ v, (0, 2, 1, 3)).reshape(B, T, D)
    return np.mean((out @ Wo + x - target) ** 2)


def _functional(name, **others):
    return partial(with_numpy(getattr(functional, name), np), **others)


def _beside(name, helper):
    """A function that stands beside a workload's, with autograd's NumPy."""
    return with_numpy(WORKLOADS[name].function.__globals__[helper], np)


VERSIONS = {
    "adbench_gmm": with_numpy(WORKLOADS["adbench_gmm"].function, np, assembled=assembled),
    "adbench_lstm": _functional("adbench_lstm", cell_of=_beside("adbench_lstm", "cell_of")),
    "jacobi_2d": _functional("jacobi_2d"),
    "gauss_seidel": gauss_seidel,
    "horizontal_diffusion": _functional("horizontal_diffusion"),
    "triangular_solve": triangular_solve,
    "cholesky": cholesky,
    "nbody": _functional("nbody", accelerations=_beside("nbody", "accelerations")),
    "black_scholes": black_scholes,
    "pendulum": _functional("pendulum"),
    "attention_loss": attention_loss,
    "spring_chain": _functional("spring_chain"),
}
