"""Arms of `where` that are chosen in loops, branches and calls, of what was computed before them."""

import numpy as np


def root_chosen_in_each_trip(x):
    s = np.sqrt(x)
    total = 0.0
    for k in range(3):
        total += np.sum(np.where(x > k, s, 0.0) * (k + 1))
    return total


def root_chosen_in_a_branch(x):
    s = np.sqrt(x)
    total = 0.0
    for k in range(3):
        t = x > k
        if k % 2:
            total += np.sum(np.where(t, s, 0.0) * (k + 1))
    return total


def arms_that_a_loop_carries(x):
    s = x
    for k in range(3):
        t = x > k
        s = np.where(t, np.sqrt(s), s**2)
    return np.sum(s)


def chosen(s, t):
    return np.where(t, s, 1.0)


def root_chosen_twice(x):
    s = np.sqrt(x)
    return np.sum(chosen(s, x > 0.5)) + np.sum(chosen(s, x > 1.5))


def logarithms_of_columns(x):
    y = np.log(x)[:, None] * np.array([1.0, 2.0])
    return np.sum(np.where((x > 0.5)[:, None], y, x[:, None]) ** 2)


def entries_that_are_picked(x):
    y = np.exp(x) / x
    return np.sum(y[x > 1] ** 2) + np.sum(np.maximum(y, 4.0))


X = np.array([0.3, 1.3, 2.3])
PROGRAMS = [
    (root_chosen_in_each_trip, (X,)),
    (root_chosen_in_a_branch, (X,)),
    (arms_that_a_loop_carries, (X,)),
    (root_chosen_twice, (X,)),
    (logarithms_of_columns, (X,)),
    (entries_that_are_picked, (X,)),
]
