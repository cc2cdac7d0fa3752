"""Functions along an axis whose entries have an order: running sums, differences, integrals, interpolation.

Formulas: by the definition of each function; those that are linear have the transpose for their adjoint.
"""

import numpy as np

from tangentc.errors import NotDifferentiable
from tangentc.rules.fragment import has_length, inline, is_literal
from tangentc.rules.registry import adjoint_rule, tangent_rule
from tangentc.runtime import adjoint_of_gradient, recurrence, scatter, trapezoid_weights

along_axes = [{}, {"axis": 0}, {"axis": 1}, {"axis": -1}]


def with_options(shape, *options):
    return lambda rng: [((rng.normal(size=shape),), o) for o in options]


def vectors_too(rng):
    return with_options((3, 4), *along_axes)(rng) + [((rng.normal(size=5),), {}), ((np.zeros((0, 2)),), {"axis": 0})]


@adjoint_rule(np.cumsum, linear="jointly", samples=vectors_too)
def cumsum(x, y, y_bar, axis=None):  # x_bar[i] is the sum of y_bar[j] for j >= i
    if axis is None:
        return np.reshape(np.cumsum(y_bar[::-1])[::-1], np.shape(x))
    return np.flip(np.cumsum(np.flip(y_bar, axis), axis=axis), axis)


# ------------------------------------------------------------------ cumprod
@inline
def first(x, axis):
    """``x`` with ``axis`` first, or all in a row."""
    if axis is None or np.ndim(x) == 1:
        return x if np.ndim(x) == 1 else np.ravel(x)
    return np.moveaxis(x, axis, 0)


@inline
def delayed(x, start):
    """The entry before each entry along the first axis."""
    return np.concatenate([np.full_like(x[:1], start), x[:-1]])


@inline
def reversed_recurrence(a, b):
    """``s`` with ``s[i] = a[i + 1] * s[i + 1] + b[i]``."""
    return recurrence(delayed(a[::-1], 0), b[::-1])[::-1]


@adjoint_rule(np.cumprod, samples=vectors_too)
def cumprod(x, y, y_bar, axis=None):  # y[i] = x[i] y[i - 1]
    along = reversed_recurrence(first(x, axis), first(y_bar, axis)) * delayed(first(y, axis), 1)
    if np.ndim(x) == 1:
        return along
    return np.reshape(along, np.shape(x)) if axis is None else np.moveaxis(along, 0, axis)


@tangent_rule(np.cumprod)
def cumprod_tangent(x, y, x_dot, axis=None):  # y_dot[i] = x[i] y_dot[i - 1] + x_dot[i] y[i - 1]
    along = recurrence(first(x, axis), first(x_dot, axis) * delayed(first(y, axis), 1))
    return along if axis is None or np.ndim(x) == 1 else np.moveaxis(along, 0, axis)


def two_sequences(rng):
    return [((rng.normal(size=shape), rng.normal(size=shape)), {}) for shape in (4, (3, 2))]


@adjoint_rule(recurrence, samples=two_sequences)
def recurrence_rule(a, b, s, s_bar):
    along = reversed_recurrence(a, s_bar)
    return along * delayed(s, 0), along


@tangent_rule(recurrence)
def recurrence_tangent(a, b, s, a_dot, b_dot):
    return recurrence(a, a_dot * delayed(s, 0) + b_dot)


# ------------------------------------------------------------------ differences and integrals
def margins(rank, axis, n):
    if n == 0:
        raise NotDifferentiable(
            "np.diff with n=0 is not differentiated", why="it is its argument itself", way_out="write the argument"
        )
    return tuple((n, n) if a == axis % rank else (0, 0) for a in range(rank))


diffs = with_options((3, 4), {}, {"axis": 0}, {"n": 2}, {"n": 2, "axis": 0})


@adjoint_rule(np.diff, linear="jointly", samples=diffs)
def diff(x, y, y_bar, n=1, axis=-1):
    if has_length(y, axis, 0):  # more differences than entries
        return np.zeros_like(x)
    return (-1) ** n * np.diff(np.pad(y_bar, margins(np.ndim(x), axis, n)), n, axis)


