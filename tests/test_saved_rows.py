"""What loops save that is not as long, or not as many, in each trip: triangular factorizations, and ranges with steps."""

import numpy as np
import pytest

import tangentc

pytest.importorskip("numba")


def cholesky(A, w):
    L = A.copy()
    for k in range(len(L)):
        L[k, k] = np.sqrt(L[k, k] - L[k, :k] @ L[k, :k])
        L[k + 1 :, k] = (L[k + 1 :, k] - L[k + 1 :, :k] @ L[k, :k]) / L[k, k]
    return np.sum(w * L)


def factors(A, w):
    """LU without pivots."""
    U = A.copy()
    n = len(U)
    for k in range(n - 1):
        U[k + 1 :, k] = U[k + 1 :, k] / U[k, k]
        U[k + 1 :, k + 1 :] -= U[k + 1 :, k][:, None] * U[k, k + 1 :]
    return np.sum(w * U)


def factors_by_outer(A, w):
    U = A.copy()
    for k in range(len(U) - 1):
        m = U[k + 1 :, k] / U[k, k]
        U[k + 1 :, k:] -= np.outer(m, U[k, k:])
        U[k + 1 :, k] = m
    return np.sum(w * U)


def forward(L, b):
    """Forward substitution, column by column."""
    x = b.copy()
    n = len(b)
    for i in range(n):
        x[i] = x[i] / L[i, i]
        x[i + 1 :] = x[i + 1 :] - np.tanh(L[i + 1 :, i] * x[i])
    return np.sum(x * x)


def backward(U, b):
    x = b.copy()
    for i in range(len(b) - 1, -1, -1):
        x[i] = x[i] / U[i, i]
        x[:i] = np.sin(x[:i] - U[:i, i] * x[i])
    return np.sum(x * x)


def gram_schmidt(A, w):
    Q = A.copy()
    for k in range(Q.shape[1]):
        for j in range(k):
            Q[:, k] = Q[:, k] - (Q[:, j] @ Q[:, k]) * Q[:, j]
        Q[:, k] = Q[:, k] / np.sqrt(Q[:, k] @ Q[:, k])
    return np.sum(w * Q)


def orthogonal(A, w):
    """The rows behind one that is made a unit vector lose what they have of it."""
    Q = A.copy()
    for k in range(len(Q)):
        Q[k] = Q[k] / np.sqrt(Q[k] @ Q[k])
        Q[k + 1 :] -= np.outer(Q[k + 1 :] @ Q[k], Q[k])
    return np.sum(w * Q)


def banded(A, b, p):
    """Of a row only what is close to the diagonal counts."""
    x = b.copy()
    for i in range(len(b)):
        low = max(i - p, 0)
        x[i] = (x[i] - A[i, low:i] @ np.sin(x[low:i])) / A[i, i]
        x[low:i] = x[low:i] * np.cos(x[i])
    return np.sum(x * x)


def windows(x, c):
    """Windows that the end cuts off."""
    u = x.copy()
    for i in range(len(x)):
        u[i : i + 3] = c * u[i : i + 3] * u[i : i + 3]
    return np.sum(u)


def of_two_loops(A, c):
    B = A.copy()
    for i in range(len(A)):
        for j in range(i):
            B[j, j:i] = B[j, j:i] * B[i, j:i] + c
    return np.sum(B * B)


def matrix_of(rng, n):
    return rng.normal(size=(n, n)) * 0.3 + (1 + n) * np.eye(n)


def with_matrices(f, n, rng):
    """Arguments for a function, by their names."""
    A = matrix_of(rng, n)
    made = {
        "A": A @ A.T if f is cholesky else A, "w": rng.normal(size=(n, n)), "L": A, "U": A, "b": rng.normal(size=n),
        "x": rng.normal(size=n), "p": 3, "c": 0.7,
    }  # fmt: skip
    return [made[name] for name in f.__code__.co_varnames[: f.__code__.co_argcount]]


ALL = [
    cholesky, factors, factors_by_outer, forward, backward, gram_schmidt, orthogonal, banded, windows, of_two_loops,
]  # fmt: skip


