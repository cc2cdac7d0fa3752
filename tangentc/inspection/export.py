"""Emitted code as a module of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tangentc.api import Differentiable
from tangentc.arguments import arrays_of
from tangentc.backend.export import module_text, write
from tangentc.compiler.guards import checks, weakest
from tangentc.core.types import Type
from tangentc.derivative import Compiled, Derivative
from tangentc.errors import BadArgument


def export(f: Any, path: Any, *args: Any) -> Path:
    """Write an emitted function, and what it calls, to a module that imports only NumPy (or CuPy).

    ``f`` is what `grad`, `value_and_grad` or `adjoint` gave, or a decorated function, of which the gradient
    is written.  The types are those of ``args``, or of the last call.  Returns the path.  Raises
    `BadArgument` if there was no call and no arguments are given, or if the code refers to something that
    cannot be written into a module.

    >>> import tempfile, tangentc
    >>> def square(x):
    ...     return x * x
    >>> path = export(tangentc.grad(square), tempfile.mkdtemp() + "/square_grad.py", 2.0)
    >>> path.name
    'square_grad.py'
    """
    derivative = f.grad if isinstance(f, Differentiable) else f
    if not isinstance(derivative, Derivative):
        raise BadArgument(
            f"{f!r} is not a derivative", why="export writes what grad, value_and_grad or adjoint gave",
            way_out="export(tangentc.grad(f), path, *args)",
        )  # fmt: skip
    if args:
        arrays_of(args)
        compiled = derivative.compiled(derivative.bind(args, {}))
    elif derivative.last is not None:
        compiled = derivative.last
    else:
        raise BadArgument(
            f"{derivative.__name__} has not been called yet", why="its code depends on the types of its arguments",
            way_out="give arguments: export(f, path, *args)",
        )  # fmt: skip
    compiled.sync(())
    live = {name: compiled.function.__globals__[name] for name in compiled.live}
    text = module_text(compiled.text, live, derivative.__name__, made_for(derivative, compiled))
    return write(path, text)


def made_for(derivative: Derivative, compiled: Compiled) -> str:
    """The statement that refuses arguments for which the text of a derivative may not be right."""
    arrays = "cupy" if "cp" in compiled.text.bindings else "numpy"

    def write(types: list[Type]) -> str:
        return derivative._compile(types, arrays, compiled.seed).text.whole

    names = list(derivative.signature().parameters)
    return checks(derivative.__name__, names, weakest(write, compiled.types))
