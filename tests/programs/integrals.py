"""Integrals of functions, in their ends and in what the function uses, and of samples."""

import numpy as np
from scipy import integrate
from scipy.integrate import quad


def integrand(t, a, b):
    return np.exp(-a * t) * np.sin(b * t)


def bell(a):
    return quad(lambda t: np.exp(-a * t * t), 0, 1)[0]


def ends(a, b):
    return quad(lambda t: t**2, a, b)[0]


def with_arguments(a, b):
    return quad(integrand, 0, 2, args=(a, b))[0]


def to_infinity(a):
    return quad(lambda t: np.exp(-a * t), 0, np.inf)[0]


def over_the_line(a):
    return quad(lambda t: np.exp(-a * t * t), -np.inf, np.inf)[0]


def with_its_error(a):
    v, err = quad(lambda t: np.sqrt(t) * a, 0, 1)
    return v**2


def of_samples(y, x):
    return np.sum(integrate.cumulative_trapezoid(y, x, initial=0) ** 2) + integrate.trapezoid(y, x)


def of_a_constant(a):
    return a * quad(lambda t: t * t, 0, 1)[0]


def of_a_singularity(a):
    return quad(lambda t: 1e9 * a / np.sqrt(t), 0, 1)[0] * 1e-9


def of_an_oscillation(a):
    return quad(lambda t: np.cos(5 * a * t), 0, 10)[0]


PROGRAMS = [
    (bell, (0.7,)),
    (ends, (0.3, 1.2)),
    (with_arguments, (0.7, 1.3)),
    (to_infinity, (0.7,)),
    (over_the_line, (0.7,)),
    (with_its_error, (0.7,)),
    (of_samples, (np.array([1.0, 0.4, 2.0]), np.array([0.0, 0.3, 1.0]))),
    (of_a_constant, (0.7,)),
    (of_a_singularity, (0.7,)),
    (of_an_oscillation, (0.7,)),
]
