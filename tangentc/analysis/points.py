"""Which containers a name may be, and what each of them may hold.

    l = []            l may be the list that is made there
    d = {"a": l}      d may be the dict that is made there, which holds l under "a"
    d["a"].append(x)  changes l

Every place where a container is made stands for all the containers that are made there (Andersen,
*Program Analysis and Specialization for the C Programming Language*, 1994, chapter 4).
"""

from __future__ import annotations

import bisect
import builtins
import collections
import functools
import heapq
import operator
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    FunctionType,
    MethodDescriptorType,
    WrapperDescriptorType,
)

import numpy as np

from tangentc import runtime
from tangentc.core import ops
from tangentc.core.build import Types
from tangentc.core.nodes import Assign, Atom, Const, Effect, For, Function, Global, If, Op, Statement, Store, While
from tangentc.core.types import Container, Dict, Scalar, Sequence, Tuple, Unknown, is_container, is_slice
from tangentc.core.walk import statements
from tangentc.ops import methods
from tangentc.ops.table import every

ANY, NONE = "*", "%none"
DEEPEST = 6  # places in one another that are told apart
MANY = 1000  # places, beyond which those in one another are not
SAME = {ops.identity, ops.stopped, ops.snapshot, ops.inserted}


def key_of(atom: Atom | None) -> Hashable:
    """The key of an item as far as it is known."""
    if isinstance(atom, Const) and not isinstance(atom.value, slice):
        try:
            hash(atom.value)
        except TypeError:
            return ANY
        return str(atom.value) if isinstance(atom.value, ops.Attribute) else atom.value
    return ANY


def place_of_key(key: Hashable) -> Hashable:
    """A key as far as it says which item is meant: one from the end may be any."""
    return ANY if isinstance(key, int) and key < 0 else key


class Inside(str):
    """The place of the containers that those of another place hold under a key: ``d['a']``."""

    outer: str
    key: Hashable
    depth: int

    def __new__(cls, outer: str, key: Hashable) -> Inside:
        place = super().__new__(cls, f"{outer}[{key!r}]")
        place.outer, place.key, place.depth = outer, key, getattr(outer, "depth", 0) + 1
        return place

    def path(self) -> tuple[str, list[Hashable]]:
        """The outermost place, and the keys that lead from it to this one."""
        place: str = self
        keys = []
        while isinstance(place, Inside):
            keys.append(place.key)
            place = place.outer
        return place, keys[::-1]


@dataclass(frozen=True)
class Change:
    """A statement that changes a container: what it puts where, and whether the number of items changes."""

    container: Atom
    puts: tuple[tuple[Hashable, Atom], ...] = ()
    resizes: bool = True
    all_items: bool = False  # what is put there are the items of the value
    op: Op | None = None  # what is put there is combined with what is there
    key: Atom | None = None  # as it is written
    unseen: bool = False  # what is put there is not known
    removes: Const | None = None  # the key that is not there any more
    shifts: bool = False  # whether items come to stand in other places


DESCRIPTORS = (MethodDescriptorType, WrapperDescriptorType, ClassMethodDescriptorType)
IN_C = (BuiltinFunctionType, *DESCRIPTORS)
HARMLESS = {
    "builtins", "_io", "io", "sys", "time", "_operator", "math", "cmath", "_functools", "_abc", "posix", "_json",
}  # fmt: skip
UNSEEN = {
    runtime.add_if_copied, runtime.plus_in_place, operator.setitem, operator.delitem,
    *(getattr(operator, f"i{name}") for name in dir(operator) if hasattr(operator, f"i{name}")),
}  # fmt: skip


def may_change_unseen(op: Op) -> bool:
    """Whether a call may change what it is given where no analysis sees it: there is no text of it to look into, and
    it is not known to leave its arguments alone."""
    if not isinstance(op, (*IN_C, FunctionType)):
        return False
    if op in UNSEEN or isinstance(op, DESCRIPTORS):
        return True
    return isinstance(op, IN_C) and not ops.is_pure(op) and ops.module_root(op) not in (*HARMLESS, *ops.NUMERIC_MODULES)


METHODS = {"append": ops.append, "insert": ops.insert, "pop": ops.take, "reverse": ops.reverse}
INSERTING = {heapq.heappush, heapq.heapreplace, heapq.heappushpop, bisect.insort_left, bisect.insort_right}
CHANGING = methods.names(list, collections.deque, dict, set, changes=True)
GIVING = {Const("pop"), Const("get"), Const("setdefault")}


