"""Derivatives, as rooms name them that stand below the one where they are made.

A definition takes a gradient (the step of Newton's method) or a Jacobian, and the front makes the derivatives that a
user's function takes inside.  What they are is put here by `tangentc.api` and `tangentc.derivative`.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

MADE: dict[str, Any] = {}  # the user's functions by name, and the class "Derivative"


class Made:
    """A derivative of a user's function: the class of what `grad` gives."""

    function: FunctionType
    kind: str
    wrt: int | str | tuple[int | str, ...]
    has_aux: bool


def grad(*args: object, **options: object) -> Any:
    """`tangentc.grad`."""
    return MADE["grad"](*args, **options)


def vjp(*args: object, **options: object) -> Any:
    """`tangentc.vjp`."""
    return MADE["vjp"](*args, **options)


def jvp(*args: object, **options: object) -> Any:
    """`tangentc.jvp`."""
    return MADE["jvp"](*args, **options)


for _function in (grad, vjp, jvp):  # what they mean inside a function that is differentiated
    _function.__tangentc_kind__ = _function.__name__  # type: ignore[attr-defined]
