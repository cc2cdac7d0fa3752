"""Which attributes of objects a function may read: those that its text, and that of what it may call, has names for.

An object may hold much that a function never asks for: a log, what it was made from, the object that holds it.  What
no text names nobody reads, so that the types of arguments need not tell it.  Into other things a function only puts
more, ``self.seen.append(x)``: it does not matter what is in them already.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import sys
import types as pytypes
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tangentc.core.classes import found_in_class
from tangentc.core.resolve import Scope, names_inside
from tangentc.core.values import is_object
from tangentc.errors import TangentcError
from tangentc.frontend.callables import is_library_module, is_of_python
from tangentc.frontend.source import source_of

COMPUTE = {
    "getattr",
    "hasattr",
    "setattr",
    "delattr",
    "vars",
    "dir",
    "__dict__",
    "attrgetter",
    "methodcaller",
    "locals",
}
MAKE = {"__init__", "__new__", "__post_init__"}  # methods that only a call of the class calls
SHOW = {
    "__repr__", "__str__", "__format__", "__getstate__", "__setstate__", "__reduce__", "__reduce_ex__", "__del__",
    "__dir__", "__sizeof__", "__init_subclass__", "__subclasshook__", "__class_getitem__", "__prepare__",
}  # fmt: skip
OF_BUILTINS = {n for cls in vars(builtins).values() if isinstance(cls, type) for n in dir(cls) if n.startswith("__")}
OTHERS = (
    "call enter exit post_init missing get set matmul rmatmul imatmul iadd isub imul itruediv ipow ifloordiv imod iand "
    "ior ixor array array_ufunc array_function getattr getattribute"
)
CALLED_BY_PYTHON = OF_BUILTINS | {f"__{n}__" for n in OTHERS.split()}
MOST_ITEMS = 64  # of a container, that are asked what functions and objects they are


PUTTING = {"append", "extend", "insert"}


@dataclass(frozen=True)
class Reached:
    """The ``names`` in the text of functions, and those of them under which more is put, and nothing is read."""

    names: frozenset[str]
    written: frozenset[str]

    def __or__(self, other: Reached) -> Reached:
        read = (self.names - self.written) | (other.names - other.written)
        names = self.names | other.names
        return Reached(names, names - read)


NONE = Reached(frozenset(), frozenset())


def reached(values: Iterable[Any]) -> Reached | None:
    """The names in the text of functions, and of all that they may call; None where names may be computed.

    ``values`` are functions, and the objects whose methods they may call.
    """
    reach = _Reach()
    for value in values:
        reach.note(value)
    reach.settle()
    return None if COMPUTE & reach.names else Reached(frozenset(reach.names), frozenset(reach.written - reach.read))


class _Reach:
    """What has been reached so far."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.written: set[str] = set()
        self.read: set[str] = set()
        self.seen: dict[int, Any] = {}  # by their identity, and held, so that no other gets that
        self.owners: dict[int, Any] = {}  # the classes, modules and objects whose attributes the names may be
        self.called: set[type] = set()  # the classes that are named, and may be called

    def settle(self) -> None:
        """Follow all names, those found on the way among them."""
        asked: set[tuple[int, str]] = set()
        count = -1
        while count != len(asked):
            count = len(asked)
            for owner in list(self.owners.values()):
                for name in self._reached_in(owner):
                    if (id(owner), name) not in asked:
                        asked.add((id(owner), name))
                        self.note(found_in_class(owner, name)[1] if isinstance(owner, type) else vars(owner)[name])

    def _reached_in(self, owner: Any) -> list[str]:
        if not isinstance(owner, type):
            return [n for n in vars(owner) if n in self.names]
        silent = SHOW if owner in self.called else SHOW | MAKE
        return [n for n in dir(owner) if n in self.names or n in CALLED_BY_PYTHON and n not in silent]

    def note(self, value: Any) -> None:
        """Note a value that is reached: the names in a function, the attributes of an object."""
        value = asked(value, "__tangentc_given__", asked(value, "__tangentc_function__", value))
        if isinstance(value, type):
            self.called.add(value)
        if id(value) in self.seen or isinstance(value, (str, bytes, int, float, complex, type(None))):
            return
        self.seen[id(value)] = value
        if isinstance(value, (list, tuple, dict)):
            for item in [*(value.values() if isinstance(value, dict) else value)][:MOST_ITEMS]:
                self.note(item)
        elif isinstance(value, functools.partial):
            self.note((value.func, value.args, value.keywords))
        elif isinstance(value, pytypes.MethodType):
            self.note((value.__func__, value.__self__))
        elif isinstance(value, pytypes.FunctionType):
            self._function(value)
        elif isinstance(value, (type, pytypes.ModuleType)):
            of_python = is_of_python(value) if isinstance(value, type) else value.__name__ in sys.stdlib_module_names
            if not is_library_module(value) and not of_python:
                self.owners[id(value)] = value
        elif is_object(value):
            self.owners[id(type(value))] = type(value)
            if hasattr(value, "__dict__"):
                self.owners[id(value)] = value
        else:
            self.note(asked(value, "__wrapped__", asked(value, "function", None)))

    def _function(self, function: pytypes.FunctionType) -> None:
        if is_library_module(function):
            return
        own = set(names_in(function.__code__))
        written = only_written(function)
        self.names |= own
        self.written |= written
        self.read |= own - written
        self.note((getattr(function, "__wrapped__", None), function.__defaults__, function.__kwdefaults__))
        scope = Scope(function)
        for name in (*names_inside(function.__code__), *function.__code__.co_freevars):
            with contextlib.suppress(NameError):
                self._named(scope.lookup(name), own)

    def _named(self, value: Any, own: set[str]) -> None:
        """Note what a function has a name for; of a module, what the function's text has names for in that."""
        if not isinstance(value, pytypes.ModuleType):
            self.note(value)
        elif not is_library_module(value) and value.__name__ not in sys.stdlib_module_names:
            for name in own & vars(value).keys():
                if vars(value)[name] is not value:
                    self._named(vars(value)[name], own - {name})


