"""One definition a name, control flow that joins only at ``merged`` and ``carried``.

    y = x * x                     y = x * x
    if x > 1:                     if x > 1:
        y = np.sin(y)       ->        y.1 = np.sin(y)
    else:                         else:
        y = 3 * y                     y.2 = 3 * y
    return y                      merged y.3 = (y.1, y.2); return y.3

What follows a branch that leaves (``return``, ``break``, ``continue``) is moved into its other branch,
never copied, so that a block is left only at its end.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from tangentc.core import ops
from tangentc.core.nodes import (
    Assign,
    Atom,
    Block,
    Carry,
    Const,
    For,
    Function,
    If,
    Leave,
    Merge,
    Opaque,
    Param,
    Statement,
    Store,
    While,
    version_base,
)
from tangentc.core.walk import blocks, defines, reads, statements, substitute
from tangentc.errors import UnsupportedSyntax

OUT = "%out"


def normalise(function: Function) -> Function:
    """The function with one definition a name."""
    body = _gather(function.body, function.name)
    versions = _Versions(body)
    params = tuple(Param(versions.define(p.name), p.default) for p in function.params)
    env: dict[str, Atom] = {p.name: q.name for p, q in zip(function.params, params, strict=True)}
    env[OUT] = Const(None)
    out, _ = versions.block(body, env)
    return replace(function, params=params, body=out, result=env[OUT])


# ------------------------------------------------------------------ leaving only at the end of a block
def _leaves(block: Block) -> bool:
    """Whether control never reaches the end of the block."""
    if not block:
        return False
    last = block[-1]
    if isinstance(last, Leave) or _raises(last):
        return True
    return isinstance(last, If) and _leaves(last.then) and _leaves(last.orelse)


def _raises(statement: Statement) -> bool:
    return isinstance(statement, Opaque) and type(statement.tree).__name__ == "Raise"


def _may_leave(block: Block) -> bool:
    for statement in block:
        if isinstance(statement, Leave) or isinstance(statement, If) and any(map(_may_leave, blocks(statement))):
            return True
    return False


def _gather(block: Block, name: str) -> Block:
    """Move what follows a branch that leaves into the other branch."""
    out: list[Statement] = []
    for k, statement in enumerate(block):
        statement = _gather_inside(statement, name)
        if isinstance(statement, If) and (_may_leave(statement.then) or _may_leave(statement.orelse)):
            then, orelse, rest = statement.then, statement.orelse, block[k + 1 :]
            if _leaves(then):
                orelse += rest
            elif _leaves(orelse):
                then += rest
            elif rest:
                out.extend(_with_flag(statement, rest, name))
                return tuple(out)
            out.append(replace(statement, then=_gather(then, name), orelse=_gather(orelse, name)))
            return tuple(out)
        if isinstance(statement, Leave):
            if statement.kind == "return":
                out.append(Assign(OUT, ops.identity, statement.values, (), statement.span))
            elif statement.kind == "break":
                out.append(statement)
            return tuple(out)
        out.append(statement)
    return tuple(out)


def _gather_inside(statement: Statement, name: str) -> Statement:
    """The loops in a statement gathered: what leaves a loop stays inside it."""
    if isinstance(statement, (For, While)):
        return replace(statement, body=_gather(statement.body, name))
    if isinstance(statement, If) and not _may_leave((statement,)):
        return replace(statement, then=_gather(statement.then, name), orelse=_gather(statement.orelse, name))
    return statement


def _with_flag(statement: If, rest: Block, name: str) -> Block:
    """Where only some paths through a branch leave, a flag says so, and what follows is under its test.

    if a:                         left = False
        x = 1                     if a:
    elif b:                           x = 1
        continue            ->    elif b:
    x = 2                             left = True
                                  if not left: x = 2
    """
    kinds = {s.kind for s in statements((statement,)) if isinstance(s, Leave)}
    if len(kinds) > 1:
        raise UnsupportedSyntax(
            f"{name} leaves from inside nested branches in several ways, which tangentc does not differentiate",
            statement.span,
            why="what follows would have to be copied into several branches",
            way_out="test the condition in one `if` of its own that ends in break, continue or return",
        )
    kind = kinds.pop()
    flag = f"%left.{statement.span.line}"

    def marked(block: Block) -> Block:
        out: list[Statement] = []
        for s in block:
            if isinstance(s, If):
                s = replace(s, then=marked(s.then), orelse=marked(s.orelse))
            if isinstance(s, Leave):
                if kind == "return":
                    out.append(Assign(OUT, ops.identity, s.values, (), s.span))
                out.append(Assign(flag, ops.identity, (Const(True),), (), s.span))
                continue
            out.append(s)
        return tuple(out)

    def kept(block: Block) -> Block:
        """The branch with what follows a leaving branch in its other branch, leaves still in place."""
        out: list[Statement] = []
        for k, s in enumerate(block):
            if isinstance(s, If) and _may_leave((s,)):
                then, orelse, after = s.then, s.orelse, block[k + 1 :]
                if _leaves(then):
                    orelse += after
                elif _leaves(orelse):
                    then += after
                elif after:
                    out.extend(_with_flag(replace(s, then=kept(then), orelse=kept(orelse)), after, name))
                    return tuple(out)
                out.append(replace(s, then=kept(then), orelse=kept(orelse)))
                return tuple(out)
            out.append(_gather_inside(s, name))
        return tuple(out)

    branches = replace(statement, then=marked(kept(statement.then)), orelse=marked(kept(statement.orelse)))
    leave: Block = (Leave(kind, (), statement.span),) if kind == "break" else ()
    clear = Assign(flag, ops.identity, (Const(False),), (), statement.span)
    return (clear, branches, If(flag, leave, _gather(rest, name), (), statement.span, "statement"))


# ------------------------------------------------------------------ versions
class _Versions:
    def __init__(self, body: Block):
        self.numbers: Counter[str] = Counter()
        self.reads = Counter(a for s in statements(body) for a in reads(s) if isinstance(a, str))

    def define(self, name: str) -> str:
        base = version_base(name)
        self.numbers[base] += 1
        return base if self.numbers[base] == 1 else f"{base}.{self.numbers[base] - 1}"

    def block(self, block: Block, env: dict[str, Atom]) -> tuple[Block, bool]:
        """Rename a block in ``env``, which is updated; also says whether the block ends in an error."""
        out: list[Statement] = []
        for statement in block:
            match statement:
                case If():
                    out.append(self._if(statement, env))
                case For() | While():
                    out.append(self._loop(statement, env))
                case Opaque():
                    renamed = substitute(statement, self._present(statement, env))
                    assert isinstance(renamed, Opaque)
                    pairs = tuple((t, self.define(name)) for t, name in statement.writes)
                    env.update({old: new for (_, old), (_, new) in zip(statement.writes, pairs, strict=True)})
                    out.append(replace(renamed, writes=pairs))
                    if _raises(statement):
                        return tuple(out), True
                case Assign():
                    renamed = substitute(statement, self._present(statement, env))
                    target = self.define(statement.target)
                    env[statement.target] = target
                    out.append(replace(renamed, target=target))  # type: ignore[arg-type,call-overload]
                case _:
                    out.append(substitute(statement, self._present(statement, env)))
        return tuple(out), False

    def _present(self, statement: Statement, env: dict[str, Atom]) -> dict[str, Atom]:
        names = [a for a in reads(statement) if isinstance(a, str)]
        for name in names:
            if name not in env:
                if isinstance(statement, Store) or not isinstance(statement, Opaque):
                    raise UnsupportedSyntax(
                        f"{name.lstrip('%')} is read before it has a value",
                        statement.span,  # type: ignore[union-attr]
                        why="no assignment reaches this line",
                        way_out="assign it first",
                    )
                return {n: env[n] for n in names if n in env}
        return {n: env[n] for n in names}

    def _if(self, statement: If, env: dict[str, Atom]) -> If:
        then_env, else_env = dict(env), dict(env)
        then, then_raises = self.block(statement.then, then_env)
        orelse, else_raises = self.block(statement.orelse, else_env)
        test = env[statement.test] if isinstance(statement.test, str) else statement.test
        merged = []
        inside = Counter(a for s in statements((statement,)) for a in reads(s) if isinstance(a, str))
        inside.update([statement.test] if isinstance(statement.test, str) else [])
        for name in _assigned(statement):
            if self.reads[name] <= inside[name] - (name == statement.test) and name != OUT:
                continue  # nothing after the branch reads it
            a = Const(ops.UNDEFINED) if then_raises else then_env.get(name, Const(ops.UNDEFINED))
            b = Const(ops.UNDEFINED) if else_raises else else_env.get(name, Const(ops.UNDEFINED))
            if a == b:
                env[name] = a
                continue
            joined = self.define(name)
            merged.append(Merge(joined, a, b))
            env[name] = joined
        return If(test, then, orelse, tuple(merged), statement.span, statement.tag)

    def _loop(self, statement: For | While, env: dict[str, Atom]) -> For | While:
        assigned = _assigned(statement)
        inside = Counter(a for s in statements((statement,)) for a in reads(s) if isinstance(a, str))
        carried = [n for n in assigned if n in env or self.reads[n] > inside[n]]
        inits = {n: env.get(n, Const(ops.UNDEFINED)) for n in carried}
        iterable: Atom = ""
        if isinstance(statement, For):
            iterable = env[statement.iterable] if isinstance(statement.iterable, str) else statement.iterable
        inner = dict(env)
        names = {n: self.define(n) for n in carried}
        inner.update(names)
        at_head = dict(inner)
        if isinstance(statement, For):
            target = self.define(statement.target)
            inner[statement.target] = target
            body, _ = self.block(statement.body, inner)
            carries = tuple(Carry(names[n], inits[n], inner[n]) for n in carried)
            env.update(names)
            return For(target, iterable, body, carries, statement.span)
        head, _ = self.block(statement.head, at_head)
        test = at_head[statement.test] if isinstance(statement.test, str) else statement.test
        inner = dict(at_head)
        body, _ = self.block(statement.body, inner)
        carries = tuple(Carry(names[n], inits[n], inner[n]) for n in carried)
        env.update(names)
        return While(head, test, body, carries, statement.span)


def _assigned(statement: Statement) -> list[str]:
    """The names that a compound statement assigns, in the order of the text."""
    return list(dict.fromkeys(name for s in statements((statement,)) for name in defines(s)))
