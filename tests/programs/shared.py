"""Memory that two names share by way of a call: what a helper gives back of its argument, what it gives twice,
what a pair saves twice, and what a value changes while its target is being updated."""

import numpy as np


def tail(v):
    return v[1:]


def view_from_a_helper_scaled(x):
    t = tail(x)
    t *= 2
    return np.sum(x)


def argument_scaled_after_its_view_was_taken(x):
    t = tail(x)
    x *= 2
    return np.sum(t)


def twice(x):
    z = x * 2
    return z, z


def one_array_under_two_names(x):
    a, b = twice(x)
    b *= 3.0
    return np.sum(a)


def blocks(M):
    return M[:1], M[1:]


def views_in_a_tuple(M):
    a, b = blocks(M)
    M *= 2
    return np.sum(b * a)


def larger(a, b):
    return a if a[0] > b[0] else b


def one_of_two_changed(x, y):
    x, y = x * 1, y * 1
    r = larger(x, y)
    r += 1
    return np.sum(x * x) + np.sum(y**3)


def velocity(d):
    return d["u"]


def item_from_a_helper_scaled(x):
    d = {"u": x * 2}
    u = velocity(d)
    u *= 3
    return np.sum(d["u"] ** 2)


def view_from_a_helper_sorted(x):
    t = tail(x)
    t.sort()
    return np.sum(x * x * np.arange(len(x)))


def row(M, k):
    return M[k]


def row_from_a_helper_as_out(M):
    np.add(row(M, 1), row(M, 0), out=row(M, 1))
    return np.sum(M**2)


def allocated(n):
    return np.zeros(n)


def filled_where_it_is_allocated(x):
    z = allocated(3)
    z += x
    w = allocated(len(x))
    for i in range(3):
        w[i] = x[i] ** 2
    return np.sum(z * w)


def bump(a, s):
    a += s
    return a


def called_for_its_change(y, x):
    bump(y, x)
    return np.sum(y * x)


def called_for_the_change_of_a_view(y, x):
    y = y * 1
    bump(y[1:], x[1:])
    bump(s=x, a=y)
    return np.sum(y**2)


def raised(x):
    x[0] += 1.0
    return x[0]


def entry_changed_by_its_own_update(x):
    x[0] *= raised(x)
    return np.sum(x)


def entries_changed_by_their_own_update(x):
    x[[0, 1]] *= raised(x)
    x[x < 10] += raised(x)
    return np.sum(x)


def slice_changed_by_its_own_update(x):
    x[0:1] += raised(x)
    return np.sum(x**2)


def item_of_a_dict_changed_by_its_own_update(x):
    d = {"a": x}

    def add(v):
        d["a"] = d["a"] + v
        return v

    d["a"] += add(2 * x)
    return d["a"] * x


def item_of_a_list_changed_by_its_own_update(x):
    items = [x[0], x[1]]

    def triple():
        items[0] = items[0] * 3.0
        return items[0]

    items[0] += triple()
    return items[0] * items[1]


class Tally:
    def __init__(self, x):
        self.entries, self.total = x * 1, 0.0

    def add(self, v):
        self.entries[0] += v
        self.total += v
        return v


def attributes_changed_by_their_own_update(x):
    t = Tally(x)
    t.entries[0] += t.add(x[1])
    t.total += t.add(x[0])
    return t.entries[0] * t.total


def smoothed(x):
    c = np.array([1.0, 2.0])
    s = np.zeros(2)
    for k in range(2):
        c[0] = k + 3.0
        c = c[::-1].copy()
        s += c * x * x
    return s


def saved_in_two_lists(x):
    return np.sum(smoothed(x) * np.array([1.0, 0.0]))


def saved_as_views(x):
    w = np.array([1.0, 2.0])
    s = 0.0
    for _ in range(2):
        w *= 2
        s = s + np.sum(w * x * x)
        w = w[::-1]
    return s


def indices_that_change(x, w):
    index = np.array([0, 1])
    for k in range(2):
        index[0] = 1 - k
        index = index[::-1].copy()
        x[index] += w
    return x[0]


