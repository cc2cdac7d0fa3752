"""The types of results where NumPy is not asked, of NumPy's functions and of those that emitted code calls."""

from __future__ import annotations

import dataclasses
import math
import operator
import types as pytypes

import numpy as np

from tangentc import runtime
from tangentc.analysis.asking import by_sample, rank_of_shape
from tangentc.analysis.elementwise import broadcast
from tangentc.analysis.parts import attribute_of, constant, int_of
from tangentc.analysis.results import FLOAT, INTEGER, Applied, result, result_of_known
from tangentc.analysis.sampling import run
from tangentc.core import ops
from tangentc.core.lengths import Dim, Length, entries, part
from tangentc.core.nodes import Const, Op
from tangentc.core.types import (
    Array,
    Dict,
    Known,
    Optional,
    Scalar,
    Sequence,
    Struct,
    Tuple,
    Type,
    Unknown,
    alike,
    holds_numbers,
    in_floats,
    is_complex,
    is_container,
    is_differentiable,
    may_be_none,
)
from tangentc.core.values import data_type


def shadow_type(t: Type) -> Type:
    """The type of the shadow of a value: lists where it has tuples, since a shadow is added to."""
    match t:
        case Tuple(items, _):
            return Sequence(list, alike(tuple(map(shadow_type, items))), len(items))
        case Sequence(kind, items, length):
            mutable = list if kind is tuple else kind
            return Sequence(mutable, alike(tuple(map(shadow_type, items))), length, t.key)
        case Dict(keys, items):
            return Dict(keys, tuple(map(shadow_type, items)))
        case Struct(_, fields, items):
            return Struct(pytypes.SimpleNamespace, fields, tuple(map(shadow_type, items)))
    if is_differentiable(t):
        return t
    return Scalar("float64", True) if isinstance(t, Scalar) and holds_numbers(t) else Known(Const(None))


def adjoint_type(t: Type) -> Type:
    """The type of what stands for a value in the adjoint: an object with the same attributes, say."""
    match t:
        case Scalar():
            return Scalar(t.dtype, t.weak)
        case Struct(cls, _, items):
            own = cls if dataclasses.is_dataclass(cls) else pytypes.SimpleNamespace
            return dataclasses.replace(t, cls=own, items=tuple(map(adjoint_type, items)))
        case Tuple(items) | Sequence(items=items) | Dict(items=items):
            return dataclasses.replace(t, items=tuple(map(adjoint_type, items)))
    return t


def all_moves(t: Type) -> bool:
    """Whether a derivative may flow through all that a container holds, which is surely there."""
    if may_be_none(t):
        return False
    return all(map(all_moves, t.items)) if is_container(t) else isinstance(t, (Array, Scalar)) and is_differentiable(t)


def is_in_form(t: Type) -> bool:
    """Whether the shadow of a value is what its adjoint is given as."""
    return all_moves(t) and (not is_container(t) or shadow_type(t) == adjoint_type(t) and all(map(is_in_form, t.items)))


def complex_dtype(t: Array) -> str:
    return np.result_type(t.dtype, np.complex64).name


@result(np.linalg.eig, np.linalg.eigvals)
def _eigenvalues(call: Applied) -> Type | None:
    if not isinstance(call.first, Array) or is_complex(call.first):
        return None
    dtype = complex_dtype(call.first)  # they may be real; as complex numbers they may be too
    w = Array(dtype, call.first.shape[:-1])
    both = (w, Array(dtype, call.first.shape))
    return w if call.op is np.linalg.eigvals else Tuple(both, type(np.linalg.eig(np.eye(1))))


@result_of_known(np.polyfit)
def _coefficients(call: Applied) -> Type | None:
    """Not asked of samples: LAPACK writes to the terminal where it is given those that no polynomial fits."""
    if len(call.args) != 3 or call.keywords.keys() - {"w"} or not isinstance(y := call.args[1], Array):
        return None
    degree = constant(call.args[2])
    count = degree + 1 if isinstance(degree, int) else call.fresh()
    return Array(np.result_type(y.dtype, np.float64).name, (count, *y.shape[1:]))


