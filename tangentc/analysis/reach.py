"""Which names, and which parts of which containers, something reaches.

    t = (x, n)        what reaches x reaches the part 0 of t, and no other
    rows.append(t)    rows holds t, and is reached where t is
    a = rows[k][0]    is reached; rows[k][1] is not

A container is known by the places where it may have been made (`points`), and a part by its key there.
"""

from __future__ import annotations

import builtins
import operator
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, replace

from tangentc.analysis.aliases import Aliases
from tangentc.analysis.parts import gives_keys
from tangentc.analysis.points import (
    ANY,
    COPIES,
    DEEP_COPIES,
    GIVING,
    NONE,
    PUT_TOGETHER,
    SAME,
    SHIFTING,
    Change,
    change_of,
    made_of,
    place_of_key,
)
from tangentc.core import ops
from tangentc.core.build import Types
from tangentc.core.nodes import Assign, Atom, Effect, For, Op, Statement, Store
from tangentc.core.types import Array, Unknown, is_container, is_differentiable, is_slice
from tangentc.core.walk import parts_given

ALL = "**"  # every part of a container, and of those that it holds
EACH = "%each"  # the items of a container under the keys that they have there
MEMORY = "%memory of "


@dataclass(frozen=True)
class Put:
    """A value that becomes a part of a container; with ``items``, it is its items that do."""

    container: str
    key: Hashable
    atom: Atom
    items: bool = False


@dataclass(frozen=True)
class Step:
    """What a statement does to containers: what it puts into them, the name that it gives to a part, with the container
    and the key, the list of which it moves items to other places, the parts that it names, and whether this says all
    of how its result depends on its arguments."""

    puts: tuple[Put, ...]
    taken: tuple[str, str, Hashable] | None
    moved: Atom | None
    parts: tuple[tuple[tuple[Hashable, ...], Atom], ...]
    followed: bool


NOTHING = Step((), None, None, (), False)


