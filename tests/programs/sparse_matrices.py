"""Sparse matrices of SciPy, that stand still or whose entries move; and arrays run through by `flat`."""

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.linalg import spsolve

MATRIX = sparse.csr_matrix(np.array([[1.0, 0, 2], [0, 3, 0]]))
ARRAY = sparse.csr_array(np.array([[1.0, 0, 2], [0, 3, 0]]))
SQUARE = sparse.csr_matrix(np.array([[1.0, 5, 2], [0, 3, 0], [7, 0, 0]]))


def times_a_vector(v):
    return np.sum((MATRIX @ v) ** 2)


def star_of_matrices(v):  # the product of matrices, not of their entries
    return np.sum((SQUARE * v) ** 2)


def star_from_the_left(v):
    return np.sum((v * SQUARE) ** 2)


def dot_method(v):
    return np.sum(MATRIX.dot(v) ** 2)


def transposed(v):
    return np.sum((MATRIX.T @ v) ** 2)


def from_the_left(v):
    return np.sum((v @ ARRAY) ** 2)


def normal_equations(v):
    return v @ (ARRAY.T @ (ARRAY @ v))


def times_columns(V):
    return np.sum((MATRIX @ V) ** 3)


def made_inside(v):
    A = sparse.csr_matrix(np.eye(3) * 2.0)
    return np.sum((A @ v) ** 2)


def entries_by_rows(d, v):
    A = sparse.csr_matrix((d, np.array([0, 2, 1]), np.array([0, 2, 3])), shape=(2, 3))
    return np.sum((A @ v) ** 2)


def entries_by_columns(d, v):
    A = sparse.csc_matrix((d, np.array([0, 1, 1]), np.array([0, 2, 3])))
    return np.sum((A * v) ** 2)


def entries_by_coordinates(d, v):
    A = sparse.coo_matrix((d, (np.array([0, 1, 1]), np.array([0, 2, 0]))), shape=(2, 3))
    return np.sum(A.dot(v) ** 2) + np.sum((A.T @ (A @ v)) ** 2) + np.sum(A.toarray() ** 3)


def of_a_dense_matrix(D, v):  # the entries that are zero move too
    A = sparse.csr_array(D)
    return np.sum((A @ v) ** 2) + np.sum((v @ A) ** 2)


def times_columns_of_moving_entries(d, V):
    A = sparse.csr_array((d, np.array([0, 2, 1]), np.array([0, 2, 3])), shape=(2, 3))
    return np.sum((A @ V) ** 2)


def loop_over_flat(x):
    total = 0.0
    for a in x.flat:
        total += a * a
    return total


def every_third_of_flat(x):
    A = np.zeros((2, 2))
    A.flat[::3] = x
    return np.sum(A * A)


def all_of_flat(x):
    A = np.zeros((2, 2))
    A.flat = x
    return np.sum(A**3)


def flat_item_changed(x):
    A = x.copy()
    A.flat[2] += A.flat[0] ** 2
    return np.sum(A * A)


def flat_of_a_transposed_array(x):
    A = x.T.copy().T
    A.flat[1] = A.flat[2] ** 2
    return np.sum(A * np.arange(4.0).reshape(2, 2))


def picked_by_nonzero(x):
    i, j = np.nonzero(x > 1)
    return np.sum(x[i, j] ** 2)


def solved_with_a_matrix_that_stands_still(v):
    return np.sum(spsolve(SQUARE, v) ** 2) + np.sum(spsolve(SQUARE.T, np.outer(v, v[:2]) + 1) ** 3)


def solved_with_moving_entries(d, v):
    places = (np.array([0, 1, 2, 0, 2, 2]), np.array([0, 1, 2, 2, 0, 2]))  # two entries at one of them
    A = sparse.csr_matrix((np.concatenate([d + 2, d]), places), shape=(3, 3))
    return np.sum(spsolve(A, v) ** 2) + v @ spsolve(A.T, np.outer(v, d)) @ d + np.sum(spsolve(A, v[:, None]) ** 3)


def solved_with_columns_of_entries(d, v):
    A = sparse.csc_array((d, np.array([0, 1, 2]), np.array([0, 1, 2, 3])), shape=(3, 3))
    return np.sum(spsolve(A, v) ** 2)


X = np.arange(4.0).reshape(2, 2) + 0.3
D = np.array([1.0, 2.0, 3.0])
V = np.array([0.5, -1.0, 2.0])
PROGRAMS = [
    (times_a_vector, (V,)),
    (star_of_matrices, (V,)),
    (star_from_the_left, (V,)),
    (dot_method, (V,)),
    (transposed, (V[:2],)),
    (from_the_left, (V[:2],)),
    (normal_equations, (V,)),
    (times_columns, (np.outer(V, D),)),
    (made_inside, (V,)),
    (entries_by_rows, (D, V)),
    (entries_by_columns, (D, V[:2])),
    (entries_by_coordinates, (D, V)),
    (of_a_dense_matrix, (np.diag(D) + np.eye(3)[::-1], V)),
    (times_columns_of_moving_entries, (D, np.outer(V, D))),
    (loop_over_flat, (X,)),
    (every_third_of_flat, (2.0,)),
    (all_of_flat, (np.arange(4.0),)),
    (flat_item_changed, (X,)),
    (flat_of_a_transposed_array, (X,)),
    (picked_by_nonzero, (X,)),
    (solved_with_a_matrix_that_stands_still, (V,)),
    (solved_with_moving_entries, (D, V)),
    (solved_with_columns_of_entries, (D, V)),
]
