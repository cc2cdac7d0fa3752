"""Operators of the user's classes: ``u * v`` is ``u.__mul__(v)``, ``r[i] = x`` is ``r.__setitem__(i, x)``."""

from __future__ import annotations

import builtins
import enum
import operator
from typing import Any

import gast

from tangentc.core import ops
from tangentc.core.classes import BUILTINS, INSTEAD, found_in_class, method_name, own_access, reflected, set_by_methods
from tangentc.core.nodes import Atom, Const, Global, Place, Store
from tangentc.core.types import Array, Dict, Sequence, Struct, Tuple, Type, Unknown
from tangentc.core.values import is_table
from tangentc.errors import table_of_pandas
from tangentc.frontend.generators import is_generator
from tangentc.frontend.part import Part


def _comes_first(right: type | None, left: type | None, name: str) -> bool:
    """Whether the right operand is asked first: its class is derived from that of the left, and has the method."""
    if right is None or left is None or right is left or not issubclass(right, left):
        return False
    kind, found, _ = found_in_class(right, name)
    return kind == "method" and found is not found_in_class(left, name)[1]


def _name_in(node: Any) -> str:
    """The name that a chain of attributes, subscripts and calls begins with."""
    while (
        isinstance(node, (gast.Attribute, gast.Subscript))
        or isinstance(node, gast.Call)
        and hasattr(node.func, "value")
    ):
        node = node.func if isinstance(node, gast.Call) else node.value
    return node.id if isinstance(node, gast.Name) else "a value"


def class_in(t: Type) -> type | None:
    """The class of a value of this type, if it is one of the user's."""
    return t.cls if isinstance(t, (Struct, Tuple)) else None


