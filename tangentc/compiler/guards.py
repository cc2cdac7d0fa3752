"""What a module of emitted code was made for: checked where a call comes in, so that no other shapes give a number.

Emitted text says what is right for the lengths that it was compiled for: ``/ n`` for a mean over what was as long as
something else, no sum over an axis that was not one long.  Here it is found out what of that the text rests on: where
the text comes out the same for other lengths, nothing has to be checked.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tangentc.core.types import (
    EXACT,
    SETTINGS,
    Array,
    Dict,
    Dim,
    Known,
    Length,
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
ANY, MANY = "?", "m"  # symbols of a length of which nothing is known, and of one of at least `EXACT`

Write = Callable[[list[Type]], str]


def weakest(write: Write, types: list[Type]) -> list[Type]:
    """The types with as little as may be known of their lengths, for which ``write`` gives the same text."""
    wanted = write(types)

    def same(other: list[Type]) -> bool:
        try:
            return write([_without_any(t) for t in other]) == wanted
        except TangentcError:
            return False

    count = len(_lengths(types))
    if same(free := _with(types, {k: f"{ANY}{k}" for k in range(count)})):
        return free
    if count > MOST_LENGTHS:
        return types
    for k, kind in itertools.product(range(count), (ANY, MANY)):
        d = _lengths(types)[k]
        if isinstance(d, Length) and d.symbol.startswith(ANY) or kind == MANY and d in (0, 1):
            continue
        made = f"x{d if isinstance(d, int) else EXACT}" if kind == MANY else ""
        other = _with(types, {k: f"{kind}{k}{made}"})
        types = other if same(other) else types
    return types


def _lengths(types: list[Type]) -> list[Dim | None]:
    found: list[Dim | None] = []
    for t in types:
        _replaced(t, lambda d: (found.append(d), d)[1])  # type: ignore[func-returns-value]
    return found


def _with(types: list[Type], symbols: dict[int, str]) -> list[Type]:
    """The types with other lengths at some places, in the order of `_lengths`."""
    place = itertools.count()

    def of(d: Dim | None) -> Dim | None:
        symbol = symbols.get(next(place))
        return d if symbol is None else Length(symbol)

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
        case Scalar(value=Length(symbol=symbol)) if symbol.startswith(ANY):
            return replace(t, value=None)
        case Sequence() | Tuple() | Dict() | Struct():
            return replace(t, items=tuple(map(_without_any, t.items)))
    return t


def checks(function: str, names: list[str], types: list[Type]) -> str:
    """The statement that raises `ValueError` unless arguments are as these types say; '' where nothing is known."""
    found = _Checks()
    for name, t in zip(names, types):
        found.argument(name, t)
    if not found.tests:
        return ""
    tests = found.tests
    condition = " or ".join(tests)
    if len(condition) > 90:
        condition = "(\n        " + "\n        or ".join(tests) + "\n    )"
    made = [f"{name}: {_said(t)}" for name, t in zip(names, types) if not isinstance(t, Unknown)]
    least = [f"{symbol} at least {EXACT}" for symbol in found.first]
    more = [*least, *found.integers]
    message = f"{function} was made for {', '.join(made)}{'; ' * bool(more)}{', '.join(more)}"
    return f"    if {condition}:\n        raise ValueError({_quoted(message)})\n"


def _quoted(text: str) -> str:
    return repr(text) if '"' in text else f'"{text}"'


class _Checks:
    """``tests`` are true of what code was not made for, each where those before it are false."""

    def __init__(self) -> None:
        self.tests: list[str] = []
        self.integers: list[str] = []  # which integers it was made for
        self.first: dict[str, str] = {}  # the expression for the length of a symbol that was met first

    def argument(self, text: str, t: Type) -> None:
        match t:
            case Array(dtype, shape):
                self.tests += [f'getattr({text}, "ndim", None) != {len(shape)}', f'{text}.dtype != "{dtype}"']
                for k, d in enumerate(shape):
                    self.length(f"{text}.shape[{k}]", d)
            case Scalar(dtype, _, value):
                self.tests.append(f'getattr({text}, "ndim", 0) != 0')
                if not dtype.startswith("complex"):
                    self.tests.append(f"isinstance({text}, complex)")
                if isinstance(value, Length):
                    self.length(text, value)
                elif value is not None:
                    self.tests.append(f"{text} != {value}")
                    self.integers.append(f"{text} {value}")
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
        elif d.symbol.startswith(MANY):
            exact = _made(d)
            self.tests.append(
                f"{text} < {EXACT}" if exact >= EXACT else f"not ({text} == {exact} or {text} >= {EXACT})"
            )
        elif not d.symbol.startswith(ANY):
            other = self.first.setdefault(d.symbol, text)
            self.tests.append(f"{text} < {EXACT}" if other == text else f"{text} != {other}")


def _made(d: Length) -> int:
    """The length that an example had, of one that may be any of at least `EXACT` too."""
    return int(d.symbol.rpartition("x")[2])


def _said(t: Type) -> str:
    """A type as the message says it: ``*`` is any length, ``3|8+`` one of 3, or of at least 8."""

    def said(d: Dim | None) -> Dim | None:
        if isinstance(d, Length) and d.symbol.startswith(ANY):
            return Length("*")
        if isinstance(d, Length) and d.symbol.startswith(MANY):
            return Length(f"{_made(d)}|{EXACT}+" if _made(d) < EXACT else f"{EXACT}+")
        return d

    return describe(_replaced(t, said)) if not isinstance(t, Known) else describe(t)
