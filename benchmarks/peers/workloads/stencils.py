"""Stencils that are applied in place: Jacobi's in two dimensions, Gauss-Seidel, horizontal diffusion.

The three are those of the Dwarf and PolyBench families of kernels, with a sum of squares behind them.
"""

import numpy as np

from ..workload import Workload


def jacobi_2d(A, B, steps):
    """Two grids of shape (n, n), each smoothed into the other."""
    A = A.copy()
    B = B.copy()
    for _ in range(steps):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])
    return np.sum(A * A)


def _spread(rhs_bar, grid_bar):
    """Add to a grid's adjoint, whose inner part is spent, what the four neighbours and the point itself are due."""
    grid_bar[1:-1, 1:-1] = rhs_bar
    grid_bar[1:-1, :-2] += rhs_bar
    grid_bar[1:-1, 2:] += rhs_bar
    grid_bar[2:, 1:-1] += rhs_bar
    grid_bar[:-2, 1:-1] += rhs_bar


def jacobi_2d_by_hand(A, B, steps):
    """The stencil is linear: nothing is kept, and each step overwrites all that is inside."""
    A = A.copy()
    B = B.copy()
    for _ in range(steps):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])
    A_bar = 2 * A
    B_bar = np.zeros_like(B)
    for _ in range(steps):
        _spread(0.2 * A_bar[1:-1, 1:-1], B_bar)
        _spread(0.2 * B_bar[1:-1, 1:-1], A_bar)
    B_bar[1:-1, 1:-1] = 0
    return np.sum(A * A), (A_bar, B_bar)


def gauss_seidel(u, f, sweeps):
    """Sweeps of Gauss and Seidel for Poisson's equation on a grid of shape (n, n): new values as soon as they are."""
    u = u.copy()
    n = len(u)
    for _ in range(sweeps):
        for i in range(1, n - 1):
            u[i, 1:-1] = 0.25 * (u[i - 1, 1:-1] + u[i + 1, 1:-1] + u[i, 2:] - f[i, 1:-1])
            for j in range(1, n - 1):
                u[i, j] += 0.25 * u[i, j - 1]
    return np.sum(u * u)


def gauss_seidel_by_hand(u, f, sweeps):
    u = u.copy()
    n = len(u)
    for _ in range(sweeps):
        for i in range(1, n - 1):
            u[i, 1:-1] = 0.25 * (u[i - 1, 1:-1] + u[i + 1, 1:-1] + u[i, 2:] - f[i, 1:-1])
            for j in range(1, n - 1):
                u[i, j] += 0.25 * u[i, j - 1]
    u_bar = 2 * u
    f_bar = np.zeros_like(f)
    for _ in range(sweeps):
        for i in range(n - 2, 0, -1):
            for j in range(n - 2, 0, -1):
                u_bar[i, j - 1] += 0.25 * u_bar[i, j]
            rhs_bar = 0.25 * u_bar[i, 1:-1]
            u_bar[i, 1:-1] = 0
            u_bar[i - 1, 1:-1] += rhs_bar
            u_bar[i + 1, 1:-1] += rhs_bar
            u_bar[i, 2:] += rhs_bar
            f_bar[i, 1:-1] -= rhs_bar
    return np.sum(u * u), (u_bar, f_bar)


def horizontal_diffusion(field, coefficient, steps):
    """Limited diffusion of fourth order in each level of a weather model's field.

    `field` has the shape (n + 4, m + 4, levels), `coefficient` (n, m, levels).
    """
    u = field.copy()
    for _ in range(steps):
        lap = 4.0 * u[1:-1, 1:-1] - (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
        dx = lap[1:, 1:-1] - lap[:-1, 1:-1]
        flux_x = np.where(dx * (u[2:-1, 2:-2] - u[1:-2, 2:-2]) > 0, 0.0, dx)
        dy = lap[1:-1, 1:] - lap[1:-1, :-1]
        flux_y = np.where(dy * (u[2:-2, 2:-1] - u[2:-2, 1:-2]) > 0, 0.0, dy)
        u[2:-2, 2:-2] -= coefficient * (flux_x[1:] - flux_x[:-1] + flux_y[:, 1:] - flux_y[:, :-1])
    return np.sum(u * u)


def horizontal_diffusion_by_hand(field, coefficient, steps):
    """What is kept of a step: where the limiter let the flux through, and the divergence."""
    u = field.copy()
    saved = []
    for _ in range(steps):
        lap = 4.0 * u[1:-1, 1:-1] - (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
        flux_x = lap[1:, 1:-1] - lap[:-1, 1:-1]
        kept_x = flux_x * (u[2:-1, 2:-2] - u[1:-2, 2:-2]) <= 0
        flux_x *= kept_x
        flux_y = lap[1:-1, 1:] - lap[1:-1, :-1]
        kept_y = flux_y * (u[2:-2, 2:-1] - u[2:-2, 1:-2]) <= 0
        flux_y *= kept_y
        divergence = flux_x[1:] - flux_x[:-1] + flux_y[:, 1:] - flux_y[:, :-1]
        saved.append((kept_x, kept_y, divergence))
        u[2:-2, 2:-2] -= coefficient * divergence
    u_bar = 2 * u
    coefficient_bar = np.zeros_like(coefficient)
    lap_bar, dx_bar, dy_bar = np.empty_like(lap), np.zeros_like(flux_x), np.zeros_like(flux_y)
    for kept_x, kept_y, divergence in reversed(saved):
        inner_bar = u_bar[2:-2, 2:-2]
        coefficient_bar -= inner_bar * divergence
        divergence_bar = coefficient * inner_bar
        # the signs of the two differences, of the divergence and of the subtraction meet
        np.negative(divergence_bar, out=dx_bar[1:])
        dx_bar[0] = 0
        dx_bar[:-1] += divergence_bar
        dx_bar *= kept_x
        np.negative(divergence_bar, out=dy_bar[:, 1:])
        dy_bar[:, 0] = 0
        dy_bar[:, :-1] += divergence_bar
        dy_bar *= kept_y
        lap_bar[:] = 0
        lap_bar[1:, 1:-1] += dx_bar
        lap_bar[:-1, 1:-1] -= dx_bar
        lap_bar[1:-1, 1:] += dy_bar
        lap_bar[1:-1, :-1] -= dy_bar
        u_bar[1:-1, 1:-1] += 4.0 * lap_bar
        u_bar[2:, 1:-1] -= lap_bar
        u_bar[:-2, 1:-1] -= lap_bar
        u_bar[1:-1, 2:] -= lap_bar
        u_bar[1:-1, :-2] -= lap_bar
    return np.sum(u * u), (u_bar, coefficient_bar)


def two_grids(n, steps):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, n)), rng.normal(size=(n, n)), steps


def levels(n, m, k, steps):
    rng = np.random.default_rng(1)
    return rng.normal(size=(n + 4, m + 4, k)), 0.02 * rng.random((n, m, k)), steps


WORKLOADS = [
    Workload(
        "jacobi_2d", jacobi_2d, jacobi_2d_by_hand, ("A", "B"), lambda: two_grids(200, 20), lambda: two_grids(7, 3)
    ),
    Workload(
        "gauss_seidel",
        gauss_seidel,
        gauss_seidel_by_hand,
        ("u", "f"),
        lambda: two_grids(40, 5),
        lambda: two_grids(6, 2),
    ),
    Workload(
        "horizontal_diffusion",
        horizontal_diffusion,
        horizontal_diffusion_by_hand,
        ("field", "coefficient"),
        lambda: levels(48, 48, 16, 5),
        lambda: levels(4, 3, 2, 2),
    ),
]
