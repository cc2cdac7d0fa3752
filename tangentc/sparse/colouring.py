"""Colourings: columns of a sparse matrix that are told from each other in one product may have one colour.

Formulas: Curtis, Powell and Reid, On the estimation of sparse Jacobian matrices, J. Inst. Maths Applics 13 (1974);
Coleman and Moré, Estimation of sparse Jacobian matrices and graph coloring problems, SIAM J. Numer. Anal. 20 (1983);
Gebremedhin, Manne and Pothen, What color is your Jacobian?, SIAM Review 47 (2005).
"""

from __future__ import annotations

from typing import Any

import numpy as np

Vector = np.ndarray[Any, np.dtype[Any]]
Sparse = Any  # a matrix of `scipy.sparse`, of which only the pattern counts


def columns_of(pattern: Sparse) -> Vector:
    """A colour for each column, -1 for an empty one, so that no row has two columns of a colour.

    Greedy, in the given order, and with those first that meet most others; the better of the two.

    >>> import scipy.sparse as sp
    >>> columns_of(sp.diags_array([1.0, 1.0, 1.0], offsets=[-1, 0, 1], shape=(5, 5)))
    array([0, 1, 2, 0, 1])
    """
    by_column = pattern.tocsc()
    met = by_column.T @ np.diff(pattern.tocsr().indptr)
    found = greedy(by_column, np.arange(pattern.shape[1])), greedy(by_column, np.argsort(-met, kind="stable"))
    return min(found, key=lambda colours: colours.max(initial=-1))


def greedy(by_column: Sparse, order: Vector) -> Vector:
    """The smallest colour for each column, one after the other, that none of its rows has yet.

    The colours of a row are the bits of one number, so that the time is that of going through the entries.
    """
    starts, rows = by_column.indptr.tolist(), by_column.indices.tolist()
    taken = [0] * by_column.shape[0]
    colours = [-1] * by_column.shape[1]
    for j in order.tolist():
        own = rows[starts[j] : starts[j + 1]]
        if not own:
            continue
        mask = 0
        for i in own:
            mask |= taken[i]
        bit = ~mask & (mask + 1)
        for i in own:
            taken[i] |= bit
        colours[j] = bit.bit_length() - 1
    return np.array(colours, dtype=np.intp)


def star(pattern: Sparse) -> Vector:
    """A colour for each column of a symmetric pattern, so that each entry can be read off in its row or in its column.

    Neighbours differ in colour, and no path of four vertices has only two colours (Coleman and Moré, Estimation of
    sparse Hessian matrices and graph coloring problems, Math. Programming 28 (1984)).  Greedy, those with most
    neighbours first; -1 for an empty column.

    >>> import scipy.sparse as sp
    >>> arrow = sp.coo_array(([1] * 7, ([0, 0, 0, 0, 1, 2, 3], [0, 1, 2, 3, 0, 0, 0])), shape=(4, 4))
    >>> star(arrow)
    array([0, 1, 1, 1])
    """
    by_row = pattern.tocsr()
    starts, columns = by_row.indptr.tolist(), by_row.indices.tolist()
    near = [columns[a:b] for a, b in zip(starts, starts[1:])]
    painted = _Painted(len(near))
    for v in np.argsort(-np.diff(by_row.indptr), kind="stable").tolist():
        if near[v]:
            painted.paint(v, near)
    return np.array([bit.bit_length() - 1 for bit in painted.bits], dtype=np.intp)


class _Painted:
    """The vertices of a graph on the way to a star colouring; a set of colours is a number, a bit for each."""

    def __init__(self, n: int):
        self.bits = [0] * n  # the colour of each
        self.once = [0] * n  # those of its neighbours
        self.twice = [0] * n  # those that several of its neighbours have
        self.ends = [0] * n  # those of neighbours that have its own colour twice beside them: they end paths of three

    def paint(self, v: int, near: list[list[int]]) -> None:
        """Give a vertex the smallest colour with which it is on no path of four vertices and two colours."""
        bits, once, twice, ends = self.bits, self.once, self.twice, self.ends
        taken = once[v]
        for w in near[v]:
            if bits[w]:
                taken |= once[w] if bits[w] & twice[v] else ends[w]
        bits[v] = bit = ~taken & (taken + 1)
        for w in near[v]:
            if w == v:
                continue
            if bits[w] & twice[v]:
                ends[w] |= bit
            if not once[w] & bit:
                once[w] |= bit
            elif twice[w] & bit:
                ends[v] |= bits[w]
            else:
                twice[w] |= bit
                for u in near[w]:
                    if bits[u] == bit:
                        ends[u] |= bits[w]


def longest(lengths: Vector) -> Vector:
    """The rows that are better asked for one by one: the rest needs as many colours as its longest row has entries.

    >>> longest(np.array([3, 900, 3, 2]))
    array([1])
    """
    order = np.argsort(-lengths, kind="stable")
    costs = np.arange(len(order) + 1) + np.append(lengths[order], 0)
    return order[: np.argmin(costs)]
