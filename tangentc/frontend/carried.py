"""Tuples that loops carry, as the values that they hold.

    s = (h, c)                            s_0, s_1 = h, c
    for x in xs:            ->            for x in xs:
        y, s = cell(x, s)                     y, (s_0, s_1) = cell(x, (s_0, s_1))

Each value has an adjoint of its own then, and none that nothing reaches (scalar replacement of aggregates: Muchnick,
Advanced Compiler Design and Implementation, section 12.2).
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import replace

from tangentc.analysis.paths import word_for
from tangentc.analysis.program import Program
from tangentc.core import ops
from tangentc.core.build import Builder
from tangentc.core.nodes import (
    Assign,
    Atom,
    Block,
    Carry,
    Const,
    For,
    Function,
    If,
    Leave,
    Merge,
    Statement,
    While,
    is_temporary,
    version_base,
)
from tangentc.core.types import Tuple, Type, is_differentiable
from tangentc.core.walk import definitions, perhaps_missing, statements, substitute_block, transform, with_body
from tangentc.errors import Span

Path = tuple[int, ...]


def carried_by_items(program: Program) -> Function:
    """The function whose loops carry no tuples of values that move."""
    return with_body(program.function, transform(program.function.body, _Carried(program).rewrite))


class _Carried:
    def __init__(self, program: Program):
        self.program, self.types = program, program.types
        self.b = Builder(program.types, [*program.types.of_name])
        self.made = definitions(program.function.body)
        self.missing = perhaps_missing(program.function.body, program.types.of_name)  # type: ignore[arg-type]

    def rewrite(self, s: Statement) -> tuple[Statement, ...]:
        if not isinstance(s, (For, While)):
            return (s,)
        merges = self._merges(s.body, {c.next for c in s.carried if self._has_items(c)})
        left = any(isinstance(x, Leave) for x in statements(s.body))  # where the end of a trip is not reached
        chosen = [c for c in s.carried if self._has_items(c) and (not left or c.next in merges)]
        if not chosen:
            return (s,)
        before: list[Assign] = []
        head: list[Assign] = []
        end: list[Assign] = []
        after: list[Assign] = []
        table: dict[str, Atom] = {}
        carried = [c for c in s.carried if c not in chosen]
        for c in chosen:
            table[c.name] = self.b.fresh(c.name)
            t, paths = self.types.of(c.name), _leaves(self.types.of(c.name))
            names = [self._name(c, path) for path in paths]
            inits = [self._item(c.init, path, name, before, s.span) for path, name in zip(paths, names, strict=True)]
            nexts = [self._item(c.next, path, name, end, s.span) for path, name in zip(paths, names, strict=True)]
            for whole, out in ((table[c.name], head), (c.name, after)):
                self._together(str(whole), t, iter(names), out, s.span)
            carried += map(Carry, names, inits, nexts)
        inner = transform(s.body, lambda x: self._branch(x, merges)) if merges else s.body
        body = substitute_block((*inner, *end), table)
        carried = [replace(c, next=table.get(c.next, c.next)) for c in carried]  # type: ignore[arg-type, call-overload]
        if isinstance(s, For):
            return (*before, replace(s, body=(*head, *body), carried=tuple(carried)), *after)
        first = (*head, *substitute_block(s.head, table))
        test = table.get(s.test, s.test)  # type: ignore[arg-type, call-overload]
        return (*before, replace(s, head=first, test=test, body=body, carried=tuple(carried)), *after)

    def _merges(self, block: Block, wanted: set[Atom]) -> dict[str, Merge]:
        """What branches hand on that is wanted, and what they make that of."""
        merges = {m.name: m for s in statements(block) if isinstance(s, If) for m in s.merged}
        waiting, found = [*wanted], {}
        while waiting:
            m = merges.get(waiting.pop())  # type: ignore[arg-type]
            if m is not None and m.name not in found and m.name not in self.missing:
                if _leaves(self.types.of(m.then)) == _leaves(self.types.of(m.orelse)) == _leaves(self.types.of(m.name)):
                    found[m.name] = m
                    waiting += [m.then, m.orelse]
        return found

    def _branch(self, s: Statement, found: dict[str, Merge]) -> tuple[Statement, ...]:
        if not isinstance(s, If) or not any(m.name in found for m in s.merged):
            return (s,)
        merged: list[Merge] = []
        then, orelse, after = [], [], []  # type: list[Assign], list[Assign], list[Assign]
        for m in s.merged:
            if m.name not in found:
                merged.append(m)
                continue
            t, paths = self.types.of(m.name), _leaves(self.types.of(m.name))
            names = [self.b.fresh(word_for(version_base(m.name).lstrip("%"), t, path)) for path in paths]
            for path, name in zip(paths, names, strict=True):
                arms = [self._item(a, path, name, out, s.span) for a, out in ((m.then, then), (m.orelse, orelse))]
                merged.append(Merge(name, *arms))
            self._together(m.name, t, iter(names), after, s.span)
        return (replace(s, then=_ended(s.then, then), orelse=_ended(s.orelse, orelse), merged=tuple(merged)), *after)

    def _has_items(self, c: Carry) -> bool:
        """Whether a loop carries a tuple of the same form in each trip, which nothing changes."""
        forms = [_leaves(self.types.of(a)) for a in (c.name, c.init, c.next)]
        moves = is_differentiable(self.types.of(c.name)) and not self.program.aliases.is_changed(c.name)
        moves = moves and self.missing.isdisjoint((c.name, c.init, c.next))
        return moves and forms[0] not in ([], [()]) and forms[0] == forms[1] == forms[2]

    def _name(self, c: Carry, path: Path) -> str:
        """The user's word for an item, if the loop makes the tuple of values that have names."""
        item: Atom = c.next
        for k in path:
            made = self.made.get(item) if isinstance(item, str) else None
            item = made.args[k] if isinstance(made, Assign) and made.op is ops.make_tuple else Const(None)
        if isinstance(item, str) and not is_temporary(item):
            return self.b.fresh(version_base(item))
        return self.b.fresh(word_for(version_base(c.name), self.types.of(c.name), path))

    def _item(self, whole: Atom, path: Path, word: str, out: list[Assign], span: Span) -> Atom:
        for depth, k in enumerate(path, 1):
            name = self.b.fresh(word if depth == len(path) else "%item")
            out.append(Assign(name, operator.getitem, (whole, Const(k)), (), span))
            whole = name
        return whole

    def _together(self, target: str, t: Type, names: Iterator[str], out: list[Assign], span: Span) -> str:
        """Make the tuple of its items again."""
        if _leaves(t) == [()]:
            return next(names)
        assert isinstance(t, Tuple)
        parts = [self._together(self.b.fresh("%items"), part, names, out, span) for part in t.items]
        head = () if t.cls is None else (Const(t.cls), Const(t.cls._fields))  # type: ignore[attr-defined]
        out.append(Assign(target, ops.make_struct if head else ops.make_tuple, (*head, *parts), (), span))
        return target


def _ended(block: Block, end: list[Assign]) -> Block:
    """A block with more at its end, before it leaves the loop."""
    last = block[-1:] if block and isinstance(block[-1], Leave) else ()
    return (*block[: len(block) - len(last)], *end, *last)


def _leaves(t: Type) -> list[Path]:
    """Where the values stand that a tuple, and the tuples in it, hold."""
    if not isinstance(t, Tuple) or t.or_none or t.cls is not None and not hasattr(t.cls, "_fields"):
        return [()]
    return [(k, *path) for k, part in enumerate(t.items) for path in _leaves(part)]
