"""The functions of networks: PyTorch's results and gradients, differences, float32, empty batches, bad arguments."""

import doctest
import importlib
import json
from pathlib import Path

import device
import numpy as np
import pytest

import tangentc
from learn import function_cases
from learn.function_cases import CASES, weights_of
from tangentc import check_grads, learn
from tangentc.errors import BadArgument
from tangentc.learn import functions as F
from tangentc.testing import check_rule

FIGURES = json.loads(Path(__file__).with_name("functions.json").read_text())
RULES = [
    ("activations", name)
    for name in ("relu", "leaky_relu", "elu", "sigmoid", "softplus", "normal_distribution", "softmax", "log_softmax")
]
RULES += [("convolution", name) for name in ("correlate", "conv_input", "conv_weight")]
RULES += [("normalisation", name) for name in ("standardise", "standardise_adjoint", "mean_of_products")]
RULES += [("pooling", name) for name in ("picked", "put_back", "means", "spread")]


def summed(name):
    """The case as one number."""
    f = CASES[name][0]

    def total(*arrays):
        y = f(*arrays)
        return np.sum(y * weights_of(y))

    return total


def value_and_gradients(name, arrays):
    f = summed(name)
    return CASES[name][0](*arrays), tangentc.grad(f, wrt=tuple(range(len(arrays))))(*arrays)


def agree(found, wanted):
    found, wanted = np.ravel(found), np.array(wanted)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-10)


tangentc.zero_gradient(weights_of)


@pytest.mark.parametrize("name", CASES)
def test_results_and_gradients_are_those_of_pytorch(name):
    y, gradients = value_and_gradients(name, CASES[name][1])
    for found, wanted in zip((y, *gradients), FIGURES[name], strict=True):
        agree(found, wanted)


@pytest.mark.parametrize("name", CASES)
def test_figures_are_those_of_the_pytorch_that_is_installed(name):
    pytest.importorskip("torch")
    from learn.function_figures import figures

    for found, wanted in zip(figures(name), FIGURES[name], strict=True):
        agree(found, wanted)


@pytest.mark.parametrize(
    "name", [n for n in CASES if "far" not in n and n not in ("heads", "max pool", "adaptive max")]
)
def test_both_modes_and_the_second_derivative_agree_with_differences(name):
    arrays = CASES[name][1]
    small = name in ("lstm", "gru", "rnn", "lstm cell")
    moving = tuple(range(len(arrays)))
    tangentc.check_grads(summed(name), arrays, wrt=moving[:2] if small else moving)


