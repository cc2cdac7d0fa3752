"""Sums that begin with a number, and other values that are a number on one path and an array on another."""

import numpy as np


def sum_from_an_entry(x, n):
    s = x[0] * 2
    for i in range(n):
        s = s + x[i] * x
    return np.sum(s * s)


def number_or_array_by_a_branch(x, n):
    if n > 1:
        y = x[1] * 3
    else:
        y = x * x
    return np.sum(y * x)


def zero_or_array(x, n):
    y = 0
    if n > 1:
        y = x * x
    return np.sum(np.sin(y) * x) + np.mean(y)


def sums_that_are_kept(x, n):
    s = 0.0
    hist = []
    for i in range(n):
        s = s + x * x[i]
        hist.append(s)
    return np.sum(hist[0] * hist[1])


def scaled_from_zero(x, n):
    s = 0.0
    for _i in range(n):
        s = s * x[0] + x
    m = np.max(s)
    return np.sum(s) + np.mean(s) * m


def best_from_zero(x, n):
    best = 0.0
    for i in range(n):
        t = x * i
        best = np.maximum(best, t)
    return np.sum(best)


def average_that_moves(x, n):
    v = 0.0
    while n > 0:
        v = 0.9 * v + 0.1 * x**2
        n = n - 1
    return np.sum(np.sqrt(v + 1.0))


def adam(x, n):
    m = 0.0
    v = 0.0
    w = x
    for t in range(1, n + 1):
        g = 2 * w
        m = 0.9 * m + 0.1 * g
        v = 0.99 * v + 0.01 * g**2
        w = w - 0.1 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.99**t)) + 1e-3)
    return np.sum(w**2)


def sum_of_sums(x, n):
    tot = 0
    for i in range(n):
        part = 0
        for j in range(i):
            part = part + x * x[j]
        tot = tot + part * x
    return np.sum(tot)


def asked_for_its_axes(x, n):
    s = 0.0
    for _i in range(n):
        s = s + x
    if np.ndim(s) == 0:
        return np.sum(x)
    return np.sum(s * x)


def negated_number_or_array(x, n):
    y = x[0] if n > 1 else x
    z = -y
    return np.mean(x + z) + np.sum(z * y)


def entry_before_a_loop(x, n):
    s = x[0]
    for _i in range(n):
        s = s + x
    return np.sum(s + x)


def entry_before_two_loops(x, n):
    s = x[0]
    for _ in range(n):
        s = s + x
    for i in range(2):
        s = s * x[i]
    return np.sum(s) + np.sum(x + s)


def while_sum_or_entry(x, n):
    s = 0.0
    k = 0
    while k < n:
        s = s + x * x[k]
        k += 1
    u = s if n > 1 else x[1]
    return np.sum(x + u)


def entry_or_array(x, n):
    y = x[0] if n > 1 else x
    return np.sum(y + x)


def product_of_entries_or_array(x, n):
    y = x * 2
    if n > 1:
        y = x[0] * x[1]
    z = 3 * y
    return np.sum(np.outer(x, x) * z) + np.sum(np.maximum(z, x))


def constant_or_array(x, n):
    y = x * 2
    if n > 1:
        y = 5
    z = y**2
    z += x
    return np.sum(z)


def number_or_array_in_a_tuple(x, n):
    y = x * 2
    if n > 1:
        y = x[0]
    ys = (y, x)
    a, b = ys
    return np.sum(a + b)


def number_or_array_in_a_dict(x, n):
    y = x * 2
    if n > 1:
        y = x[0]
    d = {"y": y}
    return np.sum(d["y"] * 2 + x)


def where_of_a_number_or_array(x, n):
    y = x * 2
    if n > 1:
        y = x[0]
    return np.sum(np.where(x > 2, y, x))


def clipped_by_a_number_or_array(x, n):
    y = x * 2
    if n > 1:
        y = x[0]
    return np.sum(np.clip(x, y - 1, y + 1))


class Held:
    pass


def attribute_that_is_a_number_or_array(x, n):
    o = Held()
    o.y = x * 2
    if n > 1:
        o.y = x[0]
    return np.sum(o.y + x)


def number_or_array_given_to_a_helper(x, n):
    y = x * 2
    if n > 1:
        y = x[0]

    def h(v):
        return v + x

    return np.sum(h(y) * h(x))


def entry_or_matrix(x, n):
    y = np.outer(x, x)
    if n > 1:
        y = x[0]
    return np.sum(y + np.outer(x, x)) + np.sum(y)


def normalised_from_one(x, n):
    y = 1.0
    for _k in range(n):
        y = y * np.exp(x)
        y = y / np.sum(y)
    return np.sum(y * x)


def least_from_an_entry(x, n):
    lo = x[0]
    for k in range(n):
        lo = np.minimum(lo, x * (k - 1))
    return np.sum(lo + x) + np.sum(lo)


def kept_and_then_added_to(x, n):
    s = 0.0
    hist = []
    for i in range(n):
        s += x * x[i]
        hist.append(s)
    return np.sum(hist[0] * hist[1])


def array_behind_a_number_written_into(x, n):
    s = 0
    for _i in range(n):
        s = s + x
        s[0] = s[0] * 2
    return np.sum(s)


def product_of_sums(x, A):
    P = 0
    for i in range(3):
        P += np.outer(x, x) * x[i]
    K = np.dot(P, A)
    return np.sum(np.dot(K, x))


def sum_over_entries(x, w):
    s = 0.0
    for v in w:
        s = s + v * x
    return np.dot(s, x) + s.shape[0] + len(s)


def sum_over_rows(x, rows):
    s = 0.0
    for i, r in enumerate(rows):
        s += r * i
    return np.sum(np.cumsum(s) * x)


X = np.array([1.1, 2.1, 3.1])
REFUSED = {"kept_and_then_added_to"}
ALL = [
    sum_from_an_entry, number_or_array_by_a_branch, zero_or_array, sums_that_are_kept, scaled_from_zero,
    best_from_zero, average_that_moves, adam, sum_of_sums, asked_for_its_axes, negated_number_or_array,
    entry_before_a_loop, entry_before_two_loops, while_sum_or_entry, entry_or_array, product_of_entries_or_array,
    constant_or_array, number_or_array_in_a_tuple, number_or_array_in_a_dict, where_of_a_number_or_array,
    clipped_by_a_number_or_array, attribute_that_is_a_number_or_array, number_or_array_given_to_a_helper,
    entry_or_matrix, normalised_from_one, least_from_an_entry, kept_and_then_added_to,
    array_behind_a_number_written_into,
]  # fmt: skip
PROGRAMS = [
    *((f, (X, n)) for f in ALL for n in (0, 1, 3) if f not in (sums_that_are_kept, kept_and_then_added_to) or n > 1),
    (product_of_sums, (X, np.eye(3) + 1)), (sum_over_entries, (X, np.arange(12.0))),
    (sum_over_rows, (X, np.ones((4, 3)))),
]  # fmt: skip
