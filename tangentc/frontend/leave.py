"""Leaving blocks only at their ends.

    if a:                     if a:
        return 0.0                out = 0.0
    y = x * x          ->     else:
    return y                      y = x * x
                                  out = y

What follows a branch that leaves (``return``, ``break``, ``continue``) is moved into its other branch,
never copied.  A loop that is left by ``return`` sets a flag and breaks; so does one whose ``else`` is
passed over.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Block, Const, For, If, Leave, Opaque, Statement, While
from tangentc.core.walk import blocks, statements
from tangentc.errors import Span, TangentcError


def leaves(block: Block) -> bool:
    """Whether control never reaches the end of the block."""
    if not block:
        return False
    last = block[-1]
    if isinstance(last, Leave) or raises(last):
        return True
    return isinstance(last, If) and leaves(last.then) and leaves(last.orelse)


def raises(statement: Statement) -> bool:
    return isinstance(statement, Opaque) and type(statement.tree).__name__ == "Raise"


def refusal(error: TangentcError, span: Span) -> Opaque:
    """What stands in place of code that is refused: the error is raised unless no path leads here."""
    tree = ast.Raise()
    tree.refused = error  # type: ignore[attr-defined]
    return Opaque(tree, "raise", (), (), span)


def may_leave(block: Block) -> bool:
    for statement in block:
        if isinstance(statement, Leave) or isinstance(statement, If) and any(map(may_leave, blocks(statement))):
            return True
    return False


def has(block: Block, kind: str) -> bool:
    """Whether a block, loops inside it left out, leaves in this way."""
    return any(
        isinstance(s, Leave) and s.kind == kind or isinstance(s, If) and any(has(b, kind) for b in blocks(s))
        for s in block
    )


def with_flag(block: Block, kind: str, flag: str, out: str = "") -> Block:
    """The body of a loop in which leaving in one way sets a flag and breaks."""
    result: list[Statement] = []
    for s in block:
        if isinstance(s, If):
            s = replace(s, then=with_flag(s.then, kind, flag, out), orelse=with_flag(s.orelse, kind, flag, out))
        if isinstance(s, Leave) and s.kind == kind:
            if kind == "return":
                result.append(Assign(out, ops.identity, s.values, (), s.span))
            result.append(Assign(flag, ops.identity, (Const(True),), (), s.span))
            s = replace(s, kind="break", values=())
        result.append(s)
    return tuple(result)


def _with_rest(s: If, rest: Block) -> If | None:
    """A branch with what follows it in the arm that does not leave; None if each may go on."""
    if leaves(s.then):
        return replace(s, orelse=s.orelse + rest)
    if leaves(s.orelse):
        return replace(s, then=s.then + rest)
    return None if rest else s


def gather(block: Block, name: str, out: str) -> Block:
    """The block left only at its end, ``out`` assigned what is returned."""
    result: list[Statement] = []
    for k, statement in enumerate(block):
        statement = _inside(statement, name, out)
        if isinstance(statement, If) and (may_leave(statement.then) or may_leave(statement.orelse)):
            if (whole := _with_rest(statement, block[k + 1 :])) is None:
                return *result, *_partly(statement, block[k + 1 :], name, out)
            then, orelse = gather(whole.then, name, out), gather(whole.orelse, name, out)
            return *result, replace(whole, then=then, orelse=orelse)
        if isinstance(statement, Leave):
            if statement.kind == "return":
                result.append(Assign(out, ops.identity, statement.values, (), statement.span))
            elif statement.kind == "break":
                result.append(statement)
            return tuple(result)
        result.append(statement)
    return tuple(result)


def _inside(statement: Statement, name: str, out: str) -> Statement:
    """The loops in a statement gathered: what leaves a loop stays inside it."""
    if isinstance(statement, (For, While)):
        return replace(statement, body=gather(statement.body, name, out))
    if isinstance(statement, If) and not may_leave((statement,)):
        return replace(statement, then=gather(statement.then, name, out), orelse=gather(statement.orelse, name, out))
    return statement


def _partly(statement: If, rest: Block, name: str, out: str, outermost: bool = True) -> Block:
    """Where only some paths through a branch leave, a flag says so, and what follows is under its test.

    if a:                         left = False
        x = 1                     if a:
    elif b:                           x = 1
        continue            ->    elif b:
    x = 2                             left = True
                                  if not left: x = 2

    In a branch that another one holds, which is not the ``outermost``, control still leaves where the flag is set.
    """
    kinds = {s.kind for s in _leaving((statement,))}  # of a loop break and continue, of a function return alone
    flag, broke = _flag("left", statement.span, out), _flag("broke", statement.span, out)

    def marked(block: Block) -> Block:
        result: list[Statement] = []
        for s in block:
            if isinstance(s, If):
                s = replace(s, then=marked(s.then), orelse=marked(s.orelse))
            if isinstance(s, Leave):
                if s.kind == "return" and s.values != (out,):
                    result.append(Assign(out, ops.identity, s.values, (), s.span))
                result.append(Assign(flag, ops.identity, (Const(True),), (), s.span))
                if s.kind == "break" and len(kinds) > 1:
                    result.append(Assign(broke, ops.identity, (Const(True),), (), s.span))
                continue
            result.append(s)
        return tuple(result)

    def still(kind: str) -> Block:
        """What leaves where the flag is set: at the end of a function, or of a trip, nothing has to."""
        if outermost and kind != "break":
            return ()
        return (Leave(kind, (out,) if kind == "return" else (), statement.span),)

    branches = replace(
        statement, then=marked(_kept(statement.then, name, out)), orelse=marked(_kept(statement.orelse, name, out))
    )
    cleared = [flag] if len(kinds) == 1 else [flag, broke]
    clear = [Assign(f, ops.identity, (Const(False),), (), statement.span) for f in cleared]
    leave = still(*kinds) if len(kinds) == 1 else (If(broke, still("break"), still("continue"), (), statement.span),)
    after = gather(rest, name, out) if outermost else _kept(rest, name, out)
    return (*clear, branches, If(flag, leave, after, (), statement.span, "statement"))


def _kept(block: Block, name: str, out: str) -> Block:
    """A branch with what follows a branch that leaves in its other branch, leaves still in place."""
    result: list[Statement] = []
    for k, s in enumerate(block):
        if isinstance(s, If) and may_leave((s,)):
            if (whole := _with_rest(s, block[k + 1 :])) is None:
                return *result, *_partly(s, block[k + 1 :], name, out, False)
            then, orelse = _kept(whole.then, name, out), _kept(whole.orelse, name, out)
            return *result, replace(whole, then=then, orelse=orelse)
        result.append(_inside(s, name, out))
    return tuple(result)


def _leaving(block: Block) -> list[Leave]:
    found: list[Leave] = []
    for s in block:
        if isinstance(s, Leave):
            found.append(s)
        elif isinstance(s, If):
            found += _leaving(s.then) + _leaving(s.orelse)
    return found


def _flag(word: str, span: Span, out: str) -> str:
    return f"%{word}'{span.line}:{span.column}{out[len('%out') :]}"


def once(block: Block) -> tuple[Block, Atom] | None:
    """The block without its only ``return``, and what that gives; None if it returns elsewhere too."""
    returns = [s for s in statements(block) if isinstance(s, Leave) and s.kind == "return"]
    if not returns:
        return block, Const(None)
    if len(returns) == 1 and block and block[-1] is returns[0]:
        return block[:-1], returns[0].values[0]
    return None
