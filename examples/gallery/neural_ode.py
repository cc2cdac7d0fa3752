"""A differential equation that learns.

The right-hand side of a differential equation is a small network; its weights are such that the solution passes
through points that were seen. The solver is a loop of Runge and Kutta's steps, and the gradient goes back through it.
"""

import numpy as np
from scipy.optimize import minimize

import tangentc

A = np.array([[-0.1, 2.0], [-2.0, -0.1]])


def step(f, z, h):
    k1 = f(z)
    k2 = f(z + 0.5 * h * k1)
    k3 = f(z + 0.5 * h * k2)
    k4 = f(z + h * k3)
    return z + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def velocity(p, z):
    hidden = np.tanh((z**3) @ p[:20].reshape(2, 10) + p[20:30])
    return hidden @ p[30:50].reshape(10, 2) + p[50:]


def path(p, z, h, steps):
    states = [z]
    for _ in range(steps):
        z = step(lambda z: velocity(p, z), z, h)
        states.append(z)
    return np.stack(states)


def misfit(p, seen, h):
    return np.mean((path(p, seen[0], h, len(seen) - 1) - seen) ** 2)


derivative = tangentc.value_and_grad(misfit)


def solve():
    h, z = 0.05, np.array([2.0, 0.0])
    seen = [z]
    for _ in range(60):
        z = step(lambda z: (z**3) @ A.T, z, h)
        seen.append(z)
    seen = np.stack(seen)
    p = 0.3 * np.random.default_rng(5).normal(size=52)
    start = path(p, seen[0], h, 60)
    for length in (8, 20, 61):  # the beginning first: of a long path the end says little
        p = minimize(derivative, p, (seen[:length], h), method="BFGS", jac=True, options={"maxiter": 120}).x
    return {"seen": seen, "start": start, "found": path(p, seen[0], h, 60)}


def main():
    found = solve()
    apart = np.sqrt(np.mean((found["found"] - found["seen"]) ** 2))
    print(f"the solution is less than 0.02 away from what was seen: {apart < 0.02}")


if __name__ == "__main__":
    main()
