"""The noise of a Kalman filter.

A position is measured, badly, of something whose velocity wanders. How bad the measurements are, and how much it
wanders, is what makes the measurements most likely: the filter gives the likelihood, and the gradient goes back
through it.
"""

import numpy as np
from scipy.optimize import minimize

import tangentc

F = np.array([[1.0, 0.1], [0.0, 1.0]])
TRUE = np.array([0.5, 0.3])  # of a measurement, of the velocity in a step


def filtered(log_noise, ys):
    measured, wander = np.exp(2 * log_noise)
    x, P = np.zeros(2), np.eye(2)
    Q = wander * np.array([[0.0025, 0.05], [0.05, 1.0]])
    score, places = 0.0, []
    for y in ys:
        x = F @ x
        P = F @ P @ F.T + Q
        S = P[0, 0] + measured
        gain = P[:, 0] / S
        surprise = y - x[0]
        score += 0.5 * (np.log(S) + surprise**2 / S)
        x = x + gain * surprise
        P = P - np.outer(gain, P[0])
        places.append(x[0])
    return score, places


def negative_log_likelihood(log_noise, ys):
    return filtered(log_noise, ys)[0]


derivative = tangentc.value_and_grad(negative_log_likelihood)


def solve():
    rng = np.random.default_rng(6)
    x, places = np.zeros(2), []
    for _ in range(400):
        x = F @ x + TRUE[1] * rng.normal() * np.array([0.05, 1.0])
        places.append(x[0])
    ys = np.array(places) + TRUE[0] * rng.normal(size=400)
    found = minimize(derivative, np.array([1.0, 1.0]), (ys,), method="BFGS", jac=True).x
    return {"places": np.array(places), "ys": ys, "noise": np.exp(found), "filtered": filtered(found, ys)[1]}


def main():
    found = solve()
    print(f"noise of a measurement {found['noise'][0]:.2f}, and was {TRUE[0]}")
    print(f"noise of the velocity {found['noise'][1]:.2f}, and was {TRUE[1]}")


if __name__ == "__main__":
    main()
