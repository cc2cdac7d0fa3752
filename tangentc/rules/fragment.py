"""Running a rule's formula while compiling: each operation of the formula becomes a statement.

    def tanh(x, y): return 1 - y ** 2      ->      %power = y ** 2
                                                   %difference = 1 - %power

What is known when compiling (a rank, an option, whether an argument is a number in the text) is worked
out; a choice that depends on what is not known is left to the formula itself, which is a Python
function and can be called by the emitted code.
"""

from __future__ import annotations

import ast
import math
import operator
from typing import Any

import numpy as np

from tangentc.core import ops
from tangentc.core.build import Builder, is_number
from tangentc.core.lengths import EXACT, Length
from tangentc.core.nodes import Atom, Const, For
from tangentc.core.types import (
    Array,
    Known,
    Optional,
    Scalar,
    Sequence,
    Tuple,
    Type,
    Unknown,
    components,
    is_complex,
    is_container,
    rank,
)
from tangentc.errors import BadArgument, BadRule, TangentcError
from tangentc.rules.registry import Formula

BINARY = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.MatMult: operator.matmul,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
}  # fmt: skip
UNARY = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_, ast.Invert: operator.invert}
COMPARE = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
    ast.NotEq: operator.ne, ast.Is: operator.is_, ast.IsNot: operator.is_not, ast.In: ops.contains,
    ast.NotIn: ops.not_contains,
}  # fmt: skip


class Undecided(Exception):
    """The formula chooses by something that is not known when compiling."""


def is_literal(x: Any) -> bool:
    """In a formula: whether an argument is a number written in the program."""
    return isinstance(x, (int, float)) and not isinstance(x, bool)


def is_integer(x: Any) -> bool:
    """In a formula: whether a value is known to be an integer, so that no derivative is taken in it."""
    return isinstance(x, int)


def is_real(x: Any) -> bool:
    """In a formula: whether a value is real, so that conjugating it does nothing."""
    return not np.iscomplexobj(x)


def is_zero(x_bar: Any) -> bool:
    """In a formula: whether an adjoint is known to be zero, since nothing comes from that part of a result."""
    return False


