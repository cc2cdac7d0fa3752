"""Where functions of SciPy take the array that they write their result into."""

from __future__ import annotations

import functools
import inspect
from typing import Any


@functools.lru_cache(maxsize=512)
def place_of_output(op: Any) -> int | None:
    """Where a function of `scipy.ndimage` takes ``output`` by position; None if it takes none."""
    if not (getattr(op, "__module__", None) or "").startswith("scipy.ndimage."):
        return None
    names = list(inspect.signature(op).parameters)
    return names.index("output") if "output" in names else None
