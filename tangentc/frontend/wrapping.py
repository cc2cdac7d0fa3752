"""Statements around statements: ``with``, ``try``, ``match``.

with lock: body        the manager is entered and left, once, in order
try: body              the body is tried; then the body runs, or the handler of what was raised
match kind: ...        what matches is found; then the case runs

What is tried and what is matched is carried along unchanged (`Opaque`); a derivative flows through the
bodies only.
"""

from __future__ import annotations

import ast
import copy
import operator
from dataclasses import replace
from typing import Any

import gast

from tangentc.core import ops
from tangentc.core.nodes import Assign, Block, Const, Effect, If, Leave, Opaque, Statement
from tangentc.core.types import Known, Struct
from tangentc.frontend.activation import locals_of

CHANGES = {
    "append", "extend", "insert", "pop", "remove", "clear", "update", "setdefault", "popitem", "add", "discard",
    "fill", "sort", "put", "reverse",
}  # fmt: skip


class Wrapping:
    """The part of lowering that knows statements around statements."""

    activation: Any
    known: Any
    out: list[Statement]
    expression: Any
    emit: Any
    span: Any
    fresh: Any
    bind: Any
    block: Any
    inner: Any
    unsupported: Any
    type_known: Any
    method: Any
    reads_of: Any
    variable: Any

    # ---------------------------------------------------------- with
    def on_With(self, node: Any) -> None:
        self._with(node, list(node.items))

    def _with(self, node: Any, items: list) -> None:
        if not items:
            self.block(node.body)
            return
        item = items[0]
        manager = self.expression(item.context_expr)
        span = self.span(item.context_expr)
        t = self.type_known(manager)
        own = isinstance(t, Struct) or span.site in self.known.classes
        if isinstance(manager, Const):
            manager = self.emit(ops.identity, (manager,), item.context_expr, name="%manager")
        if own:
            entered = self.method(manager, "__enter__", item.context_expr, None, ([], []))
        else:
            entered = self.fresh("%entered")
            self.out.append(Assign(entered, ops.enter, (manager,), (), span))
        if item.optional_vars is not None:
            self.bind(item.optional_vars, entered)
        outer, self.out = self.out, []
        self._with(node, items[1:])
        body, self.out = tuple(self.out), []
        if own:
            self.method(manager, "__exit__", item.context_expr, None, ([Const(None)] * 3, []))
        else:
            self.out.append(Effect(ops.leave, (manager,), (), span))
        last, self.out = tuple(self.out), outer
        self.out.extend(_finally(body, last))

    # ---------------------------------------------------------- try
    def on_Try(self, node: Any) -> None:
        final = self.inner(node.finalbody)
        outer, self.out = self.out, []
        if node.handlers:
            self._try(node)
        else:
            self.block(node.body)
            self.block(node.orelse)
        whole, self.out = tuple(self.out), outer
        self.out.extend(_finally(whole, final))

    def _try(self, node: Any) -> None:
        self._refuse_changes(node)
        raised = self.fresh("%raised")
        tree, errors = _attempt(node)
        names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
        needed = _needed(tree.body[0].body)
        local = sorted(n for n in names & needed if self.activation.home(n) is not None)
        tree.body[0].args.args = [ast.arg(n) for n in local if n not in errors]
        tree.body[1].body[0].value.args = [ast.Name(n, ast.Load()) for n in local if n not in errors]
        reads = tuple(
            (t, a) for t, a in self.reads_of(tree, set(local)) if t not in errors and t not in ("raised", "attempt")
        )
        writes = (("raised", raised), *((e, self.variable(gast.Name(e, gast.Store(), None, None))) for e in errors))
        self.out.append(Opaque(tree, ast.unparse(tree), reads, writes, self.span(node)))
        test = self.emit(operator.eq, (raised, Const(0)), node)
        blocks = [self.inner([*node.body, *node.orelse]), *(self.inner(h.body) for h in node.handlers)]
        chain: Block = blocks[-1]
        for k in range(len(blocks) - 2, -1, -1):
            outer, self.out = self.out, []
            if k:
                test_k = self.emit(operator.eq, (raised, Const(k)), node)
            self.out.append(If(test_k if k else test, blocks[k], chain, (), self.span(node), "statement"))
            chain, self.out = tuple(self.out), outer
        self.out.extend(chain)

    def _refuse_changes(self, node: Any) -> None:
        for statement in node.body:
            for n in gast.walk(statement):
                stored = isinstance(n, (gast.Subscript, gast.Attribute)) and not isinstance(n.ctx, gast.Load)
                method = isinstance(n, gast.Call) and isinstance(n.func, gast.Attribute) and n.func.attr in CHANGES
                if stored or method:
                    raise self.unsupported(
                        n, "a change in place inside `try`", "make the change after the `try` statement"
                    )

    # ---------------------------------------------------------- match
    def on_Match(self, node: Any) -> None:
        subject = self.expression(node.subject)
        captured = sorted(_captures(node))
        tree = _chooser(node, captured)
        t = self.type_known(subject)
        if (
            isinstance(t, Known)
            and isinstance(t.value, (str, int, type(None)))
            and not any(c.guard for c in node.cases)
        ):
            scope: dict[str, Any] = {"subject": t.value, **self.activation.scope.globals}
            exec(compile(ast.fix_missing_locations(copy.deepcopy(tree)), "<match>", "exec"), scope)
            for name in captured:
                if scope[name] is not None:
                    self.bind(gast.Name(name, gast.Store(), None, None), Const(scope[name]))
            if scope["matched"] is not None:
                self.block(node.cases[scope["matched"]].body)
            return
        matched = self.fresh("%matched")
        reads = (("subject", subject), *((n, a) for n, a in self.reads_of(tree) if n != "subject"))
        writes = tuple((n, self.variable(gast.Name(n, gast.Store(), None, None))) for n in captured)
        self.out.append(Opaque(tree, ast.unparse(tree), reads, (("matched", matched), *writes), self.span(node)))
        chain: Block = ()
        for k in range(len(node.cases) - 1, -1, -1):
            outer, self.out = self.out, []
            test = self.emit(operator.eq, (matched, Const(k)), node)
            self.out.append(If(test, self.inner(node.cases[k].body), chain, (), self.span(node), "statement"))
            chain, self.out = tuple(self.out), outer
        self.out.extend(chain)


