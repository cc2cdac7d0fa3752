"""Lengths that are others in each trip: how long they are at most, and how another kernel says them.

    for k in range(n):                          saved = np.empty((n, n - 1))
        row = A[k + 1 :, k].copy()              for k in range(n):
        saved.append(row)              ->           for i in range(n - k - 1):
                                                        saved[k, i] = A[k + i + 1, k]

What is saved has room for the longest.  The adjoint computes the length of a trip as the function did.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Hashable, Iterator

from tangentc.analysis.linear import ONE, Form, plus
from tangentc.core import ops
from tangentc.core.lengths import Length
from tangentc.core.nodes import Assign, Atom, Const
from tangentc.core.types import Scalar
from tangentc.kernels.accesses import say
from tangentc.kernels.saves import Extent
from tangentc.kernels.sizes import COMPUTED, Value
from tangentc.kernels.sums import Sums
from tangentc.kernels.writing import INTEGER, NotSaid


class Extents(Sums):
    """The part that knows lengths of a trip."""

    def extent(self, n: Atom) -> Extent | None:
        """A length as one that other trips, and other kernels, can speak of; None for one that types speak of."""
        if isinstance(n, Const) or n in self.dims:
            return None
        most, value = self.greatest(n), self._without_names(self.value(n))
        if most is None or value is None:
            raise NotSaid("an array is saved that may have any length")
        return Extent(most, value)

    def greatest(self, n: Atom) -> Form | None:
        """The largest that a length may be over all trips, by what is known before them; it may come out below zero."""
        made = self.made.get(str(n))
        if isinstance(made, Assign) and made.op is builtins.max and Const(0) in made.args:
            n = next((a for a in made.args if a != Const(0)), n)
        form = self.bounds.form(n)
        for upper in self._upper(form) if form is not None else ():
            most = self.bounds.extremes(upper)[1]
            if most is not None and all(map(self._is_known_before, most.keys() - {ONE})):
                return most
        return None

    def _upper(self, form: Form, deep: int = 4) -> Iterator[Form]:
        """Integers that are no smaller, without the least or the largest of two in it."""
        found = ((k, made) for k in form if isinstance(made := self.made.get(str(k)), Assign))
        side = next(((k, m) for k, m in found if m.op is (builtins.min if form[k] > 0 else builtins.max)), None)
        if side is None or not deep:
            yield form
            return
        symbol, made = side
        rest = {k: n for k, n in form.items() if k != symbol}
        for a in made.args:
            if (other := self.bounds.form(a)) is not None:
                yield from self._upper(plus(rest, other, form[symbol]), deep - 1)

    def _without_names(self, value: Value | None) -> Value | None:
        """A value with the numbers of the loops around for their variables; None where it speaks of other names that
        are not known before them."""
        trips: dict[Hashable, Hashable] = {a.target: ("trip", k) for k, a in enumerate(self.around)}
        out: list[tuple[Hashable, int]] = []
        for symbol, times in value or ():
            if isinstance(symbol, tuple) and symbol[0] in COMPUTED:
                given = tuple(map(self._without_names, symbol[1]))
                if None in given:
                    return None
                symbol = symbol[0], given
            symbol = trips.get(symbol, symbol)
            if isinstance(symbol, str) and symbol != ONE and not self._is_known_before(symbol):
                return None
            out.append((symbol, times))
        return None if value is None else frozenset(out)

    def computed(self, value: Value) -> Atom:
        """The name of a value, computed here."""
        terms = dict(sorted(value, key=lambda term: (term[1] < 0, isinstance(term[0], str), str(term[0]))))
        if any(self._said_here(symbol) is None for symbol in terms if symbol != ONE):
            raise NotSaid("a length that is not known here")
        return say(terms, self._said_here, lambda op, a, b: self.emit(op, (a, b), "%length", INTEGER))

    def _said_here(self, symbol: Hashable) -> Atom | None:
        if not isinstance(symbol, tuple):
            return symbol if self._is_known_before(symbol) else None  # type: ignore[return-value]
        if symbol[0] == "trip":
            return self.around[symbol[1]].target
        if symbol[0] not in COMPUTED:
            return self.said(symbol)
        of = Scalar("bool") if symbol[0] is operator.lt else INTEGER
        return self.emit(symbol[0], tuple(map(self.computed, symbol[1])), "%length", of)

    def axis_of(self, array: str, k: int, n: Atom, extent: Extent | None) -> int | Length:
        """What the type of an array says of an axis for a length."""
        if extent is not None:
            return Length(f"{array} saved row {k}")
        return self.dims.get(n, Length(f"{array} saved length {k}")) if isinstance(n, str) else n.value
