"""The body of a function in core form in place of a call of it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Block, Const, Effect, For, Function, If, Op, Opaque, Statement, While
from tangentc.core.walk import all_defines, defines, substitute, transform
from tangentc.errors import UnsupportedSyntax


def in_order(function: Op, s: Assign | Effect) -> list[Atom]:
    """The arguments of a call of a function in the order of its parameters."""
    signature = inspect.signature(function)
    try:
        bound = signature.bind(*s.args, **dict(s.keywords))
    except TypeError as error:
        raise UnsupportedSyntax(f"{function.__name__} is called with the wrong arguments", s.span, why=str(error),
                                way_out="correct the call") from None  # fmt: skip
    return [bound.arguments.get(name, Const(p.default)) for name, p in signature.parameters.items()]


def as_given(function: Op, atoms: Sequence[Atom]) -> tuple[tuple[Atom, ...], tuple[tuple[str, Atom], ...]]:
    """The arguments of a call, from those in the order of the parameters, of which some take keywords only."""
    params = inspect.signature(function).parameters.values()
    named = {p.name: a for p, a in zip(params, atoms, strict=True) if p.kind is p.KEYWORD_ONLY}
    return tuple(atoms[: len(atoms) - len(named)]), tuple(named.items())


def spliced(call: Assign, callee: Function, given: Sequence[Atom], fresh: Callable[[str], str]) -> Block:
    """What ``callee`` does in place of ``call``, for parameters that are ``given``; its own names become fresh ones.

    z = f(x * x)      ->     y = x * x           for    def f(a):
                             z = y + 1                       b = a + 1
                                                             return b
    """
    names = {name: fresh(name) for name in sorted(all_defines(callee.body))}
    if callee.result in names:
        names[callee.result] = call.target  # type: ignore[index]
    table = {**dict(zip((p.name for p in callee.params), given, strict=True)), **names}
    body = renamed(callee.body, table, names)
    result = callee.result
    result = table[result] if isinstance(result, str) else result
    return body if result == call.target else (*body, Assign(call.target, ops.identity, (result,), (), call.span))


def renamed(block: Block, table: Mapping[str, Atom], names: Mapping[str, str]) -> Block:
    """A block that reads other atoms, those of ``table``, and defines other names, those of ``names``."""
    return transform(block, lambda s: (_defining(substitute(s, table), names),))


def _defining(s: Statement, names: Mapping[str, str]) -> Statement:
    """A statement that defines other names."""
    if names.keys().isdisjoint(defines(s)):
        return s
    match s:
        case Assign():
            return replace(s, target=names[s.target])
        case If():
            return replace(s, merged=tuple(replace(m, name=names.get(m.name, m.name)) for m in s.merged))
        case For():
            carried = tuple(replace(c, name=names.get(c.name, c.name)) for c in s.carried)
            return replace(s, target=names.get(s.target, s.target), carried=carried)
        case While():
            return replace(s, carried=tuple(replace(c, name=names.get(c.name, c.name)) for c in s.carried))
        case Opaque():
            return replace(s, writes=tuple((text, names.get(name, name)) for text, name in s.writes))
    return s
