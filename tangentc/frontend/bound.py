"""Where a name of the user's may have no value: what reads it there raises, as Python does.

    if x > 5:                     if x > 5:
        y = x             ->          y = x
    return y * 2                  else:
                                      y = None
                                  require_bound(y, "y")
                                  return y * 2

Flags of the compiler, that a block was left or an exception was raised, tell paths apart: behind ``if not left`` a name
is not missing that is missing only where ``left`` was set.
"""

from __future__ import annotations

import ast
import builtins
import operator
from typing import Any

from tangentc import runtime
from tangentc.core import ops
from tangentc.core.naming import shown
from tangentc.core.nodes import Assign, Atom, Block, Const, Effect, For, If, Opaque, Statement, While
from tangentc.core.walk import reads, statements
from tangentc.errors import Span

Flags = dict[str, tuple[bool, Any]]  # a flag -> whether it is a value, or is not, and the value


KINDS = {"item": KeyError, "object": AttributeError}  # what Python raises where one of these has no value


class Bound:
    """``missing`` are the paths on which versions of names have no value, by what flags are on them."""

    def __init__(self, body: Block):
        self.missing: dict[Atom, list[Flags]] = {}
        self.read: set[Atom] = set()  # what was read before, so that it has a value here
        self.nones: set[Atom] = set()  # versions that may be None, which stands for what is missing
        self.flags: Flags = {}
        self.tests: dict[str, tuple[str, bool, Any]] = {}
        self.run_over = {s.target for s in statements(body) if isinstance(s, Assign) and _has_items(s)}

    # ---------------------------------------------------------- statements
    def require(self, statement: Statement, env: dict[str, Atom]) -> list[Statement]:
        """What raises where a name that a statement reads has no value."""
        match statement:
            case While():  # a test has statements of its own
                return []
            case If() | For():
                own = statement.test if isinstance(statement, If) else statement.iterable
                names = [own] if isinstance(own, str) else []
            case _:
                names = [n for n in reads(statement) if isinstance(n, str)]
        lacking = {env[n]: n for n in names if n in env and self._may_lack(env[n])}
        self.read |= set(lacking)
        return [Effect(runtime.require_bound, (v, *_said(n)), (), statement.span) for v, n in lacking.items()]  # type: ignore[union-attr]

    def _may_lack(self, version: Atom) -> bool:
        paths = self.missing.get(version, ()) if version not in self.read else ()
        return any(not _contradict(path, self.flags) for path in paths)

    def assign(self, s: Assign, version: str) -> None:
        """Note what an assignment says of flags, and that a name is None."""
        if not s.target.startswith("%"):
            self.nones |= {version} if s.op is ops.identity and s.args == (Const(None),) else set()
            return
        if s.op in (operator.eq, operator.ne) and isinstance(s.args[0], str) and isinstance(s.args[1], Const):
            self.tests[s.target] = s.args[0], s.op is operator.eq, s.args[1].value
        if s.op is ops.identity and isinstance(s.args[0], Const):
            self.flags = {**self.flags, s.target: (True, s.args[0].value)}
            for path in (p for paths in self.missing.values() for p in paths):
                path.pop(s.target, None)

    def forget(self, names: list[str]) -> None:
        """Flags that a loop assigns are not known in it, nor behind it."""
        self.flags = {flag: known for flag, known in self.flags.items() if flag not in names}

    # ---------------------------------------------------------- branches
    def enter(self, test: Atom, taken: bool) -> None:
        """Note what a test says in one of its branches."""
        flag, equal, value = self.tests.get(test, (test, True, True)) if isinstance(test, str) else ("", True, True)
        if flag.startswith("%"):
            self.flags = {**self.flags, flag: (equal is taken, value)}

    def state(self) -> tuple[set[Atom], Flags]:
        return set(self.read), self.flags

    def set(self, state: tuple[set[Atom], Flags]) -> None:
        self.read, self.flags = set(state[0]), state[1]

    def leave(self, before: Any, arms: list[Any]) -> None:
        """Behind a branch: what is known at the ends of all its arms."""
        first = arms[0][1] if arms else {}
        same = {flag: known for flag, known in first.items() if all(arm[1].get(flag) == known for arm in arms)}
        self.read, self.flags = set(before[0]), same

    def join(self, name: str, joined: str, arms: list[tuple[Atom, Any]]) -> None:
        """Note on which paths a name has no value behind a branch, or in a loop: each arm with the state at its end."""
        if name.startswith("%") or any(v == Const(None) or v in self.nones for v, _ in arms):
            self.nones.add(joined)
            return
        paths: list[Flags] = []
        for value, (read, flags) in arms:
            if value == Const(ops.UNDEFINED):
                paths.append(dict(flags))
            elif value not in read:
                paths += [{**path, **flags} for path in self.missing.get(value, ()) if not _contradict(path, flags)]
        if paths:
            self.missing[joined] = paths


def unbound(name: str, span: Span) -> Opaque:
    """What raises, as Python does, where a name is read that nothing on the way here has given a value."""
    error = f"cannot access local variable {shown(name).split(chr(39))[0]!r} where it is not associated with a value"
    tree = ast.parse(f"raise UnboundLocalError({error!r})").body[0]
    return Opaque(tree, ast.unparse(tree), (), (), span)


def _contradict(a: Flags, b: Flags) -> bool:
    """Whether two sets of flags cannot be those of one path."""
    for flag in a.keys() & b.keys():
        (is_a, value), (is_b, other) = a[flag], b[flag]
        if is_a and is_b and value != other or is_a != is_b and value == other:
            return True
    return False


def _has_items(s: Assign) -> bool:
    """Whether a loop over this has at least one trip."""
    if s.op is builtins.range and all(isinstance(a, Const) and isinstance(a.value, int) for a in s.args):
        return len(range(*(a.value for a in s.args))) > 0  # type: ignore[union-attr]
    return s.op in (ops.make_list, ops.make_tuple) and bool(s.args)


def _said(name: str) -> tuple[Const, ...]:
    """What a message says of a name: of one that stands for an item or an attribute, the key."""
    readable, *more = shown(name).split("'")
    kind = KINDS.get(more[-1].rstrip("0123456789")) if more else None
    return (Const(readable),) if kind is None else (Const(more[0]), Const(kind))
