"""Normalisation: of batches, layers, groups, instances and root mean squares.

Each is `standardise` over some axes, times a weight and plus a bias for each channel.
"""

from __future__ import annotations

import math

import numpy as np

from tangentc import adjoint_rule, operation, tangent_rule, zero_gradient
from tangentc.errors import BadArgument
from tangentc.learn.arrays import module_of
from tangentc.rules.fragment import inline, is_zero


def standardise(x, eps, axis=-1):
    """``x`` with mean 0 and variance 1 along some axes, and the mean and the variance, with axes of length 1.

    The variance is that of a population, and ``eps`` is added to it (Ioffe and Szegedy, arXiv:1502.03167,
    algorithm 1).  Gives ``(z, mean, variance)``, ``z = (x - mean) / sqrt(variance + eps)``.

    >>> standardise(np.array([1.0, 3.0]), 0.0)
    (array([-1.,  1.]), array([2.]), array([1.]))
    """
    xp = module_of(x)
    mean = xp.mean(x, axis=axis, keepdims=True)
    z = x - mean
    variance = mean_of_products(z, z, axis)
    z /= xp.sqrt(variance + eps)
    return z, mean, variance


def standardise_adjoint(z_bar, z, variance, axis=-1):
    """The adjoint of `standardise` by its argument, from that of ``z``; ``variance`` is that with ``eps`` added.

    ``(z_bar - mean(z_bar) - z * mean(z_bar * z)) / sqrt(variance)`` (Ioffe and Szegedy, section 3), with two arrays of
    the size of ``z`` in place of six.
    """
    xp = module_of(z)
    x_bar = z * -mean_of_products(z_bar, z, axis)
    x_bar += z_bar
    x_bar -= xp.mean(z_bar, axis=axis, keepdims=True)
    x_bar /= xp.sqrt(variance)
    return x_bar


def mean_of_products(a, b, axis=-1):
    """The mean of ``a * b`` over some axes, which stay with length 1, without an array of products."""
    axes = axis if isinstance(axis, tuple) else (axis,)
    axes = tuple([k % a.ndim for k in axes])
    every = list(range(a.ndim))
    kept = [k for k in every if k not in axes]
    total = module_of(a).einsum(a, every, b, every, kept)
    count = 1
    for k in axes:
        count *= a.shape[k]
    shape = [1 if k in axes else n for k, n in enumerate(a.shape)]
    with np.errstate(invalid="ignore"):
        return module_of(a).reshape(total, shape) / a.dtype.type(count)


def _samples(rng):
    axes = [((4, 3), 0), ((4, 3), -1), ((3, 2, 5), (0, 2)), ((2, 3, 2, 2), (0, 2, 3)), ((2, 0), 0), ((1, 4), (1,))]
    return [((rng.normal(size=shape), 1.0), {"axis": axis}) for shape, axis in axes]


@inline
def _of_statistics(x, y, y_bar):
    """What comes through the mean and the variance."""
    share = np.size(y[1]) / np.maximum(np.size(x), 1)
    if is_zero(y_bar[2]):
        return y_bar[1] * share
    if is_zero(y_bar[1]):
        return y_bar[2] * (x - y[1]) * (2 * share)
    return y_bar[1] * share + y_bar[2] * (x - y[1]) * (2 * share)


@inline
def _of_argument(x, eps, y, y_bar, axis):
    """What comes to ``x``."""
    if is_zero(y_bar[0]):
        return _of_statistics(x, y, y_bar)
    x_bar = standardise_adjoint(y_bar[0], y[0], y[2] + eps, axis=axis)
    if is_zero(y_bar[1]) and is_zero(y_bar[2]):
        return x_bar
    return x_bar + _of_statistics(x, y, y_bar)


@adjoint_rule(standardise, samples=_samples)
def _standardise_rule(x, eps, y, y_bar, axis=-1):
    return _of_argument(x, eps, y, y_bar, axis), -0.5 * np.sum(y_bar[0] * y[0] / (y[2] + eps))


@tangent_rule(standardise)
def _standardise_tangent(x, eps, y, x_dot, eps_dot, axis=-1):
    mean_dot = np.mean(x_dot, axis=axis, keepdims=True)
    z_dot = _centred(x_dot, y[0], axis) / np.sqrt(y[2] + eps) - 0.5 * eps_dot * y[0] / (y[2] + eps)
    return z_dot, mean_dot, 2 * mean_of_products(x - y[1], x_dot, axis=axis)


def _pairs(rng):
    return [((rng.normal(size=(4, 3)), rng.normal(size=(4, 3))), {"axis": axis}) for axis in (0, -1)]


@adjoint_rule(mean_of_products, linear="each", samples=_pairs)
def _mean_of_products_rule(a, b, y, y_bar, axis=-1):
    share = y_bar * (np.size(y) / np.maximum(np.size(a), 1))
    return share * b, share * a


@inline
def _centred(z_bar, z, axis):
    return z_bar - np.mean(z_bar, axis=axis, keepdims=True) - z * mean_of_products(z_bar, z, axis=axis)


def _samples_of_adjoint(rng):
    return [
        ((rng.normal(size=(4, 3)), rng.normal(size=(4, 3)), rng.uniform(1, 2, size=shape)), {"axis": axis})
        for axis, shape in ((0, (1, 3)), (-1, (4, 1)))
    ]


