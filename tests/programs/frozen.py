"""Distributions of SciPy with their parameters: made inside, found outside, kept in lists and objects."""

import numpy as np
from scipy import stats

X = np.array([0.3, 1.2, 0.7])
PRIOR, WAITING = stats.norm(0.5, 2.0), stats.gamma(2.0, scale=1.5)


def by_position(m, s, x):
    return np.sum(stats.norm(m, s).logpdf(x))


def with_a_name(m, s, x):
    d = stats.norm(loc=m, scale=s)
    return np.sum(d.logpdf(x)) + d.cdf(0.1) * d.logcdf(0.4)


def shapes(a, x):
    return np.sum(stats.gamma(a, scale=2.0).logpdf(x)) + stats.expon(scale=a).cdf(0.4)


def in_two_dimensions(m, c):
    return stats.multivariate_normal(m, np.eye(2) * c).logpdf(np.array([0.3, 0.1]))


def counts(rate):
    return np.sum(stats.poisson(rate).logpmf(np.array([1, 2, 3])))


def mixture(m, s, x):
    parts = [stats.norm(m, s), stats.norm(m * 2, s)]
    return np.sum(np.log(sum(d.pdf(x) * 0.5 for d in parts)))


class Model:
    def __init__(self, m, s):
        self.prior = stats.norm(m, s)
        self.k = 2.0

    def log_probability(self, x):
        return np.sum(self.prior.logpdf(x)) * self.k


def in_an_object(m, s, x):
    return Model(m, s).log_probability(x)


def of_constants(m, x):
    d = stats.norm(0.5, 2.0)
    noise = d.rvs(size=3, random_state=0)
    return np.sum(d.logpdf(x * m + noise)) + d.mean() * m + d.ppf(0.3) * m**2 + d.std()


def found_outside(m, x):
    return np.sum(PRIOR.logpdf(x * m)) + np.sum(WAITING.pdf(x * m)) + WAITING.cdf(m)


class Wrapper:
    def __init__(self, dist, args, kwds):
        self.dist, self.args, self.kwds = dist, args, kwds

    def logpdf(self, x):
        return self.dist.logpdf(x, *self.args, **self.kwds)


def in_a_wrapper(m, s, x):
    return np.sum(Wrapper(stats.norm, (m,), {"scale": s}).logpdf(x))


PROGRAMS = [
    (by_position, (0.3, 1.2, X)), (with_a_name, (0.3, 1.2, X)), (shapes, (1.7, X)),
    (in_two_dimensions, (np.array([0.1, 0.2]), 1.5)), (counts, (1.7,)), (mixture, (0.3, 1.2, X)),
    (in_an_object, (0.3, 1.2, X)), (of_constants, (0.3, X)), (found_outside, (0.3, X)), (in_a_wrapper, (0.3, 1.2, X)),
]  # fmt: skip
