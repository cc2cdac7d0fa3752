"""Tools of the standard library around numbers: caches, endless iterators, fields of dataclasses, registries of classes."""

import functools
import itertools
from dataclasses import asdict, astuple, dataclass, field

import numpy as np


@functools.lru_cache
def binomial(n, k):
    return 1 if k in (0, n) else binomial(n - 1, k - 1) + binomial(n - 1, k)


def bernstein(x):
    return sum(binomial(3, i) * x[0] ** i * (1 - x[1]) ** (3 - i) for i in range(4))


@functools.cache
def power(x, n):
    return 1.0 if n == 0 else x * power(x, n - 1)


def cached_power(x):
    return power(x[0], 3) * power(x[1], 2)


def cycled_weights(x):
    return sum(v * w for v, w in zip(x, itertools.cycle((0.5, 1.5))))


def counted_terms(x):
    return sum(k * v for k, v in zip(itertools.count(1), x))


def counted_in_steps(x):
    return sum(k * v * v for k, v in zip(itertools.count(2, 3), x)) + sum(
        k * v for k, v in zip(itertools.count(0.5), x)
    )


def repeated_weight(x):
    s = 0.0
    for w, a in zip(itertools.repeat(x[0]), x):
        s += w * a * a
    return s


def several_that_do_not_end(x):
    s = 0.0
    for a, b, c, k in zip(x, itertools.cycle([x[1], 2.0]), x[1:], itertools.count()):
        s += a * b**2 * c * k
    return s


@dataclass
class State:
    s: float
    i: float

    def __rmul__(self, c):
        return State(*(c * v for v in astuple(self)))

    def __add__(self, other):
        return State(*(a + b for a, b in zip(astuple(self), astuple(other))))


@dataclass
class Model:
    state: State
    w: np.ndarray
    name: str = "model"
    history: list = field(default_factory=lambda: [1.0])


def steps_of_a_dataclass(x):
    state = State(x[0], x[1])
    for _ in range(3):
        state = state + 0.1 * State(-state.s * state.i, state.s * state.i)
    return state.s * state.i


def fields_are_copied(x):
    model = Model(State(x[0], x[1]), x * 2)
    held = astuple(model)
    model.w[0] = 5.0
    model.history.append(3.0)
    return held[0][0] * held[1][0] * len(held[2]) * len(held[3]) + model.w[0] * x[1]


def fields_as_a_dict(x):
    held = asdict(Model(State(x[0], x[1]), x * 2))
    held["state"]["s"] *= 2
    return held["state"]["s"] * held["state"]["i"] * np.sum(held["w"])


def made_again_from_its_fields(x):
    state = State(x[0], x[1])
    other = State(**asdict(state))
    other.s *= 2
    return state.s * other.s * sum(asdict(state).values())


class Relu:
    name = "relu"

    def apply(self, x):
        return np.maximum(x, 0) * x


class Tanh:
    name = "tanh"

    def apply(self, x):
        return np.tanh(x)


def class_by_its_own_name(x, name):
    return np.sum({c.__name__.lower(): c for c in (Relu, Tanh)}[name]().apply(x))


def class_by_an_attribute(x, name):
    return np.sum({c.name: c for c in (Relu, Tanh)}[name]().apply(x))


def objects_by_an_attribute(x):
    return sum(np.sum(o.apply(x)) for o in {o.name: o for o in [Relu(), Tanh()]}.values())


def sums_by_the_keys_of_a_dict(x):
    rates = {"a": x[0], "b": x[1]}
    sums = dict.fromkeys(rates, 0.0)
    for t in range(3):
        for name, rate in rates.items():
            sums[name] += rate * x[2] ** t
    return sums["a"] * sums["b"]


def sums_by_names_of_an_object(x):
    return Account(["cash", "bonds"]).run(x)


class Account:
    def __init__(self, names):
        self.names = names

    def run(self, x):
        sums = dict.fromkeys(self.names, 0.0)
        for v in x:
            for name in self.names:
                sums[name] += v * len(name)
        return sums["cash"] * sums["bonds"]


def how_many_keys(x):
    edges = {"a": x[0], "b": x[1]}
    return x[1] * len(set(edges))


V = np.array([0.3, 0.7, -0.4, 1.1])
PROGRAMS = [
    *((f, (V,)) for f in (
        bernstein, cached_power, cycled_weights, counted_terms, counted_in_steps, repeated_weight, several_that_do_not_end,
        steps_of_a_dataclass, fields_are_copied, fields_as_a_dict, made_again_from_its_fields, objects_by_an_attribute,
        sums_by_the_keys_of_a_dict, sums_by_names_of_an_object, how_many_keys,
    )),
    (class_by_its_own_name, (V, "tanh")), (class_by_an_attribute, (V, "relu")),
]  # fmt: skip
