"""What is known of shapes: axes that are counted, results whose shape is given, lengths that are multiples."""

from dataclasses import dataclass

import numpy as np
import pytest

import tangentc
from tangentc import adjoint_rule, operation
from tangentc.analysis.sampling import sampled
from tangentc.core.lengths import Length
from tangentc.core.types import Array
from tangentc.testing import assert_gradient


def test_axes_that_are_counted_are_known():
    def f(x):
        axes = (0,) + tuple(range(2, np.ndim(x)))
        return np.sum(np.mean(x, axis=axes, keepdims=True) * x)

    x = np.random.default_rng(0).normal(size=(3, 4, 5))
    assert_gradient(f, x)
    text = tangentc.grad(f).source_for(x)
    assert "unbroadcast" not in text and "axis=(0, 2)" in text


def test_no_axes_are_known_too():
    def f(x):
        axes = (0,) + tuple(range(2, np.ndim(x)))
        return np.sum(np.mean(x, axis=axes, keepdims=True) * x)

    assert_gradient(f, np.random.default_rng(0).normal(size=(3, 4)))


@pytest.mark.parametrize("ends", ["0, 1", "1, 3", "2, -1, -1", "3"])
def test_a_tuple_of_a_range_has_its_numbers(ends, tmp_path):
    path = tmp_path / "ranges.py"
    path.write_text(
        f"import numpy as np\ndef f(x):\n    t = tuple(range({ends}))\n    return np.sum(x) * (t[0] + len(t))\n"
    )
    space = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    assert_gradient(space["f"], np.ones(3))


def rows(x, w):
    """So many rows of so many columns."""
    return x @ w


@adjoint_rule(rows, linear="each")
def rows_rule(x, w, y, y_bar):
    return padded(y_bar @ w.T, size=np.shape(x)), padded(x.T @ y_bar, size=np.shape(w))


def padded(x, size=None):
    return np.reshape(x, size)


@adjoint_rule(padded, linear="jointly")
def padded_rule(x, y, y_bar, size=None):
    return padded(y_bar, size=np.shape(x))


operation(rows, pure=True, new=True, shaped=lambda x, w: (x[0], w[1]))
operation(padded, pure=True, new=True, shaped="size")


def test_what_is_given_a_shape_fits_without_being_fitted():
    def f(x, w, n):
        return np.sum(rows(x[:n], w) ** 2)

    x, w = np.random.default_rng(0).normal(size=(9, 3)), np.ones((3, 4))
    text = tangentc.grad(f, wrt=(0, 1)).source_for(x, w, 5)
    assert "unbroadcast" not in text and ".copy()" not in text.split("return w_bar")[0].split("padded")[-1]
    g = tangentc.grad(f, wrt=(0, 1))(x, w, 5)
    np.testing.assert_allclose(g[1], 2 * x[:5].T @ (x[:5] @ w))
    np.testing.assert_allclose(g[0][:5], 2 * (x[:5] @ w) @ w.T)
    assert not g[0][5:].any()


def test_a_result_that_is_not_used_costs_its_rule_nothing():
    def f(A):
        values, vectors = np.linalg.eigh(A)
        return np.sum(values**3)

    text = tangentc.grad(f).source_for(np.eye(3))
    assert "vectors_bar" not in text and "items" not in text


@dataclass
class Scaled:
    weight: np.ndarray
    running: np.ndarray

    def __call__(self, x):
        self.running = 0.9 * self.running + 0.1 * x
        return x * self.weight


class Two:
    def __init__(self):
        self.layers = [Scaled(np.ones(3), np.ones(3)), Scaled(np.ones(3), np.ones(3))]


def through(model, x):
    for layer in model.layers:
        x = layer(x)
    return np.sum(x**2)


def test_attributes_that_nothing_needs_are_not_read():
    lines = tangentc.value_and_grad(through).source_for(Two(), np.ones(3)).splitlines()
    assert not [line for line in lines if line.strip().endswith(".running")]


def test_multiples_of_a_length_make_no_large_samples():
    """Of 512 n and 16 n entries a sample would have a million, for each n that is tried."""
    n, any_ = Length("n4"), Length("?1")
    wide = Array("float32", (Length("n4", 0, 512), Length("n4", 0, 16), any_))
    fresh = iter(Length(f"?{k}") for k in range(100, 200))
    found = sampled(np.transpose, [wide], {}, lambda: next(fresh))
    assert found == Array("float32", (any_, Length("n4", 0, 16), Length("n4", 0, 512)))
    assert sampled(np.diff, [Array("float32", (n, Length("n4", 0, 512)))], {}, lambda: next(fresh)) == Array(
        "float32", (n, Length("n4", -1, 512))
    )
