"""Functions that write into an array, as stores.

np.copyto(a, x)            a[...] = x
np.put(a, places, x)       a[places] = x
np.exp(x, out=y)           y[...] = np.exp(x)"""

from __future__ import annotations

import builtins
import operator
from dataclasses import replace
from typing import Any

import numpy as np

from tangentc import runtime
from tangentc.core import ops
from tangentc.core.build import shape_of
from tangentc.core.nodes import Assign, Atom, Const, Effect, Statement, Store
from tangentc.core.types import Array, Scalar, is_container
from tangentc.errors import Span, UnsafeMutation
from tangentc.frontend.callables import is_user_function
from tangentc.frontend.into import place_of_out
from tangentc.frontend.typed.meaning import Part

IN_PLACE = {np.copyto, np.put, np.put_along_axis, np.fill_diagonal, np.add.at, np.subtract.at}


class WrittenInto(Part):
    """What functions that change an array mean."""

    def in_place(self, s: Effect, op: Any, args: tuple[Atom, ...], keywords: dict[str, Atom]) -> tuple[Statement, ...]:
        """``np.copyto(a, x)`` and its kin as stores."""
        array, rest = args[0], args[1:]
        if not isinstance(array, str) or not isinstance(self.types.of(array), Array):
            return (s,)
        written: tuple[Statement, ...] | None = None
        if op is np.copyto and not keywords.keys() - {"where", "casting"}:
            written = self.copy_to(array, rest[0], keywords.get("where"), s.span)
        elif op is np.fill_diagonal and len(rest) == 1 and not keywords and len(self.types.of(array).shape) == 2:
            written = self.fill_diagonal(array, rest[0], s.span)
        elif op is np.put and not keywords and len(rest) == 2:
            written = self.put(array, rest[0], rest[1], s.span)
        elif op is np.put_along_axis:
            written = self.put_along_axis(array, rest, keywords, s.span)
        elif op is np.sort:
            value = self.fresh("%sorted")
            ordered = Assign(value, np.sort, (array, *rest), tuple(keywords.items()), s.span)
            written = (ordered, Store(array, Const(...), value, None, s.span))
        elif op == np.add.at and len(rest) == 2:
            written = (replace(s, op=np.add.at, args=args),)
        elif op == np.subtract.at and len(rest) == 2:
            minus = self.fresh("%minus")
            one = isinstance(t := self.types.of(rest[1]), (Array, Scalar)) and t.dtype == "bool"
            op, given = (operator.mul, (Const(-1), rest[1])) if one else (operator.neg, (rest[1],))
            negative = Assign(minus, op, given, (), s.span)
            written = (negative, replace(s, op=np.add.at, args=(array, rest[0], minus)))
        return (s,) if written is None else written

    def copy_to(self, array: str, value: Atom, where: Atom | None, span: Span) -> tuple[Statement, ...]:
        if where is None:
            return (Store(array, Const(...), value, None, span),)
        t, of_mask = self.types.of(array), self.types.of(where)
        same = isinstance(of_mask, Array) and of_mask.dtype == "bool" and of_mask.shape == t.shape
        if same and shape_of(self.types.of(value)) == ():
            return (Store(array, where, value, None, span),)
        chosen = self.fresh("%rhs")
        return Assign(chosen, np.where, (where, value, array), (), span), Store(array, Const(...), chosen, None, span)

    def fill_diagonal(self, array: str, value: Atom, span: Span) -> tuple[Statement, ...]:
        """``np.fill_diagonal(a, value)``: values are taken over and over, as many as there are places."""
        size, shape, index, key = (self.fresh(n) for n in ("%size", "%shape", "%diagonal", "%key"))
        head: tuple[Statement, ...] = ()
        own, given = self.types.of(array).shape, shape_of(self.types.of(value))
        if given is None or given != () and not (len(given) == 1 and own[0] == own[1] == given[0]):
            repeated = self.fresh("%values")
            head, value = (Assign(repeated, np.resize, (value, size), (), span),), repeated
        return (
            Assign(shape, np.shape, (array,), (), span),
            Assign(size, builtins.min, (shape,), (), span),
            Assign(index, np.arange, (size,), (), span),
            *head,
            Assign(key, ops.make_tuple, (index, index), (), span),
            Store(array, key, value, None, span),
        )

    def put(self, array: str, given_places: Atom, given: Atom, span: Span) -> tuple[Statement, ...]:
        """``np.put(a, places, values)``: the places count through all axes, the values are taken over and over."""
        t = self.types.of(given)
        if 0 in getattr(t, "shape", ()) or is_container(t) and not t.items:
            return ()  # there is nothing to be taken over and over
        names = ("%places", "%size", "%before", "%later", "%place", "%shape", "%key")
        places, size, before, later, place, shape, key = map(self.fresh, names)
        head = [Assign(places, np.asarray, (given_places,), (), span)]
        value: Atom = given
        at, of_values = self.types.of(given_places), self.types.of(given)
        if is_container(of_values) or (
            isinstance(of_values, Array) and of_values.shape and of_values != at and shape_of(at) != of_values.shape
        ):
            needed, repeated = self.fresh("%needed"), self.fresh("%values")
            head.append(Assign(needed, np.shape, (places,), (), span))
            if is_container(of_values):
                values = self.fresh("%values")
                head.append(Assign(values, np.array, (given,), (), span))
                given = values
            head.append(Assign(repeated, np.resize, (given, needed), (), span))
            value = repeated
        if len(self.types.of(array).shape) == 1:
            return *head, Store(array, places, value, None, span)
        return (
            *head,
            Assign(size, np.size, (array,), (), span),
            Assign(before, operator.lt, (places, Const(0)), (), span),
            Assign(later, operator.add, (places, size), (), span),
            Assign(place, np.where, (before, later, places), (), span),
            Assign(shape, np.shape, (array,), (), span),
            Assign(key, np.unravel_index, (place, shape), (), span),
            Store(array, key, value, None, span),
        )

    def put_along_axis(
        self, array: str, rest: tuple[Atom, ...], keywords: dict[str, Atom], span: Span
    ) -> tuple[Statement, ...]:
        given = dict(zip(("indices", "values", "axis"), rest, strict=False)) | keywords
        if given.get("axis") == Const(None):
            return self.put(array, given["indices"], given["values"], span)
        key = self.fresh("%key")
        made = Assign(key, runtime.along_axis, (array, given["indices"], given.get("axis", Const(-1))), (), span)
        return (made, Store(array, key, given["values"], None, span))

    def written_into(self, s: Assign | Effect) -> tuple[Statement, ...]:
        """A function that is given ``out``, by name or by position."""
        if is_user_function(s.op):  # its `out` is what it makes of it
            return (s,)
        if "out" in dict(s.keywords):
            return self.out(s)
        place = place_of_out(s.op)
        if place is None or len(s.args) <= place:
            return (s,)
        return self.out(replace(s, args=s.args[:place], keywords=(*s.keywords, ("out", s.args[place]))))  # type: ignore[arg-type]

    def out(self, s: Assign | Effect) -> tuple[Statement, ...]:
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
            body = list(self.method(body[0]))  # type: ignore[arg-type]
        if where is not None:
            chosen = self.fresh("%rhs")
            body.append(Assign(chosen, np.where, (where, value, out), (), s.span))
            value = chosen
        body.append(Store(out, Const(...), value, None, s.span))
        if isinstance(s, Assign):
            body.append(Assign(s.target, ops.identity, (out,), (), s.span))
        return tuple(body)
