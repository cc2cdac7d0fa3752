"""Types as tests: the rows of a function that are passed by values of given types alone.

    x: float64[n0, 3], n: int         if not (type(x) is ndarray and x.dtype == float64 and x.ndim == 2):
                                          return None
                                      n0, x_1 = x.shape
                                      if not (n0 >= 8 and x_1 == 3 and type(n) is int and (n < 8 or n != n0)):
                                          return None

What a type says is what `type_of` finds, so that a value passes only if that is equal: two lengths with two symbols are
two numbers, and an integer that is no length of an array before it is none of them.
"""

from __future__ import annotations

import dataclasses
import keyword
import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tangentc.core.lengths import EXACT, Dim, Length
from tangentc.core.nodes import Const
from tangentc.core.types import Array, Dict, Known, Scalar, Sequence, Struct, Tuple, Type, describe
from tangentc.core.values import attributes_of

MOST_TESTS = 1000  # of one function
WIDEST = 110
MOST_SAID = 90
PLAIN = (bool, type(None), str, bytes, int)  # classes of values that are written as they are


class NotWritten(Exception):
    """The values have more parts than a function should look at one by one, or parts that it would not see."""


class Rows:
    """The rows of a function as they are written, and what the names in them stand for."""

    def __init__(self, taken: Iterable[str]):
        self.namespace: dict[str, object] = {}
        self.taken = {*taken, *keyword.kwlist}
        self.rows: list[str] = []
        self._tests: list[str] = []
        self._passed: set[str] = set()  # tests that need no second time
        self._count = 0
        self._named: dict[int, str] = {}
        self.symbols: dict[str, str] = {}  # of lengths, and the names that they have in the function

    # ---------------------------------------------------------- names
    def name(self, hint: str) -> str:
        """A name that nothing has yet."""
        hint = re.sub(r"[\W_]+", "_", hint, flags=re.ASCII).strip("_") or "value"
        hint = f"_{hint}" if hint[0].isdigit() else hint
        name, k = hint, 1
        while name in self.taken:
            k += 1
            name = f"{hint}_{k}"
        self.taken.add(name)
        return name

    def constant(self, value: object, hint: str) -> str:
        """The name that stands for this very object."""
        name = self._named.get(id(value))
        if name is None or self.namespace[name] is not value:
            name = self._named[id(value)] = self.name(hint)
            self.namespace[name] = value
        return name

    def builtin(self, function: Callable[..., object]) -> str:
        return self.constant(function, function.__name__)

    def literal(self, value: object, hint: str) -> str:
        """A value as it is written: as it is if it is plain, by a name if not."""
        return quoted(value) if type(value) in PLAIN else self.constant(value, hint)

    # ---------------------------------------------------------- rows
    def test(self, expression: str, once: bool = False) -> None:
        """Go on only where this is true; what has no arguments in it is tested ``once``."""
        if once and expression in self._passed:
            return
        self._passed.add(expression)
        self._tests.append(expression)
        self._count += 1
        if self._count > MOST_TESTS:
            raise NotWritten

    def row(self, text: str) -> None:
        self._flush()
        self.rows.append(f"    {text}")

    def finish(self) -> list[str]:
        self._flush()
        return self.rows

    def _flush(self) -> None:
        tests, self._tests = self._tests, []
        if not tests:
            return
        row = f"    if not ({' and '.join(tests)}):"
        broken = ["    if not (", f"        {tests[0]}", *(f"        and {t}" for t in tests[1:]), "    ):"]
        self.rows += [*([row] if len(row) <= WIDEST else broken), "        return None"]

    # ---------------------------------------------------------- types
    def data(self, text: str, t: Type, value: object) -> None:
        """Tests of data, whose type `data_type` found: their lengths have nothing to do with those of arguments."""
        of_arguments, self.symbols = self.symbols, {}
        self.match(text, t, value)
        self.symbols = of_arguments

    def argument(self, name: str, t: Type, value: object) -> None:
        """Tests of an argument, under a comment that says its type."""
        said = " ".join(describe(t).split())
        self.row(f"# {name}: {said if len(said) <= MOST_SAID else said[:MOST_SAID] + ' ...'}")
        self.match(name, t, value)

    def match(self, text: str, t: Type, value: Any) -> None:
        """Tests that are passed by what has this type; ``value`` has it."""
        match t:
            case Known(const):
                self._known(text, const, value)
            case Array():
                self._class(text, value)
                self.test(f"{text}.dtype == {self.constant(value.dtype, str(value.dtype))}")
                self._shape(text, t.shape)
            case Scalar():
                self._class(text, value)
                if isinstance(value, np.generic) and value.dtype.kind not in "biufc":
                    self.test(f"{text}.dtype == {self.constant(value.dtype, str(value.dtype))}")
                if type(value) is int:
                    self._integer(text, t)
            case Tuple() | Sequence():
                self._sequence(text, t, value)
            case Dict(keys, items):
                self._class(text, value)
                written = [self.literal(k, f"{text}_key") for k in keys]
                self.test(f"[*{text}] == [{', '.join(written)}]")
                self._parts(text, list(map(str, keys)), items, list(value.values()), f"{text}.values()")
            case Struct(_, names, items):
                self._object(text, names, items, value)
            case _:  # of which nothing but the class is known
                self._class(text, value)

    def _class(self, text: str, value: object) -> None:
        cls = type(value)
        self.test(f"{self.builtin(type)}({text}) is {self.constant(cls, cls.__name__)}")

    def same(self, text: str, value: object, hint: str) -> None:
        """A test that something is equal to a value, and of its class."""
        if value is None or type(value) is bool:
            self.test(f"{text} is {value}")
        else:
            self._class(text, value)
            self.test(f"{text} == {self.literal(value, f'{hint}_then')}")

    def _known(self, text: str, const: Const, value: object) -> None:
        if type(value) in PLAIN:
            self.same(text, value, text)
        elif isinstance(value, dict):  # of a class of its own: the same one may hold other arrays
            raise NotWritten
        elif isinstance(value, (tuple, list, slice, int, float, complex, str, bytes)):  # equal ones are the same
            self.test(f"{self.constant(Const, 'Const')}({text}) == {self.constant(const, f'{text}_then')}")
        else:
            self.test(f"{text} is {self.constant(value, getattr(value, '__name__', None) or f'{text}_then')}")

    def _integer(self, text: str, t: Scalar) -> None:
        if isinstance(t.value, Length):
            self.test(f"{text} == {self._written(t.value)}")
        elif t.value is not None:
            self.test(f"{text} == {t.value}")
        elif apart := self._apart():
            self.test(f"({text} < {EXACT} or {_differs(text, apart)})")

    def _apart(self) -> list[str]:
        """The names of lengths that are not those of others by which there is a symbol."""
        return [name for symbol, name in self.symbols.items() if not symbol.startswith("s")]

    def _written(self, d: Dim) -> str | None:
        """A length by the names of those before it."""
        if isinstance(d, int):
            return str(d)
        if d.symbol.startswith("g"):  # of data, which are of this length alone
            self.symbols.setdefault(d.symbol, d.symbol[1:])
        name = self.symbols.get(d.symbol)
        return name if name is None or d.times == 1 else f"{name} * {d.times}"

    def _shape(self, text: str, shape: tuple[Dim, ...]) -> None:
        """Tests of lengths: numbers, symbols of lengths before, and new ones, which get a name."""

        known = [self._written(d) for d in shape]
        if None not in known:
            inner = ", ".join(known) + "," * (len(known) == 1)  # type: ignore[arg-type]
            self.test(f"{text}.shape == ({inner})")
            return
        self.test(f"{text}.ndim == {len(shape)}")
        names = []
        tests = []
        for k, d in enumerate(shape):
            wanted = self._written(d)
            if wanted is not None:
                names.append(self.name(f"{text}_{k}"))
                tests.append(f"{names[-1]} == {wanted}")
                continue
            symbol = f"n{len(self.symbols)}" if d.symbol.startswith("s") else d.symbol
            names.append(self.name(symbol if d.times == 1 else f"{symbol}_{d.times}"))
            tests.append(f"{names[-1]} >= {d.least}")
            if not d.symbol.startswith("s") and (apart := self._apart()):
                tests.append(_differs(names[-1], apart))
            self.symbols[d.symbol] = names[-1]
            if d.times > 1:
                tests.append(f"{names[-1]} % {d.times} == 0")
                self.symbols[d.symbol] = f"{names[-1]} // {d.times}"
        self.row(f"{', '.join(names)} = {text}.shape" if len(names) > 1 else f"({names[0]},) = {text}.shape")
        for test in tests:
            self.test(test)

    def _sequence(self, text: str, t: Tuple | Sequence, value: list[object] | tuple[object, ...]) -> None:
        any_length = isinstance(t, Sequence) and t.length is None
        classes = {type(v) for v in value}
        numbers = type(value) is list and len(classes) == 1 and classes <= {bool, int, float, complex}
        if any_length and not numbers:
            raise NotWritten
        self._class(text, value)
        if not any_length:
            self.test(f"{self.builtin(len)}({text}) == {len(value)}")
        if numbers:
            (cls,) = classes
            if any_length or len(value) > 1:
                self.test(f"{{*{self.builtin(map)}({self.builtin(type)}, {text})}} == {{{self.builtin(cls)}}}")
            else:
                self.test(f"{self.builtin(type)}({text}[0]) is {self.builtin(cls)}")
            return
        items = [t.item(k) if isinstance(t, Sequence) else t.items[k] for k in range(len(value))]
        self._parts(text, list(map(str, range(len(value)))), items, list(value), text)

    def _object(self, text: str, names: tuple[str, ...], items: Iterable[Type], value: object) -> None:
        self._class(text, value)
        held = getattr(value, "__dict__", None)
        own = {f.name for f in dataclasses.fields(value)} if dataclasses.is_dataclass(value) else set()
        slots = any(c.__dict__.get("__slots__") for c in type(value).__mro__)
        if type(held) is dict and not slots and own <= set(held) and set(names) <= set(held):
            self.test(f"[*{text}.__dict__] == {quoted(list(held))}")
        else:
            self.test(f"{self.constant(attributes_of, 'attributes_of')}({text}) == {quoted(attributes_of(value))}")
        read = [f"{text}.{n}" if is_plain_name(n) else f"{self.builtin(getattr)}({text}, {quoted(n)})" for n in names]
        self._parts(text, names, items, [getattr(value, n) for n in names], ", ".join(read), unpacks=False)

    def _parts(
        self, text: str, hints: Iterable[str], items: Iterable[Type], values: list[object], read: str,
        unpacks: bool = True,
    ) -> None:  # fmt: skip
        """Tests of the parts of a container, each under a name of its own."""
        if not values:
            return
        names = [self.name(f"{text}_{hint}") for hint in hints]
        left = f"({names[0]},)" if unpacks and len(names) == 1 else ", ".join(names)
        self.row(f"{left} = {read}")
        for name, t, value in zip(names, items, values, strict=True):
            self.match(name, t, value)


def quoted(value: object) -> str:
    """A text, or a list or tuple of texts, in double quotes where that can be."""
    if isinstance(value, str):
        return repr(value) if '"' in value or "'" in value else f'"{repr(value)[1:-1]}"'
    if isinstance(value, (list, tuple)):
        inner = ", ".join(map(quoted, value))
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' * (len(value) == 1)})"
    return repr(value)


def is_plain_name(name: str) -> bool:
    """Whether an attribute of this name can be written after a dot."""
    return name.isascii() and name.isidentifier() and not keyword.iskeyword(name)


def _differs(name: str, others: list[str]) -> str:
    return f"{name} != {others[0]}" if len(others) == 1 else f"{name} not in ({', '.join(others)})"
