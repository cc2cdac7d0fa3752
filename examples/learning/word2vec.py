"""Vectors of words.

Skip-gram with negative sampling (Mikolov et al., 2013): each word has a vector, and a second one for when it stands
beside another. The product of the two is to be large for words that stand close together in the text, and small for
words that were drawn at random. The text is made by a small grammar, and nothing tells which words are of one kind, but
for their company. The three nearest neighbours of each of the 28 words are to be the three others of its kind.
"""

import sys

import numpy as np

from tangentc import learn
from tangentc.learn import functions as F

KINDS = {
    "animal": "cat dog horse cow",
    "food": "bread hay cheese fish",
    "eating": "eats likes smells finds",
    "person": "anna peter maria paul",
    "place": "rome paris london berlin",
    "moving": "visits leaves loves remembers",
    "time": "today often never always",
}
PATTERNS = ["animal eating food time", "person moving place time"]
WORDS = [word for words in KINDS.values() for word in words.split()]
KIND = np.repeat(np.arange(len(KINDS)), 4)
SENTENCES, AROUND, NEGATIVE, WIDTH = 2000, 2, 5, 12
EPOCHS, BATCH = 5, 256


class Vectors:
    def __init__(self, rng):
        self.own = learn.Embedding.of(len(WORDS), WIDTH, rng, scale=0.1)
        self.beside = learn.Embedding.of(len(WORDS), WIDTH, rng, scale=0.1)


def loss(model, words, neighbours, others):
    """Words ``(n,)``, one that stands close to each, ``(n,)``, and some that were drawn for it, ``(n, NEGATIVE)``."""
    own = model.own(words)
    close = np.sum(own * model.beside(neighbours), axis=1)
    drawn = np.sum(own[:, np.newaxis] * model.beside(others), axis=2)
    return np.mean(F.softplus(-close)) + np.mean(np.sum(F.softplus(drawn), axis=1))


derivative = learn.value_and_grad(loss)


def text(rng):
    """Sentences as numbers of words, one after the other."""
    numbers = []
    for pattern in rng.choice(PATTERNS, size=SENTENCES):
        numbers += [WORDS.index(rng.choice(KINDS[kind].split())) for kind in pattern.split()]
    return np.array(numbers)


def pairs(numbers):
    """Each word with each that stands at most so many places away."""
    shifts = [(numbers[k:], numbers[:-k]) for k in range(1, AROUND + 1)]
    first = np.concatenate([a for a, b in shifts] + [b for a, b in shifts])
    return first, np.concatenate([b for a, b in shifts] + [a for a, b in shifts])


def nearest(vectors, count):
    """The words whose vectors point most the same way, for each word."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    likeness = unit @ unit.T
    np.fill_diagonal(likeness, -1)
    return np.argsort(-likeness, axis=1)[:, :count]


def solve(epochs=EPOCHS, seed=0):
    rng = np.random.default_rng(seed)
    numbers = text(rng)
    share = np.bincount(numbers) ** 0.75  # as in the paper: rare words are drawn more often than they stand there
    model, optimiser = Vectors(rng), learn.Adam(0.01)
    state, loader, losses = optimiser.init(model), learn.Loader(pairs(numbers), BATCH, shuffle=True, seed=0), []
    for _ in range(epochs):
        for words, neighbours in loader:
            others = rng.choice(len(WORDS), size=(len(words), NEGATIVE), p=share / share.sum())
            value, gradient = derivative(model, words, neighbours, others)
            losses.append(value)
            optimiser.update(model, gradient, state)
    near = nearest(model.own.table, 3)
    return {"losses": np.array(losses), "near": near, "right": np.mean(KIND[near] == KIND[:, np.newaxis])}


def emitted():
    """The text of the gradient."""
    rng, zeros = np.random.default_rng(0), np.zeros((BATCH, NEGATIVE), int)
    return derivative.source_for(Vectors(rng), zeros[:, 0], zeros[:, 0], zeros)


def main():
    found = solve()
    print(f"the loss was {found['losses'][0]:.2f}, and is {np.mean(found['losses'][-100:]):.2f}")
    for k in range(0, len(WORDS), 4):
        print(f"{WORDS[k]:7} is close to", ", ".join(sorted(WORDS[j] for j in found["near"][k])))
    print(f"{found['right']:.0%} of the neighbours are of the word's own kind")
    if found["right"] < 1:
        sys.exit("those are not all")


if __name__ == "__main__":
    main()