def agrees(f, args, wrt, exact):
    """A compiled derivative that gives what NumPy's gives."""
    by_numpy, by_loops = (tangentc.value_and_grad(f, wrt=wrt, kernels=k) for k in ("numpy", "numba"))
    for given in args:
        with np.errstate(all="ignore"):
            value, gradient = by_numpy(*given)
            got, loops = by_loops(*given)
        np.testing.assert_allclose(got, value, rtol=0 if exact else 1e-12)
        for a, b in zip(loops, gradient, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    return by_loops


@pytest.mark.parametrize("f", ALL)
def test_rows_that_get_shorter(f, rng):
    wrt = [k for k, name in enumerate(f.__code__.co_varnames[: f.__code__.co_argcount]) if name != "p"]
    exact = f in (factors, windows, of_two_loops)
    loops = agrees(f, [with_matrices(f, n, rng) for n in (9, 12, 40)], wrt, exact)
    assert f"{f.__name__}_loop_adjoint" in loops.source and ".pop()" not in loops.source
    agrees(f, [with_matrices(f, n, rng) for n in (2, 1, 3)], wrt, exact)


@pytest.mark.parametrize("f", ALL)
def test_nan_in_rows_that_get_shorter(f, rng):
    args = with_matrices(f, 10, rng)
    args[0][..., 4] = np.nan
    args[0][..., 7] = np.inf
    agrees(f, [args], [0, 1] if f is not windows else [0], False)


def test_no_rows(rng):
    agrees(cholesky, [with_matrices(cholesky, 9, rng), with_matrices(cholesky, 0, rng)], [0, 1], False)


def every_second(x, c):
    u = x.copy()
    for i in range(0, len(x) - 1, 2):
        u[i + 1] = np.sin(u[i]) * u[i + 1] + c
        u[i] = u[i] * u[i + 1]
    return np.sum(u * u)


def red_and_black(x, c):
    u = x.copy()
    n = len(x)
    for _ in range(3):
        for color in range(2):
            for i in range(1 + color, n - 1, 2):
                u[i] = c * np.tanh(u[i - 1] * u[i + 1] + u[i])
    return np.sum(u * u)


def downwards(x, c):
    u = x.copy()
    for i in range(len(x) - 1, 1, -3):
        u[i] = u[i] * u[i - 1] * c
        u[i - 2] = np.exp(-u[i] * u[i - 2])
    return np.sum(u)


def of_any_step(x, c, step):
    u = x.copy()
    for i in range(0, len(x), step):
        u[i] = u[i] * u[i] * u[0] * c
    return np.sum(u)


def counted_by_threes(x, first, last):
    s = 1.0
    for k in range(first, last, 3):
        s = s * np.sin(x[0] + k * s)
        x = x * s
    return np.sum(x)


def blocks(x, c):
    """Rows of a window that is moved by its own width."""
    u = x.copy()
    n = len(x)
    for i in range(0, n, 4):
        u[i : i + 4] = u[i : i + 4] * np.sin(u[i : i + 4] * c)
    return np.sum(u * u)


@pytest.mark.parametrize("f", [every_second, red_and_black, downwards, blocks])
def test_ranges_with_steps(f, rng):
    args = [(rng.normal(size=n), 0.7) for n in (9, 10, 11, 12, 40)]
    loops = agrees(f, args, [0, 1], f is every_second and False)
    assert f"{f.__name__}_loop_adjoint" in loops.source and ".pop()" not in loops.source and "top" not in loops.source
    agrees(f, [(rng.normal(size=n), 0.7) for n in (2, 3, 4)], [0, 1], False)


def test_steps_that_only_the_run_knows(rng):
    agrees(of_any_step, [(rng.normal(size=9), 0.7, step) for step in (1, 2, 5, 9, 20)], [0, 1], True)


def test_ranges_with_steps_that_begin_and_end_anywhere(rng):
    x = rng.normal(size=9)
    ends = [(0, 10), (1, 10), (2, 10), (3, 3), (5, 1), (-4, 3), (-4, -3)]
    loops = agrees(counted_by_threes, [(x, *both) for both in ends], [0], False)
    assert "counted_by_threes_loop_adjoint" in loops.source


def over_constants(x, steps):
    u = x.copy()
    last = 0
    for _ in range(steps):
        for k in (0, 2, 4):
            u[k] = np.sin(u[k + 1]) * u[k]
            last = k
        for k in (5, 1, 3):
            u[k] = u[k] * u[k - 1] * last
        for weight in (0.5, -1.5, 0.25):
            u[1:] = u[1:] + weight * np.sin(u[:-1])
        for (a, b), k in (((1.0, 0.5), 2), ((0.25, 3.0), 1)):
            u[k] = u[k] * a + b
    return np.sum(u * u)


def behind_a_loop(x, n):
    s = x[0]
    k = 1
    for k in range(n, 0, -2):
        s = s * np.sin(s) + x[k]
    return s * x[k]


def test_loops_over_constants(rng):
    loops = agrees(over_constants, [(rng.normal(size=n), 3) for n in (6, 9, 20)], [0], False)
    assert "over_constants_loop_adjoint" in loops.source and ".pop()" not in loops.source


def test_the_variable_of_a_loop_behind_it(rng):
    agrees(behind_a_loop, [(rng.normal(size=9), n) for n in (0, 1, 2, 7, 8)], [0], False)


def reflected(A, w):
    """QR by reflections; a row is changed before it is saved."""
    R = A.copy()
    for k in range(len(R) - 1):
        v = R[k:, k].copy()
        v[0] = v[0] + np.sqrt(v @ v)
        v = v / np.sqrt(v @ v)
        R[k:, k:] = R[k:, k:] - 2 * np.outer(v, v @ R[k:, k:])
    return np.sum(w * R)


def changed_when_saved(x, steps):
    """What is made in one trip is written into by the next one."""
    v = x * 0.5
    total = 0.0
    for _ in range(steps):
        w = np.sin(v)
        total = total + np.sum(w * w * v)
        v[1] = v[1] * w[0]
        v = w
    return total


def changed_by_another_name(x, steps):
    total = 0.0
    for _ in range(steps):
        v = x * 0.5
        tail = v[1:]
        v[0] = v[0] * v[1]
        total = total + np.sum(np.sin(v) * v) * np.sum(np.cos(tail) * tail)
        tail[0] = tail[0] * total
        total = total + np.sum(tail * tail * v[0])
    return total


def gates(x, W, b, steps):
    """A cell with gates that are parts of one product."""
    h, c = x * 0.1, x * 0.2
    for _ in range(steps):
        n = len(h)
        z = W * np.concatenate([x, h, x]) + b
        keep = 1 / (1 + np.exp(-z[:n]))
        c = c * keep + np.tanh(z[n : 2 * n])
        h = np.tanh(c) * z[2 * n :]
    return np.sum(h)


def columns_joined(A, steps):
    total = 0.0
    for _ in range(steps):
        B = np.concatenate((A, np.sin(A[:, ::-1])), axis=1)
        C = np.concatenate([B * B, B])
        A = A * np.cos(C[: len(A), A.shape[1] :])
        total = total + np.sum(A, axis=0) @ A[0]
    return total


def test_a_row_that_is_changed_before_it_is_saved(rng):
    loops = agrees(reflected, [with_matrices(reflected, n, rng) for n in (9, 20)], [0, 1], False)
    assert "reflected_loop_adjoint" in loops.source


@pytest.mark.parametrize("f", [changed_when_saved, changed_by_another_name])
def test_a_row_that_is_changed_after_it_is_saved(f, rng):
    agrees(f, [(rng.normal(size=9), n) for n in (0, 1, 2, 5)], [0], False)


def test_arrays_that_are_joined(rng):
    x, W, b = rng.normal(size=9), rng.normal(size=27), rng.normal(size=27)
    loops = agrees(gates, [(x, W, b, n) for n in (0, 1, 5)], [0, 1, 2], False)
    assert "gates_loop_adjoint" in loops.source
    loops = agrees(columns_joined, [(rng.normal(size=(n, 10)), 3) for n in (9, 11)], [0], False)
    assert "columns_joined_loop" in loops.source


TABLE = np.linspace(0.1, 1.0, 12)


def over_a_table(c, steps):
    s = 0.0
    for _ in range(steps):
        v = np.sin(TABLE * c + s)
        s = s + np.sum(v * v * TABLE) * 0.1
    return s


def test_room_for_rows_as_long_as_data_of_the_module():
    compiled, plain = (tangentc.value_and_grad(over_a_table, kernels=k) for k in ("numba", None))
    np.testing.assert_allclose(compiled(0.7, 4), plain(0.7, 4), rtol=1e-12)
    assert "over_a_table_loop_adjoint" in compiled.source
