"""Operations of core form as expressions of Python: one function under `spells` for each that has syntax of its own."""

from __future__ import annotations

import ast
import builtins
import enum
import inspect
import operator
import types as pytypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tangentc import runtime
from tangentc.core import ops
from tangentc.core.build import is_default
from tangentc.core.nodes import Assign, Atom, Const, Global, If
from tangentc.core.types import Array, Dict, Scalar, Sequence, Type, is_narrow
from tangentc.ops.table import known_of

BINARY = {
    operator.add: ast.Add, operator.sub: ast.Sub, operator.mul: ast.Mult, operator.truediv: ast.Div,
    operator.floordiv: ast.FloorDiv, operator.mod: ast.Mod, operator.pow: ast.Pow, operator.matmul: ast.MatMult,
    operator.and_: ast.BitAnd, operator.or_: ast.BitOr, operator.xor: ast.BitXor, operator.lshift: ast.LShift,
    operator.rshift: ast.RShift,
}  # fmt: skip
UNARY = {operator.neg: ast.USub, operator.pos: ast.UAdd, operator.not_: ast.Not, operator.invert: ast.Invert}
COMPARE = {
    operator.lt: ast.Lt, operator.le: ast.LtE, operator.gt: ast.Gt, operator.ge: ast.GtE, operator.eq: ast.Eq,
    operator.ne: ast.NotEq, operator.is_: ast.Is, operator.is_not: ast.IsNot, ops.contains: ast.In,
    ops.not_contains: ast.NotIn,
}  # fmt: skip
METHODS = {
    ops.pop: "pop", ops.append: "append", ops.push: "append", ops.take: "pop", ops.insert: "insert",
    ops.reverse: "reverse", ops.item: "item", ops.enter: "__enter__",
}  # fmt: skip
POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
SWITCHES = (Const(None), Const(False), Const(True))  # which an option that is not said may stand for
Args = tuple[Atom, ...]
Keywords = tuple[tuple[str, Atom], ...]


@dataclass
class Written:
    """An operation that is to be written."""

    op: Any
    args: Args
    keywords: Keywords


Spell = Callable[[Any, Written], ast.expr | None]
SPELLINGS: dict[Any, Spell] = {}


def spells(*operations: Any) -> Callable[[Spell], Spell]:
    """What these operations are written as, by the decorated function; None for a plain call."""

    def write(spell: Spell) -> Spell:
        SPELLINGS.update(dict.fromkeys(operations, spell))
        return spell

    return write


