"""Tuples, lists, dicts and objects of a batch: what they hold is batched, item by item."""

from __future__ import annotations

import builtins

import numpy as np

from tangentc.batching.marks import EACH, Mark, is_batched, join, parts, place, tidy
from tangentc.batching.registry import batches
from tangentc.batching.writer import FIRST, Writer
from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom
from tangentc.core.types import Array, Sequence, Type, is_container

Found = tuple[Atom, Mark] | None


@batches(ops.make_tuple, ops.make_list, ops.make_dict, ops.make_struct)
def put_together(w: Writer, s: Assign) -> Found:
    t, first = w.type(s.target), FIRST[s.op]
    if not is_container(t):
        return None
    items = s.args[first:]
    marks = tuple(map(w.mark, items))
    if len(t.items) == 1 < len(items):  # which are alike
        mark = parts(w.raised.get(s.target, False), t)[0]
        for m in marks:
            mark = join(mark, m)
        marks = (mark,) * len(items)
        held: tuple[Mark, ...] = (mark,)
    else:
        held_ = [*parts(w.raised.get(s.target, False), t)]  # and what is put into it later
        places = [place(t, w.key(s, k)) for k in range(first, len(s.args))]
        if None in places:
            return None
        for k, m in zip(places, marks, strict=True):
            held_[k] = join(held_[k], m)  # type: ignore[index]
        held = tuple(held_)
        marks = tuple(held[k] for k in places)  # type: ignore[index]
    if EACH in held:
        return None
    made = tuple(w.raised_to(a, m) for a, m in zip(items, marks, strict=True))
    return w.emit(s.op, (*s.args[:first], *made)), tidy(held)


def rows(w: Writer, a: Atom) -> tuple[Atom, Mark] | None:
    """What a loop takes of a value one after the other."""
    t = w.type(a)
    if is_container(t):
        held = parts(w.mark(a), t)
        mark: Mark = False
        for m in held:
            mark = join(mark, m)
        return None if mark is EACH or any(m != mark for m in held) else (w.now(a), mark)
    if not isinstance(t, Array):
        return w.now(a), False
    if not w.rank(a):
        return None
    return (w.emit(np.swapaxes, (w.now(a), *map(_const, (0, 1)))) if w.mark(a) else w.now(a)), w.mark(a)


def _const(value: int) -> Atom:
    from tangentc.core.nodes import Const

    return Const(value)


@batches(builtins.zip, builtins.enumerate, builtins.reversed, builtins.list, builtins.tuple, builtins.iter)
def run_over(w: Writer, s: Assign) -> Found:
    t: Type = w.type(s.target)
    found = [rows(w, a) for a in s.args]
    if None in found or not isinstance(t, Sequence) or len(t.items) != 1 or s.keywords:
        return None
    marks = [f[1] for f in found if f is not None]
    mark = marks[0]
    if s.op is builtins.zip:
        mark = tidy(tuple(marks))
    elif s.op is builtins.enumerate:
        mark = tidy((False, marks[0]))
    return w.emit(s.op, tuple(f[0] for f in found if f is not None)), tidy((mark,)) if is_batched(mark) else False


@batches(ops.take, ops.items_from)
def taken(w: Writer, s: Assign) -> Found:
    t = w.type(s.args[0])
    if not is_container(t) or len(t.items) != 1 or any(is_batched(w.mark(a)) for a in s.args[1:]):
        return None
    mark = parts(w.mark(s.args[0]), t)[0]
    return w.emit(s.op, tuple(map(w.now, s.args))), mark if s.op is ops.take else tidy((mark,))
