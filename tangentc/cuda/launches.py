"""Runs of statements on arrays of the device, taken out of an emitted function as kernels that it launches.

    for _ in range(steps):                          for _ in range(steps):
        u[1:-1] = u[1:-1] + c * ...       ->            launch(f_fused, (n - 2,), (...), (0,))

Loops of the program stay loops of Python, in which kernels are launched.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

import numpy as np

from tangentc.analysis.program import Program
from tangentc.core.nodes import Atom, Block, Effect, For, Statement, While
from tangentc.cuda.region import Region
from tangentc.kernels.outline import Outline
from tangentc.kernels.runs import Runs
from tangentc.kernels.writing import NotSaid

LEAST = 2  # statements on arrays for which it is worth to launch a kernel of our own


def adds_at(s: Statement) -> bool:
    """Whether a statement adds at index arrays."""
    return isinstance(s, Effect) and s.op == np.add.at


class Launches(Outline):
    """Takes the runs of a program out that kernels of the device have words for."""

    def __init__(
        self, program: Program, unique_name: Callable[[str], str], taken: set[str], is_called: bool, atomic: bool
    ):
        super().__init__(program, unique_name, taken, False, 1)
        self.runs = Runs(self.types.of, self.memory.root, program.aliases.root, self.compiled, LEAST if atomic else 1)
        self.atomic = atomic  # whether threads may add to an entry in any order
        self.given = {p.name for p in program.function.params if is_called}  # which are just what their types say
        self.asked: set[tuple[Atom, Hashable]] = set()  # index arrays that were looked at in every run
        self.is_outermost = True

    def block(self, block: Block, outermost: bool, later: set[Atom]) -> Block:
        before, self.is_outermost = self.is_outermost, outermost
        if outermost:  # which may be written again, with what was asked in it
            self.asked.clear()
        try:
            return super().block(block, outermost, later)
        finally:
            self.is_outermost = before

    def loop(self, s: For | While, outermost: bool, later: set[Atom]) -> list[Statement] | None:
        """A loop stays one of Python."""
        self.why[s] = "a loop of Python"
        return None

    def compiled(self, region: Block, later: set[Atom], grows: bool = False) -> list[Statement]:
        """Launches in the place of a run.  Raises `NotSaid`, also where they are no fewer than its statements."""
        types, kernels, names, asked = dict(self.types.of_name), len(self.kernels), set(self.taken), set(self.asked)
        try:
            made = Region(self, region, later).calls()
            count = len(self.kernels) - kernels
            in_order = not self.atomic and any(map(adds_at, region))
            if count >= sum(map(self.runs.is_work, region)) and not in_order:
                raise NotSaid("as many launches as statements")
            return made
        except NotSaid:
            self.types.of_name.clear()
            self.types.of_name.update(types)
            del self.kernels[kernels:]
            self.taken.intersection_update(names)
            self.asked.intersection_update(asked)
            raise


def with_launches(
    program: Program, unique_name: Callable[[str], str], taken: set[str], is_called: bool, atomic: bool
) -> list[Program]:
    """The kernels of a program, then the program that launches them; ``is_called`` for the one that the user calls."""
    outline = Launches(program, unique_name, taken, is_called, atomic)
    whole = outline.run()
    return [*outline.kernels, whole]
