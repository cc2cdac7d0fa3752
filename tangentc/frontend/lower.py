"""Syntax tree to core form: one operation a statement, names resolved to objects.

    y = np.tanh(x @ W + b)      ->      %xW = x @ W
                                        %sum = %xW + b
                                        y = np.tanh(%sum)

Names may still be assigned more than once; `normalise` makes versions of them.
"""

from __future__ import annotations

import ast
import builtins
import copy
import operator
import types
from typing import Any

import gast

from tangentc.core import ops
from tangentc.core.naming import hint
from tangentc.core.nodes import (
    Assign,
    Atom,
    Block,
    Const,
    Effect,
    For,
    Function,
    Global,
    If,
    Leave,
    Opaque,
    Param,
    Span,
    Statement,
    Store,
    While,
)
from tangentc.errors import UnsupportedSyntax
from tangentc.frontend import fence
from tangentc.frontend.resolve import Scope
from tangentc.frontend.source import source_of
from tangentc.frontend.split import split

OPERATORS = {
    "Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "Div": operator.truediv,
    "FloorDiv": operator.floordiv, "Mod": operator.mod, "Pow": operator.pow, "MatMult": operator.matmul,
    "BitAnd": operator.and_, "BitOr": operator.or_, "BitXor": operator.xor, "LShift": operator.lshift,
    "RShift": operator.rshift, "USub": operator.neg, "UAdd": operator.pos, "Not": operator.not_,
    "Invert": operator.invert, "Eq": operator.eq, "NotEq": operator.ne, "Lt": operator.lt, "LtE": operator.le,
    "Gt": operator.gt, "GtE": operator.ge, "Is": operator.is_, "IsNot": operator.is_not, "In": ops.contains,
    "NotIn": ops.not_contains,
}  # fmt: skip


def lower(function: types.FunctionType) -> Function:
    """The function in core form.  Raises `NoSource` or `UnsupportedSyntax`."""
    source = source_of(function)
    scope = Scope(function)
    tree = split(source.tree, source.fresh_tree, source.span)
    gtree: Any = gast.ast_to_gast(ast.Module([tree] if isinstance(tree, ast.stmt) else [ast.Expr(tree)], [])).body[0]
    if isinstance(tree, ast.Lambda):
        gtree = gtree.value
    fence.check(gtree, source.span, source.name)
    if gtree.args.vararg or gtree.args.kwarg:
        raise UnsupportedSyntax(
            f"{source.name} takes *args or **kwargs, which tangentc does not differentiate",
            source.span(source.tree),
            why="the number of parameters must be known",
            way_out="name the parameters",
        )
    params = [a.id for a in (*gtree.args.posonlyargs, *gtree.args.args, *gtree.args.kwonlyargs)]
    lowering = Lowering(source, scope, set(params))
    body = gtree.body if isinstance(gtree.body, list) else [gast.copy_location(gast.Return(gtree.body), gtree.body)]
    lowering.locals |= _assigned(body)
    lowering.block(body)
    name = "lambda_" if source.name == "<lambda>" else source.name
    return Function(name, tuple(map(Param, params)), tuple(lowering.out), Const(None), source.span(source.tree))


def _assigned(body: list) -> set[str]:
    names: set[str] = set()
    stack = list(body)
    while stack:
        node = stack.pop()
        if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Store):
            names.add(node.id)
        if not isinstance(node, (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp, gast.Lambda)):
            stack.extend(gast.iter_child_nodes(node))
    return names


