"""Which module the arrays of a program belong to, and how objects are spelled in its text."""

from __future__ import annotations

import builtins
import functools
import importlib
import math
import operator
import sys
import types
from collections.abc import Mapping
from typing import Any

import numpy as np

from tangentc.ops.table import known_of


class Module:
    """Stands for a module that is not installed, so that its text can be written all the same."""

    def __init__(self, name: str):
        self.__name__ = name


def array_module(name: str) -> Any:
    """The module of this name: `numpy`, or `cupy` if it is installed, else a stand-in for its text."""
    if name == "numpy":
        return np
    try:
        return importlib.import_module(name)
    except ImportError:
        return Module(name)


class Spelling:
    """How the objects of a program are written, and what the names in the text are bound to.

    ``scope`` is the user's module: a function that it knows by a name is written by that name.
    """

    def __init__(self, scope: Mapping[str, Any], arrays: str = "numpy", local: set[str] | frozenset[str] = frozenset()):
        self.scope, self.arrays, self.local = scope, arrays, local
        self.bindings: dict[str, Any] = {}
        self.data: dict[Any, str] = {}  # how the data of the user's modules is written
        self.imports: dict[str, str] = {}
        self.inner = False  # whether the text is differentiated again
        self.own: set[str] = set()  # the names of the emitted functions
        self.same: dict[str, str] = {}  # an emitted function whose text another one has already
        self.words: dict[int, tuple[str, Any]] = {}  # the functions that are known by a word, in all that is emitted
        self.by_id = {id(v): k for k, v in reversed(list(scope.items())) if not k.startswith("__") and k not in local}

    def word(self, function: Any) -> str:
        """The word for a function that is made while the program runs."""
        return self.words.setdefault(id(function), (f"{function.__name__}_{len(self.words)}", function))[0]

    def bind(self, name: str, value: Any, statement: str) -> str:
        """Write ``value`` as ``name``; the text imports it unless the user's module knows it so."""
        self.bindings[name] = value
        if self.scope.get(name) is not value:
            self.imports[name] = statement
        return name

    def module(self, name: str, short: str) -> str:
        module = array_module(name)
        for candidate in (short, name, f"{name}_"):
            if candidate not in self.local and self.scope.get(candidate, module) is module:
                break
        else:
            candidate = f"_{name}"
        return self.bind(candidate, module, f"import {name} as {candidate}" if candidate != name else f"import {name}")

    def numpy_name(self) -> str:
        return self.module("cupy", "cp") if self.arrays == "cupy" else self.module("numpy", "np")

    def object(self, value: Any) -> str:
        """The text that stands for a function, class or module."""
        if value is np:
            return self.numpy_name()
        if isinstance(value, types.ModuleType):
            return self.module(value.__name__, self.by_id.get(id(value), value.__name__.rsplit(".", 1)[-1]))
        name = getattr(value, "__name__", None)
        if name and getattr(builtins, name, None) is value and name not in self.local and name not in self.scope:
            return name
        if name and getattr(math, name, None) is value:
            return f"{self.module('math', 'math')}.{name}"
        if name and getattr(operator, name, None) is value:
            return f"{self.module('operator', 'operator')}.{name}"
        if name and getattr(sys.modules.get("numba"), name, None) is value:  # the head of the text imports it
            return f"numba.{name}"
        if isinstance(getattr(value, "__self__", None), np.ufunc):
            return f"{self.object(value.__self__)}.{value.__name__}"
        path = _numpy_path(value)
        if path and known_of(value).only_settings:  # of NumPy alone
            return f"{self.module('numpy', 'np')}.{path}"
        if path:
            return f"{self.numpy_name()}.{path}"
        special = sys.modules.get("scipy.special")
        if isinstance(value, np.ufunc) and special is not None and getattr(special, value.__name__, None) is value:
            return f"{self.module('scipy.special', self.by_id.get(id(special), 'special'))}.{value.__name__}"
        known = self.by_id.get(id(value))
        if known is not None:
            self.bindings[known] = value
            return known
        module = getattr(value, "__module__", None) or "__main__"
        name = name or type(value).__name__.lower()
        name = name if name.isidentifier() else "function"
        wanted = name
        k = 1
        while (
            wanted in self.local
            or wanted in self.own
            or self.bindings.get(wanted, self.scope.get(wanted, value)) is not value
        ):
            k += 1
            wanted = f"{name}_{k}"
        if getattr(sys.modules.get(module), name, None) is not value:  # a method, say: the text cannot import it
            self.bindings[wanted] = value
            return wanted
        return self.bind(wanted, value, f"from {module} import {name}" + (f" as {wanted}" if wanted != name else ""))


_SUBMODULES = ("", "linalg", "fft", "random")
_SPELLED = ("max", "min", "sum", "abs", "bool_")  # the names by which NumPy's documentation calls them first


@functools.cache
def _spelled() -> dict[int, str]:
    return {id(getattr(np, name)): name for name in _SPELLED}


def _numpy_path(value: Any) -> str:
    """The name of something of NumPy below ``np``, '' if it is not NumPy's."""
    if isinstance(value, np.dtype):
        return f'dtype("{value.name}")'
    name = getattr(value, "__name__", "")
    if not isinstance(name, str) or not callable(value) or getattr(builtins, name, None) is value:
        return ""
    if id(value) in _spelled():
        return _spelled()[id(value)]
    for sub in _SUBMODULES:
        module = getattr(np, sub) if sub else np
        if vars(module).get(name) is value:
            return f"{sub}.{name}" if sub else name
    return ""
