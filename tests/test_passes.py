"""Each pass over the trips of loops changes some text, and no value beyond rounding."""

import numpy as np
import pytest
from programs import over_trips
from programs.test_programs import flatten, fresh, moving

import tangentc
from tangentc.compiler import context, passes


def again(function):
    """The function as another one, which nothing has been compiled for."""
    return type(function)(function.__code__, function.__globals__, function.__name__, function.__defaults__)


@pytest.mark.parametrize("name", ["invariant", "products", "trips", "rows", "together", "items"])
def test_a_pass_changes_text_and_no_value(name, monkeypatch):
    changed = 0
    programs = over_trips.PROGRAMS
    found = [(tangentc.value_and_grad(f, moving(args)), args) for f, args in programs]
    texts = [g.source_for(*fresh(args)) for g, args in found]
    values = [g(*fresh(args)) for g, args in found]
    monkeypatch.setattr(context.Context, "steps", tuple(p for p in passes.SIMPLIFY if p.name != name))
    for (f, args), text, value in zip(programs, texts, values, strict=True):
        without = tangentc.value_and_grad(again(f), moving(args))
        changed += without.source_for(*fresh(args)) != text
        for (_, a), (_, b) in zip(flatten(value), flatten(without(*fresh(args))), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    assert changed
