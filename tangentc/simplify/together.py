"""One list for all that a trip saves.

    x_saved.append(x)                      saved.append((x, r))
    r_saved.append(r)
    ...                             ->     ...
    r = r_saved.pop()                      x, r = saved.pop()
    x = x_saved.pop()

Lists that are added to in one block, each once, with nothing between that may leave it, and taken from in one, are one
list of tuples; one of them may be what the loop runs over that takes from the others: ``for x, r in reversed(saved)``.
"""

from __future__ import annotations

import builtins
import operator
from collections import Counter, defaultdict
from dataclasses import replace

from tangentc.analysis.program import Program
from tangentc.core import ops
from tangentc.core.build import Types
from tangentc.core.naming import shown
from tangentc.core.nodes import Assign, Atom, Block, Const, Effect, For, Function, Leave, Statement
from tangentc.core.types import Tuple, Unknown
from tangentc.core.walk import all_defines, blocks, reads, statements, transform, with_blocks, with_body
from tangentc.errors import Span

SAVED = "saved"


def together(program: Program) -> Function:
    """The function in which each trip of a loop saves one tuple."""
    function = program.function
    lists = {s.target for s in function.body if isinstance(s, Assign) and s.op is ops.new_list and not s.args}
    if len(lists) < 2:
        return function
    found = _Uses(function.body, lists)
    found.uses[function.result] += 1
    body, taken = function.body, all_defines(function.body) | {p.name for p in function.params}
    for names in found.groups():
        body = _Together(program.types, names, _unused(SAVED, taken)).written(body)
    return with_body(function, body)


def together_in_pair(
    types: Types, primal: Block, adjoint: Block, saved: list[str], apart: set[Atom]
) -> tuple[Block, Block, list[str]]:  # fmt: skip
    """The halves of a pair in which each trip saves one tuple, and what the primal hands to the adjoint; ``apart`` are
    lists that stay as they are."""
    lists = {s.target for s in primal if isinstance(s, Assign) and s.op is ops.new_list and not s.args} & {*saved}
    found = _Uses((*primal, *adjoint), {n for n in lists if n not in apart})
    taken = all_defines(primal) | all_defines(adjoint)
    for names in found.groups():
        one = _unused(f"%{SAVED}", taken)
        write = _Together(types, names, one)
        primal, adjoint = write.written(primal), write.written(adjoint)
        saved = [one if n == names[0] else n for n in saved if n == names[0] or n not in names]
    return primal, adjoint, saved


def _unused(name: str, taken: set[str]) -> str:
    number = 0
    while (found := f"{name}.{number}" if number else name) in taken:
        number += 1
    taken.add(found)
    return found


def _backwards(block: Block) -> dict[Atom, Atom]:
    """The lists that loops run over backwards, by the names of what these run over."""
    return {s.target: s.args[0] for s in statements(block) if isinstance(s, Assign) and s.op is builtins.reversed}


class _Uses:
    """In which blocks each list is added to and taken from."""

    def __init__(self, body: Block, lists: set[str]):
        self.uses: Counter[Atom] = Counter(a for s in statements(body) for a in reads(s) if a in lists)
        self.backwards = _backwards(body)
        self.pushed: dict[Atom, list[tuple[int, int]]] = defaultdict(list)  # a block; what may leave it before
        self.popped: dict[Atom, list[int]] = defaultdict(list)
        self.note(body)

    def note(self, block: Block) -> None:
        left = 0
        for s in block:
            if isinstance(s, Effect) and s.op is ops.push:
                self.pushed[s.args[0]].append((id(block), left))
            elif isinstance(s, Assign) and s.op is ops.pop:
                self.popped[s.args[0]].append(id(block))
            elif isinstance(s, For) and s.iterable in self.backwards:
                self.popped[self.backwards[s.iterable]].append(id(s.body))
            for inner in blocks(s):
                self.note(inner)
            left += any(isinstance(inner, Leave) for inner in statements((s,)))

    def groups(self) -> list[list[Atom]]:
        """The lists that may be one."""
        found: dict[object, list[Atom]] = defaultdict(list)
        for name, (first, *more) in self.pushed.items():
            taken = self.popped[name]
            if not more and len(taken) == 1 and self.uses[name] == 2:
                found[first, taken[0]].append(name)
        return [names for names in found.values() if len(names) > 1]


