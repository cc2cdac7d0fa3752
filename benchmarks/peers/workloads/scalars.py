"""Numbers alone: a function of five of them, and a loop of a thousand steps."""

import math

from ..workload import Workload


def normal_cdf(x):
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


def black_scholes(spot, strike, rate, volatility, years):
    """The price of a call option."""
    spread = volatility * math.sqrt(years)
    d1 = (math.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / spread
    d2 = d1 - spread
    return spot * normal_cdf(d1) - strike * math.exp(-rate * years) * normal_cdf(d2)


def black_scholes_by_hand(spot, strike, rate, volatility, years):
    """The greeks in closed form: what flows through d1 and d2 cancels but for one term."""
    root = math.sqrt(years)
    spread = volatility * root
    d1 = (math.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / spread
    delta, exercised = normal_cdf(d1), normal_cdf(d1 - spread)
    paid = strike * math.exp(-rate * years) * exercised
    vega = spot * root * math.exp(-0.5 * d1 * d1) / math.sqrt(2 * math.pi)
    theta = rate * paid + 0.5 * vega * volatility / years
    return spot * delta - paid, (delta, -paid / strike, years * paid, vega, theta)


def pendulum(angle, velocity, damping, dt, steps):
    """The angle of a damped pendulum after so many steps."""
    for _ in range(steps):
        velocity = velocity - dt * (math.sin(angle) + damping * velocity)
        angle = angle + dt * velocity
    return angle


def pendulum_by_hand(angle, velocity, damping, dt, steps):
    saved = []
    for _ in range(steps):
        saved.append((angle, velocity))
        velocity = velocity - dt * (math.sin(angle) + damping * velocity)
        angle = angle + dt * velocity
    angle_bar, velocity_bar, damping_bar = 1.0, 0.0, 0.0
    kept = 1 - dt * damping
    for old_angle, old_velocity in reversed(saved):
        velocity_bar += dt * angle_bar
        force_bar = dt * velocity_bar
        damping_bar -= force_bar * old_velocity
        angle_bar -= force_bar * math.cos(old_angle)
        velocity_bar *= kept
    return angle, (angle_bar, velocity_bar, damping_bar)


WORKLOADS = [
    Workload(
        "black_scholes",
        black_scholes,
        black_scholes_by_hand,
        ("spot", "strike", "rate", "volatility", "years"),
        lambda: (100.0, 110.0, 0.03, 0.25, 1.5),
        lambda: (100.0, 90.0, 0.02, 0.3, 0.7),
    ),
    Workload(
        "pendulum",
        pendulum,
        pendulum_by_hand,
        ("angle", "velocity", "damping"),
        lambda: (1.2, 0.3, 0.05, 0.01, 1000),
        lambda: (1.2, 0.3, 0.05, 0.05, 20),
    ),
]
