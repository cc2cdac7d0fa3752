"""Containers of which some parts move: what reaches which part, through loops, calls, branches and changes."""

from collections import deque, namedtuple
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

PROGRAMS = []
X = np.array([0.7, -1.2, 0.4, 1.9])
V = np.random.default_rng(3).normal(size=16) * 0.6
Three = namedtuple("Three", "a b c")


def program(*args):
    def add(f):
        PROGRAMS.append((f, args))
        return f

    return add


class State(NamedTuple):
    h: np.ndarray
    c: np.ndarray
    trips: int = 0


@dataclass
class Pair:
    w: object
    v: object
    k: float = 1.0


@program(X)
def fields_of_a_named_tuple(x):
    p = Three([x[0]], [1.0], x)
    p.a.append(x[1] ** 2)
    p[0].append(x[2])
    return sum(p.a) * p[0][1] + np.sum(p.c)


@program(X)
def rows_of_what_moves_and_not(x):
    rows = []
    for i in range(3):
        rows.append({"v": x * i, "t": i, "n": [x[i]]})
    rows[0]["n"].append(x[2] ** 2)
    total = 0.0
    for row in rows:
        total += np.sum(row["v"]) * row["t"] + sum(row["n"])
    return total


@program(X)
def trips_with_constants(x):
    rows = []
    v = x
    for i in range(3):
        v = np.sin(v)
        rows.append((v, i, np.ones(4)))
    return sum(np.sum(a * o) * i for a, i, o in rows)


@program(X)
def shifted_by_insert(x):
    items = [x[0], 1.0, 2.0]
    items.insert(0, 5.0)
    return items[1] ** 2 + items[0] * items[2]


@program(X)
def shifted_by_pop(x):
    items = [1.0, x[0], x[1]]
    items.pop(0)
    return items[0] ** 2 + items[1] ** 3


@program(X)
def turned_around(x):
    items = [x[0], 2.0, x[1]]
    items.reverse()
    return items[0] ** 2 * items[2] + items[1]


@program(X)
def slice_of_what_moves(x):
    items = [x[0], 2.0, x[1], 4.0]
    items[1:3] = [x[2] ** 2, x[3]]
    return items[1] * items[2] + items[0]


@program(X)
def copied_dict(x):
    d = {"a": x, "b": np.ones(4)}
    e = dict(d)
    e["b"] = x**2
    return np.sum(e["a"] * e["b"]) + np.sum(d["b"] * d["a"])


def two_of_four(state):
    a, b = state
    return (a * b, b + 1.0), {"u": a**2, "z": np.ones(4)}


@program(X)
def one_part_of_a_result(x):
    (p, q), d = two_of_four((x, 2 * x))
    return np.sum(p) + np.sum(d["z"] * 3)


@program(X)
def other_parts_of_two_results(x):
    (p, q), d = two_of_four((x, 2 * x))
    (p2, q2), d2 = two_of_four((x**2, q))
    return np.sum(q2 * p) + np.sum(d2["u"])


def turned(t):
    return t[1], t[0]


@program(X)
def pair_carried_through_a_call(x):
    t = (x, np.ones(4))
    for _ in range(3):
        t = turned(t)
    return np.sum(t[0] * x) + np.sum(t[1])


def weighted(rows):
    total = 0.0
    for v, w, counts in rows:
        if counts:
            total += np.sum(v * w)
    return total


@program(X)
def rows_of_a_callee(x):
    return weighted([(x, 1.0, True), (x**2, x[0], False), (np.ones(4), x[1], True)])


@program(X)
def filled_by_a_function(x):
    held = [0.0, []]

    def add(v):
        held[0] += v
        held[1].append(v)

    for i in range(4):
        add(x[i] ** 2)
    return held[0] * held[1][2]


@program(X)
def numbers_kept_and_summed(x):
    total, kept = 0.0, []
    for i in range(4):
        v = x[i] ** 2
        total += v
        kept.append(v)
    return total * kept[2]


