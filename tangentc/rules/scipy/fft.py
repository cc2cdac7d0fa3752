"""The transforms of `scipy.fft`: those of `numpy.fft`, and the cosine and sine transforms.

Formulas: Makhoul, "A fast cosine transform in one and two dimensions" (1980), and the definitions of SciPy.
"""

import math

import numpy as np
import scipy.fft as sf

from tangentc.ops.table import say
from tangentc.rules.registry import adjoint_rule, defined, static


def as_numpy(name):
    """Register that a transform of one axis is NumPy's."""
    transform = getattr(np.fft, name)

    @defined(getattr(sf, name))
    def of_axis(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None):
        return transform(x, n=n, axis=axis, norm=norm)


def as_numpy_of_several(name, default):
    """Register that a transform of several axes is NumPy's."""
    transform = getattr(np.fft, name)

    @defined(getattr(sf, name))
    def of_axes(x, s=None, axes=default, norm=None, overwrite_x=False, workers=None):
        return transform(x, s=s, axes=axes, norm=norm)


for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    as_numpy(name)
for name in ("fft2", "ifft2", "rfft2", "irfft2"):
    as_numpy_of_several(name, (-2, -1))
for name in ("fftn", "ifftn", "rfftn", "irfftn"):
    as_numpy_of_several(name, None)


@defined(sf.fftshift)
def fftshift(x, axes=None):
    return np.fft.fftshift(x, axes=axes)


@defined(sf.ifftshift)
def ifftshift(x, axes=None):
    return np.fft.ifftshift(x, axes=axes)


# ------------------------------------------------------------------ cosine and sine transforms, along the last axis
# what is scaled at an end of the axis, so that the matrix of a type is the transpose of that of another
@static
def is_cosine(transform):
    return transform is sf.dct


def weights(n, first, last):
    """Ones, but for the first and the last."""
    w = np.ones(n)
    w[0] = first
    w[-1] = w[-1] * last if n > 1 else first
    return w


say(weights, pure=True)


# type 1: y = C W x, with C symmetric, and W one at the ends and two inside
# type 3 of x is type 2 transposed, but for what it does with the first entry; type 4 is symmetric
@adjoint_rule(sf.dct, linear="jointly", type=(1, 2, 3, 4), covers=lambda ranks, options: ranks[0] is not None)
def dct(x, y, y_bar, type=2):
    n = np.shape(x)[-1]
    if type == 1:
        return weights(n, 0.5, 0.5) * sf.dct(weights(n, 2.0, 2.0) * y_bar, 1)
    if type == 2:
        return sf.dct(weights(n, 2.0, 1.0) * y_bar, 3)
    if type == 3:
        return weights(n, 0.5, 1.0) * sf.dct(y_bar, 2)
    return sf.dct(y_bar, 4)


@adjoint_rule(sf.dst, linear="jointly", type=(1, 2, 3, 4), covers=lambda ranks, options: ranks[0] is not None)
def dst(x, y, y_bar, type=2):
    n = np.shape(x)[-1]
    if type == 2:
        return sf.dst(last_weights(n, 2.0) * y_bar, 3)
    if type == 3:
        return last_weights(n, 0.5) * sf.dst(y_bar, 2)
    return sf.dst(y_bar, type)


def last_weights(n, last):
    """Ones, but for the last."""
    w = np.ones(n)
    w[-1] = last
    return w


say(last_weights, pure=True)


def of_length(x, n):
    """The last axis cut, or filled up with zeros."""
    m = np.shape(x)[-1]
    if n <= m:
        return x[..., :n]
    return np.concatenate([x, np.zeros(np.shape(x)[:-1] + (max(n - m, 0),))], axis=-1)


def scale_of(transform, kind, n):
    """What the unscaled transform and its inverse multiply by together."""
    return 2 * (n - 1 if is_cosine(transform) else n + 1) if kind == 1 else 2 * n


def orthogonal(transform, kind, x, n):
    """The transform scaled so that its matrix is orthogonal."""
    root = math.sqrt(1 / scale_of(transform, kind, n))
    if kind == 1 and is_cosine(transform):
        halved = weights(n, math.sqrt(0.5), math.sqrt(0.5))
        return root * halved * transform(x / halved, 1)
    ends = weights(n, math.sqrt(0.5), 1.0) if is_cosine(transform) else last_weights(n, math.sqrt(0.5))
    if kind == 2:
        return root * ends * transform(x, 2)
    if kind == 3:
        return root * transform(x / ends, 3)
    return root * transform(x, kind)


def transformed(transform, x, kind, n, axis, norm, inverse):
    """A cosine or sine transform of one axis, or its inverse, as SciPy scales it."""
    rows = np.moveaxis(np.asarray(x), axis, -1)
    if n is not None:
        rows = of_length(rows, n)
    count = np.shape(rows)[-1]
    used = (3 if kind == 2 else 2 if kind == 3 else kind) if inverse else kind
    if norm == "ortho":
        y = orthogonal(transform, used, rows, count)
    elif (norm == "forward") != inverse:
        y = transform(rows, used) / scale_of(transform, used, count)
    else:
        y = transform(rows, used)
    return np.moveaxis(y, -1, axis)


@defined(sf.dct)
def dct_of_axis(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None):
    return transformed(sf.dct, x, type, n, axis, norm, False)


@defined(sf.idct)
def idct_of_axis(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None):
    return transformed(sf.dct, x, type, n, axis, norm, True)


@defined(sf.dst)
def dst_of_axis(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None):
    return transformed(sf.dst, x, type, n, axis, norm, False)


@defined(sf.idst)
def idst_of_axis(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None):
    return transformed(sf.dst, x, type, n, axis, norm, True)


def of_all_axes(transform, x, kind, s, axes, norm):
    rank = np.ndim(x)
    count = rank if s is None else len(s)
    for k, axis in enumerate(range(rank - count, rank) if axes is None else axes):
        x = transform(x, type=kind, n=None if s is None else s[k], axis=axis, norm=norm)
    return x


@defined(sf.dctn)
def dctn(x, type=2, s=None, axes=None, norm=None):
    return of_all_axes(sf.dct, x, type, s, axes, norm)


@defined(sf.idctn)
def idctn(x, type=2, s=None, axes=None, norm=None):
    return of_all_axes(sf.idct, x, type, s, axes, norm)
