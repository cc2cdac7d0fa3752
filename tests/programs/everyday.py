"""Small programs of everyday Python: objects, closures, lists and dicts that change, views."""

import functools
import math
from dataclasses import dataclass

import numpy as np


class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def norm2(self):
        return self.x**2 + self.y**2

    @property
    def area(self):
        return self.x * self.y

    def scale(self, k):
        self.x = self.x * k
        self.y *= k
        return self

    @staticmethod
    def twice(v):
        return 2 * v

    @classmethod
    def make(cls, v):
        return cls(v, v + 1)


def method_and_property(a, b):
    p = Point(a, b)
    return p.norm2() + p.area


def chained_methods(a, b):
    p = Point(a, b)
    p.scale(b).scale(2.0)
    return p.x * p.y


def class_and_static_method(a, b):
    p = Point.make(a)
    p.x += b
    return Point.twice(p.x) * p.y


def attributes_in_a_loop(a, b):
    p = Point(a, b)
    for _i in range(3):
        p.x = p.x + 0.1 * p.y
        p.y -= 0.2 * p.x
    return p.x * p.y


class Accumulator:
    def __init__(self):
        self.items = []
        self.total = 0.0

    def ascaled_square(self, v):
        self.items.append(v)
        self.total += v * v


def object_with_a_list(a, b):
    c = Accumulator()
    c.ascaled_square(a)
    c.ascaled_square(b * a)
    return c.total + c.items[0] * c.items[1]


def object_with_a_list_in_a_loop(a, b):
    c = Accumulator()
    for i in range(3):
        c.ascaled_square(a * i + b)
    return c.total * sum(c.items)


class Net:
    def __init__(self, W, b):
        self.W = W
        self.b = b

    def __call__(self, x):
        return np.tanh(self.W @ x + self.b)


def callable_object(W, b, x):
    n = Net(W, b)
    return np.sum(n(n(x)))


def layers(W, b, x):
    layers = [Net(W, b), Net(W.T, 2 * b)]
    for l in layers:
        x = l(x)
    return np.sum(x)


def arrays_of_an_object(W, b, x):
    n = Net(W, b)
    n.W = n.W * 2
    n.b[0] = x[1]
    n.W[0] += x
    return np.sum(n(x))


class Base:
    def __init__(self, w):
        self.w = w

    def f(self, x):
        return self.w * x


class Derived(Base):
    def __init__(self, w, c):
        super().__init__(w)
        self.c = c

    def f(self, x):
        return super().f(x) + self.c


def super_method(a, b):
    return Derived(a, b).f(a * b)


def dict_by_key(a, b):
    d = {"u": a}
    d["v"] = d["u"] * b
    d["u"] += b
    return sum(d.values()) * d["v"]


def list_with_continue(a, b):
    out = []
    for i in range(4):
        if i % 2:
            continue
        out.append(a**i * b)
    return sum(out) + out[-1]


def closures_from_a_factory(a, b):
    def outer(k):
        def inner(x):
            return x * k + a

        return inner

    f, g = outer(b), outer(2.0)
    return f(a) * g(b)


def nonlocal_total(a, b):
    total = 0.0

    def ascaled_square(v):
        nonlocal total
        total += v * a

    for i in range(3):
        ascaled_square(b + i)
    return total


def partial_of_a_lambda(a, b):
    f = functools.partial(lambda x, y, z: x * y + z, a, z=b)
    return f(b) * f(2.0)


def doubled(f):
    @functools.wraps(f)
    def w(*args, **kw):
        return 2 * f(*args, **kw)

    return w


@doubled
def scaled_square(x, y=1.0):
    return x * x * y


def wrapped(a, b):
    return scaled_square(a) + scaled_square(a, y=b)


def fact(n, x):
    return x if n <= 1 else x * n * fact(n - 1, x)


def factorial(a, b):
    return fact(4, a) * b


def names_of_one_array(a, b):
    x = np.array([a, b, a * b])
    y = x
    y += 1.0
    z = x[1:]
    z *= 2
    y[0] = z[1]
    return np.sum(x * x)


def rows_and_transposed(a, b):
    x = np.array([[a, b], [b, a]])
    for row in x:
        row *= row[0]
    x.T[0] += 1
    return np.sum(x**2)


def tried(a, b):
    try:
        v = math.sqrt(a * b)
    except ValueError:
        v = 0.0
    finally:
        pass
    return v


def loop_with_else(a, b):
    s = 0.0
    for _i in range(10):
        s += a * b
        if s > 2:
            break
    else:
        s = -1.0 * a
    return s * a


def return_from_while_true(a, b):
    while True:
        a = a * 0.5
        if a < 0.1:
            return a * b


def nested_iterators(a, b):
    xs = [a, b, a + b]
    ys = [v * w for v, w in zip(xs, reversed(xs))]
    return max(ys) + sum(y for y in ys if y > 0.1)


