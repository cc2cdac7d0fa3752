"""Programs that show every value that they compute, and its adjoint.

    y = x * 2          ->          tell('operands', 3, x); %y = x * 2; y = seen(3, %y)

`ops.seen` has a rule like any function, y_bar = seen_bar(3, y_bar), so that what is shown are the adjoints of the
emitted code itself.  Arrays that are changed in place are shown when they are made, and when something is stored into
them, without an adjoint.
"""

from __future__ import annotations

import ast
import builtins
import copy
import operator
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tangentc.analysis.program import Program
from tangentc.backend.load import load, print_program
from tangentc.compiler.context import Context
from tangentc.compiler.front import Front
from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Const, Effect, For, Function, Statement, Store, While
from tangentc.core.types import Array, Scalar, Struct, Unknown, is_differentiable
from tangentc.core.values import is_array, type_of
from tangentc.core.walk import statements, substitute, transform
from tangentc.derivative import Derivative
from tangentc.errors import Span
from tangentc.frontend.callables import is_user_function
from tangentc.rules.registry import REGISTRY, adjoint_rule

PASSED_ON = {
    ops.identity, ops.select, ops.make_tuple, ops.make_list, ops.make_dict, ops.make_struct, builtins.getattr,
    ops.old_item, ops.take, ops.pop, ops.seen, ops.call, ops.method,
}  # fmt: skip


@adjoint_rule(ops.seen)
def seen(number, x, y, y_bar):
    return None, ops.seen_bar(number, y_bar)


@dataclass(frozen=True)
class Site:
    """An operation of the user's function, in core form; of a store ``object[key] op= value`` these three."""

    number: int
    function: str
    name: str
    op: Any
    args: tuple[Atom, ...]
    keywords: tuple[tuple[str, Atom], ...]
    operands: tuple[Atom, ...]  # those of the arguments that are names, in the order in which they are told
    span: Span
    is_store: bool = False
    is_use: bool = False  # not what the operation gives, but what is given to it under ``name``
    written: Mapping[str, str] = field(default_factory=dict)  # for what has no name of the user, his text


@dataclass
class Node:
    """A value of a run: what made it, of which other values, and its adjoint (None if nothing flows back to it)."""

    number: int
    site: Site | None  # None for an argument
    name: str
    value: Any
    parents: tuple[int | None, ...] = ()  # for each operand the number of its node
    operands: tuple[Any, ...] = ()
    trips: tuple[tuple[int, int], ...] = ()
    adjoint: Any = None


