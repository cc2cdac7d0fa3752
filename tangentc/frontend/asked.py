"""Generators that are asked item by item, as loops that ask them.

A generator computes an item when it is asked for one.  What asks only until it knows enough is written as the
loop that it is, so that nothing is computed, changed or taken which Python would leave:

    any(c.ok(v) for v in xs)        def asked():
                                        for v in xs:
                                            if c.ok(v):
                                                return True
                                        return False

    for y in map(f, xs): ...        for x in xs:
                                        y = f(x)
                                        ...

Any other that is not surely run to its end at once is marked, and refused when its items change something.
"""

from __future__ import annotations

import ast
import builtins
import copy
import itertools
import types
from collections import Counter
from typing import Any

import gast

from tangentc.errors import UnsupportedSyntax
from tangentc.frontend.trees import walk

FULLY = {builtins.sum, builtins.list, builtins.tuple, builtins.set, builtins.frozenset, builtins.max, builtins.min,
         builtins.sorted, builtins.dict}  # fmt: skip
LAZY = {builtins.map, builtins.filter, builtins.enumerate, builtins.zip}
ZIPPED, ASKED = "the items of several", "what is asked"


def asked(tree: Any, scope: Any) -> Any:
    """The tree of a function whose generators are asked by loops."""
    return _Asked(tree, scope).visit(tree)


def as_written(node: Any) -> Any:
    """A copy of a statement with its generators asked as the user asks them."""
    return _AsWritten().visit(copy.deepcopy(node))


class _AsWritten(gast.NodeTransformer):
    def visit_Call(self, node: Any) -> Any:
        return self.generic_visit(getattr(node, "written", node))

    visit_Compare = visit_Call


