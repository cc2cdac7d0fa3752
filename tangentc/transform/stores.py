"""Reverse mode for stores: what is overwritten is restored, what was written gets its adjoint.

A[i] = e            A[i] restored; e_bar += A_bar[i]; A_bar[i] = 0
A[i] += e           A[i] restored; e_bar += A_bar[i]
np.add.at(A, i, e)  A[i] restored; e_bar += A_bar[i]
"""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import Any

import numpy as np

from tangentc.analysis.aliases import Aliases, changes_argument
from tangentc.core import ops
from tangentc.core.build import Builder
from tangentc.core.naming import shown
from tangentc.core.nodes import (
    Assign,
    Atom,
    Const,
    Effect,
    Statement,
    Store,
)
from tangentc.core.types import (
    Array,
    Scalar,
)
from tangentc.errors import UnsafeMutation
from tangentc.transform.adjoints import Adjoints

DISTINCT = {np.triu_indices, np.tril_indices, np.diag_indices, np.nonzero, np.triu_indices_from, np.tril_indices_from}


class Stores:
    """The part of the reverse writer that knows stores into arrays."""

    b: Builder
    adj: Adjoints
    aliases: Aliases
    active: set[str]
    context: Any

    def _is_unique(self, key: Atom) -> bool:
        """Whether no entry is taken twice: a mask, or index arrays one of which counts."""
        t = self.b.type(key)
        if isinstance(t, Array) and t.dtype == "bool":
            return True
        made = self.context.definitions.get(key) if isinstance(key, str) else None
        if isinstance(made, Assign):
            if made.op is np.arange or made.op in DISTINCT:
                return True
            if made.op is ops.make_tuple and made.args:  # rows, columns = np.triu_indices(n)
                parts = [self.context.definitions.get(a) for a in made.args if isinstance(a, str)]
                whole = {p.args[0] for p in parts if isinstance(p, Assign) and p.op is operator.getitem}
                if len(parts) == len(made.args) and len(whole) == 1 and all(p.op is operator.getitem for p in parts):
                    return self._is_unique(next(iter(whole)))
            if made.op is ops.make_tuple:
                return any(self._is_unique(a) for a in made.args if isinstance(a, str))
        return False

    def effect(self, s: Effect) -> tuple[Statement, ...]:
        if s.op == np.add.at and isinstance(s.args[0], str) and len(s.args) == 3:
            return self._add_at(s)
        if changes_argument(s.op) and any(a in self.active for a in s.atoms):
            raise UnsafeMutation(
                f"np.{s.op.__name__} changes an active array in place",
                s.span,
                why="only `a[i] = ...` and augmented assignment are followed through aliases yet",
                way_out="write it as a subscript assignment",
            )
        if changes_argument(s.op) and isinstance(s.args[0], str):
            raise UnsafeMutation(
                f"np.{s.op.__name__} changes an array in place",
                s.span,
                why="only `a[i] = ...` and augmented assignment are followed through aliases yet",
                way_out="write it as a subscript assignment",
            )
        return (s,)

    def _add_at(self, s: Effect) -> tuple[Statement, ...]:
        """``np.add.at(A, key, x)``: ``A[key]`` restored; ``x_bar += A_bar[key]``."""
        array, key, value = s.args
        assert isinstance(array, str)
        store = Store(array, key, value, operator.add, s.span)
        self._check_array(store)
        old = self._old(store, key)
        self.b.store(array, key, old["name"])
        shadow = self.adj.shadow_of(array) if array in self.active else None
        if shadow is not None and isinstance(value, str) and value in self.active:
            self.adj.add(value, self.b.emit(np.copy, (self.b.emit(operator.getitem, (shadow, key)),), name="rhs_bar"))
        return (*old["statements"], s)

    def store(self, s: Store) -> tuple[Statement, ...]:
        t = self.b.type(s.object)
        if not isinstance(t, Array):
            if s.object in self.active or isinstance(s.value, str) and s.value in self.active:
                raise UnsafeMutation(
                    f"an item of {shown(s.object)} is assigned, and it is not an array", s.span,
                    why="lists and dicts that change are not followed yet",
                    way_out="build a new list or dict, or use an array",
                )  # fmt: skip
            return (s,)
        self._check_store(s)
        key: Atom = Const(...) if s.key is None else s.key
        old = self._old(s, key)
        self.b.store(s.object, None if s.key is None else key, old.pop("name"))
        if s.key is None:
            self.b.out[-1] = replace(self.b.out[-1], key=Const(...))  # type: ignore[arg-type]
        if s.object in self.active:
            self._store_adjoint(s, key)
        return (*old["statements"], s)

    def _store_adjoint(self, s: Store, key: Atom) -> None:
        if self.adj.shadow_of(s.object) is None:
            if s.object not in self.aliases.views and self.adj.shadow_key(s.object) not in self.adj.shadows:
                return
            if self.adj.shadow_key(s.object) not in self.adj.shadows:
                return
        shadow = self.adj.shadow_of(s.object)
        if shadow is None:
            return
        if isinstance(s.value, str) and s.value in self.active:
            view = shadow if s.key is None else self.b.emit(operator.getitem, (shadow, key))
            if s.op is operator.sub:
                taken = self.b.emit(operator.neg, (view,), name="rhs_bar")
            elif isinstance(self.b.type(view), Scalar):
                taken = view
            else:
                taken = self.b.emit(np.copy, (view,), name="rhs_bar")
            if s.op is None:
                self.b.store(shadow, key, Const(0))
            self.adj.add(s.value, taken)
        elif s.op is None:
            self.b.store(shadow, key, Const(0))

    def _old(self, s: Store, key: Atom) -> dict[str, Any]:
        """The part of an array that a store overwrites, saved before it."""
        base = shown(s.object)
        item = self.b.fresh(f"%{base}_item")
        t = self.b.types.result(operator.getitem, (s.object, key))
        self.b.types.of_name[item] = t
        if isinstance(t, Scalar):
            name = self.b.fresh(f"{base}_saved")
            self.b.types.of_name[name] = t
            return {"name": name, "statements": (Assign(name, operator.getitem, (s.object, key), (), s.span),)}
        name = self.b.fresh(f"{base}_saved")
        self.b.types.of_name[name] = t
        self.aliases.parent[item] = self.aliases.root(s.object)
        copy = (Assign(item, operator.getitem, (s.object, key), (), s.span), Assign(name, np.copy, (item,), (), s.span))
        return {"name": name, "statements": copy}

    def _check_store(self, s: Store) -> None:
        self._check_array(s)
        if s.key is not None and not self.aliases.is_basic(s.key) and not self._is_unique(s.key):
            raise UnsafeMutation(
                f"{shown(s.object)} is changed through an array of indices",
                s.span,
                why="an index that occurs twice would be written twice, and only the last write counts",
                way_out="write it as a loop, or with slices or a mask",
            )

    def _check_array(self, s: Store) -> None:
        if self.b.type(s.object).shape == ():  # type: ignore[union-attr]
            raise UnsafeMutation(
                f"{shown(s.object)}, an array without axes, is changed in place", s.span,
                why="whether such an array or a number is meant depends on each operation",
                way_out="use a number, or an array of length one",
            )  # fmt: skip
        made = self.aliases.allocation(s.object)
        root = self.aliases.root(s.object)
        holder = self.aliases.holder(s.object)
        if holder is not None:
            raise UnsafeMutation(
                f"{shown(s.object)} is changed in place while {holder} sees it too",
                s.span,
                why="an array inside a container, or given to and taken from a function, is not followed yet",
                way_out=f"change a copy: {shown(s.object)} = {shown(s.object)}.copy()",
            )
        if len(made) != 1 or self.aliases.root("%global") == root and self.aliases.globals:
            others = " and ".join(map(shown, made)) or "a value from outside"
            raise UnsafeMutation(
                f"{shown(s.object)} is changed in place, and it is not certain which array it is",
                s.span,
                why=f"it may be {others}, or lie in a container",
                way_out=f"change a copy: {shown(s.object)} = {shown(s.object)}.copy()",
            )
