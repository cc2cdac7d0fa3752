"""Views of which an entry of the array may be several: `sliding_window_view` and `as_strided`."""

import bisect

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided, sliding_window_view

import tangentc
from tangentc.inspection.check import five_point

X = np.random.default_rng(0).normal(size=(4, 3))


def overlapping(x):
    v = x.ravel()
    return np.sum(as_strided(v, (10, 3), (8, 8)) ** 2)


def of_a_column(x):
    v = x[:, 1]
    return np.sum(as_strided(v, (2, 2), v.strides * 2) ** 2)


def of_a_copied_column(x):
    return np.sum(as_strided(x[:, 1].copy(), (3, 2), (8, 8)) ** 3) + np.sum(as_strided(x[:, 1] * 1.0, (2,), (16,)) ** 2)


def of_a_transpose_in_order(x):
    return np.sum(as_strided(np.ascontiguousarray(x.T), (2, 5), (8, 16)) ** 2 * np.arange(10).reshape(2, 5))


def of_a_copy_of_what_changes(x):
    y = x.ravel() * 1
    y[0] = 3.0
    return np.sum(as_strided(y.copy(), (10, 3), (8, 8)) ** 2)


def of_float32(x):
    return np.sum(as_strided(x.ravel().astype(np.float32), (4,), (4,)).astype(float) * x[0, 0])


def of_nothing(x):
    return np.sum(as_strided(x.ravel(), (0, 2), (8, 8))) + np.sum(x)


def through_a_function(x):
    return np.sum(windows(x.ravel(), 4)[::2, ::-1] ** 2 * np.arange(4.0))


def windows(x, n):
    return as_strided(x, (len(x) - n + 1, n), x.strides * 2)


def correlated(x):
    return np.sum(np.einsum("ijkl,kl->ij", sliding_window_view(x, (2, 2)), x[:2, :2]) ** 2)


def nested_lists(x):
    rows = x.reshape(2, 3, 2, 1).tolist()
    rows.append(rows[0])
    return rows[2][1][0][0] ** 2 + np.sum(x).tolist() ** 2 + sum(x.ravel().tolist())


def changed_list(x):
    items = x.ravel().tolist()
    items[0] = 5.0
    items.append(items[1] * 2)
    return sum([a * a for a in items])


def found_in_what_changes(x):
    items = [0.0, 3.0]
    k = bisect.bisect(items, x[0, 0])
    items.insert(0, -1.0)
    return (k + bisect.bisect(items, x[0, 0], key=lambda t: t)) * x[0, 0]


def found_among_what_moves(x):
    items = sorted(x[0])
    k = bisect.bisect_left(items, x[1, 1], 0, 2)
    items.insert(k, x[1, 1])
    return sum([(j + 1) * a for j, a in enumerate(items)]) + x[bisect.bisect(np.array([-5.0, 5.0]), x[0, 1]), 0]


PROGRAMS = (
    overlapping, of_a_column, of_a_copied_column, of_a_transpose_in_order, of_a_copy_of_what_changes,
    of_nothing, through_a_function, correlated, nested_lists, changed_list, found_in_what_changes,
    found_among_what_moves,
)  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_both_modes_agree_with_differences(f):
    for direction in np.eye(12).reshape(12, 4, 3):
        want = five_point(lambda t, d=direction: f(X + t * d), 1e-4)
        np.testing.assert_allclose(tangentc.jvp(f, (X,), (direction,))[1], want, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(np.sum(tangentc.grad(f)(X) * direction), want, rtol=1e-8, atol=1e-8)


def test_strides_are_those_of_the_run():
    def f(v):
        return np.sum(as_strided(v, (2,), v.strides) ** 2)

    gradient, v = tangentc.grad(f), np.arange(8.0)
    for given in (v[:3], v[::4], v[::-3]):
        expected = np.zeros(len(given))
        expected[:2] = 2 * given[:2]
        np.testing.assert_array_equal(gradient(given), expected)


def test_of_single_precision():
    f = of_float32
    want = np.zeros((4, 3))
    want[0] = X[0, 0]
    want[0, 0] += np.sum(X.ravel()[:4])
    want[1, 0] = X[0, 0]
    np.testing.assert_allclose(tangentc.grad(f)(X), want, rtol=1e-6)


def written_after(x):
    y = np.zeros(12)
    v = as_strided(y, (10, 3), (8, 8))
    y[:] = x.ravel()
    return np.sum(v**2)


def written_through(x):
    y = x.ravel() * 1
    v = as_strided(y, (5,), (16,))
    v[0] = 5.0
    return np.sum(v**2) + np.sum(y * x.ravel())


def written_after_a_function(x):
    y = x.ravel() * 1
    v = windows(y, 3)
    y[0] = 3.0
    return np.sum(v**2)


def windows_written_through(x):
    y = x.ravel() * 1
    v = sliding_window_view(y, 3, writeable=True)
    v[0] = 0
    return np.sum(y * x.ravel())


def kept_in_a_list_and_written(x):
    y = x.ravel() * 1
    views = [windows(y, 3)]
    y[1] = x[0, 0]
    return np.sum(views[0] ** 2)


WRITTEN = (
    written_after,
    written_through,
    written_after_a_function,
    windows_written_through,
    kept_in_a_list_and_written,
)


@pytest.mark.parametrize("f", WRITTEN, ids=lambda f: f.__name__)
def test_views_of_what_is_written_are_refused(f):
    for derivative in (lambda: tangentc.grad(f)(X), lambda: tangentc.jvp(f, (X,), (X,))):
        with pytest.raises(tangentc.TangentcError):
            derivative()


def windows_of_what_is_written(x):
    y = np.zeros(12)
    v = sliding_window_view(y, 3)
    y[:] = x.ravel()
    return np.sum(v**2)


def test_windows_of_what_is_written():
    with pytest.raises(tangentc.UnsafeMutation, match="sliding_window_view gives a view of"):
        tangentc.grad(windows_of_what_is_written)(X)
    want = five_point(lambda t: windows_of_what_is_written(X + t * X), 1e-4)
    np.testing.assert_allclose(tangentc.jvp(windows_of_what_is_written, (X,), (X,))[1], want, rtol=1e-8)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(as_strided(np.asfortranarray(x), (2, 3), (8, 16)) * np.arange(3.0)),
        lambda x: np.sum(as_strided(x.T.copy() * 1.0, (2, 3), (8, 16)) * np.arange(3.0)),
        lambda x: np.sum(as_strided(x, (2, 3), (8, 16)) * np.arange(3.0)),
    ],
)
def test_what_may_lie_otherwise_is_refused(f):
    for derivative in (lambda: tangentc.grad(f)(X), lambda: tangentc.jvp(f, (X,), (X,))):
        with pytest.raises(tangentc.NotDifferentiable, match="in which order its entries lie"):
            derivative()


def test_memory_of_others_is_refused():
    with pytest.raises(ValueError, match="no entry of the array"):
        tangentc.grad(lambda x: np.sum(as_strided(x[:, 0], (4, 3), (24, 8)) ** 2))(X)


def test_lists_of_five_axes_are_refused():
    with pytest.raises(tangentc.NotDifferentiable, match="tolist of an array of 5 axes"):
        tangentc.grad(lambda x: x.reshape(2, 3, 2, 1, 1).tolist()[0][0][0][0][0])(X)
