"""The lengths of arrays, by names that a kernel has for them from its beginning.

u: f64[n], w = u[1:-1]        n = u.shape[0]; w has n - 2 entries
"""

from __future__ import annotations

import builtins
import functools
import operator
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

import numpy as np

from tangentc.analysis.linear import ONE, Form, as_length, of_length
from tangentc.core import ops
from tangentc.core.lengths import Dim, Length
from tangentc.core.nodes import Assign, Atom, Const
from tangentc.core.types import Array, Scalar
from tangentc.kernels.writing import INTEGER, Into, NotSaid, Writing

Value = frozenset[tuple[Hashable, int]]  # a sum of symbols; one that is computed is an operation, and its operands
TESTS: set[Hashable] = {operator.lt, operator.gt}
COMPUTED: set[Hashable] = {builtins.max, builtins.min, operator.floordiv, ops.select, *TESTS}
LARGE = 2**31  # of integers that a loop is given: so many trips may add up such


class Sizes(Writing):
    """The part that knows lengths."""

    def length(self, array: str, axis: int) -> Atom:
        """How long an axis of an array is."""
        t = self.types.of(array)
        assert isinstance(t, Array)
        return self.of_dim(t.shape[axis])

    def of_dim(self, d: Dim) -> Atom:
        """A length as a number, or as the name that the kernel has for it from its beginning."""
        if isinstance(d, int):
            return Const(d)
        if d in self.known:
            return self.known[d]
        plain = Length(d.symbol)
        if d != plain and plain in self.known:
            with Into(self, self.head):
                whole = self.known[plain]
                if d.times != 1:
                    whole = self.emit(operator.mul, (Const(d.times), whole), "%length", INTEGER)
                self._note(d, self.plus(whole, Const(d.offset)))
            return self.known[d]
        raise NotSaid("a length that is not known before the loop")

    def dim_of(self, n: Atom) -> Dim:
        """A length that a kernel has a name for, as what is known of it."""
        return n.value if isinstance(n, Const) else self.dims.get(n) or Length(f"?{n}")

    def known_length(self, n: Atom) -> Atom:
        """An integer that is a length, under the name that the kernel has for it."""
        form = self.bounds.form(n)
        if form is not None and form.keys() <= {ONE}:
            return Const(form.get(ONE, 0))
        found = next((at for d, at in self.known.items() if isinstance(d, Length) and of_length(d) == form), None)
        if found is None and not isinstance(n, Const):
            raise NotSaid("an integer that is not known to be a length")
        return self.canonical(n if found is None else found)

    def know(self, params: Sequence[str]) -> None:
        """Note the lengths of the arrays that a kernel is given, and the integers that are lengths."""
        self.params = set(params)
        for p in params:
            t = self.types.of(p)
            if isinstance(t, Scalar) and isinstance(t.value, Length) and t.dtype == "int64":
                self._know(t.value, functools.partial(str, p))
        for p in params:
            t = self.types.of(p)
            for k, d in enumerate(t.shape if isinstance(t, Array) else ()):
                if isinstance(d, Length):
                    self._know(d, functools.partial(self._axis, p, k))

    def refuse_large(self) -> None:
        """Leave integers of Python to Python that grow beyond those of a machine in sums of them."""
        for p in sorted(self.params - self.small):
            t = self.types.of(p)
            if isinstance(t, Scalar) and t.weak and t.dtype == "int64" and t.value is None:
                with Into(self, self.head):
                    size = self.emit(builtins.abs, (p,), "%size", INTEGER)
                    test = self.emit(operator.gt, (size, Const(LARGE)), "%test", Scalar("bool"))
                    self.fail_if(test, OverflowError, "an integer is too large for the loop")
        self.small |= self.params

    def _axis(self, array: str, axis: int) -> str:
        shape = self.emit(np.shape, (array,), "%shape")
        return self.emit(operator.getitem, (shape, Const(axis)), "n", INTEGER)

    def _know(self, d: Length, write: Callable[[], str]) -> None:
        if d in self.known:
            return
        plain = Length(d.symbol)
        if d.times == 1 and plain in self.known:
            return
        with Into(self, self.head):
            at = write()
            self._note(d, at)
            if d.offset and d.times == 1:
                self._note(plain, self.plus(at, Const(-d.offset)))

    def _note(self, d: Length, at: Atom) -> None:
        self.known[d], self.dims[at] = at, d

    def _longer(self, length: Atom, by: int) -> Atom:
        """A length with so many entries more."""
        if isinstance(length, Const):
            return Const(max(length.value + by, 0))
        if length not in self.dims:
            raise NotSaid("a slice of an array whose length is not known before the loop")
        d = self.dims[length]
        return self.of_dim(replace(d, offset=d.offset + by))

    def clipped(self, length: Atom) -> Atom:
        """A length that is computed, where it may come out below zero."""
        if isinstance(length, str) and (d := self.dims.get(length)) is not None and d.offset < 0:
            return self.emit(builtins.max, (length, Const(0)), "%length", INTEGER)
        return length

    def named(self, form: Form | None) -> Atom | None:
        """The name for a length that the kernel has from its beginning, None where there is none."""
        d = None if form is None else as_length(form)
        return self.of_dim(d) if isinstance(d, int) or d is not None and Length(d.symbol) in self.known else None

    def same(self, a: Atom, b: Atom) -> bool:
        """Whether two lengths are the same: where only the run knows, it is asked before the loop."""
        a, b = self.canonical(a), self.canonical(b)
        if a == b or (value := self.value(a)) is not None and value == self.value(b):
            return True
        if Const(1) in (a, b) or not all(isinstance(n, Const) or n in self.dims for n in (a, b)):
            return False
        with Into(self, self.head):
            differ = self.emit(operator.ne, (a, b), "%test", Scalar("bool"))
            self.fail_if(differ, ValueError, "lengths that are taken to be the same are not")
        plain = (
            isinstance(b, Const) or isinstance(a, str) and self.dims[a].times != 1
        )  # the simpler one stands for both
        first, other = (b, a) if plain else (a, b)
        self.equal[other] = first
        return True

    def value(self, n: Atom, deepest: int = 4) -> Value | None:
        """What an integer is computed from: two of one value are equal in one trip."""
        made = self.made.get(n) if isinstance(n, str) else None
        is_test = isinstance(made, Assign) and made.op in TESTS
        form: Form | None = {n: 1} if is_test else self.bounds.form(n)
        if form is None:
            return None
        return frozenset((self._computed(symbol, deepest), times) for symbol, times in form.items())

    def _computed(self, symbol: Hashable, deepest: int) -> Hashable:
        """The symbol of a form, or the operation that gives it."""
        made = self.made.get(symbol) if isinstance(symbol, str) else None
        if not isinstance(made, Assign) or made.op not in COMPUTED or not deepest:
            return symbol
        given = tuple(self.value(a, deepest - 1) for a in made.args)
        return symbol if None in given else (made.op, given)

    def canonical(self, n: Atom) -> Atom:
        """The length that stands for all that are the same."""
        while n in self.equal:
            n = self.equal[n]
        return n

    def said(self, symbol: Hashable) -> Atom | None:
        """A name for the symbol of a form."""
        if isinstance(symbol, str):
            return symbol
        if isinstance(symbol, tuple) and symbol[0] == "length":
            return self.known.get(Length(symbol[1]))
        return None
