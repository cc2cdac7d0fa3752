"""Adjoints of values while the adjoint sweep is written.

A value that is never changed in place has a *value adjoint*: an atom, replaced by a sum at each
contribution.  An array that is changed in place, or that a loop reads from outside, has a *shadow*: an
array of its own shape that contributions are added to in place.  A container's adjoint is a dict of
its parts' adjoints until somebody needs it whole.

An adjoint may be smaller than its value as long as it broadcasts to it: the adjoint of a sum's argument
is the scalar adjoint of the sum.  `full` makes it whole.
"""

from __future__ import annotations

import builtins
import functools
import operator
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from tangentc import runtime
from tangentc.analysis.aliases import Aliases
from tangentc.analysis.array_results import shadow_type
from tangentc.core import ops
from tangentc.core.build import Builder, build_container, is_number, is_sure, shape_of
from tangentc.core.lengths import Dim, Length
from tangentc.core.nodes import AFTERWARDS, Assign, Atom, Const, Function, version_base
from tangentc.core.types import (
    Array,
    Optional,
    Scalar,
    Sequence,
    Struct,
    Type,
    Unknown,
    components,
    holds_numbers,
    is_complex,
    is_container,
    is_differentiable,
    is_long,
    may_be_none,
    may_be_number,
    one_kind,
)
from tangentc.core.walk import statements
from tangentc.derive.parts import Adjoint, Given, Like, Parts, bar_name, get_part
from tangentc.derive.shadows import Shadows
from tangentc.errors import InternalError
from tangentc.simplify.cancel import summed


