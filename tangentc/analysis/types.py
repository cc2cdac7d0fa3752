"""The type of every name: a forward pass that joins over branches and loops."""

from __future__ import annotations

import builtins
import copy
import operator
from collections.abc import Callable, Hashable
from dataclasses import replace

from tangentc.analysis.decide import of_ranks
from tangentc.analysis.elementwise import is_elementwise
from tangentc.analysis.infer import infer, of_empty, raises_of_none
from tangentc.analysis.joins import array_or_number, is_nothing, join, joined, of_any_keys, put, with_key
from tangentc.analysis.outside import type_outside
from tangentc.analysis.parts import constant, item_type, subscript
from tangentc.analysis.points import Change
from tangentc.core import ops
from tangentc.core.lengths import Dim, Length, least_of
from tangentc.core.nodes import CHOICE, Atom, Const, Op, Opaque
from tangentc.core.types import (
    Array,
    Dict,
    Either,
    Known,
    Optional,
    Scalar,
    Sequence,
    Struct,
    Tuple,
    Type,
    Unknown,
    alike,
    is_set,
    lengths,
    map_lengths,
    place_of,
    present,
)
from tangentc.core.values import type_of

CallType = Callable[[Op, list[Type], dict[str, Type]], Type | None]


class Types:
    """The types of the names of one function; also used to type what a pass adds to it.

    ``call_type`` gives the result type of a call of a user's function, `None` if it is not one.
    """

    def __init__(self, call_type: CallType | None = None):
        self.of_name: dict[str, Type] = {}
        self.settled = False
        self.bare = False  # what is computed from a list that holds nothing yet is that of an empty list
        self.call_type = call_type
        self.unknown_lengths = 0
        self.memo: dict[Hashable, Type] = {}
        self.assumed: dict[int, dict[Atom, Type]] = {}  # the types where code was written for them, by the statement
        self.chosen: dict[int, bool] = {}  # the branches of which one alone runs, by their ids
        self.reasons: dict[str, str] = {}  # of values of the primal sweep that the adjoint has: how it comes by them

    def copied(self) -> Types:
        """Types of their own for what is added to a function, where others add to it too."""
        new = copy.copy(self)
        new.of_name, new.memo, new.reasons = {**self.of_name}, {**self.memo}, {**self.reasons}
        return new

    def fresh(self) -> Length:
        self.unknown_lengths += 1
        return Length(f"?{self.unknown_lengths}")

    def of(self, atom: Atom) -> Type:
        if isinstance(atom, str):
            return self.of_name[atom]
        if isinstance(atom, Const):
            if type(atom.value) is int:
                return Scalar("int64", True, atom.value)
            return type_of(atom.value) if isinstance(atom.value, (float, complex)) else Known(atom)
        return type_outside(atom)

    def result(self, op: Op, args: tuple[Atom, ...], keywords: tuple[tuple[str, Atom], ...] = ()) -> Type:
        """The type of ``op(*args, **keywords)``."""
        types = [self.of(a) for a in args]
        named = {k: self.of(v) for k, v in keywords}
        if (counted := of_ranks(op, args, types)) is not None:
            return counted
        if self.call_type is not None and (called := self.call_type(op, types, named)) is not None:
            if is_nothing(called) and not any(map(is_nothing, types)):
                self.settled = False  # the type of the function is being found: it will be known better
            return called if isinstance(op, ops.Emitted) else self._renewed(called, (*types, *named.values()))
        if isinstance(op, ops.augmented):
            itself = present(types[0])
            if isinstance(itself, Array) and not itself.or_number or is_set(itself):
                return itself
            if isinstance(itself, Sequence) and itself.kind is list and isinstance(types[1], Tuple):
                types[1] = Sequence(list, alike(types[1].items), len(types[1].items))  # any items may follow
            op = op.op
            if isinstance(itself, Sequence) and itself.stands_for is not None:  # the queue itself, with more in it
                found = self._remembered(op, [replace(itself, stands_for=None), *types[1:]], named)
                return replace(found, stands_for=itself.stands_for) if isinstance(found, Sequence) else found
        if op in TAKING and types and isinstance(types[0], Sequence) and len(types[0].items) == 1:
            return self._apart(self._infer(op, types, named))
        return self._remembered(op, types, named)

    def _remembered(self, op: Op, types: list[Type], named: dict[str, Type]) -> Type:
        key = op, tuple(types), tuple(named.items())
        try:
            known = self.memo.get(key)
        except TypeError:
            return self._infer(op, types, named)
        if known is not None:
            return known
        before = self.unknown_lengths
        result = self._infer(op, types, named)
        if before == self.unknown_lengths or is_elementwise(op) or _takes_known_part(op, types):
            self.memo[key] = result  # a length that is not known is the same each time too
        return result

    def _renewed(self, t: Type, given: tuple[Type, ...]) -> Type:
        """The type of what a function gives, in which lengths that only the function knows are those of this call."""
        symbols = {d.symbol for d in lengths(*given) if isinstance(d, Length)}
        new: dict[str, Length] = {}

        def renew(d: Dim | None) -> Dim | None:
            if not isinstance(d, Length) or d.symbol in symbols:
                return d
            if d.symbol not in new:
                new[d.symbol] = self.fresh().from_(least_of(d.symbol) if d.symbol.startswith(("?", "(")) else 0)
            return d.of(new[d.symbol])

        return map_lengths(t, renew)

    def _apart(self, t: Type, keeps_least: bool = True) -> Type:
        """The type of an item of a list: where the lengths of the items are not known, they may differ."""
        new: dict[str, Length] = {}

        def apart(d: Dim | None) -> Dim | None:
            if not isinstance(d, Length) or not d.symbol.startswith("?"):
                return d
            if d.symbol not in new:
                new[d.symbol] = self.fresh().from_(least_of(d.symbol) if keeps_least else 0)
            return d.of(new[d.symbol])

        return map_lengths(t, apart)

    def _infer(self, op: Op, types: list[Type], named: dict[str, Type]) -> Type:
        t = infer(op, types, named, self.fresh)
        if not is_nothing(t):
            return t
        if self.bare and not any(map(is_nothing, types)):
            t = of_empty(op, types, named, self.fresh)
        never = op in TAKING and _has_no_item(op, types) or op is builtins.getattr and isinstance(types[0], Struct)
        if never or raises_of_none(op, types) or any(map(is_nothing, [*types, *named.values()])):
            return t  # it is never run
        return Unknown("nothing says what it is") if self.settled and is_nothing(t) else t

    # ---------------------------------------------------------- containers
    def _changed(self, old: Type, change: Change) -> Type:
        """The type of a container with what a change may put into it."""
        if isinstance(old, Unknown):
            return old
        if change.unseen and not getattr(old, "items", ()):
            return Unknown("what is put into it is not seen")
        if change.unseen and isinstance(old, Dict):
            return of_any_keys(old, self.fresh)
        by_key = isinstance(old, Dict) and change.all_items and isinstance(self.of(change.puts[-1][1]), Dict)
        resizes = change.resizes and not by_key
        new = put(old, "*", Known(Const(ops.UNDEFINED)), True, self.fresh) if resizes else old
        for key, atom in change.puts:
            item = self.of(atom)
            if change.op is not None:
                there = subscript(old, self.of(Const(key)), self.fresh) if key != "*" else joined(old.items, self.fresh)
                if isinstance(there, Array) or key == "*" and holds_arrays(old):
                    continue  # it is changed where it is
                item = infer(change.op, [there, item], {}, self.fresh)
            if change.all_items and key == "*":
                if by_key and isinstance(item, Dict):
                    for k, part in zip(item.keys, item.items, strict=True):
                        new = put(new, k, part, False, self.fresh)
                    continue
                item = self.item(atom)
            new = put(new, key, item, change.resizes, self.fresh)
            if change.key is not None:
                new = with_key(new, self.of(change.key), self.fresh)
        return new

    @staticmethod
    def carried_along(s: Opaque, text: str, name: str) -> Type:
        """The type of what code makes that is not analysed."""
        if type(s.tree).__name__ == "JoinedStr":
            return Scalar("str", True)
        if (CHOICE, name) in s.writes:
            return Scalar("int64", True)
        return Unknown("it is made by code that is not analysed")

    def join(self, a: Type, b: Type) -> Type:
        if isinstance(a, Known) and a.value is ops.UNDEFINED:
            return b
        if isinstance(b, Known) and b.value is ops.UNDEFINED:
            return a
        return array_or_number(a, b) or join(a, b, self.fresh)

    def item(self, iterable: Atom) -> Type:
        """The type of what a loop over this value gives."""
        t = present(self.of(iterable))
        item = item_type(t, self.fresh)
        empty = isinstance(t, Dict) or isinstance(t, Sequence) and t.length == 0  # so that no trip is made
        if self.settled and is_nothing(item) and not empty:
            return Unknown("nothing says what it is")
        return self._apart(item) if isinstance(t, Sequence) else item