class Expressions:
    """What atoms and operations are written as."""

    folding: Any
    types: Any
    spelling: Any
    name: Any

    def atom(self, atom: Atom) -> ast.expr:
        if isinstance(atom, Global):
            return ast.Name(self.spelling.data.get(atom, atom.name))
        if isinstance(atom, Const):
            return self.constant(atom.value)
        if atom in self.folding.folded:
            made = self.folding.made[atom]
            return self.conditional(made) if isinstance(made, If) else self.operation(made)
        return ast.Name(self.name(atom))

    def constant(self, value: Any) -> ast.expr:
        if isinstance(value, enum.Enum):  # which may be a text or a number as well
            return self.reference(value)
        if isinstance(value, bool) or value is None or value is Ellipsis or isinstance(value, (str, bytes)):
            return ast.Constant(value)
        if isinstance(value, np.floating):  # with the digits that tell it from its neighbours
            return ast.Call(self.reference(type(value)), [self.constant(float(str(value)))], [])
        if isinstance(value, np.generic):
            return ast.Call(self.reference(type(value)), [self.constant(value.item())], [])
        if isinstance(value, (int, float, complex)):
            return self.number(value)
        if isinstance(value, tuple):
            return ast.Tuple([self.constant(v) for v in value])
        if isinstance(value, list):
            return ast.List([self.constant(v) for v in value])
        if isinstance(value, slice):
            parts = [None if v is None else self.constant(v) for v in (value.start, value.stop, value.step)]
            return ast.Call(ast.Name("slice"), [p or ast.Constant(None) for p in parts], [])
        return self.reference(value)

    def number(self, value: Any) -> ast.expr:
        if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
            text = "nan" if value != value else "inf"
            node: ast.expr = ast.Attribute(ast.Name(self.spelling.numpy_name()), text)
            return ast.UnaryOp(ast.USub(), node) if value == float("-inf") else node
        if isinstance(value, complex):
            if value.real:
                return ast.BinOp(self.number(value.real), ast.Add(), self.number(complex(0, value.imag)))
            constant = ast.Constant(complex(0, abs(value.imag)))
            return ast.UnaryOp(ast.USub(), constant) if value.imag < 0 else constant
        if str(value).startswith("-"):
            return ast.UnaryOp(ast.USub(), ast.Constant(-value))
        return ast.Constant(value)

    def reference(self, value: Any) -> ast.expr:
        if isinstance(value, ops.UserFunction | ops.Hook):
            value = value.function
        if isinstance(value, ops.Emitted):
            return ast.Name(self.spelling.same.get(value.__name__, value.__name__))
        if ops.is_made_inside(value):  # a function made while the program runs: its calls are written out, and it
            return ast.Constant(self.spelling.word(value))
        name, *attributes = self.spelling.object(value).split(".")
        made: ast.expr = ast.Name(name)
        for attribute in attributes:
            made = ast.Attribute(made, attribute)
        return made

    def key(self, atom: Atom) -> ast.expr:
        """A subscript: slices in their own syntax."""
        if isinstance(atom, Const):
            return self._key_constant(atom.value)
        made = self.folding.made.get(atom) if isinstance(atom, str) and atom in self.folding.folded else None
        if isinstance(made, Assign) and made.op is slice:
            bounds = made.args if len(made.args) > 1 else (Const(None), *made.args)
            return ast.Slice(*(None if a == Const(None) else self.atom(a) for a in bounds))
        if isinstance(made, Assign) and made.op is ops.make_tuple and made.args:
            return ast.Tuple([self.key(a) for a in made.args])
        return self.atom(atom)

    def _key_constant(self, value: Any) -> ast.expr:
        if isinstance(value, slice):
            parts = [None if v is None else self.constant(v) for v in (value.start, value.stop, value.step)]
            return ast.Slice(*parts)
        if isinstance(value, tuple) and value:
            return ast.Tuple([self._key_constant(v) for v in value])
        return self.constant(value)

    def operation(self, s: Assign) -> ast.expr:
        return self.call(s.op, s.args, s.keywords)

    def call(self, op: Any, args: Args, keywords: Keywords) -> ast.expr:
        spelling = self.spelling_of(op, args, keywords)
        if spelling is not None:
            return spelling
        if isinstance(op, ops.Launch):
            return self.launch(op, args)
        args, keywords = _without_defaults(op, args, keywords)
        named = [ast.keyword(k, self.atom(v)) for k, v in keywords]
        return ast.Call(self.reference(op), self.atoms(args), named)

    def launch(self, op: ops.Launch, args: Args) -> ast.expr:
        """``launch(kernel, trips, given, how many of them it writes into)``."""
        helper = runtime.launch_rows if op.rows else runtime.launch
        given, trips = self.atoms(args[: op.given]), self.atoms(args[op.given :])
        return ast.Call(
            self.reference(helper),
            [self.reference(op), ast.Tuple(trips), ast.Tuple(given), ast.Constant(len(op.changes))], [],
        )  # fmt: skip

    def atoms(self, args: Args) -> list[ast.expr]:
        return [self.atom(a) for a in args]

    def spelling_of(self, op: Any, args: Args, keywords: Keywords) -> ast.expr | None:
        """What an operation is written as that has syntax of its own, or is an attribute or a method of what comes
        first; None for a plain call."""
        if op in BINARY and not keywords:
            return self.binary(op, *args)
        if op in UNARY:
            return self.unary(op, args[0])
        if op in COMPARE:
            return ast.Compare(self.atom(args[0]), [COMPARE[op]()], [self.atom(args[1])])
        if op in METHODS:
            return self.method(args[0], METHODS[op], args[1:])
        if isinstance(op, ops.augmented):
            in_place = getattr(operator, "i" + op.op.__name__.strip("_"))
            return ast.Call(self.reference(in_place), self.atoms(args), [])
        spell = SPELLINGS.get(op)
        return None if spell is None else spell(self, Written(op, args, keywords))

    def method(self, subject: Atom, name: str, args: Args = (), keywords: Keywords = ()) -> ast.Call:
        named = [ast.keyword(k, self.atom(v)) for k, v in keywords]
        return ast.Call(ast.Attribute(self.atom(subject), name), self.atoms(args), named)

    def folded(self, atom: Atom) -> Any:
        """The operation that is written where its result is read."""
        return self.folding.made.get(atom) if isinstance(atom, str) and atom in self.folding.folded else None

    def binary(self, op: Any, first: Atom, right: Atom) -> ast.expr:
        made = self.folded(right)
        if op is operator.add and isinstance(made, Assign) and made.op is operator.neg:
            return ast.BinOp(self.atom(first), ast.Sub(), self.atom(made.args[0]))
        of_product = isinstance(made, Assign) and made.op is operator.mul and not is_narrow(self.first_factor(right))
        if op is operator.mul and first == Const(2) and of_product:
            product = self.operation(made)
            assert isinstance(product, ast.BinOp)
            inner = product
            while isinstance(inner.left, ast.BinOp) and isinstance(inner.left.op, ast.Mult):
                inner = inner.left
            inner.left = ast.BinOp(ast.Constant(2), ast.Mult(), inner.left)  # twice is exact in any order
            return product
        return ast.BinOp(self.atom(first), BINARY[op](), self.atom(right))

    def unary(self, op: Any, atom: Atom) -> ast.expr:
        operand = self.atom(atom)
        is_product = isinstance(operand, ast.BinOp) and isinstance(operand.op, (ast.Mult, ast.Div))
        if op is not operator.neg or not is_product or not self.may_be_negated(self.first_factor(atom)):
            return ast.UnaryOp(UNARY[op](), operand)
        left: Any = operand  # -a * b, not -(a * b)
        while isinstance(left.left, ast.BinOp) and isinstance(left.left.op, (ast.Mult, ast.Div)):
            left = left.left
        left.left = ast.UnaryOp(ast.USub(), left.left)
        return operand

    def first_factor(self, atom: Atom) -> Any:
        """The type of the first factor of a product."""
        while isinstance(atom, str) and atom in self.folding.folded:
            made = self.folding.made[atom]
            if not isinstance(made, Assign) or made.op not in (operator.mul, operator.truediv):
                break
            atom = made.args[0]
        return self.types.of(atom)

    def may_be_negated(self, t: Any) -> bool:
        """Whether a first factor may be negated in place of the product: no test, and no integer that wraps around."""
        return isinstance(t, (Array, Scalar)) and t.dtype != "bool" and not is_narrow(t)

    def old_item(self, container: Atom, key: Atom) -> ast.expr:
        t = self.types.of(container)
        if isinstance(key, Const) and isinstance(key.value, ops.Attribute):
            args = [self.atom(container), ast.Constant(str(key.value)), ast.Constant(None)]
            return ast.Call(ast.Name("getattr"), args, [])
        if isinstance(t, Dict) or isinstance(t, Sequence) and t.kind is dict:
            return ast.Call(ast.Attribute(self.atom(container), "get"), [self.atom(key)], [])
        return ast.Subscript(self.atom(container), self.key(key))

    def conditional(self, s: If) -> ast.expr:
        m = s.merged[0]
        test = self.atom(s.test)
        if m.orelse == s.test and not s.orelse:
            return _joined(ast.And(), test, self.atom(m.then))
        if m.then == s.test and not s.then:
            return _joined(ast.Or(), test, self.atom(m.orelse))
        return ast.IfExp(test, self.atom(m.then), self.atom(m.orelse))


