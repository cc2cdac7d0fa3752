"""The elementary functions of NumPy and `math`.  Formulas: Abramowitz and Stegun, chapter 4."""

import builtins
import cmath
import math

import numpy as np

from tangentc.ops.table import existing
from tangentc.rules.fragment import is_real
from tangentc.rules.registry import adjoint_rule, elementwise, tangent_rule, zero_gradient


@elementwise(np.exp, math.exp, cmath.exp)
def exp(x, y):
    return y


@elementwise(np.exp2, *([math.exp2] if hasattr(math, "exp2") else []))
def exp2(x, y):
    return math.log(2) * y


@elementwise(np.expm1, math.expm1)
def expm1(x, y):
    return y + 1


@elementwise(np.log, cmath.log, domain=(0.5, 2), singular=True)
def log(x, y):
    return 1 / x


@elementwise(math.log, domain=(0.5, 2), singular=True)
def math_log(x, y, base=math.e):
    if base == math.e:
        return 1 / x
    return 1 / (x * math.log(base))


@elementwise(np.log2, math.log2, domain=(0.5, 2), singular=True)
def log2(x, y):
    return 1 / (math.log(2) * x)


@elementwise(np.log10, math.log10, cmath.log10, domain=(0.5, 2), singular=True)
def log10(x, y):
    return 1 / (math.log(10) * x)


@elementwise(np.log1p, math.log1p, domain=(-0.5, 1), singular=True)
def log1p(x, y):
    return 1 / (1 + x)


@elementwise(np.sqrt, math.sqrt, cmath.sqrt, domain=(0.5, 2), singular=True)
def sqrt(x, y):
    return 0.5 / y


@elementwise(np.cbrt, *([math.cbrt] if hasattr(math, "cbrt") else []), domain=(0.5, 2), singular=True)
def cbrt(x, y):
    return 1 / (3 * y**2)


@elementwise(np.sin, math.sin, cmath.sin)
def sin(x, y):
    return np.cos(x)


@elementwise(np.cos, math.cos, cmath.cos)
def cos(x, y):
    return -np.sin(x)


@elementwise(np.tan, math.tan, cmath.tan, domain=(-1, 1))
def tan(x, y):
    return 1 + y**2


@elementwise(np.arcsin, math.asin, cmath.asin, domain=(-0.7, 0.7), singular=True)
def arcsin(x, y):
    return 1 / np.sqrt(1 - x**2)


@elementwise(np.arccos, math.acos, cmath.acos, domain=(-0.7, 0.7), singular=True)
def arccos(x, y):
    return -1 / np.sqrt(1 - x**2)


@elementwise(np.arctan, math.atan, cmath.atan)
def arctan(x, y):
    return 1 / (1 + x**2)


@elementwise(np.sinh, math.sinh, cmath.sinh)
def sinh(x, y):
    return np.cosh(x)


@elementwise(np.cosh, math.cosh, cmath.cosh)
def cosh(x, y):
    return np.sinh(x)


@elementwise(np.tanh, math.tanh, cmath.tanh)
def tanh(x, y):
    return 1 - y**2


@elementwise(np.arcsinh, math.asinh, cmath.asinh)
def arcsinh(x, y):
    return 1 / np.sqrt(1 + x**2)


@elementwise(np.arccosh, math.acosh, cmath.acosh, domain=(1.5, 3), singular=True)
def arccosh(x, y):
    if is_real(x):
        return 1 / np.sqrt(x**2 - 1)
    return 1 / (np.sqrt(x - 1) * np.sqrt(x + 1))  # on the branch of the function itself


@elementwise(np.arctanh, math.atanh, cmath.atanh, domain=(-0.7, 0.7), singular=True)
def arctanh(x, y):
    return 1 / (1 - x**2)


@elementwise(np.arctan2, math.atan2, domain=(0.5, 2), singular=True, real=True)
def arctan2(x, y, z):  # z is the angle of the point (y, x)
    r = np.hypot(x, y)  # x**2 + y**2 may be beyond all numbers
    return y / r / r, -x / r / r


@elementwise(np.hypot, math.hypot, domain=(0.5, 2), singular=True, real=True)
def hypot(x, y, z):
    return x / z, y / z


@elementwise(np.logaddexp, real=True)
def logaddexp(x, y, z):  # z = log(exp(x) + exp(y))
    return np.exp(x - z), np.exp(y - z)


