"""What asks for the form of arrays, casts, and what passes values on.

len(x)      ->      x.shape[1]
"""

from __future__ import annotations

import builtins
import math
import operator

import numpy as np

from tangentc.batching import subscripts
from tangentc.batching.elementwise import as_strong
from tangentc.batching.generic import generic
from tangentc.batching.marks import Mark, is_batched, join, parts, place, tidy
from tangentc.batching.registry import batches
from tangentc.batching.writer import BEHIND, Writer
from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Const
from tangentc.core.types import Array, Scalar, Tuple, Type, is_container, is_slice

Found = tuple[Atom, Mark] | None


def _shape(w: Writer, x: Atom) -> Atom:
    whole = w.emit(getattr, (w.now(x), Const("shape")))
    of_one = w.emit(operator.getitem, (whole, BEHIND))
    w.shapes[of_one] = whole
    return of_one


@batches(np.shape)
def shape(w: Writer, s: Assign) -> Found:
    return (_shape(w, s.args[0]), False) if isinstance(w.type(s.args[0]), Array) else None


@batches(len)
def length(w: Writer, s: Assign) -> Found:
    x = s.args[0]
    if is_container(w.type(x)):
        return w.emit(len, (w.now(x),)), False
    return (w.dims(x, 1)[0], False) if w.rank(x) else None


@batches(np.ndim)
def ndim(w: Writer, s: Assign) -> Found:
    rank = w.rank(s.args[0])
    return None if rank is None else (Const(rank), False)


@batches(np.size)
def size(w: Writer, s: Assign) -> Found:
    x, rank = s.args[0], w.rank(s.args[0])
    if rank is None or len(s.args) > 1 or s.keywords:
        return None
    if rank < 2:
        return (w.dims(x, 1)[0] if rank else Const(1)), False
    return w.emit(math.prod, (_shape(w, x),)), False


@batches(builtins.getattr)
def attribute(w: Writer, s: Assign) -> Found:
    x, name = s.args[0], s.args[1]
    t = w.type(x)
    if not isinstance(name, Const):
        return None
    if is_container(t):
        return _item(w, s, t, name.value)
    forms = {"shape": shape, "ndim": ndim, "size": size}
    if name.value in forms:
        return forms[name.value](w, Assign(s.target, s.op, (x,), (), s.span))
    if name.value == "dtype":
        return w.emit(getattr, (w.now(x), name)), False
    return (w.emit(getattr, (w.now(x), name)), True) if name.value in ("real", "imag") else None


@batches(operator.getitem)
def getitem(w: Writer, s: Assign) -> Found:
    x, key = s.args
    t = w.type(x)
    if isinstance(t, Array):
        found = subscripts.read(w, s)
        if found is not None and isinstance(w.type(s.target), Scalar) and w.program.aliases.is_changed(str(x)):
            return w.emit(np.copy, (found[0],)), True  # a number stays what it is when the array is changed
        return found
    if not is_container(t) or is_batched(w.mark(key)):
        return None
    if is_slice(w.type(key)):
        held = parts(w.mark(x), t)
        if isinstance(t, Tuple):
            held = held[key.value] if isinstance(key, Const) else ()
        elif len(held) > 1:
            held = parts(_all(held), w.type(s.target))
        return (w.emit(operator.getitem, (w.now(x), w.now(key))), tidy(held)) if held else None
    return _item(w, s, t, key.value if isinstance(key, Const) else None)


def _item(w: Writer, s: Assign, t: Type, key: object) -> Found:
    held = parts(w.mark(s.args[0]), t)
    k = place(t, key)
    mark = _all(held) if k is None else held[k]
    if k is None and any(m != mark for m in held):  # any of them may be meant
        w.need(s.args[0], (mark,) * len(held))
    return w.emit(s.op, tuple(map(w.now, s.args)), s.keywords), mark


def _all(held: tuple[Mark, ...]) -> Mark:
    mark: Mark = False
    for m in held:
        mark = join(mark, m)
    return mark


@batches(ops.identity, ops.stopped, ops.snapshot, ops.inserted, ops.copied)
def passed_on(w: Writer, s: Assign) -> Found:
    keywords = tuple((k, w.now(a)) for k, a in s.keywords)
    return w.emit(s.op, (w.now(s.args[0]), *map(w.now, s.args[1:])), keywords), w.mark(s.args[0])