def _joined(op: ast.boolop, left: ast.expr, right: ast.expr) -> ast.expr:
    if isinstance(left, ast.BoolOp) and type(left.op) is type(op):
        return ast.BoolOp(op, [*left.values, right])
    return ast.BoolOp(op, [left, right])


# ------------------------------------------------------------------ operations with syntax of their own
def _without_defaults(op: Any, args: Args, keywords: Keywords) -> tuple[Args, Keywords]:
    """The arguments of a call without those that say what holds anyway: ``axis=None, keepdims=False``."""
    signature = known_of(op).signature
    names = [p.name for p in signature.parameters.values() if p.kind in POSITIONAL] if signature is not None else []
    count = len(args)
    while 1 < count <= len(names) and args[count - 1] in SWITCHES and is_default(op, names[count - 1], args[count - 1]):
        count -= 1
    return args[:count], tuple((k, v) for k, v in keywords if v not in SWITCHES or not is_default(op, k, v))


@spells(operator.getitem)
def _subscript(to: Any, s: Written) -> ast.expr:
    return ast.Subscript(to.atom(s.args[0]), to.key(s.args[1]))


@spells(builtins.getattr)
def _attribute(to: Any, s: Written) -> ast.expr | None:
    if not isinstance(s.args[1], Const) or isinstance(s.args[0], Const) and isinstance(s.args[0].value, int):
        return None  # `0.x` is no text of Python's
    return ast.Attribute(to.atom(s.args[0]), s.args[1].value)


