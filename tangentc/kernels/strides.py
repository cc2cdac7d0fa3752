"""Ranges: how many trips they have, and how they run backwards.

for i in reversed(range(1, n, 2)):              for trip in range(n // 2 - 1, -1, -1):
    ...                              ->             i = 1 + 2 * trip

for i in reversed(range(n - 1, -1, -1)):        for i in range(n):
    ...                              ->             ...
"""

from __future__ import annotations

import builtins
import itertools
import operator
from dataclasses import dataclass

from tangentc.analysis.linear import constant, plus
from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Const
from tangentc.kernels.extents import Extents
from tangentc.kernels.writing import INTEGER, NotSaid

Range = tuple[Atom, ...]  # the arguments of a range: first, end, and a step where there is one
Numbers = tuple[float, ...]


@dataclass(frozen=True)
class Stride:
    """What the number of a trip says of the variable of a loop: where it begins, and how far each trip goes."""

    first: Atom
    step: int


@dataclass(frozen=True)
class Listed:
    """What the variable of a loop is, trip by trip."""

    items: Numbers


def range_of(items: Numbers) -> tuple[Range, Listed | None]:
    """The range that runs over some numbers; where there is none, that of their places, and the numbers."""
    apart = {b - a for a, b in itertools.pairwise(items)} or {1}
    if set(map(type, items)) == {int} and len(apart) == 1 and 0 not in apart:
        step = Const(int(apart.pop()))
        return (Const(items[0]), Const(items[-1] + step.value), step), None
    return (Const(0), Const(len(items))), Listed(items)


def numbers(atom: Atom) -> Numbers | None:
    """The numbers of a constant tuple, if they are all integers, or all floating-point numbers."""
    value = atom.value if isinstance(atom, Const) else None
    return value if type(value) is tuple and value and {*map(type, value)} in ({int}, {float}) else None


def step_of(trips: Range) -> int | None:
    """The step of a range, None where it is not known."""
    step = trips[2] if len(trips) == 3 else Const(1)
    return step.value if isinstance(step, Const) and step.value else None


class Strides(Extents):
    """The part that knows ranges."""

    def backwards_of(self, trips: Range) -> Range:
        """The range that runs over the same integers backwards, of steps of one."""
        if step_of(trips) == -1:
            return self.plus(trips[1], Const(1)), self.plus(trips[0], Const(1))
        if step_of(trips) != 1:
            raise NotSaid("a range with steps, backwards")
        first = self.plus(trips[1], Const(-1))
        return first, self.plus(trips[0], Const(-1)), Const(-1)

    def numbered(self, trips: Range) -> tuple[Range, Stride | None]:
        """The numbers of trips in the place of what they run over, if that has steps that are known."""
        step = step_of(trips)
        forms = [self.bounds.form(a) for a in trips[:2]]
        if step in (None, 1, -1) or None in forms:
            return trips, None
        first, end = forms if step > 0 else forms[::-1]  # type: ignore[operator]
        span = plus(plus(end, first, -1), constant(abs(step) - 1))  # type: ignore[arg-type]
        return (Const(0), self.count_of(span, abs(step))), Stride(trips[0], step)  # type: ignore[arg-type]

    def variable(self, target: str, of: Stride | Listed, trip: str) -> None:
        """Write what the variable of a loop is in a trip."""
        if isinstance(of, Listed):
            self.add(Assign(target, operator.getitem, (Const(of.items), trip), (), self.span))
            if isinstance(of.items[0], int):
                self.bounds.of[target] = constant(int(min(of.items))), constant(int(max(of.items)))
            return
        far: tuple[Atom, ...] = Const(abs(of.step)), trip
        if of.first == Const(0) and of.step > 0:
            self.add(Assign(target, operator.mul, far, (), self.span))
        else:
            op = operator.add if of.step > 0 else operator.sub
            args = of.first, self.emit(operator.mul, far, "%index", INTEGER)
            self.add(Assign(target, op, args, (), self.span))

    def constants(self, s: Assign) -> bool:
        """Whether a statement has to do with numbers that are known; what it gives is noted."""
        given = s.args[0] if s.args else None
        items = given.value if isinstance(given, Const) and type(given.value) is tuple else None
        if items is not None and s.op is operator.getitem and type(getattr(s.args[1], "value", None)) is int:
            item = items[s.args[1].value]  # type: ignore[union-attr]
            if type(item) is tuple:
                self.parts[s.target] = tuple(map(Const, item))
            else:
                self._number(Const(item))
                self.add(Assign(s.target, ops.identity, (Const(item),), (), s.span))
            return True
        found = self.listed.get(given, numbers(given)) if given is not None else None
        if found is None or s.op not in (builtins.list, builtins.tuple, builtins.reversed) or given in self.turned:
            return False
        self.listed[s.target] = found
        if s.op is builtins.reversed:
            self.turned.add(s.target)
        return True