@adjoint_rule(standardise_adjoint, samples=_samples_of_adjoint)
def _standardise_adjoint_rule(z_bar, z, variance, x_bar, x_bar_bar, axis=-1):
    # the map of z_bar is symmetric
    scaled = x_bar_bar / np.sqrt(variance)
    shared = mean_of_products(z_bar, z, axis=axis)
    return (
        _centred(scaled, z, axis),
        -(scaled * shared + z_bar * mean_of_products(scaled, z, axis=axis)),
        -np.sum(x_bar * x_bar_bar, axis=axis, keepdims=True) / (2 * variance),
    )


@tangent_rule(standardise_adjoint)
def _standardise_adjoint_tangent(z_bar, z, variance, x_bar, z_bar_dot, z_dot, variance_dot, axis=-1):
    moved = _centred(z_bar_dot, z, axis) - z_dot * mean_of_products(z_bar, z, axis=axis)
    turned = moved - z * mean_of_products(z_bar, z_dot, axis=axis)
    return turned / np.sqrt(variance) - x_bar * variance_dot / (2 * variance)


operation(standardise_adjoint, pure=True, new=True, keeps_shape=True)
operation(standardise, pure=True, new=True)
operation(mean_of_products, pure=True, new=True)


def batch_norm(x, weight, bias, mean, variance, training=True, momentum=0.1, eps=1e-5):
    """Batch normalisation: ``x`` is ``(batch, channels, *space)``, all else has one entry for each channel.

    Gives ``(y, mean, variance)``: the result, and the running statistics as they are afterwards, which the caller
    keeps; with ``training=False`` it uses them, and gives them back.  The running variance is that of a sample, with
    the factor ``n / (n - 1)``, as in PyTorch (Ioffe and Szegedy, arXiv:1502.03167, algorithms 1 and 2).

    >>> x, one = np.array([[1.0], [3.0]]), np.ones(1)
    >>> y, mean, variance = batch_norm(x, one, 0 * one, 0 * one, one)
    >>> y.round(3), mean, variance
    (array([[-1.],
           [ 1.]]), array([0.2]), array([1.1]))
    """
    shape = (1, -1) + (1,) * (np.ndim(x) - 2)
    if not training:
        scale = weight / np.sqrt(variance + eps)
        y = x * np.reshape(scale, shape) + np.reshape(bias - mean * scale, shape)
        return y, mean, variance
    z, own, spread = standardise(x, eps, axis=(0,) + tuple(range(2, np.ndim(x))))
    n = np.size(x) / np.maximum(np.size(own), 1)
    new_mean = (1 - momentum) * mean + momentum * np.ravel(own)
    new_variance = (1 - momentum) * variance + momentum * n / np.maximum(n - 1, 1) * np.ravel(spread)
    return z * np.reshape(weight, shape) + np.reshape(bias, shape), new_mean, new_variance


def layer_norm(x, weight, bias, eps=1e-5):
    """Normalisation over the last axes, as many as ``weight`` has (Ba, Kiros and Hinton, arXiv:1607.06450).

    >>> layer_norm(np.array([[1.0, 3.0]]), np.ones(2), np.zeros(2)).round(3)
    array([[-1.,  1.]])
    """
    z = standardise(x, eps, axis=tuple(range(-np.ndim(weight), 0)))[0]
    return z * weight + bias


def group_norm(x, groups, weight, bias, eps=1e-5):
    """Normalisation of groups of channels of each example; ``x`` is ``(batch, channels, *space)`` (Wu and He,
    arXiv:1803.08494).  Raises `BadArgument` if the channels cannot be shared out evenly.

    >>> group_norm(np.array([[1.0, 3.0, 0.0, 4.0]]), 2, np.ones(4), np.zeros(4)).round(3)
    array([[-1.,  1., -1.,  1.]])
    """
    refuse_groups(np.shape(x)[1], groups)
    shape = (1, -1) + (1,) * (np.ndim(x) - 2)
    parts = np.reshape(x, (np.shape(x)[0], groups, math.prod(np.shape(x)[1:]) // groups))
    z = np.reshape(standardise(parts, eps, axis=-1)[0], np.shape(x))
    return z * np.reshape(weight, shape) + np.reshape(bias, shape)


def instance_norm(x, weight, bias, eps=1e-5):
    """Normalisation of each channel of each example; ``x`` is ``(batch, channels, *space)`` (Ulyanov, Vedaldi and
    Lempitsky, arXiv:1607.08022).

    >>> instance_norm(np.array([[[1.0, 3.0]]]), np.ones(1), np.zeros(1)).round(3)
    array([[[-1.,  1.]]])
    """
    shape = (1, -1) + (1,) * (np.ndim(x) - 2)
    z = standardise(x, eps, axis=tuple(range(2, np.ndim(x))))[0]
    return z * np.reshape(weight, shape) + np.reshape(bias, shape)


def rms_norm(x, weight, eps=1e-6):
    """``x`` divided by its root mean square over the last axis, times ``weight`` (Zhang and Sennrich,
    arXiv:1910.07467, equation 4).

    >>> rms_norm(np.array([3.0, -3.0]), np.ones(2)).round(3)
    array([ 1., -1.])
    """
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps) * weight


def refuse_groups(channels, groups):
    """Raise `BadArgument` unless the groups have equally many channels."""
    if channels % groups:
        raise BadArgument(
            f"{channels} channels are to be normalised in {groups} groups",
            why="the groups would not have equally many", way_out="choose a divisor of the number of channels",
        )  # fmt: skip


zero_gradient(refuse_groups)
