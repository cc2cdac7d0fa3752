"""Hamiltonian Monte Carlo in Numba, whose leapfrog steps call a gradient that tangentc has written.

The posterior of a Poisson regression is a plain njit function with a loop over the data.  Its gradient is compiled as
a whole (`njit_for`), so that the sampler, a loop in njit code, calls it without going back to Python.  The method is
that of Neal, "MCMC using Hamiltonian dynamics", Handbook of Markov Chain Monte Carlo, 2011, algorithm 5.2.
This program prints the posterior means beside the weights that the data were drawn with, and exits with an error if
they are far apart.
"""

import math
import sys

import numba
import numpy as np

import tangentc


@numba.njit
def log_posterior(w, X, counts):
    """The log density of the weights, given counts with the rates exp(X w), and a normal prior; up to a constant."""
    total = 0.0
    for i in range(X.shape[0]):
        eta = 0.0
        for j in range(X.shape[1]):
            eta += X[i, j] * w[j]
        total += counts[i] * eta - math.exp(eta)
    for j in range(X.shape[1]):
        total -= 0.5 * w[j] * w[j]
    return total


def sampler(slope):
    """A function of Numba that samples along this gradient."""

    @numba.njit
    def sample(w, X, counts, draws, steps, size, seed):
        np.random.seed(seed)
        kept = np.empty((draws, w.shape[0]))
        taken = 0
        value = log_posterior(w, X, counts)
        for k in range(draws):
            p = np.random.normal(0.0, 1.0, w.shape[0])
            energy = 0.5 * np.sum(p * p) - value
            new = w.copy()
            p += 0.5 * size * slope(new, X, counts)
            for step in range(steps):
                new += size * p
                p += (size if step < steps - 1 else 0.5 * size) * slope(new, X, counts)
            proposed = log_posterior(new, X, counts)
            if math.log(np.random.random()) < energy - (0.5 * np.sum(p * p) - proposed):
                w, value = new, proposed
                taken += 1
            kept[k] = w
        return kept, taken / draws

    return sample


def main():
    rng = np.random.default_rng(0)
    true = np.array([0.5, -1.0, 0.3, 0.8])
    X = rng.normal(size=(500, len(true)))
    counts = rng.poisson(np.exp(X @ true)).astype(float)

    slope = tangentc.grad(log_posterior).njit_for(true, X, counts)
    start = np.zeros(len(true))
    for _ in range(300):
        start += 3e-4 * slope(start, X, counts)
    kept, share = sampler(slope)(start, X, counts, 2000, 10, 0.015, 1)
    means = kept.mean(axis=0)
    print("drawn with", true)
    print("found     ", np.round(means, 2), f"+- {kept.std(axis=0).max():.2f}, {share:.0%} of the steps taken")
    return 0 if np.max(np.abs(means - true)) < 0.15 and share > 0.6 else 1


if __name__ == "__main__":
    sys.exit(main())
