"""A part of what was cut apart like the arrays that it was joined of, as a slice.

split_like(z_bar, [x, h], 1)[1]      ->  z_bar[:, x.shape[1]:]
"""

from __future__ import annotations

import builtins
import operator
from collections import Counter
from dataclasses import replace

import numpy as np

from tangentc.core import ops
from tangentc.core.build import Builder, is_sure
from tangentc.core.lengths import Dim
from tangentc.core.nodes import Assign, Atom, Const
from tangentc.core.types import Array

MOST_SIZES = 2  # that are added up for one bound
LISTS = (ops.make_list, ops.make_tuple)


def part_of_split(b: Builder, split: Assign, k: int) -> Atom | None:
    """The k-th part of ``split_like(y_bar, arrays, axis)``, None where it is not written as a slice."""
    y_bar, arrays, *rest = split.args
    axis, made = rest[0] if rest else Const(0), b.primal.get(arrays) or b.definition(arrays)  # type: ignore[arg-type]
    t = b.type(y_bar)
    if made is None or made.op not in LISTS or not isinstance(t, Array) or not isinstance(axis, Const):
        return None
    types = [b.type(a) for a in made.args]
    if type(axis.value) is not int or not -len(made.args) <= k < len(made.args) or not isinstance(y_bar, str):
        return None
    if not all(isinstance(one, Array) and not one.or_number and is_sure(one.shape) for one in types):
        return None
    place = axis.value % len(t.shape)
    sizes: list[tuple[Dim, Atom]] = [(one.shape[place], a) for one, a in zip(types, made.args, strict=True)]  # type: ignore
    k %= len(sizes)
    start = _sum(b, sizes[:k], place)
    stop = Const(None) if k == len(sizes) - 1 else _sum(b, sizes[: k + 1], place)
    if start is None or stop is None:
        return None
    part = b.emit(operator.getitem, (y_bar, _key(b, Const(None) if k == 0 else start, stop, place)))
    b.types.of_name[part] = replace(t, shape=types[k].shape)  # type: ignore[index,union-attr]
    return part


def _sum(b: Builder, sizes: list[tuple[Dim, Atom]], axis: int) -> Atom | None:
    """How long arrays are together, None where that is the sum of many."""
    count = Counter(d for d, _ in sizes)
    if len(count) > MOST_SIZES:
        return None
    total: Atom = Const(sum(d * n for d, n in count.items() if isinstance(d, int)))
    for d, n in count.items():
        if isinstance(d, int):
            continue
        array = next(a for other, a in sizes if other == d)
        size = b.named_length(d) or b.emit(operator.getitem, (b.emit(np.shape, (array,)), Const(axis)))
        size = size if n == 1 else b.emit(operator.mul, (Const(n), size))
        total = size if total == Const(0) else b.emit(operator.add, (total, size))
    return total


def _key(b: Builder, start: Atom, stop: Atom, axis: int) -> Atom:
    if isinstance(start, Const) and isinstance(stop, Const):
        part = slice(start.value, stop.value)
        return Const((*(slice(None),) * axis, part) if axis else part)
    bounds = b.emit(builtins.slice, (start, stop, Const(None)))
    return b.emit(ops.make_tuple, (*(Const(slice(None)),) * axis, bounds)) if axis else bounds
