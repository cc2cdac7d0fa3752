"""Points at which Python's numbers raise, where NumPy's are infinite: ``1 / 0.0``, ``0.0 ** -0.5``, ``1e200 ** 2``.

The derivative of a function may be such a point where the function itself is not one, as that of ``x ** 0.5`` is at 0.
It is computed in NumPy's numbers then.
"""

from __future__ import annotations

import ast
import copy
import math
import types
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np

from tangentc.arguments import own_copy
from tangentc.core.draws import Draws
from tangentc.core.values import attributes_of, is_object

RAISED = (ZeroDivisionError, OverflowError)
NUMBERS = (int, float, complex, np.ndarray, np.generic)


def in_numpy(value: Any) -> Any:
    """A value with NumPy's numbers for Python's floats; the value itself if it holds none.

    >>> in_numpy([1.0, (2, 3.0)])
    [np.float64(1.0), (2, np.float64(3.0))]
    """
    if type(value) is float:
        return np.float64(value)
    if type(value) is complex:
        return np.complex128(value)
    if isinstance(value, (list, tuple)):
        parts = [in_numpy(v) for v in value]
        if all(a is b for a, b in zip(parts, value)):
            return value
        return type(value)(parts) if type(value) in (list, tuple) else type(value)(*parts)
    if type(value) is dict:
        items = {k: in_numpy(v) for k, v in value.items()}
        return value if all(items[k] is v for k, v in value.items()) else items
    if is_object(value):
        held = {name: getattr(value, name) for name in attributes_of(value)}
        attributes = in_numpy(held)
        if attributes is held:
            return value
        made = copy.copy(value)
        for name, attribute in attributes.items():
            object.__setattr__(made, name, attribute)
        return made
    return value


def math_of_numpy(names: Mapping[str, Any]) -> dict[str, Any]:
    """What stands for `math` and its functions among names, with functions that give NumPy's numbers.

    >>> math_of_numpy({"math": math, "n": 2})["math"].sqrt(4)
    np.float64(2.0)
    """
    of_numpy = {name: _numpys(f) if callable(f) else f for name, f in vars(math).items()}
    module = types.SimpleNamespace(**of_numpy)
    return {
        name: module if value is math else of_numpy[value.__name__]
        for name, value in names.items()
        if value is math or isinstance(value, types.BuiltinFunctionType) and value.__self__ is math
    }


def constants_of_numpy(text: str) -> tuple[ast.Module, dict[str, Any]]:
    """The tree of a text in which its floats are NumPy's, and what their name stands for: 0.0 ** -0.5 is an error, of
    NumPy's numbers it is infinite.

    >>> tree, number = constants_of_numpy("y = 0.5 * x if x > 1 else 0")
    >>> ast.unparse(tree)
    'y = number(0.5) * x if x > 1 else number(0)'
    """
    name = "number"
    while name in text:
        name += "_"
    return ast.fix_missing_locations(_Constants(name).visit(ast.parse(text))), {name: _of_numpy}


def _of_numpy(value: float) -> Any:
    return np.int64(value) if type(value) is int else np.float64(value)


class _Constants(ast.NodeTransformer):
    def __init__(self, name: str):
        self.name = name

    def _number(self, node: ast.Constant) -> ast.Call:
        return ast.copy_location(ast.Call(ast.Name(self.name, ast.Load()), [node], []), node)

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return self._number(node) if type(node.value) is float else node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        for arm in ("body", "orelse"):
            if isinstance(chosen := getattr(node, arm), ast.Constant) and type(chosen.value) is int:
                setattr(node, arm, self._number(chosen))
        return self.generic_visit(node)

    def visit_match_case(self, node: ast.match_case) -> ast.match_case:
        node.body = [self.visit(s) for s in node.body]
        return node


def _numpys(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **keywords: in_numpy(function(*args, **keywords))


def without_raising(error: Exception, function: Callable[..., Any], args: tuple) -> tuple:
    """The arguments in NumPy's numbers, of which the function gives what it gives of these; else raise ``error``."""
    given, draws = in_numpy(args), Draws(function, args)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            plain, other = (draws.each(function)(*own_copy(numbers)) for numbers in (args, given))
        except Exception:
            _reraise(error)
    draws.again()
    if not _is_same(plain, other):
        _reraise(error)
    return given


def _reraise(error: Exception) -> NoReturn:
    raise error.with_traceback(error.__traceback__) from None


def _is_same(a: Any, b: Any) -> bool:
    if isinstance(a, (list, tuple)):
        return isinstance(b, (list, tuple)) and len(a) == len(b) and all(map(_is_same, a, b))
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(_is_same(a[k], b[k]) for k in a)
    if isinstance(a, NUMBERS) and isinstance(b, NUMBERS):
        return np.shape(a) == np.shape(b) and bool(np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind in "fc"))
    return a is b or type(a) is type(b) and not hasattr(a, "__dict__") and bool(a == b)
