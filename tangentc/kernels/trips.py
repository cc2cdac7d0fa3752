"""What is saved in each trip of loops that are counted, at a place of its own.

    for i in range(n):                          saved = np.empty((n, m))
        for j in range(m):                      for i in range(n):
            saved.append(e)            ->           for j in range(m):
                                                        saved[i, j] = e

The loops that take it run over the same trips, so that none depends on another one.
"""

from __future__ import annotations

import builtins
import contextlib
import operator
from collections.abc import Hashable, Iterator

import numpy as np

from tangentc.analysis.linear import ONE, Form, plus
from tangentc.core import ops
from tangentc.core.lengths import Dim, Length
from tangentc.core.nodes import Assign, Atom, Const, Effect, For
from tangentc.core.types import Tuple
from tangentc.core.walk import statements
from tangentc.kernels.accesses import say
from tangentc.kernels.saves import Stack
from tangentc.kernels.strides import Range, Strides, step_of
from tangentc.kernels.writing import INTEGER, Around, NotSaid


class Irregular(NotSaid):
    """A list that is not saved into once in each trip of counted loops, or not taken from so."""

    def __init__(self, name: str):
        super().__init__("what it saves has no place of its own in each trip")
        self.name = name


UNCOUNTED = Around("", Const(0), Const(0), False, False)  # a branch, or a loop that a test ends


class Trips(Strides):
    """The part that knows in which trip it writes."""

    @contextlib.contextmanager
    def within_loop(self, loop: Around) -> Iterator[None]:
        """Write inside of a loop."""
        self.around.append(loop)
        try:
            yield
        finally:
            self.around.pop()

    def has_saves(self, s: For) -> bool:
        """Whether a loop saves, or takes what was saved, at places of its trips."""
        return any(isinstance(x, Effect) and x.op is ops.push and self._has_places(x) for x in statements(s.body)) or (
            self.takes(s)
        )

    def takes(self, s: For) -> bool:
        return any(isinstance(x, Assign) and x.op is ops.pop and self._has_places(x) for x in statements(s.body))

    def _has_places(self, s: Assign | Effect) -> bool:
        return s.args[0] not in self.irregular

    def trip(self) -> str:
        """A name for the number of a trip."""
        name = self.fresh("trip")
        self.types.of_name[name] = INTEGER
        return name

    def around_of(self, s: For, forwards: Range, turned: bool, left: bool) -> Around:
        step = step_of(forwards)
        return Around(s.target, forwards[0], forwards[1], turned, not left and step in (1, -1), step or 0)

    def forms(self, turned: bool) -> tuple[Hashable, ...] | None:
        """How often the loops around run, so that those of other kernels can be compared; None for what is not
        counted."""
        found: list[Hashable] = []
        for a in self.around:
            ends = [self._without_names(self.value(x)) for x in (a.first, a.end)]
            if not a.counted or a.turned is not turned or None in ends:
                return None
            found += [*ends, a.step]
        return tuple(found) or None

    def most(self) -> list[Form] | None:
        """How many trips each loop around has at most, by what is known before all of them."""
        out = []
        for a in self.around:
            first, end = self.bounds.form(a.first), self.bounds.form(a.end)
            if first is None or end is None:
                return None
            most = self.at_most(plus(end, first, -1) if a.step > 0 else plus(first, end, -1))
            if most is None:
                return None
            out.append(most)
        return out

    def place_of_trip(self) -> tuple[Atom, ...]:
        """The place of this trip in what is saved."""
        return tuple(self._from_first(a) for a in self.around)

    def _from_first(self, a: Around) -> Atom:
        if a.step < 0:
            return self.emit(operator.sub, (a.first, a.target), "%place", INTEGER)
        if isinstance(a.first, Const):
            return self.plus(a.target, Const(-a.first.value))
        return self.emit(operator.sub, (a.target, a.first), "%place", INTEGER)

    def make_room(self, stack: Stack) -> None:
        """Room for what so many trips save."""
        sizes = list(map(self._at_most, stack.most))
        for n, extent in zip(stack.lengths, stack.extents):
            sizes.append(self.clipped(n) if extent is None else self._at_most(extent.most))
        shape = sizes[0]
        if len(sizes) > 1:
            shape = self.emit(ops.make_tuple, tuple(sizes), "%shape", Tuple((INTEGER,) * len(sizes)))
        t = self.types.of_name[stack.array]
        keywords = () if t.dtype == "float64" else (("dtype", Const(np.dtype(t.dtype).type)),)  # type: ignore[union-attr]
        self.add(Assign(stack.array, np.empty, (shape,), keywords, self.span))

    def _at_most(self, form: Form) -> Atom:
        """A number of entries that is known before the loop, not below zero."""
        n = say(form, self.said, lambda op, a, b: self.emit(op, (a, b), "%trips", INTEGER))
        if self.bounds.is_natural(form):
            return n
        return Const(max(n.value, 0)) if isinstance(n, Const) else self.at_least_none(n)

    def at_least_none(self, n: Atom) -> str:
        return self.emit(builtins.max, (n, Const(0)), "%trips", INTEGER)

    def trips_of(self, stack: Stack) -> tuple[Dim, ...]:
        """What is known of how many trips have a place in an array."""
        return tuple(
            max(form.get(ONE, 0), 0) if form.keys() <= {ONE} else Length(f"{stack.array} saved {k}")
            for k, form in enumerate(stack.most)
        )
