"""The update rules: each with the numbers of a step, and what these do to an entry of the arrays.

Defaults and meanings are those of `torch.optim`, but for Lion and LAMB, which are those of their papers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from tangentc.learn.optimisers.base import Optimiser, Rate, State, whole
from tangentc.learn.optimisers.clipping import norm
from tangentc.learn.optimisers.steps import Rule, Steps


@dataclass(frozen=True)
class SGD(Optimiser):
    """Stochastic gradient descent: ``p - rate g``.

    >>> model = {"w": np.array([1.0, 2.0])}
    >>> optimiser = SGD(0.1)
    >>> state = optimiser.init(model)
    >>> optimiser.update(model, {"w": np.array([1.0, -1.0])}, state)
    >>> model["w"], state
    (array([0.9, 2.1]), {'step': 1})
    """

    rate: Rate = 1e-3

    def numbers(self, state: State, rate: float) -> dict[str, float]:
        return {"rate": rate}

    @staticmethod
    def rule(n: Any, p: Any, g: Any) -> Any:
        return (p - n.rate * g,)


@dataclass(frozen=True)
class Momentum(Optimiser):
    """Descent with momentum: ``v = momentum v + (1 - damping) g``, and ``p - rate v``; the first ``v`` is ``g``.

    Polyak (1964), "Some methods of speeding up the convergence of iteration methods", in the form of Sutskever,
    Martens, Dahl, Hinton (2013), "On the importance of initialization and momentum in deep learning", section 2.

    >>> model = {"w": np.array([1.0, 2.0])}
    >>> optimiser = Momentum(0.1)
    >>> state = optimiser.init(model)
    >>> for _ in range(2):
    ...     optimiser.update(model, {"w": np.array([1.0, -1.0])}, state)
    >>> model["w"], state["velocity"]["w"]
    (array([0.71, 2.29]), array([ 1.9, -1.9]))
    """

    rate: Rate = 1e-3
    momentum: float = 0.9
    damping: float = 0.0

    buffers = ("velocity",)

    def numbers(self, state: State, rate: float) -> dict[str, float]:
        return {"rate": rate, "momentum": self.momentum, "new": 1 - self.damping if state["step"] else 1.0}

    @staticmethod
    def rule(n: Any, p: Any, g: Any, velocity: Any) -> Any:
        velocity = n.momentum * velocity + n.new * g
        return p - n.rate * velocity, velocity


@dataclass(frozen=True)
class Nesterov(Optimiser):
    """Nesterov's momentum: ``v = momentum v + g``, and ``p - rate (g + momentum v)``.

    Nesterov (1983), "A method for solving the convex programming problem with convergence rate O(1/k²)", in the form of
    Sutskever and others (2013), equations 3 and 4, at the point that looks ahead.

    >>> model = {"w": np.array([1.0, 2.0])}
    >>> optimiser = Nesterov(0.1)
    >>> optimiser.update(model, {"w": np.array([1.0, -1.0])}, optimiser.init(model))
    >>> model["w"]
    array([0.81, 2.19])
    """

    rate: Rate = 1e-3
    momentum: float = 0.9

    buffers = ("velocity",)

    def numbers(self, state: State, rate: float) -> dict[str, float]:
        return {"rate": rate, "momentum": self.momentum}

    @staticmethod
    def rule(n: Any, p: Any, g: Any, velocity: Any) -> Any:
        velocity = n.momentum * velocity + g
        return p - n.rate * (g + n.momentum * velocity), velocity


@dataclass(frozen=True)
class Adagrad(Optimiser):
    """Adagrad: rates that fall with the squares of all gradients so far, which start from ``initial``.

    Duchi, Hazan, Singer (2011), "Adaptive subgradient methods for online learning and stochastic optimization", the
    diagonal form of figure 1.

    >>> model = {"w": np.array([1.0, 2.0])}
    >>> optimiser = Adagrad(0.1)
    >>> optimiser.update(model, {"w": np.array([10.0, -0.1])}, optimiser.init(model))
    >>> model["w"].round(6)
    array([0.9, 2.1])
    """

    rate: Rate = 1e-2
    initial: float = 0.0
    eps: float = 1e-10

    buffers = ("square",)

    def init(self, model: Any) -> State:
        state = super().init(model)
        for square in state["square"].values():
            square[...] = self.initial * (1 + 1j) if square.dtype.kind == "c" else self.initial
        return state

    def numbers(self, state: State, rate: float) -> dict[str, float]:
        return {"rate": rate, "eps": self.eps}

    @staticmethod
    def rule(n: Any, p: Any, g: Any, square: Any) -> Any:
        square = square + np.square(g)
        return p - n.rate * (g / (np.sqrt(square) + n.eps)), square


@dataclass(frozen=True)
class RMSProp(Optimiser):
    """RMSProp: the gradient over the root of its mean square; ``centered`` takes its mean off, as Graves has it.

    Tieleman and Hinton (2012), "Neural networks for machine learning", lecture 6.5; Graves (2013), "Generating
    sequences with recurrent neural networks", equations 38 to 41.

    >>> model = {"w": np.array([1.0, 2.0])}
    >>> optimiser = RMSProp(0.1)
    >>> optimiser.update(model, {"w": np.array([10.0, -0.1])}, optimiser.init(model))
    >>> model["w"].round(5)
    array([0., 3.])
    """

    rate: Rate = 1e-2
    beta: float = 0.99
    eps: float = 1e-8
    momentum: float = 0.0
    centered: bool = False

    @property
    def buffers(self) -> tuple[str, ...]:
        return ("square",) + ("mean",) * self.centered + ("velocity",) * (self.momentum > 0)

    def numbers(self, state: State, rate: float) -> dict[str, float]:
        return {"rate": rate, "beta": self.beta, "new": 1 - self.beta, "eps": self.eps, "momentum": self.momentum}

    @property
    def rule(self) -> Rule:  # type: ignore[override]
        return _rms(self.centered, self.momentum > 0)


@lru_cache
def _rms(centered: bool, moving: bool) -> Rule:
    def rule(n: Any, p: Any, g: Any, square: Any, *rest: Any) -> Any:
        square = n.beta * square + n.new * np.square(g)
        if centered:
            mean = n.beta * rest[0] + n.new * g
            step = g / (np.sqrt(square - np.square(mean)) + n.eps)
        else:
            step = g / (np.sqrt(square) + n.eps)
        if moving:
            step = n.momentum * rest[-1] + step
        p = p - n.rate * step
        if centered and moving:
            return p, square, mean, step
        if centered:
            return p, square, mean
        return (p, square, step) if moving else (p, square)

    return rule


@dataclass(frozen=True)
class Adam(Optimiser):
    """Adam: the mean of the gradient over the root of its mean square, both without the bias of their start.

    Kingma and Ba (2015), "Adam: a method for stochastic optimization", algorithm 1.

    >>> model = {"w": np.array([1.0, 2.0])}
    >>> optimiser = Adam(0.1)
    >>> state = optimiser.init(model)
    >>> optimiser.update(model, {"w": np.array([10.0, -0.1])}, state)
    >>> model["w"].round(6), sorted(state)
    (array([0.9, 2.1]), ['mean', 'square', 'step'])
    """

    rate: Rate = 1e-3
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8

    buffers = ("mean", "square")

    def numbers(self, state: State, rate: float) -> dict[str, float]:
        t = state["step"] + 1
        root = math.sqrt(1 - self.beta2**t)  # of numerator and denominator
        return {**of_moments(self), "size": rate * root / (1 - self.beta1**t), "eps": self.eps * root}

    @staticmethod
    def rule(n: Any, p: Any, g: Any, mean: Any, square: Any) -> Any:
        mean = n.beta1 * mean + n.new1 * g
        square = n.beta2 * square + n.new2 * np.square(g)
        return p - n.size * (mean / (np.sqrt(square) + n.eps)), mean, square


@dataclass(frozen=True)
class AdamW(Adam):
    """Adam whose decay is apart from the gradient: parameters shrink by ``1 - rate decay`` before the step.

    Loshchilov and Hutter (2019), "Decoupled weight decay regularization", algorithm 2, in PyTorch's form.

    >>> model = {"weight": np.ones(2), "bias": np.ones(2)}
    >>> optimiser = AdamW(0.1, decay=0.5, decay_on="*weight")
    >>> optimiser.update(model, {"weight": np.zeros(2), "bias": np.zeros(2)}, optimiser.init(model))
    >>> model
    {'weight': array([0.95, 0.95]), 'bias': array([1., 1.])}
    """

    decay: float = 1e-2
    coupled = False


@dataclass(frozen=True)
class Adamax(Optimiser):
    """Adam by the greatest gradient of late, instead of the mean square.  Kingma and Ba (2015), algorithm 2.

    >>> model = {"w": np.array([1.0, 2.0])}
    >>> optimiser = Adamax(0.1)
    >>> optimiser.update(model, {"w": np.array([10.0, -0.1])}, optimiser.init(model))
    >>> model["w"].round(6)
    array([0.9, 2.1])
    """

    rate: Rate = 2e-3
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8

    buffers = ("mean", "most")

    def numbers(self, state: State, rate: float) -> dict[str, float]:
        t = state["step"] + 1
        return {
            "beta1": self.beta1, "new1": 1 - self.beta1, "beta2": self.beta2, "eps": self.eps,
            "size": rate / (1 - self.beta1**t),
        }  # fmt: skip

    @staticmethod
    def rule(n: Any, p: Any, g: Any, mean: Any, most: Any) -> Any:
        mean = n.beta1 * mean + n.new1 * g
        most = np.maximum(n.beta2 * most, np.abs(g) + n.eps)
        return p - n.size * (mean / most), mean, most


@dataclass(frozen=True)
class NAdam(Optimiser):
    """Adam with Nesterov's momentum, whose share grows with the steps by ``momentum_decay``.

    Dozat (2016), "Incorporating Nesterov momentum into Adam", algorithm 8, with the schedule of section 2.4.

    >>> model = {"w": np.array([1.0, 2.0])}
    >>> optimiser = NAdam(0.1)
    >>> optimiser.update(model, {"w": np.array([10.0, -0.1])}, optimiser.init(model))
    >>> model["w"].round(3)
    array([0.894, 2.106])
    """

    rate: Rate = 2e-3
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    momentum_decay: float = 4e-3

    buffers = ("mean", "square")

    def init(self, model: Any) -> State:
        return {**super().init(model), "product": 1.0}

    def numbers(self, state: State, rate: float) -> dict[str, float]:
        t = state["step"] + 1
        root = math.sqrt(1 - self.beta2**t)
        now, following = self._momentum(t), self._momentum(t + 1)
        state["product"] *= now
        return {
            **of_moments(self), "eps": self.eps * root,
            "of_g": rate * root * (1 - now) / (1 - state["product"]),
            "of_mean": rate * root * following / (1 - state["product"] * following),
        }  # fmt: skip

    def _momentum(self, t: int) -> float:
        return self.beta1 * (1 - 0.5 * 0.96 ** (t * self.momentum_decay))

    @staticmethod
    def rule(n: Any, p: Any, g: Any, mean: Any, square: Any) -> Any:
        mean = n.beta1 * mean + n.new1 * g
        square = n.beta2 * square + n.new2 * np.square(g)
        return p - (n.of_g * g + n.of_mean * mean) / (np.sqrt(square) + n.eps), mean, square


@dataclass(frozen=True)
class Lion(Optimiser):
    """Lion: steps of one size, in the direction of the sign of a mean.  Decay is apart from the gradient.

    Chen and others (2023), "Symbolic discovery of optimization algorithms", algorithm 2.

    >>> model = {"w": np.array([1.0, 2.0])}
    >>> optimiser = Lion(0.1)
    >>> optimiser.update(model, {"w": np.array([10.0, -0.1])}, optimiser.init(model))
    >>> model["w"]
    array([0.9, 2.1])
    """

    rate: Rate = 1e-4
    beta1: float = 0.9
    beta2: float = 0.99

    buffers = ("mean",)
    coupled = False

    def numbers(self, state: State, rate: float) -> dict[str, float]:
        return {"rate": rate, **of_moments(self)}

    @staticmethod
    def rule(n: Any, p: Any, g: Any, mean: Any) -> Any:
        direction = np.sign(n.beta1 * mean + n.new1 * g)
        return p - n.rate * direction, n.beta2 * mean + n.new2 * g


def of_moments(optimiser: Any) -> dict[str, float]:
    """How much of the two moments stays, and how much of the new gradient comes in."""
    return {
        "beta1": optimiser.beta1, "new1": 1 - optimiser.beta1,
        "beta2": optimiser.beta2, "new2": 1 - optimiser.beta2,
    }  # fmt: skip


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
        unbias = {"unbias1": 1 / (1 - self.beta1**t), "unbias2": 1 / (1 - self.beta2**t)}
        return {**of_moments(self), **unbias, "eps": self.eps, "rate": rate, "pull": self.decay}

    def apply(self, arrays: list[Any], shrinks: bool, decays: bool, steps: Steps) -> None:
        p, r = arrays[0], arrays[0].copy(order="K")
        steps.run(whole(self.rule, shrinks, False, False), [*arrays, r])
        if decays:
            steps.run(_added, [r, p])
        long, wide = norm([p]), norm([r])
        size = steps.numbers["rate"] * (long / wide if long > 0 and wide > 0 else 1.0)
        Steps(self.kernels, {"pull": -size}).run(_added, [p, r])

    @staticmethod
    def rule(n: Any, p: Any, g: Any, mean: Any, square: Any, r: Any) -> Any:
        mean = n.beta1 * mean + n.new1 * g
        square = n.beta2 * square + n.new2 * np.square(g)
        return p, mean, square, n.unbias1 * mean / (np.sqrt(n.unbias2 * square) + n.eps)


def _added(n: Any, p: Any, g: Any) -> Any:
    return (p + n.pull * g,)
