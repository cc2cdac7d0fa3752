"""Gradients gathered over several batches, and averages of parameters over the steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tangentc.errors import BadArgument
from tangentc.learn.optimisers.base import Optimiser, State, of_state, zeros_like
from tangentc.learn.optimisers.steps import Steps, checked
from tangentc.learn.trained import paired, parameters


@dataclass(frozen=True)
class Accumulate:
    """An optimiser that steps once in ``every`` updates, by the mean of their gradients.

    Where the loss is a mean over equal batches, that is the step of one batch as large as all of them.

    >>> import numpy as np
    >>> model = {"w": np.zeros(1)}
    >>> from tangentc.learn.optimisers import SGD
    >>> optimiser = Accumulate(SGD(0.5), every=2)
    >>> state = optimiser.init(model)
    >>> for g in (1.0, 3.0):
    ...     optimiser.update(model, {"w": np.array([g])}, state)
    ...     print(model["w"])
    [0.]
    [-1.]
    """

    optimiser: Optimiser
    every: int

    def __post_init__(self) -> None:
        if self.every < 1:
            raise BadArgument(
                f"gradients of {self.every} batches cannot be gathered", why="a step needs one", way_out="say 1 or more"
            )

    def init(self, model: Any) -> State:
        """The state of the optimiser, with the number of the gathered gradients and their sum."""
        zeros = {path: zeros_like(p) for path, p in parameters(model).items()}
        return {**self.optimiser.init(model), "gathered": 0, "sum": zeros}

    def update(self, model: Any, gradient: Any, state: State) -> None:
        """Gather a gradient, and step with every last one; as `Optimiser.update`."""
        arrays, slopes = paired(model, gradient)
        sums = of_state(state, "sum", arrays)
        jobs = [(sums[path], checked(path, p, slopes[path], [sums[path]])) for path, p in arrays.items()]
        for total, g in jobs:
            total += g  # one pass, in place
        state["gathered"] += 1
        if state["gathered"] == self.every:
            for total, _ in jobs:
                total /= self.every
            self.optimiser.update(model, sums, state)
            for total, _ in jobs:
                total[...] = 0
            state["gathered"] = 0


@dataclass(frozen=True)
class EMA:
    """A moving average of the parameters: ``mean = decay mean + (1 - decay) p``, which starts from the parameters.

    Polyak and Juditsky (1992), "Acceleration of stochastic approximation by averaging", in exponential form.

    >>> import numpy as np
    >>> model = {"w": np.zeros(2)}
    >>> average = EMA(0.9)
    >>> state = average.init(model)
    >>> model["w"] += 1.0
    >>> average.update(model, state)
    >>> state["mean"]["w"]
    array([0.1, 0.1])
    >>> average.swap(model, state)
    >>> model["w"], state["mean"]["w"]
    (array([0.1, 0.1]), array([1., 1.]))
    """

    decay: float = 0.999

    def __post_init__(self) -> None:
        if not 0 <= self.decay <= 1:
            raise BadArgument(f"EMA is given decay={self.decay}", why="it is a share", way_out="say one from 0 to 1")

    def init(self, model: Any) -> State:
        """The averages before the first step: copies of the parameters."""
        return {"mean": {path: p.copy(order="K") for path, p in parameters(model).items()}}

    def update(self, model: Any, state: State) -> None:
        """Take the parameters as they are now into the averages, in place."""
        steps = Steps(None, {"decay": self.decay, "new": 1 - self.decay})
        for mean, p in _beside(model, state):
            steps.run(_mean, [mean, p])

    def swap(self, model: Any, state: State) -> None:
        """Put the averages into the model, and its parameters into the state; once more puts them back."""
        for mean, p in _beside(model, state):
            held = p.copy()
            p[...] = mean
            mean[...] = held


def _mean(n: Any, p: Any, g: Any) -> Any:
    return (n.decay * p + n.new * g,)


def _beside(model: Any, state: State) -> list[tuple[Any, Any]]:
    arrays = parameters(model)
    means = of_state(state, "mean", arrays)
    return [(means[path], checked(path, p, p, [means[path]])) for path, p in arrays.items()]
