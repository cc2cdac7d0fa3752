"""Loops of an adjoint that may run in the order of the function's own loop.

    for i in range(n - 1, -1, -1):             for i in range(n):
        x_bar[i] = out_bar * y[i]      ->          x_bar[i] = out_bar * y[i]

The adjoint of a loop runs backwards.  Where no trip touches what another one writes it may run as memory is read.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from dataclasses import replace

from tangentc.core.build import Types
from tangentc.core.nodes import Assign, Atom, Block, For, Statement
from tangentc.core.walk import all_defines, definitions, statements, transform
from tangentc.kernels.accesses import Accesses

TURNED = "first", "end"  # what a range that runs backwards says of that which it turns, until it is decided


def trips(s: For, definitions: Mapping[str, Statement]) -> tuple[Atom, ...]:
    """The arguments of the range that a loop runs over, forwards."""
    made = definitions.get(s.iterable)  # type: ignore[arg-type]
    if not isinstance(made, Assign) or made.op is not builtins.range:
        return ()
    return tuple(a for _, a in made.keywords) or made.args


def forwards(block: Block, types: Types, root: Callable[[str], str]) -> Block:
    """The block with loops turned back whose trips do not depend on one another."""
    made = definitions(block)
    accesses = Accesses(types, made, root)

    def is_free(s: Statement) -> bool:
        if not isinstance(s, For) or not getattr(made.get(s.iterable), "keywords", ()) or s.carried:  # type: ignore
            return False
        found = accesses.of(s.body)
        return found is not None and accesses.are_apart(found, found, s.target, all_defines(s.body), True)

    free = {s.iterable for s in statements(block) if is_free(s)}

    def turn(s: Statement) -> Block:
        if not isinstance(s, Assign) or s.op is not builtins.range or not s.keywords:
            return (s,)
        given = tuple(a for _, a in s.keywords) if s.target in free else s.args
        return (replace(s, args=given, keywords=()),)

    return transform(block, turn)
