"""The step of one parameter in place: over vectors, block by block of memory that stays in the cache."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from tangentc.errors import BadArgument
from tangentc.learn.optimisers.programs import Program, with_numba, with_numpy

BLOCK = 1 << 18  # bytes of one array that are worked on at once
_COMPILED = frozenset({np.dtype(np.float32), np.dtype(np.float64)})


class Steps:
    """Runs programs on parameters with the numbers of one step; arrays of scratch are kept between parameters."""

    def __init__(self, kernels: str | None):
        self.kernels = kernels
        self.scratch: dict[tuple[np.dtype, int], np.ndarray] = {}
        self.numbers: dict[np.dtype, tuple[Mapping[str, float], list[Any]]] = {}

    def run(self, program: Program, arrays: Sequence[Any], numbers: Mapping[str, float]) -> None:
        """Change a parameter and its state; the arrays are those of the program: parameter, gradient, state.

        Arrays of the device, and those whose entries do not lie one after the other, are worked on whole.
        """
        flat = vectors(arrays)
        if flat is None:
            if arrays[0].dtype.kind == "c":  # the rules are of real numbers
                raise BadArgument(
                    "a complex parameter and its state lie in memory in other orders",
                    why="they are stepped as vectors", way_out="make the state by init(model)",
                )  # fmt: skip
            results = program.rule(*arrays, SimpleNamespace(**numbers))
            for (name, _), result in zip(program.results, results):
                arrays[program.arrays.index(name)][...] = result
        elif self.kernels and flat[0].dtype in _COMPILED:
            if not flat[1].flags.writeable:
                flat[1] = flat[1].copy()  # Numba would compile once more for what is read-only
            with_numba(program)(*flat, *self.of_type(numbers, flat[0].dtype, scalar=True))
        else:
            self.by_blocks(program, flat, numbers)

    def by_blocks(self, program: Program, flat: list[np.ndarray], numbers: Mapping[str, float]) -> None:
        function, count = with_numpy(program)
        size, dtype = flat[0].size, flat[0].dtype
        values = self.of_type(numbers, dtype, scalar=False)
        block = min(size, BLOCK // dtype.itemsize)
        scratch = [self.piece(dtype, k, block) for k in range(count)]
        if size == block:
            function(*flat, *values, *scratch)
            return
        for start in range(0, size - block + 1, block):
            function(*[a[start : start + block] for a in flat], *values, *scratch)
        if rest := size % block:
            function(*[a[size - rest :] for a in flat], *values, *[s[:rest] for s in scratch])

    def piece(self, dtype: np.dtype, k: int, size: int) -> np.ndarray:
        whole = self.scratch.get((dtype, k))
        if whole is None:
            whole = self.scratch[dtype, k] = np.empty(BLOCK // dtype.itemsize, dtype)
        return whole[:size]

    def of_type(self, numbers: Mapping[str, float], dtype: np.dtype, scalar: bool) -> list[Any]:
        """The numbers in the dtype of the arrays, which so keep it: ufuncs are quickest with arrays of rank 0."""
        held, found = self.numbers.get(dtype, (None, []))
        if held is not numbers:
            make = dtype.type if scalar else lambda value: np.array(value, dtype)
            found = [make(value) for value in numbers.values()]
            self.numbers[dtype] = numbers, found
        return found


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
