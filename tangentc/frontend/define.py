"""Functions that the compiler writes, as if the user had written them beside his own.

Their globals are those of the user's module, and their cells the cells of his function, so that they see what these
hold when they run; what else their text names is kept in cells of their own.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Mapping
from types import FunctionType
from typing import Any

from tangentc.core import texts
from tangentc.core.resolve import Scope


def define(text: str, what: str, scope: Scope, constants: Mapping[str, Any]) -> dict[str, FunctionType]:
    """The functions that a text defines, by their names."""
    names = [s.name for s in ast.parse(text).body if isinstance(s, ast.FunctionDef)]
    given = [n for n in dict.fromkeys((*constants, *scope.cells)) if n not in names]
    whole = f"def made({', '.join(given)}):\n{textwrap.indent(text, '    ')}\n    return {', '.join(names)},\n"
    namespace = dict(scope.globals)
    texts.run(whole, what, namespace)
    first = namespace["made"](*(constants.get(n) for n in given))
    functions: dict[str, FunctionType] = {}
    for name, f in zip(names, first, strict=True):
        shared = {n: scope.cells[n] for n in scope.cells if n not in constants}
        own = zip(f.__code__.co_freevars, f.__closure__ or (), strict=True)
        cells = tuple(shared.get(n, cell) for n, cell in own)
        made = FunctionType(f.__code__, scope.globals, f.__name__, f.__defaults__, cells or None)
        made.__kwdefaults__ = f.__kwdefaults__
        functions[name] = made
    for made in functions.values():  # they call one another
        for n, cell in zip(made.__code__.co_freevars, made.__closure__ or (), strict=True):
            if n in functions:
                cell.cell_contents = functions[n]
    return functions
