"""Writing new statements: fresh names, types as they are made, equal expressions made once."""

from __future__ import annotations

import builtins
import dataclasses
import operator
import types as pytypes
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from tangentc.core import ops
from tangentc.core.lengths import Dim, Length
from tangentc.core.naming import hint
from tangentc.core.nodes import NOWHERE, Assign, Atom, Block, Const, Effect, Op, Statement, Store, version_base
from tangentc.core.types import Array, Dict, Scalar, Sequence, Struct, Tuple, Type, is_slice, may_be_number, one_kind
from tangentc.core.walk import defines, substitute_block
from tangentc.errors import InternalError, Span
from tangentc.ops.table import every, known_of

Peephole = Callable[["Builder", Op, tuple[Atom, ...]], Atom | None]
Key = tuple[Op, tuple[Atom, ...], tuple[tuple[str, Atom], ...]]
RECENT = 40
ALLOCATING = every("allocates")


class Types(Protocol):
    """The types of names, and of what is made of them: `tangentc.analysis.types.Types`."""

    of_name: dict[str, Type]
    reasons: dict[str, str]

    def of(self, atom: Atom) -> Type: ...
    def result(self, op: Op, args: tuple[Atom, ...], keywords: tuple[tuple[str, Atom], ...] = ()) -> Type: ...
    def join(self, a: Type, b: Type) -> Type: ...


def _makes_new(op: Op) -> bool:
    """Whether two calls give two things, though they hold the same."""
    return op in ALLOCATING or ops.is_used_up(op)


NEAREST = 12  # values that are looked at for one with a name


