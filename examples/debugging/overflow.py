"""An overflow in a recurrent network.

The state grows in each step until `np.exp` of it is infinite; the loss, a few lines further down, is NaN, and so is
the gradient of every weight.
"""

import numpy as np

import tangentc


def loss(W, b, inputs):
    h = np.zeros(len(b))
    for x in inputs:
        gate = 1 / (1 + np.exp(-h))
        h = np.exp(gate * (W @ h) + x) * b
    return np.sum((h - np.mean(h)) ** 2)


def main():
    """Print where the first infinity comes from, in which trip of the loop, and of which operands."""
    rng = np.random.default_rng(0)
    W, b, inputs = 0.5 * np.eye(4) + 0.5, np.ones(4), rng.normal(size=(12, 4))
    with np.errstate(all="ignore"):
        print("gradient:", tangentc.grad(loss, wrt="b")(W, b, inputs))
        run = tangentc.trace(loss, wrt="b")(W, b, inputs)
    print(run.first_nonfinite())
    return run.first_nonfinite()


if __name__ == "__main__":
    main()
