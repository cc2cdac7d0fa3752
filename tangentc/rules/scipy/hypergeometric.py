"""Hypergeometric functions of SciPy, and what they are the derivatives of: elliptic integrals, polynomials, powers.

Formulas: DLMF (dlmf.nist.gov), in the equations named.
"""

import math

import numpy as np
import scipy.special as sp

from tangentc.rules.registry import elementwise
from tangentc.rules.scipy import unknown


def parameter():
    unknown("a parameter of a hypergeometric function")


@elementwise(sp.hyp0f1)
def hyp0f1(b, x, y):  # 16.3.1
    return parameter(), sp.hyp0f1(b + 1, x) / b


@elementwise(sp.hyp1f1)
def hyp1f1(a, b, x, y):  # 13.3.15
    return parameter(), parameter(), a / b * sp.hyp1f1(a + 1, b + 1, x)


@elementwise(sp.hyp2f1)
def hyp2f1(a, b, c, x, y):  # 15.5.1
    return parameter(), parameter(), parameter(), a * b / c * sp.hyp2f1(a + 1, b + 1, c + 1, x)


@elementwise(sp.hyperu)
def hyperu(a, b, x, y):  # 13.3.22
    return parameter(), parameter(), -a * sp.hyperu(a + 1, b + 1, x)


# ------------------------------------------------------------------ elliptic integrals: 19.5.1, 19.5.2, 19.4.1
@elementwise(sp.ellipk, domain=(-2, 0.9), singular=True)
def ellipk(m, y):
    return math.pi / 8 * sp.hyp2f1(1.5, 1.5, 2.0, m)


@elementwise(sp.ellipe, domain=(-2, 0.9), singular=True)
def ellipe(m, y):
    return -math.pi / 8 * sp.hyp2f1(0.5, 1.5, 2.0, m)


@elementwise(sp.ellipkm1, domain=(0.1, 2), singular=True)
def ellipkm1(p, y):
    near_zero = (p * y - sp.ellipe(1 - p)) / (2 * p * (1 - p))
    return np.where(p < 0.5, near_zero, -math.pi / 8 * sp.hyp2f1(1.5, 1.5, 2.0, 1 - p))


@elementwise(sp.ellipkinc)
def ellipkinc(phi, m, y):  # 19.2.4
    return 1 / np.sqrt(1 - m * np.sin(phi) ** 2), unknown("the parameter of an incomplete elliptic integral")


@elementwise(sp.ellipeinc)
def ellipeinc(phi, m, y):  # 19.2.5
    return np.sqrt(1 - m * np.sin(phi) ** 2), unknown("the parameter of an incomplete elliptic integral")


# ------------------------------------------------------------------ exponentials, logarithms and powers
@elementwise(sp.exprel)
def exprel(x, y):  # 13.6.2
    return sp.hyp1f1(2.0, 3.0, x) / 2


@elementwise(sp.spence, domain=(0.5, 2), singular=True)
def spence(x, y):  # 25.12.2 and 15.4.1
    return -sp.hyp2f1(1.0, 1.0, 2.0, 1 - x)


@elementwise(sp.boxcox, domain=(0.5, 2))
def boxcox(x, a, y):  # log(x) exprel(a log(x))
    return x ** (a - 1), np.log(x) ** 2 / 2 * sp.hyp1f1(2.0, 3.0, a * np.log(x))


@elementwise(sp.boxcox1p, domain=(0.5, 2))
def boxcox1p(x, a, y):
    return (1 + x) ** (a - 1), np.log1p(x) ** 2 / 2 * sp.hyp1f1(2.0, 3.0, a * np.log1p(x))


@elementwise(sp.inv_boxcox, domain=(0.5, 2))
def inv_boxcox(x, a, y):  # exp(log(1 + a x) / a), and 15.4.1 for the logarithm
    return y ** (1 - a), -y * x**2 / 2 * sp.hyp2f1(2.0, 2.0, 3.0, -a * x)


@elementwise(sp.inv_boxcox1p, domain=(0.5, 2))
def inv_boxcox1p(x, a, y):
    return (1 + y) ** (1 - a), -(1 + y) * x**2 / 2 * sp.hyp2f1(2.0, 2.0, 3.0, -a * x)


# ------------------------------------------------------------------ orthogonal polynomials: table 18.9.1, 18.9.15 to 26
@elementwise(sp.eval_jacobi)
def eval_jacobi(n, a, b, x, y):
    slope = (n + a + b + 1) / 2 * sp.eval_jacobi(n - 1, a + 1, b + 1, x)
    return None, parameter(), parameter(), slope


@elementwise(sp.eval_gegenbauer)
def eval_gegenbauer(n, a, x, y):
    return None, parameter(), 2 * a * sp.eval_gegenbauer(n - 1, a + 1, x)


@elementwise(sp.eval_legendre)
def eval_legendre(n, x, y):
    return None, sp.eval_gegenbauer(n - 1, 1.5, x)


@elementwise(sp.eval_chebyt)
def eval_chebyt(n, x, y):
    return None, n * sp.eval_gegenbauer(n - 1, 1.0, x)


@elementwise(sp.eval_chebyu)
def eval_chebyu(n, x, y):
    return None, 2 * sp.eval_gegenbauer(n - 1, 2.0, x)


@elementwise(sp.eval_laguerre)
def eval_laguerre(n, x, y):
    return None, -sp.eval_genlaguerre(n - 1, 1.0, x)


@elementwise(sp.eval_genlaguerre)
def eval_genlaguerre(n, a, x, y):
    return None, parameter(), -sp.eval_genlaguerre(n - 1, a + 1, x)


@elementwise(sp.eval_hermite)
def eval_hermite(n, x, y):
    return None, 2 * n * sp.eval_hermite(np.maximum(n - 1, 0), x)


@elementwise(sp.eval_hermitenorm)
def eval_hermitenorm(n, x, y):
    return None, n * sp.eval_hermitenorm(np.maximum(n - 1, 0), x)
