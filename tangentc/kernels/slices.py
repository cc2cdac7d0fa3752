"""Slices, as which part of an axis they take, in what steps.

u[1:-1]                     from 1 on, n - 2 entries
u[:3]                       3 entries, where the kernel has asked that n is no less
u[1::2]                     from 1 on, every second one: n // 2 entries
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Hashable

from tangentc.analysis.linear import ONE, plus
from tangentc.core import ops
from tangentc.core.lengths import Length
from tangentc.core.nodes import Atom, Const
from tangentc.core.types import Scalar
from tangentc.kernels.accesses import say
from tangentc.kernels.entries import Entries
from tangentc.kernels.writing import INTEGER, Axis, Into, NotSaid


class Slices(Entries):
    """The part that knows slices."""

    def sliced(self, axis: Axis, cut: slice) -> Axis:
        """The part of an axis that a slice takes whose ends are known."""
        step = 1 if cut.step is None else cut.step
        if step == 1 and not cut.start and cut.stop is None:
            return axis
        if isinstance(axis.length, Const):
            taken = range(axis.length.value)[cut]
            return self._from(axis, Const(taken.start), step, Const(len(taken)))
        if cut == slice(None, None, -1):
            return self._from(axis, self.plus(axis.length, Const(-1)), -1, axis.length)
        if step < 1:
            raise NotSaid("a slice with steps backwards")
        start, stop = cut.start or 0, cut.stop
        length: Atom
        if start >= 0 and (stop is None or stop < 0):  # all but so many
            length = self._longer(axis.length, (stop or 0) - start)
        elif stop is not None and (stop < 0) != (start < 0):
            raise NotSaid("a slice from the end to the beginning")
        else:
            length = self._so_many(axis, start, 0 if stop is None else stop)
        first = Const(start) if start >= 0 else self._longer(axis.length, start)
        return self._from(axis, first, step, length if step == 1 else self._in_steps(length, step))

    def _from(self, axis: Axis, first: Atom, step: int, length: Atom) -> Axis:
        return Axis(axis.of, self._at(axis, first), axis.step * step, length)

    def _so_many(self, axis: Axis, start: int, stop: int) -> Atom:
        """How many entries there are from one place to another, which are counted from the same end."""
        count = max(stop - start, 0)
        if not count or self._has(axis.length, -start if start < 0 else stop):
            return Const(count)
        if start < 0:
            raise NotSaid("a slice of an array whose length is not known before the loop")
        length = self.plus(self._end(Const(stop), axis.length), Const(-start))
        return self.emit(builtins.max, (length, Const(0)), "%length", INTEGER) if start else length

    def _has(self, length: Atom, count: int) -> bool:
        """Whether an axis has so many entries at least: where only the run knows, it is asked before the loop."""
        length = self.canonical(length)
        if isinstance(length, Const):
            return length.value >= count
        if length not in self.dims:
            return False
        if self.dims[length].least < count and ("entries", length, count) not in self.within:
            self.within.add(("entries", length, count))
            with Into(self, self.head):
                fewer = self.emit(operator.lt, (length, Const(count)), "%test", Scalar("bool"))
                self.fail_if(fewer, ValueError, "a slice takes more entries than there are")
        return True

    def _in_steps(self, length: Atom, step: int) -> Atom:
        """How many of so many entries are every second, or third, one."""
        if isinstance(length, Const):
            return Const(-(-length.value // step))
        if length not in self.dims:
            raise NotSaid("a slice with steps of an array whose length is not known before the loop")
        d = self.dims[length]
        found = Length(f"?every {step} of {d.times}*{d.symbol}{d.offset:+}")
        if found not in self.known:
            with Into(self, self.head):
                more = self.plus(length, Const(step - 1))
                if not self.bounds.is_natural(self.bounds.form(more)):
                    more = self.emit(builtins.max, (more, Const(0)), "%length", INTEGER)
                self._note(found, self.emit(operator.floordiv, (more, Const(step)), "length", INTEGER))
        return self.known[found]

    def between(self, axis: Axis, ends: tuple[Atom, ...]) -> Axis:
        """The part of an axis between two places that are computed, clipped as Python clips them."""
        start, stop, step = (Const(None), *ends, Const(None))[:3] if len(ends) == 1 else (*ends, Const(None))[:3]
        if all(isinstance(end, Const) for end in (start, stop, step)):
            return self.sliced(axis, slice(*(end.value for end in (start, stop, step))))  # type: ignore[union-attr]
        if step not in (Const(None), Const(1)):
            raise NotSaid("a slice with steps")
        ends = tuple(end if end == Const(None) else self._before(end) or end for end in (start, stop))
        known = all(isinstance(a, Const) or a in self.early or a in self.params for a in ends)
        if not known or axis.length not in self.dims:
            return self._from(axis, *self._clipped(axis.length, *ends))
        if (key := (axis.length, *ends)) not in self.cuts:  # it is the same in all trips
            with Into(self, self.head):
                self.cuts[key] = self._clipped(axis.length, *ends)
                length = self.cuts[key][-1]
                if isinstance(length, str) and length not in self.dims:
                    self._note(Length(f"?{length}"), length)
        return self._from(axis, *self.cuts[key])

    def _before(self, k: Atom) -> Atom | None:
        """An integer, as it is computed before the loop; None where it is not known there."""
        form = self.bounds.form(k)
        if form is None or isinstance(k, Const) or not all(map(self._is_known_before, form.keys() - {ONE})):
            return None
        with Into(self, self.head):
            found = say(form, self.said, lambda op, a, b: self.emit(op, (a, b), "%index", INTEGER))
        self.early.add(found)
        return found

    def _is_known_before(self, symbol: Hashable) -> bool:
        """Whether what a form speaks of is known before the loop."""
        named = symbol in self.params or symbol in self.early
        return named if isinstance(symbol, str) else self.said(symbol) is not None

    def _clipped(self, n: Atom, start: Atom, stop: Atom) -> tuple[Atom, int, Atom]:
        """Where a slice begins, and its length; its step is one."""
        first = Const(0) if start == Const(None) else self._end(start, n)
        last = n if stop == Const(None) else self._end(stop, n)
        forms = self.bounds.form(last), self.bounds.form(first)
        known = None if None in forms else self.named(plus(*forms, -1))  # type: ignore[arg-type]
        length = known or (self.plus(last, first, operator.sub) if first != Const(0) else last)
        sure = stop == Const(None) or start == Const(None) and self.bounds.is_natural(self.bounds.form(n))
        if not sure and not self.bounds.is_natural(self.bounds.form(length)):
            length = self.emit(builtins.max, (length, Const(0)), "%length", INTEGER)
        return first, 1, length

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
