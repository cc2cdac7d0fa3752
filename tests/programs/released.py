"""What stands in released libraries: caches, options, texts, attributes that only some paths set."""
# ruff: noqa: UP032

import colorsys
import math
from dataclasses import dataclass, fields

import numpy as np


class Lazy:
    def __init__(self, x):
        self.x = x

    def passed(self):
        try:
            return self.kept
        except AttributeError:
            pass
        self.kept = self.x * self.x
        return self.kept

    def named(self):
        try:
            return self.kept_too
        except AttributeError as error:
            assert "kept_too" in str(error)
            self.kept_too = self.x**3
            return self.kept_too

    def in_one(self):
        try:
            v = self.last
        except AttributeError:
            v = self.last = self.x**3
        return v

    def by_default(self):
        return self.x * getattr(self, "scale", 2.0)


def cached_by_an_attribute(x):
    lazy = Lazy(x)
    return lazy.passed() + lazy.passed() * lazy.named() * lazy.named()


def cached_in_a_loop(x):
    lazy, s = Lazy(x), 0.0
    for k in range(4):
        s += lazy.in_one() * k + lazy.passed()
        lazy.x = lazy.x * 2
        if k == 2:
            lazy.last = x
    return s


def cached_on_a_path(x, k):
    lazy = Lazy(x)
    if k > 3:
        lazy.kept = x * 5
    return lazy.passed()


def cached_in_a_list(x, k):
    made = [Lazy(x), Lazy(2 * x), Lazy(3 * x)]
    for j in range(3):
        if j == k:
            made[j].last = x
    return sum(one.in_one() for one in made)


def default_of_an_attribute_on_a_path(x, k):
    lazy = Lazy(x)
    if k > 3:
        lazy.scale = x * 5
    return lazy.by_default()


def default_of_an_attribute_in_a_loop(x, k):
    lazy, s = Lazy(x), 0.0
    for j in range(4):
        s += lazy.by_default() * j
        if j >= k:
            lazy.scale = x**2
    return s


def list_of_a_branch(x, k):
    r = x
    if k > 3:
        c = [0.0, 0.0]
        c[1] = x * x
    if k > 3:
        r = r + c[1]
    return r


class Line:
    def __init__(self, x, k):
        if k > 3:
            self.held = {"a": 0.0}
            self.held["a"] = x * x


def attribute_of_a_branch(x, k):
    line = Line(x, k)
    return x + line.held["a"] if k > 3 else x


def variable_without_a_value(x, full=False):
    if full:
        seen = {"a": None}

    def improve(c, n):
        r = c * x
        if r < 0.9 and n < 3:
            r = improve(r + 0.5, n + 1)
        if full:
            seen["a"] = r
        return r

    return improve(1.0, 0)


def import_that_fails(x):
    try:
        from surely_not_installed import f

        return f(x, 2)[0]
    except ImportError:
        return x * 2


class Phase:
    options = {"T": 2.0}
    np = 3.0
    max = 2.0

    def __init__(self, x):
        self.options = self.options.copy()
        self.options["x"] = x

    def value(self):
        return self.options["T"] * self.options["x"] * self.np * np.sin(self.options["x"])

    def largest(self):
        return math.exp(max(self.options["x"], 0.1)) * self.max


def options_of_the_class(x):
    return Phase(x).value()


def attribute_named_as_a_function(x):
    return Phase(x).largest()


class Quaternion:
    def __init__(self, *args, **kwargs):
        if len(args) == 0:
            self.q = kwargs["array"] * 2.0
        else:
            try:
                self.q = np.array([float(args[0]), 0.0])
                return
            except TypeError:
                pass
            self.q = args[0]


def other_ways_to_make_it(x):
    return Quaternion(array=np.array([x, 1.0])).q[0] * Quaternion(np.array([x, x * x])).q[1]


NUMBERS = (int, np.integer, float, np.floating) + ()


def classes_of_the_module(v):
    if isinstance(v, NUMBERS):
        v = [v]
    return v[0]


def given(v, out="array"):
    return np.array(v) if out == "array" else v


def option_named_out(x):
    return np.sum(given([x, x * x], out="array"))