@pytest.mark.parametrize("name", CASES)
def test_float32_stays_float32(name):
    arrays = [a.astype(np.float32) for a in CASES[name][1]]
    gradients = tangentc.grad(summed(name), wrt=tuple(range(len(arrays))))(*arrays)
    assert [g.dtype for g in gradients] == [np.float32] * len(arrays)
    for found, wanted in zip(gradients, FIGURES[name][1:], strict=True):
        np.testing.assert_allclose(np.ravel(found), wanted, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("family, name", RULES)
def test_rules_pass_their_checks(family, name):
    module = importlib.import_module(f"tangentc.learn.functions.{family}")
    assert check_rule(getattr(module, name)) >= 2


EMPTY = {
    "conv": (lambda x: F.conv(x, np.ones((4, 3, 2, 2)), np.ones(4)), (0, 3, 5, 5), (0, 4, 4, 4)),
    "depthwise": (lambda x: F.conv(x, np.ones((3, 1, 2, 2)), groups=3), (0, 3, 5, 5), (0, 3, 4, 4)),
    "transposed": (lambda x: F.conv_transpose(x, np.ones((3, 2, 2)), stride=2), (0, 3, 5), (0, 2, 10)),
    "max pool": (lambda x: F.max_pool(x, 2), (0, 3, 4, 4), (0, 3, 2, 2)),
    "average pool": (lambda x: F.average_pool(x, 2), (0, 3, 4, 4), (0, 3, 2, 2)),
    "adaptive": (lambda x: F.adaptive_average_pool(x, 2), (0, 3, 5, 5), (0, 3, 2, 2)),
    "layer norm": (lambda x: F.layer_norm(x, np.ones(4), np.ones(4)), (0, 4), (0, 4)),
    "group norm": (lambda x: F.group_norm(x, 2, np.ones(4), np.ones(4)), (0, 4, 3), (0, 4, 3)),
    "linear": (lambda x: F.linear(x, np.ones((2, 4)), np.ones(2)), (0, 4), (0, 2)),
    "attention": (lambda x: F.attention(x, x, x), (0, 3, 4), (0, 3, 4)),
    "softmax": (F.softmax, (0, 3), (0, 3)),
    "lstm": (
        lambda x: F.lstm(x, np.ones((0, 2)), np.ones((0, 2)), np.ones((8, 3)), np.ones((8, 2)), np.ones(8), np.ones(8))[
            0
        ],
        (0, 5, 3),
        (0, 5, 2),
    ),
}


@pytest.mark.parametrize("name", EMPTY)
def test_an_empty_batch_gives_an_empty_result(name):
    f, shape, wanted = EMPTY[name]
    assert f(np.ones(shape)).shape == wanted
    assert tangentc.grad(lambda x: np.sum(f(x)))(np.ones(shape)).shape == shape


@pytest.mark.parametrize("f", [F.softmax, F.log_softmax, F.sigmoid, F.softplus, F.elu, F.gelu, F.silu, F.tanh])
def test_far_arguments_make_no_nan(f):
    x = np.array([-1e4, -800.0, 0.0, 800.0, 1e4])
    with np.errstate(over="raise", invalid="raise"):
        assert np.isfinite(f(x)).all()
        assert np.isfinite(tangentc.grad(lambda x: np.sum(f(x)))(x)).all()


def test_running_statistics_are_those_of_the_batches():
    x = np.random.default_rng(0).normal(size=(8, 3, 2))
    _, mean, variance = F.batch_norm(x, np.ones(3), np.zeros(3), np.zeros(3), np.ones(3), momentum=0.25)
    np.testing.assert_allclose(mean, 0.25 * x.mean((0, 2)), rtol=1e-13)
    np.testing.assert_allclose(variance, 0.75 + 0.25 * x.var((0, 2), ddof=1), rtol=1e-13)


def test_dropout_keeps_the_mean_and_draws_from_its_generator():
    x = np.ones(20_000)
    y = F.dropout(x, 0.25, np.random.default_rng(0))
    assert abs(y.mean() - 1) < 0.02 and set(np.unique(y)) == {0.0, 1 / 0.75}
    assert np.array_equal(y, F.dropout(x, 0.25, np.random.default_rng(0)))
    assert F.dropout(x, 0.25, None, training=False) is x
    slope = tangentc.grad(lambda x: np.sum(F.dropout(x, 0.25, np.random.default_rng(0))))(x)
    assert np.array_equal(slope, y)


@pytest.mark.parametrize(
    "call, told",
    [
        (
            lambda: F.conv(np.ones((1, 3, 4)), np.ones((2, 4, 3))),
            "x of shape (1, 3, 4) and a weight of shape (2, 4, 3)",
        ),
        (lambda: F.conv(np.ones((1, 3, 4)), np.ones((2, 3, 5))), "does not fit into"),
        (lambda: F.conv(np.ones((1, 3, 4)), np.ones((2, 3, 3)), stride=0), "0"),
        (lambda: F.conv(np.ones((1, 3, 4)), np.ones((2, 3, 3)), stride=(1, 2)), "does not fit 1 dimensions"),
        (lambda: F.conv(np.ones((1, 3, 4)), np.ones((2, 3, 3)), stride=2, padding="same"), "same"),
        (lambda: F.conv_transpose(np.ones((1, 3, 4)), np.ones((2, 3, 3))), "(channels, out / groups, *kernel)"),
        (lambda: F.max_pool(np.ones((1, 1, 4)), 2, padding=2), "more than half of the window"),
        (lambda: F.cross_entropy(np.ones((2, 3)), np.zeros(3, int)), "(2, 3) and a target of shape (3,)"),
        (lambda: F.group_norm(np.ones((2, 3)), 2, np.ones(3), np.ones(3)), "3 channels"),
        (lambda: F.ctc(np.ones((2, 1, 3)), np.array([[1, 1]]), np.array([2]), np.array([2])), "one more between equal"),
        (lambda: F.ctc(np.ones((4, 1, 3)), np.array([[1, 0]]), np.array([4]), np.array([2])), "0 is the blank"),
    ],
)
def test_what_does_not_fit_is_refused(call, told):
    with pytest.raises(BadArgument) as refused:
        call()
    assert told in str(refused.value)


def test_the_text_says_which_convolutions_the_gradients_are():
    text = tangentc.grad(lambda x, w: np.sum(F.conv(x, w, stride=2) ** 2), wrt=(0, 1)).source_for(
        np.ones((2, 3, 7)), np.ones((4, 3, 3))
    )
    assert "conv_input(" in text and "conv_weight(" in text and "unbroadcast" not in text


@pytest.mark.parametrize(
    "family",
    [
        "activations",
        "alignment",
        "attention",
        "convolution",
        "dense",
        "losses",
        "normalisation",
        "pooling",
        "recurrent",
    ],
)
def test_examples_run(family):
    failed, tried = doctest.testmod(importlib.import_module(f"tangentc.learn.functions.{family}"))
    assert tried and not failed


@pytest.mark.parametrize("norm", ["batch", "group", "instance"])
def test_norms_behind_transposed_convolutions(norm):
    rng = np.random.default_rng(0)
    layer, weight, bias = learn.ConvTranspose.of(1, 2, 3, rng, stride=2), rng.normal(size=2), rng.normal(size=2)

    def f(x):
        y = layer(x)
        if norm == "batch":
            return np.sum(np.sin(F.batch_norm(y, weight, bias, np.zeros(2), np.ones(2))[0]))
        if norm == "group":
            return np.sum(np.sin(F.group_norm(y, 2, weight, bias)))
        return np.sum(np.sin(F.instance_norm(y, weight, bias)))

    check_grads(f, (rng.normal(size=(2, 1, 3, 3)),), order=1, quiet=True)


def test_an_output_padding_of_a_stride_is_refused():
    x, weight = np.ones((1, 1, 3)), np.ones((1, 1, 2))
    assert F.conv_transpose(x, weight, stride=2, output_padding=1).shape == (1, 1, 7)
    with pytest.raises(BadArgument, match="output_padding=1 with stride 1"):
        F.conv_transpose(x, weight, output_padding=1, dilation=2)


HOST = {"batch norm", "batch norm used", "embedding", "gelu"}  # their cases have arrays of NumPy; SciPy's function


@pytest.mark.parametrize("name", [name for name in CASES if name not in HOST])
def test_arrays_of_the_device_give_the_same_there(name, monkeypatch):
    arrays = CASES[name][1]
    wanted = value_and_squares(name, arrays)
    with device.cupy():
        for given, value in vars(function_cases).items():
            if isinstance(value, np.ndarray):
                monkeypatch.setattr(function_cases, given, device.sent(value))
        found = value_and_squares(name, device.sent(arrays))
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one.get(), other, rtol=1e-12, atol=1e-12)


def value_and_squares(name, arrays):
    f = CASES[name][0]
    slope = tangentc.grad(lambda *arrays: np.sum(f(*arrays) ** 2), wrt=tuple(range(len(arrays))))
    return f(*arrays), *slope(*arrays)
