"""`vmap`: functions of one example as functions of a batch."""

import copy
import math
import pickle
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
from batches import assert_like_loop, assert_same, loop

import tangentc
from tangentc import grad, value_and_grad, vmap
from tangentc.errors import BadArgument, UnsafeMutation, UnsupportedSyntax

rng = np.random.default_rng(0)
X, Y, w = rng.normal(size=(9, 4)), rng.integers(0, 4, 9), rng.normal(size=4)


def text(f, *args):
    """The body of the emitted function."""
    source = f.source_for(*args)
    return source[source.index('examples."""\n') + 13 :].rstrip("\n")


# ---------------------------------------------------------------- the text
def pendulum(y, dt):
    angle, speed = y[0], y[1]
    return np.array([angle + dt * speed, speed - dt * 9.81 * np.sin(angle)])


def test_the_text_of_a_step():
    assert assert_like_loop(pendulum, (X[:, :2], 0.1), (0, None)) == []
    assert text(vmap(pendulum, (0, None)), X[:, :2], 0.1) == (
        "    angle, speed = y[:, 0], y[:, 1]\n"
        "    return np.stack([angle + dt * speed, speed - dt * 9.81 * np.sin(angle)], axis=1)"
    )


def cross_entropy(logits, label):
    shifted = logits - np.max(logits)
    return np.log(np.sum(np.exp(shifted))) - shifted[label]


def test_the_text_of_a_loss():
    assert assert_like_loop(cross_entropy, (X, Y)) == []
    assert text(vmap(cross_entropy), X, Y) == (
        "    batch_size = len(logits)\n"
        "    shifted = logits - np.max(logits, axis=1)[:, None]\n"
        "    return np.log(np.sum(np.exp(shifted), axis=1)) - shifted[np.arange(batch_size), label]"
    )


def quadratic(x, A):
    return x @ A @ x


def test_the_text_of_a_quadratic_form():
    assert assert_like_loop(quadratic, (X, np.eye(4)), (0, None)) == []
    assert text(vmap(quadratic, (0, None)), X, np.eye(4)) == '    return np.einsum("bi,bi->b", x @ A, x)'
    assert_like_loop(quadratic, (X, rng.normal(size=(9, 4, 4))))
    assert_like_loop(quadratic, (w, rng.normal(size=(9, 4, 4))), (None, 0))


def root(a):
    x, trips = a, 0
    while abs(x * x - a) > 1e-10:
        x = 0.5 * (x + a / x)
        trips += 1
    return x, trips


def test_examples_leave_a_loop_one_by_one():
    positive = np.abs(X[:, 0]) + 0.5
    assert assert_like_loop(root, (positive,)) == []
    assert "active = active[abs(x[active] * x[active] - a[active]) > 1e-10]" in text(vmap(root), positive)


def sign_dependent(x):
    total = 0.0
    out = np.zeros(4)
    for k in range(4):
        if x[k] > 0:
            out[k] = np.log(x[k])
            total += np.sqrt(x[k])
        else:
            out[k] = -x[k]
    return out, total


def test_a_branch_is_run_by_the_examples_that_take_it():
    with np.errstate(all="raise"):  # neither log nor sqrt sees a negative number
        assert assert_like_loop(sign_dependent, (X,)) == []


def leaky(x):
    return x if x > 0 else 0.1 * x


def test_a_cheap_branch_is_chosen():
    assert_like_loop(leaky, (X[:, 0],))
    assert text(vmap(leaky), X[:, 0]) == "    return np.where(x > 0, x, 0.1 * x)"


# ---------------------------------------------------------------- programs
def of_everything(x, i, j):
    a = x.copy()
    a[i] = 5.0
    a[1:] += x[:-1]
    np.add.at(a, [i, j], 2.0)
    a[j] *= 2
    outer = np.outer(x, x)
    outer[np.arange(4), np.arange(4)] += 1.0
    return a, x[[i, j]], np.sort(x)[::-1], outer[:, j], outer[i], outer[:, [0, 2]], np.diag(outer), x[i:].sum()


def helper(n, x):
    out = 0.0
    for k in range(n):
        out = out + x**k
    return out


def with_helpers(x, y):
    return helper(3, x) + helper(4, y) + float(x[0]) + x[0].item()


def recursive(x, n):
    return x if n == 0 else x * recursive(x, n - 1)


def of_numbers(x):
    return math.exp(x) + max(x, 0.5), math.floor(x), int(x), round(x, 2), bool(x > 0), abs(x), -x if 0 < x < 1 else x


def left_early(x):
    total = 0.0
    for value in x:
        if value < -0.5:
            break
        total = total + value
    return total


