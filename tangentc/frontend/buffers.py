"""Two arrays that take turns are one, and a copy that nothing needs is none.

    for _ in range(n):                          u = u.copy()
        new = u.copy()                          for _ in range(n):
        new[1:] = u[1:] - c * u[:-1]      ->        old = u.copy()
        u = new                                     u[1:] = old[1:] - c * old[:-1]

    old = u.copy()
    u[1:] = old[1:] - c * old[:-1]        ->    u[1:] = u[1:] - c * u[:-1]

A trip that copies what it was handed, changes the copy and hands that on changes one array: it is the same to change
what it was handed and to read the copy, where nothing but the trip sees either.  And what is read of a copy before the
array changes is what is in the array.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tangentc.analysis.aliases import Aliases, may_give_back
from tangentc.analysis.program import Program
from tangentc.core import ops
from tangentc.core.build import Builder
from tangentc.core.naming import shown
from tangentc.core.nodes import Assign, Block, Carry, Effect, For, Function, If, Leave, Opaque, Statement, Store, While
from tangentc.core.types import Array, is_container
from tangentc.core.walk import (
    all_reads,
    blocks,
    changed_by,
    joins_of,
    reads,
    rebuilt,
    statements,
    substitute_block,
    transform,
    with_blocks,
    with_body,
)


def one_buffer(program: Program) -> Function:
    """The function with arrays that take turns as one, and without copies that nothing needs."""
    if not any(isinstance(s, Assign) and s.op is np.copy for s in statements(program.function.body)):
        return program.function
    turns = _Turns(program)
    function = with_body(program.function, turns.block(program.function.body))
    if turns.table:
        result = (
            turns.table.get(function.result, function.result) if isinstance(function.result, str) else function.result
        )
        function = replace(function, body=substitute_block(function.body, turns.table), result=result)
    return _without_copies(function, Aliases(function, program.types, program.aliases.call_aliases))


class _Seen:
    """What of some arrays may be seen: the names for their memory, and whether they get out of sight."""

    def __init__(self, aliases: Aliases, names: set[str]):
        self.aliases, self.names = aliases, names

    def gets_out(self, s: Statement) -> bool:
        """Whether a statement lets one of the arrays out of sight; notes the views that it makes."""
        types = self.aliases.types
        match s:
            case Assign() if not self.names.isdisjoint(s.atoms) and may_give_back(s):
                return True
            case Assign() if not self.names.isdisjoint(self.aliases.shares(s)):
                self.names.add(s.target)
                return is_container(types.of(s.target)) or self.aliases.call_aliases(s.op) is not None
            case Store():
                return s.value in self.names and not isinstance(types.of(s.object), Array)
            case Effect():
                return not self.names.isdisjoint(s.args[1:]) and s.args[0] not in self.names
            case Opaque() | Leave():
                return not self.names.isdisjoint(reads(s))
            case If() | For() | While():
                arms = {atom for _, *both in joins_of(s) for atom in both}
                return not self.names.isdisjoint(arms) or isinstance(s, For) and s.iterable in self.names
        return False


class _Turns:
    """The arrays that take turns in loops; ``table`` has what their names are from now on."""

    def __init__(self, program: Program):
        self.function, self.types, self.aliases = program.function, program.types, program.aliases
        self.builder = Builder(program.types, [*program.types.of_name])
        self.loops = [s for s in statements(self.function.body) if isinstance(s, (For, While))]
        self.table: dict[str, str] = {}

    def block(self, block: Block) -> Block:
        out: list[Statement] = []
        for s in block:
            new = s
            if isinstance(s, (For, While)) and any(s is known for known in self.loops):
                for carry in s.carried:
                    if (made := self.maker(carry, s)) is not None:
                        before, new = self.in_one(carry, made, new)  # type: ignore[arg-type]
                        out.append(before)
            out.append(with_blocks(new, self.block) if blocks(new) else new)
        return rebuilt(block, out)

    def maker(self, carry: Carry, loop: For | While) -> Assign | None:
        """The copy that a trip changes and hands on, if nothing but the trip sees it, or what it was handed."""
        made = {s.target: s for s in loop.body if isinstance(s, Assign)}
        name: Any = carry.next
        while name in made and made[name].op is ops.identity:
            name = made[name].args[0]
        copy = made.get(name)
        if copy is None or copy.op is not np.copy or copy.args != (carry.name,) or copy.keywords:
            return None
        types = [self.types.of(a) for a in (carry.name, carry.init, name)]
        if not isinstance(types[0], Array) or types.count(types[0]) != 3 or not self.aliases.is_changed(name):
            return None
        if isinstance(loop, While) and carry.name in all_reads(loop.head):
            return None
        return copy if self._stays(carry, copy, loop) else None

    def _stays(self, carry: Carry, copy: Assign, loop: For | While) -> bool:
        """Whether nothing but the trip sees the two arrays, and only the copy is changed."""
        seen = _Seen(self.aliases, {carry.name, copy.target})
        inside = [*statements(loop.body)]
        if any(map(seen.gets_out, inside)):
            return False
        if any(a in seen.names for c in loop.carried if c is not carry for a in (c.name, c.init, c.next)):
            return False
        root, own = self.aliases.root(copy.target), {copy.target}
        own |= {n for n in seen.names if self._of(n) == copy.target}
        before = True
        for s in statements(self.function.body):
            before = before and s is not loop
            changed = changed_by(s)
            if changed is None or self.aliases.root(changed) != root or before:
                continue
            after = self._of(changed) == carry.name and not any(s is x for x in inside)
            if changed not in own and not after:
                return False
        return True

    def _of(self, name: str) -> str:
        """The array that a name is a view of, or another name for."""
        while name in self.aliases.views and isinstance(inner := self.aliases.views[name].args[0], str):
            name = inner
        return name

    def in_one(self, carry: Carry, copy: Assign, loop: For | While) -> tuple[Assign, For | While]:
        """The loop with one array, and its first value."""
        buffer, old = self.builder.fresh(carry.name), self.builder.fresh(f"{shown(carry.name)}_old")
        self.types.of_name[buffer] = self.types.of_name[old] = self.types.of(carry.name)
        self.table |= {carry.name: buffer, copy.target: buffer}
        body = transform(loop.body, lambda s: () if isinstance(s, Assign) and s.target == copy.target else (s,))
        kept = Assign(old, np.copy, (buffer,), (), copy.span)
        carried = tuple(c for c in loop.carried if c is not carry)
        loop = replace(loop, body=(kept, *substitute_block(body, {carry.name: old})), carried=carried)
        return Assign(buffer, np.copy, (carry.init,), (), loop.span), loop


def _without_copies(function: Function, aliases: Aliases) -> Function:
    """The function without copies that are read before the array changes, and not changed themselves."""
    table: dict[str, Any] = {}
    handed = {atom for s in statements(function.body) for _, *both in joins_of(s) for atom in both} | {function.result}

    def inside(block: Block) -> Block:
        out: list[Statement] = []
        for k, s in enumerate(block):
            if isinstance(s, Assign) and s.op is np.copy and not s.keywords and is_needless(s, block[k + 1 :]):
                table[s.target] = s.args[0]
            else:
                out.append(with_blocks(s, inside) if blocks(s) else s)
        return rebuilt(block, out)

    def is_needless(copy: Assign, after: Block) -> bool:
        """Whether all that is read of a copy is read in its block, before the array changes."""
        array, seen = copy.args[0], _Seen(aliases, {copy.target})
        if not isinstance(array, str) or not isinstance(aliases.types.of(array), Array):
            return False
        if aliases.is_changed(copy.target) or not aliases.is_changed(array):
            return False
        root, is_past = aliases.root(array), False
        for s in after:
            every = [*statements((s,))]
            if any(map(seen.gets_out, every)) or not seen.names.isdisjoint(handed):
                return False
            is_past = is_past or any(_changes(x, root, aliases) for x in every)
            if is_past and not seen.names.isdisjoint(all_reads((s,))):
                return False
        return is_past

    body = inside(function.body)
    return with_body(function, substitute_block(body, table)) if table else function


def _changes(s: Statement, root: str, aliases: Aliases) -> bool:
    changed = changed_by(s)
    return changed is not None and aliases.root(changed) == root
