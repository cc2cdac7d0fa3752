"""Batches made one after the other, by threads, or by processes: the same batches, in the same order.

Processes are spawned, not forked.  A fork of a process that has threads, as BLAS and prefetching start, can hold a lock
that nobody releases.  What spawned ones run is sent to them, so that it has to be importable.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing.connection import wait
from typing import Any

from tangentc.errors import BadArgument
from tangentc.learn.data.failures import WorkerDied, packed, unpacked

Batches = Generator[Any, None, None]
POLL = 0.1  # seconds after which one who waits for a process looks whether the loop has been left


def one_by_one(recipe: Any, tasks: Iterator[Any]) -> Batches:
    """Batches made where they are asked for."""
    for task in tasks:
        yield recipe(task)


def by_threads(recipe: Any, tasks: Iterator[Any], workers: int, stopped: threading.Event) -> Batches:
    """Batches made by threads; each makes a whole one, and stops between two samples."""

    def seen(index: int) -> None:
        if stopped.is_set():
            raise Stopped

    pool = ThreadPoolExecutor(workers, thread_name_prefix="tangentc-loader")
    waiting: deque[Any] = deque()
    try:
        for task in tasks:
            waiting.append(pool.submit(recipe, task, seen))
            if len(waiting) > workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        stopped.set()
        pool.shutdown(wait=True, cancel_futures=True)


class Stopped(BaseException):
    """What a thread raises between two samples when nobody waits for its batch any more."""


def by_processes(parcel: bytes, tasks: Iterator[Any], workers: int, stopped: threading.Event) -> Batches:
    """Batches made by processes, each of which has one at a time."""
    team = [_Worker(parcel) for _ in range(workers)]
    try:
        for worker in team:
            worker.start()
        done: dict[int, Any] = {}
        numbered, given, wanted, ended = enumerate(tasks), 0, 0, False
        while True:
            for worker in team:
                if not ended and worker.is_idle and given - wanted < 2 * workers:
                    if ended := (task := next(numbered, None)) is None:
                        break
                    given += 1
                    worker.give(task)
            if wanted in done:
                batch, error = done.pop(wanted)
                if error is not None:
                    raise error
                yield batch
                wanted += 1
            elif wanted == given:
                return
            elif stopped.is_set():
                return
            else:
                done.update(_answers(team))
    finally:
        for worker in team:
            worker.end()


def _answers(team: list[_Worker]) -> Iterator[tuple[int, Any]]:
    """What has been made or has failed since, by number."""
    busy = [worker for worker in team if worker.number is not None]
    ready = set(wait([x for worker in busy for x in (worker.pipe, worker.process.sentinel)], POLL))
    for worker in busy:
        if worker.pipe in ready or worker.process.sentinel in ready:
            yield worker.answer()


class _Worker:
    """A process, the pipe to it, and the number of the sample that it is at."""

    def __init__(self, parcel: bytes):
        context = multiprocessing.get_context("spawn")
        self.pipe, self.other = context.Pipe()
        self.at = context.RawValue("q", -1)
        self.process = context.Process(target=_work, args=(self.other, parcel, self.at), daemon=True)
        self.number: int | None = None  # of the batch that it has to make
        self.is_dead = False

    @property
    def is_idle(self) -> bool:
        return self.number is None and not self.is_dead

    def start(self) -> None:
        with _uninterrupted():
            self.process.start()
        self.other.close()  # so that the end of one is seen by the other

    def give(self, numbered: tuple[int, Any]) -> None:
        self.number, task = numbered
        try:
            self.pipe.send(task)
        except OSError:  # it is dead, which `answer` says
            pass

    def answer(self) -> tuple[int, tuple[Any, BaseException | None]]:
        """The number of the batch, and the batch or what went wrong with it."""
        number, self.number = self.number or 0, None
        try:
            batch, error = self.pipe.recv()
        except (EOFError, OSError):
            self.is_dead = True
            return number, (None, self._death())
        return number, (batch, None if error is None else unpacked(error))

    def _death(self) -> WorkerDied:
        self.process.join()
        code = self.process.exitcode or 0
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        where = f"at sample {self.at.value}" if self.at.value >= 0 else "before its first sample"
        return WorkerDied(
            f"a worker process ended by {how}, {where}", why="it had a batch to make, which is lost",
            way_out="look at what that sample does to a process; a script that uses processes begins its own work "
            'behind `if __name__ == "__main__":`',
        )  # fmt: skip

    def end(self) -> None:
        """Let the process end, and wait for that."""
        self.pipe.close()
        self.other.close()
        if self.process.pid is None:
            return
        if self.number is not None:
            self.process.terminate()
        self.process.join(1.0)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.process.close()


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold interrupts back; a process that is begun here holds them back too, until it ignores them."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(pipe: Any, parcel: bytes, at: Any) -> None:
    """What a process does: a batch for each task, until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # which goes to all; the one who began this ends it
    recipe = None

    def seen(index: int) -> None:
        at.value = index

    while True:
        try:
            task = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            recipe = recipe or pickle.loads(parcel)
            pipe.send((recipe(task, seen), None))
        except OSError:
            return
        except BaseException as error:
            pipe.send((None, packed(error)))


def parcel_of(recipe: Any) -> bytes:
    """What makes batches, to be sent to processes; raises `BadArgument` if these cannot have it."""
    main = sys.modules["__main__"]
    file, made = getattr(main, "__file__", None), (*recipe.maps, type(recipe.data))
    is_typed = file is None and any(getattr(f, "__module__", "") == "__main__" for f in made)
    if is_typed or file is not None and getattr(main, "__spec__", None) is None and not os.path.exists(file):
        raise _unsendable(recipe, "a process begins with the file of the program, and this one was typed at a prompt")
    try:
        return pickle.dumps(recipe)
    except Exception as error:
        raise _unsendable(recipe, f"{type(error).__name__}: {error}") from error


def _unsendable(recipe: Any, why: str) -> BadArgument:
    names = ", ".join(getattr(f, "__qualname__", repr(f)) for f in recipe.maps) or type(recipe.data).__name__
    return BadArgument(
        f"{names} cannot be sent to processes", why=why,
        way_out='define functions with `def` at the top of a module, or say by="threads"',
    )  # fmt: skip


def check(workers: Any, by: Any) -> None:
    """Refuse what says nothing of workers."""
    if by not in ("threads", "processes") or not isinstance(workers, int) or isinstance(workers, bool) or workers < 0:
        raise BadArgument(
            f"workers={workers!r}, by={by!r} are no workers", why="there are so many threads or processes",
            way_out='say workers=2, by="threads" or by="processes"; workers=0 for none',
        )  # fmt: skip
