"""Random numbers that are drawn again: what runs a function several times lets it draw the same each time."""

from __future__ import annotations

import random
import types
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

import numpy as np

from tangentc.core.resolve import named_by

X = TypeVar("X")
Generator = np.random.Generator | np.random.RandomState | random.Random


class Draws:
    """The states of the generators that a function may draw from, as they are now.

    These are Python's and NumPy's own, and those that arguments, and what the function names, are or hold.

    >>> rng = np.random.default_rng(0)
    >>> draws = Draws(None, (rng,))
    >>> first = rng.normal()
    >>> draws.again()
    >>> rng.normal() == first
    True
    """

    def __init__(self, function: object, args: tuple[object, ...]):
        self.again_each = [_again(random.getstate, random.setstate), _again(np.random.get_state, np.random.set_state)]
        self.again_each += map(_of_one, _generators(function, args))

    def again(self) -> None:
        """Let the generators draw once more what they have drawn since."""
        for again in self.again_each:
            again()

    def each(self, run: Callable[..., X]) -> Callable[..., X]:
        """A function that lets the generators draw once more each time it is called."""

        def runs(*args: object) -> X:
            self.again()
            return run(*args)

        return runs


class _Nothing(Draws):
    """Of a function that draws nothing."""

    def __init__(self) -> None:
        self.again_each = []


NOTHING = _Nothing()


def _again(get: Callable[[], X], put: Callable[[X], object]) -> Callable[[], object]:
    state = get()
    return lambda: put(state)


def _of_one(generator: Generator) -> Callable[[], object]:
    if isinstance(generator, random.Random):
        return _again(generator.getstate, generator.setstate)
    if isinstance(generator, np.random.RandomState):
        return _again(generator.get_state, generator.set_state)
    bits = generator.bit_generator
    return _again(lambda: bits.state, lambda state: setattr(bits, "state", state))


def _generators(function: object, args: tuple[object, ...]) -> Iterator[Generator]:
    """The generators of random numbers that arguments, and what a function names, are or hold."""
    seen: set[int] = set()
    stack: list[object] = [function, *args]
    while stack:
        value = stack.pop()
        if id(value) in seen or isinstance(value, (type, types.ModuleType, np.ndarray, str, bytes, int, float)):
            continue
        seen.add(id(value))
        if isinstance(value, Generator):
            yield value
        elif isinstance(value, types.MethodType):
            stack += [value.__self__, value.__func__]
        elif isinstance(value, types.FunctionType):
            stack += named_by(value)
        elif type(value).__module__.startswith("tangentc."):  # a derivative draws what its function does
            stack += [getattr(value, "function", None), getattr(value, "__tangentc_function__", None)]
        elif isinstance(value, (list, tuple, dict)):
            stack += value.values() if isinstance(value, dict) else value
        else:
            held = getattr(value, "__dict__", {})
            stack += held.values() if isinstance(held, Mapping) else ()
