"""``try``: each step of the body is tried first, and then done.

    try:                                     try:
        v = x * 2                                x * 2
        w = math.sqrt(-v)                        raised = 0
    except ValueError:            ->         except ValueError:
        w = 0.0                                  raised = 1
    return v * w                             if raised == 0:
                                                 v = x * 2
                                                 try: math.sqrt(-v) ...

What is tried is carried along unchanged (`Opaque`), on copies if it changes something in place, so that it
leaves nothing behind; a derivative flows through what is done.  Statements whose effects nobody sees once a
later one raises are tried together.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import operator
import random
import types
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import gast
import numpy as np

from tangentc import runtime
from tangentc.analysis.decide import truth
from tangentc.analysis.raising import exception_of
from tangentc.core import ops
from tangentc.core.nodes import CAUGHT, CHOICE, TRIED, Atom, Block, Const, Effect, If, Leave, Opaque, Statement
from tangentc.core.resolve import Scope, names_inside, words_inside
from tangentc.core.types import Array, Scalar
from tangentc.core.walk import defines, statements
from tangentc.errors import TangentcError
from tangentc.frontend.as_text import (
    assigned,
    changes_something,
    headers,
    hidden,
    is_own_name,
    is_untried,
    is_while,
    loads,
    needed,
    own_statements,
)  # fmt: skip
from tangentc.frontend.asked import as_written
from tangentc.frontend.part import Part
from tangentc.frontend.questions import is_settled
from tangentc.frontend.trees import walk

SIMPLE = (gast.Assign, gast.AugAssign, gast.AnnAssign, gast.Expr, gast.Return, gast.Import, gast.ImportFrom)
OPENED = (gast.If, gast.For, gast.While, gast.With)


@dataclass
class Trying:
    """A ``try`` statement whose body is being lowered."""

    node: Any
    raised: str  # 0, or the number of the handler
    seen: set[str]  # the names whose values are seen after a later statement raised


class Attempt(Part):
    """The part of lowering that knows ``try``."""

    def on_Try(self, node: Any) -> None:
        whole = self.block_of(lambda: self._try(node) if node.handlers else self.block([*node.body, *node.orelse]))
        final = self.block_of(lambda: self.block(node.finalbody))
        self.out.extend(finally_(whole, final))

    def _try(self, node: Any) -> None:
        raised = self.emit(ops.identity, (Const(0),), node, name="%raised")
        for h in node.handlers:
            self.name_what_is_raised_again(h)
        outer, self.trying = self.trying, Trying(node, raised, self.seen(node))
        guarded, self.guarded = self.guarded, True
        body = self.block_of(lambda: self.block(node.body))
        self.trying, self.guarded = outer, guarded
        self.out.extend(body)
        known = getattr(self.state.of(raised), "value", None)
        if type(known) is int:
            if not (self.out and never_passes(self.out[-1])):
                self.block(node.handlers[known - 1].body if known else node.orelse)
            return
        last, orelse, handled = self.out[-1], self.inner(node.orelse), self.handled(raised, node.handlers)
        asks = isinstance(last, If) and self.asks_whether(raised, last)
        if isinstance(last, If) and asks and not any(raised in defines(s) for s in statements(last.then)):
            whole = replace(last, then=(*last.then, *orelse), orelse=handled)  # one step, and nothing after it
            self.out[-1] = whole
            self.state.branch(replace(whole, then=orelse))
        elif orelse:
            self.add(self.if_raised(raised, operator.eq, 0, orelse, handled, node.orelse[0]))
        else:
            self.add(self.if_raised(raised, operator.ne, 0, handled, (), node.handlers[0]))

    def asks_whether(self, raised: str, s: If) -> bool:
        """Whether this is the branch that is taken if nothing was raised."""
        test = self.state.definitions.get(s.test)  # type: ignore[arg-type]
        return test is not None and test.op is operator.eq and test.args == (raised, Const(0))

    def handled(self, raised: str, handlers: list, number: int = 1) -> Block:
        """The handler of what was raised, one of these."""
        first, *rest = handlers
        block = self.inner(first.body)
        if not rest:
            return block
        others = self.handled(raised, rest, number + 1)
        return self.path(lambda: self.add(self.if_raised(raised, operator.eq, number, block, others, first)))

    def if_raised(self, raised: str, op: Any, number: int, then: Block, orelse: Block, node: Any) -> If:
        test = self.emit(op, (raised, Const(number)), node)
        return If(test, then, orelse, (), self.span(node), "statement")

    def name_what_is_raised_again(self, handler: Any) -> None:
        """``raise`` alone raises the exception by a name: the handler's code stands after the ``try``."""
        bare = [n for n in own_statements(handler.body) if isinstance(n, gast.Raise) and n.exc is None]
        if bare and handler.name is None:
            name = "caught"
            while name in self.activation.local:
                name += "_"
            handler.name = name
        for n in bare:
            self.activation.local[_error(handler)] += 1  # type: ignore[index]
            n.exc = gast.copy_location(gast.Name(_error(handler), gast.Load(), None, None), n)

    # ---------------------------------------------------------- the body
    def attempted(self, body: list) -> None:
        """Statements of a body: each step is tried, and done with all that follows if nothing was raised."""
        if not body:
            return
        assert self.trying is not None
        handler = self.known_way(body[0])
        if handler == 0 and isinstance(body[0], gast.If):
            self.attempted([*self.taken(body[0]), *body[1:]])
            return
        if handler == 0:
            self.done(body[:1], body[1:])
            return
        if handler is not None:
            self.emit(ops.identity, (Const(handler),), body[0], target=self.trying.raised)
            return
        count, way = self.next_step(body)
        step, rest = body[:count], body[count:]
        if way == "tried":
            self.attempt(step)
            if isinstance(step[-1], gast.Raise):
                return
        elif way == "opened" and (computed := headers(step[0])):
            self.attempt([gast.copy_location(gast.Expr(h), h) for h in computed])
        if way == "untried":
            self.done(step, rest)
            return
        done = self.path(lambda: self.opened_step(step[0], rest) if way == "opened" else self.done(step, rest))
        if done:
            self.add(self.if_raised(self.trying.raised, operator.eq, 0, done, (), step[0]))

    def known_way(self, statement: Any) -> int | None:
        """The number of the handler that a statement surely comes to, 0 if it surely raises nothing: of an `if`, that
        its test is known; None where only the run knows."""
        first = statement.test if isinstance(statement, gast.If) else statement
        if not isinstance(statement, (*SIMPLE, gast.If)) or self.calls_written_out(first) or self.awaits_warnings():
            return None
        found: list[Any] = []

        def write() -> None:
            test = self.expression(first) if first is not statement else self.block([statement])
            is_known = first is statement or is_settled(test) or self.told(truth, test) is not None
            found.append(exception_of(self.out, self.state) if is_known else None)

        ways = self.state.ways_out()
        self.untried(lambda: self.path(write))
        self.state.forget(ways)
        if not isinstance(found[0], type):
            return 0 if found[0] is False else None
        return self.handler_of(found[0])

    def awaits_warnings(self) -> bool:
        """Whether a handler is for what NumPy warns of, and raises where the program has asked it to."""
        named = [n for h in self.trying.node.handlers if h.type for n in getattr(h.type, "elts", [h.type])]  # type: ignore
        kinds = [path_of(n, self.activation.home, self.outermost().scope) for n in named]
        return any(k is ArithmeticError or isinstance(k, type) and issubclass(k, (FloatingPointError, Warning))
                   for k in kinds)  # fmt: skip

    def untried(self, write: Callable[[], Any]) -> Any:
        """What ``write`` gives, which writes what needs not be tried."""
        trying, self.trying = self.trying, None
        try:
            return write()
        finally:
            self.trying = trying

    def taken(self, node: Any) -> list:
        """The branch of an `if` whose test is known."""
        known = self.untried(lambda: self.decided(self.test(node.test), node))
        return node.body if known else node.orelse

    def calls_written_out(self, statement: Any) -> bool:
        """Whether a statement calls something that is no function of a library, nor a method of an array."""
        for n in (n for n in walk(statement) if isinstance(n, gast.Call)):
            callee = path_of(n.func, self.activation.home, self.outermost().scope)
            if callee is None and isinstance(n.func, gast.Attribute) and isinstance(n.func.value, gast.Name):
                home = self.activation.home(n.func.value.id)
                if home is not None and isinstance(self.type_known(home.variable(n.func.value.id)), (Array, Scalar)):
                    continue
            if callee is None or ops.module_root(callee) not in ("builtins", *ops.NUMERIC_MODULES):
                return True
        return False

    def handler_of(self, error: type) -> int | None:
        """The number of the handler that catches an exception, if that is known and it needs no name for it."""
        assert self.trying is not None
        for k, h in enumerate(self.trying.node.handlers, 1):
            scope = self.outermost().scope
            named = h.type.elts if isinstance(h.type, gast.Tuple) else [h.type]
            kinds = [BaseException if n is None else path_of(n, self.activation.home, scope) for n in named]
            if not all(isinstance(kind, type) for kind in kinds):
                return None
            if any(issubclass(error, kind) for kind in kinds):
                return k if h.name is None else None
        return None

    def opened_step(self, statement: Any, rest: list) -> None:
        """A statement whose body is tried step by step, and what follows if nothing was raised."""
        assert self.trying is not None
        getattr(self, "on_" + type(statement).__name__)(self.open_(statement))
        if rest:
            self.add(self.if_raised(self.trying.raised, operator.eq, 0, self.inner(rest), (), rest[0]))

    def done(self, step: list, rest: list) -> None:
        """A step, after which nothing was raised, and the steps that follow."""
        self.untried(lambda: self.block(step))
        if not (self.out and never_passes(self.out[-1])):
            self.attempted(rest)

    def trip(self, body: list) -> None:
        """The body of a loop, which is left when something was raised."""
        self.block(body)
        if self.trying is not None and not (self.out and never_passes(self.out[-1])):
            leave = Leave("break", (), self.span(body[-1]))
            self.add(self.if_raised(self.trying.raised, operator.ne, 0, (leave,), (), body[-1]))

    def next_step(self, body: list) -> tuple[int, str]:
        """How many statements the next step has, and whether it is tried, opened, or done at once."""
        if is_untried(body[0]):
            return 1, "untried"
        if not self.is_atomic(body[0]):
            if isinstance(body[0], (gast.Try, gast.ClassDef)) or getattr(body[0], "orelse", []) and is_while(body[0]):
                raise self.unsupported(
                    body[0], "a statement inside `try` that may be left half done", "move it into a function of its own"
                )
            return 1, "opened"
        count = 0
        for statement in body:
            if count and (is_untried(statement) or not self.is_atomic(statement) or self.changes(statement)):
                break
            count += 1
            if self.changes(statement) or self.may_change(statement) or self.is_seen(statement):
                break
        return count, "tried"

    def is_seen(self, statement: Any) -> bool:
        return bool(self.trying.seen & assigned([statement]).keys())  # type: ignore[union-attr]

    def is_atomic(self, statement: Any) -> bool:
        """Whether a statement leaves nothing behind when it raises."""
        if isinstance(statement, (*OPENED, gast.Match, gast.Try)):
            inside = [n for n in walk(statement) if isinstance(n, gast.stmt) and n is not statement]
            ways_out = [n for n in inside if isinstance(n, (gast.Return, gast.Break, gast.Continue, gast.FunctionDef))]
            return not (ways_out or any(map(self.changes, inside)) or self.is_seen(statement))
        return True

    def changes(self, statement: Any) -> bool:
        """Whether a statement may change something in place: ``z *= 2`` does, if ``z`` is a name of what others see."""
        if isinstance(statement, gast.AugAssign) and isinstance(statement.target, gast.Name):
            return not is_own_name(statement.target.id, self.outermost().source.tree)
        return changes_something(statement)

    def may_change(self, statement: Any) -> bool:
        """Whether a call in a statement may change what it is given before it raises."""
        for n in walk(statement):
            if isinstance(n, gast.Call):
                root = n.func
                while isinstance(root, (gast.Attribute, gast.Subscript)):
                    root = root.value
                home = self.activation.home(root.id) if isinstance(root, gast.Name) else None
                if self.is_inlined(n):
                    return True
                if home is not None and isinstance(n.func, gast.Attribute):
                    if not isinstance(self.type_known(home.variable(root.id)), (Array, Scalar)):
                        return True
        return False

    def is_inlined(self, call: Any) -> bool:
        """Whether a call is one of a function of the user that may change what it is given."""
        function = path_of(call.func, self.activation.home, self.outermost().scope)
        if not isinstance(function, types.FunctionType) or any(isinstance(a, gast.Starred) for a in call.args):
            return False
        with contextlib.suppress(TangentcError):
            given, named = map(self.tried, call.args), {k.arg: self.tried(k.value) for k in call.keywords}
            return self.summaries.inlined(function, list(given), named)
        return False

    def open_(self, node: Any) -> Any:
        """A statement whose body is tried step by step; the test of a ``while`` is one of the steps."""
        if not is_while(node):
            return node
        leave = gast.If(gast.UnaryOp(gast.Not(), node.test), [gast.Break()], [])
        for n in walk(leave):
            gast.copy_location(n, node.test) if not hasattr(n, "lineno") else None
        always = gast.copy_location(gast.Constant(True, None), node.test)
        return gast.copy_location(gast.While(always, [leave, *node.body], []), node)

    def seen(self, node: Any) -> set[str]:
        """The names that the body of a ``try`` assigns, and that may be read when only a part of it ran."""
        names, inside = set(assigned(node.body)), loads(node.body)
        everywhere = loads([self.outermost().source.tree])
        private = {n for n in names if everywhere[n] <= inside[n]} - needed(node.body)
        unseen = set.intersection(*(hidden(names, h.body) for h in node.handlers)) - set(loads(node.finalbody))
        return names - private - unseen

    # ---------------------------------------------------------- what is tried
    def attempt(self, step: list) -> None:
        """Find out whether, and for which handler, a step raises."""
        trying = self.trying
        assert trying is not None
        for n in (n for statement in step for n in walk(statement) if isinstance(n, gast.Call)):
            if draws(path_of(n.func, self.activation.home, self.outermost().scope)):
                raise self.unsupported(n, "random numbers inside `try`, whose steps are tried before they are done",
                                       "draw them before the `try`")  # fmt: skip
        body = [gast.gast_to_ast(as_written(s)) for s in step]
        value = _computed(body[-1])
        tried = _Tried(set(assigned(step if value is None else step[:-1])))
        body[-1] = body[-1] if value is None else ast.Expr(value)
        before = [assign_(TRIED.format(n), ast.Name(n, ast.Load())) for n in sorted(needed(step) & tried.names)]
        code = [*before, *map(tried.visit, body)]
        errors = sorted({n for h in trying.node.handlers if (n := _error(h)) is not None})
        code += [assign_(CHOICE, ast.Constant(0)), *(assign_(f"{CAUGHT} {e}", ast.Constant(None)) for e in errors)]
        handlers = []
        for k, h in enumerate(trying.node.handlers, 1):
            e = _error(h)
            kind = None if h.type is None else gast.gast_to_ast(copy.deepcopy(h.type))
            if kind is None and e is not None:  # `except:` gives the exception no name
                kind = ast.Name("BaseException", ast.Load())
            marks: list[ast.stmt] = [assign_(CHOICE, ast.Constant(k))]
            for other in errors:
                what = ast.Name(CAUGHT, ast.Load()) if other == e else ast.Constant(None)
                marks.append(assign_(f"{CAUGHT} {other}", what))
            handlers.append(ast.ExceptHandler(kind, None if e is None else CAUGHT, marks))
        tree = ast.fix_missing_locations(ast.Module([ast.Try(code, handlers, [], [])], []))
        own = {f"{CAUGHT} {e}": self.fresh(f"%{e}") for e in errors}
        own |= {CHOICE: trying.raised} | ({CAUGHT: self.fresh("%caught")} if errors else {})
        own |= {TRIED.format(n): self.fresh(f"%{n}_tried") for n in sorted(tried.names)}
        written = {n.id for n in walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        reads = tuple((t, a) for t, a in self.reads_of(tree) if t not in own)
        copies: dict[Atom, Atom] = {}
        doubtful = any(map(self.may_change, step))
        if doubtful or any(map(changes_something, step)):
            copies = self.copies_of([a for _, a in reads], step[0])
        reads = tuple((t, copies.get(a, a)) for t, a in reads)
        writes = tuple((t, name) for t, name in own.items() if t in written or t == CAUGHT)
        self.add(Opaque(tree, ast.unparse(tree), reads, writes, self.span(step[0])))
        for e in errors:
            variable = self.variable(gast.Name(e, gast.Store(), None, None))
            self.emit(runtime.passive, (own[f"{CAUGHT} {e}"],), step[0], target=variable)
        if doubtful and copies:
            pairs = [self.emit(ops.make_tuple, tuple(c), step[0]) for c in (copies.values(), copies)]
            check = Effect(runtime.require_unchanged, tuple(pairs), (), self.span(step[0]))
            self.add(self.if_raised(trying.raised, operator.ne, 0, (check,), (), step[0]))

    def copies_of(self, atoms: list[Atom], node: Any) -> dict[Atom, Atom]:
        """Copies of what a step may change, which share memory as the originals do."""
        held = [
            a for a in dict.fromkeys(atoms) if isinstance(a, str) and not isinstance(self.type_known(a), Scalar)
        ]  # fmt: skip
        if len(held) == 1:
            return {held[0]: self.emit(ops.copied, tuple(held), node)}
        both = self.emit(ops.copied, (self.emit(ops.make_tuple, tuple(held), node),), node) if held else None
        return {a: self.emit(operator.getitem, (both, Const(k)), node) for k, a in enumerate(held)}


def path_of(node: Any, home: Any, scope: Any) -> Any:
    """The object that a name of the module, or attributes of one, stand for; None for what is local."""
    if isinstance(node, gast.Name) and home(node.id) is None:
        with contextlib.suppress(NameError):
            return scope.lookup(node.id)
    if isinstance(node, gast.Attribute):
        return getattr(path_of(node.value, home, scope), node.attr, None)
    return None


def draws(function: Any, seen: frozenset = frozenset()) -> bool:
    """Whether calling a function draws random numbers from a source that all share."""
    owner = getattr(function, "__self__", None)
    if isinstance(owner, (random.Random, np.random.Generator, np.random.RandomState)):
        return True
    if not isinstance(function, types.FunctionType) or function in seen:
        return False
    for name in names_inside(function.__code__):
        with contextlib.suppress(NameError):
            value = Scope(function).lookup(name)
            if value is random or value is np.random or isinstance(value, (np.random.Generator, random.Random)):
                return True
            if value is np and "random" in words_inside(function.__code__):
                return True
            if draws(value, seen | {function}):
                return True
    return False


class _Tried(ast.NodeTransformer):
    """A step that is only tried: what it assigns has other names, and changes no array by ``+=`` on a name."""

    def __init__(self, names: set[str]):
        self.names = names

    def visit_Name(self, node: ast.Name) -> Any:
        return ast.Name(TRIED.format(node.id), node.ctx) if node.id in self.names else node

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        if not isinstance(node.target, ast.Name):
            return self.generic_visit(node)
        return assign_(TRIED.format(node.target.id), self.visit(_sum(node)))


def _sum(node: ast.AugAssign) -> ast.expr:
    return ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value)  # type: ignore[union-attr]


