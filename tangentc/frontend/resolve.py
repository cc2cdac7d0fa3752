"""Names to objects: ``sin = np.cos`` is a cosine, whatever it is called."""

from __future__ import annotations

import builtins
import types
from typing import Any

from tangentc.core.nodes import Const, Global


class Scope:
    """What the names of a function that are not its own stand for."""

    def __init__(self, function: types.FunctionType):
        self.cells: dict[str, types.CellType] = dict(
            zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        )
        self.globals = function.__globals__

    def lookup(self, name: str) -> Any:
        """The object that a name stands for now.  Raises `NameError` as Python does."""
        if name in self.cells:
            try:
                return self.cells[name].cell_contents
            except ValueError:
                raise NameError(f"free variable {name!r} has no value yet") from None
        if name in self.globals:
            return self.globals[name]
        if hasattr(builtins, name):
            return getattr(builtins, name)
        raise NameError(f"name {name!r} is not defined")

    def resolve(self, name: str) -> Const | Global:
        """A constant for modules, functions and classes; data is read each time the code runs."""
        value = self.lookup(name)
        return Const(value) if is_static(value) else Global(name)


def is_static(value: Any) -> bool:
    """Whether a value is part of the program, not of its data."""
    return callable(value) or isinstance(value, types.ModuleType) or value is None or value is Ellipsis
