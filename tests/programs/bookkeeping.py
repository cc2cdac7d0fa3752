"""What is kept beside the numbers: heaps, sorted lists, methods with names of their own, what the library reads."""

import bisect
import collections
import csv
import functools
import heapq
import io
import re

import numpy as np


def heap(x):
    h = [2, 0, 1]
    heapq.heapify(h)
    return x[h[0]] * x[1]


def heap_filled_by_a_function(x):
    h = []
    for i in (2, 0, 1):
        push(h, i)
    return x[h[0]] * x[1]


def push(h, item):
    heapq.heappush(h, item)


def heap_emptied(x):
    h = [2, 0, 1]
    s = x[h[0]] ** 2
    heapq.heapify(h)
    while h:
        s = s * x[0] + x[heapq.heappop(h)] ** 2
    return s


def heap_in_a_partial_function(x):
    h = [2, 0, 1]
    functools.partial(heapq.heapify, h)()
    return x[h[0]] * x[1]


def sorted_list(x):
    places = []
    s = 0.0
    for i in (2, 0, 1):
        bisect.insort(places, i)
        s += x[places[0]] ** 2 * x[1]
    return s


def append_with_a_name(x):
    places = [0]
    add = places.append
    add(2)
    return x[places[-1]] ** 2 * len(places)


def append_mapped(x):
    places = [0]
    list(map(places.append, [1, 2]))
    return x[len(places) - 1] ** 2


def append_given(x):
    trace = []
    y = iterated(lambda v: v * v, x, seen=trace.append)
    return y[0] * len(trace)


def iterated(f, x, seen=None):
    for k in range(2):
        x = f(x)
        if seen is not None:
            seen(k)
    return x


def append_in_a_dict(x):
    places = [0]
    calls = {"seen": places.append}
    calls["seen"](2)
    return x[places[-1]] ** 2


def append_counted(x):
    seen = []
    note = seen.append
    for i in range(3):
        note(i)
    return x[0] ** 2 * len(seen)


def update_with_a_name(x):
    d = {"a": 0}
    renew = d.update
    renew(a=1)
    return x[d["a"]] ** 2


def called_by_keyword(x):
    f = {"two": np.full, "one": np.ones}["two"]
    return np.sum(x**2 * f(shape=3, fill_value=2.0))


def matches(x):
    s = 0.0
    for match in re.finditer("a", "banana"):
        s += x[int(match.start()) % 3] ** 2
    return s


def matches_of_a_name(x):
    found = re.finditer("a", "banana")
    s = sum(x[int(match.start()) % 3] ** 2 for match in found)
    for match in found:
        s += x[int(match.start()) % 3] ** 2
    return s


def parts_of_a_text(x):
    return sum([float(part) * x[k] ** 2 for k, part in enumerate(re.split(",", "1,2,3"))])


def table(x):
    rows = csv.reader(io.StringIO("1,2\n0,1\n"))
    return sum([x[int(i)] * x[int(j)] ** 2 for i, j in rows])


def lines(x):
    s = 0.0
    for k, line in enumerate(io.StringIO("1\n0\n2\n")):
        s += (k + 1) * x[int(line)] ** 2
    return s


def entries_by_nditer(x):
    s = 0.0
    for i in np.nditer(np.arange(3)):
        s += x[int(i)] ** 2
    return s


def places_seen(x):
    seen = set()
    s = 0.0
    for i in (0, 1, 1, 2, 0):
        if i in seen:
            continue
        seen.add(i)
        s += x[i] ** 2 * len(seen)
    return s


def graph_walked(x):
    neighbours = {0: [1, 2], 1: [0], 2: [1]}
    done, waiting = {2}, [0]
    s = 0.0
    while waiting:
        k = waiting.pop(0)
        if k in done:
            continue
        done.add(k)
        for j in neighbours[k]:
            s += x[k] * x[j]
            if j not in done:
                waiting.append(j)
    return s * len(done)


