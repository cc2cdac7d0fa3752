"""What all optimisers share: their settings, their state, and how an update goes through a model."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass, fields
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np

from tangentc.errors import BadArgument
from tangentc.learn.optimisers.clipping import shrinking
from tangentc.learn.optimisers.steps import Rule, Steps, checked, owner, steepest
from tangentc.learn.trained import paired, parameters

Rate = float | Callable[[int], float]
State = dict[str, Any]


@dataclass(frozen=True)
class Optimiser:
    """Settings of an optimiser.  A number for ``rate``, or a schedule: a function of the step, which counts from 0.

    - ``decay`` pulls parameters towards zero, those at the paths that ``decay_on`` matches: one pattern or several,
      such as ``"*weight"``.
    - ``clip`` is the most that the global norm of the gradients may be: what is longer is shortened to it.
    - ``kernels="numba"`` compiles the update as one loop, with the same bits: the first step waits a second for that.

    Arithmetic is in each parameter's dtype.  A complex parameter counts as its real and imaginary part, as in PyTorch.
    """

    rate: Rate = 1e-3
    _: KW_ONLY
    decay: float = 0.0
    decay_on: str | tuple[str, ...] = "*"
    clip: float | None = None
    kernels: str | None = None

    coupled: ClassVar[bool] = True  # whether decay is added to the gradient, or taken off the parameter
    rule: ClassVar[Rule]
    """``rule(n, p, g, *buffers)`` gives new parameter and buffers; the numbers are attributes of ``n``."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                share = field.name.startswith(("beta", "momentum")) and field.name != "momentum_decay"
                if not (0 <= value < 1 if share else 0 <= value < math.inf):
                    raise BadArgument(
                        f"{type(self).__name__} is given {field.name}={value}",
                        why=f"it is from 0 {'up to 1, and less than 1' if share else 'upwards, and finite'}",
                        way_out="give such a number",
                    )  # fmt: skip
        if self.kernels not in (None, "numba"):
            raise BadArgument(
                f"kernels={self.kernels!r} is not known", why="kernels are made by Numba", way_out='say kernels="numba"'
            )
        if self.kernels and find_spec("numba") is None:
            raise BadArgument(
                'kernels="numba" needs Numba', why="it is not installed",
                way_out='install it: pip install "tangentc[numba]"; or leave kernels out',
            )  # fmt: skip

    # ------------------------------------------------------------ what each optimiser says
    @property
    def buffers(self) -> tuple[str, ...]:
        """The names of what the state has of each parameter: arrays of its shape and dtype, at first zeros."""
        return ()

    def numbers(self, state: State, rate: float) -> dict[str, float]:
        """The numbers of this step that the rule uses; it may change numbers of the state."""
        raise NotImplementedError

    # ------------------------------------------------------------ what users call
    def init(self, model: Any) -> State:
        """The state before the first step: a plain tree of numbers and of dicts from path to array."""
        arrays = distinct(model)
        return {"step": 0, **{name: {path: zeros_like(p) for path, p in arrays.items()} for name in self.buffers}}

    def update(self, model: Any, gradient: Any, state: State) -> None:
        """Change the arrays of the model and of the state in place.

        ``gradient`` is what `tangentc.grad` gave by the model, or a dict from path to array as of `gradients`.  Raises
        `BadArgument`, and has changed nothing, where shapes or dtypes do not fit or an array is read-only.
        """
        jobs = self._jobs(model, gradient, state)
        rate = self._rate(state)
        shrink = shrinking([arrays[1] for arrays, _ in jobs], self.clip)
        numbers = self.numbers(state, rate)
        numbers |= {} if shrink is None else {"shrink": shrink}
        numbers |= {"pull": self.decay if self.coupled else 1 - rate * self.decay} if self.decay else {}
        steps = Steps(self.kernels, numbers)
        for arrays, decays in jobs:
            self.apply(arrays, shrink is not None, decays, steps)
        state["step"] += 1

    def apply(self, arrays: list[Any], shrinks: bool, decays: bool, steps: Steps) -> None:
        """Change one parameter and its buffers."""
        steps.run(whole(self.rule, shrinks, decays and self.coupled, decays and not self.coupled), arrays)

    def _jobs(self, model: Any, gradient: Any, state: State) -> list[tuple[list[Any], bool]]:
        """Each parameter with its gradient and its buffers, and whether it decays."""
        arrays, slopes = paired(model, gradient)
        kept = [of_state(state, name, arrays) for name in self.buffers]
        patterns = (self.decay_on,) if isinstance(self.decay_on, str) else self.decay_on
        owners = {owner(p) for p in arrays.values()}
        jobs = []
        for path, p in arrays.items():
            own = [buffer[path] for buffer in kept]
            g = steepest(checked(path, p, slopes[path], own))
            if owner(g) in owners:
                g = g.copy()  # the step of one parameter must not change the gradient of another
            decays = self.decay != 0 and (patterns == ("*",) or any(fnmatchcase(path, one) for one in patterns))
            jobs.append(([p, g, *own], decays))
        return jobs

    def _rate(self, state: State) -> float:
        rate = self.rate(state["step"]) if callable(self.rate) else self.rate
        rate = float(rate) * state.get("plateau", {}).get("scale", 1.0)
        if not math.isfinite(rate):
            raise BadArgument(
                f"the rate of step {state['step']} is {rate}", why="it is not finite", way_out="mend the schedule"
            )
        return rate


