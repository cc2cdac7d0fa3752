"""Which names may be the same array: views, items of containers, other names for one object.

u = x.copy()          v = u[1:]           w = v + 1
u and v are one class, whose root is u; w has memory of its own
"""

from __future__ import annotations

import builtins
import copy
import functools
import operator
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tangentc import runtime
from tangentc.analysis.elementwise import is_elementwise
from tangentc.analysis.points import Change, Points, change_of
from tangentc.core import ops
from tangentc.core.build import Types
from tangentc.core.nodes import (
    CAUGHT,
    TRIED,
    Assign,
    Atom,
    Const,
    Effect,
    For,
    Function,
    Global,
    If,
    Op,
    Opaque,
    Store,
    While,
)
from tangentc.core.types import Array, Known, Scalar, Tuple, Type, Unknown, is_basic, is_container
from tangentc.core.values import type_of
from tangentc.core.walk import asks_for_form, joins_of, statements
from tangentc.ops import methods
from tangentc.ops.table import every

VIEWS = every("view")
COPIES_MAYBE = every("may_copy")
READ_ONLY = every("read_only")
MAY_SHARE = every("may_share")
COMPACT = every("compact")
GIVES_BACK = {np.diff: (1, "n", 0), np.linalg.matrix_power: (1, "n", 1)}  # their argument, for this value of an option
NEW = every("new")
NEW_OF_MODULES = ("scipy.ndimage._filters",)  # which give an array of their own, or a dtype to make one in
HOLDERS = every("holds")
VIEW_METHODS = methods.names(view=True)