class Containers:
    """The containers of a function, and what its statements put into them and take out of them."""

    def __init__(self, program: Iterable[Statement], types: Types, aliases: Aliases, is_zero: Callable[[Op], bool]):
        self.types, self.points = types, aliases.points
        assigns = [s for s in program if isinstance(s, Assign) and s.op in SAME]
        # what is stopped is the container that it is taken of, and nothing reaches it: parts cannot say that
        self.apart = any(is_zero(s.op) and is_container(types.of(s.target)) for s in assigns)
        changed = {str(change.container) for _, change in self.points.changes}
        self.apart |= any(aliases.root(name) in aliases.untraced for name in changed)
        steps = ((s, self._step(s)) for s in program if isinstance(s, (Assign, Effect, Store, For)))
        self.steps = {id(s): step for s, step in steps if step != NOTHING}

    def step(self, s: Statement) -> Step:
        return self.steps.get(id(s), NOTHING)

    def known(self, atom: Atom) -> bool:
        """Whether an atom is, or may be, a container whose parts are told apart."""
        if self.apart or not isinstance(atom, str):
            return False
        t = self.types.of_name.get(atom)
        return is_container(t) or isinstance(t, Unknown) and bool(self.points.of.get(atom))

    def linked(self, atom: Atom) -> bool:
        """Whether an atom is a container and nothing else, found by its places."""
        return self.known(atom) and bool(self.points.of.get(str(atom))) and is_container(self.types.of(atom))

    def places(self, atom: Atom) -> set[str]:
        """Where a container may have been made; one of the module is nobody else."""
        found = {p for p in self.points.of.get(str(atom), ()) if p != NONE and not p.startswith("%outside")}
        return found or {str(atom)}

    def held(self, places: Iterable[str], key: Hashable) -> set[str]:
        """Where the containers may have been made that these hold under a key."""
        parts = [self.points.held[p] for p in places if p in self.points.held]
        return {inner for held in parts for k in (held if key == ANY else (key, ANY)) for inner in held.get(k, ())}

    # ---------------------------------------------------------- what a statement does
    def _step(self, s: Assign | Effect | Store | For) -> Step:
        if isinstance(s, For):
            return replace(NOTHING, taken=self._taken(s))
        change = change_of(s)
        if change is not None and isinstance(self.types.of(change.container), Array):
            change = None
        moves = change is not None and (change.shifts or self._is_sliced(change)) and self.known(change.container)
        moved = change.container if change is not None and moves else None
        if not isinstance(s, Assign):
            return replace(NOTHING, puts=tuple(self._puts(s, change)), moved=moved)
        parts = tuple(parts_given(s))
        return Step(tuple(self._puts(s, change)), self._taken(s), moved, parts, self._is_followed(s))

    def _is_sliced(self, change: Change) -> bool:
        return change.key is not None and is_slice(self.types.of(change.key))

    def _puts(self, s: Statement, change: Change | None) -> Iterator[Put]:
        """What becomes part of which container."""
        if isinstance(s, Assign) and self.known(s.target):
            if s.op in PUT_TOGETHER:
                for key, atom in made_of(s):
                    yield Put(s.target, key, atom)
            elif self._copies(s):
                for atom in s.args[:1] if s.op is operator.getitem else s.args:
                    if not (s.op is not builtins.dict and gives_keys(self.types.of(atom))):
                        shifted = s.op in SHIFTING or not self.known(atom)
                        yield Put(s.target, ANY if shifted else EACH, atom, True)
        if change is not None and isinstance(change.container, str):
            sliced = self._is_sliced(change)
            for key, atom in change.puts:
                yield Put(change.container, ANY if sliced else place_of_key(key), atom, change.all_items or sliced)

    def _copies(self, s: Assign) -> bool:
        if s.op is operator.getitem:
            return is_container(self.types.of(s.args[0])) and is_slice(self.types.of(s.args[1]))
        return s.op in COPIES and s.op not in DEEP_COPIES and is_container(self.types.of(s.target))

    def _taken(self, s: Assign | For) -> tuple[str, str, Hashable] | None:
        """The name that a statement gives to a part of a container, the container and the key of the part."""
        if isinstance(s, For):
            keys = gives_keys(self.types.of(s.iterable))
            return (s.target, str(s.iterable), ANY) if self.known(s.iterable) and not keys else None
        if not s.args or not self.known(s.args[0]):
            return None
        container = str(s.args[0])
        if s.op in (builtins.getattr, ops.old_item) or s.op is operator.getitem and not self._copies(s):
            return s.target, container, self.points.key_in(s.args[0], s.args[1])
        if s.op in (ops.take, ops.pop) or s.op is ops.method and s.args[1] in GIVING:
            return s.target, container, ANY
        return None

    def _is_followed(self, s: Assign) -> bool:
        """Whether what a statement puts and takes says all of how its result depends on its arguments."""
        if not self.known(s.target) or isinstance(self.types.of(s.target), Unknown):
            return False
        same = s.op in SAME or s.op is ops.select or isinstance(s.op, ops.augmented)
        return s.op in PUT_TOGETHER or self._copies(s) or same and self.linked(s.target)


