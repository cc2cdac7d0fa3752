"""Functions that call themselves, as functions of the module that change nothing.

A function defined inside another is lowered into it; one that calls itself cannot be.  It is lifted out, with
those that it calls, and what they capture comes as their first parameters:

    def f(x):                                    def power(x, n):
        def power(n):                                return 1.0 if n == 0 else x * power(x, n - 1)
            return 1.0 if n == 0 else x * power(n - 1)
        return power(5)                      ->  def f(x): return power(x, 5)

One that changes an argument works on a copy and gives that back (a *twin*); what its callers call is lowered
into them, and writes the change where it belongs:

    def fill(a, k):                              def fill_copy(a, k):
        if k < len(a):                               a = copied(a)
            a[k] = k                                 ...
            fill(a, k + 1)                   ->      return None, a
                                                 def fill(a, k):
                                                     out, a_new = fill_copy(a, k)
                                                     a[...] = a_new
                                                     return out
"""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import itertools
import types
from collections.abc import Iterator
from collections.abc import Sequence as Sequence_
from typing import Any

import gast

from tangentc import runtime
from tangentc.analysis.joins import is_nothing
from tangentc.core import ops, texts
from tangentc.core.lengths import Length
from tangentc.core.nodes import Atom, Const
from tangentc.core.resolve import Scope, named_by, words_inside
from tangentc.core.types import Array, Scalar, Sequence, Type, lengths, map_lengths
from tangentc.frontend.activation import Activation, Closure, declared, locals_of
from tangentc.frontend.asked import written
from tangentc.frontend.define import define
from tangentc.frontend.nested import lift, own_parameters
from tangentc.frontend.part import Part
from tangentc.frontend.source import source_of
from tangentc.frontend.trees import walk


# ---------------------------------------------------------------- functions that are defined inside
class Recursion(Part):
    """The part of lowering that knows functions defined inside that call themselves."""

    def recursive(self, closure: Closure, args: list, keywords: list, node: Any, target: str | None) -> Atom | None:
        """A call of a function defined inside that calls itself; None if it does not."""
        family: dict[str, Closure] = {}
        for name, member in _called(closure):
            _gather(name, member, family)
        own = [n for n, member in family.items() if member is closure]
        if not own:
            return None
        captured: dict[str, str] = {}
        constants: dict[str, Any] = {}
        for member in family.values():
            if declared(_body(member.node), gast.Nonlocal) or any(isinstance(a, str) for a in member.defaults.values()):
                raise self.unsupported(
                    node, "a function defined inside that calls itself, with `nonlocal` or a default that is computed",
                    "define it at the level of the module",
                )  # fmt: skip
            for name, home in _captured(member):
                known = home.constants.get(name)
                if isinstance(known, Const):
                    constants.setdefault(name, known.value)
                elif is_nothing(self.state.of(home.variable(name))):  # it has no value here
                    constants.setdefault(name, ops.UNDEFINED)
                elif captured.setdefault(name, home.variable(name)) != home.variable(name):
                    raise self.unsupported(
                        node, f"a function defined inside that calls itself, with two variables called {name}",
                        "give one of them another name",
                    )  # fmt: skip
            constants |= {_default(member, n): a.value for n, a in member.defaults.items()}  # type: ignore[union-attr]
        constants = {n: v for n, v in constants.items() if n not in family}
        text = "\n\n\n".join(_lifted(name, member, list(captured), set(family)) for name, member in family.items())
        key = (own[0], text, tuple(map(id, constants.values())))
        if key not in self.known.lifted:
            functions = define(text, f"function inside {own[0]}", self.outermost().scope, constants)
            self.known.lifted[key] = functions[own[0]]
        return self.invoke(self.known.lifted[key], [*captured.values(), *args], keywords, node, target)

    def handing_on(self, callee: Any, args: list, keywords: list, node: Any, target: str | None) -> Atom | None:
        """A call of a function that calls itself and hands on functions that it is given, which capture variables, as a
        call of one that has them inside; None for other calls."""
        names = list(callee.__code__.co_varnames[: callee.__code__.co_argcount])
        given = dict(zip(names, args)) | dict(keywords)
        functions = {n: a.value for n, a in given.items() if isinstance(a, Const) and isinstance(a.value, Closure)}
        if not any(map(captures, functions.values())) or any(f.defaults for f in functions.values()):
            return None
        if len(args) > len(names) or not calls_itself(callee):
            return None
        lifted = {n: lift(f) for n, f in functions.items()}
        text = _with_functions(callee, {n: _Inside(n, functions[n], *lifted[n]) for n in lifted})
        if text is None:
            return None
        constants = {f"{n}_function": function for n, (function, _) in lifted.items()}
        key = (callee, text, tuple(constants.values()))
        if key not in self.known.lifted:
            made = define(text, f"{callee.__name__} with what it is given", Scope(callee), constants)
            self.known.lifted[key] = made[callee.__name__]
        left = [(n, a) for n, a in given.items() if n not in functions]
        captured = [a for _, atoms in lifted.values() for a in atoms.values()]
        names = inspect.getfullargspec(self.known.lifted[key]).kwonlyargs[-len(captured) :]
        return self.invoke(self.known.lifted[key], [], [*left, *zip(names, captured)], node, target)


