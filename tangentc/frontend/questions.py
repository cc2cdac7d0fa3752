"""What is asked of types where it is decided how code is written: is a loop written out, a call as Python?

The types are those of a program, or of the point that lowering has reached (`state`).
"""

from __future__ import annotations

import builtins
import dataclasses
import operator
from collections.abc import Iterator, Mapping
from collections.abc import Sequence as Seq
from typing import Any

import numpy as np

from tangentc.analysis.decide import truth
from tangentc.analysis.state import State
from tangentc.core import ops
from tangentc.core.classes import instance_of
from tangentc.core.lengths import Length
from tangentc.core.nodes import Assign, Atom, Const, For, Opaque, Store
from tangentc.core.types import (
    Array,
    Dict,
    Known,
    Scalar,
    Sequence,
    Struct,
    Tuple,
    Type,
    Unknown,
    holds_numbers,
    is_complex,
    is_container,
    is_differentiable,
    rank,
)
from tangentc.core.values import data_type, type_of
from tangentc.core.walk import statements
from tangentc.frontend import prelude
from tangentc.frontend.nested import Nested
from tangentc.ops.table import every
from tangentc.rules.registry import REGISTRY

TAKES_ITEMS = every("takes_items")
KEYS_OF = {builtins.sorted, builtins.list, builtins.tuple, builtins.iter}
BY_KEY = {operator.getitem, builtins.getattr, ops.contains, ops.not_contains}
KEEPS_KEY = {operator.add, operator.mod, ops.method, builtins.str}
VIEWS = {"keys", "values", "items"}
MOST_TRIPS = 200  # a loop over things of different kinds is written out up to this many


