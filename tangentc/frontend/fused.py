"""Two loops of which the second takes what the first appends are one.

    turns = []                                T = np.eye(4)
    for k in range(len(angles)):              for k in range(len(angles)):
        turns.append(turn(angles[k]))   ->        A = turn(angles[k])
    T = np.eye(4)                                 T = T @ A
    for k in range(len(turns)):
        T = T @ turns[k]

Nothing is kept between the two then, and their adjoints are one loop too.  (Deforestation: Wadler, Theoretical Computer
Science 73, 1990.)  What has an effect, and what leaves a loop early, stays as it is.
"""

from __future__ import annotations

import builtins
import operator
from collections import Counter
from dataclasses import replace

from tangentc.analysis.program import Program, has_effect
from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Block, Const, Effect, For, Function, Leave, Opaque, Statement, Store
from tangentc.core.types import Scalar
from tangentc.core.walk import (
    all_defines,
    all_reads,
    changed_by,
    defines,
    definitions,
    reads,
    rebuilt,
    statements,
    substitute_block,
    transform,
    with_blocks,
    with_body,
)

COUNTING = (builtins.len, builtins.range, builtins.min)


def fused(program: Program) -> Function:
    """The function in which such loops are one."""
    function = program.function
    if sum(isinstance(s, For) for s in statements(function.body)) < 2:
        return function
    while (body := _Fused(program, function).block(function.body)) is not function.body:
        function = with_body(function, body)
    return function if function is program.function else without_needless(function)


def without_needless(function: Function) -> Function:
    """The function without lists that are filled only, and lengths and ranges that are for nothing."""
    while True:
        every = list(statements(function.body))
        read = {a for s in every if not _fills(s) for a in reads(s)} | {function.result}
        idle = {
            s.target for s in every
            if isinstance(s, Assign) and s.target not in read and (s.op in COUNTING or is_new_list(s))
        }  # fmt: skip
        if not idle:
            return function
        gone = {id(s) for s in every if getattr(s, "target", None) in idle or _fills(s) and s.args[0] in idle}  # type: ignore
        body = transform(function.body, lambda s: () if id(s) in gone else (s,))  # noqa: B023
        function = with_body(function, body)


def _fills(s: Statement) -> bool:
    return isinstance(s, Effect) and s.op is ops.append


