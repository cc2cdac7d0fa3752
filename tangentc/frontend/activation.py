"""Calls of functions while they are lowered: where a function's names lead.

A function that is called from the one that is differentiated is lowered into it.  Each of its calls is
an *activation*: its local ``x`` becomes ``x'3``, the variable ``x`` of activation 3, and a name that is
not its own leads to the activation that it was defined in.  So a closure over an active value, or
over a variable that changes later, is plain variables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import gast

from tangentc.core import ops
from tangentc.core.nodes import Atom
from tangentc.core.resolve import Scope
from tangentc.frontend.source import Source
from tangentc.frontend.trees import walk

COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
ASKING = ("get", "keys", "values", "items", "copy")


@dataclass(eq=False)
class Activation:
    """One call of one function."""

    source: Source
    scope: Scope
    local: Counter[str]  # the function's own names, and how often each is assigned
    outer: Activation | None = None  # the activation that the function was defined in
    number: int = 0
    path: tuple = ()  # the sites of the calls that led here
    loops: tuple = ()  # the loops that were open when it began
    key: Any = None  # what function this is a call of
    cls: type | None = None  # the class that a method was found in, for super()
    nonlocals: set[str] = field(default_factory=set)
    constants: dict[str, Atom] = field(default_factory=dict)  # names that have one known value
    static: dict[str, tuple[Atom, ...] | dict[str, Atom]] = field(default_factory=dict)  # *args and **kwargs
    gives: Any = None  # of a generator: what takes the values that it gives
    has_flag: bool = False  # whether a loop is left by return
    unnamed: frozenset[str] = frozenset()  # parameters that stand for what is given, wherever this may be written

    def variable(self, name: str) -> str:
        """The variable that a local name stands for."""
        own = f"{name}'{self.number}" if self.number else name
        return f"%{own}" if name in self.unnamed else own

    def chain(self) -> Iterator[Activation]:
        """This activation, and those that the functions around it were defined in."""
        found: Activation | None = self
        while found is not None:
            yield found
            found = found.outer

    def home(self, name: str) -> Activation | None:
        """The activation whose local name this is, None for a name of the module or a closure's cell."""
        found: Activation | None = self
        while found is not None and (name not in found.local or name in found.nonlocals):
            found = found.outer
        return found


@dataclass(eq=False)
class Closure(ops.MadeInside):
    """A function defined inside the one that is lowered, or a lambda: its text, and where its names lead."""

    node: Any
    home: Activation
    defaults: dict[str, Atom]
    state: tuple = ()  # the loops in each trip of which it holds other values
    key: Any = None  # where it is made: the same in each lowering

    @property
    def __name__(self) -> str:
        return getattr(self.node, "name", "lambda_")

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        raise NotImplementedError(self.__name__)


@dataclass(eq=False)
class Bound(ops.MadeInside):
    """A function with some of its arguments: what `functools.partial` and a bound method are."""

    function: Any
    args: tuple[Atom, ...]
    keywords: tuple[tuple[str, Atom], ...] = ()
    cls: type | None = None
    state: tuple = ()
    key: Any = None

    @property
    def __name__(self) -> str:
        return getattr(self.function, "__name__", "function")

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        raise NotImplementedError(self.__name__)


def made_in(function: Any) -> tuple:
    """The loops in each trip of which a function made inside holds other values."""
    return function.state if isinstance(function, ops.MadeInside) else ()  # type: ignore[attr-defined]


def locals_of(node: Any) -> Counter[str]:
    """The names that a function assigns, its parameters among them, and how often."""
    names: Counter[str] = Counter(a.id for a in parameters(node.args))
    stack = list(node.body) if isinstance(node.body, list) else [node.body]
    while stack:
        child = stack.pop()
        if isinstance(child, gast.Name) and isinstance(child.ctx, (gast.Store, gast.Del)):
            names[child.id] += 1
        elif isinstance(child, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)):
            names[child.name] += 1
            continue
        elif isinstance(child, (gast.Import, gast.ImportFrom)):
            for alias in child.names:
                names[(alias.asname or alias.name).split(".")[0]] += 1
        elif isinstance(child, gast.ExceptHandler) and child.name is not None:
            names[child.name.id if isinstance(child.name, gast.Name) else child.name] += 1
        elif isinstance(child, (gast.MatchAs, gast.MatchStar)) and child.name is not None:
            names[child.name] += 1
        elif isinstance(child, gast.MatchMapping) and child.rest is not None:
            names[child.rest] += 1
        if isinstance(child, gast.Lambda):
            continue
        if isinstance(child, COMPREHENSIONS):  # its targets are its own; what := assigns is the function's
            stack.extend(n for n in walk(child) if isinstance(n, gast.NamedExpr))
            stack.append(child.generators[0].iter)
            continue
        stack.extend(gast.iter_child_nodes(child))
    return names


def declared(body: list, kind: Any) -> set[str]:
    """The names in the ``nonlocal`` or ``global`` statements of a function."""
    names: set[str] = set()
    stack = list(body)
    while stack:
        child = stack.pop()
        if isinstance(child, kind):
            names.update(child.names)
        if not isinstance(child, (gast.FunctionDef, gast.Lambda, gast.ClassDef, gast.expr)):
            stack.extend(gast.iter_child_nodes(child))
    return names


def is_only_read(tree: Any, name: str) -> bool:
    """Whether a function does nothing with the dict of its keywords but to hand them on and to look things up."""
    asked: set[Any] = set()
    for n in walk(tree):
        handed_on = isinstance(n, gast.keyword) and n.arg is None
        if handed_on or isinstance(n, gast.Subscript) and isinstance(n.ctx, gast.Load):
            asked.add(n.value)
        elif isinstance(n, gast.Compare):
            asked.update(c for op, c in zip(n.ops, n.comparators, strict=True) if isinstance(op, (gast.In, gast.NotIn)))
        elif isinstance(n, gast.Call) and isinstance(n.func, gast.Attribute) and n.func.attr in ASKING:
            asked.add(n.func.value)
    read = (n for n in walk(tree) if isinstance(n, gast.Name) and n.id == name and isinstance(n.ctx, gast.Load))
    return asked.issuperset(read)


def parameters(args: Any) -> list[Any]:
    """The parameters in a signature, ``*args`` and ``**kwargs`` among them, in order."""
    starred = [args.vararg] if args.vararg else []
    double = [args.kwarg] if args.kwarg else []
    return [*args.posonlyargs, *args.args, *starred, *args.kwonlyargs, *double]
