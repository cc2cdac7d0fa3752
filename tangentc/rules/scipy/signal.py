"""Convolution and filters of `scipy.signal`.

Formulas: Oppenheim and Schafer, "Discrete-time signal processing" (1999), sections 2.3 and 2.5.
"""

import numpy as np
import scipy.signal as sg

from tangentc.rules.matrices import conjugate
from tangentc.rules.registry import adjoint_rule, defined, tangent_rule


def in_full(y_bar, a_shape, v_shape, mode):
    """The adjoint of the full convolution, from that of the part of it that ``mode`` keeps."""
    if mode == "full":
        return y_bar
    full = tuple(m + n - 1 for m, n in zip(a_shape, v_shape))
    kept = a_shape if mode == "same" else tuple(abs(m - n) + 1 for m, n in zip(a_shape, v_shape))
    before = [(f - k) // 2 for f, k in zip(full, kept)]
    return np.pad(y_bar, [(b, f - k - b) for b, f, k in zip(before, full, kept)])


def kept_of(full, a_shape, v_shape, mode):
    """The part of a full convolution that ``mode`` keeps: the adjoint of `in_full`."""
    if mode == "full":
        return full
    kept = a_shape if mode == "same" else tuple(abs(m - n) + 1 for m, n in zip(a_shape, v_shape))
    before = [(f - k) // 2 for f, k in zip(full.shape, kept)]
    return full[tuple(slice(b, b + k) for b, k in zip(before, kept))]


in_full.__tangentc_pure__ = kept_of.__tangentc_pure__ = True  # type: ignore[attr-defined]


@adjoint_rule(in_full, linear="jointly")
def in_full_rule(y_bar, a_shape, v_shape, mode, full, full_bar):
    return kept_of(full_bar, a_shape, v_shape, mode), None, None, None


@adjoint_rule(kept_of, linear="jointly")
def kept_of_rule(full, a_shape, v_shape, mode, kept, kept_bar):
    return in_full(kept_bar, a_shape, v_shape, mode), None, None, None


# y = a * v        a_bar[i] = sum_k y_bar[k] v[k - i]: the correlation with v
@adjoint_rule(sg.convolve, linear="each", mode=("full", "same", "valid"))
def convolve(a, v, y, y_bar, mode="full", method="auto"):
    full = in_full(y_bar, np.shape(a), np.shape(v), mode)
    a_bar = sg.correlate(full, conjugate(v), mode="valid", method=method)
    return a_bar, sg.correlate(full, conjugate(a), mode="valid", method=method)


@defined(sg.correlate)
def correlate(in1, in2, mode="full", method="auto"):
    swapped = np.conj(np.flip(in2))
    if mode == "same" and np.ndim(in1) == 0:
        return in1 * swapped
    return sg.convolve(in1, swapped, mode=mode, method=method)


@defined(sg.fftconvolve)
def fftconvolve(in1, in2, mode="full"):
    return sg.convolve(in1, in2, mode=mode, method="fft")


@defined(sg.oaconvolve)
def oaconvolve(in1, in2, mode="full"):
    return sg.convolve(in1, in2, mode=mode, method="fft")


# a[0] y[n] = b[0] x[n] + ... + b[m] x[n-m] - a[1] y[n-1] - ...: with u the filtered adjoint, run backwards, the adjoint
# of b[k] is sum_n u[n] x[n-k], and that of a[k] is -sum_n u[n] y[n-k]
def delayed_products(u, x, count):
    """The sums of ``u[n] x[n - k]`` for k below ``count``."""
    n = x.shape[-1]
    return np.array([np.sum(u[..., k:] * x[..., : n - k]) if k < n else np.sum(u[..., :0]) for k in range(count)])


def delayed_sum(weights, x):
    """The sums of ``weights[k] x[n - k]``: a filter without feedback."""
    return sg.lfilter(weights, [1.0], x)


delayed_products.__tangentc_pure__ = delayed_sum.__tangentc_pure__ = True  # type: ignore[attr-defined]


@adjoint_rule(delayed_products, linear="each")
def delayed_products_rule(u, x, count, w, w_bar):
    return delayed_sum(w_bar, x), np.flip(delayed_sum(w_bar, np.flip(u, -1)), -1), None


@adjoint_rule(delayed_sum, linear="each")
def delayed_sum_rule(weights, x, y, y_bar):
    return delayed_products(y_bar, x, len(weights)), np.flip(delayed_sum(weights, np.flip(y_bar, -1)), -1)


def recursion(a, x):
    """``x`` through the filter ``1 / a``, along the last axis."""
    return sg.lfilter([1.0], a, x)


recursion.__tangentc_pure__ = True  # type: ignore[attr-defined]


@adjoint_rule(recursion)
def recursion_rule(a, x, y, y_bar):
    u = np.flip(recursion(a, np.flip(y_bar, -1)), -1)
    return -delayed_products(u, y, len(a)), u


@tangent_rule(recursion)
def recursion_tangent(a, x, y, a_dot, x_dot):
    return recursion(a, x_dot - delayed_sum(a_dot, y))


# with y before the first entry for a state: a * y = b * x + a[0] zi, and what is beyond the last entry is a[0] zf
@defined(sg.lfilter)
def lfilter(b, a, x, axis=-1, zi=None):
    if zi is None:
        y = recursion(np.asarray(a), delayed_sum(np.asarray(b), np.moveaxis(x, axis, -1)))
        return np.moveaxis(y, -1, axis)
    a, x, first = np.atleast_1d(a), np.moveaxis(x, axis, -1), np.moveaxis(zi, axis, -1)
    n, order = x.shape[-1], first.shape[-1]
    after = np.zeros((*x.shape[:-1], order))
    before = np.concatenate([first, np.zeros((*first.shape[:-1], n))], axis=-1)
    v = delayed_sum(np.asarray(b), np.concatenate([x, after], axis=-1)) + a[0] * before
    y = recursion(a, v[..., :n])
    zf = (v - delayed_sum(a, np.concatenate([y, after], axis=-1)))[..., n:] / a[0]
    return np.moveaxis(y, -1, axis), np.moveaxis(zf, -1, axis)
