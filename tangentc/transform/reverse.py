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
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tangentc.analysis.aliases import Aliases, changes_argument
from tangentc.core import ops
from tangentc.core.build import Builder, is_sure
from tangentc.core.nodes import (
    Assign,
    Atom,
    Block,
    Carry,
    Const,
    Effect,
    For,
    Function,
    Global,
    If,
    Leave,
    Merge,
    Span,
    Statement,
    Store,
    While,
)
from tangentc.core.types import (
    Array,
    Known,
    Scalar,
    Struct,
    Tuple,
    Type,
    Unknown,
    components,
    is_container,
    is_differentiable,
)
from tangentc.core.walk import all_defines, all_reads, defines, statements, substitute_block
from tangentc.errors import UnsafeMutation, UnsupportedSyntax
from tangentc.simplify.dead import remove_dead
from tangentc.transform.adjoints import Adjoint, Adjoints, bar_name, is_long, leaves
from tangentc.transform.calls import adjoints, bind, check_domain, missing, partials
from tangentc.transform.link import Region

DISTINCT = {np.triu_indices, np.tril_indices, np.diag_indices, np.nonzero, np.triu_indices_from, np.tril_indices_from}


@dataclass(frozen=True)
class Sweeps:
    """A function's primal sweep and its adjoint sweep, in one naming."""

    primal: Block
    adjoint: list[Statement]
    adjoints: Adjoints
    builder: Builder
    lists: tuple[str, ...]
    given: set[Atom] = field(default_factory=set)  # the arrays that are returned already


def reverse(
    function: Function, seed: dict[str, Adjoint], builder: Builder, aliases: Aliases, active: set[str], context: Any
) -> Sweeps:
    """Both sweeps of ``function``; ``seed`` gives the adjoint of its result."""
    writer = _Reverse(function, builder, aliases, active, context)
    for name, adjoint in seed.items():
        writer.adj.add(name, adjoint)
    primal = writer.block(function.body)
    head = tuple(Assign(name, ops.new_list, ()) for name in writer.lists)
    for name in writer.lists:
        builder.types.of_name[name] = Unknown("a list of saved values")
    return Sweeps(head + primal, builder.out, writer.adj, builder, tuple(writer.lists))


