"""Iterators: what is used up by the one run over it.

A comprehension stands for its generator, and a list for what ``map`` gives, as long as one statement runs
over it.  A name that is run over twice, or asked by ``next``, is a list that every run takes its items from:

    it = iter(xs)                     it = list(iter(xs))
    head = next(it)            ->     head = it.pop(0)
    for x in it: ...                  while len(it): x = it.pop(0); ...

An iterator that goes elsewhere is followed through the program in core form (`used_once`), and refused
where it is used again.
"""

from __future__ import annotations

import builtins
import copy
import itertools
import operator
import types
from collections import Counter
from collections.abc import Set
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from tangentc import runtime
from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Block, Const, Effect, For, Function, If, Opaque, Statement, Store, While
from tangentc.core.resolve import is_static
from tangentc.core.walk import blocks, reads, statements, transform
from tangentc.errors import UnsupportedSyntax
from tangentc.frontend.trees import walk
from tangentc.ops import methods

ITERATORS = {builtins.iter, builtins.zip, builtins.map, builtins.filter, builtins.enumerate, builtins.reversed,
             np.ndindex, np.ndenumerate}  # fmt: skip
IN_CORE = {builtins.zip, builtins.enumerate, builtins.reversed}
USES_UP = {builtins.sum, builtins.list, builtins.tuple, builtins.set, builtins.max, builtins.min, builtins.sorted,
           builtins.dict}  # fmt: skip
MUTATING = methods.names(changes=True)
COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
KEEPING = frozenset(map(Const, methods.names(keeps=True)))
HELD = {ops.make_tuple, ops.make_list, ops.make_dict, ops.make_struct, ops.append, ops.insert}


def makes_iterator(callee: Any) -> bool:
    """Whether what a call of the library gives can be run over once."""
    in_itertools = isinstance(callee, type) and callee.__module__ == "itertools"
    return in_itertools or isinstance(callee, (type, types.BuiltinFunctionType)) and callee in ITERATORS


def runs_over(callee: Any) -> bool:
    """Whether a function of the library runs over its arguments."""
    plain = isinstance(callee, (type, types.BuiltinFunctionType))
    return plain and (callee in USES_UP or makes_iterator(callee) or callee in (builtins.any, builtins.all))


# ---------------------------------------------------------- names, in the syntax tree
def has_iterators(nodes: dict[type, list[Any]], scope: Any) -> bool:
    """Whether a function, given by its nodes, makes an iterator or asks one for its items."""
    if nodes.get(gast.GeneratorExp):
        return True
    called = (_found(n.func, scope) for n in nodes.get(gast.Call, ()))
    return any(makes_iterator(f) or f is any or f is all or f is next for f in called)


def _found(node: Any, scope: Any) -> Any:
    """The function, class or module that a name stands for outside of a function, None if it is not known here."""
    try:
        if isinstance(node, gast.Name):
            value = scope.lookup(node.id)  # of the module, which may hold data under the name of a local one
            return value if is_static(value) else None
        if isinstance(node, gast.Attribute) and isinstance(module := _found(node.value, scope), types.ModuleType):
            return getattr(module, node.attr, None)
    except (NameError, AttributeError):
        pass
    return None


def drained(tree: Any, scope: Any, span: Any) -> Any:
    """The tree of a function whose iterators with names are lists that lose their items.

    Raises `UnsupportedSyntax` where one computes its items later from a variable that is assigned again.
    """
    names = _Drained(tree, scope)
    for node in walk(tree):
        if isinstance(node, gast.Assign) and names.is_iterator(node.value) and isinstance(node.targets[0], gast.Name):
            every = {n.id for n in walk(node.value) if isinstance(n, gast.Name)}
            changed = names.changed | {n for n, line in names.methods if line > node.lineno}
            for name in sorted(names.read_later(node.value) | every & changed):
                if names.stored[name] > 1 or name in changed:
                    raise UnsupportedSyntax(
                        f"an iterator with a name reads {name}, which is assigned again or changed", span(node),
                        why="it computes its items when it is run over, with the value of that moment",
                        way_out="make a list of it, [... for ...], or give the value a name of its own",
                    )  # fmt: skip
    return names.visit(tree)


