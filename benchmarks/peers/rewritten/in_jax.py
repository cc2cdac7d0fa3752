"""For JAX: fori_loop and scan, compiled once, where Python's loops would be unrolled, and .at[].set for stores."""

from functools import partial

import jax
import jax.numpy as np
import jax.scipy.special
from jax import lax

from ..workload import with_numpy
from ..workloads import WORKLOADS
from . import functional


def _beside(name, helper):
    """A function that stands beside a workload's, with JAX's NumPy."""
    return with_numpy(WORKLOADS[name].function.__globals__[helper], np)


def assembled(icf, diagonal):
    K, d = diagonal.shape
    columns, rows = np.triu_indices(d, 1)
    factors = np.zeros((K, d, d)).at[:, np.arange(d), np.arange(d)].set(diagonal)
    return factors.at[:, rows, columns].set(icf[:, d:])


def adbench_lstm(main, extra, state, sequence):
    cell_of = _beside("adbench_lstm", "cell_of")

    def step(state, now):
        given, wanted = now
        x, after = given * extra[0], []
        for k in range(0, len(state), 2):
            after += cell_of(main[k], main[k + 1], state[k], state[k + 1], x)
            x = after[k]
        y = x * extra[1] + extra[2]
        return np.stack(after), np.sum(wanted * (y - np.log(np.sum(np.exp(y)) + 2)))

    _, totals = lax.scan(step, state, (sequence[:-1], sequence[1:]))
    return -np.sum(totals) / ((len(sequence) - 1) * sequence.shape[1])


def lstm(params, xs, labels):
    n = params["V"].shape[0]

    def step(state, x):
        h, c = state
        z = np.concatenate([x, h], axis=1) @ params["W"] + params["b"]
        gates = 1 / (1 + np.exp(-z[:, : 3 * n]))
        c = gates[:, n : 2 * n] * c + gates[:, :n] * np.tanh(z[:, 3 * n :])
        return (gates[:, 2 * n :] * np.tanh(c), c), None

    zeros = np.zeros((xs.shape[1], n))
    (h, _), _ = lax.scan(step, (zeros, zeros), xs)
    return _beside("lstm", "cross_entropy")(h @ params["V"] + params["d"], labels)


def lstm_loss(params, xs, targets):
    Wx, Wh, b, V = params
    cell = _beside("lstm_loss", "lstm_cell")

    def step(state, now):
        x, target = now
        h, c = cell(x, *state, Wx, Wh, b)
        return (h, c), np.mean((h @ V - target) ** 2)

    zeros = np.zeros((xs.shape[1], Wh.shape[0]))
    _, losses = lax.scan(step, (zeros, zeros), (xs, targets))
    return np.mean(losses)


def kalman_loglik(theta, ys, F, H):
    n, m = F.shape[0], H.shape[0]
    Q, R = np.exp(2 * theta[0]) * np.eye(n), np.exp(2 * theta[1]) * np.eye(m)

    def step(state, y):
        mean, P = F @ state[0], F @ state[1] @ F.T + Q
        v = y - H @ mean
        S = H @ P @ H.T + R
        K = P @ H.T @ np.linalg.inv(S)
        ll = -0.5 * (v @ np.linalg.solve(S, v) + np.linalg.slogdet(S)[1] + m * np.log(2 * np.pi))
        return (mean + K @ v, (np.eye(n) - K @ H) @ P), ll

    _, lls = lax.scan(step, (np.zeros(n), np.eye(n)), ys)
    return np.sum(lls)


def jacobi_2d(A, B, steps):
    smoothed = with_numpy(functional.smoothed, np)

    def step(_, grids):
        A, B = grids
        B = B.at[1:-1, 1:-1].set(smoothed(A))
        return A.at[1:-1, 1:-1].set(smoothed(B)), B

    A, _ = lax.fori_loop(0, steps, step, (A, B))
    return np.sum(A * A)


