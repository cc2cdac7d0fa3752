"""A mixture of three Gaussians.

Points in the plane that come from three clouds, and nothing says which from which. The likelihood of a mixture is
climbed by L-BFGS; weights and widths stay positive because their logarithms are what moves.
"""

import numpy as np
from scipy.optimize import minimize

import tangentc

CENTRES = np.array([[-2.0, 0.0], [1.5, 1.5], [1.0, -2.0]])
WIDTHS = np.array([0.5, 0.8, 0.4])


def negative_log_likelihood(p, X):
    log_weights, log_widths, means = p[:3], p[3:6], p[6:].reshape(3, 2)
    squares = np.sum((X[:, np.newaxis] - means) ** 2, axis=2)
    each = log_weights - 2 * log_widths - 0.5 * squares * np.exp(-2 * log_widths)
    top = np.max(each, axis=1, keepdims=True)
    per_point = np.log(np.sum(np.exp(each - top), axis=1)) + top[:, 0]
    return np.log(np.sum(np.exp(log_weights))) - np.mean(per_point)


derivative = tangentc.value_and_grad(negative_log_likelihood)


def solve():
    rng = np.random.default_rng(2)
    which = rng.integers(3, size=400)
    X = CENTRES[which] + WIDTHS[which, np.newaxis] * rng.normal(size=(400, 2))
    start = np.concatenate([np.zeros(6), [-1.0, 1.0, 1.0, 1.0, 0.0, -1.0]])
    found = minimize(derivative, start, (X,), method="L-BFGS-B", jac=True, tol=1e-10).x
    weights = np.exp(found[:3]) / np.sum(np.exp(found[:3]))
    return {"X": X, "weights": weights, "widths": np.exp(found[3:6]), "means": found[6:].reshape(3, 2)}


def main():
    found = solve()
    for weight, width, (x, y) in zip(found["weights"], found["widths"], found["means"]):
        print(f"a share of {weight:.2f} around ({x:5.2f}, {y:5.2f}), {width:.2f} wide")


if __name__ == "__main__":
    main()
