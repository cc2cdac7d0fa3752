"""Objects that stay inside of a function, and those that leave it by some way; branches that the types choose."""

import copy
from dataclasses import dataclass, field

import numpy as np
from scipy.stats import multivariate_normal


class Cell:
    rate = 0.5

    def __init__(self, v):
        self.v = v
        self.w = None

    def step(self, x):
        self.v = self.v * self.rate + x
        return self

    def fresh(self, x):
        return Cell(self.v * x)


def one_of_two(x):
    a, b = Cell(x[0]), Cell(x[1])
    chosen = a if x[0] > x[1] else b
    chosen.v = chosen.v * x[2]
    return a.v * 2 + b.v * 3


def that_of_the_trip_before(x):
    total, before = 0.0, None
    for k in range(3):
        now = Cell(x[k] * (k + 1))
        if before is not None:
            total = total + before.v * now.v
            before.v = 7.0
        before = now
    return total * before.v


def under_two_names(x):
    a = Cell(x[0])
    b = a
    b.v = b.v * x[1]
    a.step(x[2])
    return a.v * b.v


def in_a_list(x):
    cells = [Cell(x[0]), Cell(x[1])]
    first = cells[0]
    first.v = first.v * x[2]
    return sum(c.v * (k + 1) for k, c in enumerate(cells))


def items_swapped(x):
    a = Cell(x[0])
    a.w = x[1] * 2
    a.v, a.w = a.w, a.v
    return a.v**2 + a.w * x[2]


def held_by_another(x):
    a = Cell(x[0])
    a.w = Cell(x[1])
    a.w.w = a
    a.w.w.v = a.w.v * x[2]
    return a.v * a.w.v


def child_replaced(x):
    a = Cell(x[0])
    a.w = Cell(x[1])
    old = a.w
    a.w = Cell(x[2])
    a.w.v = a.w.v * 3
    return a.v * a.w.v + old.v**2


def array_seen_through_another_name(x):
    a = Cell(x * 2)
    view = a.v
    view[0] = x[1] * x[2]
    a.v[1] += x[0]
    return np.sum(a.v**2) + view[1]


def of_another_rank_later(x):
    a = Cell(0.0)
    before = a.v
    a.v = x * 2
    a.v = np.outer(a.v, x)
    return np.sum(a.v) + before


def set_in_one_branch(x):
    a = Cell(x[0])
    if x[1] > 0:
        a.w = x[1] ** 2
    if a.w is None:
        return a.v
    return a.v * a.w


def set_while_it_lasts(x):
    a = Cell(x[0])
    while a.v < 3:
        a.v = a.v * 1.5 + x[1] ** 2
        if a.w is None:
            a.w = a.v
    return a.v * a.w


def attribute_of_the_class_and_own(x):
    a = Cell(x[0])
    a.step(x[1])
    a.rate = x[2]
    a.step(x[1])
    return a.v * Cell(x[0]).step(1.0).v


def replaced_by_its_method(x):
    a = Cell(x[0])
    for k in range(3):
        a = a.fresh(x[k])
    return a.v


def best_of_several(x):
    best = Cell(x[0])
    for k in range(1, 3):
        other = Cell(x[k] * 2)
        if other.v > best.v:
            best = other
    return best.v**2


def captured(x):
    a = Cell(x[0])
    more = lambda y: a.v * y
    a.v = x[1]
    return more(x[2])


def made_by_a_helper(x):
    return _made(x).v * x[1]


def _made(x):
    a = Cell(x[0] ** 2)
    if x[1] > 100:
        return Cell(x[1])
    return a


def told_in_a_text(x):
    a = Cell(x[0])
    if a.v > 100:
        raise ValueError(f"{a.v} is too much for {a.rate}")
    assert a.v < 50, f"{a.v}"
    return a.v**2


def set_before_it_raises(x):
    a = Cell(x[0])
    try:
        a.v = x[1] * 3
        np.linalg.cholesky(-np.eye(2) * x[1] ** 2)
        a.v = x[2]
    except np.linalg.LinAlgError:
        a.w = a.v * x[0]
    return a.v * a.w


def copied(x):
    a = Cell(x[0])
    b = copy.copy(a)
    b.v = b.v * x[1]
    return a.v + b.v**2


def is_it_the_same(x):
    a, b = Cell(x[0]), Cell(x[1])
    c = a
    return a.v * (2.0 if c is a else 3.0) + b.v * (2.0 if b is a else 3.0)


@dataclass
class Settings:
    scale: float
    mode: str = "plain"
    names: tuple = ()
    more: dict = field(default_factory=dict)

    def __post_init__(self):
        self.half = self.scale / 2


def settings(x):
    s = Settings(x[0], mode="square")
    if s.mode == "square":
        y = s.half * x**2
    elif s.mode == "none":
        y = s.missing(x, 1, 2)
    else:
        y = "nothing"
    return np.sum(y)


def without_what_never_runs(x, noise=None, mode="full"):
    if noise is None:
        noise = np.eye(len(x))
    elif np.isscalar(noise):
        noise = np.eye(len(x)) * noise
    if np.ndim(x) == 2:
        x = x[0]
    p = (1, 2)
    if isinstance(p, tuple) and mode in ("full", "half"):
        p = p[1]
    if p == "same":
        p = x + undefined_name  # noqa: F821
    return np.sum(noise @ x) * p


def length_asked(x):
    if len(x) == 3:
        y = x * 2
    else:
        y = x[0]
    return np.sum(y)


def flag_changed_in_a_loop(x):
    first, total = True, 0.0
    for k in range(3):
        if first:
            total = total + x[k] ** 2
            first = False
        else:
            total = total * x[k]
    return total


def _density(x, mean=None):
    centre = None if mean is None else np.asarray(mean)
    return multivariate_normal.logpdf(x, centre, np.eye(3))


def option_that_is_none(x):
    return _density(x) * _density(x, x[::-1])


X = np.array([0.9, 0.7, 1.3])
PROGRAMS = [
    *((f, (X,)) for f in (
        one_of_two, that_of_the_trip_before, under_two_names, in_a_list, items_swapped, held_by_another, child_replaced,
        array_seen_through_another_name, of_another_rank_later, set_in_one_branch, set_while_it_lasts,
        attribute_of_the_class_and_own, replaced_by_its_method, best_of_several, captured, made_by_a_helper,
        told_in_a_text, set_before_it_raises, copied, is_it_the_same, settings, without_what_never_runs, length_asked,
        flag_changed_in_a_loop, option_that_is_none,
    )),
]  # fmt: skip
REFUSED = {}