class Aliases:
    """Classes of names that may share memory.  ``types`` says which values have memory at all."""

    def __init__(self, function: Function, types: Types, call_aliases: Callable[[Op], bool | None] | None = None):
        self.types = types
        self.call_aliases = call_aliases or (lambda op: None)
        self.parent: dict[str, str] = {}
        self.allocations: dict[str, list[str]] = {}
        self.views: dict[str, Assign] = {}
        self.changed: set[str] = set()
        self.globals: set[str] = set()
        self.called: list[str] = []  # what functions of the user gave that they may have been given
        self.joins: list[str] = []  # names that are one value or another
        self.points = Points(function, types)
        self.params = [p.name for p in function.params if self._has_memory(p.name)]
        own: list[str] = list(self.params)
        stores: list[str] = []
        self.made: dict[str, Assign] = {}
        for s in statements(function.body):
            if isinstance(s, (Assign, Effect)) and (change := change_of(s)) is not None:
                for _, atom in change.puts:
                    self._union(change.container, atom)
            match s:
                case Assign() if self._has_memory(s.target):
                    if not self._made(s):
                        own.append(s.target)
                case Store() if is_container(self._type(s.object)):
                    self._union(s.object, s.value)
                case Store():
                    stores.append(s.object)
                case Effect() if s.args and isinstance(s.args[0], str) and changes_argument(s.op):
                    stores.append(s.args[0])
                case If() | For() | While():
                    for name, *arms in joins_of(s):
                        self.joins.append(name)
                        for atom in arms:
                            self._union(name, atom)
                    if isinstance(s, For):
                        self._union(s.target, s.iterable)
                case Opaque():
                    for text, name in s.writes:
                        if text.startswith((CAUGHT, TRIED.format(""))):
                            continue  # it holds no numbers that move, which the run makes sure of, or is not changed
                        for _, atom in s.reads:
                            self._union(name, atom)
        for name in own:
            self.allocations.setdefault(self.root(name), []).append(name)
        self.stored = stores
        self.changed = {self.root(name) for name in stores}
        self._find_simple()

    def among(self, types: Types) -> Aliases:
        """The same classes, where ``types`` tell of more names."""
        new = copy.copy(self)
        new.types, new.points = types, copy.copy(self.points)
        new.points.types = types
        return new

    @functools.cached_property
    def untraced(self) -> set[str]:
        """The classes in which a container may hold what another one does, and no place says so."""
        made = [self.made[name] for name in self.points.trees if name in self.made]
        return {self.root(s.target) for s in made if self.shares(s)}

    def moving(self, counts: Callable[[str, Change], bool]) -> Aliases:
        """The same, where of the changes of containers only those count that are said to, by their places."""
        new = copy.copy(self)
        new.points = copy.copy(self.points)
        new.points.changed = {place for place, change in self.points.changes if counts(place, change)}
        new.points.touched = new.points.holding(new.points.changed)
        return new

    def _made(self, s: Assign) -> list[Atom]:
        """Note what a statement gives; gives what that shares its memory with."""
        self.made[s.target] = s
        shared = self.shares(s)
        if shared and self.call_aliases(s.op):
            self.called.append(s.target)
        for atom in shared:
            self._union(s.target, atom)
        if len(shared) == 1 and isinstance(shared[0], str):
            self.views[s.target] = s
        return shared

    def _find_simple(self) -> None:
        """The classes of arrays that have one maker, lie in no container, and have views of their own names."""
        crowded = {self.root(n) for n in (*self.called, *self.joins) if self._has_memory(n)}
        crowded |= {self.root(n) for n, t in self.types.of_name.items() if is_container(t) and self._known(n)}
        crowded |= {self.root("%global")} if self.globals else set()
        self.doubtful = {self.root(n) for n, made in self.views.items() if self._is_doubtful(made)}
        crowded |= self.doubtful
        self.simple = {r for r in self.changed if len(self.allocations.get(r, ())) == 1 and r not in crowded}

    def _is_doubtful(self, made: Assign) -> bool:
        """Whether a view may be a copy, or cannot be written."""
        return made.op in READ_ONLY or self.may_copy(made)

    def may_copy(self, made: Assign) -> bool:
        """Whether what looks like a view may be a copy, which only the layout of the array says."""
        if made.op not in COPIES_MAYBE:
            return False
        given = [*made.args[2 if made.op is np.reshape else 1 :], *(a for k, a in made.keywords if k != "shape")]
        return any(a != Const("C") for a in given) or not self._is_compact(made.args[0])

    def _is_compact(self, atom: Atom) -> bool:
        """Whether an array surely lies in memory without gaps, in the order of its indices."""
        made = self.made.get(atom) if isinstance(atom, str) else None
        if made is None:
            return False
        if made.op in COPIES_MAYBE and not self.may_copy(made) or made.op is ops.identity:
            return self._is_compact(made.args[0])
        if made.op in COMPACT and "order" not in dict(made.keywords):
            return True
        t = self._type(atom)
        return isinstance(t, Array) and len(t.shape) == 1 and not self.shares(made)

    def _known(self, name: str) -> bool:
        return name in self.parent or name in self.parent.values() or name in self.params

    def _type(self, atom: Atom) -> Type:
        return self.types.of(atom)

    def _has_memory(self, atom: Atom) -> bool:
        t = self._type(atom)
        if isinstance(atom, Global) and isinstance(t, Tuple) and all(isinstance(i, (Scalar, Known)) for i in t.items):
            return False
        return isinstance(t, (Array, Unknown)) or is_container(t)

    def shares(self, s: Assign) -> list[Atom]:
        """The arguments whose memory the result may share."""
        if not self._has_memory(s.target):
            return []
        gives_own = s.op is ops.method and s.args[1].value not in VIEW_METHODS
        if gives_own and isinstance(self._type(s.args[0]), Array):
            if (function := methods.function_of(s.args[1].value)) is not None:
                s = replace(s, op=function, args=(s.args[0], *s.args[2:]))
        op = s.op
        if "out" in dict(s.keywords):
            return [dict(s.keywords)["out"]]  # it is what the call gives
        atoms: list[Atom] = [a for a in s.atoms if isinstance(a, (str, Global)) and self._has_memory(a)]
        called = self.call_aliases(op)
        if called is not None:
            return atoms if called else []
        if op is operator.getitem:
            base = self._type(s.args[0])
            if isinstance(base, Array) and not self.is_basic(s.args[1]) and not self._is_unknown(s.args[1]):
                return []
            return atoms[:1]
        if op in (operator.add, operator.mul):  # of lists
            return atoms if is_container(self._type(s.target)) else []
        if op is builtins.getattr:
            return [] if asks_for_form(s, self._type) else atoms[:1]
        if op is np.einsum:
            spec = self._type(s.args[0])
            text = s.args[0].value if isinstance(s.args[0], Const) else getattr(spec, "value", None)
            return atoms if len(atoms) == 1 and not (isinstance(text, str) and _sums(text)) else []
        if ("copy", Const(True)) in s.keywords:
            return []
        if op is runtime.unbroadcast:  # of its second argument it asks the shape alone
            return [a for a in s.args[:1] if a in atoms]
        if op in VIEWS or op is ops.method and s.args[1].value in VIEW_METHODS:
            return atoms[:1]
        return atoms if op in HOLDERS or may_give_back(s) else []

    def makes_memory(self, s: Assign) -> bool:
        """Whether a statement makes an array that nothing else refers to."""
        if is_elementwise(s.op) or s.op is operator.matmul:
            return True
        if s.op is np.diag:  # the diagonal of a matrix is its memory
            return False
        return (known(s.op) or s.op in NEW) and not self.shares(s)

    def _is_unknown(self, key: Atom) -> bool:
        t = self._type(key)
        return isinstance(t, Unknown) or isinstance(t, Tuple) and any(isinstance(i, Unknown) for i in t.items)

    def is_basic(self, key: Atom) -> bool:
        """Whether a subscript is made of integers, slices, None and `...` alone, so that it gives a view."""
        t = self._type(key)
        if isinstance(t, Known) and isinstance(t.value, tuple):
            return all(is_basic(type_of(part)) for part in t.value)
        if isinstance(t, Tuple) and t.cls is None:
            return all(map(is_basic, t.items))
        return is_basic(t)

    # ---------------------------------------------------------- classes
    def root(self, name: str) -> str:
        """The representative of a name's class."""
        path = []
        while (up := self.parent.get(name, name)) != name:
            path.append(name)
            name = up
        for p in path:
            self.parent[p] = name
        return name

    def _union(self, a: Atom, b: Atom) -> None:
        if not all(isinstance(x, (str, Global)) and self._has_memory(x) for x in (a, b)):
            return
        names = ["%global" if isinstance(x, Global) else x for x in (a, b)]
        self.globals.update({"%global"}.intersection(names))
        x, y = self.root(names[0]), self.root(names[1])  # type: ignore[arg-type]
        if x != y:
            self.parent[x] = y

    def is_changed(self, name: str) -> bool:
        """Whether what this name stands for is changed anywhere in the function: an array that is stored
        into, a container that is, or that holds such an array."""
        return self.root(name) in self.changed or self.points.is_changed(name)

    def changed_params(self, function: Function) -> tuple[str, ...]:
        """The parameters that the function may change.  One that is only joined with what is changed, as in
        ``return x if c else out``, or that lies in a container beside it, is not among them, unless what is changed
        is taken out of a container."""
        sources: dict[str, list[Atom]] = {}
        for s in statements(function.body):
            if isinstance(s, Assign):
                sources[s.target] = self.shares(s)
            for m in getattr(s, "merged", ()):
                sources[m.name] = [m.then, m.orelse]
            for c in getattr(s, "carried", ()):
                sources[c.name] = [c.init, c.next]
            if isinstance(s, For):
                sources[s.target] = [s.iterable]
            if isinstance(s, Opaque):
                sources.update({name: [a for _, a in s.reads] for _, name in s.writes})
        reached, waiting = set(), [n for n in self.stored if isinstance(n, str)]
        while waiting:
            name = waiting.pop()
            if name not in reached:
                reached.add(name)
                waiting += [a for a in sources.get(name, ()) if isinstance(a, str)]
        arrays = {n for n, t in self.types.of_name.items() if isinstance(t, (Array, Scalar, Known))}
        tangled = {self.root(n) for n in reached - arrays if self._known(n)}
        return tuple(
            n for n in self.params
            if self.is_changed(n) and (n in reached or n not in arrays or self.root(n) in tangled)
        )  # fmt: skip

    def is_mirrored(self, name: str) -> bool:
        """Whether the shadow of a value that changes must be made beside it: it may be one of several, or
        lies in a container, or is a container that holds what changes."""
        root = self.root(name)
        if root in self.changed:
            return root not in self.simple
        return self.points.is_changed(name) and not self.points.is_single(name)

    def allocation(self, name: str) -> list[str]:
        """The names whose definition made the memory of this class, parameters among them."""
        return self.allocations.get(self.root(name), [])

    def is_outside(self, name: str) -> bool:
        """Whether this may be an array of the user's module."""
        return bool(self.globals) and self.root("%global") == self.root(name)

    def is_view(self, name: str) -> bool:
        return name in self.views


