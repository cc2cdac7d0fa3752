"""Objects and lists that have two names: the last of a list, what a function gives twice, or gives or does not."""

import numpy as np


class P:
    def __init__(self, a):
        self.a = a
        self.l = []

    @property
    def h(self):
        return self.a * 0.7

    @h.setter
    def h(self, v):
        self.a = v * 0.8


def setter_of_the_last(x):
    O = [P(x)]
    p = O[-1]
    p.h += x
    return p.a


def attribute_of_the_last(x):
    O = [P(x)]
    p = O[-1]
    p.a = p.a * x
    return p.a + O[0].a * O[-1].a


def list_given_to_the_last(x):
    O = [P(x)]
    L = []
    L.append(x)
    p = O[-1]
    p.l = L
    return sum(p.l)


def made_list_given_to_the_last(x):
    O = [P(x)]
    L = [x * 2]
    p = O[-1]
    p.l = L
    return sum(p.l)


def list_filled_by_a_function(x):
    class_ = [P(x)]
    L = []

    def g(c):
        L.append(c)

    g(x)
    p = class_[-1]
    p.l = L
    return p.a + sum(p.l)


def second_to_last(x):
    O = [P(x), P(x * 2)]
    p = O[-2]
    p.a = p.a * x
    q = O[1]
    q.a = q.a * p.a
    return O[0].a * O[-1].a


def list_in_a_list(x):
    L = [[x], [x * 2]]
    p = L[-1]
    p.append(x * x)
    p[-1] = p[-1] * 3
    return sum(L[1]) * L[0][0]


def last_of_a_growing_list(x):
    d = {"k": [P(x)]}
    p = d["k"][-1]
    p.a = x * p.a
    d["k"].append(P(p.a))
    q = d["k"][-1]
    q.a += p.a
    return d["k"][0].a * d["k"][1].a


def last_of_a_tuple(x):
    O = (P(x), P(x * 2))
    p = O[-1]
    p.a = p.a * x
    return O[1].a * O[-1].a


def inserted_before(x):
    p, q, r = P(x), P(2 * x), P(3 * x)
    O = [p, q]
    O.insert(0, r)
    O[1].a = O[1].a * x
    return p.a * q.a + r.a


def first_taken(x):
    p, q, r = P(x), P(2 * x), P(3 * x)
    O = [p, q, r]
    O.pop(0)
    O[0].a = O[0].a * x
    return p.a * q.a + r.a


def turned_around(x):
    p, q, r = P(x), P(2 * x), P(3 * x)
    O = [p, q, r]
    O.reverse()
    O[0].a = O[0].a * x
    return p.a * q.a + r.a


def first_deleted(x):
    p, q, r = P(x), P(2 * x), P(3 * x)
    O = [p, q, r]
    del O[0]
    O[0].a = O[0].a * x
    return p.a * q.a + r.a


def one_removed(x):
    p, q, r = P(x), P(2 * x), P(3 * x)
    O = [p, q, r]
    O.remove(q)
    O[1].a = O[1].a * x
    return p.a * q.a + r.a


def slice_replaced(x):
    p, q, r = P(x), P(2 * x), P(3 * x)
    O = [p, q, r]
    O[0:2] = [r]
    O[0].a = O[0].a * x
    return p.a * q.a + r.a


def rows_inserted(x):
    l = [[x], [2 * x], [3 * x]]
    l.insert(0, [x * x])
    m = l[2]
    m[0] = m[0] * x
    m.append(x)
    return l[1][0] * l[2][0] * l[2][1] + l[3][0]


def rows_turned_and_taken(x):
    l = [np.array([x, 1.0]), np.array([2 * x, 3.0])]
    l.reverse()
    l[0][0] *= x
    l.pop()
    m = l[0]
    m[1] = m[1] * m[0]
    return np.sum(l[0])


def swapped_ends(x):
    o = [P(x), P(2 * x)]
    o[0], o[-1] = o[-1], o[0]
    o[0].a = o[0].a ** 2
    return o[0].a * o[1].a


def sorted_objects(x):
    p, r = P(1.0), P(2.0)
    O = [p, r]
    O.sort(key=lambda o: -o.a)
    q = O[1]
    L = []
    L.append(x)
    q.l = L
    return sum(p.l)


def row_taken_before(x):
    l = [[1.0], [2.0]]
    m = l[1]
    l.pop(0)
    k = l[0]
    k.append(x)
    return sum(m)


def rows_turned(x):
    l = [[1.0], [2.0]]
    m = l[1]
    l.reverse()
    k = l[0]
    k.append(x)
    return sum(m)


