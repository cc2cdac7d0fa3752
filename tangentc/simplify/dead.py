"""Removing what nothing needs.

    def f_grad(x):                     def f_grad(x):
        y = np.sin(x)            ->        return np.cos(x)
        return np.cos(x)

A statement stays if the result needs it, or if it has an effect.  A store into an array stays if
something that stays may read the array afterwards: later in the text, or around a common loop.  So the
restoring of an array that no partial reads goes, and with it what was saved for it.
"""

from __future__ import annotations

import builtins
import itertools
import operator
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from tangentc.analysis.aliases import Aliases
from tangentc.analysis.outside import is_outside
from tangentc.analysis.regions import Region, Regions
from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Block, Effect, For, Function, If, Leave, Opaque, Statement, Store, While
from tangentc.core.types import Array, Scalar, is_container
from tangentc.core.walk import asks_for_form, blocks, defines, reads, rebuilt, with_body
from tangentc.ops.table import every

SHAPE_ONLY = every("asks_form")
PUTS = (None, *ops.CHANGES)
MOST_APART = 64  # stores into one array that are told apart by the entries that they change
TAKES = (operator.getitem, builtins.getattr, ops.old_item)


def _changed(s: Statement) -> Any:
    return s.object if isinstance(s, Store) else s.args[0]  # type: ignore[union-attr]


def dead(function: Function, types: Any, aliases: Aliases) -> Function:
    """The function without what its result does not need."""
    return with_body(function, rebuilt(function.body, remove_dead(function.body, [function.result], types, aliases)))


def remove_dead(block: Block, results: Iterable[Atom], types: Any, aliases: Aliases | None) -> Block:
    """A block without what ``results`` do not need.  Without ``aliases`` every store stays."""
    return _Liveness(block, types, aliases).sweep(results)


