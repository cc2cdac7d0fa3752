"""The edge of the language: what is differentiated, what is only carried along, what is refused.

The three tables are the reference of the supported syntax; `docs/reference/syntax.md` is made from
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gast

from tangentc.core.nodes import Span
from tangentc.errors import UnsupportedSyntax

SUPPORTED = {
    "Return": "`return`, also early, outside loops",
    "Assign": "assignment, chained and unpacking",
    "AugAssign": "augmented assignment to names, and to items of arrays",
    "AnnAssign": "annotated assignment",
    "For": "`for` over ranges, arrays, lists, tuples, `enumerate`, `zip`, `reversed`",
    "While": "`while`",
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
    "Call": "calls of functions that have a rule, or whose source is known; methods of arrays",
    "Constant": "constants",
    "Attribute": "attributes, read",
    "Subscript": "subscripts and slices, read, and written on arrays",
    "Name": "names",
    "List": "list displays",
    "Tuple": "tuples",
    "Slice": "slices",
}
PASSIVE = {
    "JoinedStr": "f-strings",
    "FormattedValue": "f-strings",
    "Assert": "`assert`",
    "Raise": "`raise`",
    "ListComp": "list comprehensions",
    "SetComp": "set comprehensions",
    "DictComp": "dict comprehensions",
    "GeneratorExp": "generator expressions",
    "Lambda": "lambdas inside the function",
    "Set": "set displays",
}
REFUSED = {
    "FunctionDef": ("a function defined inside", "define it at the level of the module"),
    "AsyncFunctionDef": ("an async function", "move the mathematics into a plain function"),
    "ClassDef": ("a class defined inside", "define it at the level of the module"),
    "Delete": ("`del`", "leave the name alone"),
    "With": ("`with`", "move it to the caller"),
    "AsyncWith": ("`async with`", "move it to the caller"),
    "AsyncFor": ("`async for`", "use a plain loop"),
    "Match": ("`match`", "use if and elif"),
    "Try": ("`try`", "test for the case with an if, or move the try to the caller"),
    "TryStar": ("`try`", "test for the case with an if, or move the try to the caller"),
    "Import": ("an import inside the function", "import at the top of the module"),
    "ImportFrom": ("an import inside the function", "import at the top of the module"),
    "Global": ("`global`", "pass the value in and return it"),
    "Nonlocal": ("`nonlocal`", "pass the value in and return it"),
    "NamedExpr": ("`:=`", "assign on a line of its own"),
    "Await": ("`await`", "move it to the caller"),
    "Yield": ("`yield`", "return a list, or call a function in the loop"),
    "YieldFrom": ("`yield from`", "return a list, or call a function in the loop"),
    "Starred": ("a starred expression", "write the items out"),
    "TypeAlias": ("a type alias", "write it at the level of the module"),
}


def check(tree: Any, span: Callable[[Any], Span], name: str) -> None:
    """Raise `UnsupportedSyntax` at the first construct outside the language."""
    for node in _nodes(tree.body if isinstance(tree.body, list) else [tree.body]):
        kind = type(node).__name__
        if kind in REFUSED:
            what, way_out = REFUSED[kind]
            raise UnsupportedSyntax(
                f"{name} uses {what}, which tangentc does not differentiate",
                span(node),
                why="there is no translation of this construct into an adjoint yet",
                way_out=way_out,
            )
        if kind in ("For", "While") and node.orelse:
            raise UnsupportedSyntax(
                f"{name} uses `else` on a loop, which tangentc does not differentiate",
                span(node),
                why="there is no translation of this construct into an adjoint yet",
                way_out="test after the loop whether it was left early",
            )


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
