"""Tuples that grow, and the functions of `operator` that take a part."""

# ruff: noqa: B007

import operator
from operator import attrgetter, itemgetter, methodcaller

import numpy as np


def tuple_filled_in_a_loop(x):
    t = ()
    for v in x:
        t += (v * v,)
    return t[0] * t[1] + t[2]


def tuple_summed(x):
    t = ()
    for i in range(len(x)):
        t = t + (x[i] * x[i],)
    return sum(t)


def tuple_of_constants_that_grows(x):
    t = (1.0, 2.0)
    for i in range(len(x)):
        t = t + (x[i] * t[-1],)
    return sum(t) * t[3]


def tuple_of_arrays_stacked(x):
    t = (x,)
    for i in range(4):
        t = t + (t[-1] * x[i % 3],)
    return np.sum(np.stack(t) ** 2)


def tuple_filled_in_a_while(x):
    t = ()
    n = 0
    while n < 4 and x[0] > 0:
        t += (x * n,)
        n += 1
    s = 0.0
    for u in t:
        s = s + np.sum(u * u)
    return s + len(t)


def tuple_filled_in_branches(x):
    t = ()
    for i in range(5):
        if i % 2:
            t += (x[0] * i, x[1])
        else:
            t = t + (x[2] ** 2,)
    return np.array(t) @ np.arange(7.0) + max(t)


def tuple_of_a_list_and_more(x):
    l = []
    for i in range(5):
        l.append(x * i)
    t = tuple(l) + (x,)
    u = t[1:3]
    return np.sum(np.concatenate(t) ** 2) + np.sum(u[0] * u[1])


def tuple_starred_into_a_longer_one(x):
    t = ()
    for v in x:
        t = (*t, v * 2)
    return t[0] * t[2]


def tuple_of_pairs_that_grows(x):
    p = ((x, 1.0),)
    for i in range(3):
        p = p + ((p[-1][0] * x, p[-1][1] * x[0]),)
    return sum(np.sum(a) * b for a, b in p)


def tuple_by_recursion(x):
    def build(n):
        if n == 0:
            return ()
        return build(n - 1) + (x * n,)

    return np.sum(np.stack(build(3)) ** 3)


def tuple_of_the_last_two(x):
    h = ()
    s = 0.0
    for v in x:
        h = (v,) + h[:1]
        s = s + sum(h) * h[0]
    return s


def tuple_that_moves_on(x):
    h = (x[0], x[1])
    s = 0.0
    for i in range(4):
        h = h[1:] + (h[0] * x[2],)
        s = s + h[0] * h[1]
    return s


def sorted_by_an_item(x):
    pairs = sorted([(v, i) for i, v in enumerate(x)], key=operator.itemgetter(0), reverse=True)
    return pairs[0][0] * pairs[1][0] ** 2


def entries_in_the_order_of_keys(x):
    d = {"b": x * 2, "a": x[0]}
    s = 0.0
    for i, (_, v) in enumerate(sorted(d.items(), key=operator.itemgetter(0))):
        s = s + (i + 1) * np.sum(v**2)
    return s


first = itemgetter(0)


def items_by_getters(x):
    return first(x) ** 2 + itemgetter(1)(x)


class Part:
    def __init__(self, value, width):
        self.value, self.width = value, width

    def size(self, k):
        return k * self.value**2


def attributes_by_getters(x):
    parts = [Part(v, v * 2) for v in x]
    best = max(parts, key=attrgetter("value"))
    return best.width * sum(map(methodcaller("size", 3), parts))


def records_in_another_order(x):
    rows = [{"k": v, "n": i} for i, v in enumerate(x)]
    return sum(i * r for i, r in enumerate(map(itemgetter("k"), sorted(rows, key=itemgetter("n")))))


def copies_of_lists_of_records(x):
    rows = [{"k": v} for v in x]
    held = list(rows)
    return held[0]["k"] ** 2 + held[1]["k"] * held[0]["k"]


def copies_of_lists_of_pairs(x):
    rows = [(v, v * 2) for v in x]
    held = list(rows)
    return held[0][0] ** 2 + held[1][1] * held[0][1]


def copies_of_lists_of_lists(x):
    rows = [[v, v * 2] for v in x]
    held = list(rows)
    return held[0][0] ** 2 + held[1][1] * held[0][1]


def joined_list_concatenated(x):
    rows = []
    for i in range(5):
        rows.append(x * i)
    return np.sum(np.concatenate(rows + [x]) ** 2)