def _body(node: Any) -> list[Any]:
    return node.body if isinstance(node.body, list) else [node.body]


def _names(closure: Closure) -> list[str]:
    """The names that a function reads and that are not its own."""
    own = set(locals_of(closure.node)) - declared(_body(closure.node), gast.Nonlocal)
    names = [n.id for part in _body(closure.node) for n in walk(part) if isinstance(n, gast.Name)]
    return [n for n in dict.fromkeys(names) if n not in own]


def _called(closure: Closure) -> Iterator[tuple[str, Closure]]:
    """The functions defined inside that a function names."""
    for name in _names(closure):
        home = closure.home.home(name)
        known = home.constants.get(name) if home is not None else None
        if isinstance(known, Const) and isinstance(known.value, Closure):
            yield name, known.value


def _gather(name: str, closure: Closure, family: dict[str, Closure]) -> None:
    if name not in family:
        family[name] = closure
        for other, member in _called(closure):
            _gather(other, member, family)


def _captured(closure: Closure) -> Iterator[tuple[str, Activation]]:
    for name in _names(closure):
        home = closure.home.home(name)
        if home is not None and name not in dict(_called(closure)):
            yield name, home


def captures(closure: Closure) -> bool:
    """Whether a function defined inside reads variables of the functions around it."""
    return any(not isinstance(home.constants.get(name), Const) for name, home in _captured(closure))


def _default(closure: Closure, name: str) -> str:
    return f"{closure.__name__}_{name}_default"


def _lifted(name: str, closure: Closure, captured: list[str], family: set[str]) -> str:
    """The text of a function whose first parameters are what it and its family capture."""
    tree = gast.gast_to_ast(copy.deepcopy(closure.node))
    signature = tree.args
    names = [a.arg for a in (*signature.posonlyargs, *signature.args)]
    given = [n for n in names if n in closure.defaults]
    signature.defaults = [ast.Name(_default(closure, n), ast.Load()) for n in given]
    signature.kw_defaults = [
        ast.Name(_default(closure, a.arg), ast.Load()) if a.arg in closure.defaults else None
        for a in signature.kwonlyargs
    ]
    first = signature.posonlyargs or signature.args
    first[:0] = [ast.arg(n) for n in captured]
    statements = tree.body if isinstance(tree.body, list) else [ast.Return(tree.body)]
    statements = [_Handing(captured, family).visit(s) for s in written(statements)]
    function = ast.FunctionDef(name, signature, statements, [], None, None)
    return ast.unparse(ast.fix_missing_locations(ast.Module([function], [])))


class _Inside:
    """A function that stands inside another, which takes what it captures."""

    def __init__(self, name: str, closure: Closure, function: Any, captured: dict[str, Atom]):
        self.name, self.closure = name, closure
        self.own = own_parameters(closure)
        self.names = list(captured)
        homes = [(n, home) for n in _names(closure) if (home := closure.home.home(n)) is not None]
        self.is_whole = len(homes) == len(captured) and not any(n in home.constants for n, home in homes)

    def names_beside(self, taken: set[str]) -> list[str]:
        """The names of what it captures, in a function that has names of its own."""
        return [f"{self.name}_{n}" if n in taken else n for n in self.names]

    def definition(self, captured: list[str]) -> list[ast.stmt]:
        if self.is_whole and captured == self.names:
            tree: Any = gast.gast_to_ast(copy.deepcopy(self.closure.node))
            body = tree.body if isinstance(tree.body, list) else [ast.Return(tree.body)]
            return [ast.FunctionDef(self.name, tree.args, written(body), [], None, None)]
        given = ", ".join([*self.own, *captured])
        return ast.parse(f"def {self.name}({', '.join(self.own)}):\n    return {self.name}_function({given})").body


