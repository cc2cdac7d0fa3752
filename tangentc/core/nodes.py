"""The core form.

A function is a tree of frozen statements.  Every name has one definition; the two places where
control flow joins are written down: ``If.merged`` says which value a name takes from either
branch, and ``carried`` says which value a loop's name starts from and what the next trip gives it.

    y = x * x                         Assign('y', operator.mul, ('x', 'x'))
    A[i] = e                          Store('A', 'i', 'e')
    if x > 1: ... else: ...           If('test', then, orelse, (Merge('y', 'a', 'b'),))
    for i in trips: ...               For('i', 'trips', body, (Carry('x', 'x0', 'x1'),))

A name is a string.  ``y.2`` is the third version of the user's ``y``; a name that begins with ``%``
is a temporary of the compiler, ``%exp_x`` say; ``y.2_bar`` is the adjoint of ``y.2``.  An argument
of a statement is a name, a `Const` or a `Global`.
"""

from __future__ import annotations

import ast
import builtins
import operator
from dataclasses import dataclass, field
from typing import Any

from tangentc.errors import Span
from tangentc.ops.table import Op as Op

NOWHERE = Span(0, 0, 0, "")
AFTERWARDS = NOWHERE.within("adjoint")


class Const:
    """A value known when compiling: a number, a string, a slice, a function, a module."""

    __slots__ = ("value", "_identity")

    def __init__(self, value: Any):
        self.value = value
        self._identity = _identity(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Const) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    def __repr__(self) -> str:
        return f"Const({self.value!r})"


def _identity(value: object) -> object:
    """What makes two constants the same: 0, 0.0, -0.0 and False are four constants."""
    if isinstance(value, (tuple, list)):
        return type(value), tuple(map(_identity, value))
    if isinstance(value, slice):
        return slice, _identity((value.start, value.stop, value.step))
    if isinstance(value, (bool, int, float, complex, str, bytes)) or value is None:
        return type(value), repr(value)
    return type(value), id(value)


class Within(tuple):  # type: ignore[type-arg]
    """In place of the site of a statement: the definitions inside of which it stands."""


PRESENT = (("present", Const(True)),)  # of `identity`: the value is not None here, nor a number in place of an array


class Members:
    """What the classes of a method resolution order define, by identity: functions, properties, names of data."""

    def __init__(self, cls: type):
        own = self.own(cls)
        self.parts = [*own, *(x for c in own for n, v in vars(c).items() for x in (n, v if binds(v) else None))]

    @staticmethod
    def own(cls: type) -> list[type]:
        """The classes of a method resolution order that are not Python's own."""
        return [c for c in cls.__mro__ if c.__module__ != "builtins"]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Members) or len(self.parts) != len(other.parts):
            return False
        return all(map(operator.is_, self.parts, other.parts))

    __hash__ = None  # type: ignore[assignment]


def binds(value: object) -> bool:
    """Whether a class's attribute makes something else of itself where it is asked for, as a function does."""
    return hasattr(type(value), "__get__")


class Place:
    """Where a name of the user's module, or of a closure, keeps its value: a namespace, a cell, a value.

    A place of kind "class" stands for all that a class and those above it define, one of kind "compiled" for the
    derivative that an emitted function is, one of kind "option" for a place whose value is written into the code.
    """

    __slots__ = ("kind", "home")

    def __init__(self, kind: str, home: Any):
        self.kind, self.home = kind, home

    def lookup(self, name: str) -> Any:
        """What the name stands for now.  Raises `NameError` as Python does."""
        if self.kind == "value":
            return self.home
        if self.kind == "class":
            return Members(self.home)
        if self.kind == "compiled":
            return self.home.root
        if self.kind == "option":
            return self.home.lookup(name)
        if self.kind == "cell":
            try:
                return self.home.cell_contents
            except ValueError:
                raise NameError(f"free variable {name!r} has no value yet") from None
        if self.kind == "attribute":
            try:
                return getattr(self.home, name)
            except AttributeError as error:
                raise NameError(str(error)) from None
        if name in self.home:
            return self.home[name]
        if name in vars(builtins):  # and not what the module `builtins` has as an object: `__init__`
            return vars(builtins)[name]
        raise NameError(f"name {name!r} is not defined")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and self.kind == other.kind and self.home is other.home

    def __hash__(self) -> int:
        return hash((self.kind, id(self.home)))


