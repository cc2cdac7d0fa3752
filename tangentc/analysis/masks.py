"""Values that matter only where a mask is true.

    np.where(x > 0, np.sqrt(x), 0)          sqrt(x) matters only where x > 0

    y = np.sqrt(x); y[x <= 0] = 0           sqrt(x) matters only where x > 0

    np.sqrt(x)[x > 0]                       sqrt(x) matters only where x > 0

    y = np.sqrt(x); if c: s += y            sqrt(x) matters only if c

    y = np.sqrt(x); y[0] = 1                sqrt(x) matters only at the other entries

A value that is used only through one arm of a `where`, or in one branch, directly or through elementwise operations of
the same shape, has that arm's mask; so has an array of which entries are taken by a subscript, a bound or a triangle,
or replaced before it is read.  One that comes to its choice by other ways (another shape, a test of another trip of a
loop, a helper) has the mask `NONZERO`: the adjoint of what was not taken is zero, and `runtime.taken` keeps it so.
Where the partial of its rule may be infinite, its adjoint is computed under the mask, so that what was not taken never
puts a NaN into the gradient.
"""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable, Collection
from functools import reduce
from typing import NamedTuple

import numpy as np

from tangentc import runtime
from tangentc.analysis.elementwise import is_elementwise
from tangentc.analysis.felt import Felt, felt, infinite, multiplied, no_number
from tangentc.analysis.signs import Signs
from tangentc.analysis.subscripts import covers, picks, takes_all
from tangentc.core import ops
from tangentc.core.build import Types, is_number, shape_of
from tangentc.core.nodes import Assign, Atom, Block, Const, For, Function, Global, If, Op, Statement, Store, While
from tangentc.core.types import Array, Scalar, is_differentiable
from tangentc.core.walk import asks_for_form, blocks, defines, joins_of, reads, statements


class Places(NamedTuple):
    """The entries of an array at some subscripts, or all others."""

    keys: tuple[Atom, ...]
    taken: bool


class Test(NamedTuple):
    """What an operation says of values, ``np.greater_equal(a, b)`` say, and which arm of it."""

    op: Op
    args: tuple[Atom, ...]
    arm: bool


class Several(NamedTuple):
    """What some masks, each a test and an arm or `Places`, say together: all of them, or any."""

    masks: tuple[Mask, ...]
    all: bool


Mask = tuple[Atom, bool] | Places | Test | Several
MOST_MASKS = 4  # of which one is put together
NONZERO: Mask = (Const("where the adjoint is not zero"), True)
CHOICES = (np.where, ops.select)
MOST_ROUNDS = 100  # each makes the masks of some values weaker
CHOOSES = "__chooses__"  # is true in emitted modules that compute an adjoint under a mask

SINGULAR = {operator.truediv: 1, operator.pow: 0, np.sqrt: 0, np.log: 0, np.log2: 0, np.log10: 0}  # where it is zero
SELECTING = {np.select, np.compress, np.extract, runtime.taken}  # which take some entries, and others not
WITHOUT_NAN = {np.nansum, np.nanprod, np.nanmean, np.nanmax, np.nanmin}
EXTREMES = {  # an entry is another one than the extreme where this says so of both; by `==` it is the extreme
    np.max: operator.lt, np.amax: operator.lt, np.min: operator.gt, np.amin: operator.gt,
    np.nanmax: operator.eq, np.nanmin: operator.eq,
}  # fmt: skip
ABOUT_NUMBERS = {  # what a function calls that is meant for values that are no numbers
    np.isnan, np.isfinite, np.isinf, np.nan_to_num, np.fmax, np.fmin, math.isnan, math.isfinite, math.isinf,
    *WITHOUT_NAN,
}  # fmt: skip
COPIES = {np.asarray, np.array, np.copy, np.ascontiguousarray}  # of which each entry is one of the argument
TRIANGLES = {np.triu, np.tril}
BOUNDS: dict[Op, tuple[Op, bool]] = {  # an argument is taken where this says so of it and of the other one
    np.maximum: (operator.ge, True), np.minimum: (operator.le, True),
    builtins.max: (operator.ge, True), builtins.min: (operator.le, True),
    np.fmax: (operator.lt, False), np.fmin: (operator.gt, False),
}  # fmt: skip


