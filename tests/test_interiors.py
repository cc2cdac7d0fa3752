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
    assert "for edge in range(" in compiled.source_for(rng.normal(size=(9,) * rank), 0.1, 3)


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
