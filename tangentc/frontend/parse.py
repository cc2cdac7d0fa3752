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
from tangentc.frontend.iterators import drained
from tangentc.frontend.source import Source, source_of
from tangentc.frontend.split import split
from tangentc.frontend.trees import walk


def parsed(function: types.FunctionType) -> tuple[Source, Any]:
    """A function's source and its tree, inside the language."""
    source = source_of(function)
    tree = split(source.tree, source.fresh_tree, source.span)
    whole: Any = gast.ast_to_gast(ast.Module([tree] if isinstance(tree, ast.stmt) else [ast.Expr(tree)], [])).body[0]
    if isinstance(tree, ast.Lambda):
        whole = whole.value
    mark(giving(whole))
    fence.check(whole, source.span, source.name)
    _mangle(whole, function.__code__)
    return source, drained(asked(whole, Scope(function)), Scope(function), source.span)


def _mangle(tree: Any, code: types.CodeType) -> None:
    """Give the private names of a class, ``self.__x``, the names that Python has for them: ``self._Class__x``."""
    codes, named = [code], {}
    while codes:
        one = codes.pop()
        codes += [c for c in one.co_consts if isinstance(c, types.CodeType)]
        for name in one.co_names:
            head, middle, tail = name.partition("__")
            if middle and head.startswith("_") and tail and not tail.endswith("__"):
                named[f"__{tail}"] = name
    for node in walk(tree) if named else ():
        if isinstance(node, gast.Attribute):
            node.attr = named.get(node.attr, node.attr)
