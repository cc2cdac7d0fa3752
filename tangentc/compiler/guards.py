"""What a module of emitted code was made for: checked where a call comes in, so that no other shapes give a number.

Emitted text says what is right for the lengths that it was compiled for: ``/ n`` for a mean over what was as long as
something else, no sum over an axis that was not one long.  Here it is found out what of that the text rests on: where
the text comes out the same for other lengths, nothing has to be checked.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from collections.abc import Sequence as Sequence_
from dataclasses import replace
from fractions import Fraction
from typing import Any

from tangentc.analysis.outside import of_any_length
from tangentc.core.lengths import ANY, EXACT, Dim, Length, least_of
from tangentc.core.types import (
    SETTINGS,
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
    describe,
    map_lengths,
)
from tangentc.errors import TangentcError

MOST_LENGTHS = 24  # that are tried one by one

Write = Callable[[list[Type]], str]


def weakest(write: Write, types: list[Type]) -> list[Type]:
    """The types with as little as may be known of their lengths, for which ``write`` gives the same text: nothing;
    that they have at least two entries, or as many as there were, and are equal where these were."""
    same, count = _same_as(write, write(types)), len(_lengths(types))
    if same(free := _with(types, {k: f"{ANY}{k}" for k in range(count)})):
        return free
    one_by_one = range(count) if count <= MOST_LENGTHS else ()
    types = _each(same, types, {k: f"{ANY}{k}" for k in one_by_one})
    types = _several(same, types, 2) or _several(same, types, EXACT) or types
    found = _lengths(types)
    again = {k: d for k in one_by_one if isinstance(d := found[k], Length) and not _is_any(d) and d in found[:k]}
    return _each(same, types, {k: f"{d.symbol}.{k}" for k, d in again.items()})


def _each(same: Callable[[list[Type]], bool], types: list[Type], symbols: dict[int, str]) -> list[Type]:
    """The types with these symbols, one after the other, where they get the same text."""
    for k, symbol in symbols.items():
        other = _with(types, {k: symbol})
        types = other if same(other) else types
    return types


def common(write: Write, text: str, types: list[Type], before: list[Type]) -> list[Type] | None:
    """The types for lengths like those of two calls, of two entries or at least as many, and equal where those of
    ``types`` are, and for lists of any length where these differ; None where ``write`` gives another text for them, or
    none."""
    pairs = [_of_any_length(a, b) for a, b in zip(types, before)]
    found = _lengths([a for a, _ in pairs]), _lengths([b for _, b in pairs])
    if any(a != b and (a in (0, 1) or b in (0, 1)) for a, b in zip(*found)):
        return None
    fewest = min((_fewest(d) for d in itertools.chain(*found)), default=2)
    same = _same_as(write, text)
    for types in (_in_both([a for a, _ in pairs], found), [a for a, _ in pairs]):
        several = _several(same, types, 2) or (_several(same, types, fewest) if fewest > 2 else None)
        if several is not None:
            return several
    return None


def _in_both(types: list[Type], found: tuple[list[Dim | None], list[Dim | None]]) -> list[Type]:
    """The types with those lengths equal, or multiples of one another, that are so in two calls."""
    now, before = found
    keys = [
        None if d in (None, 0, 1) else (_base(d), _base(e), Fraction(_times(d), _times(e)))
        for d, e in zip(now, before, strict=True)
    ]
    each = {key: math.gcd(*(_times(d) for d, k in zip(now, keys, strict=True) if k == key)) for key in keys if key}
    symbols = {key: f"s{min(_fewest(_base(key[0])), _fewest(_base(key[1])))}.{n}" for n, key in enumerate(each)}
    places = {k: Length(symbols[key], 0, _times(now[k]) // each[key]) for k, key in enumerate(keys) if key}
    return _with(types, places)


def _times(d: Dim | None) -> int:
    return d.times if isinstance(d, Length) else 1


def _of_any_length(t: Type, other: Type) -> tuple[Type, Type]:
    """Two types, with lists of any length where these differ."""
    match t, other:
        case (Sequence(), Sequence()) if t.length != other.length:
            return of_any_length(t), of_any_length(other)
        case (Sequence() | Tuple() | Dict() | Struct(), Sequence() | Tuple() | Dict() | Struct()):
            items = [_of_any_length(a, b) for a, b in zip(t.items, other.items)]
            return replace(t, items=tuple(a for a, _ in items)), replace(other, items=tuple(b for _, b in items))
    return t, other


def _same_as(write: Write, wanted: str) -> Callable[[list[Type]], bool]:
    """Whether types get this text."""

    def same(other: list[Type]) -> bool:
        try:
            return write([_without_any(t) for t in other]) == wanted
        except TangentcError:
            return False

    return same


def _several(same: Callable[[list[Type]], bool], types: list[Type], most: int) -> list[Type] | None:
    """The types with a symbol for each number of entries that they have, of as many as it is, or ``most``."""
    found = [(k, d) for k, d in enumerate(_lengths(types)) if d not in (None, 0, 1) and not _is_any(d)]
    number = {d: n for n, d in enumerate(dict.fromkeys(_base(d) for _, d in found))}
    symbols = {d: f"s{min(_fewest(d), most)}.{n}" for d, n in number.items()}
    other = _with(types, {k: Length(symbols[_base(d)], 0, _times(d)) for k, d in found})
    return other if same(other) else None


def _base(d: Dim | None) -> Dim | None:
    """What a length is a multiple of."""
    return replace(d, times=1) if isinstance(d, Length) else d


def _fewest(d: Dim | None) -> int:
    """How many entries there are, or at least are; of none and one, as of any number, it is not asked."""
    fewest = d.least if isinstance(d, Length) else d or 0
    return fewest if fewest > 1 else EXACT


def _is_any(d: Dim | None) -> bool:
    return isinstance(d, Length) and d.least == 0


def covers(made_for: Sequence_[Type], types: Sequence_[Type]) -> bool:
    """Whether code that was made for lengths like these is for those of types, in which all else is the same."""
    known: dict[str, Dim | None] = {}
    return all(_covers(t, given, known) for t, given in zip(made_for, types))


def _covers(t: Type, given: Type, known: dict[str, Dim | None]) -> bool:
    match t, given:
        case Array(), Array():
            return all(_fits(d, e, known) for d, e in zip(t.shape, given.shape))
        case Scalar(value=Length() as d), Scalar():
            return _fits(d, given.value, known)
        case Sequence(), Sequence():
            if t.length not in (None, given.length):
                return False
            items = t.items if len(t.items) == len(given.items) else t.items[:1] * len(given.items)
            return all(_covers(a, b, known) for a, b in zip(items, given.items, strict=True))
        case (Tuple() | Dict() | Struct(), Tuple() | Dict() | Struct()):
            return all(_covers(a, b, known) for a, b in zip(t.items, given.items, strict=True))
    return t == given


def _fits(d: Dim, given: Dim | None, known: dict[str, Dim | None]) -> bool:
    if not isinstance(d, Length):
        return d == given
    many = given not in (0, 1) and _fewest(given) >= d.least
    if _is_any(d) or not many or d.times == 1:
        return _is_any(d) or many and known.setdefault(d.symbol, given) == given
    each, rest = divmod(given if isinstance(given, int) else given.times, d.times)
    base = each if isinstance(given, int) else replace(given, times=each)  # type: ignore[type-var]
    return not rest and getattr(given, "offset", 0) == 0 and known.setdefault(d.symbol, base) == base


def form(types: Sequence_[Type]) -> tuple[Type, ...]:
    """The types without their lengths, and without those of lists of one kind of items."""
    return tuple(map(_form, types))


def _form(t: Type) -> Type:
    if isinstance(t, Sequence) and t.kind is list:
        items = tuple(dict.fromkeys(map(_form, t.items)))
        return replace(t, items=items, length=None) if len(items) == 1 else replace(t, items=tuple(map(_form, t.items)))
    if isinstance(t, (Sequence, Tuple, Dict, Struct)):
        return replace(t, items=tuple(map(_form, t.items)))
    return _replaced(t, lambda d: Length(ANY))


def _lengths(types: Sequence_[Type]) -> list[Dim | None]:
    found: list[Dim | None] = []
    for t in types:
        _replaced(t, lambda d: (found.append(d), d)[1])  # type: ignore[func-returns-value]
    return found


def _with(types: list[Type], symbols: Mapping[int, str | Length]) -> list[Type]:
    """The types with other lengths at some places, in the order of `_lengths`."""
    place = itertools.count()

    def of(d: Dim | None) -> Dim | None:
        symbol = symbols.get(next(place))
        return d if symbol is None else symbol if isinstance(symbol, Length) else Length(symbol)

    return [_replaced(t, of) for t in types]


def _replaced(t: Type, of: Callable[[Dim | None], Any]) -> Type:
    """The type with other lengths of arrays, and integers that are lengths; those of lists stay."""

    def some(d: Dim | None) -> Any:
        return d if d is None else of(d)

    match t:
        case Array(dtype, shape):
            return Array(dtype, tuple(map(some, shape)))
        case Scalar(value=Length()):
            return replace(t, value=of(t.value))
        case Sequence() | Tuple() | Dict() | Struct():
            return replace(t, items=tuple(_replaced(item, of) for item in t.items))
        case Optional():
            return map_lengths(t, of)
    return t


def _without_any(t: Type) -> Type:
    """The type in which an integer that may be any has no value."""
    match t:
        case Scalar(value=Length() as value) if _is_any(value):
            return replace(t, value=None)
        case Sequence() | Tuple() | Dict() | Struct():
            return replace(t, items=tuple(map(_without_any, t.items)))
    return t


def checks(function: str, names: list[str], types: list[Type], typed: bool = False) -> str:
    """The statement that raises `ValueError` unless arguments are as these types say; '' where nothing is known.
    ``typed``: what they are is known, and only lengths and values are asked."""
    found = _Checks(typed)
    for name, t in zip(names, types):
        found.argument(name, t)
    if not found.tests:
        return ""
    tests = found.tests
    condition = " or ".join(tests)
    if len(condition) > 90:
        condition = "(\n        " + "\n        or ".join(tests) + "\n    )"
    spelled = {symbol: f"n{k}" for k, symbol in enumerate(found.first)}
    made = [f"{name}: {_said(t, spelled)}" for name, t in zip(names, types) if not isinstance(t, Unknown)]
    least = [f"{spelled[symbol]} at least {least_of(symbol)}" for symbol in found.first]
    more = [*least, *found.integers]
    message = f"{function} was made for {', '.join(made)}{'; ' * bool(more)}{', '.join(more)}"
    return f"    if {condition}:\n        raise ValueError({_quoted(message)})\n"


def _quoted(text: str) -> str:
    return repr(text) if '"' in text else f'"{text}"'


class _Checks:
    """``tests`` are true of what code was not made for, each where those before it are false."""

    def __init__(self, typed: bool) -> None:
        self.typed = typed
        self.tests: list[str] = []
        self.integers: list[str] = []  # which integers it was made for
        self.first: dict[str, str] = {}  # the expression for the length of a symbol that was met first

    def argument(self, text: str, t: Type) -> None:
        match t:
            case Array(dtype, shape):
                if not self.typed:
                    self.tests += [f'getattr({text}, "ndim", None) != {len(shape)}', f'{text}.dtype != "{dtype}"']
                for k, d in enumerate(shape):
                    self.length(f"{text}.shape[{k}]", d)
            case Scalar(dtype, _, value):
                if not self.typed:
                    self.tests.append(f'getattr({text}, "ndim", 0) != 0')
                if not self.typed and not dtype.startswith("complex"):
                    self.tests.append(f"isinstance({text}, complex)")
                if isinstance(value, Length):
                    self.length(text, value)
                elif value is not None:
                    self.tests.append(f"{text} != {value}")
                    self.integers.append(f"{text} {value}")
            case Known() if isinstance(t.value, bool) and self.typed:
                self.tests.append(f"{text} != {t.value}")
            case Known() if t.value is None or isinstance(t.value, bool):
                self.tests.append(f"{text} is not {t.value}")
            case Known() if type(t.value) in SETTINGS:
                self.tests.append(f"{text} != {t.value!r}")
            case Known() if callable(t.value) and hasattr(t.value, "__name__"):
                self.tests.append(f"{text}.__name__ != {t.value.__name__!r}")
            case Tuple() | Sequence() | Dict() | Struct():
                self.container(text, t)

    def container(self, text: str, t: Tuple | Sequence | Dict | Struct) -> None:
        match t:
            case Tuple(cls=cls) if cls is slice:
                return
            case Dict(keys, _):
                self.tests.append(f"list({text}) != {list(keys)!r}")
                parts = [(f"{text}[{key!r}]", item) for key, item in zip(keys, t.items)]
            case Struct(cls, fields, _):
                self.tests.append(f"type({text}).__name__ != {cls.__name__!r}")
                parts = [(f"{text}.{name}", item) for name, item in zip(fields, t.items)]
            case _:
                count = t.length if isinstance(t, Sequence) else len(t.items)
                if count is None:
                    return
                self.tests.append(f"len({text}) != {count}")
                parts = [(f"{text}[{k}]", t.item(k) if isinstance(t, Sequence) else t.items[k]) for k in range(count)]
                if len(set(t.items)) == 1 and isinstance(t.items[0], Scalar):
                    parts = parts[:1]
        for part, item in parts:
            self.argument(part, item)

    def length(self, text: str, d: Dim) -> None:
        if isinstance(d, int):
            self.tests.append(f"{text} != {d}")
        elif not _is_any(d):
            if d.symbol in self.first:
                self.tests.append(f"{text} != {_multiple(d.times, self.first[d.symbol])}")
                return
            self.first[d.symbol] = text if d.times == 1 else f"{text} // {d.times}"
            self.tests.append(f"{text} < {d.least}")
            if d.times > 1:
                self.tests.append(f"{text} % {d.times} != 0")


def _multiple(times: int, text: str) -> str:
    return text if times == 1 else f"{times} * ({text})" if " " in text else f"{times} * {text}"


def _said(t: Type, spelled: dict[str, str]) -> str:
    """A type as the message says it: ``*`` is any length."""

    def said(d: Dim | None) -> Dim | None:
        return replace(d, symbol=spelled.get(d.symbol, "*")) if isinstance(d, Length) else d

    return describe(_replaced(t, said)) if not isinstance(t, Known) else describe(t)
