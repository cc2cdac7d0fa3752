"""Operations that work entry by entry: arguments with fewer axes get some behind that of the batch.

s * x      ->      s[:, None] * x            where s is a number of each example and x a vector
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tangentc.batching.marks import Mark
from tangentc.batching.writer import Writer
from tangentc.core.nodes import Assign, Atom, Const, Op
from tangentc.core.types import Array, Known, Scalar, Tuple, Type, is_complex

OF_A_BATCH: dict[Op, Op] = {  # what works on numbers alone, as what NumPy does with arrays
    max: np.maximum, min: np.minimum, bool: np.bool_, complex: np.complex128, pow: np.power,
    **{f: g for m in (math, cmath) for n, f in vars(m).items() if isinstance(g := getattr(np, n, None), np.ufunc)},
    **{f: getattr(np, f"arc{f.__name__[1:]}") for f in (
        math.asin, math.acos, math.atan, math.atan2, math.asinh, math.acosh, math.atanh,
        cmath.asin, cmath.acos, cmath.atan, cmath.asinh, cmath.acosh, cmath.atanh)},
}  # fmt: skip
del OF_A_BATCH[math.remainder]  # which rounds the quotient, as NumPy's does not
WHOLE_NUMBERS = (math.floor, math.ceil, math.trunc)  # which give integers


def elementwise(w: Writer, s: Assign) -> tuple[Atom, Mark] | None:
    """Write an operation that has one entry for each entry of its broadcast arguments."""
    t = w.type(s.target)
    first = t.items[0] if isinstance(t, Tuple) and t.items else t
    numbers = [a for a in s.args if not isinstance(w.type(a), Known)]
    ranks = w.ranks(*numbers)
    op = of_a_batch(s.op, len(s.args))
    if (
        ranks is None
        or op is None
        or not isinstance(first, (Array, Scalar))
        or any(map(w.mark, dict(s.keywords).values()))
    ):
        return None
    rank = max(ranks)
    args = tuple(as_strong(w, a, w.aligned(a, rank), s.args) if a in numbers else a for a in s.args)
    if getattr(s.op, "__module__", None) == "cmath" and args:
        args = tuple(a if is_complex(w.type(s.args[0])) else w.emit(np.astype, (a, Const(np.complex128))) for a in args)
    made: Atom = w.emit(op, args, tuple((k, w.now(a)) for k, a in s.keywords))
    if s.op in WHOLE_NUMBERS:
        made = w.emit(np.astype, (made, Const(np.int64)))
    return made, tuple(True for _ in t.items) if isinstance(t, Tuple) else True


def of_a_batch(op: Op, count: int) -> Op | None:
    """The operation on arrays that stands for one; None if there is none."""
    of_numbers = getattr(op, "__module__", None) in ("math", "cmath") or op in OF_A_BATCH
    if not of_numbers:
        return op
    found: Any = OF_A_BATCH.get(op)
    return found if found is not None and count == getattr(found, "nin", 1) else None


def as_strong(w: Writer, atom: Atom, now: Atom, args: Sequence[Atom]) -> Atom:
    """A batch of Python's numbers, in the dtype that these take from what they are computed with."""
    t = w.type(atom)
    if not w.mark(atom) or not isinstance(t, Scalar) or not t.weak:
        return now
    strong = [np.dtype(o.dtype) for o in map(w.type, args) if is_strong(o)]
    if not strong:
        return now
    wanted = np.result_type(*strong, {"b": False, "i": 0, "u": 0, "f": 0.0, "c": 0j}[np.dtype(t.dtype).kind])
    if wanted == np.result_type(*strong, np.dtype(t.dtype)):
        return now
    return w.emit(np.astype, (now, Const(wanted.type)))


def is_strong(t: Type) -> bool:
    return isinstance(t, Array) or isinstance(t, Scalar) and not t.weak and t.dtype != "str"
