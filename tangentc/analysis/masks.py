"""Values that matter only where a mask is true.

    np.where(x > 0, np.sqrt(x), 0)          sqrt(x) matters only where x > 0

A value that is used only through one arm of a `where`, directly or through elementwise operations of the
same shape, has that arm's mask.  Where the partial of its rule can be singular, its adjoint is computed
under the mask, so that the branch that was not taken never puts a NaN into the gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tangentc.analysis.infer import is_elementwise
from tangentc.core.build import shape_of
from tangentc.core.nodes import Assign, Atom, Function
from tangentc.core.walk import reads, statements

Mask = tuple[Atom, bool]


def masks(function: Function, types: Any, is_zero: Callable[[Any], bool]) -> dict[str, Mask]:
    """For each value that has one, the mask (test, which arm) under which it is used.

    What no derivative flows through (``is_zero``), a test say, is no use.
    """
    uses: dict[str, list[Mask | None]] = {}
    found: dict[str, Mask] = {}
    if isinstance(function.result, str):
        uses[function.result] = [None]
    for s in reversed(list(statements(function.body))):
        if isinstance(s, Assign):
            given = uses.get(s.target, [])
            if given and given[0] is not None and all(m == given[0] for m in given):
                found[s.target] = given[0]
        passive = isinstance(s, Assign) and is_zero(s.op)
        for k, atom in enumerate(reads(s)):
            if isinstance(atom, str) and not passive:
                uses.setdefault(atom, []).append(_through(s, k, atom, found, types))
    return found


def _through(s: Any, k: int, atom: str, found: dict[str, Mask], types: Any) -> Mask | None:
    if not isinstance(s, Assign) or not is_elementwise(s.op):
        return None
    if shape_of(types.of(atom)) is None or shape_of(types.of(atom)) != shape_of(types.of(s.target)):
        return None
    if s.op is np.where and len(s.args) == 3 and k in (1, 2):
        return s.args[0], k == 1
    return found.get(s.target)
