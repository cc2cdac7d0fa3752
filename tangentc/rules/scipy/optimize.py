"""Roots and minima, by the implicit function theorem.

Where SciPy has found x with f(x, p) = 0, two steps of Newton's method from there, which change x by rounding alone,
have the derivatives of the root in p: the first step its first derivative, - (df/dx)^-1 df/dp, and the second one its
second (Griewank and Walther, "Evaluating Derivatives", 2nd edition, chapter 15).  A minimum is a root of the gradient.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.optimize as so

from tangentc import runtime
from tangentc.core.inside import grad
from tangentc.core.ops import stopped as stop_gradient
from tangentc.core.types import Scalar
from tangentc.ops.table import say
from tangentc.rules.definitions.jacobians import hessian, jacfwd
from tangentc.rules.registry import defined


@dataclass
class Solution:
    """What `scipy.optimize.OptimizeResult` tells of a solution, of which ``x`` and ``fun`` move."""

    x: Any
    fun: Any
    success: Any
    status: Any
    message: Any
    nfev: Any


@dataclass
class ScalarSolution:
    """What `scipy.optimize.RootResults` tells of a root."""

    root: Any
    converged: Any
    iterations: Any
    function_calls: Any


def as_tuple(args):
    return args if isinstance(args, tuple) else (args,)


def like(found, x0):
    """What was found, as an array of floats like the one that the search began with."""
    return runtime.shaped_like(found, stop_gradient(np.asarray(x0, dtype=float)))


def moving(x, newton):
    """The value ``x`` with the derivatives of ``newton``, which is the same up to rounding."""
    return x + (newton - stop_gradient(newton))


# ------------------------------------------------------------------ roots
def root_near(fun, x, args):
    shape = np.shape(x)
    y = x
    for _ in range(2):
        J = np.reshape(jacfwd(fun, 0, y, *args), (np.size(y), np.size(y)))
        y = y - np.reshape(np.linalg.solve(J, np.ravel(fun(y, *args))), shape)
    return moving(x, y)


@defined(so.fsolve)
def fsolve(func, x0, args=(), fprime=None, xtol=1.49012e-08):
    given = as_tuple(args)
    start = np.atleast_1d(np.asarray(x0, dtype=float))
    found = so.fsolve(
        stop_gradient(func), stop_gradient(start), args=stop_gradient(given), fprime=stop_gradient(fprime), xtol=xtol
    )
    return root_near(func, like(found, start), given)


@defined(so.root)
def root(fun, x0, args=(), method="hybr", jac=None, *, tol=None, options=None):
    given = as_tuple(args)
    start = np.asarray(x0, dtype=float)
    found = so.root(
        stop_gradient(fun), stop_gradient(start), args=stop_gradient(given), method=method, jac=stop_gradient(jac),
        tol=tol, options=options,
    )  # fmt: skip
    x = root_near(fun, like(found.x, start), given)
    return Solution(x, fun(x, *given), found.success, found.status, found.message, found.nfev)


def scalar_root(f, found, args):
    x = runtime.shaped_like(found, 1.0)
    y = x
    for _ in range(2):
        y = y - f(y, *args) / grad(lambda z: f(z, *args))(y)
    return moving(x, y)


def root_of_each(f, x, args):
    """Of a function that works entry by entry."""
    y = x
    for _ in range(2):
        y = y - f(y, *args) / grad(lambda z: np.sum(f(z, *args)))(y)
    return moving(x, y)


@defined(so.brentq)
def brentq(f, a, b, args=(), xtol=2e-12, rtol=8.881784197001252e-16, maxiter=100):
    given = as_tuple(args)
    low, high = stop_gradient(a), stop_gradient(b)
    found = so.brentq(stop_gradient(f), low, high, args=stop_gradient(given), xtol=xtol, rtol=rtol, maxiter=maxiter)
    return scalar_root(f, found, given)


@defined(so.bisect)
def bisect(f, a, b, args=(), xtol=2e-12, rtol=8.881784197001252e-16, maxiter=100):
    given = as_tuple(args)
    low, high = stop_gradient(a), stop_gradient(b)
    found = so.bisect(stop_gradient(f), low, high, args=stop_gradient(given), xtol=xtol, rtol=rtol, maxiter=maxiter)
    return scalar_root(f, found, given)


def _number(call):
    """The type of a root, without a report of how it was found."""
    return Scalar("float64", True) if "full_output" not in call.keywords and len(call.args) < 8 else None


say(so.brentq, so.bisect, result=_number)


@defined(so.newton)
def newton(func, x0, fprime=None, args=(), tol=1.48e-08, maxiter=50):
    given = tuple(args)
    found = so.newton(
        stop_gradient(func), stop_gradient(x0), fprime=stop_gradient(fprime), args=stop_gradient(given), tol=tol,
        maxiter=maxiter,
    )  # fmt: skip
    if np.ndim(x0) > 0:
        return root_of_each(func, like(found, np.asarray(x0, dtype=float)), given)
    return scalar_root(func, found, given)


@defined(so.root_scalar)
def root_scalar(
    f, args=(), method=None, bracket=None, fprime=None, *, x0=None, x1=None, xtol=None, rtol=None, maxiter=None
):  # fmt: skip
    given = as_tuple(args)
    found = so.root_scalar(
        stop_gradient(f), args=stop_gradient(given), method=method, bracket=stop_gradient(bracket),
        fprime=stop_gradient(fprime), x0=stop_gradient(x0), x1=stop_gradient(x1), xtol=xtol, rtol=rtol,
        maxiter=maxiter,
    )  # fmt: skip
    place = scalar_root(f, found.root, given)
    return ScalarSolution(place, found.converged, found.iterations, found.function_calls)


# ------------------------------------------------------------------ minima
def minimum_near(fun, x, args):
    y = x
    for _ in range(2):
        slope = np.ravel(grad(lambda z: fun(z, *args))(y))
        H = np.reshape(hessian(fun, 0, y, *args), (np.size(y), np.size(y)))
        y = y - np.reshape(np.linalg.solve(H, slope), np.shape(x))
    return moving(x, y)


@defined(so.minimize)
def minimize(fun, x0, args=(), method=None, jac=None, *, tol=None, options=None):
    given = as_tuple(args)
    start = np.atleast_1d(np.asarray(x0, dtype=float))
    found = so.minimize(
        stop_gradient(fun), stop_gradient(start), args=stop_gradient(given), method=method, jac=stop_gradient(jac),
        tol=tol, options=options,
    )  # fmt: skip
    if jac is True:  # the function gives its gradient as well
        x = minimum_near(lambda z: fun(z, *given)[0], like(found.x, start), ())
        return Solution(x, fun(x, *given)[0], found.success, found.status, found.message, found.nfev)
    x = minimum_near(fun, like(found.x, start), given)
    return Solution(x, fun(x, *given), found.success, found.status, found.message, found.nfev)


@defined(so.minimize_scalar)
def minimize_scalar(fun, bracket=None, *, args=(), tol=None):
    given = as_tuple(args)
    found = so.minimize_scalar(stop_gradient(fun), bracket=stop_gradient(bracket), args=stop_gradient(given), tol=tol)
    x = minimum_near(fun, runtime.shaped_like(found.x, 1.0), given)
    return Solution(x, fun(x, *given), found.success, 0, found.message, found.nfev)


# ------------------------------------------------------------------ Rosenbrock's function
# "An automatic method for finding the greatest or least value of a function" (1960): the sum of
# 100 (x[i+1] - x[i]^2)^2 + (1 - x[i])^2
@defined(so.rosen)
def rosen(x):
    x = np.asarray(x)
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2, axis=0)


@defined(so.rosen_der)
def rosen_der(x):
    x = np.asarray(x)
    gap = x[1:] - x[:-1] ** 2
    before = -400 * x[:-1] * gap - 2 * (1 - x[:-1])
    after = 200 * gap
    return np.concatenate([[before[0]], before[1:] + after[:-1], after[-1:]])


@defined(so.rosen_hess)
def rosen_hess(x):
    x = np.asarray(x)
    beside = -400 * x[:-1]
    before = 1200 * x[:-1] ** 2 - 400 * x[1:] + 2
    diagonal = np.concatenate([[before[0]], before[1:] + 200, np.full_like(x[-1:], 200)])
    return np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)


@defined(so.rosen_hess_prod)
def rosen_hess_prod(x, p):
    return so.rosen_hess(x) @ np.asarray(p)
