"""What objects, lists and dicts hold at one point of a program, and not at another."""

import numpy as np


class Holder:
    """Holds a value, and another that is None at first."""

    def __init__(self, v=None):
        self.v = v
        self.n = None


class Node:
    """A value, and the node before."""

    def __init__(self, v, nxt=None):
        self.v = v
        self.nxt = nxt


def seen_by_two_names(x):
    o = Holder()
    p = o
    p.v = x * 2
    if o.v is None:
        return x
    return o.v * x


def one_of_two_that_is_none(x):
    os = [Holder(x), Holder(2 * x)]
    for o in os:
        o.n = o.v * 2
    os[0].n = None
    return (0.0 if os[0].n is None else os[0].n) + os[1].n


def none_again_in_one_trip(x):
    o = Holder()
    for k in range(3):
        if o.v is None:
            o.v = x
        else:
            o.v = o.v * x
        if k == 1:
            o.v = None
    return o.v if o.v is not None else x * 5


def reset_by_a_function_inside(x):
    o = Holder(x)

    def reset():
        o.v = None

    y = o.v * 3
    reset()
    if o.v is None:
        y = y * 2
    return y


def left_with_a_value(x):
    o = Holder()
    while True:
        o.v = x
        if x > 0:
            break
        o.v = None
    return o.v * 2 if o.v is not None else 0.0


def linked_list(x):
    n = None
    for k in range(3):
        n = Node(x * k, n)
    s = 0.0
    while n is not None:
        s = s + n.v**2
        n = n.nxt
    return s


def filled_by_another_name(x):
    d = {"a": None, "b": x}
    e = d
    e["a"] = x * x
    return (d["a"] if d["a"] is not None else 1.0) * d["b"]


def held_by_another_and_reset(x):
    o = Holder(x)
    q = Holder(o)
    q.v.v = None
    r = o.v
    return x if r is None else r * 3


def read_before_it_is_none(x):
    o = Holder(x)
    w = o.v
    o.v = None
    if w is not None:
        y = w * 2
    else:
        y = 0.0
    return y if o.v is None else y * 7


def read_before_it_has_a_value(x):
    o = Holder()
    w = o.v
    o.v = x
    if w is None:
        return o.v * 2
    return o.v * 3


def two_that_may_be_none(x):
    a = None
    b = None
    for k in range(4):
        if a is not None and b is not None:
            x = x * a + b
        elif a is not None or k > 2:
            b = a * 0.5 if a is not None else 1.0
        a = x if a is None else a * 0.9
    return x


def one_list_twice_in_another(x):
    xs = [x, x * 2]
    ys = [xs, xs]
    ys[0].append(x * 3)
    return sum(ys[1]) * len(xs)


def function_that_is_replaced(x):
    fs = []
    for k in range(3):
        fs.append(lambda t, k=k: t * (k + 1))
    o = Holder(fs[0])
    s = o.v(x)
    o.v = fs[2]
    return s * o.v(x)


def none_before_an_error(x):
    o = Holder(x)
    try:
        o.v = None
        1.0 / (x - x)
    except ZeroDivisionError:
        o.n = x * 2
    return (x if o.v is None else x * 9) + (o.n if o.n is not None else 0.0)


def option_made_in_a_loop(x, opt=None):
    r = []
    for _k in range(3):
        opt = x if opt is None else opt * x
        r.append(opt)
    return sum(r)


def asked_whether_it_is_there(x):
    d = {}
    for k in ("p", "q", "p"):
        d[k] = d[k] * x if k in d else x + 1
    return d["p"] * d["q"]


def remembered_by_functions(x):
    seen = {}

    def f(n):
        if n in seen:
            return seen[n]
        seen[n] = x if n == 0 else f2(n)
        return seen[n]

    def f2(n):
        return x * n

    return f(2) + f(2) + f(0)


def filled_in_a_loop_over_objects(x):
    o = Holder()
    a = [o, Holder(x)]
    for i in range(2):
        t = a[i]
        if t.v is None:
            t.v = x * x
        else:
            t.v = t.v * 3
    return o.v + a[1].v