def mask_that_changes(x):
    m = np.ones(3, bool)
    y = x.copy()
    for k in range(2):
        m[k] = False
        y[m] *= y[m]
        m = m.copy()
        m[0] = True
        y[m] *= y[m]
    return np.sum(y)


def positive(x):
    return x[x > 0]


def lengths_that_only_the_values_know(x, y):
    return np.sum(positive(x) * positive(y) ** 2)


def lengths_of_the_caller_and_the_callee(x, y):
    a = y[y > 0.5]
    return np.sum(positive(x) * a) * np.sum(positive(a)[:1] + a)


def lengths_that_a_loop_changes(x):
    s = 0.0
    a = x[x > 0.05]
    c = a
    k = 0
    while k < 3:
        s = s + np.sum(c * a**2)
        a = a[-1:]
        k += 1
    return s


def lengths_that_a_loop_changes_in_recursion(x):
    if len(x) < 2:
        return np.sum(x)
    a = x
    s = 0.0
    for _ in range(2):
        s = s + np.sum(a * x)
        a = a[a >= np.max(a)]
    return s * lengths_that_a_loop_changes_in_recursion(x[1:])


def asked(v):
    return v**2


def name_of_the_compiler(x):
    return asked(x[0]) * any(v > 0.5 for v in x)


def rows_of_indices(M, v):
    index = np.array([[0, 1], [1, 0]])
    for i in range(2):
        M[i, index[i]] += v
    return np.sum(M**2)


def pairs_with_their_numbers(T, pairs):
    s = 0.0
    for e, (i, j) in enumerate(pairs):
        s += T[e] * T[i] * T[j]
    for k, (i, (j, m)) in enumerate(zip(range(2), pairs)):
        s += T[i] * T[j] * m * k
    return s


def changed_and_what_was_made_of_it(z, w):
    b = z * w
    p = b * z
    b[...] = b * w
    return b, p


def both_of_a_call(x):
    u, v = changed_and_what_was_made_of_it(x * 1.0, x * 2)
    return np.sum(u * v)


X2, X3, M = np.array([0.3, -0.7]), np.array([0.3, -0.7, 1.2]), np.array([[1.0, 2.0], [3.0, 4.0]])
PROGRAMS = [
    *((f, (X2,)) for f in (
        view_from_a_helper_scaled, argument_scaled_after_its_view_was_taken, one_array_under_two_names,
        item_from_a_helper_scaled, entry_changed_by_its_own_update, entries_changed_by_their_own_update,
        slice_changed_by_its_own_update, item_of_a_list_changed_by_its_own_update,
        attributes_changed_by_their_own_update, saved_in_two_lists, saved_as_views,
    )),
    (views_in_a_tuple, (M,)), (one_of_two_changed, (np.array([0.5, 0.6]), np.array([0.2, 0.1]))),
    (view_from_a_helper_sorted, (np.array([0.3, 0.7, 0.2]),)), (row_from_a_helper_as_out, (M,)),
    (filled_where_it_is_allocated, (X3,)), (called_for_its_change, (np.ones(2), 2 * np.ones(2))),
    (called_for_the_change_of_a_view, (X2 + 1, X2)), (item_of_a_dict_changed_by_its_own_update, (0.7,)),
    (indices_that_change, (np.ones(2), np.ones(2))), (mask_that_changes, (X3,)),
    (lengths_that_only_the_values_know, (np.array([1.0, -1.0, -2.0]), np.array([1.0, 2.0, 3.0]))),
    (lengths_that_only_the_values_know, (np.arange(-9, 1.0) + 0.5, np.arange(-3, 7.0) + 0.5)),
    (lengths_of_the_caller_and_the_callee, (np.array([1.0, -1.0, -2.0]), np.array([1.0, 0.4, 3.0]))),
    (lengths_that_a_loop_changes, (np.array([0.1, 0.4, 0.7]),)),
    (lengths_that_a_loop_changes_in_recursion, (np.array([0.1, 0.4, 0.7, 0.6, 0.3, 0.35, 0.9]),)),
    (name_of_the_compiler, (np.array([0.4, 0.7]),)), (rows_of_indices, (M, 0.5)), (both_of_a_call, (X2 + 1,)), (pairs_with_their_numbers, (X2, [(0, 1), (1, 0)])),
]  # fmt: skip
