"""Derivatives inside a function that is itself differentiated.

    def f(x):                                    df = grad(lambda t: t * x)
        return grad(lambda t: t * x)(2.0)   ->   is the emitted function of lifted(t, x), called with x

The inner derivative is compiled for the types that it is called with, as a function like any other, and
that is what the outer one differentiates.  What a lambda captures is passed to it, so that the outer
derivative flows through it; there are no levels that could be confused.
"""

from __future__ import annotations

import ast
import copy
import inspect
import itertools
import types as pytypes
from dataclasses import dataclass
from typing import Any

import gast

from tangentc.analysis.points import DESCRIPTORS
from tangentc.core import ops
from tangentc.core.inside import MADE
from tangentc.core.nodes import Atom, Const, Global
from tangentc.core.resolve import Scope
from tangentc.core.types import Either, Known, Type, Unknown, present
from tangentc.errors import BadArgument, UnsafeMutation, UnsupportedSyntax
from tangentc.frontend.activation import Bound, Closure, declared, locals_of
from tangentc.frontend.asked import written
from tangentc.frontend.callables import calling
from tangentc.frontend.define import define
from tangentc.frontend.trees import walk

WRITTEN = ("grad", "value_and_grad")  # what code that is only carried along takes


@dataclass(eq=False)
class Nested(ops.MadeInside):
    """A derivative of a known function: ``grad(f)``, not called yet."""

    function: Any  # a Python function, a closure, or another derivative
    kind: str
    wrt: Any
    has_aux: bool = False
    lifted: Any = None  # the function, with what it captures as more parameters
    captured: tuple[Atom, ...] = ()
    key: Any = None  # where it is made: the same in each lowering
    state: tuple = ()  # the loops in each trip of which it holds other values

    @property
    def __name__(self) -> str:
        return f"{getattr(self.function, '__name__', 'function')}_{self.kind}"

    def __call__(self, *args: Any) -> Any:
        raise NotImplementedError(self.__name__)

    @property
    def order(self) -> int:
        """How many derivatives of derivatives it is."""
        return 1 + (self.function.order if isinstance(self.function, Nested) else 0)

    def extra(self) -> list[Atom]:
        """What the function captures: more arguments of the lifted one."""
        if isinstance(self.function, Nested):
            return self.function.extra()
        if not isinstance(self.function, (Closure, Bound)):
            return []
        if self.lifted is None:
            self.lifted, captured = lift(self.function)
            self.captured = tuple(captured.values())
        return list(self.captured)

    @classmethod
    def of(cls, made: Any) -> Nested:
        """What a derivative that the user has made is inside a function."""
        if getattr(made, "ready", ()):
            raise BadArgument(
                f"the derivative of {made.__name__} has hooks, and is called in a function that is differentiated",
                why="each part of a gradient is given to a hook once", way_out="leave out ready=",
            )  # fmt: skip
        return cls(made.function, made.kind, made.wrt, made.has_aux)

    def derivative(self, count: int | None = None) -> Any:
        """The derivative; for ``count`` arguments, where the function takes any number of them."""
        if isinstance(self.function, Nested):
            return self.made_of(self.function.derivative(count))
        captured, function = self.extra(), self.lifted or self.function
        if count is not None and isinstance(function, pytypes.FunctionType) and takes_any_number(function):
            if len(inspect.getfullargspec(function).kwonlyargs) > len(captured):
                raise UnsupportedSyntax(
                    f"{self.__name__} is the derivative of a function with `*` and parameters after it",
                    why="which argument is which is not told apart", way_out="write its parameters out",
                )  # fmt: skip
            function = calling(function, count - len(own_parameters(function)))
        return self.made_of(function)

    def made_of(self, function: Any) -> Any:
        """The derivative of a function, or the function of a batch, to which all examples give what it captures."""
        if self.kind == "vmap":
            return MADE["Vectorised"](function, *self.wrt[:2], captured=self.wrt[2] + len(self.extra()))
        return MADE["Derivative"](function, self.kind, self.wrt, self.has_aux)

    @property
    def identity(self) -> Any:
        """What tells it from other derivatives; None if that is only known where it is made."""
        inner = self.function.identity if isinstance(self.function, Nested) else self.function
        if inner is None or isinstance(inner, (Closure, Bound)):
            return None
        wrt = repr(self.wrt) if self.kind == "vmap" else tuple(self.wrt) if isinstance(self.wrt, list) else self.wrt
        return inner, self.kind, wrt, self.has_aux

    def compiled(self, types: list[Type], made: dict[Any, Any]) -> Any:
        """The emitted function for arguments of these types, and the seeds of what is inside it; None if they are
        not known yet.  What has been ``made`` is used again: a function that is compiled once more would be another
        one, for which nothing is known of what calls itself."""
        types = [present(t) for t in types]
        if any(isinstance(t, Unknown) or isinstance(t, Known) and t.value is ops.UNDEFINED for t in types):
            return None
        if any(isinstance(t, Known) and isinstance(t.value, Either) for t in types):
            raise UnsupportedSyntax(
                f"{self.__name__} is the derivative of a function that calls one of several functions",
                why="which code is differentiated would depend on the values",
                way_out="take the derivative where it is known which function is called: in each branch",
            )
        seed = types[-1] if self.kind == "adjoint" else None
        if seed is not None:
            types = types[:-1]
        if self.kind == "jvp":
            types = types[: len(types) - len(self.wrt)]
        derivative = self.derivative(len(types))
        key = None if self.identity is None else (self.identity, tuple(types), seed)
        compiled = made.get(key) if key is not None else None
        if compiled is None:
            compiled = derivative._compile(types, seed=seed, inner=True)
        if key is not None:
            made[key] = compiled
        self._refuse_changes(compiled, len(types))
        return compiled.function, compiled.seeds

    def _refuse_changes(self, compiled: Any, count: int) -> None:
        """A derivative works on copies: what the function does to what it captures would be lost."""
        function = self.function
        while isinstance(function, Nested):
            function = function.function
        changed = [k for k in compiled.changed if count - len(self.extra()) <= k < count]
        if changed and isinstance(function, (Closure, Bound)):
            name = list(inspect.signature(compiled.root).parameters)[changed[0]]
            raise UnsafeMutation(
                f"{function.__name__}, whose derivative is taken inside, changes {name}, which it captures",
                why="a derivative works on copies, so that the change would be lost",
                way_out=f"give it {name} as an argument, or make the change outside of it",
            )


