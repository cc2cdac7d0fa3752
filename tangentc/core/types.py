"""What is known of a value before the program runs."""

from __future__ import annotations

import dataclasses
import functools
import operator
import types as pytypes
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeGuard

import numpy as np

from tangentc.core.lengths import Dim, Length, describe_length
from tangentc.core.nodes import Atom, Const, Op

MOST_PARTS = 16  # lists with more items than this are not told apart item by item


@dataclass(frozen=True, slots=True)
class Scalar:
    """A Python number (``weak``) or a NumPy scalar; ``value`` if it is an integer known as a length."""

    dtype: str
    weak: bool = False
    value: Dim | None = None


@dataclass(frozen=True, slots=True)
class Array:
    """An array.  With ``or_number`` it may be a number that stands for one, as ``s`` in ``s = 0`` before ``s += x``: it
    is the name of a value that is a number where this one is, "?" if none is known.  With ``or_narrower`` it has
    another dtype on another path, of integers or of real numbers, which only the run knows."""

    dtype: str
    shape: tuple[Dim, ...]
    or_number: str = ""
    or_narrower: bool = False


class Container:
    """What the types of containers have in common: the types of their ``items``, and the places where one is made."""

    items: tuple[Type, ...]
    sites: frozenset[int] = frozenset()

    @functools.cached_property
    def within(self) -> frozenset[int]:
        """The places where it, and what it holds, may have been made."""
        held = (getattr(t, "type", t) for t in self.items)  # of what may be None
        return self.sites.union(*(t.within for t in held if isinstance(t, Container)))


@dataclass(frozen=True)
class Tuple(Container):
    """A tuple, or with ``cls`` a NamedTuple.  Slices with the same ``span`` take as much of axes that are as long;
    ``bounds`` are the lengths at which they begin and end, None where that is the axis's own end."""

    items: tuple[Type, ...]
    cls: type | None = None
    or_none: bool = field(default=False, repr=False)
    span: Length | None = field(default=None, repr=False)
    bounds: tuple[Dim | None, Dim | None] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class StandsFor:
    """The class of a container that a list or a dict is in the text: a `deque`, an `OrderedDict` or a `defaultdict`,
    with how many items it has at most, or what makes an item that is missing."""

    cls: type
    most: int | None = None
    make: Callable[[], object] | None = None


@dataclass(frozen=True)
class Sequence(Container):
    """A list, or a dict of computed keys.  One item type for all (``length`` may be unknown), else one for each;
    ``key`` is the type of a dict's keys."""

    kind: type
    items: tuple[Type, ...]
    length: int | None = None
    key: Type | None = None
    sites: frozenset[int] = field(default=frozenset(), compare=False, repr=False)
    or_none: bool = field(default=False, repr=False)  # whether it may be None in its place
    stands_for: StandsFor | None = field(default=None, repr=False)

    def item(self, index: int) -> Type:
        return self.items[0] if len(self.items) == 1 else self.items[index]


@dataclass(frozen=True)
class Dict(Container):
    keys: tuple[Any, ...]
    items: tuple[Type, ...]
    sites: frozenset[int] = field(default=frozenset(), compare=False, repr=False)
    loses: bool = field(default=False, compare=False, repr=False)  # whether it had more keys before
    or_none: bool = field(default=False, repr=False)  # whether it may be None in its place
    stands_for: StandsFor | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Struct(Container):
    """An object with attributes: an instance of a dataclass, or of another class of the user."""

    cls: type
    fields: tuple[str, ...]
    items: tuple[Type, ...]
    sites: frozenset[int] = field(default=frozenset(), compare=False, repr=False)
    or_none: bool = field(default=False, repr=False)  # whether it may be None in its place
    unsure: frozenset[str] = field(default=frozenset(), compare=False, repr=False)  # what only some paths have set
    unseen: tuple[str, ...] = field(default=(), compare=False, repr=False)  # attributes that no text has a name for


@dataclass(frozen=True, slots=True)
class Known:
    """A value that is itself known: None, a string, a flag, a function, a module, a dtype."""

    const: Const

    @property
    def value(self) -> Any:
        return self.const.value


