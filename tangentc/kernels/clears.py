"""Arrays that are cleared only where they are touched next.

    for i in range(n):                         for i in range(n):
        t[i] = u_bar[i]                            x_bar[i] += c * u_bar[i]
    for i in range(n):                         for i in range(n):
        u_bar[i] = 0.0             ->              u_bar[i] = 0.0
    for i in range(n):
        x_bar[i] += c * t[i]

The adjoint of ``u = ...`` takes what is due to it, and clears it.  Until then it is what a copy of it would be.

    for t in range(steps):                     for t in range(steps):
        for i in range(n):                         for i in range(n):
            b_bar[i] += a_bar[i]       ->              b_bar[i] = 0.0
        ...                                        for i in range(n):
        for i in range(n):                             b_bar[i] += a_bar[i]
            b_bar[i] = 0.0                         ...
                                               for i in range(n):
                                                   b_bar[i] = 0.0

What each trip leaves clear, and is clear before the first one, is cleared where a trip begins: there it is no more than
not to read what is added to.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tangentc.core import ops
from tangentc.core.build import Types
from tangentc.core.nodes import Assign, Block, Const, For, If, Statement, While
from tangentc.core.splice import renamed
from tangentc.core.types import Array
from tangentc.core.walk import all_defines, all_reads, definitions, with_blocks
from tangentc.kernels.accesses import Accesses, has_leave, touches
from tangentc.kernels.perfect import Perfect, perfect

CLEAR = {np.zeros, np.zeros_like}  # what makes arrays that are clear


def cleared_later(
    block: Block, types: Types, fresh: Callable[[str], str], root: Callable[[str], str], clear: set[str]
) -> Block:
    """The block with arrays cleared later, of which there is a copy that is read meanwhile, and those that a trip
    leaves clear where the next one begins; ``clear`` are those that are clear before the block."""
    return _Later(Accesses(types, definitions(block), root), fresh).block(block, clear)


class _Later:
    def __init__(self, accesses: Accesses, fresh: Callable[[str], str]):
        self.accesses, self.fresh = accesses, fresh

    def block(self, block: Block, clear: set[str] = frozenset()) -> Block:  # type: ignore[assignment]
        out = self._sunk([with_blocks(s, self.block) if isinstance(s, (For, If, While)) else s for s in block])
        return tuple(self._begun(out, set(clear)))

    # ---------------------------------------------------------- behind what reads a copy
    def _sunk(self, out: list[Statement]) -> list[Statement]:
        for clear in [s for s in out if self._clears(s)]:
            at = next(k for k, s in enumerate(out) if s is clear)
            memory = self._memory(clear)
            if not any(self._copies(s, memory) for s in out[:at]):
                continue
            behind = at + 1
            while behind < len(out) and self._is_apart(out[behind], memory):
                behind += 1
            out[at:behind] = [*out[at + 1 : behind], clear]
        return out

    def _perfect(self, s: Statement) -> Perfect | None:
        return perfect(s, self.accesses.definitions)

    def _memory(self, clear: Statement) -> str:
        p = self._perfect(clear)
        assert p is not None
        return self.accesses.root(p.store.object)

    def _clears(self, s: Statement) -> bool:
        """Whether loops store one number into an array, and do nothing else."""
        p = self._perfect(s)
        return p is not None and p.store.op is None and isinstance(p.store.value, Const)

    def _copies(self, s: Statement, memory: str) -> bool:
        """Whether loops copy entries of this memory into an array of the kernel's own."""
        p = self._perfect(s)
        if p is None or p.store.op is not None:
            return False
        read = self.accesses.definitions.get(str(p.store.value))
        made = self.accesses.definitions.get(p.store.object)
        is_read = isinstance(read, Assign) and read.op is operator.getitem
        is_own = isinstance(made, Assign) and made.op is np.empty
        return is_read and is_own and self.accesses.root(str(read.args[0])) == memory  # type: ignore[union-attr]

    def _is_apart(self, s: Statement, memory: str) -> bool:
        touched = touches(self.accesses, s)
        return touched is not None and memory not in touched[0] | touched[1]

    # ---------------------------------------------------------- where a trip begins
    def _begun(self, block: list[Statement], clear: set[str]) -> list[Statement]:
        """The statements of a block with what the trips of its loops leave ``clear`` cleared where they begin."""
        out: list[Statement] = []
        for s in block:
            behind: list[Statement] = []
            if isinstance(s, For) and clear and not has_leave(s.body):
                while self._left_clear(s) in clear and (before := self._said(s)) is not None:
                    last = s.body[-1]
                    rest = tuple(x for x in s.body[:-1] if not any(x is b for b in before))
                    s = replace(s, body=(last, *rest))
                    out += before
                    behind.append(self._once_more(last))
            out += [s, *behind]
            touched = touches(self.accesses, s)
            clear = {n for n in clear if touched is not None and self.accesses.root(n) not in touched[1]}
            clear |= {self._perfect(b).store.object for b in behind}  # type: ignore[union-attr]
            if isinstance(s, Assign) and s.op in CLEAR:
                clear.add(s.target)
        return out

    def _left_clear(self, s: For) -> str:
        """The array that a trip adds to before it does anything else with it, and that the last thing it does
        clears; "" if there is none."""
        if not s.body or not self._clears(s.body[-1]):
            return ""
        p = self._perfect(s.body[-1])
        assert p is not None
        memory = self.accesses.root(name := p.store.object)
        for x in s.body[:-1]:
            touched = touches(self.accesses, x)
            if touched is None or memory in touched[0] | touched[1]:
                first = self._perfect(x)
                adds = first is not None and first.store.op is operator.add and first.store.object == name
                return name if adds else ""
        return ""

    def _said(self, s: For) -> list[Assign] | None:
        """The statements of a loop that say where the last one of it runs; None if a trip decides that."""
        inside, needed = all_defines((s,)), all_reads(s.body[-1:])
        said: list[Assign] = []
        of = self.accesses.types.of
        for x in reversed(s.body[:-1]):
            if isinstance(x, Assign) and x.target in needed:
                said.insert(0, x)
                needed |= {a for a in x.atoms if isinstance(a, str)}
        if any(not ops.is_pure(x.op) or any(isinstance(of(a), Array) for a in x.atoms) for x in said):
            return None
        inside -= {x.target for x in said} | all_defines(s.body[-1:])
        return said if inside.isdisjoint(needed) else None

    def _once_more(self, s: Statement) -> Statement:
        """A statement with names of its own."""
        names = {name: self.fresh(name) for name in sorted(all_defines((s,)))}
        types = self.accesses.types.of_name
        types.update((new, types[name]) for name, new in names.items())
        (again,) = renamed((s,), names, names)
        self.accesses.definitions.update(definitions((again,)))  # type: ignore[attr-defined]
        return again
