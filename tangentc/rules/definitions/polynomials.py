"""Polynomials of NumPy as objects, and series in orthogonal polynomials, in their coefficients and in the point.

A series is linear in its coefficients: it is the sum of its basis at the point, each times a coefficient.
"""

import numpy as np
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial

from tangentc.ops.table import say
from tangentc.rules.registry import adjoint_rule, defined, tangent_rule

KINDS = {
    "poly": (polynomial, polynomial.Polynomial), "cheb": (chebyshev, chebyshev.Chebyshev),
    "leg": (legendre, legendre.Legendre), "herm": (hermite, hermite.Hermite),
    "herme": (hermite_e, hermite_e.HermiteE), "lag": (laguerre, laguerre.Laguerre),
}  # fmt: skip


def basis(x, kind, n, nu):
    """The derivatives of order ``nu`` of the first ``n`` polynomials of a kind, along a last axis."""
    module = KINDS[kind][0]
    lower = getattr(module, f"{kind}der")(np.eye(n), nu)  # the coefficients of each, in a column
    values = getattr(module, f"{kind}vander")(x, len(lower) - 1) @ lower
    return np.reshape(values, np.shape(x) + (n,))  # which NumPy gives an axis for a number too


say(basis, pure=True)


def points(rng):
    return [
        ((rng.normal(size=shape), kind, n, 0), {}) for kind in KINDS for shape, n in (((3,), 4), ((), 1), ((2, 3), 3))
    ]


@adjoint_rule(basis, samples=points)
def basis_rule(x, kind, n, nu, y, y_bar):
    return np.sum(y_bar * basis(x, kind, n, nu + 1), axis=-1), None, None, None


@tangent_rule(basis)
def basis_tangent(x, kind, n, nu, y, x_dot):
    return np.expand_dims(x_dot, -1) * basis(x, kind, n, nu + 1)


def series(kind, x, c, tensor):
    """The sum of the first polynomials of a kind, each times a row of coefficients."""
    t, rows = np.asarray(x), np.asarray(c)
    values = basis(t, kind, len(rows), 0)
    if tensor:
        return np.tensordot(rows, values, axes=([0], [-1]))
    return np.sum(np.moveaxis(rows, 0, -1) * values, axis=-1)


class Series:
    """A polynomial as an object, whose domain is mapped to its window."""

    def __init__(self, kind, coef, domain, window):
        self.kind, self.coef, self.domain, self.window = kind, coef, domain, window

    def __call__(self, arg):
        (a, b), (c, d) = self.domain, self.window
        x = c + (d - c) / (b - a) * (np.asarray(arg) - a)
        return np.sum(basis(x, self.kind, len(self.coef), 0) * np.asarray(self.coef), axis=-1)


def of_kind(kind, module, cls):
    """Register what a module of `numpy.polynomial` has for its kind."""

    def value(x, c, tensor=True):
        return series(kind, x, c, tensor)

    def vander(x, deg):
        return basis(np.atleast_1d(x), kind, deg + 1, 0)

    def made(coef, domain=None, window=None):
        first = tuple(cls.domain) if domain is None else domain
        return Series(kind, coef, first, tuple(cls.window) if window is None else window)

    defined(getattr(module, f"{kind}val"))(value)
    defined(getattr(module, f"{kind}vander"))(vander)
    defined(cls)(made)


for kind, (module, cls) in KINDS.items():
    of_kind(kind, module, cls)


def kind_of(found):
    return next(kind for kind, (_, cls) in KINDS.items() if isinstance(found, cls))


say(kind_of, pure=True)


@defined(polynomial.Polynomial.__call__)
def call_series(self, arg):
    return Series(kind_of(self), self.coef, tuple(self.domain), tuple(self.window))(arg)


class Poly1d:
    def __init__(self, c):
        self.terms = c

    def __call__(self, x):
        return np.polyval(self.terms, x)


@defined(np.poly1d)
def poly1d(c_or_r):
    return Poly1d(c_or_r)


@defined(np.poly1d.__call__)
def call_poly1d(self, val):
    return np.polyval(self.coeffs, val)
