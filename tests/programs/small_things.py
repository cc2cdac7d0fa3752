"""Small things that people write: sums of objects, tests of lists, flags among numbers, recursion that grows a list."""

import numpy as np


class Vec:
    def __init__(self, x):
        self.x = x

    def __add__(self, o):
        return Vec(self.x + o.x)

    def __radd__(self, o):
        return self if o == 0 else self + o

    def __lt__(self, o):
        return self.x < o.x


def sum_of_objects(x):
    return sum([Vec(x[0]), Vec(x[1] * x[0])]).x


def sum_of_listed_objects(x):
    vs = [Vec(r) for r in x]
    tot = sum(vs)
    return tot.x**2


def sum_of_generated_objects(x):
    return sum(Vec(v * v) for v in x).x


def sum_from_an_object(x):
    return sum((Vec(v * v) for v in x), Vec(0.0)).x


def greatest_of_two_objects(x):
    return max(Vec(x[0]), Vec(x[1])).x * min(Vec(x[0]), Vec(x[2])).x


def greatest_of_listed_objects(x):
    return max([Vec(v) for v in x]).x ** 2


def constants_compared(x):
    k = 0
    return x[0] if k == 0 else x[5]


def asked_whether_a_list_holds_anything(x):
    out = []
    for v in x:
        if v < 0 and out:
            out.pop()
        out.append(v * 2)
    return sum(out)


def last_item_if_there_is_one(x):
    out = []
    for v in x:
        if out and out[-1] > v:
            out.append(v * out[-1])
        else:
            out.append(v)
    return sum(out)


def while_there_is_one(x):
    out, k = [x[0]], 0
    while out and k < 3:
        v = out.pop()
        if not (out or k > 1):
            out.append(v * x[k])
        k += 1
    return v


def dict_or_number_asked(x):
    d = {}
    for k in range(3):
        if d or k > 1:
            d["a"] = d["a"] * x[k] if "a" in d else x[k]
        else:
            d["a"] = x[k]
    return d["a"]


def names_by_default(x, names=None):
    names = names or ["a", "b"]
    return x[0] * len(names)


def rows_that_may_be_empty(x):
    s = 0.0
    for row in [[x[0]], [], [x[1], x[2]]]:
        s += row[0] if row and row[0] > 0 else 1.0
    return s


def list_grown_by_recursion(x):
    def rec(cur, n):
        if n == 0:
            return cur[0]
        return rec(cur + [x[n]], n - 1)

    return rec([], 3)


def permutations_by_recursion(x):
    def rec(cur, rest):
        if not rest:
            return cur[0] * cur[1] ** 2
        s = 0.0
        for i in range(len(rest)):
            s = s + rec(cur + [rest[i]], rest[:i] + rest[i + 1 :])
        return s

    return rec([], [x[0], x[1], x[2]])


def subsets_by_recursion(x):
    def rec(i, acc):
        if i == len(x):
            return np.sum(np.array(acc)) if acc else 0.0
        return rec(i + 1, acc) + rec(i + 1, acc + [x[i]])

    return rec(0, [])


def flag_in_an_array(k):
    return np.sum(np.array([k[0], True]) * 2 * k[1])


def flag_given_in_an_array(x, flag):
    return np.sum(np.array([x[0], flag, x[1]]) ** 2)


def flag_given_in_a_tuple(x, flag):
    return np.sum(np.array((x[0], flag, x[1])) ** 2)


def flag_given_in_rows(x, flag):
    return np.sum(np.array([[x[0], flag], [x[1], 2]]) ** 2)


def name_of_a_function_inside(x):
    def scaled(t):
        return t * x[1]

    made = {g.__name__: g(x[0]) for g in (scaled, np.sin)}
    return made["scaled"] * made["sin"]


def function_of_one_version(x):
    integrate = np.trapezoid if hasattr(np, "trapezoid") else np.trapz
    return integrate(x) ** 2


X = np.array([2.0, -3.0, 0.5])
PROGRAMS = [(f, (X,)) for f in (
    sum_of_objects, sum_of_listed_objects, sum_of_generated_objects, sum_from_an_object, greatest_of_two_objects, greatest_of_listed_objects, constants_compared, asked_whether_a_list_holds_anything, last_item_if_there_is_one, while_there_is_one, dict_or_number_asked, names_by_default, rows_that_may_be_empty, flag_in_an_array, name_of_a_function_inside, function_of_one_version,
)] + [(f, (np.array([1.2, -0.4, 0.7, 2.1]),)) for f in (list_grown_by_recursion, permutations_by_recursion, subsets_by_recursion)] + [
    (f, (X, True)) for f in (flag_given_in_an_array, flag_given_in_a_tuple, flag_given_in_rows)
]  # fmt: skip


def row_or_number(x):
    zs = [np.array([x[0]]), np.array([x[1]])]
    z = zs[0]
    if not (np.isscalar(z) or (z.ndim == 1 and len(z) == 1)):
        raise TypeError("zs")
    return np.sum(z)


def tests_in_tests(x):
    s = 0.0
    for v in x:
        if v > 1 or (v < 0 and s > 1):
            s += v * v
        elif not (v > 0.6 and (s < 1 or v < 0.65)):
            s += v**3
        else:
            s -= v
    return s


def while_one_or_others(x):
    k, s = 0, 1.0
    out = []
    while (k < 3 and (s > 0 or out)) or k == 0:
        s = s * x[k] if not (out and (s < 0 or k > 1)) else s + x[k]
        out.append(s)
        k += 1
    return s


def chosen_by_several_tests(x):
    return x[0] if (x[1] > 0 and x[2] > 0) or (x[1] < 0 and not (x[2] < 0 or x[0] < 0)) else x[2] ** 2


def asserted_one_or_both(x):
    assert x[0] > 1 or (x[1] > 0 and x[2] > 0)
    return sum(v * v for v in x if v > 1 or (v < 0.8 and v > 0))


PROGRAMS += [(f, (np.array([1.2, -0.4, 0.7]),)) for f in (
    row_or_number, tests_in_tests, while_one_or_others, chosen_by_several_tests, asserted_one_or_both,
)]  # fmt: skip
