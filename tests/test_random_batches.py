"""Random programs for a batch against the loop over the examples: values, and derivatives in both orders."""

import numpy as np
import pytest
from batches import assert_same, loop
from programs_of_batches import program

import tangentc
from tangentc.core import texts

TOTAL = """
def total(x, A, s, i):
    v, n, M = f(x, A, s, i)
    return np.sum(v) + n + np.sum(M * M)
"""


def drawn(seed, size=5):
    """The functions of a program, arguments, and the axes along which these hold examples."""
    namespace = {"__name__": "__main__"}
    texts.run(program(seed) + TOTAL, f"program of a batch {seed}", namespace)
    rng = np.random.default_rng(seed)
    axes = tuple(0 if rng.random() < 0.6 else None for _ in range(4))
    axes = axes if any(a is not None for a in axes) else (0, 0, None, 0)
    x, A = rng.normal(size=(size, 4)), rng.normal(size=(size, 4, 4)) + 3 * np.eye(4)
    whole = (x, A, rng.normal(size=size), rng.integers(0, 4, size))
    args = tuple(a if axis == 0 else a[0].item() if a.ndim == 1 else a[0] for a, axis in zip(whole, axes))
    return namespace, args, axes


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.filterwarnings("ignore")
def test_values(seed):
    made, args, axes = drawn(seed)
    before = [np.copy(a) for a in args]
    try:
        want = loop(made["f"], args, axes)
    except Exception:  # the program itself raises
        pytest.skip("the program raises")
    assert_same(tangentc.vmap(made["f"], axes)(*args), want, 1e-9)
    assert all(np.array_equal(a, b) for a, b in zip(args, before))


@pytest.mark.parametrize("seed", [2, 26, 45, 60, 100, 7])
@pytest.mark.filterwarnings("ignore")
def test_values_in_single_precision(seed):
    made, args, axes = drawn(seed)
    args = tuple(a.astype(np.float32) if getattr(a, "dtype", None) == np.float64 else a for a in args)
    assert_same(tangentc.vmap(made["f"], axes)(*args), loop(made["f"], args, axes))


@pytest.mark.parametrize("seed", [3, 14, 28, 36, 59, 165, 233, 252, 435])
@pytest.mark.filterwarnings("ignore")
def test_derivatives(seed):
    made, args, axes = drawn(seed)
    gradient = tangentc.grad(made["total"], (0, 1, 2))
    want = loop(gradient, args, axes)
    assert_same(tuple(tangentc.vmap(gradient, axes)(*args)), want, 1e-7)
    made["batched"] = tangentc.vmap(made["total"], axes)
    texts.run("def whole(x, A, s, i):\n    return np.sum(batched(x, A, s, i))\n", f"sum of a batch {seed}", made)
    summed = tuple(w if axis == 0 else np.sum(w, axis=0) for w, axis in zip(want, axes))
    assert_same(tuple(map(np.asarray, tangentc.grad(made["whole"], (0, 1, 2))(*args))), summed, 1e-7)
