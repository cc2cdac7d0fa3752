"""Interpolation of `scipy.interpolate` in its table, its places and the point: along an axis, and in a grid.

Between the entries of a table a point moves in the piece that SciPy finds for it.
"""

import functools
import math

import numpy as np
import scipy.interpolate as interpolate

from tangentc.core.ops import stopped as stop_gradient
from tangentc.errors import NotDifferentiable
from tangentc.ops.table import say
from tangentc.rules.registry import defined, elementwise, static
from tangentc.rules.scipy.splines import Spline, knots_of


def beside(x, rows):
    """An array of points, as it broadcasts to what stands at each of them."""
    return np.reshape(x, np.shape(x) + (1,) * (np.ndim(rows) - 1))


def back(values, points, axis, rank):
    """What stands at each point, with the axes of the points where that of the table was."""
    n, first = np.ndim(points), axis % rank
    return np.moveaxis(values, tuple(range(n)), tuple(range(first, first + n)))


def is_outside(t, x):
    return (t < np.minimum(x[0], x[-1])) | (t > np.maximum(x[0], x[-1]))


def require_inside(t, x):
    if np.any(is_outside(t, x)):
        raise ValueError("a value to interpolate at is outside of the interpolation range")


# ------------------------------------------------------------------ interp1d
@static
def order_of(kind):
    """The degree of the pieces."""
    orders = {"linear": 1, "slinear": 1, "quadratic": 2, "cubic": 3, 1: 1, 2: 2, 3: 3}
    if kind not in orders:
        raise NotDifferentiable(
            f"scipy.interpolate.interp1d of kind {kind!r} is not differentiated", why="there is no rule for it",
            way_out='take kind="linear", "quadratic" or "cubic"',
        )  # fmt: skip
    return orders[kind]


class Table:
    """What `interp1d` makes; its classes say how it goes between the rows."""

    def __init__(self, x, y, order, axis, bounds_error, fill_value, assume_sorted):
        self.order, self.axis, self.rank, self.fill = order, axis, np.ndim(y), fill_value
        self.strict = not isinstance(fill_value, str) if bounds_error is None else bounds_error
        rows, places = np.moveaxis(np.asarray(y), axis, 0), np.asarray(x) * 1.0
        sorting = np.arange(len(places)) if assume_sorted else np.argsort(stop_gradient(places), kind="mergesort")
        self.x, self.rows = places[sorting], rows[sorting]

    def __call__(self, x):
        t = np.asarray(x)
        if self.strict:
            require_inside(t, self.x)
        values = self.between(t)
        if not isinstance(self.fill, str):
            below, above = self.fill if isinstance(self.fill, tuple) else (self.fill, self.fill)
            values = np.where(beside(t > self.x[-1], self.rows), above, values)
            values = np.where(beside(t < self.x[0], self.rows), below, values)
        return back(values, t, self.axis, self.rank)

    def between(self, t):
        raise NotImplementedError


class Lines(Table):
    """Straight lines."""

    def between(self, t):
        k = np.clip(np.searchsorted(stop_gradient(self.x), stop_gradient(t)), 1, len(self.x) - 1)
        part = (t - self.x[k - 1]) / (self.x[k] - self.x[k - 1])
        return self.rows[k - 1] + beside(part, self.rows) * (self.rows[k] - self.rows[k - 1])


class Curves(Table):
    """Splines, whose knots do not move."""

    def between(self, t):
        make = functools.partial(interpolate.make_interp_spline, k=self.order)
        return Spline(make, knots_of(self.x), self.rows, 0, True)(t)


@defined(interpolate.interp1d)
def interp1d(x, y, kind="linear", axis=-1, copy=True, bounds_error=None, fill_value=np.nan, assume_sorted=False):
    order = order_of(kind)
    if order == 1:
        return Lines(x, y, order, axis, bounds_error, fill_value, assume_sorted)
    return Curves(x, y, order, axis, bounds_error, fill_value, assume_sorted)


