"""Recurrent cells, and their scans over sequences ``(batch, steps, features)``.

Weights are as in PyTorch: for ``g`` gates of ``n`` units ``w_in`` is ``(g * n, features)``, and ``w_hidden``
``(g * n, n)``.
"""

from __future__ import annotations

import numpy as np

from tangentc import operation, zero_gradient
from tangentc.learn.arrays import module_of
from tangentc.learn.functions.activations import sigmoid
from tangentc.learn.functions.dense import weighed


def rnn_cell(x, h, w_in, w_hidden, b_in, b_hidden):
    """``tanh(x w_in^T + b_in + h w_hidden^T + b_hidden)`` (Elman, Cognitive Science 14, 1990).

    >>> rnn_cell(np.zeros((1, 2)), np.zeros((1, 3)), np.ones((3, 2)), np.ones((3, 3)), np.zeros(3), np.zeros(3))
    array([[0., 0., 0.]])
    """
    return rnn_step(x @ w_in.T + b_in, h, w_hidden, b_hidden)


def lstm_cell(x, h, c, w_in, w_hidden, b_in, b_hidden):
    """The state ``(h, c)`` after one step; the gates are in, forget, cell and out (Hochreiter and Schmidhuber, Neural
    Computation 9, 1997, with the forget gate of Gers, Schmidhuber and Cummins, 2000).

    >>> one = np.ones((1, 1))
    >>> h, c = lstm_cell(np.zeros((1, 2)), 0 * one, one, np.ones((4, 2)), np.ones((4, 1)), 0.0, 0.0)
    >>> c
    array([[0.5]])
    """
    return lstm_step(x @ w_in.T + b_in, h, c, w_hidden, b_hidden)


def gru_cell(x, h, w_in, w_hidden, b_in, b_hidden):
    """The state after one step; the gates are reset, update and new (Cho et al., arXiv:1406.1078, with the reset gate
    behind the product, as in cuDNN and PyTorch).

    >>> gru_cell(np.zeros((1, 2)), np.ones((1, 1)), np.ones((3, 2)), np.zeros((3, 1)), np.zeros(3), np.zeros(3))
    array([[0.5]])
    """
    return gru_step(x @ w_in.T + b_in, h, w_hidden, b_hidden)


def rnn_step(gates, h, w_hidden, b_hidden):
    """`rnn_cell` behind the product with its input."""
    return np.tanh(gates + h @ w_hidden.T + b_hidden)


def lstm_step(gates, h, c, w_hidden, b_hidden):
    """`lstm_cell` behind the product with its input."""
    n = np.shape(h)[-1]
    gates = gates + h @ w_hidden.T + b_hidden
    let_in, forget, out = sigmoid(gates[..., :n]), sigmoid(gates[..., n : 2 * n]), sigmoid(gates[..., 3 * n :])
    c = forget * c + let_in * np.tanh(gates[..., 2 * n : 3 * n])
    return out * np.tanh(c), c


def gru_step(gates, h, w_hidden, b_hidden):
    """`gru_cell` behind the product with its input."""
    n = np.shape(h)[-1]
    own = h @ w_hidden.T + b_hidden
    reset = sigmoid(gates[..., :n] + own[..., :n])
    update = sigmoid(gates[..., n : 2 * n] + own[..., n : 2 * n])
    new = np.tanh(gates[..., 2 * n :] + reset * own[..., 2 * n :])
    return new + update * (h - new)


def rnn(x, h, w_in, w_hidden, b_in, b_hidden):
    """All states ``(batch, steps, n)`` of `rnn_cell` along ``x``, and the last one, from ``h`` ``(batch, n)``.

    >>> weights = np.ones((1, 2)), np.ones((1, 1)), np.zeros(1), np.zeros(1)
    >>> states, last = rnn(np.zeros((3, 5, 2)), np.zeros((3, 1)), *weights)
    >>> states.shape, last.shape
    ((3, 5, 1), (3, 1))
    """
    gates, states = weighed(np.swapaxes(x, 0, 1), w_in) + b_in, []
    for t in range(len(gates)):
        h = rnn_step(gates[t], h, w_hidden, b_hidden)
        states.append(h)
    return np.stack(states, axis=1), h


def lstm(x, h, c, w_in, w_hidden, b_in, b_hidden):
    """All states ``(batch, steps, n)`` of `lstm_cell` along ``x``, and the last ``h`` and ``c``, each ``(batch, n)``.

    >>> weights = np.ones((4, 2)), np.ones((4, 1)), np.zeros(4), np.zeros(4)
    >>> states, h, c = lstm(np.zeros((3, 5, 2)), np.zeros((3, 1)), np.zeros((3, 1)), *weights)
    >>> states.shape, h.shape, c.shape
    ((3, 5, 1), (3, 1), (3, 1))
    """
    gates, states = weighed(np.swapaxes(x, 0, 1), w_in) + b_in, []
    for t in range(len(gates)):
        h, c = lstm_step(gates[t], h, c, w_hidden, b_hidden)
        states.append(h)
    return np.stack(states, axis=1), h, c


def gru(x, h, w_in, w_hidden, b_in, b_hidden):
    """All states ``(batch, steps, n)`` of `gru_cell` along ``x``, and the last one, from ``h`` ``(batch, n)``.

    >>> weights = np.ones((3, 2)), np.ones((3, 1)), np.zeros(3), np.zeros(3)
    >>> states, last = gru(np.zeros((3, 5, 2)), np.zeros((3, 1)), *weights)
    >>> states.shape, last.shape
    ((3, 5, 1), (3, 1))
    """
    gates, states = weighed(np.swapaxes(x, 0, 1), w_in) + b_in, []
    for t in range(len(gates)):
        h = gru_step(gates[t], h, w_hidden, b_hidden)
        states.append(h)
    return np.stack(states, axis=1), h


def zero_state(x, w_hidden):
    """Zeros ``(batch, n)``, from which states begin along ``x`` ``(batch, steps, features)``.

    >>> zero_state(np.ones((3, 5, 2)), np.ones((4, 1))).shape
    (3, 1)
    """
    return module_of(x).zeros((x.shape[0], w_hidden.shape[1]), x.dtype)


zero_gradient(zero_state)
operation(zero_state, pure=True, new=True, shaped=lambda x, w_hidden: (x[0], w_hidden[1]))
