"""A NaN out of the branch that was not taken.

`np.where(d > 0, root(d), 0.0)` takes no root of what is not positive, it seems; but both branches are computed, and
`root` is a function of its own that knows nothing of the test.  At d = 0 its derivative is infinite, times the zero
of the branch that was not taken.
"""

import numpy as np

import tangentc


def root(d):
    return np.sqrt(d)


def energy(x):
    d = np.abs(x) - 1.0
    r = np.where(d > 0, root(d), 0.0)
    return np.sum(r * r)


def main():
    """Print where the NaN comes from, and the gradient of a function without one."""
    x = np.array([0.5, 1.0, 3.0])
    with np.errstate(all="ignore"):
        found = tangentc.trace(energy)(x).nonfinite
    print("gradient:", tangentc.grad(energy)(x))
    for place in found:
        print(place)

    def repaired(x):
        d = np.abs(x) - 1.0
        r = np.where(d > 0, root(np.where(d > 0, d, 1.0)), 0.0)
        return np.sum(r * r)

    print("repaired:", tangentc.grad(repaired)(x))
    return found


if __name__ == "__main__":
    with np.errstate(all="ignore"):
        main()
