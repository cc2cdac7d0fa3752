"""Programs on numbers: branches, loops, early returns."""

import math

import numpy as np


def early_return(x, y):
    if x > y:
        return x * y
    z = x + y
    if z > 10:
        return z * z
    return z * np.exp(-x)


def power_while(x):
    i = 0
    y = x
    while y < 100 and i < 20:
        y = y * y + x
        i += 1
    return y


def newton(a, tolerance=1e-12):
    x = a
    while True:
        step = 0.5 * (x - a / x)
        x = x - step
        if abs(step) < tolerance:
            break
    return x


def collatz_like(x, n):
    total = 0.0
    for i in range(n):
        if i % 2 == 0:
            x = x * 0.5 + math.sin(x)
        elif i % 3 == 0:
            continue
        else:
            x = 3 * x - 1
        total += x * x
    return total


def before_after(x, n):
    """A value from before a loop is used after it."""
    y = math.sin(x)
    for _ in range(n):
        x = x * y + 0.1
    return x * y


def nested(x, r):
    for i in range(3):
        for j in range(i + 1):
            x = r * x * (1 - x) + 0.01 * j
        x = x + 0.1 * i
    return x * r


def swap(a, b):
    for _ in range(4):
        a, b = b, a * b
    return a + 2 * b


def last_of_loop(x):
    for i in range(1, 4):
        y = x**i
    return y * i


def conditional(x, y):
    s = x if x > y else y * y
    t = (x and y) or 2.0
    return s * t if 0 < x < 5 else s + t


def break_in_the_middle(x):
    total = 0.0
    for i in range(10):
        total = total + x * i
        if total > 4:
            break
        x = x * 1.5
        total = total * x
    return total * x


def zero_trips(x, n):
    y = x * x
    for _ in range(n):
        y = y * x
    return y


def while_in_for(x):
    total = 0.0
    for k in range(3):
        z = x + k
        while z < 10:
            z = z * z * 0.9 + 1
        total = total + z * x
    return total


def maxima(x, y):
    return max(x, 0) * min(y, 2.0) + max(x * y, y) + abs(x - y)


def powers(x, y):
    return x**y + x**2 + x**-1 + 2.0**x + math.pow(x, 3) + math.atan2(y, x) + math.log(x, 2)


def names_that_collide(x, sum, out_bar, d):
    saved = x * sum
    x_bar = saved * out_bar
    for np_ in range(3):
        x_bar = x_bar * d + saved + np_
    return x_bar


def formatted(x, label="x"):
    text = f"{label} = {x:.2f}"
    assert x > 0, text
    if x > 1e6:
        raise ValueError(text)
    return x * len(text)


PROGRAMS = [
    (early_return, (3.0, 2.0)), (early_return, (1.0, 2.0)), (early_return, (5.0, 7.0)), (power_while, (1.2,)),
    (power_while, (150.0,)), (newton, (2.0,)), (collatz_like, (0.3, 7)), (before_after, (0.7, 3)), (before_after, (0.7, 0)),
    (nested, (0.3, 2.7)), (swap, (0.9, 1.3)), (last_of_loop, (1.7,)), (conditional, (1.5, 0.7)), (conditional, (0.5, 0.7)),
    (conditional, (7.5, 0.7)), (break_in_the_middle, (0.4,)), (zero_trips, (1.3, 0)), (zero_trips, (1.3, 4)),
    (while_in_for, (1.1,)), (maxima, (1.5, 0.7)), (maxima, (0.6, 2.7)), (powers, (1.5, 0.7)),
    (names_that_collide, (0.5, 0.7, 1.1, 0.9)), (formatted, (1.5,)),
]  # fmt: skip
