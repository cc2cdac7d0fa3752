"""Reverse mode: from a function to its primal sweep and its adjoint sweep.

    y = op(x, ...)      x_bar += partial * y_bar, for each active x
    A[i] = e            A[i] restored; e_bar += A_bar[i]; A_bar[i] = 0
    A[i] += e           A[i] restored; e_bar += A_bar[i]
    if test:            the same test; the branches' adjoints
    for i in range(n):  the reversed range; adjoints of carried names cross its trips

The adjoint sweep may name any value of the primal sweep.  At the boundary of a loop's body
`transform.link` saves or recomputes what it names.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from tangentc import runtime
from tangentc.analysis.aliases import COPIES_MAYBE, Aliases
from tangentc.analysis.attributes import first_stores, later_stores
from tangentc.analysis.masks import CHOICES, NONZERO, TRIANGLES, Places, Several, Test, is_finite, tests_of
from tangentc.analysis.paths import WHOLE, Paths, word_for
from tangentc.core import ops
from tangentc.core.build import Builder, is_number, is_sure, shape_of
from tangentc.core.naming import shown
from tangentc.core.nodes import (
    Assign,
    Atom,
    Block,
    Const,
    Effect,
    For,
    Function,
    Global,
    If,
    Op,
    Opaque,
    Statement,
    Store,
    While,
)
from tangentc.core.splice import as_given
from tangentc.core.types import Array, Scalar, Tuple, Type, Unknown, components, is_container, may_be_number, rank
from tangentc.core.walk import statements
from tangentc.derive.adjoints import Adjoints, begun, is_full
from tangentc.derive.calls import Call, adjoints, covering, missing, partials, unruled
from tangentc.derive.control import Control
from tangentc.derive.demand import adjoint_at, as_tree, covers, part_at
from tangentc.derive.mirror import Mirror
from tangentc.derive.parts import Adjoint, Like, bar_name
from tangentc.derive.shadows import copies
from tangentc.derive.stores import Stores
from tangentc.derive.structure import Structure
from tangentc.ops.table import every, known_of

if TYPE_CHECKING:
    from tangentc.analysis.masks import Mask
    from tangentc.derive.assemble import Unit

PUT_TOGETHER = every("puts_together")
UNIFORM = every("uniform")
EXACT = every("exact_adjoint")  # its adjoints, whose lengths follow from the operation


@dataclass(frozen=True)
class Sweeps:
    """A function's primal sweep and its adjoint sweep, in one naming."""

    primal: Block
    adjoint: list[Statement]
    adjoints: Adjoints
    builder: Builder
    lists: tuple[str, ...]
    params: set[str]
    given: set[Atom] = field(default_factory=set)  # the arrays that are returned already


def reverse(
    function: Function, seed: dict[str, Adjoint], builder: Builder, aliases: Aliases, active: set[str], context: Unit
) -> Sweeps:
    """Both sweeps of ``function``; ``seed`` gives the adjoint of its result."""
    writer = _Reverse(function, builder, aliases, active, context)
    for name, adjoint in seed.items():
        writer.adj.add(name, adjoint)
    primal = writer.block(function.body)
    head = tuple(Assign(name, ops.new_list, ()) for name in writer.lists)
    for name in writer.lists:
        builder.types.of_name[name] = Unknown("a list of saved values")
    params = {p.name for p in function.params}
    return Sweeps(head + primal, builder.out, writer.adj, builder, tuple(writer.lists), params)


