"""A journey between planets.

A probe leaves the orbit of the Earth and is to meet Mars after 250 days, drawn by the Sun and by Jupiter. Which
velocity it must leave with is found by Newton's method: forward mode gives the derivative of where it arrives.
"""

import numpy as np

import tangentc

DAY = 2 * np.pi / 365.25  # lengths are those from the Sun to the Earth, masses in that of the Sun, a year is 2 pi
ARRIVAL = 1.524 * np.array([np.cos(2.45), np.sin(2.45)])


def pull(where, t):
    turn = 1.1 + t / 11.86
    jupiter = 5.2 * np.array([np.cos(turn), np.sin(turn)])
    away = where - jupiter
    return -where / np.sum(where**2) ** 1.5 - 1e-3 * away / np.sum(away**2) ** 1.5


def fly(velocity, days):
    where, t = np.array([1.0, 0.0]), 0.0
    places = [where]
    velocity = velocity + 0.5 * DAY * pull(where, t)
    for _ in range(days):
        where = where + DAY * velocity
        t += DAY
        velocity = velocity + DAY * pull(where, t)
        places.append(where)
    return np.stack(places)


def miss(velocity, days):
    return np.sum((fly(velocity, days)[-1] - ARRIVAL) ** 2)


derivative = tangentc.grad(miss)  # to be read
arrives = tangentc.jacfwd(lambda velocity, days: fly(velocity, days)[-1])


def solve():
    velocity = np.array([0.0, 1.1])
    tries = [fly(velocity, 250)]
    for _ in range(8):
        velocity = velocity - np.linalg.solve(arrives(velocity, 250), tries[-1][-1] - ARRIVAL)
        tries.append(fly(velocity, 250))
    return {"velocity": velocity, "tries": tries, "slope": derivative(velocity, 250)}


def main():
    found = solve()
    misses = [np.linalg.norm(places[-1] - ARRIVAL) for places in found["tries"]]
    kilometres = 149.6e6 * np.array(misses[:4])
    print("the first tries miss by " + ", ".join(f"{k:,.0f}" for k in kilometres) + " km")
    print(f"the last by less than a metre: {149.6e9 * misses[-1] < 1}")
    print(f"the probe leaves with {29.78 * np.linalg.norm(found['velocity']):.2f} km/s")


if __name__ == "__main__":
    main()
