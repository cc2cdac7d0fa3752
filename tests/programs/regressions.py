"""Programs that were once differentiated wrongly, or not at all; each is as small as it could be made."""

import dataclasses
import math
import types
from typing import NamedTuple

import numpy as np


class Pair(NamedTuple):
    a: float
    b: float


def carried_name_after_the_loop(u):
    """The value of u after the loop is not that of u in the loop."""
    for _ in range(2):
        u = np.where(np.sin(u) - u > 0, np.sin(u) - u, u * 0.5)
    return np.sum(np.sin(u))


def item_of_a_sum(a):
    """The adjoint of c is stored into after it was made by a product."""
    c = a * 2.0
    return np.sum(np.sin(c - c[0]))


def pair_of_numbers(q):
    p = Pair(q * 2, q * q)
    return p.a * p.b


def long_list(values):
    return values[0] * values[-1] + np.sum(np.array(values) ** 2)


def minimum_then_store(a, s):
    if s > 0:
        a[0] = s * np.min(a * 2.0)
    return np.sum(a)


def masked_by_itself(a, t):
    a[a < 0.4] *= t
    a[a > 2.5] = 0.0
    return np.sum(a * a)


def masked_in_a_loop(x):
    for _ in range(2):
        x[x < 0.55] *= 2.0
    return np.sum(x * x)


def product_between_stores(c, u, v):
    v = v.copy()
    v[0] *= c
    u = np.tanh(v[-1]) * (u * v)
    v[2] *= c
    return np.sum(u * v)


def same_store_twice(c, v):
    v = v.copy()
    v[1:] -= v[:-1] * np.sin(c)
    v[1:] -= v[:-1] * np.sin(c)
    return np.sum(v)


def added_at(x, i):
    y = np.zeros(3)
    np.add.at(y, i, x)
    return np.sum(y * y)


def backwards(x):
    s = 1.0
    for i in reversed(range(len(x))):
        s = s * x[i] + i
    return s


def nested_returns(x):
    if x > 0:
        if x > 1:
            return x
        y = 2 * x
    else:
        y = 3 * x
    return y * y


def shadow_in_one_branch(c, u, v):
    if np.sin(c) > 0.9:
        for _ in range(2):
            u = u * np.where(v > 0, v, u * 0.5)
    elif c > 0.1:
        v = c * np.where(u > 0, u, v * 0.5)
    return np.sum(u * v)


def condition_inside_a_while(a, v):
    k = 0
    while k < 3 and (v[-1] if v[0] > 0.1 else v[0]) < 2:
        k += 1
        a = a * v[1]
    return a


def loop_left_inside_a_branch(c, u, v):
    """What leaves a loop that stands in a branch is gathered there too."""
    if c > -0.7:
        for k in range(4):
            if np.sin(c * k) > 0.5:
                continue
            u = np.sin(np.sin(u) - u) - v
            if np.sum(u) > 3:
                break
            u = u * c
    else:
        c += v[2]
    return c + np.sum(u * v)


def two_breaks(b, u, v):
    """The second break stands in what the first one does not leave."""
    for _ in range(3):
        if u[0] > 0.8:
            break
        u = b * np.sin(u[-1]) * v
        if np.sum(u * u[0]) * 0.3 + 2.0 > 0.4:
            break
    return np.sum(u * v)


def changed_in_a_branch(a, v):
    """What the branch hands out for the adjoint shares the memory of the name that goes on after it."""
    if a > 0:
        v = a * v
        v[-1] *= a
    return a + np.sum(v * v)


def user_name_like_a_version(x):
    """The seventh version of y is not to be called y_6."""
    y_6, y_7 = np.exp(x), np.exp(2 * x)
    y = x
    y = np.sin(y) * y
    y = np.sin(y) * y + 1
    y = np.sin(y) * y
    y = np.sin(y) * y + 1
    y = np.sin(y) * y
    y = np.sin(y) * y + 1
    y = np.sin(y) * y
    y = np.sin(y) * y + 1
    y = np.sin(y) * y
    return y * y_6 * y_7


def objects_taken_back(x, n):
    """The adjoint of an attribute is read before the attribute is set anew."""
    boxes = []
    for _ in range(n):
        boxes.append(types.SimpleNamespace(w=0.0))
    for i in range(n):
        box = boxes[i]
        box.w = box.w + x * i
    total = 0.0
    for k in reversed(range(n)):
        box = boxes.pop()
        total += box.w * x * k
    return total


