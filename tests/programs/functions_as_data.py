"""Functions and objects that are kept as data: in lists, dicts and attributes, filled by loops, methods and helpers."""

import dataclasses
import functools

import numpy as np

from tangentc import grad, jvp, value_and_grad

PROGRAMS = []


def program(*args):
    def add(f):
        PROGRAMS.append((f, args))
        return f

    return add


# ------------------------------------------------------------------ closures put into a list
@program(0.3, 1.5)
def appended_one_by_one(x, a):
    fs = []
    fs.append(lambda z: z * a)
    fs.append(lambda z: z * 2.0)
    fs.append(lambda z: z + a)
    for f in fs:
        x = f(x)
    return x


def through_appended(x):
    fs = []
    fs.append(lambda z: z * x[0])
    fs.append(lambda z: z * 2.0)
    fs.append(lambda z: np.sin(z) + x)
    y = x
    for f in fs:
        y = f(y)
    return y


@program(np.array([0.3, 0.7]))
def appended_in_a_helper(x):
    return np.sum(through_appended(x) ** 2)


@program(0.3, 1.5)
def appended_by_a_helper(x, a):
    fs = []

    def add(k):
        fs.append(lambda z: z * k)

    add(x)
    add(2.0)
    add(a)
    for f in fs:
        x = f(x)
    return x


@program(0.3, 1.5)
def tape_of_lambdas(x, a):
    tape = []

    def times(u, v):
        tape.append(lambda g: (g * v, g * u))
        return u * v

    y = times(x, a)
    z = times(y, x)
    w = times(z, z)
    g = 1.0
    for t in tape[::-1]:
        g = t(g)[0]
    return g + w


@program(0.3, 1.5)
def tape_of_functions(x, a):
    tape = []

    def times(u, v):
        def back(g):
            return g * v

        tape.append(back)
        return u * v

    y = times(x, a)
    z = times(y, 3.0)
    w = times(z, 2.0)
    g = 1.0
    for t in tape:
        g = t(g) + g**2
    return g + w


@program(0.3)
def dict_filled_in_a_loop(x):
    d = {}
    for k, f in (("u", lambda z: z * x), ("v", lambda z: z + 2), ("w", lambda z: z**2)):
        d[k] = f
    y = x
    for f in d.values():
        y = f(y)
    return y


@program(0.3)
def stack_of_functions(x):
    stack = []
    for k in range(6):
        if k % 3 == 0:
            stack.append(lambda z: z * x)
        elif k % 3 == 1:
            stack.append(lambda z: z + 2)
        else:
            stack.append(lambda z: np.sin(z))
    y = x
    while stack:
        y = stack.pop()(y)
    return y


# ------------------------------------------------------------------ derivatives of functions of one trip
@program(0.3, 1.5)
def derivatives_of_functions_with_defaults(x, a):
    fs = []
    for c in (1.0, 2.0, 3.0):
        fs.append(lambda z, c=c: z**2 * c * a)
    return grad(fs[0])(x) + 10 * grad(fs[1])(x)


@program(0.3, 1.5)
def derivatives_of_made_functions(x, a):
    def make(c):
        return lambda z: z**2 * c * a

    fs = [make(c) for c in (1.0, 2.0, 3.0)]
    s = 0.0
    for f in fs:
        s = s * x + grad(f)(x)
    return s


@program(0.3, 1.5)
def derivatives_of_partial_functions(x, a):
    def q(c, z):
        return z**2 * c * a

    fs = []
    for c in (1.0, 2.0, 3.0):
        fs.append(functools.partial(q, c))
    s = 0.0
    for f in fs:
        s = s * x + grad(f)(x)
    return s


class Energy:
    def __init__(self, k):
        self.k = k

    def at(self, z):
        return z**2 * self.k


@program(0.3, 1.5)
def derivatives_of_methods(x, a):
    s = 0.0
    for m in [Energy(a * c).at for c in (1.0, 2.0, 3.0)]:
        s = s * x + grad(m)(x)
    return s


