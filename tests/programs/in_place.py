"""Programs that change arrays."""

import numpy as np

normal = np.random.default_rng(2).normal


def triangle(A):
    B = np.zeros((4, 3))
    for i in range(4):
        for j in range(3):
            B[i, j] = A[i, j] * A[j, i]
            if i > j:
                B[i, j] += B[i - 1, j] ** 2
    return B.sum()


def recurrence(x, n):
    out = x.copy()
    for i in range(1, n):
        out[i] = out[i - 1] * out[i] + x[i]
    out *= 2.0
    return np.sum(out[out > 0])


def through_a_view(x):
    u = x.copy()
    v = u[1:]
    u[2] = u[0] * u[1]
    s = np.sum(np.sin(v))
    v[0] = s
    v *= 3.0
    return np.sum(u * u)


def own_square(x):
    x[1] = x[1] * x[1]
    x[2:] *= x[:-2]
    return np.sum(x**3)


def read_before_and_after(u, c):
    u = u.copy()
    before = np.sum(np.sin(u))
    for _ in range(3):
        s = np.sum(np.sin(u))
        u[1:] = u[:-1] * c + s * 0.01
    return before * np.sum(u * u)


def two_buffers(A, steps):
    A = A.copy()
    B = A.copy()
    for _ in range(steps):
        B[1:-1, 1:-1] = 0.25 * (A[:-2, 1:-1] + A[2:, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:])
        A[1:-1, 1:-1] = B[1:-1, 1:-1] ** 2
    return np.sum(A)


def masked_store(x):
    y = x * 2
    y[x > 0] = x[x > 0] ** 2
    y[x <= 0] -= 1.0
    return np.sum(y * x)


def local_in_loop(x):
    total = 0.0
    for k in range(3):
        t = np.zeros(4)
        t[1:] = x[:3] * k
        t[0] = x[3] * t[1]
        t += x
        total += np.sum(t * t * t)
    return total


def rows_of_a_new_matrix(x):
    A = np.outer(x, x)
    for row in A:
        row += x[0]
    return (A**2).sum()


def rows_of_a_new_matrix_in_a_loop(x, n):
    A = np.zeros((len(x), len(x)))
    for i in range(n):
        A = A + x
        for row in A:
            row *= x[i]
            for part in row.reshape(2, 2):
                part -= x[:2]
    return (A**2).sum()


def accumulate_rows(X):
    total = np.zeros(X.shape[1])
    for row in X:
        total += row * row
        total = total * 0.9
    return np.sum(total)


def store_in_branch(x, k):
    y = x.copy()
    for i in range(len(x)):
        if x[i] > 0:
            y[i] = x[i] * y[i - 1]
        elif i > k:
            y[i] *= 2.0
    return np.sum(y**2)


def matrix_fill(a, b):
    M = np.zeros((3, 3))
    M[0, :] = a
    M[:, 1] = M[:, 0] * b
    M[1:, 2] += a[1:] * M[0, 0]
    return np.sum(M @ M)


def early_break(x, limit):
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = x[i] ** 2
        if y[i] > limit:
            break
        y[i] = y[i] * 3
    return np.sum(y * x)


def diagonal(x):
    y = np.ones((4, 4))
    i = np.arange(4)
    y[i, i] = x
    return np.sum(y @ y)


def put_over_and_over(x):
    a = np.zeros(4)
    np.put(a, [0, 1, 2], x[:2])
    np.put(a, np.flatnonzero(x > 1.5), x * 2)
    b = np.zeros((2, 2))
    b.put([0, 1, 3], x[2:])
    np.put_along_axis(b, np.array([2, 0]), x[:2], axis=None)
    return np.sum(a**2 * np.arange(1.0, 5)) + np.sum(b**3)


def index_set_later(x):
    rows = np.arange(4)
    rows[0] = 3
    return np.sum(x[rows] ** 2)


def index_that_wraps(x):
    return np.sum(x[np.arange(-4, 4)] ** 2)


def index_set_through_a_view(x):
    rows = np.arange(4)
    square = rows.reshape(2, 2)
    square[0] = 3
    y = x.copy()
    y[rows] = x * 2
    return np.sum(y**2)


def set_to_one(rows):
    rows[1:] = 1


def index_set_by_a_function(x):
    rows, columns = np.arange(4), np.arange(4)
    set_to_one(rows)
    set_to_one(columns)
    a = np.outer(x, x)
    a[:, rows] *= 2.0
    return np.sum(a[rows, columns] ** 2) + np.sum(a[:, columns] ** 2)


PROGRAMS = [
    *((f, (normal(size=4),)) for f in (
        index_set_later, index_that_wraps, index_set_through_a_view, index_set_by_a_function,
    )),
    (rows_of_a_new_matrix, (normal(size=4),)), (rows_of_a_new_matrix_in_a_loop, (normal(size=4), 3)),
    (put_over_and_over, (np.array([1.0, 2.0, 3.0, 4.0]),)),
    (triangle, (normal(size=(4, 4)),)), (recurrence, (normal(size=9), 9)), (through_a_view, (normal(size=5),)),
    (own_square, (normal(size=5),)), (own_square, (normal(size=15),)), (read_before_and_after, (normal(size=6), 0.7)),
    (two_buffers, (normal(size=(5, 6)), 3)), (masked_store, (normal(size=6),)), (local_in_loop, (normal(size=4),)),
    (accumulate_rows, (normal(size=(3, 4)),)), (store_in_branch, (normal(size=7), 2)),
    (matrix_fill, (normal(size=3), normal(size=3))), (early_break, (normal(size=6), 0.5)), (diagonal, (normal(size=4),)),
]  # fmt: skip


def shuffled(x):
    t, rng = np.outer(x, x), np.random.RandomState(3)
    for k in range(2):
        rng.shuffle(t)
        t[k] *= x
    return np.sum(t * np.arange(9).reshape(3, 3))


def batches_of_a_shuffled_order(x):
    order, total, rng = np.arange(3), 0.0, np.random.default_rng(1)
    for epoch in range(3):
        rng.shuffle(order)
        for start in range(0, 3, 2):
            batch = x[order[start : start + 2]]
            total += np.sum(batch**2) * (start + epoch)
    return total + rng.normal() * x[0]


def shuffled_view(x):
    t = x.copy()
    v = t[::-1]
    np.random.seed(1)
    np.random.shuffle(v)
    v[0] *= 2
    return np.sum(t * np.arange(3))


def averages_by_weights_that_change(x):
    A, w = np.outer(x, x), x.copy()
    w[0] *= 2
    rows, total = np.average(A, axis=1, weights=w, returned=True)
    return np.sum(rows**2 * total) + np.sum(np.average(A, axis=0, weights=w) ** 2) + np.average(x, weights=w)


SHUFFLED = [shuffled, batches_of_a_shuffled_order, shuffled_view, averages_by_weights_that_change]
PROGRAMS += [(f, (np.array([0.3, 0.5, 0.9]),)) for f in SHUFFLED]
