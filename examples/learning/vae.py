"""A variational auto-encoder.

Kingma and Welling (2014): one network says of an image where its code lies, and how sure it is of that; a code is drawn
there, and another network paints an image of it. The draw is the mean plus the width times noise from a generator that
is given, so that the gradient goes back through it. The images are scikit-learn's digits, in black and white. The loss,
an upper bound of the negative log-likelihood, is to be below 20.5 nats on digits that were not seen; if each pixel is
drawn by itself, as often black as it is on average, a digit takes 24.6.
"""

import sys

import numpy as np
from sklearn.datasets import load_digits

from tangentc import learn
from tangentc.learn import functions as F

CODE, HIDDEN = 8, 96
EPOCHS, BATCH, MOST = 50, 64, 20.5
GREYS = " .-+*#@"


class AutoEncoder:
    def __init__(self, rng):
        self.read = learn.Linear.of(64, HIDDEN, rng)
        self.mean = learn.Linear.of(HIDDEN, CODE, rng)
        self.log_width = learn.Linear.of(HIDDEN, CODE, rng)
        self.write = learn.Sequential([learn.Linear.of(CODE, HIDDEN, rng), np.tanh, learn.Linear.of(HIDDEN, 64, rng)])

    def encode(self, images):
        hidden = np.tanh(self.read(images))
        return self.mean(hidden), self.log_width(hidden)


def loss(model, images, noise):
    """How many nats an image takes: those of its pixels, and of what its code tells beyond a standard normal one."""
    mean, log_width = model.encode(images)
    width = np.exp(log_width)
    code = mean + width * noise
    pixels = images.shape[1] * F.binary_cross_entropy(model.write(code), images)
    divergence = 0.5 * np.sum(mean**2 + width**2 - 1 - 2 * log_width) / len(images)
    return pixels + divergence


derivative = learn.value_and_grad(loss)


def apart(images, others):
    """How many nats images take if each pixel is drawn by itself, as often black as it is in others."""
    p = np.clip(others.mean(axis=0), 1e-3, 1 - 1e-3)
    return -np.mean(np.sum(images * np.log(p) + (1 - images) * np.log(1 - p), axis=1))


def solve(epochs=EPOCHS):
    rng = np.random.default_rng(0)
    training, held_out = learn.split((load_digits().data > 8).astype(float), [0.8, 0.2], seed=0)
    model, optimiser, losses = AutoEncoder(rng), learn.Adam(4e-3), []
    state, loader = optimiser.init(model), learn.Loader(training, BATCH, shuffle=True, seed=0)
    for _ in range(epochs):
        for images in loader:
            value, gradient = derivative(model, images, rng.normal(size=(len(images), CODE)))
            losses.append(value)
            optimiser.update(model, gradient, state)
    reached = np.mean([loss(model, held_out, rng.normal(size=(len(held_out), CODE))) for _ in range(20)])
    painted = F.sigmoid(model.write(rng.normal(size=(6, CODE)))).reshape(6, 8, 8)
    return {"losses": np.array(losses), "reached": reached, "apart": apart(held_out, training), "painted": painted}


def emitted():
    """The text of the gradient."""
    model = AutoEncoder(np.random.default_rng(0))
    return derivative.source_for(model, np.zeros((BATCH, 64)), np.zeros((BATCH, CODE)))


def main():
    found = solve()
    print(f"a digit that was not seen takes {found['reached']:.1f} nats, and {found['apart']:.1f} pixel by pixel")
    for row in np.concatenate(found["painted"], axis=1):
        print("| " + "".join(2 * GREYS[int(6.99 * grey)] for grey in row).rstrip())
    if not found["reached"] < MOST:
        sys.exit(f"that is not below {MOST}")


if __name__ == "__main__":
    main()