OF_CONTAINERS = {ops.append, ops.insert, ops.push, ops.take, ops.reverse, ops.method, builtins.getattr, *INSERTING}


# what most statements are
ALONE = {op for op in vars(operator).values() if callable(op) and op not in UNSEEN and ops.is_pure(op)}


def _leaves_alone(op: Op) -> bool:
    """Whether an operation is sure to change no container that it is given."""
    if type(op) is np.ufunc or op in ALONE:
        return True
    return op not in OF_CONTAINERS and not isinstance(op, ops.augmented) and not may_change_unseen(op)


def change_of(s: Statement) -> Change | None:
    """How a statement changes a container, None if it does not."""
    if isinstance(s, Assign) and _leaves_alone(s.op):
        return None
    match s:
        case Store(key=Const(value=slice())) if s.op is None:
            return Change(s.object, ((ANY, s.value),), True, True, shifts=True)
        case Store(key=key) if key is not None:
            return Change(s.object, ((key_of(key), s.value),), False, op=s.op, key=key)
        case Assign() | Effect() if s.op in (ops.append, ops.insert, ops.push):
            return Change(s.args[0], ((ANY, s.args[-1]),), shifts=s.op is ops.insert)
        case Assign() | Effect() if s.op in (ops.take, ops.reverse):
            return Change(s.args[0], removes=_constant(s.args[1:]), shifts=True)
        case Assign() if isinstance(s.op, ops.augmented) and s.op.op is operator.add:
            return Change(s.args[0], ((ANY, s.args[1]),), True, True)
        case Assign() | Effect() if s.op is ops.method:
            name = s.args[1].value
            if name in ("append", "insert", "add", "appendleft"):
                return Change(s.args[0], ((ANY, s.args[-1]),), shifts=name in ("insert", "appendleft"))
            if name == "extend":
                return Change(s.args[0], ((ANY, s.args[-1]),), True, True)
            if name == "setdefault" and len(s.args) == 4:
                return Change(s.args[0], ((key_of(s.args[2]), s.args[3]),), False)
            if name == "update":
                given = [(k, v) for k, v in s.keywords]
                if len(s.args) > 2:
                    return Change(s.args[0], (*given, (ANY, s.args[2])), True, True)
                return Change(s.args[0], tuple(given), False)
            if name in ("pop", "remove", "clear", "sort", "reverse", "popitem", "popleft"):
                return Change(s.args[0], removes=_constant(s.args[2:]) if name == "pop" else None, shifts=True)
            return Change(s.args[0], unseen=True) if isinstance(s, Effect) else None
        case Assign() | Effect() if s.op in INSERTING:
            return Change(s.args[0], ((ANY, s.args[1]),), shifts=True)
        case Assign(op=builtins.getattr, args=(container, Const(value=name))) if name in CHANGING:
            return Change(container, unseen=True)  # a method with a name of its own, which is called later
        case Assign() | Effect() if may_change_unseen(s.op):
            first = next((a for a in s.args if isinstance(a, str)), None)
            return None if first is None else Change(first, unseen=True)
    return None


def _constant(args: tuple[Atom, ...]) -> Const | None:
    return args[0] if args and isinstance(args[0], Const) else None