def masks(
    function: Function, types: Types, is_zero: Callable[[Op], bool], chosen: bool = False,
    chooses: Callable[[Assign], set[int]] = lambda call: set(),
) -> dict[str, Mask]:  # fmt: skip
    """For each value that has one, the mask (test, which arm) under which it is used.

    What no derivative flows through (``is_zero``), a test say, is no use.  With ``chosen`` the caller takes some
    entries of the result, and others not; ``chooses`` gives the arguments of a call of which the callee does.
    """
    replaced, is_felt = _replaced(function, types, is_zero), felt(function, types.of, infinite, chosen)
    found: dict[str, Mask | None] = {}
    for _ in range(MOST_ROUNDS):  # once more for what loops carry: what is not known to be used yet is not
        uses = _Uses(dict(found), replaced, _places(function), types, is_zero, chooses, is_felt)
        uses.add(function.result, NONZERO if chosen else None)
        uses.block(function.body)
        for p in function.params:
            uses.close(p.name)
        if uses.found == found:
            return {name: mask for name, mask in found.items() if mask is not None}
        found = uses.found
    return {}


class _Uses:
    """The uses of each name, gathered from the last statement to the first; ``found`` is what they come to."""

    def __init__(
        self, found: dict[str, Mask | None], replaced: dict[str, Mask], places: dict[str, tuple[int, ...]],
        types: Types, is_zero: Callable[[Op], bool], chooses: Callable[[Assign], set[int]], is_felt: Felt,
    ):  # fmt: skip
        self.found, self.is_felt = found, is_felt
        self.replaced, self.places, self.types = replaced, places, types
        self.is_zero, self.chooses = is_zero, chooses
        self.uses: dict[str, dict[Mask | None, None]] = {}  # in the order in which they are met
        self.branches: list[Mask | None] = []  # of the blocks around, from the outside; None for a loop

    def add(self, atom: Atom, mask: Mask | None) -> None:
        """A use under a mask; one in a branch is under the branch's test too."""
        if not isinstance(atom, str):
            return
        branch = next((b for b in self.branches[len(self.places.get(atom, ())) :] if b is not None), None)
        self.uses.setdefault(atom, {})[_both(branch, mask)] = None

    def through(self, atom: Atom, name: str) -> None:
        """A use that is handed on to another name."""
        if name in self.found:
            self.add(atom, self.found[name])

    def sometimes(self, atom: Atom, name: str) -> None:
        """A use that is handed on, by a loop, to other values in other trips."""
        if name in self.found:
            self.add(atom, _elsewhere(self.found[name]))

    def close(self, name: str) -> None:
        """All uses of a name are known."""
        if name in self.replaced:
            self.found[name] = self.replaced[name]
        elif masks := self.uses.get(name):
            mask = None if name in self.is_felt else _met(masks, name, self.places)
            whole = isinstance(mask, Places) and mask.taken and takes_all(mask.keys, shape_of(self.types.of(name)))
            self.found[name] = None if whole else mask

    def block(self, block: Block, branch: Mask | None = None, inner: bool = False) -> None:
        if inner:
            self.branches.append(branch)
        for s in reversed(block):
            self.statement(s)
        if inner:
            self.branches.pop()

    def statement(self, s: Statement) -> None:
        match s:
            case Assign():
                self.close(s.target)
                self.assign(s)
            case If():
                for m in s.merged:
                    self.close(m.name)
                for arm, body in ((True, s.then), (False, s.orelse)):
                    branch = (s.test, arm) if isinstance(s.test, str) else None
                    self.branches.append(branch)
                    for m in s.merged:
                        self.through(m.then if arm else m.orelse, m.name)
                    self.branches.pop()
                    self.block(body, branch, inner=True)
            case For() | While():
                self.loop(s)
            case Store() if isinstance(self.types.of(s.object), Array):  # what it leaves there is used later, or not
                for atom in reads(s)[1:]:
                    self.add(atom, None)
            case _:
                for atom in reads(s):
                    self.add(atom, None)

    def loop(self, s: For | While) -> None:
        """A carried name stands for what goes in, for what a trip hands to the next, and for what comes out.

        What goes in is taken to be used by a trip: a loop that does nothing is no reason to keep a NaN.
        """
        outside = {c.name: self.uses.pop(c.name, {}) for c in s.carried}
        self.branches.append(None)
        for c in s.carried:
            self.sometimes(c.next, c.name)
        self.branches.pop()
        self.block(s.body, inner=True)
        if isinstance(s, While):
            self.block(s.head, inner=True)
        for c in s.carried:
            inside = self.uses.setdefault(c.name, {})
            if not inside:
                inside |= outside[c.name]
            self.close(c.name)
            self.sometimes(c.init, c.name)
            inside |= outside[c.name]
            self.close(c.name)
        if isinstance(s, For):
            self.close(s.target)
            self.sometimes(s.iterable, s.target)

    def assign(self, s: Assign) -> None:
        t = self.types.of(s.target)
        flows = not isinstance(t, (Array, Scalar)) or is_differentiable(t)
        if not flows or s.target not in self.found or self.is_zero(s.op):
            return
        if asks_for_form(s, self.types.of) or s.op is np.result_type:
            return
        choice = s.op in CHOICES and len(s.args) == 3
        inside = self.chooses(s) if isinstance(s.op, ops.UserFunction) else set()
        for k, atom in enumerate(reads(s)):
            if isinstance(atom, str) and not (choice and k == 0):
                self.add(atom, NONZERO if k in inside else self.of_argument(s, k, atom))

    def of_argument(self, s: Assign, k: int, atom: str) -> Mask | None:
        """The mask that a value has by one of its uses."""
        types, mask = self.types, self.found[s.target]
        if s.op is ops.seen:
            return mask
        shape = shape_of(types.of(atom))
        same = (is_elementwise(s.op) or s.op in COPIES) and shape is not None and shape == shape_of(types.of(s.target))
        if s.op in CHOICES and len(s.args) == 3:
            return _both((s.args[0], k == 1), mask) if same else NONZERO
        if s.op is operator.getitem and k == 0 and isinstance(types.of(atom), Array):
            if mask is None and covers(s.args[1], atom, types):
                return s.args[1], True
            if picks(types.of(s.args[1])):
                return Places((s.args[1],), True) if mask is None or isinstance(mask, Places) else NONZERO
        if s.op in SELECTING:
            return NONZERO
        if (own := _handed_on(s, k)) is not None:
            kept = shape is not None and shape == shape_of(types.of(s.target))
            if not kept and s.op not in WITHOUT_NAN | EXTREMES.keys():
                return NONZERO
            return NONZERO if shape is None else _both(own, mask if kept else _elsewhere(mask))
        return mask if same else _elsewhere(mask)