class _Reverse:
    def __init__(self, function: Function, builder: Builder, aliases: Aliases, active: set[str], context: Any):
        self.b, self.aliases, self.active, self.context = builder, aliases, active, context
        like: dict[Type, Any] = {}
        for p in function.params:
            _collect_like(builder.type(p.name), p.name, (), like)
        self.adj = Adjoints(builder, aliases, active, like)
        for p in function.params:
            t = builder.type(p.name)
            if isinstance(t, Array) and is_sure(t.shape) and not aliases.is_changed(p.name):
                builder.shapes.setdefault(t.shape, p.name)
        self.lists: list[str] = []
        self.depth = 0
        self.masks = context.masks
        builder.may_change = lambda name: aliases.is_changed(name) or name in self.adj.shadow_names
        builder.is_view = self._is_view
        builder.primal = {n: s for n, s in context.definitions.items() if isinstance(s, Assign)}

    def _is_view(self, op: Any, args: tuple[Atom, ...]) -> bool:
        """Whether an operation gives the same memory again each time."""
        if (
            op is not operator.getitem
            or not isinstance(self.b.type(args[0]), Array)
            or not self.aliases.is_basic(args[1])
        ):
            return False
        return isinstance(self.b.types.result(op, args), Array)

    def block(self, block: Block) -> Block:
        """Write the adjoint of a block, last statement first; gives the block with what it must save."""
        out: list[Statement] = []
        for s in reversed(block):
            self.b.span = s.span
            match s:
                case Assign():
                    out.extend(reversed(self.assign(s)))
                case Store():
                    out.extend(reversed(self.store(s)))
                case If():
                    out.append(self.branch(s))
                case For() | While():
                    out.extend(reversed(self.loop(s)))
                case Effect():
                    out.extend(reversed(self.effect(s)))
                case _:
                    out.append(s)
        return tuple(reversed(out))

    # ---------------------------------------------------------- assignments
    def assign(self, s: Assign) -> tuple[Statement, ...]:
        y = s.target
        if self.context.is_user_call(s.op):
            return self.call(s)
        if y not in self.active:
            return (s,)
        if self.aliases.is_changed(y) and self.adj.shadow_key(y) != y and self.aliases.is_view(y):
            return (s,)  # a view: its adjoint is a view of the shadow
        if not self.adj.has(y):
            return (s,)
        adjoint = self.adj.take(y)
        if self._structure(s, adjoint):
            return (s,)
        self._rule(s, self.adj.whole(adjoint, y))
        return (s,)

    def _structure(self, s: Assign, y_bar: Adjoint | None) -> bool:
        """The adjoints of operations that put values together or take them apart."""
        op, args = s.op, s.args
        if op is ops.identity:
            self.adj.add(args[0], y_bar)
        elif op in (ops.make_tuple, ops.make_list):
            for k, atom in enumerate(args):
                self.adj.add(atom, self._part(y_bar, k, s.target))
        elif op is ops.make_dict:
            for key, atom in zip(args[0].value, args[1:], strict=True):  # type: ignore[union-attr]
                self.adj.add(atom, self._part(y_bar, key, s.target))
        elif op is ops.make_struct:
            keys = range(len(args) - 2) if issubclass(args[0].value, tuple) else args[1].value
            for key, atom in zip(keys, args[2:], strict=True):
                self.adj.add(atom, self._part(y_bar, key, s.target))
        elif op is operator.getitem:
            self._subscript(s, y_bar)
        elif op is builtins.getattr and is_container(self.b.type(args[0])):
            t, name = self.b.type(args[0]), args[1].value  # type: ignore[union-attr]
            key = t.cls._fields.index(name) if isinstance(t, Tuple) else name  # type: ignore[union-attr]
            assert isinstance(t, (Tuple, Struct))
            self._add_part(args[0], key, y_bar)
        else:
            return False
        return True

    def _part(self, y_bar: Adjoint | None, key: Any, y: str) -> Adjoint | None:
        if isinstance(y_bar, dict):
            return y_bar.get(key)
        from tangentc.transform.adjoints import get_part

        return None if y_bar is None else get_part(self.b, y_bar, key)

    def _add_part(self, x: Atom, key: Any, y_bar: Adjoint | None) -> None:
        if isinstance(x, str) and x in self.active and y_bar is not None:
            self.adj.add(x, {key: y_bar})

    def _subscript(self, s: Assign, y_bar: Adjoint | None) -> None:
        x, key = s.args
        if not isinstance(x, str) or x not in self.active or y_bar is None:
            return
        t = self.b.type(x)
        if is_container(t):
            by_position = isinstance(key, Const) and not isinstance(key.value, slice)
            if by_position and self.adj.shadow_of(x) is None and not is_long(t):
                index = key.value
                if isinstance(t, Tuple) or type(t).__name__ == "Sequence":
                    index = index % len(t.items) if isinstance(t, Tuple) else index % (t.length or 1)  # type: ignore[union-attr]
                self._add_part(x, index, y_bar)
                return
            if self.adj.shadow_of(x) is None:
                self.adj.ensure_shadow(x)
            self._add_dynamic(x, key, y_bar, s)
            return
        if not isinstance(t, Array):
            raise missing(s, f"the type of {x.lstrip('%').split('.')[0]} is not known when compiling",
                          "call the function with arguments of known types")  # fmt: skip
        assert not isinstance(y_bar, dict)
        if isinstance(self.b.type(s.target), Array):
            fitted = y_bar
        else:
            fitted = y_bar
        basic = self.aliases.is_basic(key)
        self.adj.add_item(x, key, fitted, basic or self._is_unique(key), basic)

    def _add_dynamic(self, x: str, key: Atom, y_bar: Adjoint, s: Assign) -> None:
        """``y = xs[i]`` for a list ``xs``: into the list of shadows."""
        shadow = self.adj.shadow_of(x)
        assert shadow is not None
        part = self.b.type(s.target)
        if isinstance(key, Const) and isinstance(key.value, slice) or not is_differentiable(part):
            raise missing(s, "its argument is a slice of a list", "take the items one by one")
        if isinstance(y_bar, dict):
            item = self.b.emit(operator.getitem, (shadow, key), name=bar_name(s.target))
            assert isinstance(item, str)
            self._into(item, y_bar, part)
        else:
            self.b.store(shadow, key, y_bar, operator.add)

    def _into(self, shadow: str, y_bar: dict, t: Type) -> None:
        fields = list(t.keys if type(t).__name__ == "Dict" else range(len(t.items)))  # type: ignore[union-attr]
        for key in y_bar:
            if y_bar[key] is None:
                continue
            if isinstance(y_bar[key], dict):
                inner = self.b.emit(operator.getitem, (shadow, Const(key)))
                self._into(inner, y_bar[key], t.items[fields.index(key)])  # type: ignore[union-attr,arg-type]
            else:
                self.b.store(shadow, Const(key), y_bar[key], operator.add)

    def _is_unique(self, key: Atom) -> bool:
        """Whether no entry is taken twice: a mask, or index arrays one of which counts."""
        t = self.b.type(key)
        if isinstance(t, Array) and t.dtype == "bool":
            return True
        made = self.context.definitions.get(key) if isinstance(key, str) else None
        if isinstance(made, Assign):
            if made.op is np.arange or made.op in DISTINCT:
                return True
            if made.op is ops.make_tuple and made.args:  # rows, columns = np.triu_indices(n)
                parts = [self.context.definitions.get(a) for a in made.args if isinstance(a, str)]
                whole = {p.args[0] for p in parts if isinstance(p, Assign) and p.op is operator.getitem}
                if len(parts) == len(made.args) and len(whole) == 1 and all(p.op is operator.getitem for p in parts):
                    return self._is_unique(next(iter(whole)))
            if made.op is ops.make_tuple:
                return any(self._is_unique(a) for a in made.args if isinstance(a, str))
        return False

    def _rule(self, s: Assign, y_bar: Atom) -> None:
        rule = self.context.rule(s.op)
        if rule is None:
            active = next(a for a in s.atoms if a in self.active)
            raise missing(s, f"a derivative flows through its argument {_shown(active)}")
        if rule.kind == "zero":
            return
        call = bind(s, rule)
        check_domain(self.b, call)
        for _, option in call.options.items():
            if hasattr(option, "atom") and option.atom in self.active:
                raise missing(s, f"its argument {_shown(option.atom)} is active, and the rule takes it for a constant")
        if rule.kind == "elementwise":
            self._elementwise(s, call, y_bar)
        else:
            self._general(s, call, y_bar)

    def _elementwise(self, s: Assign, call: Any, y_bar: Atom) -> None:
        wanted = [k for k, (_, a) in enumerate(call.inputs) if isinstance(a, str) and a in self.active]
        mask = self.masks.get(s.target) if call.rule.singular else None
        with self.b.one_moment():
            total = self._contributions(s, call, y_bar, wanted, mask)
        for x, contribution in total.items():
            self.adj.add(x, contribution)

    def _contributions(self, s: Assign, call: Any, y_bar: Atom, wanted: list[int], mask: Any) -> dict[Atom, Atom]:
        total: dict[Atom, Atom] = {}
        for k in wanted:
            x = call.inputs[k][1]
            partial = partials(self.b, call, s.target, [k])[k]
            if partial is None:
                continue
            bar = y_bar
            if isinstance(self.b.type(x), Unknown) or not self.b.same_shape(x, s.target):
                bar = self.adj.full(y_bar, s.target)
            contribution = self.b.mul(bar, partial)
            if mask is not None:
                test, taken = mask
                arms = (contribution, Const(0.0)) if taken else (Const(0.0), contribution)
                contribution = self.b.emit(np.where, (test, *arms))
            total[x] = contribution if x not in total else self.b.add(total[x], contribution)
        return total

    def _general(self, s: Assign, call: Any, y_bar: Atom) -> None:
        y_bar = self.adj.full(y_bar, s.target)
        for k, (_, atom) in enumerate(call.inputs):
            atoms = atom if isinstance(atom, list) else [atom]
            if not any(isinstance(a, str) and a in self.active for a in atoms):
                continue
            result = adjoints(self.b, call, s.target, y_bar, k)
            if isinstance(atom, list):
                for a, contribution in zip(atom, result, strict=True):
                    self.adj.add(a, contribution)
            elif result is not None:
                self.adj.add(atom, result)

    # ---------------------------------------------------------- calls of user functions
    def call(self, s: Assign) -> tuple[Statement, ...]:
        y = s.target
        if y not in self.active or not self.adj.has(y):
            return (s,)
        pair = self.context.pair(s, self.active, self.aliases)
        out: list[Statement] = []
        args: list[Atom] = []
        for atom in pair.arguments:
            if isinstance(atom, str) and self.aliases.is_changed(atom):
                copy = self.b.fresh(f"%{_shown(atom)}")
                self.b.types.of_name[copy] = self.b.type(atom)
                out.append(Assign(copy, np.copy, (atom,), (), s.span))
                atom = copy
            args.append(atom)
        y_bar = self.adj.take_whole(y)
        assert y_bar is not None
        y_bar = self.adj.full(y_bar, y)
        both = self.b.fresh("%both")
        saved = self.b.fresh(f"%{pair.saved_name}")
        self.b.types.of_name[both] = Tuple((self.b.type(y), Unknown("what a primal saves")))
        self.b.types.of_name[saved] = Unknown("what a primal saves")
        out.append(Assign(both, pair.primal, tuple(args), (), s.span))
        out.append(Assign(y, operator.getitem, (both, Const(0)), (), s.span))
        out.append(Assign(saved, operator.getitem, (both, Const(1)), (), s.span))
        self.b.span = s.span
        result = self.b.emit(pair.adjoint, (saved, y_bar), name="%adjoints")
        bars = [result]
        if len(pair.active) > 1:
            bars = [
                self.b.emit(operator.getitem, (result, Const(k)), name=bar_name(a))
                for k, (a, _) in enumerate(pair.active)
            ]
        for (atom, _), bar in zip(pair.active, bars, strict=True):
            self.adj.add(atom, bar)
        return tuple(out)

    def effect(self, s: Effect) -> tuple[Statement, ...]:
        if s.op == np.add.at and isinstance(s.args[0], str) and len(s.args) == 3:
            return self._add_at(s)
        if changes_argument(s.op) and any(a in self.active for a in s.atoms):
            raise UnsafeMutation(
                f"np.{s.op.__name__} changes an active array in place",
                s.span,
                why="only `a[i] = ...` and augmented assignment are followed through aliases yet",
                way_out="write it as a subscript assignment",
            )
        if changes_argument(s.op) and isinstance(s.args[0], str):
            raise UnsafeMutation(
                f"np.{s.op.__name__} changes an array in place",
                s.span,
                why="only `a[i] = ...` and augmented assignment are followed through aliases yet",
                way_out="write it as a subscript assignment",
            )
        return (s,)

    def _add_at(self, s: Effect) -> tuple[Statement, ...]:
        """``np.add.at(A, key, x)``: ``A[key]`` restored; ``x_bar += A_bar[key]``."""
        array, key, value = s.args
        assert isinstance(array, str)
        store = Store(array, key, value, operator.add, s.span)
        self._check_array(store)
        old = self._old(store, key)
        self.b.store(array, key, old["name"])
        shadow = self.adj.shadow_of(array) if array in self.active else None
        if shadow is not None and isinstance(value, str) and value in self.active:
            self.adj.add(value, self.b.emit(np.copy, (self.b.emit(operator.getitem, (shadow, key)),), name="rhs_bar"))
        return (*old["statements"], s)

    # ---------------------------------------------------------- stores
    def store(self, s: Store) -> tuple[Statement, ...]:
        t = self.b.type(s.object)
        if not isinstance(t, Array):
            if s.object in self.active or isinstance(s.value, str) and s.value in self.active:
                raise UnsafeMutation(
                    f"an item of {_shown(s.object)} is assigned, and it is not an array", s.span,
                    why="lists and dicts that change are not followed yet",
                    way_out="build a new list or dict, or use an array",
                )  # fmt: skip
            return (s,)
        self._check_store(s)
        key: Atom = Const(...) if s.key is None else s.key
        old = self._old(s, key)
        self.b.store(s.object, None if s.key is None else key, old.pop("name"))
        if s.key is None:
            self.b.out[-1] = replace(self.b.out[-1], key=Const(...))  # type: ignore[arg-type]
        if s.object in self.active:
            self._store_adjoint(s, key)
        return (*old["statements"], s)

    def _store_adjoint(self, s: Store, key: Atom) -> None:
        if self.adj.shadow_of(s.object) is None:
            if s.object not in self.aliases.views and self.adj.shadow_key(s.object) not in self.adj.shadows:
                return
            if self.adj.shadow_key(s.object) not in self.adj.shadows:
                return
        shadow = self.adj.shadow_of(s.object)
        if shadow is None:
            return
        if isinstance(s.value, str) and s.value in self.active:
            view = shadow if s.key is None else self.b.emit(operator.getitem, (shadow, key))
            if s.op is operator.sub:
                taken = self.b.emit(operator.neg, (view,), name="rhs_bar")
            elif isinstance(self.b.type(view), Scalar):
                taken = view
            else:
                taken = self.b.emit(np.copy, (view,), name="rhs_bar")
            if s.op is None:
                self.b.store(shadow, key, Const(0))
            self.adj.add(s.value, taken)
        elif s.op is None:
            self.b.store(shadow, key, Const(0))

    def _old(self, s: Store, key: Atom) -> dict[str, Any]:
        """The part of an array that a store overwrites, saved before it."""
        base = _shown(s.object)
        item = self.b.fresh(f"%{base}_item")
        t = self.b.types.result(operator.getitem, (s.object, key))
        self.b.types.of_name[item] = t
        if isinstance(t, Scalar):
            name = self.b.fresh(f"{base}_saved")
            self.b.types.of_name[name] = t
            return {"name": name, "statements": (Assign(name, operator.getitem, (s.object, key), (), s.span),)}
        name = self.b.fresh(f"{base}_saved")
        self.b.types.of_name[name] = t
        self.aliases.parent[item] = self.aliases.root(s.object)
        copy = (Assign(item, operator.getitem, (s.object, key), (), s.span), Assign(name, np.copy, (item,), (), s.span))
        return {"name": name, "statements": copy}

    def _check_store(self, s: Store) -> None:
        self._check_array(s)
        if s.key is not None and not self.aliases.is_basic(s.key) and not self._is_unique(s.key):
            raise UnsafeMutation(
                f"{_shown(s.object)} is changed through an array of indices",
                s.span,
                why="an index that occurs twice would be written twice, and only the last write counts",
                way_out="write it as a loop, or with slices or a mask",
            )

    def _check_array(self, s: Store) -> None:
        if self.b.type(s.object).shape == ():  # type: ignore[union-attr]
            raise UnsafeMutation(
                f"{_shown(s.object)}, an array without axes, is changed in place", s.span,
                why="whether such an array or a number is meant depends on each operation",
                way_out="use a number, or an array of length one",
            )  # fmt: skip
        made = self.aliases.allocation(s.object)
        root = self.aliases.root(s.object)
        holder = self.aliases.holder(s.object)
        if holder is not None:
            raise UnsafeMutation(
                f"{_shown(s.object)} is changed in place while {holder} sees it too",
                s.span,
                why="an array inside a container, or given to and taken from a function, is not followed yet",
                way_out=f"change a copy: {_shown(s.object)} = {_shown(s.object)}.copy()",
            )
        if len(made) != 1 or self.aliases.root("%global") == root and self.aliases.globals:
            others = " and ".join(map(_shown, made)) or "a value from outside"
            raise UnsafeMutation(
                f"{_shown(s.object)} is changed in place, and it is not certain which array it is",
                s.span,
                why=f"it may be {others}, or lie in a container",
                way_out=f"change a copy: {_shown(s.object)} = {_shown(s.object)}.copy()",
            )

    # ---------------------------------------------------------- control flow
    def _prepare(self, s: Statement, in_loop: bool) -> list[str]:
        """Make the shadows that the adjoint of a compound statement adds to; gives the names of the
        outside values whose adjoints a loop carries."""
        outside = sorted(_inner_reads(s) - all_defines((s,)))
        subscripted = {
            x.args[0]
            for x in statements((s,))
            if isinstance(x, Assign) and x.op is operator.getitem and x.target in self.active
        }
        carried = []
        for x in outside:
            if x not in self.active:
                if x in self.b.types.of_name and self.aliases.is_changed(x):
                    continue
                continue
            if self.aliases.is_changed(x):
                self.adj.ensure_shadow(x)
            elif isinstance(self.b.type(x), Array) or is_container(self.b.type(x)):
                if in_loop or x in subscripted:
                    dynamic = is_container(self.b.type(x))
                    if dynamic and not in_loop and not self._dynamic_subscript(s, x):
                        continue
                    self.adj.ensure_shadow(x)
            else:
                carried.append(x)
        for x in sorted(all_reads((s,)) - all_defines((s,))):  # arrays that are stored into, under other names
            if x in self.active and x in self.b.types.of_name and self.aliases.is_changed(x):
                self.adj.ensure_shadow(x)
        return carried

    def _dynamic_subscript(self, s: Statement, x: str) -> bool:
        return any(
            isinstance(a, Assign) and a.op is operator.getitem and a.args[0] == x and not isinstance(a.args[1], Const)
            for a in statements((s,))
        )

    def branch(self, s: If) -> If:
        self._prepare(s, False)
        tag = self.b.fresh("statement" if s.tag.startswith("statement") else "expression")
        merged = [(m, self.adj.take(m.name)) for m in s.merged if m.name in self.active and self.adj.has(m.name)]
        base, shadows = self.adj.values, set(self.adj.shadows)
        blocks: list[list[Statement]] = []
        primal: list[Block] = []
        values: list[dict[str, Adjoint]] = []
        for block, pick in ((s.then, 0), (s.orelse, 1)):
            self.adj.values = _copied(base)
            with self.b.block() as out:
                for m, bar in merged:
                    self.adj.add((m.then, m.orelse)[pick], bar)
                primal.append(self.block(block))
                blocks.append(out)
            self.adj.leave_branch(shadows)
            values.append(self.adj.values)
        joined, merges = self._join_values(s.span, blocks, values)
        self.adj.values = joined
        if merges or any(blocks):
            self.b.out.append(If(s.test, tuple(blocks[0]), tuple(blocks[1]), tuple(merges), s.span, tag))
        return replace(s, then=primal[0], orelse=primal[1], tag=tag)

    def _join_values(
        self, span: Span, blocks: list[list[Statement]], values: list[dict[str, Adjoint]]
    ) -> tuple[dict[str, Adjoint], list[Merge]]:
        joined: dict[str, Adjoint] = {}
        merges: list[Merge] = []

        def merge(x: Atom, bars: list[Any], name: str) -> Atom:
            atoms: list[Atom] = []
            for block, bar in zip(blocks, bars, strict=True):
                with self.b.reopen(block):
                    self.b.span = span
                    atoms.append(self.adj.zero(x) if bar is None else self.b.rename(self.adj.full(bar, x), bar_name(x)))
            new = self.b.fresh(name)
            self.b.types.of_name[new] = self.b.types.join(self.b.type(atoms[0]), self.b.type(atoms[1]))
            merges.append(Merge(new, *atoms))
            return new

        def parts(x: Atom, bars: list[Any]) -> Adjoint:
            if not any(isinstance(bar, dict) for bar in bars):
                return bars[0] if bars[0] == bars[1] else merge(x, bars, bar_name(x))
            from tangentc.transform.adjoints import get_part

            out: dict = {}
            for key in dict.fromkeys(k for bar in bars if bar for k in bar):
                inner = [bar.get(key) if bar else None for bar in bars]
                out[key] = inner[0] if inner[0] == inner[1] else parts(get_part(self.b, x, key), inner)
            return out

        for x in dict.fromkeys([*values[0], *values[1]]):
            bars = [v.get(x) for v in values]
            joined[x] = bars[0] if bars[0] == bars[1] and bars[0] is not None else parts(x, bars)
        return joined, merges

    def loop(self, s: For | While) -> tuple[Statement, ...]:
        active_carries = [c for c in s.carried if c.name in self.active]
        for c in active_carries:
            if self.aliases.is_changed(c.name):
                raise UnsafeMutation(
                    f"{_shown(c.name)} is changed in place, and means different arrays in different trips",
                    s.span,
                    why="which array a store changes depends on the trip",
                    way_out="copy the array before changing it, or write into one array",
                )
            if is_container(self.b.type(c.name)):
                raise UnsupportedSyntax(
                    f"{_shown(c.name)}, a container, changes from trip to trip, which is not differentiated yet",
                    s.span,
                    why="only numbers and arrays are carried by loops",
                    way_out="carry its parts under names of their own",
                )
        if isinstance(s, For) and s.target in self.active:
            raise UnsupportedSyntax(
                "a derivative flows through what this loop runs over, which is not an array, a list or a tuple",
                s.span,
                why="its items cannot be found again by their positions",
                way_out="loop over the positions, and take the items by subscript",
            )
        outside = self._prepare(s, True)
        outside = [x for x in outside if x not in {c.name for c in s.carried}]
        inits: list[tuple[Carry, Atom]] = []
        for c in active_carries:
            bar = self.adj.take_whole(c.name)
            inits.append((c, self.adj.zero(c.name) if bar is None else self.adj.full(bar, c.name)))
        before = self.adj.values
        self.adj.values = {}
        names: dict[str, str] = {}
        with self.b.loop_body({c.name for c in s.carried}) as out:
            for x in [*(c.name for c in active_carries), *outside]:
                names[x] = self.b.fresh(bar_name(x))
                self.b.types.of_name[names[x]] = _float_type(self.b.type(x))
            for x in outside:
                self.adj.values[x] = names[x]
            for c in active_carries:
                self.adj.add(c.next, names[c.name])
            self.depth += 1
            primal = self.block(s.body)
            self.depth -= 1
            self.b.span = s.span
            nexts = {}
            for c in active_carries:
                bar = self.adj.take_whole(c.name)
                nexts[c.name] = self.adj.zero(c.name) if bar is None else self.adj.full(bar, c.name)
            ends = {x: self._renamed(self.adj.values.pop(x), x) for x in outside}
            local = tuple(out)
        self.adj.values = before
        carried: list[Carry] = []
        for c, init in inits:
            carried.append(Carry(names[c.name], init, nexts[c.name]))
        for x in outside:
            end = ends[x]
            if end == names[x]:
                continue
            assert not isinstance(end, dict)
            old = self.adj.values.get(x)
            assert not isinstance(old, dict)
            start = self.adj.zero(x) if old is None else old
            carried.append(Carry(names[x], start, end))
            self.adj.values[x] = names[x]
        result = self._finish_loop(s, primal, local, carried)
        for c, _ in inits:
            self.adj.add(c.init, names[c.name])
        return result

    def _renamed(self, adjoint: Adjoint, x: Atom) -> Adjoint:
        return adjoint if isinstance(adjoint, dict) else self.b.rename(adjoint, bar_name(x))

    def _finish_loop(self, s: For | While, primal: Block, local: Block, carried: list[Carry]) -> tuple[Statement, ...]:
        """Link both bodies, and write the adjoint loop."""
        if not local and not carried:
            return (replace(s, body=primal),)
        local = remove_dead(local, [a for c in carried for a in (c.name, c.next)], self.b.types, None)
        leaves_early = isinstance(s, While) or any(isinstance(x, Leave) for x in statements(primal))
        inputs = [c.name for c in s.carried]
        if isinstance(s, For) and leaves_early:
            inputs.append(s.target)
        if isinstance(s, While):  # what the test makes is given to the body
            inputs += [n for x in s.head for n in defines(x)]
        linked, adjoint, every_trip = Region(self.b, self.aliases, primal, local, inputs).link_loop(self.lists)
        for name in self.lists:
            self.b.types.of_name.setdefault(name, Unknown("a list of saved values"))
        if not leaves_early:
            assert isinstance(s, For)
            iterable = self._reversed(s, adjoint)
            target = self.b.fresh(s.target)
            self.b.types.of_name[target] = self.b.type(s.target)
            adjoint = substitute_block(adjoint, {s.target: target})
            self.b.out.append(For(target, iterable, adjoint, tuple(carried), s.span))
            return (replace(s, body=linked),)
        if every_trip and self.depth == 0:
            stack, popped = every_trip[0]
            adjoint = tuple(
                x for x in adjoint if not (isinstance(x, Assign) and x.op is ops.pop and x.args == (stack,))
            )
            iterable = self.b.emit(builtins.reversed, (stack,))
            self.b.out.append(For(popped, iterable, adjoint, tuple(carried), s.span))
            return (replace(s, body=linked),)
        trips, after = self.b.fresh("trips"), self.b.fresh("trips")
        for name in (trips, after):
            self.b.types.of_name[name] = Scalar("int64", True)
        count = Assign(after, operator.add, (trips, Const(1)), (), s.span)
        iterable = self.b.emit(builtins.range, (trips,))
        blank = self.b.fresh("_")
        self.b.types.of_name[blank] = Scalar("int64", True)
        self.b.out.append(For(blank, iterable, adjoint, tuple(carried), s.span))
        return (replace(s, body=(count, *linked), carried=(*s.carried, Carry(trips, Const(0), after))),)

    def _reversed(self, s: For, adjoint: Block) -> Atom:
        made = self.context.definitions.get(s.iterable) if isinstance(s.iterable, str) else None
        if isinstance(made, Assign) and made.op is builtins.reversed:
            return made.args[0]
        iterable = s.iterable
        if isinstance(made, Assign) and made.op in (builtins.enumerate, builtins.zip):
            iterable = self.b.emit(made.op, made.args, made.keywords)  # the first one is used up
        t = self.b.type(iterable)
        if s.target not in all_reads(adjoint):
            return iterable
        if isinstance(t, Known) and isinstance(t.value, range) or isinstance(t, (Array, Tuple)):
            return self.b.emit(builtins.reversed, (iterable,))
        if isinstance(t, Unknown):
            raise UnsupportedSyntax(
                "what this loop runs over is not known when compiling", s.span, why=t.reason or "its type is unknown",
                way_out="loop over a range, an array, a list or a tuple",
            )  # fmt: skip
        everything = self.b.emit(builtins.list, (iterable,))
        return self.b.emit(builtins.reversed, (everything,))


