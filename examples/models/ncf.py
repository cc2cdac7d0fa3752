"""NeuMF, neural collaborative filtering (He et al., arXiv:1708.05031, section 3.4), at the sizes of MovieLens-1M.

With ``f`` factors the tables have ``3 * f * (users + items)`` numbers, the three hidden layers ``4 * f * (4 * f + 1)``,
``2 * f * (4 * f + 1)`` and ``f * (2 * f + 1)``, and the last weight ``2 * f``: 235,640 for 6,040 users, 3,706 items
and 8 factors.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tangentc import learn
from tangentc.learn import functions as F


@dataclass
class NeuMF:
    """Factors of users and items that are multiplied, and others that go through dense layers (figure 3)."""

    users: learn.Embedding  # of the product
    items: learn.Embedding
    wide_users: learn.Embedding  # of the layers
    wide_items: learn.Embedding
    hidden: learn.Sequential
    last: Any

    @classmethod
    def of(cls, rng, users=6040, items=3706, factors=8, dtype=np.float32):
        """Tables for so many users and items; of the hidden layers the last one has as many units as there are factors
        (section 4.1: for 8 factors 32, 16 and 8, on vectors of 16)."""
        tables = [learn.Embedding.of(n, f, rng, dtype, 0.01) for f in (factors, 2 * factors) for n in (users, items)]
        sizes = [4 * factors, 4 * factors, 2 * factors, factors]
        layers = [f for a, b in zip(sizes, sizes[1:]) for f in (learn.Linear.of(a, b, rng, dtype=dtype), F.relu)]
        return cls(*tables, learn.Sequential(layers), learn.glorot_uniform(rng, (1, 2 * factors), dtype)[0])

    def __call__(self, users, items):
        """The logits ``(batch,)`` that these users want these items, both integers ``(batch,)`` (equation 12)."""
        product = self.users(users) * self.items(items)
        deep = self.hidden(np.concatenate([self.wide_users(users), self.wide_items(items)], axis=-1))
        return np.concatenate([product, deep], axis=-1) @ self.last


def loss(model, users, items, wanted):
    """The cross-entropy of what is wanted, 0 or 1 (equation 7)."""
    return F.binary_cross_entropy(model(users, items), wanted)
