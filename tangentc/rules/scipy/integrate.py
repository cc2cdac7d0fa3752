"""Integrals of `scipy.integrate`: of sampled values, and of functions, in their ends and in what the function uses.

Formulas: Piessens et al., "QUADPACK" (1983): the pair of Gauss and Kronrod with 21 points, on pieces that are halved
until the two agree; the derivative is that of the sum, whose pieces are constants.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.integrate as si

from tangentc import runtime
from tangentc.core.ops import stopped as stop_gradient
from tangentc.core.types import Scalar, Tuple
from tangentc.ops.table import say
from tangentc.rules.registry import defined, static
from tangentc.rules.scipy.optimize import as_tuple, moving

NODES = (
    0.995657163025808080735527280689003, 0.973906528517171720077964012084452, 0.930157491355708226001207180059508,
    0.865063366688984510732096688423493, 0.780817726586416897063717578345042, 0.679409568299024406234327365114874,
    0.562757134668604683339000099272694, 0.433395394129247190799265943165784, 0.294392862701460198131126603103866,
    0.148874338981631210884826001129720,
)  # fmt: skip
KRONROD = (
    0.011694638867371874278064396062192, 0.032558162307964727478818972459390, 0.054755896574351996031381300244580,
    0.075039674810919952767043140916190, 0.093125454583697605535065465083366, 0.109387158802297641899210590325805,
    0.123491976262065851077958109585166, 0.134709217311473325928054001771707, 0.142775938577060080797094273138717,
    0.147739104901338491374841515972068,
)  # fmt: skip
CENTRE = 0.149445554002916905664936468389821
GAUSS = (
    0.066671344308688137593568809893332, 0.149451349150580593145863396957658, 0.219086362515982043995534934228163,
    0.269266719309996355091226921569469, 0.295524224714752870173815619188769,
)  # fmt: skip
HALVINGS = 100


def over_a_piece(func, middle, half, args):
    """The integrals by 21 and by 10 points over a piece."""
    kronrod = CENTRE * func(middle, *args)
    gauss = 0.0
    for k in range(10):
        both = func(middle - half * NODES[k], *args) + func(middle + half * NODES[k], *args)
        kronrod = kronrod + KRONROD[k] * both
        if k % 2 == 1:
            gauss = gauss + GAUSS[k // 2] * stop_gradient(both)
    return half * kronrod, half * gauss


def over_pieces(func, a, b, args, epsabs, epsrel, limit):
    """The integral over a finite interval, and an estimate of its error."""
    total, error, tolerance, pieces = 0.0, 0.0, epsabs, 0
    begins, widths = [0.0], [1.0]
    while len(begins) > 0:
        begin, width = begins.pop(), widths.pop()
        half = width * (b - a) / 2
        value, other = over_a_piece(func, a + begin * (b - a) + half, half, args)
        difference = abs(stop_gradient(value) - stop_gradient(other))
        tolerance = max(tolerance, epsrel * abs(stop_gradient(value)))
        # the error of the better of the two is far below what the two differ by (QUADPACK, section 2.2.3); that of the
        # derivative may be larger, hence the factor
        doubt = min(difference, (200 * difference) ** 1.5)
        if doubt <= 1e-4 * width * tolerance or width < 2.0**-HALVINGS or pieces + len(begins) >= 10 * limit:
            pieces = pieces + 1
            total = total + value
            error = error + doubt
        else:
            begins.append(begin)
            widths.append(width / 2)
            begins.append(begin + width / 2)
            widths.append(width / 2)
    return total, error


@static
def is_infinite(bound, sign):
    return isinstance(bound, float) and bound == sign * np.inf


@defined(si.quad)
def quad(func, a, b, args=(), full_output=0, epsabs=1.49e-8, epsrel=1.49e-8, limit=50):
    args = as_tuple(args)
    if is_infinite(a, -1):
        if is_infinite(b, 1):
            both = lambda t, *p: (func((1 - t) / t, *p) + func((t - 1) / t, *p)) / t**2  # noqa: E731
            return over_pieces(both, 0.0, 1.0, args, epsabs, epsrel, limit)
        return over_pieces(lambda t, *p: func(b - (1 - t) / t, *p) / t**2, 0.0, 1.0, args, epsabs, epsrel, limit)
    if is_infinite(b, 1):
        return over_pieces(lambda t, *p: func(a + (1 - t) / t, *p) / t**2, 0.0, 1.0, args, epsabs, epsrel, limit)
    return over_pieces(func, a, b, args, epsabs, epsrel, limit)


VALUE_AND_ERROR = Tuple((Scalar("float64", True), Scalar("float64", True)))  # without a report of how they were found
say(si.quad, result=lambda call: None if call.args[4:] or "full_output" in call.keywords else VALUE_AND_ERROR)
say(si.dblquad, result=lambda call: VALUE_AND_ERROR)


@defined(si.dblquad)
def dblquad(func, a, b, gfun, hfun, args=(), epsabs=1.49e-8, epsrel=1.49e-8):
    def inner(x):
        return quad(lambda y: func(y, x, *args), gfun(x), hfun(x), epsabs=epsabs, epsrel=epsrel)[0]

    return quad(inner, a, b, epsabs=epsabs, epsrel=epsrel)


@defined(si.fixed_quad)
def fixed_quad(func, a, b, args=(), n=5):
    nodes, weights = np.polynomial.legendre.leggauss(n)  # as QUADPACK (1983), section 2.2
    places = (b - a) * (nodes + 1) / 2 + a
    return (b - a) / 2 * np.sum(weights * func(places, *args), axis=-1), None


@defined(si.trapezoid)
def trapezoid(y, x=None, dx=1.0, axis=-1):
    return np.trapezoid(y, x=x, dx=dx, axis=axis)


@defined(si.cumulative_trapezoid)
def cumulative_trapezoid(y, x=None, dx=1.0, axis=-1, initial=None):
    f = np.moveaxis(np.asarray(y), axis, -1)
    d = dx
    if x is not None:
        d = np.diff(x if np.ndim(x) == 1 else np.moveaxis(np.asarray(x), axis, -1))
    sums = np.cumsum(d * (f[..., 1:] + f[..., :-1]) / 2, axis=-1)
    if initial is not None:
        sums = np.concatenate([np.zeros(np.shape(sums)[:-1] + (1,)), sums], axis=-1)
    return np.moveaxis(sums, -1, axis)


def divided(a, b):
    """A quotient that is zero where places coincide, as SciPy has it."""
    return np.where(b == 0, 0.0, a / (b + (b == 0)))


# Cartwright, "Simpson's rule cumulative integration with MS Excel and irregularly spaced data" (2017)
@defined(si.simpson)
def simpson(y, x=None, *, dx=1.0, axis=-1):
    f = np.moveaxis(np.asarray(y), axis, -1)
    n = np.shape(f)[-1]
    a = b = c = d = dx * 1.0
    if x is not None:
        h = np.diff(np.asarray(x) if np.ndim(x) == 1 else np.moveaxis(np.asarray(x), axis, -1))
        a, b = h[..., : n - 2 : 2], h[..., 1 : n - 1 : 2]
        c, d = h[..., max(n - 3, 0)], h[..., -1]
    if n == 2:
        return d * (f[..., 0] + f[..., 1]) / 2
    first, middle, last = f[..., : n - 2 : 2], f[..., 1 : n - 1 : 2], f[..., 2::2]
    slopes = (2 - divided(b, a)) * first + (2 - divided(a, b)) * last
    total = np.sum((a + b) / 6 * (slopes + divided((a + b) ** 2, a * b) * middle), axis=-1)
    if n % 2 == 0:  # equation 8, for the interval that is left
        total = total + divided(2 * d**2 + 3 * c * d, 6 * (c + d)) * f[..., -1]
        total = total + divided(d**2 + 3 * c * d, 6 * c) * f[..., -2] - divided(d**3, 6 * c * (c + d)) * f[..., -3]
    return total


@defined(si.romb)
def romb(y, dx=1.0, axis=-1):
    f = np.moveaxis(np.asarray(y), axis, -1)
    return f @ si.romb(np.eye(np.shape(f)[-1])) * dx  # it is linear in the samples


# ------------------------------------------------------------------ differential equations
# The steps stand still.  Differentiating them is what the adjoint equation does along them, and to second order as
# well: Hairer, Norsett and Wanner, "Solving Ordinary Differential Equations I", section II.6.
@dataclass
class Trajectory:
    """What `scipy.integrate.solve_ivp` tells of a solution, of which ``t`` and ``y`` move."""

    t: Any
    y: Any
    success: Any
    status: Any
    message: Any
    nfev: Any


def step(fun, t, h, y):
    """One step of the fifth order: Dormand and Prince, "A family of embedded Runge-Kutta formulae" (1980)."""
    k1 = np.asarray(fun(t, y))
    k2 = np.asarray(fun(t + h / 5, y + h * (k1 / 5)))
    k3 = np.asarray(fun(t + h * 3 / 10, y + h * (k1 * 3 / 40 + k2 * 9 / 40)))
    k4 = np.asarray(fun(t + h * 4 / 5, y + h * (k1 * 44 / 45 - k2 * 56 / 15 + k3 * 32 / 9)))
    slope = k1 * 19372 / 6561 - k2 * 25360 / 2187 + k3 * 64448 / 6561 - k4 * 212 / 729
    k5 = np.asarray(fun(t + h * 8 / 9, y + h * slope))
    slope = k1 * 9017 / 3168 - k2 * 355 / 33 + k3 * 46732 / 5247 + k4 * 49 / 176 - k5 * 5103 / 18656
    k6 = np.asarray(fun(t + h, y + h * slope))
    return y + h * (k1 * 35 / 384 + k3 * 500 / 1113 + k4 * 125 / 192 - k5 * 2187 / 6784 + k6 * 11 / 84)


def along(fun, start, times, y0):
    """The states at times that follow one another, from the state at ``start``."""
    t, y = start, y0
    states = []
    for k in range(len(times)):
        y = step(fun, t, times[k] - t, y)
        t = times[k]
        states.append(y)
    return np.stack(states)


def steps_of(still, first, last, y, rtol, atol, max_step):
    """The times between which a solution is stepped along: SciPy's for tolerances of at most 1e-6, and more of them
    where a step would do for the solution and not for its derivative."""
    finer = 1e-6 / np.maximum(rtol, 1e-6)
    solver = si.RK45(still, first, y, last, max_step=max_step, rtol=finer * rtol, atol=finer * atol)
    return runtime.steps_without_kinks(still, solver, finer * rtol, finer * atol)


@defined(si.solve_ivp)
def solve_ivp(fun, t_span, y0, method="RK45", t_eval=None, *, args=(), rtol=1e-3, atol=1e-6, max_step=np.inf):
    def f(t, y):
        return fun(t, y, *args)

    t0, t1 = t_span[0], t_span[1]
    first, last = stop_gradient(t0), stop_gradient(t1)
    begin = np.asarray(y0) * 1.0
    still, y_still = stop_gradient(f), stop_gradient(begin)
    found = si.solve_ivp(
        still, (first, last), y_still, method=method, t_eval=stop_gradient(t_eval), rtol=rtol, atol=atol,
        max_step=max_step,
    )  # fmt: skip
    steps = steps_of(still, first, last, y_still, rtol, atol, max_step)
    if t_eval is None:
        points = runtime.passing(steps, found.t)
        times = t0 + (t1 - t0) * ((points - first) / (last - first))
        at = runtime.passed(points, found.t)
        wanted = times[at]
    else:
        points = runtime.passing(steps, stop_gradient(t_eval))
        at = runtime.passed(points, stop_gradient(t_eval))
        wanted = np.asarray(t_eval) * 1.0
        times = points.copy()
        times[at] = wanted
    y = along(f, t0, times, begin)[at].T
    return Trajectory(
        wanted, moving(runtime.shaped_like(found.y, y), y), found.success, found.status, found.message, found.nfev
    )


@defined(si.odeint)
def odeint(func, y0, t, args=(), tfirst=False, rtol=1.49012e-8, atol=1.49012e-8):
    given = as_tuple(args)

    def f(s, y):
        return func(s, y, *given) if tfirst else func(y, s, *given)

    begin, wanted = np.atleast_1d(np.asarray(y0) * 1.0), np.asarray(t) * 1.0
    first, last = stop_gradient(wanted[0]), stop_gradient(wanted[-1])
    still, y_still = stop_gradient(f), stop_gradient(begin)
    found = si.odeint(still, y_still, stop_gradient(wanted), tfirst=True, rtol=rtol, atol=atol)
    steps = steps_of(still, first, last, y_still, rtol, atol, np.inf)
    points = runtime.passing(steps, stop_gradient(wanted))
    at = runtime.passed(points, stop_gradient(wanted))
    times = points.copy()
    times[at] = wanted
    y = along(f, wanted[0], times, begin)[at]
    return moving(runtime.shaped_like(found, y), y)
