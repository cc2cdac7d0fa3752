"""Statements of Python: one method for each kind that the language has."""

from __future__ import annotations

import ast
import builtins
import copy
import functools
import importlib
import operator
import types
from collections.abc import Callable, Iterator
from typing import Any

import gast

from tangentc.analysis.decide import truth
from tangentc.core import ops
from tangentc.core.nodes import (
    Assign,
    Atom,
    Block,
    Const,
    Effect,
    Global,
    If,
    Leave,
    Opaque,
    Place,
    Statement,
    Store,
    While,
)
from tangentc.core.resolve import is_static
from tangentc.core.walk import changed_by, defines, statements
from tangentc.errors import NoSource, UnsafeMutation, UnsupportedSyntax
from tangentc.frontend.asked import as_written
from tangentc.frontend.callables import is_library_module
from tangentc.frontend.expressions import OPERATORS, shifting
from tangentc.frontend.generators import GIVES
from tangentc.frontend.leave import has, refusal, with_flag
from tangentc.frontend.part import Part
from tangentc.frontend.questions import is_settled
from tangentc.frontend.trees import walk
from tangentc.rules.registry import REGISTRY


class Statements(Part):
    """The part of lowering that knows statements."""

    def arm(self, node: Any, write: Callable[[], object], test: Atom, answer: bool) -> Block:
        """What ``write`` writes, in a branch where a test has an answer: what it is refused for counts if the types
        leave the branch there."""
        before = self.activation, self.step, self.unrolled, self.trying, self.guarded, len(self.loops)
        inner: list[Statement] = []

        def refusing() -> None:
            try:
                self.out = inner
                self.state.narrow(test, answer)
                write()
            except (NoSource, UnsupportedSyntax, UnsafeMutation) as error:
                self.activation, self.step, self.unrolled, self.trying, self.guarded, depth = before
                del self.loops[depth:]
                self.out = inner
                self.add(refusal(error, self.span(node)))

        return self.path(refusing)

    def on_Pass(self, node: Any) -> None:
        pass

    on_Nonlocal = on_TypeAlias = on_Pass

    def on_Global(self, node: Any) -> None:
        for name in node.names:
            if self.activation.local[name]:
                raise self.unsupported(node, f"`global {name}` and assigns to it", "pass the value in and return it")

    def on_Expr(self, node: Any) -> None:
        if isinstance(node.value, gast.Constant):
            return
        if isinstance(node.value, gast.Call) and getattr(node.value.func, "id", "") == GIVES:
            self.give(node.value)
            return
        start = len(self.out)
        value = self.expression(node.value)
        last = self.out[-1] if len(self.out) > start else None
        if not isinstance(last, Assign) or last.target != value:
            return
        if isinstance(node.value, (gast.Call, gast.Subscript)) or not ops.is_pure(last.op) or _may_write(last):
            if isinstance(last.op, ops.augmented):
                return  # `a += s; return a` of a function that is lowered in place
            self.out[-1] = Effect(last.op, last.args, last.keywords, last.span)

    def on_Assert(self, node: Any) -> None:
        if not self.does_something(node.test):
            self.opaque(node, None)
            return
        test = self.expression(node.test)  # computed here, and asserted by its name
        tree = gast.gast_to_ast(as_written(node))
        message = self.reads_of(tree.msg) if tree.msg is not None else ()
        tree.test = ast.copy_location(ast.Name("test", ast.Load()), tree.test)
        self.add(Opaque(tree, ast.unparse(tree), (("test", test), *message), (), self.span(node)))

    def on_Raise(self, node: Any) -> None:
        self.opaque(node, None)

    def on_Return(self, node: Any) -> None:
        value = Const(None) if node.value is None else self.expression(node.value)
        if isinstance(value, str) and value.split("'")[0] in assigned_at_last(self.activation.source.tree):
            value = self.kept(value, node)
        if value in self.iterators:
            value = self.emit(ops.once, (value,), node, name="%iterator")
        self.add(Leave("return", (value,), self.span(node)))

    def on_Break(self, node: Any) -> None:
        self.add(Leave("break", (), self.span(node)))

    def on_Continue(self, node: Any) -> None:
        self.add(Leave("continue", (), self.span(node)))

    def on_Import(self, node: Any) -> None:
        for alias in node.names:
            try:
                module = importlib.import_module(alias.name)
            except Exception as error:
                return self.raises(error, node)
            top = module if alias.asname else importlib.import_module(alias.name.split(".")[0])
            self.assign_value(alias.asname or alias.name.split(".")[0], Const(top), node)

    def on_ImportFrom(self, node: Any) -> None:
        package = self.activation.scope.globals.get("__package__") or ""
        try:
            module = importlib.import_module("." * node.level + (node.module or ""), package)
            values = [imported(module, alias.name) for alias in node.names]
        except Exception as error:
            return self.raises(error, node)
        for alias, value in zip(node.names, values, strict=True):
            place = Place("attribute", module)
            if not is_library_module(module):
                self.places[place, alias.name] = place
            atom = Const(value) if is_static(value) or is_library_module(module) else Global(alias.name, place)
            self.assign_value(alias.asname or alias.name, atom, node)

    def raises(self, error: Exception, node: Any) -> None:
        """What surely fails raises where, and only if, the statement runs."""
        name = type(error).__name__ if hasattr(builtins, type(error).__name__) else "ImportError"
        statement = gast.parse(f"raise {name}({str(error)!r})").body[0]
        for n in walk(statement):
            gast.copy_location(n, node)
        self.opaque(statement, None)
        self.out[-1].tree.surely = type(error)  # type: ignore[union-attr]

    def on_FunctionDef(self, node: Any) -> None:
        closure: Atom = self.closure(node)
        for decorator in reversed(node.decorator_list):
            closure = self.invoke(self.callee(decorator), [closure], [], decorator, None)
        self.assign_value(node.name, closure, node)

    def on_AnnAssign(self, node: Any) -> None:
        if node.value is not None:
            self.assign(node.target, node.value)

    def on_Assign(self, node: Any) -> None:
        if len(node.targets) == 1:
            self.assign(node.targets[0], node.value)
            return
        value = self.kept(self.expression(node.value), node)
        for target in node.targets:
            self.bind(target, value)

    def bind_trip(self, target: Any, value: Any) -> None:
        """Bind the target of a loop that is written out: in its trip a name may have a known value."""
        if isinstance(value, tuple):
            if isinstance(target, (gast.Tuple, gast.List)) and len(target.elts) == len(value):
                for t, v in zip(target.elts, value, strict=True):
                    self.bind_trip(t, v)
                return
            value = self.emit(ops.make_tuple, tuple(map(self.packed, value)), target)
        self.bind(target, value)
        if isinstance(target, gast.Name):
            home = self.activation.home(target.id)
            assert home is not None
            home.constants.pop(target.id, None)
            if isinstance(value, Const) and (home.local[target.id] == 1 or home.key is None):
                home.constants[target.id] = value

    def on_Delete(self, node: Any) -> None:
        for target in node.targets:
            if isinstance(target, gast.Name) and (name := self.variable(target)) is not None:
                self.add(Assign(name, ops.identity, (Const(ops.UNDEFINED),), (), self.span(node)))
            if isinstance(target, gast.Attribute):
                raise self.unsupported(target, "`del` of an attribute", "give it another value, None perhaps")
            if isinstance(target, gast.Subscript):
                obj, key = self.expression(target.value), self.expression(target.slice)
                if self.special_method("__delitem__", (obj, key), target, -1) is not None:
                    continue
                if isinstance(target.slice, gast.Slice):
                    if target.slice.step is not None:
                        raise self.unsupported(node, "`del` of a slice with a step", "make a list of what is kept")
                    empty = self.emit(ops.make_list, (), node)
                    self.add(Store(self.named(obj, target.value), key, empty, None, self.span(node)))
                    continue
                self.add(Effect(ops.take, (obj, key), (), self.span(target)))

    def on_AugAssign(self, node: Any) -> None:
        op = OPERATORS[type(node.op).__name__]
        target = node.target
        if isinstance(target, gast.Name):
            variable = self.variable(target)
            shifts = target.id in shifting(self.activation.home(target.id).source.tree)  # type: ignore[union-attr]
            old = self.kept(variable, target) if shifts else variable
            self.operation(op, (old, self.expression(node.value)), node, target=variable, augmented=True)
            return
        obj = self.named(self.expression(target.value), target.value)
        if isinstance(target, gast.Attribute):
            old = self.attribute(obj, target.attr, target)
            new = self.operation(op, (old, self.expression(node.value)), node, name="%rhs", augmented=True)
            self.store_attribute(obj, target, new)
            return
        key = self.kept(self.expression(target.slice), target.slice)
        self.make_missing(obj, key, target)
        start = len(self.out)
        value = self.expression(node.value)
        if self.class_of(obj, node, -1) is None and any(map(changed_by, statements(tuple(self.out[start:])))):
            old = self.fresh(f"%{obj.lstrip('%')}_item")  # what is there before the value changes it
            before = Assign(old, operator.getitem, (obj, key), (), self.span(target))
            self.out.insert(start, before)
            self.state.statement(before)
            new = self.operation(op, (old, value), node, name="%rhs", augmented=True)
            self.store_item(obj, key, new, node)
            return
        self.store_item(obj, key, value, node, op)

    def on_If(self, node: Any) -> None:
        test = self.test(node.test)
        known = self.decided(test, node)
        if known is not None:
            self.block(node.body if known else node.orelse)
            return
        arms = [
            self.arm(node, functools.partial(self.block, body), test, answer)
            for body, answer in ((node.body, True), (node.orelse, False))
        ]
        self.add(If(test, *arms, (), self.span(node), "statement"))  # type: ignore[call-arg,arg-type]

    def decided(self, test: Atom, node: Any) -> bool | None:
        """The answer of a test that the types give here; the branch that cannot run is not looked at."""
        if is_settled(test):
            return bool(test.value)  # type: ignore[union-attr]
        known: bool | None = self.told(truth, test)
        if known is not None and isinstance(test, str):
            self.assume("answers", self.span(node).site, (builtins.bool, known), node, test)
        return known

    def on_While(self, node: Any) -> None:
        """A loop, and behind it the ``return`` that is its only end, if it has one."""
        loop, last = returning_behind(node)
        self.while_loop(loop)
        if last is not None:
            self.on_Return(last)

    def while_loop(self, node: Any) -> None:
        over = self.fresh("%over") if node.orelse else None
        found: list[Any] = []

        def trip() -> None:
            head = self.block_of(lambda: found.append(self.test(node.test)))
            test = found[-1]
            assigns = any(not name.startswith("%") for s in statements(head) for name in defines(s))
            inside = assigns or any(isinstance(s, (Store, Effect)) for s in statements(head))
            found[:] = [head, test, inside]
            if inside:  # while (y := f(x)) > 0: what the test assigns belongs to the body
                ended = () if over is None else (Assign(over, ops.identity, (Const(True),), (), self.span(node)),)
                leave = If(test, (), (*ended, Leave("break", (), self.span(node))), (), self.span(node), "statement")
                self.out.extend(head)
                self.add(leave)
            self.trip(node.body)

        body = self.trips_of(self.span(node).site, trip, is_endless(node))
        self.refuse_deeper(node)
        head, test, inside = found
        if inside:
            self.finish_loop(node, body, lambda b: While((), Const(True), b, (), self.span(node)), over)
        else:
            self.finish_loop(node, body, lambda b: While(head, test, b, (), self.span(node)))

    def finish_loop(self, node: Any, body: Block, make: Any, over: str | None = None) -> None:
        """The loop; if it is left by ``return``, or has an ``else``, flags say how it was left.  ``over`` is one that
        the body sets where it is left because the test failed."""
        returned, broke = f"%returned'{self.activation.number}", self.fresh("%broke")
        returns, orelse = has(body, "return"), getattr(node, "orelse", [])
        out = f"%out'{self.activation.number}" if self.activation.number else "%out"
        span = self.span(node)
        skips = bool(orelse) and over is None and has(body, "break")
        if over is not None:
            self.add(Assign(over, ops.identity, (Const(False),), (), span))
        if skips:
            body = with_flag(body, "break", broke)
            self.add(Assign(broke, ops.identity, (Const(False),), (), span))
        if returns:
            body = with_flag(body, "return", returned, out)
            self.add(Assign(returned, ops.identity, (Const(False),), (), span))
        self.out.append(make(body))
        if returns:  # its state is known from where the loop is left
            self.out.append(If(returned, (Leave("return", (out,), span),), (), (), span, "statement"))
        if over is not None:
            self.add(If(over, self.inner(orelse), (), (), span, "statement"))
        elif skips:
            self.add(If(broke, (), self.inner(orelse), (), span, "statement"))
        elif orelse:
            self.block(orelse)