@batches(ops.select)
def select(w: Writer, s: Assign) -> Found:
    test, x, y = s.args
    return chosen(w, test, x, y, w.type(s.target))


def chosen(w: Writer, test: Atom, x: Atom, y: Atom, t: Type) -> Found:
    """One value or another, by a test of each example."""
    if is_container(t):
        return None
    ranks = w.ranks(test, x, y)
    if ranks is None or not isinstance(t, (Array, Scalar)) or getattr(t, "or_number", False):
        return None
    rank = max(ranks)
    if not any(map(w.mark, (test, x, y))):
        return None
    if y == test and _is_test(t):
        return w.emit(operator.and_, (w.now(test), w.now(x))), True
    if x == test and _is_test(t):
        return w.emit(operator.or_, (w.now(test), w.now(y))), True
    args = tuple(as_strong(w, a, w.aligned(a, rank), (x, y)) for a in (x, y))
    return w.emit(np.where, (w.aligned(test, rank), *args)), True


def _is_test(t: Type) -> bool:
    return isinstance(t, Scalar) and t.dtype == "bool"


@batches(builtins.float)
def as_float(w: Writer, s: Assign) -> Found:
    x, rank = s.args[0], w.rank(s.args[0])
    if rank is None:
        return None
    now = w.now(x) if not rank else w.emit(np.reshape, (w.now(x), w.size))
    if w.type(x).dtype == "float64":  # type: ignore[union-attr]
        return now, True
    return w.emit(np.astype, (now, Const(np.float64))), True


@batches(builtins.int)
def as_int(w: Writer, s: Assign) -> Found:
    if len(s.args) != 1 or w.rank(s.args[0]) != 0:
        return None
    return w.emit(np.astype, (w.now(s.args[0]), Const(np.int64))), True


@batches(ops.item)
def item(w: Writer, s: Assign) -> Found:
    rank = w.rank(s.args[0])
    if rank is None:
        return None
    return (w.now(s.args[0]) if not rank else w.emit(np.reshape, (w.now(s.args[0]), w.size))), True


@batches(operator.not_)
def negated(w: Writer, s: Assign) -> Found:
    return (w.emit(np.logical_not, (w.now(s.args[0]),)), True) if w.rank(s.args[0]) == 0 else None


@batches(operator.is_, operator.is_not)
def same(w: Writer, s: Assign) -> Found:
    """An array is no other object than it is in one example."""
    if Const(None) in s.args and all(w.rank(a) is not None for a in s.args if a != Const(None)):
        return Const(s.op is operator.is_not), False
    return None


@batches(builtins.isinstance, builtins.type, builtins.callable, builtins.hasattr)
def of_its_class(w: Writer, s: Assign) -> Found:
    return None


@batches(builtins.round)
def rounded(w: Writer, s: Assign) -> Found:
    if w.rank(s.args[0]) == 0 and w.type(s.args[0]).dtype == "float64" and not any(map(w.mark, s.args[1:])):  # type: ignore[union-attr]
        made: Atom = w.emit(np.round, tuple(map(w.now, s.args)))
        integer = isinstance(t := w.type(s.target), Scalar) and t.dtype.startswith("int")
        return (w.emit(np.astype, (made, Const(np.int64))) if integer else made), True
    return None


@batches(np.astype)
def astype(w: Writer, s: Assign) -> Found:
    if w.rank(s.args[0]) is None or any(map(w.mark, s.atoms[1:])):
        return None
    return w.emit(s.op, (w.now(s.args[0]), *s.args[1:]), s.keywords), True


@batches(np.zeros_like, np.ones_like, np.empty_like, np.copy, np.ascontiguousarray)
def like(w: Writer, s: Assign) -> Found:
    if w.rank(s.args[0]) is None or any(k in ("shape", "order") for k, _ in s.keywords) or len(s.args) > 2:
        return None
    if w.rank(s.args[0]) == 0 and s.op is np.ascontiguousarray:
        return generic(w, s)
    return w.emit(s.op, tuple(map(w.now, s.args)), s.keywords), True
