"""Arrays that are made of others, in another way than entry by entry.

t = np.outer(a, b)                  for i in range(n):
                          ->            for j in range(m):
                                            t[i, j] = a[i] * b[j]
"""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np

from tangentc.core.nodes import Assign, Op
from tangentc.kernels.stacks import Stacks
from tangentc.kernels.writing import NotSaid


class Pieces(Stacks):
    """The part that puts arrays together."""

    def outer(self, s: Assign) -> None:
        """The products of each entry of one row with each of another."""
        if s.keywords or len(s.args) != 2 or not all(self.is_array(a) and self._rank(a) == 1 for a in s.args):
            raise NotSaid("outer")
        lengths = tuple(self.view(a).axes[0].length for a in s.args)
        rows = tuple((n,) for n in lengths)

        def value(at: tuple, _: tuple) -> str:
            pair = tuple(self.entry(a, (k,), n) for a, k, n in zip(s.args, at, rows))
            return self.emit(operator.mul, pair)

        self.fill(s.target, lengths, value)

    def _rank(self, a: object) -> int:
        return len(self.view(a).axes)  # type: ignore[arg-type]


PIECES: dict[Op, Callable[[Pieces, Assign], None]] = {np.outer: Pieces.outer}
