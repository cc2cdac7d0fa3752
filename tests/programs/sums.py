"""Sums of arrays of which one is changed in place before: its shadow must not be the adjoint of the other."""

import numpy as np

X = np.array([0.3, 0.5, 0.9])
W = np.array([0.8, 1.1, 0.4])
U = np.array([0.3, 0.5, 0.9, 1.2])
V = np.array([0.8, 1.1, 0.4, 0.6])
PROGRAMS = []


def program(*args):
    def add(f):
        PROGRAMS.append((f, args))
        return f

    return add


@program(X)
def sum_with_what_it_is_made_of(x):
    y = x * x
    y[0] = 0
    return np.sum((y + x) ** 2)


@program(X, W)
def sum_with_an_argument(x, w):
    y = w * x
    y[0] = 0
    z = y + w
    return z @ z


@program(U)
def source_and_stencil(u):
    s = np.sin(u)
    lap = np.zeros_like(u)
    lap[1:-1] = u[2:] - 2 * u[1:-1] + u[:-2]
    return np.sum((lap + s) ** 2)


@program(W, X)
def masked_and_passed_by(w, x):
    h = x * w
    h[h < 0.5] = 0
    return np.sum(np.tanh(h + w))


@program(X, W)
def difference_with_an_argument(x, b):
    r = x - b
    r[0] = 0
    return np.sum((r - b) ** 2)


@program(U, V)
def steps_with_a_boundary(u, v):
    u = u - v
    u[0] = 0.0
    u = u - v
    u[1] = 0.0
    u = u - v
    return np.sum(u**3)


@program(U, V)
def sums_and_differences(u, v):
    a = u.copy()
    a[0] = 0
    x = v + a
    y = a - v
    y[1] = 0
    p = x + y
    q = y - x
    return np.sum(p * p) + np.sum(q**3)


A = np.arange(9.0).reshape(3, 3) / 7


@program(A)
def sum_with_a_transpose(a):
    y = a * a
    y[0] = 0
    z = y + a.T
    return np.sum(z**3)


@program(A)
def transpose_with_a_sum(a):
    y = a * a
    y[0] = 0
    z = a.T + y
    return np.sum(z**3)


@program(A)
def sum_of_views(a):
    y = a * a
    y[0] *= 2
    z = y.ravel() + a.reshape(9)
    y[1] = 3.0
    return np.sum(z**3) + np.sum(y)


@program(X, W)
def sums_in_swapped_buffers(x, w):
    a = x * w
    b = x + w
    for k in range(3):
        c = a + b
        a[k] = 0
        a, b = b, c
        a[0] = b[1]
    return np.sum(a * b)


@program(X, W)
def sums_of_items(x, w):
    d = {"a": x * w, "b": x}
    d["a"][0] = 0
    z = d["a"] + d["b"]
    d["b"] = z
    z2 = d["a"] - d["b"]
    return np.sum(z2**2 * z)
