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


def cached_in_a_loop(x, n):
    c, total = Cached(x), 0.0
    for i in range(n):
        total += c.square * i
        c.x = c.x * 2
    return total


def cached_in_a_branch(x, n):
    c = Cached(x)
    total = c.square if n > 2 else x
    c.x = 3 * x
    return total * c.square


def cached_property_of_an_argument(c):
    return c.square * c.x


def cached_value_that_is_set(x):
    c = Cached(x)
    c.square = x * 5
    return c.square * c.x


@dataclass
class Covariance:
    x: np.ndarray
    length: float

    @functools.cached_property
    def matrix(self):
        return np.exp(-((self.x[:, None] - self.x) ** 2) / self.length**2) + 0.1 * np.eye(len(self.x))

    @functools.cached_property
    def factor(self):
        return np.linalg.cholesky(self.matrix)


def cached_that_reads_another(x, length):
    k = Covariance(x, length)
    k.matrix[0, 0] += x[1]
    return x @ np.linalg.solve(k.matrix, x) + np.sum(np.log(np.diag(k.factor)))


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


def rebuilt_dict(p):
    p = {k: v * 2 for k, v in p.items()}
    return p["W"][0] ** 2 * p["b"]


def copied_dict_updated(p):
    p = {k: v.copy() for k, v in p.items()}
    p["w"] -= 0.1 * p["v"]
    return np.sum(p["w"] ** 2)


def new_key_after_a_loop(x):
    d = {"a": x}
    for _, v in d.items():
        x = x * v
    d["c"] = x
    return d["c"] * d["a"]


class Kernel:
    def __init__(self, k):
        self.k = k

    def backward(self, d):
        self.g = np.zeros_like(self.k)
        self.g += d
        return self.g * 2

    def step(self, rate):
        self.k -= rate * self.g


def attribute_made_like_another(k):
    c = Kernel(k.copy())
    for _ in range(2):
        c.backward(c.k)
        c.step(0.1)
    return np.sum(c.k)


class Truth:
    def __init__(self, v):
        self.v = v

    def __bool__(self):
        return bool(self.v > 0.5)


def truth_of_an_object(x):
    return x * 2 if Truth(x) else x * 3


class Plain:
    def __init__(self, k):
        self.k = k


def attribute_or_a_default(x):
    a = Plain(x)
    return x * getattr(a, "nothing", 2.0)


class Made:
    def __new__(cls, x):
        made = super().__new__(cls)
        made.y = x**2
        return made


def made_by_new(x):
    return Made(x).y


class Descriptor:
    def __get__(self, instance, owner=None):
        return instance.v * 2

    def __set__(self, instance, value):
        instance.v = value**2


class Described:
    w = Descriptor()

    def __init__(self, x):
        self.v = x


def descriptor_set(x):
    d = Described(x)
    d.w = x * 3
    return d.v


def descriptor_read(x):
    return Described(x).w * x


class Counting:
    def __init__(self, x):
        self.x, self.k = x, 0

    def __iter__(self):
        return self

    def __next__(self):
        self.k += 1
        if self.k > 3:
            raise StopIteration
        return self.x * self.k


def iterator_that_counts(x):
    return sum(Counting(x))


def parameter_named_like_a_seed(x, out_bar):
    return x**2 * out_bar


def returned_from_a_loop(x):
    z = np.zeros_like(x)
    for _ in range(3):
        if np.sum(z) > 1.5:
            return np.sum(z**2)
        z += x
    return np.sum(z**3)


def early(x):
    z = np.zeros_like(x)
    for _ in range(3):
        if np.sum(z) > 1.5:
            return z
        z += x
    return z


def array_returned_from_a_loop(x):
    return np.sum(early(x) ** 2)


def conjugate_gradients(A, b):
    A = A @ A.T + np.eye(len(b))
    x = np.zeros_like(b)
    r = b - A @ x
    p, rs = r.copy(), r @ r
    for _ in range(20):
        Ap = A @ p
        a = rs / (p @ Ap)
        x += a * p
        r -= a * Ap
        rn = r @ r
        if np.sqrt(rn) < 1e-10:
            return x
        p = r + (rn / rs) * p
        rs = rn
    return x


def solved(A, b):
    return np.sum(conjugate_gradients(A, b) ** 2)


def chosen(a, b, n):
    for i in range(n):
        if i == 1:
            return b
    return a


def chosen_in_a_loop_and_changed(x, y):
    x, y = x * 1, y * 1
    r = chosen(x, y, 3)
    r += 1
    return np.sum(x**2) + np.sum(y**3)


def square(x, out=None):
    if out is None:
        out = np.empty_like(x)
    out[:] = x * x
    return out


def out_or_none(x):
    y = np.zeros(2)
    square(x, out=y)
    return np.sum(square(x) * y)


M = np.array([[0.3, 0.5], [0.2, 0.9]])
X, Y = np.array([0.3, 0.7]), np.array([0.6, -0.4])
PROGRAMS = [
    *((f, (0.7,)) for f in (
        field_changed_after_construction, frozen_that_changes_its_field, returned_before_finally,
        parameter_assigned_at_last, method_hidden_by_an_attribute, cached_property, attributes_set_in_a_loop,
        attributes_set_from_keywords, attribute_set_by_object, attribute_set_in_the_dict, private_names,
        setting_that_the_class_decides, reading_that_the_class_decides,
    )),
    (attribute_of_a_name_that_is_given, (0.7, "a")), (object_that_changes_its_field, (Doubled(0.7),)),
    (gradient_that_its_class_would_refuse, (Positive(0.7), 0.4)), (attribute_beside_the_fields, (Node(0.7), 0.4)),
    (rebuilt_dict, ({"W": X, "b": 0.3},)), (copied_dict_updated, ({"w": X, "v": Y},)),
    (new_key_after_a_loop, (0.7,)), (attribute_made_like_another, (X,)), (parameter_named_like_a_seed, (0.7, 0.4)),
    *((f, (0.7,)) for f in (
        truth_of_an_object, attribute_or_a_default, made_by_new, descriptor_set, descriptor_read, iterator_that_counts,
    )),
    (cached_in_a_loop, (0.7, 4)), (cached_in_a_branch, (0.7, 3)), (cached_in_a_branch, (0.7, 1)),
    (cached_value_that_is_set, (0.7,)), (cached_that_reads_another, (X, 0.7)), (cached_property_of_an_argument, (Cached(0.7),)),
    *((f, (X,)) for f in (returned_from_a_loop, array_returned_from_a_loop, out_or_none)),
    (solved, (M, X)), (chosen_in_a_loop_and_changed, (X, Y)), (reduced, (M,)), (reduced, (M, 1)), (settings_handed_on, (M,)),
]  # fmt: skip
REFUSED = {
    "frozen_that_changes_its_field", "cached_property_of_an_argument", "attribute_set_in_the_dict",
    "new_key_after_a_loop", "made_by_new", "descriptor_set",
    "descriptor_read", "iterator_that_counts", "setting_that_the_class_decides", "reading_that_the_class_decides",
}  # fmt: skip
