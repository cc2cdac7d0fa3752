"""The checker accuses nothing that is right, and finds and names what is wrong."""

import math
import time
import warnings
from dataclasses import dataclass

import numpy as np
import pytest

import tangentc
from tangentc import CannotTell, GradientMismatch


# ------------------------------------------------------------------ right, and hard to tell by differences
def heat(u, dt):
    for _ in range(30):
        u = u.copy()
        u[1:-1] += dt / np.abs(u).max() * (u[2:] - 2 * u[1:-1] + u[:-2]) * np.abs(u).max()
    return np.sum(u**2)


def chaotic(x, r):
    v = x / np.sum(np.abs(x))
    for _ in range(25):
        v = 3.9 * v * (1 - v) + 0 * r
    return v


def stiff(x, k):
    y = x / np.max(np.abs(x))
    for _ in range(40):
        y = y - 1e-3 * 900 * (y - np.cos(y * k / (1 + abs(k))))
    return y


def steep(x, k):
    return np.tanh(x / np.max(np.abs(x)) * 300) * k


def of_a_tiny_difference(x, k):
    return (x + 1e3 * np.max(np.abs(x))) * k - 1e3 * np.max(np.abs(x)) * k


def narrow_peak(x, k):
    z = x / np.max(np.abs(x))
    return np.exp(-(((z - z[0]) * 1e4) ** 2)) * k


def with_kinks(x, k):
    return np.sum(np.abs(x - x[1])) + np.maximum(x, x[0]) * k


def jumping(x, k):
    return np.floor(x / np.max(np.abs(x)) * 10) * k


def noisy(x, k):
    return np.float32(1.0) * (x / k).astype(np.float32) * 1.0


def at_the_edge(x, k):
    return np.sqrt(x - np.min(x)) * k


def constant(x, k):
    return x[0] * 0 + k


def long_loop(x, k):
    v = x[0] / k
    for _ in range(200):
        v = v - 1e-3 * v * v
    return v


def powers(x, k):
    return np.sum(x**7) / k


def logs(x, k):
    return np.log(np.abs(x)) * np.log(np.abs(k))


def oscillating(x, k):
    return np.sin(1e3 * x / np.max(np.abs(x))) * k


def cancelling(x, k):
    return (1 - np.cos(x / np.max(np.abs(x)) * 1e-4)) * k


def solved(x, k):
    A = np.eye(len(x)) + np.outer(x, x) / (x @ x)
    return np.linalg.solve(A, x) * k


def newton(x, k):
    y = 1.0
    for _ in range(6):
        y = y - (y * y - abs(x[0] / k)) / (2 * y)
    return y


def saturated(x, k):
    return 1 / (1 + np.exp(-50 * x / np.max(np.abs(x)))) * k


def sorted_of(x, k):
    return np.sort(x)[::-1] * np.arange(len(x)) * k


RIGHT = [
    heat, chaotic, stiff, steep, of_a_tiny_difference, narrow_peak, with_kinks, jumping, noisy, at_the_edge, constant,
    long_loop, powers, logs, oscillating, cancelling, solved, newton, saturated, sorted_of,
]  # fmt: skip
SCALES = [(1e-9, 1.0), (1e-4, 1e5), (1.0, 1.0), (1e4, 1e-6), (1e8, 3.0)]


