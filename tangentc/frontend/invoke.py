"""Calls: which function is called, and the lowering of its body in place of the call.

A function of the user is lowered into its caller when it is defined inside it, is given a function, changes
its arguments, or takes ``*args``; others stay calls, with an adjoint of their own.
"""

from __future__ import annotations

import builtins
import collections
import contextlib
import copy
import dataclasses
import functools
import inspect
import itertools
import operator
import types
from collections import Counter
from typing import Any

import gast
import numpy as np

from tangentc import runtime
from tangentc.analysis.points import DESCRIPTORS
from tangentc.core import ops
from tangentc.core.classes import BUILTINS, fields_of, found_in_class, instance_of, is_operated
from tangentc.core.inside import Made
from tangentc.core.nodes import Assign, Atom, Const, Effect, Global, If, Place, Statement, Store
from tangentc.core.resolve import Scope, is_static
from tangentc.core.types import (
    Array,
    Dict,
    Either,
    Known,
    Optional,
    Scalar,
    Sequence,
    Struct,
    Tuple,
    Type,
    is_differentiable,
    is_object,
)  # fmt: skip
from tangentc.errors import Span, TangentcError, UnsupportedSyntax
from tangentc.frontend import prelude
from tangentc.frontend.activation import Activation, Bound, Closure, locals_of, made_in, parameters
from tangentc.frontend.assumed import CALLED, Sites
from tangentc.frontend.callables import is_known, is_library_module, is_of_python, is_user_function, python_function
from tangentc.frontend.emulated import refuse_asked
from tangentc.frontend.environments import MADE_IN_A_TRIP, Environment
from tangentc.frontend.generators import is_generator
from tangentc.frontend.into import Into, ordered
from tangentc.frontend.iterators import runs_over
from tangentc.frontend.leave import gather, leaves, once
from tangentc.frontend.nested import Nested, lift, own_parameters
from tangentc.frontend.parse import parsed
from tangentc.frontend.questions import VIEWS, Questions, answer_of, function_in, keys_in, length_in, method_in
from tangentc.frontend.recursion import captures
from tangentc.frontend.source import Quoted
from tangentc.rules.definitions.elementwise import piece, rest
from tangentc.rules.definitions.jacobians import INSIDE
from tangentc.rules.definitions.procedures import vectorized
from tangentc.rules.registry import REGISTRY

DEEPEST = 60
MOST_OPEN = 8  # calls, one inside the other, of functions that a definition inside has made
AUGMENTED = {
    f for n, f in vars(operator).items() if n.startswith("i") and hasattr(operator, f"__{n}__") and n != "index"
}
OF_FUNCTIONS = {np.piecewise: ("x", "condlist", "funclist"), np.vectorize: ("pyfunc", "otypes")}
AS_TEXT = {builtins.eval, builtins.exec, builtins.compile, builtins.locals, builtins.globals}
CHANGED_BY_METHODS = (list, dict, np.ndarray, collections.deque)
IN_PLACE_METHODS = {"__delitem__", "__setslice__", *(f"__{f.__name__}__" for f in AUGMENTED)}


def unchanged(function: Any) -> Any:
    """What ``functools.wraps(f)`` makes of a wrapper, as far as its value goes."""
    return function


GIVING_NONE = {"append", "appendleft", "extend", "insert", "reverse", "update", "clear", "sort", "fill"}


HIGHEST = 8  # order of a derivative inside
JACOBIANS = ("jacfwd", "jacrev", "hessian")


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def is_quoted(function: Any) -> bool:
    """Whether a function stands for a call of the library: its text is written where the call is."""
    return (function.__module__ or "").startswith((prelude.__name__, "tangentc.rules."))


