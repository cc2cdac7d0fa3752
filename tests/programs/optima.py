"""Roots and minima of functions, in what the functions use."""

import numpy as np
import scipy.optimize as so
from scipy.integrate import quad
from scipy.optimize import brentq, fsolve, root

import tangentc


def cubic(z, p):
    return z**3 - p * z - 1.0


def system(z, v):
    return np.array([z[0] ** 2 + z[1] - v[0], z[1] ** 3 + z[0] - v[1]])


def root_of_a_lambda(p):
    return brentq(lambda z: z**3 - p * z - 1.0, 0.0, 3.0)


def root_with_arguments(p):
    return brentq(cubic, 0.0, 3.0, args=(p,)) ** 2


def by_bisection(p):
    return so.bisect(lambda z: z**3 - p * z - 1.0, 0.0, 3.0, xtol=1e-13) * p


def by_newton(p):
    return so.newton(lambda z: np.cos(z) - p * z, 1.0)


def root_in_a_bracket(p):
    found = so.root_scalar(lambda z: np.exp(z) - p - 2, bracket=[0, 4])
    return found.root**2 if found.converged else p


def root_of_a_system(v):
    found = root(lambda z: system(z, v), np.array([1.0, 1.0]))
    return np.sum(found.x * v) * found.success


def root_of_a_system_with_arguments(v):
    x = fsolve(system, [1.0, 1.0], args=(v,))
    return x[0] * x[1] ** 2


def minimum_of_one(p):
    return so.minimize_scalar(lambda z: (z - p) ** 2 + z**4).x


def root_that_stands_still(p):
    a = 2.0
    return p * brentq(lambda z: z**2 - a, 0.0, 2.0) + p * brentq(lambda z: z**2 - 2, 0.0, 2.0)


def each_root(v, b):  # one for each start, of a function that works entry by entry
    return np.sum(so.newton(lambda z: z**3 + b * z - v, np.ones(3)) ** 2)


def each_root_of_arrays(v, b):
    start, (v, *args) = np.ones(3), (v, b)
    return np.sum(so.newton(func=lambda z, *a: z**3 + a[0] * z - v, x0=start,
                            fprime=lambda z, *a: 3 * z**2 + a[0], args=args) * v)  # fmt: skip


def any_number_of_arguments(v, b):
    def residual(z, level, *rest):
        return z**3 + rest[0] * z - level

    return brentq(lambda z, *rest: residual(z, v, *rest), 0.0, 3.0, args=(b,)) * b


def options_by_name(v, b):
    def residual(z, *rest, scale=2.0, shift=b):
        return z**3 * scale / 2 + rest[0] * z - v * shift

    return brentq(residual, 0.0, 3.0, args=(b,))


def integrals_of_a_loop(v, b):
    total = 0.0
    for k in range(3):
        total += quad(lambda t, k=k: np.exp(-v * t) * k * b, 0, 1)[0]
    return total


def integral_of_a_default(v, b):
    return quad(lambda t, rate=v: np.exp(-rate * t) * b, 0, 1)[0] + quad(lambda t, *, k=v: t * k, 0, 2)[0]


def power(x, *others):
    return x**3 * others[0]


def derivatives_for_any_number(v, b):
    q = v * 2
    inner = tangentc.grad(lambda x, *a: x**2 * q * a[0])(b, v)
    return inner + tangentc.grad(power)(b, v) * tangentc.grad(tangentc.grad(power))(v, b)


ONE = (root_of_a_lambda, root_with_arguments, by_bisection, by_newton, root_in_a_bracket, minimum_of_one)
SEVERAL = (root_of_a_system, root_of_a_system_with_arguments)
PROGRAMS = [(f, (1.7,)) for f in (*ONE, root_that_stands_still)]
PROGRAMS += [(f, (np.array([2.3, 1.9]),)) for f in SEVERAL]
PROGRAMS += [(f, (1.3, 2.1)) for f in (each_root, any_number_of_arguments, options_by_name, integrals_of_a_loop,
                                       integral_of_a_default, derivatives_for_any_number)]  # fmt: skip
PROGRAMS += [(each_root_of_arrays, (np.array([0.3, 0.4, 0.5]), 2.1))]
