"""The types of values that are there.

>>> type_of(2.0)
Scalar(dtype='float64', weak=True, value=None)
>>> type_of([1.0, 2.0])
Sequence(kind=<class 'list'>, items=(Scalar(dtype='float64', weak=True, value=None),), length=2, key=None)
"""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import enum
import functools
import threading
import types as pytypes
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from tangentc.core.lengths import EXACT, MOST_TIMES, Dim, Length
from tangentc.core.nodes import Const
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
    is_container,
    map_lengths,
)

PYTHON_SCALARS = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}
_NOT_OBJECTS = (
    pytypes.ModuleType, pytypes.FunctionType, pytypes.BuiltinFunctionType, pytypes.MethodType, type, functools.partial,
    property, np.ufunc, np.dtype, np.generic, BaseException, range, slice, set, frozenset, pytypes.GenericAlias,
)  # fmt: skip
_LIBRARIES = {
    "numba", "numpy", "scipy", "cupy", "uarray", "builtins", "functools", "tangentc", "collections", "typing", "enum",
    "abc", "types", "itertools", "operator", "_operator", "re", "_io", "io", "threading", "_thread", "logging",
    "random", "_random", "pathlib", "datetime", "decimal", "fractions", "contextlib", "weakref", "_weakref", "inspect",
}  # fmt: skip


def type_of(value: Any, sizes: dict[int, Length] | None = None) -> Type:
    """The type of a value.  ``sizes`` maps each actual length to its symbol, and grows.

    Two axes of one length share a symbol; an integer argument that equals a length shares it too.
    """
    sizes = {} if sizes is None else sizes
    cls = type(value)
    if cls in PYTHON_SCALARS:
        if cls is bool:
            return Known(Const(value))
        known = None
        if cls is int and value >= EXACT:
            known = sizes.get(value)
        return Scalar(PYTHON_SCALARS[cls], True, known)
    if isinstance(value, np.generic):
        return scalar_of(value.dtype)
    if is_array(value):
        if isinstance(value, np.ndarray) and cls not in PLAIN_ARRAYS:
            return Opaque("its class has operations of its own", cls)
        return Array(name_of_dtype(value.dtype), tuple(_dim(n, sizes) for n in value.shape))
    if cls is list:
        return _list_type(value, sizes)
    if isinstance(value, tuple):
        items = tuple(type_of(v, sizes) for v in value)
        return Tuple(items, None if cls is tuple else cls)
    if cls is dict:
        return Dict(tuple(value), tuple(type_of(v, sizes) for v in value.values()))
    if is_object(value):
        return _object_type(value, sizes)
    if hasattr(cls, "__next__"):
        return Unknown("it is an iterator")  # to look at its items would use it up
    return Known(Const(value))


def types_of(values: Iterable[Any]) -> list[Type]:
    """The types of the arguments of one call, whose lengths may be multiples of one another."""
    values, sizes = list(values), Sizes()
    found = [type_of(v, sizes) for v in values]
    related = multiples(sizes)
    if not related:
        return found
    sizes = Sizes(related)
    return [type_of(v, sizes) for v in values]


class Sizes(dict[int, Length]):
    """The symbols of actual lengths, those of ``related`` ones by one another."""

    def __init__(self, related: Mapping[int, Length] | None = None):
        super().__init__()
        self.related = related or {}


