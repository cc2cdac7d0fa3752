"""Where a NaN or an infinity comes from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tangentc.backend.tracebacks import SWEEPS, place
from tangentc.core.values import is_array
from tangentc.watch.summary import brief
from tangentc.watch.watcher import INFINITE, NAN, Line, Watcher, state_of

ARGUMENT = "argument"
KINDS = {INFINITE: "infinity", NAN: "NaN"}


@dataclass(frozen=True)
class NonFinite:
    """Where a NaN or an infinity was made: the statement, the operation in it, and what that was given.

    ``operands`` has the value of each operand, of an array the one entry at ``entry`` if the operation takes entry by
    entry.  ``trips`` are the trips of the loops that it was made in, each with the loop's text.
    """

    kind: str
    where: Line
    sweep: str
    operation: str
    operands: dict[str, Any]
    entry: tuple[int, ...] = ()
    trips: tuple[tuple[str, int], ...] = ()
    whole: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)  # the operands, all of each

    @property
    def statement(self) -> str:
        """The emitted statement."""
        return self.where.text

    @property
    def line(self) -> int:
        """The number of the user's line."""
        return self.where.span.line

    @property
    def text(self) -> str:
        """The user's line."""
        return self.where.span.text.strip()

    @property
    def reason(self) -> str:
        """The operation with its operands: ``1 / y, where y = 0``."""
        given = ", ".join(f"{name} = {brief(v)}" for name, v in self.operands.items() if name != brief(v))
        return f"{self.operation}, where {given}" if given else self.operation

    def __str__(self) -> str:
        at = f" at entry {', '.join(map(str, self.entry))}" if self.entry else ""
        if self.sweep == ARGUMENT:
            return f"{self.kind} in the argument {self.operation}{at}"
        lines = [
            f"{self.kind} made in {SWEEPS[self.where.span.sweep]}{at}",
            f"  {self.statement}    ({self.where.function}, row {self.where.row})",
            f"  {self.reason}",
        ]
        lines += [f"  in trip {trip + 1} of `{loop}`" for loop, trip in self.trips]
        if self.where.span.line:
            lines.append(f"of\n{place(self.where.span)}")
        return "\n".join(lines)


def made_here(watcher: Watcher, line: Line, value: Any) -> NonFinite | None:
    """The operation in a statement that made a NaN or an infinity of finite values, or a NaN of an infinity."""
    trips = tuple((watcher.watched.loops[loop], trip) for loop, trip in watcher.path)
    sweep = line.span.sweep or "primal"
    if watcher.born is not None:
        site, made, operands = watcher.born
        entry = entry_of(made)
        shown = {text: _at(operand, entry, made, site.entrywise) for text, operand in operands.items()}
        return NonFinite(KINDS[state_of(made)], line, sweep, site.text, shown, entry, trips, operands)
    if line.in_place and watcher.was_finite and not any(watcher.states[k] for k in line.sites):
        return NonFinite(KINDS[state_of(value)], line, sweep, line.text, {}, entry_of(value), trips)
    return None


def entry_of(value: Any) -> tuple[int, ...]:
    """Where the first entry stands that is not finite."""
    if not is_array(value) or not value.ndim:
        return ()
    bad = np.argwhere(~np.isfinite(value.get() if not isinstance(value, np.ndarray) else value))
    return tuple(int(k) for k in bad[0]) if len(bad) else ()


def _at(operand: Any, entry: tuple[int, ...], made: Any, entrywise: bool) -> Any:
    """The entry of an operand that an elementwise operation takes; the operand itself if it is not one."""
    if is_array(operand) and entry and (entrywise or operand.shape == getattr(made, "shape", None)):
        skipped = len(entry) - operand.ndim
        return operand[tuple(k if n > 1 else 0 for k, n in zip(entry[skipped:], operand.shape))]
    return operand
