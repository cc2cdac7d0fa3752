"""A loop that adds to several entries in each trip, as one loop for each of these additions.

    for i in range(n - 2, 0, -1):              for i in range(1, n - 1):
        u_bar[i - 1] += d * v_bar[i]               u_bar[i - 1] += d * v_bar[i]
        u_bar[i + 1] += d * v_bar[i]     ->    for i in range(1, n - 1):
        v_bar[i] = 0.0                             u_bar[i + 1] += d * v_bar[i]
                                               for i in range(1, n - 1):
                                                   v_bar[i] = 0.0

What it adds up to numbers becomes a loop as well, before the others.  Such additions are gathered then.  It is what the
adjoint of a loop looks like that a user writes over entries.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace

from tangentc.core import ops
from tangentc.core.build import Types
from tangentc.core.nodes import Assign, Atom, Block, Const, For, Statement, Store
from tangentc.core.types import Known, Type
from tangentc.core.walk import all_defines, all_reads, reads, statements, substitute, transform
from tangentc.kernels.accesses import Accesses
from tangentc.kernels.forwards import trips

CHEAP = {operator.add, operator.sub, operator.mul, operator.neg, operator.getitem, ops.make_tuple, ops.identity}
MOST = 12  # operations on numbers that are done again for each addition


class Fission:
    """Splits loops."""

    def __init__(self, types: Types, fresh: Callable[[str], str], accesses: Accesses):
        self.types, self.fresh, self.accesses = types, fresh, accesses

    def split(self, s: For) -> list[Statement] | None:
        """The loops that stand for a loop, each with what says its range; None where it is to stay."""
        sums = self._sums(s)
        if sums is None:
            return None
        nest = self._nest(transform((s,), lambda x: self._without(x, sums))[0])
        if nest is None:
            return None
        loops, body = nest
        adds = [x for x in body if isinstance(x, Store) and x.op in (operator.add, operator.sub)]
        clears = [x for x in body if isinstance(x, Store) and x.op is None and isinstance(x.value, Const)]
        makes = [x for x in body if isinstance(x, Assign)]
        if len(adds) + len(clears) + len(makes) != len(body) or len({x.object for x in adds}) == len(adds):
            return None
        if any(x.span.sweep != "adjoint" for x in adds) or not self._are_free(loops, adds, clears, body):
            return None
        if not sums.isdisjoint(all_reads(body)):
            return None
        parts = [self._part(makes, x) for x in sorted(adds, key=lambda x: x.object)]
        if any(not self._is_cheap(part) for part in parts):
            return None
        parts += [self._part(makes, x) for x in clears]
        own = [transform((s,), lambda x: () if isinstance(x, Store) else (x,))[0]] if sums else []
        return [*own, *(x for part in parts for x in self._loops(loops, part))]

    @staticmethod
    def _sums(s: For) -> set[str] | None:
        """The names of the sums of an adjoint that loops carry; None where they carry something else."""
        inner = {c.name: c for x in statements((s,)) if isinstance(x, For) for c in x.carried}
        made = {x.target: x for x in statements(s.body) if isinstance(x, Assign)}
        names: set[str] = set()
        for c in inner.values():
            at: Atom = c.next
            names.add(c.name)
            while at != c.name:
                names.add(str(at))
                x = made.get(str(at))
                if x is not None and x.op in (operator.add, operator.sub) and x.span.sweep == "adjoint":
                    at = x.args[0]
                elif at in inner:
                    at = inner[str(at)].init
                else:
                    return None
        return names

    @staticmethod
    def _without(x: Statement, sums: set[str]) -> Block:
        """A statement without what it does for sums."""
        if isinstance(x, Assign) and x.target in sums:
            return ()
        return (replace(x, carried=()),) if isinstance(x, For) else (x,)

    def _nest(self, s: Statement) -> tuple[list[For], Block] | None:
        """Loops inside of one another, and what the innermost does, and in it what the others compute besides."""
        loops: list[For] = []
        before: list[Statement] = []
        inside = all_defines((s,))
        while isinstance(s, For):
            over = trips(s, self.accesses.definitions)
            if s.carried or len(over) != 2 or not inside.isdisjoint(over):
                return None
            loops.append(s)
            *outer, last = s.body or (None,)
            if not isinstance(last, For):
                return loops, (*before, *s.body)
            if not all(isinstance(x, Assign) for x in outer):  # what is stored there is stored once, not in each trip
                return None
            before += outer
            s = last
        return None

    def _are_free(self, loops: list[For], adds: list[Store], clears: list[Store], body: Block) -> bool:
        """Whether the trips, and the additions in one of them, may be done in any order: what is added to is not read,
        and what is cleared is touched by the trip alone."""
        found = self.accesses.of(body)
        if found is None:
            return False
        root = self.accesses.root
        added, cleared = {root(x.object) for x in adds}, {root(x.object) for x in clears}
        if added & cleared or any(a.memory in added and not a.writes for a in found):
            return False
        own = [a for a in found if a.memory in cleared]
        apart = all(self.accesses.are_apart(own, own, loop.target, all_defines(body)) for loop in loops)
        behind = self._reads_behind_clears(body, cleared)
        return apart and not behind

    def _reads_behind_clears(self, body: Block, cleared: set[str]) -> bool:
        done: set[str] = set()
        for x in body:
            if isinstance(x, Store) and x.op is None:
                done.add(self.accesses.root(x.object))
            elif isinstance(x, Assign) and x.op is operator.getitem and self.accesses.root(str(x.args[0])) in done:
                return True
        return False

    @staticmethod
    def _part(makes: list[Assign], store: Store) -> Block:
        """One store, with what it needs."""
        needed, out = set(reads(store)), [store]  # type: ignore[var-annotated]
        for x in reversed(makes):
            if x.target in needed:
                needed |= set(x.atoms)
                out.insert(0, x)  # type: ignore[arg-type]
        return tuple(out)

    def _is_cheap(self, part: Block) -> bool:
        makes = [x for x in part if isinstance(x, Assign)]
        of_numbers = [x for x in makes if getattr(self.types.of(x.target), "dtype", "") != "int64"]
        work = sum(x.op not in (ops.make_tuple, operator.getitem, ops.identity) for x in of_numbers)
        return work <= MOST and all(x.op in CHEAP for x in makes)

    def _loops(self, loops: list[For], part: Block) -> list[Statement]:
        """The loops around a part, with names of their own."""
        table: dict[str, Atom] = {}

        def own(name: str, t: Type | None = None) -> str:
            new = self.fresh(name)
            self.types.of_name[new] = t or self.types.of(name)
            table[name] = new
            return new

        out: list[Statement] = []
        store = part[-1]
        assert isinstance(store, Store)
        inner: list[Statement] = []
        targets = [own(loop.target) for loop in loops]
        for x in part[:-1]:
            assert isinstance(x, Assign)
            x = substitute(x, table)  # type: ignore[assignment]
            inner.append(replace(x, target=own(x.target)))  # type: ignore[arg-type]
        store = substitute(store, table)  # type: ignore[assignment]
        assert isinstance(store, Store)
        if store.op is operator.sub:
            minus = self.fresh("%minus")
            self.types.of_name[minus] = self.types.of(store.value)
            inner.append(Assign(minus, operator.neg, (store.value,), (), store.span))
            store = replace(store, op=operator.add, value=minus)
        inner.append(store)
        for k in reversed(range(len(loops))):
            over = self.fresh("%range")
            self.types.of_name[over] = Known(Const(range(0)))
            head = Assign(over, range, trips(loops[k], self.accesses.definitions), (), loops[k].span)
            out = [head, replace(loops[k], target=targets[k], iterable=over, body=tuple(inner))]
            inner = out
        for x in _every(out):
            self.accesses.definitions[x.target] = x  # type: ignore[index]
        return out


def _every(block: list[Statement]) -> list[Assign]:
    found: list[Assign] = []
    for x in block:
        if isinstance(x, Assign):
            found.append(x)
        elif isinstance(x, For):
            found += _every(list(x.body))
    return found