@result_of_known(np.quantile)
def _quantile(call: Applied) -> Type | None:
    """That of one level, which a sample of a number is not, is of the type of a median."""
    if len(call.args) != 2 or not isinstance(call.args[1], Scalar) or "method" in call.keywords:
        return None
    return by_sample(np.median, [call.first], call.keywords, call.fresh)


@result(np.unravel_index)
def _unraveled(call: Applied) -> Type | None:
    if len(call.args) != 2 or not isinstance(call.first, (Scalar, Array)):
        return None
    axes = rank_of_shape(call.args[1])
    each = Scalar("int64") if isinstance(call.first, Scalar) else Array("int64", call.first.shape)
    return Tuple((each,) * axes) if axes is not None else Unknown("the number of axes is not known")


@result(np.nonzero)
def _places(call: Applied) -> Type | None:
    if len(call.args) != 1 or not isinstance(call.first, Array):
        return None
    return Tuple((Array("int64", (call.fresh(),)),) * len(call.first.shape))


SPLITTING: dict[Op, int] = {np.split: 0, np.array_split: 0, np.vsplit: 0, np.hsplit: 1, np.dsplit: 2}


@result(*SPLITTING)
def _split(call: Applied) -> Type | None:
    """What splitting an array into a number of parts gives; None for parts at given places."""
    x = call.first
    if not isinstance(x, Array):
        return None
    given = dict(zip(("indices_or_sections", "axis"), call.args[1:])) | call.keywords
    count, axis = (constant(given.get(k, Known(Const(None)))) for k in ("indices_or_sections", "axis"))
    axis = SPLITTING[call.op] if "axis" not in given else axis
    axis = 0 if call.op is np.hsplit and len(x.shape) == 1 else axis
    sections = given.get("indices_or_sections")

    def part() -> Array:
        return Array(x.dtype, (*x.shape[:axis], call.fresh(), *x.shape[axis:][1:]))

    is_number = isinstance(sections, Scalar) and sections.value is None  # that only the run knows
    if is_number and type(axis) is int:
        return Sequence(list, (part(),), None)
    if type(count) is not int or type(axis) is not int or isinstance(x.shape[axis], int):
        return None
    parts = tuple(part() for _ in range(count))
    return Sequence(list, parts if call.op is np.array_split else parts[:1], count)


@result(np.gradient)
def _differences(call: Applied) -> Type | None:
    """What `numpy.gradient` gives: an array, or one for each of several axes."""
    x, axis = call.first, call.keywords.get("axis")
    if not isinstance(x, Array):
        return None
    count: int | None = len(x.shape) if axis is None or isinstance(axis, Known) and axis.value is None else None
    if isinstance(axis, Scalar) or isinstance(axis, Known) and isinstance(axis.value, int):
        count = 1
    elif isinstance(axis, Tuple):
        count = len(axis.items)
    elif isinstance(axis, Known) and isinstance(axis.value, tuple):
        count = len(axis.value)
    if count is None:
        return Unknown("how many axes np.gradient is given is not known")
    dtype = x.dtype if np.dtype(x.dtype).kind in "fc" else "float64"
    return Array(dtype, x.shape) if count == 1 else Tuple((Array(dtype, x.shape),) * count)


@result(np.finfo, np.iinfo)
def _limits(call: Applied) -> Type | None:
    return Known(Const(call.op(call.first.value))) if len(call.args) == 1 and isinstance(call.first, Known) else None


@result(np.ndindex)
def _indices(call: Applied) -> Type:
    axes = call.first.items if len(call.args) == 1 and isinstance(call.first, Tuple) else call.args
    return Sequence(list, (Tuple((INTEGER,) * len(axes)),), None)


