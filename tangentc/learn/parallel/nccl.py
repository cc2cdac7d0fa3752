"""Gradients on devices: the same ranks, whose buckets NCCL adds up, from device to device, by CuPy."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tangentc.errors import BadArgument
from tangentc.learn.parallel.communicator import Communicator

TYPES = {"f2": "NCCL_FLOAT16", "f4": "NCCL_FLOAT32", "f8": "NCCL_FLOAT64", "c8": "NCCL_FLOAT32", "c16": "NCCL_FLOAT64"}


class NcclCommunicator(Communicator):
    """A `Communicator` for arrays of CuPy, a device for each rank, by default the rank modulo their count.

    MPI starts the ranks, and carries what is not a gradient.  What layers keep of their batches stays local.
    """

    def __init__(self, comm: Any = None, *, device: int | None = None, **options: Any):
        try:
            import cupy
            from cupy.cuda import nccl
        except ImportError as error:
            way_out = 'pip install "tangentc[cuda12]"'
            raise BadArgument("an NcclCommunicator needs CuPy with NCCL", why=str(error), way_out=way_out) from None
        super().__init__(comm, **options, statistics="local")
        self.cupy, self.types = cupy, nccl
        cupy.cuda.Device(self.rank % cupy.cuda.runtime.getDeviceCount() if device is None else device).use()
        name = self.comm.bcast(nccl.get_unique_id() if self.is_first else None)
        self.nccl = nccl.NcclCommunicator(self.size, name, self.rank)
        self.stream = cupy.cuda.Stream(non_blocking=True)

    def empty(self, shape: Any, dtype: Any) -> Any:
        return self.cupy.empty(shape, dtype)

    def start(self, buffer: Any) -> Any:
        """Begin to add up on a stream of its own, behind what the current one has still to do."""
        kind = getattr(self.types, TYPES[buffer.dtype.str[1:]])
        count = buffer.size * (2 if buffer.dtype.kind == "c" else 1)  # a sum of complex numbers is that of their parts
        self.stream.wait_event(self.cupy.cuda.get_current_stream().record())
        at = buffer.data.ptr
        self.nccl.allReduce(at, at, count, kind, self.types.NCCL_SUM, self.stream.ptr)
        event = self.stream.record()
        return SimpleNamespace(Test=lambda: bool(event.done))
