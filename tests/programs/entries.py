"""Arrays that loops fill and change entry by entry: what is read again in another trip, and what is not."""

import numpy as np

PROGRAMS = []
X = np.array([0.7, -1.2, 0.4, 1.9, 0.3])
M = np.random.default_rng(5).normal(size=(5, 5)) * 0.4 + 2 * np.eye(5)


def program(*args):
    def add(f):
        PROGRAMS.append((f, args))
        return f

    return add


@program(M, X)
def forward_substitution(L, b):
    n = b.shape[0]
    x = np.zeros(n)
    for i in range(n):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]
    return np.sum(x**2)


@program(M, X)
def back_substitution(U, b):
    n = len(b)
    x = np.zeros_like(b)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - U[i, i + 1 :] @ x[i + 1 :]) / U[i, i]
    return x @ x


@program(M)
def cholesky_by_rows(A):
    A = A @ A.T
    for i in range(A.shape[0]):
        for j in range(i):
            A[i, j] -= np.dot(A[i, :j], A[j, :j])
            A[i, j] /= A[j, j]
        A[i, i] -= np.dot(A[i, :i], A[i, :i])
        A[i, i] = np.sqrt(A[i, i])
    return np.sum(np.tril(A) ** 3)


@program(M)
def lower_and_upper(A):
    A = A.copy()
    n = len(A)
    for k in range(n - 1):
        for i in range(k + 1, n):
            A[i, k] = A[i, k] / A[k, k]
            A[i, k + 1 :] -= A[i, k] * A[k, k + 1 :]
    return np.sum(np.log(np.abs(np.diag(A)))) + A[n - 1, 0] ** 2


@program(X)
def read_one_trip_later(x):
    u = x.copy()
    for i in range(1, len(u)):
        u[i] = u[i] * u[i - 1] + np.sin(u[i - 1])
        u[i - 1] = u[i] ** 2
    return np.sum(u * x)


@program(X)
def read_one_trip_before_it_is_written(x):
    u = x.copy()
    for i in range(len(u) - 1):
        u[i] = u[i + 1] * u[i + 1] * u[i]
    return np.sum(u)


@program(X)
def first_trip_wraps(x):
    u = x.copy()
    for i in range(len(u)):
        u[i] = u[i - 1] * np.cos(u[i])
    return np.sum(u**2)


@program(X)
def entry_of_the_last_trip(x):
    u = x.copy()
    for i in range(len(u) - 1):
        u[-1] = u[-1] * u[i] + u[i] ** 2
        u[i] = np.sin(u[-1])
    return u @ u


@program(X)
def written_again_in_a_loop_around(x):
    u = x.copy()
    for _ in range(3):
        for i in range(1, len(u)):
            u[i] = u[i] * np.sin(u[i - 1]) * 1.3
    return np.sum(u * u)


@program(X)
def two_ways_over_one_array(x):
    n = len(x)
    c, d = np.zeros(n), np.zeros(n)
    c[0], d[0] = 0.3 / (2.0 + x[0] ** 2), x[0]
    for i in range(1, n):
        m = 1.0 / (2.0 + x[i] ** 2 - 0.4 * c[i - 1])
        c[i] = 0.3 * m
        d[i] = (x[i] - 0.4 * d[i - 1]) * m
    for i in range(n - 2, -1, -1):
        d[i] = d[i] - c[i] * d[i + 1]
    return np.sum(d**2)


@program(M)
def rows_by_name(A):
    A = A.copy()
    for i in range(1, len(A)):
        above, row = A[i - 1], A[i]
        row *= np.sin(above)
        row[1:] += row[:-1] * above[1:]
    return np.sum(A**2)


@program(X, 1)
def behind_an_integer_of_any_sign(x, k):
    u = x.copy()
    for i in range(3):
        u[i] = u[i] * u[k] + u[i - k] ** 2
        u[k + i] = np.sin(u[i]) * u[k]
    return np.sum(u**2)


@program(X)
def slice_that_is_cut(x):
    u = x.copy()
    for i in range(len(u)):
        u[i] = np.sum(u[i : i + 3] ** 2) * 0.3
        u[i + 1 :] *= u[i]
    return np.sum(u)


@program(M)
def every_other_row(A):
    A = A.copy()
    for i in range(1, len(A), 2):
        A[i] = np.sin(A[i]) * A[i - 1]
        A[i - 1, ::2] = A[i, ::2] ** 2
    return np.sum(A * A)


@program(X, np.array([3, 0, 2]))
def indices_from_data(x, order):
    u = x.copy()
    for i in order:
        u[i] = u[i] * u[i - 1] + u[3] ** 2
    return np.sum(u * u)


@program(X)
def array_of_each_trip(x):
    total = 0.0
    for i in range(1, len(x)):
        u = x * x[i]
        u[i] = np.sin(u[i - 1]) * u[i]
        u[:i] *= u[i]
        total = total + np.sum(u)
    return total


@program(X)
def two_arrays_that_change_places(x):
    a, b = x.copy(), x * 2
    for i in range(1, len(x)):
        b[i] = a[i - 1] * np.sin(a[i])
        a[i - 1] = b[i] * b[i - 1]
        a, b = b, a
    return np.sum(a * a) + np.sum(b)


@program(X)
def entry_stored_twice_in_a_trip(x):
    u = x.copy()
    for i in range(len(u) - 1, 0, -1):
        u[0] = np.exp(-u[i - 1])
        u[0] *= np.sin(u[i])
    return np.sum(u * u)


@program(X)
def number_into_a_slice(x):
    u = x.copy()
    for i in range(1, len(u) - 1):
        for j in range(i):
            u[j : j + 2] = np.exp(-(np.sum(u[j:]) ** 2))
        u[: i + 1] *= np.sin(u[i + 1])
    return np.sum(u * u)


@program(X, X[::-1] * 0.7)
def read_before_and_after_an_entry_is_replaced(u, v):
    u = u.copy()
    p = u * v
    u[0] = np.sin(v[1] * u[0])
    return np.sum(u * v) + np.sum(np.sin(u)) + np.sum(p)