@spells(ops.identity, ops.inserted, ops.spread)
def _itself(to: Any, s: Written) -> ast.expr:
    return to.atom(s.args[0])


@spells(ops.in_order)
def _in_order(to: Any, s: Written) -> ast.expr:
    return ast.Call(to.reference(np.ascontiguousarray), to.atoms(s.args), [])


@spells(ops.stopped)
def _stopped(to: Any, s: Written) -> ast.expr | None:
    return None if to.spelling.inner else to.atom(s.args[0])


@spells(ops.make_tuple)
def _tuple(to: Any, s: Written) -> ast.expr:
    return ast.Tuple(to.atoms(s.args))


@spells(ops.make_list, ops.new_list)
def _list(to: Any, s: Written) -> ast.expr:
    return ast.List(to.atoms(s.args))


@spells(ops.make_dict)
def _dict(to: Any, s: Written) -> ast.expr:
    keys, *values = s.args
    return ast.Dict([to.constant(k) for k in keys.value], to.atoms(tuple(values)))  # type: ignore[union-attr]


@spells(builtins.set)
def _set(to: Any, s: Written) -> ast.expr | None:
    items = to.atom(s.args[0]) if len(s.args) == 1 else None
    return ast.Set(items.elts) if isinstance(items, ast.List) and items.elts else None


@spells(ops.make_struct)
def _struct(to: Any, s: Written) -> ast.expr:
    cls, fields = (a.value for a in s.args[:2])  # type: ignore[union-attr]
    pairs = [ast.keyword(f, to.atom(a)) for f, a in zip(fields, s.args[2:], strict=True)]
    held = issubclass(cls, pytypes.SimpleNamespace)
    if not held and not ops.is_put_together(cls, fields):
        return ast.Call(to.reference(runtime.struct), [to.reference(cls)], pairs)
    return ast.Call(to.reference(pytypes.SimpleNamespace if held else cls), [], pairs)


@spells(ops.new_object)
def _object(to: Any, s: Written) -> ast.expr:
    return ast.Call(ast.Attribute(ast.Name("object"), "__new__"), to.atoms(s.args[:1]), [])