def called(f, x, z):
    return f(x) * z


def function_or_matrix(*args):
    return called(*args) if hasattr(args[0], "__call__") else args[0] * args[1]  # noqa: B004


def asked_whether_it_can_be_called(x):
    return np.sum(function_or_matrix(np.array([x, x * x]), 2.0)) * function_or_matrix(np.sin, x, 2.0)


def asked_of_a_module(x):
    return colorsys.surely_not(x) if hasattr(colorsys, "surely_not") else np.sin(x)


@dataclass
class Base:
    a: float = 1.0
    b: float = 2.0

    def __post_init__(self):
        self.c = self.a * self.b


class Child(Base):
    def __init__(self, a):
        super().__init__(a=a)


def init_of_a_dataclass(x):
    return Child(x).c * x


@dataclass
class Measured:
    a: float
    b: float = 2.0
    name: str = "x"

    def __post_init__(self):
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(value, str):
                continue
            setattr(self, f.name, value * 2)


def fields_by_their_names(x):
    made = Measured(x, x * x)
    return sum(getattr(made, f.name) ** 2 for f in fields(Measured) if f.name != "name")


class Temperature:
    conversions = {"c2f": lambda t: t * 9 / 5.0 + 32, "f2c": lambda t: (t - 32) * 5 / 9.0}

    def __init__(self, t, unit="C"):
        self.unit = unit.lower()
        self.value, self.message = t, None

    def fahrenheit(self):
        if self.value < -273.15:
            self.message = "{:f} is too cold".format(self.value)
            return 0.0
        return self.conversions["{}2f".format(self.unit)](self.value)


def function_by_a_text(x):
    return Temperature(x * x).fahrenheit()


def order_of_the_entries(x):
    return np.sum(np.asarray(np.atleast_2d(np.array([x, x * x])), dtype=None, order=None))


def tuple_of_a_range(x, n):
    s = 0.0
    for k in (0, *tuple(range(n))):
        s += x**k
    return s


def star_of_a_list_that_is_repeated(x, y):
    out = [0.0] * 3
    for i in range(3):
        out[i] += x * y
    return np.hypot(*out[:2])


def mask_of_a_number(x):
    r = np.sqrt(np.asarray(x))
    return np.sum(r[r > 0.1]) + np.sum(r[r > 10.0]) * r


def axes_of_a_number(x):
    inside = np.concatenate([v[..., np.newaxis] for v in np.asarray([x, 2 * x])], axis=-1)
    return np.sum((np.asarray(x) * 2)[..., np.newaxis] * inside) + np.sum(np.sin(x)[None, ..., None] * np.ones((2, 2)))


def number_or_array(x):
    a = np.abs(x)
    return a * a if isinstance(a, float) else a[0] * 2


def item_of_a_number_that_is_caught(x):
    y = np.sqrt(x)
    try:
        return y[0] * 2
    except (TypeError, IndexError):
        return y * 3


def joined_by_subscripts_of_a_list(x):
    a, b = np.r_[[x, x * x]]
    return np.sum(np.r_[[a, b], x] ** 2) * b


ONE = (cached_by_an_attribute, cached_in_a_loop, variable_without_a_value, import_that_fails, options_of_the_class)
ONE += (attribute_named_as_a_function, other_ways_to_make_it, option_named_out, asked_whether_it_can_be_called)
ONE += (mask_of_a_number, axes_of_a_number, number_or_array, item_of_a_number_that_is_caught)
ONE += (
    joined_by_subscripts_of_a_list,
    asked_of_a_module,
    init_of_a_dataclass,
    function_by_a_text,
    order_of_the_entries,
)
TWO = (cached_on_a_path, cached_in_a_list, default_of_an_attribute_on_a_path, default_of_an_attribute_in_a_loop)
TWO += (list_of_a_branch, attribute_of_a_branch, tuple_of_a_range)
PROGRAMS = [(f, (0.7,)) for f in ONE] + [(f, (0.7, k)) for f in TWO for k in (2, 5)]
PROGRAMS += [(classes_of_the_module, (np.array([0.7, 1.0]),))]
PROGRAMS += [(star_of_a_list_that_is_repeated, (0.7, 0.3))]
