"""Objects whose ``__iter__`` is a generator function, and generators beside other iterators."""

import numpy as np


class Seq:
    def __init__(self, l):
        self.l = l

    def __iter__(self):
        for v in self.l:  # noqa: UP028
            yield v


class Grid:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        for i in range(self.n):
            yield i, i + 1

    def __len__(self):
        return self.n


def over_an_object(x):
    s = 0.0
    for v in Seq([x[0], x[0] * x[1]]):
        s += v * v
    return s


def summed_over_an_object(x):
    return sum(v * v for v in Seq([x[0], x[0] * x[1]]))


def over_an_object_three_times(x):
    q = Seq([x[0], x[1]])
    return sum(v * v for v in q) + sum(q) + sum([v for v in q if v > 0])


def list_of_an_object(x):
    q = Seq([x[0], x[1]])
    return np.sum(np.array(list(q)) ** 2)


def pairs_of_an_object(x):
    s = 0.0
    for i, j in Grid(2):
        s += x[i] * x[j]
    return s


def zipped_with_an_object(x):
    q = Seq(x)
    return max(q) * sum(a * b for a, b in zip(q, x))


def list_of_one_made_there(x):
    return sum(list(Seq(x * x)))


def numbered_over_an_object(x):
    s = 0.0
    for k, v in enumerate(Seq(x)):
        s += k * v * v
    return s


def unpacked_from_an_object(x):
    a, b = Seq(x[:2])
    return a * b


def gen(x):
    for v in x:
        yield v * 2


def zipped_with_a_generator(x):
    return sum(a * b for a, b in zip(gen(x), x))


def starred_generator(x):
    return sum([*gen(x)])


def array_from_a_generator(x):
    return np.sum(np.fromiter(gen(x), float) ** 2)


def loop_over_a_zipped_generator(x):
    s = 0.0
    for a, b in zip(gen(x), x):
        s += a * b**2
    return s


def array_of_a_starred_generator(x):
    return np.sum(np.array([*gen(x)]) ** 2)


def changed_what_a_zipped_generator_reads(x):
    y = x.copy()
    s = 0.0
    for u, v in zip(gen(y), x):
        s += u * v
        y[1] = y[1] * s
    return s


def changed_what_a_zipped_object_holds(x):
    y = x.copy()
    s = 0.0
    q = Seq(y)
    for u, v in zip(q, x):
        s += u * v
        y[1] = y[1] * s
    return s


def changed_an_item_of_a_zipped_object(x):
    q = Seq([x[0], x[1], x[2]])
    s = 0.0
    for u, v in zip(q, x):
        s += u * v
        q.l[1] = q.l[1] * s
    return s


def count(x):
    k = 0.0
    while True:
        yield x[0] + k
        k += 1.0


def zipped_with_an_endless_generator(x):
    return sum(a * b for a, b in zip(count(x), x))


class Market:
    def __init__(self, rate):
        self.rate, self.asked = rate, 0

    def discount(self, t):
        self.asked += 1
        return np.exp(-self.rate * t) * self.asked


class Flows:
    def __init__(self, amounts):
        self.amounts = amounts

    def __iter__(self):
        for t, amount in enumerate(self.amounts):
            yield t, amount * amount


def valued_while_it_is_given(x):
    market = Market(x[0])
    return sum(amount * market.discount(t) for t, amount in Flows(x)) * market.asked


def controlled(x, control, n):
    for t in range(n):
        u = control(t, x)
        yield x, u
        x = 0.9 * x + u


def cost_of_a_rollout(x):
    costs = [s * s + u * u for s, u in controlled(x[0], lambda t, s: -x[1] * s * t, 3)]
    return sum(costs) + sum(s * u for s, u in controlled(x[2], lambda t, s: x[1] - s, 2) if s > -1)


def changed_between_items(x):
    held = [x[0], x[1]]

    def items():
        for k in range(2):
            yield held[k] * x[2]

    def take(v):
        held[1] = held[1] + v
        return v * v

    return sum(take(v) for v in items()) * held[1]


PROGRAMS = [(f, (np.array([2.0, -3.0, 0.5]),)) for f in (
    over_an_object, summed_over_an_object, over_an_object_three_times, list_of_an_object, pairs_of_an_object, zipped_with_an_object, list_of_one_made_there, numbered_over_an_object, unpacked_from_an_object, zipped_with_a_generator, starred_generator, array_from_a_generator, loop_over_a_zipped_generator, array_of_a_starred_generator, changed_what_a_zipped_generator_reads, changed_what_a_zipped_object_holds, changed_an_item_of_a_zipped_object, zipped_with_an_endless_generator,
    valued_while_it_is_given, cost_of_a_rollout, changed_between_items,
)]  # fmt: skip
REFUSED = {
    "changed_what_a_zipped_generator_reads",
    "changed_what_a_zipped_object_holds",
    "changed_an_item_of_a_zipped_object",
    "zipped_with_an_endless_generator",
}