class Either:
    """One of several functions: which one, the value of ``which`` says."""

    def __init__(self, functions: tuple[Op, ...], which: Atom | None = None):
        self.functions, self.which = functions, which
        self.__name__ = "either"

    def __call__(self, *args: object, **keywords: object) -> object:
        raise NotImplementedError(self.__name__)


_EITHER: dict[tuple[Hashable, ...], Either] = {}


def place_of(function: Op) -> Hashable:
    """Where a function is made, if it is made while the program runs."""
    key = getattr(function, "key", None)
    return id(function) if key is None or isinstance(function, pytypes.FunctionType) else key


def either(a: Op, b: Op) -> Op:
    """The choice between functions, the same object for the same functions; of what one place makes, what it has made
    last."""
    functions: dict[Hashable, Op] = {}
    for f in (a, b):
        functions.update({place_of(g): g for g in (f.functions if isinstance(f, Either) else (f,))})
    if len(functions) == 1:
        return next(iter(functions.values()))
    found = _EITHER.get(tuple(functions))
    if found is None or any(x is not y for x, y in zip(found.functions, functions.values(), strict=True)):
        found = _EITHER[tuple(functions)] = Either(tuple(functions.values()))
    return found


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nothing is known; ``reason`` says why, for messages."""

    reason: str = ""


SAVED = Unknown("what the primal saves")  # a tuple, which its adjoint unpacks


@dataclass(frozen=True, slots=True)
class Optional(Unknown):
    """None or a value of this type: what is computed from it is computed from the value."""

    type: Type = Unknown()


@dataclass(frozen=True, slots=True)
class Opaque(Unknown):
    """An object of a library, of which nothing but the class is known."""

    cls: type = object


PLAIN_ARRAYS = (np.ndarray, np.memmap, np.recarray)  # whose operations are NumPy's
SETTINGS = (type(None), bool, str, int, tuple)  # types of values for each of which code is compiled, if they are known


def is_array_of_a_class(t: Type) -> bool:
    """Whether a value is an array of a class of its own, masked or with units say, whose operations are not NumPy's."""
    return isinstance(t, Opaque) and issubclass(t.cls, np.ndarray)


def is_set(t: Type) -> bool:
    """Whether a value is a set, which holds no numbers that move."""
    return isinstance(t, Opaque) and t.cls is set


def may_be_number(t: Type) -> bool:
    """Whether a value is an array, or holds one, for which a number may stand."""
    if isinstance(t, (Tuple, Sequence)):
        return any(map(may_be_number, t.items))
    return isinstance(t, Array) and bool(t.or_number)


def one_kind(a: Type, b: Type) -> bool:
    """Whether one of two values is a number for which an array may stand exactly where the other is."""
    kinds = {getattr(t, "or_number", "") for t in (a, b)}
    return len(kinds) == 1 and "?" not in kinds


def as_array(t: Type) -> Type:
    """The type of a value for which no number stands."""
    if isinstance(t, (Tuple, Sequence)):
        return dataclasses.replace(t, items=tuple(map(as_array, t.items)))
    return dataclasses.replace(t, or_number="") if isinstance(t, Array) else t


def as_number(t: Type) -> Type:
    """The type of the number that may stand for an array."""
    if isinstance(t, (Tuple, Sequence)):
        return dataclasses.replace(t, items=tuple(map(as_number, t.items)))
    return Scalar(t.dtype, True) if isinstance(t, Array) and t.or_number else t


def may_be_none(t: Type) -> bool:
    """Whether a container may be None in its place."""
    return getattr(t, "or_none", False)


def present(t: Type) -> Type:
    """The type of a value that is not None."""
    if isinstance(t, (Tuple, Sequence, Dict, Struct)) and t.or_none:
        return dataclasses.replace(t, or_none=False)
    return t.type if isinstance(t, Optional) else t


Held = Tuple | Sequence | Dict | Struct  # what `is_container` finds
Type = Scalar | Array | Held | Known | Unknown