def multiples(sizes: Mapping[int, Length]) -> dict[int, Length]:
    """The lengths that are a few times another one, and these, by one symbol each."""
    found: dict[int, Length] = {}
    base: set[int] = set()
    for n in sorted(sizes):
        for m in base:
            if n % m == 0 and n // m <= MOST_TIMES:
                found[m] = sizes[m]
                found[n] = Length(sizes[m].symbol, 0, n // m)
                break
        else:
            base.add(n)
    return found


def sizes_of_symbols(sizes: Mapping[int, Length]) -> dict[str, int]:
    """The actual length that each symbol stands for."""
    return {length.symbol: n // length.times for n, length in sizes.items()}


def data_type(value: object) -> Type:
    """The type of a value that is there while compiling: its lengths have symbols of their own, one for each number,
    so that they are not taken for those of arguments."""
    sizes: dict[int, Length] = {}
    found = type_of(value, sizes)
    actual = sizes_of_symbols(sizes)

    def own(d: Dim | None) -> Dim | None:
        return Length(f"g{d.where(actual[d.symbol])}") if isinstance(d, Length) else d

    return map_lengths(found, own) if sizes else found


class _Open(threading.local):
    """The objects whose types a thread is finding, to stop at a circle."""

    def __init__(self) -> None:
        self.objects: list[int] = []


_OPEN = _Open()


def _object_type(value: object, sizes: dict[int, Length]) -> Type:
    if id(value) in _OPEN.objects:
        return Known(Const(value))
    _OPEN.objects.append(id(value))
    try:
        names = attributes_seen(value)
        items = tuple(_attribute_type(n, getattr(value, n), sizes) for n in names)
        return Struct(type(value), names, items, unseen=unseen(value))
    finally:
        _OPEN.objects.pop()


def _attribute_type(name: str, value: object, sizes: dict[int, Length]) -> Type:
    sight = SIGHT.get()
    is_key = sight.as_key and name in sight.written and has_parts(value)
    return Opaque(ONLY_WRITTEN, type(value)) if is_key else type_of(value, sizes)


def as_key(t: Type, written: frozenset[str]) -> Type:
    """The type without what is in attributes that are only written into."""
    if not is_container(t) or not written:
        return t
    items = [as_key(item, written) for item in t.items]
    if isinstance(t, Struct):
        for k, name in enumerate(t.fields):
            if name in written and is_container(t.items[k]):
                cls = {Sequence: list, Dict: dict}.get(type(t.items[k])) or t.items[k].cls or tuple
                items[k] = Opaque(ONLY_WRITTEN, cls)
    return dataclasses.replace(t, items=tuple(items))


def holds_itself(t: Type) -> bool:
    """Whether this is the type of an object that is a part of its own parts."""
    if isinstance(t, Known):
        return is_object(t.value)
    return is_container(t) and any(map(holds_itself, t.items))


def name_of_dtype(dtype: np.dtype) -> str:
    """A name that `numpy.dtype` understands: those of texts, dates and records do not say how long they are."""
    return str(dtype.name if dtype.kind in "biufcO" else dtype.str)


def scalar_of(dtype: np.dtype) -> Scalar:
    """The type of one entry of an array."""
    return Scalar("str", True) if dtype.kind == "U" else Scalar(name_of_dtype(dtype))


def attributes_of(value: object) -> tuple[str, ...]:
    """The names of the data that an object of a user's class holds."""
    if dataclasses.is_dataclass(value):
        names = [f.name for f in dataclasses.fields(value) if hasattr(value, f.name)]
    else:
        slots = [getattr(c, "__slots__", ()) for c in type(value).__mro__]
        names = [n for s in slots for n in ((s,) if isinstance(s, str) else s) if hasattr(value, n)]
    return tuple(dict.fromkeys([*names, *getattr(value, "__dict__", ())]))


ONLY_WRITTEN = "it is only written into"


class Sight:
    """The names of the attributes that are looked into, None for all; ``left`` are those that were not.

    What is in those that are only ``written`` into does not matter: types ``as_key`` do not tell it.
    """

    def __init__(
        self, names: frozenset[str] | None = None, written: frozenset[str] = frozenset(), as_key: bool = False
    ):
        self.names, self.written, self.as_key = names, written, as_key
        self.left: set[str] = set()


WHOLE = Sight()
SIGHT: contextvars.ContextVar[Sight] = contextvars.ContextVar("sight", default=WHOLE)


@contextlib.contextmanager
def seeing(
    names: frozenset[str] | None, written: frozenset[str] = frozenset(), as_key: bool = False
) -> Iterator[Sight]:
    """Look only into those containers and objects among the attributes of objects that have these names; None: all."""
    token = SIGHT.set(Sight(names, written, as_key))
    try:
        yield SIGHT.get()
    finally:
        SIGHT.reset(token)


def attributes_seen(value: object) -> tuple[str, ...]:
    """The names of the attributes of an object that are looked at.

    Numbers, arrays and settings always are.  A dataclass says itself what it consists of.
    """
    names, sight = attributes_of(value), SIGHT.get()
    if sight.names is None or dataclasses.is_dataclass(value):
        return names
    left = [n for n in names if n not in sight.names and has_parts(getattr(value, n))]
    sight.left.update(left)
    return tuple([n for n in names if n not in left])


def unseen(value: object) -> tuple[str, ...]:
    """The names of the attributes of an object that are not looked at."""
    seen = attributes_seen(value)
    return tuple([n for n in attributes_of(value) if n not in seen])


def has_parts(value: object) -> bool:
    """Whether a value is a container or an object, which may hold any number of things."""
    return isinstance(value, (list, dict, tuple, set)) or is_object(value)


def is_object(value: object) -> bool:
    """Whether a value is an instance of a class of the user, whose attributes are its data."""
    cls = type(value)
    if isinstance(value, _NOT_OBJECTS) or isinstance(value, (str, bytes, int, float, complex, dict, list, tuple)):
        return False
    if isinstance(value, enum.Enum) or value is None or value is Ellipsis or is_array(value):
        return False
    if (cls.__module__ or "").startswith("_cython"):
        return False  # a compiled function
    if (cls.__module__ or "").split(".")[0] in _LIBRARIES:
        return dataclasses.is_dataclass(value) or isinstance(value, pytypes.SimpleNamespace)
    return hasattr(value, "__dict__") or any(hasattr(c, "__slots__") for c in cls.__mro__)


def is_table(cls: type) -> bool:
    """Whether it is `DataFrame` or `Series` of pandas, or another class of what is labelled there."""
    return cls.__module__.split(".")[0] == "pandas" and hasattr(cls, "to_numpy")


def mutable_parts(value: object, within: tuple[int, ...] = ()) -> list[object]:
    """The arrays, lists, dicts and objects that a value is made of, those inside one another among them."""
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, dict):
        items: Iterable[object] = value.values()
    elif isinstance(value, (list, tuple)):
        items = () if value and type(value[0]) in (int, float) else value
    elif is_object(value):
        items = [getattr(value, name) for name in attributes_seen(value)]
    else:
        return []
    if id(value) in within:
        return []
    within = (*within, id(value))
    own = [] if isinstance(value, tuple) else [value]
    return own + [leaf for item in items for leaf in mutable_parts(item, within)]


def is_array(value: object) -> bool:
    return isinstance(value, np.ndarray) or type(value).__module__.split(".")[0] == "cupy" and hasattr(value, "shape")


def _dim(n: int, sizes: dict[int, Length]) -> Dim:
    if n < EXACT:
        return n
    if n not in sizes:
        related = getattr(sizes, "related", {})
        sizes[n] = related.get(n) or Length(f"n{len(sizes)}")
    return sizes[n]


def _list_type(value: list[object], sizes: dict[int, Length]) -> Type:
    classes = set(map(type, value))
    if len(classes) == 1 and (cls := classes.pop()) in PYTHON_SCALARS:
        return Sequence(list, (Scalar(PYTHON_SCALARS[cls], True),), len(value))
    items = tuple(type_of(v, sizes) for v in value)
    if len(set(items)) == 1:
        return Sequence(list, items[:1], len(value))
    return Sequence(list, items, len(value))