class Points:
    """``of[name]`` are the places where what a name stands for may have been made."""

    def __init__(self, function: Function, types: Types):
        self.types = types
        self.of: dict[str, set[str]] = defaultdict(set)
        self.held: dict[str, dict[Hashable, set[str]]] = defaultdict(lambda: defaultdict(set))
        self.changed: set[str] = set()
        self.changes: list[tuple[str, Change]] = []
        self.params = {p.name for p in function.params}
        self.trees: set[str] = set()  # places where containers with containers in them are made at once
        for p in self.params:
            self.of[p].add(p)
        program = [s for s in statements(function.body) if self._matters(s)]
        size = -1
        while size != (size := self._size()):
            for s in program:
                self._statement(s)
        for s in program:
            self._change(s)
        self.touched = self.holding(self.changed)

    @functools.cached_property
    def holders(self) -> dict[str, set[str]]:
        """The places of the containers that hold those of a place."""
        found: dict[str, set[str]] = defaultdict(set)
        for place, parts in self.held.items():
            for inner in set().union(*parts.values()):
                found[inner].add(place)
        return found

    def holding(self, places: Iterable[str]) -> set[str]:
        """These places, and those of the containers that hold one of them, at whatever depth."""
        return _closed(places, lambda place: self.holders.get(place, ()))

    def within(self, places: Iterable[str]) -> set[str]:
        """These places, and those of the containers that they hold."""
        return _closed(places, lambda place: set().union(*self.held.get(place, {}).values()))

    def _size(self) -> int:
        return sum(map(len, self.of.values())) + sum(len(v) for h in self.held.values() for v in h.values())

    def _matters(self, s: Statement) -> bool:
        if isinstance(s, Assign):
            if s.op is ops.new_list or s.op in SAME:
                return True
            t = self.types.of_name.get(s.target)  # a list of saved values has no type, and may hold containers
            return is_container(t) or isinstance(t, Unknown) or change_of(s) is not None
        return isinstance(s, (Effect, Store, If, For, While))

    def places(self, atom: Atom) -> set[str]:
        return (
            self.of.get(atom, set()) if isinstance(atom, str) else {"%outside"} if isinstance(atom, Global) else set()
        )

    def key_in(self, container: Atom, key: Atom) -> Hashable:
        """The key of an item as far as it is known; that of a field of a named tuple is its position."""
        t, found = self.types.of(container), place_of_key(key_of(key))
        fields = getattr(t.cls, "_fields", ()) if isinstance(t, Tuple) else ()
        return fields.index(found) if isinstance(found, str) and found in fields else found

    def arm(self, atom: Atom) -> set[str]:
        """The places of what a path hands on; None is none of them, and yet another value."""
        return {NONE} if atom == Const(None) else self.places(atom)

    def items(self, container: Atom, key: Hashable) -> set[str]:
        """The places of the containers that one may hold under a key."""
        found: set[str] = set()
        key = place_of_key(key)
        for place in self.places(container):
            held = self.held[place]
            found |= set().union(*held.values()) if key == ANY else held[key] | held[ANY]
            if place == "%saved":
                found.add(place)
            if place in self.params or place in self.trees or isinstance(place, Inside):
                deep = getattr(place, "depth", 0) >= (DEEPEST if len(self.held) < MANY else 1)
                inside = place if deep else Inside(place, key)
                held[key].add(inside)
                found.add(inside)
        return found

    def _statement(self, s: Statement) -> None:
        match s:
            case Assign():
                self._assign(s)
            case If():
                for m in s.merged:
                    self.of[m.name] |= self.arm(m.then) | self.arm(m.orelse)
                    if Const(ops.UNDEFINED) in (
                        m.then,
                        m.orelse,
                    ):  # a container that one branch makes and others change
                        self.of[m.name].add(NONE)
            case For() | While():
                for c in s.carried:
                    self.of[c.name] |= self.arm(c.init) | self.arm(c.next)
                if isinstance(s, For):
                    self.of[s.target] |= self.items(s.iterable, ANY)
            case Effect() | Store():
                self._put(change_of(s))

    def _put(self, change: Change | None) -> None:
        if change is None:
            return
        for place in self.places(change.container):
            if change.shifts:
                self.held[place][ANY] |= set().union(*(v for k, v in self.held[place].items() if isinstance(k, int)))
            for key, atom in change.puts:
                self.held[place][place_of_key(key)] |= self.items(atom, ANY) if change.all_items else self.places(atom)

    def _assign(self, s: Assign) -> None:
        op, args, target = s.op, s.args, s.target
        self._put(change_of(s))
        if op in SAME or isinstance(op, ops.augmented):
            self.of[target] |= self.places(args[0])
        elif op is ops.select:
            self.of[target] |= self.places(args[1]) | self.places(args[2])
        elif (
            op is operator.getitem
            and not is_slice(self.types.of(s.args[1]))
            or op is builtins.getattr
            or op is ops.old_item
        ):
            self.of[target] |= self.items(args[0], self.key_in(args[0], args[1]))
        elif op in (ops.take, ops.pop) or op is ops.method and args[1] in GIVING:
            self.of[target] |= self.items(args[0], ANY)
        else:
            self.of[target].add(target)
            if op not in PUT_TOGETHER and op not in COPIES and op is not operator.getitem or op in DEEP_COPIES:
                self.trees.add(target)  # a call may give containers in containers
            for key, atom in made_of(s):
                self.held[target][key] |= self.places(atom)
            if op in COPIES or op is operator.getitem:
                for atom in args:
                    if op in (builtins.list, builtins.tuple, builtins.sorted) and self._has_keys(atom):
                        continue  # its keys
                    if op in DEEP_COPIES and self.is_given(atom):
                        continue  # all that it holds is new, and, as in an argument, each is another one
                    if isinstance(atom, str) and isinstance(self.types.of_name.get(atom), (Container, Unknown)):
                        for place in self.places(atom):
                            for key, held in self.held[place].items():
                                self.held[target][ANY if op in SHIFTING else key] |= held  # other positions
                        self.held[target][ANY] |= self.items(atom, ANY) if self.places(atom) & self.params else set()

    def is_given(self, atom: Atom) -> bool:
        """Whether a value is an argument into which nothing has been put."""
        inside = [p for v in self.held[str(atom)].values() for p in v] if atom in self.params else [""]
        return all(isinstance(p, Inside) and p.path()[0] == atom for p in inside)

    def _has_keys(self, atom: Atom) -> bool:
        t = self.types.of_name.get(atom) if isinstance(atom, str) else None
        return isinstance(t, Dict) or isinstance(t, Sequence) and t.kind is dict

    def _change(self, s: Statement) -> None:
        found = change_of(s)
        if found is None or not isinstance(found.container, str):
            return
        t = self.types.of_name.get(found.container)
        if isinstance(t, Unknown):
            if not found.unseen and getattr(s, "op", None) is not ops.method:
                return
        elif not isinstance(t, (Dict, Sequence)) and (found.unseen or not is_container(t)):
            return
        if isinstance(s, Store) and isinstance(s.key, str):  # a number whose value is known when compiling
            t = self.types.of_name.get(s.key)
            if isinstance(t, Scalar) and isinstance(t.value, int) and t.dtype != "bool":
                found = replace(found, puts=((t.value, s.value),))
        for place in self.places(found.container):
            self.changed.add(place)
            self.changes.append((place, found))

    # ---------------------------------------------------------- questions
    def is_changed(self, name: str) -> bool:
        """Whether a container that this name may be is changed, or holds one that is."""
        return not self.touched.isdisjoint(self.of.get(name, ()))

    def keeps(self, name: str, key: Hashable) -> bool:
        """Whether a container holds under a key what it held at first."""
        places = self.of.get(name, set())
        for place, change in self.changes:
            if place in places:
                moves = change.shifts or change.unseen or change.all_items or not change.puts
                if moves or any(place_of_key(k) in (key, ANY) for k, _ in change.puts):
                    return False
        return bool(places)

    def is_single(self, name: str) -> bool:
        """Whether this name is always one container, which nothing else holds, and which holds none that change."""
        places = self.of.get(name, set())
        if len(places) != 1:
            return False
        place = next(iter(places))
        if isinstance(place, Inside) or place.startswith("%outside") or place == "%saved":
            return False
        for held in self.held.values():
            if any(place in v for v in held.values()):
                return False
        if any(v & self.touched for v in self.held[place].values()):
            return False
        return all(len(v) == 1 for v in self.of.values() if place in v)


def _closed(places: Iterable[str], after: Callable[[str], Iterable[str]]) -> set[str]:
    found: set[str] = set()
    waiting = list(places)
    while waiting:
        if (place := waiting.pop()) not in found:
            found.add(place)
            waiting += after(place)
    return found


PUT_TOGETHER = every("puts_together")
DEEP_COPIES = every("deep_copy")
SHIFTING = {operator.getitem, operator.add, operator.mul, ops.items_from, builtins.reversed, builtins.sorted}
COPIES = {
    builtins.list, builtins.tuple, builtins.dict, ops.copied, runtime.copied, operator.add, operator.mul,
    ops.items_from, builtins.reversed, builtins.sorted,
}  # fmt: skip


def made_of(s: Assign) -> list[tuple[Hashable, Atom]]:
    """The items that an operation puts together, with their keys."""
    op, args = s.op, s.args
    if op in (ops.make_tuple, ops.make_list):
        return list(enumerate(args))
    if op is ops.make_dict:
        return list(zip(args[0].value, args[1:], strict=True))
    if op is ops.make_struct:
        keys = range(len(args) - 2) if issubclass(args[0].value, tuple) else args[1].value
        return list(zip(keys, args[2:], strict=True))
    return []