@spells(ops.select)
def _select(to: Any, s: Written) -> ast.expr:
    return ast.IfExp(*to.atoms(s.args))


@spells(ops.copied)
def _copied(to: Any, s: Written) -> ast.expr:
    options = [ast.keyword("views", to.atom(a)) for a in s.args[1:]]
    if unseen := sorted(_unseen(to.types.of(s.args[0]))):
        options.append(ast.keyword("leave", ast.Tuple([ast.Constant(name) for name in unseen], ast.Load())))
    return ast.Call(to.reference(runtime.copied), to.atoms(s.args[:1]), options)


def _unseen(t: Type) -> set[str]:
    """The attributes of an object, and of those in it, that no text has a name for."""
    return set(getattr(t, "unseen", ())).union(*(_unseen(item) for item in getattr(t, "items", ())))


@spells(ops.old_item)
def _old_item(to: Any, s: Written) -> ast.expr:
    return to.old_item(*s.args)  # type: ignore[no-any-return]


@spells(ops.leave)
def _leave(to: Any, s: Written) -> ast.expr:
    return ast.Call(ast.Attribute(to.atom(s.args[0]), "__exit__"), [ast.Constant(None)] * 3, [])


@spells(ops.call)
def _call(to: Any, s: Written) -> ast.expr:
    callee, *args = to.atoms(s.args)
    return ast.Call(callee, args, [ast.keyword(k, to.atom(v)) for k, v in s.keywords])


@spells(ops.method)
def _method(to: Any, s: Written) -> ast.expr:
    return to.method(s.args[0], s.args[1].value, s.args[2:], s.keywords)  # type: ignore[no-any-return,union-attr]


@spells(ops.items_from)
def _items_from(to: Any, s: Written) -> ast.expr:
    start, stop = (a.value or None for a in s.args[1:])  # type: ignore[union-attr]
    whole = ast.Call(ast.Name("list"), to.atoms(s.args[:1]), [])
    bounds = [None if b is None else to.number(b) for b in (start, stop)]
    return ast.Subscript(whole, ast.Slice(*bounds)) if any(bounds) else whole


@spells(np.copy, np.transpose, np.size, np.shape)
def _of_array(to: Any, s: Written) -> ast.expr | None:
    """``x.copy()``, ``x.T``, ``x.size`` and ``x.shape`` of what is surely an array."""
    if s.op is np.copy and s.keywords == (("order", Const("K")),):  # which it is anyhow, unlike in the method
        return ast.Call(to.reference(np.copy), to.atoms(s.args), [])
    t = to.types.of(s.args[0]) if len(s.args) == 1 and not s.keywords and isinstance(s.args[0], str) else None
    if not isinstance(t, Array) or t.or_number:
        return None
    if s.op is np.copy:
        return to.method(s.args[0], "copy")  # type: ignore[no-any-return]
    return ast.Attribute(to.atom(s.args[0]), "T" if s.op is np.transpose else s.op.__name__)


@spells(getattr(np, "astype", None))
def _astype(to: Any, s: Written) -> ast.expr | None:
    """``x.astype(int)``, which all versions of NumPy have."""
    t = to.types.of(s.args[0]) if len(s.args) == 2 and not s.keywords and isinstance(s.args[0], str) else None
    if not isinstance(t, Array) or t.or_number:
        return None
    return to.method(s.args[0], "astype", s.args[1:])  # type: ignore[no-any-return]


def negated(test: ast.expr) -> ast.expr:
    """``not test``."""
    opposite = {ast.Is: ast.IsNot, ast.In: ast.NotIn, ast.Eq: ast.NotEq}  # of `<` it is none where one is no number
    opposite |= {other: op for op, other in opposite.items()}
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in opposite:
        return ast.Compare(test.left, [opposite[type(test.ops[0])]()], test.comparators)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    return ast.UnaryOp(ast.Not(), test)