@dataclass(frozen=True, slots=True)
class Global:
    """A number, array or container of the user's module or closure, read each time it runs."""

    name: str
    place: Place = field(repr=False)

    def lookup(self) -> Any:
        return self.place.lookup(self.name)


Atom = str | Const | Global


@dataclass(frozen=True, slots=True)
class Assign:
    target: str
    op: Op
    args: tuple[Atom, ...]
    keywords: tuple[tuple[str, Atom], ...] = ()
    span: Span = field(default=NOWHERE, compare=False)

    @property
    def atoms(self) -> tuple[Atom, ...]:
        return self.args + tuple(value for _, value in self.keywords) if self.keywords else self.args


@dataclass(frozen=True, slots=True)
class Store:
    """``object[key] = value``; with ``op`` it is ``object[key] op= value``.

    ``key`` None means the whole array: ``object += value``; a constant `ops.Attribute` means
    ``object.attribute = value``.  ``whole`` says that a value which is added has the shape and dtype of what is there.
    """

    object: str
    key: Atom | None
    value: Atom
    op: Op | None = None
    span: Span = field(default=NOWHERE, compare=False)
    adjoint_of: bool = False
    whole: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Effect:
    """A call for its effect: ``l.append(x)``, ``np.add.at(a, i, x)``, ``print(x)``."""

    op: Op
    args: tuple[Atom, ...]
    keywords: tuple[tuple[str, Atom], ...] = ()
    span: Span = field(default=NOWHERE, compare=False)

    @property
    def atoms(self) -> tuple[Atom, ...]:
        return self.args + tuple(value for _, value in self.keywords) if self.keywords else self.args


@dataclass(frozen=True, slots=True)
class Merge:
    """``name`` is ``then`` after the first branch and ``orelse`` after the second."""

    name: str
    then: Atom
    orelse: Atom


@dataclass(frozen=True, slots=True)
class Carry:
    """``name`` is ``init`` in the first trip, ``next`` of the trip before in the others.

    After the loop ``name`` is the value that one more trip would have begun with.
    """

    name: str
    init: Atom
    next: Atom


@dataclass(frozen=True, slots=True)
class If:
    test: Atom
    then: tuple[Statement, ...]
    orelse: tuple[Statement, ...]
    merged: tuple[Merge, ...] = ()
    span: Span = field(default=NOWHERE, compare=False)
    tag: str = field(default="", compare=False)  # the same for a branch and for its adjoint


@dataclass(frozen=True, slots=True)
class For:
    target: str
    iterable: Atom
    body: tuple[Statement, ...]
    carried: tuple[Carry, ...] = ()
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class While:
    """The statements of ``head`` give ``test``; they run before each trip."""

    head: tuple[Statement, ...]
    test: Atom
    body: tuple[Statement, ...]
    carried: tuple[Carry, ...] = ()
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Leave:
    """``break``, ``continue`` or ``return``; only last in a block."""

    kind: str
    values: tuple[Atom, ...] = ()
    span: Span = field(default=NOWHERE, compare=False)


CHOICE = "the choice"  # what the number of the branch that is chosen is called in the text of an `Opaque`
CAUGHT = "the exception"  # and what was raised, before the names that handlers have for it
TRIED = "tried {}"  # what a name that a step of a `try` assigns is called while it is tried


@dataclass(frozen=True, slots=True)
class Opaque:
    """Passive Python kept as the user wrote it, with the names that it reads and writes.

    ``reads`` and ``writes`` pair the name in the text with the name in the core form.  Names in the text that
    the user did not write have a space in them.
    """

    tree: ast.AST = field(compare=False)
    text: str
    reads: tuple[tuple[str, Atom], ...]
    writes: tuple[tuple[str, str], ...]
    span: Span = field(default=NOWHERE, compare=False)


Statement = Assign | Store | Effect | If | For | While | Leave | Opaque
Block = tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter; ``default`` is what the emitted function's signature shows, if anything."""

    name: str
    default: Const | None = None


@dataclass(frozen=True, slots=True)
class Function:
    """A function in core form.  ``result`` is what it returns, ``doc`` its docstring."""

    name: str
    params: tuple[Param, ...]
    body: Block
    result: Atom
    span: Span = field(default=NOWHERE, compare=False)
    doc: str = ""


def version_base(name: str) -> str:
    """The name without its version number: ``y.2`` is a version of ``y``."""
    head, dot, tail = name.rpartition(".")
    return head if dot and tail.isdigit() else name


def is_temporary(name: str) -> bool:
    return name.startswith("%")