def appended_inside(x, lists):
    """A list inside a list that is passed in becomes longer."""
    lists[0].append(x)
    return sum(lists[0]) * x + len(lists[0])


def stored_inside(x, table):
    table["a"]["b"] = x * 2
    table["a"]["c"][0] = x
    return table["a"]["b"] * x + table["a"]["c"][0] ** 2


def rest_of_a_list(x):  # adjoints of a slice were dropped in second order
    y = x[1:]
    return y[0] * y[1] * x[0][0]


def front_of_a_list(x):
    y = x[:2]
    return np.sum(y[0]) * y[1] ** 2


def overwritten_after_a_product(x):
    x = x.copy()
    a = x[:2] * 1.0
    x[:2] = a + 1
    return np.sum(a * x[:2])


def both_halves_from_old_values(x):
    x = x.copy()
    n = len(x) // 2
    a = x[:n] * 1.0
    b = x[n:] + 0.0
    x[:n] = a + b**2
    x[n:] = a - b
    return np.sum(x * x)


def shifted_then_changed(x):
    x = x.copy()
    a = x + 1.0
    x[0] = x[1] * 2
    return np.sum(a * x)


def reshaped_then_changed(x):
    x = x.copy()
    a = x.reshape(2, 2) + 1.0
    x[0] = x[1] * 2
    return np.sum(a * x[0])


def kept_then_changed(x):
    x = x.copy()
    a = np.stack([x, x])[0]
    b = np.maximum(x, -10.0)
    c = np.clip(x, -10, 10)
    d = np.where(True, x, 0.0)
    x[0] = x[1] * 2
    return np.sum(a * x[0] + b * x + c * x * d)


def list_kept_then_changed(x, l):
    y = [v * 1.0 for v in l]
    for v in l:
        v *= 2
    return np.sum(x) * sum(np.sum(a * b) for a, b in zip(y, l))


def stored_through_a_forgotten_view(u, v):
    u = u.copy()
    w = u[:2]
    u = v[::-1] + u
    u = np.where(v + u > 0, v + u, u * 0.5)
    w[0] = 2.0
    return np.sum(u * v)


def added_at_after_a_choice(u, v):
    u = u.copy()
    v = np.where(np.sin(v) - u > 0, np.sin(v) - u, u * 0.5)
    for _ in range(2):
        np.add.at(u, [0, 1, 0], v[1])
    return np.sum(u * v)


def last_item_after_a_loop(a, b, c):
    items = [a, b]
    for _ in range(0):
        c = c + 0.3 * items[-1]
    return c + a * items[-1]


def read_before_the_trips_store(u, v):
    u = u.copy()
    s = u[1] - 0.7
    for i in range(4):
        if v[i] > 0.3:
            u[i] = v[i] * s
    return np.sum(u)


def product_named_after_a_loop_began(a, b, u, v):
    for _ in range(1):
        v = v[2] * v[1] * (0.5 - b) * u
    c = v[2] * 0.5 * np.sin(a) * a
    return a * b + c + np.sum(u * v)


def kinds_under_one_name(a, b, c, u, v):
    b *= np.tanh(-0.7 - u[2])
    v = np.where(v[::-1] + v > 0, v[::-1] + v, v * 0.5)
    if (2.0 - c) > 1.5:
        if (a * v[0]) > 1.5:
            c = (a + b) * (-0.7 + b)
    return a * b + c + np.sum(u * v) + np.sum(np.sin(u))


def swapped_in_a_loop(a, b, u, v):
    if b > 1.5:
        u = np.where(v > 0, v, v * 0.5)
    else:
        u, v = v, u
    for _ in range(2):
        u, v = v, u
        n = 0
        while n < 3 and v[-1] < 2:
            n += 1
            b = (u[-1] - a) * (b - 1.5)
    return a * b + np.sum(u * v) + np.sum(np.sin(u))


def array(*items):
    return np.array(items, float)


def larger_of_a_number_and_an_integer(u, n):
    best = u
    for i in range(n):
        best = max(best, i)
    return u + max(u, n) * 2 + min(max(u, n), 3) + best


def _determinant(rows):
    if len(rows) == 1:
        return rows[0][0]
    total = 0.0
    for j in range(len(rows)):
        minor = [row[:j] + row[j + 1 :] for row in rows[1:]]
        total = total + (-1) ** j * rows[0][j] * _determinant(minor)
    return total


def determinant_by_minors(x):
    return _determinant([[x[0], x[1], x[2]], [x[3], x[4], x[5]], [x[6], x[7], 3.0]])


