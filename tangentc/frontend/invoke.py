"""Calls: which function is called, and what a call of it is."""

from __future__ import annotations

import builtins
import enum
import functools
import operator
import types
from typing import Any

import gast
import numpy as np

from tangentc.analysis.points import DESCRIPTORS
from tangentc.core import ops
from tangentc.core.classes import BUILTINS, found_in_class, is_operated
from tangentc.core.inside import Made, undecorated
from tangentc.core.jitted import in_python
from tangentc.core.nodes import Assign, Atom, Const, Global, If, Place, Store, version_base
from tangentc.core.types import Array, Either, Known
from tangentc.core.values import is_object
from tangentc.frontend import prelude
from tangentc.frontend.activation import Bound, Closure, made_in
from tangentc.frontend.assumed import CALLED
from tangentc.frontend.callables import is_library_module, is_of_python, is_user_function
from tangentc.frontend.classes import CHANGED_BY_METHODS, Classes
from tangentc.frontend.environments import Environment
from tangentc.frontend.forms import Call, Forms
from tangentc.frontend.given import Given, is_option, is_spread, lacks_before_rest
from tangentc.frontend.inline import Inline
from tangentc.frontend.inside import Inside
from tangentc.frontend.into import Into, ordered
from tangentc.frontend.iterators import runs_over
from tangentc.frontend.nested import Nested
from tangentc.frontend.questions import function_in
from tangentc.ops.table import known_of
from tangentc.rules.definitions.elementwise import piece, rest
from tangentc.rules.registry import REGISTRY