def arms(function: Function, chosen: Callable[[str], bool]) -> list[str]:
    """The names that joins of control flow may stand for, where what they join is chosen."""
    joins = [join for s in statements(function.body) for join in joins_of(s)]
    return [a for name, *values in joins if chosen(name) for a in values if isinstance(a, str)]


def may_give_back(s: Assign) -> bool:
    """Whether nothing says that a function of a library gives an array of its own."""
    if any(k == "copy" and a != Const(True) for k, a in s.keywords):
        return True
    if s.op is ops.method and s.args[1] == Const("view"):  # perhaps the same memory, taken for other numbers
        return True
    if s.op is ops.method and s.args[1] == Const("tolist"):
        return False
    if s.op in NEW or getattr(s.op, "__module__", None) in NEW_OF_MODULES:
        return False
    if is_unknown_call(s):
        return True
    if s.op in GIVES_BACK:
        place, option, value = GIVES_BACK[s.op]
        given = dict(s.keywords).get(option, s.args[place] if place < len(s.args) else Const(1 - value))
        return not isinstance(given, Const) or given.value == value
    if isinstance(s.op, type):
        return issubclass(s.op, np.generic)
    if not known(s.op) or isinstance(s.op, np.ufunc) or "random" in (getattr(s.op, "__module__", "") or ""):
        return False
    from tangentc.rules.registry import REGISTRY

    if not callable(s.op) or not hasattr(s.op, "__name__") or REGISTRY.find(s.op) is not None:
        return False
    return s.op in MAY_SHARE or REGISTRY.definition(s.op) is None


