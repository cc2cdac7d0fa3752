"""Lengths that cannot fit: what NumPy raises for has no gradient, whether or not the gradient needs its value.

    np.sum(x + y)      for x of 2 and y of 3 entries

The gradient of the sum asks for the shape of ``x + y`` alone, and would be ones.  Where the line surely runs it is
refused; where it may not run it is run for its effect, so that it raises if it does.
"""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from tangentc import runtime
from tangentc.analysis.elementwise import is_elementwise
from tangentc.analysis.parts import subscript
from tangentc.analysis.types import Types
from tangentc.core import ops
from tangentc.core.lengths import ANY, Dim, surely_differ
from tangentc.core.nodes import Assign, Atom, Block, Const, Effect, For, Function, If, Op, Statement, Store, While
from tangentc.core.types import Array, Known, Scalar, Sequence, Struct, Tuple, Type, Unknown, describe
from tangentc.core.walk import rebuilt, statements, transform
from tangentc.errors import BadArgument

PRODUCTS = {operator.matmul: -2, np.matmul: -2, np.dot: -2, np.inner: -1}  # the axis of the second that is summed over
QUIET = {ops.identity, ops.make_tuple, ops.make_list, ops.make_dict, ops.make_struct, ops.select, builtins.len,
         builtins.slice, builtins.isinstance, np.shape, np.ndim, np.size, operator.is_, operator.is_not,
         operator.not_, ops.copied, ops.new_list, ops.new_object}  # fmt: skip
EXACT_OPS = {operator.add, operator.sub, operator.mul, operator.neg, operator.pos, operator.abs}
OF_SEVERAL = {math.prod, math.fsum, math.dist, getattr(math, "sumprod", None)}
OF_ONE = {builtins.float, builtins.int, builtins.complex, *filter(callable, vars(math).values())} - OF_SEVERAL
Fresh = Callable[[str], str]


def fitted(block: Block, types: Types, fresh: Fresh, surely_runs: bool) -> Block:
    """The block, in which what may not fit raises.  Raises `BadArgument` for what cannot, if ``surely_runs``."""
    out: list[Statement] = []
    for s in block:
        if isinstance(s, (If, For, While)):
            out += transform((s,), lambda inner: _checked(inner, types, fresh))
            surely_runs = False  # it may leave the function, or raise
            continue
        if surely_runs and _answer(s, types) is False:
            _refuse(s, types)
        if isinstance(s, Effect) and s.op is runtime.require_count and _counted(s, types, surely_runs):
            continue
        out += [*_raising(s, types, fresh), s]
    return rebuilt(block, out)


def without_computed(function: Function, types: Types) -> Function:
    """The function without the checks that what it computes anyway, in the same block or one around it, makes."""
    if not any(isinstance(s, Effect) and _tries(s.op) for s in statements(function.body)):
        return function
    return replace(function, body=_without(function.body, set(), types))


def _without(block: Block, around: set[tuple[Op, tuple[Atom, ...]]], types: Types) -> Block:
    computed = around | {(s.op, s.args) for s in block if isinstance(s, Assign)} | _put(block)
    meet = {pair for s in block if not isinstance(s, Effect) for pair in _pairs(s, types)}
    out: list[Statement] = []
    for s in block:
        match s:
            case If():
                then, orelse = (_without(arm, computed, types) for arm in (s.then, s.orelse))
                s = replace(s, then=then, orelse=orelse)
            case For():
                s = replace(s, body=_without(s.body, computed, types))
            case While():
                s = replace(s, head=_without(s.head, computed, types), body=_without(s.body, computed, types))
            case Effect() if _tries(s.op):
                if (s.op, s.args) in computed or (pairs := _pairs(s, types)) and pairs <= meet:
                    continue
        out.append(s)
    return tuple(out)


