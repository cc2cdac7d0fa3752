"""What the types tell about places that lowering alone cannot decide.

Lowering comes before the types; but what a name that is called stands for, how many items ``*args``
has, and whether a loop runs over things of different kinds, only the types say.  Such a place is lowered
as an operation that says so, the program is typed, and what is learned there, under the
place's *site*, is used when the function is lowered again.
"""

from __future__ import annotations

import builtins
import dataclasses
import operator
import types as pytypes
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tangentc.analysis.infer import is_nothing
from tangentc.analysis.types import certain
from tangentc.core import ops
from tangentc.core.classes import found_in_class, instance_of, is_operated, own_access, setter_in_class
from tangentc.core.nodes import Assign, Atom, Const, Effect, For, Global, Statement, Store
from tangentc.core.types import (
    Array,
    Dict,
    Either,
    Known,
    Optional,
    Scalar,
    Sequence,
    Struct,
    Tuple,
    Type,
    Unknown,
    holds_numbers,
    is_complex,
    is_container,
    is_differentiable,
    rank,
    type_of,
)  # fmt: skip
from tangentc.core.walk import defines, definitions, reads, statements, transform
from tangentc.errors import UnsupportedSyntax
from tangentc.frontend import prelude
from tangentc.frontend.emulated import refuse_asked
from tangentc.frontend.iterators import runs_over
from tangentc.frontend.nested import Nested
from tangentc.ops.table import every
from tangentc.rules.registry import REGISTRY

TAKES_ITEMS = every("takes_items")
KEYS_OF = {builtins.sorted, builtins.list, builtins.tuple, builtins.iter}
VIEWS = {"keys", "values", "items"}
CALLED = -2  # the operand that is called
REPEATED = "repeated"  # of a list times something: whether that is a number
MOST_REVISED = 8  # times that a place is lowered for something else
MOST_TRIPS = 200  # a loop over things of different kinds is written out up to this many


@dataclass(eq=False)
class Fact:
    """What a place was lowered for.  It came from the types of a program that may have been less than the whole, so
    it is asked again of the types of each lowering that relies on it."""

    table: str  # of `Feedback`, where it is kept
    site: Any
    value: Any


@dataclass
class Feedback:
    """What is known of each site."""

    callees: dict[Any, Any] = field(default_factory=dict)
    compiled: dict[Any, Any] = field(default_factory=dict)  # derivatives inside, for the types at their calls
    derivatives: dict[Any, Any] = field(default_factory=dict)  # all that have been compiled
    lengths: dict[Any, int] = field(default_factory=dict)
    keys: dict[Any, tuple] = field(default_factory=dict)
    unroll: dict[Any, list] = field(default_factory=dict)
    classes: dict[Any, type] = field(default_factory=dict)  # the class of the object whose attribute is taken
    answers: dict[Any, Any] = field(default_factory=dict)  # of isinstance, and ranks
    environments: dict[Any, type] = field(default_factory=dict)  # of functions that are called after their trip
    still: dict[Any, frozenset[int]] = field(default_factory=dict)  # the arguments of a jvp that do not move
    doubtful: dict[Any, frozenset[int]] = field(default_factory=dict)  # those whose tangent may be None
    lists: dict[Any, Any] = field(default_factory=dict)  # the arguments that stand for the arrays of their items
    inline: set[Any] = field(default_factory=set)
    defined: dict[Any, Any] = field(default_factory=dict)  # the definitions that stand for calls that no rule covers
    lifted: dict[Any, Any] = field(default_factory=dict)  # functions defined inside that call themselves
    twins: dict[Any, Any] = field(default_factory=dict)  # of functions that change arguments and call themselves
    assigned: set[str] = field(default_factory=set)  # attributes of classes that objects have values of their own for
    written: set[Any] = field(default_factory=set)  # calls of the library that are lowered as Python
    wanted: set[Any] = field(default_factory=set)  # loops that can only be written out
    emulated: set[type] = field(default_factory=set)  # queues and ordered dicts, which lists and dicts stand for
    settled: set[Any] = field(default_factory=set)  # subscripts of the module's that say which of unlike items is meant
    revised: Counter = field(default_factory=Counter)  # how often a fact turned out not to be one

    def size(self) -> tuple[int, int]:
        known = (
            self.callees,
            self.compiled,
            self.lengths,
            self.keys,
            self.unroll,
            self.classes,
            self.answers,
            self.environments,
            self.still,
            self.doubtful,
            self.lists,
        )
        sets = (self.wanted, self.settled, self.inline, self.written, self.assigned)
        return sum(map(len, known)) + sum(map(len, sets)), self.revised.total()

    def learn(self, program: Any, last: bool = False) -> None:
        """Look for open places in a typed program, at ``last`` for what its types do not bear out."""
        reader = _Reader(program, self)
        before = self.size()
        for s in statements(program.function.body):
            if isinstance(s, Assign) and s.op is ops.assumed:
                holds = reader.holds(s.args[0].value, s.args[1:])  # type: ignore[union-attr]
                if holds is False or last and holds is None and not reader.is_never(s):
                    self.forget(s.args[0].value, s)  # type: ignore[union-attr]
            elif not reader.is_open(s):
                reader.statement(s)
        if self.size() == before:
            self.doubtful.update(reader.late)
            self.written.update(reader.late_written)

    def forget(self, fact: Fact, s: Assign) -> None:
        """Look again at what a place is to be lowered for."""
        getattr(self, fact.table).pop(fact.site, None)
        self.revised[fact.table, fact.site] += 1
        if self.revised[fact.table, fact.site] > MOST_REVISED:
            raise not_so(fact, s)