def unpacked_and_swapped(a, b):
    x, *rest = (a, b, a * b)
    (p, q) = rest
    p, q = q, p
    return x * p + q


def matched(a, b, mode="m"):
    match mode:
        case "m":
            r = a * b
        case _:
            r = a
    return r**2


def dict_of_functions(a, b):
    fs = {"s": np.sin, "c": np.cos}
    return sum(f(a) * b for f in fs.values()) + fs["s"](b)


def with_statement(a, b):
    with np.errstate(all="ignore"):
        y = a / b
    return y * y


def swapped_buffers(a, b):
    buf = np.zeros(4)
    new = np.zeros(4)
    buf[0] = a
    for _i in range(3):
        new[1:] = buf[:-1] * b
        new[0] = buf[-1] + a
        buf, new = new, buf
    return np.sum(buf * buf)


def array_in_a_list(a, b):
    x = np.array([a, b])
    l = [x]
    l[0][1] = a * a
    x[0] *= 3
    return l[0] @ x


@dataclass
class State:
    u: np.ndarray
    k: float = 2.0

    def step(self):
        self.u[1:] = self.u[:-1] * self.k


def dataclass_method(d):
    d.step()
    d.k *= 1.5
    d.step()
    return np.sum(d.u**2) * d.k


def swap(p, q):
    t = p.copy()
    p[:] = q
    q[:] = t * 2


def swapping_procedure(a, b):
    x = np.array([a, b])
    y = np.array([b * b, a])
    swap(x, y)
    swap(y, x)
    return x[0] * y[1] + x[1]


def fillit(o, v):
    for i in range(len(o)):
        o[i] = v * i


def filled_views(a, b):
    M = np.zeros((2, 3))
    fillit(M[0], a)
    fillit(M[:, 1], b)
    return np.sum(M * M)


def stack(a, b):
    st = [a]
    while len(st) < 4:
        st.append(st[-1] * b)
    t = 0.0
    while st:
        t = t * 0.5 + st.pop()
    return t


NUMBERS = [
    method_and_property,
    chained_methods,
    class_and_static_method,
    attributes_in_a_loop,
    object_with_a_list,
    object_with_a_list_in_a_loop,
    super_method,
    dict_by_key,
    list_with_continue,
    closures_from_a_factory,
    nonlocal_total,
    partial_of_a_lambda,
    wrapped,
    factorial,
    names_of_one_array,
    rows_and_transposed,
    tried,
    loop_with_else,
    return_from_while_true,
    nested_iterators,
    unpacked_and_swapped,
    matched,
    dict_of_functions,
    with_statement,
    swapped_buffers,
    array_in_a_list,
    swapping_procedure,
    filled_views,
    stack,
]


def european_option(S0, sigma, r, Z, T, K):
    n, steps = Z.shape
    dt = T / steps
    S = np.full(n, S0)
    for k in range(steps):
        S *= np.exp((r - 0.5 * sigma**2) * dt + sigma * np.sqrt(dt) * Z[:, k])
    return np.exp(-r * T) * np.mean(np.maximum(S - K, 0))


def euler_maruyama(S0, sigma, r, Z, T, K):
    n, steps = Z.shape
    dt = T / steps
    S = np.full(n, S0)
    for k in range(steps):
        dW = np.sqrt(dt) * Z[:, k]
        S = S + r * S * dt + sigma * S * dW
    payoff = np.maximum(S - K, 0)
    return np.exp(-r * T) * payoff.mean()


def asian_option(S0, sigma, r, Z, T, K):
    n, steps = Z.shape
    dt = T / steps
    paths = np.zeros((n, steps + 1))
    paths[:, 0] = S0
    for k in range(steps):
        paths[:, k + 1] = paths[:, k] * np.exp((r - 0.5 * sigma**2) * dt + sigma * np.sqrt(dt) * Z[:, k])
    return np.exp(-r * T) * np.mean(np.maximum(paths[:, 1:].mean(axis=1) - K, 0))


def damped_in_some_trips(x, dt, n):
    for k in range(n):
        if k % 2:
            x = x * np.sqrt(dt) - 0.1 * np.exp(-dt) * x**2
    return x


def market():
    return (100.0, 0.2, 0.05, np.random.default_rng(0).normal(size=(9, 4)), 1.0, 95.0)


PROGRAMS = [(f, (0.7, 0.9)) for f in NUMBERS]
W, b, x = np.array([[0.3, -0.2], [0.5, 0.1]]), np.array([0.1, 0.2]), np.array([0.7, -0.3])
PROGRAMS += [(f, (W, b, x)) for f in (callable_object, layers, arrays_of_an_object)]
PROGRAMS += [(dataclass_method, (State(np.array([0.5, 0.2, 0.3])),))]
PROGRAMS += [
    (european_option, market()),
    (euler_maruyama, market()),
    (asian_option, market()),
    (damped_in_some_trips, (1.5, 0.3, 5)),
    (damped_in_some_trips, (1.5, 0.3, 0)),
]