class _Asked(gast.NodeTransformer):
    def __init__(self, tree: Any, scope: Any):
        self.scope = scope
        names = [n for n in walk(tree) if isinstance(n, gast.Name)]
        self.names = Counter(n.id for n in names)
        self.stored = {n.id for n in names if not isinstance(n.ctx, gast.Load)}
        self.stored |= {n.name for n in walk(tree) if isinstance(n, (gast.FunctionDef, gast.ClassDef))}

    def found(self, node: Any) -> Any:
        """What the name of a builtin function stands for."""
        if isinstance(node, gast.Attribute) and isinstance(node.value, gast.Name):
            module = self._named(node.value)
            value = getattr(module, node.attr, None) if isinstance(module, types.ModuleType) else None
        else:
            value = self._named(node)
        return value if isinstance(value, (type, types.BuiltinFunctionType)) else None

    def _named(self, node: Any) -> Any:
        if not isinstance(node, gast.Name) or node.id in self.stored:
            return None
        try:
            return self.scope.lookup(node.id)
        except NameError:
            return None

    # ---------------------------------------------------------- what a generator is
    def generator(self, node: Any) -> Any:
        """A generator expression for what gives its items when it is asked, None if this is not known to."""
        if isinstance(node, gast.GeneratorExp):
            return None if any(isinstance(n, gast.NamedExpr) for n in walk(node)) else node
        if not isinstance(node, gast.Call) or node.keywords or any(isinstance(a, gast.Starred) for a in node.args):
            return None
        function = self.found(node.func)
        if (
            function is builtins.map
            and len(node.args) > 1
            and isinstance(node.args[0], (gast.Name, gast.Attribute, gast.Lambda))
        ):
            items = [self.fresh(f"item_{k}" if k else "item") for k in range(len(node.args) - 1)]
            iterable = node.args[1]
            target: Any = _name(node, items[0], gast.Store())
            if len(items) > 1:
                iterable = _at(node, gast.Call(_name(node, ZIPPED), node.args[1:], []))
                target = _at(node, gast.Tuple([_name(node, i, gast.Store()) for i in items], gast.Store()))
            value = _at(node.args[0], gast.Call(node.args[0], [_name(node, i) for i in items], []))
            return _at(node, gast.GeneratorExp(value, [gast.comprehension(target, iterable, [], 0)]))
        if function is builtins.filter and len(node.args) == 2:
            item = self.fresh("item")
            test: Any = _at(node, gast.Call(node.args[0], [_name(node, item)], []))
            if isinstance(node.args[0], gast.Constant):
                test = _name(node, item)
            loop = gast.comprehension(_name(node, item, gast.Store()), node.args[1], [test], 0)
            return _at(node, gast.GeneratorExp(_name(node, item), [loop]))
        if function in (builtins.enumerate, builtins.zip) and (function is builtins.zip or len(node.args) == 1):
            return self._together(node, function)
        return None

    def _together(self, node: Any, function: Any) -> Any:
        """``zip(xs, generator)`` as one generator, if its parts leave nothing out."""
        parts = [self.generator(a) for a in node.args]
        if not any(parts) or any(p is not None and (len(p.generators) > 1 or p.generators[0].ifs) for p in parts):
            return None
        parts = [self.apart(p) if p else None for p in parts]
        items = ["" if p else self.fresh("item") for p in parts]
        values: list[Any] = [p.elt if p else _name(node, n) for p, n in zip(parts, items)]
        targets: list[Any] = [
            p.generators[0].target if p else _name(node, n, gast.Store()) for p, n in zip(parts, items)
        ]
        iterables = [p.generators[0].iter if p else a for p, a in zip(parts, node.args)]
        if function is builtins.enumerate:
            number = self.fresh("number")
            values, targets = [_name(node, number), *values], [_name(node, number, gast.Store()), *targets]
        value = _at(node, gast.Tuple(values, gast.Load()))
        target = _at(node, gast.Tuple(targets, gast.Store()))
        loop = gast.comprehension(target, _at(node, gast.Call(node.func, iterables, [])), [], 0)
        return _at(node, gast.GeneratorExp(value, [loop]))

    def apart(self, generator: Any) -> Any:
        """The generator with its own variables under names that nothing else has."""
        inside = Counter(n.id for n in walk(generator) if isinstance(n, gast.Name))
        own = {n.id for g in generator.generators for n in walk(g.target) if isinstance(n, gast.Name)}
        table = {n: self.fresh(n) for n in sorted(own) if self.names[n] > inside[n]}
        table |= {n: self.fresh(n) for n in sorted(own - table.keys()) if _mentions(generator.generators[0].iter, n)}
        if not table:
            return generator
        first = generator.generators[0].iter  # which is computed outside
        made = _Renamed(table).visit(copy.deepcopy(generator))
        made.generators[0].iter = first
        return made

    def fresh(self, name: str) -> str:
        k = 1
        while self.names[f"{name}_{k}"]:
            k += 1
        self.names[f"{name}_{k}"] += 1
        return f"{name}_{k}"

    # ---------------------------------------------------------- what asks it
    def visit_Call(self, node: Any) -> Any:
        function = self.found(node.func)
        if function in (builtins.any, builtins.all, builtins.next) and node.args and not node.keywords:
            generator = self.generator(node.args[0])
            if generator is not None:
                return self.generic_visit(self._until(node, function, self.apart(generator)))
        if function not in FULLY and not self._is_full_method(node):
            node.args = [a if isinstance(a, gast.Starred) else self.marked(a) for a in node.args]
        return self.generic_visit(node)

    def _until(self, node: Any, function: Any, generator: Any) -> Any:
        if function is builtins.next:
            found: Any = _at(node, gast.Return(generator.elt))
            if len(node.args) > 1:
                end: Any = _at(node, gast.Return(node.args[1]))
            else:
                end = _at(node, gast.Raise(_name(node, "StopIteration"), None))
        else:
            wanted = function is builtins.any
            test = generator.elt if wanted else _at(node, gast.UnaryOp(gast.Not(), generator.elt))
            leave = _at(node, gast.Return(_at(node, gast.Constant(wanted, None))))
            found = _at(node, gast.If(test, [leave], []))
            end = _at(node, gast.Return(_at(node, gast.Constant(not wanted, None))))
        return self._called(node, [_loops(generator, [found]), end])

    def _called(self, node: Any, body: list[Any]) -> Any:
        none = gast.arguments([], [], None, [], [], None, [])
        call = _at(node, gast.Call(_at(node, gast.FunctionDef(ASKED, none, body, [], None, None)), [], []))
        call.written = copy.deepcopy(node)
        return call

    def visit_Compare(self, node: Any) -> Any:
        if len(node.ops) == 1 and isinstance(node.ops[0], (gast.In, gast.NotIn)):
            generator, left = self.generator(node.comparators[0]), node.left
            if generator is not None and isinstance(left, (gast.Name, gast.Constant)):
                generator = self.apart(generator)
                test = _at(node, gast.Compare(generator.elt, [gast.Eq()], [left]))
                is_in = isinstance(node.ops[0], gast.In)
                leave = _at(node, gast.Return(_at(node, gast.Constant(is_in, None))))
                end = _at(node, gast.Return(_at(node, gast.Constant(not is_in, None))))
                loops = _loops(generator, [_at(node, gast.If(test, [leave], []))])
                return self.generic_visit(self._called(node, [loops, end]))
        return self.generic_visit(node)

    def visit_For(self, node: Any) -> Any:
        if (
            isinstance(node.iter, gast.Call)
            and self.found(node.iter.func) is itertools.count
            and not node.iter.keywords
        ):
            return [self.generic_visit(s) for s in self._counting(node)]
        generator = self.generator(node.iter)
        if generator is None or len(generator.generators) > 1:
            node.iter = self.marked(node.iter)
            return self.generic_visit(node)
        generator = self.apart(generator)
        loop = generator.generators[0]
        take = _at(node.iter, gast.Assign([node.target], generator.elt, None))
        body = _under(loop.ifs, [take, *node.body])
        made = gast.copy_location(gast.For(loop.target, loop.iter, body, node.orelse, None), node)
        return self.visit_For(made) if self.generator(loop.iter) is not None else self.generic_visit(made)

    def _counting(self, node: Any) -> Any:
        """``for n in itertools.count(a, b)`` as a loop without end."""
        given = [*node.iter.args, *[_at(node, gast.Constant(k, None)) for k in (0, 1)][len(node.iter.args) :]]
        number, step = self.fresh("number"), self.fresh("step")
        start = _at(node, gast.Assign([_name(node, step, gast.Store())], given[1], None))
        before = _at(node, gast.BinOp(given[0], gast.Sub(), _name(node, step)))
        first = _at(node, gast.Assign([_name(node, number, gast.Store())], before, None))
        after = _at(node, gast.BinOp(_name(node, number), gast.Add(), _name(node, step)))
        count = _at(node, gast.Assign([_name(node, number, gast.Store())], after, None))
        take = _at(node, gast.Assign([node.target], _name(node, number), None))
        loop = gast.While(_at(node, gast.Constant(True, None)), [count, take, *node.body], node.orelse)
        return [start, first, gast.copy_location(loop, node)]

    def visit_Assign(self, node: Any) -> Any:
        if not isinstance(node.targets[0], (gast.Tuple, gast.List)):
            node.value = self.marked(node.value)
        return self.generic_visit(node)

    def visit_Return(self, node: Any) -> Any:
        node.value = self.marked(node.value)
        return self.generic_visit(node)

    @staticmethod
    def _is_full_method(node: Any) -> bool:
        return isinstance(node.func, gast.Attribute) and node.func.attr in ("extend", "join", "update")

    def marked(self, node: Any) -> Any:
        """What may be asked for some of its items only."""
        if isinstance(node, gast.Call) and self.found(node.func) in LAZY:
            generator = self.generator(node)
            if generator is None:
                node.args = [self.marked(a) for a in node.args]
            elif self.found(node.func) in (builtins.map, builtins.filter):
                node = generator
        if isinstance(node, gast.GeneratorExp):
            node.asked_in_part = True
        return node


