"""Names to objects: ``sin = np.cos`` is a cosine, whatever it is called."""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Iterator
from typing import Any

from tangentc.core import ops
from tangentc.core.nodes import Const, Global, Place
from tangentc.core.values import is_object


class Scope:
    """What the names of a function that are not its own stand for."""

    def __init__(self, function: types.FunctionType):
        self.cells: dict[str, types.CellType] = dict(
            zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        )
        self.globals = function.__globals__
        self.function = function

    def place(self, name: str) -> Place:
        return Place("cell", self.cells[name]) if name in self.cells else Place("namespace", self.globals)

    def lookup(self, name: str) -> Any:
        """The object that a name stands for now.  Raises `NameError` as Python does."""
        return self.place(name).lookup(name)

    def resolve(self, name: str) -> Const | Global:
        """A constant for modules, functions and classes; data is read each time the code runs."""
        value = self.lookup(name)
        return Const(value) if is_static(value) else Global(name, self.place(name))


def is_static(value: object) -> bool:
    """Whether a value is part of the program, not of its data."""
    if isinstance(value, types.ModuleType) or value is None or value is Ellipsis:
        return True
    if isinstance(value, tuple) and value and all(isinstance(v, type) for v in value):  # for `isinstance`
        return True
    return callable(value) and not is_object(value)


def named_by(function: types.FunctionType) -> Iterator[object]:
    """What a function has names for, and the functions that it names, and those that they name."""
    seen: set[types.FunctionType] = {function}
    stack = [function]
    while stack:
        current = stack.pop()
        for name in (*names_inside(current.__code__), *current.__code__.co_freevars):
            try:
                named = Scope(current).lookup(name)
            except NameError:
                continue
            if isinstance(named, functools._lru_cache_wrapper):
                named = named.__wrapped__
            yield named
            is_own = isinstance(named, types.FunctionType) and ops.module_root(named) not in ops.NUMERIC_MODULES
            if is_own and named not in seen:
                seen.add(named)
                stack.append(named)


@functools.lru_cache(maxsize=1024)
def attributes_set(code: types.CodeType) -> frozenset[str]:
    """The names of the attributes that a function sets, and those defined inside it."""
    inside = (attributes_set(c) for c in code.co_consts if isinstance(c, types.CodeType))
    own = {i.argval for i in dis.get_instructions(code) if i.opname == "STORE_ATTR"}
    return frozenset(own.union(*inside))


@functools.lru_cache(maxsize=4096)
def names_inside(code: types.CodeType) -> frozenset[str]:
    """The names that code looks up outside of functions, with those of its lambdas and comprehensions."""
    inside = (names_inside(c) for c in code.co_consts if isinstance(c, types.CodeType))
    own = {i.argval for i in dis.get_instructions(code) if i.opname.endswith(("_GLOBAL", "_NAME", "_OR_GLOBALS"))}
    return frozenset(own.union(*inside))


def words_inside(code: types.CodeType) -> set[str]:
    """The names of attributes and of what is outside in the text of code, with those of its lambdas."""
    return set(code.co_names).union(*(words_inside(c) for c in code.co_consts if isinstance(c, types.CodeType)))