@elementwise(np.logaddexp2, real=True)
def logaddexp2(x, y, z):
    return np.exp2(x - z), np.exp2(y - z)


@elementwise(np.deg2rad, np.radians, math.radians)
def deg2rad(x, y):
    return math.pi / 180


@elementwise(np.rad2deg, np.degrees, math.degrees)
def rad2deg(x, y):
    return 180 / math.pi


@elementwise(np.fabs, math.fabs, domain=(0.2, 2), real=True)
def fabs(x, y):
    return np.sign(x)


@elementwise(np.copysign, math.copysign, domain=((0.2, 2), (-2, -0.2)), real=True)
def copysign(x, y, z):
    return np.where(np.signbit(x) == np.signbit(y), 1, -1), None


@elementwise(np.heaviside, real=True)
def heaviside(x, at_zero, y):
    return None, np.where(x == 0, 1, 0)


@elementwise(np.nan_to_num, real=True)
def nan_to_num(x, y, nan=0.0, posinf=None, neginf=None):
    return np.where(np.isfinite(x), 1, 0)


@elementwise(np.sinc)
def sinc(x, y):  # y = sin(u) / u with u = pi x, and near 0 its series
    near_zero = np.abs(math.pi * x) < 0.1
    u = math.pi * np.where(near_zero, x, 0)
    series = -math.pi * u * (1 / 3 - u**2 * (1 / 30 - u**2 * (1 / 840 - u**2 / 45360)))
    return np.where(near_zero, series, (np.cos(math.pi * x) - y) / np.where(near_zero, 1, x))


@elementwise(math.erf)
def erf(x, y):  # DLMF 7.2.1
    return 2 / math.sqrt(math.pi) * np.exp(-(x**2))


@elementwise(math.erfc)
def erfc(x, y):
    return -2 / math.sqrt(math.pi) * np.exp(-(x**2))


def away_from_zero(rng):
    x = rng.uniform(0.2, 2, (3, 2)) * rng.choice([-1, 1], (3, 2))
    return [((x,), {}), ((1.3,), {})]


@adjoint_rule(np.absolute, builtins.abs, samples=away_from_zero)
def absolute(x, y, y_bar):  # |x|, and for complex x the conjugate of its direction
    if is_real(x):
        return y_bar * np.sign(x)
    return y_bar * np.conj(x) / np.where(y == 0, 1, y)


@tangent_rule(np.absolute, builtins.abs)
def absolute_tangent(x, y, x_dot):
    if is_real(x):
        return np.sign(x) * x_dot
    return np.real(np.conj(x) * x_dot) / np.where(y == 0, 1, y)


def any_numbers(rng):
    return [((rng.normal(size=(3, 2)),), {}), ((rng.normal(size=4) + 1j * rng.normal(size=4),), {})]


@adjoint_rule(np.real, linear="jointly", samples=any_numbers)
def real(x, y, y_bar):
    return y_bar


@adjoint_rule(np.imag, linear="jointly", samples=any_numbers)
def imag(x, y, y_bar):
    if is_real(x):
        return 0 * y_bar
    return -1j * y_bar


@adjoint_rule(np.angle, samples=any_numbers)
def angle(x, y, y_bar, deg=False):
    if is_real(x):
        return 0 * y_bar
    return -1j * (180 / math.pi if deg else 1) * y_bar / x


@tangent_rule(np.angle)
def angle_tangent(x, y, x_dot, deg=False):
    if is_real(x):
        return 0 * x_dot
    return (180 / math.pi if deg else 1) * np.imag(x_dot / x)


@adjoint_rule(np.conjugate, linear="jointly", samples=any_numbers)
def conjugate(x, y, y_bar):
    return np.conj(y_bar)


zero_gradient(
    *existing("floor", "ceil", "trunc", "rint", "round", "around", "fix", "sign", "signbit", "isnan", "isinf"),
    *existing("isneginf", "isposinf", "isscalar", "array_equiv", "isin", "iscomplex", "isreal"),
    *existing("isfinite", "isclose", "allclose", "array_equal", "iscomplexobj", "isrealobj", "spacing", "floor_divide"),
    *(math.floor, math.ceil, math.trunc, math.isnan, math.isinf, math.isfinite, math.isclose),
    *(builtins.round, builtins.int, builtins.bool, builtins.str, builtins.repr, builtins.isinstance, builtins.type),
    *(builtins.len, builtins.range, builtins.print, builtins.all, builtins.any, builtins.callable),
)