def of_a_dict(held, x):
    out = [held["w"] * x + k for k in range(3)]
    made = {"a": out[0], "b": (out[1], 2)}
    made["c"] = out[2].sum()
    return made


def ragged(x):
    return np.sum(x[x > 0]), np.unique(np.round(x)).size


def shapes(x, n):
    return x.shape[0], len(x), x.size, x.reshape(2, -1), np.full(n, x[0]), np.linspace(0, x[1], 5), np.zeros(n) + x[2]


def guarded(x):
    if x.ndim != 1:
        raise ValueError("a vector is wanted")
    return x @ x


def number_then_array(x, n):
    s = x[0]
    for _ in range(n):
        s = s + x
    return np.sum(s) + np.sum(x + s)


def array_or_number(x):
    s = x if x[0] > 0 else x @ x
    return np.sum(s)


def copied_with_what_shares(x):
    zeros = [np.zeros(3), np.zeros(3)]
    kept, first = copy.deepcopy(([zeros, [x, x]], zeros))
    kept[0][1] += x * x
    return first[0] + first[1] + kept[1][0]


def ranges_apart(x):
    return (x * np.ones((4, 1, 4)))[range(2), :, range(2)]


@pytest.mark.parametrize(
    ("f", "args", "axes"),
    [
        (ranges_apart, (X[:2],), 0),
        (number_then_array, (X[:3, :3], 1), (0, None)),
        (array_or_number, (X,), 0),
        (copied_with_what_shares, (X[:, :3],), 0),
        (of_everything, (X, Y, Y[::-1].copy()), 0),
        (of_everything, (X[0], Y, Y[::-1].copy()), (None, 0, 0)),
        (of_everything, (X, 1, Y), (0, None, 0)),
        (with_helpers, (X, w), (0, None)),
        (recursive, (X, 3), (0, None)),
        (of_numbers, (X[:, 0],), 0),
        (left_early, (X,), 0),
        (of_a_dict, ({"w": 2.0}, X), (None, 0)),
        (of_a_dict, ({"w": X.T.copy()}, X), ({"w": 1}, 0)),
        (ragged, (X,), 0),
        (shapes, (X, 3), (0, None)),
        (guarded, (X,), 0),
        (lambda x: np.interp(0.5, np.sort(x), x), (X,), 0),
    ],
)
def test_programs(f, args, axes):
    assert_like_loop(f, args, axes)


def test_what_is_done_in_a_loop_is_said():
    said = vmap(ragged).looped_for(X)
    assert said[0].startswith("getitem, line ") and said[0].endswith("np.unique(np.round(x)).size")
    assert vmap(shapes, (0, None)).looped_for(X, 3) == []


@dataclass
class Line:
    slope: np.ndarray
    shift: float


class Pair(NamedTuple):
    value: float
    rest: np.ndarray


def on_a_line(line, x):
    return Pair(line.slope @ x + line.shift, line.slope * x)


def test_objects():
    given = vmap(on_a_line, (None, 0))(Line(w, 0.5), X)
    assert type(given) is Pair
    assert_same(tuple(given), loop(lambda x: tuple(on_a_line(Line(w, 0.5), x)), (X,)))
    lines = Line(X, np.arange(9.0))
    slopes = vmap(on_a_line, (0, None))(lines, w)
    assert_same(slopes.value, X @ w + np.arange(9.0))


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int32, bool, np.complex64])
def test_dtypes(dtype):
    def f(x, y):
        return x * y + 2 * x, float(x[0].real) * y, x.sum(), np.where(x > 0, x, y), x / 3

    a = rng.normal(size=(4, 3)) * 3
    a = a > 0 if dtype is bool else a.astype(dtype)
    assert_like_loop(f, (a, a[::-1].copy()))


@pytest.mark.parametrize("size", [0, 1, 2])
def test_few_examples(size):
    def f(x, k):
        return np.interp(0.5, x, x), x.reshape(2, -1) * k, x[0], {"a": x}

    given = vmap(f, (0, None))(X[:size], 2.0)
    assert [np.shape(g) for g in given[:3]] == [(size,), (size, 2, 2), (size,)] and given[3]["a"].shape == (size, 4)
    if size:
        assert_like_loop(f, (X[:size], 2.0), (0, None))


def test_draws_are_those_of_the_loop():
    def noisy(x, source):
        return x + source.normal() * np.sum(source.normal(size=2))

    given = vmap(noisy, (0, None))(np.ones(4), np.random.default_rng(3))
    source = np.random.default_rng(3)
    assert_same(given, np.array([noisy(1.0, source) for _ in range(4)]))


