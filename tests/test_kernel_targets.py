"""The six programs of the kernel targets: right in odd cases, and as loops that are compiled."""

import re

import kernel_targets
import numpy as np
import pytest

import tangentc

pytest.importorskip("numba")
AS_LOOPS = {"heat_3d": 2, "burgers": 2, "nonlinear_sweep": 2, "lorenz_rk4": 2}  # and how many kernels each has


def odd_cases():
    rng = np.random.default_rng(9)
    r = rng.standard_normal

    def index():
        return rng.integers(-7, 7, 23)

    def f32(*shape):
        return r(shape).astype(np.float32)

    for s in ((3, 3, 3), (4, 3, 7), (2, 5, 5), (9, 6, 5)):
        for t in (0, 1, 3):
            yield "heat_3d", (r(s), r(s), t)
    for n in (3, 4, 11):
        for t in (0, 1, 2, 5):
            yield "burgers", (r(n), 0.1, 0.5, 0.01, t)
    for s in ((3, 3), (3, 8), (7, 4)):
        for t in (0, 1, 2):
            yield "nonlinear_sweep", (r(s), r(s), 1.3, 0.2, 1.1, t)
    for b, f in ((1, 5), (33, 17), (70, 8)):
        yield "layer_norm_gelu", (f32(b, f), f32(f), f32(f), f32(f))
    for f in (1, 5, 32):
        yield "message_passing", (r((7, f)), r(23), index(), index())
    yield "message_passing", (r((7, 4)), r(0), index()[:0], index()[:0])
    for t in (0, 1, 2):
        yield "lorenz_rk4", (1.0, 2.0, 3.0, 10.0, 28.0, 2.5, 0.01, t)


CASES = list(odd_cases())


@pytest.mark.parametrize("name, args", CASES, ids=[f"{name}-{k}" for k, (name, _) in enumerate(CASES)])
def test_odd_cases(name, args):
    f, wrt = getattr(kernel_targets, name), kernel_targets.PROGRAMS[name]
    compiled = tangentc.value_and_grad(f, wrt=wrt, kernels="numba")
    before = [np.copy(a) for a in args]
    value, gradients = compiled(*args)
    assert all(map(np.array_equal, args, before))
    want, by_numpy = tangentc.value_and_grad(f, wrt=wrt)(*args)
    if name in AS_LOOPS:
        assert np.array_equal(value, want), "the value keeps its bits"
    single = name == "layer_norm_gelu"
    for a, b in zip((value, *gradients), (want, *by_numpy), strict=True):
        assert np.shape(a) == np.shape(b) and np.asarray(a).dtype == np.asarray(b).dtype
        scale = np.max(np.abs(b), initial=1.0)
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=scale * (1e-5 if single else 1e-13))


@pytest.mark.parametrize("name", AS_LOOPS)
def test_what_becomes_of_the_loops(name):
    f, wrt = getattr(kernel_targets, name), kernel_targets.PROGRAMS[name]
    args = getattr(kernel_targets, name + "_args")("small")
    text = tangentc.value_and_grad(f, wrt=wrt, kernels="numba").source_for(*args)
    assert text.count("kernel\ndef ") == AS_LOOPS[name]
    loops, _, whole = text.rpartition("\n\n\n")
    assert ".append(" not in text and " for " not in re.sub("#.*", "", whole)
    assert "checked_kernel" not in text, "what is read and written is known to lie within the arrays"
    assert "np." not in loops.replace("np.empty(", "").replace("np.zeros(", ""), "no call of NumPy in a loop"


def test_an_index_out_of_range_raises():
    rng = np.random.default_rng(0)
    f = tangentc.value_and_grad(kernel_targets.message_passing, wrt=(0, 1), kernels="numba")
    with pytest.raises(IndexError):
        f(rng.normal(size=(3, 2)), rng.normal(size=1), np.array([3]), np.array([0]))
