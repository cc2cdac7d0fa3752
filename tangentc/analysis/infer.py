"""The type of one operation's result.

Elementwise operations, subscripts and what is made of containers, the commonest, are worked out here; of all others
NumPy itself is asked (see `sampling`), so that promotion, ranks and every argument of every function are as the
installed NumPy has them.
"""

from __future__ import annotations

import builtins
import copy
import dataclasses
import itertools
import math
import operator
from collections.abc import Sequence as Seq
from dataclasses import replace
from typing import Any

import numpy as np

from tangentc import runtime
from tangentc.analysis import turning
from tangentc.analysis.decide import told
from tangentc.analysis.sampling import REFUSED, Fresh, Method, draws, run, sample, sampled
from tangentc.core import ops
from tangentc.core.classes import is_operated
from tangentc.core.nodes import Const
from tangentc.core.types import (
    EXACT,
    PLAIN_ARRAYS,
    Array,
    Dict,
    Dim,
    Known,
    Length,
    Opaque,
    Optional,
    Scalar,
    Sequence,
    Struct,
    Tuple,
    Type,
    Unknown,
    alike,
    as_array,
    as_number,
    data_type,
    either,
    is_array_of_a_class,
    is_basic,
    is_complex,
    is_container,
    may_be_number,
    present,
    shadow_type,
    type_of,
    united,
)
from tangentc.ops import methods

FLOAT_MATH = {
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp",
    "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "pow", "fabs", "hypot", "erf", "erfc", "gamma",
    "lgamma", "degrees", "radians", "copysign", "fmod", "fsum", "dist", "ldexp", "remainder",
}  # fmt: skip
ALWAYS: dict[Any, Type] = {  # results whose type does not depend on the arguments
    builtins.float: Scalar("float64", True), builtins.int: Scalar("int64", True), builtins.bool: Scalar("bool", True),
    builtins.complex: Scalar("complex128", True), operator.not_: Scalar("bool", True),
    **{f: Scalar("int64", True) for f in ops.SEARCHES},
    **{f: Scalar("float64", True) for n, f in vars(math).items() if n in FLOAT_MATH},
}  # fmt: skip
ELEMENTWISE = {*ops.BINARY, *ops.COMPARE, *ops.UNARY} - {operator.matmul, operator.is_, operator.is_not, operator.not_}


def _class_of_array(op: Any, args: Seq[Type]) -> type | None:
    """The class of the array that an operation gives, if it is one that is no plain array."""
    if isinstance(op, type) and issubclass(op, np.ndarray) and op not in PLAIN_ARRAYS:
        return op
    if is_elementwise(op) or op is operator.getitem:
        return next((t.cls for t in args if is_array_of_a_class(t)), None)
    return None


def is_elementwise(op: Any) -> bool:
    """Whether the result has one entry for each entry of the broadcast arguments."""
    if op in ELEMENTWISE or op in (np.where, np.clip, ops.select, runtime.taken, runtime.real_power):
        return True
    return isinstance(op, np.ufunc) and op.signature is None


SELECTIONS = {itertools.combinations, itertools.permutations, itertools.combinations_with_replacement}
MAY_BE_NONE = {
    ops.make_tuple, ops.make_list, ops.make_dict, ops.make_struct, ops.select, ops.copied, ops.stopped,
    operator.is_, operator.is_not, builtins.isinstance, runtime.or_zero, runtime.zeros_of, runtime.zeros_of_copy,
    runtime.unbroadcast,
}  # fmt: skip


LIKE = {np.zeros_like, np.ones_like, np.empty_like, np.full_like, np.copy}
AS_THEY_ARE = MAY_BE_NONE | {ops.inserted, ops.snapshot, runtime.shaped_like, runtime.passive, ops.new_list, ops.append}


