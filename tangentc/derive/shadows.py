"""Shadows: arrays and containers into which contributions are added where they are."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Hashable

import numpy as np

from tangentc import runtime
from tangentc.analysis.aliases import VIEWS, Aliases
from tangentc.analysis.array_results import shadow_type
from tangentc.core import ops
from tangentc.core.build import Builder
from tangentc.core.nodes import AFTERWARDS, Assign, Atom, Const, Op
from tangentc.core.types import (
    Array,
    Known,
    Scalar,
    Struct,
    Type,
    Unknown,
    components,
    is_complex,
    is_container,
    is_differentiable,
    is_long,
    may_be_number,
)
from tangentc.derive.parts import Adjoint, Given, bar_name, get_part, leaves


class Shadows:
    """The shadows of values that are changed, viewed or held by containers."""

    b: Builder
    aliases: Aliases
    values: dict[str, Adjoint]
    shadows: dict[str, str]
    own: set[Atom]
    shadow_names: set[str]
    seen_parts: set[Atom]
    rebound: set[str]
    mirror: dict[str, str]
    like: Callable[[Atom], Atom]
    full: Callable[[Atom, Atom], Atom]
    as_shadow: Callable[[Adjoint | None, Atom], Atom]
    is_lazy: Callable[[Atom, Type], bool]
    add: Callable[..., None]
    _add_parts: Callable[[str, Type, Given], None]

    def shadow_key(self, x: str) -> str:
        """The name under which the shadow of ``x`` is kept."""
        if not self.aliases.is_changed(x):
            return x
        if is_container(self.b.type(x)):
            places = self.aliases.points.of.get(x, {x})
            return next(iter(places)) if len(places) == 1 else x
        made = self.aliases.allocation(x)
        return made[0] if len(made) == 1 else x

    def shadow_of(self, x: str) -> str | None:
        """The shadow of ``x``, a view of one if ``x`` is a view; None if there is none yet."""
        if x in self.mirror:
            return self.mirror[x]
        key = self.shadow_key(x)
        if key == x or key not in self.shadows:
            return self.shadows.get(x)
        if is_container(self.b.type(x)):  # another name for the same container
            return self.shadows[key]
        made = self.aliases.views.get(x)
        if made is None:
            return None
        viewed = self.aliases.shares(made)[0]
        base = self.shadow_of(viewed) if isinstance(viewed, str) else None
        if base is None:
            return None
        if made.op is ops.identity:
            return base
        args = tuple(base if a == viewed else a for a in made.args)
        view = self.b.emit(made.op, args, made.keywords, name=bar_name(x))
        assert isinstance(view, str)
        self.shadow_names.add(view)
        return view

    def ensure_shadow(self, x: str) -> None:
        """Make the shadow of ``x`` here, at the head of the statement that follows in the adjoint sweep."""
        key = self.shadow_key(x)
        if key in self.shadows or x in self.mirror:
            return
        old = self.values.pop(key, None)
        if old is None:
            self.b.span, span = AFTERWARDS, self.b.span
            shadow = (
                self.b.emit(np.zeros_like, (self.like(key),), name=bar_name(key))
                if isinstance(self.b.type(key), Array)
                else self.b.emit(runtime.zeros_of, (key,), name=bar_name(key))
            )
            self.b.span = span
        elif isinstance(old, dict):
            shadow = self.b.emit(runtime.zeros_of, (key,), name=bar_name(key))
        elif shadow_type(self.b.type(key)) != self.b.type(key):  # a call gives tuples for tuples
            shadow = self.as_shadow(old, key)
        else:
            shadow = self._own(old, key)
        self._keep_shadow(key, self.b.rename(shadow, bar_name(key)))
        if self.aliases.is_changed(key):
            self.rebound.add(self.shadows[key])
        if isinstance(old, dict):
            self._add_parts(key, self.b.type(key), old)

    def _keep_shadow(self, key: str, shadow: Atom) -> None:
        """From here on contributions are added into this array or container."""
        assert isinstance(shadow, str)
        self.b.changes(shadow)
        self.shadows[key] = shadow
        self.shadow_names.add(shadow)
        self.b.stored.add(shadow)
        self.own.add(shadow)

    def leave_branch(self, before: set[str]) -> None:
        """A shadow that was made inside a branch is a value from there on: the other branch has none."""
        for key in [k for k in self.shadows if k not in before]:
            self.values[key] = self.shadows.pop(key)

    def _own(self, x_bar: Atom, x: str) -> Atom:
        """An array of one's own that holds an adjoint."""
        if self.is_lazy(x_bar, self.b.type(x)):
            x_bar = self.full(x_bar, x)  # which is the same array if it has that shape already
        t = self.b.type(x)
        if isinstance(t, Array) and not t.shape:  # what arithmetic gives is a number
            return self.b.emit(np.full_like, (x, x_bar), name=bar_name(x))
        made = self.b.maker(x_bar)
        owned = x_bar in self.own or made is not None and allocates(self.b, self.aliases, made)
        if owned and x_bar not in self._held():
            return x_bar
        return self.b.emit(copies(t), (x_bar,), name=bar_name(x))

    def _held(self) -> set[Atom]:
        """The arrays that adjoints are, or are views of."""
        return {self._memory(a) for v in self.values.values() for a in leaves(v)} | set(self.shadows.values())

    def _memory(self, x_bar: Atom) -> Atom:
        """The array whose memory an adjoint may be."""
        x_bar = self.b.current(x_bar)
        while isinstance(x_bar, str) and (made := self.b.definitions.get(x_bar)) is not None and made.args:
            if made.op not in (operator.getitem, ops.identity, builtins.getattr) and made.op not in VIEWS:
                break
            x_bar = self.b.current(made.args[0])
        return x_bar

    def _apart(self, x_bar: Atom, name: str) -> Atom:
        """An adjoint that stays as it is, also if the array that it is, or is a view of, is a shadow, which changes."""
        if self._memory(x_bar) not in self.shadow_names or not isinstance(self.b.type(x_bar), (Array, Unknown)):
            return x_bar
        return self.b.emit(copies(self.b.type(x_bar)), (x_bar,), name=name)

    def _begin_shadow(self, x: str, x_bar: Atom) -> None:
        """The first contribution to an array with a shadow: the shadow starts from it."""
        key = self.shadow_key(x)
        if key != x:
            self.ensure_shadow(x)
            self.add(x, x_bar, fitted=True)
            return
        self._keep_shadow(x, self.b.rename(self._own(x_bar, x), bar_name(x)))

    def add_into(self, shadow: str, key: Hashable, part: Adjoint | None, read: Type | None = None) -> None:
        """Add to one part of a container's shadow."""
        if isinstance(part, dict):
            target = get_part(self.b, shadow, key)
            if self.is_seen(shadow):
                self.seen_parts.add(target)
            parts = dict(components(read)) if read is not None and is_container(read) and not is_long(read) else {}
            for sub, value in part.items():
                self.add_into(target, sub, value, parts.get(sub))  # type: ignore[arg-type]
        elif part is not None:
            self.add_to_item(shadow, Const(key), part, read)

    def is_seen(self, shadow: Atom) -> bool:
        """Whether the arrays in a container's shadow are seen by others too, so that they are changed in place."""
        return shadow in self.mirror.values() or shadow in self.seen_parts

    def add_items(self, shadow: str, items: Atom, places: Atom | None = None) -> None:
        """Add to the items of a list's shadow; those of a mirrored one are seen by others."""
        mirrored = self.is_seen(shadow)
        more: tuple[Atom, ...] = () if places is None else (places,)
        keywords = (("in_place", Const(True)),) if mirrored else ()
        self.b.effect(runtime.add_items, (shadow, items, *more), keywords)

    def add_to_item(self, shadow: str, key: Atom, part: Atom, read: Type | None = None) -> None:
        """``shadow[key] += part``: a number is replaced, an array may be seen by others and is added to.  ``read`` is
        the type of what was read there, in whose place there may be another one elsewhere."""
        t = self.b.type(shadow)
        if isinstance(t, Struct):
            key = Const(ops.Attribute(key.value))
            old = self.b.emit(builtins.getattr, (shadow, Const(str(key.value))))
        else:
            old = self.b.emit(operator.getitem, (shadow, key))
        held, whole = self.b.type(old), self._is_whole(part, read)
        if isinstance(held, Array) and isinstance(read, Scalar):
            held = read
        if isinstance(held, Unknown) and isinstance(read, Array) and not isinstance(key, Const):  # one of several
            held = held if shadow in self.rebound or may_be_number(read) else read
        if isinstance(held, (Array, Scalar)) and is_complex(self.b.type(part)) and not is_complex(held):
            part = self.b.emit(np.real, (part,))
        if is_container(held) and self.is_seen(shadow):
            self.seen_parts.add(old)
        if is_long(held):
            self.add_items(old, part)  # type: ignore[arg-type]
        elif is_container(held):
            parts = [(k, get_part(self.b, part, k)) for k, p in components(held) if is_differentiable(p)]
            for k, inner in parts:
                self.add_to_item(old, Const(k), inner)  # type: ignore[arg-type]
        elif may_be_number(held) and self.is_seen(shadow):
            self.b.store(shadow, key, self.b.emit(runtime.plus_in_place, (old, part)))
        elif isinstance(held, Array) and self.is_seen(shadow):
            self.b.store(old, None, part, operator.add)  # type: ignore[arg-type]
        elif isinstance(held, (Scalar, Array)) and not isinstance(t, Struct) and shadow not in self.rebound:
            self.b.store(shadow, key, part, operator.add, whole)
        elif isinstance(held, Unknown):
            plus = runtime.plus_in_place if self.is_seen(shadow) else runtime.plus
            self.b.store(shadow, key, self.b.emit(plus, (old, part)), whole=whole)
        elif not isinstance(held, Known):
            self.b.store(shadow, key, self.b.emit(operator.add, (old, part)), whole=whole)

    def _is_whole(self, part: Atom, read: Type | None) -> bool:
        """Whether what is added has the shape and dtype of what was read there."""
        t = self.b.type(part)
        if isinstance(read, Scalar) and isinstance(t, Scalar):
            return read.weak or not t.weak and read.dtype == t.dtype
        if not isinstance(read, Array) or not isinstance(t, Array):
            return False
        sure = not may_be_number(t) and not may_be_number(read)
        return sure and t.dtype == read.dtype and not self.is_lazy(part, read)

    def add_item(self, x: str, key: Atom, y_bar: Atom, unique: bool, basic: bool) -> None:
        """The adjoint of ``y = x[key]``: added into the shadow of ``x``, which is made if need be."""
        made = self.shadow_of(x)
        fresh = made is None and self.values.get(x) is None
        if made is None:
            self.ensure_shadow(x)
            made = self.shadow_of(x)
        assert made is not None
        if basic or unique:
            self.b.store(made, key, y_bar, None if fresh else operator.add)
        else:
            self.b.effect(np.add.at, (made, key, y_bar))


def copies(t: Type) -> Op:
    """What copies a value of a type; of what may be a number, ``np.copy`` would make an array."""
    return np.copy if isinstance(t, Array) and not t.or_number else ops.copied


def allocates(b: Builder, aliases: Aliases, s: Assign) -> bool:
    """Whether a statement makes an array that nothing else refers to."""
    if isinstance(b.type(s.target), Scalar):
        return True
    if s.op is operator.getitem and (whole := b.maker(s.args[0])) is not None and isinstance(whole.op, ops.Emitted):
        return True  # what an emitted adjoint returns is nobody else's
    if isinstance(s.op, ops.Emitted):
        return True
    if s.op is ops.method:
        return s.args[1] == Const("astype")
    return aliases.makes_memory(s)
