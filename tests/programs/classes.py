"""Classes that do more than hold data: what is followed of them, and what is refused by name."""

import functools
from dataclasses import dataclass

import numpy as np


@dataclass
class Doubled:
    a: float

    def __post_init__(self):
        self.a = self.a * 2


@dataclass
class Positive:
    k: float
    m: float = 2.0

    def __post_init__(self):
        if self.k <= 0:
            raise ValueError("k must be positive")


@dataclass
class Node:
    val: float

    def __post_init__(self):
        self.twice = self.val * 2

    def total(self):
        return self.val**2 * self.twice


def field_changed_after_construction(x):
    return Doubled(x).a * x


def object_that_changes_its_field(o):
    return o.a**2


def gradient_that_its_class_would_refuse(p, x):
    return (p.k - 3.0) ** 2 * x * p.m


def attribute_beside_the_fields(n, x):
    return n.total() + Node(x).total() * x


@dataclass(frozen=True)
class Frozen:
    a: float

    def __post_init__(self):
        object.__setattr__(self, "a", self.a * 2)


def frozen_that_changes_its_field(x):
    return Frozen(x).a * x


def returned_before_finally(x):
    r = x
    try:
        r = r * 2
        return r
    except ValueError:
        return 0.0
    finally:
        r = r * 3


def parameter_assigned_at_last(x):
    try:
        return x
    finally:
        x = x * 5


class Activated:
    def __init__(self, f=None):
        if f is not None:
            self.act = f

    def act(self, x):
        return x**2


def method_hidden_by_an_attribute(x):
    return Activated(lambda t: 3 * t).act(x)


class Cached:
    def __init__(self, x):
        self.x = x

    @functools.cached_property
    def square(self):
        return self.x**2


def cached_property(x):
    c = Cached(x)
    a = c.square
    c.x = c.x * 2
    return a + c.square


class Empty:
    pass


def attributes_set_in_a_loop(x):
    e = Empty()
    for name, value in {"a": x, "b": x**2}.items():
        setattr(e, name, value)
    return e.b * x


class Named:
    def __init__(self, **named):
        for name, value in named.items():
            setattr(self, name, value)


def attributes_set_from_keywords(x):
    e = Named(a=x, b=x**2)
    return e.b * x


def attribute_set_by_object(x):
    e = Empty()
    e.w = x
    object.__setattr__(e, "w", x**2)
    return e.w * x


def attribute_of_a_name_that_is_given(x, name):
    e = Empty()
    e.a = x
    e.b = 2 * x
    setattr(e, name + "", x**2)
    return e.a * e.b


def attribute_set_in_the_dict(x):
    e = Empty()
    e.a = x
    e.__dict__["a"] = x**2
    return e.a * x


class Base:
    def __init__(self, x):
        self.__v = x

    def base(self):
        return self.__v


class Derived(Base):
    def __init__(self, x):
        super().__init__(x)
        self.__v = x**2

    def derived(self):
        return self.__v


def private_names(x):
    d = Derived(x)
    return d.base() * d.derived() ** 2


class Setting:
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2)

    def __init__(self, w):
        self.w = w


def setting_that_the_class_decides(x):
    return Setting(x).w * x


class Reading:
    def __init__(self, w):
        self.w = w

    def __getattribute__(self, name):
        value = object.__getattribute__(self, name)
        return value * 3 if name == "w" else value


def reading_that_the_class_decides(x):
    return Reading(x).w * x


def reduced(x, axis=None, keepdims=False):
    total = np.sum(np.sum(x**2, axis=axis)) + np.sum(x.sum(axis) ** 2) + np.sum(np.cumsum(x, axis=axis) ** 2)
    spread = np.sum(np.std(x, axis=axis, keepdims=keepdims) ** 2) + np.sum(np.var(x, axis))
    return total + spread + np.sum(np.max(x, axis=axis))


def settings_handed_on(x):
    return reduced(x, axis=0, keepdims=True) + reduced(x)


M = np.array([[0.3, 0.5], [0.2, 0.9]])
PROGRAMS = [
    *((f, (0.7,)) for f in (
        field_changed_after_construction, frozen_that_changes_its_field, returned_before_finally,
        parameter_assigned_at_last, method_hidden_by_an_attribute, cached_property, attributes_set_in_a_loop,
        attributes_set_from_keywords, attribute_set_by_object, attribute_set_in_the_dict, private_names,
        setting_that_the_class_decides, reading_that_the_class_decides,
    )),
    (attribute_of_a_name_that_is_given, (0.7, "a")), (object_that_changes_its_field, (Doubled(0.7),)),
    (gradient_that_its_class_would_refuse, (Positive(0.7), 0.4)), (attribute_beside_the_fields, (Node(0.7), 0.4)),
    (reduced, (M,)), (reduced, (M, 1)), (settings_handed_on, (M,)),
]  # fmt: skip
REFUSED = {
    "frozen_that_changes_its_field", "method_hidden_by_an_attribute", "cached_property", "attribute_set_in_the_dict",
    "setting_that_the_class_decides", "reading_that_the_class_decides", "attribute_of_a_name_that_is_given",
}  # fmt: skip
