"""What a statement means once the types are known.

x.sum(axis=1)                ->   np.sum(x, axis=1)
total += d     (a float)     ->   total.1 = total + d
h += b         (an array)    ->   h.1 = h + b            where no other name sees h
u += b         (seen by v)   ->   u += b                 in place
for row in A:  (floats)      ->   for i in range(len(A)): row = A[i]
"""

from __future__ import annotations

import builtins
import copy
import functools
import operator
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from tangentc import runtime
from tangentc.analysis.aliases import COPIES_MAYBE, Aliases
from tangentc.analysis.parts import gives_keys
from tangentc.analysis.points import change_of
from tangentc.analysis.turning import are_complex, may_turn, refuse_parts
from tangentc.core import ops
from tangentc.core.build import shape_of
from tangentc.core.nodes import (
    PRESENT,
    Assign,
    Atom,
    Carry,
    Const,
    Effect,
    For,
    Function,
    Global,
    If,
    Statement,
    Store,
    While,
    version_base,
)
from tangentc.core.types import (
    Array,
    Dict,
    Known,
    Optional,
    Scalar,
    Sequence,
    Struct,
    Tuple,
    Type,
    Unknown,
    components,
    holds_numbers,
    is_complex,
    is_container,
    is_differentiable,
    is_long,
    is_set,
    may_be_number,
    present,
    type_of,
)
from tangentc.core.walk import defines, definitions, reads, statements, substitute, substitute_block, transform
from tangentc.errors import Span, UnsafeMutation, UnsupportedSyntax
from tangentc.frontend.into import place_of_out
from tangentc.ops import methods

OF_COMPLEX = {Const("real"): np.real, Const("imag"): np.imag}
PARTS: dict[Const, Any] = OF_COMPLEX | {
    Const("T"): np.transpose,
    Const("mT"): np.matrix_transpose,
}  # attributes that are functions
REDUCES = {builtins.sum: np.sum, builtins.max: np.max, builtins.min: np.min}
SPREAD = {"reshape": 1, "transpose": 1}
IN_PLACE = {np.copyto, np.put, np.put_along_axis, np.fill_diagonal, np.add.at, np.subtract.at}
SUBJECT_FIRST = {ops.method, builtins.getattr}
RUNS = (builtins.enumerate, builtins.zip, builtins.reversed)
OF_SETS = {
    operator.or_: "update", operator.and_: "intersection_update", operator.sub: "difference_update",
    operator.xor: "symmetric_difference_update",
}  # fmt: skip
OF_LISTS = {
    np.prod, np.mean, np.cumsum, np.cumprod, np.max, np.min, np.amax, np.amin, np.std, np.var, np.linalg.norm,
    np.median, np.average, np.ptp, np.diff,
}  # fmt: skip  # functions that take a list for the array of its items
WITH_ARRAYS = {
    operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.matmul, np.dot, np.inner,
    np.matmul, np.outer, np.vdot, np.add, np.subtract, np.multiply, np.divide, np.power, np.maximum, np.minimum,
    np.where, np.hypot, np.arctan2, np.kron, np.convolve, np.interp,
}  # fmt: skip
MUTATORS = methods.names(changes=True)


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
    return _Specialise(function, types, names).run()


