"""What a statement raises, as far as the types of its arguments say.

x.shape[0]     of an array: nothing             x.shape     of a number of Python's: AttributeError
H @ x          of lengths that fit: nothing     len(x)      of a number: TypeError
1 / s          of a number: only the run knows
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Sequence as Seq

import numpy as np

from tangentc.analysis.fits import PRODUCTS, fit, may_raise
from tangentc.analysis.joins import is_nothing
from tangentc.analysis.sampling import exceptions_of
from tangentc.analysis.state import State
from tangentc.core import ops
from tangentc.core.classes import found_in_class
from tangentc.core.lengths import Dim, Length
from tangentc.core.nodes import Assign, Atom, Const, Leave, Op, Opaque, Statement, Store
from tangentc.core.types import (
    Array,
    Dict,
    Known,
    Optional,
    Scalar,
    Sequence,
    Struct,
    Tuple,
    Type,
    Unknown,
    may_be_none,
)

BY_TYPE = {TypeError, AttributeError}  # which no other value of the same types avoids; of numbers that are given to
# NumPy for an array, any exception is one
MAKES = {np.eye, np.zeros, np.ones, np.empty, np.identity}


def exception_of(block: Seq[Statement], types: State) -> type[BaseException] | bool | None:
    """The exception that statements surely raise, False if they raise none; None where only the run knows."""
    for s in block:
        found = _raised(s, types)
        if found is not False:
            return found
    return False


def _raised(s: Statement, types: State) -> type[BaseException] | bool | None:
    match s:
        case Opaque():
            return getattr(s.tree, "surely", None)
        case Leave(kind="return"):
            return False
        case Store(key=Const(value=ops.Attribute())):
            return False if isinstance(types.of(s.object), Struct) else None
        case Store(key=str() | Const() as key):
            return _stored(types.of(s.object), types.of(key), types.of(s.value))
        case Assign(op=ops.assumed):
            return False
        case Assign(keywords=()) if not isinstance(s.op, (ops.UserFunction, ops.Emitted, ops.augmented)):
            given = types.args_at.get(id(s), (None,) * len(s.args))
            return _computed(s, [types.of(a) if t is None else t for a, t in zip(s.args, given, strict=True)], types)
    return None


def _stored(t: Type, key: Type, value: Type) -> type[BaseException] | bool | None:
    """What a store into an item raises: of a number TypeError; of an array at a mask of its own shape nothing."""
    if isinstance(t, Scalar):
        return TypeError
    is_mask = isinstance(t, Array) and isinstance(key, Array) and key.dtype == "bool" and key.shape == t.shape
    return False if is_mask and not any(map(_is_open, t.shape)) and isinstance(value, Scalar) else None


def _is_open(d: Dim | None) -> bool:
    return isinstance(d, Length) and not d.many


def _computed(s: Assign, given: list[Type], types: State) -> type[BaseException] | bool | None:
    if any(type(t) is Unknown or isinstance(t, Optional) or is_nothing(t) or may_be_none(t) for t in given):
        return None
    if _is_safe(s, given, types):
        return False
    if s.op is operator.getitem and _is_missing(given[0], s.args[1]):
        return IndexError
    if s.op is builtins.getattr and len(s.args) == 2 and _lacks(given[0], s.args[1]):
        return AttributeError
    if not given or not isinstance(given[0], (Scalar, Array)) and not (_is_arithmetic(s.op) and _is_none(given[0])):
        return None  # what a container raises, its items decide
    found = exceptions_of(s.op, given) if ops.is_pure(s.op) else set()
    numbers = all(isinstance(t, Scalar) and t.dtype != "str" for t in given)
    by_type = found <= BY_TYPE or numbers and ops.module_root(s.op) in ("numpy", "scipy")
    return found.pop() if len(found) == 1 and by_type else None


def _is_safe(s: Assign, given: list[Type], types: State) -> bool:
    """Whether an operation raises for no values of these types."""
    op = s.op
    if op is builtins.getattr:
        if isinstance(given[0], Struct) and isinstance(s.args[1], Const) and s.args[1].value in given[0].unsure:
            return False
        return not isinstance(types.of(s.target), Unknown) and not is_nothing(types.of(s.target))
    if op is operator.getitem:
        return _is_there(given[0], s.args[1])
    if op is builtins.len:
        return isinstance(given[0], (Tuple, Sequence, Dict)) or isinstance(given[0], Array) and bool(given[0].shape)
    if op in MAKES:
        return all(_is_length(t) for t in given)
    if not all(isinstance(t, (Scalar, Array, Known, Tuple, Sequence)) for t in given):
        return False
    if _is_arithmetic(op) and not all(isinstance(t, (Scalar, Array)) for t in given):
        return False  # of texts, of lists, of None
    if not ops.is_pure(op) or op not in PRODUCTS and may_raise(s, types):
        return False
    return fit(op, given, sure=True) is True


def _is_arithmetic(op: Op) -> bool:
    return op in ops.BINARY or op in ops.UNARY


def _is_none(t: Type) -> bool:
    return isinstance(t, Known) and t.value is None


def _is_length(t: Type) -> bool:
    """Whether this is a number of entries that arrays have, or several."""
    if isinstance(t, Tuple):
        return all(map(_is_length, t.items))
    value = t.value if isinstance(t, (Scalar, Known)) else None
    return isinstance(value, Length) or type(value) is int and value >= 0


def _is_there(t: Type, key: Atom) -> bool:
    """Whether an item with a known key is surely there."""
    if not isinstance(key, Const):
        return False
    match t:
        case Dict(keys, _):
            return key.value in keys
        case Tuple(items, _):
            return _is_within(key.value, len(items))
        case Sequence(_, _, length):
            return _is_within(key.value, length)
        case Array(_, shape):
            parts = key.value if isinstance(key.value, tuple) else (key.value,)
            return len(parts) <= len(shape) and all(map(_is_within, parts, shape))
    return False


def _lacks(t: Type, name: Atom) -> bool:
    """Whether an object has no such attribute: all that its own are is known at any point."""
    if not isinstance(t, Struct) or not isinstance(name, Const) or name.value in t.fields:
        return False
    return not found_in_class(t.cls, name.value)[0] and not hasattr(t.cls, "__getattr__")


def _is_missing(t: Type, key: Atom) -> bool:
    """Whether an index is surely beyond the end of a tuple, or one of more axes than there are."""
    value = key.value if isinstance(key, Const) else None
    if isinstance(t, Tuple):
        return type(value) is int and not _is_within(value, len(t.items))
    parts = value if isinstance(value, tuple) else (value,)
    return isinstance(t, Array) and all(type(v) is int for v in parts) and len(parts) > len(t.shape)


def _is_within(part: object, length: Dim | None) -> bool:
    if isinstance(part, slice):
        return True
    return type(part) is int and isinstance(length, int) and -length <= part < length