def holds_arrays(t: Type) -> bool:
    """Whether every item of a list is an array, of whichever rank."""
    return isinstance(t, Sequence) and bool(t.items) and all(isinstance(i, Array) and not i.or_number for i in t.items)


TAKING = {operator.getitem, ops.take, ops.pop, ops.method}


def _has_no_item(op: Op, types: list[Type]) -> bool:
    """Whether something is taken that is surely not there: of a list that is empty here, by a key that a dict does not
    have, or by a subscript that a number does not have."""
    t = types[0]
    if isinstance(t, Scalar) and op is operator.getitem:
        return True
    if isinstance(t, Dict) and t.items and op is operator.getitem and isinstance(types[1], (Known, Scalar)):
        return (known := constant(types[1])) is not None and known not in t.keys
    return isinstance(t, (Sequence, Dict)) and not t.items


def _takes_known_part(op: Op, types: list[Type]) -> bool:
    """Whether a subscript has constant bounds, so that its lengths follow from those of the array."""
    return op is operator.getitem and isinstance(types[0], Array) and isinstance(types[1], Known)


def certain(t: Type) -> Hashable:
    """The type with all unknown lengths made equal, to see whether a loop has settled."""
    match t:
        case Array(dtype, shape, or_number):
            unknown = (d.least if isinstance(d, Length) and d.symbol.startswith("?") else d for d in shape)
            return dtype, tuple(unknown), bool(or_number)
        case Scalar(dtype, weak, value):
            return dtype, weak, value
        case Tuple(items, cls):
            return cls, tuple(map(certain, items))
        case Sequence(kind, items, length):
            return kind, tuple(map(certain, items)), length, None if t.key is None else certain(t.key)
        case Dict(keys, items):
            return keys, tuple(map(certain, items))
        case Struct(cls, _, items):
            return cls, t.unsure, tuple(map(certain, items))
        case Optional(type=inner):
            return "optional", certain(inner)
        case Unknown():
            return "unknown"
        case Known() if isinstance(t.value, Either):
            return frozenset(map(place_of, t.value.functions))
        case Known() if ops.is_made_inside(t.value):
            return place_of(t.value)  # another walk makes it anew
    return t