class Reach:
    """What is reached: names, the memory of arrays that change, and parts of containers."""

    def __init__(self, containers: Containers, aliases: Aliases):
        self.containers, self.aliases, self.types = containers, aliases, containers.types
        self.names: set[str] = set()
        self.parts: dict[str, set[Hashable]] = defaultdict(set)
        self.holding: set[str] = set()  # the places of which some part is reached, and of all that holds them
        self.size = 0

    def add(self, atom: Atom) -> None:
        """Reach all that an atom stands for."""
        if not isinstance(atom, str) or atom not in self.types.of_name or not is_differentiable(self.types.of(atom)):
            return
        if self.containers.known(atom):
            self.add_part(atom, ALL)
        if not is_container(self.types.of(atom)) or not self.containers.known(atom):
            self._note(atom)
            if self.aliases.is_changed(atom):
                self._note(MEMORY + self.aliases.root(atom))

    def _note(self, name: str) -> None:
        self.size += name not in self.names
        self.names.add(name)

    def add_part(self, container: str, key: Hashable) -> None:
        """Reach one part of a container."""
        if not self.containers.known(container):
            self.add(container)
        elif is_differentiable(self.types.of(container)):
            for place in self.containers.places(container):
                self._mark(place, key)
            if (root := self.aliases.root(container)) in self.aliases.changed:  # by arrays that are changed themselves
                self._note(MEMORY + root)

    def _mark(self, place: str, key: Hashable) -> None:
        if key in self.parts[place]:
            return
        self.parts[place].add(key)
        self.size += 1
        if place not in self.holding:
            self.holding |= self.containers.points.holding({place})
        if key == ALL:
            for held in list(self.containers.points.held.get(place, {}).values()):
                for inner in held:
                    self._mark(inner, ALL)

    def __contains__(self, atom: object) -> bool:
        """Whether some of what an atom stands for is reached."""
        return isinstance(atom, str) and (
            self.has_name(atom)
            or self.containers.known(atom)
            and is_differentiable(self.types.of(atom))
            and not self.containers.places(atom).isdisjoint(self.holding)
        )

    def has_name(self, atom: str) -> bool:
        return atom in self.names or self.aliases.is_changed(atom) and MEMORY + self.aliases.root(atom) in self.names

    def has_part(self, container: str, key: Hashable) -> bool:
        """Whether a part of a container, that is none itself, is reached."""
        if self.has_name(container) or not self.containers.known(container):
            return container in self
        return any(self.has_key(place, key) for place in self.containers.places(container))

    def has_key(self, place: str, key: Hashable) -> bool:
        keys = self.parts.get(place)
        return bool(keys) and (key == ANY or not keys.isdisjoint((key, ANY, ALL)))

    # ---------------------------------------------------------- parts of parts
    def add_path(self, name: Atom, path: tuple[Hashable, ...]) -> None:
        """Reach what lies in a container under a key, in what lies there under another, and so on."""
        if not path or not isinstance(name, str) or not self.containers.known(name):
            self.add(name)
            return
        places = self.containers.places(name)
        for k, key in enumerate(path):
            inner = self.containers.held(places, key)
            if not inner or k == len(path) - 1:
                for place in places:
                    self._mark(place, key)
            places = inner
        for place in places:
            self._mark(place, ALL)

    def has_path(self, name: str, path: tuple[Hashable, ...]) -> bool:
        """Whether some of what lies there is reached."""
        if not path or self.has_name(name) or not self.containers.known(name):
            return name in self
        places = self.containers.places(name)
        for key in path:
            if any(not self.parts[p].isdisjoint((key, ANY, ALL)) for p in places if p in self.parts):
                return True
            places = self.containers.held(places, key)
        return not places.isdisjoint(self.holding)

    # ---------------------------------------------------------- through containers
    def forward(self, s: Statement) -> None:
        """From what a statement puts into containers, and from these to what it takes out."""
        step = self.containers.step(s)
        self._shift(step.moved)
        for put in step.puts:
            if put.atom not in self or self.containers.linked(put.atom) and not put.items:
                continue
            if put.items and self.containers.known(put.atom):
                self._hand_on(put.atom, put.container, put.key)
            else:
                self.add_part(put.container, ANY if put.key == EACH else put.key)
        if step.taken is not None:
            name, container, key = step.taken
            if not self.containers.linked(name) and (
                container in self if is_container(self.types.of(name)) else self.has_part(container, key)
            ):
                self.add(name)

    def backward(self, s: Statement) -> None:
        """From what is taken out of containers, and from these to what was put into them."""
        step = self.containers.step(s)
        self._shift(step.moved)
        if step.taken is not None:
            name, container, key = step.taken
            if name in self and not self.containers.linked(name):
                if is_container(self.types.of(name)):
                    self.add(container)
                else:
                    self.add_part(container, key)
        for path, atom in step.parts:
            if self.has_path(s.target, path):
                self.add(atom)
        for put in step.puts:
            if put.items and self.containers.known(put.atom):
                self._hand_on(put.container, put.atom, put.key)
            elif put.container in self and not (self.containers.linked(put.atom) and not put.items):
                if self.has_part(put.container, ANY if put.key == EACH else put.key):
                    self.add(put.atom)

    def _hand_on(self, giver: Atom, taker: Atom, key: Hashable) -> None:
        """Reach the items of one container that are reached in another."""
        if self.has_name(str(giver)):
            self.add_part(str(taker), ANY)
        for place in self.containers.places(giver):
            for k in list(self.parts.get(place, ())):
                self.add_part(str(taker), k if key == EACH or k == ALL else ANY)

    def _shift(self, moved: Atom | None) -> None:
        """Items that come to stand in other places of a list."""
        for place in () if moved is None else self.containers.places(moved):
            if any(isinstance(k, int) for k in self.parts.get(place, ())):
                self._mark(place, ANY)

    def meets(self, other: Reach) -> set[str]:
        """The places of which a part is reached here and there, and of all that holds them."""
        wild = {ANY, ALL}
        both = [p for p, keys in self.parts.items() if (o := other.parts.get(p)) and (keys & (o | wild) or o & wild)]
        return self.containers.points.holding(both)
