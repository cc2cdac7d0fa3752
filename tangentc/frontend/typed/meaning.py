"""The table of what operations mean: a method under `means` rewrites the statements of an operation by types.

It gives the statements that stand for one, or None if it is like any other here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tangentc.core.nodes import Atom, Global, Statement
from tangentc.core.types import Sequence

if TYPE_CHECKING:
    from tangentc.core.nodes import Function

Meaning = Callable[[Any, Any], tuple[Statement, ...] | None]
MEANINGS: dict[Any, Meaning] = {}


def means(*operations: Any) -> Callable[[Meaning], Meaning]:
    """What statements of these operations mean, as the decorated method says."""

    def write(meaning: Meaning) -> Meaning:
        MEANINGS.update(dict.fromkeys(operations, meaning))
        return meaning

    return write


class Part:
    """What every part of `tangentc.frontend.specialise.Specialise` may rely on."""

    if TYPE_CHECKING:
        function: Function
        types: Any
        fresh: Callable[[str], str]
        definitions: dict[str, Any]
        same: dict[str, str]
        narrowed: dict[str, str]
        aliases: Any
        classes: dict[str, set[str]]

        def __getattr__(self, name: str) -> Any: ...


def plain(atom: Atom) -> str:
    """A name as the user may have written it."""
    if isinstance(atom, Global):
        return atom.name
    return atom.lstrip("%").split(".")[0] if isinstance(atom, str) else "value"


def is_dynamic_dict(t: Any) -> bool:
    """Whether a value is a dict of which nobody says which keys it has."""
    return isinstance(t, Sequence) and t.kind is dict