class Part:
    def __init__(self, a):
        self.a = a
        self.l = []
        self.d = {}
        self.n = None
        self.b = None

    def push(self, v):
        self.l.append(v)

    def total(self):
        return self.a + sum(self.l)

    def getb(self, d):
        return d if self.b is None else self.b

    def setb(self, v):
        if self.b is None:
            self.b = v
        else:
            self.b = self.b * 0.5 + v


def gm(v, **kw):
    return v * kw["t"]


def keywords_in_a_try(x):
    try:
        v = gm(x, t=2.0)
    except ValueError:
        v = x
    return v


def extended_by_the_last(x):
    O = [Part(x)]
    p = O[-1]
    p.l += [x * 2, x]
    return p.total() + O[0].total()


def last_by_a_star(x):
    O = [Part(x), Part(x)]
    *_, p = O
    p.l = [x]
    p.push(x * x)
    return O[1].total()


def key_of_the_last(x):
    O = [{"a": x}]
    p = O[-1]
    p["b"] = x * x
    return sum(O[0].values())


def object_of_the_last(x):
    O = [Part(x)]
    p = O[-1]
    p.n = Part(x * x)
    return O[0].n.a


def entry_of_the_last(x):
    O = [Part(x)]
    p = O[-1]
    p.a = x * x
    p.d["k"] = x * 3
    return O[0].a + O[-1].d["k"]


def alias_that_is_replaced(x):
    p = Part(x)
    q = p
    for w in range(2):
        p.setb(x * w)
        q = Part(q.getb(x) * 3)
    return p.getb(x) + q.a


def attribute_of_none_in_a_try(x):
    p = Part(x)
    for _ in range(2):
        try:
            v = p.n.a * 2
        except AttributeError:
            v = x * 3
        p.n = Part(v)
    return p.n.a


def pair(v):
    if v < 0:
        return None
    return v, v * v


def held(v):
    return None if v < 0 else P(v)


def pair_or_none(x):
    r = pair(x)
    if r:
        return r[0] * r[1]
    return x * 5


def pair_or_another(x):
    r = pair(x) or (x * 3, 2.0)
    return r[0] * r[1]


def object_or_another(xs):
    s = 0.0
    for v in xs:
        r = held(v) or P(xs[0])
        s += r.a * v
    return s


def object_if_there_is_one(xs):
    s = 0.0
    for v in xs:
        r = held(v)
        if r:
            s += r.a * v
    return s


def pairs_that_are_there(xs):
    s = 0.0
    for v in xs:
        r = pair(v)
        if not r:
            continue
        a, b = r
        s += a * b
    return s


def tuples_among_none(xs):
    s = 0.0
    for v in xs:
        r = pair(v)
        if isinstance(r, tuple):
            s += r[0] * r[1]
        else:
            s += v
    return s


def unpacked_if_there(xs):
    s = 0.0
    for v in xs:
        r = pair(v)
        if r is None:
            continue
        a, b = r
        s += a * b
    return s


def listed(v):
    return [v, v * v] if v > 0 else None


def list_or_another(xs):
    s = 0.0
    for v in xs:
        r = listed(v) or [v]
        s += sum(r)
    return s


class Pt:
    def __init__(self, v):
        self.v = v


def mk(v):
    p = Pt(v * v)
    return p, (v, p)


def given_twice_and_changed(x):
    r, s = mk(x)
    r.v *= 0.5
    return r.v * x


def given_twice(x):
    r, s = mk(x)
    return r.v * x + s[1].v * s[0]


def mkl(v):
    p = [v * v]
    return p, (v, p)


def list_given_twice_and_changed(x):
    r, s = mkl(x)
    r[0] *= 0.5
    return r[0] * x


def mka(v):
    p = np.array([v * v, v])
    return p, (v, p)


def array_given_twice_and_changed(x):
    r, s = mka(x)
    r[0] *= 0.5
    return r[0] * x + s[1][1]


PROGRAMS = [(f, (1.3,)) for f in (
    setter_of_the_last, attribute_of_the_last, list_given_to_the_last, made_list_given_to_the_last, list_filled_by_a_function, second_to_last, list_in_a_list, last_of_a_growing_list, last_of_a_tuple, inserted_before, first_taken, turned_around, first_deleted, one_removed, slice_replaced, rows_inserted, rows_turned_and_taken, swapped_ends, sorted_objects, row_taken_before, rows_turned, keywords_in_a_try, extended_by_the_last, last_by_a_star, key_of_the_last, object_of_the_last, entry_of_the_last, alias_that_is_replaced, attribute_of_none_in_a_try, given_twice_and_changed, given_twice, list_given_twice_and_changed, array_given_twice_and_changed,
)] + [(f, (np.array([1.2, -0.4, 0.7]),)) for f in (object_or_another, object_if_there_is_one, pairs_that_are_there, tuples_among_none, unpacked_if_there, list_or_another)]  # fmt: skip
