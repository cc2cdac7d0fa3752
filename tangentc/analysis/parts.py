"""The type of a part of a value: an item, what a subscript takes, an attribute."""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence as Seq
from dataclasses import replace
from typing import Any

import numpy as np

from tangentc.analysis.asking import by_sample
from tangentc.analysis.joins import joined
from tangentc.analysis.sampling import Fresh
from tangentc.core import ops
from tangentc.core.lengths import EXACT, Dim, Length, least_left, least_of
from tangentc.core.nodes import Const
from tangentc.core.types import (
    Array,
    Dict,
    Known,
    Opaque,
    Scalar,
    Sequence,
    Struct,
    Tuple,
    Type,
    Unknown,
    alike,
    is_basic,
    is_slice,
    lengths,
)
from tangentc.core.values import data_type, type_of


def item_type(t: Type, fresh: Fresh) -> Type:
    """The type of what iterating over a value gives."""
    match t:
        case Known(const) if const.value is ops.UNDEFINED:
            return t
        case Known(const) if isinstance(const.value, range):
            return Scalar("int64", True)
        case Known(const) if isinstance(const.value, str):
            return Unknown("a letter")
        case Known(const) if isinstance(const.value, (tuple, list)):
            return joined([data_type(v) for v in const.value], fresh)
        case Array(dtype, shape) if shape:
            return Array(dtype, shape[1:]) if len(shape) > 1 else Scalar(dtype)
        case Sequence(kind, _, _) if kind is dict:
            return t.key or Unknown("a key of a dict")
        case Dict(keys, _):
            return joined([type_of(k) for k in keys], fresh)
        case Sequence(_, items, _) | Tuple(items, _):
            return joined(items, fresh)
    return Unknown("what the loop gives is not known")


def gives_keys(t: Type) -> bool:
    """Whether a loop over a value of this type runs over the keys of a dict."""
    return isinstance(t, Dict) or isinstance(t, Sequence) and t.kind is dict


def taken(args: Seq[Type], fresh: Fresh) -> Type:
    """The type of what ``pop`` gives, and of an item that is overwritten."""
    t = args[0]
    if isinstance(t, Struct):
        name = str(constant(args[1]))
        return t.items[t.fields.index(name)] if name in t.fields else Known(Const(ops.UNDEFINED))
    if len(args) > 1:
        return subscript(t, args[1], fresh)
    return item_type(t, fresh)


def length_of(t: Type) -> Type | None:
    match t:
        case Array(_, shape) if shape:
            return int_of(shape[0])
        case Tuple(items, _) | Dict(_, items):
            return int_of(len(items))
        case Sequence(_, _, length) if length is not None:
            return int_of(length)
        case Sequence():
            return Scalar("int64", True)
    return None


def int_of(d: Dim) -> Scalar:
    return Scalar("int64", True, d if isinstance(d, int) or d.many else None)


def attribute_of(t: Type, name: str, fresh: Fresh) -> Type:
    match t:
        case Array(or_narrower=True) if name == "dtype":
            return Opaque("it is another one on another path", np.dtype)
        case Array(dtype, _) | Scalar(dtype, False, _) if name == "dtype":
            return Known(Const(np.dtype(dtype)))
        case Array(_, shape) if name == "shape":
            return Tuple(tuple(int_of(d) for d in shape))
        case Array(_, shape, or_number="") if name == "ndim":
            return Known(Const(len(shape)))
        case Array(_, shape) if name == "ndim":
            return int_of(len(shape))
        case Array(_, shape) if name == "size" and all(isinstance(d, int) for d in shape):
            return int_of(int(np.prod(shape)))  # type: ignore[arg-type]
        case Array() if name == "flat":
            return by_sample(np.ravel, [t], {}, fresh)
        case Array(_, (d,)) if name == "size":
            return int_of(d)
        case Struct(_, fields, items) if name in fields:
            return items[fields.index(name)]
        case Struct():
            return Known(Const(ops.UNDEFINED))
        case Tuple(items, cls) if cls is not None and name in getattr(cls, "_fields", ()):
            return items[cls._fields.index(name)]  # type: ignore[attr-defined]
        case Tuple(items, cls) if cls is not None and name in getattr(cls, "__match_args__", ()):  # `sys.float_info`
            return items[cls.__match_args__.index(name)]  # type: ignore[attr-defined]
        case Tuple(_, cls) if cls is not None and hasattr(cls, name):
            return Unknown(f"the attribute {name} of a {cls.__name__}")
        case Known(const):
            try:
                return data_type(getattr(const.value, name))
            except AttributeError:
                return Unknown(f"there is no attribute {name}")
        case Array() | Scalar():
            return by_sample(lambda x: getattr(x, name), [t], {}, fresh)
    return Unknown(f"the attribute {name} of a value of unknown type")