def test_arguments_are_left_alone():
    def f(x):
        y = x * 1.0
        y[0] = 2.0
        z = x.T
        return y + z

    before = X.copy()
    assert_like_loop(f, (X,))
    assert np.array_equal(X, before)


def window(x):
    y = x * 2.0
    first = y[0]
    part = y[1:3]
    part[0] = first
    y[0] = 7.0
    part *= first
    return y, first


def test_numbers_are_not_views():
    assert_like_loop(window, (X,))


# ---------------------------------------------------------------- axes
@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2])
@pytest.mark.parametrize("out", [0, 1, -1])
def test_axes(axis, out):
    cube = rng.normal(size=(3, 9, 4))
    given = vmap(lambda x: 2 * x, axis, out)(cube)
    want = np.stack([2 * np.take(cube, k, axis) for k in range(cube.shape[axis])], axis=out)
    assert_same(given, want)


def test_axes_of_containers():
    def f(x):
        return 2 * x, {"s": np.sum(x), "t": (x.T, 3.0)}

    cube = rng.normal(size=(3, 9, 4))
    doubled, rest = vmap(f, 1, (1, {"s": 0, "t": (2, None)}))(cube)
    assert doubled.shape == (3, 9, 4) and rest["s"].shape == (9,) and rest["t"][0].shape == (4, 3, 9)
    assert rest["t"][1] == 3.0
    assert vmap(lambda x, n: (x, n + 1), [0, None], (0, None))(X, 2)[1] == 3


RAMP = np.arange(4.0)


def affine(x, w=RAMP, shift=1.0):
    return x @ w + shift


def test_defaults_are_shared_unless_they_are_given():
    assert_same(vmap(affine)(X), X @ RAMP + 1)
    assert_same(vmap(affine)(X, X), np.sum(X * X, axis=1) + 1)
    assert_same(vmap(affine)(X, shift=X[:, 0]), X @ RAMP + X[:, 0])
    assert_same(grad(lambda x: np.sum(vmap(affine)(x, x)))(X), 2 * X)


class Scale:
    def __init__(self, w):
        self.w = w

    def dot(self, x):
        return self.w @ x

    __call__ = dot


def test_what_can_be_called():
    scale = Scale(w)
    for f in (scale.dot, scale, lambda *xs: xs[0] @ w, tangentc.differentiable(lambda x: x @ w)):
        assert_same(vmap(f)(X), X @ w)
    assert_same(vmap(np.linalg.norm)(X), np.linalg.norm(X, axis=1))


@pytest.mark.parametrize("f", [lambda x: x, lambda x: x[::2], lambda x: (x, 2 * x)[0], lambda x: x.reshape(2, 2).T])
def test_results_are_no_memory_of_arguments(f):
    given = X.copy()
    vmap(f)(given)[...] = 0
    assert np.array_equal(given, X)


MESSAGES = [
    (lambda: vmap(affine, (0,))(np.ma.array(X)), "x is an array of a class of its own"),
    (lambda: vmap(leaky, 5)(X), "argument x of leaky has no axis 5 to be mapped along: its shape is (9, 4)"),
    (lambda: vmap(leaky, None)(X), "nothing is mapped in a call of vmap(leaky)"),
    (lambda: vmap(leaky, (0, 0))(X), "in_axes of vmap(leaky) has 2 entries, and the function has 1 parameters"),
    (lambda: vmap(leaky)(2.0), "argument x of leaky is a number, and is to be mapped along axis 0"),
    (lambda: vmap(leaky, out_axes=3)(X[:, 0]), "the result has no axis 3: with the batch it has 1"),
    (
        lambda: vmap(leaky, out_axes=None)(X[:, 0]),
        "out_axes is None for a result of leaky that is another one for each",
    ),
    (lambda: vmap(quadratic)(X, X[:2]), "argument x of quadratic has 9 examples along axis 0, and argument A of"),
    (lambda: vmap(leaky, "x"), "in_axes='x' are no axes"),
    (lambda: vmap(of_a_dict, ({"v": 0}, 0))({"w": X}, X), "axes {'v': 0} do not fit argument held of of_a_dict"),
    (lambda: vmap(lambda x: x, 0, (0, 0))(X), "out_axes has (0, 0) for a result that is no container"),
]


@pytest.mark.parametrize(("call", "message"), MESSAGES, ids=[m[:30] for _, m in MESSAGES])
def test_what_does_not_fit(call, message):
    with pytest.raises(BadArgument) as caught:
        call()
    assert str(caught.value).startswith(message)
    assert "Why: " in str(caught.value) and "Way out: " in str(caught.value)


