"""Syntax tree to core form: one operation a statement, names resolved to objects.

    y = np.tanh(x @ W + b)      ->      %xW = x @ W
                                        %sum = %xW + b
                                        y = np.tanh(%sum)

Names may still be assigned more than once; `normalise` makes versions of them.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import importlib
import itertools
import operator
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import gast
import numpy as np

from tangentc import runtime
from tangentc.analysis.decide import truth
from tangentc.analysis.state import State
from tangentc.core import ops
from tangentc.core.classes import fields_of, found_in_class, own_data, setter_in_class
from tangentc.core.naming import hint
from tangentc.core.nodes import (
    Assign,
    Atom,
    Block,
    Const,
    Effect,
    Function,
    Global,
    If,
    Leave,
    Opaque,
    Param,
    Place,
    Statement,
    Store,
    While,
)
from tangentc.core.resolve import Scope, attributes_set, is_static, names_inside
from tangentc.core.types import (
    SETTINGS,
    Array,
    Either,
    Known,
    Sequence,
    Struct,
    Tuple,
    Type,
    data_type,
    is_differentiable,
    is_numeric,
)  # fmt: skip
from tangentc.core.walk import changed_by, defines, statements
from tangentc.errors import NoSource, Span, UnsafeMutation, UnsupportedSyntax
from tangentc.frontend import fence, prelude
from tangentc.frontend.activation import Activation, Closure, declared, locals_of, parameters
from tangentc.frontend.asked import as_written
from tangentc.frontend.assumed import Fact, Sites
from tangentc.frontend.attempt import Attempt, Trying, never_passes
from tangentc.frontend.callables import is_library_module
from tangentc.frontend.comprehend import Comprehend
from tangentc.frontend.environments import Environments
from tangentc.frontend.generators import GIVES, Generators
from tangentc.frontend.invoke import Invoke
from tangentc.frontend.iterators import makes_iterator, refuse_held
from tangentc.frontend.leave import has, refusal, with_flag
from tangentc.frontend.operate import Operate
from tangentc.frontend.parse import parsed
from tangentc.frontend.questions import Here, answer_of, is_settled
from tangentc.frontend.recursion import Recursion
from tangentc.frontend.source import Quoted
from tangentc.frontend.wrapping import Wrapping
from tangentc.rules.registry import REGISTRY

# what is worked out while lowering, in definitions, where everything that it is given is known
STATIC = {
    operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.neg, operator.getitem,
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge, operator.not_, ops.contains,
    ops.not_contains, builtins.len, builtins.abs, builtins.min, builtins.max, builtins.tuple,
    builtins.int, np.any, np.shape,
}  # fmt: skip
OPERATORS = {
    "Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "Div": operator.truediv,
    "FloorDiv": operator.floordiv, "Mod": operator.mod, "Pow": operator.pow, "MatMult": operator.matmul,
    "BitAnd": operator.and_, "BitOr": operator.or_, "BitXor": operator.xor, "LShift": operator.lshift,
    "RShift": operator.rshift, "USub": operator.neg, "UAdd": operator.pos, "Not": operator.not_,
    "Invert": operator.invert, "Eq": operator.eq, "NotEq": operator.ne, "Lt": operator.lt, "LtE": operator.le,
    "Gt": operator.gt, "GtE": operator.ge, "Is": operator.is_, "IsNot": operator.is_not, "In": ops.contains,
    "NotIn": ops.not_contains,
}  # fmt: skip


def lower(function: types.FunctionType, params: Mapping[str, Type], known: Sites, summaries: Any) -> Any:
    """The function in core form, and what the code depends on.

    ``params`` are the types of the parameters, ``summaries`` says what is known of functions that are called.  Raises
    `NoSource` or `UnsupportedSyntax`.
    """
    source, node = parsed(function)
    if node.args.vararg or node.args.kwarg:
        raise UnsupportedSyntax(
            f"{source.name} takes *args or **kwargs, which tangentc does not differentiate here",
            source.span(source.tree),
            why="the number of parameters must be known",
            way_out="name the parameters",
        )
    names = [a.id for a in parameters(node.args)]
    activation = Activation(source, Scope(function), locals_of(node), key=function.__code__)
    lowering = Lowering(activation, known, summaries)
    lowering.state.begin_with(params)
    settings = {n: t.const for n, t in params.items() if isinstance(t, Known) and type(t.value) in SETTINGS}
    activation.constants.update({n: const for n, const in settings.items() if activation.local[n] == 1})
    lowering.body(node)
    refuse_held(tuple(lowering.out), lowering.iterators)
    name = "lambda_" if source.name == "<lambda>" else source.name
    whole = Function(name, tuple(map(Param, names)), tuple(lowering.out), Const(None), source.span(source.tree))
    return whole, lowering.places


class Lowering(Invoke, Environments, Comprehend, Generators, Wrapping, Attempt, Recursion, Operate):  # type: ignore[override]
    """Lowers one function; ``out`` is the block that statements go to now."""

    def __init__(self, activation: Activation, known: Sites, summaries: Any):
        self.summaries = summaries
        self.activation, self.known = activation, known
        self.out: list[Statement] = []
        self.counter: dict[str, int] = {}
        self.made: dict[Any, Any] = {}  # the callables that are made while the function runs
        self.loops: list[Any] = []  # the sites of the loops that are open
        self.activations = 0
        self.set_here: set[str] = set()  # attributes that are set in the functions that are lowered
        self.counted: list[tuple[Atom, int]] = []  # what the trips of a loop that is written out run over
        self.growing: dict[str, set[Any]] = {}  # lists, and the loops that append to them
        self.iterators: set[Atom] = set()  # what can be run over once
        self.state = State(summaries.call_type)
        self.asks = Here(self.state)
        self.places: dict[tuple[Any, str], Place] = {}  # what the code is only good for
        self.trying: Trying | None = None
        self.guarded = False
        self.gives_to: tuple[Any, Any] | None = None  # a call of a generator function, and what takes its values
        self.unrolled: Any = None  # the loop whose trips are being written out
        self.step: tuple = ()  # which trip of loops that are written out this is
        self.note_names(activation.scope, activation.key)

    def note_names(self, scope: Scope, code: types.CodeType) -> None:
        """The compiled code is only good while the names of a function mean what they mean now."""
        compiled = getattr(scope.function, "__tangentc_compiled__", None)
        if compiled is not None:
            self.places[Place("compiled", compiled), code.co_name] = Place("compiled", compiled)
        self.set_here |= attributes_set(code)
        for name in {*names_inside(code), *code.co_freevars}:
            place = scope.place(name)
            try:
                place.lookup(name)
            except NameError:
                continue
            self.places[place, name] = place

    # ---------------------------------------------------------- iterators
    def is_iterator(self, node: Any) -> bool:
        """Whether an expression makes an iterator."""
        if isinstance(node, gast.GeneratorExp):
            return True
        if not isinstance(node.func, (gast.Name, gast.Attribute)):
            return False
        with contextlib.suppress(UnsupportedSyntax):
            callee = self.looked_at(node.func) if _is_path(node.func) else Const(None)
            return isinstance(callee, Const) and makes_iterator(callee.value)
        return False

    def another_name(self, value: Atom) -> Any:
        """The operation that gives a value another name."""
        return ops.once if value in self.iterators else ops.identity

    # ---------------------------------------------------------- statements
    def body(self, node: Any) -> None:
        """The statements of a function, or the value of a lambda as what it returns."""
        body = node.body
        if not isinstance(body, list):
            body = [gast.copy_location(gast.Return(body), body)]
        self.activation.nonlocals = declared(body, (gast.Nonlocal, gast.Global))
        self.block(body)

    def block(self, body: list) -> None:
        if self.trying is not None:
            self.attempted(body)
            return
        for node in body:
            getattr(self, "on_" + type(node).__name__)(node)
            if self.out and never_passes(self.out[-1]):
                return

    def add(self, s: Statement) -> None:
        """Write a statement."""
        self.out.append(s)
        self.state.statement(s)

    def add_all(self, block: Iterable[Statement]) -> None:
        for s in block:
            self.add(s)

    def block_of(self, write: Callable[[], object]) -> Block:
        """What ``write`` writes, as a block of its own."""
        outer, self.out = self.out, []
        try:
            write()
            return tuple(self.out)
        finally:
            self.out = outer

    def path(self, write: Callable[[], object]) -> Block:
        """What ``write`` writes, on a path of its own."""
        return self.state.path(lambda: self.block_of(write))

    def inner(self, body: list) -> Block:
        return self.path(lambda: self.block(body))

    def trips_of(self, site: Any, write: Callable[[], object], endless: bool = False) -> Block:
        """The body of a loop, written for what its trips begin with."""

        def trip() -> Block:
            self.counter, self.activations = dict(counter), activations
            for home, known in constants:
                home.constants = dict(known)
            return self.block_of(write)

        counter, activations = dict(self.counter), self.activations
        constants = [(home, dict(home.constants)) for home in self.activation.chain()]
        self.loops.append(site)
        try:
            return self.state.loop(site, trip, endless)
        finally:
            self.loops.pop()

    def arm(self, node: Any, write: Callable[[], object], test: Atom, answer: bool) -> Block:
        """What ``write`` writes, in a branch where a test has an answer: what it is refused for counts if the types
        leave the branch there."""
        before = self.activation, self.step, self.unrolled, self.trying, self.guarded, len(self.loops)
        inner: list[Statement] = []

        def refusing() -> None:
            try:
                self.out = inner
                self.state.narrow(test, answer)
                write()
            except (NoSource, UnsupportedSyntax, UnsafeMutation) as error:
                self.activation, self.step, self.unrolled, self.trying, self.guarded, depth = before
                del self.loops[depth:]
                self.out = inner
                self.add(refusal(error, self.span(node)))

        return self.path(refusing)

    def span(self, node: Any) -> Span:
        span = self.activation.source.span(node)
        site = (self.activation.path, self.step, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
        return Span(span.line, span.column, span.end_column, span.text, span.file, span.function, site)

    def on_Pass(self, node: Any) -> None:
        pass

    on_Nonlocal = on_TypeAlias = on_Pass

    def on_Global(self, node: Any) -> None:
        for name in node.names:
            if self.activation.local[name]:
                raise self.unsupported(node, f"`global {name}` and assigns to it", "pass the value in and return it")

    def on_Expr(self, node: Any) -> None:
        if isinstance(node.value, gast.Constant):
            return
        if isinstance(node.value, gast.Call) and getattr(node.value.func, "id", "") == GIVES:
            self.give(node.value)
            return
        start = len(self.out)
        value = self.expression(node.value)
        last = self.out[-1] if len(self.out) > start else None
        if not isinstance(last, Assign) or last.target != value:
            return
        if isinstance(node.value, (gast.Call, gast.Subscript)) or not ops.is_pure(last.op) or _may_write(last):
            if isinstance(last.op, ops.augmented):
                return  # `a += s; return a` of a function that is lowered in place
            self.out[-1] = Effect(last.op, last.args, last.keywords, last.span)

    def on_Assert(self, node: Any) -> None:
        self.opaque(node, None)

    on_Raise = on_Assert

    def on_Return(self, node: Any) -> None:
        value = Const(None) if node.value is None else self.expression(node.value)
        if isinstance(value, str) and value.split("'")[0] in assigned_at_last(self.activation.source.tree):
            value = self.kept(value, node)
        if value in self.iterators:
            value = self.emit(ops.once, (value,), node, name="%iterator")
        self.add(Leave("return", (value,), self.span(node)))

    def on_Break(self, node: Any) -> None:
        self.add(Leave("break", (), self.span(node)))

    def on_Continue(self, node: Any) -> None:
        self.add(Leave("continue", (), self.span(node)))

    def on_Import(self, node: Any) -> None:
        for alias in node.names:
            try:
                module = importlib.import_module(alias.name)
            except Exception as error:
                return self.raises(error, node)
            top = module if alias.asname else importlib.import_module(alias.name.split(".")[0])
            self.assign_value(alias.asname or alias.name.split(".")[0], Const(top), node)

    def on_ImportFrom(self, node: Any) -> None:
        package = self.activation.scope.globals.get("__package__") or ""
        try:
            module = importlib.import_module("." * node.level + (node.module or ""), package)
            values = [imported(module, alias.name) for alias in node.names]
        except Exception as error:
            return self.raises(error, node)
        for alias, value in zip(node.names, values, strict=True):
            place = Place("attribute", module)
            if not is_library_module(module):
                self.places[place, alias.name] = place
            atom = Const(value) if is_static(value) or is_library_module(module) else Global(alias.name, place)
            self.assign_value(alias.asname or alias.name, atom, node)

    def raises(self, error: Exception, node: Any) -> None:
        """What surely fails raises where, and only if, the statement runs."""
        name = type(error).__name__ if hasattr(builtins, type(error).__name__) else "ImportError"
        statement = gast.parse(f"raise {name}({str(error)!r})").body[0]
        for n in gast.walk(statement):
            gast.copy_location(n, node)
        self.opaque(statement, None)
        self.out[-1].tree.surely = type(error)  # type: ignore[union-attr]

    def on_FunctionDef(self, node: Any) -> None:
        closure: Atom = self.closure(node)
        for decorator in reversed(node.decorator_list):
            closure = self.invoke(self.callee(decorator), [closure], [], decorator, None)
        self.assign_value(node.name, closure, node)

    def of_FunctionDef(self, node: Any, target: str | None) -> Atom:
        return self.closure(node)

    def closure(self, node: Any) -> Atom:
        """A function that is defined here; its default values are computed now."""
        args = node.args
        plain = [a.id for a in (*args.posonlyargs, *args.args)]
        given = dict(zip(plain[len(plain) - len(args.defaults) :], args.defaults, strict=True))
        given.update({a.id: d for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is not None})
        defaults: dict[str, Atom] = {n: self.kept(self.expression(d), d) for n, d in given.items()}
        return self.remember(Closure(node, self.activation, defaults), node)

    def told(self, about: Callable[[Type], Any], atom: Atom) -> Any:
        """What the type of a value says here; None if it says nothing."""
        t = self.state.seen(atom)
        return None if t is None else about(t)

    def assume(self, kind: str, site: Any, value: Any, node: Any, *atoms: Atom) -> None:
        """Note what a place is lowered for, which the types have to bear out."""
        self.emit(ops.assumed, (Const(Fact(kind, site, value)), *atoms), node, name="%assumed")

    def current(self, function: Any, node: Any) -> Any:
        """What typing found to be called, as this lowering has made it; None if it has not."""
        if isinstance(function, Either):
            several = tuple(self.current(f, node) for f in function.functions)
            return None if None in several else Either(several, function.which)
        key = getattr(function, "key", None)
        return function if key is None or isinstance(function, types.FunctionType) else self.made.get(key)

    def kept(self, atom: Atom, node: Any) -> Atom:
        """A value as it is now: a variable may be assigned again."""
        if not isinstance(atom, str) or atom.startswith("%"):
            return atom
        op, name = self.another_name(atom), self.fresh("%" + atom.split("'")[0])
        if op is ops.once:
            self.iterators.add(name)
        return self.emit(op, (atom,), node, target=name)

    def on_AnnAssign(self, node: Any) -> None:
        if node.value is not None:
            self.assign(node.target, node.value)

    def on_Assign(self, node: Any) -> None:
        if len(node.targets) == 1:
            self.assign(node.targets[0], node.value)
            return
        value = self.kept(self.expression(node.value), node)
        for target in node.targets:
            self.bind(target, value)

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

    def bind_trip(self, target: Any, value: Any) -> None:
        """Bind the target of a loop that is written out: in its trip a name may have a known value."""
        if isinstance(value, tuple):
            if isinstance(target, (gast.Tuple, gast.List)) and len(target.elts) == len(value):
                for t, v in zip(target.elts, value, strict=True):
                    self.bind_trip(t, v)
                return
            value = self.emit(ops.make_tuple, tuple(map(self.packed, value)), target)
        self.bind(target, value)
        if isinstance(target, gast.Name):
            home = self.activation.home(target.id)
            assert home is not None
            home.constants.pop(target.id, None)
            if isinstance(value, Const) and (home.local[target.id] == 1 or home.key is None):
                home.constants[target.id] = value

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
        cls = self.class_of(obj, target)
        kind, _, owner = found_in_class(cls, target.attr) if cls is not None else ("", None, None)
        self.refuse_hidden("descriptor" if kind == "descriptor" else "", target.attr, target)
        if kind in ("data", "method", "static"):
            self.known.assigned.add(target.attr)
        if kind != "property":
            self.add(Store(obj, Const(ops.Attribute(target.attr)), value, None, self.span(target)))
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
            value = self.invoke(prelude.listed, [value], [], target, None)
        stars = [i for i, t in enumerate(target.elts) if isinstance(t, gast.Starred)]
        if not stars:
            self.add(Effect(runtime.require_count, (value, Const(len(target.elts))), (), self.span(target)))
        for i, t in enumerate(target.elts):
            if stars and i == stars[0]:
                stop = i + 1 - len(target.elts)
                rest = self.emit(ops.items_from, (value, Const(i), Const(stop)), t, name="%rest")
                self.bind(t, rest)
                continue
            index = i if not stars or i < stars[0] else i - len(target.elts)
            inner = self.variable(t) if isinstance(t, gast.Name) else None
            item = self.emit(operator.getitem, (value, Const(index)), t, target=inner)
            if inner is None:
                self.bind(t, item)

    def on_Delete(self, node: Any) -> None:
        for target in node.targets:
            if isinstance(target, gast.Name) and (name := self.variable(target)) is not None:
                self.add(Assign(name, ops.identity, (Const(ops.UNDEFINED),), (), self.span(node)))
            if isinstance(target, gast.Attribute):
                raise self.unsupported(target, "`del` of an attribute", "give it another value, None perhaps")
            if isinstance(target, gast.Subscript):
                obj, key = self.expression(target.value), self.expression(target.slice)
                if self.special_method("__delitem__", (obj, key), target, -1) is not None:
                    continue
                if isinstance(target.slice, gast.Slice):
                    if target.slice.step is not None:
                        raise self.unsupported(node, "`del` of a slice with a step", "make a list of what is kept")
                    empty = self.emit(ops.make_list, (), node)
                    self.add(Store(self.named(obj, target.value), key, empty, None, self.span(node)))
                    continue
                self.add(Effect(ops.take, (obj, key), (), self.span(target)))

    def on_AugAssign(self, node: Any) -> None:
        op = OPERATORS[type(node.op).__name__]
        target = node.target
        if isinstance(target, gast.Name):
            variable = self.variable(target)
            shifts = target.id in shifting(self.activation.home(target.id).source.tree)  # type: ignore[union-attr]
            old = self.kept(variable, target) if shifts else variable
            self.operation(op, (old, self.expression(node.value)), node, target=variable, augmented=True)
            return
        obj = self.named(self.expression(target.value), target.value)
        if isinstance(target, gast.Attribute):
            old = self.attribute(obj, target.attr, target)
            new = self.operation(op, (old, self.expression(node.value)), node, name="%rhs", augmented=True)
            self.store_attribute(obj, target, new)
            return
        key = self.kept(self.expression(target.slice), target.slice)
        start = len(self.out)
        value = self.expression(node.value)
        if self.class_of(obj, node, -1) is None and any(map(changed_by, statements(tuple(self.out[start:])))):
            old = self.fresh(f"%{obj.lstrip('%')}_item")  # what is there before the value changes it
            before = Assign(old, operator.getitem, (obj, key), (), self.span(target))
            self.out.insert(start, before)
            self.state.statement(before)
            new = self.operation(op, (old, value), node, name="%rhs", augmented=True)
            self.store_item(obj, key, new, node)
            return
        self.store_item(obj, key, value, node, op)

    def on_If(self, node: Any) -> None:
        test = self.expression(node.test)
        known = self.decided(test, node)
        if known is not None:
            self.block(node.body if known else node.orelse)
            return
        arms = [
            self.arm(node, functools.partial(self.block, body), test, answer)
            for body, answer in ((node.body, True), (node.orelse, False))
        ]
        self.add(If(test, *arms, (), self.span(node), "statement"))  # type: ignore[call-arg,arg-type]

    def decided(self, test: Atom, node: Any) -> bool | None:
        """The answer of a test that the types give here; the branch that cannot run is not looked at."""
        if is_settled(test):
            return bool(test.value)  # type: ignore[union-attr]
        known: bool | None = self.told(truth, test)
        if known is not None and isinstance(test, str):
            self.assume("answers", self.span(node).site, (builtins.bool, known), node, test)
        return known

    def on_While(self, node: Any) -> None:
        over = self.fresh("%over") if node.orelse else None
        found: list[Any] = []

        def trip() -> None:
            head = self.block_of(lambda: found.append(self.expression(node.test)))
            test = found[-1]
            assigns = any(not name.startswith("%") for s in statements(head) for name in defines(s))
            inside = assigns or any(isinstance(s, (Store, Effect)) for s in statements(head))
            found[:] = [head, test, inside]
            if inside:  # while (y := f(x)) > 0: what the test assigns belongs to the body
                ended = () if over is None else (Assign(over, ops.identity, (Const(True),), (), self.span(node)),)
                leave = If(test, (), (*ended, Leave("break", (), self.span(node))), (), self.span(node), "statement")
                self.out.extend(head)
                self.add(leave)
            self.trip(node.body)

        endless = isinstance(node.test, gast.Constant) and bool(node.test.value)
        body = self.trips_of(self.span(node).site, trip, endless)
        head, test, inside = found
        if inside:
            self.finish_loop(node, body, lambda b: While((), Const(True), b, (), self.span(node)), over)
        else:
            self.finish_loop(node, body, lambda b: While(head, test, b, (), self.span(node)))

    def finish_loop(self, node: Any, body: Block, make: Any, over: str | None = None) -> None:
        """The loop; if it is left by ``return``, or has an ``else``, flags say how it was left.  ``over`` is one that
        the body sets where it is left because the test failed."""
        returned, broke = f"%returned'{self.activation.number}", self.fresh("%broke")
        returns, orelse = has(body, "return"), getattr(node, "orelse", [])
        out = f"%out'{self.activation.number}" if self.activation.number else "%out"
        span = self.span(node)
        skips = bool(orelse) and over is None and has(body, "break")
        if over is not None:
            self.add(Assign(over, ops.identity, (Const(False),), (), span))
        if skips:
            body = with_flag(body, "break", broke)
            self.add(Assign(broke, ops.identity, (Const(False),), (), span))
        if returns:
            body = with_flag(body, "return", returned, out)
            self.add(Assign(returned, ops.identity, (Const(False),), (), span))
        self.out.append(make(body))
        if returns:  # its state is known from where the loop is left
            self.out.append(If(returned, (Leave("return", (out,), span),), (), (), span, "statement"))
        if over is not None:
            self.add(If(over, self.inner(orelse), (), (), span, "statement"))
        elif skips:
            self.add(If(broke, (), self.inner(orelse), (), span, "statement"))
        elif orelse:
            self.block(orelse)

    # ---------------------------------------------------------- expressions
    def fresh(self, name: str) -> str:
        self.counter[name] = self.counter.get(name, 0) + 1
        return f"{name}.{self.counter[name]}"

    def emit(
        self,
        op: Any,
        args: tuple[Atom, ...],
        node: Any,
        keywords: tuple[tuple[str, Atom], ...] = (),
        target: str | None = None,
        name: str = "",
        augmented: bool = False,
    ) -> str:
        """Append ``target = op(args)``; without a target, to a temporary named after what it holds."""
        if target is None:
            target = self.fresh(name or hint(op, args))
        self.add(Assign(target, ops.augmented(op) if augmented else op, args, keywords, self.span(node)))
        return target

    def worked_out(self, op: Any, args: tuple[Atom, ...], keywords: tuple, node: Any) -> Const | None:
        """What an operation of a definition gives that depends on ranks and options alone."""
        if not isinstance(self.activation.source, Quoted):
            return None
        if op is builtins.len:
            given = self.activation.static
            found = [v for n, v in given.items() if args[0] == self.activation.variable(n)]
            if found:
                return Const(len(found[0]))
        if op in (np.ndim, np.iscomplexobj, builtins.len):
            site = self.span(node).site
            answer = self.told(functools.partial(answer_of, op), args[0])
            answer = None if answer == -1 else answer  # which says of `len` that it is not known
            if answer is not None:
                self.assume("answers", site, (op, answer), node, args[0])
            if answer is not None or op is not builtins.len:
                return None if answer is None else Const(answer)
        if op in (operator.is_, operator.is_not) and args[1] == Const(None) and isinstance(args[0], Global):
            return Const(op is operator.is_not)  # an option that is given is not None
        if keywords or not all(isinstance(a, Const) for a in args):
            return None
        if op in STATIC or hasattr(op, "__tangentc_static__"):
            value = op(*(a.value for a in args))  # type: ignore[union-attr]
            return Const(bool(value) if isinstance(value, np.bool_) else value)
        return None

    def named(self, atom: Atom, node: Any) -> str:
        if isinstance(atom, str):
            return atom
        if isinstance(atom, Global):  # the caller's data: what happens to it, the analysis of aliases decides
            return self.emit(ops.identity, (atom,), node, name=f"%{atom.name}")
        raise self.unsupported(node, "changing a value of the module in place", "pass it in as an argument")

    def type_known(self, atom: Atom) -> Type | None:
        """The type of a value here, None where nothing is known of it."""
        return data_type(atom.value) if isinstance(atom, Const) else self.state.seen(atom)

    def expression(self, node: Any, target: str | None = None) -> Atom:
        """Lower an expression; with ``target``, its value goes to that name."""
        kind = type(node).__name__
        if getattr(node, "all_asked", False) and self.generator_called(node):
            return self.all_given(node)
        if kind in fence.PASSIVE:
            return self.opaque(node, target or self.fresh("%text" if kind == "JoinedStr" else "%passive"))
        if target is not None and kind in ("GeneratorExp", "Call") and self.is_iterator(node):
            self.iterators.add(target)
            return self.emit(ops.once, (self.expression(node),), node, target=target)
        value = getattr(self, "of_" + kind)(node, target)
        if kind in ("GeneratorExp", "Call") and self.is_iterator(node):
            if not str(value).startswith("%"):  # `iter(xs)`, which is not `xs`
                value = self.emit(ops.once, (value,), node, name="%iterator")
            self.iterators.add(value)
        if target is not None and value != target:
            return self.emit(ops.identity, (value,), node, target=target)
        return value

    def of_Constant(self, node: Any, target: str | None) -> Atom:
        return Const(node.value)

    def of_NamedExpr(self, node: Any, target: str | None) -> Atom:
        self.assign_value(node.target.id, self.expression(node.value), node)
        return self.kept(self.variable(node.target), node)

    def of_Lambda(self, node: Any, target: str | None) -> Atom:
        return self.closure(node)

    def of_Name(self, node: Any, target: str | None) -> Atom:
        if node.id in prelude.NAMED:
            return Const(prelude.NAMED[node.id])
        home = self.activation.home(node.id)
        if home is not None:
            variable = home.constants.get(node.id) or home.variable(node.id)
            if node.id in shifting(home.source.tree) and hasattr(node, "lineno"):
                return self.kept(variable, node)  # it may be assigned before the expression ends
            return variable
        try:
            return self.outermost().scope.resolve(node.id)
        except NameError as error:
            raise UnsupportedSyntax(
                f"{error}", self.span(node), why="the name means nothing where the function stands",
                way_out="define it, or import it, before differentiating",
            ) from None  # fmt: skip

    def outermost(self) -> Activation:
        """The activation whose function stands in the module: its scope is that of the functions inside it."""
        found = self.activation
        while found.outer is not None:
            found = found.outer
        return found

    def operand(self, node: Any) -> Atom:
        """An operand; ``d.keys()``, which is a list here, behaves as a set."""
        value = self.expression(node)
        if isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) and node.func.attr == "keys":
            cls = self.class_of(self.looked_at(node.func.value), node.func)  # type: ignore[attr-defined]
            return value if cls is not None else self.emit(builtins.set, (value,), node, name="%keys")
        return value

    def of_BinOp(self, node: Any, target: str | None) -> Atom:
        made = _repeated(node)
        if made is not None and not isinstance(self.tried(made[1]), Array):
            items, count = made
            if len(items.elts) == 1 and not isinstance(items.elts[0], gast.Starred):
                one, number = self.expression(items.elts[0]), self.expression(count)
                return self.invoke(prelude.repeated_one, [one, number], [], node, target)
            return self.invoke(prelude.repeated, [self.expression(items), self.expression(count)], [], node, target)
        left, right = self.operand(node.left), self.operand(node.right)
        return self.operation(OPERATORS[type(node.op).__name__], (left, right), node, target=target)

    def of_UnaryOp(self, node: Any, target: str | None) -> Atom:
        operand = self.expression(node.operand)
        op = OPERATORS[type(node.op).__name__]
        if op is operator.neg and isinstance(operand, Const) and isinstance(operand.value, (int, float)):
            return Const(-operand.value)
        if op is operator.not_ and isinstance(operand, Const) and not isinstance(operand.value, float):
            return Const(not operand.value)
        return self.operation(op, (operand,), node, target=target)

    def of_BoolOp(self, node: Any, target: str | None) -> Atom:
        return self.lazy(isinstance(node.op, gast.And), node.values, node, target)

    def lazy(self, is_and: bool, values: list, node: Any, target: str | None) -> Atom:
        """``a and b`` evaluates b only if a is true."""
        first = self.expression(values[0])
        if isinstance(first, Const) and isinstance(first.value, (bool, type(None))):
            if bool(first.value) is not is_and or len(values) == 1:
                return first
            return self.lazy(is_and, values[1:], node, target)
        result = self.fresh("%both" if is_and else "%either")
        self.emit(ops.identity, (first,), values[0], target=result)
        tests: list[Any] = [first]
        for value in values[1:]:
            self.state.both[result, is_and] = tuple(tests)
            inner = self.arm(value, functools.partial(self.expression, value, target=result), result, is_and)
            tests.append(self.state.definitions[result])
            span = self.span(node)
            self.add(If(result, inner, (), (), span) if is_and else If(result, (), inner, (), span))
        self.state.both[result, is_and] = tuple(tests)
        return result

    def of_IfExp(self, node: Any, target: str | None) -> Atom:
        test = self.expression(node.test)
        known = self.decided(test, node)
        if known is not None:
            return self.expression(node.body if known else node.orelse, target=target)
        result = target or self.fresh("%chosen")
        branches = [
            self.arm(a, functools.partial(self.expression, a, target=result), test, answer)
            for a, answer in ((node.body, True), (node.orelse, False))
        ]
        self.add(If(test, *branches, (), self.span(node)))  # type: ignore[arg-type,call-arg]
        return result

    def of_Compare(self, node: Any, target: str | None) -> Atom:
        left = self.operand(node.left)
        if len(node.ops) == 1:
            right = self.operand(node.comparators[0])
            known = _compared(OPERATORS[type(node.ops[0]).__name__], left, right)
            if known is not None:
                return known
            return self.operation(OPERATORS[type(node.ops[0]).__name__], (left, right), node, target=target)
        result = self.fresh("%both")
        self.compared(left, list(zip(node.ops, node.comparators, strict=True)), result, node)
        return result

    def compared(self, left: Atom, rest: list, result: str, node: Any) -> None:
        """A chain of comparisons, each of which stands under the test of those before it."""
        (op, comparator), *rest = rest
        right = self.operand(comparator)
        self.emit(OPERATORS[type(op).__name__], (left, right), node, target=result)
        if rest:
            inner = self.path(lambda: self.compared(right, rest, result, node))
            self.add(If(result, inner, (), (), self.span(node)))

    def of_Attribute(self, node: Any, target: str | None) -> Atom:
        if isinstance(node.value, gast.Call) and self.is_super(node.value):
            return self.super_attribute(node)
        base = self.expression(node.value)
        if node.attr == "__class__":
            return self.invoke(builtins.type, [base], [], node, target)
        if base == Const(None) and not hasattr(None, node.attr):  # it is never run, or raises
            base = self.emit(ops.identity, (base,), node, name="%none")
        if isinstance(base, Const):
            value = self.of_module(base.value, node)
            if callable(value) or isinstance(value, types.ModuleType) or value is None:
                return Const(value)
            keeps = isinstance(base.value, types.FunctionType) and node.attr in own_data(base.value)
            keeps = keeps and node.attr not in self.known.assigned
            if keeps or isinstance(base.value, (types.ModuleType, type)) and not is_library_module(base.value):
                return Global(node.attr, Place("attribute", base.value))
        return self.attribute(base, node.attr, node, target)

    def of_module(self, base: Any, node: Any) -> Any:
        """An attribute of a module, a class or a function."""
        try:
            value = getattr(base, node.attr)
        except AttributeError as error:
            raise self.unsupported(node, f"something that is not there ({error})", "correct the name") from None
        if not is_library_module(base) and (isinstance(base, (types.ModuleType, type)) or node.attr in own_data(base)):
            self.places[Place("attribute", base), node.attr] = Place("attribute", base)
        return value

    def attribute(self, base: Atom, name: str, node: Any, target: str | None = None) -> Atom:
        """``base.name``: a field, a property, something of the class, a method as a value."""
        t = self.type_known(base)
        cls = self.class_of(base, node)
        fields = fields_of(t, cls)
        if cls is not None and name not in fields:
            kind, found, owner = found_in_class(cls, name)
            if kind:
                self.places[Place("attribute", owner), name] = Place("attribute", owner)
            self.refuse_hidden(kind, name, node)
            if kind == "property":
                return self.invoke(found, [base], [], node, target, owner)
            if kind in ("method", "class", "static"):
                return self.bound(kind, found, base, cls, owner, node)
            if kind == "data" and name in self.known.assigned and not callable(found):
                kind = ""  # the object has a value of its own
            if name == "__dict__" or not kind and hasattr(cls, "__getattr__"):
                raise self.unsupported(node, f"`{name}` of an object, found by its dict or its __getattr__",
                                       "name the attributes")  # fmt: skip
            if kind == "data":
                return Const(found) if callable(found) else Global(name, Place("attribute", owner))
        self.note_held(base, name)
        result = self.emit(builtins.getattr, (base, Const(name)), node, target=target)
        if isinstance(t, Struct) and name in fields:
            if is_one_function(part := t.items[fields.index(name)]):
                self.out.pop()
                return part.const  # type: ignore[union-attr]
        return result

    def note_held(self, base: Atom, name: str) -> None:
        """What an object of the module that is none of the user's classes holds under a name is looked up anew."""
        held = base.lookup() if isinstance(base, Global) else None
        if held is not None and name in own_data(held) and isinstance(data_type(held), Known):
            self.places[Place("attribute", held), name] = Place("attribute", held)

    def refuse_hidden(self, kind: str, name: str, node: Any) -> None:
        """Refuse what an object may have in place of what its class has."""
        if kind == "descriptor":
            raise self.unsupported(node, f"{name}, which an object with __get__ gives", "make it a property")
        if kind == "cached":
            raise self.unsupported(node, f"the cached property {name}, which keeps its first value",
                                   "make it a property, or compute it in __init__")  # fmt: skip
        if kind in ("method", "static") and name in self.known.assigned:
            raise self.unsupported(node, f"{name}, a method that an object hides by an attribute of its own",
                                   "give the attribute another name")  # fmt: skip

    def of_Subscript(self, node: Any, target: str | None) -> Atom:
        base = self.expression(node.value)
        joining = _joining(self.definition(base))
        if joining is not None:
            parts = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
            if any(is_numeric(of := self.tried(e)) and is_differentiable(of) for e in parts):
                items = [self.expression(e) for e in parts]
                for k, e in enumerate(parts):
                    if isinstance(e, gast.Slice):  # a range
                        items[k] = self.emit(operator.getitem, (base, items[k]), node)
                return self.invoke(joining, items, [], node, target)
        key, t = self.settled(base, self.expression(node.slice), node), self.type_known(base)
        own = self.operated(operator.getitem, (base, key), node) or self.worked_out(
            operator.getitem, (base, key), (), node
        )
        if own is not None:
            return own
        result = self.emit(operator.getitem, (base, key), node, target=target)
        part = self.part(t, key)
        if is_one_function(part):
            self.out.pop()
            return part.const  # type: ignore[union-attr]
        return result

    @staticmethod
    def part(t: Type | None, key: Atom) -> Type | None:
        """The type of one item of a container that is known."""
        if t is None or not isinstance(key, Const):
            return None
        if type(t).__name__ == "Dict" and key.value in t.keys:  # type: ignore[union-attr]
            return t.items[t.keys.index(key.value)]  # type: ignore[union-attr]
        if isinstance(t, Tuple) and type(key.value) is int and -len(t.items) <= key.value < len(t.items):
            return t.items[key.value]
        if isinstance(t, Known) and isinstance(t.value, (tuple, list, dict)):
            try:
                return data_type(t.value[key.value])
            except (KeyError, IndexError, TypeError):
                return None
        return None

    def of_Slice(self, node: Any, target: str | None) -> Atom:
        bounds = tuple(Const(None) if b is None else self.expression(b) for b in (node.lower, node.upper, node.step))
        if all(isinstance(b, Const) for b in bounds):
            return Const(slice(*(b.value for b in bounds)))  # type: ignore[union-attr]
        return self.emit(slice, bounds, node, name="%key")

    def items(self, nodes: list) -> tuple[Atom, ...]:
        """The items of a display, starred ones among them."""
        out: list[Atom] = []
        for e in nodes:
            if isinstance(e, gast.Starred):
                out.extend(self.starred(e))
            else:
                out.append(self.expression(e))
        return tuple(out)

    def of_Tuple(self, node: Any, target: str | None) -> Atom:
        if self.is_written_out(node):
            return self.joined(node, builtins.tuple, ops.make_tuple, target)
        items = self.items(node.elts)
        if all(isinstance(item, Const) and not callable(item.value) for item in items):
            return Const(tuple(item.value for item in items))  # type: ignore[union-attr]
        return self.emit(ops.make_tuple, items, node, target=target)

    def of_List(self, node: Any, target: str | None) -> Atom:
        if self.is_written_out(node):
            return self.joined(node, builtins.list, ops.make_list, target)
        return self.emit(ops.make_list, self.items(node.elts), node, target=target)

    def of_Set(self, node: Any, target: str | None) -> Atom:
        return self.emit(builtins.set, (self.of_List(node, None),), node, target=target)

    def is_written_out(self, node: Any) -> bool:
        """Whether something of unknown length is starred into a display."""
        starred = [e for e in node.elts if isinstance(e, gast.Starred)]
        for e in starred:
            self.want_items(e.value)
        return any(self.is_long(self.tried(e.value)) for e in starred)

    @staticmethod
    def is_long(t: Type) -> bool:
        return isinstance(t, Sequence) and t.length is None

    def tried(self, node: Any) -> Type:
        """The type of an expression, which is written later."""
        found: list[Type] = []
        self.path(lambda: found.append(self.state.of(self.expression(node))))
        return found[0]

    def looked_at(self, node: Any) -> Atom:
        """What an expression stands for, which is written later, or not at all."""
        found: list[Atom] = []
        self.path(lambda: found.append(self.expression(node)))
        return found[0]

    def joined(self, node: Any, of: Any, make: Any, target: str | None) -> Atom:
        """``[*h, x]`` of any length as ``list(h) + [x]``."""
        parts: list[Atom] = []
        for is_starred, group in itertools.groupby(node.elts, lambda e: isinstance(e, gast.Starred)):
            if is_starred:
                parts += [self.emit(of, (self.expression(e.value),), e) for e in group]
            else:
                parts.append(self.emit(make, self.items(list(group)), node))
        whole = parts[0]
        for part in parts[1:]:
            whole = self.emit(operator.add, (whole, part), node)
        return self.emit(ops.identity, (whole,), node, target=target)

    def of_Dict(self, node: Any, target: str | None) -> Atom:
        entries: dict[Any, Atom] = {}
        for k, v in zip(node.keys, node.values, strict=True):
            if k is None:
                entries.update(self.double_starred(v))
                continue
            key = self.expression(k)
            if not isinstance(key, Const):
                key = self.emit(ops.identity, (key,), k, name="%key")
                entries[key] = self.expression(v)
            else:
                entries[key.value] = self.expression(v)
        if any(isinstance(k, str) and k.startswith("%key") for k in entries):
            raise self.unsupported(node, "a dict whose keys are not constants", "write the keys as literals")
        return self.emit(ops.make_dict, (Const(tuple(entries)), *entries.values()), node, target=target)

    # ---------------------------------------------------------- what is only carried along
    def opaque(self, node: Any, target: str | None) -> Atom:
        """Carry a passive construct unchanged; it reads the names that stand in it."""
        tree = gast.gast_to_ast(as_written(node))
        writes = () if target is None else (("", target),)
        self.add(Opaque(tree, ast.unparse(tree), self.reads_of(tree), writes, self.span(node)))
        return target if target is not None else Const(None)

    def reads_of(self, tree: Any, written: frozenset[str] | set[str] = frozenset()) -> tuple[tuple[str, Atom], ...]:
        """The names in a tree, with what they stand for."""
        bound = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        bound |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
        names = sorted({n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} - (bound - set(written)))
        read: list[tuple[str, Atom]] = []
        for name in names:
            try:
                atom = self.of_Name(gast.Name(name, gast.Load(), None, None), None)
            except (UnsupportedSyntax, AttributeError):
                continue
            if isinstance(atom, Const) and isinstance(atom.value, Closure):
                raise self.unsupported_span(
                    self.span_of_tree(tree), "a function defined inside, in code that is only carried along",
                    "define it at the level of the module")  # fmt: skip
            read.append((name, atom))
        return tuple(read)

    def span_of_tree(self, tree: Any) -> Span:
        places = [n for n in ast.walk(tree) if hasattr(n, "lineno") and hasattr(n, "end_col_offset")]
        return self.span(max(places, key=lambda n: n.lineno) if isinstance(tree, ast.Module) else tree)

    def unsupported(self, node: Any, what: str, way_out: str) -> UnsupportedSyntax:
        return self.unsupported_span(self.span(node), what, way_out)

    def unsupported_span(self, span: Span, what: str, way_out: str) -> UnsupportedSyntax:
        return UnsupportedSyntax(
            f"{self.activation.source.name} uses {what}, which tangentc does not differentiate",
            span,
            why="there is no translation of this construct into an adjoint yet",
            way_out=way_out,
        )


