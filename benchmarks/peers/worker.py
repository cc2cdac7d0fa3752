"""One tool in a process of its own, which does what it is asked for, and is idle between."""

import ctypes
import gc
import os
import sys
import time
from pathlib import Path

import numpy as np

from .tools import TOOLS, flat
from .workload import Workload


def square(x):
    return np.sum(x * x)


WARM_UP = Workload(
    "square", square, lambda x: (np.sum(x * x), 2 * x), ("x",), lambda: (np.ones(3),), lambda: (np.ones(3),)
)
"""What a tool sets up once, for any program, is not counted as compile time of the first."""


class Worker:
    """Answers the requests of `rounds.Workers`: each method is one."""

    def __init__(self, tool):
        from .workloads import WORKLOADS

        self.tool, self.workloads = TOOLS[tool], WORKLOADS
        self.calls = {}
        self._prepare(WARM_UP)

    def _prepare(self, workload):
        call, calls = self.tool(workload, workload.args())
        started = time.perf_counter()
        result = call()
        first = time.perf_counter() - started
        self.calls = calls()
        return first, result

    def prepare(self, name):
        """Compile a workload: the seconds of its first call and of later ones, and the value and gradient of each."""
        self.calls = {}
        gc.unfreeze()
        gc.collect()
        first, result = self._prepare(self.workloads[name])
        again = [flat(call()) for call in self.calls.values()]  # a call may not depend on those before it
        gc.collect()
        gc.freeze()
        warm = {call: min(self.seconds(call, 1) for _ in range(3 if first < 1 else 1)) for call in self.calls}
        return first, warm, [flat(result), *again]

    def seconds(self, call, repeats):
        """The mean time of some calls."""
        function = self.calls[call]
        started = time.perf_counter()
        for _ in range(repeats):
            function()
        return (time.perf_counter() - started) / repeats

    def memory(self, call, times):
        """By how many bytes a warm call raises the memory of the process at most, or None where this is not known.

        What was freed before goes back to the system, or it would hide what is needed.
        """
        found = []
        for _ in range(times):
            gc.collect()
            time.sleep(0.02)  # threads of the tool may still be freeing
            try:
                ctypes.CDLL(None).malloc_trim(0)
                Path("/proc/self/clear_refs").write_text("5")
            except (OSError, AttributeError):
                return None
            before = _status("VmRSS")
            self.calls[call]()
            found.append(max(0, _status("VmHWM") - before))
        return sorted(found)[times // 2]


def _status(key):
    """A number of bytes that the kernel tells of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(key))


def serve(connection, tool, threads):
    """Answer requests (method, arguments) with (whether it went well, result or what went wrong)."""
    sys.setrecursionlimit(100_000)
    os.environ["JAX_PLATFORMS"] = "cpu"
    if tool == "PyTorch":
        import torch

        torch.set_num_threads(threads)
    worker = None
    while True:
        method, arguments = connection.recv()
        try:
            worker = worker or Worker(tool)
            answer = True, getattr(worker, method)(*arguments)
        except Exception as error:
            answer = False, f"{type(error).__name__}: {error}".splitlines()[0]
        connection.send(answer)