def _computed(node: Any) -> ast.expr | None:
    """What a statement computes, if it assigns no more than names to it."""
    if isinstance(node, (ast.Return, ast.AnnAssign, ast.Expr)):
        return node.value or ast.Constant(None)
    if isinstance(node, ast.Assign) and all(isinstance(t, ast.Name) for t in node.targets):
        return node.value
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return _sum(node)
    return None


def finally_(block: Block, last: Block) -> Block:
    """The block with what comes last in front of each way out of it."""
    if not last:
        return block
    out = _leaving(block, last)
    return out if block and isinstance(block[-1], Leave) else (*out, *last)


def _leaving(block: Block, last: Block) -> Block:
    out: list[Statement] = []
    for s in block:
        if isinstance(s, If):
            s = replace(s, then=_leaving(s.then, last), orelse=_leaving(s.orelse, last))
        if isinstance(s, Leave):
            out.extend(last)
        out.append(s)
    return tuple(out)


def never_passes(s: Statement) -> bool:
    """Whether nothing after a statement of its block can run."""
    return isinstance(s, Leave) or isinstance(s, Opaque) and isinstance(s.tree, ast.Raise)


def _error(handler: Any) -> str | None:
    return getattr(handler.name, "id", handler.name)


def assign_(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value, lineno=1)
