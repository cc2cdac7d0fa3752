"""Stepping through a derivative."""

from __future__ import annotations

import ast
import pdb
import sys
from collections.abc import Callable
from typing import Any

from tangentc.backend.load import load
from tangentc.inspection.trace import of

CALL = "_tangentc_stop"


def debug(f: Any, wrt: Any = 0) -> Callable[..., Any]:
    """A function that runs the gradient of ``f`` and stops in pdb at the first line of the adjoint sweep.

    ``f`` may be a function, a decorated one, or what `grad`, `value_and_grad` or `adjoint` gave.  The debugger shows
    the emitted code, whose local variables are the primal values and the adjoints (``x_bar``); ``continue`` runs on,
    and the gradient is returned.  `breakpoint()` in ``f`` itself stops in the primal sweep, and one in a block of
    `insert_grad_of` in the adjoint sweep.
    """
    derivative = of(f, wrt)

    def run(*args: Any, **keywords: Any) -> Any:
        fitted = derivative.fitted(args, keywords)
        bound = fitted.bind(args, keywords)
        compiled = fitted.compiled(bound)
        compiled.sync(bound)
        tree = _stopping(compiled.text)
        function = load(compiled.text, compiled.root.__module__, tree, {CALL: _stop})
        function.__globals__.update({name: atom.lookup() for name, atom in compiled.live.items()})
        return function(*bound, *compiled.seeds)

    return run


def _stop() -> None:
    pdb.Pdb(nosigint=True).set_trace(sys._getframe(1))


def _stopping(text: Any) -> ast.Module:
    """The tree of a text, with a stop before the first statement of the adjoint sweep."""
    tree = ast.parse(text.whole)
    function = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == text.name)

    def is_adjoint(s: ast.stmt) -> bool:
        span = getattr(text.of.get(s.lineno), "span", None)
        return span is not None and span.sweep in ("adjoint", "recalled")

    place = next((k for k, s in enumerate(function.body) if is_adjoint(s)), len(function.body) - 1)
    stop = ast.parse(f"{CALL}()").body[0]
    # a row above, so that the next one is a new line for the debugger; since Python 3.13 it stops where it is called
    row = function.body[place].lineno - (sys.version_info < (3, 13))
    for node in ast.walk(stop):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = row  # type: ignore[attr-defined]
    function.body.insert(place, stop)
    return tree
