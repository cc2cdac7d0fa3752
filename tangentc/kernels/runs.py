"""Runs of statements on arrays, one after the other, which a compiler can make one loop of.

y = a * x + b                       y, total = f_fused(a, x, b)
total = np.sum(y, axis=1)     ->    z = y @ w
z = y @ w
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Hashable

import numpy as np

from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Block, Effect, Op, Statement, Store
from tangentc.core.types import Array, Known, Scalar, Type
from tangentc.core.walk import all_defines, all_reads
from tangentc.kernels.language import is_array, is_number
from tangentc.kernels.words import ORDERS
from tangentc.kernels.writing import NotSaid

LEAST = 4  # statements that give entries of arrays, for which it is worth to compile them
NO_WORK: set[Op] = {
    builtins.getattr, builtins.len, np.shape, np.size, *ORDERS, np.reshape, ops.identity, ops.make_tuple,
    np.zeros, np.ones, np.empty, np.zeros_like, np.ones_like, np.empty_like, operator.getitem,
}  # fmt: skip


class Runs:
    """Compiles the runs of a block: ``type_of`` tells what its names are, ``root`` what their memory is, and ``held``
    in which class it is with all that one container holds; ``compiled`` gives the call that takes the place of a run.
    """

    def __init__(
        self, type_of: Callable[[Atom], Type], root: Callable[[str], str], held: Callable[[str], str],
        compiled: Callable[[Block, set[Atom]], list[Statement]], least: int = LEAST,
    ):  # fmt: skip
        self.type_of, self.root, self.held = type_of, root, held
        self.compiled, self.least = compiled, least

    def block(self, run: Block, later: set[Atom]) -> list[Statement]:
        """The statements of a run with calls in the place of what can be compiled of it."""
        out: list[Statement] = []
        while run and not self.is_work(run[0]):
            out.append(run[0])
            run = run[1:]
        if sum(map(self.is_work, run)) < self.least or self.is_small(run, later):
            return [*out, *run]
        try:
            return [*out, *self.compiled(run, later)]
        except NotSaid as reason:
            made = (
                all_defines((reason.statement,)) if reason.statement is not None else set()
            )  # or what was made before it
            at = next((k for k, s in enumerate(run) if s is reason.statement or made & all_reads((s,))), None)
            if at is None:
                return [*out, *run]
            now, waits = self.split(run, at)
            out += self.block(now, later | all_reads(waits))
            return [*out, waits[0], *self.block(waits[1:], later)]

    def is_small(self, run: Block, later: set[Atom]) -> bool:
        """Whether all arrays are known to have few entries, and to hand them over costs more than the statements."""
        made = all_defines(run)
        handed = {a for a in (all_reads(run) - made) | (made & later) if is_array(self.type_of(a))}
        every = [t for a in all_reads(run) | made if isinstance(t := self.type_of(a), Array)]
        few = all(isinstance(n, int) for t in every for n in t.shape)
        return few and sum(map(self.is_work, run)) <= len(handed)

    def is_work(self, s: Statement) -> bool:
        """Whether a statement gives entries of arrays, or takes them from others."""
        if isinstance(s, Assign) and not is_array(self.type_of(s.target)):
            return False
        if isinstance(s, Assign) and s.op in NO_WORK:
            return s.op is operator.getitem and is_array(self.type_of(s.args[1]))
        if isinstance(s, Store):
            return s.key is None or not is_number(self.type_of(s.key))
        return isinstance(s, (Assign, Effect)) and any(is_array(self.type_of(a)) for a in s.atoms)

    def split(self, run: Block, at: int) -> tuple[Block, Block]:
        """What is done before a statement that there are no words for, and what waits for it: that is no more than what
        needs it."""
        first = run[at]
        if not isinstance(first, Assign) or not ops.is_pure(first.op):
            return run[:at], run[at:]
        now: list[Statement] = [*run[:at]]
        waits: list[Statement] = [first]
        for s in run[at + 1 :]:
            (waits if any(self.in_order(w, s) for w in waits) else now).append(s)
        return tuple(now), tuple(waits)

    def in_order(self, a: Statement, b: Statement) -> bool:
        """Whether a statement has to stand before another one that is behind it."""
        (reads, writes), (its_reads, its_writes) = self.memory(a), self.memory(b)
        needs = not all_defines((a,)).isdisjoint(all_reads((b,)))
        return (
            needs or any(map(self.is_impure, (a, b))) or bool(writes & (its_reads | its_writes) or its_writes & reads)
        )

    @staticmethod
    def is_impure(s: Statement) -> bool:
        """Whether a statement does more than to give a value, and to write into one array."""
        return isinstance(s, Effect) and s.op != np.add.at or isinstance(s, Assign) and not ops.is_pure(s.op)

    def memory(self, s: Statement) -> tuple[set[Hashable], set[Hashable]]:
        """The memory that a statement reads, and that it writes; of what it reads in tuples, lists and objects only the
        class is known."""
        reads: set[Hashable] = set()
        for a in all_reads((s,)):
            t = self.type_of(a)
            if isinstance(t, Array):
                reads.add(self.root(a))
            elif not isinstance(t, (Scalar, Known)):
                reads.add(("held", self.held(a)))
        written = s.object if isinstance(s, Store) else s.args[0] if isinstance(s, Effect) and s.args else None
        return reads, {self.root(written), ("held", self.held(written))} if isinstance(written, str) else set()