def imported(module: types.ModuleType, name: str) -> Any:
    """What ``from module import name`` gives: an attribute, or a module inside of a package."""
    try:
        return getattr(module, name)
    except AttributeError:
        if not hasattr(module, "__path__"):
            raise ImportError(f"cannot import name {name!r} from {module.__name__!r}") from None
        return importlib.import_module(f"{module.__name__}.{name}")


def has_setter(t: Type, name: str) -> bool:
    """Whether an attribute of an array, or of a number, can be set."""
    return isinstance(t, Array) and isinstance(getattr(np.ndarray, name, None), types.GetSetDescriptorType)


def is_one_function(t: Type | None) -> bool:
    return isinstance(t, Known) and callable(t.value) and not isinstance(t.value, Either)


def _may_write(s: Assign) -> bool:
    """Whether a call whose result nobody uses is one of SciPy for which there is no rule, and may be made for what it
    writes into its arguments."""
    return ops.module_root(s.op) == "scipy" and REGISTRY.find(s.op) is None


def _is_path(node: Any) -> bool:
    """Whether an expression is a name, or attributes of one."""
    return isinstance(node, gast.Name) or isinstance(node, gast.Attribute) and _is_path(node.value)


@functools.lru_cache(maxsize=1024)
def assigned_at_last(tree: ast.AST) -> frozenset[str]:
    """The variables of a function that a ``finally`` assigns, after ``return`` has taken what they were."""
    nodes = [n for t in ast.walk(tree) if isinstance(t, ast.Try) for s in t.finalbody for n in ast.walk(s)]
    return frozenset(n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load))