def subscript(t: Type, key: Type, fresh: Fresh) -> Type:
    """The type of ``x[key]``."""
    index = constant(key)
    match t:
        case Tuple(items, _) if isinstance(index, int) and -len(items) <= index < len(items):
            return items[index]
        case Tuple(items, _) if isinstance(index, slice):
            return Tuple(items[index])
        case Tuple(items, None) if items and isinstance(key, Scalar):
            return item_type(t, fresh)
        case Sequence():
            return _list_subscript(t, key, fresh)
        case Dict(_, items) if isinstance(key, Scalar) and index is None and items:
            return joined(items, fresh)
        case Dict(keys, items) if index is not None and index in keys:
            return items[keys.index(index)]
        case Dict(keys, _) if not keys or index is not None:
            return Known(Const(ops.UNDEFINED))  # nothing is there yet
        case Array():
            return _array_subscript(t, key, fresh)
        case Known(Const(value=None)):
            return Known(Const(ops.UNDEFINED))
        case Known(const) if index is None and isinstance(const.value, str) and isinstance(key, Scalar):
            return Scalar("str", True)
        case Scalar(dtype="str") if isinstance(key, Scalar):
            return t
        case Scalar() if isinstance(key, Scalar) and key.dtype != "bool" or isinstance(key, Array) and key.shape:
            return Known(Const(ops.UNDEFINED))  # a number has no items
        case Known(const) if const.value == range(0):  # which stands for all whose bounds are not known
            return t if is_slice(key) else item_type(t, fresh)
        case Known(const) if index is None and isinstance(const.value, (tuple, list)) and isinstance(key, Scalar):
            return item_type(t, fresh)
        case Known(const) if const.value is np.mgrid or const.value is np.ogrid:
            return by_sample(operator.getitem, [t, key], {}, fresh)
        case Known(const) if index is not None:
            try:
                return data_type(const.value[index])
            except (TypeError, LookupError):
                pass
    return Unknown("which item is taken is not known")


def _list_subscript(t: Sequence, key: Type, fresh: Fresh) -> Type:
    index, kind, items = constant(key), t.kind, t.items
    if isinstance(key, Tuple) and key.cls is slice and index is None:
        return Sequence(kind, (joined(items, fresh),) if items else (), None)
    if isinstance(index, slice):
        if t.length is None:
            return Sequence(kind, items, None)
        cut = (items * t.length if len(items) == 1 else items)[index]
        return Sequence(kind, alike(cut), len(cut))
    if isinstance(index, int) and t.length is not None and not -t.length <= index < t.length and kind is not dict:
        return Known(Const(ops.UNDEFINED))  # there is none
    if len(items) == 1:
        return items[0]
    if not items:
        return Known(Const(ops.UNDEFINED))
    if isinstance(index, int) and -len(items) <= index < len(items):
        return items[index]
    return item_type(t, fresh) if isinstance(key, Scalar) else Unknown("which item is taken is not known")


def constant(key: Type) -> Any:
    if isinstance(key, Known):
        return key.value
    if isinstance(key, Scalar) and isinstance(key.value, int):
        return key.value
    if isinstance(key, Tuple) and key.cls is slice:
        ends = [constant(end) for end in key.items]
        known = all(isinstance(end, Known) or value is not None for end, value in zip(key.items, ends))
        return slice(*ends) if known and all(value is None or type(value) is int for value in ends) else None
    return None


def _array_subscript(t: Array, key: Type, fresh: Fresh) -> Type:
    parts = list(key.items) if isinstance(key, Tuple) and key.cls is not slice else [key]
    if isinstance(key, Known) and isinstance(key.value, tuple):
        parts = [type_of(part) for part in key.value]
    if any(isinstance(part, Known) and isinstance(part.value, range) for part in parts):  # which stands for an array
        whole = not isinstance(key, Tuple)
        parts = [_positions(part, fresh) for part in parts]
        key = parts[0] if whole else Tuple(tuple(parts))
    if not all(is_basic(part) for part in parts):
        return by_sample(operator.getitem, [t, key], {}, fresh)
    wanted = sum(1 for p in parts if not (isinstance(p, Known) and (p.value is None or p.value is ...)))
    if wanted > len(t.shape):
        return Unknown("too many subscripts")
    dims = list(t.shape)
    out: list[Dim] = []
    whole = False  # with `...` the result is a view, also if it has no axes
    for part in parts:
        value = part.value if isinstance(part, Known) else None
        if isinstance(part, Known) and value is None:
            out.append(1)
        elif value is ...:
            whole = True
            keep = len(t.shape) - wanted
            out.extend(dims[:keep])
            dims = dims[keep:]
        elif isinstance(value, slice):
            out.append(_slice_length(dims.pop(0), value, fresh))
        elif isinstance(part, Tuple):  # a slice whose bounds are names
            d = dims.pop(0)
            taken = None if part.bounds is None else _between(part.bounds, d)
            taken = taken if taken is not None or part.span is None else _span_of(part.span, d, part.bounds)
            out.append(fresh() if taken is None else taken)
        else:
            dims.pop(0)
    out.extend(dims)
    return Array(t.dtype, tuple(out)) if out or whole else Scalar(t.dtype)