def _finally(block: Block, last: Block) -> Block:
    """The block with what comes last in front of each way out of it."""
    if not last:
        return block
    out: list[Statement] = []
    for s in block:
        if isinstance(s, If):
            s = replace(s, then=_leaving(s.then, last), orelse=_leaving(s.orelse, last))
        if isinstance(s, Leave):
            out.extend(last)
        out.append(s)
    if not (block and isinstance(block[-1], Leave)):
        out.extend(last)
    return tuple(out)


def _leaving(block: Block, last: Block) -> Block:
    out: list[Statement] = []
    for s in block:
        if isinstance(s, If):
            s = replace(s, then=_leaving(s.then, last), orelse=_leaving(s.orelse, last))
        if isinstance(s, Leave):
            out.extend(last)
        out.append(s)
    return tuple(out)


def _attempt(node: Any) -> tuple[Any, list[str]]:
    """``raised`` is 0 if the body of a ``try`` goes through, else the number of the handler.

    def attempt(x):
        return np.log(x)
    try:
        attempt(x)
        raised = 0
    except FloatingPointError:
        raised = 1
    """
    body = [gast.gast_to_ast(copy.deepcopy(s)) for s in node.body]
    body = [_Harmless().visit(s) for s in body]
    signature = ast.arguments([], [], None, [], [], None, [])
    define = ast.FunctionDef("attempt", signature, body, [], None, None)
    handlers, errors = [], []
    for k, h in enumerate(node.handlers):
        kind = gast.gast_to_ast(copy.deepcopy(h.type)) if h.type is not None else None
        name = getattr(h.name, "id", h.name)
        marks: list[ast.stmt] = [_assign("raised", ast.Constant(k + 1))]
        if name is not None:
            errors.append(name)
            marks.append(_assign(name, ast.Name("caught", ast.Load())))
        handlers.append(ast.ExceptHandler(kind, "caught" if name is not None else None, marks))
    call = ast.Expr(ast.Call(ast.Name("attempt", ast.Load()), [], []))
    done = _assign("raised", ast.Constant(0))
    before: list[ast.stmt] = [_assign(e, ast.Constant(None)) for e in dict.fromkeys(errors)]
    tree = ast.Module([define, ast.Try([call, done], handlers, [], []), *[]], [])
    if before:
        tree.body[1:1] = []
        tree.body.extend([])
        tree.body[1].body[1:] = [done, *before]  # type: ignore[attr-defined]
    return ast.fix_missing_locations(tree), list(dict.fromkeys(errors))


def _needed(body: list) -> set[str]:
    """The names that a block reads before it assigns them, as far as the order of its statements tells."""
    found: set[str] = set()
    assigned: set[str] = set()
    for statement in body:
        names = [n for n in ast.walk(statement) if isinstance(n, ast.Name)]
        stored = {n.id for n in names if isinstance(n.ctx, ast.Store)}
        found |= {n.id for n in names if isinstance(n.ctx, ast.Load)} - assigned
        if isinstance(statement, (ast.Assign, ast.AnnAssign)):
            assigned |= stored
    return found


class _Harmless(ast.NodeTransformer):
    """A body that is only tried: it changes nothing outside, and leaves by ``return`` alone."""

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        if not isinstance(node.target, ast.Name):
            return node
        value = ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value)
        return ast.Assign([node.target], value, lineno=node.lineno)

    def visit_Break(self, node: Any) -> Any:
        return ast.Return(None)

    visit_Continue = visit_Break

    def visit_For(self, node: Any) -> Any:
        return node

    visit_While = visit_FunctionDef = visit_Lambda = visit_For


def _captures(node: Any) -> set[str]:
    found: set[str] = set()
    for case in node.cases:
        for n in gast.walk(case.pattern):
            for attribute in ("name", "rest"):
                if isinstance(getattr(n, attribute, None), str):
                    found.add(getattr(n, attribute))
    return found


def _chooser(node: Any, captured: list[str]) -> Any:
    """``matched`` is the number of the case that a subject matches, None if none does."""
    cases = []
    for k, case in enumerate(node.cases):
        plain = gast.gast_to_ast(copy.deepcopy(case))
        plain.body = [_assign("matched", ast.Constant(k))]
        cases.append(plain)
    start: list[ast.stmt] = [_assign("matched", ast.Constant(None))]
    start += [_assign(n, ast.Constant(None)) for n in captured]
    tree = ast.Module([*start, ast.Match(ast.Name("subject", ast.Load()), cases)], [])
    return ast.fix_missing_locations(tree)


def _assign(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value, lineno=1)


__all__ = ["Wrapping", "locals_of"]
