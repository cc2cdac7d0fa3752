"""Expressions of Python as atoms: one method for each kind."""

from __future__ import annotations

import ast
import builtins
import functools
import itertools
import operator
import types
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from tangentc.core import ops
from tangentc.core.classes import cached_as, fields_of, found_in_class, own_data
from tangentc.core.nodes import Assign, Atom, Const, Global, If, Opaque, Place, Store
from tangentc.core.types import (
    Array,
    Either,
    Known,
    Scalar,
    Sequence,
    Struct,
    Tuple,
    Type,
    is_differentiable,
    is_numeric,
)
from tangentc.core.values import data_type
from tangentc.errors import UnsupportedSyntax
from tangentc.frontend import fence, prelude
from tangentc.frontend.activation import Activation, Closure
from tangentc.frontend.asked import as_written
from tangentc.frontend.callables import is_library_module
from tangentc.frontend.part import Part
from tangentc.frontend.questions import function_in
from tangentc.frontend.trees import walk

OPERATORS = {
    "Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "Div": operator.truediv,
    "FloorDiv": operator.floordiv, "Mod": operator.mod, "Pow": operator.pow, "MatMult": operator.matmul,
    "BitAnd": operator.and_, "BitOr": operator.or_, "BitXor": operator.xor, "LShift": operator.lshift,
    "RShift": operator.rshift, "USub": operator.neg, "UAdd": operator.pos, "Not": operator.not_,
    "Invert": operator.invert, "Eq": operator.eq, "NotEq": operator.ne, "Lt": operator.lt, "LtE": operator.le,
    "Gt": operator.gt, "GtE": operator.ge, "Is": operator.is_, "IsNot": operator.is_not, "In": ops.contains,
    "NotIn": ops.not_contains,
}  # fmt: skip


