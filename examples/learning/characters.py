"""Text, character by character.

An LSTM (Hochreiter and Schmidhuber, 1997) reads the Zen of Python and says which character comes next. Its gradient
goes back through all steps of a window, and is now and then many times as long as usual; at the rate that is set here
such a step undoes what was learned. So it is shortened by its global norm (Pascanu, Mikolov and Bengio, 2013). The loss
is to be a tenth of what pairs of characters allow: of the entropy of a character whose predecessor is known.
"""

import contextlib
import io
import sys

import numpy as np

from tangentc import learn
from tangentc.learn import functions as F
from tangentc.learn.optimisers import global_norm

UNITS, STEPS, BATCH, WINDOW, LONGEST = 64, 300, 16, 50, 0.1


class Reader:
    def __init__(self, symbols, rng):
        self.embedding = learn.Embedding.of(symbols, 16, rng)
        self.lstm = learn.LSTM.of(16, UNITS, rng)
        self.out = learn.Linear.of(UNITS, symbols, rng)

    def __call__(self, text, h, c):
        states, h, c = self.lstm.scan(self.embedding(text), h, c)
        return self.out(states), h, c


def nothing_read(batch):
    return np.zeros((batch, UNITS)), np.zeros((batch, UNITS))


def loss(model, windows, h, c):
    logits, h, c = model(windows[:, :-1], h, c)
    return F.cross_entropy(logits, windows[:, 1:])


derivative = learn.value_and_grad(loss)


def zen():
    """The text as numbers, and its characters."""
    with contextlib.redirect_stdout(io.StringIO()):
        import this
    text = "".join(this.d.get(c, c) for c in this.s)
    alphabet = sorted(set(text))
    return np.array([alphabet.index(c) for c in text]), alphabet


def entropies(text):
    """Of a character, and of one whose predecessor is known, in nats."""
    pairs = np.zeros((text.max() + 1, text.max() + 1))
    np.add.at(pairs, (text[:-1], text[1:]), 1 / (len(text) - 1))
    first, second = pairs.sum(axis=1), pairs.sum(axis=0)
    single = -np.sum(second[second > 0] * np.log(second[second > 0]))
    both = -np.sum(pairs[pairs > 0] * np.log(pairs[pairs > 0]))
    return single, both + np.sum(first[first > 0] * np.log(first[first > 0]))


def write(model, text, length, rng):
    """So many characters behind those of ``text``, each drawn as the model says."""
    (h, c), given = nothing_read(1), text
    for _ in range(length):
        logits, h, c = model(given[np.newaxis], h, c)
        given = rng.choice(logits.shape[-1], size=1, p=F.softmax(logits[0, -1]))
        text = np.append(text, given)
    return text


def solve(steps=STEPS):
    rng = np.random.default_rng(0)
    text, alphabet = zen()
    model, optimiser = Reader(len(alphabet), rng), learn.SGD(16.0, clip=LONGEST)
    state, losses, norms = optimiser.init(model), [], []
    for _ in range(steps):
        starts = rng.integers(len(text) - WINDOW, size=BATCH)
        windows = text[starts[:, np.newaxis] + np.arange(WINDOW + 1)]
        value, gradient = derivative(model, windows, *nothing_read(BATCH))
        losses.append(value)
        norms.append(global_norm(learn.gradients(model, gradient)))
        optimiser.update(model, gradient, state)
    single, pair = entropies(text)
    written = "".join(alphabet[k] for k in write(model, text[:8], 200, np.random.default_rng(1)))
    return {"losses": np.array(losses), "norms": np.array(norms), "single": single, "pair": pair, "written": written}


def emitted():
    """The text of the gradient."""
    text, alphabet = zen()
    model = Reader(len(alphabet), np.random.default_rng(0))
    return derivative.source_for(model, np.tile(text[: WINDOW + 1], (BATCH, 1)), *nothing_read(BATCH))


def main():
    found = solve()
    reached, bound = np.mean(found["losses"][-50:]), found["pair"] / 10
    print(f"the entropy of a character is {found['single']:.2f}, behind a known one {found['pair']:.2f}")
    print(f"the loss was {found['losses'][0]:.2f}, and is {reached:.2f}")
    print(f"the longest gradient had the length {found['norms'].max():.1f}; it was shortened to {LONGEST}")
    print("\n".join(f"| {line}".rstrip() for line in found["written"].split("\n")))
    if not reached < bound:
        sys.exit(f"that is not below {bound:.2f}")


if __name__ == "__main__":
    main()
