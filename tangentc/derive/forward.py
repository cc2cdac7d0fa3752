"""Forward mode: a tangent beside each active value, in the order of the program.

y = op(x, ...)      y_dot = sum of partial * x_dot, over the active x
A[i] = e            A_dot[i] = e_dot
if, for, while      as they are, with the tangents merged and carried beside their values
"""

from __future__ import annotations

import builtins
import dataclasses
import operator
import types as pytypes
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from tangentc import runtime
from tangentc.analysis.masks import NONZERO, Places, Several, Test, divides
from tangentc.analysis.program import Program
from tangentc.core import ops
from tangentc.core.build import Builder, build_container, is_number
from tangentc.core.nodes import Assign, Atom, Block, Const, Effect, For, Global, If, Store, While
from tangentc.core.types import (
    Array,
    Known,
    Scalar,
    Sequence,
    Struct,
    Tuple,
    Unknown,
    components,
    holds_nothing,
    holds_numbers,
    is_complex,
    is_container,
    is_differentiable,
    is_long,
    present,
)
from tangentc.derive.adjoints import may_be_full
from tangentc.derive.calls import Call, covering, missing, partials, refuse_active_key, tangent, unruled
from tangentc.derive.parts import get_part
from tangentc.derive.shadows import allocates
from tangentc.derive.tangent_control import TangentControl
from tangentc.errors import MissingRule, UnsafeMutation

if TYPE_CHECKING:
    from tangentc.derive.assemble import Unit

RUN_OVER = {builtins.enumerate, builtins.zip, builtins.reversed}


def forward(program: Program, dots: dict[str, Atom], unit: Unit) -> Atom:
    """Write the program with tangents into the unit's builder; gives the tangent of the result."""
    writer = _Forward(program, dots, unit)
    writer.block(program.function.body)
    return writer.dot(program.function.result)