def infer(op: Any, args: Seq[Type], keywords: dict[str, Type], fresh: Fresh) -> Type:
    """The type that ``op`` gives for arguments of these types; `Unknown` if it cannot be told."""
    if op in (ops.identity, ops.once, copy.copy):
        return as_array(present(args[0])) if keywords else args[0]
    if any(map(is_nothing, args)):
        return Known(Const(ops.UNDEFINED))  # nothing flows here yet
    if op not in AS_THEY_ARE and any(map(may_be_number, args)):
        return _of_array_or_number(op, args, keywords, fresh)
    if not keywords and (test := told(op, args)) is not None:
        return test
    if op not in MAY_BE_NONE:
        args = [present(t) for t in args]
        if raises_of_none(op, args):
            return Known(Const(ops.UNDEFINED))  # a number comes here later
    if is_operated(op, list(args)) or op is dataclasses.replace and isinstance(args[0], Struct):
        return Known(Const(ops.UNDEFINED))  # it is looked up before the program is typed again
    if op in (np.linalg.eig, np.linalg.eigvals) and isinstance(args[0], Array) and not is_complex(args[0]):
        dtype = _complex_dtype(args[0])  # they may be real; as complex numbers they may be too
        w = Array(dtype, args[0].shape[:-1])
        return w if op is np.linalg.eigvals else Tuple((w, Array(dtype, args[0].shape)), type(np.linalg.eig(np.eye(1))))
    if turning.are_complex() and turning.may_turn(op, args):
        t: Any = args[0]
        return Scalar("complex128", True) if isinstance(t, (Scalar, Known)) else replace(t, dtype=_complex_dtype(t))
    if (cls := _class_of_array(op, args)) is not None:
        return Opaque("its class has operations of its own", cls)
    if isinstance(op, type) and (op.__module__ or "").startswith(("numpy.random.", "scipy.")):
        return Opaque("it is an object of a library", op)
    if op is builtins.set:
        return Opaque("it is a set", set)
    if op is np.unravel_index and len(args) == 2 and isinstance(args[0], (Scalar, Array)):
        axes = rank_of_shape(args[1])
        each = Scalar("int64") if isinstance(args[0], Scalar) else Array("int64", args[0].shape)
        return Tuple((each,) * axes) if axes is not None else Unknown("the number of axes is not known")
    if op is np.nonzero and len(args) == 1 and isinstance(args[0], Array):
        return Tuple((Array("int64", (fresh(),)),) * len(args[0].shape))
    pieces = _split(op, args, keywords, fresh) if op in SPLITTING and args and isinstance(args[0], Array) else None
    if pieces is not None:
        return pieces
    if op is np.gradient and args and isinstance(args[0], Array):
        return _gradient(args[0], keywords.get("axis"))
    structural = _structural(op, args, fresh)
    if structural is not None:
        return structural
    if _known_always(op):
        return ALWAYS[op]
    if op is ops.inserted:
        return dataclasses.replace(args[0], value=None) if isinstance(args[0], Scalar) else args[0]
    if op in (runtime.unbroadcast, runtime.shaped_like, runtime.or_zero, ops.seen, ops.seen_bar):
        t = args[1]
        return dataclasses.replace(t, value=None) if isinstance(t, Scalar) else t
    if op is runtime.real_power and not any(isinstance(t, Array) for t in args):
        return Scalar("float64", True)
    if op in (runtime.passing, runtime.steps_without_kinks):
        return Array("float64", (fresh(),))
    if op is runtime.passed:
        return Array("int64", args[1].shape if isinstance(args[1], Array) else (fresh(),))
    if isinstance(out := keywords.get("out"), Array):
        return out  # which is what it gives
    if op in (runtime.zeros_of, runtime.zeros_of_copy) and isinstance(args[0], Optional):
        return args[0]
    if op in (builtins.enumerate, builtins.zip, builtins.reversed):
        return _iterator(op, args, fresh)
    if op is builtins.len and args and isinstance(args[0], Opaque):
        return Scalar("int64", True)
    if any(isinstance(t, Unknown) and not draws(t) for t in args):
        return Unknown("an argument's type is not known")
    if op in (runtime.zeros_of, runtime.zeros_of_copy):
        return shadow_type(args[0])
    if op is runtime.units and isinstance(x := args[0], (Scalar, Array)):
        shape = x.shape if isinstance(x, Array) else ()
        count = shape[0] if len(shape) == 1 else math.prod(shape) if all(isinstance(d, int) for d in shape) else fresh()  # type: ignore[arg-type]
        return Array(np.result_type(x.dtype, np.float16).name, (count, *shape))
    if op in (operator.matmul, np.matmul, np.dot) and all(isinstance(t, Array) for t in args) and not keywords:
        product = _matmul(op, args, fresh)
        if product is not None:
            return product
    if any(isinstance(t, Array) and np.dtype(t.dtype).kind in "mM" for t in args):
        return Unknown("it is computed from dates")
    if is_elementwise(op) and any(isinstance(t, Array) for t in args) and not keywords:
        if all(isinstance(t, (Scalar, Array)) for t in args):
            return _elementwise(op, args, fresh)
    if op is builtins.range:
        return Known(Const(range(0)))
    if op is builtins.type and len(args) == 1 and isinstance(args[0], Struct):
        return Known(Const(args[0].cls))
    if of_keys(op, args):
        key = item_type(args[0], fresh)
        return key if op in (builtins.max, builtins.min) else Sequence(list, (key,), None)
    if op in (builtins.list, builtins.sorted) and isinstance(args[0], Known) and isinstance(args[0].value, range):
        return Sequence(list, (Scalar("int64", True),), None)
    if op is ops.method and isinstance(args[1], Known):
        name = args[1].value
        if isinstance(args[0], Dict) and name in ("items", "values", "keys"):
            keys: list[Type] = [type_of(k) for k in args[0].keys]
            parts = {"keys": keys, "values": list(args[0].items)}.get(name)
            return Sequence(list, tuple(parts or [Tuple(pair) for pair in zip(keys, args[0].items)]), len(keys))
        if isinstance(args[0], Struct) or isinstance(args[0], Tuple) and args[0].cls is not None:
            return Known(Const(ops.UNDEFINED))  # it is looked up before the program is typed again
        if isinstance(args[0], (Sequence, Dict)):
            return _container_method(args[0], name, args[2:], fresh)
        if isinstance(args[0], Array) and name in AS_BYTES:
            return Unknown("it is made of bytes")
        function = methods.function_of(name) if isinstance(args[0], Array) and len(args) < 4 else None
        if function is not None:
            return infer(function, [args[0], *args[2:]], keywords, fresh)
        if isinstance(args[0], (Array, Scalar)) and name not in MUTATING or draws(args[0]):
            return _by_sample(Method(name), [args[0], *args[2:]], keywords, fresh)
        if isinstance(args[0], Known) and isinstance(args[0].value, str):
            return _text_method(args[0].value, name, args[2:])
        return Unknown(f"the method {name} of a value of unknown type")
    if op is runtime.split_like and isinstance(args[0], Array) and (like := _items_told_apart(args[1])):
        if all(isinstance(t, Array) for t in like):
            cut = tuple(Array(args[0].dtype, t.shape) for t in like)
            return Sequence(list, alike(cut), len(cut))
    if op is runtime.split_like and isinstance(args[0], Array) and isinstance(args[1], Sequence):
        if args[1].length is None and args[1].items and isinstance(args[1].items[0], Array):
            return Sequence(list, (replace(args[1].items[0], dtype=args[0].dtype),), None)
    if any(map(_holds_nothing, args)) or ops.module_root(op) == "numpy" and any(map(_holds_none, args)):
        return Known(Const(ops.UNDEFINED))  # a list into which nothing is put yet
    try:
        return _by_sample(op, args, keywords, fresh)
    except (TypeError, ValueError, AttributeError):
        return Unknown("no samples of its arguments can be made")