def imported(module: types.ModuleType, name: str) -> Any:
    """What ``from module import name`` gives: an attribute, or a module inside of a package."""
    try:
        return getattr(module, name)
    except AttributeError:
        if not hasattr(module, "__path__"):
            raise ImportError(f"cannot import name {name!r} from {module.__name__!r}") from None
        return importlib.import_module(f"{module.__name__}.{name}")


def _may_write(s: Assign) -> bool:
    """Whether a call whose result nobody uses is one of SciPy for which there is no rule, and may be made for what it
    writes into its arguments."""
    return ops.module_root(s.op) == "scipy" and REGISTRY.find(s.op) is None


def is_endless(loop: Any) -> bool:
    return isinstance(loop.test, gast.Constant) and bool(loop.test.value)


def returning_behind(loop: Any) -> tuple[Any, Any]:
    """A loop that only one ``return`` ends as one that is left there, and the ``return``; any other as it is, and None.

    while True:                       while True:
        x = f(x)                          x = f(x)
        if x < 1:             ->          if x < 1:
            return x * x                      break
                                      return x * x
    """
    ends = [*_ends(loop)] if is_endless(loop) else []
    if len(ends) != 1 or not isinstance(ends[0], gast.Return):
        return loop, None
    left = copy.copy(loop)
    left.body = [_left(s, ends[0]) for s in loop.body]
    return (loop, None) if any(n is ends[0] for n in walk(left)) else (left, ends[0])


def _ends(node: Any, own: bool = True) -> Iterator[Any]:
    """What leaves a loop; ``own`` says that a ``break`` here does."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, gast.Return) or own and isinstance(child, gast.Break):
            yield child
        elif not isinstance(child, (gast.FunctionDef, gast.Lambda, gast.ClassDef)):
            yield from _ends(child, own and not isinstance(child, (gast.For, gast.While)))


def _left(node: Any, end: Any) -> Any:
    """A statement in which a ``return`` is a ``break``, if only branches are around it; else the same tree."""
    if node is end:
        return gast.copy_location(gast.Break(), node)
    if isinstance(node, gast.If):
        node = copy.copy(node)
        node.body, node.orelse = ([_left(s, end) for s in block] for block in (node.body, node.orelse))
    return node


@functools.lru_cache(maxsize=1024)
def assigned_at_last(tree: ast.AST) -> frozenset[str]:
    """The variables of a function that a ``finally`` assigns, after ``return`` has taken what they were."""
    nodes = [n for t in walk(tree) if isinstance(t, ast.Try) for s in t.finalbody for n in walk(s)]
    return frozenset(n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load))
