"""Loops, comprehensions and the functions that stand for them.

    [np.sin(x) for x in xs if x > 0]     ->     items = []
                                                for x in xs:
                                                    if x > 0:
                                                        items.append(np.sin(x))

A loop over things of different kinds (layers, a dict of arrays of different ranks) is written out trip by
trip, so that each has its own types; every other loop stays a loop.
"""

from __future__ import annotations

import builtins
import functools
import operator
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import gast

from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Block, Const, Effect, For, Global, If, Statement, Store
from tangentc.core.walk import changed_by, defines, statements
from tangentc.frontend.activation import Activation
from tangentc.frontend.callables import is_user_function
from tangentc.frontend.leave import gather, has, with_flag
from tangentc.frontend.part import Part
from tangentc.frontend.questions import length_in
from tangentc.frontend.source import Quoted
from tangentc.frontend.trees import walk

LENDING = {ops.identity, operator.getitem, builtins.getattr, ops.method, ops.select, ops.call}


MOST_ITEMS, MOST_LINES = 4, 2  # of a loop over what is written out, if it is written out itself


def _is_of_few(iterable: Any) -> bool:
    """Whether this is a tuple or a list of a few things, which are no numbers."""
    items = iterable.elts if isinstance(iterable, (gast.Tuple, gast.List)) else ()
    return 1 < len(items) <= MOST_ITEMS and not any(isinstance(e, (gast.Starred, gast.Constant)) for e in items)


def _is_short(loop: Any) -> bool:
    simple = (gast.Assign, gast.AugAssign, gast.Expr)
    return isinstance(loop, gast.For) and len(loop.body) <= MOST_LINES and all(isinstance(s, simple) for s in loop.body)


