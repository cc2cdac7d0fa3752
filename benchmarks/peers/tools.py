"""The tools that are compared: each makes, of a workload, a call that gives the value and the gradient.

A tool is a function of a workload and its arguments.  It returns the call that its user makes, and a function that
gives, after the first such call, all calls that are timed, by their names.  Arguments become the tool's own arrays
beforehand; results stay the tool's own, and are waited for.
"""

import importlib
from importlib import metadata

import numpy as np

from .workload import leaves, mapped, with_numpy

# A tool, the distribution that it needs, and the names of its calls.
NEEDS = {
    "by hand": "numpy", "tangentc": "tangentc", "kernels": "numba", "autograd": "autograd", "JAX": "jax",
    "PyTorch": "torch",
}  # fmt: skip
CALLS = ("by hand", "tangentc", "tangentc, called", "kernels", "autograd", "JAX", "PyTorch")
"""`tangentc` is the emitted function, `tangentc, called` the derivative, which looks at types first, and `kernels` the
derivative whose loops Numba has compiled."""


def version_of(tool):
    """The version that is installed, or None."""
    try:
        return metadata.version(NEEDS[tool])
    except metadata.PackageNotFoundError:
        return None


def by_hand(workload, args):
    def call():
        return workload.by_hand(*args)

    return call, lambda: {"by hand": call}


def with_tangentc(workload, args):
    import tangentc

    derivative = tangentc.value_and_grad(workload.function, wrt=workload.wrt)

    def call():
        return derivative(*args)

    def calls():
        emitted, bound = derivative.last.function, derivative.bind(args, {})
        return {"tangentc": lambda: emitted(*bound), "tangentc, called": call}

    return call, calls


def with_kernels(workload, args):
    import numba  # noqa: F401

    import tangentc

    derivative = tangentc.value_and_grad(workload.function, wrt=workload.wrt, kernels="numba")

    def call():
        return derivative(*args)

    return call, lambda: {"kernels": call}


def with_autograd(workload, args):
    import autograd
    import autograd.numpy

    function = _version(workload, "in_autograd", autograd.numpy)
    gradient = autograd.value_and_grad(function, workload.places)

    def call():
        return gradient(*args)

    return call, lambda: {"autograd": call}


def with_jax(workload, args):
    """Compiled by jit; numbers that are not differentiated are constants of the program."""
    import jax

    jax.config.update("jax_enable_x64", True)
    function = _version(workload, "in_jax", jax.numpy)
    fixed = [k for k, x in enumerate(args) if isinstance(x, (int, float)) and k not in workload.places]
    gradient = jax.jit(jax.value_and_grad(function, workload.places), static_argnums=fixed)
    given = [x if k in fixed else mapped(x, jax.numpy.asarray) for k, x in enumerate(args)]

    def call():
        return jax.block_until_ready(gradient(*given))

    return call, lambda: {"JAX": call}


def with_torch(workload, args):
    import torch

    torch.set_default_dtype(torch.float64)
    function = _version(workload, "in_torch", None)

    def tensor(x):
        return torch.from_numpy(x.copy()) if isinstance(x, np.ndarray) else x

    given = [mapped(x, tensor) for x in args]
    moving = []

    def leaf(x):
        moving.append(torch.as_tensor(x).requires_grad_())
        return moving[-1]

    for k in workload.places:
        given[k] = mapped(given[k], leaf)

    def call():
        value = function(*given)
        return value.detach(), torch.autograd.grad(value, moving)

    return call, lambda: {"PyTorch": call}


TOOLS = {
    "by hand": by_hand,
    "tangentc": with_tangentc,
    "kernels": with_kernels,
    "autograd": with_autograd,
    "JAX": with_jax,
    "PyTorch": with_torch,
}


def _version(workload, module, numpy):
    """The workload as it is written for a tool: another source, or its own with the tool's NumPy."""
    module = importlib.import_module(f"{__package__}.rewritten.{module}")
    return module.VERSIONS.get(workload.name) or with_numpy(workload.function, numpy or module.np)


def flat(result):
    """A value and a gradient as arrays of NumPy, those of a dict in the order of its keys."""
    value, gradient = result
    return [np.asarray(value), *leaves(gradient)]
