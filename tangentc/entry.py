"""A derivative as a function that other code calls which Numba compiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tangentc.backend.export import with_checks
from tangentc.backend.load import load, print_program
from tangentc.compiler.context import Context
from tangentc.compiler.guards import checks, weakest
from tangentc.core.types import Type
from tangentc.errors import UnsupportedSyntax

if TYPE_CHECKING:
    from tangentc.derivative import Derivative


def jitted(derivative: Derivative, args: tuple) -> Any:
    """The whole emitted text for arguments of these types, compiled: a function of Numba, with one signature.

    Raises `UnsupportedSyntax` where Numba has no words for some of the text.
    """
    import numba

    compiled = derivative.compiled(args)
    types = compiled.types if compiled.seed is None else [*compiled.types, compiled.seed]
    names = list(derivative.signature().parameters)

    def written(types: list[Type]) -> Context:
        return context_of(derivative, types)

    made_for = weakest(lambda types: print_program(all_compiled(written(types))).whole, types)
    tests = checks(derivative.__name__, names, made_for, typed=True)
    context = written(types)
    text = print_program(all_compiled(context))
    function: Any = load(replace(text, text=with_checks(text.text, tests)), derivative.function.__module__)
    function.py_func.__globals__.update({name: atom.lookup() for name, atom in text.live.items()})
    signature = tuple(map(numba.typeof, args))
    try:
        function.get_call_template(signature, {})
    except numba.core.errors.NumbaError as error:
        raise _refused(derivative, context, str(error)) from None
    function.disable_compile()
    return function


def context_of(derivative: Derivative, types: Sequence[Type]) -> Context:
    """The compilation for these types."""
    types = list(types)
    seed = types.pop() if derivative.kind == "adjoint" else None
    return derivative._context(derivative.resolve(types), types, "numpy", seed)


def all_compiled(context: Context) -> list[Any]:
    """What was emitted, each function of it with a compiler."""
    return [(replace(program, decorator=program.decorator or "kernel"), source) for program, source in context.emitted]


def _refused(derivative: Derivative, context: Context, said: str) -> UnsupportedSyntax:
    """What to say where Numba does not take the text."""
    left = [(s.span, why) for s, why in context.left.items() if s.span.line]
    rows = [row.strip() for row in said.splitlines() if row.strip()]
    why = f"a loop is NumPy's: {left[0][1]}" if left else f"Numba says: {rows[0] if len(rows) < 2 else rows[1]}"
    return UnsupportedSyntax(
        f"{derivative.__name__} cannot be compiled as a whole", left[0][0] if left else None, why=why,
        way_out="call the derivative itself, which is NumPy's where it has to be",
    )  # fmt: skip
