"""Room for what a loop saves: how much that is, from how often the loops run.

    for i in range(n):                    saved = np.empty(2 * n * m)
        for j in range(m):        ->
            saved.append((r, u))

Where that is not known before the loop, room is made as it is needed.
"""

from __future__ import annotations

import builtins
import operator

import numpy as np

from tangentc.analysis.linear import ONE, Forms, plus
from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Block, Const, For, If, Op, Statement, While
from tangentc.core.types import Tuple
from tangentc.core.walk import all_defines, blocks, definitions
from tangentc.kernels.accesses import say
from tangentc.kernels.nests import Nests
from tangentc.kernels.saves import Stack
from tangentc.kernels.writing import INTEGER, Into, NotSaid

FIRST = 16  # entries, where it is not known how many there will be


class Uncounted(NotSaid):
    """How often a loop saves is not known before it."""


class Room:
    """Makes the array that a loop saves into."""

    def __init__(self, nests: Nests, body: Block):
        self.nests, self.body = nests, body
        self.forms = Forms(nests.types.of, definitions((*nests.head, *body)))
        self.inside = all_defines(body)

    def statements(self, stack: Stack) -> list[Statement]:
        """The statements that make room for all that is pushed.  Raises `Uncounted` if it is not known how much."""
        out: list[Statement] = []
        nests = self.nests
        with Into(nests, out):
            count = Const(FIRST) if nests.grows else self._counted(self.body, stack)
            assert count is not None
            sizes = (count, *map(nests.clipped, stack.lengths))
            shape: Atom = count
            if len(sizes) > 1:
                shape = nests.emit(ops.make_tuple, sizes, "%shape", Tuple((INTEGER,) * len(sizes)))
            dtype = getattr(nests.types.of(stack.array), "dtype", "")
            keywords = () if dtype == "float64" else (("dtype", Const(np.dtype(dtype).type)),)
            nests.add(Assign(stack.array, np.empty, (shape,), keywords, nests.span))
        return out

    def _counted(self, block: Block, stack: Stack) -> Atom | None:
        """How many values a block pushes at most, None if it pushes none."""
        number: Atom | None = None
        for s in block:
            part: Atom | None = None
            if isinstance(s, Assign) and s.target == stack.top:
                part = s.args[1]
            elif isinstance(s, While):
                if self._counted((*s.head, *s.body), stack) is not None:
                    raise Uncounted
            elif isinstance(s, For):
                inner = self._counted(s.body, stack)
                part = None if inner is None else self._times(self._trips(s), inner)
            elif isinstance(s, If):
                for b in blocks(s):
                    part = self._plus(part, self._counted(b, stack))
            number = self._plus(number, part)
        return number

    def _plus(self, a: Atom | None, b: Atom | None) -> Atom | None:
        if a is None or b is None:
            return b if a is None else a
        return self._written(operator.add, a, b)

    def _times(self, a: Atom, b: Atom) -> Atom:
        if Const(1) in (a, b):
            return b if a == Const(1) else a
        return self._written(operator.mul, a, b)

    def _written(self, op: Op, a: Atom, b: Atom) -> Atom:
        if isinstance(a, Const) and isinstance(b, Const):
            return Const(op(a.value, b.value))
        return self.nests.emit(op, (a, b), "%count", INTEGER)

    def _trips(self, s: For) -> Atom:
        """How many trips a loop has."""
        made = self.forms.definitions.get(s.iterable)  # type: ignore[arg-type]
        assert isinstance(made, Assign)
        first, last = (self.forms.form(a) for a in made.args[:2])
        step = made.args[2] if len(made.args) > 2 else Const(1)
        if first is None or last is None or step not in (Const(1), Const(-1)):
            raise Uncounted
        form = plus(last, first, -1) if step == Const(1) else plus(first, last, -1)
        form = self.nests.bounds.extremes(form)[1] or form  # no more than that in any trip of the loops around it
        if any((name := self.nests.said(k)) is None or name in self.inside for k in form if k != ONE):
            raise Uncounted
        n = say(form, self.nests.said, self._written)
        if isinstance(n, Const):
            return Const(max(n.value, 0))
        return self.nests.emit(builtins.max, (n, Const(0)), "%trips", INTEGER)
