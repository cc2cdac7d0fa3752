"""What a derivative by a value is made of: tangents, cotangents and blocks of Jacobians have the parts of the value.

Numbers and arrays that move have a part of their own shape, integers 0.0, and what does not move None.  An object of a
plain class is a dict of the paths in it, "layer.W", and a namespace where it is inside a container.
"""

from __future__ import annotations

import dataclasses
import types as pytypes
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tangentc import runtime
from tangentc.core.types import (
    Array,
    Dict,
    Scalar,
    Sequence,
    Struct,
    Tuple,
    Type,
    components,
    is_complex,
    is_container,
    is_differentiable,
)
from tangentc.core.values import SIGHT, attributes_of
from tangentc.errors import BadArgument, BadSeed


def is_plain(t: Type) -> bool:
    """Whether a value is an object whose class does not say what it consists of, as a dataclass does."""
    return isinstance(t, Struct) and not dataclasses.is_dataclass(t.cls)


def steps(t: Type, path: str, function: str) -> tuple[list[str | int], Type]:
    """The keys on the way to a path of attributes, and the type of what is there."""
    keys: list[str | int] = []
    for name in path.split(".") if path else ():
        names = t.fields if isinstance(t, Struct) else getattr(getattr(t, "cls", None), "_fields", ())
        if not isinstance(t, (Struct, Tuple)) or name not in names:
            raise BadArgument(
                f"wrt={path!r} is not an attribute of the argument of {function}",
                why=f"{name} is not among its attributes", way_out="name an attribute that holds numbers",
            )  # fmt: skip
        k = names.index(name)
        keys.append(name if isinstance(t, Struct) else k)
        t = t.items[k]
    return keys, t


def part(t: Type, value: Any, key: Any) -> Any:
    """The part of a value of this type, or of what was made by it; None where that says nothing of an object's part."""
    if isinstance(t, Struct) and isinstance(value, dict):
        inside = {path[len(key) + 1 :]: v for path, v in value.items() if path.startswith(f"{key}.")}
        return value.get(key, inside or None)
    if isinstance(t, Struct):
        return getattr(value, key, None)
    return None if value is None else value[key]


def leaves(t: Type, value: Any, inside: bool = False) -> list[Any]:
    """What stands in a value, or in what was made by it, at the places of the numbers that move."""
    if is_container(t):
        within = inside or not is_plain(t)
        return [leaf for key, p in _parts(t, inside) for leaf in leaves(p, part(t, value, key), within)]
    return [value] if is_differentiable(t) else []


def formed(t: Type, of_leaf: Callable[[], Any], still: Any = None, inside: bool = False) -> Any:
    """What `grad` gives by such a value, with other leaves; ``still`` is that of an integer.

    >>> from tangentc.core.values import type_of
    >>> ones = iter([1.0, 2.0])
    >>> formed(type_of({"w": 2.0, "n": 3, "by": (0.5, "x")}), lambda: next(ones), still=0.0)
    {'w': 1.0, 'n': 0.0, 'by': (2.0, None)}
    """
    if not is_container(t):
        return of_leaf() if is_differentiable(t) else still if isinstance(t, Scalar) else None
    if is_plain(t) and not inside:
        return dict(_paths(t, of_leaf, still))
    return _rebuilt(t, [formed(p, of_leaf, still, True) for _, p in components(t)])


def _paths(t: Type, of_leaf: Callable[[], Any], still: Any) -> Iterator[tuple[str, Any]]:
    for name, p in _parts(t, False):
        found = formed(p, of_leaf, still, not is_plain(p))
        if is_differentiable(p):
            yield from ((f"{name}.{k}", v) for k, v in found.items()) if is_plain(p) else [(name, found)]


def _parts(t: Type, inside: bool) -> Iterator[tuple[Any, Type]]:
    """The parts that have a derivative: of an object not what is only written into."""
    left = SIGHT.get().written if is_plain(t) and not inside else ()
    return ((key, p) for key, p in components(t) if key not in left)


def _rebuilt(t: Type, parts: list[Any]) -> Any:
    match t:
        case Tuple(_, cls):
            return tuple(parts) if cls is None else cls(*parts)
        case Sequence(kind=kind):
            return kind(parts)
        case Dict(keys):
            return dict(zip(keys, parts, strict=True))
    assert isinstance(t, Struct)
    made = runtime.blank(pytypes.SimpleNamespace if is_plain(t) else t.cls)  # type: ignore[no-untyped-call]
    for name, p in zip(t.fields, parts, strict=True):
        object.__setattr__(made, name, p)  # no __init__, which may take other arguments, and change them
    return made


def completed(t: Type, value: Any, given: Any, said: tuple[str, str, str]) -> Any:
    """A tangent or a seed as written code takes it: zeros for what it leaves out, an object as a namespace.

    It may leave out parts of objects, and have None for any part.  Another structure is left as it is.  ``said`` is
    whose it is, what it is, and of what it is one, for messages.
    """
    if not is_container(t):
        return given if given is not None else _zero(t, value)
    if isinstance(given, dict) and isinstance(t, Struct):
        _refuse_other_paths(value, given, said)
    elif given is not None and not _is_alike(t, value, given):
        return given
    parts = [completed(p, part(t, value, k), part(t, given, k), said) for k, p in components(t)]
    return _rebuilt(t, parts)


def _is_alike(t: Type, value: Any, given: Any) -> bool:
    """Whether what is given has the structure of a value at the top."""
    if isinstance(t, Struct):
        return bool(attributes_of(given))
    if isinstance(t, Dict):
        return isinstance(given, dict) and given.keys() == value.keys()
    return isinstance(given, (list, tuple)) and len(given) == len(value)


def _zero(t: Type, value: Any) -> Any:
    if isinstance(t, Array):
        return np.zeros_like(value) if is_differentiable(t) else np.zeros_like(value, float)
    return (0j if is_complex(t) else 0.0) if isinstance(t, Scalar) else None


def _refuse_other_paths(value: Any, given: dict[Any, Any], said: tuple[str, str, str]) -> None:
    name, what, of = said
    for path in given:
        own = str(path).partition(".")[0]
        if own not in attributes_of(value) or own != path and own in given:
            raise BadSeed(
                f"the {what} of {name} has a part {path!r} that its {of} has not",
                why=f"the attributes of the {of}, {type(value).__name__}, are {', '.join(attributes_of(value))}",
                way_out="give a dict as grad gives it, of attributes or of their paths",
            )  # fmt: skip


__all__ = ["completed", "formed", "is_plain", "leaves", "part", "steps"]
