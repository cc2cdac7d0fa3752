"""A pair: the primal that saves, and the adjoint that takes what it saved."""

from __future__ import annotations

import operator
from collections.abc import Set
from dataclasses import replace

import numpy as np

from tangentc import runtime
from tangentc.analysis.aliases import Aliases
from tangentc.analysis.program import Program
from tangentc.core import ops
from tangentc.core.build import Builder
from tangentc.core.nodes import Assign, Atom, Block, Const, Effect, Function, If, Merge, Param, Statement
from tangentc.core.types import SAVED, Array, Scalar, Tuple, Type, Unknown, is_container
from tangentc.core.walk import changed_by, defines, definitions, statements, substitute, substitute_block
from tangentc.derive.context import Context
from tangentc.derive.docs import source_doc, with_respect_to
from tangentc.derive.link import Region
from tangentc.derive.reverse import Sweeps
from tangentc.simplify.copies import copies as without_copies
from tangentc.simplify.together import together_in_pair


def link_pair(
    context: Context, program: Program, sweeps: Sweeps, adjoint: Function, b: Builder, wrt: list[str]
) -> tuple[Function, Block, Atom, list[str]]:  # fmt: skip
    """The adjoint as a function of what the primal saves, the primal, its value, and what it saves.

    The primal is what the adjoint was planned for: the statements that are left when both are one function.
    """
    done = _joint(context, program, sweeps, adjoint, b)
    body, together = done.function.body[:-1], done.function.body[-1]
    cut_at = next(k for k, s in enumerate(body) if isinstance(s, Assign) and s.op is ops.snapshot)
    primal, rest = body[:cut_at], body[cut_at + 1 :]
    target: Atom = body[cut_at].args[0]
    inputs = [p.name for p in program.function.params]
    inside, linked = Region(b, done.aliases, primal, rest, inputs, extra=(together.args[1],)).link_pair()
    if not context.inner and not sweeps.adjoints.mirror:
        apart = _of_what_changes(primal, linked, done.aliases, b)
        primal, linked, inside = together_in_pair(b.types, primal, linked, inside, apart)
    saved, linked, primal = _export(inside, linked, primal, b)
    origin = dict(zip(saved, inside, strict=True))  # the names inside branches, whose memory is known
    changed = _Changed(primal, linked, origin, done.aliases, bool(sweeps.adjoints.mirror), b)
    parameter = b.fresh("saved")
    b.types.of_name[parameter] = SAVED
    head, table = _taken_apart(saved, parameter, changed, b)
    linked = substitute_block(linked, table)
    result = substitute(together, table).args[1]
    out = _adjoint_function(program, adjoint, parameter, wrt, head, linked, result, saved, table)
    return out, primal, target, saved


def _joint(context: Context, program: Program, sweeps: Sweeps, adjoint: Function, b: Builder) -> Program:
    """Both sweeps as one program, simplified.  The value is a result too, so that every store that the primal makes
    is seen there."""
    both, value = b.fresh("%both"), b.fresh("%value")
    b.types.of_name[both] = Tuple((program.result, Unknown("the adjoints")))
    b.types.of_name[value] = Unknown("the value")
    snapshot = Assign(value, ops.snapshot, (program.function.result,))
    together = Assign(both, ops.make_tuple, (value, adjoint.result))
    params = (*program.function.params, *adjoint.params)
    body = (*sweeps.primal, snapshot, *adjoint.body, together)
    joint = Function("joint", params, body, both, program.function.span)
    done = context.with_facts(joint, program.types, program.source)
    for step in context.steps:
        done = done if step.last else context.after(done, step)
    return done


def _of_what_changes(primal: Block, linked: Block, aliases: Aliases, b: Builder) -> set[Atom]:
    """The lists of saved values that the adjoint may change, or that hold what it may."""
    stored = {aliases.root(n) for s in statements(linked) if (n := changed_by(s)) is not None}
    held = [s.args for s in statements(primal) if isinstance(s, Effect) and s.op is ops.push]
    held += [(s.args[0], s.target) for s in statements(linked) if isinstance(s, Assign) and s.op is ops.pop]
    plain = (Array, Scalar)
    return {
        name for name, value in held if isinstance(value, str)
        and (not isinstance(b.types.of(value), plain) and stored or aliases.root(value) in stored)
    }  # fmt: skip


class _Changed:
    """Which of the saved values the adjoint changes, and has to change in copies of its own."""

    def __init__(
        self, primal: Block, linked: Block, origin: dict[str, str], aliases: Aliases, mirror: bool, b: Builder
    ):
        self.aliases, self.b = aliases, b
        root = {n: aliases.root(inside) for n, inside in origin.items()}
        stored = {aliases.root(origin.get(n, n)) for s in statements(linked) if (n := changed_by(s)) is not None}
        pops = [s for s in statements(linked) if isinstance(s, Assign) and s.op is ops.pop]
        self.popped = {s.args[0] for s in pops}
        restored = {n for n in origin if root[n] in stored and isinstance(self.type(n), Array)}
        held = {n for n in origin if _may_hold(primal, origin[n], stored, aliases)}  # arrays that are put back
        several = {n for n in origin if root[n] in stored or n in self.popped} | held
        self.shared = (  # two of them may be one array, or hold it
            len({root[n] for n in restored}) < len(restored)
            or mirror
            or bool(held)
            or any(is_container(self.type(n)) for n in several)
            or any(self.is_found_again(s.target, stored) for s in pops)
        )
        numbers = {n for n in several if isinstance(self.type(n), Scalar)}
        self.names: Set[Atom] = several - numbers if self.shared else restored | self.popped

    def type(self, name: str) -> Type:
        return self.b.types.of_name.get(name, Unknown())

    def is_found_again(self, name: str, stored: set[str]) -> bool:
        """Whether what was saved in a list may be there several times, and in other lists."""
        t = self.b.type(name)
        if isinstance(t, Unknown) and stored:  # what the primal of a call saved
            return True
        return self.aliases.root(name) in stored and (isinstance(t, Array) or is_container(t))

    def copy(self, target: str, name: str, source: Atom) -> Assign:
        """A copy of one saved value."""
        if isinstance(self.type(name), Unknown) or name in self.popped:
            return Assign(target, ops.method, (source, Const("copy")))
        return Assign(target, np.copy, (source,))


