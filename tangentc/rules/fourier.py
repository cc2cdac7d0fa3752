"""Discrete Fourier transforms.  The matrix of a transform is symmetric, so that a transform is its own adjoint.

Formulas: Van Loan, "Computational frameworks for the fast Fourier transform" (1992), section 1.1.
"""

import numpy as np

from tangentc.rules.fragment import inline
from tangentc.rules.registry import adjoint_rule, zero_gradient
from tangentc.runtime import hermitian_weights, resized

ONE_AXIS = [{}, {"axis": 0}, {"n": 6}, {"n": 3}, {"n": 5, "axis": 0, "norm": "ortho"}, {"norm": "forward"}]


def complex_arrays(*options, shape=(4, 5)):
    def draw(rng):
        z = rng.normal(size=shape) + 1j * rng.normal(size=shape)
        return [((z,), o) for o in options] + [((rng.normal(size=shape),), {})]

    return draw


def real_arrays(*options):
    return lambda rng: [((rng.normal(size=(4, 5)),), o) for o in options]


@adjoint_rule(np.fft.fft, linear="jointly", samples=complex_arrays(*ONE_AXIS))
def fft(x, y, y_bar, n=None, axis=-1, norm=None):
    if n is None:
        return np.fft.fft(y_bar, axis=axis, norm=norm)
    return resized(np.fft.fft(y_bar, axis=axis, norm=norm), x)


@adjoint_rule(np.fft.ifft, linear="jointly", samples=complex_arrays(*ONE_AXIS))
def ifft(x, y, y_bar, n=None, axis=-1, norm=None):
    if n is None:
        return np.fft.ifft(y_bar, axis=axis, norm=norm)
    return resized(np.fft.ifft(y_bar, axis=axis, norm=norm), x)


# the transform of a real sequence is the first half of the complex one
@adjoint_rule(np.fft.rfft, linear="jointly", samples=real_arrays(*ONE_AXIS), real=True)
def rfft(x, y, y_bar, n=None, axis=-1, norm=None):
    if n is None:
        return np.real(np.fft.fft(y_bar, n=np.shape(x)[axis], axis=axis, norm=norm))
    return resized(np.real(np.fft.fft(y_bar, n=n, axis=axis, norm=norm)), x)


def opposite(norm):
    """The norm with which the transform the other way is scaled alike."""
    return {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}[norm]


# of the half that it is given it counts the inner entries twice
@adjoint_rule(np.fft.irfft, linear="jointly", samples=complex_arrays(*ONE_AXIS))
def irfft(x, y, y_bar, n=None, axis=-1, norm=None):
    half = np.conj(np.fft.rfft(y_bar, axis=axis, norm=opposite(norm))) * hermitian_weights(y, axis)
    return half if n is None else resized(half, x)


zero_gradient(hermitian_weights, np.fft.fftfreq, np.fft.rfftfreq)


# ------------------------------------------------------------------ several axes
PLANES = [{}, {"axes": (0, 1)}, {"s": (3, 6), "axes": (0, 1)}, {"norm": "ortho"}]
ALL_AXES = [*PLANES, {"axes": (1,)}, {"s": (7,), "axes": (-1,)}]


@adjoint_rule(np.fft.fft2, linear="jointly", samples=complex_arrays(*PLANES))
def fft2(x, y, y_bar, s=None, axes=(-2, -1), norm=None):
    if s is None:
        return np.fft.fft2(y_bar, axes=axes, norm=norm)
    return resized(np.fft.fft2(y_bar, axes=axes, norm=norm), x)


@adjoint_rule(np.fft.ifft2, linear="jointly", samples=complex_arrays(*PLANES))
def ifft2(x, y, y_bar, s=None, axes=(-2, -1), norm=None):
    if s is None:
        return np.fft.ifft2(y_bar, axes=axes, norm=norm)
    return resized(np.fft.ifft2(y_bar, axes=axes, norm=norm), x)


def given_axes(axes, rank, s):
    """The axes of a transform; sizes without axes belong to the last ones."""
    if axes is None:
        return tuple(range(rank)) if s is None else tuple(range(-len(s), 0))
    return tuple(axes)


@adjoint_rule(np.fft.fftn, linear="jointly", samples=complex_arrays(*ALL_AXES))
def fftn(x, y, y_bar, s=None, axes=None, norm=None):
    if s is None:
        return np.fft.fftn(y_bar, axes=axes, norm=norm)
    return resized(np.fft.fftn(y_bar, axes=given_axes(axes, np.ndim(x), s), norm=norm), x)


@adjoint_rule(np.fft.ifftn, linear="jointly", samples=complex_arrays(*ALL_AXES))
def ifftn(x, y, y_bar, s=None, axes=None, norm=None):
    if s is None:
        return np.fft.ifftn(y_bar, axes=axes, norm=norm)
    return resized(np.fft.ifftn(y_bar, axes=given_axes(axes, np.ndim(x), s), norm=norm), x)


@adjoint_rule(np.fft.rfftn, linear="jointly", samples=real_arrays(*ALL_AXES), real=True)
def rfftn(x, y, y_bar, s=None, axes=None, norm=None):
    along = given_axes(axes, np.ndim(x), s)
    sizes = tuple([np.shape(x)[a] for a in along]) if s is None else s
    return resized(np.real(np.fft.fftn(y_bar, s=sizes, axes=along, norm=norm)), x)


@adjoint_rule(np.fft.rfft2, linear="jointly", samples=real_arrays(*PLANES), real=True)
def rfft2(x, y, y_bar, s=None, axes=(-2, -1), norm=None):
    sizes = tuple([np.shape(x)[a] for a in axes]) if s is None else s
    return resized(np.real(np.fft.fftn(y_bar, s=sizes, axes=axes, norm=norm)), x)


@inline
def inverse_real(x, y, y_bar, axes, norm):
    """The adjoint of a real inverse transform, whose last step is the real one."""
    half = np.conj(np.fft.rfft(y_bar, axis=axes[-1], norm=opposite(norm))) * hermitian_weights(y, axes[-1])
    return resized(np.fft.ifftn(half, axes=axes[:-1], norm=norm) if len(axes) > 1 else half, x)


@adjoint_rule(np.fft.irfftn, linear="jointly", samples=complex_arrays(*ALL_AXES))
def irfftn(x, y, y_bar, s=None, axes=None, norm=None):
    return inverse_real(x, y, y_bar, given_axes(axes, np.ndim(x), s), norm)


@adjoint_rule(np.fft.irfft2, linear="jointly", samples=complex_arrays(*PLANES))
def irfft2(x, y, y_bar, s=None, axes=(-2, -1), norm=None):
    return inverse_real(x, y, y_bar, axes, norm)
