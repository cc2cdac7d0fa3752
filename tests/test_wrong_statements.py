"""Where the compiler itself is at fault, `check_grads` says that the gradient disagrees, and which statement is wrong."""

import math
import random
import re
import time
import types
import warnings
from dataclasses import dataclass

import numpy as np
import planted
import pytest

import tangentc
from tangentc.inspection.leaves import flatten


def burgers(u, c):
    u = u.copy()
    for _ in range(2):
        u[1:] -= c * u[1:] * (u[1:] - u[:-1])
    return np.sum(u * u)


def pendulum(x, k):
    p, v = x[0], x[1]
    for _ in range(2):
        v = v - 0.1 * k * np.sin(p)
        p = p + 0.1 * v
    return p * p + v * x[2]


def branches(x, k):
    if k > 0.5:
        y = x * k - np.cos(x)
    else:
        y = x / k
    z = y * y - x
    return np.sum(z * np.where(x > 0.8, y, x))


def layers(x, k):
    h = np.tanh(np.outer(x, x) @ x - k)
    a = h * x + k
    return np.mean((a - x) ** 2)


def states(x, k):
    kept = [x]
    for i in range(2):
        kept.append(kept[i] * k - np.sin(kept[i]))
    total = 0.0
    for s in kept:
        total += np.sum(s * s)
    return total


def dicts(x, k):
    d = {"w": x * k, "b": np.exp(-x)}
    d["y"] = d["w"] * d["b"] - x
    return np.sum(d["y"] ** 2 + d["w"])


@dataclass
class Spring:
    k: float

    def force(self, x):
        return -self.k * x - 0.1 * x**3


def objects(spring, x):
    v = np.zeros(3)
    for _ in range(2):
        v = v + 0.1 * spring.force(x)
        x = x + 0.1 * v
    return np.sum(v * v) + np.sum(x)


def squash(x, k):
    y = np.exp(-k * x)
    return (1 - y) / (1 + y)


def helpers(x, k):
    a = squash(x, k)
    b = squash(a - x, 2 * k)
    return np.sum(a * b)


def filtered(x, k):
    y = np.zeros_like(x)
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = k * y[i - 1] + (1 - k) * x[i] * x[i]
    return np.sum(y * x)


def stencil(x, k):
    y = x.copy()
    y[1:-1] += k * (x[2:] - 2 * x[1:-1] + x[:-2])
    y[0] = x[0] * y[1]
    return np.sum(y**3)


def numbers(x, k):
    a = math.exp(-x[0]) * k
    b = a * x[1] - math.sqrt(x[2])
    c = b / (a + x[1])
    return c * c - a


def until(x, k):
    y = np.max(x)
    while y > 0.3:
        y = y * 0.6 - 0.01 * k * y * y
    return y * np.sum(x * x)


def comprehension(x, k):
    parts = [v * v - k * math.sin(v) for v in x]
    return sum(parts) * k


def solved(x, k):
    A = np.eye(3) * 2 + np.outer(x, x) * k
    y = np.linalg.solve(A, x)
    return y @ x - np.sum(y * k)


def likelihood(x, k):
    z = (x - np.mean(x)) / k
    return np.sum(-0.5 * z * z) - 3 * np.log(k)


def distances(x, k):
    d = x[:, None] - x[None, :]
    r = np.sqrt(d * d + k)
    return np.sum(x * np.sum(d / r, axis=1))


def swept(x, k):
    p, q = x * k, x + k
    for _ in range(2):
        p, q = q - 0.2 * p * p, p * q
    return np.sum(p - q)


def scattered(x, k):
    total = np.zeros(3)
    total[np.array([0, 1, 1])] = x * k
    np.add.at(total, np.array([2, 1, 2]), x * x)
    return np.sum(total * total) - total[0]


def normalised(x, k):
    e = np.exp(x - np.max(x))
    p = e / np.sum(e)
    return -np.sum(p * np.log(p + k)) + p[1] * k


def clipped(x, k):
    y = np.maximum(x * k, 0.5)
    n = 0
    for v in y:
        if v < 0.7:
            continue
        n += 1
    y = y * n - x
    return np.sum(y * y * x)


PROGRAMS = [
    burgers, pendulum, branches, layers, states, dicts, objects, helpers, filtered, stencil, numbers, until,
    comprehension, solved, likelihood, distances, swept, scattered, normalised, clipped,
]  # fmt: skip
EACH = {planted.of_a_pass: 7, planted.of_the_chain_rule: 3}


def again(function):
    """The function as another one, for which nothing has been compiled."""
    return types.FunctionType(function.__code__, function.__globals__, function.__name__)


def gradient(function, args):
    parts = tangentc.vjp(function, *args)[1](1.0)
    return np.concatenate([np.ravel(leaf) for part in parts for _, leaf in flatten(part)])


def is_wrong(function, args, right):
    """Whether a fault that is planted makes the gradient another one, and not one that raises, or is no number."""
    try:
        off = gradient(function, args) - right
    except Exception:
        return False
    return bool(np.all(np.isfinite(off)) and np.max(np.abs(off)) > 1e-3 * np.max(np.abs(right)))


@pytest.mark.parametrize("kind", [planted.of_a_pass, planted.of_the_chain_rule], ids=lambda f: f.__name__)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_a_wrong_statement_is_found_and_named(program, kind):
    x = np.random.default_rng(0).uniform(0.5, 1.2, 3)
    args = (Spring(0.9), x) if program is objects else (x, 0.9)
    right = gradient(program, args)
    faults = kind(lambda: gradient(again(program), args))
    random.Random(1).shuffle(faults)
    caught = 0
    for fault in faults:
        function = again(program)
        with planted.planted(fault), np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if not is_wrong(function, args, right):
                continue
            began = time.perf_counter()
            with pytest.raises(tangentc.GradientMismatch) as mismatch:
                tangentc.check_grads(function, args, quiet=True, modes=("rev",), order=1)
            assert time.perf_counter() - began < 5
        told = str(mismatch.value)
        assert "disagrees" in told and "by the rule" not in told, f"{fault}\n{told}"
        assert names(told, fault), f"{fault}\n{told}"
        caught += 1
        if caught == EACH[kind]:
            return
    raise AssertionError(f"only {caught} faults were planted")


def names(told, fault):
    """Whether a message names the line of a fault, alone or as one of two; what is saved for a loop has none."""
    lines = [int(n) for n in re.findall(r"line (\d+), in", re.split("differentiates?\n", told)[-1])]
    if fault.line:
        return "differentiate" in told and fault.line in lines and len(lines) <= 2
    return bool(re.search(r"The statement that is wrong:\n    \w+\.append\(.*\)\n", told))