def _of_array_or_number(op: Any, args: Seq[Type], keywords: dict[str, Type], fresh: Fresh) -> Type:
    """What an operation gives for arrays for which numbers may stand: what it gives for both, or again such a value."""
    whole = infer(op, list(map(as_array, args)), keywords, fresh)
    number = infer(op, list(map(as_number, args)), keywords, fresh)
    if isinstance(number, Unknown) or is_nothing(number):
        return whole  # of a number it raises
    if not isinstance(whole, Array):
        return join(whole, number, fresh)
    if not is_elementwise(op) and op not in LIKE or isinstance(number, Array) and number.shape != whole.shape:
        return Unknown(MIXED)
    kinds = {t.or_number for t in args if isinstance(t, Array) and t.or_number}
    return whole if isinstance(number, Array) else replace(whole, or_number=kinds.pop() if len(kinds) == 1 else "?")


def raises_of_none(op: Any, args: Seq[Type]) -> bool:
    """Whether an operation is given None that raises then: None has no arithmetic, items, or methods."""
    if op is builtins.getattr and isinstance(args[1], Known) and hasattr(None, str(args[1].value)):
        return False
    given = args if is_elementwise(op) else args[:1] if op in (operator.getitem, builtins.getattr, ops.method) else ()
    return any(isinstance(t, Known) and t.value is None for t in given)


def _complex_dtype(t: Array) -> str:
    return np.result_type(t.dtype, np.complex64).name


SPLITTING = {np.split: 0, np.array_split: 0, np.vsplit: 0, np.hsplit: 1, np.dsplit: 2}


def _split(op: Any, args: Seq[Any], keywords: dict[str, Type], fresh: Fresh) -> Type | None:
    """What splitting an array into a number of parts gives; None for parts at given places."""
    x: Any = args[0]
    given = dict(zip(("indices_or_sections", "axis"), args[1:])) | keywords
    count, axis = (constant(given.get(k, Known(Const(None)))) for k in ("indices_or_sections", "axis"))
    axis = SPLITTING[op] if "axis" not in given else axis
    axis = 0 if op is np.hsplit and len(x.shape) == 1 else axis
    sections = given.get("indices_or_sections")
    is_number = isinstance(sections, Scalar) and sections.value is None  # that only the run knows
    if is_number and type(axis) is int:
        return Sequence(list, (Array(x.dtype, (*x.shape[:axis], fresh(), *x.shape[axis:][1:])),), None)
    if type(count) is not int or type(axis) is not int or isinstance(x.shape[axis], int):
        return None
    parts = tuple(
        Array(x.dtype, (*x.shape[:axis], length, *x.shape[axis:][1:])) for length in (fresh() for _ in range(count))
    )
    return Sequence(list, parts if op is np.array_split else parts[:1], count)


def _gradient(x: Array, axis: Type | None) -> Type:
    """What `numpy.gradient` gives: an array, or one for each of several axes."""
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


def of_empty(op: Any, args: Seq[Type], keywords: dict[str, Type], fresh: Fresh) -> Type:
    """The type of what is computed from lists into which nothing is put yet, as far as is known: of empty lists."""

    def bare(t: Type) -> Type:
        if isinstance(t, (Sequence, Tuple)):
            t = replace(t, items=tuple(map(bare, t.items)))
        return replace(t, length=0) if isinstance(t, Sequence) and not t.items else t

    try:
        t = _by_sample(op, [bare(present(t)) for t in args], {k: bare(v) for k, v in keywords.items()}, fresh)
    except (TypeError, ValueError, AttributeError):
        return Known(Const(ops.UNDEFINED))
    if isinstance(t, Unknown):
        return Known(Const(ops.UNDEFINED))
    return replace(t, value=None) if isinstance(t, Scalar) else t


def _container_method(t: Sequence | Dict, name: str, args: Seq[Type], fresh: Fresh) -> Type:
    """The type of what a method of a list or a dict gives."""
    if name == "pop":
        return _taken((t, *args), fresh)
    if name == "copy":
        return t
    if name in ("get", "setdefault") and args:
        found, other = subscript(t, args[0], fresh), args[1] if len(args) > 1 else Known(Const(None))
        if isinstance(t, Dict) and constant(args[0]) is None and not isinstance(found, Unknown):
            return joined([found, other], fresh)  # a key that only the run knows
        return other if isinstance(found, Unknown) or is_nothing(found) else found
    if name in ("index", "count"):
        return Scalar("int64", True)
    if name in ("append", "extend", "insert", "remove", "clear", "reverse", "sort", "update"):
        return Known(Const(None))
    return Unknown(f"the method {name} of a dict whose keys are not known")


def _items_told_apart(t: Type) -> list[Type]:
    """The types of the items of a tuple, or of a list whose length is known."""
    if isinstance(t, Sequence):
        return [t.item(k) for k in range(t.length or 0)]
    return list(t.items) if isinstance(t, Tuple) else []


def _holds_nothing(t: Type) -> bool:
    if isinstance(t, Sequence) and not t.items or is_nothing(t):
        return True
    return isinstance(t, (Sequence, Tuple)) and any(map(_holds_nothing, t.items))


def _holds_none(t: Type) -> bool:
    """Whether it is a list of arrays of which one is None, so far."""
    items = t.items if isinstance(t, Sequence) else ()
    return any(isinstance(item, Known) and item.value is None for item in items)


def _text_method(text: str, name: str, args: Seq[Type]) -> Type:
    """The type of a method of a text that is known: its value, if its arguments are known too; of a list, which
    may be changed, that it holds texts."""
    given = [t.value if isinstance(t, (Known, Scalar)) else None for t in args]
    if any(v is None for v in given):
        return Unknown(f"the arguments of the method {name} of a text are not known")
    try:
        value = getattr(text, name)(*given)
        return Sequence(list, (Scalar("str", True),), None) if isinstance(value, list) else Known(Const(value))
    except (AttributeError, TypeError, ValueError):
        return Unknown(f"a text has no such method {name}")