class _Drained(gast.NodeTransformer):
    def __init__(self, tree: Any, scope: Any):
        self.scope = scope
        self.arrays = 0  # that got a name, to be run over with their places
        nodes = list(walk(tree))
        parts = [n.value for n in nodes if isinstance(n, (gast.Subscript, gast.Attribute))
                 and not isinstance(n.ctx, gast.Load)]  # fmt: skip
        self.changed = {n.id for part in parts for n in walk(part) if isinstance(n, gast.Name)}
        self.methods = [  # that change what they belong to, and where
            (n.func.value.id, n.lineno) for n in nodes
            if isinstance(n, gast.Call) and isinstance(n.func, gast.Attribute) and n.func.attr in MUTATING
            and isinstance(n.func.value, gast.Name)
        ]  # fmt: skip
        self.functions = [n for n in nodes if isinstance(n, gast.FunctionDef)]
        names = [n for n in nodes if isinstance(n, gast.Name)]
        self.stored = Counter(n.id for n in names if not isinstance(n.ctx, gast.Load))
        loads = Counter(n.id for n in names if isinstance(n.ctx, gast.Load))
        made = Counter(
            n.targets[0].id for n in nodes
            if isinstance(n, gast.Assign) and len(n.targets) == 1 and isinstance(n.targets[0], gast.Name)
            and self.is_iterator(n.value)
        )  # fmt: skip
        calls = [n for n in nodes if isinstance(n, gast.Call) and n.args and isinstance(n.args[0], gast.Name)]
        asked = {n.args[0].id for n in calls if self.stands_for(n.func, next)}
        tried = {  # to be at the end is an exception there
            n.id for outer in nodes if isinstance(outer, gast.Try) for n in walk(outer) if isinstance(n, gast.Name)
        }
        looped = {
            n.id for outer in nodes if isinstance(outer, (gast.For, gast.While)) for part in outer.body
            for n in walk(part) if isinstance(n, gast.Name)
        }  # fmt: skip
        followed = Counter(n.iter.id for n in nodes if isinstance(n, gast.For) and isinstance(n.iter, gast.Name))
        lazy = {id(n.value) for n in nodes if isinstance(n, gast.Assign)}
        followed += Counter(
            n.generators[0].iter.id for n in nodes
            if isinstance(n, COMPREHENSIONS) and id(n) not in lazy and isinstance(n.generators[0].iter, gast.Name)
        )  # fmt: skip
        followed += Counter(n.args[0].id for n in calls if self.takes_items(n))
        endless = {
            n.targets[0].id for n in nodes
            if isinstance(n, gast.Assign) and isinstance(n.targets[0], gast.Name) and isinstance(n.value, gast.Call)
            and self.found(n.value.func) in ENDLESS
        }  # fmt: skip
        several = {n for n in made if loads[n] > 1 or n in looped}
        self.names = {
            n for n in (several | asked) - tried - endless
            if made[n] and made[n] == self.stored[n] and followed[n] == loads[n]
        }  # fmt: skip

    def found(self, node: Any) -> Any:
        """The function, class or module that a name of no variable stands for."""
        first = node
        while isinstance(first, gast.Attribute):
            first = first.value
        return None if isinstance(first, gast.Name) and self.stored[first.id] else _found(node, self.scope)

    def stands_for(self, node: Any, what: Any) -> bool:
        return self.found(node) is what

    def takes_items(self, node: Any) -> bool:
        """Whether a call asks its first argument for the next item, or for all that are left."""
        function = self.found(node.func)
        if function is next:
            return True
        plain = isinstance(function, (type, types.BuiltinFunctionType)) and len(node.args) == 1
        return plain and function in USES_UP

    def is_iterator(self, node: Any) -> bool:
        return (
            isinstance(node, gast.GeneratorExp) or isinstance(node, gast.Call) and makes_iterator(self.found(node.func))
        )

    def read_later(self, node: Any) -> set[str]:
        """The variables that an iterator reads when it is run over."""
        if isinstance(node, gast.GeneratorExp):
            parts = [node.elt, *(i for g in node.generators for i in g.ifs), *(g.iter for g in node.generators[1:])]
            inside = [n for part in parts for n in walk(part)]
            called = {n.func.id for n in inside if isinstance(n, gast.Call) and isinstance(n.func, gast.Name)}
            parts += [f for f in self.functions if f.name in called]
        else:
            called = {a.id for a in node.args if isinstance(a, gast.Name)}
            parts = [a.body for a in node.args if isinstance(a, gast.Lambda)]
            parts += [f for f in self.functions if f.name in called]
        names = [n for part in parts for n in walk(part) if isinstance(n, gast.Name)]
        own = {n.id for n in walk(node) if isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Load)}
        return {n.id for n in names if isinstance(n.ctx, gast.Load)} - own

    def is_drained(self, node: Any) -> bool:
        return isinstance(node, gast.Name) and node.id in self.names

    # ---------------------------------------------------------- rewriting
    def visit_Assign(self, node: Any) -> Any:
        self.generic_visit(node)
        if len(node.targets) == 1 and self.is_drained(node.targets[0]):
            node.value = _at(node.value, gast.ListComp(_name("an item"), [gast.comprehension(
                _at(node.value, _name("an item", gast.Store())), node.value, [], 0)]))  # fmt: skip
            _at(node.value, node.value.elt)
        return node

    def visit_For(self, node: Any) -> Any:
        self.generic_visit(node)
        if self.is_over_entries(node):
            if not isinstance(node.iter.args[0], gast.Name) or node.iter.args[0].id in self.assigned_in(node):
                self.arrays += 1
                name = "all entries" if self.arrays == 1 else f"all entries {self.arrays}"
                whole = _at(node, gast.Assign([_name(name, gast.Store())], node.iter.args[0], None))
                node.iter.args[0] = _at(node, _name(name))
                return [whole, self.over_places(node)]
            return self.over_places(node)
        if not self.is_drained(node.iter):
            return node
        take = _at(node.iter, gast.Assign([node.target], _popped(node.iter), None))
        return gast.copy_location(gast.While(_left(node.iter), [take, *node.body], node.orelse), node)

    def over_places(self, node: Any) -> Any:
        """``for key, entry in np.ndenumerate(x)`` as a loop over the keys, in which ``entry = x[key]``."""
        key, entry = node.target.elts
        place = copy.deepcopy(key)
        for n in (n for n in walk(place) if hasattr(n, "ctx")):
            n.ctx = gast.Load()
        taken = _at(key, gast.Subscript(node.iter.args[0], place, gast.Load()))
        node.body.insert(0, _at(entry, gast.Assign([entry], taken, None)))
        node.target, node.iter.func = key, _at(node.iter, _name(PLACES))
        return node

    @staticmethod
    def assigned_in(node: Any) -> set[str]:
        return {n.id for n in walk(node) if isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Load)}

    def is_over_entries(self, node: Any) -> bool:
        """Whether it is ``for key, entry in np.ndenumerate(x)``, where each trip takes an entry."""
        call, target = node.iter, node.target
        if not isinstance(call, gast.Call) or len(call.args) != 1 or self.found(call.func) is not np.ndenumerate:
            return False
        pair = isinstance(target, gast.Tuple) and len(target.elts) == 2
        return pair and all(isinstance(n, (gast.Name, gast.Tuple, gast.Store)) for n in walk(target.elts[0]))

    def visit_comprehension(self, node: Any) -> Any:
        self.generic_visit(node)
        if self.is_drained(node.iter):
            node.iter = _all_left(node.iter)
        return node

    def visit_Call(self, node: Any) -> Any:
        self.generic_visit(node)
        if len(node.args) == 1 and self.is_drained(node.args[0]):
            if self.stands_for(node.func, next):
                return gast.copy_location(_popped(node.args[0]), node)
            if self.takes_items(node):
                node.args = [_all_left(node.args[0])]
        elif len(node.args) == 2 and self.is_drained(node.args[0]) and self.stands_for(node.func, next):
            return gast.copy_location(gast.IfExp(_left(node.args[0]), _popped(node.args[0]), node.args[1]), node)
        elif node.args and isinstance(node.args[0], gast.GeneratorExp) and self.stands_for(node.func, next):
            node.func = _at(node.func, _name(FIRST if len(node.args) == 1 else FIRST_OR))
        elif self.stands_for(node.func, next) and node.args and self.is_made_of_items(node.args[0]):
            node.func = _at(node.func, _name(FIRST if len(node.args) == 1 else FIRST_OR))
            node.args[0].func = _at(node.args[0].func, _name(LISTED))
        return node

    def is_made_of_items(self, node: Any) -> bool:
        """Whether it is ``iter(xs)``, of which `next` takes the first item."""
        return isinstance(node, gast.Call) and len(node.args) == 1 and self.stands_for(node.func, iter)


