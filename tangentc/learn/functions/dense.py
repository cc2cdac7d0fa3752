"""Products with weights, tables of vectors, and dropout."""

from __future__ import annotations

import math

import numpy as np


def linear(x, weight, bias=None):
    """``x @ weight.T + bias``: ``x`` is ``(..., features)``, ``weight`` ``(out, features)``, ``bias`` ``(out,)``.

    >>> linear(np.array([1.0, 2.0]), np.array([[3.0, 4.0]]), np.array([0.5]))
    array([11.5])
    """
    y = weighed(x, weight)
    return y if bias is None else y + bias


def weighed(x, weight):
    """``x @ weight.T``; of a stack of matrices as one product, so that the gradient of the weight is one too."""
    if np.ndim(x) < 3:
        return x @ weight.T
    rows = np.reshape(x, (math.prod(np.shape(x)[:-1]), np.shape(x)[-1]))
    return np.reshape(rows @ weight.T, (*np.shape(x)[:-1], np.shape(weight)[0]))


def embedding(indices, table):
    """The rows of ``table`` at ``indices``, integers of any shape (Bengio et al., JMLR 3, 2003).

    The gradient of the table adds up over equal indices.  An index that the table lacks raises `IndexError`.

    >>> embedding(np.array([1, 0]), np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[3., 4.],
           [1., 2.]])
    """
    return table[indices]


def dropout(x, rate, rng, training=True):
    """``x`` with entries set to zero at this rate, and the others divided by ``1 - rate``; else ``x`` itself.

    ``rng`` is a `numpy.random.Generator`, or CuPy's, which draws one number for each entry (Srivastava et al., JMLR 15,
    2014, with the scaling at training time).

    >>> dropout(np.ones(5), 0.5, np.random.default_rng(0))
    array([2., 0., 0., 0., 2.])
    """
    if not training or rate == 0:
        return x
    kept = rng.random(np.shape(x)) >= rate
    return x * kept / (1 - rate)
