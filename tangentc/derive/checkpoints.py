"""Loops of which a few states are kept; the adjoint sweep computes the others from these again.

                                            states = snapshots(range(n), most=10)
    for t in range(n):                      for t in range(n):
        x = step(x)                             keep_state(states, t, x)
                                   ->           x = step(x)
                                            for t in reversed(range(n)):
                                                since, x = last_state(states, t)
                                                for k in since:
                                                    keep_state(states, k, x)
                                                    x = step(x)
                                                y = step(x), and x_bar from y_bar

A trip and its adjoint stand in one trip then, so that nothing of it is saved.  What a trip begins with is what the loop
carries and the arrays and containers that it changes; the trips that run again change copies of these.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Sequence as Sequence_
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tangentc import runtime
from tangentc.analysis.aliases import Aliases
from tangentc.analysis.program import call_aliases, has_effect
from tangentc.core import ops
from tangentc.core.build import Builder
from tangentc.core.naming import shown
from tangentc.core.nodes import Assign, Atom, Block, Carry, Const, Effect, For, Leave, Op, Opaque, Statement, While
from tangentc.core.splice import renamed
from tangentc.core.types import Array, Known, Scalar, Sequence, Tuple, Type, Unknown, is_container, is_numeric, rank
from tangentc.core.walk import all_defines, all_reads, blocks, changed_by, statements, transform
from tangentc.errors import UnsupportedSyntax
from tangentc.simplify.dead import remove_dead

if TYPE_CHECKING:
    from tangentc.derive.control import Control

AROUND = (builtins.enumerate, builtins.zip, builtins.reversed)  # what runs over the items of others
NUMBER = Scalar("int64", True)
LARGE = 100  # more axes than an array has
WAY_OUT = "leave `memory` out, or write the trip as a function `step` and call `checkpoint(step)`"


class Trips:
    """The trips of a loop as a range, and what it runs over in each of them."""

    def __init__(self, builder: Builder, definitions: Mapping[str, Statement], loop: For):
        self.b, self.definitions, self.loop = builder, definitions, loop
        self.before: list[Statement] = []
        self.range = self._range(loop.iterable)
        inner = self._made(loop.iterable, builtins.reversed)
        self.are_items = self._is_range(loop.iterable if inner is None else inner.args[0])  # the numbers of its trips

    def _made(self, iterable: Atom, *which: Op) -> Assign | None:
        made = self.definitions.get(iterable) if isinstance(iterable, str) else None
        return made if isinstance(made, Assign) and made.op in which else None

    def _is_range(self, iterable: Atom) -> bool:
        t = self.b.type(iterable)
        return self._made(iterable, builtins.range) is not None or isinstance(t, Known) and isinstance(t.value, range)

    def _range(self, iterable: Atom) -> Atom | None:
        """The numbers of the trips; None if what it runs over has no items by number."""
        made = self._made(iterable, builtins.reversed)
        if made is not None and self._is_range(made.args[0]):
            return self._write(self.before, "", operator.getitem, (made.args[0], Const(slice(None, None, -1))))
        if self._is_range(iterable):
            return iterable
        length = self._length(iterable)
        return None if length is None else self._write(self.before, "", builtins.range, (length,))

    def _length(self, iterable: Atom) -> Atom | None:
        if (made := self._made(iterable, *AROUND)) is not None:
            lengths = [self._length(a) for a in made.args[: None if made.op is builtins.zip else 1]]
            if not lengths or None in lengths:
                return None
            atoms: tuple[Atom, ...] = tuple(n for n in lengths if n is not None)
            return self._write(self.before, "", builtins.min, atoms) if len(atoms) > 1 else atoms[0]
        has_items = isinstance(self.b.type(iterable), (Array, Sequence, Tuple)) or self._is_range(iterable)
        return self._write(self.before, "", builtins.len, (iterable,)) if has_items else None

    def item(self, trip: str, target: str) -> tuple[Statement, ...]:
        """What gives the loop's target its value in a trip."""
        out: list[Statement] = []
        if self.are_items:
            if target != trip:
                self._write(out, target, ops.identity, (trip,))
        else:
            self._item(out, self.loop.iterable, trip, target)
        return tuple(out)

    def _item(self, out: list[Statement], iterable: Atom, trip: Atom, target: str) -> Atom:
        made = self._made(iterable, *AROUND)
        if made is None:
            return self._write(out, target, operator.getitem, (iterable, trip))
        if made.op is builtins.reversed:
            return self._item(out, made.args[0], self._write(out, "", operator.sub, (Const(-1), trip)), target)
        if made.op is builtins.zip:
            return self._write(out, target, ops.make_tuple, tuple(self._item(out, a, trip, "") for a in made.args))
        start = [*made.args[1:], *(value for _, value in made.keywords)]
        number = self._write(out, "", operator.add, (start[0], trip)) if start else trip
        return self._write(out, target, ops.make_tuple, (number, self._item(out, made.args[0], trip, "")))

    def _write(self, out: list[Statement], target: str, op: Op, args: tuple[Atom, ...]) -> str:
        name = target or self.b.fresh("%item")
        self.b.types.of_name.setdefault(name, self.b.types.result(op, args))
        out.append(Assign(name, op, args, (), self.loop.span))
        return name


