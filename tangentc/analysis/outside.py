"""What belongs to the user's module, or to the function around one: the parts that are read, and those written into.

    net.log.append(v)      writes into the list ``net.log``
    net.last = v           writes into ``net``, under one name
    net.w * 2              reads ``net.w``, for which it asks ``net`` under another

A derivative follows no value through what is outside, so that what is written must not be read.
"""

from __future__ import annotations

import builtins
import contextlib
import itertools
import operator
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace

import numpy as np

from tangentc.analysis.parts import item_type
from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Const, Global, Statement, Store
from tangentc.core.types import Dict, Length, Opaque, Struct, Type
from tangentc.core.types import Sequence as List
from tangentc.core.values import data_type, mutable_parts

PARTS = {ops.identity, operator.getitem, builtins.getattr, ops.old_item}
Key = tuple[object, Hashable]  # `getattr` or `getitem`, and what is asked for


@dataclass(frozen=True)
class Part:
    """A part of what a name outside stands for, and the keys that lead to it; or something ``inside`` of that, of
    which only the run knows where it lies."""

    of: Global
    keys: tuple[Key, ...] = ()
    inside: bool = False

    @property
    def name(self) -> str:
        return self.of.name + "".join(f".{k}" if by is getattr else f"[{k!r}]" for by, k in self.keys)

    def part(self, s: Assign, t: Type) -> Part:
        """What a statement takes of it, whose type is ``t``."""
        if s.op is ops.identity:
            return self
        key = s.args[1] if len(s.args) > 1 else None
        by = getattr if isinstance(t, Struct) else operator.getitem if isinstance(t, Dict) else None
        if self.inside or by is None or not isinstance(key, Const) or not isinstance(key.value, str):
            return replace(self, inside=True)
        return Part(self.of, (*self.keys, (by, key.value)))

    def steps(self) -> Iterator[tuple[object, Key | None]]:
        """The objects on the way to it, with the key that each is asked for; itself at the end.  Where something is not
        there yet, nothing."""
        value = self.of.lookup()
        for by, key in self.keys:
            yield value, (by, key)
            try:
                value = by(value, key)  # type: ignore[operator]
            except (AttributeError, LookupError, TypeError):
                return
        yield value, None

    def lookup(self) -> object:
        """What it is now, None if it is not there."""
        value, key = list(self.steps())[-1]
        return value if key is None else None


@dataclass(frozen=True)
class Written:
    """A part that a statement writes into, under one key or under any."""

    part: Part
    key: Key | None = None

    @property
    def name(self) -> str:
        return self.part.name

    def is_read_by(self, part: Part) -> bool:
        """Whether what is written may be what another part is, or holds."""
        whole = self.key is None or self.part.inside
        asked = (value for value, key in part.steps() if whole or key == self.key)
        return any(is_same(value, own) for value in asked for own in self.holders()) or self.is_held_by(part.lookup())

    def is_held_by(self, value: object) -> bool:
        """Whether a value is, or holds, what is written into."""
        return any(is_same(part, own) for part in mutable_parts(value) for own in self.holders())

    def holders(self) -> list[object]:
        """What may be written into."""
        value = self.part.lookup()
        return mutable_parts(value) if self.part.inside else [value]


def is_same(a: object, b: object) -> bool:
    """Whether two values are one object, or arrays that may share memory."""
    return a is b or isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.may_share_memory(a, b)


def with_part(t: Type, keys: Sequence[Key], of: Callable[[Type], Type]) -> Type:
    """The type of something outside, with another one for the part that keys lead to."""
    if not keys:
        return of(t)
    (_, key), *rest = keys
    names: Sequence[Hashable] = t.fields if isinstance(t, Struct) else t.keys if isinstance(t, Dict) else ()
    if not isinstance(t, (Struct, Dict)) or key not in names:
        return t
    k = names.index(key)
    return replace(t, items=(*t.items[:k], with_part(t.items[k], rest, of), *t.items[k + 1 :]))


def of_any_length(t: Type) -> Type:
    """The type of a list with these items, and any number of them."""
    if not isinstance(t, List) or t.kind is not list or not t.items:
        return t
    count = itertools.count()
    return replace(t, items=(item_type(t, lambda: Length(f"?{next(count)}")),), length=None)


def only_written(t: Type) -> Type:
    """The type of a list of which nothing is read."""
    return Opaque("it is only written into", list) if isinstance(t, List) else t


SEEN_AS: ContextVar[tuple[tuple[Global, Type], ...]] = ContextVar("seen_as", default=())


@contextlib.contextmanager
def seen_as(*types: tuple[Global, Type]) -> Iterator[None]:
    """Compile as if names outside stood for something of other types."""
    token = SEEN_AS.set(types)
    try:
        yield
    finally:
        SEEN_AS.reset(token)


def type_outside(atom: Global) -> Type:
    """The type of what a name outside stands for."""
    return next((t for other, t in SEEN_AS.get() if other == atom), None) or data_type(atom.lookup())


def is_outside(atom: Atom, definitions: Mapping[str, Statement]) -> bool:
    """Whether an atom is a part of what a name outside stands for."""
    while isinstance(atom, str) and isinstance(s := definitions.get(atom), Assign) and s.op in PARTS and s.args:
        atom = s.args[0]
    return isinstance(atom, Global)


def written_by(s: object, part: Part, t: Type) -> Written:
    """What a statement writes that changes a part, of type ``t``."""
    key = s.key if isinstance(s, Store) else None
    if isinstance(key, Const) and isinstance(key.value, ops.Attribute):
        return Written(part, (getattr, str(key.value)))
    if isinstance(key, Const) and isinstance(key.value, str) and isinstance(t, Dict):
        return Written(part, (operator.getitem, key.value))
    return Written(part)
