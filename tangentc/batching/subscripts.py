"""Subscripts of arrays of a batch.

x[1:, 0]      ->      x[:, 1:, 0]
x[i]          ->      x[np.arange(batch_size), i]          where each example has an index of its own

An integer or an array of integers of each example meets the number of the example, so that NumPy pairs them.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass

import numpy as np

from tangentc.batching.marks import EACH, is_batched
from tangentc.batching.writer import ALL, Writer
from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Const, Store
from tangentc.core.types import Array, Known, Scalar, Sequence, Tuple, Type, is_slice
from tangentc.core.values import type_of


@dataclass
class Part:
    """A part of a subscript: an integer, a slice, an array of integers, a mask, a new axis, or `...`."""

    atom: Atom
    kind: str
    rank: int  # the axes of the result that it makes
    takes: int  # the axes of the array that it stands for
    batched: bool

    @property
    def advanced(self) -> bool:
        return self.kind in ("array", "mask") or self.batched


def parts_of(w: Writer, key: Atom) -> list[Part] | None:
    """The parts of a subscript; None if they are not known."""
    atoms: list[Atom]
    if isinstance(key, Const):
        atoms = [Const(v) for v in key.value] if isinstance(key.value, tuple) else [key]
    else:
        made = w.made.get(key) if isinstance(key, str) else None
        if isinstance(made, Assign) and made.op is ops.make_tuple:
            atoms = list(made.args)
        elif isinstance(w.type(key), Tuple) and not is_slice(w.type(key)):
            return None
        else:
            atoms = [key]
    found = [_part(w, a, type_of(a.value) if isinstance(a, Const) else w.type(a)) for a in atoms]
    return None if None in found else found  # type: ignore[return-value]


def _part(w: Writer, atom: Atom, t: Type) -> Part | None:
    batched = is_batched(w.mark(atom))
    if w.mark(atom) is EACH:
        return None
    if is_slice(t) or isinstance(t, Known) and isinstance(t.value, slice):
        return None if batched else Part(atom, "slice", 1, 1, False)
    if isinstance(t, Known) and (t.value is None or t.value is ...):
        return Part(atom, "new" if t.value is None else "rest", 1, 0, False)
    if isinstance(t, Scalar) and np.dtype(t.dtype).kind in "iu":
        return Part(atom, "integer", 0, 1, batched)
    if isinstance(t, Array) and np.dtype(t.dtype).kind in "iu":
        return Part(atom, "array", len(t.shape), 1, batched)
    if isinstance(t, Array) and np.dtype(t.dtype).kind == "b":
        return Part(atom, "mask", 1, len(t.shape), batched)
    held = t.items if isinstance(t, Sequence) else ()
    if held and all(isinstance(i, Scalar) and np.dtype(i.dtype).kind in "iu" for i in held):
        return Part(atom, "array", 1, 1, batched)
    return None


def _is_basic(t: Type) -> bool:
    """Whether something in a subscript is surely none of the indices whose axes NumPy may put in front."""
    if isinstance(t, Known):
        return t.value is None or t.value is ... or isinstance(t.value, slice)
    return is_slice(t) or isinstance(t, Scalar) and np.dtype(t.dtype).kind in "iu"


class Layout:
    """Where the axes of a subscript's result lie, in one example and in the batch."""

    def __init__(self, parts: list[Part], rank: int):
        self.parts = parts
        taken = sum(p.takes for p in parts)
        for p in parts:
            if p.kind == "rest":
                p.rank = rank - taken
        self.arrays = any(p.kind in ("array", "mask") for p in parts)  # then integers are such too
        self.advanced = [k for k, p in enumerate(parts) if p.advanced or self.arrays and p.kind == "integer"]
        self.axes = max((p.rank for p in parts if p.kind in ("array", "mask")), default=0)
        self.before = sum(p.rank for p in parts[: self.advanced[0]]) if self.advanced else 0

    @property
    def together(self) -> bool:
        """Whether the indices that are arrays stand side by side, so that their axes stay in their place."""
        return not self.advanced or self.advanced[-1] - self.advanced[0] + 1 == len(self.advanced)

    def among_integers(self) -> Layout:
        """The same where integers are arrays, as in a batch with an index of its own for each example."""
        self.advanced = [k for k, p in enumerate(self.parts) if p.advanced or p.kind == "integer"]
        self.before = sum(p.rank for p in self.parts[: self.advanced[0]])
        return self