PROGRAMS = [
    (f, (np.array([0.7, 1.3, -0.4]),))
    for f in (
        tuple_filled_in_a_loop,
        tuple_summed,
        tuple_of_constants_that_grows,
        tuple_of_arrays_stacked,
        tuple_filled_in_a_while,
        tuple_filled_in_branches,
        tuple_of_a_list_and_more,
        tuple_starred_into_a_longer_one,
        tuple_of_pairs_that_grows,
        tuple_by_recursion,
        tuple_of_the_last_two,
        tuple_that_moves_on,
        sorted_by_an_item,
        entries_in_the_order_of_keys,
        items_by_getters,
        attributes_by_getters,
        records_in_another_order,
        copies_of_lists_of_records,
        copies_of_lists_of_pairs,
        copies_of_lists_of_lists,
        joined_list_concatenated,
    )
]


def names_like_those_of_the_compiler(x):
    spread, key, item, called = 2 * x, x[0], x[1], x + 1
    alone = np.sqrt(np.sum((spread + called) ** 2))
    return alone * np.sum(np.sin(spread * called + key)) + np.exp(item * key)


def deviation_of_one(x):
    return np.sum(np.std(x[None] * 2, axis=0)) + np.std(x[:1]) + x[1] + np.sum(np.std(x[None], axis=0, where=True))


PROGRAMS += [(f, (np.array([0.7, 1.3, -0.4]),)) for f in (names_like_those_of_the_compiler, deviation_of_one)]


def doubled(fun, which):
    def inner(*args):
        args = list(args)
        args[which] = args[which] + args[which].T
        return fun(*args)

    return inner


WITH_DOUBLED = doubled(lambda x, A: np.sum(x @ np.linalg.cholesky(A)), 1)


def argument_by_a_captured_number(x):
    return WITH_DOUBLED(x, np.eye(3) * 2 + np.outer(x, x))


PROGRAMS += [(argument_by_a_captured_number, (np.array([0.7, 1.3, -0.4]),))]


def grown_of_one_array_that_changes(x):
    b = x * 1.0
    parts = ()
    for i in range(3):
        parts += (b,)
    b[0] = 2.0
    return np.sum(parts[0] * parts[2])


PROGRAMS += [(grown_of_one_array_that_changes, (np.array([0.7, 1.3, -0.4]),))]


def found_two_deep(x, y):
    if x > 0:
        if y > 0:
            return True, [x, y]
    return False, []


def returned_two_branches_deep(x, y):
    found, items = found_two_deep(x, y)
    return items[0] * items[1] if found else x * y


def defined_two_branches_deep(x, y):
    if x > 0:
        if y > 0:
            t = (x * y, [x, y * 2])
    s = t[0] * 2 if x > 0 and y > 0 else x
    if y > 0 and x > 0:
        s = s * t[1][0] + t[1][1]
    return s


def arrays_two_deep(x, y):
    if x > 0:
        if y > 0:
            return np.array([x, y]), {"a": x * y}
    return np.array([y, y * x]), {"a": x}


def arrays_returned_two_branches_deep(x, y):
    a, d = arrays_two_deep(x, y)
    return np.sum(a * a) * d["a"]


def three_deep(x, y):
    if x > 0:
        if y > 0:
            if x > y:
                return x, (y, [x * y])
            elif x < -y:
                return 1.0, (x, [y])
        else:
            return y, (x, [x])
    return 2 * x, (3 * y, [x * x])


def returned_three_branches_deep(x, y):
    a, (b, c) = three_deep(x, y)
    return a * b + c[0]


class Held:
    def __init__(self, a, b):
        self.a, self.b = a, b


def object_two_deep(x, y):
    if x > 0:
        if y > 0:
            return Held(x * y, (x, [y]))
    return Held(y, (x * 3, [y * x]))


def object_returned_two_branches_deep(x, y):
    p = object_two_deep(x, y)
    return p.a * p.b[0] * p.b[1][0]


def list_two_deep(x, y):
    out = []
    if x > 0:
        for k in range(5):
            out.append(x * k * y)
        if y > 0:
            return out, x
    return [y], y


def grown_list_returned_two_branches_deep(x, y):
    items, a = list_two_deep(x, y)
    return sum(items) * a


PROGRAMS += [
    (f, args)
    for f in (
        returned_two_branches_deep, defined_two_branches_deep, arrays_returned_two_branches_deep,
        returned_three_branches_deep, object_returned_two_branches_deep, grown_list_returned_two_branches_deep,
    )
    for args in ((1.0, -1.1), (1.3, 0.7), (0.4, 0.9), (-0.5, 0.6))
]  # fmt: skip
