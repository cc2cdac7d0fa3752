"""Walking programs in core form: what a statement reads and defines, and renaming."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tangentc.core import ops
from tangentc.core.nodes import (
    Assign,
    Atom,
    Block,
    Carry,
    Const,
    Effect,
    For,
    Function,
    If,
    Leave,
    Merge,
    Opaque,
    Statement,
    Store,
    While,
)
from tangentc.core.types import Array, Scalar, Type, present

WITH_BLOCKS = {If, For, While}
FORM = ("shape", "size", "ndim", "dtype")  # what an array is made like
FORM_OF = {builtins.len, np.shape, np.size, np.ndim}


def blocks(statement: Statement) -> tuple[Block, ...]:
    """The blocks inside one statement."""
    match statement:
        case If():
            return statement.then, statement.orelse
        case For():
            return (statement.body,)
        case While():
            return statement.head, statement.body
    return ()


def joins_of(s: Statement) -> list[tuple[str, Atom, Atom]]:
    """The names that a branch or a loop gives to one value or another, with both."""
    if isinstance(s, If):
        return [(m.name, m.then, m.orelse) for m in s.merged]
    return [(c.name, c.init, c.next) for c in s.carried] if isinstance(s, (For, While)) else []


def statements(block: Iterable[Statement]) -> Iterator[Statement]:
    """Every statement of a block, outer before inner, in the order of the text."""
    stack = list(block)[::-1]
    while stack:
        statement = stack.pop()
        yield statement
        if type(statement) in WITH_BLOCKS:
            for inner in reversed(blocks(statement)):
                stack.extend(reversed(inner))


def changed_by(statement: Statement) -> str | None:
    """The name of what a statement itself changes in place, as far as that may be: an array or a container."""
    match statement:
        case Store():
            return statement.object
        case Assign() if statement.op in ops.CHANGES or isinstance(statement.op, ops.augmented):
            first = statement.args[0]
        case Effect() if (
            statement.args
            and statement.op not in (ops.push, ops.fail_if, builtins.print)
            and not ops.is_pure(statement.op)
        ):
            first = statement.args[0]
        case _:
            return None
    return first if isinstance(first, str) else None


def all_changed_by(statement: Statement) -> tuple[str, ...]:
    """The names of all that a statement itself changes in place."""
    if isinstance(statement, (Assign, Effect)) and isinstance(statement.op, ops.Emitted) and statement.op.changes:
        return tuple(str(statement.args[k]) for k in statement.op.changes)
    changed = changed_by(statement)
    return () if changed is None else (changed,)


def reads(statement: Statement) -> tuple[Atom, ...]:
    """The atoms that a statement itself reads, without those of the blocks inside it."""
    match statement:
        case Assign() | Effect():
            return statement.atoms
        case Store():
            key = () if statement.key is None else (statement.key,)
            return (statement.object, *key, statement.value)
        case If():
            return (statement.test, *(a for m in statement.merged for a in (m.then, m.orelse)))
        case For():
            return (statement.iterable, *(a for c in statement.carried for a in (c.init, c.next)))
        case While():
            return (statement.test, *(a for c in statement.carried for a in (c.init, c.next)))
        case Leave():
            return statement.values
        case Opaque():
            return tuple(atom for _, atom in statement.reads)
    raise TypeError(statement)


def defines(statement: Statement) -> tuple[str, ...]:
    """The names that a statement itself defines, without those of the blocks inside it."""
    match statement:
        case Assign():
            return (statement.target,)
        case If():
            return tuple(m.name for m in statement.merged)
        case For():
            return (statement.target, *(c.name for c in statement.carried))
        case While():
            return tuple(c.name for c in statement.carried)
        case Opaque():
            return tuple(name for _, name in statement.writes)
    return ()


def read_names(statement: Statement) -> list[str]:
    return [atom for atom in reads(statement) if isinstance(atom, str)]


def all_reads(block: Iterable[Statement]) -> set[str]:
    """Every name read anywhere in a block."""
    return {atom for s in statements(block) for atom in reads(s) if isinstance(atom, str)}


def all_defines(block: Iterable[Statement]) -> set[str]:
    """Every name defined anywhere in a block."""
    return {name for s in statements(block) for name in defines(s)}


def definitions(block: Block) -> dict[str, Statement]:
    """For each name, the statement that defines it."""
    return {name: s for s in statements(block) for name in defines(s)}


def transform(block: Block, rewrite: Callable[[Statement], tuple[Statement, ...]]) -> Block:
    """Rebuild a block: inner blocks first, then ``rewrite`` gives what stands for each statement.  It is the same block
    if all of these are the same."""
    out: list[Statement] = []
    for statement in block:
        if type(statement) in WITH_BLOCKS:
            statement = with_blocks(statement, lambda inner: transform(inner, rewrite))
        out.extend(rewrite(statement))
    return rebuilt(block, out)


def with_blocks(statement: Statement, of: Callable[[Block], Block]) -> Statement:
    """The statement with another block for each inside it; itself if they are the same."""
    inner = blocks(statement)
    new = tuple(map(of, inner))
    if all(map(operator.is_, new, inner)):
        return statement
    match statement:
        case If():
            return replace(statement, then=new[0], orelse=new[1])
        case For():
            return replace(statement, body=new[0])
        case While():
            return replace(statement, head=new[0], body=new[1])
    raise TypeError(statement)


def rebuilt(block: Block, out: Sequence[Statement]) -> Block:
    """The statements ``out`` as a block; ``block`` itself if they are its own."""
    return block if len(out) == len(block) and all(map(operator.is_, out, block)) else tuple(out)


def perhaps_missing(block: Block, types: Mapping[Atom, Type]) -> set[Atom]:
    """The names that have no value on some path, or None, with the containers that are made of them: what gives one,
    zeros say, may take what is missing for None."""
    none: set[Atom] = {Const(None), Const(ops.UNDEFINED)}
    found: set[Atom] = set()
    program, size = list(statements(block)), -1
    while size != (size := len(found)):
        for s in program:
            found |= {name for name, *arms in joins_of(s) if not (found | none).isdisjoint(arms)}
            if isinstance(s, Assign) and s.op is ops.identity and s.args[0] in none:
                found.add(s.target)
            elif isinstance(s, (Assign, Effect, Store)) and not found.isdisjoint(reads(s)):
                made = s.target if isinstance(s, Assign) else reads(s)[0]
                found |= {made} if not isinstance(types.get(made), (Array, Scalar)) else set()
    return found


def parts_given(s: Assign) -> list[tuple[tuple[Hashable, ...], Atom]]:
    """The parts of a container that have names, where a statement gives another name to it, with their paths."""
    named = dict(s.keywords)
    paths = named.pop("parts") if s.op is ops.identity and "parts" in named else Const(())
    return list(zip(paths.value, named.values(), strict=True)) if paths.value else []


def with_body(function: Function, body: Block) -> Function:
    """The function with another body; the function itself if it is not another one."""
    return function if body is function.body else replace(function, body=body)


def substitute(statement: Statement, atoms: Mapping[Any, Atom]) -> Statement:
    """The statement with the names and data that it itself reads replaced; inner blocks are left alone."""

    def of(atom: Atom) -> Atom:
        return atom if isinstance(atom, Const) else atoms.get(atom, atom)

    match statement:
        case Assign(name, op, args, keywords, span):
            return Assign(name, op, tuple(map(of, args)), tuple((k, of(v)) for k, v in keywords), span)
        case Effect(op, args, keywords, span):
            return Effect(op, tuple(map(of, args)), tuple((k, of(v)) for k, v in keywords), span)
        case Store():
            target = of(statement.object)
            assert isinstance(target, str)
            key = None if statement.key is None else of(statement.key)
            return replace(statement, object=target, key=key, value=of(statement.value))
        case If():
            merged = tuple(Merge(m.name, of(m.then), of(m.orelse)) for m in statement.merged)
            return replace(statement, test=of(statement.test), merged=merged)
        case For():
            carried = tuple(Carry(c.name, of(c.init), of(c.next)) for c in statement.carried)
            return replace(statement, iterable=of(statement.iterable), carried=carried)
        case While():
            carried = tuple(Carry(c.name, of(c.init), of(c.next)) for c in statement.carried)
            return replace(statement, test=of(statement.test), carried=carried)
        case Leave():
            return replace(statement, values=tuple(map(of, statement.values)))
        case Opaque():
            return replace(statement, reads=tuple((t, of(a)) for t, a in statement.reads))
    raise TypeError(statement)


def substitute_block(block: Block, atoms: Mapping[Any, Atom]) -> Block:
    """The block with names replaced wherever they are read."""
    if not atoms:
        return block
    return transform(block, lambda s: (substitute(s, atoms),))


def asks_for_form(s: Statement, of: Callable[[Atom], Type]) -> bool:
    """Whether a statement reads how an array is made, ``x.shape`` or ``len(x)`` for instance, and not what it holds;
    ``of`` gives types."""
    if isinstance(s, Assign) and s.op in FORM_OF:
        return isinstance(of(s.args[0]), Array)
    if not (isinstance(s, Assign) and s.op is builtins.getattr and isinstance(s.args[1], Const)):
        return False
    return s.args[1].value in FORM and isinstance(present(of(s.args[0])), (Array, Scalar))
