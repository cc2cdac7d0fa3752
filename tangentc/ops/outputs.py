"""Where functions of SciPy take the array that they write their result into."""

from __future__ import annotations

import functools

from tangentc.ops.table import Op, known_of


@functools.lru_cache(maxsize=512)
def place_of_output(op: Op) -> int | None:
    """Where a function of `scipy.ndimage` takes ``output`` by position; None if it takes none."""
    if not (getattr(op, "__module__", None) or "").startswith("scipy.ndimage."):
        return None
    signature = known_of(op).signature
    names = list(signature.parameters) if signature is not None else []
    return names.index("output") if "output" in names else None