class Questions:
    """Asks the types of values, and how they were made."""

    def __init__(self, types: Any, definitions: Mapping[Any, Any], stores: list[Store]):
        self.types, self.definitions, self.stores = types, definitions, stores

    def tangents(self, nested: Nested, args: tuple[Atom, ...]) -> Iterator[tuple[int, Type]]:
        """The tangents that a jvp is given, each with the number of its argument."""
        if nested.kind == "jvp":
            for i, a in zip(nested.wrt, args[len(args) - len(nested.wrt) :], strict=True):
                yield i, self.types.of(a)

    def still(self, nested: Nested, args: tuple[Atom, ...]) -> frozenset[int]:
        """The arguments that do not move: those along which the tangent is None, and those of no float type."""
        none = {i for i, t in self.tangents(nested, args) if t == Known(Const(None))}
        own = {i: self.types.of(args[i + 1]) for i, _ in self.tangents(nested, args)}
        plain = {i for i, t in own.items() if not is_open(t) and not is_differentiable(t)}
        return frozenset(none | plain)

    def is_written(self, s: Assign) -> bool:
        """Whether a call of the library is lowered as Python: a derivative flows through it."""
        if s.op in (builtins.list, builtins.tuple):
            made = self.made(s.args[0]) if s.args else None
            return made is not None and made.op in (builtins.zip, builtins.enumerate)
        if s.op is builtins.divmod:
            return all(isinstance(self.types.of(a), (Scalar, Array)) for a in s.args)
        if s.op in (builtins.max, builtins.min):  # those of numbers have rules
            if len(s.args) > 1:
                return any(isinstance(self.types.of(a), Struct) for a in s.args)
            return any(map(is_container, getattr(self.types.of(s.args[0]), "items", ())))
        if s.op is builtins.sum:  # numbers and arrays it adds as NumPy does
            return any(isinstance(i, Struct) for i in getattr(self.types.of(s.args[0]), "items", ()))
        return any(self.moves(a) for a in s.args) and not self.is_dict(s.args[0])  # its keys do not move

    def made(self, atom: Atom) -> Assign | None:
        """The statement that makes a value, under whichever name."""
        made = self.definitions.get(atom) if isinstance(atom, str) else None
        while isinstance(made, Assign) and made.op in (ops.identity, ops.once) and isinstance(made.args[0], str):
            made = self.definitions.get(made.args[0])
        return made if isinstance(made, Assign) else None

    def is_dict(self, atom: Atom) -> bool:
        t = self.types.of(atom)
        return isinstance(t, Dict) or isinstance(t, Sequence) and t.kind is dict

    def lists(self, s: Assign) -> frozenset[Any]:
        """The arguments of a call of NumPy, by position or name, that are lists and stand for arrays."""
        home = getattr(getattr(s.op, "__self__", s.op), "__module__", None) or ""
        of_numbers = home.startswith("scipy.stats") or isinstance(s.op, np.ufunc)
        if isinstance(s.op, type) or s.op in TAKES_ITEMS or not of_numbers and ops.module_root(s.op) != "numpy":
            return frozenset()
        rule = REGISTRY.find(s.op)
        if (rule is None or rule.kind == "zero") and REGISTRY.definition(s.op) is None:
            return frozenset()
        given = (*enumerate(s.args), *(pair for pair in s.keywords if pair[0] != "axis"))
        return frozenset(k for k, a in given if _stands_for_an_array(self.types.of(a), of_numbers))

    def moves(self, atom: Atom) -> bool:
        """Whether a derivative may flow through an argument that is run over."""
        made = self.made(atom)
        if made is not None and (made.op in (builtins.zip, builtins.enumerate) or made.op is ops.method):
            return any(self.moves(a) for a in made.args if a != atom)  # `x = x.copy()` is made of another x
        t = self.types.of(atom)
        return is_container(t) and is_differentiable(t) or isinstance(t, (Array, Unknown)) and is_differentiable(t)

    def has_its_keys(self, t: Dict) -> bool:
        """Whether a dict surely has the keys that its type says."""
        return True

    def is_written_method(self, t: Type, name: str, args: Seq[Atom]) -> bool:
        """Whether a method of a list or a dict is lowered as Python."""
        if isinstance(t, Sequence) and name in prelude.METHODS.get(t.kind, ()):
            return (t.kind is list or name != "pop" or len(args) == 2) and not (t.kind is dict and name in VIEWS)
        if not isinstance(t, Dict):
            return False
        if name == "get" and is_differentiable(t):  # a key that the run knows, or that may not be there
            return len(args) == 2 and not (isinstance(args[0], Const) and self.has_its_keys(t))
        return name == "setdefault" or name == "pop" and len(args) == 2

    # ---------------------------------------------------------- loops
    def trips(self, iterable: Atom) -> list | None:
        """What a loop runs over, if it has so few trips that it may be written out."""
        sources: list = []
        known = self.sources(iterable, sources) and sources
        return sources if known and number_of_trips(sources) <= MOST_TRIPS else None

    def surely_runs(self, iterable: Atom) -> bool:
        """Whether a loop over a value surely makes a trip."""
        made = self.definitions.get(iterable) if isinstance(iterable, str) else None
        if isinstance(made, Assign) and made.op in (builtins.enumerate, builtins.reversed, builtins.zip):
            return all(map(self.surely_runs, made.args if made.op is builtins.zip else made.args[:1]))
        if isinstance(made, Assign) and made.op is builtins.range:
            bounds = [getattr(self.types.of(a), "value", None) for a in made.args]
            start, stop = (0, *bounds) if len(bounds) == 1 else bounds[:2]
            return len(bounds) < 3 and isinstance(start, int) and least(stop) > start
        t = self.types.of(iterable)
        return least(t.shape[0] if isinstance(t, Array) and t.shape else length_in(t)) > 0

    def number(self, atom: Atom) -> int | None:
        """An integer that is known when compiling: a constant, or the length of a tuple."""
        t = self.types.of(atom)
        value = atom.value if isinstance(atom, Const) else t.value if isinstance(t, Scalar) else None
        return value if isinstance(value, int) else None

    def sources(self, atom: Atom, out: list) -> bool:
        """The lengths, or the keys, of what a loop runs over; False if one is not known."""
        made = self.definitions.get(atom) if isinstance(atom, str) and atom.startswith("%") else None
        if isinstance(made, Assign) and made.op in (builtins.enumerate, builtins.reversed):
            return self.sources(made.args[0], out)
        if isinstance(made, Assign) and made.op is builtins.zip:
            return all(self.sources(a, out) for a in made.args)
        if isinstance(made, Assign) and made.op in KEYS_OF and isinstance(t := self.types.of(made.args[0]), Dict):
            if "%_spread_" in t.keys or made.keywords:
                return False
            out.append(tuple(sorted(t.keys) if made.op is builtins.sorted else t.keys))
            return True
        if isinstance(made, Assign) and made.op is builtins.range:
            bounds = [self.number(a) for a in made.args]
            if None not in bounds:
                out.append(range(*bounds))  # type: ignore[arg-type]
            return None not in bounds
        if isinstance(made, Assign) and made.op is ops.method and isinstance(t := self.types.of(made.args[0]), Dict):
            if made.args[1].value in VIEWS:  # type: ignore[union-attr]
                out.append(t.keys)
                return "%_spread_" not in t.keys
        t = self.types.of(atom)
        match t:
            case Tuple(items, _):
                out.append(len(items))
            case Sequence(_, _, length) if length is not None:
                out.append(length)
            case Array(_, shape) if shape and isinstance(shape[0], int):
                out.append(shape[0])
            case Dict(keys, _):
                if "%_spread_" in keys:  # not settled yet
                    return False
                out.append(keys)
            case Known(const) if isinstance(const.value, (tuple, list, str)):
                out.append(len(const.value))
            case Sequence() if t.kind is dict and (keys := self.first_keys(atom)):
                out.append(keys)
            case _:
                return False
        return True

    def first_keys(self, atom: Atom) -> tuple:
        """The keys with which a dict was made, if what is stored by computed keys are its own keys."""
        made = self.made(atom)
        while made is not None and made.op is ops.copied:
            made = self.made(made.args[0])
        if made is None or made.op is not ops.make_dict:
            return ()
        keys: tuple = made.args[0].value  # type: ignore[union-attr]
        own = all(
            self.is_loop_key(s.key) if isinstance(s.key, str) else getattr(s.key, "value", None) in keys
            for s in self.stores if self.is_dict(s.object)
        )  # fmt: skip
        return keys if own else ()

    def is_loop_key(self, key: str) -> bool:
        """Whether a key is what a loop over a dict gives."""
        made = self.definitions.get(key)
        while isinstance(made, Assign) and made.op is ops.identity and isinstance(made.args[0], str):
            made = self.definitions.get(made.args[0])
        return isinstance(made, For) and self.is_dict(made.iterable)

    def mixed(self, atom: Atom) -> bool:
        """Whether the items differ in kind, so that no one type is that of all."""
        made = self.definitions.get(atom) if isinstance(atom, str) else None
        if isinstance(made, Assign) and made.op in (builtins.enumerate, builtins.reversed, builtins.zip):
            return any(map(self.mixed, made.args[: 1 if made.op is not builtins.zip else None]))
        if isinstance(made, Assign) and made.op is ops.method and isinstance(self.types.of(made.args[0]), Dict):
            return _differ(self.types.of(made.args[0]).items)
        t = self.types.of(atom)
        if isinstance(t, Dict):
            return is_differentiable(t)
        if isinstance(t, Known) and isinstance(t.value, (tuple, list)):
            return any(callable(v) or isinstance(v, (str, dataclasses.Field)) for v in t.value)
        if isinstance(t, Known) and isinstance(t.value, str):
            return True
        return isinstance(t, (Tuple, Sequence)) and _differ(t.items)

    def asks_by_key(self, s: Assign, keys: set[Any]) -> bool:
        """Whether a dict of functions is asked for one of some keys, `key in d` or `d.get(key)`, or one that gives no
        one kind of thing, or something unknown is called."""
        if s.op in (ops.contains, ops.not_contains):
            return s.args[0] in keys and _holds_functions(self.types.of(s.args[1]))
        if s.op is ops.method and len(s.args) > 2 and s.args[2] in keys and self.is_dict(s.args[0]):
            return _holds_functions(self.types.of(s.args[0])) or type(self.types.of(s.target)) is Unknown
        return s.op is ops.call and type(self.types.of(s.args[0])) is Unknown

    def is_key(self, s: For) -> bool:
        """Whether the items are keys of a dict, or names of attributes, in the body."""
        derived = {s.target}
        for x in statements(s.body):
            if isinstance(x, Assign) and x.op in (ops.identity, operator.getitem) and x.args[0] in derived:
                derived.add(x.target)
            if isinstance(x, Assign) and x.op in KEEPS_KEY and not derived.isdisjoint(x.args):
                derived |= {x.target} if is_text(self.types.of(x.target)) else set()  # "w" + name
            if isinstance(x, Opaque) and type(x.tree).__name__ == "JoinedStr":
                if not derived.isdisjoint(a for _, a in x.reads):
                    derived.update(name for _, name in x.writes)  # f"w{i}"
            if isinstance(x, Assign) and x.op in BY_KEY and x.args[1] in derived:
                t = self.types.of(x.args[0])
                if isinstance(t, Dict) or isinstance(t, (Struct, Tuple)) and x.op is builtins.getattr:
                    return True
                if isinstance(t, (Tuple, Sequence)) and _differ(t.items):
                    return True
            if isinstance(x, Assign) and x.op is ops.call and x.args[0] in derived:
                return True
            if isinstance(x, Assign) and self.asks_by_key(x, derived):
                return True
            if isinstance(x, Store) and x.key in derived:
                t = self.types.of(x.object)
                if isinstance(t, (Dict, Struct)) or isinstance(t, Sequence) and t.kind is dict:
                    return True
        return False


