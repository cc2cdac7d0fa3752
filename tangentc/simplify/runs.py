"""Loops that take what they run over one by one run over it.

    for index in range(len(xs)):           for x in xs:
        x = xs[index]               ->         h = np.tanh(x + h)
        h = np.tanh(x + h)

Only for the text: before that, loops over places are what all passes know.
"""

from __future__ import annotations

import builtins
import operator
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from tangentc.analysis.program import Program
from tangentc.core import ops
from tangentc.core.build import Builder
from tangentc.core.nodes import Assign, Atom, Block, Const, For, Function, Statement
from tangentc.core.types import Array, Tuple, Type
from tangentc.core.types import Sequence as List
from tangentc.core.walk import (
    all_reads,
    definitions,
    reads,
    rebuilt,
    statements,
    substitute_block,
    transform,
    with_blocks,
    with_body,
)


def runs(program: Program) -> Function:
    """The function whose loops over the places of something run over that."""
    function = program.function
    if not any(isinstance(s, For) for s in statements(function.body)):
        return function
    running = _Running(program)
    body = running.counted(running.block(function.body))
    while unused := running.spared - Counter(a for s in statements(body) for a in reads(s)).keys() - {function.result}:
        body = _without(body, unused)
        running.spared -= unused
    return with_body(function, body)


def _without(block: Block, names: set[Atom]) -> Block:
    out = [
        with_blocks(s, lambda inner: _without(inner, names)) for s in block if getattr(s, "target", None) not in names
    ]
    return rebuilt(block, out)


def _cut_off(key: Atom) -> int | None:
    """How many items a slice of a list leaves out at both ends, None where that depends on its length."""
    cut = key.value if isinstance(key, Const) else None
    if not isinstance(cut, slice) or cut.step not in (None, 1):
        return None
    start, stop = cut.start or 0, cut.stop or 0
    return start - stop if start >= 0 > stop or cut.stop is None and start > 0 else None