@lru_cache(256)
def whole(rule: Rule, shrinks: bool, of_gradient: bool, of_parameter: bool) -> Rule:
    """A rule with clipping before it, and decay of the gradient or of the parameter."""
    if not (shrinks or of_gradient or of_parameter):
        return rule

    def made(jit: Callable[[Rule], Rule]) -> Rule:
        inner = jit(rule)

        def stepped(n: Any, p: Any, g: Any, *state: Any) -> Any:
            if shrinks:
                g = n.shrink * g
            if of_gradient:
                g = g + n.pull * p
            if of_parameter:
                p = n.pull * p
            return inner(n, p, g, *state)

        return stepped

    stepped = made(lambda same: same)
    stepped.made = made  # type: ignore[attr-defined]  # for Numba
    return stepped


def zeros_like(p: Any) -> Any:
    """Zeros as `p`; what it takes from the system is asked for at once, not in the first step."""
    zeros = p.copy(order="K")
    zeros[...] = 0
    return zeros


def of_state(state: State, name: str, paths: Iterable[str]) -> dict[str, Any]:
    found = state.get(name)
    if isinstance(found, dict) and found.keys() == set(paths):
        return found
    raise BadArgument(
        f"the state has no {name!r} for the parameters of this model",
        why="it is that of another optimiser, or the model has got other parameters", way_out="make it by init(model)",
    )  # fmt: skip


def distinct(model: Any) -> dict[str, Any]:
    """The parameters; raises `BadArgument` if there are none, or two in the same memory."""
    arrays = parameters(model)
    if not arrays:
        raise BadArgument(
            "the model has no parameters", why="those are arrays of real or complex numbers",
            way_out="keep a parameter that is one number as an array of rank 0: np.array(0.5)",
        )  # fmt: skip
    same: dict[int, list[str]] = {}
    for path, p in arrays.items():
        if isinstance(p, np.ndarray):
            same.setdefault(owner(p), []).append(path)
    for paths in same.values():
        for k, path in enumerate(paths):
            for other in paths[:k]:
                if np.shares_memory(arrays[path], arrays[other]):
                    raise BadArgument(
                        f"{other} and {path} share memory", why="a step of one would be a step of the other too",
                        way_out="let one be the parameter, and take the other from it where it is used",
                    )  # fmt: skip
    return arrays
