"""Ranges: how many trips they have, and how they run backwards.

for i in reversed(range(1, n, 2)):              for trip in range(n // 2 - 1, -1, -1):
    ...                              ->             i = 1 + 2 * trip

for i in reversed(range(n - 1, -1, -1)):        for i in range(n):
    ...                              ->             ...
"""

from __future__ import annotations

import operator
from dataclasses import dataclass

from tangentc.analysis.linear import constant, plus
from tangentc.core.nodes import Assign, Atom, Const
from tangentc.kernels.extents import Extents
from tangentc.kernels.writing import INTEGER, NotSaid

Range = tuple[Atom, ...]  # the arguments of a range: first, end, and a step where there is one


@dataclass(frozen=True)
class Stride:
    """What the number of a trip says of the variable of a loop: where it begins, and how far each trip goes."""

    first: Atom
    step: int


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

    def variable(self, target: str, stride: Stride, trip: str) -> None:
        """Write what the variable of a loop is in a trip."""
        far: tuple[Atom, ...] = Const(abs(stride.step)), trip
        if stride.first == Const(0) and stride.step > 0:
            self.add(Assign(target, operator.mul, far, (), self.span))
        else:
            op = operator.add if stride.step > 0 else operator.sub
            args = stride.first, self.emit(operator.mul, far, "%index", INTEGER)
            self.add(Assign(target, op, args, (), self.span))
