"""Functions that Numba compiles: read as the Python that they are made of, and their derivatives called from others."""

import math
import pickle
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from numba import njit, prange
from numba.typed import List

import tangentc

RNG = np.random.default_rng(0)


@njit
def weighted(x, w):
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            total += w[j] * x[i, j] ** 2 * math.exp(-x[i, j])
    return total


@njit(parallel=True)
def private_sum(x, y):
    total = 0.0
    for i in prange(len(x)):
        d = x[i] - y[i]
        total += d * d / (1.0 + abs(d))
    return total


@njit
def escape(c, x):
    out = 0.0
    for _ in range(200):
        x = x * x * 0.5 + c
        out += x * x
        if abs(x) > 2.0:
            break
    return out


@njit
def early(x, limit):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * x[i]
        if total > limit:
            return total * x[i]
    return total


@njit
def potential(r2):
    s = 1.0 / r2
    s3 = s * s * s
    return 4.0 * (s3 * s3 - s3)


@njit
def pairs(p):
    e = 0.0
    for i in range(p.shape[0]):
        for j in range(i + 1, p.shape[0]):
            r2 = 0.0
            for k in range(3):
                d = p[i, k] - p[j, k]
                r2 += d * d
            e += potential(r2)
    return e


@njit
def polar(x, y):
    return math.sqrt(x * x + y * y), math.atan2(y, x)


@njit
def tuples(xs, ys):
    a, b = 0.0, 1.0
    for i in range(len(xs)):
        r, t = polar(xs[i], ys[i])
        a, b = a + r * math.cos(b * t), 0.5 * b + 0.1 * r
    return a + b


@njit
def made_inside(x, steps):
    n = x.shape[0]
    u = x.copy()
    for _ in range(steps):
        v = np.empty(n)
        v[0] = u[0]
        v[n - 1] = u[n - 1]
        for i in range(1, n - 1):
            v[i] = u[i] + 0.1 * (u[i + 1] - 2.0 * u[i] + u[i - 1]) + 0.01 * u[i] * u[i]
        u = v
    s = 0.0
    for i in range(n):
        s += u[i] * u[i]
    return s


@njit
def newton(a):
    x = a
    k = 0
    while abs(x * x - a) > 1e-12 and k < 50:
        x = 0.5 * (x + a / x)
        k += 1
    return x


@njit
def sweep(u, f):
    u = u.copy()
    for _ in range(3):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - f[i, j] * u[i, j] ** 2)
    return np.sum(u * u)


@njit
def log_sum_exp(x):
    top = -np.inf
    for i in range(x.shape[0]):
        if x[i] > top:
            top = x[i]
    s = 0.0
    for i in range(x.shape[0]):
        s += math.exp(x[i] - top)
    return top + math.log(s)


@njit
def edges(x, src, dst):
    out = np.zeros(x.shape[0])
    for e in range(src.shape[0]):
        out[dst[e]] += math.tanh(x[src[e]] - x[dst[e]])
    s = 0.0
    for i in range(x.shape[0]):
        s += out[i] ** 2
    return s


@njit
def listed(x):
    squares = List()
    for i in range(len(x)):
        squares.append(numba.float64(x[i]) * x[i])
    s = 0.0
    for v in squares:
        s += v * v
    return s


@njit
def histogram(x, n):
    h = np.zeros(n)
    for i in range(len(x)):
        k = int(x[i] * n)
        if k >= 0 and k < n:
            h[k] += x[i] * x[i]
    return np.sum(h**2)


def vector(n):
    return RNG.normal(size=n)


FORMS = {
    weighted: ((RNG.normal(size=(12, 9)), vector(9)), (0, 1)),
    private_sum: ((vector(40), vector(40)), (0, 1)),
    escape: ((0.3, 0.1), (0, 1)),
    early: ((vector(30), 9.0), 0),
    pairs: ((np.arange(30.0).reshape(10, 3) + 0.3 * RNG.normal(size=(10, 3)),), 0),
    tuples: ((vector(20), vector(20)), (0, 1)),
    made_inside: ((0.1 * vector(20), 7), 0),
    newton: ((3.0,), 0),
    sweep: ((0.3 * RNG.normal(size=(10, 11)), 0.3 * RNG.normal(size=(10, 11))), (0, 1)),
    log_sum_exp: ((vector(30),), 0),
    edges: ((vector(12), RNG.integers(0, 12, 40), RNG.integers(0, 12, 40)), 0),
    listed: ((vector(12),), 0),
    histogram: ((RNG.uniform(size=30) * 1.2, 9), 0),
}


def along(f, args, moving, step):
    """The change of a function along a direction, by central differences, and the direction."""
    rng = np.random.default_rng(3)
    ways = {k: rng.normal(size=np.shape(args[k])) for k in moving}

    def at(t):
        return f(*(a + t * ways[k] if k in ways else a for k, a in enumerate(args)))

    return (at(step) - at(-step)) / (2 * step), ways


def as_tuple(value):
    return value if isinstance(value, tuple) else (value,)