def _with_functions(function: Any, inside: dict[str, _Inside]) -> str | None:
    """The text of a function that calls itself with some parameters as functions inside it, whose captured variables
    it takes in their place; None if it does not hand them on as they are.

    def power(f, n): return f(n) * power(f, n - 1)    ->    def power(n, *, k):
                                                                def f(x): return k * x
                                                                return f(n) * power(n=n - 1, k=k)
    """
    tree = copy.deepcopy(source_of(function).tree)
    if not isinstance(tree, ast.FunctionDef) or tree.args.vararg or tree.args.kwarg or tree.args.posonlyargs:
        return None
    names = [a.arg for a in tree.args.args]
    optional = names[len(names) - len(tree.args.defaults) :]
    taken = {n.id for n in walk(tree) if isinstance(n, ast.Name)} | set(names)
    captured: list[str] = []
    definitions: list[ast.stmt] = []
    for one in inside.values():
        own = one.names_beside(taken)
        taken |= set(own)
        captured += own
        definitions += one.definition(own)
    handing = _HandingOn(function.__name__, names, set(inside), captured)
    tree.body = [*definitions, *(handing.visit(s) for s in tree.body)]
    if not handing.hands_on or not inside.keys().isdisjoint(optional) or not inside.keys() <= set(names):
        return None
    tree.args.args = [a for a in tree.args.args if a.arg not in inside]
    tree.args.kwonlyargs += [ast.arg(n) for n in captured]
    tree.args.kw_defaults += [None] * len(captured)
    tree.decorator_list = []
    return ast.unparse(ast.fix_missing_locations(tree))


class _HandingOn(ast.NodeTransformer):
    """Calls of a function by itself, without the functions that it hands on, and with what these capture."""

    def __init__(self, name: str, names: list[str], inside: set[str], captured: list[str]):
        self.name, self.names, self.inside, self.captured = name, names, inside, captured
        self.hands_on = True

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        if not isinstance(node.func, ast.Name) or node.func.id != self.name:
            return node
        plain = not any(isinstance(a, ast.Starred) for a in node.args) and all(k.arg for k in node.keywords)
        given = dict(zip(self.names, node.args)) | {str(k.arg): k.value for k in node.keywords}
        handed = [given.get(n) for n in self.inside]
        self.hands_on &= plain and all(isinstance(a, ast.Name) and a.id in self.inside for a in handed)
        self.hands_on &= all(getattr(given.get(n), "id", None) == n for n in self.inside)
        keywords = [ast.keyword(n, a) for n, a in given.items() if n not in self.inside]
        return ast.Call(node.func, [], [*keywords, *(ast.keyword(n, ast.Name(n, ast.Load())) for n in self.captured)])


class _Handing(ast.NodeTransformer):
    """Calls within a family hand on what it captures."""

    def __init__(self, captured: list[str], family: set[str]):
        self.captured, self.family = captured, family

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in self.family:
            node.args[:0] = [ast.Name(n, ast.Load()) for n in self.captured]
        return node


# ---------------------------------------------------------------- functions of parts of their arguments
MOST_LENGTHS = 4  # versions of a function that calls itself, before its code is made right for any length


