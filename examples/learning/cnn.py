"""Handwritten digits, by a convolutional network.

Convolutions with batch normalisation (Ioffe and Szegedy, 2015), trained by AdamW with a rate that falls along half a
cosine. The data are scikit-learn's 1,797 digits of 8 x 8 pixels; 1,437 are for training, and of the others 99 % are to
be right after ten epochs. With `--record` the program writes `run.html`, a page with the curves and the gradient.
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


derivative = learn.value_and_grad(loss)


def accuracy(model, images, labels):
    return np.mean(np.argmax(model(images), axis=1) == labels)


def solve(epochs=EPOCHS, record=None):
    rng = np.random.default_rng(0)
    training, held_out = digits(rng)
    model = network(rng)
    loader = learn.Loader(training, BATCH, shuffle=True, seed=0)
    optimiser = learn.AdamW(Cosine(3e-3, epochs * len(loader)), decay=1e-2, decay_on="*weight")
    history = learn.fit(
        model, loss, loader, optimiser, epochs, validation=[held_out], metrics={"accuracy": accuracy}, record=record,
    )  # fmt: skip
    return {"model": model, "losses": history["loss"], "right": history.last["accuracy"], "example": held_out[0][:1]}


def emitted():
    """The text of the gradient."""
    rng = np.random.default_rng(0)
    (images, labels), _ = digits(rng)
    return derivative.source_for(network(rng), images[:BATCH], labels[:BATCH])


def main():
    found = solve(record="run.html" if "--record" in sys.argv else None)
    print(learn.summary(found["model"], found["example"]))
    print(f"\n{found['right']:.2%} of the digits that were held out are right")
    if found["right"] < TARGET:
        sys.exit(f"that is below {TARGET:.0%}")


if __name__ == "__main__":
    main()