ENDLESS = (itertools.count, itertools.cycle, itertools.repeat)
ALL_LEFT, FIRST, FIRST_OR, LENGTH, LISTED = "what is left", "the first", "the first or", "the length", "the items"
PLACES, QUEUE, ARRAY = "the places of the entries", "a queue", "an array"


def _name(name: str, context: Any = None) -> Any:
    return gast.Name(name, context or gast.Load(), None, None)


def _at(place: Any, node: Any) -> Any:
    return gast.copy_location(node, place)


def _all_left(name: Any) -> Any:
    return _at(name, gast.Call(_at(name, _name(ALL_LEFT)), [name], []))


def _left(name: Any) -> Any:
    """``len(it) > 0``"""
    count = _at(name, gast.Call(_at(name, _name(LENGTH)), [name], []))
    return _at(name, gast.Compare(count, [gast.Gt()], [_at(name, gast.Constant(0, None))]))


def _popped(name: Any) -> Any:
    """``it.pop(0)``"""
    function = _at(name, gast.Attribute(name, "pop", gast.Load()))
    return _at(name, gast.Call(function, [_at(name, gast.Constant(0, None))], []))


# ---------------------------------------------------------- values, in core form
def used_once(function: Function) -> tuple[Function, bool]:
    """The function with its iterators as they are made, and whether it gives one back.

    Raises `UnsupportedSyntax` where one is used again.
    """
    uses = _Uses()
    uses.block(function.body, 0)

    def rewrite(s: Statement) -> tuple[Statement, ...]:
        if isinstance(s, Effect) and s.op is runtime.require_count and s.args[0] in uses.made:
            return ()  # an iterator has no length
        return (replace(s, op=ops.identity) if isinstance(s, Assign) and s.op is ops.once else s,)

    return replace(function, body=transform(function.body, rewrite)), function.result in uses.made


