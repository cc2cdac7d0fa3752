"""``with`` statements, where core form enters and leaves a manager.

    entered = errstate.__enter__()              with np.errstate(over="ignore"):
    y = np.exp(x)                        ->         y = np.exp(x)
    errstate.__exit__(None, None, None)

So it is left where the body raises, too.  Leaving it in a branch goes into the statement where nothing is computed
behind it: the branch jumps out, or is the last thing in the body.
"""

from __future__ import annotations

import ast
from collections import Counter

from tangentc.backend.expressions import negated
from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Effect
from tangentc.ops.table import every

SETTINGS = every("only_settings")
JUMPS = (ast.Break, ast.Continue, ast.Return)


def with_statements(block: list[ast.stmt], uses: Counter[str]) -> list[ast.stmt]:
    """A block whose managers stand in ``with`` statements; ``uses`` counts how often names are read."""
    for k in reversed(range(len(block))):
        s = getattr(block[k], "of", None)
        if isinstance(s, Assign) and s.op is ops.enter:
            block = _with(block, k, s, uses)
    return block


def _with(block: list[ast.stmt], k: int, entered: Assign, uses: Counter[str]) -> list[ast.stmt]:
    """The block with the manager that is entered at ``k`` in a ``with`` statement, where that is possible."""
    manager = entered.args[0]
    ways_out = [sum(_leaves(node, manager) for node in ast.walk(s)) for s in block]
    last = max((j for j, count in enumerate(ways_out) if count), default=k)
    body = _inside(block[k + 1 : last + 1], manager, True)
    if body is None or last == k:
        return block
    enter, before, first = block[k], block[k - 1] if k else None, k
    value: ast.expr = enter.value.func.value  # type: ignore[attr-defined]
    made = getattr(before, "of", None)
    if isinstance(before, ast.Assign) and isinstance(made, Assign) and made.target == manager:
        if uses[made.target] == 1 + sum(ways_out):
            value, first = before.value, k - 1
            if not body and made.op in SETTINGS:
                return block[:first] + block[last + 1 :]
    item = ast.withitem(value, enter.targets[0] if uses[entered.target] else None)  # type: ignore[attr-defined]
    if len(body) == 1 and isinstance(inner := body[0], ast.With):
        inner.items.insert(0, item)
        return [*block[:first], inner, *block[last + 1 :]]
    new = ast.With([item], body or [ast.Pass()])
    new.of = entered  # type: ignore[attr-defined]
    return [*block[:first], new, *block[last + 1 :]]


def _leaves(node: ast.AST, manager: Atom) -> bool:
    of = getattr(node, "of", None)
    return isinstance(of, Effect) and of.op is ops.leave and of.args[0] == manager


def _inside(block: list[ast.stmt], manager: Atom, ends: bool) -> list[ast.stmt] | None:
    """The block without leaving the manager, None where something is computed after it is left.

    ``ends`` says that nothing follows the block in the body of the ``with``."""
    out: list[ast.stmt] = []
    for k, s in enumerate(block):
        rest = block[k + 1 :]
        if not any(_leaves(node, manager) for node in ast.walk(s)):
            out.append(s)
            continue
        over = all(map(_computes_nothing, rest)) and (ends or bool(rest) and isinstance(rest[-1], JUMPS))
        if _leaves(s, manager):
            return [*out, *rest] if over else None
        if not isinstance(s, ast.If):
            return None
        then, orelse = _inside(s.body, manager, over), _inside(s.orelse, manager, over)
        if then is None or orelse is None:
            return None
        if then or orelse:
            out.append(ast.If(s.test, then, orelse) if then else ast.If(negated(s.test), orelse, []))
            out[-1].of = s.of  # type: ignore[attr-defined]
    return out


def _computes_nothing(s: ast.stmt) -> bool:
    """Whether a statement jumps, or gives or saves values that are there."""
    if isinstance(s, ast.Expr) and isinstance(s.value, ast.Call) and getattr(getattr(s, "of", 0), "op", 0) is ops.push:
        return isinstance(s.value.args[0], ast.Name)
    values = (ast.Name, ast.Constant, type(None))
    return isinstance(s, (*JUMPS, ast.Assign)) and isinstance(getattr(s, "value", None), values)
