"""Reverse mode for branches and loops.

if test:            the same test; the branches' adjoints
for i in range(n):  the reversed range; adjoints of carried names cross its trips
while test:         as many trips as there were, counted or known from what was saved
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import Any

from tangentc import runtime
from tangentc.analysis.aliases import Aliases
from tangentc.core import ops
from tangentc.core.build import Builder
from tangentc.core.naming import shown
from tangentc.core.nodes import Assign, Atom, Block, Carry, Const, For, Function, If, Leave, Merge, Statement, While
from tangentc.core.types import (
    Array,
    Known,
    Scalar,
    Tuple,
    Unknown,
    components,
    is_container,
    is_differentiable,
    is_long,
    may_be_number,
    one_kind,
    present,
)
from tangentc.core.walk import (
    all_defines,
    all_reads,
    defines,
    joins_of,
    parts_given,
    reads,
    statements,
    substitute_block,
)
from tangentc.derive.adjoints import Adjoints, number_or_none
from tangentc.derive.calls import refuse_active_items
from tangentc.derive.checkpoints import Checkpoints
from tangentc.derive.link import Region
from tangentc.derive.mirror import Mirror
from tangentc.derive.parts import Adjoint, Parts, bar_name, get_part
from tangentc.errors import Span, UnsupportedSyntax
from tangentc.simplify.common import known_of_primal
from tangentc.simplify.dead import remove_dead


class Control:
    """The part of the reverse writer that knows branches and loops."""

    b: Builder
    adj: Adjoints
    aliases: Aliases
    memory: Aliases  # which counts all that changes
    active: set[str]
    definitions: dict[str, Statement]
    mirror: Mirror
    function: Function
    lists: list[str]
    lists_before: int  # how many there were before the outermost loop
    depth: int
    limit: tuple[str, int] | None  # of the states that an outermost loop keeps
    block: Callable[[Block], Block]

    def _prepare(self, s: Statement, in_loop: bool) -> list[str]:
        """Make the shadows that the adjoint of a compound statement adds to; gives the names of the
        outside values whose adjoints a loop carries."""
        outside = sorted(_inner_reads(s) - all_defines((s,)) - self._untouched(s))
        subscripted = {
            x.args[0]
            for x in statements((s,))
            if isinstance(x, Assign) and x.op is operator.getitem and x.target in self.active
        }
        carried = []
        for x in outside:
            if x not in self.active or x in self.adj.mirror:
                continue
            if self.aliases.is_changed(x):
                self.adj.ensure_shadow(x)
            elif (
                isinstance(t := present(self.b.type(x)), Array)
                and (not t.or_number or x in subscripted)
                or is_container(t)
            ):
                if in_loop or x in subscripted:
                    if is_container(t) and not in_loop and not self._dynamic_subscript(s, x):
                        continue
                    self.adj.ensure_shadow(x)
            else:
                carried.append(x)
        for x in sorted(all_reads((s,)) - all_defines((s,))):  # arrays that are stored into, under other names
            if x in self.active and x in self.b.types.of_name and self.aliases.is_changed(x):
                self.adj.ensure_shadow(x)
        return carried

    def _untouched(self, s: Statement) -> set[Atom]:
        """What a compound statement reads without adding to its adjoint: for values that do not move, and containers
        where it says what their parts are."""
        inner = [x for x in statements((s,)) if x is not s]
        idle = [x for x in inner if isinstance(x, Assign) and (x.target not in self.active or parts_given(x))]
        of_idle = {a for x in idle for a in (x.args[:1] if parts_given(x) else x.atoms)}
        if not of_idle:
            return set()
        others = {a for x in inner if x not in idle for a in reads(x)} | {a for x in idle for _, a in parts_given(x)}
        handed = {a for x in (s, *inner) for _, *arms in joins_of(x) for a in arms}
        return {a for a in of_idle - others - handed if isinstance(a, str) and not self.aliases.is_changed(a)}

    def _dynamic_subscript(self, s: Statement, x: str) -> bool:
        return any(
            isinstance(a, Assign) and a.op is operator.getitem and a.args[0] == x and not isinstance(a.args[1], Const)
            for a in statements((s,))
        )

    def branch(self, s: If) -> tuple[Statement, ...]:
        self._prepare(s, False)
        tag = self.b.fresh("statement" if s.tag.startswith("statement") else "expression")
        merged = [
            (m, self.adj.take(m.name))
            for m in s.merged
            if m.name in self.active and m.name not in self.adj.mirror and self.adj.has(m.name)
        ]
        before: list[Statement] = []
        s = replace(s, merged=(*s.merged, *self.mirror.merges(s, before)))
        base, shadows = self.adj.values, set(self.adj.shadows)
        blocks: list[list[Statement]] = []
        primal: list[Block] = []
        values: list[dict[str, Adjoint]] = []
        for block, pick in ((s.then, 0), (s.orelse, 1)):
            self.adj.values = _copied(base)
            with self.b.block() as out:
                for m, bar in merged:
                    self.adj.add((m.then, m.orelse)[pick], bar)
                primal.append(self.block(block))
                blocks.append(out)
            self.adj.leave_branch(shadows)
            values.append(self.adj.values)
        joined, merges = self._join_values(s.span, blocks, values)
        self.adj.values = joined
        if merges or any(blocks):
            merges = [Merge(m.name, self.b.current(m.then), self.b.current(m.orelse)) for m in merges]
            span = s.span.within("adjoint")
            self.b.out.append(If(s.test, tuple(blocks[0]), tuple(blocks[1]), tuple(merges), span, tag))
        return (*before, replace(s, then=primal[0], orelse=primal[1], tag=tag))

    def _join_values(
        self, span: Span, blocks: list[list[Statement]], values: list[dict[str, Adjoint]]
    ) -> tuple[dict[str, Adjoint], list[Merge]]:
        joined: dict[str, Adjoint] = {}
        merges: list[Merge] = []

        def merge(x: Atom, bars: list[Adjoint | None], name: str) -> Atom:
            atoms: list[Atom] = []
            for block, bar in zip(blocks, bars, strict=True):
                with self.b.reopen(block):
                    self.b.span = span.within("adjoint")
                    whole = None if bar is None else self.adj.full(self.adj.whole(bar, x), x)
                    atoms.append(self.adj.zero(x) if whole is None else self.b.rename(whole, bar_name(x)))
            new = self.b.fresh(name)
            self.b.types.of_name[new] = self.b.types.join(self.b.type(atoms[0]), self.b.type(atoms[1]))
            merges.append(Merge(new, *atoms))
            return new

        def part(bar: Adjoint | None, key: Hashable, block: list[Statement]) -> Adjoint | None:
            if bar is None or isinstance(bar, dict):
                return None if bar is None else bar.get(key)
            with self.b.reopen(block):
                return get_part(self.b, bar, key)

        def parts(x: Atom, bars: list[Adjoint | None]) -> Adjoint | None:
            if x in self.adj.partly or not any(isinstance(bar, dict) for bar in bars):  # it has parts where it is there
                return bars[0] if bars[0] == bars[1] else merge(x, bars, bar_name(x))
            if is_long(self.b.type(x)):
                return merge(x, bars, bar_name(x))
            out: Parts = {}
            keys = dict.fromkeys(k for bar in bars if isinstance(bar, dict) for k in bar)
            if any(bar is not None and not isinstance(bar, dict) for bar in bars):  # a whole one has all parts
                keys = dict.fromkeys(k for k, p in components(self.b.type(x)) if is_differentiable(p))
            for key in keys:
                inner = [part(bar, key, block) for bar, block in zip(bars, blocks, strict=True)]
                out[key] = inner[0] if inner[0] == inner[1] else parts(get_part(self.b, x, key), inner)
            return out

        for x in dict.fromkeys([*values[0], *values[1]]):
            bars = [v.get(x) for v in values]
            if (found := bars[0] if bars[0] == bars[1] else parts(x, bars)) is not None:
                joined[x] = found
        return joined, merges

    def loop(self, s: For | While) -> tuple[Statement, ...]:
        active_carries = [c for c in s.carried if c.name in self.active and c.name not in self.adj.mirror]
        made: list[Statement] = []
        s = replace(s, carried=(*s.carried, *self.mirror.carries(s, made)))
        for c in active_carries:
            if is_container(self.b.type(c.name)):
                raise UnsupportedSyntax(
                    f"{shown(c.name)}, a container, changes from trip to trip, which is not differentiated yet", s.span,
                    why="only numbers and arrays are carried by loops",
                    way_out="carry its parts under names of their own",
                )  # fmt: skip
        refuse_active_items(s, self.active)
        outside = self._prepare(s, True)
        outside = [x for x in outside if x not in {c.name for c in s.carried}]
        inits: list[tuple[Carry, Atom]] = []
        for c in active_carries:
            bar = self.adj.take_whole(c.name)
            inits.append((c, self.adj.zero(c.name) if bar is None else self.adj.full(bar, c.name)))
        before = self.adj.values
        self.adj.values = {}
        names: dict[str, str] = {}
        with self.b.loop_body({c.name for c in s.carried}) as out:
            for x in [*(c.name for c in active_carries), *outside]:
                names[x] = self.b.fresh(bar_name(x))
                self.b.types.of_name[names[x]] = number_or_none(self.b.type(x))
            for x in outside:
                self.adj.values[x] = names[x]
            for c, init in inits:
                self._after_trip(c, names[c.name], init)
            if self.depth == 0:
                self.lists_before = len(self.lists)
            self.depth += 1
            primal = self.block(s.body)
            self.depth -= 1
            self.b.span = s.span.within("adjoint")
            nexts = {c.name: self._before_trip(c, names[c.name]) for c in active_carries}
            ends = {x: self._renamed(self.adj.values.pop(x), x) for x in outside}
            local = tuple(out)
        self.adj.values = before
        carried: list[Carry] = []
        for c, init in inits:
            carried.append(Carry(names[c.name], self.b.current(init), self.b.current(nexts[c.name])))
        for x in outside:
            end = ends[x]
            if end == names[x]:
                continue
            assert not isinstance(end, dict)
            old = self.adj.values.get(x)
            assert not isinstance(old, dict)
            start = self.adj.zero(x) if old is None else old
            carried.append(Carry(names[x], self.b.current(start), self.b.current(end)))
            self.adj.values[x] = names[x]
        result = self._finish_loop(s, primal, local, carried)
        for c, _ in inits:
            self.adj.add(c.init, names[c.name])
        return (*made, *result)

    def _after_trip(self, c: Carry, name: str, init: Atom) -> None:
        """Give what a trip hands on the adjoint that the trip behind it has; what is an array there is no number."""
        t, given = self.b.type(c.name), self.b.type(init)
        if may_be_number(t) and (one_kind(t, given) or not may_be_number(given)):
            self.b.types.of_name[name] = self.b.type(c.next)
        mine, its = self.b.type(name), self.b.type(c.next)
        if isinstance(mine, Array) and isinstance(its, Array) and not may_be_number(mine) and not may_be_number(its):
            self.b.types.of_name[name] = replace(mine, shape=its.shape)  # that of what the trip behind it begins with
        self.adj.add(c.next, name)

    def _before_trip(self, c: Carry, name: str) -> Atom:
        """The adjoint of what a trip begins with."""
        bar = self.adj.take_whole(c.name)
        whole = self.adj.zero(c.name) if bar is None else self.adj.full(bar, c.name)
        if may_be_number(self.b.type(whole)) and not may_be_number(self.b.type(name)):
            return self.b.emit(runtime.unbroadcast, (whole, c.name))
        return whole

    def _renamed(self, adjoint: Adjoint, x: Atom) -> Adjoint:
        return adjoint if isinstance(adjoint, dict) else self.b.rename(adjoint, bar_name(x))

    def _finish_loop(self, s: For | While, primal: Block, local: Block, carried: list[Carry]) -> tuple[Statement, ...]:
        """Link both bodies, and write the adjoint loop."""
        if not local and not carried:
            return (replace(s, body=primal),)
        handed_on = [a for c in carried for a in (c.name, c.next)]
        local = known_of_primal(primal, remove_dead(local, handed_on, self.b.types, None), self.memory, handed_on)
        is_counted = isinstance(s, While) or any(isinstance(x, Leave) for x in statements(primal))
        is_counted = is_counted or self._may_be_used_up(s.iterable)
        inputs = [c.name for c in s.carried]
        if isinstance(s, For) and is_counted:
            inputs.append(s.target)
        if isinstance(s, While):  # what the test makes is given to the body
            inputs += [n for x in s.head for n in defines(x)]
        nexts = tuple(c.next for c in carried)
        if self.limit is not None and self.depth == 0:
            inner = self.lists[self.lists_before :]
            kept = Checkpoints(self, s, primal, local, [*nexts, *(c.name for c in carried)])
            if kept.pays([*Region(self.b, self.memory, primal, local, inputs, nexts).plan()[0], *inner]):
                return kept.write(carried, self.limit)
        region = Region(self.b, self.memory, primal, local, inputs, nexts)
        linked, adjoint, every_trip, names = region.link_loop(self.lists)
        carried = [replace(c, next=names.get(c.next, c.next)) for c in carried]  # type: ignore[arg-type]
        for name in self.lists:
            self.b.types.of_name.setdefault(name, Unknown("a list of saved values"))
        if not is_counted:
            assert isinstance(s, For)
            iterable = self._reversed(s, adjoint)
            target = self.b.fresh(s.target)
            self.b.types.of_name[target] = self.b.type(s.target)
            adjoint = substitute_block(adjoint, {s.target: target})
            self.b.out.append(For(target, iterable, adjoint, tuple(carried), s.span.within("adjoint")))
            return (replace(s, body=linked),)
        if every_trip and self.depth == 0:
            stack, popped = every_trip[0]
            adjoint = tuple(
                x for x in adjoint if not (isinstance(x, Assign) and x.op is ops.pop and x.args == (stack,))
            )
            iterable = self.b.emit(builtins.reversed, (stack,))
            self.b.out.append(For(popped, iterable, adjoint, tuple(carried), s.span.within("adjoint")))
            return (replace(s, body=linked),)
        trips, after = self.b.fresh("trips"), self.b.fresh("trips")
        for name in (trips, after):
            self.b.types.of_name[name] = Scalar("int64", True)
        count = Assign(after, operator.add, (trips, Const(1)), (), s.span)
        iterable = self.b.emit(builtins.range, (trips,))
        blank = self.b.fresh("_")
        self.b.types.of_name[blank] = Scalar("int64", True)
        self.b.out.append(For(blank, iterable, adjoint, tuple(carried), s.span.within("adjoint")))
        return (replace(s, body=(count, *linked), carried=(*s.carried, Carry(trips, Const(0), after))),)

    def _may_be_used_up(self, iterable: Atom) -> bool:
        """Whether a second loop may find nothing left: a file, what a generator of a library gives."""
        made = self.definitions.get(iterable) if isinstance(iterable, str) else None
        if isinstance(made, Assign) and made.op in (builtins.enumerate, builtins.zip, builtins.reversed):
            return any(map(self._may_be_used_up, made.args))
        return isinstance(self.b.type(iterable), Unknown)

    def _reversed(self, s: For, adjoint: Block) -> Atom:
        made = self.definitions.get(s.iterable) if isinstance(s.iterable, str) else None
        if isinstance(made, Assign) and made.op is builtins.reversed:
            return made.args[0]
        iterable = s.iterable
        if isinstance(made, Assign) and made.op in (builtins.enumerate, builtins.zip):
            iterable = self.b.emit(made.op, made.args, made.keywords)  # the first one is used up
        t = self.b.type(iterable)
        if s.target not in all_reads(adjoint):
            return iterable
        if isinstance(t, Known) and isinstance(t.value, range) or isinstance(t, (Array, Tuple)):
            return self.b.emit(builtins.reversed, (iterable,))
        is_list = isinstance(made, Assign) and made.op is builtins.list
        everything = iterable if is_list else self.b.emit(builtins.list, (iterable,))
        return self.b.emit(builtins.reversed, (everything,))


def _inner_reads(s: Statement) -> set[str]:
    """What the bodies of a compound statement read, and what they hand to the next trip or to a merge."""
    match s:
        case If():
            return (
                all_reads(s.then)
                | all_reads(s.orelse)
                | {a for m in s.merged for a in (m.then, m.orelse) if isinstance(a, str)}
            )
        case For():
            return all_reads(s.body) | {c.next for c in s.carried if isinstance(c.next, str)}
        case While():
            return all_reads(s.body) | all_reads(s.head) | {c.next for c in s.carried if isinstance(c.next, str)}
    return set()


def _copied(values: Mapping[Any, object]) -> dict[Any, Any]:
    return {k: _copied(v) if isinstance(v, dict) else v for k, v in values.items()}
