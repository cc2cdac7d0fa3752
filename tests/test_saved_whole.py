"""Arrays that a loop overwrites but for their edges are saved whole in kernels, and read where they are saved."""

import numpy as np
import pytest

import tangentc

pytest.importorskip("numba")


def burgers(u, d, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] - 0.1 * u[1:-1] * (u[2:] - u[:-2]) + d * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def with_edges(u, d, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] + d * (u[2:] - 2.0 * u[1:-1] + u[:-2]) - 0.1 * u[1:-1] ** 3
        u[0] = u[1]
        u[-1] = u[-2]
    return np.sum(u**2)


def plate(u, d, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1, 1:-1] += d * u[1:-1, 1:-1] * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
    return np.sum(u * u)


def reaction(uv, d, steps):
    u, v = uv[0].copy(), uv[1].copy()
    for _ in range(steps):
        uvv = u[1:-1, 1:-1] * v[1:-1, 1:-1] ** 2
        du = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
        u[1:-1, 1:-1] += 0.1 * du - d * uvv
        v[1:-1, 1:-1] += d * uvv - 0.1 * v[1:-1, 1:-1]
    return np.sum(u * v)


def shallow(hq, d, steps):
    h, q = 2.0 + hq[0] * hq[0], hq[1].copy()
    for _ in range(steps):
        flux = q * q / h + 0.5 * h * h
        h[1:-1] -= d * (q[2:] - q[:-2])
        q[1:-1] -= d * (flux[2:] - flux[:-2])
    return np.sum(h * h) + np.sum(q * q)


def of_the_user(u, d, steps):
    u = u.copy()
    total = 0.0
    for _ in range(steps):
        old = u[1:-1].copy()
        u[0] = d * u[0]
        u[1:-1] = u[1:-1] * (u[2:] - u[:-2]) * d
        total = total + np.sum(old * u[1:-1])
    return total


def twice(u, d, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] * (u[2:] + d)
        u[1:-1] = u[1:-1] * (u[:-2] - d)
    return np.sum(u * u)


def twice_of_which_one_is_linear(u, d, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] * (u[2:] + d)
        u[1:-1] = u[1:-1] - 0.1 * (u[2:] - u[:-2])
        u[0] = u[-1] = 0.0
    return np.sum(u * u)


def behind_an_edge(u, d, steps):
    u = u.copy()
    for _ in range(steps):
        u[0] = d
        u[1:] = u[1:] * (1.0 - d * u[:-1])
    return np.sum(u * u)


def read_behind(u, d, steps):
    u = u.copy()
    s = 0.0
    for _ in range(steps):
        u[1:-1] = u[1:-1] * (u[2:] - d * u[:-2])
        s = s + np.sum(u * u)
    return s


def seen_from_outside(u, d, steps):
    u = u.copy()
    head = u[:3]
    s = 0.0
    for _ in range(steps):
        u[1:-1] = u[1:-1] * (u[2:] - d * u[:-2])
        s = s + np.sum(head * head)
    return s


def with_end(u, d, steps):
    u = u.copy()
    for _ in range(steps):
        if u[1] > 5.0:
            break
        u[1:-1] = u[1:-1] * (u[2:] - d * u[:-2]) + 1.0
    return np.sum(u * u)


def all_of_it(u, d, steps):
    u = u.copy()
    for _ in range(steps):
        u[:] = u * np.roll(u, 1) * d
    return np.sum(u)


def backwards(u, d, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] = (u[::-1])[1:-1] * u[1:-1] + d
    return np.sum(u)


def nested(u, d, steps):
    u = u.copy()
    for _ in range(steps):
        for _ in range(2):
            u[1:-1] = u[1:-1] * (u[2:] - d * u[:-2])
    return np.sum(u * u)


def under_two_names(u, d, steps):
    u = u.copy()
    w = u
    for _ in range(steps):
        u[1:-1] = u[1:-1] * (u[2:] - d * u[:-2])
        w[0] = w[1] * w[1]
    return np.sum(u * w)


