"""The arrays of a model that are trained, those that are state, and the gradients beside them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest

from tangentc import tree
from tangentc.errors import BadArgument
from tangentc.learn.trained import State, count, gradients, paired, parameters, states


class Slotted:
    __slots__ = ("w", "never")

    def __init__(self):
        self.w = np.ones(2)


class Below(Slotted):
    kept: State

    def __init__(self):
        super().__init__()
        self.b, self.kept = np.zeros(1), {"deep": [np.ones(1)]}


class Pair(NamedTuple):
    left: Any
    right: Any


@dataclass
class Model:
    parts: list = field(default_factory=lambda: [Below(), Pair(np.ones((2, 2)), 3.0)])
    table: dict = field(default_factory=lambda: {"a": np.ones(1, complex), 5: np.arange(3), "t": "text"})
    running: State = field(default_factory=lambda: Below())
    rate: float = 0.5


def test_parameters_and_states():
    model = Model()
    assert list(parameters(model)) == ["parts.0.w", "parts.0.b", "parts.1.left", "table.a"]
    assert list(states(model)) == ["parts.0.kept.deep.0", "running.w", "running.b", "running.kept.deep.0"]
    assert parameters(model)["parts.0.w"] is model.parts[0].w and count(model) == 8


def test_one_walk_finds_what_flatten_finds():
    model = Model()
    for every in (False, True):
        leaves, structure = tree.flatten(model, every)
        found = tree.walk(model, every)
        assert [one.path for one in found] == list(structure.paths)
        assert all(one.leaf is leaf for one, leaf in zip(found, leaves))
        assert all(a is b for a, b in zip(tree.follow(model, [one.way for one in found]), leaves))


def test_gradients_stand_under_paths_of_attributes_too():
    @dataclass
    class Outer:
        inner: Any
        other: Any

    model = Outer(Outer(np.ones(1), np.ones(2)), [np.ones(3)])
    gradient = {"inner.inner": np.full(1, 2.0), "inner": {"other": np.full(2, 3.0)}, "other": [np.full(3, 4.0)]}
    with pytest.raises(BadArgument, match="nothing at inner.inner"):
        gradients(model, gradient)  # what is under "inner" is taken first
    gradient["inner.other"] = gradient.pop("inner")["other"]
    assert {path: g[0] for path, g in gradients(model, gradient).items()} == {
        "inner.inner": 2.0, "inner.other": 3.0, "other.0": 4.0,
    }  # fmt: skip


def test_an_array_at_two_paths_is_one_parameter():
    w = np.ones(2)
    arrays, slopes = paired({"a": w, "b": [w]}, {"a": np.ones(2), "b": [np.full(2, 2.0)]})
    assert list(arrays) == ["a"] and slopes["a"].tolist() == [3.0, 3.0]
    assert paired({"a": w, "b": [w]}, {"a": np.ones(2)})[1]["a"].tolist() == [1.0, 1.0]


def test_a_model_that_holds_itself_is_refused():
    model = Slotted()
    model.w = [model]
    with pytest.raises(BadArgument, match="holds itself"):
        parameters(model)


def test_a_class_may_gain_attributes():
    first, second = Below(), Below()
    parameters(first)
    second.more = np.ones(4)
    assert "more" in parameters(second) and "more" not in parameters(first)