class Builder:
    """Appends statements to a block.

    ``types`` types each new name; ``peephole`` may give a simpler atom for an operation before it is
    written; ``may_change`` says whether an array may be changed in place, so that two reads of it differ.
    """

    def __init__(self, types: Types, names: Iterable[str], peephole: Peephole | None = None):
        self.types = types
        self.peephole = peephole
        self.prices: Any = None  # what saving a value costs, and computing it again
        self.numbers: Counter[str] = Counter()
        for name in names:
            base = version_base(name)
            tail = name[len(base) + 1 :]
            self.numbers[base] = max(self.numbers[base], int(tail or 0) + 1)
        self.out: list[Statement] = []
        self.definitions: dict[str, Assign] = {}
        self.primal: dict[str, Assign] = {}  # how the values of the primal sweep are made
        self.by_expression: tuple[int, dict[Key, list[str]]] = (0, {})
        self.around: list[set[str]] = []  # what the primal blocks define whose adjoints are being written
        self.seen: list[dict[Key, Atom]] = [{}]
        self.barriers: list[tuple[int, set[Atom]]] = []
        self.span: Span = NOWHERE
        self.renamed: dict[Atom, Atom] = {}
        self.named: set[Atom] = set()  # values whose name is meant, though it be that of a temporary
        self.moment: dict[Key, Atom] | None = None
        self.pinned: set[str] = set()  # made once: the adjoint sweep adds to these very objects
        self.stored: set[Atom] = set()  # arrays that the new statements store into
        self.outdated: set[Atom] = set()  # values that were read of an array which has changed since
        self.clock = 0  # how often something may have been changed
        self.made_at: dict[Atom, int] = {}  # when a value was made
        self.shapes: dict[tuple[Dim, ...], str] = {}  # for a shape that is sure, a name at hand that has it
        self.may_change: Callable[[str], bool] = lambda name: False
        self.views: set[Atom] = set()  # views of arrays that may change
        self.is_view: Callable[[Op, tuple[Atom, ...]], bool] = lambda op, args: False

    def mutable(self, name: Atom) -> bool:
        """Whether two reads of a value may differ."""
        return isinstance(name, str) and (name in self.views or self.may_change(name))

    def fresh(self, base: str) -> str:
        base = version_base(base) if not base.endswith("_bar") else base
        name = ""
        while not name or name in self.types.of_name:  # another builder of the same types may have made it
            name = f"{base}.{self.numbers[base]}" if self.numbers[base] else base
            self.numbers[base] += 1
        return name

    def type(self, atom: Atom) -> Type:
        return self.types.of(atom)

    def of_primal(self, op: Op, args: tuple[Atom, ...], keywords: tuple[tuple[str, Atom], ...] = ()) -> str | None:
        """The value of the primal sweep that is ``op(*args)``, if one is computed in the blocks around this place, and
        nothing of it changes."""
        if self.by_expression[0] != len(self.primal):
            known: dict[Key, list[str]] = defaultdict(list)
            for name, s in self.primal.items():
                known[s.op, s.args, s.keywords].append(name)
            self.by_expression = len(self.primal), known
        for found in self.by_expression[1].get((op, args, keywords), ()):
            if any(found in names for names in self.around) and not any(map(self.mutable, (found, *args))):
                return found
        return None

    def maker(self, atom: Atom) -> Assign | None:
        """How an object was made; None once it, or what it was made of, has been stored into."""
        if not isinstance(atom, str) or atom in self.stored or atom in self.outdated:
            return None
        return self.definitions.get(atom)

    def definition(self, atom: Atom) -> Assign | None:
        """What a value is: as `maker`, but None also if what it was computed from may hold something else by now."""
        made = self.maker(atom)
        if made is None or self.made_at.get(atom, self.clock) == self.clock:
            return made
        if isinstance(self.type(atom), Array) and self.is_view(made.op, made.args):
            return made
        return None if any(a in self.stored or self.mutable(a) for a in made.atoms) else made

    def define(self, name: str, statement: Assign) -> None:
        """Note how a value was made."""
        self.definitions[name] = statement
        self.made_at[name] = self.clock

    def passed(self) -> None:
        """Something that may be read has been changed."""
        self.clock += 1

    def changes(self, name: str) -> None:
        """An array begins to change here, or is changed for the last time: what has been read of it is outdated."""
        for scope in self.seen:
            for key in [k for k in scope if name in k[1] or any(value == name for _, value in k[2])]:
                del scope[key]
        self.outdated.update(target for target, made in self.definitions.items() if name in made.atoms)

    # ---------------------------------------------------------- writing
    def emit(self, op: Op, args: tuple[Atom, ...], keywords: tuple[tuple[str, Atom], ...] = (), name: str = "") -> Atom:
        """Write ``name = op(*args, **keywords)`` and give its name, or a simpler atom that is equal to it."""
        if self.renamed:
            args = tuple(map(self.current, args))
            keywords = tuple((k, self.current(v)) for k, v in keywords)
        if keywords:
            keywords = tuple((k, v) for k, v in keywords if not is_default(op, k, v))
        if op in (np.size, np.shape) and args:
            args = (self.like_shape(args[0]), *args[1:])
            if op is np.size and (length := self._length_at_hand(args[0])) is not None:
                return length
        if self.peephole is not None and not keywords:
            simpler = self.peephole(self, op, args)
            if simpler is not None:
                return simpler
        key = op, args, keywords
        if self._repeatable(op, args):
            for scope in reversed(self.seen[self._first_scope(args, keywords) :]):
                if key in scope and (scope[key] not in self.stored or self.is_view(op, args)):
                    return scope[key]
        elif self.moment is not None and key in self.moment:
            return self.moment[key]
        target = self.fresh(name or hint(op, args))
        if name:
            self.named.add(target)
        if self.moment is not None and ops.is_pure(op) and not _makes_new(op):
            self.moment[key] = target
        statement = Assign(target, op, args, keywords, self.span)
        self.types.of_name[target] = self._shaped(op, args, keywords) or self.types.result(op, args, keywords)
        self.define(target, statement)
        self.out.append(statement)
        if self.is_view(op, args) and self.mutable(args[0]):
            self.views.add(target)
        if self._repeatable(op, args):
            self.seen[-1][key] = target
        return target

    def _shaped(self, op: Op, args: tuple[Atom, ...], keywords: tuple[tuple[str, Atom], ...]) -> Type | None:
        """The type of what is given the shape of an array, whose lengths only the run may know."""
        shaped = known_of(op).shaped
        option = shaped[0] if isinstance(shaped, tuple) else shaped
        made = self.maker(dict(keywords).get(option, "")) if isinstance(option, str) else None
        like = self.type(made.args[0]) if made is not None and made.op is np.shape else None
        given = [self.type(a) for a in args]
        if not isinstance(like, Array) or may_be_number(like) or not all(isinstance(t, Array) for t in given):
            return None
        dtype = np.result_type(*[t.dtype for t in given if isinstance(t, Array)])
        return replace(like, dtype=str(dtype))

    def _first_scope(self, args: tuple[Atom, ...], keywords: tuple[tuple[str, Atom], ...]) -> int:
        """The outermost block in which these arguments mean what they mean here."""
        atoms = {*args, *(value for _, value in keywords)}
        return max((depth for depth, names in self.barriers if not names.isdisjoint(atoms)), default=0)

    @contextmanager
    def loop_body(self, carried: set[Atom]) -> Iterator[list[Statement]]:
        """Write into a loop's body, in which carried names mean other values than after the loop."""
        self.barriers.append((len(self.seen), carried))
        self.passed()
        try:
            with self.block() as statements:
                yield statements
        finally:
            self.barriers.pop()
            self.passed()

    def _repeatable(self, op: Op, args: tuple[Atom, ...]) -> bool:
        if not ops.is_pure(op) or _makes_new(op):
            return False
        if self._makes_container(op, args):
            return False
        if self.is_view(op, args):
            return True
        return not any(map(self.mutable, args))

    def _makes_container(self, op: Op, args: tuple[Atom, ...]) -> bool:
        """Whether a call makes a list, a dict or an object, which may be changed apart from another like it."""
        if op is ops.make_struct or op in (builtins.list, builtins.dict):
            return True
        if op in (operator.getitem, builtins.getattr) and len(args) == 2:
            t = self.type(args[0])
            return isinstance(t, Sequence) and is_slice(self.type(args[1]))
        return False

    def rename(self, atom: Atom, base: str) -> Atom:
        """Give a value that was written lately in this block a better name, if it is a temporary."""
        atom = self.current(atom)
        if not isinstance(atom, str) or not atom.startswith("%") or atom in self.named:
            return atom
        start = max(len(self.out) - RECENT, 0)
        place = next((k for k in range(len(self.out) - 1, start - 1, -1) if defines(self.out[k]) == (atom,)), None)
        made = None if place is None else self.out[place]
        if place is None or not isinstance(made, Assign):
            return atom
        target = self.fresh(base)
        new = replace(made, target=target)
        self.out[place] = new
        self.out[place + 1 :] = substitute_block(tuple(self.out[place + 1 :]), {atom: target})
        self.types.of_name[target] = self.types.of_name[atom]
        self.renamed[atom] = target
        if atom in self.views:
            self.views.add(target)
        self.named.add(target)
        self.definitions[target] = new
        self.made_at[target] = self.made_at.get(atom, self.clock)
        for k in range(place + 1, len(self.out)):
            later = self.out[k]
            if isinstance(later, Assign):
                self.definitions[later.target] = later
        key = new.op, new.args, new.keywords
        for scope in self.seen:
            if scope.get(key) == atom:
                scope[key] = target
        return target

    def current(self, atom: Atom) -> Atom:
        """What a value that was given a better name is called now."""
        while atom in self.renamed:
            atom = self.renamed[atom]
        return atom

    def like_shape(self, atom: Atom) -> Atom:
        """A name at hand with the shape of a value, if there surely is one; best one that it is computed from."""
        shape = None if may_be_number(self.type(atom)) else shape_of(self.type(atom))
        if shape is None:
            return atom
        if not is_sure(shape):
            return self._shaped_alike(atom)
        queue = [atom]
        for k, name in enumerate(queue):
            if k > NEAREST:
                break
            if isinstance(name, str) and not name.startswith("%"):
                return name
            made = self.primal.get(name) if isinstance(name, str) else None
            if made is not None and ops.is_pure(made.op):
                queue += [a for a in made.args if isinstance(a, str) and shape_of(self.type(a)) == shape]
        return self.shapes.get(shape, atom)

    def _shaped_alike(self, atom: Atom) -> Atom:
        """The array that a value has an entry for each entry of, whatever its shape is."""
        while isinstance(atom, str) and atom.startswith("%") and (made := self.primal.get(atom)) is not None:
            arrays = [a for a in made.args if not isinstance(self.type(a), Scalar) and not isinstance(a, Const)]
            plain = isinstance(made.op, np.ufunc) and made.op.signature is None or known_of(made.op).elementwise
            if not plain or made.keywords or len(arrays) != 1 or may_be_number(self.type(arrays[0])):
                break
            if not isinstance(self.type(arrays[0]), Array):
                break
            atom = arrays[0]
        return atom

    def named_length(self, d: Dim) -> str | None:
        """The user's name for a length, if he has one around this place."""
        names = sorted(n for around in self.around for n in around if not n.startswith("%"))
        return next((n for n in names if isinstance(t := self.type(n), Scalar) and t.value == d), None)

    def _length_at_hand(self, atom: Atom) -> Atom | None:
        """The length of a temporary with one axis, as that of an axis of a parameter."""
        shape = shape_of(self.type(atom))
        if (
            not isinstance(atom, str)
            or not atom.startswith("%")
            or shape is None
            or len(shape) != 1
            or not is_sure(shape)
        ):
            return None
        found = next(((name, s.index(shape[0])) for s, name in self.shapes.items() if shape[0] in s), None)
        return found and self.emit(operator.getitem, (self.emit(np.shape, (found[0],)), Const(found[1])))

    def store(self, obj: str, key: Atom | None, value: Atom, op: Op | None = None, whole: bool = False) -> None:
        self.stored.add(obj)
        self.passed()
        self.out.append(Store(obj, key, self.current(value), op, self.span, True, whole))

    def effect(self, op: Op, args: tuple[Atom, ...], keywords: tuple[tuple[str, Atom], ...] = ()) -> None:
        self.out.append(Effect(op, args, keywords, self.span))
        self.passed()

    @contextmanager
    def block(self) -> Iterator[list[Statement]]:
        """Write into a block of its own: ``with builder.block() as statements: ...``"""
        outer, self.out = self.out, []
        self.seen.append({})
        try:
            yield self.out
        finally:
            self.out = outer
            self.seen.pop()

    @contextmanager
    def one_moment(self) -> Iterator[None]:
        """While nothing is stored: equal reads of an array that changes are equal."""
        self.moment, outer = {}, self.moment
        try:
            yield
        finally:
            self.moment = outer

    @contextmanager
    def reopen(self, statements: list[Statement]) -> Iterator[None]:
        """Go on writing into a block that was closed."""
        outer, self.out = self.out, statements
        self.seen.append({})
        try:
            yield
        finally:
            self.out = outer
            self.seen.pop()

    # ---------------------------------------------------------- arithmetic
    def add(self, x: Atom, y: Atom, name: str = "") -> Atom:
        return self.emit(operator.add, (x, y), name=name)

    def mul(self, x: Atom, y: Atom, name: str = "") -> Atom:
        return self.emit(operator.mul, (x, y), name=name)

    def chosen_zero(self, atom: Atom) -> Assign | None:
        """How a value is chosen that is zero where a test says so; None if it is none."""
        made = None if self.mutable(atom) else self.definition(atom)
        if made is None or made.op not in (np.where, ops.select) or len(made.args) != 3:
            return None
        zero = any(is_number(a, 0) or self.chosen_zero(a) for a in made.args[1:])
        return made if zero else None

    def product_of_chosen(self, x: Atom, y: Atom) -> Atom:
        """``x * y``, which is zero where ``x`` is chosen to be zero, whatever ``y`` is."""
        chosen = self.chosen_zero(x)
        if chosen is None:
            return self.mul(x, y)
        test, *arms = chosen.args
        return self.choose(test, *(Const(0.0) if is_number(a, 0) else self.product_of_chosen(a, y) for a in arms))

    def choose(self, test: Atom, x: Atom, y: Atom) -> Atom:
        """One of two values, entry by entry; of numbers, the other one is not computed."""
        numbers = all(isinstance(self.type(a), Scalar) for a in (test, x, y))
        return self.emit(ops.select if numbers else np.where, (test, x, y))

    def same_shape(self, x: Atom, y: Atom) -> bool:
        """Whether two values are known to have the same shape."""
        if not one_kind(self.type(x), self.type(y)):
            return False
        return shape_of(self.type(x)) is not None and shape_of(self.type(x)) == shape_of(self.type(y))

    def take(self) -> Block:
        out, self.out = tuple(self.out), []
        return out


