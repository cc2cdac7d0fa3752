"""What is known of each value at one point of a program.

    x = None                  x: None
    if n > 2:
        x = np.ones(n)            x: float64[n]
    y = x                     x: None or float64[n]

The state holds a type for each name, as it is here; what is stored into a list, a dict or an object changes the type
of every name by which it can be reached.  Paths that part are written one after the other from the same state, and
joined where they meet.  The body of a loop is written for what its first trip begins with; where a later trip would
begin with more, it is written once more for that. (An abstract interpretation: Cousot and Cousot, POPL 1977.)
"""

from __future__ import annotations

import builtins
import contextlib
import copy
import operator
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from tangentc.analysis.decide import counted_answer, refused, truth, unlike
from tangentc.analysis.holding import CHANGING, HOLDING, lost_parts, replaced, sites_of, without_key, without_sites
from tangentc.analysis.joins import is_mixed, is_nothing, put
from tangentc.analysis.outside import type_outside
from tangentc.analysis.parts import numbers_in
from tangentc.analysis.points import DEEP_COPIES, Change, change_of
from tangentc.analysis.types import CallType, Types, certain
from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Block, Const, Effect, Global, If, Leave, Op, Opaque, Statement, Store
from tangentc.core.types import (
    Dict,
    Held,
    Known,
    Optional,
    Sequence,
    Struct,
    Tuple,
    Type,
    Unknown,
    alike,
    is_container,
    items_of,
    may_be_number,
    present,
)

MOST_WALKS = 8  # of the body of a loop: what each trip hands on to the next takes one for each name
NOTHING = Known(Const(ops.UNDEFINED))
NONE = Known(Const(None))
COPIES = {builtins.dict, copy.copy, *DEEP_COPIES}  # whose type is that of what is copied
T = TypeVar("T")
End = dict[Atom, Type] | None  # what a path has changed; None if it does not come to its end


@dataclass
class Open:
    """A loop or a call that is being written: where it began, and the ways out of it."""

    depth: int
    over: list[End] = field(default_factory=list)  # by `continue`, or `return`
    broken: list[End] = field(default_factory=list)


