"""What every pass promises: each name is defined once, before it is read, and is what its type says.

In a program of the user what a branch defines leaves it by a `Merge` alone.  The adjoint of a branch reads what that
branch has made: it runs under the same test.
"""

from __future__ import annotations

import operator

from tangentc.core import ops
from tangentc.core.build import Types
from tangentc.core.nodes import Assign, Block, For, Function, If, Leave, Opaque, While
from tangentc.core.types import contradict, is_container, of_dtype
from tangentc.core.walk import defines, read_names, statements
from tangentc.errors import InternalError


def verify(function: Function, types: Types | None = None, closed: bool = False) -> None:
    """Raise `InternalError` if the function is not well formed, or a statement gives what is not of the type that
    ``types`` has for its name.  With ``closed`` no name is read outside of the branch that defines it."""
    _Names(function, closed)
    for s in statements(function.body) if types is not None else ():
        if isinstance(s, Assign) and s.op is not ops.pop and s.target in types.of_name:
            given, wanted = types.result(s.op, s.args, s.keywords), types.of_name[s.target]
            if s.op is operator.getitem and is_container(types.of(s.args[0])):
                given = of_dtype(given, wanted)  # the container's type is that of all its life
            if contradict(given, wanted):
                raise InternalError(f"{s.target} is a {given} in {function.name}, where its type is {wanted}")


class _Names:
    """Looks through a function, with the names that are visible at each point."""

    def __init__(self, function: Function, closed: bool):
        self.name, self.closed = function.name, closed
        self.defined: set[str] = set()
        for p in function.params:
            self.define(p.name)
        visible = set(self.defined)
        self.block(function.body, visible)
        if isinstance(function.result, str) and function.result not in visible:
            raise InternalError(f"{function.name} returns {function.result}, which is not defined")

    def define(self, name: str) -> None:
        if name in self.defined:
            raise InternalError(f"{name} is defined twice in {self.name}")
        self.defined.add(name)

    def see(self, atom: object, visible: set[str]) -> None:
        if isinstance(atom, str) and atom not in visible:
            raise InternalError(f"{atom} is read in {self.name} where it is not defined")

    def block(self, block: Block, visible: set[str]) -> None:
        for k, s in enumerate(block):
            if isinstance(s, Leave) and k + 1 != len(block):
                raise InternalError(f"something follows {s.kind} in {self.name}")
            match s:
                case If():
                    self.branch(s, visible)
                case For() | While():
                    self.loop(s, visible)
                case Opaque():
                    pass
                case _:
                    for name in read_names(s):
                        self.see(name, visible)
            for name in defines(s):
                self.define(name)
                visible.add(name)

    def branch(self, s: If, visible: set[str]) -> None:
        self.see(s.test, visible)
        made: set[str] = set()
        for inner, pick in ((s.then, "then"), (s.orelse, "orelse")):
            inside = set(visible)
            self.block(inner, inside)
            for m in s.merged:
                self.see(getattr(m, pick), inside)
            made |= inside
        if not self.closed:
            visible |= made

    def loop(self, s: For | While, visible: set[str]) -> None:
        for atom in (*([s.iterable] if isinstance(s, For) else []), *(c.init for c in s.carried)):
            self.see(atom, visible)
        inside = visible | {c.name for c in s.carried} | ({s.target} if isinstance(s, For) else set())
        if isinstance(s, While):
            self.block(s.head, inside)
            self.see(s.test, inside)
        self.block(s.body, inside)
        for c in s.carried:
            self.see(c.next, inside)
