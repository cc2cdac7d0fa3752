"""What is refused is called by its own name."""

import ctypes
import ctypes.util

import numpy as np
import pytest
from scipy import optimize, stats

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


def test_a_table_is_told_to_numpy():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"a": [1.0, 2.0]})

    def f(w, X):
        return np.sum(w * X)

    for call in (
        lambda: tangentc.grad(f)(2.0, table),
        lambda: tangentc.grad(f)(2.0, table["a"]),
        lambda: tangentc.grad(f, wrt=1)(2.0, [table["a"]]),
        lambda: tangentc.vjp(f, 2.0, {"k": table}),
    ):
        with pytest.raises(tangentc.errors.BadArgument, match=r"of pandas(.|\n)*\.to_numpy\(\)"):
            call()
    for around, name in (
        (lambda w: w * np.sum(table["a"].to_numpy()), "table"),
        (lambda w: np.sum(w * table), "a value"),
    ):
        with pytest.raises(
            tangentc.errors.BadArgument, match=f"{name} of .* is a DataFrame of pandas(.|\n)*by to_numpy"
        ):
            tangentc.grad(around)(2.0)


def test_an_integer_is_no_gradient_s_value():
    with pytest.raises(tangentc.errors.NotScalar, match=r"returns an integer(.|\n)*real number"):
        tangentc.grad(lambda x: np.nonzero(x)[0].sum())(np.ones(3))


def test_a_name_that_a_module_has_not():
    with pytest.raises(tangentc.errors.UnsupportedSyntax, match=r"asks for besselj(.|\n)*no attribute"):
        tangentc.grad(lambda x: np.sum(np.besselj(x)))(np.ones(3))


class Plain:
    rate = 1.0


@pytest.mark.parametrize(
    "f, args, error",
    [
        (lambda x, c: x * c["rate"], (1.0, {"rat": 2.0}), KeyError("rate")),
        (lambda x, o: x * o.rats, (1.0, Plain()), AttributeError("'Plain' object has no attribute 'rats'")),
    ],
)
def test_what_the_function_raises_on_every_way_is_raised(f, args, error):
    def given_by_mode(x, mode="linear"):
        if mode == "square":
            return x * x
        raise NotImplementedError(mode)

    for call in (tangentc.grad(f), tangentc.value_and_grad(f), lambda *args: tangentc.vjp(f, *args)):
        with pytest.raises(type(error)) as told:
            call(*args)
        assert str(told.value) == str(error)
    with pytest.raises(NotImplementedError, match="linear"):
        tangentc.grad(given_by_mode)(2.0)
    assert tangentc.grad(given_by_mode)(2.0, "square") == 4.0


def drawn(x, noise=0.0, rng=None):
    if noise:
        x = x * rng.random()
    return x * x


def shown(x, every=0, callback=None):
    y = x * x
    if every > 0:
        callback(y)
        callback.log(y)
    return y


def test_none_in_what_is_not_run():
    assert tangentc.grad(drawn)(2.0) == tangentc.grad(shown)(2.0) == 4.0
    for f, args, error in ((drawn, (2.0, 1.0), AttributeError), (shown, (2.0, 1), TypeError)):
        with pytest.raises(error) as own:
            f(*args)
        with pytest.raises(error, match=str(own.value)):
            tangentc.grad(f)(*args)


class Tensor:
    __module__ = "torch"

    def __array__(self, dtype=None):
        return np.ones(3)

    def __getattr__(self, name):
        raise RuntimeError(name)


TENSOR = Tensor()


def test_an_array_of_another_library():
    with pytest.raises(
        tangentc.BadArgument, match=r"x of <lambda> is a Tensor of torch(.|\n)*x\.detach\(\)\.numpy\(\)"
    ):
        tangentc.grad(lambda x: np.sum(x * 2))(TENSOR)
    assert tangentc.grad(lambda x: x * x if TENSOR is not None else x)(2.0) == 4.0


@pytest.mark.parametrize(
    "f, name",
    [
        (lambda c: optimize.linprog(c).fun, "linprog"),
        (lambda x: optimize.least_squares(lambda p: p - x[0], 0.0).x[0], "least_squares"),
        (lambda x: stats.gaussian_kde(x)(0.3)[0], "gaussian_kde"),
    ],
)
def test_a_part_of_what_has_no_rule_is_told_of_the_call(f, name):
    with pytest.raises(tangentc.MissingRule, match=rf"there is no rule for .*{name}"):
        tangentc.grad(f)(np.ones(2))


def test_a_part_of_what_numpy_refuses():
    with pytest.raises(tangentc.MissingRule, match="np.concatenate gives is not known: NumPy refuses these types"):
        tangentc.grad(lambda x: np.sum(np.concatenate([x, np.ones((2, 2))])[0]))(np.ones(2))
