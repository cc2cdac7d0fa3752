"""Parts of arrays that a loop hands on: copies where they are read before the array changes, what they are elsewhere."""

import numpy as np
import pytest

import tangentc


def layers(w, s, x):
    """Each layer reads what the one below it has stored."""
    s = s.copy()
    total = 0.0
    for _ in range(3):
        h = x
        for k in range(len(s)):
            z = np.concatenate([h, s[k]]) * w[k]
            s[k] = np.tanh(z[: len(x)] + z[len(x) :])
            h = s[k]
        total = total + np.sum(h * h)
    return total


def read_too_late(w, s, x):
    """What is handed on has changed when it is read."""
    s = s.copy()
    h = x
    for k in range(len(s)):
        s[0] = s[0] * np.sin(h)
        s[k] = s[k] * h * w[k, : len(x)]
        h = s[0]
    return np.sum(s * s) + np.sum(h)


def changed_behind(w, s, x):
    s = s.copy()
    h = x
    for k in range(len(s)):
        s[k] = np.sin(h) * s[k] * w[k, : len(x)]
        h = s[k]
    s[-1] = s[-1] * s[0]
    return np.sum(h * h)


def changed_itself(w, s, x):
    s = s.copy()
    h = x.copy()
    for k in range(len(s)):
        h[1:] = h[1:] * w[k, 1 : len(x)]
        s[k] = np.sin(h) * s[k]
        h = s[k]
    return np.sum(s * s)


def changed_by_a_list(w, s, x):
    s = s.copy()
    h = x
    for k in range(len(s)):
        both = [h, s[k]]
        s[0] = s[0] * 0.5
        z = np.concatenate(both) * w[k]
        s[k] = np.tanh(z[: len(x)] - z[len(x) :])
        h = s[k]
    return np.sum(h * s)


def last_of_two(w, s, x):
    s = s.copy()
    h, g = x, x * 0.5
    for k in range(len(s)):
        s[k] = np.sin(g * s[k]) + h * w[k, : len(x)]
        h, g = s[k], h
    return np.sum(h * g * s)


def while_one_is_left(w, s, x):
    s = s.copy()
    h = x
    for k in range(len(s)):
        s[k] = np.sin(h) * s[k]
        if np.sum(s[k]) > 0.5:
            break
        h = s[k]
    return np.sum(h * h * w[0, : len(x)])


ALL = [layers, read_too_late, changed_behind, changed_itself, changed_by_a_list, last_of_two, while_one_is_left]


@pytest.mark.parametrize("kernels", ["numpy", "numba"])
@pytest.mark.parametrize("f", ALL)
def test_parts_that_are_handed_on(f, kernels, rng):
    if kernels == "numba":
        pytest.importorskip("numba")
    gradient = tangentc.value_and_grad(f, wrt=(0, 1, 2), kernels=kernels)
    for n, m in ((9, 3), (3, 9), (8, 1)):
        args = rng.normal(size=(m, 2 * n)), rng.normal(size=(m, n)), rng.normal(size=n)
        value, found = gradient(*args)
        np.testing.assert_allclose(value, f(*args), rtol=1e-12)
        ways = [rng.normal(size=a.shape) for a in args]
        h = 1e-6
        up, down = (f(*(a + sign * h * d for a, d in zip(args, ways))) for sign in (1, -1))
        along = sum(np.sum(g * d) for g, d in zip(found, ways))
        np.testing.assert_allclose(along, (up - down) / (2 * h), rtol=1e-5, atol=1e-7)


def test_what_is_handed_on_is_no_part(rng):
    gradient = tangentc.value_and_grad(layers, wrt=(0, 1, 2), kernels="numpy")
    args = rng.normal(size=(3, 18)), rng.normal(size=(3, 9)), rng.normal(size=9)
    text = gradient.source_for(*args)
    assert "h = s[k].copy()" in text and "np.concatenate([h, s[k]])" in text and "h_bar, " not in text
