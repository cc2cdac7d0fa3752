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
from collections.abc import Hashable

from tangentc.analysis.linear import ONE, Form, plus
from tangentc.core.lengths import Length
from tangentc.core.nodes import Atom, Const, Op
from tangentc.core.types import Scalar
from tangentc.kernels.accesses import say
from tangentc.kernels.saves import Extent
from tangentc.kernels.sizes import COMPUTED, TESTS, Value
from tangentc.kernels.sums import Sums
from tangentc.kernels.writing import INTEGER, Into, NotSaid


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
        form = self.bounds.form(n)
        return None if form is None else self.at_most(form)

    def at_most(self, form: Form) -> Form | None:
        """An integer that is known before the loop, and that another one is no larger than where it is above zero."""
        if (sides := self.bounds.sides(form)) is not None:
            is_largest, forms = sides
            return self._one_of(builtins.max if is_largest else builtins.min, [self.at_most(f) for f in forms])
        most = self.bounds.extremes(form)[1]
        if most is not None and len(most) == 1 and most.keys() <= self.bounds.within:
            ((symbol, times),) = most.items()
            span, step = self.bounds.quotients[symbol]
            span = self.at_most(span)  # type: ignore[assignment]
            most = self.bounds.form(self.count_of(span, step)) if span is not None and times == 1 else None
        known = most is not None and all(map(self._is_known_before, most.keys() - {ONE}))
        return most if known else None

    def _one_of(self, op: Op, found: list[Form | None]) -> Form | None:
        """The largest of some integers, or the least of those that are known; any below zero are as good as zero."""
        forms = [f for f in found if f is not None]
        if op is builtins.max:
            forms = [f for f in forms if not self.bounds.is_natural(plus({}, f, -1))]
        if op is builtins.max and None in found:
            return None
        if len(forms) < 2:
            return forms[0] if forms else {} if op is builtins.max else None
        with Into(self, self.head):
            each = tuple(self.computed(frozenset(f.items())) for f in forms)
            name = self.emit(op, each, "%length", INTEGER)
        self.early.add(name)
        return {name: 1}

    def count_of(self, span: Form, step: int) -> Atom:
        """How many steps there are in so much; below zero where there are none."""
        if span.keys() <= {ONE}:
            return Const(max(span.get(ONE, 0) // step, 0))
        is_early = all(map(self._is_known_before, span.keys() - {ONE}))
        with Into(self, self.head if is_early else self.out):
            whole = say(span, self.said, lambda op, a, b: self.emit(op, (a, b), "%trips", INTEGER))
            count = self.emit(operator.floordiv, (whole, Const(step)), "%trips", INTEGER)
        self.bounds.quotients[count] = span, step
        (self.early if is_early else self.bounds.within).add(count)
        return count

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
        of = Scalar("bool") if symbol[0] in TESTS else INTEGER
        return self.emit(symbol[0], tuple(map(self.computed, symbol[1])), "%length", of)

    def axis_of(self, array: str, k: int, n: Atom, extent: Extent | None) -> int | Length:
        """What the type of an array says of an axis for a length."""
        if extent is not None:
            return Length(f"{array} saved row {k}")
        return self.dims.get(n, Length(f"{array} saved length {k}")) if isinstance(n, str) else n.value
