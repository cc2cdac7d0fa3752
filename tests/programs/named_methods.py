"""Methods of lists, dicts and arrays that get a name before they are called, and attributes that are asked for by name."""

import numpy as np


def appended_by_name(x):
    squares = []
    add = squares.append
    for k in range(3):
        add(x[k] ** 2)
    return sum(squares)


def pushed_and_popped(x):
    stack = []
    push, pop = stack.append, stack.pop
    push(x[0])
    push(x[1] * x[0])
    return pop() * stack[0]


def summed_by_name(x):
    total = x.sum
    x = x * 2
    return total() * 2 + x.sum()


def asked_for_by_a_text(x):
    return getattr(x, "sum")() ** 2  # noqa: B009


def dotted(x):
    dot = x.dot
    return dot(x) + dot(np.arange(3))


def items_by_a_method(x):
    d = {"a": x[0], "b": x[1] * 2}
    return sum(map(x.__getitem__, [0, 2, 2])) * sum(map(d.__getitem__, ["a", "b"]))


def filled_by_name(x):
    u = x.copy()
    fill = u.fill
    fill(x[0])
    return np.sum(u * x)


def rank_or_a_default(x):
    return np.sum(x) * (getattr(x, "ndim", 5) + 1) * len(getattr(x, "shape", (1, 2, 3))) * getattr([x], "foo", 7)


def array_or_number(x):
    def total(v):
        return v.sum() if hasattr(v, "sum") else v

    return total(x) ** 2 + total(2.0) * (2 if hasattr([x], "append") else 3) * (2 if hasattr((x,), "append") else 3)


class Machine:
    def __init__(self, x):
        self.state, self.x, self.y = "triple", x, x * x

    def triple(self):
        self.x = self.x * 3.0
        self.state = "square"

    def square(self):
        self.x = self.x**2


def method_of_its_state(x):
    machine = Machine(x[0])
    getattr(machine, machine.state)()
    following = getattr(machine, machine.state)
    following()
    return machine.x


def attributes_of_a_loop(x):
    machine = Machine(x)
    for name in ["x", "y"]:
        setattr(machine, name, getattr(machine, name) * 3)
    return np.sum(machine.x * machine.y)


def methods_of_a_loop(x):
    machine = Machine(x[0])
    for name in ("triple", "square", "triple"):
        getattr(machine, name)()
    return machine.x


NAMED = [
    method_of_its_state, attributes_of_a_loop, methods_of_a_loop,
    appended_by_name, pushed_and_popped, summed_by_name, asked_for_by_a_text, dotted, items_by_a_method,
    filled_by_name, rank_or_a_default, array_or_number,
]  # fmt: skip
PROGRAMS = [(f, (np.array([0.3, 0.5, 0.9]),)) for f in NAMED]
