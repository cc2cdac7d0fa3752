"""Runs of statements on arrays as compiled functions: what they become, and what NumPy gives."""

import operator
from types import SimpleNamespace

import numpy as np
import pytest
from test_kernels import both

import tangentc
from tangentc.core import ops
from tangentc.core.nodes import Assign, Const, For, Store
from tangentc.core.types import Array, Scalar
from tangentc.kernels.rows import in_rows

pytest.importorskip("numba")


def softmax(x, w):
    shifted = x - np.max(x, axis=-1, keepdims=True)
    e = np.exp(shifted)
    p = e / np.sum(e, axis=-1, keepdims=True)
    return np.sum(p * w)


def standardised(x, gain):
    """Rows and columns are reduced."""
    centred = x - np.mean(x, axis=1, keepdims=True)
    scaled = centred / (1.0 + np.sum(centred**2, axis=1, keepdims=True))
    columns = np.sum(scaled * gain, axis=0)
    return np.sum(columns**2 * gain)


def around_a_solver(A, b, c):
    """What needs the solver waits for it; what does not is compiled with what stands before it."""
    y = b * c + 1.0
    z = np.linalg.solve(A, y)
    w = y * y - b
    v = w * c + y
    return np.sum(z * z) + np.sum(v * w)


def held_by_others(x, y):
    """What a tuple, a list or a dict holds is read before it is written."""
    u, v, w = x + y, x - y, y + 2.0 * x
    pair, items, named = (u, v), [v, u], {"w": w}
    a = np.hstack(pair)
    b = np.hstack(items)
    c = np.sort(named["w"])
    u *= 3.0
    v += u
    w -= v * 2.0
    return np.sum(a) + np.sum(b * b) + np.sum(c * y) + np.sum(u) + np.sum(v) + np.sum(w)


def held_by_a_tuple(x, y):
    u, v = x + y, x - y
    a = np.hstack((u, v))
    u *= 3.0
    v += u * y
    w = u + v
    z = w * w
    return np.sum(a) + np.sum(z * y)


def of_complex_numbers(x, y):
    c = x + 1j * y
    a = np.abs(c) * x
    c *= 2.0 + y
    b = np.real(c) * x + y
    z = b * b - a
    return np.sum(z * y) + np.sum(a)


def through_a_view(x, c):
    y = x * c
    top = y[1:]
    top *= x[:-1]
    z = y * y + x
    return np.sum(z * y, axis=1)[0] + np.sum(top)


def extremes(x):
    a = np.max(x * x, axis=1)
    b = np.min(x + 1.0, axis=1)
    return np.sum(a * b + a) + np.max(x) * np.min(x * 2.0)


def added_at(x, at):
    out = np.zeros(4)
    y = x * x + 1.0
    np.add.at(out, at, y * x)
    np.add.at(out, at[::-1], y)
    return np.sum(out**2)


def short(x):
    return np.sum(x**2)


def test_rows_are_gone_through_once(rng):
    text = both(softmax, (rng.normal(size=(9, 20)), rng.normal(size=(9, 20))), (0, 1), equal=False).source
    loop = text[text.index("@kernel") : text.index("def softmax_value_and_grad")]
    assert loop.count("    for i in range(n):") == 1, "all of a row is done before the next one"
    assert loop.count("np.empty((") == 3, "what leaves the kernel, and no more, has all rows"


@pytest.mark.parametrize("columns", [1, 2, 7, 8, 9, 130, 300])
def test_sums_have_the_bits_of_numpy(rng, columns):
    for dtype in (np.float64, np.float32):
        x, gain = rng.normal(size=(5, columns)).astype(dtype), rng.normal(size=columns).astype(dtype)
        value, _ = tangentc.value_and_grad(standardised, wrt=(0, 1), kernels="numba")(x, gain)
        assert value == standardised(x, gain) and value.dtype == dtype


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (4, 3)])
def test_shapes(rng, shape):
    both(standardised, (rng.normal(size=shape), rng.normal(size=shape[1])), (0, 1))


def test_layouts(rng):
    x, gain = rng.normal(size=(6, 8)), rng.normal(size=4)
    both(standardised, (x[::-1, ::2], gain), (0, 1), equal=False)
    both(standardised, (np.asfortranarray(x[:, :4]), gain), (0, 1), equal=False)


def test_what_has_no_words_waits_with_what_needs_it(rng):
    A, b = np.eye(3) + 0.1 * rng.normal(size=(3, 3)), rng.normal(size=3)
    text = both(around_a_solver, (A, b, 1.5), (0, 1, 2)).source
    whole = text[text.index("def around_a_solver_value_and_grad") :]
    first = whole[: whole.index("np.linalg.solve")]
    assert "around_a_solver_fused(" in first and "y * y" not in whole


def test_what_waits_is_not_overwritten(rng):
    both(held_by_a_tuple, (rng.normal(size=9), rng.normal(size=9)), (0, 1))
    both(of_complex_numbers, (rng.normal(size=9), rng.normal(size=9)), (0, 1))
    both(held_by_others, (rng.normal(size=9), rng.normal(size=9)), (0, 1))


def test_views_and_stores(rng):
    both(through_a_view, (rng.normal(size=(4, 3)), 1.5), (0, 1))


def test_extremes(rng):
    x = rng.normal(size=(4, 5))
    both(extremes, (x,))
    x[1, 2] = np.nan
    both(extremes, (x,))
    with pytest.raises(ValueError, match="zero-size"):
        tangentc.value_and_grad(extremes, kernels="numba")(np.ones((3, 0)))


def test_additions_by_index_arrays(rng):
    x, at = rng.normal(size=6), np.array([0, 1, -1, 2, 1, 1])
    both(added_at, (x, at))
    with pytest.raises(IndexError):
        tangentc.value_and_grad(added_at, kernels="numba")(x, at + 4)


def test_a_row_is_no_room_for_what_the_next_round_reads():
    """``for step in over: for i in over: v = u[i, 0]; u[i, 0] = v`` needs all of ``u``, the inner loop alone does not."""
    integer, real = Scalar("int64", True), Scalar("float64")
    types = SimpleNamespace(of_name={"n": integer, "i": integer, "v": real, "u": Array("float64", (9, 3))})
    types.of = lambda a: types.of_name.get(a, integer)
    makes = Assign("shape", ops.make_tuple, ("n", Const(3))), Assign("u", np.empty, ("shape",))
    read = Assign("key", ops.make_tuple, ("i", Const(0))), Assign("v", operator.getitem, ("u", "key"))
    rows = For("i", "over", (*read, Store("u", "key", "v")))
    over = Assign("over", range, (Const(0), "n"))
    steps = (over, *makes, For("step", "over", (rows,)))
    assert in_rows(steps, types, set()) == steps
    assert in_rows((over, *makes, rows), types, set()) != (over, *makes, rows)


def test_what_is_short_stays_numpy(rng):
    assert "@kernel" not in both(short, (rng.normal(size=4),)).source
