"""Entries of arrays, and loops over all of them."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Sequence

import numpy as np

from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Const, For, Op, Statement, Store
from tangentc.core.types import Array, Known, Scalar, Tuple
from tangentc.kernels.language import typed
from tangentc.kernels.sizes import Sizes
from tangentc.kernels.writing import INTEGER, Axis, Into, NotSaid, View


class Entries(Sizes):
    """The part that knows entries."""

    def nest(self, lengths: tuple[Atom, ...], write: Callable[[tuple[Atom, ...]], None], at: tuple = ()) -> None:
        """Loops over all entries of axes of these lengths."""
        if len(at) == len(lengths):
            write(at)
            return
        n = self.canonical(lengths[len(at)])
        if n == Const(1):
            self.nest(lengths, write, (*at, Const(0)))
            return
        i, over = self.fresh("%" + "ijklmn"[len(at)]), self.fresh("%range")
        self.types.of_name[i], self.types.of_name[over] = INTEGER, Known(Const(range(0)))
        body: list[Statement] = []
        with Into(self, body):
            self.nest(lengths, write, (*at, i))
        self.add(Assign(over, builtins.range, (Const(0), n), (), self.span))  # type: ignore[arg-type]
        self.add(For(i, over, tuple(body), (), self.span))  # type: ignore[arg-type]

    def _store(self, view: View, at: tuple[Atom, ...], value: Atom, op: Op | None) -> None:
        self.add(Store(view.array, self._index(view, at), value, op, self.span, self.span.sweep == "adjoint"))  # type: ignore[arg-type]

    def _read(self, target: str, view: View, at: tuple[Atom, ...]) -> Assign:
        return Assign(target, operator.getitem, (view.array, self._index(view, at)), (), self.span)  # type: ignore

    def _index(self, view: View, at: tuple[Atom, ...]) -> Atom:
        """The subscript of an entry of a view."""
        of = dict(view.fixed)
        for axis, k in zip(view.axes, at, strict=True):
            self.placed(of, axis, k)
        keys = tuple(of[k] for k in sorted(of))
        if len(keys) == 1:
            return keys[0]
        name = self.fresh("%items")
        self.types.of_name[name] = Tuple((INTEGER,) * len(keys))
        self.add(Assign(name, ops.make_tuple, keys, (), self.span))  # type: ignore[arg-type]
        return name

    def placed(self, of: dict[int, Atom], axis: Axis, k: Atom) -> None:
        """Say a place along an axis in the subscripts of the array; parts of one of its axes add up."""
        if axis.of is not None:
            at = self._at(axis, k)
            of[axis.of] = self.plus(of[axis.of], at) if axis.of in of else at

    def _at(self, axis: Axis, k: Atom) -> Atom:
        step = abs(axis.step)
        if step != 1 and isinstance(k, Const):
            k = Const(step * k.value)
        elif step != 1:
            k = self.emit(operator.mul, (Const(step), k), "%index", INTEGER)
        if axis.step > 0:
            return self.plus(axis.start, k) if axis.start != Const(0) else k
        return self.plus(axis.start, k, operator.sub)

    def view(self, atom: Atom) -> View:
        if atom in self.views:
            return self.views[atom]
        t = self.types.of(atom)
        assert isinstance(atom, str) and isinstance(t, Array)
        axes = tuple(Axis(k, Const(0), 1, self.length(atom, k)) for k in range(len(t.shape)))
        return View(atom, axes)

    def entry(self, atom: Atom, at: tuple[Atom, ...], lengths: tuple[Atom, ...]) -> Atom:
        """The entry of a value, broadcast to axes of these lengths."""
        if not self.is_array(atom):
            return atom
        view = self.view(atom)
        own = [
            Const(0) if a.length == Const(1) and n != Const(1) else k
            for a, k, n in zip(view.axes, at[len(at) - len(view.axes) :], lengths[len(at) - len(view.axes) :])
        ]
        target = self.fresh("%item")
        self.types.of_name[target] = Scalar(self.types.of(atom).dtype)  # type: ignore[union-attr]
        self.add(self._read(target, view, tuple(own)))
        return target

    def _typed(self, atom: Atom, dtype: str | None) -> Atom:
        found = typed(atom, dtype, self.types)
        if found is not None:
            return found
        return self.emit(getattr(np, dtype or ""), (atom,), "%number", Scalar(dtype or ""))

    def _allocate(self, target: str, lengths: tuple[Atom, ...], op: Op) -> None:
        t = self.types.of(target)
        assert isinstance(t, Array)
        sizes = tuple(map(self.clipped, lengths))
        shape: Atom = sizes[0]
        if len(lengths) > 1:
            shape = self.emit(ops.make_tuple, sizes, "%shape", Tuple((INTEGER,) * len(lengths)))
        keywords = () if t.dtype == "float64" else (("dtype", Const(np.dtype(t.dtype).type)),)
        self.add(Assign(target, op, (shape,), keywords, self.span))  # type: ignore[arg-type]
        axes = tuple(Axis(k, Const(0), 1, n) for k, n in enumerate(lengths))
        self.views[target] = View(target, axes)

    def fill(self, target: str, lengths: tuple[Atom, ...], value: Callable[[tuple, tuple], Atom]) -> None:
        """A new array, entry by entry."""
        self._allocate(target, lengths, np.empty)
        view = self.view(target)
        self.nest(lengths, lambda at: self._store(view, at, value(at, lengths), None))

    def _own(self, value: Atom) -> str:
        """What is written into an array that it is a part of, kept apart first."""
        target = self.fresh("%kept")
        self.types.of_name[target] = self.types.of(value)
        lengths = self._space((value,))
        self.fill(target, lengths, lambda at, n: self.entry(value, at, n))
        return target

    def _space(self, args: tuple[Atom, ...]) -> tuple[Atom, ...]:
        """The lengths of the axes that some values are broadcast to.  Raises `NotSaid` if they may not be the same."""
        views = [self.view(a) for a in args if self.is_array(a)]
        out: list[Atom] = []
        for k in range(1, max(len(v.axes) for v in views) + 1):
            lengths = dict.fromkeys(v.axes[-k].length for v in views if len(v.axes) >= k)
            wide = [n for n in lengths if n != Const(1)]
            if not all(self.same(n, wide[0]) for n in wide):
                raise NotSaid("arrays whose lengths may not be the same")
            out.append(self.canonical(wide[0]) if wide else Const(1))
        return tuple(out[::-1])

    def _count(self, lengths: Sequence[Atom]) -> Atom:
        """How many entries there are."""
        counts = [*map(self.clipped, lengths)]
        total: Atom = counts[0]
        for n in counts[1:]:
            total = self.emit(operator.mul, (total, n), "%count", INTEGER)
        return total