def contradict(a: Type, b: Type) -> bool:
    """Whether no value can be of both types, whatever its lengths: where those do not fit the program raises."""
    a, b = present(a), present(b)
    if isinstance(a, (Unknown, Known)) or isinstance(b, (Unknown, Known)):
        return False
    match a, b:
        case (Array(or_number=""), Array(or_number="")):
            return len(a.shape) != len(b.shape) or is_complex(a) != is_complex(b)
        case (Array(shape=()), Scalar()) | (Scalar(), Array(shape=())):
            return False
        case (Array(), other) | (other, Array()):
            return is_container(other) or isinstance(other, Scalar) and not may_be_number(a if other is b else b)
        case Scalar(), Scalar():
            return a.dtype.startswith("str") != b.dtype.startswith("str")
        case Struct(), Struct():
            return a.cls is not b.cls
        case Tuple(), Tuple():
            return len(a.items) != len(b.items) or any(map(contradict, a.items, b.items))
        case Sequence(items=(x,)), Sequence(items=(y,)):
            return contradict(of_dtype(x, y), y)  # a list of real numbers may hold complex ones later
    return isinstance(a, Scalar) != isinstance(b, Scalar)


def of_dtype(t: Type, other: Type) -> Type:
    """The type of an array, with the dtype of another."""
    return dataclasses.replace(t, dtype=other.dtype) if isinstance(t, Array) and isinstance(other, Array) else t


def is_container(t: Type | None) -> TypeGuard[Held]:
    return isinstance(t, Container)


def is_numeric(t: Type) -> bool:
    return isinstance(t, (Scalar, Array))


def is_differentiable(t: Type) -> bool:
    """Whether a derivative can flow through a value of this type."""
    if isinstance(t, (Scalar, Array)):
        return np.dtype(t.dtype).kind in "fc"
    if is_container(t):
        return any(is_differentiable(item) for item in t.items)
    return isinstance(t, Unknown)


def holds_numbers(t: Type) -> bool:
    """Whether a value is a number or an array of any kind, or may hold one."""
    if isinstance(t, (Scalar, Array)):
        return np.dtype(t.dtype).kind in "biufc"
    if isinstance(t, Tuple) and t.cls is slice:
        return False
    return any(map(holds_numbers, t.items)) if is_container(t) else isinstance(t, Unknown)


def is_complex(t: Type) -> bool:
    return isinstance(t, (Scalar, Array)) and np.dtype(t.dtype).kind == "c"


NARROW = {"int8", "int16", "int32", "uint8", "uint16", "uint32", "uint64"}


def is_narrow(t: Type | None) -> bool:
    """Whether a value is made of integers of few bits, or without a sign: twice them, or less them, may wrap around."""
    return isinstance(t, (Scalar, Array)) and t.dtype in NARROW


def rank(t: Type) -> int | None:
    """The number of axes, None where it is not known."""
    if isinstance(t, Scalar):
        return 0
    return len(t.shape) if isinstance(t, Array) else None


def components(t: Type) -> Iterator[tuple[Any, Type]]:
    """The key and the type of each part of a container whose parts are told apart."""
    match t:
        case Tuple(items, _):
            yield from enumerate(items)
        case Sequence(_, items, length) if length is not None:
            for i in range(length):
                yield i, items[0] if len(items) == 1 else items[i]
        case Dict(keys, items):
            yield from zip(keys, items, strict=True)
        case Struct(_, fields, items):
            yield from zip(fields, items, strict=True)


def holds_nothing(t: Type) -> bool:
    """Whether a value is a container with nothing in it: its derivatives are like it."""
    return is_container(t) and all(holds_nothing(part) for _, part in components(t))


def map_lengths(t: Type, of: Callable[[Dim | None], Any]) -> Type:
    """The type with each length of an array, and each of a list whose items are alike, replaced; ``t`` if none is
    another one."""
    match t:
        case Array(shape=shape):
            new = tuple(map(of, shape))
            return t if new == shape else dataclasses.replace(t, shape=new)
        case Scalar(value=Length() as value):
            return dataclasses.replace(t, value=of(value))
        case Sequence(_, items, length) if len(items) == 1:
            held, number = map_lengths(items[0], of), of(length)
            if held is items[0] and number == length:
                return t
            return dataclasses.replace(t, items=(held,), length=None if isinstance(number, Length) else number)
        case Container():
            if isinstance(t, Tuple) and t.span is not None and (span := of(t.span)) != t.span:
                t = dataclasses.replace(t, span=span)
            parts = tuple([map_lengths(i, of) for i in t.items])
            return t if all(map(operator.is_, parts, t.items)) else dataclasses.replace(t, items=parts)
        case Optional(reason, inner):
            return Optional(reason, map_lengths(inner, of))
    return t


