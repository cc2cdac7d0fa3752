"""Parts of arrays that a loop hands on, and that are read before the array changes again.

    for k in range(n):                          for k in range(n):
        a = f(x, s[k])                              a = f(x, s[k])
        s[k] = a                   ->               s[k] = a
        x = s[k]                                    x = s[k].copy()

The next trip has read `x` when it stores into `s`: a copy is as good, and has an adjoint of its own.
"""

from __future__ import annotations

import itertools
import operator
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from tangentc.analysis.aliases import Aliases
from tangentc.analysis.program import Program
from tangentc.core import ops
from tangentc.core.build import Builder
from tangentc.core.nodes import Assign, Atom, Block, Carry, Effect, For, Function, Leave, Op, Opaque, Statement
from tangentc.core.types import Array
from tangentc.core.walk import (
    all_changed_by,
    all_reads,
    blocks,
    joins_of,
    reads,
    statements,
    substitute_block,
    transform,
    with_body,
)

LISTS: set[Op] = {ops.make_list, ops.make_tuple}
JOINS: set[Op] = {np.concatenate, np.stack}


def handed_on(program: Program) -> Function:
    """The function that hands on copies of such parts."""
    function, types = program.function, program.types
    work = _Handed(program)
    found = {id(s) for s in work.found()}
    lists = {id(s) for s in work.lists()}
    if not found and not lists:
        return function
    builder = Builder(types, [*types.of_name])

    def own(atom: Atom, s: Assign, out: list[Statement]) -> Atom:
        if not work.may_change(atom):
            return atom
        name = builder.fresh("%item")
        types.of_name[name] = types.of(atom)
        out.append(Assign(name, np.copy, (atom,), (), s.span))
        return name

    def copied(s: Statement) -> Block:
        if isinstance(s, Assign) and id(s) in lists:
            before: list[Statement] = []
            made = replace(s, args=tuple(own(a, s, before) for a in s.args))
            return (*before, made)
        if not isinstance(s, Assign) or id(s) not in found:
            return (s,)
        part = builder.fresh("%part")
        types.of_name[part] = types.of(s.target)
        return Assign(part, s.op, s.args, s.keywords, s.span), Assign(s.target, np.copy, (part,), (), s.span)

    return with_body(function, transform(function.body, copied))


def taken_back(program: Program) -> Function:
    """The function without copies that a list holds which is joined at once."""
    body = program.function.body
    read = Counter(a for s in statements(body) for a in reads(s))
    names: dict[str, Atom] = {}
    waiting: list[Block] = [body]
    while waiting:
        block = waiting.pop()
        waiting += [inner for s in block for inner in blocks(s)]
        for k, s in enumerate(block[1:]):
            made = block[k]
            if not isinstance(made, Assign) or not isinstance(s, Assign) or s.op not in JOINS:
                continue
            if made.op not in LISTS or s.args[0] != made.target or read[made.target] != 1:
                continue
            before = itertools.takewhile(_is_copy, reversed(block[:k]))
            names |= {c.target: c.args[0] for c in before if c.target in made.args and read[c.target] == 1}
    return with_body(program.function, substitute_block(transform(body, lambda s: _without(s, names)), names))


def _is_copy(s: Statement) -> bool:
    return isinstance(s, Assign) and s.op is np.copy and len(s.args) == 1 and not s.keywords


def _without(s: Statement, names: dict[str, Atom]) -> Block:
    return () if isinstance(s, Assign) and s.target in names else (s,)


