"""What code was compiled for, in words that are the same in another process exactly where the code is right there too.

Of a function they tell its code, its place and its text, of data their types, of what a library has its name and the
library's version.  What cannot be told so raises `Untold`, and the code is not kept.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import importlib
import platform
import sys
import types as pytypes
from collections import namedtuple
from typing import Any

import numpy as np

from tangentc.core import texts
from tangentc.core.lengths import Length
from tangentc.core.nodes import Const, Members, binds
from tangentc.core.remade import found_at
from tangentc.core.resolve import Scope, names_inside
from tangentc.core.types import StandsFor, Type

PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), np.dtype, range, slice)
INSIDE = (staticmethod, classmethod, functools.cached_property, pytypes.MethodType)
DESCRIPTORS = (pytypes.MemberDescriptorType, pytypes.GetSetDescriptorType, pytypes.WrapperDescriptorType,
               pytypes.MethodDescriptorType, pytypes.ClassMethodDescriptorType)  # fmt: skip
FIELD: Any = type(vars(namedtuple("_", "x"))["x"])  # what a NamedTuple has for each of its names
NAMED, MODULE, CLASS = "named", "module", "class"


class Untold(Exception):
    """Of this no words are the same in another process."""


def described(value: Any) -> Any:
    """The words for a value, as lists, strings and numbers.  Raises `Untold`.

    >>> described(np.tanh)[:3], described((1, 2.5))
    (['named', 'numpy', 'tanh'], ['tuple', ['int', '1'], ['float', '2.5']])
    """
    match value:
        case _ if isinstance(value, PLAIN):
            return [type(value).__name__, repr(value)]
        case enum.Enum():
            return ["enum", described(type(value)), value.name]
        case tuple() | list():
            return [type(value).__name__, *map(described, value)]
        case frozenset() | set():
            return [type(value).__name__, *sorted(map(described, value), key=repr)]
        case dict():
            return ["dict", *([described(k), described(v)] for k, v in value.items())]
        case pytypes.ModuleType():
            return [MODULE, value.__name__, version_of(value.__name__)]
        case pytypes.FunctionType():
            return function(value)
        case functools.partial():
            return ["partial", *map(described, (value.func, value.args, value.keywords))]
        case property():
            return ["property", *map(described, (value.fget, value.fset, value.fdel))]
        case Members():
            return members(value)
    if isinstance(value, INSIDE):
        inner = getattr(value, "__func__", None) or value.func
        own = [described(value.__self__)] if isinstance(value, pytypes.MethodType) else []
        return [type(value).__name__, described(inner), *own]
    if isinstance(value, DESCRIPTORS):
        return ["descriptor", type_name(value.__objclass__), value.__name__]
    if isinstance(value, FIELD):
        return ["field", described(value.__reduce__()[1])]
    if isinstance(value, type):
        return [CLASS, value.__module__, value.__qualname__, version_of(value.__module__)]
    return named(value)


def described_type(t: Type | Length | Const | Any) -> Any:
    """The words for a type of the compiler's, but for what is left out where two of them are compared."""
    if isinstance(t, Const):
        return ["const", described(t.value)]
    if isinstance(t, (tuple, list)):
        return [*map(described_type, t)]
    if not dataclasses.is_dataclass(t) or isinstance(t, type) or not is_own(type(t)):
        return described(t)
    fields = [f for f in dataclasses.fields(t) if f.compare]
    return [type(t).__name__, *([f.name, described_type(getattr(t, f.name))] for f in fields)]


def is_own(cls: type) -> bool:
    return issubclass(cls, (Length, StandsFor)) or cls.__module__ == "tangentc.core.types"


def function(value: pytypes.FunctionType, called: bool = False) -> Any:
    """The words for a function: its code, the defaults that are written into what calls it, and its text; where it is
    ``called`` with an argument for each parameter, its defaults make no difference."""
    if not isinstance(value, pytypes.FunctionType):
        raise Untold(repr(value))
    code = value.__code__
    last = max((line for *_, line in code.co_lines() if line), default=code.co_firstlineno)
    text = texts.lines(code.co_filename, value.__globals__)[code.co_firstlineno - 1 : last]
    held = (None if called else (value.__defaults__, value.__kwdefaults__)), sorted(vars(value))
    return ["function", value.__module__, value.__qualname__, of_code(code), described(held), *text]


def of_code(code: pytypes.CodeType) -> Any:
    inside = [of_code(c) if isinstance(c, pytypes.CodeType) else described(c) for c in code.co_consts]
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_flags
    file = "" if code.co_filename.startswith("<tangentc ") else code.co_filename  # which ends with a number
    return [code.co_name, file, code.co_firstlineno, code.co_code.hex(), described(names), *inside]


def with_names(value: Any) -> Any:
    """The words for a function, and for what its names stand for."""
    if not isinstance(value, pytypes.FunctionType):
        return described(value)
    scope, found = Scope(value), []
    for name in sorted({*names_inside(value.__code__), *value.__code__.co_freevars}):
        try:
            found.append([name, described(scope.lookup(name))])
        except NameError:
            continue
    return [function(value), *found]


def members(value: Members) -> Any:
    """The words for all that a class and those above it define."""
    cls: Any = value.parts[0]
    return [
        [type_name(c), *([n, described(v) if binds(v) and n not in ("__dict__", "__weakref__") else ""]
                         for n, v in vars(c).items())]
        for c in Members.own(cls)
    ]  # fmt: skip


def type_name(cls: type) -> str:
    return f"{cls.__module__}:{cls.__qualname__}"


# ---------------------------------------------------------------- what others find by its name
def named(value: Any) -> Any:
    """The words for what a library has under a name."""
    owner = getattr(value, "__self__", None)
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    if owner is not None and not isinstance(owner, pytypes.ModuleType):
        return ["method", described(owner), getattr(value, "__name__", "")]
    homes = [getattr(value, "__module__", None), "numpy", "scipy.special", "builtins", "math"]
    for home in homes:
        if name and isinstance(home, str) and found_at(home, name) is value:
            return [NAMED, home, name, version_of(home)]
    raise Untold(repr(value))


def of_library(words: Any) -> bool:
    """Whether these are words for what is found by its name, and stays as it is while its version does."""
    return words[0] in (NAMED, MODULE, CLASS) and bool(words[-1])


def found(words: Any) -> Any:
    """What is there under a name."""
    home = importlib.import_module(words[1])
    return home if words[0] == MODULE else found_at(words[1], words[2])


def version_of(module: str) -> str:
    """The version of the library that a module belongs to, '' of what is the user's."""
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names:
        return "" if top == "__main__" else platform.python_version()
    return str(getattr(sys.modules.get(top), "__version__", ""))
