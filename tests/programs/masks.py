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


def root_and_argument(v):
    return np.sqrt(v), v


def root_of_a_row(v):
    if v.ndim == 1:
        return np.sqrt(v)
    return v


def root_and_more(v, k):
    return np.sqrt(v) if k == 0 else root_and_more(v, k - 1) * 1.1


def chosen_of_what_helpers_gave(x):
    a, b = root_and_argument(x)
    total = np.sum(np.where(x > 0.1, a, b)) + np.sum(np.where(x > 0.1, root_of_a_row(x), 0))
    return total + np.sum(np.where(x > 0.1, root_and_more(x, 1), 0))


def chosen_after_a_loop(x):
    a = np.log(x)
    for _ in range(2):
        a = a * x
    y = np.sqrt(x)
    k = 0
    while k < 2:
        y = np.where(x > 0.1, y, 0.0) + x
        k += 1
    return np.sum(np.where(x > 0.1, a, 0)) + np.sum(y)


def chosen_after_an_attempt(x):
    try:
        a = np.sqrt(x)
    except FloatingPointError:
        a = x
    return np.sum(np.where(x > 0.1, a, 0)) + np.sum(np.choose(x > 0.1, [x, np.sqrt(x)]))


def replaced_at_places(x):
    y = np.sqrt(x)
    np.copyto(y, 0.0, where=x < 0.1)
    z = np.sqrt(x)
    z[:2] = 0.0
    z[4] = 0.0
    return np.sum(y) + np.sum(z)


def picked_at_places(x):
    places = np.flatnonzero(x > 0.1)
    total = np.sum(np.log(x)[places]) + np.sqrt(x)[3] + np.sum(np.sqrt(x)[[2, 3]])
    return total + np.sum(np.compress(x > 0.1, np.sqrt(x))) + np.sum(np.extract(x > 0.1, np.log(x)))


def used_in_a_branch(x):
    s = np.log(x)
    total = sum(s[i] * x[i] for i in range(len(x)) if x[i] > 0.1)
    y = np.sqrt(x)
    for i in range(len(x)):
        if x[i] > 0.1:
            total += y[i]
    return total


def returned_or_not(z):
    r = np.sqrt(z)
    return r if z > 0.5 else z * 2


def distances_of_pairs(A):
    r = np.linalg.norm(A[:, None] - A[None, :], axis=-1)
    i, j = np.triu_indices(len(A), 1)
    total = np.sum(1 / r[i, j])
    for i in range(len(A)):
        for j in range(len(A)):
            d = np.linalg.norm(A[i] - A[j])
            if i == j:
                continue
            total += 1 / d
    return total


def distances_with_a_diagonal(A):
    r = np.sqrt(np.sum((A[:, None] - A[None, :]) ** 2, -1))
    r[np.diag_indices(len(A))] = 1.0
    return np.sum(1 / r)


def broken_powers(x):
    a = x**1.5
    b = np.where(x > 0.13, a, 1.0) * np.cos(x)
    c = x * 1.0
    for _ in range(2):
        c = np.where(c > 0.13, c**1.5, c * 0.9)
    return np.sum(b) + np.sum(c) + np.sum(np.where(x > 0.1, x**1.5 * x**-1.0, x))


def numbers_selected(x):
    y = np.select([x < -1, x < 0.5, x >= 0.5], [x**2, x, np.sqrt(x)], 7.0)
    r = np.sqrt(x)
    z = np.where(x > 0.5, r, 2 * x) * np.where(x <= 0.5, x**2, r * r)
    return y + z + np.where(x > 0.1, np.where(x > 1, np.sqrt(x - 1), np.log(x)), x**2) + np.sum(r, where=x > 0.1)


def replaced_and_multiplied(x):
    y = np.sqrt(x)
    y[x < 0.5] = 0
    y *= x
    t = np.sum(y)
    for v in x:
        t += np.where(v > 0.1, np.sqrt(v), v**2)
    return t


def root_where(v, m):
    return np.where(m, np.sqrt(v), 0.0)


def roots_in_a_loop(x):
    y = x.copy()
    for _ in range(3):
        y = np.where(y > 0.5, np.sqrt(y), y * 0.5 + 0.01)
    t = np.sum(y) + np.sum(root_where(x, x > 0.1) + root_where(-x, x < -0.1))
    return t + sum(np.sum(np.where(x > q, np.sqrt(x - q), 0.0) ** 2) for q in (0.1, 1.0))


def stacked_and_chosen(x):
    return np.sum(np.where(x > 0.1, np.stack([np.sqrt(x), np.log(x), x]), 0.0))


def roots_of_rows(A):
    t = 0.0
    for row in A:
        n = row @ row
        t += np.where(n > 0.5, np.sqrt(n), n) ** 3
    return t


Y = np.array([-2.0, 0.0, 0.3, 1.5, 0.0, 2.2])
ROWS = np.array([[0.0, 1.2, -0.4], [2.0, 0.0, 0.9], [0.0, 0.0, 0.0], [-1.5, 0.8, 1.9]])
X = np.array([0.3, 1.3, 2.3])
UNKNOWN = np.array([np.nan, np.inf])
WORST = float("inf")


def times_infinity(x):
    return np.sum(np.where(x > 0.0, 0.3 * x, x * np.inf))


