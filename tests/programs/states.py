"""States that a called function replaces in a loop: lists, tuples, dicts and objects of arrays; deep copies of what
lies in several places; slices of lists of numbers that others see."""

import copy
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    q: np.ndarray
    p: np.ndarray


class Pair:
    def __init__(self, x, v):
        self.x = x
        self.v = v


class Lists:
    def __init__(self):
        self.r = [1.0]
        self.q = [2.0]


def in_a_list(x):
    state = [x]
    for _ in range(2):
        state = [state[0] * x]
    return state[0]


def in_a_dict(x):
    state = {"x": x}
    for _ in range(2):
        state = {"x": state["x"] * state["x"]}
    return state["x"]


def in_a_tuple(x):
    state = (x, x * 0.5)
    for _ in range(3):
        q, p = state
        state = (q + 0.1 * p, p - 0.1 * np.sin(q))
    return state[0]


def in_a_named_tuple(x):
    state = State(x, x * 0.5)
    for _ in range(3):
        state = State(state.q + 0.1 * state.p, state.p - 0.1 * np.sin(state.q))
    return state[0] * state.p


def in_an_object(x):
    state = Pair(x, x * 2)
    for _ in range(2):
        state = Pair(state.x * state.v, state.v * x)
    return state.x


def in_a_growing_list(x):
    h = [x]
    for _ in range(3):
        h = h + [h[-1] * x]
    return h[-1] + h[1]


def in_a_queue(x):
    items = [x, x * x, x + 1]
    for _ in range(3):
        items = items[1:] + [items[0] * items[1]]
    return items[-1] + items[1]


def in_rows(x):
    rows = [x, x * 2]
    for _ in range(3):
        rows = [r * x for r in rows]
    return rows[1] * rows[0]


def in_another_list(x):
    a = [x]
    for _ in range(3):
        b = a
        a = [b[0] * x]
    return a[0]


def while_it_lasts(x):
    a, k = [x], 0
    while k < 3:
        k += 1
        a = [a[0] * x]
    return a[0]


def moments(x):
    state = {"m": np.zeros(len(x)), "v": np.zeros(len(x)), "x": x}
    for _ in range(3):
        g = np.cos(state["x"]) * x
        m, v = 0.9 * state["m"] + 0.1 * g, 0.9 * state["v"] + 0.1 * g * g
        state = {"m": m, "v": v, "x": state["x"] - 0.1 * m / (np.sqrt(v) + 0.1)}
    return state["x"]


def copied_with_what_it_shares(x):
    z = np.zeros_like(x)
    items = [z, z]
    other = copy.deepcopy(items)
    other[0] += x * x
    return other[1] * x


def copied_with_views(x):
    y = x * 2
    items = {"all": [y], "rest": y[1:]}
    other = copy.deepcopy(items)
    other["all"][0][1] = x[0] ** 3
    other["all"][0][0] *= x[1]
    return other["all"][0] * y * np.sum(other["all"][0]) + other["rest"]  # which is no view


def copied_with_what_moves(x):
    y = x * x
    items = [y, y, x]
    other = copy.deepcopy(items)
    other[0] *= 2 * x
    return other[0] + other[1] * other[2]


WEIGHTS = np.array([1.0, 2.0])


def sum_in_a_list(x):
    return np.sum(in_a_list(x) * WEIGHTS)


def sum_in_a_dict(x):
    return np.sum(in_a_dict(x) * WEIGHTS)


def sum_in_a_tuple(x):
    return np.sum(in_a_tuple(x) * WEIGHTS)


def sum_in_a_named_tuple(x):
    return np.sum(in_a_named_tuple(x) * WEIGHTS)


def sum_in_an_object(x):
    return np.sum(in_an_object(x) * WEIGHTS)


def sum_in_a_growing_list(x):
    return np.sum(in_a_growing_list(x) * WEIGHTS)


def sum_in_a_queue(x):
    return np.sum(in_a_queue(x) * WEIGHTS)


def sum_in_rows(x):
    return np.sum(in_rows(x) * WEIGHTS)


def sum_in_another_list(x):
    return np.sum(in_another_list(x) * WEIGHTS)


def sum_while_it_lasts(x):
    return np.sum(while_it_lasts(x) * WEIGHTS)


def sum_moments(x):
    return np.sum(moments(x) * WEIGHTS)


def sum_copied_with_what_it_shares(x):
    return np.sum(copied_with_what_it_shares(x) * WEIGHTS)


def sum_copied_with_views(x):
    return np.sum(copied_with_views(x) * WEIGHTS)


def sum_copied_with_what_moves(x):
    return np.sum(copied_with_what_moves(x) * WEIGHTS)


def object_and_rows(x):
    matrix = x[:, None] + x * 0.5
    rows = [row * 1.0 for row in matrix]
    held = {"a": x, "b": x * 0.3}
    state = Pair(x, x[0])
    return state.x * held["a"] + rows[-1] * x


def sum_object_and_rows(x):
    return np.sum(object_and_rows(x) * WEIGHTS)


class Total:
    def __init__(self):
        self.sum = None

    def add(self, x):
        if self.sum is None:
            self.sum = np.zeros(len(x))
        self.sum += x * 0.5
        return self.sum


def late_total(x):
    return np.sum(Total().add(x * x))


def late_total_scaled(x):
    return late_total(x) * (1 + x[0])


def numbers_of_another_list(x):
    q = [x, x * 2]
    q.append(x * x)
    r = [0.0, 0.0]
    both = [q, r]
    r[:] = q
    both[1][1] = r[1] * x
    both[0].append(x)
    return r[0] * r[1] + q[2] + both[1][0] * r[2]


