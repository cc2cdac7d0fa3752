"""Writing the statements of a batch: names with their marks, an axis for what has none, one value in place of another.

A writer goes through a function once.  Where a name turns out to be batched only later, as an array that is made of
zeros and then stored into, or what a loop carries, it says so in ``raised``, and the function is written once more.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Set
from collections.abc import Sequence as Seq
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from tangentc.analysis.program import Program
from tangentc.batching.marks import EACH, Mark, is_batched, join, parts, place, tidy, whole
from tangentc.core import ops
from tangentc.core.build import Builder, build_container
from tangentc.core.naming import hint
from tangentc.core.nodes import NOWHERE, Assign, Atom, Const, Effect, For, If, Op, Statement, While, is_temporary
from tangentc.core.types import Array, Container, Scalar, Sequence, Type, is_container, present
from tangentc.core.walk import definitions
from tangentc.errors import Span, UnsupportedSyntax
from tangentc.ops.table import known_of

Keywords = tuple[tuple[str, Atom], ...]
Calls = Callable[[Assign, "Writer"], tuple[Atom, Mark] | None] | None
ALL = Const(slice(None))
BEHIND = Const(slice(1, None))  # the axes of one example
AXIS = ("axis", Const(0))
FIRST = {ops.make_tuple: 0, ops.make_list: 0, ops.make_dict: 1, ops.make_struct: 2}  # where their items begin


class NoWay(Exception):
    """A statement has no form for a batch."""


class Entangled(NoWay):
    """What shares memory in one example would not share it in a batch."""


class Writer:
    """Writes one function for a batch.  ``raised`` are the marks that names have to have, known from before."""

    def __init__(self, program: Program, raised: dict[str, Mark], forced: Set[str] = frozenset(), calls: Calls = None):
        self.program, self.types, self.raised, self.forced, self.calls = program, program.types, raised, forced, calls
        self.made = definitions(program.function.body)
        copies = (s for s in self.made.values() if isinstance(s, Assign) and known_of(s.op).deep_copy)
        self.has_changed_copies = any(program.aliases.is_changed(s.target) for s in copies)
        self.builder = Builder(program.types, program.types.of_name)
        self.names: dict[str, Atom] = {}  # what the names of the function are called in that of the batch
        self.marks: dict[str, Mark] = {}
        self.out: list[Statement] = []
        self.by: dict[Atom, Assign] = {}  # the values that are made here, not by the function, and how
        self.shapes: dict[Atom, Atom] = {}  # the shapes of one example, with those of the batch
        self.size: Atom = Const(None)  # of the batch
        self.span: Span = NOWHERE
        self.unnamed: set[Atom] = set()  # what is put into an array as soon as it is made
        self.grew = False
        self.loops = 0  # how many blocks are done so
        self.looped: dict[Span, str] = {}  # what is done for one example after the other

    # ---------------------------------------------------------- asking
    def now(self, atom: Atom) -> Atom:
        return self.names[atom] if isinstance(atom, str) else atom

    def mark(self, atom: Atom) -> Mark:
        return self.marks.get(atom, False) if isinstance(atom, str) else False

    def type(self, atom: Atom) -> Type:
        return self.types.of(atom)

    def rank(self, atom: Atom) -> int | None:
        """The number of axes that a value has in one example."""
        t = present(self.type(atom))
        if isinstance(t, Array):
            return len(t.shape)
        return 0 if isinstance(t, Scalar) and t.dtype != "str" else None

    def ranks(self, *atoms: Atom) -> list[int] | None:
        """The numbers of axes of several values, None if one is not known."""
        found = [self.rank(a) for a in atoms]
        return None if None in found else found  # type: ignore[return-value]

    # ---------------------------------------------------------- writing
    def emit(self, op: Op, args: tuple[Atom, ...], keywords: Keywords = (), name: str = "") -> str:
        target = self.builder.fresh(name or hint(op, args))
        self.by[target] = Assign(target, op, args, keywords, self.span)
        self.out.append(self.by[target])
        return target

    def effect(self, op: Op, *args: Atom) -> None:
        self.out.append(Effect(op, args, (), self.span))

    @contextmanager
    def block(self) -> Iterator[list[Statement]]:
        """Write into a block of its own."""
        outer, self.out = self.out, []
        try:
            yield self.out
        finally:
            self.out = outer

    def bind(self, name: str, atom: Atom, mark: Mark) -> None:
        """Let a name of the function be a value from here on, with the marks that it has to have."""
        wanted = join(mark, self.raised.get(name, False))
        if wanted != mark:
            if is_container(self.type(name)) and self.is_changed(name):
                raise NoWay  # its parts may share memory with others
            atom = self.converted(atom, mark, wanted, self.type(name), True)
        self.names[name], self.marks[name] = self.named(name, atom), wanted

    def named(self, name: str, atom: Atom) -> Atom:
        """A value under the user's name for it, where it was made here just now."""
        last = self.out[-1] if self.out else None
        if atom == name or is_temporary(name) or name in self.unnamed:
            return atom
        if isinstance(last, Assign) and last.target == atom and atom in self.by:
            self.out[-1] = replace(last, target=name)
            return name
        self.out.append(Assign(name, ops.identity, (atom,), (), self.span))
        return name

    # ---------------------------------------------------------- marks
    def is_changed(self, name: str) -> bool:
        """Whether a value is changed, or may be among what is copied with all that it holds, and changed then: what of
        that is one array is one array of the copy too."""
        return self.has_changed_copies or self.program.aliases.is_changed(name)

    def need(self, name: Atom, mark: Mark) -> None:
        """A value has to have a mark, for it is changed: so must all whose memory it shares.  Raises `NoWay` where each
        example changes one of its own: what shares memory with which is not followed through lists of examples."""
        if not isinstance(name, str) or name not in self.types.of_name:
            return
        if mark is EACH:
            raise NoWay
        before = self.raised.get(name, False)
        if (wanted := join(before, mark)) == before:
            return
        self.raised[name] = wanted
        self.grew = self.grew or join(self.marks.get(name, False), wanted) != self.marks.get(name, False)
        for atom, of_it in self.sharing(name, wanted):
            self.need(atom, of_it)

    def sharing(self, name: str, mark: Mark) -> list[tuple[Atom, Mark]]:
        """The values whose memory a value has or holds, with the marks that follow for them."""
        match self.made.get(name):
            case If(merged=merged):
                return [(a, mark) for m in merged if m.name == name for a in (m.then, m.orelse)]
            case For(carried=carried, target=target, iterable=iterable):
                held = self.type(iterable)
                if name == target:
                    return [(iterable, tidy((mark,) * len(held.items)))] if is_container(held) else []
                return [(a, mark) for c in carried if c.name == name for a in (c.init, c.next)]
            case While(carried=carried):
                return [(a, mark) for c in carried if c.name == name for a in (c.init, c.next)]
            case Assign() as s:
                shared = s.args[:1] if known_of(s.op).deep_copy else self.program.aliases.shares(s)
                return [(a, self.of_shared(s, a, mark)) for a in shared]
        return []

    def of_shared(self, s: Assign, atom: Atom, mark: Mark) -> Mark:
        """The mark that an argument has to have, as what is made of it has this one."""
        t = self.type(atom)
        if mark is EACH:
            return EACH
        if s.op in (operator.getitem, getattr) and is_container(t):
            key = s.args[1].value if isinstance(s.args[1], Const) else None
            k = place(t, key)
            return tidy(tuple(mark if k in (i, None) else False for i in range(len(t.items))))
        held = self.type(s.target)
        if s.op in FIRST and isinstance(mark, tuple):
            k = place(held, self.key(s, s.args.index(atom)))
            return mark[k] if k is not None else EACH
        return mark if is_container(t) == is_container(held) else whole(t)

    def key(self, s: Assign, k: int) -> object:
        """Under which key a container holds an argument of what puts it together."""
        first = FIRST[s.op]
        return s.args[first - 1].value[k - first] if first else k  # type: ignore[union-attr]

    def raised_to(self, atom: Atom, mark: Mark, t: Type | None = None) -> Atom:
        """A value with more of it batched; what is changed somewhere has to be so from the beginning.  Raises `NoWay`
        for a number of each example in the place of an array, which would lie along the axes of that."""
        if self.mark(atom) is True and isinstance(self.type(atom), Scalar) and getattr(t, "or_number", False):
            raise NoWay
        if self.mark(atom) == mark:
            return self.now(atom)
        if isinstance(atom, str) and isinstance(self.type(atom), (Array, Container)):
            if self.is_changed(atom):
                self.need(atom, mark)
        return self.converted(self.now(atom), self.mark(atom), mark, t or self.type(atom))

    def batched(self, atom: Atom) -> Atom:
        """A number or an array with the batch along its first axis."""
        return self.raised_to(atom, True)

    # ---------------------------------------------------------- conversions
    def converted(self, atom: Atom, before: Mark, after: Mark, t: Type, apart: bool = False) -> Atom:
        """A value that is the same in each example as one that has an entry for each; ``apart`` if that is written."""
        if before == after or atom == Const(None):
            return atom
        t = present(t)
        if after is EACH:
            return self.listed(atom, before, t)
        if before is EACH:
            return self.stacked(atom, t)
        if is_container(t):
            return self.rebuilt(
                atom, t, lambda part, k, item: self.converted(
                    part, parts(before, t)[k], parts(after, t)[k], item, apart)
            )  # fmt: skip
        if isinstance(t, Scalar):
            return self.filled(atom, t)
        if isinstance(t, Array) and t.or_number and self.is_number(atom):
            return atom  # it broadcasts as the array does for which it stands
        if apart:
            lifted = self.emit(operator.getitem, (atom, Const(None)))
            return self.emit(np.repeat, (lifted, self.size), (AXIS,))
        shape = self.emit(getattr, (atom, Const("shape")))
        whole_shape = self.emit(operator.add, (self.emit(ops.make_tuple, (self.size,)), shape))
        return self.emit(np.broadcast_to, (atom, whole_shape))

    def filled(self, atom: Atom, t: Scalar) -> Atom:
        """A number for each example."""
        if isinstance(atom, Const) and t.dtype.startswith("float"):
            atom = Const(float(atom.value))
        own = self.types.of(atom) if isinstance(atom, Const) or atom in self.types.of_name else t
        same = getattr(own, "dtype", "bool") == t.dtype
        dtype: tuple[Atom, ...] = () if same else (Const(np.dtype(t.dtype).type),)
        if atom == Const(0.0):
            return self.emit(np.zeros, (self.size, *dtype))
        return self.emit(np.full, (self.size, atom, *dtype))

    def rebuilt(self, atom: Atom, t: Type, of_part: Callable[[Atom, int, Type], Atom]) -> Atom:
        """A container with other parts."""
        if not is_container(t):
            raise NoWay  # what it holds is not known
        if isinstance(t, Sequence) and len(t.items) == 1 and (t.length is None or t.length > len(t.items)):
            made = self.emit(ops.make_list, ())
            with self.over(self.emit(len, (atom,)), "place") as index:
                self.effect(ops.append, made, of_part(self.emit(operator.getitem, (atom, index)), 0, t.items[0]))
            return made
        held = [of_part(self.part(atom, t, k), k, item) for k, item in enumerate(t.items)]  # type: ignore[union-attr]
        return build_container(self, t, held)  # type: ignore[arg-type]

    def part(self, atom: Atom, t: Type, k: int) -> Atom:
        """An item of a container."""
        key = getattr(t, "fields", getattr(t, "keys", None) or range(k + 1))[k]
        return self.emit(getattr if hasattr(t, "fields") else operator.getitem, (atom, Const(key)))

    @contextmanager
    def over(self, count: Atom, name: str) -> Iterator[str]:
        """Write into the body of a loop over so many numbers, whose number is given."""
        trips = self.emit(range, (count,))
        index = self.builder.fresh(f"%{name}")
        span = self.span
        with self.block() as body:
            yield index
        self.out.append(For(index, trips, tuple(body), (), span))

    def listed(self, atom: Atom, mark: Mark, t: Type) -> Atom:
        """A list of the values of the examples."""
        made = self.emit(ops.make_list, ())
        with self.over(self.size, "example") as index:
            value = self.example(atom, mark, t, index)
            if value == atom and isinstance(t, (Array, Container)):  # which one example may change
                value = self.emit(np.copy if isinstance(t, Array) else ops.copied, (value,))
            self.effect(ops.append, made, value)
        return made

    def example(self, atom: Atom, mark: Mark, t: Type, index: Atom, name: str = "") -> Atom:
        """The value that one example has."""
        if not is_batched(mark):
            return atom
        if isinstance(mark, tuple):
            return self.rebuilt(atom, t, lambda part, k, item: self.example(part, mark[k], item, index))
        value = self.emit(operator.getitem, (atom, index), name=name)
        return self.emit(ops.item, (value,)) if isinstance(t, Scalar) and t.weak and mark is True else value

    def stacked(self, atom: Atom, t: Type) -> Atom:
        """The values of the examples, in a list, as one array, or as the container of arrays that they are."""
        if is_container(t) and (not isinstance(t, Sequence) or t.length is not None):
            count = len(t.items) if not isinstance(t, Sequence) or len(t.items) > 1 else t.length or 0
            held = []
            for k in range(count):
                made = self.emit(ops.make_list, ())
                with self.over(self.emit(len, (atom,)), "example") as index:
                    value = self.emit(operator.getitem, (atom, index))
                    self.effect(ops.append, made, self.part(value, t, k))
                held.append(self.stacked(made, t.items[min(k, len(t.items) - 1)]))
            return build_container(self, t, held)  # type: ignore[arg-type]
        if is_container(t):
            raise UnsupportedSyntax(
                f"{self.program.function.name} gives a list that may be longer for one example than for another",
                self.program.function.span, why="the results of examples are put together item by item",
                way_out="give an array, or a tuple",
            )  # fmt: skip
        return self.emit(np.array if isinstance(t, Scalar) else np.stack, (atom,))

    def is_number(self, atom: Atom) -> bool:
        """Whether a value is a number that is the same for all examples."""
        return isinstance(atom, Const) or atom in self.types.of_name and isinstance(self.types.of(atom), Scalar)

    # ---------------------------------------------------------- axes
    def aligned(self, atom: Atom, rank: int) -> Atom:
        """A value that broadcasts as it does in one example with values of so many axes."""
        missing = rank - (self.rank(atom) or 0)
        if self.mark(atom) is not True or missing <= 0:
            return self.now(atom)
        if getattr(self.type(atom), "or_number", ""):
            raise NoWay
        return self.with_axes(self.now(atom), missing)

    def with_axes(self, atom: Atom, count: int) -> Atom:
        """An array with axes of one entry behind the first."""
        made = self.by.get(atom)
        if count and made is not None and made.op is operator.getitem and isinstance(made.args[1], Const):
            key = made.args[1].value
            if isinstance(key, tuple) and key[0] == slice(None) and all(type(k) is int for k in key[1:]):
                return self.emit(operator.getitem, (made.args[0], Const((*key, *(None,) * count))))
        return self.emit(operator.getitem, (atom, Const((slice(None), *(None,) * count)))) if count else atom

    def examples(self) -> Atom:
        """The number of each example."""
        return self.emit(np.arange, (self.size,), name="%examples")

    def dims(self, atom: Atom, rank: int) -> list[Atom]:
        """The lengths of the axes of one example, of a batched array."""
        shape = self.emit(getattr, (self.now(atom), Const("shape")))
        return [self.emit(operator.getitem, (shape, Const(k + 1))) for k in range(rank)]

    def joined(self, parts: Seq[Atom]) -> Atom:
        """A tuple of values, as a constant if all are known."""
        if all(isinstance(p, Const) for p in parts):
            return Const(tuple(p.value for p in parts if isinstance(p, Const)))
        return self.emit(ops.make_tuple, tuple(parts))
