"""Objects and pairs that hold those of the trips before."""

import numpy as np


class C:
    def __init__(self):
        self.p = None

    def add(self, v):
        self.p = [v, self.p]


def pairs_in_an_attribute(x):
    c = C()
    for k in range(2):
        c.add(x[k])
    return x[0] if c.p is None else x[0] * x[1]


class Node:
    def __init__(self, v, nxt=None):
        self.v = v
        self.next = nxt


class LL:
    def __init__(self):
        self.head = None

    def add(self, v):
        self.head = Node(v, self.head)

    def total(self):
        s, cur = 0.0, self.head
        while cur is not None:
            s += cur.v
            cur = cur.next
        return s


def linked_list(x):
    l = LL()
    for k in range(3):
        l.add(x[k] * k)
    return l.total()


class P:
    def __init__(self, v):
        self.v = v
        self.c = None


def hung_on_one_another(x):
    r = P(x[0])
    cur = r
    for k in range(2):
        cur.c = P(x[k + 1])
        cur = cur.c
    return x[0] if r.c.c is None else x[0] * x[1]


class Nd:
    def __init__(self, v, nxt=None):
        self.v, self.nxt = v, nxt


class Layer:
    def __init__(self, w, prev=None):
        self.w = w
        self.prev = prev

    def __call__(self, x):
        return np.tanh(self.w * (self.prev(x) if self.prev else x))


class Net:
    def __init__(self):
        self.out = None

    def add(self, w):
        self.out = Layer(w, self.out)
        return self


def layers_with_links(ws):
    n = Net()
    for w in ws:
        n.add(w)
    return n.out(0.7)


class B:
    def __init__(self):
        self.prev = None
        self.s = 0.0

    def step(self, v):
        if self.prev is not None:
            self.s += self.prev.v * v
        self.prev = Nd(v, self.prev)


def one_before(x):
    b = B()
    for k in range(3):
        b.step(x[k] + k)
    return b.s


def one_before_so_often(x, n):
    b = B()
    for k in range(n):
        b.step(x[0] + k)
    return b.s


class U:
    def __init__(self, v):
        self.v = v
        self.past = None

    def set(self, v):
        self.past = (self.v, self.past)
        self.v = v

    def undo(self):
        self.v, self.past = self.past


def undone(x):
    u = U(x[0])
    for k in range(3):
        u.set(u.v * x[k])
    u.undo()
    u.undo()
    return u.v**2


def pairs_in_pairs(x):
    h = None
    for k in range(3):
        h = (x[k] * k, h)
    return h[0] * h[1][0]


def pairs_in_pairs_so_often(x, n):
    h = None
    for k in range(n):
        h = (x[0] * k, h)
    return h[0]


class Opt:
    def __init__(self):
        self.m = None
        self.t = 0

    def step(self, p, g):
        if self.m is None:
            self.m = [q * 0 for q in p]
            self.v = [q * 0 for q in p]
        self.t += 1
        for i in range(len(p)):
            self.m[i] = 0.9 * self.m[i] + 0.1 * g[i]
            self.v[i] = 0.99 * self.v[i] + 0.01 * g[i] ** 2
            p[i] = p[i] - 0.1 * self.m[i] / (np.sqrt(self.v[i]) + 1e-3)
        return p


def moments_made_at_first(x):
    o = Opt()
    p = [x[:2].copy(), x[2:] * 2]
    for _ in range(3):
        p = o.step(p, [q * q for q in p])
    return np.sum(p[0]) * np.sum(p[1])


X = np.array([1.2, -0.4, 0.7])
PROGRAMS = [(f, (X,)) for f in (
    pairs_in_an_attribute, linked_list, hung_on_one_another, layers_with_links, one_before, undone, pairs_in_pairs, moments_made_at_first,
)] + [(one_before_so_often, (X, 3)), (pairs_in_pairs_so_often, (X, 3))]  # fmt: skip
