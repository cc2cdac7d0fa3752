"""Which values a derivative flows through: those that depend on ``wrt`` and that the result depends on."""

from __future__ import annotations

import builtins
import functools
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import replace
from types import FunctionType

import numpy as np

from tangentc import runtime
from tangentc.analysis.aliases import Aliases, changes_argument, may_give_back
from tangentc.analysis.outside import LENT, PARTS, Part, Written, is_outside, parts_of, written_by
from tangentc.analysis.parts import gives_keys
from tangentc.analysis.points import ANY, DEEP_COPIES, Change, change_of, may_change_unseen, place_of_key
from tangentc.analysis.reach import Containers, Reach
from tangentc.analysis.results import of_keys
from tangentc.analysis.shifts import shifts
from tangentc.core import ops
from tangentc.core.build import Types
from tangentc.core.naming import shown
from tangentc.core.nodes import (
    Assign,
    Atom,
    Block,
    Const,
    Effect,
    For,
    Function,
    If,
    Op,
    Opaque,
    Statement,
    Store,
    While,
)
from tangentc.core.resolve import named_by
from tangentc.core.types import (
    Array,
    Known,
    Scalar,
    Unknown,
    is_array_of_a_class,
    is_container,
    is_differentiable,
    is_set,
    present,
)
from tangentc.core.values import mutable_parts
from tangentc.core.walk import asks_for_form, blocks, defines, joins_of, reads, statements
from tangentc.errors import NotDifferentiable, UnsafeMutation, UnsupportedSyntax
from tangentc.ops.table import place_of

IndependentOf = Callable[[Op], bool]


def _around(block: Block) -> Iterator[Statement]:
    """Every statement, those with blocks before and after what is in them: so that either way through the program meets
    a branch or a loop where its values come in and where they leave."""
    for s in block:
        yield s
        if inner := list(blocks(s)):
            for b in inner:
                yield from _around(b)
            yield s


