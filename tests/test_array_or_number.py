"""What is a number on one path and an array on another, beyond the programs of `sums`; integers that objects hold."""

import importlib.util

import numpy as np
import pytest
from programs import generating, sums
from programs.decided import Layer, M, layer_with_a_stride

import tangentc

KINKED = {"clipped_by_a_number_or_array"}
FIRST_ORDER = {"array_behind_a_number_written_into"}  # whose adjoint changes what may be a number
TWICE = [
    (f, args)
    for module in (sums, generating)
    for f, args in module.PROGRAMS
    if f.__name__ not in {*module.REFUSED, *KINKED, *FIRST_ORDER} and np.ndim(args[0]) == 1
]


@pytest.mark.parametrize("function, args", TWICE, ids=lambda value: getattr(value, "__name__", ""))
def test_second_derivatives(function, args):
    x, *rest = args
    gradient, wanted = tangentc.grad(function), np.zeros((x.size, x.size))
    for k in range(x.size):
        step = np.zeros_like(x)
        step[k] = 1e-5
        wanted[:, k] = (gradient(x + step, *rest) - gradient(x - step, *rest)) / 2e-5
    np.testing.assert_allclose(tangentc.hessian(function)(x.copy(), *rest), wanted, rtol=1e-4, atol=1e-4)


def test_code_of_sums_is_that_of_arrays():
    for function, args in ((sums.adam, (sums.X, 3)), (sums.product_of_sums, (sums.X, np.eye(3)))):
        assert "unbroadcast" not in tangentc.grad(function).source_for(*args)


def test_integers_of_objects_are_checked(tmp_path):
    gradient = tangentc.grad(layer_with_a_stride)
    first = gradient(M, Layer(1))
    for stride in (2, 1, 3):
        np.testing.assert_allclose(gradient(M, Layer(stride)), first)
    path = tmp_path / "layer.py"
    tangentc.export(gradient, path, M, Layer(1))
    spec = importlib.util.spec_from_file_location("layer", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    np.testing.assert_allclose(module.layer_with_a_stride_grad(M, Layer(1)), first)
    with pytest.raises(ValueError, match=r"layer.stride 1"):
        module.layer_with_a_stride_grad(M, Layer(2))


def history(x, n):
    s, kept = 0.0, []
    for i in range(n):
        s += x * x[i]
        kept.append(s)
    return np.sum(kept[0] * s)


def test_an_array_that_others_see_is_not_bound_anew():
    with pytest.raises(tangentc.UnsafeMutation, match="changes an array or rebinds"):
        tangentc.grad(history)(sums.X, 3)
