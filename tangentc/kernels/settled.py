"""Arrays that a trip makes, and that nobody writes into once they are saved: what is saved of them is what they are.

v = A[:, k].copy()
v[0] = v[0] + 1
saved.append(v)                     v has to be made, filled and saved in one block, and kept nowhere else
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from tangentc.analysis.aliases import Aliases
from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Block, Effect, Opaque, Statement
from tangentc.core.walk import all_changed_by, blocks, definitions, joins_of, statements


def settled(region: Block, aliases: Aliases) -> set[Atom]:
    """The arrays that a region saves, each once, and leaves as they are from then on."""
    work = _Settled(region, aliases)
    return {a for block in _blocks(region) for a in work.of(block)}


def saved_copies(region: Block, aliases: Aliases) -> dict[str, tuple[str, int, int]]:
    """The copies that a trip makes, saves, and leaves as they are, with the list, and which of how many they are."""
    work = _Settled(region, aliases)
    return {name: at for block in _blocks(region) for name, at in work.copies(block)}


def unchanged_behind(body: Block, aliases: Aliases) -> set[str]:
    """The names of arrays in another shape whose memory nobody changes behind them, so that a copy is as good."""
    last: dict[str, int] = {}
    for k, s in enumerate(body):
        for x in statements((s,)):
            last.update((aliases.root(name), k) for name in all_changed_by(x))
            if isinstance(x, Opaque):
                return set()
    known = [(k, s.target) for k, s in enumerate(body) if isinstance(s, Assign) and s.op is np.reshape]
    return {n for k, n in known if last.get(aliases.root(n), -1) < k and not aliases.points.is_changed(n)}


def _blocks(block: Block) -> Iterator[Block]:
    yield block
    for s in block:
        for inner in blocks(s):
            yield from _blocks(inner)


class _Settled:
    def __init__(self, region: Block, aliases: Aliases):
        self.aliases, self.made = aliases, definitions(region)
        self.every = [*statements(region)]
        pushes = [s for s in self.every if isinstance(s, Effect) and s.op is ops.push]
        self.saved = Counter(a for s in pushes for a in self._leaves(s.args[1]))
        self.tuples = {s.args[1] for s in pushes}

    def of(self, block: Block) -> Iterator[Atom]:
        """The arrays that a block makes and saves."""
        for k, s in enumerate(block):
            if isinstance(s, Effect) and s.op is ops.push:
                before = block[:k]
                yield from (a for a in self._leaves(s.args[1]) if self._stays(a, before))

    def copies(self, block: Block) -> Iterator[tuple[str, tuple[str, int, int]]]:
        """The copies that a block makes and saves."""
        for k, s in enumerate(block):
            if isinstance(s, Effect) and s.op is ops.push:
                leaves = self._leaves(s.args[1])
                for n, a in enumerate(leaves):
                    made = self.made.get(a) if isinstance(a, str) else None
                    if isinstance(made, Assign) and made.op is np.copy and self._stays(a, block[:k]):
                        yield made.target, (str(s.args[0]), n, len(leaves))

    def _leaves(self, atom: Atom) -> list[Atom]:
        made = self.made.get(atom) if isinstance(atom, str) else None
        if isinstance(made, Assign) and made.op is ops.make_tuple:
            return [leaf for a in made.args for leaf in self._leaves(a)]
        return [atom]

    def _stays(self, atom: Atom, before: Block) -> bool:
        """Whether an array is made in a part of a block, and changed there alone."""
        made = self.made.get(atom) if isinstance(atom, str) else None
        first = next((k for k, s in enumerate(before) if s is made), None)
        if not isinstance(made, Assign) or first is None or not self.aliases.makes_memory(made):
            return False
        if self.saved[atom] != 1 or any(self._keeps(s, atom) for s in self.every):
            return False
        there = {id(s) for s in statements(before[first:])}
        changes = [s for s in self.every if atom in map(self._origin, all_changed_by(s))]
        return all(id(s) in there for s in changes)

    def _keeps(self, s: Statement, atom: Atom) -> bool:
        """Whether a statement gives an array another name, of which it is not known that it is one."""
        if any(self._origin(a) == atom for _, *arms in joins_of(s) for a in arms):
            return True
        if not isinstance(s, Assign) or s.target in self.aliases.views or s.target in self.tuples:
            return isinstance(s, Effect) and s.op is not ops.push and atom in map(self._origin, s.atoms[1:])
        return any(self._origin(a) == atom for a in self.aliases.shares(s))

    def _origin(self, atom: Atom) -> Atom:
        """The array that a name is a view of, or another name for."""
        views: Mapping[str, Assign] = self.aliases.views
        while isinstance(atom, str) and atom in views:
            atom = views[atom].args[0]
        return atom
