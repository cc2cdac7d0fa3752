"""AlexNet in one tower (Krizhevsky, Sutskever and Hinton, NIPS 2012; Krizhevsky, arXiv:1404.5997).

The layers have the channels that torchvision gives them.  Weights and biases of the convolutions are
``out * (in * kernel ** 2 + 1)`` numbers, of the dense layers ``out * (in + 1)``: 61,100,840 with 1,000 classes.
"""

import numpy as np

from tangentc import learn
from tangentc.learn import functions as F


def alexnet(rng, classes=1000, width=64, hidden=4096, places=6, dtype=np.float32, draws=None):
    """A network for images ``(batch, 3, size, size)``: ``places`` is 6 for 224 pixels, and 1 for 63.

    ``width`` is the channels of the first layer, ``draws`` the generator of dropout (``rng`` where none is given).
    """

    def conv(channels, out, kernel, stride=1, padding=1):
        return learn.Conv.of(width * channels, width * out, kernel, rng, stride, padding, dtype=dtype)

    def dense(features, out):
        return learn.Linear.of(features, out, rng, dtype=dtype, initial=learn.he_normal)

    first = learn.Conv.of(3, width, 11, rng, stride=4, padding=2, dtype=dtype)
    draws = rng if draws is None else draws
    images = learn.Sequential([
        first, F.relu, learn.MaxPool(3, 2),
        conv(1, 3, 5, padding=2), F.relu, learn.MaxPool(3, 2),
        conv(3, 6, 3), F.relu, conv(6, 4, 3), F.relu, conv(4, 4, 3), F.relu, learn.MaxPool(3, 2),
    ])  # fmt: skip
    classified = learn.Sequential([
        learn.Dropout(0.5, draws), dense(4 * width * places**2, hidden), F.relu,
        learn.Dropout(0.5, draws), dense(hidden, hidden), F.relu, dense(hidden, classes),
    ])  # fmt: skip
    return learn.Sequential([images, learn.flatten, classified])
