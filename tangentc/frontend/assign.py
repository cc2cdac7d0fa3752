"""Assignment: to a name, an attribute, an item, or a pattern of these."""

from __future__ import annotations

import builtins
import operator
import types
from typing import Any

import gast
import numpy as np

from tangentc import runtime
from tangentc.core import ops
from tangentc.core.classes import cached_as, found_in_class, setter_in_class
from tangentc.core.nodes import Assign, Atom, Const, Effect, Place, Store
from tangentc.core.types import Array, Tuple, Type, is_complex, is_numeric, items_of
from tangentc.frontend import prelude
from tangentc.frontend.part import Part
from tangentc.frontend.source import Quoted


class Assigning(Part):
    """The part of lowering that knows what a target is bound to."""

    def assign(self, target: Any, value: Any) -> None:
        if isinstance(target, gast.Name):
            variable = self.variable(target)
            apart = isinstance(value, gast.Tuple) and self.activation.home(target.id).local[target.id] > 1  # type: ignore[union-attr]
            result = self.expression(value, target=None if apart else variable)
            if apart and isinstance(result, Const) and all(isinstance(v, float) for v in result.value):  # it may grow
                result = self.emit(ops.make_tuple, tuple(map(Const, result.value)), value)
            last = self.out[-1] if self.out else None
            if isinstance(last, Assign) and last.target == variable == result and last.op is ops.identity:
                quoted = isinstance(self.activation.source, Quoted) and self.activation.local[target.id] == 1
                if isinstance(last.args[0], Const) and (quoted or callable(last.args[0].value)):
                    self.out.pop()
                    result = last.args[0]
            self.assign_value(target.id, result, value)
        elif (
            isinstance(target, (gast.Tuple, gast.List))
            and isinstance(value, (gast.Tuple, gast.List))
            and len(target.elts) == len(value.elts)
            and not any(isinstance(e, gast.Starred) for e in (*target.elts, *value.elts))
        ):
            atoms = [self.kept(self.expression(e), e) for e in value.elts]
            for t, a in zip(target.elts, atoms, strict=True):
                self.bind(t, a)
        else:
            self.bind(target, self.expression(value))

    def opened(self, value: Atom, node: Any) -> Atom:
        """A constant tuple with numbers that may be other ones later, as a tuple that is put together."""
        if not (isinstance(value, Const) and type(value.value) is tuple and _has_floats(value.value)):
            return value
        return self.emit(ops.make_tuple, tuple(self.opened(Const(v), node) for v in value.value), node)

    def variable(self, target: Any) -> str:
        """The variable that an assignment to a name goes to."""
        home = self.activation.home(target.id)
        if home is None:
            raise self.unsupported(target, "an assignment to a name of the module", "return the value instead")
        home.constants.pop(target.id, None)
        return home.variable(target.id)

    def assign_value(self, name: str, value: Atom, node: Any) -> None:
        """``name = value``; a function that is the only value of a name is known by it."""
        home = self.activation.home(name)
        if home is None:
            raise self.unsupported(node, "an assignment to a name of the module", "return the value instead")
        variable = home.variable(name)
        if home.local[name] > 1:
            value = self.opened(value, node)
        if value != variable:
            op = self.another_name(value)
            if op is ops.once:
                self.iterators.add(variable)
            self.emit(op, (value,), node, target=variable)
        if home.local[name] == 1:
            if isinstance(value, Const) and (
                callable(value.value)
                or isinstance(value.value, types.ModuleType)
                or isinstance(self.activation.source, Quoted)
            ):
                home.constants[name] = value

    def packed(self, value: Any) -> Atom:
        return self.emit(ops.make_tuple, tuple(map(self.packed, value)), None) if isinstance(value, tuple) else value

    def bind(self, target: Any, value: Atom) -> None:
        if isinstance(target, gast.Name):
            self.assign_value(target.id, value, target)
        elif isinstance(target, (gast.Tuple, gast.List)):
            self.unpack(target, value)
        elif isinstance(target, gast.Starred):
            self.bind(target.value, value)
        elif isinstance(target, gast.Subscript):
            obj = self.named(self.expression(target.value), target.value)
            self.store_item(obj, self.expression(target.slice), value, target)
        elif target.attr == "shape" and isinstance(target.value, gast.Name):
            array = self.named(self.expression(target.value), target.value)
            if self.class_of(array, target) is not None:
                self.store_attribute(array, target, value)
            else:
                self.assign_value(target.value.id, self.emit(ops.reshaped, (array, value), target), target.value)
        else:
            self.store_attribute(self.named(self.expression(target.value), target.value), target, value)

    def store_attribute(self, obj: str, target: Any, value: Atom) -> None:
        """``obj.name = value``, or the call of what sets a property."""
        if target.attr == "__class__":
            raise self.unsupported(target, "an object that changes its class", "make an object of the other class")
        t = self.state.seen(obj)
        if is_numeric(t) and not has_setter(t, target.attr):  # type: ignore[arg-type]
            of = "numpy.ndarray" if isinstance(t, Array) else "float"
            return self.raises(AttributeError(f"'{of}' object has no attribute '{target.attr}'"), target)
        if (
            isinstance(t, Array) and is_complex(t) and target.attr == "imag"
        ):  # its memory has the other sign in adjoints
            parts = self.emit(np.real, (obj,), target), self.emit(operator.mul, (Const(1j), value), target)
            self.add(Store(obj, Const(...), self.emit(operator.add, parts, target), None, self.span(target)))
            return
        cls = self.class_of(obj, target)
        kind, _, owner = found_in_class(cls, target.attr) if cls is not None else ("", None, None)
        self.refuse_hidden("descriptor" if kind == "descriptor" else "", target.attr, target)
        if kind in ("data", "method", "static"):
            self.known.assigned.add(target.attr)
        if kind != "property":
            name = cached_as(target.attr) if kind == "cached" and cls is not None else target.attr
            self.add(Store(obj, Const(ops.Attribute(name)), value, None, self.span(target)))
            return
        setter = setter_in_class(cls, target.attr)  # type: ignore[arg-type]
        if setter is None:
            raise self.unsupported(target, f"the property {target.attr}, which cannot be set", "set what it is made of")
        self.places[Place("attribute", owner), target.attr] = Place("attribute", owner)
        self.invoke(setter, [obj, value], [], target, None, owner)

    def unpack(self, target: Any, value: Atom) -> None:
        value = self.iterated(value, target.elts[0], 0)
        source = self.definition(value)
        if source is not None and source.op in (ops.make_dict, builtins.dict):
            raise self.unsupported(target, "a dict that is unpacked, which gives its keys", "d.values(), or d[key]")
        made = next((s for s in reversed(self.out) if isinstance(s, Assign) and s.target == value), None)
        if made is not None and made.op in (builtins.zip, builtins.enumerate):
            value = self.rows_of_zip(made, target) or self.invoke(prelude.listed, [value], [], target, None)
        stars = [i for i, t in enumerate(target.elts) if isinstance(t, gast.Starred)]
        if not stars:
            self.add(Effect(runtime.require_count, (value, Const(len(target.elts))), (), self.span(target)))
        apart = any(not isinstance(t, gast.Name) or self.variable(t) == value for t in target.elts[:-1])
        taken: list[tuple[Any, Atom]] = []
        for i, t in enumerate(target.elts):
            if stars and i == stars[0]:
                stop = i + 1 - len(target.elts)
                item = self.emit(ops.items_from, (value, Const(i), Const(stop)), t, name="%rest")
            else:
                index = i if not stars or i < stars[0] else i - len(target.elts)
                inner = self.variable(t) if isinstance(t, gast.Name) and not apart else None
                item = self.emit(operator.getitem, (value, Const(index)), t, target=inner)
                if inner is not None:
                    continue
            if apart:  # storing one of them may change what the others are taken from
                taken.append((t, item))
            else:
                self.bind(t, item)
        for t, item in taken:
            self.bind(t, item)

    def rows_of_zip(self, made: Assign, target: Any) -> Atom | None:
        """What `zip` gives of things whose items are told apart, functions perhaps: a tuple of tuples."""
        given = [items_of(self.state.of(a)) for a in made.args if made.op is builtins.zip]
        if not given or None in given or made.keywords:
            return None
        for a, items in zip(made.args, given):
            if not isinstance(self.state.of(a), Tuple):
                self.assume("lengths", self.span(target).site, len(items), target, a)  # type: ignore[arg-type]
        rows = [
            tuple(self.emit(operator.getitem, (a, Const(k)), target) for a in made.args)
            for k in range(min(map(len, given)))  # type: ignore[arg-type]
        ]
        return self.emit(ops.make_tuple, tuple(self.emit(ops.make_tuple, row, target) for row in rows), target)


def has_setter(t: Type, name: str) -> bool:
    """Whether an attribute of an array, or of a number, can be set."""
    return isinstance(t, Array) and isinstance(getattr(np.ndarray, name, None), types.GetSetDescriptorType)


def _has_floats(value: Any) -> bool:
    return any(map(_has_floats, value)) if isinstance(value, tuple) else isinstance(value, (float, complex))
