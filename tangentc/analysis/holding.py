"""Types of what is held: containers and objects know the places where they were made (`sites`), so that a change of one
is a change of whatever holds it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace

from tangentc.core.types import Container, Dict, Held, Optional, Sequence, Struct, Type, Unknown, is_container

Done = dict[tuple[int, int], tuple[Type, Held]]  # an object's type and its depth -> the new type and the old one
DEEPEST = 6  # containers in one another
HOLDING = (Container, Optional)
CHANGING = "its type changes from trip to trip"


def lost_parts(t: Type) -> set[tuple[Hashable, ...]]:
    """The parts of a value of which a type does not tell what they are, or which keys they have."""
    if type(t) is Unknown or isinstance(t, Sequence) and t.kind is dict:
        return {()}
    if not is_container(t):
        return set()
    keys = t.fields if isinstance(t, Struct) else t.keys if isinstance(t, Dict) else range(len(t.items))
    return {(key, *path) for key, item in zip(keys, t.items, strict=True) for path in lost_parts(item)}


def replaced(t: Type, sites: frozenset[int], changed: Callable[[Held, bool], Type], done: Done, depth: int = 0) -> Type:
    """The type with what is in one of these places changed, or perhaps changed, where it may be in another place; what
    is ``done`` for one name is that for another one of the same object."""
    if isinstance(t, Optional):
        inner = replaced(t.type, sites, changed, done, depth)
        return t if inner is t.type else replace(t, type=inner)
    if not is_container(t) or sites.isdisjoint(t.within):
        return t
    if depth > DEEPEST:
        return Unknown(CHANGING)
    if (id(t), depth) not in done:
        done[id(t), depth] = _replaced(t, sites, changed, done, depth), t  # which keeps its place while this is known
    return done[id(t), depth][0]


def _replaced(t: Held, sites: frozenset[int], changed: Callable[[Held, bool], Type], done: Done, depth: int) -> Type:
    items = tuple(replaced(i, sites, changed, done, depth + 1) if isinstance(i, HOLDING) else i for i in t.items)
    t = t if all(a is b for a, b in zip(items, t.items)) else replace(t, items=items)
    if sites.isdisjoint(getattr(t, "sites", ())):
        return t
    new = changed(t, t.sites <= sites)
    if isinstance(t, Dict) and isinstance(new, Dict):
        new = replace(new, loses=t.loses or new.loses)
    if isinstance(new, (Sequence, Dict, Struct)):
        return replace(new, sites=t.sites, or_none=getattr(t, "or_none", False))
    return new


def sites_of(t: Type) -> frozenset[int]:
    """The places where something may have been made, and what it holds."""
    return t.within if is_container(t) else frozenset()


def without_sites(t: Type, deep: bool = True) -> Type:
    """The type of a copy, which is another object, and if it is ``deep`` holds others."""
    if not is_container(t):
        return t
    if deep:
        t = replace(t, items=tuple(map(without_sites, t.items)))
    return replace(t, sites=frozenset()) if isinstance(t, (Sequence, Dict, Struct)) else t


def without_key(key: object, old: Type) -> Type:
    """The type of a dict without a key."""
    if not isinstance(old, Dict) or key not in old.keys:
        return old
    k = old.keys.index(key)
    keys, items = (*old.keys[:k], *old.keys[k + 1 :]), (*old.items[:k], *old.items[k + 1 :])
    return replace(old, keys=keys, items=items, loses=True)
