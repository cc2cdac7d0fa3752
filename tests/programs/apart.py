"""Reversed sequences, keys that are there or not, managers with a name, and two things that are alike but apart."""

from dataclasses import dataclass, replace

import numpy as np


def array_reversed_as_a_list(x):
    t = list(reversed(x))
    return t[0]


def list_reversed(x):
    q = [x[0], x[1]]
    t = list(reversed(q))
    return t[0]


def sum_of_reversed(x):
    return sum(reversed([x[0], x[1]]))


def array_of_reversed(x):
    return np.array(list(reversed(x))) @ x


def tuple_of_reversed(x):
    q = [x[0], x[1]]
    t = tuple(reversed(q))
    return t[0] ** 2


def reversed_beside_itself(x):
    q = [v * 2 for v in x]
    t = list(reversed(q))
    return sum((a * b for a, b in zip(t, q))) * t[0]


def grown_and_reversed(x):
    out = []
    for v in x:
        out.append(v * v)
    t = list(reversed(out))
    return t[0] * t[1]


def loops_over_reversed(x):
    s = 0.0
    for i, v in enumerate(reversed(x)):
        s = s + i * v * v
    for a, b in zip(x, reversed(x)):
        s = s + a * b * b
    return s


def list_of_a_named_zip(x):
    z = zip(x, x)
    l = list(z)
    return l[0][0] * l[1][1]


def list_of_a_named_enumerate(x):
    z = enumerate(x)
    l = list(z)
    return l[1][1] * l[2][1]


def dict_with_a_key_replaced(x):
    d = {"a": x[0], "b": x[1]}
    f = dict(d, b=x[2])
    return f["b"] * d["b"]


def dict_with_a_key_more(x):
    d = {"a": x[0], "b": x[1]}
    f = dict(d, c=x[2])
    return f["c"] + f["a"]


def dict_with_keywords(x):
    base = {"lr": 0.1, "w": x[0]}
    cfg = dict(base, w=x[1] * 2, **{"z": x[2]})
    return sum(cfg.values())


def order_of_keys_by_branch(x):
    d = {"a": x[0]}
    if x[0] < 0:
        d["b"] = x[1]
        d["c"] = x[2]
    else:
        d["c"] = x[2]
        d["b"] = x[1]
    s = 0.0
    for v in d.values():
        s = s * 2 + v
    return s


def number_of_keys_by_values(x):
    d = {}
    for k in range(3):
        if x[k] > 0:
            d[k] = x[k]
    return sum(1.0 for k in d) * x[0]


def key_that_is_not_put_in(x, verbose=False):
    out = {"loss": x[0]}
    if verbose:
        out["norm"] = x[1]
    return sum(out.values())


def comprehension_with_a_condition(x):
    d = {i: v * v for i, v in enumerate(x) if v > 0}
    s = 0.0
    for k, v in d.items():
        s = s + k * v
    return s


def largest_of_what_is_there(x):
    d = {"a": x[0]}
    if x[0] < 0:
        d["b"] = x[1]
    return max(d.values()) * x[2]


def unpacked_with_doubtful_keys(x):
    d = {"a": x[0]}
    if x[0] < 0:
        d["b"] = x[1]
    e = {**d, "c": x[2]}
    return sum(e.values())


class C:
    def __init__(self, v):
        self.v = v

    def __enter__(self):
        self.v = self.v * 2

    def __exit__(self, *exc):
        self.v = self.v / 2


def manager_with_a_name(x):
    h = C(x)
    with h:
        y = h.v * 3
    return y


class Timer:
    def __init__(self):
        self.n = 0

    def __enter__(self):
        self.n += 1
        return self

    def __exit__(self, *a):
        self.n -= 1
        return False


def manager_that_counts(x):
    t = Timer()
    with t as u:
        y = x * u.n
    return y**2


@dataclass
class N:
    value: float


def two_objects_alike(x):
    a = N(x)
    b = N(x)
    a.value = x * 3
    return a.value + b.value


def two_copies_of_a_list(x):
    l = [x[0], x[1]]
    g = l.copy()
    h = l.copy()
    h[0] = 5 * x[2]
    return g[0] + h[0]


def two_lists_of_an_array(x):
    g = list(x[:2])
    h = list(x[:2])
    h[0] *= 3
    return g[0] + h[0]


def where_it_began(x):
    p = {"w": x[0], "b": x[1]}
    init = dict(p)
    cur = dict(p)
    for _ in range(3):
        cur["w"] = cur["w"] * 0.9 - 0.1 * cur["b"]
    return sum((cur[k] - init[k]) ** 2 for k in p)


def two_slices_of_a_list(x):
    l = [x[0], x[1], x[2]]
    g = l[1:]
    h = l[1:]
    h[0] = 5 * x[2]
    return g[0] + h[0]


def two_slices_that_grow(x):
    l = [x[0], x[1], x[2]]
    g = l[:]
    h = l[:]
    h.append(x[0])
    h[0] = h[0] * 2
    g.pop()
    return g[0] + h[0] * h[3] + sum(g)


def replaced_twice(x):
    o = N(x)
    a = replace(o, value=x * 2)
    b = replace(o, value=x * 2)
    a.value = a.value * 3
    return a.value + b.value


def two_lists_of_a_tuple(x):
    t = (x[0], x[1])
    g = list(t)
    h = list(t)
    h[0] = h[0] * 3
    return g[0] * h[0]


@dataclass
class Grid:
    u: np.ndarray
    ends: tuple = (0.0, 0.0)


def field_with_a_constant_beside_it(u):
    g = Grid(u.copy())
    g.u *= 2
    return np.sum(g.u**2) + g.ends[0]


X = np.array([0.7, -0.4, 1.3])
PROGRAMS = [
    (field_with_a_constant_beside_it, (X,)),
    (array_reversed_as_a_list, (X,)),
    (list_reversed, (X,)),
    (sum_of_reversed, (X,)),
    (array_of_reversed, (X,)),
    (tuple_of_reversed, (X,)),
    (reversed_beside_itself, (X,)),
    (grown_and_reversed, (X,)),
    (loops_over_reversed, (X,)),
    (list_of_a_named_zip, (X,)),
    (list_of_a_named_enumerate, (X,)),
    (dict_with_a_key_replaced, (X,)),
    (dict_with_a_key_more, (X,)),
    (dict_with_keywords, (X,)),
    (order_of_keys_by_branch, (X,)),
    (number_of_keys_by_values, (X,)),
    (key_that_is_not_put_in, (X,)),
    (comprehension_with_a_condition, (X,)),
    (largest_of_what_is_there, (X,)),
    (unpacked_with_doubtful_keys, (X,)),
    (manager_with_a_name, (0.7,)),
    (manager_that_counts, (0.7,)),
    (two_objects_alike, (0.7,)),
    (two_copies_of_a_list, (X,)),
    (two_lists_of_an_array, (X,)),
    (where_it_began, (X,)),
    (two_slices_of_a_list, (X,)),
    (two_slices_that_grow, (X,)),
    (replaced_twice, (0.7,)),
    (two_lists_of_a_tuple, (X,)),
]
REFUSED = {"list_of_a_named_zip", "list_of_a_named_enumerate", "unpacked_with_doubtful_keys"}
