"""Emitted code as a module of its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from tangentc.analysis.turning import kept_real
from tangentc.arguments import arrays_of
from tangentc.backend.export import module_text, write
from tangentc.compiled import Compiled
from tangentc.compiler.context import Context
from tangentc.compiler.guards import checks, weakest
from tangentc.compiler.passes import SIMPLIFY
from tangentc.core.types import Type
from tangentc.decorated import Differentiable
from tangentc.derivative import Derivative
from tangentc.derive.docs import source_doc
from tangentc.errors import BadArgument
from tangentc.frontend.callables import plain_name


def export(f: Any, path: Any, *args: Any, bare: bool = False) -> Path:
    """Write an emitted function, and what it calls, to a module that imports only NumPy (or CuPy).

    ``f`` is what `grad`, `value_and_grad` or `adjoint` gave, or a decorated function, of which the gradient
    is written; a plain function is written itself, with the methods that it calls written out, and gives the same to
    the bit.  The types are those of ``args``, or of the last call.  With ``bare`` the module has classes of its own
    that hold fields, in place of importing the user's, of which a gradient may be.  Returns the path.  Raises
    `BadArgument` if there was no call and no arguments are given, or if the code refers to something that cannot be
    written into a module.

    >>> import tempfile, tangentc
    >>> def square(x):
    ...     return x * x
    >>> path = export(tangentc.grad(square), tempfile.mkdtemp() + "/square_grad.py", 2.0)
    >>> path.name
    'square_grad.py'
    """
    if not callable(f):
        raise BadArgument(
            f"{f!r} is no function", why="export writes functions, and what grad, value_and_grad or adjoint gave",
            way_out="export(tangentc.grad(f), path, *args)",
        )  # fmt: skip
    derivative = f.grad if isinstance(f, Differentiable) else f if isinstance(f, Derivative) else Itself(f)
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
    return write(path, text_of(derivative, compiled, bare))


def text_of(derivative: Derivative, compiled: Compiled, bare: bool = False) -> str:
    """The module for a derivative, which refuses arguments for which its text may not be right."""
    arrays = "cupy" if "cp" in compiled.text.bindings else "numpy"
    watch = kept_real if compiled.is_doubtful else None

    def written(types: list[Type]) -> Compiled:
        seed = types[-1] if compiled.seed is not None else None
        return derivative._compile(types[: len(compiled.types)], arrays, seed, watch=watch)

    types = [*compiled.types, *([] if compiled.seed is None else [compiled.seed])]
    if compiled.is_doubtful:
        compiled = written(types)
    live = {name: atom.lookup() for name, atom in compiled.live.items()}
    names = list(derivative.signature().parameters)
    made_for = checks(derivative.__name__, names, weakest(lambda types: written(types).text.whole, types))
    return module_text(compiled.text, live, derivative.__name__, made_for, bare)


class Itself(Derivative):
    """A function itself in emitted text, for the types it is called with: no derivative, but written out as one."""

    def __init__(self, function: Any):
        super().__init__(function, "itself", ())
        self.__name__ = self.function.__name__

    def said(self) -> str:
        return f"{self.function.__name__} itself.  Its emitted Python is `source_for(*args)`."

    def positions(self, types: list[Type]) -> tuple[tuple[int, ...], bool]:
        return (), False

    def _compile(self, *args: Any, **keywords: Any) -> Compiled:
        compiled = super()._compile(*args, **keywords)
        compiled.seeds = ()
        return compiled

    def write(self, context: Context, source: Any, types: list[Type], seed: Type | None) -> None:
        """Write the function by passes that change no operation, so that its results stay the same to the bit."""
        program = context.prepare(source, types)
        name = plain_name(self.function)
        context.names.add(name)
        function = replace(program.function, name=name, doc=source_doc(program, f"{name} itself."))
        done = context.simplify(function, program.types, source, [step for step in SIMPLIFY if step.name in EXACT])
        context.emitted.append((done, source))


EXACT = "copies", "dead", "checks"  # the passes that change no operation
