"""Functions that are computed again in the adjoint sweep, in place of saving what they compute."""

from __future__ import annotations

import types
import weakref
from collections.abc import Callable
from typing import Any

from tangentc.core.nodes import Atom, Const
from tangentc.core.remade import CHECKPOINT, CHECKPOINTED
from tangentc.errors import BadArgument
from tangentc.frontend.forms import Call, means

_MADE: weakref.WeakKeyDictionary[Callable[..., Any], Callable[..., Any]] = weakref.WeakKeyDictionary()


def checkpoint(f: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, of which a derivative keeps the arguments of each call, and nothing of what it computes.

    The adjoint sweep runs it again (A. Griewank and A. Walther, Evaluating Derivatives, 2nd edition, chapter 12): a
    call costs one run more, and the memory of its arguments.  ``f`` is a function of Python that changes nothing and
    draws no random numbers.  Raises `BadArgument` if it is no function; a derivative refuses what changes something.

    >>> import numpy as np, tangentc
    >>> @tangentc.checkpoint
    ... def step(x):
    ...     return x + 0.1 * np.sin(np.exp(x))
    >>> def run(x):
    ...     for _ in range(3):
    ...         x = step(x)
    ...     return x
    >>> print(tangentc.grad(run).source_for(1.0).split("def run_grad")[1])  # doctest: +ELLIPSIS
    (x, out_bar=1.0):
    ...
            x_saved.append(x)
            x = step(x)
    ...
            x_bar = step_adjoint(x, x_bar)  # x = step(x)
        return x_bar
    <BLANKLINE>
    """
    if isinstance(f, types.MethodType):
        return types.MethodType(checkpoint(f.__func__), f.__self__)
    if not isinstance(f, types.FunctionType):
        raise BadArgument(
            f"checkpoint is given {f!r}", why="it is made of a function whose text is run again",
            way_out="write a function that calls it, and checkpoint that one",
        )  # fmt: skip
    if f not in _MADE:
        made = types.FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
        made.__kwdefaults__, made.__annotations__ = f.__kwdefaults__, f.__annotations__
        made.__doc__, made.__module__, made.__qualname__ = f.__doc__, f.__module__, f.__qualname__
        made.__dict__.update({**f.__dict__, CHECKPOINT: True})
        _MADE[f] = made
    return _MADE[f]


CHECKPOINTED.append(checkpoint)


@means(checkpoint)
def _checkpoint(lower: Any, call: Call) -> Atom:
    function = call.args[0].value if len(call.args) == 1 and isinstance(call.args[0], Const) else None
    if not isinstance(function, types.FunctionType):
        raise lower.unsupported(
            call.node, "`checkpoint` of what is no function of the module", "define the function outside, with def"
        )
    return Const(checkpoint(function))