class Checkpoints:
    """The writer of one such loop, whose trip is written already: ``primal``, with what its adjoint needs, and
    ``adjoint``."""

    def __init__(self, writer: Control, loop: For | While, primal: Block, adjoint: Block, ends: Sequence_[Atom]):
        self.w, self.b, self.loop = writer, writer.b, loop
        head = loop.head if isinstance(loop, While) else ()
        self.body = (*head, *loop.body)
        self.inside = all_defines((*self.body, *primal))
        self.changed = {self._root(n) for s in statements(self.body) if (n := changed_by(s)) is not None}
        self.carried = {c.name: c.next for c in loop.carried}
        free = all_reads(self.body) - self.inside - self.carried.keys()
        self.changing = sorted(n for n in free if self._has_memory(n) and self._root(n) in self.changed)
        self._find_needed((*head, *primal), adjoint, ends)

    def _find_needed(self, primal: Block, adjoint: Block, ends: Sequence_[Atom]) -> None:
        """Find what of a trip its adjoint needs, and what of it the trips behind it: the names that a trip begins with,
        and the statements."""
        block = (*primal, *adjoint)
        whole = replace(self.w.function, body=(*self.w.function.body, *self.b.out, *block))
        aliases = Aliases(whole, self.b.types, call_aliases)
        added = {n for s in statements(adjoint) if (n := changed_by(s)) is not None and not self._is_own(n)}
        self.trip = remove_dead(block, [*ends, *sorted(added)], self.b.types, aliases)
        self.again: Block = ()
        found: set[str] = set()
        size = -1
        while size != (size := len(found)):
            found |= (all_reads(self.trip) | all_reads(self.again)) & {*self.carried, *self.changing}
            ends = [self.carried.get(n, n) for n in sorted(found)]
            self.again = remove_dead(self.body, ends, self.b.types, aliases)
            found |= {n for n in ends if isinstance(n, str)} & {*self.carried, *self.changing}
        self.state = [*(n for n in self.carried if n in found), *(n for n in self.changing if n in found)]

    def _is_own(self, name: str) -> bool:
        """Whether a trip makes something, or finds it changed by the trips before."""
        return name in self.inside or self._root(name) in self.changed

    def _root(self, name: str) -> str:
        return self.w.memory.root(name)

    def _has_memory(self, name: str) -> bool:
        t = self.b.types.of_name.get(name)
        return isinstance(t, (Array, Unknown)) or is_container(t)

    def pays(self, saved: Sequence_[str]) -> bool:
        """Whether the adjoint of a trip needs something of it, and what is saved for that is as large as what a trip
        begins with.  A loop that gathers what moves in a list that grows holds all of it anyway."""
        of_name = self.b.types.of_name
        if all_reads(self.trip).isdisjoint({*self.inside, *self.carried, *self.changing}):
            return False
        if any(n in self.w.active and _axes(of_name[n]) == LARGE for n in self.changing):
            return False
        sizes = [_axes(of_name[n]) if n in of_name else LARGE for n in saved]
        return max(sizes, default=-1) >= max((_axes(of_name[n]) for n in self.state), default=0)

    # ---------------------------------------------------------- what cannot be run again
    def _refuse(self) -> None:
        s = self.loop
        for leave in _leaves(self.body, False):
            raise self._refusal(leave, f"is left by `{leave.kind}`", "a trip that runs again would leave it again")
        for inner in statements(self.body):
            if not is_silent(inner) and has_effect(inner, self.w.definitions):
                raise self._refusal(inner, "does more than to compute", "a trip that runs again would do it again")
        for c in s.carried:
            if c.init == Const(ops.UNDEFINED):
                raise self._refusal(s, f"gives {shown(c.name)} its first value", "the first state lacks it")
        lists = {n for n in self.changing if is_container(self.b.type(n)) and n in self.w.active}
        if found := sorted(lists | (self.inside | all_reads(self.body)) & self.w.mirror.of.keys()):
            why = f"{shown(found[0])} holds what moves, and changes from trip to trip"
            raise self._refusal(s, "changes a container of what moves", why)

    def _refusal(self, s: Statement, what: str, why: str) -> UnsupportedSyntax:
        return UnsupportedSyntax(f"a loop of which states are to be kept {what}", s.span, why=why, way_out=WAY_OUT)

    # ---------------------------------------------------------- both sweeps
    def write(self, carried: list[Carry], limit: tuple[str, int]) -> tuple[Statement, ...]:
        """The primal loop; the adjoint one, which carries ``carried``, is added to the adjoint sweep."""
        self._refuse()
        b, s = self.b, self.loop
        states = self._fresh("states", Unknown("the states that are kept of a loop"))
        bound = ((limit[0], Const(limit[1])),)
        if isinstance(s, While):
            trips, after = self._fresh("trips", NUMBER), self._fresh("trips", NUMBER)
            count = Assign(after, operator.add, (trips, Const(1)), (), s.span)
            first: For | While = replace(
                s, body=(*self._kept(states, trips, {}), *s.body, count),
                carried=(*s.carried, Carry(trips, Const(0), after)),
            )  # fmt: skip
            made = Assign(states, runtime.snapshots, (), bound, s.span)
            self._backwards(b.emit(builtins.range, (trips,)), None, states, carried)
            return (*self._restored(states), *[made][: len(self.state)], first)
        over = Trips(b, self.w.definitions, s)
        if over.range is None:
            raise self._refusal(s, "runs over something that has no items by number", "a trip asks for its item again")
        trip = s.target if over.are_items else self._fresh("trip", NUMBER)
        body = (*self._kept(states, trip, {}), *over.item(trip, s.target), *s.body)
        made = Assign(states, runtime.snapshots, (over.range,), bound, s.span)
        self._backwards(over.range, over, states, carried)
        first = replace(s, target=trip, iterable=over.range, body=body)
        return (*self._restored(states), *over.before, *[made][: len(self.state)], first)

    def _kept(self, states: str, trip: str, names: Mapping[str, Atom]) -> Block:
        """What keeps the state before a trip, if there is one."""
        state = (names.get(n, n) for n in self.state)
        kept = Effect(runtime.keep_state, (states, trip, *state), (), self.loop.span)
        return (kept,) if self.state else ()

    def _fresh(self, name: str, t: Type) -> str:
        made = self.b.fresh(name)
        self.b.types.of_name[made] = t
        return made

    def _again(self, name: str) -> str:
        return self._fresh(name, self.b.type(name))

    def _copy(self, block: Block, table: dict[str, Atom], own: Callable[[str], str]) -> tuple[Block, dict[str, Atom]]:
        """A block with names of its own for all that it defines, and what stands for each name."""
        block = transform(block, lambda s: () if is_silent(s) else (s,))
        names = {n: own(n) for n in sorted(all_defines(block))}
        for old, new in names.items():
            if old in self.b.types.of_name:
                self.b.types.of_name[new] = self.b.types.of_name[old]
        every = {**table, **names}
        return renamed(block, every, names), every

    def _item(self, over: Trips | None, trip: str) -> tuple[Block, dict[str, Atom]]:
        """What gives the target of a `for` loop its value in a trip, and the name that it has there."""
        if over is None:
            return (), {}
        target = trip if over.are_items else self._again(over.loop.target)
        return over.item(trip, target), {over.loop.target: target}

    def _backwards(self, trips: Atom, over: Trips | None, states: str, carried: list[Carry]) -> None:
        b, span = self.b, self.loop.span.within("adjoint")
        trip = self._fresh(over.loop.target if over is not None and over.are_items else "trip", NUMBER)
        before, here = self._state_of(trip, over, states) if self.state else ((), {})
        item, target = self._item(over, trip)
        body, every = self._copy(self.trip, {**here, **target}, lambda n: b.fresh(n) if n in self.inside else n)
        ends = tuple(replace(c, init=b.current(c.init), next=_in(every, c.next)) for c in carried)
        iterable = b.emit(builtins.reversed, (trips,))
        b.out.append(For(trip, iterable, (*before, *item, *body), ends, span))

    def _state_of(self, trip: str, over: Trips | None, states: str) -> tuple[Block, dict[str, Atom]]:
        """What a trip begins with, computed from the last state that was kept, and the names that it has."""
        span = self.loop.span.within("adjoint")
        since = self._fresh("since", Unknown("the trips since a state was kept"))
        start = {n: self._again(n) for n in self.state}
        found = self._fresh("%state", Tuple((self.b.type(since), *(self.b.type(n) for n in self.state))))
        out: list[Statement] = [Assign(found, runtime.last_state, (states, trip), (), span)]
        for place, name in enumerate((since, *start.values())):
            out.append(Assign(name, operator.getitem, (found, Const(place)), (), span))
        k = self._fresh("k", NUMBER)
        names: dict[str, Atom] = {n: self._again(n) for n in self.state if n in self.carried}
        here: dict[str, Atom] = {**start, **names}
        item, target = self._item(over, k)
        body, every = self._copy(self.again, {**here, **target}, self.b.fresh)
        again = [Carry(str(new), start[n], _in(every, self.carried[n])) for n, new in names.items()]
        out.append(For(k, since, (*self._kept(states, k, here), *item, *body), tuple(again), span))
        return tuple(out), here

    def _restored(self, states: str) -> tuple[Statement, ...]:
        """Put back, behind the adjoint loop, what the loop found in the arrays that it changed; gives copies of those
        that are no part of the states."""
        b, s = self.b, self.loop
        init = {c.name: c.init for c in s.carried}
        out: list[Statement] = []
        for name in dict.fromkeys((*self.state, *self.carried, *self.changing)):
            array = init.get(name, name)
            is_array = isinstance(array, str) and isinstance(b.type(array), Array)
            if not isinstance(array, str) or not is_array or self._root(array) not in self.changed:
                continue
            if name in self.state:
                place = Const(self.state.index(name))
                before = b.emit(runtime.first_state, (states, place, array), name=f"{shown(array)}_before")
                b.types.of_name[str(before)] = b.type(array)
            else:
                before = self._again(array)
                out.append(Assign(before, np.copy, (array,), (), s.span))
            b.store(array, Const(...), before)
        return tuple(out)


def _leaves(block: Block, inside: bool) -> Iterator[Leave]:
    """What leaves a loop, of whose body this is a block; ``inside`` of another loop, all loops."""
    for s in block:
        if isinstance(s, Leave) and (s.kind == "return" or not inside):
            yield s
        for inner in blocks(s):
            yield from _leaves(inner, inside or isinstance(s, (For, While)))


def _axes(t: Type) -> int:
    """How many axes the largest array has that something holds; a list that grows is larger than any array."""
    if isinstance(t, Sequence) and t.length is None or not (is_container(t) or is_numeric(t)):
        return LARGE
    return max(map(_axes, t.items), default=0) if is_container(t) else rank(t) or 0


def is_silent(s: Statement) -> bool:
    """Whether a statement is left out where a trip runs again: what it prints, or makes sure of, it has done before."""
    return isinstance(s, Opaque) and not s.writes or isinstance(s, Effect) and s.op is builtins.print


def _in(table: Mapping[str, Atom], atom: Atom) -> Atom:
    return table.get(atom, atom) if isinstance(atom, str) else atom
