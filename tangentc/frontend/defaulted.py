"""Dicts with default values and queues of limited length, as the dicts and lists that they are.

d = defaultdict(list)            d = {}
d[k].append(x)          ->       d.setdefault(k, list()).append(x)

q = deque(maxlen=3)              q = deque()
q.append(x)             ->       q.append(x)
                                 if len(q) > 3: q.pop(0)

Only where all uses of the name are seen to be such that a plain dict or list does the same: neither given another
name nor handed to a function of the user's, who may append where this module does not look.
"""

from __future__ import annotations

import collections
import copy
from collections import Counter
from collections.abc import Iterator
from typing import Any

import gast

from tangentc.frontend.trees import walk

REPEATABLE = (
    gast.Name, gast.Constant, gast.BinOp, gast.UnaryOp, gast.Subscript, gast.Attribute, gast.Tuple, gast.operator,
    gast.unaryop, gast.expr_context,
)  # fmt: skip
LAST_OF = "the last of several"
SAME_FOR_DICTS = {"clear", "copy", "get", "items", "keys", "pop", "setdefault", "update", "values"}
SAME_FOR_LISTS = {"append", "appendleft", "clear", "count", "index", "pop", "popleft"}

TELLING = (isinstance, type, repr, str, print, id)  # what tells a dict from a `defaultdict`


def written_out(tree: Any, scope: Any) -> Any:
    """The tree of a function without `defaultdict` and limited `deque`."""
    made = _Collections(tree, scope)
    return made.visit(tree) if made.defaults or made.limits else tree


