"""A copy of an array that nothing else holds, and nobody asks for again, is the array.

for k in reversed(range(n)):              for k in reversed(range(n)):
    x_bar = T_bar.copy()          ->          T_bar[2, 3] -= d[k]
    x_bar[2, 3] -= d[k]                       T_bar = T_bar @ A[k].T
    T_bar = x_bar @ A[k].T
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from tangentc.analysis.finished import finished_copies
from tangentc.analysis.program import Program
from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Block, For, Function, Statement, Store
from tangentc.core.types import Array
from tangentc.core.walk import definitions, reads, rebuilt, statements, transform, with_blocks, with_body


def owned(program: Program) -> Function:
    """The function that changes such arrays themselves."""
    function = program.function
    if not any(isinstance(s, Assign) and s.op is np.copy for s in statements(function.body)):
        return function
    return with_body(function, _Owned(program).block(function.body))


def given(program: Program) -> Function:
    """The function without copies of arrays that are filled where they are made, and never touched again."""
    function = program.function
    copies = finished_copies(function, program.aliases)

    def rewrite(s: Statement) -> Block:
        return (replace(s, op=ops.identity),) if isinstance(s, Assign) and s.target in copies else (s,)

    return with_body(function, transform(function.body, rewrite)) if copies else function


def within(block: Block) -> set[int]:
    """The statements of a block, those inside of others among them, by their ids."""
    return {id(s) for s in statements(block)}


class _Owned:
    def __init__(self, program: Program):
        self.types, self.aliases = program.types, program.aliases
        body = program.function.body
        self.made = definitions(body)
        self.users: dict[Atom, list[Statement]] = {}
        for s in statements(body):
            for atom in set(reads(s)):
                self.users.setdefault(atom, []).append(s)
        self.result = program.function.result

    def block(self, block: Block, around: tuple[For, Block] | None = None) -> Block:
        """A block; ``around`` is the loop that it is the body of, with what stands before that."""
        out: list[Statement] = []
        for k, s in enumerate(block):
            before = block[:k]
            if isinstance(s, Assign) and s.op is np.copy and not s.keywords and self.is_last(s, before, around):
                s = replace(s, op=ops.identity)
            inside = (s, before) if isinstance(s, For) else None
            out.append(with_blocks(s, lambda inner, inside=inside: self.block(inner, inside)))  # type: ignore[misc]
        return rebuilt(block, out)

    def is_last(self, copy: Assign, before: Block, around: tuple[For, Block] | None) -> bool:
        """Whether nothing reads what is copied any more, and nothing else holds it."""
        (x,) = copy.args
        if not isinstance(x, str) or self.types.of(x) != self.types.of(copy.target):
            return False
        loop, earlier = around or (None, ())
        carry = next((c for c in loop.carried if c.name == x), None) if loop is not None else None
        users = self.users[x]
        if loop is not None and carry is not None:  # behind the loop this is what the last trip has handed on
            here = within(loop.body)
            users = [s for s in users if id(s) in here]
        if self.is_held(copy.target) and users != [copy]:  # what changes what a list holds is not followed
            return False
        if loop is None or carry is None:
            return self.is_own(x, before, (copy,))
        handed = Counter(a for c in loop.carried for a in (c.init, c.next))
        if handed[carry.init] > 1 or handed[carry.next] > 1:
            return False
        earlier_here = within(before)
        return (
            all(s is copy or self.only_reads(s) and id(s) in earlier_here for s in users)
            and self.is_own(carry.init, earlier, (loop,))
            and self.is_own(carry.next, loop.body, (loop,))
        )

    def is_held(self, x: str) -> bool:
        """Whether an array is given to what may hold it."""
        return any(
            not self.only_reads(s) and not (isinstance(s, Store) and s.object == x != s.value)
            for s in self.users.get(x, ())
        )

    def is_own(self, x: Atom, block: Block, last: tuple[Statement, ...]) -> bool:
        """Whether an array is made in a block, of memory of its own, and is read or changed there alone, but for what
        takes it over."""
        made = self.made.get(x) if isinstance(x, str) else None
        if not isinstance(made, Assign) or not isinstance(self.types.of(x), Array) or x == self.result:
            return False
        here = within(block)
        return any(s is made for s in block) and self.aliases.makes_memory(made) and all(
            any(s is t for t in last)
            or id(s) in here and (self.only_reads(s) or isinstance(s, Store) and s.object == x != s.value)
            for s in self.users.get(x, ())
        )  # fmt: skip

    def only_reads(self, s: Statement) -> bool:
        return isinstance(s, Assign) and self.aliases.makes_memory(s)
