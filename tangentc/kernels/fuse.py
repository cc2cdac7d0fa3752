"""Loops with the same trips as one loop.

    for i in range(n):                 for i in range(n):
        t[i] = a[i] * b[i]                 t[i] = a[i] * b[i]
    for i in range(n):         ->          s[i] = t[i] + 1
        s[i] = t[i] + 1

Two loops become one if an entry that one of them writes and the other touches is touched in trips of the same number.
What stands between them goes before both, or behind them.  Loops over rows are joined before those over numbers, which
are quicker to run twice.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace

from tangentc.core import ops
from tangentc.core.build import Types
from tangentc.core.nodes import Assign, Block, Effect, For, If, Statement, While
from tangentc.core.walk import all_defines, all_reads, definitions, statements, substitute_block, with_blocks
from tangentc.kernels.accesses import Accesses, conflict, has_leave


def fused(block: Block, types: Types, root: Callable[[str], str], one_by_one: bool = True) -> Block:
    """The block with its loops fused, outer ones first, then those inside; trips are run ``one_by_one``, or at once."""
    fuse = _Fuse(types, Accesses(types, definitions(block), root), one_by_one)
    return fuse.block(fuse.block(block, True), False)


class _Fuse:
    def __init__(self, types: Types, accesses: Accesses, one_by_one: bool):
        self.types, self.accesses, self.one_by_one = types, accesses, one_by_one

    def block(self, block: Block, deep: bool) -> Block:
        """A block with its loops joined, ``deep`` for those alone that have loops inside."""
        out: list[Statement] = []
        for s in block:
            if not isinstance(s, For) or deep and not self._is_deep(s) or not self._joined(out, s, deep):
                out.append(s)
        inside = functools.partial(self.block, deep=deep)
        return tuple(with_blocks(s, inside) if isinstance(s, (For, If, While)) else s for s in out)

    @staticmethod
    def _is_deep(s: For) -> bool:
        return any(isinstance(x, For) for x in s.body)

    @staticmethod
    def _raises(s: For) -> bool:
        return any(isinstance(x, Effect) for x in statements(s.body))

    def _joined(self, out: list[Statement], s: For, deep: bool) -> bool:
        """Put a loop into one before it, if there is one that it may be part of."""
        for k in range(len(out) - 1, -1, -1):
            before = out[k]
            if isinstance(before, (If, While)):
                return False
            if not isinstance(before, For) or deep and not self._is_deep(before) or not self._same_trips(before, s):
                continue
            between = out[k + 1 :]
            up = self._needed(between, s)
            if up is None:
                return False
            stay = [m for m in between if m not in up]
            crosses = any(
                conflict(self.accesses, m, u)
                for i, m in enumerate(between)
                if m in stay
                for u in between[i + 1 :]
                if u in up
            )
            if crosses or any(conflict(self.accesses, before, u) for u in up):
                return False
            if any(conflict(self.accesses, m, s) for m in stay):
                return False
            both = self._one(before, s)
            if both is not None:
                out[k:] = [*up, both, *stay]
                return True
            return False
        return False

    def _needed(self, between: list[Statement], s: Statement) -> list[Statement] | None:
        """The statements between two loops that the second needs; None if one of them cannot be moved."""
        needed: list[Statement] = []
        later: list[Statement] = [s]
        for m in reversed(between):
            if any(conflict(self.accesses, m, x) for x in later):
                if not isinstance(m, (Assign, For)) or getattr(m, "op", None) is ops.pop:
                    return None
                needed.insert(0, m)
                later.append(m)
        return needed

    def _same_trips(self, a: For, b: For) -> bool:
        x, y = (self.accesses.definitions.get(s.iterable) for s in (a, b))  # type: ignore[arg-type]
        if not isinstance(x, Assign) or not isinstance(y, Assign):
            return False
        mine, its = ([self.accesses.forms.form(v) for v in made.args] for made in (x, y))
        return mine == its and None not in mine and not has_leave((a, b))

    def _one(self, a: For, b: For) -> For | None:
        """Both loops as one, None if the order of their trips matters, or one of them only asks."""
        if all_defines((a,)) & all_reads((b,)) or self._raises(a) != self._raises(b):
            return None
        body = substitute_block(b.body, {b.target: a.target})
        for s in statements(body):  # the forms of what is made in it speak of the other variable now
            if isinstance(s, Assign):
                self.accesses.definitions[s.target] = s  # type: ignore[index]
        x, y = self.accesses.of(a.body), self.accesses.of(body)
        if x is None or y is None:
            return None
        inner = all_defines((*a.body, *body)) | {
            c.name for c in (*a.carried, *b.carried)
        }  # other values in other trips
        if not self.accesses.are_apart(x, y, a.target, inner, self.one_by_one):
            for s in statements(b.body):
                if isinstance(s, Assign):
                    self.accesses.definitions[s.target] = s  # type: ignore[index]
            return None
        carried = (*a.carried, *(replace(c) for c in b.carried))
        return replace(a, body=(*a.body, *body), carried=carried)