AS_BYTES = {"tobytes", "dumps", "dump", "tofile"}
MUTATING = methods.names(np.ndarray, changes=True)


def item_type(t: Type, fresh: Fresh) -> Type:
    """The type of what iterating over a value gives."""
    match t:
        case Known(const) if const.value is ops.UNDEFINED:
            return t
        case Known(const) if isinstance(const.value, range):
            return Scalar("int64", True)
        case Known(const) if isinstance(const.value, str):
            return Unknown("a letter")
        case Known(const) if isinstance(const.value, (tuple, list)):
            return joined([data_type(v) for v in const.value], fresh)
        case Array(dtype, shape) if shape:
            return Array(dtype, shape[1:]) if len(shape) > 1 else Scalar(dtype)
        case Sequence(kind, _, _) if kind is dict:
            return t.key or Unknown("a key of a dict")
        case Dict(keys, _):
            return joined([type_of(k) for k in keys], fresh)
        case Sequence(_, items, _) | Tuple(items, _):
            return joined(items, fresh)
    return Unknown("what the loop gives is not known")


def gives_keys(t: Type) -> bool:
    """Whether a loop over a value of this type runs over the keys of a dict."""
    return isinstance(t, Dict) or isinstance(t, Sequence) and t.kind is dict


def of_keys(op: Any, types: Seq[Type]) -> bool:
    """Whether an operation reads the keys of a dict alone."""
    readers = (builtins.list, builtins.tuple, builtins.sorted, builtins.max, builtins.min)
    return op in readers and len(types) == 1 and gives_keys(types[0])


def _iterator(op: Any, args: Seq[Type], fresh: Fresh) -> Type:
    if any(isinstance(t, Sequence) and t.length == 0 for t in args):
        return Sequence(list, (), 0)
    items = tuple(item_type(t, fresh) for t in args[: 1 if op is builtins.enumerate else None])
    if op is builtins.reversed:
        return args[0]
    if op is builtins.enumerate:
        items = Scalar("int64", True), *items
    return Sequence(list, (Tuple(items),), None)


def _known_always(op: Any) -> bool:
    try:
        return op in ALWAYS
    except TypeError:
        return False


def broadcast(shapes: Seq[tuple[Dim, ...]], fresh: Fresh) -> tuple[Dim, ...]:
    """The shape that shapes broadcast to.  A length known not to be one wins over the others, and of these one of
    the arguments over one of a value that is there while compiling."""
    out: list[Dim] = []
    for axis in range(-max(map(len, shapes)), 0):
        dims = {s[axis] for s in shapes if len(s) >= -axis} - {1}
        sure = [d for d in dims if isinstance(d, int) or d.many]
        if sure:
            out.append(min(sure, key=lambda d: (isinstance(d, Length) and d.symbol.startswith("g"), str(d))))
        elif not dims:
            out.append(1)
        else:
            out.append(dims.pop() if len(dims) == 1 else fresh())
    return tuple(out)


def _elementwise(op: Any, args: Seq[Type], fresh: Fresh) -> Type:
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


def _matmul(op: Any, args: Seq[Type], fresh: Fresh) -> Type | None:
    """The type of a product of matrices, stacks of them, or vectors."""
    a, b = args
    assert isinstance(a, Array) and isinstance(b, Array)
    if min(len(a.shape), len(b.shape)) == 0 or op is np.dot and max(len(a.shape), len(b.shape)) > 2:
        return None
    dtype = run(np.matmul, [np.ones((1,) * len(t.shape), t.dtype) for t in (a, b)], {})
    if dtype is None:
        return None
    dims: tuple[Dim, ...] = (
        broadcast([a.shape[:-2], b.shape[:-2]], fresh) if max(len(a.shape), len(b.shape)) > 2 else ()
    )
    rows: tuple[Dim, ...] = a.shape[-2:-1] if len(a.shape) > 1 else ()
    columns: tuple[Dim, ...] = b.shape[-1:] if len(b.shape) > 1 else ()
    shape = (*dims, *rows, *columns)
    return Array(dtype.dtype.name, shape) if shape else Scalar(dtype.dtype.name)


def _plain_scalar(t: Type) -> Type:
    return Scalar(t.dtype, t.weak) if isinstance(t, Scalar) else t