def last_of_two_objects(x):
    o = Holder()
    for o in [Holder(x), Holder(x * 2)]:
        if o.n is None:
            o.n = o.v
        last = o
    return last.n * o.v


def made_in_the_first_trip(x):
    v = None
    k = 0
    while k < 3:
        if v is None:
            v = np.array([x, x])
        v = v * x
        k += 1
    return v.sum()


def one_of_two_objects(x):
    o = Holder(x)
    p = Holder(o.v)
    if x > 0:
        p = o
    p.v = None if x < 0 else x * 4
    return (o.v if o.v is not None else 0.0) * x


def items_that_are_none(x):
    items = [x, None, x * 2]
    s = 0.0
    for it in items:
        if it is None:
            continue
        s = s + it**2
    return s


def on_and_off(x):
    o = Holder(x)
    for k in range(2):
        for _j in range(2):
            if o.n is None:
                o.n = x * (k + 1)
            else:
                o.n = None
        o.v = o.v + (o.n if o.n is not None else x)
    return o.v


def swapped_while_one_is_set(x):
    p, q = Holder(x), Holder(2 * x)
    o = q
    for k in range(3):
        p.n = x * k
        p, q = q, p
    return (o.n if o.n is not None else x * 7) * o.v


def asked_before_it_is_another(x):
    u, w = None, x
    t = u is None
    u = w if x > 1 else None
    if t:
        y = u * 2 if u is not None else x
    else:
        y = u
    return y


def read_of_another_object(x):
    o, p = Holder(), Holder(x)
    w = o.v
    o = p
    if w is None:
        return (o.v if o.v is not None else 1.0) * 3
    return x


def lists_that_take_turns(x):
    both = [[], []]
    a, b = both
    for k in range(3):
        a.append(x * k)
        a, b = b, a
    return sum(both[0]) * 2 + sum(both[1]) * 3 + len(both[0])


def best_object_so_far(x):
    best = None
    for k in range(3):
        c = Holder(x * (k - 1) ** 2)
        if best is None or c.v > best.v:
            best = c
        best.n = x if best.n is None else best.n * 2
    return best.v * best.n


def queue_that_grows_by_another_name(xs):
    queue, total = [0], 0.0
    q = queue
    edges = {0: 1, 1: 2, 2: 3}
    for n in queue:
        total += xs[n] ** 2
        if n in edges:
            q.append(edges[n])
    return total


def rows_that_grow_by_another_name(x):
    rows = [("a", x), ("b", x * 2, 3)]
    same = rows
    s = 0.0
    for row in rows:
        s = s + row[1] * len(row)
        if len(same) < 4:
            same.append(("c", x * 3))
    return s


def functions_that_grow_by_another_name(x):
    fs = [np.sin]
    same = fs
    for f in fs:
        x = f(x)
        if len(same) < 3:
            same.append(np.cos)
    return x


FUNCTIONS = (
    seen_by_two_names,
    one_of_two_that_is_none,
    none_again_in_one_trip,
    reset_by_a_function_inside,
    left_with_a_value,
    linked_list,
    filled_by_another_name,
    held_by_another_and_reset,
    read_before_it_is_none,
    read_before_it_has_a_value,
    two_that_may_be_none,
    one_list_twice_in_another,
    function_that_is_replaced,
    none_before_an_error,
    option_made_in_a_loop,
    asked_whether_it_is_there,
    remembered_by_functions,
    filled_in_a_loop_over_objects,
    last_of_two_objects,
    made_in_the_first_trip,
    one_of_two_objects,
    items_that_are_none,
    on_and_off,
    swapped_while_one_is_set,
    asked_before_it_is_another,
    read_of_another_object,
    lists_that_take_turns,
    best_object_so_far,
    rows_that_grow_by_another_name,
    functions_that_grow_by_another_name,
)
PROGRAMS = [(f, (x,)) for f in FUNCTIONS for x in (0.7,)]
PROGRAMS += [(queue_that_grows_by_another_name, ([0.1, 0.2, 0.3, 0.4],))]