def _sums_of_rows(rows, n):
    if n == 0:
        return 0.0
    total = 0.0
    for j in range(2):
        total = total + rows[0][j] * rows[j][1]
    return total + _sums_of_rows(rows, n - 1)


def recursion_over_tuples(x):
    return _sums_of_rows(((x[0], x[1]), (x[2], 3.0)), 2)


def best_of_several(x, n):
    beams = [(0.0, [])]
    for t in range(n):
        longer = []
        for score, sequence in beams:
            for k in range(2):
                longer.append((score + x[k] * (t + 1) - 0.1 * len(sequence), sequence + [k]))
        longer.sort(key=lambda c: -c[0])
        beams = longer[:2]
    return sum(np.exp(score) for score, _ in beams)


def first_rows_of_new_ones(x, n):
    rows = [x * 1.0, x * 2.0, x**2]
    for _ in range(n):
        rows = [r * x for r in rows][:2]
        rows[0][0] += 1.0
    return sum(np.sum(r) for r in rows)


def variance_that_is_bounded(theta, xi, z):
    s, v = np.zeros(len(z)), np.full(len(z), 0.04)
    for _ in range(3):
        bounded = np.maximum(v, 0)
        s = s - 0.5 * bounded + np.sqrt(bounded * 0.2) * z
        v = v + 2.0 * (theta - bounded) * 0.2 + xi * np.sqrt(bounded * 0.2) * z[::-1]
    return np.mean(np.exp(s))


PROGRAMS = [
    (carried_name_after_the_loop, (array(0.4, -0.9, 1.3),)), (item_of_a_sum, (array(0.3, 0.5, 0.9),)),
    (pair_of_numbers, (2.0,)), (long_list, ([0.5 * i for i in range(1, 9)],)), (long_list, ([0.1 * i for i in range(1, 40)],)),
    (minimum_then_store, (array(0.3, 0.5), 1.0)), (minimum_then_store, (array(0.3, 0.5), -1.0)),
    (masked_by_itself, (array(-0.1, 0.3, 1, 3), 0.6)), (masked_in_a_loop, (array(0.1, 0.3, 1),)),
    (product_between_stores, (1.1, array(0.4, -0.9, 1.3), array(0.4, -0.9, 1.3))),
    (same_store_twice, (1.1, array(0.4, -0.9, 1.3))), (added_at, (array(1, 2, 3), np.array([0, 1, 1]))),
    (backwards, (array(2, 3),)), (nested_returns, (2.0,)), (nested_returns, (0.5,)), (nested_returns, (-0.5,)),
    (shadow_in_one_branch, (1.3, array(0.4, -0.9), array(0.2, 0.7))), (shadow_in_one_branch, (0.3, array(0.4, -0.9), array(0.2, 0.7))),
    (two_breaks, (0.3, array(0.4, -0.9, 1.3), array(-0.3, 0.7, 0.5))),
    (two_breaks, (0.3, array(0.9, -0.9, 1.3), array(-0.3, 0.7, 0.5))),
    (loop_left_inside_a_branch, (0.4, array(0.4, -0.9, 1.3), array(-0.3, 0.7, 0.5))),
    (loop_left_inside_a_branch, (-0.9, array(0.4, -0.9, 1.3), array(-0.3, 0.7, 0.5))),
    (condition_inside_a_while, (1.1, array(0.4, 0.9, 1.3))),
    (user_name_like_a_version, (0.3,)), (objects_taken_back, (1.3, 3)), (appended_inside, (1.3, [[1.0, 2.0], [3.0]])),
    (stored_inside, (1.2, {"a": {"b": 1.0, "c": [2.0, 3.0]}})),
    (rest_of_a_list, ([[1.3], 2.0, 1.5],)), (rest_of_a_list, (((1.3, 0.1), 2.0, 1.5),)), (front_of_a_list, ([array(1, 2), 2.0, 1.5],)),
    (overwritten_after_a_product, (array(0.5, 0.1, 0.9, 0.3),)), (both_halves_from_old_values, (array(0.5, 0.1, 0.9, 0.3),)), (shifted_then_changed, (array(0.5, 0.1, 0.9, 0.3),)), (reshaped_then_changed, (array(0.5, 0.1, 0.9, 0.3),)), (kept_then_changed, (array(0.5, 0.1, 0.9, 0.3),)),
    (list_kept_then_changed, (array(0.5, 0.1), [array(1.5, 1.1), array(2.5, 2.1)])),
    (stored_through_a_forgotten_view, (array(0.4, -0.9, 1.3, 0.2), array(-0.3, 0.7, 0.5, -1.2))),
    (added_at_after_a_choice, (array(0.4, -0.9, 1.3, 0.2), array(-0.3, 0.7, 0.5, -1.2))),
    (last_item_after_a_loop, (0.3, -0.8, 1.1)),
    (read_before_the_trips_store, (array(0.4, -0.9, 1.3, 0.2), array(-0.3, 0.7, 0.5, -1.2))),
    (product_named_after_a_loop_began, (0.3, -0.8, array(0.4, -0.9, 1.3, 0.2), array(-0.3, 0.7, 0.5, -1.2))),
    (kinds_under_one_name, (0.3, -0.8, 1.1, array(0.4, -0.9, 1.3, 0.2), array(-0.3, 0.7, 0.5, -1.2))),
    (swapped_in_a_loop, (0.3, -0.8, array(0.4, -0.9, 1.3, 0.2), array(-0.3, 0.7, 0.5, -1.2))),
    (changed_in_a_branch, (2.0, array(1, 2, 3))), (changed_in_a_branch, (-2.0, array(1, 2, 3))),
]  # fmt: skip


