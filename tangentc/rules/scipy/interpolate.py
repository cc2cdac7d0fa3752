"""Piecewise polynomials of `scipy.interpolate`, evaluated: their data are constants."""

import numpy as np
import scipy.interpolate as interpolate

from tangentc.errors import NotDifferentiable
from tangentc.rules.registry import defined, elementwise


def evaluate(spline, x, nu, extrapolate):
    """The derivative of order ``nu`` of a piecewise polynomial of one value.

    Raises `NotDifferentiable` if its data are arrays.
    """
    if np.ndim(spline.c) > (1 if hasattr(spline, "t") else 2):
        raise NotDifferentiable(
            "a piecewise polynomial whose data are arrays is evaluated", why="the rule is that of one value",
            way_out="make one of each column of the data",
        )  # fmt: skip
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
