"""Functions of NumPy and Python whose meaning depends on what they are given: lists, arrays, numbers."""

from __future__ import annotations

import builtins
import copy
import functools
import operator
from dataclasses import replace
from typing import Any

import numpy as np

from tangentc import runtime
from tangentc.analysis.turning import are_complex, may_turn, refuse_parts
from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Const, Statement
from tangentc.core.types import Array, Dict, Known, Scalar, Sequence, Tuple, Type, is_complex, is_differentiable
from tangentc.core.walk import statements
from tangentc.frontend.typed.meaning import Part, is_dynamic_dict, means

OF_COMPLEX = {Const("real"): np.real, Const("imag"): np.imag}
PARTS: dict[Const, Any] = OF_COMPLEX | {
    Const("T"): np.transpose,
    Const("mT"): np.matrix_transpose,
}  # attributes that are functions
REDUCES = {builtins.sum: np.sum, builtins.max: np.max, builtins.min: np.min}
OF_LISTS = {
    np.prod, np.mean, np.cumsum, np.cumprod, np.max, np.min, np.amax, np.amin, np.std, np.var, np.linalg.norm,
    np.median, np.average, np.ptp, np.diff,
}  # fmt: skip  # functions that take a list for the array of its items
WITH_ARRAYS = {
    operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.matmul, np.dot, np.inner,
    np.matmul, np.outer, np.vdot, np.add, np.subtract, np.multiply, np.divide, np.power, np.maximum, np.minimum,
    np.where, np.hypot, np.arctan2, np.kron, np.convolve, np.interp,
}  # fmt: skip

NUMBER_TYPES = {f for f in vars(np).values() if isinstance(f, type) and issubclass(f, np.number)}

ALONG_AXES = (np.sum, np.mean, np.max, np.min, np.amax, np.amin, np.prod, np.std, np.var, np.any, np.all)


