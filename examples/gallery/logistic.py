"""Two classes, by Newton's method.

A logistic regression with a small penalty, fitted by Newton's method: `hessian` gives the matrix of second
derivatives, and each of the last steps doubles the number of digits that are right.
"""

import numpy as np

import tangentc


def loss(w, X, y):
    logits = X @ w[:2] + w[2]
    return np.sum(np.logaddexp(0, logits) - y * logits) + 0.05 * np.sum(w**2)


derivative = tangentc.grad(loss)
curvature = tangentc.hessian(loss)


def solve():
    rng = np.random.default_rng(1)
    y = np.repeat([0.0, 1.0], 60)
    X = rng.normal(size=(120, 2)) + np.where(y == 1, 1.2, -0.8)[:, np.newaxis] * [1.0, 0.6]
    w, slopes = np.zeros(3), []
    for _ in range(9):
        slope = derivative(w, X, y)
        slopes.append(np.linalg.norm(slope))
        w = w - np.linalg.solve(curvature(w, X, y), slope)
    right = np.mean((X @ w[:2] + w[2] > 0) == y)
    return {"X": X, "y": y, "w": w, "slopes": np.array(slopes), "right": right}


def main():
    found = solve()
    for step, norm in enumerate(found["slopes"]):
        print(
            f"step {step}: the gradient has length {norm:.0e}" if norm > 1e-10 else f"step {step}: the gradient is zero"
        )
    print(f"{found['right']:.1%} of the points are on their side of the line")


if __name__ == "__main__":
    main()
