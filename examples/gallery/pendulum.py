"""Swinging up a pendulum.

A pendulum hangs, and a motor that is too weak to lift it at once is to bring it upright and at rest. It has to swing.
The torque of each of 200 moments is a number to be found; the gradient goes back through the loop of the motion.
"""

import numpy as np
from scipy.optimize import minimize

import tangentc

MOST = 0.5  # of the torque that would hold it level


def swing(torques, h):
    angle, speed = 0.0, 0.0  # it hangs
    angles = []
    for torque in torques:
        speed += h * (MOST * np.tanh(torque) - np.sin(angle))
        angle += h * speed
        angles.append(angle)
    return np.array(angles), speed


def miss(torques, h):
    angles, speed = swing(torques, h)
    return (angles[-1] - np.pi) ** 2 + speed**2 + 1e-4 * h * np.sum(torques**2)


derivative = tangentc.value_and_grad(miss)


def solve():
    h, count = 0.05, 200
    start = 0.3 * np.sin(h * np.arange(count))
    torques = minimize(derivative, start, (h,), method="L-BFGS-B", jac=True, options={"maxiter": 300}).x
    angles, speed = swing(torques, h)
    return {"t": h * np.arange(1, count + 1), "torque": MOST * np.tanh(torques), "angles": angles, "speed": speed}


def main():
    found = solve()
    print(f"the angle at the end is {found['angles'][-1]:.2f}, upright is {np.pi:.2f}; the speed is below 0.05: "
          f"{abs(found['speed']) < 0.05}")  # fmt: skip
    print(f"no torque is above {MOST}: {np.max(np.abs(found['torque'])) <= MOST}")


if __name__ == "__main__":
    main()
