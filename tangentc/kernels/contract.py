"""Arrays whose entries are used where they are made, as numbers.

t = np.empty(n)                         for i in range(n):
for i in range(n):                          t = a[i] * b[i]
    t[i] = a[i] * b[i]         ->           s[i] = t + 1
    s[i] = t[i] + 1
"""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tangentc.core import ops
from tangentc.core.build import Types
from tangentc.core.nodes import Assign, Atom, Block, Statement, Store, version_base
from tangentc.core.walk import blocks, definitions, reads, statements, substitute_block, transform
from tangentc.kernels.accesses import Accesses


def contracted(block: Block, types: Types, fresh: Callable[[str], str], kept: set[Atom]) -> Block:
    """The block without the arrays that are needless, whose names their entries have now; ``kept`` are those that leave
    the kernel."""
    accesses = Accesses(types, definitions(block), lambda name: name)
    made = {s.target: s for s in statements(block) if isinstance(s, Assign) and s.op is np.empty}
    uses: dict[str, list[Statement]] = defaultdict(list)
    other: set[Atom] = set()
    for s in statements(block):
        if isinstance(s, Store) and s.object in made and s.op is None:
            uses[s.object].append(s)
            other.update(a for a in (s.value, s.key) if a in made)
        elif isinstance(s, Assign) and s.op is operator.getitem and s.args[0] in made:
            uses[str(s.args[0])].append(s)
        else:
            other.update(a for a in reads(s) if a in made)
    found: dict[str, Atom] = {}
    for name in made:
        if name not in other and name not in kept and (value := _value(block, name, uses[name], accesses)) is not None:
            found[name] = value

    names: dict[str, str] = {}
    for name, value in found.items():
        if isinstance(value, str) and version_base(value) == "%entry" and value not in names:
            names[value] = fresh(name)
            types.of_name[names[value]] = types.of(value)

    def rewrite(s: Statement) -> Block:
        if (
            isinstance(s, Assign)
            and s.target in found
            and s.op is np.empty
            or isinstance(s, Store)
            and s.object in found
        ):
            return ()
        if isinstance(s, Assign) and s.op is operator.getitem and s.args[0] in found:
            return (Assign(s.target, ops.identity, (found[str(s.args[0])],), (), s.span),)
        if isinstance(s, Assign) and s.target in names:
            return (replace(s, target=names[s.target]),)
        return (s,)

    return substitute_block(transform(block, rewrite), names)


def _value(block: Block, name: str, uses: list[Statement], accesses: Accesses) -> Atom | None:
    """What is stored into an array, if that is done at one place, and its entries are read behind it in that trip."""
    stores = [s for s in uses if isinstance(s, Store)]
    if len(stores) != 1 or stores[0].object == stores[0].value:
        return None
    store = stores[0]
    at = accesses.subscripts(store.key)
    own = block_of(block, store)
    if None in at or own is None:
        return None
    behind = own[own.index(store) + 1 :]
    within = {id(s) for s in statements(behind)}
    for s in uses:
        if s is not store and (id(s) not in within or accesses.subscripts(s.args[1]) != at):  # type: ignore[union-attr]
            return None
    return store.value


def block_of(block: Block, s: Statement) -> Block | None:
    """The block in which a statement stands."""
    if any(x is s for x in block):
        return block
    for x in block:
        for inner in blocks(x):
            if (found := block_of(inner, s)) is not None:
                return found
    return None