class _Reader:
    def __init__(self, program: Any, known: Feedback):
        self.types, self.known = program.types, known
        self.definitions = definitions(program.function.body)
        self.fills_dicts = any(
            isinstance(s, Store) and self.is_dict(s.object) or isinstance(s, Effect) and s.op is ops.method
            for s in statements(program.function.body)
        )
        self.stores = [s for s in statements(program.function.body) if isinstance(s, Store)]
        self.loops = [s for s in statements(program.function.body) if isinstance(s, For)]
        self.late: dict[Any, frozenset[int]] = {}  # tangents of which more may be learned
        self.late_written: set[Any] = set()
        self.open: set[Atom] = set()  # what depends on how many items there are, which is not known yet

    def is_open(self, s: Statement) -> bool:
        """Whether a statement uses something of a length that is only learned in this round."""
        if isinstance(s, (Assign, Effect)) and (s.op is ops.spread or s.op is ops.call and s.args[0] == Const(None)):
            known = self.open.isdisjoint(reads(s))
            self.open.update(defines(s))
            return not known
        found = not self.open.isdisjoint(reads(s))
        if found:
            self.open.update(defines(s))
            if isinstance(s, (Effect, Store)):
                self.open.add(reads(s)[0])
        return found

    def is_never(self, s: Assign) -> bool:
        """Whether a statement has no values: it never runs."""
        return any(is_nothing(self.types.of(a)) for a in s.args[1:])

    def holds(self, fact: Fact, atoms: tuple[Atom, ...]) -> bool | None:
        """Whether the types bear a fact out; None if they do not tell."""
        types, value = [self.types.of(a) for a in atoms], fact.value
        if fact.table == "compiled":
            return None if any(map(_is_open, types)) else list(map(_form, types)) == list(map(_form, value))
        t = types[0]
        if isinstance(t, Known) and t.value is ops.UNDEFINED:
            return None
        match fact.table:
            case "classes":
                return instance_of(t, value)
            case "answers":
                about, answer = value
                found = answer_of(about, t)
                return None if found is None else found == answer
            case "callees":
                function, name = value
                found = t.value if isinstance(t, Known) else None
                if found is not None and name is not None:
                    found = getattr(found, name, None)
                return None if _is_open(t) else found is not None and is_same(found, function)
        if isinstance(value, range):
            made = self.made(atoms[0]) if isinstance(t, Known) and len(atoms) == 1 else None
            atoms = made.args if made is not None else atoms
            bounds = [self.number(a) for a in atoms]
            return None if any(map(_is_open, types)) else None not in bounds and range(*bounds) == value  # type: ignore[arg-type]
        if isinstance(value, tuple) and not isinstance(t, Dict):
            made = self.made(atoms[0])
            asked = made is not None and made.op in KEYS_OF and isinstance(self.types.of(made.args[0]), Dict)
            if not asked:  # its keys are not known one by one
                return (
                    None if _is_open(t) else fact.table != "keys" and value != () and value == self.first_keys(atoms[0])
                )
        found_: list = []
        if not self.sources(atoms[0], found_):
            return None if _is_open(t) else False
        return (len(found_[0]) if isinstance(value, int) and isinstance(found_[0], tuple) else found_[0]) == value

    def statement(self, s: Statement) -> None:
        site = getattr(getattr(s, "span", None), "site", None)
        if site is None:
            return
        if isinstance(s, Assign) and (lists := self.lists(s)):
            self.known.lists.setdefault(site, (s.op, lists))
        if isinstance(s, Assign) and runs_over(s.op):
            self.operands([self.types.of(a) for a in s.args], site)
        match s:
            case For():
                self.loop(s, site)
            case Assign() | Effect() if s.op is ops.spread:
                self.starred(s.args[0], site)
                if len(s.args) == 2:  # `zip(*rows)`
                    self.answer(ops.spread, s.args[0], (ops.spread, site))
            case Assign() if s.op is ops.call and isinstance(s.args[0], Const) and isinstance(s.args[0].value, Nested):
                nested = s.args[0].value
                if nested.kind == "jvp" and (still := self.still(nested, s.args)):
                    self.known.still.setdefault(site, still)
                    return
                types = [self.types.of(a) for a in s.args[1:]]
                doubtful = frozenset(i for i, t in self.tangents(nested, s.args) if isinstance(t, Optional))
                compiled = None if doubtful else nested.compiled(types, self.known.derivatives)
                if doubtful:
                    self.late[site] = doubtful
                elif compiled is not None:
                    self.known.compiled.setdefault(site, (*compiled, types))
            case Assign() | Effect() if s.op is ops.call:
                self.called(self.types.of(s.args[0]), site)
            case Assign() if prelude.stands_for(s.op) and not is_operated(s.op, [self.types.of(a) for a in s.args]):
                if self.is_written(s):
                    self.known.written.add(site)
            case Assign() if s.op in (dataclasses.replace, ops.reshaped):
                t = self.types.of(s.args[0])
                if isinstance(t, Struct):
                    self.known.classes.setdefault(site, t.cls)
            case Assign() | Effect() if s.op is ops.method:
                t = self.types.of(s.args[0])
                name = s.args[1].value  # type: ignore[union-attr]
                if isinstance(t, Sequence) and name in prelude.METHODS.get(t.kind, ()):
                    if t.kind is dict and name in VIEWS:  # if its keys do not become known yet
                        self.late_written.add(site)
                    elif t.kind is list or name != "pop" or len(s.args) == 4:
                        self.known.written.add(site)
                if isinstance(t, Dict) and (
                    name == "setdefault"
                    or name == "pop"
                    and len(s.args) == 4
                    or name == "get"
                    and self.fills_dicts
                    and len(s.args) == 4
                ):
                    self.known.written.add(site)
                if isinstance(t, Struct):
                    self.known.classes.setdefault(site, t.cls)
                elif isinstance(t, Known) and not isinstance(t.value, (str, bytes, type(None), bool, range)):
                    self.known.callees.setdefault(site, getattr(t.value, s.args[1].value, None))  # type: ignore[union-attr]
                elif isinstance(t, Tuple) and t.cls is not None:
                    self.known.classes.setdefault(site, t.cls)
            case Assign() if s.op is builtins.isinstance and isinstance(s.args[1], Const):
                refuse_asked(self.types.of(s.args[0]), s.args[1].value, self.known.emulated, s.span)
                self.answer(s.args[1].value, s.args[0], site)
            case Assign() if s.op is ops.enter and isinstance(t := self.types.of(s.args[0]), Struct):
                self.known.classes.setdefault(site, t.cls)
            case Assign() if s.op in (np.ndim, np.iscomplexobj) or (
                s.op is builtins.len and isinstance(self.types.of(s.args[0]), Tuple)
            ):
                self.answer(s.op, s.args[0], site)
            case Assign(op=operator.getitem) if isinstance(of := self.types.of(s.args[0]), Known) and (
                of.value is np.r_ or of.value is np.c_
            ):
                if any(isinstance(t, (Scalar, Array)) and is_differentiable(t) for t in self.parts(s.args[1])):
                    self.known.written.add(site)
            case Assign(op=builtins.range) if isinstance(self.types.of(s.args[-1]), Array) and site[0]:
                self.known.answers[REPEATED, site[0][-1]] = False  # the items of a list, times an array
            case Assign() if s.op is builtins.getattr and isinstance(s.args[1], Const):
                t = self.types.of(s.args[0])
                name = s.args[1].value  # type: ignore[union-attr]
                cls = t.cls if isinstance(t, (Struct, Tuple)) else None
                if cls is not None and (
                    name not in getattr(t, "fields", getattr(cls, "_fields", ())) or own_access(cls)
                ):
                    self.known.classes.setdefault(site, cls)

            case Assign(op=operator.getitem, args=(_, Global())):
                self.subscript(*s.args, site)  # type: ignore[call-arg]
                self.operands([self.types.of(a) for a in s.args], site)
            case Effect() if s.op is ops.take:
                self.operands([self.types.of(s.args[0])], site, -1)
            case Assign(op=operator.getitem) if isinstance(self.types.of(s.args[0]), Struct):
                self.operands([self.types.of(a) for a in s.args], site)
            case Assign() if is_operated(s.op, types := [self.types.of(a) for a in s.args]):
                self.operands(types, site)
                if len(types) > 1 and not _is_open(types[0]):
                    self.known.classes.setdefault((site, 0), object)  # which has no methods of the user's
            case Store(key=Const(value=ops.Attribute() as name)):
                t = self.types.of(s.object)
                if isinstance(t, Struct) and found_in_class(t.cls, str(name))[0] in ("data", "method", "static"):
                    self.known.assigned.add(str(name))
                if isinstance(t, Struct) and (
                    setter_in_class(t.cls, str(name)) is not None
                    or own_access(t.cls)
                    or found_in_class(t.cls, str(name))[0] == "descriptor"
                ):
                    self.known.classes.setdefault(site, t.cls)
            case Store():
                self.operands([self.types.of(s.object)], site, -1)
                self.subscript(s.object, s.key, site)

    def subscript(self, x: Atom, key: Atom | None, site: Any) -> None:
        t = self.types.of(x)
        unlike = isinstance(t, (Tuple, Sequence)) and (len(t.items) > 1 or any(isinstance(i, Unknown) for i in t.items))
        if isinstance(key, Global) and unlike:
            self.known.settled.add(site)

    def answer(self, about: Any, atom: Atom, site: Any) -> None:
        found = answer_of(about, self.types.of(atom))
        if found is not None:
            self.known.answers.setdefault(site, found)

    def tangents(self, nested: Nested, args: tuple[Atom, ...]) -> Iterator[tuple[int, Type]]:
        """The tangents that a jvp is given, each with the number of its argument."""
        if nested.kind == "jvp":
            for i, a in zip(nested.wrt, args[len(args) - len(nested.wrt) :], strict=True):
                yield i, self.types.of(a)

    def still(self, nested: Nested, args: tuple[Atom, ...]) -> frozenset[int]:
        """The arguments that do not move: those along which the tangent is None, and those of no float type."""
        none = {i for i, t in self.tangents(nested, args) if t == Known(Const(None))}
        own = {i: self.types.of(args[i + 1]) for i, _ in self.tangents(nested, args)}
        plain = {i for i, t in own.items() if not _is_open(t) and not is_differentiable(t)}
        return frozenset(none | plain)

    def is_written(self, s: Assign) -> bool:
        """Whether a call of the library is lowered as Python: a derivative flows through it."""
        if s.op in (builtins.list, builtins.tuple):
            made = self.made(s.args[0]) if s.args else None
            return made is not None and made.op in (builtins.zip, builtins.enumerate)
        if s.op is builtins.divmod:
            return all(isinstance(self.types.of(a), (Scalar, Array)) for a in s.args)
        if s.op in (builtins.max, builtins.min):  # those of numbers have rules
            items = getattr(self.types.of(s.args[0]), "items", ()) if len(s.args) == 1 else ()
            return any(map(is_container, items))
        if s.op is builtins.sum:  # numbers and arrays it adds as NumPy does
            return any(isinstance(i, Struct) for i in getattr(self.types.of(s.args[0]), "items", ()))
        return any(self.moves(a) for a in s.args) and not self.is_dict(s.args[0])  # its keys do not move

    def made(self, atom: Atom) -> Assign | None:
        """The statement that makes a value, under whichever name."""
        made = self.definitions.get(atom) if isinstance(atom, str) else None
        while isinstance(made, Assign) and made.op in (ops.identity, ops.once) and isinstance(made.args[0], str):
            made = self.definitions.get(made.args[0])
        return made if isinstance(made, Assign) else None

    def is_dict(self, atom: Atom) -> bool:
        t = self.types.of(atom)
        return isinstance(t, Dict) or isinstance(t, Sequence) and t.kind is dict

    def lists(self, s: Assign) -> frozenset[Any]:
        """The arguments of a call of NumPy, by position or name, that are lists and stand for arrays."""
        home = getattr(getattr(s.op, "__self__", s.op), "__module__", None) or ""
        of_numbers = home.startswith("scipy.stats") or isinstance(s.op, np.ufunc)
        if isinstance(s.op, type) or s.op in TAKES_ITEMS or not of_numbers and ops.module_root(s.op) != "numpy":
            return frozenset()
        rule = REGISTRY.find(s.op)
        if (rule is None or rule.kind == "zero") and REGISTRY.definition(s.op) is None:
            return frozenset()
        given = (*enumerate(s.args), *(pair for pair in s.keywords if pair[0] != "axis"))
        return frozenset(k for k, a in given if _stands_for_an_array(self.types.of(a), of_numbers))

    def parts(self, key: Atom) -> list[Type]:
        """The types of what stands between brackets."""
        t = self.types.of(key)
        return list(t.items) if isinstance(t, Tuple) else [t]

    def moves(self, atom: Atom) -> bool:
        """Whether a derivative may flow through an argument that is run over."""
        made = self.made(atom)
        if made is not None and (made.op in (builtins.zip, builtins.enumerate) or made.op is ops.method):
            return any(self.moves(a) for a in made.args)
        t = self.types.of(atom)
        return is_container(t) and is_differentiable(t) or isinstance(t, (Array, Unknown)) and is_differentiable(t)

    def operands(self, types: list[Type], site: Any, first: int = 0) -> None:
        for k, t in enumerate(types, first):
            if isinstance(t, (Struct, Tuple)) and t.cls is not None and t.cls is not slice:
                self.known.classes.setdefault((site, k), t.cls)

    def called(self, t: Type, site: Any) -> None:
        if isinstance(t, Known) and callable(t.value):
            self.known.callees.setdefault(site, t.value)
        elif isinstance(t, Struct):
            self.known.classes.setdefault((site, CALLED), t.cls)

    def growing(self, atom: Atom) -> set[Any]:
        """The sites of the loops that append to a list: written out, they tell how many items it has."""
        made = self.made(atom)
        if made is None or made.op is not ops.make_list:
            return set()
        return {
            s.span.site for s in self.loops
            if any(isinstance(x, Effect) and x.op is ops.append and x.args[0] == made.target for x in s.body)
        }  # fmt: skip

    def starred(self, atom: Atom, site: Any) -> None:
        t = self.types.of(atom)
        match t:
            case Dict(keys, _):
                self.known.keys.setdefault(site, keys)
            case Sequence(length=None):
                self.known.wanted.update(self.growing(atom))
                self.late_written.add(site)
            case _ if (length := length_in(t)) is not None:
                self.known.lengths.setdefault(site, length)

    # ---------------------------------------------------------- loops
    def loop(self, s: For, site: Any) -> None:
        over = self.types.of(s.iterable)
        if isinstance(over, Struct):
            self.known.classes.setdefault(site, over.cls)
        sources: list = []
        if not self.sources(s.iterable, sources) or not sources:
            return
        trips = min(source if isinstance(source, int) else len(source) for source in sources)
        if not trips or trips <= MOST_TRIPS and (self.mixed(s.iterable) or self.is_key(s) or site in self.known.wanted):
            self.known.unroll.setdefault(site, sources)

    def number(self, atom: Atom) -> int | None:
        """An integer that is known when compiling: a constant, or the length of a tuple."""
        t = self.types.of(atom)
        value = atom.value if isinstance(atom, Const) else t.value if isinstance(t, Scalar) else None
        return value if isinstance(value, int) else None

    def sources(self, atom: Atom, out: list) -> bool:
        """The lengths, or the keys, of what a loop runs over; False if one is not known."""
        made = self.definitions.get(atom) if isinstance(atom, str) and atom.startswith("%") else None
        if isinstance(made, Assign) and made.op in (builtins.enumerate, builtins.reversed):
            return self.sources(made.args[0], out)
        if isinstance(made, Assign) and made.op is builtins.zip:
            return all(self.sources(a, out) for a in made.args)
        if isinstance(made, Assign) and made.op in KEYS_OF and isinstance(t := self.types.of(made.args[0]), Dict):
            if "%_spread_" in t.keys or made.keywords:
                return False
            out.append(tuple(sorted(t.keys) if made.op is builtins.sorted else t.keys))
            return True
        if isinstance(made, Assign) and made.op is builtins.range:
            bounds = [self.number(a) for a in made.args]
            if None not in bounds:
                out.append(range(*bounds))  # type: ignore[arg-type]
            return None not in bounds
        if isinstance(made, Assign) and made.op is ops.method and isinstance(t := self.types.of(made.args[0]), Dict):
            if made.args[1].value in VIEWS:  # type: ignore[union-attr]
                out.append(t.keys)
                return "%_spread_" not in t.keys
        t = self.types.of(atom)
        match t:
            case Tuple(items, _):
                out.append(len(items))
            case Sequence(_, _, length) if length is not None:
                out.append(length)
            case Array(_, shape) if shape and isinstance(shape[0], int):
                out.append(shape[0])
            case Dict(keys, _):
                if "%_spread_" in keys:  # not settled yet
                    return False
                out.append(keys)
            case Known(const) if isinstance(const.value, (tuple, list, str)):
                out.append(len(const.value))
            case Sequence() if t.kind is dict and (keys := self.first_keys(atom)):
                out.append(keys)
            case _:
                return False
        return True

    def first_keys(self, atom: Atom) -> tuple:
        """The keys with which a dict was made, if what is stored by computed keys are its own keys."""
        made = self.made(atom)
        while made is not None and made.op is ops.copied:
            made = self.made(made.args[0])
        if made is None or made.op is not ops.make_dict:
            return ()
        keys: tuple = made.args[0].value  # type: ignore[union-attr]
        own = all(
            self.is_loop_key(s.key) if isinstance(s.key, str) else getattr(s.key, "value", None) in keys
            for s in self.stores if self.is_dict(s.object)
        )  # fmt: skip
        return keys if own else ()

    def is_loop_key(self, key: str) -> bool:
        """Whether a key is what a loop over a dict gives."""
        made = self.definitions.get(key)
        while isinstance(made, Assign) and made.op is ops.identity and isinstance(made.args[0], str):
            made = self.definitions.get(made.args[0])
        return isinstance(made, For) and self.is_dict(made.iterable)

    def mixed(self, atom: Atom) -> bool:
        """Whether the items differ in kind, so that no one type is that of all."""
        made = self.definitions.get(atom) if isinstance(atom, str) else None
        if isinstance(made, Assign) and made.op in (builtins.enumerate, builtins.reversed, builtins.zip):
            return any(map(self.mixed, made.args[: 1 if made.op is not builtins.zip else None]))
        if isinstance(made, Assign) and made.op is ops.method and isinstance(self.types.of(made.args[0]), Dict):
            return _differ(self.types.of(made.args[0]).items)
        t = self.types.of(atom)
        if isinstance(t, Dict):
            return is_differentiable(t)
        if isinstance(t, Known) and isinstance(t.value, (tuple, list)):
            return any(callable(v) or isinstance(v, str) for v in t.value)
        if isinstance(t, Known) and isinstance(t.value, str):
            return True
        return isinstance(t, (Tuple, Sequence)) and _differ(t.items)

    def is_key(self, s: For) -> bool:
        """Whether the items are keys of a dict, or names of attributes, in the body."""
        derived = {s.target}
        for x in statements(s.body):
            if isinstance(x, Assign) and x.op in (ops.identity, operator.getitem) and x.args[0] in derived:
                derived.add(x.target)
            if isinstance(x, Assign) and len(x.args) > 1 and x.args[1] in derived:
                t = self.types.of(x.args[0])
                if isinstance(t, Dict) or isinstance(t, (Struct, Tuple)) and x.op is builtins.getattr:
                    return True
                if isinstance(t, (Tuple, Sequence)) and _differ(t.items):
                    return True
            if isinstance(x, Assign) and x.op is ops.call and x.args[0] in derived:
                return True
            if isinstance(x, Store) and x.key in derived:
                t = self.types.of(x.object)
                if isinstance(t, (Dict, Struct)) or isinstance(t, Sequence) and t.kind is dict:
                    return True
        return False