class Invoke(Given, Inside, Classes, Inline, Forms, Into):
    """The part of lowering that knows calls."""

    # ---------------------------------------------------------- arguments
    def of_Call(self, node: Any, target: str | None) -> Atom:
        special = self.special_call(node, target)
        if special is not None:
            return special
        func = node.func
        of_super = isinstance(func, gast.Attribute) and isinstance(func.value, gast.Call) and self.is_super(func.value)
        if isinstance(func, gast.Attribute) and func.attr != "__class__" and not of_super:
            base = self.expression(func.value)
            if base == Const(None) and not hasattr(None, func.attr):
                return self.nothing(AttributeError(f"'NoneType' object has no attribute {func.attr!r}"), node)
            is_text = isinstance(base, Const) and isinstance(base.value, str)
            if not isinstance(base, Const) or is_text and not all(isinstance(a, gast.Constant) for a in node.args):
                return self.method(base, func.attr, node, target)
            callee: Atom = self.of_attribute_of(base, func)
        else:
            callee = self.expression(func)
        args, keywords = self.arguments(node, callee == Const(builtins.zip))
        if callee == Const(None):
            return self.nothing(TypeError("'NoneType' object is not callable"), node)
        return self.call(callee, args, keywords, node, target)

    def nothing(self, error: Exception, node: Any) -> Atom:
        """The value of a call that raises where it is run."""
        self.raises(error, node)
        return Const(None)

    def of_attribute_of(self, base: Const, func: Any) -> Atom:
        value = self.of_module(base.value, func)
        if callable(value) and not is_object(value):
            return Const(value)
        return Global(func.attr, Place("attribute", base.value)) if is_object(value) else self.attribute(
            base, func.attr, func
        )  # fmt: skip

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
            unhashable = type(callee.value).__hash__ is None  # as a polynomial of NumPy is
            if unhashable and (definition := REGISTRY.definition(type(callee.value).__call__)) is not None:
                return self.invoke(definition[0], [callee, *args], keywords, node, target)
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

    # ---------------------------------------------------------- calling it
    def invoke(
        self, callee: Any, args: list, keywords: list, node: Any, target: str | None, cls: type | None = None
    ) -> Atom:
        """Call a function that is known."""
        spread = [a for a in (*args, *dict(keywords).values()) if is_spread(a)]
        if spread and spread == args[-1:] and (lacks := lacks_before_rest(callee, len(args) - 1)) is not None:
            args = self.with_first_items(args, lacks, node)
        elif spread:
            columns = self.columns(args[0], node) if callee is builtins.zip and len(args) == 1 else None
            return columns or self.emit(ops.call, (Const(None), *args), node, (), target=target, name="%called")
        callee = in_python(undecorated(callee))
        callee = getattr(callee, "__tangentc_op__", callee)
        call = Call(callee, args, keywords, node, target)
        self.refuse_named_manager(call)
        made = self.of_what_holds(call) or self.of_what_is_given(call)
        if made is not None:
            return made
        call.args, call.keywords = ordered(callee, args, keywords)
        if ops.module_root(callee) in ops.NUMERIC_MODULES:
            call.args = [self.spelled_out(a) for a in call.args]
            call.keywords = [(k, self.spelled_out(a)) for k, a in call.keywords]
        made = self.of_library(call)
        if made is None:
            made = self.form(call)
        if made is None:
            made = self.of_python(call, cls)
        return made if made is not None else self.of_operation(call)

    def of_what_holds(self, call: Call) -> Atom | None:
        """A call of what holds functions, or arguments for one."""
        callee, args, keywords, node, target = call.callee, call.args, call.keywords, call.node, call.target
        if isinstance(callee, Made):
            callee = Nested.of(callee)
        match callee:
            case Either():
                return self.either(callee, args, keywords, node)
            case Nested():
                return self.nested(callee, args, keywords, node, target)
            case Closure():
                return self.inline_closure(callee, args, keywords, node, target)
            case Bound():
                given = dict([*callee.keywords, *keywords])
                return self.invoke(
                    callee.function, [*callee.args, *args], list(given.items()), node, target, callee.cls
                )
            case functools.partial():
                self.places[Place("value", callee), "partial"] = Place("value", callee)
                first = [self.captured(a, node, callee.func) for a in callee.args]
                more = {k: self.captured(v, node, callee.func) for k, v in callee.keywords.items()} | dict(keywords)
                return self.invoke(callee.func, [*first, *args], list(more.items()), node, target)
            case operator.itemgetter() | operator.attrgetter() | operator.methodcaller():
                kind, parts = callee.__reduce__()  # type: ignore[str-unpack,misc]
                asking = prelude.ASKING.get(kind, {}).get(len(parts))
                if asking is not None:
                    return self.invoke(asking, [*map(Const, parts), *args], keywords, node, target)
            case types.MethodType():
                return self.of_method(callee, call)
            case enum.Enum():
                kind, found, owner = found_in_class(type(callee), "__call__")
                if kind == "method":
                    return self.invoke(found, [Const(callee), *args], keywords, node, target, owner)
        return None

    def of_method(self, callee: types.MethodType, call: Call) -> Atom | None:
        """A call of a method of an object that is there while compiling."""
        this = self.captured(callee.__self__, call.node, callee.__func__)
        of_user = is_user_function(callee.__func__) or hasattr(callee.__func__, "__tangentc_function__")
        if REGISTRY.find(callee) is not None or not of_user:
            return None
        owner = callee.__self__ if isinstance(callee.__self__, type) else type(callee.__self__)
        owner = _owner(owner, callee)
        return self.invoke(callee.__func__, [this, *call.args], call.keywords, call.node, call.target, owner)

    def of_what_is_given(self, call: Call) -> Atom | None:
        """A call whose arguments, as they are written, say what it is."""
        callee, args, keywords, node, target = call.callee, call.args, call.keywords, call.node, call.target
        text = getattr(callee, "__self__", None)
        if isinstance(text, str) and not keywords:
            args = [Const(v) if type(v := self.plain_value(a)) is int else a for a in args]
        if isinstance(text, str) and all(isinstance(a, Const) for a in args) and not keywords:
            said = callee(*(a.value for a in args))  # "fixed_b".startswith("fixed")
            if is_option(said):
                return Const(said)
            return self.emit(ops.method, (Const(text), Const(callee.__name__), *args), node, target=target)
        if callee is builtins.dict and len(args) == 1 and keywords:  # the keywords are put in last
            made = self.named(self.invoke(callee, args, [], node, None), node)
            self.add_all(Store(made, Const(k), v, None, self.span(node)) for k, v in keywords)
            return made if target is None else self.emit(ops.identity, (made,), node, target=target)
        if isinstance(callee, DESCRIPTORS) and args and callee.__objclass__ in CHANGED_BY_METHODS:
            return self.method(args[0], callee.__name__, node, target, (args[1:], keywords))
        return None

    def of_library(self, call: Call) -> Atom | None:
        """A call of a function of a library that is lowered as other calls, or as Python that stands for it."""
        callee, node, target = call.callee, call.node, call.target
        written = self.into(callee, call.args, call.keywords, node, target)
        if written is not None:
            return written
        probe = Assign("", callee, tuple(call.args), tuple(call.keywords))
        self.as_arrays_and_lists(call, self.asks.lists(probe))
        args, keywords = call.args, call.keywords
        if callee is builtins.divmod and (own := self.operated(callee, tuple(args), node)) is not None:
            return own
        inside = holds_code(call)
        library = prelude.written(callee, args, dict(keywords))
        if library is not None:
            if prelude.is_certain(callee, args, dict(keywords)) or inside or self.is_written(probe):
                function, args, named = library
                value = self.invoke(function, args, list(named.items()), node, target)
                return self.laid_out(callee, value, dict(keywords), node, target)
        if hasattr(callee, "__tangentc_static__"):
            known = self.worked_out(callee, tuple(args), tuple(keywords), node)
            return known or self.emit(callee, tuple(args), node, tuple(keywords), target=target)
        if callee is np.piecewise and len(args) == 3 and not keywords and (parts := self.pieces(args)) is not None:
            return self.piecewise(args[0], parts[0], parts[1], node)
        with_code = inside and ops.module_root(callee) != "scipy"  # which can be handed a function to call
        definition = REGISTRY.definition(callee, None if with_code else dict(keywords))
        if definition is None:
            return None
        function, first = definition
        value = self.invoke(function, [*map(Const, first), *args], keywords, node, target)
        return self.laid_out(callee, value, dict(keywords), node, target)

    def laid_out(self, callee: Any, value: Atom, options: Any, node: Any, target: str | None) -> Atom:
        """What a definition gives, with the order of entries that the function has for which it stands."""
        known, t = known_of(callee), self.state.seen(value)
        if known.view or known.may_share or known.own_order or "order" in options or not isinstance(value, str):
            return value
        if not isinstance(t, Array) or len(t.shape) < 2:
            return value
        return self.emit(ops.in_order, (value,), node, target=target, name=version_base(value))

    def as_arrays_and_lists(self, call: Call, lists: Any) -> None:
        """Lists as the arrays that a function makes of them; iterators as the lists that it runs over."""
        if lists:
            made = [self.emit(np.array, (a,), call.node) if k in lists else a for k, a in enumerate(call.args)]
            named = [(k, self.emit(np.array, (a,), call.node) if k in lists else a) for k, a in call.keywords]
            call.args, call.keywords = made, named
        if runs_over(call.callee):
            given = enumerate(call.args)
            call.args = [self.iterated(a, call.node, k) if isinstance(a, str) else a for k, a in given]

    def of_python(self, call: Call, cls: type | None) -> Atom | None:
        """A call of a function, a class or an object of the user."""
        callee, args, keywords, node, target = call.callee, call.args, call.keywords, call.node, call.target
        if isinstance(callee, functools._lru_cache_wrapper):
            return self.invoke(callee.__wrapped__, args, keywords, node, target)
        if isinstance(callee, type) and not is_library_module(callee) and not is_of_python(callee):
            return self.construct(callee, args, keywords, node, target)
        if is_object(callee) and "__call__" in dir(type(callee)) and not is_library_module(callee):
            this = self.captured(callee, node, callee)
            return self.invoke(type(callee).__call__, [this, *args], keywords, node, target, type(callee))
        return self.user_function(callee, args, keywords, node, target, cls) if is_user_function(callee) else None

    def of_operation(self, call: Call) -> Atom:
        """A call that stays one operation."""
        callee, args, keywords, node = call.callee, call.args, call.keywords, call.node
        if callee in BUILTINS and args:
            own = self.operated(callee, (*args, *dict(keywords).values()), node)
            if own is not None:
                return own
        if (callee in ops.BINARY or callee in ops.COMPARE or callee in ops.UNARY) and not keywords:
            return self.operation(callee, tuple(args), node, call.target)
        known = self.worked_out(callee, tuple(args), tuple(keywords), node)
        if known is not None:
            return known
        if holds_code(call):
            if callee is ops.stopped:
                return self.handed(args[0], node, True)
            args = [self.handed(a, node) for a in args]
            keywords = [(k, self.handed(a, node)) for k, a in keywords]
        return self.emit(callee, tuple(args), node, tuple(keywords), target=call.target)

    def is_written(self, probe: Assign) -> bool:
        """Whether a call of the library is lowered as Python."""
        types = [self.state.of(a) for a in probe.args]
        return prelude.stands_for(probe.op) and not is_operated(probe.op, types) and self.asks.is_written(probe)

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

    # ---------------------------------------------------------- functions that stand for a form of the language


def holds_code(call: Call) -> bool:
    """Whether a function that is made inside is among the arguments."""
    given = (*call.args, *dict(call.keywords).values())
    return any(isinstance(a, Const) and isinstance(a.value, (Closure, Bound)) for a in given)


def _owner(cls: type, method: Any) -> type:
    """The class in whose text a method stands."""
    for owner in cls.__mro__:
        found = vars(owner).get(method.__name__)
        if getattr(found, "__func__", found) is method.__func__:
            return owner
    return cls
