"""The step of one parameter in place: a rule of vectors, on blocks of memory that stay in the cache, or by Numba."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from tangentc.errors import BadArgument

BLOCK = 1 << 18  # bytes of one array that are worked on at once
Rule = Callable[..., Any]
"""What numbers, parameter, gradient and state, ``rule(n, p, g, *state)``, give for parameter and state."""


class Steps:
    """Runs rules on parameters with the numbers of one step, which are in the dtype of the arrays, and so keep it."""

    def __init__(self, kernels: str | None, numbers: Mapping[str, float]):
        self.kernels, self.numbers = kernels, numbers
        self.typed: dict[Any, Any] = {}

    def run(self, rule: Rule, arrays: Sequence[Any]) -> None:
        """Change a parameter and its state; ``arrays`` are parameter, gradient, state.

        Arrays of the device, and those whose entries do not lie one after the other, are worked on whole.
        """
        flat = vectors(arrays)
        if flat is None and arrays[0].dtype.kind == "c":  # the rules are of real numbers
            raise BadArgument(
                "a complex parameter and its state lie in memory in other orders",
                why="they are stepped as vectors", way_out="make the state by init(model)",
            )  # fmt: skip
        parts = list(arrays) if flat is None else flat
        dtype = parts[0].dtype
        if dtype not in self.typed:
            self.typed[dtype] = _numbers(tuple(self.numbers))(*map(dtype.type, self.numbers.values()))
        n = self.typed[dtype]
        if flat is not None and self.kernels and dtype.char in "fd":
            if not flat[1].flags.writeable:
                flat[1] = flat[1].copy()  # Numba would compile once more for what is read-only
            compiled(rule, len(flat))(n, *flat)
            return
        size = parts[0].size
        block = max(size, 1) if flat is None else BLOCK // dtype.itemsize
        for start in range(0, size, block):
            own = parts if size <= block else [a[start : start + block] for a in parts]
            for old, new in zip((own[0], *own[2:]), rule(n, *own)):
                if new is not old:
                    old[...] = new


@lru_cache(256)
def _numbers(names: tuple[str, ...]) -> Any:
    return namedtuple("Numbers", names)  # type: ignore[misc]


@lru_cache(256)
def compiled(rule: Rule, count: int) -> Callable[..., None]:
    """A rule as one loop over the entries of so many arrays, which Numba compiles."""
    import numba

    jit = numba.njit(error_model="numpy")
    names = [f"a{k}[i]" for k in range(count)]
    changed = ", ".join([names[0], *names[2:]]) + ","
    heads = ", ".join(name[:-3] for name in names)
    text = f"def update(n, {heads}):\n    for i in range(a0.size):\n        {changed} = rule(n, {', '.join(names)})\n"
    made: dict[str, Any] = {"rule": jit(rule.made(jit) if hasattr(rule, "made") else rule)}
    exec(compile(text, "<update>", "exec"), made)
    loop: Callable[..., None] = jit(made["update"])
    return loop


def vectors(arrays: Sequence[Any]) -> list[np.ndarray] | None:
    """Parameter, gradient and state as vectors in the order of memory; only the gradient may be a copy.

    A complex array is the vector of its real and imaginary parts, as in PyTorch.  None where there is none.

    >>> w = np.zeros((2, 2), order="F")
    >>> vectors([w, np.array([[1.0, 2.0], [3.0, 4.0]])])[1]
    array([1., 3., 2., 4.])
    """
    p = arrays[0]
    if not isinstance(p, np.ndarray):
        return None
    if not p.flags.c_contiguous:
        arrays = [a.T for a in arrays]
    for k, a in enumerate(arrays):
        if k != 1 and not a.flags.c_contiguous:
            return None
    out = [a.reshape(-1) for a in arrays]
    if p.dtype.kind == "c":
        real = np.empty(0, p.dtype).real.dtype
        out = [np.ascontiguousarray(a).view(real) for a in out]
    return out


def steepest(g: Any) -> Any:
    """The direction in which a real function rises most: of complex numbers the conjugate of what `grad` gives."""
    return g.conj() if g.dtype.kind == "c" else g


def checked(path: str, p: Any, g: Any, kept: Sequence[Any]) -> Any:
    """The gradient as an array; raises `BadArgument` where these arrays do not belong together."""
    if isinstance(p, np.ndarray):
        g = np.asarray(g)
    elif type(g) is not type(p):
        raise BadArgument(
            f"the gradient of {path} is a {type(g).__name__}", why=f"the parameter is a {type(p).__module__} array",
            way_out="compute the loss on the device",
        )  # fmt: skip
    if g.dtype != p.dtype:
        raise BadArgument(
            f"the gradient of {path} is of {g.dtype}", why=f"the parameter is of {p.dtype}",
            way_out="compute the loss in the parameter's dtype, or convert the gradient with astype",
        )  # fmt: skip
    _fit_for_steps(path, p)
    for a in kept:
        if a.shape != p.shape or a.dtype != p.dtype:
            raise BadArgument(
                f"the state of {path} is of shape {a.shape} and {a.dtype}",
                why=f"the parameter is of shape {p.shape} and {p.dtype}", way_out="make the state by init(model)",
            )  # fmt: skip
        _fit_for_steps(f"the state of {path}", a)
    return g


def _fit_for_steps(name: str, a: Any) -> None:
    """Raise `BadArgument` if an array cannot be stepped in place."""
    on_host = isinstance(a, np.ndarray)
    if on_host and not a.flags.writeable:
        raise BadArgument(f"{name} cannot be updated", why="its array is read-only", way_out="make it a copy")
    if a.dtype.kind == "c" and not (on_host and a.flags.forc):
        raise BadArgument(
            f"{name} is of {a.dtype} and cannot be updated",
            why="it is not an array of NumPy whose entries lie one after the other",
            way_out="keep its real and imaginary parts as two parameters",
        )  # fmt: skip
    if a.dtype.char == "e":
        raise BadArgument(
            f"{name} is of float16", why="numbers like eps=1e-8 are zero there",
            way_out="keep parameters in float32, and convert them to float16 where they are used",
        )  # fmt: skip


def owner(array: Any) -> int:
    """What the memory of an array belongs to."""
    while (base := getattr(array, "base", None)) is not None:
        array = base
    return id(array)
