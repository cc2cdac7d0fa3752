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
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace

import numpy as np

from tangentc.analysis.parts import item_type
from tangentc.analysis.points import PUT_TOGETHER, change_of
from tangentc.core import ops
from tangentc.core.build import Types
from tangentc.core.lengths import Length
from tangentc.core.nodes import Assign, Atom, Const, For, Global, If, Statement, Store, While
from tangentc.core.types import Dict, Opaque, Struct, Type, is_container, present
from tangentc.core.types import Sequence as List
from tangentc.core.values import data_type, mutable_parts
from tangentc.core.walk import reads

PARTS = {ops.identity, operator.getitem, builtins.getattr, ops.old_item}
LENT = {builtins.enumerate, builtins.zip, builtins.reversed, builtins.iter}
Key = tuple[object, str | None]  # `getattr` or `getitem`, and what is asked for


@dataclass(frozen=True)
class Part:
    """Parts of what a name outside stands for, and the keys that lead to them, None for all items.  ``deep`` says that
    all they hold is meant, ``inside`` that they may be anything that it holds."""

    of: Global
    keys: tuple[Key, ...] = ()
    deep: bool = True
    inside: bool = False

    @property
    def name(self) -> str:
        shown = (f".{k}" if by is getattr else "[...]" if k is None else f"[{k!r}]" for by, k in self.keys)
        return self.of.name + "".join(shown)

    def part(self, s: Assign, types: Types) -> Part:
        """What a statement takes of it."""
        t, key = present(types.of(s.args[0])), s.args[1] if len(s.args) > 1 else None
        name = str(key.value) if isinstance(key, Const) and isinstance(key.value, str) else None
        if isinstance(t, Struct) and name is not None:
            return replace(self, keys=(*self.keys, (getattr, name)))
        return self.item(types.of(s.target), name if isinstance(t, Dict) else None)

    def item(self, t: Type, key: str | None = None) -> Part:
        """An item of it, of a type: of a list of numbers, as of an array, it is the list that is asked."""
        return replace(self, keys=(*self.keys, (operator.getitem, key))) if key or is_container(t) else self

    def or_else(self, other: Part) -> Part:
        """One of two, as parts of what holds both; of two names, of what the first stands for."""
        both = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(self.keys, other.keys))
        return self if self == other else Part(self.of, tuple(key for key, _ in both), inside=True)

    def leaves(self) -> list[object]:
        """What is asked for it, and all that it is and holds."""
        asked, values = self.steps()
        return [value for value, _ in asked] + [leaf for value in values for leaf in mutable_parts(value)]

    def steps(self) -> tuple[list[tuple[object, Key]], list[object]]:
        """The objects on the way to it, with the keys that they are asked for, and what it is now: nothing, where it is
        not there yet."""
        asked, values = [], [self.of.lookup()]
        for step in self.keys:
            asked += [(value, step) for value in values]
            values = [part for value in values for part in _asked(value, step)]
        return asked, [part for value in values for part in mutable_parts(value)] if self.inside else values


def _asked(value: object, step: Key) -> Iterable[object]:
    by, key = step
    if key is None:
        return value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    try:
        return (by(value, key),)  # type: ignore[operator]
    except (AttributeError, LookupError, TypeError):
        return ()


@dataclass(frozen=True)
class Written:
    """Parts that a statement writes into, under one key or under any."""

    part: Part
    key: Key | None = None

    @property
    def name(self) -> str:
        return self.part.name

    def is_read_by(self, part: Part) -> bool:
        """Whether what is written may be what other parts are, or hold."""
        asked, values = part.steps()
        any_key = self.key is None or self.part.inside
        touched = [value for value, key in asked if any_key or key[1] is None or key == self.key]
        touched += [own for value in values for own in mutable_parts(value)] if part.deep else values
        return self.is_among(touched)

    def is_among(self, values: list[object]) -> bool:
        """Whether values may be what is written into."""
        return any(is_same(value, own) for value in values for own in self.holders())

    def holders(self) -> list[object]:
        """What may be written into."""
        return self.part.steps()[1]


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


def parts_of(program: Sequence[Statement], types: Types) -> dict[Atom, Part]:
    """The names of parts of what is outside."""
    found: dict[Atom, Part] = {a: Part(a) for s in program for a in reads(s) if isinstance(a, Global)}
    held: dict[Atom, Part] = {}  # by containers that are made here
    size = -1
    while size != (size := len(found) + len(held)):  # what branches join stands inside of them
        for s in program:
            for name, source in _sources(s):
                if source in found:
                    found[name] = _part_of(s, name, found[source], found.get(name), types)
                elif source in held and isinstance(s, Assign) and s.op is not ops.identity:
                    found[name] = held[source].or_else(found.get(name, held[source]))
                elif source in held:
                    (found if isinstance(s, For) and name == s.target else held)[name] = held[source]
            for holder, atom in _puts(s):
                if atom in found and is_container(types.of(atom)) and holder not in found:
                    held[holder] = found[atom].or_else(held.get(holder, found[atom]))
    return found


def _puts(s: Statement) -> list[tuple[Atom, Atom]]:
    """The containers that a statement puts something into, and what."""
    if isinstance(s, Assign) and s.op in PUT_TOGETHER:
        return [(s.target, atom) for atom in s.args]
    change = change_of(s)
    return [(change.container, atom) for _, atom in change.puts] if change is not None else []


def _part_of(s: Statement, name: str, part: Part, known: Part | None, types: Types) -> Part:
    """The part that a statement gives a name, of another."""
    if isinstance(s, For) and name == s.target:
        return part.item(types.of(name))
    if not isinstance(s, Assign):
        return part.or_else(known or part)
    if s.op in LENT:
        return replace(part, inside=True)
    return part if s.op is ops.identity else part.part(s, types)


def is_outside(atom: Atom, definitions: Mapping[str, Statement], met: frozenset[Atom] = frozenset()) -> bool:
    """Whether an atom is a part of what a name outside stands for; ``met`` are those that it is handed on from."""
    if isinstance(atom, Global) or atom in met:
        return True
    made, met = definitions.get(atom) if isinstance(atom, str) else None, met | {atom}
    sources = [source for name, source in _sources(made) if name == atom]
    every = any if isinstance(made, Assign) else all
    return bool(sources) and every(is_outside(source, definitions, met) for source in sources)


def _sources(s: Statement | None) -> list[tuple[str, Atom]]:
    """What a statement gives names that are parts of something, and of what."""
    if isinstance(s, (For, While)):
        carried = [(c.name, atom) for c in s.carried for atom in (c.init, c.next)]
        return [(s.target, s.iterable), *carried] if isinstance(s, For) else carried
    if isinstance(s, If):
        return [(m.name, arm) for m in s.merged for arm in (m.then, m.orelse)]
    if isinstance(s, Assign) and s.args and (s.op in PARTS or s.op in LENT):
        return [(s.target, a) for a in (s.args if s.op in LENT else s.args[:1])]
    return []


def written_by(s: object, part: Part, t: Type) -> Written:
    """What a statement writes that changes a part, of type ``t``."""
    key = s.key if isinstance(s, Store) else None
    if isinstance(key, Const) and isinstance(key.value, ops.Attribute):
        return Written(part, (getattr, str(key.value)))
    if isinstance(key, Const) and isinstance(key.value, str) and isinstance(t, Dict):
        return Written(part, (operator.getitem, key.value))
    return Written(part)
