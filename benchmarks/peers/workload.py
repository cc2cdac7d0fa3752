"""What is measured: a user's function, its arguments, and the adjoint that an expert writes for it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Workload:
    """One program.  `by_hand(*args)` is the value, and the gradient in the order of `wrt`."""

    name: str
    function: Callable[..., Any]
    by_hand: Callable[..., Any]
    wrt: tuple[str, ...]
    args: Callable[[], tuple[Any, ...]]
    """The arguments that are timed."""
    small: Callable[[], tuple[Any, ...]]
    """Arguments for the tests."""

    @property
    def places(self) -> tuple[int, ...]:
        """The positions of `wrt` among the arguments."""
        code = self.function.__code__
        names = code.co_varnames[: code.co_argcount]
        return tuple(names.index(name) for name in self.wrt)


def with_numpy(function: FunctionType, numpy: Any, **others: Any) -> FunctionType:
    """The same source, and that of the functions beside it which it calls, where `np` means another module.

    `others` stand in the place of what has their names there.
    """
    given = function.__globals__
    mine = {**given, "np": numpy, **others}
    for name, value in given.items():
        if name not in others and isinstance(value, FunctionType) and value.__globals__ is given:
            mine[name] = FunctionType(value.__code__, mine, name, value.__defaults__, value.__closure__)
    return mine[function.__name__]


def leaves(value: Any) -> Iterator[np.ndarray]:
    """The arrays and numbers of a nest of tuples, lists and dicts, those of a dict in the order of its keys."""
    if isinstance(value, dict):
        for key in sorted(value):
            yield from leaves(value[key])
    elif isinstance(value, (tuple, list)):
        for part in value:
            yield from leaves(part)
    else:
        yield np.asarray(value)


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """The nest with each of its leaves changed, in the order of `leaves`."""
    if isinstance(value, dict):
        return {key: mapped(value[key], change) for key in sorted(value)}
    if isinstance(value, (tuple, list)):
        return type(value)(mapped(part, change) for part in value)
    return change(value)
