"""The type that NumPy itself gives for samples; where it refuses them, what is known of the number of axes."""

from __future__ import annotations

from collections.abc import Sequence as Seq
from dataclasses import replace
from typing import Any

import numpy as np

from tangentc.analysis.sampling import REFUSED, Fresh, Method, sampled
from tangentc.core import ops
from tangentc.core.lengths import EXACT, Length
from tangentc.core.nodes import Op
from tangentc.core.types import Array, Known, Scalar, Sequence, Tuple, Type

# ------------------------------------------------------------------ asking NumPy
JOINING = {np.concatenate, np.hstack, np.vstack}


def by_rank(op: Op, args: Seq[Type], fresh: Fresh) -> Type | None:
    """The type of what reshape, einsum and the like give where the lengths are not known well enough to ask NumPy."""
    arrays = [t for t in args if isinstance(t, Array)]
    given: Any = None
    if op in (np.linalg.solve, np.linalg.inv) and len(arrays) == len(args) and len({len(t.shape) for t in arrays}) == 1:
        floating = np.result_type(*(t.dtype for t in arrays), np.float64 if arrays[0].dtype[0] == "i" else np.float16)
        return Array(floating.name, arrays[-1].shape)
    if op is np.reshape and len(args) == 2:
        given = args[1:]
    elif isinstance(op, Method) and op.__name__ == "reshape":
        given = args[1:]
    elif op is np.einsum and isinstance(args[0], Known) and isinstance(args[0].value, str):
        subscripts = args[0].value.replace(" ", "")
        if "->" in subscripts and "." not in subscripts:
            given = [Scalar("int64")] * len(subscripts.split("->")[1])
    if op in JOINING and isinstance(args[0], (Tuple, Sequence)):
        parts = [t for t in args[0].items if isinstance(t, Array)]
        ranks = {len(t.shape) for t in parts}
        if (
            len(parts) == len(args[0].items)
            and len(ranks) == 1
            and min(ranks, default=0) >= (2 if op is np.vstack else 1)
        ):
            joined_ = np.result_type(*(t.dtype for t in parts)).name
            return Array(joined_, tuple(fresh() for _ in range(ranks.pop())))
    if not given and given != [] or not arrays:
        return None
    if len(given) == 1 and isinstance(given[0], (Tuple, Known)):
        given = given[0].items if isinstance(given[0], Tuple) else given[0].value
    dims = [t if isinstance(t, int) else t.value if isinstance(t, Scalar) else "" for t in given]
    if "" in dims:
        return None
    shape = tuple(d if isinstance(d, Length) or isinstance(d, int) and 0 < d < EXACT else fresh() for d in dims)
    dtype = np.result_type(*(t.dtype for t in arrays)).name
    return Array(dtype, shape) if shape else Scalar(dtype)


def rank_of_shape(t: Type) -> int | None:
    """How many axes a shape has that is given as a number or a tuple; None if that is not known."""
    value = t.value if isinstance(t, Known) else None
    if isinstance(t, Tuple):
        return len(t.items)
    return 1 if isinstance(t, Scalar) or isinstance(value, int) else len(value) if isinstance(value, tuple) else None


def by_sample(op: Op, args: Seq[Type], keywords: dict[str, Type], fresh: Fresh) -> Type:
    found = sampled(op, args, keywords, fresh)
    if ops.keeps_shape(op) and args and isinstance(found, Array) and isinstance(args[0], Array):
        return replace(found, shape=args[0].shape)  # also where the axis is not known
    if found is not REFUSED:
        return found
    return by_rank(op, args, fresh) or sampled(op, args, keywords, fresh, tied=True)
