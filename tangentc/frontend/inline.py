"""The body of a function in place of its call.

A function of the user is lowered into its caller when it is defined inside it, is given a function, changes
its arguments, or takes ``*args``; others stay calls, with an adjoint of their own."""

from __future__ import annotations

import ast
import functools
from collections import Counter
from typing import Any

from tangentc.analysis.points import DESCRIPTORS
from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Const, Place
from tangentc.core.remade import CHECKPOINT
from tangentc.core.resolve import Scope
from tangentc.core.texts import is_emitted
from tangentc.core.types import Struct
from tangentc.errors import Span
from tangentc.frontend import prelude
from tangentc.frontend.activation import Activation, Bound, Closure, locals_of
from tangentc.frontend.generators import is_generator
from tangentc.frontend.leave import gather, leaves, once
from tangentc.frontend.parse import parsed
from tangentc.frontend.part import Part
from tangentc.frontend.recursion import captures
from tangentc.frontend.source import Quoted, source_of
from tangentc.frontend.trees import walk
from tangentc.rules.registry import is_definition

DEEPEST = 60
STRAIGHT = (ast.Assign, ast.AugAssign, ast.AnnAssign)
COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp)
OPERATIONS = (ast.BinOp, ast.UnaryOp, ast.Call, ast.Compare, ast.IfExp, ast.BoolOp)
MOST_LINES = 12  # of a function that is written where it is called, called once
MOST_OPERATIONS = 6  # of one that is written in each such place
MOST_OPEN = 8  # calls, one inside the other, of functions that a definition inside has made


class Inline(Part):
    """The part of lowering that knows the functions of the user."""

    def user_function(
        self, callee: Any, args: list, keywords: list, node: Any, target: str | None, cls: type | None
    ) -> Atom:
        callee = self.known.twins.get(callee) or callee
        handed = None if is_quoted(callee) else self.handing_on(callee, args, keywords, node, target)
        if handed is not None:
            return handed
        span = self.span(node)
        if is_definition(callee):
            args, keywords = [self.frozen(a) for a in args], [(k, self.frozen(a)) for k, a in keywords]
        given = [*args, *(v for _, v in keywords)]
        takes_any = callee.__code__.co_flags & 0x0C
        code = tuple(id(a.value) for a in given if isinstance(a, Const) and _is_code(a.value))
        made = () if callee.__closure__ is None else (id(callee),)  # of one text, functions of other variables
        key = (callee.__code__, *made, *code)
        if (takes_any or is_generator(callee) or cls is not None) and self.times_called(callee.__code__) < MOST_OPEN:
            key = (*key, *map(self.one_object, given))  # a call on another object is no recursion: modules of modules
        gives = self.receiver(callee, node) if is_generator(callee) else None
        if gives is not None and self.is_open(key):
            raise self.unsupported(node, "a generator that calls itself", "gather the values in a list")
        if (
            cls is None
            and not is_quoted(callee)
            and not hasattr(callee, "__tangentc_twin__")
            and not hasattr(callee, "__tangentc_handed__")
            and not ("isinstance" in callee.__code__.co_names and all(isinstance(a, Const) for a in given))
            and not takes_any
            and not any(isinstance(a, Const) and _is_code(a.value) for a in given)
            and not is_short(callee, self.activation.source.tree)
            and not self.summaries.inlined(
                callee, [self.state.of(a) for a in args], {k: self.state.of(v) for k, v in keywords}
            )
            and not any(isinstance(self.type_known(a), Struct) or a in self.iterators for a in given)
            or self.is_open(key)
        ) and gives is None:
            self.refuse_call(callee, given, node)
            keywords = [*keywords, *self.data_by_default(callee, len(args), dict(keywords), node)]
            return self.emit(callee, tuple(args), node, tuple(keywords), target=target)
        if self.known.twins.get(callee):  # it has got one just now
            return self.user_function(callee, args, keywords, node, target, cls)
        if hasattr(callee, CHECKPOINT):
            raise self.unsupported(
                node, f"{callee.__name__} with `checkpoint`, whose body is written in place of this call",
                "let it take arrays and numbers, change none of them, and give what it makes",
            )  # fmt: skip
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
        if cls is None and is_short(callee, self.activation.source.tree):
            activation.unnamed = frozenset(n for n in names if activation.local[n] == 1 and n != "out")
        activation.gives = gives
        return self.inline(activation, tree, atoms, args, keywords, node, callee.__name__)

    def refuse_call(self, callee: Any, given: list, node: Any) -> None:
        """Refuse a function that cannot stay a call."""
        if is_quoted(callee):
            raise self.unsupported(
                node, f"{callee.__name__} with options that are only known when the program runs",
                "write the options as constants",
            )  # fmt: skip
        if callee.__code__.co_flags & 0x0C:
            raise self.unsupported(
                node, f"{callee.__name__}, which calls itself and takes *args or **kwargs", "name its parameters"
            )
        if any(isinstance(a, Const) and _holds_variables(a.value) for a in given):
            raise self.unsupported(
                node, f"{callee.__name__}, which calls itself and is given a function that captures variables",
                "give it what the function captures as arguments, or write it as a loop",
            )  # fmt: skip

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
        generates = is_generator(closure)
        lifted = None if generates else self.recursive(closure, args, keywords, node, target)
        if lifted is not None:
            return lifted
        if self.is_open(closure) or self.times_open(closure.node) > MOST_OPEN:
            raise self.unsupported(
                node, "a function defined inside that calls itself through other functions",
                "define it at the level of the module",
            )  # fmt: skip
        home = closure.home
        gives = self.receiver(closure, node) if generates else None
        activation = self.begin(home.source, home.scope, closure.node, home, closure, None, self.span(node))
        activation.gives = gives
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
        self.bind_parameters(activation, tree, defaults, args, keywords, node, name)
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


def is_short(callee: Any, caller: Any) -> bool:
    """Whether a function is read best where it is called: it is one expression, or a few lines that ``caller`` calls
    from one place, which is not inside an expression that gives many items."""
    tree = source_of(callee).tree
    if hasattr(callee, CHECKPOINT) or is_emitted(callee) or not isinstance(tree, ast.FunctionDef):
        return False
    body = tree.body[1:] if ast.get_docstring(tree, clean=False) is not None else tree.body
    if not 0 < len(body) <= MOST_LINES or not isinstance(body[-1], ast.Return):
        return False
    if any(isinstance(n, ast.Name) and n.id == tree.name for n in walk(tree)):
        return False  # it calls itself
    if len(body) == 1 and sum(isinstance(n, OPERATIONS) for n in walk(body[0])) <= MOST_OPERATIONS:
        return True
    called = [n.func.id for n in walk(caller) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    inside = [n for c in walk(caller) if isinstance(c, COMPREHENSIONS) for n in walk(c) if isinstance(n, ast.Name)]
    once = called.count(tree.name) == 1 and not any(n.id == tree.name for n in inside)
    return once and all(isinstance(s, STRAIGHT) for s in body[:-1])


def is_quoted(function: Any) -> bool:
    """Whether a function stands for a call of the library: its text is written where the call is."""
    return (function.__module__ or "").startswith(prelude.__name__) or is_definition(function)


def _holds_variables(value: Any) -> bool:
    """Whether a function is one of this call, of the functions around it, or a method of what they hold."""
    if isinstance(value, Bound):
        return isinstance(value.function, DESCRIPTORS)
    return isinstance(value, Closure) and captures(value)


def _is_code(value: Any) -> bool:
    """Whether an argument is a function, so that what it is called in is compiled for it."""
    return callable(value) and not isinstance(value, type)
