"""What the library's functions on sequences do, written in the language.

``sorted(xs)`` finds an order, which has no derivative, and takes the items in it, which has one.  A call of
such a function through which a derivative flows is lowered as the function here; the lists that it makes
stand for the library's iterators.
"""

from __future__ import annotations

import builtins
import collections
import functools
import itertools
import operator
from types import BuiltinFunctionType
from typing import Any

import numpy as np

from tangentc import runtime
from tangentc.frontend.asked import ZIPPED
from tangentc.frontend.iterators import ALL_LEFT, ARRAY, FIRST, FIRST_OR, LENGTH, LISTED, PLACES, QUEUE
from tangentc.runtime import order


def sorted_(items, *, key=None, reverse=False):
    held = list(items)
    keys = held if key is None else [key(item) for item in held]
    return [held[k] for k in order(keys, reverse)]


def least(items, key=None):
    held = list(items)
    keys = held if key is None else [key(item) for item in held]
    return held[order(keys)[0]]


def greatest(items, key=None):
    held = list(items)
    keys = held if key is None else [key(item) for item in held]
    return held[order(keys, True)[0]]


def least_of(*items, key=None):
    return least(items, key)


def greatest_of(*items, key=None):
    return greatest(items, key)


def least_or(items, default, key=None):
    return least(items, key) if len(items) else default


def greatest_or(items, default, key=None):
    return greatest(items, key) if len(items) else default


def groups(items, key=None):
    found: list = []
    for item in items:
        k = item if key is None else key(item)
        if len(found) == 0 or found[-1][0] != k:
            found.append((k, [item]))
        else:
            found[-1][1].append(item)
    return found


def map_(function, items):
    return [function(item) for item in items]


def map_rows(function, *lists):
    return [function(*row) for row in zip(*lists)]


def filter_(function, items):
    if function is None:
        return [item for item in items if item]
    return [item for item in items if function(item)]


def reduce_one(function, items):
    result = items[0]
    for item in items[1:]:
        result = function(result, item)
    return result


def reduce_from(function, items, result):
    for item in items:
        result = function(result, item)
    return result


def accumulate(items, func=None, *, initial=None):
    out = [] if initial is None else [initial]
    for item in items:
        if len(out) == 0:
            out.append(item)
        else:
            out.append(out[-1] + item if func is None else func(out[-1], item))
    return out


def chain(*parts):
    return [item for part in parts for item in part]


def column(rows, k):
    if len(rows) == 0:
        raise ValueError("zip(*rows) of no rows has no columns")
    return tuple([row[k] for row in rows])


def product_1(items):
    return [(item,) for item in items]


def product_2(first, second):
    return [(a, b) for a in first for b in second]


def product_3(first, second, third):
    return [(a, b, c) for a in first for b in second for c in third]


def combinations_2(items):
    held = list(items)
    return [(held[i], held[j]) for i in range(len(held)) for j in range(i + 1, len(held))]


def combinations_3(items):
    held = list(items)
    n = len(held)
    return [(held[i], held[j], held[k]) for i in range(n) for j in range(i + 1, n) for k in range(j + 1, n)]


def permutations_2(items):
    held = list(items)
    return [(held[i], held[j]) for i in range(len(held)) for j in range(len(held)) if i != j]


def pairwise(items):
    held = list(items)
    return [(held[k], held[k + 1]) for k in range(len(held) - 1)]


def starmap(function, rows):
    return [function(*row) for row in rows]


def islice(items, *bounds):
    held = list(items)
    return held[slice(*bounds)]


def takewhile(predicate, items):
    out = []
    for item in items:
        if not predicate(item):
            break
        out.append(item)
    return out


def zip_longest(first, second, *, fillvalue=None):
    count = max(len(first), len(second))
    return [(first[k] if k < len(first) else fillvalue, second[k] if k < len(second) else fillvalue)
            for k in range(count)]  # fmt: skip


