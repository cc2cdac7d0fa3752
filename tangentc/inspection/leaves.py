"""The numbers that a value is made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tangentc.core.types import components, is_container, is_differentiable
from tangentc.core.values import is_array, type_of


def flatten(x: Any) -> Iterator[tuple[str, np.ndarray]]:
    """The numeric leaves of a value, each with its path."""
    t = type_of(x)
    if is_container(t):
        for key, _ in components(t):
            part = getattr(x, key) if isinstance(key, str) and not isinstance(x, dict) else x[key]
            for path, leaf in flatten(part):
                yield f"[{key!r}]{path}", leaf
    elif is_differentiable(t):
        yield "", np.asarray(x.get() if is_array(x) and not isinstance(x, np.ndarray) else x)
