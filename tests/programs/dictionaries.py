"""Dicts that are asked for what they may not have, and modules of modules."""

import numpy as np

ACT = {"tanh": np.tanh}


def center(x, axis=-1):
    return x - x.mean(axis=axis, keepdims=True)


class Module:
    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)


class Tanh(Module):
    def forward(self, x):
        return np.tanh(x)


class Sequential(Module):
    def __init__(self, *modules):
        self.modules = modules

    def forward(self, x):
        for module in self.modules:
            x = module(x)
        return x


def modules_of_modules(x):
    return np.sum(Sequential(Tanh(), Sequential(Tanh(), Tanh()))(x))


class Cell:
    def __init__(self):
        self.ready, self.kept = False, {}

    def forward(self, x):
        if not self.ready:
            self.kept = {"sums": [], "steps": 0}
            self.ready = True
        if len(self.kept["sums"]) == 0:
            self.kept["sums"].append(x)
        self.kept["steps"] += 1
        self.kept["sums"].append(np.tanh(self.kept["sums"][-1] + x))
        return self.kept["sums"][-1]


def cell_made_ready_by_the_first_trip(x):
    cell = Cell()
    for k in range(3):
        y = cell.forward(x * (k + 1))
    return np.sum(y) * cell.kept["steps"]


def function_that_a_dict_may_have(x):
    acts = {"l1": np.tanh}
    h = x
    for name in ["l1", "l2"]:
        act = acts.get(name)
        if act is not None:
            h = act(h)
    return np.sum(h)


def function_by_default(x):
    acts = {"a": np.tanh, "b": np.exp}
    h = x
    for name in ["a", "c"]:
        h = acts.get(name, np.sin)(h)
    return np.sum(h)


def factor_that_a_dict_may_have(x):
    scale = {"a": 2.0}
    h = x
    for name in ["a", "b"]:
        s = scale.get(name)
        if s is not None:
            h = h * s
    return np.sum(h**2)


def centred_by_default(x):
    return (center(np.multiply.outer(np.outer(x, x), x)) ** 2).sum()


def function_but_for_the_last_trip(x):
    h = x
    for i in range(3):
        act = np.tanh if i < 2 else None
        if act is not None:
            h = act(h)
    return np.sum(h)


def function_if_the_dict_has_it(x):
    h = x
    for n in ["tanh", "linear"]:
        if n in ACT:
            h = ACT[n](h)
    return np.sum(h)


def factor_by_default(x):
    scale = {"a": 2.0, "b": None}
    h = x
    for name in ["a", "b", "c"]:
        s = scale.get(name, 3.0)
        if s is not None:
            h = h * s
    return np.sum(h**2)


def function_by_a_word(x, name):
    acts = {"l1": np.tanh}
    act = acts.get(name)
    return np.sum(act(x)) if act is not None else np.sum(x)


class Node:
    def __init__(self, *values):
        self.values = values

    def total(self, *counts):
        if counts[0] == 0:
            return self.values[0]
        return self.values[0] + Node(self.values[0] * 0.5).total(counts[0] - 1)


def calls_on_ever_new_objects(x):
    return Node(x[0]).total(3)


def layers_by_name(w0, w1, b0, x, count):
    p = {"w0": w0, "w1": w1, "b0": b0, "b1": x}
    h = x
    for i in range(count):
        h = np.tanh(p[f"w{i}"] @ h + p[f"b{i}"])
    loss = np.mean(h**2)
    loss += np.sum(p[f"b{count - 1}"] ** 2)
    return loss


def layers_put_by_name(x):
    p = {}
    for k in range(2):
        p[f"w{k}"] = np.outer(x, x) * (k + 1)
        p[f"b{k:02d}"] = x * k
    return np.sum(np.tanh(p["w1"] @ p["b01"])) + np.sum(p["w0"])


def sums_by_key(x, keys):
    sums = {}
    for k, i in enumerate(keys):
        sums[i] = sums.get(i, 0.0) + x[k] ** 2
    return sum(v**2 for v in sums.values())


def sparse_product(a, x):
    entries = {(0, 0): a[0], (0, 1): a[1], (1, 0): -0.5, (1, 1): a[2]}
    y = {}
    for (i, j), v in entries.items():
        y[i] = y.get(i, 0.0) + v * x[j]
    return y[0] * y[1]


def asserted_by_a_function_inside(k):
    f = lambda x: x * x - k
    a, b = 0.0, 10.0
    assert f(a) * f(b) < 0, f"no sign change: {a}, {b}"
    for _ in range(50):
        m = (a + b) / 2
        if f(a) * f(m) <= 0:
            b = m
        else:
            a = m
    return m - f(m) / (2 * m)


X = np.array([0.3, 0.7, 0.5])
PROGRAMS = [
    *((f, (X,)) for f in (
        function_that_a_dict_may_have, function_by_default, factor_that_a_dict_may_have, centred_by_default,
        function_but_for_the_last_trip, function_if_the_dict_has_it, factor_by_default, modules_of_modules,
        cell_made_ready_by_the_first_trip, calls_on_ever_new_objects,
    )),
    (layers_by_name, (np.eye(3) * 0.5, np.ones((3, 3)) * 0.1, X * 2, X, 2)), (layers_put_by_name, (X,)),
    (sums_by_key, (np.arange(4.0) + 1, [0, 1, 0, 2])), (sparse_product, (X, X[:2])), (asserted_by_a_function_inside, (3.0,)),
    (function_by_a_word, (X, "l1")), (function_by_a_word, (X, "l2")),
]  # fmt: skip
REFUSED = {"calls_on_ever_new_objects"}  # and not lowered without end


def dict_of_one_value(x):
    d, shared, none = dict.fromkeys("xyz", x[0]), dict.fromkeys(("a", "b"), x.copy()), dict.fromkeys(["p", "q"])
    d["y"] = x[1]
    shared["a"][0] = 5.0
    none["p"] = x[2]
    return sum(d.values()) * np.sum(shared["b"] * x) * none["p"] * (2 if none["q"] is None else 3)


PROGRAMS.append((dict_of_one_value, (np.array([0.3, 0.5, 0.9]),)))