class _Specialise:
    def __init__(self, function: Function, types: Any, names: Any):
        self.function, self.types, self.fresh = function, types, names
        self.aliases: Aliases | None = None
        self.definitions = definitions(function.body)
        self.same: dict[str, str] = {}
        self.narrowed: dict[str, str] = {}  # names for what is not None, of which others know that it may be

    def run(self) -> Function:
        body = transform(self.function.body, self.statement)
        body = substitute_block(body, self._resolved())
        result = self.function.result
        if isinstance(result, str):
            result = self._resolved().get(result, result)
        return replace(self.function, body=body, result=result)

    def _resolved(self) -> dict[str, str]:
        out = {}
        for name, target in self.same.items():
            while target in self.same:
                target = self.same[target]
            out[name] = target
        return out

    def statement(self, s: Statement) -> tuple[Statement, ...]:
        for subject in _subjects(s):
            if isinstance(subject, str) and isinstance(self.types.of(subject), Optional):
                known = self._given(subject, s)
                table: dict[str, Atom] = {subject: known.target}
                given = replace(s, iterable=known.target) if isinstance(s, For) else substitute(s, table)
                return (known, *self.statement(given))
        match s:
            case Assign(op=ops.augmented() as op):
                return self._augmented(s, op.op)
            case Store() if (whole := self._flattened(s.object)) is not None:
                return self._store_flat(s, whole)
            case Assign(op=operator.getitem) if (whole := self._flattened(s.args[0])) is not None:
                flat = self.fresh("%flat")
                return Assign(flat, np.ravel, (whole,), (), s.span), replace(s, args=(flat, s.args[1]))
            case Assign(op=builtins.getattr, args=(_, Const(value="flat"))) if self._flattened(s.target) is not None:
                return (self._flat(s),)
            case Store() if s.key == Const(...) and isinstance(self.types.of(s.object), (Tuple, Sequence)):
                raise UnsafeMutation(
                    f"{self.function.name} writes a result into the arrays of a tuple", s.span,
                    why="`out` is given a tuple by a name, or a list", way_out="write the tuple out: out=(y,)",
                )  # fmt: skip
            case Store() if s.op is not None and s.key is not None:
                return self._augmented_item(s)
            case Store(op=None) if self._is_there(s):
                return ()
            case Store(op=None) if (key := self._known_key(s.object, s.key)) is not None:
                return (replace(s, key=key),)
            case Assign(op=operator.getitem, args=(x, Const(value=() | None))) if isinstance(self.types.of(x), Scalar):
                as_it_is = s.args[1] == Const(())  # of a number of NumPy's
                return (replace(s, op=ops.identity if as_it_is else np.atleast_1d, args=(x,)),)
            case Assign(op=operator.getitem) if (key := self._known_key(*s.args)) is not None:
                return (replace(s, args=(s.args[0], key)),)
            case Effect() | Assign() if self._shuffles(s):
                raise UnsafeMutation(
                    f"{self.function.name} shuffles in place", s.span,
                    why="where each item goes is not known outside of NumPy",
                    way_out="draw the order, i = rng.permutation(len(a)), and take a[i]",
                )  # fmt: skip
            case Store(key=Const(value=ops.Attribute())) if isinstance(self.types.of(s.object), Array):
                return self._array_attribute(s)
            case Assign() if s.op is runtime.plus and all(
                isinstance(self.types.of(a), (Scalar, Array)) for a in s.args
            ):
                return (replace(s, op=operator.add),)
            case Assign(op=np.einsum) if isinstance(self.types.of(s.args[0]), Array):
                return (self._with_subscripts(s),)
            case Assign() if s.op in (np.array, np.asarray) and (len(s.args) == 2 or "dtype" in dict(s.keywords)):
                return self._cast(s)
            case Assign() if self._is_scalar_type(s.op) and isinstance(
                self.types.of(s.args[0]), (Array, Sequence, Tuple)
            ):
                return self._cast(replace(s, op=np.asarray, keywords=(("dtype", Const(s.op)),)))
            case Assign(op=np.asarray) if isinstance(self.types.of(s.args[0]), (Sequence, Tuple)):
                return (replace(s, op=np.array),)  # an array of its own
            case Assign() if (isinstance(s.op, np.ufunc) or s.op in OF_LISTS) and self._is_list(s.args[0]):
                made = self.fresh("%array")
                return (Assign(made, np.array, s.args[:1], (), s.span), replace(s, args=(made, *s.args[1:])))
            case Assign() if (
                s.op in WITH_ARRAYS
                and any(_is_of_numpy(self.types.of(a)) or s.op is np.dot and self._is_list(a) for a in s.args)
                and any(map(self._is_list_of_numbers, s.args))
            ):
                return self._lists_as_arrays(s)
            case Assign() if s.op is operator.or_ and all(isinstance(self.types.of(a), Dict) for a in s.args):
                return self._united(s)
            case Assign(op=np.copy, keywords=(("order", Const(value="K")),)) if not self.keeps_layout(s.args[0]):
                return (replace(s, keywords=()),)  # x.copy(), which puts the axes in order, does as well
            case Assign(op=np.select) if (chosen := self._selected(s)) is not None:
                return chosen
            case Assign(op=ops.reshaped):
                return (self._reshaped(s),)
            case Assign() if s.op is ops.method:
                return tuple(r for made in self._method(s) for r in self._again(made))
            case Assign() if s.op in REDUCES and len(s.args) == 1 and isinstance(self.types.of(s.args[0]), Array):
                return (replace(s, op=REDUCES[s.op], keywords=(*s.keywords, ("axis", Const(0)))),)  # type: ignore[arg-type]
            case Assign() if s.op is builtins.reversed and s.target not in self._run_over:
                if isinstance(self.types.of(s.args[0]), (Array, Sequence, Tuple)):  # the items, all at once
                    return (replace(s, op=operator.getitem, args=(s.args[0], Const(slice(None, None, -1)))),)
            case Assign() if s.op in (builtins.max, builtins.min):
                return self._extreme(s)
            case Assign() if (
                s.op is builtins.getattr
                and s.args[1] in PARTS
                and isinstance(self.types.of(s.args[0]), (Array, Scalar))
            ):
                return self.statement(replace(s, op=PARTS[s.args[1]], args=s.args[:1]))  # type: ignore[index]
            case Assign() if s.op is operator.pow and self._asks_for_parts and not are_complex():
                types = [Known(a) if isinstance(a, Const) else self.types.of(a) for a in s.args]
                return (replace(s, op=runtime.real_power),) if may_turn(s.op, types) else (s,)
            case Assign(op=np.imag) if isinstance(t := self.types.of(s.args[0]), Array) and not is_complex(t):
                refuse_parts(self, s)
                return (replace(s, op=np.zeros_like),)  # not memory of the array
            case Assign(op=ops.copied) if isinstance(t := self.types.of(s.args[0]), (Array, Scalar)):
                return (replace(s, op=np.copy if isinstance(t, Array) else ops.identity, args=s.args[:1]),)
            case Assign(op=copy.copy) if (op := self._shallow(self.types.of(s.args[0]))) is not None:
                return (replace(s, op=op),)
            case Assign(op=np.sign) if not s.keywords and is_complex(self.types.of(s.args[0])):
                return self._direction(s)
            case Effect() if s.op is ops.method:
                return self._effect(s)
            case Effect() if s.op is runtime.add_items:
                return self._add_items(s)
            case Effect() if s.op in IN_PLACE:
                return self._in_place(s, s.op, s.args, dict(s.keywords))
            case Effect() | Assign() if "out" in dict(s.keywords):
                return self._out(s)
            case Effect() | Assign() if (place := place_of_out(s.op)) is not None and len(s.args) > place:
                keywords = (*s.keywords, ("out", s.args[place]))
                return self._out(replace(s, args=s.args[:place], keywords=keywords))  # type: ignore[arg-type]
            case For():
                return self._loop(s)
            case If() if not isinstance(self.types.of(s.test), (Scalar, Known)):  # it may be another one later
                test = self.fresh("%test")
                return Assign(test, builtins.bool, (s.test,), (), s.span), replace(s, test=test)
        return (s,)

    def _shuffles(self, s: Assign | Effect) -> bool:
        """Whether this is a generator's or a module's ``shuffle``, and not a function of the user's."""
        if s.op is not ops.method:
            return getattr(s.op, "__name__", "") == "shuffle" and ops.module_root(s.op) in ("numpy", "random", "")
        return s.args[1] == Const("shuffle") and not isinstance(self.types.of(s.args[0]), Struct)

    def _given(self, x: str, s: Statement) -> Assign:
        """Another name for a value that is not None where a statement has it for its subject."""
        known = Assign(self.fresh(x), ops.identity, (x,), PRESENT, s.span)
        self.narrowed[known.target] = x
        self.types.of_name[known.target] = present(self.types.of(x))
        return known

    def _known_key(self, x: Atom, key: Atom | None) -> Const | None:
        """The key of a dict that has a name, and one value."""
        t = self.types.of(key) if isinstance(key, str) else None
        is_key = isinstance(t, Known) and isinstance(t.value, str) and gives_keys(self.types.of(x))
        return t.const if is_key else None  # type: ignore[union-attr]

    def _is_there(self, s: Store) -> bool:
        """Whether what is stored is what stands there: the view itself, after ``view += y``."""
        made = self.definitions.get(self._resolved().get(s.value, "")) if isinstance(s.value, str) else None
        return (
            isinstance(made, Assign)
            and made.op is operator.getitem
            and made.args == (s.object, s.key)
            and isinstance(self.types.of(s.object), Array)
            and isinstance(self.types.of(made.target), Array)
            and s.value in self.same
            and self._aliases().is_view(made.target)
        )

    def _again(self, s: Statement) -> tuple[Statement, ...]:
        """What a method turned out to be: a function, with an ``out`` perhaps."""
        return self.statement(s) if isinstance(s, (Assign, Effect)) and "out" in dict(s.keywords) else (s,)

    def _flattened(self, atom: Atom) -> str | None:
        """The array that ``atom`` is the ``flat`` of."""
        made = self.definitions.get(self._resolved().get(atom, atom)) if isinstance(atom, str) else None
        if not isinstance(made, Assign) or made.op is not builtins.getattr or made.args[1] != Const("flat"):
            return None
        whole = made.args[0]
        return whole if isinstance(whole, str) and isinstance(self.types.of(whole), Array) else None

    def _flat(self, s: Assign) -> Assign:
        """``x.flat`` as an array, which has what x holds now."""
        stored = {
            self._resolved().get(t.object, t.object) for t in statements(self.function.body) if isinstance(t, Store)
        }
        taken = any(
            s.target in reads(t) and not (isinstance(t, Assign) and t.op is operator.getitem and t.args[0] == s.target)
            for t in statements(self.function.body)
            if not isinstance(t, Store)
        )
        if taken and self._resolved().get(s.args[0], s.args[0]) in stored:  # type: ignore[arg-type]
            raise UnsafeMutation(
                f"{_plain(s.args[0])}.flat is in use while {_plain(s.args[0])} changes", s.span,
                why="it has what the array holds when it is asked", way_out="take the items by subscript",
            )  # fmt: skip
        return replace(s, op=np.ravel, args=s.args[:1])

    def _store_flat(self, s: Store, whole: str) -> tuple[Statement, ...]:
        """``x.flat[key] = value``: the value is repeated as often as it takes."""
        names = ("%size", "%shape", "%places", "%taken", "%key", "%count", "%value")
        size, shape, places, taken, key, count, value = map(self.fresh, names)
        out: list[Statement] = [
            Assign(size, np.size, (whole,), (), s.span),
            Assign(shape, np.shape, (whole,), (), s.span),
            Assign(places, np.arange, (size,), (), s.span),
            Assign(taken, operator.getitem, (places, s.key), (), s.span),  # type: ignore[arg-type]
            Assign(key, np.unravel_index, (taken, shape), (), s.span),
        ]
        given: Atom = s.value
        if s.op is None and not isinstance(self.types.of(given), Scalar):
            given = value
            out += [
                Assign(count, np.shape, (taken,), (), s.span),
                Assign(value, np.resize, (s.value, count), (), s.span),
            ]
        store = Store(whole, key, given, s.op, s.span)
        return (*out, *(self._augmented_item(store) if s.op is not None else (store,)))

    def _array_attribute(self, s: Store) -> tuple[Statement, ...]:
        """``z.real = x`` stores into a view."""
        name = str(s.key.value)  # type: ignore[union-attr]
        if name == "flat":
            return self._store_flat(replace(s, key=Const(slice(None))), s.object)
        if name not in ("real", "imag"):
            raise self._changes_its_form(s, s.object, name)
        part = self.fresh(f"%{name}")
        view = Assign(part, OF_COMPLEX[Const(name)], (s.object,), (), s.span)
        return (view, Store(part, Const(...), s.value, None, s.span))

    def _changes_its_form(self, s: Statement, array: str, attribute: str) -> UnsafeMutation:
        return UnsafeMutation(
            f"{self.function.name} assigns {_plain(array)}.{attribute}", s.span,
            why="this changes what an array is, not what it holds", way_out="make a new array, by reshape or view",
        )  # fmt: skip

    def _reshaped(self, s: Assign) -> Assign:
        """``x.shape = s`` as ``x = np.reshape(x, s)``, if no other name of the array is read afterwards."""
        array = s.args[0]
        if isinstance(self.types.of(array), Array):
            root = self._aliases().root(array)  # type: ignore[arg-type]
            others = self.classes.get(root, set())
            program = list(statements(self.function.body))
            around = [x for x in program if isinstance(x, (For, While)) and any(y is s for y in statements((x,)))]
            after = program[program.index(around[0] if around else s) + 1 :]
            made = {s.target, *(name for x in after for name in defines(x))}
            form = [x for x in after if isinstance(x, Assign) and x.op is ops.reshaped]  # whatever it was before
            read = {self.function.result, *(a for x in after if x not in form for a in reads(x))} - made
            given = any(p.name in others for p in self.function.params) or self._aliases().is_outside(array)  # type: ignore[arg-type]
            if given or around or not others.isdisjoint(read):
                raise self._changes_its_form(s, array, "shape")  # type: ignore[arg-type]
        return replace(s, op=np.reshape)

    def _with_subscripts(self, s: Assign) -> Assign:
        """``np.einsum(A, [0, 1], B, [1, 2])`` with its indices as a text."""
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
                return s
            terms.append("".join("..." if i.value is ... else chr(ord("a") + i.value) for i in items))  # type: ignore[union-attr]
        text = ",".join(terms[: len(operands)]) + ("->" + terms[-1] if len(s.args) % 2 else "")
        return replace(s, args=(Const(text), *operands))

    def _selected(self, s: Assign) -> tuple[Statement, ...] | None:
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

    def _is_list(self, atom: Atom) -> bool:
        t = self.types.of(atom)
        return isinstance(t, (Sequence, Tuple)) and getattr(t, "cls", None) is None and is_differentiable(t)

    def _is_list_of_numbers(self, atom: Atom) -> bool:
        t = self.types.of(atom)
        if isinstance(t, Known):
            return isinstance(t.value, (list, tuple)) and all(isinstance(v, (int, float, complex)) for v in t.value)
        return isinstance(t, (Sequence, Tuple)) and getattr(t, "cls", None) is None and not _is_dynamic_dict(t)

    def _lists_as_arrays(self, s: Assign) -> tuple[Statement, ...]:
        """``x * [1, 2, 3]`` with an array x: the list stands for the array of its items."""
        out: list[Statement] = []
        args: list[Atom] = []
        for a in s.args:
            if self._is_list_of_numbers(a):
                made = self.fresh("%array")
                out.append(Assign(made, np.array, (a,), (), s.span))
                a = made
            args.append(a)
        return (*out, replace(s, args=tuple(args)))

    @functools.cached_property
    def _asks_for_parts(self) -> bool:
        """Whether the function asks for what of a complex number a real one does not have."""
        made = [s for s in statements(self.function.body) if isinstance(s, Assign)]
        parts = {builtins.float, np.real, np.imag, np.conj, np.angle}
        named = {Const(n) for n in ("real", "imag", "conjugate", "conj")}
        return any(s.op in parts or not named.isdisjoint(a for a in s.args if isinstance(a, Const)) for s in made)

    @staticmethod
    def _shallow(t: Type) -> Any:
        """What copies a value, and not what it holds; None if that is not known."""
        if isinstance(t, Array):
            return np.copy
        if isinstance(t, Dict) or isinstance(t, Sequence) and t.kind is dict:
            return builtins.dict
        if isinstance(t, Sequence) and t.kind is list:
            return builtins.list
        return ops.identity if isinstance(t, (Scalar, Tuple, Sequence)) else None

    @staticmethod
    def _is_scalar_type(op: Any) -> bool:
        """Whether this is ``np.float64`` or its like, which of an array give an array: itself, if it has the dtype."""
        return isinstance(op, type) and issubclass(op, np.number)

    def _cast(self, s: Assign) -> tuple[Statement, ...]:
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

    def _united(self, s: Assign) -> tuple[Statement, ...]:
        """``d | e`` for dicts whose keys are known."""
        entries: dict[Any, Atom] = {}
        out: list[Statement] = []
        for d in s.args:
            for key in self.types.of(d).keys:
                entries[key] = self.fresh(f"%{key}")
                out.append(Assign(str(entries[key]), operator.getitem, (d, Const(key)), (), s.span))
        return (*out, replace(s, op=ops.make_dict, args=(Const(tuple(entries)), *entries.values())))

    def keeps_layout(self, atom: Atom) -> bool:
        """Whether it matters in which order the entries of a copy lie: another statement asks for a view in order."""
        t = self.types.of(atom)
        return isinstance(t, Array) and len(t.shape) > 1 and asks_for_layout(self.function)

    # ---------------------------------------------------------- x op= y
    def _augmented(self, s: Assign, op: Any) -> tuple[Statement, ...]:
        x = s.args[0]
        t = self.types.of(x)
        if isinstance(t, Scalar):
            return (replace(s, op=op),)
        if is_set(t) and op in OF_SETS:
            update = Effect(ops.method, (x, Const(OF_SETS[op]), s.args[1]), (), s.span)
            return (update, replace(s, op=ops.identity, args=(x,)))
        if isinstance(t, Unknown):
            raise UnsafeMutation(
                f"whether `{s.span.text.strip()}` changes an array or rebinds a name is not known",
                s.span,
                why=f"the type of {_plain(x)} is not known" + (f": {t.reason}" if t.reason else ""),
                way_out=f"write {_plain(x)} = {_plain(x)} + ..., or call the function with arguments of known types",
            )
        if isinstance(t, (Tuple, Sequence)) and isinstance(self.types.of(s.args[1]), Array):
            return self.statement(replace(s, op=op))  # NumPy's arithmetic comes before that of lists
        if isinstance(t, (Tuple, Known)) or isinstance(t, Sequence) and t.kind is tuple:
            return (replace(s, op=op),)
        if isinstance(t, Sequence) and op is operator.mul and isinstance(x, str):
            if isinstance(n := s.args[1], Const) and type(n.value) is int and n.value > 0:
                once = self.fresh("%items")
                self.types.of_name[once] = t
                made = Assign(once, operator.getitem, (x, Const(slice(None))), (), s.span)
                more = [new for _ in range(n.value - 1) for new in self._extend(x, once, s)]
                return (made, *more, replace(s, op=ops.identity, args=(x,)))
        if isinstance(t, Sequence) and op is operator.add and isinstance(x, str):
            return (*self._extend(x, s.args[1], s), replace(s, op=ops.identity, args=(x,)))
        if isinstance(t, Dict) and op is operator.or_ and isinstance(x, str):
            update = Effect(ops.method, (x, Const("update"), s.args[1]), (), s.span)
            return (*self._effect(update), replace(s, op=ops.identity, args=(x,)))
        if may_be_number(t):
            if isinstance(x, str) and (self._unshared(x) or self._shared_later(x, s)):
                return (replace(s, op=op),)
            raise UnsafeMutation(
                f"whether `{s.span.text.strip()}` changes an array or rebinds a name is not known", s.span,
                why=f"{_plain(x)} may still be a number, and other names may stand for the array",
                way_out=f"write {_plain(x)} = {_plain(x)} + ...",
            )  # fmt: skip
        if not isinstance(t, Array):
            raise UnsupportedSyntax(
                f"{self.function.name} changes {_plain(x)} in place, which has no adjoint", s.span,
                why="only numbers, arrays and lists have augmented assignments", way_out="make a new value",
            )  # fmt: skip
        result = self.types.result(op, s.args)
        assert isinstance(x, str)
        if result == t and self._unshared(x):
            return (replace(s, op=op),)
        self.same[s.target] = x
        if op in (operator.add, operator.sub):
            return (Store(x, None, s.args[1], op, s.span),)
        value = self.fresh("%rhs")
        return (Assign(value, op, s.args, (), s.span), Store(x, Const(...), value, None, s.span))

    def _direction(self, s: Assign) -> tuple[Statement, ...]:
        """The sign of a complex number, z / |z| and 0 at 0, which turns with it: that of a real number is constant."""
        z, zero, size, divisor = s.args[0], self.fresh("%is_zero"), self.fresh("%size"), self.fresh("%divisor")
        return (
            Assign(zero, operator.eq, (z, Const(0)), (), s.span),
            Assign(size, np.abs, (z,), (), s.span),
            Assign(divisor, np.where, (zero, Const(1), size), (), s.span),
            replace(s, op=operator.truediv, args=(z, divisor)),
        )

    def _extreme(self, s: Assign) -> tuple[Statement, ...]:
        """``max`` of several numbers, or of the items of a list."""
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

    def _augmented_item(self, s: Store) -> tuple[Statement, ...]:
        """``x[i] op= y``: one store into an array for sums and differences; else read, compute, store."""
        assert s.key is not None and s.op is not None
        if isinstance(self.types.of(s.object), Array) and s.op in (operator.add, operator.sub):
            return (s,)
        old, new = self.fresh(f"%{_plain(s.object)}_item"), self.fresh("%rhs")
        read = Assign(old, operator.getitem, (s.object, s.key), (), s.span)
        combine = Assign(new, s.op, (old, s.value), (), s.span)
        is_array = isinstance(self.types.of_name.get(s.object), Array)
        is_known = not is_array and s.object in self.types.of_name
        t = self.types.result(operator.getitem, read.args) if is_known else Unknown()
        if is_array or isinstance(t, (Scalar, Tuple, Known)):
            return (read, combine, Store(s.object, s.key, new, None, s.span))
        if isinstance(t, Optional):
            self.types.of_name[old] = t
            known = self._given(old, s)
            update = Assign(new, ops.augmented(s.op), (known.target, s.value), (), s.span)
            return (read, known, *self.statement(update), Store(s.object, s.key, new, None, s.span))
        if isinstance(t, Array):  # an array in a list changes where it is
            if s.op in (operator.add, operator.sub):
                return (read, Store(old, None, s.value, s.op, s.span))
            return (read, combine, Store(old, Const(...), new, None, s.span))
        if isinstance(t, Sequence) and s.op is operator.add:
            self.types.of_name[old] = t
            return (read, *self._extend(old, s.value, s))
        raise UnsafeMutation(
            f"whether `{s.span.text.strip()}` changes what {_plain(s.object)} holds or replaces it is not known",
            s.span,
            why="its type is not known" + (f": {t.reason}" if isinstance(t, Unknown) and t.reason else ""),
            way_out="assign the new value, or call the function with arguments of known types",
        )  # fmt: skip

    def _aliases(self) -> Aliases:
        if self.aliases is None:
            self.aliases = Aliases(_without_augmented(self.function), self.types)
            self.classes: dict[str, set[str]] = {}
            for name in self.types.of_name:
                self.classes.setdefault(self.aliases.root(name), set()).add(name)
        return self.aliases

    def _unshared(self, x: str) -> bool:
        """Whether no other name can see the memory of ``x``, so that a new array does as well."""
        self._aliases()
        assert self.aliases is not None
        x = self.narrowed.get(x, x)
        members = self.classes.get(self.aliases.root(x))
        if members is None:  # an item of a container
            return False
        if self.aliases.is_changed(x) or any(p.name in members for p in self.function.params):
            return False
        held = any(is_container(self.types.of(name)) for name in members if name != x)
        return not held and all(map(self._is_version, members))

    def _shared_later(self, x: str, s: Assign) -> bool:
        """Whether an array gets its other names when a statement does not run again, so that none sees it change."""
        members = self.classes.get(self._aliases().root(x), set())
        if self._aliases().is_changed(x) or any(p.name in members for p in self.function.params):
            return False
        body = list(self.function.body)
        here = next(k for k, top in enumerate(body) if any(inner is s for inner in statements((top,))))
        before = {name for inner in statements(tuple(body[: here + 1])) for name in defines(inner)}
        return not any(is_container(self.types.of(n)) or not self._is_version(n) for n in members & before)

    def _is_version(self, name: str) -> bool:
        """Whether a name is where an array is made, or what an augmented assignment makes of it, or a join of
        the versions of one variable: an array that has no other name."""
        made = self.definitions.get(name)
        match made:
            case Assign(op=ops.identity, args=(str() as older,)) if made.keywords == PRESENT:
                return version_base(older) == version_base(name)
            case Assign():
                return isinstance(made.op, ops.augmented) or name in self.aliases.allocation(name)  # type: ignore[union-attr]
            case If():
                arms = [a for m in made.merged if m.name == name for a in (m.then, m.orelse)]
            case For() | While():
                arms = [a for c in made.carried if c.name == name for a in (c.init, c.next)]
            case _:
                return False
        same = all(isinstance(a, Const) or isinstance(a, str) and version_base(a) == version_base(name) for a in arms)
        return bool(arms) and same  # what a loop runs over has none: it gives views

    # ---------------------------------------------------------- methods that change what they belong to
    def _effect(self, s: Effect) -> tuple[Statement, ...]:
        receiver, name, args = s.args[0], s.args[1].value, s.args[2:]  # type: ignore[union-attr]
        t = self.types.of(receiver)
        if isinstance(t, Array):
            functions = {"fill": np.copyto, "sort": np.sort, "put": np.put}
            if name in functions:
                return self._in_place(s, functions[name], (receiver, *args), dict(s.keywords))
            if name not in MUTATORS:
                function = methods.function_of(name)
                place = place_of_out(function) if function is not None else None
                if function is not None and ("out" in dict(s.keywords) or place is not None and len(args) >= place):
                    return self.statement(replace(s, op=function, args=(receiver, *args)))  # type: ignore[arg-type]
                return ()
        elif isinstance(t, (Sequence, Dict)) and isinstance(receiver, str):
            return self._list_method(s, receiver, t, name, args)
        elif not isinstance(t, Unknown) or name not in MUTATORS or is_set(t):
            return (s,)
        raise UnsafeMutation(
            f"{self.function.name} changes {_plain(receiver)} by its method {name}", s.span,
            why=f"the type of {_plain(receiver)} is not known" if isinstance(t, Unknown) else "it has no adjoint",
            way_out="use a function of NumPy that gives a new array",
        )  # fmt: skip

    def _list_method(
        self, s: Effect, receiver: str, t: Sequence | Dict, name: str, args: tuple[Atom, ...]
    ) -> tuple[Statement, ...]:
        simple = {"append": ops.append, "insert": ops.insert, "reverse": ops.reverse, "pop": ops.take}
        if name == "insert" and args[0] != Const(0):  # a position from the end, or beyond it
            length, place = self.fresh("%length"), self.fresh("%place")
            return (
                Assign(length, builtins.len, (receiver,), (), s.span),
                Assign(place, runtime.insertion, (args[0], length), (), s.span),
                Effect(ops.insert, (receiver, place, *args[1:]), (), s.span),
            )
        if name in simple:
            return (Effect(simple[name], (receiver, *args), (), s.span),)  # type: ignore[arg-type]
        if name == "extend":
            return self._extend(receiver, args[0], s)
        if name == "update" and not args:
            return tuple(Store(receiver, Const(k), v, None, s.span) for k, v in s.keywords)  # type: ignore[union-attr]
        if name in ("update", "setdefault") and isinstance(t, Dict):
            entries: dict[Any, Atom] = {}
            out: list[Statement] = []
            given = self.types.of(args[0]) if args and name == "update" else Dict((), ())
            if isinstance(given, Dict):
                for key in given.keys:
                    value = self.fresh(f"%{key}")
                    out.append(Assign(value, operator.getitem, (args[0], Const(key)), (), s.span))
                    entries[key] = value
                entries.update(s.keywords)
                return (*out, *(Store(receiver, Const(k), v, None, s.span) for k, v in entries.items()))
        raise UnsafeMutation(
            f"{self.function.name} changes {_plain(receiver)} by its method {name}", s.span,
            why="this method has no adjoint", way_out="use append, extend, insert, pop, or an assignment to an item",
        )  # fmt: skip

    def _extend(self, receiver: str, items: Atom, s: Statement) -> tuple[Statement, ...]:
        """``l.extend(items)``: a loop that appends."""
        each = self.fresh("%each")
        places = self._aliases().points.of
        if isinstance(items, str) and not places.get(receiver, {receiver}).isdisjoint(places.get(items, {items})):
            before = self.fresh("%items")  # of the list itself, perhaps
            self.types.of_name[before] = self.types.of(items)
            made = Assign(before, operator.getitem, (items, Const(slice(None))), (), s.span)
            return made, *self._extend(receiver, before, s)
        t = self.types.of(items)
        self.types.of_name[each] = self.types.item(items)
        if isinstance(t, (Array, Sequence, Tuple)) and is_differentiable(t):
            loop = For(each, items, (Effect(ops.append, (receiver, each), (), s.span),), (), s.span)  # type: ignore[union-attr]
            return self._loop(loop)
        return (For(each, items, (Effect(ops.append, (receiver, each), (), s.span),), (), s.span),)  # type: ignore[union-attr]

    def _add_items(self, s: Effect) -> tuple[Statement, ...]:
        """What an emitted adjoint adds to the items of a list, as the loop that it is."""
        shadow, items, *places = s.args
        t = self.types.of(shadow)
        in_place = dict(s.keywords).get("in_place") == Const(True)
        if not isinstance(shadow, str) or not is_container(t) or isinstance(t, Sequence) and t.kind is dict:
            return (s,)
        if not isinstance(t, Sequence) or len(t.items) != 1 or not self._is_part(t):
            return (s,) if places or is_long(t) else tuple(self._add_each(shadow, items, t, in_place, s.span))
        length, trips, k, place = (self.fresh(n) for n in ("%length", "%trips", "%k", "%place"))
        given, old, new = self.fresh("%given"), self.fresh("%item"), self.fresh("%sum")
        at: Atom = place if places and places[0] != Const(None) else k
        body: list[Statement] = [Assign(place, operator.getitem, (places[0], k), (), s.span)] if at == place else []
        body += [
            Assign(given, operator.getitem, (items, k), (), s.span),
            Assign(old, operator.getitem, (shadow, at), (), s.span),
        ]
        if is_container(t.items[0]):
            self.types.of_name[old] = t.items[0]
            body += self._add_items(Effect(runtime.add_items, (old, given), (("in_place", Const(in_place)),), s.span))
        elif in_place and isinstance(t.items[0], Array):
            body.append(Store(old, None, given, operator.add, s.span))
        else:
            body.append(Assign(new, operator.add, (old, given), (), s.span))
            body.append(Store(shadow, at, new, None, s.span))
        return (
            Assign(length, builtins.len, (places[0] if at == place else shadow,), (), s.span),
            Assign(trips, builtins.range, (length,), (), s.span),
            For(k, trips, tuple(body), (), s.span),
        )

    @staticmethod
    def _is_part(t: Sequence) -> bool:
        """Whether the items of a list are all alike, and so is what they hold."""
        item = t.items[0]
        return isinstance(item, (Scalar, Array)) or t.length is None and is_container(item) and not is_long(item)

    def _add_each(self, shadow: str, items: Atom, t: Type, in_place: bool, span: Span) -> Iterator[Statement]:
        """The same for a list whose items are told apart, one by one."""
        for key, part in components(t):
            if not holds_numbers(part):
                continue
            given, old, new = self.fresh("%given"), self.fresh("%item"), self.fresh("%sum")
            of: Any = builtins.getattr if isinstance(t, Struct) else operator.getitem
            yield Assign(given, of, (items, Const(key)), (), span)
            yield Assign(old, of, (shadow, Const(key)), (), span)
            self.types.of_name[old] = part
            if is_container(part):
                keywords = (("in_place", Const(in_place)),)
                yield from self._add_items(Effect(runtime.add_items, (old, given), keywords, span))
            elif in_place and isinstance(part, Array):
                yield Store(old, None, given, operator.add, span)
            else:
                yield Assign(new, operator.add, (old, given), (), span)
                yield Store(shadow, Const(ops.Attribute(key) if isinstance(t, Struct) else key), new, None, span)

    # ---------------------------------------------------------- functions that change an array
    def _in_place(self, s: Effect, op: Any, args: tuple[Atom, ...], keywords: dict[str, Atom]) -> tuple[Statement, ...]:
        """``np.copyto(a, x)`` and its kin as stores."""
        array, rest = args[0], args[1:]
        if not isinstance(array, str) or not isinstance(self.types.of(array), Array):
            return (s,)
        whole = Const(...)
        if op is np.copyto and not keywords.keys() - {"where", "casting"}:
            if "where" not in keywords:
                return (Store(array, whole, rest[0], None, s.span),)
            t, of_mask = self.types.of(array), self.types.of(keywords["where"])
            same = isinstance(of_mask, Array) and of_mask.dtype == "bool" and of_mask.shape == t.shape  # type: ignore[union-attr]
            if same and shape_of(self.types.of(rest[0])) == ():
                return (Store(array, keywords["where"], rest[0], None, s.span),)
            value = self.fresh("%rhs")
            chosen = Assign(value, np.where, (keywords["where"], rest[0], array), (), s.span)
            return (chosen, Store(array, whole, value, None, s.span))
        if op is np.fill_diagonal and len(rest) == 1 and not keywords and len(self.types.of(array).shape) == 2:
            size, shape, index, key = (self.fresh(n) for n in ("%size", "%shape", "%diagonal", "%key"))
            return (
                Assign(shape, np.shape, (array,), (), s.span),
                Assign(size, builtins.min, (shape,), (), s.span),
                Assign(index, np.arange, (size,), (), s.span),
                Assign(key, ops.make_tuple, (index, index), (), s.span),
                Store(array, key, rest[0], None, s.span),
            )
        if op is np.put and not keywords and len(rest) == 2:
            names = ("%places", "%size", "%before", "%later", "%place", "%shape", "%key")
            places, size, before, later, place, shape, key = map(self.fresh, names)
            head = [Assign(places, np.asarray, (rest[0],), (), s.span)]
            value = rest[1]
            at, given = self.types.of(rest[0]), self.types.of(value)
            if (
                isinstance(given, Array) and given.shape and given != at and shape_of(at) != given.shape
            ):  # over and over
                needed, value = self.fresh("%needed"), self.fresh("%values")
                head.append(Assign(needed, np.shape, (places,), (), s.span))
                head.append(Assign(value, np.resize, (rest[1], needed), (), s.span))
            if len(self.types.of(array).shape) == 1:
                return *head, Store(array, places, value, None, s.span)
            return (
                *head,
                Assign(size, np.size, (array,), (), s.span),
                Assign(before, operator.lt, (places, Const(0)), (), s.span),
                Assign(later, operator.add, (places, size), (), s.span),
                Assign(place, np.where, (before, later, places), (), s.span),
                Assign(shape, np.shape, (array,), (), s.span),
                Assign(key, np.unravel_index, (place, shape), (), s.span),
                Store(array, key, value, None, s.span),
            )
        if op is np.put_along_axis:
            given = dict(zip(("indices", "values", "axis"), rest, strict=False)) | keywords
            if given.get("axis") == Const(None):
                return self._in_place(s, np.put, (array, given["indices"], given["values"]), {})
            key = self.fresh("%key")
            made = Assign(key, runtime.along_axis, (array, given["indices"], given.get("axis", Const(-1))), (), s.span)
            return (made, Store(array, key, given["values"], None, s.span))
        if op is np.sort:
            value = self.fresh("%sorted")
            named = tuple(keywords.items())
            return (Assign(value, np.sort, (array, *rest), named, s.span), Store(array, whole, value, None, s.span))
        if getattr(op, "__name__", "") == "at" and op.__self__ in (np.add, np.subtract) and len(rest) == 2:
            if op.__self__ is np.add:
                return (replace(s, op=np.add.at, args=args),)
            minus = self.fresh("%minus")
            return (
                Assign(minus, operator.neg, (rest[1],), (), s.span),
                replace(s, op=np.add.at, args=(array, rest[0], minus)),
            )
        return (s,)

    def _out(self, s: Assign | Effect) -> tuple[Statement, ...]:
        """``np.exp(x, out=y)``: the value is stored into ``y``, and is ``y``."""
        keywords = dict(s.keywords)
        out = keywords.pop("out")
        if out == Const(None):
            return (replace(s, keywords=tuple(keywords.items())),)
        if not isinstance(out, str) or not isinstance(self.types.of(out), Array):
            raise UnsafeMutation(
                "`out=` is given something that is not known to be an array", s.span,
                why="which array is changed is not known", way_out="assign the result",
            )  # fmt: skip
        args: tuple[Atom, ...] = s.args
        where = keywords.pop("where", None) if isinstance(s.op, np.ufunc) else None
        value = self.fresh("%rhs")
        body: list[Statement] = [Assign(value, s.op, args, tuple(keywords.items()), s.span)]
        if s.op is ops.method:
            self.types.of_name[value] = self.types.result(s.op, args, tuple(keywords.items()))
            body = list(self._method(body[0]))  # type: ignore[arg-type]
        if where is not None:
            chosen = self.fresh("%rhs")
            body.append(Assign(chosen, np.where, (where, value, out), (), s.span))
            value = chosen
        body.append(Store(out, Const(...), value, None, s.span))
        if isinstance(s, Assign):
            body.append(Assign(s.target, ops.identity, (out,), (), s.span))
        return tuple(body)

    # ---------------------------------------------------------- methods
    def _method(self, s: Assign) -> tuple[Statement, ...]:
        receiver, name, args = s.args[0], s.args[1].value, s.args[2:]  # type: ignore[union-attr]
        t = self.types.of(receiver)
        if isinstance(t, (Sequence, Dict)) and name == "pop" and isinstance(receiver, str):
            return (replace(s, op=ops.take, args=(receiver, *args)),)
        if isinstance(t, (Sequence, Dict)) and name == "copy" and not args:
            return (replace(s, op=builtins.list if isinstance(t, Sequence) and t.kind is list else builtins.dict,
                            args=(receiver,)),)  # fmt: skip
        if isinstance(t, Dict) and name in ("get", "setdefault"):
            return self._get(s, receiver, t, name, args)
        if isinstance(t, Scalar) and t.dtype.startswith("str"):
            return (s,)
        if isinstance(t, (Array, Scalar)):
            if name in MUTATORS:
                return (
                    *self._effect(Effect(s.op, s.args, s.keywords, s.span)),
                    replace(s, op=ops.identity, args=(Const(None),), keywords=()),
                )
            if name == "flatten":
                copied = self.fresh("%copy")
                return (
                    Assign(copied, np.copy, (receiver,), (), s.span),
                    replace(s, op=np.ravel, args=(copied, *args)),
                )
            if name == "compress":
                return (replace(s, op=np.compress, args=(*args[:1], receiver, *args[1:])),)
            if name == "tolist" and isinstance(t, Scalar):
                return (replace(s, op=ops.item, args=(receiver,)),)
            if name == "item" and args:
                flat, key, entry = self.fresh("%flat"), self.fresh("%key"), self.fresh("%entry")
                of_tuple = type_of(args[0].value) if isinstance(args[0], Const) else self.types.of(args[0])
                if len(args) > 1:
                    taken = (receiver, key)
                    before = [Assign(key, ops.make_tuple, args, (), s.span)]
                elif isinstance(of_tuple, Tuple):
                    taken, before = (receiver, args[0]), []
                else:
                    taken, before = (flat, args[0]), [Assign(flat, np.ravel, (receiver,), (), s.span)]
                got = Assign(entry, operator.getitem, taken, (), s.span)
                return (*before, got, replace(s, op=ops.item, args=(entry,)))
            if name == "view" and not args and not s.keywords:
                return (replace(s, op=operator.getitem, args=(receiver, Const(...))),)
            if name in ("conj", "conjugate") and not is_complex(t):
                return (replace(s, op=ops.identity, args=(receiver,), keywords=()),)  # the array itself
            function = methods.function_of(name)
            if name == "astype" and (cast := self._recast(s, receiver, t, args)) is not None:
                return cast
            if function is None or name == "astype" and not hasattr(np, "astype"):
                return (s,)
            if name in SPREAD and len(args) > 1:
                if all(isinstance(a, Const) for a in args):
                    return (replace(s, op=function, args=(receiver, Const(tuple(a.value for a in args)))),)  # type: ignore[arg-type,union-attr]
                key = self.fresh("%shape")
                return (
                    Assign(key, ops.make_tuple, args, (), s.span),
                    replace(s, op=function, args=(receiver, key)),  # type: ignore[arg-type]
                )
            return (replace(s, op=function, args=(receiver, *args)),)  # type: ignore[arg-type]
        if isinstance(t, Dict) and name in ("items", "values", "keys") and not args:
            return self._dict_view(s, receiver, t, name)
        return (s,)

    def _recast(self, s: Assign, receiver: Atom, t: Type, args: tuple[Atom, ...]) -> tuple[Statement, ...] | None:
        """``x.astype(dtype, copy=...)``: a copy, or the array itself where it has the dtype and none is asked for."""
        given = dict(s.keywords)
        wanted = given.pop("copy", None)
        if not isinstance(wanted, Const) or given or len(args) != 1 or not isinstance(args[0], Const):
            return None
        if not wanted.value and isinstance(t, Array) and np.dtype(args[0].value) == np.dtype(t.dtype):
            return (replace(s, op=ops.identity, args=(receiver,), keywords=()),)
        return self._method(replace(s, keywords=()))

    def _get(self, s: Assign, receiver: Atom, t: Dict, name: str, args: tuple[Atom, ...]) -> tuple[Statement, ...]:
        """``d.get(key, default)`` where the keys are known."""
        key = args[0]
        default: Atom = args[1] if len(args) > 1 else Const(None)
        if not isinstance(key, Const):
            return (s,)
        if key.value in t.keys:
            op = operator.getitem if len(args) > 1 else ops.old_item  # type: ignore[assignment]
            return (replace(s, op=op, args=(receiver, key)),)
        if name == "setdefault" and isinstance(receiver, str):
            return (Store(receiver, key, default, None, s.span), replace(s, op=ops.identity, args=(default,)))
        return (replace(s, op=ops.identity, args=(default,)),)

    def _dict_view(self, s: Assign, receiver: Atom, t: Dict, name: str) -> tuple[Statement, ...]:
        if any(isinstance(x, (Assign, Effect)) and x.op in (ops.take, ops.method) and x.args[0] == receiver
               and (x.op is ops.take or x.args[1].value in ("pop", "popitem", "clear"))  # type: ignore[union-attr]
               for x in statements(self.function.body)):  # fmt: skip
            raise UnsafeMutation(
                f"{_plain(receiver)} loses a key and is looped over", s.span,
                why="which keys it has must be known when compiling",
                way_out="make a new dict with the keys that are meant",
            )  # fmt: skip
        out: list[Statement] = []
        items: list[Atom] = []
        for key in t.keys:
            if name == "keys":
                items.append(Const(key))
                continue
            value = self.fresh(f"%{key}")
            out.append(Assign(value, operator.getitem, (receiver, Const(key)), (), s.span))
            if name == "items":
                pair = self.fresh("%pair")
                out.append(Assign(pair, ops.make_tuple, (Const(key), value), (), s.span))
                value = pair
            items.append(value)
        return (*out, replace(s, op=ops.make_list, args=tuple(items)))

    # ---------------------------------------------------------- loops over what may be differentiated
    def _loop(self, s: For) -> tuple[Statement, ...]:
        """``for x, y in zip(xs, reversed(ys))`` over positions, if a derivative may flow through the items; over the
        keys that a dict has then, if it gets others later."""
        if gives_keys(self.types.of(s.iterable)) and self._gets_keys:
            keys = self.fresh("%keys")
            return Assign(keys, builtins.list, (s.iterable,), (), s.span), replace(s, iterable=keys)
        leaves: list[Atom] = []
        runs = self._leaves(s.iterable, leaves)
        if any(self._is_resized(a, s) for a in leaves if isinstance(a, str)):
            return self._growing_loop(s)
        if not runs or not any(is_differentiable(self.types.of(a)) for a in leaves):
            return (s,)
        head: list[Statement] = []
        lengths: dict[Atom, Atom] = {}
        for atom in dict.fromkeys(leaves):
            lengths[atom] = self.fresh("%length")
            head.append(Assign(lengths[atom], builtins.len, (atom,), (), s.span))  # type: ignore[arg-type]
        count: Atom = lengths[leaves[0]]
        if len(lengths) > 1:
            count = self.fresh("%length")
            head.append(Assign(count, builtins.min, tuple(lengths.values()), (), s.span))  # type: ignore[arg-type]
        trips = self.fresh("%trips")
        head.append(Assign(trips, builtins.range, (count,), (), s.span))
        index = self.fresh(f"%{_plain(s.target).rstrip('_')}_index" if not s.target.startswith("%") else "%index")
        take: list[Statement] = []
        self._take(s.iterable, index, lengths, s.target, take, s)
        return (*head, replace(s, target=index, iterable=trips, body=(*take, *s.body)))

    @functools.cached_property
    def _run_over(self) -> set[Any]:
        """What loops run over, and what `enumerate`, `zip` and `reversed` of that run over."""
        program = list(statements(self.function.body))
        found: set[Any] = {s.iterable for s in program if isinstance(s, For)}
        for s in reversed(program):
            if isinstance(s, Assign) and s.target in found and s.op in (*RUNS, ops.identity, ops.once):
                found.update(s.args)
        return found

    @functools.cached_property
    def _gets_keys(self) -> bool:
        """Whether a dict of the program gets keys that are computed."""
        return any(
            isinstance(s, Store) and not isinstance(s.key, Const) and gives_keys(self.types.of(s.object))
            for s in statements(self.function.body)
        )

    def _is_resized(self, items: str, s: For) -> bool:
        """Whether the body of a loop over a list makes it longer or shorter."""
        if not isinstance(self.types.of(items), Sequence):
            return False
        points = self._aliases().points
        changes = [change for x in statements(s.body) if (change := change_of(x)) is not None]
        if isinstance(self.definitions.get(items), (For, While)):  # what a loop hands on is older than what it makes
            changes = [c for c in changes if points.places(c.container) != {c.container}]
        return any(c.resizes and not points.places(items).isdisjoint(points.places(c.container)) for c in changes)

    def _growing_loop(self, s: For) -> tuple[Statement, ...]:
        """A loop over a list that its body makes longer or shorter, by position: the length is asked in each trip."""
        if self._made(s.iterable) is not None or _is_dynamic_dict(self.types.of(s.iterable)):
            raise UnsafeMutation(
                f"a loop changes the length of what it runs over, {_plain(s.iterable)}", s.span,
                why="how far it runs is only followed for a list itself", way_out="loop over a copy: list(...)",
            )  # fmt: skip
        index, after, length, test = (self.fresh(n) for n in ("%index", "%index", "%length", "%test"))
        head = (
            Assign(length, builtins.len, (s.iterable,), (), s.span),
            Assign(test, operator.lt, (index, length), (), s.span),
        )
        take = (
            Assign(after, operator.add, (index, Const(1)), (), s.span),
            Assign(s.target, operator.getitem, (s.iterable, index), (), s.span),
        )
        return (While(head, test, (*take, *s.body), (*s.carried, Carry(index, Const(0), after)), s.span),)

    def _made(self, atom: Atom) -> Assign | None:
        """How an iterator is made, None if something is no iterator."""
        made = self.definitions.get(atom) if isinstance(atom, str) else None
        while isinstance(made, Assign) and made.op is ops.identity and isinstance(made.args[0], str):
            made = self.definitions.get(made.args[0])
        iterators = (builtins.enumerate, builtins.zip, builtins.reversed)
        return made if isinstance(made, Assign) and made.op in iterators else None

    def _leaves(self, atom: Atom, out: list[Atom]) -> bool:
        """The sequences that an iterator runs over; False if there is something else."""
        made = self._made(atom)
        if made is not None:
            inner = made.args if made.op is builtins.zip else made.args[:1]
            return all(self._leaves(a, out) for a in inner)
        out.append(atom)
        t = self.types.of(atom)
        if isinstance(t, Known) and isinstance(t.value, (tuple, list, range, str)):
            return True
        return isinstance(t, (Array, Sequence, Tuple)) and not _is_dynamic_dict(t)

    def _length(self, atom: Atom, lengths: dict[Atom, Atom], out: list[Statement], s: For) -> Atom:
        """How many items an iterator gives."""
        leaves: list[Atom] = []
        self._leaves(atom, leaves)
        several = list(dict.fromkeys(lengths[a] for a in leaves))
        if len(several) == 1:
            return several[0]
        shortest = self.fresh("%length")
        out.append(Assign(shortest, builtins.min, tuple(several), (), s.span))
        return shortest

    def _take(
        self, atom: Atom, position: Atom, lengths: dict[Atom, Atom], target: str, out: list[Statement], s: For
    ) -> None:
        """Write ``target`` = the item of an iterator at a position."""
        made = self._made(atom)
        if made is None:
            out.append(Assign(target, operator.getitem, (atom, position), (), s.span))
        elif made.op is builtins.reversed:
            last, back = self.fresh("%last"), self.fresh("%position")
            out.append(Assign(last, operator.sub, (self._length(made.args[0], lengths, out, s), Const(1)), (), s.span))
            out.append(Assign(back, operator.sub, (last, position), (), s.span))
            self._take(made.args[0], back, lengths, target, out, s)
        else:
            parts: list[Atom] = []
            if made.op is builtins.enumerate:
                start: Atom = made.args[1] if len(made.args) > 1 else dict(made.keywords).get("start", Const(0))
                counted = position
                if start != Const(0):
                    counted = self.fresh("%count")
                    out.append(Assign(counted, operator.add, (position, start), (), s.span))
                parts.append(counted)
            for inner in made.args if made.op is builtins.zip else made.args[:1]:
                item = self.fresh(f"%{_plain(inner)}_item")
                self._take(inner, position, lengths, item, out, s)
                parts.append(item)
            out.append(Assign(target, ops.make_tuple, tuple(parts), (), s.span))


