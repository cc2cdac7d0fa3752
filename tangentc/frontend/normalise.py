"""One definition a name, control flow that joins only at ``merged`` and ``carried``.

    y = x * x                     y = x * x
    if x > 1:                     if x > 1:
        y = np.sin(y)       ->        y.1 = np.sin(y)
    else:                         else:
        y = 3 * y                     y.2 = 3 * y
    return y                      merged y.3 = (y.1, y.2); return y.3

Blocks are left only at their ends, see `leave`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from tangentc.core import ops
from tangentc.core.nodes import (
    PRESENT,
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
from tangentc.core.types import Struct
from tangentc.core.walk import blocks, defines, reads, statements, substitute, transform
from tangentc.errors import UnsupportedSyntax
from tangentc.frontend.bound import Bound, unbound
from tangentc.frontend.dissolve import NOTHING, dissolved
from tangentc.frontend.leave import gather, leaves, raises

OUT = "%out"


def normalise(
    function: Function, has_values: bool = False, assigned: Set[str] = frozenset(),
    objects: Mapping[str, Struct] = NOTHING,
) -> tuple[Function, frozenset[str]]:  # fmt: skip
    """The function with one definition a name; ``has_values`` says that each name has one wherever it is read,
    ``assigned`` which names of a class objects have attributes for, ``objects`` which parameters are objects.  Those
    whose attributes it sets, which are variables now, are the second part of the result."""
    body = function.body if leaves(function.body) else (*function.body, Leave("return", (Const(None),), function.span))
    body, sets = dissolved(gather(body, function.name, OUT), OUT, assigned, objects)
    versions = _Versions(body, has_values)
    params = tuple(Param(versions.define(p.name), p.default) for p in function.params)
    env: dict[str, Atom] = {p.name: q.name for p, q in zip(function.params, params, strict=True)}
    env[OUT] = Const(ops.UNDEFINED)
    out, _ = versions.block(body, env)
    return replace(function, params=params, body=_pruned(out, env[OUT]), result=env[OUT]), sets


def _pruned(body: Block, result: Atom) -> Block:
    """A block without the joins that nobody reads: a name that means something else in each trip of a loop, and before
    it, is not handed on."""
    feeds: dict[str, tuple[Atom, ...]] = {}
    live: set[Atom] = set()
    stack: list[Atom] = [result]
    for s in statements(body):
        match s:
            case If():
                feeds.update({m.name: (m.then, m.orelse) for m in s.merged})
                stack.append(s.test)
            case For() | While():
                feeds.update({c.name: (c.init, c.next) for c in s.carried})
                stack.append(s.iterable if isinstance(s, For) else s.test)
            case Assign() if s.op is ops.identity and s.keywords == PRESENT:
                feeds[s.target] = s.args
            case _:
                stack += reads(s)
    while stack:
        atom = stack.pop()
        if atom not in live:
            live.add(atom)
            stack += feeds.get(atom, ()) if isinstance(atom, str) else ()

    def rewrite(s: Statement) -> tuple[Statement, ...]:
        if isinstance(s, If) and not all(m.name in live for m in s.merged):
            s = replace(s, merged=tuple(m for m in s.merged if m.name in live))
        elif isinstance(s, (For, While)) and not all(c.name in live for c in s.carried):
            s = replace(s, carried=tuple(c for c in s.carried if c.name in live))
        return () if isinstance(s, Assign) and s.keywords == PRESENT and s.target not in live else (s,)

    return transform(body, rewrite)


# ------------------------------------------------------------------ versions
class _Versions:
    def __init__(self, body: Block, has_values: bool):
        self.has_values = has_values
        self.numbers: Counter[str] = Counter()
        self.reads = Counter(a for s in statements(body) for a in reads(s) if isinstance(a, str))
        self.bound = Bound(body)
        self.depth = 0  # of the branches around

    def define(self, name: str) -> str:
        base = version_base(name).split("'")[0]  # the local names of two calls are versions of one name
        self.numbers[base] += 1
        return base if self.numbers[base] == 1 else f"{base}.{self.numbers[base] - 1}"

    def block(self, block: Block, env: dict[str, Atom]) -> tuple[Block, bool]:
        """Rename a block in ``env``, which is updated; also says whether the block ends in an error."""
        out: list[Statement] = []
        for statement in block:
            if self.depth and (name := self._lacks(statement, env)) is not None:
                return (*out, unbound(name, statement.span)), True  # type: ignore[union-attr]
            out += [] if self.has_values else self.bound.require(statement, env)
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
                    if raises(statement):
                        return tuple(out), True
                case Assign(op=ops.identity, args=(Const(value=ops.UNDEFINED),)):  # `del`
                    env.pop(statement.target, None)
                case Assign():
                    renamed = substitute(statement, self._present(statement, env))
                    target = self.define(statement.target)
                    env[statement.target] = target
                    self.bound.assign(statement, target)
                    out.append(replace(renamed, target=target))  # type: ignore[arg-type,call-overload]
                case _:
                    out.append(substitute(statement, self._present(statement, env)))
        return tuple(out), False

    @staticmethod
    def _lacks(statement: Statement, env: dict[str, Atom]) -> str | None:
        """A name that a statement reads itself, and that no path to it gives a value."""
        if isinstance(statement, (If, For, While, Opaque)):
            return None
        return next((a for a in reads(statement) if isinstance(a, str) and a not in env), None)

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
        then_env, else_env, before = dict(env), dict(env), self.bound.state()
        self.depth += 1
        self.bound.enter(statement.test, True)
        then, then_raises = self.block(statement.then, then_env)
        after_then = self.bound.state()
        self.bound.set(before)
        self.bound.enter(statement.test, False)
        orelse, else_raises = self.block(statement.orelse, else_env)
        self.depth -= 1
        after_else = self.bound.state()
        ends = [state for state, ends in ((after_then, then_raises), (after_else, else_raises)) if not ends]
        self.bound.leave(before, ends)
        test = env[statement.test] if isinstance(statement.test, str) else statement.test
        merged = []
        inside = Counter(a for s in statements((statement,)) for a in reads(s) if isinstance(a, str))
        inside.update([statement.test] if isinstance(statement.test, str) else [])
        for name in _assigned(statement):
            within = inside[name] - (name == statement.test)
            if name not in env and self.reads[name] <= within and name != OUT:
                continue  # nothing after the branch reads it, nor does the next trip of a loop
            a = Const(ops.UNDEFINED) if then_raises else then_env.get(name, Const(ops.UNDEFINED))
            b = Const(ops.UNDEFINED) if else_raises else else_env.get(name, Const(ops.UNDEFINED))
            if a == b:
                env[name] = a
                continue
            joined = self.define(name)
            merged.append(Merge(joined, a, b))
            arms = ((a, after_then, then_raises), (b, after_else, else_raises))
            self.bound.join(name, joined, [(v, state) for v, state, ends in arms if not ends])
            env[name] = joined
        return If(test, then, orelse, tuple(merged), statement.span, statement.tag)

    def _loop(self, statement: For | While, env: dict[str, Atom]) -> For | While:
        assigned = _assigned(statement)
        inside = Counter(a for s in statements((statement,)) for a in reads(s) if isinstance(a, str))
        carried = [n for n in assigned if n in env or self.reads[n] > inside[n]]
        if len(carried) < len(assigned):  # a name that the trip before may have given its value
            late = set(carried) | _read_first(blocks(statement), set(defines(statement)))
            carried = [n for n in assigned if n in late]
        inits = {n: env.get(n, Const(ops.UNDEFINED)) for n in carried}
        iterable: Atom = ""
        if isinstance(statement, For):
            iterable = env[statement.iterable] if isinstance(statement.iterable, str) else statement.iterable
        inner = dict(env)
        names = {n: self.define(n) for n in carried}
        self.bound.forget(assigned)
        before = self.bound.state()
        for n in carried:
            self.bound.join(n, names[n], [(inits[n], before)])
        inner.update(names)
        at_head = dict(inner)
        if isinstance(statement, For):
            target = self.define(statement.target)
            inner[statement.target] = target
            body, _ = self.block(statement.body, inner)
            carries = tuple(Carry(names[n], inits[n], inner.get(n, Const(ops.UNDEFINED))) for n in carried)
            if statement.iterable in self.bound.run_over:  # what each trip gives is there
                for n in carried:
                    self.bound.missing.pop(names[n], None)
                    self.bound.join(n, names[n], [(inner.get(n, Const(ops.UNDEFINED)), self.bound.state())])
            self.bound.set(before)
            env.update(names)
            return For(target, iterable, body, carries, statement.span)
        head, _ = self.block(statement.head, at_head)
        test = at_head[statement.test] if isinstance(statement.test, str) else statement.test
        inner = dict(at_head)
        body, _ = self.block(statement.body, inner)
        carries = tuple(Carry(names[n], inits[n], inner.get(n, Const(ops.UNDEFINED))) for n in carried)
        self.bound.set(before)
        env.update(names)
        return While(head, test, body, carries, statement.span)


def _read_first(inside: Sequence[Block], has: set[str]) -> set[str]:
    """The names that blocks, one after the other, may read before they give them a value; ``has`` gets those that
    surely have one then."""
    out: set[str] = set()
    for s in (s for block in inside for s in block):
        if not isinstance(s, While):  # whose head comes before its test
            out.update(a for a in reads(s) if isinstance(a, str) and a not in has)
        if isinstance(s, If):
            arms = [(arm, set(has)) for arm in (s.then, s.orelse)]
            out.update(*(_read_first((arm,), given) for arm, given in arms))
            ends = [given for arm, given in arms if not (arm and isinstance(arm[-1], Opaque) and raises(arm[-1]))]
            has.update(set.intersection(*ends) if ends else ())
        elif isinstance(s, (For, While)):
            out |= _read_first(blocks(s), has | set(defines(s)))
        else:
            has.update(defines(s))
    return out


def _assigned(statement: Statement) -> list[str]:
    """The names that a compound statement assigns, in the order of the text."""
    return list(dict.fromkeys(name for s in statements((statement,)) for name in defines(s)))
