"""Subscripts by arrays of integers.

    y = x[idx]                              for i in range(n):
                                                k = idx[i]
                                ->              y[i] = x[k + m if k < 0 else k]

Whether all of them name entries is asked once before the loop, where they stay the same; else each time.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass

from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Const, Effect, Op
from tangentc.core.types import Array, Scalar
from tangentc.kernels.language import is_array, is_number
from tangentc.kernels.views import Views
from tangentc.kernels.writing import INTEGER, Axis, Into, NotSaid, View


@dataclass(frozen=True)
class Pick:
    """The entries that a subscript names: the axes before those that arrays name, the arrays and integers with the axes
    that they name, the axes behind, and how many entries the arrays name."""

    view: View
    before: tuple[Axis, ...]
    by: tuple[tuple[Axis, Atom], ...]
    behind: tuple[Axis, ...]
    count: Atom

    @property
    def lengths(self) -> tuple[Atom, ...]:
        return (*(a.length for a in self.before), self.count, *(a.length for a in self.behind))


class Indexed(Views):
    """The part that knows subscripts by arrays of integers."""

    def is_index(self, atom: Atom) -> bool:
        t = self.types.of(atom)
        return isinstance(atom, str) and isinstance(t, Array) and t.dtype == "int64" and len(t.shape) == 1

    def has_index(self, key: Atom) -> bool:
        return any(map(self.is_index, self._keys(key)))

    def pick(self, view: View, key: Atom) -> Pick:
        """The entries that a subscript with arrays names.  Raises `NotSaid` where slices stand between the arrays."""
        keys = self._keys(key)
        if Const(...) in keys:
            at = keys.index(Const(...))
            whole = (Const(slice(None)),) * (len(view.axes) - len(keys) + 1)
            keys = (*keys[:at], *whole, *keys[at + 1 :])
        advanced = [k for k, a in enumerate(keys) if self.is_index(a) or self._is_integer(a)]
        if Const(None) in keys or advanced != [*range(advanced[0], advanced[-1] + 1)]:
            raise NotSaid("this subscript")
        own = tuple(zip(view.axes, keys))
        first, last = advanced[0], advanced[-1] + 1
        before, behind = (self.part(View(view.array, view.axes[k:m]), _tuple(keys[k:m])).axes for k, m in (
            (0, first), (last, len(keys))
        ))  # fmt: skip
        counts = [self.view(a).axes[0].length for a in keys if self.is_index(a)]
        if not all(self.same(counts[0], n) for n in counts[1:]):
            raise NotSaid("index arrays of several lengths")
        by = own[first:last]
        for axis, atom in by:
            self._ask(axis, atom)
        return Pick(view, before, by, (*behind, *view.axes[len(keys) :]), self.canonical(counts[0]))

    def _is_integer(self, atom: Atom) -> bool:
        t = self.types.of(atom)
        return is_number(t) and getattr(t, "dtype", "") == "int64"

    def _ask(self, axis: Axis, atom: Atom) -> None:
        """Ask before the loop whether an index array names entries alone, where that is known before it."""
        key = atom, self.canonical(axis.length)
        if key in self.within or not self._is_there_before(atom) or not self._is_length_before(axis.length):
            return
        self.within.add(key)
        with Into(self, self.head):
            n = self.view(atom).axes[0].length
            self.nest((n,), lambda at: self._refuse_outside_axis(self.entry(atom, at, (n,)), axis))

    def _is_there_before(self, atom: Atom) -> bool:
        return atom in self.params and not self.is_changed(str(atom)) and atom not in self.carried

    def _is_length_before(self, n: Atom) -> bool:
        return isinstance(n, Const) or n in self.dims or n in self.params

    def _refuse_outside_axis(self, k: Atom, axis: Axis) -> None:
        minus = self.emit(operator.neg, (axis.length,), "%least", INTEGER)
        low = self.emit(operator.lt, (k, minus), "%test", Scalar("bool"))
        high = self.emit(operator.ge, (k, axis.length), "%test", Scalar("bool"))
        self.fail_if(self.emit(operator.or_, (low, high), "%test", Scalar("bool")), IndexError, "index out of bounds")

    def place(self, pick: Pick, at: tuple[Atom, ...]) -> tuple[View, tuple[Atom, ...]]:
        """An entry of what a subscript names, as one of the array: the view without the axes that arrays name."""
        count = len(pick.before)
        fixed = dict(pick.view.fixed)
        for axis, atom in pick.by:
            k = self.entry(atom, (at[count],), (pick.count,)) if self.is_index(atom) else atom
            if (atom, self.canonical(axis.length)) not in self.within:
                self._refuse_outside_axis(k, axis)
            below = self.emit(operator.lt, (k, Const(0)), "%test", Scalar("bool"))
            from_end = self.emit(operator.add, (k, axis.length), "%index", INTEGER)
            k = self.emit(ops.select, (below, from_end, k), "%index", INTEGER)
            self.placed(fixed, axis, k)
        left = View(pick.view.array, (*pick.before, *pick.behind), tuple(fixed.items()))
        return left, (*at[:count], *at[count + 1 :])

    def subscript(self, s: Assign) -> None:
        array, key = s.args
        if self.has_index(key):
            self.taken(s.target, array, key)
        else:
            super().subscript(s)

    def taken(self, target: str, array: Atom, key: Atom) -> None:
        """``y = x[idx]``: a new array."""
        pick = self.pick(self.view(array), key)
        if not is_array(self.types.of(target)):
            raise NotSaid("this subscript")

        def value(at: tuple[Atom, ...], lengths: tuple[Atom, ...]) -> Atom:
            item = self.fresh("%item")
            self.types.of_name[item] = Scalar(self.types.of(array).dtype)  # type: ignore[union-attr]
            self.add(self._read(item, *self.place(pick, at)))
            return item

        self.fill(target, pick.lengths, value)

    def put(self, array: str, key: Atom, value: Atom, op: Op | None) -> None:
        """``x[idx] = v``, and `np.add.at`: one after the other, so that of several into one entry the last one counts,
        and all of what is added."""
        pick = self.pick(self.view(array), key)
        lengths = pick.lengths
        self.refuse_other_length(value, lengths)
        if self.is_array(value) and self.root(self.view(value).array) == self.root(pick.view.array):
            raise NotSaid("an array is put into itself by an index array")
        self.nest(lengths, lambda at: self._store(*self.place(pick, at), self.entry(value, at, lengths), op))

    def refuse_other_length(self, value: Atom, lengths: tuple[Atom, ...]) -> None:
        """Refuse an array whose lengths may not be those of its place."""
        if not self.is_array(value):
            return
        space = self._space((value,))
        longer = len(space) > len(lengths)
        if longer or any(n != Const(1) and not self.same(n, m) for n, m in zip(space[::-1], lengths[::-1])):
            raise NotSaid("an array whose length may not be that of its place")

    def add_at(self, s: Effect) -> None:
        """`np.add.at` with an index array."""
        array, key, value = s.args
        same = getattr(self.types.of(array), "dtype", "") == getattr(self.types.of(value), "dtype", "float64")
        if s.keywords or not self.is_array(array) or not self.has_index(key) or not same:
            raise NotSaid("add.at")
        self.put(str(array), key, value, operator.add)


def _tuple(keys: tuple[Atom, ...]) -> Atom:
    """Slices as one subscript."""
    values = [k.value for k in keys if isinstance(k, Const)]
    if len(values) != len(keys):
        raise NotSaid("this subscript")
    return Const(tuple(values))