def length_in(t: Type) -> int | None:
    """How many items a value has, as far as its type says."""
    match t:
        case Tuple(items, _):
            return len(items)
        case Sequence(length=int() as length):
            return length
        case Array(_, (int() as length, *_)):
            return length
        case Known(const) if isinstance(const.value, (tuple, list)):
            return len(const.value)
    return None


def keys_in(t: Type) -> tuple[Any, ...] | None:
    """The keys of a dict, as far as its type says."""
    return t.keys if isinstance(t, Dict) else None


def function_in(t: Type) -> Any:
    """The function that a value is."""
    return t.value if isinstance(t, Known) and callable(t.value) else None


def method_in(name: str, t: Type) -> Any:
    """The method of an object that is known."""
    is_object = isinstance(t, Known) and not isinstance(t.value, (str, bytes, type(None), bool, range))
    return getattr(t.value, name, None) if is_object else None  # type: ignore[union-attr]


def answer_of(about: Any, t: Type) -> Any:
    """What isinstance, ``np.ndim``, ``np.iscomplexobj`` or ``len`` give for a value of this type; None if unknown."""
    if about is np.ndim:
        return rank(t)
    if about is np.iscomplexobj:
        return None if isinstance(t, Unknown) else is_complex(t)
    if about is ops.spread:  # how many columns rows have
        row = t.items[0] if isinstance(t, Sequence) and len(t.items) == 1 else None
        return len(row.items) if isinstance(row, Tuple) else row.length if isinstance(row, Sequence) else None
    if about is builtins.len:
        return len(t.items) if isinstance(t, Tuple) else None if isinstance(t, Unknown) else -1
    return instance_of(t, about)


