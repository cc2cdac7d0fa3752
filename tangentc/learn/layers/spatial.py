"""Layers on ``(batch, channels, *space)``: convolutions and pooling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tangentc.learn import functions as F
from tangentc.learn.layers.initialisers import he_uniform


def _kernel(kernel, dimensions):
    return (kernel,) * dimensions if isinstance(kernel, int) else tuple(kernel)


@dataclass
class Conv:
    """A convolution in as many dimensions as its kernel has; see `functions.conv`.

    >>> layer = Conv.of(3, 8, 3, np.random.default_rng(0), padding="same")
    >>> layer(np.ones((2, 3, 6, 6))).shape
    (2, 8, 6, 6)
    """

    weight: Any
    bias: Any = None
    stride: Any = 1
    padding: Any = 0
    dilation: Any = 1
    groups: int = 1

    @classmethod
    def of(
        cls, channels, out, kernel, rng, stride=1, padding=0, dilation=1, groups=1, bias=True, dimensions=2,
        dtype=float, initial=he_uniform,
    ):  # fmt: skip
        """A convolution from ``channels`` to ``out``; a kernel that is a number has ``dimensions`` of them."""
        weight = initial(rng, (out, channels // groups, *_kernel(kernel, dimensions)), dtype)
        return cls(weight, np.zeros(out, dtype) if bias else None, stride, padding, dilation, groups)

    def __call__(self, x):
        return F.conv(x, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)


@dataclass
class ConvTranspose:
    """A transposed convolution; see `functions.conv_transpose`.

    >>> layer = ConvTranspose.of(3, 8, 2, np.random.default_rng(0), stride=2)
    >>> layer(np.ones((2, 3, 6, 6))).shape
    (2, 8, 12, 12)
    """

    weight: Any
    bias: Any = None
    stride: Any = 1
    padding: Any = 0
    output_padding: Any = 0
    dilation: Any = 1
    groups: int = 1

    @classmethod
    def of(
        cls, channels, out, kernel, rng, stride=1, padding=0, output_padding=0, dilation=1, groups=1, bias=True,
        dimensions=2, dtype=float, initial=he_uniform,
    ):  # fmt: skip
        """A transposed convolution from ``channels`` to ``out``; see `Conv.of`."""
        weight = initial(rng, (channels, out // groups, *_kernel(kernel, dimensions)), dtype)
        return cls(weight, np.zeros(out, dtype) if bias else None, stride, padding, output_padding, dilation, groups)

    def __call__(self, x):
        return F.conv_transpose(
            x, self.weight, self.bias, self.stride, self.padding, self.output_padding, self.dilation, self.groups
        )


@dataclass
class MaxPool:
    """The largest entry of each window; see `functions.max_pool`."""

    size: Any
    stride: Any = None
    padding: Any = 0

    def __call__(self, x):
        return F.max_pool(x, self.size, self.stride, self.padding)


@dataclass
class AveragePool:
    """The mean of each window; see `functions.average_pool`."""

    size: Any
    stride: Any = None
    padding: Any = 0

    def __call__(self, x):
        return F.average_pool(x, self.size, self.stride, self.padding)
