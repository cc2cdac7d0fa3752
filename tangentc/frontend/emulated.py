"""Queues and ordered dicts are followed as lists and dicts: what would tell them apart is refused.

    q = deque([x])          q = [x]
    q.popleft()      ->     q.pop(0)

In code that makes one, any list may be the queue: a question that a list and a queue answer in two ways has no answer.
"""

from __future__ import annotations

import ast
import builtins
import collections
import operator
from typing import Any

import gast

from tangentc.core.nodes import Assign, Effect, Opaque, Statement
from tangentc.core.types import Dict, Sequence, Type
from tangentc.errors import Span, UnsupportedSyntax
from tangentc.frontend.trees import walk

STANDS_FOR: dict[Any, type] = {collections.deque: list, collections.OrderedDict: dict}
ASKING = {builtins.type, builtins.repr, builtins.str, builtins.format, builtins.print, builtins.hasattr}
WAY_OUT = "use a list and a dict, or ask before it is made"


def refuse_asked(t: Type, wanted: Any, emulated: set[type], span: Span) -> None:
    """Refuse ``isinstance(x, wanted)`` if a list and the queues that it may be answer it in two ways."""
    classes = _classes(t, emulated)
    if len({issubclass(cls, wanted) for cls in classes}) > 1:
        raise _refusal("isinstance", classes, span)


def refuse_told_apart(s: Statement, types: Any, emulated: set[type]) -> None:
    """Refuse an operation that says of a list or a dict what it is, where it may be a queue or an ordered dict."""
    if isinstance(s, Opaque):
        if any(isinstance(n, (ast.JoinedStr, ast.Match)) for n in walk(s.tree)):
            for _, atom in s.reads:
                if len(classes := _classes(types.of(atom), emulated)) > 1:
                    raise _refusal("a text or a pattern", classes, s.span)
        return
    if not isinstance(s, (Assign, Effect)):
        return
    named = s.op in (operator.eq, operator.ne) or s.op in ASKING
    for atom in s.args if named else ():
        if len(classes := _classes(types.of(atom), emulated)) > 1:
            raise _refusal(getattr(s.op, "__name__", str(s.op)), classes, s.span)


def refuse_tried(lowering: Any, node: Any) -> None:
    """Refuse a `try` that reads a queue: a list raises other exceptions, or none."""
    activation = lowering.activation
    nodes = list(walk(activation.source.tree))
    made = [n for n in nodes if isinstance(n, ast.Assign) and isinstance(n.value, ast.Call)]
    of_queues = [n for n in made if _stands_for(n.value.func, activation.scope) in STANDS_FOR]  # type: ignore[attr-defined]
    queues = {t.id for n in of_queues for t in n.targets if isinstance(t, ast.Name)}
    for n in (n for statement in node.body for n in walk(statement)):
        if isinstance(n, gast.Name) and n.id in queues:
            raise _refusal("an exception", [], lowering.span(n), n.id)


def _stands_for(node: ast.expr, scope: Any) -> Any:
    """What a name, or a name of a module, stands for."""
    try:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return getattr(scope.lookup(node.value.id), node.attr, None)
        return scope.lookup(node.id) if isinstance(node, ast.Name) else None
    except NameError:
        return None


def _classes(t: Type, emulated: set[type]) -> list[type]:
    """The classes that a list or a dict may have."""
    kind = dict if isinstance(t, Dict) else t.kind if isinstance(t, Sequence) else None
    return [] if kind is None else [kind, *(cls for cls in emulated if STANDS_FOR[cls] is kind)]


def _refusal(what: str, classes: list[type], span: Span, name: str = "") -> UnsupportedSyntax:
    shown = " or a ".join(cls.__name__ for cls in classes)
    return UnsupportedSyntax(
        f"{what} tells a {shown} apart" if classes else f"{name}, a queue or an ordered dict, is used in `try`", span,
        why="queues and ordered dicts are followed as lists and dicts, which differ in this", way_out=WAY_OUT,
    )  # fmt: skip