def is_same(a: Any, b: Any) -> bool:
    """Whether two lowerings found the same function."""
    if isinstance(a, Either) and isinstance(b, Either):
        return {_identity(f) for f in a.functions} == {_identity(f) for f in b.functions}
    return _identity(a) == _identity(b)


def _identity(function: Any) -> Any:
    key = getattr(function, "key", None)
    if key is not None and not isinstance(function, pytypes.FunctionType):
        return key
    if isinstance(function, pytypes.MethodType):
        return id(function.__self__), id(function.__func__)
    return id(function)


def _is_open(t: Type) -> bool:
    return isinstance(t, Unknown) or isinstance(t, Known) and t.value is ops.UNDEFINED


def _form(t: Type) -> Any:
    """What a derivative is compiled for: whether a number is one of NumPy's makes no difference to it."""

    def plain(t: Type) -> Type:
        if isinstance(t, Scalar):
            return Scalar(t.dtype)
        return dataclasses.replace(t, items=tuple(map(plain, t.items))) if is_container(t) else t  # type: ignore[union-attr,arg-type]

    return certain(plain(t))


def not_so(fact: Fact, s: Assign) -> UnsupportedSyntax:
    """The refusal of a place that no fact holds for."""
    name = s.span.function if s.span is not None else "the function"
    what, why, way_out = {
        "classes": ONE_CLASS,
        "answers": ONE_CLASS,
        "callees": (
            "calls a value that is not known when compiling", "which code runs would depend on the values",
            "write the items out, or call a function by its name",
        ),
        "compiled": (
            "takes a derivative at a value of which the type is not known, or is another one in another trip",
            "the derivative is compiled for one type", "start from an array of the final shape, np.zeros_like(w)",
        ),
    }.get(fact.table, (
        f"runs over {'dicts of different keys' if isinstance(fact.value, tuple) else 'lists of different lengths'}",
        "which items there are would depend on the trip of the loop", "give each its own name",
    ))  # fmt: skip
    return UnsupportedSyntax(f"{name} {what}", s.span, why=why, way_out=way_out)


