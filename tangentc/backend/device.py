"""What code for the device has to say that code for NumPy has not: a number there is an array of rank 0.

t = y_bar[i]               t = y_bar[i].copy()         an entry is a view, which changes with its array
y_bar[i] = 0.0      ->     y_bar[i] = 0.0
s += t                     s = s + t                   (`Expressions`: one number may have several names)
np.sum(2.0)                cp.sum(cp.asarray(2.0))     functions other than ufuncs take arrays of the device
np.array([1.0, t])         cp.array([cp.asarray(1.0), t])
"""

from __future__ import annotations

import builtins
import dataclasses
import operator
from collections.abc import Callable, Iterator

import numpy as np

from tangentc.analysis.program import Program
from tangentc.analysis.types import Types
from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Block, Const, Effect, For, If, Leave, Op, Statement, Store, While
from tangentc.core.types import Array, Scalar
from tangentc.core.walk import all_defines, changed_by, joins_of, statements, transform, with_body
from tangentc.ops.table import known_of

KEEPS = (ops.identity, ops.make_tuple, ops.make_list, ops.make_dict, ops.make_struct, ops.select)
MAKES = {np.array, np.asarray}
LISTS = (ops.make_list, ops.make_tuple)


def for_device(program: Program) -> Program:
    """The program whose numbers are values on the device too."""
    body = program.function.body
    needed = _Kept(program)
    writes = _Writing(program)

    def written(s: Statement) -> Block:
        if isinstance(s, For) and s.target in needed.entries:
            name = writes.name_for(s.target)
            return (dataclasses.replace(s, target=name, body=(writes.copy(s.target, name), *s.body)),)
        if isinstance(s, Assign) and s.op is operator.getitem and s.target in needed.entries:
            name = writes.name_for(s.target)
            return dataclasses.replace(s, target=name), writes.copy(s.target, name)
        return writes.with_arrays(s) if isinstance(s, Assign) else (s,)

    return dataclasses.replace(program, function=with_body(program.function, transform(body, written)))


class _Runs:
    """What the entries are of that a loop or a subscript gives."""

    def __init__(self, program: Program):
        every = list(statements(program.function.body))
        self.types = program.types
        self.made = {s.target: s for s in every if isinstance(s, Assign)}
        self.over = {s.target: s.iterable for s in every if isinstance(s, For)}

    def array_of(self, s: For | Assign) -> str | None:
        """The array of which the target is an entry, None where it is none."""
        held, place = (s.iterable, None) if isinstance(s, For) else (s.args[0], s.args[1])
        if isinstance(held, str) and isinstance(self.types.of(held), Array):
            return held
        made = self.made.get(self.over.get(held, "")) if isinstance(s, Assign) else self.made.get(held)  # type: ignore
        if made is None:
            return None
        given = {builtins.reversed: made.args[:1], iter: made.args[:1]}.get(made.op, ())  # type: ignore[call-overload]
        if isinstance(place, Const) and isinstance(place.value, int) and place.value < len(made.args) + 1:
            pairs = {builtins.zip: made.args, builtins.enumerate: (Const(0), *made.args[:1])}.get(made.op, ())  # type: ignore
            given = pairs[place.value : place.value + 1]
        return next((a for a in given if isinstance(a, str) and isinstance(self.types.of(a), Array)), None)


class _Kept:
    """Which entries of arrays are kept, or given by a loop, while an array may change."""

    def __init__(self, program: Program):
        every = list(statements(program.function.body))
        changes, runs = changes_in(program.function.body), _Runs(program)
        keeping = {program.function.result, *(atom for s in every for atom in _kept_by(s))}
        self.entries: set[str] = set()
        for s in every:
            if isinstance(s, (For, Assign)) and isinstance(program.types.of(s.target), Scalar):
                given = isinstance(s, For) or s.op is operator.getitem
                named = isinstance(s, Assign) and isinstance(program.types.of(s.args[0]), Array) if given else False
                if given and runs.array_of(s) is not None and (s.target in keeping or changes and not named):
                    self.entries.add(s.target)


def changes_in(body: Block) -> bool:
    """Whether anything is changed in place."""
    return any(isinstance(s, Store) or changed_by(s) is not None for s in statements(body))


