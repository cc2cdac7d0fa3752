"""Clipping, gradients of several batches, averages of parameters, and L-BFGS."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from learn import optimiser_figures as figures
from learn.test_optimisers import Layer, assert_same, changed, large
from tangentc import grad
from tangentc.errors import BadArgument, NotFinite
from tangentc.learn import optimisers as o

KEPT = json.loads(figures.FILE.read_text())


# ------------------------------------------------------------------ clipping
def test_global_norms():
    g = {"a": np.full((3, 4), 2.0), "b": [np.array(1.0), {"c": np.array([3 + 4j])}]}
    assert o.global_norm(g) == pytest.approx(np.sqrt(12 * 4 + 1 + 25), rel=1e-15)
    assert o.global_norm({"a": np.full(100_003, 0.1, np.float32)}) == pytest.approx(0.1 * np.sqrt(100_003), rel=1e-6)
    assert o.global_norm({"a": np.full(3, 1e30, np.float32)}) == pytest.approx(1e30 * np.sqrt(3), rel=1e-6)
    assert o.global_norm({"a": np.full(3, 1e-30, np.float32)}) == pytest.approx(1e-30 * np.sqrt(3), rel=1e-6)
    assert o.global_norm({"a": np.full((70_000, 2), 0.5)[::2, ::-1].T}) == pytest.approx(
        0.5 * np.sqrt(70_000), rel=1e-14
    )
    assert o.global_norm({"a": np.zeros((0, 2))}) == 0.0


def test_clipping_leaves_the_arrays_that_were_given():
    shared = np.array([3.0, 4.0])
    fixed = np.broadcast_to(6.0, (2,))
    g = {"a": shared, "b": SimpleNamespace(w=shared, v=fixed[:1]), "c": Layer(fixed, 0.0, 0.0)}
    before = o.clip_by_global_norm(g, 1.0)
    assert before == pytest.approx(np.sqrt(25 + 25 + 36 + 72)) and o.global_norm(g) == pytest.approx(1.0)
    assert shared.tolist() == [3.0, 4.0]
    np.testing.assert_allclose(g["a"], shared / before)
    np.testing.assert_allclose(g["b"].w, shared / before)
    o.clip_by_value(g, 0.1)
    assert g["a"].tolist() == [0.1, 0.1] and shared.tolist() == [3.0, 4.0]


def test_short_gradients_stay_the_same_arrays():
    g = {"a": np.array([0.3, 0.4], np.float32)}
    held = g["a"]
    assert o.clip_by_global_norm(g, 1.0) == pytest.approx(0.5) and g["a"] is held
    o.clip_by_global_norm(g, 0.1)
    assert g["a"].dtype == np.float32


def test_clipping_by_value_of_complex_and_nan():
    g = {"z": np.array([3 - 0.5j]), "n": np.array([np.nan, -5.0])}
    o.clip_by_value(g, 1.0)
    assert g["z"].tolist() == [1 - 0.5j] and np.isnan(g["n"][0]) and g["n"][1] == -1.0


def test_clipping_to_nothing_or_of_nan_is_refused():
    for most in (0.0, -1.0, float("nan")):
        with pytest.raises(BadArgument, match="cannot be clipped"):
            o.clip_by_global_norm({"a": np.ones(2)}, most)
    with pytest.raises(BadArgument, match="in place"):
        o.clip_by_value(np.ones(2), 1.0)
    model = {"w": np.ones(2)}
    optimiser = o.NAdam(0.1, clip=1.0)
    state = optimiser.init(model)
    with pytest.raises(NotFinite, match="norm of the gradients is nan"):
        optimiser.update(model, {"w": np.array([1.0, np.nan])}, state)
    assert model["w"].tolist() == [1.0, 1.0] and state["step"] == 0 and state["product"] == 1.0


@pytest.mark.parametrize("most", [0.5, 1e6])
def test_clip_is_clipping_before_the_step(most):
    model, other = figures.start(), figures.start()
    optimiser = o.Adam(0.1, decay=0.1)
    state, local = optimiser.init(model), optimiser.init(other)
    for step in range(20):
        changed(optimiser, clip=most).update(model, figures.slope(model, step), state)
        g = figures.slope(other, step)
        o.clip_by_global_norm(g, most)
        optimiser.update(other, g, local)
    assert_same(model, other, 1e-13)


# ------------------------------------------------------------------ several batches, averages
def test_gathered_gradients_are_those_of_one_large_batch(rng):
    x, y = rng.normal(size=(12, 3)), rng.normal(size=12)
    slope = grad(lambda m, x, y: np.mean((x @ m["w"] - y) ** 2))
    model, other = {"w": np.zeros(3)}, {"w": np.zeros(3)}
    small, large = o.Accumulate(o.Adam(0.1, clip=0.5), 3), o.Adam(0.1, clip=0.5)
    state, local = small.init(model), large.init(other)
    for _ in range(5):
        for k in range(0, 12, 4):
            before = model["w"].copy()
            small.update(model, slope(model, x[k : k + 4], y[k : k + 4]), state)
            assert (k == 8) == (before != model["w"]).all()
        large.update(other, slope(other, x, y), local)
    assert state["step"] == 5 and state["gathered"] == 0
    assert_same(model, other, 1e-13)


def test_gathering_refuses_before_it_adds():
    model = {"a": np.zeros(2), "b": np.zeros(2, np.float32)}
    optimiser = o.Accumulate(o.SGD(), 2)
    state = optimiser.init(model)
    with pytest.raises(BadArgument, match="of float64"):
        optimiser.update(model, {"a": np.ones(2), "b": np.ones(2)}, state)
    assert not state["sum"]["a"].any() and state["gathered"] == 0


def test_moving_averages(rng):
    model = large(rng)
    start = {name: p.copy() for name, p in model.items()}
    average = o.EMA(0.75)
    state = average.init(model)
    expected = {name: p.astype(float) for name, p in model.items()}
    for step in range(5):
        for name, p in model.items():
            p += np.float32(step + 1)
            expected[name] = 0.75 * expected[name] + 0.25 * p
        average.update(model, state)
    for name, mean in state["mean"].items():
        assert mean.dtype == np.float32
        np.testing.assert_allclose(mean, expected[name], rtol=1e-5, atol=1e-5)
    held, now = dict(model), {name: p.copy() for name, p in model.items()}
    average.swap(model, state)
    assert all(model[name] is held[name] and not (model[name] == start[name]).all() for name in model)
    assert_same(state["mean"], now)
    average.swap(model, state)
    assert_same(model, now)


# ------------------------------------------------------------------ L-BFGS
def test_lbfgs_ends_where_pytorch_s_does():
    model = {"x": np.zeros(4)}
    end = o.LBFGS(steps=500).minimise(figures.banana, model)
    assert end.converged and end.value < 1e-12 and 0 < end.steps < 100 and end.calls >= end.steps
    np.testing.assert_allclose(model["x"], KEPT["lbfgs"], atol=1e-6)


def test_lbfgs_stops_after_its_steps():
    model = {"x": np.zeros(4)}
    end = o.LBFGS(steps=3).minimise(figures.banana, model)
    assert end.steps == 3 and not end.converged and end.value == figures.banana(model)


def test_lbfgs_takes_complex_and_single_precision():
    model = {"z": np.zeros(2, complex), "w": np.zeros((2, 2), np.float32, order="F"), "n": np.array(1.0)}
    goal = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)

    def loss(m):
        return np.sum(np.abs(m["z"] - (1.0 + 2.0j)) ** 2) + np.sum((m["w"] - goal) ** 2) + (m["n"] + 1.0) ** 2

    o.LBFGS().minimise(loss, model)
    np.testing.assert_allclose(model["z"], 1 + 2j, atol=1e-3)
    np.testing.assert_allclose(model["w"], goal, atol=1e-3)
    assert model["w"].dtype == np.float32 and model["n"] == pytest.approx(-1.0, abs=1e-3)


def test_lbfgs_leaves_the_model_where_the_loss_raises():
    model = {"x": np.zeros(4)}

    def loss(p):
        if p["x"][0] > 0.3:
            raise RuntimeError("no more")
        return figures.banana(p)

    with pytest.raises(RuntimeError, match="no more"):
        o.LBFGS().minimise(loss, model)
    assert not model["x"].any()