class _Forward(TangentControl):
    def __init__(self, program: Program, dots: dict[str, Atom], unit: Unit):
        self.program, self.unit = program, unit
        self.b: Builder = unit.builder
        self.active = unit.active
        self.aliases = program.aliases
        self.dots: dict[str, Atom] = dict(dots)
        self.may_change = unit.activity.may_change
        self.changing = {dot for x, dot in dots.items() if self.may_change(x)}  # tangents of what changes
        self.seen: set[str] = {p.name for p in program.function.params}
        self.b.may_change = lambda name: name in self.changing or self.may_change(name)

    def _keep(self, x: str, dot: Atom) -> None:
        """Note what the tangent of a value is."""
        self.dots[x] = dot
        if self.may_change(x):
            self.changing.add(dot)

    # ---------------------------------------------------------- tangents
    def dot(self, x: Atom) -> Atom:
        """The tangent of a value: zero if it is not active."""
        if isinstance(x, str) and x in self.dots:
            return self.dots[x]
        return self.zero(x)

    def zero(self, x: Atom) -> Atom:
        t = self.b.type(x)
        if isinstance(t, Scalar):
            return Const(0j if is_complex(t) else 0.0)
        if isinstance(t, Array):
            if not is_differentiable(t):
                made = self.b.maker(x)
                if made is not None and made.op is ops.old_item:  # which may be none at all
                    return Const(None)
                return self.b.emit(np.zeros, (self.b.emit(np.shape, (x,)),), name=self.name(x))
            return self.b.emit(np.zeros_like, (x,), name=self.name(x))
        plain = isinstance(t, Struct) and _is_plain(t.cls)
        if is_container(t) and (is_long(t) or plain or isinstance(x, str) and self.may_change(x)):
            return self._zeros(x)
        if is_container(t):
            parts = [
                self.dot(get_part(self.b, x, k)) if holds_numbers(p) or holds_nothing(p) else Const(None)
                for k, p in components(t)
            ]
            return build_container(self.b, t, parts, name=self.name(x))
        if isinstance(t, Known) and isinstance(t.value, tuple):
            return Const(tuple(self.zero(Const(v)).value for v in t.value))
        return self.b.emit(runtime.zeros_of, (x,), name=self.name(x)) if isinstance(t, Unknown) else Const(None)

    def _zeros(self, x: Atom) -> Atom:
        """The zeros of a container that changes."""
        t = self.b.type(x)
        zeros = self.b.emit(runtime.zeros_of_copy, (x,), name=self.name(x))
        is_tuple = isinstance(t, Tuple) and t.cls is None or isinstance(t, Sequence) and t.kind is tuple
        return self.b.emit(builtins.tuple, (zeros,), name=self.name(x)) if is_tuple else zeros

    def name(self, x: Atom) -> str:
        return f"{x}_dot" if isinstance(x, str) else "%dot"

    def fit(self, x_dot: Atom, x: Atom) -> Atom:
        """A tangent in the shape and dtype of its value."""
        t, given = self.b.type(x), self.b.type(x_dot)
        if isinstance(t, Array):
            if is_number(x_dot, 0):
                return self.zero(x)
            if is_complex(given) and not is_complex(t):
                x_dot = self.b.emit(np.real, (x_dot,))
                given = self.b.type(x_dot)
            if isinstance(given, Array) and given.shape != t.shape and may_be_full(given.shape, t.shape):
                return self.b.emit(runtime.unbroadcast, (x_dot, x), name=self.name(x))
            if isinstance(given, (Array, Scalar)) and getattr(given, "shape", ()) != t.shape:
                return self.b.emit(np.full_like, (x, x_dot), name=self.name(x))
            if isinstance(given, Array) and given.dtype != t.dtype and is_differentiable(t):
                return self.b.emit(
                    ops.method, (x_dot, Const("astype"), self.b.emit(getattr, (Const(np), Const(t.dtype))))
                )
        if isinstance(t, Scalar) and not t.weak and isinstance(given, Scalar) and t.dtype in ("float16", "float32"):
            return x_dot if given.dtype == t.dtype else self.b.emit(getattr(np, t.dtype), (x_dot,))
        if isinstance(t, Scalar) and is_complex(t) and isinstance(given, Scalar) and not is_complex(given):
            return self.b.emit(builtins.complex, (x_dot,))
        return x_dot

    def has_dot(self, x: Atom) -> bool:
        return isinstance(x, str) and x in self.dots

    # ---------------------------------------------------------- statements
    def block(self, block: Block) -> None:
        for s in block:
            self.b.span = s.span.within("tangent")
            match s:
                case Assign():
                    self.assign(s)
                case Store():
                    self.store(s)
                case If():
                    self.branch(s)
                case Effect() if s.op in ops.CHANGES:
                    self.container_effect(s)
                case Effect() if s.op == np.add.at and len(s.args) == 3:
                    self.add_at(s)
                case For() | While():
                    self.loop(s)
                case Effect() if s.op is runtime.add_copied:
                    if all(map(self.has_dot, s.args)):
                        self.b.effect(s.op, tuple(map(self.dot, s.args)))
                    self.b.out.append(s)
                case Effect() if (
                    any(a in self.active for a in s.atoms) and getattr(s.op, "__name__", "") in ops.IMPURE_NAMES
                ):
                    raise UnsafeMutation(f"np.{s.op.__name__} changes an active array in place", s.span,
                                         why="only `a[i] = ...` and augmented assignment are followed yet",
                                         way_out="write it as a subscript assignment")  # fmt: skip
                case _:
                    self.b.out.append(s)
            if not isinstance(s, Assign) or s.op is ops.take:
                self.b.passed()

    def add_at(self, s: Effect) -> None:
        """``np.add.at(A, key, x)``: the same with the tangents."""
        array, key, value = s.args
        if array in self.dots and self.has_dot(value):
            self.b.effect(np.add.at, (self.dots[array], key, self.dot(value)))  # type: ignore[index]
        self.b.out.append(s)

    def container_effect(self, s: Effect) -> None:
        """``rows.append(row)``: the same with the tangents."""
        if self.has_dot(s.args[0]):
            args = s.args[1:] if s.op not in (ops.append, ops.insert) else (*s.args[1:-1], self._part_dot(s.args[-1]))
            self.b.effect(s.op, (self.dots[s.args[0]], *args))  # type: ignore[index]
        self.b.out.append(s)

    def take(self, s: Assign) -> None:
        """``x = rows.pop()``: the same with the tangents."""
        self.b.out.append(s)
        if not self.has_dot(s.args[0]):
            return
        dot = self.b.fresh(self.name(s.target))
        self.b.types.of_name[dot] = self.b.type(s.target)
        self.b.out.append(Assign(dot, ops.take, (self.dots[s.args[0]], *s.args[1:]), (), s.span.within("tangent")))  # type: ignore[index]
        if s.target in self.active:
            self._keep(s.target, dot)

    def assign(self, s: Assign) -> None:
        y = s.target
        self.seen.add(y)
        if s.op is ops.take:
            self.take(s)
            return
        wanted = y in self.active and any(self.has_dot(a) for a in s.atoms)
        if not wanted:
            if s.op not in RUN_OVER and y in self.active and any(map(self._runs_over_what_moves, s.atoms)):
                raise missing(s, "its argument is a zip, an enumerate or a reversed", "make a list of it with list")
            self.b.out.append(s)
            self.b.define(y, s)
            if y in self.active and self.may_change(y):
                self._fresh_shadow(y)
            return
        if self.unit.is_user_call(s.op):
            self.call(s)
            return
        linear = self._structure(s)
        if linear is not None:
            self.b.out.append(s)
            self.b.define(y, s)
            self._set(y, linear(), True)
            return
        rule = self.unit.rule(s.op)
        if rule is None:
            active = next(a for a in s.atoms if self.has_dot(a))
            raise unruled(self.b, s, active.lstrip("%").split(".")[0])
        if rule.kind == "zero":
            self.b.out.append(s)
            if self.may_change(y):
                self._fresh_shadow(y)
            return
        call = covering(self.b, s, rule, self.has_dot)
        self.b.out.append(s)
        self.b.define(y, s)
        dot = self._rule(s, call)
        self._set(y, None if dot is None else self._apart(s, self.fit(dot, y)), True)

    def _runs_over_what_moves(self, atom: Atom) -> bool:
        """Whether a value is an iterator over what has a tangent: loops alone take its items."""
        made = self.b.definitions.get(atom) if isinstance(atom, str) else None
        return isinstance(made, Assign) and made.op in RUN_OVER and any(
            self.has_dot(a) or self._runs_over_what_moves(a) for a in made.args
        )  # fmt: skip

    def _set(self, y: str, dot: Atom | None, fitted: bool = False) -> None:
        if dot is None:
            return
        dot = dot if fitted else self.fit(dot, y)
        self._keep(y, self.b.rename(dot, self.name(y)))
        if is_container(self.b.type(y)) and self.may_change(y) and isinstance(dot := self.dots[y], str):
            self.b.types.of_name[dot] = self.b.type(y)  # with what is put into it later
        if self.may_change(y) and not self.aliases.is_view(y) and isinstance(self.b.type(y), Array):
            made = self.b.maker(self.dots[y])
            if self.aliases.root(y) in self.aliases.doubtful:  # views of the tangent are to be as those of the value
                like = self.b.emit(np.zeros_like, (y,), name=self.name(y))
                self.b.store(like, Const(...), self.dots[y])  # type: ignore[arg-type]
                self._keep(y, like)
                return
            if made is None or made.op is not np.zeros_like:
                copied = self.b.emit(np.copy, (self.dots[y],), name=self.name(y))
                self._keep(y, copied)

    def _fresh_shadow(self, y: str) -> None:
        """An array, or a container, that becomes active by a store into it."""
        if isinstance(self.b.type(y), Array) and not self.aliases.is_view(y):
            self._keep(y, self.b.emit(np.zeros_like, (y,), name=self.name(y)))
        elif is_container(self.b.type(y)) and is_differentiable(self.b.type(y)):
            made = self.b.maker(y)
            empty = made is not None and made.op is ops.make_list and not made.args
            self._keep(y, self.b.emit(ops.make_list, (), name=self.name(y)) if empty else self._zeros(y))
            if empty and isinstance(dot := self.dots[y], str):
                self.b.types.of_name[dot] = self.b.type(y)

    def _structure(self, s: Assign) -> Callable[[], Atom | None] | None:
        op, args = s.op, s.args
        if op in (ops.identity, ops.inserted):
            return lambda: self.dot(args[0])
        flags = [isinstance(t := self.b.type(a), Known) and isinstance(t.value, bool) for a in args]
        is_made = op is ops.make_list or op is ops.make_tuple and s.target != self.program.function.result
        if is_made and any(flags) and any(map(self.has_dot, args)):  # an array may be made of it
            dots = [Const(0.0) if is_flag else self._part_dot(a) for a, is_flag in zip(args, flags, strict=True)]
            return lambda: self.b.emit(op, tuple(dots), name=self.name(s.target))
        if op in (ops.make_tuple, ops.make_list):
            return lambda: self.b.emit(op, tuple(map(self._part_dot, args)), name=self.name(s.target))
        if op is ops.make_dict:
            return lambda: self.b.emit(op, (args[0], *map(self._part_dot, args[1:])), name=self.name(s.target))
        if op in (ops.copied, runtime.shaped_like):
            return lambda: self.b.emit(op, (self.dot(args[0]), *args[1:]), name=self.name(s.target))
        if (
            op in (builtins.list, builtins.tuple, builtins.dict, ops.items_from)
            and len(args)
            and is_container(self.b.type(s.target))
        ):
            return lambda: self.b.emit(op, (self.dot(args[0]), *args[1:]), name=self.name(s.target))
        if op is operator.add and is_container(self.b.type(s.target)):
            return lambda: self.b.emit(op, tuple(map(self.dot, args)), name=self.name(s.target))
        if op in RUN_OVER:
            return lambda: None
        if op is ops.make_struct and _is_plain(args[0].value):
            return lambda: self.b.emit(
                op, (Const(pytypes.SimpleNamespace), args[1], *map(self._part_dot, args[2:])), name=self.name(s.target)
            )
        if op is ops.make_struct:
            return lambda: self.b.emit(op, (*args[:2], *map(self._part_dot, args[2:])), name=self.name(s.target))
        if op is operator.getitem:
            refuse_active_key(s, self.dots)
            return lambda: self.b.emit(op, (self.dot(args[0]), args[1]), name=self.name(s.target))
        if op in (builtins.getattr, ops.old_item) and is_container(self.b.type(args[0])):
            return lambda: self.b.emit(op, (self.dot(args[0]), args[1]), name=self.name(s.target))
        return None

    def _part_dot(self, atom: Atom) -> Atom:
        if self.has_dot(atom):
            return self.dot(atom)
        if isinstance(atom, Const) and isinstance(atom.value, tuple) and all(isinstance(v, float) for v in atom.value):
            return self.zero(atom)  # what grows out of it may move
        t = self.b.type(atom)  # what does not move here may stand where others move
        return self.zero(atom) if holds_numbers(t) or holds_nothing(t) else Const(None)

    def _rule(self, s: Assign, call: Call) -> Atom | None:
        rule = call.rule
        if rule.kind == "elementwise":
            return self._elementwise(s, call)
        atoms = [a for _, given in call.inputs for a in (given if isinstance(given, list) else [given])]
        fixed = rule.formula.fixed if rule.formula is not None else set()
        if rule.linear == "jointly":
            return self._linear(s, atoms, [a for k, a in enumerate(atoms) if k not in fixed])
        if rule.linear == "each":
            total: Atom | None = None
            for atom in dict.fromkeys(a for a in atoms if self.has_dot(a)):
                for k, a in enumerate(atoms):
                    if a == atom and k not in fixed:
                        term = self._linear(s, atoms, [a], k)
                        total = term if total is None else self.b.add(total, term)
            return total
        if rule.tangent is None:
            raise MissingRule(
                f"there is no tangent rule for {getattr(s.op, '__name__', s.op)}", s.span,
                why="it has an adjoint_rule, which says nothing of forward mode",
                way_out="register one with @tangentc.tangent_rule, or say linear=... in the adjoint_rule",
            )  # fmt: skip
        moves = [is_differentiable(t := self.b.type(a)) or isinstance(t, Array) and k not in fixed
                 for k, a in enumerate(atoms)]  # fmt: skip
        dots = [self.dot(a) if m else None for a, m in zip(atoms, moves, strict=True)]
        count = len(rule.tangent.required) - len(atoms) - 1
        return tangent(self.b, call, s.target, dots[:count] if count < len(dots) else dots)

    def _linear(self, s: Assign, atoms: list[Atom], moving: list[Atom], only: int | None = None) -> Atom:
        """The same operation on tangents in place of the moving arguments."""
        moved = {a: self.dot(a) for a in moving if self.has_dot(a)}
        constant = (
            {a for a in moving if not self.has_dot(a) and is_differentiable(self.b.type(a))} if only is None else set()
        )

        def of(k: int, a: Atom) -> Atom:
            if only is not None:
                return moved[a] if k == only else a
            if a in moved:
                return moved[a]
            return (
                self.zero(a) if a in constant and isinstance(a, (str, Global)) else Const(0.0) if a in constant else a
            )

        args = tuple(of(k, a) for k, a in enumerate(s.args))
        keywords = tuple((n, of(-1, a) if only is None else (moved[a] if a in moved else a)) for n, a in s.keywords)
        offset = len(s.args) - len(atoms)
        if only is not None and offset >= 0 and s.args[:offset] and list(s.args[offset:]) == atoms and offset:
            args = tuple(moved[a] if k - offset == only else a for k, a in enumerate(s.args))
        return self.b.emit(s.op, args, keywords, name=self.name(s.target))

    def _elementwise(self, s: Assign, call: Call) -> Atom | None:
        total: Atom | None = None
        singular = divides(s, lambda op: call.rule.singular)
        mask = self.unit.masks.get(s.target) if singular else None
        later = mask is not None and isinstance(mask[0], str) and mask[0] not in self.seen
        if later or mask is NONZERO or isinstance(mask, (Places, Several, Test)):
            mask = None  # the test comes later; `where` takes the arm that is meant
        for k, (_, x) in enumerate(call.inputs):
            if isinstance(x, list) or not self.has_dot(x):
                continue
            partial = partials(self.b, call, s.target, [k])[k]
            if partial is None:
                continue
            dot = self.dot(x)
            if singular and self.b.chosen_zero(dot) and self.b.same_shape(dot, partial):
                term = self.b.product_of_chosen(dot, partial)
            elif singular and self._is_left_out(dot):
                term = self.b.emit(runtime.taken, (dot, partial))
            else:
                term = self.b.product_of_chosen(partial, dot)
            if mask is not None:
                test, taken = mask
                arms = (term, Const(0.0)) if taken else (Const(0.0), term)
                term = self.b.choose(test, *arms)
            total = term if total is None else self.b.add(total, term)
        return total

    def _is_left_out(self, dot: Atom) -> bool:
        """Whether a tangent is zero where a bound leaves its value out: a choice, or a multiple of one."""
        made = None if self.b.mutable(dot) else self.b.definition(dot)
        if made is None or made.op not in (operator.mul, operator.truediv, operator.neg):
            return self.b.chosen_zero(dot) is not None
        return any(map(self._is_left_out, made.args if made.op is operator.mul else made.args[:1]))

    def call(self, s: Assign) -> None:
        y = s.target
        op, args = self.unit.tangent_call(s, {a: self.dots[a] for a in s.atoms if self.has_dot(a)})  # type: ignore[index]
        both = self.b.emit(op, args, name="%both")
        self.b.out.append(Assign(y, operator.getitem, (both, Const(0)), (), s.span))
        self._keep(y, self._apart(s, self.b.emit(operator.getitem, (both, Const(1)), name=self.name(y))))

    def _apart(self, s: Assign, dot: Atom) -> Atom:
        """A tangent with memory of its own if the value has it: that of ``x + 1`` is the tangent of ``x`` itself,
        which changes with ``x``."""
        t = self.b.type(s.target)
        lasting = isinstance(t, Scalar) and not isinstance(self.b.type(dot), Array)  # unlike an array without axes
        if lasting or is_number(dot) or self.aliases.is_view(s.target):
            return dot
        if not any(isinstance(a, str) and self.has_dot(a) and self.may_change(a) for a in s.atoms):
            return dot
        made = self.b.maker(dot)
        if dot not in self.dots.values() and made is not None and allocates(self.b, self.aliases, made):
            return dot
        op = np.copy if isinstance(t, (Array, Scalar)) else ops.copied
        return self.b.emit(op, (dot,), name=self.name(s.target))

    def store(self, s: Store) -> None:
        if not isinstance(present(self.b.type(s.object)), Array):
            if self.has_dot(s.object):
                dot = self._part_dot(s.value)
                if dot == Const(None) and is_container(self.b.type(s.value)):
                    dot = self.b.emit(runtime.zeros_of, (s.value,))  # several items, none of which moves
                self.b.store(self.dots[s.object], s.key, dot)  # type: ignore[arg-type]
            self.b.out.append(s)
            return
        if s.object in self.active and s.object in self.dots:
            value = self.dot(s.value) if self.has_dot(s.value) else Const(0.0)
            shadow = self.dots[s.object]
            assert isinstance(shadow, str)
            if not (is_number(value, 0) and s.op is not None):
                self.b.store(shadow, s.key, value, s.op)
        self.b.out.append(s)

    # ---------------------------------------------------------- control flow


def _is_plain(cls: type) -> bool:
    """Whether a class is neither a NamedTuple nor a dataclass that its fields make."""
    return not issubclass(cls, tuple) and not dataclasses.is_dataclass(cls)