def lengths(*types: Type) -> list[Dim | None]:
    """The lengths of types, in the order of `map_lengths`."""
    found: list[Dim | None] = []
    for t in types:
        map_lengths(t, lambda d: (found.append(d), d)[1])  # type: ignore[func-returns-value]
    return found


def is_long(t: Type) -> bool:
    """Whether a list has too many items to be told apart one by one."""
    return isinstance(t, Sequence) and (t.length is None or t.length > MOST_PARTS)


def describe(t: Type) -> str:
    """The type as a message shows it: ``f64[64, n0]``, ``float``, ``list of float``."""
    match t:
        case Scalar(dtype, True, _):
            return {"float64": "float", "int64": "int", "complex128": "complex"}.get(dtype, dtype)
        case Scalar(dtype, _, _):
            return dtype
        case Array(dtype, shape):
            dims = ", ".join(describe_length(d) for d in shape)
            return f"{dtype}[{dims}]" + " or a number" * bool(t.or_number)
        case Tuple(items, _):
            return "(" + ", ".join(map(describe, items)) + ")"
        case Sequence(_, items, _):
            return "list of " + describe(items[0]) if len(items) == 1 else "list"
        case Dict(keys, items):
            return "{" + ", ".join(f"{k!r}: {describe(i)}" for k, i in zip(keys, items, strict=True)) + "}"
        case Struct(cls, _, _):
            return cls.__name__
        case Known(const):
            return repr(const.value) if isinstance(const.value, (str, bool, type(None))) else type(const.value).__name__
    return "unknown"


def in_floats(t: Type) -> Type:
    """The type of a value with floats in the place of integers in arrays, as what is zero for it has them."""
    if isinstance(t, Array) and np.dtype(t.dtype).kind in "biu":
        return dataclasses.replace(t, dtype="float64")
    return dataclasses.replace(t, items=tuple(map(in_floats, t.items))) if isinstance(t, Container) else t


def alike(items: tuple[Type, ...]) -> tuple[Type, ...]:
    """One type for items that have the same, which may be any of them; a few objects or dicts that are several are
    told apart, so that one may change."""
    made = {t.sites for t in items if isinstance(t, (Struct, Dict))}
    if len(made) > 1 and len(items) <= MOST_PARTS:
        return items
    return (functools.reduce(united, items),) if len(set(items)) == 1 else items


def items_of(t: Type) -> tuple[Type, ...] | None:
    """The types of the items of a list or a tuple, one for each; None where it is not known how many there are."""
    if isinstance(t, Tuple):
        return t.items
    if not isinstance(t, Sequence) or t.kind is dict or t.length is None:
        return None
    return t.items * t.length if len(t.items) == 1 else t.items


def united(a: Type, b: Type) -> Type:
    """The type of what may be one or the other of two values of equal types."""
    if a is b or not is_container(a):
        return a
    items = tuple(map(united, a.items, b.items))
    differs = {} if all(map(operator.is_, items, a.items)) else {"items": items}
    for name in ("sites", "unsure"):
        if not getattr(b, name, frozenset()) <= getattr(a, name, frozenset()):
            differs[name] = getattr(a, name) | getattr(b, name)
    return dataclasses.replace(a, **differs) if differs else a  # type: ignore[arg-type]


def is_basic(part: Type) -> bool:
    """Whether a part of a subscript is an integer, a slice, None or `...`, as those of a view are."""
    if isinstance(part, Known):
        return part.value is None or part.value is ... or isinstance(part.value, slice)
    if isinstance(part, Tuple):
        return part.cls is slice
    return isinstance(part, Scalar) and np.dtype(part.dtype).kind in "iu"


def is_slice(t: Type) -> bool:
    """Whether a subscript is a slice, which gives another list where it is one of a list."""
    return isinstance(t, Tuple) and t.cls is slice or isinstance(t, Known) and isinstance(t.value, slice)


def is_generator(t: Type) -> bool:
    """Whether a value is a generator of random numbers."""
    return isinstance(t, Opaque) and t.cls in (np.random.Generator, np.random.RandomState)
