"""The log-posterior of a Gaussian mixture, the first objective of ADBench (arXiv:1807.10129).

Component k has the weight exp(alpha_k) / sum_j exp(alpha_j), the mean mu_k and the inverse covariance
Q_k^T Q_k.  Q_k is lower-triangular, with exp(q_k) on its diagonal and l_k below it, and has a Wishart prior.
This program prints the objective at ADBench's input d = 10, K = 25, n = 1000 and the code that tangentc
writes for its gradient, and compares that gradient with central differences.  It exits with an error if they
disagree.
"""

import math
import sys
from pathlib import Path

import numpy as np

import tangentc

DATA = Path(__file__).parent / "data" / "gmm_d10_K25.txt"
TOLERANCE = 1e-6


def log_sum_exp(x):
    """log(sum(exp(x))) over the components, which are the first axis."""
    largest = np.max(x, axis=0)
    return largest + np.log(np.sum(np.exp(x - largest), axis=0))


def log_multigamma(a, p):
    """The logarithm of the multivariate gamma function Gamma_p(a)."""
    return 0.25 * p * (p - 1) * math.log(math.pi) + sum(math.lgamma(a - 0.5 * j) for j in range(p))


def inverse_factors(icf, d):
    """The matrices Q_k, shape (K, d, d)."""
    factors = np.zeros((len(icf), d, d))
    start = d
    for j in range(d):
        stop = start + d - j - 1
        factors[:, j, j] = np.exp(icf[:, j])
        factors[:, j + 1 :, j] = icf[:, start:stop]
        start = stop
    return factors


def log_wishart_prior(factors, log_diagonals, gamma, m):
    """The logarithm of the prior of all Q_k, with ADBench's signs."""
    count, p = log_diagonals.shape
    n = p + m + 1
    constant = n * p * (math.log(gamma) - 0.5 * math.log(2)) - log_multigamma(0.5 * n, p)
    return 0.5 * gamma**2 * np.sum(factors**2) - m * np.sum(log_diagonals) - count * constant


@tangentc.differentiable(wrt=("alphas", "means", "icf"))
def objective(alphas, means, icf, points, gamma, m):
    """The logarithm of the posterior of the mixture.

    alphas: (K,), means: (K, d), points: (n, d).  icf: (K, d (d + 1) / 2), of which row k holds the d entries
    of q_k and then those of l_k by columns.
    """
    n, d = points.shape
    factors = inverse_factors(icf, d)
    log_diagonals = icf[:, :d]
    whitened = (points - means[:, None, :]) @ np.swapaxes(factors, 1, 2)
    exponents = (alphas + np.sum(log_diagonals, axis=1))[:, None] - 0.5 * np.sum(whitened**2, axis=2)
    log_likelihood = np.sum(log_sum_exp(exponents)) - n * log_sum_exp(alphas) - 0.5 * n * d * math.log(2 * math.pi)
    return log_likelihood + log_wishart_prior(factors, log_diagonals, gamma, m)


def read(path):
    """The arguments of the objective, from a file of ADBench."""
    with open(path) as file:
        d, count, n = map(int, file.readline().split())
        numbers = np.array(file.read().split(), float)
    sizes = [count, count * d, count * d * (d + 1) // 2, n * d]
    alphas, means, icf, points, wishart = np.split(numbers, np.cumsum(sizes))
    gamma, m = wishart
    return alphas, means.reshape(count, d), icf.reshape(count, -1), points.reshape(n, d), float(gamma), int(m)


def check_gradient(parameters, constants, gradient, rng, directions=10, step=1e-6):
    """The largest relative difference between the gradient and central differences along random directions."""
    worst = 0.0
    for _ in range(directions):
        direction = [rng.normal(size=x.shape) for x in parameters]
        ahead = objective(*(x + step * v for x, v in zip(parameters, direction, strict=True)), *constants)
        behind = objective(*(x - step * v for x, v in zip(parameters, direction, strict=True)), *constants)
        expected = (ahead - behind) / (2 * step)
        actual = sum(np.sum(g * v) for g, v in zip(gradient, direction, strict=True))
        worst = max(worst, abs(actual - expected) / abs(expected))
    return worst


def main():
    """Print the objective and its gradient's code, and check the gradient."""
    arguments = read(DATA)
    parameters, constants = arguments[:3], arguments[3:]
    source = objective.grad.source_for(*arguments)

    print(f"objective: {objective(*arguments):.6f}")
    print(f"the gradient's code: {len(source.splitlines())} lines, {len(source)} characters")
    print()
    print(source)

    gradient = objective.grad(*arguments)
    difference = check_gradient(parameters, constants, gradient, np.random.default_rng(0))
    print(f"largest relative difference from central differences: {difference:.1e}")
    if not difference < TOLERANCE:
        sys.exit(f"the gradient is wrong: {difference:.1e} is above {TOLERANCE:.0e}")


if __name__ == "__main__":
    main()
