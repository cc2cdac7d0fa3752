"""Which names may be the same array: views, items of containers, other names for one object.

u = x.copy()          v = u[1:]           w = v + 1
u and v are one class, whose root is u; w has memory of its own
"""

from __future__ import annotations

import builtins
import operator
from typing import Any

from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Block, Effect, For, Function, Global, If, Opaque, Statement, Store, While
from tangentc.core.types import Array, Scalar, Type, Unknown, is_container
from tangentc.core.walk import statements

VIEWS = {
    "reshape", "ravel", "transpose", "swapaxes", "moveaxis", "expand_dims", "squeeze", "broadcast_to", "asarray",
    "atleast_1d", "atleast_2d", "atleast_3d", "diagonal", "split", "split_like", "real", "imag", "ascontiguousarray",
    "rollaxis", "flip", "fliplr", "flipud", "rot90", "array_split", "broadcast_arrays", "view", "unbroadcast",
    "matrix_transpose", "permute_dims", "asanyarray", "conj", "conjugate", "positive",
}  # fmt: skip
HOLDERS = {
    ops.identity, ops.stopped, ops.make_tuple, ops.make_list, ops.make_dict, ops.make_struct, ops.select,
    builtins.reversed,
    builtins.enumerate, builtins.zip, builtins.list, builtins.tuple, ops.pop,
}  # fmt: skip


class Aliases:
    """Classes of names that may share memory.  ``types`` says which values have memory at all."""

    def __init__(self, function: Function, types: Any, call_aliases: Any = None):
        self.types = types
        self.call_aliases = call_aliases or (lambda op: None)
        self.parent: dict[str, str] = {}
        self.allocations: dict[str, list[str]] = {}
        self.views: dict[str, Assign] = {}
        self.changed: set[str] = set()
        self.globals: set[str] = set()
        self.called: list[str] = []  # what functions of the user gave that they may have been given
        self._holders: dict[str, str] | None = None
        self.params = [p.name for p in function.params if self._has_memory(p.name)]
        own: list[str] = list(self.params)
        stores: list[str] = []
        for s in statements(function.body):
            match s:
                case Assign() if self._has_memory(s.target):
                    shared = self.shares(s)
                    if shared and self.call_aliases(s.op):
                        self.called.append(s.target)
                    for atom in shared:
                        self._union(s.target, atom)
                    if not shared:
                        own.append(s.target)
                    elif len(shared) == 1 and isinstance(shared[0], str):
                        self.views[s.target] = s
                case Store():
                    stores.append(s.object)
                    if s.op is None and not isinstance(self._type(s.object), Array):
                        self._union(s.object, s.value)
                case Effect() if s.op is ops.push:
                    self._union(*s.args[:2])
                case Effect() if s.args and isinstance(s.args[0], str) and changes_argument(s.op):
                    stores.append(s.args[0])
                case If():
                    for m in s.merged:
                        self._union(m.name, m.then)
                        self._union(m.name, m.orelse)
                case For() | While():
                    for c in s.carried:
                        self._union(c.name, c.init)
                        self._union(c.name, c.next)
                    if isinstance(s, For):
                        self._union(s.target, s.iterable)
                case Opaque():
                    for _, name in s.writes:
                        for _, atom in s.reads:
                            self._union(name, atom)
        for name in own:
            self.allocations.setdefault(self.root(name), []).append(name)
        self.changed = {self.root(name) for name in stores}

    def _type(self, atom: Atom) -> Type:
        return self.types.of(atom)

    def _has_memory(self, atom: Atom) -> bool:
        return not isinstance(self._type(atom), Scalar) and (
            isinstance(self._type(atom), (Array, Unknown)) or is_container(self._type(atom))
        )

    def shares(self, s: Assign) -> list[Atom]:
        """The arguments whose memory the result may share."""
        if not self._has_memory(s.target):
            return []
        op = s.op
        atoms: list[Atom] = [a for a in s.atoms if isinstance(a, (str, Global)) and self._has_memory(a)]
        called = self.call_aliases(op)
        if called is not None:
            return atoms if called else []
        if op is operator.getitem:
            base = self._type(s.args[0])
            if isinstance(base, Array) and not self.is_basic(s.args[1]):
                return []
            return atoms[:1]
        if op is builtins.getattr:
            return [] if s.args[1].value in ("shape", "dtype", "size", "ndim") else atoms[:1]  # type: ignore[union-attr]
        name = s.args[1].value if op is ops.method else getattr(op, "__name__", "")  # type: ignore[union-attr]
        if name in VIEWS:
            return atoms[:1]
        return atoms if op in HOLDERS or not ops.is_pure(op) and op is not ops.new_list and not known(op) else []

    def is_basic(self, key: Atom) -> bool:
        """Whether a subscript is made of integers, slices, None and `...` alone, so that it gives a view."""
        from tangentc.analysis.infer import _is_basic
        from tangentc.core.types import Known, Tuple, type_of

        t = self._type(key)
        if isinstance(t, Known) and isinstance(t.value, tuple):
            return all(_is_basic(type_of(part)) for part in t.value)
        if isinstance(t, Tuple) and t.cls is None:
            return all(map(_is_basic, t.items))
        return _is_basic(t)

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
        for atom in (a, b):
            if isinstance(atom, Global):
                self.globals.add("%global")
        names = ["%global" if isinstance(x, Global) else x for x in (a, b)]
        if not all(isinstance(n, str) for n in names):
            return
        if any(isinstance(x, str) and not self._has_memory(x) for x in (a, b)):
            return
        x, y = self.root(names[0]), self.root(names[1])  # type: ignore[arg-type]
        if x != y:
            self.parent[x] = y

    def is_changed(self, name: str) -> bool:
        """Whether the memory of this name is stored into anywhere in the function."""
        return self.root(name) in self.changed

    def allocation(self, name: str) -> list[str]:
        """The names whose definition made the memory of this class, parameters among them."""
        return self.allocations.get(self.root(name), [])

    def holder(self, name: str) -> str | None:
        """What else holds the memory of this name, beside arrays and views of them, if anything does."""
        if self._holders is None:
            self._holders = {}
            for other, t in list(self.types.of_name.items()):
                if is_container(t) and other in self.parent | dict.fromkeys(self.parent.values()):
                    self._holders.setdefault(self.root(other), "a container")
            for other in self.called:
                self._holders.setdefault(self.root(other), "a function that was given it")
        return self._holders.get(self.root(name))

    def is_view(self, name: str) -> bool:
        return name in self.views


def known(op: Any) -> bool:
    return ops.module_root(op) in ops.NUMERIC_MODULES


def changes_argument(op: Any) -> bool:
    """Whether a call for its effect changes its first argument."""
    return getattr(op, "__name__", "") in ops.IMPURE_NAMES and known(op)


def stores_of(block: Block) -> list[Statement]:
    return [s for s in statements(block) if isinstance(s, Store)]