def key_of(w: Writer, parts: list[Part], whole: bool) -> tuple[Atom, ...] | None:
    """The parts of the subscript of a batched array, or with ``whole`` False of an array that all examples share; None
    if there is none."""
    if not any(p.batched for p in parts):
        if parts and parts[0].kind == "rest" and len(parts) == 1:
            return (parts[0].atom,)
        return (ALL, *(w.now(p.atom) for p in parts))
    axes = max(p.rank for p in parts if p.kind in ("array", "mask", "integer"))
    made: list[Atom] = []
    for p in parts:
        if not p.batched:
            made.append(w.now(p.atom))
            continue
        index = w.now(p.atom)
        if not isinstance(w.type(p.atom), (Array, Scalar)):  # a list of integers
            index = w.emit(np.stack, (w.raised_to(p.atom, (True,) * len(w.type(p.atom).items)),), (("axis", Const(1)),))
        made.append(w.with_axes(index, axes - p.rank))
    return ((w.with_axes(w.examples(), axes),) if whole else ()) + tuple(made)


def read(w: Writer, s: Assign) -> tuple[Atom, bool] | None:
    """``x[key]`` of an array; None if there is no such subscript of the batch."""
    x, key = s.args
    rank, parts = w.rank(x), parts_of(w, key)
    if rank is None or w.mark(x) is EACH:
        return None
    if parts is None:
        t = w.type(key)
        if w.mark(key) or not isinstance(t, Tuple) or not all(map(_is_basic, t.items)):
            return None
        return w.emit(operator.getitem, (w.now(x), w.emit(operator.add, (Const((slice(None),)), w.now(key))))), True
    if any(p.batched and p.kind == "mask" for p in parts):
        return None
    layout = Layout(parts, rank)
    whole = w.mark(x) is True
    if not any(p.batched for p in parts):
        if not layout.together:
            return None
        return w.emit(operator.getitem, (w.now(x), _one(w, key_of(w, parts, True)))), True
    stays = layout.together and layout.axes > 0 and layout.before > 0
    if whole:
        made = w.emit(operator.getitem, (w.now(x), _one(w, key_of(w, parts, True))))
        if stays:  # NumPy puts their axes first
            axes, there = layout.axes, layout.before
            to = tuple(range(there + 1, there + axes + 1))
            made = w.emit(np.moveaxis, (made, Const(tuple(range(1, axes + 1))), Const(to)))
        return made, True
    layout = layout.among_integers()
    made = w.emit(operator.getitem, (w.now(x), _one(w, key_of(w, parts, False))))
    if layout.together and layout.before:
        made = w.emit(np.moveaxis, (made, Const(layout.before), Const(0)))
    return made, True


def _one(w: Writer, parts: tuple[Atom, ...] | None) -> Atom:
    assert parts is not None
    return parts[0] if len(parts) == 1 else w.joined(parts)


def place_of(w: Writer, obj: Atom, key: Atom, value: Atom) -> tuple[Atom, Atom] | None:
    """The subscript and the value of a store into a batched array; None if there is none."""
    rank, parts = w.rank(obj), parts_of(w, key)
    region = w.types.result(operator.getitem, (obj, key))
    axes = 0 if isinstance(region, Scalar) else len(region.shape) if isinstance(region, Array) else None
    given = w.rank(value)
    if rank is None or parts is None or axes is None or given is None:
        return None
    masks = [p for p in parts if p.kind == "mask" and p.batched]
    if masks:  # the entries of all examples at once
        same = len(parts) == 1 and w.rank(key) == rank and given == 0 and w.mark(value) is False
        return (w.now(key), w.now(value)) if same else None
    layout = Layout(parts, rank)
    some = any(p.batched for p in parts)
    if not layout.together and (not some or given):
        return None
    if some and layout.before and layout.axes and given:
        return None
    return _one(w, key_of(w, parts, True)), w.aligned(value, axes)


def store(w: Writer, s: Store) -> bool:
    """Write a store into an array of the batch; False if it has to be done for one example after the other."""
    if s.key is None:
        rank = w.rank(s.object)
        if rank is None or w.rank(s.value) is None:
            return False
        key, value = None, w.aligned(s.value, rank)
    else:
        found = place_of(w, s.object, s.key, s.value)
        if found is None:
            return False
        key, value = found
    w.out.append(Store(str(w.now(s.object)), key, value, s.op, s.span))
    return True
