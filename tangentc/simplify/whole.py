"""Arrays that a trip overwrites but for their edges, saved whole, and read where they are saved.

    for t in range(n):                          for t in range(n):
        saved.append(u[1:-1].copy())                u_old = u.copy()
        u[1:-1] = f(u)                              saved.append(u_old)
    ...                                 ->          u[1:-1] = f(u_old)
    for t in range(n):                          ...
        u[1:-1] = saved.pop()                   for t in range(n):
        u_bar += g(u)                               u_bar += g(saved.pop())

Neither is what is computed kept apart from what it is computed of then, nor is anything copied back.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from tangentc.analysis.program import Program
from tangentc.core import ops
from tangentc.core.build import Builder
from tangentc.core.nodes import Assign, Atom, Block, Const, Effect, For, Function, Leave, Opaque, Statement, Store
from tangentc.core.nodes import version_base as base
from tangentc.core.types import Array
from tangentc.core.walk import (
    all_changed_by,
    all_defines,
    all_reads,
    definitions,
    reads,
    statements,
    substitute,
    substitute_block,
    with_body,
)

EDGE = 2  # so many entries at each end of an axis may be saved besides


def whole(program: Program) -> Function:
    """The function that saves such arrays whole."""
    function, k = program.function, 0
    work = _Whole(program)
    while k < len(function.body):
        found = next(work.saves(function, k), None)
        if found is None:
            k += 1
        else:
            function = work.written(function, found)
    return function


@dataclass(frozen=True)
class Save:
    """What two loops do to save an array and to have it back: where they stand, how the list is called that keeps the
    first part, and those that keep the others; from where to where a trip of the first reads what it was; and the
    places of the statements that put it back, the last one first."""

    array: str
    loops: tuple[int, int]
    kept: Atom
    others: tuple[Atom, ...]
    within: tuple[int, int]
    back: tuple[int, ...]


class _Whole:
    def __init__(self, program: Program):
        self.types, self.root = program.types, program.aliases.root
        function = program.function
        self.own = {self.root(p.name) for p in function.params}
        self.is_outside = program.aliases.is_outside
        self.builder = Builder(program.types, [*program.types.of_name])

    def saves(self, function: Function, k: int) -> Iterator[Save]:
        """What the statement at a place puts back of what one before it has saved."""
        g = function.body[k]
        if not isinstance(g, For):
            return
        self.made = definitions(function.body)
        self.read = Counter(a for s in statements(function.body) for a in reads(s))
        back: dict[str, list[int]] = {}
        for j, s in enumerate(g.body):
            if isinstance(s, Store) and self._list(g, s) is not None:
                back.setdefault(s.object, []).append(j)
        for array, places in back.items():
            first = g.body[places[-1]]
            assert isinstance(first, Store)
            name = self._list(g, first)
            assert name is not None
            others = tuple(o for j in places[:-1] if (o := self._list(g, g.body[j])) is not None)
            for i, f in enumerate(function.body[:k]):
                if isinstance(f, For) and (at := self._first(f, array, name, first)) is not None:
                    save = Save(array, (i, k), name, others, at, tuple(reversed(places)))
                    if self._all_saved(f, others) and self._serves(function, save):
                        yield save

    # ---------------------------------------------------------- which
    def _list(self, g: For, s: Statement) -> Atom | None:
        """The list that what is stored was taken from."""
        if not isinstance(s, Store) or s.op is not None or self.read[s.value] != 1:
            return None
        made = next((x for x in g.body if isinstance(x, Assign) and x.target == s.value), None)
        is_taken = made is not None and made.op is ops.pop and self.read[made.args[0]] == 2
        return made.args[0] if is_taken and made is not None else None

    def _pushed(self, f: For, name: Atom) -> Atom | None:
        pushes = [s for s in f.body if isinstance(s, Effect) and s.op is ops.push and s.args[0] == name]
        return pushes[0].args[1] if pushes else None

    def _all_saved(self, f: For, lists: tuple[Atom, ...]) -> bool:
        return all(self._pushed(f, name) is not None for name in lists)

    def _first(self, f: For, array: str, name: Atom, back: Store) -> tuple[int, int] | None:
        """Where a trip overwrites first what it has saved, and from where on the array was what it is then."""
        part = self.made.get(str(self._pushed(f, name)))
        if isinstance(part, Assign) and part.op is np.copy:
            part = self.made.get(str(part.args[0]))
        if not isinstance(part, Assign) or part.op is not operator.getitem or part.args[0] != array:
            return None
        if part.args[1] != back.key or not self._is_nearly_all(back.key, array):
            return None
        begun = next((k for k, s in enumerate(f.body) if s is part), len(f.body))
        changes = [k for k, s in enumerate(f.body) if self._changes(s, array)]
        over = next((k for k in changes if k > begun), len(f.body) - 1)
        s = f.body[over]
        if not isinstance(s, Store) or (s.object, s.key) != (array, back.key):
            return None
        return max((k + 1 for k in changes if k < over), default=0), over

    def _is_nearly_all(self, key: Atom | None, array: str) -> bool:
        t = self.types.of(array)
        given = key.value if isinstance(key, Const) else None
        items = given if isinstance(given, tuple) else (given,)
        return isinstance(t, Array) and len(items) <= len(t.shape) and all(map(_is_near, items))

    def _changes(self, s: Statement, array: str) -> bool:
        root = self.root(array)
        return any(self.root(n) == root for x in statements((s,)) for n in all_changed_by(x))

    def _names(self, array: str, names: set[str]) -> set[str]:
        """The names among some that may stand for memory of an array."""
        root = self.root(array)
        return {n for n in names if self.root(n) == root}

    def _serves(self, function: Function, save: Save) -> bool:
        """Whether what was saved is all that is read of an array."""
        array, (i, k) = save.array, save.loops
        f, g = function.body[i], function.body[k]
        assert isinstance(f, For) and isinstance(g, For)
        if self.root(array) in self.own or self.is_outside(array):
            return False
        if any(isinstance(s, (Leave, Opaque)) for s in statements((f, g))):
            return False
        if self._names(array, all_reads(function.body[k + 1 :]) | {str(function.result)}):
            return False
        before, behind = _without(g.body[: save.back[0]], save.back), g.body[save.back[0] + 1 :]
        if self._names(array, all_reads(before) | all_defines(before)) or any(self._changes(s, array) for s in before):
            return False
        own = {array, *all_defines(behind)}
        if any(self._changes(s, array) for s in behind) or self._names(array, all_reads(behind)) - own:
            return False
        if self._names(array, {n for s in (f, g) for n in (*reads(s), s.target) if isinstance(n, str)}):
            return False
        first, last = save.within
        return self._stay(f.body[first : last + 1], array)

    def _stay(self, part: Block, array: str) -> bool:
        """Whether what a part of a trip makes of an array is read there alone."""
        views = self._names(array, all_defines(part))
        there = Counter(a for s in statements(part) for a in reads(s))
        changed = {n for s in statements(part) for n in all_changed_by(s)}
        handed = {a for s in statements(part) if isinstance(s, Effect) for a in s.atoms}
        return all(there[v] == self.read[v] for v in views) and views.isdisjoint(changed | handed)

    @staticmethod
    def _reads_others(part: Block, array: str, key: Atom | None) -> bool:
        """Whether a part of a trip reads other entries of an array than each where it is overwritten."""
        given = key.value if isinstance(key, Const) else None
        items = given if isinstance(given, tuple) else (given,)
        is_all = all(i.start is i.stop is None for i in items)  # type: ignore[union-attr]
        for s in statements(part):
            is_same = isinstance(s, Assign) and s.op is operator.getitem and s.args[1] == key
            if not is_same and not is_all and not isinstance(s, Store) and array in reads(s):
                return True
        return any(isinstance(s, Store) and array in (s.value, s.key) for s in statements(part))

    # ---------------------------------------------------------- what stands for it
    def written(self, function: Function, save: Save) -> Function:
        """The function that saves an array whole."""
        array, (i, k) = save.array, save.loops
        f, g = function.body[i], function.body[k]
        assert isinstance(f, For) and isinstance(g, For)
        first, last = save.within
        store, back = f.body[last], g.body[save.back[0]]
        assert isinstance(store, Store) and isinstance(back, Store)
        row = self.builder.fresh(f"{base(array)}_saved")
        self.types.of_name[row] = self.types.of_name[str(back.value)] = self.types.of(array)
        read = f.body[first : last + 1]
        if self._reads_others(read, array, store.key):
            changed = substitute(store, {array: row})
            assert isinstance(changed, Store)
            read = (*substitute_block(f.body[first:last], {array: row}), replace(changed, object=array))
        copy = Assign(row, np.copy, (array,), (), store.span)
        pushed = [*f.body[:first], copy, *read, *f.body[last + 1 :]]
        for at, s in enumerate(pushed):
            if isinstance(s, Effect) and s.op is ops.push and s.args[0] == save.kept:
                pushed[at] = replace(s, args=(save.kept, row))
        taken = (
            *_without(g.body[: save.back[0]], save.back),
            *substitute_block(g.body[save.back[0] + 1 :], {array: str(back.value)}),
        )
        body = list(function.body)
        body[i] = replace(f, body=_left(tuple(pushed), save.others))
        body[k] = replace(g, body=_left(taken, save.others))
        return with_body(function, tuple(s for s in body if not (isinstance(s, Assign) and s.target in save.others)))


def _is_near(item: object) -> bool:
    """Whether a slice leaves out only some entries at the edges."""
    if not isinstance(item, slice) or item.step not in (None, 1):
        return False
    first, last = item.start, item.stop
    return (first is None or type(first) is int and 0 <= first <= EDGE) and (
        last is None or type(last) is int and -EDGE <= last < 0
    )


def _without(block: Block, places: tuple[int, ...]) -> Block:
    return tuple(s for k, s in enumerate(block) if k not in places)


def _left(block: Block, lists: tuple[Atom, ...]) -> Block:
    """A block without what is put into lists, and taken from them."""
    return tuple(
        s for s in block if not (isinstance(s, (Assign, Effect)) and s.op in (ops.push, ops.pop) and s.args[0] in lists)
    )
