"""Piecewise polynomials of `scipy.interpolate`, in the place at which they are evaluated, and splines in their data.

A spline is linear in its data (de Boor, "A practical guide to splines", chapter XIII): its value is that of the splines
of the unit vectors, each times an item of the data.
"""

import functools

import numpy as np
import scipy.interpolate as interpolate

from tangentc import runtime
from tangentc.errors import NotDifferentiable
from tangentc.ops.table import say
from tangentc.rules.registry import adjoint_rule, defined, elementwise, static, tangent_rule


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


say(evaluate, pure=True)


@elementwise(evaluate)
def evaluate_rule(spline, x, nu, extrapolate, y):
    return None, evaluate(spline, x, nu + 1, extrapolate), None, None


@defined(
    interpolate.CubicSpline.__call__, interpolate.PchipInterpolator.__call__, interpolate.Akima1DInterpolator.__call__,
    interpolate.PPoly.__call__, interpolate.BSpline.__call__,
)  # fmt: skip
def call_spline(self, x, nu=0, extrapolate=None):
    return evaluate(self, x, nu, extrapolate)


def weights(t, make, knots, nu, extrapolate):
    """What the spline's derivative of order ``nu`` at ``t`` takes of each item of its data, along a last axis."""
    unit = make(knots, np.eye(len(knots)))
    return unit(t, nu, extrapolate) if nu >= 0 else unit.antiderivative(-nu)(t, 0, extrapolate)


say(weights, pure=True)


@adjoint_rule(weights)
def weights_rule(t, make, knots, nu, extrapolate, w, w_bar):
    t_bar = np.sum(w_bar * weights(t, make, knots, nu + 1, extrapolate), axis=-1)
    return t_bar, None, in_knots(), None, None


@tangent_rule(weights)
def weights_tangent(t, make, knots, nu, extrapolate, w, t_dot):
    return np.expand_dims(t_dot, -1) * weights(t, make, knots, nu + 1, extrapolate)


class Spline:
    """A spline through data that move: one for each column, where they are arrays."""

    def __init__(self, make, x, y, axis, extrapolate):
        self.make, self.x, self.y, self.axis, self.extrapolate = make, x, y, axis, extrapolate

    def __call__(self, x, nu=0, extrapolate=None):
        t, given = np.asarray(x), self.extrapolate if extrapolate is None else extrapolate
        w = runtime.shaped_like(weights(t, self.make, self.x, nu, given), np.multiply.outer(t, self.x))
        value = np.tensordot(w, np.moveaxis(self.y, self.axis, 0), axes=([-1], [0]))
        axis, n = self.axis % np.ndim(self.y), np.ndim(t)
        return np.moveaxis(value, tuple(range(n)), tuple(range(axis, axis + n)))

    def integrate(self, a, b):
        return self(b, -1) - self(a, -1)


def knots_of(x):
    return x


say(knots_of, pure=True)


@elementwise(knots_of)
def knots_rule(x, y):
    return in_knots()


def in_knots():
    raise NotDifferentiable(
        "a spline whose knots move is not differentiated", why="the rule is that of its data and of its place",
        way_out="keep the knots constant, by tangentc.stop_gradient",
    )  # fmt: skip


@static
def cubic(bc_type):
    """`CubicSpline` under these conditions at its ends, which make it linear in the data."""
    if bc_type not in ("not-a-knot", "natural", "clamped"):
        raise NotDifferentiable(
            f"a spline with {bc_type!r} at its ends is not differentiated in its data",
            why="its data are not free, or it is not linear in them",
            way_out='say bc_type="not-a-knot", "natural" or "clamped"',
        )  # fmt: skip
    return functools.partial(interpolate.CubicSpline, bc_type=bc_type)


@defined(interpolate.CubicSpline)
def cubic_spline(x, y, axis=0, bc_type="not-a-knot", extrapolate=None):
    return Spline(cubic(bc_type), knots_of(np.asarray(x)), np.asarray(y), axis, extrapolate)
