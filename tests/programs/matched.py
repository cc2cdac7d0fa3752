"""`match`: classes, sequences, dicts, alternatives, guards, and what patterns capture."""

import enum
from dataclasses import dataclass

import numpy as np


@dataclass
class Circle:
    r: float


@dataclass
class Rect:
    w: float
    h: float


class K(enum.Enum):
    A = 0
    B = 1


class Place(enum.IntEnum):
    A = 0
    B = 1


def area(s):
    match s:
        case Circle(r):
            return np.pi * r**2
        case Rect(w=w, h=h) if w > 5:
            return w
        case Rect(w, h):
            return w * h
        case _:
            return 0.0


def areas_of_shapes(x):
    return area(Circle(x[0])) + area(Rect(x[0], x[1])) + sum(area(s) for s in [Circle(x[1]), Rect(x[2], x[2])])


def numbers_that_are_captured(x):
    r = 0.0
    for tag, arg in [("a", 2), ("b", 3)]:
        match tag, arg:
            case "a", n:
                r += n * x[0]
            case "b", n:
                r += n * x[1] ** 2
    return r


def instructions(x):
    s = 0.0
    for op in [("push", x[0]), ("add", x[1], x[2]), ("neg",)]:
        match op:
            case ("push", v):
                s = s + v
            case ("add", *vs):
                s = s + sum(vs) * s
            case ("neg",):
                s = -s
    return s


def members_of_an_enum(x):
    def f(k, v):
        match k:
            case K.A:
                return v * v
            case K.B:
                return np.sin(v)

    return f(K.A, x[0]) + f(K.B, x[1])


def numbers_with_a_guard(x):
    r = 1.0
    for v in x:
        match v:
            case float() if v > 0:
                r = r * v
            case _:
                r = r + v
    return r


def entries_of_a_dict(x):
    match {"kind": "sin", "w": x[0]}:
        case {"kind": "cos", "w": w}:
            return np.cos(w)
        case {"kind": "sin", "w": w}:
            return np.sin(w)


def array_is_no_sequence(x):
    match x:
        case [a, b, _]:
            return a * b
        case _:
            return x[0] * x[1] * x[2]


def one_of_two_patterns(x):
    match (x[0], x[1]):
        case (a, 0.0) | (0.0, a):
            return a
        case (a, b) as both:
            return a * b * both[0]


def none_or_a_number(x):
    match None if x[0] > 100 else x[1]:
        case None:
            return x[0]
        case v:
            return v * v


def integers_of_an_enum(x):
    n = 0
    for k in Place:
        match k:
            case Place.A:
                n += 1
            case Place.B:
                n += 10
    return n * x[0]


PROGRAMS = [(f, (np.array([2.0, -3.0, 0.5]),)) for f in (
    areas_of_shapes, numbers_that_are_captured, instructions, members_of_an_enum, numbers_with_a_guard, entries_of_a_dict, array_is_no_sequence, one_of_two_patterns, none_or_a_number, integers_of_an_enum,
)]  # fmt: skip
