"""Names that stand for integers first and for numbers that move then, or for real numbers and then for complex ones:
what is changed in place has one shadow, in which the adjoints of both are kept."""

import numpy as np

X = np.array([0.3, 0.34, 0.62])
REAL, IMAGINARY = np.array([-1.1, -0.8, 1.05]), np.array([-0.6, -1.4, 1.3])


def integers_in_the_first_trip(M, x):
    s = np.array([1, 0, 0])
    for k in range(3):
        s = M @ s
        s[0] += x[k]
    return np.sum(s**2)


def integers_in_a_branch(x):
    t = np.array([1, 0, 0])
    if x[0] > 0:
        t = t * x
        t[1] = x[0]
    else:
        t[2] = 4
    return np.sum(t * x)


def truths_in_the_first_trip(x):
    t = np.array([True, False, True])
    for k in range(3):
        t = t * x
        t[0] += x[k]
    return np.sum(t**2)


def integers_in_a_tuple(x):
    t = (0, 1)
    for i in range(3):
        t = (t[1], t[0] + t[1] * x[i])
    return t[0] * t[1]


def integers_that_are_given(s, x):
    for k in range(2):
        s = s * x
        s[0] += x[k]
    return np.sum(s**2)


def real_in_the_first_trip(x, a, b):
    z = a + 1j * b
    t = np.zeros(3)
    t[:] = x
    for _ in range(2):
        t = t * z
        t[0] += x[1]
    return np.sum(np.abs(t) ** 3)


def views_in_the_first_trip(x, a, b):
    z = a + 1j * b
    whole = np.concatenate([x, x])
    t = whole[1:4]
    t[0] = x[2]
    for _ in range(2):
        t = t * z
        t[0] += x[1]
    return np.sum(np.abs(t) ** 3) + np.sum(whole**2)


def real_beside_complex(x, a, b):
    z = a + 1j * b
    t = x.copy()
    t[0] = 2.0 * x[1]
    joined = np.concatenate([t, z])
    stacked = np.array([t, z]) * (1 + 1j)
    return np.sum(np.abs(joined) ** 3) + np.sum(np.abs(stacked) ** 3) + np.sum(np.abs(sum([t, z])) ** 3)


def real_beside_complex_in_lists(x, a, b):
    z = a + 1j * b
    rows = [[x.copy(), x * 2]]
    rows[0][1] += x
    rows[0].append(z)
    more = []
    for k in range(2):
        t = x * k
        t[0] = x[1]
        more.append(t)
    more.append(z)
    return np.sum(np.abs(np.array(rows[0]) * (1 + 1j)) ** 3) + np.sum(np.abs(np.array(more) * z) ** 3)


def truths_subtracted(x):
    t = x.copy()
    np.subtract.at(t, [0, 0, 1], x > 0.32)
    return np.sum(t**2)


PROGRAMS = [
    (integers_in_the_first_trip, (np.eye(3) + 0.1, X)),
    (integers_in_a_branch, (X,)),
    (integers_in_a_branch, (-X,)),
    (truths_in_the_first_trip, (X,)),
    (integers_in_a_tuple, (X,)),
    (integers_that_are_given, (np.array([1, 2, 0]), X)),
    (real_in_the_first_trip, (X, REAL, IMAGINARY)),
    (views_in_the_first_trip, (X, REAL, IMAGINARY)),
    (real_beside_complex, (X, REAL, IMAGINARY)),
    (real_beside_complex_in_lists, (X, REAL, IMAGINARY)),
    (truths_subtracted, (X,)),
]