def maker(c, a):
    return lambda z: z**2 * c * a + c * z**3


@program(0.3, 1.5)
def tangent_of_one_of_two(x, a):
    fs = [maker(2.0, a), maker(3.0, a)]
    y, tangent = jvp(fs[0], (x,), (a,))
    return tangent + y


@program(0.3, 1.5)
def value_and_gradient_of_one_of_three(x, a):
    fs = [maker(c, a) for c in (1.0, 2.0, 3.0)]
    y, slope = value_and_grad(fs[1])(x)
    return slope + y * fs[0](x)


# ------------------------------------------------------------------ a name that becomes its own derivative
@program(0.3, 1.5)
def its_own_derivative_in_a_branch(x, a):
    f = lambda z: z**3 * a
    if x > 0:
        f = grad(f)
    return f(x)


@program(0.3, 1.5)
def derivative_or_sine(x, a):
    f = lambda z: np.sum(z**3) * a
    f = np.sin if x < 0 else grad(f)
    return f(x)


@program(0.3, 1.5)
def its_own_derivative_in_a_loop(x, a):
    f = lambda z: z**3 * a
    for _ in range(2):
        f = grad(f)
    return f(x)


@program(0.3, 1.5)
def derivative_of_the_last(x, a):
    fs = [lambda z: z**3 * a]
    for _ in range(2):
        fs.append(grad(fs[-1]))
    return fs[2](x)


@program(0.3, 1.5)
def item_that_becomes_its_derivative(x, a):
    d = [lambda z: z**3 * a]
    d[0] = grad(d[0])
    return d[0](x)


class Differentiated:
    def __init__(self, a):
        self.a = a
        self.f = lambda z: z**3 * self.a

    def differentiate(self):
        self.f = grad(self.f)
        return self


@program(0.3, 1.5)
def attribute_that_becomes_its_derivative(x, a):
    m = Differentiated(a)
    m.differentiate()
    m.differentiate()
    return m.f(x)


@program(0.3, 1.5)
def derivatives_by_reduce(x, a):
    return functools.reduce(lambda g, _: grad(g), range(2), lambda z: z**3 * a)(x)


@program(0.3, 1.5)
def taylor_series(x, a):
    def taylor(f, x0, h, n):
        s, factorial = 0.0, 1.0
        for k in range(n):
            s = s + f(x0) * h**k / factorial
            f = grad(f)
            factorial *= k + 1
        return s

    return taylor(lambda z: z**3 * a, x, a, 3)


def applied(g, x):
    return g(x)


@program(np.array([0.4, 0.7]))
def each_function_of_a_tuple_by_a_helper(x):
    total = 0.0
    for g in (np.sin, np.cos):
        total = total + np.sum(applied(g, x))
    return total


def chained(functions, x):
    for g in functions:
        x = applied(g, x)
    return np.sum(x)


@program(np.array([0.4, 0.7]))
def chain_of_functions_by_a_helper(x):
    return chained([np.tanh, lambda t: t * t, np.exp], x)


@program(np.array([0.4, 0.7]))
def functions_of_a_dict_by_a_helper(x):
    functions = {"a": np.sin, "b": lambda t: t**2}
    return sum(np.sum(applied(g, x)) for _, g in functions.items())


REFUSED = {
    "its_own_derivative_in_a_loop", "derivative_of_the_last",
    "derivatives_by_reduce", "taylor_series",
}  # fmt: skip


# ------------------------------------------------------------------ what methods put into objects
class Chain:
    def __init__(self, a):
        self.a = a
        self.fs = []

    def add(self, k):
        self.fs.append(lambda z: z * k * self.a)
        return self

    def add_constant(self, k):
        def g(z):
            return z * k

        self.fs.append(g)

    def run(self, x):
        for f in self.fs:
            x = f(x)
        return x


@program(0.3, 1.5)
def closures_of_several_calls(x, a):
    m = Chain(a)
    m.add(x).add(2.0)
    m.a = m.a * 3
    m.add(a)
    return m.run(x)