@result(np.ndim)
def _rank(call: Applied) -> Type | None:
    return attribute_of(call.first, "ndim", call.fresh) if isinstance(call.first, Array) else None


@result_of_known(operator.matmul, np.matmul, np.dot)
def _matmul(call: Applied) -> Type | None:
    """The type of a product of matrices, stacks of them, or vectors."""
    if call.keywords or len(call.args) != 2 or not all(isinstance(t, Array) for t in call.args):
        return None
    a, b = call.args
    if min(len(a.shape), len(b.shape)) == 0 or call.op is np.dot and max(len(a.shape), len(b.shape)) > 2:
        return None
    dtype = run(np.matmul, [np.ones((1,) * len(t.shape), t.dtype) for t in (a, b)], {})
    if dtype is None:
        return None
    stacks: tuple[Dim, ...] = ()
    if max(len(a.shape), len(b.shape)) > 2:
        stacks = broadcast([a.shape[:-2], b.shape[:-2]], call.fresh)
    rows: tuple[Dim, ...] = a.shape[-2:-1] if len(a.shape) > 1 else ()
    columns: tuple[Dim, ...] = b.shape[-1:] if len(b.shape) > 1 else ()
    shape = (*stacks, *rows, *columns)
    return Array(dtype.dtype.name, shape) if shape else Scalar(dtype.dtype.name)


@result_of_known(np.ravel)
def _ravelled(call: Applied) -> Type | None:
    """The type of all entries of an array in a row."""
    count = entries(call.first.shape) if isinstance(call.first, Array) and len(call.args) == 1 else None
    return None if count is None else Array(call.first.dtype, (count,))


@result_of_known(np.reshape)
def _reshaped(call: Applied) -> Type | None:
    """The type of an array in a shape of which one length is -1: as many as there are entries for."""
    if not isinstance(call.first, Array) or len(call.args) != 2:
        return None
    asked = shape_asked(call.args[1])
    rest = [d for d in asked if d != -1]
    if len(rest) != len(asked) - 1 or None in rest:
        return None
    count = entries(call.first.shape, rest)  # type: ignore[arg-type]
    return None if count is None else Array(call.first.dtype, tuple(count if d == -1 else d for d in asked))  # type: ignore[misc]


def shape_asked(t: Type) -> list[Dim | None]:
    """The lengths that a shape of this type says, None where it does not say one."""
    if isinstance(t, Known):
        return [d if type(d) is int else None for d in (t.value if isinstance(t.value, tuple) else (t.value,))]
    return [getattr(item, "value", None) for item in (t.items if isinstance(t, Tuple) else (t,))]


@result_of_known(np.tensordot)
def _contracted(call: Applied) -> Type | None:
    """The type of a product that sums over the last axes of one array and the first of another."""
    (count,) = [*call.args[2:], *call.keywords.values()] or (Scalar("int64", True, 2),)
    axes = count.value if isinstance(count, (Known, Scalar)) else None
    if type(axes) is not int or not all(isinstance(t, Array) for t in call.args[:2]):
        return None
    a, b = call.args[:2]
    dtype = run(np.tensordot, [np.ones((1,) * len(t.shape), t.dtype) for t in (a, b)], {"axes": axes})
    shape = (*a.shape[: len(a.shape) - axes], *b.shape[axes:])
    return None if dtype is None else Array(dtype.dtype.name, shape)


