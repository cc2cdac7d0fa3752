"""CuPy: the same code on the device.  Without one, the text is checked; with one, it runs."""

import re

import emitted_targets
import numpy as np
import pytest
from test_targets import CASES

import tangentc


def on_device(dtype, shape):
    """Stands for a CuPy array: only its type is looked at when code is emitted."""
    cls = type("ndarray", (), {"__module__": "cupy"})
    array = cls()
    array.dtype, array.shape = np.dtype(dtype), shape
    return array


def as_device(x):
    if isinstance(x, np.ndarray):
        return on_device(x.dtype, x.shape)
    return {k: as_device(v) for k, v in x.items()} if isinstance(x, dict) else x


def creates(x, n):
    y = np.zeros(n)
    y[1:] = np.linspace(0.0, 1.0, n - 1) * x[1:]
    return np.sum(np.where(y > 0, np.sqrt(y), 0.0)) * np.float32(0.5) + np.linalg.norm(np.ones(3)) * np.pi


@pytest.mark.parametrize("name", [n for n in CASES if n not in ("cost", "bend", "logistic_map", "newton_sqrt")])
def test_targets_on_cupy(name):
    args, wrt = CASES[name]
    gradient = tangentc.grad(getattr(emitted_targets, name), wrt=wrt)
    text = gradient.source_for(*map(as_device, args))
    assert text.startswith("import cupy as cp\n") or "cp." not in text
    assert not re.search(r"\bnp\.|\bnumpy\b", re.sub(r"#.*", "", text))
    plain = gradient.source_for(*args)
    without_import = text.replace("import cupy as cp\n\n\n", "")
    assert re.sub(r"\bcp\.", "np.", re.sub(r"#.*", "", without_import)) == re.sub(r"#.*", "", plain)


def test_creation_functions_make_device_arrays():
    text = tangentc.grad(creates).source_for(on_device("float64", (12,)), 12)
    code = re.sub(r"#.*", "", text)
    assert "cp.zeros(n)" in code and "cp.linspace(" in code and "cp.float32(0.5)" in code and "np." not in code


def test_mixed_arrays_are_refused():
    with pytest.raises(tangentc.BadArgument, match="some arguments are NumPy arrays and some are CuPy arrays"):
        tangentc.grad(lambda x, y: np.sum(x * y)).source_for(np.ones(3), on_device("float64", (3,)))


@pytest.mark.gpu
@pytest.mark.parametrize("name", [n for n in CASES if n not in ("cost", "bend", "logistic_map", "newton_sqrt")])
def test_targets_run_on_the_device(name):
    import cupy

    def move(x):
        if isinstance(x, np.ndarray):
            return cupy.asarray(x)
        return {k: move(v) for k, v in x.items()} if isinstance(x, dict) else x

    args, wrt = CASES[name]
    gradient = tangentc.grad(getattr(emitted_targets, name), wrt=wrt)
    on_host, on_gpu = gradient(*args), gradient(*map(move, args))
    pairs = zip(on_host, on_gpu, strict=True) if isinstance(on_host, tuple) else [(on_host, on_gpu)]
    for a, b in pairs:
        for x, y in zip(a.values(), b.values(), strict=True) if isinstance(a, dict) else [(a, b)]:
            assert not isinstance(y, np.ndarray)
            np.testing.assert_allclose(x, cupy.asnumpy(y), rtol=1e-10)
