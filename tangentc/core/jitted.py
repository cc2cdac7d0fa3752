"""Functions that Numba compiles, as the functions of Python that they are made of.

@numba.njit
def f(x): ...              f.py_func
numba.prange(n)            range(n)
numba.float64(x)           np.float64(x)
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


def is_jitted(value: Any) -> bool:
    """Whether a function is one that `numba.njit` has decorated."""
    numba: Any = sys.modules.get("numba")
    return hasattr(numba, "njit") and isinstance(value, numba.core.dispatcher.Dispatcher)


def in_python(value: Any) -> Any:
    """What a name of Numba stands for where its code is read as Python; any other value as it is."""
    numba: Any = sys.modules.get("numba")
    if not hasattr(numba, "njit"):  # which an import that is under way has not got yet
        return value
    if isinstance(value, numba.core.dispatcher.Dispatcher):
        return value.py_func
    if value is numba.prange:
        return range
    if value is numba.typed.List:
        return list
    if isinstance(value, numba.types.Number):
        return getattr(np, value.name, value)
    return value