@result_of_known(np.einsum)
def _einsum(call: Applied) -> Type | None:
    """The type of a sum of products over the letters that are left out; see `numpy.einsum`."""
    text = call.first.value if isinstance(call.first, Known) else None
    arrays = call.args[1:]
    if not isinstance(text, str) or "." in text or "->" not in text or not all(isinstance(t, Array) for t in arrays):
        return None
    given, out = text.replace(" ", "").split("->")
    of: dict[str, list[tuple[Dim, ...]]] = {}
    for letters, t in zip(given.split(","), arrays):
        for letter, d in zip(letters, t.shape):
            of.setdefault(letter, []).append((d,))
    samples = [np.ones((1,) * len(t.shape), t.dtype) for t in arrays]
    dtype = run(np.einsum, [text, *samples], {}) if len(given.split(",")) == len(arrays) else None
    if dtype is None or not set(out) <= of.keys():
        return None
    shape = tuple(broadcast(of[letter], call.fresh)[0] for letter in out)
    return Array(dtype.dtype.name, shape) if shape else Scalar(dtype.dtype.name)


@result_of_known(operator.floordiv)
def _part(call: Applied) -> Type | None:
    """The type of a part of a length, of an integer."""
    d, count = (getattr(t, "value", None) for t in call.args)
    return int_of(found) if isinstance(d, Length) and type(count) is int and (found := part(d, count)) else None


# ------------------------------------------------------------------ what emitted code calls
@result(ops.inserted)
def _as_given(call: Applied) -> Type:
    return _of_any_value(call.first)


@result(runtime.unbroadcast, runtime.shaped_like, runtime.or_zero, ops.seen, ops.seen_bar)
def _as_the_second(call: Applied) -> Type:
    return _of_any_value(call.args[1])


def _of_any_value(t: Type) -> Type:
    return dataclasses.replace(t, value=None) if isinstance(t, Scalar) else t


@result(runtime.once)
def _as_the_first(call: Applied) -> Type | None:
    return call.args[0]


@result(runtime.real_power)
def _real_power(call: Applied) -> Type | None:
    return None if any(isinstance(t, Array) for t in call.args) else FLOAT


@result(runtime.passing, runtime.steps_without_kinks)
def _steps(call: Applied) -> Type:
    return Array("float64", (call.fresh(),))


@result(runtime.passed)
def _passed(call: Applied) -> Type:
    return Array("int64", call.args[1].shape if isinstance(call.args[1], Array) else (call.fresh(),))


@result(runtime.zeros_of, runtime.zeros_of_copy)
def _zeros_of_optional(call: Applied) -> Type | None:
    return call.first if isinstance(call.first, Optional) else None


@result_of_known(runtime.zeros_of, runtime.zeros_of_copy)
def _zeros(call: Applied) -> Type:
    t = call.first
    return shadow_type(in_floats(data_type(t.value) if isinstance(t, Known) and isinstance(t.value, tuple) else t))


@result_of_known(runtime.units)
def _units(call: Applied) -> Type | None:
    x = call.first
    if not isinstance(x, (Scalar, Array)):
        return None
    shape: tuple[Dim, ...] = x.shape if isinstance(x, Array) else ()
    known = [d for d in shape if isinstance(d, int)]
    count = shape[0] if len(shape) == 1 else math.prod(known) if len(known) == len(shape) else call.fresh()
    return Array(np.result_type(x.dtype, np.float16).name, (count, *shape))


@result_of_known(runtime.split_like)
def _split_like(call: Applied) -> Type | None:
    x, like = call.args[:2]
    if not isinstance(x, Array):
        return None
    told_apart = _items_told_apart(like)
    if told_apart and all(isinstance(t, (Array, Scalar)) for t in told_apart):
        cut = tuple(Array(x.dtype, t.shape if isinstance(t, Array) else ()) for t in told_apart)
        return Sequence(list, alike(cut), len(cut))
    if isinstance(like, Sequence) and like.length is None and like.items and isinstance(like.items[0], Array):
        return Sequence(list, (dataclasses.replace(like.items[0], dtype=x.dtype),), None)
    return None


def _items_told_apart(t: Type) -> list[Type]:
    """The types of the items of a tuple, or of a list whose length is known."""
    if isinstance(t, Sequence):
        return [t.item(k) for k in range(t.length or 0)]
    return list(t.items) if isinstance(t, Tuple) else []
