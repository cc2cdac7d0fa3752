"""Arrays that take turns are one, copies that nothing needs are none, and what divides itself is a new array."""

import numpy as np
import pytest

from tangentc import TangentcError, grad, value_and_grad

U = np.random.default_rng(0).normal(size=9)
M = np.random.default_rng(1).normal(size=(4, 5))


def upwind(u):
    for _ in range(3):
        new = u.copy()
        new[1:] = u[1:] - 0.3 * (u[1:] - u[:-1])
        u = new
    return np.sum(u**2)


def two_stores(u):
    for _ in range(3):
        new = u.copy()
        new[1:-1] = u[1:-1] + 0.1 * u[1:-1] * (u[2:] - 2 * u[1:-1] + u[:-2])
        new[0] = new[1] ** 2 + u[1]
        u = new
    return np.sum(u**2)


def old_is_read(u):
    for _ in range(3):
        old = u.copy()
        u[1:] = old[1:] - 0.3 * old[1:] * (old[1:] - old[:-1])
    return np.sum(u**2)


def old_is_read_later(u):
    for _ in range(3):
        old = u.copy()
        u[1:] = old[1:] * old[:-1]
        u[0] = old[1] * u[2]
    return np.sum(u**2)


def entry_by_entry(u):
    for _ in range(3):
        new = u.copy()
        for i in range(1, len(u) - 1):
            new[i] = np.sin(u[i - 1]) * u[i + 1]
        u = new
    return np.sum(u**2)


def kept_in_a_list(u):
    states = []
    for _ in range(3):
        new = u.copy()
        new[1:] = u[1:] * (u[1:] - u[:-1])
        u = new
        states.append(u)
    return np.sum(np.array(states) ** 2)


def handed_on_twice(u):
    before = u
    for _ in range(3):
        new = u.copy()
        new[1:] = u[1:] * before[:-1]
        before, u = u, new
    return np.sum(u * before)


def first_is_changed_elsewhere(u):
    z = u
    for _ in range(2):
        new = u.copy()
        new[1:] = u[1:] * z[:-1]
        z[0] = 0.5
        u = new
    return np.sum(u * z)


def changed_behind_the_loop(u):
    z = u
    for _ in range(0):
        new = u.copy()
        new[1:] = u[1:] * u[:-1]
        u = new
    z[0] = 2.0
    return np.sum(u**2)


def until_it_stands(u):
    change = 1.0
    while change > 1e-2:
        new = u.copy()
        new[1:-1] = 0.5 * (u[2:] + u[:-2])
        change = np.max(np.abs(new - u))
        u = new
    return np.sum(u**3)


def other_dtype(u):
    k = np.ones(9, dtype=int)
    for _ in range(2):
        new = k.copy()
        new[1:] = k[1:] + k[:-1]
        k = new
    return np.sum(k * u)


def made_and_scaled(u):
    for _ in range(3):
        new = 0.9 * u + np.sin(u)
        new *= 0.5
        new += 0.1 * u**2
        u = new
    return np.sum(u**2)


def made_and_seen(u):
    for _ in range(3):
        new = np.sin(u)
        seen = new[1:]
        new *= u
        u = new
        u[0] = seen[0]
    return np.sum(u**2)


def made_before_the_loop(u):
    y = np.cos(u)
    for _ in range(3):
        y *= u
        u = y
    return np.sum(u**2)


def made_and_scaled_sometimes(u):
    for k in range(3):
        new = np.sin(u)
        if k:
            new *= u
        u = new
    return np.sum(u**2)


ALL = [
    upwind, two_stores, old_is_read, old_is_read_later, entry_by_entry, kept_in_a_list, handed_on_twice,
    first_is_changed_elsewhere, changed_behind_the_loop, until_it_stands, other_dtype, made_and_scaled,
    made_and_seen, made_before_the_loop, made_and_scaled_sometimes,
]  # fmt: skip


@pytest.mark.parametrize("f", ALL, ids=lambda f: f.__name__)
def test_gradient(f):
    u = np.abs(U) if f is until_it_stands else U
    before = u.copy()
    value, g = value_and_grad(f)(u)
    np.testing.assert_array_equal(u, before)
    assert value == f(u.copy())
    for k in range(9):
        h = np.eye(9)[k] * 1e-6
        assert g[k] == pytest.approx((f(u + h) - f(u - h)) / 2e-6, rel=1e-5, abs=1e-7), k