class Arrays(Part):
    """What functions of arrays mean."""

    @means(np.einsum)
    def with_subscripts(self, s: Assign) -> tuple[Statement, ...] | None:
        """``np.einsum(A, [0, 1], B, [1, 2])`` with its indices as a text."""
        if not isinstance(self.types.of(s.args[0]), Array):
            return None
        operands, lists = s.args[::2], list(s.args[1::2])
        if len(s.args) % 2:
            operands, lists = operands[:-1], [*lists, s.args[-1]]
        terms = []
        for atom in lists:
            made = self.definitions.get(atom) if isinstance(atom, str) else None
            items = made.args if isinstance(made, Assign) and made.op in (ops.make_list, ops.make_tuple) else None
            if isinstance(atom, Const) and isinstance(atom.value, (list, tuple)):
                items = tuple(map(Const, atom.value))
            if items is None or not all(isinstance(i, Const) for i in items):
                return None
            terms.append("".join("..." if i.value is ... else chr(ord("a") + i.value) for i in items))  # type: ignore[union-attr]
        text = ",".join(terms[: len(operands)]) + ("->" + terms[-1] if len(s.args) % 2 else "")
        return (replace(s, args=(Const(text), *operands)),)

    @means(np.select)
    def selected(self, s: Assign) -> tuple[Statement, ...] | None:
        """``np.select([c, d], [x, y], z)`` as ``np.where(c, x, np.where(d, y, z))``, if its lists are written out."""
        made = [self.definitions.get(a) if isinstance(a, str) and a.startswith("%") else None for a in s.args[:2]]
        if not all(isinstance(m, Assign) and m.op in (ops.make_list, ops.make_tuple) and m.args for m in made):
            return None
        tests, choices = (m.args for m in made)  # type: ignore[union-attr]
        if len(tests) != len(choices) or not all(isinstance(self.types.of(t), Array) for t in tests):
            return None
        result: Atom = (*s.args[2:], *(v for _, v in s.keywords), Const(0))[0]
        out: list[Statement] = []
        for test, choice in zip(reversed(tests), reversed(choices), strict=True):
            target = s.target if len(out) == len(tests) - 1 else self.fresh("%chosen")
            out.append(Assign(target, np.where, (test, choice, result), (), s.span))
            result = target
        return tuple(out)

    def is_list(self, atom: Atom) -> bool:
        t = self.types.of(atom)
        return isinstance(t, (Sequence, Tuple)) and getattr(t, "cls", None) is None and is_differentiable(t)

    def is_list_of_numbers(self, atom: Atom) -> bool:
        t = self.types.of(atom)
        if isinstance(t, Known):
            return isinstance(t.value, (list, tuple)) and all(isinstance(v, (int, float, complex)) for v in t.value)
        return isinstance(t, (Sequence, Tuple)) and getattr(t, "cls", None) is None and not is_dynamic_dict(t)

    def lists_as_arrays(self, s: Assign) -> tuple[Statement, ...] | None:
        """``x * [1, 2, 3]`` with an array x, ``np.mean([a, b])``: the list stands for the array of its items."""
        if (isinstance(s.op, np.ufunc) or s.op in OF_LISTS) and self.is_list(s.args[0]):
            lists = [k == 0 for k, _ in enumerate(s.args)]
        elif s.op in WITH_ARRAYS and any(
            _is_of_numpy(self.types.of(a)) or s.op is np.dot and self.is_list(a) for a in s.args
        ):
            lists = list(map(self.is_list_of_numbers, s.args))
        else:
            return None
        out: list[Statement] = []
        args = list(s.args)
        for k, a in enumerate(s.args):
            if lists[k]:
                args[k] = self.fresh("%array")
                out.append(Assign(args[k], np.array, (a,), (), s.span))  # type: ignore[arg-type]
        return (*out, replace(s, args=tuple(args))) if out else None

    @means(runtime.plus)
    def sum_of_numbers(self, s: Assign) -> tuple[Statement, ...] | None:
        numeric = all(isinstance(self.types.of(a), (Scalar, Array)) for a in s.args)
        return (replace(s, op=operator.add),) if numeric else None

    @means(*ALONG_AXES)
    def reduction(self, s: Assign) -> tuple[Statement, ...] | None:
        """``np.sum(x, 1)`` is ``np.sum(x, axis=1)``, by which it is known wherever it is looked for."""
        if len(s.args) != 2 or "axis" in dict(s.keywords):
            return None
        return (replace(s, args=s.args[:1], keywords=(("axis", s.args[1]), *s.keywords)),)

    @means(builtins.sum)
    def over_rows(self, s: Assign) -> tuple[Statement, ...] | None:
        """Python's ``sum``, ``max`` and ``min`` run over the first axis of an array."""
        if len(s.args) != 1 or not isinstance(self.types.of(s.args[0]), Array):
            return None
        return (replace(s, op=REDUCES[s.op], keywords=(*s.keywords, ("axis", Const(0)))),)  # type: ignore[arg-type,index]

    @means(np.array, np.asarray)
    def as_array(self, s: Assign) -> tuple[Statement, ...] | None:
        if len(s.args) == 2 or "dtype" in dict(s.keywords):
            return self.cast(s)
        is_list = s.op is np.asarray and isinstance(self.types.of(s.args[0]), (Sequence, Tuple))
        return (replace(s, op=np.array),) if is_list else None  # an array of its own

    @means(*NUMBER_TYPES)
    def as_number(self, s: Assign) -> tuple[Statement, ...] | None:
        """``np.float64(x)`` of an array gives an array: itself, if it has the dtype."""
        if not s.args or not isinstance(self.types.of(s.args[0]), (Array, Sequence, Tuple)):
            return None
        return self.cast(replace(s, op=np.asarray, keywords=(("dtype", Const(s.op)),)))

    @means(np.copy)
    def in_order(self, s: Assign) -> tuple[Statement, ...] | None:
        """``x.copy()``, which puts the axes in order, for a copy that need not keep them as they lie."""
        keeps = s.keywords != (("order", Const("K")),) or self.keeps_layout(s.args[0])
        return None if keeps else (replace(s, keywords=()),)

    @means(builtins.reversed)
    def backwards(self, s: Assign) -> tuple[Statement, ...] | None:
        """The items, all at once, where no loop runs over them."""
        if s.target in self.run_over or not isinstance(self.types.of(s.args[0]), (Array, Sequence, Tuple)):
            return None
        return (replace(s, op=operator.getitem, args=(s.args[0], Const(slice(None, None, -1)))),)

    @means(operator.pow)
    def power(self, s: Assign) -> tuple[Statement, ...] | None:
        """A power that stays real, in a function that asks for parts of complex numbers."""
        if not self.asks_for_parts or are_complex():
            return None
        types = [Known(a) if isinstance(a, Const) else self.types.of(a) for a in s.args]
        return (replace(s, op=runtime.real_power),) if may_turn(s.op, types) else None

    @means(np.imag)
    def no_part(self, s: Assign) -> tuple[Statement, ...] | None:
        """The imaginary part of a real array, which is not memory of it."""
        t = self.types.of(s.args[0])
        if not isinstance(t, Array) or is_complex(t):
            return None
        refuse_parts(self.function, self.types, s)
        return (replace(s, op=np.zeros_like),)

    @means(ops.in_order)
    def in_order_if_it_shows(self, s: Assign) -> tuple[Statement, ...]:
        """The order of entries matters where a reshape may be a view of an array that changes."""
        if self.keeps_layout(s.args[0]) and self.memory().is_changed(s.target):
            return (replace(s, op=np.copy, keywords=(("order", Const("C")),)),)
        return (replace(s, op=ops.identity),)

    @means(ops.copied)
    def copied(self, s: Assign) -> tuple[Statement, ...] | None:
        t = self.types.of(s.args[0])
        if not isinstance(t, (Array, Scalar)):
            return None
        return (self.copy_of_array(s) if isinstance(t, Array) else replace(s, op=ops.identity, args=s.args[:1]),)

    @means(copy.copy)
    def shallow_copy(self, s: Assign) -> tuple[Statement, ...] | None:
        op = self.shallow(self.types.of(s.args[0]))
        return None if op is None else (self.copy_of_array(s) if op is np.copy else replace(s, op=op),)

    def copy_of_array(self, s: Assign) -> Assign:
        """A copy that keeps the axes as they lie, where that can be seen."""
        keywords = (("order", Const("K")),) if self.keeps_layout(s.args[0]) else ()
        return replace(s, op=np.copy, args=s.args[:1], keywords=keywords)

    @functools.cached_property
    def asks_for_parts(self) -> bool:
        """Whether the function asks for what of a complex number a real one does not have."""
        made = [s for s in statements(self.function.body) if isinstance(s, Assign)]
        parts = {builtins.float, np.real, np.imag, np.conj, np.angle}
        named = {Const(n) for n in ("real", "imag", "conjugate", "conj")}
        return any(s.op in parts or not named.isdisjoint(a for a in s.args if isinstance(a, Const)) for s in made)

    @staticmethod
    def shallow(t: Type) -> Any:
        """What copies a value, and not what it holds; None if that is not known."""
        if isinstance(t, Array):
            return np.copy
        if isinstance(t, Dict) or isinstance(t, Sequence) and t.kind is dict:
            return builtins.dict
        if isinstance(t, Sequence) and t.kind is list:
            return builtins.list
        return ops.identity if isinstance(t, (Scalar, Tuple, Sequence)) else None

    def cast(self, s: Assign) -> tuple[Statement, ...]:
        """``np.array(x, float)``: the array, and then its cast if it has another dtype."""
        given = dict(s.keywords)
        dtype = given.pop("dtype", s.args[-1])
        t = self.types.of(s.args[0])
        op = np.array if isinstance(t, (Sequence, Tuple)) else s.op
        plain = replace(s, op=op, args=s.args[:1], keywords=tuple(given.items()))
        try:
            same = isinstance(t, Array) and isinstance(dtype, Const) and np.dtype(dtype.value) == np.dtype(t.dtype)
        except TypeError:
            return (s,)
        if same or dtype == Const(None):
            return (plain,)
        made = self.fresh("%array")
        if hasattr(np, "astype"):
            return replace(plain, target=made), replace(s, op=np.astype, args=(made, dtype), keywords=())
        return replace(plain, target=made), replace(s, op=ops.method, args=(made, Const("astype"), dtype), keywords=())

    @means(np.sign)
    def direction(self, s: Assign) -> tuple[Statement, ...] | None:
        """The sign of a complex number, z / |z| and 0 at 0, which turns with it: that of a real number is constant."""
        if s.keywords or not is_complex(self.types.of(s.args[0])):
            return None
        z, zero, size, divisor = s.args[0], self.fresh("%is_zero"), self.fresh("%size"), self.fresh("%divisor")
        return (
            Assign(zero, operator.eq, (z, Const(0)), (), s.span),
            Assign(size, np.abs, (z,), (), s.span),
            Assign(divisor, np.where, (zero, Const(1), size), (), s.span),
            replace(s, op=operator.truediv, args=(z, divisor)),
        )

    @means(builtins.max, builtins.min)
    def extreme(self, s: Assign) -> tuple[Statement, ...]:
        """``max`` of several numbers, or of the items of a list."""
        if (over_rows := self.over_rows(s)) is not None:
            return over_rows
        if s.keywords:
            return (s,)
        if len(s.args) == 1:
            t = self.types.of(s.args[0])
            if not (isinstance(t, (Sequence, Tuple)) and t.items and all(isinstance(i, Scalar) for i in t.items)):
                return (s,)
            if not is_differentiable(t):
                return (s,)
            made, extreme = self.fresh("%array"), self.fresh(f"%{s.op.__name__}_of_items")  # type: ignore[union-attr]
            array = Assign(made, np.array, s.args, (), s.span)
            if not all(i.weak for i in t.items):  # type: ignore[union-attr]
                return (array, replace(s, op=REDUCES[s.op], args=(made,)))  # type: ignore[arg-type]
            of_array = Assign(extreme, REDUCES[s.op], (made,), (), s.span)  # type: ignore[arg-type]
            return (array, of_array, replace(s, op=ops.item, args=(extreme,)))  # a number of Python's
        out: list[Statement] = []
        first: Atom = s.args[0]
        for k, atom in enumerate(s.args[1:]):
            last = k == len(s.args) - 2
            target = s.target if last else self.fresh(f"%{s.op.__name__}")
            out.append(Assign(target, s.op, (first, atom), (), s.span))
            first = target
        return tuple(out)


def _is_of_numpy(t: Type) -> bool:
    """Whether a value makes an array of a list that is its other operand: an array, or a number of NumPy's, which is no
    number of times."""
    return isinstance(t, Array) or isinstance(t, Scalar) and not t.weak and np.dtype(t.dtype).kind in "fc"
