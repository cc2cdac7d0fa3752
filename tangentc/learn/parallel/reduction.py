"""The mean of a gradient over ranks: its parts travel in buckets while the rest of it is computed."""

from __future__ import annotations

import math
import zlib
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tangentc import tree
from tangentc.errors import BadArgument


@dataclass
class Bucket:
    """Parts of one dtype that travel together, and behind them the `check` of all ranks."""

    buffer: Any
    used: int = 0
    parts: list[str] = field(default_factory=list)
    request: Any = None
    sent: float = 0.0

    @property
    def check(self) -> int:
        """A number of what lies where, which is the same on all ranks."""
        return 1 + zlib.crc32(f"{self.parts} {self.used}".encode()) % 4096


class Reduction:
    """Two hooks for the gradient of a function: ``value_and_grad(f, ready=(sums.all_reduce, sums.wait))``.

    Parts are put into a bucket as they come, and it is sent once the next one does not fit (Li et al., PyTorch
    Distributed, VLDB 2020, section 3.2).  They count by this rank's share of the examples.  All ranks have to run the
    same text; each bucket carries a number of what is in it, so that another order is refused.
    """

    def __init__(self, comm: Any):
        self.comm = comm
        self.open: Bucket | None = None
        self.sent: list[Bucket] = []
        self.done = 0

    def all_reduce(self, bar: Any, path: str) -> Any:
        """An array, of this call's own, that `wait` leaves the mean of an adjoint in; of a container, one for each in
        it.  What is a number, and so no parameter, becomes a NaN, since it is not averaged."""
        if isinstance(bar, np.ndarray):  # as most are
            out = self._put(path, bar)
            self._progress()
            return out
        leaves, structure = tree.flatten(bar)
        out = [self._put(f"{path}.{inner}", leaf) for inner, leaf in zip(structure.paths, leaves)]
        self._progress()
        return tree.unflatten(structure, out)

    def wait(self) -> None:
        """Wait until all have been averaged.  Raises `Lost` after the time limit."""
        self._send()
        with self.comm.timeline.span("wait") if self.comm.timeline else nullcontext():
            self.comm.until(self._progress, f"the mean of gradients, of {', '.join(b.parts[0] for b in self.sent)}")
        sent, self.sent, self.done = self.sent, [], 0
        for bucket in sent:
            if not math.isclose(float(bucket.buffer[bucket.used].real), bucket.check, rel_tol=1e-4):
                raise BadArgument(
                    f"the gradients of {bucket.parts[0]} and others cannot be averaged over ranks",
                    why="the ranks have computed different functions, or the shares of the batch do not make 1 in all",
                    way_out="call one function of one model on all ranks, with the right `comm.share`",
                )  # fmt: skip

    def _put(self, path: str, leaf: Any) -> Any:
        if isinstance(leaf, np.generic) or not hasattr(leaf, "shape"):
            return type(leaf)(math.nan)
        bucket = self.open
        if bucket is None or bucket.buffer.dtype != leaf.dtype or bucket.used + leaf.size >= bucket.buffer.size:
            self._send()
            size = max(leaf.size, self.comm.bucket // leaf.dtype.itemsize) + 1
            bucket = self.open = Bucket(self.comm.empty(size, leaf.dtype))
        part = bucket.buffer[bucket.used : bucket.used + leaf.size].reshape(leaf.shape)
        np.multiply(leaf, leaf.dtype.type(self.comm.share), out=part)
        bucket.used += leaf.size
        bucket.parts.append(path.rstrip("."))
        return part

    def _send(self) -> None:
        if (bucket := self.open) is not None:
            bucket.buffer[bucket.used] = self.comm.share * bucket.check  # the shares are 1 in all
            bucket.sent = self.comm.timeline.now() if self.comm.timeline else 0.0
            bucket.request = self.comm.start(bucket.buffer[: bucket.used + 1])
            self.sent.append(bucket)
            self.open = None

    def _progress(self) -> bool:
        """Look after what is on its way, which MPI may need to go on with it, and say whether all has come."""
        while self.done < len(self.sent) and (bucket := self.sent[self.done]).request.Test():
            if line := self.comm.timeline:
                line.note("all_reduce", bucket.sent, parts=bucket.parts)
            self.done += 1
        return self.done == len(self.sent)