# ---------------------------------------------------------- as text again
def written(body: list[Any]) -> list[Any]:
    """Statements of a syntax tree as they can be printed: the loops that ask generators stand before the statement
    that calls them, as functions with names."""
    numbers = itertools.count(1)

    def block(statements: list[Any]) -> list[Any]:
        out: list[Any] = []
        for s in statements:
            for part in ("body", "orelse", "finalbody"):
                if isinstance(getattr(s, part, None), list):
                    setattr(s, part, block(getattr(s, part)))
            found = _Written(numbers)
            found.visit(s)
            out += [*found.functions, s]
        return out

    return block(body)


class _Written(ast.NodeTransformer):
    def __init__(self, numbers: Any):
        self.numbers, self.functions = numbers, []  # type: ignore[var-annotated]

    def visit_Call(self, node: Any) -> Any:
        self.generic_visit(node)
        if isinstance(node.func, ast.FunctionDef):
            node.func.name = f"_asked_{next(self.numbers)}"
            self.functions.append(node.func)
            node.func = ast.Name(node.func.name, ast.Load())
        return node

    def visit_FunctionDef(self, node: Any) -> Any:
        return node

    def visit_Lambda(self, node: Any) -> Any:
        if any(isinstance(n, ast.FunctionDef) for n in walk(node)):
            raise UnsupportedSyntax(
                "a generator is asked in a lambda that is differentiated inside a function",
                why="it would have to be written out", way_out="define the function with def",
            )  # fmt: skip
        return node


class _Renamed(gast.NodeTransformer):
    def __init__(self, table: dict[str, str]):
        self.table = table

    def visit_Name(self, node: Any) -> Any:
        return gast.copy_location(gast.Name(self.table.get(node.id, node.id), node.ctx, None, None), node)


def _mentions(node: Any, name: str) -> bool:
    return any(isinstance(n, gast.Name) and n.id == name for n in walk(node))


def _loops(generator: Any, body: list[Any]) -> Any:
    """The loops of a generator around what is done with each item."""
    for g in reversed(generator.generators):
        body = [_at(g.target, gast.For(g.target, g.iter, _under(g.ifs, body), [], None))]
    return body[0]


def _under(tests: list[Any], body: list[Any]) -> list[Any]:
    for test in reversed(tests):
        body = [_at(test, gast.If(test, body, []))]
    return body


def _name(place: Any, name: str, context: Any = None) -> Any:
    return _at(place, gast.Name(name, context or gast.Load(), None, None))


def _at(place: Any, node: Any) -> Any:
    return gast.copy_location(node, place)
