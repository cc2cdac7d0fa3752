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


def sum_in_a_branch_and_an_arm(x):
    a = np.exp(-x)
    s = 0.0
    if x[1] > 1:
        s = np.sum(a)
    return s + np.sum(np.where(x > 0.5, a, 0.3))


def sum_in_a_loop_and_an_arm(x):
    a = np.exp(-x)
    s = 0.0
    for _ in range(2):
        s = s + np.sum(a)
    return s + np.sum(np.where(x > 0.5, a, 0.3))


def quotient_in_a_loop(x):
    a = x**2
    for _ in range(1):
        b = 1 / np.where(x > 0.5, a, x)
    return np.sum(b)


def quotient_of_what_a_loop_chose(x):
    a = x**2
    for _ in range(2):
        b = np.where(x > 0.5, a, x)
        b = 1 / b
    return np.sum(b)


def bounded_at_a_minimum(x):
    return np.sum((np.maximum(np.sqrt(x), 0.1) - np.array([1.0, 2.0])) ** 2)


def clipped_at_a_minimum(x):
    return np.sum((np.clip(np.exp(x), 0.1, 9.0) - 1.0) ** 2)


def numbers_at_a_minimum(x):
    return np.sum(np.nan_to_num(np.log(x)) ** 2)


def picked_at_a_minimum(x):
    return np.sum((np.sqrt(x)[x > 0] - np.array([1.0, 2])) ** 2)


def rows_at_a_minimum(x):
    n = np.linalg.norm(x, axis=1, keepdims=True)
    return np.sum(np.where(n > 0, (n - np.array([[5.0], [1.0]])) ** 2, 0.0))


def root_that_is_overwritten_in_part(x):
    a = np.sqrt(x)
    a[1:] = x[:-1] * 0.9
    return np.sum(np.where(np.arange(3) != 1, a, 0.3) * x)


def a_test_that_a_loop_carries(x):
    s = np.sqrt(x)
    t = x > 0.5
    total = 0.0
    for k in range(3):
        total += np.sum(np.where(t, s, 0.0) * (k + 1))
        t = x > k + 0.5
    return total


def root_in_a_loop_that_carries_the_test(x):
    t = x > 0.5
    total = 0.0
    for k in range(3):
        s = np.sqrt(x * (k + 1))
        total += np.sum(np.where(t, s, 0.0) * (k + 1))
        t = x > k + 0.5
    return total


def a_test_of_the_last_trip(x):
    t = x > 0.5
    for k in range(3):
        t = x > k + 0.5
    s = np.sqrt(x)
    return np.sum(np.where(t, s, x))


def a_test_that_a_while_loop_carries(x):
    s = np.sqrt(x)
    t = x > 0.5
    k = 0
    total = 0.0
    while k < 3:
        total += np.sum(np.where(t, s, 0.0) * (k + 1))
        t = x > k + 0.5
        k += 1
    return total


def a_test_of_a_branch(x):
    s = np.sqrt(x)
    t = x > 0.5
    if x[0] > 0.1:
        t = x > 1.5
    return np.sum(np.where(t, s, x))


X = np.array([0.3, 1.3, 2.3])
PROGRAMS = [
    (root_chosen_in_each_trip, (X,)),
    (root_chosen_in_a_branch, (X,)),
    (arms_that_a_loop_carries, (X,)),
    (root_chosen_twice, (X,)),
    (logarithms_of_columns, (X,)),
    (entries_that_are_picked, (X,)),
    (sum_in_a_branch_and_an_arm, (X,)),
    (sum_in_a_loop_and_an_arm, (X,)),
    (quotient_in_a_loop, (X,)),
    (quotient_of_what_a_loop_chose, (X,)),
    (bounded_at_a_minimum, (np.array([1.0, 4.0]),)),
    (clipped_at_a_minimum, (np.zeros(2),)),
    (numbers_at_a_minimum, (np.ones(2),)),
    (picked_at_a_minimum, (np.array([1.0, 4.0]),)),
    (rows_at_a_minimum, (np.array([[3.0, 4.0], [0.6, 0.8]]),)),
    (root_that_is_overwritten_in_part, (X,)),
    (a_test_that_a_loop_carries, (X,)),
    (root_in_a_loop_that_carries_the_test, (X,)),
    (a_test_of_the_last_trip, (X,)),
    (a_test_that_a_while_loop_carries, (X,)),
    (a_test_of_a_branch, (X,)),
]