def gauss_seidel(u, f, sweeps):
    def following(before, rhs):
        now = rhs + 0.25 * before
        return now, now

    def row(i, u):
        rhs = 0.25 * (u[i - 1, 1:-1] + u[i + 1, 1:-1] + u[i, 2:] - f[i, 1:-1])
        return u.at[i, 1:-1].set(lax.scan(following, u[i, 0], rhs)[1])

    def sweep(_, u):
        return lax.fori_loop(1, len(u) - 1, row, u)

    u = lax.fori_loop(0, sweeps, sweep, u)
    return np.sum(u * u)


def horizontal_diffusion(field, coefficient, steps):
    divergence = with_numpy(functional.divergence, np)

    def step(_, u):
        return u.at[2:-2, 2:-2].add(-coefficient * divergence(u))

    u = lax.fori_loop(0, steps, step, field)
    return np.sum(u * u)


def triangular_solve(L, b):
    """Entries that are not solved yet are zero: shapes may not depend on the trip."""

    def row(i, x):
        return x.at[i].set((b[i] - L[i] @ x) / L[i, i])

    x = lax.fori_loop(0, len(b), row, np.zeros_like(b))
    return np.sum(x * x)


def cholesky(A, weights):
    """Columns that are not reached yet are zero, and so is what is above the diagonal."""
    below = np.arange(len(A))

    def column(k, L):
        rest = np.where(below >= k, A[:, k] - L @ L[k], 0.0)
        return L.at[:, k].set(rest / np.sqrt(rest[k]))

    return np.sum(weights * lax.fori_loop(0, len(A), column, np.zeros_like(A)))


def nbody(x, v, masses, target, softening, dt, steps):
    accelerations = _beside("nbody", "accelerations")

    def step(_, state):
        x, v, a = state
        v = v + 0.5 * dt * a
        x = x + dt * v
        a = accelerations(x, masses, softening)
        return x, v + 0.5 * dt * a, a

    x, _, _ = lax.fori_loop(0, steps, step, (x, v, accelerations(x, masses, softening)))
    return np.sum((x - target) ** 2)


def pendulum(angle, velocity, damping, dt, steps):
    def step(_, state):
        angle, velocity = state
        velocity = velocity - dt * (np.sin(angle) + damping * velocity)
        return angle + dt * velocity, velocity

    return lax.fori_loop(0, steps, step, (angle, velocity))[0]


def spring_chain(x0, v0, k, mass, dt, n_steps):
    pulled, energy = with_numpy(functional.pulled, np), with_numpy(functional.spring_energy, np)

    def step(_, state):
        x, v = state
        v = 0.999 * (v + dt * pulled(x, k) / mass)
        return x + dt * v, v

    return energy(*lax.fori_loop(0, n_steps, step, (x0, v0)), k, mass)


def cox_partial_nll(beta, X, time, event, ridge):
    """The mask is a factor: a selection would have a length that depends on the numbers."""
    order = np.argsort(-time)
    X, event = X[order], event[order]
    eta = X @ beta
    shift = np.max(eta)
    log_risk = np.log(np.cumsum(np.exp(eta - shift))) + shift
    ll = np.sum(np.where(event, eta - log_risk, 0.0))
    return -ll / np.sum(event) + 0.5 * ridge * np.dot(beta, beta)


VERSIONS = {
    "adbench_gmm": with_numpy(WORKLOADS["adbench_gmm"].function, np, assembled=assembled),
    "black_scholes": partial(with_numpy(functional.black_scholes, np), erf=jax.scipy.special.erf),
    **{
        version.__name__: version
        for version in (
            adbench_lstm,
            lstm,
            lstm_loss,
            kalman_loglik,
            jacobi_2d,
            gauss_seidel,
            horizontal_diffusion,
            triangular_solve,
            cholesky,
            nbody,
            pendulum,
            spring_chain,
            cox_partial_nll,
        )
    },
}
