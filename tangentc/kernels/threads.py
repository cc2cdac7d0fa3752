"""Loops whose trips do not depend on one another, by several threads.

    for i in range(n):                   for i in numba.prange(n):
        y[i] = f(x[i])           ->          y[i] = f(x[i])

    for i in range(n):                   for part in numba.prange(4):
        total += f(x[i])                     own = 0.0
                                 ->          for i in range(n * part // 4, n * (part + 1) // 4):
                                                 own += f(x[i])
                                             totals[part] = own
                                         for part in range(4):
                                             total += totals[part]

Sums are those of parts, as many as there are threads, so that the same number of threads gives the same sum.  A loop in
a sequential one is shared only if it has a loop inside: less work than that is not worth waking threads up.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from tangentc.core.build import Types
from tangentc.core.nodes import Assign, Atom, Block, Carry, Const, Effect, For, If, Statement, Store, While
from tangentc.core.types import Array, Known, Scalar, Type
from tangentc.core.walk import all_defines, definitions, reads, statements, substitute_block, with_blocks
from tangentc.kernels.accesses import Accesses, has_leave
from tangentc.ops.table import say

INTEGER, OVER = Scalar("int64", True), Known(Const(range(0)))


def shared(block: Block, types: Types, fresh: Callable[[str], str], root: Callable[[str], str], threads: int) -> Block:
    """The block with its loops shared among threads."""
    return _Share(block, types, fresh, root, threads).block(block, False)


def is_shared(s: Statement, made: Statement | None) -> bool:
    """Whether a loop is run by several threads."""
    return isinstance(s, For) and getattr(getattr(made, "op", None), "__name__", "") == "prange"


def trips_are_apart(s: For, accesses: Accesses) -> bool:
    """Whether the trips may be run in any order, but for what they carry."""
    found = accesses.of(s.body)
    if found is None or has_leave(s.body) or any(isinstance(x, Effect) for x in statements(s.body)):
        return False
    own = {x.target for x in statements(s.body) if isinstance(x, Assign)}
    others = [a for a in found if a.memory not in own]  # what a trip makes is its own
    return accesses.are_apart(others, others, s.target, all_defines(s.body))


class _Share:
    def __init__(self, block: Block, types: Types, fresh: Callable, root: Callable[[str], str], threads: int):
        import numba

        self.range: Any = numba.prange
        say(numba.prange, pure=True)
        self.types, self.fresh, self.threads = types, fresh, threads
        self.made = definitions(block)
        self.accesses = Accesses(types, self.made, root)
        self.over: set[Atom] = set()  # ranges that threads share

    def block(self, block: Block, inside: bool) -> Block:
        """A block; ``inside`` of a loop that one thread runs."""
        out: list[Statement] = []
        for s in block:
            if isinstance(s, For) and self.is_free(s) and (not inside or self.has_loop(s)):
                out += self.parts(s) if s.carried else [s]
                self.over |= set() if s.carried else {s.iterable}
            elif isinstance(s, (For, While)):
                out.append(with_blocks(s, lambda b: self.block(b, True)))
            elif isinstance(s, If):
                out.append(with_blocks(s, lambda b: self.block(b, inside)))
            else:
                out.append(s)
        return tuple(replace(s, op=self.range) if isinstance(s, Assign) and s.target in self.over else s for s in out)

    @staticmethod
    def has_loop(s: For) -> bool:
        return any(isinstance(x, For) for x in s.body)

    def is_free(self, s: For) -> bool:
        """Whether the trips may be run in any order, but for sums."""
        made = self.made.get(s.iterable)  # type: ignore[arg-type]
        if not isinstance(made, Assign) or made.op is not builtins.range or len(made.args) != 2:
            return False
        return all(self.is_sum(c, s.body) for c in s.carried) and trips_are_apart(s, self.accesses)

    def is_sum(self, carry: Carry, body: Block) -> bool:
        """Whether what trips hand on is what they add up."""
        name: Atom = carry.name
        while name != carry.next:
            users = [x for x in statements(body) if name in reads(x)]
            if len(users) != 1:
                return False
            (user,) = users
            if isinstance(user, Assign) and user.op in (operator.add, operator.sub) and user.args[0] == name:
                name = user.target if user.args[1] != name else ""
            elif isinstance(user, For) and [c for c in user.carried if c.init == name and self.is_sum(c, user.body)]:
                (inner,) = [c for c in user.carried if c.init == name]
                name = inner.name
            else:
                return False
        return not any(carry.next in reads(x) for x in statements(body))

    def parts(self, s: For) -> list[Statement]:
        """A loop that adds up as one over parts, whose sums are added up then."""
        made = self.made[s.iterable]  # type: ignore[index]
        assert isinstance(made, Assign)
        self.span, out, body = s.span, list[Statement](), list[Statement]()
        part, again = self.new("part", INTEGER), self.new("part", INTEGER)
        start, stop = self.ends(made.args, part, out, body)
        own = {c.name: self.new(c.name, self.types.of(c.name)) for c in s.carried}
        parts = {c.name: self.room(c.name, out) for c in s.carried}
        over = self.write("%range", builtins.range, (start, stop), OVER, body)
        sums = tuple(Carry(own[c.name], self.zero(c.name), own.get(str(c.next), c.next)) for c in s.carried)
        body.append(For(s.target, over, substitute_block(s.body, own), sums, s.span))
        body += [Store(parts[name], part, own[name], None, s.span) for name in own]
        over = self.write("%range", self.range, (Const(0), Const(self.threads)), OVER, out)
        out.append(For(part, over, tuple(body), (), s.span))
        last: list[Statement] = []
        totals = []
        for c in s.carried:
            t = self.types.of(c.name)
            held = self.write("%held", operator.getitem, (parts[c.name], again), t, last)
            totals.append(Carry(c.name, c.init, self.write("%sum", operator.add, (c.name, held), t, last)))
        over = self.write("%range", builtins.range, (Const(0), Const(self.threads)), OVER, out)
        out.append(For(again, over, tuple(last), tuple(totals), s.span))
        return out

    def ends(self, trips: tuple[Atom, ...], part: str, out: list[Statement], body: list[Statement]) -> list[Atom]:
        """Where a part begins, and where it ends."""
        first, end = trips
        n = end if first == Const(0) else self.write("%trips", operator.sub, (end, first), INTEGER, out)
        found: list[Atom] = []
        for at in (part, self.write("%next", operator.add, (part, Const(1)), INTEGER, body)):
            times = self.write("%times", operator.mul, (n, at), INTEGER, body)
            edge = self.write("%edge", operator.floordiv, (times, Const(self.threads)), INTEGER, body)
            is_moved = first != Const(0)
            found.append(self.write("%edge", operator.add, (first, edge), INTEGER, body) if is_moved else edge)
        return found

    def room(self, name: str, out: list[Statement]) -> str:
        """An array for the sums of the parts."""
        dtype = getattr(self.types.of(name), "dtype", "float64")
        keywords = () if dtype == "float64" else (("dtype", Const(np.dtype(dtype).type)),)
        array = self.new("parts", Array(dtype, (self.threads,)))
        out.append(Assign(array, np.empty, (Const(self.threads),), keywords, self.span))
        return array

    def zero(self, name: str) -> Const:
        return Const(np.dtype(getattr(self.types.of(name), "dtype", "float64")).type(0).item())

    def new(self, base: str, t: Type) -> str:
        name = self.fresh(base)
        self.types.of_name[name] = t
        return name

    def write(self, base: str, op: Any, args: tuple[Atom, ...], t: Type, into: list[Statement]) -> str:
        name = self.new(base, t)
        into.append(Assign(name, op, args, (), self.span))
        return name
