"""Activations: functions of each entry, and softmax along an axis.  None overflows."""

from __future__ import annotations

import math

import numpy as np

from tangentc import adjoint_rule, elementwise, operation, tangent_rule
from tangentc.errors import BadArgument
from tangentc.learn.arrays import module_of


def relu(x):
    """``max(x, 0)`` for each entry; its derivative at 0 is 0 (Nair and Hinton, ICML 2010).

    >>> relu(np.array([-1.0, 2.0]))
    array([0., 2.])
    """
    return np.maximum(x, 0)


@elementwise(relu, domain=((0.1, 2),))
def _relu_rule(x, y):
    return y > 0


def leaky_relu(x, slope=0.01):
    """``x`` where it is positive, else ``slope * x`` (Maas, Hannun and Ng, ICML 2013); the slope is at most 1.

    >>> leaky_relu(np.array([-1.0, 2.0]))
    array([-0.01,  2.  ])
    """
    return np.maximum(x, slope * x)


@elementwise(leaky_relu, domain=((0.1, 2),))
def _leaky_relu_rule(x, y, slope=0.01):
    return (x > 0) * (1 - slope) + slope


def elu(x, alpha=1.0):
    """``x`` where it is positive, else ``alpha * (exp(x) - 1)`` (Clevert et al., arXiv:1511.07289).

    >>> elu(np.array([-np.inf, 2.0]))
    array([-1.,  2.])
    """
    return np.maximum(x, 0) + alpha * np.expm1(np.minimum(x, 0))


@elementwise(elu, domain=((0.1, 2),))
def _elu_rule(x, y, alpha=1.0):
    positive = x > 0
    return positive + (1 - positive) * alpha * np.exp(np.minimum(x, 0))


def sigmoid(x):
    """``1 / (1 + exp(-x))``, by the hyperbolic tangent.

    >>> sigmoid(np.array([-1000.0, 0.0, 1000.0]))
    array([0. , 0.5, 1. ])
    """
    return 0.5 * np.tanh(0.5 * x) + 0.5


@elementwise(sigmoid)
def _sigmoid_rule(x, y):
    return y * (1 - y)


def tanh(x):
    """The hyperbolic tangent of each entry."""
    return np.tanh(x)


def silu(x):
    """``x * sigmoid(x)``, also known as swish (Elfwing, Uchibe and Doya, arXiv:1702.03118).

    >>> silu(np.array([0.0, 1000.0]))
    array([   0., 1000.])
    """
    return x * sigmoid(x)


def softplus(x):
    """``log(1 + exp(x))`` (Dugas et al., NIPS 2000).

    >>> softplus(np.array([-1000.0, 0.0, 1000.0])).round(4)
    array([0.000e+00, 6.931e-01, 1.000e+03])
    """
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


@elementwise(softplus)
def _softplus_rule(x, y):
    return sigmoid(x)


def gelu(x, approximate=False):
    """``x`` times the normal distribution function at ``x`` (Hendrycks and Gimpel, arXiv:1606.08415, section 2).

    ``approximate=True`` is their formula with the hyperbolic tangent; the exact one needs SciPy's error function, and
    raises `BadArgument` where SciPy is not installed.

    >>> gelu(np.array([-1.0, 0.0, 1.0]), approximate=True).round(4)
    array([-0.1588,  0.    ,  0.8412])
    """
    if approximate:
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))
    return x * normal_distribution(x)


def normal_distribution(x):
    """The probability that a standard normal variable is below ``x``, for each entry."""
    return 0.5 * _erf(x * (1 / math.sqrt(2))) + 0.5


@elementwise(normal_distribution)
def _normal_distribution_rule(x, y):
    return np.exp(-0.5 * x * x) * (1 / math.sqrt(2 * math.pi))


def _erf(x):
    on_device = module_of(x) is not np
    try:
        if on_device:
            from cupyx.scipy.special import erf
        else:
            from scipy.special import erf
    except ImportError:
        raise BadArgument(
            "gelu needs the error function", why="SciPy is not installed",
            way_out='install it, or say gelu(x, approximate=True)',
        ) from None  # fmt: skip
    return erf(x)


def softmax(x, axis=-1):
    """``exp(x)`` divided by its sum along an axis.

    >>> softmax(np.array([1000.0, 1000.0]))
    array([0.5, 0.5])
    """
    y = np.exp(x - np.max(x, axis=axis, keepdims=True))
    y /= np.sum(y, axis=axis, keepdims=True)
    return y


def _samples(rng):
    return [((rng.normal(size=s),), {"axis": k}) for s, k in (((4,), -1), ((3, 2), 0), ((2, 3, 2), 1), ((0, 3), -1))]


@adjoint_rule(softmax, samples=_samples)
def _softmax_rule(x, y, y_bar, axis=-1):
    weighted = y_bar * y
    return weighted - y * np.sum(weighted, axis=axis, keepdims=True)


@tangent_rule(softmax)
def _softmax_tangent(x, y, x_dot, axis=-1):
    weighted = x_dot * y
    return weighted - y * np.sum(weighted, axis=axis, keepdims=True)


def log_softmax(x, axis=-1):
    """The logarithm of `softmax`.

    >>> log_softmax(np.array([0.0, -1000.0]))
    array([    0., -1000.])
    """
    shifted = x - np.max(x, axis=axis, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


@adjoint_rule(log_softmax, samples=_samples)
def _log_softmax_rule(x, y, y_bar, axis=-1):
    return y_bar - np.exp(y) * np.sum(y_bar, axis=axis, keepdims=True)


@tangent_rule(log_softmax)
def _log_softmax_tangent(x, y, x_dot, axis=-1):
    return x_dot - np.sum(np.exp(y) * x_dot, axis=axis, keepdims=True)


_each = relu, leaky_relu, elu, sigmoid, softplus, normal_distribution
operation(*_each, pure=True, new=True, elementwise=True, keeps_shape=True)
operation(softmax, log_softmax, pure=True, new=True, keeps_shape=True)
