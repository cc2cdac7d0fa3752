"""One training step, value and gradient, of three networks beside PyTorch's eager mode: float32, one thread.

    python benchmarks/training.py [resnet] [lstm] [transformer]

ResNet-18 on images of 32 x 32, batch 32 (He et al., arXiv:1512.03385, with a first kernel of 3 for small images); an
LSTM of 256 units over 50 steps, batch 32; a transformer block of width 256 over 128 tokens, batch 8.  Both run in
turns; figures are medians, and the ratio that of each turn.  Without PyTorch only ours are printed.
"""

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import math
import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from tangentc import learn
from tangentc.learn import functions as F

TURNS, SINGLE = 9, np.float32


@dataclass
class Block:
    """Two convolutions around which the argument goes, by ``short`` where it changes its shape."""

    inner: learn.Sequential
    short: Any = None

    def __call__(self, x):
        y = self.inner(x)
        return F.relu(y + (x if self.short is None else self.short(x)))


def convolved(channels, out, kernel, rng, stride=1):
    conv = learn.Conv.of(channels, out, kernel, rng, stride, kernel // 2, bias=False, dtype=SINGLE)
    return [conv, learn.BatchNorm.of(out, SINGLE)]


def resnet(rng, depths=(2, 2, 2, 2), width=64, classes=10):
    """ResNet-18 for small images, of 11,173,962 parameters."""
    layers, channels = [*convolved(3, width, 3, rng), F.relu], width
    for stage, depth in enumerate(depths):
        out = width * 2**stage
        for k in range(depth):
            stride = 2 if stage and not k else 1
            inner = [*convolved(channels, out, 3, rng, stride), F.relu, *convolved(out, out, 3, rng)]
            short = learn.Sequential(convolved(channels, out, 1, rng, stride)) if stride > 1 else None
            layers.append(Block(learn.Sequential(inner), short))
            channels = out
    return learn.Sequential([*layers, F.global_average_pool, learn.Linear.of(channels, classes, rng, dtype=SINGLE)])


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


def of_torch(name):
    """PyTorch's network of the same name, as a function of a batch that runs both sweeps."""
    import torch

    torch.set_num_threads(1)
    nn, T = torch.nn, torch.nn.functional

    class Residual(nn.Module):
        def __init__(self, channels, out, stride):
            super().__init__()
            self.inner = nn.Sequential(
                nn.Conv2d(channels, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out), nn.ReLU(),
                nn.Conv2d(out, out, 3, 1, 1, bias=False), nn.BatchNorm2d(out),
            )  # fmt: skip
            self.short = nn.Identity()
            if stride > 1:
                self.short = nn.Sequential(nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out))

        def forward(self, x):
            return T.relu(self.inner(x) + self.short(x))

    class LSTM(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm, self.head = nn.LSTM(64, 256, batch_first=True), nn.Linear(256, 10)

        def forward(self, x):
            return self.head(self.lstm(x)[0][:, -1])

    if name == "resnet":
        sizes = [64, 64, 64, 128, 128, 256, 256, 512, 512]
        blocks = [Residual(a, b, 1 if a == b else 2) for a, b in zip(sizes, sizes[1:])]
        first = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
        net = nn.Sequential(*first, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))
    elif name == "lstm":
        net = LSTM()
    else:
        gelu = lambda x: T.gelu(x, approximate="tanh")  # noqa: E731
        block = nn.TransformerEncoderLayer(256, 8, 1024, 0.0, gelu, batch_first=True, norm_first=True)
        net = nn.Sequential(block, nn.Linear(256, 10))

    def step(x, labels):
        net.zero_grad()
        T.cross_entropy(net(x).flatten(0, -2), labels.flatten()).backward()

    return lambda x, labels: step(torch.from_numpy(x), torch.from_numpy(labels))


NETWORKS = {  # the network, the shape of its argument, and that of its labels
    "resnet": (resnet, (32, 3, 32, 32), (32,)),
    "lstm": (Last, (32, 50, 64), (32,)),
    "transformer": (transformer, (8, 128, 256), (8, 128)),
}


def loss(model, x, labels):
    return F.cross_entropy(model(x), labels)


def seconds(f):
    begun = time.perf_counter()
    f()
    return time.perf_counter() - begun


def measured(name):
    """Print the times of one network, and give their ratio, None without PyTorch."""
    make, shape, of_labels = NETWORKS[name]
    rng = np.random.default_rng(0)
    model = make(rng)
    x, labels = rng.normal(size=shape).astype(SINGLE), rng.integers(0, 10, of_labels)
    slope = learn.value_and_grad(loss)
    compiling = seconds(lambda: slope(model, x, labels))
    try:
        theirs = of_torch(name)
    except ImportError:
        theirs = None
    turns = []
    for _ in range(TURNS):
        own = seconds(lambda: slope(model, x, labels))
        turns.append((own, seconds(lambda: theirs(x, labels)) if theirs else math.nan))
    own, other = (np.median(times) * 1e3 for times in zip(*turns[1:]))
    ratio = float(np.median([a / b for a, b in turns[1:]]))
    count = f"{learn.count(model):,} parameters"
    print(
        f"{name:12} {count:22} ours {own:7.1f} ms  PyTorch {other:7.1f} ms  ratio {ratio:.2f}  first {compiling:.1f} s"
    )
    return ratio


def main():
    ratios = [measured(name) for name in sys.argv[1:] or NETWORKS]
    if not any(map(math.isnan, ratios)):
        print(f"geometric mean of the ratios: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}")


if __name__ == "__main__":
    main()