class Invoke(Into):
    """The part of lowering that knows calls."""

    activation: Activation
    known: Sites
    asks: Questions
    out: list[Statement]
    loops: list[Any]
    activations: int
    types: dict[str, Type]
    places: dict[Any, Any]
    step: tuple
    trying: Any
    guarded: bool
    expression: Any
    assume: Any
    told: Any
    note_held: Any
    from_environment: Any
    emit: Any
    add: Any
    add_all: Any
    path: Any
    block_of: Any
    state: Any
    summaries: Any
    growing: dict[str, set[Any]]
    worked_out: Any
    named: Any
    opened: Any
    span: Any
    fresh: Any
    unsupported: Any
    type_known: Any
    attribute: Any
    kept: Any
    body: Any
    note_names: Any
    remember: Any
    keep: Any
    call_environment: Any
    recursive: Any
    receiver: Any
    copied_object: Any
    class_of: Any
    current: Any
    iterators: set[Atom]
    another_name: Any
    iterated: Any
    refuse_hidden: Any
    store_attribute: Any
    plain: Any

    # ---------------------------------------------------------- arguments
    def of_Call(self, node: Any, target: str | None) -> Atom:
        special = self.special_call(node, target)  # type: ignore[attr-defined]
        if special is not None:
            return special
        func = node.func
        of_super = isinstance(func, gast.Attribute) and isinstance(func.value, gast.Call) and self.is_super(func.value)
        if isinstance(func, gast.Attribute) and func.attr != "__class__" and not of_super:
            base = self.expression(func.value)
            if not isinstance(base, Const):
                return self.method(base, func.attr, node, target)
            callee: Atom = self.of_attribute_of(base, func)
        else:
            callee = self.expression(func)
        args, keywords = self.arguments(node, callee == Const(builtins.zip))
        return self.call(callee, args, keywords, node, target)

    def of_attribute_of(self, base: Const, func: Any) -> Atom:
        value = self.of_module(base.value, func)  # type: ignore[attr-defined]
        if callable(value) and not is_object(value):
            return Const(value)
        return Global(func.attr, Place("attribute", base.value)) if is_object(value) else self.attribute(
            base, func.attr, func
        )  # fmt: skip

    def arguments(self, node: Any, of_zip: bool = False) -> tuple[list[Atom], list[tuple[str, Atom]]]:
        args: list[Atom] = []
        for a in node.args:
            args.extend(self.starred(a, of_zip) if isinstance(a, gast.Starred) else (self.expression(a),))
        keywords: list[tuple[str, Atom]] = []
        for k in node.keywords:
            if k.arg is None:
                keywords.extend(self.double_starred(k.value).items())
            else:
                keywords.append((k.arg, self.expression(k.value)))
        return args, keywords

    def starred(self, node: Any, of_zip: bool = False) -> tuple[Atom, ...]:
        """The items of ``*x``; rows that are zipped may be any number, where they are put together (`columns`)."""
        self.want_items(node.value)
        if isinstance(node.value, gast.Name):
            home = self.activation.home(node.value.id)
            found = home.static.get(node.value.id) if home is not None else None
            if isinstance(found, tuple):
                return found
        atom = self.expression(node.value)
        if isinstance(atom, Const) and isinstance(atom.value, (tuple, list, range)):
            return tuple(Const(v) for v in atom.value)
        made = self.definition(atom)
        if made is not None and made.op is builtins.range and all(isinstance(a, Const) for a in made.args):
            return tuple(Const(k) for k in range(*(a.value for a in made.args)))  # type: ignore[union-attr]
        site = self.span(node).site
        t = self.type_known(atom)
        rows = of_zip and answer_of(ops.spread, self.state.of(atom)) is not None
        length = len(t.items) if isinstance(t, Tuple) else self.told(length_in, atom)
        length = None if rows else length
        if not isinstance(t, Tuple) and length is not None:
            self.assume("lengths", site, length, node, atom)
        if length is None:
            made = self.asks.made(atom)
            self.known.counted |= self.growing.get(made.target, set()) if made is not None else set()
            return (self.emit(ops.spread, (atom,), node, name="%_spread_"),)
        return tuple(self.emit(operator.getitem, (atom, Const(k)), node.value) for k in range(length))

    def want_items(self, node: Any) -> None:
        """A comprehension is written out if it can be, where it counts how many items it gives."""
        if isinstance(node, (gast.ListComp, gast.GeneratorExp)):
            self.known.wanted.update(self.span(g.iter).site for g in node.generators)

    def columns(self, rows: Atom, node: Any) -> Atom | None:
        """``zip(*rows)`` of a list of tuples, as many as there are: a tuple for each item that they have."""
        made = self.definition(rows)
        if made is None or made.op is not ops.spread:
            return None
        self.out.pop()
        atom, site = made.args[0], (ops.spread, made.span.site)  # type: ignore[union-attr]
        count = self.told(functools.partial(answer_of, ops.spread), atom)
        if count is None:
            self.add(dataclasses.replace(made, args=(atom, Const(builtins.zip))))
            return None
        self.assume("answers", site, (ops.spread, count), node, atom)
        columns = [self.invoke(prelude.column, [atom, Const(k)], [], node, None) for k in range(count)]
        return self.emit(ops.make_tuple, tuple(columns), node)

    def double_starred(self, node: Any) -> dict[str, Atom]:
        """The entries of ``**x``."""
        if isinstance(node, gast.Name):
            home = self.activation.home(node.id)
            found = home.static.get(node.id) if home is not None else None
            if isinstance(found, dict):
                return dict(found)
        atom = self.expression(node)
        t = self.type_known(atom)
        site = self.span(node).site
        keys = t.keys if isinstance(t, Dict) else self.told(keys_in, atom)
        if not isinstance(t, Dict) and keys is not None:
            self.assume("keys", site, keys, node, atom)
        if keys is None:
            return {"%_spread_": self.emit(ops.spread, (atom,), node, name="%_spread_")}
        return {k: self.item_of(atom, k) or self.emit(operator.getitem, (atom, Const(k)), node) for k in keys}

    def item_of(self, atom: Atom, key: str) -> Const | None:
        """What a dict of the module or of a closure holds under a key, if it says how something is computed: the code
        is good while it does."""
        held = atom.lookup() if isinstance(atom, Global) else None
        if not isinstance(held, dict) or not _is_option(held.get(key, 0.0)):
            return None
        place = Place("item", held)
        self.places[place, key] = place
        return Const(held[key])

    # ---------------------------------------------------------- which function
    def callee(self, node: Any) -> Any:
        """The function that an expression stands for; refused if it is not known here."""
        atom = self.expression(node)
        if not isinstance(atom, Const):
            raise self.unsupported(node, "a decorator that is not known when compiling", "call it by its name")
        return atom.value

    def call(self, callee: Atom, args: list, keywords: list, node: Any, target: str | None) -> Atom:
        """Call what an atom stands for."""
        site = self.span(node).site
        if isinstance(callee, Const):
            return self.invoke(callee.value, args, keywords, node, target)
        found = self.told(function_in, callee)
        if found is not None:
            self.assume("callees", site, (found, None), node, callee)
            function = self.whichever(self.current(found, node), callee, node)
            if made_in(function):
                self.keep(function, node)
                function = None
            if function is not None:
                return self.invoke(function, args, keywords, node, target)
        if site in self.known.defined and self.known.defined[site][2]:
            function, first, _ = self.known.defined[site]
            return self.invoke(function, [*map(Const, first), callee, *args], keywords, node, target)
        t = self.type_known(callee)
        cls = self.class_of(callee, node, CALLED)
        if cls is not None and issubclass(cls, Environment):
            return self.call_environment(callee, cls, args, keywords, node, target)
        if cls is not None and "__call__" in dir(cls):
            return self.method(callee, "__call__", node, target, (args, keywords))
        if isinstance(t, Known) and callable(t.value):
            return self.invoke(self.whichever(t.value, callee, node), args, keywords, node, target)
        return self.emit(ops.call, (callee, *args), node, tuple(keywords), target=target, name="%called")

    def whichever(self, function: Any, atom: Atom, node: Any) -> Any:
        """A function; of several the one that a value is."""
        return Either(function.functions, self.kept(atom, node)) if isinstance(function, Either) else function

    def method(self, base: Atom, name: str, node: Any, target: str | None, given: Any = None) -> Atom:
        """``base.name(...)`` for a base that is data."""
        if name == "__setattr__":
            args, _ = given or self.arguments(node)
            return self.set_attribute([base, *args], node)
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
        if name == "__setitem__" and len(args) == 2:
            self.add(Store(base, args[0], args[1], None, self.span(node)))  # type: ignore[arg-type]
            return Const(None)
        if name in IN_PLACE_METHODS:
            raise self.unsupported(node, f"the method {name}", "write the operator")
        if site in self.known.defined and self.known.defined[site][2]:
            function, first, _ = self.known.defined[site]
            return self.invoke(function, [*(map(Const, first) if first else [base]), *args], keywords, node, target)
        held = self.state.of(base)
        if isinstance(held, Dict) and name == "get" and isinstance(args[0], Const) and args[0].value not in held.keys:
            return args[1] if len(args) > 1 else Const(None)
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

    def attribute_or(self, base: Atom, name: str, default: Atom, node: Any) -> Atom:
        """``getattr(obj, name, default)``, decided by the class, and by what an argument holds."""
        t, cls = self.type_known(base), self.class_of(base, node)
        is_given = isinstance(t, Struct) and (bool(t.fields) or isinstance(base, Global))
        if cls is not None and (name in getattr(t, "fields", ()) or found_in_class(cls, name)[0]):
            return self.attribute(base, name, node)
        if is_given and name not in self.known.assigned or isinstance(t, (Scalar, Array, Sequence)):
            return default
        if not isinstance(self.state.seen(base), Struct):
            return self.emit(builtins.getattr, (base, Const(name)), node)  # until its class is known
        raise self.unsupported(node, f"getattr with a default of {name}, which the object may have or not",
                               "set the attribute in __init__, or ask for it by its name")  # fmt: skip

    def set_attribute(self, args: list, node: Any) -> Atom:
        """``setattr(obj, name, value)``; a name that a loop gives is known when the loop is written out."""
        if isinstance(args[0], Const):
            raise self.unsupported(
                node, "setattr of a class, a module or a function", "pass the value in and return it"
            )
        if isinstance(args[1], Const):
            place = gast.copy_location(gast.Attribute(node, args[1].value, gast.Store()), node)
            cls = self.class_of(args[0], place)
            if dataclasses.is_dataclass(cls) and cls.__dataclass_params__.frozen:  # type: ignore[union-attr]
                raise self.unsupported(node, f"object.__setattr__ on the frozen class {cls.__name__}",  # type: ignore[union-attr]
                                       "compute the value before the object is made")  # fmt: skip
            self.store_attribute(args[0], place, args[2])
            return Const(None)
        known = self.known.wanted
        if set(self.loops) <= known:
            raise self.unsupported(node, "setattr of a name that is not known when compiling", "write the names out")
        known.update(self.loops)
        return Const(None)

    def bound(self, kind: str, found: Any, base: Atom, cls: type, owner: Any, node: Any) -> Atom:
        """A method as a value."""
        if kind == "static":
            return Const(found)
        first = Const(cls) if kind == "class" else self.kept(base, node)
        return self.remember(Bound(found, (first,), (), owner), node)

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
        actual = this.value if of_class else self.class_of(this, node)  # type: ignore[attr-defined]
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
                    return self.remember(Bound(found, (Const(actual) if kind == "class" else this,), (), owner), node)
                if owner is object and node.attr == "__init__":
                    return Const(_nothing)
        raise self.unsupported(node, f"`super().{node.attr}`, which no class above has", "correct the name")

    # ---------------------------------------------------------- calling it
    def invoke(
        self, callee: Any, args: list, keywords: list, node: Any, target: str | None, cls: type | None = None
    ) -> Atom:
        """Call a function that is known."""
        if any(isinstance(a, str) and a.startswith("%_spread_") for a in (*args, *dict(keywords).values())):
            columns = self.columns(args[0], node) if callee is builtins.zip and len(args) == 1 else None
            return columns or self.emit(ops.call, (Const(None), *args), node, (), target=target, name="%called")
        callee = getattr(callee, "__tangentc_function__", callee)
        callee = getattr(callee, "__tangentc_op__", callee)
        if isinstance(callee, Made):
            callee = Nested(callee.function, callee.kind, callee.wrt, callee.has_aux)
        match callee:
            case Either():
                return self.either(callee, args, keywords, node)
            case Nested():
                return self.nested(callee, args, keywords, node, target)
            case Closure():
                return self.inline_closure(callee, args, keywords, node, target)
            case Bound():
                merged = [*callee.keywords, *keywords]
                return self.invoke(callee.function, [*callee.args, *args], list(dict(merged).items()), node, target,
                                   callee.cls)  # fmt: skip
            case functools.partial():
                self.places[Place("value", callee), "partial"] = Place("value", callee)
                first = [self.captured(a, node, callee.func) for a in callee.args]
                more = {k: self.captured(v, node, callee.func) for k, v in callee.keywords.items()} | dict(keywords)
                return self.invoke(callee.func, [*first, *args], list(more.items()), node, target)
            case operator.itemgetter() | operator.attrgetter() | operator.methodcaller():
                kind, parts = callee.__reduce__()  # type: ignore[str-unpack,misc]
                if len(parts) in prelude.ASKING.get(kind, {}):
                    asking = prelude.ASKING[kind][len(parts)]
                    return self.invoke(asking, [*map(Const, parts), *args], keywords, node, target)
            case types.MethodType():
                this = self.captured(callee.__self__, node, callee.__func__)
                if REGISTRY.find(callee) is None and (
                    is_user_function(callee.__func__) or hasattr(callee.__func__, "__tangentc_function__")
                ):
                    owner = callee.__self__ if isinstance(callee.__self__, type) else type(callee.__self__)
                    return self.invoke(callee.__func__, [this, *args], keywords, node, target, _owner(owner, callee))
        if (
            isinstance(getattr(callee, "__self__", None), str)
            and all(isinstance(a, Const) for a in args)
            and not keywords
        ):
            said = callee(*(a.value for a in args))  # "fixed_b".startswith("fixed")
            if _is_option(said):
                return Const(said)
            text = Const(callee.__self__)  # type: ignore[attr-defined]
            return self.emit(ops.method, (text, Const(callee.__name__), *args), node, target=target)
        if callee is builtins.dict and len(args) == 1 and keywords:  # the keywords are put in last
            made = self.named(self.invoke(callee, args, [], node, None), node)
            self.add_all(Store(made, Const(k), v, None, self.span(node)) for k, v in keywords)
            return made if target is None else self.emit(ops.identity, (made,), node, target=target)
        if isinstance(callee, DESCRIPTORS) and args and callee.__objclass__ in CHANGED_BY_METHODS:
            return self.method(args[0], callee.__name__, node, target, (args[1:], keywords))
        args, keywords = ordered(callee, args, keywords)
        if ops.module_root(callee) in ops.NUMERIC_MODULES:
            args, keywords = [self.spelled_out(a) for a in args], [(k, self.spelled_out(a)) for k, a in keywords]
        written = self.into(callee, args, keywords, node, target)
        if written is not None:
            return written
        probe = Assign("", callee, tuple(args), tuple(keywords))
        if lists := self.asks.lists(probe):
            args = [self.emit(np.array, (a,), node) if k in lists else a for k, a in enumerate(args)]
            keywords = [(k, self.emit(np.array, (a,), node) if k in lists else a) for k, a in keywords]
        if runs_over(callee):
            args = [self.iterated(a, node, k) if isinstance(a, str) else a for k, a in enumerate(args)]
        if callee is builtins.divmod:
            own = self.operated(callee, tuple(args), node)  # type: ignore[attr-defined]
            if own is not None:
                return own
        library = prelude.written(callee, args, dict(keywords))
        given = (*args, *dict(keywords).values())
        inside = any(isinstance(a, Const) and isinstance(a.value, (Closure, Bound)) for a in given)
        if library is not None and (
            prelude.is_certain(callee, args, dict(keywords)) or inside or self.is_written(probe)
        ):
            function, args, named = library
            return self.invoke(function, args, list(named.items()), node, target)
        if hasattr(callee, "__tangentc_static__"):
            known = self.worked_out(callee, tuple(args), tuple(keywords), node)
            return known or self.emit(callee, tuple(args), node, tuple(keywords), target=target)
        if callee is np.piecewise and len(args) == 3 and not keywords and (parts := self.pieces(args)) is not None:
            return self.piecewise(args[0], parts[0], parts[1], node)
        definition = self.standing_for(callee, inside, dict(keywords), node)
        if definition is not None:
            function, first = definition
            args, keywords = [self.frozen(a) for a in args], [(k, self.frozen(a)) for k, a in keywords]
            return self.invoke(function, [*map(Const, first), *args], keywords, node, target)
        made = self.known_function(callee, args, keywords, node, target)
        if made is not None:
            return made
        if isinstance(callee, functools._lru_cache_wrapper):
            return self.invoke(callee.__wrapped__, args, keywords, node, target)
        if isinstance(callee, type) and not is_library_module(callee) and not is_of_python(callee):
            return self.construct(callee, args, keywords, node, target)
        if is_object(callee) and "__call__" in dir(type(callee)) and not is_library_module(callee):
            this = self.captured(callee, node, callee)
            return self.invoke(type(callee).__call__, [this, *args], keywords, node, target, type(callee))
        if is_user_function(callee):
            return self.user_function(callee, args, keywords, node, target, cls)
        if callee in BUILTINS and args:
            own = self.operated(callee, (*args, *dict(keywords).values()), node)  # type: ignore[attr-defined]
            if own is not None:
                return own
        if (callee in ops.BINARY or callee in ops.COMPARE or callee in ops.UNARY) and not keywords:
            return self.operation(callee, tuple(args), node, target)  # type: ignore[attr-defined]
        known = self.worked_out(callee, tuple(args), tuple(keywords), node)
        if known is not None:
            return known
        if inside and callee is ops.stopped:
            return self.handed(args[0], node, True)
        if inside:
            args = [self.handed(a, node) for a in args]
            keywords = [(k, self.handed(a, node)) for k, a in keywords]
        return self.emit(callee, tuple(args), node, tuple(keywords), target=target)

    def is_written(self, probe: Assign) -> bool:
        """Whether a call of the library is lowered as Python."""
        types = [self.state.of(a) for a in probe.args]
        return prelude.stands_for(probe.op) and not is_operated(probe.op, types) and self.asks.is_written(probe)

    def handed(self, atom: Atom, node: Any, still: bool = False) -> Atom:
        """A function defined inside as one that a library can call: what it captures goes along."""
        value = atom.value if isinstance(atom, Const) else None
        if isinstance(value, Closure):
            function, captured = lift(value)
            names = list(inspect.signature(function).parameters)[-len(captured) or None :]
            given: tuple[Atom, ...] = ()
            named = dict(zip(names, captured))
        elif isinstance(value, Bound) and isinstance(value.function, types.FunctionType):
            function, given, named = value.function, value.args, dict(value.keywords)
        else:
            return atom
        if not given and not named:
            return Const(function)
        if still:
            given = tuple(self.emit(ops.stopped, (a,), node) for a in given)
            named = {k: self.emit(ops.stopped, (a,), node) for k, a in named.items()}
        return self.emit(functools.partial, (Const(function), *given), node, tuple(named.items()))

    def pieces(self, args: list) -> list[list[Atom]] | None:
        """The conditions of `numpy.piecewise`, and its functions, where they are written out."""
        made = [
            next((s for s in reversed(self.out) if isinstance(s, Assign) and s.target == a), None) for a in args[1:]
        ]
        if not all(s is not None and s.op in (ops.make_list, ops.make_tuple) for s in made):
            return None
        return [list(s.args) for s in made]  # type: ignore[union-attr]

    def piecewise(self, x: Atom, conditions: list[Atom], functions: list[Atom], node: Any) -> Atom:
        y = self.emit(np.zeros_like, (x,), node, name="%pieces")
        if len(functions) > len(conditions):
            conditions = [*conditions, self.invoke(rest, conditions, [], node, None)]
        for where, function in zip(conditions, functions, strict=True):
            self.invoke(piece, [y, x, where, function], [], node, None)
        return y

    def frozen(self, atom: Atom) -> Atom:
        """What was written out, as the constant that it is: ``axes=[[0], [1]]``, ``np.inf``."""
        made = next((s for s in reversed(self.out) if isinstance(s, Assign) and s.target == atom), None)
        if made is not None and made.op is builtins.getattr and isinstance(made.args[0], Const):
            value = getattr(made.args[0].value, made.args[1].value, None)  # type: ignore[union-attr]
            return Const(value) if isinstance(value, float) and value == np.inf else atom
        if made is not None and made.op is operator.getitem and isinstance(made.args[0], Global):
            held, key = made.args[0].lookup(), made.args[1]
            option = _as_option(held.get(key.value)) if isinstance(held, dict) and isinstance(key, Const) else None
            if option is None:
                return atom
            place = Place("item", held)
            self.places[place, key.value] = place  # type: ignore[union-attr,index]
            return Const(option)
        if made is not None and made.op is operator.neg:
            inner = self.frozen(made.args[0])
            return Const(-inner.value) if isinstance(inner, Const) and inner.value == np.inf else atom
        if made is None or made.op not in (ops.make_list, ops.make_tuple) or not made.args or not atom.startswith("%"):
            return atom
        items = [self.frozen(a) for a in made.args]
        if all(isinstance(a, Const) and isinstance(a.value, (int, tuple)) for a in items):
            return Const(tuple(a.value for a in items))  # type: ignore[union-attr]
        return atom

    def standing_for(self, callee: Any, with_code: bool, options: Any, node: Any) -> Any:
        """The definition of a function of the library, where it stands for its call: no rule covers that, or it is
        given functions, or changes its arguments."""
        found = REGISTRY.definition(callee)
        with_code = with_code and ops.module_root(callee) != "scipy"  # which can be handed a function to call
        if found is None or with_code or self.known.defined.get(self.span(node).site, ())[:2] == found:
            return found
        return REGISTRY.definition(callee, options)

    def either(self, callee: Either, args: list, keywords: list, node: Any) -> Atom:
        """Call one of several functions, whichever it is."""
        which, rest = callee.which, list(callee.functions)
        result = self.fresh("%called")
        args = [self.kept(a, node) for a in args]
        blocks = []
        for function in rest:

            def call(function: Any = function) -> None:
                value = self.invoke(function, args, keywords, node, None)
                self.emit(ops.identity, (value,), node, target=result)

            blocks.append(self.path(call))
        chain = blocks[-1]
        for function, block in zip(rest[-2::-1], blocks[-2::-1], strict=True):

            def choose(function: Any = function, block: Any = block, chain: Any = chain) -> None:
                test = self.emit(operator.eq, (which, Const(function)), node)
                self.add(If(test, block, chain, (), self.span(node), "statement"))

            chain = self.path(choose)
        self.add_all(chain)
        return result

    def nested(self, callee: Nested, args: list, keywords: list, node: Any, target: str | None) -> Atom:
        """Call a derivative: its emitted function, once the types of the arguments are known."""
        if callee.state != tuple(self.loops[: len(callee.state)]):
            raise self.unsupported(node, MADE_IN_A_TRIP, "call it in the trip that makes it")
        count = len(callee.wrt) if callee.kind == "jvp" else 1 if callee.kind == "adjoint" else 0
        extra = callee.extra()
        split = len(args) - count
        whole = self.with_defaults(callee, args[:split], dict(keywords), node)
        args, split = [*whole, *args[split:]], len(whole)
        given_ = [*args[:split], *extra, *args[split:]]
        site = self.span(node).site
        found = self.compiled(callee, given_)
        if found is not None:
            function, seeds, types_ = found
            self.assume("compiled", site, types_, node, *given_)
            at = split + len(extra) if callee.kind == "jvp" else len(given_)
            return self.invoke(function, [*given_[:at], *map(Const, seeds), *given_[at:]], [], node, target)
        return self.emit(ops.call, (Const(callee), *given_), node, target=target, name="%derivative")

    def compiled(self, callee: Nested, given: list[Atom]) -> Any:
        """The derivative for the types of its arguments here; None where they do not tell, or it is refused: a later
        walk, or typing, may know more."""
        types = [self.state.of(a) for a in given]
        may_be_none = any(isinstance(t, Optional) for _, t in self.asks.tangents(callee, (Const(None), *given)))
        if may_be_none:
            return None
        with contextlib.suppress(TangentcError):
            found = callee.compiled(types, self.known.derivatives)
            return None if found is None else (*found, types)
        return None

    def with_defaults(self, callee: Nested, args: list, given: dict[str, Atom], node: Any) -> list[Atom]:
        """The arguments of the function whose derivative is called: a value for each of its parameters."""
        names, defaults = self.parameters_of(callee.function, node)
        whole = list(args)
        for name in names[len(args) :]:
            if name not in given and name not in defaults:
                raise self.wrong_call(node, callee.__name__, f"its parameter {name} is not given")
            whole.append(given.pop(name) if name in given else defaults[name])
        if given:
            raise self.wrong_call(node, callee.__name__, f"it has no parameter {next(iter(given))}")
        return whole

    def apart(self, atom: Atom, node: Any) -> Atom:
        """A value as it is now, whatever is changed later."""
        return self.emit(ops.copied, (atom,), node, name="%kept") if isinstance(atom, str) else atom

    def parameters_of(self, function: Any, node: Any) -> tuple[list[str], dict[str, Atom]]:
        """The names of the parameters of a function or a derivative of one, and the default values."""
        if isinstance(function, Nested) or isinstance(function, Made):
            names, defaults = self.parameters_of(function.function, node)
            return ([*names, "out_bar"], {}) if function.kind == "adjoint" else (names, defaults)
        names = own_parameters(function)
        if isinstance(function, Closure):
            return names, function.defaults
        if isinstance(function, Bound):
            return names, {n: a for n, a in self.parameters_of(function.function, node)[1].items() if n in names}
        parameters = inspect.signature(function, follow_wrapped=False).parameters.values()
        given = {p.name: self.captured(p.default, node, function) for p in parameters if p.default is not p.empty}
        return names, given

    def differentiation(self, callee: Any, args: list, keywords: list, node: Any) -> Atom | None:
        """``grad(f)``, ``vjp(f, x)`` and their kin inside the function."""
        kind = getattr(callee, "__tangentc_kind__", None)
        if kind is None:
            return None
        function = self.function_of(args[0], node)
        if function is None and isinstance(args[0], str):  # its type may tell
            return self.emit(ops.call, (args[0], *args[1:]), node, name="%called")
        if kind in JACOBIANS and callable(function):
            made = self.jacobian(kind, [self.remembered(function, node), *args[1:]], keywords, node)
            return self.remember(made, node)
        if isinstance(function, Nested) and function.order > HIGHEST:
            raise self.unsupported(node, f"derivatives of more than order {HIGHEST}", "differentiate the result")
        if not isinstance(function, (types.FunctionType, Closure, Nested)) and not (
            isinstance(function, Bound) and not isinstance(function.function, Nested)
        ):
            raise self.unsupported(node, f"`{kind}` of something that is not known when compiling",
                                   "give it a function by its name, or a lambda")  # fmt: skip
        if kind == "vjp":
            primals = [self.apart(a, node) for a in args[1:]]
            value = self.invoke(function, [self.apart(a, node) for a in args[1:]], [], node, None)
            wrt = tuple(range(len(primals)))
            if isinstance(function, (Closure, Bound)):  # what it reads now is what the pullback reads
                primals = self.with_defaults(Nested(function, "adjoint", wrt), primals, {}, node)
                function, captured = lift(function)
                primals += [self.apart(a, node) for a in captured]
            pullback = self.remember(Bound(Nested(function, "adjoint", wrt), tuple(primals)), node)
            return self.emit(ops.make_tuple, (self.apart(value, node), pullback), node)
        given = {"wrt": Const(0), "has_aux": Const(False)} | dict(zip(("wrt", "has_aux"), args[1:])) | dict(keywords)
        known = {
            name: self.option(atom, f"the `{name}` of `{kind}` inside a function", node) for name, atom in given.items()
        }
        if set(known) - {"wrt", "has_aux"} or len(args) > 3:
            raise self.unsupported(node, f"arguments of `{kind}` inside a function that it does not have",
                                   "give it the function, wrt and has_aux")  # fmt: skip
        return self.remember(Nested(function, kind, known["wrt"], known["has_aux"]), node)

    def spelled_out(self, atom: Atom) -> Atom:
        """A text, or a tuple of such or of integers, that the module or a closure names, as if it stood in the call:
        it says how something is computed."""
        if isinstance(atom, Global) and isinstance(value := atom.lookup(), (str, tuple)) and _is_option(value):
            return self.option_of(atom)
        return atom

    def option(self, atom: Atom, what: str, node: Any) -> Any:
        """The value of an argument that says what is computed: what is compiled is good while it is the same."""
        atom = self.frozen(atom)
        if isinstance(atom, Global) and _is_option(atom.lookup()):
            return self.option_of(atom).value
        if not isinstance(atom, Const) or not _is_option(atom.value):
            raise self.unsupported(
                node, f"{what} with a value that is not known when compiling", "write it as a constant"
            )
        return atom.value

    def option_of(self, atom: Global) -> Const:
        """What a name of the module or of a closure stands for: the code is good while it does."""
        place = Place("option", atom.place)
        self.places[place, atom.name] = place
        return Const(atom.lookup())

    def jacobian(self, kind: str, args: list, keywords: list, node: Any) -> Bound:
        """``jacobian(f)``: the loop over the columns or rows that it is."""
        wrt = (dict(zip(("wrt",), args[1:], strict=False)) | dict(keywords)).get("wrt", Const(0))
        what = f"the `wrt` of `{kind}` inside a function"
        position = self.option(wrt, what, node)
        if not isinstance(position, int) or position < 0:
            raise self.unsupported(node, what, "give the position of one argument")
        return Bound(INSIDE[kind], (args[0], Const(position)))

    def function_of(self, atom: Atom, node: Any) -> Any:
        """The function that an atom stands for, so that its derivative can be taken; None if it is not known."""
        value: Any = atom.value if isinstance(atom, Const) else None
        if isinstance(atom, Global) and "__call__" in dir(cls := type(atom.lookup())):
            return Bound(cls.__call__, (atom,), cls=cls)  # an object that is called
        if isinstance(atom, str):
            t = self.type_known(atom)
            cls = self.class_of(atom, node, CALLED)
            if cls is not None and issubclass(cls, Environment):
                value = self.from_environment(atom, cls, node)
            elif cls is not None:
                kind, found, owner = found_in_class(cls, "__call__")
                value = Bound(found, (atom,), cls=owner) if kind == "method" else None
            elif isinstance(t, Known) and callable(t.value):
                value = self.whichever(t.value, atom, node)
            elif (found := self.told(function_in, atom)) is not None:
                self.assume("callees", self.span(node).site, (found, None), node, atom)
                value = self.current(found, node)
        if isinstance(atom, str) and (state := made_in(value)) != tuple(self.loops[: len(state)]):
            self.keep(value, node)  # it was made in another trip
            return None
        value = getattr(value, "__tangentc_function__", value)
        if isinstance(value, Made):
            return Nested(value.function, value.kind, value.wrt, value.has_aux)
        if callable(value) and not isinstance(value, (types.FunctionType, Closure, Nested, Bound, type)):
            return python_function(value, "inside") if is_known(value) else value
        return value

    def remembered(self, function: Any, node: Any) -> Atom:
        return self.remember(function, node) if isinstance(function, Bound) else Const(function)

    def jvp_call(self, node: Any) -> Atom | None:
        """``jvp(f, (x,), (v,))`` and ``hvp(f, (x,), (v,))``, whose tuples have a known length."""
        if len(node.args) != 3 or node.keywords:
            raise self.unsupported(node, "`jvp` without its three arguments", "write jvp(f, (x,), (v,))")
        callee = self.expression(node.func)
        function = self.expression(node.args[0])
        primals, tangents = map(self.items_of, node.args[1:])
        if any(isinstance(a, str) and a.startswith("%_spread_") for a in (*primals, *tangents)):
            return self.emit(ops.call, (Const(None), *primals, *tangents), node, name="%called")
        still = self.still(primals, tangents)
        moving = tuple(i for i, t in enumerate(tangents) if t != Const(None) and i not in still)
        for i in self.doubtful(moving, tangents):
            tangents[i] = self.emit(runtime.or_zero, (tangents[i], primals[i]), node)
        base = self.differentiation(_gradient if callee.value.__name__ == "hvp" else _plain, [function], [], node)
        if not isinstance(base, Const):  # the function is not known yet
            return base
        inner: Any = base.value if callee.value.__name__ == "hvp" else base.value.function  # type: ignore[union-attr]
        given = [*primals, *(self.apart(tangents[i], node) for i in moving)]
        result = self.nested(Nested(inner, "jvp", moving), given, [], node, None)
        if callee.value.__name__ == "hvp":
            return self.emit(operator.getitem, (result, Const(1)), node)
        return result

    def still(self, primals: list[Atom], tangents: list[Atom]) -> frozenset[int]:
        """The arguments that do not move, as far as is known here."""
        return frozenset(
            k for k, (x, v) in enumerate(zip(primals, tangents, strict=False))
            if self.state.of(v) == Known(Const(None))
            or (t := self.state.seen(x)) is not None and not is_differentiable(t)
        )  # fmt: skip

    def doubtful(self, moving: tuple[int, ...], tangents: list[Atom]) -> tuple[int, ...]:
        """The arguments whose tangent may be None."""
        return tuple(k for k in moving if isinstance(self.state.of(tangents[k]), Optional))

    def items_of(self, node: Any) -> list[Atom]:
        """The items of a tuple, written out or not."""
        if isinstance(node, (gast.Tuple, gast.List)) and not any(isinstance(e, gast.Starred) for e in node.elts):
            return [self.expression(e) for e in node.elts]
        if isinstance(node, gast.Call) and getattr(node.func, "id", "") in ("tuple", "list") and len(node.args) == 1:
            node = node.args[0]
        return list(self.starred(gast.copy_location(gast.Starred(node, gast.Load()), node)))

    def captured(self, value: Any, node: Any, function: Any) -> Atom:
        """A value that a callable holds, read while the code runs."""
        plain = isinstance(value, (bool, int, float, complex, str, bytes)) or isinstance(value, tuple) and not value
        if is_static(value) or plain:
            return Const(value)
        holder = getattr(function, "__name__", "function").strip("<>")
        self.places[Place("value", value), holder] = Place("value", value)  # what it holds may say what is called
        return Global(type(value).__name__.lower() if is_object(value) else f"{holder}_data", Place("value", value))

    def construct(self, cls: Any, args: list, keywords: list, node: Any, target: str | None) -> Atom:
        """An object of a class of the user."""
        self.plain(cls, node)
        if found_in_class(cls, "__new__")[0] == "static" and not hasattr(cls, "_fields"):
            raise self.unsupported(node, f"{cls.__name__}, which has its own __new__", "use __init__")
        if type(cls).__call__ is not type.__call__:
            why = f"{cls.__name__}, whose metaclass decides what a call of it does"
            raise self.unsupported(node, why, "make its objects by a function")
        if issubclass(cls, (list, dict, set, str, int, float, complex, np.ndarray)):
            raise self.unsupported(node, f"{cls.__name__}, which is derived from a type of the library",
                                   "keep what it holds in an attribute")  # fmt: skip
        init = found_in_class(cls, "__init__")[1]
        generated = dataclasses.is_dataclass(cls) and init is not None and init.__code__.co_filename == "<string>"
        if hasattr(cls, "_fields"):
            given = dict(zip(cls._fields, args, strict=False)) | dict(keywords)
            defaults = {n: self.captured(v, node, cls) for n, v in cls._field_defaults.items()}  # type: ignore[attr-defined]
            return self.struct(cls, cls._fields, {**defaults, **given}, node)
        if issubclass(cls, types.SimpleNamespace) and not args:
            return self.struct(cls, tuple(n for n, _ in keywords), dict(keywords), node)
        if generated:
            fields = [f for f in dataclasses.fields(cls) if f.init]
            names = [f.name for f in fields if not f.kw_only]
            given = dict(zip(names, args, strict=False)) | dict(keywords)
            defaults = {n: p.default for n, p in inspect.signature(init).parameters.items()}
            self.places[Place("value", init), "__init__"] = Place("value", init)
            for f in dataclasses.fields(cls):
                if f.name in given:
                    continue
                if f.default is not dataclasses.MISSING:
                    given[f.name] = self.captured(defaults.get(f.name, f.default), node, cls)
                elif f.default_factory is not dataclasses.MISSING:
                    given[f.name] = self.invoke(f.default_factory, [], [], node, None)
            made = self.struct(cls, tuple(f.name for f in dataclasses.fields(cls) if f.name in given), given, node)
            if hasattr(cls, "__post_init__"):
                self.method(made, "__post_init__", node, None, ([], []))
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
        return made

    def new_object(self, cls: type, node: Any) -> str:
        made = self.emit(ops.new_object, (Const(cls),), node, name=f"%{cls.__name__.lower()}")
        for name in sorted(self.known.assigned):
            kind, found, _ = found_in_class(cls, name)
            if kind == "data" and not callable(found):
                self.add(Store(made, Const(ops.Attribute(name)), Const(found), None, self.span(node)))
        return made

    def user_function(
        self,
        callee: Any,
        args: list,
        keywords: list,
        node: Any,
        target: str | None,
        cls: type | None,  # type: ignore[name-defined]
    ) -> Atom:
        callee = self.known.twins.get(callee, callee)
        span = self.span(node)
        given = [*args, *(v for _, v in keywords)]
        takes_any = callee.__code__.co_flags & 0x0C
        code = tuple(id(a.value) for a in given if isinstance(a, Const) and _is_code(a.value))
        key = (callee.__code__, *code)
        if (takes_any or is_generator(callee)) and self.times_called(callee.__code__) < MOST_OPEN:
            key = (*key, *map(self.one_object, given))  # a call on another object is no recursion: modules of modules
        gives = self.receiver(callee, node) if is_generator(callee) else None
        if gives is not None and self.is_open(key):
            raise self.unsupported(node, "a generator that calls itself", "gather the values in a list")
        if (
            cls is None
            and not is_quoted(callee)
            and not hasattr(callee, "__tangentc_twin__")
            and not ("isinstance" in callee.__code__.co_names and all(isinstance(a, Const) for a in given))
            and not takes_any
            and span.site not in self.known.inline
            and not any(isinstance(a, Const) and _is_code(a.value) for a in given)
            and not self.summaries.inlined(
                callee, [self.state.of(a) for a in args], {k: self.state.of(v) for k, v in keywords}
            )
            and not any(isinstance(self.type_known(a), Struct) or a in self.iterators for a in given)
            or self.is_open(key)
        ) and gives is None:
            if is_quoted(callee):
                raise self.unsupported(
                    node, f"{callee.__name__} with options that are only known when the program runs",
                    "write the options as constants",
                )  # fmt: skip
            if any(isinstance(a, Const) and isinstance(a.value, Closure) and captures(a.value) for a in given):
                raise self.unsupported(
                    node, f"{callee.__name__}, which calls itself and is given a function that captures variables",
                    "give it what the function captures as arguments, or write it as a loop",
                )  # fmt: skip
            keywords = [*keywords, *self.data_by_default(callee, len(args), dict(keywords), node)]
            return self.emit(callee, tuple(args), node, tuple(keywords), target=target)
        source, tree = parsed(callee)
        if is_quoted(callee):
            source = Quoted(source.tree, source.file, source.lines, source.name, span)
        else:
            self.places[Place("value", callee), callee.__name__] = Place("value", callee)
        self.note_names(Scope(callee), callee.__code__)
        names = [a.id for a in (*tree.args.posonlyargs, *tree.args.args)]
        values = callee.__defaults__ or ()
        defaults = dict(zip(names[len(names) - len(values) :], values, strict=True)) | (callee.__kwdefaults__ or {})
        atoms = {k: self.captured(v, node, callee) for k, v in defaults.items()}
        activation = self.begin(source, Scope(callee), tree, None, key, cls, span)
        activation.gives = gives
        return self.inline(activation, tree, atoms, args, keywords, node, callee.__name__)

    def times_called(self, code: Any) -> int:
        """How many of the calls that are being lowered are of a function with this code."""
        count = 0
        found: Activation | None = self.activation
        while found is not None:
            count += isinstance(found.key, tuple) and found.key[0] is code
            found = self.callers.get(found)
        return count

    def one_object(self, atom: Atom) -> frozenset[int]:
        """The place where an object was made, if it is known which one a value is."""
        t = self.state.now.get(atom) if isinstance(atom, str) else None
        known = isinstance(t, Struct) and len(t.sites) == 1 and self.state.several.isdisjoint(t.sites)
        return t.sites if known else frozenset()  # type: ignore[union-attr]

    def data_by_default(self, callee: Any, count: int, given: dict[str, Atom], node: Any) -> list[tuple[str, Atom]]:
        """The default values that a call leaves as they are, and that may hold something else at the next."""
        parameters = list(inspect.signature(callee, follow_wrapped=False).parameters.values())[count:]
        left = [p for p in parameters if p.name not in given and _may_change(p.default)]
        atoms = [(p.name, self.captured(p.default, node, callee)) for p in left if p.kind is not p.POSITIONAL_ONLY]
        return [(name, atom) for name, atom in atoms if isinstance(atom, Global)]

    def is_open(self, key: Any) -> bool:
        """Whether a call of this function is being lowered already."""
        found: Activation | None = self.activation
        while found is not None:
            if found.key is key or isinstance(key, tuple) and found.key == key:
                return True
            found = self.callers.get(found)
        return False

    def times_open(self, tree: Any) -> int:
        """How many of the calls that are being lowered are of functions made by one definition."""
        count = 0
        found: Activation | None = self.activation
        while found is not None:
            made = found.key.node if isinstance(found.key, Closure) else None
            count += made is not None and (made.lineno, made.col_offset) == (tree.lineno, tree.col_offset)
            found = self.callers.get(found)
        return count

    @functools.cached_property
    def callers(self) -> dict[Activation, Activation | None]:
        return {}

    def inline_closure(self, closure: Closure, args: list, keywords: list, node: Any, target: str | None) -> Atom:
        if closure.state != tuple(self.loops[: len(closure.state)]):
            self.keep(closure, node)
            return self.emit(ops.call, (Const(closure), *args), node, tuple(keywords), target=target, name="%called")
        lifted = self.recursive(closure, args, keywords, node, target)
        if lifted is not None:
            return lifted
        if self.is_open(closure) or self.times_open(closure.node) > MOST_OPEN:
            raise self.unsupported(
                node, "a function defined inside that calls itself through other functions",
                "define it at the level of the module",
            )  # fmt: skip
        home = closure.home
        activation = self.begin(
            home.source, home.scope, closure.node, home, closure, None, self.span(node)
        )  # fmt: skip
        return self.inline(activation, closure.node, closure.defaults, args, keywords, node, closure.__name__)

    def begin(self, source: Any, scope: Scope, tree: Any, outer: Any, key: Any, cls: Any, span: Span) -> Activation:
        self.activations += 1
        local: Counter[str] = locals_of(tree)
        return Activation(
            source, scope, local, outer, self.activations, (*self.activation.path, span.site), tuple(self.loops), key,
            cls,
        )  # fmt: skip

    def inline(
        self, activation: Activation, tree: Any, defaults: dict[str, Atom], args: list, keywords: list, node: Any,
        name: str,
    ) -> Atom:  # fmt: skip
        """The body of a function in place of its call; gives what it returns."""
        if len(activation.path) > DEEPEST:
            raise self.unsupported(node, "calls that are nested too deeply", "write them as a loop")
        self.bind_parameters(activation, tree.args, defaults, args, keywords, node, name)
        caller = self.activation
        self.callers[activation] = caller
        self.activation = activation
        step, self.step = self.step, ()
        trying, self.trying = self.trying, None
        guarded, self.guarded = self.guarded, False
        self.activation.path = (*activation.path, step) if step else activation.path
        out = f"%out'{activation.number}"
        try:
            with self.state.call(out):
                block = self.block_of(lambda: self.body(tree))
        finally:
            self.activation, self.step, self.trying = caller, step, trying
            self.guarded = guarded
        single = once(block)
        if single is not None:
            self.out.extend(single[0])
            return single[1]
        if not leaves(block):
            self.out.append(Assign(out, ops.identity, (Const(None),), (), self.span(node)))
        self.out.extend(gather(block, name, out))
        return out

    def bind_parameters(
        self, activation: Activation, signature: Any, defaults: dict[str, Atom], args: list, keywords: list, node: Any,
        name: str,
    ) -> None:  # fmt: skip
        """Give each parameter its value, as Python does."""
        plain = [a.id for a in (*signature.posonlyargs, *signature.args)]
        only = [a.id for a in signature.kwonlyargs]
        positional_only = {a.id for a in signature.posonlyargs}
        given: dict[str, Atom] = dict(zip(plain, args, strict=False))
        rest = tuple(args[len(plain) :])
        more: dict[str, Atom] = {}
        for key, value in keywords:
            if key in given:
                raise self.wrong_call(node, name, f"it is given {key} twice")
            if key in plain and key not in positional_only or key in only:
                given[key] = value
            else:
                more[key] = value
        if rest and not signature.vararg:
            raise self.wrong_call(node, name, f"it takes {len(plain)} arguments, and is given {len(args)}")
        if more and not signature.kwarg:
            raise self.wrong_call(node, name, f"it has no parameter {next(iter(more))}")
        for key in (*plain, *only):
            if key not in given and key not in defaults:
                raise self.wrong_call(node, name, f"its parameter {key} is not given")
            self.bind_parameter(activation, key, given.get(key, defaults.get(key)), node)  # type: ignore[arg-type]
        if signature.vararg:
            starred = signature.vararg.id
            self.emit(ops.make_tuple, rest, node, target=activation.variable(starred))
            if activation.local[starred] == 1:
                activation.static[starred] = tuple(self.kept(a, node) for a in rest)
        if signature.kwarg:
            double = signature.kwarg.id
            self.emit(ops.make_dict, (Const(tuple(more)), *more.values()), node, target=activation.variable(double))
            if activation.local[double] == 1:
                activation.static[double] = {k: self.kept(v, node) for k, v in more.items()}

    def bind_parameter(self, activation: Activation, name: str, value: Atom, node: Any) -> None:
        if activation.local[name] > 1:
            value = self.opened(value, node)
        if activation.local[name] == 1:
            if not isinstance(value, str):
                activation.constants[name] = value
                return
        op = self.another_name(value)
        if op is ops.once and isinstance(activation.source, Quoted):  # the functions there run over lists
            op = ops.identity if value.startswith("%") else builtins.list
        self.emit(op, (value,), node, target=activation.variable(name))

    def wrong_call(self, node: Any, name: str, why: str) -> UnsupportedSyntax:
        return UnsupportedSyntax(
            f"{name} is called with the wrong arguments", self.span(node), why=why, way_out="correct the call"
        )

    # ---------------------------------------------------------- functions that stand for a form of the language
    def known_function(self, callee: Any, args: list, keywords: list, node: Any, target: str | None) -> Atom | None:
        """functools.partial and its kin, whose meaning is a form of the language."""
        if callee is _nothing:
            return Const(None)
        if callee in AS_TEXT or callee is builtins.vars and not args:
            why = f"`{callee.__name__}`, which finds names while it runs"
            raise self.unsupported(node, why, "write what it stands for")
        made = self.differentiation(callee, args, keywords, node)
        if made is not None:
            return made
        if getattr(callee, "__module__", "") == "tangentc.jacobians":
            name = getattr(callee, "__name__", "jacobian")
            raise self.unsupported(node, f"{name} by several arguments inside a function", "take them one by one")
        if callee is unchanged:
            return args[0]
        if callee is functools.wraps:
            return Const(unchanged)
        if callee is functools.partial and isinstance(args[0], Const):
            kept = [self.kept(a, node) for a in args[1:]]
            named = tuple((k, self.kept(v, node)) for k, v in keywords)
            return self.remember(Bound(args[0].value, tuple(kept), named), node)
        if (
            callee in prelude.ASKING
            and len(args) in prelude.ASKING[callee]
            and not keywords
            and (callee is operator.itemgetter or isinstance(args[0], Const))
        ):
            return self.remember(Bound(prelude.ASKING[callee][len(args)], tuple(args)), node)
        if callee is np.vectorize:
            given = dict(zip(OF_FUNCTIONS[callee], args)) | dict(keywords)
            if isinstance(given.get("pyfunc"), Const) and given.keys() <= {*OF_FUNCTIONS[callee]}:
                otypes = self.frozen(given.get("otypes", Const(None)))
                return self.remember(Bound(vectorized, (given["pyfunc"], otypes), ()), node)
        if callee is builtins.callable and isinstance(args[0], Const):
            return Const(callable(args[0].value))
        is_named = callee is builtins.getattr and len(args) == 3 and isinstance(args[1], Const)
        if is_named and isinstance(args[0], (str, Global)) and args[2] != Const(None):
            return self.attribute_or(args[0], args[1].value, args[2], node)
        if callee is builtins.getattr and len(args) >= 2 and isinstance(args[1], Const):
            if isinstance(args[0], Const):
                return Const(getattr(args[0].value, args[1].value, *(a.value for a in args[2:])))
            t = self.type_known(args[0])
            if len(args) > 2 and isinstance(t, Struct) and t.fields and args[1].value not in t.fields:
                if not found_in_class(t.cls, args[1].value)[0]:
                    return args[2]
            if args[2:] == [Const(None)] and not (isinstance(t, Struct) and args[1].value in t.fields):
                cls = self.class_of(args[0], node)
                if cls is None or not found_in_class(cls, args[1].value)[0]:
                    key = Const(ops.Attribute(args[1].value))
                    return self.emit(ops.old_item, (args[0], key), node, target=target)
            return self.attribute(args[0], args[1].value, node, target)
        if callee is np.copy and len(args) == 1 and not keywords:
            return self.emit(np.copy, tuple(args), node, (("order", Const("K")),), target=target)
        if callee is np.ndindex or isinstance(callee, type) and callee.__module__ == "itertools":
            items = self.emit(callee, tuple(args), node, tuple(keywords))
            endless = callee in (itertools.count, itertools.repeat, itertools.cycle)
            return items if endless else self.emit(builtins.list, (items,), node, target=target)  # run over again later
        quoted = isinstance(self.activation.source, Quoted)
        if callee is np.where and len(args) == 3 and args[0] == Const(True) and quoted:
            return args[1]
        if callee is np.where and len(args) == 1 and not keywords:
            return self.emit(np.nonzero, tuple(args), node, target=target)
        if callee is collections.OrderedDict:
            self.known.emulated.add(callee)
            return self.invoke(dict, args, keywords, node, target)
        if callee is collections.deque and len(args) <= 1 and not keywords:
            self.known.emulated.add(callee)
            return self.invoke(list, args, keywords, node, target)
        if callee is operator.setitem and isinstance(args[0], str):
            self.add(Store(args[0], args[1], args[2], None, self.span(node)))
            return Const(None)
        if callee in (operator.delitem, *AUGMENTED):
            raise self.unsupported(node, f"operator.{callee.__name__}", "write the operator")
        if callee in (builtins.setattr, object.__setattr__) and isinstance(args[0], (str, Const)):
            return self.set_attribute(args, node)
        if callee is builtins.isinstance:
            made_ = self.definition(args[1])
            if made_ is not None and made_.op is ops.make_tuple and all(isinstance(a, Const) for a in made_.args):
                args = [args[0], Const(tuple(a.value for a in made_.args))]
            return self.is_instance(args, node) or self.emit(callee, tuple(args), node, target=target)
        if callee is runtime.struct:
            return self.struct(args[0].value, tuple(n for n, _ in keywords), dict(keywords), node)
        if callee is dataclasses.replace:
            cls = self.class_of(args[0], node)
            if cls is None:
                return None
            given = dict(keywords)
            fields = [f.name for f in dataclasses.fields(cls) if f.init or f.name in given]
            every = [(n, given[n] if n in given else self.attribute(args[0], n, node)) for n in fields]
            return self.construct(cls, [], every, node, target)
        if callee is object.__new__ and isinstance(args[0], Const):
            return self.new_object(args[0].value, node)
        if callee is builtins.iter and len(args) == 1:
            return args[0]
        if callee is copy.copy and len(args) == 1 and (copied := self.copied_object(args[0], node)) is not None:
            return copied
        if callee in (copy.deepcopy, runtime.copied):
            views = dict(keywords).get("views", Const(callee is runtime.copied))
            apart = () if views == Const(True) else (views,)
            return self.emit(ops.copied, (args[0], *apart), node, target=target)
        if callee in (builtins.list, builtins.tuple, builtins.dict) and not args and not keywords:
            made = {builtins.list: ops.make_list, builtins.tuple: ops.make_tuple}.get(callee)  # type: ignore[assignment]
            if made is not None:
                return self.emit(made, (), node, target=target)
        if callee is builtins.dict and not args:
            names = Const(tuple(k for k, _ in keywords))  # type: ignore[assignment]
            return self.emit(ops.make_dict, (names, *(v for _, v in keywords)), node, target=target)
        return None

    def definition(self, atom: Atom) -> Assign | None:
        """The statement just before, if it is what an atom stands for."""
        last = self.out[-1] if self.out else None
        return last if isinstance(last, Assign) and last.target == atom else None

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
        if (here := self.state.seen(args[0])) is not None:
            refuse_asked(here, wanted, self.known.emulated, self.span(node))
        answer = None if t is None else instance_of(t, wanted)
        site = self.span(node).site
        if answer is None:
            answer = self.told(functools.partial(answer_of, wanted), args[0])
            if answer is not None:
                self.assume("answers", site, (wanted, answer), node, args[0])
        return None if answer is None else Const(answer)


