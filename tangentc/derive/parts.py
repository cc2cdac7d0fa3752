"""Adjoints part by part: the parts of a container, and a container made of them."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Hashable
from typing import Any, TypeAlias

from tangentc.core import ops
from tangentc.core.build import Builder
from tangentc.core.nodes import Atom, Const
from tangentc.core.types import Struct, Tuple, Type


def leaves(adjoint: Adjoint | None) -> list[Atom]:
    if isinstance(adjoint, dict):
        return [atom for part in adjoint.values() for atom in leaves(part)]
    return [] if adjoint is None else [adjoint]


def bar_name(x: Atom) -> str:
    return f"{x}_bar" if isinstance(x, str) else "%bar"


Adjoint: TypeAlias = "Atom | Parts"  # of a container: by its parts
Like = dict[Type, str | tuple[str, tuple[Hashable, ...]]]  # of a type, a parameter, or a part of one, that has it
Parts: TypeAlias = "dict[Hashable, Adjoint | None]"
Given: TypeAlias = "Adjoint | list[Any] | tuple[Any, ...]"  # by a rule: of each item


def get_part(b: Builder, x: Atom, key: Hashable) -> Atom:
    """The part of a container value."""
    t, made = b.type(x), b.maker(x)
    if made is not None and made.op is ops.make_struct and isinstance(t, Struct):  # which was put together just now
        return made.args[2 + t.fields.index(key)]
    if isinstance(t, Struct):
        return b.emit(builtins.getattr, (x, Const(key)))
    if isinstance(t, Tuple) and t.cls is not None:
        return b.emit(builtins.getattr, (x, Const(t.cls._fields[key])))  # type: ignore[attr-defined]
    return b.emit(operator.getitem, (x, Const(key)))
