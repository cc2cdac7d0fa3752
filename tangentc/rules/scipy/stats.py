"""The densities and distribution functions of SciPy.

Formulas: Johnson, Kotz and Balakrishnan, "Continuous univariate distributions" (1994, 1995), and "Discrete
multivariate distributions" (1997); those of the normal distribution also DLMF 7.1.
"""

import math

import numpy as np
import scipy.linalg as sl
import scipy.special as sp
import scipy.stats as st

from tangentc.rules.registry import defined, is_float, is_known, static
from tangentc.rules.scipy import statistics  # noqa: F401


def inside(z, low, high, there, beyond):
    """``there`` where z lies in the support of a distribution, ``beyond`` where it does not."""
    return np.where((z >= low) & (z <= high), there, beyond)


def positive(value, parameter):
    """A value where a parameter is positive, and NaN elsewhere, as SciPy has it."""
    return value if is_known(parameter, 1) else np.where(parameter > 0, value, np.nan)


def valid(value, first, second=1, third=1):
    """A value where the parameters are positive, and NaN elsewhere."""
    return positive(positive(positive(value, first), second), third)


def standard(x, loc, scale):
    """``(x - loc) / scale``"""
    if is_known(loc, 0) and is_known(scale, 1) and is_float(x):
        return x
    return (x - loc) / scale


def clipped(z, low, high, value):
    """z where it lies in the support, and a harmless value elsewhere."""
    return np.where((z >= low) & (z <= high), z, value)


# ------------------------------------------------------------------ the normal distribution
@defined(st.norm.pdf)
def norm_pdf(x, loc=0, scale=1):
    z = standard(x, loc, scale)
    return valid(np.exp(-(z**2) / 2) / (math.sqrt(2 * math.pi) * scale), scale)


@defined(st.norm.logpdf)
def norm_logpdf(x, loc=0, scale=1):
    z = standard(x, loc, scale)
    return valid(-(z**2) / 2 - math.log(2 * math.pi) / 2 - np.log(scale), scale)


@defined(st.norm.cdf)
def norm_cdf(x, loc=0, scale=1):
    return valid(sp.ndtr(standard(x, loc, scale)), scale)


@defined(st.norm.logcdf)
def norm_logcdf(x, loc=0, scale=1):
    return valid(sp.log_ndtr(standard(x, loc, scale)), scale)


@defined(st.norm.sf)
def norm_sf(x, loc=0, scale=1):
    return valid(sp.ndtr(-standard(x, loc, scale)), scale)


@defined(st.norm.logsf)
def norm_logsf(x, loc=0, scale=1):
    return valid(sp.log_ndtr(-standard(x, loc, scale)), scale)


@defined(st.norm.ppf)
def norm_ppf(q, loc=0, scale=1):
    return valid(loc + scale * sp.ndtri(q), scale)


# ------------------------------------------------------------------ gamma, chi-squared and exponential distributions
@defined(st.gamma.logpdf)
def gamma_logpdf(x, a, loc=0, scale=1):
    z = standard(x, loc, scale)
    y = clipped(z, 0, np.inf, 1.0)
    return valid(inside(z, 0, np.inf, sp.xlogy(a - 1, y) - y - sp.gammaln(a), -np.inf) - np.log(scale), a, scale)


@defined(st.gamma.pdf)
def gamma_pdf(x, a, loc=0, scale=1):
    z = standard(x, loc, scale)
    y = clipped(z, 0, np.inf, 1.0)
    return valid(inside(z, 0, np.inf, np.exp(sp.xlogy(a - 1, y) - y - sp.gammaln(a)), 0.0) / scale, a, scale)


@defined(st.gamma.cdf)
def gamma_cdf(x, a, loc=0, scale=1):
    z = standard(x, loc, scale)
    return valid(inside(z, 0, np.inf, sp.gammainc(a, clipped(z, 0, np.inf, 1.0)), 0.0), a, scale)


@defined(st.gamma.logcdf)
def gamma_logcdf(x, a, loc=0, scale=1):
    z = standard(x, loc, scale)
    return valid(inside(z, 0, np.inf, np.log(sp.gammainc(a, clipped(z, 0, np.inf, 1.0))), -np.inf), a, scale)


@defined(st.chi2.pdf)
def chi2_pdf(x, df, loc=0, scale=1):
    return valid(st.gamma.pdf(x, df / 2, loc, 2 * scale), df, scale)


