"""Items that are taken one after another are unpacked.

level = theta[0]
slope = theta[1]        ->      level, slope, _ = theta          (theta has three entries)
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable

from tangentc.core.nodes import Assign, Atom, Const
from tangentc.core.types import Array, Sequence, Tuple, Type

MOST = 8  # names in one row


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
