"""The types of results where NumPy is not asked: written into the record of each operation.

A function below takes the types of the arguments (`Applied`) and gives the type of the result; None where it does not
tell, and the general ways of `infer` go on.
"""

from __future__ import annotations

import builtins
import itertools
import math
import operator
from collections.abc import Callable
from collections.abc import Sequence as Seq
from dataclasses import dataclass, replace
from typing import Any

from tangentc import runtime
from tangentc.analysis.joins import is_nothing, join, joined, of_any_length, optional
from tangentc.analysis.parts import attribute_of, constant, gives_keys, item_type, length_of, subscript, taken
from tangentc.analysis.sampling import Fresh
from tangentc.core import ops
from tangentc.core.nodes import Const, Op
from tangentc.core.types import (
    MOST_PARTS,
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
    alike,
    is_slice,
    items_of,
)
from tangentc.core.values import type_of
from tangentc.ops.table import say

FLOAT_MATH = {
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp",
    "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "pow", "fabs", "hypot", "erf", "erfc", "gamma",
    "lgamma", "degrees", "radians", "copysign", "fmod", "fsum", "dist", "ldexp", "remainder",
}  # fmt: skip
FLOAT, INTEGER, TEST = Scalar("float64", True), Scalar("int64", True), Scalar("bool", True)
TEXT = Scalar("str", True)
LATER = Known(Const(ops.UNDEFINED))  # of what is looked up, or put there, before the program is typed again


@dataclass
class Applied:
    """An operation with the types of its arguments."""

    op: Op
    args: Seq[Type]
    keywords: dict[str, Type]
    fresh: Fresh

    @property
    def first(self) -> Any:
        return self.args[0] if self.args else None


Result = Callable[[Applied], Type | None]


def result(*functions: Op, place: str = "result") -> Callable[[Result], Result]:
    """The type of what these give, also for arguments of unknown type."""

    def write(given: Result) -> Result:
        say(*functions, **{place: given})
        return given

    return write


def result_of_known(*functions: Op) -> Callable[[Result], Result]:
    """The type of what these give for arguments whose types are known."""
    return result(*functions, place="result_of_known")


def always(t: Type, *functions: Op) -> None:
    """These give a ``t``, whatever they are given."""
    result(*functions)(lambda call: t)


always(FLOAT, builtins.float, *(f for name, f in vars(math).items() if name in FLOAT_MATH))
always(INTEGER, builtins.int, *ops.SEARCHES)
always(TEST, builtins.bool, operator.not_, operator.is_, operator.is_not, ops.contains, ops.not_contains)
always(TEST, builtins.isinstance)
always(Scalar("complex128", True), builtins.complex)
always(TEXT, builtins.repr, builtins.format)
always(Opaque("it is a set", set), builtins.set)
always(Sequence(list, (INTEGER,), None), runtime.order)
always(Unknown("a list of saved values"), ops.new_list)
always(Unknown("a context manager gives it"), ops.enter)
always(Unknown("what is called is not known"), ops.spread)


# ------------------------------------------------------------------ Python
@result(ops.make_tuple)
def _tuple(call: Applied) -> Type:
    return Tuple(tuple(call.args))


@result(slice)
def _slice(call: Applied) -> Type:
    return Tuple(tuple(call.args) if len(call.args) > 1 else (Known(Const(None)), *call.args), slice)


@result(ops.make_list)
def _list(call: Applied) -> Type:
    return Sequence(list, alike(tuple(call.args)), len(call.args))


@result(ops.make_dict)
def _dict(call: Applied) -> Type:
    return Dict(tuple(call.first.value), tuple(call.args[1:]))


@result(ops.make_struct)
def _struct(call: Applied) -> Type:
    cls, fields = call.first.value, call.args[1].const.value
    items = tuple(call.args[2:])
    return Tuple(items, cls) if issubclass(cls, tuple) else Struct(cls, tuple(fields), items)


@result(ops.new_object)
def _object(call: Applied) -> Type:
    return Struct(call.first.value, (), ())


@result(ops.copied)
def _copied(call: Applied) -> Type:
    return call.first  # type: ignore[no-any-return]


@result(ops.reshaped)
def _with_shape(call: Applied) -> Type | None:
    return call.first if isinstance(call.first, Struct) else None  # which has an attribute `shape`


@result(itertools.combinations, itertools.permutations, itertools.combinations_with_replacement)
def _selections(call: Applied) -> Type | None:
    count = constant(call.args[1]) if len(call.args) == 2 else None
    item = item_type(call.first, call.fresh)
    if not isinstance(count, int):  # as many as there are, or as only the run knows
        return Sequence(list, (of_any_length((item,), call.fresh),), None)
    return Sequence(list, (Tuple((item,) * count),), None)