@program(X)
def items_of_a_dict_in_a_loop(x):
    d = {"z": 1.0}
    d["a"] = x * 2
    for _ in range(3):
        d["a"] += d["z"] * x
        d["z"] = d["z"] * 0.5
        d["c"] = np.sum(d["a"])
    return d["c"] ** 2


@program(X)
def list_of_two_that_change(x):
    y = [x[0], 2.0]
    for i in range(3):
        y[0] += y[-1] * x[i]
        y[1] = y[0] * 0.5
    return y[0] * y[1]


@program(X)
def cache_of_layers(x):
    cache = {}
    cache["h"] = np.tanh(x)
    cache["z"] = cache["h"] * x
    if x[0] > 0:
        cache["z"] = cache["z"] + cache["h"]
    return np.sum(cache["z"] * cache["h"])


@program(X)
def dict_under_two_names(x):
    d = {"a": x}
    e = d
    e["a"] = d["a"] * 2
    f = {"in": d, "k": 2.0}
    f["in"]["a"] = f["in"]["a"] + x[0]
    return np.sum(e["a"] * x) * f["k"]


@program(X)
def queue_of_some(x):
    q = deque([x[0], 2.0], maxlen=3)
    q.append(x[2])
    q.append(x[3] ** 2)
    return q[0] * q[2] + q[1]


@program(X)
def tied_and_told_apart(x):
    p = {"a": x[:2], "b": x[:2], "n": None}
    total = 0.0
    for i in range(3):
        if p["n"] is not None:
            total += np.sum(p["n"])
        total += np.sum(p["a"] * p["b"]) * i
    return total


XS = np.arange(8.0).reshape(4, 2) / 7 - 0.4


def split(v):
    return {
        "W": v[:4].reshape(2, 2), "U": v[4:8].reshape(2, 2), "b": v[8:10], "k": v[10],
        "in": {"a": v[11:13], "c": [v[13:15], v[15]]},
    }  # fmt: skip


def cell(p, s, x):
    z = np.tanh(p["W"] @ x + p["U"] @ s.h + p["b"])
    return State(z * p["k"], s.c * 0.9 + z, s.trips + 1), z


@program(V)
def recurrent_with_a_named_state(v):
    p, s, total = split(v), State(np.zeros(2), np.ones(2)), 0.0
    for x in XS:
        s, z = cell(p, s, x)
        total += np.sum(z)
    return total * np.sum(s.h) * s.trips


@program(V)
def parts_read_in_two_loops(v):
    p, total = split(v), 0.0
    for i in range(3):
        for j in range(2):
            total += np.sum(p["in"]["a"] * p["in"]["c"][0]) * p["in"]["c"][1] ** i * (j + 1)
    return total


@program(V)
def part_replaced_in_a_loop(v):
    p, total = split(v), 0.0
    for i in range(4):
        if i == 1:
            p["k"] = p["k"] * 2
        total += p["k"] * np.sum(p["b"])
        if total > 1e3:
            break
    return total


@program(V)
def part_changed_in_place_in_a_loop(v):
    p, total = split(v.copy()), 0.0
    for _ in range(3):
        p["b"][0] = p["b"][0] * p["k"]
        total += np.sum(p["b"])
    return total


@program(V)
def no_trip_reads_a_part(v):
    p, total = split(v), 0.0
    for _ in range(0):
        total += p["k"]
    return total + np.sum(p["b"])


@program(V)
def pair_in_a_pair_carried(v):
    s = ((v[:2], v[2:4]), v[4])
    for _ in range(4):
        (a, b), k = s
        s = ((b * k, a + b), k * 1.1)
    return np.sum(s[0][0]) * s[1]


@program(V)
def carried_and_kept(v):
    s, kept = (v[:2], v[2:4]), []
    for _ in range(4):
        s = (s[1] * 2, s[0] + 1)
        kept.append(s)
    return sum(np.sum(a * b) for a, b in kept)


@program(V)
def best_pair(v):
    best = (v[0], v[:2])
    for i in range(4):
        c = (v[i] * 2, v[i : i + 2])
        if c[0] > best[0]:
            best = c
    return best[0] * np.sum(best[1])


