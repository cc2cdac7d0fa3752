"""Values that matter only where a mask is true.

    np.where(x > 0, np.sqrt(x), 0)          sqrt(x) matters only where x > 0

    y = np.sqrt(x); y[x <= 0] = 0           sqrt(x) matters only where x > 0

    np.sqrt(x)[x > 0]                       sqrt(x) matters only where its adjoint is not zero

A value that is used only through one arm of a `where`, directly or through elementwise operations of the
same shape, has that arm's mask; so has an array of which entries are replaced before it is read.  One that comes to
its `where` by other ways (another shape, several tests, a test of another trip of a loop) has the mask `NONZERO`: the
adjoint of what was not taken is zero, and `runtime.taken` keeps it so.  Where the partial of its rule may be infinite,
its adjoint is computed under the mask, so that what was not taken never puts a NaN into the gradient.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tangentc import runtime
from tangentc.analysis.infer import is_elementwise
from tangentc.core import ops
from tangentc.core.build import is_number, shape_of
from tangentc.core.nodes import Assign, Atom, Block, Const, For, Function, If, Store, While
from tangentc.core.types import Array
from tangentc.core.walk import asks_for_form, blocks, defines, reads, statements

Mask = tuple[Atom, bool]
NONZERO: Mask = (Const("where the adjoint is not zero"), True)
GROWING = {np.exp, np.exp2, np.expm1, np.cosh, np.sinh, np.square, np.prod, np.cumprod}  # beyond all numbers

SELECTING = {  # which take some entries, and others not
    np.clip, np.maximum, np.minimum, np.fmax, np.fmin, np.nan_to_num, np.nansum, np.nanprod, np.nanmax, np.nanmin,
    runtime.taken,
}  # fmt: skip


def masks(function: Function, types: Any, is_zero: Callable[[Any], bool]) -> dict[str, Mask]:
    """For each value that has one, the mask (test, which arm) under which it is used.

    What no derivative flows through (``is_zero``), a test say, is no use.
    """
    uses: dict[str, list[Mask | None]] = {}
    found: dict[str, Mask] = {}
    if isinstance(function.result, str):
        uses[function.result] = [None]
    replaced = _replaced(function.body, types, is_zero)
    places = _places(function)
    for s in statements(function.body):  # what loops and branches hand on
        if not isinstance(s, Assign):
            for atom in reads(s):
                if isinstance(atom, str):
                    uses.setdefault(atom, []).append(None)
    for s in reversed(list(statements(function.body))):
        if isinstance(s, Assign) and s.target in replaced:
            found[s.target] = replaced[s.target]
        elif isinstance(s, Assign):
            given = set(uses.get(s.target, [None]))
            if None not in given:
                mask = given.pop() if len(given) == 1 else NONZERO
                found[s.target] = mask if mask and _is_there(mask, s.target, places) else NONZERO
        passive = not isinstance(s, Assign) or (
            is_zero(s.op) or s.target not in uses or asks_for_form(s, types.of) or s.op is np.result_type
        )
        for k, atom in enumerate(reads(s)):
            if isinstance(atom, str) and not passive:
                uses.setdefault(atom, []).append(_through(s, k, atom, found, types))
    return found


def unbounded(function: Function, is_singular: Callable[[Any], bool]) -> set[str]:
    """The values that may be infinite, or no number, where the arguments are numbers."""
    found: set[str] = set()
    count = -1
    while count != len(found):  # once more for what loops carry
        count = len(found)
        for s in statements(function.body):
            if isinstance(s, Assign) and (divides(s, is_singular) or _grows(s.op) or any(a in found for a in s.atoms)):
                found.add(s.target)
            elif isinstance(s, Store) and s.value in found and isinstance(s.object, str):
                found.add(s.object)
            elif isinstance(s, (If, For, While)):
                joins = s.merged if isinstance(s, If) else s.carried
                found.update(j.name for j in joins if any(a in found for a in _arms(j)))
                if isinstance(s, For) and s.iterable in found:
                    found.add(s.target)
    return found


def divides(s: Assign, is_singular: Callable[[Any], bool]) -> bool:
    """Whether a partial of an operation may be infinite; that of a power with an exponent of at least 1 is not."""
    exponent = s.args[-1] if s.op is operator.pow else None
    return is_singular(s.op) and not (isinstance(exponent, Const) and is_number(exponent) and exponent.value >= 1)


def _arms(join: Any) -> tuple[Atom, ...]:
    return (join.then, join.orelse) if hasattr(join, "then") else (join.init, join.next)


def _grows(op: Any) -> bool:
    special = isinstance(op, np.ufunc) and getattr(np, op.__name__, None) is not op  # one of SciPy's
    return special or op in GROWING


def _places(function: Function) -> dict[str, tuple[int, ...]]:
    """The blocks around the definition of each name, from the outside; what a loop carries is another value in each of
    its trips."""
    found: dict[str, tuple[int, ...]] = {p.name: () for p in function.params}

    def look(block: Block, path: tuple[int, ...]) -> None:
        for s in block:
            of_trips = (*path, id(s)) if isinstance(s, (For, While)) else path
            found.update(dict.fromkeys(defines(s), of_trips))
            for b in blocks(s):
                look(b, (*path, id(b)))

    look(function.body, ())
    return found


def _is_there(mask: Mask, name: str, places: dict[str, tuple[int, ...]]) -> bool:
    """Whether a mask is one of the place where a value is computed, not of a loop or a branch after it."""
    test = mask[0]
    if not isinstance(test, str):
        return True
    path = places.get(test)
    return path is not None and places[name][: len(path)] == path


def _replaced(block: Block, types: Any, is_zero: Callable[[Any], bool]) -> dict[str, Mask]:
    """The arrays of which the entries under a mask are replaced before any other use."""
    found: dict[str, Mask] = {}
    fresh: set[str] = set()
    for s in block:
        for inner in blocks(s):
            found.update(_replaced(inner, types, is_zero))
        if isinstance(s, Store) and s.op is None and s.object in fresh and _covers(s.key, s.object, types):
            found.setdefault(s.object, (s.key, False))  # type: ignore[arg-type]
        if not isinstance(s, Assign) or not is_zero(s.op):
            fresh.difference_update(a for b in statements((s,)) for a in reads(b) if isinstance(a, str))
        if isinstance(s, Assign) and is_elementwise(s.op):
            fresh.add(s.target)
    return found


def _covers(key: Any, array: str, types: Any) -> bool:
    """Whether a key is a mask of the shape of the array."""
    t, shape = types.of(key) if isinstance(key, str) else None, shape_of(types.of(array))
    return isinstance(t, Array) and t.dtype == "bool" and shape is not None and shape_of(t) == shape


def _through(s: Any, k: int, atom: str, found: dict[str, Mask], types: Any) -> Mask | None:
    """The mask that a value has by one of its uses."""
    if isinstance(s, Assign) and s.op is ops.seen:
        return found.get(s.target)
    if not isinstance(s, Assign):
        return None
    mask = found.get(s.target)
    shape = shape_of(types.of(atom))
    same = is_elementwise(s.op) and shape is not None and shape == shape_of(types.of(s.target))
    if s.op is np.where and len(s.args) == 3 and k in (1, 2):
        own = s.args[0], k == 1
        return own if same and (mask is None or mask == own) else NONZERO
    if s.op in SELECTING or s.op is operator.getitem and k == 0 and _is_mask(types.of(s.args[1])):
        return NONZERO
    if isinstance(s.op, ops.UserFunction):
        return None
    return mask if mask is None or same else NONZERO


def _is_mask(t: Any) -> bool:
    return isinstance(t, Array) and t.dtype == "bool"
