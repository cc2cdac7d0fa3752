"""What the classes of the user define: attributes, methods, operators."""

from __future__ import annotations

import builtins
import dataclasses
import functools
import inspect
import math
import operator
import sys
import types as pytypes
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from tangentc.core import ops
from tangentc.core.nodes import Op
from tangentc.core.resolve import attributes_set
from tangentc.core.types import (
    Array,
    Dict,
    Known,
    Optional,
    Scalar,
    Sequence,
    StandsFor,
    Struct,
    Tuple,
    Type,
    is_container,
    may_be_none,
)


def setter_in_class(cls: type, name: str) -> Op | None:
    """The function that sets a property; None if ``name`` is not one, or cannot be set."""
    value = inspect.getattr_static(cls, name, None)
    return value.fset if isinstance(value, property) else None


def found_in_class(cls: type, name: str) -> tuple[str, Any, type | None]:
    """What ``name`` is in a class: ('method' | 'static' | 'class' | 'property' | 'data' | '', it, where)."""
    for owner in cls.__mro__:
        if name not in vars(owner):
            continue
        value = inspect.getattr_static(owner, name)
        value = getattr(value, "__tangentc_descriptor__", value)
        if isinstance(value, property):
            return "property", value.fget, owner
        if isinstance(value, staticmethod):
            return "static", value.__func__, owner
        if isinstance(value, classmethod):
            return "class", value.__func__, owner
        if isinstance(value, functools.cached_property):
            return "cached", value.func, owner
        if isinstance(value, pytypes.FunctionType) or hasattr(value, "__tangentc_function__"):
            return "method", value, owner
        if isinstance(inspect.getattr_static(type(value), "__get__", None), pytypes.FunctionType):
            return "descriptor", value, owner
        if isinstance(value, (pytypes.MemberDescriptorType, pytypes.MethodDescriptorType)):
            return "", None, None
        return "data", value, owner
    return "", None, None


def cached_as(name: str) -> str:
    """The attribute that stands for the value of a `functools.cached_property`: None until it is asked for."""
    return f"{name}_cached"


@functools.lru_cache(maxsize=1024)
def cached_properties(cls: type) -> tuple[str, ...]:
    return tuple(n for c in cls.__mro__ for n, v in vars(c).items() if isinstance(v, functools.cached_property))


@functools.lru_cache(maxsize=1024)
def set_by_methods(cls: type) -> frozenset[str]:
    """The names of what a class has that its methods give an object a value of its own for."""
    members = [value for c in cls.__mro__ for value in vars(c).values()]
    made = (getattr(value, "fget", None) or getattr(value, "__func__", value) for value in members)
    names = {name for f in made if isinstance(f, pytypes.FunctionType) for name in attributes_set(f.__code__)}
    return frozenset(name for name in names if found_in_class(cls, name)[0] in ("data", "method", "static"))


def own_access(cls: type) -> str | None:
    """The method by which a class of the user decides itself how attributes are read or set."""
    for name in ("__getattribute__", "__setattr__", "__delattr__"):
        kind, found, _ = found_in_class(cls, name)
        if kind == "method" and found.__code__.co_filename != "<string>":  # that of a frozen dataclass
            return name
    return None


SWAPPED = {
    "__lt__": "__gt__", "__gt__": "__lt__", "__le__": "__ge__", "__ge__": "__le__", "__eq__": "__eq__",
    "__ne__": "__ne__",
}  # fmt: skip
BUILTINS = (
    builtins.len, builtins.abs, builtins.float, builtins.int, builtins.bool, builtins.round, builtins.complex,
    builtins.str, builtins.repr, math.ceil, math.floor, math.trunc,
)  # fmt: skip
INSTEAD = {"__bool__": "__len__", "__str__": "__repr__"}  # the method that is asked where a class lacks the first


