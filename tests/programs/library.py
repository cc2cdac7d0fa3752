"""Programs that use the library's functions on sequences, and dicts with computed keys."""

import functools
import itertools
import operator

import numpy as np


def sorted_list(v):
    s = 0.0
    for k, x in enumerate(sorted(v)):
        s = s + k * x
    return s


def sorted_array(x):
    s = 0.0
    for k, v in enumerate(sorted(x)):
        s += k * v**2
    return s


def sorted_rev(x):
    return sum(k * v for k, v in enumerate(sorted(x, reverse=True)))


def sorted_key(v):
    return sum(k * x for k, x in enumerate(sorted(v, key=lambda t: -t)))


def sorted_pairs(v):
    pairs = sorted([(x * x, k) for k, x in enumerate(v)])
    return sum(p[0] * k for k, p in enumerate(pairs))


def sorted_dict(d):
    s = 0.0
    for k in sorted(d):
        s = s * 2 + d[k]
    return s


def sorted_items(d):
    s = 0.0
    for k, v in sorted(d.items()):
        s = s * (2 if k == "b" else 3) + v
    return s


def list_sort(v):
    w = [x * 2 for x in v]
    w.sort()
    return w[0] + 3 * w[1]


def min_key(v):
    return min(v, key=lambda t: abs(t - 1.01)) ** 2


def max_default(v):
    return max(v, default=0.0) + max([], default=3.0)


def mapped(v):
    return sum(map(lambda a, b: a * b, v, v[1:]))


def filtered(v):
    return sum(filter(lambda t: t > 0.5, v))


def nested_rec(x):
    def fact(n):
        if n <= 1:
            return x
        return n * x * fact(n - 1)

    return fact(4)


def nested_rec2(x):
    def tree(d):
        if d == 0:
            return np.sin(x)
        return tree(d - 1) * x + tree(d - 1)

    return tree(3)


def nested_rec_mut(x):
    out = np.zeros(5)

    def go(k):
        if k == 5:
            return
        out[k] = x**k
        go(k + 1)

    go(0)
    return np.sum(out)


def mutual(x):
    def even(n):
        return x if n == 0 else odd(n - 1) * x

    def odd(n):
        return 1.0 if n == 0 else even(n - 1) + x

    return even(4)


def rec_list(v):
    def total(items):
        if not items:
            return 0.0
        return items[0] ** 2 + total(items[1:])

    return total(v)


def accum(v):
    return sum(itertools.accumulate(v))


def red(v):
    return functools.reduce(operator.mul, v)


def product_iter(v):
    return sum(a * b for a, b in itertools.product(v, v))


def comb(v):
    return sum(a * b for a, b in itertools.combinations(v, 2))


def groups(v):
    d = {}
    for k, x in enumerate(v):
        d.setdefault(k % 2, []).append(x * x)
    return sum(d[0]) * sum(d[1])


def counts(v):
    d = {}
    for k, x in enumerate(v):
        d[k % 2] = d.get(k % 2, 0.0) + x
    return d[0] * d[1]


def memo(x):
    cache = {}
    for n in range(5):
        cache[n] = x if n < 2 else cache[n - 1] * cache[n - 2]
    return cache[4]


def tuple_keys(x):
    d = {}
    for i in range(2):
        for j in range(2):
            d[i, j] = x ** (i + j)
    return d[0, 1] + d[1, 1]


def dict_comp(v):
    d = {k: x * x for k, x in enumerate(v)}
    return sum(d.values()) + d[0]


def dict_len(v):
    d = dict(zip(["a", "b", "c"], v))
    return d["a"] * d["b"]


def del_key(x):
    d = {"a": x, "b": x * x}
    del d["a"]
    return sum(d.values())


def repeated(x):
    l = [x] * 3
    l[0] = x * x
    return sum(l)


def two_d(x):
    g = [[0.0] * 3 for _ in range(3)]
    for i in range(3):
        for j in range(3):
            g[i][j] = x * i + j
    return sum(sum(r) for r in g)


def dp(v):
    n = len(v)
    t = [[0.0] * (n + 1) for _ in range(n + 1)]
    for i in range(n):
        for j in range(n):
            t[i + 1][j + 1] = max(t[i][j + 1], t[i + 1][j]) + v[i] * v[j]
    return t[n][n]


def slices(v):
    w = v[::-1]
    w[1:3] = [w[1] * 2, w[2] * 3]
    return sum(w)


def insert_pop(v):
    w = list(v)
    w.insert(0, w.pop() * 2)
    w.remove(w[1])
    return w[0] * w[1]


def zip_long(v):
    return sum(a * (b or 1.0) for a, b in itertools.zip_longest(v, v[1:]))


def starred(v):
    first, *rest = v
    *init, last = rest
    return first * last + sum(init)


def any_all(v):
    if any(x > 2 for x in v) and all(x > 0 for x in v):
        return sum(v)
    return v[0]


def chained(x):
    if 0 < x < 2 <= 3:
        return x * x
    return x


def ternary(v):
    return [x if x > 0 else -x for x in v][0] * v[1]


def iters(v):
    it = iter(v)
    s = next(it)
    for x in it:
        s = s * x + 1
    return s


def enumerate_start(v):
    return sum(k * x for k, x in enumerate(v, start=2))


def rev_zip(v):
    return sum(a * b * k for k, (a, b) in enumerate(zip(v, reversed(v))))


