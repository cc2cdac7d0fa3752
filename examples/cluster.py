"""The energy of a cluster of 38 atoms, minimised by SciPy along a gradient of njit code.

The energy is that of Lennard-Jones, a double loop over pairs with an early `continue` and a helper, as one writes it
for Numba.  Its gradient is emitted as loops that Numba compiles too; differences would take 114 energies in its place.
This program prints the energies, and exits with an error if the forces do not vanish in the end.
"""

import sys

import numba
import numpy as np
from scipy.optimize import minimize

import tangentc

CUT = 6.25  # the square of the distance from which on atoms do not see each other


@numba.njit
def pair(r2):
    """The potential of a pair, shifted to zero where it is cut off."""
    s = 1.0 / (r2 * r2 * r2)
    edge = 1.0 / (CUT * CUT * CUT)
    return 4.0 * (s * s - s) - 4.0 * (edge * edge - edge)


@numba.njit
def energy(x):
    """The energy of atoms at ``x[3 i : 3 i + 3]``."""
    total = 0.0
    n = len(x) // 3
    for i in range(n):
        for j in range(i):
            r2 = 0.0
            for k in range(3):
                r2 += (x[3 * i + k] - x[3 * j + k]) ** 2
            if r2 > CUT:
                continue
            total += pair(r2)
    return total


def main():
    rng = np.random.default_rng(2)
    grid = np.stack(np.meshgrid(*[np.arange(4.0)] * 3), -1).reshape(-1, 3)[:38] * 1.15
    start = (grid + 0.05 * rng.normal(size=grid.shape)).ravel()
    slope = tangentc.value_and_grad(energy)
    found = minimize(slope, start, jac=True, method="L-BFGS-B", options={"maxiter": 2000, "maxfun": 5000})
    _, forces = slope(found.x)
    print(f"energy {energy(start):.3f} -> {found.fun:.3f} in {found.nfev} evaluations")
    print(f"largest force {np.max(np.abs(forces)):.1e}")
    return 0 if found.fun < energy(start) and np.max(np.abs(forces)) < 1e-2 else 1


if __name__ == "__main__":
    sys.exit(main())
