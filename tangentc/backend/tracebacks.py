"""Errors of emitted code, with the line of the user's function that they belong to.

An error's type and message stay what they are; a note is added to it.
"""

from __future__ import annotations

import ast
import textwrap
import traceback
from types import FrameType

from tangentc.core import texts
from tangentc.errors import Span, TangentcError

SWEEPS = {
    "": "the primal sweep",
    "adjoint": "the adjoint sweep",
    "recalled": "the adjoint sweep",
    "tangent": "the tangent sweep",
}
MOST_SHAPES = 8


def locate(error: BaseException) -> None:
    """Note the sweep, and the user's file, line and text; where NumPy's error is about shapes, the shapes too.

    It is noted once, for the innermost emitted line that belongs to one of the user's.
    """
    if getattr(error, "__tangentc_located__", False) or isinstance(error, TangentcError) and error.span is not None:
        return
    found: tuple[FrameType, int, Span] | None = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        statement = texts.statement_of(frame.f_code.co_filename, line)
        span = getattr(statement, "span", None)
        if span is not None and span.line:
            found = frame, line, span
    if found is None:
        return
    frame, line, span = found
    note = f"tangentc: this is {SWEEPS[span.sweep]} of\n{place(span)}"
    if isinstance(error, (ValueError, IndexError)) and (shapes := _shapes(frame, line)):
        note += f"\nwhere {shapes}"
    error.add_note(note)
    error.__tangentc_located__ = True  # type: ignore[attr-defined]


def place(span: Span) -> str:
    """A line of the user's, as tracebacks write it."""
    return f'  File "{span.file}", line {span.line}, in {span.function}\n    {span.text.strip()}'


def _shapes(frame: FrameType, line: int) -> str:
    """``A is (3, 4), x is (3,)`` for the arrays that an emitted row names."""
    rows = texts.lines(frame.f_code.co_filename, frame.f_globals)
    row = textwrap.dedent(rows[line - 1]) if line <= len(rows) else ""
    for text in (row, row.rstrip().removesuffix(":").partition(" ")[2], f"({row.strip().rstrip(',')})"):
        try:
            tree = ast.parse(text)
            break
        except SyntaxError:
            continue
    else:
        return ""
    names = dict.fromkeys(n.id for n in ast.walk(tree) if isinstance(n, ast.Name))
    known = {**frame.f_globals, **frame.f_locals}
    shaped = [(n, known[n].shape) for n in names if isinstance(getattr(known.get(n), "shape", None), tuple)]
    return ", ".join(f"{n} is {shape}" for n, shape in shaped[:MOST_SHAPES])