class _Fused:
    def __init__(self, program: Program, function: Function):
        self.types = program.types
        self.made = definitions(function.body)
        self.mentions: Counter[Atom] = Counter(a for s in statements(function.body) for a in set(reads(s)))
        self.mentions[function.result] += 1
        self.changes: Counter[Atom] = Counter(filter(None, map(changed_by, statements(function.body))))

    def block(self, block: Block) -> Block:
        for k, first in enumerate(block):
            given = self.given(first, block[:k]) if isinstance(first, For) else {}
            for j in range(k + 1, len(block)) if given else ():
                second, between = block[j], block[k + 1 : j]
                if isinstance(second, For) and given.keys() & {a for x in second.body for a in reads(x)}:
                    new = self.both(first, second, given, between)  # type: ignore[arg-type]
                    if new is not None:
                        return (*block[:k], *new, *block[j + 1 :])
                    break
        return rebuilt(block, [with_blocks(s, self.block) for s in block])

    def given(self, s: For, before: Block) -> dict[Atom, Atom]:
        """What each trip of a loop appends to lists that have nothing in them before."""
        if not self.is_plain(s):
            return {}
        new = {x.target for x in before if is_new_list(x)}  # type: ignore[union-attr]
        appended = [x for x in s.body if isinstance(x, Effect)]
        return {x.args[0]: x.args[1] for x in appended if x.args[0] in new and self.changes[x.args[0]] == 1}

    def is_plain(self, s: For) -> bool:
        """Whether a loop over ``range(n)`` does nothing but compute and append."""
        made = self.made.get(s.iterable) if isinstance(s.iterable, str) else None
        counted = isinstance(made, Assign) and made.op is builtins.range and len(made.args) == 1
        return counted and all(map(self.only_appends, statements(s.body)))

    def only_appends(self, s: Statement) -> bool:
        if _fills(s):
            return is_new_list(self.made.get(str(s.args[0])))  # type: ignore[union-attr]
        return self.only_computes(s)

    def only_computes(self, s: Statement) -> bool:
        changes = isinstance(s, (Store, Effect, Leave, Opaque)) or changed_by(s) is not None
        return not changes and not has_effect(s, self.made)

    def both(self, first: For, second: For, given: dict[Atom, Atom], between: Block) -> list[Statement] | None:
        """What stands for two loops and what is between them; None if they stay apart."""
        taken = {s.target: given[s.args[0]] for s in second.body if self.takes(s, second, given)}  # type: ignore
        lists = {s.args[0] for s in second.body if getattr(s, "target", None) in taken}  # type: ignore[union-attr]
        fits = self.is_plain(second) and self.as_often(first, second, given)
        if not fits or not lists or not all(self.is_only_for(xs, second) for xs in lists):
            return None
        if not all(map(self.only_computes, statements(between))):
            return None
        body = tuple(s for s in second.body if getattr(s, "target", None) not in taken)
        body = substitute_block(body, {second.target: first.target, **taken})  # type: ignore[dict-item]
        carried = tuple(replace(c, next=taken.get(c.next, c.next)) for c in second.carried)
        late = {*defines(first), *(s.args[0] for s in statements(first.body) if isinstance(s, Effect))}
        earlier, later = _parted(between, late)
        here = {first.target, *taken.values()}
        if (all_reads(body) | {a for c in carried for a in (c.init, c.next)}) & (late | all_defines(later)) - here:
            return None
        if any(c.init in here for c in carried):
            return None
        one = replace(first, body=(*first.body, *body), carried=(*first.carried, *carried))
        return [*earlier, one, *later]

    def takes(self, s: Statement, loop: For, given: dict[Atom, Atom]) -> bool:
        """Whether a statement takes the item of a list that the trip of the loop before has appended."""
        return isinstance(s, Assign) and s.op is operator.getitem and s.args[0] in given and s.args[1] == loop.target

    def as_often(self, first: For, second: For, given: dict[Atom, Atom]) -> bool:
        """Whether both loops make as many trips."""
        count, other = (self.made[s.iterable].args[0] for s in (first, second))  # type: ignore[index, union-attr]
        made = self.made.get(other) if isinstance(other, str) else None
        several = made.args if isinstance(made, Assign) and made.op is builtins.min else (other,)
        return all(self.is_as_long(a, count, given) for a in several)

    def is_as_long(self, length: Atom, count: Atom, given: dict[Atom, Atom]) -> bool:
        made = self.made.get(length) if isinstance(length, str) else None
        if isinstance(made, Assign) and made.op is builtins.len and made.args[0] in given:
            return True
        a, b = self.types.of(length), self.types.of(count)
        return length == count or isinstance(a, Scalar) and a.value is not None and a == b

    def is_only_for(self, xs: Atom, loop: For) -> bool:
        """Whether a list is needed for what one loop takes, its length and its last items alone."""
        users = [s for s in self.made.values() if isinstance(s, Assign) and xs in s.args]
        plain = [s for s in users if s.op is builtins.len or s.op is operator.getitem and isinstance(s.args[1], Const)]
        taking = [s for s in users if s.op is operator.getitem and s.args[1] == loop.target]
        return len(plain) + len(taking) + 1 == self.mentions[xs]


def is_new_list(s: Statement | None) -> bool:
    return isinstance(s, Assign) and s.op is ops.make_list and not s.args


def _parted(between: Block, late: set[Atom]) -> tuple[list[Statement], list[Statement]]:
    """What is between two loops: what could stand before the first, and what needs what that gives."""
    late = set(late)
    earlier: list[Statement] = []
    later: list[Statement] = []
    for s in between:
        needs = (all_reads((s,)) & late) != set()
        (later if needs else earlier).append(s)
        late |= all_defines((s,)) if needs else set()
    return earlier, later