class Operate(Part):
    """The part of lowering that knows the operators of classes."""

    def class_of(self, atom: Atom, node: Any, k: int | None = None) -> type | None:
        """The class of what a node stands for, or of its k-th operand (-1: of what a store changes,
        -2: of what is called)."""
        site = self.span(node).site if k is None else (self.span(node).site, k)
        cls = self.plain(self.told(class_in, atom), node)
        if cls is not None:
            self.assume("classes", site, cls, node, atom)
        return cls

    def plain(self, cls: type | None, node: Any) -> type | None:
        """The class itself, if its attributes are what they seem."""
        if cls is not None and is_table(cls):
            raise table_of_pandas(
                _name_in(node), self.activation.source.name, cls,
                "take its numbers outside of the function, by to_numpy(), and read those", self.span(node),
            )  # fmt: skip
        own = None if cls is None else own_access(cls)
        if own is not None:
            raise self.unsupported(node, f"an object of {cls.__name__}, which has its own {own}",  # type: ignore[union-attr]
                                   "use properties for the attributes that it changes")  # fmt: skip
        if isinstance(cls, type) and cls.__module__ != "builtins":
            self.known.assigned |= set_by_methods(cls)
            self.known.assigned |= {n for n in self.set_here if found_in_class(cls, n)[0] == "data"}
            self.places[Place("class", cls), cls.__name__] = Place("class", cls)
        return cls

    def special_method(self, name: str, args: tuple[Atom, ...], node: Any, k: int = 0) -> Atom | None:
        """``args[0].name(*args[1:])``, None if its class has no such method."""
        cls = self.class_of(args[0], node, k)
        if cls is None:
            return None
        kind, found, owner = found_in_class(cls, name)
        if kind != "method":
            return None
        return self.invoke(found, list(args), [], node, None, owner)

    def operated(self, op: Any, args: tuple[Atom, ...], node: Any, augmented: bool = False) -> Atom | None:
        """The operation as a call of the method that a class defines for it, None if it is not one."""
        name = method_name(op)
        of_class = any(isinstance(self.state.seen(a), (Struct, Tuple)) for a in args)
        if not name or not of_class:
            return None
        if op is ops.contains:
            return self.special_method(name, args[::-1], node, 1)
        if augmented:
            changed = self.special_method(f"__i{name[2:]}", args, node)
            if changed is not None:
                return changed
        if len(args) < 2 or op is operator.getitem or op in BUILTINS:
            value = self.special_method(name, args, node)
            return value if value is not None or name not in INSTEAD else self.special_method(INSTEAD[name], args, node)
        left, right = self.class_of(args[0], node, 0), self.class_of(args[1], node, 1)
        if left is None and self.state.seen(args[0]) is None:
            return None  # it comes first, and is not known yet
        if _comes_first(right, left, reflected(name)):
            return self.special_method(reflected(name), args[::-1], node, 1)
        value = self.special_method(name, args, node)
        if value is None or value == Const(NotImplemented):
            deferred = getattr(right, "__array_ufunc__", ()) is None  # as NumPy asks
            if deferred or not isinstance(self.state.seen(args[0]), Array):
                value = self.special_method(reflected(name), args[::-1], node, 1)
        return value

    def test(self, node: Any) -> Atom:
        """What a test asks: its value, or what the class of an object says of it."""
        if isinstance(node, gast.BoolOp):
            return self.lazy(isinstance(node.op, gast.And), node.values, node, None, self.tested)
        value = self.expression(node)
        told = self.operated(builtins.bool, (value,), node)
        return value if told is None else told

    def tested(self, node: Any, target: str | None = None) -> Atom:
        """One of several tests: of a list or a dict whether it holds anything."""
        if isinstance(node, gast.BoolOp):
            value = self.lazy(isinstance(node.op, gast.And), node.values, node, None, self.tested)
            return value if target is None else self.emit(ops.identity, (value,), node, target=target)
        value = self.expression(node, target=target)
        told = self.operated(builtins.bool, (value,), node)
        if told is None and isinstance(self.type_known(value), (Sequence, Dict)):
            told = self.emit(builtins.bool, (value,), node)
        if told is None or target is None:
            return value if told is None else told
        return self.emit(ops.identity, (told,), node, target=target)

    def operation(
        self, op: Any, args: tuple[Atom, ...], node: Any, target: str | None = None, name: str = "",
        augmented: bool = False,
    ) -> Atom:  # fmt: skip
        """``op(*args)``: an operation, or the method of a class that it stands for."""
        if op in ops.COMPARE and all(isinstance(a, Const) and type(a.value) in (int, float, str) for a in args):
            value: Atom | None = Const(op(*(a.value for a in args)))  # type: ignore[union-attr]
        else:
            value = self.operated(op, args, node, augmented)
        if value is None:
            value = self.worked_out(op, args, (), node)
        if value is None:
            return self.emit(op, args, node, target=target, name=name, augmented=augmented)
        return value if target is None else self.emit(ops.identity, (value,), node, target=target)

    def copied_object(self, value: Atom, node: Any) -> Atom | None:
        """``copy.copy(value)`` of an object: another one that holds the same; None of anything else."""
        t = self.state.seen(value)
        own = ("__copy__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__")
        if not isinstance(t, Struct) or any(found_in_class(t.cls, n)[0] == "method" for n in own):
            return None
        made = self.new_object(t.cls, node)
        for name in t.fields:
            held = self.emit(builtins.getattr, (value, Const(name)), node)
            self.add(Store(made, Const(ops.Attribute(name)), held, None, self.span(node)))
        return made

    def iterated(self, value: Atom, node: Any, k: int | None = None) -> Atom:
        """What a loop over a value runs over: what the ``__iter__`` of its class gives."""
        if isinstance(value, Const) and isinstance(value.value, enum.EnumMeta):
            return Const(tuple(value.value))
        cls, held = self.class_of(value, node, k), self.type_known(value)
        if isinstance(held, Dict) and held.loses:
            return self.entries(value, held, "keys", node)
        if cls is None or issubclass(cls, tuple):
            return value
        kind, found, owner = found_in_class(cls, "__iter__")
        if found_in_class(cls, "__next__")[0]:
            raise self.unsupported(node, f"an object of {cls.__name__}, an iterator that counts itself",
                                   "write __iter__ to give a list")  # fmt: skip
        if kind != "method" and found_in_class(cls, "__getitem__")[0] == "method":
            raise self.unsupported(node, f"an object of {cls.__name__} as what is run over, which has no __iter__",
                                   "write __iter__ to give a list")  # fmt: skip
        if kind != "method":
            return value
        if is_generator(found) and self.gives_to is None:
            node.read_between = True
            return self.gathered(node, lambda: self.invoke(found, [value], [], node, None, owner))
        return self.invoke(found, [value], [], node, None, owner)

    def kept_once(self, node: Any) -> Atom:
        """What is put into a list several times."""
        one: Atom = self.expression(node)
        if one in self.iterators:
            raise self.unsupported(node, "an iterator in a list", "make a list of it")
        return one

    def entries(self, base: Atom, held: Dict, name: str, node: Any) -> Atom:
        """The keys, the values or the items of a dict that had more keys before: those that it has here."""
        made: list[Atom] = [Const(key) for key in held.keys]
        if name != "keys":
            values = [self.emit(operator.getitem, (base, key), node) for key in made]
            pairs = zip(made, values, strict=True)
            made = values if name == "values" else [self.emit(ops.make_tuple, pair, node) for pair in pairs]
        return self.emit(ops.make_list, tuple(made), node)

    def settled(self, base: Atom, key: Atom, node: Any) -> Atom:
        """An integer of the module or of a closure that says which of several unlike items is meant, as a constant."""
        t = self.state.of(base)
        if isinstance(key, Global) and isinstance(t, (Tuple, Sequence)):
            if len(t.items) > 1 or any(isinstance(i, Unknown) for i in t.items):
                return Const(self.option(key, "a subscript", node))
        return key

    def store_item(self, obj: str, key: Atom, value: Atom, node: Any, op: Any = None) -> None:
        """``obj[key] = value`` or ``obj[key] op= value``."""
        key = self.settled(obj, key, node)
        cls = self.class_of(obj, node, -1)
        if cls is None or found_in_class(cls, "__setitem__")[0] != "method":
            self.add(Store(obj, key, value, op, self.span(node)))
            return
        if op is not None:
            old = self.special_method("__getitem__", (obj, key), node, -1)
            if old is not None:
                value = self.operation(op, (old, value), node)
        self.special_method("__setitem__", (obj, key, value), node, -1)