def _is_of_numpy(t: Type) -> bool:
    """Whether a value makes an array of a list that is its other operand: an array, or a number of NumPy's, which is no
    number of times."""
    return isinstance(t, Array) or isinstance(t, Scalar) and not t.weak and np.dtype(t.dtype).kind in "fc"


def _is_dynamic_dict(t: Any) -> bool:
    return isinstance(t, Sequence) and t.kind is dict


def asks_for_layout(function: Function) -> bool:
    """Whether a function reshapes an array, which gives a view or a copy."""
    names = {"reshape", "ravel"}
    return any(
        isinstance(s, Assign) and (s.op in COPIES_MAYBE or s.op is ops.method and s.args[1].value in names)  # type: ignore[union-attr]
        for s in statements(function.body)
    )


def _plain(atom: Atom) -> str:
    if isinstance(atom, Global):
        return atom.name
    return atom.lstrip("%").split(".")[0] if isinstance(atom, str) else "value"


def _without_augmented(function: Function) -> Function:
    """For the question of aliases: an augmented assignment gives another name for its operand."""

    def rewrite(s: Statement) -> tuple[Statement, ...]:
        if isinstance(s, Assign) and isinstance(s.op, ops.augmented):
            return (replace(s, op=ops.identity, args=s.args[:1]),)
        return (s,)

    return replace(function, body=transform(function.body, rewrite))