class _Collections(gast.NodeTransformer):
    def __init__(self, tree: Any, scope: Any):
        nodes = list(walk(tree))
        self.scope, self.parents = scope, {c: n for n in nodes for c in gast.iter_child_nodes(n)}
        stored = self.stored = Counter(
            n.id for n in nodes if isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Load)
        )
        self.defaults: dict[str, Any] = {}  # the function that makes a missing item
        self.limits: dict[str, Any] = {}  # how many items there are at the most
        self.names: dict[Any, str] = {}  # of the calls that make one
        for target, value in _assigned(nodes):
            if not isinstance(value, gast.Call) or stored[target.id] != 1:
                continue
            name, what = target.id, _stands_for(value.func, scope, stored)
            if what is not collections.defaultdict and what is not collections.deque:
                continue
            uses = [m for m in nodes if isinstance(m, gast.Name) and m.id == name and isinstance(m.ctx, gast.Load)]
            if what is collections.defaultdict and value.args and not value.keywords:
                if all(self.is_seen(use, SAME_FOR_DICTS) for use in uses):
                    self.defaults[name], self.names[value] = value.args[0], name
            limit = [*value.args[1:], *(k.value for k in value.keywords if k.arg == "maxlen")][:1]
            fixed = all(isinstance(m, gast.Constant) or isinstance(m, gast.Name) and stored[m.id] < 2 for m in limit)
            if what is collections.deque and limit and fixed:
                if all(self.is_seen(use, SAME_FOR_LISTS) for use in uses):
                    self.limits[name], self.names[value] = limit[0], name

    def is_seen(self, use: Any, methods: set[str]) -> bool:
        """Whether a use of a name does no more than ask for items, or is a call of one of the methods."""
        parent = self.parents[use]
        if isinstance(parent, gast.Attribute):
            call = self.parents[parent]
            adds = parent.attr in ("append", "appendleft")
            is_called = isinstance(call, gast.Call) and call.func is parent
            return parent.attr in methods and is_called and (not adds or isinstance(self.parents[call], gast.Expr))
        if isinstance(parent, gast.Call):
            function = _stands_for(parent.func, self.scope, self.stored)
            module = getattr(function, "__module__", None) or ""
            asks = function not in TELLING and module.split(".")[0] in ("builtins", "numpy", "math")
            return use in parent.args and asks
        if isinstance(parent, gast.Compare):  # a queue does not equal a list
            return all(isinstance(op, (gast.In, gast.NotIn)) for op in parent.ops)
        if isinstance(parent, (gast.Subscript, gast.For, gast.comprehension, gast.UnaryOp, gast.Starred)):
            return True
        node = use  # a test asks whether there is anything in it
        while isinstance(self.parents[node], gast.BoolOp):
            node = self.parents[node]
        return getattr(self.parents[node], "test", None) is node

    def visit_Call(self, node: Any) -> Any:
        name = self.names.get(node)
        self.generic_visit(node)
        if name in self.defaults:
            rest = node.args[1:]
            return gast.copy_location(gast.Call(_name("dict", node), rest, []) if rest else gast.Dict([], []), node)
        if name in self.limits:
            given = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "iterable")]
            items = [gast.Call(_name(LAST_OF, node), [a, copy.deepcopy(self.limits[name])], []) for a in given]
            node.args, node.keywords = [_located(a, node) for a in items], []
        return node

    def visit_Subscript(self, node: Any) -> Any:
        self.generic_visit(node)
        if isinstance(node.value, gast.Name) and node.value.id in self.defaults and isinstance(node.ctx, gast.Load):
            return self.item(node)
        return node

    def item(self, node: Any) -> Any:
        """``d.setdefault(k, factory())``"""
        factory = copy.deepcopy(self.defaults[node.value.id])
        plain = {"list": gast.List([], gast.Load()), "float": gast.Constant(0.0, None), "int": gast.Constant(0, None)}
        made = plain.get(getattr(factory, "id", ""))
        if made is None:
            made = factory.body if isinstance(factory, gast.Lambda) else gast.Call(factory, [], [])
            made = gast.copy_location(made, factory)
        method = gast.Attribute(_name(node.value.id, node), "setdefault", gast.Load())
        call = gast.Call(method, [copy.deepcopy(node.slice), made], [])
        return _located(call, node)

    def visit_AugAssign(self, node: Any) -> Any:
        self.generic_visit(node)
        target = node.target
        of_default = isinstance(target, gast.Subscript) and getattr(target.value, "id", None) in self.defaults
        if not of_default or not all(isinstance(n, REPEATABLE) for n in walk(target.slice)):
            return node
        value = gast.BinOp(self.item(target), node.op, node.value)
        return _located(gast.Assign([target], value, None), node)

    def visit_Expr(self, node: Any) -> Any:
        self.generic_visit(node)
        call = node.value
        if not isinstance(call, gast.Call) or not isinstance(call.func, gast.Attribute):
            return node
        name = getattr(call.func.value, "id", None)
        if name not in self.limits or call.func.attr not in ("append", "appendleft"):
            return node
        length = gast.Call(_name("len", node), [_name(name, node)], [])
        test = gast.Compare(length, [gast.Gt()], [copy.deepcopy(self.limits[name])])
        place = gast.Constant(0 if call.func.attr == "append" else -1, None)
        drop = gast.Delete([gast.Subscript(_name(name, node), place, gast.Del())])
        return [node, _located(gast.If(test, [drop], []), node)]


def _assigned(nodes: list) -> Iterator[tuple[Any, Any]]:
    """The names that are assigned, alone or in a tuple, and their values."""
    for n in nodes:
        if isinstance(n, gast.Assign) and len(n.targets) == 1:
            target, value = n.targets[0], n.value
            several = isinstance(target, gast.Tuple) and isinstance(value, gast.Tuple)
            pairs = zip(target.elts, value.elts) if several else ((target, value),)
            yield from ((t, v) for t, v in pairs if isinstance(t, gast.Name))


def _stands_for(node: Any, scope: Any, stored: Counter) -> Any:
    """What a name, or a name of a module, stands for; None if it is not known here."""
    try:
        if isinstance(node, gast.Name):
            return None if stored[node.id] else scope.lookup(node.id)
        if isinstance(node, gast.Attribute) and isinstance(node.value, gast.Name) and not stored[node.value.id]:
            return getattr(scope.lookup(node.value.id), node.attr, None)
    except NameError:
        pass
    return None


def _name(name: str, node: Any) -> Any:
    return gast.copy_location(gast.Name(name, gast.Load(), None, None), node)


def _located(made: Any, node: Any) -> Any:
    """New nodes at the place of the one that they stand for."""
    for n in walk(made):
        if not hasattr(n, "lineno"):
            gast.copy_location(n, node)
    return made
