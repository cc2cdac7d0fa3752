"""Lists and dicts that are read while they grow, tests of what changes, positions from the end, results by key."""

# ruff: noqa: B007, F841, UP034

from collections import deque

import numpy as np


def sum_of_an_empty_list(x):
    h = []
    h.append(x[0] + sum(h))
    return h[0]


def each_the_sum_of_those_before(l):
    a = []
    for i in range(2):
        a.append(l[i] + sum(a))
    return a[1]


def np_sum_of_those_before(x):
    h = []
    for i in range(3):
        h.append(x[i] + np.sum(h))
    return h[2] * h[1]


def np_prod_of_those_before(x):
    h = []
    for i in range(3):
        h.append(x[i] + np.prod(np.array(h)))
    return h[2] * h[1]


def np_dot_of_those_before(x):
    h = []
    for i in range(3):
        h.append(x[i] + np.dot(h, h))
    return h[2] * h[1]


def sum_of_a_slice_of_those_before(x):
    h = []
    for i in range(3):
        h.append(x[i] + sum(h[:i]))
    return h[2] * h[1]


def sum_of_a_generator_over_those_before(x):
    h = []
    for i in range(3):
        h.append(x[i] + sum((h[k] * 2.0 for k in range(i))))
    return h[2] * h[1]


def sum_of_a_map_over_those_before(x):
    h = []
    for i in range(3):
        h.append(x[i] + sum(map(lambda t: t * t, h)))
    return h[2] * h[1]


def extended_by_the_sum(x):
    a = []
    for v in x:
        a += [v + sum(a)]
    return a[2] * a[1]


def joined_with_the_sum(x):
    a = []
    for v in x:
        a = a + [v + sum(a)]
    return a[2] * a[1]


def inserted_before_the_others(x):
    a = []
    for v in x:
        a.insert(0, v + sum(a))
    return a[0] * a[1]


def deque_that_is_summed(x):
    a = deque()
    for v in x:
        a.append(v + sum(a))
    return a[2] * a[1]


def dict_that_is_summed(x):
    m = {}
    for i in range(3):
        m[i] = x[i] + sum((m[j] * x[j] for j in range(i)))
    return m[2]


class H:
    def __init__(self):
        self.h = []

    def add(self, v):
        self.h.append(v + sum(self.h))


def attribute_that_is_summed(x):
    o = H()
    for v in x:
        o.add(v)
    return o.h[2] * o.h[1]


def list_of_a_closure_that_is_summed(x):
    h = []

    def add(v):
        h.append(v + sum(h))

    for v in x:
        add(v)
    return h[2] * h[1]


def two_lists_in_turn(x):
    a, b = ([], [])
    for v in x:
        a.append(v + sum(b))
        b.append(v * v + sum(a))
    return a[2] * b[1]


def list_in_a_list(x):
    h = [[]]
    for v in x:
        h[0].append(v + sum(h[0]))
    return h[0][2]


def sum_of_sums(x):
    h = []
    s = 0.0
    for v in x:
        s = s + sum(h) + v
        h.append(s)
    return s


def asked_before_and_after_it_is_emptied(x):
    a = [1]
    s = x[0]
    if a:
        s = s * 2
    del a[0]
    if a:
        s = s * x[1]
    return s


def asked_in_a_loop_that_empties_it(l):
    a = [1]
    s = 0.0
    for v in l:
        if a:
            s = s + v * 2
            a.pop()
        else:
            s = s + v * 5
    return s


def array_that_is_asked_and_changed(x):
    y = np.array(True)
    s = x[0]
    if y:
        s = s * 2
    y[...] = False
    if y:
        s = s * x[1]
    return s


def dict_that_is_asked_and_filled(x):
    d = {}
    s = x[0]
    if d:
        s = s * 2
    d["a"] = 1
    if d:
        s = s * x[1]
    return s


def zeros_that_are_asked_and_changed(x):
    d = np.zeros(1)
    s = x[0]
    if d:
        s = s * 2
    d[0] = 1
    if d:
        s = s * x[1]
    return s


