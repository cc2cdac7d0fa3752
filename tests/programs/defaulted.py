"""Dicts with default values, and queues of limited length."""

import collections
from collections import defaultdict, deque

import numpy as np


def sums(x):
    d = defaultdict(float)
    for i, v in enumerate(x):
        d[i % 2] += v * v
    return d[0] * d[1]


def groups(x):
    d = defaultdict(list)
    for i, v in enumerate(x):
        d[i % 2].append(v)
    return sum(d[0]) * sum(d[1])


def window(x):
    q = deque(maxlen=2)
    s = 0.0
    for v in x:
        q.append(v)
        s = s + sum(q) ** 2
    return s


def window_from_the_left(x):
    q = collections.deque(maxlen=2)
    s = 0.0
    for v in x:
        q.appendleft(v)
        if len(q) == 2:
            s = s + q[0] * q[1] ** 2
    return s


def by_name(x):
    d = collections.defaultdict(lambda: 1.0)
    for i, v in enumerate(x):
        d["ab"[i % 2]] *= v
    return sum(d.values())


def arrays(x):
    d = defaultdict(lambda: np.zeros(2))
    for i, v in enumerate(x):
        d[i % 2] += np.array([v, v * v])
    return np.sum(d[0] * d[1])


def read_before_it_is_there(x):
    d = defaultdict(float)
    a = d["p"]
    d["p"] = x[0]
    return d["p"] ** 2 + a


def push(q, v):
    q.append(v)


def extended(x):
    q = deque(maxlen=2)
    for v in x:
        q.extend([v, v * v])
    return sum(q)


def handed_over(x):
    q = deque(maxlen=2)
    for v in x:
        push(q, v)
    return sum(q)


def by_another_name(x):
    q = deque(maxlen=2)
    p = q
    for v in x:
        p.append(v * v)
    return sum(q)


def added_to(x):
    q = deque(maxlen=2)
    for v in x:
        q += [v * v]
    return sum(q)


def limit_that_changes(x):
    n = 2
    q = deque(maxlen=n)
    n = 3
    for v in x:
        q.append(v * v)
    return sum(q) * n


def told_apart(x):
    d = defaultdict(float)
    for i, v in enumerate(x):
        d[i % 2] += v * v
    return d[0] * d[1] if isinstance(d, defaultdict) else d[0]


def compared(x):
    q = deque(maxlen=1)
    for _ in x:
        q.append(1.0)
    return x[0] if q == [1.0] else x[0] ** 2


def asked_about(x):
    q = deque(maxlen=3)
    s = 0.0
    for v in x:
        if q:
            s = s + max(q) * q[-1] + sum(a * b for a, b in zip(q, reversed(q)))
        q.append(v)
    return s + np.mean(q)


def filled_window(x):
    q, r = deque([1.0, 2.0, 0.5], maxlen=2), deque([0.0] * 4, 4)
    s = 0.0
    for v in x:
        q.append(v * q[0])
        r.appendleft(v + r[0])
        s += q[-1] * r[-1] + sum(r)
    return s


def limited_memory(x, m=3):
    steps, slopes = deque(maxlen=m), deque(maxlen=m)
    w, g = x * 1.0, 2 * x
    for _ in range(5):
        moved = w - 0.1 * g
        slope = 2 * moved + 0.1 * moved**3
        steps.append(moved - w)
        slopes.append(slope - g)
        q, weights = slope.copy(), []
        for s, y in zip(reversed(steps), reversed(slopes)):
            weights.append(s @ q / (y @ s))
            q = q - weights[-1] * y
        for s, y, a in zip(steps, slopes, reversed(weights)):
            q = q + s * (a - y @ q / (y @ s))
        w, g = moved - 0.01 * q, slope
    return np.sum(w**2)


def made_by_a_helper(x):
    q = window_of(2)
    for v in x:
        q.append(v * v)
    return sum(q)


def window_of(n):
    return deque(maxlen=n)


class MovingMean:
    def __init__(self, width):
        self.values = deque(maxlen=width)

    def step(self, value):
        self.values.append(value)
        return sum(self.values) / len(self.values)


def queue_as_an_attribute(x):
    mean, s = MovingMean(3), 0.0
    for v in x:
        s += mean.step(v) ** 2
    return s


class Log:
    def __init__(self):
        self.rows, self.sums = defaultdict(list), defaultdict(float)

    def record(self, value):
        self.rows["loss"].append(value)
        self.sums["squares"] += value * value


def dicts_as_attributes(x):
    log = Log()
    for v in x:
        log.record(v)
    return sum(log.rows["loss"]) * log.sums["squares"]


class Adam:
    def __init__(self, rate=0.1):
        self.rate, self.first, self.second = rate, defaultdict(lambda: 0.0), defaultdict(float)

    def step(self, parameters, gradients):
        for k in parameters:
            self.first[k] = 0.9 * self.first[k] + 0.1 * gradients[k]
            self.second[k] = 0.99 * self.second[k] + 0.01 * gradients[k] ** 2
            parameters[k] = parameters[k] - self.rate * self.first[k] / (np.sqrt(self.second[k]) + 1e-3)