def _handed_on(s: Assign, k: int) -> Mask | None:
    """The mask of the entries of its k-th argument that an operation takes as they are."""
    x = reads(s)[k]
    if s.op in TRIANGLES and k == 0:
        return Test(s.op, (x, *reads(s)[1:]), True)
    if s.op in EXTREMES and len(reads(s)) == 1:  # that of what holds a NaN is NaN, and so is the derivative
        return Test(EXTREMES[s.op], (x, s.target), EXTREMES[s.op] is operator.eq)
    if s.op in WITHOUT_NAN and k == 0:
        return Test(np.isnan, (x,), False)
    if s.op is np.nan_to_num and k == 0:
        return Test(np.isfinite, (x,), True)
    if s.op is np.clip and len(s.args) == 3:
        if k > 0:
            return Test(operator.le if k == 1 else operator.ge, (s.args[0], x), True)
        bounds = zip((operator.ge, operator.le), s.args[1:], strict=True)
        return reduce(_both, [_bounded(op, x, b) for op, b in bounds if b != Const(None)], None)
    if s.op in BOUNDS and len(s.args) == 2:
        op, arm = BOUNDS[s.op]
        if arm:
            return _bounded(op, x, s.args[1 - k])
        return _both(Test(op, (x, s.args[1 - k]), False), Test(np.isnan, (x,), False))
    return None


def _bounded(op: Op, x: Atom, bound: Atom) -> Test:
    """Where a value is within a bound; at a number that is written out it has no share."""
    if is_number(bound):
        op = {operator.ge: operator.gt, operator.le: operator.lt}[op]
    return Test(op, (x, bound), True)


class Unbounded(NamedTuple):
    """The values that may be infinite, or no number, at entries that are not felt, and those of which a partial may."""

    values: set[Atom]
    partials: set[Atom]


