"""What every pass promises: each name is defined once, and before it is read."""

from __future__ import annotations

from tangentc.core.nodes import Block, For, Function, If, Leave, Opaque, While
from tangentc.core.walk import defines, read_names
from tangentc.errors import InternalError


def verify(function: Function) -> None:
    """Raise `InternalError` if the function is not well formed."""
    defined: set[str] = set()
    for p in function.params:
        _define(p.name, defined, function.name)
    visible = set(defined)
    _block(function.body, visible, defined, function.name)
    if isinstance(function.result, str) and function.result not in visible:
        raise InternalError(f"{function.name} returns {function.result}, which is not defined")


def _define(name: str, defined: set[str], where: str) -> None:
    if name in defined:
        raise InternalError(f"{name} is defined twice in {where}")
    defined.add(name)


def _block(block: Block, visible: set[str], defined: set[str], where: str) -> None:
    for k, s in enumerate(block):
        if isinstance(s, Leave) and k + 1 != len(block):
            raise InternalError(f"something follows {s.kind} in {where}")
        match s:
            case If():
                _see(s.test, visible, where)
                branches: set[str] = set()
                for inner, pick in ((s.then, "then"), (s.orelse, "orelse")):
                    inside = set(visible)
                    _block(inner, inside, defined, where)
                    for m in s.merged:
                        _see(getattr(m, pick), inside, where)
                    branches |= inside
                visible |= branches  # the adjoint of a branch reads what the branch made
            case For():
                _see(s.iterable, visible, where)
                for c in s.carried:
                    _see(c.init, visible, where)
                inside = visible | {s.target} | {c.name for c in s.carried}
                _block(s.body, inside, defined, where)
                for c in s.carried:
                    _see(c.next, inside, where)
            case While():
                for c in s.carried:
                    _see(c.init, visible, where)
                inside = visible | {c.name for c in s.carried}
                _block(s.head, inside, defined, where)
                _see(s.test, inside, where)
                _block(s.body, inside, defined, where)
                for c in s.carried:
                    _see(c.next, inside, where)
            case Opaque():
                pass
            case _:
                for name in read_names(s):
                    _see(name, visible, where)
        for name in defines(s):
            _define(name, defined, where)
            visible.add(name)


def _see(atom: object, visible: set[str], where: str) -> None:
    if isinstance(atom, str) and atom not in visible:
        raise InternalError(f"{atom} is read in {where} where it is not defined")