@program(0.3, 1.5)
def closures_of_two_objects(x, a):
    m = Chain(a)
    m.add_constant(3.0)
    n = Chain(2.0)
    n.add_constant(7.0)
    n.add(2.0)
    m.add(5.0)
    return m.run(x) + 10 * n.run(x)


class Registry:
    def __init__(self):
        self.held = []
        self.mode = "a"
        self.keys = []
        self.two = [np.cos]

    def register(self, f):
        self.held.append(f)

    def set_mode(self, mode):
        self.mode = mode

    def key(self, k):
        self.keys.append(k)

    def add(self, f):
        self.two.append(f)


@program(0.3, 1.5)
def registered_functions(x, a):
    r = Registry()
    r.register(lambda z: z * a)
    r.register(np.sin)
    for h in r.held:
        x = h(x)
    return x


class Layer:
    def __init__(self, w):
        self.w = w

    def __call__(self, x):
        return np.tanh(x * self.w)


class Net:
    def __init__(self):
        self.layers = []

    def add(self, layer):
        self.layers.append(layer)
        return self


@program(0.3, 1.5)
def layers_that_are_added(x, a):
    n = Net()
    n.add(Layer(a))
    n.add(Layer(2.0))
    for layer in n.layers:
        x = layer(x)
    return x


@program(0.3, 1.5)
def mode_that_a_method_sets(x, a):
    s = Registry()
    fs = {"a": np.sin, "b": lambda z: z * a}
    s.set_mode("b")
    return fs[s.mode](x)


def set_mode(s, mode):
    s.mode = mode


BY_MODE = {"a": np.sin, "b": np.cos}


@program(0.3, 1.5)
def mode_that_a_helper_sets(x, a):
    s = Registry()
    set_mode(s, "b")
    return BY_MODE[s.mode](x) * a


@program(0.3, 1.5)
def keys_that_a_method_adds(x, a):
    s = Registry()
    s.key("u")
    s.key("v")
    d = {"u": x, "v": a, "w": 1.0}
    t = 0.0
    for k in s.keys:
        t = t * x + d[k]
    return t


@program(0.3, 1.5)
def unpacked_after_an_addition(x, a):
    s = Registry()
    s.add(np.sin)
    f, g = s.two
    return f(x) * g(a)


# ------------------------------------------------------------------ attributes with the names of those of arrays
class Shaped:
    def __init__(self):
        self.shape = (2, 2)

    def reshape(self, *n):
        self.shape = n


@program(np.arange(4.0) / 4, 1.5)
def shape_that_a_method_sets(x, a):
    s = Shaped()
    s.reshape(1, 4)
    return np.sum(x.reshape(s.shape) @ np.arange(4.0)) * a


@program(np.arange(4.0) / 4, 1.5)
def size_of_an_object(x, a):
    s = Shaped()
    s.size = x[1]
    for _ in range(3):
        s.size = s.size * x[2] + a
    s.shape = x * a
    return s.size * np.sum(s.shape**2)


class Accumulator:
    def __init__(self):
        self.count, self.held, self.shape = 0, None, (2, 2)

    def state(self, x):
        self.held = x if self.count == 0 else self.held * x
        self.count += 1
        return self.held


@program(np.arange(4.0) / 4, 1.5)
def method_by_the_name_state(x, a):
    s = Accumulator()
    for _ in range(3):
        y = s.state(x * a)
    return np.sum(y) * s.count


# ------------------------------------------------------------------ facts that come out late
class Bag:
    def __init__(self):
        self.items, self.keys, self.axes, self.n, self.some = [], {}, None, 0, ()

    def put(self, v):
        self.items.append(v)

    def take_axes(self, a):
        self.axes = a

    def count(self):
        self.n += 1
        return self.n

    def another(self, v):
        self.some = self.some + (v,)


X = np.array([0.3, 0.7, 1.1])


@program(X)
def axis_that_a_method_sets(x):
    b = Bag()
    b.take_axes(0)
    return np.sum(np.sum(x.reshape(1, 3), axis=b.axes) ** 2)