class _Running:
    def __init__(self, program: Program):
        self.types, self.aliases = program.types, program.aliases
        self.made = definitions(program.function.body)
        self.b = Builder(program.types, [*program.types.of_name])
        self.spared: set[Atom] = set()  # ranges and lengths that may be needed no more

    def block(self, block: Block) -> Block:
        out: list[Statement] = []
        for s in block:
            s = with_blocks(s, self.block)
            out += self.loop(s) if isinstance(s, For) else (s,)
        return rebuilt(block, out)

    def counted(self, block: Block) -> Block:
        """How often loops run, as one would write it: ``len(xs[1:-1])`` is ``len(xs) - 2``, and the least of lengths
        that are known to be the same is the first of them."""
        assigned = [s for s in statements(block) if isinstance(s, Assign)]
        counts = {a for s in assigned if s.op is builtins.range for a in s.args}
        counts |= {a for s in assigned if s.op is builtins.min and s.target in counts for a in s.args}
        lengths = {s.target: s for s in assigned if s.target in counts}
        body = transform(block, lambda s: self.without_slice(s) if getattr(s, "target", None) in lengths else (s,))
        return substitute_block(body, {name: a for name, s in lengths.items() if (a := self.same(s)) is not None})

    def without_slice(self, s: Statement) -> tuple[Statement, ...]:
        made = self.maker(s.args[0]) if isinstance(s, Assign) and s.op is builtins.len else None
        less = None if made is None or made.op is not operator.getitem else _cut_off(made.args[1])
        if less is None or made is None or not isinstance(self.types.of(made.args[0]), (List, Tuple, Array)):
            return (s,)
        assert isinstance(s, Assign)
        whole = self.name("%length", self.types.of(s.target))
        self.spared |= {s.args[0], s.target, whole}
        return replace(s, target=whole, args=made.args[:1]), replace(s, op=operator.sub, args=(whole, Const(less)))

    def same(self, s: Assign) -> Atom | None:
        """The first of several integers that are the same."""
        if s.op is not builtins.min or len(s.args) < 2:
            return None
        known = {getattr(self.types.of(a), "value", None) for a in s.args}
        self.spared |= {s.target, *s.args}
        return s.args[0] if len(known) == 1 and None not in known else None

    def maker(self, atom: Atom) -> Assign | None:
        made = self.made.get(atom) if isinstance(atom, str) else None
        return made if isinstance(made, Assign) else None

    def loop(self, s: For) -> Sequence[Statement]:
        counted, backwards = self.maker(s.iterable), False
        names = [s.iterable]
        if counted is not None and counted.op is builtins.reversed:
            backwards, names = True, [*names, counted.args[0]]
            counted = self.maker(counted.args[0])
        if counted is None or counted.op is not builtins.range or len(counted.args) != 1:
            return (s,)
        over = self.run_over(counted.args[0])
        if over is None:
            return (s,)
        taken, places = self.taken(s, over)
        if sorted(map(str, over)) != sorted(str(x.args[0]) for x in taken):
            return (s,)
        gone = {x.target for x in (*taken, *places)}
        rest = tuple(x for x in s.body if getattr(x, "target", None) not in gone)
        if {s.target, *(x.target for x in places)} & {*all_reads(rest), *(c.next for c in s.carried)}:
            return (s,)
        self.spared |= {*names, counted.args[0], *(self.maker(counted.args[0]) or counted).args}
        taken.sort(key=lambda x: over.index(x.args[0]))
        return self.written(s, taken, rest, backwards)

    def taken(self, s: For, over: list[Atom]) -> tuple[list[Assign], list[Assign]]:
        """What takes the items of what a loop runs over, also out of the list that it is a slice of; and what says
        their places there."""
        found: list[Assign] = []
        places: list[Assign] = []
        for x in s.body:
            if not isinstance(x, Assign) or x.op is not operator.getitem:
                continue
            if x.args[1] == s.target and x.args[0] in over:
                found.append(x)
            for xs in over:
                made = self.maker(xs)
                if made is not None and made.op is operator.getitem and made.args[0] == x.args[0]:
                    steps = self.steps(x.args[1], s.target)
                    if steps is not None and self.is_slice_from(made.args[1], steps):
                        found.append(replace(x, args=(xs, s.target)))
                        places += steps
                        break
        return found, places

    def steps(self, place: Atom, index: str) -> list[Assign] | None:
        """The statements, the last one first, by which a place is ``step * index + start``; None if it is not."""
        out: list[Assign] = []
        for op in (operator.add, operator.mul):
            made = self.maker(place)
            if place != index and made is not None and made.op is op:
                numbers = [a for a in made.args if isinstance(a, Const)]
                names = [a for a in made.args if isinstance(a, str)]
                if len(numbers) == len(names) == 1 and type(numbers[0].value) is int:
                    out.append(made)
                    place = names[0]
        return out if place == index else None

    @staticmethod
    def is_slice_from(key: Atom, steps: list[Assign]) -> bool:
        if not isinstance(key, Const) or not isinstance(key.value, slice):
            return False
        said = {s.op: a.value for s in steps for a in s.args if isinstance(a, Const)}
        start, step = said.get(operator.add, 0), said.get(operator.mul, 1)
        return (key.value.start or 0, key.value.step or 1) == (start, step)

    def run_over(self, count: Atom) -> list[Atom] | None:
        """What has so many items: one thing, or the shortest of several; None for what may change, or has none."""
        made = self.maker(count)
        if made is not None and made.op is builtins.min and len(made.args) > 1:
            several = [self.run_over(a) for a in made.args]
            found = [a for one in several if one is not None for a in one]
            return found if len(found) == len(made.args) == len(set(found)) else None
        if made is None or made.op is not builtins.len or not isinstance(made.args[0], str):
            return None
        t = self.types.of(made.args[0])
        plain = isinstance(t, Array) and bool(t.shape) or isinstance(t, Tuple) or isinstance(t, List) and t.kind is list
        return [made.args[0]] if plain and not self.aliases.is_changed(made.args[0]) else None

    def written(self, s: For, taken: list[Assign], rest: Block, backwards: bool) -> Sequence[Statement]:
        before: list[Statement] = []
        source, target = taken[0].args[0], taken[0].target
        head: tuple[Statement, ...] = ()
        if len(taken) > 1:
            items = Tuple(tuple(self.types.of(x.target) for x in taken))
            source = self.emit(before, builtins.zip, tuple(x.args[0] for x in taken), self.types.of(s.iterable), s)
            target = self.name("%pair", items)
            head = tuple(replace(x, args=(target, Const(k))) for k, x in enumerate(taken))
            parts = tuple(x.target for x in taken)
            pairs = [x for x in rest if isinstance(x, Assign) and x.op is ops.make_tuple and x.args == parts]
            rest = substitute_block(tuple(x for x in rest if x not in pairs), {x.target: target for x in pairs})
            if not {*parts} & all_reads(rest):
                head = ()  # what is taken is the tuple that is made of it
        if backwards and len(taken) > 1:
            source = self.emit(before, builtins.list, (source,), self.types.of(s.iterable), s)
        if backwards:
            source = self.emit(before, builtins.reversed, (source,), self.types.of(s.iterable), s)
        return (*before, replace(s, target=target, iterable=source, body=(*head, *rest)))

    def emit(self, out: list[Statement], op: type, args: tuple[Atom, ...], t: Type, s: For) -> str:
        name = self.name(f"%{op.__name__}", t)
        out.append(Assign(name, op, args, (), s.span))
        return name

    def name(self, wanted: str, t: Type) -> str:
        name = self.b.fresh(wanted)
        self.types.of_name[name] = t
        return name
