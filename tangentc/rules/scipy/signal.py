"""Convolution and filters of `scipy.signal`.

Formulas: Oppenheim and Schafer, "Discrete-time signal processing" (1999), sections 2.3 and 2.5.
"""

import numpy as np
import scipy.fft as sf
import scipy.ndimage as nd
import scipy.signal as sg

from tangentc.errors import NotDifferentiable
from tangentc.ops.table import say
from tangentc.rules.matrices import conjugate
from tangentc.rules.registry import adjoint_rule, defined, static, tangent_rule


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


say(in_full, kept_of, pure=True)


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


@static
def only_zeros_around(name, boundary):
    if boundary not in ("fill", "pad"):
        raise NotDifferentiable(
            f"scipy.signal.{name} is differentiated with zeros around its arrays",
            why=f"boundary={boundary!r} has no rule", way_out="pad the array by np.pad",
        )  # fmt: skip
    return True


@defined(sg.convolve2d)
def convolve2d(in1, in2, mode="full", boundary="fill"):
    only_zeros_around("convolve2d", boundary)
    return sg.convolve(in1, in2, mode=mode, method="direct")


@defined(sg.correlate2d)
def correlate2d(in1, in2, mode="full", boundary="fill"):
    only_zeros_around("correlate2d", boundary)
    if mode != "same":
        return sg.convolve(in1, np.conj(np.flip(in2)), mode=mode, method="direct")
    full, (m, n), (rows, columns) = sg.convolve(in1, np.conj(np.flip(in2)), method="direct"), in1.shape, in2.shape
    return full[rows // 2 : rows // 2 + m, columns // 2 : columns // 2 + n]


# ------------------------------------------------------------------ filters with feedback
# a[0] y[n] = b[0] x[n] + ... + b[m] x[n-m] - a[1] y[n-1] - ...: with u the filtered adjoint, run backwards, the adjoint
# of b[k] is sum_n u[n] x[n-k], and that of a[k] is -sum_n u[n] y[n-k]
def delayed_products(u, x, count):
    """The sums of ``u[n] x[n - k]`` for k below ``count``."""
    n = x.shape[-1]
    return np.array([np.sum(u[..., k:] * x[..., : n - k]) if k < n else np.sum(u[..., :0]) for k in range(count)])


def delayed_sum(weights, x):
    """The sums of ``weights[k] x[n - k]``: a filter without feedback."""
    return sg.lfilter(weights, [1.0], x)


say(delayed_products, delayed_sum, pure=True)


@adjoint_rule(delayed_products, linear="each")
def delayed_products_rule(u, x, count, w, w_bar):
    return delayed_sum(w_bar, x), np.flip(delayed_sum(w_bar, np.flip(u, -1)), -1), None


@adjoint_rule(delayed_sum, linear="each")
def delayed_sum_rule(weights, x, y, y_bar):
    return delayed_products(y_bar, x, len(weights)), np.flip(delayed_sum(weights, np.flip(y_bar, -1)), -1)


def recursion(a, x):
    """``x`` through the filter ``1 / a``, along the last axis."""
    return sg.lfilter([1.0], a, x)


say(recursion, pure=True)


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


# the state that is kept where all of x is 1, z = A z + B, for direct form II transposed: Oppenheim and Schafer, 6.3
@defined(sg.lfilter_zi)
def lfilter_zi(b, a):
    b, a = np.atleast_1d(b) * 1.0, np.atleast_1d(a) * 1.0
    n = max(len(a), len(b))
    b = np.concatenate([b, np.zeros(n - len(b))]) / a[0]
    a = np.concatenate([a, np.zeros(n - len(a))]) / a[0]
    first = np.concatenate([np.ones(1), np.zeros(max(n - 2, 0))])[: n - 1]
    return np.linalg.solve(np.eye(n - 1) - np.eye(n - 1, k=1) + np.outer(a[1:], first), b[1:] - a[1:] * b[0])


# Gustafsson, "Determining the initial states in forward-backward filtering" (1996), says what the ends are for
@defined(sg.filtfilt)
def filtfilt(b, a, x, axis=-1, padtype="odd", padlen=None):
    b, a, v = np.atleast_1d(b), np.atleast_1d(a), np.moveaxis(np.asarray(x), axis, -1)
    edge = 0 if padtype is None else 3 * max(len(a), len(b)) if padlen is None else padlen
    n = v.shape[-1]
    if n <= edge:
        raise ValueError("the x of scipy.signal.filtfilt must be longer than its padlen")
    first, last = v[..., :1], v[..., n - 1 :]
    before, after = np.flip(v[..., 1 : edge + 1], -1), np.flip(v[..., n - 1 - edge : n - 1], -1)
    if padtype == "odd":
        before, after = 2 * first - before, 2 * last - after
    if padtype == "constant":
        before, after = first * np.ones(edge), last * np.ones(edge)
    state, longer = lfilter_zi(b, a), np.concatenate([before, v, after], axis=-1)
    y, _ = lfilter(b, a, longer, zi=state * longer[..., :1])
    back, _ = lfilter(b, a, np.flip(y, -1), zi=state * y[..., -1:])
    return np.moveaxis(np.flip(back, -1)[..., edge : edge + n], -1, axis)


@defined(sg.sosfilt)
def sosfilt(sos, x, axis=-1, zi=None):
    sections = np.asarray(sos)
    y = np.asarray(x)
    if zi is None:
        for k in range(len(sections)):
            y = lfilter(sections[k, :3], sections[k, 3:], y, axis)
        return y
    states = []
    for k in range(len(sections)):
        y, state = lfilter(sections[k, :3], sections[k, 3:], y, axis, zi[k])
        states.append(state)
    return y, np.stack(states)


# ------------------------------------------------------------------ maps of the signal that stand still
@defined(sg.hilbert)
def hilbert(x, N=None, axis=-1):
    if np.iscomplexobj(x):
        raise ValueError("the x of scipy.signal.hilbert must be real")
    n = np.shape(x)[axis] if N is None else N
    k = np.arange(n)  # Marple, "Computing the discrete-time analytic signal via FFT" (1999), equation 6
    kept = np.where((k == 0) | (2 * k == n), 1.0, np.where(2 * k < n, 2.0, 0.0))
    return np.moveaxis(sf.ifft(np.moveaxis(sf.fft(x, n, axis=axis), axis, -1) * kept), -1, axis)


def without_line(x, sloped):
    """What is left of the entries along the last axis without their mean, or the line through them."""
    level = x - np.mean(x, axis=-1, keepdims=True)
    if not sloped:
        return level
    k = np.arange(x.shape[-1]) - (x.shape[-1] - 1) / 2
    return level - np.sum(level * k, axis=-1, keepdims=True) * k / max(np.sum(k * k), 0.5)


@defined(sg.detrend)
def detrend(data, axis=-1, type="linear", bp=0):
    if type not in ("linear", "l", "constant", "c"):
        raise ValueError("the type of scipy.signal.detrend must be 'linear' or 'constant'")
    x = np.moveaxis(np.asarray(data), axis, -1)
    if type in ("constant", "c"):
        return np.moveaxis(without_line(x, False), -1, axis)
    ends = np.unique(np.concatenate([np.array([0, x.shape[-1]]), np.ravel(bp)]))
    parts = [without_line(x[..., ends[k] : ends[k + 1]], True) for k in range(len(ends) - 1)]
    return np.moveaxis(np.concatenate(parts, axis=-1), -1, axis)


def weights_at_places(window, order, deriv, delta):
    """For each place in a window the weights of its entries in the polynomial through them."""
    return np.array([sg.savgol_coeffs(window, order, deriv, delta, pos=k, use="dot") for k in range(window)])


def weights_in_the_middle(window, order, deriv, delta):
    return sg.savgol_coeffs(window, order, deriv, delta)


say(weights_at_places, weights_in_the_middle, pure=True)


# Savitzky and Golay, "Smoothing and differentiation of data by simplified least squares procedures" (1964)
@defined(sg.savgol_filter)
def savgol_filter(x, window_length, polyorder, deriv=0, delta=1.0, axis=-1, mode="interp", cval=0.0):
    if np.iscomplexobj(x):
        raise ValueError(
            "scipy.signal.savgol_filter is differentiated in real numbers: of complex ones it takes a part"
        )
    middle = weights_in_the_middle(window_length, polyorder, deriv, delta)
    if mode != "interp":
        return nd.convolve1d(x, middle, axis=axis, mode=mode, cval=cval)
    v, half = np.moveaxis(np.asarray(x), axis, -1), window_length // 2
    n = v.shape[-1]
    if window_length > n:
        raise ValueError("the window of scipy.signal.savgol_filter with mode='interp' must not be longer than x")
    inner = delayed_sum(middle, v)[..., 2 * half :]
    weights = weights_at_places(window_length, polyorder, deriv, delta).T
    first = v[..., :window_length] @ weights[:, :half]
    last = v[..., n - window_length :] @ weights[:, window_length - half :]
    return np.moveaxis(np.concatenate([first, inner, last], axis=-1), -1, axis)
