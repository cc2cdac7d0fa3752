"""Statements in a `try` that raise because something is None, or no number."""
# ruff: noqa: B007, F841

import numpy as np


def none_times_a_number(x):
    o = None
    b = x[0]
    try:
        a = o * b
    except TypeError:
        b = b * x[1]
    return b


def product_from_none(x):
    w = None
    for v in x:
        try:
            w = w * v
        except TypeError:
            w = v
    return x[0] if w is None else x[0] * x[1]


def product_that_is_given(x):
    w = None
    for v in x:
        try:
            w = w * v
        except TypeError:
            w = v
    return w


def weights_that_may_be_none(x, w=None):
    try:
        y = w * x
    except TypeError:
        y = x**2
    return np.sum(y)


def number_times_a_text(x):
    try:
        y = x[0] * "abc"
    except TypeError:
        y = x[1] ** 2
    return y


def number_times_a_list(x):
    try:
        y = x[0] * [1, 2]
    except TypeError:
        y = x[1] ** 2
    return y


def minus_none(x):
    try:
        y = -None
    except TypeError:
        y = x[1] ** 2
    return y


def number_plus_none(x):
    try:
        y = x[0] + None
    except TypeError:
        y = x[1] ** 2
    return y


def attribute_of_none(x):
    o = None
    try:
        y = o.v * x[0]
    except AttributeError:
        y = x[1] ** 2
    return y


def item_of_none(x):
    o = None
    try:
        y = o[0] * x[0]
    except TypeError:
        y = x[1] ** 2
    return y


def none_below_a_number(x):
    o = None
    try:
        y = x[0] if o < 3 else x[1]
    except TypeError:
        y = x[1] ** 2
    return y


def sine_of_none(x):
    o = None
    try:
        y = np.sin(o) * x[0]
    except TypeError:
        y = x[1] ** 2
    return y


def length_of_none(x):
    o = None
    try:
        y = len(o) * x[0]
    except TypeError:
        y = x[1] ** 2
    return y


def loop_over_none(x):
    try:
        for k in None:
            pass
        y = x[0]
    except TypeError:
        y = x[1] ** 2
    return y


X = np.array([2.0, 3.0])


def some_are_there(x):
    held = [None] * 3
    held[1] = [x[1]]
    for k in (0, 2):
        if x[k] > 0.6:
            held[k] = [x[k]]
    return sum(v[0] ** 2 for v in held if v is not None)


def mean_that_begins(x):
    state = {"m": None}
    for k in range(3):
        m = state["m"]
        state["m"] = [x[k] * 1.0] if m is None else [m[0] * 0.9 + x[k]]
    return state["m"][0] ** 2


def nested(x, depth):
    if depth >= 1:
        return (x[0] * x[1], None)
    return (x[0], nested(x * 2, depth + 1))


def pairs_that_end_with_none(x):
    pair = nested(x, 0)
    return pair[0] * pair[1][0]


class Controller:
    def __init__(self, gains):
        self.kp, self.ki, self.kd = gains
        self.integral = 0.0
        self.last = None

    def step(self, error, dt):
        self.integral += error * dt
        slope = 0.0 if self.last is None else (error - self.last) / dt
        self.last = error
        return self.kp * error + self.ki * self.integral + self.kd * slope


def controlled(gains, n):
    controller = Controller(gains)
    y, v, cost = 0.0, 0.0, 0.0
    for _ in range(n):
        u = controller.step(1.0 - y, 0.05)
        v += (u - v - y) * 0.05
        y += v * 0.05
        cost += (1 - y) ** 2
    return cost


def against_the_one_before(x, n):
    last, s = None, 0.0
    for k in range(n):
        e = np.sin(x * k)
        if last is not None:
            s += (e - last) ** 2
        last = e
    return s


def kept_in_some_trips(x, n):
    last, s = None, 0.0
    for k in range(n):
        e = np.sum(np.sin(x * k))
        if last is not None:
            s += (e - last) ** 2
        if k % 2:
            last = e if k != 3 else None
    return s


def largest_square(xs):
    best = None
    for v in xs:
        if best is None or v * v > best:
            best = v * v
    return best


def smoothed(xs):
    level = None
    for v in xs:
        level = v if level is None else 0.5 * level + v * v
    return level if level is not None else 0.0


def array_or_none(x, n):
    last, s = None, 0.0
    for k in range(n):
        e = np.sin(x * k)
        if last is not None:
            s += np.sum((e - last) ** 2)
        last = e if k % 3 else None
    return s


PROGRAMS = [
    (controlled, ((2.0, 0.5, 0.1), 12)),
    (against_the_one_before, (1.1, 5)),
    (kept_in_some_trips, (np.array([0.3, 0.7]), 8)),
    (largest_square, ([1.0, -3.0, 2.0],)),
    (smoothed, ([1.0, -3.0, 2.0],)),
    (array_or_none, (np.array([0.3, 0.4]), 7)),(weights_that_may_be_none, (X, None))] + [(f, (X,)) for f in (
    none_times_a_number, product_from_none, product_that_is_given, number_times_a_text, number_times_a_list, minus_none, number_plus_none, attribute_of_none, item_of_none, none_below_a_number, sine_of_none, length_of_none, loop_over_none,
)]  # fmt: skip

PROGRAMS += [(f, (np.array([0.7, 0.5, 0.9]),)) for f in (some_are_there, mean_that_begins, pairs_that_end_with_none)]
