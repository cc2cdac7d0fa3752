"""Random draws: with the same generator the same numbers, moved and scaled as the parameters say.

Kingma and Welling, "Auto-encoding variational Bayes" (2014), section 2.4: what is drawn does not depend on the
location and the scale, and is a constant.
"""

from __future__ import annotations

import numpy as np

from tangentc.core.ops import stopped as stop_gradient
from tangentc.rules.registry import defined


def drawn(size, loc, scale):
    """The shape of a draw.  NumPy, too, refuses a scale below zero, which can only be a mistake."""
    if np.any(scale < 0):
        raise ValueError("scale < 0")
    return np.broadcast_shapes(np.shape(loc), np.shape(scale)) if size is None else size


@defined(np.random.Generator.normal, np.random.RandomState.normal)
def normal(self, loc=0.0, scale=1.0, size=None):
    z = self.standard_normal(drawn(size, loc, scale))
    return loc + scale * z


@defined(np.random.Generator.lognormal, np.random.RandomState.lognormal)
def lognormal(self, mean=0.0, sigma=1.0, size=None):
    z = self.standard_normal(drawn(size, mean, sigma))
    return np.exp(mean + sigma * z)


@defined(np.random.Generator.exponential, np.random.RandomState.exponential)
def exponential(self, scale=1.0, size=None):
    z = self.standard_exponential(drawn(size, 0.0, scale))
    return scale * z


@defined(np.random.Generator.uniform, np.random.RandomState.uniform)
def uniform(self, low=0.0, high=1.0, size=None):
    z = self.random(np.broadcast_shapes(np.shape(low), np.shape(high)) if size is None else size)
    return low + (high - low) * z


@defined(np.random.Generator.gumbel, np.random.RandomState.gumbel)
def gumbel(self, loc=0.0, scale=1.0, size=None):
    z = self.gumbel(0.0, 1.0, drawn(size, loc, scale))
    return loc + scale * z


@defined(np.random.Generator.laplace, np.random.RandomState.laplace)
def laplace(self, loc=0.0, scale=1.0, size=None):
    z = self.laplace(0.0, 1.0, drawn(size, loc, scale))
    return loc + scale * z


@defined(np.random.Generator.logistic, np.random.RandomState.logistic)
def logistic(self, loc=0.0, scale=1.0, size=None):
    z = self.logistic(0.0, 1.0, drawn(size, loc, scale))
    return loc + scale * z


@defined(np.random.Generator.rayleigh, np.random.RandomState.rayleigh)
def rayleigh(self, scale=1.0, size=None):
    z = self.rayleigh(1.0, drawn(size, 0.0, scale))
    return scale * z


@defined(np.random.Generator.permutation)
def permutation(self, x, axis=0):
    return np.take(x, self.permutation(np.shape(x)[axis]), axis=axis)


@defined(np.random.RandomState.permutation)
def old_permutation(self, x):
    return x[self.permutation(len(x))]


@defined(np.random.Generator.choice)
def choice(self, a, size=None, replace=True, p=None, axis=0, shuffle=True):
    chances = None if p is None else stop_gradient(p)  # which place is drawn has no derivative
    if np.ndim(a) == 0:
        return self.choice(a, size, replace, chances, axis, shuffle)
    return np.take(a, self.choice(np.shape(a)[axis], size, replace, chances, shuffle=shuffle), axis=axis)


@defined(np.random.RandomState.choice)
def old_choice(self, a, size=None, replace=True, p=None):
    chances = None if p is None else stop_gradient(p)
    if np.ndim(a) == 0:
        return self.choice(a, size, replace, chances)
    return a[self.choice(len(a), size, replace, chances)]
