"""Layers on sequences ``(batch, steps, features)``: recurrent ones, and attention."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tangentc.errors import BadArgument
from tangentc.learn import functions as F
from tangentc.learn.layers.basic import Linear
from tangentc.learn.layers.initialisers import glorot_uniform, orthogonal
from tangentc.learn.layers.norms import LayerNorm


@dataclass
class RNN:
    """All states along sequences, from zero; see `functions.rnn`.

    >>> RNN.of(3, 4, np.random.default_rng(0))(np.ones((2, 5, 3))).shape
    (2, 5, 4)
    """

    w_in: Any
    w_hidden: Any
    b_in: Any
    b_hidden: Any

    gates: ClassVar[int] = 1

    @classmethod
    def of(cls, features, units, rng, dtype=float):
        """A layer of ``units`` states: Glorot's weights for the input, orthogonal ones for the state."""
        w_in = [glorot_uniform(rng, (units, features), dtype) for _ in range(cls.gates)]
        w_hidden = [orthogonal(rng, (units, units), dtype) for _ in range(cls.gates)]
        zero = np.zeros(cls.gates * units, dtype)
        return cls(np.concatenate(w_in), np.concatenate(w_hidden), zero, zero.copy())

    def __call__(self, x):
        return self.scan(x, F.zero_state(x, self.w_hidden))[0]

    def scan(self, x, h):
        """All states, and the last one, from the state ``h``."""
        return F.rnn(x, h, self.w_in, self.w_hidden, self.b_in, self.b_hidden)


@dataclass
class GRU(RNN):
    """All states along sequences, from zero; see `functions.gru`.

    >>> GRU.of(3, 4, np.random.default_rng(0))(np.ones((2, 5, 3))).shape
    (2, 5, 4)
    """

    gates = 3

    def scan(self, x, h):
        """All states, and the last one, from the state ``h``."""
        return F.gru(x, h, self.w_in, self.w_hidden, self.b_in, self.b_hidden)


@dataclass
class LSTM(RNN):
    """All states along sequences, from zero; see `functions.lstm`.

    >>> LSTM.of(3, 4, np.random.default_rng(0))(np.ones((2, 5, 3))).shape
    (2, 5, 4)
    """

    gates = 4

    @classmethod
    def of(cls, features, units, rng, dtype=float):
        """A layer of ``units`` states, whose forget gates begin open: with a bias of 1 (Jozefowicz, Zaremba and
        Sutskever, ICML 2015)."""
        layer = super().of(features, units, rng, dtype)
        layer.b_in[units : 2 * units] = 1
        return layer

    def __call__(self, x):
        zero = F.zero_state(x, self.w_hidden)
        return self.scan(x, zero, zero)[0]

    def scan(self, x, h, c):  # type: ignore[override]
        """All states, and the last ``h`` and ``c``, from these."""
        return F.lstm(x, h, c, self.w_in, self.w_hidden, self.b_in, self.b_hidden)


@dataclass
class MultiHeadAttention:
    """Attention in several heads, of ``x`` to itself or to ``memory``; see `functions.multi_head_attention`.

    >>> layer = MultiHeadAttention.of(4, 2, np.random.default_rng(0), causal=True)
    >>> layer(np.ones((2, 5, 4))).shape
    (2, 5, 4)
    """

    query: Linear
    key: Linear
    value: Linear
    out: Linear
    heads: int
    causal: bool = False

    @classmethod
    def of(cls, width, heads, rng, causal=False, bias=True, dtype=float):
        """Four products with ``(width, width)`` weights; `BadArgument` unless the heads can share the width evenly."""
        if width % heads:
            raise BadArgument(
                f"a width of {width} is to be shared by {heads} heads",
                why="each head takes the same part", way_out="choose a divisor of the width",
            )  # fmt: skip
        q, k, v, out = (Linear.of(width, width, rng, bias, dtype, glorot_uniform) for _ in range(4))
        return cls(q, k, v, out, heads, causal)

    def __call__(self, x, memory=None, mask=None):
        seen = x if memory is None else memory
        q = F.split_heads(self.query(x), self.heads)
        k = F.split_heads(self.key(seen), self.heads)
        v = F.split_heads(self.value(seen), self.heads)
        return self.out(F.join_heads(F.attention(q, k, v, mask, self.causal)))


@dataclass
class TransformerBlock:
    """Attention and two dense layers, each added to what it is given and normalised before (Vaswani et al.,
    arXiv:1706.03762, with the norms in front: Xiong et al., arXiv:2002.04745).

    >>> block = TransformerBlock.of(4, 2, 8, np.random.default_rng(0))
    >>> block(np.ones((2, 5, 4))).shape
    (2, 5, 4)
    """

    norm1: LayerNorm
    attention: MultiHeadAttention
    norm2: LayerNorm
    wide: Linear
    narrow: Linear

    @classmethod
    def of(cls, width, heads, inner, rng, causal=False, dtype=float):
        """A block of ``width`` numbers for each entry, with ``inner`` ones between the dense layers."""
        return cls(
            LayerNorm.of(width, dtype), MultiHeadAttention.of(width, heads, rng, causal, dtype=dtype),
            LayerNorm.of(width, dtype), Linear.of(width, inner, rng, dtype=dtype, initial=glorot_uniform),
            Linear.of(inner, width, rng, dtype=dtype, initial=glorot_uniform),
        )  # fmt: skip

    def __call__(self, x, mask=None):
        x = x + self.attention(self.norm1(x), mask=mask)
        return x + self.narrow(F.gelu(self.wide(self.norm2(x)), approximate=True))
