"""Products of matrices, solvers and arrays in other shapes inside of kernels: what NumPy gives, for odd sizes too."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import tangentc

pytest.importorskip("numba")
pytest.importorskip("scipy")
nightly = pytest.mark.nightly  # what takes long to compile


def both(f, args, wrt=0, compiles=True):
    """The text with kernels, whose value and gradient are those without."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain = tangentc.value_and_grad(f, wrt=wrt)(*args)
        compiled = tangentc.value_and_grad(f, wrt=wrt, kernels="numba")
        before = [np.copy(a) for a in args]
        found = compiled(*args)
    for a, b in zip(args, before, strict=True):
        np.testing.assert_array_equal(a, b)
    pairs = zip(found[1], plain[1], strict=True) if isinstance(wrt, tuple) else [(found[1], plain[1])]
    for a, b in ((found[0], plain[0]), *pairs):
        a, b = np.asarray(a), np.asarray(b)
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        single = b.dtype == np.float32
        size = np.max(np.abs(b), initial=1.0)
        np.testing.assert_allclose(a / size, b / size, rtol=1e-3 if single else 1e-8, atol=1e-5 if single else 1e-11)
    text = compiled.source_for(*args)
    if compiles:
        assert "kernel\ndef " in text
    return text


def outside(text):
    """The text behind the kernels."""
    return text.rpartition("\n\n\n")[2]


def laid_out(x):
    """An array in several layouts of memory."""
    wide = np.zeros(tuple(2 * n for n in x.shape), x.dtype)
    wide[tuple(slice(None, None, 2) for _ in x.shape)] = x
    return x, np.asfortranarray(x), wide[tuple(slice(None, None, 2) for _ in x.shape)]


# ------------------------------------------------------------ products in loops
def chain(P, F, Q, steps):
    for _ in range(steps):
        P = F @ P @ F.T + Q
    return np.sum(P * P)


def squared_in_place(P, c, steps):
    """Products of an array and itself, whose result takes its place."""
    P = c * P
    for _ in range(steps):
        P = P @ P
        P[:] = np.dot(P, P.T)
        P = P * c + P.T @ (P @ P)
    return np.sum(P * P)


def states(x, A, B, steps):
    """Vectors by matrices, from both sides, and vectors by vectors."""
    total = 0.0
    for k in range(steps):
        x = np.tanh(A @ x + x @ B)
        total += x @ (B @ x) + np.dot(x, A[0]) * x[k]
    return total


def parts_of_arrays(A, B, steps):
    """Operands that are no whole arrays."""
    total = 0.0
    for k in range(steps):
        C = A[1:, :-1] @ B[:-1, 1:]
        D = A[:-1].T @ B[k][:, None][1:]
        E = (A + k)[:, ::2] @ B[::2]
        total += np.sum(C * C) + np.sum(D * D) + np.sum(E * E)
    return total


def layers(xs, W, V):
    """A recurrent net: what trips save is read turned."""
    h = np.zeros((xs.shape[1], W.shape[1]))
    for x in xs:
        h = np.tanh(x @ V + h @ W)
    return np.sum(h * h)


@pytest.mark.parametrize("n", [0, pytest.param(1, marks=nightly), 4, pytest.param(9, marks=nightly)])
def test_products_in_loops(rng, n):
    F, P, Q = (rng.normal(size=(n, n)) / max(n, 1) for _ in range(3))
    for other in laid_out(F)[:: 2 if n == 9 else 3]:
        both(chain, (P, other, Q, 3), (0, 1, 2))
    both(squared_in_place, (P, 0.7, 2), (0, 1))
    if n:
        both(states, (P[0], F, Q, 1), (0, 1, 2))
    if n > 1:
        both(parts_of_arrays, (laid_out(F)[2], Q, 2), (0, 1))


@pytest.mark.parametrize("n", [3, 12])
def test_products_in_loops_leave_nothing_to_numpy(rng, n):
    F, P, Q = (rng.normal(size=(n, n)) / n for _ in range(3))
    for f, args in ((chain, (P, F, Q, 3)), (layers, (rng.normal(size=(3, 4, n)), F, Q))):
        text = both(f, args, (0, 1, 2))
        assert "@" not in outside(text).partition("out_bar=1.0")[2].replace("# ", "#").split('"""')[2].partition("#")[0]
        assert ("np.dot" in text) == (n == 12)


def test_products_of_float32(rng):
    for n in (3, 11):
        F, P, Q = (rng.normal(size=(n, n)).astype(np.float32) / n for _ in range(3))
        both(chain, (P, laid_out(F)[2], Q, 3), (0, 1, 2))