def paired(v):
    d = {k: x * x for k, x in zip(["a", "b", "c"], v)}
    return d["a"] * d["b"]


def numbered(v):
    d = {k: v[i] for i, k in enumerate("abc")}
    return d["a"] * d["b"]


def filled_by_name(v, names):
    d = {}
    for n, x in zip(names, v):
        d[n] = x
    return d["a"] * d["b"]


def comprehended(v, names):
    d = {n: x * 2 for n, x in zip(names, v)}
    return d["a"] * d["b"]


def sorted_keys(d):
    total = 0.0
    for i, k in enumerate(sorted(d)):
        total += np.sin(d[k]) * (i + 1)
    for k in list(d):
        total *= d[k]
    return total


def items_by_computed_keys(xs):
    sums = {}
    for i, x in enumerate(xs):
        sums[i % 2] = x * x
    total = 0.0
    for key, value in sums.items():
        total += (key + 1) * value
    return total


def lists_by_computed_keys(xs):
    lists = {}
    for i, x in enumerate(xs):
        lists.setdefault(i % 2, []).append(x)
    return sum(len(items) * sum(items) ** 2 for items in lists.values())


def key_taken_and_others_run_over(xs):
    d = {"a": xs[0], "b": xs[1]}
    d.pop("a")
    d["c"] = xs[2]
    total = 0.0
    for key in d.keys():
        total += d[key] ** 2
    return total * len(d)


def sorted_items_of_computed_keys(xs):
    d = {}
    for i, x in enumerate(xs):
        d[str(i)] = x
    d.update({"0": xs[1] * 2})
    total = 0.0
    for _, value in sorted(d.items()):
        total = total * 0.5 + value
    return total


def kinds_that_are_left(xs):
    d = {"w": np.array(xs) * 2, "b": xs[0]}
    del d["b"]
    return sum(np.sum(v) for v in d.values())


def grouped_by_name(xs):
    groups = {}
    for x in xs:
        name = "small" if x < 0.5 else "large"
        if name in groups:
            groups[name].append(x)
        else:
            groups[name] = [x]
    return sum(np.mean(items) ** 2 for items in groups.values())


def best_key(xs):
    d = {i: x for i, x in enumerate(xs)}  # noqa: C416
    best = max(d, key=lambda key: d[key])
    return d[best] * max(d.values())


def turned_over(xs):
    d = dict(zip(range(3), xs))
    other = {key + 1: value * value for key, value in d.items()}
    return sum(other.values()) * d[0]


def united_in_place(x):
    d = {"a": x}
    d |= {"b": x * x}
    return d["a"] * d["b"]


def comprehension_given_with_a_star(xs):
    def product_and_sum(a, b, c):
        return a * b + c

    doubled = [x * 2 for x in xs]
    return product_and_sum(*doubled) + max(*doubled)


def steps_named_by_a_text(x, steps):
    for step in steps.split(","):
        if step == "sin":
            x = np.sin(x)
        elif step == "square":
            x = x * x
    return x


def steps_of_a_list_that_changes(x, steps):
    names = steps.split(",")
    names.pop()
    names.append("square")
    names.reverse()
    for name in names:
        x = np.sin(x) if name == "sin" else x * x
    return x * len(names)


def terms_named_by_a_text(x, terms):
    names = [name.strip() for name in terms.split("+")]
    total = 0.0
    for name in names:
        total += x if name == "a" else x * x
    return total * len(names)


def repeated_as_a_text_says(x, step):
    name, count = step.split(":")
    for _ in range(int(count)):
        x = np.sin(x) if name.lower().startswith("s") else x * x
    return x


LIST = [0.3, 1.2, 0.8]
PROGRAMS = [
    *((f, (LIST,)) for f in (
        sorted_list, sorted_key, sorted_pairs, list_sort, min_key, max_default, mapped, filtered, rec_list, accum, red,
        product_iter, comb, groups, counts, dict_comp, dict_len, dp, insert_pop, zip_long, starred, any_all, ternary,
        iters, enumerate_start, rev_zip, paired, numbered,
    )),
    (slices, ([0.3, 1.2, 0.8, 0.1],)), (sorted_array, (np.array(LIST),)), (sorted_rev, (np.array(LIST),)),
    *((f, (LIST,)) for f in (
        items_by_computed_keys, lists_by_computed_keys, key_taken_and_others_run_over, sorted_items_of_computed_keys,
        kinds_that_are_left, grouped_by_name, best_key, turned_over, comprehension_given_with_a_star,
    )),
    (united_in_place, (1.3,)), (steps_named_by_a_text, (0.4, "sin,square,sin")),
    (steps_of_a_list_that_changes, (0.4, "sin,sin,square")), (terms_named_by_a_text, (0.4, "a + b+a")), (repeated_as_a_text_says, (0.4, "Sin:3")),
    (sorted_keys, ({"b": 1.0, "a": 2.0},)),
    (sorted_dict, ({"b": 1.0, "a": 2.0},)), (sorted_items, ({"b": 1.0, "a": 2.0},)),
    *((f, (1.3,)) for f in (nested_rec, nested_rec2, nested_rec_mut, mutual, memo, tuple_keys, del_key, repeated, two_d, chained)),
    (filled_by_name, (LIST, ["a", "b", "c"])), (comprehended, (LIST, ["a", "b", "c"])),
]  # fmt: skip