ONE_CLASS = (
    "uses one name for values of several classes",
    "which method is called, and which branch runs, would depend on the values",
    "give each its own name, or write the function for one class",
)


def without_assumed(program: Any) -> Any:
    """The function without what it was written for, if the types bear that out."""
    reader = _Reader(program, Feedback())

    def rewrite(s: Statement) -> tuple[Statement, ...]:
        if not (isinstance(s, Assign) and s.op is ops.assumed):
            return (s,)
        fact, *atoms = s.args
        if not reader.is_never(s) and not reader.holds(fact.value, tuple(atoms)):  # type: ignore[union-attr]
            raise not_so(fact.value, s)  # type: ignore[union-attr]
        return ()

    return dataclasses.replace(program.function, body=transform(program.function.body, rewrite))


def _differ(items: tuple[Type, ...]) -> bool:
    if any(isinstance(t, Known) and callable(t.value) or isinstance(t, Struct) for t in items):
        return True
    if len(items) < 2:
        return any(is_container(t) and _differ(t.items) for t in items)  # type: ignore[union-attr]
    return len({_kind(t) for t in items}) > 1


def _kind(t: Type) -> Any:
    """What two types must have in common for one loop to run over both."""
    match t:
        case Array(dtype, shape):
            return "array", dtype, len(shape)
        case Scalar(dtype, _, _):
            return "scalar", dtype in ("str",)
        case Tuple(items, cls):
            return "tuple", cls, tuple(map(_kind, items))
        case Sequence(_, items, length):
            return "list", tuple(map(_kind, items)), length if len(items) > 1 else None
        case Dict(keys, items):
            return keys, tuple(map(_kind, items))
        case Known(const):
            return "known", type(const.value)
    return "unknown" if isinstance(t, Unknown) else t


def _stands_for_an_array(t: Type, of_numbers: bool) -> bool:
    """Whether a value is a list or a tuple of numbers, lists and arrays; of some that can move, unless it is given to
    a function ``of_numbers`` alone."""
    if isinstance(t, Known) and of_numbers and isinstance(t.value, (list, tuple)):
        t = type_of(t.value)
    return is_container(t) and (of_numbers or is_differentiable(t)) and _holds_only_numbers(t)


def _holds_only_numbers(t: Type) -> bool:
    if isinstance(t, Sequence) and t.kind is list or isinstance(t, Tuple) and t.cls is None:
        return bool(t.items) and all(map(_holds_only_numbers, t.items))
    return isinstance(t, (Scalar, Array)) and holds_numbers(t)
