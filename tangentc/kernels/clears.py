"""Arrays that are cleared only where they are touched next.

    for i in range(n):                         for i in range(n):
        t[i] = u_bar[i]                            x_bar[i] += c * u_bar[i]
    for i in range(n):                         for i in range(n):
        u_bar[i] = 0.0             ->              u_bar[i] = 0.0
    for i in range(n):
        x_bar[i] += c * t[i]

The adjoint of ``u = ...`` takes what is due to it, and clears it.  Until then it is what a copy of it would be.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np

from tangentc.core.build import Types
from tangentc.core.nodes import Assign, Block, Const, For, If, Statement, While
from tangentc.core.walk import definitions, with_blocks
from tangentc.kernels.accesses import Accesses, touches
from tangentc.kernels.perfect import Perfect, perfect


def cleared_later(block: Block, types: Types, root: Callable[[str], str]) -> Block:
    """The block with arrays cleared later, of which there is a copy that is read meanwhile."""
    return _Later(Accesses(types, definitions(block), root)).block(block)


class _Later:
    def __init__(self, accesses: Accesses):
        self.accesses = accesses

    def block(self, block: Block) -> Block:
        out = [with_blocks(s, self.block) if isinstance(s, (For, If, While)) else s for s in block]
        for clear in [s for s in out if self._clears(s)]:
            at = next(k for k, s in enumerate(out) if s is clear)
            memory = self._memory(clear)
            if not any(self._copies(s, memory) for s in out[:at]):
                continue
            behind = at + 1
            while behind < len(out) and self._is_apart(out[behind], memory):
                behind += 1
            out[at:behind] = [*out[at + 1 : behind], clear]
        return tuple(out)

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
