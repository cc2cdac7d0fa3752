"""What a call costs over the emitted function: the types are checked, and what the code depends on.

python benchmarks/dispatch.py
"""

import time
from dataclasses import dataclass

import numpy as np

import tangentc


def of_three_arrays(x, W, b):
    return np.sum(np.tanh(x @ W) + b)


def of_a_dict(layers):
    total = 0.0
    for layer in layers.values():
        total = total + np.sum(layer["W"] * 2.0) + np.sum(layer["b"])
    return total


@dataclass
class Model:
    W: np.ndarray
    b: np.ndarray
    c: np.ndarray

    def loss(self, x):
        return np.sum(np.tanh(x @ self.W + self.b)) + np.sum(self.c)


def of_an_object(model, x):
    return np.sum(np.tanh(x @ model.W + model.b)) + np.sum(model.c)


def cases():
    """A name, a function, its arguments, and what it is differentiated by."""
    x, W, b = np.ones((50, 30)), np.ones((30, 40)), np.ones(40)
    layers = {f"layer{k}": {"W": np.ones((3, 4 + k)), "b": np.ones(4 + k)} for k in range(10)}
    model = Model(W, b, np.ones(3))
    yield "three arrays", of_three_arrays, (x, W, b), (0, 1, 2)
    yield "a nested dict of 20 arrays", of_a_dict, (layers,), 0
    yield "a bound method", model.loss, (x,), 0
    yield "an object with three arrays", of_an_object, (model, x), 0


def seconds(function, args, repeats=200):
    """Processor time for one call."""
    start = time.process_time()
    for _ in range(repeats):
        function(*args)
    return (time.process_time() - start) / repeats


def overhead(called, emitted, args, bound, rounds=60):
    """Microseconds of the emitted function, and of a call beyond them: the median of rounds that are interleaved."""
    pairs = [(seconds(emitted, bound), seconds(called, args)) for _ in range(rounds)]
    return 1e6 * np.median([e for e, _ in pairs]), 1e6 * np.median([c - e for e, c in pairs])


def nothing(*args):
    """Instead of the emitted function, so that only the call is measured."""


def main():
    """Print, for each kind of arguments, what the emitted function costs, and what a call costs beyond it."""
    print(f"{'grad of a function of':30}{'emitted':>10}{'over it':>10}{'checks':>10}")
    for name, function, args, wrt in cases():
        gradient = tangentc.grad(function, wrt=wrt)
        for _ in range(3):
            gradient(*args)
        bound = gradient.bind(args, {})
        emitted, _ = overhead(gradient, gradient.last.function, args, bound)
        gradient.last.function, without = nothing, gradient.last.function
        _, over = overhead(gradient, nothing, args, bound)
        gradient.last.function = without
        _, checks = overhead(gradient.code.dispatches[0].takes, nothing, args, bound)
        print(f"{name:30}{emitted:8.1f}us{over:8.2f}us{checks:8.2f}us")


if __name__ == "__main__":
    main()