def dict_of(pairs):
    return {key: value for key, value in pairs}  # noqa: C416


def all_left(items):
    held = []
    while len(items):
        held.append(items.pop(0))
    return held


def first(items):
    return items[0]


def first_or(items, default):
    for item in items:
        return item
    return default


def quotient_and_remainder(x, y):
    return x // y, x % y


def sum_from(items, start=0):
    total = start
    for item in items:
        total = total + item
    return total


def sum_of_objects(items):
    total = 0 + items[0]
    for item in items[1:]:
        total = total + item
    return total


def attribute_or(obj, name, default):
    return getattr(obj, name) if hasattr(obj, name) else default


def listed(items):
    return [item for item in items]  # noqa: C416


def tupled(items):
    return tuple([item for item in items])  # noqa: C416


def ndenumerate(array):
    return [(index, array[index]) for index in np.ndindex(np.shape(array))]


def repeated(items, count):
    return [item for _ in range(count) for item in items]


def repeated_one(item, count):
    return [item for _ in range(count)]


def joined_by_rows(*items):
    return np.concatenate([np.atleast_1d(item) for item in items])


def joined_by_columns(*items):
    columns = [np.reshape(item, (-1, 1)) if np.ndim(item) < 2 else item for item in items]
    return np.concatenate(columns, axis=-1)


# ---------------------------------------------------------- what emitted code calls
def add_if_copied(x_bar, y_bar, order="C"):
    if not np.may_share_memory(x_bar, y_bar):
        x_bar += np.reshape(y_bar, np.shape(x_bar), order=order)


# ---------------------------------------------------------- methods
def sort(items, *, key=None, reverse=False):
    items[:] = sorted_(items, key=key, reverse=reverse)


def remove(items, value):
    items.pop(items.index(value))


def clear(items):
    while len(items):
        items.pop()


def get(entries, key, default=None):
    return entries[key] if key in entries else default


def first_value(obj, name, compute):
    held = getattr(obj, name)
    if held is None:
        held = compute(obj)
        setattr(obj, name, held)
    return held


def setdefault(entries, key, default=None):
    if key not in entries:
        entries[key] = default
    return entries[key]


def pop_or(entries, key, default):
    return entries.pop(key) if key in entries else default


def values(entries):
    return [entries[key] for key in entries]


def items_of(entries):
    return [(key, entries[key]) for key in entries]


def keys(entries):
    return [key for key in entries]  # noqa: C416


def update(entries, other=None, **more):
    if other is not None:
        for key in other:
            entries[key] = other[key]
    for key in more:
        entries[key] = more[key]


def popleft(items):
    return items.pop(0)


def extend(items, values):
    for value in values:
        items.append(value)


def extendleft(items, values):
    for value in values:
        items.appendleft(value)


def rotate(items, steps=1):
    for _ in range(steps):
        items.insert(0, items.pop())
    for _ in range(-steps):
        items.append(items.pop(0))


def last_of(items, most):
    return items[max(len(items) - most, 0) :]


def counted(count, start=0, step=1):
    if isinstance(start, int) and isinstance(step, int):
        return range(start, start + step * count, step)
    return [start + step * k for k in range(count)]


def cycled(count, items):
    return [items[k % len(items)] for k in range(count)]


def same(count, object):
    return [object for _ in range(count)]


def places(array):
    return np.ndindex(np.shape(array))


NAMED = {
    ZIPPED: builtins.zip, ALL_LEFT: all_left, FIRST: first, FIRST_OR: first_or, LENGTH: builtins.len,
    LISTED: builtins.list, PLACES: places, QUEUE: collections.deque, ARRAY: np.ndarray,
}  # fmt: skip


def item_at(key, x):
    return x[key]


def items_at(one, other, x):
    return x[one], x[other]


def attribute_at(name, x):
    return getattr(x, name)


def called_by(name, x):
    return getattr(x, name)()