def _gradient() -> None:
    """Stands for `tangentc.grad`."""


def _plain() -> None:
    """Stands for a function whose derivative is not taken yet."""


_gradient.__tangentc_kind__ = "grad"  # type: ignore[attr-defined]
_plain.__tangentc_kind__ = "plain"  # type: ignore[attr-defined]


def _nothing(*args: Any, **keywords: Any) -> None:
    """``object.__init__``."""


def _is_option(value: Any) -> bool:
    """Whether a value is a flag, a text, an integer or a tuple of these, or None."""
    if isinstance(value, tuple):
        return all(map(_is_option, value))
    return value is None or isinstance(value, (bool, int, str))


def _may_change(value: Any) -> bool:
    """Whether a value can hold something else while it stays the same object."""
    if isinstance(value, tuple):
        return any(map(_may_change, value))
    return isinstance(value, (list, dict, np.ndarray)) or is_object(value)


def _as_option(value: Any) -> Any:
    """A list of integers as the option that it is, a tuple; None for anything else."""
    if isinstance(value, list):
        parts = [v if _is_option(v) else _as_option(v) for v in value]
        return None if None in parts else tuple(parts)
    return None


def _is_code(value: Any) -> bool:
    """Whether an argument is a function, so that what it is called in is compiled for it."""
    return callable(value) and not isinstance(value, type)


def _owner(cls: type, method: Any) -> type:
    """The class in whose text a method stands."""
    for owner in cls.__mro__:
        found = vars(owner).get(method.__name__)
        if getattr(found, "__func__", found) is method.__func__:
            return owner
    return cls


def parameters_of(activation: Activation) -> list[str]:
    return list(activation.local)


__all__ = ["Bound", "Effect", "Invoke", "parameters"]
