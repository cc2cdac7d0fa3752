"""Statements around statements: ``with`` and ``match``.

with lock: body        the manager is entered and left, once, in order
match kind: ...        what matches is found; then the case runs

What is matched is carried along unchanged (`Opaque`); a derivative flows through the
bodies only.
"""

from __future__ import annotations

import ast
import copy
import operator
from typing import Any

import gast

from tangentc.core import ops
from tangentc.core.nodes import CHOICE, Assign, Block, Const, Effect, If, Opaque, Statement
from tangentc.core.types import Known, Struct
from tangentc.frontend.attempt import assign_, finally_

SUBJECT = "the subject"


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
        self.out.extend(finally_(body, last))

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
            scope: dict[str, Any] = {SUBJECT: t.value, **self.activation.scope.globals}
            exec(compile(ast.fix_missing_locations(copy.deepcopy(tree)), "<match>", "exec"), scope)
            for name in captured:
                if scope[name] is not None:
                    self.bind(gast.Name(name, gast.Store(), None, None), Const(scope[name]))
            if scope[CHOICE] is not None:
                self.block(node.cases[scope[CHOICE]].body)
            return
        matched = self.fresh("%matched")
        reads = ((SUBJECT, subject), *self.reads_of(tree))
        writes = tuple((n, self.variable(gast.Name(n, gast.Store(), None, None))) for n in captured)
        self.out.append(Opaque(tree, ast.unparse(tree), reads, ((CHOICE, matched), *writes), self.span(node)))
        chain: Block = ()
        for k in range(len(node.cases) - 1, -1, -1):
            outer, self.out = self.out, []
            test = self.emit(operator.eq, (matched, Const(k)), node)
            self.out.append(If(test, self.inner(node.cases[k].body), chain, (), self.span(node), "statement"))
            chain, self.out = tuple(self.out), outer
        self.out.extend(chain)


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
        plain.body = [assign_(CHOICE, ast.Constant(k))]
        cases.append(plain)
    start: list[ast.stmt] = [assign_(CHOICE, ast.Constant(None))]
    start += [assign_(n, ast.Constant(None)) for n in captured]
    tree = ast.Module([*start, ast.Match(ast.Name(SUBJECT, ast.Load()), cases)], [])
    return ast.fix_missing_locations(tree)
