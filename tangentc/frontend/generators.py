"""Generator functions, whose bodies stand where they are run.

    def pairs(xs):                       for a, b in pairs(v):         ->   for i in range(len(v) - 1):
        for i in range(len(xs) - 1):         s = s + a * b                      a, b = v[i], v[i + 1]
            yield xs[i], xs[i + 1]                                              s = s + a * b

A loop over a call of one is the body of the function, with that of the loop in place of each `yield`. Where all that it
gives is asked for at once, as by `sum` and `list`, its body fills a list.
"""

from __future__ import annotations

import ast
import copy
import inspect
import operator
import types
from collections.abc import Callable, Collection
from typing import Any

import gast
import numpy as np

from tangentc.core import ops
from tangentc.core.classes import found_in_class
from tangentc.core.nodes import Atom, Const, Effect, If, Leave
from tangentc.core.types import Struct
from tangentc.frontend.activation import declared, locals_of
from tangentc.frontend.as_text import own_statements
from tangentc.frontend.asked import FULLY
from tangentc.frontend.attempt import path_of
from tangentc.frontend.part import Part
from tangentc.frontend.source import source_of
from tangentc.frontend.trees import walk
from tangentc.ops import methods

GIVES = "%yield"  # the name of what stands for `yield` in the tree of a generator function
FULLY_NAMED = {f.__name__ for f in FULLY}  # type: ignore[attr-defined]
PLAIN = {
    "abs", "bool", "complex", "enumerate", "float", "int", "len", "list", "max", "min", "pow", "range", "round",
    "sorted", "str", "sum", "tuple", "zip",
}  # fmt: skip  # functions of Python's that change nothing
COMPREHENSIONS = (gast.ListComp, gast.SetComp)


def is_generator(function: Any) -> bool:
    """Whether calling a function gives a generator; also one that is defined inside."""
    if getattr(getattr(function, "node", None), "generates", False):
        return True
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
    for n in walk(tree):
        if not hasattr(n, "lineno"):
            gast.copy_location(n, at)
    return tree


def giving(tree: Any) -> Any:
    """A tree with the `yield` statements of generator functions as calls, also of those inside; any other `yield`
    stays."""
    for function in [n for n in walk(tree) if isinstance(n, gast.FunctionDef)]:
        function.generates = any(
            isinstance(s, gast.Expr) and isinstance(s.value, (gast.Yield, gast.YieldFrom))
            for s in own_statements(function.body)
        )
        function.body = [_Giving().visit(s) for s in function.body] if function.generates else function.body
    return tree


class _Left:
    """The body of a loop over a generator function that leaves it early, as a function: ``break`` and ``return`` set a
    flag and end it, ``continue`` ends it.

    for y in steps(x):              left = False
        if y > 2:                   for y in steps(x):      # body()
            return y        ->          def body():
        total += y                          if y > 2: value, left = y, True; return
                                            total += y
                                        body()
                                        if left: <the generator returns>
                                    if left: return value
    """

    def __init__(self, node: Any, taken: Collection[str]):
        self.ways = {way for way in (gast.Break, gast.Continue, gast.Return) if leaves_by(node.body, way)}
        longest = "_" * max(map(len, taken), default=0)
        words = ("broke", "returned", "value")
        self.broke, self.returned, self.value = (w if w not in taken else w + longest for w in words)
        flags = [f for f, way in ((self.broke, gast.Break), (self.returned, gast.Return)) if way in self.ways]
        self.names = [*flags, *([self.value] if gast.Return in self.ways else [])]
        self.before = [_set(flag, gast.Constant(False, None), node) for flag in flags]
        self.test: Any = _read(flags[0], node) if flags else None
        if len(flags) == 2:
            self.test = gast.copy_location(gast.BoolOp(gast.Or(), [_read(f, node) for f in flags]), node)
        self.after = node.orelse
        if gast.Break in self.ways and node.orelse:
            missed = gast.copy_location(gast.UnaryOp(gast.Not(), _read(self.broke, node)), node)
            self.after = [gast.copy_location(gast.If(missed, node.orelse, []), node)]
        if gast.Return in self.ways:
            back = gast.copy_location(gast.Return(_read(self.value, node)), node)
            self.after = [gast.copy_location(gast.If(_read(self.returned, node), [back], []), node), *self.after]
        self.function = self.as_function(node) if self.ways else None

    def as_function(self, node: Any) -> Any:
        tree = gast.parse("def body(): pass").body[0]
        tree.body = self.block(copy.deepcopy(node.body), True)
        assigned = [n for n in locals_of(tree) if n not in declared(tree.body, gast.Global)]
        tree.body = [gast.copy_location(gast.Nonlocal(assigned), node), *tree.body] if assigned else tree.body
        return gast.copy_location(tree, node)

    def block(self, body: list, outermost: bool) -> list:
        """The statements with what leaves them written out; inside another loop only ``return`` leaves this one."""
        out: list = []
        for s in body:
            end = gast.copy_location(gast.Return(None), s)
            if isinstance(s, gast.Return):
                given = s.value if s.value is not None else gast.copy_location(gast.Constant(None, None), s)
                true = gast.Constant(True, None)
                out += [_set(self.value, given, s), _set(self.returned, true, s), end]
            elif isinstance(s, gast.Break) and outermost:
                out += [_set(self.broke, gast.Constant(True, None), s), end]
            elif isinstance(s, gast.Continue) and outermost:
                out.append(end)
            else:
                for of, part in _blocks(s):
                    inner = outermost and (part == "orelse" or not isinstance(s, (gast.For, gast.While)))
                    setattr(of, part, self.block(getattr(of, part), inner))
                out.append(s)
        return out


