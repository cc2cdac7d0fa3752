"""Networks as people write them in NumPy: softmax regression, a multilayer perceptron, an LSTM that classifies."""

import numpy as np

from ..workload import Workload


def cross_entropy(logits, labels):
    """The mean over the rows of logits, of shape (batch, classes)."""
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    log_p = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return -np.mean(log_p[np.arange(len(labels)), labels])


def cross_entropy_by_hand(logits, labels):
    """The value, and the adjoint of the logits: probabilities less the truth."""
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    p = np.exp(shifted)
    total = np.sum(p, axis=1, keepdims=True)
    rows = np.arange(len(labels))
    value = np.mean(np.log(total[:, 0]) - shifted[rows, labels])
    p /= total
    p[rows, labels] -= 1
    p /= len(labels)
    return value, p


def softmax(W, b, x, labels):
    """Softmax regression; x has the shape (batch, features)."""
    return cross_entropy(x @ W + b, labels)


def softmax_by_hand(W, b, x, labels):
    value, logits_bar = cross_entropy_by_hand(x @ W + b, labels)
    return value, (x.T @ logits_bar, np.sum(logits_bar, axis=0))


def mlp(params, x, labels):
    """A perceptron with rectifiers; `params` is a list of layers."""
    h = x
    for layer in params[:-1]:
        h = np.maximum(h @ layer["W"] + layer["b"], 0.0)
    return cross_entropy(h @ params[-1]["W"] + params[-1]["b"], labels)


def mlp_by_hand(params, x, labels):
    inputs = [x]
    for layer in params[:-1]:
        h = inputs[-1] @ layer["W"]
        h += layer["b"]
        inputs.append(np.maximum(h, 0.0, out=h))
    value, out_bar = cross_entropy_by_hand(inputs[-1] @ params[-1]["W"] + params[-1]["b"], labels)
    params_bar = []
    for k in range(len(params) - 1, -1, -1):
        params_bar.append({"W": inputs[k].T @ out_bar, "b": np.sum(out_bar, axis=0)})
        if k > 0:  # nothing is due to x
            out_bar = out_bar @ params[k]["W"].T
            out_bar *= inputs[k] > 0
    return value, params_bar[::-1]


def logistic(x):
    return 1 / (1 + np.exp(-x))


def lstm(params, xs, labels):
    """An LSTM over a sequence of shape (time, batch, features), and a classifier of its last state."""
    n = params["V"].shape[0]
    h = np.zeros((xs.shape[1], n))
    c = np.zeros((xs.shape[1], n))
    for x in xs:
        z = np.concatenate([x, h], axis=1) @ params["W"] + params["b"]
        gates = logistic(z[:, : 3 * n])
        c = gates[:, n : 2 * n] * c + gates[:, :n] * np.tanh(z[:, 3 * n :])
        h = gates[:, 2 * n :] * np.tanh(c)
    return cross_entropy(h @ params["V"] + params["d"], labels)


def lstm_by_hand(params, xs, labels):
    """What the weights are due is summed once, after the sweep: one product for all of time."""
    W, b, V, d = params["W"], params["b"], params["V"], params["d"]
    n, batch = V.shape[0], xs.shape[1]
    h, c = np.zeros((batch, n)), np.zeros((batch, n))
    saved = []
    for x in xs:
        joined = np.concatenate([x, h], axis=1)
        z = joined @ W + b
        gates = logistic(z[:, : 3 * n])
        change = np.tanh(z[:, 3 * n :])
        old = c
        c = gates[:, n : 2 * n] * c + gates[:, :n] * change
        tanh_c = np.tanh(c)
        h = gates[:, 2 * n :] * tanh_c
        saved.append((joined, gates, change, old, tanh_c))
    value, logits_bar = cross_entropy_by_hand(h @ V + d, labels)
    V_bar, d_bar = h.T @ logits_bar, np.sum(logits_bar, axis=0)
    h_bar, c_bar = logits_bar @ V.T, np.zeros((batch, n))
    z_bars = np.empty((len(xs), batch, 4 * n))
    Wh_T = W[xs.shape[2] :].T
    for t in range(len(xs) - 1, -1, -1):
        _, gates, change, old, tanh_c = saved[t]
        c_bar += h_bar * gates[:, 2 * n :] * (1 - tanh_c**2)
        z_bar = z_bars[t]
        np.multiply(c_bar, change, out=z_bar[:, :n])
        np.multiply(c_bar, old, out=z_bar[:, n : 2 * n])
        np.multiply(h_bar, tanh_c, out=z_bar[:, 2 * n : 3 * n])
        z_bar[:, : 3 * n] *= gates * (1 - gates)
        z_bar[:, 3 * n :] = c_bar * gates[:, :n] * (1 - change**2)
        h_bar = z_bar @ Wh_T
        c_bar *= gates[:, n : 2 * n]
    inputs = np.concatenate([step[0] for step in saved])
    z_bars = z_bars.reshape(-1, 4 * n)
    return value, {"W": inputs.T @ z_bars, "b": np.sum(z_bars, axis=0), "V": V_bar, "d": d_bar}


def weights(rng, *shape):
    return rng.normal(size=shape) / np.sqrt(shape[0])


def regression(batch, features, classes):
    rng = np.random.default_rng(5)
    W, b = weights(rng, features, classes), 0.1 * rng.normal(size=classes)
    return W, b, rng.normal(size=(batch, features)), rng.integers(0, classes, batch)


def perceptron(batch, *widths):
    rng = np.random.default_rng(6)
    params = [{"W": weights(rng, a, b), "b": 0.1 * rng.normal(size=b)} for a, b in zip(widths, widths[1:])]
    return params, rng.normal(size=(batch, widths[0])), rng.integers(0, widths[-1], batch)


def sequences(time, batch, features, hidden, classes):
    rng = np.random.default_rng(7)
    params = {
        "W": weights(rng, features + hidden, 4 * hidden),
        "b": 0.1 * rng.normal(size=4 * hidden),
        "V": weights(rng, hidden, classes),
        "d": 0.1 * rng.normal(size=classes),
    }
    return params, rng.normal(size=(time, batch, features)), rng.integers(0, classes, batch)


WORKLOADS = [
    Workload(
        "softmax", softmax, softmax_by_hand, ("W", "b"), lambda: regression(1000, 100, 20), lambda: regression(7, 4, 3)
    ),
    Workload(
        "mlp",
        mlp,
        mlp_by_hand,
        ("params",),
        lambda: perceptron(256, 128, 256, 128, 10),
        lambda: perceptron(5, 4, 6, 5, 3),
    ),
    Workload(
        "lstm", lstm, lstm_by_hand, ("params",), lambda: sequences(40, 32, 16, 64, 10), lambda: sequences(4, 3, 2, 3, 3)
    ),
]
