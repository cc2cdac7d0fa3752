"""Names that stand for integers first and for numbers that move then, or for real numbers and then for complex ones:
what is changed in place has one shadow, in which the adjoints of both are kept."""

import functools

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


def arrays_in_a_tuple(x):
    t = (np.array([1, 1, 1]), np.array([0, 0, 0]))
    for _ in range(2):
        t = (t[0] * x, t[1] + t[0])
    return np.sum(t[0] * t[1])


def arrays_in_a_list(x):
    t = [np.array([1, 1, 1]), np.array([0, 0, 0])]
    for _ in range(2):
        t = [t[0] * x, t[1] + t[0]]
    return np.sum(t[0] * t[1])


def arrays_in_a_dict(x):
    t = {"a": np.array([1, 1, 1]), "b": np.array([0, 0, 0])}
    for _ in range(2):
        t["a"] = t["a"] * x
        t["b"] = t["b"] + t["a"]
        t["b"][0] += 1
    return np.sum(t["a"] * t["b"])


class Counters:
    def __init__(self):
        self.pair = (0, 1)
        self.counts = np.array([1, 0, 0])

    def step(self, x, k):
        self.pair = (self.pair[1], self.pair[0] + self.pair[1] * x[k])
        self.counts = self.counts * x
        self.counts[1] += x[k]


def attributes(x):
    counters = Counters()
    for k in range(3):
        counters.step(x, k)
    return counters.pair[0] * counters.pair[1] + np.sum(counters.counts)


def folded_from_integers(x):
    a, b = functools.reduce(lambda pair, v: (pair[1], pair[0] + pair[1] * v), x, (0, 1))
    return a * b


def history_from_integers(x):
    history = [np.array([1, 0, 0])]
    for k in range(3):
        s = history[-1] * x
        s[k] += 1
        history.append(s)
    history[1][0] += x[0]
    return np.sum(np.array(history) ** 2)


def appended_to_integers(x):
    history = [np.array([1, 1, 1])]
    for _ in range(2):
        history.append(history[-1] * x)
    return np.sum(history[-1])


def filled_from_integers(x):
    history, by_number = [np.array([1, 1, 1]), None, None], {0: np.array([True, False, True])}
    for k in range(2):
        history[k + 1] = history[k] * x
        by_number[k + 1] = by_number[k] * x
    return np.sum(history[2] * by_number[2])


def added_to_zeros_of_integers(x):
    h = np.zeros(3, int)
    for _ in range(3):
        h = h + x
        h[0] = h[0] * x[1]
    return np.sum(h)


def complex_beside_a_constant(x):
    a, b, d = np.zeros(3), np.zeros(3), np.array([0.3, -0.5, 0.7])
    for k in range(2):
        a = a + x * 1j
        a[k] *= x[2]
        b = b + 1j * d
        b[k] = x[2] * b[k] + a[k] * d[2]
    return np.sum(np.real(np.conj(a) * b)) + np.sum(np.abs(a) ** 2)


def items_of_integers(x):
    rows = [np.zeros(2, int) for _ in range(2)]
    by_number = {i: np.zeros(2, int) for i in range(2)}
    for i in range(2):
        rows[i] = rows[i] + x[:2]
        rows[i][0] *= 3.0
        by_number[i] = by_number[i] + x[1:]
        by_number[i][0] *= x[0]
    return np.sum(rows[1] ** 2) + np.sum(by_number[1] * by_number[0])


def items_that_turn_complex(x):
    d, rows, U = {"p": np.array([1.0, 0, 0])}, [np.ones(3), np.zeros(3)], np.eye(3) - 0.1j * np.outer(x, x)
    for k in range(2):
        d["p"] = U @ d["p"]
        d["p"][0] *= x[1]
        rows[k] = rows[k] + x * 1j
        rows[k][0] = x[1] ** 2
    return np.sum(np.abs(d["p"]) ** 2) + np.sum(np.abs(rows[1]) ** 2)


def swapped_with_integers(x):
    a, b = np.array([1, 0, 0]), x * x
    for _ in range(3):
        a, b = b, a * x
        b[0] += 1
    return np.sum(a * b)


def coefficients_of_integers(x):
    q = np.array([1])
    for r in x:
        q = np.convolve(q, [1, -r])
    q[0] = 2
    return np.sum(q**2)


def propagated(x):
    psi = np.zeros(3)
    psi[0] = 1.0
    pair = (np.ones(3), x)
    for _ in range(2):
        psi = psi * np.exp(1j * x)
        pair = (pair[0] * 1j * x, pair[1] * x)
    return np.sum(np.abs(psi + x) ** 2) + np.sum(np.abs(pair[0] + pair[1]) ** 2)


def branch_by_its_dtype(x):
    z = x * 1j if x[0] > 0 else x
    return x[0] ** 2 if z.dtype.kind == "c" else x[1] ** 2


def cut_off_on_one_path(x):
    a = np.zeros(3, int)
    if x[0] > 0:
        a = a + x
    a[1] = 2.7 * x[1]
    return a[1] * x[2]


def like_what_may_be_integers(x):
    a = np.arange(3)
    if x[0] > 0:
        a = a * x
    b = np.zeros_like(a)
    b[0] = x[1] * 9
    return np.sum(b * x)


REFUSED = {"cut_off_on_one_path", "like_what_may_be_integers"}
OF_ONE = [
    integers_in_a_branch, truths_in_the_first_trip, integers_in_a_tuple, truths_subtracted, arrays_in_a_tuple,
    arrays_in_a_list, arrays_in_a_dict, attributes, folded_from_integers, history_from_integers, appended_to_integers,
    filled_from_integers, added_to_zeros_of_integers, complex_beside_a_constant, items_of_integers, items_that_turn_complex, swapped_with_integers, coefficients_of_integers, propagated,
]  # fmt: skip
PROGRAMS = [
    (integers_in_the_first_trip, (np.eye(3) + 0.1, X)),
    (integers_in_a_branch, (-X,)),
    (integers_that_are_given, (np.array([1, 2, 0]), X)),
    (real_in_the_first_trip, (X, REAL, IMAGINARY)),
    (views_in_the_first_trip, (X, REAL, IMAGINARY)),
    (real_beside_complex, (X, REAL, IMAGINARY)),
    (real_beside_complex_in_lists, (X, REAL, IMAGINARY)),
    *((f, (X,)) for f in OF_ONE),
    (branch_by_its_dtype, (X,)),
    (branch_by_its_dtype, (-X,)),
    (cut_off_on_one_path, (-X,)),
    (like_what_may_be_integers, (-X,)),
]
