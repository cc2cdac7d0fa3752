"""The derivative of a function at a point as a linear map of flat vectors, by push-forwards and pull-backs."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tangentc.api import jvp, vjp
from tangentc.core.draws import Draws
from tangentc.core.types import is_container
from tangentc.core.values import type_of
from tangentc.errors import BadArgument, TangentcError
from tangentc.sparse.colouring import Vector


class Linear:
    """The derivative of ``f(*args)`` by the argument at ``position``; entries stand in the order of C.

    Each push-forward runs the function, with the same random numbers; pull-backs share one run of it.
    """

    def __init__(self, f: Callable[..., Any], args: tuple[Any, ...], position: int, is_symmetric: bool = False):
        self.f, self.args, self.position = f, args, position
        self.is_symmetric = is_symmetric  # columns are rows then: whichever mode takes the function gives both
        self.x = args[position]
        self.name = getattr(f, "__name__", "a function")
        self.draws = Draws(f, args)
        self.value: Any = None

    def push(self, direction: Vector) -> Vector:
        """The derivative along a direction: ``J @ direction``."""
        return self._pulled(direction) if self.is_symmetric and not self.has_forward else self._pushed(direction)

    def pull(self, weights: Vector) -> Vector:
        """The derivative of a sum of the results, each with its weight: ``weights @ J``."""
        return self._pushed(weights) if self.is_symmetric and self.has_forward else self._pulled(weights)

    @functools.cached_property
    def has_forward(self) -> bool:
        """Whether forward mode takes the function; it does not where a rule of the user's says nothing of it."""
        with contextlib.suppress(TangentcError):
            self._pushed(np.zeros(np.size(self.x)))
            return True
        self._pulled(np.zeros(np.size(self._reverse[0])))  # which says what is wrong, if that is refused too
        return False

    @functools.cached_property
    def shape(self) -> tuple[int, int]:
        """How many results there are, and how many entries of the argument."""
        if self.value is None and not self.has_forward:
            self.value = self._reverse[0]
        if self.value is None:  # has_forward was known
            self._pushed(np.zeros(np.size(self.x)))
        return np.size(self.value), np.size(self.x)

    @property
    def has_both(self) -> bool:
        """Whether rows and columns can be asked for: a pull-back mixes the two parts of complex results."""
        return self.is_symmetric or self.has_forward and not np.iscomplexobj(self.value)

    @property
    def precision(self) -> Any:
        """What NumPy knows of the coarser of the numbers at both ends."""
        ends = [d for d in (np.asarray(end).dtype for end in (self.x, self.value)) if d.kind in "fc"]
        return max(map(np.finfo, ends), key=lambda info: info.eps)

    def _pushed(self, direction: Vector) -> Vector:
        tangents = [None] * len(self.args)
        tangents[self.position] = _like(self.x, direction)
        self.draws.again()
        self.value, dot = jvp(self.f, self.args, tangents)
        return self._numbers(dot)

    def _pulled(self, weights: Vector) -> Vector:
        self.value, pullback = self._reverse
        self._numbers(0.0)
        bar = pullback(_like(self.value, weights))[self.position]
        return np.zeros(np.size(self.x)) if bar is None else self._numbers(bar)

    @functools.cached_property
    def _reverse(self) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
        self.draws.again()
        return vjp(self.f, *self.args)

    def _numbers(self, made: Any) -> Vector:
        if is_container(type_of(self.value)):
            raise BadArgument(
                f"the result of {self.name} is a container, and its sparse derivative is one matrix",
                why="the matrix has a row for each entry of one array",
                way_out="let the function return one array, np.concatenate of its parts",
            )
        return np.asarray(made).reshape(-1)


def _like(value: Any, vector: Vector) -> Any:
    """A flat vector as a tangent or a seed of a value."""
    if isinstance(value, np.ndarray):
        return vector.reshape(value.shape).astype(value.dtype if value.dtype.kind in "fc" else float, copy=False)
    return (type(value) if isinstance(value, np.floating) else float)(vector[0])