class _Liveness:
    def __init__(self, block: Block, types: Any, aliases: Aliases | None):
        self.block, self.types, self.aliases = block, types, aliases
        self.position: dict[int, int] = {}
        self.enclosing: dict[int, tuple[Statement, ...]] = {}
        self.loops: dict[int, tuple[int, ...]] = {}
        self.definition: dict[str, Statement] = {}
        self.stores: dict[str, list[Statement]] = defaultdict(list)
        self.pushes: dict[str, list[Effect]] = defaultdict(list)
        self.live: set[int] = set()
        self.live_names: set[str] = set()
        self.last_read: dict[str, int] = {}
        self.read_loops: dict[str, set[int]] = defaultdict(set)
        self.stores_in: dict[tuple[str, int], list[Statement]] = defaultdict(list)  # by the loops around them
        self.kept: dict[str, int] = defaultdict(int)  # how many of the stores, from the first on
        self.inside: dict[str, tuple[int, ...]] | None = None  # the loops that make some memory anew
        self.mixed: dict[str, bool] = {}  # whether a class has stores into containers
        self.regions = Regions(types, self.definition, self.loops)
        self.work: list[tuple[str, Any]] = []
        self._index(block, (), ())

    def _index(self, block: Block, enclosing: tuple[Statement, ...], loops: tuple[int, ...]) -> None:
        for s in block:
            key = id(s)
            self.position[key] = len(self.position)
            self.enclosing[key], self.loops[key] = enclosing, loops
            for name in defines(s):
                self.definition[name] = s
            if isinstance(s, Effect) and s.op is ops.push:
                self.pushes[s.args[0]].append(s)  # type: ignore[index]
            elif self.aliases is not None and (isinstance(s, Store) or _adds(s) or _changes_container(s)):
                root = self.aliases.root(_changed(s))
                self.stores[root].append(s)
                for loop in loops:
                    self.stores_in[root, loop].append(s)
            inner = (*loops, key) if isinstance(s, (For, While)) else loops
            for b in blocks(s):
                self._index(b, (*enclosing, s), inner)

    # ---------------------------------------------------------- marking
    def sweep(self, results: Iterable[Atom]) -> Block:
        for atom in results:
            self._need(atom)
            if isinstance(atom, str):
                self._read_content(atom, len(self.position) + 1, ())
        self._mark_roots(self.block)
        while self.work:
            kind, item = self.work.pop()
            (self._on_name if kind == "name" else self._on_statement)(item)
        return self._kept(self.block)

    def _mark_roots(self, block: Block) -> None:
        for s in block:
            if self._has_effect(s):
                self._keep(s)
            for b in blocks(s):
                self._mark_roots(b)

    def _has_effect(self, s: Statement) -> bool:
        match s:
            case Assign():
                if s.op is ops.take:
                    return self.aliases is None or is_outside(s.args[0], self.definition)
                of_text = s.op is ops.method and isinstance(getattr(s.args[0], "value", None), str)
                return not ops.is_pure(s.op) and s.op not in (ops.pop, ops.new_list) and not of_text
            case Effect():
                if s.op is ops.push:
                    return False
                if self.aliases is None or not (s.op == np.add.at or _changes_container(s)):
                    return True
                return is_outside(s.args[0], self.definition)
            case Store():
                return self.aliases is None or is_outside(s.object, self.definition)
            case Opaque():
                return not s.writes
        return False

    def _need(self, atom: Atom) -> None:
        if isinstance(atom, str) and atom not in self.live_names:
            self.live_names.add(atom)
            self.work.append(("name", atom))

    def _keep(self, s: Statement) -> None:
        if id(s) not in self.live:
            self.live.add(id(s))
            self.work.append(("statement", s))

    def _on_name(self, name: str) -> None:
        for push in self.pushes.get(name, ()):
            self._keep(push)
        s = self.definition.get(name)
        if s is None:
            return
        self._keep(s)
        match s:
            case If():
                for m in s.merged:
                    if m.name == name:
                        self._need(m.then)
                        self._need(m.orelse)
            case For() | While():
                for c in s.carried:
                    if c.name == name:
                        self._need(c.init)
                        self._need(c.next)

    def _on_statement(self, s: Statement) -> None:
        for outer in self.enclosing[id(s)]:
            self._keep(outer)
        position, loops = self.position[id(s)], self.loops[id(s)]
        match s:
            case If():
                self._need(s.test)
            case For():
                self._need(s.iterable)
                if isinstance(s.iterable, str):
                    self._read_content(s.iterable, position, loops)
                self._keep_leaves(s.body)
            case While():
                self._need(s.test)
                self._keep_leaves(s.body)
            case Effect() if s.op is ops.push:
                self._need(s.args[1])
                self._need(s.args[0])
            case Leave():
                pass
            case _:
                for atom in reads(s):
                    self._need(atom)
                if not asks_for_form(s, self.types.of):
                    if _changes_container(s):
                        self._read_content(s.args[0], position, loops)  # type: ignore[union-attr,arg-type]
                    for atom in reads(s)[1:] if _asks_shape_of_first(s, self.types) else reads(s):
                        if isinstance(atom, str) and self._is_item_of(s, atom):  # what it holds there
                            self._read_content(atom, position, loops, True, True)
                        elif isinstance(atom, str) and self._is_view_of(s, atom):
                            if is_container(self.types.of_name.get(atom)):  # which array it holds there
                                self._read_content(atom, position, loops, True)
                        elif isinstance(atom, str):
                            if not (isinstance(s, Store) and atom == s.object and s.op is None):
                                self._read_entries(atom, s, position, loops)

    def _keep_leaves(self, block: Block) -> None:
        for s in block:
            if isinstance(s, Leave):
                self._keep(s)
            if isinstance(s, If):
                for b in blocks(s):
                    self._keep_leaves(b)

    def _is_view_of(self, s: Statement, atom: str) -> bool:
        if not isinstance(s, Assign) or self.aliases is None or self.aliases.call_aliases(s.op) is not None:
            return False  # what a function gives is made of what it reads
        return atom in self.aliases.shares(s)

    def _is_item_of(self, s: Statement, atom: str) -> bool:
        """Whether a statement takes a part of a container."""
        takes = isinstance(s, Assign) and s.op in TAKES and atom == s.args[0] and atom not in s.args[1:]
        return takes and is_container(self.types.of_name.get(atom))

    def _read_content(
        self, name: str, position: int, loops: tuple[int, ...], items: bool = False, direct: bool = False
    ) -> None:
        """Something that stays reads the array ``name`` at this position: keep the stores it may see; of a
        container whose items are taken, those that put items there, with ``direct`` into itself."""
        if self.aliases is None or name not in self.types.of_name:
            return
        memory = self.aliases.root(name)
        if memory not in self.stores:
            return
        root = memory + "[]" * items + (f" {direct} {name}" if self._of_containers(memory) else "")
        new = [loop for loop in loops[self._anew(memory) :] if loop not in self.read_loops[root]]
        if position <= self.last_read.get(root, -1) and not new:
            return
        self.last_read[root] = max(position, self.last_read.get(root, -1))
        self.read_loops[root].update(new)
        seen = [store for loop in new for store in self.stores_in[memory, loop]]
        stores, k = self.stores[memory], self.kept[root]
        while k < len(stores) and self.position[id(stores[k])] < self.last_read[root]:
            seen.append(stores[k])
            k += 1
        self.kept[root] = k
        for store in seen:
            of_array = items and isinstance(self.types.of_name.get(_changed(store)), Array)
            if not of_array and self._sees(name, store, direct):
                self._keep(store)

    def _read_entries(self, name: str, s: Statement, position: int, loops: tuple[int, ...]) -> None:
        """A statement reads some entries of an array, or all: keep the stores into them."""
        memory = self.aliases.root(name) if self.aliases is not None and name in self.types.of_name else ""
        stores = self.stores.get(memory, ())
        read = self._entries(s, name) if 0 < len(stores) <= MOST_APART else None
        if read is None:
            self._read_content(name, position, loops)
            return
        made = self._anew(memory) + 1 if stores else 0
        for store in stores:
            at, before = self.loops[id(store)], self.position[id(store)] < position
            if id(store) not in self.live and (before or len(at) >= made and at[:made] == loops[:made]):
                written = self._entries(store, _changed(store))
                apart = written is not None and self.regions.apart(written, at, read, loops, before)
                if not apart and self._sees(name, store, False):
                    self._keep(store)

    def _anew(self, memory: str) -> int:
        """In how many loops, from the outermost on, some memory is another one in each trip."""
        if self.inside is None and self.aliases is not None:
            self.inside, parent = {}, self.aliases.parent
            for name in {*parent, *parent.values()}:
                root, own = self.aliases.root(name), self._loops_around(name)
                both = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(self.inside.get(root, own), own))
                self.inside[root] = tuple(loop for loop, _ in both)
        found = self.inside.get(memory) if self.inside is not None else None
        return len(self._loops_around(memory) if found is None else found)

    def _loops_around(self, name: str) -> tuple[int, ...]:
        made = self.definition.get(name)
        return self.loops[id(made)] if made is not None else ()

    def _entries(self, s: Statement, name: str) -> Region | None:
        """The entries that a statement takes of an array, to read them or to change them; None for what is none."""
        if not isinstance(self.types.of_name.get(name), Array):
            return None
        match s:
            case Assign(op=operator.getitem, args=(str() as base, key)) if base == name != key:
                return self.regions.at(name, key)
            case Store() if s.object == name and name not in (s.key, s.value):
                return self.regions.at(name, s.key)
            case Effect() if _adds(s) and s.args[0] == name and name not in s.args[1:]:
                return self.regions.at(name, s.args[1])
        return self.regions.of(name)

    def _of_containers(self, memory: str) -> bool:
        """Whether some of what is stored in a class of memory is put into containers, which all are known by places."""
        if memory not in self.mixed and self.aliases is not None:
            put = any(is_container(self.types.of_name.get(_changed(s))) for s in self.stores[memory])
            self.mixed[memory] = put and memory not in self.aliases.untraced
        return self.mixed[memory]

    def _sees(self, name: str, store: Statement, direct: bool) -> bool:
        """Whether what is read under a name may be what was put into a container."""
        changed = _changed(store)
        assert self.aliases is not None
        into_container = is_container(self.types.of_name.get(changed)) and getattr(store, "op", None) in PUTS
        if not into_container or not self._of_containers(self.aliases.root(changed)):
            return True
        if isinstance(self.types.of_name.get(name), (Array, Scalar)):
            return False
        points = self.aliases.points
        put, read = points.places(changed), points.places(name)
        return not put or not read or not put.isdisjoint(read if direct else points.within(read))

    # ---------------------------------------------------------- sweeping
    def _kept(self, block: Block) -> Block:
        out: list[Statement] = []
        for s in block:
            if id(s) not in self.live:
                continue
            match s:
                case If():
                    merged = tuple(m for m in s.merged if m.name in self.live_names)
                    s = replace(s, then=self._kept(s.then), orelse=self._kept(s.orelse), merged=merged)
                case For():
                    carried = tuple(c for c in s.carried if c.name in self.live_names)
                    s = replace(s, body=self._kept(s.body), carried=carried)
                case While():
                    carried = tuple(c for c in s.carried if c.name in self.live_names)
                    s = replace(s, head=self._kept(s.head), body=self._kept(s.body), carried=carried)
            out.append(s)
        return tuple(out)


def _asks_shape_of_first(s: Statement, types: Any) -> bool:
    if not (isinstance(s, Assign) and s.op in SHAPE_ONLY):
        return False
    t = types.of(s.args[0])
    return not is_container(t) and (s.op is not builtins.len or isinstance(t, Array))


def _adds(s: Statement) -> bool:
    return isinstance(s, Effect) and s.op == np.add.at and isinstance(s.args[0], str)


def _changes_container(s: Statement) -> bool:
    return isinstance(s, (Assign, Effect)) and s.op in ops.CHANGES and isinstance(s.args[0], str)
