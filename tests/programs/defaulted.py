"""Dicts with default values, and queues of limited length."""

import collections
from collections import defaultdict, deque

import numpy as np


def sums(x):
    d = defaultdict(float)
    for i, v in enumerate(x):
        d[i % 2] += v * v
    return d[0] * d[1]


def groups(x):
    d = defaultdict(list)
    for i, v in enumerate(x):
        d[i % 2].append(v)
    return sum(d[0]) * sum(d[1])


def window(x):
    q = deque(maxlen=2)
    s = 0.0
    for v in x:
        q.append(v)
        s = s + sum(q) ** 2
    return s


def window_from_the_left(x):
    q = collections.deque(maxlen=2)
    s = 0.0
    for v in x:
        q.appendleft(v)
        if len(q) == 2:
            s = s + q[0] * q[1] ** 2
    return s


def by_name(x):
    d = collections.defaultdict(lambda: 1.0)
    for i, v in enumerate(x):
        d["ab"[i % 2]] *= v
    return sum(d.values())


def arrays(x):
    d = defaultdict(lambda: np.zeros(2))
    for i, v in enumerate(x):
        d[i % 2] += np.array([v, v * v])
    return np.sum(d[0] * d[1])


def read_before_it_is_there(x):
    d = defaultdict(float)
    a = d["p"]
    d["p"] = x[0]
    return d["p"] ** 2 + a


def push(q, v):
    q.append(v)


def extended(x):
    q = deque(maxlen=2)
    for v in x:
        q.extend([v, v * v])
    return sum(q)


def handed_over(x):
    q = deque(maxlen=2)
    for v in x:
        push(q, v)
    return sum(q)


def by_another_name(x):
    q = deque(maxlen=2)
    p = q
    for v in x:
        p.append(v * v)
    return sum(q)


def added_to(x):
    q = deque(maxlen=2)
    for v in x:
        q += [v * v]
    return sum(q)


def limit_that_changes(x):
    n = 2
    q = deque(maxlen=n)
    n = 3
    for v in x:
        q.append(v * v)
    return sum(q) * n


def told_apart(x):
    d = defaultdict(float)
    for i, v in enumerate(x):
        d[i % 2] += v * v
    return d[0] * d[1] if isinstance(d, defaultdict) else d[0]


def compared(x):
    q = deque(maxlen=1)
    for _ in x:
        q.append(1.0)
    return x[0] if q == [1.0] else x[0] ** 2


def asked_about(x):
    q = deque(maxlen=3)
    s = 0.0
    for v in x:
        if q:
            s = s + max(q) * q[-1] + sum(a * b for a, b in zip(q, reversed(q)))
        q.append(v)
    return s + np.mean(q)


def filled_window(x):
    q, r = deque([1.0, 2.0, 0.5], maxlen=2), deque([0.0] * 4, 4)
    s = 0.0
    for v in x:
        q.append(v * q[0])
        r.appendleft(v + r[0])
        s += q[-1] * r[-1] + sum(r)
    return s


def limited_memory(x, m=3):
    steps, slopes = deque(maxlen=m), deque(maxlen=m)
    w, g = x * 1.0, 2 * x
    for _ in range(5):
        moved = w - 0.1 * g
        slope = 2 * moved + 0.1 * moved**3
        steps.append(moved - w)
        slopes.append(slope - g)
        q, weights = slope.copy(), []
        for s, y in zip(reversed(steps), reversed(slopes)):
            weights.append(s @ q / (y @ s))
            q = q - weights[-1] * y
        for s, y, a in zip(steps, slopes, reversed(weights)):
            q = q + s * (a - y @ q / (y @ s))
        w, g = moved - 0.01 * q, slope
    return np.sum(w**2)


V = np.array([0.3, 0.7, -0.4, 1.1])
FUNCTIONS = (sums, groups, window, window_from_the_left, by_name, arrays, read_before_it_is_there)
FUNCTIONS += (extended, handed_over, by_another_name, added_to, limit_that_changes, asked_about)
FUNCTIONS += (told_apart, compared, filled_window, limited_memory)
PROGRAMS = [(f, (V,)) for f in FUNCTIONS]
REFUSED = {"told_apart", "compared", "extended", "handed_over", "by_another_name", "added_to", "limit_that_changes"}
