"""Jacobians by batches of seeds: what they give is what one row or column after the other gives."""

import random

import numpy as np
import pytest
from batches import assert_same
from programs.test_programs import PROGRAMS, fresh, moving

import tangentc
from tangentc import directions, grad, hessian, jacfwd, jacrev
from tangentc.api import _Pullback
from tangentc.errors import BadArgument

rng = np.random.default_rng(3)
X, W = rng.normal(size=12), rng.normal(size=(12, 5))
MAKERS = pytest.mark.parametrize("make", [jacfwd, jacrev])
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


@pytest.fixture
def count(monkeypatch):
    """How many directions each call was for: those of a batch, and 1 for a row or a column."""
    found = []
    along, one = directions.Code.along, directions._one_image

    def batched(self, seeds):
        given = along(self, seeds)
        if given is not None:
            found.append(len(np.atleast_1d(leaf_of(seeds))))
        return given

    def single(*args):
        found.append(1)
        return one(*args)

    monkeypatch.setattr(directions.Code, "along", batched)
    monkeypatch.setattr(directions, "_one_image", single)
    return found


def leaf_of(value):
    while isinstance(value, (list, tuple, dict)):
        value = next(v for v in (value.values() if isinstance(value, dict) else value) if v is not None)
    return value


def network(x, W):
    return np.tanh(x @ W) * x[0]


def loop(x, W):
    out = np.zeros(5)
    for k in range(3):
        out += W[k] * np.sin(x[k] * x[k + 1])
        if x[k] > 0:
            x = x * 1.5
    return out


def in_containers(x, W):
    return {"a": x[:3] * x[3], "n": 3, "b": (x @ x, [W[0] * x[0], 1j * x[:4]])}


def until(x, W):
    n = 0
    while np.sum(x * x) > 1.0:
        x = x * 0.7
        n += 1
    return x[:6] * n


def with_counts(x, n):
    return np.roll(x, n) * x**n


def changing(x, W):
    x[1:] *= x[:-1]
    W[0] = x[:5]
    return W[:2] * x[3]


SHAPED = [(network, (X, W)), (loop, (X, W)), (in_containers, (X, W)), (until, (X, W)), (with_counts, (X, 2)),
          (changing, (X, W))]  # fmt: skip


@MAKERS
@pytest.mark.parametrize(("f", "args"), SHAPED, ids=lambda f: getattr(f, "__name__", ""))
def test_batches_and_rows(make, f, args, count):
    wrt = moving(args)
    want = make(f, wrt, batch=1)(*fresh(args))
    given = fresh(args)
    assert set(count) == {1}
    count.clear()
    assert_same(make(f, wrt)(*given), want)
    assert all(np.array_equal(a, b) for a, b in zip(given, args)) or make is jacfwd
    assert f is changing or len(count) <= 2 and min(count) > 1
    assert_same(make(f, wrt, batch=5)(*fresh(args)), want)


SMALL = [row for row in PROGRAMS if all(np.size(a) < 8 for a in row[2] if isinstance(a, np.ndarray))]


@pytest.mark.parametrize("row", SMALL[11::120], ids=lambda row: row[1].__name__)
def test_programs(row):
    """Those of the derivatives' own tests."""
    _, f, args = row
    wrt = moving(args)[0]
    for make, function in ((jacfwd, f), (jacrev, grad(f, wrt))):
        try:
            want = make(function, wrt, batch=1)(*fresh(args))
        except tangentc.TangentcError as error:
            with pytest.raises(type(error)):
                make(function, wrt, batch=16)(*fresh(args))
        else:
            found = make(function, wrt, batch=16)(*fresh(args))
            assert tangent_text(found) == tangent_text(want)


