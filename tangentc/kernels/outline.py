"""Loops of an emitted function as functions of their own, which are compiled.

for _ in range(steps):                  saved, top = burgers_loop(u, c, d, steps)
    ...                        ->       ...
...                                     d_bar = burgers_loop_adjoint(u, u_bar, c, d, steps, saved, top)
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable
from dataclasses import replace

from tangentc.analysis.finished import finished_copies
from tangentc.analysis.program import Program
from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Block, Effect, For, If, Opaque, Statement, Store, While, version_base
from tangentc.core.walk import (
    all_changed_by,
    all_reads,
    defines,
    definitions,
    joins_of,
    statements,
    with_blocks,
    with_body,
)
from tangentc.kernels.clears import CLEAR
from tangentc.kernels.kernel import Kernel
from tangentc.kernels.memory import Memory
from tangentc.kernels.room import Uncounted
from tangentc.kernels.runs import Runs
from tangentc.kernels.settled import unchanged_behind
from tangentc.kernels.tidy import without_unread
from tangentc.kernels.trips import Irregular
from tangentc.kernels.writing import NotSaid


class Outline:
    """Takes the loops of a program out that kernels have words for."""

    def __init__(
        self, program: Program, unique_name: Callable[[str], str], taken: set[str], as_python: bool, threads: int
    ):  # fmt: skip
        self.taken = taken  # the names of functions that there are
        self.program, self.types, self.unique_name = program, program.types, unique_name
        self.as_python, self.threads = as_python, threads
        self.kernels: list[Program] = []
        self.why: dict[Statement, str] = {}  # the loops that stay as they are, and the reason
        self.numbers: dict[str, int] = {}
        self.definitions = definitions(program.function.body)
        names = [p.name for p in program.function.params]
        names += [name for s in statements(program.function.body) for name in defines(s)]
        self.met = {name: k for k, name in enumerate(dict.fromkeys(names))}  # in which order there are names
        self.memory = Memory(program)
        self.roots = self.memory.root, program.aliases.root
        self.runs = Runs(self.types.of, self.memory.root, program.aliases.root, self.compiled)
        self.finished = finished_copies(program.function, program.aliases)
        self.unchanged = unchanged_behind(program.function.body, program.aliases)
        every = [s for s in statements(program.function.body) if isinstance(s, Assign)]
        self.lists = {s.target: s.target for s in every if s.op is ops.new_list}  # of saved values, by their names
        self.lists |= {s.target: str(s.args[0]) for s in every if s.op is builtins.reversed and s.args[0] in self.lists}
        self.irregular: set[str] = set()  # those that are not saved into once in each trip
        self.clear: set[str] = set()  # the arrays of zeros before a loop
        self.refused: dict[str, str] = {}  # lists that something else than kernels takes from, or puts into, and why

    def run(self) -> Program:
        """The program that calls its loops."""
        names, taken = dict(self.types.of_name), set(self.taken)
        while True:
            self.kernels, self.why, before = [], {}, dict(self.refused)
            self.pushed: dict[str, list[dict]] = {}
            try:
                body = self.block(self.program.function.body, True, {self.program.function.result})
            except Irregular as found:
                self.irregular.add(found.name)
                body = None
            if body is not None and self.refused == before:
                break
            self.types.of_name.clear()
            self.types.of_name.update(names)
            self.taken.intersection_update(taken)
        body = without_unread(body, {self.program.function.result}, lambda op: ops.is_pure(op) or op is ops.new_list)
        new = replace(self.program, function=with_body(self.program.function, body))
        new.keep_memory_of(self.program)
        return new

    def fresh(self, base: str) -> str:
        name, base = "", version_base(base)
        while not name or name in self.types.of_name:
            k = self.numbers[base] = self.numbers.get(base, 0) + 1
            name = f"{base}.{k}"
        return name

    def block(self, block: Block, outermost: bool, later: set[Atom]) -> Block:
        out: list[Statement] = []
        run: list[Statement] = []
        for k, s in enumerate(block):
            if isinstance(s, (Assign, Store, Effect)) and not self.of_lists(s):
                run.append(s)
                continue
            out += self.runs.block(tuple(run), later | all_reads(block[k:]))
            run = []
            if isinstance(s, (For, While)):
                self.clear = self.clear_before(block[:k])
                made = self.loop(s, outermost, later | all_reads(block[k + 1 :]))
                if made is not None:
                    out += made
                    continue
                self._refuse(self.saved_in((s,)), self.why[s])
            if isinstance(s, (For, While, If)):
                behind = later | all_reads(block[k + 1 :]) | {a for _, *arms in joins_of(s) for a in arms}
                if isinstance(s, While):
                    behind |= {s.test} | all_reads(s.body)
                s = with_blocks(s, functools.partial(self.block, outermost=False, later=behind))
            elif not (isinstance(s, Assign) and s.target in self.lists):
                self._refuse(self.saved_in((s,)), "what it saves is taken outside of a loop")
            out.append(s)
        out += self.runs.block(tuple(run), later)
        return tuple(out)

    def clear_before(self, block: Block) -> set[str]:
        """The arrays that are made as zeros in a block, and in which nothing has been written behind it."""
        clear: set[str] = set()
        for s in block:
            every = [*statements((s,))]
            changed = {root(name) for x in every for name in all_changed_by(x) for root in self.roots}
            opaque = any(isinstance(x, Opaque) for x in every)
            clear = {n for n in clear if not opaque and changed.isdisjoint(root(n) for root in self.roots)}
            if isinstance(s, Assign) and s.op in CLEAR:
                clear.add(s.target)
        return clear

    def of_lists(self, s: Statement) -> bool:
        """Whether a statement makes a list of saved values, or has to do with one."""
        return bool(self.saved_in((s,))) or isinstance(s, Assign) and s.target in self.lists

    def saved_in(self, region: Block) -> set[str]:
        """The lists of saved values that a region has to do with."""
        return {self.lists[name] for name in all_reads(region) if name in self.lists}

    def _refuse(self, lists: set[str], why: str) -> None:
        for name in lists:
            self.refused.setdefault(name, why)

    def loop(self, s: For | While, outermost: bool, later: set[Atom]) -> list[Statement] | None:
        """A call in the place of a loop, None where kernels have no words for it."""
        lists = self.saved_in((s,))
        if lists and (not outermost or lists & self.refused.keys()):
            known = sorted(lists & self.refused.keys())
            self.why[s] = self.refused[known[0]] if known else "it saves, inside of another loop"
            return None
        waiting = {name: list(stacks) for name, stacks in self.pushed.items()}
        try:
            try:
                return self.compiled((s,), later)
            except Uncounted:
                self.pushed = waiting
                return self.compiled((s,), later, grows=True)
        except NotSaid as reason:
            if isinstance(reason, Irregular):
                raise
            self.why[s] = str(reason)
            return None

    def compiled(self, region: Block, later: set[Atom], grows: bool = False) -> list[Statement]:
        """A call in the place of a region.  Raises `NotSaid`."""
        before = dict(self.types.of_name)
        try:
            return Kernel(self, region, later, grows).calls()
        except NotSaid:
            self.types.of_name.clear()
            self.types.of_name.update(before)
            raise