slopes = with_options((3, 4), {"axis": 0}, {"axis": -1}, {"axis": (0, 1)}, {})


@adjoint_rule(np.gradient, linear="jointly", samples=lambda rng: slopes(rng) + with_options(5, {})(rng))
def gradient(x, y, y_bar, axis=None):  # y[i] is (x[i + 1] - x[i - 1]) / 2, and one-sided at the ends
    if axis is None and np.ndim(x) == 1:
        return adjoint_of_gradient(y_bar)
    if isinstance(axis, int):
        return adjoint_of_gradient(y_bar, axis)
    axes = range(np.ndim(x)) if axis is None else axis
    return sum([adjoint_of_gradient(y_bar[k], a) for k, a in enumerate(axes)])


@adjoint_rule(adjoint_of_gradient, linear="jointly", samples=lambda rng: with_options((3, 4), {}, {"axis": 0})(rng))
def gradient_adjoint_rule(y, x, x_bar, axis=-1):
    return np.gradient(x_bar, axis=axis)


def areas(rng):
    y, x = rng.normal(size=(3, 4)), [0, 1, 3, 4]
    return [((y,), {}), ((y,), {"axis": 0, "dx": 0.5}), ((y, x), {}), ((y, [x, x, x]), {}), ((y[0],), {"dx": 2.0})]


@adjoint_rule(np.trapezoid, linear="jointly", samples=areas)
def trapezoid(y, area, area_bar, x=None, dx=1.0, axis=-1):
    return np.expand_dims(area_bar, axis) * trapezoid_weights(y, x, dx, axis)


def ends(rng):
    n = rng.normal
    return [
        ((1.5, 2.5), {"num": 5}),
        ((0, 2.5, 4), {"endpoint": False}),
        ((n(size=3), n(size=(2, 1)), 4), {}),
        ((1.5, 2.5, 1), {}),
    ]


@adjoint_rule(np.linspace, samples=ends)
def linspace(start, stop, y, y_bar, num=50, endpoint=True):
    way = np.linspace(0.0, 1.0, np.shape(y)[0], endpoint)
    return np.tensordot(1 - way, y_bar, axes=1), np.tensordot(way, y_bar, axes=1)


@tangent_rule(np.linspace)
def linspace_tangent(start, stop, y, start_dot, stop_dot, num=50, endpoint=True):
    return np.linspace(start_dot, stop_dot, num, endpoint)


# ------------------------------------------------------------------ interpolation and polynomials
def knots(rng):
    knots, values = np.array([0.0, 2.0, 3.0, 5.0]), rng.normal(size=4)
    return [
        ((np.array([-0.3, 0.1, 1.3, 2.7, 4.05, 5.4]), knots, values), {}),
        ((0.25, knots, values), {}),
        ((rng.uniform(0.2, 1.8, (2, 3)), knots, values), {}),
    ]


@inline
def interval(x, knots):
    """The number of the interval that ``x`` lies in, or is nearest to."""
    return np.clip(np.searchsorted(knots, x, side="right") - 1, 0, np.size(knots) - 2)


@inline
def fraction(x, knots):
    """How far ``x`` is on the way through its interval."""
    k = interval(x, knots)
    return np.clip((x - knots[k]) / (knots[k + 1] - knots[k]), 0.0, 1.0)


@inline
def slope(x, knots, values):
    """The slope of the interpolant at ``x``, which is flat outside."""
    k = interval(x, knots)
    inside = (x >= knots[0]) & (x <= knots[-1])
    return np.where(inside, (values[k + 1] - values[k]) / (knots[k + 1] - knots[k]), 0.0)


@inline
def dealt(value, x, knots):
    """``value``, which is meant for the point ``x`` of the interpolant, dealt to the knots left and right."""
    k = interval(x, knots)
    t = fraction(x, knots)
    return scatter(value * (1 - t), k, knots) + scatter(value * t, k + 1, knots)


@adjoint_rule(np.interp, samples=knots)
def interp(x, knots, values, y, y_bar):  # y = (1 - t) values[k] + t values[k + 1]
    x_bar = y_bar * slope(x, knots, values)
    return x_bar, -dealt(x_bar, x, knots), dealt(y_bar, x, knots)


