"""Adding to each part of an array once.

    u_bar[1:-1] = 0                        u_bar[1:-1] = a - b
    u_bar[:-2] += a                        u_bar[:-2] += a
    u_bar[1:-1] += a              ->
    u_bar[1:-1] -= b

What the adjoint of one statement adds to an array can be added in any order, as long as nobody reads the array in
between: what goes to the same part is summed first, and takes the place of the zero that was put there before it.
"""

from __future__ import annotations

import builtins
import functools
import operator
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace

from tangentc.analysis.aliases import Aliases
from tangentc.analysis.program import Program
from tangentc.core import ops
from tangentc.core.build import Builder, is_number
from tangentc.core.nodes import Assign, Atom, Block, Const, Function, Statement, Store
from tangentc.core.types import Array
from tangentc.core.walk import definitions, reads, rebuilt, statements, with_blocks, with_body
from tangentc.simplify.algebra import simplify

ADDS = {operator.add, operator.sub}
WHOLE = Const(...)


def gathered(program: Program) -> Function:
    """The function in which the adjoint of a statement changes each part of an array once."""
    function = program.function
    if not any(isinstance(s, Store) and s.op in ADDS and s.span.sweep == "adjoint" for s in statements(function.body)):
        return function
    defined = definitions(function.body)
    builder = Builder(program.types, {*defined, *(p.name for p in function.params)}, simplify)
    builder.may_change = program.aliases.is_changed
    return with_body(function, _Gather(program.aliases, builder, defined).block(function.body))


@dataclass
class Group:
    """Stores into one array that may change places: where they stand, and what each of its parts gets."""

    stores: list[int] = field(default_factory=list)
    parts: dict[Hashable, list[Store]] = field(default_factory=dict)


class _Gather:
    def __init__(self, aliases: Aliases, builder: Builder, defined: Mapping[str, Statement]):
        self.aliases, self.builder, self.defined = aliases, builder, defined

    def block(self, block: Block) -> Block:
        out: list[Statement] = []
        run: list[Statement] = []
        for s in block:
            if run and not (_is_simple(s) and _is_of_one(s, run[0])):
                out += self.run(run)
                run = []
            if _is_simple(s):
                run.append(s)
            else:
                out.append(with_blocks(s, self.block))
        return rebuilt(block, [*out, *self.run(run)])

    def run(self, run: list[Statement]) -> list[Statement]:
        """The statements that the adjoint of one statement is made of, with each part of an array changed once."""
        done = 0
        while (group := self._next(run, done)) is not None:
            worth = any(len(several) > 1 for several in group.parts.values())
            done = group.stores[0] + (not worth)
            run = self._written(run, group) if worth else run
        return run

    def _next(self, run: list[Statement], since: int) -> Group | None:
        """The first group that begins at this place, or later."""
        for k in range(since, len(run)):
            s = run[k]
            if isinstance(s, Store) and (s.op in ADDS or _is_zero(s)) and self._is_array(s.object):
                if not self._reads(s, self.aliases.root(s.object)):
                    return self._group(run, k)
        return None

    def _is_array(self, name: str) -> bool:
        t = self.builder.type(name)
        return isinstance(t, Array) and not t.or_number

    def _part(self, array: Atom, key: Atom | None) -> Hashable:
        """Which part a subscript takes of an array that may be a part itself."""
        made = self._maker(array) if array in self.aliases.views else None
        if key in (None, WHOLE) and made is not None and made.op is operator.getitem:
            return made.args[0], self._spelled(made.args[1])
        return array, WHOLE if key is None else self._spelled(key)

    def _maker(self, atom: Atom) -> Assign | None:
        made = self.defined.get(atom) if isinstance(atom, str) else None
        return made if isinstance(made, Assign) else None

    def _spelled(self, key: Atom) -> Hashable:
        """A subscript by its parts, which the text may make more than once."""
        made = self._maker(key)
        if made is None or made.op not in (builtins.slice, ops.make_tuple):
            return key
        return (made.op, *map(self._spelled, made.args))

    def _group(self, run: list[Statement], first: int) -> Group:
        group, given = Group(), set[str]()  # whose memory is read by what is to be delayed
        root = self.aliases.root(run[first].object)  # type: ignore[union-attr]
        for k in range(first, len(run)):
            s = run[k]
            if self._reads(s, root):
                break
            if isinstance(s, Store):
                changed = self.aliases.root(s.object)
                if changed == root and (k == first or s.op in ADDS) and self._is_array(s.object):
                    group.stores.append(k)
                    group.parts.setdefault(self._part(s.object, s.key), []).append(s)
                    given |= {self.aliases.root(a) for a in (s.key, s.value) if isinstance(a, str)}
                elif changed == root or changed in given:
                    break
        return group

    def _reads(self, s: Statement, root: str) -> bool:
        """Whether a statement reads what is in some memory, and does more than to name a part of it."""
        if isinstance(s, Assign) and s.target in self.aliases.views and not self.aliases.may_copy(s):
            return False
        atoms = (s.key, s.value) if isinstance(s, Store) else reads(s)
        return any(isinstance(a, str) and self.aliases.root(a) == root for a in atoms)

    def _written(self, run: list[Statement], group: Group) -> list[Statement]:
        """The statements with those of a group together, after what is computed meanwhile."""
        last = group.stores[-1]
        before = [s for k, s in enumerate(run[:last]) if k not in group.stores]
        self.builder.span = run[last].span
        self.builder.definitions = {s.target: s for s in before if isinstance(s, Assign)}
        with self.builder.block() as out:
            for several in group.parts.values():
                out.append(several[0] if len(several) == 1 else self._sum(several))
        return [*before, *out, *run[last + 1 :]]

    def _sum(self, several: list[Store]) -> Store:
        """One store in place of several into one part."""
        b, first = self.builder, several[0]
        added = [s.value for s in several if s.op is operator.add]
        taken = [s.value for s in several if s.op is operator.sub]
        begins = added or taken
        total = functools.reduce(lambda x, y: b.emit(operator.add, (x, y)), begins)
        for value in taken if added else ():
            total = b.emit(operator.sub, (total, value))
        if first.op is not None:
            return replace(first, value=total, op=operator.add if added else operator.sub)
        total = total if added else b.emit(operator.neg, (total,))
        return replace(first, value=total)


def _is_simple(s: Statement) -> bool:
    pure = isinstance(s, Assign) and ops.is_pure(s.op) or isinstance(s, Store)
    return pure and s.span.sweep in ("adjoint", "recalled")


def _is_of_one(s: Statement, other: Statement) -> bool:
    """Whether two statements are for one line of the user's."""
    return (s.span.line, s.span.file, s.span.function) == (other.span.line, other.span.file, other.span.function)


def _is_zero(s: Store) -> bool:
    return s.op is None and is_number(s.value, 0)
