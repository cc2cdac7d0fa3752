"""Values that would make the result no number if they were none.

    e = np.exp(s)                    e is felt: the result is infinite where it is
    y = np.where(x > 0, e * x, 0)    e * x is not: where x is not positive it is left out

What is felt needs no mask: where it is infinite there is no gradient to be kept. An infinite value passes through
sums, products, views and what is stored; not through quotients that it divides, exponentials and the like, which may
make a number of it, and not through a choice of entries. A NaN passes through all but a choice by a test. A number,
though, is one for all entries: it is felt if any of them is. A loop is taken to have a trip.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Mapping

import numpy as np

from tangentc.analysis.elementwise import is_elementwise
from tangentc.core import ops
from tangentc.core.build import shape_of
from tangentc.core.nodes import Assign, Atom, Block, Const, For, Function, If, Statement, Store, While
from tangentc.core.types import Array, Scalar, Type
from tangentc.core.walk import blocks, changed_by, defines, statements

PASSING = {
    operator.add, operator.sub, operator.mul, operator.neg, operator.pos, operator.matmul, operator.truediv, np.dot,
    np.sum, np.mean, np.cumsum, np.outer, np.inner, np.vdot, np.einsum, np.tensordot, np.trace, np.transpose,
    np.reshape, np.ravel, np.swapaxes, np.moveaxis, np.expand_dims, np.squeeze, np.copy, np.array, np.asarray,
    np.stack, np.concatenate, np.full, np.square, np.sqrt, np.log, ops.identity, ops.make_tuple, ops.make_list,
    ops.copied, ops.seen,
}  # fmt: skip
VIEWS = {
    np.transpose, np.reshape, np.ravel, np.swapaxes, np.moveaxis, np.expand_dims, np.squeeze, np.asarray,
    operator.getitem, ops.identity,
}  # fmt: skip
CHOOSING = {  # which arguments some entries are taken of, or left as they are
    np.where: (1, 2), np.maximum: (0, 1), np.minimum: (0, 1), np.clip: (0,), np.max: (0,), np.min: (0,),
    operator.getitem: (0,), operator.pow: (0,),
}  # fmt: skip
PRODUCTS = (operator.matmul, np.matmul, np.dot)
MULTIPLIED = "multiplied"  # how a caller takes some entries of a result of which none may be infinite
EXTREMES = {np.max, np.min, np.amax, np.amin}  # NaN if any entry is
Types = Callable[[Atom], Type]
Way = Callable[[Assign, int, Types], bool | None]  # whether all of an argument passes; None for some entries of it


def infinite(s: Assign, k: int, of: Types) -> bool | None:
    """Whether an infinite argument makes what an operation gives infinite, or no number."""
    if s.op in PASSING and not (s.op is operator.truediv and k > 0):
        return True
    if s.op in (np.where, ops.select) and shape_of(of(s.args[0])) != shape_of(of(s.target)):
        return False  # one test for several entries may leave all of them out
    return None if k in CHOOSING.get(s.op, ()) or is_elementwise(s.op) and s.op not in ops.COMPARE else False


def no_number(s: Assign, k: int, of: Types) -> bool | None:
    """The same of an argument that is a NaN; what a test leaves out is not said to be some of it."""
    if s.op is operator.getitem:
        by_place = isinstance(s.args[1], Const) or isinstance(of(s.args[1]), Scalar)
        return None if k == 0 and by_place else False
    if s.op in (np.where, ops.select):
        return False
    return s.op in PASSING | EXTREMES or is_elementwise(s.op) and s.op not in ops.COMPARE


def felt(
    function: Function, of: Types, way: Way = infinite, chosen: bool = False, also: Iterable[Atom] = ()
) -> Felt:  # fmt: skip
    """Which values are felt in the result of a function; with ``chosen`` its caller takes some entries of it alone.
    What is felt ``also`` is so in an adjoint."""
    found = Felt(function, of, way, chosen)
    for atom in also:
        found.add(atom, True)
    count = -1
    while count != found.count():  # once more for what loops carry
        count = found.count()
        found.block(function.body, False)
    return found


def multiplied(function: Function, moving: Collection[Atom]) -> set[Atom]:
    """What is multiplied with a matrix that moves."""
    products = (s.args for s in statements(function.body) if isinstance(s, Assign) and s.op in PRODUCTS)
    return {a for args in products for a, other in (args[:2], args[1::-1]) if other in moving}


class Felt:
    """``wholly`` holds what is felt wherever it is infinite, ``partly`` what may be at some of its entries; what a loop
    carries is felt by its uses in a trip, and, under another name, by those after the loop."""

    def __init__(self, function: Function, of: Types, way: Way, chosen: bool):
        self.of, self.way = of, way
        loops = (s for s in statements(function.body) if isinstance(s, (For, While)))
        self.carried: set[Atom] = {c.name for s in loops for c in s.carried}
        self.open: set[Atom] = set()  # what the loops around carry
        self.replaced = stored_into([*statements(function.body)], lambda s: not isinstance(s, Store) or s.op is None)
        self.partly: set[Atom] = {self.here(function.result)}
        self.wholly: set[Atom] = set() if chosen else {self.here(function.result)}
        self.by_row: set[Atom] = set()  # what is felt at some entry of each row
        self.made: dict[Atom, Assign] = {s.target: s for s in statements(function.body) if isinstance(s, Assign)}

    def here(self, atom: Atom) -> Atom:
        """The name of a value where it is used."""
        return f"{atom} after" if atom in self.carried and atom not in self.open else atom

    def __contains__(self, atom: Atom) -> bool:
        return atom in self.wholly

    def count(self) -> int:
        return len(self.wholly) + len(self.partly) + len(self.by_row)

    def block(self, block: Block, in_branch: bool) -> None:
        made = {n for s in block for n in defines(s)}
        for s in reversed(block):
            if isinstance(s, If):
                self.branch(s)
            elif isinstance(s, (For, While)):
                self.loop(s, in_branch)
            elif isinstance(s, Store) and (s.value in made or not in_branch):
                self.use(s.object, s.value, True)
            elif isinstance(s, Assign):
                self.rows(s)
                for k, atom in enumerate(s.args):
                    if (atom in made or not in_branch) and (passes := self.way(s, k, self.of)) is not False:
                        self.use(s.target, atom, passes is True)

    def rows(self, s: Assign) -> None:
        """What is felt because an entry of each row is: all that is the same along the rows, or mixes them."""
        t = self.of(s.target)
        if s.op is operator.getitem and isinstance(s.args[0], str) and self.here(s.target) in self.wholly:
            whole = self.of(s.args[0])
            if isinstance(whole, Array) and takes_one_of_each_row(s.args[1], whole, self.made, self.of):
                self.by_row.add(self.here(s.args[0]))
        if self.here(s.target) not in self.by_row or not isinstance(t, Array):
            return
        for k, atom in enumerate(s.args):
            if not isinstance(atom, str) or self.way(s, k, self.of) is not True:
                continue
            shape = shape_of(self.of(atom))
            along = shape is not None and len(shape) == len(t.shape) and shape == (*t.shape[:-1], 1)
            if along or s.op is operator.matmul and k == 0 and len(t.shape) == 2:
                self.add(atom, True)
            elif shape == t.shape and (is_elementwise(s.op) or s.op in VIEWS):
                self.add(atom, False)
                self.by_row.add(self.here(atom))

    def branch(self, s: If) -> None:
        for arm, given in ((s.then, [m.then for m in s.merged]), (s.orelse, [m.orelse for m in s.merged])):
            inside = {n for x in arm for n in defines(x)}  # what was there before may be left out
            for m, atom in zip(s.merged, given, strict=True):
                self.use(m.name, atom, atom in inside)
            self.block(arm, True)

    def loop(self, s: For | While, in_branch: bool) -> None:
        names = {c.name for c in s.carried}
        after = [c for c in s.carried if self.here(c.name) in self.partly]
        felt = {c.name for c in after if self.here(c.name) in self.wholly}
        self.open |= names
        for c in s.carried:
            self.use(c.name, c.next, True)
        for c in after:  # by a use after the last trip
            self.add(c.next, c.name in felt)
        for inner in blocks(s):
            self.block(inner, in_branch)
        first = {c.name: c.name in self.wholly for c in s.carried if c.name in self.partly}
        self.open -= names
        for c in s.carried:
            if c.name in first:
                self.add(c.init, first[c.name])

    def use(self, target: Atom, atom: Atom, passes: bool) -> None:
        """A value is used for another one, to which it passes, or some of its entries do."""
        if self.here(target) in self.partly:
            one_for_all = isinstance(self.of(atom), Scalar) and bool(getattr(self.of(target), "shape", ()))
            self.add(atom, one_for_all or passes and self.here(target) in self.wholly)

    def add(self, atom: Atom, wholly: bool) -> None:
        if isinstance(atom, str):
            self.partly.add(self.here(atom))
            self.wholly.update([self.here(atom)] if wholly and atom not in self.replaced else [])


def takes_one_of_each_row(key: Atom, t: Array, made: Mapping[Atom, Assign], of: Types) -> bool:
    """Whether a subscript takes one entry of each row of a matrix, ``(np.arange(len(z)), columns)``."""
    pair = made.get(key)
    if len(t.shape) != 2 or pair is None or pair.op is not ops.make_tuple or len(pair.args) != 2:
        return False
    rows, columns = pair.args
    counted = made.get(rows)
    if counted is None or counted.op is not np.arange or len(counted.args) != 1 or counted.keywords:
        return False
    shapes = [getattr(of(a), "shape", None) for a in (rows, columns)]
    sure = isinstance(t.shape[0], int) or t.shape[0].many
    return sure and shapes == [t.shape[:1], t.shape[:1]] and getattr(of(columns), "dtype", "") != "bool"


def stored_into(body: list[Statement], counts: Callable[[Statement], bool] = lambda s: True) -> set[Atom]:
    """The arrays into which something is stored, by whichever name."""
    changed = (changed_by(s) for s in body if counts(s))
    found: set[Atom] = {name for name in changed if name is not None}
    views = [(s.target, s.args[0]) for s in body if isinstance(s, Assign) and s.op in VIEWS and s.args]
    count = -1
    while count != len(found):
        count = len(found)
        for pair in views:
            found.update(pair if not found.isdisjoint(pair) else ())
    return found
