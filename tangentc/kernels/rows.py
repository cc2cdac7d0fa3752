"""Arrays of which each trip of a loop needs its own row, as that row.

t = np.empty((n, m))                    for i in range(n):
for i in range(n):                          t = np.empty(m)
    for j in range(m):          ->          for j in range(m):
        t[i, j] = a[i, j] * b[j]                t[j] = a[i, j] * b[j]
    s[i] = row_sum(t[i])                    s[i] = row_sum(t)
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from tangentc.core import ops
from tangentc.core.build import Types
from tangentc.core.nodes import Assign, Atom, Block, Const, For, Statement, Store
from tangentc.core.types import Array, Tuple
from tangentc.core.walk import all_reads, definitions, joins_of, reads, statements, transform
from tangentc.errors import Span
from tangentc.kernels.accesses import Accesses
from tangentc.kernels.contract import block_of


def in_rows(block: Block, types: Types, kept: set[Atom]) -> Block:
    """The block with rows where they do; ``kept`` are the arrays that leave the kernel."""
    joined = {a for s in statements(block) for _, *arms in joins_of(s) for a in arms}
    while True:
        made = {s.target: s for s in statements(block) if isinstance(s, Assign) and s.op is np.empty}
        made = {name: s for name, s in made.items() if name not in joined and name not in kept}
        of = definitions(block)
        accesses = Accesses(types, of, lambda name: name)
        for name, s in reversed(made.items()):
            shape = of.get(str(s.args[0]))
            if not isinstance(shape, Assign) or shape.op is not ops.make_tuple or len(shape.args) < 2:
                continue
            if (loop := _loop_of(block, s)) is not None and _by_rows(loop, name, accesses):
                block = _as_row(block, loop, s, shape, types, of)
                break
        else:
            return block


def _loop_of(block: Block, made: Assign) -> For | None:
    """The loop that does all that is done to an array, beside the statement that makes it; None if there is none.  A
    loop inside of that would leave in the array what its next round reads."""
    own = block_of(block, made) or ()
    users = [s for s in own if s is not made and made.target in touched((s,))]
    return users[0] if len(users) == 1 and isinstance(users[0], For) else None


def touched(block: Block) -> set[object]:
    """The names that a block reads, and those of the arrays that it writes."""
    return {*all_reads(block), *(s.object for s in statements(block) if isinstance(s, Store))}


def _by_rows(loop: For, name: str, accesses: Accesses) -> bool:
    """Whether a loop touches of an array only the row that is named by its trip."""
    found = accesses.of(loop.body)
    return (
        found is not None
        and all(a.at and a.at[0] == {loop.target: 1} for a in found if a.name == name)
        and not any(name in reads(s) and not _is_subscript(s, name) for s in statements(loop.body))
    )


def _is_subscript(s: Statement, name: str) -> bool:
    if isinstance(s, Store):
        return s.object == name and s.value != name
    return isinstance(s, Assign) and s.op is operator.getitem and s.args[0] == name and s.args[1] != name


def _as_row(block: Block, loop: For, made: Assign, shape: Assign, types: Types, of: Mapping[str, Statement]) -> Block:
    """The block with an array without its first axis, made in the loop."""
    name, t = made.target, types.of(made.target)
    assert isinstance(t, Array)
    types.of_name[name] = replace(t, shape=t.shape[1:])

    def shorter(key: Atom, span: Span) -> tuple[Block, Atom]:
        key_of = of.get(str(key))
        keys = key_of.args[1:] if isinstance(key_of, Assign) and key_of.op is ops.make_tuple else ()
        if len(keys) < 2:
            return (), keys[0] if keys else Const(())
        new = f"{key}.row"
        types.of_name[new] = Tuple(tuple(map(types.of, keys)))
        return (Assign(new, ops.make_tuple, keys, (), span),), new

    def rewrite(s: Statement) -> Block:
        if isinstance(s, Assign) and s.target == name:
            return ()
        if isinstance(s, For) and s.target == loop.target:
            before, size = shorter(shape.target, made.span)
            return (replace(s, body=(*before, replace(made, args=(size, *made.args[1:])), *s.body)),)
        if isinstance(s, Store) and s.object == name:
            before, key = shorter(s.key, s.span)  # type: ignore[arg-type]
            return (*before, replace(s, key=key))
        if isinstance(s, Assign) and s.op is operator.getitem and s.args[0] == name:
            before, key = shorter(s.args[1], s.span)
            if key == Const(()):
                return (Assign(s.target, ops.identity, (name,), (), s.span),)
            return (*before, replace(s, args=(name, key)))
        return (s,)

    return transform(block, rewrite)
