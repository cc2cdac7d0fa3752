"""Generator functions, whose bodies stand where they are run.

    def pairs(xs):                       for a, b in pairs(v):         ->   for i in range(len(v) - 1):
        for i in range(len(xs) - 1):         s = s + a * b                      a, b = v[i], v[i + 1]
            yield xs[i], xs[i + 1]                                              s = s + a * b

A loop over a call of one is the body of the function, with that of the loop in place of each `yield`. Where all that it
gives is asked for at once, as by `sum` and `list`, its body fills a list.
"""

from __future__ import annotations

import ast
import inspect
import operator
import types
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from tangentc.core import ops
from tangentc.core.classes import found_in_class
from tangentc.core.nodes import Atom, Const, Effect
from tangentc.core.types import Struct
from tangentc.frontend.as_text import own_statements
from tangentc.frontend.asked import FULLY
from tangentc.frontend.attempt import path_of
from tangentc.frontend.part import Part
from tangentc.frontend.source import source_of
from tangentc.ops import methods

GIVES = "%yield"  # the name of what stands for `yield` in the tree of a generator function
FULLY_NAMED = {f.__name__ for f in FULLY}  # type: ignore[attr-defined]
PLAIN = {
    "abs",
    "bool",
    "complex",
    "enumerate",
    "float",
    "int",
    "len",
    "list",
    "max",
    "min",
    "pow",
    "range",
    "round",
    "sorted",
    "str",
    "sum",
    "tuple",
    "zip",
}  # functions of Python's that change nothing
COMPREHENSIONS = (gast.ListComp, gast.SetComp)


def is_generator(function: Any) -> bool:
    return isinstance(function, types.FunctionType) and bool(function.__code__.co_flags & inspect.CO_GENERATOR)


class _Giving(gast.NodeTransformer):
    """Each `yield` that is a statement as a call."""

    def visit_FunctionDef(self, node: Any) -> Any:
        return node  # another function

    visit_Lambda = visit_FunctionDef

    def visit_Expr(self, node: Any) -> Any:
        if isinstance(node.value, gast.Yield):
            value = node.value.value or gast.Constant(None, None)
            call = gast.Call(gast.Name(GIVES, gast.Load(), None, None), [value], [])
            node.value = _placed(call, node)
        elif isinstance(node.value, gast.YieldFrom):
            each = gast.Name("each_yielded", gast.Store(), None, None)
            read = gast.Name("each_yielded", gast.Load(), None, None)
            give = gast.Expr(gast.Call(gast.Name(GIVES, gast.Load(), None, None), [read], []))
            return _placed(gast.For(each, node.value.value, [give], [], None), node)
        return node


def _placed(tree: Any, at: Any) -> Any:
    for n in gast.walk(tree):
        if not hasattr(n, "lineno"):
            gast.copy_location(n, at)
    return tree


def giving(tree: Any) -> Any:
    """The tree of a generator function whose `yield` statements are calls; any other `yield` stays."""
    tree.body = [_Giving().visit(s) for s in tree.body]
    return tree