def _pairs(s: Statement, types: Types) -> set[frozenset[Dim]]:
    """The lengths, each more than one, that have to be the same where a statement runs."""
    shapes: list[tuple[Dim, ...]] = []
    if isinstance(s, Store) and s.key is not None and isinstance(types.of(s.object), Array):
        place, value = subscript(types.of(s.object), types.of(s.key), types.fresh), types.of(s.value)
        shapes = [t.shape for t in (place, value) if isinstance(t, Array)]
    elif isinstance(s, (Assign, Effect)) and is_elementwise(s.op) and not s.keywords:
        shapes = [t.shape for a in s.args if isinstance(t := types.of(a), Array)]
    met = (pair for k, a in enumerate(shapes) for b in shapes[:k] for pair in zip(reversed(a), reversed(b)))
    return {frozenset(pair) for pair in met if _meet(*pair, ()) is None and min(map(least_of_length, pair)) > 1}


def least_of_length(d: Dim) -> int:
    return d if isinstance(d, int) else d.least


def _put(block: Block) -> set[tuple[Op, tuple[Atom, ...]]]:
    """The checks that the stores of a block make: of what is put into a part, whether it can be as long as that."""
    made = {s.target: s for s in block if isinstance(s, Assign)}
    stored = {(s.object, s.key, s.value) for s in block if isinstance(s, Store)}
    found = set[tuple[Op, tuple[Atom, ...]]]()
    for s in block:
        if isinstance(s, Effect) and s.op is np.broadcast_to and isinstance(s.args[1], str):
            shape = made.get(s.args[1])
            part = made.get(shape.args[0]) if shape is not None and isinstance(shape.args[0], str) else None
            if part is not None and part.op is operator.getitem and (*part.args, s.args[0]) in stored:
                found.add((s.op, s.args))
    return found


def may_raise(s: Assign, types: Types) -> bool:
    """Whether an operation may raise for some values of its arguments, or for lengths that its types do not say."""
    given = [types.of(a) for a in s.args]
    if isinstance(s.op, ops.Emitted) or s.op in QUIET or not ops.is_pure(s.op):
        return False
    if is_elementwise(s.op):  # NumPy warns where Python raises
        if any(isinstance(t, Array) for t in given):
            return fit(s.op, given, sure=True) is not True
        return s.op not in ops.COMPARE and s.op not in EXACT_OPS
    if s.op is operator.getitem and isinstance(given[0], (Tuple, Sequence)) and isinstance(s.args[1], Const):
        count = len(given[0].items) if isinstance(given[0], Tuple) else given[0].length
        return not (isinstance(s.args[1].value, int) and count is not None and -count <= s.args[1].value < count)
    if s.op is builtins.getattr and isinstance(t := given[0], Struct) and isinstance(s.args[1], Const):
        return s.args[1].value not in t.fields or s.args[1].value in t.unsure
    runs = isinstance(s.op, type) and s.op in (builtins.zip, builtins.enumerate) and not s.keywords
    return not (runs and all(isinstance(t, (Tuple, Sequence)) or isinstance(t, Array) and t.shape for t in given))


def _checked(s: Statement, types: Types, fresh: Fresh) -> tuple[Statement, ...]:
    if isinstance(s, Effect) and s.op is runtime.require_count and _counted(s, types, False):
        return ()
    return (*_raising(s, types, fresh), s)


def _counted(s: Effect, types: Types, surely_runs: bool) -> bool:
    """Whether the items of what is unpacked are as many as there are names for them."""
    t, count = types.of(s.args[0]), s.args[1].value
    length: Dim | None = t.shape[0] if isinstance(t, Array) and t.shape else getattr(t, "length", None)
    if isinstance(t, Tuple):
        length = len(t.items)
    if isinstance(t, Known) and isinstance(t.value, (tuple, list)):
        length = len(t.value)
    if not isinstance(length, int):
        return False
    if surely_runs and length != count:
        raise BadArgument(
            f"{length} items are unpacked into {count} names", s.span, why="Python raises here",
            way_out="give it as many as there are names",
        )  # fmt: skip
    return bool(length == count)