class Lengths:
    """With which lengths functions that call themselves have been met.

    One that halves its argument, or takes its first item off, is called with another length each time.  When it
    has been met with more than `MOST_LENGTHS`, the lengths that are not always the same get symbols of their own,
    the same for equal ones: the code for these types is right for all.
    """

    def __init__(self) -> None:
        self.met: dict[Any, list[list[Any]]] = {}
        self.open: dict[Any, set[int]] = {}  # which lengths are not always the same

    def general(self, function: Any, types: list[Type]) -> list[Type]:
        """The types that the code for these is compiled for."""
        shape = self._shape(function, types)
        return self._with_symbols(types, self.open[shape]) if shape in self.open else types

    def note(self, function: Any, types: list[Type]) -> None:
        """Note a call inside the function itself."""
        shape = self._shape(function, types)
        met = self.met.setdefault(shape, [])
        met.append(lengths(*types))
        varying = {k for k, same in enumerate(zip(*met, strict=True)) if len(set(same)) > 1}
        if len(met) > MOST_LENGTHS and not varying <= self.open.get(shape, set()):
            self.open[shape] = self.open.get(shape, set()) | varying
            self.met.clear()

    @staticmethod
    def _shape(function: Any, types: list[Type]) -> Any:
        return function, tuple(map_lengths(t, lambda d: None) for t in types)

    @staticmethod
    def _with_symbols(types: list[Type], which: set[int]) -> list[Type]:
        symbols: dict[Any, Length] = {}
        place = itertools.count()

        def symbol(d: Any) -> Any:
            if next(place) not in which:
                return d
            return None if d is None else symbols.setdefault(d, Length(f"r{len(symbols)}"))

        return [map_lengths(t, symbol) for t in types]


def at_call(result: Type, general: Sequence_[Type], types: Sequence_[Type]) -> Type:
    """The type of a result, for a call with ``types`` of code for ``general`` ones."""
    pairs = [(g, t) for g, t in zip(general, types, strict=True) if not isinstance(g, Scalar)]
    every = zip(lengths(*(g for g, _ in pairs)), lengths(*(t for _, t in pairs)), strict=True)
    there: dict[str, Any] = {}
    for g, d in every:
        if isinstance(g, Length) and d is not None and (d == g or g == Length(g.symbol)):
            there.setdefault(g.symbol, Length(g.symbol) if d == g else d)

    def here(d: Any) -> Any:
        if not isinstance(d, Length) or d.symbol not in there:
            return d
        known = there[d.symbol]
        return d.where(known) if isinstance(known, int) else d.of(known)

    return map_lengths(result, here)


# ---------------------------------------------------------------- functions that change their arguments
def twin(function: types.FunctionType, changed: dict[str, Type], shares: bool) -> Any:
    """What callers of a recursive function call in its place: a function that calls its twin, which works on
    copies of what it changes, and writes the changes back.  None if it has no twin, as where its result ``shares`` the
    memory of what it changes, and is not that itself."""
    tree: Any = source_of(function).fresh_tree()
    args = tree.args
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    others = {n: cell.cell_contents for n, cell in cells.items() if n != function.__name__}
    if isinstance(tree, ast.Lambda) or args.vararg or args.kwarg or tree.decorator_list:
        return None
    if not all(isinstance(value, types.FunctionType) for value in others.values()) or runtime.copied in others.values():
        return None  # a twin of a twin
    if not all(isinstance(t, Array) or isinstance(t, Sequence) and t.kind is list for t in changed.values()):
        return None
    name, body = tree.name, tree.body
    returned = {"None" if s.value is None else ast.unparse(s.value) for s in _returns(body)}
    whole = next(iter(returned)) if len(returned) == 1 and returned <= changed.keys() else None
    if whole is None and shares:
        return None
    for s in _returns(body):
        value = ast.Constant(None) if s.value is None or whole else s.value
        s.value = ast.Tuple([value, *(ast.Name(n, ast.Load()) for n in changed)], ast.Load())
    signature = _without_defaults(args)
    given = [a.arg for a in (*args.posonlyargs, *args.args)]
    handed = ", ".join([*given, *(f"{a.arg}={a.arg}" for a in args.kwonlyargs)])
    new = [f"{n}_new" for n in changed]
    rest = [n for n in (*given, *(a.arg for a in args.kwonlyargs)) if n not in changed]
    lines = [f"def make({', '.join(('copied', 'require_apart', 'require_apart_after', *others))}):"]
    lines += [f"    def {name}_copy({signature}):"]
    lines += [f"        {n} = copied({n})" for n in changed]
    code = ast.unparse(ast.fix_missing_locations(ast.Module(body, [])))
    lines += [f"        {line}" for line in code.splitlines()]
    lines += [f"        return (None, {', '.join(changed)})"]
    lines += ["", f"    def {name}({signature}):"]
    lines += [f"        require_apart(({', '.join(changed)},), ({', '.join([*rest, ''])}))"]
    lines += [f"        {name}_gave, {', '.join(new)} = {name}_copy({handed})"]
    gives = whole is None and bool(returned - {"None"})
    if gives or any(isinstance(t, Sequence) for t in changed.values()):
        gave = f"{name}_gave" if gives else "None"
        lines += [f"        require_apart_after(({', '.join(changed)},), ({', '.join(new)},), {gave})"]
    lines += [f"        {n}[{'...' if isinstance(t, Array) else ':'}] = {n}_new" for n, t in changed.items()]
    lines += [f"        return {whole or name + '_gave'}", f"    return {name}", ""]
    made: dict[str, Any] = {}
    texts.run("\n".join(lines), f"twin of {name}", function.__globals__, made)
    wrapper = made["make"](
        runtime.copied, runtime.require_apart, runtime.require_apart_after, *others.values()
    )  # fmt: skip
    wrapper.__tangentc_twin__ = True
    wrapper.__defaults__, wrapper.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    return wrapper


