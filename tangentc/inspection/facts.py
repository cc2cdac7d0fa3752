"""What the compiler found out about each variable: its type, whether a derivative flows through it, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tangentc.analysis.activity import Activity
from tangentc.analysis.program import Program
from tangentc.compiler.context import Context
from tangentc.core.nodes import Assign, For, If, Statement, While, version_base
from tangentc.core.types import describe, is_differentiable
from tangentc.core.walk import defines, statements


@dataclass(frozen=True)
class Fact:
    """A variable, or one of its versions: where it is made, its type, and why a derivative flows through it or not."""

    name: str
    function: str
    line: int
    type: str
    is_active: bool
    why: str


def activity_of(context: Context, program: Program, wrt: tuple[int, ...]) -> Activity:
    """Which values of a program a derivative by these parameters flows through."""
    names = [p.name for p in program.function.params]
    return Activity(program.function, {names[i] for i in wrt}, program.types, program.aliases, _is_zero)


def facts_of(context: Context, program: Program, wrt: tuple[int, ...]) -> list[Fact]:
    """A fact for each variable of a function, in the order in which they are made."""
    function, types = program.function, program.types
    params = [p.name for p in function.params]
    moving = [params[i] for i in wrt]
    activity = activity_of(context, program, wrt)
    made: dict[str, Statement] = {n: s for s in statements(function.body) for n in defines(s)}
    out: list[Fact] = []
    for name in [*params, *made]:
        if name.startswith("%") or name not in types.of_name:
            continue
        span = made[name].span if name in made else function.span
        t = types.of_name[name]
        is_active = name in activity.active
        if name in moving:
            why = "the derivative is taken with respect to it"
        elif is_active:
            sources = list(dict.fromkeys(shown(n) for n in _sources(name, made, activity.active)))
            why = f"computed from {', '.join(sources)}" if sources else "what is stored into it moves"
        elif name in activity.shifts:
            why = "what it takes off is added again: the result is the same whatever it is"
        elif not is_differentiable(t):
            why = "it holds no number that can move by a little"
        elif name in activity.varied:
            why = "the result does not depend on it"
        else:
            why = f"it does not depend on {' or '.join(map(shown, moving))}"
        out.append(Fact(shown(name), span.function or function.name, span.line, describe(t), is_active, why))
    return out


def shown(name: str) -> str:
    """A version of a variable as people read it: ``x``, ``x_2``."""
    base = version_base(name).lstrip("%")
    return base if base == name else base + name[len(version_base(name)) :].replace(".", "_")


def _sources(name: str, made: dict[str, Statement], active: set[str]) -> Iterator[str]:
    """The active variables that a value is computed from, seen through temporaries."""
    seen, waiting = {name}, [*_operands(made.get(name), name)]
    while waiting:
        atom = waiting.pop(0)
        if not isinstance(atom, str) or atom in seen or atom not in active:
            continue
        seen.add(atom)
        if atom.startswith("%"):
            waiting += _operands(made.get(atom), atom)
        else:
            yield atom


def _operands(s: Statement | None, name: str) -> list[Any]:
    match s:
        case Assign():
            return list(s.atoms)
        case If():
            return [a for m in s.merged if m.name == name for a in (m.then, m.orelse)]
        case For() | While():
            carried = [a for c in s.carried if c.name == name for a in (c.init, c.next)]
            return carried or ([s.iterable] if isinstance(s, For) else [])
    return []


def _is_zero(op: Any) -> bool:
    from tangentc.rules.registry import REGISTRY

    rule = REGISTRY.find(op)
    return rule is not None and rule.kind == "zero"


__all__ = ["Fact", "activity_of", "facts_of", "shown"]
