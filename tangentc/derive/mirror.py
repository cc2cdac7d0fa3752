"""Shadows that are made in the primal sweep, each beside its object.

    u = x.copy()              u_bar = np.zeros_like(u)
    v = u if test else w      v_bar = u_bar if test else w_bar
    rows.append(row)          rows_bar.append(row_bar)

An array that may be one of several, or that lies in a list, a dict or an object, has its shadow
where the object has its place: every statement that makes, renames, stores or takes the object is mirrored
by the same statement for the shadow.  The adjoint sweep finds the shadow as it finds any value of the
primal sweep.
"""

from __future__ import annotations

import builtins
import operator
import types as pytypes
from collections.abc import Hashable
from dataclasses import replace

import numpy as np

from tangentc import runtime
from tangentc.analysis.aliases import READ_ONLY, Aliases, arms
from tangentc.analysis.array_results import shadow_type
from tangentc.analysis.parts import constant
from tangentc.analysis.points import DEEP_COPIES, PUT_TOGETHER, made_of
from tangentc.core import ops
from tangentc.core.build import Builder
from tangentc.core.naming import shown
from tangentc.core.nodes import Assign, Atom, Carry, Const, Effect, For, Function, If, Merge, Statement, Store, While
from tangentc.core.types import (
    Array,
    Known,
    Scalar,
    Tuple,
    Type,
    Unknown,
    components,
    holds_numbers,
    is_container,
    is_differentiable,
    is_slice,
    may_be_number,
    of_dtype,
    present,
)
from tangentc.core.values import data_type
from tangentc.core.walk import defines, definitions, joins_of, statements
from tangentc.derive.parts import bar_name
from tangentc.errors import InternalError, Span, UnsafeMutation
from tangentc.ops.table import Op

COPIES = {operator.add, builtins.list, builtins.tuple, builtins.dict, ops.items_from, builtins.reversed}