class Expressions(Part):
    """The part of lowering that knows expressions."""

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

    def expression(self, node: Any, target: str | None = None) -> Atom:
        """Lower an expression; with ``target``, its value goes to that name."""
        kind = type(node).__name__
        if getattr(node, "all_asked", False) and self.generator_called(node):
            return self.all_given(node)
        if kind == "JoinedStr" and (text := self.known_text(node)) is not None:
            return Const(text) if target is None else self.emit(ops.identity, (Const(text),), node, target=target)
        if kind in fence.PASSIVE:
            if self.does_something(node):
                return self.done_first(node, target)
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

    def done_first(self, node: Any, target: str | None) -> Atom:
        """An f-string, or a set, whose parts change something: these are computed before it is put together."""
        if isinstance(node, gast.SetComp):
            items = self.expression(gast.copy_location(gast.ListComp(node.elt, node.generators), node))
            return self.emit(builtins.set, (items,), node, target=target)
        tree, result = gast.gast_to_ast(as_written(node)), target or self.fresh("%text")
        read: list[tuple[str, Atom]] = []
        for value, part in zip(node.values, tree.values, strict=True):
            if not isinstance(value, gast.FormattedValue):
                continue
            if value.format_spec is not None and self.does_something(value.format_spec):
                raise self.unsupported(node, "a format that changes something", "compute it in a statement of its own")
            read.append((f"part_{len(read)}", self.kept(self.expression(value.value), value)))
            part.value = ast.Name(read[-1][0], ast.Load())
        tree = ast.fix_missing_locations(tree)
        others = [pair for pair in self.reads_of(tree) if pair[0] not in dict(read)]
        self.add(Opaque(tree, ast.unparse(tree), (*read, *others), (("", result),), self.span(node)))
        return result

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
                one, number = self.kept_once(items.elts[0]), self.expression(count)
                return self.invoke(prelude.repeated_one, [one, number], [], node, target)
            return self.invoke(prelude.repeated, [self.expression(items), self.expression(count)], [], node, target)
        left, right = self.operand(node.left), self.operand(node.right)
        if isinstance(node.op, gast.Mult) and not isinstance(node.left, gast.List):
            for items, count in ((left, right), (right, left)):
                if self.is_moving_list(items) and isinstance(self.type_known(count), Scalar):
                    return self.invoke(prelude.repeated, [items, count], [], node, target)
        op = OPERATORS[type(node.op).__name__]
        text = self.put_together(op, left, right) if target is None else None
        return text or self.operation(op, (left, right), node, target=target)

    def is_moving_list(self, atom: Atom) -> bool:
        """Whether something is a list of what may move, and not of constants."""
        t, made = self.type_known(atom), self.definition(atom)
        constant = made is not None and made.op is ops.make_list and all(isinstance(a, Const) for a in made.args)
        return isinstance(t, Sequence) and t.kind is list and is_differentiable(t) and not constant

    def of_UnaryOp(self, node: Any, target: str | None) -> Atom:
        op = OPERATORS[type(node.op).__name__]
        operand = self.test(node.operand) if op is operator.not_ else self.expression(node.operand)
        if op is operator.neg and isinstance(operand, Const) and isinstance(operand.value, (int, float)):
            return Const(-operand.value)
        if op is operator.not_ and isinstance(operand, Const) and not isinstance(operand.value, float):
            return Const(not operand.value)
        return self.operation(op, (operand,), node, target=target)

    def of_BoolOp(self, node: Any, target: str | None) -> Atom:
        return self.lazy(isinstance(node.op, gast.And), node.values, node, target, self.expression)

    def lazy(self, is_and: bool, values: list, node: Any, target: str | None, evaluate: Callable[..., Atom]) -> Atom:
        """``a and b`` evaluates b only if a is true."""
        first = evaluate(values[0])
        if isinstance(first, Const) and isinstance(first.value, (bool, type(None))):
            if bool(first.value) is not is_and or len(values) == 1:
                return first
            return self.lazy(is_and, values[1:], node, target, evaluate)
        result = self.fresh("%both" if is_and else "%either")
        self.emit(ops.identity, (first,), values[0], target=result)
        tests: list[Any] = [first]
        for value in values[1:]:
            self.state.both[result, is_and] = tuple(tests)
            inner = self.arm(value, functools.partial(evaluate, value, target=result), result, is_and)
            tests.append(self.state.definitions[result])
            span = self.span(node)
            self.add(If(result, inner, (), (), span) if is_and else If(result, (), inner, (), span))
        self.state.both[result, is_and] = tuple(tests)
        return result

    def of_IfExp(self, node: Any, target: str | None) -> Atom:
        test = self.test(node.test)
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
        function = base.value if isinstance(base, Const) else self.told(function_in, base)
        if node.attr == "__name__" and ops.is_made_inside(function):
            if isinstance(base, str):
                self.assume("callees", self.span(node).site, (function, None), node, base)
            return Const("<lambda>" if function.__name__.startswith("lambda_") else function.__name__)
        if isinstance(base, Const):
            value = self.of_module(base.value, node)
            if callable(value) or isinstance(value, types.ModuleType) or value is None:
                return Const(value)
            keeps = isinstance(base.value, types.FunctionType) and node.attr in own_data(base.value)
            keeps = keeps and node.attr not in self.known.assigned
            if keeps or isinstance(base.value, (types.ModuleType, type)) and not is_library_module(base.value):
                return Global(node.attr, Place("attribute", base.value))
        return self.of_its_class(base, node.attr) or self.attribute(base, node.attr, node, target)

    def of_module(self, base: Any, node: Any) -> Any:
        """An attribute of a module, a class or a function."""
        try:
            value = getattr(base, node.attr)
        except AttributeError as error:
            raise UnsupportedSyntax(
                f"{self.activation.source.name} asks for {node.attr}, which is not there", self.span(node),
                why=str(error), way_out="correct the name",
            ) from None  # fmt: skip
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
            if kind == "cached" and cached_as(name) in fields:
                held = [base, Const(cached_as(name)), Const(found)]
                return self.invoke(prelude.first_value, held, [], node, target)
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
        if (method := self.method_of_python(base, name)) is not None:
            return self.bound("method", method, base, type(base), None, node)
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
            kinds = [self.tried(e) for e in parts]
            if any((is_numeric(of) or isinstance(of, Sequence)) and is_differentiable(of) for of in kinds):
                items = [self.expression(e) for e in parts]
                for k, of in enumerate(kinds):
                    if isinstance(of, Sequence):
                        items[k] = self.emit(np.array, (items[k],), node)
                if isinstance(items[0], Const) and isinstance(items[0].value, str):
                    raise self.unsupported(node, "a text that says how to join", "use np.concatenate or np.stack")
                for k, e in enumerate(parts):
                    if isinstance(e, gast.Slice):  # a range
                        items[k] = self.emit(operator.getitem, (base, items[k]), node)
                return self.invoke(joining, items, [], node, target)
        key, t = self.settled(base, self.expression(node.slice), node), self.type_known(base)
        own = self.operated(operator.getitem, (base, key), node)
        own = own or self.worked_out(operator.getitem, (base, key), (), node)
        own = own or self.with_default(base, key, node, target) or self.of_a_number(base, key, node, target)
        if own is not None:
            return own
        result = self.emit(operator.getitem, (base, key), node, target=target)
        part = self.part(t, key)
        if is_one_function(part):
            self.out.pop()
            return part.const  # type: ignore[union-attr]
        return result

    def of_a_number(self, base: Atom, key: Atom, node: Any, target: str | None) -> Atom | None:
        """``x[..., np.newaxis]`` and ``x[x > 0]`` of one of NumPy's numbers, which is an array without axes."""
        t = self.type_known(base)
        if not isinstance(t, Scalar) or t.weak or t.dtype == "str":
            return None
        parts = key.value if isinstance(key, Const) and isinstance(key.value, tuple) else (getattr(key, "value", 0),)
        if None in parts and all(p in (None, ...) for p in parts):
            return self.emit(np.reshape, (base, Const((1,) * parts.count(None))), node, target=target)
        if getattr(self.type_known(key), "dtype", "") != "bool":
            return None
        row, mask = (self.emit(np.atleast_1d, (a,), node) for a in (base, key))
        return self.emit(operator.getitem, (row, mask), node, target=target)

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
        entries: list[tuple[Atom, Atom]] = []
        for k, v in zip(node.keys, node.values, strict=True):
            if k is None:
                entries += [(Const(key), value) for key, value in self.double_starred(v).items()]
                continue
            entries.append((self.key(k), self.expression(v)))
        if all(isinstance(key, Const) for key, _ in entries):
            constant = {key.value: value for key, value in entries}  # type: ignore[union-attr]
            return self.emit(ops.make_dict, (Const(tuple(constant)), *constant.values()), node, target=target)
        made = self.emit(ops.make_dict, (Const(()),), node, target=target)
        for key, value in entries:
            self.add(Store(made, key, value, None, self.span(node)))
        return made


def is_one_function(t: Type | None) -> bool:
    return isinstance(t, Known) and callable(t.value) and not isinstance(t.value, Either)


@functools.lru_cache(maxsize=1024)
def shifting(tree: ast.AST) -> frozenset[str]:
    """The variables of a function that an expression may assign: by ``:=``, or by calling one with ``nonlocal``."""
    nodes = list(walk(tree))
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


def _compared(op: Any, left: Atom, right: Atom) -> Const | None:
    """A comparison of two constants, or of a function with None: it chooses a branch when compiling."""
    if not (isinstance(left, Const) and isinstance(right, Const)):
        return None
    plain = (str, int, bool, type(None), tuple)
    both = isinstance(left.value, plain) and isinstance(right.value, plain)
    if both or op in (operator.is_, operator.is_not):
        return Const(bool(op(left.value, right.value)))
    return None
