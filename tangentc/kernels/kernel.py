"""One loop, or a run of statements on arrays, as a function that is compiled: what it is given, what it does, and what
it gives."""

from __future__ import annotations

import builtins
import operator
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tangentc.analysis.program import Program
from tangentc.core import ops
from tangentc.core.nodes import (
    Assign,
    Atom,
    Block,
    Const,
    Effect,
    For,
    Function,
    Global,
    Param,
    Statement,
    Store,
    While,
)
from tangentc.core.types import Array, Known, Scalar, Tuple, Type, is_slice
from tangentc.core.walk import all_defines, all_reads, definitions, reads, statements, substitute, substitute_block
from tangentc.kernels.again import again
from tangentc.kernels.clears import cleared_later
from tangentc.kernels.contract import contracted
from tangentc.kernels.forwards import forwards
from tangentc.kernels.fuse import fused
from tangentc.kernels.gather import gathered
from tangentc.kernels.hoist import hoisted
from tangentc.kernels.interiors import with_interiors
from tangentc.kernels.language import is_array, is_number
from tangentc.kernels.nests import Nests
from tangentc.kernels.once import once
from tangentc.kernels.parts import with_named_rows
from tangentc.kernels.room import Room
from tangentc.kernels.rounding import may_round
from tangentc.kernels.routines import with_routines
from tangentc.kernels.rows import in_rows
from tangentc.kernels.saves import threaded
from tangentc.kernels.settled import saved_copies, settled
from tangentc.kernels.threads import is_shared, shared
from tangentc.kernels.tidy import plain, shown, with_fewer_signs, with_places_said, with_short_places, without_unread
from tangentc.kernels.turns import in_turns
from tangentc.kernels.within import with_sums_inside
from tangentc.kernels.words import ORDERS
from tangentc.kernels.writing import Into, NotSaid

if TYPE_CHECKING:
    from tangentc.kernels.outline import Outline

SAID_OUTSIDE = {
    np.empty, np.shape, operator.getitem, ops.make_tuple, builtins.max, builtins.min, operator.add, operator.sub,
    operator.mul, operator.floordiv,
}  # fmt: skip
LISTED = builtins.list, builtins.reversed  # of what a loop runs over
PLAIN, RELAXED, CHECKED, PARALLEL = "kernel", "relaxed_kernel", "checked_kernel", "parallel_kernel"