class State(Types):
    """The types of names, and of the data of the module that is written into, at one point of a program."""

    def __init__(self, call_type: CallType | None = None):
        super().__init__(call_type)
        self.bare = self.settled = True  # a list that is empty here is empty, and what says nothing will not say more
        self.now: dict[Atom, Type] = self.of_name  # type: ignore[assignment]
        self.holding: set[Atom] = set()  # the names of what may be a container
        self.frames: list[dict[Atom, Type | None]] = []  # for each open path: what it changed, as it was before
        self.dead = False  # nothing comes here
        self.loops: list[Open] = []
        self.calls: list[Open] = []
        self.heads: dict[Hashable, dict[Atom, Type]] = {}  # what the trips of loops begin with, as far as it is known
        self.trips_give: list[End] = []  # how the trips of the loop that was written last end
        self.lost: set[Atom] = set()  # in the loop that was written last, what trips begin with and no type tells
        self.mixed: set[Atom] = set()  # and what is of different types on paths of one trip
        self.deeper = False  # whether its trips put containers into each other, so that no type is theirs
        self.missed: set[Atom] = set()  # what was read and has no value yet
        self.ends: dict[int, tuple[Block, End]] = {}  # of the blocks that were written on paths of their own
        self.definitions: dict[str, Assign] = {}  # how what has one value was made
        self.stores: list[Store] = []
        self.both: dict[tuple[Atom, bool], tuple[Assign | Atom, ...]] = {}  # what a test with an answer answers too
        self.changes = 0  # of containers
        self.read_at: dict[str, int] = {}  # attributes, and how many changes were before them
        self.args_at: dict[int, tuple[Type | None, ...]] = {}  # what statements were given, by their ids
        self.places: dict[Hashable, int] = {}  # where something is made, the same in each walk: its number
        self.several: set[int] = set()  # the places that make one object after the other

    def begin_with(self, params: Mapping[str, Type]) -> None:
        self.unknown_lengths = max(numbers_in(*params.values()), default=0)
        for name, t in params.items():
            self._set(name, self.placed(without_sites(t), name))

    # ---------------------------------------------------------- names
    def of(self, atom: Atom) -> Type:
        known = self.now.get(atom) if not isinstance(atom, Const) else super().of(atom)
        if known is None and isinstance(atom, Global):
            known = self.now[atom] = self.placed(type_outside(atom), atom)
            self.holding.add(atom)
        if known is None:
            self.missed.add(atom)
            return NOTHING
        return known

    def seen(self, atom: Atom) -> Type | None:
        """The type of a value, None where it is not known here."""
        t = self.of(atom)
        return None if is_nothing(t) or isinstance(t, Unknown) and not isinstance(t, Optional) else t

    def _set(self, name: Atom, t: Type | None) -> None:
        if self.frames:
            self.frames[-1].setdefault(name, self.now.get(name))
        self._restore(name, t)

    def _restore(self, name: Atom, t: Type | None) -> None:
        if name in self.definitions and not str(name).startswith("%"):
            del self.definitions[name]  # type: ignore[arg-type]
        if t is None:
            self.now.pop(name, None)
        else:
            self.now[name] = t
        (self.holding.add if isinstance(t, HOLDING) else self.holding.discard)(name)

    def takes(self, target: str, iterable: Atom) -> None:
        """The target of a loop has an item of what it runs over."""
        self._set(target, self.item(iterable))

    def _remembered(self, op: Op, types: list[Type], named: dict[str, Type]) -> Type:
        """Types that are equal may be those of different objects."""
        if any(map(is_container, (*types, *named.values()))):
            return self._infer(op, types, named)
        return super()._remembered(op, types, named)

    # ---------------------------------------------------------- objects
    def placed(self, t: Type, *where: Hashable) -> Type:
        """The type of something new that is made somewhere: each container in it is another object."""
        if not is_container(t):
            return t
        items = tuple([self.placed(part, *where, k) for k, part in enumerate(t.items)])
        t = t if all(map(operator.is_, items, t.items)) else replace(t, items=items)
        if not isinstance(t, (Sequence, Dict, Struct)) or t.sites:
            return t
        place = self.places.setdefault(where, len(self.places))
        if self.loops:
            self.several.add(place)
        return replace(t, sites=frozenset([place]))

    def change(self, s: Statement) -> None:
        """What a statement does to the containers that it changes."""
        found = change_of(s)
        if found is None:
            return
        t = present(self.of(found.container))
        if not isinstance(t, (Sequence, Dict, Struct)):
            return
        self.changes += 1
        single = len(t.sites) == 1 and self.several.isdisjoint(t.sites)
        is_part = isinstance(s, Store) and s.op is None and found.puts[0][0] != "*" and not found.all_items
        takes_away = isinstance(t, Dict) and found.removes is not None

        def changed(old: Type, surely: bool = True) -> Type:
            if takes_away and single and surely:
                return without_key(found.removes.value, old)
            if single and surely and (longer := self._appended(found, old)) is not None:
                return longer
            if is_part and isinstance(t, (Dict, Struct)):
                return self._assigned(found, single and surely)(old)
            return self._changed(old, found)

        if not t.sites:
            self._set(found.container, changed(t))
        if t.sites:
            self._replace(t.sites, changed)

    def _replace(self, sites: frozenset[int], changed: Callable[[Held, bool], Type]) -> None:
        """What is in one of these places is changed, whatever holds it."""
        done: dict[tuple[int, int], tuple[Type, Held]] = {}
        news = ((name, replaced(self.now[name], sites, changed, done)) for name in list(self.holding))
        for name, new in sorted([(n, t) for n, t in news if t is not self.now[n]], key=lambda both: str(both[0])):
            self._set(name, new)

    def _appended(self, change: Change, old: Type) -> Type | None:
        """The type of a list of known length after which something is put: each item keeps the type that it has."""
        adds = change.resizes and not (change.shifts or change.unseen) and len(change.puts) == 1
        before = items_of(old) if adds and isinstance(old, Sequence) and old.kind is list else None
        given = self.of(change.puts[0][1]) if adds else old
        more = items_of(given) if change.all_items else (given,)
        if before is None or more is None or any(map(is_nothing, more)):
            return None
        return replace(old, items=alike((*before, *more)), length=len(before) + len(more))  # type: ignore[arg-type]

    def _assigned(self, change: Change, single: bool) -> Callable[[Type], Type]:
        """An attribute, or an item with a known key, has another value; that of one of several objects has, perhaps."""
        (key, atom), *_ = change.puts
        item = self.of(atom)

        def changed(old: Type) -> Type:
            if not isinstance(old, (Dict, Struct)):
                return self._changed(old, change)
            names = old.keys if isinstance(old, Dict) else old.fields
            if single and key in names and not is_nothing(item):
                k = names.index(key)
                old = replace(old, items=(*old.items[:k], item, *old.items[k + 1 :]))
            else:
                old = put(old, key, item, False, self.fresh)
            return replace(old, unsure=old.unsure - {key}) if single and isinstance(old, Struct) else old

        return changed

    # ---------------------------------------------------------- statements
    def statement(self, s: Statement) -> None:
        match s:
            case Assign():
                self._assign(s)
            case Store() | Effect():
                self.stores += [s] if isinstance(s, Store) else []
                self.change(s)
            case If():
                self.branch(s)
            case Leave(kind="return"):
                self._leave(self.calls[-1].over if self.calls else [], self.calls[-1:], self.of(s.values[0]))
            case Leave():
                ways = (self.loops[-1].broken if s.kind == "break" else self.loops[-1].over) if self.loops else []
                self._leave(ways, self.loops[-1:])
            case Opaque():
                for _, name in s.writes:
                    self._set(name, self.carried_along(s, s.text, name))
                self.dead |= type(s.tree).__name__ == "Raise"

    def _assign(self, s: Assign) -> None:
        if s.op is ops.assumed:
            return
        t = self.result(s.op, s.args, s.keywords)
        if is_container(t) and (s.op in COPIES or s.op is ops.method and s.args[1] == Const("copy")):
            t = without_sites(t, s.op in DEEP_COPIES)
        self.change(s)
        given = tuple(self.now.get(a) for a in s.args)
        self._set(s.target, self.placed(t, s.target, s.span.site))
        self.args_at[id(s)] = given
        self.definitions[s.target] = s
        self.read_at[s.target] = self.changes

    def _leave(self, ways: list[End], of: list[Open], value: Type | None = None) -> None:
        if of and not self.dead:
            end = self._since(of[0].depth)
            if value is not None:
                end["%out"] = value
            ways.append(end)
        self.dead = True

    def _since(self, depth: int) -> dict[Atom, Type]:
        names = (name for frame in self.frames[depth:] for name in frame)
        return {name: self.now[name] for name in names if name in self.now}

    # ---------------------------------------------------------- what a test says
    def narrow(self, test: Atom, answer: bool) -> None:
        """Go on where a test has an answer: what it asks for None is None, or is not."""
        if answer:
            self._refine(test, False)
        made = self.definitions.get(test) if isinstance(test, str) else None
        for other in self.both.get((test, answer), () if made is None else (made,)):
            if isinstance(other, Assign):
                self._says(other, answer)
            else:
                self.narrow(other, answer)

    def _says(self, made: Assign, answer: bool) -> None:
        if made.op is operator.not_:
            self.narrow(made.args[0], not answer)
        elif not self._is_still(made):
            return
        elif made.op in (ops.identity, builtins.bool):
            self.narrow(made.args[0], answer)
        elif made.op in (operator.is_, operator.is_not) and made.args[1] == Const(None):
            self._refine(made.args[0], answer is (made.op is operator.is_))
        elif made.op is builtins.isinstance and answer and isinstance(made.args[1], Const):
            self._refine(made.args[0], isinstance(None, made.args[1].value))

    def _is_still(self, made: Assign) -> bool:
        """Whether what a statement was given has the value that it had then."""
        first = made.args[0] if made.args else None
        return isinstance(first, str) and self.args_at.get(id(made), (None,))[0] is self.now.get(first)

    def _refine(self, atom: Atom, is_none: bool) -> None:
        t = self.now.get(atom)
        if not isinstance(t, Optional):
            return
        known = Known(Const(None)) if is_none else t.type
        made = self.definitions.get(atom)  # type: ignore[arg-type]
        still = made is not None and self._is_still(made)
        self._set(atom, known)
        if made is None or not still or self.read_at[made.target] != self.changes:
            return
        if made.op is ops.identity:
            self._refine(made.args[0], is_none)
        elif made.op is builtins.getattr and isinstance(made.args[1], Const):
            self._refine_part(made.args[0], made.args[1].value, known)

    def _refine_part(self, base: Atom, name: str, known: Type) -> None:
        t = present(self.of(base))
        if not isinstance(t, Struct) or name not in t.fields or len(t.sites) != 1 or t.sites & self.several:
            return

        def changed(old: Held, surely: bool) -> Type:
            k = old.fields.index(name)
            return replace(old, items=(*old.items[:k], known, *old.items[k + 1 :])) if surely else old

        self._replace(t.sites, changed)

    # ---------------------------------------------------------- paths
    def fork(self, write: Callable[[], T]) -> tuple[T, End]:
        """What ``write`` gives, and how its path ends; the state is as before."""
        frame: dict[Atom, Type | None] = {}
        self.frames.append(frame)
        dead = self.dead
        try:
            result = write()
            return result, None if self.dead else self._since(len(self.frames) - 1)
        finally:
            self.frames.pop()
            for name, old in frame.items():
                self._restore(name, old)
            self.dead = dead

    def ways_out(self) -> list[tuple[list[End], int]]:
        """The ways out of the loops and calls that are open, as far as they have been written."""
        return [(ways, len(ways)) for opened in (*self.loops, *self.calls) for ways in (opened.over, opened.broken)]

    @staticmethod
    def forget(since: list[tuple[list[End], int]]) -> None:
        """Forget the ways out that were written since then, on a path that is not kept."""
        for ways, count in since:
            del ways[count:]

    def path(self, write: Callable[[], Block]) -> Block:
        """The block that ``write`` writes, on a path of its own: an arm of a branch to come."""
        block, end = self.fork(write)
        if block:
            self.ends[id(block)] = block, end
        return block

    def _end(self, block: Block) -> End:
        if not block:
            return {}
        if id(block) in self.ends:
            return self.ends[id(block)][1]
        return self.fork(lambda: self.block(block))[1]

    def block(self, block: Block) -> None:
        for s in block:
            self.statement(s)

    def _is_told(self, s: If) -> bool:
        return truth(self.of(s.test)) is not None

    def branch(self, s: If) -> None:
        known = truth(self.of(s.test))
        arms = self._end(s.then), self._end(s.orelse)
        if known is None:
            known = self._counted(s, arms)
        self.merge([end for end, runs in zip(arms, (known is not False, known is not True), strict=True) if runs])
        if known is None and (runs := counted_answer(self.of(s.test))) is not None:
            for name, t in (arms[not runs] or {}).items():
                if str(name).startswith("%") and counted_answer(t) is not None:  # `a and b`
                    self._set(name, t)

    def _counted(self, s: If, arms: tuple[End, End]) -> bool | None:
        """The arm that known integers choose, where one type cannot be that of both, or the other is refused."""
        known = counted_answer(self.of(s.test))
        if known is None:
            return None
        taken, other = arms if known else arms[::-1]
        if any(map(refused, s.orelse if known else s.then)):
            return known
        if taken is None or other is None:
            return None
        for name in {**taken, **other}:
            alone, beside = taken.get(name, self.now.get(name)), other.get(name, self.now.get(name))
            joined = self._joined([alone, beside])
            if alone is not None and unlike(joined, alone):
                return known
        return None

    def merge(self, ends: Iterable[End]) -> None:
        """Go on where paths meet."""
        living = [end for end in ends if end is not None]
        if not living:
            self.dead = True
            return
        for name in dict.fromkeys(name for end in living for name in end):
            before = self.now.get(name)
            self._set(name, self._joined([end.get(name, before) for end in living]))

    def _joined(self, several: Iterable[Type | None]) -> Type:
        t: Type | None = None
        for other in several:
            if other is not None and other is not t:
                t = other if t is None else self.join(t, other)
        return t or NOTHING

    def loop(self, site: Hashable, write: Callable[[], Block], endless: bool) -> Block:
        """The body of a loop, written for what its trips may begin with."""
        head, lost, mixed, deeper = self.heads.setdefault(site, {}), set[Atom](), set[Atom](), set[Atom]()
        for name, t in head.items():
            self._set(name, self._joined([self.now.get(name), t]))
        for walk in range(MOST_WALKS):
            missed, self.missed = self.missed, set()
            self.loops.append(Open(len(self.frames)))
            try:
                block, end = self.fork(write)
            finally:
                opened = self.loops.pop()
            news = self._news([end, *opened.over], walk, lost, mixed)
            self.missed |= missed
            if not news:
                break
            head.update(news)
            deeper |= {n for n, t in news.items() if is_container(self.of(n)) and t == Unknown(CHANGING)}
            for name, t in news.items():
                self._set(name, t)
        never = endless and not opened.broken  # which ends
        self.merge([] if never else [{}, end, *opened.over, *opened.broken])
        self.trips_give = [end, *opened.over, *opened.broken]
        self.deeper = bool(deeper)
        self.lost, self.mixed = lost | deeper, mixed
        return block

    def arrays_behind_a_trip(self) -> list[Atom]:
        """What may be a number behind the loop that was written last only if it has made no trip."""
        living = [end for end in self.trips_give if end is not None]
        names = dict.fromkeys(name for end in living for name in end if may_be_number(self.now.get(name, NOTHING)))
        return [n for n in names if not may_be_number(self._joined([end.get(n, self.now.get(n)) for end in living]))]

    def _news(self, ends: list[End], walk: int, lost: set[Atom], mixed: set[Atom]) -> dict[Atom, Type]:
        """What a trip may begin with that was not thought of; ``lost`` gets what no type
        tells any more, ``mixed`` what none tells at the end of a trip.
        """
        news: dict[Atom, Type] = {}
        living = [end for end in ends if end is not None]
        for name in dict.fromkeys(name for end in living for name in end):
            before = self.now.get(name)
            if before is None and name not in self.missed:
                continue
            types = [before, *(end.get(name) for end in living)]
            after = self._joined(types)
            if parts := lost_parts(after):
                if parts.difference(*(lost_parts(t) for t in types if t is not None)):
                    lost.add(name)
                elif is_mixed(after) and (isinstance(before, (Tuple, Sequence)) or before == NONE):
                    mixed.add(name)
            if before is None or certain(after) != certain(before) or sites_of(after) != sites_of(before):
                # what gets shorter from trip to trip has no least length
                news[name] = self._apart(after, walk < 2) if walk < MOST_WALKS - 2 else Unknown(CHANGING)
        return news

    def trips(self, writes: Iterable[Callable[[], Block]]) -> list[Block]:
        """The trips of a loop that is written out, one after the other."""
        blocks: list[Block] = []
        opened = Open(len(self.frames))
        broken: list[End] = []
        for write in writes:
            self.loops.append(opened := Open(len(self.frames)))
            try:
                block, end = self.fork(write)
            finally:
                self.loops.pop()
            blocks.append(block)
            self.merge([end, *opened.over])
            broken += opened.broken
        if broken:
            self.dead = False
            self.merge([{}, *broken])
        return blocks

    @contextlib.contextmanager
    def call(self, out: str) -> Iterator[None]:
        """What is written in a call that is lowered into its caller; ``out`` is what it gives."""
        frame: dict[Atom, Type | None] = {}
        self.calls.append(Open(len(self.frames)))
        self.frames.append(frame)
        loops, self.loops, dead = self.loops, [*self.loops], self.dead
        try:
            yield
            end = None if self.dead else self._since(len(self.frames) - 1) | {"%out": Known(Const(None))}
        finally:
            self.loops = loops
            opened = self.calls.pop()
            self.frames.pop()
            for name, old in frame.items():
                self._restore(name, old)
            self.dead = dead
        ends = [e for e in (end, *opened.over) if e is not None]
        self.merge([{(out if name == "%out" else name): t for name, t in e.items()} for e in ends])