def is_entry(s: Assign, types: Types) -> bool:
    """Whether this takes an entry of an array."""
    return (
        s.op is operator.getitem and isinstance(types.of(s.target), Scalar) and isinstance(types.of(s.args[0]), Array)
    )


def _kept_by(s: Statement) -> Iterator[Atom]:
    """What a statement hands on as it is."""
    if isinstance(s, (If, For, While)):
        for _, first, second in joins_of(s):
            yield from (first, second)
    elif isinstance(s, Leave):
        yield from s.values
    elif isinstance(s, Effect):
        yield from s.args
    elif isinstance(s, Store):
        yield s.value
    elif isinstance(s, Assign) and (s.op in KEEPS or isinstance(s.op, ops.Emitted) or _may_give(s.op)):
        yield from s.args


def _may_give(op: Op) -> bool:
    """Whether the result of an operation may be memory of what it is given."""
    known = known_of(op)
    if known.elementwise:
        return False
    return known.view or known.may_share or known.holds or known.puts_together or not ops.is_pure(op)


class _Writing:
    """Writes what the device needs, under names that nothing else has."""

    def __init__(self, program: Program):
        self.program, self.types = program, program.types
        self.taken = all_defines(program.function.body) | {p.name for p in program.function.params}
        self.made = {s.target: s for s in statements(program.function.body) if isinstance(s, Assign)}
        self.mixed: set[str] = set()  # the lists of arrays of the device and of numbers of Python, to be one array
        for s in self.made.values():
            if s.op in MAKES and s.args:
                lists, leaves = self._within(s.args[0])
                if len({self._is_number(a, True) for a in leaves}) > 1:
                    self.mixed |= lists

    def _within(self, atom: Atom) -> tuple[set[str], list[Atom]]:
        """The lists that a value is of, and what they hold."""
        made = self.made.get(atom) if isinstance(atom, str) else None
        if made is not None and made.op is ops.identity:
            return self._within(made.args[0])
        if made is None or made.op not in LISTS:
            return set(), [atom]
        parts = [self._within(a) for a in made.args]
        return {made.target}.union(*(lists for lists, _ in parts)), [a for _, leaves in parts for a in leaves]

    def name_for(self, name: str) -> str:
        """A temporary of the type of what has this name."""
        number, found = 0, ""
        while not found or found in self.taken:
            number += 1
            found = f"%entry.{number}"
        self.taken.add(found)
        self.types.of_name[found] = self.types.of(name)
        return found

    def copy(self, target: str, entry: str) -> Assign:
        return Assign(target, ops.method, (entry, Const("copy")), ())

    def with_arrays(self, s: Assign) -> Block:
        """The statement with arrays of the device where it takes no numbers of Python."""
        if s.target in self.mixed:
            return self._with(s, [self._is_number(a, True) for a in s.args])
        if not _takes_arrays(s.op):
            return (s,)
        return self._with(s, [self._is_number(a, False) and k == 0 for k, a in enumerate(s.args)])

    def _is_number(self, atom: Atom, weak: bool) -> bool:
        t = self.types.of(atom)
        if not isinstance(t, Scalar) or t.dtype == "str":
            return False
        return t.weak or isinstance(atom, Const) if weak else np.dtype(t.dtype).kind in "fcb"

    def _with(self, s: Assign, wanted: list[bool]) -> Block:
        out, args = [], []
        for atom, is_wanted in zip(s.args, wanted, strict=True):
            if is_wanted:
                name = self.name_for(atom) if isinstance(atom, str) else self.name_for(s.target)
                self.types.of_name[name] = self.types.of(atom)
                out.append(Assign(name, np.asarray, (atom,), ()))
                atom = name
            args.append(atom)
        return (*out, dataclasses.replace(s, args=tuple(args))) if out else (s,)


TAKES_NUMBERS: set[Op] = {np.array, np.asarray, np.zeros, np.ones, np.empty, np.full, np.arange, np.linspace, np.eye}


def _takes_arrays(op: Op) -> bool:
    """Whether CuPy wants an array where NumPy takes a number as well."""
    function: Callable[..., object] | None = op if callable(op) else None
    if function is None or isinstance(op, (np.ufunc, type)) or op in TAKES_NUMBERS:
        return False
    return ops.module_root(op) == "numpy" and ops.is_pure(op)
