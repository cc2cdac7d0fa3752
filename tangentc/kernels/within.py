"""Sums of an adjoint over nearly all trips of a loop, as a part of that loop.

    for i in range(n - 2):                         for i in range(n):
        total += a[i + 1] * f(i)                       if (i >= 1) & (i < n - 1):
    for i in range(n):                     ->              total += a[i] * f(i - 1)
        if (i >= 1) & (i < n - 1):                         s[i] += a[i]
            s[i] += a[i]

What both read is read once then.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tangentc.analysis.linear import ONE, Form, constant, plus
from tangentc.core.build import Types
from tangentc.core.nodes import Assign, Atom, Block, Carry, Const, For, If, Merge, Statement, While
from tangentc.core.types import Scalar
from tangentc.core.walk import all_defines, all_reads, definitions, statements, substitute_block, with_blocks
from tangentc.kernels.accesses import Accesses, conflict, touches
from tangentc.kernels.guards import Guards

INTEGER = Scalar("int64", True)
MOST = 4  # trips of a loop that are none of the sum


def with_sums_inside(
    block: Block, types: Types, fresh: Callable[[str], str], root: Callable[[str], str]
) -> Block:  # fmt: skip
    """The block with such sums in the loop behind them."""
    return _Within(block, types, fresh, root).block(block)


@dataclass(frozen=True)
class Span:
    """From where to where a loop runs."""

    first: Form
    end: Form


class _Within:
    def __init__(self, block: Block, types: Types, fresh: Callable[[str], str], root: Callable[[str], str]):
        self.types, self.fresh = types, fresh
        self.accesses = Accesses(types, definitions(block), root)
        self.guards = Guards(self.accesses)

    def block(self, block: Block) -> Block:
        out: list[Statement] = []
        for s in block:
            s = with_blocks(s, self.block) if isinstance(s, (For, If, While)) else s
            if not isinstance(s, For) or not self._joined(out, s):
                out.append(s)
        return tuple(out)

    # ---------------------------------------------------------- which
    def _joined(self, out: list[Statement], s: For) -> bool:
        """Put a sum that stands before a loop into it, if there is one for which that is right."""
        for k in range(len(out) - 1, -1, -1):
            before = out[k]
            if isinstance(before, For):
                behind = self._behind(out[k + 1 :], before, s)
                made = None if behind is None else self._one(before, s)
                if made is None or behind is None:
                    return False
                out[k:] = [*(x for x in out[k + 1 :] if x not in behind), *made, *behind]
                return True
            if not isinstance(before, Assign):
                return False
        return False

    def _behind(self, between: Sequence[Statement], a: For, b: For) -> list[Statement] | None:
        """The statements between two loops that use what the first one gives; None if the second one needs them."""
        known, behind = all_defines((a,)), []
        for x in between:
            if not known.isdisjoint(all_reads((x,))):
                behind.append(x)
                known |= all_defines((x,))
            elif conflict(self.accesses, a, x):
                return None
        return None if known & all_reads((b,)) or any(conflict(self.accesses, x, b) for x in behind) else behind

    def _span(self, s: For) -> Span | None:
        made = self.accesses.definitions.get(str(s.iterable))
        if not isinstance(made, Assign) or made.op is not builtins.range or len(made.args) != 2 or made.keywords:
            return None
        first, end = (self.accesses.forms.form(a) for a in made.args)
        return None if first is None or end is None else Span(first, end)

    def _is_sum(self, s: For) -> bool:
        """Whether a loop only adds up numbers of an adjoint."""
        made = {x.target: x for x in s.body if isinstance(x, Assign)}
        if not s.carried or len(made) != len(s.body):
            return False
        for c in s.carried:
            last = made.get(str(c.next))
            if last is None or last.span.sweep != "adjoint" or last.op not in (operator.add, operator.sub):
                return False
            if last.args[0] != c.name or sum(a == c.name for x in made.values() for a in x.atoms) != 1:
                return False
        return True

    def _one(self, a: For, b: For) -> list[Statement] | None:
        """A sum and a loop as one, with what stands before it."""
        mine, its = self._span(a), self._span(b)
        if mine is None or its is None or not self._is_sum(a) or b.carried:
            return None
        if any(isinstance(x, (For, While)) for x in statements(b.body)):
            return None
        more = plus(plus(its.end, its.first, -1), plus(mine.end, mine.first, -1), -1)
        if more.keys() - {ONE} or not 0 < more.get(ONE, 0) <= MOST:
            return None
        read, written = touches(self.accesses, a), touches(self.accesses, b)
        if read is None or written is None or read[0] & written[1]:
            return None
        for shift in sorted(range(more[ONE] + 1), key=lambda k: abs(2 * k - more[ONE])):
            low = plus(its.first, constant(shift)) if shift else its.first
            end = plus(low, plus(mine.end, mine.first, -1))
            for k, x in enumerate(b.body):
                if isinstance(x, If) and self._place(x, b, its) == (low, end):
                    return self._written(a, b, k, x, plus(low, mine.first, -1))
        return None

    def _place(self, x: If, s: For, its: Span) -> tuple[Form, Form] | None:
        """From where to where in a loop a branch is taken."""
        found = self.guards.place(x.test, s.target, all_defines((s,)))
        return None if found is None else (its.first if found[0] is None else found[0], found[1] or its.end)

    # ---------------------------------------------------------- what stands for it
    def _written(self, a: For, b: For, k: int, guard: If, ahead: Form) -> list[Statement] | None:
        """The loop with the sum in a branch of it, where that is taken in those trips; None where it is not known by
        what number they are apart."""
        if ahead.keys() - {ONE}:
            return None
        shift = ahead.get(ONE, 0)
        at: Atom = b.target
        own: list[Statement] = []
        if shift:
            at = self._new("%index", INTEGER)
            op = operator.sub if shift > 0 else operator.add
            own.append(Assign(at, op, (b.target, Const(abs(shift))), (), a.span))
        own += substitute_block(a.body, {a.target: at})
        carried, merged = [], []
        for c in a.carried:
            joined = self._new(c.name, self.types.of(c.name))
            merged.append(Merge(joined, c.next, c.name))
            carried.append(Carry(c.name, c.init, joined))
        branch = replace(guard, then=(*own, *guard.then), merged=(*guard.merged, *merged))
        loop = replace(b, body=(*b.body[:k], branch, *b.body[k + 1 :]), carried=tuple(carried))
        self.accesses.definitions.update(definitions((loop,)))  # type: ignore[attr-defined]
        return [loop]

    def _new(self, name: str, t: object) -> str:
        new = self.fresh(name)
        self.types.of_name[new] = t  # type: ignore[assignment]
        return new
