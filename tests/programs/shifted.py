"""Sums of exponentials with a shift that is taken off and added again, and what only looks like one."""

import math

import numpy as np

rng = np.random.default_rng(12)


def log_of_running_sums(x, event):
    top = np.max(x)
    log_risk = np.log(np.cumsum(np.exp(x - top))) + top
    return np.sum((x - log_risk)[event])


def logsumexp(a, axis):
    top = np.max(a, axis=axis, keepdims=True)
    return np.squeeze(top, axis=axis) + np.log(np.sum(np.exp(a - top), axis=axis))


def along_either_axis(x):
    return np.sum(logsumexp(x, 0) ** 2) + np.sum(np.sin(logsumexp(x, 1)))


def without_kept_axes(x):
    top = np.max(x, axis=1)
    return np.sum(np.tanh(np.log(np.sum(np.exp(x - top[:, None]), axis=1)) + top))


def divided_at_last(x, v):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return np.sum(np.sin((e @ v) / np.sum(e, axis=1)[:, None]))


def of_the_transposed(x):
    top = np.min(x, axis=0)
    e = np.exp(x - top).T
    return np.sum((e / np.sum(e, axis=1, keepdims=True)) ** 2)


def masked_by_infinity(x, keep):
    shifted = np.where(keep, x - np.max(x), -np.inf)
    e = np.exp(shifted)
    return np.sum((e / np.sum(e)) ** 2)


def scaled_before_and_after(x):
    top = np.max(x)
    return 0.5 * np.log(np.sum(np.exp(2.0 * x - 2.0 * top))) + top + np.sum(x**2)


def root_of_a_sum(x):
    top = np.max(x)
    e = np.exp(x - top)
    return np.log(np.sqrt(np.sum(e * e))) + top


def by_numbers(x, y, z):
    top = max(x, y, z)
    return top + math.log(math.exp(x - top) + math.exp(y - top) + math.exp(z - top))


def taken_off_by_a_branch(x, careful):
    top = np.max(x)
    e = np.exp(x - top)
    if careful:
        y = np.log(np.sum(e)) + top
    else:
        y = np.log(np.mean(e)) + top + math.log(3.0)
    return y**2


def in_each_trip(rows):
    total = 0.0
    for row in rows:
        top = np.max(row)
        total += np.sin(np.log(np.sum(np.exp(row - top))) + top)
    return total


def the_first_as_the_shift(x):
    first = x[0]
    return np.sum(np.sin(np.exp(x - first) / np.sum(np.exp(x - first))))


def of_another_length(x):
    s = np.tanh(x[:1])
    e = np.exp(x - s)
    return np.sum(np.log(np.cumsum(e)) + s)


def over_the_axis_of_a_number(x, y):
    top = np.maximum(x, y)
    return np.log(np.sum(np.exp(x - top), axis=0) + np.exp(y - top)) + top


def axes_kept_if_asked(x, keeps):
    top = np.max(x, axis=1)
    total = np.sum(np.exp(x - top[:, None]), axis=1, keepdims=keeps)
    return np.sum(np.sin(np.log(total) + (top[:, None] if keeps else top)))


# ------------------------------------------------------------ what moves
def axes_that_are_not_those_of_the_shift(x, keeps):
    top = np.max(x, axis=1)
    return np.sum(np.sin(np.log(np.sum(np.exp(x - top[:, None]), axis=1, keepdims=keeps)) + top))


def with_a_mask(x, keep):
    top = np.max(np.where(keep, x, -np.inf), axis=1, keepdims=True)
    e = np.where(keep, np.exp(np.where(keep, x - top, 0.0)), 0.0)
    return np.sum((e / np.sum(e, axis=1, keepdims=True)) ** 2)


def added_twice(x):
    top = np.max(x)
    return np.log(np.sum(np.exp(x - top))) + 2 * top


def not_added(x):
    return np.log(np.sum(np.exp(x - np.max(x))))


def of_other_axes(x):
    top = np.max(x, axis=1, keepdims=True)
    return np.sum(np.log(np.sum(np.exp(x - top), axis=0)) + top)


def seen_besides(x):
    top = np.max(x)
    e = np.exp(x - top)
    return np.sum((e / np.sum(e)) ** 2) + np.cos(e[0])


def carried_on(rows):
    top = 0.0
    total = 0.0
    for row in rows:
        total += np.log(np.sum(np.exp(row - top))) + top
        top = np.max(row)
    return total


def beginning_with_more(x):
    top = np.max(x)
    return np.log(np.sum(np.exp(x - top), initial=1.0)) + top


def stored_and_read(x):
    top = np.max(x)
    kept = np.zeros(3)
    kept[:] = np.exp(x - top)
    kept[0] = 1.0
    return np.log(np.sum(kept)) + top


def means_of_rows(x):
    centred = x - np.mean(x, axis=1, keepdims=True)
    return np.sum(centred**4)


def larger_than_one(x):
    top = np.max(x)
    return np.log(np.sum(np.maximum(np.exp(x - top), 0.5))) + top


def on_the_diagonal(x):
    top = np.max(x)
    return np.sum(np.exp(np.diag(x - top))) + np.log(np.sum(np.exp(x - top)))


def rolled_apart(x):
    s = x[::-1] * 0.5
    y = np.exp(x - s)
    return np.sum(y / np.roll(y, 1))


x3 = np.array([0.3, -1.2, 0.7])
x34, x33 = rng.normal(size=(3, 4)), np.random.default_rng(3).normal(size=(3, 3))
keep = np.array([[True, False, True, True], [False, True, True, False], [True, True, True, True]])

PROGRAMS = [
    (log_of_running_sums, (x3, np.array([True, False, True]))),
    (along_either_axis, (x34,)),
    (without_kept_axes, (x34,)),
    (divided_at_last, (x34, rng.normal(size=(4, 2)))),
    (of_the_transposed, (x34,)),
    (masked_by_infinity, (x34, keep)),
    (scaled_before_and_after, (x3,)),
    (root_of_a_sum, (x3,)),
    (by_numbers, (0.3, -1.2, 0.7)),
    (taken_off_by_a_branch, (x3, True)),
    (taken_off_by_a_branch, (x3, False)),
    (in_each_trip, (x34,)),
    (the_first_as_the_shift, (x3,)),
    (of_another_length, (x3,)),
    (over_the_axis_of_a_number, (0.3, 0.9)),
    (axes_kept_if_asked, (x33, True)),
    (axes_kept_if_asked, (x33, False)),
    (added_twice, (x3,)),
    (axes_that_are_not_those_of_the_shift, (x33, True)),
    (with_a_mask, (x34, keep)),
    (not_added, (x3,)),
    (of_other_axes, (x34,)),
    (seen_besides, (x3,)),
    (carried_on, (x34,)),
    (beginning_with_more, (x3,)),
    (stored_and_read, (x3,)),
    (means_of_rows, (x34,)),
    (larger_than_one, (x3,)),
    (on_the_diagonal, (x3,)),
    (rolled_apart, (x3,)),
]
