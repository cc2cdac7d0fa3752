"""Arithmetic operators and their NumPy spellings.

Formulas: Griewank and Walther, "Evaluating derivatives" (2008), table 3.3.
"""

import builtins
import math
import operator

import numpy as np

from tangentc.ops.table import existing
from tangentc.rules.fragment import inline, is_integer, is_literal, is_real
from tangentc.rules.registry import elementwise, zero_gradient
from tangentc.runtime import real_power, taken


@elementwise(operator.add, np.add)
def add(x, y, z):  # z = x + y
    return 1, 1


@elementwise(operator.sub, np.subtract)
def subtract(x, y, z):  # z = x - y
    return 1, -1


@elementwise(operator.mul, np.multiply)
def multiply(x, y, z):  # z = x y
    return y, x


@elementwise(operator.truediv, np.true_divide, domain=((-2, 2), (0.5, 2)), singular=True)
def divide(x, y, z):  # z = x / y
    return 1 / y, -z / y


@elementwise(operator.neg, np.negative)
def negative(x, y):  # y = -x
    return -1


@elementwise(operator.pos, np.positive)
def positive(x, y):  # y = +x
    return 1


@inline
def power_of(x, y, z):
    """The derivative of z = x ** y in x, which is 0 for y = 0, also at x = 0."""
    if is_literal(y):
        if y == 0:
            return 0
        if y == -1:
            return -1 / x**2
        if y < 0:  # a quotient costs less than a power, and has its poles
            return y * z / x
        return y * x ** (y - 1)
    if is_integer(y):
        return y * x ** np.where(y == 0, 1, y - 1)
    return y * np.where((x == 0) & (y == 0), 1, x) ** (y - 1)


@inline
def log_of_base(x, y, z):
    """log x, of which z = 0 ** y has no use where y > 0."""
    if is_literal(x):
        if x > 0:
            return math.log(x)
    if is_real(x) and not is_real(z):
        x = x + 0j
    return np.log(np.where((x == 0) & (y > 0), 1, x)) if is_real(y) else np.log(x)


@elementwise(operator.pow, np.power, np.float_power, math.pow, builtins.pow, real_power, domain=(0.5, 2), singular=True)
def power(x, y, z):  # z = x ** y;  dz/dy = z log x, with the limit 0 at x = 0 where y > 0
    return power_of(x, y, z), z * log_of_base(x, y, z)


@elementwise(taken)
def taken_rule(y_bar, partial, x_bar):
    lost = (y_bar == 0) & ~np.isfinite(partial)
    return np.where(lost, 0.0, partial), np.where(lost, 0.0, y_bar)


@elementwise(
    operator.mod, np.mod, np.fmod, math.fmod, math.remainder, domain=((0.1, 0.9), (1, 2)), real=True, singular=True
)
def mod(x, y, z):  # z = x - floor(x / y) y
    return 1, np.round((z - x) / y)


@elementwise(np.reciprocal, domain=(0.5, 2), singular=True)
def reciprocal(x, y):  # y = 1 / x
    return -(y**2)


@elementwise(np.square)
def square(x, y):  # y = x ** 2
    return 2 * x


zero_gradient(
    operator.floordiv,
    np.floor_divide,
    *(operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne),
    *(operator.not_, operator.invert, operator.and_, operator.or_, operator.xor),
    *(operator.is_, operator.is_not, operator.lshift, operator.rshift),
    *existing("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"),
    *existing("logical_and", "logical_or", "logical_not", "logical_xor"),
)
