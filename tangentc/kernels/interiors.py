"""Loops with guards, as one over the entries inside, where none is asked, and one over the edges.

                                               inside = max(n - 2, 0)
    for i in range(n):                         for edge in range(n - inside):
        total = 0.0                                i = edge if edge < 1 else edge + inside
        if i >= 1:                                 ...
            total += a[i - 1]          ->      for k in range(inside):
        if i < n - 1:                              i = k + 1
            total += a[i + 1]                      total = 0.0 + a[i - 1]
        s[i] = total                               s[i] = total + a[i + 1]

The edges are as wide as numbers say, so that the loop inside has nearly all the trips, and becomes SIMD code.  What a
row decides is asked by a loop of its own, for rows at an edge.
"""

from __future__ import annotations

import builtins
import operator
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tangentc.analysis.linear import ONE, Form, plus
from tangentc.core import ops
from tangentc.core.build import Types
from tangentc.core.nodes import Assign, Atom, Block, Carry, Const, Effect, For, If, Leave, Merge, Op, Statement, While
from tangentc.core.nodes import version_base as base
from tangentc.core.types import Known, Scalar, Type
from tangentc.core.walk import all_defines, definitions, reads, statements, substitute, with_blocks
from tangentc.kernels.accesses import Accesses
from tangentc.kernels.guards import Guards

INTEGER = Scalar("int64", True)
LEAST = 2  # branches that the loop inside does without: one alone costs about what it takes to have two loops


def with_interiors(block: Block, types: Types, fresh: Callable[[str], str], root: Callable[[str], str]) -> Block:
    """The block with the guards of its innermost loops asked at the edges alone."""
    return _Interiors(block, types, fresh, root).block(block)


@dataclass
class Inside:
    """Where all guards hold: so many trips from the first one, and from the last one on, and where these names are
    true; ``passed`` are the branches that are taken there, ``asked`` by what those are decided that a row decides."""

    low: int = 0
    high: int = 0
    rows: dict[Atom, None] = field(default_factory=dict)
    passed: list[If] = field(default_factory=list)
    asked: dict[int, Atom | None] = field(default_factory=dict)


