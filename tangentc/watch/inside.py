"""Where a NaN was made inside a function that emitted code calls as it stands, for constants or passive values."""

from __future__ import annotations

import ast
import types
from typing import Any

import numpy as np

from tangentc.core import texts
from tangentc.core.inside import MADE
from tangentc.watch.nonfinite import NonFinite, made_here
from tangentc.watch.watcher import Line, Watched, Watcher, state_of, watched


class _Found(Exception):
    """What was looked for has been found."""


class _First(Watcher):
    def __init__(self, watched: Watched):
        super().__init__(watched)
        self.found: NonFinite | None = None

    def ran(self, line: Line, value: Any) -> None:
        if state_of(value) and (found := made_here(self, line, value)) is not None and found.line:
            self.found = found
            raise _Found


def inside(found: NonFinite, scope: dict[str, Any]) -> NonFinite:
    """What a call of a function of the user made, by the line in that function, if the function can be differentiated;
    ``scope`` are the names of the emitted code."""
    try:
        call = ast.parse(found.operation, mode="eval").body
        if not isinstance(call, ast.Call) or call.keywords:
            return found
        callee, *args = (_value(part, found.whole, scope) for part in (call.func, *call.args))
        return _first(callee, args) or found if isinstance(callee, types.FunctionType) else found
    except Exception:  # it is told where the call is
        return found


def _value(node: ast.expr, known: dict[str, Any], scope: dict[str, Any]) -> Any:
    text = ast.unparse(node)
    return known[text] if text in known else eval(text, dict(scope))


def _first(callee: types.FunctionType, args: list[Any]) -> NonFinite | None:
    names = ", ".join(f"x{k}" for k in range(len(args)))
    held: dict[str, Any] = {"_of": callee, "_np": np, "__name__": "__main__"}
    texts.run(f"def total({names}):\n    return _np.sum(_of({names}))\n", "inside", held)
    moving = tuple(k for k, a in enumerate(args) if np.asarray(a).dtype.kind == "f")
    derivative = MADE["value_and_grad"](held["total"], moving)
    compiled = derivative.compiled(derivative.bind(tuple(args), {}))
    compiled.sync(tuple(args))
    first = _First(watched(compiled.text))
    try:
        first.function(compiled)(*args, *compiled.seeds)
    except _Found:
        pass
    return first.found
