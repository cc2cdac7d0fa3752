"""Statements around statements: ``with`` and ``match``.

with lock: body        the manager is entered and left, once, in order
match kind: ...        what matches is found; then the case runs

What is matched is carried along unchanged (`Opaque`); a derivative flows through the
bodies only.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import types
from typing import Any

import gast

from tangentc.core import ops
from tangentc.core.classes import found_in_class
from tangentc.core.nodes import Assign, Const, Effect
from tangentc.core.types import Array, is_container, is_differentiable
from tangentc.frontend.attempt import finally_, path_of
from tangentc.frontend.callables import is_user_function
from tangentc.frontend.generators import leaves_by
from tangentc.frontend.matching import as_tests
from tangentc.frontend.part import Part
from tangentc.frontend.source import source_of
from tangentc.frontend.trees import walk

RETURNED = "returned_by_block"
NOTHING = "given_by_manager"  # what a manager gives, where it gets no name
MANAGER = contextlib.contextmanager(lambda: iter(())).__code__  # of what it makes


class Wrapping(Part):
    """The part of lowering that knows statements around statements."""

    # ---------------------------------------------------------- with
    def on_With(self, node: Any) -> None:
        self._with(node, list(node.items))

    def _with(self, node: Any, items: list) -> None:
        if not items:
            self.block(node.body)
            return
        item = items[0]
        library = self.library_manager(item.context_expr)
        if library is contextlib.nullcontext:
            given = item.context_expr.args
            value = self.expression(given[0]) if given else Const(None)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, value)
            self._with(node, items[1:])
            return
        if getattr(library, "__tangentc_inserts__", False):
            if len(items) > 1 or item is not node.items[0]:
                raise self.unsupported(node, "insert_grad_of beside another manager", "a `with` of its own")
            self.insertion(node, item)
            return
        if library is contextlib.suppress and item.optional_vars is None:
            self.block([_suppressing(node, item.context_expr, items[1:])])
            return
        body, last = _with_return_behind(node.body)
        generator = self.generator_of_manager(item, body)
        if generator is not None:
            self.activation.local.update({NOTHING: 2, RETURNED: 2})
            self.block([_given_by(node, item, items[1:], body, generator), *last])
            return
        manager = self.expression(item.context_expr)
        span = self.span(item.context_expr)
        cls = self.class_of(manager, item.context_expr)
        own = cls is not None
        if isinstance(manager, Const):
            manager = self.emit(ops.identity, (manager,), item.context_expr, name="%manager")
        if own:
            self.refuse_asking(cls, item.context_expr)
            entered = self.method(manager, "__enter__", item.context_expr, None, ([], []))
        else:
            entered = self.fresh("%entered")
            self.add(Assign(entered, ops.enter, (manager,), (), span))
        if item.optional_vars is not None:
            self.bind(item.optional_vars, entered)
        body = self.block_of(lambda: self._with(node, items[1:]))
        last = self.block_of(lambda: self.left(manager, own, item.context_expr))
        self.out.extend(finally_(body, last))

    def left(self, manager: Any, own: bool, node: Any) -> None:
        """What leaving a context manager does."""
        if not own:
            self.add(Effect(ops.leave, (manager,), (), self.span(node)))
            return
        given_back = self.method(manager, "__exit__", node, None, ([Const(None)] * 3, []))
        if given_back not in (Const(None), Const(False)):
            raise self.unsupported(node, "a context manager whose __exit__ may suppress an exception", "try and except")

    def refuse_asking(self, cls: type, node: Any) -> None:
        """Refuse a context manager whose ``__exit__`` asks which exception was raised, where that is not None."""
        kind, found, _ = found_in_class(cls, "__exit__")
        if kind != "method" or not isinstance(found, types.FunctionType):
            return
        tree = source_of(found).tree
        given = {getattr(a, "arg", getattr(a, "id", "")) for a in [*tree.args.args[1:], tree.args.vararg] if a}
        read = {n.id for n in walk(tree) if type(n).__name__ == "Name" and type(n.ctx).__name__ == "Load"}
        results = [n.value for n in walk(tree) if type(n).__name__ == "Return" and n.value is not None]
        suppresses = any(getattr(r, "value", True) not in (None, False) for r in results)
        if given & read and (suppresses or self.guarded):
            raise self.unsupported(
                node, "a context manager whose __exit__ asks which exception was raised", "try, except and finally"
            )

    def insertion(self, node: Any, item: Any) -> None:
        """``with insert_grad_of(x) as x_bar``: the block is kept for the adjoint sweep."""
        given = item.context_expr.args
        if len(given) != 1 or not isinstance(given[0], gast.Name) or not isinstance(item.optional_vars, gast.Name):
            raise self.unsupported(node, "insert_grad_of in another form",
                                   "with insert_grad_of(x) as x_bar, for a variable x")  # fmt: skip
        x, bar = given[0].id, item.optional_vars.id
        body = [gast.gast_to_ast(copy.deepcopy(s)) for s in node.body]
        first = ast.Assign([ast.Name(bar, ast.Store())], ast.Name(f"{bar} before", ast.Load()))
        tree = ast.Module([first, *body], [])
        if any(isinstance(n, (ast.Return, ast.Break, ast.Continue, ast.Yield)) for n in walk(tree)):
            raise self.unsupported(node, "a block of insert_grad_of that is left early", "an `if` around the rest")
        assigned = sorted({n.id for n in walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)})
        reads = [(name, atom) for name, atom in self.reads_of(tree) if name not in assigned]
        block = ops.Insertion(tree, ast.unparse(ast.Module(body, [])), bar, tuple(assigned),
                              tuple((n, a) for n, a in reads if not isinstance(a, str)))  # fmt: skip
        named = tuple((n, a) for n, a in reads if isinstance(a, str))
        value = self.emit(ops.inserted, (self.expression(given[0]), Const(block)), node, named, name=f"%{x}")
        self.bind(gast.copy_location(gast.Name(x, gast.Store(), None, None), given[0]), value)

    def library_manager(self, node: Any) -> Any:
        """The class of Python's own that makes a context manager, None for others."""
        if not isinstance(node, gast.Call) or node.keywords:
            return None
        callee = self.looked_at(node.func)
        return callee.value if isinstance(callee, Const) else None

    def generator_of_manager(self, item: Any, body: list) -> Any:
        """The generator function of the user's that `contextlib.contextmanager` makes a manager of, where a derivative
        may flow from what it is given, or what it is given may change."""
        node = item.context_expr
        callee = self.looked_at(node.func) if isinstance(node, gast.Call) else None
        made = callee.value if isinstance(callee, Const) else None
        if getattr(made, "__code__", None) is not MANAGER or not is_user_function(made.__wrapped__):
            return None
        if not any(may_move(self.tried(a)) for a in (*node.args, *(k.value for k in node.keywords))):
            return None
        left = any(leaves_by(body, way) for way in (gast.Break, gast.Continue, gast.Return))
        if left or self.trying is not None:
            raise self.unsupported(
                node, f"the manager {made.__name__}, which is given what may move or change, "
                + ("around a block that is left early" if left else "in a `try`"),
                "leave the block first, or write a class with __enter__ and __exit__",
            )  # fmt: skip
        return made.__wrapped__

    def refuse_named_manager(self, call: Any) -> None:
        """Refuse a manager made of a generator that is a method, or gets a name first: its work would not be seen."""
        if getattr(call.callee, "__code__", None) is MANAGER and is_user_function(call.callee.__wrapped__):
            if any(may_move(self.state.of(a)) for a in (*call.args, *dict(call.keywords).values())):
                raise self.unsupported(
                    call.node, f"the manager {call.callee.__name__}, a method or one that is made before it is entered",
                    "call a function of the module in the `with` statement; a class with __enter__ and __exit__",
                )  # fmt: skip

    # ---------------------------------------------------------- match
    def on_Match(self, node: Any) -> None:
        def names_of(cls: Any) -> tuple[str, ...] | None:
            found = path_of(cls, self.activation.home, self.activation.scope)
            return getattr(found, "__match_args__", None) if isinstance(found, type) else None

        subject = f"matched_{node.lineno}"
        self.activation.local[subject] += 2
        place = gast.copy_location(gast.Name(subject, gast.Store(), None, None), node.subject)
        self.bind(place, self.expression(node.subject))
        try:
            tests = as_tests(node, subject, names_of)
        except LookupError as error:
            raise self.unsupported(node, f"`match` with {error.args[0]}", "write it as tests, with `if`") from None
        self.block(tests)


