"""What runs a function more than once has it draw the same random numbers each time, and the generators go on as after
one run."""

import math
import random

import numpy as np
import pytest

import tangentc

X = np.array([0.3, -1.2, 2.1])
GENERATOR = np.random.default_rng(3)


class Noisy:
    def __init__(self):
        self.parts = [{"rng": np.random.default_rng(3)}]

    def __call__(self, x):
        return np.sum(x**2 * self.parts[0]["rng"].normal(size=3))


def from_an_argument(x, rng):
    return np.sum(x**2 * rng.normal(size=3))


def from_the_module(x):
    return np.sum(x**2 * GENERATOR.normal(size=3))


def from_numpy(x):
    return np.sum(x**2 * np.random.normal(size=3))


def from_python(x):
    return np.sum(x**2 * random.random())


def _held_by_an_object():
    noisy = Noisy()

    def held_by_an_object(x):
        return noisy(x)

    return held_by_an_object


DRAWING = [
    (from_an_argument, lambda: (X, np.random.default_rng(3))), (from_the_module, lambda: (X,)),
    (from_numpy, lambda: (X,)), (from_python, lambda: (X,)), (_held_by_an_object(), lambda: (X,)),
    (Noisy(), lambda: (X,)),
]  # fmt: skip


@pytest.mark.parametrize("f, args", DRAWING, ids=lambda v: getattr(v, "__name__", type(v).__name__))
def test_second_derivatives_and_differences_draw_once(f, args):
    second = tangentc.hessian(f)(*args())
    assert np.count_nonzero(second) == 3 and np.allclose(second, np.diag(np.diag(second)))
    tangentc.check_grads(f, args(), order=2, quiet=True)


def test_columns_draw_what_one_run_draws():
    def scaled(x, w, rng):
        return x * w * rng.normal(size=3)

    z = np.random.default_rng(3).normal(size=3)
    rng = np.random.default_rng(3)
    for by, other in zip(tangentc.jacfwd(scaled, wrt=(0, 1))(X, 2 * X, rng), (2 * X, X)):
        np.testing.assert_allclose(by, np.diag(other * z))
    after = np.random.default_rng(3)
    after.normal(size=3)
    assert rng.normal() == after.normal()  # as after one run
    np.testing.assert_allclose(tangentc.hessian(from_an_argument)(X, np.random.default_rng(3)), np.diag(2 * z))


def root_times_a_draw(x, rng):
    return math.sqrt(x) * rng.normal()


def root_times_a_draw_of_the_module(x):
    return math.sqrt(x) * GENERATOR.normal()


def test_numbers_that_raise_are_tried_again_with_the_same_draws():
    first, second, third = np.random.default_rng(3).normal(size=3)
    with np.errstate(divide="ignore"):
        rng = np.random.default_rng(3)
        assert tangentc.grad(root_times_a_draw)(0.0, rng) == math.copysign(np.inf, first)
        assert rng.normal() == second
        rng = np.random.default_rng(3)
        _, pullback = tangentc.vjp(root_times_a_draw, 0.0, rng)
        assert rng.normal() == second
        assert pullback(1.0)[0] == math.copysign(np.inf, first)
        assert rng.normal() == third
        GENERATOR.bit_generator.state = np.random.default_rng(3).bit_generator.state
        _, pullback = tangentc.vjp(root_times_a_draw_of_the_module, 0.0)
        assert GENERATOR.normal() == second
        assert pullback(1.0)[0] == math.copysign(np.inf, first)
        assert GENERATOR.normal() == third


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_what_is_drawn_by_chances_that_move(make):
    def chosen(x, rng):
        p = np.exp(x) / np.exp(x).sum()
        return np.log(p[rng.choice(3, p=p)]) + np.sum(rng.choice(x, 5, p=p))

    value, given = tangentc.value_and_grad(chosen)(X, make(0))
    assert value == chosen(X, make(0))
    units = np.eye(3) * 1e-6
    wanted = [(chosen(X + u, make(0)) - chosen(X - u, make(0))) / 2e-6 for u in units]
    np.testing.assert_allclose(given, wanted, atol=1e-8)


@pytest.mark.parametrize("f", [from_the_module, Noisy(), from_numpy], ids=["module", "object", "numpy"])
def test_columns_of_a_gradient_draw_once(f):
    for gradient in (tangentc.grad(f), tangentc.differentiable(f).grad):
        second = tangentc.jacfwd(gradient)(X)
        assert np.count_nonzero(second) == 3 and np.allclose(second, np.diag(np.diag(second)))
