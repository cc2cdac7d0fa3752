"""The type of every name of a program in core form.

    rows = []                 rows: list of float64[n], which is what it becomes
    for i in range(3):
        rows.append(x * i)
    y = rows[0]               y: float64[n]

The state goes through the program as Python runs it.  The type of a name is that of its value; of a container, which
is changed where it is, it is one for all that it is while the name is there.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace

import numpy as np

from tangentc.analysis.decide import counted_answer, taken
from tangentc.analysis.holding import without_sites
from tangentc.analysis.joins import joined
from tangentc.analysis.linear import ONE, Forms, as_length
from tangentc.analysis.state import NOTHING, End, State
from tangentc.analysis.types import CallType, Types
from tangentc.core import ops
from tangentc.core.lengths import Dim, Length
from tangentc.core.nodes import Assign, Atom, Block, Const, For, Function, If, Leave, Statement, While
from tangentc.core.types import (
    MOST_PARTS,
    Array,
    Dict,
    Scalar,
    Sequence,
    Struct,
    Tuple,
    Type,
    is_container,
    lengths,
    map_lengths,
    present,
)
from tangentc.core.walk import defines, statements

SHAPED = {np.zeros: 0, np.ones: 0, np.empty: 0, np.full: 0, np.reshape: 1}  # where they are given a shape


def typed(
    function: Function, params: Mapping[str, Type], call_type: CallType | None = None,
    begin: Callable[[], None] = lambda: None,
) -> Types:  # fmt: skip
    """The types of a function's names, for parameters of these types; ``begin`` is called before each walk."""
    begin()
    return Typing(function, params, call_type).facts(function)


