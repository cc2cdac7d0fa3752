"""`Loader`: the batches of an epoch, shuffled by a seed, shared out to ranks, made ahead, and resumed."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from tangentc.errors import BadArgument
from tangentc.learn.data import workers as pools
from tangentc.learn.data.making import Recipe, Task, order
from tangentc.learn.data.prefetching import prefetched
from tangentc.learn.data.sources import Rows, source_of

LASTS = "keep", "drop", "pad"


class Loader:
    """The batches of some data: each loop over it is an epoch.

    ``data`` are an array, a tuple, a dict or an object of arrays of one length, whose rows are the samples, or a list
    or whatever else has a length and gives samples by number; these are stacked, as trees of arrays.  ``batch`` is how
    many samples a batch has.  With ``shuffle`` their order depends on the seed and on the number of the epoch alone.
    ``last`` says what becomes of a last batch that is smaller: it is kept, dropped, or filled up by the first samples
    of the epoch.  With "pad" the loop gives pairs ``(batch, real)``, where ``real`` is a bool array of shape (batch,),
    False for a row that fills up.  Batches are copies, and may be changed in place.

    >>> loader = Loader((np.arange(10.0), np.arange(10)), batch=4, shuffle=True, seed=0)
    >>> for x, y in loader:
    ...     print(x, y)
    [1. 7. 9. 0.] [1 7 9 0]
    [6. 4. 5. 8.] [6 4 5 8]
    [2. 3.] [2 3]
    >>> len(loader), loader.state()["epoch"]
    (3, 1)
    """

    def __init__(self, data: Any, batch: int, shuffle: bool = False, seed: int = 0, last: str = "keep"):
        self._source = source_of(data)
        self.batch, self.seed = _count(batch, "batch", 1), _count(seed, "seed", 0)
        self.shuffle, self.last = bool(shuffle), last
        if last not in LASTS:
            raise BadArgument(
                f"last={last!r} is not known", why="a last batch is kept, dropped or filled up",
                way_out='say "keep", "drop" or "pad"',
            )  # fmt: skip
        self._maps: tuple[Callable[..., Any], ...] = ()
        self._workers, self._by, self._ahead = 0, "threads", 0
        self._rank, self._of = 0, 1
        self._at, self._is_begun, self._turn = (0, 0), False, 0
        if len(self) == 0:
            raise BadArgument(
                f"there are {len(self._source)} samples for batches of {batch}", why='the only batch is dropped',
                way_out='make batches smaller, or say last="keep"',
            )  # fmt: skip

    def __len__(self) -> int:
        """How many batches an epoch has."""
        whole, rest = divmod(len(self._source), self.batch)
        return whole + (rest > 0 and self.last != "drop")

    # ---------------------------------------------------------- other loaders of the same data
    def map(self, f: Callable[..., Any] | None, workers: int = 0, by: str = "threads") -> Loader:
        """A loader of what ``f`` gives for each sample, a tuple for data in a tuple; None is the sample itself.

        If ``f`` has a parameter ``rng``, it is given a generator of its own for each sample, which depends on the seed,
        the epoch and the number of the sample.  ``workers`` threads or processes make batches ahead, which do not
        change by that.  Threads do for what releases Python's lock, as NumPy and reading files do.  What processes run
        is to be importable, and a list of samples is sent to each of them.  An error is raised in the loop as
        `BadSample`, with the number of the sample, and the death of a process as `WorkerDied`.

        >>> def noisy(sample, rng):
        ...     return sample + rng.normal(size=sample.shape)
        >>> loader = Loader(np.zeros((4, 2)), batch=4)
        >>> pairs = zip(loader.map(noisy), loader.map(noisy, workers=2))
        >>> all(np.array_equal(a, b) for a, b in pairs)
        True
        """
        pools.check(workers, by)
        maps = self._maps if f is None else (*self._maps, f)
        return self._with(_maps=maps, _workers=workers, _by=by, _ahead=max(self._ahead, 2 if workers else 0))

    def prefetch(self, count: int) -> Loader:
        """A loader whose batches a thread makes ahead, ``count`` at most; with workers there are two without saying so.

        >>> list(Loader(np.arange(4), batch=2).prefetch(2))
        [array([0, 1]), array([2, 3])]
        """
        return self._with(_ahead=_count(count, "count", 0))

    def shard(self, rank: int, of: int) -> Loader:
        """The loader of one of several processes: of each batch the rows that are its own, the same count for each.

        Put together in the order of the ranks they are the batch of one process.  The state is that of all of them.
        Raises `BadArgument` if a batch has no equal parts.

        >>> [[rows.tolist() for rows in Loader(np.arange(8), batch=4).shard(rank, of=2)] for rank in (0, 1)]
        [[[0, 1], [4, 5]], [[2, 3], [6, 7]]]
        """
        if not 0 <= rank < of:
            raise BadArgument(f"rank {rank} of {of} is none", why=f"there are the ranks from 0 to {of - 1}")
        rest = len(self._source) % self.batch if self.last == "keep" else 0
        for size in (self.batch, rest):
            if size % of:
                raise BadArgument(
                    f"a batch of {size} samples has no {of} equal parts",
                    why="a mean over ranks is that over the batch only where each has as many samples",
                    way_out='choose a batch that is a multiple, and last="drop" or last="pad" for the last one',
                )  # fmt: skip
        return self._with(_rank=rank, _of=of)

    def _with(self, **changed: Any) -> Loader:
        other = copy.copy(self)
        vars(other).update(changed)
        return other

    # ---------------------------------------------------------- where it is
    def state(self) -> dict[str, Any]:
        """Where the loop is, as a dict that JSON can hold: behind the last batch that the loop was given.

        A loop that was left by `break` goes on from it after `resume`; without that, a new loop begins the next epoch.
        """
        epoch, batch = self._at
        if batch == len(self):
            epoch, batch = epoch + 1, 0
        return {"epoch": epoch, "batch": batch, **self._settings()}

    def resume(self, state: dict[str, Any]) -> None:
        """Go on where a state was taken: the next loop gives the rest of its epoch.  Raises `BadArgument` if the state
        is of other data or settings.

        >>> loader, other = [Loader(np.arange(6), batch=2, shuffle=True) for _ in range(2)]
        >>> for rows in loader:
        ...     if loader.state()["batch"] == 1:
        ...         other.resume(loader.state())
        >>> len(list(other)), other.state() == loader.state()
        (2, True)
        """
        own = self._settings()
        for name, value in own.items():
            if state.get(name) != value:
                raise BadArgument(
                    f"the state of a loader with {name} {state.get(name)!r} does not fit one with {value!r}",
                    why="the batches would be other ones", way_out="make the loader as the one that was saved",
                )  # fmt: skip
        epoch, batch = state["epoch"], state["batch"]
        if _count(batch, "batch", 0) >= len(self):
            raise BadArgument(f"there is no batch {batch}", why=f"an epoch has {len(self)}")
        self._at, self._is_begun, self._turn = (_count(epoch, "epoch", 0), batch), False, self._turn + 1

    def _settings(self) -> dict[str, Any]:
        return {
            "samples": len(self._source), "size": self.batch, "shuffle": self.shuffle, "seed": self.seed,
            "last": self.last,
        }  # fmt: skip

    # ---------------------------------------------------------- batches
    def __iter__(self) -> Iterator[Any]:
        epoch, batch = self._at
        if batch == len(self) or self._is_begun and batch:
            epoch, batch = epoch + 1, 0
        self._at, self._is_begun, self._turn = (epoch, batch), True, self._turn + 1
        return self._run(epoch, batch, self._turn)

    def _run(self, epoch: int, first: int, turn: int) -> Iterator[Any]:
        """The batches of an epoch from one on; no thread and no process is left when it ends, or is closed."""
        batches = self._made(partial(self._tasks, epoch, first))
        try:
            for number, batch in enumerate(batches, first):
                if turn == self._turn:
                    self._at = epoch, number + 1
                yield batch if self.last != "pad" else (batch, self._part(self._real(number)))
        finally:
            batches.close()

    def _made(self, tasks: Callable[[], Iterator[Task]]) -> pools.Batches:
        is_rows = isinstance(self._source, Rows)
        recipe = Recipe(None if is_rows else self._source, self._maps, self.seed)
        workers, stopped = self._workers if self._maps or not is_rows else 0, threading.Event()
        if not workers:
            batches = pools.one_by_one(recipe, tasks())
        elif self._by == "threads":
            batches = pools.by_threads(recipe, tasks(), workers, stopped)
        else:
            batches = pools.by_processes(pools.parcel_of(recipe), tasks(), workers, stopped)
        return prefetched(batches, self._ahead, stopped) if self._ahead else batches

    def _tasks(self, epoch: int, first: int) -> Iterator[Task]:
        """What is to be made: the numbers of the samples of each batch, and the rows of arrays."""
        count, total = len(self._source), len(self) * self.batch
        numbers = order(self.seed, epoch, count) if self.shuffle else np.arange(count)
        if self.last == "pad":
            numbers = np.resize(numbers, total)
        for start in range(first * self.batch, total, self.batch):
            index = self._part(numbers[start : start + self.batch])
            yield Task(epoch, index, self._source.take(index) if isinstance(self._source, Rows) else None)

    def _part(self, values: np.ndarray) -> np.ndarray:
        """What this rank has of the rows of a batch."""
        share = len(values) // self._of
        return values[self._rank * share : (self._rank + 1) * share]

    def _real(self, number: int) -> np.ndarray:
        """Which rows of a batch do not fill it up."""
        return number * self.batch + np.arange(self.batch) < len(self._source)


def _count(value: Any, name: str, least: int) -> int:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
        raise BadArgument(
            f"{name}={value!r} is no count", why=f"it is an integer from {least} on", way_out=f"say {name}={least}"
        )
    return int(value)