def times_no_number(x):
    return np.sum(np.where(x > 0.0, x**2, np.nan * x - 1.0))


def times_what_is_too_large(x):
    return np.sum(np.where(x > 0.0, x**2, x * (1e308 * 10) + x * 1e400 + x * float("-inf")))


def times_infinity_of_the_module(x):
    return np.sum(np.where(x > 0.0, x**2, x * WORST))


def infinite_by_several_steps(x):
    large = -np.inf
    y = x * large
    z = 2.0 * y
    return np.sum(np.where(x > 0.0, x**3, np.sin(x) * z + 1.0))


def infinite_in_a_branch(x):
    y = x * np.inf
    r = 2 * x * x
    if x < 0:
        r = y
    return r


def infinite_by_choice(x):
    return np.sum(np.select([x > 2.0, x > 0.0], [x, x**2], x * np.inf))


def infinite_piecewise(x):
    return np.sum(np.piecewise(x, [x > 0], [lambda t: t**2, lambda t: t * np.inf]))


def data_of_the_module_with_gaps(x):
    return np.sum(np.where(np.array([False, False]), x * UNKNOWN, x**2))


INFINITE = [
    *(times_infinity, times_no_number, times_what_is_too_large, times_infinity_of_the_module),
    *(infinite_by_several_steps, infinite_by_choice),
]


def asked_by_the_bits_of_a_number(x, k):
    c = np.hypot(x[0], x[1])
    if c == 0:
        c = 1e-3
    r = x[2]
    if k & 2:
        r = c * x[0]
    return r


def asked_by_two_numbers(x, k):
    c = np.hypot(x[0], x[1])
    if k & 4:
        c = x[0] * 1e-3
    return c * x[0] if k & 2 else x[1]


def chosen_by_numbers(x, k):
    c = np.hypot(x, x + 1)
    c = np.where(c == 0, 1e-3, c)
    return np.sum(np.where(k * np.array([1, 0, 2]), c * x, 0.0))


def asked_by_a_list(x, k):
    c, items = np.hypot(x[0], x[1]), [k] * k
    if c == 0:
        c = 1e-3
    return c * x[0] if items else x[1]


def replaced_after_two_operations(x):
    y = np.log(x) * 2
    y[x <= 0.5] = 0
    return np.sum(y)


def replaced_product(x):
    y = x * np.log(x)
    y[x <= 0.5] = 0
    return np.sum(y)


def replaced_product_with_a_sum(x):
    a = np.sqrt(x) * np.sum(x)
    a[x <= 0.5] = 0.0
    return np.sum(a)


def none_at_all(x):
    n = np.sqrt(np.sum(x * x))
    return np.sum(np.where(n > 0.5, x / n, x)[:1])


def roots_of_rows_left_out_of_a_product(x, B):
    rows = np.sqrt(x) @ B
    return np.sum(np.where(np.array([True, False, True])[:, None], rows, 0.0))


def turned_and_taken_in_part(angle, B):
    c, s = np.cos(angle), np.sin(angle)
    T = np.eye(2)
    for _ in range(3):
        T = T @ np.array([[c, -s], [s, np.sqrt(np.abs(c - np.cos(0.3)))]]) @ B
    return T[0, 0]


PROGRAMS = [
    (
        roots_of_rows_left_out_of_a_product,
        (np.array([[0.3, 0.4], [0.0, 0.0], [0.1, 0.7]]), np.array([[1.0, 2.0], [0.5, -1.0]])),
    ),
    (turned_and_taken_in_part, (0.4, np.array([[1.0, 0.2], [0.5, -1.0]]))),
    *(
        (f, (np.array([0.0, 1.0, -1.0, 2.0]),))
        for f in (replaced_after_two_operations, replaced_product, replaced_product_with_a_sum)
    ),
    (none_at_all, (np.zeros(2),)),
    (none_at_all, (np.ones(3),)),
    *((f, (x,)) for f in INFINITE for x in (1.3, np.array(1.3), np.array([1.3, 0.4]))),
    *((infinite_in_a_branch, (x,)) for x in (1.3, np.array(1.3))),
    *((infinite_piecewise, (x,)) for x in (np.array(1.3), np.array([1.3, 0.4]))),
    (data_of_the_module_with_gaps, (np.array([1.3, 0.4]),)),
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
    (chosen_of_what_helpers_gave, (Y,)),
    (chosen_after_a_loop, (Y,)),
    (chosen_after_an_attempt, (Y,)),
    (replaced_at_places, (Y,)),
    (picked_at_places, (Y,)),
    (used_in_a_branch, (Y,)),
    (returned_or_not, (0.0,)),
    (distances_of_pairs, (ROWS,)),
    (distances_with_a_diagonal, (ROWS,)),
    (broken_powers, (Y,)),
    (numbers_selected, (-1.3,)),
    (numbers_selected, (2.3,)),
    (replaced_and_multiplied, (Y,)),
    (roots_in_a_loop, (Y,)),
    (stacked_and_chosen, (Y,)),
    (roots_of_rows, (ROWS,)),
    *(
        (f, (np.array([0.3, 0.4, 0.1]), k))
        for f in (asked_by_the_bits_of_a_number, asked_by_two_numbers, chosen_by_numbers, asked_by_a_list)
        for k in (1, 2, 6)
    ),
]
