"""Values that matter only where a mask is true.

    np.where(x > 0, np.sqrt(x), 0)          sqrt(x) matters only where x > 0

    y = np.sqrt(x); y[x <= 0] = 0           sqrt(x) matters only where x > 0

A value that is used only through one arm of a `where`, directly or through elementwise operations of the
same shape, has that arm's mask; so has an array of which entries are replaced before it is read.  Where the
partial of its rule can be singular, its adjoint is computed under the mask, so that what was not taken never puts
a NaN into the gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tangentc.analysis.infer import is_elementwise
from tangentc.core import ops
from tangentc.core.build import shape_of
from tangentc.core.nodes import Assign, Atom, Block, Function, Store
from tangentc.core.types import Array
from tangentc.core.walk import blocks, reads, statements

Mask = tuple[Atom, bool]


def masks(function: Function, types: Any, is_zero: Callable[[Any], bool]) -> dict[str, Mask]:
    """For each value that has one, the mask (test, which arm) under which it is used.

    What no derivative flows through (``is_zero``), a test say, is no use.
    """
    uses: dict[str, list[Mask | None]] = {}
    found: dict[str, Mask] = {}
    if isinstance(function.result, str):
        uses[function.result] = [None]
    replaced = _replaced(function.body, types, is_zero)
    for s in reversed(list(statements(function.body))):
        if isinstance(s, Assign) and s.target in replaced:
            found[s.target] = replaced[s.target]
        elif isinstance(s, Assign):
            given = uses.get(s.target, [])
            if given and given[0] is not None and all(m == given[0] for m in given):
                found[s.target] = given[0]
        unused = isinstance(s, Assign) and s.op in (ops.make_list, ops.make_tuple) and s.target not in uses
        passive = isinstance(s, Assign) and is_zero(s.op) or unused
        for k, atom in enumerate(reads(s)):
            if isinstance(atom, str) and not passive:
                uses.setdefault(atom, []).append(_through(s, k, atom, found, types))
    return found


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
    if isinstance(s, Assign) and s.op is ops.seen:
        return found.get(s.target)
    if not isinstance(s, Assign) or not is_elementwise(s.op):
        return None
    if shape_of(types.of(atom)) is None or shape_of(types.of(atom)) != shape_of(types.of(s.target)):
        return None
    if s.op is np.where and len(s.args) == 3 and k in (1, 2):
        return s.args[0], k == 1
    return found.get(s.target)
