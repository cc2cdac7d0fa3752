"""Functions that are refused; the tests compare whole messages, so lines here are not to move."""

import numpy as np

import tangentc


def uses_with(x, path):
    with open(path) as file:
        return x * len(file.read())


def no_rule(x):
    y = 2 * x
    return np.sum(np.kaiser(4, y[0]))


def through_a_comprehension(x):
    squares = [a * a for a in x]
    return squares[0] + squares[1]


def vector(x):
    return 2 * x


def count(n):
    return n * n


def simple(x, y):
    return x * y


def grows(x):
    rows = []
    rows.append(x)
    return rows[0]


def swapped_buffers(x):
    a = x.copy()
    b = x * 2
    for _ in range(3):
        b[0] = a[0] * 2
        a, b = b, a
    return a[0]


def recursive(x, n):
    return x if n == 0 else x * recursive(x, n - 1)


def repeated_indices(x, i):
    y = np.zeros(3)
    y[i] = x
    return np.sum(y)


def fills(a, x):
    a[0] = x


def calls_a_procedure(x):
    a = np.zeros(3)
    fills(a, x)
    return a[0]


def returns_in_a_loop(x):
    for i in range(3):
        if x > i:
            return x * i
    return x


def twice(x):
    return np.exp(2 * x)


def opaque_helper(x):
    return float(np.exp(2 * x))


def uses_broken_rule(x):
    return twice(x) + 1


def with_option(x):
    return np.sum(np.clip(x, 0, 1, casting="unsafe"))


def complex_value(x):
    return x * 1j


@tangentc.differentiable
def decorated(x):
    return x + undefined_name  # noqa: F821


def generates(x):
    yield x


def through_a_set(x):
    squares = {x * x}
    return squares.pop()


def cleared(x):
    items = [x]
    items.popitem()
    return x


def calls_something(x, k):
    f = {np.sin, np.cos}.pop()
    return f(x) * k


def scaled_later(k):
    scale = 1.0

    def scaled(t):
        return t * scale

    scale = scale * k
    return scaled


def closures_of_trips(x, n):
    functions = []
    for k in range(n):
        functions.append(scaled_later(k))
    return sum(f(x) for f in functions)


TABLE = np.zeros(3)


def fills_the_module(x):
    TABLE[0] = x
    return np.sum(TABLE)


COUNT = 0


def assigns_global(x):
    global COUNT
    COUNT = COUNT + 1
    return x * COUNT


def multiples(a, x):
    for k in range(10):
        a[k] = x * k


def changes_in_try(x, n):
    a = np.zeros(n)
    try:
        multiples(a, x)
    except IndexError:
        a[0] = x
    return np.sum(a)


def carried_by_an_exception(x):
    try:
        raise ValueError(x * 2)
    except ValueError as error:
        return error.args[0]


def try_inside_try(x):
    a = [x]
    try:
        try:
            a.append(x)
        except KeyError:
            a.pop()
    except ValueError:
        a.append(2 * x)
    return sum(a)


def wrong_call(x):
    def inner(a, *rest):
        return a

    return inner(x, a=x)


def times(x, y):
    return x * y


def uses_times(x, y):
    return np.sum(times(x, y))


def squares(x):
    return np.sum(x * x)


def uses_squares(x):
    return squares(x)


def weighed(x, w):
    return np.sum(x * w)


def uses_weighed(x, w):
    return weighed(x, w)


def lengths_apart(x, y):
    return np.sum(x + y)


def tells_a_queue(x):
    from collections import deque

    q = deque([x])
    return x if q == [x] else 2 * x


def entry_squares(x):
    return x * x


def uses_entry_squares(x):
    return np.sum(entry_squares(x) * 1.0)


def strided_in_doubt(x):
    return np.sum(np.lib.stride_tricks.as_strided(x * 2, (2, 2), (8, 8)))


def windows_of_a_buffer(x):
    buffer = np.zeros(4)
    windows = np.lib.stride_tricks.as_strided(buffer, (3, 2), (8, 8))
    buffer[:] = x
    return np.sum(windows**2)


def nested_lists(x):
    return x.tolist()[0][0][0][0][0]


def stores_too_many(y):
    y = y.copy()
    y[0:2] = np.ones(3)
    return np.sum(y)


def calls_no_method(x):
    return np.sum(x.total())


def reads_no_attribute(x):
    return np.sum(x.total)


def returns_nothing(x):
    x * 2


def returns_nothing_below_zero(x):
    if x > 0:
        return x


def value_and_more(x):
    return np.sum(x**2), {"x": x}


class Made:
    def __init__(self, w):
        self.w = w


def tries_groups(x):
    try:
        y = x * 2
    except* ValueError:
        y = x
    return y


def pads_by_symmetry(x):
    import scipy.signal

    return np.sum(scipy.signal.convolve2d(x, np.ones((2, 2)), boundary="symm"))
