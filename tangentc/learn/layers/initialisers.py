"""Initial weights.  Each takes a generator and a shape, ``(out, in, *kernel)`` for weights, and gives an array."""

from __future__ import annotations

import math

import numpy as np

from tangentc.errors import BadArgument


def fans(shape):
    """How many numbers come into one unit, and how many of its copies go out.

    >>> fans((8, 4)), fans((8, 4, 3, 3))
    ((4, 8), (36, 72))
    """
    if len(shape) < 2:
        raise BadArgument(
            f"a weight of shape {tuple(shape)} has no inputs and outputs",
            why="weights are (out, in, *kernel)", way_out="give it two axes at least",
        )  # fmt: skip
    window = math.prod(shape[2:])
    return shape[1] * window, shape[0] * window


def glorot_uniform(rng, shape, dtype=float, gain=1.0):
    """Uniform within ``gain * sqrt(6 / (in + out))`` (Glorot and Bengio, AISTATS 2010, equation 16).

    >>> bool(np.abs(glorot_uniform(np.random.default_rng(0), (2, 4))).max() < 1)
    True
    """
    limit = gain * math.sqrt(6 / sum(fans(shape)))
    return rng.uniform(-limit, limit, shape).astype(dtype)


def glorot_normal(rng, shape, dtype=float, gain=1.0):
    """Normal with variance ``gain ** 2 * 2 / (in + out)`` (Glorot and Bengio, AISTATS 2010, equation 12)."""
    return (gain * math.sqrt(2 / sum(fans(shape))) * rng.normal(size=shape)).astype(dtype)


def he_uniform(rng, shape, dtype=float):
    """Uniform within ``sqrt(6 / in)``, for units that are rectified (He et al., arXiv:1502.01852, equation 10)."""
    limit = math.sqrt(6 / fans(shape)[0])
    return rng.uniform(-limit, limit, shape).astype(dtype)


def he_normal(rng, shape, dtype=float):
    """Normal with variance ``2 / in``, for units that are rectified (He et al., arXiv:1502.01852, equation 10)."""
    return (math.sqrt(2 / fans(shape)[0]) * rng.normal(size=shape)).astype(dtype)


def orthogonal(rng, shape, dtype=float, gain=1.0):
    """Rows, or columns where there are fewer, that are orthonormal (Saxe, McClelland and Ganguli, arXiv:1312.6120).

    >>> W = orthogonal(np.random.default_rng(0), (2, 3))
    >>> np.allclose(W @ W.T, np.eye(2))
    True
    """
    rows, columns = shape[0], math.prod(shape[1:])
    q, r = np.linalg.qr(rng.normal(size=(max(rows, columns), min(rows, columns))))
    q = q * np.sign(np.diagonal(r))  # which makes it uniform over all of them
    return (gain * (q if rows >= columns else q.T).reshape(shape)).astype(dtype)


def truncated_normal(rng, shape, dtype=float, scale=0.02):
    """Normal with standard deviation ``scale`` before what is further than two of them away is drawn again.

    >>> bool(np.abs(truncated_normal(np.random.default_rng(0), (100,))).max() <= 0.04)
    True
    """
    x = rng.normal(size=shape)
    while (far := np.abs(x) > 2).any():
        x[far] = rng.normal(size=np.count_nonzero(far))
    return (scale * x).astype(dtype)
