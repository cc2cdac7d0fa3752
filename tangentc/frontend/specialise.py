"""What a statement means once the types are known.

x.sum(axis=1)                ->   np.sum(x, axis=1)
total += d     (a float)     ->   total.1 = total + d
h += b         (an array)    ->   h.1 = h + b            where no other name sees h
u += b         (seen by v)   ->   u += b                 in place
for row in A:  (floats)      ->   for i in range(len(A)): row = A[i]
"""

from __future__ import annotations

import builtins
import operator
from dataclasses import replace
from typing import Any

from tangentc import runtime
from tangentc.analysis.aliases import Aliases
from tangentc.core import ops
from tangentc.core.nodes import PRESENT, Assign, Atom, Effect, For, Function, If, Statement, Store
from tangentc.core.types import Known, Optional, Scalar, present
from tangentc.core.walk import definitions, substitute, substitute_block, transform, with_body
from tangentc.frontend.typed.arrays import Arrays
from tangentc.frontend.typed.augmented import Augmented
from tangentc.frontend.typed.containers import Containers
from tangentc.frontend.typed.loops import Loops
from tangentc.frontend.typed.meaning import MEANINGS
from tangentc.frontend.typed.methods import Methods
from tangentc.frontend.typed.sharing import Sharing
from tangentc.frontend.typed.written import IN_PLACE, WrittenInto

SUBJECT_FIRST = {ops.method, builtins.getattr}


def _subjects(s: Statement) -> tuple[Atom, ...]:
    """What a statement changes, asks or runs over, and the subscripts of what it asks: none of it can be None there."""
    match s:
        case Store():
            return (s.object,)
        case For():
            return (s.iterable,)
        case Assign(op=operator.getitem):
            return s.args
        case Assign() | Effect() if isinstance(s.op, ops.augmented) or s.op in SUBJECT_FIRST or s.op in IN_PLACE:
            return s.args[:1]
        case Assign() | Effect():
            return tuple(value for name, value in s.keywords if name == "out")
    return ()


def specialise(function: Function, types: Any, names: Any) -> Function:
    """The function with methods, augmented assignments and loops resolved by type.

    ``names`` makes fresh names.
    """
    return Specialise(function, types, names).run()


class Specialise(Augmented, Arrays, Methods, Containers, WrittenInto, Loops, Sharing):
    """Rewrites the statements of a function by the types of its values."""

    def __init__(self, function: Function, types: Any, names: Any):
        self.function, self.types, self.fresh = function, types, names
        self.aliases: Aliases | None = None
        self.definitions = definitions(function.body)
        self.same: dict[str, str] = {}
        self.narrowed: dict[str, str] = {}  # names for what is not None, of which others know that it may be

    def run(self) -> Function:
        body = transform(self.function.body, self.statement)
        body = substitute_block(body, self.resolved())
        result = self.function.result
        if isinstance(result, str):
            result = self.resolved().get(result, result)
        same = result == self.function.result
        return with_body(self.function if same else replace(self.function, result=result), body)

    def resolved(self) -> dict[str, str]:
        out = {}
        for name, target in self.same.items():
            while target in self.same:
                target = self.same[target]
            out[name] = target
        return out

    def statement(self, s: Statement) -> tuple[Statement, ...]:
        for subject in _subjects(s):
            if isinstance(subject, str) and isinstance(self.types.of(subject), Optional):
                known = self.given(subject, s)
                table: dict[str, Atom] = {subject: known.target}
                given = replace(s, iterable=known.target) if isinstance(s, For) else substitute(s, table)
                return (known, *self.statement(given))
        match s:
            case Store():
                return self.store(s)
            case For():
                return self.loop(s)
            case If() if not isinstance(self.types.of(s.test), (Scalar, Known)):  # it may be another one later
                test = self.fresh("%test")
                return Assign(test, builtins.bool, (s.test,), (), s.span), replace(s, test=test)
            case Assign() | Effect():
                return self.operation(s)
        return (s,)

    def operation(self, s: Assign | Effect) -> tuple[Statement, ...]:
        """What a call means."""
        if self.shuffles(s):
            return self.shuffled(s)
        if isinstance(s, Effect):
            meant = self.change(s)
        elif isinstance(s.op, ops.augmented):
            return self.augmented(s, s.op.op)
        else:
            meant = self.lists_as_arrays(s)
            meaning = MEANINGS.get(s.op) if meant is None else None
            meant = meaning(self, s) if meaning is not None else meant
        return self.written_into(s) if meant is None else meant

    def change(self, s: Effect) -> tuple[Statement, ...] | None:
        """What a call that is made for what it changes means."""
        if s.op is ops.method:
            return self.effect(s)
        if s.op is runtime.add_items:
            return self.add_items(s)
        return self.in_place(s, s.op, s.args, dict(s.keywords)) if s.op in IN_PLACE else None

    def given(self, x: str, s: Statement) -> Assign:
        """Another name for a value that is not None where a statement has it for its subject."""
        known = Assign(self.fresh(x), ops.identity, (x,), PRESENT, s.span)
        self.narrowed[known.target] = x
        self.types.of_name[known.target] = present(self.types.of(x))
        return known

    # ---------------------------------------------------------- x op= y
    # ---------------------------------------------------------- methods that change what they belong to
    # ---------------------------------------------------------- functions that change an array
    # ---------------------------------------------------------- methods
    # ---------------------------------------------------------- loops over what may be differentiated