def changes(x):
    x[0] = 1.0
    return x


def test_what_changes_its_argument_is_refused():
    with pytest.raises(UnsafeMutation, match="changes its argument x in place"):
        vmap(changes)(X.copy())


def test_lists_of_unlike_lengths_are_refused():
    def f(x):
        out = []
        for value in x:
            if value > 0:
                out.append(value)
        return out

    with pytest.raises(UnsupportedSyntax, match="gives a list that may be longer for one example"):
        vmap(f)(X)


# ---------------------------------------------------------------- derivatives
def loss(w, x, y):
    return (np.tanh(w @ x) - y) ** 2


BY_EXAMPLE = (None, 0, 0)
y = rng.normal(size=9)


def network(params, x, y):
    h = np.maximum(x @ params["W"] + params["b"], 0)
    return (h @ params["v"] - y) ** 2


def test_gradients_of_each_example():
    params = {"W": rng.normal(size=(4, 5)), "b": rng.normal(size=5), "v": rng.normal(size=5)}
    assert assert_like_loop(grad(loss), (w, X, y), BY_EXAMPLE) == []
    assert_like_loop(value_and_grad(loss), (w, X, y), BY_EXAMPLE)
    assert_like_loop(grad(network), (params, X, y), BY_EXAMPLE)
    assert_like_loop(tangentc.hessian(loss), (w, X, y), BY_EXAMPLE)
    assert_like_loop(tangentc.adjoint(loss), (w, X, y, y), (None, 0, 0, 0))


batched_loss = vmap(loss, BY_EXAMPLE)


def mean_of_named(w, X, y):
    return np.mean(batched_loss(w, X, y))


def mean_of_made(w, X, y):
    return np.mean(vmap(loss, in_axes=(None, 0, 0))(w, X, y))


def mean_of_closure(w, X, y):
    return np.mean(vmap(lambda a, b: loss(w, a, b))(X, y))


def norms(w, X, y):
    return np.sum(vmap(grad(loss), in_axes=(None, 0, 0))(w, X, y) ** 2)


@pytest.mark.parametrize("f", [mean_of_named, mean_of_made, mean_of_closure, norms])
def test_batches_are_differentiated(f):
    tangentc.check_grads(f, (w, X, y), quiet=True)


def test_jacobians_and_pullbacks():
    each = vmap(grad(loss), BY_EXAMPLE)(w, X, y)
    assert_same(tangentc.jacobian(batched_loss)(w, X, y), each)
    assert_same(tangentc.vjp(batched_loss, w, X, y)[1](np.ones(9))[0], each.sum(axis=0))
    assert_same(tangentc.jvp(batched_loss, (w, X, y), (w, None, None))[1], each @ w)


def kernel(a, b):
    return np.exp(-np.sum((a - b) ** 2))


def test_batches_of_batches():
    grid = vmap(vmap(kernel, (None, 0)), (0, None))
    assert_same(grid(X, X[:7]), loop(lambda a: loop(kernel, (a, X[:7]), (None, 0)), (X,)))
    assert text(grid, X, X[:7]) == "    return np.exp(-np.sum((a[:, None] - b) ** 2, axis=2))"


def test_gradients_of_loops_that_examples_leave():
    a = np.abs(X[:, 0]) + 0.5
    first = lambda a: root(a)[0]
    assert_same(vmap(grad(first))(a), 0.5 / np.sqrt(a), 1e-6)
    assert_same(grad(lambda a: np.sum(vmap(lambda b: root(b)[0])(a)))(a), 0.5 / np.sqrt(a), 1e-6)


# ---------------------------------------------------------------- the object
def test_it_is_compiled_once():
    batched = vmap(loss, BY_EXAMPLE)
    batched(w, X, y)
    compiled = batched.last
    batched(w, X + 1, y)
    assert batched.last is compiled


def test_it_travels_and_tells():
    again = pickle.loads(pickle.dumps(vmap(loss, BY_EXAMPLE)))
    assert_same(again(w, X, y), vmap(loss, BY_EXAMPLE)(w, X, y))
    assert repr(again) == "<vmap of loss, in_axes (None, 0, 0), out_axes 0>"
    assert again.__doc__.startswith("loss for a batch of examples: a function of the same parameters.")


def test_it_is_exported(tmp_path):
    tangentc.export(vmap(cross_entropy), tmp_path / "losses.py", X, Y)
    scope = {}
    exec((tmp_path / "losses.py").read_text(), scope)
    assert_same(scope["cross_entropy_vmap"](X, Y), loop(cross_entropy, (X, Y)))
