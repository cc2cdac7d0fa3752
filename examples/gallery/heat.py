"""A heat equation, backwards.

A rod was heated somewhere. What is known is its temperature after a while, with noise. Which temperature it began
with is found by least squares, with a penalty on its slope. The loop writes into its array; since each step is
linear, the adjoint saves nothing.
"""

import numpy as np
from scipy.optimize import minimize

import tangentc


def spread(u, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += 0.4 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


def misfit(u, seen, steps):
    return np.sum((spread(u, steps) - seen) ** 2) + 1e-3 * np.sum((u[1:] - u[:-1]) ** 2)


derivative = tangentc.value_and_grad(misfit)


def solve():
    x = np.linspace(0.0, 1.0, 80)
    true = np.exp(-(((x - 0.3) / 0.07) ** 2)) + 0.6 * np.exp(-(((x - 0.7) / 0.1) ** 2))
    seen = spread(true, 60) + 0.005 * np.random.default_rng(4).normal(size=x.size)
    found = minimize(derivative, seen, (seen, 60), method="L-BFGS-B", jac=True, options={"maxiter": 400}).x
    return {"x": x, "true": true, "seen": seen, "found": found}


def main():
    found = solve()
    apart = {
        name: np.linalg.norm(found[name] - found["true"]) / np.linalg.norm(found["true"]) for name in ("seen", "found")
    }
    print(f"what was seen is {apart['seen']:.0%} away from the beginning, what was found {apart['found']:.0%}")


if __name__ == "__main__":
    main()
