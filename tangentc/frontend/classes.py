"""Classes of the user: how objects are made, their methods and attributes, and `super`."""

from __future__ import annotations

import builtins
import collections
import dataclasses
import enum
import functools
import inspect
import operator
import types
from collections.abc import Collection
from typing import Any

import gast
import numpy as np

from tangentc.analysis.points import DESCRIPTORS
from tangentc.core import ops
from tangentc.core.classes import (
    cached_as,
    cached_properties,
    classes_of,
    fields_of,
    found_in_class,
    has_of_its_class,
    instance_of,
)
from tangentc.core.nodes import Atom, Const, Effect, Global, Place, Store
from tangentc.core.resolve import Scope
from tangentc.core.types import Array, Dict, Known, Scalar, Sequence, Struct, Tuple
from tangentc.frontend import prelude
from tangentc.frontend.activation import Activation, Bound
from tangentc.frontend.define import define
from tangentc.frontend.forms import AUGMENTED, nothing
from tangentc.frontend.part import Part
from tangentc.frontend.questions import VIEWS, answer_of, method_in

IN_PLACE_METHODS = {"__delitem__", "__setslice__", *(f"__{f.__name__}__" for f in AUGMENTED)}
CHANGED_BY_METHODS = (list, dict, np.ndarray, collections.deque)
GIVING_NONE = {"append", "appendleft", "extend", "insert", "reverse", "update", "clear", "sort", "fill"}


