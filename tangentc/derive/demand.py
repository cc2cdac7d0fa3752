"""Which parts of a call's result have an adjoint, and of which parts of its arguments one comes back.

out, state = cell(x, state)        only state[0] is read later:
x_bar, state_0_bar = cell_adjoint(saved, out_bar, state_0_bar)
"""

from __future__ import annotations

from dataclasses import dataclass

from tangentc.analysis.paths import Path, Paths
from tangentc.core.build import Builder
from tangentc.core.nodes import Atom
from tangentc.derive.parts import Adjoint, get_part
from tangentc.errors import InternalError


@dataclass(frozen=True)
class Made:
    """A pair of functions: their names, whether the primal is pure, and the parts of which parameters, by their
    positions, that the adjoint gives the adjoints of."""

    primal: str
    adjoint: str
    pure: bool
    given: tuple[tuple[int, Path], ...]


def part_at(b: Builder, x: Atom, path: Path) -> Atom:
    for key in path:
        x = get_part(b, x, key)
    return x


def adjoint_at(b: Builder, adjoint: Adjoint | None, path: Path) -> Adjoint | None:
    """The adjoint of a part, None if it has none."""
    for key in path:
        if adjoint is None:
            return None
        adjoint = adjoint.get(key) if isinstance(adjoint, dict) else get_part(b, adjoint, key)
    return adjoint


def as_tree(paths: Paths, adjoints: list[Atom]) -> Adjoint:
    """The adjoint of a container by those of its parts."""
    tree: Adjoint = {}
    for path, adjoint in zip(paths, adjoints, strict=True):
        if not path:
            return adjoint
        inner = tree
        for key in path[:-1]:
            inner = inner.setdefault(key, {})  # type: ignore[assignment]
        inner[path[-1]] = adjoint  # type: ignore[index]
    return tree


def covers(adjoint: Adjoint | None, paths: Paths, path: Path = ()) -> None:
    """Make sure that every adjoint that a part of a value has is one that is handed on."""
    if isinstance(adjoint, dict):
        for key, part in adjoint.items():
            covers(part, paths, (*path, key))
    elif adjoint is not None and not any(p[: len(path)] == path[: len(p)] for p in paths):
        raise InternalError(f"the adjoint of the part {path} of a result is not handed on")
