"""Steps along the solution of a differential equation, over which its slope has no kink."""

import numpy as np

from tangentc.errors import NotDifferentiable


def steps_without_kinks(slope, solver, rtol, atol):
    """The times that a solver of SciPy steps through, and others between them, such that the slope has no kink that
    matters from one to the next.

    A step of length h over a kink of the slope is off by the order of h**2, and its derivative by the order of h: steps
    that just do for a solution leave its derivative with the root of the tolerance. So a step is halved while the sixth
    difference of the slopes in it, which is of the order of h where there is a kink and of h**6 elsewhere, is above the
    tolerances, of which ``rtol`` is at least 1e-10.

    Raises `NotDifferentiable` where the slope jumps and it is the solution that says when: the time of the jump moves
    with the solution, and the steps do not.
    """
    span, points = abs(solver.t_bound - solver.t), [solver.t]
    while solver.status == "running":
        solver.step()
        y, waiting = solver.dense_output(), [(points[-1], solver.t)]
        while waiting:
            times = np.linspace(*waiting.pop(), 7)
            states = [y(t) for t in times]
            slopes = np.array([slope(t, at) for t, at in zip(times, states, strict=True)])
            near = np.maximum(rtol, 1e-10) * np.maximum(np.abs(states[0]), np.abs(states[6])) + atol
            near = near + 1e-12 * span * np.max(np.abs(slopes), axis=0)  # the rounding of the slopes
            bends = span * np.abs(np.array([1, -6, 15, -20, 15, -6, 1]) @ slopes) > near
            if not np.any(bends):  # nor where they are no numbers
                points.append(times[6])
            elif abs(times[6] - times[0]) > 1e-14 * span:
                waiting += [(times[3], times[6]), (times[0], times[3])]
            elif np.any(np.abs(slope(times[6], states[0]) - slopes[6]) > np.abs(slopes[0] - slopes[6]) / 2):
                raise NotDifferentiable(
                    f"the right-hand side of a differential equation jumps at {times[6]:.6g}",
                    why="it is the solution that says when, and the derivative by that time is not followed",
                    way_out="a right-hand side without jumps, or one that jumps at times that are given",
                )
            else:
                points.append(times[6])
    return np.array(points)


def passing(mesh, wanted):
    """The points of a mesh and other points between its ends, in the order in which the mesh passes them.

    >>> passing(np.array([2.0, 0.0]), [1.0, 2.0])
    array([2., 1., 0.])
    """
    points = np.union1d(mesh, wanted)
    return points[::-1].copy() if mesh[-1] < mesh[0] else points


def passed(points, wanted):
    """The numbers of some of the points that `passing` gave.

    >>> passed(np.array([2.0, 1.0, 0.0]), [1.0, 2.0])
    array([1, 0])
    """
    sign = -1 if points[-1] < points[0] else 1
    return np.searchsorted(sign * points, sign * np.asarray(wanted))
