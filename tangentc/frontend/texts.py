"""Texts that are known when compiling, in loops that are written out among them: ``f"W{i}"``, ``"W" + str(i)``."""

from __future__ import annotations

import ast
import contextlib
import copy
import operator
from typing import Any

import gast

from tangentc.core.nodes import Atom, Const
from tangentc.frontend.part import Part
from tangentc.frontend.trees import walk


class Texts(Part):
    """The part of lowering that puts texts together."""

    def known_text(self, node: Any) -> str | None:
        """What an f-string is, if all that it is made of is known: ``f"w{i}"`` in a loop that is written out."""
        values: list[Any] = []

        def look() -> None:
            values.extend(self.expression(v.value) for v in held)

        plain = (gast.Name, gast.BinOp, gast.Constant, gast.Attribute)
        inside = sum(isinstance(n, gast.FormattedValue) for n in walk(node))  # those in formats among them
        held = [v for v in node.values if isinstance(v, gast.FormattedValue)]
        if len(held) != inside or not all(isinstance(v.value, plain) for v in held):
            return None
        self.path(look)
        values = [self.plain_value(v) for v in values]
        if not all(type(v) in (int, str, bool) for v in values):
            return None
        tree = gast.gast_to_ast(copy.deepcopy(node))
        for k, v in enumerate(v for v in tree.values if isinstance(v, ast.FormattedValue)):
            v.value = ast.Name(f"v{k}", ast.Load())
        code = compile(ast.fix_missing_locations(ast.Expression(tree)), "<text>", "eval")
        with contextlib.suppress(ValueError, TypeError):  # which the run will raise
            return str(eval(code, {f"v{k}": v for k, v in enumerate(values)}))
        return None

    def put_together(self, op: Any, left: Atom, right: Atom) -> Const | None:
        """``"W" + str(1)``, ``"W%d" % 1``: a text that is known."""
        known = self.plain_value(right)
        if op not in (operator.add, operator.mod) or type(known) not in (str, int):
            return None
        if not isinstance(left, Const) or type(left.value) is not str:
            return None
        with contextlib.suppress(ValueError, TypeError):  # which the run will raise
            return Const(op(left.value, known))
        return None

    def plain_value(self, atom: Atom) -> Any:
        """A text, a flag or an integer that is known, None of all else."""
        return atom.value if isinstance(atom, Const) else self.asks.number(atom)