def moments_of_an_optimiser(x):
    parameters, adam = {"w": x * 1.0, "b": x[0]}, Adam()
    for _ in range(3):
        adam.step(parameters, {"w": 2 * parameters["w"], "b": np.cos(parameters["b"])})
    return np.sum(parameters["w"] ** 2) + parameters["b"]


class Sums:
    def __init__(self, n):
        self.n, self.of = n, defaultdict(lambda: np.zeros(self.n))

    def add(self, key, value):
        self.of[key] += value * np.ones(self.n)


def default_that_captures(x):
    sums = Sums(2)
    for i, v in enumerate(x):
        sums.add("ab"[i % 2], v)
    return np.sum(sums.of["a"] * sums.of["b"])


def dict_of_dicts(x):
    d = defaultdict(lambda: defaultdict(float))
    for i, v in enumerate(x):
        d[i % 2][i % 3] += v * v
    return sum(sum(e.values()) ** 2 for e in d.values())


def several_queues(x):
    queues = [deque(maxlen=2) for _ in range(2)]
    for i, v in enumerate(x):
        queues[i % 2].append(v)
    return sum(sum(q) ** 2 for q in queues)


def asked_whether_it_is_full(x):
    q = deque(maxlen=2)
    s = 0.0
    for v in x:
        q.append(v)
        if len(q) == q.maxlen:
            s += q[0] * q[1]
    return s


def turned(x):
    q = deque([x[0], x[1] * x[0], x[2] ** 3])
    q.rotate(1)
    q.appendleft(2 * x[3])
    q.rotate(-2)
    q.extendleft([x[0], x[1]])
    return q[0] * q[2] + 2 * q[3] * q[4]


def copied_queue(x):
    q = deque([x[0], 2 * x[1]], maxlen=2)
    r = q.copy()
    r.append(x[0] * x[2])
    r.append(x[1] ** 3)
    q.append(5 * x[3])
    return q[0] * q[1] + r[0] * r[1]


def list_of_a_queue(x):
    q = deque(x, maxlen=2)
    r = list(q)
    r.append(x[0] * x[1])
    return sum(r) * len(r)


def made_in_each_trip(x):
    s = 0.0
    for v in x:
        q = deque(maxlen=2)
        for k in range(4):
            q.append(v * k)
        s += sum(q) ** 2
    return s


def one_of_two_queues(x):
    a, b = deque(maxlen=2), deque(maxlen=2)
    for i, v in enumerate(x):
        q = a if i % 2 else b
        q.append(v)
    return sum(a) * sum(b) ** 2


def made_when_needed(x):
    log = Lazy()
    for v in x:
        log.push(v)
    return sum(log.q) ** 2


class Lazy:
    def __init__(self):
        self.q = None

    def push(self, v):
        if self.q is None:
            self.q = deque(maxlen=2)
        self.q.append(v)


def default_that_counts(x):
    made = [0]

    def make():
        made[0] += 1
        return 0.0

    d = defaultdict(make)
    d["a"] += x[0]
    d["a"] += x[1]
    d["b"] += x[2] * len(d)
    return d["a"] * d["b"] * made[0]


def array_that_is_added_to(x):
    d = defaultdict(lambda: np.zeros(2))
    a = d["p"]
    d["p"] += x[:2]
    return np.sum(a * a)


def given_entries(x):
    d = defaultdict(float, {"a": x[0]})
    e = d.copy()
    e["b"] += x[1]
    plain = dict(d)
    return d["a"] * e["b"] + plain.get("b", 2.0) * x[2]


def one_of_two_lengths(x):
    q = deque(maxlen=2) if x[0] > 0 else deque(maxlen=3)
    for v in x:
        q.append(v)
    return sum(q) ** 2


def read_by_an_index_that_only_the_run_knows(x):
    held = [x[0], 2 * x[1], 3 * x[2]]
    pushed(held[max(len(held) - 2, 0) :], x[0] * x[3])
    taken = pushed(held[max(len(held) - 2, 0) :], x[0] * x[3])
    taken.append(x[1])
    return taken[0] * taken[2] * taken[3] + held[1]


def pushed(items, value):
    items.append(value)
    return items


def added_to_without_a_limit(x):
    q = deque()
    for v in x:
        q += [v * v]
    return sum(q) * q.popleft() * (2 if isinstance(q, deque) else 3)


V = np.array([0.3, 0.7, -0.4, 1.1])
FUNCTIONS = (sums, groups, window, window_from_the_left, by_name, arrays, read_before_it_is_there)
FUNCTIONS += (extended, handed_over, by_another_name, added_to, limit_that_changes, asked_about)
FUNCTIONS += (told_apart, compared, filled_window, limited_memory, made_by_a_helper, queue_as_an_attribute)
FUNCTIONS += (dicts_as_attributes, moments_of_an_optimiser, default_that_captures, dict_of_dicts, several_queues)
FUNCTIONS += (asked_whether_it_is_full, turned, copied_queue, list_of_a_queue, made_in_each_trip, one_of_two_queues)
FUNCTIONS += (made_when_needed, default_that_counts, array_that_is_added_to, given_entries, one_of_two_lengths)
FUNCTIONS += (read_by_an_index_that_only_the_run_knows, added_to_without_a_limit)
PROGRAMS = [(f, (V,)) for f in FUNCTIONS]
REFUSED = {"compared", "added_to", "one_of_two_lengths"}
