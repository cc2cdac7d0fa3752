"""Variables, attributes and items that are None until the first value comes."""

from dataclasses import dataclass

import numpy as np


def method_of_what_was_none(x, n):
    c = None
    for _ in range(n):
        if c is None:
            c = x * 2
        else:
            c = c * x
    return c.sum()


def added_to_when_there(x, n):
    out = None
    for i in range(n):
        y = x * i
        if out is None:
            out = y.copy()
        else:
            out += y
    return (out**2).sum()


def added_to_and_seen_through_another_name(x, n):
    out = None
    for i in range(n):
        y = x * (i + 1)
        if out is None:
            out = y
        else:
            out *= y
        first = out
        first[0] += x[1]
    return (out**2).sum()


def made_in_the_first_trip_and_filled(x, n):
    out = None
    for i in range(n):
        if out is None:
            out = np.zeros(len(x))
        out[i] = x[i] ** 2
        out[: i + 1] *= x[i]
    return out.sum()


def grown_by_joining(x, n):
    out = None
    for i in range(n):
        y = x * i
        if out is None:
            out = y
        else:
            out = np.concatenate([out, y])
    return (out[::2] ** 2).sum()


def grown_by_columns(x, n):
    out = None
    for i in range(n):
        y = (x * i)[:, None]
        out = y if out is None else np.hstack([out, y])
    return (out.T @ out).sum() + out.shape[1]


def viewed_when_there(x, n):
    last = None
    total = 0.0
    for i in range(n):
        if last is not None:
            last[0] = x[i] * last[1]
            total += last.T.reshape(-1)[0]
        last = x[i:] * 2.0
    return total


def written_by_functions_of_numpy(x, n):
    out = None
    for i in range(n):
        if out is None:
            out = np.ones(len(x))
        np.multiply(out, x, out=out)
        np.add.at(out, [0, 0, 1], x[i])
    return out.sum()


def rows_when_there(x):
    table = None
    for i in range(2):
        if table is None:
            table = np.outer(x, x)
        for row in table:
            row += x[i]
    return (table**2).sum()


class Cell:
    def __init__(self, w):
        self.w = w
        self.h = None
        self.c = None

    def __call__(self, x):
        if self.h is None:
            self.h = np.zeros(x.shape)
            self.c = np.zeros(x.shape)
        forget = 1 / (1 + np.exp(-(self.w * x + self.h)))
        self.c = forget * self.c + (1 - forget) * np.tanh(x)
        self.h = forget * np.tanh(self.c)
        return self.h


def cell_with_late_states(x, n):
    cell = Cell(x)
    for t in range(n):
        y = cell(x * t)
    return y.sum()


def results_of_a_late_state(x, n):
    cell = Cell(0.4)
    ys = [cell(x * t) for t in range(n)]
    return np.stack(ys).mean() + np.asarray(ys).max()


class Buffer:
    def __init__(self):
        self.data = None

    def add(self, x):
        if self.data is None:
            self.data = np.zeros(len(x))
        self.data += x
        self.data[0] *= 2
        return self


def late_buffer(x):
    b = Buffer()
    b.add(x)
    b.add(x**2)
    return (b.data**2).sum()


def late_buffer_in_a_loop(x, n):
    b = Buffer()
    for i in range(n):
        b.add(x * i)
    return b.data[1:].sum() * b.data[0]


@dataclass
class Momentum:
    rate: float
    velocity: np.ndarray | None = None

    def step(self, w, g):
        if self.velocity is None:
            self.velocity = np.zeros_like(w)
        self.velocity *= 0.9
        self.velocity -= self.rate * g
        return w + self.velocity


def late_velocity(x, n):
    optimiser = Momentum(0.1)
    w = np.ones(len(x))
    for _ in range(n):
        w = optimiser.step(w, w * x)
    return w.sum() + optimiser.velocity.min()


def late_item_of_a_dict(x, n):
    d = {"a": None}
    for _ in range(n):
        if d["a"] is None:
            d["a"] = x * 2
        else:
            d["a"] *= x
    return d["a"].sum()


def late_items_of_a_list(x, n):
    items = [None] * 2
    for i in range(n):
        k = i % 2
        if items[k] is None:
            items[k] = x * (i + 1)
        else:
            items[k] = items[k] * x
    return items[0].sum() * items[1].max()


def late_rows_in_a_list(x, n):
    buffer = Buffer()
    rows = []
    for i in range(n):
        rows.append(buffer.add(x * i).data)
        for row in (x, buffer.data):
            rows.append(row * 1.5)
        rows[-1] += x
        rows[0][1] *= x[2]
    return sum(row @ x for row in rows)


def best_so_far(x):
    best, where = None, None
    for i, v in enumerate(x):
        y = v * x
        if best is None or y.sum() > best.sum():
            best, where = y, i
    return (best * best).sum() * x[where]


def number_or_none(x):
    total = None
    for v in x:
        if v > 0:
            if total is None:
                total = v * v
            else:
                total *= v
    return 0.0 if total is None else total


def never_there(x):
    correction = None
    if correction is not None:
        correction[0] = x[1]
        x = x + correction.sum()
    y = x if correction is None else x * correction
    if correction is None:
        correction = y * 2.0
    else:
        correction += y
    return (correction * x).sum()


X = np.array([0.3, -0.4, 0.7, 1.1])
PROGRAMS = [
    *((f, (X, 3)) for f in (
        method_of_what_was_none, added_to_when_there, added_to_and_seen_through_another_name,
        made_in_the_first_trip_and_filled, grown_by_joining, grown_by_columns, viewed_when_there,
        written_by_functions_of_numpy, cell_with_late_states, results_of_a_late_state, late_buffer_in_a_loop,
        late_velocity, late_item_of_a_dict, late_items_of_a_list, late_rows_in_a_list,
    )),
    *((f, (X,)) for f in (rows_when_there, late_buffer, best_so_far, number_or_none, never_there)),
]  # fmt: skip