class Activity:
    """``active`` holds the names that are both varied and useful.

    ``asked`` are the parts of the result that have an adjoint.  With ``tangents``, what is copied with all that it
    holds counts as varied where the copy is changed to vary: parts that share memory have tangents that do, and so are
    made where the parts are.
    """

    def __init__(
        self, function: Function, wrt: set[str], types: Types, aliases: Aliases, is_zero: IndependentOf,
        tangents: bool = False, asked: Iterable[tuple[Hashable, ...]] = ((),),
    ):  # fmt: skip
        self.types, self.aliases, self.is_zero, self.tangents = types, aliases, is_zero, tangents
        self.program = list(statements(function.body))
        copies = [s for s in self.program if isinstance(s, Assign) and s.op in DEEP_COPIES] if tangents else []
        self.copied = {s.target: self._parts(s.args[0]) for s in copies if aliases.is_changed(s.target)}
        self.containers = Containers(self.program, types, aliases, is_zero)
        self.shifts = shifts(function.body, types.of, function.result, is_zero, aliases.is_changed)
        self.varied, self.useful = (Reach(self.containers, aliases) for _ in range(2))
        for name in wrt:
            self.varied.add(name)
        self._until_stable(self.varied, self._forward, list(_around(function.body)))
        for path in asked:
            self.useful.add_path(function.result, path)
        self._until_stable(self.useful, self._backward, list(_around(function.body))[::-1])
        places = self.varied.meets(self.useful)
        self.active = {n for n in types.of_name if is_differentiable(types.of(n)) and self._is_active(n, places)}
        # changes of nothing else matter for what moves
        self.moving = aliases if self.containers.apart else aliases.moving(lambda p, c: self._moves(p, c, places))
        self._refuse_opaque()

    def _is_active(self, name: str, places: set[str]) -> bool:
        """Whether a name is varied and useful, or a part of it that is made in one of these places."""
        if not self.containers.linked(name):
            return name in self.varied and name in self.useful
        by_name = (
            self.varied.has_name(name) and name in self.useful or self.useful.has_name(name) and name in self.varied
        )
        return by_name or not places.isdisjoint(self.containers.places(name))

    def _moves(self, place: str, change: Change, active: set[str]) -> bool:
        """Whether a change of a container is one of what a derivative flows through; ``active`` are such places."""
        if change.shifts or change.unseen or change.removes is not None or not change.puts:
            return place in active
        keys = [ANY if change.all_items else place_of_key(key) for key, _ in change.puts]
        both = self.varied, self.useful
        return place in active and any(
            all(reach.has_key(place, key) for reach in both)
            or not self.containers.held({place}, key).isdisjoint(active)
            for key in keys
        )

    def _until_stable(self, found: Reach, step: Callable[[Statement], None], program: list[Statement]) -> None:
        size = -1
        while size != found.size:
            size = found.size
            for statement in program:
                step(statement)
            for copy, parts in self.copied.items():
                if copy in found:
                    for name in parts:
                        found.add(name)

    def _parts(self, container: Atom) -> set[str]:
        """The names for what a container may hold."""
        if not isinstance(container, str):
            return set()
        root = self.aliases.root(container)
        return {n for n in self.types.of_name if self.aliases.root(n) == root}

    def may_change(self, name: str) -> bool:
        """Whether what a name stands for is changed, or what is copied of it."""
        return self.aliases.is_changed(name) or any(name in parts for parts in self.copied.values())

    def _flows(self, s: Assign) -> tuple[Atom, ...]:
        """The arguments that the value of the result depends on smoothly."""
        if self.is_zero(s.op) or s.op is builtins.len or s.target in self.shifts:
            return ()
        if s.op is ops.inserted:
            return s.args[:1]
        if of_keys(s.op, [self.types.of(a) for a in s.args[:2]]):
            return ()
        if asks_for_form(s, self.types.of):
            return ()
        return s.atoms

    def _forward(self, s: Statement) -> None:
        found = self.varied
        found.forward(s)
        match s:
            case Assign():
                if any(a in found for a in self._whole(s)) or found.has_name(s.target):
                    found.add(s.target)
            case Store() if not self.containers.known(s.object) and s.value in found:
                found.add(s.object)
            case Effect() if adds_to_argument(s.op) and any(a in found for a in s.atoms[1:]):
                found.add(s.args[0])
            case If() | For() | While():
                for name, *arms in self._joined(s):
                    if any(a in found for a in arms):
                        found.add(name)
            case Opaque() if any(a in found for _, a in s.reads):
                for _, name in s.writes:
                    found.add(name)

    def _backward(self, s: Statement) -> None:
        found = self.useful
        found.backward(s)
        match s:
            case Assign() if s.target in found:
                for a in self._whole(s):
                    found.add(a)
            case Store() if not self.containers.known(s.object) and s.object in found:
                found.add(s.value)
                found.add(s.object)
            case Effect() if adds_to_argument(s.op) and s.args[0] in found:
                for a in s.atoms:
                    found.add(a)
            case If() | For() | While():
                for name, *arms in self._joined(s):
                    if name in found:
                        for a in arms:
                            found.add(a)
            case Opaque() if any(name in found for _, name in s.writes):
                for _, a in s.reads:
                    found.add(a)

    def _whole(self, s: Assign) -> tuple[Atom, ...]:
        """The arguments that the whole result depends on, beside the parts of containers that are followed."""
        step = self.containers.step(s)
        if step.followed:
            return ()
        flows = self._flows(s)
        return tuple(a for a in flows if a != s.args[0]) if step.taken is not None else flows

    def _joined(self, s: If | For | While) -> Iterator[tuple[Atom, ...]]:
        """What joins names that are not followed by the places of a container."""
        for name, *arms in joins_of(s):
            arms = [a for a in arms if not (self.containers.linked(name) and self.containers.linked(a))]
            yield name, *arms
        if isinstance(s, For) and not self.containers.known(s.iterable) and not gives_keys(self.types.of(s.iterable)):
            yield s.target, s.iterable

    def _refuse_outside(self) -> None:
        """Refuse a value that is put into what belongs to the user's module, or to the function around this one, and
        is read from there: one that depends on the arguments, or takes the place of another."""
        owner = parts_of(self.program, self.types)
        put: list[tuple[Written, Statement]] = []
        read: set[Part] = set()
        self.changed: set[Written] = set()  # what moves is put into some of these
        uses = Counter(a for s in self.program for a in reads(s) if isinstance(a, str))
        counted: set[str] = set()  # what a counter holds, and what it is given
        for s in self.program:
            if isinstance(s, Store) and s.key is not None and isinstance(s.value, str) and uses[s.value] == 1:
                counted |= {s.value, *(a for a in self._made(s.value) if uses[a] == 1)}
        for s in self.program:
            if isinstance(s, Assign) and s.target in counted:
                continue
            found = {owner[a] for a in reads(s) if a in owner}
            change = change_of(s)
            if isinstance(s, Assign) and s.args and s.op in PARTS and s.args[0] in owner:
                if s.op is not ops.identity and not is_container(self.types.of(s.target)):
                    read |= {owner[s.target], *(owner[a] for a in reads(s)[1:] if a in owner)}
            elif isinstance(s, If):  # which hands on what it joins
                read |= {replace(owner[s.test], deep=False)} if s.test in owner else set()
            elif isinstance(s, For) or isinstance(s, Assign) and s.op in (*LENT, builtins.len):  # no item is read yet
                read |= {replace(part, deep=False) for part in found}
            elif change is None and not (isinstance(s, Store) and s.key is None):
                read |= found
            elif change is not None and change.container in owner:
                written = written_by(s, owner[change.container], present(self.types.of(change.container)))
                if not is_outside(change.container, self.definitions):  # so that the change would be left out
                    raise UnsafeMutation(
                        f"{shown(change.container)}, which may be a part of {written.name}, is changed", s.span,
                        why="whether the change is one that stays is not known",
                        way_out="change it under the name that it has in the module, or in the function around",
                    )  # fmt: skip
                self.changed.add(written)
                if isinstance(s, Store) or any(atom in self.varied for _, atom in change.puts):
                    put.append((written, s))
        self.put, self.read = {written for written, _ in put}, read
        called = {f for s in self.program for f in _called(s) if isinstance(f, FunctionType)} if put else ()
        # what is read where it is not followed
        seen = {id(part) for f in called for value in named_by(f) for part in mutable_parts(value)}
        for written, s in put:
            if any(id(own) in seen for own in written.holders()) or any(map(written.is_read_by, read)):
                raise UnsafeMutation(
                    f"{written.name}, which belongs to the module or to a function around this one, is given a value, "
                    "and is read", s.span,
                    why="a derivative changes nothing but its own copies, and would not follow the value",
                    way_out="pass it in as an argument, or make it inside the function",
                )  # fmt: skip

    @functools.cached_property
    def definitions(self) -> dict[str, Statement]:
        return {name: s for s in self.program for name in defines(s)}

    def _refuse_unseen_change(self, s: Statement) -> None:
        """Refuse a call that may change, where nobody sees it, a value that the result depends on."""
        if not isinstance(s, (Assign, Effect)):
            return
        into = self._written_into(s)
        is_array = not isinstance(into, Const) and not isinstance(self.types.of(into), Known)
        written = is_array or isinstance(s, Effect) and ops.module_root(s.op) == "scipy"
        of_set = s.op is builtins.set or s.op is ops.method and is_set(self.types.of(s.args[0]))
        if not may_change_unseen(s.op) and not written and not of_set:
            return
        if not any(a in self.varied for a in s.atoms):
            return
        if of_set and not of_keys(s.op, [self.types.of(a) for a in s.args[:1]]):
            raise NotDifferentiable(
                "a set is given what depends on the arguments", s.span,
                why="its items are found again by their values", way_out="a list, or a dict of what belongs together",
            )  # fmt: skip
        for atom in (a for a in s.atoms if isinstance(a, str)):
            t = self.types.of(atom)
            is_read = is_container(t) and any(atom in reads(other) for other in self.program if other is not s)
            mates = self._parts(atom) if atom == into and is_array else {atom}
            if is_read or isinstance(t, (Array, Unknown)) and any(n in self.useful for n in mates):
                named_op = s.args[1].value if s.op is ops.method else s.op
                name = getattr(named_op, "__qualname__", None) or getattr(named_op, "__name__", str(named_op))
                raise UnsafeMutation(
                    f"{name} is given {shown(atom)}, which it may change, and a derivative flows through it", s.span,
                    why=f"what {name} does is not known",
                    way_out="give it a copy, or do its work in Python",
                )  # fmt: skip

    def _written_into(self, s: Assign | Effect) -> Atom:
        """What a call is told to write its result into, which may also be the dtype of that."""
        named = dict(s.keywords)
        if s.op is ops.method:
            return named.get("output", named.get("out", Const(None)))
        is_filter = isinstance(s.op, FunctionType) and s.op.__module__.startswith("scipy.ndimage.")
        place = place_of(s.op, "output") if is_filter else None
        if place is not None and len(s.args) > place:
            return s.args[place]
        return named.get("output", Const(None))

    def _refuse_unsure_layout(self, s: Statement) -> None:
        """Refuse a strided view of what may lie in memory otherwise than in the program that is differentiated."""
        if not isinstance(s, Assign) or s.op is not np.lib.stride_tricks.as_strided or not s.args:
            return
        made, t = self.aliases.made.get(s.args[0]), self.types.of(s.args[0])  # type: ignore[arg-type]
        while made is not None and made.op is ops.identity:
            made = self.aliases.made.get(made.args[0])  # type: ignore[arg-type]
        sure = isinstance(t, Array) and len(t.shape) <= 1 or made is not None and made.op is np.ascontiguousarray
        if not sure and s.args[0] in self.varied:
            raise NotDifferentiable(
                f"as_strided of {shown(s.args[0])}, of which it is not known in which order its entries lie", s.span,
                why="copies are left out where only the values count, and with them their order in memory",
                way_out="as_strided(np.ascontiguousarray(x), ...) if its strides are those, or of x.ravel()",
            )  # fmt: skip

    def _refuse_classes_of_arrays(self, s: Statement) -> None:
        """Refuse an operation between what depends on the arguments and an array of a class of its own."""
        if not isinstance(s, (Assign, Effect, Store)) or isinstance(s, Assign) and s.op in (np.asarray, *ops.SYNTAX):
            return
        given = (s.object, s.value) if isinstance(s, Store) else (*s.atoms, *defines(s))
        classes = [t.cls for t in (present(self.types.of(a)) for a in given) if is_array_of_a_class(t)]
        if classes and any(a in self.varied for a in given):
            raise NotDifferentiable(
                f"what depends on the arguments meets an array of the class {classes[0].__name__}", s.span,
                why="such an array has operations of its own, and no derivatives of these are known",
                way_out="a plain array: np.asarray(...) of it, and its mask or unit apart",
            )  # fmt: skip

    def _refuse_records(self, s: Statement) -> None:
        """Refuse to put what depends on the arguments into arrays of records or of Python's objects."""
        name = s.object if isinstance(s, Store) else s.target if isinstance(s, Assign) else None
        t = None if name is None else self.types.of(name)
        given = s.atoms if isinstance(s, Assign) else (s.value,) if isinstance(s, Store) else ()
        if isinstance(t, Array) and np.dtype(t.dtype).kind in "VO" and any(a in self.varied for a in given):
            kind = "records" if np.dtype(t.dtype).kind == "V" else "objects"
            raise NotDifferentiable(
                f"{shown(name or '')}, an array of {kind}, depends on the arguments", s.span,
                why="its entries are no numbers", way_out="keep arrays of numbers, one for each field",
            )  # fmt: skip

    def _refuse_keys(self, s: Statement) -> None:
        """Refuse to keep a value in a dict under what depends on the arguments."""
        into_dict = isinstance(s, Store) and not isinstance(self.types.of(s.object), Array)
        key = s.key if into_dict else None
        if isinstance(s, (Assign, Effect)) and s.op is ops.method and s.args[1] == Const("setdefault"):
            key = s.args[2]
        t = None if key is None else self.types.of(key)
        if key is None or isinstance(t, Array) or isinstance(t, Scalar) and not is_differentiable(t):
            return
        if key in self.varied:
            raise NotDifferentiable(
                f"a dict is given a key that depends on the arguments, {shown(key)}", s.span,
                why="its entries are found again by their keys, and no derivative flows through these",
                way_out="a list of pairs, or tangentc.stop_gradient(...) where the key only finds the entry",
            )  # fmt: skip

    @functools.cached_property
    def makers(self) -> dict[str, Assign]:
        return {s.target: s for s in self.program if isinstance(s, Assign)}

    def _made(self, name: str) -> list[str]:
        """The names that a value is made of."""
        made = self.makers.get(name)
        return [] if made is None else [a for a in made.atoms if isinstance(a, str)]

    def _refuse_opaque(self) -> None:
        for s in self.program:
            self._refuse_classes_of_arrays(s)
            self._refuse_unsure_layout(s)
        for name, made in self.aliases.views.items():
            if may_give_back(made) and self.aliases.is_changed(name) and name in self.varied:
                called = made.args[1].value if made.op is ops.method else made.op.__name__
                raise UnsafeMutation(
                    f"what {called} gives may be the array that it is given, and is changed in place",
                    made.span,
                    why="there is no rule that says whether it is a view",
                    way_out="take a copy of it",
                )  # fmt: skip
        self._refuse_outside()
        pairs = {s.target for s in self.program if isinstance(s, Assign) and s.op in (builtins.zip, builtins.enumerate)}
        for s in self.program:
            if isinstance(s, Assign) and s.op in (builtins.list, builtins.tuple) and s.target in self.active:
                if s.args and s.args[0] in pairs:
                    raise UnsupportedSyntax(
                        "a list is made of a zip or an enumerate that has a name", s.span,
                        why="its items are found again by their positions, which a list has",
                        way_out="make the list at once: list(zip(...))",
                    )  # fmt: skip
            if isinstance(s, Store) and isinstance(t := present(self.types.of(s.object)), Unknown):
                if s.value in self.varied:
                    raise UnsafeMutation(
                        f"{s.object.lstrip('%').split('.')[0]} is changed in place, and its type is not known",
                        s.span, why=t.reason or "nothing says what it is",
                        way_out="call the function with arguments of known types",
                    )  # fmt: skip
            self._refuse_unseen_change(s)
            self._refuse_records(s)
            self._refuse_keys(s)
            if isinstance(s, Effect) and s.op is runtime.add_copied and not self.tangents and s.args[0] in self.active:
                raise UnsafeMutation(
                    "the adjoint of a deep copy of what lies in several places is differentiated", s.span,
                    why="it is added where the parts lie, and they may share memory", way_out="copy them one by one",
                )  # fmt: skip
            if isinstance(s, Effect) and s.op is runtime.add_items and s.args[0] in self.active:
                raise UnsafeMutation(
                    "add_items changes a list whose length is not known when compiling", s.span,
                    why="its derivative needs to know which items there are",
                    way_out="give it lists of which every item is of one type",
                )  # fmt: skip
            if isinstance(s, Opaque) and any(name in self.active for _, name in s.writes):
                through = next(text for text, a in s.reads if a in self.varied)
                raise NotDifferentiable(
                    f"the derivative of {through} flows through code that tangentc only carries along", s.span,
                    why="no adjoint is made of set comprehensions and `match`",
                    way_out="write it as a loop, or wrap what needs no derivative in tangentc.stop_gradient",
                )  # fmt: skip


def _called(s: Statement) -> list[object]:
    """What a statement calls, where it is not lowered into the program, and the functions that it hands on."""
    if isinstance(s, (Assign, Effect)):
        return [getattr(s.op, "function", s.op), *(a.value for a in s.atoms if isinstance(a, Const))]
    return [a.value for _, a in s.reads if isinstance(a, Const)] if isinstance(s, Opaque) else []


def adds_to_argument(op: Op) -> bool:
    """Whether a call for its effect adds what it is given to its first argument, or overwrites that."""
    return op is runtime.add_items or changes_argument(op)