def _blocks(s: Any) -> list[tuple[Any, str]]:
    """The blocks in a statement, as attributes: those of handlers and cases among them, those of functions not."""
    if isinstance(s, (gast.FunctionDef, gast.ClassDef)):
        return []
    parts = [s, *getattr(s, "handlers", ()), *getattr(s, "cases", ())]
    names = ("body", "orelse", "finalbody")
    return [(of, name) for of in parts for name in names if isinstance(getattr(of, name, None), list)]


def leaves_by(body: list, way: Any) -> bool:
    """Whether a loop is left in this way by a statement of its body; in another loop only ``return`` leaves both."""
    for s in body:
        if isinstance(s, way):
            return True
        for of, part in _blocks(s):
            inner = isinstance(s, (gast.For, gast.While)) and part == "body"
            if not (inner and way is not gast.Return) and leaves_by(getattr(of, part), way):
                return True
    return False


def _set(name: str, value: Any, node: Any) -> Any:
    target = gast.copy_location(gast.Name(name, gast.Store(), None, None), node)
    return gast.fix_missing_locations(gast.copy_location(gast.Assign([target], value, None), node))


def _read(name: str, node: Any) -> Any:
    return gast.copy_location(gast.Name(name, gast.Load(), None, None), node)


class Generators(Part):
    """The part of lowering that knows generator functions."""

    def generator_called(self, node: Any) -> bool:
        """Whether an expression is a call of a generator function."""
        if not isinstance(node, gast.Call):
            return False
        if isinstance(node.func, gast.Constant):  # it is known which one
            return is_generator(node.func.value)
        found = path_of(node.func, self.activation.home, self.activation.scope)
        if isinstance(node.func, gast.Name) and (home := self.activation.home(node.func.id)) is not None:
            found = getattr(home.constants.get(node.func.id), "value", None)
        if found is None and isinstance(node.func, gast.Attribute):
            base = node.func.value
            if isinstance(base, gast.Call):  # of an object that is made here
                cls = path_of(base.func, self.activation.home, self.activation.scope)
                found = found_in_class(cls, node.func.attr)[1] if isinstance(cls, type) else None
            else:
                found = self.method_of(base, node.func.attr)
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
        made = path_of(node.func, self.activation.home, self.activation.scope) if isinstance(node, gast.Call) else None
        found = found_in_class(made, "__iter__")[1] if isinstance(made, type) else None
        if isinstance(node, (gast.Name, gast.Attribute)):
            found = self.method_of(node, "__iter__")
        return (lambda: self.iterated(self.expression(node), node)) if is_generator(found) else None

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
        if self.trying is not None:
            raise self.unsupported(
                node, "a loop over a generator function that stands in `try`", "loop over list(...) of it"
            )  # fmt: skip
        caller = self.activation
        number = self.emit(ops.identity, (Const(0),), node, name="%number") if numbered else ""
        names = {getattr(n, "id", "") for n in walk(caller.source.tree)}
        left = _Left(node, names | {*caller.local})
        for name in left.names:
            caller.local[name] += 2
        self.block(left.before)

        def trip(value: Atom) -> None:
            generator, self.activation = self.activation, caller
            self.block(left.before)
            self.bind(node.target, self.emit(ops.make_tuple, (number, value), node) if numbered else value)
            over = self.trip_that_leaves(node, left) if left.ways else self.block(node.body)
            if numbered:
                self.emit(operator.add, (number, Const(1)), node, target=number)
            self.activation = generator
            if over is not None:  # what the generator would do next is not done
                end = self.path(lambda: self.add(Leave("return", (Const(None),), self.span(node))))
                self.add(If(over, end, (), (), self.span(node), "statement"))

        self.gives_to = iterable, trip, False
        run()
        self.block(left.after)

    def in_turn(self, node: Any, run: Callable[[], Any], body: Callable[[Atom], None]) -> None:
        """What is done with each item that ``run`` makes a generator function give, before it goes on."""

        def trip(value: Atom) -> None:
            generator = self.activation
            body(value)
            self.activation = generator

        self.gives_to = node, trip, False
        run()

    def trip_that_leaves(self, node: Any, left: _Left) -> Atom | None:
        """The body of a loop as a function that returns where a trip ends; gives whether it was the last."""
        tree = left.function
        activation = self.begin(self.activation.source, self.activation.scope, tree, self.activation, tree, None,
                                self.span(node))  # fmt: skip
        self.inline(activation, tree, {}, [], [], node, "the body of a loop")
        return self.expression(left.test) if left.test is not None else None

    def all_given(self, node: Any) -> Atom:
        """A list of what a call of a generator function gives."""
        return self.gathered(node, lambda: self.of_Call(node, None))

    def gathered(self, node: Any, run: Callable[[], Any]) -> Atom:
        """A list of what ``run`` makes a generator function give."""
        items = self.emit(ops.make_list, (), node, name="%yielded")
        span = self.span(node)
        append = (items, Const("append"))
        self.gives_to = node, lambda value: self.add(Effect(ops.method, (*append, value), (), span)), True
        run()
        return items

    def receiver(self, function: Any, node: Any) -> Any:
        """What takes the values that a call of a generator function gives."""
        wanted, self.gives_to = self.gives_to, None
        if wanted is None or wanted[0] is not node:
            raise self.unsupported(
                node, f"the generator {function.__name__}, which is not run to its end where it is made",
                "loop over the call itself, or take list(...) of it",
            )  # fmt: skip
        if not wanted[2]:  # what is given is used before the generator goes on
            return wanted[1]
        tree = function.node if hasattr(function, "node") else source_of(function).tree
        if getattr(node, "read_between", False) and _changes(tree):
            raise self.unsupported(
                node, f"the generator {function.__name__}, which changes things while what it gives is read",
                "loop over it with `for`, which does both in turn",
            )  # fmt: skip
        if getattr(node, "may_go_on", False) and any(type(n).__name__ == "While" for n in walk(tree)):
            raise self.unsupported(
                node, f"the generator {function.__name__}, which may give more than is taken",
                "loop over it with `for`, and leave the loop by `break`",
            )  # fmt: skip
        return wanted[1]

    def give(self, node: Any) -> None:
        """``yield`` of a value."""
        if self.activation.gives is None:
            raise self.unsupported(node, "`yield`", "return a list, or call a function in the loop")
        self.activation.gives(self.expression(node.args[0]))