class Adjoints(Shadows):
    """The adjoints known at one point of the adjoint sweep."""

    def __init__(self, builder: Builder, aliases: Aliases, active: set[str], like: Like):
        self.b, self.aliases, self.active, self.like_table = builder, aliases, active, like
        self.at_hand: set[str] = set()  # values by which others may be made
        self.begun: set[Atom] = set()  # what is a number only where it is a constant one, as a sum that begins with 0
        self.partly: set[str] = set()  # what only one branch has defined
        self.values: dict[str, Adjoint] = {}
        self.shadows: dict[str, str] = {}
        self.own: set[Atom] = set()  # every shadow that was made: an array that nobody else holds
        self.shadow_names: set[str] = set()  # shadows and their views: two reads of one may differ
        self.seen_parts: set[Atom] = set()  # containers in the shadows of containers
        self.rebound: set[str] = set()  # shadows of lists that change: arrays in them are replaced, not changed
        self.mirror: dict[str, str] = {}  # shadows that the primal sweep makes beside their objects

    # ---------------------------------------------------------- reading
    def has(self, x: str) -> bool:
        return x in self.mirror or x in self.values or self.shadow_key(x) in self.shadows

    def take(self, x: str) -> Adjoint | None:
        """The adjoint of ``x`` at its definition; afterwards ``x`` has none."""
        if x in self.mirror:
            return self.mirror[x]
        key = self.shadow_key(x)
        if key == x and key in self.shadows:
            shadow = self.shadows.pop(key)
            self.shadow_names.discard(shadow)  # complete: nothing is added to it any more
            self.b.changes(shadow)
            return shadow
        adjoint = self.values.pop(x, None)
        return adjoint if adjoint is None or isinstance(adjoint, dict) else self.b.rename(adjoint, bar_name(x))

    def forget(self, x: str) -> None:
        """``x`` is made here, of nothing that moves: before that it has no adjoint."""
        self.values.pop(x, None)
        if x not in self.mirror and self.shadow_key(x) == x:
            self.shadows.pop(x, None)

    def take_whole(self, x: str) -> Atom | None:
        """The adjoint of ``x`` as one atom, a container put together."""
        adjoint = self.take(x)
        return None if adjoint is None else self.whole(adjoint, x)

    def whole(self, adjoint: Adjoint | None, x: Atom) -> Atom:
        """One atom of the structure of ``x``; a part without an adjoint is zero."""
        t = self.b.type(x)
        if not isinstance(adjoint, dict):
            return self.zero(x) if adjoint is None else adjoint
        if is_long(t):
            if adjoint:
                raise InternalError(f"the adjoint of {x}, a list, is known by its parts")
            zeros = self.b.emit(runtime.zeros_of, (x,))
            return self.b.emit(runtime.shaped_like, (zeros, x), name=bar_name(x))
        parts: list[Atom] = []
        for key, part in components(t):
            parts.append(self.whole_part(adjoint.get(key), x, key, part))
        return build_container(self.b, t, parts)

    def as_shadow(self, adjoint: Adjoint | None, x: Atom) -> Atom:
        """One atom that can be added to, as shadows are: with lists where ``x`` has tuples."""
        t = self.b.type(x)
        if not is_container(t) or is_long(t) or isinstance(t, Struct):
            return self.full(self.whole(adjoint, x), x)
        if adjoint is None:
            return self.b.emit(runtime.zeros_of, (x,), name=bar_name(x))
        parts: list[Atom] = []
        for key, part in components(t):
            if not is_differentiable(part):
                parts.append(self._zero_shadow(x, key, part))
                continue
            given = adjoint.get(key) if isinstance(adjoint, dict) else get_part(self.b, adjoint, key)
            parts.append(self.as_shadow(given, get_part(self.b, x, key)))
        return build_container(self.b, shadow_type(t), parts)

    def _zero_shadow(self, x: Atom, key: Hashable, part: Type) -> Atom:
        """What `zeros_of` gives for a part through which no derivative flows."""
        if not holds_numbers(part):
            return Const(None)
        if isinstance(part, Scalar):
            return Const(0.0)
        return self.b.emit(runtime.zeros_of, (get_part(self.b, x, key),))

    def whole_part(self, adjoint: Adjoint | None, x: Atom, key: Hashable, t: Type) -> Atom:
        if adjoint is not None and not isinstance(adjoint, dict) and not self.is_lazy(adjoint, t):
            return adjoint
        if not is_differentiable(t) and not is_container(t):
            return Const(0.0 if isinstance(t, Scalar) and holds_numbers(t) else None)
        part = get_part(self.b, x, key)
        if adjoint is None or isinstance(adjoint, dict):
            return self.whole(adjoint, part)
        return self.full(adjoint, part)

    def zero(self, x: Atom) -> Atom:
        """A zero adjoint for ``x``."""
        self.b.span, span = AFTERWARDS, self.b.span
        try:
            return self._zero(x)
        finally:
            self.b.span = span

    def _zero(self, x: Atom) -> Atom:
        t = number_or_none(self.b.type(x))
        if isinstance(t, Scalar):
            return Const(0j if is_complex(t) else 0.0)
        if isinstance(t, Array):
            return self.b.emit(np.zeros_like, (self.like(x),), name=bar_name(x))
        if is_container(t) and not may_be_none(t) and x not in self.partly:
            return self.whole({}, x)
        zeros = self.b.emit(runtime.zeros_of, (x,), name=bar_name(x))
        # whole until a branch takes it apart in which it surely is there
        if is_container(t) and isinstance(zeros, str):
            self.b.types.of_name[zeros] = t
        return zeros

    def like(self, x: Atom) -> Atom:
        """A name with the shape and dtype of ``x`` that is at hand anyway."""
        t = self.b.type(x)
        if x in self.at_hand and not may_be_number(t):
            return x
        if x in self.like_table.values() or not certain(t) or t not in self.like_table:
            return x
        found = self.like_table[t]
        if isinstance(found, str):
            return found
        atom: Atom = found[0]
        for key in found[1]:
            atom = get_part(self.b, atom, key)
        return atom

    # ---------------------------------------------------------- shapes
    def is_lazy(self, x_bar: Atom, t: Type) -> bool:
        """Whether an adjoint is, or may be, smaller than the value that it belongs to."""
        given, wanted = shape_of(self.b.type(x_bar)), shape_of(t)
        if may_be_number(self.b.type(x_bar)) and not one_kind(self.b.type(x_bar), t):
            return wanted is not None
        return wanted is not None and given != wanted and not is_full(given, wanted)

    def full(self, x_bar: Atom, x: Atom) -> Atom:
        """The adjoint in the shape of ``x``."""
        t = self.b.type(x)
        if is_container(t) or isinstance(t, (Unknown, Scalar)) or not self.is_lazy(x_bar, t):
            return x_bar
        if is_number(x_bar, 0):
            return self.zero(x)
        if may_be_full(shape_of(self.b.type(x_bar)), shape_of(t)):
            return self.b.emit(runtime.unbroadcast, (x_bar, x), name=bar_name(x))
        return self.b.emit(np.full_like, (self.like(x), x_bar), name=bar_name(x))

    def fit(self, x_bar: Atom, x: Atom) -> Atom | None:
        """A contribution in a shape that broadcasts to that of ``x``, with its dtype; None if it is zero."""
        tx, tc = number_or_none(self.b.type(x)), self.b.type(x_bar)
        apart = isinstance(tc, Array) and may_be_number(tx) and x not in self.begun and not one_kind(tx, tc)
        if apart or not isinstance(tx, (Scalar, Array)) or not isinstance(tc, (Scalar, Array)):
            if is_container(tx) or is_container(tc) or is_number(x_bar):
                return x_bar
            return self.b.emit(runtime.unbroadcast, (x_bar, x), name=bar_name(x))
        if is_complex(tc) and not is_complex(tx):
            x_bar = self.b.emit(np.real, (x_bar,))
        sx, sc = shape_of(tx), shape_of(self.b.type(x_bar))
        assert sx is not None and sc is not None
        number = None if may_be_number(tx) or may_be_number(tc) else self._counted(x_bar, sx, sc)
        if number is not None:
            return self._cast(number, tx)
        extra = len(sc) - len(sx)
        if extra > 0:
            total = summed(self.b, x_bar, tuple(range(extra)), False)
            if total is None:
                return None
            x_bar = total
        sc = shape_of(self.b.type(x_bar)) or ()
        offset = len(sx) - len(sc)
        ones = []
        for axis, d in enumerate(sc):
            wanted = sx[axis + offset]
            if wanted == d or d == 1:
                continue
            if wanted == 1:
                ones.append(axis)
            elif uncertain(wanted) and not (uncertain(d) is False and isinstance(wanted, int)):
                return self.b.emit(runtime.unbroadcast, (x_bar, x), name=bar_name(x))
        if ones:
            total = summed(self.b, x_bar, tuple(ones), True)
            if total is None:
                return None
            x_bar = total
        return self._cast(x_bar, tx)

    def _counted(self, x_bar: Atom, wanted: tuple[Dim, ...], given: tuple[Dim, ...]) -> Atom | None:
        """The sum of one number in each entry, for a value that the array is broadcast from: that number, as often as
        there are entries for each of the value's; None if x_bar is no such array, or if it is not known how many."""
        made = self.b.definition(x_bar)
        negative = made is not None and made.op is operator.neg
        filled = self.b.definition(made.args[0]) if made is not None and negative else made
        if filled is None or filled.op is not np.full_like or filled.keywords or self.b.mutable(filled.target):
            return None
        named = not filled.target.startswith("%")  # which may be added to in another trip
        if named or not isinstance(self.b.type(filled.args[1]), Scalar):
            return None
        extra, like, number = len(given) - len(wanted), filled.args[0], filled.args[1]
        pairs = zip(range(extra, len(given)), given[extra:], wanted)
        apart = [(axis, d, want) for axis, d, want in pairs if want != d and d != 1]
        if any(want != 1 and (uncertain(want) or uncertain(d)) for _, d, want in apart):
            return None
        axes = [*range(extra), *(axis for axis, _, want in apart if want == 1)]
        if not axes:
            return None
        number = self.b.emit(operator.neg, (number,)) if negative else number
        if len(axes) == len(given):
            return self.b.mul(number, self.b.emit(np.size, (like,)))
        shape = self.b.emit(np.shape, (like,))
        counts = [self.b.emit(operator.getitem, (shape, Const(axis))) for axis in axes]
        return functools.reduce(self.b.mul, counts, number)

    def _cast(self, x_bar: Atom, tx: Scalar | Array) -> Atom:
        tc = self.b.type(x_bar)
        has_dtype = isinstance(tx, Array) or not tx.weak and np.dtype(tx.dtype).kind in "fc"
        if isinstance(tc, Array) and has_dtype and tc.dtype != tx.dtype:
            return self.b.emit(ops.method, (x_bar, Const("astype"), self.b.emit(getattr, (Const(np), Const(tx.dtype)))))
        if isinstance(tc, Scalar) and isinstance(tx, Scalar) and not (tc.weak or tx.weak) and tc.dtype != tx.dtype:
            return self.b.emit(getattr(np, tx.dtype), (x_bar,))
        return x_bar

    # ---------------------------------------------------------- accumulating
    def add(self, x: Atom, x_bar: Given | None, fitted: bool = False) -> None:
        """Add a contribution to the adjoint of ``x``."""
        if not isinstance(x, str) or x not in self.active or x_bar is None:
            return
        t = self.b.type(x)
        if isinstance(x_bar, (dict, list, tuple)) or is_container(t):
            self._add_parts(x, t, x_bar)
            return
        x_bar = self.b.current(x_bar)
        if is_number(x_bar, 0):
            return
        if not fitted:
            contribution = self.fit(x_bar, x)
            if contribution is None:
                return
            x_bar = contribution
        shadow = self.shadow_of(x)
        if shadow is not None:
            self.b.store(shadow, None, x_bar, operator.add)
            return
        if self.aliases.is_changed(x):
            self._begin_shadow(x, x_bar)
            return
        old = self.values.get(x)
        assert not isinstance(old, dict)
        if old is not None:
            if is_number(x_bar) and is_number(old):
                x_bar = self.full(x_bar, x)
            x_bar = self.b.add(old, x_bar)
        self.values[x] = self._apart(x_bar, bar_name(x))

    def _add_parts(self, x: str, t: Type, x_bar: Given) -> None:
        if is_long(t) or self.aliases.is_changed(x):
            if self._adopted(x, x_bar):
                return
            self.ensure_shadow(x)
        shadow = self.shadow_of(x)
        if shadow is not None and is_long(t):
            if isinstance(x_bar, dict):
                for key, part in x_bar.items():
                    self.add_into(shadow, key, part)
                return
            atom = self.b.emit(ops.make_list, tuple(x_bar)) if isinstance(x_bar, (list, tuple)) else x_bar
            self.add_items(shadow, atom)
            return
        if shadow is not None:
            if isinstance(x_bar, (list, tuple)):
                x_bar = dict(enumerate(x_bar))
            for key, part_type in components(t):
                if isinstance(part_type, Scalar) and not is_differentiable(part_type):
                    continue
                part = x_bar.get(key) if isinstance(x_bar, dict) else get_part(self.b, x_bar, key)
                if part is not None:
                    self.add_into(shadow, key, part, part_type)
            return
        if x not in self.values and isinstance(x_bar, str) and is_container(self.b.type(x_bar)):
            self.values[x] = x_bar  # whole, until another contribution comes
            return
        mine = self.values.setdefault(x, {})
        if not isinstance(mine, dict):
            mine = self.values[x] = {
                key: get_part(self.b, mine, key) for key, p in components(t) if is_differentiable(p)
            }
        for key, part_type in components(t):
            if not is_differentiable(part_type):
                continue
            if isinstance(x_bar, dict):
                part = x_bar.get(key)
            elif isinstance(x_bar, (list, tuple)):
                part = x_bar[key]
            else:
                part = get_part(self.b, x_bar, key)
            if part is None:
                continue
            self.add_part(x, mine, key, part_type, part)

    def _adopted(self, x: str, x_bar: Given) -> bool:
        """Whether a list of adjoints that was made just now can serve as the shadow itself."""
        key = self.shadow_key(x)
        made = self.b.maker(x_bar) if isinstance(x_bar, str) else None
        if x in self.mirror or key in self.shadows or key in self.values or not isinstance(x_bar, str):
            return False
        shadow = self._as_list(x_bar, made, x)
        if shadow is None and made is not None and made.op is ops.make_list and not made.args:
            shadow = made.target if version_base(made.target).endswith("_bar") else None
        if shadow is None:
            return False
        self._keep_shadow(key, shadow)
        t = self.b.type(x)
        if not (isinstance(t, Sequence) and len(t.items) == 1 and isinstance(t.items[0], Scalar)):
            self.rebound.add(shadow)
        return True

    def _as_list(self, x_bar: str, made: Assign | None, x: str) -> str | None:
        """The adjoint of a list of numbers or arrays, of which an array was made, from that of the array."""
        t, whole = self.b.type(x), self.b.type(x_bar)
        if not isinstance(t, Sequence) or t.kind is not list or len(t.items) != 1 or not isinstance(whole, Array):
            return None
        item, name = t.items[0], bar_name(x)
        if not isinstance(item, (Array, Scalar)) or shape_of(item) != whole.shape[1:] or item.dtype != whole.dtype:
            return None
        if isinstance(item, Array) and self.b.mutable(x_bar):
            return None  # its rows would be views of what is added to later
        filled = made is not None and made.op is np.full_like and isinstance(self.b.type(made.args[1]), Scalar)
        if made is not None and filled and isinstance(item, Scalar):
            one = self.b.emit(ops.make_list, made.args[1:])
            return str(self.b.emit(operator.mul, (one, self.b.emit(builtins.len, (x,))), name=name))
        return str(self.b.emit(builtins.list, (x_bar,), name=name))

    def add_part(self, x: str, mine: Parts, key: Hashable, t: Type, part: Any) -> None:
        """Add a contribution to the adjoint of one part of a container."""
        old = mine.get(key)
        if is_long(t):  # its parts are not told apart
            if isinstance(part, dict) or isinstance(old, dict):
                raise InternalError(f"the adjoint of a list in {x} is known by its parts")
            mine[key] = part if old is None else self._sum_of_lists(old, part)
            return
        if is_container(t) and old is None and isinstance(part, str) and is_container(self.b.type(part)):
            mine[key] = part  # whole, until another contribution comes
            return
        if is_container(t):
            inner = old if isinstance(old, dict) else {}
            if old is not None and not isinstance(old, dict):
                inner = {sub: get_part(self.b, old, sub) for sub, p in components(t) if is_differentiable(p)}
            for sub, sub_type in components(t):
                given = (
                    part.get(sub)
                    if isinstance(part, dict)
                    else part[sub]
                    if isinstance(part, (list, tuple))
                    else get_part(self.b, part, sub)
                )
                if given is not None and is_differentiable(sub_type):
                    self.add_part(x, inner, sub, sub_type, given)
            mine[key] = inner
            return
        assert not isinstance(old, dict)
        mine[key] = self._apart(part if old is None else self.b.add(old, part, name=f"%{key}_bar"), f"%{key}_bar")

    def _sum_of_lists(self, old: Atom, part: Atom) -> Atom:
        total = self.b.emit(ops.copied, (old,), name="%sum_bar")
        assert isinstance(total, str)
        self.b.stored.add(total)
        self.b.effect(runtime.add_items, (total, part))
        return total

    # ---------------------------------------------------------- shadows


