"""Arrays that each trip computes anew from what they were, as two that take turns.

    for t in range(steps):                      old_u, new_u = u, np.empty(n)
        for i in range(n - 2):                  for t in range(steps):
            r[i] = u[i + 1]                         for i in range(n):
            u[i + 1] = 0.0                              new_u[i] = old_u[i]
        for i in range(n - 2):          ->          for i in range(n - 2):
            u[i] += a * r[i]                            new_u[i + 1] = 0.0
            u[i + 2] += b * r[i]                    for i in range(n - 2):
                                                        new_u[i] += a * old_u[i + 1]
                                                        new_u[i + 2] += b * old_u[i + 1]
                                                    old_u, new_u = new_u, old_u
                                                for i in range(n):
                                                    u[i] = old_u[i]

There is no copy of what is overwritten then, and what is computed of it needs no array of its own.  The additions are
gathered afterwards, so that each entry of the new array is written once.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tangentc.analysis.linear import ONE, plus
from tangentc.core import ops
from tangentc.core.build import Types
from tangentc.core.nodes import Assign, Atom, Block, Carry, Const, For, If, Statement, Store, While
from tangentc.core.types import Array, Known, Scalar, Tuple
from tangentc.core.walk import all_defines, all_reads, definitions, statements, transform, with_blocks
from tangentc.errors import Span
from tangentc.kernels.accesses import Accesses, has_leave
from tangentc.kernels.perfect import bounds, offsets, perfect

INTEGER = Scalar("int64", True)


def in_turns(
    block: Block, types: Types, fresh: Callable[[str], str], root: Callable[[str], str],
    lengths: Callable[[str], tuple[Atom, ...]],
) -> Block:  # fmt: skip
    """The block with two arrays in the place of one where that is worth it; ``lengths`` are those of an array, () where
    they are not known before the block."""
    return _Turns(block, types, fresh, root, lengths).block(block)


class _Turns:
    def __init__(self, block: Block, types: Types, fresh: Callable[[str], str], root: Callable, lengths: Callable):
        self.types, self.fresh, self.root, self.lengths = types, fresh, root, lengths
        self.accesses = Accesses(types, definitions(block), root)
        self.made = {s.target for s in statements(block) if isinstance(s, Assign) and s.op is np.empty}

    def block(self, block: Block) -> Block:
        out: list[Statement] = []
        for s in block:
            s = with_blocks(s, self.block) if isinstance(s, (For, If, While)) else s
            behind: list[Statement] = []
            if isinstance(s, For) and not has_leave(s.body):
                for name in sorted(self._stored(s)):
                    if (first := self._first(s, name)) is not None:
                        before, s, after = self._turned(s, name, first)
                        out += before
                        behind += after
            out += [s, *behind]
        return tuple(out)

    def _stored(self, s: For) -> set[str]:
        """The arrays of before a loop that it stores into."""
        return {x.object for x in statements(s.body) if isinstance(x, Store)} - all_defines((s,))

    # ---------------------------------------------------------- which
    def _first(self, s: For, name: str) -> int | None:
        """Where in a trip the first store into an array stands, if all of it is computed there of what it was."""
        lengths, memory = self.lengths(name), self.root(name)
        first: int | None = None
        ahead: set[tuple[int, ...]] = set()
        kept: set[str] = set()  # what is computed of the array before it is overwritten
        for k, x in enumerate(s.body):
            found = self.accesses.of((x,))
            if found is None:
                return None
            mine = [a for a in found if a.memory == memory]
            if (
                any(a.name != name or len(a.at) != len(lengths) for a in mine)
                or mine
                and first is not None
                and not all(a.writes for a in mine)
            ):
                return None
            if any(a.writes for a in mine):
                first = k if first is None else first
                if (at := self._stores(x, name, lengths)) is None:
                    return None
                ahead |= at
            elif first is None and (mine or not kept.isdisjoint(a.name for a in found if not a.writes)):
                kept |= {a.name for a in found if a.writes} & self.made
        if first is None or len(ahead) < 2 or kept.isdisjoint(all_reads(s.body[first:])):
            return None
        return first

    def _stores(self, x: Statement, name: str, lengths: tuple[Atom, ...]) -> set[tuple[int, ...]] | None:
        """By how much what loops add lies ahead of their trips, if they reach nearly all entries of an array; None for
        anything else that is done to it."""
        p = perfect(x, self.accesses.definitions)
        if p is None or p.store.op not in (None, operator.add) or len(p.loops) != len(lengths):
            return None
        ahead, at = offsets(p, self.accesses), bounds(p, self.accesses)
        if ahead is None or at is None:
            return None
        for (low, high), n in zip(at, lengths):
            whole = self.accesses.forms.form(n)
            if whole is None or low.keys() - {ONE} or plus(whole, high, -1).keys() - {ONE}:
                return None
        return {ahead} if p.store.op is operator.add else set()

    # ---------------------------------------------------------- what stands for it
    def _turned(self, s: For, name: str, first: int) -> tuple[list[Statement], For, list[Statement]]:
        """A loop with two arrays in the place of one, what makes them before it, and what is done behind it."""
        t, span = self.types.of(name), s.span
        old, new = self._new(f"old_{name}", t), self._new(f"new_{name}", t)
        room, lengths = self._new(f"new_{name}", t), self.lengths(name)
        before: list[Statement] = []
        shape: Atom = lengths[0]
        if len(lengths) > 1:
            shape = self._new("%shape", Tuple((INTEGER,) * len(lengths)))
            before.append(Assign(shape, ops.make_tuple, lengths, (), span))
        assert isinstance(t, Array)
        keywords = () if t.dtype == "float64" else (("dtype", Const(np.dtype(t.dtype).type)),)
        before.append(Assign(room, np.empty, (shape,), keywords, span))

        def turned(x: Statement) -> Block:
            if isinstance(x, Store) and x.object == name:
                return (replace(x, object=new),)
            if isinstance(x, Assign) and x.op is operator.getitem and x.args[0] == name:
                return (replace(x, args=(old, x.args[1])),)
            return (x,)

        store = next(x for x in statements(s.body[first:]) if isinstance(x, Store) and x.object == name)
        body = transform(s.body, turned)
        copied = self._copy(old, new, lengths, store.span)  # type: ignore[arg-type]
        carried = (*s.carried, Carry(old, name, new), Carry(new, room, old))
        loop = replace(s, body=(*body[:first], *copied, *body[first:]), carried=carried)
        return before, loop, self._copy(old, name, lengths, span)  # type: ignore[arg-type]

    def _copy(self, source: str, into: str, lengths: tuple[Atom, ...], span: Span) -> list[Statement]:
        """Loops that copy all entries."""
        t = self.types.of(source)
        names = tuple(self._new("%" + "ijklmn"[k], INTEGER) for k in range(len(lengths)))
        key: Atom = names[0]
        inner: list[Statement] = []
        if len(names) > 1:
            key = self._new("%items", Tuple((INTEGER,) * len(names)))
            inner.append(Assign(key, ops.make_tuple, names, (), span))
        item = self._new("%item", Scalar(t.dtype))  # type: ignore[union-attr]
        inner += [Assign(item, operator.getitem, (source, key), (), span), Store(into, key, item, None, span)]
        for i, n in zip(names[::-1], lengths[::-1], strict=True):
            over = self._new("%range", Known(Const(range(0))))
            inner = [Assign(over, builtins.range, (Const(0), n), (), span), For(i, over, tuple(inner), (), span)]
        self.accesses.definitions.update(definitions(tuple(inner)))  # type: ignore[attr-defined]
        return inner

    def _new(self, base: str, t: object) -> str:
        name = self.fresh(base)
        self.types.of_name[name] = t  # type: ignore[assignment]
        return name
