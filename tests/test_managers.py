"""What a `with` statement enters is left again, also where its body raises, and what is inside of it stays inside."""

import contextlib
import warnings

import numpy as np
import pytest

from tangentc import grad, value_and_grad


def raising(x, y):
    with np.errstate(all="raise"):
        try:
            z = x / y
        except FloatingPointError:
            z = x * y * 2.0
    return np.sum(z)


def left_in_the_middle(x, y):
    with np.errstate(over="raise"):
        for k in range(3):
            if y[k] > 2:
                return np.sum(x[:2] * y)
            x = x * y
    return np.sum(x * y)


def left_by_break(x, y):
    z = x
    for k in range(3):
        with np.errstate(over="raise"):
            if y[k] > 1:
                break
            z = x * y[:2]
    return np.sum(z)


LIMIT = 0


@contextlib.contextmanager
def counted():
    global LIMIT
    LIMIT += 1
    try:
        yield LIMIT
    finally:
        LIMIT -= 1


def numbered(x, y):
    with counted() as depth, counted():
        return np.sum(x * y[:2]) * depth


@pytest.mark.parametrize("function", [raising, left_in_the_middle, left_by_break, numbered])
def test_is_left_where_the_body_raises(function):
    before = np.geterr()
    gradient = grad(function)
    factors = np.array([1.0, 0.5, 3.0])
    for x, y in ((np.ones(3), factors), (np.ones(2), factors[:2])):
        try:
            gradient(x, y)
        except (ValueError, IndexError):
            pass
        assert np.geterr() == before and LIMIT == 0
    assert "__enter__" not in gradient.source_for(x, y)


def quiet_quotient(x, y):
    with np.errstate(divide="ignore"):
        return np.sum(1.0 / y) + np.sum(x)


def test_what_stands_inside_is_computed_inside():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value, slope = value_and_grad(quiet_quotient)(np.ones(2), np.array([0.0, 2.0]))
    assert value == np.inf
    np.testing.assert_array_equal(slope, [1.0, 1.0])


def two_at_once(x):
    with np.errstate(all="ignore"), np.printoptions(precision=3):
        s = np.exp(x)
    return s * s


def nothing_left_inside(x, y):
    with np.errstate(all="ignore"):
        z = x * y
    return np.sum(z)


def left_by_return(x, y):
    with np.errstate(all="ignore"):
        if y[0] > 1:
            return np.sum(x / y)
        z = np.exp(x)
    return np.sum(z * y)


def test_is_written_as_with():
    text = grad(two_at_once).source_for(1.0)
    assert '    with np.errstate(all="ignore"), np.printoptions(precision=3):\n        s = np.exp(x)\n' in text
    assert "with" not in grad(nothing_left_inside).source_for(np.ones(2), np.ones(2)).split('"""')[2]
    assert "    with counted() as depth, counted():\n" in value_and_grad(numbered).source_for(np.ones(2), np.ones(3))
    text = grad(left_by_return).source_for(np.ones(2), np.ones(2))
    assert "__exit__" not in text and "\n    with np.errstate" in text