def asked_beside_another_test(x):
    a = [1]
    s = x[0]
    if a and x[0] > 0:
        s = s * 2
    a.pop()
    if a and x[0] > 0:
        s = s * x[1]
    return s


def asked_by_a_comprehension(x):
    a = [1]
    s = x[0]
    r = [v * 2 for v in x if a]
    a.pop()
    r2 = [v * 2 for v in x if a]
    return sum(r) * x[0] + len(r2)


def asked_by_a_closure(x):
    a = [1]

    def f(v):
        return v if a else v * v

    s = f(x[0])
    a.pop()
    s = s + f(x[1])
    return s


def an_item_that_is_asked(x):
    a = [[1]]
    s = x[0]
    if a[0]:
        s = s * 2
    a[0].pop()
    if a[0]:
        s = s * x[1]
    return s


def this_or_that(x):
    a = []
    s = 0.0
    for v in x:
        b = a or [v]
        s = s + b[0] * v
        a.append(v * v)
    return s


def the_last_one_if_there_is_one(x):
    h = []
    for i in range(3):
        h.append(h[-1] * x if h else x)
    return h[2]


def the_last_one_or_a_number(x):
    h = []
    for i in range(3):
        prev = h[-1] if h else 1.0
        h.append(prev * x)
    return h[2]


def values_kept(x):
    d = {"a": x[0]}
    vs = d.values()
    d["a"] = x[1]
    return sum(vs)


def items_kept(x):
    d = {"a": x[0]}
    vs = d.items()
    d["a"] = x[1]
    s = 0.0
    for k, v in vs:
        s = s + v
    return s


def items_that_change_meanwhile(x):
    d = {"a": x[0], "b": x[1]}
    s = 0.0
    for k, v in d.items():
        d["b"] = v * 3
        s = s + v
    return s


def values_that_change_meanwhile(x):
    d = {"a": x[0], "b": x[1]}
    s = 0.0
    for v in d.values():
        d["b"] = v * 3
        s = s + v
    return s


def numbered_values_that_change(x):
    d = {"a": x[0], "b": x[1]}
    s = 0.0
    for i, v in enumerate(d.values()):
        d["b"] = v * 3
        s = s + v
    return s


def keys_that_are_a_set(d):
    return d["w"] if d.keys() == {"w", "b"} else d["b"]


def keys_in_another_order(d):
    return d["w"] if d.keys() == {"w": 1, "b": 2}.keys() else d["b"]


def keys_that_are_no_set(d):
    if d.keys() != {"b", "w"}:
        raise ValueError
    return d["w"]


def capture_for_a_guard(x, t):
    match t:
        case [a, b] if a == 3:
            return x[0]
        case _:
            return x[1]


def two_captures_for_a_guard(x, t):
    match t:
        case [a, b] if a < b:
            return x[0]
        case _:
            return x[1]


def capture_of_an_item(x, t):
    match t[0]:
        case a if a == 3:
            return x[0]
        case _:
            return x[1]


def capture_that_fails(x, t):
    k = 9
    match t:
        case [k, 5]:
            r = x[0]
        case _:
            r = x[1]
    return r * k


def asarray_of_a_list_that_changes(x):
    r = [x * 1, x * 2]
    r[0] *= 2
    return np.sum(np.asarray(r) * x)


def asarray_of_a_list_that_changes_b(x):
    r = [x * 1, x * 2]
    r[0] *= 2
    return np.sum(np.asarray(r) ** 2)


def asarray_of_arrays_that_change(x):
    y = x.copy()
    y[0] = 2.0
    return np.sum(np.asarray([y, x]) ** 2)


def asarray_of_rows(A):
    A = A.copy()
    A[0] *= 3
    return np.sum(np.asarray([A[0], A[1]]) ** 2)


def asarray_with_a_dtype(x):
    r = [x * 1, x * 2]
    r[0] *= 2
    return np.sum(np.asarray(r, dtype=float) ** 2)


