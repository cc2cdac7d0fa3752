"""Batches made ahead by a thread, while the loop is at work on others."""

from __future__ import annotations

import queue
import threading
from typing import Any

from tangentc.learn.data.workers import Batches


def prefetched(batches: Batches, count: int, stopped: threading.Event) -> Batches:
    """The same batches; up to ``count`` are ready before they are asked for.  The thread ends with the loop."""
    ready: queue.SimpleQueue[Any] = queue.SimpleQueue()
    room = threading.Semaphore(count)
    thread = threading.Thread(target=_fill, args=(batches, ready, room, stopped), daemon=True)
    thread.name = "tangentc-prefetch"
    thread.start()
    try:
        while True:
            batch, error = ready.get()
            if error is _END:
                return
            if error is not None:
                raise error
            room.release()
            yield batch
    finally:
        stopped.set()
        room.release()
        if threading.current_thread() is not thread:  # in which the loop may have been collected
            thread.join()


_END = object()


def _fill(batches: Batches, ready: Any, room: threading.Semaphore, stopped: threading.Event) -> None:
    try:
        for batch in _until(batches, room, stopped):
            ready.put((batch, None))
        ready.put((None, _END))
    except BaseException as error:
        ready.put((None, error))
    finally:
        batches.close()


def _until(batches: Batches, room: threading.Semaphore, stopped: threading.Event) -> Batches:
    """The batches for which there is room, until the loop is left."""
    while True:
        room.acquire()
        if stopped.is_set() or (batch := next(batches, _END)) is _END:
            return
        yield batch
