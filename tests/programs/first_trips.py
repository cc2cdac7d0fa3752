"""Names and attributes that the first trip of a loop makes, and the others use."""
# ruff: noqa: F821, F841

import numpy as np


class Momentum:
    """Makes its velocity when it is first asked for a step."""

    def __init__(self):
        self.t = 0

    def step(self, p):
        if self.t == 0:
            self.v = p * 0
        self.v = self.v + p * p
        self.t += 1
        return p - 0.1 * self.v


def attribute_of_the_first_step(x):
    optimiser = Momentum()
    for _ in range(3):
        x = optimiser.step(x)
    return np.sum(x)


def stored(x):
    for i in range(3):
        if i == 0:
            v = np.zeros_like(x)
        v[i] += x[i] ** 2
    return np.sum(v * x)


def nested(x):
    s = 0.0
    for i in range(3):
        for j in range(2):
            if i == 0 and j == 0:
                acc = x * 0
            acc = acc + x * x[i]
            s = s + np.sum(acc)
    return s


def in_while(x):
    k = 0
    while k < 4:
        if k == 0:
            best = x[0]
        elif k == 2:
            best = best * x[1]
        else:
            best = best + x[2] ** 2
        k += 1
    return best**2


def listed(x):
    for i in range(3):
        if i == 0:
            out = []
        out.append(x[i] ** 2)
        s = sum(out)
    return s * out[0]


def previous(x):
    for i in range(3):
        if i > 0:
            s = s + prev * x[i]
        else:
            s = 0.0
        prev = np.sin(x[i])
    return s


def last(x):
    total = 0.0
    first = True
    for v in x:
        if not first:
            total = total + (v - old) ** 2
        first = False
        old = v * v
    return total


def augmented(x):
    for i in range(3):
        if i == 0:
            m = np.outer(x, x)
            continue
        m += np.outer(x, x) * i
    return np.sum(m * m)


def after_break(x):
    s = 0.0
    for i in range(5):
        if i == 0:
            y = x * 2
        if i == 3:
            break
        y = y * x
        s += np.sum(y)
    return s


def in_dict(x):
    for i in range(3):
        if i == 0:
            d = {"a": x * x, "b": x[0]}
        d["a"] = d["a"] * x
        d["b"] = d["b"] + x[i]
    return np.sum(d["a"]) * d["b"]


def tupled(x):
    for i in range(3):
        if i == 0:
            a, b = x, x * x
        a, b = b, a + b
    return np.sum(a * b)


PROGRAMS = [(f, (np.array([0.3, -0.7, 1.2]),)) for f in (
    stored, nested, in_while, listed, previous, last, augmented, after_break, in_dict, tupled, attribute_of_the_first_step,
)]  # fmt: skip
