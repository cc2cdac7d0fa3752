"""What is refused is called by its own name."""

import ctypes
import ctypes.util

import numpy as np
import pytest

import tangentc


@np.errstate(all="ignore")
def under_settings(x):
    return np.sum(np.log(x))


def endless(x):
    return endless(x * 0.5) + x


C = ctypes.CDLL(ctypes.util.find_library("m"))
C.cos.restype, C.cos.argtypes = ctypes.c_double, [ctypes.c_double]


def of_c(x):
    return C.cos(x)


def stepping(x):
    return np.abs(x)


@tangentc.elementwise(stepping)
def stepping_rule(x, y):
    if x > 0:
        return 1.0 + 0 * x
    return -1.0 + 0 * x


def with_a_stepping_rule(x):
    return np.sum(stepping(x))


REFUSED = {
    under_settings: ("decorated with np.errstate", "write `with np.errstate"),
    endless: ("endless calls itself on every way through it", "return something before the call"),
    of_c: ("there is no rule for a function of a C library", "stop_gradient"),
    with_a_stepping_rule: ("chooses by a value", "np.where"),
}


@pytest.mark.parametrize("function", REFUSED, ids=lambda f: f.__name__)
def test_it_says_what_and_the_way_out(function):
    given = 1.0 if function in (endless, of_c) else np.ones(2)
    with pytest.raises(tangentc.TangentcError) as caught:
        tangentc.grad(function)(given)
    for part in REFUSED[function]:
        assert part in str(caught.value)
    assert "tangentc/" not in str(caught.value) and "site-packages" not in str(caught.value)


def test_a_wrong_tangent_is_no_seed():
    with pytest.raises(
        tangentc.BadSeed, match="the tangent of argument 0 of square does not have the shape of its argument"
    ):
        tangentc.jvp(square, (np.ones(3),), (np.ones(2),))
    with pytest.raises(tangentc.BadSeed, match="the seed of square does not have the shape of its result"):
        tangentc.vjp(square, np.ones(3))[1](np.ones(2))


def square(x):
    return x * x