def may_move(t: Any) -> bool:
    """Whether a derivative may flow through a value, or it can be changed."""
    return is_differentiable(t) or is_container(t) or isinstance(t, Array)


def _with_return_behind(body: list) -> tuple[list, list]:
    """A block that ends in ``return value`` as one that ends in giving the value a name, and the return of that."""
    if not isinstance(body[-1], gast.Return) or body[-1].value is None:
        return body, []
    last = body[-1]
    name = gast.copy_location(gast.Name(RETURNED, gast.Store(), None, None), last)
    read = gast.copy_location(gast.Name(RETURNED, gast.Load(), None, None), last)
    kept = gast.copy_location(gast.Assign([name], last.value, None), last)
    return [*body[:-1], kept], [gast.copy_location(gast.Return(read), last)]


def _given_by(node: Any, item: Any, others: list, body: list, generator: Any) -> Any:
    """``with manager(x) as v: body`` as a loop over what the manager's generator gives, ``for v in steps(x): body``."""
    target = item.optional_vars or gast.Name(NOTHING, gast.Store(), None, None)
    call = copy.copy(item.context_expr)
    call.func = gast.Constant(generator, None)
    body = [gast.With(others, body, None)] if others else body
    loop = gast.For(target, call, body, [], None)
    for new in (target, call.func, loop, *body[: bool(others)]):
        gast.copy_location(new, item.context_expr if new is call.func else node)
    return loop


def _suppressing(node: Any, call: Any, items: list) -> Any:
    """``with suppress(E): body`` as ``try: body`` with a handler that does nothing."""
    kind = call.args[0] if len(call.args) == 1 else gast.Tuple(list(call.args), gast.Load())
    handler = gast.ExceptHandler(kind, None, [gast.Pass()])
    body = [gast.With(items, node.body, None)] if items else node.body
    made = gast.Try(body, [handler], [], [])
    for part in (made, handler, handler.body[0], kind, *(body if items else [])):
        gast.copy_location(part, node)
    return made
