"""Lengths that are a few times another one: what a slice takes of such an axis, and code for other lengths."""

import numpy as np
import pytest

import tangentc
from tangentc import check_grads, grad
from tangentc.core.lengths import Length
from tangentc.core.types import Array
from tangentc.core.values import types_of
from tangentc.derivative import Derivative


def gates(W, U, c):
    """Four gates side by side, as many as there are columns; what is left may be one column, which broadcasts."""
    n = U.shape[0]
    z = np.sin(W) + c @ U
    i, f, o = z[:, :n], z[:, n : 2 * n], z[:, 2 * n : 3 * n]
    return np.sum((f * c + i * np.tanh(z[:, 3 * n :])) * o)


def halves(W, U, c):
    n = U.shape[1] // 2
    z = W + c @ U
    return np.sum(np.sin(z[:, :n]) * z[:, n:]) if z.shape[1] == 2 * n else np.sum(z**2)


def joined(W, U, c):
    z = np.concatenate([c, np.sin(c), W], axis=1)
    return np.sum(z[:, : U.shape[0]] ** 3) + np.sum(np.cos(z[:, U.shape[0] :]))


def from_behind(W, U, c):
    n = U.shape[0]
    z = W * 1.0
    z[:, 3 * n :] *= c
    z[:, n : 2 * n] -= z[:, 2 * n : 3 * n] * c
    return np.sum(z**2) + np.sum(z[:, 2 * n :] ** 3)


FORMS = [gates, halves, joined, from_behind]
SIZES = [(5, 9, 36), (5, 8, 32), (18, 9, 36), (9, 9, 36), (3, 4, 16), (2, 1, 4), (1, 9, 36), (5, 2, 8), (36, 12, 48)]


def arguments(rng, batch, n, width):
    return rng.normal(size=(batch, width)), rng.normal(size=(n, width)), rng.normal(size=(batch, n))


@pytest.mark.parametrize("function", FORMS)
def test_values_at_any_lengths_through_shared_code(function, rng):
    gradient = grad(function, wrt=(0, 1, 2))
    for sizes in SIZES + SIZES[::-1]:
        args = arguments(rng, *sizes)
        for a, b in zip(gradient(*args), grad(again(function), wrt=(0, 1, 2))(*args), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)
        check_grads(function, args, quiet=True)


@pytest.mark.parametrize("width", [10, 18, 19, 27, 28, 40])
def test_what_is_left_may_be_one_column(width, rng):
    """With 28 columns the last gate is one of them, and broadcasts, as with 10 the second one is."""
    gradient = grad(gates, wrt=(0, 1, 2))
    gradient(*arguments(rng, 5, 9, 36))
    args = arguments(rng, 5, 9, width)
    try:
        gates(*args)
    except ValueError:
        with pytest.raises(ValueError):
            gradient(*args)
        return
    for a, b in zip(gradient(*args), grad(again(gates), wrt=(0, 1, 2))(*args), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    check_grads(gates, args, quiet=True)


def again(function):
    """The same function, for which nothing compiled is kept."""
    return type(function)(function.__code__, dict(function.__globals__), function.__name__)


def test_nothing_is_summed_back_where_slices_fill_an_axis(rng):
    text = grad(gates, wrt=(0, 1, 2)).source_for(*arguments(rng, 5, 9, 36))
    assert "unbroadcast" not in text
    assert "unbroadcast" in grad(again(gates), wrt=(0, 1, 2)).source_for(*arguments(rng, 5, 9, 37))


def test_lengths_by_chance_are_compiled_for_no_more_than_twice(rng, monkeypatch):
    """A batch of 18, 27, 36, 45 for nine columns: multiples that mean nothing."""
    compiled = []
    compile_ = Derivative._compile_kept
    monkeypatch.setattr(Derivative, "_compile_kept", lambda self, *a: compiled.append(a) or compile_(self, *a))
    gradient = grad(again(gates), wrt=(0, 1, 2))
    for batch in (18, 27, 36, 45, 54, 63, 19, 8, 72):
        gradient(*arguments(rng, batch, 9, 36))
    assert len(compiled) <= 4


def test_types_say_multiples():
    types = types_of([np.ones((40, 3)), np.ones(10), np.ones(20), np.ones(23), 10, 40])
    n = types[1].shape[0]
    assert types[0] == Array("float64", (Length(n.symbol, 0, 4), 3)) and types[2].shape == (Length(n.symbol, 0, 2),)
    assert types[3].shape[0].symbol != n.symbol
    assert types[4].value == n and types[5].value == Length(n.symbol, 0, 4)


def test_exported_code_says_what_it_was_made_for(tmp_path, rng):
    tangentc.export(grad(gates), tmp_path / "gates_grad.py", *arguments(rng, 5, 9, 36))
    scope = {}
    exec((tmp_path / "gates_grad.py").read_text(), scope)
    (made,) = (v for k, v in scope.items() if k.endswith("_grad"))
    args = arguments(rng, 5, 12, 48)
    np.testing.assert_allclose(made(*args), grad(again(gates))(*args))
    with pytest.raises(ValueError, match="was made for"):
        made(*arguments(rng, 5, 9, 28))


def test_an_integer_of_a_loop_may_be_any_axis():
    """Types of what is moved to an axis that only the run knows: no length is believed that another axis would have."""

    def shortened(x, places):
        for k in range(2, np.ndim(x)):
            x = np.moveaxis(np.moveaxis(x, k, -1)[..., : places[k - 2]], -1, k)
        return x

    def f(x, c):
        return np.sum(shortened(x, (6, 5)) * c)

    x, c = np.arange(2.0 * 3 * 8 * 8).reshape(2, 3, 8, 8), np.cos(np.arange(180.0)).reshape(2, 3, 6, 5)
    wanted = np.zeros_like(x)
    wanted[:, :, :6, :5] = c
    np.testing.assert_array_equal(tangentc.grad(f)(x, c), wanted)
