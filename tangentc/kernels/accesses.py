"""Which entries of arrays a loop reads and writes, and whether two loops may become one."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from tangentc.analysis.linear import ONE, Form, Forms, constant, of_length, plus
from tangentc.core import ops
from tangentc.core.build import Types
from tangentc.core.lengths import Length
from tangentc.core.nodes import Assign, Atom, Const, Effect, For, If, Leave, Op, Statement, Store, While
from tangentc.core.types import Array
from tangentc.core.walk import all_reads, blocks, defines, reads, statements

PARTS: set[Op] = {operator.getitem, np.transpose, np.ascontiguousarray}  # whose result is memory of what they are given


@dataclass(frozen=True)
class Access:
    """An entry of an array: of which memory, under which name, at which subscripts, None for one that is no linear
    form; ``adds`` where an adjoint adds to it, which may be done in any order."""

    memory: str
    name: str
    at: tuple[Form | None, ...]
    writes: bool
    adds: bool = False


class Accesses:
    """What the statements of a kernel do to memory; ``definitions`` says how its integers are made."""

    def __init__(self, types: Types, definitions: Mapping[str, Statement], root: Callable[[str], str]):
        self.types, self.definitions, self.root = types, definitions, root
        self.forms = Forms(types.of, definitions)
        self._touched: dict[int, tuple[Statement, Touched]] = {}  # by statements, which are kept for their places

    def subscripts(self, key: Atom | None) -> tuple[Form | None, ...]:
        made = self.definitions.get(key) if isinstance(key, str) else None
        keys: tuple[Atom, ...] = made.args if isinstance(made, Assign) and made.op is ops.make_tuple else (key,)  # type: ignore
        return tuple(self.forms.form(k) for k in keys)

    def of(self, block: Iterable[Statement]) -> list[Access] | None:
        """The accesses of a block; None if it does something else to memory.  Of a row the first subscripts count."""
        found: list[Access] = []
        for s in statements(block):
            if isinstance(s, Assign) and s.op is operator.getitem and isinstance(self.types.of(s.args[0]), Array):
                found.append(Access(self.root(str(s.args[0])), str(s.args[0]), self.subscripts(s.args[1]), False))
            elif isinstance(s, Store):
                at = self.subscripts(s.key)
                adds = s.op in (operator.add, operator.sub) and s.span.sweep == "adjoint"
                found.append(Access(self.root(s.object), s.object, at, True, adds))
            elif isinstance(s, Effect) and s.op is ops.fail_if:
                found.append(Access("what raises", "", (), True))  # in the order of the program
            elif isinstance(s, (Effect, Leave, While)):
                return None
            elif isinstance(s, Assign) and s.op is ops.pop:
                return None
            elif isinstance(s, Assign) and s.op is not np.shape:
                found += [self._whole(str(a)) for a in s.args if isinstance(self.types.of(a), Array)]
        return found

    def touched(self, s: Statement) -> Touched:
        """What a statement touches of memory and names, those inside of it among them."""
        found = self._touched.get(id(s))
        if found is None:
            self._touched[id(s)] = found = s, self._touch(s)
        return found[1]

    def _touch(self, s: Statement) -> Touched:
        inner = [self.touched(x) for block in blocks(s) for x in block]
        own = [] if isinstance(s, (For, If)) else self.of((s,))
        memory = None
        if own is not None and all(x.memory is not None for x in inner):
            read = frozenset(a.memory for a in own if not a.writes).union(*(x.memory[0] for x in inner))  # type: ignore
            memory = read, frozenset(a.memory for a in own if a.writes).union(*(x.memory[1] for x in inner))  # type: ignore
        names = frozenset(a for a in reads(s) if isinstance(a, str)).union(*(x.read for x in inner))
        return Touched(memory, names, frozenset(defines(s)).union(*(x.made for x in inner)))

    def _whole(self, array: str) -> Access:
        """What is read where all of an array is: of a row, or of one turned, the array that it is a part of."""
        at: tuple[Form | None, ...] = ()
        while isinstance(made := self.definitions.get(array), Assign) and made.op in PARTS:
            if not isinstance(self.types.of(made.args[0]), Array):
                break
            at = self.subscripts(made.args[1]) if made.op is operator.getitem else ()
            array = str(made.args[0])
        return Access(self.root(array), array, at, False)

    def are_apart(self, a: list[Access], b: list[Access], i: str, inner: set[str], one_by_one: bool = False) -> bool:
        """Whether two bodies touch an entry that one of them writes only in trips of the same number: where ``i`` says
        which trip it is; ``inner`` are the variables of loops inside of them.  Where trips run ``one_by_one``, adjoints
        may be added to in any order."""
        for x in a:
            for y in b:
                if one_by_one and x.adds and y.adds:
                    continue
                if x.memory == y.memory and (x.writes or y.writes) and not self._same_trip(x, y, i, inner):
                    return False
        return True

    @staticmethod
    def _same_trip(x: Access, y: Access, i: str, inner: set[str]) -> bool:
        if x.name != y.name:  # a part of an array has subscripts of its own
            return False
        for f, g in zip(x.at, y.at):
            if f is not None and f == g and f.get(i) and inner.isdisjoint(f):
                return True
        return False


def reads_of(s: Statement) -> set[str]:
    return all_reads((s,))


@dataclass(frozen=True)
class Touched:
    """What a statement reads and writes: memory, None where that may be any, and names."""

    memory: tuple[frozenset[str], frozenset[str]] | None
    read: frozenset[str]
    made: frozenset[str]


def touches(accesses: Accesses, s: Statement) -> tuple[frozenset[str], frozenset[str]] | None:
    """The memory that a statement reads and writes; None where it may be any."""
    return accesses.touched(s).memory


def conflict(accesses: Accesses, a: Statement, b: Statement) -> bool:
    """Whether the order of two statements matters."""
    mine, its = accesses.touched(a), accesses.touched(b)
    if mine.made & its.read or its.made & mine.read:
        return True
    x, y = mine.memory, its.memory
    if x is None or y is None:
        return True
    return bool(x[1] & (y[0] | y[1]) or y[1] & x[0])


class Bounds:
    """Whether subscripts lie within an array, by the ranges of the loops around them."""

    def __init__(self, types: Types, definitions: Mapping[str, Statement], lengths: Mapping[Atom, Length]):
        self.types, self.definitions = types, definitions
        self.forms = Forms(types.of, definitions)
        self.lengths = lengths
        self.of: dict[str, tuple[Form, Form] | None] = {}  # the least and the largest value of the variables of loops
        self.quotients: dict[Hashable, tuple[Form, int]] = {}  # integers that say how often a number goes into another
        self.within: set[Hashable] = set()  # those of them that are other integers in each trip

    def around(self, s: For) -> None:
        """Note what the variable of a loop may be."""
        made = self.definitions.get(s.iterable)  # type: ignore[arg-type]
        self.of[s.target] = None
        if not isinstance(made, Assign) or len(made.args) < 2:
            return
        first, end = (self.form(a) for a in made.args[:2])
        step = made.args[2] if len(made.args) > 2 else Const(1)
        if first is None or end is None or step not in (Const(1), Const(-1)):
            return
        last = plus(end, constant(-step.value))  # type: ignore[union-attr]
        self.of[s.target] = (first, last) if step == Const(1) else (last, first)

    def form(self, atom: Atom) -> Form | None:
        found = self.forms.form(atom)
        return None if found is None else self._in_lengths(found)

    def _in_lengths(self, form: Form) -> Form:
        """The form with lengths in the place of the names that the kernel has for them."""
        out: Form = {}
        for symbol, times in form.items():
            of = of_length(self.lengths[symbol]) if symbol in self.lengths else {symbol: 1}  # type: ignore[index]
            out = plus(out, of, times)
        return out

    def extremes(self, form: Form) -> tuple[Form | None, Form | None]:
        """The least and the largest value of an integer over all trips."""
        form = self._in_lengths(form)
        return self._extreme(form, 0), self._extreme(form, 1)

    def is_natural(self, form: Form | None) -> bool:
        """Whether an integer is surely zero or more."""
        if form is None:
            return False
        if (sides := self.sides(form)) is not None:
            either, forms = sides
            return any(map(self.is_natural, forms)) if either else all(map(self.is_natural, forms))
        low = self._extreme(self._in_lengths(form), 0)
        return low is not None and _is_natural(self._divided(low))

    def sides(self, form: Form) -> tuple[bool, list[Form]] | None:
        """An integer of which a largest or a least one is a part, as those with each of these in its place, and whether
        it is the largest of them; None where it has no such part."""
        for symbol, times in form.items():
            made = self.definitions.get(symbol) if isinstance(symbol, str) else None
            if isinstance(made, Assign) and made.op in (builtins.max, builtins.min) and not made.keywords:
                rest = {k: n for k, n in form.items() if k != symbol}
                forms = [plus(rest, f, times) for f in map(self.form, made.args) if f is not None]
                if len(forms) == len(made.args):
                    return (times > 0) == (made.op is builtins.max), forms
        return None

    def _extreme(self, form: Form, which: int, deep: int = 8) -> Form | None:
        """The least value, or the largest, over all trips: of inner loops first, whose trips the outer ones decide."""
        inner = next((k for k in reversed([*self.of]) if k in form), None)
        if inner is None:
            return form
        if self.of[inner] is None or not deep:
            return None
        times = form[inner]
        bound = self.of[inner][which if times > 0 else 1 - which]  # type: ignore[index]
        rest = plus({k: n for k, n in form.items() if k != inner}, bound, times)
        if not self.within.isdisjoint(rest):
            sign = 1 - 2 * which
            rest = plus({}, self._divided(plus({}, rest, sign), self.within), sign)
        return self._extreme(rest, which, deep - 1)

    def _divided(self, form: Form, some: Iterable[Hashable] | None = None) -> Form:
        """What is no larger, with what is divided in the place of quotients."""
        for symbol in self.quotients if some is None else some:
            whole, by = self.quotients[symbol]
            times = form.get(symbol, 0)
            if times and times % by == 0:  # by * (whole // by) is at most whole, and at least whole - by + 1
                whole = whole if times < 0 else plus(whole, constant(by - 1), -1)
                form = plus({k: n for k, n in form.items() if k != symbol}, self._in_lengths(whole), times // by)
        return form


def _is_natural(form: Form) -> bool:
    """Whether a form of lengths is zero or more, whatever they are."""
    return form.get(ONE, 0) >= 0 and all(
        n >= 0 and isinstance(k, tuple) and k[0] == "length" for k, n in form.items() if k != ONE
    )


def say(form: Form, said: Callable[[Hashable], Atom | None], write: Callable[[Op, Atom, Atom], Atom]) -> Atom:
    """An integer, from names for the symbols that its form speaks of."""
    total: Atom | None = None
    for symbol, times in form.items():
        if symbol == ONE:
            continue
        part = said(symbol)
        assert part is not None
        if abs(times) != 1:
            part = write(operator.mul, Const(abs(times)), part)
        if total is None:
            total = part if times > 0 else write(operator.sub, Const(0), part)
        else:
            total = write(operator.add if times > 0 else operator.sub, total, part)
    rest = form.get(ONE, 0)
    if total is None:
        return Const(rest)
    return total if not rest else write(operator.add if rest > 0 else operator.sub, total, Const(abs(rest)))


def has_leave(block: Iterable[Statement]) -> bool:
    return any(isinstance(s, Leave) for s in statements(block))
