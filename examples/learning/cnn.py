"""A convolutional network for handwritten digits, which reaches 99 % on digits that it has not seen.

The data are scikit-learn's 1,797 digits of 8 x 8 pixels; 1,437 are for training.  The program prints the layers, trains
for ten epochs, writes run.html, a page with the curves and the emitted gradient, if it is given --record, and exits
with an error below 99 %.
"""

import sys

import numpy as np
from sklearn.datasets import load_digits

from tangentc import learn
from tangentc.learn import functions as F
from tangentc.learn.optimisers import Cosine

EPOCHS, BATCH, TARGET = 10, 64, 0.99


def digits(rng):
    """Images ``(n, 1, 8, 8)`` and labels for training, and those that are held out."""
    images, labels = load_digits(return_X_y=True)
    order = rng.permutation(len(images))
    images = (images[order] / 16).reshape(-1, 1, 8, 8).astype(np.float32)
    return (images[:1437], labels[order][:1437]), (images[1437:], labels[order][1437:])


def convolution(channels, out, rng):
    conv = learn.Conv.of(channels, out, 3, rng, padding="same", bias=False, dtype=np.float32)
    return [conv, learn.BatchNorm.of(out, np.float32), F.relu]


def network(rng):
    return learn.Sequential(
        [
            *convolution(1, 32, rng), *convolution(32, 32, rng), learn.MaxPool(2),
            *convolution(32, 64, rng), learn.MaxPool(2), learn.flatten,
            learn.Dropout(0.3, np.random.default_rng(1)), learn.Linear.of(256, 10, rng, dtype=np.float32),
        ]
    )  # fmt: skip


def loss(model, images, labels):
    return F.cross_entropy(model(images), labels)


def accuracy(model, images, labels):
    return np.mean(np.argmax(model(images), axis=1) == labels)


def main():
    rng = np.random.default_rng(0)
    training, held_out = digits(rng)
    model = network(rng)
    loader = learn.Loader(training, BATCH, shuffle=True, seed=0)
    optimiser = learn.AdamW(Cosine(3e-3, EPOCHS * len(loader)), decay=1e-2, decay_on="*weight")
    print(learn.summary(model, training[0][:1]))
    history = learn.fit(
        model, loss, loader, optimiser, EPOCHS, validation=[held_out], metrics={"accuracy": accuracy},
        record="run.html" if "--record" in sys.argv else None,
    )  # fmt: skip
    reached = history.last["accuracy"]
    print(f"{reached:.2%} of the digits that were held out are right")
    if reached < TARGET:
        sys.exit(f"that is below {TARGET:.0%}")


if __name__ == "__main__":
    main()
