"""Slices of reversed views, and of the last entries of what may have fewer: what is stored before they are read."""

import numpy as np


def reversed_without_the_last(x):
    y = x * x
    y[0] = x[-1]
    return np.sum(y[::-1][1:] ** 2)


def turned(a):
    return a[::-1]


def reversed_by_a_helper(x):
    y = x * x
    y[0] = x[-1] * x[0]
    w = turned(y)[1:]
    y = x * 2
    return np.sum(w * w) + np.sum(y)


def reversed_without_the_first(x):
    y = x * x
    y[-1] = x[0]
    return np.sum(y[::-1][:-1] ** 2)


def every_second_from_behind(x):
    y = x * x
    y[0] = x[-1]
    k = 1
    return np.sum(y[::-2][k:] ** 2) + np.sum(y)


def reversed_columns(x):
    y = np.outer(x, x)
    y[:, 0] = x
    y[0] = 2 * x
    return np.sum(y[:, ::-1][:, 1:] ** 2) + np.sum(y[::-1][1:, 0])


def taken_before_the_store(x):
    y = x * x
    w = y[::-1]
    y[0] *= x[-1]
    v = w[1:]
    v *= x[0]
    return np.sum(v * v)


def reversed_twice(x):
    y = x * x
    y[:2] = x[0]
    return np.sum(y[::-1][1:][::-1] ** 3)


def reversed_in_a_loop(x):
    y = x * x
    t = 0.0
    for k in range(2):
        y[0] *= x[k]
        w = y[::-1][1:]
        t += np.sum(w * w)
    return t


def last_three_of_fewer(x):
    y = x * x
    y[0] = x[-1]
    return np.sum(y[-3:][:1] ** 2)


def entry_of_the_last_three(x):
    y = x * x
    y[-3:][0] *= x[0]
    return np.sum(y**2)


def from_before_the_first(x):
    y = x * x
    w = y[-10:2][:2]
    y[0] = x[-1]
    return np.sum(w**3)


def window_before_a_store(x):
    y = x * x
    w = y[-3:2]
    y[0] = x[1]
    return np.sum(w[:1] ** 2)


def sums_before_and_after(c, x):
    e = np.exp(x)
    before = np.sum(e)
    e[0] = 5.0
    return np.sum(c * x * (before - np.sum(e)))


SHORT, LONG, MANY = np.array([1.5, 2.0]), np.array([0.6, 0.7, 1.3, -0.4]), np.linspace(0.3, 1.9, 9)
PROGRAMS = [
    (function, (x,))
    for function in (
        reversed_without_the_last, reversed_by_a_helper, reversed_without_the_first, every_second_from_behind,
        reversed_columns, taken_before_the_store, reversed_twice, reversed_in_a_loop, last_three_of_fewer,
        entry_of_the_last_three, from_before_the_first, window_before_a_store,
    )
    for x in (SHORT, LONG, MANY)
    if not (function is entry_of_the_last_three and x is MANY)
]  # fmt: skip
PROGRAMS += [(sums_before_and_after, (0.7, x)) for x in (SHORT, MANY)]
