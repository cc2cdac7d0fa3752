"""Loops that do nothing but append to a new list are comprehensions.

squares = []
for W in Ws:                        ->      squares = [np.sum(W ** 2) for W in Ws]
    squares.append(np.sum(W ** 2))
"""

from __future__ import annotations

import ast
from collections import Counter
from typing import Any

from tangentc.core.nodes import Assign, Atom

WIDTH = 88  # a comprehension that would be broken into lines is a loop


def with_comprehensions(block: list[ast.stmt], uses: Counter[Atom]) -> list[ast.stmt]:
    """A block with comprehensions in the place of such loops; ``uses`` counts how often names are read."""
    out: list[ast.stmt] = []
    for s in block:
        name, item = _appended(s, uses)
        if item is not None:
            k = next((k for k in reversed(range(len(out))) if _mentions(out[k], name)), None)
            if k is not None and _is_new_list(out[k], name) and (new := _comprehension(s, name, item)) is not s:
                del out[k]
                s = new
        out.append(s)
    return out


def _comprehension(s: Any, name: str, item: ast.expr) -> ast.stmt:
    listed: ast.expr = ast.ListComp(item, [ast.comprehension(s.target, s.iter, [], 0)])
    if isinstance(item, ast.Name) and isinstance(s.target, ast.Name) and item.id == s.target.id:
        listed = ast.Call(ast.Name("list"), [s.iter], [])
    if _mentions(ast.Expr(listed), name) or len(name) + len(ast.unparse(listed)) > WIDTH:
        return s  # type: ignore[no-any-return]
    new, first = ast.Assign([ast.Name(name)], listed), s.body[0]
    new.of = getattr(getattr(first, "statement", first), "of", s.of)  # type: ignore[attr-defined]
    if hasattr(first, "statement"):  # with the line that it differentiates
        first.statement = new
        return first  # type: ignore[no-any-return]
    return new


def _appended(s: ast.stmt, uses: Counter[Atom]) -> tuple[str, ast.expr | None]:
    """The list that every trip of a loop appends to, without doing anything else, and what it appends."""
    match s:
        case ast.For(body=[*first, ast.Expr(ast.Call(ast.Attribute(ast.Name(name), "append"), [item], []))], orelse=[]):
            if getattr(getattr(s, "of", None), "carried", True):  # a name of the loop is read behind it
                return "", None
            if not first:
                return name, item
            made = getattr(first[0], "statement", first[0])
            of = getattr(made, "of", None)
            match made:
                case ast.Assign([ast.Name(named)], value) if len(first) == 1 and isinstance(item, ast.Name):
                    alone = named == item.id and isinstance(of, Assign) and uses[of.target] == 1
                    return name, value if alone else None
    return "", None


def _is_new_list(s: ast.stmt, name: str) -> bool:
    match getattr(s, "statement", s):
        case ast.Assign([ast.Name(target)], ast.List([])):
            return target == name
    return False


def _mentions(s: ast.stmt, name: str) -> bool:
    inner = getattr(s, "statement", s)
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(inner))
