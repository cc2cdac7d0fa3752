"""The type of one operation's result.

Elementwise operations, subscripts and what is made of containers, the commonest, are worked out here; of all others
NumPy itself is asked (see `sampling`), so that promotion, ranks and every argument of every function are as the
installed NumPy has them.
"""

from __future__ import annotations

import builtins
import copy
import dataclasses
import operator
from collections.abc import Sequence as Seq
from dataclasses import replace

import numpy as np

from tangentc import runtime
from tangentc.analysis import turning
from tangentc.analysis.array_results import complex_dtype
from tangentc.analysis.asking import by_sample
from tangentc.analysis.decide import told
from tangentc.analysis.elementwise import elementwise, is_elementwise
from tangentc.analysis.joins import MIXED, is_nothing, join
from tangentc.analysis.results import LATER, Applied, Result, of_container, of_text
from tangentc.analysis.sampling import Fresh, Method
from tangentc.core import ops
from tangentc.core.classes import is_operated
from tangentc.core.lengths import Dim
from tangentc.core.nodes import Const, Op
from tangentc.core.types import (
    PLAIN_ARRAYS,
    Array,
    Dict,
    Known,
    Opaque,
    Scalar,
    Sequence,
    Struct,
    Tuple,
    Type,
    Unknown,
    as_array,
    as_number,
    is_array_of_a_class,
    is_generator,
    may_be_number,
    present,
)
from tangentc.ops import methods
from tangentc.ops.table import Operation, known_of

MAY_BE_NONE = {
    ops.make_tuple, ops.make_list, ops.make_dict, ops.make_struct, ops.select, ops.copied, ops.stopped,
    operator.is_, operator.is_not, builtins.isinstance, runtime.or_zero, runtime.zeros_of, runtime.zeros_of_copy,
    runtime.unbroadcast,
}  # fmt: skip
LIKE = {np.zeros_like, np.ones_like, np.empty_like, np.full_like, np.copy}
AS_THEY_ARE = MAY_BE_NONE | {ops.inserted, ops.snapshot, runtime.shaped_like, runtime.passive, ops.new_list, ops.append}
AS_BYTES = {"tobytes", "dumps", "dump", "tofile"}
OF_OBJECTS = ("numpy.random.", "numpy.polynomial.", "scipy.")  # modules whose classes are no arrays
MUTATING = methods.names(np.ndarray, changes=True)


def _refined(t: Type, said: dict[str, Type]) -> Type:
    """The type of what is known to be something here: there, or a container that stands for one of another class."""
    kind = said.get("stands_for")
    if isinstance(kind, Known) and isinstance(t, (Sequence, Dict)):
        return replace(t, stands_for=kind.value)
    return t if kind is not None else as_array(present(t))


def infer(op: Op, args: Seq[Type], keywords: dict[str, Type], fresh: Fresh) -> Type:
    """The type that ``op`` gives for arguments of these types; `Unknown` if it cannot be told."""
    if op in (ops.identity, ops.once, ops.in_order, copy.copy):
        return _refined(args[0], keywords) if keywords else args[0]
    if any(map(is_nothing, args)):
        return LATER  # nothing flows here yet
    if op not in AS_THEY_ARE and any(map(may_be_number, args)):
        return _of_array_or_number(op, args, keywords, fresh)
    if not keywords and (test := told(op, args)) is not None:
        return test
    if op not in MAY_BE_NONE:
        args = [present(t) for t in args]
        if raises_of_none(op, args):
            return LATER  # a number comes here later
    if is_operated(op, list(args)) or op is dataclasses.replace and isinstance(args[0], Struct):
        return LATER
    call = Applied(op, args, keywords, fresh)
    if (of_a_class := _of_class(op, args)) is not None:
        return of_a_class
    if (said := _said(known_of(op).result, call)) is not None:
        return said
    if isinstance(out := keywords.get("out"), Array):
        return out  # which is what it gives
    if any(isinstance(t, Unknown) and not is_generator(t) for t in args):
        return Unknown("an argument's type is not known")
    found = _of_known(call)
    is_like = op in LIKE and isinstance(args[0], Array) and args[0].or_narrower and "dtype" not in keywords
    return replace(found, or_narrower=True) if is_like and isinstance(found, Array) else found


def _said(result: Result | None, call: Applied) -> Type | None:
    """What the record of an operation says of its result."""
    return result(call) if result is not None else None


def _of_known(call: Applied) -> Type:
    """The type of a result for arguments whose types are known."""
    op, args, keywords, fresh = call.op, call.args, call.keywords, call.fresh
    if (said := _said(known_of(op).result_of_known, call)) is not None:
        return said
    if (shaped := _of_shape(known_of(op), call)) is not None:
        return shaped
    if any(isinstance(t, Array) and np.dtype(t.dtype).kind in "mM" for t in args):
        return Unknown("it is computed from dates")
    if is_elementwise(op) and any(isinstance(t, Array) for t in args) and not keywords:
        if all(isinstance(t, (Scalar, Array)) for t in args):
            return elementwise(op, args, fresh)
    if op is ops.method and isinstance(args[1], Known):
        return _method(args[0], args[1].value, args[2:], keywords, fresh)
    if any(map(_holds_nothing, args)) or ops.module_root(op) == "numpy" and any(map(_holds_none, args)):
        return LATER  # a list into which nothing is put yet
    try:
        return by_sample(op, args, keywords, fresh)
    except (TypeError, ValueError, AttributeError):
        return Unknown("no samples of its arguments can be made")


