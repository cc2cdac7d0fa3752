"""Writing emitted code to a module of its own."""

from __future__ import annotations

import ast
import functools
import inspect
import math
import sys
import textwrap
import types
from pathlib import Path
from typing import Any

import numpy as np

from tangentc.backend.compilers import NUMBA
from tangentc.core import ops
from tangentc.core.jitted import is_jitted
from tangentc.errors import BadArgument, TangentcError

KNOWN = {*sys.stdlib_module_names, "numpy", "cupy", "scipy"}  # what a module may import
LITERALS = (int, float, complex, str, bool, type(None))


def module_text(text: Any, live: dict[str, Any], name: str, checks: str = "", bare: bool = False) -> str:
    """A module that imports only the array module and `math`: helpers, constants, then the program, in which
    ``checks`` is the first statement of the last function.  With ``bare`` classes of which the program makes objects
    are written in, as what holds their fields, and other classes as they stand."""
    needed = _Needed(name, {bound for bound, value in text.bindings.items() if isinstance(value, type)}, bare)
    program = ast.parse(text.text).body
    needed.held |= {node.name: node for node in program if isinstance(node, ast.FunctionDef)}  # whose names are taken
    for bound, value in sorted(text.bindings.items()):
        needed.need(bound, value.function if isinstance(value, ops.UserFunction) else value)
    constants = [row for row in text.imports if row.partition(" = ")[2] in NUMBA.values()]
    needed.imports |= {"import numba"} if constants else set()
    for bound, value in sorted(live.items()):
        if not isinstance(value, LITERALS):
            raise BadArgument(
                f"{name} cannot be exported, because it reads {bound} from its module",
                why="only numbers and strings can be written into a module as constants",
                way_out=f"pass {bound} in as an argument",
            )
        constants.append(f"{bound} = {_literal(value)}")
    if needed.helpers:
        needed.imports.add("import numpy as np")
    parts = [f'"""{name}, written by tangentc."""', "\n".join(sorted(needed.imports))]
    parts += ["\n".join(constants)] if constants else []
    body = "\n\n\n".join(part.strip("\n") for part in [*needed.helpers.values(), with_checks(text.text, checks)])
    return "\n\n".join(p for p in parts if p) + "\n\n\n" + body + "\n"


class _Needed:
    """What a module needs besides its program: rows that import, and the text of helpers by their names."""

    def __init__(self, name: str, records: set[str], bare: bool):
        self.name, self.records, self.bare = name, records, bare
        self.imports: set[str] = set()
        self.helpers: dict[str, str] = {}
        self.held: dict[str, Any] = {}

    def need(self, bound: str, value: Any) -> None:
        """Write in a value under a name, with what it names itself."""
        if bound in self.held:
            same = _is_literal(value) and repr(value) == repr(self.held[bound])
            if self.held[bound] is not value and not same:
                self.refuse(bound, "another value has that name, and a module has one place for both", "rename one")
            return
        self.held[bound] = value
        own_class = _own_class(bound, value, self.bare and bound in self.records) if isinstance(value, type) else ""
        if isinstance(value, types.ModuleType) or type(value).__name__ == "Module":
            root = value.__name__
            self.imports.add(f"import {root} as {bound}" if bound != root else f"import {root}")
        elif own_class:
            self.helpers[bound] = own_class
        elif isinstance(value, type) and self.bare and is_of_users(value):
            self.as_it_stands(bound, value, vars(sys.modules[value.__module__]))
        elif isinstance(value, type) or _is_of_python(value):
            if value.__module__ not in ("builtins", "__main__"):
                self.imports.add(f"from {value.__module__} import {value.__name__}")
        elif isinstance(value, functools._lru_cache_wrapper):
            self.as_it_stands(bound, value.__wrapped__, value.__wrapped__.__globals__)
        elif inspect.isfunction(value) and not value.__closure__:
            self.function(bound, value)
        elif is_jitted(value):
            self.imports.add("import numba")
            self.function(bound, value.py_func, True)
        elif _is_literal(value):
            self.helpers[bound] = _constant(bound, value)
        else:
            why = "it is neither a plain function nor a number, so its text cannot be written into a module"
            self.refuse(bound, why, "pass it in as an argument")

    def refuse(self, bound: str, why: str, way_out: str) -> None:
        what = f"{self.name} cannot be exported, because it refers to {bound}"
        raise BadArgument(what, why=why, way_out=way_out)

    def function(self, bound: str, value: types.FunctionType, decorated: bool = False) -> None:
        self.helpers[bound] = _own_text(value, bound, decorated)
        if value.__annotations__:  # whose names the module does not need
            self.imports.add("from __future__ import annotations")
        for other in sorted(_names(value.__code__) & value.__globals__.keys()):
            self.need(other, value.__globals__[other])

    def as_it_stands(self, bound: str, value: Any, scope: dict[str, Any]) -> None:
        """A class, or a function with its decorators, behind what it names."""
        source = textwrap.dedent(inspect.getsource(value))
        self.imports.add("from __future__ import annotations")
        named = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
        for other in sorted(named & scope.keys() - {bound}):
            self.need(other, scope[other])
        self.helpers[bound] = source


