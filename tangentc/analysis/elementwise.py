"""Operations with one entry for each entry of their broadcast arguments, and the types that they give."""

from __future__ import annotations

from collections.abc import Sequence as Seq

import numpy as np

from tangentc.analysis.sampling import Fresh, run, sample
from tangentc.core.lengths import Dim, Length
from tangentc.core.nodes import Op
from tangentc.core.types import Array, Scalar, Tuple, Type, Unknown
from tangentc.ops.table import every

ELEMENTWISE = every("elementwise")


def is_elementwise(op: Op) -> bool:
    """Whether the result has one entry for each entry of the broadcast arguments."""
    return op in ELEMENTWISE or isinstance(op, np.ufunc) and op.signature is None


def broadcast(shapes: Seq[tuple[Dim, ...]], fresh: Fresh) -> tuple[Dim, ...]:
    """The shape that shapes broadcast to.  A length known not to be one wins over the others, and of these one of
    the arguments over one of a value that is there while compiling."""
    out: list[Dim] = []
    for axis in range(-max(map(len, shapes)), 0):
        dims = {s[axis] for s in shapes if len(s) >= -axis} - {1}
        sure = [d for d in dims if isinstance(d, int) or d.plural]
        if sure:
            out.append(min(sure, key=_by_names))
        elif not dims:
            out.append(1)
        else:
            out.append(dims.pop() if len(dims) == 1 else fresh())
    return tuple(out)


def _by_names(d: Dim) -> tuple[int, str]:
    kind = d.symbol[0] if isinstance(d, Length) else ""
    return {"g": 1, "?": 2}.get(kind, 0), str(d)


def elementwise(op: Op, args: Seq[Type], fresh: Fresh) -> Type:
    shapes = [t.shape for t in args if isinstance(t, Array)]
    samples = [
        np.ones((1,) * len(t.shape), t.dtype) if isinstance(t, Array) else sample(_plain_scalar(t)) for t in args
    ]
    result = run(op, samples, {})
    if result is None:
        return Unknown("NumPy refuses these types")
    shape = broadcast(shapes, fresh)
    if isinstance(result, tuple):  # np.modf and its kin
        return Tuple(tuple(Array(r.dtype.name, shape) if shape else Scalar(r.dtype.name) for r in result))
    return Array(result.dtype.name, shape) if shape else Scalar(result.dtype.name)


def _plain_scalar(t: Type) -> Type:
    return Scalar(t.dtype, t.weak) if isinstance(t, Scalar) else t
