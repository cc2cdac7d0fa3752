"""The lengths of what a function gives, where it is called: those of its arguments, also as multiples of one another."""

import numpy as np

from tangentc.core.lengths import Length
from tangentc.core.types import Array
from tangentc.frontend.recursion import at_call
from tangentc.testing import assert_gradient

N = Length("n0")


def array(*shape):
    return Array("float64", shape)


def test_code_for_the_types_of_a_call_gives_its_own_lengths():
    eightfold = Length("n0", 0, 8)
    given = [array(N, eightfold)]
    assert at_call(array(eightfold), given, given) == array(eightfold)
    assert at_call(array(Length("n0", -1, 8)), given, given) == array(Length("n0", -1, 8))


def test_code_for_any_lengths_gives_those_of_the_call():
    any_ = Length("r0")
    assert at_call(array(any_, Length("r0", 2)), [array(any_)], [array(5)]) == array(5, 7)
    assert at_call(array(Length("r0", 1)), [array(any_)], [array(Length("n0", 0, 4))]) == array(Length("n0", 1, 4))


def in_rows(x):
    y = np.zeros_like(x)
    for i in range(len(x)):
        if x[i, 0] > 0:
            y[i] = x[i] * 2
            continue
        y[i] = x[i] * 3
    return y


def test_what_a_function_gives_fits_what_it_was_given():
    """The lengths of x are n and 8 n."""

    def f(x):
        return np.mean(in_rows(x) * x) * x.shape[1]

    assert_gradient(f, np.random.default_rng(0).normal(size=(8, 64)))
