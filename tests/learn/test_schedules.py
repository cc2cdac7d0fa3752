"""Schedules: the rates of PyTorch's schedulers, and where optimisers take them from."""

import json

import numpy as np
import pytest

from learn import optimiser_figures as figures
from tangentc.errors import BadArgument
from tangentc.learn import optimisers as o

KEPT = json.loads(figures.FILE.read_text())


def ours(name):
    (cls, settings), _ = figures.SCHEDULES[name]
    then = settings.get("then")
    if isinstance(then, tuple):
        settings = {**settings, "then": getattr(o, then[0])(**then[1])}
    schedule = getattr(o, cls)(**settings)
    return [schedule(step) for step in range(figures.STEPS)]


def scales(name):
    plateau, state, found = o.Plateau(**figures.PLATEAU[name][0]), {"step": 0}, []
    for loss in figures.LOSSES:
        plateau.update(state, loss)
        found.append(state["plateau"]["scale"])
        state = json.loads(json.dumps(state))
    return found


@pytest.mark.parametrize("name", figures.SCHEDULES)
def test_rates_are_those_of_pytorch(name):
    np.testing.assert_allclose(ours(name), KEPT["rates"][name], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", figures.SCHEDULES)
def test_rates_are_those_of_pytorch_now(name):
    pytest.importorskip("torch")
    np.testing.assert_allclose(ours(name), figures.torch_rates(name), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", figures.PLATEAU)
def test_plateaus_are_those_of_pytorch(name):
    assert len(set(KEPT["plateau"][name])) > 1
    np.testing.assert_allclose(scales(name), KEPT["plateau"][name], rtol=1e-12)


@pytest.mark.parametrize("name", figures.PLATEAU)
def test_plateaus_are_those_of_pytorch_now(name):
    pytest.importorskip("torch")
    np.testing.assert_allclose(scales(name), figures.torch_plateau(name), rtol=1e-12)


def test_after_their_steps_rates_stay():
    assert o.Cosine(1.0, 10, least=0.1)(25) == 0.1
    assert o.OneCycle(1.0, 10)(50) == pytest.approx(1 / 25 / 1e4)
    assert o.WarmUp(0.5, 3)(100) == 0.5
    assert o.Constant(0.5)(100) == 0.5


@pytest.mark.parametrize("steps", [1, 2, 3, 4, 10])
@pytest.mark.parametrize("rising", [0.0, 0.3, 0.5, 1.0])
def test_cycles_of_any_length_stay_below_their_peak(steps, rising):
    rates = [o.OneCycle(1.0, steps, rising)(k) for k in range(steps + 2)]
    assert all(0 <= rate <= 1 for rate in rates)


def test_an_optimiser_asks_at_each_step():
    model, asked = {"w": np.zeros(1)}, []

    def rate(step):
        asked.append(step)
        return [1.0, 0.5, 0.25][step]

    optimiser = o.SGD(rate)
    state = optimiser.init(model)
    for _ in range(3):
        optimiser.update(model, {"w": np.array([-1.0])}, state)
    assert asked == [0, 1, 2] and model["w"] == 1.75


def test_a_plateau_makes_the_steps_of_its_optimiser_shorter():
    model, plateau, optimiser = {"w": np.zeros(1)}, o.Plateau(factor=0.5, patience=0), o.SGD(1.0)
    state = optimiser.init(model)
    for loss in (1.0, 2.0, float("nan")):
        optimiser.update(model, {"w": np.array([-1.0])}, state)
        plateau.update(state, loss)
    assert model["w"] == 1 + 1 + 0.5 and state["plateau"]["scale"] == 0.25


def test_losses_below_zero_count_as_less():
    plateau, state = o.Plateau(factor=0.5, patience=0), {}
    for loss in (-1.0, -2.0, -3.0):
        plateau.update(state, loss)
    assert state["plateau"]["scale"] == 1.0


def test_settings_that_make_no_sense_are_refused():
    for make, message in [
        (lambda: o.Step(1.0), "every and at"), (lambda: o.Step(1.0, every=2, at=(3,)), "every and at"),
        (lambda: o.Cosine(1.0, 0), "steps=0"), (lambda: o.WarmUp(1.0, 0), "steps=0"),
        (lambda: o.OneCycle(1.0, 5, rising=2.0), "rising=2.0"), (lambda: o.Plateau(factor=1.0), "factor=1.0"),
    ]:  # fmt: skip
        with pytest.raises(BadArgument, match=message):
            make()
