"""Arrays that containers hold and that change afterwards, lists that change while a loop runs over them, and
objects whose attributes hide what their class has."""

from collections import deque
from dataclasses import dataclass

import numpy as np


class Log:
    def __init__(self, a):
        self.a, self.items = a, []


def appended_then_scaled(x, c):
    items = []
    n = x * c
    items.append(n)
    n *= c
    return np.sum(items[0])


def inserted_then_scaled(x, c):
    items = [x]
    n = x * c
    items.insert(0, n)
    n *= c
    return np.sum(items[0])


def updated_then_scaled(x, c):
    d = {"b": c}
    n = x * c
    d.update(a=n)
    n *= c
    return np.sum(d["a"])


def set_by_default_then_scaled(x, c):
    d = {}
    n = x * c
    d.setdefault("a", n)
    n *= c
    return np.sum(d["a"])


def logged_then_scaled(x, c):
    log = Log(x)
    n = x * c
    log.items.append(n)
    n *= c
    return np.sum(log.items[0])


def appended_inside_then_scaled(x, c):
    items = [[]]
    n = x * c
    items[0].append(n)
    n *= c
    return np.sum(items[0][0])


def appended_scaled_and_popped(x, c):
    items = []
    n = x * c
    items.append(n)
    n *= c
    return np.sum(items.pop())


def appended_twice_then_scaled(x, c):
    items = []
    n = x * c
    items.append(n)
    items.append(n)
    n *= c
    return np.sum(items[0]) + np.sum(items[1]) + np.sum(n)


def appended_then_scaled_in_a_loop(x, c):
    items = []
    n = x * c
    items.append(n)
    for _ in range(3):
        n *= c
    return np.sum(items[0])


def appended_and_scaled_in_each_trip(x, c):
    items = []
    for _ in range(3):
        n = x * c
        items.append(n)
        n *= c
    return np.sum(np.stack(items))


def rows_kept_then_scaled(x, c):
    a = np.zeros((2, 3)) + c
    rows = []
    for row in a:
        rows.append(row)
        row *= c
    return np.sum(rows[0]) * np.sum(x)


def queued_then_scaled(x, c):
    items = deque()
    n = x * c
    items.appendleft(n)
    n *= c
    return np.sum(items[0])


def states_that_follow_one_another(x, c):
    states = [x * c]
    following = states[-1] * c
    states.append(following)
    following += states[0][1]
    return np.sum(states[1])


def grown_while_run_over(c):
    items = [c, c * 2]
    for _ in items:
        if len(items) < 6:
            items.append(items[-1] * c)
    return items[-1]


def grown_by_its_items(c):
    items = [c]
    for item in items:
        items += [item * c]
        if len(items) > 3:
            break
    return items[3]


def popped_while_run_over(c):
    items = [c, c * 2, c * 3, c * c]
    total = 0.0
    for item in items:
        total += item * items.pop()
    return total


def grown_with_continue_and_else(c):
    items = [c, c * c]
    total = 0.0
    for item in items:
        if item < 0.1:
            continue
        total += item
        if len(items) < 8:
            items.append(item * c)
    else:
        total *= 2
    return total


def breadth_first(xs):
    queue, seen, total = [0], [0], 0.0
    edges = {0: [1, 2], 1: [3], 2: [3], 3: []}
    for n in queue:
        total += xs[n] ** 2
        for m in edges[n]:
            if m not in seen:
                seen.append(m)
                queue.append(m)
    return total


def deleted_while_numbered(c):
    items = [c, c * 2, c * 3]
    total = 0.0
    for i, item in enumerate(items):
        total += item * c
        if i == 0:
            del items[1]
    return total


@dataclass
class Point:
    x: float
    y: float = 2.0

    def twice(self):
        return self.y * 2.0

    def area(self):
        return self.x * self.y

    def crossed(self, other):
        return self.x * other.y

    def __matmul__(self, other):
        return self.x * other.y + self.y * other.x


@dataclass
class Circle:
    x: float
    y: float = 2.0

    def __post_init__(self):
        self.r = self.x**2 * self.y


class Switched:
    y = 2.0

    def __init__(self, x, own):
        self.x = x
        if own:
            self.y = x * x

    def area(self):
        return self.x * self.y


def default_that_is_given(x):
    return Point(x * x, x).twice() * Point(x * x, x * x).area()


def default_that_is_left(x):
    return Point(x).crossed(Point(x * x, x)) + Point(x * x) @ Point(x, x * x)


def defaults_in_a_list(x):
    points = [Point(x, k * x) for k in range(3)]
    return sum(p.twice() + p.y for p in points)


def computed_after_construction(x):
    return Circle(x * x, x).r * x


def attribute_of_some_objects(x):
    return Switched(x * x, True).area() + Switched(x, False).area()


