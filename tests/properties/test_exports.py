"""An exported gradient is right for every input that it takes, and raises ValueError for all others."""

import copy
import importlib
import pkgutil

import numpy as np
import programs
import pytest

import tangentc
from tangentc.core.types import is_differentiable
from tangentc.core.values import type_of
from tangentc.errors import TurnedComplex

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def mean_squares(X, w, b, y):
    return np.mean((X @ w + b - y) ** 2)


def like_another(embed, context):
    out = np.zeros_like(embed)
    out += context * 2.0
    return np.sum(out * embed)


def mean_of_rows(A, w):
    return np.sum(np.mean(A, axis=0) * w) + np.sum(A) / len(w)


def size_of_another(x, y):
    return np.sum(x * y) / x.size + np.sum(y) / y.shape[0]


def bias(A, b):
    return np.sum(np.tanh(A + b) ** 2)


def outer_and_inner(u, v):
    return np.sum(np.outer(u, v) ** 2) + np.sum(u) * np.sum(v)


def stencil(u, k):
    v = u.copy()
    v[1:-1] = k * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(v**2) / len(u)


def count_given(x, n):
    return np.sum(x**2) / n


def trips(x, n):
    total = 0.0
    for i in range(n):
        total += x[i] ** 2
    return total


def of_a_dict(params, x):
    return np.mean((params["W"] @ x + params["b"]) ** 2)


def of_a_list(layers, x):
    for W in layers:
        x = np.tanh(W @ x)
    return np.mean(x**2)


def option(x, flag):
    return np.sum(x**2) if flag else np.mean(x**2)


def normalised(A):
    return np.sum((A - A.mean(axis=1, keepdims=True)) ** 2 / A.shape[1])


def ones(*shape):
    return np.linspace(0.5, 1.5, int(np.prod(shape))).reshape(shape)


def square(n):
    return [
        (mean_squares, (ones(n, n), ones(n), 0.3, ones(n))),
        (like_another, (ones(n, n), ones(n, n))),
        (like_another, (ones(n), ones(n))),
        (mean_of_rows, (ones(n, n), ones(n))),
        (size_of_another, (ones(n), ones(n))),
        (size_of_another, (ones(n, n), ones(n, n))),
        (bias, (ones(n, n), ones(n))),
        (bias, (ones(n, n), ones(n, n))),
        (bias, (ones(n, n), ones(n, 1))),
        (outer_and_inner, (ones(n), ones(n))),
        (stencil, (ones(n), 0.3)),
        (count_given, (ones(n), n)),
        (trips, (ones(n), n)),
        (of_a_dict, ({"W": ones(n, n), "b": ones(n)}, ones(n))),
        (of_a_list, ([ones(n, n), ones(n, n)], ones(n))),
        (option, (ones(n), True)),
        (normalised, (ones(n, n),)),
    ]


SQUARE = [(f, args) for n in (1, 2, 5, 9) for f, args in square(n)]


def leaves(value, path=()):
    """The arrays of an argument, and where they are."""
    if isinstance(value, np.ndarray):
        yield path, value
    elif isinstance(value, (list, tuple)):
        for k, item in enumerate(value):
            yield from leaves(item, (*path, k))
    elif isinstance(value, dict):
        for k, item in value.items():
            yield from leaves(item, (*path, k))


def put(value, path, leaf):
    if not path:
        return leaf
    if isinstance(value, tuple):
        items = [put(v, path[1:], leaf) if k == path[0] else v for k, v in enumerate(value)]
        return tuple(items) if type(value) is tuple else type(value)(*items)
    value = copy.copy(value)
    value[path[0]] = put(value[path[0]], path[1:], leaf)
    return value


