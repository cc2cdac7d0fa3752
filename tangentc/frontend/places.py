"""Items of a slice of a list, or of an array, are items of the list.

    rest = weights[1:-1]                     rest = weights[1:-1]
    for k in range(len(rest)):      ->       for k in range(len(rest)):
        W = rest[k]                              W = weights[k + 1]

So that the list alone has an adjoint, which the loop adds to where the items are.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Iterator

from tangentc.analysis.program import Program
from tangentc.core.build import Builder
from tangentc.core.nodes import Assign, Atom, Const, For, Function, Statement
from tangentc.core.types import Array, Sequence, is_differentiable
from tangentc.core.walk import definitions, statements, transform, with_body


def in_their_lists(program: Program) -> Function:
    """The function in which loops over slices of lists take the items from the lists."""
    function = program.function
    if not any(isinstance(s, For) for s in statements(function.body)):
        return function
    places = _Places(program)
    return with_body(function, transform(function.body, lambda s: tuple(places.rewrite(s))))


class _Places:
    def __init__(self, program: Program):
        self.types, self.aliases = program.types, program.aliases
        self.made = definitions(program.function.body)
        self.b = Builder(program.types, [*program.types.of_name])

    def rewrite(self, s: Statement) -> Iterator[Statement]:
        if isinstance(s, Assign) and s.op is operator.getitem and is_differentiable(self.types.of(s.target)):
            xs, place = self.place(s.args[0], s.args[1], out := list[Statement](), s)
            yield from out
            s = s if xs == s.args[0] else Assign(s.target, s.op, (xs, place), s.keywords, s.span)
        yield s

    def place(self, xs: Atom, index: Atom, out: list[Statement], s: Assign) -> tuple[Atom, Atom]:
        """The list that an item of a slice of it is from, and its place there."""
        made = self.maker(xs)
        if made is None or made.op is not operator.getitem or not self.runs_along(index, xs):
            return xs, index
        whole, cut = made.args
        by_slice = isinstance(cut, Const) and isinstance(cut.value, slice)
        is_view = isinstance(self.types.of(whole), Array) and isinstance(self.types.of(xs), Array)
        if not by_slice or not (is_view or self.is_fixed(whole) and self.is_fixed(xs)):
            return xs, index
        start, step = cut.value.start or 0, cut.value.step or 1
        if not (type(start) is type(step) is int and start >= 0 and step > 0):
            return xs, index
        for op, number, plain in ((operator.mul, step, 1), (operator.add, start, 0)):
            if number != plain:
                index, before = self.b.fresh("%place"), index
                args = (Const(number), before) if op is operator.mul else (before, Const(number))
                out.append(Assign(index, op, args, (), s.span))
                self.types.of_name[index] = self.types.of(before)
        return whole, index

    def maker(self, atom: Atom) -> Assign | None:
        made = self.made.get(atom) if isinstance(atom, str) else None
        return made if isinstance(made, Assign) else None

    def is_fixed(self, xs: Atom) -> bool:
        """Whether something is a list that always has the same items."""
        t = self.types.of(xs)
        return (
            isinstance(xs, str)
            and isinstance(t, Sequence)
            and t.kind in (list, tuple)
            and not self.aliases.is_changed(xs)
        )

    def runs_along(self, index: Atom, xs: Atom) -> bool:
        """Whether an index is the place of an item in each trip of a loop over all of them, or over fewer."""
        loop = self.made.get(index) if isinstance(index, str) else None
        counted = self.maker(loop.iterable) if isinstance(loop, For) and loop.target == index else None
        if counted is None or counted.op is not builtins.range or len(counted.args) != 1:
            return False
        count = self.maker(counted.args[0])
        several = count.args if count is not None and count.op is builtins.min else counted.args
        return any((made := self.maker(n)) is not None and made.op is builtins.len and made.args[0] == xs
                   for n in several)  # fmt: skip
