"""Whole programs: every stage runs, and reverse mode, forward mode and differences agree."""

import copy
import importlib
import pkgutil
from collections import OrderedDict

import emitted_targets
import numpy as np
import pytest

import programs
import tangentc
from tangentc.core.types import is_differentiable
from tangentc.core.values import type_of
from tangentc.derivative import Derivative
from tangentc.inspection.check import flatten, rebuild
from tangentc.inspection.differences import five_point

MODULES = [
    importlib.import_module(f"programs.{found.name}")
    for found in pkgutil.iter_modules(programs.__path__)
    if not found.name.startswith("test_")
]
EVERYTHING = [
    (module.__name__.split(".")[-1], function, args, function.__name__ in getattr(module, "REFUSED", ()))
    for module in MODULES
    for function, args in module.PROGRAMS
]
PROGRAMS = [row[:3] for row in EVERYTHING if not row[3]]
REFUSED = [row[1:3] for row in EVERYTHING if row[3]]
IDS = [f"{family}-{function.__name__}" for family, function, _ in PROGRAMS]
cases = pytest.mark.parametrize("function, args", [row[1:] for row in PROGRAMS], ids=IDS)
NIGHTLY = [(), pytest.mark.nightly]
every_other, the_others = (  # by day; all of them by night
    pytest.mark.parametrize(
        "function, args",
        [pytest.param(*row[1:], marks=NIGHTLY[(k + n) % 2]) for k, row in enumerate(PROGRAMS)],
        ids=IDS,
    )
    for n in (0, 1)
)
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # many programs stand at a singular point


@pytest.mark.parametrize("function, args", REFUSED, ids=[f.__name__ for f, _ in REFUSED])
def test_what_is_not_followed_is_refused(function, args):
    wrt = moving(args)
    with pytest.raises(tangentc.TangentcError):
        tangentc.grad(function, wrt=wrt)(*fresh(args))


def moving(args):
    return tuple(i for i, a in enumerate(args) if is_differentiable(type_of(a)))


def draw(x, rng):
    return rebuild(x, iter([rng.normal(size=a.shape) for _, a in flatten(x)]))


def product(a, b):
    return sum(np.sum(x * y) for (_, x), (_, y) in zip(flatten(a), flatten(b), strict=True))


def along(args, tangents, t):
    out = []
    for a, d in zip(args, tangents, strict=True):
        if d is None:
            out.append(a)
        else:
            out.append(rebuild(a, iter([x + t * y for (_, x), (_, y) in zip(flatten(a), flatten(d), strict=True)])))
    return out


def fresh(args):
    return copy.deepcopy(args)


@cases
def test_reverse_forward_and_differences_agree(function, args, rng):
    wrt = moving(args)
    given = fresh(args)
    value, gradients = tangentc.value_and_grad(function, wrt=wrt)(*given)
    np.testing.assert_allclose(value, function(*fresh(args)), rtol=1e-13)
    for (_, a), (_, b) in zip(flatten(list(given)), flatten(list(args)), strict=True):
        np.testing.assert_array_equal(a, b)  # the caller's arrays are as they were
    for _ in range(3):
        tangents = [draw(a, rng) if i in wrt else None for i, a in enumerate(args)]
        reverse = sum(product(g, tangents[i]) for i, g in zip(wrt, gradients, strict=True))
        with_forward, forward = tangentc.jvp(function, fresh(args), tangents)
        difference = five_point(lambda t, d=tangents: function(*along(fresh(args), d, t)), 1e-4)
        np.testing.assert_allclose(with_forward, value, rtol=1e-13)
        np.testing.assert_allclose(reverse, forward, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(reverse, difference, rtol=1e-6, atol=1e-7)


@cases
def test_gradients_alone_and_structure(function, args):
    wrt = moving(args)
    together = tangentc.grad(function, wrt=wrt)(*fresh(args))
    for i, g in zip(wrt, together, strict=True):
        alone = tangentc.grad(function, wrt=i)(*fresh(args))
        assert [p for p, _ in flatten(alone)] == [p for p, _ in flatten(args[i])]
        for (_, a), (_, b), (_, x) in zip(flatten(alone), flatten(g), flatten(args[i]), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)
            assert a.shape == x.shape and a.dtype == x.dtype


@cases
def test_pullback_may_be_called_twice(function, args):
    given = fresh(args)
    value, pullback = tangentc.vjp(function, *given)
    first = pullback(1.0)
    for leaf in (a for _, a in flatten(list(given))):
        if isinstance(leaf, np.ndarray) and leaf.ndim:
            leaf += 1.0  # the caller changes his arrays
    second = pullback(1.0)
    wanted = tangentc.grad(function, wrt=moving(args))(*fresh(args))
    for i, want in zip(moving(args), wanted, strict=True):
        for (_, a), (_, b), (_, w) in zip(flatten(first[i]), flatten(second[i]), flatten(want), strict=True):
            np.testing.assert_allclose(a, w, rtol=1e-12, atol=1e-14)
            np.testing.assert_allclose(b, w, rtol=1e-12, atol=1e-14)
    del value


@the_others
def test_a_second_call_compiles_nothing(function, args, monkeypatch):
    """What code was compiled for is found again: arguments by their types, names by what they stand for."""
    compiled = []
    compile_ = Derivative._compile
    monkeypatch.setattr(tangentc.compiled.Code, "named", OrderedDict())
    monkeypatch.setattr(Derivative, "_compile", lambda self, *a, **k: compiled.append(self) or compile_(self, *a, **k))
    gradient = tangentc.grad(function, wrt=moving(args))
    gradient(*fresh(args))
    assert compiled
    compiled.clear()
    gradient(*fresh(args))
    assert not compiled


@the_others
def test_gradients_do_not_alias(function, args):
    given = fresh(args)
    gradients = tangentc.grad(function, wrt=moving(args))(*given)
    arrays_ = [a for g in gradients for _, a in flatten(g) if a.ndim] + [a for _, a in flatten(list(given)) if a.ndim]
    for k, a in enumerate(arrays_):
        for b in arrays_[k + 1 :]:
            assert not np.may_share_memory(a, b)


@every_other
def test_every_stage_runs(function, args):
    wrt = moving(args)
    derivative = tangentc.grad(function, wrt=wrt)
    wanted = derivative(*fresh(args))
    value = function(*fresh(args))
    for stage in tangentc.stages(derivative, *fresh(args)):
        got = stage.run(*fresh(args))
        want = wanted if stage.is_derivative else value
        pairs = (
            zip(flatten(list(got)), flatten(list(want)), strict=True)
            if stage.is_derivative
            else [(("", got), ("", want))]
        )
        for (_, a), (_, b) in pairs:
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14, err_msg=stage.name)


@pytest.mark.parametrize("name", ["cost", "nll", "bend", "logistic_map", "energy", "heat", "burgers", "cross_entropy"])
def test_every_stage_of_the_targets_runs(name):
    from test_targets import CASES

    args, wrt = CASES[name]
    function = getattr(emitted_targets, name)
    derivative = tangentc.grad(function, wrt=wrt)
    for stage in tangentc.stages(derivative, *args):
        got, want = stage.run(*args), derivative(*args) if stage.is_derivative else function(*args)
        for (_, a), (_, b) in zip(flatten([got]), flatten([want]), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)
