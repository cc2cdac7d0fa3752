"""Room for arrays that every trip fills anew, made once before the loop.

for _ in range(steps):                     t = np.empty(n)
    t = np.empty(n)               ->       for _ in range(steps):
    for i in range(n):                         for i in range(n):
        t[i] = ...                                 t[i] = ...
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from tangentc.core import ops
from tangentc.core.build import Types
from tangentc.core.nodes import Assign, Atom, Block, For, If, Statement, Store, While
from tangentc.core.walk import all_defines, definitions, reads, statements, with_blocks
from tangentc.kernels.language import is_number
from tangentc.kernels.threads import is_shared


def hoisted(block: Block, types: Types, kept: set[Atom]) -> Block:
    """The block with the arrays that do not leave it made before its loops; ``kept`` are those that do."""
    other: set[Atom] = set(kept)
    for s in statements(block):
        if isinstance(s, Assign) and s.op is operator.getitem:
            other.update(s.args[1:])
        elif isinstance(s, Store):
            other.add(s.value)
        elif not isinstance(s, Assign) or not is_number(types.of(s.target)):
            other.update(reads(s))
    return _block(block, other, definitions(block))


def _block(block: Block, other: set[Atom], made: Mapping[str, Statement]) -> Block:
    out: list[Statement] = []
    for s in block:
        s = with_blocks(s, lambda inner: _block(inner, other, made)) if isinstance(s, (For, If, While)) else s
        if isinstance(s, For) and not is_shared(s, made.get(str(s.iterable))):
            rooms, rest = _rooms(s, other)
            out += rooms
            s = replace(s, body=rest)
        out.append(s)
    return tuple(out)


def _rooms(s: For, other: set[Atom]) -> tuple[list[Statement], Block]:
    """The statements of a loop that make room, with those that say how much, and the others."""
    inside = all_defines((s,))
    rooms: list[Statement] = []
    needed: set[Atom] = set()
    for x in s.body:
        if not isinstance(x, Assign) or x.keywords and x.op is not np.empty:
            continue
        if inside.isdisjoint(x.atoms) and (x.op is np.empty and x.target not in other or x.op in SAYS):
            rooms.append(x)
            inside = inside - {x.target}
    for x in reversed(rooms):
        if x.op is np.empty or x.target in needed:  # type: ignore[union-attr]
            needed |= {x.target, *x.atoms}  # type: ignore[union-attr]
    rooms = [x for x in rooms if x.target in needed]  # type: ignore[union-attr]
    return rooms, tuple(x for x in s.body if not any(x is r for r in rooms))


SAYS = {max, ops.make_tuple, operator.add, operator.sub, operator.mul}