@pytest.mark.parametrize("function", RIGHT, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_nothing_that_is_right_is_accused(function, dtype):
    for number, (size, k) in enumerate(SCALES):
        x = (size * np.random.default_rng(number).uniform(0.5, 1.5, 4)).astype(dtype)
        began = time.perf_counter()
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            tangentc.check_grads(function, (x, float(k) * size), quiet=True)
        assert time.perf_counter() - began < 5


def test_what_is_smooth_is_confirmed():
    with warnings.catch_warnings():
        warnings.simplefilter("error", CannotTell)
        for function in (stiff, of_a_tiny_difference, long_loop, powers, logs, solved, newton):
            for size, k in SCALES[:3]:
                x = size * np.random.default_rng(3).uniform(0.5, 1.5, 4)
                tangentc.check_grads(function, (x, float(k) * size), quiet=True)


def test_what_differences_cannot_tell_is_said(capsys):
    with pytest.warns(CannotTell, match="a kink: the slopes from the left and from the right differ"):
        tangentc.check_grads(lambda x: np.sum(np.maximum(x, 0.0)), (np.array([0.0, 1.0]),), order=1)
    assert "cannot tell" in capsys.readouterr().out
    with pytest.warns(CannotTell, match="no slope settles"):
        tangentc.check_grads(jumping, (np.array([0.3, 0.7, 1.0, 0.1]), 2.0), order=1, quiet=True)


# ------------------------------------------------------------------ wrong, in one place
def off_by_a_little(x, y):
    return np.cos(x) * (1 + 1e-4)


def of_the_other_sign(x, y):
    return -np.cos(x)


def the_value_itself(x, y):
    return y


def twice(x, y):
    return 2 * np.cos(x)


def of_another_argument(x, y):
    return np.cos(2 * x)


def one(x, y):
    return 1.0 + 0 * x


def without_a_term(x, y):
    return np.cos(x) - 0.1 * x


def of_the_second_order(x, y):
    return -np.sin(x)


def on_one_side(x, y):
    return np.where(x > 0.35, 0.0, np.cos(x))


def none_at_all(x, y):
    return 0.0 * x


SLIPS = [
    off_by_a_little, of_the_other_sign, the_value_itself, twice, of_another_argument, one, without_a_term,
    of_the_second_order, on_one_side, none_at_all,
]  # fmt: skip


def wavy(x):
    return np.sin(x)


def through_a_helper(x, k):
    return np.sum(helper(x * k) ** 2)


def helper(x):
    return wavy(x) + 1.0


def in_a_trip(x, k):
    for _ in range(3):
        x = wavy(x) * k
    return np.sum(x)


def in_a_branch(x, k):
    return np.sum(wavy(x) if k > 0 else x) * k


def in_place(x, k):
    x = x.copy()
    x[1:] += wavy(x[:-1].copy()) * k
    return np.sum(x**2)


def of_a_product(x, k):
    return np.sum(np.outer(wavy(x), x) * k)


def in_a_list(x, k):
    parts = [wavy(v) for v in x]
    return sum(parts) * k


def in_a_dict(x, k):
    d = {"a": wavy(x), "b": x}
    return np.sum(d["a"] * d["b"]) * k


def of_numbers(x, k):
    return wavy(x[0] * k) + math.exp(x[1])


def deep(x, k):
    a = x * k
    b = np.tanh(a)
    c = wavy(b)
    d = np.exp(c)
    return np.sum(d * b)


@dataclass
class Waves:
    k: float

    def of(self, x):
        return wavy(x * self.k)


def through_an_object(waves, x):
    return np.sum(waves.of(x) ** 2)


WRONG = [
    through_a_helper, in_a_trip, in_a_branch, in_place, of_a_product, in_a_list, in_a_dict, of_numbers, deep,
    through_an_object,
]  # fmt: skip


@pytest.mark.parametrize("rule", SLIPS, ids=lambda f: f.__name__)
def test_what_is_wrong_is_found_and_named(rule):
    tangentc.elementwise(wavy)(rule)
    for function in WRONG:
        for number in range(2):
            x, k = np.random.default_rng(number).uniform(0.5, 1.2, 4), 0.9 + 0.3 * number
            args = (Waves(k), x) if function is through_an_object else (x, k)
            began = time.perf_counter()
            with pytest.raises(GradientMismatch) as caught:
                tangentc.check_grads(function, args, quiet=True, modes=(("fwd", "rev"), ("rev",))[number])
            assert time.perf_counter() - began < 5
            assert f'by the rule for wavy, which differences do not confirm (File "{__file__}"' in str(caught.value)
            assert f"in {rule.__name__})" in str(caught.value) and "The statement that is wrong" in str(caught.value)


def test_arguments_are_moved_apart_and_asked_for_by_name(capsys):
    def scaled(u, dt, n):
        return np.sum(u**2) * dt * n

    tangentc.check_grads(scaled, (np.ones(3), 2e-4, 3), wrt="dt", order=1)
    text = capsys.readouterr().out
    assert "the gradient of dt" in text and "the gradient of u" not in text
    tangentc.check_grads(scaled, (np.ones(3), 2e-4, 3), wrt=(0, "dt"), order=1, quiet=True)
    with pytest.raises(tangentc.BadArgument, match="nothing moves in n"):
        tangentc.check_grads(scaled, (np.ones(3), 2e-4, 3), wrt="n")
    with pytest.raises(tangentc.BadArgument, match="wrt='dx' is no argument"):
        tangentc.check_grads(scaled, (np.ones(3), 2e-4, 3), wrt="dx")
    with pytest.raises(tangentc.BadArgument, match="nothing moves in the arguments"):
        tangentc.check_grads(lambda n: n * 2, (3,))


def test_in_a_test():
    from tangentc.testing import assert_gradient

    assert_gradient(helped_by_numpy, np.ones(3), 2.0, wrt="x")
    with pytest.raises(AssertionError, match="stop_gradient leaves a derivative out"):
        assert_gradient(lambda x: x * x * tangentc.stop_gradient(x), 1.5)


def helped_by_numpy(x, k):
    return np.sum(np.sin(x * k))


def test_the_time_is_limited(capsys):
    def slow(x):
        time.sleep(0.02)
        return np.sum(x**3)

    began = time.perf_counter()
    tangentc.check_grads(slow, (np.ones(100),), order=1, limit=1.0)
    assert time.perf_counter() - began < 3
    assert "of 100 entries of x were compared" in capsys.readouterr().out