def look_up(table, x, nu):
    """The derivative of order ``nu`` of a table of numbers that do not move.

    Raises `NotDifferentiable` if it is none.
    """
    if not isinstance(table, interpolate.interp1d) or np.ndim(table.y) > 1:
        raise NotDifferentiable(
            f"a call of {type(table).__name__} is not differentiated", why="there is no rule for such data",
            way_out="take scipy.interpolate.CubicSpline, or one of each column of the data",
        )  # fmt: skip
    value = table(x)  # which raises outside of its range
    if nu == 0:
        return value
    t = np.asarray(x, dtype=float)
    slopes = np.zeros(np.shape(t))
    if hasattr(table, "_spline"):
        slopes = table._spline(t, nu)[..., 0]
    elif table._kind == "linear" and nu == 1:
        slopes = (np.diff(table.y) / np.diff(table.x))[np.clip(np.searchsorted(table.x, t), 1, len(table.x) - 1) - 1]
    return slopes if isinstance(table.fill_value, str) else np.where(is_outside(t, table.x), 0.0, slopes)


say(look_up, pure=True)


@elementwise(look_up)
def look_up_rule(table, x, nu, y):
    return None, look_up(table, x, nu + 1), None


@defined(interpolate.interp1d.__call__)
def call_table(self, x):
    return look_up(self, x, 0)


# ------------------------------------------------------------------ pieces of the third degree
class Hermite:
    """Cubic pieces with given slopes at their ends; de Boor, "A practical guide to splines", chapter IV."""

    def __init__(self, x, rows, slopes, axis, extrapolate):
        self.x, self.rows, self.slopes, self.axis, self.extrapolate = x, rows, slopes, axis, extrapolate

    def __call__(self, x, nu=0, extrapolate=None):
        t, y, d = np.asarray(x), self.rows, self.slopes
        k = np.clip(np.searchsorted(stop_gradient(self.x), stop_gradient(t), "right") - 1, 0, len(self.x) - 2)
        h, s = beside(self.x[k + 1] - self.x[k], y), beside(t - self.x[k], y)
        m = (y[k + 1] - y[k]) / h
        c = [y[k], d[k], (3 * m - 2 * d[k] - d[k + 1]) / h, (d[k] + d[k + 1] - 2 * m) / h**2]
        values = 0 * y[k]
        for power in range(nu, 4):
            values = values + math.perm(power, nu) * c[power] * s ** (power - nu)
        if (self.extrapolate if extrapolate is None else extrapolate) is False:
            values = np.where(beside(is_outside(t, self.x), y), np.nan, values)
        return back(values, t, self.axis, np.ndim(y))


@static
def not_periodic(extrapolate):
    if extrapolate == "periodic":
        raise NotDifferentiable(
            "a periodic interpolant is not differentiated in its table", why="there is no rule for it",
            way_out="bring the points into its range, by np.mod",
        )  # fmt: skip
    return extrapolate


@defined(interpolate.CubicHermiteSpline)
def cubic_hermite(x, y, dydx, axis=0, extrapolate=None):
    rows, slopes = np.moveaxis(np.asarray(y), axis, 0), np.moveaxis(np.asarray(dydx), axis, 0)
    return Hermite(np.asarray(x) * 1.0, rows, slopes, axis, not_periodic(extrapolate))


def at_an_end(h, g, m, n):
    """The slope at an end by three points, with the sign of the data: Moler, "Numerical computing with MATLAB", 3.6."""
    d = ((2 * h + g) * m - h * n) / (h + g)
    far = (np.sign(m) != np.sign(n)) & (np.abs(d) > 3 * np.abs(m))
    return np.where(np.sign(d) != np.sign(m), 0.0, np.where(far, 3 * m, d))


