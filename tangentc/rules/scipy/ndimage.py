"""Correlation, convolution and the filters made of them, of `scipy.ndimage`.

With x extended beyond its edges as a mode says, and a kernel w that reaches b entries back from each entry,

    y[i] = sum_k w[k] x[i + k - b]

is linear in x and in w.  The sum of y_bar[i] y[i] is linear in each of x, w and y_bar; `forth`, `back` and `weighed`
are its derivatives in y_bar, x and w, and the adjoints of each are the other two.

Formulas: Gonzalez and Woods, "Digital image processing" (2008), sections 3.4 to 3.6.
"""

import numpy as np
import scipy.ndimage as nd

from tangentc.core.ops import stopped as stop_gradient
from tangentc.ops.table import say
from tangentc.rules.matrices import conjugate
from tangentc.rules.registry import adjoint_rule, defined, static

CONSTANT = ("constant", "grid-constant")
MODES = ("reflect", "constant", "nearest", "mirror", "wrap", "grid-mirror", "grid-constant", "grid-wrap")


# ------------------------------------------------------------------ beyond the edges
def origins(mode, n, before, after):
    """The entry of a line of ``n`` that stands at each place of the extended line; -1 where none does."""
    places = np.arange(-before, n + after)
    if mode in CONSTANT:
        return np.where((places >= 0) & (places < n), places, -1)
    if mode == "nearest":
        return np.clip(places, 0, n - 1)
    if mode in ("wrap", "grid-wrap"):
        return places % n
    period = max(2 * n if mode in ("reflect", "grid-mirror") else 2 * n - 2, 1)
    there = places % period
    return np.where(there < n, there, period - there - (mode in ("reflect", "grid-mirror")))


def extended(x, around, mode):
    """``x`` with so many entries before and after it along each axis, which are zero in the mode ``constant``."""
    for axis, (before, after) in enumerate(around):
        if before or after:
            places = origins(mode, x.shape[axis], before, after)
            x = np.take(x, np.maximum(places, 0), axis=axis)
            if mode in CONSTANT:
                x[(slice(None),) * axis + (places < 0,)] = 0
    return x


def folded(z, around, mode):
    """The adjoint of `extended`: what stands beyond the edges is added to the entries that it came from."""
    for axis, (before, after) in enumerate(around):
        if before or after:
            n = z.shape[axis] - before - after
            lines = np.moveaxis(z, axis, 0)
            inside = lines[before : before + n].copy()
            if mode not in CONSTANT:
                places = origins(mode, n, before, after)
                np.add.at(inside, places[:before], lines[:before])
                np.add.at(inside, places[before + n :], lines[before + n :])
            z = np.moveaxis(inside, 0, axis)
    return z