def _span_of(span: Length, d: Dim, bounds: tuple[Dim | None, Dim | None] | None) -> Length:
    """How much of an axis a slice takes of whose bounds no more is known than which others have the same; one that
    begins where the axis does takes all that is before its end, or all of the axis."""
    found = Length(f"{span.symbol}.{d}" if isinstance(d, int) else f"{span.symbol}.{_said(d)}")
    first, last = bounds or (1, None)
    if last is None and first is not None:
        return found.from_(least_left(d, first) or 0)
    if first or last is None:
        return found
    return found.from_(min(d if isinstance(d, int) else d.least for d in (d, last)))


def _said(d: Length) -> str:
    return f"{d.symbol}{d.offset:+}" if d.times == 1 else f"{d.times}*{d.symbol}{d.offset:+}"


def _between(bounds: tuple[Dim | None, Dim | None], d: Dim) -> Dim | None:
    """How much of an axis lies between lengths of one symbol, None where that is not known."""
    first, last = bounds[0] or 0, d if bounds[1] is None else bounds[1]
    if _gap(0, first) is None or _gap(last, d) is None and least_left(d, last) is None:
        return None
    return _gap(first, last)


def _gap(a: Dim, b: Dim) -> Dim | None:
    """How much longer ``b`` is than ``a``, None where it may be shorter, or that is not known."""
    if isinstance(a, int) and isinstance(b, int):
        return b - a if b >= a else None
    symbols = {d.symbol for d in (a, b) if isinstance(d, Length)}
    if len(symbols) > 1:
        return None
    (symbol,) = symbols
    (p, m), (q, n) = ((d.offset, d.times) if isinstance(d, Length) else (d, 0) for d in (a, b))
    if n == m:
        return q - p if q >= p else None
    found = Length(symbol, q - p, n - m)
    return found if n > m and found.times * least_of(symbol) + found.offset >= 0 else None


def _positions(part: Type, fresh: Fresh) -> Type:
    is_range = isinstance(part, Known) and isinstance(part.value, range)
    return Array("int64", (fresh(),)) if is_range else part


def numbers_in(*types: Type) -> list[int]:
    """The numbers of the lengths that only the run knows, whose symbols may be made of several."""
    symbols = (d.symbol for d in lengths(*types) if isinstance(d, Length))
    return [int(n) for symbol in symbols for n in re.findall(r"\?(\d+)", symbol)]


def _what_is_left(d: Length, s: slice) -> Length:
    """How much a slice takes of an axis that may be short: ``u[2:]``, ``u[1:-1]`` and ``u[:-2]`` as much as each other,
    others as much as the same slices of axes that are as long."""
    start, stop = s.start or 0, s.stop or 0
    grows = s.step in (None, 1) and not start < 0 < stop  # with the axis
    least = len(range(d.least)[s]) if grows else 0
    if s.step in (None, 1) and start >= 0 >= stop and s.stop != 0:
        return Length(f"?{start - stop - d.offset} less of {_said(replace(d, offset=0))[:-2]}").from_(least)
    return Length(f"?[{s.start}:{s.stop}:{s.step}] of {_said(d)}").from_(least)


def _slice_length(d: Dim, s: slice, fresh: Fresh) -> Dim:
    bounds = [b for b in (s.start, s.stop) if b is not None]
    if isinstance(d, int):
        return len(range(d)[s]) if all(isinstance(b, int) for b in bounds) else fresh()
    step = 1 if s.step is None else s.step
    least = d.times * least_of(d.symbol)
    if not d.many or abs(step) != 1 or any(abs(b) + abs(d.offset) > least - 2 for b in bounds):
        whole = s == slice(None) or s == slice(None, None, -1)
        return d if whole else fresh() if " of " in d.symbol else _what_is_left(d, s)
    short, large = (len(range(d.where(k * EXACT))[s]) for k in (10, 20))
    return short if short == large else replace(d, offset=short - 10 * EXACT * d.times)
