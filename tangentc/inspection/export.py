"""Emitted code as a module of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tangentc.analysis.turning import kept_real
from tangentc.arguments import arrays_of
from tangentc.backend.export import module_text, write
from tangentc.compiled import Compiled
from tangentc.compiler.guards import checks, weakest
from tangentc.core.types import Type
from tangentc.decorated import Differentiable
from tangentc.derivative import Derivative
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
        derivative = derivative.fitted(args, {})
        compiled = derivative.compiled(derivative.bind(args, {}))
    elif derivative.last is not None:
        compiled = derivative.last
    else:
        raise BadArgument(
            f"{derivative.__name__} has not been called yet", why="its code depends on the types of its arguments",
            way_out="give arguments: export(f, path, *args)",
        )  # fmt: skip
    return write(path, text_of(derivative, compiled))


def text_of(derivative: Derivative, compiled: Compiled) -> str:
    """The module for a derivative, which refuses arguments for which its text may not be right."""
    arrays = "cupy" if "cp" in compiled.text.bindings else "numpy"
    watch = kept_real if compiled.is_doubtful else None

    def written(types: list[Type]) -> Compiled:
        return derivative._compile(types, arrays, compiled.seed, watch=watch)

    if compiled.is_doubtful:
        compiled = written(compiled.types)
    live = {name: atom.lookup() for name, atom in compiled.live.items()}
    names = list(derivative.signature().parameters)
    made_for = checks(derivative.__name__, names, weakest(lambda types: written(types).text.whole, compiled.types))
    return module_text(compiled.text, live, derivative.__name__, made_for)
