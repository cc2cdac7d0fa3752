"""Which arrays have another name, so that a change of them is seen elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tangentc.analysis.aliases import Aliases, asks_for_layout
from tangentc.core import ops
from tangentc.core.nodes import PRESENT, Assign, Atom, Block, Const, For, Function, If, Statement, While, version_base
from tangentc.core.types import Array, is_container
from tangentc.core.walk import blocks, defines, statements, transform
from tangentc.frontend.typed.meaning import Part


class Sharing(Part):
    """The questions about memory that statements ask."""

    def keeps_layout(self, atom: Atom) -> bool:
        """Whether it matters in which order the entries of a copy lie: another statement asks for a view in order."""
        t = self.types.of(atom)
        return isinstance(t, Array) and len(t.shape) > 1 and asks_for_layout(self.function)

    def memory(self) -> Aliases:
        """Which arrays may share memory, worked out when it is first asked."""
        if self.aliases is None:
            self.aliases = Aliases(_without_augmented(self.function), self.types)
            self.classes = {}
            for name in self.types.of_name:
                self.classes.setdefault(self.aliases.root(name), set()).add(name)
        return self.aliases

    def unshared(self, x: str) -> bool:
        """Whether no other name can see the memory of ``x``, so that a new array does as well."""
        self.memory()
        assert self.aliases is not None
        x = self.narrowed.get(x, x)
        members = self.classes.get(self.aliases.root(x))
        if members is None:  # an item of a container
            return False
        if self.aliases.is_changed(x) or any(p.name in members for p in self.function.params):
            return False
        held = any(is_container(self.types.of(name)) for name in members if name != x)
        return not held and all(map(self.is_version, members))

    def shared_later(self, x: str, s: Assign) -> bool:
        """Whether an array gets its other names when a statement does not run again, so that none sees it change."""
        members = self.classes.get(self.memory().root(x), set())
        if self.memory().is_changed(x) or any(p.name in members for p in self.function.params):
            return False
        body = list(self.function.body)
        here = next(k for k, top in enumerate(body) if any(inner is s for inner in statements((top,))))
        before = {name for inner in statements(tuple(body[: here + 1])) for name in defines(inner)}
        return not any(is_container(self.types.of(n)) or not self.is_version(n) for n in members & before)

    def is_new(self, x: str, s: Assign) -> bool:
        """Whether an array is made in the block of a statement, and has no other name yet when that runs."""
        self.memory()
        assert self.aliases is not None
        block = next((b for b in _blocks(self.function.body) if any(inner is s for inner in b)), ())
        members, chain = self.classes.get(self.aliases.root(x), set()), {x}
        if any(is_container(self.types.of(n)) for n in members):
            return False
        for before in reversed(block[: next((k for k, t in enumerate(block) if t is s), 0)]):
            names = {n for inner in statements((before,)) for n in defines(inner)} & members
            if not names:
                continue
            if not isinstance(before, Assign) or before.target not in chain:
                return False
            if before.target in self.aliases.allocation(before.target):
                return True
            older = before.args[0] if before.args else None
            if not isinstance(before.op, ops.augmented) or not isinstance(older, str):
                return False
            chain.add(older)
        return False

    def is_version(self, name: str) -> bool:
        """Whether a name is where an array is made, or what an augmented assignment makes of it, or a join of
        the versions of one variable: an array that has no other name."""
        made = self.definitions.get(name)
        match made:
            case Assign(op=ops.identity, args=(str() as older,)) if made.keywords == PRESENT:
                return version_base(older) == version_base(name)
            case Assign():
                return isinstance(made.op, ops.augmented) or name in self.aliases.allocation(name)  # type: ignore[union-attr]
            case If():
                arms = [a for m in made.merged if m.name == name for a in (m.then, m.orelse)]
            case For() | While():
                arms = [a for c in made.carried if c.name == name for a in (c.init, c.next)]
            case _:
                return False
        same = all(isinstance(a, Const) or isinstance(a, str) and version_base(a) == version_base(name) for a in arms)
        return bool(arms) and same  # what a loop runs over has none: it gives views


def _blocks(block: Block) -> Iterator[Block]:
    """A block, and those inside it."""
    yield block
    for s in statements(block):
        yield from blocks(s)


def _without_augmented(function: Function) -> Function:
    """For the question of aliases: an augmented assignment gives another name for its operand."""

    def rewrite(s: Statement) -> tuple[Statement, ...]:
        if isinstance(s, Assign) and isinstance(s.op, ops.augmented):
            return (replace(s, op=ops.identity, args=s.args[:1]),)
        return (s,)

    return replace(function, body=transform(function.body, rewrite))