def _taken_apart(
    saved: list[str], parameter: str, changed: _Changed, b: Builder
) -> tuple[list[Statement], dict[str, Atom]]:
    """The statements that take apart what the primal saved, and names for the copies of what is changed."""
    head: list[Statement] = []
    table: dict[str, Atom] = {n: b.fresh(n) for n in saved if n in changed.names}
    sources: dict[str, Atom] = {n: b.fresh(f"{n}_kept") if len(saved) > 1 else parameter for n in saved}
    for k, n in enumerate(saved):
        t = changed.type(n)
        if n in table:
            b.types.of_name[str(table[n])] = t
        if len(saved) > 1:
            b.types.of_name.setdefault(str(sources[n]), t)
            target = str(sources[n]) if n in table else n
            head.append(Assign(target, operator.getitem, (parameter, Const(k))))
        elif n not in table:
            head.append(Assign(n, ops.identity, (parameter,)))
    own = list(table)
    if changed.shared and own:
        kept, copies = b.fresh("%kept"), b.fresh("%own")
        b.types.of_name[kept] = b.types.of_name[copies] = Tuple(tuple(map(changed.type, own)))
        head.append(Assign(kept, ops.make_tuple, tuple(sources[n] for n in own)))
        head.append(Assign(copies, runtime.copied, (kept,)))
        head += [Assign(str(table[n]), operator.getitem, (copies, Const(k))) for k, n in enumerate(own)]
    else:
        head += [changed.copy(str(table[n]), n, sources[n]) for n in own]
    return head, table


def _may_hold(primal: Block, saved: str, stored: set[str], aliases: Aliases) -> bool:
    """Whether what the primal of a call saved may hold memory of what is changed: its arguments, or its result."""
    made = definitions(primal)
    part = made.get(saved)
    call = made.get(part.args[0]) if isinstance(part, Assign) and part.op is operator.getitem else None  # type: ignore
    if not isinstance(call, Assign) or not isinstance(aliases.types.of(saved), Unknown):
        return False
    results = {s.target for s in made.values() if isinstance(s, Assign) and s.args[:1] == (call.target,)}
    return any(isinstance(a, str) and aliases.root(a) in stored for a in (*call.atoms, *results))


def _adjoint_function(
    program: Program, adjoint: Function, parameter: str, wrt: list[str], head: list[Statement], linked: Block,
    result: Atom, saved: list[str], table: dict[str, Atom],
) -> Function:  # fmt: skip
    doc = source_doc(
        program,
        f"The adjoint of {program.function.name} with respect to {with_respect_to(wrt)}, from what its primal saved.",
    )
    params = (Param(parameter), *adjoint.params)
    out = Function(adjoint.name, params, (*head, *linked), result, program.function.span, doc)
    return without_copies(out) if len(saved) != 1 else _single(out, parameter, saved[0], table)


def _export(saved: list[str], linked: Block, primal: Block, b: Builder) -> tuple[list[str], Block, Block]:
    """What is saved inside a branch is handed out of it; it is None where the other branch is taken."""
    table: dict[str, Atom] = {}

    def block(statements_: Block) -> tuple[Block, list[str]]:
        out: list[Statement] = []
        here: list[str] = []
        for s in statements_:
            if isinstance(s, If):
                then, from_then = block(s.then)
                orelse, from_else = block(s.orelse)
                merged = list(s.merged)
                for names, pick in ((from_then, 0), (from_else, 1)):
                    for n in names:
                        new = b.fresh(n)
                        b.types.of_name[new] = b.types.of(n)
                        merged.append(Merge(new, n if pick == 0 else Const(None), n if pick else Const(None)))
                        for old in [k for k, v in table.items() if v == n]:
                            table[old] = new
                        table[n] = new
                        here.append(new)
                s = replace(s, then=then, orelse=orelse, merged=tuple(merged))
            here.extend(n for n in defines(s) if n in saved)
            out.append(s)
        return tuple(out), here

    def top(statements_: Block) -> Block:
        out: list[Statement] = []
        for s in statements_:
            out.extend(block((s,))[0] if isinstance(s, If) else (s,))
        return tuple(out)

    exported = top(primal)
    if not table:
        return saved, linked, primal
    names = [str(table.get(n, n)) for n in saved]
    return names, substitute_block(linked, table), exported


def _single(function: Function, parameter: str, name: str, table: dict[str, Atom]) -> Function:
    """With one saved value the parameter is that value itself."""
    if name in table:
        return function
    body = tuple(s for s in function.body if not (isinstance(s, Assign) and s.op is ops.identity and s.target == name))
    params = tuple(Param(name) if p.name == parameter else p for p in function.params)
    return replace(function, params=params, body=body)