def method_name(op: Op) -> str:
    """The special method that an operation calls on an object of a class that has it: ``__add__``."""
    if op is ops.contains:
        return "__contains__"
    if (
        op in BUILTINS
        or op in (operator.getitem, builtins.divmod)
        or op in ops.BINARY
        or op in ops.UNARY
        or op in ops.COMPARE
    ):
        return f"__{op.__name__.strip('_')}__"
    return ""


def reflected(name: str) -> str:
    """The method of the right operand that is asked if the left has none."""
    return SWAPPED.get(name, f"__r{name[2:]}")


def special(t: Type, name: str) -> bool:
    """Whether a value of this type has a special method that the user wrote."""
    return isinstance(t, (Struct, Tuple)) and t.cls is not None and found_in_class(t.cls, name)[0] == "method"


def is_operated(op: Op, types: list[Type]) -> bool:
    """Whether an operation on values of these types is a method of the user."""
    try:
        name = method_name(op.op if isinstance(op, ops.augmented) else op)
    except TypeError:
        return False
    if not name or not types:
        return False
    if op is ops.contains:
        types = types[::-1]
    if special(types[0], name) or name in INSTEAD and special(types[0], INSTEAD[name]):
        return True
    return len(types) > 1 and special(types[1], reflected(name))


def instance_of(t: Type, wanted: type | tuple[type, ...]) -> bool | None:
    """``isinstance(x, wanted)`` for a value of this type, None where the type does not tell."""
    match t:
        case Optional():
            inner = instance_of(t.type, wanted)
            return inner if inner is isinstance(None, wanted) else None
        case Known() if t.value is not ops.UNDEFINED and not isinstance(t.value, (pytypes.ModuleType, range)):
            return isinstance(t.value, wanted)
    answer = _one_answer(issubclass(cls, wanted) for cls in classes_of(t))
    return None if may_be_none(t) and answer is not isinstance(None, wanted) else answer


def classes_of(t: Type) -> tuple[type, ...]:
    """The classes that a value of this type may have; none where nothing is known of it."""
    match t:
        case Struct():
            return (t.cls,)
        case Tuple():
            return (t.cls or tuple,)
        case Dict() | Sequence():
            plain = dict if isinstance(t, Dict) else t.kind
            return (plain if t.stands_for is None else t.stands_for.cls,)
        case Array():
            return (np.ndarray, *((vars(sys.modules["cupy"])["ndarray"],) if "cupy" in sys.modules else ()))
        case Scalar():
            python = {"f": (int, float), "c": (int, float, complex), "b": (bool,)}.get(np.dtype(t.dtype).kind, (int,))
            return python if t.weak and t.dtype != "str" else (*python, np.dtype(t.dtype).type)
    return ()


def standing_for(t: Type) -> StandsFor | None:
    """What a list or a dict is but for the text, None of all else."""
    return getattr(t, "stands_for", None)


def holds_standing(t: Type) -> bool:
    """Whether a list or a dict that stands for something else is held: code that is not followed tells them apart."""
    return is_container(t) and (standing_for(t) is not None or any(map(holds_standing, t.items)))


def has_of_its_class(t: Type, name: str) -> bool | None:
    """Whether the class of a value that is no object of the user's has an attribute; None where that is not known."""
    if isinstance(t, Struct) or isinstance(t, Array) and t.or_number:
        return None
    return _one_answer(any(name in vars(base) for base in cls.__mro__) for cls in classes_of(t))


def _one_answer(answers: Iterable[bool]) -> bool | None:
    found = set(answers)
    return found.pop() if len(found) == 1 else None


def own_data(value: object) -> Collection[str]:
    """The names that an object holds itself, and not its class."""
    return getattr(value, "__dict__", ())


def fields_of(t: Type, cls: type) -> tuple[str, ...]:
    """The names of the attributes that an object surely has of its own: what its class has by these names is no more
    than their default values."""
    if isinstance(t, Struct):
        return t.fields
    if dataclasses.is_dataclass(cls):
        return tuple(f.name for f in dataclasses.fields(cls))
    return getattr(cls, "_fields", ())
