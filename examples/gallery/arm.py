"""A robot's arm.

An arm of five joints is to reach four points, one after the other, and to bend no joint more than it must. The angles
are found by gradient steps from where the arm was.
"""

import numpy as np

import tangentc

LENGTHS = np.array([1.0, 0.9, 0.8, 0.6, 0.4])
TARGETS = np.array([[2.5, 1.5], [1.0, 2.5], [-1.5, 2.0], [-2.0, 0.5]])


def joints(angles):
    where, turned = np.zeros(2), 0.0
    places = [where]
    for angle, length in zip(angles, LENGTHS):
        turned += angle
        where = where + length * np.array([np.cos(turned), np.sin(turned)])
        places.append(where)
    return np.stack(places)


def miss(angles, target, before):
    hand = joints(angles)[-1]
    return np.sum((hand - target) ** 2) + 1e-3 * np.sum((angles - before) ** 2)


derivative = tangentc.grad(miss)


def solve():
    angles, poses = np.full(5, 0.2), []
    for target in TARGETS:
        before = angles
        for _ in range(400):
            angles = angles - 0.03 * derivative(angles, target, before)
        poses.append(joints(angles))
    return {"poses": poses}


def main():
    for target, pose in zip(TARGETS, solve()["poses"]):
        print(f"asked for ({target[0]:4.1f}, {target[1]:4.1f}), reached ({pose[-1][0]:5.2f}, {pose[-1][1]:5.2f})")


if __name__ == "__main__":
    main()
