"""Statements on arrays as loops over entries whose trips threads share, and what the host does between them.

A number of the host stays a statement of the host, and so does the sum of a whole array, which CuPy adds up.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Hashable

import numpy as np

from tangentc.core.nodes import Assign, Atom, Carry, Const, For, Statement
from tangentc.core.types import Array, Known, Scalar
from tangentc.kernels.nests import Nests
from tangentc.kernels.sums import SUMS
from tangentc.kernels.writing import INTEGER, Axis, Into, NotSaid, View


class DeviceNests(Nests):
    """Writes the statements of a run as loops over entries, for the device."""

    asked_before: set[tuple[Atom, Hashable]]  # index arrays that were looked at, with the lengths of the axes

    def number(self, s: Assign) -> None:
        """An operation on numbers is the host's, as it stands."""
        if any(map(self.is_array, s.atoms)):
            raise NotSaid("an array becomes a number")
        self.add(s)

    def part(self, view: View, key: Atom) -> View:
        found = super().part(view, key)
        if self.is_checked:
            self.is_checked = False
            raise NotSaid("a subscript that may name no entry")
        return found

    def nest(self, lengths: tuple[Atom, ...], write: Callable[[tuple[Atom, ...]], None], at: tuple = ()) -> None:
        """Loops over all entries of axes of these lengths, one at least: an entry alone is the device's as well."""
        if at or not lengths or any(self.canonical(n) != Const(1) for n in lengths):
            return super().nest(lengths, write, at)
        i, over = self.fresh("%i"), self.fresh("%range")
        self.types.of_name[i], self.types.of_name[over] = INTEGER, Known(Const(range(0)))
        body: list[Statement] = []
        with Into(self, body):
            write((*(Const(0),) * (len(lengths) - 1), i))
        self.add(Assign(over, builtins.range, (Const(0), Const(1)), (), self.span))  # type: ignore[arg-type]
        self.add(For(i, over, tuple(body), (), self.span))  # type: ignore[arg-type]

    # ---------------------------------------------------------- sums
    def reduction(self, s: Assign) -> None:
        if s.op not in SUMS or isinstance(self.types.of(s.target), Scalar):
            raise NotSaid("a sum of everything")
        super().reduction(s)

    def refuse_product(self, s: Assign) -> None:
        raise NotSaid("a product")

    def _has_rows(self, x: Atom) -> bool:
        return True  # each thread reads entries

    def _columns(self, s: Assign, lengths: tuple, over: set[int], term: Callable, keep: bool, mean: bool) -> None:
        """Sums over axes that are not the last: the entries of a row each by a thread, which runs over the rows."""
        out = tuple(Const(1) if k in over else n for k, n in enumerate(lengths) if keep or k not in over)
        self._allocate(s.target, out, np.empty)
        view, dtype = self.view(s.target), self.types.of(s.target).dtype  # type: ignore[union-attr]
        count = self._count([lengths[k] for k in sorted(over)]) if mean else Const(1)

        def write(at: tuple[Atom, ...]) -> None:
            value: Atom = self._total_over(lengths, over, at if keep else _between(at, over, len(lengths)), term, dtype)
            if mean:
                quotient = self.fresh("%mean")
                self.types.of_name[quotient] = Scalar(dtype)
                self._entry(operator.truediv, (value, count), quotient)
                value = quotient
            self._store(view, at, value, None)

        self.nest(out, write)

    def _total(
        self, lengths: tuple[Atom, ...], before: tuple[Atom, ...], term: Callable[[tuple], Atom], dtype: str,
        target: str | None, row: View | None,
    ) -> str:  # fmt: skip
        """The sum of terms over the last axes, in the dtype of what is added up."""
        rank = len(before) + len(lengths)
        over = {*range(len(before), rank)}
        return self._total_over((*before, *lengths), over, (*before, *lengths), term, dtype)

    def _total_over(self, lengths: tuple, over: set[int], at: tuple, term: Callable[[tuple], Atom], dtype: str) -> str:
        """The sum over some axes, of the entries that the other subscripts in ``at`` name."""
        first, number = min(over), Scalar(dtype)

        def level(at: tuple[Atom, ...], k: int, inside: Atom) -> str:
            if k == len(lengths):
                return self.emit(operator.add, (inside, term(at)), "%total", number)
            if k not in over:
                return level(at, k + 1, inside)
            i, over_range, total = self.fresh("%" + "ijklmn"[k]), self.fresh("%range"), self.fresh("%total")
            self.types.of_name[i], self.types.of_name[over_range] = INTEGER, Known(Const(range(0)))
            self.types.of_name[total] = number
            body: list[Statement] = []
            with Into(self, body):
                after = level((*at[:k], i, *at[k + 1 :]), k + 1, total)
            self.add(Assign(over_range, builtins.range, (Const(0), self.canonical(lengths[k])), (), self.span))  # type: ignore
            self.add(For(i, over_range, tuple(body), (Carry(total, inside, after),), self.span))  # type: ignore[arg-type]
            return total

        return level(at, first, Const(np.dtype(dtype).type(0).item()))

    # ---------------------------------------------------------- index arrays
    def _ask(self, axis: Axis, atom: Atom) -> None:
        """Ask before the launch whether an index array names entries alone."""
        key = atom, self.canonical(axis.length)
        if key in self.within:
            return
        if not self._is_there_before(atom):
            raise NotSaid("an index array that is made here")
        self.within.add(key)
        form = self.bounds.form(axis.length)
        before = atom, axis.length if form is None else frozenset(form.items())
        if before in self.asked_before:
            return
        self.asked_before.add(before)
        with Into(self, self.head if self._is_length_before(axis.length) else self.out):
            t = self.types.of(atom)
            assert isinstance(t, Array)
            of = Array("bool", t.shape)
            minus = self.emit(operator.neg, (axis.length,), "%least", INTEGER)
            low = self.emit(operator.lt, (atom, minus), "%low", of)
            high = self.emit(operator.ge, (atom, axis.length), "%high", of)
            outside = self.emit(operator.or_, (low, high), "%outside", of)
            test = self.emit(np.any, (outside,), "%test", Scalar("bool"))
            self.fail_if(test, IndexError, "index out of bounds")


def _between(at: tuple[Atom, ...], over: set[int], rank: int) -> tuple[Atom, ...]:
    """Subscripts with room for those of the axes that are added up."""
    rest = iter(at)
    return tuple(Const(0) if k in over else next(rest) for k in range(rank))