def unbounded(
    function: Function, types: Types, is_singular: Callable[[Op], bool], wrt: set[str], chosen: bool | str,
    moving: Collection[Atom] = (),
) -> Unbounded:  # fmt: skip
    """What may be infinite, or no number, where the arguments ``wrt`` are numbers; all of it in a function that asks
    for what is no number.  What else is given, and what the module has, may be NaN; a number that is written
    out is what it is.  What is felt in the result is taken to be a number, or there is no gradient; so is what is
    multiplied with a matrix that is among what is ``moving``, of which the adjoint would be none."""
    body = [*statements(function.body)]
    if any(isinstance(s, Assign) and s.op in ABOUT_NUMBERS for s in body):
        everything: set[Atom] = {*(p.name for p in function.params), *(s.target for s in body if isinstance(s, Assign))}
        return Unbounded(everything, everything)
    assigned = [s for s in body if isinstance(s, Assign)]
    sure: set[Atom] = {s.target for s in assigned if _overflows(s)}
    sure |= {a for s in body for a in reads(s) if isinstance(a, Const) and not is_finite(a.value)}
    also = multiplied(function, moving)
    by_values = chosen is True  # not where the caller multiplies all entries
    is_nan = felt(function, types.of, no_number, by_values, also)
    is_felt = felt(function, types.of, infinite, bool(chosen))
    alike = not also and by_values == bool(chosen)
    is_large = is_felt if alike else felt(function, types.of, infinite, by_values, also)
    data: set[Atom] = {p.name for p in function.params if p.name not in wrt and is_differentiable(types.of(p.name))}
    data |= {a for s in body for a in reads(s) if isinstance(a, Global) and is_differentiable(types.of(a))}
    signs = Signs(body, types.of)
    singular: set[Atom] = {s.target for s in assigned if divides(s, is_singular) and not _is_alike(s, signs, is_felt)}
    large: set[Atom] = {s.target for s in assigned if s.target in singular or signs.grows(s)}
    found = (
        _spread(body, types, sure, None) | _spread(body, types, data, is_nan) | _spread(body, types, large, is_large)
    )
    return Unbounded(found, singular)


def _is_alike(s: Assign, signs: Signs, is_felt: Felt) -> bool:
    """Whether an operation is singular at no entry, or at all of what is felt."""
    atom = s.args[SINGULAR[s.op]] if s.op in SINGULAR and len(s.args) > SINGULAR[s.op] else None
    if atom is None or signs.is_above(atom):
        return atom is not None
    is_one = isinstance(signs.of(s.target), Scalar)
    return not is_one and s.target in is_felt.partly and signs.is_alike(atom)


def _spread(body: list[Statement], types: Types, found: set[Atom], is_felt: Felt | None) -> set[Atom]:
    """What is computed from some values, and what from that, but for what is felt."""
    found = {name for name in found if is_felt is None or name not in is_felt}
    count = -1
    while count != len(found):  # once more for what loops carry
        count = len(found)
        for s in body:
            if isinstance(s, Assign) and (is_felt is None or s.target not in is_felt):
                t = types.of(s.target)
                is_value = is_differentiable(t) or not isinstance(t, (Array, Scalar))
                if is_value and not asks_for_form(s, types.of) and any(a in found for a in s.atoms):
                    found.add(s.target)
            elif isinstance(s, Store) and s.value in found and isinstance(s.object, str):
                found.add(s.object)
            elif isinstance(s, (If, For, While)):
                found.update(name for name, *both in joins_of(s) if any(a in found for a in both))
                if isinstance(s, For) and s.iterable in found:
                    found.add(s.target)
    return found


def is_finite(value: object) -> bool:
    """Whether what is written out is no infinite number and no NaN."""
    return not isinstance(value, (float, complex, np.floating, np.complexfloating)) or bool(np.isfinite(value))


def _overflows(s: Assign) -> bool:
    """Whether an operation makes what is no finite number of what is written out: ``np.inf``, ``1e308 * 10``."""
    if s.op not in (float, getattr) and not is_elementwise(s.op):
        return False
    values = [a.value for a in s.args if isinstance(a, Const)]
    if s.keywords or len(values) < len(s.args):
        return False
    try:
        with np.errstate(all="ignore"):
            return not is_finite(s.op(*values))
    except Exception:
        return False  # and so it does in the function


def divides(s: Assign, is_singular: Callable[[Op], bool]) -> bool:
    """Whether a partial of an operation may be infinite; that of a power with a positive integer exponent is not."""
    exponent = s.args[-1] if s.op is operator.pow else None
    whole = isinstance(exponent, Const) and is_number(exponent) and exponent.value >= 1 and exponent.value % 1 == 0
    return is_singular(s.op) and not whole


def _places(function: Function) -> dict[str, tuple[int, ...]]:
    """The blocks around the definition of each name, from the outside; what a loop carries is another value in each of
    its trips."""
    found: dict[str, tuple[int, ...]] = {p.name: () for p in function.params}

    def look(block: Block, path: tuple[int, ...]) -> None:
        for s in block:
            of_trips = (*path, id(s)) if isinstance(s, (For, While)) else path
            found.update(dict.fromkeys(defines(s), of_trips))
            for b in blocks(s):
                look(b, (*path, id(b)))

    look(function.body, ())
    return found


