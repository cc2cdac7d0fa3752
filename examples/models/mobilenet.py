"""MobileNet (Howard et al., arXiv:1704.04861, table 1).

A block has ``9 * in`` numbers in the convolution of each channel, ``in * out`` in that of one place, and two for each
channel of both norms: 4,231,976 with 1,000 classes and all of the width; the paper's table 4 says 4.2 million.
"""

import numpy as np

from examples.models.resnet import normed
from tangentc import learn
from tangentc.learn import functions as F

BLOCKS = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1))


def separable(channels, out, stride, rng, dtype):
    """A convolution of each channel by itself, and one that mixes them (figure 3, right)."""
    each = normed(channels, channels, 3, rng, dtype, stride, groups=channels)
    return learn.Sequential([*each, F.relu, *normed(channels, out, 1, rng, dtype), F.relu])


def mobilenet(rng, blocks=BLOCKS, classes=1000, share=1.0, dtype=np.float32):
    """A network for images ``(batch, 3, size, size)``, of 224 pixels in the paper; ``share`` is the width multiplier.

    ``blocks`` has the channels and the stride of each; the last stride is 1, as in the authors' program.
    """
    channels = int(32 * share)
    first, layers = [*normed(3, channels, 3, rng, dtype, 2), F.relu], []
    for out, stride in blocks:
        layers.append(separable(channels, int(out * share), stride, rng, dtype))
        channels = int(out * share)
    last = [F.global_average_pool, learn.Linear.of(channels, classes, rng, dtype=dtype)]
    return learn.Sequential([*first, learn.Sequential(layers), *last])
