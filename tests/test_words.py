"""Functions that kernels write out in loops: what they give for arrays of odd sizes, and where NumPy has an error."""

import math

import numpy as np
import pytest
from test_kernels import both

import tangentc

pytest.importorskip("numba")


def fields(x, v):
    """Rows of records, of which only the run knows how long they are."""
    p = x[:, :3] * 2.0 + x[:, 3:6]
    q = x[:, 10:11] * p + x[:, -3:]
    r = q * q + v[:3]
    return np.sum(np.sum(r * p, axis=1)) + np.sum(r[:, 0] * p[:, 1])


def every_other(x, c):
    even, odd = x[::2] * c, x[1::2] ** 2
    inner = x[1:-1:3] ** 2 + 1.0
    few = x[1:9:4] * 2.0 + x[-5::2][:2]
    x = x.copy()
    x[1::2] *= 2.0
    x[::2] += 1.0
    x[1:-1:3] -= inner
    return np.sum(even * even) + np.sum(odd) + np.sum(inner) + np.sum(few) + np.sum(x * x)


def halves(x):
    """The halves are as long as each other where the length is even."""
    u, v = x[0::2], x[1::2]
    s, d = u + v, u - v
    out = np.empty_like(x)
    out[0::2] = s * d
    out[1::2] = s + d * d
    z = out * x
    return np.sum(z * z)


def first_ones(x, k, steps):
    u = x.copy()
    for step in range(steps):
        u[:k] = u[:k] * 0.5 + u[:3][0]
        u[::3] += u[step:][:2][0]
        u[-2:] *= u[1:3]
    return np.sum(u * u)


def crossed(a, b, v):
    c = np.cross(a, b)
    d = np.cross(v, c) + a
    e = np.sum(c * d, axis=1, keepdims=True)
    return np.sum(np.sum(e * d, axis=1))


def crossed_by_steps(a, b, steps):
    for _ in range(steps):
        a = a + 0.1 * np.cross(a, b)
    return np.sum(a * a)


def records(x, w, at):
    """What is broadcast, taken and cut in many ways."""
    norm = np.sqrt(np.sum(x[:, :3] ** 2, axis=1, keepdims=True))
    unit = (x[:, :3] / (norm + 1.0))[at]
    scale = np.cos(norm)[at]
    y = unit * scale + x[at][:, 3:6] * w[:, None]
    z = y[:, :2] / (2.0 + y[:, 2:] ** 2)
    r = z * (1 + x[at][:, 6:7] * np.sum(z**2, axis=1, keepdims=True))
    return np.sum(np.sum(r * r, axis=1))


def axes_in_another_order(x, w):
    a = np.swapaxes(x, 0, 2) * w
    b = np.moveaxis(x, 0, -1) + np.transpose(x, (1, 2, 0))
    c = np.expand_dims(a, 0)[0] * np.flip(x, 1).T
    d = np.flip(b) * b
    return np.sum(np.sum(c, axis=2)[:, 0]) + np.sum(np.sum(d, axis=-1)[0])


def side_by_side(x, y, c):
    a = np.concatenate((x, y * c, x[1:]))
    b = np.stack([x, y], axis=1) * c
    d = np.stack((x, y))
    e = np.hstack((x, a)) ** 2
    f = np.vstack((d, b.T)) + 1.0
    g = np.concatenate([f, d], axis=0) * 2.0
    h = np.hstack([d, f[:2]])
    return np.sum(a * a) + np.sum(e) + np.sum(np.sum(g, axis=1)) + np.sum(np.sum(h * h, axis=0))


def items(x, c):
    n = x * c
    a = np.array([n[0] * c, n[-1], 2])
    b = np.array([[c, 1.0, -c], [n[0], 0, c]])
    d = np.array([n, n * n])
    return np.sum(a * b[0]) + np.sum(b[1]) + np.sum(np.sum(d * c, axis=0))


