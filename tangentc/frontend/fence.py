"""The edge of the language: what is differentiated, what is only carried along, what is refused.

The three tables are the reference of the supported syntax; `docs/reference/syntax.md` is made from
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gast

from tangentc.errors import Span, UnsupportedSyntax

SUPPORTED = {
    "Return": "`return`, also early and inside loops",
    "FunctionDef": "functions defined inside, with closures, defaults, decorators, `nonlocal`",
    "Lambda": "lambdas",
    "Delete": "`del`",
    "With": "`with`; the context manager runs once",
    "Match": "`match`, patterns of classes, sequences, mappings and alternatives among them",
    "Try": "`try`, `except`, `else`, `finally`; each step of the body is tried, and then done",
    "Import": "imports inside the function",
    "ImportFrom": "imports inside the function",
    "Global": "`global` names, read",
    "Nonlocal": "`nonlocal`",
    "NamedExpr": "`:=`",
    "Starred": "starred arguments, items and targets",
    "ListComp": "list comprehensions, nested and with conditions",
    "DictComp": "dict comprehensions",
    "GeneratorExp": "generator expressions as arguments",
    "TypeAlias": "type aliases",
    "Assign": "assignment, chained and unpacking",
    "AugAssign": "augmented assignment to names, items and attributes",
    "AnnAssign": "annotated assignment",
    "For": "`for` over ranges, arrays, lists, tuples, dicts, `enumerate`, `zip`, `reversed`; with `else`",
    "While": "`while`, with `else`",
    "If": "`if`, `elif`, `else`",
    "Expr": "a call for its effect; docstrings",
    "Pass": "`pass`",
    "Break": "`break`",
    "Continue": "`continue`",
    "BoolOp": "`and`, `or`",
    "BinOp": "arithmetic",
    "UnaryOp": "`-x`, `+x`, `~x`, `not x`",
    "IfExp": "conditional expressions",
    "Dict": "dict displays with constant keys",
    "Compare": "comparisons, also chained",
    "Call": "calls of functions that have a rule, or whose source is known; methods; callable objects",
    "Constant": "constants",
    "Attribute": "attributes, properties and methods, read and assigned",
    "Subscript": "subscripts and slices, read and assigned",
    "Name": "names",
    "List": "list displays",
    "Set": "set displays of what does not move",
    "Tuple": "tuples",
    "Slice": "slices",
}
PASSIVE = {
    "JoinedStr": "f-strings",
    "FormattedValue": "f-strings",
    "Assert": "`assert`",
    "Raise": "`raise`",
    "SetComp": "set comprehensions",
}
REFUSED = {
    "AsyncFunctionDef": ("an async function", "move the mathematics into a plain function"),
    "ClassDef": ("a class defined inside", "define it at the level of the module"),
    "AsyncWith": ("`async with`", "move it to the caller"),
    "AsyncFor": ("`async for`", "use a plain loop"),
    "TryStar": ("`except*`", "write `except`, or move the try to the caller"),
    "Await": ("`await`", "move it to the caller"),
    "Yield": ("`yield`", "return a list, or call a function in the loop"),
    "YieldFrom": ("`yield from`", "return a list, or call a function in the loop"),
}


def check(tree: Any, span: Callable[[Any], Span], name: str) -> None:
    """Raise `UnsupportedSyntax` at the first construct outside the language."""
    for node in _nodes(tree.body if isinstance(tree.body, list) else [tree.body]):
        kind = type(node).__name__
        if kind in REFUSED:
            what, way_out = REFUSED[kind]
            raise UnsupportedSyntax(
                f"{name} uses {what}, which tangentc does not differentiate", span(node),
                why="there is no translation of this construct into an adjoint yet", way_out=way_out,
            )  # fmt: skip


def _nodes(roots: list) -> Iterator[Any]:
    """Statements and expressions, in the order of the text, not inside passive constructs."""
    stack = list(reversed(roots))
    while stack:
        node = stack.pop()
        if not isinstance(node, (gast.stmt, gast.expr)):
            if not isinstance(node, (gast.keyword, gast.AST)):
                continue
        elif type(node).__name__ in PASSIVE:
            continue
        else:
            yield node
        stack.extend(reversed(list(gast.iter_child_nodes(node))))