class Comprehend(Part):
    """The part of lowering that knows loops."""

    def want_written_out(self, iterable: Any, site: Any, node: Any) -> None:
        """In a definition, a loop over ``*args`` is written out: there are as many results as arguments.  A short one
        over a few things that are written out, ``for a in (x, y)``, is as well."""
        if _is_of_few(iterable) and (node is iterable or _is_short(node)):
            self.known.wanted.add(site)
        given, all_nodes = self.activation.static, list(walk(iterable))
        starred = {n.value for n in all_nodes if isinstance(n, gast.Starred)}
        if isinstance(self.activation.source, Quoted) and any(
            isinstance(n, gast.Name) and n.id in given and n not in starred for n in all_nodes
        ):
            self.known.wanted.add(site)

    def of_comprehension(self, iterable: Any) -> tuple[list | None, Any]:
        """What a loop of a comprehension runs over; what runs a generator function, which stops at each item."""
        run = self.generates(iterable) if self.trying is None else None
        return (None, run) if run is not None else self.run_over(iterable, iterable)

    def loop_over(self, iterable: Atom, node: Any, body: Callable[[Atom], None]) -> None:
        """A loop whose body the compiler writes."""
        target = self.fresh("%each")

        def trip() -> None:
            self.state.takes(target, iterable)
            body(target)

        inner = self.trips_of(self.span(node).site, trip)
        self.refuse_deeper(node)
        self.out.append(For(target, iterable, inner, (), self.span(node)))

    # ---------------------------------------------------------- loops that are written out
    def written_out(self, node: Any, iterable: Any, sources: list, body: Callable[[Any], Any]) -> bool:
        """Each trip of a loop on its own; gives whether a list that it runs over gets longer meanwhile."""
        site = self.span(node).site
        outer, self.unrolled = self.unrolled, site
        before, self.counted = self.counted, []
        count, item = self.trips(iterable, iter(sources))
        self.unrolled, counted, self.counted = outer, self.counted, before
        step = self.step

        def trip(k: int) -> Block:
            self.step = (*step, (site[2:], k))
            return self.block_of(lambda: body(item(k)))

        blocks = self.state.trips(functools.partial(trip, k) for k in range(count))
        self.step = step
        orelse = getattr(node, "orelse", [])
        self._trips_in_order(blocks, node, orelse)
        for atom, length in counted:  # a list that got longer meanwhile would have had more trips
            self.assume("unroll", site, length, node, atom)
        return any(length_in(self.state.of(atom)) != length for atom, length in counted)

    def _trips_in_order(self, blocks: list[Block], node: Any, orelse: list) -> None:
        broke = self.fresh("%broke")
        breaks = any(has(b, "break") for b in blocks)
        leaving = breaks or any(has(b, "continue") for b in blocks)
        if leaving and any(has(b, "return") for b in blocks):
            raise self.unsupported(
                node, "`return` beside `break` or `continue` in a loop over things of different kinds",
                "leave the loop in one way",
            )  # fmt: skip
        if breaks:
            self.add(Assign(broke, ops.identity, (Const(False),), (), self.span(node)))
        rest: list[Statement] = self.out
        for block in blocks:
            if breaks:
                block = _as_continue(with_flag(block, "break", broke))
            rest.extend(gather(block, "", "%out") if leaving else block)
            if breaks and has_flag(block, broke):
                inner: list[Statement] = []
                self._pending(rest, inner, broke, node)
                rest = inner
        if orelse:
            outer, self.out = self.out, rest
            self.block(orelse)
            self.out = outer
        self._close_pending()

    def _pending(self, outer: list, inner: list, flag: str, node: Any) -> None:
        self.__dict__.setdefault("_open_trips", []).append((outer, inner, flag, self.span(node)))

    def _close_pending(self) -> None:
        for outer, inner, flag, span in reversed(self.__dict__.pop("_open_trips", [])):
            if inner:
                outer.append(If(flag, (), tuple(inner), (), span, "statement"))

    def trips(self, node: Any, sources: Iterator) -> tuple[int, Callable[[int], Any]]:
        """How many trips a loop that is written out has, and what each takes."""
        if isinstance(node, gast.Call) and not any(isinstance(a, gast.Starred) for a in node.args):
            callee = self.expression(node.func) if isinstance(node.func, gast.Name) else Const(None)
            function = callee.value if isinstance(callee, Const) else None
            if function is builtins.enumerate:
                count, item = self.trips(node.args[0], sources)
                start = node.args[1] if len(node.args) > 1 else node.keywords[0].value if node.keywords else None
                first = 0 if start is None else self.constant(start)
                return count, lambda k: (Const(first + k), item(k))
            if function is builtins.reversed:
                count, item = self.trips(node.args[0], sources)
                return count, lambda k: item(count - 1 - k)
            if function is builtins.zip:
                parts = [self.trips(a, sources) for a in node.args]
                return min(n for n, _ in parts), lambda k: tuple(item(k) for _, item in parts)
            if function is builtins.range:
                numbers = next(sources)
                self.assume("unroll", self.unrolled, numbers, node, *map(self.expression, node.args))
                return len(numbers), lambda k: Const(numbers[k])
            if isinstance(node.func, gast.Attribute) and node.func.attr in ("items", "values", "keys"):
                keys = next(sources)
                if not isinstance(keys, tuple):  # a dict of computed keys, when this was learned
                    return self._items_of(self.expression(node), keys, node)
                base = self.with_keys(self.expression(node.func.value), keys, node)
                if node.func.attr == "keys":
                    return len(keys), lambda k: Const(keys[k])

                def entry(k: int) -> Atom:
                    return self.emit(operator.getitem, (base, Const(keys[k])), node)

                if node.func.attr == "values":
                    return len(keys), entry
                return len(keys), lambda k: (Const(keys[k]), entry(k))
        return self._items_of(self.iterated(self.expression(node), node), next(sources), node)

    def _items_of(self, atom: Atom, source: Any, node: Any) -> tuple[int, Callable[[int], Any]]:
        if not isinstance(source, int):
            self.with_keys(atom, source, node)
            return len(source), lambda k: Const(source[k])
        if isinstance(atom, Const):
            return source, lambda k: Const(atom.value[k])
        self.assume("unroll", self.unrolled, source, node, atom)
        self.counted.append((atom, source))
        return source, lambda k: self.emit(operator.getitem, (atom, Const(k)), node)

    def with_keys(self, atom: Atom, keys: Any, node: Any) -> Atom:
        """A dict, or a range, that the code is written for; whether it has these keys is asked when all is known."""
        if isinstance(atom, str):
            self.assume("unroll", self.unrolled, keys, node, atom)
        return atom

    def constant(self, node: Any) -> Any:
        atom = self.expression(node)
        if not isinstance(atom, Const):
            raise self.unsupported(node, "a loop over things of different kinds from a bound that is computed",
                                   "write the bound as a number")  # fmt: skip
        return atom.value

    # ---------------------------------------------------------- comprehensions
    def of_ListComp(self, node: Any, target: str | None) -> Atom:
        items: list[Atom] = []
        made, start = self.fresh("%items"), len(self.out)
        first = self.of_comprehension(node.generators[0].iter)
        whole = len(node.generators) == 1 and not node.generators[0].ifs and first[0] is not None

        def each() -> None:
            value = self.expression(node.elt)
            if whole:
                items.append(self.kept(value, node.elt))
            else:
                self.add(Effect(ops.append, (made, value), (), self.span(node)))

        if not whole:
            self.growing[made] = {self.span(g.iter).site for g in node.generators}
            self.add(Assign(made, ops.make_list, (), (), self.span(node)))
            self.out.insert(start, self.out.pop())
        self.generators(node, node.generators, each, first)
        return self.emit(ops.make_list, tuple(items), node, target=target) if whole else made

    def of_GeneratorExp(self, node: Any, target: str | None) -> Atom:
        start, before = len(self.out), self.activations
        made = self.of_ListComp(node, target)
        if getattr(node, "asked_in_part", False) and self._changes_something(self.out[start:], made, before):
            raise self.unsupported(
                node, "a generator whose items change something, which is not surely run to its end at once",
                "write it as a loop, or make a list of it: [... for ...]",
            )  # fmt: skip
        return made

    def _changes_something(self, block: list[Statement], made: Atom, before: int) -> bool:
        """Whether statements change what was there before them, or assign a variable of a function around them."""
        made_by: dict[str, list[Any]] = defaultdict(list)
        for s in statements(tuple(block)):
            for name in defines(s):
                made_by[name].append(s)

        def is_outside(name: Any) -> bool:
            return isinstance(name, str) and (name not in made_by or any(map(lends, made_by[name])))

        def lends(s: Any) -> bool:
            if isinstance(s, For):
                return is_outside(s.iterable)
            if not isinstance(s, Assign):
                return True
            return (s.op in LENDING or is_user_function(s.op)) and any(map(is_outside, s.args))

        changed = {changed_by(s) for s in statements(tuple(block))} - {None, made}
        variables = [n.split(".")[0].split("'") for n in made_by if not n.startswith("%")]
        return any(map(is_outside, changed)) or any(len(v) == 1 or int(v[1]) <= before for v in variables)

    def of_DictComp(self, node: Any, target: str | None) -> Atom:
        start = len(self.out)
        for g in node.generators:  # so that the keys become known
            names = {n.id for n in walk(g.target) if isinstance(n, gast.Name)}
            if any(isinstance(n, gast.Name) and n.id in names for n in walk(node.key)):
                self.known.wanted.add(self.span(g.iter).site)
        first = self.of_comprehension(node.generators[0].iter)
        others = len(node.generators) == 1
        if first[0] is not None and others and not any(g.ifs for g in node.generators):
            entries: dict[Atom, Atom] = {}

            def entry() -> None:
                key = self.key(node.key)
                entries[key] = self.kept(self.expression(node.value), node)

            block = self.block_of(lambda: self.generators(node, node.generators, entry, first))
            if all(isinstance(key, Const) for key in entries):
                self.out.extend(block)
                keys = Const(tuple(key.value for key in entries))  # type: ignore[union-attr]
                return self.emit(ops.make_dict, (keys, *entries.values()), node, target=target)
        made = self.emit(ops.make_dict, (Const(()),), node)  # what has this name now may be run over
        self.out.insert(start, self.out.pop())

        def each() -> None:
            key, value = self.key(node.key), self.expression(node.value)
            self.add(Store(made, key, value, None, self.span(node)))

        self.generators(node, node.generators, each, first)
        return made

    def generators(self, node: Any, generators: list, each: Callable[[], None], first: Any) -> None:
        """The loops of a comprehension around what happens in the innermost."""
        self.activations += 1
        names: Counter[str] = Counter()
        for g in generators:
            names.update(n.id for n in walk(g.target) if isinstance(n, gast.Name))
        a = self.activation
        inner = Activation(
            a.source, a.scope, Counter(dict.fromkeys(names, 2)), a, self.activations, a.path, tuple(self.loops)
        )
        self.callers[inner] = a

        def one(k: int, within: Any) -> None:
            if k == len(generators):
                each()
                return
            g = generators[k]

            def conditions(rest: list) -> None:
                if not rest:
                    one(k + 1, None)
                    return
                test = self.test(rest[0])
                if isinstance(test, Const):
                    if test.value:
                        conditions(rest[1:])
                    return
                block = self.path(lambda: conditions(rest[1:]))
                self.add(If(test, block, (), (), self.span(rest[0]), "statement"))

            def body(item: Atom) -> None:
                self.activation = inner
                self.bind_trip(g.target, item)
                conditions(list(g.ifs))

            if k == 0:
                self.activation = a
            sources, iterable = self.of_comprehension(g.iter) if k else first
            if callable(iterable):
                self.in_turn(g.iter, iterable, body)
            elif sources is not None:
                self.written_out(g.iter, g.iter, sources, body)
            else:
                self.activation = inner
                self.loop_over(iterable, g.iter, body)

        try:
            one(0, None)
        finally:
            self.activation = a

    # ---------------------------------------------------------- map, filter, reduce
    def special_call(self, node: Any, target: str | None) -> Atom | None:
        """Calls whose arguments are read as they are written: `jvp` and `hvp`, ``dict(zip(keys, values))``."""
        if not isinstance(node.func, (gast.Name, gast.Attribute)):
            return None
        if getattr(node.func, "id", "") == "dict" and len(node.args) == 1 and isinstance(node.args[0], gast.Call):
            if self.expression(node.func) == Const(builtins.dict) and not node.keywords:
                return self.expression(_as_comprehension(node), target)
        if (node.func.id if isinstance(node.func, gast.Name) else node.func.attr) not in ("jvp", "hvp"):
            return None
        callee = self.looked_at(node.func)
        if isinstance(callee, Const) and getattr(callee.value, "__tangentc_kind__", "") in ("jvp", "hvp"):
            return self.jvp_call(node)
        return None


def _as_comprehension(node: Any) -> Any:
    """``dict(pairs)`` as ``{key: value for key, value in pairs}``."""
    key, value = (gast.Name(n, gast.Load(), None, None) for n in ("the key", "the value"))
    target = gast.Tuple([gast.Name(n.id, gast.Store(), None, None) for n in (key, value)], gast.Store())
    made = gast.DictComp(key, value, [gast.comprehension(target, node.args[0], [], 0)])
    for part in (made, key, value, target, *target.elts):
        gast.copy_location(part, node)
    return made


def _as_continue(block: Block) -> Block:
    """Leaving by ``break`` ends this trip; a flag keeps the others from beginning."""
    from dataclasses import replace

    from tangentc.core.nodes import Leave

    out: list[Statement] = []
    for s in block:
        if isinstance(s, If):
            s = replace(s, then=_as_continue(s.then), orelse=_as_continue(s.orelse))
        if isinstance(s, Leave) and s.kind == "break":
            s = replace(s, kind="continue")
        out.append(s)
    return tuple(out)


def has_flag(block: Block, flag: str) -> bool:
    from tangentc.core.walk import all_defines

    return flag in all_defines(block)


__all__ = ["Comprehend", "Global"]
