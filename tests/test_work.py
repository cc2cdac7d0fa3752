"""Compiling is linear in the program: twice the text is at most 2.2 times the work, counted in calls, not in seconds."""

import sys
from collections import Counter, OrderedDict

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.interpolate import CubicSpline

import tangentc
from tangentc.analysis.state import State
from tangentc.compiler import front
from tangentc.frontend.lower import lower

LINES = ["np.sin(a) + y", "a * x", "x - a / 2.0", "np.tanh(a) * a", "a + np.exp(-a * a)"]


def straight(n):
    return ["a = x * y", *(f"a = {LINES[k % 5]}" for k in range(n)), "return a"], (1.0, 2.0)


def branches(n):
    one = ["if a > {k}.0:", "    a = a * 0.5 + y", "else:", "    a = np.sin(a) * x"]
    return ["a = x * y", *(line.format(k=k) for k in range(n) for line in one), "return a"], (1.0, 2.0)


def entries(n):
    stores = (f"u[{k % 7}] = u[{(k + 1) % 7}] * u[{(k + 3) % 7}] + y" for k in range(n))
    return ["u = x * y", *stores, "return np.sum(u)"], (np.full(20, 0.5), 0.2)


def slices(n):
    return ["u = x * y", *["u[1:-1] = u[2:] * 0.5 + u[:-2] * 0.25"] * n, "return np.sum(u)"], (np.full(20, 0.5), 0.2)


def terms(n):
    return ["return " + " + ".join(f"x * {k}.0" for k in range(n))], (1.0,)


def nested(n):
    loops = [f"{'    ' * k}for i{k} in range(2):" for k in range(n)]
    return ["a = x * y", *loops, f"{'    ' * n}a = np.sin(a) * x", "return a"], (1.0, 2.0)


def calls_to_compile(write, n, folder):
    """How many Python functions are called to compile the gradient of a program of size n."""
    body, args = write(n)
    name = f"{write.__name__}_{n}"
    parameters = ", ".join("xy"[: len(args)])
    text = f"import numpy as np\n\n\ndef f({parameters}):\n" + "".join(f"    {line}\n" for line in body)
    (folder / f"{name}.py").write_text(text)
    namespace = {"__name__": name}
    exec(compile(text, str(folder / f"{name}.py"), "exec"), namespace)
    count = 0

    def counted(frame, event, arg):
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        tangentc.grad(namespace["f"]).source_for(*args)
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("write, n", [(straight, 100), (branches, 50), (entries, 60), (slices, 60), (terms, 100), (nested, 4)],
                         ids=lambda p: getattr(p, "__name__", ""))  # fmt: skip
def test_twice_the_program_is_twice_the_work(write, n, tmp_path):
    calls_to_compile(write, 3, tmp_path)  # the rules are parsed once
    small, large = (calls_to_compile(write, k * n, tmp_path) for k in (1, 2))
    assert large <= 2.2 * small, f"{n}: {small}, {2 * n}: {large}, {large / small:.2f} times"


def relax(u, steps):
    for _ in range(steps):
        new = u.copy()
        new[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u = new
    return np.sum(u**2)


def layer(x, w, b):
    return np.tanh(x @ w + b)


def network(params, x):
    for w, b in params:
        x = layer(x, w, b)
    return x


def loss(params, x, y):
    return np.mean((network(params, x) - y) ** 2)


class Model:
    """Makes what it needs when it is first asked."""

    def __init__(self, size):
        self.size, self.scale, self.seen = size, None, []

    def step(self, x):
        if self.scale is None:
            self.scale = np.exp(-np.arange(self.size))
        self.seen.append(x)
        return x * self.scale


def model(x):
    made, total = Model(len(x)), 0.0
    for _ in range(3):
        for k in range(2):
            x = made.step(x)
            total = total + np.sum(x) * k
    return total + np.sum(made.seen[-1])


def library(x):
    """Calls that no rule covers, one of them on what another gives."""
    spread = np.median(x, axis=1) + np.quantile(x, 0.3, axis=1)
    curve = CubicSpline(np.arange(3.0), spread)
    return quad(lambda t: np.exp(-spread[0] * t) * spread[1], 0, 1)[0] + curve(1.3)


PARAMS = [(np.full((3, 4), 0.1), np.zeros(4)), (np.full((4, 2), 0.2), np.ones(2))]
WALKED = {
    relax: (np.linspace(0.0, 1.0, 12), 3),
    loss: (PARAMS, np.ones((5, 3)), np.ones((5, 2))),
    model: (np.linspace(0.5, 1.0, 9),),
    library: (np.random.default_rng(0).normal(size=(3, 4)),),
}


@pytest.mark.parametrize("function", WALKED, ids=lambda f: f.__name__)
def test_each_function_is_walked_once_and_each_loop_at_most_three_times(function, monkeypatch):
    """The walks that write text are counted: a function for its types, a loop where one is written."""
    lowered, bodies = Counter(), Counter()

    def counting(source, types, known, summaries):
        lowered[source, tuple(types.items())] += 1
        return lower(source, types, known, summaries)

    def loop(state, site, write, endless):
        def walk():
            if type(state) is State:  # and not the typing of what is written
                bodies[site, state] += 1
            return write()

        return one_loop(state, site, walk, endless)

    one_loop = State.loop
    monkeypatch.setattr(front, "lower", counting)
    monkeypatch.setattr(front, "KEPT", OrderedDict())
    monkeypatch.setattr(State, "loop", loop)
    tangentc.grad(function).source_for(*WALKED[function])
    assert set(lowered.values()) == {1}
    assert max(bodies.values()) <= 3


SCALE = 2.0


def scaled(x):
    return np.sum(np.sin(x) * SCALE)


def test_other_derivatives_of_a_function_walk_nothing_again(monkeypatch):
    walks = []
    monkeypatch.setattr(front, "lower", lambda source, *rest: walks.append(source) or lower(source, *rest))
    monkeypatch.setattr(front, "KEPT", OrderedDict())
    x = np.linspace(0.5, 1.0, 9)
    gradients = [tangentc.grad(scaled)(x), tangentc.value_and_grad(scaled)(x)[1], tangentc.vjp(scaled, x)[1](1.0)[0]]
    assert tangentc.jvp(scaled, (x,), (np.ones(9),))[1] == pytest.approx(np.sum(gradients[0]))
    for gradient in gradients:
        np.testing.assert_allclose(gradient, 2.0 * np.cos(x))
    assert walks == [scaled]
    monkeypatch.setattr(sys.modules[__name__], "SCALE", np.arange(9.0))  # of another type
    np.testing.assert_allclose(tangentc.jacobian(scaled)(x), np.arange(9.0) * np.cos(x))
    assert walks == [scaled, scaled]