def numbers_given_again(x):
    q = []
    for k in range(3):
        q.append(x * k)
    r = [0.0]
    both = [r, q]
    for _ in range(2):
        r[:] = q
        q[0] = r[1] + x
        both[0].append(q[0] * x)
    return sum(r) * q[0] + len(both)


def numbers_in_attributes(x):
    h = Lists()
    h.q.append(x)
    h.r[:] = h.q
    h.r[1] *= x
    h.q[1] = 3 * x
    h.r.append(h.q[1] * h.r[1])
    return h.r[1] * h.r[2]


def arrays_of_another_list(x):
    u = np.array([x, 2 * x])
    q = [u, u * 2]
    r = [u * 0, u * 0]
    both = [q, r]
    r[:] = q
    both[1][1][0] = r[1][1] * x
    q.append(r[0])
    r.append(q[1] * 3)
    return (r[0] * r[1] * q[1] + r[2] * q[2]).sum()


def slice_made_shorter(x, n):
    items = [x, x * 2, x * 3, x * 4]
    items[1:n] = [x * x]
    items[0] = items[0] * items[1]
    items.append(items[-1] * x)
    return items[0] * items[1] + items[2] * items[-1]


def slice_beyond_the_end(x, n):
    items = [x]
    items[5:] = [x * x, x * 3]
    items.append(items[-1] * x * n)
    while len(items) > 2:
        items.pop()
    return items[0] * items[1]


def slices_near_the_end(x, n):
    items = [x, x * 2, x * 3, x * 4]
    items[-2:] = [x * x, x * x * x, x]
    items[-n:] = [items[0] * items[3]]
    items.insert(1, x * 5)
    return sum(items) * items[1] * items[-1]


def slices_in_a_loop(x, n):
    items = [x, x * 2, x * 3, x * 4]
    for k in range(n):
        items[k : k + 2] = [items[k] * items[-1]]
        items.append(x * k)
    return sum(items) * items[0]


def slices_deleted(x, n):
    items = [x, x * 2, x * 3, x * 4]
    del items[1:n]
    items[0] = items[0] * items[1]
    del items[-1:]
    items.append(items[0] * 2)
    items[::2] = [x * 7 for _ in items[::2]]
    return items[0] * items[1] * items[-1]


def rows_summed_behind_a_test(u):
    v = u[::-1] * 0.4
    rows = [row for row in np.stack([u, v])]  # noqa: C416
    p = u * v
    if np.sum(u) > 0.1:
        p = np.sum(rows, axis=0) * 0.3
    return np.sum(v * p * p)


def rows_summed_behind_a_test_scaled(u):
    return rows_summed_behind_a_test(u * 1.1) * (1 + u[0])


class Held:
    def __init__(self, value):
        self.value = value


def swapped_with_an_attribute(u):
    held = Held(u * 1.1)
    product = u[:, None] * u
    held.value, u = u, held.value
    return np.sum(product * u * held.value)


def swapped_with_an_attribute_scaled(u):
    return swapped_with_an_attribute(u * 0.9) * (1 + u[0])


def squares_in_a_tuple(v):
    squares = tuple(x * x for x in v if x > 0.5)
    return sum([*squares, 1.0, *v]) ** 2


def squares_in_a_tuple_scaled(v):
    return squares_in_a_tuple(v) * v[0]


def returned_early_or_summed(x):
    s = x[0]
    items = [x[1], s]
    v = x.copy()
    if v[0] > v[1]:
        v[1] = 2.0
    elif s > 1.2:
        return s
    for _ in range(2):
        s = s + v[0]
        v[0] = np.sin(v[0] * s)
    return s + items[0]


def returned_early_or_summed_scaled(x):
    return returned_early_or_summed(x * 1.1) * 2


def dict_read_in_a_loop(x):
    s = x[0]
    c = {"u": x + 0.0, "w": x[1] * 2}
    for _ in range(3):
        s = s + c["w"] * c["u"][1]
    return s


def dict_read_in_a_loop_scaled(x):
    return dict_read_in_a_loop(x * 1.1) * x[0]


def rows_turned_over_beside_a_sum(u):
    v = u[::-1] * 0.4
    m = np.outer(u, v)
    rows = [m[0], m[1]]
    held = Held(u)
    held.total = np.zeros(2)
    for _ in range(2):
        held.total += m[0] * u[1]
        rows = rows[::-1]
        rows.insert(0, m[-1])
    return u @ v + rows[-1] @ v


SLICES = [slice_made_shorter, slice_beyond_the_end, slices_near_the_end, slices_in_a_loop, slices_deleted]
X = np.array([0.4, 0.7])
PROGRAMS = [
    *((f, (X,)) for f in (
        sum_in_a_list, sum_in_a_dict, sum_in_a_tuple, sum_in_a_named_tuple, sum_in_an_object, sum_in_a_growing_list, sum_in_a_queue, sum_in_rows, sum_in_another_list, sum_while_it_lasts, sum_moments, sum_copied_with_what_it_shares, sum_copied_with_views, sum_copied_with_what_moves,
    )),
    (sum_object_and_rows, (X,)),
    (late_total_scaled, (X,)), (rows_turned_over_beside_a_sum, (X,)), (returned_early_or_summed_scaled, (X[::-1],)), (dict_read_in_a_loop_scaled, (X,)), (squares_in_a_tuple_scaled, (X,)), (swapped_with_an_attribute_scaled, (X,)), (rows_summed_behind_a_test_scaled, (X,)),
    *((f, (0.7,)) for f in (
        numbers_of_another_list, numbers_given_again, numbers_in_attributes, arrays_of_another_list,
    )),
    *((f, (0.7, n)) for f in SLICES for n in (1, 3)),
]  # fmt: skip