@pytest.mark.parametrize("f", FORMS, ids=lambda f: f.__name__)
def test_a_form_of_njit_code(f):
    args, wrt = FORMS[f]
    derivative = tangentc.value_and_grad(f, wrt)
    value, gradient = derivative(*args)
    assert np.isclose(value, f(*args), rtol=1e-14)
    found, ways = along(f, args, as_tuple(wrt), 1e-6)
    assert np.isclose(sum(np.sum(g * ways[k]) for g, k in zip(as_tuple(gradient), ways)), found, rtol=1e-6, atol=1e-8)
    plain = tangentc.value_and_grad(f, wrt, kernels="numpy")
    for a, b in zip(as_tuple(gradient), as_tuple(plain(*args)[1])):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)
    assert "@" not in plain.source and "for" not in _outside_of_kernels(derivative.source)


def _outside_of_kernels(text):
    """The last function of a text, which Numba does not compile."""
    rows = text[text.rindex("\ndef ") :].splitlines()
    return [word for row in rows for word in row.partition("#")[0].split()]


@pytest.mark.parametrize("f", FORMS, ids=lambda f: f.__name__)
def test_a_derivative_is_called_from_njit_code(f):
    args, wrt = FORMS[f]
    derivative = tangentc.grad(f, wrt)
    inside = derivative.njit_for(*args)

    @njit
    def twice(args):
        inside(*args)
        return inside(*args)

    for a, b in zip(as_tuple(twice(args)), as_tuple(derivative(*args))):
        np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-15)


def test_lengths_that_it_was_not_made_for_are_refused():
    def dot3(x, y):
        return x[0] * y[0] + x[1] * y[1] + np.sum(x * y)

    inside = tangentc.grad(dot3).njit_for(np.ones(3), np.ones(3))
    with pytest.raises(ValueError, match=r"dot3_grad was made for x: float64\[.*\], y: float64"):
        inside(np.ones(3), np.ones(1))


def test_what_numba_cannot_compile_names_the_loop_and_the_reason():
    @njit
    def f(x):
        s = 0.0
        for i in range(3):
            s += np.sort(x)[i] * i
        return s

    np.testing.assert_array_equal(tangentc.grad(f)(np.arange(4.0)), [0.0, 1.0, 2.0, 0.0])
    with pytest.raises(tangentc.UnsupportedSyntax, match=r"for i in range\(3\)[\s\S]*a loop is NumPy's"):
        tangentc.grad(f).njit_for(np.ones(4))


def test_without_kernels_a_derivative_is_compiled_too():
    slope = tangentc.grad(lambda x: x * x).njit_for(2.0)
    assert njit(lambda x: x - 0.1 * slope(x))(2.0) == 1.6


def test_the_functions_of_math_do_not_raise_in_njit_code():
    @njit
    def f(x):
        s = 0.0
        for i in range(len(x)):
            s += 1.0 / (1.0 + math.exp(x[i]))
        return s

    value, gradient = tangentc.value_and_grad(f)(np.array([1000.0, 0.0]))
    assert value == f(np.array([1000.0, 0.0])) and gradient[1] == -0.25


def test_other_derivatives_of_njit_code():
    x = np.array([0.5, 1.5, 2.5])

    @njit
    def f(x):
        out = np.empty_like(x)
        for i in range(len(x)):
            out[i] = math.sin(x[i]) * x[-1]
        return out

    expected = np.diag(np.cos(x) * x[-1])
    expected[:, -1] += np.sin(x)
    np.testing.assert_allclose(tangentc.jacobian(f)(x), expected)
    np.testing.assert_allclose(tangentc.jvp(f, (x,), (np.ones(3),))[1], expected.sum(1))
    np.testing.assert_allclose(tangentc.vjp(f, x)[1](np.ones(3))[0], expected.sum(0))
    np.testing.assert_allclose(tangentc.adjoint(f).njit_for(x, x)(x, np.ones(3)), expected.sum(0))
    np.testing.assert_allclose(tangentc.hessian(newton)(4.0), -0.25 * 4.0**-1.5)
    np.testing.assert_allclose(tangentc.grad(lambda v: newton(np.sum(v)))(np.array([1.0, 3.0])), 0.25)


def test_a_decorated_function_stays_compiled():
    f = tangentc.differentiable(newton)
    assert f(4.0) == newton(4.0) and np.isclose(f.grad(4.0), 0.25)


def test_a_derivative_of_njit_code_travels():
    again = pickle.loads(pickle.dumps(tangentc.grad(newton)))
    assert np.isclose(again(4.0), 0.25) and again.kernels == "numba"


def test_a_typed_list_as_an_argument_is_refused():
    @njit
    def f(items):
        s = 0.0
        for v in items:
            s += v * v
        return s

    with pytest.raises(tangentc.NotDifferentiable, match="which is List"):
        tangentc.grad(f)(List([1.0, 2.0]))


@pytest.mark.parametrize("name", ["hmc", "cluster"])
def test_an_example(name):
    path = Path(__file__).parents[1] / "examples" / f"{name}.py"
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
