"""Which entries of an array a subscript takes, as intervals between linear forms, and whether two may be the same.

    for i in range(n):
        x[i] = b[i] - L[i, :i] @ x[:i]        x[i] takes i to i + 1, x[:i] takes 0 to i

Within a trip the two are apart, since ``i <= i``; and what is written in one trip is read in later ones only.  Forms
are sums of loop variables, lengths and integers that are known when compiling only by name, each as often as a number
says.  A form is proved to be at least a number by taking the variable of the innermost loop at its least, ``a`` of
``range(a, b)``, or at its most, ``b - 1``, and so on outwards.  Between two trips of one loop its variable has two
values, of which one is beyond the other.  What cannot be proved overlaps.  (Linear forms and the directions of
dependences between trips: Allen and Kennedy, Optimizing Compilers for Modern Architectures, chapter 3.)
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Hashable, Mapping
from typing import NamedTuple

import numpy as np

from tangentc.analysis.linear import ONE, Form, Forms, constant, of_length, plus
from tangentc.core import ops
from tangentc.core.build import Types
from tangentc.core.lengths import Dim, Length
from tangentc.core.nodes import Assign, Atom, Const, For, Statement, While
from tangentc.core.types import Array, Scalar

LATER = "'"  # behind the name of a symbol: its value in another trip
PARTS = (operator.getitem, ops.identity)
MOST_STEPS = 200  # of one proof
Loops = tuple[int, ...]


class Interval(NamedTuple):
    """Entries from ``low`` on, before ``high``, None if that is the end of the axis; ``steps`` says that it may be that
    only some of them are taken, or in another order."""

    low: Form
    high: Form | None
    steps: bool = False


class Region(NamedTuple):
    """Entries of the array ``base``: an interval for each of its axes; ``axes`` are those that are left, in order."""

    base: str
    intervals: tuple[Interval, ...]
    axes: tuple[int | None, ...]


def _inside(whole: Interval, part: Interval) -> Interval:
    """What an interval of an interval is."""
    high = whole.high if part.high is None else plus(whole.low, part.high)
    return Interval(plus(whole.low, part.low), high, part.steps)


class Regions:
    """The regions of the names of one function; ``loops`` gives, by their ids, the loops around statements."""

    def __init__(self, types: Types, definitions: Mapping[str, Statement], loops: Mapping[int, Loops]):
        self.types, self.definitions, self.loops = types, definitions, loops
        self.form = Forms(types.of, definitions).form
        self.regions: dict[str, Region | None] = {}

    def _loops_of(self, symbol: Hashable) -> Loops:
        """The loops in which a symbol has another value in each trip."""
        made = self.definitions.get(symbol) if isinstance(symbol, str) else None
        if made is None:
            return ()
        return (*self.loops[id(made)], id(made)) if isinstance(made, (For, While)) else self.loops[id(made)]

    def _trips(self, symbol: Hashable) -> tuple[Form, Form, bool] | None:
        """The least and the most of the variable of a loop over a range, and whether it counts up."""
        made = self.definitions.get(symbol) if isinstance(symbol, str) else None
        if not isinstance(made, For) or made.target != symbol:
            return None
        up, counted = True, made.iterable
        source = self.definitions.get(counted) if isinstance(counted, str) else None
        if isinstance(source, Assign) and source.op is builtins.reversed:
            up, counted = False, source.args[0]
            source = self.definitions.get(counted) if isinstance(counted, str) else None
        if isinstance(source, Assign) and source.op is builtins.range:
            given: list[Atom] = list(source.args)
        elif isinstance(counted, Const) and isinstance(counted.value, range):
            given = [Const(n) for n in (counted.value.start, counted.value.stop, counted.value.step)]
        else:
            return None
        start, stop, step = {1: [Const(0), *given, Const(1)], 2: [*given, Const(1)]}.get(len(given), given)
        first, end, by = self.form(start), self.form(stop), self.form(step)
        if first is None or end is None or by is None or by.keys() - {ONE}:
            return None
        if by.get(ONE, 0) > 0:
            return first, plus(end, constant(-1)), up
        return plus(end, constant(1)), first, not up

    # ---------------------------------------------------------- regions
    def of(self, name: str) -> Region | None:
        """The entries that an array of this name is, None where nothing is known of it."""
        if name not in self.regions:
            self.regions[name] = None
            made = self.definitions.get(name)
            t = self.types.of(name)
            if isinstance(t, Array):
                base = made.args[0] if isinstance(made, Assign) and made.op in PARTS else None
                if isinstance(base, str) and isinstance(self.types.of(base), Array):
                    self.regions[name] = self.at(base, made.args[1] if made.op is operator.getitem else None)
                else:
                    rank = len(t.shape)
                    self.regions[name] = Region(name, (Interval({}, None),) * rank, tuple(range(rank)))
        return self.regions[name]

    def at(self, name: str, key: Atom | None) -> Region | None:
        """The entries that a subscript takes of an array, or all that may be."""
        whole, t = self.of(name), self.types.of(name)
        if whole is None or key is None or not isinstance(t, Array) or len(t.shape) != len(whole.axes):
            return whole
        parts = self._parts(key)
        if parts is None:
            return whole
        taken = sum(p != Const(None) and p != Const(...) for p in parts)
        if taken > len(t.shape):
            return whole
        if Const(...) not in parts:
            parts = [*parts, Const(...)]
        k = parts.index(Const(...))
        parts[k : k + 1] = [Const(slice(None))] * (len(t.shape) - taken)
        intervals, axes, axis = list(whole.intervals), list[int | None](), 0
        for part in parts:
            if part == Const(None):
                axes.append(None)
                continue
            a, d = whole.axes[axis], t.shape[axis]
            axis += 1
            found, stays = self._interval(part, d)
            if stays is None:  # an array of indices, or nothing that is known: what shape it has is not asked
                return Region(whole.base, whole.intervals, ())
            if a is not None and found is None:  # some of them, in an order that is not known
                intervals[a] = intervals[a]._replace(steps=True)
            elif a is not None and found is not None and not intervals[a].steps:
                intervals[a] = _inside(intervals[a], found)
            if stays:
                axes.append(a)
        return Region(whole.base, tuple(intervals), tuple(axes))

    def _parts(self, key: Atom) -> list[Atom] | None:
        if isinstance(key, Const):
            return [Const(p) for p in key.value] if isinstance(key.value, tuple) else [key]
        made = self.definitions.get(key) if isinstance(key, str) else None
        if isinstance(made, Assign) and made.op is ops.make_tuple:
            return list(made.args)
        return [key]

    def _interval(self, part: Atom, d: Dim) -> tuple[Interval | None, bool | None]:
        """The interval that an index or a slice takes of an axis, None if it may be all, and whether the axis stays."""
        if isinstance(part, Const) and isinstance(part.value, slice):
            return self._slice(Const(part.value.start), Const(part.value.stop), Const(part.value.step), d), True
        made = self.definitions.get(part) if isinstance(part, str) else None
        if isinstance(made, Assign) and made.op is builtins.slice:
            given = made.args if len(made.args) > 1 else (Const(None), *made.args)
            start, stop, step = (*given, Const(None))[:3]
            return self._slice(start, stop, step, d), True
        if isinstance(part, Const) and type(part.value) is not int:
            return None, None
        found = self.form(part)
        if found is None:
            t = self.types.of(part)
            return None, False if isinstance(t, Scalar) and np.dtype(t.dtype).kind in "iu" else None
        low = self._bound(found, d)
        return (Interval(low, plus(low, constant(1))) if low is not None else None), False

    def _slice(self, start: Atom, stop: Atom, step: Atom, d: Dim) -> Interval | None:
        by = 1 if step == Const(None) else step.value if isinstance(step, Const) else None
        if type(by) is not int or by <= 0:
            return None
        low = {} if start == Const(None) else self._bound(self.form(start), d)
        if low is None:
            return None
        end = None if stop == Const(None) else self._bound(self.form(stop), d)
        return None if end is None and stop != Const(None) else Interval(low, end, by != 1)

    def _bound(self, found: Form | None, d: Dim) -> Form | None:
        """A place on an axis, counted from its begin; None where it is not known from which end it is counted."""
        if found is None or self._is_at_least(found, 0):
            return found
        if found.keys() - {ONE} or isinstance(d, Length) and d.symbol.startswith("?"):
            return None
        if (d if isinstance(d, int) else d.least) + found.get(ONE, 0) < 0:
            return None  # it may be before the first entry, where a slice begins at that
        return plus(constant(d) if isinstance(d, int) else of_length(d), found)

    # ---------------------------------------------------------- proofs
    def apart(self, written: Region, at: Loops, read: Region, then: Loops, follows: bool) -> bool:
        """Whether what is written within the loops ``at`` is never among what is read within the loops ``then``, in
        later trips of those that are around both or, where it ``follows`` in the text, in the same."""
        if written.base != read.base:
            return False
        common = 0
        while common < min(len(at), len(then)) and at[common] == then[common]:
            common += 1
        home = self._loops_of(written.base)
        if home != at[: len(home)] or len(home) > common:
            return False

        def goes_on(k: int) -> bool:
            """Whether they are apart where this is the outermost loop that has gone on to a later trip."""
            return len(home) <= k and self._apart(written, read, at[:k], at[k] if k < common else None)

        return all(map(goes_on, [*range(common), *[common] * follows]))

    def apart_in_one_trip(self, a: Region, b: Region, loops: Loops) -> bool:
        """Whether two statements within these loops take no entry both, in one trip."""
        return a.base == b.base and self._apart(a, b, loops, None)

    def _apart(self, written: Region, read: Region, same: Loops, goes_on: int | None) -> bool:
        def later(form: Form) -> Form:
            return {self._later(k, same): n for k, n in form.items()}

        for w, r in zip(written.intervals, read.intervals, strict=True):
            low = later(r.low)
            if w.high is not None and self._is_at_least(plus(low, w.high, -1), 0, goes_on, same):
                return True
            if r.high is not None and self._is_at_least(plus(w.low, later(r.high), -1), 0, goes_on, same):
                return True
        return False

    def _later(self, symbol: Hashable, same: Loops) -> Hashable:
        if symbol == ONE or set(self._loops_of(symbol)) <= set(same):
            return symbol
        return (symbol, LATER)

    def _is_at_least(self, form: Form, least: int, goes_on: int | None = None, same: Loops = ()) -> bool:
        return self._Proof(self, goes_on, same).shows(form, least)

    class _Proof:
        """That a form is at least a number, by the bounds of its symbols."""

        def __init__(self, regions: Regions, goes_on: int | None, same: Loops):
            self.regions, self.goes_on, self.same = regions, goes_on, same
            self.steps = 0

        def shows(self, form: Form, least: int) -> bool:
            self.steps += 1
            symbols = [k for k in form if k != ONE]
            if not symbols or self.steps > MOST_STEPS:
                return not symbols and form.get(ONE, 0) >= least
            symbol = max(symbols, key=self.depth)
            n = form[symbol]
            rest = {k: m for k, m in form.items() if k != symbol}
            return any(self.shows(plus(rest, bound, n), least) for bound in self.bounds(symbol, n < 0))

        def depth(self, symbol: Hashable) -> tuple[int, bool, str]:
            inner = isinstance(symbol, tuple) and symbol[1] == LATER
            return len(self.regions._loops_of(symbol[0] if inner else symbol)), inner, str(symbol)  # type: ignore[index]

        def bounds(self, symbol: Hashable, above: bool) -> list[Form]:
            """Forms that a symbol is at least, or at most."""
            other = isinstance(symbol, tuple) and symbol[1] == LATER
            name = symbol[0] if other else symbol  # type: ignore[index]
            if isinstance(name, tuple) and name[0] == "length":
                return [] if above else [{}]
            found = self.regions._trips(name)
            if found is None:
                return []
            low, high, up = found
            bound = high if above else low
            if other:
                bound = {self.regions._later(k, self.same): n for k, n in bound.items()}
            several = [bound]
            if other and self.goes_on == self.regions._loops_of(name)[-1] and up is not above:
                several.insert(0, plus({name: 1}, constant(1 if up else -1)))
            return several
