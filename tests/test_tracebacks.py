"""Errors that emitted code raises: their type, the emitted line, and the user's line."""

import traceback
from pathlib import Path

import numpy as np
import pytest

from tangentc import grad, jvp, vjp

HERE = Path(__file__).name


def times(A, x):
    y = A @ x
    return np.sum(y)


def loss(A, x):
    return times(A, x) * times(A, x)  # twice, so that it stays a function


def checked(A, x):
    if x.size > 3:
        raise KeyError("too large")
    return np.sum(A @ x)


def item(x, n):
    return x[n] * 2.0


WAYS = {
    "grad": lambda f, args: grad(f)(*args),
    "vjp": lambda f, args: vjp(f, *args),
    "jvp": lambda f, args: jvp(f, args, [a if isinstance(a, np.ndarray) else None for a in args]),
}


def raised(f, args, way="grad"):
    with pytest.raises(Exception) as caught:
        WAYS[way](f, args)
    return caught.value, "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("way", WAYS)
def test_shapes_that_do_not_fit(way):
    error, text = raised(loss, (np.ones((2, 3)), np.ones(4)), way)
    assert type(error) is ValueError
    assert "size 4 is different from 3" in str(error)  # NumPy's own words
    assert "y = A @ x\n        ~~^~~" in text  # the emitted line
    assert f'{HERE}", line {times.__code__.co_firstlineno + 1}, in times\n    y = A @ x' in text
    assert "the primal sweep" in text
    assert "where A is (2, 3), x is (4,)" in text


@pytest.mark.parametrize("way", WAYS)
def test_the_users_own_error(way):
    error, text = raised(checked, (np.eye(4), np.ones(4)), way)
    assert type(error) is KeyError and error.args == ("too large",)
    assert f'line {checked.__code__.co_firstlineno + 2}, in checked\n    raise KeyError("too large")' in text


def test_index_beyond_the_end():
    error, text = raised(item, (np.ones(3), 5))
    assert type(error) is IndexError
    assert "the adjoint sweep" in text  # the value is not needed, so that the primal sweep does not make it
    assert "where x_bar is (3,)" in text and "return x[n] * 2.0" in text


def parts(x, n):
    return np.sum(np.exp(x[:n] + x[:2]))


def test_a_note_is_written_once():
    inner = grad(parts)

    def outer(x, n):
        return np.sum(inner(x, n) ** 2)

    error, _ = raised(outer, (np.ones(5), 3))
    assert len(error.__notes__) == 1


def test_in_the_adjoint_sweep():
    def f(x, y):
        return np.sum(np.log(x) * y)

    with np.errstate(divide="ignore"):
        value, pullback = vjp(f, np.array([0.0, 1.0]), np.ones(2))
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError) as caught:
        pullback(1.0)
    (note,) = caught.value.__notes__
    assert "the adjoint sweep" in note and "return np.sum(np.log(x) * y)" in note


def test_in_the_tangent_sweep():
    def f(x):
        return np.sum(np.sqrt(x))

    with np.errstate(divide="raise"), pytest.raises(FloatingPointError) as caught:
        jvp(f, (np.array([0.0, 1.0]),), (np.ones(2),))
    (note,) = caught.value.__notes__
    assert "the tangent sweep" in note and "return np.sum(np.sqrt(x))" in note