class Generators(Part):
    """The part of lowering that knows generator functions."""

    def generator_called(self, node: Any) -> bool:
        """Whether an expression is a call of a generator function."""
        if not isinstance(node, gast.Call):
            return False
        found = path_of(node.func, self.activation.home, self.activation.scope)
        if found is None and isinstance(node.func, gast.Attribute) and not isinstance(node.func.value, gast.Call):
            found = self.method_of(node.func.value, node.func.attr)
        return is_generator(found)

    def method_of(self, node: Any, name: str) -> Any:
        """The method of this name of what an expression stands for."""
        types: list[Any] = []
        self.path(lambda: types.append(self.state.of(self.expression(node))))
        return found_in_class(types[0].cls, name)[1] if isinstance(types[0], Struct) else None

    def generates(self, node: Any) -> Callable[[], Any] | None:
        """What runs over an expression that a generator function gives, or an object whose `__iter__` is one."""
        if self.generator_called(node):
            return lambda: self.of_Call(node, None)
        plain = isinstance(node, (gast.Name, gast.Attribute))
        if plain and is_generator(self.method_of(node, "__iter__")):
            return lambda: self.iterated(self.expression(node), node)
        return None

    def over_a_generator(self, node: Any) -> bool:
        """A loop over what a generator function gives, numbered perhaps; False for any other."""
        numbered = getattr(getattr(node.iter, "func", None), "id", "") == "enumerate" and len(node.iter.args) == 1
        numbered = numbered and not node.iter.keywords
        iterable = node.iter.args[0] if numbered else node.iter
        run = self.generates(iterable)
        if run is not None:
            self.each_given(node, iterable, run, numbered)
        return run is not None

    def each_given(self, node: Any, iterable: Any, run: Callable[[], Any], numbered: bool) -> None:
        """A loop over what ``run`` makes a generator function give."""
        ways_out = (gast.Break, gast.Continue, gast.Return)
        if self.trying is not None or any(isinstance(s, ways_out) for s in own_statements(node.body)):
            raise self.unsupported(
                node, "a loop over a generator function that is left early, skips a trip or stands in `try`",
                "loop over list(...) of it, or write an `if` around the rest of the trip",
            )  # fmt: skip
        caller = self.activation
        number = self.emit(ops.identity, (Const(0),), node, name="%number") if numbered else ""

        def trip(value: Atom) -> None:
            generator, self.activation = self.activation, caller
            self.bind(node.target, self.emit(ops.make_tuple, (number, value), node) if numbered else value)
            self.block(node.body)
            if numbered:
                self.emit(operator.add, (number, Const(1)), node, target=number)
            self.activation = generator

        self.gives_to = iterable, trip
        run()
        self.block(node.orelse)

    def all_given(self, node: Any) -> Atom:
        """A list of what a call of a generator function gives."""
        items = self.emit(ops.make_list, (), node, name="%yielded")
        span = self.span(node)
        self.gives_to = node, lambda value: self.add(Effect(ops.method, (items, Const("append"), value), (), span))
        self.of_Call(node, None)
        return items

    def receiver(self, function: Any, node: Any) -> Any:
        """What takes the values that a call of a generator function gives."""
        wanted, self.gives_to = self.gives_to, None
        if wanted is None or wanted[0] is not node:
            raise self.unsupported(
                node, f"the generator {function.__name__}, which is not run to its end where it is made",
                "loop over the call itself, or take list(...) of it",
            )  # fmt: skip
        if getattr(node, "read_between", False) and _changes(source_of(function).tree):
            raise self.unsupported(
                node, f"the generator {function.__name__}, which changes things while what it gives is read",
                "loop over it with `for`, which does both in turn",
            )  # fmt: skip
        return wanted[1]

    def give(self, node: Any) -> None:
        """``yield`` of a value."""
        if self.activation.gives is None:
            raise self.unsupported(node, "`yield`", "return a list, or call a function in the loop")
        self.activation.gives(self.expression(node.args[0]))


def mark(tree: Any) -> None:
    """Mark the calls of which all that they give is asked for where they stand."""
    for n in gast.walk(tree):
        if isinstance(n, gast.Call) and getattr(n.func, "id", None) in FULLY_NAMED and len(n.args) == 1:
            (taken,) = n.args
            if isinstance(taken, gast.GeneratorExp) and _is_pure(taken):
                taken = taken.generators[0].iter
            taken.all_asked = True
            taken.read_between = getattr(n.func, "id", "") not in ("list", "tuple") or taken is not n.args[0]
        if isinstance(n, COMPREHENSIONS) and _is_pure(n):
            n.generators[0].iter.all_asked = n.generators[0].iter.read_between = True


def _is_pure(node: Any) -> bool:
    """Whether what a comprehension computes changes nothing, as it is written."""
    return all(_is_plain(n) for part in (node.elt, *node.generators[0].ifs) for n in gast.walk(part)
               if isinstance(n, gast.Call))  # fmt: skip


def _changes(tree: ast.AST) -> bool:
    """Whether a function may change something in place, as it is written."""
    for n in ast.walk(tree):
        if isinstance(n, (ast.Subscript, ast.Attribute)) and not isinstance(n.ctx, ast.Load):
            return True
        if isinstance(n, (ast.AugAssign, ast.Nonlocal, ast.Global)) or isinstance(n, ast.Call) and not _is_plain(n):
            return True
    return False


def _is_plain(call: Any) -> bool:
    """Whether a call, as it is written, is one of NumPy, of Python or of a method of arrays that changes nothing."""
    root = call.func
    if any(k.arg == "out" for k in call.keywords):
        return False
    if isinstance(root, (ast.Name, gast.Name)):
        return root.id in PLAIN
    if root.attr in methods.names(changes=True) if isinstance(root, (ast.Attribute, gast.Attribute)) else True:
        return False
    if hasattr(np.ndarray, root.attr):
        return True
    while isinstance(root, (ast.Attribute, gast.Attribute)):
        root = root.value
    return getattr(root, "id", "") in ("np", "numpy", "math")
