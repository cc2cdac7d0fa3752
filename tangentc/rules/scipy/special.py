"""The special functions of SciPy.  Formulas: DLMF (dlmf.nist.gov), in the chapters and equations named."""

import math

import numpy as np
import scipy.special as sp

from tangentc.core.ops import stopped as stop_gradient
from tangentc.ops.table import say
from tangentc.rules.reductions import along
from tangentc.rules.registry import adjoint_rule, defined, elementwise, tangent_rule, zero_gradient
from tangentc.rules.scipy import bessel, hypergeometric, unknown  # noqa: F401


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


@elementwise(sp.betaincc)
def betaincc(a, b, x, y):
    density = np.exp(sp.xlogy(a - 1, x) + sp.xlog1py(b - 1, -x) - sp.betaln(a, b))
    return unknown("the first argument of betaincc"), unknown("the second argument of betaincc"), -density


@elementwise(sp.gammaincinv)
def gammaincinv(a, p, x):
    return unknown("the first argument of gammaincinv"), np.exp(x + sp.gammaln(a) - sp.xlogy(a - 1, x))


@elementwise(sp.gammainccinv)
def gammainccinv(a, p, x):
    return unknown("the first argument of gammainccinv"), -np.exp(x + sp.gammaln(a) - sp.xlogy(a - 1, x))


@elementwise(sp.betaincinv)
def betaincinv(a, b, p, x):
    slope = np.exp(sp.betaln(a, b) - sp.xlogy(a - 1, x) - sp.xlog1py(b - 1, -x))
    return unknown("the first argument of betaincinv"), unknown("the second argument of betaincinv"), slope


@elementwise(sp.poch, domain=(0.5, 3))
def poch(x, m, y):  # 5.2.5
    return y * (sp.digamma(x + m) - sp.digamma(x)), y * sp.digamma(x + m)


@elementwise(sp.binom, domain=((3, 5), (0.5, 2)))
def binom(n, k, y):  # 1.2.6
    below = sp.digamma(n - k + 1)
    return y * (sp.digamma(n + 1) - below), y * (below - sp.digamma(k + 1))


@defined(sp.comb)
def comb(N, k):
    return np.where((k >= 0) & (N >= 0) & (k <= N), sp.binom(N, k), 0.0)


@defined(sp.factorial)
def factorial(n):
    return np.where(np.asarray(n) < 0, 0.0, sp.gamma(np.asarray(n) + 1.0))


@elementwise(sp.zeta)
def zeta(x, q, y):  # 25.11.17
    return unknown("the first argument of zeta"), -x * sp.zeta(x + 1, q)


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


@elementwise(sp.stdtrit)
def stdtrit(df, p, t):
    density = sp.gammaln((df + 1) / 2) - sp.gammaln(df / 2) - (df + 1) / 2 * np.log1p(t**2 / df)
    return unknown("the first argument of stdtrit"), np.sqrt(math.pi * df) * np.exp(-density)


@elementwise(sp.erf)
def erf(x, y):  # 7.2.1
    return 2 / math.sqrt(math.pi) * np.exp(-(x**2))


say(sp.erf, kernel=math.erf)


@elementwise(sp.erfc)
def erfc(x, y):
    return -2 / math.sqrt(math.pi) * np.exp(-(x**2))


@elementwise(sp.erfi, domain=(-1, 1))
def erfi(x, y):
    return 2 / math.sqrt(math.pi) * np.exp(x**2)


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


@elementwise(sp.expn)
def expn(n, x, y):  # 8.19.13
    before = -sp.expn(np.maximum(n - 1, 0), x)
    return None, np.where(np.equal(n, 0), -y * (1 + 1 / x), before)


# the functions that one call gives, each by itself
def sine_integral(x):
    return sp.sici(x)[0]


def cosine_integral(x):
    return sp.sici(x)[1]


def fresnel_s(x):
    return sp.fresnel(x)[0]


def fresnel_c(x):
    return sp.fresnel(x)[1]


say(sine_integral, cosine_integral, fresnel_s, fresnel_c, pure=True)


@elementwise(sine_integral)
def sine_integral_rule(x, y):  # 6.2.9
    return np.sinc(x / math.pi)


@elementwise(cosine_integral, domain=(0.5, 3))
def cosine_integral_rule(x, y):  # 6.2.11
    return np.cos(x) / x


@elementwise(fresnel_s)
def fresnel_s_rule(x, y):  # 7.2.8
    return np.sin(math.pi / 2 * x**2)


@elementwise(fresnel_c)
def fresnel_c_rule(x, y):  # 7.2.7
    return np.cos(math.pi / 2 * x**2)


@defined(sp.sici)
def sici(x):
    return sine_integral(x), cosine_integral(x)


@defined(sp.fresnel)
def fresnel(x):
    return fresnel_s(x), fresnel_c(x)


# ------------------------------------------------------------------ Lambert's W and Wright's omega: 4.13.4
@elementwise(sp.lambertw, domain=(0.1, 3), singular=True)
def lambertw(x, w, k=0, tol=1e-8):
    return np.exp(-w) / (1 + w)


@elementwise(sp.wrightomega)
def wrightomega(x, w):  # w + log(w) = x
    return w / (1 + w)


# ------------------------------------------------------------------ logistic functions, entropies, losses
@elementwise(sp.expit)
def expit(x, y):
    return y * sp.expit(-x)


say(sp.expit, kernel=sp.expit, routine="sigmoid")


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


@elementwise(sp.cosm1)
def cosm1(x, y):
    return -np.sin(x)


@elementwise(sp.powm1, domain=(0.5, 2))
def powm1(x, a, y):
    return a * x ** (a - 1), (y + 1) * np.log(x)


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


def axes_of_logits(rng):
    return [((rng.normal(size=(3, 4)),), options) for options in ({}, {"axis": 0}, {"axis": -1}, {"axis": (0, 1)})]


def axes_of_sums(rng):
    return [*axes_of_logits(rng), ((rng.normal(size=(3, 4)),), {"axis": 1, "keepdims": True})]


say(sp.logsumexp, pure=True, new=True, uniform=True)
say(sp.softmax, sp.log_softmax, pure=True, new=True, keeps_shape=True)


@adjoint_rule(sp.logsumexp, samples=axes_of_sums, b=(None,))
def logsumexp_rule(x, y, y_bar, axis=None, b=None, keepdims=False):
    return along(y_bar, axis, keepdims) * np.exp(x - along(y, axis, keepdims))


@tangent_rule(sp.logsumexp)
def logsumexp_tangent(x, y, x_dot, axis=None, b=None, keepdims=False):
    return np.sum(np.exp(x - along(y, axis, keepdims)) * x_dot, axis=axis, keepdims=keepdims)


@adjoint_rule(sp.softmax, samples=axes_of_logits)
def softmax(x, y, y_bar, axis=None):
    return y * (y_bar - np.sum(y_bar * y, axis=axis, keepdims=True))


@tangent_rule(sp.softmax)
def softmax_tangent(x, y, x_dot, axis=None):
    return y * (x_dot - np.sum(y * x_dot, axis=axis, keepdims=True))


@adjoint_rule(sp.log_softmax, samples=axes_of_logits)
def log_softmax(x, y, y_bar, axis=None):
    return y_bar - np.exp(y) * np.sum(y_bar, axis=axis, keepdims=True)


@tangent_rule(sp.log_softmax)
def log_softmax_tangent(x, y, x_dot, axis=None):
    return x_dot - np.sum(np.exp(y) * x_dot, axis=axis, keepdims=True)
