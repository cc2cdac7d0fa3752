"""Real numbers whose functions are complex, for some values and not for others."""

import math

import numpy as np
from scipy.linalg import logm, sqrtm


def root_of_a_symmetric_matrix(A):
    return np.sum(np.abs(sqrtm(A)) ** 2)


def logarithm_of_a_matrix(A):
    return np.abs(np.sum(logm(A)))


def imaginary_part_of_a_root(A):
    return np.sum(np.imag(sqrtm(A)) * A)


def trace_of_a_logarithm(A):
    return np.real(np.trace(logm(A)))


def cube_root(x):
    return abs(x ** (1 / 3))


def imaginary_part(x):
    return (x**0.5).imag * 2.0


def sum_of_powers(x):
    s = 0.0
    for k in range(3):
        s += abs(x ** (0.5 + k))
    return s


def power_of_two_numbers(x, y):
    return abs(x**y + 1)


def root_in_math(x):
    return math.sqrt(abs(pow(x, 1.5)))


def complex_exponents(x):
    return np.sum(np.abs(np.power(x, 1j * x)))


def logarithm_beyond_the_cut(A):
    return np.sum(np.imag(logm(A)) ** 2)


def conjugate_of_a_root(x):
    return (x**0.5).conjugate().imag


def number_made_of_a_root(x):
    return float(abs(x**0.5)) * x


def roots_of_what_an_array_holds(u):
    parts = abs(u[1].item() ** 0.5) + abs(u.item(1) ** 0.5) * u[0] + abs(u.reshape(2, 2).item(0, 1) ** 1.5)
    return parts + abs(math.sin(u[1]) ** 0.5) + abs((-math.exp(u[0])) ** 0.5) + abs(math.fsum(u[1:2]) ** 0.5)


def roots_of_a_list(u):
    a, b, *_ = u.tolist()
    return sum(abs(v**0.5) for v in u.tolist()) * abs(b**0.5) * a + abs(min(u.tolist()) ** 0.5)


def root_stored_beside_others(u):
    kept = np.zeros(4)
    kept[0] = abs(float(u[1]) ** 0.5)
    return np.sum(kept**2) + abs(np.sum(u).item() ** 0.5)


def root_of_what_is_picked(u):
    v = u[u > -5]
    return abs(v[1].item() ** 0.5)


REFUSED = {"logarithm_beyond_the_cut"}
U = np.array([0.35, -1.2, 0.8, 1.6])
A = np.array([[-1.2, 0.3, 0.1], [0.3, 0.8, -0.4], [0.1, -0.4, 1.5]])
P = A @ A + np.eye(3)
PROGRAMS = [
    (root_of_a_symmetric_matrix, (A,)),
    (root_of_a_symmetric_matrix, (P,)),
    (imaginary_part_of_a_root, (A,)),
    (imaginary_part_of_a_root, (P,)),
    (logarithm_of_a_matrix, (P,)),
    (trace_of_a_logarithm, (P,)),
    (logarithm_beyond_the_cut, (A,)),
    (conjugate_of_a_root, (-4.3,)),
    (number_made_of_a_root, (-4.3,)),
    (number_made_of_a_root, (4.3,)),
    (cube_root, (-8.0,)),
    (cube_root, (8.0,)),
    (imaginary_part, (-4.0,)),
    (sum_of_powers, (-2.0,)),
    (sum_of_powers, (2.0,)),
    (power_of_two_numbers, (-2.0, 1.3)),
    (power_of_two_numbers, (2.0, 1.3)),
    (root_in_math, (-2.0,)),
    (roots_of_what_an_array_holds, (U,)),
    (roots_of_a_list, (U,)),
    (root_stored_beside_others, (U,)),
    (root_of_what_is_picked, (U,)),
    (complex_exponents, (np.array([-0.5, -1.2, 0.7]),)),
]
