"""Subscripts: parts of arrays as what they are parts of, from where on.

    u[1:-1]                     u, from 1 on, n - 2 entries
    A[i, :i]                    row i of A, from 0 on, i entries

A subscript of the user's has to name an entry: that is known by the ranges of loops, asked before them, or each time.
"""

from __future__ import annotations

import operator

from tangentc.analysis.linear import ONE, constant, plus
from tangentc.core.nodes import Assign, Atom, Const
from tangentc.core.types import Scalar, Tuple
from tangentc.kernels.accesses import say
from tangentc.kernels.language import is_array, is_number
from tangentc.kernels.slices import Slices
from tangentc.kernels.writing import INTEGER, Axis, Into, NotSaid, View


class Views(Slices):
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
                axes.append(self.sliced(axis, k.value))
            elif k in self.slices:
                axes.append(self.between(axis, self.slices[k]))  # type: ignore[index]
            elif is_number(self.types.of(k)) and self.types.of(k).dtype == "int64":  # type: ignore[union-attr]
                from_start = self.plus(axis.length, k) if isinstance(k, Const) and k.value < 0 else k
                if self._is_within(from_start, axis.length):
                    k = from_start
                elif self._is_whole(view.array, axis):  # where Numba looks each time, and counts from the end itself
                    self.is_checked = True
                else:
                    raise NotSaid("a subscript of a part of an array, that may be none of its entries")
                self.placed(fixed, axis, k)
            else:
                raise NotSaid("this subscript")
        return View(view.array, (*axes, *left), tuple(fixed.items()))

    def _keys(self, key: Atom) -> tuple[Atom, ...]:
        if isinstance(key, str) and key in self.parts:
            if not isinstance(self.types.of(key), Tuple):
                raise NotSaid("a list of subscripts")
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