@program(X)
def as_often_as_counted(x):
    b = Bag()
    b.count()
    b.count()
    s = 0.0
    for i in range(b.n):
        s = s + x[i] ** 2
    return s


@program(X)
def tuple_that_a_method_makes_longer(x):
    b = Bag()
    b.another(x[0])
    b.another(x[1] * 2)
    u, v = b.some
    return u * v


@program(X)
def functions_of_several_trips(x):
    b = Bag()
    for i in range(3):
        b.put(lambda z, i=i: z * x[i])
    y = 1.0
    for f in b.items:
        y = f(y) + 1
    return y


@program(X)
def keys_put_into_an_object(x):
    b = Bag()
    b.put("u")
    b.put("v")
    d = {"u": x[0], "v": x[1] * x[2]}
    return sum(d[k] ** 2 for k in b.items)


class Swapped:
    def __init__(self):
        self.f, self.d = np.sin, {"f": np.cos}

    def swap(self):
        self.f, self.d["f"] = self.d["f"], self.f


@program(X)
def functions_swapped_by_a_method(x):
    s = Swapped()
    s.swap()
    return s.f(x[0]) * s.d["f"](x[1])


@program(X)
def functions_swapped_in_a_trip(x):
    s = Swapped()
    for k in range(3):
        if k == 1:
            s.swap()
    return s.f(x[0])


class Tree:
    def __init__(self, v):
        self.v, self.kids = v, []

    def add(self, kid):
        self.kids.append(kid)
        return kid

    def total(self):
        s = self.v**2
        for kid in self.kids:
            s = s + kid.total()
        return s


@program(X)
def tree_of_depth_one(x):
    t = Tree(x[0])
    t.add(Tree(x[1]))
    t.add(Tree(x[2]))
    return t.total()


@program(X)
def tree_of_depth_two(x):
    t = Tree(x[0])
    kid = t.add(Tree(x[1]))
    kid.add(Tree(x[2]))
    return t.total()


@program(X)
def functions_moved_about(x):
    q = [lambda z: z * x[0]]
    q += [np.sin]
    q.extend([lambda z: z + x[1], np.cos])
    q.insert(0, lambda z: z**2)
    q[1], q[2] = q[2], q[1]
    del q[0]
    y = x[2]
    for f in q:
        y = f(y)
    return y


@program(X)
def composed_in_a_loop(x):
    f = lambda z: z * x[0]
    for g in (np.sin, np.cos, lambda z: z * x[1]):
        f = (lambda f, g: lambda z: g(f(z)))(f, g)
    return f(x[2])


class Weighted:
    def __init__(self, w):
        self.w, self.t = w, 0.0

    def notify(self, v):
        self.t = self.t + self.w * v**2


class History:
    def __init__(self):
        self.h = []

    def notify(self, v):
        self.h.append(v)


@program(0.3, 1.5)
def observers_of_two_classes(x, a):
    u, h, observers = Weighted(a), History(), []
    observers.append(u)
    observers.append(h)
    for o in observers:
        o.notify(x)
    return u.t + h.h[-1]


def feed(observers, v):
    for o in observers:
        o.notify(v)


@program(0.3, 1.5)
def observers_in_a_helper(x, a):
    u, h, observers = Weighted(a), History(), []
    observers.append(u)
    observers.append(h)
    feed(observers, x)
    feed(observers, a)
    return u.t


@program(0.3, 1.5)
def functions_of_a_dict_that_loses_a_key(x, a):
    d = {"u": np.sin, "v": np.cos}
    d.pop("u")
    d["u"] = np.exp
    g, h = d.values()
    return g(x) * a + h(x) * 2


@program(0.3, 1.5)
def functions_after_a_key_comes_back(x, a):
    d = {"u": np.sin, "v": np.cos}
    del d["u"]
    d["u"] = np.exp
    for g in d.values():
        x = g(x) * a
    return x


@dataclasses.dataclass
class Settings:
    scale: float = 1.0
    mode: str = "add"

    def of(self, x):
        return x * 2 if self.mode == "add" else x**3 * self.scale


