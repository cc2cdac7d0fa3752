"""Derivatives of solutions through kinks and jumps of the right-hand side, at the tolerances that are given."""

import numpy as np
import pytest
from scipy.integrate import odeint, solve_ivp

import tangentc

METHODS = ["RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA"]
TIMES = np.array([0.0, 0.4, 1.0, 2.0])
rng = np.random.default_rng(1)
LAYERS = {n: (rng.normal(size=(n, 2)), rng.normal(size=n), rng.normal(size=(2, n)) / np.sqrt(n)) for n in (2, 10, 50)}


def network(y, t, a, b, c):
    return c @ np.maximum(a @ y + b, 0.0) - 0.3 * y


def by_odeint(a, b, c, y0, tolerance):
    return np.sum(odeint(network, y0, TIMES, args=(a, b, c), rtol=tolerance, atol=tolerance) ** 2)


def by_solve_ivp(a, b, c, y0, tolerance):
    found = solve_ivp(lambda t, y: network(y, t, a, b, c), (0.0, 2.0), y0, t_eval=TIMES, rtol=tolerance, atol=tolerance)
    return np.sum(found.y**2)


def by_lsoda(a, b, c, y0, tolerance):
    def right_hand_side(t, y, a, b, c):
        return network(y, t, a, b, c)

    found = solve_ivp(
        right_hand_side, (0.0, 2.0), y0, "LSODA", TIMES, args=(a, b, c), rtol=tolerance, atol=tolerance, max_step=0.5
    )
    return np.sum(found.y**2)


@pytest.mark.parametrize("units", LAYERS)
@pytest.mark.parametrize("solved", [by_odeint, by_solve_ivp, by_lsoda])
def test_networks_of_kinks_agree_with_differences(solved, units):
    given = (*LAYERS[units], np.array([0.5, -0.7]))
    draw = np.random.default_rng(2)
    tangents = [draw.normal(size=x.shape) for x in given]
    h = 1e-5
    ahead, behind = (by_solve_ivp(*(x + s * d for x, d in zip(given, tangents, strict=True)), 1e-13) for s in (h, -h))
    wanted = (ahead - behind) / (2 * h)
    for tolerance, off in ((1.49e-8, 2e-5), (1e-11, 2e-6)):
        gradient = tangentc.grad(solved, wrt=(0, 1, 2, 3))(*given, tolerance)
        reverse = sum(np.sum(g * d) for g, d in zip(gradient, tangents, strict=True))
        _, forward = tangentc.jvp(solved, (*given, tolerance), (*tangents, None))
        np.testing.assert_allclose(reverse, wanted, rtol=off)
        np.testing.assert_allclose(forward, reverse, rtol=1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("tolerance", [1e-3, 1e-6, 1e-8, 1e-11])
def test_a_bend_of_the_right_hand_side_is_no_farther_off_than_the_tolerance(method, tolerance):
    def filled(bend, start):  # start + t up to the bend, and 1 - exp of the time since then above it
        def rate(t, y):
            return 1.0 - np.maximum(y - bend, 0.0)

        return solve_ivp(rate, (0.0, 2.0), [start], method, rtol=tolerance, atol=tolerance).y[0, -1]

    by_bend, by_start = tangentc.grad(filled, wrt=(0, 1))(0.7, 0.1)
    left = np.exp(-(2.0 - 0.6))
    assert abs(by_bend - (1 - left)) < 20 * tolerance
    assert abs(by_start - left) < 20 * tolerance


@pytest.mark.parametrize("bends", [abs, lambda u: np.where(u > 0, u, 0.1 * u), lambda u: np.minimum(u, 0.2)])
def test_bends_in_time_by_what_moves(bends):
    def driven(p):
        return odeint(lambda y, t: bends(t - p) * y, [1.0], [0.0, 1.0])[-1, 0]

    p, h = 0.637, 1e-4
    fine = np.linspace(0, 1, 200001)[:-1] + 2.5e-6
    wanted = [np.exp(np.mean([bends(t - q) for t in fine])) for q in (p + h, p - h)]
    assert abs(tangentc.grad(driven)(p) - (wanted[0] - wanted[1]) / (2 * h)) < 1e-6


@pytest.mark.parametrize("tolerance", [1e-3, 1e-9])
def test_a_jump_whose_time_is_up_to_the_solution_is_refused(tolerance):
    def slows(start):
        return solve_ivp(
            lambda t, y: np.where(y > 0.5, -2.0, -1.0), (0.0, 0.9), [start], rtol=tolerance, atol=tolerance
        ).y[0, -1]

    def slides(start):
        return odeint(lambda y, t: -np.sign(y), [start], [0.0, 2.0], rtol=tolerance, atol=tolerance)[-1, 0]

    for jumps in (slows, slides):
        with pytest.raises(tangentc.NotDifferentiable) as caught:
            tangentc.grad(jumps)(1.0)
        first, _, rest = str(caught.value).partition("\n")
        what, at = first.rsplit(" ", 1)
        assert abs(float(at) - (0.25 if jumps is slows else 1.0)) < 0.01
        assert f"{what}\n{rest}" == (
            "the right-hand side of a differential equation jumps at\n"
            "  Why: it is the solution that says when, and the derivative by that time is not followed.\n"
            "  Way out: a right-hand side without jumps, or one that jumps at times that are given."
        )


def test_a_jump_at_a_time_that_is_given():
    def dosed(rate):
        return solve_ivp(lambda t, y: np.array([rate if t > 0.3 else 0.0]) - rate * y, (0.0, 1.0), [1.0]).y[0, -1]

    rate, h = 0.7, 1e-5  # y = 1 - (1 - exp(-0.3 rate)) exp(-0.7 rate)
    wanted = [1 - (1 - np.exp(-0.3 * r)) * np.exp(-0.7 * r) for r in (rate + h, rate - h)]
    assert abs(tangentc.grad(dosed)(rate) - (wanted[0] - wanted[1]) / (2 * h)) < 1e-5