def begun(function: Function, active: set[str], type_of: Callable[[Atom], Type]) -> set[Atom]:
    """What is an array, or a number through which no derivative flows: its adjoint may have either's shape."""
    arms: dict[Atom, tuple[Atom, ...]] = {}
    for s in statements(function.body):
        arms |= {m.name: (m.then, m.orelse) for m in getattr(s, "merged", ())}
        arms |= {c.name: (c.init, c.next) for c in getattr(s, "carried", ())}
        if isinstance(s, Assign):  # a number that is computed from such numbers is one
            arms[s.target] = s.args

    def is_plain(a: Atom) -> bool:
        return a not in active or isinstance(type_of(a), Array) and not may_be_number(type_of(a))

    found = {name for name in arms if isinstance(t := type_of(name), Array) and t.or_number}
    while wrong := {name for name in found if not all(a in found or is_plain(a) for a in arms[name])}:
        found -= wrong
    return found


def number_or_none(t: Type) -> Type:
    """The type of the adjoint of a value: of a number that may be None it is a number."""
    return t.type if isinstance(t, Optional) and isinstance(t.type, Scalar) else t


def certain(t: Type) -> bool:
    """Whether two values of this type surely have the same shape."""
    return isinstance(t, Array) and not t.or_number and is_sure(t.shape)


def may_be_full(given: tuple[Dim, ...] | None, wanted: tuple[Dim, ...] | None) -> bool:
    """Whether shapes that are written differently may be the same while running."""
    if given is None or wanted is None:
        return True
    return len(given) == len(wanted) and all(
        a == b or uncertain(a) or uncertain(b) or not (isinstance(a, int) and isinstance(b, int)) and 1 not in (a, b)
        for a, b in zip(given, wanted, strict=True)
    )


def is_full(given: tuple[Dim, ...] | None, wanted: tuple[Dim, ...]) -> bool:
    """Whether a shape that broadcasts to another is the other, as no length of the two is one."""
    if given is None or len(given) != len(wanted):
        return False
    return all(
        d != 1 and not uncertain(d) for pair in zip(given, wanted, strict=True) for d in pair if pair[0] != pair[1]
    )


def uncertain(d: Dim) -> bool:
    return isinstance(d, Length) and not d.plural
