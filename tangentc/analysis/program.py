"""A function in core form, with the facts about it."""

from __future__ import annotations

import dataclasses
import functools
import types as pytypes
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from tangentc.analysis.aliases import Aliases, changes_argument
from tangentc.analysis.outside import is_outside
from tangentc.analysis.types import Types
from tangentc.core import ops
from tangentc.core.nodes import Assign, Effect, Function, Op, Opaque, Statement, Store
from tangentc.core.types import Type, is_generator
from tangentc.core.walk import changed_by, statements
from tangentc.ops.table import known_of


@dataclass
class Program:
    """A function in core form with the facts about it.

    ``pure`` says that calling it has no effect but its result; ``changes`` names the parameters that the
    user's function changes in place, ``writes`` those in whose arrays it writes, ``gives_changed`` whether its result
    may be memory of one of them, and ``gives_iterator`` whether it can be run over once.
    """

    function: Function
    types: Types
    result: Type
    pure: bool
    source: pytypes.FunctionType
    changes: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    gives_iterator: bool = False
    gives_changed: bool = False
    decorator: str = ""  # of the emitted function: what compiles it
    device: ops.DeviceText | None = None  # what is emitted in place of the function, a kernel of the device

    @functools.cached_property
    def aliases(self) -> Aliases:
        """What may share memory, found out when it is first asked for."""
        return Aliases(self.function, self.types, call_aliases)

    def copied(self) -> Program:
        """The same program, to be added to where others add to it too."""
        new = dataclasses.replace(self, types=self.types.copied())
        new.aliases = self.aliases.among(new.types)
        return new

    def keep_changes_of(self, before: Program) -> None:
        """Take over what the user's function changes from a program that computes the same."""
        self.changes, self.writes, self.gives_changed = before.changes, before.writes, before.gives_changed

    def keep_memory_of(self, before: Program) -> None:
        """Take over what is known of the memory of names from a program that has these names and more."""
        if "aliases" in vars(before):
            self.aliases = before.aliases


@dataclass(frozen=True)
class Pass:
    """One step: its name, what it does in one line, the step itself, and whether it leaves the types as they are, and
    what may share memory with what; ``last`` says that it is for the text alone, not where that is differentiated, and
    ``numpy`` that it is for NumPy's code, and nothing for compiled loops; ``compiled`` that it is for these."""

    name: str
    does: str
    run: Callable[[Program], Function]
    keeps_types: bool = False
    keeps_memory: bool = True
    last: bool = False
    numpy: bool = False
    compiled: bool = False


def call_aliases(op: Op) -> bool | None:
    if isinstance(op, ops.UserFunction):
        return op.aliases
    return op.aliases if isinstance(op, ops.Emitted) else None


def has_effect(s: Statement, definitions: Mapping[str, Statement]) -> bool:
    """Whether a statement, those inside it left out, does something that is seen outside of its function, or that is
    another thing each time; ``definitions`` are those of the function."""
    if isinstance(s, Opaque):
        return not s.writes
    if isinstance(s, Store):
        return is_outside(s.object, definitions)
    if not isinstance(s, (Assign, Effect)) or ops.is_pure(s.op) or s.op in (ops.new_object, ops.new_list):
        return False
    changed = changed_by(s)
    if changed is not None and (s.op in ops.CHANGES or s.op == np.add.at or changes_argument(s.op)):
        return is_outside(changed, definitions)
    return not known_of(s.op).only_settings


def draws(program: Program) -> bool:
    """Whether running a function may draw random numbers."""

    def draws_here(s: Statement) -> bool:
        if not isinstance(s, (Assign, Effect)):
            return isinstance(s, Opaque)
        roots = ops.module_root(s.op), getattr(s.op, "__module__", None) or ""
        return roots[0] == "random" or "random" in roots[1] or any(is_generator(program.types.of(a)) for a in s.atoms)

    return any(map(draws_here, statements(program.function.body)))
