"""The mean of a gradient over ranks: its parts travel in buckets while the rest of it is computed."""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tangentc import tree
from tangentc.errors import BadArgument

Said = tuple[str, tuple[int, ...], str]  # the path of a part, its shape and its dtype


@dataclass
class Bucket:
    """Parts of one dtype that travel together."""

    dtype: str
    parts: list[Said] = field(default_factory=list)
    size: int = 0
    buffer: Any = None
    missing: int = 0
    request: Any = None
    sent: float = 0.0


class Reduction:
    """The two hooks for one function: ``value_and_grad(f, ready=(sums.all_reduce, sums.wait))``.

    The first call of all learns in which order the parts come, agrees on rank 0's, and sends them at its end; from then
    on a bucket is sent as soon as it is full, in the same order on all ranks (Li et al., PyTorch Distributed, VLDB 2020,
    section 3.2).  A part counts by this rank's share of the examples.  What comes back are arrays of the call's own.
    """

    def __init__(self, comm: Any):
        self.comm = comm
        self.buckets: list[Bucket] = []
        self.places: dict[str, tuple[Bucket, int]] = {}
        self.taken: dict[str, Any] = {}  # the parts of this call
        self.first: dict[str, tuple[Any, Any]] = {}  # of the first one, with where the results are wanted
        self.posted, self.done = 0, 0

    def all_reduce(self, bar: Any, path: str) -> Any:
        """What the mean of an adjoint will be written into by `wait`; of a container that of each array in it.

        What is a number of Python or NumPy, and so no parameter, becomes a NaN, since it is not averaged.
        """
        leaves, structure = tree.flatten(bar)
        names = [f"{path}.{inner}" if inner else path for inner in structure.paths]
        out = [self._take(name, leaf) for name, leaf in zip(names, leaves)]
        self._progress()
        return tree.unflatten(structure, out)

    def wait(self) -> None:
        """Wait until all have been averaged.  Raises `Lost` after the time limit."""
        if not self.places:
            self._agree()
        for name in self.places.keys() - self.taken.keys():
            self._refuse(name, "it has come in the first call, and not in this one")
        with self.comm.timeline.span("wait") if self.comm.timeline else nullcontext():
            self.comm.until(self._progress, f"the gradients of {', '.join([*self.taken][:2])}")
        for name, (_, result) in self.first.items():
            result[...] = self.taken[name]
        total = float(abs(self.buckets[0].buffer[-1])) if self.buckets else 1.0
        self.first, self.taken, self.posted, self.done = {}, {}, 0, 0
        for bucket in self.buckets:
            bucket.buffer = bucket.request = None
        if not math.isclose(total, 1.0, rel_tol=1e-3):
            raise BadArgument(
                f"the ranks' shares of the batch make {total:.4g} in all", why="a mean is over all examples, each once",
                way_out="set comm.share to this rank's examples over those of all ranks",
            )  # fmt: skip

    def _take(self, name: str, leaf: Any) -> Any:
        if isinstance(leaf, np.generic) or not hasattr(leaf, "shape"):
            return type(leaf)(math.nan)
        if name in self.taken:
            self._refuse(name, "it comes twice in one call")
        if not self.places:
            self.first[name] = leaf * leaf.dtype.type(self.comm.share), self.comm.empty(leaf.shape, leaf.dtype)
            self.taken[name] = None
            return self.first[name][1]
        part = self._place(name, leaf)
        np.multiply(leaf, leaf.dtype.type(self.comm.share), out=part)
        return part

    def _place(self, name: str, leaf: Any) -> Any:
        """Where a part lies in its bucket; the buckets that are full with it are sent."""
        bucket, start = self.places.get(name, (None, 0))
        if bucket is None:
            self._refuse(name, "it has not come in the first call")
        shape = next(shape for said, shape, _ in bucket.parts if said == name)
        if shape != leaf.shape or bucket.dtype != leaf.dtype.str:
            self._refuse(name, f"it was {bucket.dtype}{shape}, and is {leaf.dtype.str}{leaf.shape}")
        if bucket.buffer is None:
            bucket.buffer, bucket.missing = self.comm.empty(bucket.size, np.dtype(bucket.dtype)), len(bucket.parts)
            bucket.buffer[-1:] = self.comm.share  # their sum is 1
        part = self.taken[name] = bucket.buffer[start : start + leaf.size].reshape(leaf.shape)
        bucket.missing -= 1
        return part

    def _progress(self) -> bool:
        """Send what is full, look after what is on its way, and say whether all has come."""
        line = self.comm.timeline
        while self.posted < len(self.buckets):
            bucket = self.buckets[self.posted]
            if bucket.buffer is None or bucket.missing:
                break
            bucket.sent = line.now() if line else 0.0
            bucket.request = self.comm.start(bucket.buffer)
            self.posted += 1
        while self.done < self.posted and self.buckets[self.done].request.Test():
            bucket = self.buckets[self.done]
            if line:
                parts = [name for name, *_ in bucket.parts]
                line.note("all_reduce", bucket.sent, line.now(), parts=parts, bytes=bucket.buffer.nbytes)
            self.done += 1
        return self.done == len(self.buckets)

    def _agree(self) -> None:
        """Take rank 0's order of the parts, put them into buckets, and send those of the first call."""
        own: list[Said] = [(name, part.shape, part.dtype.str) for name, (part, _) in self.first.items()]
        said: list[Said] = self.comm.comm.bcast(own)
        if sorted(said) != sorted(own):
            other = sorted(set(said) ^ set(own))[0]
            self._refuse(
                other[0], f"{other[2]}{other[1]} is there on rank {0 if other in said else self.comm.rank} only"
            )
        for part in said:
            if not self.buckets or self._is_full(self.buckets[-1], part[2]):
                self.buckets.append(Bucket(part[2], size=1))
            bucket = self.buckets[-1]
            self.places[part[0]] = bucket, bucket.size - 1
            bucket.parts.append(part)
            bucket.size += math.prod(part[1])
        for name, *_ in said:
            self._place(name, self.first[name][0])[...] = self.first[name][0]

    def _is_full(self, bucket: Bucket, dtype: str) -> bool:
        return bucket.dtype != dtype or bucket.size * np.dtype(dtype).itemsize > self.comm.bucket

    def _refuse(self, name: str, why: str) -> None:
        raise BadArgument(
            f"the gradient of {name} cannot be averaged over ranks", why=why,
            way_out="let all ranks compute the same function of the same model, and make another `value_and_grad` for "
            "another function or model",
        )  # fmt: skip
