"""A division by a norm that is zero.

Rows of data are brought to length one; one of them is zero.  The gradient is NaN, and a checked gradient stops at the
first adjoint that is, and names the line.
"""

import numpy as np

import tangentc


def similarity(X, w):
    lengths = np.sqrt(np.sum(X * X, axis=1))
    unit = X / lengths[:, np.newaxis]
    return np.sum(np.tanh(unit @ w))


def main():
    """Print where the first NaN comes from, and what a checked gradient says."""
    X = np.array([[3.0, 4.0], [0.0, 0.0], [1.0, 1.0]])
    w = np.array([0.5, -0.5])
    with np.errstate(all="ignore"):
        print("gradient:", tangentc.grad(similarity, wrt="w")(X, w))
        found = tangentc.trace(similarity, wrt="w")(X, w).first_nonfinite()
        print(found)
        try:
            tangentc.grad(similarity, wrt="w", check="finite")(X, w)
        except tangentc.NotFinite as error:
            print(error)
    return found


if __name__ == "__main__":
    main()
