"""Reverse mode for stores: what is overwritten is restored, what was written gets its adjoint.

A[i] = e            A[i] restored; e_bar += A_bar[i]; A_bar[i] = 0
A[i] += e           A[i] restored; e_bar += A_bar[i]
np.add.at(A, i, e)  A[i] restored; e_bar += A_bar[i]
"""

from __future__ import annotations

import builtins
import operator
from dataclasses import replace

import numpy as np

from tangentc import runtime
from tangentc.analysis.aliases import Aliases, changes_argument
from tangentc.analysis.array_results import shadow_type
from tangentc.analysis.outside import is_outside
from tangentc.core import ops
from tangentc.core.build import Builder
from tangentc.core.naming import shown
from tangentc.core.nodes import Assign, Atom, Const, Effect, Statement, Store
from tangentc.core.types import Array, Dict, Known, Scalar, Unknown, is_container, is_differentiable, present
from tangentc.derive.adjoints import Adjoints
from tangentc.derive.mirror import Mirror
from tangentc.derive.parts import bar_name
from tangentc.errors import InternalError, UnsafeMutation
from tangentc.ops.table import every

DISTINCT = every("distinct_places")


def _counts_up(s: Assign) -> bool:
    """Whether what ``np.arange`` gives has no entry below zero, which as an index would count from the end."""
    if {"start", "stop", "step"} & dict(s.keywords).keys():
        return False
    start, step = s.args[0] if len(s.args) > 1 else Const(0), s.args[2] if len(s.args) > 2 else Const(1)
    return all(isinstance(a, Const) and isinstance(a.value, int) and a.value >= 0 for a in (start, step))


