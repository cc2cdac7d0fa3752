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
import operator
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from tangentc.analysis.state import State
from tangentc.core import ops
from tangentc.core.naming import hint
from tangentc.core.nodes import Assign, Atom, Block, Const, Function, Global, Opaque, Param, Place, Statement
from tangentc.core.resolve import Scope, attributes_set, names_inside
from tangentc.core.types import SETTINGS, Either, Known, Struct, Type
from tangentc.core.types import Opaque as OpaqueType
from tangentc.core.values import data_type
from tangentc.errors import Span, UnsupportedSyntax
from tangentc.frontend.activation import Activation, Bound, Closure, declared, locals_of, parameters
from tangentc.frontend.as_text import CHANGES
from tangentc.frontend.asked import as_written
from tangentc.frontend.assign import Assigning
from tangentc.frontend.assumed import Fact, Sites
from tangentc.frontend.attempt import Attempt, Trying, never_passes
from tangentc.frontend.comprehend import Comprehend
from tangentc.frontend.environments import Environments
from tangentc.frontend.expressions import Expressions
from tangentc.frontend.for_loops import ForLoops
from tangentc.frontend.generators import Generators
from tangentc.frontend.invoke import Invoke
from tangentc.frontend.iterators import makes_iterator, refuse_held
from tangentc.frontend.operate import Operate
from tangentc.frontend.parse import parsed
from tangentc.frontend.questions import Here, answer_of
from tangentc.frontend.recursion import Recursion
from tangentc.frontend.source import Quoted
from tangentc.frontend.standing import Standing
from tangentc.frontend.statements import Statements
from tangentc.frontend.texts import Texts
from tangentc.frontend.trees import walk
from tangentc.frontend.wrapping import Wrapping

# what is worked out while lowering, in definitions, where everything that it is given is known
STATIC = {
    operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.neg, operator.getitem,
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge, operator.not_, ops.contains,
    ops.not_contains, builtins.len, builtins.abs, builtins.min, builtins.max, builtins.tuple,
    builtins.int, np.any, np.shape,
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
            source.span(source.tree), why="the number of parameters must be known", way_out="name the parameters",
        )  # fmt: skip
    names = [a.id for a in parameters(node.args)]
    activation = Activation(source, Scope(function), locals_of(node), key=function.__code__)
    lowering = Lowering(activation, known, summaries)
    lowering.state.begin_with(params)
    settings = {n: t.const for n, t in params.items() if isinstance(t, Known) and type(t.value) in SETTINGS}
    activation.constants.update({n: const for n, const in settings.items() if activation.local[n] == 1})
    for name, t in params.items():
        if isinstance(t, Struct):
            lowering.with_data_of_class(name, t.cls, t.fields, node)
    lowering.body(node)
    refuse_held(tuple(lowering.out), lowering.iterators)
    name = "lambda_" if source.name == "<lambda>" else source.name
    whole = Function(name, tuple(map(Param, names)), tuple(lowering.out), Const(None), source.span(source.tree))
    return whole, lowering.places


class Lowering(
    Statements,
    Assigning,
    Expressions,
    Invoke,
    Environments,
    Comprehend,
    ForLoops,
    Generators,
    Wrapping,
    Standing,
    Texts,
    Attempt,
    Recursion,
    Operate,
):
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
        self.gives_to: tuple[Any, Any, bool] | None = None  # a call of a generator, what takes its values, if as a list
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

    def refuse_deeper(self, node: Any) -> None:
        """Refuse a loop that puts containers or objects into each other, trip by trip."""
        if self.state.deeper:
            raise self.unsupported(
                node, "a loop in which lists or objects come to hold each other, one more in each trip",
                "keep them in a list, side by side",
            )  # fmt: skip

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

    def span(self, node: Any) -> Span:
        span = self.activation.source.span(node)
        site = (self.activation.path, self.step, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
        return replace(span, site=site)

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

    # ---------------------------------------------------------- expressions
    def fresh(self, name: str) -> str:
        self.counter[name] = self.counter.get(name, 0) + 1
        return f"{name}.{self.counter[name]}"

    def emit(
        self, op: Any, args: tuple[Atom, ...], node: Any, keywords: tuple[tuple[str, Atom], ...] = (),
        target: str | None = None, name: str = "", augmented: bool = False,
    ) -> str:  # fmt: skip
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
            try:
                value = op(*(a.value for a in args))  # type: ignore[union-attr]
            except (TypeError, ValueError, IndexError):  # so it does when it runs
                return None
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

    # ---------------------------------------------------------- what is only carried along
    def opaque(self, node: Any, target: str | None) -> Atom:
        """Carry a passive construct unchanged; it reads the names that stand in it."""
        tree = gast.gast_to_ast(as_written(node))
        writes = () if target is None else (("", target),)
        self.add(Opaque(tree, ast.unparse(tree), self.reads_of(tree), writes, self.span(node)))
        return target if target is not None else Const(None)

    def does_something(self, node: Any) -> bool:
        """Whether an expression may change something, or calls what is made inside, and not only give a value."""
        return any(
            isinstance(n, gast.NamedExpr) or isinstance(n, gast.Call) and self.call_does_something(n)
            for n in walk(node)
        )

    def call_does_something(self, call: Any) -> bool:
        method = isinstance(call.func, gast.Attribute)
        if method and call.func.attr in CHANGES or any(k.arg == "out" for k in call.keywords) or self.is_inlined(call):
            return True
        with contextlib.suppress(UnsupportedSyntax, AttributeError):
            callee = self.looked_at(call.func) if _is_path(call.func) else None
            if isinstance(callee, Const):
                return isinstance(callee.value, (Closure, Bound)) or callee.value is builtins.next
            t = self.state.of(self.looked_at(call.func.value)) if method else None
            return isinstance(t, (Struct, OpaqueType))
        return False

    def reads_of(self, tree: Any, written: frozenset[str] | set[str] = frozenset()) -> tuple[tuple[str, Atom], ...]:
        """The names in a tree, with what they stand for."""
        bound = {n.id for n in walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        bound |= {n.arg for n in walk(tree) if isinstance(n, ast.arg)}
        names = sorted({n.id for n in walk(tree) if isinstance(n, ast.Name)} - (bound - set(written)))
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
        places = [n for n in walk(tree) if hasattr(n, "lineno") and hasattr(n, "end_col_offset")]
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


def _is_path(node: Any) -> bool:
    """Whether an expression is a name, or attributes of one."""
    return isinstance(node, gast.Name) or isinstance(node, gast.Attribute) and _is_path(node.value)
