"""A few states of a loop, from which the adjoint sweep computes the others again: binomial checkpointing.

The trips run backwards.  Each begins at the last state that is kept before it, runs the trips since then once more, and
keeps states on the way where that saves most trips later.  Of the trips that follow a state, the first m are run before
the next is kept, as in A. Griewank and A. Walther, Algorithm 799: Revolve, ACM Transactions on Mathematical Software 26
(2000), pages 19-45: s states and r more runs of each trip are enough for (s + r)! / (s! r!) trips.
"""

import math

from tangentc.runtime.containers import copied


def snapshots(trips=None, most=None, most_bytes=None):
    """What the states of a loop over the range ``trips`` are kept in: at most ``most``, or as many as ``most_bytes``
    hold, and one at least.  Where it is not known how many trips there will be, they count from 0, and every other
    state is given up whenever there are too many.

    >>> states = snapshots(range(4), most=2)
    >>> x = 1.0
    >>> for t in range(4):
    ...     keep_state(states, t, x)
    ...     x = 2 * x
    >>> states["kept"]
    [(0, (1.0,)), (2, (4.0,))]
    """
    first = 0 if trips is None else trips[0] if trips else None
    bounds = {"most": most, "most_bytes": most_bytes}
    return {"trips": trips, "sweep": trips, "next": first, "every": 1, "kept": [], **bounds}


def keep_state(states, trip, *state):
    """Keep what a trip begins with, if it is the next that is to be kept."""
    if trip != states["next"]:
        return
    if states["most"] is None:
        size = sum(getattr(part, "nbytes", 8) for part in state)
        states["most"] = max(1, states["most_bytes"] // max(size, 1))
    if states["sweep"] is None and not _is_at_distance(states, trip):
        return
    states["kept"].append((trip, copied(state)))
    if states["sweep"] is not None:
        states["next"] = _next_kept(states)


def _is_at_distance(states, trip):
    """Whether a trip has the distance from the others that the states have which are kept."""
    while len(states["kept"]) == states["most"] > 1:
        states["kept"] = states["kept"][::2]
        states["every"] *= 2
    beyond = trip % states["every"]
    states["next"] = trip - beyond + states["every"] if states["most"] > 1 else None
    return beyond == 0


def last_state(states, trip):
    """The trips since the last state that was kept, up to ``trip``, and that state."""
    at, state = states["kept"][-1]
    trips = states["trips"] or range(trip + 1)
    states["sweep"] = since = trips[trips.index(at) : trips.index(trip)]
    if not since and len(states["kept"]) > 1:
        states["kept"].pop()
        return (since, *state)
    states["next"] = _next_kept(states)
    return (since, *copied(state))


def first_state(states, place, now):
    """A part of what the first trip began with; a copy of ``now``, what it is now, if there was no trip."""
    return copied(states["kept"][0][1][place] if states["kept"] else now)


def _next_kept(states):
    """The trip of a sweep before which the next state is kept, None if there is none."""
    sweep, free = states["sweep"], states["most"] - len(states["kept"])
    at = states["kept"][-1][0]
    place = sweep.index(at) if at in sweep else 0
    after = place + _trips_between(len(sweep) - place + 1, free + 1)
    return sweep[after] if free > 0 and after < len(sweep) else None


def _trips_between(trips, states):
    """How many of ``trips`` are run before the next state is kept, of which there are ``states``, the last included."""
    again = 1
    while math.comb(states + again, states) < trips:
        again += 1
    before = math.comb(states + again - 2, states) if again > 1 else 0
    return max(1, before, trips - math.comb(states - 1 + again, states - 1))
