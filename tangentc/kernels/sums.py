"""Sums and extremes over axes, as loops.

s = np.sum(x, axis=1)                   for i in range(n):
                                            total = 0.0
                                ->          for j in range(m):
                                                total += x[i, j]
                                            s[i] = total
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Carry, Const, For, Op, Statement, version_base
from tangentc.core.types import Array, Known, Scalar
from tangentc.kernels.indexed import Indexed
from tangentc.kernels.language import EXTREMES, Steps, entry_op, raises_where, strong_dtype
from tangentc.kernels.writing import INTEGER, Into, NotSaid, View
from tangentc.ops.table import say

BEST: dict[Op, tuple[Op, float]] = {np.max: (np.maximum, -np.inf), np.min: (np.minimum, np.inf)}
SUMS = {np.sum, np.mean, *BEST}
LANES = 8  # rows of fewer entries are added up one after the other, by NumPy too


class Sums(Indexed):
    """The part that adds up."""

    def reduction(self, s: Assign) -> None:
        """Sums and extremes over axes."""
        x, lengths, over, keep = self._axes(s)
        rank = len(lengths)
        dtype = self.types.of(x).dtype  # type: ignore[union-attr]
        if s.op in BEST:
            return self._best(s, x, lengths, over, keep)
        if dtype in ("bool", "int64") and s.op is np.mean:
            raise NotSaid("a mean of integers")
        is_exact = dtype in ("bool", "int64") or s.span.sweep == "adjoint" or rank - 1 not in over or over == {rank - 1}
        if not is_exact and not self.in_loop:
            raise NotSaid("a sum over several axes")  # whose order is NumPy's own
        ends = all(n == Const(1) for n in lengths[max(over, default=0) + 1 :])
        if ends and over and rank - 1 not in over and s.span.sweep != "adjoint" and not self.in_loop:
            raise NotSaid("a sum of a column")  # as of a row
        row = self._row(s, x, lengths, over) if dtype in ("float64", "float32") else None
        self._sum(s, lengths, over, lambda at: self.entry(x, at, lengths), keep, s.op is np.mean, row)

    def _row(self, s: Assign, x: Atom, lengths: tuple[Atom, ...], over: set[int]) -> View | None:
        """What is added up, if it is to be added up row by row; None where one term comes after the other."""
        rank = len(lengths)
        if rank - 1 not in over or rank == 1 and s.span.sweep == "adjoint":
            return None
        return self.view(x if self._is_short(lengths[-1]) or self._has_rows(x) else self._own(x))

    @staticmethod
    def _is_short(n: Atom) -> bool:
        """Whether a row has so few entries that they are added up one after the other."""
        return isinstance(n, Const) and n.value < LANES

    def sum_of(self, s: Assign, lengths: tuple[Atom, ...], over: set[int], term: Callable[[tuple], Atom]) -> None:
        """A sum of terms over axes, of adjoints, which are put into rows first where that is quicker."""
        t = self.types.of(s.target)
        row = None
        if len(lengths) > 1 and len(lengths) - 1 in over and not self._is_short(lengths[-1]):
            product = self.fresh("%product")
            self.types.of_name[product] = Array(t.dtype, tuple(self.dim_of(n) for n in lengths))  # type: ignore
            self.fill(product, lengths, lambda at, _: term(at))
            row = self.view(product)
        self._sum(s, lengths, over, term, False, False, row)

    def _axes(self, s: Assign) -> tuple[Atom, tuple[Atom, ...], set[int], bool]:
        """What is reduced, its lengths, over which axes, and whether these are kept."""
        x, *rest = s.args
        named = dict(s.keywords) | dict(zip(("axis",), rest))
        axis, keep = named.pop("axis", Const(None)), named.pop("keepdims", Const(False))
        if named or not self.is_array(x) or not isinstance(axis, Const) or not isinstance(keep, Const):
            raise NotSaid("this sum")
        lengths = self._space((x,))
        whole = range(len(lengths)) if axis.value is None else axis.value
        return x, lengths, {k % len(lengths) for k in np.atleast_1d(whole).tolist()}, bool(keep.value)

    def _best(self, s: Assign, x: Atom, lengths: tuple[Atom, ...], over: set[int], keep: bool) -> None:
        """The largest or the least entry over axes, NaN if there is one."""
        first, dtype = min(over), self.types.of(x).dtype  # type: ignore[union-attr]
        inside = over == set(range(first, len(lengths)))
        if dtype not in ("float64", "float32") or inside and keep and not first:
            raise NotSaid("this extreme")
        for k in sorted(over):
            if not self._is_sure(lengths[k]):
                empty = self.emit(operator.eq, (lengths[k], Const(0)), "%test", Scalar("bool"))
                self.fail_if(empty, ValueError, "there is no entry")
        op, start = BEST[s.op]
        begin = Const(start if dtype == "float64" else np.float32(start))
        if not inside:
            return self._best_columns(s.target, x, lengths, self._left(lengths, over, keep), over, (op, begin))

        def best(at: tuple[Atom, ...], name: str) -> str:
            self.types.of_name.setdefault(name, Scalar(dtype))
            self._carried(lengths[first:], at, lambda k: self.entry(x, k, lengths), name, op, begin)
            return name

        if not first:
            best((), s.target)
            return
        out = (*lengths[:first], *((Const(1),) * (len(lengths) - first if keep else 0)))
        self._allocate(s.target, out, np.empty)
        view = self.view(s.target)
        ones = (Const(0),) * (len(out) - first)
        self.nest(lengths[:first], lambda at: self._store(view, (*at, *ones), best(at, self.fresh("%best")), None))

    def _best_columns(
        self, target: str, x: Atom, lengths: tuple[Atom, ...], out: tuple[Atom, ...], over: set[int],
        joins: tuple[Op, Const],
    ) -> None:  # fmt: skip
        """Extremes over axes that are not the last, one row after the other."""
        self.fill(target, out, lambda at, n: joins[1])
        view = self.view(target)
        keep = len(out) == len(lengths)

        def better(at: tuple[Atom, ...]) -> None:
            own = tuple(Const(0) if k in over else i for k, i in enumerate(at) if keep or k not in over)
            item = self.fresh("%item")
            self.types.of_name[item] = Scalar(self.types.of(x).dtype)  # type: ignore[union-attr]
            self.add(self._read(item, view, own))
            self._store(view, own, self.emit(joins[0], (item, self.entry(x, at, lengths))), None)

        self.nest(lengths, better)

    @staticmethod
    def _left(lengths: tuple[Atom, ...], over: set[int], keep: bool) -> tuple[Atom, ...]:
        """The lengths of what a reduction over some axes gives."""
        return tuple(Const(1) if k in over else n for k, n in enumerate(lengths) if keep or k not in over)

    def _is_sure(self, n: Atom) -> bool:
        """Whether a length is known not to be zero."""
        return isinstance(n, Const) and n.value > 0 or n in self.dims and self.dims[n].least > 0

    def _has_rows(self, x: Atom) -> bool:
        """Whether the last axis of a value is that of the array in memory, from end to end."""
        view = self.view(x)
        return view.axes[-1] == self.view(view.array).axes[-1]

    def _sum(
        self, s: Assign, lengths: tuple[Atom, ...], over: set[int], term: Callable[[tuple], Atom], keep: bool,
        mean: bool, row: View | None,
    ) -> None:  # fmt: skip
        """A sum over axes; ``row`` is what is added up, where its last axis is added up in NumPy's order."""
        left = [n for k, n in enumerate(lengths) if k not in over]
        t = self.types.of(s.target)
        dtype = getattr(t, "dtype", "float64")
        if isinstance(t, Array) and left and max(over) < len(lengths) - 1:
            return self._columns(s, lengths, over, term, keep, mean)
        if not left or isinstance(t, Scalar):
            if keep:
                raise NotSaid("a sum that keeps its axes")
            total = self._total(lengths, (), term, dtype, s.target if not mean else None, row)
            if mean:
                self._entry(operator.truediv, (total, self._count([lengths[k] for k in sorted(over)])), s.target)
            return
        out = self._left(lengths, over, keep)
        self._allocate(s.target, out, np.empty)
        view = self.view(s.target)
        order = sorted(range(len(lengths)), key=lambda k: k in over)  # what is added up runs inside
        behind = tuple(lengths[k] for k in order[len(left) :])
        row = row and replace(row, axes=tuple(row.axes[k] for k in order))

        def write(at: tuple[Atom, ...]) -> None:
            own = lambda inner: term(tuple(inner[order.index(k)] for k in range(len(order))))  # noqa: E731
            value: Atom = self._total(behind, at, own, dtype, None, row)
            if mean:
                quotient = self.fresh("%mean")
                self.types.of_name[quotient] = Scalar(dtype)
                self._entry(operator.truediv, (value, self._count([lengths[k] for k in sorted(over)])), quotient)
                value = quotient
            kept = iter(at)
            places = tuple(Const(0) if k in over else next(kept) for k in range(len(lengths))) if keep else at
            self._store(view, places, value, None)

        self.nest(tuple(left), write)

    def _total(
        self, lengths: tuple[Atom, ...], before: tuple[Atom, ...], term: Callable[[tuple], Atom], dtype: str,
        target: str | None, row: View | None,
    ) -> str:  # fmt: skip
        """The sum of terms over axes, as a number that the loops carry."""
        if row is not None and len(lengths) == 1:
            return self._row_sum(row, before, target)
        zero: Atom = Const(0 if dtype == "int64" else 0.0)
        name = target if target is not None and dtype != "float32" else self.fresh("%total")
        self.types.of_name.setdefault(name, Scalar("float64" if dtype == "float32" else dtype))
        if row is None:
            self._carried(lengths, before, term, name, operator.add, zero)
        else:
            whole = row
            self._carried(lengths[:-1], before, lambda at: self._row_sum(whole, at, None), name, operator.add, zero)
        if dtype == "float32":
            final = target or self.fresh("%total")
            self.types.of_name.setdefault(final, Scalar(dtype))
            self.add(Assign(final, np.float32, (name,), (), self.span))  # type: ignore[arg-type]
            return final
        return name

    def _carried(
        self, lengths: tuple[Atom, ...], before: tuple[Atom, ...], term: Callable[[tuple], Atom], name: str, join: Op,
        start: Atom, each: Callable[[tuple, str], None] = lambda at, so_far: None,
    ) -> None:  # fmt: skip
        """What joining terms one after the other gives, as a number that the loops carry; ``each`` writes what is done
        with it in each trip."""
        t = self.types.of(name)

        def level(at: tuple[Atom, ...], inside: Atom, out_name: str) -> None:
            n = lengths[len(at) - len(before)]
            innermost = len(at) - len(before) == len(lengths) - 1
            if n == Const(1) and not innermost:
                return level((*at, Const(0)), inside, out_name)
            if n == Const(1):
                only = term((*at, Const(0)))
                alone = inside == start and (self.span.sweep == "adjoint" or repr(start) == repr(Const(-0.0)))
                op, args = (ops.identity, (only,)) if alone else (join, (inside, only))
                self.add(Assign(out_name, op, args, (), self.span))  # type: ignore[arg-type]
                return each((*at, Const(0)), out_name)
            i, over = self.fresh("%" + "ijklmn"[len(at)]), self.fresh("%range")
            after = self.fresh(version_base(name))
            self.types.of_name[i], self.types.of_name[over] = INTEGER, Known(Const(range(0)))
            self.types.of_name[after] = t
            body: list[Statement] = []
            with Into(self, body):
                if innermost:
                    self.add(Assign(after, join, (out_name, term((*at, i))), (), self.span))  # type: ignore
                    each((*at, i), after)
                else:
                    level((*at, i), out_name, after)
            self.add(Assign(over, builtins.range, (Const(0), n), (), self.span))  # type: ignore[arg-type]
            self.add(For(i, over, tuple(body), (Carry(out_name, inside, after),), self.span))  # type: ignore

        level(before, start, name)

    def _row_sum(self, view: View, at: tuple[Atom, ...], target: str | None) -> str:
        """The sum over the last axis, of the row that the other subscripts name."""
        from tangentc.runtime.rows import quick_row_sum, row_sum  # which need Numba

        say(quick_row_sum, row_sum, pure=True)
        row: Atom = view.array
        t = self.types.of(row)
        assert isinstance(t, Array)
        if self._is_short(view.axes[-1].length):
            return self._short_sum(view, at, target or self.fresh("%total"), t.dtype)
        if len(t.shape) > 1:
            key = self._index(replace(view, axes=view.axes[:-1]), at)
            row = self.emit(operator.getitem, (row, key), "%row", Array(t.dtype, t.shape[-1:]))
        name = target or self.fresh("%total")
        self.types.of_name.setdefault(name, Scalar(t.dtype))
        op = quick_row_sum if self.span.sweep == "adjoint" else row_sum
        self.add(Assign(name, op, (row,), (), self.span))  # type: ignore[arg-type]
        return name

    def _short_sum(self, view: View, at: tuple[Atom, ...], name: str, dtype: str) -> str:
        """The sum of few entries, one after the other."""
        self.types.of_name.setdefault(name, Scalar(dtype))

        def item(k: tuple[Atom, ...]) -> str:
            target = self.fresh("%item")
            self.types.of_name[target] = Scalar(dtype)
            self.add(self._read(target, view, k))
            return target

        zero = Const(0.0 if dtype == "float64" else np.float32(0))
        self._carried((view.axes[-1].length,), at, item, name, operator.add, zero)
        return name

    def _columns(
        self, s: Assign, lengths: tuple[Atom, ...], over: set[int], term: Callable[[tuple], Atom], keep: bool,
        mean: bool,
    ) -> None:  # fmt: skip
        """Sums over axes that are not the last, one row after the other, as they lie in memory."""
        out = self._left(lengths, over, keep)
        self._allocate(s.target, out, np.zeros)
        view = self.view(s.target)

        def add(at: tuple[Atom, ...]) -> None:
            own = tuple(Const(0) if k in over else i for k, i in enumerate(at) if keep or k not in over)
            self._store(view, own, term(at), operator.add)

        self.nest(lengths, add)
        if mean:
            count = self._typed_count(self._count([lengths[k] for k in sorted(over)]), s.target)
            self.nest(out, lambda at: self._store(view, at, count, operator.truediv))

    def _typed_count(self, count: Atom, target: str) -> Atom:
        dtype = self.types.of(target).dtype  # type: ignore[union-attr]
        return self.emit(getattr(np, dtype), (count,), "%count", Scalar(dtype))

    def _entry(self, op: Op, args: tuple[Atom, ...], target: str, keywords: object = ()) -> None:
        """One operation on numbers."""
        said = entry_op(op, args, self.types)
        if said is None or keywords:
            raise NotSaid(f"{getattr(op, '__name__', 'this')}")
        where = raises_where(said, args, self.types)
        if where is not None and (self.as_python or said in (operator.truediv, builtins.int)):
            self._refuse_outside(*where)
        of_integers = said in (operator.add, operator.sub, operator.mul) and all(map(self._is_python_integer, args))
        if of_integers and self.as_python:
            names = [a for a in args if isinstance(a, str)]
            if said is operator.mul:
                if getattr(self.types.of(target), "value", None) is None:  # it is no length
                    self._refuse_overflow(args)
            elif len(names) > 1 and not self.carried.isdisjoint(names):
                self.refuse_large()
        dtype = strong_dtype(args, self.types)
        values = tuple(self._typed(a, dtype) for a in args)
        if said in EXTREMES and any(getattr(self.types.of(a), "dtype", "") != "int64" for a in values):
            best = values[0]
            for other in values[1:-1]:
                takes = self.emit(EXTREMES[said], (other, best), "%test", Scalar("bool"))
                best = self.emit(ops.select, (takes, other, best), "%entry", self.types.of(best))
            takes = self.emit(EXTREMES[said], (values[-1], best), "%test", Scalar("bool"))
            said, values = ops.select, (takes, values[-1], best)  # type: ignore[assignment]
        elif said is operator.pow and (n := _exponent(values[1])) in (2, 3):
            square = values[0] if n == 2 else self.emit(operator.mul, (values[0], values[0]))
            said, values = operator.mul, (square, values[0])  # type: ignore[assignment]
        elif said is operator.pow and (n := _exponent(values[1])) is not None and dtype is None:
            values = (values[0], Const(float(n)))
        elif said is np.square:
            said, values = operator.mul, (values[0], values[0])  # type: ignore[assignment]
        self.add(Assign(target, said, values, (), self.span))  # type: ignore[arg-type]

    def _refuse_outside(self, of: Atom, where: Steps, error: type[Exception]) -> None:
        """Raise where an argument is none that an operation takes, if that was not asked before."""
        if (of, where) in self.asked:
            return
        self.asked.add((of, where))
        if (value := self._value_of(of)) is not None:
            for op, *other in where:
                value = op(value, *other)  # type: ignore[operator]
            if not value:
                return
        at = of
        for op, *other in where:
            at = self.emit(op, (at, *map(Const, other)), "%test", None if op is builtins.abs else Scalar("bool"))  # type: ignore
        self.fail_if(at, error, "outside of the domain")

    def _value_of(self, of: Atom, deepest: int = 4) -> object:
        """What a number is that is computed from numbers alone, None where that is not known."""
        if isinstance(of, Const):
            return of.value
        made = self.made.get(of) if isinstance(of, str) else None
        if not deepest or not isinstance(made, Assign) or made.keywords or not ops.is_pure(made.op):
            return None
        given = [self._value_of(a, deepest - 1) for a in made.args]
        try:
            return None if any(a is None for a in given) else made.op(*given)
        except (ArithmeticError, ValueError, TypeError):
            return None

    def _is_python_integer(self, atom: Atom) -> bool:
        t = self.types.of(atom)
        return isinstance(t, Scalar) and t.weak and t.dtype == "int64"

    def _refuse_overflow(self, args: tuple[Atom, ...]) -> None:
        """Leave a product to Python that is beyond the integers of a machine."""
        first = self.emit(builtins.float, (args[0],), "%factor", Scalar("float64", True))
        product = self.emit(operator.mul, (first, args[1]), "%size", Scalar("float64", True))
        size = self.emit(builtins.abs, (product,), "%size", Scalar("float64", True))
        test = self.emit(operator.gt, (size, Const(2.0**62)), "%test", Scalar("bool"))
        self.fail_if(test, OverflowError, "an integer is too large for the loop")


def _exponent(atom: Atom) -> int | None:
    """The exponent of a power, if it is a whole number."""
    value = atom.value if isinstance(atom, Const) else None
    return int(value) if isinstance(value, (int, float, np.floating)) and float(value).is_integer() else None
