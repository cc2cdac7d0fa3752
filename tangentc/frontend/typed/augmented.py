"""Augmented assignments, and stores into items and attributes.

total += d     (a float)     ->   total.1 = total + d
h += b         (an array)    ->   h.1 = h + b            where no other name sees h
u += b         (seen by v)   ->   u += b                 in place"""

from __future__ import annotations

import builtins
import operator
from dataclasses import replace
from typing import Any

import numpy as np

from tangentc.analysis.parts import gives_keys
from tangentc.analysis.types import holds_arrays
from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Const, Effect, For, Statement, Store, While
from tangentc.core.types import Array, Dict, Known, Optional, Scalar, Sequence, Tuple, Unknown, is_set, may_be_number
from tangentc.core.walk import defines, reads, statements
from tangentc.errors import UnsafeMutation, UnsupportedSyntax
from tangentc.frontend.typed.arrays import OF_COMPLEX, PARTS
from tangentc.frontend.typed.meaning import Part, means, plain

OF_SETS = {
    operator.or_: "update", operator.and_: "intersection_update", operator.sub: "difference_update",
    operator.xor: "symmetric_difference_update",
}  # fmt: skip


class Augmented(Part):
    """What stores mean."""

    def store(self, s: Store) -> tuple[Statement, ...]:
        """What ``x[key] = value``, ``x.name = value`` and ``x[key] op= value`` mean."""
        t = self.types.of(s.object)
        if (whole := self.flattened(s.object)) is not None:
            return self.store_flat(s, whole)  # type: ignore[no-any-return]
        if s.key == Const(...) and isinstance(t, (Tuple, Sequence)):
            raise UnsafeMutation(
                f"{self.function.name} writes a result into the arrays of a tuple", s.span,
                why="`out` is given a tuple by a name, or a list", way_out="write the tuple out: out=(y,)",
            )  # fmt: skip
        if s.op is not None:
            return self.augmented_item(s) if s.key is not None else (s,)
        if self.is_there(s):
            return ()
        if (key := self.known_key(s.object, s.key)) is not None:
            return (replace(s, key=key),)
        is_attribute = isinstance(s.key, Const) and isinstance(s.key.value, ops.Attribute)
        return self.array_attribute(s) if is_attribute and isinstance(t, Array) else (s,)

    @means(operator.getitem)
    def item(self, s: Assign) -> tuple[Statement, ...] | None:
        """``x[key]`` of a number of NumPy's, of ``x.flat``, and of a dict."""
        x, key = s.args
        if (whole := self.flattened(x)) is not None:
            flat, taken = self.fresh("%flat"), self.fresh(s.target)
            items = Assign(flat, np.ravel, (whole,), (), s.span), replace(s, args=(flat, key))
            if not isinstance(self.types.of(s.target), Array):
                return items
            part = replace(items[1], target=taken)  # a copy of what is there
            return items[0], part, Assign(s.target, np.copy, (taken,), (), s.span)
        if key in (Const(()), Const(None)) and isinstance(self.types.of(x), Scalar):
            return (replace(s, op=ops.identity if key == Const(()) else np.atleast_1d, args=(x,)),)
        known = self.known_key(x, key)
        return None if known is None else (replace(s, args=(x, known)),)

    @means(builtins.getattr)
    def attribute(self, s: Assign) -> tuple[Statement, ...] | None:
        """``x.T`` and its kin are functions of an array."""
        x, name = s.args[:2]
        if name == Const("flat") and self.flattened(s.target) is not None:
            return (self.flat(s),)
        if name not in PARTS or not isinstance(self.types.of(x), (Array, Scalar)):
            return None
        return self.statement(replace(s, op=PARTS[name], args=(x,)))  # type: ignore[no-any-return,index]

    def known_key(self, x: Atom, key: Atom | None) -> Const | None:
        """The key of a dict that has a name, and one value."""
        t = self.types.of(key) if isinstance(key, str) else None
        is_key = isinstance(t, Known) and isinstance(t.value, str) and gives_keys(self.types.of(x))
        return t.const if is_key else None  # type: ignore[union-attr]

    def is_there(self, s: Store) -> bool:
        """Whether what is stored is what stands there: the view itself, after ``view += y``."""
        made = self.definitions.get(self.resolved().get(s.value, "")) if isinstance(s.value, str) else None
        return (
            isinstance(made, Assign)
            and made.op is operator.getitem
            and made.args == (s.object, s.key)
            and isinstance(self.types.of(s.object), Array)
            and isinstance(self.types.of(made.target), Array)
            and s.value in self.same
            and self.memory().is_view(made.target)
        )

    def flattened(self, atom: Atom) -> str | None:
        """The array that ``atom`` is the ``flat`` of."""
        made = self.definitions.get(self.resolved().get(atom, atom)) if isinstance(atom, str) else None
        if not isinstance(made, Assign) or made.op is not builtins.getattr or made.args[1] != Const("flat"):
            return None
        whole = made.args[0]
        return whole if isinstance(whole, str) and isinstance(self.types.of(whole), Array) else None

    def flat(self, s: Assign) -> Assign:
        """``x.flat`` as an array, which has what x holds now."""
        stored = {
            self.resolved().get(t.object, t.object) for t in statements(self.function.body) if isinstance(t, Store)
        }
        taken = any(
            s.target in reads(t) and not (isinstance(t, Assign) and t.op is operator.getitem and t.args[0] == s.target)
            for t in statements(self.function.body)
            if not isinstance(t, Store)
        )
        if taken and self.resolved().get(s.args[0], s.args[0]) in stored:  # type: ignore[arg-type]
            raise UnsafeMutation(
                f"{plain(s.args[0])}.flat is in use while {plain(s.args[0])} changes", s.span,
                why="it has what the array holds when it is asked", way_out="take the items by subscript",
            )  # fmt: skip
        return replace(s, op=np.ravel, args=s.args[:1])

    def store_flat(self, s: Store, whole: str) -> tuple[Statement, ...]:
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
        return (*out, *(self.augmented_item(store) if s.op is not None else (store,)))

    def array_attribute(self, s: Store) -> tuple[Statement, ...]:
        """``z.real = x`` stores into a view."""
        name = str(s.key.value)  # type: ignore[union-attr]
        if name == "flat":
            return self.store_flat(replace(s, key=Const(slice(None))), s.object)
        if name not in ("real", "imag"):
            raise self.changes_its_form(s, s.object, name)
        part = self.fresh(f"%{name}")
        view = Assign(part, OF_COMPLEX[Const(name)], (s.object,), (), s.span)
        return (view, Store(part, Const(...), s.value, None, s.span))

    def changes_its_form(self, s: Statement, array: str, attribute: str) -> UnsafeMutation:
        return UnsafeMutation(
            f"{self.function.name} assigns {plain(array)}.{attribute}", s.span,
            why="this changes what an array is, not what it holds", way_out="make a new array, by reshape or view",
        )  # fmt: skip

    @means(ops.reshaped)
    def reshaped(self, s: Assign) -> tuple[Statement, ...]:
        """``x.shape = s`` as ``x = np.reshape(x, s)``, if no other name of the array is read afterwards."""
        array = s.args[0]
        if isinstance(self.types.of(array), Array):
            root = self.memory().root(array)  # type: ignore[arg-type]
            others = self.classes.get(root, set())
            program = list(statements(self.function.body))
            around = [x for x in program if isinstance(x, (For, While)) and any(y is s for y in statements((x,)))]
            after = program[program.index(around[0] if around else s) + 1 :]
            made = {s.target, *(name for x in after for name in defines(x))}
            form = [x for x in after if isinstance(x, Assign) and x.op is ops.reshaped]  # whatever it was before
            read = {self.function.result, *(a for x in after if x not in form for a in reads(x))} - made
            given = any(p.name in others for p in self.function.params) or self.memory().is_outside(array)  # type: ignore[arg-type]
            if given or around or not others.isdisjoint(read):
                raise self.changes_its_form(s, array, "shape")  # type: ignore[arg-type]
        return (replace(s, op=np.reshape),)

    def augmented(self, s: Assign, op: Any) -> tuple[Statement, ...]:
        x = s.args[0]
        t = self.types.of(x)
        if isinstance(t, Scalar):
            return (replace(s, op=op),)
        if is_set(t) and op in OF_SETS:
            update = Effect(ops.method, (x, Const(OF_SETS[op]), s.args[1]), (), s.span)
            return (update, replace(s, op=ops.identity, args=(x,)))
        if isinstance(t, Unknown):
            raise UnsafeMutation(
                f"whether `{s.span.text.strip()}` changes an array or rebinds a name is not known", s.span,
                why=f"the type of {plain(x)} is not known" + (f": {t.reason}" if t.reason else ""),
                way_out=f"write {plain(x)} = {plain(x)} + ..., or call the function with arguments of known types",
            )  # fmt: skip
        if isinstance(t, (Tuple, Sequence)) and isinstance(self.types.of(s.args[1]), Array):
            return self.statement(replace(s, op=op))  # NumPy's arithmetic comes before that of lists
        if isinstance(t, (Tuple, Known)) or isinstance(t, Sequence) and t.kind is tuple:
            return (replace(s, op=op),)
        if isinstance(t, Sequence) and op is operator.mul and isinstance(x, str):
            if isinstance(n := s.args[1], Const) and type(n.value) is int and n.value > 0:
                once = self.fresh("%items")
                self.types.of_name[once] = t
                made = Assign(once, operator.getitem, (x, Const(slice(None))), (), s.span)
                more = [new for _ in range(n.value - 1) for new in self.extend(x, once, s)]
                return (made, *more, replace(s, op=ops.identity, args=(x,)))
        if isinstance(t, Sequence) and op is operator.add and isinstance(x, str):
            return (*self.extend(x, s.args[1], s), replace(s, op=ops.identity, args=(x,)))
        if isinstance(t, Dict) and op is operator.or_ and isinstance(x, str):
            update = Effect(ops.method, (x, Const("update"), s.args[1]), (), s.span)
            return (*self.effect(update), replace(s, op=ops.identity, args=(x,)))
        if may_be_number(t):
            if isinstance(x, str) and (self.unshared(x) or self.shared_later(x, s)):
                return (replace(s, op=op),)
            raise UnsafeMutation(
                f"whether `{s.span.text.strip()}` changes an array or rebinds a name is not known", s.span,
                why=f"{plain(x)} may still be a number, and other names may stand for the array",
                way_out=f"write {plain(x)} = {plain(x)} + ...",
            )  # fmt: skip
        if not isinstance(t, Array):
            raise UnsupportedSyntax(
                f"{self.function.name} changes {plain(x)} in place, which has no adjoint", s.span,
                why="only numbers, arrays and lists have augmented assignments", way_out="make a new value",
            )  # fmt: skip
        result = self.types.result(op, s.args)
        assert isinstance(x, str)
        if result == t and (self.unshared(x) or self.is_new(x, s)):
            return (replace(s, op=op),)
        self.same[s.target] = x
        if op in (operator.add, operator.sub):
            return (Store(x, None, s.args[1], op, s.span),)
        value = self.fresh("%rhs")
        return (Assign(value, op, s.args, (), s.span), Store(x, Const(...), value, None, s.span))

    def augmented_item(self, s: Store) -> tuple[Statement, ...]:
        """``x[i] op= y``: one store into an array for sums and differences; else read, compute, store."""
        assert s.key is not None and s.op is not None
        if isinstance(self.types.of(s.object), Array) and s.op in (operator.add, operator.sub):
            return (s,)
        old, new = self.fresh(f"%{plain(s.object)}_item"), self.fresh("%rhs")
        read = Assign(old, operator.getitem, (s.object, s.key), (), s.span)
        combine = Assign(new, s.op, (old, s.value), (), s.span)
        is_array = isinstance(self.types.of_name.get(s.object), Array)
        is_known = not is_array and s.object in self.types.of_name
        t = self.types.result(operator.getitem, read.args) if is_known else Unknown()
        if is_array or isinstance(t, (Scalar, Tuple, Known)):
            return (read, combine, Store(s.object, s.key, new, None, s.span))
        if isinstance(t, Optional):
            self.types.of_name[old] = t
            known = self.given(old, s)
            update = Assign(new, ops.augmented(s.op), (known.target, s.value), (), s.span)
            return (read, known, *self.statement(update), Store(s.object, s.key, new, None, s.span))
        if isinstance(t, Array) or is_known and holds_arrays(self.types.of(s.object)):  # it changes where it is
            if s.op in (operator.add, operator.sub):
                return (read, Store(old, None, s.value, s.op, s.span))
            return (read, combine, Store(old, Const(...), new, None, s.span))
        if isinstance(t, Sequence) and s.op is operator.add:
            self.types.of_name[old] = t
            return (read, *self.extend(old, s.value, s))
        raise UnsafeMutation(
            f"whether `{s.span.text.strip()}` changes what {plain(s.object)} holds or replaces it is not known",
            s.span,
            why="its type is not known" + (f": {t.reason}" if isinstance(t, Unknown) and t.reason else ""),
            way_out="assign the new value, or call the function with arguments of known types",
        )  # fmt: skip