def asked(value: Any, name: str, default: Any) -> Any:
    """An attribute of an object, also of one that does not like to be asked for what it has not got."""
    try:
        return getattr(value, name, default)
    except Exception:
        return default


def names_in(constant: Any) -> Iterator[str]:
    """The names of attributes that code may have: those that it looks up, and its texts.

    >>> sorted(names_in((lambda line, x: line.at(x) * getattr(line, "slope")).__code__))
    ['at', 'getattr', 'slope']
    """
    if isinstance(constant, pytypes.CodeType):
        yield from constant.co_names
        for inner in constant.co_consts:
            yield from names_in(inner)
    elif isinstance(constant, str):
        yield from filter(str.isidentifier, constant.split("."))
    elif isinstance(constant, (tuple, frozenset)):
        for item in constant:
            yield from names_in(item)


def only_written(function: pytypes.FunctionType) -> set[str]:
    """The attributes into which a function only puts more, wherever it names them."""
    try:
        tree = source_of(function).tree
    except TangentcError:
        return set()
    put = {id(node) for statement in ast.walk(tree) for node in _put_into(statement)}
    attributes = [n for n in ast.walk(tree) if isinstance(n, ast.Attribute)]
    read = {n.attr for n in attributes if id(n) not in put and isinstance(n.ctx, ast.Load)}
    others = set(names_in(tuple(n.value for n in ast.walk(tree) if isinstance(n, ast.Constant))))
    others |= {name for n in ast.walk(tree) if isinstance(n, ast.MatchClass) for name in n.kwd_attrs}
    return {n.attr for n in attributes} - read - others


def _put_into(statement: ast.AST) -> Iterator[ast.AST]:
    """The attributes into which a statement puts something: ``self.log`` of ``self.log["loss"].append(v)``."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in PUTTING:
        node = call.func.value
        while isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            node = node.value
        if isinstance(node, ast.Attribute):
            yield node
