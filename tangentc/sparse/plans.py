"""Plans: along which directions a derivative of a known pattern is asked for, and where its entries then stand.

Formulas: Curtis, Powell and Reid, On the estimation of sparse Jacobian matrices, J. Inst. Maths Applics 13 (1974);
Coleman and Verma, The efficient computation of sparse Jacobian matrices using automatic differentiation, SIAM J. Sci.
Comput. 19 (1998), for columns and rows in one plan.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tangentc.errors import BadArgument
from tangentc.sparse.colouring import Sparse, Vector, columns_of, longest, star
from tangentc.sparse.linear import Linear


@dataclass(frozen=True)
class Plan:
    """Push-forwards along sums of columns, pull-backs of sums of rows, and where each entry stands in them."""

    pattern: Sparse  # in rows, sorted, each entry once
    columns: list[Vector]  # those of each push-forward
    rows: list[Vector]  # those of each pull-back
    places: Vector  # of each entry, in all the answers, one behind the other

    @property
    def cost(self) -> int:
        """How many products with the derivative it takes."""
        return len(self.columns) + len(self.rows)

    def run(self, linear: Linear) -> Sparse | None:
        """The derivative as a `csr_array`; None if its shape is another one."""
        from scipy.sparse import csr_array

        answers = []
        for answer in self._answers(linear):
            if linear.shape != self.pattern.shape:
                return None
            answers.append(answer)
        if linear.shape != self.pattern.shape:
            return None
        dtype = np.asarray(linear.value).dtype
        data = np.concatenate(answers)[self.places] if answers else np.zeros(0)
        data = data.astype(dtype if dtype.kind in "fc" else float, copy=False)
        return csr_array((data, self.pattern.indices.copy(), self.pattern.indptr.copy()), shape=self.pattern.shape)

    def _answers(self, linear: Linear) -> Iterator[Vector]:
        m, n = self.pattern.shape
        for ask, size, each in ((linear.push, n, self.columns), (linear.pull, m, self.rows)):
            for chosen in each:
                direction = np.zeros(size)
                direction[chosen] = 1.0
                yield ask(direction)


def of_jacobian(pattern: Sparse, by_columns: bool = True, by_rows: bool = True) -> Plan:
    """The cheapest plan of columns alone, of rows alone, and of the longest rows with the columns of the rest.

    >>> import scipy.sparse as sp
    >>> arrow = sp.coo_array(([1] * 10, ([0, 0, 0, 0, 1, 2, 3, 1, 2, 3], [0, 1, 2, 3, 0, 0, 0, 1, 2, 3])))
    >>> plan = of_jacobian(arrow.tocsr())
    >>> len(plan.columns), len(plan.rows)
    (2, 1)
    """
    m, _ = pattern.shape
    lengths = np.diff(pattern.indptr)
    chosen = [np.arange(0)] if by_columns else []
    if by_rows:
        alone = longest(lengths)
        chosen += [np.arange(m)] + [alone] * (by_columns and 0 < len(alone) < m)
    return min((_split(pattern, lengths, rows) for rows in chosen), key=lambda plan: plan.cost)


def _split(pattern: Sparse, lengths: Vector, rows: Vector) -> Plan:
    """The plan that asks for these rows by pull-backs, and for all others by columns."""
    m, n = pattern.shape
    is_row = np.zeros(m, dtype=bool)
    is_row[rows] = True
    at, columns = np.repeat(np.arange(m), lengths), pattern.indices
    of_column = columns_of(_kept(pattern, ~is_row[at])) if len(rows) < m else np.full(n, -1)
    of_row = columns_of(_kept(pattern, is_row[at]).T) if len(rows) else np.full(m, -1)
    behind = (of_column.max(initial=-1) + 1) * m
    places = np.where(is_row[at], behind + of_row[at] * n + columns, of_column[columns] * m + at)
    return Plan(pattern, _by_colour(of_column), _by_colour(of_row), places)


def of_hessian(pattern: Sparse) -> Plan:
    """The plan for a symmetric matrix: an entry that shares its column's colour with others of its row is read in its
    column instead.

    >>> import scipy.sparse as sp
    >>> of_hessian(sp.csr_array([[1, 1, 1, 1], [1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]])).cost
    2
    """
    n = pattern.shape[0]
    colours = star(pattern)
    count = colours.max(initial=-1) + 1
    at, columns = np.repeat(np.arange(n), np.diff(pattern.indptr)), pattern.indices
    here = at * count + colours[columns]
    _, which, often = np.unique(here, return_inverse=True, return_counts=True)
    places = np.where(often[which] == 1, colours[columns] * n + at, colours[at] * n + columns)
    return Plan(pattern, _by_colour(colours), [], places)


def _kept(pattern: Sparse, keep: Vector) -> Sparse:
    """The entries of a pattern that are to be kept."""
    from scipy.sparse import csr_array

    starts = np.concatenate([[0], np.cumsum(keep)])[pattern.indptr]
    return csr_array((np.ones(starts[-1], dtype=bool), pattern.indices[keep], starts), shape=pattern.shape)


def _by_colour(colours: Vector) -> list[Vector]:
    """Those of each colour."""
    order = np.argsort(colours, kind="stable")
    ends = np.searchsorted(colours[order], np.arange(colours.max(initial=-1) + 2))
    return [order[a:b] for a, b in zip(ends, ends[1:])]


def in_rows(pattern: Any) -> Sparse:
    """A pattern as a `csr_array` of flags, each entry once and in order; stored zeros are entries."""
    from scipy.sparse import coo_array, csr_array, issparse

    given = pattern if issparse(pattern) else np.asarray(pattern) != 0
    if given.ndim != 2:
        raise BadArgument(
            f"a pattern of {given.ndim} axes",
            why="it has a row for each result and a column for each entry of the argument",
            way_out="give a matrix of SciPy, or an array of two axes",
        )
    entries = coo_array(given)
    made = csr_array((np.ones(entries.nnz, dtype=bool), (entries.row, entries.col)), shape=entries.shape)
    made.sum_duplicates()
    size = np.int32 if max(made.nnz, *made.shape) <= np.iinfo(np.int32).max else np.int64  # which solvers ask for
    indices, starts = made.indices.astype(size), made.indptr.astype(size)
    return csr_array((np.ones(made.nnz, dtype=bool), indices, starts), shape=made.shape)