class _Uses:
    def __init__(self) -> None:
        self.made: dict[str, tuple[str, int]] = {}  # name -> the iterator that it is, and how many loops it is in
        self.used: set[str] = set()
        self.unpacked: set[str] = set()  # iterators whose items are taken one by one, which is one use

    def block(self, block: Block, loops: int) -> None:
        for s in block:
            if isinstance(s, Assign) and s.op in (ops.once, *IN_CORE):
                self.reads(s, loops)
                self.made[s.target] = (s.target, loops)
                continue
            if isinstance(s, Assign) and s.op is ops.identity and s.args[0] in self.made:
                self.made[s.target] = self.made[s.args[0]]  # type: ignore[index]
                continue
            if not isinstance(s, While):  # what a loop carries is read by name
                self.reads(s, loops)
            if isinstance(s, If):
                before = set(self.used)
                self.block(s.then, loops)
                after, self.used = self.used, before
                self.block(s.orelse, loops)
                self.used |= after
                for m in s.merged:
                    for atom in (m.then, m.orelse):
                        if atom in self.made:
                            self.made[m.name] = self.made[atom]  # type: ignore[index]
            else:
                for inner in blocks(s):
                    self.block(inner, loops + isinstance(s, (For, While)))

    def reads(self, s: Statement, loops: int) -> None:
        atoms = (s.iterable,) if isinstance(s, For) else (s.test,) if isinstance(s, If) else reads(s)
        for atom in atoms:
            if (
                atom not in self.made
                or isinstance(s, (Assign, Effect))
                and s.op in (ops.assumed, runtime.require_count)
            ):
                continue
            name, depth = self.made[atom]  # type: ignore[index]
            if isinstance(s, Assign) and s.op is operator.getitem:
                if name in self.unpacked:
                    continue
                self.unpacked.add(name)
            if name in self.used or loops > depth or _holds(s):
                raise _once("an iterator is kept in a container" if _holds(s) else "an iterator is used again", s)
            self.used.add(name)


def refuse_held(block: Block, iterators: Set[Atom]) -> None:
    """Refuse containers that hold iterators without names, ``[iter(x)]``, which would be taken for lists.

    Raises `UnsupportedSyntax`.
    """
    for s in statements(block):
        into_slice = isinstance(s, Store) and (is_slice(s.key) or str(s.key).startswith("%key"))
        held = reads(s)[isinstance(s, (Store, Effect)) :]  # not what it is kept in
        if _holds(s) and not into_slice and any(a in iterators for a in held):
            raise _once("an iterator is kept in a container", s)


def is_slice(key: Atom | None) -> bool:
    """Whether a subscript is a slice that is written out."""
    return isinstance(key, Const) and isinstance(key.value, slice)


def _holds(s: Statement) -> bool:
    """Whether a statement keeps what it reads."""
    if isinstance(s, (Assign, Effect)) and s.op is ops.method:
        return s.args[1] in KEEPING
    return isinstance(s, (Store, Opaque)) or isinstance(s, (Assign, Effect)) and s.op in HELD


def _once(what: str, s: Statement) -> UnsupportedSyntax:
    return UnsupportedSyntax(
        what, s.span, why="an iterator gives its items once; which are left, tangentc does not follow here",
        way_out="make a list of it first: items = list(...)",
    )  # fmt: skip
