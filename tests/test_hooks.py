"""Hooks in the emitted gradient: each part is given to them where it is final, and what they give is returned."""

import math
import re

import numpy as np
import pytest

import tangentc
from tangentc import tree
from tangentc.errors import BadArgument


def deep(m, x):
    for w, b in m["layers"]:
        x = np.tanh(x @ w + b)
    return np.mean(x @ m["last"])


def recurrent(m, x):
    h = np.zeros((x.shape[0], 3))
    for t in range(x.shape[1]):
        h = np.tanh(x[:, t] @ m["w"] + h @ m["u"])
    return np.mean(h @ m["v"])


def branch(m, x):
    y = x @ m["w"]
    if y[0] > 0:
        y = y * m["b"]
    return np.sum(y * y)


def stores(m, x):
    u = m["w"] * 2.0
    for k in range(1, len(x)):
        u[k] += u[k - 1] * m["b"]
    return np.sum(u * x) + np.sum(m["w"][:2])


rng = np.random.default_rng(0)
CASES = {
    "deep": (deep, {"layers": [(rng.normal(size=(4, 4)), np.ones(4)) for _ in range(3)], "last": np.ones(4)}, np.ones((9, 4))),
    "recurrent": (recurrent, {"w": np.ones((2, 3)), "u": np.eye(3), "v": np.ones(3)}, rng.normal(size=(9, 5, 2))),
    "branch": (branch, {"w": np.ones((3, 9)), "b": np.ones(9)}, np.ones(3)),
    "stores": (stores, {"w": np.ones(9), "b": np.array(0.5)}, np.arange(9.0)),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kernels", ["numpy", "numba"])
def test_a_hook_is_given_what_is_returned_without_it(case, kernels):
    f, model, x = CASES[case]
    called = []

    def sent(bar, path):
        called.append((path, np.copy(bar)))
        return bar * 3

    def wait():
        called.append(("wait", None))

    value, gradient = tangentc.value_and_grad(f, kernels=kernels, ready=(sent, wait))(model, x)
    wanted, plain = tangentc.value_and_grad(f)(model, x)
    assert np.isclose(value, wanted, rtol=1e-14)
    assert called.pop()[0] == "wait"
    parts = {path.removeprefix("m."): bar for path, bar in called}
    leaves = tree.items(plain)
    assert parts.keys() == dict(leaves).keys() and len(called) == len(leaves)
    for (path, leaf), (_, got) in zip(leaves, tree.items(gradient)):
        np.testing.assert_allclose(parts[path], leaf, rtol=1e-13)
        np.testing.assert_allclose(got, leaf * 3, rtol=1e-13)


def sent(bar, path):
    return bar


def order(f, *args, **options):
    text = tangentc.grad(f, ready=(sent, str), **options).source_for(*args)
    return text, [text.index(f'"{path}")') for path in re.findall(r'sent\(.*"(.*)"\)', text)]


def test_parts_are_sent_before_those_of_earlier_layers_are_computed():
    text, places = order(*CASES["deep"])
    paths = re.findall(r'sent\(.*"(.*)"\)', text)
    layers = [path.split(".")[2] for path in paths if "layers" in path]
    assert layers == ["2", "2", "1", "1", "0", "0"] and paths[0] == "m.last"
    backwards = [text.index(w) for w in ("@ w_1.T", "@ w.T")]  # what goes on to the layer before
    assert places[2] < backwards[0] < places[3] < backwards[1] < places[-1] < text.index("str()")


def test_what_a_loop_needs_in_each_trip_is_sent_behind_it_and_all_else_before():
    text, places = order(*CASES["recurrent"])
    loop = text.index("for t in reversed")
    assert [place < loop for place in places] == [True, False, False]
    assert "sent(h.T @" in text


def test_arguments_are_told_by_their_names():
    def product(a, b):
        return np.sum(a * b["c"])

    text, _ = order(product, np.ones(3), {"c": np.ones(3)}, wrt=("a", "b"))
    assert '"a")' in text and '"b.c")' in text
    assert "sent" not in tangentc.grad(product, wrt=("a", "b")).source_for(np.ones(3), {"c": np.ones(3)})


@pytest.mark.parametrize("ready", [3, (sent, sent, sent), (None,)])
def test_what_is_no_hook_is_refused(ready):
    with pytest.raises(BadArgument, match="is no hook"):
        tangentc.grad(deep, ready=ready)


def test_what_would_run_twice_is_refused():
    with pytest.raises(BadArgument, match="check"):
        tangentc.grad(deep, ready=sent, check="finite")
    inner = tangentc.grad(lambda x: np.sum(x**3), ready=sent)
    with pytest.raises(BadArgument, match="has hooks"):
        tangentc.grad(lambda x: np.sum(inner(x)))(np.ones(3))
    with pytest.raises(BadArgument, match="may run twice"):  # a number that may turn out to be complex
        tangentc.grad(lambda x: x**0.5, ready=sent)(0.5)
    root = tangentc.grad(lambda x: math.sqrt(x), ready=sent)
    assert root(0.25) == 1.0
    with pytest.raises(ZeroDivisionError):  # without hooks it runs once more, in NumPy's numbers, and is infinite
        root(0.0)