def mark(nodes: dict[type, list[Any]]) -> None:
    """Mark the calls, among the nodes of a function by their kinds, of which all that they give is asked for where they
    stand."""
    for n in nodes[gast.Call]:
        name = getattr(n.func, "id", None)
        if name in FULLY_NAMED and len(n.args) == 1:
            (taken,) = n.args
            if isinstance(taken, gast.GeneratorExp) and _is_pure(taken):
                taken = taken.generators[0].iter
            taken.all_asked = True
            taken.read_between = name not in ("list", "tuple") or taken is not n.args[0]
        if name in ("zip", "enumerate"):  # which may stop before
            for taken in n.args:
                taken.all_asked = taken.read_between = taken.may_go_on = True
        if getattr(n.func, "attr", None) == "fromiter" and n.args:
            n.args[0].all_asked = True
    for n in nodes[gast.Starred]:
        if isinstance(n.ctx, gast.Load):
            n.value.all_asked = True
    for n in nodes[gast.Assign]:
        if isinstance(n.targets[0], (gast.Tuple, gast.List)):
            n.value.all_asked = True  # a, *rest = steps(x)
    for n in (n for kind in COMPREHENSIONS for n in nodes[kind]):
        if _is_pure(n):
            n.generators[0].iter.all_asked = n.generators[0].iter.read_between = True


def _is_pure(node: Any) -> bool:
    """Whether what a comprehension computes changes nothing, as it is written."""
    return all(_is_plain(n) for part in (node.elt, *node.generators[0].ifs) for n in walk(part)
               if isinstance(n, gast.Call))  # fmt: skip


def _changes(tree: Any) -> bool:
    """Whether a function may change something in place, as it is written."""
    nodes: list[Any] = list(walk(tree))
    for n in nodes:
        kind = type(n).__name__
        if kind in ("Subscript", "Attribute") and type(n.ctx).__name__ != "Load":
            return True
        gives = getattr(getattr(n, "func", None), "id", "") == GIVES
        if kind in ("AugAssign", "Nonlocal", "Global") or kind == "Call" and not gives and not _is_plain(n):
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
