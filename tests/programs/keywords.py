"""Keywords that a function takes as ``**kw``, changes, and hands on."""

import dataclasses
import functools
from typing import NamedTuple

import numpy as np


def base(x, s=1.0):
    return x * s


def put_in(x):
    def g(**kw):
        kw["s"] = x[1] * 4.0
        return base(x[0], **kw)

    return g()


def plot(x, **kwargs):
    kwargs.setdefault("s", 2.0)
    return base(x, **kwargs)


def by_default(x):
    return plot(x[0]) + plot(x[1], s=3.0) * x[2]


class Base:
    def f(self, x, s=1.0):
        return x * s


class D(Base):
    def f(self, x, **kw):
        kw["s"] = kw.get("s", 2.0) * 2
        return super().f(x, **kw)


def given_to_the_class_above(x):
    return D().f(x[0]) + D().f(x[1], s=x[2])


def total(v, **kw):
    kw["axis"] = 0
    return np.sum(v, **kw)


def options_of_numpy(x):
    return np.sum(total(np.outer(x, x), keepdims=True) ** 2)


def pop(x, **kw):
    k = kw.pop("k", 1.0)
    return base(x * k, **kw)


def taken_out(x):
    return pop(x[0], k=x[1]) + pop(x[2], s=3.0) + pop(x[2], s=3.0, k=2.0)


def sq(v, **kw):
    if kw.pop("square", False):
        v = v**2
    return np.sum(v, **kw)


def flag_taken_out(x):
    return sq(x, square=True) + sq(x, axis=0)


def changed_by_another_name(x):
    def g(**kw):
        if "s" not in kw:
            kw["s"] = 3.0
        for k in kw:
            kw[k] = kw[k] * 2
        d = kw
        d["s"] = d["s"] + x[1]
        return base(x[0], **kw)

    return g() + g(s=x[2])


def updated_and_given_to_a_partial(x):
    def g(**kw):
        kw.update(s=4.0 * x[1])
        kw["z"] = 3
        del kw["z"]
        return functools.partial(base, **kw)(x[0])

    return g()


class NT(NamedTuple):
    a: float
    b: float


@dataclasses.dataclass
class DC:
    a: float
    b: float


def mk(x, **kw):
    kw["a"] = x[1]
    n = NT(**kw)
    d = DC(**kw)
    kw["a"] = x[2]
    d2 = dataclasses.replace(d, **kw)
    n2 = n._replace(**kw)
    return n.a * d.b + d2.a * n2.a


def given_to_tuples_and_records(x):
    return mk(x, b=x[0])


class W(Base):
    def __init__(self, w, bias=0.0):
        self.w, self.bias = w, bias


class V(W):
    def __init__(self, w, **kw):
        kw.setdefault("bias", w * 2)
        super().__init__(w, **kw)


def given_to_the_init_above(x):
    v = V(x[0])
    u = V(x[1], bias=x[2])
    return v.bias * u.bias + u.w


def opt(x, axis=None, **kw):
    kw = dict(kw)
    kw.setdefault("keepdims", False)
    return np.sum(x, axis=axis, **kw)


def copied_and_completed(x):
    return np.sum(opt(np.outer(x, x), axis=1) ** 2) + opt(x)


def fwd(x, *args, **kw):
    return inner(x, *args, **kw)


def inner(x, p=2, scale=1.0):
    return np.sum(np.abs(x) ** p) * scale


def handed_on(x):
    return fwd(x, 3, scale=x[0]) + fwd(x)


def options(v, **kw):
    o = {"axis": 0, "keepdims": False}
    o.update(kw)
    return np.sum(v, **o)


def updated_by_all(x):
    return np.sum(options(np.outer(x, x), axis=1) ** 2)


PROGRAMS = [(f, (np.array([0.4, -0.3, 0.6]),)) for f in (
    put_in, by_default, given_to_the_class_above, options_of_numpy, taken_out, flag_taken_out, changed_by_another_name, updated_and_given_to_a_partial, given_to_tuples_and_records, given_to_the_init_above, copied_and_completed, handed_on, updated_by_all,
)]  # fmt: skip
