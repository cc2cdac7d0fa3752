"""Tables, grids and polynomials as objects: of the module, in other objects, and made in the function."""

import numpy as np
from numpy.polynomial import Chebyshev, Laguerre, Polynomial
from scipy.interpolate import PchipInterpolator, RegularGridInterpolator, interp1d

PLACES = np.array([0.0, 1.0, 2.0, 3.0])
LINES = interp1d(PLACES, PLACES**2)
CURVES = interp1d(PLACES, PLACES**3, kind="cubic", bounds_error=False, fill_value="extrapolate")
STEPS = interp1d(PLACES, PLACES, kind="nearest", bounds_error=False, fill_value=(-1.0, 9.0))
GRID = RegularGridInterpolator((PLACES, PLACES), np.outer(PLACES, PLACES**2))
BEYOND = RegularGridInterpolator(
    (PLACES[::-1], PLACES), np.outer(PLACES, 2**PLACES), bounds_error=False, fill_value=None
)


def by_lines(x):
    return np.sum(LINES(x) ** 2)


def by_curves(x):
    return np.sum(CURVES(3 * x - 1) ** 2)


def by_steps(x):
    return np.sum(STEPS(4 * x) * x)


def in_a_grid(x):
    return np.sum(GRID((x, x[::-1])) ** 2) + np.sum(BEYOND(np.stack([4 * x, x], axis=-1)))


def point_by_point(x):
    total = 0.0
    for k in range(3):
        total = total + LINES(x[k]) * x[0] + GRID((x[k], x[0]))
    return total


class Model:
    def __init__(self, table, grid):
        self.table, self.grid = table, grid

    def __call__(self, x):
        return np.sum(self.table(x) * self.grid((x, x)))


MODEL = Model(LINES, GRID)


def in_an_object(x):
    return MODEL(x) * x[0]


def made_here(x, y):
    rise = interp1d(PLACES, np.append(y, y[0]), bounds_error=False, fill_value=(y[0], y[-1]))
    smooth = PchipInterpolator(PLACES, np.append(0.0, np.cumsum(y)))
    return np.sum(rise(3 * x - 1) * smooth(x)) + np.sum(rise(x) ** 2)


X = np.array([0.3, 1.2, 2.6])
FUNCTIONS = (by_lines, by_curves, by_steps, in_a_grid, point_by_point, in_an_object)
PROGRAMS = [(f, (X,)) for f in FUNCTIONS] + [(made_here, (X, np.array([0.5, 0.8, 1.7])))]


# ------------------------------------------------------------------ polynomials as objects
BY_POWERS = np.poly1d([1.0, 2.0, 3.0])
BY_TERMS = Polynomial([1.0, 2.0, 3.0])
ON_A_DOMAIN = Laguerre([1.0, 2.0, 3.0], domain=[0, 3])
FITTED = Chebyshev.fit(np.arange(5.0), np.arange(5.0) ** 2, 2)


def polynomials_of_the_module(x):
    return np.sum(BY_POWERS(x) * BY_TERMS(x) + ON_A_DOMAIN(x) ** 2) + FITTED(x[0]) * BY_TERMS.deriv()(x[1])


def polynomial_in_a_loop(c):
    p, total = np.poly1d(c), 0.0
    for k in range(3):
        total = total + p(0.5 * k)
    return total * p(c[0])


def series_on_a_domain(c):
    series = Chebyshev(c, domain=[-2, 2])
    return np.sum(series(np.linspace(-1, 1, 4)) ** 2) + series(c[1])


def fitted_and_evaluated(y):
    return np.poly1d(np.polyfit(np.arange(4.0), np.append(y, 1.0), 2))(y[0])


PROGRAMS += [
    (f, (X,)) for f in (polynomials_of_the_module, polynomial_in_a_loop, series_on_a_domain, fitted_and_evaluated)
]
