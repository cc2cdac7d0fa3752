"""VGG-19 (Simonyan and Zisserman, arXiv:1409.1556, table 1, column E).

Weights and biases of the convolutions are ``out * (9 * in + 1)`` numbers, of the dense layers ``out * (in + 1)``:
143,667,240 with 1,000 classes; the paper's table 2 says 144 million.
"""

import numpy as np

from tangentc import learn
from tangentc.learn import functions as F

DEPTHS = (2, 2, 4, 4, 4)  # convolutions before each pooling


def vgg(rng, depths=DEPTHS, classes=1000, width=64, hidden=4096, places=7, dtype=np.float32, draws=None):
    """A network for images ``(batch, 3, size, size)`` with ``size = places * 2 ** len(depths)``: 224 pixels.

    ``width`` is the channels of the first layer, which double three times at most; ``draws`` the generator of dropout.
    """
    stages, channels = [], 3
    for stage, depth in enumerate(depths):
        layers = []
        for _ in range(depth):
            out = width * 2 ** min(stage, 3)
            layers += [learn.Conv.of(channels, out, 3, rng, padding=1, dtype=dtype), F.relu]
            channels = out
        stages.append(learn.Sequential([*layers, learn.MaxPool(2)]))
    draws = rng if draws is None else draws
    sizes = [channels * places**2, hidden, hidden, classes]
    first, second, last = (
        learn.Linear.of(a, b, rng, dtype=dtype, initial=learn.he_normal) for a, b in zip(sizes, sizes[1:])
    )
    dense = [first, F.relu, learn.Dropout(0.5, draws), second, F.relu, learn.Dropout(0.5, draws), last]
    return learn.Sequential([*stages, learn.flatten, *dense])
