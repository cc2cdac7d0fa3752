"""What stands in the docstring of an emitted function."""

from __future__ import annotations

from tangentc.analysis.program import Program
from tangentc.core.types import SETTINGS, Known


def source_doc(program: Program, what: str) -> str:
    span = program.function.span
    place = f'"{_short(span.file)}", line {span.line}'
    known = ((p.name, program.types.of(p.name)) for p in program.function.params)
    settings = [f"{n}={t.value!r}" for n, t in known if isinstance(t, Known) and type(t.value) in SETTINGS]
    written_for = f"  This code is for {with_respect_to(settings)}." if settings else ""
    return f"{what}\n\n{program.function.name} stands in {place}.{written_for}\n"


def _short(path: str) -> str:
    return path.replace("\\", "/").rsplit("/", 1)[-1]


def with_respect_to(names: list[str]) -> str:
    return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else names[0]


def parameters(program: Program) -> list[str]:
    return [p.name for p in program.function.params]