def _structural(op: Any, args: Seq[Type], fresh: Fresh) -> Type | None:
    """Tuples, lists, dicts, attributes and subscripts."""
    if op is ops.make_tuple:
        return Tuple(tuple(args))
    if op in (np.finfo, np.iinfo) and len(args) == 1 and isinstance(args[0], Known):
        return Known(Const(op(args[0].value)))
    if op is slice:
        return Tuple(tuple(args) if len(args) > 1 else (Known(Const(None)), *args), slice)
    if op is ops.make_list:
        return Sequence(list, alike(tuple(args)), len(args))
    if op is ops.make_dict:
        assert isinstance(args[0], Known)
        return Dict(tuple(args[0].value), tuple(args[1:]))
    if op is ops.make_struct:
        cls, fields = args[0].value, args[1].value
        if issubclass(cls, tuple):  # type: ignore[arg-type]
            return Tuple(tuple(args[2:]), cls)  # type: ignore[arg-type]
        return Struct(cls, tuple(fields), tuple(args[2:]))  # type: ignore[arg-type]
    if op is ops.new_list:
        return Unknown("a list of saved values")
    if op is ops.new_object:
        return Struct(args[0].value, (), ())  # type: ignore[arg-type]
    if op is ops.copied or op is ops.reshaped and isinstance(args[0], Struct):  # which has an attribute `shape`
        return args[0]
    if op in SELECTIONS and len(args) == 2 and isinstance(count := constant(args[1]), int):
        return Sequence(list, (Tuple((item_type(args[0], fresh),) * count),), None)
    if op is itertools.product and args:
        return Sequence(list, (Tuple(tuple(item_type(t, fresh) for t in args)),), None)
    if op in (itertools.chain, itertools.islice, itertools.takewhile) and args:
        lists = args if op is itertools.chain else args[op is itertools.takewhile :][:1]
        return Sequence(list, (joined([item_type(t, fresh) for t in lists], fresh),), None)
    if op is np.ndindex:
        axes = args[0].items if len(args) == 1 and isinstance(args[0], Tuple) else tuple(args)
        return Sequence(list, (Tuple(tuple(Scalar("int64", True) for _ in axes)),), None)
    if op is runtime.order:
        return Sequence(list, (Scalar("int64", True),), None)
    if op is ops.old_item and (constant(args[1]).__class__ is slice or getattr(args[1], "cls", None) is slice):
        return subscript(args[0], args[1], fresh)
    if op in (ops.take, ops.old_item):
        found = _taken(args, fresh)
        may_lack = isinstance(args[0], (Dict, Struct)) or isinstance(args[0], Sequence) and args[0].kind is dict
        return _optional(found) if op is ops.old_item and may_lack and isinstance(found, Array) else found
    if op is ops.call and (isinstance(args[0], Known) and callable(args[0].value) or isinstance(args[0], Struct)):
        return Known(Const(ops.UNDEFINED))  # it is looked up before the program is typed again
    if op in (ops.call, ops.spread):
        return Unknown("what is called is not known")
    if op is ops.enter:
        return Unknown("a context manager gives it")
    if (
        op in (builtins.list, builtins.tuple, ops.items_from)
        and args
        and (of_items := _as_list(op, args, fresh)) is not None
    ):
        return of_items
    if op is builtins.dict and len(args) == 1 and isinstance(args[0], (Dict, Sequence)):
        return args[0] if isinstance(args[0], Dict) or args[0].kind is dict else None
    if op is operator.add and all(isinstance(t, (Sequence, Tuple)) for t in args):
        return _joined_lists(args[0], args[1], fresh)
    if op is operator.mul and isinstance(args[0], Sequence) and len(args[0].items) <= 1:
        return Sequence(list, args[0].items, None)
    if op is ops.select:
        return join(args[1], args[2], fresh)
    if op is builtins.len and len(args) == 1:
        return _length_of(args[0])
    if op is np.ndim and isinstance(args[0], Array):
        return _int(len(args[0].shape))
    if op is builtins.getattr and len(args) == 2 and isinstance(args[1], Known):
        return _attribute(args[0], args[1].value, fresh)
    if op is operator.getitem:
        return subscript(args[0], args[1], fresh)
    if op in (operator.is_, operator.is_not, ops.contains, ops.not_contains, builtins.isinstance):
        return Scalar("bool", True)
    return None


def _taken(args: Seq[Type], fresh: Fresh) -> Type:
    """The type of what ``pop`` gives, and of an item that is overwritten."""
    t = args[0]
    if isinstance(t, Struct):
        name = str(constant(args[1]))
        return t.items[t.fields.index(name)] if name in t.fields else Known(Const(ops.UNDEFINED))
    if len(args) > 1:
        return subscript(t, args[1], fresh)
    return item_type(t, fresh)


def _as_list(op: Any, args: Seq[Type], fresh: Fresh) -> Type | None:
    """The type of ``list(x)``, ``tuple(x)`` and ``*rest``."""
    t = args[0]
    items: tuple[Type, ...] | None = None
    length: int | None = None
    match t:
        case Tuple(parts, _):
            items, length = parts, len(parts)
        case Sequence() if t.kind is dict:
            items = (t.key or Unknown("a key of a dict"),)
        case Sequence(_, parts, known):
            items, length = parts, known
            if length is not None and len(parts) == 1:
                items = parts * length
        case Dict(keys, _):
            items, length = tuple(map(type_of, keys)), len(keys)
        case Array(_, shape) if shape:
            length = shape[0] if isinstance(shape[0], int) else None
            items = (item_type(t, fresh),) * (1 if length is None else length)
        case _:
            return None
    if op is ops.items_from:
        start, stop = constant(args[1]), constant(args[2])
        if length is None:
            return Sequence(list, items[:1], None)
        items = items[start : stop or None]
        length = len(items)
    if op is builtins.tuple:
        return Tuple(items) if length is not None else _of_any_length(items[:1], fresh)
    return Sequence(list, alike(items), length)


def _of_any_length(items: Seq[Type], fresh: Fresh) -> Type:
    """The type of a tuple that has as many items as the trips of a loop put into it."""
    return Sequence(builtins.tuple, (joined(items, fresh),) if items else (), None)


def _joined_lists(a: Type, b: Type, fresh: Fresh) -> Type | None:
    """The type of ``a + b`` for two lists or two tuples."""
    if isinstance(a, Tuple) and isinstance(b, Tuple):
        return Tuple(a.items + b.items)
    if all(isinstance(t, Tuple) or isinstance(t, Sequence) and t.kind is builtins.tuple for t in (a, b)):
        return _of_any_length((*a.items, *b.items), fresh)
    if not (isinstance(a, Sequence) and isinstance(b, Sequence)):
        return None
    if a.length is not None and b.length is not None:
        items = tuple(a.items * (a.length if len(a.items) == 1 else 1)) + tuple(
            b.items * (b.length if len(b.items) == 1 else 1)
        )
        return Sequence(list, alike(items), len(items))
    item = joined((*a.items, *b.items), fresh)
    return Sequence(list, (item,), None)


def is_nothing(t: Type) -> bool:
    """Whether no value has come here yet."""
    return isinstance(t, Known) and t.value is ops.UNDEFINED


