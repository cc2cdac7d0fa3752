"""Arrays that are made of others, side by side.

np.concatenate((a, b))      c[i] = a[i]; c[n + i] = b[i]
np.stack((a, b), axis=1)    c[i, 0] = a[i]; c[i, 1] = b[i]
np.array([s, t])            c[0] = s; c[1] = t
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tangentc.core.lengths import Length
from tangentc.core.nodes import Assign, Atom, Const
from tangentc.kernels.words import Words, word
from tangentc.kernels.writing import Into, NotSaid, View


@word(np.concatenate, np.hstack, np.vstack)
def concatenated(nests: Words, s: Assign) -> None:
    """Arrays one behind the other along an axis."""
    parts, axis = joined(nests, s)
    views = [nests.view(p) for p in parts]
    rank = len(views[0].axes)
    if s.op is np.vstack and rank == 1:
        return beside(nests, s, parts, 0)
    axis = int(rank > 1) if s.op is np.hstack else axis % rank
    lengths = list(nests.lengths(parts[0]))
    for v in views[1:]:
        if not all(k == axis or nests.same(x.length, n) for k, (x, n) in enumerate(zip(v.axes, lengths, strict=True))):
            raise NotSaid("arrays whose lengths may not be the same")
    lengths[axis], starts = total_length(nests, s, [v.axes[axis].length for v in views], axis)
    nests._allocate(s.target, tuple(lengths), np.empty)
    whole = nests.view(s.target)
    for p, v, start in zip(parts, views, starts, strict=True):
        own = replace(whole.axes[axis], start=start, length=v.axes[axis].length)
        copied(nests, View(s.target, (*whole.axes[:axis], own, *whole.axes[axis + 1 :])), p)


@word(np.stack)
def stacked(nests: Words, s: Assign) -> None:
    """Arrays one behind the other along an axis of their own."""
    parts, axis = joined(nests, s)
    beside(nests, s, parts, axis % (len(nests.lengths(parts[0])) + 1))


def beside(nests: Words, s: Assign, parts: tuple[Atom, ...], axis: int) -> None:
    lengths = nests.lengths(parts[0])
    for p in parts[1:]:
        if not all(nests.same(n, m) for n, m in zip(nests.lengths(p), lengths, strict=True)):
            raise NotSaid("arrays whose lengths may not be the same")
    nests._allocate(s.target, (*lengths[:axis], Const(len(parts)), *lengths[axis:]), np.empty)
    axes = nests.view(s.target).axes
    for k, p in enumerate(parts):
        copied(nests, View(s.target, (*axes[:axis], *axes[axis + 1 :]), ((axis, Const(k)),)), p)


def copied(nests: Words, into: View, value: Atom) -> None:
    lengths = tuple(a.length for a in into.axes)
    nests.nest(lengths, lambda at: nests._store(into, at, nests.entry(value, at, lengths), None))


def joined(nests: Words, s: Assign) -> tuple[tuple[Atom, ...], int]:
    """The arrays that are joined, and along which axis."""
    given = nests.parts.get(str(s.args[0]), ())
    named = dict(zip(("axis",), s.args[1:])) | dict(s.keywords)
    axis = named.pop("axis", Const(0))
    dtype, ranks = nests.types.of(s.target).dtype, set()  # type: ignore[union-attr]
    for a in given:
        ranks.add(len(nests.lengths(a)) if nests.is_array(a) and nests.types.of(a).dtype == dtype else -1)  # type: ignore
    if named or len(ranks) != 1 or ranks == {-1} or type(getattr(axis, "value", None)) is not int:
        raise NotSaid(f"{getattr(s.op, '__name__', 'this')} of something else than arrays")
    return given, axis.value  # type: ignore[union-attr]


def total_length(nests: Words, s: Assign, counts: list[Atom], axis: int) -> tuple[Atom, list[Atom]]:
    """How long arrays are together, and where each begins."""
    starts: list[Atom] = []
    total: Atom = Const(0)
    if not all(isinstance(n, Const) or n in nests.dims for n in counts):
        for n in counts:
            starts.append(total)
            total = nests.plus(total, nests.clipped(n))
            total = nests.named(nests.bounds.form(total)) or total
        return total, starts
    with Into(nests, nests.head):
        for n in counts:
            starts.append(total)
            total = nests.plus(total, nests.clipped(n))
        d = nests.types.of(s.target).shape[axis]  # type: ignore[union-attr]
        if isinstance(total, str) and total not in nests.dims:
            symbol = Length(f"?{s.target} joined")
            nests._note(d if isinstance(d, Length) and d not in nests.known else symbol, total)
    return total, starts


@word(np.array)
def gathered(nests: Words, s: Assign) -> None:
    """Numbers and arrays, each at its place."""
    dtype = nests.types.of(s.target).dtype  # type: ignore[union-attr]
    named = {k: getattr(a, "value", None) for k, a in s.keywords}
    if str(s.args[0]) not in nests.parts or len(s.args) > 1 or named not in ({}, {"dtype": np.dtype(dtype).type}):
        raise NotSaid("an array of something else than numbers")
    shape: list[Atom] = []
    item = s.args[0]
    while isinstance(item, str) and item in nests.parts:
        shape.append(Const(len(nests.parts[item])))
        item = nests.parts[item][0] if nests.parts[item] else Const(None)
    if nests.is_array(item):
        shape += nests.lengths(item)
    nests._allocate(s.target, tuple(shape), np.empty)

    def put(item: Atom, into: View) -> None:
        items = nests.parts.get(item, ()) if isinstance(item, str) else ()
        if items and Const(len(items)) == into.axes[0].length:
            of = into.axes[0].of
            for k, one in enumerate(items):
                put(one, replace(into, axes=into.axes[1:], fixed=(*into.fixed, (of, Const(k)))))  # type: ignore[arg-type]
            return
        own = nests.lengths(item) if nests.is_array(item) else ()
        if len(own) != len(into.axes) or not all(nests.same(n, a.length) for n, a in zip(own, into.axes)):
            raise NotSaid("an array of items that are not alike")
        copied(nests, into, nests._stored(item, dtype))

    put(s.args[0], nests.view(s.target))


@word(np.pad)
def padded(nests: Words, s: Assign) -> None:
    """Zeros around an array."""
    value, widths = s.args[0], getattr(s.args[1], "value", None) if len(s.args) == 2 and not s.keywords else None
    if not nests.is_array(value) or widths is None:
        raise NotSaid("an array in a frame of something else than zeros")
    own = nests.view(value).axes
    around = np.broadcast_to(widths, (len(own), 2)).tolist()
    nests._allocate(s.target, tuple(nests._longer(a.length, sum(w)) for a, w in zip(own, around)), np.zeros)
    whole = nests.view(s.target)
    inner = (replace(a, start=Const(w), length=b.length) for a, b, (w, _) in zip(whole.axes, own, around))
    copied(nests, replace(whole, axes=tuple(inner)), value)
