"""Derivatives, as rooms name them that stand below the one where they are made.

A definition takes a gradient (the step of Newton's method) or a Jacobian, and the front makes the derivatives that a
user's function takes inside.  What they are is put here by `tangentc.api` and `tangentc.derivative`.
"""

from __future__ import annotations

from types import FunctionType, MethodType
from typing import Any

from tangentc.core.remade import again, travelling

MADE: dict[str, Any] = {}  # the user's functions by name, and the class "Derivative"


class Made:
    """A derivative of a user's function: the class of what `grad` gives."""

    function: FunctionType
    given: Any
    kind: str
    wrt: int | str | tuple[int | str, ...]
    has_aux: bool
    check: str | None
    memory: int | str | None
    kernels: Any
    threads: Any

    def fitted(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """The derivative for a call that gives ``*args`` or ``**kwargs``."""
        raise NotImplementedError

    def __reduce__(self) -> Any:
        asked = self.kind, self.wrt, self.has_aux, self.check, self.memory, self.kernels, self.threads
        return again, (type(self), travelling(self.given), *asked)

    def said(self) -> str:
        """What `help` says it is."""
        wrt = self.wrt if isinstance(self.wrt, tuple) else (self.wrt,)
        names = " and ".join(f"parameter {w}" if isinstance(w, int) else str(w) for w in wrt)
        what = {"value_and_grad": "value and the gradient", "grad": "gradient"}.get(self.kind, self.kind)
        return (
            f"The {what} of {self.function.__name__} with respect to {names}: a function of the same parameters.\n"
            "Its emitted Python is `source_for(*args)`."
        )


def undecorated(function: Any, name: str = "__tangentc_function__") -> Any:
    """What was decorated, bound as the decorated function is: a method passes on what its function has."""
    inner = getattr(function, name, function)
    return MethodType(inner, function.__self__) if isinstance(function, MethodType) and inner is not function else inner


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
