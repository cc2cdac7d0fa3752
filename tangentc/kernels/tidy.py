"""What a kernel's text leaves out: other names for what has one, what nobody reads, and lines quoted twice."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tangentc.analysis.linear import ONE, Forms
from tangentc.core import ops
from tangentc.core.build import Types
from tangentc.core.nodes import AFTERWARDS, Assign, Atom, Block, Const, For, Op, Statement, Store, is_temporary
from tangentc.core.types import Scalar
from tangentc.core.walk import (
    all_reads,
    definitions,
    reads,
    statements,
    substitute,
    substitute_block,
    transform,
    with_blocks,
)

ROOM = {np.empty, np.zeros, builtins.max}


def plain(body: Block, outs: set[Atom]) -> Block:
    """The body without other names for what has one."""
    names = {
        s.target: s.args[0]
        for s in statements(body)
        if isinstance(s, Assign) and s.op is ops.identity and s.target not in outs and not s.keywords
    }

    def of(a: Atom) -> Atom:
        while isinstance(a, str) and a in names:
            a = names[a]
        return a

    table = {n: of(n) for n in names}
    body = transform(body, lambda s: () if isinstance(s, Assign) and s.target in names else (s,))
    return substitute_block(body, table)


def with_short_places(body: Block, types: Types) -> Block:
    """The body with ``(i - 1) + 2`` as ``i + 1``."""
    forms = Forms(types.of, definitions(body))

    def shorter(s: Statement) -> Block:
        if not isinstance(s, Assign) or s.op not in (operator.add, operator.sub) or s.keywords:
            return (s,)
        form = forms.form(s.target) or {}
        (name, times), *more = (*((k, n) for k, n in form.items() if k != ONE), (None, 0))
        number = form.get(ONE, 0)
        if len(more) != 1 or times != 1 or not isinstance(name, str) or name == s.target:
            return (s,)
        if not number:
            return (replace(s, op=ops.identity, args=(name,)),)
        return (replace(s, op=operator.add if number > 0 else operator.sub, args=(name, Const(abs(number)))),)

    return transform(body, shorter)


def with_places_said(body: Block, types: Types, fresh: Callable[[str], str]) -> Block:
    """The body with ``u[i + 2]`` wherever an entry has such a place, and no name for it: it is as short."""
    made = definitions(body)
    loops = {s.target for s in statements(body) if isinstance(s, For)}

    def is_place(a: Atom) -> bool:
        s = made.get(a) if isinstance(a, str) else None
        is_near = isinstance(s, Assign) and s.op in (operator.add, operator.sub) and s.args[0] in loops
        return is_near and isinstance(s.args[1], Const) and types.of(s.target).dtype == "int64"  # type: ignore

    def said(s: Statement) -> Block:
        if not isinstance(s, Store) and getattr(s, "op", None) not in (operator.getitem, ops.make_tuple):
            return (s,)
        table: dict[Atom, Atom] = {}
        own: list[Statement] = []
        for a in reads(s):
            if a not in table and is_place(a):
                table[a] = name = fresh(str(a))
                types.of_name[name] = types.of(a)
                own.append(replace(made[a], target=name))  # type: ignore[index, call-arg, arg-type]
        return *own, substitute(s, table) if table else s

    return transform(body, said)


def with_fewer_signs(body: Block, types: Types, fresh: Callable[[str], str]) -> Block:
    """The body with ``a + -b`` as ``a - b``, ``-(-a)`` as ``a``, and the sign of a product before it, all of which
    have the same bits."""
    minus: dict[Atom, Atom] = {}  # what is the negative of what

    def fewer(s: Statement) -> Block:
        if not isinstance(s, Assign) or types.of(s.target) not in FLOATS:
            return (s,)
        of = [minus.get(a) for a in s.args]
        match s.op:
            case operator.neg if of[0] is not None:
                return (replace(s, op=ops.identity, args=(of[0],)),)
            case operator.neg:
                minus[s.target] = s.args[0]
            case operator.add | operator.sub if of[1] is not None:
                return (replace(s, op=operator.sub if s.op is operator.add else operator.add, args=(s.args[0], of[1])),)
            case operator.add if of[0] is not None:
                return (replace(s, op=operator.sub, args=(s.args[1], of[0])),)
            case operator.mul | operator.truediv if any(a is not None for a in of):
                args = tuple(a if m is None else m for a, m in zip(s.args, of))
                if None not in of:
                    return (replace(s, args=args),)
                positive = fresh(s.target)
                types.of_name[positive], minus[s.target] = types.of(s.target), positive
                return replace(s, target=positive, args=args), replace(s, op=operator.neg, args=(positive,))
        return (s,)

    return transform(body, fewer)


FLOATS = {Scalar(dtype, weak) for dtype in ("float64", "float32") for weak in (False, True)}


def is_range(op: Op) -> bool:
    """Whether this is ``range``, or Numba's ``prange``."""
    return op is builtins.range or getattr(op, "__name__", "") == "prange"


def shown(body: Block) -> Block:
    """The body as it is written: ranges from 0 on say their end alone, and a line that is differentiated is quoted
    where it begins."""
    last: list[object] = [None]

    def once(s: Statement) -> Statement:
        if isinstance(s, Assign) and is_range(s.op) and len(s.args) == 2 and s.args[0] == Const(0):
            s = replace(s, args=s.args[1:])
        if isinstance(s, (Assign, Store)) and s.span.sweep == "adjoint":
            quoted = s.span.file, s.span.line, s.span.quoted
            makes_room = isinstance(s, Assign) and s.op in ROOM
            if quoted == last[0] or makes_room:
                s = replace(s, span=AFTERWARDS)
            elif isinstance(s, Store) or not is_temporary(s.target):
                last[0] = quoted
        return with_blocks(s, block)

    def block(b: Block) -> Block:
        return tuple(map(once, b))

    return block(body)


def without_unread(block: Block, results: set[Atom], is_pure: Callable[[Op], bool]) -> Block:
    """The block without what nobody reads."""
    while True:
        read = all_reads(block) | {a for a in results if isinstance(a, str)}

        def is_dead(s: Statement, read: set[str] = read) -> bool:  # type: ignore[assignment]
            if isinstance(s, For) and not s.carried:
                return not s.body
            return isinstance(s, Assign) and s.target not in read and is_pure(s.op)

        if not any(map(is_dead, statements(block))):
            return block
        block = transform(block, lambda s, is_dead=is_dead: () if is_dead(s) else (s,))  # type: ignore[misc]
