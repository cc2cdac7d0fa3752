"""What classes may do beside holding data: slots, several bases, special methods, metaclasses."""

import copy
import math

import numpy as np


class Slotted:
    __slots__ = ("n", "u")

    def __init__(self, u):
        self.u, self.n = u, 0

    def step(self, k):
        self.u = self.u * k + self.u**2
        self.n += 1
        return self


def slots(x):
    s = Slotted(x * x)
    s.step(x).step(2.0)
    return np.sum(s.u * x) * s.n


class OneSlot:
    __slots__ = "u"

    def __init__(self, u):
        self.u = u


def slots_copied(x):
    s = OneSlot(x.copy())
    t = copy.deepcopy(s)
    s.u[0] *= 2
    t.u[1] *= 3
    return np.sum(s.u * t.u)


# ------------------------------------------------------------------ super
class Base:
    scale = 2.0

    def go(self, v):
        return v * 2

    @classmethod
    def make(cls, v):
        return cls.scale * v

    def size(self):
        return 1.0

    @property
    def ratio(self):
        return 2.0


class Left(Base):
    scale = 3.0

    def go(self, v):
        return super().go(v) + v * v

    @classmethod
    def make(cls, v):
        return super().make(v)

    def size(self):
        return 10.0

    @property
    def ratio(self):
        return super().ratio * 2


class Right(Base):
    scale = 5.0

    def go(self, v):
        return super().go(v) * v

    @property
    def ratio(self):
        return super().ratio + 5


class Both(Left, Right):
    pass


class Further(Left):
    scale = 5.0

    def size(self):
        return super(Left, self).size()


BOTH = Both()


def super_of_two_bases(x):
    d = Both()
    return np.sum(d.go(x)) * d.ratio


def super_of_several_objects(x):
    return np.sum(sum(o.go(x) for o in [Both(), Left(), BOTH]))


def super_of_a_class_method(x):
    return np.sum(Further.make(x) * x)


def super_that_is_told_where(x):
    return np.sum(x * x) * Further().size()


class First:
    def __init__(self, a, **rest):
        self.a = a
        super().__init__(**rest)


class Second:
    def __init__(self, b, **rest):
        self.b = b
        super().__init__(**rest)


class Mixed(First, Second):
    def __init__(self, a, b):
        super().__init__(a=a, b=b)


def super_that_hands_on(x):
    m = Mixed(x, x * 2)
    return np.sum(m.a * m.b)


# ------------------------------------------------------------------ special methods
class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def __iter__(self):
        return iter((self.a, self.b))


def unpacked(x):
    o = Pair(x[0], x[1])
    a, b = o
    for c, e in [o, Pair(a, b * 2)]:
        a = a * c + e
    return a * b


class Halved:
    def __init__(self, a):
        self.d = {0: a, 1: a * 2}

    def __getitem__(self, k):
        return self.d[k]

    def __delitem__(self, k):
        self.d[k] = self.d[k] * 0.5


def item_deleted_by_a_method(x):
    p = Halved(x)
    del p[1]
    return np.sum(p[1] * x)


class Rounded:
    def __init__(self, a):
        self.a = a

    def __round__(self, n=0):
        return self.a * n

    def __ceil__(self):
        return self.a * 4


def rounded_by_methods(x):
    return round(Rounded(x[0]), 2) + math.ceil(Rounded(x[1])) * round(Rounded(x[0] * x[1]), ndigits=3)


# ------------------------------------------------------------------ what is refused
class Counted:
    def __init__(self, a):
        self.a = a

    def __getitem__(self, i):
        if i >= 3:
            raise IndexError
        return self.a[i] * 2


def unpacked_by_positions(x):
    a, b, c = Counted(x)
    return a * b * c


class Deleting:
    def __init__(self, a):
        self.a = a

    @property
    def v(self):
        return self.a

    @v.deleter
    def v(self):
        self.a = self.a * 5


def property_deleted(x):
    p = Deleting(x)
    del p.v
    return np.sum(p.a)


class Tripling(type):
    def __call__(cls, v):
        o = super().__call__(v)
        o.a = o.a * 3
        return o


class Made(metaclass=Tripling):
    def __init__(self, a):
        self.a = a


def made_by_a_metaclass(x):
    return np.sum(Made(x).a)


class Rows(list):
    pass


def list_of_its_own_class(x):
    rows = Rows([x[0], x[1]])
    return rows[0] * rows[1]


def class_changed(x):
    c = Counted(x)
    c.__class__ = Deleting
    return np.sum(c.a)


class Like:
    def __init__(self, a):
        self.a = a

    def __array__(self, dtype=None, copy=None):
        return self.a


def object_given_for_an_array(x):
    return np.sum(Like(x))


def negated_by_name_and_changed(x):
    z = x * 1.0
    v = z.__neg__()
    z[1] *= 3.0
    return np.sum(v**2)


def shallow_copy_and_changed(x):
    m = Pair(x * 1.0, x[0])
    n = copy.copy(m)
    n.a[0] = 1.0
    return n.b * n.b


class Suppressing:
    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        return kind is ZeroDivisionError


def suppressed_by_a_manager(x):
    s = x[0]
    with Suppressing():
        1 / 0
        s = s * x[1]
    return s


class RollingBack:
    def __init__(self, held):
        self.held = held

    def __enter__(self):
        self.saved = self.held["a"].copy()
        return self

    def __exit__(self, kind, value, traceback):
        if kind is not None:
            self.held["a"][:] = self.saved


def rolled_back(x):
    held = {"a": x.copy()}
    try:
        with RollingBack(held):
            held["a"][1:] *= 2
            raise ValueError
    except ValueError:
        pass
    return np.sum(held["a"] ** 2)