# the weighted harmonic mean of the slopes beside: Fritsch and Butland, "A method for constructing local monotone
# piecewise cubic interpolants" (1984)
@defined(interpolate.PchipInterpolator)
def pchip(x, y, axis=0, extrapolate=None):
    places, rows = np.asarray(x) * 1.0, np.moveaxis(np.asarray(y), axis, 0)
    h = beside(np.diff(places), rows)
    m = np.diff(rows, axis=0) / h
    if len(rows) == 2:
        return Hermite(places, rows, np.concatenate([m, m]), axis, not_periodic(extrapolate))
    a, b, left, right = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1], m[:-1], m[1:]
    same = left * right > 0
    inner = np.where(same, (a + b) / (a / np.where(same, left, 1.0) + b / np.where(same, right, 1.0)), 0.0)
    first, last = at_an_end(h[0], h[1], m[0], m[1]), at_an_end(h[-1], h[-2], m[-1], m[-2])
    slopes = np.concatenate([np.expand_dims(first, 0), inner, np.expand_dims(last, 0)])
    return Hermite(places, rows, slopes, axis, not_periodic(extrapolate))


# ------------------------------------------------------------------ grids
@static
def linear_only(method):
    if method != "linear":
        raise NotDifferentiable(
            f"interpolation in a grid with method={method!r} is not differentiated", why="there is no rule for it",
            way_out='take method="linear"',
        )  # fmt: skip
    return method


def piece(t, x):
    """The number of the piece in which a point lies."""
    sign = np.sign(x[-1] - x[0])  # a grid may go down
    return np.clip(np.searchsorted(sign * x, sign * t, "right") - 1, 0, len(x) - 2)


def part(t, x, i):
    return (t - x[i]) / (x[i + 1] - x[i])


class Grid:
    """What `RegularGridInterpolator` makes."""

    def __init__(self, points, values, bounds_error, fill_value):
        self.points = [np.asarray(p) * 1.0 for p in points]
        self.values, self.strict, self.fill = np.asarray(values), bounds_error, fill_value

    def __call__(self, xi, method=None):
        linear_only("linear" if method is None else method)
        n, values = len(self.points), self.values
        if isinstance(xi, tuple):
            t = np.stack(np.broadcast_arrays(*xi), axis=-1)
        else:
            t = np.reshape(xi, (-1, n)) if np.ndim(xi) == 1 else np.asarray(xi)
        if self.strict:
            for k in range(n):
                require_inside(t[..., k], self.points[k])
        places = [piece(stop_gradient(t[..., k]), stop_gradient(self.points[k])) for k in range(n)]
        parts = [part(t[..., k], self.points[k], places[k]) for k in range(n)]
        result = 0.0
        for corner in range(2**n):
            weight = 1.0
            for k in range(n):
                weight = weight * (parts[k] if (corner >> k) & 1 else 1 - parts[k])
            entry = values[tuple([places[k] + ((corner >> k) & 1) for k in range(n)])]
            result = result + np.reshape(weight, np.shape(weight) + (1,) * (np.ndim(values) - n)) * entry
        if self.fill is None:
            return result
        outside = np.any(np.stack([is_outside(t[..., k], self.points[k]) for k in range(n)]), axis=0)
        return np.where(np.reshape(outside, np.shape(outside) + (1,) * (np.ndim(values) - n)), self.fill, result)


@defined(interpolate.RegularGridInterpolator)
def regular_grid(points, values, method="linear", bounds_error=True, fill_value=np.nan):
    linear_only(method)
    return Grid(points, values, bounds_error, fill_value)


@defined(interpolate.interpn)
def interpn(points, values, xi, method="linear", bounds_error=True, fill_value=np.nan):
    linear_only(method)
    return Grid(points, values, bounds_error, fill_value)(xi)


@defined(interpolate.RegularGridInterpolator.__call__)
def call_grid(self, xi, method=None):
    linear_only(self.method)
    return Grid(self.grid, self.values, self.bounds_error, self.fill_value)(xi, method)
