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
from tangentc.core.nodes import Assign, Atom, Block, Const, For, Function, Statement
from tangentc.core.types import Array, Tuple, Type
from tangentc.core.types import Sequence as List
from tangentc.core.walk import all_reads, definitions, reads, rebuilt, statements, with_blocks, with_body


def runs(program: Program) -> Function:
    """The function whose loops over the places of something run over that."""
    function = program.function
    if not any(isinstance(s, For) for s in statements(function.body)):
        return function
    running = _Running(program)
    body = running.block(function.body)
    while unused := running.spared - Counter(a for s in statements(body) for a in reads(s)).keys() - {function.result}:
        body = _without(body, unused)
        running.spared -= unused
    return with_body(function, body)


def _without(block: Block, names: set[Atom]) -> Block:
    out = [
        with_blocks(s, lambda inner: _without(inner, names)) for s in block if getattr(s, "target", None) not in names
    ]
    return rebuilt(block, out)


class _Running:
    def __init__(self, program: Program):
        self.types, self.aliases = program.types, program.aliases
        self.made = definitions(program.function.body)
        self.spared: set[Atom] = set()  # ranges and lengths that may be needed no more

    def block(self, block: Block) -> Block:
        out: list[Statement] = []
        for s in block:
            s = with_blocks(s, self.block)
            out += self.loop(s) if isinstance(s, For) else (s,)
        return rebuilt(block, out)

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
        taken = [x for x in s.body if isinstance(x, Assign) and x.op is operator.getitem and x.args[1] == s.target]
        if over is None or sorted(map(str, over)) != sorted(str(x.args[0]) for x in taken):
            return (s,)
        rest = tuple(x for x in s.body if all(x is not t for t in taken))
        if s.target in all_reads(rest) or s.target in (c.next for c in s.carried):
            return (s,)
        self.spared |= {*names, counted.args[0], *(self.maker(counted.args[0]) or counted).args}
        taken.sort(key=lambda x: over.index(x.args[0]))
        return self.written(s, taken, rest, backwards)

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
        number = 0
        while (name := f"{wanted}.run{number}") in self.types.of_name:
            number += 1
        self.types.of_name[name] = t
        return name