@functools.lru_cache(maxsize=1024)
def shifting(tree: ast.AST) -> frozenset[str]:
    """The variables of a function that an expression may assign: by ``:=``, or by calling one with ``nonlocal``."""
    nodes = list(ast.walk(tree))
    names = {name for n in nodes if isinstance(n, ast.Nonlocal) for name in n.names}
    return frozenset(names | {n.target.id for n in nodes if isinstance(n, ast.NamedExpr)})


def _joining(made: Assign | None) -> Any:
    """What ``np.r_[...]`` or ``np.c_[...]`` computes, as a function of the items between the brackets."""
    name = made.args[1] if made is not None and made.op is builtins.getattr else Const(None)
    return {Const("r_"): prelude.joined_by_rows, Const("c_"): prelude.joined_by_columns}.get(name)  # type: ignore[arg-type]


def _repeated(node: Any) -> tuple[Any, Any] | None:
    """The list and the number of ``[x] * n``, in which x is not a constant."""
    if isinstance(node.op, gast.Mult):
        for items, count in ((node.left, node.right), (node.right, node.left)):
            computed = (gast.Name, gast.BinOp, gast.Subscript, gast.Attribute, gast.Call)
            if isinstance(items, gast.List) and any(isinstance(e, computed) for e in items.elts):
                return items, count
    return None


def _has_floats(value: Any) -> bool:
    return any(map(_has_floats, value)) if isinstance(value, tuple) else isinstance(value, (float, complex))


def _compared(op: Any, left: Atom, right: Atom) -> Const | None:
    """A comparison of two constants, or of a function with None: it chooses a branch when compiling."""
    if not (isinstance(left, Const) and isinstance(right, Const)):
        return None
    plain = (str, int, bool, type(None), tuple)
    both = isinstance(left.value, plain) and isinstance(right.value, plain)
    if both or op in (operator.is_, operator.is_not):
        return Const(bool(op(left.value, right.value)))
    return None