class _Together:
    """Writes one list of tuples in place of several."""

    def __init__(self, types: Types, names: list[Atom], saved: str):
        self.types, self.names, self.saved = types, names, saved
        self.types.of_name[saved] = Unknown("a list of saved values")
        self.values: list[Atom] = []
        self.order: list[Atom] = []  # of the lists, by their values
        self.begun = False
        self.backwards: dict[Atom, Atom] = {}

    def written(self, block: Block) -> Block:
        self.backwards = {over: name for over, name in _backwards(block).items() if name in self.names}
        return self._taken(transform(block, self._pushed))

    def _pushed(self, s: Statement) -> tuple[Statement, ...]:
        if isinstance(s, Assign) and s.target in self.names:
            first, self.begun = not self.begun, True
            return (replace(s, target=self.saved),) if first else ()
        if isinstance(s, Assign) and s.target in self.backwards:
            return (replace(s, args=(self.saved,)),)
        if not (isinstance(s, Effect) and s.op is ops.push and s.args[0] in self.names):
            return (s,)
        self.values.append(s.args[1])
        self.order.append(s.args[0])
        if len(self.values) < len(self.names):
            return ()
        whole = self._whole("together")
        self._note_reasons()
        return Assign(whole, ops.make_tuple, tuple(self.values), (), s.span), replace(s, args=(self.saved, whole))

    def _note_reasons(self) -> None:
        """Say why each value is saved where all of them are."""
        why = [(shown(v), self.types.reasons.pop(str(n), "")) for n, v in zip(self.order, self.values, strict=True)]
        told = "; ".join(f"{v}: {reason.removeprefix('saved: ')}" for v, reason in why if reason)
        if told:
            self.types.reasons[self.saved] = f"saved: {told}"

    def _whole(self, when: str) -> str:
        whole = f"%{self.saved}_{when}"
        self.types.of_name[whole] = Tuple(tuple(map(self.types.of, self.values)))
        return whole

    def _taken(self, block: Block) -> Block:
        pops = {s.args[0]: s for s in block if isinstance(s, Assign) and s.op is ops.pop and s.args[0] in self.names}
        if not pops or len(pops) < len(self.names):
            return tuple(self._run_over(s) for s in block)
        first = next(iter(pops.values()))
        at, whole = block.index(first), self._whole("again")
        targets = {name: s.target for name, s in pops.items()}
        return (*block[:at], replace(first, target=whole, args=(self.saved,)), *self._items(whole, targets, first.span),
                *(s for s in block[at:] if s not in pops.values()))  # fmt: skip

    def _run_over(self, s: Statement) -> Statement:
        if not isinstance(s, For) or s.iterable not in self.backwards:
            return with_blocks(s, self._taken)
        targets = {self.backwards[s.iterable]: s.target}
        pops = [x for x in s.body if isinstance(x, Assign) and x.op is ops.pop and x.args[0] in self.names]
        targets |= {x.args[0]: x.target for x in pops}
        whole = self._whole("again")
        return replace(
            s, target=whole, body=(*self._items(whole, targets, s.span), *(x for x in s.body if x not in pops))
        )

    def _items(self, whole: str, targets: dict[Atom, str], span: Span) -> list[Assign]:
        """What the lists were taken from for, out of a tuple."""
        get, recalled = operator.getitem, span.within("recalled")
        return [Assign(targets[name], get, (whole, Const(k)), (), recalled) for k, name in enumerate(self.order)]