class Lowering:
    """Lowers one function; ``out`` is the block that statements go to now."""

    def __init__(self, source: Any, scope: Scope, params: set[str]):
        self.source, self.scope, self.locals = source, scope, params
        self.out: list[Statement] = []
        self.counter: dict[str, int] = {}
        self.loops = 0
        self.statement: Span | None = None

    # ---------------------------------------------------------- statements
    def block(self, body: list) -> None:
        for node in body:
            self.statement = self.source.span(node)
            getattr(self, "on_" + type(node).__name__)(node)

    def inner(self, body: list) -> Block:
        outer, self.out = self.out, []
        self.block(body)
        inner, self.out = tuple(self.out), outer
        return inner

    def on_Pass(self, node: Any) -> None:
        pass

    def on_Expr(self, node: Any) -> None:
        if isinstance(node.value, gast.Constant):
            return
        if isinstance(node.value, gast.Call):
            op, args, keywords = self.call_parts(node.value)
            if not ops.is_pure(op):
                self.out.append(Effect(op, args, keywords, self.source.span(node)))
            return
        self.expression(node.value)

    def on_Assert(self, node: Any) -> None:
        self.opaque(node, None)

    on_Raise = on_Assert

    def on_Return(self, node: Any) -> None:
        if self.loops:
            raise self.unsupported(node, "`return` inside a loop", "leave the loop with `break`, and return after it")
        value = Const(None) if node.value is None else self.expression(node.value, target=None)
        self.out.append(Leave("return", (value,), self.source.span(node)))

    def on_Break(self, node: Any) -> None:
        self.out.append(Leave("break", (), self.source.span(node)))

    def on_Continue(self, node: Any) -> None:
        self.out.append(Leave("continue", (), self.source.span(node)))

    def on_AnnAssign(self, node: Any) -> None:
        if node.value is not None:
            self.assign(node.target, node.value)

    def on_Assign(self, node: Any) -> None:
        if len(node.targets) == 1:
            self.assign(node.targets[0], node.value)
            return
        value = self.expression(node.value)
        for target in node.targets:
            self.bind(target, value)

    def assign(self, target: Any, value: Any) -> None:
        if isinstance(target, gast.Name):
            self.expression(value, target=target.id)
        elif (
            isinstance(target, (gast.Tuple, gast.List))
            and isinstance(value, (gast.Tuple, gast.List))
            and len(target.elts) == len(value.elts)
        ):
            atoms = [self.expression(e) for e in value.elts]
            atoms = [self.emit(ops.identity, (a,), value, name="%" + a) if a in self.locals else a for a in atoms]  # type: ignore[operator]
            for t, a in zip(target.elts, atoms, strict=True):
                self.bind(t, a)
        else:
            self.bind(target, self.expression(value))

    def bind(self, target: Any, value: Atom) -> None:
        if isinstance(target, gast.Name):
            self.emit(ops.identity, (value,), target, target=target.id)
        elif isinstance(target, (gast.Tuple, gast.List)):
            for i, t in enumerate(target.elts):
                self.bind_item(t, value, i)
        elif isinstance(target, gast.Subscript):
            obj = self.named(self.expression(target.value), target.value)
            key = self.expression(target.slice)
            self.out.append(Store(obj, key, value, None, self.source.span(target)))
        else:
            raise self.unsupported(target, "assigning to an attribute", "return the new value instead")

    def bind_item(self, target: Any, value: Atom, index: int) -> None:
        if isinstance(target, gast.Name):
            self.emit(operator.getitem, (value, Const(index)), target, target=target.id)
        else:
            self.bind(target, self.emit(operator.getitem, (value, Const(index)), target))

    def on_AugAssign(self, node: Any) -> None:
        op = OPERATORS[type(node.op).__name__]
        target = node.target
        if isinstance(target, gast.Name):
            value = self.expression(node.value)
            self.emit(op, (target.id, value), node, target=target.id, augmented=True)
            return
        if not isinstance(target, gast.Subscript):
            raise self.unsupported(target, "assigning to an attribute", "return the new value instead")
        obj = self.named(self.expression(target.value), target.value)
        key = self.expression(target.slice)
        if op in (operator.add, operator.sub):
            self.out.append(Store(obj, key, self.expression(node.value), op, self.source.span(node)))
            return
        old = self.emit(operator.getitem, (obj, key), target)
        new = self.emit(op, (old, self.expression(node.value)), node, name="%rhs")
        self.out.append(Store(obj, key, new, None, self.source.span(node)))

    def on_If(self, node: Any) -> None:
        test = self.expression(node.test)
        self.out.append(If(test, self.inner(node.body), self.inner(node.orelse), (), self.header(node), "statement"))

    def on_For(self, node: Any) -> None:
        iterable = self.expression(node.iter)
        self.loops += 1
        outer, self.out = self.out, []
        if isinstance(node.target, gast.Name):
            target = node.target.id
        else:
            target = self.fresh("%item")
            self.statement = self.header(node)
            self.bind(node.target, target)
        self.block(node.body)
        body, self.out = tuple(self.out), outer
        self.loops -= 1
        self.out.append(For(target, iterable, body, (), self.header(node)))

    def on_While(self, node: Any) -> None:
        outer, self.out = self.out, []
        test = self.expression(node.test)
        head, self.out = tuple(self.out), outer
        self.loops += 1
        body = self.inner(node.body)
        self.loops -= 1
        self.out.append(While(head, test, body, (), self.header(node)))

    def header(self, node: Any) -> Span:
        return self.source.span(node)

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
        span = self.source.span(node)
        if augmented:
            self.out.append(Assign(target, ops.augmented(op), args, keywords, span))
        else:
            self.out.append(Assign(target, op, args, keywords, span))
        return target

    def named(self, atom: Atom, node: Any) -> str:
        if isinstance(atom, str):
            return atom
        raise self.unsupported(node, "changing a value of the module in place", "pass it in as an argument")

    def expression(self, node: Any, target: str | None = None) -> Atom:
        """Lower an expression; with ``target``, its value goes to that name."""
        kind = type(node).__name__
        if kind in fence.PASSIVE:
            return self.opaque(node, target or self.fresh("%text" if kind == "JoinedStr" else "%passive"))
        value = getattr(self, "of_" + kind)(node, target)
        if target is not None and value != target:
            return self.emit(ops.identity, (value,), node, target=target)
        return value

    def of_Constant(self, node: Any, target: str | None) -> Atom:
        return Const(node.value)

    def of_Name(self, node: Any, target: str | None) -> Atom:
        if node.id in self.locals:
            return node.id
        try:
            return self.scope.resolve(node.id)
        except NameError as error:
            raise UnsupportedSyntax(
                f"{error}", self.source.span(node), why="the name means nothing where the function stands",
                way_out="define it, or import it, before differentiating",
            ) from None  # fmt: skip

    def of_BinOp(self, node: Any, target: str | None) -> Atom:
        left, right = self.expression(node.left), self.expression(node.right)
        return self.emit(OPERATORS[type(node.op).__name__], (left, right), node, target=target)

    def of_UnaryOp(self, node: Any, target: str | None) -> Atom:
        operand = self.expression(node.operand)
        op = OPERATORS[type(node.op).__name__]
        if op is operator.neg and isinstance(operand, Const) and isinstance(operand.value, (int, float)):
            return Const(-operand.value)
        return self.emit(op, (operand,), node, target=target)

    def of_BoolOp(self, node: Any, target: str | None) -> Atom:
        return self.lazy(isinstance(node.op, gast.And), node.values, node, target)

    def lazy(self, is_and: bool, values: list, node: Any, target: str | None) -> Atom:
        """``a and b`` evaluates b only if a is true."""
        result = self.fresh("%both" if is_and else "%either")
        self.emit(ops.identity, (self.expression(values[0]),), values[0], target=result)
        for value in values[1:]:
            outer, self.out = self.out, []
            self.expression(value, target=result)
            inner, self.out = tuple(self.out), outer
            span = self.source.span(node)
            self.out.append(If(result, inner, (), (), span) if is_and else If(result, (), inner, (), span))
        return result

    def of_IfExp(self, node: Any, target: str | None) -> Atom:
        test = self.expression(node.test)
        result = target or self.fresh("%chosen")
        branches = []
        for arm in (node.body, node.orelse):
            outer, self.out = self.out, []
            self.expression(arm, target=result)
            inner, self.out = tuple(self.out), outer
            branches.append(inner)
        self.out.append(If(test, *branches, (), self.source.span(node)))  # type: ignore[arg-type,call-arg]
        return result

    def of_Compare(self, node: Any, target: str | None) -> Atom:
        left = self.expression(node.left)
        if len(node.ops) == 1:
            right = self.expression(node.comparators[0])
            return self.emit(OPERATORS[type(node.ops[0]).__name__], (left, right), node, target=target)
        result = self.fresh("%both")
        for k, (op, comparator) in enumerate(zip(node.ops, node.comparators, strict=True)):
            outer, self.out = self.out, []
            right = self.expression(comparator)
            self.emit(OPERATORS[type(op).__name__], (left, right), node, target=result)
            inner, self.out = tuple(self.out), outer
            self.out.extend(inner if k == 0 else (If(result, inner, (), (), self.source.span(node)),))
            left = right
            if k + 1 < len(node.ops) and k > 0 and isinstance(right, str) and right not in self.locals:
                raise self.unsupported(node, "a chain of three or more comparisons", "join two of them with `and`")
        return result

    def of_Attribute(self, node: Any, target: str | None) -> Atom:
        base = self.expression(node.value)
        if isinstance(base, Const):
            try:
                value = getattr(base.value, node.attr)
            except AttributeError as error:
                raise self.unsupported(node, f"something that is not there ({error})", "correct the name") from None
            if callable(value) or isinstance(value, types.ModuleType) or value is None:
                return Const(value)
        return self.emit(builtins.getattr, (base, Const(node.attr)), node, target=target)

    def of_Subscript(self, node: Any, target: str | None) -> Atom:
        base, key = self.expression(node.value), self.expression(node.slice)
        return self.emit(operator.getitem, (base, key), node, target=target)

    def of_Slice(self, node: Any, target: str | None) -> Atom:
        bounds = tuple(Const(None) if b is None else self.expression(b) for b in (node.lower, node.upper, node.step))
        if all(isinstance(b, Const) for b in bounds):
            return Const(slice(*(b.value for b in bounds)))  # type: ignore[union-attr]
        return self.emit(slice, bounds, node, name="%key")

    def of_Tuple(self, node: Any, target: str | None) -> Atom:
        items = tuple(map(self.expression, node.elts))
        if all(isinstance(item, Const) and not callable(item.value) for item in items):
            return Const(tuple(item.value for item in items))  # type: ignore[union-attr]
        return self.emit(ops.make_tuple, items, node, target=target)

    def of_List(self, node: Any, target: str | None) -> Atom:
        return self.emit(ops.make_list, tuple(map(self.expression, node.elts)), node, target=target)

    def of_Dict(self, node: Any, target: str | None) -> Atom:
        keys = [None if k is None else self.expression(k) for k in node.keys]
        if not all(isinstance(k, Const) for k in keys):
            raise self.unsupported(node, "a dict whose keys are not constants", "write the keys as literals")
        values = tuple(map(self.expression, node.values))
        names = Const(tuple(k.value for k in keys))  # type: ignore[union-attr]
        return self.emit(ops.make_dict, (names, *values), node, target=target)

    def of_Call(self, node: Any, target: str | None) -> Atom:
        op, args, keywords = self.call_parts(node)
        return self.emit(op, args, node, keywords, target=target)

    def call_parts(self, node: Any) -> tuple[Any, tuple[Atom, ...], tuple[tuple[str, Atom], ...]]:
        if any(isinstance(a, gast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            raise self.unsupported(node, "a call with * or **", "write the arguments out")
        receiver = None
        if isinstance(node.func, gast.Attribute):
            base = self.expression(node.func.value)
            if isinstance(base, Const):
                callee = self.of_Attribute(node.func, None)
            else:
                receiver, callee = base, Const(ops.method)
        else:
            callee = self.expression(node.func)
        args = tuple(map(self.expression, node.args))
        keywords = tuple((k.arg, self.expression(k.value)) for k in node.keywords)
        if any(name == "out" and atom != Const(None) for name, atom in keywords):
            raise self.unsupported(node, "`out=`", "assign the result")
        if receiver is not None:
            return ops.method, (receiver, Const(node.func.attr), *args), keywords
        if isinstance(callee, Global):
            callee = Const(self.scope.lookup(callee.name))
        if not isinstance(callee, Const):
            raise self.unsupported(
                node, "calling a value that is computed or passed in", "call a function of the module by its name"
            )
        op = getattr(callee.value, "__tangentc_function__", callee.value)
        return getattr(op, "__tangentc_op__", op), args, keywords

    def opaque(self, node: Any, target: str | None) -> Atom:
        """Carry a passive construct unchanged; it reads the names that stand in it."""
        tree = gast.gast_to_ast(copy.deepcopy(node))
        bound = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        names = sorted({n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} - bound)
        read: list[tuple[str, Atom]] = []
        for name in names:
            if name in self.locals:
                read.append((name, name))
            else:
                try:
                    read.append((name, self.scope.resolve(name)))
                except NameError:
                    continue
        writes = () if target is None else (("", target),)
        self.out.append(Opaque(tree, ast.unparse(tree), tuple(read), writes, self.source.span(node)))
        return target if target is not None else Const(None)

    def unsupported(self, node: Any, what: str, way_out: str) -> UnsupportedSyntax:
        return UnsupportedSyntax(
            f"{self.source.name} uses {what}, which tangentc does not differentiate",
            self.source.span(node),
            why="there is no translation of this construct into an adjoint yet",
            way_out=way_out,
        )