@defined(st.chi2.logpdf)
def chi2_logpdf(x, df, loc=0, scale=1):
    return valid(st.gamma.logpdf(x, df / 2, loc, 2 * scale), df, scale)


@defined(st.chi2.cdf)
def chi2_cdf(x, df, loc=0, scale=1):
    return valid(st.gamma.cdf(x, df / 2, loc, 2 * scale), df, scale)


@defined(st.chi2.logcdf)
def chi2_logcdf(x, df, loc=0, scale=1):
    return valid(st.gamma.logcdf(x, df / 2, loc, 2 * scale), df, scale)


@defined(st.expon.pdf)
def expon_pdf(x, loc=0, scale=1):
    z = standard(x, loc, scale)
    return valid(inside(z, 0, np.inf, np.exp(-clipped(z, 0, np.inf, 0.0)), 0.0) / scale, scale)


@defined(st.expon.logpdf)
def expon_logpdf(x, loc=0, scale=1):
    z = standard(x, loc, scale)
    return valid(inside(z, 0, np.inf, -z, -np.inf) - np.log(scale), scale)


@defined(st.expon.cdf)
def expon_cdf(x, loc=0, scale=1):
    return valid(-np.expm1(-np.maximum((x - loc) / scale, 0.0)), scale)


@defined(st.expon.logcdf)
def expon_logcdf(x, loc=0, scale=1):
    z = standard(x, loc, scale)
    return valid(inside(z, 0, np.inf, np.log(-np.expm1(-clipped(z, 0, np.inf, 1.0))), -np.inf), scale)


# ------------------------------------------------------------------ the logarithmic normal distribution
@defined(st.lognorm.logpdf)
def lognorm_logpdf(x, s, loc=0, scale=1):
    z = standard(x, loc, scale)
    y = np.log(np.where(z > 0, z, 1.0))
    return valid(
        np.where(z > 0, -((y / s) ** 2) / 2 - y - np.log(s) - math.log(2 * math.pi) / 2, -np.inf) - np.log(scale),
        s,
        scale,
    )


@defined(st.lognorm.pdf)
def lognorm_pdf(x, s, loc=0, scale=1):
    z = standard(x, loc, scale)
    y = np.where(z > 0, z, 1.0)
    return valid(
        np.where(z > 0, np.exp(-((np.log(y) / s) ** 2) / 2) / (s * y * math.sqrt(2 * math.pi)), 0.0) / scale, s, scale
    )


@defined(st.lognorm.cdf)
def lognorm_cdf(x, s, loc=0, scale=1):
    z = standard(x, loc, scale)
    return valid(np.where(z > 0, sp.ndtr(np.log(np.where(z > 0, z, 1.0)) / s), 0.0), s, scale)


@defined(st.lognorm.logcdf)
def lognorm_logcdf(x, s, loc=0, scale=1):
    z = standard(x, loc, scale)
    return valid(np.where(z > 0, sp.log_ndtr(np.log(np.where(z > 0, z, 1.0)) / s), -np.inf), s, scale)


# ------------------------------------------------------------------ beta, Student's and uniform distributions
@defined(st.beta.logpdf)
def beta_logpdf(x, a, b, loc=0, scale=1):
    z = standard(x, loc, scale)
    y = clipped(z, 0, 1, 0.5)
    return valid(
        inside(z, 0, 1, sp.xlogy(a - 1, y) + sp.xlog1py(b - 1, -y) - sp.betaln(a, b), -np.inf) - np.log(scale),
        a,
        b,
        scale,
    )


@defined(st.beta.pdf)
def beta_pdf(x, a, b, loc=0, scale=1):
    z = standard(x, loc, scale)
    y = clipped(z, 0, 1, 0.5)
    return valid(
        inside(z, 0, 1, np.exp(sp.xlogy(a - 1, y) + sp.xlog1py(b - 1, -y) - sp.betaln(a, b)), 0.0) / scale, a, b, scale
    )


@defined(st.beta.cdf)
def beta_cdf(x, a, b, loc=0, scale=1):
    z = standard(x, loc, scale)
    return valid(np.where(z > 1, 1.0, inside(z, 0, 1, sp.betainc(a, b, clipped(z, 0, 1, 0.5)), 0.0)), a, b, scale)