@program(V)
def left_by_a_break(v):
    s = (v[:2], v[2:4])
    for i in range(5):
        if i == 3:
            break
        s = (s[1], s[0] * s[1])
    return np.sum(s[1])


@program(V)
def integers_that_become_floats(v):
    z = (0, 1)
    for i in range(4):
        z = (z[1], z[0] + z[1] * v[i])
    return z[1]


@program(V)
def pair_while(v):
    x, n = (v[0], v[1]), 0
    while abs(x[0]) > 0.05 and n < 6:
        x = (x[0] * 0.5, x[1] + x[0])
        n += 1
    return x[0] * x[1]


@dataclass
class Dense:
    W: np.ndarray
    b: np.ndarray
    kind: str = "tanh"
    cache: dict = field(default_factory=dict)
    calls: int = 0

    def __call__(self, x):
        z = x @ self.W + self.b
        self.cache["z"], self.calls = z, self.calls + 1
        return np.tanh(z) if self.kind == "tanh" else np.maximum(z, 0)


def layers(v):
    return [Dense(v[:9].reshape(3, 3), v[9:12], "tanh"), Dense(v[3:12].reshape(3, 3), v[12:15], "relu")]


XY = np.random.default_rng(6).normal(size=(4, 3))


@program(V)
def layers_that_keep_what_they_saw(v):
    model, x = layers(v), XY
    for layer in model:
        x = layer(x)
    return np.sum(x**2) + sum(np.sum(layer.W**2) for layer in model)


@program(V)
def what_a_layer_saw_is_read(v):
    model, x = layers(v), XY
    for layer in model:
        x = layer(x)
    return np.sum(x * model[0].cache["z"]) * model[1].calls


@program(V)
def what_a_layer_saw_is_replaced(v):
    model = layers(v)
    y = model[0](XY)
    z = model[0](y)
    model[0].W = model[0].W * 2
    return np.sum(z * model[0].cache["z"]) + np.sum(model[0].W * y[:3])


@dataclass
class Cell:
    W: np.ndarray
    U: np.ndarray
    size: int = 3
    log: list = field(default_factory=list)

    def step(self, state, x):
        h, c = state
        c = 0.9 * c + np.tanh(self.W @ x + self.U @ h)
        self.log.append(np.sum(c))
        return np.sin(c), c

    def run(self, xs):
        state, out = (np.zeros(self.size), np.zeros(self.size)), []
        for x in xs:
            state = self.step(state, x)
            out.append(state[0])
        return np.stack(out)


@program(V)
def cell_of_an_object(v):
    return np.sum(Cell(v[:9].reshape(3, 3), v[5:14].reshape(3, 3)).run(XY) ** 2)


@program(V)
def log_of_a_cell_is_read(v):
    cell = Cell(v[:9].reshape(3, 3), v[5:14].reshape(3, 3))
    return np.sum(cell.run(XY)[-1]) * cell.log[1] + sum(cell.log)


def made_by_a_call(a, b):
    return dict(k=a, rest=[b, a * b])


def weighed(p, i):
    return p["k"] * i + p["rest"][1]


@program(X)
@program(-X)
def there_on_one_path_and_read_in_a_loop(x):
    if x[0] > 0:
        p = made_by_a_call(x[0], x[1])
    t = x[1]
    for _ in range(3):
        if x[0] > 0:
            t = t + p["k"] * p["rest"][0]
    return t * t


@program(X)
@program(-X)
def there_on_one_path_and_given_to_a_call(x):
    if x[0] > 0:
        p = made_by_a_call(x[0], x[1])
    t, i = x[1], 0
    while i < 3:
        if x[0] > 0:
            t = t + weighed(p, i)
        t = t * x[2]
        i += 1
    return t * t


@program(X)
@program(-X)
def pair_there_on_one_path(x):
    if x[0] > 0:
        s = (x[0], x[1])
    t = x[2]
    for _ in range(3):
        if x[0] > 0:
            s = (s[1], s[0] * t)
            t = t * s[0]
        t = t + x[3]
    return t
