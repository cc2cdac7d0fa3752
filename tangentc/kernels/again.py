"""Arrays of cheap values as what they are computed from, where they are read.

    for i in range(n):                          for i in range(n):
        t[i] = r[i] * d                ->           A[i] += r[i] * d
    for i in range(n):                          for i in range(n):
        A[i] += t[i]                                A[i + 2] += r[i] * d
    for i in range(n):
        A[i + 2] += t[i]

To compute such a value once more costs less than to keep it.  What it is computed from must not change meanwhile.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tangentc.core import ops
from tangentc.core.build import Types
from tangentc.core.nodes import Assign, Atom, Block, Const, For, Statement, While
from tangentc.core.walk import definitions, statements, substitute, transform
from tangentc.kernels.accesses import Accesses, touches
from tangentc.kernels.language import is_number
from tangentc.kernels.perfect import Perfect, offsets, perfect

CHEAP = {operator.add, operator.sub, operator.mul, operator.neg, operator.getitem, ops.make_tuple, ops.identity}
NO_WORK = {operator.getitem, ops.make_tuple, ops.identity}
LINEAR = {operator.add, operator.sub, operator.mul}
MOST = 3  # operations on numbers that are done once more


def again(block: Block, types: Types, fresh: Callable[[str], str], root: Callable[[str], str], kept: set) -> Block:
    """The block with cheap arrays computed where they are read."""
    return _Again(block, types, fresh, root, kept).block(block)


class _Again:
    def __init__(self, block: Block, types: Types, fresh: Callable[[str], str], root: Callable[[str], str], kept: set):
        self.types, self.fresh, self.root, self.kept = types, fresh, root, kept
        self.accesses = Accesses(types, definitions(block), root)
        made = {s.target for s in statements(block) if isinstance(s, Assign) and s.op is np.empty}
        self.reads = Counter(s.args[0] for s in statements(block) if isinstance(s, Assign) and s.op is operator.getitem)
        stores = Counter(s.object for s in statements(block) if hasattr(s, "object"))
        self.candidates = {n for n in made if stores[n] == 1} - kept

    def block(self, block: Block) -> Block:
        known: dict[str, Perfect] = {}
        out: list[Statement] = []
        for s in block:
            touched = touches(self.accesses, s)
            if usable := {n: p for n, p in known.items() if touched and not touched[1] & self._from(p)}:
                *before, new = self._with(s, usable)
                if self._cheap(s) is None or self._cheap(new) is not None or self._reads_alone(s, usable):
                    out += before
                    s = new
            known = {n: p for n, p in known.items() if touched is not None and not touched[1] & self._from(p)}
            if (p := self._cheap(s)) is not None:
                known[p.store.object] = p
            elif isinstance(s, (For, While)):
                s = replace(s, body=self.block(s.body))
            out.append(s)
        return tuple(out)

    def _cheap(self, s: Statement) -> Perfect | None:
        """The loops that make a cheap array, None for anything else."""
        p = perfect(s, self.accesses.definitions)
        if p is None or p.store.object not in self.candidates or p.store.op is not None or not self._is_cheap(p):
            return None
        return p

    def _reads_alone(self, s: Statement, usable: dict[str, Perfect]) -> bool:
        """Whether nothing else reads the arrays that a loop reads, so that they are none if it computes them: what it
        makes is no longer cheap then, but one array in the place of several."""
        read = [x.args[0] for x in statements((s,)) if isinstance(x, Assign) and x.op is operator.getitem]
        return all(read.count(n) == self.reads[n] for n in usable if n in read)

    def _from(self, p: Perfect) -> set[str]:
        return {m for s in p.body for m in (touches(self.accesses, s) or ((),))[0]}

    def _is_cheap(self, p: Perfect) -> bool:
        if offsets(p, self.accesses) != (0,) * len(p.loops) or any(s.op not in CHEAP for s in p.body):  # type: ignore
            return False
        work = sum(s.op not in NO_WORK and not self._is_index(s) for s in p.body)
        return work <= MOST or self.reads[p.store.object] == 1

    def _is_index(self, s: Assign) -> bool:
        return getattr(self.types.of(s.target), "dtype", "") == "int64"

    def _with(self, s: Statement, known: dict[str, Perfect]) -> Block:
        """A statement that reads none of the known arrays, behind what it reads in their place."""

        of = self.types.of

        def rewrite(x: Statement) -> Block:
            if isinstance(x, Assign) and x.op is operator.getitem and x.args[0] in known and is_number(of(x.target)):
                return self._computed(x, known[str(x.args[0])])
            return (x,)

        return transform((s,), rewrite)

    def _computed(self, x: Assign, p: Perfect) -> Block:
        key = self.accesses.definitions.get(x.args[1])  # type: ignore[arg-type]
        keys = key.args if isinstance(key, Assign) and key.op is ops.make_tuple else (x.args[1],)
        table: dict[str, Atom] = dict(zip(p.variables, keys, strict=True))
        out: list[Statement] = []
        for s in p.body:
            name = self.fresh(s.target)  # type: ignore[union-attr]
            self.types.of_name[name] = self.types.of_name[s.target]  # type: ignore[union-attr]
            made = substitute(s, table)
            assert isinstance(made, Assign)
            if self._is_index(s) and made.op in LINEAR and all(isinstance(a, Const) for a in made.args):
                table[s.target] = Const(made.op(*(a.value for a in made.args if isinstance(a, Const))))  # type: ignore
                continue
            new = replace(made, target=name)
            self.accesses.definitions[name] = new  # type: ignore[index]
            table[s.target] = name  # type: ignore[union-attr]
            out.append(new)
        value = p.store.value
        return (*out, Assign(x.target, ops.identity, (table.get(value, value),), (), x.span))  # type: ignore
