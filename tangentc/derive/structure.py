"""Adjoints of what puts values together and takes them apart: tuples, lists, dicts, objects, subscripts."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Hashable

import numpy as np

from tangentc import runtime
from tangentc.analysis.aliases import Aliases
from tangentc.analysis.points import DEEP_COPIES, made_of
from tangentc.core import ops
from tangentc.core.build import Builder, is_sure
from tangentc.core.naming import shown
from tangentc.core.nodes import Assign, Atom, Const, If
from tangentc.core.types import (
    Array,
    Dict,
    Scalar,
    Sequence,
    Struct,
    Tuple,
    Type,
    components,
    is_container,
    is_differentiable,
    is_long,
    is_slice,
    may_be_none,
    present,
)
from tangentc.core.walk import parts_given
from tangentc.derive.adjoints import Adjoints
from tangentc.derive.calls import missing, refuse_active_key, spelled
from tangentc.derive.demand import adjoint_at, covers
from tangentc.derive.parts import Adjoint, bar_name, get_part
from tangentc.errors import MissingRule
from tangentc.ops.table import every
from tangentc.rules.registry import REGISTRY
from tangentc.simplify.newaxes import without_axes

PUT_TOGETHER = every("puts_together")


class Structure:
    """The part of reverse mode that knows containers and subscripts."""

    b: Builder
    adj: Adjoints
    aliases: Aliases
    active: set[str]
    _is_unique: Callable[[Atom], bool]

    def _structure(self, s: Assign, y_bar: Adjoint | None) -> bool:
        """The adjoints of operations that put values together or take them apart."""
        op, args = s.op, s.args
        if op is ops.identity and (parts := parts_given(s)):
            covers(y_bar, tuple(path for path, _ in parts))
            for path, atom in parts:
                self.adj.add(atom, adjoint_at(self.b, y_bar, path))
        elif op is ops.identity:
            self.adj.add(args[0], y_bar)
        elif op in DEEP_COPIES and {args[0], s.target} <= self.adj.mirror.keys():
            self.b.effect(runtime.add_copied, (self.adj.mirror[args[0]], self.adj.mirror[s.target]))  # type: ignore[index]
        elif op in (ops.copied, runtime.shaped_like):
            self.adj.add(args[0], y_bar)
        elif op is ops.items_from:
            self._rest(s, y_bar)
        elif op in (builtins.list, builtins.tuple, operator.add) and is_container(self.b.type(s.target)):
            self._list_of(s, y_bar)
        elif op is builtins.dict and isinstance(self.b.type(args[0]), Dict):
            for key, part in components(self.b.type(args[0])):
                if is_differentiable(part):
                    self._add_part(args[0], key, self._part(y_bar, key, s.target))
        elif op in (builtins.enumerate, builtins.zip, builtins.reversed):
            return True  # the loop over it takes its items by their positions
        elif op in PUT_TOGETHER:
            for key, atom in made_of(s):
                if atom not in self.adj.mirror:
                    self.adj.add(atom, self._part(y_bar, key, s.target))
        elif op is operator.getitem or op is ops.old_item and isinstance(self.b.type(args[0]), (Dict, Sequence)):
            self._subscript(s, y_bar)
        elif op in (builtins.getattr, ops.old_item) and is_container(self.b.type(args[0])):
            t, name = self.b.type(args[0]), args[1].value
            if not isinstance(t, (Tuple, Struct)):  # a result of SciPy's
                raise self._without_type(s, args[0])
            key = t.cls._fields.index(name) if isinstance(t, Tuple) else name
            self._add_part(args[0], key, y_bar, self.b.type(s.target))
        else:
            return False
        return True

    def _rest(self, s: Assign, y_bar: Adjoint | None) -> None:
        """``*rest``: the items go back to their places."""
        x, start = s.args[0], s.args[1].value
        t = self.b.type(s.target)
        if not isinstance(t, Sequence):
            raise missing(
                s, "the type of its argument does not say how many items it has", "take the items by subscript"
            )
        if t.length is None or is_long(t):
            self._rest_of_many(s, y_bar)
            return
        for k in range(t.length):
            part = self._part(y_bar, k, s.target)
            if part is None:
                continue
            if isinstance(self.b.type(x), Array):
                assert not isinstance(part, dict)
                self.adj.add_item(x, Const(start + k), part, True, True)  # type: ignore[arg-type]
            else:
                self._add_part(x, start + k, part)

    def _rest_of_many(self, s: Assign, y_bar: Adjoint | None) -> None:
        """``*rest`` of as many items as only the run knows."""
        x, start = s.args[0], s.args[1].value
        if not isinstance(x, str) or x not in self.active or y_bar is None:
            return
        whole = self.adj.whole(y_bar, s.target)
        stop = self.b.emit(operator.add, (Const(start), self.b.emit(builtins.len, (whole,))))
        if isinstance(self.b.type(x), Array):
            part = self.b.emit(np.array, (whole,), name=bar_name(s.target))
            self.adj.add_item(x, self.b.emit(slice, (Const(start), stop, Const(None))), part, True, True)
            return
        self.adj.ensure_shadow(x)
        shadow = self.adj.shadow_of(x)
        assert shadow is not None
        self.adj.add_items(shadow, whole, self.b.emit(builtins.range, (Const(start), stop)))

    def _list_of(self, s: Assign, y_bar: Adjoint | None) -> None:
        """``list(x)``, ``x + y`` of lists: item by item."""
        start: Atom = Const(0)
        for x in s.args:
            t = self.b.type(x)
            exact = isinstance(t, Tuple) or isinstance(t, Sequence) and t.length is not None
            if isinstance(x, str) and x in self.active and y_bar is not None:
                if isinstance(t, Array):
                    whole = self.adj.whole(y_bar, s.target)
                    self.adj.add(x, self.b.emit(np.array, (whole,), name=bar_name(x)))
                elif exact and isinstance(start, Const) and not is_long(t):
                    for k, part in components(t):
                        if (
                            is_differentiable(part)
                            and (bar := self._part(y_bar, start.value + k, s.target)) is not None
                        ):
                            self._add_part(x, k, bar)
                else:
                    whole = self.adj.whole(y_bar, s.target)
                    self.adj.ensure_shadow(x)
                    shadow = self.adj.shadow_of(x)
                    assert shadow is not None
                    length = self.b.emit(builtins.len, (shadow,))
                    stop = self.b.emit(operator.add, (start, length))
                    items = self.b.emit(operator.getitem, (whole, self.b.emit(slice, (start, stop, Const(None)))))
                    self.adj.add_items(shadow, items)
            length = self.b.emit(builtins.len, (x,)) if not exact else Const(len(list(components(t))))
            start = self.b.emit(operator.add, (start, length)) if len(s.args) > 1 else start

    def _part(self, y_bar: Adjoint | None, key: Hashable, y: str) -> Adjoint | None:
        if isinstance(y_bar, dict):
            return y_bar.get(key)
        return None if y_bar is None else get_part(self.b, y_bar, key)

    def _add_part(self, x: Atom, key: Hashable, y_bar: Adjoint | None, read: Type | None = None) -> None:
        if isinstance(x, str) and x in self.active and y_bar is not None:
            if self.aliases.is_changed(x):
                self.adj.ensure_shadow(x)
                shadow = self.adj.shadow_of(x)
                assert shadow is not None
                self.adj.add_into(shadow, key, y_bar, read)
                return
            self.adj.add(x, {key: y_bar})

    def _subscript(self, s: Assign, y_bar: Adjoint | None) -> None:
        x, key = s.args
        refuse_active_key(s, self.active)
        if not isinstance(x, str) or x not in self.active or y_bar is None:
            return
        t = present(self.b.type(x))
        if is_container(t):
            if self.aliases.is_changed(x):
                self.adj.ensure_shadow(x)
            by_position = isinstance(key, Const) and not isinstance(key.value, slice)
            if by_position and self.adj.shadow_of(x) is None and not is_long(t):
                index = key.value
                if isinstance(t, Tuple) or type(t).__name__ == "Sequence":
                    index = index % len(t.items) if isinstance(t, Tuple) else index % (t.length or 1)
                self._add_part(x, index, y_bar, self.b.type(s.target))
                return
            if isinstance(key, Const) and isinstance(key.value, slice) and not is_long(t) and not isinstance(t, Dict):
                for k, (index, part) in enumerate(list(components(t))[key.value]):
                    if is_differentiable(part):
                        self._add_part(x, index, self._part(y_bar, k, s.target))
                return
            if self.adj.shadow_of(x) is None:
                self.adj.ensure_shadow(x)
            self._add_dynamic(x, key, y_bar, s)
            return
        if not isinstance(t, Array):
            raise self._without_type(s, x)
        assert not isinstance(y_bar, dict)
        if (axes := _new_axes(key, len(t.shape))) is not None:
            self.adj.add(x, without_axes(self.b, self.adj.full(y_bar, s.target), axes))
            return
        if self._is_mask(key, t, y_bar) and self.adj.shadow_of(x) is None and not self.aliases.is_changed(x):
            self.adj.add(x, self.b.emit(np.where, (key, y_bar, Const(0.0))))
            return
        basic = self.aliases.is_basic(key)
        self.adj.add_item(x, key, y_bar, basic or self._is_unique(key), basic)

    def _is_mask(self, key: Atom, t: Array, y_bar: Atom) -> bool:
        """Whether a subscript takes by a test for each entry, and all that are taken have one number as adjoint."""
        test, bar = self.b.type(key), self.b.type(y_bar)
        fits = isinstance(test, Array) and test.dtype == "bool" and test.shape == t.shape and is_sure(t.shape)
        return fits and isinstance(bar, Scalar) and bar.dtype == t.dtype == "float64"

    def _without_type(self, s: Assign, x: Atom) -> MissingRule:
        """The refusal of a part of what has no type: it is told of the call that gives it."""
        made = self.b.primal.get(x) if isinstance(x, str) else None
        while made is not None and made.op in (*TAKES, ops.call) and isinstance(made.args[0], str):
            made = self.b.primal.get(x := made.args[0])
        reason = getattr(self.b.type(x), "reason", "") or "it is not known when compiling"
        if made is None:
            return missing(s, f"the type of {shown(x)} is not known: {reason}",
                           "call the function with arguments of known types")  # fmt: skip
        if REGISTRY.find(made.op) is None:
            moving = next((a for a in made.atoms if a in self.active), None)
            through = "it" if moving is None or str(moving).startswith("%") else f"its argument {shown(moving)}"
            return missing(made, f"a derivative flows through {through}")
        return missing(s, f"the type of what {spelled(made.op)} gives is not known: {reason}",
                       "call the function with arguments of known types and shapes that fit")  # fmt: skip

    def _add_dynamic(self, x: str, key: Atom, y_bar: Adjoint, s: Assign) -> None:
        """``y = xs[i]`` for a list ``xs``: into the list of shadows."""
        shadow = self.adj.shadow_of(x)
        assert shadow is not None
        part, index = self.b.type(s.target), self.b.type(key)
        if not is_differentiable(part):
            return
        if is_slice(index):
            positions = self.b.emit(builtins.range, (self.b.emit(builtins.len, (shadow,)),))
            places = self.b.emit(operator.getitem, (positions, key))
            self.adj.add_items(shadow, self.adj.whole(y_bar, s.target), places)
            return
        if may_be_none(part):  # which has no adjoint that anything is added to
            test = self.b.emit(operator.is_not, (s.target, Const(None)))
            with self.b.block() as out:
                self._add_item(shadow, key, y_bar, s.target, part)
            self.b.out.append(If(test, tuple(out), (), (), self.b.span, self.b.fresh("statement")))
        else:
            self._add_item(shadow, key, y_bar, s.target, part)

    def _add_item(self, shadow: str, key: Atom, y_bar: Adjoint, y: str, part: Type) -> None:
        if isinstance(y_bar, dict):
            item = self.b.emit(operator.getitem, (shadow, key), name=bar_name(y))
            assert isinstance(item, str)
            parts = dict(components(part))
            for inner, inner_bar in y_bar.items():
                self.adj.add_into(item, inner, inner_bar, parts[inner])
        else:
            self.adj.add_to_item(shadow, key, y_bar, part)


TAKES = (operator.getitem, builtins.getattr, ops.old_item)


def _new_axes(key: Atom, rank: int) -> tuple[int, ...] | None:
    """The axes that a subscript adds which takes the whole array; None for any other."""
    parts = key.value if isinstance(key, Const) and isinstance(key.value, tuple) else (getattr(key, "value", 0),)
    whole = [p for p in parts if p is not None]
    if len(whole) == len(parts) or any(p is not ... and p != slice(None) for p in whole):
        return None
    at = parts.index(...) if ... in parts else len(parts)
    rest = (slice(None),) * (rank - sum(p is not ... for p in whole))
    return tuple(k for k, p in enumerate((*parts[:at], *rest, *parts[at + 1 :])) if p is None)
