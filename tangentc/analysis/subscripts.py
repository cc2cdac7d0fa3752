"""What subscripts take of an array: some of its entries, or all."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from tangentc.core.build import Types, shape_of
from tangentc.core.lengths import Dim
from tangentc.core.nodes import Atom, Const
from tangentc.core.types import Array, Known, Scalar, Sequence, Tuple


def picks(key: object) -> bool:
    """Whether a subscript takes some entries, by a number or by an array; one that is a slice gives a view."""
    whole = key.value if isinstance(key, Known) else key.items if isinstance(key, Tuple) and key.cls is None else key
    keys = [k.value if isinstance(k, Known) else k for k in (whole if isinstance(whole, tuple) else (whole,))]
    return any(isinstance(k, (int, list, Scalar, Array, Sequence, np.ndarray)) for k in keys)


def covers(key: object, array: str, types: Types) -> bool:
    """Whether a key is a mask of the shape of the array."""
    t, shape = types.of(key) if isinstance(key, str) else None, shape_of(types.of(array))
    return isinstance(t, Array) and t.dtype == "bool" and shape is not None and shape_of(t) == shape


def takes_all(keys: Collection[Atom], shape: tuple[Dim, ...] | None) -> bool:
    """Whether some subscripts are the places of all entries of an array with one axis."""
    if shape is None or len(shape) != 1 or not isinstance(shape[0], int):
        return False
    n, places = shape[0], {k.value for k in keys if isinstance(k, Const) and type(k.value) is int}
    return n > 0 and {k % n for k in places} == {*range(n)}
