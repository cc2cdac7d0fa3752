"""Emitted code with what is known of it: the type of each value, and how the adjoint sweep comes by the primal's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tangentc.backend.load import Text
from tangentc.core import ops
from tangentc.core.lengths import Dim, actual
from tangentc.core.nodes import Assign, Effect, For, Statement, version_base
from tangentc.core.types import Array, Known, Scalar, Tuple, Type, Unknown, describe

WRITTEN = re.compile(r"^\s*(?:for )?([A-Za-z_]\w*(?:, [A-Za-z_]\w*)*)(?: [-+*/@]?= | in )")
SHORT = {"float": "f", "int": "i", "uint": "u", "complex": "c", "bool": "bool"}


def annotated(text: Text, sizes: Mapping[str, int]) -> str:
    """The text, with a comment beside each line that makes a value: ``# h: f64[64, 50]``, and beside each that saves
    one or computes it again the reason.  ``sizes`` are the lengths that symbols stand for."""
    rows = text.whole.split("\n")
    for number, told in notes(text, sizes).items():
        row, together = rows[number - 1], "; ".join(told)
        span = getattr(text.of[number], "span", None)
        comment = "  # " + span.quoted if span is not None else ""
        if comment and row.endswith(comment):
            rows[number - 1] = f"{row.removesuffix(comment)}  # {together}{comment}"
        else:
            rows[number - 1] = f"{row}  # {together}"
    return "\n".join(rows)


def notes(text: Text, sizes: Mapping[str, int]) -> dict[int, list[str]]:
    """For the number of a row what is known of what it makes."""
    rows = text.whole.split("\n")
    out: dict[int, list[str]] = {}
    for number, row in enumerate(rows, 1):
        s = text.of.get(number)
        if s is None or text.of.get(number - 1) is s:
            continue
        if told := list(_notes(s, row, text.types[number], sizes)):
            out[number] = told
    return out


def _notes(s: Statement, row: str, types: Any, sizes: Mapping[str, int]) -> Iterator[str]:
    name = s.target if isinstance(s, Assign) or isinstance(s, For) and row.lstrip().startswith("for ") else ""
    t = types.of_name.get(name)
    written = WRITTEN.match(row)
    names = [] if written is None or t is None else written.group(1).split(", ")
    parts = (t,) if len(names) == 1 else t.items if isinstance(t, Tuple) else ()
    for one, part in zip(names, parts):  # type: ignore[arg-type]
        if not isinstance(part, (Unknown, Known)):
            yield f"{one}: {brief(part, sizes)}"
    reasons = types.reasons
    if isinstance(s, Effect) and s.op is ops.push:
        yield reasons.get(s.args[0], "saved")
    elif isinstance(s, Assign) and s.op is ops.pop and s.args[0] in reasons:
        yield "popped"
    elif name in reasons:
        yield reasons[name]
    elif version_base(name).endswith("_saved") and not (isinstance(s, Assign) and s.op is ops.new_list):
        yield "saved: it is overwritten"


def brief(t: Type, sizes: Mapping[str, int]) -> str:
    """``f64[64, 50]``, ``f32``, ``float``; what is no number or array as messages describe it."""
    if isinstance(t, Array):
        return f"{_short(t.dtype)}[{', '.join(_length(d, sizes) for d in t.shape)}]"
    return _short(t.dtype) if isinstance(t, Scalar) and not t.weak else describe(t)


def _short(dtype: Any) -> str:
    kind, bits = re.match(r"([a-z]+)(\d*)", str(dtype)).groups()  # type: ignore[union-attr]
    return f"{SHORT.get(kind, kind)}{bits}"


def _length(d: Dim, sizes: Mapping[str, int]) -> str:
    found = actual(d, sizes)
    return "?" if found is None else str(found)
