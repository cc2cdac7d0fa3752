"""Functions of NumPy and SciPy for which no rule is written: what they do with one more axis, found by asking them.

np.linalg.inv(A)          ->      np.linalg.inv(A)              it works on the last axes, for all before them
np.sort(x, axis=0)        ->      np.sort(x, axis=1)            it works along an axis
np.sum(x)                 ->      np.sum(x, axis=(1, 2))        it works on all axes

Such a way of writing a call is believed if, on samples, it gives what the calls for one example after the other give.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any

import numpy as np

from tangentc.batching.marks import EACH, Mark, is_batched, whole
from tangentc.batching.trial import agrees
from tangentc.batching.writer import Writer
from tangentc.core.nodes import Assign, Atom, Const, Global
from tangentc.core.types import Array, Known, Scalar, Type
from tangentc.ops.table import known_of

Way = Callable[[Writer, Assign], Atom | None]
MOST_KEPT = 5000
_FOUND: dict[Hashable, int | None] = {}


def generic(w: Writer, s: Assign) -> tuple[Atom, Mark] | None:
    """Write a call in the first way that NumPy bears out; None if there is none."""
    t = w.type(s.target)
    mark = whole(t)
    if mark is EACH or not is_batched(mark) or any(isinstance(a, Global) for a in s.atoms):
        return None
    ways = [*_ways(w, s)]
    key = _key(w, s)
    known = _FOUND.get(key, -1) if key is not None else -1
    for k, way in enumerate(ways):
        if known != -1 and known != k:
            continue
        with w.block() as block:
            made = way(w, s)
        if made is not None and (known == k or agrees(w, s, block, made)):
            w.out += block
            _keep(key, k)
            return made, mark
    _keep(key, None)
    return None


def _keep(key: Hashable, k: int | None) -> None:
    if key is not None:
        if len(_FOUND) > MOST_KEPT:
            _FOUND.clear()
        _FOUND[key] = k


def _key(w: Writer, s: Assign) -> Hashable:
    """What a way is found for."""
    said = [(k, a if isinstance(a, Const) else w.type(a), w.mark(a)) for k, a in (*enumerate(s.args), *s.keywords)]
    key = s.op, tuple(said)
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _ways(w: Writer, s: Assign) -> Iterator[Way]:
    """The ways in which a call may be written, the plainest first."""
    axis = axis_of(w, s)
    if axis is not None:
        yield lambda w, s: along(w, s, axis)
        yield lambda w, s: flattened(w, s, axis)
    yield plain
    yield paired


def plain(w: Writer, s: Assign) -> Atom:
    """The call as it is."""
    return w.emit(s.op, tuple(map(w.now, s.args)), tuple((k, w.now(a)) for k, a in s.keywords))


def paired(w: Writer, s: Assign) -> Atom | None:
    """The call with arguments that have as many axes."""
    ranks = [w.rank(a) or 0 for a in s.args]
    args = tuple(w.aligned(a, max(ranks, default=0)) for a in s.args)
    return (
        w.emit(s.op, args, tuple((k, w.now(a)) for k, a in s.keywords)) if args != tuple(map(w.now, s.args)) else None
    )


def axis_of(w: Writer, s: Assign) -> Any:
    """The axis along which a call works, as a constant, or what stands for none being said; None if it has none, or
    that is not known."""
    signature = known_of(s.op).signature
    parameter = signature.parameters.get("axis") if signature is not None else None
    if signature is None or parameter is None:
        return None
    try:
        bound = signature.bind(*s.args, **dict(s.keywords)).arguments
    except TypeError:
        return None
    first = next(iter(bound))
    several = [a for a in s.atoms if is_batched(w.mark(a))]
    if bound[first] not in several or not all(isinstance(w.type(a), Array) for a in several):
        return None
    said = bound.get("axis")
    if said is None:
        default = parameter.default
        return Const(None if default is np._NoValue or default is parameter.empty else default)
    if isinstance(said, Const):
        return said
    known: Type = w.type(said)
    if isinstance(known, Known):
        return known.const
    return Const(known.value) if isinstance(known, Scalar) and type(known.value) is int else None


def along(w: Writer, s: Assign, axis: Const) -> Atom | None:
    """The call along the axis that is meant in one example."""
    if axis.value is None:
        rank = w.rank(s.args[0])
        if not rank:
            return None
        return with_axis(w, s, w.now(s.args[0]), 1 if rank == 1 else tuple(range(1, rank + 1)))
    return with_axis(w, s, w.now(s.args[0]), moved(axis.value))


def flattened(w: Writer, s: Assign, axis: Const) -> Atom | None:
    """The call on rows of all entries."""
    rank = w.rank(s.args[0])
    if axis.value is not None or not rank:
        return None
    rows = w.emit(np.reshape, (w.now(s.args[0]), w.joined((w.size, Const(-1)))))
    return with_axis(w, s, rows, 1)


def moved(axis: Any) -> Any:
    """An axis, or several, behind that of the batch; those that count from the end stay."""
    if isinstance(axis, (tuple, list)):
        return tuple(map(moved, axis))
    return axis + 1 if axis >= 0 else axis


def with_axis(w: Writer, s: Assign, first: Atom, axis: Any) -> Atom:
    """The call with another first argument and another axis."""
    signature = known_of(s.op).signature
    names = list(signature.parameters) if signature is not None else []
    place = names.index("axis")
    args = [first, *map(w.now, s.args[1:])]
    keywords = [(k, w.now(a)) for k, a in s.keywords if k != "axis"]
    if place < len(args):
        args[place] = Const(axis)
    elif axis != known_default(s):
        keywords.insert(0, ("axis", Const(axis)))
    return w.emit(s.op, tuple(args), tuple(keywords))


def known_default(s: Assign) -> Any:
    signature = known_of(s.op).signature
    return signature.parameters["axis"].default if signature is not None else None
