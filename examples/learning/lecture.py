"""The classes of a lecture, as they stand on the board, trained by an imperative loop that moves weights in place.

A model of one hidden layer learns y = x1 * x2 on made-up points; then it is saved as a folder that runs where neither
its classes nor tangentc are installed.  The program prints the loss before and after, and the emitted gradient.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import tangentc
from tangentc import learn


class LinearLayer:
    def __init__(self, inputs, outputs, rng):
        self.weight = rng.normal(size=(inputs, outputs)) / np.sqrt(inputs)
        self.bias = np.zeros(outputs)

    def forward(self, x):
        return x @ self.weight + self.bias


class FullBasicModel:
    def __init__(self, rng):
        self.hidden = LinearLayer(2, 16, rng)
        self.out = LinearLayer(16, 1, rng)

    def forward(self, x):
        return self.out.forward(np.tanh(self.hidden.forward(x)))


def loss(model, x, y):
    return np.mean((model.forward(x)[:, 0] - y) ** 2)


def main():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, size=(256, 2))
    y = x[:, 0] * x[:, 1]
    model = FullBasicModel(rng)
    value_and_grad = tangentc.value_and_grad(loss)
    print(value_and_grad.source_for(model, x, y))
    first = loss(model, x, y)
    for _ in range(4000):
        value, g = value_and_grad(model, x, y)
        for layer, name in ((model.hidden, "hidden"), (model.out, "out")):
            layer.weight -= 0.1 * g[f"{name}.weight"]
            layer.bias -= 0.1 * g[f"{name}.bias"]
    print(f"the loss was {first:.4f}, and is {value:.6f}")

    with tempfile.TemporaryDirectory() as folder:
        saved = learn.save(model.forward, Path(folder) / "product", x)
        np.savez(Path(folder) / "points.npz", x=x)
        command = [sys.executable, str(saved), str(Path(folder) / "points.npz"), str(Path(folder) / "results.npz")]
        subprocess.run(command, check=True, env={})
        with np.load(Path(folder) / "results.npz", allow_pickle=False) as results:
            (result,) = results.values()
    same = np.array_equal(result, model.forward(x))
    print(f"the saved model, run by itself, gives the same bits: {same}")
    if value > 1e-3 or not same:
        sys.exit("the model has not learned, or was not saved as it is")


if __name__ == "__main__":
    main()
