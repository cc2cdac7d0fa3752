"""Sparse matrices of SciPy: products with dense arrays, in the array and in the entries of the matrix.

A matrix whose entries move is held by its coordinates; the sum of ``data[k] * x[columns[k]]`` over the entries of a
row is the product's row.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sparse

from tangentc.rules.registry import adjoint_rule, defined


# ------------------------------------------------------------------ a matrix that does not move
def product(matrix, x):
    """``matrix @ x`` for a sparse matrix and a dense array."""
    return matrix @ x


def transposed(matrix):
    return matrix.T


for function in (product, transposed):
    function.__tangentc_pure__ = True  # type: ignore[attr-defined]


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
