"""Blocks that run in the adjoint sweep."""

from __future__ import annotations

import sys
from typing import Any


class _Skipped(Exception):
    """The block of a plain run is left out."""


class insert_grad_of:
    """A block for the adjoint sweep, at the place of the adjoint of ``x``.

    Where the function runs as it is, the block of ``with insert_grad_of(x) as x_bar:`` is left out.  In a gradient it
    runs in the adjoint sweep, in loops once for each trip, when the adjoint of ``x`` at this place is complete:
    ``x_bar`` is a copy of it, and what the block leaves in ``x_bar`` takes its place.  A block may print, stop in a
    debugger, clip, or replace.  ``x`` is a variable.  Forward mode, and derivatives of the gradient, take no notice
    of it.

    >>> import tangentc
    >>> def f(x):
    ...     y = x * x
    ...     with insert_grad_of(y) as y_bar:
    ...         print("the adjoint of y is", y_bar)
    ...         y_bar = min(y_bar, 2.0)
    ...     return y * y
    >>> f(3.0)
    81.0
    >>> tangentc.grad(f)(3.0)
    the adjoint of y is 18.0
    12.0
    """

    __tangentc_inserts__ = True

    def __init__(self, x: Any):
        self.x = x

    def __enter__(self) -> None:
        frame = sys._getframe(1)
        self._before = sys.gettrace(), frame.f_trace, frame.f_trace_opcodes
        self._frame = frame
        sys.settrace(lambda *_: None)
        frame.f_trace_opcodes = True
        frame.f_trace = self._skip

    def _skip(self, frame: Any, event: str, arg: Any) -> Any:
        raise _Skipped

    def __exit__(self, kind: Any, value: Any, where: Any) -> bool:
        trace, self._frame.f_trace, self._frame.f_trace_opcodes = self._before
        sys.settrace(trace)
        del self._frame
        return kind is _Skipped
