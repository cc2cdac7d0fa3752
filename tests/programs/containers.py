"""Programs whose arguments, values or results are containers, and programs with calls."""

import dataclasses
import math
from typing import NamedTuple

import numpy as np

normal = np.random.default_rng(3).normal


class Layer(NamedTuple):
    W: np.ndarray
    b: np.ndarray


@dataclasses.dataclass
class Model:
    scale: float
    layer: Layer
    name: str


def helper(x, k=2.0, *, shift=0.0):
    return x * k + shift


def dense(x, W, b):
    return np.tanh(x @ W + b)


def network(params, x):
    for W, b in params:
        x = dense(x, W, b)
    return np.sum(x)


def dictionary(params, x):
    hidden = dense(x, params["W"], params["b"])
    return np.sum(hidden * params["scale"]) + np.sum(params["W"] ** 2)


def items_of_dict(params):
    total = 0.0
    for name, value in params.items():
        if name != "skip":
            total += np.sum(value**2)
    return total


def model(m, x):
    if m.name == "linear":
        return m.scale * np.sum(x @ m.layer.W + m.layer.b)
    return np.sum(np.tanh(x @ m.layer.W))


def calls(x):
    a, b = x[0], x[1]
    for _ in range(3):
        a, b = b, a * b
    return helper(a) + helper(b, k=3.0) + helper(b, shift=a) * helper(2.0)


def two_kinds(x, v):
    return helper(x) * np.sum(helper(v)) + np.sum(helper(v, k=x))


def local_containers(x):
    d = {"a": x * 2, "b": [x[0], x[1]]}
    pair = (d["b"][0], d["a"])
    return np.sum(pair[1]) * pair[0] if x[0] > 0 else d["b"][1] * 2


def list_of_floats(values, k):
    total = 0.0
    for i in range(len(values)):
        total = total + values[i] * values[i - 1] * k
    return total


def outer_loop_calls(x):
    total = 0.0
    for k in range(3):
        total = total + polynomial(x, k) * total + polynomial(x * x, 2)
    return total


def polynomial(x, n):
    y = 1.0
    for i in range(n):
        y = y * x + i
    return y


PARAMS = {"W": normal(size=(3, 2)), "b": normal(size=2), "scale": 0.7}
PROGRAMS = [
    (network, ([(normal(size=(3, 4)), normal(size=4)), (normal(size=(4, 4)), normal(size=4)), (normal(size=(4, 2)), normal(size=2))], normal(size=(5, 3)))),
    (network, ((Layer(normal(size=(3, 3)), normal(size=3)), Layer(normal(size=(3, 3)), normal(size=3))), normal(size=(5, 3)))),
    (dictionary, (PARAMS, normal(size=(4, 3)))), (items_of_dict, ({"a": normal(size=3), "skip": normal(size=3), "c": normal(size=3)},)),
    (model, (Model(1.5, Layer(normal(size=(3, 2)), normal(size=2)), "linear"), normal(size=(4, 3)))),
    (model, (Model(1.5, Layer(normal(size=(3, 2)), normal(size=2)), "tanh"), normal(size=(4, 3)))),
    (calls, (normal(size=2),)), (two_kinds, (0.7, normal(size=3))), (local_containers, (np.array([1.0, -2.0, 0.5]),)),
    (local_containers, (np.array([-1.0, -2.0, 0.5]),)), (list_of_floats, ([0.5, 1.5, -2.0], 0.3)),
    (list_of_floats, (list(normal(size=12)), 0.3)), (outer_loop_calls, (0.4,)),
]  # fmt: skip


def inner_dicts_of_other_keys(d):
    d["p"]["s"] *= 2.0
    d["q"]["r"] *= 3.0
    return d["q"]["r"] * d["p"]["s"]


def inner_list_and_inner_dict(d):
    d["q"]["r"] *= 2.0
    d["p"][0] = 3.0
    return np.sum(d["q"]["r"]) * d["p"][0]


def list_of_a_list_and_a_dict(l):
    l[0][0] *= 2.0
    l[2]["r"] *= 3.0
    return l[0][0] * l[1][0] * l[2]["r"]


PROGRAMS += [
    (inner_dicts_of_other_keys, ({"p": {"s": 0.5}, "q": {"r": 0.5}},)),
    (inner_list_and_inner_dict, ({"p": [0.5], "q": {"r": np.array([0.3, 0.7])}},)),
    (list_of_a_list_and_a_dict, ([[0.5], (0.3,), {"r": 0.5}],)),
]


def loop_over_what_a_dict_gives(x):
    g = {0: [1, 2], 1: [2], 2: []}
    s = 0.0
    for n in range(3):
        for m in g.get(n, []):
            s = s + x[n] * x[m]
    return s


def loop_over_an_option(x):
    c = {"hidden": [2.0, 3.0], "stencil": [1, 0], "lr": 0.1}
    s = 0.0
    for k in c.get("hidden", [1.0]):
        s = s + x[0] * k
    for k in c.get("stencil", [0]):
        s = s + x[k] ** 2
    return s * c.get("lr", 1.0)


def exact_sum_of_a_list_that_grew(x, y):
    t = [x * y]
    t.append(x)
    return math.fsum(t) * math.fsum([v**2 for v in t])


PROGRAMS += [
    (loop_over_what_a_dict_gives, (np.array([0.3, 0.5, 0.9]),)),
    (loop_over_an_option, (np.array([0.3, 0.5, 0.9]),)),
    (exact_sum_of_a_list_that_grew, (2.0, 3.0)),
]
