"""Attention (Vaswani et al., arXiv:1706.03762)."""

from __future__ import annotations

import math

import numpy as np

from tangentc import operation, zero_gradient
from tangentc.learn.arrays import module_of
from tangentc.learn.functions.activations import softmax
from tangentc.learn.functions.dense import linear


def attention(q, k, v, mask=None, causal=False):
    """``softmax(q @ k^T / sqrt(d)) @ v`` over the last two axes (Vaswani et al., equation 1).

    ``q`` is ``(..., n, d)``, ``k`` ``(..., m, d)``, ``v`` ``(..., m, e)``; the result is ``(..., n, e)``.  ``mask`` has
    a flag for each pair, ``(..., n, m)`` or what broadcasts to it, true where ``q`` may look at ``k``; with ``causal``
    entry ``i`` looks at none after ``i``.  A row that may look at nothing looks at all alike.

    >>> attention(np.zeros((2, 1)), np.zeros((2, 1)), np.array([[1.0], [3.0]]), causal=True)
    array([[1.],
           [2.]])
    """
    scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(np.shape(q)[-1])
    if causal:
        scores = np.where(none_after(scores), scores, -1e30)
    if mask is not None:
        scores = np.where(mask, scores, -1e30)
    return softmax(scores) @ v


def padding_mask(lengths, most):
    """A mask for `attention`, ``(batch, 1, 1, most)``: true for the first ``lengths[k]`` entries of example ``k``.

    >>> padding_mask(np.array([1, 2]), 2)[:, 0, 0]
    array([[ True, False],
           [ True,  True]])
    """
    return module_of(lengths).arange(most) < lengths[:, None, None, None]


def none_after(scores):
    """The flags ``(n, m)`` of pairs ``(i, j)`` with ``j`` at most ``i``, beside scores ``(..., n, m)``."""
    return module_of(scores).tri(*scores.shape[-2:], dtype=bool)


zero_gradient(padding_mask, none_after)
operation(padding_mask, pure=True, new=True)
operation(none_after, pure=True, new=True, shaped=lambda scores: scores[-2:], dtype="bool")


def split_heads(x, heads):
    """``(batch, n, width)`` as ``(batch, heads, n, width / heads)``."""
    batch, n, width = np.shape(x)
    return np.swapaxes(np.reshape(x, (batch, n, heads, width // heads)), 1, 2)


def join_heads(x):
    """What `split_heads` has taken apart, together again."""
    batch, heads, n, width = np.shape(x)
    return np.reshape(np.swapaxes(x, 1, 2), (batch, n, heads * width))


def multi_head_attention(x, memory, weights, biases, heads, mask=None, causal=False):
    """Attention of ``x`` ``(batch, n, width)`` to ``memory`` ``(batch, m, width)`` in several heads (section 3.2.2).

    ``weights`` and ``biases`` are those of queries, keys, values and of the result, four each, ``(width, width)`` and
    ``(width,)``.  ``mask`` and ``causal`` are those of `attention`, for ``(batch, heads, n, m)``.

    >>> x, eye, zero = np.ones((1, 3, 4)), np.eye(4), np.zeros(4)
    >>> multi_head_attention(x, x, (eye,) * 4, (zero,) * 4, heads=2).shape
    (1, 3, 4)
    """
    q = split_heads(linear(x, weights[0], biases[0]), heads)
    k = split_heads(linear(memory, weights[1], biases[1]), heads)
    v = split_heads(linear(memory, weights[2], biases[2]), heads)
    return linear(join_heads(attention(q, k, v, mask, causal)), weights[3], biases[3])
