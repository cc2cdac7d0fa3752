"""Rows of what is saved, under names of their own.

    for trip in range(n - 1, -1, -1):              for trip in range(n - 1, -1, -1):
        for i in range(m):                             u = u_saved[trip]
            s[i] += u_saved[trip, i]       ->          for i in range(m):
                                                           s[i] += u[i]

It is shorter to read, and LLVM asks once for all trips whether what is read and what is written overlap: where the rows
are read backwards its answer is yes, and the loop over entries is not vectorised (LLVM's loop access analysis).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace

from tangentc.core import ops
from tangentc.core.build import Types
from tangentc.core.nodes import Assign, Atom, Block, For, If, Statement, Store, While
from tangentc.core.nodes import version_base as base
from tangentc.core.types import Array, Tuple
from tangentc.core.walk import definitions, reads, statements, transform, with_blocks
from tangentc.kernels.rows import touched


def with_named_rows(block: Block, types: Types, fresh: Callable[[str], str], saved: set[str]) -> Block:
    """The block with names for the rows that a trip touches of some arrays, in loops inside of it."""
    return _Rows(block, types, fresh, saved).block(block)


class _Rows:
    def __init__(self, block: Block, types: Types, fresh: Callable[[str], str], saved: set[str]):
        self.types, self.fresh, self.saved = types, fresh, saved
        self.made = definitions(block)
        self.bases = {base(n).lstrip("%") for n in self.made} | {base(n) for n in touched(block) if isinstance(n, str)}

    def block(self, block: Block) -> Block:
        return tuple(map(self._statement, block))

    def _statement(self, s: Statement) -> Statement:
        if isinstance(s, (If, While)):
            return with_blocks(s, self.block)
        return self._loop(s) if isinstance(s, For) else s

    def _loop(self, s: For) -> For:
        inner = touched(tuple(x for x in s.body if isinstance(x, For)))
        found = [name for name in sorted(self.saved & inner) if self._is_row(s, name)]
        for name in found:
            s = self._named(s, name)
        return s if found else replace(s, body=self.block(s.body))

    def _is_row(self, s: For, name: str) -> bool:
        """Whether a trip reads of an array but the row that has its number."""
        users = [x for x in statements(s.body) if name in touched_by(x)]
        return all(self._key(x, name)[:1] == (s.target,) for x in users) and any(isinstance(x, Assign) for x in users)

    def _key(self, x: Statement, name: str) -> tuple[Atom, ...]:
        """The subscripts of an entry of an array that a statement reads or writes."""
        key: Atom | None = None
        if isinstance(x, Store) and x.object == name != x.value:
            key = x.key
        elif isinstance(x, Assign) and x.op is operator.getitem and x.args[0] == name:
            key = x.args[1]
        made = self.made.get(str(key))
        is_entry = isinstance(made, Assign) and made.op is ops.make_tuple and len(made.args) == len(self._shape(name))
        return made.args if is_entry else ()  # type: ignore[union-attr]

    def _shape(self, name: str) -> tuple[object, ...]:
        t = self.types.of(name)
        return t.shape if isinstance(t, Array) else ()

    def _named(self, s: For, name: str) -> For:
        t = self.types.of(name)
        assert isinstance(t, Array)
        of = base(name).removesuffix("_saved")
        row = self._new(f"old_{of}" if of in self.bases else of, replace(t, shape=t.shape[1:]))

        def shorter(x: Statement) -> Block:
            keys = self._key(x, name)
            if not keys:
                return (x,)
            if len(keys) == 2:
                return (_at(x, row, keys[1]),)
            key = self._new("%items", Tuple(tuple(map(self.types.of, keys[1:]))))
            self.made[key] = made = Assign(key, ops.make_tuple, keys[1:], (), x.span)
            return made, _at(x, row, key)

        body = transform(s.body, shorter)
        return replace(s, body=(Assign(row, operator.getitem, (name, s.target), (), s.span), *body))

    def _new(self, name: str, t: object) -> str:
        new = self.fresh(name)
        self.types.of_name[new] = t  # type: ignore[assignment]
        return new


def touched_by(x: Statement) -> set[object]:
    return {*reads(x), *([x.object] if isinstance(x, Store) else [])}


def _at(x: Statement, row: str, key: Atom) -> Statement:
    if isinstance(x, Store):
        return replace(x, object=row, key=key)
    assert isinstance(x, Assign)
    return replace(x, args=(row, key))