def list_plus_array(x):
    a = [x[0], x[1]]
    a += x[3:]
    return len(a) * x[0]


def inserted_from_the_end(x):
    a = [x[0], x[1]]
    a.insert(-1, x[2])
    return a[0] + 2 * a[1] + 4 * a[2]


def inserted_beyond_the_end(x):
    a = [x[0], x[1]]
    a.insert(10, x[2])
    a.insert(-10, x[3])
    return a[0] + 2 * a[1] + 4 * a[2] * a[3]


def inserted_into_nothing(x):
    a = []
    a.insert(1, x[0])
    return a[0] ** 2


def dict_by_positions(x):
    return {i: v * v for i, v in enumerate(x)}


def dict_by_computed_keys(x):
    return {i + 1: v * v for i, v in enumerate(x)}


def dict_of_enumerate(x):
    return dict(enumerate(x))


def dict_of_parts(x):
    return {i: x[i:] * x[i] for i in range(3)}


def dict_filled_in_a_while(x):
    d = {}
    i = 0
    while i < 3:
        d[i] = x[i] ** 2
        i += 1
    return d


def dict_summed_while_it_is_filled(l):
    d = {}
    for i in range(2):
        d[i % 2] = l[i] + sum(d.values())
    return d[1]


def list_of_unknown_length(x):
    return [v**2 for v in x if v > 0]


def tuple_of_unknown_length(x):
    out = []
    for v in x:
        out.append(v * v)
    return tuple(out)


def dict_by_texts(x, n):
    d = {}
    for k in range(n):
        d[f"p{k}"] = x[k] * x
    return d


class K:
    s = 2.0

    def __init__(self, x):
        self.x = x

    def twice(self):
        return self.__class__(self.x * 2)

    def f(self):
        return self.x * self.__class__.s

    def n(self):
        return self.x * len(self.__class__.__name__)


def class_by_its_name(x):
    return K(x).twice().x


def constant_of_the_class(x):
    return K(x).f()


def name_of_the_class(x):
    return K(x).n()


class K2(K):
    s = 5.0


def class_that_is_derived(x):
    return K2(x).twice().f()


def is_zip_a_list(x):
    z = zip(x, x)
    return x[0] ** 2 if not isinstance(z, list) else x[0] ** 3


def is_a_generator_a_list(x):
    z = (v for v in x)
    return x[0] ** 2 if not isinstance(z, list) else x[0] ** 3


def tuple_of_constants_rebuilt(x):
    p = (0.0, 1.0)
    for v in x:
        p = (p[0] + v, p[1] * 2)
    return p[0] + p[1]


def tuple_of_constants_reduced(x):
    from functools import reduce

    return reduce(lambda p, v: (p[1], p[0] + v), x, (0.0, 1.0))[0]


def put_from_the_end(x):
    a = x.copy()
    np.put(a, [0, -1], x[:2] ** 2)
    return np.sum(a**2)


def every_second_one_deleted(l):
    a = list(l)
    del a[::2]
    return a[0] ** 2


def imaginary_part_of_real_numbers(x):
    y = x.copy()
    y *= 2
    i = y.imag
    return np.sum(y) + np.sum(i)


def put_into_a_matrix(A):
    a = A.copy()
    np.put(a, [0, -1, 3], A[0, :3])
    return np.sum(a**2)


