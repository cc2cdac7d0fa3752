"""Layers of normalisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tangentc import stop_gradient
from tangentc.learn import functions as F
from tangentc.learn.trained import State


@dataclass
class BatchNorm:
    """Normalisation of batches; see `functions.batch_norm`.

    While ``training``, a call moves the running statistics; `learn.value_and_grad` puts them where they belong.

    >>> layer = BatchNorm.of(2)
    >>> layer(np.array([[1.0, 0.0], [3.0, 4.0]])).round(3)
    array([[-1., -1.],
           [ 1.,  1.]])
    >>> layer.running_mean
    array([0.2, 0.2])
    """

    weight: Any
    bias: Any
    running_mean: State
    running_variance: State
    training: bool = True
    momentum: float = 0.1
    eps: float = 1e-5

    @classmethod
    def of(cls, channels, dtype=float, momentum=0.1, eps=1e-5):
        """Weights of 1, biases of 0, a running mean of 0 and variance of 1."""
        one, zero = np.ones(channels, dtype), np.zeros(channels, dtype)
        return cls(one, zero, zero.copy(), one.copy(), True, momentum, eps)

    def __call__(self, x):
        y, self.running_mean, self.running_variance = F.batch_norm(
            x, self.weight, self.bias, stop_gradient(self.running_mean), stop_gradient(self.running_variance),
            self.training, stop_gradient(self.momentum), stop_gradient(self.eps),
        )  # fmt: skip
        return y


@dataclass
class LayerNorm:
    """Normalisation over the last axes; see `functions.layer_norm`.

    >>> LayerNorm.of(2)(np.array([[1.0, 3.0]])).round(3)
    array([[-1.,  1.]])
    """

    weight: Any
    bias: Any
    eps: float = 1e-5

    @classmethod
    def of(cls, shape, dtype=float, eps=1e-5):
        """Weights of 1 and biases of 0 of this shape, a number or several."""
        return cls(np.ones(shape, dtype), np.zeros(shape, dtype), eps)

    def __call__(self, x):
        return F.layer_norm(x, self.weight, self.bias, stop_gradient(self.eps))


@dataclass
class GroupNorm:
    """Normalisation of groups of channels; see `functions.group_norm`."""

    groups: int
    weight: Any
    bias: Any
    eps: float = 1e-5

    @classmethod
    def of(cls, groups, channels, dtype=float, eps=1e-5):
        """Weights of 1 and biases of 0."""
        return cls(groups, np.ones(channels, dtype), np.zeros(channels, dtype), eps)

    def __call__(self, x):
        return F.group_norm(x, self.groups, self.weight, self.bias, stop_gradient(self.eps))


@dataclass
class InstanceNorm:
    """Normalisation of each channel of each example; see `functions.instance_norm`."""

    weight: Any
    bias: Any
    eps: float = 1e-5

    @classmethod
    def of(cls, channels, dtype=float, eps=1e-5):
        """Weights of 1 and biases of 0."""
        return cls(np.ones(channels, dtype), np.zeros(channels, dtype), eps)

    def __call__(self, x):
        return F.instance_norm(x, self.weight, self.bias, stop_gradient(self.eps))


@dataclass
class RMSNorm:
    """Division by the root mean square; see `functions.rms_norm`."""

    weight: Any
    eps: float = 1e-6

    @classmethod
    def of(cls, width, dtype=float, eps=1e-6):
        """Weights of 1."""
        return cls(np.ones(width, dtype), eps)

    def __call__(self, x):
        return F.rms_norm(x, self.weight, stop_gradient(self.eps))
