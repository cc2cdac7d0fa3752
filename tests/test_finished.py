"""Arrays that are filled where they are made, and handed on: values from then on, with nothing put back."""

import numpy as np
import pytest

import tangentc

X = np.array([0.3, -0.2, 0.5, 0.8, -0.4])


def steps_of_heat(x):
    u = x * 1.0
    for _ in range(3):
        v = np.empty(len(x))
        v[0] = u[0]
        v[-1] = u[-1] * u[0]
        for i in range(1, len(x) - 1):
            v[i] = u[i] + 0.1 * (u[i + 1] - 2 * u[i] + u[i - 1]) * u[i]
        u = v
    return np.sum(u * u)


def of_what_is_filled_already(x):
    u = x * 1.0
    for _ in range(3):
        v = np.zeros(len(x))
        for i in range(len(x)):
            v[i] = u[i] * (v[i - 1] + 0.5)
        u = v
    return np.sum(u * u * u)


def changed_behind(x):
    u = x * 1.0
    for k in range(3):
        v = np.empty(len(x))
        v[:] = u * u + 0.3
        u = v
        v[k] *= 2.0
        u[0] = v[1] * x[0]
    return np.sum(u * u)


def in_a_list(x):
    states = [x]
    for _ in range(3):
        v = np.empty(len(x))
        v[1:] = states[-1][1:] * states[-1][:-1]
        v[0] = states[-1][0]
        states.append(v)
    return sum(np.sum(s * s) for s in states)


def in_branches(x):
    u = x * 1.0
    for k in range(4):
        v = np.empty(len(x))
        if k % 2:
            v[:] = u * 0.5
            v[0] = u[1] * u[0]
        else:
            for i in range(len(x)):
                v[i] = u[i] * u[i] + 0.1
        u = v
    return np.sum(u * x)


def through_a_view(x):
    u = x * 1.0
    for _ in range(3):
        v = np.zeros(len(x))
        inner = v[1:-1]
        inner += u[2:] * u[:-2]
        v[0] = u[0]
        u = v
    return np.sum(u * u)


def a_view_that_lives_on(x):
    u = x * 1.0
    total = 0.0
    for _ in range(3):
        v = np.zeros(len(x))
        inner = v[1:-1]
        v[:] = u * u
        u = v
        total = total + np.sum(inner * x[1:-1])
    return total + np.sum(u)


def two_that_take_turns(x):
    a, b = x * 1.0, x * 0.5
    for _ in range(3):
        v = np.empty(len(x))
        for i in range(len(x)):
            v[i] = a[i] * b[i - 1] + 0.2
        a, b = b, v
    return np.sum(a * b)


def returned_too(x):
    u = x * 1.0
    for _ in range(2):
        v = np.empty(len(x))
        for i in range(len(x)):
            v[i] = u[i] * v[i - 1] if i else u[i]
        u = v
    return u


PROGRAMS = [
    steps_of_heat, of_what_is_filled_already, changed_behind, in_a_list, in_branches, through_a_view,
    a_view_that_lives_on, two_that_take_turns,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_a_program(f):
    tangentc.check_grads(f, (X,), order=2)
    for kernels in ("numpy", "numba"):
        value, gradient = tangentc.value_and_grad(f, kernels=kernels)(X)
        np.testing.assert_allclose(value, f(X), rtol=1e-14)
        ahead = [tangentc.jvp(f, (X,), (e,))[1] for e in np.eye(len(X))]
        np.testing.assert_allclose(gradient, ahead, rtol=1e-10, atol=1e-13)


def test_the_value_is_what_the_function_gives_though_the_adjoint_puts_something_back():
    value, pullback = tangentc.vjp(returned_too, X)
    expected = returned_too(X)
    for _ in range(2):
        (bar,) = pullback(np.ones(len(X)))
        np.testing.assert_array_equal(value, expected)
    np.testing.assert_allclose(bar, np.sum(tangentc.jacfwd(returned_too)(X), axis=0), rtol=1e-12)

    def with_state(x):
        u = returned_too(x)
        return np.sum(u * u), u

    _, state = tangentc.grad(with_state, has_aux=True)(X)
    np.testing.assert_array_equal(state, expected)


def test_nothing_is_saved_of_an_array_that_its_trip_fills():
    text = tangentc.grad(steps_of_heat).source_for(X)
    assert "v_saved" not in text and ".copy()" not in text
