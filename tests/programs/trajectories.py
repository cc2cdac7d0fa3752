"""Solutions of differential equations, in what the right-hand side uses, the state at the start, and the times."""

import numpy as np
from scipy.integrate import odeint, solve_ivp


def decay(p):
    return solve_ivp(lambda t, y: -p * y, (0.0, 1.0), [1.0], rtol=1e-10, atol=1e-11).y[0, -1]


def oscillator(v):
    solution = solve_ivp(
        lambda t, y: [y[1], -v[0] * y[0]], (0.0, 2.0), [1.0, v[1]], t_eval=np.linspace(0, 2, 5), rtol=1e-10, atol=1e-11
    )
    return np.sum(solution.y**2) * solution.success


def predators(y, t, a, b):
    return [a * y[0] - b * y[0] * y[1], y[0] * y[1] - y[1]]


def populations(v):
    return np.sum(odeint(predators, [1.0, 0.5], np.linspace(0, 2, 6), args=(v[0], v[1]), rtol=1e-10, atol=1e-11)[-1])


def until(v):
    solution = solve_ivp(lambda t, y: np.array([t * y[0] * v[0]]), (0.0, v[1]), np.array([1.0]), rtol=1e-10, atol=1e-11)
    return solution.y[0, -1] * solution.t[-1]


def backwards(v):
    return np.sum(solve_ivp(lambda t, y: -v[0] * y, (1.0, 0.0), v, rtol=1e-10, atol=1e-11).y[:, -1])


def at_a_time(v):
    times = np.array([0.5, v[0], 2.0])
    return np.sum(
        solve_ivp(lambda t, y: np.cos(t) * y * v[1], (0.0, 3.0), [1.0], t_eval=times, rtol=1e-10, atol=1e-11).y
    )


def stiff_solver(v):
    return solve_ivp(lambda t, y: -v * y**2, (0.0, 1.0), v, method="LSODA", rtol=1e-10, atol=1e-11).y[1, -1]


def pendulum(v):
    def swing(y, t):
        angle, speed = y
        return [speed, -v[0] * np.sin(angle) - 0.1 * speed]

    return odeint(swing, [v[1], 0.0], [0.0, 0.4, 1.0], rtol=1e-10, atol=1e-11)[-1, 0]


SEVERAL = (oscillator, populations, until, backwards, at_a_time, stiff_solver, pendulum)
PROGRAMS = [(decay, (0.7,)), *((f, (np.array([1.3, 0.8]),)) for f in SEVERAL)]
