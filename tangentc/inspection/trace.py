"""Running a derivative and keeping what each of its statements computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tangentc.backend.tracebacks import locate
from tangentc.decorated import Differentiable
from tangentc.derivative import Derivative
from tangentc.errors import Span
from tangentc.watch.inside import inside
from tangentc.watch.nonfinite import ARGUMENT, NonFinite, entry_of, made_here
from tangentc.watch.summary import Summary
from tangentc.watch.tables import Shown, Table, number
from tangentc.watch.watcher import Line, Watched, Watcher, watched

FIRST, LAST = 2, 1  # the trips of a loop that a table shows
MOST_TRIPS = FIRST + LAST + 1


@dataclass(frozen=True)
class Row:
    """A statement that has run: what it is, the user's line it belongs to, which trip of each loop, what it made.

    ``value`` is a copy of what it made, if whole values are kept; ``parts`` are the names that took what it made apart,
    each with its own summary.
    """

    number: int
    sweep: str
    function: str
    row: int
    statement: str
    target: str
    span: Span
    trips: tuple[tuple[int, int], ...]
    summary: Summary
    value: Any = None
    parts: tuple[tuple[str, Summary], ...] = ()

    @property
    def line(self) -> int:
        """The number of the user's line, 0 if there is none."""
        return self.span.line

    @property
    def text(self) -> str:
        """The user's line."""
        return self.span.text.strip()


class Trace(Shown):
    """What a run of a derivative computed, statement by statement; see `trace`.

    ``rows`` has a `Row` for each statement that ran, ``result`` is what the derivative gave.
    """

    def __init__(self, name: str, rows: list[Row], loops: list[str], nonfinite: list[NonFinite], result: Any):
        self.name, self.rows, self.loops, self.nonfinite, self.result = name, rows, loops, nonfinite, result

    def __len__(self) -> int:
        return len(self.rows)

    def first_nonfinite(self) -> NonFinite | None:
        """Where the first NaN or infinity came from; None if every value is finite.

        An infinity that the program names, as in ``best = -np.inf``, is not one that it made.  ``nonfinite`` has all
        the places where one was made from finite values, in their order.
        """
        return self.nonfinite[0] if self.nonfinite else None

    def table(self) -> Table:
        """A row for each statement that ran; of a loop of many trips the first two and the last."""
        headings = ("", "sweep", "statement", "shape", "dtype", "least", "greatest", "norm", "NaN", "inf", "line", "of")
        table = Table(f"{self.name}: {len(self.rows)} statements", headings, numbers=frozenset({0, 5, 6, 7, 8, 9, 10}),
                      more=(11, 4), below=(3, 5, 6, 7, 8, 9))  # fmt: skip
        for row in folded(self.rows, self.loops):
            if isinstance(row, str):
                table.rows.append(row)
                continue
            s = row.summary
            if not s.is_finite:
                table.bad.add(len(table.rows))
            table.rows.append(
                (
                    str(row.number), row.sweep, shortened(row.statement, 60),
                    s.kind if s.shape is None else str(s.shape), s.dtype,
                    *("" if x is None else number(x) for x in (s.minimum, s.maximum, s.norm)),
                    str(s.nans or ""), str(s.infinities or ""), str(row.line or ""), shortened(row.text, 50),
                )
            )  # fmt: skip
        if self.nonfinite:
            table.notes.append(str(self.nonfinite[0]))
        return table


def shortened(text: str, width: int) -> str:
    """A text in one line of at most this width."""
    text = " ".join(text.split())
    return text if len(text) <= width else text[: width - 3] + "..."


def folded(rows: Sequence[Any], loops: Sequence[str], depth: int = 0) -> list[Any]:
    """Rows, with those of the inner trips of long loops replaced by a line that says how many they are.

    A row has in ``trips`` the number of each loop that it is in, with that of the trip.
    """
    out: list[Any] = []
    k = 0
    while k < len(rows):
        if len(rows[k].trips) <= depth:
            out.append(rows[k])
            k += 1
            continue
        loop = rows[k].trips[depth][0]
        trips: list[list[Any]] = []
        while k < len(rows) and len(rows[k].trips) > depth and rows[k].trips[depth][0] == loop:
            trip = rows[k].trips[depth][1]
            if trips and trip < trips[-1][-1].trips[depth][1]:
                break  # the same loop, begun again
            if trips and trip == trips[-1][-1].trips[depth][1]:
                trips[-1].append(rows[k])
            else:
                trips.append([rows[k]])
            k += 1
        shown = trips if len(trips) <= MOST_TRIPS else trips[:FIRST]
        for trip in shown:
            out += folded(trip, loops, depth + 1)
        if len(trips) > MOST_TRIPS:
            left = trips[FIRST:-LAST]
            count = sum(map(len, left))
            out.append(f"trips {FIRST + 1} to {len(trips) - LAST} of `{loops[loop]}`: {count:,} rows")
            for trip in trips[-LAST:]:
                out += folded(trip, loops, depth + 1)
    return out


