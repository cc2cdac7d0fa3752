"""The ranks of a run, and what they tell one another; over MPI, by mpi4py."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tangentc import tree
from tangentc.errors import BadArgument
from tangentc.learn import slope
from tangentc.learn.parallel.reduction import Reduction
from tangentc.learn.train import checkpoints
from tangentc.learn.train.timeline import Timeline
from tangentc.learn.trained import states

LOST = 32_000  # the tag of what is sent once something does not come


class Lost(RuntimeError):
    """Another rank has died, or stands still."""


class Communicator:
    """The ranks of an MPI communicator, by default all of them, as `learn.fit` takes them.

    - ``bucket``: how many bytes of gradients travel together, about.
    - ``statistics``: "local", what a rank's layers keep of its batches, such as `BatchNorm`, is its own, and rank 0's is
      written into checkpoints; "averaged", it is averaged after each step.  Batches are normalised by a rank's own part
      of them either way.
    - ``limit``: the seconds after which a rank that waits raises `Lost`, which names those that do not come.

    An error that nobody catches on one rank is printed with its rank, and stops all.  ``share`` is this rank's share of
    the examples of a step; a gradient is the sum of the ranks' times their shares, which is that of the whole batch
    where the loss is a mean over examples.  Raises `BadArgument` where mpi4py is not installed.
    """

    def __init__(self, comm: Any = None, *, bucket: int = 1 << 18, statistics: str = "local", limit: float = 300.0):
        if statistics not in ("local", "averaged"):
            raise BadArgument(
                f"statistics={statistics!r}", why='it is "local" or "averaged"', way_out="say one of them"
            )
        self.mpi = _mpi()
        self.comm = (self.mpi.COMM_WORLD if comm is None else comm).Dup()
        self.rank, self.size = self.comm.Get_rank(), self.comm.Get_size()
        self.is_first = self.rank == 0
        self.bucket, self.statistics, self.limit = bucket, statistics, limit
        self.share = 1 / self.size
        self.timeline: Timeline | None = None
        if self.size > 1:
            self._hook, sys.excepthook = sys.excepthook, self._stop
        if folder := os.environ.get("TANGENTC_RANKS"):  # the launcher's
            (Path(folder) / str(os.getpid())).write_text(str(self.rank))

    # ------------------------------------------------------------ gradients
    def value_and_grad(self, loss: Callable, has_aux: bool = False, **options: Any) -> slope.Slope:
        """As `learn.value_and_grad`, with the mean of gradients over ranks; the value is that of this rank's part."""
        sums = Reduction(self)
        return slope.value_and_grad(loss, has_aux, ready=(sums.all_reduce, sums.wait), **options)

    def empty(self, shape: Any, dtype: Any) -> Any:
        """An array for what is sent."""
        return np.empty(shape, dtype)

    def start(self, buffer: Any) -> Any:
        """Begin to add up an array over ranks, in place; what comes back has ``Test()``, whether it is done."""
        return self.comm.Iallreduce(self.mpi.IN_PLACE, buffer)

    def until(self, is_done: Callable[[], bool], what: str) -> None:
        """Ask until it is done.  Raises `Lost` after the time limit."""
        begun = time.monotonic()
        while not is_done():
            if time.monotonic() - begun > self.limit:
                raise Lost(f"rank {self.rank} has waited {self.limit:g} s for {what}; {self._silent()}")

    def _silent(self) -> str:
        """Which ranks do not wait as this one does: all that do say so now."""
        others = set(range(self.size)) - {self.rank}
        sent = [self.comm.Isend(np.empty(0), other, LOST) for other in others]
        heard: set[int] = set()
        begun = time.monotonic()
        while heard != others and time.monotonic() - begun < 1 + self.limit / 10:
            heard |= {other for other in others - heard if self.comm.Iprobe(other, LOST)}
        del sent
        named = ", ".join(f"rank {other}" for other in sorted(others - heard))
        return f"{named or 'no rank'} has died or stands still"

    def sum(self, array: Any) -> Any:
        """The sum of an array of NumPy over ranks."""
        array = np.array(array)
        request = self.comm.Iallreduce(self.mpi.IN_PLACE, array)
        self.until(request.Test, "a sum")
        return array

    # ------------------------------------------------------------ what `fit` asks for
    def mean(self, value: float, count: int) -> tuple[float, int]:
        """The mean of all examples, and their count, of the mean of those of this rank."""
        total, every = self.sum(np.array([value * count, count]))
        return float(total / every), int(every)

    def sharded(self, data: Any, evenly: bool = True) -> Any:
        """This rank's part of each batch: ``data.shard(rank, size)`` where there is such a method, else slices; with
        ``evenly=False`` slices that may be empty, and are passed over."""
        return data.shard(self.rank, self.size) if evenly and hasattr(data, "shard") else Slices(data, self, evenly)

    def settle(self, model: Any) -> None:
        """Average what a model keeps of its batches, if that is asked for."""
        kept = [*states(model).values()] if self.statistics == "averaged" else []
        for array in kept:
            array[...] = self.sum(array * array.dtype.type(self.share))

    def from_first(self, give: Callable[[], Any]) -> Any:
        """What rank 0 gives."""
        return self.comm.bcast(give() if self.is_first else None)

    def broadcast(self, model: Any, state: Any = None) -> None:
        """Give all ranks rank 0's parameters, state and optimiser's state, in place.  Random generators in the model draw
        from rank 0's streams, jumped ahead as many times as the rank says, so that ranks draw different numbers."""
        arrays = {**checkpoints.arrays_of(model)}
        every = tree.walk(state, every=True) if state is not None else []
        arrays |= {f"state.{found.path}": found.leaf for found in every if hasattr(found.leaf, "shape")}
        said = [(name, a.shape, str(a.dtype)) for name, a in arrays.items()]
        if said != (first := self.comm.bcast(said)):
            raise BadArgument(
                f"rank {self.rank} has another model or optimiser than rank 0",
                why=f"they differ at {sorted(set(said) ^ set(first))[:1]}", way_out="make the same on all ranks",
            )  # fmt: skip
        for array in arrays.values():
            array[...] = self.comm.bcast(array)
        for found in every:
            if not hasattr(found.leaf, "shape"):
                tree.put(state, found.way, self.comm.bcast(found.leaf))
        for _, node in checkpoints.with_generators(model):
            bits = node.bit_generator
            bits.state = self.comm.bcast(bits.state)
            bits.state = bits.jumped(self.rank).state if self.rank else bits.state  # type: ignore[attr-defined]

    def rows(self, events: list) -> Any:
        """The events of all ranks, on the first one."""
        return self.comm.gather(events)

    def _stop(self, kind: Any, error: Any, trace: Any) -> None:
        """Print an error with its rank, and end all ranks, which would wait for this one."""
        self._hook(kind, error, trace)
        print(f"rank {self.rank} of {self.size} raised {kind.__name__}; all are stopped", file=sys.stderr, flush=True)
        self.comm.Abort(1)