def other_shapes(args):
    """The arguments with one length changed wherever it stands, and with one axis alone changed."""
    arrays = list(leaves(args))
    sides = sorted({n for _, a in arrays for n in a.shape})
    for n in sides:
        for m in {1, 2, 3, n + 1, n + 9} - {n}:
            changed = args
            for path, a in arrays:
                changed = put(changed, path, np.resize(a, [m if d == n else d for d in a.shape]))
            yield changed
            yield tuple(m if type(a) is int and a == n else a for a in changed)
    for path, a in arrays:
        for k, n in enumerate(a.shape):
            for m in {1, n + 1, n + 9} - {n}:
                yield put(args, path, np.resize(a, (*a.shape[:k], m, *a.shape[k + 1 :])))


def numbers(value):
    return [np.asarray(a) for _, a in leaves(value if isinstance(value, (tuple, list, dict)) else (np.asarray(value),))]


def at_these_lengths(gradient, args):
    """What the code gives that is compiled for arguments of these very lengths."""
    bound = gradient.bind(args, {})
    compiled = gradient.compiled(bound)
    compiled.sync(bound)
    return gradient.run_found(compiled, bound)


def compare(function, args, folder, most, strict=False):
    wrt = tuple(i for i, a in enumerate(args) if is_differentiable(type_of(a)))
    gradient = tangentc.grad(function, wrt=wrt)
    args = gradient.bind(args, {})  # with defaults, which emitted functions do not have
    try:
        path = tangentc.export(gradient, folder / "exported.py", *copy.deepcopy(args))
    except (tangentc.BadArgument, tangentc.UnsupportedSyntax, TurnedComplex):
        pytest.skip("it cannot be exported")
    scope = {"__name__": "exported"}
    exec(compile(path.read_text(), str(path), "exec"), scope)
    exported = scope[gradient.__name__]
    try:
        same = exported(*copy.deepcopy(args))
    except (ValueError, TurnedComplex) as error:
        if "complex" not in str(error):
            raise
        pytest.skip("it is compiled for real numbers, and complex for these")
    for a, b in zip(numbers(same), numbers(gradient(*copy.deepcopy(args))), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, equal_nan=True)
    given = list(other_shapes(args))
    for other in given[:: max(1, len(given) // most)]:
        try:
            function(*copy.deepcopy(other))
        except Exception:
            if strict:
                with pytest.raises((ValueError, IndexError)):
                    exported(*copy.deepcopy(other))
            continue
        try:
            wanted = at_these_lengths(gradient, copy.deepcopy(other))
        except Exception:  # what it is not compiled for
            continue
        for taken in (exported, gradient):
            try:
                got = taken(*copy.deepcopy(other))
            except ValueError:
                if taken is gradient:
                    raise
                continue
            for a, b in zip(numbers(got), numbers(wanted), strict=True):
                assert a.shape == b.shape, (function.__name__, [x.shape for _, x in leaves(other)], path.read_text())
                np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12, equal_nan=True, err_msg=path.read_text())


@pytest.mark.parametrize("function, args", SQUARE, ids=[f"{f.__name__}-{k}" for k, (f, _) in enumerate(SQUARE)])
def test_at_squares_and_equal_lengths(function, args, tmp_path):
    compare(function, args, tmp_path, 40, strict=True)


PROGRAMS = [
    (function, args)
    for found in pkgutil.iter_modules(programs.__path__)
    if not found.name.startswith("test_")
    for module in [importlib.import_module(f"programs.{found.name}")]
    for function, args in module.PROGRAMS
    if function.__name__ not in getattr(module, "REFUSED", ()) and any(leaves(args))
]
BY_DAY = 16  # one in so many


@pytest.mark.parametrize(
    "function, args",
    [pytest.param(*row, marks=[] if k % BY_DAY == 5 else pytest.mark.nightly) for k, row in enumerate(PROGRAMS)],
    ids=[f.__name__ for f, _ in PROGRAMS],
)
def test_programs(function, args, tmp_path, monkeypatch):
    monkeypatch.setattr(np, "empty", np.zeros)  # at other lengths a program may read what it did not write
    monkeypatch.setattr(np, "empty_like", np.zeros_like)
    compare(function, args, tmp_path, 6)