class _Interiors:
    def __init__(self, block: Block, types: Types, fresh: Callable[[str], str], root: Callable[[str], str]):
        self.types, self.fresh = types, fresh
        self.accesses = Accesses(types, definitions(block), root)
        self.guards = Guards(self.accesses)
        self.out: list[Statement] = []

    def block(self, block: Block) -> Block:
        out: list[Statement] = []
        for s in block:
            s = with_blocks(s, self.block) if isinstance(s, (For, If, While)) else s
            self.out = out
            if not isinstance(s, For) or not self._split(s):
                out.append(s)
        return tuple(out)

    def _split(self, s: For) -> bool:
        """Write a loop as two, if that is worth it."""
        made = self.accesses.definitions.get(str(s.iterable))
        if not isinstance(made, Assign) or made.op is not builtins.range or len(made.args) != 2:
            return False
        if not self._adds_up(s):
            return False
        if any(isinstance(x, (For, While, Leave, Effect)) for x in statements(s.body)):
            return False
        found = self.accesses.of(s.body)
        if found is None or not self.accesses.are_apart(found, found, s.target, all_defines(s.body), True):
            return False
        first, end = (self.accesses.forms.form(a) for a in made.args)
        if first is None or end is None:
            return False
        inside = Inside()
        for x in s.body:
            if isinstance(x, If):
                self._pass(x, s, first, end, inside)
        self.span = s.span
        if s.carried and inside.rows:
            return False
        if len(inside.passed) < LEAST:
            if s.carried or not self._counts_back(s, made.args[0]):
                return False
            return self._write_inside(s, made, self._plus(made.args[1], -made.args[0].value), Inside(), self.out)
        self._write(s, made, inside)
        return True

    @staticmethod
    def _adds_up(s: For) -> bool:
        """Whether what a loop carries are sums of an adjoint, which may be added up in any order."""
        made = definitions(s.body)
        read = Counter(a for x in statements(s.body) for a in reads(x))
        for c in s.carried:
            at: Atom = c.next
            while at != c.name:
                x = made.get(str(at))
                if isinstance(x, If):
                    at, other = next((m.then, m.orelse) for m in x.merged if m.name == at)
                    if other != c.name:
                        return False
                elif isinstance(x, Assign) and x.op in (operator.add, operator.sub) and x.span.sweep == "adjoint":
                    at = x.args[0]
                else:
                    return False
            if read[c.name] > 1 + any(c.name in reads(x) for x in s.body if isinstance(x, If)):
                return False
        return True

    def _counts_back(self, s: For, start: Atom) -> bool:
        """Whether a loop that starts at two or more names an entry so far before that of its trip: LLVM does not see
        then that the subscript is not negative, and the loop does not become SIMD code."""
        if not isinstance(start, Const) or start.value < 2:
            return False
        forms = [self.accesses.forms.form(x.target) for x in s.body if isinstance(x, Assign)]
        return any(f is not None and f.get(s.target) == 1 and f.get(ONE, 0) < -1 for f in forms)

    # ---------------------------------------------------------- where guards hold
    def _pass(self, x: If, s: For, first: Form, end: Form, inside: Inside) -> None:
        """Note where a branch is taken, if that is nearly everywhere in a row."""
        low, high, rows = inside.low, inside.high, dict(inside.rows)
        changing = all_defines((s,))
        for test in self.guards.tests(x.test):
            if test not in changing:
                rows[test] = None
                continue
            found = self.guards.bound(test, s.target, changing)
            if found is None:
                return
            is_low, place = found
            width = plus(place, first, -1) if is_low else plus(end, place, -1)
            if width.keys() - {ONE}:
                return
            if is_low:
                low = max(low, width.get(ONE, 0))
            else:
                high = max(high, width.get(ONE, 0))
        inside.low, inside.high, inside.rows = low, high, rows
        inside.passed.append(x)

    # ---------------------------------------------------------- the two loops
    def _write(self, s: For, made: Assign, inside: Inside) -> None:
        start, end = made.args
        count = end if start == Const(0) else self._number(operator.sub, end, start)
        names: dict[str, Atom] = {c.name: c.init for c in s.carried}
        room, outer = count, self.out
        if inside.low or inside.high:
            trips = self._plus(count, -inside.low - inside.high)
            room = self._emit(builtins.max, (trips, Const(0)), "inside", INTEGER)
            names = {c.name: self._new(c.name, self.types.of(c.name)) for c in s.carried}
            self._write_edges(s, start, count, room, inside, names)
        whole = self._all(self.guards.tightest(list(inside.rows)))
        if whole is None:
            self._write_inside(s, made, room, inside, outer, names)
            return
        then: list[Statement] = []
        self._write_inside(s, made, room, inside, then)
        orelse = self.out = []
        known: dict[tuple, Atom | None] = {}
        changing = all_defines((s,))
        for x in inside.passed:
            rows = tuple(self._of_row(x.test, changing))
            if rows not in known:
                known[rows] = self._all(rows)
            inside.asked[id(x)] = known[rows]
        self._write_inside(s, made, room, inside, orelse)
        outer.append(If(whole, tuple(then), tuple(orelse), (), s.span))
        self.out = outer

    def _write_edges(
        self, s: For, start: Atom, count: Atom, room: Atom, inside: Inside, names: Mapping[str, Atom]
    ) -> None:  # fmt: skip
        """The loop over the entries at both ends; ``names`` are those of what it adds up."""
        outer, self.out = self.out, []
        edge = self._new("edge", INTEGER)
        place: Atom = edge
        if inside.high:
            place = self._number(operator.add, edge, room)
            if inside.low:
                before = self._emit(operator.lt, (edge, Const(inside.low)), "%test", Scalar("bool"))
                place = self._emit(ops.select, (before, edge, place), base(s.target), INTEGER)
        at = place if start == Const(0) else self._emit(operator.add, (place, start), base(s.target), INTEGER)
        table: dict[str, Atom] = {s.target: at, **names}
        body = self._copied(s.body, table, {}, False)
        carried = tuple(Carry(str(names[c.name]), c.init, table[str(c.next)]) for c in s.carried)
        self._loop(outer, edge, self._number_in(outer, operator.sub, count, room), body, carried)
        self.out = outer

    def _of_row(self, test: Atom, changing: set[str]) -> list[Atom]:
        """What a row decides of a test."""
        if test not in changing:
            return [test]
        made = self.accesses.definitions.get(str(test))
        is_both = isinstance(made, Assign) and made.op is operator.and_
        return [t for a in made.args for t in self._of_row(a, changing)] if is_both else []  # type: ignore[union-attr]

    def _all(self, tests: Sequence[Atom]) -> Atom | None:
        """A test that is true where all of some are; None if there are none."""
        whole = None
        for test in tests:
            whole = test if whole is None else self._emit(operator.and_, (whole, test), "%within", Scalar("bool"))
        return whole

    def _write_inside(
        self, s: For, made: Assign, count: Atom, inside: Inside, outer: list[Statement], sums: Mapping[str, Atom] = {}
    ) -> bool:  # fmt: skip
        """The loop over so many entries from where all guards hold, but for those that are asked of a row; ``sums`` are
        what it begins with to add up."""
        start = made.args[0]
        self.out = []
        k = self._new(base(s.target), INTEGER)
        place = self._plus(k, inside.low)
        at = place if start == Const(0) else self._emit(operator.add, (place, start), "%index", INTEGER)
        shift = inside.low + start.value if isinstance(start, Const) else None
        self.shifted = (s.target, k, shift)
        self.places: dict[object, Atom] = {(operator.add, (k, Const(inside.low))): place}
        asked = {id(x): inside.asked.get(id(x)) for x in inside.passed}
        table: dict[str, Atom] = {s.target: at}
        body = self._copied(s.body, table, asked, True)
        carried = tuple(Carry(c.name, sums[c.name], table.get(str(c.next), c.next)) for c in s.carried)
        self._loop(outer, k, count, body, carried)
        self.out = outer
        return True

    def _loop(self, outer: list[Statement], i: str, count: Atom, body: Block, carried: tuple[Carry, ...]) -> None:
        """A loop of so many trips, of what has been written and a body."""
        over = self._new("%range", Known(Const(range(0))))
        outer.append(Assign(over, builtins.range, (Const(0), count), (), self.span))
        outer.append(For(i, over, (*self.out, *body), carried, self.span))
        self.out = []

    def _copied(self, block: Block, table: dict[str, Atom], asked: Mapping[int, Atom | None], inside: bool) -> Block:
        """A block with names of its own; ``asked`` says what decides some branches, None where they are taken."""
        out: list[Statement] = []

        def own(name: str) -> str:
            table[name] = new = self._new(name, self.types.of(name))
            return new

        for x in block:
            new = substitute(x, table)
            if isinstance(x, Assign) and isinstance(new, Assign):
                new = self._index(x, new) if inside else new
                if inside and (new.op, new.args) in self.places:
                    table[x.target] = self.places[new.op, new.args]
                elif new.op is operator.add and new.args[0] == Const(0.0) and x.span.sweep == "adjoint":
                    table[x.target] = new.args[1]
                else:
                    out.append(replace(new, target=own(x.target)))
                    if inside and new.op in (operator.add, operator.sub) and new.args[0] == self.shifted[1]:
                        self.places[new.op, new.args] = table[x.target]
            elif isinstance(x, If) and isinstance(new, If):
                test = asked.get(id(x), new.test)
                if test is None:
                    out += self._copied(x.then, table, asked, inside)
                    table.update((m.name, table.get(m.then, m.then)) for m in x.merged)  # type: ignore[arg-type]
                    continue
                then, orelse = (self._copied(b, table, {}, inside) for b in (x.then, x.orelse))
                of = [(table.get(m.then, m.then), table.get(m.orelse, m.orelse)) for m in x.merged]  # type: ignore
                merged = tuple(Merge(own(m.name), a, b) for m, (a, b) in zip(x.merged, of, strict=True))
                out.append(replace(new, test=test, then=then, orelse=orelse, merged=merged))
            else:
                out.append(new)
        return tuple(out)

    def _index(self, x: Assign, new: Assign) -> Assign:
        """A place beside that of a trip inside, by how much it lies from the trip's number."""
        i, k, shift = self.shifted
        form = self.accesses.forms.form(x.target)
        if shift is None or form is None or form.keys() - {i, ONE} or form.get(i) != 1:
            return new
        ahead = form.get(ONE, 0) + shift
        if not ahead:
            return replace(new, op=ops.identity, args=(k,))
        return replace(new, op=operator.add if ahead > 0 else operator.sub, args=(k, Const(abs(ahead))))

    # ---------------------------------------------------------- words
    def _new(self, name: str, t: Type) -> str:
        new = self.fresh(name)
        self.types.of_name[new] = t
        return new

    def _emit(self, op: Op, args: tuple[Atom, ...], name: str, t: Type) -> str:
        new = self._new(name, t)
        self.out.append(Assign(new, op, args, (), self.span))
        return new

    def _number(self, op: Op, *args: Atom) -> str:
        return self._emit(op, args, "%number", INTEGER)

    def _number_in(self, out: list[Statement], op: Op, *args: Atom) -> str:
        here, self.out = self.out, out
        name = self._number(op, *args)
        self.out = here
        return name

    def _plus(self, a: Atom, more: int) -> Atom:
        if isinstance(a, Const):
            return Const(a.value + more)
        op = operator.add if more > 0 else operator.sub
        return self._emit(op, (a, Const(abs(more))), "%index", INTEGER) if more else a