# ------------------------------------------------------------------ found by programs written without the compiler's text
OUTSIDE = np.array([0.5, -0.5, 2.0])


def einsum_that_sums_is_no_view(A):
    y = np.einsum("ij->i", A)
    y *= 2
    B = A * 2
    t = np.einsum("bj->j", B)
    B[0] = 0
    v = np.einsum("ij->ji", A.copy())
    v[0] *= 3
    return np.sum(y**2) + np.sum(t**3) + np.sum(v**2)


def grid_with_an_array_from_outside(x):
    y = np.meshgrid(x, OUTSIDE)[0]
    y[0] *= 2
    return np.sum(y**2) + np.sum(np.concatenate([x, OUTSIDE]) ** 2)


def eigenvalues_that_change(A):
    S = A @ A.T
    w, _ = np.linalg.eigh(S)
    w *= 2
    s = np.linalg.svd(A)[1]
    s += 1.0
    return np.sum(w * s**2)


def squares_of_what_is_chosen(u):
    total = sum((v if v > 0.3 else 0.0) ** 2 for v in u)
    for i in range(len(u)):
        total = total + np.where(i == 1, u[i], 0.0) ** 2
        total *= np.where(u[i] > 0.3, np.sin(u[i] * total), 1.0) ** 2 + 0.5
    return total * math.prod(np.where(v > 0.3, v, 1.5) ** 2 for v in u)


def chosen_off_the_diagonal(B):
    total = 0.0
    for i in range(2):
        for j in range(2):
            total += np.where(i != j, B[i, j], 0.0) ** 2 * (B[i, j] if i > j else 1.0) ** 3
    return total


def arms_that_change_places(u):
    t = 1.0
    for v in u:
        c = v > 0.3
        a = np.where(c, np.exp(v), t)
        b = np.where(c, t, np.cos(v))
        t = 0.3 * a * b + 0.1 * a**2
    return t


def items_of_two(x, y):
    return np.array([*x, *y])


def squares_of_items_of_two(x, y):
    return np.sum(items_of_two(x, y) ** 2)


def grown(a, b):
    for _ in range(2):
        a = a * b + 0.1
    return a


def helper_with_a_loop_in_a_branch(u):
    t = u[0]
    if u[1] > 9:
        t = grown(t, u[1])
    s = grown(u[0], u[1]) if u[2] > 9 else u[1] ** 2
    return t * t + s + ((u[0] > 9 and grown(u[0], u[1])) or u[1] ** 2)


def masks_put_into_a_dict(u):
    d = {"a": np.sqrt(u + 2)}
    d["m"] = u > 0.1
    return np.sum(np.where(d["m"], d["a"] ** 2, u)) + np.sum(d["a"][d["m"]] ** 2)


def least_negative(q):
    return np.max(-q) ** 2


def extremes_of_what_is_negated(u):
    return least_negative(u) + np.max(1 - u**2) * np.min(-np.abs(u)) + max(-np.maximum(u, 0.3))


def powers_with_an_exponent_of_zero(x, p):
    return np.sum(p**x) + p[0] ** x[0] + np.sum(np.float_power(1 + p, x * p)) + math.pow(p[1], x[0])


def numbers_beside_an_array_that_changes(x):
    y = x.copy()
    r = []
    for _ in range(2):
        r.append(np.sum(y**2))
        y -= 0.1 * y
    return (r + [y])[0]


