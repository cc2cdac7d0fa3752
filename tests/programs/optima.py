"""Roots and minima of functions, in what the functions use."""

import numpy as np
import scipy.optimize as so
from scipy.optimize import brentq, fsolve, root


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


ONE = (root_of_a_lambda, root_with_arguments, by_bisection, by_newton, root_in_a_bracket, minimum_of_one)
SEVERAL = (root_of_a_system, root_of_a_system_with_arguments)
PROGRAMS = [(f, (1.7,)) for f in (*ONE, root_that_stands_still)]
PROGRAMS += [(f, (np.array([2.3, 1.9]),)) for f in SEVERAL]
