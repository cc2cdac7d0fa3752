"""A network that translates, as Google's GNMT: an encoder and a decoder of LSTMs with attention (Wu et al.,
arXiv:1609.08144, sections 3 and 3.1 to 3.2).

With ``n`` units and ``v`` symbols two tables have ``2 * v * n`` numbers.  An LSTM that is given ``m`` of them has
``4 * n * (m + n + 2)``, with two biases as PyTorch's: ``m`` is ``n`` twice in the first layer of the encoder, ``2 * n``
in its second, ``n`` in the others, and ``2 * n`` in all of the decoder.  Attention has ``2 * n * n + n``, and the
logits ``v * (n + 1)``: 280,928,512 with 8 layers on each side, 1,024 units and 32,000 symbols.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tangentc import learn
from tangentc.learn import functions as F


@dataclass
class Attention:
    """``softmax(v . tanh(W query + U memory)) memory`` (Bahdanau, Cho and Bengio, arXiv:1409.0473, appendix A.1.2)."""

    query: learn.Linear
    key: learn.Linear
    v: Any

    @classmethod
    def of(cls, units, rng, dtype):
        query, key = (learn.Linear.of(units, units, rng, False, dtype, learn.glorot_uniform) for _ in range(2))
        return cls(query, key, learn.glorot_uniform(rng, (1, units), dtype)[0])

    def __call__(self, h, keys, memory):
        """What a state ``(batch, units)`` sees of a memory ``(batch, places, units)``, whose keys are given."""
        weights = F.softmax(np.tanh(self.query(h)[:, None, :] + keys) @ self.v)
        return (weights[:, None, :] @ memory)[:, 0]


@dataclass
class Encoder:
    """A first layer that runs both ways, and layers with residuals from the third on (figures 1 and 3)."""

    table: learn.Embedding
    forth: learn.LSTM
    back: learn.LSTM
    second: learn.LSTM
    rest: list[learn.LSTM]

    @classmethod
    def of(cls, symbols, units, layers, rng, dtype):
        forth, back, second, *rest = (
            learn.LSTM.of(n * units, units, rng, dtype) for n in (1, 1, 2, *[1] * (layers - 2))
        )
        return cls(learn.Embedding.of(symbols, units, rng, dtype, 0.1), forth, back, second, rest)

    def __call__(self, source):
        x = self.table(source)
        x = self.second(np.concatenate([self.forth(x), self.back(x[:, ::-1])[:, ::-1]], axis=-1))
        for layer in self.rest:
            x = x + layer(x)
        return x


@dataclass
class Decoder:
    """The first layer asks the memory, with its last state, and all layers see the answer (section 3)."""

    table: learn.Embedding
    attention: Attention
    first: learn.LSTM
    second: learn.LSTM
    rest: list[learn.LSTM]
    logits: learn.Linear

    @classmethod
    def of(cls, symbols, units, layers, rng, dtype):
        first, second, *rest = (learn.LSTM.of(2 * units, units, rng, dtype) for _ in range(layers))
        table, attention = learn.Embedding.of(symbols, units, rng, dtype, 0.1), Attention.of(units, rng, dtype)
        logits = learn.Linear.of(units, symbols, rng, dtype=dtype, initial=learn.glorot_uniform)
        return cls(table, attention, first, second, rest, logits)

    def bottom(self, x, memory):
        """The states of the first layer and what each of them was given of the memory."""
        keys, cell = self.attention.key(memory), self.first
        h = c = np.zeros_like(memory[:, 0])
        states, seen = [], []
        for t in range(np.shape(x)[1]):
            context = self.attention(h, keys, memory)
            given = np.concatenate([x[:, t], context], axis=-1)
            h, c = F.lstm_cell(given, h, c, cell.w_in, cell.w_hidden, cell.b_in, cell.b_hidden)
            states.append(h)
            seen.append(context)
        return np.stack(states, axis=1), np.stack(seen, axis=1)

    def __call__(self, target, memory):
        x, seen = self.bottom(self.table(target), memory)
        x = self.second(np.concatenate([x, seen], axis=-1))
        for layer in self.rest:
            x = x + layer(np.concatenate([x, seen], axis=-1))
        return self.logits(x)


@dataclass
class GNMT:
    """Logits ``(batch, steps, symbols)`` of what follows the first symbols of a translation.

    ``source`` and ``target`` are integers ``(batch, places)`` and ``(batch, steps)``: the sentences of a batch have
    one length.
    """

    encoder: Encoder
    decoder: Decoder

    @classmethod
    def of(cls, rng, symbols=32_000, units=1024, layers=8, dtype=np.float32):
        """The paper's sizes: 8 layers of 1,024 units, and 32,000 pieces of words."""
        return cls(*(side.of(symbols, units, layers, rng, dtype) for side in (Encoder, Decoder)))

    def __call__(self, source, target):
        return self.decoder(target, self.encoder(source))


def loss(model, source, target):
    """The cross-entropy of each symbol of the target after those before it (equation 3)."""
    return F.cross_entropy(model(source, target[:, :-1]), target[:, 1:])
