"""A run in one process, in the words of one in several."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tangentc.learn import slope
from tangentc.learn.train import checkpoints


class Alone:
    """What `fit` asks of `learn.parallel.Communicator`, where there is one process."""

    is_first = True
    timeline: Any = None
    value_and_grad = staticmethod(slope.value_and_grad)

    def sharded(self, data: Any, evenly: bool = True) -> Any:
        return data

    def mean(self, value: float, count: int) -> tuple[float, int]:
        return value, count

    def sum(self, array: Any) -> Any:
        return array

    def settle(self, model: Any) -> None: ...

    def from_first(self, give: Callable[[], Any]) -> Any:
        return give()

    def broadcast(self, model: Any, state: Any) -> None: ...

    def rows(self, events: list) -> list[list]:
        """The events of all ranks."""
        return [events]


def write_timeline(path: Any, ranks: Any) -> None:
    """Write what all ranks noted, from the first one."""
    from tangentc.learn.train.timeline import chrome

    rows = ranks.rows(ranks.timeline.events)
    if ranks.is_first:
        checkpoints.written_atomically(Path(path), chrome(rows))
