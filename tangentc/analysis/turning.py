"""Functions of real numbers that give complex ones for some of them: ``x ** 0.5`` of a Python float, ``sqrtm``.

Which it is only the run knows.  Code is compiled for real numbers first.  When they turn out to be complex, which is
seen by an adjoint or a tangent that is, the function is compiled again with all such results complex.
"""

from __future__ import annotations

import builtins
import contextlib
import operator
import warnings
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tangentc import runtime
from tangentc.core.build import Types
from tangentc.core.nodes import Assign, Const, Effect, Function, Op, Statement
from tangentc.core.types import Array, Known, Scalar, Type, is_complex
from tangentc.core.walk import statements, transform
from tangentc.errors import TurnedComplex
from tangentc.ops.table import every

if TYPE_CHECKING:
    from tangentc.analysis.program import Program

COMPLEX: ContextVar[bool] = ContextVar("complex_results", default=False)
OF_MATRICES = every("turns_complex")


def are_complex() -> bool:
    """Whether results that may be complex are taken to be."""
    return COMPLEX.get()


@contextlib.contextmanager
def complex_results() -> Iterator[None]:
    """Compile with all results complex that may be."""
    token = COMPLEX.set(True)
    try:
        yield
    finally:
        COMPLEX.reset(token)


@contextlib.contextmanager
def seen_to_turn(doubtful: bool) -> Iterator[None]:
    """Run code that is ``doubtful``: a complex number stored into a real array is one that has turned out to be."""
    if not doubtful:
        yield
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        try:
            yield
        except np.exceptions.ComplexWarning:
            raise TurnedComplex(
                "a real number is a complex one in the run", why="a negative Python float has complex roots",
                way_out="give it a complex number, x + 0j",
            ) from None  # fmt: skip


def may_turn(op: Op, args: Sequence[Type]) -> bool:
    """Whether an operation on real numbers may give a complex one."""
    if op in (operator.pow, builtins.pow) and len(args) == 2:
        x, p = args
        plain = isinstance(x, Scalar) and x.weak or isinstance(x, Known) and type(x.value) in (int, float)
        if not plain or isinstance(x, Known) and x.value >= 0:
            return False
        if isinstance(p, Known):
            return type(p.value) is float and not p.value.is_integer()
        return isinstance(p, Scalar) and p.weak and p.dtype == "float64"
    return op in OF_MATRICES and isinstance(args[0], Array) and not is_complex(args[0])


def refuse_parts(function: Function, types: Types, s: Statement) -> None:
    """Refuse to take the imaginary part of a real array, where it may be complex in the run."""
    if not are_complex() and is_doubtful(function, types):
        raise TurnedComplex(
            "the imaginary part of a function of a real matrix is taken", s.span, why="it was compiled for real ones",
            way_out="give it the matrix as complex numbers, A + 0j",
        )  # fmt: skip


def kept_real(program: Program) -> Function:
    """A program that raises where a result that it was compiled for as real is complex."""

    def checked(s: Statement) -> tuple[Statement, ...]:
        if isinstance(s, Assign) and _may_turn(s, program.types):
            return s, Effect(runtime.require_real, (s.target,), (), s.span)
        return (s,)

    return replace(program.function, body=transform(program.function.body, checked))


def is_doubtful(function: Function, types: Types) -> bool:
    """Whether a program was compiled with a result real that may turn out to be complex."""
    own = (s for s in statements(function.body) if isinstance(s, Assign))
    return any(s.op is runtime.real_power or _may_turn(s, types) for s in own)


def _may_turn(s: Assign, types: Types) -> bool:
    if s.op not in (operator.pow, builtins.pow) and s.op not in OF_MATRICES:
        return False
    return may_turn(s.op, [Known(a) if isinstance(a, Const) else types.of(a) for a in s.args])
