"""A run in one process, in the words of one in several."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from tangentc.learn import slope
from tangentc.learn.train import checkpoints
from tangentc.learn.train.timeline import Timeline, chrome


class Alone:
    """What `fit` asks of `learn.parallel.Communicator`, where there is one process."""

    is_first = True
    timeline: Timeline | None = None
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

    def gather(self, events: list) -> Any:
        return [events]

    @contextlib.contextmanager
    def noting(self, path: Any) -> Iterator[None]:
        """Note what happens in the context, and write it behind it, that of all ranks, unless there is no ``path``."""
        self.timeline = line = None if path is None else Timeline()
        try:
            yield
        finally:
            self.timeline = None
        if line is not None and (rows := self.gather(line.events)) is not None:
            checkpoints.written_atomically(path, chrome(rows))
