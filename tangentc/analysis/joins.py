"""The type of a value that is of one type on one path and of another on another: the lattice that types climb."""

from __future__ import annotations

import builtins
import dataclasses
from collections.abc import Hashable
from collections.abc import Sequence as Seq
from dataclasses import replace

import numpy as np

from tangentc.analysis.sampling import Fresh
from tangentc.core import ops
from tangentc.core.classes import standing_for
from tangentc.core.lengths import Dim, Length
from tangentc.core.nodes import Const
from tangentc.core.types import (
    Array,
    Container,
    Dict,
    Known,
    Optional,
    Scalar,
    Sequence,
    Struct,
    Tuple,
    Type,
    Unknown,
    alike,
    either,
    is_array_of_a_class,
    is_container,
    is_differentiable,
    may_be_none,
    present,
    united,
)
from tangentc.core.values import data_type, type_of


def of_any_length(items: Seq[Type], fresh: Fresh) -> Type:
    """The type of a tuple that has as many items as the trips of a loop put into it."""
    return Sequence(builtins.tuple, (joined(items, fresh),) if items else (), None)


def is_nothing(t: Type) -> bool:
    """Whether no value has come here yet."""
    return isinstance(t, Known) and t.value is ops.UNDEFINED


def lacks_something(t: Type) -> bool:
    """Whether no value has come here yet, or to a part of it."""
    return is_nothing(t) or is_container(t) and any(map(lacks_something, t.items))


def joined(items: Seq[Type], fresh: Fresh) -> Type:
    """One type for several values; what is not there yet does not count."""
    out: Type = Known(Const(ops.UNDEFINED))
    fresh = fresh if isinstance(fresh, _Pairs) else _Pairs(fresh)
    for t in items:
        if is_nothing(t):
            continue
        out = t if is_nothing(out) else join(out, t, fresh)
    return out


def put(t: Type, key: Hashable, item: Type, resizes: bool, fresh: Fresh) -> Type:
    """The type of a container into which an item is put; ``key`` is '*' where it is not known."""
    new = _put(t, key, item, resizes, fresh)
    if isinstance(t, (Sequence, Dict)) and isinstance(new, (Sequence, Dict)):
        return replace(new, stands_for=t.stands_for)
    if isinstance(t, Struct) and isinstance(new, Struct):
        return replace(new, unsure=t.unsure | set(new.fields) - set(t.fields))
    return new


def _put(t: Type, key: Hashable, item: Type, resizes: bool, fresh: Fresh) -> Type:
    undefined = is_nothing(item)
    match t:
        case Sequence(kind, items, length) if kind is not dict:
            if undefined and not resizes:
                return t
            if undefined:
                return Sequence(kind, items[:1] if len(items) == 1 else (joined(items, fresh),) if items else (), None)
            if not resizes and length is not None and isinstance(key, int) and -length <= key < length:
                parts = list(items * (length if len(items) == 1 else 1))
                parts[key] = joined((parts[key], item), fresh)
                return Sequence(kind, alike(tuple(parts)), length)
            return Sequence(kind, (joined((*items, item), fresh),), None if resizes else length)
        case Sequence(kind, items, _):
            return Sequence(kind, (joined((*items, item), fresh),), None, t.key)
        case Dict(keys, items) if key == "*":
            made = of_any_keys(t, fresh)
            return made if undefined else put(made, key, item, resizes, fresh)
        case Dict(keys, items) if undefined:
            return t
        case Dict(keys, items) if key in keys:
            k = keys.index(key)
            return Dict(keys, (*items[:k], joined((items[k], item), fresh), *items[k + 1 :]))
        case Dict(keys, items):
            return Dict((*keys, key), (*items, item))
        case Struct(cls, fields, items) if key in fields:
            k = fields.index(key)
            return Struct(cls, fields, (*items[:k], joined((items[k], item), fresh), *items[k + 1 :]))
        case Struct(cls, fields, items) if isinstance(key, str) and key != "*":
            return Struct(cls, (*fields, key), (*items, item))
    return t


def of_any_keys(t: Dict, fresh: Fresh) -> Sequence:
    """The type of a dict of which nobody says which keys it has."""
    kinds = [type_of(k) for k in t.keys]
    items, key = (joined(t.items, fresh),) if t.items else (), joined(kinds, fresh) if kinds else None
    return Sequence(dict, items, None, key, t.sites, stands_for=t.stands_for)


def with_key(t: Type, key: Type, fresh: Fresh) -> Type:
    """The type of a dict of computed keys with one more kind of key."""
    if not isinstance(t, Sequence) or t.kind is not dict or is_nothing(key):
        return t
    if isinstance(key, Scalar):
        key = dataclasses.replace(key, value=None)
    return dataclasses.replace(t, key=key if t.key is None else join(t.key, key, fresh))


def _is_function(value: object) -> bool:
    return callable(value) and not isinstance(value, type)


