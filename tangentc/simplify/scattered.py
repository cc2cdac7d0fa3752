"""What is added to a few entries of zeros, and then to something else, is added to that.

    z_bar = np.zeros_like(z)                          z_bar = p * c
    z_bar[np.arange(n), labels] = -c         ->       z_bar[np.arange(n), labels] -= c
    z_bar += p * c

The sums along the rows of the zeros, each of which has got one entry, are these entries.
"""

from __future__ import annotations

import operator
from dataclasses import replace

import numpy as np

from tangentc.analysis.elementwise import broadcast, is_elementwise
from tangentc.analysis.felt import takes_one_of_each_row
from tangentc.analysis.program import Program
from tangentc.core import ops
from tangentc.core.build import Builder
from tangentc.core.nodes import Assign, Atom, Block, Const, Function, Statement, Store
from tangentc.core.types import Array, Scalar
from tangentc.core.walk import definitions, reads, rebuilt, statements, with_blocks, with_body


def scattered(program: Program) -> Function:
    """The function in which nothing is scattered into zeros that are added to something else."""
    function = program.function
    zeros = any(isinstance(s, Assign) and s.op is np.zeros_like for s in statements(function.body))
    if not zeros or not any(isinstance(s, Store) for s in statements(function.body)):
        return function
    return with_body(function, _Scattered(program).block(function.body))


class _Scattered:
    def __init__(self, program: Program):
        self.types, self.aliases, self.result = program.types, program.aliases, program.function.result
        body = program.function.body
        self.made = definitions(body)
        self.assigned: dict[Atom, Assign] = {s.target: s for s in statements(body) if isinstance(s, Assign)}
        self.users: dict[Atom, list[Statement]] = {}
        for s in statements(body):
            for atom in set(reads(s)):
                self.users.setdefault(atom, []).append(s)
        self.b = Builder(program.types, [*program.types.of_name])

    def block(self, block: Block) -> Block:
        out = [with_blocks(s, self.block) for s in block]
        for s in block:
            if isinstance(s, Assign) and s.op is np.zeros_like and isinstance(self.types.of(s.target), Array):
                out = self.moved(s, out) or out
        return rebuilt(block, out)

    def moved(self, zeros: Assign, block: list[Statement]) -> list[Statement] | None:
        """The block in which what is put into some zeros is added to what these are added to."""
        z = zeros.target
        put, *others = [s for s in block if z in reads(s)] or (None,)
        plain = isinstance(put, Store) and put.object == z and put.op is None and put.value != z and put.key is not None
        if plain and isinstance(put.value, str) and self.aliases.is_changed(put.value):  # type: ignore[union-attr]
            return None
        if not plain or z == self.result or len(others) + 1 != len(self.users[z]) or not others:
            return None
        assert isinstance(put, Store)
        new: dict[int, tuple[Statement, ...]] = {id(zeros): (), id(put): ()}
        for s in others:
            if (added := self.added(s, put)) is not None:
                if isinstance(s, Assign) and s is not others[-1]:
                    return None
                new[id(s)] = added
                if isinstance(s, Store):
                    made = self.made[s.value]  # type: ignore[index]
                    if all(x is not made for x in block):
                        return None
                    new[id(made)] = (replace(made, target=z),)  # type: ignore[arg-type]
                return [x for y in block for x in new.get(id(y), (y,))]
            if (row_sum := self.row_sum(s, put)) is None:
                return None
            new[id(s)] = row_sum
        return None

    def added(self, s: Statement, put: Store) -> tuple[Statement, ...] | None:
        """``z += a``, ``t = z + a``, ``z - a`` or ``a - z`` by what is put into z."""
        z = put.object
        if (
            isinstance(s, Store)
            and s.object == z
            and s.key is None
            and s.op is operator.add
            and self.is_own(s.value, z)
        ):
            return (replace(put, op=operator.add, adjoint_of=True),)
        if not isinstance(s, Assign) or s.op not in (operator.add, operator.sub) or s.args.count(z) != 1:
            return None
        (other,) = [a for a in s.args if a != z]
        if not self.is_own(other, z) or self.types.of(s.target) != self.types.of(z):
            return None
        minus = s.op is operator.sub
        begun = replace(s, op=operator.neg if minus and s.args[0] == z else ops.identity, args=(other,))
        return begun, replace(put, object=s.target, op=operator.sub if minus and s.args[1] == z else operator.add)

    def is_own(self, x: Atom, like: str) -> bool:
        """Whether an array is made for one use, in the shape and dtype of another."""
        made = self.made.get(x) if isinstance(x, str) else None
        own = isinstance(made, Assign) and self.aliases.makes_memory(made) and len(self.users[x]) == 1
        return own and self.types.of(x) == self.types.of(like)

    def row_sum(self, s: Statement, put: Store) -> tuple[Statement, ...] | None:
        """The sum along the last axis of zeros into each row of which one entry is put."""
        t = self.types.of(put.object)
        options = dict(s.keywords) if isinstance(s, Assign) else {}
        if not isinstance(s, Assign) or s.op is not np.sum or not isinstance(t, Array) or len(t.shape) != 2:
            return None
        if options.get("axis") not in (Const(1), Const(-1)) or options.keys() - {"axis", "keepdims"}:
            return None
        if put.key is None or not takes_one_of_each_row(put.key, t, self.assigned, self.types.of):
            return None
        value, kept = self.types.of(put.value), options.get("keepdims") == Const(True)
        if isinstance(value, Array) and value.shape == t.shape[:1]:
            key = Const((slice(None), None))
            return (replace(s, op=operator.getitem, args=(put.value, key), keywords=()),) if kept else (
                replace(s, op=ops.identity, args=(put.value,), keywords=()),
            )  # fmt: skip
        if isinstance(value, Scalar) and all(self.is_broadcast(u, s.target) for u in self.users.get(s.target, ())):
            self.types.of_name[s.target] = value
            return (replace(s, op=ops.identity, args=(put.value,), keywords=()),)
        return None

    def is_broadcast(self, s: Statement, x: str) -> bool:
        """Whether a number in the place of an array makes no difference to the shape of what an operation gives."""
        if not isinstance(s, Assign) or not is_elementwise(s.op) or s.args.count(x) != 1:
            return False
        shapes = [t.shape for a in s.args if a != x and isinstance(t := self.types.of(a), Array)]
        given = self.types.of(s.target)
        return bool(shapes) and isinstance(given, Array) and broadcast(shapes, lambda: NotImplemented) == given.shape
