"""The value and the gradient of one batch of three networks beside PyTorch's eager mode: float32, one thread.

    python -m benchmarks.training [resnet] [lstm] [transformer]

ResNet-18 on images of 32 x 32, batch 32 (He et al., arXiv:1512.03385, with a first kernel of 3 for small images); an
LSTM of 256 units over 50 steps, batch 32; a transformer block of width 256 over 128 tokens, batch 8.  Both run in
turns; figures are medians, and the ratio that of each turn.  Without PyTorch only ours are printed.
"""

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import sys

import numpy as np

from benchmarks.steps import Torch, loss, measured, table
from examples.models.resnet import resnet18
from tangentc import learn

SINGLE = np.float32


class Last:
    """An LSTM whose last state is classified."""

    def __init__(self, rng):
        self.lstm = learn.LSTM.of(64, 256, rng, SINGLE)
        self.head = learn.Linear.of(256, 10, rng, dtype=SINGLE)

    def __call__(self, x):
        return self.head(self.lstm(x)[:, -1])


def transformer(rng):
    block = learn.TransformerBlock.of(256, 8, 1024, rng, dtype=SINGLE)
    return learn.Sequential([block, learn.Linear.of(256, 10, rng, dtype=SINGLE)])


def of_torch(name, model):
    """PyTorch's network of the same name, as a step on a batch."""
    made = Torch()
    nn, T = made.torch.nn, made.torch.nn.functional
    if name == "resnet":
        net = made.of(model)
    elif name == "lstm":
        lstm, head = made.of(model.lstm), made.of(model.head)
        net = lambda x: head(lstm(x)[0][:, -1])  # noqa: E731
    else:
        gelu = lambda x: T.gelu(x, approximate="tanh")  # noqa: E731
        block = nn.TransformerEncoderLayer(256, 8, 1024, 0.0, gelu, batch_first=True, norm_first=True)
        net = nn.Sequential(block, nn.Linear(256, 10))
        made.parameters = dict(enumerate(net.parameters()))
    return lambda batch: made.step(made.classified(net), batch)


NETWORKS = {  # the network, the shape of its argument, and that of its labels
    "resnet": (resnet18, (32, 3, 32, 32), (32,)),
    "lstm": (Last, (32, 50, 64), (32,)),
    "transformer": (transformer, (8, 128, 256), (8, 128)),
}


def one(name):
    """Measure one network."""
    make, shape, of_labels = NETWORKS[name]
    rng = np.random.default_rng(0)
    model = make(rng)
    batch = rng.normal(size=shape).astype(SINGLE), rng.integers(0, 10, of_labels)
    slope = learn.value_and_grad(loss)
    try:
        theirs = of_torch(name, model)(batch)
    except ImportError:
        theirs = None
    return measured(name, learn.count(model), lambda: slope(model, *batch), theirs)


if __name__ == "__main__":
    table(sys.argv[1:] or NETWORKS, one)