def called_with(name, y, x):
    return getattr(x, name)(y)


ASKING: dict[Any, dict[int, Any]] = {  # what gives a function that asks for a part, by the number of its arguments
    operator.itemgetter: {1: item_at, 2: items_at}, operator.attrgetter: {1: attribute_at},
    operator.methodcaller: {1: called_by, 2: called_with},
}  # fmt: skip
OF_QUEUES = {"popleft": popleft, "extend": extend, "extendleft": extendleft, "rotate": rotate}
METHODS: dict[type, dict[str, Any]] = {
    list: {"sort": sort, "remove": remove, "clear": clear},
    dict: {
        "get": get,
        "setdefault": setdefault,
        "pop": pop_or,
        "values": values,
        "items": items_of,
        "keys": keys,
        "update": update,
    },
}
FUNCTIONS: dict[Any, Any] = {
    builtins.divmod: quotient_and_remainder, builtins.sorted: sorted_, builtins.dict: dict_of,
    itertools.accumulate: accumulate, itertools.chain: chain,
    itertools.pairwise: pairwise, itertools.starmap: starmap, itertools.islice: islice,
    itertools.takewhile: takewhile, itertools.zip_longest: zip_longest,
    builtins.sum: sum_of_objects, builtins.list: listed, np.ndenumerate: ndenumerate, builtins.tuple: tupled,
}  # fmt: skip
OF_SIZE: dict[Any, dict[int, Any]] = {
    itertools.product: {1: product_1, 2: product_2, 3: product_3},
    itertools.combinations: {2: combinations_2, 3: combinations_3},
    itertools.permutations: {2: permutations_2},
}


def stands_for(op: Any) -> bool:
    """Whether a call of the library may be lowered as a function here."""
    of_items = op in FUNCTIONS or op in OF_SIZE or op is builtins.max or op is builtins.min
    return isinstance(op, (type, BuiltinFunctionType)) and of_items


def is_certain(callee: Any, args: list, keywords: dict[str, Any]) -> bool:
    """Whether a call is lowered as the function here whatever its arguments are."""
    with_key = callee in (builtins.max, builtins.min) and bool(keywords)
    return not stands_for(callee) or with_key or callee is builtins.sum and bool(args[1:] or keywords)


def written(callee: Any, args: list, keywords: dict[str, Any]) -> tuple[Any, list, dict[str, Any]] | None:
    """The function here that a call of the library stands for, and its arguments; None if there is none."""
    if callee is runtime.add_if_copied:
        return add_if_copied, args, keywords
    if not isinstance(callee, (type, BuiltinFunctionType)):
        return None
    if callee is builtins.map:
        return (map_ if len(args) == 2 else map_rows), args, keywords
    if callee is itertools.groupby:
        return groups, args, keywords
    if callee is builtins.filter:
        return filter_, args, keywords
    if callee is functools.reduce:
        return (reduce_one if len(args) == 2 else reduce_from), args, keywords
    if callee is builtins.min and len(args) == 1:
        return (least_or if "default" in keywords else least), args, keywords
    if callee is builtins.max and len(args) == 1:
        return (greatest_or if "default" in keywords else greatest), args, keywords
    if callee in (builtins.min, builtins.max) and len(args) > 1:
        return (least_of if callee is builtins.min else greatest_of), args, keywords
    if callee is builtins.sum and (len(args) == 2 or "start" in keywords):
        return sum_from, args, keywords
    if callee in FUNCTIONS:
        return FUNCTIONS[callee], args, keywords
    if callee is itertools.product and not keywords and len(args) in OF_SIZE[callee]:
        return OF_SIZE[callee][len(args)], args, keywords
    size = getattr(args[1], "value", None) if len(args) == 2 else None
    if callee in OF_SIZE and size in OF_SIZE[callee]:
        return OF_SIZE[callee][size], args[:1], keywords
    return None