@defined(st.beta.logcdf)
def beta_logcdf(x, a, b, loc=0, scale=1):
    z = standard(x, loc, scale)
    return valid(
        np.where(z > 1, 0.0, inside(z, 0, 1, np.log(sp.betainc(a, b, clipped(z, 0, 1, 0.5))), -np.inf)), a, b, scale
    )


@defined(st.t.logpdf)
def t_logpdf(x, df, loc=0, scale=1):
    z = standard(x, loc, scale)
    constant = sp.gammaln((df + 1) / 2) - sp.gammaln(df / 2) - np.log(math.pi * df) / 2
    return valid(constant - (df + 1) / 2 * np.log1p(z**2 / df) - np.log(scale), df, scale)


@defined(st.t.pdf)
def t_pdf(x, df, loc=0, scale=1):
    return valid(np.exp(st.t.logpdf(x, df, loc, scale)), df, scale)


@defined(st.t.cdf)
def t_cdf(x, df, loc=0, scale=1):
    return valid(sp.stdtr(df, (x - loc) / scale), df, scale)


@defined(st.t.logcdf)
def t_logcdf(x, df, loc=0, scale=1):
    return valid(np.log(sp.stdtr(df, (x - loc) / scale)), df, scale)


@defined(st.uniform.pdf)
def uniform_pdf(x, loc=0, scale=1):
    z = standard(x, loc, scale)
    return valid(inside(z, 0, 1, 1 / scale, 0.0) + 0 * z, scale)


@defined(st.uniform.logpdf)
def uniform_logpdf(x, loc=0, scale=1):
    z = standard(x, loc, scale)
    return valid(inside(z, 0, 1, -np.log(scale), -np.inf) + 0 * z, scale)


@defined(st.uniform.cdf)
def uniform_cdf(x, loc=0, scale=1):
    return valid(np.clip((x - loc) / scale, 0.0, 1.0), scale)


@defined(st.uniform.logcdf)
def uniform_logcdf(x, loc=0, scale=1):
    return valid(np.log(np.clip((x - loc) / scale, 0.0, 1.0)), scale)


# ------------------------------------------------------------------ Poisson's distribution, in its mean
@defined(st.poisson.logpmf)
def poisson_logpmf(k, mu, loc=0):
    n = np.asarray(k) - loc
    there = (n >= 0) & (n == np.floor(n))
    m = np.where(there, n, 0)
    return np.where(mu >= 0, np.where(there, sp.xlogy(m, mu) - sp.gammaln(m + 1.0) - mu, -np.inf), np.nan)


@defined(st.poisson.pmf)
def poisson_pmf(k, mu, loc=0):
    n = np.asarray(k) - loc
    there = (n >= 0) & (n == np.floor(n))
    m = np.where(there, n, 0)
    return np.where(mu >= 0, np.where(there, np.exp(sp.xlogy(m, mu) - sp.gammaln(m + 1.0) - mu), 0.0), np.nan)


@defined(st.poisson.cdf)
def poisson_cdf(k, mu, loc=0):
    n = np.floor(np.asarray(k) - loc)
    return valid(np.where(n >= 0, sp.gammaincc(np.where(n >= 0, n, 0) + 1.0, mu), 0.0), mu)


# ------------------------------------------------------------------ several variables
@defined(st.dirichlet.logpdf)
def dirichlet_logpdf(x, alpha):
    a, y = np.asarray(alpha), np.asarray(x)
    if len(y) < len(a):  # the last coordinate is what is left
        y = np.concatenate([y, np.expand_dims(1 - np.sum(y, axis=0), 0)])
    powers = np.expand_dims(a, 1) if np.ndim(y) > 1 else a
    return np.sum(sp.xlogy(powers - 1, y), axis=0) + sp.gammaln(np.sum(a)) - np.sum(sp.gammaln(a))


@defined(st.dirichlet.pdf)
def dirichlet_pdf(x, alpha):
    return np.exp(st.dirichlet.logpdf(x, alpha))


