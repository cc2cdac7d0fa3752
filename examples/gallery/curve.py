"""A curve through noisy points.

Sixty noisy readings of an oscillation that dies away. Gauss and Newton's method fits its four numbers: each step
solves the linear least squares problem of the Jacobian, which forward mode gives, a column for each number.
"""

import numpy as np

import tangentc

TRUE = np.array([2.0, 0.4, 3.0, 0.5])  # height, decay, frequency, phase


def curve(p, t):
    height, decay, frequency, phase = p
    return height * np.exp(-decay * t) * np.cos(frequency * t + phase)


def residuals(p, t, y):
    return curve(p, t) - y


derivative = tangentc.adjoint(residuals)  # to be read: the Jacobian below comes from forward mode
jacobian = tangentc.jacfwd(residuals)


def solve():
    t = np.linspace(0.0, 6.0, 60)
    y = curve(TRUE, t) + 0.1 * np.random.default_rng(0).normal(size=t.size)
    start = p = np.array([1.0, 0.2, 2.7, 0.0])
    for _ in range(12):
        p = p - np.linalg.lstsq(jacobian(p, t, y), residuals(p, t, y))[0]
    slope = derivative(p, t, y, residuals(p, t, y))  # of half the sum of squares: zero where it is smallest
    return {"t": t, "y": y, "start": start, "p": p, "slope": slope}


def main():
    found = solve()
    for name, value, true in zip(("height", "decay", "frequency", "phase"), found["p"], TRUE):
        print(f"{name:9} {value:6.3f}, and was {true}")
    print(f"the slope there is below 1e-9: {np.max(np.abs(found['slope'])) < 1e-9}")


if __name__ == "__main__":
    main()
