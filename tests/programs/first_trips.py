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


def turned(y, a):
    return np.array([y[0] * a + y[1], y[1] - a * y[0]])


def list_then_arrays(x):
    y = [1.0, 1.0, 1.05]
    for _ in range(300):
        y = np.asarray(y)
        y = y + 0.01 * np.array([x[0] * (y[1] - y[0]), y[0] * (x[1] - y[2]) - y[1], y[0] * y[1] - x[2] * y[2]])
    return y[2]


def list_then_arrays_over_rows(x):
    y = [1.0, x[0]]
    for k, (a, b) in enumerate(zip(x, x[1:]), 1):
        y = turned(y, a * b * k)
    return y[0] * y[1]


def list_then_arrays_over_a_list(x):
    y, steps = [1.0, 2.0], [x[0], x[1], x[0] * x[2], x[1] ** 2]
    for v in steps:
        y = turned(y, v)
    return y[0] * y[1]


def list_then_arrays_left_by_break(x):
    y = [x[0], 2.0]
    for k in range(300):
        if k == 20:
            break
        y = turned(y, x[1])
        if y[0] > 10:
            break
    return y[0] * y[1]


def list_then_arrays_left_by_return(x):
    y = [x[0], 2.0]
    for k in range(300):
        y = turned(y, x[1])
        if k > 5:
            return y[0]
    return y[1]


def none_then_a_list_then_arrays(x):
    h = None
    for _ in range(250):
        if h is None:
            h = [x[0], x[1]]
        else:
            h = np.cos(np.asarray(h) * x)[:2] if len(x) == 2 else np.cos(np.asarray(h) * x[0])
    return np.sum(h)


def one_trip(x):
    y = [x[0], 2.0]
    for k in range(1):
        y = turned(y, x[1] * (k + 1))
    return y[0] + k


def number_then_parts(x):
    s = 0.0
    for i in range(3):
        s = s + x[i : i + 1] ** 2
    return s[0]


def number_then_parts_added(x):
    s = 0
    for i in range(3):
        s += x[i : i + 1] ** 2
    return s[0]


def list_or_array_by_a_number(x, n):
    h = [x[0], x[1]]
    for _ in range(n):
        h = np.tanh(np.asarray(h) * x[2])
    return np.sum(h)


def list_that_grows_by_another_name(x):
    rows, y, k = [x, x * 2], [x[0], x[1], 0.5], 0
    same = rows
    for row in rows:
        y = np.asarray(y) * row
        if k < 3:
            same.append(x * 3)
        k += 1
    return np.sum(y)


def functions_that_grow_by_another_name(x):
    fs, y = [np.sin], [x[0], x[1]]
    same = fs
    for f in fs:
        y = f(np.asarray(y))
        if len(same) < 3:
            same.append(np.sin)
    return np.sum(y)


REFUSED = ("list_that_grows_by_another_name", "functions_that_grow_by_another_name")
PROGRAMS = [(f, (np.array([0.3, -0.7, 1.2]),)) for f in (
    stored, nested, in_while, listed, previous, last, augmented, after_break, in_dict, tupled, attribute_of_the_first_step,
    list_then_arrays, list_then_arrays_over_rows, list_then_arrays_over_a_list,
    list_then_arrays_left_by_break, list_then_arrays_left_by_return,
    none_then_a_list_then_arrays, one_trip, number_then_parts, number_then_parts_added,
)]  # fmt: skip
PROGRAMS += [(list_or_array_by_a_number, (np.array([0.3, -0.7, 1.2]), n)) for n in (0, 1, 4)]
PROGRAMS += [
    (f, (np.array([0.3, -0.7, 1.2]),)) for f in (list_that_grows_by_another_name, functions_that_grow_by_another_name)
]