class Stores:
    """The part of the reverse writer that knows stores into arrays."""

    b: Builder
    adj: Adjoints
    aliases: Aliases
    active: set[str]
    definitions: dict[str, Statement]
    mirror: Mirror
    first: set[int]  # stores to attributes that are not there yet
    later: set[int]  # and to those that are, for certain

    def _is_unique(self, key: Atom) -> bool:
        """Whether no entry is taken twice: a mask, or index arrays one of which counts."""
        t = self.b.type(key)
        if isinstance(t, Array) and t.dtype == "bool":
            return True
        made = self.definitions.get(key) if isinstance(key, str) else None
        if isinstance(made, Assign) and not self.aliases.is_changed(made.target):
            if made.op is np.arange and _counts_up(made) or made.op in DISTINCT:
                return True
            if made.op is ops.make_tuple and made.args:  # rows, columns = np.triu_indices(n)
                parts = [self.definitions.get(a) for a in made.args if isinstance(a, str)]
                items = [p.args[0] for p in parts if isinstance(p, Assign) and p.op is operator.getitem]
                whole = set(items)
                if len(items) == len(made.args) and len(whole) == 1:
                    return self._is_unique(next(iter(whole)))
            if made.op is ops.make_tuple:
                return any(self._is_unique(a) for a in made.args if isinstance(a, str))
        return False

    def effect(self, s: Effect) -> tuple[Statement, ...]:
        if s.op in ops.CHANGES and isinstance(s.args[0], str):
            return self.container_effect(s)
        if s.op == np.add.at and isinstance(s.args[0], str) and len(s.args) == 3:
            return self._add_at(s)
        if changes_argument(s.op) and (any(a in self.active for a in s.atoms) or isinstance(s.args[0], str)):
            raise UnsafeMutation(
                f"np.{s.op.__name__} changes an array in place", s.span, why="this call of it has no adjoint",
                way_out="write it as a subscript assignment",
            )  # fmt: skip
        return (s,)

    # ---------------------------------------------------------- containers
    def container_effect(self, s: Effect) -> tuple[Statement, ...]:
        """``l.append(x)``: ``l.pop()`` restores; ``x_bar += l_bar.pop()``."""
        items, value = s.args[0], s.args[-1]
        assert isinstance(items, str)
        if is_outside(items, self.definitions):
            return (s,)
        if s.op is ops.take:
            taken = self.b.fresh(f"%{shown(items)}_taken")
            self.b.types.of_name[taken] = self.b.types.result(ops.take, s.args)
            return self.take(Assign(taken, ops.take, s.args, (), s.span))
        position = s.args[1:-1]
        shadow = self._container_shadow(items)
        if s.op is ops.reverse:
            self.b.effect(ops.reverse, (items,))
            if shadow is not None:
                self.b.effect(ops.reverse, (shadow,))
            return (s, *self.mirror.effect(s))
        self.b.effect(ops.take, (items, *position))
        if shadow is not None:
            if self._is_value(value):
                bar = self._taken(shadow, position, value)  # type: ignore[arg-type]
                self.adj.add(value, bar)
            else:
                self.b.effect(ops.take, (shadow, *position))
        return (s, *self.mirror.effect(s))

    def _is_value(self, x: Atom) -> bool:
        """Whether the adjoint of what is put into a container is a value of its own, and no shadow."""
        return isinstance(x, str) and x in self.active and x not in self.adj.mirror

    def _taken(self, shadow: str, position: tuple[Atom, ...], value: str) -> Atom:
        """``l_bar.pop()`` as the adjoint of what was put there."""
        name = self.b.fresh(bar_name(value))
        t = self.b.type(value)
        self.b.types.of_name[name] = shadow_type(t) if is_container(t) else t
        self.b.out.append(Assign(name, ops.take, (shadow, *position), (), self.b.span))
        return name

    def _container_shadow(self, items: str) -> str | None:
        """The shadow of a container that changes, None if nothing flows back into it."""
        if items not in self.active:
            return None
        if items not in self.adj.mirror and self.adj.shadow_key(items) not in self.adj.shadows:
            if self.adj.shadow_key(items) not in self.adj.values:
                return None
            self.adj.ensure_shadow(items)
        return self.adj.shadow_of(items)

    def take(self, s: Assign) -> tuple[Statement, ...]:
        """``x = l.pop()``: ``l.append(x)`` restores; ``l_bar.append(x_bar)``."""
        items, position, x = s.args[0], s.args[1:], s.target
        assert isinstance(items, str)
        if is_outside(items, self.definitions):
            return (s,)
        if items in self.active and x in self.active and self.adj.has(x) and items not in self.adj.mirror:
            self.adj.ensure_shadow(items)
        shadow = self._container_shadow(items)
        bar: Atom = Const(None)
        t = self.b.type(x)
        mirrored: tuple[Statement, ...] = ()
        if items in self.adj.mirror:
            target = self.adj.mirror.get(x) or self.b.fresh(f"%{shown(items)}_bar_taken")
            self.b.types.of_name.setdefault(target, shadow_type(t))
            self.b.pinned.add(target)
            mirrored = (Assign(target, ops.take, (self.adj.mirror[items], *position), (), s.span.within("adjoint")),)
        by_reference = items in self.adj.mirror
        if x in self.adj.mirror:
            bar = self.adj.mirror[x]
        elif by_reference and (isinstance(t, Array) or is_container(t)):
            bar = target  # the shadow itself goes back, which other lists may hold
            given = self.adj.take(x) if x in self.active and self.adj.has(x) else None
            if given is not None and isinstance(t, Array):
                self.b.store(bar, None, self.adj.full(self.adj.whole(given, x), x), operator.add)
            elif given is not None:
                self.adj.add_items(bar, self.adj.as_shadow(given, x))
        elif shadow is not None and is_differentiable(t):
            given = self.adj.take(x) if x in self.active and self.adj.has(x) else None
            bar = self.adj.as_shadow(given, x)
            if given is not None and isinstance(t, Array):
                bar = self.adj._own(bar, x)
        self._put_back(items, position, x)
        if shadow is not None:
            self._put_back(shadow, position, bar)
        return (s, *mirrored)

    def _put_back(self, items: str, position: tuple[Atom, ...], value: Atom) -> None:
        if not position:
            self.b.effect(ops.append, (items, value))
        elif isinstance(self.b.type(items), Dict) or getattr(self.b.type(items), "kind", list) is dict:
            self.b.store(items, position[0], value)
        elif position == (Const(-1),):
            self.b.effect(ops.append, (items, value))
        elif isinstance(position[0], Const) and position[0].value >= 0 or isinstance(position[0], str):
            self.b.effect(ops.insert, (items, position[0], value))
        else:
            raise UnsafeMutation(
                f"an item of {shown(items)} is taken out from near its end", self.b.span,
                why="its place would be another one when it is put back", way_out="give the position from the start",
            )  # fmt: skip

    def container_store(self, s: Store) -> tuple[Statement, ...]:
        """``l[k] = x``: the old item restored; ``x_bar += l_bar[k]``, which is zero then."""
        items, key = s.object, s.key
        if is_outside(items, self.definitions):
            return (s,)
        if key is None and items in self.active:
            raise UnsafeMutation(
                f"{shown(items)} is changed in place, and its type is not known", s.span,
                why="what is added to it may be an item or an array", way_out="assign the new value",
            )  # fmt: skip
        if key is None or isinstance(self.b.type(items), Unknown):
            return (s,)
        if id(s) in self.first:
            return self._first_store(s)
        old, written = self.b.fresh(f"{shown(items)}_saved"), key
        op, at = (builtins.getattr, Const(str(key.value))) if id(s) in self.later else (ops.old_item, key)
        self.b.types.of_name[old] = self.b.types.result(op, (items, at))
        save = Assign(old, op, (items, at), (), s.span)
        before: tuple[Statement, ...] = (save,)
        if self.mirror.is_slice(key) and not isinstance(self.b.type(items), Dict):
            more, key = self._written(s)
            before = (save, *more)
        self.b.store(items, key, old)
        shadow = self._container_shadow(items)
        if shadow is None:
            return (*before, s, *self.mirror.store(s))
        mirrored = self.mirror.store(s)
        is_value = self._is_value(s.value)
        bar: Atom = Const(None)
        moves = s.value in self.adj.mirror and self.mirror.is_slice(written) and self.mirror.are_numbers(s.value, s)
        if is_value or moves:
            bar = self._part_of_shadow(shadow, key, s.value)  # type: ignore[arg-type]
        if mirrored:
            old_bar = self.b.fresh(f"{shown(items)}_bar_saved")
            self.b.types.of_name[old_bar] = self.b.types.result(ops.old_item, (shadow, written))
            before = (*before, Assign(old_bar, ops.old_item, (shadow, written), (), s.span))
            self.b.store(shadow, key, old_bar)
            if isinstance(self.b.type(old), (Scalar, Known)):
                self.b.store(shadow, key, Const(0.0))
        else:
            t = self.b.type(old)
            zero: Atom = Const(0.0) if isinstance(t, (Scalar, Known)) else self.b.emit(runtime.zeros_of, (old,))
            self.b.store(shadow, key, zero)
        if is_value:
            self.adj.add(s.value, bar)
        elif moves:
            self.adj.add_items(self.adj.mirror[s.value], bar)  # type: ignore[index]
        return (*before, s, *mirrored)

    def _first_store(self, s: Store) -> tuple[Statement, ...]:
        """``x_bar += o_bar.name``: what was no attribute before is not looked at again."""
        shadow = self._container_shadow(s.object)
        if shadow is not None and self._is_value(s.value):
            self.adj.add(s.value, self._part_of_shadow(shadow, s.key, s.value))  # type: ignore[arg-type]
        return (s, *self.mirror.store(s))

    def _written(self, s: Store) -> tuple[list[Statement], Atom]:
        """The slice of a list that a store writes: it begins where the list is cut, and is as long as the value."""
        begins, step = self._bounds(s.key)  # type: ignore[arg-type]
        if not isinstance(step, Const):
            raise UnsafeMutation(
                f"the step of a slice of {shown(s.object)} is not known", s.span,
                why="a step of one may change the length of the list", way_out="assign the items one by one",
            )  # fmt: skip
        if step not in (Const(None), Const(1)) or s.key == Const(slice(None)):
            return [], s.key  # type: ignore[return-value]  # the whole list, or as many items as there were
        count = self.b.fresh("length")
        self.b.types.of_name[count] = Scalar("int64", True)
        out: list[Statement] = [Assign(count, builtins.len, (s.value,), (), s.span)]
        start = Const(0) if begins == Const(None) else begins
        least = getattr(self.b.type(s.object), "length", None) or 0
        if not (isinstance(start, Const) and 0 <= start.value <= least):
            length, cut = self.b.fresh("length"), self.b.fresh("start")
            self.b.types.of_name[length] = self.b.types.of_name[cut] = Scalar("int64", True)
            out.append(Assign(length, builtins.len, (s.object,), (), s.span))
            out.append(Assign(cut, runtime.insertion, (start, length), (), s.span))
            start = cut
        stop = count if start == Const(0) else self.b.emit(operator.add, (start, count))
        return out, self.b.emit(slice, (begins if start == Const(0) else start, stop, Const(None)))

    def _bounds(self, key: Atom) -> tuple[Atom, Atom]:
        """The start and the step of a slice."""
        if isinstance(key, Const):
            return Const(key.value.start), Const(key.value.step)
        made = self.definitions.get(key) if isinstance(key, str) else None
        if not isinstance(made, Assign) or made.op is not builtins.slice:
            raise UnsafeMutation(
                "a slice of a list is assigned by a name", self.b.span, why="where it begins is not known",
                way_out="write the slice where it is assigned",
            )  # fmt: skip
        if len(made.args) == 1:
            return Const(None), Const(None)
        return made.args[0], made.args[2] if len(made.args) > 2 else Const(None)

    def _part_of_shadow(self, shadow: str, key: Atom, value: str) -> Atom:
        op, name = operator.getitem, key
        if isinstance(key, Const) and isinstance(key.value, ops.Attribute):
            op, name = builtins.getattr, Const(str(key.value))  # type: ignore[assignment]
        bar = self.b.fresh(bar_name(value))
        t = self.b.type(value)
        self.b.types.of_name[bar] = shadow_type(t) if is_container(t) else t
        self.b.out.append(Assign(bar, op, (shadow, name), (), self.b.span))
        return bar

    def _add_at(self, s: Effect) -> tuple[Statement, ...]:
        """``np.add.at(A, key, x)``: ``A[key]`` restored; ``x_bar += A_bar[key]``."""
        array, key, value = s.args
        assert isinstance(array, str)
        store = Store(array, key, value, operator.add, s.span)
        self._check_array(store)
        old, saving = self._old(store, key)
        self.b.store(array, key, old)
        shadow = self.adj.shadow_of(array) if array in self.active else None
        if shadow is not None and isinstance(value, str) and value in self.active:
            self.adj.add(value, self.b.emit(np.copy, (self.b.emit(operator.getitem, (shadow, key)),), name="rhs_bar"))
        return (*saving, s)

    def store(self, s: Store) -> tuple[Statement, ...]:
        if not isinstance(present(self.b.type(s.object)), Array):
            return self.container_store(s)
        self._check_store(s)
        key: Atom = Const(...) if s.key is None else s.key
        old, saving = self._old(s, key)
        self.b.store(s.object, None if s.key is None else key, old)
        if s.key is None:
            self.b.out[-1] = replace(self.b.out[-1], key=Const(...))  # type: ignore[arg-type]
        if s.object in self.active:
            self._store_adjoint(s, key)
        return (*saving, s)

    def _store_adjoint(self, s: Store, key: Atom) -> None:
        if s.object not in self.adj.mirror and self.adj.shadow_key(s.object) not in self.adj.shadows:
            return
        shadow = self.adj.shadow_of(s.object)
        if shadow is None:
            raise InternalError(f"the shadow of {shown(s.object)} is not known where it is stored into")
        if isinstance(s.value, str) and s.value in self.active:
            view = shadow if s.key is None else self.b.emit(operator.getitem, (shadow, key))
            if self._repeats(s):
                view = self.b.emit(runtime.last_written, (shadow, key), name="rhs_bar")
            if s.op is operator.sub:
                taken = self.b.emit(operator.neg, (view,), name="rhs_bar")
            elif isinstance(self.b.type(view), Scalar):
                taken = view
            elif self._repeats(s):
                taken = view
            else:
                taken = self.b.emit(np.copy, (view,), name="rhs_bar")
            if s.op is None:
                self.b.store(shadow, key, Const(0))
            self.adj.add(s.value, taken)
        elif s.op is None:
            self.b.store(shadow, key, Const(0))

    def _old(self, s: Store, key: Atom) -> tuple[str, tuple[Assign, ...]]:
        """The part of an array that a store overwrites, saved before it."""
        base = shown(s.object)
        item = self.b.fresh(f"%{base}_item")
        t = self.b.types.result(operator.getitem, (s.object, key))
        self.b.types.of_name[item] = t
        if isinstance(t, Scalar):
            name = self.b.fresh(f"{base}_saved")
            self.b.types.of_name[name] = t
            return name, (Assign(name, operator.getitem, (s.object, key), (), s.span),)
        name = self.b.fresh(f"{base}_saved")
        self.b.types.of_name[name] = t
        self.aliases.parent[item] = self.aliases.root(s.object)
        copy = (Assign(item, operator.getitem, (s.object, key), (), s.span), Assign(name, np.copy, (item,), (), s.span))
        return name, copy

    def _check_store(self, s: Store) -> None:
        self._check_array(s)

    def _repeats(self, s: Store) -> bool:
        """Whether a store may write to one entry several times, of which the last counts."""
        return s.key is not None and not self.aliases.is_basic(s.key) and not self._is_unique(s.key)

    def _check_array(self, s: Store) -> None:
        if self.aliases.is_outside(s.object):
            raise UnsafeMutation(
                f"{shown(s.object)}, which may be an array of the module, is changed in place", s.span,
                why="a gradient changes nothing but its own copies",
                way_out="pass the array in as an argument, or copy it",
            )  # fmt: skip