def is_unknown_call(s: Assign) -> bool:
    """Whether a statement calls something of which nothing is known: no operation of the language, no function of the
    user's and none of NumPy."""
    if s.op is ops.method:
        return s.args[1].value not in VIEW_METHODS
    if s.op in HOLDERS or isinstance(s.op, (ops.UserFunction, ops.Emitted, ops.augmented)) or s.op is ops.new_list:
        return False
    return not ops.is_pure(s.op) and not known(s.op)


def known(op: Op) -> bool:
    return ops.module_root(op) in ops.NUMERIC_MODULES


def changes_argument(op: Op) -> bool:
    """Whether a call for its effect changes its first argument."""
    return op is runtime.add_copied or getattr(op, "__name__", "") in ops.IMPURE_NAMES and known(op)


def _sums(subscripts: str) -> bool:
    """Whether an einsum of one array sums, and gives an array of its own; else it is a view: "ij->ji", "ii->i"."""
    given, arrow, kept = subscripts.replace(" ", "").partition("->")
    return not set(given) <= set(kept) if arrow else any(given.count(c) > 1 for c in given if c != ".")


def asks_for_layout(function: Function) -> bool:
    """Whether a function reshapes an array, which gives a view or a copy."""
    names = {"reshape", "ravel"}
    return any(
        isinstance(s, Assign) and (s.op in COPIES_MAYBE or s.op is ops.method and s.args[1].value in names)
        for s in statements(function.body)
    )
