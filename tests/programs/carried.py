"""Containers that are other ones in each trip of a loop, and parameters among what they are at first."""

from dataclasses import dataclass

import numpy as np


@dataclass
class Weights:
    w: float
    b: float


def tuple_rebuilt(s, n):
    for _ in range(n):
        s = (s[0] * 2, s[1])
    return np.sum(s[0]) * s[1]


def advanced(s, n):
    for _ in range(n):
        s = (s[0] * 2, s[1] - 0.1)
    return s


def rebuilt_in_a_helper(x, y):
    s = advanced((x, y), 2)
    return s[0] * s[1]


def swapped_in_a_loop(p, q):
    for _ in range(3):
        p, q = q, p
    return p[0] * q[1] ** 2


def rebuilt_under_another_name(s):
    t = s
    for _ in range(2):
        t = (t[1], t[0] * s[0])
    return t[0] * s[1]


def rotated(p):
    for _ in range(2):
        p = p[1:] + p[:1]
    return p[0] * p[1] ** 2


def rebuilt_from_another(p, q):
    for _ in range(2):
        p = (q[0] * p[0], p[1])
    return p[0] * p[1]


def mapped(p):
    for _ in range(2):
        p = list(map(lambda v: v * 2, p))
    return p[0] * p[1]


def built_by_a_comprehension(p):
    for _ in range(2):
        p = [p[0]] + [v * 2 for v in p[1:]]
    return p[0] * p[1]


def shortened(p):
    for _ in range(2):
        p = p[::-1]
        p = p[1:]
    return p[0] ** 2


def dataclass_rebuilt(p):
    for _ in range(2):
        p = Weights(p.w * 2, p.b - p.w)
    return p.w * p.b


def dict_rebuilt(p):
    i = 0
    while i < 3:
        p = {"a": p["a"] * 2, "b": p["b"] + p["a"]}
        i += 1
    return p["a"] * p["b"]


def rebuilt_while_run_over(p):
    for v in p:
        p = [a * v for a in p]
    return p[0] * p[1]


def the_one_before(p):
    q = p
    for _ in range(2):
        q = p
        p = [p[0] * p[1], p[0]]
    return p[0] * q[1]


PROGRAMS = [
    (tuple_rebuilt, ((1.2, 0.3), 1)), (tuple_rebuilt, ((1.2, 0.3), 0)),
    (tuple_rebuilt, ((np.array([1.2, 0.4]), 0.3), 1)), (rebuilt_in_a_helper, (1.0, 0.3)),
    (swapped_in_a_loop, ((1.0, 0.3), (0.4, 0.5))), (rebuilt_under_another_name, ((1.0, 0.3),)),
    (rotated, ([0.3, 0.4, 0.5],)), (rotated, ((0.3, 0.4, 0.5),)),
    (rebuilt_from_another, ((1.0, 0.3), (2.0, 3.0))), (mapped, ([0.3, 0.4],)),
    (built_by_a_comprehension, ([0.3, 0.4],)), (shortened, ([0.3, 0.4, 0.5],)),
    (dataclass_rebuilt, (Weights(0.3, 0.4),)), (dict_rebuilt, ({"a": 0.3, "b": 0.4},)),
    (rebuilt_while_run_over, ([0.3, 0.4],)), (the_one_before, ([0.3, 0.4],)),
]  # fmt: skip
