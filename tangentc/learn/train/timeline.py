"""What a run did when, as the JSON that Chrome, Perfetto and others show: one row a rank."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from typing import Any

ROWS = ("computing", "sending")


class Timeline:
    """Notes what begins and ends; the time counts from when it was made.

    >>> line = Timeline()
    >>> with line.span("update"):
    ...     pass
    >>> line.note("all_reduce", line.now(), parts=["weight"])
    >>> [(name, row) for name, row, *_ in line.events]
    [('update', 'computing'), ('all_reduce', 'sending')]
    """

    def __init__(self) -> None:
        self.begun = time.perf_counter()
        self.events: list[tuple[str, str, float, float, dict[str, Any]]] = []

    def now(self) -> float:
        return time.perf_counter() - self.begun

    @contextlib.contextmanager
    def span(self, name: str) -> Iterator[None]:
        """What is done in the context, under a name."""
        begun = self.now()
        try:
            yield
        finally:
            self.events.append((name, "computing", begun, self.now(), {}))

    def note(self, name: str, begun: float, **told: Any) -> None:
        """Something that went on beside the computation, and is over."""
        self.events.append((name, "sending", begun, self.now(), told))


def chrome(rows: list[list[tuple[str, str, float, float, dict[str, Any]]]]) -> str:
    """The events of all ranks as Chrome's trace format: a process for each rank, in it what is computed and what is
    sent (Trace Event Format, "complete" events; microseconds).

    >>> json.loads(chrome([[("update", "computing", 0.0, 0.5, {})]]))["traceEvents"][-1]["dur"]
    500000.0
    """
    out: list[dict[str, Any]] = []
    for rank, events in enumerate(rows):
        out.append({"ph": "M", "name": "process_name", "pid": rank, "tid": 0, "args": {"name": f"rank {rank}"}})
        for k, row in enumerate(ROWS):
            out.append({"ph": "M", "name": "thread_name", "pid": rank, "tid": k, "args": {"name": row}})
        for name, row, begun, ended, told in events:
            times = {"ts": 1e6 * begun, "dur": 1e6 * (ended - begun)}
            out.append({"ph": "X", "name": name, "pid": rank, "tid": ROWS.index(row), **times, "args": told})
    return json.dumps({"traceEvents": out, "displayTimeUnit": "ms"})