def _is_of_python(value: Any) -> bool:
    """Whether a value is a function of the standard library."""
    is_function = isinstance(value, (types.FunctionType, types.BuiltinFunctionType))
    return is_function and (value.__module__ or "").split(".")[0] in {*sys.stdlib_module_names} - {
        "builtins",
        "__main__",
    }


def is_of_users(cls: type) -> bool:
    """Whether a class is one of neither Python nor a library that a module may import."""
    return cls.__module__.split(".")[0] not in {*KNOWN, "builtins"}


def _own_class(name: str, cls: type, bare: bool) -> str:
    """The text of a class that is written in: an error of tangentc, as one of Python that says the same, and with
    ``bare`` one that holds the fields of objects of a user's class, and nothing else; '' for all others."""
    if not issubclass(cls, TangentcError):
        return _bare(name, cls) if bare and cls.__module__.split(".")[0] not in KNOWN else ""
    base = next(c for c in cls.__mro__ if c.__module__ == "builtins").__name__
    return (
        f'class {name}({base}):\n    def __init__(self, what, span=None, *, why="", way_out=""):\n'
        f'        super().__init__(f"{{what}}: {{why}}. {{way_out}}.")\n'
    )


def _bare(name: str, cls: type) -> str:
    if issubclass(cls, tuple):
        return f"{name} = __import__('collections').namedtuple({name!r}, {list(getattr(cls, '_fields', ()))})\n"
    return f"class {name}:\n    def __init__(self, **fields):\n        vars(self).update(fields)\n"


def _is_literal(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return not value.flags.writeable and value.ndim == 1
    return all(map(_is_literal, value)) if type(value) is tuple else isinstance(value, (*LITERALS, np.float32))


def _constant(name: str, value: Any) -> str:
    """The row that makes a constant; numbers that are many stand in several."""
    row = f"{name} = {_literal(value)}"
    return ("\n    ".join(textwrap.wrap(row, 116)) if isinstance(value, np.ndarray) else row) + "\n"


def _literal(value: Any) -> str:
    """The text of a constant; infinite numbers, and those that are none, have no literal."""
    value = getattr(value, "value", value)  # of a member of an enumeration
    if isinstance(value, np.ndarray):
        return f"np.array({value.tolist()}, dtype=np.{value.dtype})"
    if isinstance(value, complex):
        return f"complex({_literal(value.real)}, {_literal(value.imag)})"
    return f'float("{value}")' if isinstance(value, float) and not math.isfinite(value) else repr(value)


def with_checks(text: str, checks: str) -> str:
    """A program whose last function, behind its docstring, begins with ``checks``."""
    root: Any = ast.parse(text).body[-1]
    rows = text.splitlines(True)
    head = root.body[0].end_lineno if ast.get_docstring(root) is not None else root.body[0].lineno - 1
    return "".join([*rows[:head], checks, *rows[head:]])


def _own_text(function: types.FunctionType, name: str, decorated: bool = False) -> str:
    """The text of a function, under a name, without its decorators, which register it; ``decorated`` with them."""
    text = textwrap.dedent(inspect.getsource(function))
    if function.__name__ == "<lambda>":
        return f"{name} = {_lambda(text, function.__code__)}\n"
    node = ast.parse(text).body[0]
    rows = text.splitlines(True)[0 if decorated else node.lineno - 1 :]
    return "".join(rows).replace(f"def {function.__name__}(", f"def {name}(", 1)


def _lambda(text: str, code: types.CodeType) -> str:
    """The text of a lambda that stands in a statement, found by its code."""
    try:
        found = {ast.unparse(node) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Lambda)}
    except SyntaxError:  # the first of several lines
        found = set()
    for one in found:
        made = next(c for c in compile(one, "<lambda>", "eval").co_consts if isinstance(c, types.CodeType))
        if (made.co_code, made.co_consts, made.co_names) == (code.co_code, code.co_consts, code.co_names):
            return one
    raise BadArgument(
        "a lambda cannot be exported", why="its text is not found in the line where it stands", way_out="use `def`"
    )


def _names(code: types.CodeType) -> set[str]:
    """The names that a function's code, and that of the functions inside it, refers to."""
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return set(code.co_names).union(*map(_names, inner))


def write(path: Any, text: str) -> Path:
    """Write a file whole or not at all."""
    target = Path(path)
    partial = target.with_name(target.name + ".partial")
    partial.write_text(text)
    partial.replace(target)
    return target
