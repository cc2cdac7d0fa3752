"""Minima, which a search finds to half of the digits only: their derivatives against those of the same place found
as the root of the gradient."""

import numpy as np
import pytest
from scipy.optimize import fsolve, minimize, minimize_scalar, newton, root, root_scalar

import tangentc
from tangentc import grad, hessian

A = np.array([[1.0, 0.5], [0.2, 1.5], [0.7, -0.3]])
V = np.array([2.3, 1.9])


def by_search(v):
    found = minimize(lambda z: np.sum((z - v) ** 2) + np.sum(z**4) * v[0], np.zeros(2))
    return np.sum(found.x**3) + found.fun


def by_gradient(v):
    x = fsolve(lambda z: 2 * (z - v) + 4 * z**3 * v[0], np.zeros(2))
    return np.sum(x**3) + np.sum((x - v) ** 2) + np.sum(x**4) * v[0]


def ridge_by_search(v):
    weights = minimize(
        lambda w, penalty: np.sum((A @ w - 1.0) ** 2) + penalty * np.sum(w**2), np.zeros(2), args=(v[0],)
    )
    return np.sum((A @ weights.x) ** 2) * v[1] if weights.success else 0.0


def ridge(v):
    weights = np.linalg.solve(A.T @ A + v[0] * np.eye(2), A.T @ np.ones(3))
    return np.sum((A @ weights) ** 2) * v[1]


def of_one_by_search(v):
    return minimize_scalar(lambda z: (z - v[0]) ** 2 + v[1] * z**4).x


def of_one(v):
    return root(lambda z: 2 * (z - v[0]) + 4 * v[1] * z**3, np.zeros(1)).x[0]


@pytest.mark.parametrize(
    "search, exact", [(by_search, by_gradient), (ridge_by_search, ridge), (of_one_by_search, of_one)]
)
def test_minima(search, exact):
    np.testing.assert_allclose(grad(search)(V), grad(exact)(V), rtol=1e-6)
    np.testing.assert_allclose(hessian(search)(V), hessian(exact)(V), rtol=1e-5)
    value, tangent = tangentc.jvp(search, (V,), (np.ones(2),))
    assert value == search(V)
    np.testing.assert_allclose(tangent, np.sum(grad(exact)(V)), rtol=1e-6)


def test_a_minimum_under_bounds_is_refused():
    with pytest.raises(tangentc.TangentcError):
        grad(lambda v: minimize(lambda z: np.sum((z - v) ** 2), np.zeros(2), bounds=[(0, 1), (0, 1)]).fun)(V)


def test_the_gradient_that_a_search_uses():
    def found(v):
        return np.sum(minimize(lambda z: np.sum((z - v) ** 4), np.zeros(2), jac=lambda z: 4 * (z - v) ** 3, tol=1e-3).x)

    assert np.isfinite(found(V))
    assert tangentc.vjp(found, V)[0] == found(V)


@pytest.mark.parametrize(
    "search",
    [
        lambda a: fsolve(lambda x, a: x**3 - a, 1.0, (a,), fprime=lambda x, a: np.diag(3 * x**2))[0],
        lambda a: root(lambda x: x**3 - a, np.ones(1), jac=lambda x: np.diag(3 * x**2)).x[0],
        lambda a: newton(lambda x: x**3 - a, 1.0, fprime=lambda x: 3 * x**2),
        lambda a: newton(lambda x: x**3 - a, 1.0, lambda x: 3 * x**2),
        lambda a: root_scalar(lambda x: x**3 - a, x0=1.0, fprime=lambda x: 3 * x**2).root,
        lambda a: minimize(lambda x: (np.sum(x**4 / 4 - a * x), x**3 - a), np.ones(1), jac=True, tol=1e-12).x[0],
    ],
)
def test_the_derivative_that_a_search_uses(search):
    np.testing.assert_allclose(grad(search)(2.3), 2.3 ** (-2 / 3) / 3, rtol=1e-6)


def test_a_singular_jacobian_raises():
    with pytest.raises(np.linalg.LinAlgError):
        grad(lambda v: root(lambda z: (z - v) ** 2 * 0, V).x[0])(V)
