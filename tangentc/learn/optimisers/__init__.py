"""Optimisers: their updates in place, schedules of the rate, clipping, and averages of parameters.

An optimiser is a dataclass of settings.  What it remembers is a plain tree of numbers and arrays, which the caller
keeps, saves and gives back.

>>> import numpy as np
>>> from tangentc import grad
>>> def loss(model, x, y):
...     return np.mean((x @ model["w"] - y) ** 2)
>>> model = {"w": np.zeros(2)}
>>> x = np.random.default_rng(0).normal(size=(50, 2))
>>> optimiser = Adam(Cosine(0.1, 200), clip=1.0)
>>> state, slope = optimiser.init(model), grad(loss)
>>> for _ in range(200):
...     optimiser.update(model, slope(model, x, x @ np.array([1.0, -2.0])), state)
>>> model["w"].round(3)
array([ 1., -2.])
"""

from tangentc.learn.optimisers.averages import EMA, Accumulate
from tangentc.learn.optimisers.base import Optimiser
from tangentc.learn.optimisers.clipping import clip_by_global_norm, clip_by_value, global_norm
from tangentc.learn.optimisers.lbfgs import LBFGS, Minimum
from tangentc.learn.optimisers.rules import (
    LAMB,
    SGD,
    Adagrad,
    Adam,
    Adamax,
    AdamW,
    Lion,
    Momentum,
    NAdam,
    Nesterov,
    RMSProp,
)
from tangentc.learn.optimisers.schedules import Constant, Cosine, OneCycle, Plateau, Step, WarmUp

__all__ = [
    "EMA", "LAMB", "LBFGS", "SGD", "Accumulate", "Adagrad", "Adam", "AdamW", "Adamax", "Constant", "Cosine", "Lion",
    "Minimum", "Momentum", "NAdam", "Nesterov", "OneCycle", "Optimiser", "Plateau", "RMSProp", "Step", "WarmUp",
    "clip_by_global_norm", "clip_by_value", "global_norm",
]  # fmt: skip
