"""What is computed once: equal values of one trip, and what no trip of a loop changes.

for i in range(n):                              for i in range(n):
    for j in range(m):                              w_i = w[i]
        t[i, j] = w[i] * exp(-a[i, j])      ->      for j in range(m):
        s[j] += w[i] * exp(-a[i, j])                    product = w_i * exp(-a[i, j])
                                                        t[i, j] = product
                                                        s[j] += product
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import NamedTuple

from tangentc.core import ops
from tangentc.core.build import Types
from tangentc.core.nodes import Assign, Atom, Block, Const, For, If, Op, Statement, While, is_temporary, version_base
from tangentc.core.walk import all_defines, definitions, substitute, substitute_block, with_blocks
from tangentc.kernels.accesses import Accesses, touches
from tangentc.kernels.language import is_number

OF_INDEX: set[Op] = {operator.add, operator.sub, operator.lt, ops.select, operator.getitem, ops.make_tuple}


def once(block: Block, types: Types, fresh: Callable[[str], str], root: Callable[[str], str], kept: set) -> Block:
    """The block without what is computed twice; ``kept`` are the names that leave it."""
    work = _Once(block, types, fresh, root, kept)
    return work.numbered(work.moved(block, ()), {})


class Value(NamedTuple):
    """What has been computed: its name, the memory that it was read from, and how many operations it took."""

    name: str
    memory: frozenset[str]
    work: int


class _Once:
    def __init__(self, block: Block, types: Types, fresh: Callable[[str], str], root: Callable[[str], str], kept: set):
        self.types, self.fresh, self.kept = types, fresh, kept
        self.accesses = Accesses(types, definitions(block), root)
        self.same: dict[str, Atom] = {}  # names of what has been computed before
        self.of: dict[Atom, Value] = {}

    def written(self, s: Statement) -> frozenset[str] | None:
        """The memory that a statement writes; None where it may be any."""
        touched = touches(self.accesses, s)
        return None if touched is None else touched[1]

    # ---------------------------------------------------------- what no trip changes
    def moved(self, block: Block, around: tuple[str, ...]) -> Block:
        """The block with entries that an inner loop reads in each trip read before it; ``around`` are the variables of
        the loops around the block."""
        out: list[Statement] = []
        for s in block:
            if isinstance(s, For):
                s = replace(s, body=self.moved(s.body, (*around, s.target)))
                before, s = self._before(s, around)
                out += before
            elif isinstance(s, (If, While)):
                s = with_blocks(s, lambda b: self.moved(b, around))
            out.append(s)
        return tuple(out)

    def _before(self, s: For, around: tuple[str, ...]) -> tuple[list[Statement], For]:
        written = self.written(s)
        inside = all_defines((s,))
        before: list[Assign] = []
        names: dict[str, str] = {}
        rest: list[Statement] = []
        read: dict[Hashable, str] = {}  # entries that are read before it, with their names
        for x in s.body:
            if not isinstance(x, Assign) or x.op not in OF_INDEX or not inside.isdisjoint(x.atoms) or written is None:
                rest.append(x)
            elif not self._is_index(x) and not self._is_read(x, around, written):
                rest.append(x)
            else:
                inside -= {x.target}
                new = substitute(x, names)
                assert isinstance(new, Assign)
                if x.op is operator.getitem and is_temporary(x.target):
                    entry = (x.args[0], *self._at(x.args[1]))
                    if entry in read:
                        names[x.target] = read[entry]
                        continue
                    names[x.target] = read[entry] = self.fresh(
                        f"{version_base(str(x.args[0]))}_{around[-1].lstrip('%')}"
                    )
                    self.types.of_name[names[x.target]] = self.types.of(x.target)
                    new = replace(new, target=names[x.target])
                before.append(new)
        needed: set[Atom] = set()
        kept: list[Statement] = []
        for x in reversed(before):
            if x.target in needed or not self._is_beside(x):
                needed |= set(x.atoms)
                kept.insert(0, x)
        stays = [x for x in before if not any(x is k for k in kept)]
        return kept, replace(s, body=substitute_block((*stays, *rest), names))

    @staticmethod
    def _is_beside(s: Assign) -> bool:
        """Whether this is a place beside that of a trip, which is said where it is used."""
        return s.op in (operator.add, operator.sub) and any(isinstance(a, Const) for a in s.args)

    def _is_index(self, s: Assign) -> bool:
        return s.op is not operator.getitem and (
            s.op is ops.make_tuple or getattr(self.types.of(s.target), "dtype", "") in ("int64", "bool")
        )

    def _is_read(self, s: Assign, around: tuple[str, ...], written: frozenset[str]) -> bool:
        """Whether this reads an entry that is named by loops around alone, so that it is there, and that stays."""
        if s.op is not operator.getitem or not around or not is_number(self.types.of(s.target)):
            return False
        at = self.accesses.subscripts(s.args[1])
        named = all(f is not None and len(f) == 1 and not f.keys().isdisjoint(around) for f in at)
        return named and self.accesses.root(str(s.args[0])) not in written

    # ---------------------------------------------------------- equal values
    def numbered(self, block: Block, known: dict[Hashable, Value]) -> Block:
        """The block with equal values under one name; ``known`` is what has been computed before it."""
        out: list[Statement] = []
        for s in block:
            s = substitute(s, self.same)
            if isinstance(s, Assign):
                if self._is_known(s, known):
                    continue
            else:
                written = self.written(s)
                gone = [k for k, v in known.items() if written is None or v.memory & written]
                for k in gone:
                    del known[k]
                s = with_blocks(s, lambda b: self.numbered(b, dict(known)))
                s = substitute(s, self.same)
            out.append(s)
        return tuple(out)

    def _is_known(self, s: Assign, known: dict[Hashable, Value]) -> bool:
        """Whether a value has been computed before; it is noted if not."""
        is_read = s.op is operator.getitem
        if not is_number(self.types.of(s.target)) or s.keywords or not (ops.is_pure(s.op) or is_read):
            return False
        values = [self.of.get(a) for a in s.atoms]
        at = tuple(self._at(s.args[1])) if is_read else ()
        key = (s.op, s.args[0], at) if is_read else (s.op, *(v.name if v else a for v, a in zip(values, s.atoms)))
        memory = frozenset({self.accesses.root(str(s.args[0]))}) if is_read else frozenset[str]()
        if key in known:
            found = known[key]
            self.of[s.target] = found
            if found.work < 2 or s.target in self.kept:
                return False
            self.same[s.target] = found.name
            return True
        memory = memory.union(*(v.memory for v in values if v))
        work = (0 if is_read else 1) + sum(v.work for v in values if v)
        self.of[s.target] = known[key] = Value(s.target, memory, work)
        return False

    def _at(self, key: Atom) -> list[Hashable]:
        return [
            frozenset(f.items()) if f is not None else k for f, k in zip(self.accesses.subscripts(key), self._keys(key))
        ]

    def _keys(self, key: Atom) -> tuple[Atom, ...]:
        made = self.accesses.definitions.get(str(key))
        return made.args if isinstance(made, Assign) and made.op is ops.make_tuple else (key,)
