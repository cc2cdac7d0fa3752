"""What places of the text are written for, and whether the types of the whole program bear it out.

Lowering writes ``layer.forward(x)`` for the class that ``layer`` has there, a loop over three unlike things as three
trips, and leaves a statement that says so.  When the whole program has its types, each is asked for once more.
"""

from __future__ import annotations

import dataclasses
import types as pytypes
from dataclasses import dataclass, field
from typing import Any

from tangentc.analysis.joins import is_nothing
from tangentc.analysis.points import change_of
from tangentc.analysis.types import Types, certain
from tangentc.core import ops
from tangentc.core.classes import instance_of
from tangentc.core.nodes import Assign, Atom, For, Statement, Store, While
from tangentc.core.types import Dict, Either, Known, Scalar, Type, is_container, present
from tangentc.core.walk import changed_by, definitions, statements, transform
from tangentc.errors import UnsupportedSyntax
from tangentc.frontend.questions import KEYS_OF, Questions, answer_of, is_open

CALLED = -2  # the operand that is called


@dataclass(eq=False)
class Fact:
    """What a place was lowered for: a class, a function, an answer, the trips of a loop."""

    kind: str
    site: Any
    value: Any


@dataclass
class Sites:
    """What is known of places from elsewhere in the compilation."""

    derivatives: dict[Any, Any] = field(default_factory=dict)  # inside, that have been compiled
    environments: dict[Any, type] = field(default_factory=dict)  # of functions that are called after their trip
    lifted: dict[Any, Any] = field(default_factory=dict)  # functions defined inside that call themselves
    twins: dict[Any, Any] = field(default_factory=dict)  # of functions that change arguments and call themselves
    assigned: set[str] = field(default_factory=set)  # attributes of classes that objects have values of their own for
    wanted: set[Any] = field(default_factory=set)  # loops that are written out if they can be
    counted: set[Any] = field(default_factory=set)  # and those whose items something further on has to count

    def from_further_on(self) -> int:
        """How much is known of what stands further on in the text."""
        return len(self.environments) + len(self.counted) + len(self.assigned)


class _At:
    """The types where a statement stands."""

    def __init__(self, types: Types, here: dict[Atom, Type]):
        self.types, self.here = types, here

    def of(self, atom: Atom) -> Type:
        return self.here[atom] if atom in self.here else self.types.of(atom)


class _Reader(Questions):
    """Asks the types of a whole program."""

    def __init__(self, program: Any):
        stores = [s for s in statements(program.function.body) if isinstance(s, Store)]
        super().__init__(program.types, definitions(program.function.body), stores)
        self.program = program

    def bears_out(self, s: Assign) -> bool:
        """Whether what a statement says was assumed is so, or never runs."""
        self.types = _At(self.program.types, self.program.types.assumed.get(id(s), {}))
        if s.args[0].value.kind == "unchanged":  # type: ignore[union-attr]
            return not self.is_changed_around(s)
        return self.is_never(s) or bool(self.holds(s.args[0].value, s.args[1:]))  # type: ignore[union-attr]

    def is_changed_around(self, s: Assign) -> bool:
        """Whether the innermost loop around a statement changes one of its arguments."""
        aliases = self.program.aliases
        loop = next(
            (loop for loop in reversed(list(statements(self.program.function.body))) if isinstance(loop, (For, While))
             and any(inner is s for inner in statements(loop.body))),
            None,
        )  # fmt: skip
        changed = set() if loop is None else {name for inner in statements(loop.body) for name in _changed_by(inner)}
        places, late = aliases.points.places, [a for a in s.args[1:] if isinstance(a, str)]
        roots, held = set(map(aliases.root, late)), set().union(*map(places, late))
        return any(aliases.root(name) in roots or not held.isdisjoint(places(name)) for name in changed)

    def is_never(self, s: Assign) -> bool:
        """Whether a statement has no values: it never runs."""
        return any(is_nothing(self.types.of(a)) for a in s.args[1:])

    def holds(self, fact: Fact, atoms: tuple[Atom, ...]) -> bool | None:
        """Whether the types bear a fact out; None if they do not tell."""
        types, value = [self.types.of(a) for a in atoms], fact.value
        if fact.kind == "compiled":
            return None if any(map(is_open, types)) else list(map(_form, types)) == list(map(_form, value))
        t = types[0]
        if isinstance(t, Known) and t.value is ops.UNDEFINED:
            return None
        match fact.kind:
            case "classes":
                return instance_of(present(t), value)  # None has none of its attributes, and raises
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
                    None if is_open(t) else fact.kind != "keys" and value != () and value == self.first_keys(atoms[0])
                )
        found_: list = []
        if not self.sources(atoms[0], found_):
            return None if is_open(t) else False
        return (len(found_[0]) if isinstance(value, int) and isinstance(found_[0], tuple) else found_[0]) == value


def _changed_by(s: Statement) -> set[str]:
    """The names of what a statement changes in place."""
    change = change_of(s)
    found = {changed_by(s), None if change is None else change.container}
    if isinstance(s, Assign) and isinstance(s.op, ops.augmented):
        found.add(s.args[0])
    return {name for name in found if isinstance(name, str)}


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
        "unchanged": (
            "changes what its loop runs over", "an iterator takes each item when the loop comes to it",
            "loop over a list of them, for v in list(...), or write it by subscripts",
        ),
    }.get(fact.kind, (
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
    reader = _Reader(program)

    def rewrite(s: Statement) -> tuple[Statement, ...]:
        if not (isinstance(s, Assign) and s.op is ops.assumed):
            return (s,)
        if not reader.bears_out(s):
            raise not_so(s.args[0].value, s)  # type: ignore[union-attr]
        return ()

    return dataclasses.replace(program.function, body=transform(program.function.body, rewrite))