def _without_defaults(args: ast.arguments) -> str:
    plain = copy.deepcopy(args)
    plain.defaults, plain.kw_defaults = [], [None] * len(args.kwonlyargs)
    return ast.unparse(plain)


def _returns(body: list) -> Iterator[ast.Return]:
    """The ``return`` statements of a function, those of functions inside it left out."""
    for statement in body:
        if isinstance(statement, ast.Return):
            yield statement
        elif not isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            for part in ("body", "orelse", "finalbody", "handlers", "cases"):
                inside = getattr(statement, part, [])
                yield from _returns(
                    [b for i in inside for b in (i.body if hasattr(i, "body") and not isinstance(i, ast.stmt) else [i])]
                )


@functools.lru_cache(maxsize=1024)
def counters(code: types.CodeType, function: types.FunctionType) -> frozenset[str]:
    """The parameters that a function which calls itself may give another value in each call: all, unless it calls
    itself by its name or as a method, and there hands a parameter on or leaves it out."""
    tree: Any = source_of(function).tree
    names = [a.arg for a in (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs)]
    calls = [
        (n, names) for n in walk(tree)
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == function.__name__
    ]  # fmt: skip
    calls += _calls_as_method(function, names, tree)
    if not calls or any(isinstance(a, ast.Starred) for c, _ in calls for a in c.args):
        return frozenset(names)
    given = [pair for c, own in calls for pair in (*zip(own, c.args), *((k.arg, k.value) for k in c.keywords))]
    return frozenset(n for n, value in given if n is None or not (isinstance(value, ast.Name) and value.id == n))


def _calls_as_method(function: types.FunctionType, names: list[str], tree: Any) -> list[tuple[Any, list[str]]]:
    """The calls of a function as the method of its first parameter or of its class, ``self.area(...)`` in ``area``,
    with the parameters that are given there."""
    first, cls = names[:1], function.__qualname__.split(".")[-2:-1]
    found = []
    for n in walk(tree):
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr == function.__name__:
            of = [n.func.value.id] if isinstance(n.func.value, ast.Name) else []
            found += [(n, names[1:] if of == first else names)] if of and of in (first, cls) else []
    return found


@functools.lru_cache(maxsize=1024)
def _calls_itself_as_method(code: types.CodeType, function: types.FunctionType) -> bool:
    if function.__name__ not in words_inside(code):
        return False
    return bool(_calls_as_method(function, list(code.co_varnames[: code.co_argcount]), source_of(function).tree))


def calls_itself(function: types.FunctionType) -> bool:
    """Whether a function may call itself, by way of functions that it names, or as a method."""
    named = any(found is function for found in named_by(function))
    return named or _calls_itself_as_method(function.__code__, function)


def calls_itself_by_others(function: types.FunctionType) -> bool:
    """Whether a function may call itself by way of another one."""
    others = [n for n in named_by(function) if isinstance(n, types.FunctionType) and n is not function]
    return any(map(calls_itself, others)) and any(named is function for n in others for named in named_by(n))
