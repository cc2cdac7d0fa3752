"""What checks must catch what is wrong."""

import numpy as np
import pytest

import tangentc
from tangentc.inspection.check import GradientMismatch


def off(x):
    return np.sin(x)


@pytest.mark.parametrize("modes", [("fwd",), ("rev",)])
def test_a_rule_that_is_off_by_one_in_a_hundred_thousand(modes):
    @tangentc.elementwise(off)
    def off_rule(x, y):
        return np.cos(x) * (1 + 1e-5)

    with pytest.raises(GradientMismatch, match=r"differences give"):
        tangentc.check_grads(lambda x: np.sum(off(x) * x), (np.array([0.3, 1.2]),), order=1, modes=modes)


def test_nan_never_equals_a_number():
    with pytest.raises(GradientMismatch), np.errstate(all="ignore"):
        tangentc.check_grads(lambda x: np.sum(np.sqrt(x) ** 2), (np.zeros(2),), order=1, modes=("rev",))


def test_second_order_is_checked():
    def linear(x):
        return 2 * x

    @tangentc.elementwise(linear)
    def rule(x, y):
        return 2 + 0 * np.floor(x)

    tangentc.check_grads(lambda x: linear(x) * 1.0, (0.7,))

    def cubic(x):
        return x**3

    @tangentc.elementwise(cubic)
    def wrong_second(x, y):
        return 3 * tangentc.stop_gradient(x) ** 2

    del wrong_second
    with pytest.raises((GradientMismatch, tangentc.TangentcError)):
        tangentc.check_grads(lambda x: cubic(x) * x, (0.7,))


def test_containers_and_complex():
    tangentc.check_grads(
        lambda p: np.sum(p["a"] * p["b"][0]) + p["b"][1], ({"a": np.ones(3), "b": (np.arange(3.0), 2.0)},)
    )
    tangentc.check_grads(lambda z: np.sum(np.abs(z * z + 1)), (np.array([1 + 2j, -0.5 + 1j]),), order=1)
