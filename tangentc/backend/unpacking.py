"""Several names that are bound in one statement.

level = theta[0]
slope = theta[1]        ->      level, slope, _ = theta          (theta has three entries)

dy = y - y0             ->      dy, dx = y - y0, x - x0          (as the user has it)
dx = x - x0

a_bar = 0.0             ->      a_bar = b_bar = 0.0              (what adjoints begin with)
b_bar = 0.0
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable

from tangentc.core.nodes import Assign, Atom, Const, version_base
from tangentc.core.types import Array, Sequence, Tuple, Type

MOST = 8  # names in one row
WIDEST = 80  # characters of a row that binds several names to several values


def with_unpacking(block: list[ast.stmt], of: Callable[[Atom], Type], blank: bool) -> list[ast.stmt]:
    """A block in which such items are taken in one statement; with ``blank`` those that are left out are ``_``."""
    out: list[ast.stmt] = []
    k = 0
    while k < len(block):
        taken = _taken(block, k)
        new = _unpacked(taken, of, blank) if len(taken) > 1 else None
        out += [new] if new is not None else block[k : k + 1]
        k += len(taken) if new is not None else 1
    return out


def _taken(block: list[ast.stmt], first: int) -> list[ast.Assign]:
    """The statements from one on that take different items of one thing."""
    taken: list[ast.Assign] = []
    places: set[int] = set()
    for s in block[first:]:
        made = getattr(s, "of", None)
        match s:
            case ast.Assign([ast.Name(name)], ast.Subscript(ast.Name(whole), _)) if (
                name != whole
                and isinstance(made, Assign)
                and made.op is operator.getitem
                and (not taken or whole == taken[0].value.value.id)  # type: ignore[attr-defined]
                and isinstance(made.args[1], Const)
                and type(k := made.args[1].value) is int
                and k not in places
                and name not in {t.targets[0].id for t in taken}  # type: ignore[attr-defined]
            ):
                places.add(k)
                taken.append(s)
            case _:
                break
    return taken


def _unpacked(taken: list[ast.Assign], of: Callable[[Atom], Type], blank: bool) -> ast.Assign | None:
    made: list[Assign] = [s.of for s in taken]  # type: ignore[attr-defined]
    length = _length(of(made[0].args[0]))
    places = [s.args[1].value for s in made]  # type: ignore[union-attr]
    if not len(taken) <= length <= MOST or not all(0 <= k < length for k in places):
        return None
    if length > len(taken) and (not blank or length > len(taken) + 1):
        return None
    names: list[ast.expr] = [ast.Name("_") for _ in range(length)]
    for s, k in zip(taken, places, strict=True):
        names[k] = s.targets[0]
    new = ast.Assign([ast.Tuple(names)], taken[0].value.value)  # type: ignore[attr-defined]
    new.of = made[0]  # type: ignore[attr-defined]
    return new


def _length(t: Type) -> int:
    """How many items something surely has."""
    if isinstance(t, Array):
        return t.shape[0] if t.shape and isinstance(t.shape[0], int) and not t.or_number else 0
    if isinstance(t, Tuple):
        return len(t.items) if t.cls is None else 0
    return t.length or 0 if isinstance(t, Sequence) and t.kind in (list, tuple) else 0


def with_pairs(block: list[ast.stmt]) -> list[ast.stmt]:
    """A block in which what the user binds in one statement to several values is bound so, if it is a short row."""
    out: list[ast.stmt] = []
    k = 0
    while k < len(block):
        together = _bound_together(block, k)
        new = _as_one(together) if len(together) > 1 else None
        out += [new] if new is not None else block[k : k + 1]
        k += len(together) if new is not None else 1
    return out


def _bound_together(block: list[ast.stmt], first: int) -> list[ast.Assign]:
    """The statements from one on that are one statement of the user's, none if another one is part of it too."""
    opening = getattr(block[first], "of", None)
    if not isinstance(opening, Assign):
        return []
    names = _bound_by(opening)
    found = block[first : first + len(names)]
    for name, s in zip(names, found, strict=False):
        made = getattr(s, "of", None)
        if not (isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name) and isinstance(made, Assign)):
            return []
        if _row(made) != _row(opening) or version_base(made.target) != name:
            return []
    return found if len(found) == len(names) else []  # type: ignore[return-value]