def code(f, *args):
    rows = grad(f).source_for(*args).split('"""')[2].splitlines()
    return [row for row in rows if row.strip() and not row.strip().startswith("#")]


def test_a_linear_stencil_saves_nothing():
    text = "\n".join(code(upwind, U))
    assert "saved" not in text and "new" not in text.replace("# new", "")
    assert len(code(upwind, U)) <= 10


def test_what_a_trip_makes_is_scaled_as_a_new_array():
    text = "\n".join(code(made_and_scaled, U))
    assert "[...]" not in text and "zeros_like(new)" not in text


@pytest.mark.parametrize("f, rows", [(two_stores, 26), (old_is_read, 13), (entry_by_entry, 21)])
def test_no_shadow_is_kept_for_each_trip(f, rows):
    found = code(f, U)
    assert len(found) <= rows and not any("zeros_like(new)" in row or "zeros_like(old)" in row for row in found)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    e /= e.sum(-1, keepdims=True)
    return np.sum(e**3)


def softmax_written_out(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    e = e / np.sum(e, axis=-1, keepdims=True)
    return np.sum(e**3)


def test_a_softmax_in_place_is_a_softmax():
    assert code(softmax, M) == code(softmax_written_out, M) or len(code(softmax, M)) == len(
        code(softmax_written_out, M)
    )
    text = "\n".join(code(softmax, M))
    assert "==" not in text and "[...]" not in text
    e = 1e-6 * np.cos(np.arange(20.0)).reshape(4, 5)
    assert np.sum(grad(softmax)(M) * e) == pytest.approx((softmax(M + e) - softmax(M - e)) / 2, rel=1e-6)


def test_what_has_another_name_is_divided_in_place():
    def f(x):
        e = np.exp(x)
        seen = e
        e /= e.sum(axis=1, keepdims=True)
        return np.sum(seen**2)

    np.testing.assert_allclose(
        grad(f)(M), grad(lambda x: np.sum((np.exp(x) / np.sum(np.exp(x), axis=1, keepdims=True)) ** 2))(M)
    )


def conjugated(x):
    e = np.exp(x)
    seen = e.conj()  # of real numbers the array itself
    e *= 2.0
    return np.sum(seen**2)


def conjugated_too(x):
    e = np.exp(x)
    seen = e.conjugate()
    e += x
    return np.sum(seen * x)


def as_type(x):
    e = np.exp(x)
    seen = e.astype(float, "K", "unsafe", True, False)
    e *= 2.0
    return np.sum(seen**2)


@pytest.mark.parametrize("f", [conjugated, conjugated_too, as_type])
def test_a_method_that_gives_the_array_itself(f):
    try:
        value, g = value_and_grad(f)(M)
    except TangentcError:  # to refuse is no wrong number
        return
    assert value == pytest.approx(f(M))
    e = 1e-6 * np.cos(np.arange(20.0)).reshape(4, 5)
    assert np.sum(g * e) == pytest.approx((f(M + e) - f(M - e)) / 2, rel=1e-6)


def huber(r):
    return np.sum(np.where(np.abs(r) < 1, 0.5 * r**2, np.abs(r) - 0.5))


def gelu(x):
    return np.sum(0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))))


def test_adjoints_that_are_one_choice_and_one_product():
    assert sum("np.where" in row for row in code(huber, U)) == 1 and len(code(huber, U)) <= 3
    assert sum("0.134145" in row for row in code(gelu, U)) == 1 and len(code(gelu, U)) <= 5
    for f in (huber, gelu):
        for k in range(9):
            h = np.eye(9)[k] * 1e-6
            assert grad(f)(U)[k] == pytest.approx((f(U + h) - f(U - h)) / 2e-6, rel=1e-5, abs=1e-8)


def shapes_of_what_is_stored_into(img, w):
    out = np.zeros((img.shape[0] - 1, img.shape[1] - 1))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = np.sum(img[i : i + 2, j : j + 2] * w)
    return np.sum(out**2)


def test_stores_leave_shapes_as_they_are():
    text = grad(shapes_of_what_is_stored_into, wrt="w").source_for(M, np.ones((2, 2)))
    assert "saved" not in text and "reversed(range(out.shape[1]))" in text
