"""Sparse matrices of SciPy: products with dense arrays, in the array and in the entries of the matrix.

A matrix whose entries move is held by its coordinates; the sum of ``data[k] * x[columns[k]]`` over the entries of a
row is the product's row.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.linalg import spsolve

from tangentc.ops.table import say
from tangentc.rules.registry import adjoint_rule, defined, tangent_rule


# ------------------------------------------------------------------ a matrix that does not move
def product(matrix, x):
    """``matrix @ x`` for a sparse matrix and a dense array."""
    return matrix @ x


def transposed(matrix):
    return matrix.T


say(product, transposed, pure=True)


@adjoint_rule(product, linear="each")
def product_rule(matrix, x, y, y_bar):
    return None, product(transposed(matrix), y_bar)


@defined(sparse.csr_array.__matmul__, sparse.csr_array.dot, sparse.coo_array.dot, sparse.csr_matrix.__mul__)
def times(self, other):
    return product(self, other)


@defined(sparse.csr_array.__rmatmul__, sparse.csr_matrix.__rmul__)
def times_from_the_left(other, self):
    return np.transpose(product(transposed(self), np.transpose(other)))


# ------------------------------------------------------------------ a matrix whose entries move
@dataclass
class Coordinates:
    """A sparse matrix by the places of its entries; those at one place are added."""

    entries: Any
    rows: Any
    columns: Any
    shape: Any

    __array_ufunc__ = None

    def __matmul__(self, x):
        y = np.zeros((self.shape[0],) + np.shape(x)[1:], dtype=np.result_type(self.entries, x))
        np.add.at(y, self.rows, (self.entries * x[self.columns].T).T)
        return y

    def __rmatmul__(self, x):
        return (self.T @ x.T).T

    def dot(self, x):
        return self @ x

    @property
    def T(self):
        return Coordinates(self.entries, self.columns, self.rows, self.shape[::-1])

    def transpose(self):
        return self.T

    def toarray(self):
        dense = np.zeros(self.shape, dtype=self.entries.dtype)
        np.add.at(dense, (self.rows, self.columns), self.entries)
        return dense

    def __getattr__(self, name):  # SciPy sorts and adds the entries: what it shows of them is not what was given
        raise AttributeError(f"no {name!r} of a sparse matrix whose entries move")

    def tocsr(self):
        return self

    def tocsc(self):
        return self


@dataclass
class Matrix(Coordinates):
    """One of the older kind, whose ``*`` is the product of matrices."""

    def __mul__(self, x):
        return Coordinates(self.entries * x, self.rows, self.columns, self.shape) if np.ndim(x) == 0 else self @ x

    def __rmul__(self, x):
        return self.__mul__(x) if np.ndim(x) == 0 else x @ self


def by_coordinates(kind, arg1, shape, by_columns):
    """The matrix that a constructor of `scipy.sparse` makes."""
    if not isinstance(arg1, tuple):
        m, n = np.shape(arg1)  # an entry that is zero has a derivative as well
        return kind(np.ravel(arg1), np.repeat(np.arange(m), n), np.tile(np.arange(n), m), np.shape(arg1))
    if len(arg1) == 2:
        data, places = arg1
        rows, columns = places
        return kind(data, rows, columns, (np.max(rows) + 1, np.max(columns) + 1) if shape is None else shape)
    data, indices, starts = arg1
    major = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    if by_columns:
        return kind(data, indices, major, (np.max(indices) + 1, len(starts) - 1) if shape is None else shape)
    return kind(data, major, indices, (len(starts) - 1, np.max(indices) + 1) if shape is None else shape)


@defined(sparse.csr_array, sparse.coo_array)
def csr_array(arg1, shape=None):
    return by_coordinates(Coordinates, arg1, shape, False)


@defined(sparse.csc_array)
def csc_array(arg1, shape=None):
    return by_coordinates(Coordinates, arg1, shape, True)


@defined(sparse.csr_matrix, sparse.coo_matrix)
def csr_matrix(arg1, shape=None):
    return by_coordinates(Matrix, arg1, shape, False)


@defined(sparse.csc_matrix)
def csc_matrix(arg1, shape=None):
    return by_coordinates(Matrix, arg1, shape, True)


# ------------------------------------------------------------------ systems
# A x = b        b_bar = A^-T x_bar        A_bar = -b_bar x^T, of which the places of the entries are read: Giles (2008)
def solution(entries, rows, columns, n, b):
    """The solution of a system whose matrix is given by coordinates."""
    return spsolve(sparse.csc_matrix((entries, (rows, columns)), shape=(n, n)), b)


def products_at(y, x, rows, columns):
    """The entries of ``y x^T`` at places, summed over their columns."""
    both = y[rows] * x[columns]
    return both if both.ndim == 1 else both.sum(axis=-1)


def spread(entries, rows, columns, n, x):
    """The product of a matrix given by coordinates and an array."""
    return sparse.csc_matrix((entries, (rows, columns)), shape=(n, n)) @ x


say(solution, products_at, spread, pure=True)


@adjoint_rule(products_at, linear="each")
def products_at_rule(y, x, rows, columns, d, d_bar):
    n = np.shape(x)[0]
    return spread(d_bar, rows, columns, n, x), spread(d_bar, columns, rows, n, y), None, None


@adjoint_rule(spread, linear="each")
def spread_rule(entries, rows, columns, n, x, y, y_bar):
    return products_at(y_bar, x, rows, columns), None, None, None, spread(entries, columns, rows, n, y_bar)


@adjoint_rule(solution)
def solution_rule(entries, rows, columns, n, b, x, x_bar):
    b_bar = solution(entries, columns, rows, n, x_bar)
    return -products_at(b_bar, x, rows, columns), None, None, None, b_bar


@tangent_rule(solution)
def solution_tangent(entries, rows, columns, n, b, x, entries_dot, rows_dot, columns_dot, n_dot, b_dot):
    return solution(entries, rows, columns, n, b_dot - spread(entries_dot, rows, columns, n, x))


def solved(matrix, b):
    """The solution of a system with a matrix that does not move."""
    return spsolve(matrix, b)


say(solved, pure=True)


@adjoint_rule(solved, linear="each")
def solved_rule(matrix, b, x, x_bar):
    return None, solved(transposed(matrix), x_bar)


@defined(spsolve, always=lambda function, options: True)  # a matrix by coordinates is none of SciPy's
def solve(A, b):
    right = np.asarray(b)
    right = np.ravel(right) if np.ndim(right) == 2 and np.shape(right)[1] == 1 else right
    if isinstance(A, Coordinates):
        return solution(A.entries, A.rows, A.columns, A.shape[0], right)
    return solved(A, right)
