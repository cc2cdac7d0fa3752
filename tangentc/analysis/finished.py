"""Arrays that are filled where they are made, and never changed again.

    for _ in range(steps):                      for _ in range(steps):
        v = np.empty(n)                             v = np.empty(n)
        for i in range(n):                          for i in range(n):
            v[i] = f(u, i)              ->              v[i] = f(u, i)
        u = v                                       v_1 = v.copy()
                                                    u = v_1

What is handed on is a value then, whose adjoint is one too; the array that is stored into is seen by its trip alone.
The copy is none in the end, unless the adjoint has to put back what was in the array before.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tangentc.analysis.aliases import Aliases, may_give_back
from tangentc.analysis.program import Program
from tangentc.core import ops
from tangentc.core.build import Builder
from tangentc.core.nodes import Assign, Atom, Block, Effect, Function, Opaque, Statement, Store
from tangentc.core.types import Array, is_container
from tangentc.core.walk import (
    all_changed_by,
    all_reads,
    blocks,
    definitions,
    joins_of,
    reads,
    statements,
    substitute,
    with_blocks,
)


def finished(program: Program) -> Function:
    """The function that hands on copies of such arrays, where these and others have one name."""
    found = _Fillings(program).found
    return _Handing(program, found).function() if found else program.function


class Filling:
    """How an array is filled: the block in which it is made, and where in it the making and the last store stand."""

    def __init__(self, made: Assign, block: Block, names: set[str], last: int):
        self.made, self.block, self.names, self.last = made, block, names, last
        self.first = next(k for k, s in enumerate(block) if s is made)

    @property
    def within(self) -> Block:
        return self.block[self.first : self.last + 1]


class _Fillings:
    """The fillings of a program after which an array gets a name that others have too."""

    def __init__(self, program: Program):
        self.function, self.aliases, self.types = program.function, program.aliases, program.types
        self.definitions = definitions(self.function.body)
        self.found: list[Filling] = []
        aliases = self.aliases
        several = {r for r in aliases.changed if r not in aliases.simple and r not in aliases.doubtful}
        several -= {aliases.root(n) for n in self._crowded()}
        if not several:
            return
        changes: dict[str, list[tuple[str, Statement]]] = {}
        for s in statements(self.function.body):
            for name in all_changed_by(s):
                changes.setdefault(aliases.root(name), []).append((name, s))
        for root in sorted(several):
            fillings = self._of_class(changes.get(root, []))
            self.found += fillings or []

    def _crowded(self) -> list[str]:
        """Names whose memory may be seen in other ways."""
        types = self.aliases.types.of_name
        held = [n for n, t in types.items() if is_container(t) or not isinstance(t, Array) and n in self.aliases.made]
        outside = ["%global"] if self.aliases.globals else []
        return [*held, *self.aliases.called, *outside]

    def _of_class(self, changes: list[tuple[str, Statement]]) -> list[Filling] | None:
        """The fillings of the arrays of a class, None unless every store into it is part of one."""
        by_origin: dict[str, list[Statement]] = {}
        names: dict[str, set[str]] = {}
        for name, s in changes:
            origin = self._origin(name)
            if origin is None:
                return None
            by_origin.setdefault(origin, []).append(s)
        for name in self.aliases.views:
            if (origin := self._origin(name)) in by_origin:
                names.setdefault(str(origin), set()).add(name)
        out = []
        for origin, stores in by_origin.items():
            filling = self._filling(origin, stores, {origin} | names.get(origin, set()))
            if filling is None:
                return None
            if self._is_handed_on(filling):
                out.append(filling)
        return out

    def _origin(self, name: str) -> str | None:
        """The array that a name is a view of, or another name for, if that is made by a statement."""
        while name in self.aliases.views:
            inner = self.aliases.views[name].args[0]
            if not isinstance(inner, str):
                return None
            name = inner
        made = self.definitions.get(name)
        return name if isinstance(made, Assign) and self.aliases.makes_memory(made) else None

    def _filling(self, origin: str, stores: list[Statement], names: set[str]) -> Filling | None:
        made = self.definitions[origin]
        assert isinstance(made, Assign)
        block = _block_of(self.function.body, made)
        places = [k for k, s in enumerate(block) for x in statements((s,)) if any(x is y for y in stores)]
        if len(places) != len(stores):
            return None
        filling = Filling(made, block, names, max(places))
        if not all(self._is_seen_here_alone(s, names) for top in filling.within for s in statements((top,))):
            return None
        views = names - {origin}
        behind = all_reads(block[filling.last + 1 :])
        return filling if views.isdisjoint(behind) and self.function.result not in views else None

    def _is_seen_here_alone(self, s: Statement, names: set[str]) -> bool:
        """Whether a statement only reads entries of an array, makes views of it, or stores into it."""
        if names.isdisjoint(a for a in reads(s) if isinstance(a, str)):
            return True
        match s:
            case Assign():
                return s.target in names or not self.aliases.shares(s) and not may_give_back(s) and ops.is_pure(s.op)
            case Store():
                return isinstance(self.types.of(s.object), Array) and (s.object not in names or s.value not in names)
            case Effect():
                return s.args[0] in names and names.isdisjoint(a for a in s.atoms[1:] if isinstance(a, str))
            case Opaque():
                return False
        return names.isdisjoint(a for _, *arms in joins_of(s) for a in arms if isinstance(a, str))

    def _is_handed_on(self, filling: Filling) -> bool:
        name = filling.made.target
        inside = sum(name in reads(s) for s in statements(filling.within))
        return self.function.result == name or sum(name in reads(s) for s in statements(self.function.body)) > inside


class _Handing:
    """Writes the copies that are handed on."""

    def __init__(self, program: Program, found: list[Filling]):
        self.program, self.found = program, found
        self.builder = Builder(program.types, [*program.types.of_name])

    def function(self) -> Function:
        function, types = self.program.function, self.program.types
        table: dict[str, Atom] = {}
        for filling in self.found:
            name = filling.made.target
            table[name] = copy = self.builder.fresh(name)
            types.of_name[copy] = types.of(name)
        body = self._block(function.body, table)
        result = table.get(function.result, function.result) if isinstance(function.result, str) else function.result
        return replace(function, body=body, result=result)

    def _block(self, block: Block, table: dict[str, Atom]) -> Block:
        here = [f for f in self.found if f.block is block]
        out: list[Statement] = []
        for k, s in enumerate(block):
            within = {f.made.target for f in here if f.first <= k <= f.last}
            own = {n: a for n, a in table.items() if n not in within}
            inner = with_blocks(s, lambda b, own=own: self._block(b, own))  # type: ignore[misc]
            out.append(substitute(inner, own))
            last = [f.made.target for f in here if f.last == k]
            out += [Assign(str(table[name]), np.copy, (name,), (), s.span) for name in last]
        return tuple(out)


def _block_of(block: Block, s: Statement) -> Block:
    """The block in which a statement stands."""
    waiting = [block]
    while waiting:
        block = waiting.pop()
        if any(x is s for x in block):
            return block
        waiting += [inner for x in block for inner in blocks(x)]
    raise LookupError(s)


# ------------------------------------------------------------------ in the end
def finished_copies(function: Function, aliases: Aliases) -> set[str]:
    """The copies of arrays that nothing reads or changes behind them, and that are not changed themselves: they are
    these arrays."""
    made = definitions(function.body)
    users: dict[Atom, int] = {}
    for s in statements(function.body):
        for atom in set(reads(s)):
            users[atom] = users.get(atom, 0) + 1
    found: set[str] = set()
    waiting = [function.body]
    while waiting:
        block = waiting.pop()
        for k, s in enumerate(block):
            waiting += blocks(s)
            if not isinstance(s, Assign) or s.op is not np.copy or s.keywords or not isinstance(s.args[0], str):
                continue
            if s.span.sweep == "adjoint":  # what an adjoint puts into lists is changed there, and not followed
                continue
            x, by = s.args[0], made.get(s.args[0])
            if aliases.is_changed(s.target) or not isinstance(by, Assign) or x == function.result:
                continue
            first = next((j for j in range(k) if block[j] is by), None)
            if first is None or not aliases.makes_memory(by):
                continue
            inside = [t for t in statements(block[first:k]) if x in reads(t)]
            fills = all(
                isinstance(t, Store) and t.object == x != t.value
                or isinstance(t, Assign) and (aliases.makes_memory(t) or not aliases.shares(t) and ops.is_pure(t.op))
                for t in inside
            )  # fmt: skip
            if fills and len(inside) + 1 == users[x]:
                found.add(s.target)
    return found
