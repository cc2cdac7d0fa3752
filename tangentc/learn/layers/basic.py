"""Layers of weights: plain dataclasses whose parameters are attributes, and which are called.

``Linear.of(64, 10, rng)`` makes one with initial weights; ``Linear(weight, bias)`` takes those that are there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tangentc import stop_gradient
from tangentc.learn import functions as F
from tangentc.learn.layers.initialisers import he_uniform


@dataclass
class Linear:
    """``x @ weight.T + bias``; see `functions.linear`.

    >>> layer = Linear.of(3, 2, np.random.default_rng(0))
    >>> layer(np.ones((5, 3))).shape
    (5, 2)
    """

    weight: Any
    bias: Any = None

    @classmethod
    def of(cls, features, out, rng, bias=True, dtype=float, initial=he_uniform):
        """A layer from ``features`` to ``out`` numbers; ``initial`` makes the weight, the bias is zero."""
        return cls(initial(rng, (out, features), dtype), np.zeros(out, dtype) if bias else None)

    def __call__(self, x):
        return F.linear(x, self.weight, self.bias)


@dataclass
class Embedding:
    """A vector for each of so many symbols; see `functions.embedding`.

    >>> Embedding.of(10, 4, np.random.default_rng(0))(np.array([[1, 2]])).shape
    (1, 2, 4)
    """

    table: Any

    @classmethod
    def of(cls, symbols, width, rng, dtype=float, scale=1.0):
        """A table of ``(symbols, width)`` normal numbers with standard deviation ``scale``."""
        return cls((scale * rng.normal(size=(symbols, width))).astype(dtype))

    def __call__(self, indices):
        return F.embedding(indices, self.table)


@dataclass
class Dropout:
    """Zeros at a rate while ``training``; see `functions.dropout` and `evaluating`.

    >>> Dropout(0.5, np.random.default_rng(0))(np.ones(5))
    array([2., 0., 0., 0., 2.])
    """

    rate: float
    rng: Any
    training: bool = True

    def __call__(self, x):
        return F.dropout(x, stop_gradient(self.rate), self.rng, self.training)


@dataclass
class Sequential:
    """Layers, and functions of one array, one after the other.

    >>> rng = np.random.default_rng(0)
    >>> model = Sequential([Linear.of(3, 8, rng), F.relu, Linear.of(8, 2, rng)])
    >>> model(np.ones((5, 3))).shape
    (5, 2)
    """

    layers: list[Callable]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


@dataclass
class Residual:
    """``x + inner(x)`` (He et al., arXiv:1512.03385, equation 1), or ``short(x) + inner(x)``."""

    inner: Callable
    short: Any = None

    def __call__(self, x):
        y = self.inner(x)
        return y + (x if self.short is None else self.short(x))


def flatten(x):
    """``(batch, ...)`` as ``(batch, features)``.

    >>> flatten(np.ones((2, 3, 4))).shape
    (2, 12)
    """
    return np.reshape(x, (np.shape(x)[0], math.prod(np.shape(x)[1:])))