def of_unlike_lengths(A, B, steps):
    for _ in range(steps):
        B = A @ B
    return np.sum(B * B)


def test_lengths_that_do_not_agree(rng):
    for shapes in (((3, 4), (3, 3)), ((9, 10), (9, 9)), ((3, 20), (3, 3))):
        args = (*(rng.normal(size=shape) for shape in shapes), 2)
        with pytest.raises(ValueError, match="matmul"):
            tangentc.value_and_grad(of_unlike_lengths, wrt=(0, 1), kernels="numba")(*args)
    gradient = tangentc.value_and_grad(of_unlike_lengths, wrt=(0, 1), kernels="numba")
    gradient(rng.normal(size=(9, 9)), rng.normal(size=(9, 9)), 2)  # and the text that was made for others
    with pytest.raises(ValueError, match="matmul"):
        gradient(rng.normal(size=(9, 10)), rng.normal(size=(9, 9)), 2)


# ------------------------------------------------------------ products in runs
def stacks(a, b, c):
    d = np.tanh(a @ b)
    e = d @ np.swapaxes(c, -1, -2) + 1.0
    f = np.matmul(np.swapaxes(d, -1, -2), e) * 0.5
    g = c[0] @ f
    return np.sum(np.sum(g * g, axis=-1), axis=-1)


def total_of_stacks(a, b, c):
    return np.sum(stacks(a, b, c))


def rows_of_points(x, R, t):
    """Points that are turned and moved: a long axis, and short ones."""
    y = x @ R.T + t
    z = np.tanh(y) * x
    m = z.T @ y
    return np.sum(m * m) + np.sum(np.sum(z * y, axis=1))


def long_and_large(x, W, b):
    """What stays NumPy's."""
    y = np.tanh(x @ W + b)
    z = y * b + y
    return np.sum(np.sum(z * y, axis=1))


@pytest.mark.parametrize("batches", [((), (5,)), ((2, 3), (3,)), ((12,), (1,))])
def test_stacks_of_small_matrices(rng, batches):
    a, b = (rng.normal(size=(*batch, 4, 4)) for batch in batches)
    c = rng.normal(size=(1, 3, 4))
    text = both(total_of_stacks, (laid_out(a)[2], b, c), (0, 1, 2))
    assert "matmul" not in outside(text)


@pytest.mark.parametrize("n", [0, 5, 40])
def test_a_long_axis_and_short_ones(rng, n):
    for x in laid_out(rng.normal(size=(n, 3)))[1:]:
        text = both(rows_of_points, (x, rng.normal(size=(3, 3)), rng.normal(size=3)), (0, 1, 2))
    assert "@ " not in outside(text)


def test_large_products_stay(rng):
    text = both(long_and_large, (rng.normal(size=(20, 30)), rng.normal(size=(30, 9)), rng.normal(size=9)), (0, 1, 2))
    assert "x @ W" in outside(text)


# ------------------------------------------------------------ solvers
def filtered(theta, ys, F, H):
    """Kalman's filter."""
    Q, R = np.exp(theta[0]) * np.eye(F.shape[0]), np.exp(theta[1]) * np.eye(H.shape[0])
    mean, P, total = np.zeros(F.shape[0]), np.eye(F.shape[0]), 0.0
    for y in ys:
        mean, P = F @ mean, F @ P @ F.T + Q
        v, S = y - H @ mean, H @ P @ H.T + R
        K = P @ H.T @ np.linalg.inv(S)
        total -= 0.5 * (v @ np.linalg.solve(S, v) + np.linalg.slogdet(S)[1])
        mean, P = mean + K @ v, P - K @ H @ P
    return total


def solved(A, B, c, D, steps):
    """Equations with one right side and several, factors, determinants."""
    total = 0.0
    for k in range(steps):
        S = A @ A.T + (k + 1) * np.eye(A.shape[0])
        L = np.linalg.cholesky(S)
        B = np.linalg.solve(S, B) + np.linalg.inv(L) @ B
        c = np.linalg.solve(L, c)
        total += np.linalg.slogdet(S)[1] + np.linalg.det(D) * c @ c
    return total + np.sum(B * B)


def inverted(A, steps):
    total = 0.0
    for _ in range(steps):
        A = np.linalg.inv(A) * 2.0
        total += np.sum(A * A)
    return total


@pytest.mark.parametrize(("n", "m"), [(4, 2), pytest.param(9, 8, marks=nightly)])
def test_a_filter(rng, n, m):
    F, H = np.eye(n) + 0.1 * rng.normal(size=(n, n)), rng.normal(size=(m, n))
    text = both(
        filtered, (rng.normal(size=2), rng.normal(size=(6, m)), F, laid_out(H)[2]), 0 if n == 4 else (0, 1, 2, 3)
    )
    assert "linalg" not in outside(text)


