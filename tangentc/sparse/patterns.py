"""The pattern of a derivative, found at the arguments themselves.

A tangent that is NaN at some inputs gives NaN at the results that these reach on the path that is taken: NaN * 0 is
NaN, so that a partial derivative which happens to be 0 is found too, and no branch looks at tangents.  The columns are
halved again and again, and those are asked for together that the last answers tell from each other.

Formulas: Griewank and Mitev, Detecting Jacobian sparsity patterns by Bayesian probing, Math. Programming 93 (2002);
here each answer is certain, and a colouring says which blocks are asked for together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tangentc.errors import BadArgument, NotDifferentiable
from tangentc.sparse.colouring import Sparse, Vector, greedy, longest
from tangentc.sparse.linear import Linear
from tangentc.sparse.plans import in_rows

Ask = Callable[[Vector], Vector]
ENOUGH = 32  # blocks; where each of them reaches every result, the rest is not looked for
MOST = 1 << 27  # entries of what is dense


@dataclass
class Found:
    """A pattern, as a `csr_array` of flags, and how many products with the derivative it took."""

    pattern: Sparse
    probes: int


def found(linear: Linear) -> Found:
    """The pattern of a derivative: by push-forwards, or by pull-backs if there are fewer results than arguments.

    Lines of the other direction that are much longer than the rest are asked for by themselves.  Raises
    `NotDifferentiable` where the derivative is not a number.
    """
    from scipy.sparse import coo_array

    m, n = linear.shape
    by_columns = linear.is_symmetric or linear.has_forward and (n <= m or not linear.has_both)
    ways = (linear.push, linear.pull) if by_columns else (linear.pull, linear.push)
    sizes, where = ((n, m), "of entry {} of the result") if by_columns else ((m, n), "by entry {} of the argument")
    asked = _Bisection(linear.name, where, ways[0], ways[1] if linear.has_both else None, *sizes)
    ends, beginnings = asked.entries()
    places = (ends, beginnings) if by_columns else (beginnings, ends)
    pattern = in_rows(coo_array((np.ones(len(ends), dtype=bool), places), shape=(m, n)))
    if linear.is_symmetric:
        pattern = in_rows(pattern + pattern.T)
    return Found(pattern, asked.probes)


class _Bisection:
    """The search, in one direction: ``along`` takes a vector of ``n`` to one of ``m``, ``across`` the other way."""

    def __init__(self, name: str, where: str, along: Ask, across: Ask | None, n: int, m: int):
        self.name, self.where, self.along, self.across, self.n, self.m = name, where, along, across, n, m
        self.probes = 0
        self.settled = np.zeros(m, dtype=bool)  # the results whose line across is known
        self.known: list[tuple[Vector, Vector]] = []

    def entries(self) -> tuple[Vector, Vector]:
        """The results and the inputs of all entries."""
        self._refuse_undefined()
        try:
            self._bisect()
        except ValueError:  # a function that refuses NaN, as those of scipy.linalg do: each may reach each
            self.known = [self._all_of(np.arange(self.m))]
        each_rows, each_columns = zip(*self.known)
        return np.concatenate(each_rows), np.concatenate(each_columns)

    def _refuse_undefined(self) -> None:
        undefined = np.flatnonzero(self._asked(self.along, np.zeros(self.n)))
        if undefined.size:
            raise NotDifferentiable(
                f"the pattern of the derivative of {self.name} cannot be found here: "
                f"that {self.where.format(undefined[0])} is not a number, along whatever direction",
                why="what depends on an argument is seen by a NaN, which is there in any case",
                way_out="call it first with arguments at which the function is smooth, or give the pattern",
            )  # fmt: skip

    def _bisect(self) -> None:
        width = 1 << max(self.n - 1, 0).bit_length()
        rows = np.flatnonzero(self._reached(self.along, np.ones(self.n, dtype=bool)))
        blocks = np.zeros(len(rows), dtype=np.intp)
        while width > 1:
            width //= 2
            rows, blocks = np.concatenate([rows, rows]), np.concatenate([2 * blocks, 2 * blocks + 1])
            inside = blocks * width < self.n
            rows, blocks = self._told_apart(*self._settle(rows[inside], blocks[inside]), width)
            count = -(-self.n // width)
            present = np.flatnonzero(np.bincount(rows, minlength=self.m))
            if count >= ENOUGH and len(rows) == len(present) * count:
                rows, blocks = self._all_of(present)
                break
        self.known.append((rows, blocks))

    def _all_of(self, rows: Vector) -> tuple[Vector, Vector]:
        """The entries of rows that are full."""
        if len(rows) * self.n > MOST:
            raise BadArgument(
                f"the derivative of {self.name} is dense, of {len(rows):,} times {self.n:,} entries",
                why="each result depends on each entry of the argument, as far as a NaN tells, or NaN is refused",
                way_out="give the pattern, or ask jvp or vjp for products with it",
            )
        return np.repeat(rows, self.n), np.tile(np.arange(self.n), len(rows))

    def _settle(self, rows: Vector, blocks: Vector) -> tuple[Vector, Vector]:
        """Ask for the longest rows across, and leave them out."""
        if self.across is None:
            return rows, blocks
        for row in longest(np.bincount(rows, minlength=self.m)):
            columns = np.flatnonzero(self._reached(self.across, np.arange(self.m) == row))
            self.known.append((np.full(len(columns), row), columns))
            self.settled[row] = True
        left = ~self.settled[rows]
        return rows[left], blocks[left]

    def _told_apart(self, rows: Vector, blocks: Vector, width: int) -> tuple[Vector, Vector]:
        """Those of the results and the blocks of columns that may meet which do."""
        from scipy.sparse import csr_array

        count = -(-self.n // width)
        may_meet = csr_array((np.ones(len(rows), dtype=bool), (rows, blocks)), shape=(self.m, count))
        sums = may_meet @ np.random.default_rng(0).integers(1 << 62, size=count)  # rows that are alike have one sum
        colours = greedy(may_meet[np.unique(sums, return_index=True)[1]].tocsc(), np.arange(count))
        of_entry, meets = colours[blocks], np.zeros(len(rows), dtype=bool)
        of_column = np.repeat(colours, width)[: self.n]
        for colour in range(colours.max(initial=-1) + 1):
            reached = self._reached(self.along, of_column == colour)
            meets |= (of_entry == colour) & reached[rows]
        return rows[meets], blocks[meets]

    def _reached(self, ask: Ask, which: Vector) -> Vector:
        return self._asked(ask, np.where(which, np.nan, 0.0))

    def _asked(self, ask: Ask, direction: Vector) -> Vector:
        self.probes += 1
        with np.errstate(all="ignore"):
            return np.isnan(ask(direction))