@result(itertools.product)
def _product(call: Applied) -> Type | None:
    items = tuple(item_type(t, call.fresh) for t in call.args)
    repeat = constant(call.keywords["repeat"]) if "repeat" in call.keywords else 1
    if not isinstance(repeat, int):  # as often as only the run knows
        return Sequence(list, (of_any_length(items, call.fresh),), None) if items else None
    return Sequence(list, (Tuple(items * repeat),), None) if items else None


@result(itertools.chain, itertools.islice, itertools.takewhile)
def _chained(call: Applied) -> Type | None:
    if not call.args:
        return None
    lists = call.args if call.op is itertools.chain else call.args[call.op is itertools.takewhile :][:1]
    return Sequence(list, (joined([item_type(t, call.fresh) for t in lists], call.fresh),), None)


@result(ops.take, ops.old_item)
def _old_item(call: Applied) -> Type:
    if call.op is ops.old_item and is_slice(call.args[1]):
        return subscript(call.first, call.args[1], call.fresh)
    found = taken(call.args, call.fresh)
    may_lack = isinstance(call.first, (Dict, Struct)) or isinstance(call.first, Sequence) and call.first.kind is dict
    return optional(found) if call.op is ops.old_item and may_lack and isinstance(found, Array) else found


@result(ops.call)
def _called(call: Applied) -> Type:
    is_known = isinstance(call.first, Known) and callable(call.first.value) or isinstance(call.first, Struct)
    return LATER if is_known else Unknown("what is called is not known")


@result(builtins.tuple, ops.items_from)
def _as_list(call: Applied) -> Type | None:
    """The type of ``list(x)``, ``tuple(x)`` and ``*rest``."""
    t = call.first
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
            items = (item_type(t, call.fresh),) * (1 if length is None else length)
        case Known(value=range()):  # which one is not known
            items = (INTEGER,)
        case _:
            return None
    if call.op is ops.items_from:
        start, stop = constant(call.args[1]), constant(call.args[2])
        if length is None:
            return Sequence(list, items[:1], None)
        items = items[start : stop or None]
        length = len(items)
    if call.op is builtins.tuple:
        return Tuple(items) if length is not None else of_any_length(items[:1], call.fresh)
    return Sequence(list, alike(items), length)


@result(builtins.list)
def _as_new_list(call: Applied) -> Type | None:
    return _as_list(call) or _sorted(call)


def of_keys(op: Op, types: Seq[Type]) -> bool:
    """Whether an operation reads the keys of a dict alone."""
    readers = (builtins.list, builtins.tuple, builtins.sorted, builtins.set, builtins.max, builtins.min)
    return op in readers and len(types) == 1 and gives_keys(types[0])


@result(builtins.sorted)
def _sorted(call: Applied) -> Type | None:
    if of_keys(call.op, call.args):
        return Sequence(list, (item_type(call.first, call.fresh),), None)
    return Sequence(list, (INTEGER,), None) if isinstance(getattr(call.first, "value", None), range) else None


@result(builtins.max, builtins.min)
def _extreme(call: Applied) -> Type | None:
    """The largest key of a dict; of several numbers one of them, whichever it is."""
    if of_keys(call.op, call.args):
        return item_type(call.first, call.fresh)
    are_numbers = len(call.args) > 1 and all(isinstance(t, Scalar) for t in call.args)
    differ = are_numbers and len({(t.dtype, t.weak) for t in call.args}) > 1
    return joined(call.args, call.fresh) if differ and not call.keywords else None


@result(builtins.dict)
def _as_dict(call: Applied) -> Type | None:
    is_dict = isinstance(call.first, Dict) or isinstance(call.first, Sequence) and call.first.kind is dict
    return replace(call.first, stands_for=None) if len(call.args) == 1 and is_dict else None


def _of_texts(call: Applied) -> Type | None:
    """What an operator makes of texts that are known: ``"w" + name``, ``"w%s" % name``."""
    given = [t.items if isinstance(t, Tuple) else (t,) for t in call.args]
    known = all(isinstance(t, Known) or type(getattr(t, "value", None)) is int for g in given for t in g)
    if not known or not isinstance(getattr(call.first, "value", None), str):
        return None
    values = [tuple(t.value for t in t.items) if isinstance(t, Tuple) else t.value for t in call.args]
    try:
        return Known(Const(call.op(*values)))
    except (TypeError, ValueError):
        return None


result(operator.mod)(_of_texts)