class _Handed:
    """Which statements give a part that is handed on."""

    def __init__(self, program: Program):
        self.function, self.types = program.function, program.types
        self.aliases: Aliases = program.aliases
        self.every = [*statements(self.function.body)]

    def found(self) -> Iterator[Assign]:
        waiting: list[Block] = [self.function.body]
        while waiting:
            block = waiting.pop()
            for k, s in enumerate(block):
                waiting += blocks(s)
                if isinstance(s, For) and not any(isinstance(x, Leave) for x in statements(s.body)):
                    for c in s.carried:
                        yield from self._of(c, s, block[k + 1 :])

    def lists(self) -> Iterator[Assign]:
        """The lists of arrays that change, which are given at once to a function that makes an array of them."""
        users: dict[Atom, list[Statement]] = {}
        for s in self.every:
            for a in set(all_reads((s,))):
                users.setdefault(a, []).append(s)
        made = {s.target: s for s in self.every if isinstance(s, Assign) and s.op in LISTS}
        for name, s in made.items():
            used = users.get(name, [])
            ends = [u for u in used if isinstance(u, Assign)]
            if len(ends) == 1 and len([u for u in used if not blocks(u)]) == 1 and any(map(self.may_change, s.args)):
                if (
                    ends[0].op in JOINS
                    and {k for k, _ in ends[0].keywords} <= {"axis"}
                    and self._are_neighbours(s, ends[0])
                ):
                    yield s

    def may_change(self, atom: Atom) -> bool:
        return isinstance(atom, str) and isinstance(self.types.of(atom), Array) and self.aliases.is_changed(atom)

    def _are_neighbours(self, a: Statement, b: Statement) -> bool:
        waiting: list[Block] = [self.function.body]
        while waiting:
            block = waiting.pop()
            waiting += [inner for s in block for inner in blocks(s)]
            if any(x is a and y is b for x, y in zip(block, block[1:])):
                return True
        return False

    def _of(self, c: Carry, loop: For, behind: Block) -> Iterator[Assign]:
        """The statement that gives the part which a name is handed, if a copy is as good."""
        made = self.aliases.views.get(c.next) if isinstance(c.next, str) else None
        place = next((k for k, s in enumerate(loop.body) if s is made), None)
        if not isinstance(made, Assign) or place is None or made.op is not operator.getitem:
            return
        if not all(isinstance(self.types.of(a), Array) for a in (c.name, made.args[0])):
            return
        root = self.aliases.root(c.name)
        if not self.aliases.is_changed(c.name) or self._array(c.init) == self._array(c.next):
            return
        names = self._names_of({c.name, made.target}, c)
        if names is None or self.function.result in names:
            return
        first, then = loop.body[:place], loop.body[place + 1 :]
        changes = [k for k, s in enumerate(first) if self._changes(s, root)]
        early = self._uses(first, names) < min(changes, default=place)
        if early and not any(self._changes(s, root) for s in then) and self._is_read_in_time(behind, names, root):
            yield made

    def _is_read_in_time(self, behind: Block, names: set[Atom], root: str) -> bool:
        changes = [k for k, s in enumerate(behind) if self._changes(s, root)]
        return self._uses(behind, names) < min(changes, default=len(behind))

    def _array(self, atom: Atom) -> Atom:
        while isinstance(atom, str) and atom in self.aliases.views:
            atom = self.aliases.views[atom].args[0]
        return atom

    @staticmethod
    def _uses(block: Block, names: set[Atom]) -> int:
        """Where in a block names are read last."""
        return max((k for k, s in enumerate(block) if not names.isdisjoint(all_reads((s,)))), default=-1)

    def _names_of(self, names: set[Atom], own: Carry) -> set[Atom] | None:
        """All names for a part, and for what holds it; None where it is not known what becomes of it."""
        more = True
        while more:
            more = False
            for s in self.every:
                if isinstance(s, Assign) and s.target not in names and not names.isdisjoint(self.aliases.shares(s)):
                    names, more = names | {s.target}, True
        for s in self.every:
            for name, *arms in joins_of(s):
                if name != own.name and not names.isdisjoint(arms):
                    return None
            if isinstance(s, (Effect, Opaque)) and not names.isdisjoint(all_reads((s,))):
                return None
            if not names.isdisjoint(all_changed_by(s)):
                return None
        return names

    def _changes(self, top: Statement, root: str) -> bool:
        """Whether a statement may change what arrays of a class hold."""
        for s in statements((top,)):
            if any(self.aliases.root(name) == root for name in all_changed_by(s)):
                return True
            if isinstance(s, Opaque) or isinstance(s, (Assign, Effect)) and not ops.is_pure(s.op) and s.op != np.add.at:
                return True
        return False
