"""An entry of a part of an array is an entry of the array.

    p = T[:3, 3]              p = T[:3, 3]
    z = p[2]          ->      z = T[2, 3]

So that its adjoint is added where it belongs; and what is added to a part is added to the array.
"""

from __future__ import annotations

import operator
from collections import Counter
from dataclasses import replace

from tangentc.analysis.program import Program
from tangentc.core.lengths import Dim, Length
from tangentc.core.nodes import Assign, Const, Function, Statement, Store
from tangentc.core.types import Array
from tangentc.core.walk import all_reads, definitions, reads, statements, transform, with_body


def in_their_arrays(program: Program) -> Function:
    """The function that takes entries by constant places out of the arrays themselves."""
    function, of = program.function, program.types.of
    made = definitions(function.body)

    mentions = Counter(a for s in statements(function.body) for a in reads(s))

    def rewrite(s: Statement) -> tuple[Statement, ...]:
        if isinstance(s, Store):
            return (_into_whole(s, made.get(s.object), program, needless) if mentions[s.object] == 1 else s,)
        view = made.get(str(s.args[0])) if isinstance(s, Assign) and s.op is operator.getitem else None
        plain = isinstance(view, Assign) and view.op is operator.getitem and not view.keywords
        if not plain or program.aliases.is_changed(view.target):
            return (s,)
        assert isinstance(s, Assign) and isinstance(view, Assign)
        part, whole = of(view.target), of(view.args[0])
        if not (isinstance(part, Array) and isinstance(whole, Array)) or part.or_number or whole.or_number:
            return (s,)
        key = _composed(view.args[1], s.args[1], part, whole)
        if key is None:
            return (s,)
        needless.add(view.target)
        return (replace(s, args=(view.args[0], Const(key))),)

    needless = set[str]()
    body = transform(function.body, rewrite)
    needless -= all_reads(body) | {str(function.result)}
    return with_body(function, transform(body, lambda s: () if getattr(s, "target", None) in needless else (s,)))


def _into_whole(s: Store, view: Statement | None, program: Program, needless: set[str]) -> Store:
    """``x[k] += y`` for ``part = x[k]; part += y``."""
    if s.key is not None or s.op is None or not isinstance(view, Assign) or view.op is not operator.getitem:
        return s
    whole, key = view.args
    of_array = isinstance(program.types.of(whole), Array) and isinstance(program.types.of(view.target), Array)
    if not of_array or not isinstance(whole, str) or not program.aliases.is_basic(key):
        return s
    needless.add(view.target)
    return replace(s, object=whole, key=key)


def _composed(outer: object, inner: object, part: Array, whole: Array) -> tuple[int, ...] | int | None:
    """The subscript that takes at once what two take one after the other; None if nothing says that it is there."""
    if not (isinstance(outer, Const) and isinstance(inner, Const)):
        return None
    first = outer.value if isinstance(outer.value, tuple) else (outer.value,)
    then = list(inner.value if isinstance(inner.value, tuple) else (inner.value,))
    first = (*first, *[slice(None)] * (len(whole.shape) - len(first)))
    if len(then) != len(part.shape) or len(first) != len(whole.shape):
        return None
    dims = iter(part.shape)
    out: list[int] = []
    for k in first:
        place = k if type(k) is int else _place(k, then.pop(0), next(dims)) if isinstance(k, slice) else None
        if place is None:
            return None
        out.append(place)
    return tuple(out) if len(out) > 1 else out[0]


def _place(cut: slice, k: object, length: Dim) -> int | None:
    """The place along an axis of the k-th of what a slice takes of it."""
    there = length if isinstance(length, int) else length.least if isinstance(length, Length) else 0
    start, stop, step = cut.start or 0, cut.stop or 0, cut.step or 1
    if type(k) is not int or not all(type(n) is int for n in (start, stop, step)) or step < 1:
        return None
    if 0 <= k < there and start >= 0:
        return start + step * k
    return k + stop if -there <= k < 0 and step == 1 and (cut.stop is None or stop < 0) else None
