"""Integrals of `scipy.integrate`: of sampled values, and of functions, in their ends and in what the function uses.

Formulas: Piessens et al., "QUADPACK" (1983): the pair of Gauss and Kronrod with 21 points, on pieces that are halved
until the two agree; the derivative is that of the sum, whose pieces are constants.
"""

import numpy as np
import scipy.integrate as si

from tangentc.core.ops import stopped as stop_gradient
from tangentc.rules.registry import defined, static

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
    if is_infinite(a, -1):
        if is_infinite(b, 1):
            both = lambda t, *p: (func((1 - t) / t, *p) + func((t - 1) / t, *p)) / t**2  # noqa: E731
            return over_pieces(both, 0.0, 1.0, args, epsabs, epsrel, limit)
        return over_pieces(lambda t, *p: func(b - (1 - t) / t, *p) / t**2, 0.0, 1.0, args, epsabs, epsrel, limit)
    if is_infinite(b, 1):
        return over_pieces(lambda t, *p: func(a + (1 - t) / t, *p) / t**2, 0.0, 1.0, args, epsabs, epsrel, limit)
    return over_pieces(func, a, b, args, epsabs, epsrel, limit)


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