# ------------------------------------------------------------------ inside
def reach(lengths, origin, turned):
    """How many entries a kernel takes from before and after an entry, along each axis."""
    behind = [(m - 1) // 2 - o if turned else m // 2 + o for m, o in zip(lengths, origin)]
    return [(b, m - 1 - b) for m, b in zip(lengths, behind)]


def laid_out(w, rank, axes, origin):
    """A kernel with an axis for each of those of an array, and its origin along each of them."""
    axes = tuple(range(rank)) if axes is None else tuple(int(a) % rank for a in np.atleast_1d(axes))
    along = np.broadcast_to(origin, len(axes)).tolist()
    if len(axes) < rank:  # as SciPy has it: a kernel's axes are in the order of the array's, not in that of `axes`
        w = np.expand_dims(w, tuple(k for k in range(rank) if k not in axes))
        along = [along[axes.index(k)] if k in axes else 0 for k in range(rank)]
    return np.asarray(w), along


def products(x, w):
    """The correlation of ``x`` with a kernel, where the kernel lies in ``x`` as a whole."""
    if x.dtype.kind == "c":
        return products(x.real, w) + 1j * products(x.imag, w)
    if w.dtype.kind == "c":
        return products(x, w.real.copy()) + 1j * products(x, w.imag.copy())
    kept = tuple(slice(m // 2, m // 2 + n - m + 1) for n, m in zip(x.shape, w.shape))
    x = np.asarray(x, dtype=np.result_type(x, w, np.float32))
    long = [k for k, m in enumerate(w.shape) if m > 1]
    if len(long) == 1:
        return nd.correlate1d(x, w.ravel(), long[0], mode="constant")[kept]
    return nd.correlate(x, w, mode="constant")[kept]


def forth(x, w, axes, mode, origin, turned):
    """The correlation of ``x`` with the kernel ``w``, or with that turned round; nothing is conjugated."""
    x = np.asarray(x)
    kernel, along = laid_out(w, x.ndim, axes, origin)
    if x.size == 0:
        return np.zeros(x.shape, np.result_type(x, kernel))
    around = reach(kernel.shape, along, turned)
    return products(extended(x, around, mode), np.flip(kernel) if turned else kernel)


def back(y, w, axes, mode, origin, turned):
    """The adjoint of `forth` in its first argument."""
    y = np.asarray(y)
    kernel, along = laid_out(w, y.ndim, axes, origin)
    if y.size == 0:
        return np.zeros(y.shape, np.result_type(y, kernel))
    around = reach(kernel.shape, along, turned)
    spread = products(np.pad(y, [(m - 1, m - 1) for m in kernel.shape]), kernel if turned else np.flip(kernel))
    return folded(spread, around, mode)


def weighed(x, y, w, axes, mode, origin, turned):
    """The adjoint of `forth` in the kernel, in the shape of ``w``."""
    x, y = np.asarray(x), np.asarray(y)
    kernel, along = laid_out(w, x.ndim, axes, origin)
    out = np.zeros(kernel.shape, np.result_type(x, y))
    if x.size > 0:
        whole = extended(x, reach(kernel.shape, along, turned), mode)
        for k in np.ndindex(kernel.shape):
            out[k] = np.sum(whole[tuple(slice(i, i + n) for i, n in zip(k, y.shape))] * y)
    return np.reshape(np.flip(out) if turned else out, np.shape(w))


say(forth, back, weighed, pure=True)
say(forth, back, keeps_shape=True)


@adjoint_rule(forth, linear="each")
def forth_rule(x, w, axes, mode, origin, turned, y, y_bar):
    x_bar = back(y_bar, w, axes, mode, origin, turned)
    return x_bar, weighed(x, y_bar, w, axes, mode, origin, turned), None, None, None, None


@adjoint_rule(back, linear="each")
def back_rule(y, w, axes, mode, origin, turned, x, x_bar):
    y_bar = forth(x_bar, w, axes, mode, origin, turned)
    return y_bar, weighed(x_bar, y, w, axes, mode, origin, turned), None, None, None, None


@adjoint_rule(weighed, linear="each")
def weighed_rule(x, y, like, axes, mode, origin, turned, w, w_bar):
    x_bar = back(y, w_bar, axes, mode, origin, turned)
    return x_bar, forth(x, w_bar, axes, mode, origin, turned), None, None, None, None, None


# ------------------------------------------------------------------ correlation and convolution
def is_linear(ranks, options):
    """Whether nothing but zeros, or entries of the array itself, stands beyond its edges."""
    mode = options["mode"]  # which may be a value that only the run knows
    return isinstance(mode, str) and mode not in CONSTANT or options["cval"] == 0


@adjoint_rule(nd.correlate, linear="each", covers=is_linear)
def correlate(x, weights, y, y_bar, output=None, mode="reflect", cval=0.0, origin=0, axes=None):
    x_bar = back(y_bar, conjugate(weights), axes, mode, origin, False)
    return x_bar, conjugate(weighed(x, y_bar, weights, axes, mode, origin, False))


@adjoint_rule(nd.convolve, linear="each", covers=is_linear)
def convolve(x, weights, y, y_bar, output=None, mode="reflect", cval=0.0, origin=0, axes=None):
    x_bar = back(y_bar, weights, axes, mode, origin, True)
    return x_bar, weighed(x, y_bar, weights, axes, mode, origin, True)


@adjoint_rule(nd.correlate1d, linear="each", covers=is_linear)
def correlate1d(x, weights, y, y_bar, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    x_bar = back(y_bar, conjugate(weights), axis, mode, origin, False)
    return x_bar, conjugate(weighed(x, y_bar, weights, axis, mode, origin, False))


@adjoint_rule(nd.convolve1d, linear="each", covers=is_linear)
def convolve1d(x, weights, y, y_bar, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    x_bar = back(y_bar, weights, axis, mode, origin, True)
    return x_bar, weighed(x, y_bar, weights, axis, mode, origin, True)


@adjoint_rule(nd.uniform_filter1d, linear="jointly", covers=is_linear)
def uniform_filter1d(x, size, y, y_bar, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    return back(y_bar, np.full(size, 1 / size), axis, mode, origin, False), None


# ------------------------------------------------------------------ a constant beyond the edges
def frame(rank, lengths, axes):
    """As many entries on either side as a kernel has, along each axis that it has."""
    along = range(rank) if axes is None else sorted(int(a) % rank for a in np.atleast_1d(axes))
    lengths = dict(zip(along, np.atleast_1d(lengths).tolist()))
    return [lengths.get(k, 0) for k in range(rank)]


def framed(x, cval, lengths, axes):
    """``x`` in a frame of entries ``cval`` that is as wide as a kernel of these lengths."""
    x = np.asarray(x)
    widths = [(m, m) for m in frame(x.ndim, lengths, axes)]
    return np.pad(x.astype(np.result_type(x, cval)), widths, constant_values=cval)


def unframed(z, lengths, axes):
    """What is in such a frame."""
    return z[tuple(slice(m, n - m) for m, n in zip(frame(z.ndim, lengths, axes), z.shape))].copy()


say(framed, unframed, pure=True)


@adjoint_rule(framed, linear="jointly")
def framed_rule(x, cval, lengths, axes, y, y_bar):
    x_bar = unframed(y_bar, lengths, axes)
    return x_bar, np.sum(y_bar) - np.sum(x_bar), None, None


@adjoint_rule(unframed, linear="jointly")
def unframed_rule(z, lengths, axes, x, x_bar):
    return framed(x_bar, 0.0, lengths, axes), None, None


@defined(nd.correlate)
def correlate_with_frame(input, weights, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    x, w = np.asarray(input), np.asarray(weights)
    if mode in CONSTANT:
        x = framed(x, cval, np.shape(w), axes)
        return unframed(nd.correlate(x, w, output, mode, 0.0, origin, axes=axes), np.shape(w), axes)
    return nd.correlate(x, w, output, mode, 0.0, origin, axes=axes)


@defined(nd.convolve)
def convolve_with_frame(input, weights, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    x, w = np.asarray(input), np.asarray(weights)
    if mode in CONSTANT:
        x = framed(x, cval, np.shape(w), axes)
        return unframed(nd.convolve(x, w, output, mode, 0.0, origin, axes=axes), np.shape(w), axes)
    return nd.convolve(x, w, output, mode, 0.0, origin, axes=axes)


@defined(nd.correlate1d)
def correlate1d_with_frame(input, weights, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    x, w = np.asarray(input), np.asarray(weights)
    if mode in CONSTANT:
        x = framed(x, cval, np.shape(w), axis)
        return unframed(nd.correlate1d(x, w, axis, output, mode, 0.0, origin), np.shape(w), axis)
    return nd.correlate1d(x, w, axis, output, mode, 0.0, origin)


@defined(nd.convolve1d)
def convolve1d_with_frame(input, weights, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    x, w = np.asarray(input), np.asarray(weights)
    if mode in CONSTANT:
        x = framed(x, cval, np.shape(w), axis)
        return unframed(nd.convolve1d(x, w, axis, output, mode, 0.0, origin), np.shape(w), axis)
    return nd.convolve1d(x, w, axis, output, mode, 0.0, origin)


@defined(nd.uniform_filter1d)
def uniform_with_frame(input, size, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    if mode in CONSTANT:
        x = framed(input, cval, size, axis)
        return unframed(nd.uniform_filter1d(x, size, axis, output, mode, 0.0, origin), size, axis)
    return nd.uniform_filter1d(input, size, axis, output, mode, 0.0, origin)


# ------------------------------------------------------------------ one axis after the other
@static
def along_axes(rank, axes):
    """The axes that are filtered."""
    return tuple(range(rank)) if axes is None else (axes,) if isinstance(axes, int) else tuple(axes)


def part(value, k):
    """An option for the k-th of the axes that are filtered: of one for all, or of one for each."""
    return value[k] if isinstance(value, (tuple, list, np.ndarray)) else value


def gaussian(sigma, order, radius):
    """A derivative of the normal density at the integers, times (-1)^order, by Hermite's polynomials (DLMF 18.9.1).

    The weights that they are products with have the sum one.
    """
    t = np.arange(-radius, radius + 1) / sigma
    density = np.exp(-(t**2) / 2)
    before, polynomial = np.zeros_like(t), np.ones_like(t)
    for n in range(order):
        before, polynomial = polynomial, t * polynomial - n * before
    return polynomial * (density / np.sum(density)) / sigma**order


@defined(nd.gaussian_filter1d)
def gaussian_filter1d(
    input, sigma, axis=-1, order=0, output=None, mode="reflect", cval=0.0, truncate=4.0, *, radius=None
):  # fmt: skip
    wide = int(stop_gradient(truncate * sigma) + 0.5) if radius is None else radius
    return nd.correlate1d(input, gaussian(sigma, order, wide), axis, output, mode, cval, 0)


@defined(nd.gaussian_filter)
def gaussian_filter(
    input, sigma, order=0, output=None, mode="reflect", cval=0.0, truncate=4.0, *, radius=None, axes=None
):  # fmt: skip
    y = np.asarray(input)
    for k, axis in enumerate(along_axes(np.ndim(input), axes)):
        if part(sigma, k) > 1e-15:
            y = nd.gaussian_filter1d(
                y, part(sigma, k), axis, part(order, k), output, part(mode, k), cval, truncate, radius=part(radius, k)
            )
    return np.array(y, dtype=output)


@defined(nd.uniform_filter)
def uniform_filter(input, size=3, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    y = np.asarray(input)
    for k, axis in enumerate(along_axes(np.ndim(input), axes)):
        if part(size, k) > 1:
            y = nd.uniform_filter1d(y, int(part(size, k)), axis, output, part(mode, k), cval, part(origin, k))
    return np.array(y, dtype=output)


@defined(nd.sobel)
def sobel(input, axis=-1, output=None, mode="reflect", cval=0.0):
    return across(input, [1, 2, 1], axis, output, mode, cval)


@defined(nd.prewitt)
def prewitt(input, axis=-1, output=None, mode="reflect", cval=0.0):
    return across(input, [1, 1, 1], axis, output, mode, cval)


def across(x, weights, axis, output, mode, cval):
    """Differences along an axis, smoothed along the others."""
    y = nd.correlate1d(x, [-1, 0, 1], axis, output, part(mode, axis), cval)
    for k in range(np.ndim(x)):
        if k != axis % np.ndim(x):
            y = nd.correlate1d(y, weights, k, output, part(mode, k), cval)
    return y


@defined(nd.laplace)
def laplace(input, output=None, mode="reflect", cval=0.0, *, axes=None):
    along = along_axes(np.ndim(input), axes)
    y = nd.correlate1d(input, [1, -2, 1], along[0], output, part(mode, 0), cval)
    for k in range(1, len(along)):
        y = y + nd.correlate1d(input, [1, -2, 1], along[k], output, part(mode, k), cval)
    return y


@defined(nd.gaussian_laplace)
def gaussian_laplace(input, sigma, output=None, mode="reflect", cval=0.0, *, truncate=4.0, radius=None):
    y = gaussian_derivative(input, sigma, 2, 0, output, mode, cval, truncate, radius)
    for k in range(1, np.ndim(input)):
        y = y + gaussian_derivative(input, sigma, 2, k, output, mode, cval, truncate, radius)
    return y


@defined(nd.gaussian_gradient_magnitude)
def gaussian_gradient_magnitude(input, sigma, output=None, mode="reflect", cval=0.0, *, truncate=4.0, radius=None):
    squares = gaussian_derivative(input, sigma, 1, 0, output, mode, cval, truncate, radius) ** 2
    for k in range(1, np.ndim(input)):
        squares = squares + gaussian_derivative(input, sigma, 1, k, output, mode, cval, truncate, radius) ** 2
    return np.sqrt(squares)


def gaussian_derivative(x, sigma, order, axis, output, mode, cval, truncate, radius):
    """The smoothed derivative of this order along one axis."""
    y = np.asarray(x)
    for k in range(np.ndim(x)):
        if part(sigma, k) > 1e-15:
            wide = part(radius, k)
            y = nd.gaussian_filter1d(
                y, part(sigma, k), k, order if k == axis else 0, output, part(mode, k), cval, truncate, radius=wide
            )
    return y
