"""The classes of a lecture, as they stand on the board.

A model of one hidden layer learns that y is x1 times x2, by an imperative loop that moves its weights in place. Then it
is saved as a folder that runs where neither its classes nor tangentc are installed, and gives the same bits. The mean
square of what is wrong is to be below 0.001.
"""

import os
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


derivative = tangentc.value_and_grad(loss)


def points(rng):
    x = rng.uniform(-1, 1, size=(256, 2))
    return x, x[:, 0] * x[:, 1]


def run_by_itself(model, x):
    """What the model gives for these points once it is saved, in a process that has no tangentc on its path."""
    with tempfile.TemporaryDirectory() as folder:
        saved = learn.save(model.forward, Path(folder) / "product", x)
        np.savez(Path(folder) / "points.npz", x=x)
        command = [sys.executable, str(saved), str(Path(folder) / "points.npz"), str(Path(folder) / "results.npz")]
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        subprocess.run(command, check=True, env=environment)
        with np.load(Path(folder) / "results.npz", allow_pickle=False) as results:
            (result,) = results.values()
    return result


def solve(steps=4000):
    rng = np.random.default_rng(0)
    x, y = points(rng)
    model, losses = FullBasicModel(rng), []
    for _ in range(steps):
        value, g = derivative(model, x, y)
        losses.append(value)
        for layer, name in ((model.hidden, "hidden"), (model.out, "out")):
            layer.weight -= 0.1 * g[f"{name}.weight"]
            layer.bias -= 0.1 * g[f"{name}.bias"]
    same = np.array_equal(run_by_itself(model, x), model.forward(x))
    return {"losses": np.array(losses), "same": same}


def emitted():
    """The text of the gradient."""
    rng = np.random.default_rng(0)
    x, y = points(rng)
    return derivative.source_for(FullBasicModel(rng), x, y)


def main():
    found = solve()
    first, last = found["losses"][[0, -1]]
    print(f"the loss was {first:.2f}, and is {last:.4f}")
    print(f"the saved model, run by itself, gives the same bits: {found['same']}")
    if not last < 1e-3 or not found["same"]:
        sys.exit("the model has not learned, or was not saved as it is")


if __name__ == "__main__":
    main()
