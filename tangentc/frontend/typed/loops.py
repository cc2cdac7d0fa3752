"""Loops over what may be differentiated, by position, and over lists that grow.

for x, y in zip(xs, reversed(ys)): ...      for k in range(n): x = xs[k]; y = ys[n - 1 - k]; ..."""

from __future__ import annotations

import builtins
import functools
import operator
from dataclasses import replace
from typing import Any

from tangentc.analysis.parts import gives_keys
from tangentc.analysis.points import change_of
from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Carry, Const, For, Statement, Store, While
from tangentc.core.types import Array, Known, Sequence, Tuple, is_differentiable
from tangentc.core.walk import statements
from tangentc.errors import UnsafeMutation
from tangentc.frontend.typed.meaning import Part, is_dynamic_dict, plain

RUNS = (builtins.enumerate, builtins.zip, builtins.reversed)


class Loops(Part):
    """What loops mean."""

    def loop(self, s: For) -> tuple[Statement, ...]:
        """``for x, y in zip(xs, reversed(ys))`` over positions, if a derivative may flow through the items; over the
        keys that a dict has then, if it gets others later."""
        if gives_keys(self.types.of(s.iterable)) and self.gets_keys:
            keys = self.fresh("%keys")
            return Assign(keys, builtins.list, (s.iterable,), (), s.span), replace(s, iterable=keys)
        leaves: list[Atom] = []
        runs = self.leaves(s.iterable, leaves)
        if any(self.is_resized(a, s) for a in leaves if isinstance(a, str)):
            return self.growing_loop(s)
        if not runs or not any(is_differentiable(self.types.of(a)) for a in leaves):
            return (s,)
        head: list[Statement] = []
        lengths: dict[Atom, Atom] = {}
        for atom in dict.fromkeys(leaves):
            lengths[atom] = self.fresh("%length")
            head.append(Assign(lengths[atom], builtins.len, (atom,), (), s.span))  # type: ignore[arg-type]
        count: Atom = lengths[leaves[0]]
        if len(lengths) > 1:
            count = self.fresh("%length")
            head.append(Assign(count, builtins.min, tuple(lengths.values()), (), s.span))  # type: ignore[arg-type]
        trips = self.fresh("%trips")
        head.append(Assign(trips, builtins.range, (count,), (), s.span))
        index = self.fresh(f"%{plain(s.target).rstrip('_')}_index" if not s.target.startswith("%") else "%index")
        take: list[Statement] = []
        self.take(s.iterable, index, lengths, s.target, take, s)
        return (*head, replace(s, target=index, iterable=trips, body=(*take, *s.body)))

    @functools.cached_property
    def run_over(self) -> set[Any]:
        """What loops run over, and what `enumerate`, `zip` and `reversed` of that run over."""
        program = list(statements(self.function.body))
        found: set[Any] = {s.iterable for s in program if isinstance(s, For)}
        for s in reversed(program):
            if isinstance(s, Assign) and s.target in found and s.op in (*RUNS, ops.identity, ops.once):
                found.update(s.args)
        return found

    @functools.cached_property
    def gets_keys(self) -> bool:
        """Whether a dict of the program gets keys that are computed."""
        return any(
            isinstance(s, Store) and not isinstance(s.key, Const) and gives_keys(self.types.of(s.object))
            for s in statements(self.function.body)
        )

    def is_resized(self, items: str, s: For) -> bool:
        """Whether the body of a loop over a list makes it longer or shorter."""
        if not isinstance(self.types.of(items), Sequence):
            return False
        points = self.memory().points
        changes = [change for x in statements(s.body) if (change := change_of(x)) is not None]
        if isinstance(self.definitions.get(items), (For, While)):  # what a loop hands on is older than what it makes
            changes = [c for c in changes if points.places(c.container) != {c.container}]
        return any(c.resizes and not points.places(items).isdisjoint(points.places(c.container)) for c in changes)

    def growing_loop(self, s: For) -> tuple[Statement, ...]:
        """A loop over a list that its body makes longer or shorter, by position: the length is asked in each trip."""
        if self.made(s.iterable) is not None or is_dynamic_dict(self.types.of(s.iterable)):
            raise UnsafeMutation(
                f"a loop changes the length of what it runs over, {plain(s.iterable)}", s.span,
                why="how far it runs is only followed for a list itself", way_out="loop over a copy: list(...)",
            )  # fmt: skip
        index, after, length, test = (self.fresh(n) for n in ("%index", "%index", "%length", "%test"))
        head = (
            Assign(length, builtins.len, (s.iterable,), (), s.span),
            Assign(test, operator.lt, (index, length), (), s.span),
        )
        take = (
            Assign(after, operator.add, (index, Const(1)), (), s.span),
            Assign(s.target, operator.getitem, (s.iterable, index), (), s.span),
        )
        return (While(head, test, (*take, *s.body), (*s.carried, Carry(index, Const(0), after)), s.span),)

    def made(self, atom: Atom) -> Assign | None:
        """How an iterator is made, None if something is no iterator."""
        made = self.definitions.get(atom) if isinstance(atom, str) else None
        while isinstance(made, Assign) and made.op is ops.identity and isinstance(made.args[0], str):
            made = self.definitions.get(made.args[0])
        iterators = (builtins.enumerate, builtins.zip, builtins.reversed)
        return made if isinstance(made, Assign) and made.op in iterators else None

    def leaves(self, atom: Atom, out: list[Atom]) -> bool:
        """The sequences that an iterator runs over; False if there is something else."""
        made = self.made(atom)
        if made is not None:
            inner = made.args if made.op is builtins.zip else made.args[:1]
            return all(self.leaves(a, out) for a in inner)
        out.append(atom)
        t = self.types.of(atom)
        if isinstance(t, Known) and isinstance(t.value, (tuple, list, range, str)):
            return True
        return isinstance(t, (Array, Sequence, Tuple)) and not is_dynamic_dict(t)

    def length(self, atom: Atom, lengths: dict[Atom, Atom], out: list[Statement], s: For) -> Atom:
        """How many items an iterator gives."""
        leaves: list[Atom] = []
        self.leaves(atom, leaves)
        several = list(dict.fromkeys(lengths[a] for a in leaves))
        if len(several) == 1:
            return several[0]
        shortest = self.fresh("%length")
        out.append(Assign(shortest, builtins.min, tuple(several), (), s.span))
        return shortest

    def take(
        self, atom: Atom, position: Atom, lengths: dict[Atom, Atom], target: str, out: list[Statement], s: For
    ) -> None:
        """Write ``target`` = the item of an iterator at a position."""
        made = self.made(atom)
        if made is None:
            out.append(Assign(target, operator.getitem, (atom, position), (), s.span))
        elif made.op is builtins.reversed:
            last, back = self.fresh("%last"), self.fresh("%position")
            out.append(Assign(last, operator.sub, (self.length(made.args[0], lengths, out, s), Const(1)), (), s.span))
            out.append(Assign(back, operator.sub, (last, position), (), s.span))
            self.take(made.args[0], back, lengths, target, out, s)
        else:
            parts: list[Atom] = []
            if made.op is builtins.enumerate:
                start: Atom = made.args[1] if len(made.args) > 1 else dict(made.keywords).get("start", Const(0))
                counted = position
                if start != Const(0):
                    counted = self.fresh("%count")
                    out.append(Assign(counted, operator.add, (position, start), (), s.span))
                parts.append(counted)
            for inner in made.args if made.op is builtins.zip else made.args[:1]:
                item = self.fresh(f"%{plain(inner)}_item")
                self.take(inner, position, lengths, item, out, s)
                parts.append(item)
            out.append(Assign(target, ops.make_tuple, tuple(parts), (), s.span))
