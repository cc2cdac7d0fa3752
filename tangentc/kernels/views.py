"""Subscripts: parts of arrays as what they are parts of, from where on.

    u[1:-1]                     u, from 1 on, n - 2 entries
    A[i, :i]                    row i of A, from 0 on, i entries

A subscript of the user's has to name an entry: that is known by the ranges of loops, asked before them, or each time.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Hashable

from tangentc.analysis.linear import ONE, constant, plus
from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Const
from tangentc.core.types import Scalar
from tangentc.kernels.accesses import say
from tangentc.kernels.entries import Entries
from tangentc.kernels.language import is_array, is_number
from tangentc.kernels.writing import INTEGER, Axis, Into, NotSaid, View


class Views(Entries):
    """The part that knows subscripts."""

    def part(self, view: View, key: Atom) -> View:
        """The part of a view that a subscript names."""
        keys = self._keys(key)
        taken = sum(k not in (Const(None), Const(...)) for k in keys)
        if Const(...) in keys:
            at = keys.index(Const(...))
            whole = (Const(slice(None)),) * (len(view.axes) - taken)
            keys = (*keys[:at], *whole, *keys[at + 1 :])
        axes: list[Axis] = []
        fixed = dict(view.fixed)
        left = list(view.axes)
        for k in keys:
            if k == Const(None):
                axes.append(Axis(None, Const(0), 1, Const(1)))
                continue
            axis = left.pop(0)
            if isinstance(k, Const) and isinstance(k.value, slice):
                axes.append(self._sliced(axis, k.value))
            elif k in self.slices:
                axes.append(self._between(axis, self.slices[k]))  # type: ignore[index]
            elif is_number(self.types.of(k)) and self.types.of(k).dtype == "int64":  # type: ignore[union-attr]
                from_start = self.plus(axis.length, k) if isinstance(k, Const) and k.value < 0 else k
                if self._is_within(from_start, axis.length):
                    k = from_start
                elif self._is_whole(view.array, axis):  # where Numba looks each time, and counts from the end itself
                    self.is_checked = True
                else:
                    raise NotSaid("a subscript of a part of an array, that may be none of its entries")
                if axis.of is not None:
                    fixed[axis.of] = self._at(axis, k)
            else:
                raise NotSaid("this subscript")
        return View(view.array, (*axes, *left), tuple(fixed.items()))

    def _keys(self, key: Atom) -> tuple[Atom, ...]:
        if isinstance(key, str) and key in self.parts:
            return self.parts[key]
        if isinstance(key, Const) and isinstance(key.value, tuple):
            return tuple(map(Const, key.value))
        return (key,)

    def _is_within(self, k: Atom, length: Atom) -> bool:
        """Whether a subscript of the user's names an entry, by what is known of loops, or by a test before them."""
        form, n = self.bounds.form(k), self.bounds.form(length)
        low, high = (None, None) if form is None else self.bounds.extremes(form)
        if low is None or high is None or n is None:
            return False
        open_ = [f for f in (low, plus(plus(n, high, -1), constant(-1))) if not self.bounds.is_natural(f)]
        for least in open_:
            known = all(map(self._is_known_before, least.keys() - {ONE}))
            if not self.outright or least.keys() <= {ONE} or not known:
                return False
        for least in open_:
            if (key := frozenset(least.items())) in self.within:
                continue
            self.within.add(key)
            with Into(self, self.head):
                number = say(least, self.said, lambda op, a, b: self.emit(op, (a, b), "%least", INTEGER))
                test = self.emit(operator.lt, (number, Const(0)), "%test", Scalar("bool"))
                self.fail_if(test, IndexError, "index out of bounds")
        return True

    def _is_whole(self, array: str, axis: Axis) -> bool:
        """Whether an axis of a view is one of an array that the kernel is given, from its beginning to its end."""
        if array not in self.params or axis.of is None or axis.start != Const(0) or axis.step != 1:
            return False
        return self.canonical(self.length(array, axis.of)) == self.canonical(axis.length)

    def _is_known_before(self, symbol: Hashable) -> bool:
        """Whether what a form speaks of is known before the loop."""
        return (
            symbol in self.params or symbol in self.early if isinstance(symbol, str) else self.said(symbol) is not None
        )

    def _sliced(self, axis: Axis, cut: slice) -> Axis:
        if cut.step == -1 and cut.start is None and cut.stop is None:
            last = self.plus(axis.length, Const(-1))
            return Axis(axis.of, self._at(axis, last), -axis.step, axis.length)
        if cut.step not in (None, 1):
            raise NotSaid("a slice with steps")
        start, stop = cut.start or 0, cut.stop
        if start == 0 and stop is None:
            return axis
        first = Const(start) if start >= 0 else self._longer(axis.length, start)
        if stop is None:
            length = Const(-start) if start < 0 else self._longer(axis.length, -start)
        elif (stop < 0) != (start < 0):
            if start < 0:
                raise NotSaid("a slice from the end to the beginning")
            length = self._longer(axis.length, stop - start)
        else:
            length = Const(max(stop - start, 0))
        if isinstance(length, Const) and not isinstance(axis.length, Const):
            raise NotSaid("a slice of as many entries as a number says")
        return Axis(axis.of, self._at(axis, first), axis.step, length)

    def _between(self, axis: Axis, ends: tuple[Atom, ...]) -> Axis:
        """The part of an axis between two places that are computed, clipped as Python clips them."""
        start, stop, step = (Const(None), *ends, Const(None))[:3] if len(ends) == 1 else (*ends, Const(None))[:3]
        if step not in (Const(None), Const(1)):
            raise NotSaid("a slice with steps")
        if isinstance(start, Const) and isinstance(stop, Const):
            return self._sliced(axis, slice(start.value, stop.value))
        first = Const(0) if start == Const(None) else self._end(start, axis.length)
        last = axis.length if stop == Const(None) else self._end(stop, axis.length)
        forms = self.bounds.form(last), self.bounds.form(first)
        known = None if None in forms else self.named(plus(*forms, -1))  # type: ignore[arg-type]
        length = known or (self.plus(last, first, operator.sub) if first != Const(0) else last)
        if not self.bounds.is_natural(self.bounds.form(length)):
            length = self.emit(builtins.max, (length, Const(0)), "%length", INTEGER)
        return Axis(axis.of, self._at(axis, first), axis.step, length)

    def _end(self, k: Atom, length: Atom) -> Atom:
        """Where a slice begins or ends, on an axis of some length."""
        self._number(k)
        bounds, n = self.bounds, self.bounds.form(length)
        form = bounds.form(k)
        if not bounds.is_natural(form):
            if isinstance(k, Const):
                return self._clipped_end(self.plus(length, k))
            before = self.emit(operator.lt, (k, Const(0)), "%test", Scalar("bool"))
            from_end = self.emit(operator.add, (k, length), "%index", INTEGER)
            k = self._clipped_end(self.emit(ops.select, (before, from_end, k), "%index", INTEGER))
        if form is None or n is None or not bounds.is_natural(plus(n, form, -1)):
            k = self.emit(builtins.min, (k, length), "%index", INTEGER)
        return k

    def _clipped_end(self, k: Atom) -> Atom:
        return self.emit(builtins.max, (k, Const(0)), "%index", INTEGER)

    def subscript(self, s: Assign) -> None:
        array, key = s.args
        part = self.part(self.view(array), key)
        if part.axes:
            if is_array(self.types.of(s.target)):
                self.views[s.target] = part
                return
            raise NotSaid("this subscript")
        self.add(self._read(s.target, part, ()))

    def _is_basic(self, key: Atom) -> bool:
        return all(
            isinstance(k, Const)
            or k in self.slices
            or is_number(self.types.of(k))
            and self.types.of(k).dtype == "int64"  # type: ignore
            for k in self._keys(key)
        )
