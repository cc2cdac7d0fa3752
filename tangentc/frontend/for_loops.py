"""How a loop is written: as one, trip by trip, or its first trips apart from the others.

    y = [1.0, 0.0]                                 y = [1.0, 0.0]
    for k in range(100):             ->            y = step(np.asarray(y), 0)
        y = step(np.asarray(y), k)                 for k in range(1, 100):
                                                       y = step(np.asarray(y), k)

Where a loop begins with another kind of value than what its trips hand on, a list here and an array there, the others
stay a loop once the first is written before it.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import itertools
import operator
from collections.abc import Callable, Iterable
from typing import Any

import gast
import numpy as np

from tangentc.analysis.holding import lost_parts
from tangentc.analysis.joins import is_mixed
from tangentc.core import ops
from tangentc.core.nodes import PRESENT, Assign, Atom, Block, Const, For
from tangentc.core.types import Array, Sequence, Tuple
from tangentc.errors import UnsupportedSyntax
from tangentc.frontend.part import Part
from tangentc.frontend.questions import number_of_trips
from tangentc.frontend.trees import walk
from tangentc.ops import methods

RESIZES = methods.names(list, changes=True)
ONE_BY_ONE = {  # in each trip or, those of itertools, all at once
    builtins.zip, builtins.enumerate, builtins.reversed, builtins.map, builtins.filter, np.ndindex, itertools.product,
    itertools.combinations, itertools.permutations, itertools.combinations_with_replacement,
}  # fmt: skip
ONE = Const(1)
MOST_APART = 2  # trips that are written before the loop: None, then a list, then arrays


class ForLoops(Part):
    """The part of lowering that writes `for`."""

    def on_For(self, node: Any) -> None:
        if self.over_a_generator(node):
            return
        start = len(self.out)
        sources, iterable = self.run_over(node.iter, node)
        if sources is not None:
            if self.each_trip(node, sources):
                return
            iterable = self.iterated(self.expression(node.iter), node)
        found = self.one_loop(node, iterable)
        if found is not None:
            del self.out[start:]
            if not self.each_trip(node, *found):
                self.one_loop(node, self.iterated(self.expression(node.iter), node), as_one=True)

    def each_trip(self, node: Any, sources: list, mixed: Iterable[Atom] = ()) -> bool:
        """A loop that is written out; False, and nothing is written, if it makes longer what it runs over, or no type
        is that of some names then either.
        """

        def each(item: Any) -> None:
            self.bind_trip(node.target, item)
            self.trip(node.body)

        def write() -> None:
            fits.append(not self.written_out(node, node.iter, sources, each))
            fits.append(not any(is_mixed(self.state.of(name)) for name in mixed))

        fits: list[bool] = []
        return self.kept_if(fits, write)

    def kept_if(self, fits: list[bool], write: Callable[[], None]) -> bool:
        """Whether ``write`` finds that what it writes ``fits``; it is written then, and only then."""
        ways = self.state.ways_out()
        block, end = self.state.fork(lambda: self.block_of(write))
        if all(fits):
            self.state.merge([end])
            self.out.extend(block)
        else:
            self.state.forget(ways)
        return all(fits)

    def one_loop(
        self, node: Any, iterable: Atom, apart: int = 0, lists: tuple[str, ...] = (), as_one: bool = False
    ) -> tuple[list, Iterable[Atom]] | None:
        """A loop that stays one, but for the trips that are written apart before it; nothing is written if its items
        are told apart, unless it has to stay ``as_one``: it gives its trips then, and what of no type these may make
        known.  ``lists`` are those of whose items it runs over the rest.
        """
        site = self.span(node).site
        grows = as_one or _grows(node.iter, node)
        may_be = None if grows else self.asks.trips(iterable)
        unlike: list[bool] = []
        is_name = isinstance(node.target, gast.Name)
        target = self.variable(node.target) if is_name else self.fresh("%item")
        late = [*self.read_late(node.iter), *lists]

        def trip() -> None:
            self.state.takes(target, iterable)
            if late:
                self.assume("unchanged", site, None, node, *late)
            if not is_name:
                self.bind(node.target, target)
            self.trip(node.body)
            if may_be is not None:
                is_key = self.asks.is_key(For(target, iterable, tuple(self.out)))
                unlike.append(is_key and self.asks.trips(iterable) == may_be)

        ways = self.state.ways_out()
        body, end = self.state.fork(lambda: self.trips_of(site, trip))
        lost, mixed, out = self.state.lost, self.state.mixed, self.state.ways_out()
        if may_be is not None and (any(unlike) or self.is_wanted(site)):
            self.state.forget(ways)
            return may_be, ()
        if (lost or mixed) and not grows:
            own = [ends[count:] for (ends, _), (_, count) in zip(out, ways)]
            self.state.forget(ways)
            if self.first_apart(node, iterable, apart, lists):
                return None
            if may_be is not None:
                return may_be, () if lost else mixed
            for (ends, _), back in zip(ways, own):
                ends += back
        self.refuse_deeper(node)
        self.state.merge([end])
        arrays = self.state.arrays_behind_a_trip() if self.asks.surely_runs(iterable) else ()
        self.finish_loop(node, body, lambda b: For(target, iterable, b, (), self.span(node)))
        for name in arrays:
            self.emit(ops.identity, (name,), node, PRESENT, target=name)
        return None

    def read_late(self, node: Any) -> list[str]:
        """What a loop over an iterator takes items of in each trip, where all were taken before: its body may not
        change it."""
        if isinstance(node, gast.GeneratorExp):
            is_late = len(node.generators) > 1
        else:
            callee = self.looked_at(node.func) if isinstance(node, gast.Call) and self.is_iterator(node) else None
            is_late = isinstance(callee, Const) and callee.value not in ONE_BY_ONE
        found: list[str] = []
        args = node.args if isinstance(node, gast.Call) else []
        waiting = [node] if is_late else [a for a in args if self.generates(a) is not None]
        while waiting:
            n = waiting.pop()
            if isinstance(n, gast.Name):
                with contextlib.suppress(UnsupportedSyntax, AttributeError):
                    atom = self.of_Name(n, None)
                    found += [atom] if isinstance(atom, str) else []
            elif not isinstance(n, gast.Call) or n is node or n in args or self.is_iterator(n):
                waiting += gast.iter_child_nodes(n)  # another call gives something of its own
        return found

    def is_wanted(self, site: Any) -> bool:
        return site in self.known.wanted or site in self.known.counted

    def run_over(self, iterable: Any, node: Any) -> tuple[list | None, Any]:
        """The trips of a loop that is written out, else None and what it runs over."""
        site, start = self.span(node).site, len(self.out)
        self.want_written_out(iterable, site, node)

        def look() -> tuple[list | None, Atom]:
            atom = self.iterated(self.expression(iterable), node)
            trips = self.asks.trips(atom)
            unlike = trips is not None and (not number_of_trips(trips) or self.asks.mixed(atom) or self.is_wanted(site))
            if not unlike or _grows(iterable, node):
                return None, atom
            return trips, atom

        (trips, atom), end = self.state.fork(look)
        if trips is not None:
            del self.out[start:]
            return trips, None
        self.state.merge([end])
        return None, atom

    # ---------------------------------------------------------- the first trips
    def first_apart(self, node: Any, iterable: Atom, apart: int, lists: tuple[str, ...]) -> bool:
        """The first trip of a loop, and a loop over the rest; False, and nothing is written, if that is no better."""
        if apart >= MOST_APART or node.orelse or not self.asks.surely_runs(iterable) or not self._has_rest(iterable):
            return False
        step, site = self.step, self.span(node).site
        lists, lost = (*lists, *self._lists(iterable)), self.state.lost | self.state.mixed

        def first() -> Block:
            self.step = (*step, (site[2:], "first"))
            return self.block_of(
                lambda: (self.bind_trip(node.target, self._first(iterable, node)), self.trip(node.body))
            )

        def others() -> Block:
            self.step = (*step, (site[2:], "rest"))
            rest: list[Atom] = []
            head = self.block_of(lambda: rest.append(self._rest(iterable, node)))
            loop = self.block_of(lambda: fits.append(self.one_loop(node, rest[0], apart + 1, lists) is None))
            fits.append(
                not self.state.lost | self.state.mixed and not any(lost_parts(self.state.of(name)) for name in lost)
            )
            return (*head, *loop)

        def both() -> None:
            self._trips_in_order(self.state.trips([first, others]), node, [])

        fits: list[bool] = []
        try:
            return self.kept_if(fits, both)
        finally:
            self.step = step

    def _made(self, atom: Atom) -> Assign | None:
        made = self.asks.definitions.get(atom) if isinstance(atom, str) and atom.startswith("%") else None
        return made if isinstance(made, Assign) else None

    def _has_rest(self, iterable: Atom) -> bool:
        """Whether there is an expression for all items but the first."""
        made = self._made(iterable)
        if made is not None and made.op in (builtins.enumerate, builtins.zip) and not made.keywords:
            return all(map(self._has_rest, made.args[: 1 if made.op is builtins.enumerate else None]))
        if made is not None and made.op is builtins.range:
            return True
        t = self.state.seen(iterable)
        return isinstance(t, (Array, Tuple)) or isinstance(t, Sequence) and t.kind in (list, tuple)

    def _lists(self, iterable: Atom) -> list[str]:
        """The lists that a loop runs over, of which the rest is another list."""
        made = self._made(iterable)
        if made is not None and made.op in (builtins.enumerate, builtins.zip):
            return [name for a in made.args for name in self._lists(a)]
        t = self.state.seen(iterable)
        return [iterable] if isinstance(iterable, str) and isinstance(t, Sequence) and t.kind is list else []

    def _first(self, iterable: Atom, node: Any) -> Any:
        """The first item of what a loop runs over."""
        made = self._made(iterable)
        match made:
            case Assign(op=builtins.range, args=args):
                return args[0] if len(args) > 1 else Const(0)
            case Assign(op=builtins.enumerate, args=args):
                return args[1] if len(args) > 1 else Const(0), self._first(args[0], node)
            case Assign(op=builtins.zip, args=args):
                return tuple(self._first(a, node) for a in args)
        return self.emit(operator.getitem, (iterable, Const(0)), node)

    def _rest(self, iterable: Atom, node: Any) -> Atom:
        """What a loop runs over, without its first item."""
        match self._made(iterable):
            case Assign(op=builtins.range, args=args):
                start, stop, *by = args if len(args) > 1 else (Const(0), *args)
                return self.emit(builtins.range, (self._next(start, by[0] if by else ONE, node), stop, *by), node)
            case Assign(op=builtins.enumerate, args=args):
                start = self._next(args[1] if len(args) > 1 else Const(0), ONE, node)
                return self.emit(builtins.enumerate, (self._rest(args[0], node), start), node)
            case Assign(op=builtins.zip, args=args):
                return self.emit(builtins.zip, tuple(self._rest(a, node) for a in args), node)
        name = self.fresh(f"{str(iterable).lstrip('%').split('.')[0]}_rest")
        return self.emit(operator.getitem, (iterable, Const(slice(1, None))), node, target=name)

    def _next(self, start: Atom, by: Atom, node: Any) -> Atom:
        if isinstance(start, Const) and isinstance(by, Const):
            return Const(start.value + by.value)
        return self.emit(operator.add, (start, by), node)


def _grows(iterable: Any, loop: Any) -> bool:
    """Whether the body of a loop may make a list longer or shorter while the loop runs over it."""
    if not isinstance(iterable, (gast.Name, gast.Attribute, gast.Subscript)):
        return False
    called = (n.func for s in getattr(loop, "body", ()) for n in walk(s) if isinstance(n, gast.Call))
    names = {
        ast.unparse(gast.gast_to_ast(f.value)) for f in called if isinstance(f, gast.Attribute) and f.attr in RESIZES
    }
    return bool(names) and ast.unparse(gast.gast_to_ast(iterable)) in names