class Observed:
    """The sites that have been put into programs, and the text of each loop.

    With ``uses`` it is shown too where an operation is given that name, or one that is not shown by itself, such as a
    parameter; its adjoint there is what the operation adds to it.
    """

    def __init__(self, uses: str | None = None) -> None:
        self.uses = uses
        self.sites: list[Site] = []
        self.loops: list[str] = []
        self.written: dict[str, str] = {}

    def instrument(self, program: Program) -> Function:
        """The program with its values shown."""
        types, aliases, name = program.types, program.aliases, program.function.name
        fresh = _Fresh(set(types.of_name))
        made = (s for s in statements(program.function.body) if isinstance(s, Assign) and s.target.startswith("%"))
        self.written = {s.target: written for s in made if (written := segment(s.span))}
        every = [s for s in statements(program.function.body) if isinstance(s, Assign)]
        own = {s.target for s in every if self.uses is not None and self._is_shown(s, program)}

        def rewrite(s: Statement) -> tuple[Statement, ...]:
            used, hidden = self._used(s, program, own, fresh)
            return *used, *(substitute(new, hidden) if hidden else new for new in shown(s))

        def shown(s: Statement) -> tuple[Statement, ...]:
            match s:
                case Assign() if self._is_shown(s, program):
                    if not aliases.is_changed(s.target):
                        return self._shown(s, name, types, fresh)
                    operands = tuple(dict.fromkeys(a for a in s.atoms if isinstance(a, str)))
                    site = self._site(name, s.target, s.op, s.args, s.keywords, operands, s.span)
                    return s, Effect(ops.tell, (Const("made"), Const(site.number), s.target, *operands), (), s.span)
                case Store() if isinstance(types.of(s.object), Array) and isinstance(s.object, str):
                    operands = tuple(a for a in (s.object, s.value) if isinstance(a, str))
                    key = Const(...) if s.key is None else s.key
                    site = self._site(name, s.object, s.op, (s.object, key, s.value), (), operands, s.span, True)
                    return s, Effect(ops.tell, (Const("stored"), Const(site.number), s.object, s.value), (), s.span)
                case For() | While():
                    number = len(self.loops)
                    self.loops.append(s.span.text.strip() or "a loop")
                    body = s.body
                    if isinstance(s, For) and isinstance(types.of(s.iterable), Array) and _is_value(types.of(s.target)):
                        if not aliases.is_changed(s.target):
                            hidden = fresh(s.target)
                            item = Assign(s.target, ops.identity, (hidden,), (), s.span)
                            shown = self._shown(item, name, types, fresh, (s.iterable,))
                            s, body = replace(s, target=hidden), (*shown, *s.body)
                    begin = Effect(ops.tell, (Const("trip"), Const(number)), (), s.span)
                    end = Effect(ops.tell, (Const("after"), Const(number)), (), s.span)
                    return replace(s, body=(begin, *body)), end
            return (s,)

        return replace(program.function, body=transform(program.function.body, rewrite))

    def _used(self, s: Statement, program: Program, shown: set[str], fresh: _Fresh) -> tuple[list[Statement], Any]:
        """Statements that show what a statement is given, and the names under which it is given it then."""
        out: list[Statement] = []
        hidden: dict[str, Atom] = {}
        if self.uses is None or not isinstance(s, (Assign, Store)):
            return out, hidden
        atoms = s.atoms if isinstance(s, Assign) else (s.value,)
        for a in dict.fromkeys(a for a in atoms if isinstance(a, str) and _may_be_value(program.types.of(a))):
            changed = program.aliases.is_changed(a)
            if not _makes_new(s) if changed else a in shown and a != self.uses:
                continue
            op, args = (s.op, s.args) if isinstance(s, Assign) else (operator.setitem, (s.value,))
            site = self._site(program.function.name, a, op, args, (), (a,), s.span, is_use=True)
            given = a
            if changed:
                out.append(Assign(given := fresh(a), np.copy, (a,), (), s.span))
            hidden[a] = name = fresh(a)
            out.append(Effect(ops.tell, (Const("operands"), Const(site.number), given), (), s.span))
            out.append(Assign(name, ops.seen, (Const(site.number), given), (), s.span))
        return out, hidden

    def _is_shown(self, s: Assign, program: Program) -> bool:
        op = s.op.function if isinstance(s.op, ops.UserFunction) else s.op
        if op in PASSED_ON or is_user_function(op) or isinstance(op, ops.Emitted):
            return False
        if op is operator.getitem and not isinstance(program.types.of(s.args[0]), Array):
            return False
        return _may_be_value(program.types.of(s.target))

    def _site(
        self, function: str, name: str, op: Any, args: tuple[Atom, ...], keywords: Any, operands: Any, span: Span,
        is_store: bool = False, is_use: bool = False,
    ) -> Site:  # fmt: skip
        written = {a: self.written[a] for a in (name, *args) if isinstance(a, str) and a in self.written}
        site = Site(
            len(self.sites), function, name, op, args, tuple(keywords), operands, span, is_store, is_use, written
        )
        self.sites.append(site)
        return site

    def _shown(
        self, s: Assign, function: str, types: Any, fresh: Any, of: tuple[Atom, ...] | None = None
    ) -> tuple[Statement, ...]:
        atoms = s.atoms if of is None else of
        operands = tuple(dict.fromkeys(a for a in atoms if isinstance(a, str)))
        site = self._site(function, s.target, s.op, s.args if of is None else of, s.keywords, operands, s.span)
        hidden = fresh(s.target)
        return (
            Effect(ops.tell, (Const("operands"), Const(site.number), *operands), (), s.span),
            replace(s, target=hidden),
            Assign(s.target, ops.seen, (Const(site.number), hidden), (), s.span),
        )


def _makes_new(s: Statement) -> bool:
    """Whether what a statement gives shares no memory with what it is given, whatever is changed later."""
    rule = REGISTRY.find(s.op) if isinstance(s, Assign) else None
    return rule is not None and rule.kind == "elementwise"


def segment(span: Span) -> str:
    """The expression at a place, which has one line; "" if it is not known."""
    text = span.text[span.column : span.end_column].strip()
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return ""
    return text


class _Fresh:
    def __init__(self, taken: set[str]):
        self.taken = taken

    def __call__(self, name: str) -> str:
        k = 1
        while (new := f"%shown_{name.lstrip('%').replace('.', '_')}_{k}") in self.taken:
            k += 1
        self.taken.add(new)
        return new


def _is_value(t: Any) -> bool:
    return isinstance(t, (Scalar, Array)) and is_differentiable(t)


def _may_be_value(t: Any) -> bool:
    return _is_value(t) or type(t) is Unknown


