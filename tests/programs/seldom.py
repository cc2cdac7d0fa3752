"""Forms that few programs use: displays with computed keys, `else` of loops, `where=` beside `out=`."""

import itertools

import numpy as np


def computed_keys(x, k):
    d = {k: x[0], k + 1: x[1] * x[0], 7: 2.0}
    return d[k] * d[k + 1] * d[7]


def computed_text_keys(x, names):
    d = {names[0]: x[0], names[1] + "b": x[1]}
    return sum(d.values()) * d[names[0]]


def else_of_unlike(x):
    s = 0.0
    for f in (np.sin, np.cos):
        s = s + f(x[0])
        if s > 100:
            break
    else:
        s = s * x[1]
    return s


def else_of_unlike_broken(x):
    s = 0.0
    for f in (np.sin, np.cos):
        s = s + f(x[0])
        if s > 0.1:
            break
    else:
        s = s * x[1]
    return s


def out_and_where(x):
    z = np.ones(3)
    np.multiply(x, x, out=z, where=x > 0.2)
    return np.sum(z * x)


def out_and_where_method(x):
    z = np.ones(3)
    m = x > 0.2
    np.add(x, x[::-1], out=z, where=m)
    np.exp(z, out=z, where=~m)
    return np.sum(z * x)


def reversed_pairs(x):
    s = 0.0
    for a, b in reversed(list(zip(x, x[1:]))):
        s = s * a + b
    return s


def chained(x):
    s = 0.0
    for v in itertools.chain(x, x[:2] * 2, [x[0]]):
        s = s * 0.5 + v**2
    return s


def sliced(x):
    return sum(v**2 for v in itertools.islice(x, 1, 3)) + sum(itertools.takewhile(lambda v: v < 0.5, x))


class Held:
    pass


def default_none(x):
    o = Held()
    o.a = x[0]
    b = getattr(o, "b", None)
    if b is None:
        b = x[1]
    return b * getattr(o, "a", None)


def inner_function_carried(x, n):
    def label(k):
        return f"{k}:{n}"

    names = [label(k) for k in range(2)]
    return x[0] * len(names[0])


def lists_in_dict_partly(x):
    d = {"a": [x[0], x[1]], "b": [x[2]]}
    d["a"][0] = d["b"][0] * 2
    d["b"] = d["a"] + d["b"]
    return d["b"][0] * d["b"][2]


def float_scalar(x):
    return np.float32(2.0) * x[0] + float(np.sum(x))


X = np.array([0.3, 0.4, 0.1])
FUNCTIONS = (
    else_of_unlike,
    else_of_unlike_broken,
    out_and_where,
    out_and_where_method,
    reversed_pairs,
    chained,
    sliced,
)
FUNCTIONS += (default_none, lists_in_dict_partly, float_scalar)
PROGRAMS = [(f, (X,)) for f in FUNCTIONS]
PROGRAMS += [(computed_keys, (X, 2)), (computed_text_keys, (X, ["p", "q"])), (inner_function_carried, (X, 3))]