def through_a_view(u, d, steps):
    u = u.copy()
    v = u[1:]
    for _ in range(steps):
        u[1:-1] = u[1:-1] * (u[2:] - d * u[:-2])
        v[1:] *= v[1:] * 0.5
    return np.sum(u * u)


def swapped(u, d, steps):
    u, v = u.copy(), d * u
    for _ in range(steps):
        u[1:-1] = u[1:-1] * (v[2:] - u[:-2])
        u, v = v, u
    return np.sum(u * v)


def kept_in_a_list(u, d, steps):
    u = u.copy()
    states = [u.copy()]
    for _ in range(steps):
        u[1:-1] = u[1:-1] * (u[2:] - d * u[:-2])
        states.append(u.copy())
    return np.sum(states[0] * states[-1]) + np.sum(u)


def in_place(u, d, steps):
    for _ in range(steps):
        u[1:-1] = u[1:-1] * (u[2:] - d * u[:-2])
    return np.sum(u * u)


VECTORS = [
    burgers, with_edges, of_the_user, twice, twice_of_which_one_is_linear, behind_an_edge,
    read_behind, seen_from_outside, with_end, all_of_it, backwards, nested, under_two_names, through_a_view, swapped, kept_in_a_list, in_place,
]  # fmt: skip


def both(f, u, steps=3):
    """The value and gradient of a kernel, which are those of NumPy's text; the value to the bit."""
    kernels = tangentc.value_and_grad(f, (0, 1), kernels="numba")
    plain = tangentc.value_and_grad(f, (0, 1))
    value, gradients = kernels(u.copy(), 0.7, steps)
    expected, others = plain(u.copy(), 0.7, steps)
    assert value == expected
    for a, b in zip(gradients, others, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)
    return kernels.source_for(u, 0.7, steps)


@pytest.mark.parametrize("f", VECTORS, ids=lambda f: f.__name__)
def test_of_vectors(f, rng):
    for n in (3, 4, 5, 9):
        for steps in (0, 1, 3):
            both(f, rng.normal(size=n), steps)


@pytest.mark.parametrize("f, shape", [(plate, (5, 6)), (plate, (2, 3)), (reaction, (2, 5, 4)), (shallow, (2, 7))])
def test_of_more_axes(f, shape, rng):
    both(f, rng.normal(size=shape))


def test_nothing_is_copied_back(rng):
    text = both(burgers, rng.normal(size=9))
    assert "        old_u = u_saved[trip]\n" in text and "            old_u[i] = u[i]\n" in text
    assert "            u[i + 1] = " in text and "np.empty(max(n - 2" not in text
    adjoint = text[text.index("def burgers_loop_adjoint(") :]
    assert adjoint.startswith("def burgers_loop_adjoint(u_bar, d, steps, u_saved):")
    assert "        u = u_saved[trip]\n" in adjoint and "u[i] = " not in adjoint.replace("u_bar[i] = ", "")


def test_one_save_serves_what_a_trip_does_at_the_edges(rng):
    text = both(with_edges, rng.normal(size=9))
    assert text.count("_saved = ") == 1


def test_an_array_that_is_read_as_it_was_then_is_read_there_alone(rng):
    def f(x, steps):
        u = x.copy()
        for _ in range(steps):
            u[:] = np.tanh(u) * u
        return np.sum(u)

    kernels = tangentc.grad(f, kernels="numba")
    x = rng.normal(size=6)
    np.testing.assert_allclose(kernels(x, 3), tangentc.grad(f)(x, 3), rtol=1e-13)
    assert "u_saved[trip, i] = u[i]\n" in kernels.source_for(x, 3), "the loops are one: no need to read what was saved"


def test_the_sum_of_a_parameter_is_added_up_where_entries_are_gathered(rng):
    text = both(burgers, rng.normal(size=9))
    adjoint = text[text.index("def burgers_loop_adjoint(") : text.index("def burgers_value_and_grad")]
    inside = adjoint[adjoint.index("for i in range(inside):") :]
    assert "sum_product += " in inside and adjoint.count("for i in range(") == 2
