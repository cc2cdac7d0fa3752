"""Lists that are changed by calls whose value is used too, lists that are joined in loops, and lists of arrays whose
lengths differ, one of them one."""

import math

import numpy as np


def appended_in_a_comprehension(x):
    items = []
    [items.append(v * v) for v in x]
    return items[0] * items[-1]


def appended_while_all_are_asked(x):
    items = []
    all(items.append(v * v) is None for v in x)
    return sum(items)


def appended_by_an_assignment(x):
    items = []
    nothing = items.append(x)
    return items[0] * x if nothing is None else x


def appended_or_a_value(x):
    items = []
    y = items.append(x) or x * 2
    return items[0] * y


def appended_behind_a_test(x):
    items = []
    for v in x:
        v > 0.55 and items.append(v * v)
    return items[0] * items[1]


def appended_in_a_lambda(x):
    items = []
    f = lambda v: items.append(v * v) or v
    return f(x) * items[0]


def unique(x):
    seen = []
    u = [v for v in x if not (v in seen or seen.append(v))]
    return sum(u) * seen[1]


def updated_in_a_test(x):
    d = {}
    return d["a"] * 3 if not d.update(a=x * x) else x


def reversed_by_an_assignment(x):
    items = [x, x * x]
    nothing = items.reverse()
    return items[0] ** 2 * items[1] if nothing is None else x


def reversed_or_a_value(x):
    items = [x, x * x, x * 3]
    return items.pop() * items[-1] + (items.reverse() or items[0])


def extended_or_the_list(x):
    items = [x]
    return (items.extend([x * x]) or items)[1]


def joined_in_a_loop(x):
    out = []
    for k in range(2):
        out = out + [x * k]
    return np.sum(out[1] ** 2)


def joined_in_front(x):
    out = []
    for k in range(3):
        out = [x * k] + out
    return np.sum(out[0] * out[1])


def joined_with_tuples(x):
    out = []
    for k in range(2):
        out = out + [(x[k], k)]
    return out[1][0] ** 2


def joined_by_sum(x):
    items = sum(([x[i : i + 1]] for i in range(2)), [])
    return np.sum(items[0] * items[1])


def layers_joined(W, x):
    hidden = [x]
    for w in W:
        hidden = hidden + [np.tanh(w @ hidden[-1])]
    return np.sum(hidden[-1] ** 2)


def history_joined(x):
    history = [x]
    for _ in range(3):
        x = np.sin(x) * history[-1]
        history = history + [x]
    return np.sum(x * history[1] * history[0])


def joined_to_an_argument(p):
    out = p
    for k in range(2):
        out = out + [p[0] * k]
    return np.sum(out[-1] * out[0] * out[1])


def broadcast_with_one_another(x, y):
    out = [x]
    out.append(y)
    s = 0.0
    for v in out:
        s = s + np.sum(v * out[0])
    return s


def every_pair_broadcast(x, y):
    out = [x, y]
    out.append(x * y)
    s = 0.0
    for i in range(3):
        for j in range(3):
            s = s + np.sum(out[i] * out[j])
    return s


def parts_of_several_lengths(x):
    parts = [x[:k] for k in (1, 3)]
    p, q = [x[x < c] for c in (0.55, 1.0)]
    return np.sum(parts[0] * parts[1]) + np.sum(p * q)


def mapped_items_of_several_lengths(xs):
    ys = [v * 2 for v in xs]
    return np.sum(ys[0] * ys[1])


def key_taken_after_a_loop(d):
    values = list(d.values())
    d.pop("a")
    return values[0] ** 2 * values[1]


def keywords(**named):
    scale = sum(i * v for i, v in enumerate(named.values()))
    a = named.pop("a")
    return scale * a + sum(named.values())


def key_taken_from_keywords(d):
    return keywords(**d)


def items_by_a_step_that_is_given(x, step):
    items = [x, 2 * x, 3 * x, 4 * x]
    items[::step] = [x * x] * 3
    items[0] = items[0] * items[-1]
    return sum(items)


X = np.array([1.3, 0.8, 0.5, 0.6])


def _log_sum(*a):
    largest = max(a)
    return largest + np.log(sum(np.exp(v - largest) for v in a))


def _weighted(w, *a):
    return sum(w * v * v for v in a) / len(a)


def items_given_with_a_star(x, n):
    values = [x[i] * i for i in range(n)]
    spread = lambda *p: max(p) - min(p)
    return _log_sum(*x) + _weighted(x[0], 2.0, *values) + _weighted(*x) + spread(*x)


PROGRAMS = [
    *((f, (X,)) for f in (
        appended_in_a_comprehension, appended_while_all_are_asked, appended_behind_a_test, unique, joined_in_a_loop,
        joined_in_front, joined_with_tuples, joined_by_sum, history_joined, parts_of_several_lengths,
    )),
    *((f, (1.3,)) for f in (
        appended_by_an_assignment, appended_or_a_value, appended_in_a_lambda, updated_in_a_test,
        reversed_by_an_assignment, reversed_or_a_value, extended_or_the_list,
    )),
    (layers_joined, ([np.eye(4) * 0.5, np.eye(4)], np.array([0.3, 1.8, 0.5, 0.6]))),
    (joined_to_an_argument, ([X, X + 1],)), (broadcast_with_one_another, (X[:1], X[1:])),
    (every_pair_broadcast, (X[:1], X[1:])), (mapped_items_of_several_lengths, ([X[:1], X[1:]],)),
    (key_taken_after_a_loop, ({"a": 1.3, "b": 0.4},)), (key_taken_from_keywords, ({"a": 1.3, "b": 0.4},)),
    (items_by_a_step_that_is_given, (1.3, 1)), (items_given_with_a_star, (np.linspace(0.3, 0.9, 12), 7)),
]  # fmt: skip
REFUSED = {"key_taken_after_a_loop", "key_taken_from_keywords"}


def repeated_by_name(x):
    def weighed(items):
        return sum(v * w for v, w in zip(items * 2, range(6)))

    rows = [x, x * 2]
    twice = 2 * rows
    twice[0] = twice[0] * 3
    grown = [x[0]] * 1
    grown = grown * len(x)
    grown[1] = x[2]
    return weighed([x[0], x[1], x[2]]) + np.sum(np.array(twice) ** 2) + np.sum(np.array(rows) ** 3) + math.prod(grown)


def cleared(x):
    d, items = {"a": x[0]}, [x[0], x[1]]
    e = d
    e.clear()
    d["b"] = x[1]
    e["c"] = x[2]
    items.clear()
    items.append(x[2])
    return sum(d.values()) * len(d) * items[0]


def imaginary_part_set(x):
    z, w = np.zeros(3, complex), np.exp(1j * x)
    z.real = x
    z.imag = x**2
    part = w[1:]
    part.imag = x[:2]
    return np.sum(np.abs(z * w) ** 2)


PROGRAMS += [(f, (np.array([0.3, 0.5, 0.9]),)) for f in (repeated_by_name, cleared, imaginary_part_set)]