class _Recorder(Watcher):
    def __init__(self, watched: Watched, keep: bool):
        super().__init__(watched)
        self.keep = keep
        self.rows: list[Row] = []
        self.nonfinite: list[NonFinite] = []

    def enter(self, line: int, *args: Any) -> None:
        if not self.frames:
            where = self.watched.lines[line]
            for name, value in zip(where.text.split(", "), args):
                row = self.add(where, value, ARGUMENT, f"argument {name}", name)
                if not row.summary.is_finite:
                    kind = "NaN" if row.summary.nans else "infinity"
                    self.nonfinite.append(NonFinite(kind, where, ARGUMENT, name, {}, entry_of(value)))
        super().enter(line, *args)

    def add(self, line: Line, value: Any, sweep: str, text: str, target: str) -> Row:
        from tangentc.runtime import copied

        trips = tuple((loop, trip) for loop, trip in self.path)
        kept = copied(value) if self.keep else None
        summary = Summary.of(value)
        parts: tuple[tuple[str, Summary], ...] = ()
        if target.startswith("(") and isinstance(value, tuple):
            names = target.strip("()").split(", ")
            parts = tuple((n, Summary.of(v)) for n, v in zip(names, value)) if len(names) == len(value) else ()
        row = Row(len(self.rows), sweep, line.function, line.row, text, target, line.span, trips, summary, kept, parts)
        self.rows.append(row)
        return row

    def ran(self, line: Line, value: Any) -> None:
        sweep = line.span.sweep or "primal"
        if not line.span.line and line.is_return and self.rows:
            sweep = "primal" if self.rows[-1].sweep in (ARGUMENT, "primal") else "adjoint"
        row = self.add(line, value, sweep, line.text, line.target)
        if not row.summary.is_finite and (found := made_here(self, line, value)) is not None:
            self.nonfinite.append(inside(found, self.scope))


def trace(f: Any, wrt: Any = 0, keep: bool = False) -> Callable[..., Trace]:
    """A function that runs the gradient of ``f`` and gives what each emitted statement computed, a `Trace`.

    ``f`` may be a function, a decorated one, or what `grad`, `value_and_grad` or `adjoint` gave, which brings its own
    ``wrt``.  With ``keep`` the whole values are kept, in ``Row.value``.  Raises what the gradient raises.

    >>> import numpy as np
    >>> def norm(x):
    ...     return np.sqrt(np.sum(x * x))
    >>> with np.errstate(all="ignore"):
    ...     found = trace(norm)(np.zeros(2)).first_nonfinite()
    >>> found.kind, found.sweep, found.operation
    ('infinity', 'adjoint', 'out_bar / np.sqrt(np.sum(x * x))')
    """
    derivative = of(f, wrt)

    def run(*args: Any, **keywords: Any) -> Trace:
        return traced(derivative, args, keywords, keep)

    return run


def of(f: Any, wrt: Any) -> Derivative:
    """The derivative that is looked at."""
    if isinstance(f, Differentiable):
        return f.grad
    return f if isinstance(f, Derivative) else Derivative(f, "grad", wrt)


def traced(derivative: Derivative, args: tuple, keywords: dict[str, Any], keep: bool) -> Trace:
    fitted = derivative.fitted(args, keywords)
    bound = fitted.bind(args, keywords)
    with fitted.as_run(bound):
        compiled = fitted.compiled(bound)
        compiled.sync(bound)
        marked = watched(compiled.text)
        recorder = _Recorder(marked, keep)
        function = recorder.function(compiled)
        try:
            result = function(*bound, *compiled.seeds)
        except Exception as error:
            locate(error)
            raise
    return Trace(function.__name__, recorder.rows, marked.loops, recorder.nonfinite, result)
