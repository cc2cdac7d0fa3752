"""Statements on arrays as loops over entries.

    t = a[1:] * b                      t = np.empty(n - 1)
    A[1:-1] += t              ->       for i in range(n - 1):
                                           t[i] = a[i + 1] * b[i]
                                       for i in range(n - 2):
                                           A[i + 1] += t[i]

A view is no statement here: it is said in the subscripts of what it is a view of.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

import tangentc.kernels.joins
import tangentc.kernels.matrices
import tangentc.kernels.products
import tangentc.kernels.shapes
import tangentc.kernels.solvers  # noqa: F401  # which note words
from tangentc.core import ops
from tangentc.core.naming import shown
from tangentc.core.nodes import Assign, Atom, Block, Carry, Const, Effect, For, If, Merge, Op, Statement, Store, While
from tangentc.core.types import Array, Container, Known, Scalar
from tangentc.core.walk import all_reads
from tangentc.kernels.accesses import has_leave
from tangentc.kernels.forwards import TURNED
from tangentc.kernels.language import DTYPES, entry_op, is_array, is_number
from tangentc.kernels.strides import Listed, Stride, numbers, range_of, step_of
from tangentc.kernels.sums import SUMS
from tangentc.kernels.trips import UNCOUNTED
from tangentc.kernels.words import WORDS, Words
from tangentc.kernels.writing import Axis, Into, NotSaid, View

MAKES: dict[Op, float | None] = {np.zeros: 0.0, np.ones: 1.0, np.empty: None}
MAKES_LIKE: dict[Op, float | None] = {np.zeros_like: 0.0, np.ones_like: 1.0, np.empty_like: None}


class Nests(Words):
    """Writes the statements of a region as loops over entries."""

    def block(self, block: Block) -> Block:
        out: list[Statement] = []
        with Into(self, out):
            for s in block:
                self.span = s.span  # type: ignore[assignment]
                try:
                    self.statement(s)
                except NotSaid as reason:
                    reason.statement = s
                    raise
        return tuple(out)

    def statement(self, s: Statement) -> None:
        match s:
            case Assign():
                self.assign(s)
            case Store():
                self.store(s)
            case If():
                self.branch(s)
            case For():
                self.loop(s)
            case While():
                self.while_(s)
            case Effect():
                self.effect(s)
            case _ if getattr(s, "kind", "") in ("break", "continue"):
                self.add(s)
            case _:
                raise NotSaid("this statement")

    def _joined(self, joins: Sequence[Carry | Merge]) -> None:
        """Refuse values that are one or the other and no numbers, and no arrays of one shape."""
        for j in joins:
            t = self.types.of(j.name)
            both = (j.init, j.next) if isinstance(j, Carry) else (j.then, j.orelse)
            for a in both:
                own = self.types.of(a)
                if is_number(t) and isinstance(a, Const) and (a.value is ops.UNDEFINED or type(a.value) is bool):
                    continue
                if is_array(t) and is_array(own) and (own.dtype, own.shape) == (t.dtype, t.shape):  # type: ignore
                    continue
                if not is_number(t) or not is_number(own):
                    raise NotSaid(f"{shown(j.name)} is one value or another")

    def _joining(self, atom: Atom, name: str) -> Atom:
        """What a name takes on where control joins: any number where nobody reads it, and of an array all of it."""
        if atom == Const(ops.UNDEFINED):
            return Const(np.dtype(getattr(self.types.of(name), "dtype", "float64")).type(0).item())
        return self._array(atom)

    def _array(self, atom: Atom) -> Atom:
        """The array that a name stands for all of."""
        if not self.is_array(atom):
            return atom
        view = self.view(atom)
        whole = View(view.array, tuple(Axis(k, Const(0), 1, a.length) for k, a in enumerate(view.axes)))
        if view == whole:
            return view.array
        if self.is_changed(str(atom)):
            raise NotSaid("a part of an array is carried")
        return self._own(atom)  # which is as good where neither changes

    def _behind(self, block: Block, joins: Sequence[tuple[Atom, str]]) -> tuple[Block, list[Atom]]:
        """A block that ends with what it hands on to these names, and what that is."""
        more: list[Statement] = []
        with Into(self, more):
            atoms = [self._joining(a, name) for a, name in joins]
        if more and has_leave(block):
            raise NotSaid("a part of an array is carried")
        return (*block, *more), atoms

    def branch(self, s: If) -> None:
        self._number(s.test)
        self._joined(s.merged)
        was, self.outright = self.outright, False
        with self.within_loop(UNCOUNTED):
            then, orelse = self.block(s.then), self.block(s.orelse)
        self.outright = was
        then, first = self._behind(then, [(m.then, m.name) for m in s.merged])
        orelse, other = self._behind(orelse, [(m.orelse, m.name) for m in s.merged])
        merged = tuple(Merge(m.name, a, b) for m, a, b in zip(s.merged, first, other))
        self.add(replace(s, then=then, orelse=orelse, merged=merged))

    def loop(self, s: For) -> None:
        if s.iterable in self.backwards:
            s = self._popping(s)
        self._joined(s.carried)
        trips = self.ranges.get(str(s.iterable))
        of: Stride | Listed | None = None
        if (listed := self.listed.get(s.iterable, numbers(s.iterable))) is not None:
            trips, of = range_of(listed)
        if trips is None or not is_number(self.types.of(s.target)):
            raise NotSaid("a loop over something else than a range")
        over = self.fresh("%range")
        self.types.of_name[over] = Known(Const(range(0)))
        turned, saves, variable = s.iterable in self.turned, self.has_saves(s), s.target
        if saves and s.target not in all_reads(s.body):
            s = replace(s, target=self.trip())
            turned = turned or self.takes(s)  # the last trip comes first
        if of is None and (saves or turned):
            trips, of = self.numbered(trips)
        if of is not None and s.target == variable:
            s = replace(s, target=self.trip())
        forwards, trips = trips, self.backwards_of(trips) if turned else trips
        keywords = tuple(zip(TURNED, forwards)) if turned and step_of(forwards) == 1 else ()
        self.add(Assign(over, builtins.range, trips, keywords, s.span))
        self.bounds.around(replace(s, iterable=over))
        inits = [self._joining(c.init, c.name) for c in s.carried]
        self.carried |= {c.name for c in s.carried}
        was, leaves = self.outright, has_leave(s.body)
        self.outright = was and not leaves
        before: list[Statement] = []
        with self.within_loop(self.around_of(s, forwards, turned, leaves)):
            if of is not None and variable in all_reads(s.body):
                with Into(self, before):
                    self.variable(variable, of, s.target)
            body, after = self._behind((*before, *self.block(s.body)), [(c.next, c.name) for c in s.carried])
        self.outright = was
        carried = tuple(Carry(c.name, a, b) for c, a, b in zip(s.carried, inits, after))
        self.add(replace(s, iterable=over, body=body, carried=carried))

    def while_(self, s: While) -> None:
        self._joined(s.carried)
        inits = [self._joining(c.init, c.name) for c in s.carried]
        self.carried |= {c.name for c in s.carried}
        was, self.outright = self.outright, False
        with self.within_loop(UNCOUNTED):
            head, body = self.block(s.head), self.block(s.body)
            body, after = self._behind(body, [(c.next, c.name) for c in s.carried])
        self.outright = was
        carried = tuple(Carry(c.name, a, b) for c, a, b in zip(s.carried, inits, after))
        self.add(replace(s, head=head, body=body, carried=carried))

    def assign(self, s: Assign) -> None:
        t = self.types.of(s.target)
        if s.op is builtins.range and not s.keywords:
            if any(getattr(self.types.of(a), "dtype", "") != "int64" for a in s.args):
                raise NotSaid("a range of something else than integers")
            self.ranges[s.target] = s.args if len(s.args) > 1 else (Const(0), *s.args)
        elif s.op is builtins.reversed and s.args[0] in self.stacks:
            self.backwards[s.target] = str(s.args[0])
        elif s.op is builtins.reversed and s.args[0] in self.ranges.keys() - self.turned:
            self.ranges[s.target] = self.ranges[s.args[0]]  # type: ignore[index]
            self.turned.add(s.target)
        elif self.constants(s):
            pass
        elif s.op in (ops.make_tuple, ops.make_list):
            self.parts[s.target] = s.args
        elif s.op is builtins.slice:
            self.slices[s.target] = s.args
        elif s.op is ops.pop and len(s.args) == 1:
            self._pop(s)
        elif s.op is operator.getitem and s.args[0] in self.parts and type(getattr(s.args[1], "value", None)) is int:
            self._rename(s, self.parts[s.args[0]][s.args[1].value])  # type: ignore[index]
        elif (s.op is builtins.getattr and s.args[1] == Const("shape") or s.op is np.shape) and self.is_array(
            s.args[0]
        ):
            view = self.view(s.args[0])
            self.parts[s.target] = tuple(a.length for a in view.axes)
        elif s.op is np.size and len(s.args) == 1 and self.is_array(s.args[0]):
            self._rename(s, self._count([a.length for a in self.view(s.args[0]).axes]))
        elif s.op is builtins.len and self.is_array(s.args[0]):
            self._rename(s, self.view(s.args[0]).axes[0].length)
        elif s.op is operator.getitem and self.is_array(s.args[0]):
            self.subscript(s)
        elif s.op in WORDS and (is_array(t) or is_number(t) or isinstance(t, Container)):
            WORDS[s.op](self, s)
        elif is_number(t):
            self.number(s)
        elif is_array(t):
            self.array(s)
        else:
            raise NotSaid(f"{getattr(s.op, '__name__', 'this')} gives something else than numbers")

    def number(self, s: Assign) -> None:
        if s.op in SUMS:
            return self.reduction(s)
        self._entry(s.op, s.args, s.target, s.keywords)

    def array(self, s: Assign) -> None:
        if s.op in MAKES or s.op in MAKES_LIKE or s.op in (np.full, np.full_like):
            return self._made(s)
        if s.op in SUMS:
            return self.reduction(s)
        if s.target in self.finished:
            return self._rename(s, s.args[0])
        op = ops.identity if s.op is ops.method and s.args[1] == Const("copy") else s.op
        args = s.args[:1] if op is not s.op else s.args
        if op in (np.copy, ops.identity) and self.save_copy(s):
            return None
        if s.keywords or entry_op(op, args, self.types) is None:
            raise NotSaid(f"{getattr(s.op, '__name__', 'this')}")
        if self.gives_back(s):
            raise NotSaid("another name for an array that is written")
        self.fill(s.target, self._space(args), lambda at, n: self._value(op, args, at, n))

    def _value(self, op: Op, args: tuple[Atom, ...], at: tuple[Atom, ...], lengths: tuple[Atom, ...]) -> Atom:
        """What an operation gives for one entry."""
        entries = tuple(self.entry(a, at, lengths) for a in args)
        if op is ops.identity or entry_op(op, entries, self.types) is ops.identity:
            return entries[0]
        target = self.fresh("%entry")
        given = [self.types.of(a) for a in args]
        self.types.of_name[target] = self._entry_type(op, args, given)
        self._entry(op, entries, target)
        return target

    def _entry_type(self, op: Op, args: tuple[Atom, ...], given: object) -> Scalar:
        t = self.types.result(op, args)
        if not isinstance(t, (Array, Scalar)) or t.dtype not in DTYPES:
            raise NotSaid("a type")
        return Scalar(t.dtype)

    def _made(self, s: Assign) -> None:
        """An array of zeros, ones, or of one number."""
        named = dict(s.keywords)
        named.pop("dtype", None)
        if named:
            raise NotSaid("an array that is made in another way")
        if s.op in MAKES_LIKE or s.op is np.full_like:
            if not self.is_array(s.args[0]):
                raise NotSaid("an array like something else")
            lengths = tuple(a.length for a in self.view(s.args[0]).axes)
        else:
            shape = s.args[0]
            lengths = self.parts.get(shape, (shape,)) if isinstance(shape, str) else self._keys(shape)
        if len(s.args) > 1 and s.op not in (np.full, np.full_like):
            raise NotSaid("an array of another dtype")
        if s.op in (np.full, np.full_like):
            self._number(s.args[1])
            self.fill(s.target, lengths, lambda at, n: s.args[1])
            return
        number = MAKES[s.op] if s.op in MAKES else MAKES_LIKE[s.op]
        self._allocate(s.target, lengths, np.empty if number is None else np.zeros if number == 0 else np.ones)

    def store(self, s: Store) -> None:
        op, into = s.op, getattr(self.types.of(s.object), "dtype", "")
        if not self.is_array(s.object) or op not in (None, operator.add, operator.sub, operator.mul, operator.truediv):
            raise NotSaid("this store")
        value = self._stored(s.value, into)
        if s.key is not None and self.has_index(s.key):
            if op is not None:  # all are read before one is written
                value = self._updated(s.object, s.key, op, value)
            return self.put(s.object, s.key, value, None)
        if s.key is not None and not self._is_basic(s.key):
            raise NotSaid("this store")
        view = self.view(s.object)
        part = view if s.key is None else self.part(view, s.key)
        lengths = tuple(a.length for a in part.axes)
        self.refuse_other_length(value, lengths)
        if self.is_array(value) and self.root(self.view(value).array) == self.root(part.array):
            value = self._own(value) if self.view(value) != part else value
        self.nest(lengths, lambda at: self._store(part, at, self.entry(value, at, lengths), op))

    def _updated(self, array: str, key: Atom, op: Op, value: Atom) -> str:
        """What ``x[idx] op v`` gives for an index array."""
        taken, new = self.fresh("%kept"), self.fresh("%kept")
        self.types.of_name[taken] = self.types.of_name[new] = self.types.result(operator.getitem, (array, key))
        self.taken(taken, array, key)
        self.fill(new, self._space((taken,)), lambda at, n: self._value(op, (taken, value), at, n))
        return new
