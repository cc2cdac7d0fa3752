"""How a batch is made of its samples, in whatever thread or process."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tangentc.learn.data.collating import collate
from tangentc.learn.data.failures import bad_sample
from tangentc.learn.data.sources import rows

ORDER, SAMPLE = 0, 1  # what a generator is for, in its key


@dataclass(frozen=True, eq=False)
class Task:
    """One batch to be made: the numbers of its samples, and their rows where the data are arrays."""

    epoch: int
    index: np.ndarray
    rows: Any = None


@dataclass(frozen=True, eq=False)
class Recipe:
    """The functions that make samples; ``data`` are those that give them by number, None of arrays."""

    data: Any
    maps: tuple[Callable[..., Any], ...]
    seed: int

    def __call__(self, task: Task, seen: Callable[[int], None] = lambda index: None) -> Any:
        """The batch; ``seen`` is told of each sample before it is made."""
        if self.data is None and not self.maps:
            return task.rows
        samples: list[Any] = []
        numbers = task.index.tolist()
        source, places = (rows(task.rows), range(len(numbers))) if self.data is None else (self.data, numbers)
        maps = [(f, draws(f)) for f in self.maps]
        for number, place in zip(numbers, places):
            seen(number)
            try:
                sample = source[place]
                for k, (f, is_drawing) in enumerate(maps):
                    rng = {"rng": generator(self.seed, SAMPLE, task.epoch, number, k)} if is_drawing else {}
                    sample = f(sample, **rng)
            except Exception as error:
                raise bad_sample(number, f"{type(error).__name__}: {error}") from error
            samples.append(sample)
        return collate(samples, numbers)


def draws(f: Callable[..., Any]) -> bool:
    """Whether a function has a parameter ``rng``."""
    try:
        return "rng" in inspect.signature(f).parameters
    except (TypeError, ValueError):  # a function without a signature
        return False


def generator(seed: int, *key: int) -> np.random.Generator:
    """The generator of a seed for one purpose."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def order(seed: int, epoch: int, count: int) -> np.ndarray:
    """The order of an epoch."""
    return generator(seed, ORDER, epoch).permutation(count)
