"""Sums of outer products over the trips of a loop are one product behind it.

W_bar = np.zeros_like(W)                      z_bars = np.zeros((len(xs), W.shape[0]))
for t in reversed(range(len(xs))):            for t in reversed(range(len(xs))):
    ...                                           ...
    W_bar += np.outer(z_bar, xs[t])    ->         z_bars[t] = z_bar
    b_bar += z_bar                            W_bar = z_bars.T @ xs
                                              b_bar = np.sum(z_bars, axis=0)

The factors are rows of arrays, in which each trip sets the row of its own counter.
"""

from __future__ import annotations

import builtins
import operator
from collections import Counter
from dataclasses import replace

import numpy as np

from tangentc.analysis.program import Program
from tangentc.core import ops
from tangentc.core.build import Builder, is_sure
from tangentc.core.naming import shown
from tangentc.core.nodes import NOWHERE, Assign, Atom, Block, Const, For, Function, Leave, Statement, Store
from tangentc.core.types import Array, Scalar
from tangentc.core.walk import (
    all_defines,
    all_reads,
    definitions,
    joins_of,
    reads,
    rebuilt,
    statements,
    substitute_block,
    with_blocks,
    with_body,
)

SUMS = operator.add, operator.sub


def products(program: Program) -> Function:
    """The function in which a loop keeps the factors of such sums, not the sums."""
    function = program.function
    if not any(isinstance(s, Assign) and s.op is np.outer for s in statements(function.body)):
        return function
    return with_body(function, _Products(program).block(function.body))


class _Products:
    def __init__(self, program: Program):
        self.program, self.of = program, program.types.of
        self.b = Builder(program.types, [*program.types.of_name])
        self.made: dict[Atom, Assign] = {
            n: s for n, s in definitions(program.function.body).items() if isinstance(s, Assign)
        }
        self.uses: Counter[Atom] = Counter(a for s in statements(program.function.body) for a in reads(s))

    def block(self, block: Block) -> Block:
        out: list[Statement] = []
        for s in block:
            s = with_blocks(s, self.block)
            if isinstance(s, For) and (count := self.count(s)) is not None:
                found = _Loop(self, s, count, out)
                before, s, after = found.written()
                out = [*(x for x in out if x not in found.gone), *before, s, *after]
            else:
                out.append(s)
        return rebuilt(block, out)

    def count(self, loop: For) -> Atom | None:
        """How many trips a loop has whose counter runs from zero on, or down to it, and that nothing leaves."""
        counts = self.made.get(loop.iterable)
        if counts is not None and counts.op is builtins.reversed:
            counts = self.made.get(counts.args[0])
        if counts is None or counts.op is not builtins.range or len(counts.args) != 1:
            return None
        return None if any(isinstance(s, Leave) for s in statements(loop.body)) else counts.args[0]