V = np.array([0.53, -1.21, 0.83, 1.77, -0.31])
L = [0.53, 1.21, 0.83]
PROGRAMS = [
    (sum_of_an_empty_list, (V,)),
    (each_the_sum_of_those_before, (L,)),
    (np_sum_of_those_before, (V,)),
    (np_prod_of_those_before, (V,)),
    (np_dot_of_those_before, (V,)),
    (sum_of_a_slice_of_those_before, (V,)),
    (sum_of_a_generator_over_those_before, (V,)),
    (sum_of_a_map_over_those_before, (V,)),
    (extended_by_the_sum, (V,)),
    (joined_with_the_sum, (V,)),
    (inserted_before_the_others, (V,)),
    (deque_that_is_summed, (V,)),
    (dict_that_is_summed, (V,)),
    (attribute_that_is_summed, (V,)),
    (list_of_a_closure_that_is_summed, (V,)),
    (two_lists_in_turn, (V,)),
    (list_in_a_list, (V,)),
    (sum_of_sums, (V,)),
    (asked_before_and_after_it_is_emptied, (V,)),
    (asked_in_a_loop_that_empties_it, (L,)),
    (array_that_is_asked_and_changed, (V,)),
    (dict_that_is_asked_and_filled, (V,)),
    (zeros_that_are_asked_and_changed, (V,)),
    (asked_beside_another_test, (V,)),
    (asked_by_a_comprehension, (V,)),
    (asked_by_a_closure, (V,)),
    (an_item_that_is_asked, (V,)),
    (this_or_that, (V,)),
    (the_last_one_if_there_is_one, (0.7,)),
    (the_last_one_or_a_number, (0.7,)),
    (values_kept, (V,)),
    (items_kept, (V,)),
    (items_that_change_meanwhile, (V,)),
    (values_that_change_meanwhile, (V,)),
    (numbered_values_that_change, (V,)),
    (keys_that_are_a_set, ({"w": 0.7, "b": 0.5},)),
    (keys_in_another_order, ({"w": 0.7, "b": 0.5},)),
    (keys_that_are_no_set, ({"w": 0.7, "b": 0.5},)),
    (capture_for_a_guard, (V, [3, 2])),
    (two_captures_for_a_guard, (V, [3, 2])),
    (capture_of_an_item, (V, [3, 2])),
    (capture_that_fails, (V, [3, 2])),
    (asarray_of_a_list_that_changes, (V,)),
    (asarray_of_a_list_that_changes_b, (V,)),
    (asarray_of_arrays_that_change, (V,)),
    (asarray_of_rows, (np.outer(V, V),)),
    (asarray_with_a_dtype, (V,)),
    (list_plus_array, (V,)),
    (inserted_from_the_end, (V,)),
    (inserted_beyond_the_end, (V,)),
    (inserted_into_nothing, (V,)),
    (dict_summed_while_it_is_filled, (L,)),
    (class_by_its_name, (0.7,)),
    (constant_of_the_class, (0.7,)),
    (name_of_the_class, (0.7,)),
    (class_that_is_derived, (0.7,)),
    (is_zip_a_list, (V,)),
    (is_a_generator_a_list, (V,)),
    (tuple_of_constants_rebuilt, (V,)),
    (tuple_of_constants_reduced, (V,)),
    (put_from_the_end, (V,)),
    (put_into_a_matrix, (np.outer(V, V),)),
    (imaginary_part_of_real_numbers, (V,)),
    (every_second_one_deleted, (L,)),
]


def keys_that_are_told_apart(x):
    d = {}
    for i, name in enumerate(["w", "c", "v"]):
        d[name] = x * (i + 1)
    s = 0.0
    for k in list(d):  # its keys, and not its items
        if k != "c":
            s = s + d[k] ** 2
    return s


def trips_that_are_numbered_in_two_subscripts(x):
    A = np.outer(x, x)
    for i in range(3):
        for j in range(3):
            A[i, j] += np.dot(A[i + 1 :, i], A[i + 1 :, j])
    return np.sum(A**2)


PROGRAMS += [
    (keys_that_are_told_apart, (0.7,)),
    (trips_that_are_numbered_in_two_subscripts, (np.array([0.3, -0.7, 1.2]),)),
]
REFUSED = {
    "values_kept",
    "items_kept",
    "items_that_change_meanwhile",
    "values_that_change_meanwhile",
    "numbered_values_that_change",
    "is_zip_a_list",
    "is_a_generator_a_list",
    "every_second_one_deleted",
}
STRUCTURED = [
    (dict_by_positions, (V,)),
    (dict_by_computed_keys, (V,)),
    (dict_of_enumerate, (V,)),
    (dict_of_parts, (V,)),
    (dict_filled_in_a_while, (V,)),
    (list_of_unknown_length, (V,)),
    (tuple_of_unknown_length, (V,)),
    (dict_by_texts, (V, 3)),
]  # what they give is a list, a tuple or a dict