def one_of_two_objects(x, n):
    point = Point(x * x, x) if n else Point(x)
    return point.twice() * point.area()


class Momentum:
    """An optimiser whose state is a dict that its method fills."""

    def __init__(self):
        self.m = {}

    def step(self, values):
        out = {}
        for k in values:
            self.m[k] = 0.9 * self.m.get(k, 0.0) + values[k] * values[k]
            out[k] = values[k] - 0.1 * self.m[k]
        return out


def dict_filled_by_a_method(x):
    state = Momentum()
    values = {"a": x, "b": x * 2}
    for _ in range(3):
        values = state.step(values)
    return np.sum(values["a"] * values["b"])


def dict_of_an_object_filled_and_made_again(x):
    state = Momentum()
    for i in range(4):
        if i % 2 == 0:
            state.m = {}
        state.m["a"] = state.m.get("a", x * 2) * x
    return np.sum(state.m["a"])


def dict_of_an_object_asked_and_replaced(x):
    state = Momentum()
    s = 0.0
    if "a" in state.m:
        s = s + 100 * np.sum(x)
    state.m = {"a": x}
    if "a" in state.m:
        s = s + np.sum(x * x)
    return s * len(state.m)


def filled_by_values(d, values):
    for v in values:
        d["b"] = v


def filled_by_places(d, values):
    for i, v in enumerate(values):
        d[f"k{i}"] = v


def put(d, k, v):
    d[k] = v


def dict_that_a_function_fills(x):
    d = {}
    filled_by_values(d, [v for v in x])  # noqa: C416
    s = x[0]
    for k in d:
        s = s + d[k] * 2
    return s


def dict_that_a_function_adds_to(x):
    d = {"a": x[0]}
    filled_by_values(d, [v * v for v in x])
    s = 0.0
    for k in d:
        s = s + d[k] * 2
    return s


def dict_that_a_function_adds_computed_keys_to(x):
    d = {"a": x[0]}
    filled_by_places(d, [v * v for v in x])
    s = 0.0
    for k in d:
        s = s + d[k] * 2
    return s + sum(v * v for v in d.values()) + len(d)


def dict_filled_item_by_item(x):
    d = {}
    for i, v in enumerate([v * v for v in x]):
        put(d, i, v)
    return x[0] + sum(v for v in d.values())


class Weighted:
    def __init__(self, w):
        self.w = w

    def __call__(self, x):
        return np.tanh(x * self.w)


class Remembering:
    def __init__(self, weights):
        self.layers = [Weighted(w) for w in weights]
        self.out = {}

    def __call__(self, x):
        for i, layer in enumerate(self.layers):
            x = layer(x)
            self.out[i] = x
        return x


def outputs_that_are_remembered(x):
    model = Remembering(list(x))
    y = model(x[0])
    total = 0.0
    for k in model.out:
        total = total + model.out[k]
    return y + total + sum(o**2 for o in model.out.values())


def dict_filled_under_its_length(x):
    model = Remembering([])
    for v in np.concatenate([x, 2 * x]):
        put(model.out, len(model.out), v * v)
    total = 0.0
    for k in model.out:
        total = total + model.out[k] ** 2
    return total + sum(v for v in model.out.values())


X = np.array([0.3, 0.7, -0.4, 1.1, 0.9, -0.6])
PROGRAMS = [
    *((f, (X, 0.7)) for f in (
        appended_then_scaled, inserted_then_scaled, updated_then_scaled, set_by_default_then_scaled, logged_then_scaled,
        appended_inside_then_scaled, appended_scaled_and_popped, appended_twice_then_scaled,
        appended_then_scaled_in_a_loop, appended_and_scaled_in_each_trip, rows_kept_then_scaled, queued_then_scaled,
        states_that_follow_one_another,
    )),
    *((f, (X,)) for f in (
        dict_that_a_function_fills, dict_that_a_function_adds_to, dict_that_a_function_adds_computed_keys_to,
        dict_filled_item_by_item, dict_filled_under_its_length, outputs_that_are_remembered, dict_filled_by_a_method, dict_of_an_object_filled_and_made_again, dict_of_an_object_asked_and_replaced,
    )),
    *((f, (0.7,)) for f in (
        grown_while_run_over, grown_by_its_items, popped_while_run_over, grown_with_continue_and_else,
        deleted_while_numbered, default_that_is_given, default_that_is_left, defaults_in_a_list,
        computed_after_construction, attribute_of_some_objects,
    )),
    (breadth_first, (np.array([0.3, 0.7, 0.4, 1.1]),)), (one_of_two_objects, (1.3, 1)), (one_of_two_objects, (1.3, 0)),
]  # fmt: skip
REFUSED = {"deleted_while_numbered"}
