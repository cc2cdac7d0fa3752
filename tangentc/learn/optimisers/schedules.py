"""Schedules: the rate as a function of the step, which counts from 0.  Any function of the step is one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from tangentc.errors import BadArgument
from tangentc.learn.optimisers.base import Rate, State


@dataclass(frozen=True)
class Constant:
    """The same rate at each step.

    >>> Constant(0.1)(5)
    0.1
    """

    rate: float

    def __call__(self, step: int) -> float:
        return self.rate


@dataclass(frozen=True)
class Step:
    """A rate that is multiplied by ``factor`` ``every`` so many steps, or ``at`` the steps that are given.

    >>> [round(Step(1.0, every=2)(k), 3) for k in range(5)]
    [1.0, 1.0, 0.1, 0.1, 0.01]
    >>> [Step(1.0, at=(1, 3), factor=0.5)(k) for k in range(4)]
    [1.0, 0.5, 0.5, 0.25]
    """

    rate: float
    every: int = 0
    factor: float = 0.1
    at: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if (self.every > 0) == bool(self.at):
            raise BadArgument(
                "Step needs one of every and at", why="these say when the rate changes", way_out="say every=30"
            )

    def __call__(self, step: int) -> float:
        return self.rate * self.factor ** (step // self.every if self.every else sum(step >= k for k in self.at))


@dataclass(frozen=True)
class Cosine:
    """From ``rate`` to ``least`` in ``steps`` along half a cosine, and then ``least``.

    Loshchilov and Hutter (2017), "SGDR: stochastic gradient descent with warm restarts", equation 5, without restarts.

    >>> [round(Cosine(1.0, 4)(k), 3) for k in (0, 2, 4, 9)]
    [1.0, 0.5, 0.0, 0.0]
    """

    rate: float
    steps: int
    least: float = 0.0

    def __post_init__(self) -> None:
        _some(self, self.steps)

    def __call__(self, step: int) -> float:
        return _half_cosine(self.rate, self.least, step / self.steps)


@dataclass(frozen=True)
class WarmUp:
    """A rate that rises in a line for ``steps``, from ``start`` times the first one of ``then``; this follows.

    Goyal and others (2017), "Accurate, large minibatch SGD", section 2.2.

    >>> [WarmUp(0.8, 4)(k) for k in range(6)]
    [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 0.8]
    >>> WarmUp(Cosine(1.0, 10), 5)(10)
    0.5
    """

    then: Rate
    steps: int
    start: float = 0.0

    def __post_init__(self) -> None:
        _some(self, self.steps)

    def __call__(self, step: int) -> float:
        after = step - self.steps
        full = self.then(max(after, 0)) if callable(self.then) else self.then
        return full if after >= 0 else full * (self.start + (1 - self.start) * step / self.steps)


@dataclass(frozen=True)
class OneCycle:
    """Up to ``peak`` and down again along half cosines; from ``peak / first``, to the ``last``-th part of that.

    ``rising`` is the share of the ``steps`` on which the rate rises.  Smith and Topin (2018), "Super-convergence",
    in PyTorch's form, without its cycle of the momentum.

    >>> [round(OneCycle(1.0, 11)(k), 4) for k in (0, 2, 10)]
    [0.04, 0.9603, 0.0]
    """

    peak: float
    steps: int
    rising: float = 0.3
    first: float = 25.0
    last: float = 1e4

    def __post_init__(self) -> None:
        _some(self, self.steps)
        if not 0 <= self.rising <= 1:
            raise BadArgument(f"rising={self.rising} is no share", why="it is from 0 to 1", way_out="say rising=0.3")

    def __call__(self, step: int) -> float:
        top, start = self.rising * self.steps - 1, self.peak / self.first
        if step <= top:
            return _half_cosine(start, self.peak, step / top if top else 1.0)
        rest = self.steps - 1 - top
        return _half_cosine(self.peak, start / self.last, (step - top) / rest if rest > 0 else 1.0)


@dataclass(frozen=True)
class Plateau:
    """A rate that is multiplied by ``factor`` when a loss has not become less for more than ``patience`` updates.

    The loss counts as less if it is by the share ``threshold``.  For ``pause`` updates after a change none are counted.
    What it remembers stands in the state of the optimiser, which multiplies its rate by ``scale`` there; that falls to
    ``least`` at most.

    >>> state = {"step": 0}
    >>> plateau = Plateau(factor=0.5, patience=1)
    >>> for loss in (1.0, 1.0, 1.0):
    ...     plateau.update(state, loss)
    >>> state["plateau"]["scale"]
    0.5
    """

    factor: float = 0.1
    patience: int = 10
    threshold: float = 1e-4
    pause: int = 0
    least: float = 0.0

    def __post_init__(self) -> None:
        if not 0 < self.factor < 1:
            why = "the rate is to become less"
            raise BadArgument(f"Plateau is given factor={self.factor}", why=why, way_out="say one from 0 to 1")

    def __call__(self, run: Any) -> None:
        """As a callback of `fit`: take note of the loss of an epoch, that of the validation if there is one."""
        row = run.history.last
        self.update(run.state, row.get("validation_loss", row["loss"]))

    def update(self, state: State, loss: Any) -> None:
        """Take note of a loss, such as that of an epoch on the data for validation; NaN is not less than any."""
        value = float(loss)
        kept = state.setdefault("plateau", {"scale": 1.0, "best": math.inf, "worse": 0, "pause": 0})
        best = kept["best"]
        if value < (best - self.threshold * abs(best) if math.isfinite(best) else math.inf):
            kept["best"], kept["worse"] = value, 0
        else:
            kept["worse"] += 1
        if kept["pause"] > 0:
            kept["pause"] -= 1
            kept["worse"] = 0
        if kept["worse"] > self.patience:
            kept["scale"] = max(kept["scale"] * self.factor, self.least)
            kept["pause"], kept["worse"] = self.pause, 0


def _half_cosine(start: float, end: float, share: float) -> float:
    return end + (start - end) * (1 + math.cos(math.pi * min(share, 1.0))) / 2


def _some(schedule: Any, steps: int) -> None:
    if steps < 1:
        raise BadArgument(
            f"{type(schedule).__name__} is given steps={steps}", why="it has to last", way_out="say 1 or more"
        )