def _inner_reads(s: Statement) -> set[str]:
    """What the bodies of a compound statement read, and what they hand to the next trip or to a merge."""
    match s:
        case If():
            return (
                all_reads(s.then)
                | all_reads(s.orelse)
                | {a for m in s.merged for a in (m.then, m.orelse) if isinstance(a, str)}
            )
        case For():
            return all_reads(s.body) | {c.next for c in s.carried if isinstance(c.next, str)}
        case While():
            return all_reads(s.body) | all_reads(s.head) | {c.next for c in s.carried if isinstance(c.next, str)}
    return set()


def _collect_like(t: Type, param: str, path: tuple, like: dict[Type, Any]) -> None:
    """Note where a parameter, or a part of one, has an array of each type."""
    if isinstance(t, Array):
        like.setdefault(t, (param, path) if path else param)
    elif is_container(t):
        for key, part in components(t):
            _collect_like(part, param, (*path, key), like)


def _copied(values: dict[str, Adjoint]) -> dict[str, Adjoint]:
    return {k: _copied(v) if isinstance(v, dict) else v for k, v in values.items()}


def _float_type(t: Type) -> Type:
    return t


def _shown(name: Atom) -> str:
    if isinstance(name, Global):
        return name.name
    return name.lstrip("%").split(".")[0] if isinstance(name, str) else str(getattr(name, "value", name))


__all__ = ["Sweeps", "reverse", "leaves", "Iterable"]
