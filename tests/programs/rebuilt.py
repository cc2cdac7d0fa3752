"""Dicts that a loop makes anew from themselves: parameters, and what an optimiser keeps of them."""

from tangentc import grad


def step(p, x):
    return {k: v - 0.1 * x * v for k, v in p.items()}


def one_key_replaced(x):
    p = {"w": x, "b": x * x}
    for _ in range(3):
        p = {**p, "w": p["w"] * p["b"]}
    return p["w"] + p["b"]


def rebuilt_under_continue(x):
    p = {"w": x, "b": x * x}
    i = 0
    while i < 3:
        i += 1
        if i == 2:
            continue
        p = {k: v * x for k, v in p.items()}
    return p["w"] + p["b"]


def momentum(x):
    p = {"w": x, "b": x * x}
    m = {k: 0.0 * p[k] for k in p}
    for _ in range(3):
        g = {k: 2 * p[k] for k in p}
        m = {k: 0.9 * m[k] + g[k] for k in m}
        p = {k: p[k] - 0.1 * m[k] for k in p}
    return p["w"] + 2 * p["b"]


def best_so_far(x):
    p = {"w": x, "b": x * x}
    best = p
    for _ in range(3):
        p = {k: p[k] * x for k in p}
        if p["w"] < best["w"]:
            best = p
    return best["w"] + 2 * best["b"]


def steps_of_a_function(x):
    p = {"w": x, "c": x * x}
    for _ in range(2):
        p = step(p, x)
    return sum(p.values())


def descent_inside(x):
    p = {"w": x, "c": x * x}
    for _ in range(2):
        g = grad(lambda q: q["w"] * q["c"] ** 2)(p)
        p = {k: p[k] - 0.1 * g[k] for k in p}
    return sum(p.values())


def other_keys(x):
    d = {"a": x}
    s = 0.0
    for i in range(3):
        for k in d:
            s = s + d[k] * (i + 1)
        d = {"a": x * 2, "b": x * x}
    return s


def other_order(x):
    d = {"a": x, "b": 2 * x}
    for _ in range(2):
        q = [d[k] for k in d]
        d = {"b": q[0] * x, "a": q[1]}
    return d["a"] * d["b"] ** 2


def fewer_keys(x):
    d = {"w": x, "c": x}
    s = 0.0
    for _ in range(2):
        s = s + sum(d[k] ** 2 for k in d)
        d = {k: d[k] * x for k in d if k != "c"}
    return s


FUNCTIONS = (one_key_replaced, rebuilt_under_continue, momentum, best_so_far, steps_of_a_function, descent_inside)
CHANGING = (other_keys, other_order, fewer_keys)  # the keys of a dict that is made again in each trip
PROGRAMS = [(f, (0.7,)) for f in FUNCTIONS + CHANGING]
