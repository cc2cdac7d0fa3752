"""What types decide: branches that cannot run are not looked at, and a handler that surely runs stands for its try."""

import numpy as np

from tangentc import grad


def name_given_to_an_array(x):
    projection = np.sin(x) * 2
    try:
        projection.name = "projection"
    except AttributeError:
        pass
    return np.sum(projection**2)


def named(values, name):
    try:
        values.name = name
    except (AttributeError, TypeError):
        values = values * 2
    finally:
        values = values + 1
    return values


def name_given_by_a_helper(x):
    return np.sum(named(x * x, "squares")) * named(x[0], "first")


def pad1D(X, pad, width=None, stride=None):
    if isinstance(pad, int):
        pad = (pad, pad)
    if isinstance(pad, tuple):
        padded = np.pad(X, pad_width=((pad[0], pad[1]), (0, 0)), mode="constant")
    if pad in ["same", "causal"] and width and stride:
        both = (len(X) - 1) * stride + width - len(X)
        p = (both, 0) if pad == "causal" else (both // 2, both - both // 2)
        padded, pad = pad1D(X, p)
    return padded, pad


def padded_by_a_word(x):
    padded, _ = pad1D(np.outer(x, x), "same", 3, 1)
    return np.sum(padded[1:].reshape(-1) ** 2)


def padded_by_a_number(x):
    padded, (before, after) = pad1D(np.outer(x, x), 2)
    return np.sum(padded[1:].reshape(-1) ** 2) * (before + after)


def name_of_no_path(x, level=0):
    if level == 1:
        scale = np.sum(x)
    if level > 2:
        return scale
    return np.sum(x * x)


class Smoother:
    """Makes its weights when they are first asked for."""

    def __init__(self, decay):
        self.decay, self.weights, self.seen = decay, None, []

    def smooth(self, x):
        if self.weights is None:
            self.weights = self.decay ** np.arange(len(x))
        elif isinstance(self.weights, dict):
            self.weights = self.weights["now"].missing()
        self.seen.append(np.sum(x))
        return x * self.weights


def made_when_it_is_asked_for(x):
    smoother = Smoother(x[0])
    total = 0.0
    for _ in range(3):
        x = smoother.smooth(x)
        total = total + np.sum(x)
    return total + smoother.seen[-1] * smoother.weights[1]


def words_and_numbers(x):
    total = 0.0
    for kind, weight in [("mean", 2.0), ("sum", 3.0), (3, 1.0)]:
        if kind in ("sum", "total"):
            total += weight * np.sum(x)
        elif kind in ["mean", "average"]:
            total += weight * np.mean(x * x)
        else:
            total += weight * x[kind - 1]
    return total


def function_of_a_list_inside(x):
    functions = [lambda t: t**2]

    def first(q):
        return functions[0](q) * x[1]

    return grad(first)(x[0])


X = np.array([0.9, 0.7, 1.3])
PROGRAMS = [
    (f, (X,))
    for f in (
        name_given_to_an_array, name_given_by_a_helper, padded_by_a_word, padded_by_a_number, name_of_no_path,
        made_when_it_is_asked_for, words_and_numbers, function_of_a_list_inside,
    )
]  # fmt: skip