class _Reverse(Structure, Stores, Control):
    def __init__(self, function: Function, builder: Builder, aliases: Aliases, active: set[str], context: Unit):
        self.b, self.active, self.context, self.memory = builder, active, context, aliases
        self.function = function
        self.aliases = moving = context.activity.moving
        like: Like = {}
        for p in function.params:
            _collect_like(builder.type(p.name), p.name, (), like)
        self.adj = Adjoints(builder, moving, active, like)
        self.adj.at_hand = context.at_hand | self._parts_of_parameters()
        for s in statements(function.body):
            merged = s.merged if isinstance(s, If) else ()
            self.adj.partly.update(m.name for m in merged if Const(ops.UNDEFINED) in (m.then, m.orelse))
        self.adj.begun = begun(function, active, builder.type)
        for p in function.params:
            t = builder.type(p.name)
            if isinstance(t, Array) and is_sure(t.shape) and not aliases.is_changed(p.name):
                builder.shapes.setdefault(t.shape, p.name)
        self.first, self.later = first_stores(function.body), later_stores(function.body)
        self.lists: list[str] = []
        self.depth, self.limit = 0, context.limit
        self.unbounded, self.definitions = context.unbounded, context.definitions
        self.given = {p.name for p in context.program.function.params}
        self.mirror = Mirror(builder, moving, active, function)
        self.adj.mirror = self.mirror.of
        self.adj.shadow_names.update(self.mirror.of.values())
        builder.may_change = lambda name: aliases.is_changed(name) or name in self.adj.shadow_names
        builder.is_view = self._is_view
        builder.primal = {n: s for n, s in self.definitions.items() if isinstance(s, Assign)}

    def _parts_of_parameters(self) -> set[str]:
        """What is read out of the containers that a function is given, which nothing changes."""
        found = {p.name for p in self.function.params}
        for s in statements(self.function.body):
            if not isinstance(s, Assign) or s.op not in (operator.getitem, builtins.getattr):
                continue
            x, key = s.args[:2]
            constant = isinstance(key, Const) and not isinstance(key.value, slice)
            if x in found and constant and is_container(self.b.type(x)) and not self.memory.is_changed(str(x)):
                found.add(s.target)
        return found - {p.name for p in self.function.params}

    def _is_view(self, op: Op, args: tuple[Atom, ...]) -> bool:
        """Whether an operation gives the same memory again each time."""
        if op is not operator.getitem or not isinstance(self.b.type(args[0]), Array):
            return False
        return self.aliases.is_basic(args[1]) and isinstance(self.b.types.result(op, args), Array)

    def block(self, block: Block) -> Block:
        """Write the adjoint of a block, last statement first; gives the block with what it must save."""
        self.b.around.append({s.target for s in block if isinstance(s, Assign)})
        out: list[Statement] = []
        for s in reversed(block):
            self.b.span = s.span.within("adjoint")
            match s:
                case Assign():
                    out.extend(reversed(self.assign(s)))
                case Store():
                    out.extend(reversed(self.store(s)))
                case If():
                    out.extend(reversed(self.branch(s)))
                case For() | While():
                    out.extend(reversed(self.loop(s)))
                case Effect():
                    out.extend(reversed(self.effect(s)))
                case _:
                    out.append(s)
        self.b.around.pop()
        return tuple(reversed(out))

    # ---------------------------------------------------------- assignments
    def assign(self, s: Assign) -> tuple[Statement, ...]:
        y = s.target
        if self.context.is_user_call(s.op):
            return self.call(s)
        if s.op is ops.take:
            return self.take(s)
        mirrored = self.mirror.assign(s)
        if y not in self.active:
            return (s, *mirrored)
        if s.op is ops.inserted:
            self._insert(s)
            return (s, *mirrored)
        if self._is_another_name(s):
            if s.op in COPIES_MAYBE and isinstance(s.args[0], str):
                shadows = self.adj.shadow_of(s.args[0]), self.adj.shadow_of(y)
                if None not in shadows:
                    given = dict(s.keywords) | dict(
                        zip(("shape", "order")[s.op is np.ravel :], s.args[1:], strict=False)
                    )
                    order = (("order", given["order"]),) if "order" in given else ()
                    self.b.effect(runtime.add_if_copied, shadows, order)  # type: ignore[arg-type]
            return (s, *mirrored)
        if not self.adj.has(y):
            return (s, *mirrored)
        if not any(a in self.active for a in s.atoms):
            self.adj.forget(y)
            return (s, *mirrored)
        adjoint = self.adj.take(y)
        if not self._structure(s, adjoint):
            self._rule(s, self.adj.whole(adjoint, y))
        return (s, *mirrored)

    def _insert(self, s: Assign) -> None:
        """``with insert_grad_of(x) as x_bar``: the block, which may replace the adjoint."""
        x, block = s.args[0], s.args[1].value
        y, t = s.target, self.b.type(s.target)
        if is_container(t):
            raise missing(s, "it is a container", "insert the gradient of one of its arrays")
        changes = self.aliases.is_changed(y) or y in self.adj.mirror
        bar: Atom | None
        if changes:
            self.adj.ensure_shadow(y)
            bar = self.adj.shadow_of(y)
        else:
            bar = self.adj.take_whole(y)
        bar = self.adj.zero(y) if bar is None else self.adj.full(bar, y)
        if not self.context.context.inner:  # where it is differentiated again, the block has had its say
            given = self.b.emit(np.copy, (bar,)) if isinstance(t, Array) else bar
            names = {name: self.b.fresh(bar_name(shown(y)) if name == block.bar else name) for name in block.assigned}
            for name, new in names.items():
                self.b.types.of_name[new] = t if name == block.bar else Unknown("a block gives it")
            reads = ((f"{block.bar} before", given), *block.constants, *s.keywords)
            self.b.out.append(Opaque(block.tree, block.text, reads, tuple(names.items()), self.b.span))
            if changes:
                self.b.store(bar, Const(...), names[block.bar])  # type: ignore[arg-type]
            bar = names[block.bar]
        if not changes:
            self.adj.add(x, bar)

    def _is_another_name(self, s: Assign) -> bool:
        """Whether a statement gives a view of something that is changed, whose adjoint is a view of the shadow."""
        y = s.target
        if y in self.adj.mirror:
            if self.mirror.copies_numbers(s):
                return False
            return any(a in self.adj.mirror for a in self.aliases.shares(s)) and s.op not in PUT_TOGETHER
        if not self.aliases.is_changed(y):
            return False
        if is_container(self.b.type(y)):
            return y not in self.aliases.points.of.get(y, {y})
        if s.op is np.lib.stride_tricks.sliding_window_view:  # an entry of which lies in several windows
            return False
        return self.adj.shadow_key(y) != y and self.aliases.is_view(y)

    def _rule(self, s: Assign, y_bar: Atom) -> None:
        rule = self.context.rule(s.op)
        if rule is None:
            active = next(a for a in s.atoms if a in self.active)
            raise unruled(self.b, s, shown(active))
        if rule.kind == "zero":
            return
        call = covering(self.b, s, rule, self.active.__contains__)
        if rule.kind == "elementwise":
            self._elementwise(s, call, y_bar)
        else:
            self._general(s, call, y_bar)

    def _elementwise(self, s: Assign, call: Call, y_bar: Atom) -> None:
        mask = self.context.mask(s.target) if self._may_be_infinite(s, call) else None
        with self.b.one_moment():
            total = self._contributions(s, call, y_bar, mask)
        for x, contribution in total.items():
            self.adj.add(x, contribution)

    def _contributions(self, s: Assign, call: Call, y_bar: Atom, mask: Mask | None) -> dict[Atom, Atom]:
        total: dict[Atom, Atom] = {}
        for k, (_, x) in enumerate(call.inputs):
            if not isinstance(x, str) or x not in self.active:
                continue
            partial = partials(self.b, call, s.target, [k])[k]
            if partial is None or is_number(partial, 0):
                continue
            bar = y_bar
            one_for_all = mask is not None and rank(self.b.type(partial)) != rank(self.b.type(s.target))
            whole = self._is_as_large(x, s.target) or self._is_as_large(partial, s.target)
            if one_for_all or isinstance(self.b.type(x), Unknown) or not whole:
                bar = self.adj.full(y_bar, s.target)
            if mask in (None, NONZERO) and self.b.chosen_zero(partial):  # also where the adjoint is infinite
                contribution = self.b.product_of_chosen(partial, bar)
            elif mask is None or self._is_bounded(partial):
                contribution = self.b.mul(bar, partial)
            else:
                contribution = self._under(self._tested(mask, s.target), bar, partial)
            total[x] = contribution if x not in total else self.b.add(total[x], contribution)
        return total

    def _is_as_large(self, x: Atom, y: Atom) -> bool:
        """Whether a value that broadcasts to another has an entry for each of its entries."""
        mine, its = self.b.type(x), self.b.type(y)
        wanted = shape_of(its)
        if self.b.same_shape(x, y) or wanted is None or may_be_number(mine) or may_be_number(its):
            return self.b.same_shape(x, y)
        return is_full(shape_of(mine), wanted)

    def _is_bounded(self, partial: Atom) -> bool:
        """Whether a partial is a number wherever the arguments are."""
        if isinstance(partial, Const):
            return is_finite(partial.value)
        return (partial in self.definitions or partial in self.given) and partial not in self.unbounded.values

    def _may_be_infinite(self, s: Assign, call: Call) -> bool:
        """Whether a partial may be infinite, or no number, where the mask leaves its value out."""
        if s.target in self.unbounded.partials or any(a in self.unbounded.values for a in (s.target, *s.atoms)):
            return True
        mask = self.context.masks.get(s.target)
        tests = () if mask is None else tests_of(mask)
        return any((isinstance(t, Global) or t in self.given) and isinstance(self.b.type(t), Array) for t in tests)

    def _tested(self, mask: Mask, y: Atom) -> tuple[Atom, bool]:
        """A mask as a test and one of its arms."""
        if isinstance(mask, Places):
            return self.b.emit(runtime.marks, (y, *mask.keys)), mask.taken
        if isinstance(mask, Test):
            x, *others = mask.args
            if mask.op in TRIANGLES:
                x = self.b.emit(np.ones_like, (y,), (("dtype", Const(bool)),))
            return self.b.emit(mask.op, (x, *others)), mask.arm
        if not isinstance(mask, Several):
            return mask
        test = self._flag(*self._tested(mask.masks[0], y))
        for part in mask.masks[1:]:
            one = self._flag(*self._tested(part, y))
            test = self.b.emit(operator.and_ if mask.all else operator.or_, (test, one))
        return test, True

    def _flag(self, test: Atom, taken: bool) -> Atom:
        """A test, or its opposite, as flags that `&` and `|` put together: ``if k & 2`` asks a number."""
        t = self.b.type(test)
        by_entry = isinstance(t, Array) or type(t) is Unknown
        if not taken:
            return self.b.emit(np.logical_not if by_entry else operator.not_, (test,))
        if getattr(t, "dtype", "") == "bool":
            return test
        return self.b.emit(operator.ne, (test, Const(0))) if by_entry else self.b.emit(builtins.bool, (test,))

    def _under(self, mask: tuple[Atom, bool], bar: Atom, partial: Atom) -> Atom:
        """``bar * partial`` where it matters, and zero elsewhere."""
        if mask is NONZERO:
            return self.b.emit(runtime.taken, (bar, partial))
        test, taken = mask
        chosen = self.b.definition(bar)
        is_choice = chosen is not None and chosen.op in CHOICES
        if chosen is not None and is_choice and not self.b.mutable(bar) and chosen.args[0] == test:
            if is_number(chosen.args[2 if taken else 1], 0):
                bar = chosen.args[1 if taken else 2]  # it is chosen once more
        contribution = self.b.mul(bar, partial)
        return self.b.choose(test, *((contribution, Const(0.0)) if taken else (Const(0.0), contribution)))

    def _general(self, s: Assign, call: Call, y_bar: Atom) -> None:
        if s.op not in UNIFORM or not isinstance(self.b.type(y_bar), Scalar):
            y_bar = self.adj.full(y_bar, s.target)
        y: Atom = s.target
        mask = self.context.mask(s.target) if call.rule.singular else None
        if mask is not None:  # a harmless value where it does not matter
            if mask is NONZERO:
                none = self.b.emit(operator.and_, tuple(self.b.emit(operator.eq, (a, Const(0))) for a in (y, y_bar)))
                mask = none, False
            mask = self._tested(mask, y)
            y = self.b.choose(mask[0], *((y, Const(1.0)) if mask[1] else (Const(1.0), y)))
        for k, (_, atom) in enumerate(call.inputs):
            atoms = atom if isinstance(atom, list) else [atom]
            if not any(isinstance(a, str) and a in self.active for a in atoms):
                continue
            result = adjoints(self.b, call, y, y_bar, k)
            if isinstance(atom, list):
                for a, contribution in zip(atom, result, strict=True):
                    self.adj.add(a, contribution)
            elif result is not None:
                self._take_shape(s, atom, result)
                self.adj.add(atom, result)

    def _take_shape(self, s: Assign, x: Atom, x_bar: Atom) -> None:
        """Lengths that only the run knows are the same where the operation makes them so."""
        if s.op not in EXACT or not isinstance(x_bar, str):
            return
        t, given, *others = map(self.b.type, (x, x_bar, *s.args, s.target))
        alone = known_of(s.op).view or s.op is np.tensordot  # of others arrays of more axes may be broadcast
        exact = alone or all(len(a.shape) <= 2 for a in others if isinstance(a, Array))
        if exact and isinstance(t, Array) and isinstance(given, Array) and len(t.shape) == len(given.shape):
            self.b.types.of_name[x_bar] = replace(given, shape=t.shape)

    # ---------------------------------------------------------- calls of user functions
    def call(self, s: Assign) -> tuple[Statement, ...]:
        y = s.target
        if y not in self.active or not self.adj.has(y):
            return (s, *self.mirror.assign(s))
        if not any(a in self.active for a in s.atoms):  # an array that is filled later
            self.adj.take(y)
            return (s, *self.mirror.assign(s))
        pair = self.context.pair(s, self.active, self.depth > 0)
        if pair is None:
            self.adj.take(y)
            return (s, *self.mirror.assign(s))
        bars = self._asked(y, pair.asked)
        out: list[Statement] = []
        args: list[Atom] = []
        for atom in pair.arguments:
            if isinstance(atom, str) and self.memory.is_changed(atom):
                copy = self.b.fresh(f"%{shown(atom)}")
                self.b.types.of_name[copy] = self.b.type(atom)
                out.append(Assign(copy, copies(self.b.type(atom)), (atom,), (), s.span))
                atom = copy
            args.append(atom)
        given = tuple(args)
        if pair.saved_name is None:
            out.append(Assign(y, pair.primal, *as_given(s.op.function, given), s.span))  # type: ignore[attr-defined]
            out.extend(self.mirror.assign(s))
        else:
            both = self.b.fresh("%both")
            saved = self.b.fresh(f"%{pair.saved_name}")
            self.b.types.of_name[both] = Tuple((self.b.type(y), Unknown("what a primal saves")))
            self.b.types.of_name[saved] = Unknown("what a primal saves")
            out.append(Assign(both, pair.primal, given, (), s.span))
            out.append(Assign(y, operator.getitem, (both, Const(0)), (), s.span))
            out.extend(self.mirror.assign(s))
            out.append(Assign(saved, operator.getitem, (both, Const(1)), (), s.span))
            given = (saved,)
        self.b.span = s.span.within("adjoint")
        result = self.b.emit(pair.adjoint, (*given, *bars), name="%adjoints")
        if len(pair.given) == 1:
            self.b.named.discard(result)  # a trip may hand it on as what it is
        for k, (atom, path) in enumerate(pair.given):
            bar = result
            if len(pair.given) > 1:
                name = bar_name(word_for(shown(atom) if path else str(atom), self.b.type(atom), path))
                bar = self.b.emit(operator.getitem, (result, Const(k)), name=name)
            self.adj.add(atom, as_tree((path,), [bar]))
        return tuple(out)

    def _asked(self, y: str, paths: Paths) -> list[Atom]:
        """The adjoints of the parts of what a call gives, each in its shape."""
        adjoint = self.adj.take(y)
        if y in self.adj.mirror and is_container(self.b.type(y)):  # of parts that may be one, each would be added
            adjoint = self.b.emit(runtime.once, (self.adj.whole(adjoint, y),))
        covers(adjoint, paths)
        if paths == WHOLE:
            return [self.adj.full(self.adj.whole(adjoint, y), y)]
        parts = [(adjoint_at(self.b, adjoint, path), part_at(self.b, y, path)) for path in paths]
        return [self.adj.full(self.adj.whole(bar, x), x) for bar, x in parts]


def _collect_like(t: Type, param: str, path: tuple[Hashable, ...], like: Like) -> None:
    """Note where a parameter, or a part of one, has an array of each type."""
    if isinstance(t, Array):
        like.setdefault(t, (param, path) if path else param)
    elif is_container(t):
        for key, part in components(t):
            _collect_like(part, param, (*path, key), like)
