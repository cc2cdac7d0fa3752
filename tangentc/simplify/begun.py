"""What zeros that are added to are added to in the end takes their place in the beginning.

P_bar = np.zeros_like(P)                  P_bar = product * P
for k in reversed(range(n)):       ->     for k in reversed(range(n)):
    P_bar[k] += rate                          P_bar[k] += rate
return product * P + P_bar                return P_bar
"""

from __future__ import annotations

import operator
from collections import Counter
from dataclasses import replace

import numpy as np

from tangentc.analysis.program import Program
from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Block, Effect, Function, Global, Statement, Store
from tangentc.core.types import Array
from tangentc.core.walk import changed_by, definitions, reads, rebuilt, statements, with_blocks, with_body

MADE_OF = (np.zeros_like, np.zeros)


def begun(program: Program) -> Function:
    """The function in which sums begin with what would be added to them at last."""
    function = program.function
    zeros = [s for s in statements(function.body) if isinstance(s, Assign) and s.op in MADE_OF]
    return with_body(function, _Begun(program).block(function.body)) if zeros else function


class _Begun:
    def __init__(self, program: Program):
        self.types, self.aliases = program.types, program.aliases
        body = program.function.body
        self.made = definitions(body)
        self.uses: Counter[Atom] = Counter(a for s in statements(body) for a in reads(s))
        self.uses[program.function.result] += 1

    def block(self, block: Block) -> Block:
        out: Block = tuple(with_blocks(s, self.block) for s in block)
        for s in out:
            if isinstance(s, Assign) and s.op in MADE_OF and isinstance(self.types.of(s.target), Array):
                out = self.sum(out, s)
        return rebuilt(block, out)

    def sum(self, block: Block, zeros: Assign) -> Block:
        """The block in which some zeros are begun with what is added to them at last, if that can be."""
        z, at = zeros.target, block.index(zeros)
        total = [s for s in block if isinstance(s, Assign) and s.op is operator.add and s.args.count(z) == 1]
        every = [s for s in statements(block) if z in reads(s)]
        if sum([*reads(s)].count(z) for s in every) != self.uses[z]:  # it is given to somebody outside
            return block
        if len(total) != 1 or not all(s is total[0] or _adds_to(s, z) for s in every) or len(every) < 2:
            return block
        (last,), (other,) = total, [a for a in total[0].args if a != z]
        if any(z in reads(s) for s in statements(block[block.index(last) + 1 :])):
            return block
        chain = self.chain(other, block)
        if not chain or self.types.of(last.target) != self.types.of(z) or self.types.of(other) != self.types.of(z):
            return block
        first = replace(chain[-1], target=z)
        new: dict[int, tuple[Statement, ...]] = {id(last): (replace(last, op=ops.identity, args=(z,)),)}
        if block.index(chain[-1]) < at:
            new |= {id(zeros): (), id(chain[-1]): (first,)}
        elif self.is_there_before(chain, block, at):
            new |= {**{id(s): () for s in chain}, id(zeros): (*chain[:-1], first)}
        else:
            return block
        return tuple(x for s in block for x in new.get(id(s), (s,)))

    def chain(self, x: Atom, block: Block) -> list[Assign]:
        """The statements of a block that make new memory for one use, and what only they need."""
        made = self.made.get(x) if isinstance(x, str) else None
        if not isinstance(made, Assign) or not self.aliases.makes_memory(made) or self.aliases.is_changed(made.target):
            return []
        found, queue = [made], [made]
        while queue:
            for a in queue.pop().atoms:
                inner = self.made.get(a) if isinstance(a, str) and self.uses[a] == 1 and a.startswith("%") else None
                if isinstance(inner, Assign) and ops.is_pure(inner.op):
                    found.append(inner)
                    queue.append(inner)
        alone = self.uses[x] == 1 and all(any(s is y for y in block) for s in found)
        return found[::-1] if alone else []

    def is_there_before(self, chain: list[Assign], block: Block, at: int) -> bool:
        """Whether all that a chain reads is there, and as it will be, before a place in a block."""
        own = {s.target for s in chain}
        here = {n for s in block[at:] for n in _made(s)}
        given = {a for s in chain for a in s.atoms if isinstance(a, str)} - own
        outside = any(isinstance(a, Global) for s in chain for a in s.atoms)
        if outside and any(isinstance(changed_by(s), Global) for s in statements(block[at:])):
            return False
        return not given & here and not any(map(self.aliases.is_changed, given))


def _made(s: Statement) -> set[str]:
    merged = {m.name for m in getattr(s, "merged", ())} | {c.name for c in getattr(s, "carried", ())}
    return merged | ({s.target} if isinstance(s, Assign) else set())


def _adds_to(s: Statement, z: str) -> bool:
    """Whether a statement adds something to an array, and asks nothing of it."""
    if isinstance(s, Store):
        return s.object == z and s.value != z and s.key != z and s.op in (operator.add, operator.sub)
    return isinstance(s, Effect) and s.op == np.add.at and s.args[0] == z and z not in s.args[1:]