# SciPy reads the lower triangle of the covariance, as Cholesky's factorisation does
@defined(st.multivariate_normal.logpdf)
def multivariate_normal_logpdf(x, mean=None, cov=1, allow_singular=False):
    if np.ndim(cov) < 2 and (mean is None or np.ndim(mean) == 0):
        if np.ndim(x) > 1:
            x = np.squeeze(x, axis=-1)
        return st.norm.logpdf(x, 0.0 if mean is None else mean, np.sqrt(cov))
    d = np.asarray(x) - (0.0 if mean is None else np.asarray(mean))
    n = np.shape(d)[-1]
    if np.ndim(cov) < 2:
        variances = np.broadcast_to(cov, (n,))
        squares, logarithm = np.sum(d**2 / variances, axis=-1), np.sum(np.log(variances))
    elif allow_singular:  # the density on the range of the covariance
        C = np.asarray(cov)
        inverse = np.linalg.pinv(C, 1e6 * np.finfo(float).eps)
        within = C @ inverse  # the projection onto that range
        squares = np.sum((d @ inverse) * d, axis=-1)
        logarithm = np.linalg.slogdet(C + np.eye(n) - within)[1]
        n = np.round(np.trace(within))
    else:
        L = np.linalg.cholesky(np.asarray(cov))
        columns = np.reshape(d, (-1, n)).T
        whitened = sl.solve_triangular(L, columns, lower=True)
        squares = np.reshape(np.sum(whitened**2, axis=0), np.shape(d)[:-1])
        logarithm = 2 * np.sum(np.log(np.diagonal(L)))
    return -(n * math.log(2 * math.pi) + logarithm + squares) / 2


@defined(st.multivariate_normal.pdf)
def multivariate_normal_pdf(x, mean=None, cov=1, allow_singular=False):
    return np.exp(st.multivariate_normal.logpdf(x, mean, cov, allow_singular))


@defined(st.multivariate_normal.entropy)
def multivariate_normal_entropy(mean=None, cov=1):
    C = np.atleast_2d(cov)
    lower = np.tril(C)  # which SciPy reads
    return np.shape(C)[-1] * (math.log(2 * math.pi) + 1) / 2 + np.linalg.slogdet(lower + np.tril(C, -1).T)[1] / 2


# ------------------------------------------------------------------ distributions with their parameters
class Frozen:
    """``norm(m, s)``: its methods are those of the distribution, with these parameters."""

    def __init__(self, dist, args, kwds):
        self.dist, self.args, self.kwds = dist, args, kwds

    def pdf(self, x):
        return self.dist.pdf(x, *self.args, **self.kwds)

    def logpdf(self, x):
        return self.dist.logpdf(x, *self.args, **self.kwds)

    def cdf(self, x):
        return self.dist.cdf(x, *self.args, **self.kwds)

    def logcdf(self, x):
        return self.dist.logcdf(x, *self.args, **self.kwds)

    def pmf(self, k):
        return self.dist.pmf(k, *self.args, **self.kwds)

    def logpmf(self, k):
        return self.dist.logpmf(k, *self.args, **self.kwds)

    def sf(self, x):
        return self.dist.sf(x, *self.args, **self.kwds)

    def ppf(self, q):
        return self.dist.ppf(q, *self.args, **self.kwds)

    def mean(self):
        return self.dist.mean(*self.args, **self.kwds)

    def var(self):
        return self.dist.var(*self.args, **self.kwds)

    def std(self):
        return self.dist.std(*self.args, **self.kwds)

    def median(self):
        return self.dist.median(*self.args, **self.kwds)

    def entropy(self):
        return self.dist.entropy(*self.args, **self.kwds)

    def rvs(self, size=1, random_state=None):
        return self.dist.rvs(*self.args, size=size, random_state=random_state, **self.kwds)


@defined(st.rv_continuous.__call__, type(st.multivariate_normal).__call__, type(st.dirichlet).__call__,
         always=lambda function, options: True)  # fmt: skip
def frozen(dist, *args, **kwds):
    return Frozen(dist, args, kwds)


FROZEN = type(st.norm())  # what the function finds, and has not made


@static
def original(d):
    """The distribution that a frozen one was made of, of which it holds a copy."""
    return getattr(st, d.dist.name)


@static
def of_shape(d):
    return d.args


@static
def by_name(d):
    return d.kwds


@defined(FROZEN.pdf)
def frozen_pdf(d, x):
    return original(d).pdf(x, *of_shape(d), **by_name(d))


@defined(FROZEN.logpdf)
def frozen_logpdf(d, x):
    return original(d).logpdf(x, *of_shape(d), **by_name(d))


@defined(FROZEN.cdf)
def frozen_cdf(d, x):
    return original(d).cdf(x, *of_shape(d), **by_name(d))


@defined(FROZEN.logcdf)
def frozen_logcdf(d, x):
    return original(d).logcdf(x, *of_shape(d), **by_name(d))