@dataclass
class Recorder:
    """Keeps the nodes of a run.  ``instead`` may give another value for the node of a number."""

    observed: Observed
    nodes: list[Node] = field(default_factory=list)
    instead: Any = None

    def __post_init__(self) -> None:
        self.by_id: dict[int, Node] = {}
        self.by_place: dict[Any, Node] = {}  # parts of arrays, which are other objects each time
        self.kept: list[Any] = []  # so that no other object gets the id of one of these
        self.given: dict[int, tuple[Any, ...]] = {}
        self.open: dict[int, list[Node]] = {}  # of each site the nodes whose adjoint is still to come
        self.path: list[list[int]] = []

    def argument(self, name: str, value: Any) -> Any:
        """Note an argument; gives it as an object of its own."""
        if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
            return type(value)(self.argument(f"{name}[{k}]", v) for k, v in enumerate(value))
        if isinstance(value, dict):
            return {k: self.argument(f"{name}[{k!r}]", v) for k, v in value.items()}
        if is_object(value):
            own = copy.copy(value)
            vars(own).update((k, self.argument(f"{name}.{k}", v)) for k, v in vars(value).items())
            return own
        if not _is_value(type_of(value)):
            return value
        return self._add(None, name, _own(value)).value

    def operands(self, number: int, *values: Any) -> None:
        self.given[number] = values

    def value(self, number: int, value: Any) -> Any:
        site = self.observed.sites[number]
        if not _is_value(type_of(value)):
            return value
        value = value.view() if site.is_use and isinstance(value, np.ndarray) else _own(value)
        if self.instead is not None:
            value = self.instead(len(self.nodes), value)
        node = self._add(site, site.name, value, self.given.pop(number, ()))
        self.open.setdefault(number, []).append(node)
        return value

    def adjoint(self, number: int, bar: Any) -> Any:
        if waiting := self.open.get(number):
            waiting.pop().adjoint = bar.copy() if is_array(bar) else bar
        return bar

    def made(self, number: int, value: Any, *operands: Any) -> None:
        """Note an array that is changed in place later: itself, so that it is known again, without an adjoint."""
        if is_array(value):
            self._add(self.observed.sites[number], self.observed.sites[number].name, value, operands)

    def stored(self, number: int, array: Any, value: Any) -> None:
        site = self.observed.sites[number]
        known = zip((site.args[0], site.args[2]), (array, value))
        self._add(site, site.name, array, tuple(v for a, v in known if isinstance(a, str)))

    def trip(self, loop: int) -> None:
        if self.path and self.path[-1][0] == loop:
            self.path[-1][1] += 1
        else:
            self.path.append([loop, 0])

    def after(self, loop: int) -> None:
        while any(entry[0] == loop for entry in self.path):
            self.path.pop()

    def _add(self, site: Site | None, name: str, value: Any, operands: tuple[Any, ...] = ()) -> Node:
        found = [self.by_id.get(id(v)) or self.by_place.get(_place(v)) for v in operands]
        parents = tuple(None if n is None else n.number for n in found)
        held = tuple(v.copy() if is_array(v) else v for v in operands)
        kept = value.copy() if is_array(value) else value
        trips = tuple((loop, trip) for loop, trip in self.path)
        node = Node(len(self.nodes), site, name, kept, parents, held, trips)
        self.nodes.append(node)
        self.by_id[id(value)] = node
        if (place := _place(value)) is not None:
            self.by_place[place] = node
        self.kept.append(value)
        return Node(node.number, site, name, value) if site is None else node


def is_object(value: Any) -> bool:
    """Whether a value is an object of a class, with attributes that a derivative may flow through."""
    return isinstance(type_of(value), Struct) and isinstance(getattr(value, "__dict__", None), dict)


def _place(value: Any) -> Any:
    """Where the numbers of an array are."""
    if not isinstance(value, np.ndarray) or not value.size:
        return None
    return value.ctypes.data, value.shape, value.strides, value.dtype.str


def _own(value: Any) -> Any:
    """The value as an object that is nothing else."""
    if is_array(value):
        return value
    if isinstance(value, complex) and not isinstance(value, np.generic):
        return complex(value.real, value.imag)
    return type(value)(value) if isinstance(value, np.generic) else value * 1.0


@contextmanager
def watching(recorder: Any) -> Iterator[None]:
    """While this runs, ``recorder`` is shown what programs compute."""
    ops.WATCHING.append(recorder)
    try:
        yield
    finally:
        ops.WATCHING.remove(recorder)


def compiled(derivative: Derivative, args: tuple[Any, ...], uses: str | None = None) -> tuple[Any, Observed]:
    """The function that a derivative is for these arguments, in which every value is shown, and its sites."""
    observed = Observed(uses)
    types = derivative.compiled(args).types
    source = derivative.resolve(types)
    context = Context(Front(source, watch=observed.instrument))
    derivative.write(context, source, types, None)
    text = print_program(context.emitted)
    function = load(text, source.__module__)
    function.__globals__.update({name: atom.lookup() for name, atom in text.live.items()})
    return function, observed


__all__ = ["Node", "Observed", "Recorder", "Site", "compiled", "watching"]
