"""Gradients by lists of weights: one compiled gradient for networks of other depths, widths and broadcast biases."""

import copy
import random

import numpy as np
import pytest

from tangentc import grad, value_and_grad


def two_lists(Ws, bs, x, y):
    for W, b in zip(Ws, bs):
        x = np.tanh(x @ W + b)
    return np.sum((x - y) ** 2)


def in_turn(weights, x, y):
    for W, b in zip(weights[0::2], weights[1::2]):
        x = np.tanh(x @ W + b)
    return np.sum((x - y) ** 2)


def by_index(weights, x, y):
    for k in range(len(weights) // 2 - 1):
        x = np.maximum(x @ weights[2 * k] + weights[2 * k + 1], 0.1)
    return np.sum((x @ weights[-2] + weights[-1] - y) ** 2)


def kept_and_met_again(layers, x, y):
    outs = []
    for layer in layers:
        x = np.tanh(x @ layer["W"] + layer["b"])
        outs.append(x)
    loss = np.sum((outs[-1] - y) ** 2)
    for out, layer in zip(outs, layers):
        loss = loss + np.sum(out) * np.sum(layer["b"])
    return loss


def leaves(value):
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in leaves(value[key])]
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, (list, tuple)) else [value]


def moved(value, steps):
    if isinstance(value, dict):
        return {key: moved(value[key], steps) for key in sorted(value)}
    if isinstance(value, (list, tuple)):
        return type(value)(moved(part, steps) for part in value)
    return value + next(steps)


@pytest.mark.parametrize("function", [two_lists, in_turn, by_index, kept_and_met_again])
def test_one_gradient_for_networks_of_all_sizes(function):
    choose, rng = random.Random(function.__name__), np.random.default_rng(1)
    count = 3 if function is two_lists else 2
    gradient = value_and_grad(function, wrt=tuple(range(count)))
    for _ in range(30):
        pool = choose.choice([[9, 12], [8], [1, 9], [2, 3, 9], [1], [10, 11, 12, 30]])
        sizes = [choose.choice(pool) for _ in range(choose.choice([1, 2, 3, 18]) + 1)]
        Ws = [rng.normal(size=size) / 3 for size in zip(sizes, sizes[1:])]
        bs = [rng.normal(size=choose.choice([m, m, m, 1])) for m in sizes[1:]]
        rows = choose.choice([1, 5, 9, sizes[0]])
        x, y = rng.normal(size=(rows, sizes[0])), rng.normal(size=choose.choice([(rows, sizes[-1]), (rows, 1), (1, 1)]))
        weights = {two_lists: (Ws, bs), kept_and_met_again: ([{"W": W, "b": b} for W, b in zip(Ws, bs)],)}.get(
            function, ([a for pair in zip(Ws, bs) for a in pair],)
        )
        args = (*weights, x, y)
        value, found = gradient(*copy.deepcopy(args))
        found = leaves(found)
        directions = [rng.normal(size=a.shape) for a in leaves(args[:count])]

        def along(h, args=args, directions=directions):
            return function(*moved(args[:count], iter([h * d for d in directions])), *args[count:])

        assert [a.shape for a in found] == [d.shape for d in directions]
        assert not any(np.may_share_memory(a, b) for k, a in enumerate(found) for b in found[k + 1 :])
        np.testing.assert_allclose(value, function(*args), rtol=1e-12)
        slope = sum(np.sum(a * d) for a, d in zip(found, directions))
        np.testing.assert_allclose(slope, (along(1e-6) - along(-1e-6)) / 2e-6, rtol=1e-5, atol=1e-5)


def test_one_array_for_two_layers():
    A, B = np.random.default_rng(2).normal(size=(2, 3, 3))
    x = np.ones((2, 3))

    def loss(Ws, x):
        for W in Ws:
            x = np.tanh(x @ W)
        return np.sum(x)

    found = grad(loss)([A, A, B], x)
    apart = grad(loss)([A.copy(), A.copy(), B], x)
    assert not np.may_share_memory(found[0], found[1])
    np.testing.assert_array_equal(found, apart)