class Kernel:
    """One region of a program as a function."""

    def __init__(self, outline: Outline, region: Block, later: set[Atom], grows: bool = False):
        self.o, self.region, self.later, self.types = outline, region, set(later), outline.types
        self.clear = set(outline.clear) if isinstance(region[0], (For, While)) else set()
        self.before: list[Statement] = []  # what is done before it is called
        self.said: dict[object, Atom] = {}  # and under which names that is known
        self.span = region[0].span
        self.root = outline.memory.root
        self.nests = Nests(self.types, outline.fresh, self._root, outline.program.aliases.is_changed)
        self.nests.gives_back = self._gives_back
        self.nests.grows, self.nests.finished, self.nests.as_python = grows, outline.finished, outline.as_python
        self.nests.unchanged = outline.unchanged
        self.nests.irregular, self.nests.in_loop = outline.irregular, isinstance(region[0], (For, While))

    def _root(self, name: str) -> str:
        known = name in self.o.definitions or name in self.params
        return self.root(name) if known and name not in self.nests.apart else name

    def _gives_back(self, s: Assign) -> bool:
        aliases = self.o.program.aliases
        return s.target in self.o.definitions and bool(aliases.shares(s)) and aliases.is_changed(s.target)

    def calls(self) -> list[Statement]:
        body, arguments = self._given()
        params = list(arguments)
        self.params = set(params)
        self._refuse_shared(params)
        self.nests.know(params)
        lists = self.o.saved_in(self.region)
        pushes = {x.args[0] for x in statements(body) if isinstance(x, Effect) and x.op is ops.push}
        stacks: dict = {}
        for name in sorted(lists):
            if name in pushes:
                continue
            waiting = self.o.pushed.get(name)
            if not waiting:
                raise NotSaid("what it takes was saved elsewhere")
            stacks[name] = waiting.pop()
        self.nests.stacks = stacks
        self.nests.settled = settled(body, self.o.program.aliases)
        self.nests.pushes = pushes  # type: ignore[assignment]
        self.nests.copies = saved_copies(body, self.o.program.aliases)
        lowered = self.nests.block(body)
        head = tuple(self.nests.head)
        lowered, results, more, stacks_out = self._with_stacks(head, lowered, pushes, lists)
        outs, behind = self._handed_on(lowered)
        outs += results
        arguments += more
        lowered = self._simplified(lowered, outs)
        read = all_reads(lowered)
        arguments = [
            a
            for a in arguments
            if a in read or any(isinstance(x, Store) and x.object == a for x in statements(lowered))
        ]
        name = self.o.unique_name(self._name())
        result: Atom = Const(None) if not outs else outs[0]
        if len(outs) > 1:
            result = self.o.fresh("%outs")
            self.types.of_name[result] = Tuple(tuple(map(self.types.of, outs)))
            lowered = (*lowered, Assign(result, ops.make_tuple, tuple(outs), (), self.span))
        function = Function(name, tuple(Param(a) for a in arguments), shown(lowered), result, self.span, "")
        kernel = Program(function, self.types, self.types.of(result), False, self.o.program.source)
        kernel.decorator = self._decorator(lowered)
        self.o.kernels.append(kernel)
        for key, stack in stacks_out.items():
            self.o.pushed.setdefault(key, []).append(stack)
        return [*self.before, *self._call(name, arguments, outs, lowered), *behind]

    def _handed_on(self, lowered: Block) -> tuple[list[str], list[Statement]]:
        """What is used behind the region: what the kernel gives, and the statements that make the rest of that, as
        tuples of it and views."""
        written = all_defines(lowered)
        own = definitions(self.region)
        behind: dict[str, Statement] = {}
        while True:
            used = [n for n in sorted(all_defines(self.region)) if n in self.later and n not in behind]
            outs = [n for n in used if n in written and (is_number(self.types.of(n)) or is_array(self.types.of(n)))]
            if len(outs) == len(used):
                return outs, [s for s in self.region if any(s is b for b in behind.values())]
            for n in set(used) - {*outs}:
                made = own.get(n)
                if not isinstance(made, Assign) or not any(made is s for s in self.region):
                    raise NotSaid(f"{n} is used behind it")
                behind[n] = made
                self.later |= set(made.atoms)

    def _refuse_shared(self, params: list[str]) -> None:
        """Refuse two names for memory that is written into: what is written under one is read under the other."""
        written = {self._root(x.object) for x in statements(self.region) if isinstance(x, Store)}
        arrays = Counter(self._root(p) for p in params if is_array(self.types.of(p)))
        if any(arrays[root] > 1 for root in written):
            raise NotSaid("an array is written that has another name")

    def _name(self) -> str:
        base = self.o.program.function.name
        for tail in ("_value_and_grad", "_grad", "_jvp", "_primal", "_adjoint"):
            base = base.removesuffix(tail)
        what = "loop" if isinstance(self.region[0], (For, While)) else "fused"
        return f"{base}_{what}_adjoint" if self.span.sweep == "adjoint" else f"{base}_{what}"

    def _given(self) -> tuple[Block, list[str]]:
        """The region with what it needs of what is made before it, and the values that it is given."""
        body = self.region
        lists = self.o.saved_in(body)
        self.data: dict[str, Atom] = {}  # of the user's module, with the names that it is given under
        for a in dict.fromkeys(a for x in statements(body) for a in reads(x) if isinstance(a, Global)):
            name = self.o.fresh(a.name)
            self.types.of_name[name] = self.types.of(a)
            self.data[name] = a
        body = substitute_block(body, {a: name for name, a in self.data.items()})
        pulled: list[Statement] = []
        arguments: list[str] = []
        seen: set[str] = set()

        def need(name: str) -> None:
            if name in seen or name in lists:
                return
            seen.add(name)
            t = self.types.of(name)
            made = self.o.definitions.get(name)
            if isinstance(made, Assign) and self._is_view(made):
                for a in made.atoms:
                    if isinstance(a, str):
                        need(a)
                pulled.append(made)
                return
            if is_number(t) or is_array(t):
                arguments.append(name)
                return
            if name in self.o.lists:
                pulled.append(made)  # type: ignore[arg-type]
                return
            if isinstance(made, Assign) and any(isinstance(a, Global) for a in made.atoms):
                raise NotSaid("data of the module")
            is_list = (
                isinstance(made, Assign) and made.op is ops.make_list and not self.o.program.aliases.is_changed(name)
            )
            if not isinstance(made, Assign) or not (isinstance(t, (Known, Tuple)) or made.op in LISTED or is_list):
                raise NotSaid(f"{name} is no number and no array")
            for a in made.atoms:
                if isinstance(a, str):
                    need(a)
            pulled.append(made)

        objects = {x.object for x in statements(body) if isinstance(x, Store)} - all_defines(body)
        for name in (*sorted(all_reads(body) - all_defines(body)), *sorted(objects)):
            try:
                need(name)
            except NotSaid as reason:
                reason.statement = next(s for s in body if name in (*all_reads((s,)), getattr(s, "object", None)))
                raise
        return (*pulled, *body), sorted(arguments, key=self._place)

    def _is_view(self, s: Assign) -> bool:
        """Whether this is a part of an array that is said in subscripts."""
        if not all(isinstance(a, str) and is_array(self.types.of(a)) for a in (s.target, *s.args[:1])):
            return False
        if s.op is operator.getitem:
            key = self.types.of(s.args[1])
            items = key.items if isinstance(key, Tuple) and key.cls is None else (key,)
            return all(is_slice(t) or isinstance(t, Known) for t in items)
        return s.op in ORDERS and all(isinstance(a, Const) for a in (*s.args[1:], *(a for _, a in s.keywords)))

    def _place(self, name: str) -> tuple[bool, bool, int, str]:
        """Arrays that change come first, then arrays, then numbers, as they are met in the function."""
        t = self.types.of(name)
        changed = any(isinstance(x, Store) and x.object == name for x in statements(self.region))
        return not changed, not isinstance(t, Array), self.o.met.get(name, len(self.o.met)), name

    # ---------------------------------------------------------- what is saved
    def _with_stacks(self, head: Block, body: Block, pushes: set, lists: set[str]) -> tuple:
        """The body with the arrays that it saves into; gives also what it returns of them, and is given."""
        now: dict[str, Atom] = {}
        results: list[str] = []
        more: list[str] = []
        made: list[Statement] = []
        out: dict[str, dict] = {}
        room = Room(self.nests, body)
        for name, by_class in self.nests.stacks.items():
            for key, stack in by_class.items():
                if stack.trips and name in pushes:
                    makes: list[Statement] = []
                    with Into(self.nests, makes):
                        self.nests.make_room(stack)
                    outside = self._outside((*head, *made, *makes), stack.array)
                    made += makes if outside is None else ()
                    self.before += outside or ()
                    (results if outside is None else more).append(stack.array)
                    out.setdefault(name, {})[key] = stack
                elif stack.trips:
                    more.append(stack.array)
                elif name in pushes:
                    now[stack.top] = Const(0)
                    made += room.statements(stack)
                    if self.nests.grows:
                        now[stack.array] = stack.array
                    out.setdefault(name, {})
                else:
                    now[stack.top] = stack.given
                    more += [a for a in (stack.array, stack.given) if isinstance(a, str)]
        body, end = threaded(body, now, self.types, self.o.fresh)
        for name, by_class in self.nests.stacks.items():
            if name not in pushes:
                continue
            for key, stack in by_class.items():
                if stack.trips:
                    continue
                at = end[stack.top]
                stack.given, stack.array = at, str(end.get(stack.array, stack.array))
                results += [a for a in (stack.array, at) if isinstance(a, str)]
                out[name][key] = stack
        return (*head, *made, *body), results, more, out

    def _outside(self, block: Block, array: str) -> list[Statement] | None:
        """What makes room for an array before the kernel is called: NumPy asks the system for large pages.  None where
        the kernel alone knows how much."""
        needed: set[Atom] = {array}
        found: list[Assign] = []
        for s in reversed(block):
            if not isinstance(s, Assign) or s.target not in needed:
                continue
            if s.op not in SAID_OUTSIDE or s.op is operator.getitem and s.args[0] in self.params:
                return None
            needed |= {a for a in s.atoms if isinstance(a, str) and a not in self.params}
            found.insert(0, s)
        if needed - {s.target for s in found}:
            return None
        return self._once(found, array)

    def _once(self, found: list[Assign], array: str) -> list[Statement]:
        """Statements before the call, but for those that are there; with names of their own, but for the array."""
        names: dict[Any, Atom] = dict(self.data)
        out: list[Statement] = []
        for s in found:
            new = substitute(s, names)
            assert isinstance(new, Assign)
            key = new.op, new.args, new.keywords
            if s.target == array:
                out.append(new)
            elif key in self.said:
                names[s.target] = self.said[key]
            else:
                names[s.target] = self.said[key] = name = self.o.fresh(s.target)
                self.types.of_name[name] = self.types.of(s.target)
                out.append(replace(new, target=name))
        return out

    # ---------------------------------------------------------- the loops
    def _simplified(self, body: Block, outs: Sequence[str]) -> Block:
        kept: set[Atom] = {*outs, *self.nests.own}
        body = plain(body, set(outs))
        body = cleared_later(body, self.types, self.o.fresh, self._root, self.clear)
        body = in_turns(body, self.types, self.o.fresh, self._root, self._lengths)
        body = again(body, self.types, self.o.fresh, self._root, kept)
        body = plain(body, set(outs))
        body = gathered(body, self.types, self.o.fresh, self._root, self.nests.said)
        body = forwards(body, self.types, self._root)
        body = fused(body, self.types, self._root)
        body = plain(contracted(body, self.types, self.o.fresh, {*outs}), set(outs))
        body = once(body, self.types, self.o.fresh, self._root, kept)
        body = plain(in_rows(body, self.types, kept), set(outs))
        body = with_sums_inside(body, self.types, self.o.fresh, self._root)
        body = with_interiors(body, self.types, self.o.fresh, self._root)
        body = plain(with_short_places(body, self.types), set(outs))
        if self.o.threads > 1 and not self.nests.is_checked:
            body = shared(body, self.types, self.o.fresh, self._root, self.o.threads)
        body = hoisted(body, self.types, {*outs})
        body = with_named_rows(body, self.types, self.o.fresh, self.nests.own)
        body = plain(with_fewer_signs(body, self.types, self.o.fresh), set(outs))
        body = with_places_said(body, self.types, self.o.fresh)
        body = without_unread(body, set(outs), lambda op: ops.is_pure(op) and op is not ops.pop)
        return with_routines(body, self.types, self._root, self.nests.is_checked)

    def _lengths(self, name: str) -> tuple[Atom, ...]:
        """The lengths of an array that the kernel is given."""
        return self.nests.lengths(name) if name in self.params and is_array(self.types.of(name)) else ()

    def _decorator(self, body: Block) -> str:
        made = definitions(body)
        if self.nests.is_checked:
            return CHECKED
        if any(isinstance(x, For) and is_shared(x, made.get(str(x.iterable))) for x in statements(body)):
            return PARALLEL
        return RELAXED if may_round(body, self.types) else PLAIN

    def _call(self, name: str, arguments: list[str], outs: list[str], body: Block) -> list[Statement]:
        changed = {x.object for x in statements(body) if isinstance(x, Store)}
        places = tuple(k for k, a in enumerate(arguments) if a in changed)
        result = (
            Tuple(tuple(map(self.types.of, outs)))
            if len(outs) > 1
            else self.types.of(outs[0])
            if outs
            else Known(Const(None))
        )
        op = ops.Emitted(name, False, result, True, places)
        span = self.span
        given = tuple(self.data.get(a, a) for a in arguments)
        if not outs:
            return [Effect(op, given, (), span)]
        if len(outs) == 1:
            name, after = self._as_numpy(outs[0], result, True)
            return [Assign(name, op, given, (), span), *after]
        whole = self.o.fresh("%loop")
        self.types.of_name[whole] = result
        parts: list[Statement] = []
        converted: list[Statement] = []
        for k, n in enumerate(outs):
            name, after = self._as_numpy(n, self.types.of(n))
            parts.append(Assign(name, operator.getitem, (whole, Const(k)), (), span))
            converted += after
        return [Assign(whole, op, given, (), span), *parts, *converted]

    def _as_numpy(self, name: str, t: Type, single: bool = False) -> tuple[str, list[Statement]]:
        """Under which name a value is given, and what makes a number of NumPy's of it where it is to be one: Numba
        gives numbers of Python."""
        if not isinstance(t, Scalar) or t.weak:
            return name, []
        given = self.o.fresh("%number" if single or name.startswith("%") else name)
        self.types.of_name[given] = replace(t, weak=True)
        return given, [Assign(name, np.dtype(t.dtype).type, (given,), (), self.span)]
