"""Lists of objects that are there for what they hold: a loop over them stays a loop, whatever is done to them."""

import copy

import numpy as np
import pytest

import tangentc


class R:
    def __init__(s, w, b):
        s.w = w
        s.b = b

    def apply(s, x):
        return np.tanh(x * s.b + np.sum(s.w))


class C:
    def __init__(s, b):
        s.b = b
        s.n = 0.0

    def up(s, x):
        s.n = s.n + x * s.b
        return s.n


def records(k, rng):
    return [R(rng.normal(size=3 + i % 3), float(rng.normal())) for i in range(k)]


def counters(k, rng):
    return [C(float(i + 1)) for i in range(k)]


def methods(x, rs):
    for r in rs:
        x = r.apply(x)
    return np.sum(x)


def changed(x, cs):
    t = 0.0
    for c in cs:
        t = t + c.up(np.sum(x)) * x[0]
    for c in cs:
        t = t + c.n**2
    return t


def stored(x, rs):
    for r in rs:
        r.b = r.b * x[0]
    return sum(r.b**2 * np.sum(r.w) for r in rs)


def arrays_stored(x, rs):
    for r in rs:
        r.w[:] = r.w * x[0]
    return sum(np.sum(r.w**2) for r in rs)


def replaced(x, rs):
    for i, r in enumerate(rs):
        r.w = x[:2] * r.b + i
    return sum(np.sum(r.w**2) for r in rs)


def made(x, rs):
    objs = [R(x * i, i * 1.0) for i in range(5)]
    return sum(np.sum(o.w**2) * o.b for o in objs) + sum(r.b for r in rs)


def made_changed(x, rs):
    objs = [R(x * i, i * 1.0) for i in range(5)]
    for o in objs:
        o.w = o.w * x
        o.b += np.sum(o.w)
    return sum(np.sum(o.w**2) * o.b for o in objs)


def zipped(x, rs):
    t = 0.0
    for a, b in zip(rs, rs[1:]):
        t = t + a.b * b.b * np.sum(a.w) * np.sum(np.sin(x * b.b))
    return t


def picked(x, rs):
    best = rs[0]
    for r in rs:
        if r.b > best.b:
            best = r
    return best.b * np.sum(x) + np.sum(best.w)


def comp(x, rs):
    return np.sum(np.array([np.sum(r.w) * r.b * x[0] for r in rs if r.b > 0]) ** 2)


def attr(x, rs):
    for name in ("w", "b"):
        x = x * sum(np.sum(getattr(r, name)) for r in rs)
    return np.sum(x)


FUNCTIONS = [methods, changed, stored, arrays_stored, replaced, made, made_changed, zipped, picked, comp, attr]


@pytest.mark.parametrize("count", [2, 4, 7])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_values(function, count, rng):
    x, objects = rng.normal(size=3), (counters if function is changed else records)(count, rng)
    value, (x_bar, objects_bar) = tangentc.value_and_grad(function, wrt=(0, 1))(x.copy(), copy.deepcopy(objects))
    assert np.isclose(value, function(x, copy.deepcopy(objects)))
    h, d = 1e-6, rng.normal(size=3)
    along = [function(x + s * h * d, copy.deepcopy(objects)) for s in (-1, 1)]
    np.testing.assert_allclose(x_bar @ d, (along[1] - along[0]) / (2 * h), rtol=1e-6, atol=1e-6)
    moved = [copy.deepcopy(objects) for _ in range(2)]
    for s, held in zip((-1, 1), moved, strict=True):
        held[-1].b += s * h
    along = [function(x, held) for held in moved]
    np.testing.assert_allclose(objects_bar[-1].b, (along[1] - along[0]) / (2 * h), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("function", [methods, zipped, comp, picked])
def test_one_object_several_times(function, rng):
    x, objects = rng.normal(size=3), [R(np.ones(2), 0.7)] * 5
    h, d = 1e-6, rng.normal(size=3)
    along = [function(x + s * h * d, objects) for s in (-1, 1)]
    np.testing.assert_allclose(
        tangentc.grad(function)(x, objects) @ d, (along[1] - along[0]) / (2 * h), rtol=1e-6, atol=1e-8
    )


def test_the_loop_stays_a_loop(rng):
    text = tangentc.grad(comp).source_for(np.ones(3), records(20, rng))
    assert len(text.splitlines()) < 40 and "for " in text
