"""An adjoint sums the rows of a matrix before it multiplies them, not the rows of the product."""

import re

import numpy as np
import pytest

import tangentc


def biased(b, W):
    x = np.arange(12.0).reshape(4, 3)
    return np.sum(np.tanh((x - b) @ W))


def centred(c, F):
    x = np.linspace(0, 1, 12).reshape(4, 3)
    return np.sum(np.sin((x - c[:, None, :]) @ np.swapaxes(F, 1, 2)))


def row_of_one(b, W):
    return np.sum(np.sin((b + np.zeros((1, 3))) @ W))


def changed_between(b, W):
    x = np.arange(12.0).reshape(4, 3)
    total = 0.0
    for k in range(2):
        V = W.copy()
        total += np.sum(np.tanh((x - b) @ V))
        V[0] = k * b[0]
        total += np.sum(V)
    return total


def transposed(b, W):
    x = np.arange(12.0).reshape(4, 3)
    return np.sum(np.cos(W.T @ (x - b).T))


CASES = [
    (biased, (3,), (3, 2)), (centred, (5, 3), (5, 2, 3)), (row_of_one, (3,), (3, 2)), (changed_between, (3,), (3, 2)),
    (transposed, (3,), (3, 2)), (centred, (1, 3), (5, 2, 3)), (biased, (1,), (3, 2)),
]  # fmt: skip


@pytest.mark.parametrize("f, b, W", CASES, ids=lambda v: getattr(v, "__name__", str(v)))
@pytest.mark.parametrize("kernels", [None, "numba"])
def test_of_products(f, b, W, kernels, rng):
    if kernels:
        pytest.importorskip("numba")
    args = rng.normal(size=b), rng.normal(size=W)
    tangentc.check_grads(f, args)
    expected = tangentc.grad(f, (0, 1))(*args)
    for a, e in zip(tangentc.grad(f, (0, 1), kernels=kernels)(*args), expected, strict=True):
        np.testing.assert_allclose(a, e, rtol=1e-11, atol=1e-12)


def texts(f, b, W, rng):
    return tangentc.grad(f, 0).source_for(rng.normal(size=b), rng.normal(size=W))


def test_what_the_text_says(rng):
    assert "np.sum(" in (text := texts(biased, (3,), (3, 2), rng)) and "axis=0) @ W.T" in text
    text = texts(centred, (5, 3), (5, 2, 3), rng)
    assert re.search(r"axis=1, keepdims=True\)\s+@ F\)\[:, 0\]", text)


def test_no_rows_at_all(rng):
    def f(c, x, F):
        return np.sum(np.sin((x - c[:, None, :]) @ F))

    c, F = rng.normal(size=(2, 3)), rng.normal(size=(2, 3, 4))
    for x in (np.zeros((0, 3)), np.zeros((1, 3)), np.zeros((6, 3))):
        np.testing.assert_allclose(
            tangentc.grad(f)(c, x, F), -np.sum(np.cos((x - c[:, None]) @ F) @ np.swapaxes(F, 1, 2), axis=1), atol=1e-13
        )


def test_the_users_own_sum_stays():
    def f(x, W):
        return np.sum(np.sum(x @ W, axis=0) ** 2)

    text = tangentc.value_and_grad(f).source_for(np.ones((4, 3)), np.ones((3, 2)))
    assert "np.sum(x @ W, axis=0)" in text
