"""Adjoints of stencils ask which terms an entry has at the edges alone, and round otherwise where nothing is decided."""

import numpy as np
import pytest

import tangentc

pytest.importorskip("numba")


def steep(u, c, steps):
    u = u.copy()
    for _ in range(steps):
        u[2:-1] = u[2:-1] - c * u[2:-1] * (u[3:] - u[:-3])
    return np.sum(u**3)


def upwind(u, c, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:] = u[1:] - c * u[1:] * (u[1:] - u[:-1])
    return np.sum(u**2)


def plate(u, r, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1, 1:-1] += r * u[1:-1, 1:-1] * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
    return np.sum(u * u)


def down_rows(u, r, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += r * u[1:-1] * (u[2:] - u[:-2])
    return np.sum(u * u)


def block(u, r, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1, 1:-1, 1:-1] += r * (u[2:, 1:-1, 1:-1] * u[:-2, 1:-1, 1:-1] + u[1:-1, 2:, :-2] - u[1:-1, :-2, 2:])
    return np.sum(u * u)


@pytest.mark.parametrize(
    ("f", "rank"),
    [(steep, 1), (upwind, 1), (plate, 2), (down_rows, 2), (block, 3)],
    ids=lambda p: getattr(p, "__name__", p),
)
def test_edges_and_inside_are_what_numpy_adds(f, rank, rng):
    compiled, plain = (tangentc.value_and_grad(f, wrt=(0, 1), kernels=k) for k in ("numba", None))
    for n in range(1 if f is upwind else 0, 8):
        for last in {n, 2, 3}:
            u = rng.normal(size=(*(n,) * (rank - 1), last))
            if f in (steep, upwind) and u.size < 3 or min(u.shape) < 2:
                continue
            value, (u_bar, c_bar) = compiled(u, 0.1, 3)
            expected, (u_wanted, c_wanted) = plain(u, 0.1, 3)
            assert value == expected
            np.testing.assert_allclose(u_bar, u_wanted, rtol=1e-10, atol=1e-13)
            np.testing.assert_allclose(c_bar, c_wanted, rtol=1e-9, atol=1e-12)
    text = compiled.source_for(rng.normal(size=(9,) * rank), 0.1, 3)
    assert ("if within & within" if f is down_rows else "for edge in range(") in text


def test_infinity_at_an_edge_counts_where_it_does(rng):
    compiled, plain = (tangentc.grad(steep, kernels=k) for k in ("numba", None))
    for at in (0, 1, -1):
        u = rng.normal(size=12)
        u[at] = np.inf
        with np.errstate(invalid="ignore"):
            np.testing.assert_allclose(compiled(u, 0.1, 2), plain(u, 0.1, 2), rtol=1e-10)


def summed(x, y, z):
    s = 0.0
    for i in range(len(x)):
        s = s + x[i] * y[i] * z[i]
    return s


def bounced(x, y, z):
    """Falls past zero where two products, rounded alike, differ."""
    s = 0.0
    for i in range(len(x)):
        d = x[i] * y[i] - z[i] * x[i]
        s = s + (d * 3.0 if d > 0.0 else x[i] * d + x[i])
    return s


def test_what_decides_is_rounded_as_in_the_function(rng):
    x, y = rng.normal(size=(2, 40))
    assert "@relaxed_kernel\ndef summed_loop_adjoint" in tangentc.grad(summed, kernels="numba").source_for(x, y, y)
    compiled, plain = (tangentc.grad(bounced, kernels=k) for k in ("numba", None))
    np.testing.assert_allclose(compiled(x, y, y), plain(x, y, y), rtol=1e-14)
    text = compiled.source_for(x, y, y)
    assert "relaxed_kernel" not in text or " > 0.0" not in text.partition("@relaxed_kernel")[2].partition("\n\n\n")[0]


def far(x, c, w):
    """A user's loop over entries, with numbers that are asked for too."""
    y = np.zeros(len(x))
    for i in range(2, len(x) - 2):
        y[i] = x[i - 2] - 4 * x[i - 1] * c + 6 * x[i] * w - 4 * x[i + 1] + x[i + 2]
    return np.sum(y * y)


def rows_of(A, c):
    B = np.zeros_like(A)
    for i in range(1, A.shape[0] - 1):
        for j in range(1, A.shape[1]):
            B[i, j] = c * A[i - 1, j] + A[i + 1, j] * A[i, j - 1]
    return np.sum(B**2)


def chained(x, c):
    """What one trip adds up, the next one reads."""
    s = 0.0
    y = np.zeros(len(x))
    for i in range(1, len(x)):
        s = s + c * x[i]
        y[i] = s * x[i - 1]
    return np.sum(y)


@pytest.mark.parametrize(("f", "rank", "numbers"), [(far, 1, 2), (rows_of, 2, 1), (chained, 1, 1)])
def test_loops_that_also_add_up_numbers(f, rank, numbers, rng):
    wrt = tuple(range(1 + numbers))
    compiled, plain = (tangentc.value_and_grad(f, wrt=wrt, kernels=k) for k in ("numba", None))
    for n in range(1, 10):
        args = (rng.normal(size=(n,) * rank), *rng.normal(size=numbers))
        value, gradient = compiled(*args)
        expected, wanted = plain(*args)
        assert value == expected
        for a, b in zip(gradient, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-13)
    adjoint = compiled.source_for(*args).partition("_adjoint(")[2]
    if f is not chained:
        assert "x_bar[i] += " not in adjoint and "A_bar[i, j] += " not in adjoint, "additions are gathered"


def jumps(u, w, steps):
    """Two arrays that take turns."""
    u = u.copy()
    v = w.copy()
    for _ in range(steps):
        v[1:-1] = 0.5 * (u[2:] - u[:-2])
        u[1:-1] = 0.3 * v[1:-1] + 0.25 * v[2:] + v[:-2]
    return np.sum(u * u) + np.sum(v)


def test_an_array_is_read_until_it_is_cleared(rng):
    compiled, plain = (tangentc.grad(jumps, wrt=(0, 1), kernels=k) for k in ("numba", None))
    for n in range(2, 9):
        u, w = rng.normal(size=(2, n))
        for a, b in zip(compiled(u, w, 3), plain(u, w, 3), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-13)
    assert "rhs_bar" not in compiled.source_for(u, w, 3), "no copy of what is due to an array"


def edge_of_a_domain(x, y, z):
    s = 0.0
    for i in range(len(x)):
        s = s + (x[i] * y[i] - z[i] * x[i]) ** 1.5
    return s


def test_a_root_of_what_is_computed_again_is_rounded_as_in_the_function(rng):
    x, y = rng.uniform(size=(2, 40))
    compiled = tangentc.grad(edge_of_a_domain, wrt=(0, 1), kernels="numba")
    for got, wanted in zip(compiled(x, y, y.copy()), tangentc.grad(edge_of_a_domain, wrt=(0, 1))(x, y, y.copy())):
        np.testing.assert_array_equal(got, wanted)
    kernels = compiled.source_for(x, y, y).split("@relaxed_kernel")[1:]
    assert not any("** 0.5" in text.partition("\n\n\n")[0] and " - z[i]" in text for text in kernels)


def in_turns(u, steps):
    a, b = u.copy(), np.zeros_like(u)
    for _ in range(steps):
        b[1:-1] = 0.5 * a[1:-1] + 0.25 * (a[2:] + a[:-2])
        a[1:-1] = 0.5 * b[1:-1] + 0.25 * (b[2:] - b[:-2])
    return np.sum(a**2)


def in_turns_both_used(u, steps):
    a, b = u.copy(), u * u
    for _ in range(steps):
        b[1:-1] = 0.5 * a[1:-1] + 0.25 * (a[2:] + a[:-2])
        a[1:-1] = 0.5 * b[1:-1] + 0.25 * (b[2:] - b[:-2])
    return np.sum(a**2) + np.sum(b**3)


def in_turns_until(u, steps):
    a, b = u.copy(), np.zeros_like(u)
    for t in range(steps):
        b[1:-1] = 0.5 * a[1:-1] + 0.25 * (a[2:] + a[:-2])
        if t == 2:
            break
        a[1:-1] = 0.5 * b[1:-1] + 0.25 * (b[2:] - b[:-2])
    return np.sum(a**2) + b[1]


def in_turns_read_before(u, steps):
    a, b = u.copy(), np.zeros_like(u)
    total = 0.0
    for _ in range(steps):
        b[1:-1] = 0.5 * a[1:-1] + 0.25 * (a[2:] + a[:-2])
        a[1:-1] = 0.5 * b[1:-1] + 0.25 * (b[2:] - b[:-2])
        total += b[2] * a[0]
    return np.sum(a**2) + total


@pytest.mark.parametrize("f", [in_turns, in_turns_both_used, in_turns_until, in_turns_read_before])
def test_what_a_trip_leaves_clear_is_cleared_where_the_next_begins(f, rng):
    compiled, plain = (tangentc.grad(f, kernels=k) for k in ("numba", None))
    for n in (4, 5, 9):
        for steps in range(6):
            u = rng.normal(size=n)
            np.testing.assert_allclose(compiled(u, steps), plain(u, steps), rtol=1e-12, atol=1e-14)
    if f is in_turns:
        loop = compiled.source_for(u, 3).split("def in_turns_loop_adjoint")[1].split("\ndef ")[0]
        assert "\n    for i in range(n - 2):\n        b_bar[i + 1] = 0.0" in loop  # behind the loop, not in it


@pytest.mark.parametrize("shape", [(5, 6), (6, 5, 7), (4, 9, 4)])
def test_rows_at_an_edge_have_their_own_terms(shape, rng):
    """Infinity stays where NumPy has it."""
    f = plate if len(shape) == 2 else block
    compiled, plain = (tangentc.grad(f, kernels=k) for k in ("numba", None))
    for _ in range(20):
        u = rng.normal(size=shape)
        u[tuple(rng.integers(0, n) for n in shape)] = np.inf
        with np.errstate(invalid="ignore"):
            np.testing.assert_allclose(compiled(u, 0.1, 1), plain(u, 0.1, 1), rtol=1e-10, atol=1e-13)


def spread(u, c, steps):
    for _ in range(steps):
        u[1:-1] = u[1:-1] * u[2:] - c * u[1:-1] * u[:-2]
    return np.sum(u * u)


def spread_below(u, c, steps):
    u = u.copy()
    total = 0.0
    for t in range(steps):
        u[1:-1, 1:] = u[1:-1, 1:] * u[2:, 1:] + c * u[1:-1, 1:] * u[:-2, :-1]
        if t % 2:
            u[:, 1:] = u[:, 1:] * u[:, :-1]
        total += u[0, 0] * c
    return np.sum(u * u) + total


def spread_until(u, c, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] * u[2:] - c * u[1:-1] * u[:-2]
        if u[1] * u[1] > 4.0:
            break
    return np.sum(u * u)


def spread_of_two(u, c, steps):
    u, v = u.copy(), u * c
    for _ in range(steps):
        u[1:-1] = u[1:-1] * v[2:] - c * u[1:-1] * u[:-2]
        v[1:-1] = v[1:-1] * u[2:] + v[:-2] * v[1:-1]
    return np.sum(u * v)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("f", [spread, spread_below, spread_until, spread_of_two])
def test_two_arrays_take_turns(f, kind, rng):
    compiled, plain = (tangentc.grad(f, wrt=(0, 1), kernels=k) for k in ("numba", None))
    for n in range(2, 8):
        for steps in range(5):
            u = rng.uniform(0.2, 1.0, size=(n, n + 1) if f is spread_below else n).astype(kind)
            given = u[..., ::-1].copy()[..., ::-1] if n == 5 else u  # which does not lie in memory in order
            (a, b), (c, d) = compiled(given.copy(), kind(0.3), steps), plain(u.copy(), kind(0.3), steps)
            scale = {"rtol": 1e-9, "atol": 1e-12} if kind is np.float64 else {"rtol": 2e-4, "atol": 1e-5}
            np.testing.assert_allclose(a, c, **scale)
            np.testing.assert_allclose(b, d, **scale)
            assert a.dtype == kind
    if f in (spread, spread_of_two):
        name = "u" if f is spread else "v"
        swap = f"old_{name}_bar, new_{name}_bar = new_{name}_bar, old_{name}_bar"
        assert swap in compiled.source_for(u, kind(0.3), 2)


def spread_and_turned(u, b, c, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] * u[2:] - c * u[1:-1] * u[:-2]
        u[:] = b @ u
        w = u * u
        w[1:-1] += u[2:] * u[:-2]
        u[:] = b @ w @ b
    return np.sum(u * u)


def test_what_is_read_as_a_whole_takes_no_turns(rng):
    compiled, plain = (tangentc.grad(spread_and_turned, wrt=(0, 1, 2), kernels=k) for k in ("numba", None))
    for n in (3, 5, 12):
        for steps in range(4):
            args = rng.uniform(0.2, 0.5, size=(n, n)), rng.normal(size=(n, n)) / n, 0.3, steps
            for a, b in zip(compiled(*args), plain(*args), strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-10)
