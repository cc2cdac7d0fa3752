"""Loops around one store, as what they store where.

for i in range(n):                 over (i, j), from 0 to (n, m), into t[i, j]: the statements of the body
    for j in range(m):     ->
        t[i, j] = ...
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from dataclasses import dataclass

from tangentc.analysis.linear import Form
from tangentc.core import ops
from tangentc.core.nodes import Assign, For, Statement, Store
from tangentc.kernels.accesses import Accesses


@dataclass(frozen=True)
class Perfect:
    """Loops whose innermost body computes one value and stores it."""

    loops: tuple[For, ...]
    ranges: tuple[Assign, ...]
    body: tuple[Assign, ...]  # what computes the value, without the store
    store: Store

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(loop.target for loop in self.loops)


def perfect(s: Statement, definitions: Mapping[str, Statement]) -> Perfect | None:
    """A loop as loops around one store, None if it is something else."""
    loops: list[For] = []
    ranges: list[Assign] = []
    body: list[Assign] = []
    while isinstance(s, For):
        made = definitions.get(s.iterable)  # type: ignore[arg-type]
        if s.carried or not isinstance(made, Assign) or made.op is not builtins.range:
            return None
        loops.append(s)
        ranges.append(made)
        *before, last = s.body
        made_before = [x for x in before if isinstance(x, Assign) and x.op is not ops.pop]
        if len(made_before) != len(before):
            return None
        body += [x for x in made_before if x.op is not builtins.range]
        s = last
    return Perfect(tuple(loops), tuple(ranges), tuple(body), s) if loops and isinstance(s, Store) else None


def offsets(p: Perfect, accesses: Accesses) -> tuple[int, ...] | None:
    """By how much each subscript of what is stored lies ahead of its loop's variable; None for other subscripts."""
    at = accesses.subscripts(p.store.key)
    if len(at) != len(p.loops):
        return None
    out = []
    for form, name in zip(at, p.variables, strict=True):
        offset = _ahead(form, name)
        if offset is None:
            return None
        out.append(offset)
    return tuple(out)


def _ahead(form: Form | None, name: str) -> int | None:
    if form is None or form.get(name) != 1 or form.keys() - {name, "1"}:
        return None
    return form.get("1", 0)


def bounds(p: Perfect, accesses: Accesses) -> list[tuple[Form, Form]] | None:
    """Where each loop begins and ends."""
    out = []
    for made in p.ranges:
        forms = [accesses.forms.form(a) for a in made.args]
        if len(forms) != 2 or None in forms:
            return None
        out.append((forms[0], forms[1]))
    return out  # type: ignore[return-value]
