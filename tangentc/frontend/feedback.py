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
from dataclasses import dataclass, field
from typing import Any

from tangentc.analysis.infer import is_nothing
from tangentc.analysis.types import certain
from tangentc.core import ops
from tangentc.core.classes import found_in_class, instance_of, is_operated, own_access, setter_in_class
from tangentc.core.nodes import Assign, Atom, Const, Effect, For, Global, Statement, Store
from tangentc.core.types import (
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
    is_container,
)  # fmt: skip
from tangentc.core.walk import defines, definitions, reads, statements, transform
from tangentc.errors import UnsupportedSyntax
from tangentc.frontend import prelude
from tangentc.frontend.emulated import refuse_asked
from tangentc.frontend.iterators import runs_over
from tangentc.frontend.nested import Nested
from tangentc.frontend.questions import KEYS_OF, VIEWS, Questions, answer_of, is_open, length_in, number_of_trips

CALLED = -2  # the operand that is called
MOST_REVISED = 8  # times that a place is lowered for something else


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
            elif not reader.waits(s):
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


class _Reader(Questions):
    def __init__(self, program: Any, known: Feedback):
        stores = [s for s in statements(program.function.body) if isinstance(s, Store)]
        super().__init__(program.types, definitions(program.function.body), stores)
        self.known = known
        self.fills_dicts = any(
            isinstance(s, Store) and self.is_dict(s.object) or isinstance(s, Effect) and s.op is ops.method
            for s in statements(program.function.body)
        )
        self.loops = [s for s in statements(program.function.body) if isinstance(s, For)]
        self.late: dict[Any, frozenset[int]] = {}  # tangents of which more may be learned
        self.late_written: set[Any] = set()
        self.open: set[Atom] = set()  # what depends on how many items there are, which is not known yet

    def has_its_keys(self, t: Dict) -> bool:
        return not self.fills_dicts

    def waits(self, s: Statement) -> bool:
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
            return None if any(map(is_open, types)) else list(map(_form, types)) == list(map(_form, value))
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
                return None if is_open(t) else found is not None and is_same(found, function)
        if isinstance(value, range):
            made = self.made(atoms[0]) if isinstance(t, Known) and len(atoms) == 1 else None
            atoms = made.args if made is not None else atoms
            bounds = [self.number(a) for a in atoms]
            return None if any(map(is_open, types)) else None not in bounds and range(*bounds) == value  # type: ignore[arg-type]
        if isinstance(value, tuple) and not isinstance(t, Dict):
            made = self.made(atoms[0])
            asked = made is not None and made.op in KEYS_OF and isinstance(self.types.of(made.args[0]), Dict)
            if not asked:  # its keys are not known one by one
                return (
                    None if is_open(t) else fact.table != "keys" and value != () and value == self.first_keys(atoms[0])
                )
        found_: list = []
        if not self.sources(atoms[0], found_):
            return None if is_open(t) else False
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
                if isinstance(t, Sequence) and t.kind is dict and name in VIEWS:  # if its keys do not become known yet
                    self.late_written.add(site)
                elif self.is_written_method(t, name, s.args[2:]):
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
                if len(types) > 1 and not is_open(types[0]):
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
        sources = self.trips(s.iterable)
        if sources is not None and (
            not number_of_trips(sources) or self.mixed(s.iterable) or self.is_key(s) or site in self.known.wanted
        ):
            self.known.unroll.setdefault(site, sources)


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
