"""What is done for one example after the other: an operation that no rule covers, or a block that examples go through
differently.

y = np.interp(x, xs, ys)     ->      y = np.stack([np.interp(row, xs, ys) for row in x])

The values are put together where all examples surely have alike ones, as an array whose lengths are those of the
arguments; else they stay a list, and what is computed from it is done for one example after the other too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from tangentc.batching.marks import EACH, is_batched, whole
from tangentc.batching.trial import are_alike
from tangentc.batching.writer import NoWay, Writer
from tangentc.core import ops
from tangentc.core.build import build_container
from tangentc.core.lengths import Length
from tangentc.core.nodes import Assign, Atom, Effect, Statement, version_base
from tangentc.core.splice import renamed
from tangentc.core.types import Array, Known, Optional, Scalar, Type, components, is_container, lengths
from tangentc.core.walk import all_changed_by, all_defines, reads, statements

Path = tuple[int, ...]


def each(w: Writer, block: Sequence[Statement], outs: Sequence[str], last: bool = False) -> None:
    """Write a block so that it is done for each example; ``outs`` are the names that are read behind it, which is the
    end of the function if it is the ``last``.  Raises `NoWay` where what shares memory would not share it any more."""
    given = _given(w, block)
    if _changes_numbers(w, block, given) or not last and any(_keeps_memory(w, block, name) for name in outs):
        raise NoWay
    kept = [(name, _kept(w, block, name, given)) for name in outs]
    made = {(name, path): w.emit(ops.make_list, ()) for name, paths in kept for path in paths}
    own = all_defines(block)
    inside: dict[Atom, str] = {r: w.builder.fresh(str(r)) for r in outs if r in own}
    with w.over(w.size, "example") as index:
        table: dict[Atom, Atom] = {a: w.now(a) for a in outside(block) if isinstance(a, str)}
        for a in given:
            if getattr(w.type(a), "or_number", False) or isinstance(w.type(a), Optional):  # it may have no examples
                raise NoWay
            table[a] = w.example(w.now(a), w.mark(a), w.type(a), index, f"%{version_base(a).lstrip('%')}_each")
        w.out += renamed(tuple(block), {**table, **inside}, inside)  # type: ignore[dict-item, arg-type]
        for name, paths in kept:
            for path in paths:
                value: Atom = inside.get(name, table.get(name, name))
                for k, t in _steps(w.type(name), path):
                    value = w.part(value, t, k)
                w.effect(ops.append, made[name, path], value)
    for name, paths in kept:
        _put_together(w, name, {path: made[name, path] for path in paths})  # type: ignore[misc]
    w.loops += 1
    _note(w, block)


def _keeps_memory(w: Writer, block: Sequence[Statement], name: str) -> bool:
    """Whether what a block makes may be changed behind it under another name too: an array that is put together of
    those of the examples has memory of its own."""
    made = block[0] if len(block) == 1 else None
    is_new = isinstance(made, Assign) and not w.program.aliases.shares(made)
    has_memory = is_container(w.type(name)) or isinstance(w.type(name), Array)
    return has_memory and not is_new and w.program.aliases.is_changed(name)


def _put_together(w: Writer, name: str, found: dict[Path, Atom]) -> None:
    t = w.type(name)
    if None in found:  # type: ignore[comparison-overlap]
        w.bind(name, found[None], EACH)  # type: ignore[index]
        return

    def value(t: Type, path: Path) -> Atom:
        if is_container(t):
            return build_container(w, t, [value(p, (*path, k)) for k, (_, p) in enumerate(components(t))])  # type: ignore[arg-type]
        if isinstance(t, Known):
            return t.const
        return w.emit(np.array if isinstance(t, Scalar) else np.stack, (found[path],))

    w.bind(name, value(t, ()), whole(t))


def _steps(t: Type, path: Path | None) -> Iterator[tuple[int, Type]]:
    for k in path or ():
        yield k, t
        t = [part for _, part in components(t)][k]


def _kept(w: Writer, block: Sequence[Statement], name: str, given: Iterable[str]) -> list[Path | None]:
    """The parts of a value of which lists are kept; None for the value itself, where examples may have unlike ones."""
    t = w.type(name)
    if (
        getattr(t, "or_number", False)
        or w.raised.get(name) is EACH
        or not is_batched(whole(t))
        or whole(t) is EACH
        or _is_open(t)
    ):
        return [None]
    known = {d for a in given if w.mark(a) is not EACH for d in lengths(w.type(a))}
    known |= {d for a in w.program.types.of_name if w.marks.get(a) is False for d in lengths(w.type(a))}
    if any(isinstance(d, Length) and d.symbol.startswith("?") and d not in known for d in lengths(t)):
        made = block[0] if len(block) == 1 else None
        if not isinstance(made, Assign) or not are_alike(w, made):
            return [None]
    return list(_leaves(t, ()))


def _is_open(t: Type) -> bool:
    """Whether a container has parts that are not told apart."""
    if not is_container(t):
        return isinstance(t, Known) and not (t.value is None or isinstance(t.value, (str, bool)))
    counted = len([*components(t)])
    return counted < len(t.items) or counted == 0 or any(_is_open(p) for _, p in components(t))


def _leaves(t: Type, path: Path) -> Iterator[Path]:
    if isinstance(t, (Array, Scalar)):
        yield path
    for k, (_, part) in enumerate(components(t)):
        yield from _leaves(part, (*path, k))


def outside(block: Sequence[Statement]) -> list[Atom]:
    """What a block reads of what is made before it."""
    own = all_defines(block)
    return [a for a in dict.fromkeys(a for s in statements(block) for a in reads(s)) if a not in own]


def _given(w: Writer, block: Sequence[Statement]) -> list[str]:
    """The values of the batch that a block reads; those that it changes are of the batch then."""
    found = [a for a in outside(block) if isinstance(a, str)]
    aliases = w.program.aliases
    changed = {aliases.root(n) for s in statements(block) for n in all_changed_by(s)}
    for a in found:
        t = w.type(a)
        if is_container(t) and (aliases.root(a) in changed or is_batched(w.mark(a)) and aliases.is_changed(a)):
            w.need(a, EACH)
        elif isinstance(t, Array) and aliases.root(a) in changed:
            w.need(a, whole(t))
    return [a for a in found if is_batched(w.mark(a))]


def _changes_numbers(w: Writer, block: Sequence[Statement], given: list[str]) -> bool:
    """Whether a block changes an array without axes, which is a number where it is taken out of the batch."""
    changed = {n for s in statements(block) for n in all_changed_by(s)}
    return any(isinstance(t := w.type(a), Array) and not t.shape for a in given if a in changed)


def _note(w: Writer, block: Sequence[Statement]) -> None:
    first = block[0]
    op = first.op if isinstance(first, (Assign, Effect)) else None
    if op in (ops.make_list, ops.make_tuple, ops.make_dict):
        return
    w.looped.setdefault(first.span, getattr(op, "__name__", "") or type(first).__name__.lower())
