"""Sums of products in adjoints are contractions; the user's own sums stay."""

import numpy as np
import pytest

from tangentc import check_grads, grad
from tangentc.compiler import context, passes


def weighted_rows(x, y):
    return np.sum(np.sin(x * y[:, :1] * x[0, 0]))


def every_pair(x, y):
    a, b = np.sin(x[:, 0]), y[:, 1]
    return np.sum((a[:, None] * b) ** 2) + np.sum(np.cos(a[None, :] * b[:, None]))


def outer_of_matrices(x, y):
    return np.sum(np.tanh(np.sum(x[:, None, :] * np.sin(y)[None, :, :], axis=2)))


def attraction(x, y):
    d = x[None, :, :] - y[:, None, :]
    return np.sum(np.sum((np.sum(d * d, axis=2) + 1) ** -1.5 * y[:, 0], axis=1))


def kept(x, y):
    s = np.sum(y * x, axis=1, keepdims=True)
    t = np.sum(x * y, axis=0, keepdims=True)
    return np.sum((x * s) ** 2) * np.sum(x / (1 + t**2))


def changed_between(x, y):
    a, b = x * 1.0, y * 1.0
    total = 0.0
    for k in range(3):
        total += np.sum(a * b) * x[0, k % 2]
        a[0] = b[0] * a[-1]
    return total


def poles(x, y):
    return np.sum((x + 3) ** -1 * y) + np.sum((x + 3) ** -2.5) + np.sum((y + 9) ** -0.5 * x)


FORMS = [weighted_rows, every_pair, outer_of_matrices, attraction, kept, changed_between, poles]


def again(function):
    """The same function, for which nothing compiled is kept."""
    return type(function)(function.__code__, dict(function.__globals__), function.__name__)


@pytest.mark.parametrize("shape", [(9, 10), (3, 2), (1, 2), (8, 2)])
@pytest.mark.parametrize("function", FORMS)
def test_values(function, shape, rng):
    check_grads(function, (rng.uniform(-1, 1, shape), rng.uniform(-1, 1, shape)), quiet=True)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("function", FORMS)
def test_contracting_changes_no_value(function, dtype, rng, monkeypatch):
    if dtype == "complex128":  # of which nothing is contracted
        real = lambda x, y: np.real(function(x, y))
        x, y = (rng.uniform(-1, 1, (9, 10)) + 1j * rng.uniform(-1, 1, (9, 10)) for _ in range(2))
        assert "einsum" not in grad(real).source_for(x, y)
        return
    x, y = (rng.uniform(-1, 1, (9, 10)).astype(dtype) for _ in range(2))
    found = grad(function, wrt=(0, 1))(x, y)
    steps = tuple(step for step in passes.SIMPLIFY if step.name != "contract")
    monkeypatch.setattr(context.Context, "steps", steps)
    without = grad(again(function), wrt=(0, 1))
    assert "einsum" not in without.source_for(x, y) and "vdot" not in without.source_for(x, y)
    for a, b in zip(found, without(x, y), strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        np.testing.assert_allclose(
            a, b, rtol=1e-10 if dtype == "float64" else 1e-3, atol=1e-12 if dtype == "float64" else 1e-4
        )


def text(function, wrt=0, shape=(9, 10)):
    return grad(function, wrt=wrt).source_for(np.ones(shape), np.ones(shape))


def test_products_of_matrices_and_vectors_are_found():
    found = text(outer_of_matrices, (0, 1))
    assert found.count(" @ ") == 2 and "einsum" not in found
    assert "np.vdot(" in text(weighted_rows)
    assert 'np.einsum("ij,ij->i", ' in text(kept, (0, 1))
    assert "-2.5" not in text(attraction, (0, 1))


def test_what_the_user_sums_stays():
    def plain(x, y):
        return np.sum(x * y) * np.sum(np.sum(x * y, axis=1) ** 2)

    found = text(plain)
    assert found.count("np.sum(x * y") >= 2 and "einsum" not in found