class Typing(State):
    """Types a program from its first statement to its last."""

    def __init__(self, function: Function, params: Mapping[str, Type], call_type: CallType | None):
        super().__init__(call_type)
        self.all_its_life: dict[Atom, Type] = {}
        self.lived: dict[tuple[int, int], tuple[Type, Type, Type]] = {}
        self.spans: dict[Hashable, Length] = {}  # of slices, by the forms of their bounds; of items, by the loop
        self.turns: dict[Hashable, range | None] = {}  # the numbers that the target of a loop is, one after another
        self.form = Forms(self.of, self.definitions).form
        self.begin_with(params)
        self.block(function.body)

    def _set(self, name: Atom, t: Type | None) -> None:
        if isinstance(t, Array) and t.or_number == "?":
            t = replace(t, or_number=str(name))
        super()._set(name, t)
        if t is not None:
            before = self.all_its_life.get(name)
            lives_on = before is not None and is_container(present(t))
            self.all_its_life[name] = self.also(before, t) if lives_on else t  # type: ignore[arg-type]

    def also(self, before: Type, t: Type) -> Type:
        """The type of a container that was a ``before`` and is a ``t`` now, with keys or attributes that it has got."""
        if before is t or not is_container(t):
            return t if before is t else self.join(before, t)
        key = id(before), id(t)  # many names stand for one object
        if key not in self.lived:
            self.lived[key] = self._also(before, t), before, t
        return self.lived[key][0]

    def _also(self, before: Type, t: Type) -> Type:
        if isinstance(before, Dict) and isinstance(t, Dict):
            keys = tuple(dict.fromkeys((*t.keys, *before.keys)))
            return replace(t, keys=keys, items=self._both(keys, (before.keys, before.items), (t.keys, t.items)))
        if isinstance(before, Struct) and isinstance(t, Struct) and before.cls is t.cls:
            fields = tuple(dict.fromkeys((*before.fields, *t.fields)))
            return replace(
                t, fields=fields, items=self._both(fields, (before.fields, before.items), (t.fields, t.items))
            )
        return self.join(before, t)

    def _both(
        self, names: tuple[Hashable, ...], *several: tuple[tuple[Hashable, ...], tuple[Type, ...]]
    ) -> tuple[Type, ...]:
        """The types of the parts of both, under each name."""
        if all(own == names for own, _ in several):
            before, now = (items for _, items in several)
            return tuple(a if a is b else self.also(a, b) for a, b in zip(before, now, strict=True))
        parts = [dict(zip(own, items, strict=True)) for own, items in several]
        found = ([p[n] for p in parts if n in p] for n in names)
        return tuple(types[0] if len(types) == 1 else self.also(*types) for types in found)

    def _assign(self, s: Assign) -> None:
        if s.op is ops.assumed:
            self.assumed[id(s)] = {a: without_sites(self.of(a)) for a in s.args[1:]}
        self.all_its_life.pop(s.target, None)
        super()._assign(s)
        if s.op is builtins.slice or s.op in SHAPED:
            self._define(s.target, self._spanning(s) if s.op is builtins.slice else self._measured(s))
            self.definitions[s.target] = s
        elif s.op is operator.getitem and isinstance(s.args[1], str) and (t := self._at_places(s)) is not None:
            self._define(s.target, self.placed(t, s.target, s.span.site))
            self.definitions[s.target] = s
        elif s.op is builtins.tuple and s.args and len(turns := self._counted_out(s.args[0])) <= MOST_PARTS:
            self._define(s.target, Tuple(tuple([Scalar("int64", True, n) for n in turns])))
            self.definitions[s.target] = s

    def _at_places(self, s: Assign) -> Type | None:
        """The type of an item of a list by those of the items at the places where a loop is; None if these are not
        known."""
        several = self.of(s.args[0])
        held = several.items if isinstance(several, (Sequence, Tuple)) else ()
        form = self.form(s.args[1]) if len(held) > 1 else None
        index, *more = (form or {}).keys() - {ONE} or ("",)
        turns = self.turns.get(index)
        if form is None or turns is None or more:
            return None
        places = [form[index] * k + form.get(ONE, 0) for k in turns]
        if not places or min(places) < 0 or max(places) >= len(held):
            return None
        return self._in_turn(index, [held[p] for p in places])

    def _in_turn(self, index: Hashable, items: list[Type]) -> Type:
        """The type of what is one of several in each trip; lengths that are the same in all trips are one."""
        whole = joined(items, self.fresh)
        if len({map_lengths(t, lambda d: 0) for t in (whole, *items)}) > 1:
            return whole  # they differ in more than lengths
        dims = zip(*map(lengths, items))
        new = iter([d[0] if len(set(d)) == 1 else self._length_of((index, d), shortest(d)) for d in dims])
        return map_lengths(whole, lambda d: next(new))

    def _spanning(self, s: Assign) -> Type:
        """The type of a slice: with others whose bounds have the same forms it takes as much of an axis."""
        t = self.of(s.target)
        forms = [a if isinstance(a, Const) else self.form(a) for a in s.args]
        if not isinstance(t, Tuple) or any(f is None for f in forms):
            return t
        key = tuple(frozenset(f.items()) if isinstance(f, dict) else f for f in forms)
        return replace(t, span=self._length_of(key), bounds=self._bounds(s))

    def _bounds(self, s: Assign) -> tuple[Dim | None, Dim | None] | None:
        """The lengths at which a slice begins and ends, None where they are not known."""
        ends: list[Dim | None] = []
        for a in s.args if len(s.args) > 1 else (Const(None), *s.args):
            form = None if a == Const(None) else self.form(a)
            ends.append(None if form is None else as_length(form))
            if ends[-1] is None and a != Const(None):
                return None
        return (ends[0], ends[1]) if len(ends) == 2 or s.args[2] in (Const(None), Const(1)) else None

    def _length_of(self, key: Hashable, least: int = 0) -> Length:
        if key not in self.spans:
            self.spans[key] = self.fresh().from_(least)
        return self.spans[key]

    def _measured(self, s: Assign) -> Type:
        """The type of an array that is given a shape: where nothing more is known of its lengths, these are those of
        others for which the same integers stand.  One of a reshape may be -1, and depends on what is reshaped."""
        t, place = self.of(s.target), SHAPED[s.op]
        if not isinstance(t, Array) or len(s.args) <= place:
            return t
        shape = s.args[place]
        made = self.definitions.get(shape) if isinstance(shape, str) else None
        atoms = made.args if isinstance(made, Assign) and made.op is ops.make_tuple else s.args[place : place + 1]
        forms = [self.form(a) for a in atoms]
        if len(forms) != len(t.shape) or None in forms:
            return t
        keys: list[Hashable] = [frozenset(f.items()) for f in forms if f is not None]
        whole = (tuple(keys), getattr(self.of(s.args[0]), "shape", None)) if s.op is np.reshape else ()
        known = [None if f is None or s.op is np.reshape else as_length(f) for f in forms]
        spans = [self._length_of((key, whole)) if k is None else k for k, key in zip(known, keys, strict=True)]
        return replace(t, shape=tuple(k if _is_any(d) else d for d, k in zip(t.shape, spans, strict=True)))

    def statement(self, s: Statement) -> None:
        match s:
            case For() | While():
                self._loop(s)
            case Leave():
                pass  # what follows stands in the other arm, and the values meet behind the branch
            case _:
                super().statement(s)

    def branch(self, s: If) -> None:
        self.chosen.pop(id(s), None)
        known = taken(s, self.of) if self._is_told(s) else None
        ends = self._arms(s, known)
        if known is None:
            known = taken(s, self.of)
            known = self._counted(s, ends) if known is None else known  # type: ignore[arg-type]
            if known is not None:
                self._arms(s, known)
        if known is not None:
            self.chosen[id(s)] = known

    def _arms(self, s: If, known: bool | None) -> tuple[End, ...]:
        merged: list[list[Type]] = []
        ends = []
        for arm, runs, value in ((s.then, known is not False, 0), (s.orelse, known is not True, 1)):
            if not runs:
                continue

            def write(arm: Block = arm, value: int = value) -> None:
                self.narrow(s.test, not value)
                self.block(arm)
                merged.append([self.of((m.then, m.orelse)[value]) for m in s.merged])

            ends.append(self.fork(write)[1])
        self.merge(ends)
        answer = counted_answer(self.of(s.test)) if len(merged) == 2 else None
        for k, m in enumerate(s.merged):
            given = [types[k] for types in merged]
            stays = answer is not None and m.name.startswith("%") and counted_answer(given[not answer]) is not None
            self._define(m.name, given[not answer] if stays else self._joined(given))
            if s.test in (m.then, m.orelse) and m.then != m.orelse:  # `a and b`, `a or b`
                self.both[m.name, s.test == m.orelse] = (m.then, m.orelse)
        return tuple(ends)

    def merge(self, ends: Iterable[End]) -> None:
        """What a path defines is not seen behind it."""
        super().merge([None if end is None else {n: t for n, t in end.items() if n in self.now} for end in ends])

    def _define(self, name: str, t: Type) -> None:
        self.all_its_life.pop(name, None)
        self._set(name, t)

    def _loop(self, s: For | While) -> None:
        for c in s.carried:
            t = self._apart(self.of(c.init))  # another length in each trip, perhaps
            self._define(c.name, replace(t, or_number="?") if isinstance(t, Array) and t.or_number else t)

        def trip() -> Block:
            if isinstance(s, For):
                self.all_its_life.pop(s.target, None)
                self.takes(s.target, s.iterable)
                self.turns[s.target] = self._turns(s.iterable)
            else:
                self.block(s.head)
            self.block(s.body)
            for name, t in [(c.name, self.of(c.next)) for c in s.carried]:
                self._set(name, t)
            return s.body

        self.loop(id(s), trip, False)
        for c in s.carried:
            self._define(c.name, self.of(c.name))

    def _counted_out(self, iterable: Atom) -> range:
        """The numbers of a range, and where they are not known more than are told apart."""
        known = self._turns(iterable)
        return _MANY if known is None else known

    def _turns(self, iterable: Atom) -> range | None:
        """The numbers that a loop runs over, where they are known."""
        made = self.definitions.get(iterable) if isinstance(iterable, str) else None
        if isinstance(made, Assign) and made.op is builtins.reversed:
            made = self.definitions.get(made.args[0]) if isinstance(made.args[0], str) else None
        if made is None or made.op is not builtins.range:
            return None
        known = [getattr(self.of(a), "value", None) for a in made.args]
        ends = [n for n in known if type(n) is int]
        return range(*ends) if len(ends) == len(known) and ends[2:] != [0] else None

    def facts(self, function: Function) -> Types:
        """What is known of the names, for the passes that follow."""
        types = Types(self.call_type)
        made = (name for s in statements(function.body) for name in defines(s))
        names = (*(p.name for p in function.params), *made)
        types.of_name = {name: without_sites(self.all_its_life.get(name, NOTHING)) for name in names}
        types.unknown_lengths, types.chosen, types.settled = self.unknown_lengths, self.chosen, True
        types.assumed = self.assumed
        return types


_MANY = range(MOST_PARTS + 1)  # more numbers than are told apart


def shortest(lengths: Iterable[Dim | None]) -> int:
    """The least that one of several lengths may be."""
    return min((d.least if isinstance(d, Length) else d or 0) for d in lengths)


def _is_any(d: Dim) -> bool:
    return isinstance(d, Length) and d.symbol.startswith("?") and not d.least
