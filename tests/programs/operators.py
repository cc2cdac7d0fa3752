"""Operators of the user's classes: which operand is asked first, in loops, branches and sums."""

import functools
import operator

import numpy as np


class Number:
    def __init__(self, x):
        self.x = x

    def __add__(self, other):
        return Number(self.x + other.x)

    def __radd__(self, other):
        return self


def added_in_a_loop(x):
    t = Number(x)
    for _ in range(2):
        t = t + Number(x * x)
    return t.x


def added_in_a_branch(x):
    t = Number(x)
    if x > 0:
        t = t + Number(x * x)
    return t.x


def added_while_small(x):
    t = Number(x)
    while t.x < 3:
        t = t + Number(x * x)
    return t.x


def summed_from_an_object(x):
    return sum([Number(x), Number(x * x)], Number(0.0)).x


class Matrix:
    def __init__(self, m):
        self.m = m

    def __mul__(self, other):
        return Matrix(self.m @ other.m) if isinstance(other, Matrix) else Matrix(self.m * other)

    __rmul__ = __mul__


def product_of_matrices(x):
    t = Matrix(np.array([[x, 1.0], [0.0, 2.0]]))
    for _ in range(2):
        t = t * Matrix(np.array([[1.0, x], [x * x, 1.0]]))
        t = 0.5 * t
    return t.m[0, 1]


class Base:
    def __init__(self, x):
        self.x = x

    def __add__(self, other):
        return Base(self.x + 2 * other.x)

    def __sub__(self, other):
        return Base(self.x - other.x)

    def __rsub__(self, other):
        return Base(7 * self.x)


class Derived(Base):
    def __radd__(self, other):
        return Derived(self.x * 5)


def derived_is_asked_first(x):
    return (Base(x) + Derived(x * x)).x + (Derived(x) + Base(x * x)).x


def derived_that_inherits(x):
    return (Base(x) - Derived(x * x)).x  # asked first only if the method is its own


class InPlace:
    def __init__(self, x):
        self.x = x

    def __iadd__(self, other):
        self.x = self.x * other.x
        return self

    def __radd__(self, other):
        return InPlace(0.0)


def changed_by_itself(x):
    t = InPlace(x)
    for k in range(3):
        t += InPlace(x + k)
    return t.x


class Quantity:
    def __init__(self, x):
        self.x = x

    def __mul__(self, other):
        return Quantity(self.x * (other.x if isinstance(other, Quantity) else other))

    def __rmul__(self, other):
        return Quantity(self.x * other * 3)

    def __sub__(self, other):
        return Quantity(self.x - (other.x if isinstance(other, Quantity) else other))

    def __rsub__(self, other):
        return Quantity(other - self.x)

    def __rtruediv__(self, other):
        return Quantity(other / self.x)

    def __neg__(self):
        return Quantity(-self.x)

    def __pow__(self, n):
        return Quantity(self.x**n)


def numbers_on_the_left(x):
    c, t = x, Quantity(x)
    for k in range(3):
        t = c * t - k * t
        c = c * 1.5
    for _ in range(3):
        t = 1.0 / t - t**2
        t = 2 - (-t)
    return t.x


def array_on_the_left_of_a_loop(x):
    a = x * 2
    y = Quantity(x)
    for _ in range(2):
        a = a + 1
        y = a * y
    return y.x


def summed_from_nothing(x):
    return sum([Number(x), Number(x * x), Number(np.sin(x))]).x ** 2


def added_by_a_function(x):
    return operator.add(Number(x), Number(x * x)).x * operator.neg(Quantity(x)).x


def reduced_by_an_operator(x):
    return functools.reduce(operator.add, [Number(x), Number(x * x), Number(x)]).x ** 2


class Divided:
    """Its quotient and remainder are other ones than those of its operators."""

    def __init__(self, x):
        self.x = x

    def __divmod__(self, other):
        return self.x * 7.0, self.x * other

    def __rdivmod__(self, other):
        return self.x * 9.0, self.x**2 + other

    def __floordiv__(self, other):
        return self.x * 3

    def __mod__(self, other):
        return self.x * 5


def quotients_of_objects(x):
    total = 0.0
    for v in [Divided(x), Divided(3 * x)]:
        q, r = divmod(v, 2.0)
        total += q * r
    q, r = divmod(3.0, Divided(x))
    return total + q * r


def quotients_of_numbers(x):
    total, A = 0.0, np.outer([x, 1.0], [x * x, x])
    for k in range(4):
        i, j = divmod(k, 2)
        total += A[i, j] * (i + 1)
    q, r = divmod(5 * x, 2.0)
    return total * q + r**2


PROGRAMS = [
    (f, (0.7,))
    for f in (
        added_in_a_loop,
        added_in_a_branch,
        added_while_small,
        summed_from_an_object,
        product_of_matrices,
        derived_is_asked_first,
        derived_that_inherits,
        changed_by_itself,
        numbers_on_the_left,
        array_on_the_left_of_a_loop,
        summed_from_nothing,
        added_by_a_function,
        reduced_by_an_operator,
        quotients_of_objects,
        quotients_of_numbers,
    )
]
