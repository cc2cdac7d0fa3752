"""Piecewise polynomials of `scipy.interpolate`, evaluated: their data are constants."""

import scipy.interpolate as interpolate

from tangentc.rules.registry import defined, elementwise


def evaluate(spline, x, nu, extrapolate):
    """The derivative of order ``nu`` of a piecewise polynomial."""
    return spline(x, nu, extrapolate)


evaluate.__tangentc_pure__ = True  # type: ignore[attr-defined]


@elementwise(evaluate)
def evaluate_rule(spline, x, nu, extrapolate, y):
    return None, evaluate(spline, x, nu + 1, extrapolate), None, None


@defined(
    interpolate.CubicSpline.__call__, interpolate.PchipInterpolator.__call__, interpolate.Akima1DInterpolator.__call__,
    interpolate.PPoly.__call__, interpolate.BSpline.__call__,
)  # fmt: skip
def call_spline(self, x, nu=0, extrapolate=None):
    return evaluate(self, x, nu, extrapolate)
