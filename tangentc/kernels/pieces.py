"""Arrays that are made of others, in another way than entry by entry.

t = np.outer(a, b)                  for i in range(n):
                          ->            for j in range(m):
                                            t[i, j] = a[i] * b[j]
"""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np

from tangentc.core.nodes import Assign, Atom, Const, Op
from tangentc.kernels.stacks import Stacks
from tangentc.kernels.writing import Axis, NotSaid, View


class Pieces(Stacks):
    """The part that puts arrays together."""

    def outer(self, s: Assign) -> None:
        """The products of each entry of one row with each of another."""
        if s.keywords or len(s.args) != 2 or not all(self.is_array(a) and self._rank(a) == 1 for a in s.args):
            raise NotSaid("outer")
        lengths = tuple(self.view(a).axes[0].length for a in s.args)
        rows = tuple((n,) for n in lengths)

        def value(at: tuple, _: tuple) -> str:
            pair = tuple(self.entry(a, (k,), n) for a, k, n in zip(s.args, at, rows))
            return self.emit(operator.mul, pair)

        self.fill(s.target, lengths, value)

    def joined(self, s: Assign) -> None:
        """Arrays one behind the other, along one axis."""
        named = dict(s.keywords) | dict(zip(("axis",), s.args[1:]))
        items, axis = self.parts.get(str(s.args[0])), named.pop("axis", Const(0))
        t = self.types.of(s.target)
        alike = [a for a in items or () if self.is_array(a) and self.types.of(a).dtype == t.dtype]  # type: ignore
        if named or not items or len(alike) != len(items) or not isinstance(axis, Const) or type(axis.value) is not int:
            raise NotSaid("concatenate")
        views = [self.view(a) for a in alike]
        along = axis.value % len(views[0].axes)
        at_first: list[Atom] = [Const(0)]
        for view in views:
            behind = self.plus(at_first[-1], self.clipped(view.axes[along].length))
            at_first.append(self.named(self.bounds.form(behind)) or behind)
        lengths = tuple(at_first[-1] if k == along else a.length for k, a in enumerate(views[0].axes))
        if not all(
            self.same(a.length, n) for v in views for k, (a, n) in enumerate(zip(v.axes, lengths)) if k != along
        ):
            raise NotSaid("arrays whose lengths may not be the same")
        self._allocate(s.target, lengths, np.empty)
        for a, view, first in zip(alike, views, at_first):
            self._copy(a, view, s.target, along, first)

    def _copy(self, a: Atom, view: View, target: str, along: int, first: Atom) -> None:
        """Write one array into another from some place on."""
        own = tuple(x.length for x in view.axes)
        whole = self.view(target)
        axes = tuple(
            Axis(x.of, first if k == along else Const(0), 1, n) for k, (x, n) in enumerate(zip(whole.axes, own))
        )
        part = View(target, axes)
        self.nest(own, lambda at: self._store(part, at, self.entry(a, at, own), None))

    def _rank(self, a: object) -> int:
        return len(self.view(a).axes)  # type: ignore[arg-type]


PIECES: dict[Op, Callable[[Pieces, Assign], None]] = {np.outer: Pieces.outer, np.concatenate: Pieces.joined}
