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
from tangentc.learn.train.alone import Alone
from tangentc.learn.trained import states

LOST = 32_000  # the tag of what is sent once something does not come


class Lost(RuntimeError):
    """Another rank has died, or stands still."""


class Communicator(Alone):
    """The ranks of an MPI communicator, by default all of them, as `learn.fit` takes them.

    - ``bucket``: how many bytes of gradients travel together; a slow network asks for more.
    - ``statistics``: "local", what layers keep of their batches, such as `BatchNorm`, is each rank's own, and rank 0's
      goes into checkpoints; "averaged", it is averaged after each step.  A batch is normalised by a rank's own part of
      it either way, so that only models without such layers give what one process gives.
    - ``limit``: the seconds after which a rank that waits raises `Lost`, which names those that do not come.

    An error that nobody catches on one rank is printed with its rank, and stops all.  A gradient is the sum of the
    ranks' times their ``share`` of the examples, which is that of the whole batch where the loss is a mean over
    examples.  Raises `BadArgument` where mpi4py is not installed.
    """

    def __init__(self, comm: Any = None, *, bucket: int = 1 << 16, statistics: str = "local", limit: float = 300.0):
        if statistics not in ("local", "averaged"):
            raise BadArgument(f"statistics={statistics!r}", way_out='say "local" or "averaged"')
        try:
            from mpi4py import MPI
        except ImportError as error:
            way_out = 'pip install "tangentc[mpi]"'
            raise BadArgument("a Communicator needs mpi4py and MPI", why=str(error), way_out=way_out) from None
        self.mpi: Any = MPI
        self.comm = (MPI.COMM_WORLD if comm is None else comm).Dup()
        self.rank, self.size = self.comm.Get_rank(), self.comm.Get_size()
        self.is_first, self.share = self.rank == 0, 1 / self.size
        self.bucket, self.statistics, self.limit = bucket, statistics, limit
        self.leaving: list[tuple[Any, Any]] = []  # messages that are on their way, with their buffers
        if self.size > 1:
            self._hook, sys.excepthook = sys.excepthook, self._stop
        if folder := os.environ.get("TANGENTC_RANKS"):  # the launcher's
            (Path(folder) / str(os.getpid())).write_text(str(self.rank))

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
            time.sleep(0)  # another process may have work for this core
            if time.monotonic() - begun > self.limit:
                raise Lost(f"rank {self.rank} has waited {self.limit:g} s for {what}; {self._silent()}")

    def _silent(self) -> str:
        """Which ranks do not wait as this one does: all that do say so now."""
        silent = set(range(self.size)) - {self.rank}
        self.leaving += [(self.comm.Isend(here := np.empty(1), other, LOST), here) for other in silent]
        begun = time.monotonic()
        while silent and time.monotonic() - begun < 1 + self.limit / 10:
            silent -= {other for other in silent if self.comm.Iprobe(other, LOST)}
        return f"{', '.join(f'rank {other}' for other in sorted(silent)) or 'no rank'} has died or stands still"

    def sum(self, array: Any) -> Any:
        """The sum of an array of NumPy over ranks."""
        self.until(self.comm.Iallreduce(self.mpi.IN_PLACE, array := np.array(array)).Test, "a sum")
        return array

    def mean(self, value: float, count: int) -> tuple[float, int]:
        """The mean of all examples, and their count, of the mean of those of this rank."""
        total, every = self.sum(np.array([value * count, count]))
        return float(total / every), int(every)

    def sharded(self, data: Any, evenly: bool = True) -> Any:
        """This rank's part of each batch: ``data.shard(rank, size)`` where there is such a method, else `Slices`."""
        return data.shard(self.rank, self.size) if evenly and hasattr(data, "shard") else Slices(data, self, evenly)

    def settle(self, model: Any) -> None:
        """Average what a model keeps of its batches, if that is asked for."""
        for array in states(model).values() if self.statistics == "averaged" else ():
            array[...] = self.sum(array * array.dtype.type(self.share))

    def broadcast(self, model: Any, state: Any) -> None:
        """Give all ranks rank 0's model and optimiser's state, in place.  Random generators in the model draw from its
        streams, each rank from another place: jumped as often as its number says."""
        arrays, every = checkpoints.arrays_of(model), tree.walk(state, every=True)
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

    def from_first(self, give: Callable[[], Any]) -> Any:
        """What rank 0 gives."""
        return self.comm.bcast(give() if self.is_first else None)

    def gather(self, events: list) -> Any:
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
                    why="each array is sliced along its first axis", way_out="give arrays of one length, no less",
                )  # fmt: skip
            rows = slice(rank * count // size, (rank + 1) * count // size)
            self.comm.share = (rows.stop - rows.start) / count if self.evenly else 1 / size
            if rows.stop > rows.start:
                yield tuple(part[rows] if getattr(part, "shape", ()) else part for part in batch)
        self.comm.share = 1 / size
