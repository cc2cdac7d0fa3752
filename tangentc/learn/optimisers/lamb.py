"""LAMB: Adam whose step at each parameter is as long as the parameter itself, times the rate."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from tangentc.learn.optimisers.base import Optimiser, State
from tangentc.learn.optimisers.clipping import norm
from tangentc.learn.optimisers.programs import Program, trace
from tangentc.learn.optimisers.rules import of_moments
from tangentc.learn.optimisers.steps import Steps


@dataclass(frozen=True)
class LAMB(Optimiser):
    """Adam with a rate for each parameter: ``rate |p| / |r|``, where ``r`` is Adam's step and the decay.

    You and others (2020), "Large batch optimization for deep learning: training BERT in 76 minutes", algorithm 2, with
    the identity for their phi.  Where one of the norms is zero, the rate is the given one.

    >>> model = {"w": np.array([3.0, 4.0])}
    >>> optimiser = LAMB(0.1)
    >>> optimiser.update(model, {"w": np.array([10.0, -0.1])}, optimiser.init(model))
    >>> model["w"].round(4)
    array([2.6464, 4.3536])
    """

    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-6

    buffers = ("mean", "square")

    def numbers(self, state: State, rate: float) -> dict[str, float]:
        t = state["step"] + 1
        return {
            **of_moments(self), "eps": self.eps, "rate": rate,
            "unbias1": 1 / (1 - self.beta1**t), "unbias2": 1 / (1 - self.beta2**t),
        }  # fmt: skip

    def program(self, numbers: tuple[str, ...], decays: bool) -> Program:
        return _direction(numbers, decays)

    def apply(self, program: Program, arrays: list[Any], numbers: dict[str, float], steps: Steps) -> None:
        p = arrays[0]
        step = p.copy(order="K")
        steps.run(program, [*arrays, step], numbers)
        long, wide = norm([p]), norm([step])
        size = numbers["rate"] * (long / wide if long > 0 and wide > 0 else 1.0)
        steps.run(_move(), [p, step], {"size": size})


@lru_cache(64)
def _direction(numbers: tuple[str, ...], decays: bool) -> Program:
    def rule(p: Any, g: Any, mean: Any, square: Any, step: Any, n: Any) -> Any:
        if "shrink" in numbers:
            g = n.shrink * g
        mean = n.beta1 * mean + n.new1 * g
        square = n.beta2 * square + n.new2 * np.square(g)
        step = n.unbias1 * mean / (np.sqrt(n.unbias2 * square) + n.eps)
        return mean, square, step + n.decay * p if decays else step

    return trace(rule, ("p", "g", "mean", "square", "step"), ("mean", "square", "step"), numbers)


@lru_cache(1)
def _move() -> Program:
    def rule(p: Any, g: Any, n: Any) -> Any:
        return (p - n.size * g,)

    return trace(rule, ("p", "g"), ("p",), ("size",))