def _both(a: Mask | None, b: Mask | None) -> Mask | None:
    """The mask of what is used under two masks."""
    if a is None or b is None or a == b:
        return b if a is None else a
    if a is NONZERO or b is NONZERO:
        return NONZERO
    parts = [part for mask in (a, b) for part in (mask.masks if isinstance(mask, Several) and mask.all else (mask,))]
    parts = list(dict.fromkeys(parts))
    simple = len(parts) <= MOST_MASKS and not any(isinstance(part, Several) for part in parts)
    return Several(tuple(parts), True) if simple else NONZERO


def _elsewhere(mask: Mask | None) -> Mask | None:
    """What a mask comes to for a value of another shape, or of another trip of a loop."""
    return None if mask is None or has_places(mask) else NONZERO


def has_places(mask: Mask) -> bool:
    """Whether a mask speaks of subscripts: without them nothing says that a zero is one of what is not taken."""
    return isinstance(mask, Places) or isinstance(mask, Several) and any(map(has_places, mask.masks))


def tests_of(mask: Mask) -> tuple[Atom, ...]:
    """The tests and subscripts in a mask."""
    if isinstance(mask, Several):
        return tuple(test for part in mask.masks for test in tests_of(part))
    if isinstance(mask, Test):
        return mask.args
    return mask.keys if isinstance(mask, Places) else mask[:1]


def _met(masks: dict[Mask | None, None], name: str, places: dict[str, tuple[int, ...]]) -> Mask | None:
    """What the masks of all uses of a value come to."""
    if None in masks:
        return None
    there = {_that_is_there(mask, name, places): None for mask in masks if mask is not None}
    if None in there or NONZERO in there:
        return None if None in there else NONZERO
    if any(type(mask) is tuple and (mask[0], not mask[1]) in there for mask in there):
        return None  # both arms
    keys = tuple(dict.fromkeys(k for mask in there if isinstance(mask, Places) and mask.taken for k in mask.keys))
    parts = [mask for mask in there if mask is not None and not (isinstance(mask, Places) and mask.taken)]
    parts += [Places(keys, True)] if keys else []
    if len(parts) == 1:
        return parts[0]
    if len(parts) <= MOST_MASKS:
        return Several(tuple(parts), False)
    return None if keys or any(map(has_places, parts)) else NONZERO


def _that_is_there(mask: Mask, name: str, places: dict[str, tuple[int, ...]]) -> Mask | None:
    """A mask as it is known where a value is computed: of several tests, those that are known there."""
    if isinstance(mask, Several) and mask.all:
        known = tuple(part for part in mask.masks if all(_is_there(t, name, places) for t in tests_of(part)))
        if not known:
            return None if all(map(has_places, mask.masks)) else NONZERO
        return known[0] if len(known) == 1 else Several(known, True)
    return mask if all(_is_there(t, name, places) for t in tests_of(mask)) else _elsewhere(mask)


def _is_there(test: Atom, name: str, places: dict[str, tuple[int, ...]]) -> bool:
    """Whether a test is one of the place where a value is computed, not of a loop or a branch after it."""
    if not isinstance(test, str):
        return True
    path = places.get(test)
    return path is not None and places[name][: len(path)] == path


def _replaced(function: Function, types: Types, is_zero: Callable[[Op], bool]) -> dict[str, Mask]:
    """The arrays of which some entries are replaced before any use."""
    found: dict[str, Mask] = {}
    places = _places(function)

    def look(block: Block) -> None:
        fresh: set[str] = set()
        for s in block:
            for inner in blocks(s):
                look(inner)
            used = {a for b in statements((s,)) for a in reads(b) if isinstance(a, str)}
            if isinstance(s, Store) and s.op is None and s.object in fresh and s.value != s.object:
                used.discard(s.object)
                if s.key is not None and _is_there(s.key, s.object, places):
                    before = found.get(s.object)
                    if before is None and covers(s.key, s.object, types):
                        found[s.object] = s.key, False
                    else:
                        keys = before.keys if isinstance(before, Places) else before[:1] if before is not None else ()
                        found[s.object] = Places((*keys, s.key), False)
            if not isinstance(s, Assign) or not is_zero(s.op):
                fresh -= used
            if isinstance(s, Assign) and is_elementwise(s.op):
                fresh.add(s.target)

    look(function.body)
    return found
