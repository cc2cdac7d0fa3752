"""Splitting expressions that are nested deeper than the tools below can recurse.

total = x1 + x2 + ... + x1500      ->      partial_1 = x1 + ... + x100
                                           partial_2 = partial_1 + ... + x200
                                           ...
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from tangentc.errors import Span, UnsupportedSyntax

DEPTH = 100


def split(tree: Any, fresh_tree: Callable[[], Any], span: Any) -> Any:
    """The function with deep chains of binary operators cut into assignments.

    ``fresh_tree`` gives a tree of one's own, to be changed.
    """
    if isinstance(tree, ast.Lambda) or _depth(tree) <= DEPTH:
        return tree
    tree = fresh_tree()
    counter = [0]
    tree.body = _split_block(tree.body, counter, span)
    return tree


def _depth(node: ast.AST) -> int:
    deepest, stack = 0, [(node, 0)]
    while stack:
        node, depth = stack.pop()
        deepest = max(deepest, depth)
        stack.extend((child, depth + 1) for child in ast.iter_child_nodes(node))
    return deepest


def _split_block(block: list, counter: list[int], span: Any) -> list:
    out: list = []
    for statement in block:
        for name in ("body", "orelse", "finalbody"):
            if isinstance(getattr(statement, name, None), list):
                setattr(statement, name, _split_block(getattr(statement, name), counter, span))
        value = getattr(statement, "value", None)
        if value is not None and _depth(value) > DEPTH:
            chain = []
            while isinstance(value, ast.BinOp):
                chain.append(value)
                value = value.left
            for node in chain[DEPTH - 1 :: DEPTH][::-1]:
                counter[0] += 1
                partial = f"partial_{counter[0]}"
                copy = ast.BinOp(node.left, node.op, node.right)
                out.append(
                    ast.copy_location(
                        ast.Assign(
                            [ast.copy_location(ast.Name(partial, ast.Store()), node)], ast.copy_location(copy, node)
                        ),
                        node,
                    )
                )
                node.left, node.op, node.right = (
                    ast.copy_location(ast.Name(partial, ast.Load()), node),
                    ast.Add(),
                    node.right,
                )
                _replace_by_name(statement, node, partial)
            if _depth(statement) > DEPTH + 20:
                where: Span = span(statement)
                raise UnsupportedSyntax(
                    "this expression is nested too deeply", where,
                    why=f"only chains of binary operators are split, and this one is more than {DEPTH} levels deep",
                    way_out="give a part of it a name of its own",
                )  # fmt: skip
        out.append(statement)
    return out


def _replace_by_name(root: ast.AST, node: ast.AST, name: str) -> None:
    """Put ``name`` where ``node`` stands in the chain of left operands below ``root``."""
    parent, field = root, "value"
    while (child := getattr(parent, field)) is not node:
        parent, field = child, "left"
    setattr(parent, field, ast.copy_location(ast.Name(name, ast.Load()), node))
