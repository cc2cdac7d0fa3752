"""Calls of `learn.functions` on small arrays, by name; `function_figures.py` has PyTorch's of the same names."""

import numpy as np

from tangentc.learn import functions as F


def draw(*shapes, seed=0):
    """Normal numbers of these shapes."""
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape) for shape in shapes]


LABELS = np.array([2, 0, 3])
SHARES = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.25, 0.25, 0.5], [1.0, 0.0, 0.0, 0.0]])
SIGNS = np.array([[1.0, -1.0, 1.0, -1.0]] * 3)
SPOKEN = np.array([[1, 2, 2], [3, 1, 1], [2, 2, 2]])
STEPS, LENGTHS = np.array([7, 6, 7]), np.array([3, 2, 0])
MASK = np.array([[True, True, False, True], [True, False, False, False], [True, True, True, True]])
SHORT = np.array([2, 4])


def batch_norm(x, w, b):
    return F.batch_norm(x, w, b, np.zeros(3), np.ones(3))[0]


def used_batch_norm(x, w, b):
    return F.batch_norm(x, w, b, np.array([0.1, 0.2, -0.3]), np.array([1.5, 0.5, 1.0]), training=False)[0]


CASES = {  # name: the function, and the arrays by which it is differentiated
    "linear": (F.linear, draw((3, 4), (2, 4), (2,))),
    "conv 1": (lambda x, w, b: F.conv(x, w, b, stride=2, padding=1), draw((2, 3, 7), (4, 3, 3), (4,))),
    "conv 2": (lambda x, w, b: F.conv(x, w, b, padding=(1, 0), dilation=(1, 2)), draw((2, 2, 5, 6), (3, 2, 3, 2), (3,))),
    "conv 2 groups": (lambda x, w: F.conv(x, w, groups=2, stride=2), draw((2, 4, 5, 5), (6, 2, 3, 3))),
    "conv 2 depthwise": (lambda x, w: F.conv(x, w, groups=3, padding=1), draw((2, 3, 5, 5), (6, 1, 3, 3))),
    "conv 2 same": (lambda x, w: F.conv(x, w, padding="same"), draw((1, 2, 5, 5), (3, 2, 3, 3))),
    "conv 2 even": (lambda x, w: F.conv(x, w, padding="same"), draw((1, 2, 5, 5), (3, 2, 4, 2))),
    "conv 3": (lambda x, w: F.conv(x, w, stride=(1, 2, 1)), draw((1, 2, 4, 5, 4), (2, 2, 2, 3, 2))),
    "conv pointwise": (lambda x, w: F.conv(x, w), draw((2, 3, 4, 4), (5, 3, 1, 1))),
    "transposed 1": (lambda x, w, b: F.conv_transpose(x, w, b, stride=2, padding=1), draw((2, 3, 4), (3, 2, 3), (2,))),
    "transposed 2": (
        lambda x, w: F.conv_transpose(x, w, stride=3, output_padding=1, groups=2), draw((1, 4, 3, 2), (4, 3, 2, 2))
    ),
    "max pool": (lambda x: F.max_pool(x, 3, stride=2, padding=1), draw((2, 2, 7, 6))),
    "max pool 1": (lambda x: F.max_pool(x, 2), draw((2, 2, 7))),
    "average pool": (lambda x: F.average_pool(x, (3, 2), stride=2, padding=1), draw((2, 2, 7, 6))),
    "global average": (F.global_average_pool, draw((2, 3, 4, 5))),
    "adaptive average": (lambda x: F.adaptive_average_pool(x, (3, 2)), draw((2, 2, 7, 5))),
    "adaptive max": (lambda x: F.adaptive_max_pool(x, (3, 2)), draw((2, 2, 7, 5))),
    "batch norm": (batch_norm, draw((4, 3, 2, 3), (3,), (3,))),
    "batch norm used": (used_batch_norm, draw((4, 3, 5), (3,), (3,))),
    "layer norm": (F.layer_norm, draw((2, 3, 4), (4,), (4,))),
    "layer norm 2": (F.layer_norm, draw((2, 3, 4), (3, 4), (3, 4))),
    "group norm": (lambda x, w, b: F.group_norm(x, 2, w, b), draw((2, 4, 3, 2), (4,), (4,))),
    "instance norm": (F.instance_norm, draw((2, 3, 4, 2), (3,), (3,))),
    "rms norm": (F.rms_norm, draw((2, 3, 4), (4,))),
    "embedding": (lambda table: F.embedding(np.array([[0, 2], [2, 1]]), table), draw((3, 2))),
    "attention": (F.attention, draw((2, 3, 4), (2, 5, 4), (2, 5, 2))),
    "attention causal": (lambda q, k, v: F.attention(q, k, v, causal=True), draw((2, 3, 4), (2, 3, 4), (2, 3, 2))),
    "attention masked": (lambda q, k, v: F.attention(q, k, v, mask=MASK), draw((2, 3, 4), (2, 4, 4), (2, 4, 2))),
    "attention padded": (
        lambda q, k, v: F.attention(q, k, v, mask=F.padding_mask(SHORT, 4)), draw(*[(2, 2, 4, 3)] * 3)
    ),
    "heads": (
        lambda x, m, *w: F.multi_head_attention(x, m, w[:4], w[4:], 2),
        draw((2, 3, 4), (2, 5, 4), *[(4, 4)] * 4, *[(4,)] * 4),
    ),
    "rnn": (lambda *a: F.rnn(*a)[0], draw((2, 5, 3), (2, 4), (4, 3), (4, 4), (4,), (4,))),
    "lstm": (lambda *a: F.lstm(*a)[0], draw((2, 5, 3), (2, 4), (2, 4), (16, 3), (16, 4), (16,), (16,))),
    "lstm cell": (lambda *a: F.lstm_cell(*a)[1], draw((2, 3), (2, 4), (2, 4), (16, 3), (16, 4), (16,), (16,))),
    "gru": (lambda *a: F.gru(*a)[0], draw((2, 5, 3), (2, 4), (12, 3), (12, 4), (12,), (12,))),
    **{
        name: (getattr(F, name), draw((3, 4)))
        for name in ("relu", "leaky_relu", "elu", "gelu", "silu", "softplus", "sigmoid", "tanh", "softmax", "log_softmax")
    },
    "gelu tanh": (lambda x: F.gelu(x, approximate=True), draw((3, 4))),
    "softmax 0": (lambda x: F.softmax(x, axis=0), draw((3, 4))),
    "cross entropy": (lambda z: F.cross_entropy(z, LABELS), draw((3, 4))),
    "cross entropy smooth": (lambda z: F.cross_entropy(z, LABELS, smoothing=0.1), draw((3, 4))),
    "cross entropy shares": (lambda z: F.cross_entropy(z, SHARES), draw((3, 4))),
    "cross entropy far": (lambda z: F.cross_entropy(1000 * z, LABELS), draw((3, 4))),
    "likelihood": (lambda z: F.negative_log_likelihood(F.log_softmax(z), LABELS), draw((3, 4))),
    "binary": (lambda z: F.binary_cross_entropy(z, SHARES), draw((3, 4))),
    "binary far": (lambda z: F.binary_cross_entropy(1000 * z, SHARES), draw((3, 4))),
    "mean square": (F.mean_square, draw((3, 4), (3, 4))),
    "huber": (lambda x: F.huber(x, SHARES, delta=0.7), draw((3, 4))),
    "kl": (lambda z: F.kl_divergence(F.log_softmax(z), SHARES), draw((3, 4))),
    "triplet": (F.triplet, draw((3, 4), (3, 4), (3, 4))),
    "ctc": (lambda z: F.ctc(F.log_softmax(z), SPOKEN, STEPS, LENGTHS), draw((7, 3, 4))),
}  # fmt: skip


def weights_of(y):
    """What the results are multiplied with before they are added up."""
    return np.cos(np.arange(np.size(y))).reshape(np.shape(y))
