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


V = np.array([0.3, 0.7, -0.4, 1.1])
FUNCTIONS = (sums, groups, window, window_from_the_left, by_name, arrays, read_before_it_is_there)
PROGRAMS = [(f, (V,)) for f in FUNCTIONS]