def _row(made: Assign) -> tuple[str, int, str]:
    return made.span.file, made.span.line, made.span.sweep


def _bound_by(made: Assign) -> list[str]:
    """The names that the user's statement binds, each to a value of its own."""
    span = made.span
    if span.sweep or "," not in span.text.partition("=")[0]:
        return []
    try:
        (statement,) = ast.parse(span.text.strip()).body
    except (SyntaxError, ValueError):
        return []
    match statement:
        case ast.Assign([ast.Tuple(names)], ast.Tuple(values)) if len(names) == len(values):
            return [n.id for n in names if isinstance(n, ast.Name)] if len(names) <= MOST else []
    return []


def _as_one(together: list[ast.Assign]) -> ast.Assign | None:
    """One statement, unless a value needs a name that is bound in it."""
    names = [s.targets[0] for s in together]
    bound = {n.id for n in names[:-1]}  # type: ignore[attr-defined]
    if any(isinstance(n, ast.Name) and n.id in bound for s in together[1:] for n in ast.walk(s.value)):
        return None
    new = ast.Assign([ast.Tuple(names)], ast.Tuple([s.value for s in together]), lineno=0)
    if len(ast.unparse(new)) > WIDEST:
        return None
    new.of = together[0].of  # type: ignore[attr-defined]
    return new


def with_zeros(block: list[ast.stmt]) -> list[ast.stmt]:
    """A block in which the zeros that adjoints begin with, one behind the other, are set in short rows."""
    out: list[ast.stmt] = []
    for s in block:
        joined = _joined(out[-1], s) if out else None
        if joined is not None:
            joined.of = getattr(out[-1], "of", None)  # type: ignore[attr-defined]
            out[-1] = joined
        else:
            out.append(s)
    return out


def _joined(before: ast.stmt, s: ast.stmt) -> ast.Assign | None:
    """Two statements that set adjoints to zeros as one: ``a_bar = b_bar = 0.0``."""
    if not (isinstance(before, ast.Assign) and isinstance(s, ast.Assign) and _is_of_adjoint(s.targets[0])):
        return None
    first, zero = before.value, s.value
    if isinstance(first, ast.Constant) and isinstance(zero, ast.Constant) and first.value == zero.value == 0.0:
        if not (isinstance(first.value, float) and isinstance(zero.value, float) and len(before.targets) < MOST):
            return None
        return ast.Assign([*before.targets, *s.targets], zero) if _is_of_adjoint(before.targets[0]) else None
    whole = before.targets[0]
    if isinstance(whole, ast.Tuple) and isinstance(first, ast.Tuple):
        names, values = whole.elts, first.elts
    else:
        names, values = [whole], [first]
    if len(before.targets) != 1 or not all(map(_is_of_adjoint, names)) or not all(map(_is_zeros, [*values, zero])):
        return None
    if ast.unparse(zero.args[0]) in map(ast.unparse, names):  # type: ignore[attr-defined]  # it is there behind the row
        return None
    new = ast.Assign([ast.Tuple([*names, s.targets[0]])], ast.Tuple([*values, zero]), lineno=0)
    return new if len(ast.unparse(new)) <= WIDEST else None


def _is_of_adjoint(target: ast.expr) -> bool:
    return isinstance(target, ast.Name) and target.id.rstrip("_0123456789").endswith("_bar")


def _is_zeros(value: ast.expr) -> bool:
    """Whether a value is ``np.zeros_like(x)``."""
    match value:
        case ast.Call(ast.Attribute(attr="zeros_like"), [ast.Name()], []):
            return True
    return False
