"""Generators that are not run to their end: what asks them leaves the rest uncomputed, unchanged and untaken."""

import itertools

import numpy as np


class Count:
    def __init__(self):
        self.total = 0.0

    def enough(self, v):
        self.total += v
        return self.total > 0.5


def any_takes_items(a):
    it = iter(a)
    found = any(v > 0.35 for v in it)
    return sum(v for v in it) * a[0] * found


def any_stops(a):
    c = Count()
    if any(c.enough(v) for v in a):
        return c.total**2
    return 0.0


def any_stops_a_map(a):
    c = Count()
    return c.total * 2 if not any(map(c.enough, a)) else c.total**2


def next_leaves_the_rest(x):
    it = iter(x)
    a = next(v for v in it if v > 0.35)
    return a * sum(it)


def loop_over_a_map_that_stops(a):
    c, t = Count(), 0.0
    for enough in map(c.enough, a):
        t += c.total
        if enough:
            break
    return t * c.total


def loop_over_a_generator_that_stops(a):
    c, t = Count(), 0.0
    for enough in (c.enough(v) for v in a if v > 0.2):
        if not enough:
            continue
        t += c.total
        break
    else:
        t = -1.0
    return t * c.total


def zip_that_stops_a_generator(x):
    c = Count()
    for _, _ in zip(range(2), (c.enough(v) for v in x)):
        pass
    for k, _ in enumerate(map(c.enough, x)):
        if k == 1:
            break
    return c.total**2


def slice_of_a_generator(x):
    c = Count()
    for _ in itertools.islice(map(c.enough, x), 2):
        pass
    return c.total**2


def membership_stops(x):
    c = Count()
    if True in (c.enough(v) for v in x):
        return c.total**2
    return c.total


def nonlocal_in_any(x):
    n = 0.0

    def f(v):
        nonlocal n
        n += v
        return n > 0.5

    if any(f(v) for v in x):
        return n**2
    return n


def array_changed_by_any(x):
    y = x * 1

    def f(i):
        y[i] *= 2
        return y[i] > 0.5

    if any(f(i) for i in range(len(x))):
        return np.sum(y**2)
    return y[0]


def beyond_the_end(x):
    i = next(i for i in range(100) if x[i] > 0.45)
    j = next((j for j in range(100) if x[j] > 0.35), None)
    if all(x[k] > 0.05 and k < 3 for k in range(100)) or any(x[k] > 0.45 for k in range(100)):
        return x[i] ** 2 * x[j]
    return 0.0


def names_of_their_own(x):
    v = 2.0
    for y in (v * 3 for v in x):
        if y > 1.0:
            break
    return y * v * any(x > 0.5 for x in x)


def without_end(x):
    n = next(n for n in itertools.count() if x**n < 1e-3)
    s = 0.0
    for m in itertools.count(1):
        if m % 2:
            continue
        s += x**m
        if x**m < 1e-2:
            break
    return x**n * s


A = np.array([0.3, 0.1, 0.4, 0.6])
PROGRAMS = [
    *((f, (A,)) for f in (
        any_takes_items, any_stops, any_stops_a_map, next_leaves_the_rest, loop_over_a_map_that_stops,
        loop_over_a_generator_that_stops, zip_that_stops_a_generator, slice_of_a_generator, membership_stops,
        nonlocal_in_any, array_changed_by_any, beyond_the_end, names_of_their_own,
    )),
    (without_end, (0.45,)),
]  # fmt: skip
REFUSED = {"slice_of_a_generator"}
