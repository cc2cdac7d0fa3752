"""Bessel functions of SciPy and their relatives.  Formulas: DLMF (dlmf.nist.gov), chapters 9 to 11."""

import math

import numpy as np
import scipy.special as sp

from tangentc.rules.registry import elementwise
from tangentc.rules.scipy import unknown


# ------------------------------------------------------------------ of order 0, 1 and n: 10.6.1 and 10.29.1
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


@elementwise(sp.i0e)
def i0e(x, y):
    return sp.i1e(x) - np.sign(x) * y


@elementwise(sp.i1e)
def i1e(x, y):
    return (sp.i0e(x) + sp.ive(2, x)) / 2 - np.sign(x) * y


@elementwise(sp.k0e, domain=(0.5, 3))
def k0e(x, y):
    return y - sp.k1e(x)


@elementwise(sp.k1e, domain=(0.5, 3))
def k1e(x, y):
    return y - (sp.k0e(x) + sp.kve(2, x)) / 2


@elementwise(sp.kve)
def kve(n, x, y):
    return unknown("the order of a Bessel function"), y - (sp.kve(n - 1, x) + sp.kve(n + 1, x)) / 2


def falling(f, real):
    """Register the derivative of a function as J, which is the same with the scale of jve where arguments are real."""

    def rule(n, x, y):
        return unknown("the order of a Bessel function"), (f(n - 1, x) - f(n + 1, x)) / 2

    elementwise(f, real=real)(rule)


for function, real in ((sp.jve, True), (sp.yve, True), (sp.hankel1, False), (sp.hankel2, False)):
    falling(function, real)


def higher(f):
    """Register the derivative of a function that gives derivatives: that of the next order."""

    def rule(v, x, y, n=1):
        return unknown("the order of a Bessel function"), f(v, x, n + 1)

    elementwise(f)(rule)


for function in (sp.jvp, sp.yvp, sp.ivp, sp.kvp, sp.h1vp, sp.h2vp):
    higher(function)


# ------------------------------------------------------------------ spherical functions: 10.51.1 and 10.51.4
def spherical(f, below, above):
    def rule(n, x, y):
        return None, (below * n * f(np.maximum(n - 1, 0), x) + above * (n + 1) * f(n + 1, x)) / (2 * n + 1)

    elementwise(f)(rule)


spherical(sp.spherical_jn, 1, -1)
spherical(sp.spherical_yn, 1, -1)
spherical(sp.spherical_in, 1, 1)
spherical(sp.spherical_kn, -1, -1)


# ------------------------------------------------------------------ Struve functions
@elementwise(sp.struve)
def struve(v, x, y):  # 11.4.24
    power = (x / 2) ** v * sp.rgamma(v + 1.5) / math.sqrt(math.pi)
    return unknown("the order of a Struve function"), (sp.struve(v - 1, x) - sp.struve(v + 1, x) + power) / 2


@elementwise(sp.modstruve)
def modstruve(v, x, y):  # 11.4.26
    power = (x / 2) ** v * sp.rgamma(v + 1.5) / math.sqrt(math.pi)
    return unknown("the order of a Struve function"), (sp.modstruve(v - 1, x) + sp.modstruve(v + 1, x) + power) / 2