@result(operator.add)
def _joined_lists(call: Applied) -> Type | None:
    """The type of ``a + b`` for two lists or two tuples; for two texts, it is known what it is."""
    if not all(isinstance(t, (Sequence, Tuple)) for t in call.args):
        return _of_texts(call)
    a, b = call.args
    if isinstance(a, Tuple) and isinstance(b, Tuple):
        return Tuple(a.items + b.items)
    if all(isinstance(t, Tuple) or isinstance(t, Sequence) and t.kind is builtins.tuple for t in (a, b)):
        return of_any_length((*a.items, *b.items), call.fresh)
    if not (isinstance(a, Sequence) and isinstance(b, Sequence)):
        return None
    before, after = items_of(a), items_of(b)
    if before is None or after is None:
        return Sequence(list, (joined((*a.items, *b.items), call.fresh),), None)
    return Sequence(list, alike((*before, *after)), len(before) + len(after))


@result(operator.mul)
def _repeated_list(call: Applied) -> Type | None:
    """``[x] * n``; a few items whose number is known are as many as those of a display."""
    t, times = call.first, getattr(call.args[1], "value", None)
    if not isinstance(t, Sequence) or len(t.items) > 1:
        return None
    length = times * t.length if isinstance(times, int) and t.length is not None else None
    return Sequence(list, t.items, length if length is not None and 0 < length <= MOST_PARTS else None)


@result(ops.select)
def _selected(call: Applied) -> Type:
    return join(call.args[1], call.args[2], call.fresh)


@result(builtins.len)
def _length(call: Applied) -> Type | None:
    if isinstance(call.first, Opaque):
        return INTEGER
    if isinstance(call.first, Tuple) and call.first.cls is None and not call.first.or_none:
        return Known(Const(len(call.first.items)))
    return length_of(call.first) if len(call.args) == 1 else None


@result(builtins.getattr)
def _attribute(call: Applied) -> Type | None:
    is_named = len(call.args) == 2 and isinstance(call.args[1], Known)
    return attribute_of(call.first, call.args[1].const.value, call.fresh) if is_named else None


@result(operator.getitem)
def _item(call: Applied) -> Type:
    return subscript(call.first, call.args[1], call.fresh)


@result(builtins.enumerate, builtins.zip, builtins.reversed)
def _iterator(call: Applied) -> Type:
    if any(isinstance(t, Sequence) and t.length == 0 for t in call.args):
        return Sequence(list, (), 0)
    items = tuple(item_type(t, call.fresh) for t in call.args[: 1 if call.op is builtins.enumerate else None])
    if call.op is builtins.reversed:
        return call.first  # type: ignore[no-any-return]
    if call.op is builtins.enumerate:
        items = INTEGER, *items
    return Sequence(list, (Tuple(items),), None)


@result_of_known(builtins.range)
def _range(call: Applied) -> Type:
    return Known(Const(range(0)))


@result_of_known(builtins.type)
def _class(call: Applied) -> Type | None:
    return Known(Const(call.first.cls)) if len(call.args) == 1 and isinstance(call.first, Struct) else None


# ------------------------------------------------------------------ methods
def of_container(t: Sequence | Dict | Struct | Tuple, name: str, args: Seq[Type], fresh: Fresh) -> Type:
    """The type of what a method of a list, a dict or an object gives."""
    if isinstance(t, (Struct, Tuple)):
        return LATER
    if isinstance(t, Dict) and name in ("items", "values", "keys"):
        keys: list[Type] = [type_of(k) for k in t.keys]
        parts = {"keys": keys, "values": list(t.items)}.get(name)
        return Sequence(list, tuple(parts or [Tuple(pair) for pair in zip(keys, t.items)]), len(keys))
    if name == "pop":
        return taken((t, *args), fresh)
    if name == "copy":
        return t
    if name in ("get", "setdefault") and args:
        found, other = subscript(t, args[0], fresh), args[1] if len(args) > 1 else Known(Const(None))
        if isinstance(t, Dict) and constant(args[0]) is None and not isinstance(found, Unknown):
            return joined([found, other], fresh)  # a key that only the run knows
        return other if isinstance(found, Unknown) or is_nothing(found) else found
    if name in ("index", "count"):
        return INTEGER
    if name in ("append", "extend", "insert", "remove", "clear", "reverse", "sort", "update"):
        return Known(Const(None))
    return Unknown(f"the method {name} of a dict whose keys are not known")


def of_text(text: str, name: str, args: Seq[Type]) -> Type | None:
    """The type of a method of a text that is known: its value, if its arguments are known too; of a list, which
    may be changed, that it holds texts.  None where values decide."""
    given = [t.value if isinstance(t, (Known, Scalar)) else None for t in args]
    if any(v is None for v in given):
        return TEXT if name in ("format", "join") else None
    try:
        value = getattr(text, name)(*given)
        return Sequence(list, (TEXT,), None) if isinstance(value, list) else Known(Const(value))
    except (AttributeError, TypeError, ValueError):
        return Unknown(f"a text has no such method {name}")