def rolled_back_if_it_raises(x):
    held = {"a": x.copy()}
    with RollingBack(held):
        held["a"][1:] *= 2
    return np.sum(held["a"] ** 2)


class Restoring(RollingBack):
    def __exit__(self, *exception):
        self.held["a"][:] = self.saved * 2


def restored_after_it_raised(x):
    held = {"a": x.copy()}
    try:
        with Restoring(held):
            held["a"][0] = x[1] * 3
            x[99]
    except IndexError:
        pass
    return np.sum(held["a"] * x)


class Place:
    def __init__(self, k):
        self.k = k

    def __index__(self):
        return self.k


def item_at_an_object(x):
    return x[Place(1)] ** 2 + x[0]


SCALED = np.array([1.0, 2.0])


def function_named_like_data(x):
    def SCALED(v):
        return v * x[0]

    y = SCALED(x)
    return y @ y


def set_on_a_class(x):
    setattr(Base, "scale", x[0] ** 2)  # noqa: B010
    return Base.scale * x[1]


def filled_by_a_method_with_a_name(x):
    b = x * 1.0
    p = b.fill
    p(x[0])
    return np.sum(b**2)


def item_set_by_a_method_with_a_name(x):
    b = x * 1.0
    g = b.__setitem__
    g(0, x[1] ** 2)
    return np.sum(b**2)


def lambdas_tried(x):
    y = x
    for g in (lambda v: v * 3, lambda v: v * 2):
        try:
            y = g(x)
            break
        except Exception:
            continue
    return y @ y


class Multiplied:
    def __init__(self, a):
        self.a = a

    def by(self, v):
        return v * self.a


def method_with_a_name_tried(x):
    f = Multiplied(x[0]).by
    try:
        y = f(x[1])
    except TypeError:
        y = x[0]
    return y


def functions_made_by_recursion(x):
    def made(n):
        def f(v):
            return v * x + (made(n - 1)(v) if n else 0.0)

        return f

    return np.sum(made(3)(x))


class Basket:
    def __init__(self, items):
        self.items, self.name = items, "basket of {}".format(len(items))  # noqa: UP032

    def __len__(self):
        return len(self.items)

    def take(self):
        return self.items.pop()

    def __repr__(self):
        return f"<{self.name}>"


class Level:
    def __init__(self, v):
        self.v = v

    def __bool__(self):
        return bool(self.v > 0.5)


def asked_whether_it_is_true(x):
    basket, total = Basket([x[0], x[1] * x[2]]), 0.0
    while basket:
        total = total + basket.take() ** 2
    a, b = Level(x[0]), Level(x[1])
    if not a:
        total = total * x[2]
    return total + (x[1] if b else x[0]) * x[2] + sum(v**3 for v in x if Level(v))


def text_of_an_object(x):
    basket = Basket([x[0], x[1]])
    name = f"{str(basket)} and {basket!r}"
    return basket.take() ** 2 * x[2] if name == "<basket of 2> and <basket of 2>" else x[0] ** 3


class Settings:
    def __init__(self, rate):
        self.name = "rate {}".format(rate)  # noqa: UP032


class Cell:
    def __init__(self, size):
        self.settings, self.size = Settings(0.1 * size), size
        self.kept, self.is_made = {}, False

    def __call__(self, v):
        if not self.is_made:
            self.kept, self.is_made = {"states": [], "steps": 0}, True
        self.kept["steps"] += 1
        if len(self.kept["states"]) == 0:
            self.kept["states"].append(np.ones(self.size))
        state = np.tanh(self.kept["states"][-1] * v)
        self.kept["states"].append(state)
        return state


def made_by_the_first_trip_beside_a_text(x):
    cell = Cell(2)
    for v in x:
        state = cell(v)
    return np.sum(state) + cell.kept["steps"] * x[0]


ORDER = 1


class Fit:
    def __init__(self, order):
        if order < 0:
            raise ValueError("order is negative")
        self.order, self.a = order, np.zeros(order + 2)

    def update(self, z):
        a = self.a
        if self.order == 0:
            a[0] += z
        else:
            a[1] += z**2


def order_that_the_module_says(x):
    fit = Fit(ORDER)
    for z in x:
        fit.update(z)
    return np.sum(fit.a**2)


X = np.array([0.4, 0.7, 0.9])
PROGRAMS = [
    *((f, (X,)) for f in (
        slots, slots_copied, super_of_two_bases, super_of_several_objects, super_of_a_class_method,
        super_that_is_told_where, super_that_hands_on, unpacked, item_deleted_by_a_method, rounded_by_methods,
        unpacked_by_positions, property_deleted, made_by_a_metaclass, list_of_its_own_class, class_changed,
        object_given_for_an_array, negated_by_name_and_changed, shallow_copy_and_changed, item_at_an_object,
        functions_made_by_recursion, suppressed_by_a_manager, rolled_back, rolled_back_if_it_raises,
        restored_after_it_raised, function_named_like_data, set_on_a_class, filled_by_a_method_with_a_name,
        item_set_by_a_method_with_a_name, lambdas_tried, method_with_a_name_tried,
        asked_whether_it_is_true, text_of_an_object, made_by_the_first_trip_beside_a_text, order_that_the_module_says,
    )),
]  # fmt: skip
REFUSED = {
    "suppressed_by_a_manager", "rolled_back", "set_on_a_class",
    "lambdas_tried", "method_with_a_name_tried",
    "unpacked_by_positions", "property_deleted", "made_by_a_metaclass", "list_of_its_own_class", "class_changed",
    "object_given_for_an_array", "negated_by_name_and_changed",
}  # fmt: skip
