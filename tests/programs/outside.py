"""What belongs to the module, to the function around and to objects; integers where numbers that move come later;
and calls of the library that programs of every day make."""

import functools
import itertools

import numpy as np

COUNT = {"n": 0}
LEVELS = {"a": {"n": 0}}
ITEMS = [0.0]


class Space:
    n = 0


SPACE = Space()
SPACE.n = 0


def stored_and_read(x):
    COUNT["n"] = 3
    return np.sum(x**2) * COUNT["n"]


def stored_deep_and_read(x):
    LEVELS["a"]["n"] = 0
    LEVELS["a"]["n"] += 1
    return np.sum(x**2) * LEVELS["a"]["n"]


def item_stored_and_read(x):
    ITEMS[0] = 2.0
    return np.sum(x**2) * ITEMS[0]


def attribute_stored_and_read(x):
    SPACE.n = 2
    return np.sum(x**2) * SPACE.n


def counted_by_an_inner_function(x):
    def step():
        COUNT["n"] += 1

    step()
    return np.sum(x**2) * COUNT["n"]


def counted_only(x):
    COUNT["n"] += 1
    return np.sum(x**2)


def closure_with_state():
    state = {"k": 0}

    def stored_in_a_cell(x):
        state["k"] = 2
        return np.sum(x**2) * state["k"]

    return stored_in_a_cell


stored_in_a_cell = closure_with_state()


class Counter:
    def __init__(self):
        self.n = 0

    def __call__(self, x):
        self.n = self.n + 2
        return np.sum(x**2) * self.n


callable_that_counts = Counter()
partial_of_a_lambda = functools.partial(lambda a, b: np.sum(a * b**2), np.array([0.3, 0.7, -0.4]))


def integers_in_a_literal(x):
    return np.array([[1, x], [0, 1]])[0, 1] ** 2


def transition(x):
    F = np.array([[1, x], [0.05, 1]])
    return np.sum(F @ F)


def rotation(x):
    R = np.array([[np.cos(x), -np.sin(x), 0], [np.sin(x), np.cos(x), 0], [0, 0, 1]])
    return np.sum(R @ R * R)


def stacked_integers(x):
    return np.sum(np.stack([[1, x], [0, 1]]) ** 3) + np.sum(np.concatenate([[1, x], [0, 1]]) ** 3)


def rows_of_tuples(x):
    return np.sum(np.array(((1, x), (x, 1)), dtype=float) ** 3)


def stored_rows(x):
    A = np.zeros((2, 2))
    A[:] = [[1, x], [0, 1]]
    return np.sum(A**3)


def arrays_of_both_kinds(x):
    return np.sum(np.array([np.array([1, 2]), np.array([x, 1])]) ** 3)


def stored_over_integers(x):
    D = [[0, 0], [0, 0]]
    D[0][1] = x[0]
    return sum(sum(r) ** 2 for r in D)


def stored_over_integers_of_a_dict(x):
    d = {"b": [0, 0]}
    d["b"][1] = x[1]
    return np.sum(np.array(d["b"]) ** 2)


def steps_of_an_arange(dt):
    t = np.arange(0.0, 1.0, dt)
    return np.sum(np.sin(t)) * dt


def arange_that_moves(x):
    return np.sum(np.arange(x, x + 1.05, 0.25) ** 2)


def arange_to_what_moves(x):
    return np.sum(np.arange(x * 5) * x)


def chosen_by_a_list(A):
    return np.sum(np.choose([0, 1, 0, 1], [A[0], A[1] ** 2]))


def groups_of_constants(x):
    runs = [(k, list(g)) for k, g in itertools.groupby([0, 0, 1, 1, 0])]
    return sum(x[k] * len(g) for k, g in runs)


def groups_by_a_key(x):
    total = 0.0
    for k, g in itertools.groupby(sorted([3, 1, 2, 1], key=lambda t: t % 2), key=lambda t: t % 2):
        total += x[k] * len(list(g))
    return total


def groups_of_what_moves(x):
    total = 0.0
    for _, g in itertools.groupby(x, key=lambda t: t > 0):
        total += sum(g) ** 2
    return total


def counted_at_a_list(A):
    return np.bincount([0, 1, 1, 2], A[0])[1] ** 2


def list_of_rows_times_an_array(A):
    return np.sum([A[0], A[1]] * A[:2])


def items_by_place(A):
    return A.item((0, 1)) ** 2 + A.item(0, 1) ** 2 + A.item(3)


def zip_in_a_nested_target(x):
    (p, q), r = zip(x[:2], x[1:3]), x[2]
    return p[0] * q[1] * r


V = np.array([0.3, 0.7, -0.4])
A = np.array([[0.4, -0.3, 1.3, 0.2], [-0.8, 0.6, 0.9, -1.1]])


CALLS = [0]


def tick():
    CALLS[0] += 1
    return CALLS[0]


def counted_by_another_function(x):
    CALLS[0] = 0
    return np.sum(x) * tick()


PROGRAMS = [
    (stored_and_read, (V,)),
    (stored_deep_and_read, (V,)),
    (item_stored_and_read, (V,)),
    (attribute_stored_and_read, (V,)),
    (counted_by_an_inner_function, (V,)),
    (counted_only, (V,)),
    (stored_in_a_cell, (V,)),
    (integers_in_a_literal, (0.7,)),
    (transition, (0.7,)),
    (rotation, (0.7,)),
    (stacked_integers, (0.7,)),
    (rows_of_tuples, (0.7,)),
    (stored_rows, (0.7,)),
    (arrays_of_both_kinds, (0.7,)),
    (stored_over_integers, (V,)),
    (stored_over_integers_of_a_dict, (V,)),
    (steps_of_an_arange, (0.3,)),
    (arange_that_moves, (0.3,)),
    (arange_to_what_moves, (0.63,)),
    (chosen_by_a_list, (A,)),
    (groups_of_constants, (V,)),
    (groups_by_a_key, (V,)),
    (groups_of_what_moves, (V,)),
    (counted_at_a_list, (A,)),
    (list_of_rows_times_an_array, (A,)),
    (items_by_place, (A,)),
    (zip_in_a_nested_target, (V,)),
    (counted_by_another_function, (V,)),
]
REFUSED = {
    "counted_by_another_function", "stored_and_read", "stored_deep_and_read", "item_stored_and_read", "attribute_stored_and_read",
    "counted_by_an_inner_function", "stored_in_a_cell",
}  # fmt: skip
