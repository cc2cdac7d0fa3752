"""Measure: each tool in a process of its own, results compared first, rounds interleaved."""

import multiprocessing
import os

import numpy as np

from .tools import CALLS, NEEDS, version_of
from .worker import serve
from .workload import leaves

SPAWN = multiprocessing.get_context("spawn")
A_ROUND = 0.02
"""Seconds that a call is repeated for in a round, if once takes no longer."""
A_CALL = 4.0
"""Seconds after which a call takes no part in further rounds, once it was in three."""
PATIENCE = 180.0
"""Seconds after which an answer is not waited for."""


class Failed(Exception):
    """What a tool was asked for did not come."""


class Workers:
    """The processes of the tools that are installed, on so many cores, with so many threads each."""

    def __init__(self, threads):
        self.threads = threads
        self.tools = [tool for tool in NEEDS if version_of(tool)]
        self.processes = {}

    def __enter__(self):
        self.cores = os.sched_getaffinity(0) if hasattr(os, "sched_setaffinity") else None
        if self.cores:  # inherited; the last cores, for the first is the one that most interrupts go to
            os.sched_setaffinity(0, sorted(self.cores)[-self.threads :])
        for library in ("OMP", "OPENBLAS", "MKL", "VECLIB_MAXIMUM", "NUMEXPR"):
            os.environ[f"{library}_NUM_THREADS"] = str(self.threads)
        os.environ["MALLOC_ARENA_MAX"] = "1"  # one heap, of which what is free can be given back
        several = "true" if self.threads > 1 else "false"
        os.environ["XLA_FLAGS"] = f"--xla_cpu_multi_thread_eigen={several}"
        return self

    def __exit__(self, *_):
        for tool in list(self.processes):
            self._end(tool)
        if self.cores:
            os.sched_setaffinity(0, self.cores)

    def ask(self, tool, method, *arguments):
        """The answer of a tool's process, which is started where there is none."""
        if tool not in self.processes:
            here, there = SPAWN.Pipe()
            process = SPAWN.Process(target=serve, args=(there, tool, self.threads), daemon=True)
            process.start()
            there.close()
            self.processes[tool] = process, here
        connection = self.processes[tool][1]
        try:
            connection.send((method, arguments))
            if not connection.poll(PATIENCE):
                self._end(tool)
                raise Failed(f"no answer in {PATIENCE:.0f} s")
            well, answer = connection.recv()
        except (EOFError, OSError) as error:
            self._end(tool)
            raise Failed("the process ended") from error
        if not well:
            raise Failed(answer)
        return answer

    def _end(self, tool):
        process, connection = self.processes.pop(tool)
        process.kill()
        process.join()
        connection.close()


def disagreement(got, want):
    """What is wrong with arrays that were found, or None: their relative tolerance is 1e-6 of the largest entry."""
    if len(got) != len(want):
        return f"{len(got)} results, not {len(want)}"
    for a, b in zip(got, want):
        if a.shape != b.shape:
            return f"shape {a.shape}, not {b.shape}"
        if not np.allclose(a, b, rtol=1e-6, atol=1e-6 * np.max(np.abs(b), initial=0.0)):
            return f"wrong by {np.max(np.abs(a - b)):.1e}"
    return None


def prepared(workers, name):
    """For each call that agrees with the one by hand, its tool and what is known of it; for the others the error."""
    calls, errors, want = {}, {}, None
    for tool in workers.tools:
        mine = [call for call in CALLS if call.split(",")[0] == tool]
        try:
            first, warm, results = workers.ask(tool, "prepare", name)
            want = results[0] if tool == "by hand" else want
            wrong = next((w for w in (disagreement(list(leaves(r)), want) for r in results) if w), None)
            if wrong:
                raise Failed(wrong)
            for call in mine:
                calls[call] = {"tool": tool, "warm": warm[call], "compile": max(0.0, first - warm[call])}
        except Failed as failed:
            errors.update({call: {"error": str(failed)} for call in mine})
    return calls, errors


def measure(workers, name, rounds):
    """The seconds of each call in each round, its compile time in seconds, and its memory in bytes."""
    calls, found = prepared(workers, name)
    seconds = {call: [] for call in calls}
    for _ in range(rounds):
        for call, known in calls.items():
            if len(seconds[call]) >= 3 and sum(seconds[call]) > A_CALL:
                continue
            repeats = max(1, int(A_ROUND / known["warm"]))
            seconds[call].append(workers.ask(known["tool"], "seconds", call, repeats))
    for call, known in calls.items():
        memory = None
        if workers.threads == 1:
            memory = workers.ask(known["tool"], "memory", call, 1 if known["warm"] > 1 else 3)
        kept = [float(f"{s:.4g}") for s in seconds[call]]
        found[call] = {"seconds": kept, "compile": float(f"{known['compile']:.3g}"), "memory": memory}
    return {call: found[call] for call in CALLS if call in found}
