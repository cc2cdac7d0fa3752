"""The type of every name: a forward pass that joins over branches and loops."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tangentc.analysis.infer import (
    constant,
    gives_keys,
    infer,
    is_elementwise,
    is_nothing,
    item_type,
    join,
    joined,
    of_any_keys,
    of_empty,
    put,
    raises_of_none,
    subscript,
    with_grown,
    with_key,
)
from tangentc.analysis.points import Change, Points, change_of
from tangentc.core import ops
from tangentc.core.nodes import CHOICE, Assign, Atom, Block, Const, Effect, For, Function, Opaque, Store, While
from tangentc.core.types import (
    Array,
    Dict,
    Either,
    Known,
    Length,
    Optional,
    Scalar,
    Sequence,
    Struct,
    Tuple,
    Type,
    Unknown,
    data_type,
    is_set,
    lengths,
    map_lengths,
    place_of,
    present,
    type_of,
)
from tangentc.core.walk import blocks, statements
from tangentc.errors import UnsupportedSyntax

MOST_ROUNDS = 12
CallType = Callable[[Any, list[Type], dict[str, Type]], Type | None]


class Types:
    """The types of the names of one function; also used to type what a pass adds to it.

    ``call_type`` gives the result type of a call of a user's function, `None` if it is not one.
    """

    def __init__(
        self, call_type: CallType | None = None, hopeful: bool = False, begin: Callable[[], None] = lambda: None
    ):
        self.begin = begin  # called before the program is gone through once more
        self.of_name: dict[str, Type] = {}
        self.hopeful = hopeful  # what is not looked up yet is expected to be no surprise
        self.settled = False
        self.bare = False  # what is computed from a list that holds nothing yet is that of an empty list
        self.computes_keys = False  # items are stored under keys that the program computes
        self.awaits = False  # a call of a function whose type is being found: it will be known better
        self.call_type = call_type
        self.unknown_lengths = 0
        self.memo: dict[Any, Type] = {}
        self.assumed: dict[int, dict[Atom, Type]] = {}  # the types where code was written for them, by the statement
        self.widened: dict[str, Type] = {}  # containers, with what is put into them later
        self.chosen: dict[int, bool] = {}  # the branches of which one alone runs, by their ids
        self.reasons: dict[str, str] = {}  # of values of the primal sweep that the adjoint has: how it comes by them

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
        return data_type(atom.lookup())

    def result(self, op: Any, args: tuple[Atom, ...], keywords: tuple[tuple[str, Atom], ...] = ()) -> Type:
        """The type of ``op(*args, **keywords)``."""
        types = [self.of(a) for a in args]
        named = {k: self.of(v) for k, v in keywords}
        if self.call_type is not None and (called := self.call_type(op, types, named)) is not None:
            self.awaits |= is_nothing(called) and not any(map(is_nothing, types))
            return called if isinstance(op, ops.Emitted) else self._renewed(called, (*types, *named.values()))
        if isinstance(op, ops.augmented):
            if isinstance(itself := present(types[0]), Array) or is_set(itself):
                return itself
            op = op.op
        if op is builtins.len and self.computes_keys and types and isinstance(types[0], Dict):
            return Scalar("int64", True)  # which may be the key of the next item
        if op in TAKING and types and isinstance(types[0], Sequence) and len(types[0].items) == 1:
            return self._apart(self._infer(op, types, named))
        return self._remembered(op, types, named)

    def _remembered(self, op: Any, types: list[Type], named: dict[str, Type]) -> Type:
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

        def renew(d: Any) -> Any:
            if not isinstance(d, Length) or d.symbol in symbols:
                return d
            if d.symbol not in new:
                new[d.symbol] = self.fresh()
            return replace(new[d.symbol], offset=d.offset)

        return map_lengths(t, renew)

    def _apart(self, t: Type) -> Type:
        """The type of an item of a list: where the lengths of the items are not known, they may differ."""
        return map_lengths(t, lambda d: self.fresh() if isinstance(d, Length) and d.symbol.startswith("?") else d)

    def _infer(self, op: Any, types: list[Type], named: dict[str, Type]) -> Type:
        t = infer(op, types, named, self.fresh)
        if not is_nothing(t):
            return t
        if self.bare and not any(map(is_nothing, types)):
            t = of_empty(op, types, named, self.fresh)
        never = op is operator.getitem and _has_no_item(*types)
        if never or raises_of_none(op, types) or any(map(is_nothing, [*types, *named.values()])):
            return t  # it is never run
        return Unknown("nothing says what it is") if self.settled and is_nothing(t) else t

    # ---------------------------------------------------------- dicts whose keys are not certain
    def refuse_doubtful(self, function: Function, points: Points) -> set[str]:
        """The places of dicts that lose keys and are looped over: which keys there are only the program knows.

        Raises `UnsupportedSyntax` where a dict gets new keys after a loop over it.
        """
        lost: set[str] = set()
        looped: set[str] = set()
        any_keys: set[str] = set()  # those of which only the program knows the keys
        self._refuse_reordering(function, points)
        self._refuse_late_views(function, points)
        keys: dict[str, set[Any]] = {
            p.name: set(getattr(self.of_name.get(p.name), "keys", ())) for p in function.params
        }
        for s in statements(function.body):
            if isinstance(s, Assign) and s.op is ops.make_dict:
                keys[s.target] = set(s.args[0].value)
            if (change := change_of(s)) is not None:
                new = {key for key, _ in change.puts if key != "*"}
                for place in points.places(change.container):
                    is_dict = isinstance(self.of_name.get(place), (Dict, Unknown, type(None)))
                    any_keys |= {place} if any(key == "*" for key, _ in change.puts) else set()
                    if place in looped and is_dict and place not in any_keys and not new <= keys.get(place, new):
                        raise UnsupportedSyntax(
                            f"{function.name} gives a dict new keys after a loop over it", s.span,
                            why="which keys there are at the loop would depend on where it stands",
                            way_out="make a new dict: {**d, key: value}",
                        )  # fmt: skip
                    keys.get(place, new).update(new)
            if isinstance(s, For):
                looped |= points.places(s.iterable)
            elif isinstance(s, (Assign, Effect)) and s.op is ops.method:
                name = s.args[1].value
                lost |= points.places(s.args[0]) if name in ("pop", "popitem", "clear") else set()
                looped |= points.places(s.args[0]) if name in ("items", "values", "keys") else set()
            elif isinstance(s, (Assign, Effect)) and s.op is ops.take:
                lost |= points.places(s.args[0])
        for s in statements(function.body):
            written_out = isinstance(s, Assign) and s.op is ops.assumed and s.args[0].value.kind in ("unroll", "keys")
            if written_out and isinstance(s.args[0].value.value, tuple):
                if any(lost & points.places(a) for a in s.args[1:]):
                    raise UnsupportedSyntax(
                        f"{function.name} runs over a dict of things of different kinds that loses keys", s.span,
                        why="the loop is written out, and which keys there are, and in which order, is not known",
                        way_out="make a new dict of the keys that stay",
                    )  # fmt: skip
        return lost & looped | self._doubtful_keys(function, points)

    def _doubtful_keys(self, function: Function, points: Points) -> set[str]:
        """The places of dicts that are asked for all their keys, of which some are put in under a condition."""
        params = {p.name: self.of_name.get(p.name) for p in function.params}
        made: dict[str, set[Any]] = {name: set(getattr(t, "keys", ())) for name, t in params.items()}
        depth: dict[str, tuple[int, ...]] = {}
        doubtful: set[str] = set()
        asked: set[str] = set(points.places(function.result)) if isinstance(function.result, str) else set()

        def go(block: Block, path: tuple[int, ...]) -> None:
            for s in block:
                if isinstance(s, Assign) and s.op is ops.make_dict:
                    made[s.target] = set(s.args[0].value)
                    depth[s.target] = path
                change = change_of(s)
                if change is not None:
                    for place in points.places(change.container):
                        new = {k for k, _ in change.puts if k != "*"} - made.get(place, set())
                        at = depth.get(place, ())
                        if new and place in made and path != at:
                            doubtful.add(place)
                        elif place in made:
                            made[place] |= new
                for atom in _asks_for_all(s):
                    asked.update(points.places(atom))
                for k, inner in enumerate(blocks(s)):
                    go(inner, (*path, id(s), k))

        go(function.body, ())
        return {p for p in doubtful & asked if isinstance(self.of_name.get(p), Dict)}

    def _refuse_reordering(self, function: Function, points: Points) -> None:
        """Refuse to take keys out of a dict that was run over before: put back, they would stand at its end."""
        seen: list[tuple[str, set[int]]] = []
        inside: dict[int, set[int]] = {}

        def go(block: Block, loops: set[int]) -> None:
            for s in block:
                inside[id(s)] = loops
                for b in blocks(s):
                    go(b, loops | {id(s)} if isinstance(s, (For, While)) else loops)

        go(function.body, set())
        found = [(s, inside[id(s)]) for s in statements(function.body)]
        for s, loops in found:
            seen += [(place, loops) for place in self._run_over(s, points)]
        before: set[str] = set()
        for s, loops in found:
            before |= self._run_over(s, points)
            if not isinstance(s, (Assign, Effect)) or not s.args:
                continue
            takes = s.op is ops.take or s.op is ops.method and s.args[1] in (Const("pop"), Const("popitem"))
            places = points.places(s.args[0]) if takes else set()
            places = {p for p in places if getattr(self.of_name.get(p), "keys", None) or self._has_keys(p)}
            if places & before or any(p in places and loops & around for p, around in seen):
                raise UnsupportedSyntax(
                    f"{function.name} takes a key out of a dict that it has run over", s.span,
                    why="the adjoint puts it back at the end, and would find the items in another order",
                    way_out="make a new dict without the key, or run over sorted(d)",
                )  # fmt: skip

    def _refuse_late_views(self, function: Function, points: Points) -> None:
        """Refuse ``d.items()`` and ``d.values()`` that are looked at when the dict holds something else: what they
        give is what it held at first."""
        program = list(statements(function.body))
        views: dict[Any, set[str]] = {}
        for s in program:
            if isinstance(s, Assign) and s.op is ops.method and s.args[1] in RUNNING and gives_keys(self.of(s.args[0])):
                views[s.target] = points.places(s.args[0])
            elif isinstance(s, Assign) and s.op in LENT and any(a in views for a in s.args):
                views[s.target] = set().union(*(views.get(a, set()) for a in s.args))
        for s in program:
            if isinstance(s, For) and s.iterable in views:
                self._refuse_late(list(statements(s.body)), views[s.iterable], points, self._keys_of(s))
        for k, s in enumerate(program):
            if isinstance(s, Assign) and s.target in views and not s.target.startswith("%"):
                self._refuse_late(program[k:], views[s.target], points, set())

    def _refuse_late(self, program: list[Any], places: set[str], points: Points, keys: set[Any]) -> None:
        for s in program:
            change = change_of(s)
            if change is None or places.isdisjoint(points.places(change.container)):
                continue
            if isinstance(s, Store) and s.key in keys:
                continue  # the item that has been looked at already
            raise UnsupportedSyntax(
                "a dict is changed while its items() or values() are in use", s.span,
                why="they show what it holds then, and not what it held before",
                way_out="loop over its keys, for k in list(d), and take d[k]",
            )  # fmt: skip

    @staticmethod
    def _keys_of(loop: For) -> set[Any]:
        """The names of the key in a loop over the items of a dict."""
        names: set[Any] = set()
        for s in statements(loop.body):
            if isinstance(s, Assign) and (
                s.op is operator.getitem
                and s.args == (loop.target, Const(0))
                or s.op is ops.identity
                and s.args[0] in names
            ):
                names.add(s.target)
        return names

    def _has_keys(self, place: str) -> bool:
        t = self.of_name.get(place)
        return isinstance(t, Sequence) and t.kind is dict

    @staticmethod
    def _run_over(s: Any, points: Points) -> set[str]:
        if isinstance(s, For):
            return points.places(s.iterable)
        if isinstance(s, (Assign, Effect)) and s.op is ops.method and s.args[1] in RUNNING:
            return points.places(s.args[0])
        return set()

    def _changed(self, old: Type, change: Change, first: bool) -> Type:
        """The type of a container with what a change may put into it; ``first``, if nothing was put there before."""
        if isinstance(old, Unknown):
            return old
        if change.unseen and not getattr(old, "items", ()):
            return Unknown("what is put into it is not seen")
        if change.unseen and isinstance(old, Dict):
            return of_any_keys(old, self.fresh)
        new = put(old, "*", Known(Const(ops.UNDEFINED)), True, self.fresh) if change.resizes else old
        for key, atom in change.puts:
            item = self.of(atom)
            if change.op is not None:
                there = subscript(old, self.of(Const(key)), self.fresh) if key != "*" else joined(old.items, self.fresh)
                if isinstance(there, Array):
                    continue  # it is changed where it is
                item = infer(change.op, [there, item], {}, self.fresh)
            if change.all_items and key == "*":
                if isinstance(old, Dict) and isinstance(item, Dict):
                    for k, part in zip(item.keys, item.items, strict=True):
                        new = put(new, k, part, False, self.fresh)
                    continue
                item = self.item(atom)
            new = put(with_grown(new, key, item) if first else new, key, item, change.resizes, self.fresh)
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
        return join(a, b, self.fresh)

    def item(self, iterable: Atom) -> Type:
        """The type of what a loop over this value gives."""
        t = present(self.of(iterable))
        item = item_type(t, self.fresh)
        empty = isinstance(t, Dict) or isinstance(t, Sequence) and t.length == 0  # so that no trip is made
        if self.settled and is_nothing(item) and not empty:
            return Unknown("nothing says what it is")
        return self._apart(item) if isinstance(t, Sequence) else item


LENT = {builtins.enumerate, builtins.zip, builtins.reversed, builtins.iter, ops.identity, ops.once}
RUNNING = (Const("items"), Const("values"), Const("keys"))
TAKING = {operator.getitem, ops.take, ops.pop, ops.method}


def _has_no_item(t: Type, key: Type) -> bool:
    """Whether a subscript surely raises: of an empty list, or for a key that a dict does not have."""
    if isinstance(t, Dict):
        return isinstance(key, (Known, Scalar)) and (known := constant(key)) is not None and known not in t.keys
    return isinstance(t, Sequence) and t.length == 0


def _takes_known_part(op: Any, types: list[Type]) -> bool:
    """Whether a subscript has constant bounds, so that its lengths follow from those of the array."""
    return op is operator.getitem and isinstance(types[0], Array) and isinstance(types[1], Known)


def _stores_by_name(s: Any) -> bool:
    """Whether a statement may store an item under a key that is computed."""
    if isinstance(s, Store):
        return isinstance(s.key, str)
    fills = Const("setdefault"), Const("update")
    return isinstance(s, (Assign, Effect)) and s.op is ops.method and s.args[1] in fills


def _copies_nothing(s: Assign) -> bool:
    return s.op is ops.identity and isinstance(s.args[0], Const)


BY_KEY = {
    operator.getitem, ops.old_item, ops.contains, ops.not_contains, ops.identity, ops.take, builtins.len, builtins.bool,
    builtins.isinstance, ops.snapshot, ops.once,
}  # fmt: skip


def _asks_for_all(s: Any) -> list[Atom]:
    """What a statement may ask for all its keys."""
    if isinstance(s, For):
        return [s.iterable]
    if isinstance(s, (Assign, Effect)):
        if s.op is ops.method:
            return [s.args[0]] if s.args[1] in RUNNING else list(s.args[2:])
        return [] if s.op in BY_KEY else list(s.atoms)
    return [s.value] if isinstance(s, Store) and isinstance(s.value, str) else []


def _changes_container(s: Any) -> bool:
    return change_of(s) is not None


def certain(t: Type) -> Any:
    """The type with all unknown lengths made equal, to see whether a loop has settled."""
    match t:
        case Array(dtype, shape):
            return dtype, tuple(None if isinstance(d, Length) and d.symbol.startswith("?") else d for d in shape)
        case Scalar(dtype, weak, value):
            return dtype, weak, value
        case Tuple(items, cls):
            return cls, tuple(map(certain, items))
        case Sequence(kind, items, length):
            return kind, tuple(map(certain, items)), length, None if t.key is None else certain(t.key)
        case Dict(keys, items):
            return keys, tuple(map(certain, items))
        case Struct(cls, _, items):
            return cls, tuple(map(certain, items))
        case Optional(type=inner):
            return "optional", certain(inner)
        case Unknown():
            return "unknown"
        case Known() if isinstance(t.value, Either):
            return frozenset(map(place_of, t.value.functions))
        case Known() if ops.is_made_inside(t.value):
            return place_of(t.value)  # another walk makes it anew
    return t
