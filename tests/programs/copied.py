"""Objects that are copied: another object, which holds the same."""

import copy

import numpy as np


class P:
    def __init__(self, v, w):
        self.v, self.w, self.kept = v, w, [v]

    def scaled(self, k):
        q = copy.copy(self)
        q.v = self.v * k
        return q


def copy_that_gets_another_attribute(x):
    p = P(x * 2, x[0])
    r = copy.copy(p)
    r.v = r.v + 1
    r.kept.append(r.v)
    return np.sum(p.v * r.v) * r.w + np.sum(p.kept[-1])


def copies_in_turn(x):
    p = P(x * 2, 1.0)
    for k in range(3):
        p = p.scaled(x[k])
    return np.sum(p.v)


def copy_that_holds_the_same_array(x):
    p = P(x * 2, 1.0)
    q = copy.copy(p)
    q.v[0] = 5.0
    return np.sum(p.v * x)


X = np.array([0.3, 0.7, 0.5])
PROGRAMS = [(f, (X,)) for f in (copy_that_gets_another_attribute, copies_in_turn, copy_that_holds_the_same_array)]
