"""Numbers that a loop makes anew in each trip, and needs at several places, made once before it.

    for _ in range(n):                        half = 0.5 * dt
        half = 0.5 * dt                       for _ in range(n):
        v += half * a                ->           v += half * a
        x += half * v                             x += half * v

(Loop-invariant code motion: Muchnick, Advanced Compiler Design and Implementation, section 13.2.)
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Collection

import numpy as np

from tangentc.analysis.program import Program
from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Block, Const, For, Function, Global, Statement, While
from tangentc.core.types import Array, Scalar, is_numeric
from tangentc.core.walk import all_defines, reads, rebuilt, statements, with_blocks, with_body
from tangentc.ops.table import every, known_of

UFUNCS = {f for f in vars(np).values() if isinstance(f, np.ufunc) and f.signature is None}
NOT_WORTH = {*every("puts_together"), np.zeros_like, np.full_like, np.zeros, np.ones, np.full}
SAFE = (operator.add, operator.sub, operator.mul, operator.neg)  # which raise for no numbers


def invariant(program: Program) -> Function:
    """The function with such numbers before the outermost loop that they are the same in."""
    function = program.function
    if not any(isinstance(s, (For, While)) for s in statements(function.body)):
        return function
    uses = Counter((s.op, s.args) for s in statements(function.body) if isinstance(s, Assign))
    read = Counter(a for s in statements(function.body) for a in reads(s))
    return with_body(function, _Invariant(program, uses, read).block(function.body))


def is_part(s: Assign) -> bool:
    """Whether a statement only takes a part of an array, or asks for its form."""
    return s.op in (np.transpose, np.shape, np.size) or known_of(s.op).cheap and s.op is not operator.getitem


def fixed(program: Program, active: Collection[Atom]) -> Function:
    """The function with what costs something, and does not move, before the loops that it is the same in: an adjoint
    needs it in each trip, and would have it saved."""
    if not any(isinstance(s, (For, While)) for s in statements(program.function.body)):
        return program.function
    return with_body(program.function, _Fixed(program, active).block(program.function.body))


class _Fixed:
    def __init__(self, program: Program, active: Collection[Atom]):
        self.types, self.active = program.types, active

    def block(self, block: Block) -> Block:
        out: list[Statement] = []
        for s in block:
            s = with_blocks(s, self.block)
            moved = self.moved(s) if isinstance(s, (For, While)) else []
            out += moved
            if moved:
                gone = {id(x) for x in moved}
                s = with_blocks(s, lambda b, gone=gone: rebuilt(b, [x for x in b if id(x) not in gone]))  # type: ignore[misc]
            out.append(s)
        return rebuilt(block, out)

    def moved(self, s: For | While) -> list[Assign]:
        """The numbers that a loop makes anew, which cost something, and those that they are made of."""
        inside, found = all_defines((s,)), list[Assign]()
        for x in s.body:
            if isinstance(x, Assign) and self.is_fixed(x, inside):
                inside.discard(x.target)
                found.append(x)
        needed: set[Atom] = {x.target for x in found if not known_of(x.op).cheap and x.op not in SAFE}
        for x in reversed(found):
            needed |= set(x.args) if x.target in needed else set()
        return [x for x in found if x.target in needed]

    def is_fixed(self, s: Assign, inside: set[str]) -> bool:
        t = self.types.of(s.target)
        if s.target in self.active or not isinstance(t, Scalar) or np.dtype(t.dtype).kind != "f" or s.keywords:
            return False
        quiet = s.op in SAFE or s.op in UFUNCS  # which warn, and do not raise
        plain = all(isinstance(a, Const) or isinstance(self.types.of(a), Scalar) for a in s.args)
        return quiet and plain and not any(isinstance(a, Global) or a in inside for a in s.args)


class _Invariant:
    def __init__(self, program: Program, made: Counter, read: Counter[Atom]):
        self.program, self.types, self.made, self.read = program, program.types, made, read

    def block(self, block: Block) -> Block:
        out: list[Statement] = []
        for s in block:
            s = with_blocks(s, self.block)
            if isinstance(s, (For, While)):
                moved = self.moved(s)
                out += moved
                s = with_blocks(s, lambda b, gone=moved: rebuilt(b, [x for x in b if all(x is not m for m in gone)]))  # type: ignore[misc]
            out.append(s)
        return rebuilt(block, out)

    def moved(self, s: For | While) -> list[Assign]:
        """What is made before a loop."""
        inside, found = all_defines((s,)), list[Assign]()
        for x in s.body:
            if isinstance(x, Assign) and (self.may_move(x, inside) or self.is_of_the_adjoint(x, inside)):
                inside.discard(x.target)
                found.append(x)
        arrays = {x.target for x in found if isinstance(self.types.of(x.target), Array) and not is_part(x)}
        needed: set[Atom] = {*arrays, *(x.target for x in found if self.may_move(x, set()))}
        for x in reversed(found):
            needed |= set(x.args) if x.target in needed else set()
        return [x for x in found if x.target in needed]

    def is_of_the_adjoint(self, s: Assign, inside: set[str]) -> bool:
        """Whether only the adjoint sweep makes an array, or a number, of what does not change in the loop."""
        pure = ops.is_pure(s.op) and not isinstance(s.op, (ops.UserFunction, ops.Emitted)) and s.op not in NOT_WORTH
        if s.span.sweep != "adjoint" or not pure or any(a in inside for a in s.atoms):
            return False
        numeric = all(isinstance(a, (Const, Global)) or is_numeric(self.types.of(a)) for a in (s.target, *s.atoms))
        aliases = self.program.aliases
        return numeric and not any(isinstance(a, str) and aliases.is_changed(a) for a in (s.target, *s.atoms))

    def may_move(self, s: Statement, inside: set[str]) -> bool:
        """Whether a number is the same in all trips, is needed at several places, and no error comes of it."""
        t = self.types.of(s.target) if isinstance(s, Assign) else None
        if not isinstance(s, Assign) or not isinstance(t, Scalar) or np.dtype(t.dtype).kind not in "fc" or s.keywords:
            return False
        halved = s.op is operator.truediv and isinstance(s.args[1], Const) and bool(s.args[1].value)
        if not all(isinstance(self.types.of(a), Scalar) for a in s.args):  # an array without axes may change
            return False
        several = self.made[s.op, s.args] > 1 or self.read[s.target] > 1
        return several and (s.op in SAFE or halved) and not any(a in inside for a in s.args)