@program(0.3, 1.5)
def settings_replaced(x, a):
    s = Settings(a)
    return dataclasses.replace(s, mode="mul").of(x)


@program(0.3, 1.5)
def settings_replaced_twice(x, a):
    s = Settings(2.0, "k")
    s = dataclasses.replace(s, scale=a)
    t = dataclasses.replace(s, mode="m")
    return t.scale * x


class Hooked:
    def __init__(self, hooks, scale):
        self.hooks, self.scale = hooks, scale

    def hook(self, f):
        self.hooks.append(f)


def run_hooks(c, x):
    for h in c.hooks:
        x = h(x)
    return x + c.scale


@program(0.3, 1.5)
def hooks_run_by_a_helper(x, a):
    c = Hooked([], a)
    c.hook(np.cos)
    return run_hooks(c, x)


def run_pair(pair, x):
    for h in pair[0]:
        x = h(x)
    return x * pair[1]


@program(0.3, 1.5)
def pair_of_functions_and_a_number(x, a):
    pair = ([], a)
    pair[0].append(np.cos)
    return run_pair(pair, x)


@dataclasses.dataclass
class Factored:
    v: float = 1.0
    d: dict = dataclasses.field(default_factory=lambda: {"f": np.sin})
    held: list = dataclasses.field(default_factory=lambda: [np.sin, np.cos])
    f: object = np.tanh
    values: list = dataclasses.field(default_factory=list)
    some: tuple = ()

    def put(self, v):
        self.values.append(v)
        self.some = self.some + (v,)


@program(0.3, 1.5)
def function_out_of_a_dict_into_a_field(x, a):
    c = Factored(x)
    c.f = c.d["f"]
    y = c.f(a)
    c.f = c.held[1]
    return y * x + c.f(a)


def damped(o, x):
    while x > 30:
        return x
    return np.cos(x) * o.v


@program(0.3, 1.5)
def sum_of_what_nobody_put_in(x, a):
    d = Factored(a)
    y = x + sum(d.values)
    return damped(d, y) * a


@program(0.3, 1.5)
def tuple_and_list_that_a_method_fills(x, a):
    c = Factored(a)
    c.put(x * a)
    return (x + (c.some[-1] if c.some else x)) * a + c.values[0]


# ------------------------------------------------------------------ objects made anew
@dataclasses.dataclass
class Doubled:
    w: np.ndarray
    k: float = 2.0

    def __post_init__(self):
        self.w2 = self.w * 2


@program(np.array([0.3, -0.7, 1.2]))
def replaced_and_completed(x):
    p = Doubled(x, 3.0)
    q = dataclasses.replace(p, w=x * x)
    r = dataclasses.replace(q, k=x[0])
    return np.sum(q.w2 * p.w2) * q.k + np.sum(r.w2) * r.k


@dataclasses.dataclass
class Late:
    a: np.ndarray
    b: object = dataclasses.field(init=False, default=1.0)


@program(np.array([0.3, -0.7, 1.2]))
def replaced_without_what_is_set_later(x):
    p = Late(x)
    p.b = x * 2
    q = dataclasses.replace(p, a=x * x)
    return np.sum(q.a * q.b * p.b)


class Empty:
    pass


EMPTY, FILLED = Empty(), Empty()
FILLED.w = 3.0


@program(np.array([0.3, -0.7, 1.2]))
def attributes_with_defaults(x):
    return np.sum(x * getattr(EMPTY, "w", 1.5)) + getattr(FILLED, "w", 1.0) * x[0] ** 2


def scaled_by(k):
    def decorate(f):
        @functools.wraps(f)
        def wrapper(*args, **keywords):
            return f(*args, **keywords) * k

        return wrapper

    return decorate


@scaled_by(2.0)
@scaled_by(3.0)
def power_scaled_twice(x, p=2):
    return np.sum(x**p)


@program(np.array([0.3, -0.7, 1.2]))
def decorated_twice_by_functions_of_one_text(x):
    return power_scaled_twice(x) + power_scaled_twice(x, p=3)
