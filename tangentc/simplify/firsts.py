"""What is added to a part of new zeros that nothing was added to takes their place.

z_bar = np.zeros_like(z)               z_bar = np.zeros_like(z)
z_bar[:, :n] = a             ->        z_bar[:, :n] = a
z_bar[:, n:] += b                      z_bar[:, n:] = b

So is what each trip adds to an entry of its own.
"""

from __future__ import annotations

import builtins
import operator
from dataclasses import replace

import numpy as np

from tangentc.analysis.program import Program
from tangentc.analysis.regions import Loops, Region, Regions
from tangentc.core.nodes import Assign, Atom, Block, For, Function, Statement, Store
from tangentc.core.types import Array
from tangentc.core.walk import (
    all_reads,
    blocks,
    changed_by,
    definitions,
    reads,
    rebuilt,
    statements,
    with_blocks,
    with_body,
)
from tangentc.ops.table import known_of

MOST_PARTS = 12  # of one array


def firsts_of_trips(program: Program) -> Function:
    """The same for what each trip of a loop adds to an entry of its own."""
    return firsts(program, True)


def firsts(program: Program, trips: bool = False) -> Function:
    """The function in which the adjoint of a part is not added to zeros."""
    function = program.function
    every = statements(function.body)
    if not any(isinstance(s, Assign) and s.op is np.zeros_like and s.span.sweep == "adjoint" for s in every):
        return function
    return with_body(function, _Firsts(program, trips).block(function.body, ()))


class _Firsts:
    def __init__(self, program: Program, trips: bool):
        self.types, self.trips, self.loops = program.types, trips, dict[int, Loops]()
        self._find_loops(program.function.body, ())
        made = definitions(program.function.body)
        self.made: dict[Atom, Assign] = {n: s for n, s in made.items() if isinstance(s, Assign)}
        self.regions = Regions(program.types, definitions(program.function.body), self.loops)

    def _find_loops(self, block: Block, around: Loops) -> None:
        for s in block:
            self.loops[id(s)] = around
            for inner in blocks(s):
                self._find_loops(inner, (*around, id(s)) if not hasattr(s, "merged") else around)

    def block(self, block: Block, around: Loops) -> Block:
        zeros: dict[str, list[Region]] = {}  # with the parts that are zeros no longer
        out: list[Statement] = []
        for s in block:
            if isinstance(s, Store):
                s = self.store(s, zeros)
            elif blocks(s):
                s = self.entry_of_each_trip(s, zeros) if isinstance(s, For) and self.trips else s
                for name in all_reads((s,)) | {n for inner in statements((s,)) if (n := changed_by(inner))}:
                    self.forget(name, zeros)
                s = with_blocks(s, lambda inner: self.block(inner, around))
            elif isinstance(s, Assign) and s.op is np.zeros_like and isinstance(self.types.of(s.target), Array):
                zeros[s.target] = []
            elif not self.only_reads(s):
                for atom in reads(s):
                    self.forget(atom, zeros)
            out.append(s)
        return rebuilt(block, out)

    def entry_of_each_trip(self, loop: For, zeros: dict[str, list[Region]]) -> For:
        """A loop that sets the entry of its own counter, if nothing else in it has to do with the array."""
        counts = self.made.get(loop.iterable)
        if counts is not None and counts.op is builtins.reversed:
            counts = self.made.get(counts.args[0])
        if counts is None or counts.op is not builtins.range or len(counts.args) != 1:
            return loop
        body: list[Statement] = list(loop.body)
        for k, s in enumerate(loop.body):
            if isinstance(s, Store) and s.object in zeros and not zeros[s.object] and s.key == loop.target:
                rest = all_reads((*body[:k], *body[k + 1 :]))
                own = s.op is operator.add and s.adjoint_of and s.value != s.object
                if own and not any(s.object in (a, self.base(a)) for a in rest):
                    body[k] = replace(s, op=None)
        return replace(loop, body=tuple(body)) if body != list(loop.body) else loop

    def only_reads(self, s: Statement) -> bool:
        """Whether what a statement is given is neither changed by it nor held by what it makes, but for parts."""
        if not isinstance(s, Assign) or changed_by(s) is not None:
            return False
        known = known_of(s.op)
        return s.op is operator.getitem or known.elementwise or known.new

    def base(self, atom: Atom) -> str | None:
        region = self.regions.of(atom) if isinstance(atom, str) and isinstance(self.types.of(atom), Array) else None
        return None if region is None else region.base

    def forget(self, atom: Atom, zeros: dict[str, list[Region]]) -> None:
        zeros.pop(self.base(atom) or "", None)
        zeros.pop(str(atom), None)

    def store(self, s: Store, zeros: dict[str, list[Region]]) -> Store:
        self.forget(s.value, zeros)
        base = self.base(s.object)
        region = self.regions.at(s.object, s.key)
        before = zeros.get(base or "")
        if before is None or region is None:
            self.forget(s.object, zeros)
            return s
        own = self.loops[id(s)]
        first = all(self.regions.apart_in_one_trip(region, other, own) for other in before)
        before.append(region)
        if len(before) > MOST_PARTS:
            self.forget(s.object, zeros)
        if first and s.op is operator.add and s.key is not None and s.adjoint_of:
            return replace(s, op=None)
        return s