def lacks_something(t: Type) -> bool:
    """Whether no value has come here yet, or to a part of it."""
    return is_nothing(t) or is_container(t) and any(map(lacks_something, t.items))


def joined(items: Seq[Type], fresh: Fresh) -> Type:
    """One type for several values; what is not there yet does not count."""
    out: Type = Known(Const(ops.UNDEFINED))
    for t in items:
        if is_nothing(t):
            continue
        out = t if is_nothing(out) else join(out, t, fresh)
    return out


def put(t: Type, key: Any, item: Type, resizes: bool, fresh: Fresh) -> Type:
    """The type of a container into which an item is put; ``key`` is '*' where it is not known."""
    undefined = is_nothing(item)
    match t:
        case Sequence(kind, items, length) if kind is not dict:
            if undefined and not resizes:
                return t
            if undefined:
                return Sequence(kind, items[:1] if len(items) == 1 else (joined(items, fresh),) if items else (), None)
            exact = not resizes and length is not None and isinstance(key, int) and -length <= key < length
            if exact:
                parts = list(items * (length if len(items) == 1 else 1))  # type: ignore[operator]
                parts[key] = joined((parts[key], item), fresh)
                return Sequence(kind, alike(tuple(parts)), length)
            return Sequence(kind, (joined((*items, item), fresh),), None if resizes else length)
        case Sequence(kind, items, _):
            return Sequence(kind, (joined((*items, item), fresh),), None, t.key)
        case Dict(keys, items) if key == "*":
            made = of_any_keys(t, fresh)
            return made if undefined else put(made, key, item, resizes, fresh)
        case Dict(keys, items) if undefined:
            return t
        case Dict(keys, items) if key in keys:
            k = keys.index(key)
            return Dict(keys, (*items[:k], joined((items[k], item), fresh), *items[k + 1 :]))
        case Dict(keys, items):
            return Dict((*keys, key), (*items, item))
        case Struct(cls, fields, items) if key in fields:
            k = fields.index(key)
            return Struct(cls, fields, (*items[:k], joined((items[k], item), fresh), *items[k + 1 :]))
        case Struct(cls, fields, items) if key != "*":
            return Struct(cls, (*fields, key), (*items, item))
    return t


def of_any_keys(t: Dict, fresh: Fresh) -> Sequence:
    """The type of a dict of which nobody says which keys it has."""
    kinds = [type_of(k) for k in t.keys]
    items, key = (joined(t.items, fresh),) if t.items else (), joined(kinds, fresh) if kinds else None
    return Sequence(dict, items, None, key, t.sites)


def with_key(t: Type, key: Type, fresh: Fresh) -> Type:
    """The type of a dict of computed keys with one more kind of key."""
    if not isinstance(t, Sequence) or t.kind is not dict or is_nothing(key):
        return t
    if isinstance(key, Scalar):
        key = dataclasses.replace(key, value=None)
    return dataclasses.replace(t, key=key if t.key is None else join(t.key, key, fresh))


def _length_of(t: Type) -> Type | None:
    match t:
        case Array(_, shape) if shape:
            return _int(shape[0])
        case Tuple(items, _) | Dict(_, items):
            return _int(len(items))
        case Sequence(_, _, length) if length is not None:
            return _int(length)
        case Sequence():
            return Scalar("int64", True)
    return None


def _int(d: Dim) -> Scalar:
    return Scalar("int64", True, d if isinstance(d, int) or d.many else None)


def _attribute(t: Type, name: str, fresh: Fresh) -> Type:
    match t:
        case Array(dtype, _) | Scalar(dtype, False, _) if name == "dtype":
            return Known(Const(np.dtype(dtype)))
        case Array(_, shape) if name == "shape":
            return Tuple(tuple(_int(d) for d in shape))
        case Array(_, shape) if name == "ndim":
            return _int(len(shape))
        case Array(_, shape) if name == "size" and all(isinstance(d, int) for d in shape):
            return _int(int(np.prod(shape)))  # type: ignore[arg-type]
        case Array() if name == "flat":
            return _by_sample(np.ravel, [t], {}, fresh)
        case Array(_, (d,)) if name == "size":
            return _int(d)
        case Struct(_, fields, items) if name in fields:
            return items[fields.index(name)]
        case Struct():
            return Known(Const(ops.UNDEFINED))
        case Tuple(items, cls) if cls is not None and name in getattr(cls, "_fields", ()):
            return items[cls._fields.index(name)]  # type: ignore[attr-defined]
        case Tuple(items, cls) if cls is not None and name in getattr(cls, "__match_args__", ()):  # `sys.float_info`
            return items[cls.__match_args__.index(name)]  # type: ignore[attr-defined]
        case Tuple(_, cls) if cls is not None and hasattr(cls, name):
            return Unknown(f"the attribute {name} of a {cls.__name__}")
        case Known(const):
            try:
                return data_type(getattr(const.value, name))
            except AttributeError:
                return Unknown(f"there is no attribute {name}")
        case Array() | Scalar():
            return _by_sample(lambda x: getattr(x, name), [t], {}, fresh)
    return Unknown(f"the attribute {name} of a value of unknown type")


