"""Integers as values: an axis, an order or a stride may tell what its type does not."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from collections.abc import Sequence as Sequence_
from dataclasses import replace
from typing import Any

from tangentc.core.nodes import Const
from tangentc.core.types import Dict, Known, Scalar, Struct, Tuple, Type
from tangentc.errors import BadRule, MissingRule, TangentcError, UnsafeMutation, UnsupportedSyntax


def settled(
    write: Callable[[list[Type]], Any], types: list[Type], args: tuple, moving: Sequence_[int], options: tuple[int, ...]
) -> tuple[Any, tuple[int, ...]]:
    """What ``write`` makes of the types of arguments, and the arguments of which it takes the values.

    If it refuses the types, it is given the values of all integers that do not move, those of objects too: an axis, an
    order or a stride may tell what their types do not.
    """
    try:
        return write(with_values(types, args, options)), options
    except (BadRule, MissingRule, UnsafeMutation, UnsupportedSyntax):
        given = enumerate(zip(types, args))
        integers = tuple(i for i, (t, a) in given if i not in moving and _with_value(t, a) != t)
        if options or not integers:
            raise
        with contextlib.suppress(TangentcError):
            return write(with_values(types, args, integers)), integers
        raise


def _is_whole(value: Any) -> bool:
    """Whether a value is an integer, or a tuple of integers."""
    return type(value) is int or type(value) is tuple and bool(value) and all(type(v) is int for v in value)


def with_values(types: list[Type], args: tuple, options: tuple[int, ...]) -> list[Type]:
    """The types of arguments, those at some positions by their values, or with those of the integers in them."""
    return [_with_value(t, a) if i in options else t for i, (t, a) in enumerate(zip(types, args))]


def _with_value(t: Type, value: Any) -> Type:
    return Known(Const(value)) if _is_whole(value) else _with_integers(t, value)


def _with_integers(t: Type, value: Any) -> Type:
    """The type of a value with the integers that it holds, ``layer.stride``; those in lists and arrays are data."""
    match t:
        case Scalar() if type(value) is int:
            return replace(t, value=value)
        case Tuple(items, _) if items:
            return replace(t, items=tuple(map(_with_integers, items, value)))
        case Dict(keys, items):
            return replace(t, items=tuple(_with_integers(item, value[key]) for key, item in zip(keys, items)))
        case Struct(_, names, items):
            held = [getattr(value, name, None) for name in names]
            return replace(t, items=tuple(map(_with_integers, items, held)))
    return t