def is_alone(x: Any, axis: Any) -> bool:
    """In a formula: whether the axes that are reduced are known to be of length one."""
    shape = np.shape(x)
    axes = range(len(shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return all(shape[k] == 1 for k in axes)


def has_length(x: Any, axis: int, length: int) -> bool:
    """In a formula: whether an axis is known to have so many entries."""
    return bool(np.shape(x)[axis] == length)


def is_square(x: Any) -> bool:
    """In a formula: whether an array is known to have as many rows as columns."""
    return bool(np.shape(x)[0] == np.shape(x)[1])


def is_changed(x: Any) -> bool:
    """In a formula: whether an array is stored into anywhere in the program."""
    return False


def inline(function: Any) -> Any:
    """A helper of formulas whose own body is worked out like theirs."""
    function.__tangentc_inline__ = Formula(function)
    return function


class Value:
    """An atom of the program inside a formula."""

    __slots__ = ("atom",)

    def __init__(self, atom: Atom):
        self.atom = atom


class Fragment:
    """Runs one formula.  ``prefer_math`` makes ``np.cos`` ``math.cos`` where the primal used `math`."""

    def __init__(self, builder: Builder, formula: Formula, prefer_math: bool = False):
        self.b, self.formula, self.prefer_math = builder, formula, prefer_math

    def run(self, arguments: dict[str, Any], index: int | None = None, count: int = 1) -> Any:
        """What the formula returns: `Value`s, plain values, or tuples and lists of them.

        With ``index``, the part of the returned tuple for one argument of ``count``; only the lines that it needs
        are run.  Raises `Undecided` where the formula chooses by something unknown.
        """
        self.count = count
        given = {name: self._module_number(arguments[name]) for name, _ in self.formula.options if name in arguments}
        try:
            return self._body({**arguments, **given}, index)
        except (Undecided, TangentcError):
            raise
        except Exception as error:
            raise BadRule(
                f"the rule {self.formula.name} cannot be used",
                why=f"running its formula gave {type(error).__name__}: {error}",
                way_out="write it with arithmetic, NumPy functions, and choices about ranks and options",
            ) from error

    def _module_number(self, value: Any) -> Any:
        """The number that an option written as ``np.inf`` or ``-np.inf`` stands for."""
        made = None
        if isinstance(value, Value) and isinstance(value.atom, str):
            made = self.b.definition(value.atom) or self.b.primal.get(value.atom)
        number = None
        if made is not None and made.op is operator.neg:
            positive = self._module_number(Value(made.args[0]))
            number = -positive if is_literal(positive) else None
        elif made is not None and made.op is getattr and isinstance(made.args[0], Const):
            number = getattr(made.args[0].value, made.args[1].value, None)  # type: ignore[union-attr]
        return number if is_literal(number) else value

    # ---------------------------------------------------------- statements
    def _body(self, env: dict[str, Any], index: int | None) -> Any:
        todo = list(self.formula.body)
        while todo:
            statement = todo.pop(0)
            match statement:
                case ast.Expr(value=ast.Constant()):
                    continue
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    env[name] = self.eval(value, env) if name in env else _Later(value)
                case ast.If(test=test, body=body, orelse=orelse):
                    todo = [*(body if self._static(self.eval(test, env)) else orelse), *todo]
                case ast.Return(value=ast.Tuple(elts=elts)) if index is not None:
                    self._refuse_count(len(elts), statement)
                    return self.eval(elts[index], env)
                case ast.Return(value=ast.expr() as value):
                    result = self.eval(value, env)
                    if index is None or result is None:
                        return result
                    self._refuse_count(len(result) if isinstance(result, tuple) else 1, statement)
                    return result[index] if isinstance(result, tuple) else result
                case _:
                    raise BadRule(
                        f"the rule {self.formula.name} cannot be read",
                        why=f"`{ast.unparse(statement).splitlines()[0]}` is not an assignment, an if or a return",
                        way_out="write it with arithmetic, NumPy functions, and choices about ranks and options",
                    )
        raise BadRule(f"the rule {self.formula.name} does not return anything", way_out="end it with a return")

    def _refuse_count(self, given: int, statement: ast.stmt) -> None:
        """Refuse a rule that does not return as many values as its function has arguments."""
        if given != self.count:
            raise BadRule(
                f"the rule {self.formula.name} returns {given} value{'s' * (given != 1)} for {self.count} arguments",
                self.formula.span(statement), why="each argument has one of its own",
                way_out="return a tuple of them, with None where there is none",
            )  # fmt: skip

    def _static(self, value: Any) -> Any:
        if isinstance(value, Value):
            raise Undecided
        return value

    # ---------------------------------------------------------- expressions
    def eval(self, node: ast.expr, env: dict[str, Any]) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self._name(name, env)
            case ast.BinOp(left=left, op=op, right=right):
                return self.apply(BINARY[type(op)], [self.eval(left, env), self.eval(right, env)])
            case ast.UnaryOp(op=op, operand=operand):
                return self.apply(UNARY[type(op)], [self.eval(operand, env)])
            case ast.BoolOp(op=op, values=values):
                return self._first(op, values, env)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._compared(op, self.eval(left, env), self.eval(right, env))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.eval(body if self._static(self.eval(test, env)) else orelse, env)
            case ast.Attribute(value=value, attr=attr):
                return self._attribute(self.eval(value, env), attr)
            case ast.Call():
                return self._call(node, env)
            case ast.Subscript(value=value, slice=key):
                return self.apply(operator.getitem, [self.eval(value, env), self.eval(key, env)])
            case ast.Slice(lower=lower, upper=upper, step=step):
                return self.apply(slice, [None if b is None else self.eval(b, env) for b in (lower, upper, step)])
            case ast.Tuple(elts=elts):
                return tuple(self.eval(e, env) for e in elts)
            case ast.List(elts=elts):
                return [self.eval(e, env) for e in elts]
            case ast.ListComp(generators=[generator], elt=elt):
                whole = self._of_unknown_length(generator.iter, env)
                if whole is not None:
                    return self._loop(whole, generator, elt, env)
                items = self._items(self.eval(generator.iter, env))
                return [self.eval(elt, {**env, **_bound(generator.target, item)}) for item in items]
        raise BadRule(
            f"the rule {self.formula.name} cannot be read",
            why=f"`{ast.unparse(node)}` is outside the notation of rules",
        )

    def _first(self, op: ast.boolop, values: list[ast.expr], env: dict[str, Any]) -> Any:
        """``a and b``, ``a or b``: the first that decides."""
        result: Any = None
        for value in values:
            result = self._static(self.eval(value, env))
            if bool(result) is isinstance(op, ast.Or):
                break
        return result

    def _compared(self, op: ast.cmpop, a: Any, b: Any) -> Any:
        if not isinstance(op, (ast.Is, ast.IsNot)) or not (isinstance(a, Value) or isinstance(b, Value)):
            return self.apply(COMPARE[type(op)], [a, b])
        t = self.b.type(a.atom) if isinstance(a, Value) else None
        if isinstance(t, (Unknown, Optional)):
            raise Undecided
        return (t.value is b) is isinstance(op, ast.Is) if isinstance(t, Known) else isinstance(op, ast.IsNot)

    def _of_unknown_length(self, node: ast.expr, env: dict[str, Any]) -> Value | None:
        """The list that a comprehension runs over, if it is not known how long it is."""
        inner = node.args[0] if isinstance(node, ast.Call) else node
        value = self.eval(inner, env) if isinstance(inner, ast.Name) else None
        t = self.b.type(value.atom) if isinstance(value, Value) else None
        return value if isinstance(t, Sequence) and (t.length is None or t.length > 16) else None

    def _loop(self, whole: Value, generator: ast.comprehension, elt: ast.expr, env: dict[str, Any]) -> Value:
        """A comprehension as a loop of the emitted code."""
        items = self.b.emit(ops.make_list, (), name="%items_bar")
        trips = self.b.emit(range, (self.b.emit(len, (whole.atom,)),))
        index = self.b.fresh("%k")
        self.b.types.of_name[index] = Scalar("int64", True)
        assert isinstance(items, str)
        counted = isinstance(generator.iter, ast.Call)  # enumerate
        with self.b.loop_body(set()) as body:
            item = _Item(self.b, whole.atom, index)
            bound = _bound(generator.target, (Value(index), item) if counted else item)
            value = self.atom(self.eval(elt, {**env, **bound}))
            self.b.effect(ops.append, (items, value))
            inner = tuple(body)
        self.b.out.append(For(index, trips, inner, (), self.b.span))
        self.b.types.of_name[items] = Sequence(list, (self.b.type(value),), None)
        return Value(items)

    def _name(self, name: str, env: dict[str, Any]) -> Any:
        if name in env:
            value = env[name]
            if isinstance(value, _Later):
                value = env[name] = self.eval(value.node, env)
            return value
        try:
            return self.formula.lookup(name)
        except AttributeError:
            raise BadRule(
                f"the rule {self.formula.name} uses the name {name}, which means nothing where the rule stands",
                way_out="import it, or define it above the rule",
            ) from None

    def _attribute(self, value: Any, attr: str) -> Any:
        if not isinstance(value, Value):
            return getattr(value, attr)
        if attr == "ndim":
            return self._rank(value)
        if attr == "T":
            return Value(self.b.emit(np.transpose, (value.atom,)))
        return Value(self.b.emit(getattr, (value.atom, Const(attr))))

    def _items(self, value: Any) -> Any:
        """What iterating over a value of the formula gives: the parts of a container are told apart."""
        if not isinstance(value, Value):
            return value
        t = self.b.type(value.atom)
        parts = list(components(t))
        if not is_container(t) or _of_any_length(t) or any(k != i for i, (k, _) in enumerate(parts)):
            raise Undecided
        return [0.0 if _is_none(t) else Value(self.b.emit(operator.getitem, (value.atom, Const(k)))) for k, t in parts]

    def _rank(self, value: Any) -> int:
        known = rank(self.b.type(value.atom)) if isinstance(value, Value) else np.ndim(value)
        if known is None:
            raise Undecided
        return known

    def _call(self, node: ast.Call, env: dict[str, Any]) -> Any:
        args: list[Any] = []
        for a in node.args:
            if isinstance(a, ast.Starred):
                args.extend(self._items(self.eval(a.value, env)))
            else:
                args.append(self.eval(a, env))
        keywords = {k.arg: self.eval(k.value, env) for k in node.keywords if k.arg is not None}
        if isinstance(node.func, ast.Attribute):
            receiver = self.eval(node.func.value, env)
            if isinstance(receiver, Value):
                return Value(self.b.emit(_method(node.func.attr), *self._atoms([receiver, *args], keywords)))
            function = getattr(receiver, node.func.attr)
        else:
            function = self.eval(node.func, env)
        if function in (is_literal, is_integer, is_changed, is_real, is_zero):
            return self._asked(function, args[0])
        if function is np.ndim:
            return self._rank(args[0])
        if function is isinstance and isinstance(args[0], Value) and args[1] in (int, tuple):
            t = self.b.type(args[0].atom)
            if isinstance(t, Unknown):
                raise Undecided
            integer = isinstance(t, Scalar) and np.dtype(t.dtype).kind == "i"
            return integer if args[1] is int else isinstance(t, Tuple)
        if function is is_square:
            whole = self.b.type(args[0].atom) if isinstance(args[0], Value) else None
            return isinstance(whole, Array) and len(whole.shape) == 2 and whole.shape[0] == whole.shape[1]
        if function in (is_alone, has_length):
            if any(map(_dynamic, args[1:])):
                return False
            one = self.b.type(args[0].atom) if isinstance(args[0], Value) else None
            if not isinstance(one, (Array, Scalar)):
                return False
            shape = [d if isinstance(d, int) else EXACT for d in one.shape] if isinstance(one, Array) else []
            if function is has_length and isinstance(d := one.shape[args[1]], Length) and 0 < d.least <= args[2]:
                raise BadArgument(f"a length may be {args[2]}", why="a formula asks for it", way_out="give another")
            return function(np.broadcast_to(0.0, shape), *args[1:])
        if (helper := getattr(function, "__tangentc_inline__", None)) is not None:
            names = [*helper.required, *(k for k, _ in helper.options)]
            bound = {**dict(helper.options), **dict(zip(names, args)), **keywords}
            return Fragment(self.b, helper, self.prefer_math).run(bound)
        return self.apply(function, args, keywords)

    def _asked(self, question: Any, x: Any) -> Any:
        """What a formula asks of a value before it is there."""
        if not isinstance(x, Value) or question is is_literal:
            return question not in (is_changed, is_zero) and question(x)
        t = self.b.type(x.atom)
        if question is is_changed:
            return self.b.mutable(x.atom)
        if question is is_zero:
            made = None if self.b.mutable(x.atom) else self.b.definition(x.atom)
            return is_number(x.atom, 0) or made is not None and made.op is np.zeros_like
        if question is is_integer:
            return isinstance(t, Scalar) and np.dtype(t.dtype).kind == "i"
        if isinstance(t, Unknown):
            raise Undecided
        return not is_complex(t)

    def apply(self, op: Any, args: list[Any], keywords: dict[str, Any] | None = None) -> Any:
        keywords = keywords or {}
        if not any(map(_dynamic, [*args, *keywords.values()])):
            if op is operator.truediv and args[0] == 1:  # so that `x / 3` has the adjoint `y_bar / 3`
                return Value(self.b.emit(op, (Const(args[0]), Const(args[1]))))
            return op(*args, **keywords)
        if op is operator.getitem and isinstance(args[0], (list, tuple)) and not _dynamic(args[1]):
            return args[0][args[1]]
        if op is operator.getitem and isinstance(args[0], Value) and isinstance(args[1], int):
            made = self.b.definition(args[0].atom)
            if made is not None and made.op is ops.make_tuple:  # the adjoints of several results
                return Value(made.args[args[1]])
        if op in (len, enumerate):
            given = self.b.type(args[0].atom) if isinstance(args[0], Value) else None
            if given is not None and is_container(given) and not (op is len and _of_any_length(given)):
                args[0] = self._items(args[0])
            if isinstance(args[0], (list, tuple)):
                return op(args[0]) if op is len else [list(pair) for pair in enumerate(args[0])]
        atoms, named = self._atoms(args, keywords)
        if op is np.where and all(isinstance(self.b.type(a), Scalar) for a in atoms):
            op = ops.select
        if self.prefer_math and hasattr(math, getattr(op, "__name__", "")) and isinstance(op, np.ufunc):
            op = getattr(math, op.__name__)
        return Value(self.b.emit(op, atoms, named))

    def _atoms(
        self, args: list[Any], keywords: dict[str, Any]
    ) -> tuple[tuple[Atom, ...], tuple[tuple[str, Atom], ...]]:
        return tuple(map(self.atom, args)), tuple((k, self.atom(v)) for k, v in keywords.items())

    def atom(self, value: Any) -> Atom:
        """The atom for a value of the formula; lists and tuples of atoms are written out."""
        if isinstance(value, Value):
            return value.atom
        if isinstance(value, (tuple, list)) and _dynamic(value):
            make = ops.make_tuple if isinstance(value, tuple) else ops.make_list
            return self.b.emit(make, tuple(map(self.atom, value)))
        plain = isinstance(value, np.float64) and value  # zero divides otherwise
        return Const(float(value) if plain else value)


def _bound(target: ast.expr, item: Any) -> dict[str, Any]:
    if isinstance(target, ast.Tuple):
        return {k: v for t, part in zip(target.elts, item) for k, v in _bound(t, part).items()}
    assert isinstance(target, ast.Name)
    return {target.id: item}


class _Item(Value):
    """An item of a list, taken where the formula uses it."""

    __slots__ = ("builder", "whole", "index")

    def __init__(self, builder: Builder, whole: Atom, index: Atom):
        self.builder, self.whole, self.index = builder, whole, index

    @property
    def atom(self) -> Atom:  # type: ignore[override]
        return self.builder.emit(operator.getitem, (self.whole, self.index))


def _is_none(t: Any) -> bool:
    """Whether a part is None, as the tangent of an item that cannot move is."""
    return isinstance(t, Known) and t.value is None


class _Later:
    """A line of the formula that is worked out when something reads it."""

    __slots__ = ("node",)

    def __init__(self, node: ast.expr):
        self.node = node


def _dynamic(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(_dynamic, value))
    if isinstance(value, slice):
        return any(map(_dynamic, (value.start, value.stop, value.step)))
    return isinstance(value, Value)


def _method(name: str) -> Any:
    function = getattr(np, name, None)
    if function is None:
        raise BadRule(f"a rule calls the method {name}", way_out=f"call it as a function: np.{name}(...)")
    return function


def binding(value: Atom | None) -> Any:
    """An atom as a formula sees it: a constant is its value, and the tangent of what cannot move is zero."""
    if value is None:
        return 0.0
    if isinstance(value, Const):
        return value.value
    return Value(value)


def _of_any_length(t: Type) -> bool:
    """Whether a list holds as many items as the program puts into it."""
    return isinstance(t, Sequence) and t.length is None