class Mirror:
    """The mirrored statements of one function."""

    def __init__(self, builder: Builder, aliases: Aliases, active: set[str], function: Function):
        self.b, self.aliases = builder, aliases
        self.definitions = definitions(function.body)
        self.of: dict[str, str] = {}
        self.wide: dict[Atom, Type] = {}
        self.wide = self._wide(function)
        for s in statements(function.body):
            for name in [s.target] if isinstance(s, Assign) else [name for name, *_ in joins_of(s)]:
                if name in active:
                    self._name(name, s)
                    if isinstance(s, (For, While)) and name not in self.of and is_container(self.b.type(name)):
                        self._shadow(name)  # a container that is another one in each trip

        defined = [n for s in statements(function.body) for n in defines(s)]
        made = [n for n in defined if is_container(self.b.type(n))]
        joined = {*made, *(n for n in defined if n in self.wide and not is_differentiable(self.b.type(n)))}
        size = -1
        while size != (size := len(self.of)):
            for arm in arms(function, self.of.__contains__):  # what a mirrored name may stand for
                if arm not in self.of and arm in joined:
                    self._shadow(arm)
            for s in statements(function.body):
                if isinstance(s, Assign) and s.target in self.of and self._has_items_of(s):
                    for atom in s.args:
                        if atom in made and atom not in self.of:
                            self._shadow(atom)  # type: ignore[arg-type]
            places = set().union(*(aliases.points.of.get(x, ()) for x in self.of if is_container(self.b.type(x))))
            holding = aliases.points.holding(places)
            for x in made:  # other names for it, and what holds it, since its shadow is held as it is
                if x not in self.of and x in active and not holding.isdisjoint(aliases.points.of.get(x, ())):
                    self._shadow(x)

    def _wide(self, function: Function) -> dict[Atom, Type]:
        """What arrays and containers may be under another name that joins give them: an array of integers or of real
        numbers may be one of complex numbers in the next trip, and its shadow has to take their adjoints."""
        joins = [(name, arm) for s in statements(function.body) for name, *both in joins_of(s) for arm in both]
        views = [(name, a) for name, made in self.aliases.views.items() for a in self.aliases.shares(made)]
        of: dict[Atom, Type] = {a: present(self.b.type(a)) for pair in (*joins, *views) for a in pair}
        arrays = [(a, b) for a, b in joins if isinstance(of[a], Array) and isinstance(of[b], Array)]
        same = ((a, b) for a, b in views if isinstance(of[a], Array) and isinstance(of[b], Array))
        arrays += [(a, b) for a, b in same if of[a].dtype == of[b].dtype]  # and no real part
        containers = [(a, b) for a, b in joins if is_container(of[a]) and is_container(of[b])]
        held = self._held_as(function)
        of |= held
        before: dict[Atom, Hashable] = {}
        while before != (before := {a: _moving(of[a]) for pair in (*arrays, *containers) for a in pair}):
            for a, b in arrays:
                dtype = np.result_type(of[a].dtype, of[b].dtype).name
                of[a], of[b] = (of_dtype(of[n], Array(dtype, ())) for n in (a, b))
            for a, b in containers:
                of[a] = of[b] = self.b.types.join(of[a], of[b])
        return {a: of[a] for a in (*before, *held) if _is_other(present(self.b.type(a)), of[a])}

    def _held_as(self, function: Function) -> dict[Atom, Type]:
        """The arrays in whose place in a container there are ones of another dtype later, as those."""
        found: dict[Atom, Type] = {}
        for s in statements(function.body):
            for a, t in self._kept_in(s) if isinstance(s, Assign) else ():
                own = self.b.type(a)
                if isinstance(a, str) and isinstance(own, Array) and isinstance(t, Array) and is_differentiable(t):
                    found |= {a: of_dtype(own, t)} if own.dtype != t.dtype else {}
        return found

    def _kept_in(self, s: Assign) -> list[tuple[Atom, Type | None]]:
        """What a statement puts into a container or takes out of one, with the type of its place there."""
        if s.op in (ops.make_list, ops.make_tuple, ops.make_dict):
            items, atoms = getattr(self.b.type(s.target), "items", ()), s.args[s.op is ops.make_dict :]
            return list(zip(atoms, items * len(atoms) if len(items) == 1 else items))
        base = self.b.type(s.args[0]) if s.op is operator.getitem else None
        if base is None or not is_container(base) or self.is_slice(s.args[1]):
            return []
        key = constant(self.b.type(s.args[1]))
        return [(s.target, next((t for k, t in components(base) if k == key), self.one_of(s.args[0])))]

    def _has_items_of(self, s: Assign) -> bool:
        """Whether a statement gives a container with the items of another."""
        if s.op in DEEP_COPIES:
            return self.may_share(s.args[0], set())
        return self._copies_items(s) and not self.copies_numbers(s)

    def _copies_items(self, s: Assign) -> bool:
        """Whether a statement gives a new list of what another holds."""
        return s.op in COPIES or (
            s.op is operator.getitem and is_container(self.b.type(s.args[0])) and self.is_slice(s.args[1])
        )

    def _name(self, x: str, s: Statement) -> None:
        t = present(self.b.type(x))
        if may_be_number(t) and self.aliases.is_changed(x):
            raise UnsafeMutation(
                f"{shown(x)} is changed in place, and may be a number still", s.span,
                why="a number has no shadow that what is written into the array could be kept in",
                way_out="begin with an array of zeros",
            )  # fmt: skip
        if not (isinstance(t, Array) or is_container(t)) or not self.aliases.is_mirrored(x):
            if isinstance(t, Unknown) and self.aliases.is_changed(x):
                raise UnsafeMutation(
                    f"{shown(x)} is changed in place, and its type is not known", s.span,
                    why=t.reason or "nothing says what it is",
                    way_out="call the function with arguments of known types",
                )  # fmt: skip
            return
        if self.aliases.is_outside(x):
            raise UnsafeMutation(
                f"{shown(x)}, which may be an array of the module, is changed in place", s.span,
                why="a gradient changes nothing but its own copies",
                way_out="pass the array in as an argument, or copy it",
            )  # fmt: skip
        self._shadow(x)

    def _shadow(self, x: str) -> None:
        self.of[x] = self.b.fresh(bar_name(x))
        self.b.types.of_name[self.of[x]] = shadow_type(self.life(x))

    def parts(self, x: str, atoms: tuple[Atom, ...], out: list[Statement], span: Span) -> list[Atom]:
        """What stands in the shadow of a container for what it is made of."""
        items = getattr(self.life(x), "items", ())
        each = items if len(items) == len(atoms) else items * len(atoms) if len(items) == 1 else (None,) * len(atoms)
        return [self.part(a, out, span, of=t) for a, t in zip(atoms, each, strict=True)]

    def one_of(self, container: Atom) -> Type | None:
        """The type of each item of a container, where they have one."""
        items = set(getattr(self.life(container), "items", ()))
        return items.pop() if len(items) == 1 else None

    def life(self, x: Atom) -> Type:
        """The type of all that a value is under its names."""
        return self.wide.get(x, self.b.type(x))

    def part(self, x: Atom, out: list[Statement], span: Span, joined: bool = False, of: Type | None = None) -> Atom:
        """What stands in a mirrored container for ``x``: its shadow, or a zero that is added to; ``joined`` says that
        it is a list or a tuple whose items become those of the container.  ``of`` is the type of what stands there in
        all the life of the container."""
        if isinstance(x, str) and x in self.of:
            return self.of[x]
        t = self.b.type(x)
        if isinstance(t, Known) and isinstance(t.value, tuple) and (joined or all(type(v) is float for v in t.value)):
            t = data_type(t.value)  # what grows out of it may move
        if isinstance(t, Scalar) and holds_numbers(t):  # what is put in its place later may move
            return Const(0j if t.dtype.startswith("complex") else 0.0)
        other = of if isinstance(of, Array) and is_differentiable(of) else None
        if isinstance(t, Array) and other is not None and (self.wide or other.dtype != t.dtype):
            return self._zeros(x, replace(t, dtype=other.dtype), out, span)
        if not is_differentiable(t) and not (is_container(t) and (holds_numbers(t) or not t.items)):
            return Const(None)
        zero = self.b.fresh(f"%{shown(x)}_zero")
        self.b.types.of_name[zero] = shadow_type(t)
        op = np.zeros_like if isinstance(t, Array) else runtime.zeros_of
        out.append(Assign(zero, op, (x,), (), span))
        return zero

    def _zeros(self, x: Atom, t: Array, out: list[Statement], span: Span) -> str:
        """An array of zeros for another one, of the dtype of a type."""
        zero = self.b.fresh(f"%{shown(x)}_zero")
        self.b.types.of_name[zero] = t
        out.append(Assign(zero, np.zeros_like, (x,), (("dtype", Const(getattr(np, t.dtype))),), span))
        return zero

    # ---------------------------------------------------------- statements
    def assign(self, s: Assign) -> tuple[Statement, ...]:
        """The statement that makes the shadow of what a statement makes."""
        if s.target not in self.of:
            return ()
        new = self._assign(s)
        for made in new:
            if isinstance(made, Assign) and not (
                made.op is operator.getitem and isinstance(self.b.type(s.args[0]), Array)
            ):
                self.b.pinned.add(made.target)
        return new

    def _assign(self, s: Assign) -> tuple[Statement, ...]:
        bar, op, args = self.of[s.target], s.op, s.args
        out: list[Statement] = []
        span = s.span
        shared = self.aliases.shares(s)

        def made(op: Op, *atoms: Atom) -> tuple[Statement, ...]:
            return (*out, Assign(bar, op, atoms, (), span))

        if op in DEEP_COPIES and not (args[0] in self.aliases.points.params and self.aliases.points.is_given(args[0])):
            return made(runtime.zeros_of_copy, s.target)
        if self.copies_numbers(s):
            return made(runtime.zeros_of, s.target)
        if op in (ops.make_tuple, ops.make_list):
            return made(ops.make_list, *self.parts(s.target, args, out, span))
        if op is ops.make_dict:
            return made(op, args[0], *self.parts(s.target, args[1:], out, span))
        if op is ops.make_struct:
            parts = self.parts(s.target, args[2:], out, span)
            if issubclass(args[0].value, tuple):
                return made(ops.make_list, *parts)
            return made(op, Const(pytypes.SimpleNamespace), args[1], *parts)
        if op is ops.new_object:
            return made(ops.make_struct, Const(pytypes.SimpleNamespace), Const(()))
        if any(isinstance(a, str) and a in self.of for a in shared):
            return self._view(s, shared)
        if any(isinstance(a, str) and self.aliases.is_changed(a) and is_differentiable(self.b.type(a)) for a in shared):
            raise InternalError(f"the shadow of what {shown(s.target)} shares its memory with is not known")
        if is_container(self.b.type(s.target)):
            return made(runtime.zeros_of_copy, s.target)
        t = self.life(s.target)  # where names become something else, it may not be of this dtype in the first trip
        keywords = (("dtype", Const(getattr(np, t.dtype))),) if self.wide and isinstance(t, Array) else ()
        return (*out, Assign(bar, np.zeros_like, (s.target,), keywords, span))

    def _view(self, s: Assign, shared: list[Atom]) -> tuple[Statement, ...]:
        """The shadow of what shares its memory: the same view of the shadow of that."""
        bar, op, args, span = self.of[s.target], s.op, s.args, s.span
        out: list[Statement] = []

        def made(op: Op, *atoms: Atom) -> tuple[Statement, ...]:
            return (*out, Assign(bar, op, atoms, (), span))

        if op is builtins.getattr:
            t = self.b.type(args[0])
            if isinstance(t, Tuple):
                return made(operator.getitem, self.of[args[0]], Const(t.cls._fields.index(args[1].value)))  # type: ignore[index]
            return made(op, self.of[args[0]], args[1])  # type: ignore[index]
        if op is builtins.tuple:
            return made(builtins.list, self.of[args[0]])  # type: ignore[index]
        if op is ops.select:
            return made(op, args[0], *[self.of.get(a, a) for a in args[1:]])  # type: ignore[arg-type]
        if op is operator.add:
            return made(op, *[self.part(a, out, span, True) for a in args])
        if op is np.diagonal and len(args) == 1:
            return made(np.einsum, Const("ii->i"), self.of[args[0]])  # type: ignore[index]
        if op is runtime.unbroadcast and isinstance(self.b.type(s.target), Unknown):
            raise UnsafeMutation(
                f"{shown(s.target)} is changed in place, and its type is not known", span,
                why="it may be the array that it was made of, or a sum of it", way_out="copy it",
            )  # fmt: skip
        if op in READ_ONLY or op is operator.mul:
            raise UnsafeMutation(
                f"an array is changed that {getattr(op, '__name__', 'this')} gives a view of", span,
                why="the view cannot be written, so its adjoint cannot be gathered in it",
                way_out="take a copy of the view",
            )  # fmt: skip
        atoms = tuple(self.of[a] if a in shared and a in self.of else a for a in args)  # type: ignore[index]
        if getattr(op, "__name__", "") == "unstack":  # a tuple, whose items cannot be added to
            views = self.b.fresh("%views")
            self.b.types.of_name[views] = self.b.type(s.target)
            return (*out, Assign(views, op, atoms, s.keywords, span), Assign(bar, builtins.list, (views,), (), span))
        return (*out, Assign(bar, op, atoms, s.keywords, span))

    def may_share(self, container: Atom, parts: set[Atom]) -> bool:
        """Whether parts of a container may share memory; ``parts`` are arrays that are known not to."""
        points, made = self.aliases.points, self.definitions.get(container) if isinstance(container, str) else None
        t = self.b.type(container)
        if not is_container(t) and not isinstance(t, (Array, Unknown)):
            return False
        if container in parts:
            return True
        parts.add(container)
        if not isinstance(container, str) or points.is_changed(container):
            return True
        if made is None:
            return not (container in points.params and (isinstance(t, Array) or points.is_given(container)))
        if not isinstance(made, Assign):
            return True
        if made.op in PUT_TOGETHER:
            return any(self.may_share(item, parts) for _, item in made_of(made))
        return is_container(t) or bool(self.aliases.shares(made))

    def copies_numbers(self, s: Assign) -> bool:
        """Whether a statement copies a list of numbers: unlike that of arrays, its shadow is one of its own."""
        if not self._copies_items(s) or not is_container(self.b.type(s.target)):
            return False
        given = [a for a in s.args if is_container(self.b.type(a))]
        return self.are_numbers(given[0] if len(given) == 1 else s.target, s)

    def are_numbers(self, items: Atom, s: Statement) -> bool:
        """Whether a copy of these items is one of numbers, each of which has an adjoint of its own in the copy."""
        t = self.b.type(items)
        kinds = {isinstance(part, Scalar) for part in getattr(t, "items", ()) if is_differentiable(part)}
        if not is_container(t) or len(kinds) == 2 or any(type(part) is Unknown for part in t.items):
            raise UnsafeMutation(
                f"{shown(items)}, of which some items may be numbers and others arrays, is copied and changed", s.span,
                why="the arrays are the same in both lists, and the numbers are not",
                way_out="copy the arrays too, or assign the items one by one",
            )  # fmt: skip
        return kinds == {True}

    def is_slice(self, key: Atom) -> bool:
        return is_slice(self.b.type(key))

    def merges(self, s: If, before: list[Statement]) -> tuple[Merge, ...]:
        """The shadows that a branch chooses; what is made for them goes ``before`` it."""
        found = [m for m in s.merged if m.name in self.of]
        return tuple(Merge(self.of[m.name], *(self._arm(a, before, s.span) for a in (m.then, m.orelse))) for m in found)

    def carries(self, s: For | While, before: list[Statement]) -> tuple[Carry, ...]:
        found = [c for c in s.carried if c.name in self.of]
        return tuple(Carry(self.of[c.name], *(self._arm(a, before, s.span) for a in (c.init, c.next))) for c in found)

    def _arm(self, atom: Atom, before: list[Statement], span: Span) -> Atom:
        if isinstance(atom, str) and atom in self.of:
            return self.of[atom]
        if isinstance(atom, Const) and isinstance(atom.value, tuple):
            return self.part(atom, before, span, True)
        return atom if isinstance(atom, Const) and atom.value is ops.UNDEFINED else Const(None)

    def effect(self, s: Effect) -> tuple[Statement, ...]:
        """``rows.append(row)``: the same for the shadows."""
        if not (isinstance(s.args[0], str) and s.args[0] in self.of):
            return ()
        out: list[Statement] = []
        bar = self.of[s.args[0]]
        if s.op in (ops.append, ops.insert):
            value = self.part(s.args[-1], out, s.span, of=self.one_of(s.args[0]))
            return (*out, Effect(s.op, (bar, *s.args[1:-1], value), (), s.span))
        return (Effect(s.op, (bar, *s.args[1:]), (), s.span),)

    def store(self, s: Store) -> tuple[Statement, ...]:
        """``rows[k] = row``: the same for the shadows."""
        if s.object not in self.of:
            return ()
        out: list[Statement] = []
        value = self.part(s.value, out, s.span, of=self.one_of(s.object))
        return (*out, Store(self.of[s.object], s.key, value, None, s.span))


def _moving(t: Type) -> Hashable:
    """The dtypes of what a type says that moves: for all else, two types are one here."""
    if is_container(t):
        return tuple(map(_moving, t.items))
    return t.dtype if isinstance(t, Array) else None


def _is_other(t: Type, wide: Type) -> bool:
    """Whether an array, or one in a container, may be one of another dtype by another name."""
    if isinstance(t, Array) and isinstance(wide, Array):
        return t.dtype != wide.dtype
    if not (is_container(t) and is_container(wide)):
        return False
    items = wide.items * len(t.items) if len(wide.items) == 1 else wide.items
    return any(map(_is_other, t.items, items))
