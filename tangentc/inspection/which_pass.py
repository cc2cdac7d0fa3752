"""The pass of the compiler that changes what a derivative gives, which none may do.

A derivative is written once more with the first passes alone.  Where these give something else than all passes do, a
pass is at fault, and halving the passes finds it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tangentc.analysis.program import Pass, Program
from tangentc.backend.load import Text, load, print_program
from tangentc.compiler.context import Context
from tangentc.compiler.front import front_for
from tangentc.core.draws import Draws
from tangentc.core.nodes import Function, Statement
from tangentc.core.walk import blocks, statements
from tangentc.derivative import Derivative
from tangentc.runtime import copied

Leaves = Callable[[Any], Iterable[tuple[str, np.ndarray]]]
CLOSE = {8: 1e-6, 4: 1e-2}  # to the largest number of a gradient, by the bytes of a number


@dataclass(frozen=True)
class Changed:
    """A pass that is at fault, and the statements that it has written; those that it has left out if it wrote none."""

    step: Pass
    written: list[Statement]
    rows: list[str]  # of the text, where they stand in it


def which_pass(derivative: Derivative[..., Any], args: tuple[Any, ...], leaves: Leaves) -> Changed | None:
    """The first pass after which what a derivative gives is what it is in the end, and was not before; None if all
    leave it as it is.  ``leaves`` gives the arrays in a result."""
    compiled = derivative.compiled(args)
    source = derivative.resolve(compiled.types)

    def written(steps: Sequence[Pass]) -> Text:
        with front_for(source, compiled.types) as front:
            context = Context(front)
            context.steps = tuple(steps)
            derivative.write(context, source, list(compiled.types), compiled.seed)
        return print_program(context.emitted)

    def given(steps: Sequence[Pass]) -> list[np.ndarray]:
        text = written(steps)
        function = load(text, source.__module__)
        function.__globals__.update({name: atom.lookup() for name, atom in text.live.items()})
        try:
            run = Draws(source, args).each(lambda: function(*copied(args), *compiled.seeds))
            return [leaf for _, leaf in leaves(run())]
        except Exception:  # what is wrong may raise
            return []

    steps = Context.steps
    last, low, high = given(steps), 0, len(steps)
    if _same(given(()), last):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _same(given(steps[:middle]), last) else (middle, high)
    pairs: list[tuple[Function, Function]] = []

    def watched(program: Program) -> Function:
        pairs.append((program.function, steps[low].run(program)))
        return pairs[-1][1]

    text = written((*steps[:low], replace(steps[low], run=watched), *steps[high:]))
    new = _written(pairs)
    rows = text.whole.split("\n")
    return Changed(steps[low], new, [rows[number - 1].strip() for number, s in text.of.items() if s in new])


def _same(a: list[np.ndarray], b: list[np.ndarray]) -> bool:
    """Whether the numbers are the same but for rounding."""
    if len(a) != len(b) or any(x.shape != y.shape for x, y in zip(a, b)):
        return False
    size = max((float(np.max(np.abs(x), initial=0.0)) for x in b), default=0.0)
    close = CLOSE[4 if any(x.dtype.itemsize < 8 for x in b) else 8]
    return all(np.allclose(x, y, rtol=0.0, atol=close * size, equal_nan=True) for x, y in zip(a, b))


def _written(pairs: list[tuple[Function, Function]]) -> list[Statement]:
    new: list[Statement] = []
    gone: list[Statement] = []
    for before, after in pairs:
        one, other = ([s for s in statements(f.body) if not blocks(s)] for f in (before, after))
        new += _beyond(other, one)
        gone += _beyond(one, other)
    return new or gone


def _beyond(own: list[Statement], other: list[Statement]) -> list[Statement]:
    """The statements that are not among others."""
    left = Counter(other)
    found = []
    for s in own:
        left[s] -= 1
        if left[s] < 0:
            found.append(s)
    return found
