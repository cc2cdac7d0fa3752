"""The special functions of SciPy.  Formulas: DLMF (dlmf.nist.gov), in the chapters and equations named."""

import math

import numpy as np
import scipy.special as sp

from tangentc.core.ops import stopped as stop_gradient
from tangentc.errors import NotDifferentiable
from tangentc.rules.registry import defined, elementwise, zero_gradient


def unknown(what):
    raise NotDifferentiable(
        f"the derivative in {what} is not known in closed form", why="SciPy has no function for it",
        way_out="keep it constant, by tangentc.stop_gradient",
    )  # fmt: skip


# ------------------------------------------------------------------ gamma and beta functions, chapters 5 and 8
@elementwise(sp.gamma, domain=(0.5, 3))
def gamma(x, y):
    return y * sp.digamma(x)


@elementwise(sp.gammaln, sp.loggamma, math.lgamma, domain=(0.5, 3))
def gammaln(x, y):
    return sp.digamma(x)


@elementwise(math.gamma, domain=(0.5, 3))
def math_gamma(x, y):
    return y * sp.digamma(x)


@elementwise(sp.rgamma, domain=(0.5, 3))
def rgamma(x, y):
    return -y * sp.digamma(x)


@elementwise(sp.digamma, domain=(0.5, 3))
def digamma(x, y):
    return sp.polygamma(1, x)


@elementwise(sp.polygamma, domain=(0.5, 3), singular=True)
def polygamma(n, x, y):
    return None, sp.polygamma(n + 1, x)


@elementwise(sp.beta, domain=(0.5, 3))
def beta(a, b, y):
    return y * (sp.digamma(a) - sp.digamma(a + b)), y * (sp.digamma(b) - sp.digamma(a + b))


@elementwise(sp.betaln, domain=(0.5, 3))
def betaln(a, b, y):
    return sp.digamma(a) - sp.digamma(a + b), sp.digamma(b) - sp.digamma(a + b)


@elementwise(sp.gammainc, domain=(0.5, 3))
def gammainc(a, x, y):  # 8.8.13
    return unknown("the first argument of gammainc"), np.exp(sp.xlogy(a - 1, x) - x - sp.gammaln(a))


@elementwise(sp.gammaincc, domain=(0.5, 3))
def gammaincc(a, x, y):
    return unknown("the first argument of gammaincc"), -np.exp(sp.xlogy(a - 1, x) - x - sp.gammaln(a))


@elementwise(sp.betainc, domain=((0.5, 3), (0.5, 3), (0.1, 0.9)))
def betainc(a, b, x, y):  # 8.17.2
    density = np.exp(sp.xlogy(a - 1, x) + sp.xlog1py(b - 1, -x) - sp.betaln(a, b))
    return unknown("the first argument of betainc"), unknown("the second argument of betainc"), density


zero_gradient(sp.gammasgn)


@defined(sp.multigammaln)
def multigammaln(a, d):
    shifts = np.arange(d) / 2
    return np.sum(sp.gammaln(np.expand_dims(np.asarray(a), -1) - shifts), axis=-1) + d * (d - 1) / 4 * math.log(math.pi)


# ------------------------------------------------------------------ error functions and the like, chapters 6 and 7
@elementwise(sp.stdtr, domain=((2, 5), (-2, 2)))
def stdtr(df, t, y):  # the density of Student's distribution
    density = sp.gammaln((df + 1) / 2) - sp.gammaln(df / 2) - (df + 1) / 2 * np.log1p(t**2 / df)
    return unknown("the first argument of stdtr"), np.exp(density) / np.sqrt(math.pi * df)


@elementwise(sp.erf)
def erf(x, y):  # 7.2.1
    return 2 / math.sqrt(math.pi) * np.exp(-(x**2))


@elementwise(sp.erfc)
def erfc(x, y):
    return -2 / math.sqrt(math.pi) * np.exp(-(x**2))


@elementwise(sp.erfcx)
def erfcx(x, y):
    return 2 * x * y - 2 / math.sqrt(math.pi)


@elementwise(sp.wofz)
def wofz(z, w):  # 7.10.2
    return 2j / math.sqrt(math.pi) - 2 * z * w


@elementwise(sp.dawsn)
def dawsn(x, y):  # 7.10.3
    return 1 - 2 * x * y


@elementwise(sp.erfinv, domain=(-0.9, 0.9))
def erfinv(x, y):
    return math.sqrt(math.pi) / 2 * np.exp(y**2)


@elementwise(sp.erfcinv, domain=(0.1, 1.9))
def erfcinv(x, y):
    return -math.sqrt(math.pi) / 2 * np.exp(y**2)


@elementwise(sp.ndtr)
def ndtr(x, y):
    return np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)


@elementwise(sp.ndtri, domain=(0.1, 0.9))
def ndtri(x, y):
    return math.sqrt(2 * math.pi) * np.exp(y**2 / 2)


@elementwise(sp.log_ndtr)
def log_ndtr(x, y):  # 7.2.3
    return math.sqrt(2 / math.pi) / sp.erfcx(-x / math.sqrt(2))


@elementwise(sp.exp1, domain=(0.5, 3))
def exp1(x, y):  # 6.2.1
    return -np.exp(-x) / x


@elementwise(sp.expi, domain=(0.5, 3))
def expi(x, y):
    return np.exp(x) / x


# ------------------------------------------------------------------ logistic functions, entropies, losses
@elementwise(sp.expit)
def expit(x, y):
    return y * sp.expit(-x)


@elementwise(sp.log_expit)
def log_expit(x, y):
    return sp.expit(-x)


