"""Mechanics: bodies that attract each other, by the leapfrog scheme."""

import numpy as np

from ..workload import Workload


def accelerations(x, masses, softening):
    """Newton's attraction, softened; x has the shape (n, 3)."""
    d = x[None, :, :] - x[:, None, :]
    strength = (np.sum(d * d, axis=2) + softening**2) ** -1.5
    return np.sum((strength * masses)[:, :, None] * d, axis=1)


def nbody(x, v, masses, target, softening, dt, steps):
    """How far the bodies end from a target, squared."""
    x = x.copy()
    v = v.copy()
    a = accelerations(x, masses, softening)
    for _ in range(steps):
        v += 0.5 * dt * a
        x += dt * v
        a = accelerations(x, masses, softening)
        v += 0.5 * dt * a
    return np.sum((x - target) ** 2)


def attraction(x, masses, softening):
    """The accelerations as one product of matrices, and what their adjoint reads."""
    d = x[None, :, :] - x[:, None, :]
    squares = np.einsum("ijc,ijc->ij", d, d)
    squares += softening**2
    strength = 1 / (squares * np.sqrt(squares))
    weighted = strength * masses
    a = weighted @ x - np.sum(weighted, axis=1)[:, None] * x
    return a, (x.copy(), squares, strength, weighted)


def attraction_adjoint(saved, masses, a_bar, x_bar, masses_bar):
    """Add to the adjoints of positions and masses what the accelerations' adjoint, of shape (n, 3), gives them."""
    x, squares, strength, weighted = saved
    along = a_bar @ x.T - np.sum(a_bar * x, axis=1)[:, None]  # the adjoint of a body along the line to another
    along *= strength
    masses_bar += np.sum(along, axis=0)
    along *= masses
    along *= -3 / squares
    x_bar += weighted.T @ a_bar - np.sum(weighted, axis=1)[:, None] * a_bar
    x_bar += (np.sum(along, axis=0) + np.sum(along, axis=1))[:, None] * x - (along + along.T) @ x


def nbody_by_hand(x, v, masses, target, softening, dt, steps):
    """Two half kicks between drifts are one kick; the last kick moves nothing, and is not computed."""
    x = x.copy()
    saved = []
    for step in range(steps):
        a, kept = attraction(x, masses, softening)
        saved.append(kept)
        v = v + (dt if step else 0.5 * dt) * a
        x += dt * v
    error = x - target
    x_bar = 2 * error
    v_bar = np.zeros_like(v)
    masses_bar = np.zeros_like(masses)
    for step in reversed(range(steps)):
        v_bar += dt * x_bar
        attraction_adjoint(saved.pop(), masses, (dt if step else 0.5 * dt) * v_bar, x_bar, masses_bar)
    return np.sum(error**2), (x_bar, v_bar, masses_bar)


def bodies(n, steps):
    rng = np.random.default_rng(4)
    x, v, target = rng.normal(size=(3, n, 3))
    return x, 0.1 * v, rng.random(n) / n, target, 0.1, 0.01, steps


WORKLOADS = [
    Workload("nbody", nbody, nbody_by_hand, ("x", "v", "masses"), lambda: bodies(40, 50), lambda: bodies(4, 3))
]
