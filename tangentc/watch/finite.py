"""Gradients that stop at the first adjoint that is not finite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tangentc.errors import NotFinite
from tangentc.watch.inside import inside
from tangentc.watch.nonfinite import NonFinite, made_here
from tangentc.watch.watcher import NAN, Line, Watched, Watcher, state_of, watched

if TYPE_CHECKING:
    from tangentc.compiled import Compiled


class _Finite(Watcher):
    def __init__(self, watched: Watched):
        super().__init__(watched)
        self.earlier: NonFinite | None = None  # where the primal sweep made the first one

    def ran(self, line: Line, value: Any) -> None:
        if not (state := state_of(value)):
            return
        found = made_here(self, line, value)
        found = inside(found, self.scope) if found is not None else None
        if line.span.sweep != "adjoint":
            self.earlier = self.earlier or found
            return
        reasons = [found.reason] if found is not None else []
        if (first := self.earlier) is not None:
            reasons.append(
                f"the primal sweep made the first value that is not finite in line {first.line}: {first.reason}"
            )
        why = "; ".join(reasons) or "an argument, or a number that the function names, is not finite"
        raise NotFinite(
            f"an adjoint is {'NaN' if state == NAN else 'infinite'}, after {line.text}", line.span,
            why=why, way_out="look at all values with tangentc.trace(f)(*args)",
        )  # fmt: skip


def checked(compiled: Compiled, args: tuple[Any, ...]) -> Any:
    """Run a derivative.  Raises `NotFinite` at the first statement of the adjoint sweep whose value is not finite."""
    return _Finite(watched(compiled.text)).function(compiled)(*args, *compiled.seeds)