class Classes(Part):
    """The part of lowering that knows classes."""

    def method(self, base: Atom, name: str, node: Any, target: str | None, given: Any = None) -> Atom:
        """``base.name(...)`` for a base that is data."""
        if name == "__setattr__":
            args, _ = given or self.arguments(node)
            return self.invoke(builtins.setattr, [base, *args], [], node, None)
        site = self.span(node).site
        t = self.type_known(base)
        cls = self.class_of(base, node)
        self.note_held(base, name)
        if cls is not None:
            fields = fields_of(t, cls)
            kind, found, owner = found_in_class(cls, name) if name not in fields else ("", None, None)
            args, keywords = given or self.arguments(node)
            if kind:
                self.places[Place("attribute", owner), name] = Place("attribute", owner)
            self.refuse_hidden(kind, name, node)
            if kind in ("method", "class", "static") and not (name == "_replace" and hasattr(cls, "_fields")):
                first = {"method": [base], "class": [Const(cls)], "static": []}[kind]
                return self.invoke(found, [*first, *args], keywords, node, target, owner)  # type: ignore[misc]
            if name == "_replace" and hasattr(cls, "_fields"):
                given_ = dict(keywords)
                rest = {n: self.attribute(base, n, node.func) for n in cls._fields if n not in given_}
                return self.struct(cls, cls._fields, {**rest, **given_}, node)
            if kind == "data" and callable(found):
                return self.invoke(found, args, keywords, node, target)
            if not (isinstance(t, Tuple) and name in ("index", "count")):
                held = self.attribute(base, name, node.func)
                return self.call(held, args, keywords, node, target)
        found = self.told(functools.partial(method_in, name), base)
        if found is not None:
            self.assume("callees", site, (found, name), node, base)
            function = self.current(found, node)
            if function is not None:
                args, keywords = self.arguments(node)
                return self.invoke(function, args, keywords, node, target)
        args, keywords = given or self.arguments(node)
        args, keywords = [self.spelled_out(a) for a in args], [(k, self.spelled_out(a)) for k, a in keywords]
        meant = self.of_special_name(base, name, args, node, target) if not keywords else None
        if meant is not None:
            return meant
        held = self.state.of(base)
        if not keywords and (own := self.of_standing(base, name, args, node, target)) is not None:
            return own
        if name == "get" and isinstance(held, Dict) and _lacks(held, args[0]):
            return args[1] if len(args) > 1 else Const(None)
        if name == "pop" and isinstance(held, Dict) and args[0] in map(Const, held.keys):
            args = args[:1] if self.asks.has_its_keys(held) else args
        if name in VIEWS and isinstance(held, Dict) and held.loses:
            return self.entries(base, held, name, node)
        views = isinstance(held, Sequence) and held.kind is dict and name in VIEWS and not self.asks.first_keys(base)
        if views or self.asks.is_written_method(held, name, args):
            function = next(named[name] for named in prelude.METHODS.values() if name in named)
            return self.invoke(function, [base, *args], keywords, node, target)
        if name == "append" and self.loops and (made := self.asks.made(base)) is not None:
            self.growing.setdefault(made.target, set()).add(self.loops[-1])
        if name in GIVING_NONE:  # also where its value, None, is asked for
            self.add(Effect(ops.method, (base, Const(name), *args), tuple(keywords), self.span(node)))
            return Const(None) if target is None else self.emit(ops.identity, (Const(None),), node, target=target)
        return self.emit(ops.method, (base, Const(name), *args), node, tuple(keywords), target=target)

    def of_special_name(self, base: Atom, name: str, args: list, node: Any, target: str | None) -> Atom | None:
        """A method that is another name for a statement, None of others."""
        if name == "__setitem__" and len(args) == 2:
            self.add(Store(base, args[0], args[1], None, self.span(node)))  # type: ignore[arg-type]
            return Const(None)
        if name == "clear" and isinstance(t := self.type_known(base), Dict) and not args:
            for key in t.keys:
                self.method(base, "pop", node, None, ([Const(key)], []))
            return Const(None)
        if name == "__getitem__" and len(args) == 1:
            return self.operation(operator.getitem, (base, args[0]), node, target)
        if name in IN_PLACE_METHODS:
            raise self.unsupported(node, f"the method {name}", "write the operator")
        return None

    def attribute_or(self, base: Atom, name: str, default: Atom, node: Any) -> Atom:
        """``getattr(obj, name, default)``, decided by the class, and by what an argument holds."""
        t, cls = self.type_known(base), self.class_of(base, node)
        is_given = isinstance(t, Struct) and (bool(t.fields) or isinstance(base, Global))
        if cls is not None and (name in getattr(t, "fields", ()) or found_in_class(cls, name)[0]):
            return self.attribute(base, name, node)
        if is_given and name not in self.known.assigned:
            return default
        if (has := self.has_of_its_class(base, name)) is not None:
            return self.attribute(base, name, node) if has else default
        if isinstance(t, (Scalar, Array)):
            raise self.unsupported(node, f"getattr with a default of {name}, which numbers of NumPy have and those of "
                                   "Python have not", "ask with np.ndim, np.shape or isinstance")  # fmt: skip
        if not isinstance(self.state.seen(base), Struct):
            return self.emit(builtins.getattr, (base, Const(name)), node)  # until its class is known
        raise self.unsupported(node, f"getattr with a default of {name}, which the object may have or not",
                               "set the attribute in __init__, or ask for it by its name")  # fmt: skip

    def has_of_its_class(self, base: Atom, name: str) -> bool | None:
        """Whether the class of an array, a number, a list or a dict has an attribute; None where that is not known."""
        t = self.type_known(base)
        return None if t is None else has_of_its_class(t, name)

    def set_attribute(self, args: list, node: Any) -> Atom | None:
        """``setattr(obj, name, value)``; a name that a loop gives is known when the loop is written out."""
        if isinstance(args[0], Const):
            raise self.unsupported(
                node, "setattr of a class, a module or a function", "pass the value in and return it"
            )
        name = self.name_of_attribute(args[1], node)
        if name is not None:
            place = gast.copy_location(gast.Attribute(node, name, gast.Store()), node)
            cls = self.class_of(args[0], place)
            if dataclasses.is_dataclass(cls) and cls.__dataclass_params__.frozen:  # type: ignore[union-attr]
                raise self.unsupported(node, f"object.__setattr__ on the frozen class {cls.__name__}",  # type: ignore[union-attr]
                                       "compute the value before the object is made")  # fmt: skip
            self.store_attribute(args[0], place, args[2])
            return Const(None)
        return None

    def name_of_attribute(self, name: Atom, node: Any) -> str | None:
        """The text that a name given to ``getattr`` is; None if it is not known, which is refused unless the loops
        around can be written out."""
        t = self.type_known(name)
        if isinstance(name, Const) or isinstance(t, Known):
            value = name.value if isinstance(name, Const) else t.value  # type: ignore[union-attr]
            return value if isinstance(value, str) else None
        self.known.wanted.update(self.loops)
        return None

    def bound(self, kind: str, found: Any, base: Atom, cls: type, owner: Any, node: Any) -> Atom:
        """A method as a value."""
        if kind == "static":
            return Const(found)
        first = Const(cls) if kind == "class" else self.kept(base, node)
        return self.remember(Bound(found, (first,), (), owner), node)

    def method_of_python(self, base: Atom, name: str) -> Any:
        """The method of a list, a dict or an array that is taken as a value; None of all else."""
        t = None if isinstance(base, Const) else self.type_known(base)
        if t is None or isinstance(t, Array) and t.or_number:
            return None
        found = next((getattr(cls, name, None) for cls in classes_of(t) if cls in CHANGED_BY_METHODS), None)
        return found if isinstance(found, DESCRIPTORS) else None

    def is_super(self, node: Any) -> bool:
        if not (isinstance(node.func, gast.Name) and node.func.id == "super" and not self.activation.home("super")):
            return False
        return self.activation.scope.lookup("super") is builtins.super

    def super_attribute(self, node: Any) -> Atom:
        """``super().name``: what the next class has."""
        where: Activation | None = self.activation
        while where is not None and where.cls is None:
            where = where.outer
        cell = self.activation.scope.cells.get("__class__")
        cls = where.cls if where is not None else cell.cell_contents if cell is not None else None
        if node.value.args:  # super(Class, self)
            given, this = (*map(self.expression, node.value.args), None)[:2]
            cls = given.value if isinstance(given, Const) and isinstance(given.value, type) else None
        elif cls is not None:
            home = where or self.activation
            first = parameters_of(home)[0]
            this = home.constants.get(first) or home.variable(first)
        if cls is None or this is None:
            raise self.unsupported(node, "`super` outside a method", "call the method of the class by its name")
        of_class = isinstance(this, Const) and isinstance(this.value, type)
        actual = this.value if of_class else self.class_of(this, node)
        if actual is None or not issubclass(actual, cls):  # not known yet
            return self.emit(builtins.getattr, (this, Const(node.attr)), node)
        for owner in actual.__mro__[actual.__mro__.index(cls) + 1 :]:
            if node.attr in vars(owner):
                kind, found, _ = found_in_class(owner, node.attr)
                if kind == "property":
                    return self.invoke(found, [this], [], node, None, owner)
                if kind == "static":
                    return Const(found)
                if kind in ("method", "class"):
                    if is_generated(owner, found):
                        found = written_init(owner) or found
                    return self.remember(Bound(found, (Const(actual) if kind == "class" else this,), (), owner), node)
                if owner is object and node.attr == "__init__":
                    return Const(nothing)
        raise self.unsupported(node, f"`super().{node.attr}`, which no class above has", "correct the name")

    def construct(self, cls: Any, args: list, keywords: list, node: Any, target: str | None) -> Atom:
        """An object of a class of the user."""
        self.plain(cls, node)
        if found_in_class(cls, "__new__")[0] == "static" and not hasattr(cls, "_fields"):
            raise self.unsupported(node, f"{cls.__name__}, which has its own __new__", "use __init__")
        if issubclass(cls, enum.Enum) and len(args) == 1:
            known = args[0] if isinstance(args[0], Const) else self.type_known(args[0])
            if isinstance(known, (Const, Known)) and known.value in [member.value for member in cls]:
                return Const(cls(known.value))
        if type(cls).__call__ is not type.__call__:
            why = f"{cls.__name__}, whose metaclass decides what a call of it does"
            raise self.unsupported(node, why, "make its objects by a function")
        if cls.__new__ not in (object.__new__, types.SimpleNamespace.__new__) and not hasattr(cls, "_fields"):
            raise self.unsupported(node, f"{cls.__name__}, which is derived from a type of the library",
                                   "keep what it holds in an attribute")  # fmt: skip
        init = found_in_class(cls, "__init__")[1]
        if hasattr(cls, "_fields"):
            given = dict(zip(cls._fields, args, strict=False)) | dict(keywords)
            defaults = {n: self.captured(v, node, cls) for n, v in cls._field_defaults.items()}
            return self.struct(cls, cls._fields, {**defaults, **given}, node)
        if issubclass(cls, types.SimpleNamespace) and not args:
            return self.struct(cls, tuple(n for n, _ in keywords), dict(keywords), node)
        if is_generated(cls, init):
            parameters = inspect.signature(init).parameters
            names = [n for n, p in parameters.items() if p.kind is not p.KEYWORD_ONLY][1:]
            given = dict(zip(names, args, strict=False)) | dict(keywords)
            defaults = {n: p.default for n, p in parameters.items()}
            self.places[Place("value", init), "__init__"] = Place("value", init)
            own = dataclasses.fields(cls)
            passed = [n for n in parameters if n not in {f.name for f in own}][1:]  # those that are an `InitVar`
            for f in (*own, *(cls.__dataclass_fields__[n] for n in passed)):
                if f.name in given:
                    continue
                if f.default is not dataclasses.MISSING:
                    given[f.name] = self.captured(defaults.get(f.name, f.default), node, cls)
                elif f.default_factory is not dataclasses.MISSING:
                    given[f.name] = self.invoke(f.default_factory, [], [], node, None)
            fields = tuple(f.name for f in own if f.name in given)
            made = self.struct(cls, fields, {n: given[n] for n in fields}, node)
            if hasattr(cls, "__post_init__"):
                self.method(made, "__post_init__", node, None, ([given[n] for n in passed if n in given], []))
            return made
        if init is None or init is object.__init__:
            return self.new_object(cls, node)
        made = self.new_object(cls, node)
        self.invoke(init, [made, *args], keywords, node, None, found_in_class(cls, "__init__")[2])
        return made

    def struct(self, cls: type, fields: tuple[str, ...], given: dict[str, Atom], node: Any) -> str:
        """An object put together from its fields."""
        missing = [n for n in fields if n not in given] + [n for n in given if n not in fields]
        if missing:
            raise self.wrong_call(node, cls.__name__, f"its field {missing[0]} is not given, or is not one")
        name = f"%{cls.__name__.lower()}"
        made = self.emit(ops.make_struct, (Const(cls), Const(fields), *(given[n] for n in fields)), node, name=name)
        return self.with_caches(made, cls, node)

    def new_object(self, cls: type, node: Any) -> str:
        made = self.emit(ops.new_object, (Const(cls),), node, name=f"%{cls.__name__.lower()}")
        self.with_data_of_class(made, cls, (), node)
        return self.with_caches(made, cls, node)

    def with_data_of_class(self, of: str, cls: type, own: Collection[str], node: Any) -> None:
        """Give an object what its class has under the names that objects have values of their own for."""
        for name in sorted(self.known.assigned.difference(own)):
            kind, found, owner = found_in_class(cls, name)
            if kind == "data" and not callable(found):
                is_plain = found is None or isinstance(found, (int, float, complex, str))
                place = Place("attribute", owner)
                if is_plain:
                    self.places[Place("option", place), name] = Place("option", place)
                held = Const(found) if is_plain else Global(name, place)
                self.add(Store(of, Const(ops.Attribute(name)), held, None, self.span(node)))

    def with_caches(self, made: str, cls: type, node: Any) -> str:
        """An object that is made here, whose cached properties have not been asked for."""
        for name in cached_properties(cls):
            self.add(Store(made, Const(ops.Attribute(cached_as(name))), Const(None), None, self.span(node)))
        return made

    def is_instance(self, args: list, node: Any) -> Atom | None:
        """``isinstance(x, C)`` where the type tells; it chooses the branch when compiling."""
        if not isinstance(args[1], Const):
            return None
        wanted = args[1].value
        if args[0] in self.iterators:
            raise self.unsupported(node, "isinstance of an iterator", "ask before it is made, or make a list of it")
        if isinstance(args[0], Const):
            return Const(isinstance(args[0].value, wanted))
        t = self.type_known(args[0])
        answer = None if t is None else instance_of(t, wanted)
        site = self.span(node).site
        if answer is None:
            answer = self.told(functools.partial(answer_of, wanted), args[0])
            if answer is not None:
                self.assume("answers", site, (wanted, answer), node, args[0])
        return None if answer is None else Const(answer)


