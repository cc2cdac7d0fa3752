"""Computing equal expressions once.

    a = np.exp(x)                a = np.exp(x)
    b = np.exp(x) + 1     ->     b = a + 1

An operation that reads an array that is changed in place is left alone, and so is one that makes an array
that may be changed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tangentc.analysis.aliases import Aliases
from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Block, For, Function, If, Statement, While, is_temporary
from tangentc.core.walk import changed_by, statements, substitute, substitute_block, transform
from tangentc.ops.table import every

ALLOCATING = every("allocates")
FREE = every("free")


def common(function: Function, aliases: Aliases, but: frozenset[Any] = frozenset()) -> Function:
    """The function with temporaries that repeat an earlier expression, ``but`` those of some operations, removed."""
    table: dict[str, Atom] = {}

    def block(statements: Block, scopes: list[dict[Any, str]]) -> Block:
        out: list[Statement] = []
        known: dict[Any, str] = {}
        reads: dict[Any, str] = {}  # of arrays that change: good until the next store
        inner = [*scopes, known]
        for s in statements:
            s = substitute(s, table) if table else s
            if not isinstance(s, Assign) or not ops.is_pure(s.op):
                reads = {}
            match s:
                case If():
                    s = replace(s, then=block(s.then, inner), orelse=block(s.orelse, inner))
                    s = substitute(s, table)
                case For():
                    s = substitute(replace(s, body=block(s.body, inner)), table)
                case While():
                    head = block(s.head, inner)
                    s = substitute(replace(s, head=head, body=block(s.body, inner)), table)
                case Assign() if s.op in but:
                    pass
                case Assign() if _may_share(s, aliases):
                    key = s.op, s.args, s.keywords
                    earlier = next((scope[key] for scope in inner if key in scope), None)
                    if earlier is not None and is_temporary(s.target):
                        table[s.target] = earlier
                        continue
                    known.setdefault(key, s.target)
                case Assign() if _reads_only(s, aliases):
                    key = s.op, s.args, s.keywords
                    if key in reads and is_temporary(s.target):
                        table[s.target] = reads[key]
                        continue
                    reads.setdefault(key, s.target)
            out.append(s)
        return tuple(out)

    body = block(function.body, [])
    result = table.get(function.result, function.result) if isinstance(function.result, str) else function.result
    return replace(function, body=body, result=result)


def known_of_primal(primal: Block, adjoint: Block, aliases: Aliases, handed_on: Iterable[Atom]) -> Block:
    """The adjoint of a trip, in which what the trip has computed already has the name that it has there; what is handed
    on to the next trip is the adjoint's own."""
    made: dict[Any, str] = {}
    for s in primal:
        if isinstance(s, Assign) and _may_share(s, aliases) and s.op not in FREE:
            made.setdefault((s.op, s.args, s.keywords), s.target)
    own = {*handed_on, *map(changed_by, statements(adjoint))}
    same = {
        s.target: made[key]
        for s in statements(adjoint)
        if isinstance(s, Assign) and s.target not in own and (key := (s.op, s.args, s.keywords)) in made
    }
    if not same:
        return adjoint
    kept = transform(adjoint, lambda s: () if isinstance(s, Assign) and s.target in same else (s,))
    return known_of_primal(primal, substitute_block(kept, same), aliases, handed_on)


def _reads_only(s: Assign, aliases: Aliases) -> bool:
    makes_new = s.op in ALLOCATING or s.op is ops.identity or ops.is_used_up(s.op)
    return ops.is_pure(s.op) and not makes_new and not aliases.is_changed(s.target)


def _may_share(s: Assign, aliases: Aliases) -> bool:
    return _reads_only(s, aliases) and not any(isinstance(a, str) and aliases.is_changed(a) for a in s.atoms)
