"""Functions that kernels write out in loops of their own, and those that give the axes of an array in another order.

np.swapaxes(a, 0, 1)        a, whose subscripts change places
np.roll(a, 1)               a[i - 1 if i >= 1 else i - 1 + n]
np.arange(n)                k[i] = i
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Const, Op
from tangentc.core.types import Known, Scalar
from tangentc.kernels.language import is_number
from tangentc.kernels.stacks import Stacks
from tangentc.kernels.writing import INTEGER, Axis, NotSaid, View
from tangentc.runtime import marks

Write = Callable[["Words", Assign], None]
WORDS: dict[Op, Write] = {}
ORDERS: tuple[Op, ...] = (
    np.transpose,
    np.swapaxes,
    np.moveaxis,
    np.expand_dims,
)  # which give the axes in another order


def word(*functions: Op) -> Callable[[Write], Write]:
    """Note how functions are written."""

    def noted(write: Write) -> Write:
        WORDS.update(dict.fromkeys(functions, write))
        return write

    return noted


class Words(Stacks):
    """The part that has words for functions."""

    def arrays(self, s: Assign, count: int) -> tuple[str, ...]:
        """The arguments of a function of so many arrays.  Raises `NotSaid` where they are not of one dtype."""
        dtypes = {getattr(self.types.of(a), "dtype", "") for a in (*s.args[-count:], s.target)}
        if s.keywords or not all(map(self.is_array, s.args[-count:])) or len(dtypes) > 1 or "bool" in dtypes:
            raise NotSaid(f"{getattr(s.op, '__name__', 'this')} of something else")
        return tuple(map(str, s.args[-count:]))

    def lengths(self, atom: Atom) -> tuple[Atom, ...]:
        return tuple(a.length for a in self.whole(atom).axes)

    def whole(self, atom: Atom) -> View:
        """The view that an array is.  Raises `NotSaid` for something else."""
        if not self.is_array(atom):
            raise NotSaid("something else than an array")
        return self.view(atom)

    def of_adjoints(self, s: Assign) -> None:
        """Refuse what NumPy adds up in an order of its own."""
        if s.span.sweep != "adjoint":
            raise NotSaid(f"{getattr(s.op, '__name__', 'this')}, whose order is NumPy's own")

    def refuse_product(self, s: Assign) -> None:
        """Refuse a product of matrices where all of them are better left to others."""

    def write(self, s: Assign, op: Op, args: tuple[Atom, ...], keywords: tuple = (), target: str = "") -> str:
        """Write a statement that is part of another one."""
        if not target:
            target = self.fresh(f"%{getattr(op, '__name__', 'entry')}")
            self.types.of_name[target] = self.types.result(op, args, keywords)
        self.assign(Assign(target, op, args, keywords, s.span))
        return target

    def assign(self, s: Assign) -> None:
        """Write a statement that gives a value."""
        raise NotImplementedError

    def _stored(self, value: Atom, into: str) -> Atom:
        """A value as one of the dtype that it is stored into."""
        t = self.types.of(value)
        if into in ("int64", "bool") and getattr(t, "dtype", "") != into:
            raise NotSaid("a number is cut off where it is stored")
        if self.is_array(value):
            if t.dtype not in ("float64", into):  # type: ignore[union-attr]
                raise NotSaid("this store")
            return value
        if not is_number(t):
            raise NotSaid("this store")
        if into == "float32":
            value = self._typed(value, into)
        return Const(float(value.value)) if isinstance(value, Const) and into == "float64" else value

    def product(self, a: Atom, b: Atom) -> Atom:
        """The product of two entries."""
        return self.emit(operator.mul, (a, b))


# ---------------------------------------------------------- axes in another order
@word(np.swapaxes)
def swapped(nests: Words, s: Assign) -> None:
    """Two axes in the place of each other."""
    view, (a, b) = nests.whole(s.args[0]), numbers(s)
    order = [*range(len(view.axes))]
    order[a], order[b] = order[b], order[a]
    nests.views[s.target] = replace(view, axes=tuple(view.axes[k] for k in order))


@word(np.transpose)
def transposed(nests: Words, s: Assign) -> None:
    """The axes backwards, or in the order that is said."""
    view = nests.whole(s.args[0])
    rank = len(view.axes)
    (order,) = numbers(s) if len(s.args) > 1 or s.keywords else (None,)
    order = range(rank)[::-1] if order is None else order
    nests.views[s.target] = replace(view, axes=tuple(view.axes[k] for k in order))


@word(np.moveaxis)
def moved(nests: Words, s: Assign) -> None:
    """An axis in another place."""
    view = nests.whole(s.args[0])
    rank = len(view.axes)
    source, target = ([k % rank for k in np.atleast_1d(n).tolist()] for n in numbers(s))
    order = [k for k in range(rank) if k not in source]
    for to, k in sorted(zip(target, source)):
        order.insert(to, k)
    nests.views[s.target] = replace(view, axes=tuple(view.axes[k] for k in order))


@word(np.expand_dims)
def expanded(nests: Words, s: Assign) -> None:
    """With axes of one entry."""
    view = nests.whole(s.args[0])
    (where,) = numbers(s)
    new = np.atleast_1d(where)
    rank = len(view.axes) + new.size
    places, left = {k % rank for k in new.tolist()}, iter(view.axes)
    axes = tuple(Axis(None, Const(0), 1, Const(1)) if k in places else next(left) for k in range(rank))
    nests.views[s.target] = replace(view, axes=axes)


@word(np.flip)
def turned(nests: Words, s: Assign) -> None:
    """Axes from their ends on."""
    view = nests.whole(s.args[0])
    (axis,) = numbers(s) if len(s.args) > 1 or s.keywords else (None,)
    over = {k % len(view.axes) for k in np.atleast_1d(range(len(view.axes)) if axis is None else axis).tolist()}
    back = slice(None, None, -1)
    axes = tuple(nests.sliced(a, back) if k in over else a for k, a in enumerate(view.axes))
    nests.views[s.target] = replace(view, axes=axes)


@word(np.diff)
def differences(nests: Words, s: Assign) -> None:
    """Each entry less the one before it."""
    named = dict(zip(("n", "axis"), s.args[1:])) | dict(s.keywords)
    axis = getattr(named.pop("axis", Const(-1)), "value", None)
    if named not in ({}, {"n": Const(1)}) or type(axis) is not int or len(s.args) > 3:
        raise NotSaid("other differences")
    before = (slice(None),) * (axis % len(nests.lengths(s.args[0])))
    keys = [Const((*before, part)) for part in (slice(1, None), slice(None, -1))]
    a, b = (nests.write(s, operator.getitem, (s.args[0], key)) for key in keys)
    nests.write(s, operator.sub, (a, b), (), s.target)


@word(np.cumsum)
def cumulated(nests: Words, s: Assign) -> None:
    """The sums of the entries up to each one, along the last axis."""
    x, t = s.args[0], nests.types.of(s.target)
    (axis,) = numbers(s) if len(s.args) > 1 or s.keywords else (None,)
    lengths = nests.lengths(x)
    rank = len(lengths)
    if len(t.shape) != rank or (axis or 0) % rank != rank - 1 or t.dtype != nests.types.of(x).dtype:  # type: ignore
        raise NotSaid("sums along another axis")
    nests._allocate(s.target, lengths, np.empty)
    view, total = nests.view(s.target), Scalar(t.dtype)  # type: ignore[union-attr]
    zero = Const({"int64": 0, "float32": np.float32(-0.0)}.get(total.dtype, -0.0))

    def along(at: tuple[Atom, ...]) -> None:
        name = nests.fresh("%total")
        nests.types.of_name[name] = total

        def kept(k: tuple[Atom, ...], so_far: str) -> None:
            nests._store(view, k, so_far, None)

        nests._carried(lengths[-1:], at, lambda k: nests.entry(x, k, lengths), name, operator.add, zero, kept)

    nests.nest(lengths[:-1], along)


@word(np.roll)
def rolled(nests: Words, s: Assign) -> None:
    """Entries some places further on, those at the end at the beginning."""
    x = s.args[0]
    shift, axis, *_ = (*numbers(s), None)
    lengths = nests.lengths(x)
    if type(shift) is not int or len(lengths) > 1 and type(axis) is not int:
        raise NotSaid("an array that is rolled in another way")
    axis = (axis or 0) % len(lengths)
    n = lengths[axis]
    shift = shift % max(n.value, 1) if isinstance(n, Const) else shift
    if not nests._has(n, abs(shift)):
        raise NotSaid("an array that is rolled, whose length is not known before the loop")

    def value(at: tuple[Atom, ...], lengths: tuple[Atom, ...]) -> Atom:
        k, back, there = at[axis], nests.plus(at[axis], Const(-shift)), nests.plus(n, Const(-abs(shift)))
        wrapped = nests.plus(at[axis], there) if shift > 0 else nests.plus(k, there, operator.sub)
        near = (operator.ge, (k, Const(shift))) if shift > 0 else (operator.lt, (k, there))
        test = nests.emit(*near, "%test", Scalar("bool"))
        place = nests.emit(ops.select, (test, back, wrapped), "%index", INTEGER) if shift else k
        return nests.entry(x, (*at[:axis], place, *at[axis + 1 :]), lengths)

    nests.fill(s.target, lengths, value)


def numbers(s: Assign) -> tuple:
    """The arguments behind the first one.  Raises `NotSaid` for those that are not known."""
    given = (*s.args[1:], *(a for _, a in s.keywords))
    if not all(isinstance(a, Const) for a in given):
        raise NotSaid(f"{getattr(s.op, '__name__', 'this')} of something else")
    return tuple(a.value for a in given if isinstance(a, Const))


# ---------------------------------------------------------- others
@word(np.arange)
def counted(nests: Words, s: Assign) -> None:
    """The integers below one."""
    if len(s.args) != 1 or s.keywords or getattr(nests.types.of(s.args[0]), "dtype", "") != "int64":
        raise NotSaid("arange of something else")
    nests.fill(s.target, (nests.known_length(s.args[0]),), lambda at, lengths: at[0])


@word(np.eye)
def unit(nests: Words, s: Assign) -> None:
    """Ones where both subscripts are the same."""
    if len(s.args) != 1 or s.keywords or nests.types.of(s.target).dtype != "float64":  # type: ignore[union-attr]
        raise NotSaid("another unit matrix")
    n = nests.known_length(s.args[0])

    def value(at: tuple[Atom, ...], lengths: tuple[Atom, ...]) -> Atom:
        test = nests.emit(operator.eq, at, "%test", Scalar("bool"))
        return nests.emit(ops.select, (test, Const(1.0), Const(0.0)), "%entry", Scalar("float64"))

    nests.fill(s.target, (n, n), value)


@word(np.tril, np.triu)
def triangle(nests: Words, s: Assign) -> None:
    """Zeros above the diagonal, or below it."""
    x, lengths = s.args[0], nests.lengths(s.args[0])
    k, *more = (*numbers(s), 0)
    dtype = nests.types.of(s.target).dtype  # type: ignore[union-attr]
    if len(more) > 1 or type(k) is not int or len(lengths) < 2 or dtype not in ("float64", "float32"):
        raise NotSaid("another triangle")
    stays, zero = operator.ge if s.op is np.tril else operator.le, Const(0.0 if dtype == "float64" else np.float32(0))

    def value(at: tuple[Atom, ...], lengths: tuple[Atom, ...]) -> Atom:
        test = nests.emit(stays, (nests.plus(at[-2], Const(k)), at[-1]), "%test", Scalar("bool"))
        return nests.emit(ops.select, (test, nests.entry(x, at, lengths), zero), "%entry", Scalar(dtype))

    nests.fill(s.target, lengths, value)


@word(marks)
def marked(nests: Words, s: Assign) -> None:
    """Flags that are true at the entries that subscripts take."""
    like, *keys = s.args
    if not nests.is_array(like):
        raise NotSaid("flags of something else than an array")
    nests._allocate(s.target, nests.lengths(like), np.zeros)
    for key in keys:
        if nests.has_index(key):
            nests.put(s.target, key, Const(True), None)
        elif nests._is_basic(key):
            part = nests.part(nests.view(s.target), key)
            lengths = tuple(a.length for a in part.axes)
            nests.nest(lengths, lambda at, part=part: nests._store(part, at, Const(True), None))  # type: ignore
        else:
            raise NotSaid("flags at other places")


@word(builtins.getattr)
def constant(nests: Words, s: Assign) -> None:
    """A number of a module, as `math.pi`."""
    if not isinstance(nests.types.of(s.args[0]), Known) or not isinstance(nests.types.of(s.target), Scalar):
        raise NotSaid("an attribute")
    nests.add(s)
