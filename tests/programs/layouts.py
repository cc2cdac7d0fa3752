"""Reshaped arrays: views or copies, as the layout has it."""

import copy

import numpy as np


def strided_ravelled(x):
    a = x.copy()
    a[0] = 2.0
    return np.sum(a[::2].ravel() ** 2)


def block_ravelled(A):
    B = A * A
    B[0, 0] = 1
    return np.sum(np.arange(4.0) * B[1:3, 1:3].ravel() ** 2)


def reversed_ravelled(x):
    a = x.copy()
    a[0] = 2.0
    return np.sum(a[::-1].ravel() ** 2)


def columns_reshaped(A):
    B = A.copy()
    B[0, 0] = 1
    return B[:, 1:].reshape(-1) @ np.arange(12.0)


def padding_ravelled(A):
    P = np.zeros((6, 6))
    P[1:-1, 1:-1] = A
    return np.sum(P[1:5, 2:5].ravel() ** 2)


def columns_changed(A):
    v = A[:, 1:3].reshape(-1)
    v -= v.mean()
    return np.sum(v**3)


def columns_kept(A):
    B = A * A
    v = B[:, 1:].ravel()
    B[0] = 0.0
    return np.sum(v**2)


def transposed_changed(A):
    B = A.copy()
    v = B.T.ravel()
    v[0] = v[1] * v[2]
    return np.sum(B * B)


def transposed_kept(A):
    B = A * 1.0
    v = B.T.reshape(-1)
    B[0, 0] = 3.0
    return np.sum(v * v)


def fortran_reshaped(A):
    v = A.reshape(-1, order="F")
    v[:4] = v[4:8] ** 2
    return np.sum(v**2)


def fortran_ravelled(A):
    B = A.copy()
    v = B.ravel(order="F")
    v[0] = 1.0
    return np.sum(v * v) + np.sum(B**3)


def blocks_swapped(A):
    w = A.reshape(2, 2, 2, 2).swapaxes(1, 2).reshape(4, 4)
    w[0] *= w[1]
    return np.sum(w**2 * A)


def joined(A):
    B = A.copy()
    B[0] = 2.0
    return np.sum(np.concatenate([B[:, 1:].ravel(), B[0]]) ** 2)


def fortran_buffer(A):
    B = np.zeros((4, 4), order="F")
    B[:] = A
    v = B.T.ravel()
    v[0] = v[1] ** 2
    return np.sum(B**2)


def product_of_transposed(A):
    B = A.T * 2.0
    v = B.ravel()
    v[0] = 3.0
    return np.sum(B * B)


def negated_transposed(A):
    B = -A.T
    v = B.reshape(16)
    v *= v
    return np.sum(B * B)


def sine_of_transposed(A):
    B = np.sin(A.T)
    v = B.reshape(2, 8)
    v[0] = v[1] ** 2
    return np.sum(v * v) + np.sum(B**3)


def array_of_transposed(A):
    B = np.array(A.T)
    v = B.reshape(2, 8)
    v[0] = v[1] ** 2
    return np.sum(v * v) + np.sum(B**3)


def copy_of_transposed(A):
    B = np.copy(A.T)
    v = B.ravel()
    v += 1.0
    return np.sum(B * B)


def asked_for_in_columns(A):
    B = np.array(A, order="F")
    v = B.ravel()
    v[1:] *= 2.0
    C = np.asfortranarray(A) * 1.5
    w = C.reshape(-1)
    w[1:] *= 3.0
    return np.sum(B**2) + np.sum(C**2)


def copies_that_keep_their_order(A):
    B, C = copy.copy(A.T), copy.deepcopy(A.T)
    v, w = B.reshape(-1), C.ravel()
    v[1:] *= 2.0
    w[1:] *= 3.0
    return np.sum(B**2) + np.sum(C**2)


def inserted_and_reshaped(A):
    B = np.insert(A, 0, 1.0, axis=1)
    v = B.reshape(-1)
    v[1:] *= 2.0
    return np.sum(v**2) + np.sum(B**3)


def applied_along_the_columns(A):
    B = np.apply_along_axis(lambda column: column * 2, 0, A)
    v = B.T.reshape(-1)
    v[1:] *= 3.0
    return np.sum(B**2)


def sum_with_a_copy_in_order(A):
    B = A.T + A.T.copy()
    v = B.reshape(-1)
    v[1:] *= 2.0
    return np.sum(B**2)


def part_of_the_flat_array(A):
    v = A.flat[1:6]
    v *= 2
    return np.sum(A**2) + np.sum(v**3)


VECTOR = np.array([0.9, -2.1, 3.0, 0.5, 2.2])
MATRIX = np.arange(1.0, 17).reshape(4, 4) / 7
PROGRAMS = [(f, (VECTOR,)) for f in (strided_ravelled, reversed_ravelled)] + [
    (f, (MATRIX,))
    for f in (
        block_ravelled,
        columns_reshaped,
        padding_ravelled,
        columns_changed,
        columns_kept,
        transposed_changed,
        transposed_kept,
        fortran_reshaped,
        fortran_ravelled,
        blocks_swapped,
        joined,
        fortran_buffer,
        product_of_transposed,
        negated_transposed,
        sine_of_transposed,
        array_of_transposed,
        copy_of_transposed,
        asked_for_in_columns,
        copies_that_keep_their_order,
        inserted_and_reshaped,
        sum_with_a_copy_in_order,
        applied_along_the_columns,
        part_of_the_flat_array,
    )
]
