"""What compiles an emitted function: the decorators above it, and the lines that make them."""

from __future__ import annotations

import ast
from collections.abc import Iterable

NUMBA = {  # division by zero as NumPy has it; numbers are added in the order of the text, but for adjoints
    "kernel": 'numba.njit(error_model="numpy")',
    "relaxed_kernel": 'numba.njit(error_model="numpy", fastmath={"reassoc", "nsz", "contract"})',
    "checked_kernel": 'numba.njit(error_model="numpy", boundscheck=True)',
    "parallel_kernel": 'numba.njit(error_model="numpy", parallel=True)',
}


def compilers(decorators: Iterable[str]) -> tuple[str, ...]:
    """The rows of a text that make the decorators of its functions."""
    used = set(decorators)
    rows = [f"{name} = {made}" for name, made in NUMBA.items() if name in used]
    return ("import numba", "", *rows) if rows else ()


class _Asked(ast.NodeTransformer):
    def visit_While(self, node: ast.While) -> ast.While:
        self.generic_visit(node)
        if isinstance(node.test, ast.Constant) and node.test.value:
            node.test = ast.Compare(ast.Constant(0), [ast.Lt()], [ast.Constant(1)])
        return node


def with_tests(tree: ast.FunctionDef) -> ast.FunctionDef:
    """The function with loops that ask something each time: Numba loses what is assigned before a ``break`` out of
    ``while True`` (its issues 4915 and 5267)."""
    return _Asked().visit(tree)