@inline
def entry(values, k):
    """An entry of a tangent, which is the number zero where nothing moves."""
    return values if is_literal(values) else values[k]


@tangent_rule(np.interp)
def interp_tangent(x, knots, values, y, x_dot, knots_dot, values_dot):
    k = interval(x, knots)
    t = fraction(x, knots)
    knot_dot = (1 - t) * entry(knots_dot, k) + t * entry(knots_dot, k + 1)
    return (1 - t) * entry(values_dot, k) + t * entry(values_dot, k + 1) + slope(x, knots, values) * (x_dot - knot_dot)


def polynomials(rng):
    n = rng.normal
    return [((n(size=4), n(size=3)), {}), ((n(size=3), 1.5), {}), ((n(size=1), n(size=(2, 2))), {}),
            ((n(size=3), 2), {})]  # fmt: skip


@inline
def degrees(p):
    return np.arange(np.size(p))[::-1]


@inline
def derived(p):
    """The coefficients of the derivative."""
    return (p * degrees(p))[:-1]


@adjoint_rule(np.polyval, samples=polynomials, covers=lambda ranks, options: ranks[0] in (1, None))
def polyval(p, x, y, y_bar):  # y = sum of p[k] x^(n - k)
    if np.ndim(x) == 0:
        p_bar = y_bar * x ** degrees(p)
    else:
        p_bar = np.ravel(y_bar) @ np.expand_dims(np.ravel(x), -1) ** degrees(p)
    return p_bar, y_bar * np.polyval(derived(p), x)


@tangent_rule(np.polyval)
def polyval_tangent(p, x, y, p_dot, x_dot):
    along_p = np.sum(p_dot * np.expand_dims(x, -1) ** degrees(p), axis=-1)
    return along_p + np.polyval(derived(p), x) * x_dot


# ------------------------------------------------------------------ convolution
def signals(rng):
    n = rng.normal
    return [
        ((n(size=a), n(size=b)), {"mode": mode})
        for a, b in ((5, 3), (2, 5), (4, 4), (6, 2))
        for mode in ("full", "same", "valid")
    ] + [((n(size=5) + 1j * n(size=5), n(size=3) - 1j * n(size=3)), {})]


@inline
def in_full(y_bar, a, v, mode, before):
    """The adjoint of the full convolution, from which mode "same" leaves out entries ``before`` the result."""
    if mode == "full":
        return y_bar
    size = np.size(a) + np.size(v) - 1
    left = before if mode == "same" else min(np.size(a), np.size(v)) - 1
    return np.pad(y_bar, (left, size - left - np.size(y_bar)))


@adjoint_rule(np.convolve, linear="each", samples=signals, covers=lambda ranks, options: 0 not in ranks)
def convolve(a, v, y, y_bar, mode="full"):  # y[n] is the sum of a[m] v[n - m]
    full = in_full(y_bar, a, v, mode, (min(np.size(a), np.size(v)) - 1) // 2)
    return np.convolve(full, v[::-1], "valid"), np.convolve(full, a[::-1], "valid")


@adjoint_rule(np.correlate, linear="each", samples=signals)
def correlate(a, v, y, y_bar, mode="valid"):  # y[n] is the sum of a[n + m] conj(v[m])
    before = np.where(np.size(a) < np.size(v), np.size(a) // 2, (np.size(v) - 1) // 2)
    full = in_full(y_bar, a, v, mode, before)
    return np.convolve(full, np.conj(v), "valid"), np.conj(np.convolve(full, a[::-1], "valid")[::-1])


# ------------------------------------------------------------------ phases
@adjoint_rule(
    np.unwrap, samples=lambda rng: [((3 * rng.normal(size=(3, 4)),), o) for o in ({}, {"axis": 0})], real=True
)
def unwrap(x, y, y_bar, discont=None, axis=-1, period=2 * np.pi):  # it adds whole periods
    return y_bar


@tangent_rule(np.unwrap)
def unwrap_tangent(x, y, x_dot, discont=None, axis=-1, period=2 * np.pi):
    return x_dot
