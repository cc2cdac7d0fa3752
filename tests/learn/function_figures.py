"""Write functions.json: what PyTorch gives for the calls of `function_cases`, and its gradients, in float64.

Run it where PyTorch is installed: python tests/learn/function_figures.py
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as T

sys.path.insert(0, str(Path(__file__).parents[1]))
from learn.function_cases import CASES, LABELS, LENGTHS, MASK, SHARES, SHORT, SPOKEN, STEPS, weights_of

LABELS, SHARES, MASK = torch.tensor(LABELS), torch.tensor(SHARES), torch.tensor(MASK)
SPOKEN, STEPS, LENGTHS = torch.tensor(SPOKEN), torch.tensor(STEPS), torch.tensor(LENGTHS)


def recurrent(kind, x, h, *rest):
    state = (h[None], rest[0][None]) if kind is torch.nn.LSTM else h[None]
    weights = rest[1:] if kind is torch.nn.LSTM else rest
    layer = kind(x.shape[2], h.shape[1], batch_first=True, dtype=torch.float64)
    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    return torch.func.functional_call(layer, dict(zip(names, weights)), (x, state))[0]


def heads(x, memory, *w):
    def split(y):
        return y.unflatten(2, (2, 2)).transpose(1, 2)

    q, k, v = (split(T.linear(y, w[j], w[4 + j])) for j, y in enumerate((x, memory, memory)))
    return T.linear(T.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2), w[3], w[7])


ATTENTION = T.scaled_dot_product_attention
PADDING = (torch.arange(4) < torch.tensor(SHORT)[:, None])[:, None, None]
PYTORCH = {
    "linear": T.linear,
    "conv 1": lambda x, w, b: T.conv1d(x, w, b, stride=2, padding=1),
    "conv 2": lambda x, w, b: T.conv2d(x, w, b, padding=(1, 0), dilation=(1, 2)),
    "conv 2 groups": lambda x, w: T.conv2d(x, w, groups=2, stride=2),
    "conv 2 depthwise": lambda x, w: T.conv2d(x, w, groups=3, padding=1),
    "conv 2 same": lambda x, w: T.conv2d(x, w, padding="same"),
    "conv 2 even": lambda x, w: T.conv2d(x, w, padding="same"),
    "conv 3": lambda x, w: T.conv3d(x, w, stride=(1, 2, 1)),
    "conv pointwise": T.conv2d,
    "transposed 1": lambda x, w, b: T.conv_transpose1d(x, w, b, stride=2, padding=1),
    "transposed 2": lambda x, w: T.conv_transpose2d(x, w, stride=3, output_padding=1, groups=2),
    "max pool": lambda x: T.max_pool2d(x, 3, stride=2, padding=1),
    "max pool 1": lambda x: T.max_pool1d(x, 2),
    "average pool": lambda x: T.avg_pool2d(x, (3, 2), stride=2, padding=1),
    "global average": lambda x: x.mean((2, 3)),
    "adaptive average": lambda x: T.adaptive_avg_pool2d(x, (3, 2)),
    "adaptive max": lambda x: T.adaptive_max_pool2d(x, (3, 2)),
    "batch norm": lambda x, w, b: T.batch_norm(x, None, None, w, b, training=True),
    "batch norm used": lambda x, w, b: T.batch_norm(
        x, torch.tensor([0.1, 0.2, -0.3], dtype=x.dtype), torch.tensor([1.5, 0.5, 1.0], dtype=x.dtype), w, b
    ),
    "layer norm": lambda x, w, b: T.layer_norm(x, (4,), w, b),
    "layer norm 2": lambda x, w, b: T.layer_norm(x, (3, 4), w, b),
    "group norm": lambda x, w, b: T.group_norm(x, 2, w, b),
    "instance norm": lambda x, w, b: T.instance_norm(x, weight=w, bias=b),
    "rms norm": lambda x, w: T.rms_norm(x, (4,), w, eps=1e-6),
    "embedding": lambda table: T.embedding(torch.tensor([[0, 2], [2, 1]]), table),
    "attention": ATTENTION,
    "attention causal": lambda q, k, v: ATTENTION(q, k, v, is_causal=True),
    "attention masked": lambda q, k, v: ATTENTION(q, k, v, attn_mask=MASK),
    "attention padded": lambda q, k, v: ATTENTION(q, k, v, attn_mask=PADDING),
    "heads": heads,
    "rnn": lambda *a: recurrent(torch.nn.RNN, *a),
    "lstm": lambda *a: recurrent(torch.nn.LSTM, *a),
    "lstm cell": lambda x, h, c, *w: torch.lstm_cell(x, (h, c), *w)[1],
    "gru": lambda *a: recurrent(torch.nn.GRU, *a),
    "relu": T.relu, "leaky_relu": T.leaky_relu, "elu": T.elu, "gelu": T.gelu, "silu": T.silu, "softplus": T.softplus,
    "sigmoid": T.sigmoid, "tanh": T.tanh,
    "softmax": lambda x: T.softmax(x, -1), "log_softmax": lambda x: T.log_softmax(x, -1),
    "gelu tanh": lambda x: T.gelu(x, approximate="tanh"),
    "softmax 0": lambda x: T.softmax(x, 0),
    "cross entropy": lambda z: T.cross_entropy(z, LABELS),
    "cross entropy smooth": lambda z: T.cross_entropy(z, LABELS, label_smoothing=0.1),
    "cross entropy shares": lambda z: T.cross_entropy(z, SHARES),
    "cross entropy far": lambda z: T.cross_entropy(1000 * z, LABELS),
    "likelihood": lambda z: T.nll_loss(T.log_softmax(z, -1), LABELS),
    "binary": lambda z: T.binary_cross_entropy_with_logits(z, SHARES),
    "binary far": lambda z: T.binary_cross_entropy_with_logits(1000 * z, SHARES),
    "mean square": T.mse_loss,
    "huber": lambda x: T.huber_loss(x, SHARES, delta=0.7),
    "kl": lambda z: T.kl_div(T.log_softmax(z, -1), SHARES, reduction="batchmean"),
    "triplet": T.triplet_margin_loss,
    "ctc": lambda z: T.ctc_loss(T.log_softmax(z, -1), SPOKEN, STEPS, LENGTHS),
}  # fmt: skip


def figures(name):
    """PyTorch's result of a case, and its gradients, as lists."""
    given = [torch.tensor(a, requires_grad=True) for a in CASES[name][1]]
    y = PYTORCH[name](*given)
    torch.sum(y * torch.tensor(weights_of(y.detach().numpy()))).backward()
    return [np.asarray(a).ravel().tolist() for a in (y.detach().numpy(), *(g.grad.numpy() for g in given))]


if __name__ == "__main__":
    path = Path(__file__).with_name("functions.json")
    rows = [f"{json.dumps(name)}: {json.dumps(figures(name))}" for name in CASES]
    path.write_text("{\n" + ",\n".join(rows) + "\n}\n")