def _definition(closure: Closure, name: str, names: list[str]) -> list[ast.stmt]:
    """The definition of a function inside another; what it captures is added to ``names``."""
    tree = gast.gast_to_ast(copy.deepcopy(closure.node))
    names += [n for n in _captured(closure) if n not in names]
    statements = tree.body if isinstance(tree.body, list) else [ast.Return(tree.body)]
    return [ast.FunctionDef(name, tree.args, written(statements), [], None, None)]


def _captured(closure: Closure) -> list[str]:
    """The names that a function inside another reads and does not assign."""
    body = closure.node.body if isinstance(closure.node.body, list) else [closure.node.body]
    own = locals_of(closure.node)
    read = [n.id for part in body for n in walk(part) if isinstance(n, gast.Name)]
    return [n for n in dict.fromkeys(read) if n not in own]


def own_parameters(function: Any) -> list[str]:
    """The names of the parameters of a function, those of a bound function that are still open."""
    if isinstance(function, Bound):
        bound = {k for k, _ in function.keywords}
        return [n for n in own_parameters(function.function)[len(function.args) :] if n not in bound]
    if isinstance(function, Closure):
        signature = function.node.args
        return [a.id for a in (*signature.posonlyargs, *signature.args, *signature.kwonlyargs)]
    parameters = inspect.signature(function, follow_wrapped=False).parameters.values()
    return [p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


def takes_any_number(function: pytypes.FunctionType) -> bool:
    """Whether a function has a parameter ``*args``."""
    return bool(function.__code__.co_flags & inspect.CO_VARARGS)


def _lift_bound(bound: Bound) -> tuple[pytypes.FunctionType, dict[str, Atom]]:
    """A bound function as one whose last parameters are what it is bound to."""
    if isinstance(bound.function, DESCRIPTORS):
        raise UnsupportedSyntax(
            f"the method {bound.__name__} with a name is handed on to what is not lowered with it",
            why="its calls would not be seen", way_out="give a function that calls it",
        )  # fmt: skip
    inner, captured = lift(bound.function) if isinstance(bound.function, (Closure, Bound)) else (bound.function, {})
    names, own = own_parameters(inner), own_parameters(bound)
    first = dict(zip(names, bound.args))
    kept = {f"{n}_kept": a for n, a in (first | dict(bound.keywords) | captured).items()}
    given = [f"{n}_kept" if n in first else n if n in own and n not in captured else f"{n}_kept" for n in names]
    kinds = inspect.signature(inner, follow_wrapped=False).parameters
    call = ", ".join(f"{n}={g}" if kinds[n].kind is kinds[n].KEYWORD_ONLY else g for n, g in zip(names, given))
    parameters = [*own, *kept]
    if takes_any_number(inner):
        named = [f"{n}={n}_kept" for n in names if n not in first and f"{n}_kept" in kept]
        call = ", ".join([*(f"{n}_kept" for n in first), "*given", *named, "**named"])
        parameters = ["*given", *kept, "**named"]
    name = bound.__name__.replace("<lambda>", "lambda_")
    text = f"def {name}({', '.join(parameters)}):\n    return {name}_bound({call})"
    return define(text, f"bound {name}", Scope(inner), {f"{name}_bound": inner})[name], kept


def lift(closure: Any) -> tuple[pytypes.FunctionType, dict[str, Atom]]:
    """A closure as a function of the module, and what it captures: more parameters of it."""
    if isinstance(closure, Bound):
        return _lift_bound(closure)
    node = closure.node
    body = node.body if isinstance(node.body, list) else [node.body]
    if shared := sorted(declared(body, gast.Nonlocal)):
        raise UnsupportedSyntax(
            f"{closure.__name__}, whose derivative is taken inside, assigns {shared[0]} of the function around it",
            why="a derivative works on copies, so that the assignment would be lost",
            way_out="return the value, and assign it outside",
        )
    if getattr(node, "generates", False):
        raise UnsupportedSyntax(
            f"{closure.__name__}, a generator defined inside, is handed on",
            why="only loops over its calls are followed", way_out="define it at the level of the module",
        )  # fmt: skip
    lifted = _Lifted(closure, body)
    for name in lifted.names:
        lifted.take(name)
    return lifted.function(), lifted.captured


class _Lifted:
    """What a closure reads of the functions around it: values that it is given, constants, and functions that it calls,
    which are defined inside it."""

    def __init__(self, closure: Any, body: list[Any]):
        self.closure, self.node, self.home = closure, closure.node, closure.home
        self.local = locals_of(self.node)
        read = [n.id for part in body for n in walk(part) if isinstance(n, gast.Name)]
        self.names = [n for n in dict.fromkeys(read) if n not in self.local]
        self.captured: dict[str, Atom] = {}
        self.constants: dict[str, Any] = {}
        self.inside: list[ast.stmt] = []

    def take(self, name: str) -> None:
        where = self.home.home(name)
        if where is None:
            return
        known = where.constants.get(name)
        value = known.value if isinstance(known, Const) else None
        if isinstance(value, Nested) and isinstance(value.function, Closure) and value.kind in WRITTEN:
            made = f"{name}_of"
            self.inside += self.defined(value.function, made)
            kind = {f"{name}_kind": MADE[value.kind], f"{name}_wrt": value.wrt, f"{name}_aux": value.has_aux}
            self.constants |= kind
            self.inside += ast.parse(f"{name} = {name}_kind({made}, {name}_wrt, {name}_aux)").body
        elif isinstance(value, Nested):
            self.constants[name] = value.derivative()
        elif isinstance(value, Closure) and not value.defaults:
            self.inside += self.defined(value, name)
        elif isinstance(value, Bound) and not isinstance(value.function, Nested):
            self.inside += self.defined(value, name)
        elif isinstance(known, Const) and not isinstance(value, Closure):
            self.constants[name] = value
        else:
            self.captured[name] = known if isinstance(known, Global) else where.variable(name)

    def defined(self, closure: Any, made: str) -> list[ast.stmt]:
        """A function that the closure calls, as a definition inside it."""
        if isinstance(closure, Closure) and closure.home is self.home and not set(self.local) & set(_captured(closure)):
            return _definition(closure, made, self.names)
        function, atoms = lift(closure)  # its variables are those of the place where it was made
        self.captured.update({f"{made}_{n}": a for n, a in atoms.items()})
        self.constants[f"{made}_function"] = function
        own = [n for n in own_parameters(function) if n not in atoms]
        if takes_any_number(function):
            own = ["*given", "**named"]
        given = ", ".join([*own, *(f"{n}={made}_{n}" for n in atoms)])
        return ast.parse(f"def {made}({', '.join(own)}):\n    return {made}_function({given})").body

    def function(self) -> pytypes.FunctionType:
        tree = gast.gast_to_ast(copy.deepcopy(self.node))
        name = "lambda_" if isinstance(tree, ast.Lambda) else tree.name
        signature = tree.args
        known = {n: a.value for n, a in self.closure.defaults.items() if isinstance(a, Const)}
        self.constants |= {f"{n}_default": value for n, value in known.items()}
        names = [a.arg for a in (*signature.posonlyargs, *signature.args)]
        last = itertools.takewhile(known.__contains__, reversed(names))
        signature.defaults = [ast.Name(f"{n}_default", ast.Load()) for n in reversed([*last])]
        more = [a.arg for a in signature.kwonlyargs]
        if not (signature.vararg or signature.defaults or more):
            signature.args += [ast.arg(n) for n in self.captured]
        else:  # they are given by name
            signature.kwonlyargs += [ast.arg(n) for n in self.captured]
            more += self.captured
        signature.kw_defaults = [ast.Name(f"{n}_default", ast.Load()) if n in known else None for n in more]
        statements = tree.body if isinstance(tree.body, list) else [ast.Return(tree.body)]
        function = ast.FunctionDef(name, signature, [*self.inside, *written(statements)], [], None, None)
        module = ast.fix_missing_locations(ast.Module([function], []))
        outermost = self.home
        while outermost.outer is not None:
            outermost = outermost.outer
        return define(ast.unparse(module), f"nested {name}", outermost.scope, self.constants)[name]
