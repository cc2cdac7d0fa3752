"""Calls as what they compute: definitions in the place of calls through which a derivative flows and that no rule
covers.

y = np.median(x, axis=1)     ->     what ``median`` of `tangentc.rules.definitions` does with x and axis=1

A call is a small function of its own, which is prepared as any other, and put in the place of the call.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import itertools
import operator
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tangentc.analysis.aliases import Aliases
from tangentc.analysis.program import Program
from tangentc.core import ops, texts
from tangentc.core.build import Builder
from tangentc.core.nodes import Assign, Atom, Block, Const, Function, Statement, Store, Within
from tangentc.core.splice import spliced
from tangentc.core.types import Array
from tangentc.core.walk import blocks, definitions, reads, statements, transform, with_body
from tangentc.derive.context import Defined
from tangentc.errors import Span, TangentcError, UnsafeMutation
from tangentc.ops.table import known_of
from tangentc.rules.registry import is_definition

if TYPE_CHECKING:
    from tangentc.compiler.front import Front

TEXT = (bool, int, float, complex, str, type(None), type(...))
OF_CONSTANTS = {builtins.getattr, builtins.range, operator.neg, ops.make_tuple, ops.make_list}
WRITTEN_OUT = {ops.make_tuple: ast.Tuple, ops.make_list: ast.List}


def written_out(context: Front, program: Program, calls: Mapping[int, Defined | None]) -> Function:
    """The function with what ``calls`` compute in their place: statements by their identity, each with its definition
    and whether that is given the object whose method is called; None for an operation of an object that a definition
    has made."""
    made, held = definitions(program.function.body), _held(program.function.body)
    fresh = Builder(program.types, program.types.of_name).fresh

    def rewrite(s: Statement) -> Block:
        if id(s) not in calls:
            return (s,)
        definition = calls[id(s)]
        function, given = _Caller(made, held, program.aliases).function_of(s, definition)  # type: ignore[arg-type]
        try:
            return _in_place_of(context, program, s, function, given, fresh, definition)  # type: ignore[arg-type]
        except TangentcError as refused:
            raise refused.at(s.span) from None

    return with_body(program.function, _without_unused(transform(program.function.body, rewrite)))


def _in_place_of(
    context: Front, program: Program, s: Assign, function: types.FunctionType, given: Sequence[Atom],
    fresh: Callable[[str], str], definition: Defined | None,
) -> Block:  # fmt: skip
    """What a function does, which calls for a statement what stands for it."""
    with context.aside(function):
        callee = context.prepare(function, [program.types.of(a) for a in given])
    if callee.changes:
        raise UnsafeMutation(
            "what this call changes in place is not followed", s.span,
            why="its definition changes an argument", way_out="call it for its result, and store that",
        )  # fmt: skip
    named = {
        a: fresh(p.name)
        for a, p in zip(given, callee.function.params)
        if isinstance(a, str) and a[0] == "%" and p.name[0] != "_"
    }
    given = [named[a] if isinstance(a, str) and a in named else a for a in given]
    within = s.span.site if isinstance(s.span.site, Within) else Within()
    span = replace(s.span, site=within if definition is None else Within((*within, definition[0])))
    file = function.__code__.co_filename
    of, result = known_of(s.op), callee.result
    fixed = of.view or of.may_share or of.own_order or "order" in dict(s.keywords)
    laid_out = not fixed and isinstance(result, Array) and len(result.shape) > 1
    call = replace(s, target=fresh(s.target)) if laid_out else s
    body = transform(spliced(call, callee.function, given, fresh), lambda b: (_at(b, span, file),))
    if laid_out:
        body = (*body, Assign(s.target, ops.in_order, (call.target,), (), s.span))
    return (*(Assign(name, ops.identity, (a,), (), s.span) for a, name in named.items()), *body)


def _at(s: Statement, span: Span, file: str) -> Statement:
    """A statement of the calling text as one of the user's line."""
    return replace(s, span=span) if s.span.file == file else s


def _held(body: Block) -> dict[str, dict[str, Atom]]:
    """What the objects that definitions have made hold, which do not change."""
    held: dict[str, dict[str, Atom]] = {}
    for block in [body, *(b for s in statements(body) for b in blocks(s))]:
        for s in block:
            if isinstance(s, Assign) and s.op is ops.new_object and is_definition(s.args[0].value):
                held[s.target] = {}
            elif isinstance(s, Store) and s.object in held and isinstance(s.key, Const):
                held[s.object][s.key.value] = s.value
    return held


def _without_unused(body: Block) -> Block:
    """The block without the objects of definitions that nobody asks for what they hold."""
    held = _held(body)
    asked = {a for s in statements(body) for a in (reads(s) if not isinstance(s, Store) else (s.key, s.value))}
    unused = held.keys() - asked
    return transform(body, lambda s: () if {getattr(s, "target", None), getattr(s, "object", None)} & unused else (s,))