PROGRAMS += [
    (einsum_that_sums_is_no_view, (np.array([[1.0, 2.0], [3.0, 4.5]]),)),
    (grid_with_an_array_from_outside, (np.array([1.0, 2.0]),)),
    (eigenvalues_that_change, (np.array([[1.0, 2.0], [3.0, 4.5]]),)),
    (numbers_beside_an_array_that_changes, (np.array([1.0, 2.0]),)),
    (squares_of_items_of_two, (np.array([1.0, 2.0]), np.array([3.0, 4.0]))),
    (helper_with_a_loop_in_a_branch, (np.array([0.35, -1.2, 0.8]),)),
    (masks_put_into_a_dict, (np.array([0.35, -1.2, 0.8]),)),
    (extremes_of_what_is_negated, (np.array([0.35, -1.2, 0.8]),)),
    (squares_of_what_is_chosen, (np.array([0.35, -1.2, 0.8, 1.6]),)),
    (chosen_off_the_diagonal, (np.array([[1.0, 2.0], [3.0, 4.0]]),)),
    (arms_that_change_places, (np.array([0.35, -1.2, 0.8, 1.6]),)),
    (powers_with_an_exponent_of_zero, (np.array([0.0, 1.5]), np.array([0.4, 1.3]))),
]


def rest_of_a_comprehension(u):
    values = [np.sin(v) for v in u]
    a, *b = values
    return a * sum(b)


def rest_of_a_growing_list(u):
    values = []
    for v in u:
        values.append(v * v)
        values.append(v * 3)
    a, *b, c = values
    return a * sum(b) * b[2] * c


def rest_of_a_long_array(u):
    a, *b = np.concatenate([u, u * 2, u**2])
    return a * sum(b) * b[2]


def rest_that_changes(u):
    values = [u * k for k in range(1, 4)]
    for v in values:
        values[0] = values[0] * v
    *b, c = values
    b[0] *= u
    return np.sum(b[0] * b[1] * c)


def places_filled_and_changed(u):
    b = [None] * 3
    for k in range(3):
        b[k] = u[k : k + 2] * 1.0
        b[k] *= 2
    return sum(np.sum(t**2) for t in b)


@dataclasses.dataclass
class Particle:
    x: float
    v: float


def replaced_in_a_loop(u):
    s = Particle(u[0], u[1])
    for _ in range(3):
        s = dataclasses.replace(s, x=s.x + 0.1 * s.v)
    return s.x * s.v


def whole_view_changed(u):
    v = u.copy()
    w = v.view()
    w += u
    return (v**2).sum()


PROGRAMS += [
    (f, (np.array([0.4, 0.7, -0.3, 1.1]),))
    for f in (
        rest_of_a_comprehension, rest_of_a_growing_list, rest_of_a_long_array, rest_that_changes,
        places_filled_and_changed, replaced_in_a_loop, whole_view_changed,
    )
]  # fmt: skip
PROGRAMS += [
    (larger_of_a_number_and_an_integer, (2.5, 4)),
    (determinant_by_minors, (np.arange(9) ** 2 + 1.0,)),
    (recursion_over_tuples, (np.arange(4) + 1.0,)),
    (best_of_several, (np.array([0.3, 0.2]), 3)),
    (first_rows_of_new_ones, (np.array([0.3, 0.2]), 2)),
    (variance_that_is_bounded, (0.01, 0.5, np.array([0.4, -1.2, 0.9, -0.3]))),
]


def put_by_lists(y):
    t = np.outer(y, y)
    np.put(t, [0, 4, 2], [y[0] * 2, 1.0])
    np.put(t, [1, 3], [])
    np.put(t, [5], np.zeros(0))
    t.put([7, 8], (y[0] * 3, 1.0, 2.0))
    return np.sum(t**2)


def several_polynomials(p):
    return np.sum(np.polyval(p, p[0]) ** 2)


def convolved_with_a_number(x):
    return np.sum(np.convolve(x, x[0]) * x) + np.sum(np.convolve(x, np.array(2.0)) ** 2)


def joined_as_a_text_says(x):
    return np.sum(np.r_["0,2", x, x] ** 2)


PROGRAMS += [(f, (np.array([0.3, 0.5, 0.9]),)) for f in (put_by_lists, convolved_with_a_number, joined_as_a_text_says)]
REFUSED = {"numbers_beside_an_array_that_changes", "joined_as_a_text_says"}
PROGRAMS.append((several_polynomials, (np.array([[0.3, 0.5], [0.9, 1.1], [-0.4, 0.2]]),)))
