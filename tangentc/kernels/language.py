"""What a kernel may say: numbers, entries of arrays, loops and branches.

Numba takes more of Python than this.  What stands here has in compiled code the value that NumPy and Python give it.
"""

from __future__ import annotations

import builtins
import math
import operator

import numpy as np

from tangentc.core import ops
from tangentc.core.build import Types
from tangentc.core.nodes import Atom, Const, Op
from tangentc.core.types import Array, Scalar, Tuple, Type, may_be_number
from tangentc.ops.table import existing, known_of, say

DTYPES = {"float64", "float32", "int64", "bool"}

# ---- the spelling of operations on entries, where it is another one than that on arrays
say(np.where, kernel=ops.select)
say(np.add, kernel=operator.add)
say(np.subtract, kernel=operator.sub)
say(np.multiply, kernel=operator.mul)
say(np.divide, kernel=operator.truediv)
say(np.negative, kernel=operator.neg)
say(np.power, kernel=operator.pow)
say(np.abs, np.fabs, kernel=builtins.abs)
say(np.greater, kernel=operator.gt)
say(np.greater_equal, kernel=operator.ge)
say(np.less, kernel=operator.lt)
say(np.less_equal, kernel=operator.le)
say(np.equal, kernel=operator.eq)
say(np.not_equal, kernel=operator.ne)
say(np.copy, np.ascontiguousarray, np.asarray, ops.in_order, kernel=ops.identity)
_PLAIN: tuple[Op, ...] = (
    ops.identity, ops.select, operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pos,
    operator.pow, operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne, operator.not_,
    operator.and_, operator.or_, operator.invert, builtins.abs, builtins.float, builtins.bool,
    builtins.int,
    *existing(
        "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "square", "sin", "cos", "tan", "arcsin",
        "arccos", "arctan", "arctan2", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "hypot", "floor",
        "ceil", "trunc", "sign", "maximum", "minimum", "isnan", "isinf", "isfinite", "logaddexp", "copysign",
        "reciprocal", "logical_and", "logical_or", "logical_not", "float64", "float32", "degrees", "radians",
    ),
    math.sin, math.cos, math.tan, math.atan, math.atan2, math.tanh, math.erf, math.erfc, math.copysign, math.hypot,
    math.sqrt, math.log, math.log2, math.log10, math.log1p, math.exp, math.expm1, math.fabs, math.asin, math.acos,
    math.sinh, math.cosh, math.asinh, math.acosh, math.atanh, math.isnan, math.isinf, math.isfinite, math.degrees,
    math.radians,
)  # fmt: skip
for _op in _PLAIN:
    say(_op, kernel=_op)
say(np.exp, math.exp, routine="exp")
say(np.log, math.log, routine="log")
say(np.log1p, math.log1p, routine="log1p")
say(np.tanh, math.tanh, routine="tanh")
say(math.erf, routine="erf")
say(np.sin, math.sin, routine="sin")
say(np.cos, math.cos, routine="cos")
ARITHMETIC = {operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.neg, operator.pos}
OF_INTEGERS = {operator.floordiv, operator.mod}  # of numbers of Python, with a divisor that is known
LARGEST_EXPONENT, LARGEST_OF_COSH = 709.782712893384, 710.4758600739439
Steps = tuple[tuple[object, ...], ...]  # operations one after the other, each with its other arguments
OUTSIDE: dict[Op, tuple[Steps, type[Exception]]] = {  # where Python's functions raise
    math.sqrt: (((operator.lt, 0.0),), ValueError),
    math.log: (((operator.le, 0.0),), ValueError),
    math.log2: (((operator.le, 0.0),), ValueError),
    math.log10: (((operator.le, 0.0),), ValueError),
    math.log1p: (((operator.le, -1.0),), ValueError),
    math.asin: (((builtins.abs,), (operator.gt, 1.0)), ValueError),
    math.acos: (((builtins.abs,), (operator.gt, 1.0)), ValueError),
    math.atanh: (((builtins.abs,), (operator.ge, 1.0)), ValueError),
    math.acosh: (((operator.lt, 1.0),), ValueError),
    math.exp: (((operator.gt, LARGEST_EXPONENT),), OverflowError),
    math.expm1: (((operator.gt, LARGEST_EXPONENT),), OverflowError),
    math.sinh: (((builtins.abs,), (operator.gt, LARGEST_OF_COSH)), OverflowError),
    math.cosh: (((builtins.abs,), (operator.gt, LARGEST_OF_COSH)), OverflowError),
    builtins.int: (((builtins.abs,), (operator.lt, 2.0**62), (operator.not_,)), OverflowError),  # NaN is not, either
}
EXTREMES = {builtins.max: operator.gt, builtins.min: operator.lt}  # what takes the place of the first