@elementwise(sp.logit, domain=(0.1, 0.9))
def logit(x, y):
    return 1 / (x * (1 - x))


@elementwise(sp.log1p, domain=(-0.5, 1), singular=True)
def log1p(x, y):
    return 1 / (1 + x)


@elementwise(sp.expm1)
def expm1(x, y):
    return y + 1


@elementwise(sp.exp2)
def exp2(x, y):
    return math.log(2) * y


@elementwise(sp.exp10, domain=(-1, 1))
def exp10(x, y):
    return math.log(10) * y


@elementwise(sp.cbrt, domain=(0.5, 2), singular=True)
def cbrt(x, y):
    return 1 / (3 * y**2)


@elementwise(sp.xlogy, domain=(0.5, 2))
def xlogy(x, y, z):
    return np.log(y), np.where(x == 0, 0.0, x / y)


@elementwise(sp.xlog1py, domain=(0.5, 2))
def xlog1py(x, y, z):
    return np.log1p(y), np.where(x == 0, 0.0, x / (1 + y))


@elementwise(sp.entr, domain=(0.5, 2))
def entr(x, y):
    return -np.log(x) - 1


@elementwise(sp.rel_entr, domain=(0.5, 2))
def rel_entr(x, y, z):
    return np.log(x / y) + 1, -x / y


@elementwise(sp.kl_div, domain=(0.5, 2))
def kl_div(x, y, z):
    return np.log(x / y), 1 - x / y


@elementwise(sp.huber, domain=((0.5, 1), (-3, 3)))
def huber(delta, r, y):
    inside = np.abs(r) <= delta
    return np.where(inside, 0, np.abs(r) - delta), np.where(inside, r, delta * np.sign(r))


@elementwise(sp.pseudo_huber, domain=((0.5, 1), (-3, 3)))
def pseudo_huber(delta, r, y):  # y = delta^2 (root - 1)
    root = np.sqrt(1 + (r / delta) ** 2)
    return 2 * delta * (root - 1) - r**2 / (delta * root), r / root


@defined(sp.logsumexp)
def logsumexp(a, axis=None, b=None, keepdims=False):
    x = np.asarray(a) if b is None else np.where(np.asarray(b) == 0, -np.inf, a)
    largest = np.max(stop_gradient(x), axis=axis, keepdims=True)
    shift = np.where(np.isfinite(largest), largest, 0.0)
    terms = np.exp(x - shift) if b is None else b * np.exp(x - shift)
    sums = np.log(np.sum(terms, axis=axis, keepdims=keepdims))
    return sums + (shift if keepdims else np.squeeze(shift, axis=axis))


@defined(sp.softmax)
def softmax(x, axis=None):
    weights = np.exp(x - np.max(stop_gradient(x), axis=axis, keepdims=True))
    return weights / np.sum(weights, axis=axis, keepdims=True)


@defined(sp.log_softmax)
def log_softmax(x, axis=None):
    shifted = x - np.max(stop_gradient(x), axis=axis, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


# ------------------------------------------------------------------ Bessel functions, 10.6.1 and 10.29.1
@elementwise(sp.j0, domain=(0.5, 3))
def j0(x, y):
    return -sp.j1(x)


@elementwise(sp.y0, domain=(0.5, 3))
def y0(x, y):
    return -sp.y1(x)


@elementwise(sp.j1, domain=(0.5, 3))
def j1(x, y):
    return (sp.j0(x) - sp.jv(2, x)) / 2


@elementwise(sp.y1, domain=(0.5, 3))
def y1(x, y):
    return (sp.y0(x) - sp.yv(2, x)) / 2


@elementwise(sp.i0)
def i0(x, y):
    return sp.i1(x)


@elementwise(sp.i1)
def i1(x, y):
    return (sp.i0(x) + sp.iv(2, x)) / 2


@elementwise(sp.k0, domain=(0.5, 3))
def k0(x, y):
    return -sp.k1(x)


@elementwise(sp.k1, domain=(0.5, 3))
def k1(x, y):
    return -(sp.k0(x) + sp.kn(2, x)) / 2


@elementwise(sp.kn, domain=(0.5, 3))
def kn(n, x, y):
    return None, -(sp.kn(n - 1, x) + sp.kn(n + 1, x)) / 2


@elementwise(sp.jv, sp.jn, domain=(0.5, 3))
def jv(n, x, y):
    return unknown("the order of a Bessel function"), (sp.jv(n - 1, x) - sp.jv(n + 1, x)) / 2


@elementwise(sp.yv, domain=(0.5, 3))
def yv(n, x, y):
    return unknown("the order of a Bessel function"), (sp.yv(n - 1, x) - sp.yv(n + 1, x)) / 2


@elementwise(sp.yn, domain=(0.5, 3))
def yn(n, x, y):
    return None, (sp.yv(n - 1, x) - sp.yv(n + 1, x)) / 2


@elementwise(sp.iv, domain=(0.5, 3))
def iv(n, x, y):
    return unknown("the order of a Bessel function"), (sp.iv(n - 1, x) + sp.iv(n + 1, x)) / 2


@elementwise(sp.ive, domain=(0.5, 3), real=True)
def ive(n, x, y):
    return unknown("the order of a Bessel function"), (sp.ive(n - 1, x) + sp.ive(n + 1, x)) / 2 - np.sign(x) * y


@elementwise(sp.kv, domain=(0.5, 3))
def kv(n, x, y):
    return unknown("the order of a Bessel function"), -(sp.kv(n - 1, x) + sp.kv(n + 1, x)) / 2
