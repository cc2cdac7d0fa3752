"""L-BFGS, for losses without noise and models that are small enough for it: SciPy's, on the model's own arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tangentc import value_and_grad
from tangentc.errors import BadArgument
from tangentc.learn.optimisers.base import distinct
from tangentc.learn.optimisers.steps import checked, steepest
from tangentc.learn.trained import paired


@dataclass(frozen=True)
class Minimum:
    """Where a minimisation has ended: the loss, how many steps and calls of the gradient, and SciPy's message."""

    value: float
    steps: int
    calls: int
    converged: bool
    message: str


@dataclass(frozen=True)
class LBFGS:
    """Quasi-Newton steps from the last ``history`` gradients, with a line search; SciPy's L-BFGS-B without bounds.

    It ends after ``steps``, or where no entry of the gradient is more than ``tolerance``, or where the loss falls by
    less than the share ``change``.  Liu and Nocedal (1989), "On the limited memory BFGS method for large scale
    optimization".
    """

    steps: int = 100
    history: int = 10
    tolerance: float = 1e-8
    change: float = 1e-15

    def minimise(self, f: Callable[..., Any], model: Any, *args: Any) -> Minimum:
        """Bring ``f(model, *args)`` to a minimum by changing the arrays of the model in place.

        They are taken as one vector of float64, and are where they were if ``f`` raises.  Raises `BadArgument`
        without SciPy, and for arrays that are not NumPy's or read-only.

        >>> def loss(model, x, y):
        ...     return np.mean((model["w"] * x + model["b"] - y) ** 2)
        >>> model = {"w": np.zeros(()), "b": np.zeros(())}
        >>> x = np.linspace(0.0, 1.0, 20)
        >>> end = LBFGS().minimise(loss, model, x, 3.0 * x - 1.0)
        >>> float(model["w"].round(6)), float(model["b"].round(6)), end.converged
        (3.0, -1.0, True)
        """
        minimize = _scipy()
        arrays = distinct(model)
        for path, p in arrays.items():
            if not isinstance(p, np.ndarray):
                raise BadArgument(
                    f"{path} is not an array of NumPy", why="SciPy works in main memory",
                    way_out="take another optimiser on the device",
                )  # fmt: skip
            checked(path, p, p, ())
        start = {path: p.copy() for path, p in arrays.items()}
        slope = value_and_grad(f)

        def at(vector: np.ndarray) -> tuple[float, np.ndarray]:
            _put(arrays, vector)
            value, gradient = slope(model, *args)
            found = paired(model, gradient)[1]
            return float(value), _vector([steepest(np.asarray(found[path])) for path in arrays])

        options = {"maxiter": self.steps, "maxfun": 20 * self.steps, "maxcor": self.history, "ftol": self.change}
        try:
            end = minimize(
                at, _vector(arrays.values()), jac=True, method="L-BFGS-B", options={**options, "gtol": self.tolerance}
            )
        except BaseException:
            for path, p in arrays.items():
                p[...] = start[path]
            raise
        _put(arrays, end.x)
        return Minimum(float(end.fun), int(end.nit), int(end.nfev), bool(end.success), str(end.message))


def _scipy() -> Any:
    try:
        from scipy.optimize import minimize
    except ImportError:
        raise BadArgument(
            "LBFGS needs SciPy", why="it is not installed", way_out='install it: pip install "tangentc[scipy]"'
        ) from None
    return minimize


def _vector(arrays: Any) -> np.ndarray:
    """All entries as float64, complex ones as their two parts."""
    parts = [np.ascontiguousarray(a).reshape(-1) for a in arrays]
    return np.concatenate([a.view(a.real.dtype) if a.dtype.kind == "c" else a for a in parts]).astype(np.float64)


def _put(arrays: dict[str, np.ndarray], vector: np.ndarray) -> None:
    done = 0
    for p in arrays.values():
        size = p.size * (2 if p.dtype.kind == "c" else 1)
        part = vector[done : done + size]
        done += size
        p[...] = (part.view(np.complex128) if p.dtype.kind == "c" else part).reshape(p.shape)
