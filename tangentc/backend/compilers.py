"""What compiles an emitted function: the decorators above it, and the lines that make them."""

from __future__ import annotations

from collections.abc import Iterable

NUMBA = {  # division by zero as NumPy has it; nothing is added up in another order than it is written in
    "kernel": 'numba.njit(error_model="numpy")',
    "checked_kernel": 'numba.njit(error_model="numpy", boundscheck=True)',
    "parallel_kernel": 'numba.njit(error_model="numpy", parallel=True)',
}


def compilers(decorators: Iterable[str]) -> tuple[str, ...]:
    """The rows of a text that make the decorators of its functions."""
    used = set(decorators)
    rows = [f"{name} = {made}" for name, made in NUMBA.items() if name in used]
    return ("import numba", "", *rows) if rows else ()