def along(x):
    a = np.cumsum(x) * x
    b = np.diff(a) * 2.0
    c = np.roll(a, 1) + np.roll(x, -2)
    d = c - np.pad(b, (1, 0))
    return np.sum(d * c) + np.sum(b)


def along_rows(x):
    a = np.cumsum(x, axis=1) * x
    b = np.diff(a, axis=0) + np.roll(a, 2, axis=1)[1:]
    c = np.diff(b, axis=1) * np.roll(x, -1, axis=0)[1:, 1:]
    return np.sum(np.sum(c, axis=1)) + np.sum(np.sum(b * b, axis=0))


def labelled(x, labels):
    z = x - np.max(x, axis=0)
    most, least = np.max(z * z, axis=0, keepdims=True), np.min(x, axis=0)
    picked = z[np.arange(len(labels)), labels]
    return np.sum(picked * math.pi) + np.sum(most * least)


def lengths_of_rows(x):
    n = np.linalg.norm(x, axis=1)
    m = np.linalg.norm(x, axis=0, keepdims=True) * x
    e = np.eye(len(n)) * n
    f = np.outer(n, n) + e
    g = np.sum(f > 1.0) + np.sum(x > 0.5, axis=0)
    return np.sum(np.sum(m, axis=0)) + np.sum(np.sum(f * f, axis=1)) + np.sum(n * 1.5) + np.sum(g * 1.0)


def windows(x, k, w):
    """Slices whose ends are computed from what is given."""
    a = x[:k] * w
    b = x[k:] + w
    c = x[k - 2 : k + 2] ** 2
    d = x[-k:] * 2.0
    return np.sum(a * a) + np.sum(b * b) + np.sum(c) + np.sum(d)


def test_slices_of_so_many_entries(rng):
    for n in (0, 1, 2, 9):
        compiled = both(fields, (rng.normal(size=(n, 13)), rng.normal(size=9)), (0, 1)) if n else None
        for columns in (11, 14):
            both(fields, (rng.normal(size=(n, columns)), rng.normal(size=3)), (0, 1)) if n else None
    text = compiled.source_for(rng.normal(size=(9, 13)), rng.normal(size=9))
    assert text.count("@kernel") == 1 and "unbroadcast" not in text
    both(first_ones, (rng.normal(size=12), 5, 3))
    for k in (0, 1, 2, 3, 12, 14):
        both(first_ones, (rng.normal(size=12), k, 3))
    both(first_ones, (rng.normal(size=4), 2, 2))


@pytest.mark.parametrize("n", [*range(13), 20, 21, 22, 23, 24])
def test_slices_with_steps(rng, n):
    both(every_other, (rng.normal(size=n), 1.3), (0, 1)) if n > 4 else None
    if n % 2 and n > 8:  # shorter ones are refused
        with pytest.raises(ValueError, match="broadcast"):
            tangentc.value_and_grad(halves, kernels="numba")(np.ones(n))
    elif n % 2 == 0:
        assert "@kernel" in both(halves, (rng.normal(size=n),)).source


@pytest.mark.parametrize("k", [-40, -9, -3, 0, 1, 2, 5, 9, 10, 11, 40])
def test_slices_whose_ends_are_given(rng, k):
    for n in (10, 30, 1, 0):
        both(windows, (rng.normal(size=n), k, 1.5), (0, 2))


def test_cross_products(rng):
    for n in (1, 2, 9):
        a, b, v = rng.normal(size=(n, 3)), rng.normal(size=(n, 3)), rng.normal(size=3)
        assert "@kernel" in both(crossed, (a, b, v), (0, 1, 2)).source
    a[0, 0], b[1, 2] = np.nan, np.inf
    both(crossed, (a, b, v), (0, 1, 2))
    assert "crossed_by_steps_loop" in both(crossed_by_steps, (a[1:], b[2:], 3), (0,)).source if n < 3 else True
    both(crossed_by_steps, (rng.normal(size=(9, 3)), rng.normal(size=(9, 3)), 3), (0, 1))
    with pytest.raises(ValueError, match="dimension"):
        tangentc.value_and_grad(crossed, kernels="numba")(np.ones((9, 4)), np.ones((9, 4)), v)


