"""A hanging chain.

Two dozen links between two nails. The chain hangs where its energy is smallest: that of its height, and that of links
which hardly stretch. What comes out is the catenary, the curve that Bernoulli, Huygens and Leibniz found in 1691.
"""

import numpy as np
from scipy.optimize import brentq, minimize

import tangentc

LINKS, LENGTH = 24, 3.0
ENDS = np.array([[-1.0, 0.0], [1.0, 0.0]])


def energy(inner, stiffness):
    points = np.concatenate([ENDS[:1], inner.reshape(-1, 2), ENDS[1:]])
    links = points[1:] - points[:-1]
    stretch = np.sqrt(np.sum(links**2, axis=1)) * LINKS / LENGTH - 1
    height = 0.5 * (points[1:, 1] + points[:-1, 1])
    return np.mean(height) + 0.5 * stiffness * np.mean(stretch**2)


derivative = tangentc.value_and_grad(energy)


def catenary(x):
    a = brentq(lambda a: 2 * a * np.sinh(1 / a) - LENGTH, 0.1, 10.0)
    return a * (np.cosh(x / a) - np.cosh(1 / a))


def solve():
    x = np.linspace(-1.0, 1.0, LINKS + 1)[1:-1]
    inner = np.column_stack([x, x**2 - 1]).ravel()
    for stiffness in (1e1, 1e2, 1e3):
        found = minimize(derivative, inner, (stiffness,), method="L-BFGS-B", jac=True,
                         options={"maxiter": 4000, "maxfun": 8000, "ftol": 1e-15, "gtol": 1e-9})  # fmt: skip
        inner = found.x
    points = np.concatenate([ENDS[:1], inner.reshape(-1, 2), ENDS[1:]])
    return {"points": points, "apart": np.max(np.abs(points[:, 1] - catenary(points[:, 0])))}


def main():
    found = solve()
    print(f"the lowest point is at {np.min(found['points'][:, 1]):.2f}, that of the catenary at {catenary(0.0):.2f}")
    print(f"no point is more than 0.01 away from the catenary: {found['apart'] < 0.01}")


if __name__ == "__main__":
    main()
