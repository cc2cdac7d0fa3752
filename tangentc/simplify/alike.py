"""A list that holds one thing several times is that thing, where its items are taken.

y_bars = []                               (the adjoint of ``sum(ys)`` is the same for each of ``ys``)
for k in range(len(ys)):
    y_bars.append(total_bar)      ->
...                                       ...
y_bar = y_bars.pop()                      y_bar = total_bar

So is ``[total_bar] * len(ys)``, the adjoint of a list of which an array is made.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace

from tangentc.analysis.program import Program
from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Block, Effect, For, Function, Statement
from tangentc.core.types import Scalar, Type
from tangentc.core.walk import blocks, reads, statements, transform, with_body


def alike(program: Program) -> Function:
    """The function without such lists."""
    function, of = program.function, program.types.of
    found: dict[Atom, Atom] = {}
    filling: set[int] = set()  # what makes and fills such a list, by the ids of the statements
    _find(function.body, found, filling)
    for s in statements(function.body) if found else ():
        if id(s) not in filling and not _takes(s, of):
            for atom in reads(s):
                found.pop(atom, None)
    found.pop(function.result, None)
    if not found:
        return function

    def rewrite(s: Statement) -> tuple[Statement, ...]:
        if id(s) in filling and (getattr(s, "target", None) in found or isinstance(s, Effect) and s.args[0] in found):
            return ()
        if isinstance(s, For) and not s.body and not s.carried:
            return ()
        if isinstance(s, Assign) and s.args and s.args[0] in found:
            return (replace(s, op=ops.identity, args=(found[s.args[0]],)),)
        return (s,)

    return with_body(function, transform(function.body, rewrite))


def _find(block: Block, found: dict[Atom, Atom], filling: set[int]) -> None:
    """The lists that are made in a block, and filled by a loop in it that appends the same in each trip."""
    new: dict[Atom, Assign] = {}
    for s in block:
        if isinstance(s, Assign) and s.op is ops.make_list and len(s.args) < 2:
            new[s.target] = s
        elif isinstance(s, Assign) and s.op is operator.mul and s.args[0] in new and len(new[s.args[0]].args) == 1:
            found[s.target] = new[s.args[0]].args[0]
            filling.add(id(s))
        elif isinstance(s, For) and (given := _gives(s)) is not None and given[0] in new and not new[given[0]].args:
            found[given[0]] = given[1]
            filling |= {id(new.pop(given[0])), id(s.body[0])}
        for inner in blocks(s):
            _find(inner, found, filling)


def _gives(s: For) -> tuple[Atom, Atom] | None:
    """The list to which each trip of a loop appends the same, and that."""
    (only, *more) = s.body or (None,)
    if more or s.carried or not isinstance(only, Effect) or only.op is not ops.append or only.keywords:
        return None
    filled, item = only.args
    return (filled, item) if item != s.target else None


def _takes(s: Statement, of: Callable[[Atom], Type]) -> bool:
    if not isinstance(s, Assign):
        return False
    return (
        s.op is operator.getitem
        and isinstance(of(s.args[1]), Scalar)
        or s.op in (ops.pop, ops.take)
        and len(s.args) == 1
    )