def optional(t: Type) -> Type:
    """The type of None or a value of a type; what recursive functions save grows without end."""
    if isinstance(t, Optional):
        return t
    if is_container(t) and _depth(t) <= 3:
        return t
    return Optional(MIXED, t) if isinstance(t, (Scalar, Array)) else Unknown(MIXED)


def _depth(t: Type) -> int:
    """How many containers lie in one another."""
    return 1 + max(map(_depth, t.items), default=0) if is_container(t) else 0


def array_or_number(a: Type, b: Type) -> Array | None:
    """The type of a value that is an array on one path and a number on another; None for other types."""
    if isinstance(a, Scalar):
        a, b = b, a
    if not (isinstance(a, Array) and a.shape and isinstance(b, Scalar)) or "str" in (a.dtype, b.dtype):
        return None
    kinds = "iufc".find(np.dtype(a.dtype).kind), "iufc".find(np.dtype(b.dtype).kind)
    if min(kinds) < 0:
        return None
    dtype = a.dtype if b.weak and kinds[1] <= kinds[0] else np.result_type(a.dtype, b.dtype).name
    return Array(dtype, a.shape, "?")


MIXED = "it is of different types on different paths"
LISTED = "it is a list or an array, according to the path"  # of what a derivative may flow through


def is_mixed(t: Type) -> bool:
    """Whether a value, or one that it holds, is of different types on different paths."""
    return t in (Unknown(MIXED), Unknown(LISTED)) or is_container(t) and any(map(is_mixed, t.items))


class _Pairs:
    """New lengths for what is joined: where two lengths meet that have met, one is as long as the other."""

    def __init__(self, fresh: Fresh):
        self.fresh = fresh
        self.met: dict[tuple[Dim, Dim], Length] = {}

    def __call__(self) -> Length:
        return self.fresh()

    def of(self, x: Dim, y: Dim) -> Length:
        if any(isinstance(d, Length) and d.symbol.startswith("?") and d not in self.met.values() for d in (x, y)):
            return new_length(x, y, self.fresh)  # one that stands in a list may be another one for each item
        if (x, y) not in self.met:
            self.met[x, y] = new_length(x, y, self.fresh)
        return self.met[x, y]


def new_length(x: Dim, y: Dim, fresh: Fresh) -> Length:
    """A length that is one of two."""
    return fresh().from_(min(d if isinstance(d, int) else d.least for d in (x, y)))


def _either(x: Dim, y: Dim, fresh: Fresh) -> Length:
    return fresh.of(x, y) if isinstance(fresh, _Pairs) else new_length(x, y, fresh)


def join(a: Type, b: Type, fresh: Fresh) -> Type:
    """The type of a value that is an ``a`` on one path and a ``b`` on another.  In what a container holds, lengths that
    are equal in both are equal."""
    if is_container(a) and not isinstance(fresh, _Pairs):
        fresh = _Pairs(fresh)
    t = united(a, b) if a is b or a == b else _join(a, b, fresh)
    if not isinstance(t, Container):
        return t
    if isinstance(t, (Sequence, Dict)):
        kinds = {standing_for(x) for x in (a, b) if isinstance(x, (Sequence, Dict))} or {None}
        if len(kinds) > 1:
            return Unknown(MIXED)
        kind = kinds.pop()
        t = t if t.stands_for == kind else replace(t, stands_for=kind)
    if not t.or_none and (_with_none(a) or _with_none(b)):
        t = replace(t, or_none=True)
    sites = getattr(a, "sites", frozenset()) | getattr(b, "sites", frozenset())
    return t if isinstance(t, Tuple) or t.sites == sites else replace(t, sites=sites)


def _with_none(t: Type) -> bool:
    return may_be_none(t) or isinstance(t, Known) and t.value is None


def _kind(dtype: str) -> str:
    """Whether a dtype is one of integers, of real or of complex numbers."""
    return {"b": "i", "u": "i"}.get(kind := np.dtype(dtype).kind, kind)