class Here(Questions):
    """Asks the types at the point that lowering has reached."""

    def __init__(self, state: State):
        super().__init__(state, state.definitions, state.stores)
        self.state = state

    def has_its_keys(self, t: Dict) -> bool:
        return self.state.several.isdisjoint(t.sites)


def is_text(t: Type) -> bool:
    return isinstance(t, Scalar) and t.dtype.startswith("str") or isinstance(getattr(t, "value", None), str)


def is_settled(test: Atom) -> bool:
    """Whether a test always has the same answer."""
    if not isinstance(test, Const):
        return False
    return callable(test.value) or isinstance(test.value, (bool, int, str, type(None)))


def number_of_trips(sources: list) -> int:
    return min(source if isinstance(source, int) else len(source) for source in sources)


def least(d: Any) -> int:
    """The least that a length may be."""
    return d.least if isinstance(d, Length) else d if isinstance(d, int) else 0


def _holds_functions(t: Type) -> bool:
    return isinstance(t, Dict) and any(function_in(item) is not None for item in t.items)


def length_in(t: Type) -> int | None:
    """How many items a value has, as far as its type says."""
    match t:
        case Tuple(items, _):
            return len(items)
        case Sequence(length=int() as length):
            return length
        case Array(_, (int() as length, *_)):
            return length
        case Known(const) if isinstance(const.value, (tuple, list)):
            return len(const.value)
    return None