def starred_and_longer(x):
    h = []
    for k in range(4):
        h = [*h, x * k]
    return sum(a * b for a, b in zip(h, h[1:]))


def starred_until_long_enough(x):
    h = [x]
    while len(h) < 5:
        h = [*h, h[-1] * x]
    return sum(h)


def starred_twice(x):
    h = [x]
    for k in range(3):
        h = [x * k, *h, x * x, *h]
    return sum(h)


def starred_under_a_condition(x):
    h = []
    for k in range(3):
        if k != 1:
            h = [*h, x * k]
        g = [*h]
        g.append(x)
    return sum(h) + sum(g) ** 2


def rows_in_front(v):
    rows = []
    for r in v:
        rows = [r * r, *rows]
    return np.sum(np.stack(rows) * np.arange(len(rows)))


def starred_of_unknown_length(v):
    h = [x * x for x in v if x > 0.5]
    return sum([*h, 1.0, *h]) ** 2


def starred_tuple_of_unknown_length(v):
    h = tuple(x * x for x in v if x > 0.5)
    return sum([*h, 1.0, *v]) ** 2


STARRED = (starred_and_longer, starred_until_long_enough, starred_twice, starred_under_a_condition)
PROGRAMS += [(f, (0.7,)) for f in STARRED]
UNKNOWN = (rows_in_front, starred_of_unknown_length, starred_tuple_of_unknown_length)
PROGRAMS += [(f, (np.array([0.3, 0.7, 1.2]),)) for f in UNKNOWN]


def rest_of_pairs(x):
    h = []
    for k in range(9):
        h.append((x * k, 1.0 + k * x))
    total = 0.0
    for (a, b), (c, d) in zip(h[:-1], h[1:]):
        total += a * d - b * c * x
    last = h[-3:]
    return total + last[0][0] * last[1][1]


def items_of_a_part_that_change(x):
    h = []
    for k in range(12):
        h.append([x * k, np.ones(2) * x])
    part = h[2:9:3]
    part[0][0] = x * 7
    total = 0.0
    for a, b in part:
        total += a * np.sum(b)
    return total + h[2][0]


def dicts_from_the_end(x):
    h = []
    for k in range(12):
        h.append({"a": x * k, "b": [x, 2.0]})
    total = 0.0
    for e in h[::-1][1:]:
        total += e["a"] * e["b"][0]
    return total


def hull(x):
    found = []
    for p in [(x, 0.0), (2 * x, x), (x * x, 1.0), (0.3, x)]:
        while len(found) >= 2 and (found[-1][0] - found[-2][0]) * (p[1] - found[-2][1]) <= 0.1:
            found.pop()
        found.append(p)
    area = 0.0
    for p, q in zip(found, found[1:] + found[:1]):
        area += p[0] * q[1] - p[1] * q[0]
    return area / 2


def largest_of_pairs(x):
    v, i = max((v, i) for i, v in enumerate([x, 2 * x, 0.5 * x]))
    w, j = min([(x * x, 3), (x, 2)])
    return v * (i + 1) + w * j


def rows_and_columns_that_grow(x):
    simplex = np.array([[-1.0, 1.0]])
    for d in range(2, 4):
        row = np.ones((1, simplex.shape[1] + 1)) / np.sqrt(d)
        simplex = np.r_[np.c_[simplex, np.zeros((simplex.shape[0]))], row]
    return np.sum((np.outer(x, x + 1).T).dot(simplex) ** 2)


PARTS = (rest_of_pairs, items_of_a_part_that_change, dicts_from_the_end, hull, largest_of_pairs)
PROGRAMS += [(f, (1.3,)) for f in PARTS]
PROGRAMS.append((rows_and_columns_that_grow, (np.array([0.3, 0.5, 0.9]),)))