def _raising(s: Statement, types: Types, fresh: Fresh) -> list[Statement]:
    """Statements that raise where the lengths in one do not fit."""
    if _answer(s, types) is True:
        return []
    if isinstance(s, Store):
        item, sides = fresh("%item"), fresh("%shape")
        made = [Assign(item, operator.getitem, (s.object, s.key), (), s.span),  # type: ignore[arg-type]
                Assign(sides, np.shape, (item,), (), s.span)]  # fmt: skip
        for one in made:
            types.of_name[one.target] = types.result(one.op, one.args)
        return [*made, Effect(np.broadcast_to, (s.value, sides), (), s.span)]
    op: Op = s.op.op if isinstance(s.op, ops.augmented) else s.op
    return [Effect(op, s.args, (), s.span)]


def _answer(s: Statement, types: Types) -> bool | None:
    """Whether the lengths that meet in a statement fit; None where only the run knows.  A length that may be one is
    summed over where it is, by what raises for any other."""
    if isinstance(s, Store) and s.key is not None and isinstance(types.of(s.object), Array):
        place, value = subscript(types.of(s.object), types.of(s.key), types.fresh), types.of(s.value)
        if isinstance(place, Array) and isinstance(value, Array):
            return _all(_meet(m, n, (m,)) for m, n in zip(reversed(value.shape), reversed(place.shape)))
        return True
    if not isinstance(s, Assign) or s.keywords:
        return True
    return fit(s.op.op if isinstance(s.op, ops.augmented) else s.op, [types.of(a) for a in s.args])


def fit(op: Op, given: list[Type], sure: bool = False) -> bool | None:
    """Whether the lengths of arrays fit that an operation takes; ``sure`` asks whether they do whatever lengths are."""
    shapes = [t.shape for t in given if isinstance(t, Array) and t.shape]
    if op in OF_ONE:
        unknown = [None for t in given if isinstance(t, Unknown)]
        return _all([*unknown, *(False if surely_differ(d, 1) else None for shape in shapes for d in shape)])
    if len(shapes) < 2 or not all(isinstance(t, (Array, Scalar)) for t in given):
        return True
    if op in PRODUCTS:
        a, b = shapes
        batched = _broadcast(a[:-2], b[:-2], sure) if op in (operator.matmul, np.matmul) else True
        return _all((batched, _meet(a[-1], b[max(PRODUCTS[op], -len(b))], (), sure)))
    if is_elementwise(op):
        return _all(_broadcast(a, b, sure) for k, a in enumerate(shapes) for b in shapes[:k])
    return True


def _tries(op: Op) -> bool:
    return op is np.broadcast_to or op in OF_ONE or _joins(op)


def _joins(op: Op) -> bool:
    return op in PRODUCTS or is_elementwise(op)


def _broadcast(a: tuple[Dim, ...], b: tuple[Dim, ...], sure: bool = False) -> bool | None:
    return _all(_meet(m, n, (m, n), sure) for m, n in zip(reversed(a), reversed(b)))


def _meet(m: Dim, n: Dim, may_be_one: tuple[Dim, ...], sure: bool = False) -> bool | None:
    """Whether two lengths are the same, or one of some that may be one is."""
    if m == n or 1 in may_be_one:
        return True
    if surely_differ(m, n):
        return False
    return None if sure or all(isinstance(d, int) or d.plural or d.symbol.startswith(ANY) for d in (m, n)) else True


def _all(answers: Iterable[bool | None]) -> bool | None:
    found = set(answers)
    return False if False in found else None if None in found else True


def _refuse(s: Statement, types: Types) -> None:
    met = [types.of(a) for a in ((s.value,) if isinstance(s, Store) else s.args)]
    if isinstance(s, Store) and s.key is not None:
        met.insert(0, subscript(types.of(s.object), types.of(s.key), types.fresh))  # the part that it is put into
    shown = " and ".join(map(describe, met))
    if isinstance(s, Assign) and s.op in OF_ONE:
        raise BadArgument(
            f"{s.op.__name__} is given {shown}", s.span, why="it takes one number, and Python raises here",
            way_out="take an entry, or a sum: np.sum(x)",
        )  # fmt: skip
    raise BadArgument(
        f"lengths do not fit: {shown}", s.span, why="NumPy raises here for arguments of these shapes",
        way_out="call it with others",
    )  # fmt: skip