def subscript(t: Type, key: Type, fresh: Fresh) -> Type:
    """The type of ``x[key]``."""
    index = constant(key)
    match t:
        case Tuple(items, _) if isinstance(index, int) and -len(items) <= index < len(items):
            return items[index]
        case Tuple(items, _) if isinstance(index, slice):
            return Tuple(items[index])
        case Tuple(items, None) if items and isinstance(key, Scalar):
            return item_type(t, fresh)
        case Sequence(kind, items, length):
            if isinstance(key, Tuple) and key.cls is slice:
                return Sequence(kind, (joined(items, fresh),) if items else (), None)
            if isinstance(index, slice) or isinstance(key, Known) and isinstance(key.value, slice):
                if length is None:
                    return Sequence(kind, items, None)
                cut = (items * length if len(items) == 1 else items)[index]
                return Sequence(kind, alike(cut), len(cut))
            if len(items) == 1:
                return items[0]
            if isinstance(index, int) and items and -len(items) <= index < len(items):
                return items[index]
            if items and isinstance(key, Scalar):
                return item_type(t, fresh)
            if not items:
                return Known(Const(ops.UNDEFINED))
        case Dict(_, items) if isinstance(key, Scalar) and index is None and items:
            return joined(items, fresh)
        case Dict(keys, items) if index is not None and index in keys:
            return items[keys.index(index)]
        case Dict(keys, _) if not keys or index is not None:
            return Known(Const(ops.UNDEFINED))  # nothing is there yet
        case Array():
            return _array_subscript(t, key, fresh)
        case Known(Const(value=None)):
            return Known(Const(ops.UNDEFINED))
        case Known(const) if index is None and isinstance(const.value, (tuple, list)) and isinstance(key, Scalar):
            return item_type(t, fresh)
        case Known(const) if const.value is np.mgrid or const.value is np.ogrid:
            return _by_sample(operator.getitem, [t, key], {}, fresh)
        case Known(const) if index is not None:
            try:
                return data_type(const.value[index])
            except (TypeError, LookupError):
                pass
    return Unknown("which item is taken is not known")


def constant(key: Type) -> Any:
    if isinstance(key, Known):
        return key.value
    if isinstance(key, Scalar) and isinstance(key.value, int):
        return key.value
    return None


def _array_subscript(t: Array, key: Type, fresh: Fresh) -> Type:
    parts = list(key.items) if isinstance(key, Tuple) and key.cls is not slice else [key]
    if isinstance(key, Known) and isinstance(key.value, tuple):
        parts = [type_of(part) for part in key.value]
    if any(isinstance(part, Known) and isinstance(part.value, range) for part in parts):  # which stands for an array
        whole = not isinstance(key, Tuple)
        parts = [_positions(part, fresh) for part in parts]
        key = parts[0] if whole else Tuple(tuple(parts))
    if not all(is_basic(part) for part in parts):
        return _by_sample(operator.getitem, [t, key], {}, fresh)
    wanted = sum(1 for p in parts if not (isinstance(p, Known) and (p.value is None or p.value is ...)))
    if wanted > len(t.shape):
        return Unknown("too many subscripts")
    dims = list(t.shape)
    out: list[Dim] = []
    whole = False  # with `...` the result is a view, also if it has no axes
    for part in parts:
        value = part.value if isinstance(part, Known) else None
        if isinstance(part, Known) and value is None:
            out.append(1)
        elif value is ...:
            whole = True
            keep = len(t.shape) - wanted
            out.extend(dims[:keep])
            dims = dims[keep:]
        elif isinstance(value, slice):
            out.append(_slice_length(dims.pop(0), value, fresh))
        elif isinstance(part, Tuple):  # a slice whose bounds are names
            dims.pop(0)
            out.append(fresh())
        else:
            dims.pop(0)
    out.extend(dims)
    return Array(t.dtype, tuple(out)) if out or whole else Scalar(t.dtype)


def _positions(part: Type, fresh: Fresh) -> Type:
    is_range = isinstance(part, Known) and isinstance(part.value, range)
    return Array("int64", (fresh(),)) if is_range else part


def _slice_length(d: Dim, s: slice, fresh: Fresh) -> Dim:
    bounds = [b for b in (s.start, s.stop) if b is not None]
    if isinstance(d, int):
        return len(range(d)[s]) if all(isinstance(b, int) for b in bounds) else fresh()
    step = 1 if s.step is None else s.step
    if not d.many or abs(step) != 1 or any(abs(b) + abs(d.offset) > EXACT - 2 for b in bounds):
        return d if s == slice(None) or s == slice(None, None, -1) else fresh()
    short, large = (len(range(k * EXACT + d.offset)[s]) for k in (10, 20))
    return short if short == large else Length(d.symbol, short - 10 * EXACT)


# ------------------------------------------------------------------ asking NumPy
JOINING = {np.concatenate, np.hstack, np.vstack}


def by_rank(op: Any, args: Seq[Type], fresh: Fresh) -> Type | None:
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
    shape = tuple(d if isinstance(d, int) and 0 < d < EXACT else fresh() for d in dims)
    dtype = np.result_type(*(t.dtype for t in arrays)).name
    return Array(dtype, shape) if shape else Scalar(dtype)


def rank_of_shape(t: Type) -> int | None:
    """How many axes a shape has that is given as a number or a tuple; None if that is not known."""
    value = t.value if isinstance(t, Known) else None
    if isinstance(t, Tuple):
        return len(t.items)
    return 1 if isinstance(t, Scalar) or isinstance(value, int) else len(value) if isinstance(value, tuple) else None


def _by_sample(op: Any, args: Seq[Type], keywords: dict[str, Type], fresh: Fresh) -> Type:
    found = sampled(op, args, keywords, fresh)
    if ops.keeps_shape(op) and args and isinstance(found, Array) and isinstance(args[0], Array):
        return replace(found, shape=args[0].shape)  # also where the axis is not known
    if found is not REFUSED:
        return found
    return by_rank(op, args, fresh) or sampled(op, args, keywords, fresh, tied=True)


def _is_function(value: Any) -> bool:
    return callable(value) and not isinstance(value, type)


def _optional(t: Type) -> Type:
    """The type of None or a value of a type; what recursive functions save grows without end."""
    if isinstance(t, Optional):
        return t
    if is_container(t) and _depth(t) <= 3:
        return t
    return Optional(MIXED, t) if isinstance(t, (Scalar, Array)) else Unknown(MIXED)


def _depth(t: Type) -> int:
    """How many containers lie in one another."""
    return 1 + max(map(_depth, t.items), default=0) if is_container(t) else 0


