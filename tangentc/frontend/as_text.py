"""What statements assign, read and change, as far as their text tells.

for k in range(3):        assigns k and y, reads x, needs y
    y = y + x[k]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import gast

from tangentc.core import ops
from tangentc.frontend.activation import locals_of
from tangentc.frontend.trees import walk
from tangentc.ops import methods

CHANGES = methods.names(changes=True) | ops.IMPURE_NAMES
UNTRIED = (gast.Pass, gast.Break, gast.Continue, gast.FunctionDef, gast.Global, gast.Nonlocal)
BINDS = {
    "For": "target", "comprehension": "target", "withitem": "optional_vars", "NamedExpr": "target",
    "AnnAssign": "target", "FunctionDef": "args", "Lambda": "args",
}  # fmt: skip
COMPUTES = {"BinOp", "UnaryOp", "Compare", "AugAssign", "Return", "If", "While", "FormattedValue"}
INDEX = ("Subscript", "slice")


def assigned(body: list) -> Counter[str]:
    """The names that statements assign."""
    nothing = gast.arguments([], [], None, [], [], None, [])
    return locals_of(gast.FunctionDef("", nothing, body, [], None, None, []))


def needed(body: list) -> set[str]:
    """The names that a block reads before it assigns them, as far as the order of its statements tells."""
    found: set[str] = set()
    done: set[str] = set()
    for statement in body:
        found |= set(loads([statement])) - done
        if isinstance(statement, (gast.Assign, gast.AnnAssign)):
            done |= assigned([statement]).keys()
        if isinstance(statement, gast.AugAssign) and isinstance(statement.target, gast.Name):
            found |= {statement.target.id} - done
    return found


def loads(trees: list) -> Counter[str]:
    """How often each name is read."""
    found: Counter[str] = Counter()
    for n in (n for tree in trees for n in walk(tree)):
        name = n.target if type(n).__name__ == "AugAssign" else n
        if type(name).__name__ == "Name" and (name is not n or type(n.ctx).__name__ == "Load"):
            found[name.id] += 1
    return found


def hidden(names: set[str], handler: list) -> set[str]:
    """Those of the names whose old values nobody sees: a handler assigns them first, or leaves without them."""
    found: set[str] = set()
    read: set[str] = set()
    for statement in handler:
        read |= set(loads([statement]))
        if isinstance(statement, (gast.Return, gast.Raise)):
            return found | names - read
        if isinstance(statement, gast.Assign):
            found |= assigned([statement]).keys() - read
    return found


def changes_something(statement: Any) -> bool:
    """Whether a statement itself changes something in place."""
    for n in own_nodes(statement):
        if isinstance(n, (gast.Subscript, gast.Attribute)) and not isinstance(n.ctx, gast.Load):
            return True
        if isinstance(n, gast.Call):
            name = n.func.attr if isinstance(n.func, gast.Attribute) else getattr(n.func, "id", "")
            if name in CHANGES or any(k.arg == "out" for k in n.keywords):
                return True
    return False


def is_own_name(name: str, tree: Any) -> bool:
    """Whether a name stands for nothing but what a function has computed itself, and nothing else for that, as far as
    its text tells."""
    for n in walk(tree):
        kind = type(n).__name__  # of `ast` or `gast`
        made = kind == "Assign" and type(n.value).__name__ in ("Constant", "BinOp", "UnaryOp")
        bound = n.targets if kind == "Assign" else [getattr(n, BINDS[kind])] if kind in BINDS else []
        names = (getattr(m, "id", getattr(m, "arg", None)) for b in bound if b is not None for m in walk(b))
        if not made and name in names:
            return False
        for field, value in gast.iter_fields(n):
            here = any(getattr(v, "id", None) == name for v in (value if isinstance(value, list) else [value]))
            if here and field not in ("target", "targets") and kind not in COMPUTES and (kind, field) != INDEX:
                return False
    return True


def own_nodes(statement: Any) -> Iterator[Any]:
    """The nodes of a statement without those of the statements inside it."""
    stack = [statement]
    while stack:
        n = stack.pop()
        yield n
        stack.extend(c for c in gast.iter_child_nodes(n) if not isinstance(c, gast.stmt))


def own_statements(body: list) -> Iterator[Any]:
    """The statements of a block and of the blocks inside it, functions and other handlers left out."""
    for statement in body:
        yield statement
        for part in ("body", "orelse", "finalbody"):
            if not isinstance(statement, gast.FunctionDef):
                yield from own_statements(getattr(statement, part, []))


def is_untried(statement: Any) -> bool:
    if isinstance(statement, gast.Delete) and all(isinstance(t, gast.Name) for t in statement.targets):
        return True  # of a name, which has no value afterwards
    if isinstance(statement, UNTRIED) or isinstance(statement, gast.Return) and statement.value is None:
        return True
    call = statement.value if isinstance(statement, gast.Expr) else None
    return isinstance(call, gast.Constant) or isinstance(call, gast.Call) and getattr(call.func, "id", "") == "print"


def is_while(node: Any) -> bool:
    return isinstance(node, gast.While)


def headers(node: Any) -> list[Any]:
    """What a statement computes before its body."""
    if isinstance(node, gast.With):
        return [item.context_expr for item in node.items]
    header = getattr(node, "subject", getattr(node, "iter", getattr(node, "test", None)))
    return [] if header is None or is_while(node) else [header]
