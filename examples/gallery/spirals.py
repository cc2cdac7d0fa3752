"""Two spirals, by a small network.

Two classes that wind around each other. The network is a class of plain Python; its gradient is a dict with an entry
for each of its arrays, and Adam moves them in place.
"""

import numpy as np

import tangentc


class Network:
    def __init__(self, sizes, rng):
        self.W = [rng.normal(size=(m, n)) * np.sqrt(2.0 / m) for m, n in zip(sizes, sizes[1:])]
        self.b = [np.zeros(n) for n in sizes[1:]]

    def logits(self, X):
        h = X
        for W, b in zip(self.W[:-1], self.b[:-1]):
            h = np.tanh(h @ W + b)
        return (h @ self.W[-1] + self.b[-1])[:, 0]

    def loss(self, X, y):
        logits = self.logits(X)
        return np.mean(np.logaddexp(0, logits) - y * logits)


derivative = tangentc.value_and_grad(Network.loss)


def spirals(rng):
    turn = 3.0 * np.sqrt(rng.uniform(0.02, 1.0, size=150)) * np.pi
    arm = np.column_stack([turn * np.cos(turn), turn * np.sin(turn)]) / 9.0 + 0.02 * rng.normal(size=(150, 2))
    return np.concatenate([arm, -arm]), np.repeat([0.0, 1.0], 150)


def solve():
    rng = np.random.default_rng(3)
    X, y = spirals(rng)
    model, losses = Network((2, 24, 24, 1), rng), []
    arrays = [*model.W, *model.b]
    means, squares = [np.zeros_like(a) for a in arrays], [np.zeros_like(a) for a in arrays]
    for step in range(1, 1201):
        value, slope = derivative(model, X, y)
        losses.append(value)
        for a, g, m, s in zip(arrays, [*slope["W"], *slope["b"]], means, squares):
            m += 0.1 * (g - m)
            s += 0.001 * (g * g - s)
            a -= 0.02 * (m / (1 - 0.9**step)) / (np.sqrt(s / (1 - 0.999**step)) + 1e-8)
    right = np.mean((model.logits(X) > 0) == y)
    return {"X": X, "y": y, "model": model, "losses": np.array(losses), "right": right}


def main():
    found = solve()
    print(f"the loss went from {found['losses'][0]:.1f} to below 0.05: {found['losses'][-1] < 0.05}")
    print(f"more than 98 % of the points are told apart: {found['right'] > 0.98}")


if __name__ == "__main__":
    main()