def _join(a: Type, b: Type, fresh: Fresh) -> Type:
    a, b = _as_number(a), _as_number(b)
    match a, b:
        case Scalar(), Scalar():
            return _join_numbers(a, b)
        case Array(), Array() if len(a.shape) == len(b.shape):
            shape = tuple(x if x == y else _either(x, y, fresh) for x, y in zip(a.shape, b.shape, strict=True))
            kind = a.or_number if a.or_number == b.or_number else "?"
            narrower = a.or_narrower or b.or_narrower or _kind(a.dtype) != _kind(b.dtype)
            return Array(np.result_type(a.dtype, b.dtype).name, shape, kind, narrower)
        case Tuple(), Tuple() if len(a.items) == len(b.items) and a.cls is b.cls:
            return Tuple(tuple(join(x, y, fresh) for x, y in zip(a.items, b.items, strict=True)), a.cls)
        case ((Tuple(cls=None) | Sequence(kind=builtins.tuple)), (Tuple(cls=None) | Sequence(kind=builtins.tuple))):
            return of_any_length((*a.items, *b.items), fresh)
        case Dict(), Dict() if a.keys == b.keys:
            return Dict(a.keys, tuple(join(x, y, fresh) for x, y in zip(a.items, b.items, strict=True)))
        case (Dict(), Dict()) | (Dict(), Sequence(kind=builtins.dict)) | (Sequence(kind=builtins.dict), Dict()):
            a, b = (of_any_keys(t, fresh) if isinstance(t, Dict) else t for t in (a, b))
            return join(a, b, fresh)
        case Struct(), Struct() if a.cls is b.cls:  # an attribute may be assigned later
            parts = [dict(zip(t.fields, t.items, strict=True)) for t in (a, b)]
            fields = tuple(dict.fromkeys((*a.fields, *b.fields)))
            items = tuple(joined([p[f] for p in parts if f in p], fresh) for f in fields)
            return Struct(a.cls, fields, items, unsure=a.unsure | b.unsure | parts[0].keys() ^ parts[1].keys())
        case Sequence(), Sequence() if a.key != b.key:
            keys = [k for k in (a.key, b.key) if k is not None]
            one = joined(keys, fresh)
            return join(dataclasses.replace(a, key=one), dataclasses.replace(b, key=one), fresh)
        case Sequence(), Sequence() if a.kind is b.kind and len(a.items) == len(b.items) and a.length == b.length:
            items = tuple(join(x, y, fresh) for x, y in zip(a.items, b.items, strict=True))
            return Sequence(a.kind, items, a.length, a.key)
        case Sequence(), Sequence() if a.kind is b.kind:
            every = (*a.items, *b.items)
            return Sequence(
                a.kind, (joined(every, fresh),) if every else (), a.length if a.length == b.length else None, a.key
            )
    return _join_known(a, b, fresh)


def _as_number(t: Type) -> Type:
    """The type of a number of axes as one of any integer, which it is where it may be another one."""
    return Scalar("int64", True) if isinstance(t, Known) and type(t.value) is int else t


def _join_numbers(a: Scalar, b: Scalar) -> Type:
    """A number of Python's takes the dtype of one of NumPy's; a text is no number."""
    if a.dtype.startswith("str") or b.dtype.startswith("str"):
        return Scalar("str", True) if a.dtype.startswith("str") and b.dtype.startswith("str") else Unknown(MIXED)
    dtype = np.result_type(a.dtype, b.dtype).name if a.dtype != b.dtype else a.dtype
    kinds = {np.dtype(a.dtype).kind, np.dtype(b.dtype).kind}
    if a.weak and not b.weak and kinds <= set("biuf") and np.dtype(b.dtype).kind == "f":
        dtype = b.dtype
    if b.weak and not a.weak and kinds <= set("biuf") and np.dtype(a.dtype).kind == "f":
        dtype = a.dtype
    return Scalar(dtype, a.weak and b.weak, None)


def _join_known(a: Type, b: Type, fresh: Fresh) -> Type:
    """Of values of which one is known, or is None."""
    match a, b:
        case Known(value=tuple()), Known(value=tuple()) | Tuple():
            return join(data_type(a.value), b if isinstance(b, Tuple) else data_type(b.value), fresh)
        case ((Tuple() | Sequence(kind=builtins.tuple)), Known(value=tuple())):
            return join(a, data_type(b.value), fresh)
        case Known(value=tuple()), Sequence(kind=builtins.tuple):
            return join(data_type(a.value), b, fresh)
        case Known(), Known() if type(a.value) is type(b.value) and isinstance(a.value, (str, bool)):
            return Scalar("bool" if isinstance(a.value, bool) else "str", True)
        case Known(), Known() if _is_function(a.value) and _is_function(b.value):
            return Known(Const(either(a.value, b.value)))
        case (Known(value=None), other) | (other, Known(value=None)) if not isinstance(other, Known):
            return optional(other)
        case (Optional(type=a), b) | (b, Optional(type=a)):
            inner = join(a, present(b), fresh)
            return optional(inner)
        case (Scalar(dtype="bool"), Known(value=bool())) | (Known(value=bool()), Scalar(dtype="bool")):
            return Scalar("bool", True)
        case (Scalar(dtype="str"), Known()) | (Known(), Scalar(dtype="str")):
            return Scalar("str", True)
    of_a_class = [t for t in (a, b) if is_array_of_a_class(t)]  # which it may be
    if of_a_class:
        return of_a_class[0]
    listed = Unknown(LISTED) in (a, b) or any(map(_is_listed, (a, b), (b, a)))
    return Unknown(LISTED if listed else MIXED)


def _is_listed(a: Type, b: Type) -> bool:
    return isinstance(a, (Sequence, Tuple)) and isinstance(b, Array) and is_differentiable(a) and is_differentiable(b)
