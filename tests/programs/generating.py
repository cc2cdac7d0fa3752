"""Generator functions: their bodies stand where they are run."""

import numpy as np


def windows(x, n):
    for i in range(len(x) - n + 1):
        yield x[i : i + n]


def pairs(xs):
    for i in range(len(xs) - 1):
        yield xs[i], xs[i + 1]


def sum_over_windows(x):
    return sum(np.sum(w) ** 2 for w in windows(x, 2))


def products_of_pairs(x):
    s = 0.0
    for a, b in pairs(x):
        s = s + a * b
    return s


def lists_of_what_is_given(x):
    return sum([a * b for a, b in pairs(x)]) + np.sum(np.array(list(windows(x, 2))) ** 2)


class Model:
    def __init__(self, w, b):
        self.w = w
        self.b = b

    def parameters(self):
        yield self.w
        yield self.b

    def __call__(self, x):
        return np.tanh(self.w @ x + self.b)


def parameters_of_a_model(w, b):
    m = Model(w, b)
    reg = 0.0
    for p in m.parameters():
        reg += np.sum(p**2)
    return np.sum(m(np.ones(2))) + reg


def batches(X, n):
    for i in range(0, len(X), n):
        yield X[i : i + n]


def steps_over_batches(w, X):
    for xb in batches(X, 2):
        err = xb @ w - 1.0
        w = w - 0.1 * xb.T @ err
    return np.sum(w**2)


def both(x):
    yield from pairs(x)
    yield x[0], x[-1]


def given_by_another(x):
    s = 0.0
    for a, b in both(x):
        s += a * b**2
    return s


def trips_that_are_skipped(x):
    s = 0.0
    for a, b in pairs(x):
        if a > 1:
            continue
        s += a * b
    return s


def asked_for_one(x):
    g = windows(x, 2)
    return np.sum(next(g))


def counts(x):
    total = 0.0
    for v in x:
        total = total + v
        yield total


def running_totals(x):
    buf = np.zeros(3)
    for i, t in zip(range(3), list(counts(x))):
        buf[i] = t * t
    for t in counts(x):
        buf[0] += t
        x = x * 1.1
    return np.sum(buf)


class Tree:
    def __init__(self, value, left=None, right=None):
        self.value, self.left, self.right = value, left, right

    def leaves(self):
        if self.left is None:
            yield self.value
        else:
            yield from self.left.leaves()
            yield from self.right.leaves()


def leaves_of_a_tree(x):
    tree = Tree(0.0, Tree(x[0]), Tree(0.0, Tree(x[1] * 2), Tree(x[2])))
    s = 1.0
    for v in tree.leaves():
        s = s * v
    return s


def array_changed_between(x):
    y = x * 2.0
    for a, b in pairs(y):
        y[2] = a * b
    return np.sum(y)


def buffers(x):
    b = np.zeros(2)
    for i in range(3):
        b[0] = x[i]
        yield b


def totals(x):
    t = np.zeros(2)
    for i in range(3):
        t += x[i]
        yield t


class Counter:
    def __init__(self):
        self.k = 0.0

    def each(self, x):
        for v in x:
            self.k = self.k + v
            yield v


def buffers_that_are_read(x):
    return sum([b[0] ** 2 for b in buffers(x)])


def totals_that_are_summed(x):
    return np.sum(sum(totals(x)))


def count_that_is_read_between(x):
    c = Counter()
    return sum([v * c.k for v in c.each(x)])


def list_of_one_buffer(x):
    return sum(list(buffers(x))[1])


def multiples(x):
    for k in range(5):
        yield x * k


def left_early_in_several_ways(x, limit):
    s = 0.0
    for k, y in enumerate(multiples(x)):
        for q in range(3):
            if y * q > limit:
                return s + y**2
            s += y * q * x
        if k == 0:
            continue
        if s > 20:
            s += x
            break
        s += y
    else:
        s = s * 2
    return s


class Decay:
    def __init__(self, h):
        self.h = h

    def run(self, y, t):
        while True:
            y = y - self.h * y * y
            t += self.h
            yield t, y


def first_time_below(y0, h):
    for t, y in Decay(h).run(y0, 0.0):  # noqa: B007
        if y < 0.5:
            break
    return t * y


def root_by_newton(x):
    def newton(x):
        for _ in range(4):
            x = x - (x * x - 2) / (2 * x)
            yield x

    *_, root = newton(x)
    last = None
    for y in newton(2 * x):
        if last is not None and abs(y - last) < 1e-3:
            break
        last = y
    return root * last * x


def powers_of_what_is_around(x, n):
    broke = 2.0

    def powers(y):
        for k in range(n):
            yield y**k * x * broke

    s = 0.0
    for p in powers(x + 1):
        if p > 50:
            break
        s += p
    return s + sum(powers(2 * x))


def left_in_a_handler(x):
    factors = {0: 1.0, 1: 2.0, 2: 3.0}
    s = 0.0
    for k, y in enumerate(multiples(x)):
        try:
            f = factors[k]
        except KeyError:
            break
        s += y * f
    return s * x


def left_in_a_case(x):
    s = 0.0
    for k, y in enumerate(multiples(x)):
        match k:
            case 0:
                continue
            case 3:
                break
            case _:
                s += y * y
    return s


def left_behind_a_loop(x):
    s = 0.0
    for y in multiples(x):
        n = 0
        while n < 3:
            n += 1
            if y > 2 and n == 2:
                break
        else:
            if y > 4:
                break
            continue
        s += y * n
    return s


def left_in_a_with(x):
    s = 0.0
    for y in multiples(x):
        with np.errstate(all="ignore"):
            if y > 3:
                return s * y
            s += y
    return s


X = np.array([0.3, 0.7, 0.5])
PROGRAMS = [
    *((f, (X,)) for f in (
        sum_over_windows, products_of_pairs, lists_of_what_is_given, given_by_another, trips_that_are_skipped,
        asked_for_one, running_totals, leaves_of_a_tree, array_changed_between,
        buffers_that_are_read, totals_that_are_summed, count_that_is_read_between, list_of_one_buffer,
    )),
    *((left_early_in_several_ways, (1.2, limit)) for limit in (4.0, 9.0, 30.0)),
    (left_early_in_several_ways, (3.2, 30.0)),
    *((f, (1.2,)) for f in (left_in_a_handler, left_in_a_case, left_behind_a_loop, left_in_a_with)), (left_in_a_with, (0.2,)),
    (first_time_below, (1.0, 0.1)), (root_by_newton, (1.4,)), (powers_of_what_is_around, (1.2, 4)),
    (parameters_of_a_model, (np.eye(2) + 0.1, np.array([0.4, -0.3]))),
    (steps_over_batches, (np.array([0.3, 0.2]), np.arange(8.0).reshape(4, 2) * 0.1)),
]  # fmt: skip
REFUSED = {"asked_for_one", "totals_that_are_summed"}
