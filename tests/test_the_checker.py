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


def test_integers_among_the_results_are_left_out():
    tangentc.check_grads(lambda x: [x * 2, 3, x[0]], (np.array([1.0, 2.0]),), order=1)


def test_objects_are_moved_without_their_constructors():
    class Plain:
        def __init__(self, start):
            self.w = start

    tangentc.check_grads(lambda p: p.w * p.w, (Plain(0.7),), order=1)


def test_defaults_stay_as_they_are():
    def newton(a, tolerance=1e-3):
        x = a
        for _ in range(50):
            if abs(x * x - a) < tolerance:
                return x
            x = (x + a / x) / 2
        raise ValueError("no convergence")

    tangentc.check_grads(newton, (1.7,), order=1)


def test_integers_beside_numbers():
    weights = {"w": np.array([0.3, 0.7]), "n": 3, "b": 0.5}
    tangentc.check_grads(lambda d: np.sum(d["w"]) ** 2 * d["n"] * d["b"], (weights,))
    with pytest.raises(GradientMismatch, match=r"(?s)gradient of d\['b'\].*stop_gradient leaves a derivative out"):
        tangentc.check_grads(lambda d: d["w"][0] * d["n"] * tangentc.stop_gradient(d["b"]), (weights,), modes=("rev",))


def test_arguments_that_are_not_in_a_tuple():
    with pytest.raises(tangentc.BadArgument, match="is given ndarray for the arguments"):
        tangentc.check_grads(lambda x: x * x, np.ones(2))


def test_second_order_of_a_function_with_a_parameter_by_keyword():
    def scaled(x, *, factor=2.0):
        return np.sum(np.sin(factor * x))

    tangentc.check_grads(scaled, (np.array([0.3, 0.5]),))


# ---------------------------------------------------------- what people see
def slope(x, w):
    return np.sum(np.sin(x) * w)


def test_it_prints_a_row_for_each_argument_and_result(capsys):
    tangentc.check_grads(slope, (np.ones(3), 2.0))
    text = capsys.readouterr().out
    assert text.startswith("check_grads of slope\n")
    rows = (
        "the tangent of the result along x",
        "the gradient of x",
        "the gradient of w",
        "the second derivative[0] along w",
    )
    for row in rows:
        assert sum(line.startswith(row) for line in text.split("\n")) == 1
    line = next(line for line in text.split("\n") if line.startswith("the gradient of w"))
    *_, verdict, relative, computed, wanted, error = line.split()
    assert verdict == "agrees" and float(relative) < 1e-9 and float(error) < 1e-6
    assert float(computed) == pytest.approx(float(wanted)) != 0.0
    tangentc.check_grads(slope, (np.ones(3), 2.0), quiet=True)
    assert capsys.readouterr().out == ""


def softplus_of_the_checker(x):
    return np.log1p(np.exp(x))


def scaled_of_the_checker(x, k):
    return x * np.sqrt(k)


@tangentc.elementwise(softplus_of_the_checker)
def softplus_rule(x, y):
    return 1 - np.exp(y)  # the exponent should be -y


@tangentc.adjoint_rule(scaled_of_the_checker, linear="each")
def scaled_rule(x, k, y, y_bar):
    return y_bar * np.sqrt(k), None if k is None else np.sum(y_bar * x / np.sqrt(k))  # a half is missing


def layered(W, x):
    h = W @ x
    a = softplus_of_the_checker(h)
    b = np.tanh(a) * 2
    return np.sum(b * b)


def looped(x, n):
    for _ in range(n):
        x = softplus_of_the_checker(x * 0.5)
    return x


@pytest.mark.parametrize(
    "f, args, line, text",
    [
        (layered, (np.linspace(-1, 1, 6).reshape(2, 3), np.ones(3)), 2, "a = softplus_of_the_checker(h)"),
        (looped, (0.7, 3), 2, "x = softplus_of_the_checker(x * 0.5)"),
    ],
)
def test_a_broken_rule_is_named(f, args, line, text):
    for modes in (("fwd", "rev"), ("rev",)):
        with pytest.raises(GradientMismatch) as caught:
            tangentc.check_grads(f, args, modes=modes)
        message = str(caught.value)
        statement = message.partition("The statement that is wrong:\n")[2].split("\n")[0]  # the emitted one
        assert "_bar" in statement and "np.exp(" in statement
        assert f"line {f.__code__.co_firstlineno + line}, in {f.__name__}\n    {text}" in message
        assert "by the rule for softplus_of_the_checker, which differences do not confirm" in message
        assert f"line {softplus_rule.__code__.co_firstlineno}, in softplus_rule" in message


def test_a_broken_rule_that_is_not_elementwise_is_named():
    def f(x, k):
        y = scaled_of_the_checker(x, k)
        return np.sum(y * y)

    with pytest.raises(GradientMismatch) as caught:
        tangentc.check_grads(f, (np.ones(3), 2.0), modes=("rev",))
    assert "by the rule for scaled_of_the_checker" in str(caught.value)
    assert "the gradient of k" in str(caught.value)


def test_an_object_that_holds_itself_is_refused():
    class Ring:
        def __init__(self):
            self.value, self.next = 2.0, self

    with pytest.raises(tangentc.errors.BadArgument, match="holds itself"):
        tangentc.check_grads(lambda ring: ring.value**2, (Ring(),), quiet=True)
