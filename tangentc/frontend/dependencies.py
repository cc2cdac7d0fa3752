"""What compiled code depends on beside its arguments, and whether that is still as it was.

Of a function that is its code and its defaults, of data its type (the code reads the data themselves when it runs), of
an object both, and of a container also what the functions in it keep.
"""

from __future__ import annotations

import copy
import functools
import operator
import types as pytypes
from collections.abc import Iterator
from typing import Any

from tangentc.analysis.outside import Key, only_written, with_part
from tangentc.core.nodes import Place
from tangentc.core.types import Dict, Known, Sequence, Struct, Tuple, Type
from tangentc.core.values import SIGHT, data_type, is_object, seeing

OPTIONS = ("item", "option")  # kinds of places of what is written into the code
METHODS = (pytypes.MethodType, pytypes.BuiltinMethodType, pytypes.MethodWrapperType)
CHANGING = (Sequence, Dict, Struct)  # types of what can become another one while it stays the same object


class Dependency:
    """What a name stood for when the code was compiled."""

    __slots__ = ("place", "name", "value", "held", "kept", "overlooked", "seen")

    def __init__(self, place: Place, name: str):
        self.place, self.name, self.seen = place, name, SIGHT.get().names
        value = place.lookup(name)
        self.value = copy.deepcopy(value) if place.kind in OPTIONS else value
        self.held = data_type(value) if is_data(value) else None
        self.kept = self._kept(value, self.held)
        self.overlooked: set[tuple[Key, ...]] = set()

    def overlook(self, keys: tuple[Key, ...]) -> None:
        """Code does not depend on the list that keys lead to, into which it only writes."""
        if self.held is not None:
            self.overlooked.add(keys)
            self.held = with_part(self.held, keys, only_written)

    def type_of(self, value: Any) -> Type:
        """What code depends on of a value that the name stands for."""
        with seeing(self.seen):
            found = data_type(value)
        return functools.reduce(lambda t, keys: with_part(t, keys, only_written), self.overlooked, found)

    @staticmethod
    def _kept(value: Any, held: Type | None) -> Any:
        if held is None:
            return kept_by(value)
        functions = tuple(kept_by(f) for f in functions_in(held))
        return (kept_by(value), functions) if callable(value) else functions

    def is_fresh(self) -> bool:
        """Whether the code is good for what the name stands for now."""
        try:
            now = self.place.lookup(self.name)
        except NameError:
            return False
        if self.place.kind == "class":
            return now == self.value
        if self.place.kind in OPTIONS:  # which is written into the code
            return type(now) is type(self.value) and now == self.value
        if self.held is None:
            return is_same(now, self.value) and self.kept == kept_by(now)
        if now is self.value and not may_change(self.held):
            return True
        if callable(now) and now is not self.value:  # what is called is written into the code
            return False
        return is_data(now) and self.type_of(now) == self.held and self._kept(now, self.held) == self.kept


def is_same(a: Any, b: Any) -> bool:
    """Whether two values are one object; a method is made anew each time that it is asked for."""
    return a is b or type(a) in METHODS and type(b) is type(a) and a == b


def may_change(t: Type) -> bool:
    """Whether a value of this type can become one of another type while it stays the same object."""
    return isinstance(t, CHANGING) or isinstance(t, Tuple) and any(map(may_change, t.items))


def is_data(value: Any) -> bool:
    """Whether code reads a value while it runs, unlike a function, which it has written into it."""
    return is_object(value) or not (callable(value) or isinstance(value, pytypes.ModuleType))


def functions_in(t: Type) -> Iterator[Any]:
    """The functions in a container, as its type tells them."""
    if isinstance(t, Known):
        if callable(t.value):
            yield t.value
        return
    for part in getattr(t, "items", ()):
        yield from functions_in(part)


class Same:
    """A value, equal to itself alone, as long as it holds values of the same types."""

    __slots__ = ("value", "held")

    def __init__(self, value: Any):
        self.value = value
        with seeing(None):
            self.held = data_type(value) if isinstance(value, (list, dict, tuple)) or is_object(value) else None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.value is other.value and self.held == other.held

    def __hash__(self) -> int:
        return id(self.value)


def kept_by(value: Any) -> Any:
    """What a function keeps that the code was compiled for: its code and its defaults."""
    if isinstance(value, functools.partial):
        return kept_by(value.func), tuple(map(Same, value.args)), _named(value.keywords)
    if isinstance(value, pytypes.MethodType):
        return kept_by(value.__func__)
    if is_object(value) and callable(value):
        return kept_by(type(value).__call__)  # type: ignore[operator]
    if not isinstance(value, pytypes.FunctionType):
        return None
    return value.__code__, tuple(map(Same, value.__defaults__ or ())), _named(value.__kwdefaults__)


class Signed:
    """The objects that a function's code and signature are made of; equal to those of a function with the same ones.

    Unlike `kept_by` it does not look into defaults: they are arguments, whose types code is compiled for anyway.
    """

    __slots__ = ("parts",)

    def __init__(self, function: Any):
        self.parts = _parts_of(function)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Signed) or len(self.parts) != len(other.parts):
            return False
        return all(map(operator.is_, self.parts, other.parts))

    __hash__ = None  # type: ignore[assignment]


def _parts_of(function: Any) -> tuple:
    if isinstance(function, functools.partial):
        return (*_parts_of(function.func), *function.args, *function.keywords, *function.keywords.values())
    if isinstance(function, pytypes.MethodType):
        function = function.__func__
    elif not isinstance(function, pytypes.FunctionType) and callable(function):
        function = type(function).__call__  # type: ignore[operator]
    if not isinstance(function, pytypes.FunctionType):
        return ()
    named = function.__kwdefaults__ or {}
    return (function.__code__, *(function.__defaults__ or ()), *named, *named.values())


def _named(values: dict[str, Any] | None) -> tuple:
    return tuple((k, Same(v)) for k, v in values.items()) if values else ()