class _Loop:
    """One loop, of which ``trips`` are the trips; ``gone`` are the zeros that sums no longer begin with."""

    def __init__(self, parent: _Products, loop: For, count: Atom, before: list[Statement]):
        self.parent, self.loop, self.trips, self.b = parent, loop, count, parent.b
        self.inside = all_defines((loop,))
        self.zeros = {
            s.target: s for s in before if isinstance(s, Assign) and s.op is np.zeros_like
            and not any(s.target in all_reads((x,)) for x in before)
        }  # fmt: skip
        self.read: Counter[Atom] = Counter(a for s in statements((loop,)) for a in reads(s))
        self.read.update(a for _, *arms in joins_of(loop) for a in arms)
        self.sums = [s for s in loop.body if isinstance(s, Store) and self.is_sum(s)]
        self.gone: list[Statement] = []
        self.rows: dict[Atom, Atom] = {}  # of what, the array of its rows
        self.made: list[Statement] = []  # before the loop
        self.set: dict[int, list[Statement]] = {}  # in it, before the statement with this id

    def is_sum(self, s: Store) -> bool:
        """Whether zeros that nobody knows of yet are added to here, and nowhere else in the loop."""
        return s.key is None and s.op in SUMS and s.object in self.zeros and self.read[s.object] == 1

    def written(self) -> tuple[list[Statement], For, list[Statement]]:
        """What stands before the loop, the loop, and what stands behind it."""
        outer = {id(s): made for s in self.sums if (made := self.product(s)) is not None}
        factors = {x for made in outer.values() for x in made.args}
        plain = {id(s) for s in self.sums if s.value in factors and self.is_as_large(s)}
        if sum(self.given(x) is None for x in factors) > len(outer) + len(plain) or not outer:
            return [], self.loop, []  # more would be kept than is summed
        after = [x for s in self.sums if id(s) in outer for x in self.total(s, outer[id(s)])]
        after += [x for s in self.sums if id(s) in plain for x in self.total(s, None)]
        unread = {made.target for made in outer.values()}
        body: list[Statement] = []
        for x in self.loop.body:
            body += self.set.get(id(x), [])
            if id(x) not in outer.keys() | plain and not (isinstance(x, Assign) and x.target in unread):
                body.append(x)
        loop, counter = replace(self.loop, body=tuple(body)), self.loop.target
        if self.set and not shown(counter).strip("_"):  # a counter that nobody read has a name now
            named = self.b.fresh("%trip")
            self.b.types.of_name[named] = self.parent.of(counter)
            loop = replace(loop, target=named, body=substitute_block(loop.body, {counter: named}))
        return self.made, loop, after

    def product(self, s: Store) -> Assign | None:
        """How the value that is added is an outer product of two vectors, and of nothing else's."""
        made = self.parent.made.get(s.value)
        if made is None or made.op is not np.outer or made not in self.loop.body or self.parent.uses[s.value] != 1:
            return None
        ts = [self.parent.of(a) for a in (s.object, *made.args)]
        if not all(isinstance(t, Array) and not t.or_number and t.dtype == ts[0].dtype for t in ts):  # type: ignore
            return None
        ranks = [len(t.shape) for t in ts]  # type: ignore[union-attr]
        return made if ranks == [2, 1, 1] and all(a in self.inside for a in made.args) else None

    def is_as_large(self, s: Store) -> bool:
        one, other = self.parent.of(s.object), self.parent.of(s.value)
        return one == other and isinstance(one, Array) and is_sure(one.shape) and not one.or_number

    # ---------------------------------------------------------- rows
    def rows_of(self, x: Atom, s: Store, axis: int) -> Atom:
        """The array that has a row for each trip with the value of ``x`` there."""
        if x not in self.rows:
            self.rows[x] = self.given(x) or self.kept(x, s, axis)
        return self.rows[x]

    def given(self, x: Atom) -> Atom | None:
        """``xs`` for ``x = xs[t]``, if it has as many rows as the loop has trips."""
        made = self.parent.made.get(x)
        if made is None or made.op is not operator.getitem or made.args[1] != self.loop.target:
            return None
        whole = made.args[0]
        t, count = self.parent.of(whole), self.parent.of(self.trips)
        same = isinstance(t, Array) and isinstance(count, Scalar) and count.value == t.shape[0] and is_sure(t.shape[:1])
        if not same or whole in self.inside or self.parent.program.aliases.is_changed(str(whole)):
            return None
        return whole

    def kept(self, x: Atom, s: Store, axis: int) -> Atom:
        """A new array in which each trip sets its row."""
        t = self.parent.of(x)
        assert isinstance(t, Array)
        with self.b.reopen(self.made):
            self.b.span = NOWHERE.within("adjoint")
            length = self.b.emit(
                operator.getitem, (self.b.emit(np.shape, (self.parent.made[s.object].args[0],)), Const(axis))
            )
            trips = self.trips if self.is_count() else self.b.emit(builtins.max, (self.trips, Const(0)))
            shape = self.b.emit(ops.make_tuple, (trips, length))
            keywords = () if t.dtype == "float64" else (("dtype", Const(np.dtype(t.dtype).type)),)
            rows = str(self.b.emit(np.empty, (shape,), keywords, name=f"%{shown(x)}s"))
        place = next(k for k, y in enumerate(self.loop.body) if y == self.parent.made[s.value])
        put = Store(str(rows), self.loop.target, x, None, s.span, True)
        self.set.setdefault(id(self.loop.body[place]), []).append(put)
        return rows

    def is_count(self) -> bool:
        """Whether the number of trips is not below zero."""
        t = self.parent.of(self.trips)
        return isinstance(t, Scalar) and t.value is not None

    def total(self, s: Store, made: Assign | None) -> list[Statement]:
        """The sum behind the loop, in place of the zeros: a product, or one of rows."""
        self.gone.append(self.zeros[s.object])
        left, *right = (self.rows_of(x, s, k) for k, x in enumerate(made.args if made is not None else (s.value,)))
        with self.b.reopen(new := list[Statement]()):
            self.b.span = s.span
            if right:
                value = self.b.emit(operator.matmul, (self.b.emit(np.transpose, (left,)), *right))
            else:
                value = self.b.emit(np.sum, (left,), (("axis", Const(0)),))
        op = ops.identity if s.op is operator.add else operator.neg
        return [*new, Assign(s.object, op, (value,), (), s.span)]