def shape_of(t: Type) -> tuple[Dim, ...] | None:
    """The shape of a number or an array, None where it is not known."""
    if isinstance(t, Array):
        return t.shape
    return () if type(t).__name__ == "Scalar" else None


def is_sure(shape: tuple[Dim, ...]) -> bool:
    """Whether two values that are said to have this shape surely have the same."""
    return not any(isinstance(d, Length) and not d.many for d in shape)


def is_default(op: Op, name: str, value: Atom) -> bool:
    """Whether an option is what a function of NumPy takes it to be if it is not said."""
    if not isinstance(value, Const) or not (value.value is None or isinstance(value.value, (bool, str, int))):
        return False
    signature = known_of(op).signature if ops.module_root(op) in ("numpy", "tangentc") else None
    parameter = signature.parameters.get(name) if signature is not None else None
    if parameter is None:
        return False
    default = parameter.default
    unsaid = name == "keepdims" and value.value is False and default is np._NoValue
    return unsaid or default is value.value or isinstance(value.value, str) and default == value.value


def is_number(atom: Atom, value: float | None = None) -> bool:
    """Whether an atom is a number written in the program, this one if ``value`` is given."""
    if not isinstance(atom, Const) or isinstance(atom.value, bool):
        return False
    return isinstance(atom.value, (int, float)) and (value is None or atom.value == value)


def build_container(b: Builder, t: Type, parts: list[Atom], name: str = "") -> Atom:
    """A container of this type made of its parts."""
    if isinstance(t, Sequence) and t.length is None:
        raise InternalError("a list of unknown length is put together from its parts")
    match t:
        case Tuple(_, None):
            return b.emit(ops.make_tuple, tuple(parts), name=name)
        case Tuple(_, cls):
            return b.emit(ops.make_struct, (Const(cls), Const(cls._fields), *parts), name=name)
        case Sequence():
            return b.emit(ops.make_list, tuple(parts), name=name)
        case Dict(keys, _):
            return b.emit(ops.make_dict, (Const(keys), *parts), name=name)
        case Struct(cls, fields, _):
            cls = cls if dataclasses.is_dataclass(cls) else pytypes.SimpleNamespace
            return b.emit(ops.make_struct, (Const(cls), Const(fields), *parts), name=name)
    raise TypeError(t)