def tangent_text(value):
    """A structure of numbers as text, rounded."""
    if isinstance(value, dict):
        return {k: tangent_text(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [tangent_text(v) for v in value]
    if hasattr(value, "__dict__"):
        return tangent_text(vars(value))
    return value if value is None else (np.asarray(value).dtype, (np.round(value, 7) + 0.0).tolist())


def test_of_an_energy(count):
    def energy(x):
        return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    given = hessian(energy)(X)
    assert count == [12]
    assert_same(given, hessian(energy, batch=1)(X))
    np.testing.assert_allclose(given, given.T)
    assert_same(hessian(lambda x: np.sin(x[:3]) * x[3])(X), hessian(lambda x: np.sin(x[:3]) * x[3], batch=1)(X))


@MAKERS
def test_chunks(make, count):
    assert_same(make(network, batch=4)(X, W), make(network, batch=1)(X, W))
    assert count[: -(12 if make is jacfwd else 5)] == ([4, 4, 4] if make is jacfwd else [2, 3])
    for batch in (0, -1, 2.0, True):
        with pytest.raises(BadArgument, match="is no number of directions"):
            make(network, batch=batch)


def test_large_arrays_make_small_batches(monkeypatch, count):
    def apart(x):
        between = np.sqrt((x[:, None] - x) ** 2 + 1)
        return np.sum(between, axis=1)

    x = rng.normal(size=40)
    for make in (jacfwd, jacrev):
        count.clear()
        monkeypatch.setattr(directions, "MOST_BYTES", 2**17)  # of which a row takes 40 x 40 x 8 bytes
        given = make(apart)(x)
        assert 4 <= len(count) <= 8 and min(count) > 4 and sum(count) == 40
        assert_same(given, make(apart, batch=1)(x))


def test_few_directions_are_not_worth_a_batch(count):
    jacrev(lambda x: x[:2] * x[2])(X)
    assert count == [1, 1]


@MAKERS
def test_complex_results_and_arguments(make, count):
    def f(z):
        return z[:5] * z[5] ** 2

    z = X + 1j * X[::-1]
    assert_same(make(f)(z), make(f, batch=1)(z))
    assert_same(make(lambda x: np.exp(1j * x))(X), make(lambda x: np.exp(1j * x), batch=1)(X))
    assert_same(make(lambda z: abs(z))(z), make(lambda z: abs(z), batch=1)(z))
    with pytest.raises(tangentc.NotDifferentiable, match="not holomorphic"):
        make(np.conj)(z)


@MAKERS
def test_one_draw_for_all_rows(make):
    def noisy(x, rng):
        return x[:5] * rng.normal(size=5) + random.random() * x[5]

    random.seed(1)
    given = make(noisy)(X, np.random.default_rng(0))
    random.seed(1)
    assert_same(given, make(noisy, batch=1)(X, np.random.default_rng(0)))


@MAKERS
def test_what_is_refused_goes_row_by_row(make, monkeypatch, count):
    def refuse(*args, **keywords):
        raise tangentc.UnsupportedSyntax("a form without a batch")

    monkeypatch.setattr(directions.Vectorised, "compiled", refuse)
    monkeypatch.setattr(directions.Vectorised, "__call__", refuse)

    def of_its_own(x, W):
        return np.cos(x @ W) * x[0]

    given = make(of_its_own)(X, W)
    assert set(count) == {1}
    assert_same(given, make(of_its_own, batch=1)(X, W))


def test_data_of_the_module_are_those_of_the_call():
    global SCALE
    J = jacrev(scaled)
    for SCALE in (np.arange(12.0), -np.ones(12)):
        np.testing.assert_array_equal(J(X), np.diag(SCALE))


SCALE = np.ones(12)


def scaled(x):
    return x * SCALE


def test_pullbacks_are_by_what_is_wanted(monkeypatch):
    given = []
    parts = _Pullback.parts
    monkeypatch.setattr(_Pullback, "parts", lambda self, bars: given.append(parts(self, bars)) or given[-1])
    jacrev(network)(X, W)
    assert given[0][1] is None and given[0][0].shape == (5, 12)


def test_the_text_is_that_of_what_runs():
    text = jacfwd(network).source_for(X, W)
    assert text.startswith("def network_jvp_vmap(x, W, x_dot):") and text.count("def ") == 1
    text = jacrev(network).source_for(X, W)
    assert [line for line in text.split("\n") if line.startswith("def ")] == [
        "def network_primal(x, W):", "def network_adjoint(saved, out_bar):", "def network_adjoint_vmap(saved, out_bar):",
    ]  # fmt: skip
    assert "vmap" not in jacrev(network, batch=1).source_for(X, W)
    assert "_grad_jvp_vmap(" in hessian(lambda x: np.sum(x**4)).source_for(X)