def keys_in(t: Type) -> tuple[Any, ...] | None:
    """The keys of a dict, as far as its type says."""
    return t.keys if isinstance(t, Dict) else None


def function_in(t: Type) -> Any:
    """The function that a value is."""
    return t.value if isinstance(t, Known) and callable(t.value) else None


def method_in(name: str, t: Type) -> Any:
    """The method of an object that is known."""
    is_object = isinstance(t, Known) and not isinstance(t.value, (str, bytes, type(None), bool, range))
    return getattr(t.value, name, None) if is_object else None  # type: ignore[union-attr]


def answer_of(about: Any, t: Type) -> Any:
    """What isinstance, ``np.ndim``, ``np.iscomplexobj`` or ``len`` give for a value of this type; None if unknown."""
    if about is np.ndim:
        return rank(t)
    if about is np.iscomplexobj:
        return None if isinstance(t, Unknown) else is_complex(t)
    if about is ops.spread:  # how many columns rows have
        row = t.items[0] if isinstance(t, Sequence) and len(t.items) == 1 else None
        return len(row.items) if isinstance(row, Tuple) else row.length if isinstance(row, Sequence) else None
    if about is builtins.bool:
        return truth(t)
    if about is builtins.len:
        return len(t.items) if isinstance(t, Tuple) else None if isinstance(t, Unknown) else -1
    return instance_of(t, about)


def is_open(t: Type) -> bool:
    return isinstance(t, Unknown) or isinstance(t, Known) and t.value is ops.UNDEFINED


FEW = 4  # objects that are told apart, each with a text of its own


def _differ(items: tuple[Type, ...]) -> bool:
    if any(isinstance(t, Known) and (callable(t.value) or isinstance(t.value, str)) for t in items):
        return True
    if (
        any(isinstance(t, Struct) and not _is_record(t) for t in items)
        or 0 < len(items) < FEW
        and isinstance(items[0], Struct)
    ):
        return True
    if len(items) < 2:
        return any(is_container(t) and _differ(t.items) for t in items)  # type: ignore[union-attr]
    return len({_kind(t) for t in items}) > 1


def _is_record(t: Struct) -> bool:
    """Whether an object is there for the numbers and arrays that it holds."""
    return all(isinstance(item, (Array, Scalar)) for item in t.items)


def _kind(t: Type) -> Any:
    """What two types must have in common for one loop to run over both."""
    match t:
        case Array(dtype, shape):
            return "array", dtype, len(shape)
        case Scalar(dtype, _, _):
            return "scalar", dtype in ("str",)
        case Tuple(items, cls):
            return "tuple", cls, tuple(map(_kind, items))
        case Sequence(_, items, length):
            return "list", tuple(map(_kind, items)), length if len(items) > 1 else None
        case Dict(keys, items):
            return keys, tuple(map(_kind, items))
        case Struct(cls, fields, items):
            return cls, fields, tuple(map(_kind, items))
        case Known(const) if type(const.value) is tuple:
            return "tuple", None, tuple(_kind(data_type(v)) for v in const.value)
        case Known(const):
            return "known", type(const.value)
    return "unknown" if isinstance(t, Unknown) else t


def _stands_for_an_array(t: Type, of_numbers: bool) -> bool:
    """Whether a value is a list or a tuple of numbers, lists and arrays; of some that can move, unless it is given to
    a function ``of_numbers`` alone."""
    if isinstance(t, Known) and of_numbers and isinstance(t.value, (list, tuple)):
        t = type_of(t.value)
    return is_container(t) and (of_numbers or is_differentiable(t)) and _holds_only_numbers(t)


def _holds_only_numbers(t: Type) -> bool:
    if isinstance(t, Sequence) and t.kind is list or isinstance(t, Tuple) and t.cls is None:
        return bool(t.items) and all(map(_holds_only_numbers, t.items))
    return isinstance(t, (Scalar, Array)) and holds_numbers(t)
