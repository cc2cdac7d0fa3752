"""Lists that are filled with objects of several classes, methods that call themselves, and members of enumerations."""

import dataclasses
import enum

import numpy as np


class Bond:
    def __init__(self, coupon):
        self.coupon = coupon

    def value(self, m):
        return self.coupon * m


class Forward:
    def __init__(self, price):
        self.price = price

    def value(self, m):
        return m - self.price


class Portfolio:
    def __init__(self, *held):
        self.held = list(held)

    def add(self, one):
        self.held.append(one)
        return self

    def __iadd__(self, one):
        return self.add(one)

    def __iter__(self):
        return iter(self.held)

    def value(self, m):
        return sum(one.value(m) for one in self.held)


def appended(c, m):
    held = []
    held.append(Bond(c))
    held.append(Forward(c * c))
    held += [Bond(m)]
    held.extend((Forward(m), Bond(2 * c)))
    total = 0.0
    for one in held:
        total += one.value(m)
    return total


def added_by_a_method(c, m):
    portfolio = Portfolio(Bond(c)).add(Forward(c * c))
    portfolio += Bond(m)
    return portfolio.value(m) * len(portfolio.held)


def run_over_by_its_iterator(c, m):
    portfolio = Portfolio(Bond(c), Forward(m))
    return sum(one.value(c) for one in portfolio) + sum(k * one.value(m) for k, one in enumerate(portfolio))


class Scale:
    def __init__(self, k):
        self.k = k

    def __call__(self, x):
        return x * self.k


class Shift(Scale):
    def __call__(self, x):
        return x + self.k


def pipeline(c, m):
    steps = []
    for make in (Scale, Shift):
        steps.append(make(c))
    for step in steps:
        m = step(m)
    return m


def records(x, y):
    nodes = [[x, [], 0.0]]
    nodes.append([x * y, [(0, x), (0, y)], 0.0])
    for value, parents, _ in nodes:
        for p, weight in parents:
            nodes[p][2] += weight * value
    return nodes[0][2]


class Medium:
    def __init__(self, m):
        self.m = m

    def power(self, d):
        return 1.0 if d == 0 else self.m * self.power(d - 1)

    def traced(self, x, depth):
        c = self.m * x
        if depth > 0:
            c = c * 0.5 + self.traced(x * 0.7, depth - 1)
        return c

    @staticmethod
    def squared(x, n):
        return x if n == 0 else Medium.squared(x * x, n - 1)


def methods_that_call_themselves(x, k):
    medium = Medium(k)
    return medium.power(3) + medium.traced(x, 2) + Medium.squared(x, 2)


def method_of_a_given_object(medium, x):
    return medium.traced(x, 3)


class Kind(enum.Enum):
    RELU = "relu"
    TANH = "tanh"

    def __call__(self, x):
        return np.maximum(x, 0) if self is Kind.RELU else np.tanh(x)


class Side(enum.StrEnum):
    LEFT = "left"
    RIGHT = "right"


class Joint:
    def __init__(self, a, kind=Kind.TANH):
        self.a, self.kind = a, kind


def joint(a, kind):
    return Joint(a, kind)


def of_a_side(x, side=Side.LEFT):
    return {Side.LEFT: x * 2, Side.RIGHT: x * x}[side]


def members(x, y, name="relu"):
    one = joint(x, Kind.RELU)
    total = one.a * 2 if one.kind is Kind.RELU else one.a
    for kind in Kind:
        total = total + kind(y)
    return total * Kind(name)(x) + of_a_side(y) + of_a_side(x, Side("right"))


def computed_keys(x, names):
    a, b = names
    made = {a: x * 2, b: x * x, "c": x}
    return made[a] + made[b] * made["c"]


@dataclasses.dataclass
class Beam:
    k: float
    scale: dataclasses.InitVar[float]
    power: dataclasses.InitVar[int] = 2
    total: float = dataclasses.field(init=False)
    c: float = 1.5

    def __post_init__(self, scale, power):
        self.total = self.k * scale**power * self.c


def variables_for_the_beginning(x, y):
    return Beam(x, 2.0).total * Beam(y, scale=x, power=3).total + Beam(x, y, 1, x).total


def keys_put_together(p, x):
    total = 0.0
    for n in ("i", "f"):
        z = p["W" + n] @ x + p["b%s" % n]  # noqa: UP031
        total = total + z.sum() * np.sum(p[f"W{n.lower()}"])
    return total


def keys_beside(w, x):
    layers = {0: w, 1: w[0], 2: x}
    items = [w, w[0], x]
    total = 0.0
    for k in range(1, 3):
        total = total + np.sum(layers[k - 1] ** 2) * np.sum(items[k]) * np.sum(items[k - 1])
    return total


class Parts:
    def __init__(self, w, kinds):
        self.parts = []
        for kind in kinds:
            if kind == "bond":
                self.parts.append(Bond(w))
            else:
                self.parts.append(Forward(w * 2))


def by_kinds_of_a_list(w, x):
    for part in Parts(w, ["bond", "forward", "bond"]).parts:
        x = part.value(x)
    return x


def by_kinds_that_are_given(w, x, kinds):
    for part in Parts(w, kinds).parts:
        x = part.value(x)
    return x


def one_between_the_others(w, x):
    parts = []
    for k in range(3):
        parts.append(Bond(w * (k + 1)))
        if k < 2:
            parts.append(Forward(w))
    for part in parts:
        x = part.value(x)
    return x


def dense(w):
    def init():
        return w

    def apply(p, x):
        return p * x + 1

    return init, apply


def serial(*layers):
    inits, applies = zip(*layers)

    def init():
        return [i() for i in inits]

    def apply(ps, x):
        for f, p in zip(applies, ps):
            x = f(p, x)
        return x

    return init, apply


def functions_in_columns(w, x):
    inits, applies = zip(*[dense(w), dense(w * 2)])
    ps = [i() for i in inits]
    for f, p in zip(applies, ps):
        x = f(p, x)
    return x


def serial_of_serial(w, x):
    init, apply = serial(dense(w), serial(dense(w * 2), dense(w + 1)))
    return apply(init(), x)


W = np.array([[0.4, 0.3], [0.1, 0.9]])
PROGRAMS = [(f, (0.7, 0.3)) for f in (
    appended, added_by_a_method, run_over_by_its_iterator, pipeline, records, methods_that_call_themselves, members,
)] + [(method_of_a_given_object, (Medium(0.7), 0.3)), (computed_keys, (0.7, ["a", "b"])),
    (by_kinds_of_a_list, (0.7, 0.3)), (by_kinds_that_are_given, (0.7, 0.3, ["forward", "bond"])),
    (one_between_the_others, (0.7, 0.3)), (functions_in_columns, (0.7, 0.3)), (serial_of_serial, (0.7, 0.3)),
    (variables_for_the_beginning, (0.7, 0.3)), (keys_beside, (W, W[0])),
    (keys_put_together, ({"Wi": W, "Wf": W * 2, "bi": W[0], "bf": 0.3}, W[1])),
]  # fmt: skip