def array_or_number(a: Type, b: Type) -> Array | None:
    """The type of a value that is an array on one path and a number on another; None for other types."""
    if isinstance(a, Scalar):
        a, b = b, a
    if not (isinstance(a, Array) and a.shape and isinstance(b, Scalar)) or "str" in (a.dtype, b.dtype):
        return None
    kinds = "iufc".find(np.dtype(a.dtype).kind), "iufc".find(np.dtype(b.dtype).kind)
    if min(kinds) < 0:
        return None
    dtype = a.dtype if b.weak and kinds[1] <= kinds[0] else np.result_type(a.dtype, b.dtype).name
    return Array(dtype, a.shape, "?")


MIXED = "it is of different types on different paths"


def join(a: Type, b: Type, fresh: Fresh) -> Type:
    """The type of a value that is an ``a`` on one path and a ``b`` on another."""
    if a is b or a == b:
        return united(a, b)
    t = _join(a, b, fresh)
    sites = getattr(a, "sites", frozenset()) | getattr(b, "sites", frozenset())
    return replace(t, sites=sites) if sites and isinstance(t, (Sequence, Dict, Struct)) else t


def _join(a: Type, b: Type, fresh: Fresh) -> Type:
    match a, b:
        case Scalar(), Scalar() if a.dtype.startswith("str") or b.dtype.startswith("str"):
            return Scalar("str", True) if a.dtype.startswith("str") and b.dtype.startswith("str") else Unknown(MIXED)
        case Scalar(), Scalar():
            dtype = np.result_type(a.dtype, b.dtype).name if a.dtype != b.dtype else a.dtype
            kinds = {np.dtype(a.dtype).kind, np.dtype(b.dtype).kind}
            if a.weak and not b.weak and kinds <= set("biuf") and np.dtype(b.dtype).kind == "f":
                dtype = b.dtype
            if b.weak and not a.weak and kinds <= set("biuf") and np.dtype(a.dtype).kind == "f":
                dtype = a.dtype
            return Scalar(dtype, a.weak and b.weak, None)
        case Array(), Array() if len(a.shape) == len(b.shape):
            shape = tuple(x if x == y else fresh() for x, y in zip(a.shape, b.shape, strict=True))
            kind = a.or_number if a.or_number == b.or_number else "?"
            return Array(np.result_type(a.dtype, b.dtype).name, shape, kind)
        case Tuple(), Tuple() if len(a.items) == len(b.items) and a.cls is b.cls:
            return Tuple(tuple(join(x, y, fresh) for x, y in zip(a.items, b.items, strict=True)), a.cls)
        case ((Tuple(cls=None) | Sequence(kind=builtins.tuple)), (Tuple(cls=None) | Sequence(kind=builtins.tuple))):
            return _of_any_length((*a.items, *b.items), fresh)
        case Dict(), Dict() if a.keys == b.keys:
            return Dict(a.keys, tuple(join(x, y, fresh) for x, y in zip(a.items, b.items, strict=True)))
        case (Dict(), Dict()) | (Dict(), Sequence(kind=builtins.dict)) | (Sequence(kind=builtins.dict), Dict()):
            a, b = (of_any_keys(t, fresh) if isinstance(t, Dict) else t for t in (a, b))
            return join(a, b, fresh)
        case Struct(), Struct() if a.cls is b.cls:  # an attribute may be assigned later
            parts = [dict(zip(t.fields, t.items, strict=True)) for t in (a, b)]
            fields = tuple(dict.fromkeys((*a.fields, *b.fields)))
            return Struct(a.cls, fields, tuple(joined([p[f] for p in parts if f in p], fresh) for f in fields))
        case Sequence(), Sequence() if a.key != b.key:
            keys = [k for k in (a.key, b.key) if k is not None]
            one = joined(keys, fresh)
            return join(dataclasses.replace(a, key=one), dataclasses.replace(b, key=one), fresh)
        case Sequence(), Sequence() if a.kind is b.kind and len(a.items) == len(b.items) and a.length == b.length:
            items = tuple(join(x, y, fresh) for x, y in zip(a.items, b.items, strict=True))
            return Sequence(a.kind, items, a.length, a.key)
        case Sequence(), Sequence() if a.kind is b.kind:
            every = (*a.items, *b.items)
            return Sequence(
                a.kind, (joined(every, fresh),) if every else (), a.length if a.length == b.length else None, a.key
            )
        case Known(value=tuple()), Known(value=tuple()) | Tuple():
            return join(data_type(a.value), b if isinstance(b, Tuple) else data_type(b.value), fresh)
        case ((Tuple() | Sequence(kind=builtins.tuple)), Known(value=tuple())):
            return join(a, data_type(b.value), fresh)
        case Known(value=tuple()), Sequence(kind=builtins.tuple):
            return join(data_type(a.value), b, fresh)
        case Known(), Known() if type(a.value) is type(b.value) and isinstance(a.value, (str, bool)):
            return Scalar("bool" if isinstance(a.value, bool) else "str", True)
        case Known(), Known() if _is_function(a.value) and _is_function(b.value):
            return Known(Const(either(a.value, b.value)))
        case (Known(value=None), other) | (other, Known(value=None)) if not isinstance(other, Known):
            return _optional(other)
        case (Optional(type=a), b) | (b, Optional(type=a)):
            inner = join(a, present(b), fresh)
            return _optional(inner)
        case (Scalar(dtype="bool"), Known(value=bool())) | (Known(value=bool()), Scalar(dtype="bool")):
            return Scalar("bool", True)
        case (Scalar(dtype="str"), Known()) | (Known(), Scalar(dtype="str")):
            return Scalar("str", True)
    of_a_class = [t for t in (a, b) if is_array_of_a_class(t)]  # which it may be
    return of_a_class[0] if of_a_class else Unknown(MIXED)
