"""Arrays without axes, which are arrays where they change in place and numbers where they are computed with."""

import numpy as np


def added_to(x):
    a = np.array(x)
    a += 1
    a *= x
    return a * 1.0


def stored_into(x):
    a = np.zeros(())
    a[...] = x * x
    a[()] += x
    return float(a) * x


def accumulated(xs):
    total = np.array(0.0)
    for x in xs:
        total += x * x
    return total * total


def accumulated_under_two_names(xs):
    a = np.array(1.0)
    b = a
    for x in xs:
        a *= x
    return b + a * xs[0]


def read_before(x):
    a = np.array(x)
    b = a * 2
    a += 1
    return a * b


def changed_by_its_other_name(x):
    a = np.array(x)
    b = a
    c = np.sin(a)
    b -= c
    return a * c


def accumulated_by_a_function(x):
    def add(total, value):
        total += value

    total = np.zeros(())
    add(total, x)
    add(total, x * x)
    return total * x


def view_without_axes(xs):
    xs = xs.copy()
    head = xs[0:1].reshape(())
    head += 3 * xs[1]
    return np.sum(xs) * xs[0]


def item_as_a_view(xs):
    xs = xs.copy()
    item = xs[1, ...]
    item *= 2
    return np.sum(xs * xs)


def filled(x):
    a = np.array(x)
    a.fill(x * x)
    np.multiply(a, x, out=a)
    return a + 1


def accumulated_in_branches(xs):
    total = np.array(0.0)
    for i in range(3):
        if xs[i] > 0:
            total += xs[i] ** 2
        else:
            total -= xs[i]
    return np.sqrt(total)


def argument_changed(a):
    a += 1
    a *= a
    return a * 2


def number_rebound(xs):
    s = np.sum(xs)
    s += xs[0]
    t = s
    t *= 2
    return s * t


def number_made_an_array(xs):
    s = np.asarray(np.sum(xs))
    t = s
    t *= 2
    return s * t * xs[0]


def accumulated_in_a_dict(xs):
    sums = {"a": np.array(0.0)}
    for x in xs:
        sums["a"] += x * x
    return sums["a"] * xs[0]


def squeezed(xs):
    head = np.squeeze(xs[:1].copy())
    head += np.max(xs)
    return head * head


XS = np.array([0.4, 1.3, -0.7])
PROGRAMS = [
    *((f, (0.5,)) for f in (
        added_to, stored_into, read_before, changed_by_its_other_name, accumulated_by_a_function, filled,
    )),
    *((f, (XS,)) for f in (
        accumulated, accumulated_under_two_names, view_without_axes, item_as_a_view, accumulated_in_branches,
        number_rebound, number_made_an_array, accumulated_in_a_dict, squeezed,
    )),
    (argument_changed, (np.array(0.7),)), (accumulated, ([0.4, 1.3],)),
]  # fmt: skip