@pytest.mark.parametrize("n", [pytest.param(2, marks=nightly), 9])
def test_solvers(rng, n):
    A, B, c = rng.normal(size=(n, n)), rng.normal(size=(n, 3)), rng.normal(size=n)
    text = both(solved, (laid_out(A)[1], B, c, A[:2, :2].T, 2), (0, 1, 2))
    assert "linalg" not in outside(text)
    if n == 2:
        both(solved, (*(x.astype(np.float32) for x in (A, B, c, A[:2, :2].T)), 2), (0, 1, 2))


def test_matrices_that_have_no_inverse(rng):
    gradient = tangentc.value_and_grad(inverted, kernels="numba")
    gradient(rng.normal(size=(3, 3)), 2)
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        gradient(np.ones((3, 3)), 2)
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        gradient(np.zeros((9, 9)), 2)
    assert np.isnan(gradient(np.full((3, 3), np.nan), 2)[0])


# ------------------------------------------------------------ other shapes
def fingers(theta, base):
    """Angles as a table, matrices of them, and all of these in one row."""
    bends = theta[2:].reshape(5, 4)
    c, s, one, zero = np.cos(bends[:, 0]), np.sin(bends[:, 1]), np.ones(5), np.zeros(5)
    turned = np.stack([c, -s, one, s, c, zero, zero, one, c * s], axis=1).reshape(5, 3, 3)
    first = base[0] @ base[1:21:4]
    second = first @ turned
    both = np.stack([first, second], axis=1).reshape(10, 3, 3)
    every = np.concatenate([base[:1], both, (base[0] @ second[3])[None]])
    return np.sum(np.sum((every @ base[0]).reshape(12, 9) ** 2, axis=1)) + np.sum(theta[:2] * bends[0, 2:])


def written_in_another_shape(x, y):
    """What is written under one shape is read under the other."""
    z = x * 2.0
    table = z.reshape(3, 4)
    table[1] = y * table[2]
    w = z * z + 1.0
    flat = table.reshape(12)
    flat[2:5] *= 3.0
    table[:, 1] += w[:3]
    return np.sum(z * w) + np.sum(flat[1:] * flat[:-1])


def of_ones(x, y):
    z = x.reshape(1, 3, 1, 4) * y
    w = z.reshape(12, 1) + z.reshape(2, 6)[1, 2]
    v = w.reshape(3, 1, 4) * x.reshape(3, 4, 1).reshape(3, 4)[:, None]
    return np.sum(np.sum(np.sum(v * v, axis=2), axis=1))


def taken_by_steps(x, W, steps):
    """Rows in another shape in a loop."""
    total = 0.0
    for k in range(steps):
        A = x[k].reshape(3, 2)
        B = A @ W
        C = B.reshape(9) * 2.0
        x = x * np.sum(C)
        total += np.sum(C * C)
    return total


def test_other_shapes(rng):
    theta = laid_out(rng.normal(size=22))[2]
    text = both(fingers, (theta, laid_out(rng.normal(size=(22, 3, 3)))[2]), (0, 1))
    assert "split_like" not in outside(text) and "stack" not in outside(text)
    with pytest.raises(ValueError, match="reshape"):
        tangentc.value_and_grad(fingers, kernels="numba")(rng.normal(size=23), rng.normal(size=(22, 3, 3)))
    both(written_in_another_shape, (rng.normal(size=12), rng.normal(size=4)), (0, 1))
    both(of_ones, (theta[:12], 0.7), (0, 1))
    both(taken_by_steps, (rng.normal(size=(4, 6)) * 0.1, rng.normal(size=(2, 3)), 3), (0, 1))


# ------------------------------------------------------------ the page
def test_the_page_shows_the_loops_of_products(tmp_path, monkeypatch):
    page = (Path(__file__).parents[1] / "docs" / "kernels.md").read_text()
    program, small, large = re.findall(r"```python\n(.*?)```", page.partition("## Products of matrices")[2], re.DOTALL)[
        :3
    ]
    (tmp_path / "spread_of_page.py").write_text(program)
    monkeypatch.syspath_prepend(tmp_path)
    from spread_of_page import spread

    for n, shown in ((4, small), (20, large)):
        text = tangentc.value_and_grad(spread, wrt="Q", kernels="numba").source_for(*[np.eye(n)] * 3, 2)
        assert shown in text
