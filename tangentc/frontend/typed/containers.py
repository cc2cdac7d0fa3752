"""What changes lists and dicts, item by item."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tangentc import runtime
from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Const, Effect, For, Statement, Store
from tangentc.core.types import (
    Array,
    Dict,
    Scalar,
    Sequence,
    Struct,
    Tuple,
    Type,
    components,
    holds_numbers,
    is_container,
    is_differentiable,
    is_long,
    is_numeric,
    items_of,
)
from tangentc.errors import Span, UnsafeMutation
from tangentc.frontend.typed.meaning import Part, means, plain


class Containers(Part):
    """What changes of containers mean."""

    @means(operator.or_)
    def united(self, s: Assign) -> tuple[Statement, ...] | None:
        """``d | e`` for dicts whose keys are known."""
        if not all(isinstance(self.types.of(a), Dict) for a in s.args):
            return None
        entries: dict[Any, Atom] = {}
        out: list[Statement] = []
        for d in s.args:
            for key in self.types.of(d).keys:
                entries[key] = self.fresh(f"%{key}")
                out.append(Assign(str(entries[key]), operator.getitem, (d, Const(key)), (), s.span))
        return (*out, replace(s, op=ops.make_dict, args=(Const(tuple(entries)), *entries.values())))

    def list_method(
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
            return self.extend(receiver, args[0], s)
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
            f"{self.function.name} changes {plain(receiver)} by its method {name}", s.span,
            why="this method has no adjoint", way_out="use append, extend, insert, pop, or an assignment to an item",
        )  # fmt: skip

    def extend(self, receiver: str, items: Atom, s: Statement) -> tuple[Statement, ...]:
        """``l.extend(items)``: a loop that appends."""
        each = self.fresh("%each")
        places = self.memory().points.of
        if isinstance(items, str) and not places.get(receiver, {receiver}).isdisjoint(places.get(items, {items})):
            before = self.fresh("%items")  # of the list itself, perhaps
            self.types.of_name[before] = self.types.of(items)
            made = Assign(before, operator.getitem, (items, Const(slice(None))), (), s.span)
            return made, *self.extend(receiver, before, s)
        t = self.types.of(items)
        parts = items_of(t)
        if parts is not None and (len(t.items) > 1 or not all(map(is_numeric, parts))):  # type: ignore[union-attr]
            names = [self.fresh("%item") for _ in parts]
            self.types.of_name |= dict(zip(names, parts))
            return tuple(
                made for k, name in enumerate(names)
                for made in (Assign(name, operator.getitem, (items, Const(k)), (), s.span),
                             Effect(ops.append, (receiver, name), (), s.span))
            )  # fmt: skip
        self.types.of_name[each] = self.types.item(items)
        if isinstance(t, (Array, Sequence, Tuple)) and is_differentiable(t):
            loop = For(each, items, (Effect(ops.append, (receiver, each), (), s.span),), (), s.span)  # type: ignore[union-attr]
            return self.loop(loop)
        return (For(each, items, (Effect(ops.append, (receiver, each), (), s.span),), (), s.span),)  # type: ignore[union-attr]

    def add_items(self, s: Effect) -> tuple[Statement, ...]:
        """What an emitted adjoint adds to the items of a list, as the loop that it is."""
        shadow, items, *places = s.args
        t = self.types.of(shadow)
        in_place = dict(s.keywords).get("in_place") == Const(True)
        if not isinstance(shadow, str) or not is_container(t) or isinstance(t, Sequence) and t.kind is dict:
            return (s,)
        if not isinstance(t, Sequence) or len(t.items) != 1 or not self.is_part(t):
            return (s,) if places or is_long(t) else tuple(self.add_each(shadow, items, t, in_place, s.span))
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
            body += self.add_items(Effect(runtime.add_items, (old, given), (("in_place", Const(in_place)),), s.span))
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
    def is_part(t: Sequence) -> bool:
        """Whether the items of a list are all alike, and so is what they hold."""
        item = t.items[0]
        return isinstance(item, (Scalar, Array)) or t.length is None and is_container(item) and not is_long(item)

    def add_each(self, shadow: str, items: Atom, t: Type, in_place: bool, span: Span) -> Iterator[Statement]:
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
                yield from self.add_items(Effect(runtime.add_items, (old, given), keywords, span))
            elif in_place and isinstance(part, Array):
                yield Store(old, None, given, operator.add, span)
            else:
                yield Assign(new, operator.add, (old, given), (), span)
                yield Store(shadow, Const(ops.Attribute(key) if isinstance(t, Struct) else key), new, None, span)