def is_number(t: Type) -> bool:
    return isinstance(t, Scalar) and t.dtype in DTYPES


def is_array(t: Type) -> bool:
    """Whether a value is an array whose entries kernels work on."""
    return isinstance(t, Array) and t.dtype in DTYPES and bool(t.shape) and not may_be_number(t) and not t.or_narrower


def leaves(t: Type) -> list[Type] | None:
    """The numbers and arrays that a value consists of, None where it holds something else."""
    if is_number(t) or is_array(t):
        return [t]
    if not isinstance(t, Tuple) or t.cls is not None:
        return None
    parts = [leaves(item) for item in t.items]
    return None if any(p is None for p in parts) else [leaf for p in parts for leaf in p]  # type: ignore[union-attr]


def entry_op(op: Op, args: tuple[Atom, ...], types: Types) -> Op | None:
    """How an operation on numbers, or on arrays entry by entry, is said of entries; None where kernels have no word
    for it."""
    given = [types.of(a) for a in args]
    kinds = {getattr(t, "dtype", "") for t in given}
    if not kinds <= DTYPES or not args:
        return None
    if op in OF_INTEGERS:
        divisor = args[1].value if isinstance(args[1], Const) else 0
        return op if kinds == {"int64"} and isinstance(divisor, int) and divisor > 0 else None
    if op in EXTREMES:
        return op if len(args) > 1 and len(kinds) == 1 and all(isinstance(t, Scalar) for t in given) else None
    found = known_of(op).kernel
    if found is None or found is ops.select and getattr(given[0], "dtype", "") != "bool":
        return None
    if op in OUTSIDE and len(args) > 1:
        return None
    if found in ARITHMETIC and kinds == {"bool"}:
        return None  # truth values add up otherwise
    if found is operator.pow and (kinds == {"int64"} or not _is_power(args, given)):
        return None
    if found in (operator.invert, operator.and_, operator.or_) and kinds != {"bool"}:
        return None
    return operator.not_ if found in (operator.invert, np.logical_not) else found  # type: ignore[return-value]


def _is_power(args: tuple[Atom, ...], given: list[Type]) -> bool:
    """Whether a power has an exponent that is known, or no error of Python's own."""
    if isinstance(args[1], Const):
        weak = getattr(given[0], "weak", False)
        return not weak or float(args[1].value).is_integer() and args[1].value >= 0
    return not all(getattr(t, "weak", False) for t in given)


def raises_where(op: Op, args: tuple[Atom, ...], types: Types) -> tuple[Atom, Steps, type[Exception]] | None:
    """Where an operation on numbers of Python raises: for which argument, where what these steps make of it is true,
    and the error."""
    if (
        op is operator.truediv
        and not isinstance(args[1], Const)
        and all(getattr(types.of(a), "weak", False) for a in args)
    ):
        return args[1], ((operator.eq, 0.0),), ZeroDivisionError
    return (args[0], *OUTSIDE[op]) if op in OUTSIDE else None


def strong_dtype(args: tuple[Atom, ...], types: Types) -> str | None:
    """The dtype that numbers of Python take on in an operation, None where they stay what they are."""
    strong = [t.dtype for a in args if isinstance(t := types.of(a), (Scalar, Array)) and not getattr(t, "weak", False)]
    return "float32" if "float32" in strong and "float64" not in strong else None


def typed(atom: Atom, dtype: str | None, types: Types) -> Atom | None:
    """A constant of Python as one of another dtype; None for a value that has to be turned into one."""
    t = types.of(atom)
    if dtype is None or not isinstance(t, Scalar) or not t.weak or t.dtype == "bool":
        return atom
    return Const(np.dtype(dtype).type(atom.value)) if isinstance(atom, Const) else None
