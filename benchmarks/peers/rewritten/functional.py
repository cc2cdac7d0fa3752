"""Workloads without stores into arrays: every step makes new arrays.  `np` is the peer's."""

import numpy as np


def adbench_lstm(main, extra, state, sequence, cell_of):
    """`cell_of` is one layer.  The rows are taken out of their arrays once, not in each step."""
    main, extra, state = list(main), list(extra), list(state)
    total = 0.0
    for t in range(len(sequence) - 1):
        x = sequence[t] * extra[0]
        for k in range(0, len(state), 2):
            state[k], state[k + 1] = cell_of(main[k], main[k + 1], state[k], state[k + 1], x)
            x = state[k]
        y = x * extra[1] + extra[2]
        total = total + np.sum(sequence[t + 1] * (y - np.log(np.sum(np.exp(y)) + 2)))
    return -total / ((len(sequence) - 1) * sequence.shape[1])


def framed(grid, inner, width):
    """The grid with another inner part, inside a frame so wide; the first two axes of each are the plane's."""
    middle = grid[width:-width]
    middle = np.concatenate([middle[:, :width], inner, middle[:, -width:]], axis=1)
    return np.concatenate([grid[:width], middle, grid[-width:]], axis=0)


def smoothed(A):
    return 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])


def jacobi_2d(A, B, steps):
    for _ in range(steps):
        B = framed(B, smoothed(A), 1)
        A = framed(A, smoothed(B), 1)
    return np.sum(A * A)


def divergence(u):
    """Of the limited flux, inside a frame of two."""
    lap = 4.0 * u[1:-1, 1:-1] - (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
    dx = lap[1:, 1:-1] - lap[:-1, 1:-1]
    flux_x = np.where(dx * (u[2:-1, 2:-2] - u[1:-2, 2:-2]) > 0, 0.0, dx)
    dy = lap[1:-1, 1:] - lap[1:-1, :-1]
    flux_y = np.where(dy * (u[2:-2, 2:-1] - u[2:-2, 1:-2]) > 0, 0.0, dy)
    return flux_x[1:] - flux_x[:-1] + flux_y[:, 1:] - flux_y[:, :-1]


def horizontal_diffusion(field, coefficient, steps):
    u = field
    for _ in range(steps):
        u = framed(u, u[2:-2, 2:-2] - coefficient * divergence(u), 2)
    return np.sum(u * u)


def nbody(x, v, masses, target, softening, dt, steps, accelerations):
    """`accelerations` are those of the workload."""
    a = accelerations(x, masses, softening)
    for _ in range(steps):
        v = v + 0.5 * dt * a
        x = x + dt * v
        a = accelerations(x, masses, softening)
        v = v + 0.5 * dt * a
    return np.sum((x - target) ** 2)


def pulled(x, k):
    """The forces of springs on all masses, the two at the ends being held."""
    tension = k * (x[1:] - x[:-1] - 1.0)
    held = np.zeros(1)
    return np.concatenate([held, tension[1:] - tension[:-1], held])


def spring_energy(x, v, k, mass):
    return 0.5 * np.sum(mass * v**2) + 0.5 * np.sum(k * (x[1:] - x[:-1] - 1.0) ** 2)


def spring_chain(x0, v0, k, mass, dt, n_steps):
    x, v = x0, v0
    for _ in range(n_steps):
        v = 0.999 * (v + dt * pulled(x, k) / mass)
        x = x + dt * v
    return spring_energy(x, v, k, mass)


def pendulum(angle, velocity, damping, dt, steps):
    for _ in range(steps):
        velocity = velocity - dt * (np.sin(angle) + damping * velocity)
        angle = angle + dt * velocity
    return angle


def black_scholes(spot, strike, rate, volatility, years, erf):
    """`erf` is the peer's."""
    spread = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / spread
    likely = 0.5 * (1 + erf(d1 / 2**0.5))
    exercised = 0.5 * (1 + erf((d1 - spread) / 2**0.5))
    return spot * likely - strike * np.exp(-rate * years) * exercised