def is_generated(cls: type, init: Any) -> bool:
    """Whether the `__init__` of a class is the one that `dataclasses` makes."""
    return dataclasses.is_dataclass(cls) and init is not None and init.__code__.co_filename == "<string>"


@functools.lru_cache(maxsize=1024)
def written_init(cls: type) -> Any:
    """The `__init__` of a dataclass as a function that has a text; None if a factory makes a default."""
    fields, signature = cls.__dataclass_fields__, inspect.signature(cls.__init__)  # type: ignore[attr-defined,misc]
    if any(f.default_factory is not dataclasses.MISSING for f in fields.values()):
        return None
    given = [
        f"{p.name}={p.name}_default" if p.default is not p.empty else p.name for p in signature.parameters.values()
    ]
    names = list(signature.parameters)[1:]
    own = [f.name for f in dataclasses.fields(cls)]  # type: ignore[arg-type]
    lines = [f"    self.{n} = {n}" for n in names if n in own]
    if hasattr(cls, "__post_init__"):
        lines.append(f"    self.__post_init__({', '.join(n for n in names if n not in own)})")
    text = "\n".join([f"def __init__({', '.join(given)}):", *(lines or ["    pass"])])
    defaults = {f"{p.name}_default": p.default for p in signature.parameters.values() if p.default is not p.empty}
    return define(text, f"__init__ of {cls.__name__}", Scope(cls.__init__), defaults)["__init__"]  # type: ignore[misc]


def _lacks(held: Dict, key: Atom) -> bool:
    """Whether a dict surely has no such key."""
    return key.value not in held.keys if isinstance(key, Const) else not held.keys


def parameters_of(activation: Activation) -> list[str]:
    return list(activation.local)
