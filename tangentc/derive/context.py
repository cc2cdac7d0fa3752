"""What the writers of derivatives ask of the compilation that they are a part of."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from types import FunctionType
from typing import Protocol

from tangentc.analysis.masks import Mask, Unbounded
from tangentc.analysis.outside import Part, Written
from tangentc.analysis.program import Pass, Program
from tangentc.analysis.recording import Prices
from tangentc.analysis.types import Types
from tangentc.core.nodes import Atom, Function, Op
from tangentc.core.types import Type
from tangentc.derive.demand import Made

Key = tuple[Hashable, ...]
Defined = tuple[FunctionType, tuple[object, ...], bool]  # a definition, what it is given first, whether it is a method


class Context(Protocol):
    """What was prepared, and what was written for it: `tangentc.compiler.context.Context`."""

    steps: tuple[Pass, ...]
    pairs: dict[Key, Made]
    adjoints: dict[Key, str]
    tangents: dict[Key, tuple[str, bool]]
    emitted: list[tuple[Program, FunctionType]]
    chooses: bool
    inner: bool
    ready: tuple[Op, ...]
    prices: Prices
    put: set[Written]
    changed: set[Written]
    read: set[Part]

    def prepare(self, function: FunctionType, types: Sequence[Type], /) -> Program: ...
    def key(self, function: FunctionType, types: Sequence[Type], /) -> Key: ...
    def with_facts(self, function: Function, types: Types, source: FunctionType, /) -> Program: ...
    def with_calls_written_out(self, program: Program, calls: Mapping[int, Defined | None], /) -> Program: ...
    def observe(self, name: str, does: str, function: Function, types: Types | None, /) -> None: ...
    def recomputes(self, function: FunctionType, types: list[Type]) -> bool: ...
    def simplify(self, f: Function, types: Types, of: FunctionType, steps: Sequence[Pass] = ..., /) -> Program: ...
    def after(self, program: Program, step: Pass) -> Program: ...
    def masks(self, program: Program, chosen: bool | str) -> dict[str, Mask]: ...
    def unbounded(
        self, program: Program, wrt: set[str], chosen: bool | str, moving: Collection[Atom]
    ) -> Unbounded: ...  # fmt: skip
    def unique_name(self, name: str) -> str: ...