def _of_shape(known: Operation, call: Applied) -> Type | None:
    """The type of an array whose shape an option gives, or a function of the shapes of the arguments."""
    arrays = [t for t in call.args if isinstance(t, Array)]
    if known.shaped is None or len(arrays) < len(call.args):
        return None
    dims: Seq[Dim | None] = [None]
    for shaped in known.shaped if isinstance(known.shaped, tuple) else (known.shaped,):
        if isinstance(shaped, str):
            given = call.keywords.get(shaped)
            dims = [getattr(t, "value", None) for t in given.items] if isinstance(given, Tuple) else [None]
            if None not in dims:
                break
        else:
            dims = shaped(*[t.shape for t in arrays])
            break
    else:
        return None
    dtype = known.dtype or np.result_type(*[t.dtype for t in arrays])
    return Array(str(dtype), tuple([call.fresh() if d is None else d for d in dims]))


def _method(t: Type, name: str, args: Seq[Type], keywords: dict[str, Type], fresh: Fresh) -> Type:
    """The type of what ``t.name(*args)`` gives."""
    if isinstance(t, (Struct, Sequence, Dict)) or isinstance(t, Tuple) and t.cls is not None:
        return of_container(t, name, args, fresh)
    if isinstance(t, Array) and name in AS_BYTES:
        return Unknown("it is made of bytes")
    function = methods.function_of(name) if isinstance(t, Array) and len(args) < 2 else None
    if function is not None:
        return infer(function, [t, *args], keywords, fresh)
    if isinstance(t, (Array, Scalar)) and name not in MUTATING or is_generator(t):
        return by_sample(Method(name), [t, *args], keywords, fresh)
    if isinstance(t, Known) and isinstance(t.value, str):
        return of_text(t.value, name, args) or by_sample(Method(name), [t, *args], keywords, fresh)
    return Unknown(f"the method {name} of a value of unknown type")


def _of_class(op: Op, args: Seq[Type]) -> Type | None:
    """The type of a result that its class tells: of a class that operates by itself, or of a library; or complex."""
    if turning.are_complex() and turning.may_turn(op, args):
        t = args[0]
        return replace(t, dtype=complex_dtype(t)) if isinstance(t, Array) else Scalar("complex128", True)
    if (cls := _class_of_array(op, args)) is not None:
        return Opaque("its class has operations of its own", cls)
    if op is np.poly1d or isinstance(op, type) and (op.__module__ or "").startswith(OF_OBJECTS):
        return Opaque("it is an object of a library", op)
    return None


def _class_of_array(op: Op, args: Seq[Type]) -> type | None:
    """The class of the array that an operation gives, if it is one that is no plain array."""
    if isinstance(op, type) and issubclass(op, np.ndarray) and op not in PLAIN_ARRAYS:
        return op
    if is_elementwise(op) or op is operator.getitem:
        return next((t.cls for t in args if is_array_of_a_class(t)), None)
    return None


def _of_array_or_number(op: Op, args: Seq[Type], keywords: dict[str, Type], fresh: Fresh) -> Type:
    """What an operation gives for arrays for which numbers may stand: what it gives for both, or again such a value."""
    whole = infer(op, list(map(as_array, args)), keywords, fresh)
    number = infer(op, list(map(as_number, args)), keywords, fresh)
    if isinstance(number, Unknown) or is_nothing(number):
        return whole  # of a number it raises
    if not isinstance(whole, Array):
        return join(whole, number, fresh)
    if not is_elementwise(op) and op not in LIKE:
        return Unknown(MIXED)
    if isinstance(number, Array):  # there is an array beside it
        return join(whole, number, fresh)
    kinds = {t.or_number for t in args if isinstance(t, Array) and t.or_number}
    return replace(whole, or_number=kinds.pop() if len(kinds) == 1 else "?")


def raises_of_none(op: Op, args: Seq[Type]) -> bool:
    """Whether an operation is given None that raises then: None has no arithmetic, items, or methods."""
    if op is builtins.getattr and isinstance(args[1], Known) and hasattr(None, str(args[1].value)):
        return False
    given = args if is_elementwise(op) else args[:1] if op in (operator.getitem, builtins.getattr, ops.method) else ()
    return any(isinstance(t, Known) and t.value is None for t in given)


def of_empty(op: Op, args: Seq[Type], keywords: dict[str, Type], fresh: Fresh) -> Type:
    """The type of what is computed from lists into which nothing is put yet, as far as is known: of empty lists."""

    def bare(t: Type) -> Type:
        if isinstance(t, (Sequence, Tuple)):
            t = replace(t, items=tuple(map(bare, t.items)))
        return replace(t, length=0) if isinstance(t, Sequence) and not t.items else t

    try:
        t = by_sample(op, [bare(present(t)) for t in args], {k: bare(v) for k, v in keywords.items()}, fresh)
    except (TypeError, ValueError, AttributeError):
        return Known(Const(ops.UNDEFINED))
    if isinstance(t, Unknown):
        return Known(Const(ops.UNDEFINED))
    return replace(t, value=None) if isinstance(t, Scalar) else t


def _holds_nothing(t: Type) -> bool:
    if isinstance(t, Sequence) and not t.items or is_nothing(t):
        return True
    return isinstance(t, (Sequence, Tuple)) and any(map(_holds_nothing, t.items))


def _holds_none(t: Type) -> bool:
    """Whether it is a list of arrays of which one is None, so far."""
    items = t.items if isinstance(t, Sequence) else ()
    return any(isinstance(item, Known) and item.value is None for item in items)
