"""A part of lowering: a class that knows one thing, and asks the others by the names of their methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tangentc.analysis.state import State
    from tangentc.core.nodes import Atom, Statement
    from tangentc.frontend.activation import Activation
    from tangentc.frontend.assumed import Sites
    from tangentc.frontend.questions import Questions


class Part:
    """What every part of `tangentc.frontend.lower.Lowering` may rely on; the rest it finds in the whole."""

    if TYPE_CHECKING:
        activation: Activation
        activations: int
        known: Sites
        asks: Questions
        state: State
        out: list[Statement]
        loops: list[Any]
        step: tuple[Any, ...]
        counted: list[tuple[Atom, int]]
        growing: dict[str, set[Any]]
        places: dict[Any, Any]
        iterators: set[Atom]
        unrolled: Any
        trying: Any
        gives_to: Any
        guarded: bool  # whether what is lowered stands in a `try`, whose handlers see what it raises

        def __getattr__(self, name: str) -> Any: ...
