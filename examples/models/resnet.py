"""ResNet-50, and ResNet-18 for small images (He, Zhang, Ren and Sun, arXiv:1512.03385, table 1 and section 4.2).

The convolutions have no biases, ``out * in * kernel ** 2`` numbers, and each norm has two for each channel: with 1,000
classes ResNet-50 has 25,557,032, and ResNet-18 with a first kernel of 3 and 10 classes 11,173,962.  A bottleneck moves
by two places in its middle convolution (Goyal et al., arXiv:1706.02677, section 5.1), as torchvision's does.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tangentc import learn
from tangentc.learn import functions as F


@dataclass
class Block:
    """Convolutions around which the argument goes, by ``short`` where they change its shape."""

    inner: learn.Sequential
    short: Any = None

    def __call__(self, x):
        y = self.inner(x)
        return F.relu(y + (x if self.short is None else self.short(x)))


def normed(channels, out, kernel, rng, dtype, stride=1, groups=1):
    """A convolution that keeps the size, but for its stride, and the norm of its batches."""
    conv = learn.Conv.of(channels, out, kernel, rng, stride, kernel // 2, groups=groups, bias=False, dtype=dtype)
    return [conv, learn.BatchNorm.of(out, dtype)]


def plain(channels, width, stride, rng, dtype):
    """Two convolutions of 3 x 3 (figure 5, left), and the channels that they give."""
    return [*normed(channels, width, 3, rng, dtype, stride), F.relu, *normed(width, width, 3, rng, dtype)], width


def bottleneck(channels, width, stride, rng, dtype):
    """A convolution of 3 x 3 between two of one place (figure 5, right), and the channels that they give."""
    layers = [*normed(channels, width, 1, rng, dtype), F.relu, *normed(width, width, 3, rng, dtype, stride), F.relu]
    return [*layers, *normed(width, 4 * width, 1, rng, dtype)], 4 * width


def stages(channels, inner_of, depths, width, rng, dtype):
    """Stages of blocks, each of which after the first halves the size and doubles the width; and their channels."""
    layers = []
    for stage, depth in enumerate(depths):
        blocks = []
        for k in range(depth):
            stride = 2 if stage and not k else 1
            inner, out = inner_of(channels, width * 2**stage, stride, rng, dtype)
            short = None
            if (channels, stride) != (out, 1):
                short = learn.Sequential(normed(channels, out, 1, rng, dtype, stride))
            blocks.append(Block(learn.Sequential(inner), short))
            channels = out
        layers.append(learn.Sequential(blocks))
    return layers, channels


def resnet50(rng, depths=(3, 4, 6, 3), classes=1000, width=64, dtype=np.float32):
    """A network for images ``(batch, 3, size, size)``, of 224 pixels in the paper."""
    first = [*normed(3, width, 7, rng, dtype, 2), F.relu, learn.MaxPool(3, 2, 1)]
    blocks, channels = stages(width, bottleneck, depths, width, rng, dtype)
    return learn.Sequential(
        [*first, *blocks, F.global_average_pool, learn.Linear.of(channels, classes, rng, dtype=dtype)]
    )


def resnet18(rng, depths=(2, 2, 2, 2), classes=10, width=64, dtype=np.float32):
    """A network for images of 32 x 32: the first kernel is 3, and nothing is pooled behind it."""
    first = [*normed(3, width, 3, rng, dtype), F.relu]
    blocks, channels = stages(width, plain, depths, width, rng, dtype)
    return learn.Sequential(
        [*first, *blocks, F.global_average_pool, learn.Linear.of(channels, classes, rng, dtype=dtype)]
    )