def test_records(rng):
    for n, k in ((9, 20), (1, 9), (9, 1), (3, 2)):
        x, w, at = rng.normal(size=(n, 9)), rng.normal(size=k), rng.integers(-n, n, k)
        both(records, (x, w, at), (0, 1), equal=False)
    text = tangentc.value_and_grad(records, wrt=(0, 1), kernels="numba")
    source = text.source_for(rng.normal(size=(9, 11)), rng.normal(size=20), rng.integers(-9, 9, 20))
    assert source.count("@kernel") == 1 and "np.sum" not in source[source.index("def records_value_and_grad") :]


def test_axes_in_another_order(rng):
    for shape in ((9, 10, 11), (9, 9, 9), (2, 3, 2), (1, 1, 1)):
        both(axes_in_another_order, (rng.normal(size=shape), 1.5), (0, 1), equal=False)  # which NumPy adds up otherwise


@pytest.mark.parametrize("n", [0, 1, 2, 3, 8, 9, 20])
def test_arrays_side_by_side(rng, n):
    both(side_by_side, (rng.normal(size=n), rng.normal(size=n), 1.5), (0, 1, 2))
    if n:
        both(items, (rng.normal(size=n), 1.5), (0, 1))
    if n > 8:
        with pytest.raises(ValueError, match="shape"):
            tangentc.value_and_grad(side_by_side, kernels="numba")(np.ones(n), np.ones(n + 1), 1.5)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 8, 9, 20])
def test_along_an_axis(rng, n):
    both(along, (rng.normal(size=n),)) if n else None
    for m in (1, 2, 9):
        both(along_rows, (rng.normal(size=(n, m)),)) if n else None


def test_extremes_of_columns(rng):
    x = rng.normal(size=(9, 12))
    both(labelled, (x, rng.integers(-12, 12, 9)))
    x[2, 3] = np.nan
    both(labelled, (x, rng.integers(-12, 12, 9)))
    for shape in ((9, 1), (1, 9), (2, 2), (1, 1)):
        both(labelled, (rng.normal(size=shape), rng.integers(0, shape[1], shape[0])))
    compiled = tangentc.value_and_grad(labelled, kernels="numba")
    compiled(rng.normal(size=(9, 12)), np.zeros(9, int))
    with pytest.raises(IndexError):
        compiled(rng.normal(size=(9, 12)), np.full(9, 12))


def test_lengths_of_rows(rng):
    for shape in ((9, 10), (1, 1), (2, 3), (12, 2)):
        both(lengths_of_rows, (rng.normal(size=shape),))


def other_names(x, c):
    """`np.float64` and `np.asarray` give the array itself."""
    y, z = np.float64(x), np.asarray(x)
    y[0] *= 2.0
    z[1] += c * y[0]
    w = x * y + z * c
    return np.sum(w * w)


def lists_as_subscripts(x, c):
    x = x.copy()
    for _ in range(2):
        x[[0, 1]] = x[[1, 0]]
        np.add.at(x, [0, 0, 1], x[2] * c)
        x[[1, 2]] *= x[:2] + c
    return np.sum(x * x)


def every_product(x, c):
    out = np.zeros(len(x))
    np.einsum("ij,j->i", np.outer(x, x), x, out=out)
    y = np.einsum("i,j->ij", out, x * c)
    z = np.einsum("i,j->ji", out, x)
    w = y * z + y
    return np.sum(w * w)


@pytest.mark.parametrize("f", [other_names, lists_as_subscripts, every_product])
def test_what_the_programs_by_night_found(f, rng):
    for n in (3, 4, 7):
        x = rng.normal(size=n)
        (value, gradients), (expected, wanted) = (
            tangentc.value_and_grad(f, wrt=(0, 1), kernels=k)(x.copy(), 0.3) for k in ("numba", None)
        )
        np.testing.assert_allclose(value, expected, rtol=1e-12)
        for a, b in zip(gradients, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10)
