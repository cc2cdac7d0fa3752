"""A function as a tree that is inside the language, its constructs brought down to fewer."""

from __future__ import annotations

import ast
import types
from typing import Any

import gast

from tangentc.core.resolve import Scope
from tangentc.frontend import fence
from tangentc.frontend.asked import asked
from tangentc.frontend.generators import giving, mark
from tangentc.frontend.iterators import drained, has_iterators
from tangentc.frontend.source import Source, source_of
from tangentc.frontend.split import split
from tangentc.frontend.trees import by_kind


def parsed(function: types.FunctionType) -> tuple[Source, Any]:
    """A function's source and its tree, inside the language."""
    source = source_of(function)
    tree = split(source.tree, source.fresh_tree, source.span)
    whole: Any = gast.ast_to_gast(ast.Module([tree] if isinstance(tree, ast.stmt) else [ast.Expr(tree)], [])).body[0]
    if isinstance(tree, ast.Lambda):
        whole = whole.value
    nodes = by_kind(giving(whole))
    mark(nodes)
    fence.check(whole, source.span, source.name)
    _mangle(nodes[gast.Attribute], function.__code__)
    scope = Scope(function)
    if has_iterators(nodes, scope):
        whole = drained(asked(whole, scope), scope, source.span)
    return source, whole


def _mangle(attributes: list[Any], code: types.CodeType) -> None:
    """Give the private names of a class, ``self.__x``, the names that Python has for them: ``self._Class__x``."""
    codes, named = [code], {}
    while codes:
        one = codes.pop()
        codes += [c for c in one.co_consts if isinstance(c, types.CodeType)]
        for name in one.co_names:
            head, middle, tail = name.partition("__")
            if middle and head.startswith("_") and tail and not tail.endswith("__"):
                named[f"__{tail}"] = name
    for node in attributes if named else ():
        node.attr = named.get(node.attr, node.attr)
