"""Making the adjoint of a region legal: what it reads of the region is saved or recomputed.

for _ in range(n):                      for _ in range(n):
    x = r * x * (1 - x)                     x_saved.append(x)
for _ in range(n):              ->          x = r * x * (1 - x)
    r_bar += x_bar * x * (1 - x)        for _ in range(n):
                                            x = x_saved.pop()
                                            r_bar += x_bar * x * (1 - x)
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from tangentc.analysis.aliases import Aliases
from tangentc.analysis.recording import choose, is_cheap, price_of_saving
from tangentc.core import ops
from tangentc.core.build import Builder, is_sure
from tangentc.core.naming import shown
from tangentc.core.nodes import NOWHERE, Assign, Atom, Block, Effect, If, Leave, Statement, Store, version_base
from tangentc.core.types import Array, Scalar
from tangentc.core.walk import (
    all_reads,
    asks_for_form,
    blocks,
    changed_by,
    defines,
    reads,
    statements,
    substitute_block,
    transform,
)

SIZES = (np.size, np.shape)


class Entry(NamedTuple):
    """A number that a region puts, as it is, into one entry of an array, and the name of what was there before."""

    array: str
    key: Atom
    value: str
    old: str


@dataclass
class Region:
    """One boundary: the primal statements, their adjoint, and what enters the primal ones."""

    builder: Builder
    aliases: Aliases
    primal: Block
    adjoint: Block
    inputs: list[str]
    extra: tuple[Atom, ...] = ()  # what is read after the adjoint

    def plan_with_entries(self) -> tuple[list[str], list[str]]:
        """The same for a trip of a loop: what it puts into an array may be read there, in place of being saved."""
        best = self.plan()
        for entry in self._entries():
            before, other = self.adjoint, self._with_read(entry)
            if other is None:
                continue
            least = self.price + self._reads_itself(entry, best[1])
            self.adjoint = other
            found = self.plan()
            if self.price < least:
                best = found
            else:
                self.adjoint = before
                best = self.plan()
        return best

    def plan(self) -> tuple[list[str], list[str]]:
        """The values to save and the values to recompute, in the order of the program."""
        self.made: dict[str, Assign | None] = dict.fromkeys(self.inputs)
        self.order: dict[str, int] = {}
        self.stores: dict[str, list[int]] = {}  # where the primal statements store into each array
        self._collect(self.primal)
        self.adjoint = self._asking_what_is_needed()
        self._positions()
        asked = functools.cache(self._asked)
        needed = self._needed(asked)
        saved, self.price = choose(
            needed, self.made, self._may_recompute, asked, self._price, self.builder.types, self.builder.prices
        )
        saved |= {n for n in self.puts_back if n in self.made}
        recomputed: set[str] = set()
        stack = [n for n in needed if n not in saved]
        while stack:
            name = stack.pop()
            if name in recomputed or name in saved or name not in self.made:
                continue
            recomputed.add(name)
            made = self.made[name]
            assert made is not None
            stack.extend(a for a in made.atoms if isinstance(a, str))
        place = {name: k - len(self.inputs) for k, name in enumerate(self.inputs)} | self.order
        return sorted(saved, key=place.__getitem__), sorted(recomputed, key=place.__getitem__)

    def _needed(self, asked: Callable[[str], Iterable[str]]) -> set[str]:
        """What the adjoint reads of the region, and what that asks for; not what only puts an array back."""
        found, whole = set(self.extra), set(self.extra)
        for s in statements(self.adjoint):
            puts_back = isinstance(s, Store) and s.value in self.puts_back
            found.update(n for n in reads(s) if not puts_back or n != s.value)
            whole.update(n for n in reads(s) if not puts_back or n not in (s.value, s.object))
        found |= {n for name in whole if name in self.made for n in asked(name)}  # type: ignore[arg-type]
        return {n for n in found if isinstance(n, str) and n in self.made}

    def _asking_what_is_needed(self) -> Block:
        """The adjoint with sizes and shapes asked of values that it needs anyway: ``x.size`` keeps no array alive."""
        types, all_of_it = self.builder.types, [*statements(self.adjoint)]
        asking = [s for s in all_of_it if isinstance(s, Assign) and s.op in SIZES and s.args[0] in self.made]
        if not asking:
            return self.adjoint
        top = [*self.inputs, *(n for s in self.primal for n in defines(s))]
        others = {n for s in all_of_it if not (isinstance(s, Assign) and s.op in SIZES) for n in reads(s)}
        instead: dict[int, Assign] = {}
        for s in asking:
            t = types.of(s.args[0])
            if isinstance(t, Array) and s.args[0] not in others and is_sure(t.shape):
                same = (n for n in top if n in others and getattr(types.of(n), "shape", None) == t.shape)
                outside = self.builder.shapes.get(t.shape, s.args[0])
                instead[id(s)] = replace(s, args=(next(same, outside), *s.args[1:]))
        return transform(self.adjoint, lambda s: (instead.get(id(s), s),))

    def _asked(self, name: str) -> list[str]:
        """What has to be put back before a value is read, or computed again, out of an array that changes."""
        made = self.made[name]
        if isinstance(made, Assign) and asks_for_form(made, self.builder.types.of):  # which is what it was
            return []
        held = {name, *(a for a in made.atoms if isinstance(a, str))} if made is not None else {name}
        roots = {self.aliases.root(n) for n in held if n in self.aliases.types.of_name}
        return sorted({n for r in roots for n in self.put_back.get(r, ())} - {name})

    def _price(self, name: str) -> float:
        is_overwritten = name in self.puts_back
        return price_of_saving(name, self.made[name], self.builder.types, is_overwritten, self.builder.prices)

    # ---------------------------------------------------------- what an array holds anyway
    def _entries(self) -> list[Entry]:
        found: list[Entry] = []
        old: dict[tuple[Atom, ...], str] = {}
        for s in self.primal:
            if isinstance(s, Assign) and self._is_saved(s.target):
                old[s.args] = s.target
            elif isinstance(s, Store) and s.op is None and s.key is not None and (s.object, s.key) in old:
                if isinstance(s.value, str) and self._is_entry(s.object, s.key, s.value):
                    found.append(Entry(s.object, s.key, s.value, old[s.object, s.key]))
        return found

    def _is_entry(self, array: str, key: Atom, value: str) -> bool:
        """Whether one entry of an array holds a number of the region as it is."""
        types = self.builder.types
        if not isinstance(types.of(array), Array) or not isinstance(self.made.get(value), Assign):
            return False
        there, put = types.result(operator.getitem, (array, key)), types.of(value)
        return isinstance(there, Scalar) and isinstance(put, Scalar) and there.dtype == put.dtype

    def _with_read(self, e: Entry) -> Block | None:
        """The adjoint that reads what was stored out of the array, before what was there is put back; None if it needs
        it earlier, or not at all."""
        places = (k for k, s in enumerate(self.adjoint) if isinstance(s, Store) and s.value == e.old)
        k = next(places, None)
        if k is None or e.value in all_reads(self.adjoint[:k]) or e.value not in all_reads(self.adjoint[k:]):
            return None
        again = self._renamed(e.value)
        self.builder.types.of_name[again] = self.builder.types.of(e.value)
        read = Assign(again, operator.getitem, (e.array, e.key), (), self.adjoint[k].span.within("recalled"))
        return (*self.adjoint[:k], read, *substitute_block(self.adjoint[k:], {e.value: again}))

    def _reads_itself(self, e: Entry, recomputed: list[str]) -> bool:
        """Whether what is stored would be computed again from what the array held before."""
        stack: list[Atom] = [e.value]
        while stack:
            made = self.made.get(name) if isinstance(name := stack.pop(), str) and name in recomputed else None
            if made is not None and made.op is operator.getitem and isinstance(made.args[0], str):
                if self.aliases.root(made.args[0]) == self.aliases.root(e.array):
                    return True
            stack += made.atoms if made is not None else ()
        return False

    def _is_saved(self, name: str) -> bool:
        return name in self.order and version_base(name).endswith("_saved")

    def _collect(self, block: Block) -> None:
        for s in block:
            if (changed := changed_by(s)) is not None:
                self.stores.setdefault(self.aliases.root(changed), []).append(len(self.order))
            if isinstance(s, Assign):
                self.made[s.target] = s
                self.order[s.target] = len(self.order)
            elif not isinstance(s, (Store, Effect)):
                for name in defines(s):
                    self.made[name] = None
                    self.order[name] = len(self.order)
            if isinstance(s, If):
                for inner in blocks(s):
                    self._collect(inner)

    # ---------------------------------------------------------- reads of arrays that change
    def _positions(self) -> None:
        """Where each array that changes is stored into, in the primal statements and in the adjoint."""
        self.restores: dict[str, list[tuple[int, int]]] = {}
        self.put_back: dict[str, list[str]] = {}  # what puts back each array that changes
        self.opaque_stores: set[str] = set()
        self.first_read: dict[str, int] = {}
        self.last_read: dict[str, int] = {}
        after = Effect(ops.push, self.extra)
        for k, s in enumerate((*statements(self.adjoint), after)):
            for name in (a for a in reads(s) if isinstance(a, str)):
                self.first_read.setdefault(name, k)
                self.last_read[name] = k
            if isinstance(s, Store) and isinstance(s.value, str) and self._is_saved(s.value):
                if self.made[s.value] is not None:
                    root = self.aliases.root(s.object) if s.object in self.aliases.types.of_name else s.object
                    self.restores.setdefault(root, []).append((self.order[s.value], k))
                    self.put_back.setdefault(root, []).append(s.value)
        for name in sorted(self.order, key=self.order.__getitem__, reverse=True):
            made = self.made[name]  # if it is recomputed, what it is made from is read at its first read
            if (
                isinstance(made, Assign)
                and name in self.first_read
                and is_cheap(made, self.builder.types, self.builder.prices)
            ):
                at = self.first_read[name]
                for atom in (a for a in made.atoms if isinstance(a, str)):
                    self.first_read[atom] = min(at, self.first_read.get(atom, at))
                    self.last_read[atom] = max(at, self.last_read.get(atom, at))
        self.puts_back = {n for names in self.put_back.values() for n in names}
        for s in self.primal:
            if not isinstance(s, (Store, Assign, Effect)):
                for inner in statements((s,)):
                    if (changed := changed_by(inner)) is not None:
                        self.opaque_stores.add(self.aliases.root(changed))

    def _may_recompute(self, name: str) -> bool:
        return self._obstacle(name) is None

    def _obstacle(self, name: str) -> str | None:
        """Why a value cannot be computed again in the adjoint, None if it can."""
        made = self.made[name]
        if made is None:
            return "each trip has another one" if name in self.inputs else "which branch, or trip, gave it is not known"
        if name.endswith("_saved") or version_base(name).endswith("_saved"):
            return "it is overwritten"
        if not ops.is_pure(made.op):
            return "computing it again might have an effect, or give something else"
        if not is_cheap(made, self.builder.types, self.builder.prices):
            return "computing it again costs more"
        if name in self.builder.pinned:
            return "the adjoint adds to this very object"
        if any(isinstance(a, str) and self.aliases.points.is_changed(a) for a in made.atoms):
            return "the container that it comes from changes"
        if self.aliases.points.is_changed(name):
            return "it is changed later"
        if self.aliases.is_changed(name) and (not self.aliases.shares(made) or self.aliases.may_copy(made)):
            return "it is changed later"  # an array of its own, it may be
        if asks_for_form(made, self.builder.types.of):  # which stores leave as it is
            return None
        for atom in made.atoms:
            if not isinstance(atom, str) or not self.aliases.is_changed(atom):
                continue
            if atom in self.aliases.shares(made):  # a view: it is read where it is used
                continue
            if not self._in_step(name, self.aliases.root(atom)):
                return f"{shown(atom)}, which it is computed from, is overwritten"
        return None

    def _note_reasons(self, saved: dict[str, str], recomputed: dict[str, str]) -> None:
        """Note why each value is saved, under the name of what it is saved in, or recomputed."""
        reasons = self.builder.types.reasons
        for name, kept in saved.items():
            reasons[kept] = f"saved: {self._obstacle(name) or 'it costs less than what it is computed from'}"
        for name, new in recomputed.items():
            made = self.made[name]
            assert made is not None
            view = any(a in self.aliases.shares(made) for a in made.atoms)
            reasons[new] = "recomputed: " + ("a view" if view else "it costs less than to save it")

    def _in_step(self, name: str, root: str) -> bool:
        """Whether at every read of ``name`` in the adjoint the array holds what it held when it was made."""
        if root in self.opaque_stores:
            return False
        first, last = self.first_read.get(name), self.last_read.get(name)
        here = self.order[name]
        undone = sum(1 for position, _ in self.restores.get(root, ()) if position > here)
        if undone < sum(1 for position in self.stores.get(root, ()) if position > here):
            return False  # a later store is not undone
        for position, restored in self.restores.get(root, ()):
            if first is None or last is None:  # read by another recomputed value only
                return not self.restores.get(root)
            if position > self.order[name] and restored >= first:  # a restore may itself need the name, as its key
                return False
            if position < self.order[name] and restored < last:
                return False
        return True

    # ---------------------------------------------------------- loops: lists
    def link_loop(self, lists: list[str]) -> tuple[Block, Block, list[tuple[str, str]], dict[str, str]]:
        """Both blocks with what is saved pushed and popped; also (list, popped name) of each value that every
        trip saves, and what the values are called in the adjoint.  New lists are appended to ``lists``."""
        saved, recomputed = self.plan_with_entries()
        names: dict[str, str] = {}
        kept: dict[str, str] = {}
        for name in saved:
            base = version_base(name).lstrip("%")
            kept[name] = self.builder.fresh(base if base.endswith("_saved") else f"{base}_saved")
            lists.append(kept[name])
            names[name] = self._renamed(f"%{base[:-6]}_old" if base.endswith("_saved") else name)
        for name in recomputed:
            names[name] = self._renamed(name)
        for name, new in names.items():
            self.builder.types.of_name[new] = self.builder.types.of(name)
        self._note_reasons(kept, {n: names[n] for n in recomputed})
        primal = self._push(self.primal, kept, self.inputs)
        adjoint = self._pop(self.primal, self.adjoint, kept, recomputed, names, self.inputs)
        direct = {*self.inputs, *(n for s in self.primal for n in defines(s))}
        every_trip = [(kept[n], names[n]) for n in saved if n in direct]
        return primal, adjoint, every_trip, names

    def _renamed(self, name: str) -> str:
        return self.builder.fresh(name)

    def _push(self, block: Block, kept: dict[str, str], inputs: list[str]) -> Block:
        out: list[Statement] = [Effect(ops.push, (kept[n], n)) for n in inputs if n in kept]
        for s in block:
            if isinstance(s, If):
                s = replace(s, then=self._push(s.then, kept, []), orelse=self._push(s.orelse, kept, []))
                if any(isinstance(x, Leave) for x in statements((s,))):  # what follows would not be reached
                    then = _before_leave(
                        s.then, [Effect(ops.push, (kept[m.name], m.then)) for m in s.merged if m.name in kept]
                    )
                    orelse = _before_leave(
                        s.orelse, [Effect(ops.push, (kept[m.name], m.orelse)) for m in s.merged if m.name in kept]
                    )
                    out.append(replace(s, then=then, orelse=orelse))
                    continue
            out.append(s)
            out.extend(Effect(ops.push, (kept[n], n), (), s.span) for n in defines(s) if n in kept)
        return tuple(out)

    def _pop(
        self, primal: Block, adjoint: Block, kept: dict[str, str], recomputed: list[str], names: dict[str, str],
        inputs: list[str],
    ) -> Block:  # fmt: skip
        """The adjoint of one block: pops first, then each recomputed value before what reads it."""
        branches = {s.tag: s for s in primal if isinstance(s, If) and s.tag}
        here = {*inputs, *(n for s in primal for n in defines(s))}
        out: list[Statement] = []
        for name in [n for n in kept if n in here][::-1]:
            made = self.made[name]
            span = NOWHERE.within("recalled") if made is None else made.span.within("recalled")
            out.append(Assign(names[name], ops.pop, (kept[name],), (), span))
        waiting = [n for n in recomputed if n in here]
        for s in adjoint:
            if isinstance(s, If) and s.tag in branches:
                mirror = branches[s.tag]
                s = replace(
                    s,
                    then=self._pop(mirror.then, s.then, kept, recomputed, names, []),
                    orelse=self._pop(mirror.orelse, s.orelse, kept, recomputed, names, []),
                )
            if waiting:
                wanted = self._wanted(s, set(waiting), names)
                for name in [n for n in waiting if n in wanted]:
                    made = self.made[name]
                    assert made is not None
                    again = replace(made, target=names[name], span=made.span.within("recalled"))
                    copy = substitute_block((again,), names)
                    out.extend(copy)
                waiting = [n for n in waiting if n not in wanted]
            out.append(s)
        if waiting and primal is self.primal:  # what is only read after the adjoint
            wanted = self._wanted(Effect(ops.push, self.extra), set(waiting), names)
            out += [replace(self.made[n], target=names[n]) for n in waiting if n in wanted]  # type: ignore[type-var,misc]
        return substitute_block(tuple(out), {n: names[n] for n in here if n in names})

    def _wanted(self, s: Statement, waiting: set[str], names: dict[str, str]) -> set[str]:
        """The recomputed values that a statement reads, itself or through one another."""
        back = {new: old for old, new in names.items()}
        stack = [back.get(n, n) for n in all_reads((s,))]
        wanted: set[str] = set()
        while stack:
            name = stack.pop()
            if name in waiting and name not in wanted:
                wanted.add(name)
                made = self.made[name]
                assert made is not None
                stack.extend(a for a in made.atoms if isinstance(a, str))
        return wanted

    # ---------------------------------------------------------- pairs: a tuple
    def link_pair(self) -> tuple[list[str], Block]:
        """What the primal returns for the adjoint, and the adjoint with the rest recomputed in it."""
        saved, recomputed = self.plan()
        same: dict[str, str] = {n: n for n in recomputed}
        self._note_reasons({n: n for n in saved}, same)
        adjoint = self._pop(self.primal, self.adjoint, {}, recomputed, same, self.inputs)
        return saved, adjoint


def _before_leave(block: Block, pushes: list[Statement]) -> Block:
    """The block with pushes at its end, in front of each way out of the loop."""
    last = block[-1] if block else None
    if isinstance(last, Leave):
        return (*block[:-1], *pushes, last)
    if isinstance(last, If) and any(isinstance(x, Leave) for x in statements((last,))):
        then = {m.name: m.then for m in last.merged}
        orelse = {m.name: m.orelse for m in last.merged}
        arms = [_before_leave(b, list(substitute_block(tuple(pushes), values))) for b, values in
                ((last.then, then), (last.orelse, orelse))]  # fmt: skip
        return (*block[:-1], replace(last, then=arms[0], orelse=arms[1]))
    return (*block, *pushes)
