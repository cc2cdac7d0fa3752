"""The items of a tuple are taken where it is made, in their order.

    both = cell(x, h, c)                    both = cell(x, h, c)
    loss = loss + both[1]          ->       h = both[0]
    h = both[0]                             c = both[1]
                                            loss = loss + c

So that the printer may write ``h, c = cell(x, h, c)``.  A tuple stays as it is, so its items may be taken early.
"""

from __future__ import annotations

import operator
from collections import Counter, defaultdict
from collections.abc import Iterator

from tangentc.analysis.program import Program
from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Block, Const, Function, Op, Statement, is_temporary
from tangentc.core.types import SAVED, Array, Tuple
from tangentc.core.walk import reads, rebuilt, statements, with_blocks, with_body


def items(program: Program) -> Function:
    """The function in which the items of tuples that are used for nothing else are taken where these are made."""
    function = program.function
    uses = Counter(a for s in statements(function.body) for a in reads(s) if isinstance(a, str))
    uses.update([function.result] if isinstance(function.result, str) else [])
    params = [p.name for p in function.params if isinstance(t := program.types.of(p.name), Tuple) or t == SAVED]
    return with_body(function, _Taking(program, uses).block(function.body, params))


class _Taking:
    def __init__(self, program: Program, uses: Counter[str]):
        self.types, self.aliases, self.uses = program.types, program.aliases, uses
        self.parts: dict[Atom, list[Assign]] = {}

    def block(self, block: Block, given: list[str]) -> Block:
        """A block; the items of what is ``given`` stand at its beginning."""
        found: dict[Atom, list[Assign]] = defaultdict(list)
        for s in block:
            if isinstance(s, Assign) and s.op is operator.getitem and isinstance(s.args[1], Const):
                found[s.args[0]].append(s)
        wholes = [*given, *(s.target for s in block if isinstance(s, Assign) and self._is_tuple(s.target, s.op))]
        self.parts = {name: found[name] for name in wholes if self._is_taken_apart(name, found[name])}
        early = {id(p) for parts in self.parts.values() for p in parts}
        again = {id(s): parts for x, entries in found.items() for s, *parts in self._entries_again(x, entries)}
        early |= {id(p) for parts in again.values() for p in parts}
        out: list[Statement] = [p for name in given for p in self._taken(name)]
        later = []
        for s in block:
            if id(s) in early:
                continue
            later.append(len(out))
            out.append(s)
            out += self._taken(s.target) if isinstance(s, Assign) else []
            out += again.get(id(s), ())
        for k in later:
            out[k] = with_blocks(out[k], lambda inner: self.block(inner, []))
        return rebuilt(block, out)

    def _is_tuple(self, name: str, op: Op) -> bool:
        t = self.types.of(name)
        if isinstance(op, ops.Emitted):
            return not isinstance(t, Array)
        return isinstance(t, Tuple) and (is_temporary(name) or isinstance(op, ops.UserFunction))

    def _is_taken_apart(self, name: str, parts: list[Assign]) -> bool:
        """Whether a tuple is used for its items alone, each of them once."""
        places = [p.args[1].value for p in parts]  # type: ignore[union-attr]
        return all(type(k) is int and k >= 0 for k in places) and len(set(places)) == self.uses[name] > 1

    def _entries_again(self, x: Atom, parts: list[Assign]) -> Iterator[list[Assign]]:
        """The entries of an array that the adjoint has once more, if they are all, or all but one: taken together."""
        t, places = self.types.of(x), [p.args[1].value for p in parts]  # type: ignore[union-attr]
        n = t.shape[0] if isinstance(t, Array) and len(t.shape) == 1 and not t.or_number else None
        recalled = all(p.span.sweep == "recalled" and p.span.line == parts[0].span.line for p in parts)
        if not recalled or not isinstance(n, int) or not all(type(k) is int and 0 <= k < n for k in places):
            return
        if isinstance(x, str) and not self.aliases.is_changed(x) and n - 1 <= len(set(places)) == len(parts) > 1:
            yield parts

    def _taken(self, name: str) -> Iterator[Assign]:
        """The items of a tuple in their order, and then theirs."""
        mine = sorted(self.parts.get(name, ()), key=lambda p: p.args[1].value)  # type: ignore[union-attr]
        yield from mine
        for p in mine:
            yield from self._taken(p.target)