class _Caller:
    """Writes a function that makes a call, of what is not written into it: what a definition has put together is put
    together again, and constants stand where they are used."""

    def __init__(self, made: Mapping[str, Statement], held: Mapping[str, Mapping[str, Atom]], aliases: Aliases):
        self.made, self.held, self.aliases = made, held, aliases
        self.values: dict[str, Any] = {}
        self.given: dict[Atom, str] = {}  # with the name of its parameter
        self.lines: list[str] = []
        self.objects: dict[Atom, ast.expr] = {}
        self.numbers = itertools.count()

    def function_of(self, s: Assign, definition: Defined | None) -> tuple[types.FunctionType, list[Atom]]:
        args = list(s.args)
        if definition is not None:
            body, first, has_object = definition
            if s.op is ops.method:
                args = [*([] if first or not has_object else args[:1]), *args[2:]]
            bound = inspect.signature(body).bind(*map(Const, first), *args, **dict(s.keywords)).arguments
            self.given = {a: name for name, a in bound.items() if isinstance(a, str) and self.is_given(a)}
            call = self.call(self.value(body), [*map(Const, first), *args], s.keywords)
        elif s.op is ops.method:
            called = ast.Attribute(self.expression(args[0]), args[1].value, ast.Load())
            call = self.call(called, args[2:], s.keywords)
        elif s.op is ops.call:
            call = self.call(self.expression(args[0]), args[1:], s.keywords)
        else:
            call = self.call(self.value(s.op), args, s.keywords)
        lines = [f"def call({', '.join(self.given.values())}):", *self.lines, f"return {ast.unparse(call)}"]
        texts.run("\n    ".join(lines) + "\n", "call", self.values)
        return self.values["call"], list(self.given)

    def call(self, called: ast.expr, args: Sequence[Atom], keywords: Sequence[tuple[str, Atom]]) -> ast.expr:
        named = [ast.keyword(k, self.expression(a)) for k, a in keywords]
        return ast.Call(called, [self.expression(a) for a in args], named)

    def value(self, value: object) -> ast.expr:
        name = f"_c{len(self.values)}"
        self.values[name] = value
        return ast.Name(name, ast.Load())

    def maker(self, atom: Atom) -> Assign | None:
        made = self.made.get(atom) if isinstance(atom, str) else None
        return made if isinstance(made, Assign) else None

    def is_constant(self, atom: Atom) -> bool:
        made = self.maker(atom)
        if made is None or made.op not in OF_CONSTANTS or self.aliases.is_changed(made.target):
            return isinstance(atom, Const)
        return all(map(self.is_constant, made.args))

    def is_given(self, atom: Atom) -> bool:
        """Whether a value is an argument of the function that is written."""
        made = self.maker(atom)
        if made is None or atom in self.held or _is_put_together(made):
            return made is None
        put_together = made.op in WRITTEN_OUT or made.op is functools.partial
        shown = atom.startswith("%") and put_together and not self.aliases.is_changed(made.target)
        return not shown and not self.is_constant(atom)

    def expression(self, atom: Atom) -> ast.expr:
        if isinstance(atom, Const) and isinstance(atom.value, TEXT):
            return ast.Constant(atom.value)
        if isinstance(atom, Const) and isinstance(atom.value, tuple):
            return ast.Tuple([self.expression(Const(v)) for v in atom.value], ast.Load())
        if isinstance(atom, Const) and (callable(atom.value) or isinstance(atom.value, types.ModuleType)):
            return self.value(atom.value)
        if isinstance(atom, str) and not self.is_given(atom):
            return self.again(atom)
        return ast.Name(self.given.setdefault(atom, f"_a{len(self.given)}"), ast.Load())

    def again(self, atom: str) -> ast.expr:
        """The expression of what is put together, or worked out of constants."""
        made = self.made[atom]
        assert isinstance(made, Assign)
        if made.op in WRITTEN_OUT:
            return WRITTEN_OUT[made.op]([self.expression(a) for a in made.args], ast.Load())
        if atom in self.held or _is_put_together(made):
            if atom not in self.objects:
                self.objects[atom] = self.object(atom, made)
            return self.objects[atom]
        return self.call(self.value(made.op), made.args, made.keywords)

    def object(self, atom: str, made: Assign) -> ast.expr:
        cls: type = made.args[0].value
        name = f"_o{next(self.numbers)}"
        if made.op is ops.make_struct:
            fields = made.args[1].value
            given = self.call(self.value(cls), (), list(zip(fields, made.args[2:], strict=True)))
            self.lines.append(f"{name} = {ast.unparse(given)}")
        else:
            held = {field: ast.unparse(self.expression(value)) for field, value in self.held[atom].items()}
            self.lines.append(f"{name} = object.__new__({ast.unparse(self.value(cls))})")
            self.lines += [f"{name}.{field} = {value}" for field, value in held.items()]
        return ast.Name(name, ast.Load())


def _is_put_together(made: Assign) -> bool:
    return made.op is ops.make_struct and is_definition(made.args[0].value)