class Slices:
    """Batches of which each rank has its slice; without ``evenly`` a rank may have none of one, and passes it over."""

    def __init__(self, data: Any, comm: Any, evenly: bool = True):
        self.data, self.comm, self.evenly = data, comm, evenly

    def __getattr__(self, name: str) -> Any:
        return getattr(self.data, name)

    def __iter__(self) -> Iterator[tuple]:
        rank, size = self.comm.rank, self.comm.size
        for batch in self.data:
            batch = batch if isinstance(batch, tuple) else (batch,)
            lengths = {len(part) for part in batch if getattr(part, "shape", ())}
            count = min(lengths, default=0)
            if len(lengths) != 1 or self.evenly and count < size:
                raise BadArgument(
                    f"a batch of arrays of {sorted(lengths)} rows cannot be shared by {size} ranks",
                    why="each array is sliced along its first axis, at least one row for each rank",
                    way_out="give batches of arrays of one length, no less than the ranks",
                )  # fmt: skip
            first, last = rank * count // size, (rank + 1) * count // size
            self.comm.share = (last - first) / count if self.evenly else self.comm.share
            if last > first:
                yield tuple(part[first:last] if getattr(part, "shape", ()) else part for part in batch)


def _mpi() -> Any:
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise BadArgument(
            "a Communicator needs mpi4py and an MPI library", why=str(error), way_out='pip install "tangentc[mpi]"'
        ) from None
    return MPI