def set_that_shrinks(x):
    left = {0, 1, 2}
    s = 0.0
    while left:
        k = min(left)
        s = s * x[k] + x[k] ** 2 * len(left)
        left.discard(k)
    return s


def sets_called(x):
    return places_seen(x) * graph_walked(x) + set_that_shrinks(x)


def taken_from(waiting):
    k = 7
    if waiting["u"]:
        k = waiting["u"].pop()
    if waiting["u"]:
        k = 20
    return k


def lists_by_key_called(x):
    waiting = collections.defaultdict(list)
    waiting["u"] = [1]
    return x[0] * taken_from(waiting)


def asked_in_a_try(x):
    y = x[0]
    for k in (1, 3):
        try:
            if any(q > 2 for q in (0, k)):
                raise ValueError
            y = y * x[1]
        except ValueError:
            y = y * 3
    return y * x[2]


def numbers_in_a_set(x):
    s = set()
    s.add(x[0])
    s.add(x[1])
    return sum(s)


def numbers_in_a_display(x):
    return sum({x[0], x[1] * 2})


def sets_that_are_joined(x):
    a = {1, 2, 3}
    b, s = a, 0.0
    for k in range(4):
        if k in b:
            s += np.sum(x**k)
        a -= {k + 1}
        if k == 2:
            a |= {5, 3}
        a ^= {7}
    a &= {5, 7, 3}
    return s * len(b)


def numbers_as_keys(x):
    scores = {}
    for name, v in zip("abc", x):
        scores[v * v] = name
    return max(scores)


def numbers_as_keys_by_setdefault(x):
    d = {}
    d.setdefault(x[0], 1.0)
    return list(d)[0]


def numbers_in_keys(x):
    d = {}
    d["t", x[0]] = 1.0
    return list(d)[0][1]


def dict_turned_round(x):
    d = {"a": x[0], "b": x[1]}
    found = {v: k for k, v in d.items()}
    return max(found)


def dict_of_pairs(x):
    return sum(dict(zip(x, [1.0, 2.0, 3.0])))


def rounded_numbers_as_keys(x):
    d = {}
    for v in x:
        d[round(float(v), 1)] = v * v
    return sum(d.values()) + d[round(float(x[0]), 1)]


MOVING_KEYS = (numbers_as_keys, numbers_as_keys_by_setdefault, numbers_in_keys, dict_turned_round, dict_of_pairs)
ALONE = (
    rounded_numbers_as_keys, *MOVING_KEYS,
    lists_by_key_called, asked_in_a_try, places_seen, graph_walked, set_that_shrinks, sets_called, numbers_in_a_set, numbers_in_a_display,
    heap, heap_filled_by_a_function, heap_emptied, heap_in_a_partial_function, sorted_list, append_with_a_name,
    append_mapped, append_given, append_in_a_dict, append_counted, update_with_a_name, called_by_keyword, matches,
    matches_of_a_name, parts_of_a_text, table, lines, entries_by_nditer, sets_that_are_joined,
)  # fmt: skip


def heaps_called(x):
    return 2.0 * heap(x) + heap_filled_by_a_function(x) * heap_emptied(x) + heap_in_a_partial_function(x)


def lists_called(x):
    return sorted_list(x) + append_with_a_name(x) * append_mapped(x) + append_in_a_dict(x)


def calls_called(x):
    return append_given(x) * update_with_a_name(x) + append_counted(x) ** 2 + called_by_keyword(x)


def readers_called(x):
    return matches(x) + matches_of_a_name(x) * parts_of_a_text(x) + table(x) * lines(x) + entries_by_nditer(x)


X = np.array([0.4, 0.7, 0.9])
PROGRAMS = [(f, (X,)) for f in (*ALONE, heaps_called, lists_called, calls_called, readers_called)]
REFUSED = {*(f.__name__ for f in MOVING_KEYS), "numbers_in_a_set", "numbers_in_a_display"}
