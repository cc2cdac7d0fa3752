"""Tests that the types answer: which branch of an ``if`` runs is known when compiling.

What has the type of a container may be None as well: of that nothing is said.

if R is None: ...             R is an array: only the second branch is there
elif np.isscalar(R): ...      R is an array: nor is this one
else: ...
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from collections.abc import Sequence as Seq
from dataclasses import replace

import numpy as np

from tangentc.analysis.holding import lost_parts
from tangentc.core import ops
from tangentc.core.classes import instance_of
from tangentc.core.nodes import Assign, Atom, Block, Const, For, Function, If, Op, Opaque, Statement, While
from tangentc.core.types import (
    Array,
    Dict,
    Known,
    Scalar,
    Sequence,
    Tuple,
    Type,
    Unknown,
    is_container,
    items_of,
    may_be_none,
    may_be_number,
)
from tangentc.errors import TangentcError

PLAIN = (bool, str, type(None))
BY_VALUE = {operator.eq, operator.ne, operator.is_, operator.is_not}
COUNTING = {operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.neg}
ORDERED = {operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge}


def told(op: Op, types: Seq[Type]) -> Type | None:
    """The type of a test that the types answer, which says the answer; None if they do not."""
    known = answer(op, types)
    return counted(op, types) if known is None else Known(Const(known))


def answer(op: Op, types: Seq[Type]) -> bool | None:
    """What a test gives for values of these types, None where they do not tell."""
    if op is operator.not_:
        known = truth(types[0])
        return None if known is None else not known
    if op is builtins.bool and len(types) == 1:
        return truth(types[0])
    if op is np.isscalar:
        return _is_scalar(types[0])
    if op in (ops.contains, ops.not_contains):
        found = _is_among(*types)
        return None if found is None else found is (op is ops.contains)
    if op is builtins.isinstance and isinstance(types[1], Known):
        return None if is_container(types[0]) else instance_of(types[0], types[1].value)
    return _compared(op, *types) if op in BY_VALUE | ORDERED and len(types) == 2 else None


def _is_among(item: Type, held: Type) -> bool | None:
    """Whether a text is one of several that are written out, or a part of another; what is no text is none of them.  A
    key that a dict's type does not have is not in it; one that it has may be gone."""
    if isinstance(held, Dict) and isinstance(item, Known) and isinstance(item.value, str):
        return None if item.value in held.keys or "%_spread_" in held.keys else False
    if isinstance(held, Sequence) and (items := items_of(held)) is not None:
        if not items or not all(isinstance(t, Known) and isinstance(t.value, str) for t in items):
            return None
        held = Known(Const(tuple(t.value for t in items)))
    if not isinstance(held, Known):
        return None
    texts = isinstance(held.value, tuple) and bool(held.value) and all(isinstance(v, str) for v in held.value)
    if texts and (isinstance(item, (Tuple, Dict)) or isinstance(item, Scalar) and item.dtype != "str"):
        return False
    both = (
        isinstance(held.value, tuple) or isinstance(held.value, str) and isinstance(getattr(item, "value", None), str)
    )
    if not isinstance(item, Known) or not both or not _is_plain((item.value, held.value)):
        return None
    return item.value in held.value


def _compared(op: Op, a: Type, b: Type) -> bool | None:
    if op in (operator.is_, operator.is_not) and isinstance(b, Known) and b.value is None:
        none = isinstance(a, Known) and a.value is None
        return None if isinstance(a, Unknown) or may_be_none(a) else none is (op is operator.is_)
    if isinstance(a, Known) and isinstance(b, Known) and op in (operator.eq, operator.ne):
        return bool(op(a.value, b.value)) if _is_plain((a.value, b.value)) else None
    if _is_rank(a) or _is_rank(b):
        values = _integers(a), _integers(b)
        return bool(op(*values)) if all(type(v) is int for v in values) else None
    if op in (operator.eq, operator.ne) and any(_are_unlike(*pair) for pair in ((a, b), (b, a))):
        return op is operator.ne
    return None


def of_ranks(op: Op, args: Seq[Atom], types: Seq[Type]) -> Known | None:
    """What is computed of numbers of axes and of integers that stand in the text."""
    if op not in COUNTING or not any(map(_is_rank, types)):
        return None
    if not all(_is_rank(t) or isinstance(a, Const) and type(a.value) is int for a, t in zip(args, types)):
        return None
    try:
        return Known(Const(op(*map(_integers, types))))
    except (ArithmeticError, TypeError):
        return None


def _is_rank(t: Type) -> bool:
    """Whether a value is a number of axes, which is no other one for arguments of other lengths."""
    return isinstance(t, Known) and type(t.value) is int


def counted(op: Op, types: Seq[Type]) -> Scalar | None:
    """What a test of integers that are known gives.  They may be lengths, which are others in another call: the answer
    decides a branch only where one type cannot be that of both paths."""
    values = [_integers(t) for t in types]
    if None in values or not any(isinstance(t, (Scalar, Tuple)) for t in types):
        return None
    if len({type(v) is tuple for v in values}) == 2:
        return None
    if op is operator.not_ or op in ORDERED and len(values) == 2:
        return Scalar("bool", True, int(bool(op(*values))))
    return None


def _integers(t: Type) -> int | tuple[int, ...] | None:
    """The integer, or the tuple of integers, that a value is known to be; None if it is not known to be one."""
    match t:
        case Scalar(value=int() as value):
            return value
        case Known() if type(t.value) is int:
            return t.value
        case Known() if type(t.value) is tuple and all(type(v) is int for v in t.value):
            return t.value
        case Tuple(items, None):
            found = [n for i in items if type(n := _integers(i)) is int]
            return tuple(found) if len(found) == len(items) else None
    return None


def counted_answer(t: Type) -> bool | None:
    """The answer of a test of integers that are known, or of one such integer."""
    return bool(t.value) if isinstance(t, Scalar) and isinstance(t.value, int) else None


def _are_unlike(a: Type, b: Type) -> bool:
    """Whether a tuple, or a number, is compared with what it never equals: a text, None, of a tuple a number too."""
    told = isinstance(b, Known) and isinstance(b.value, str)
    if isinstance(a, Scalar):
        return a.dtype != "str" and (told or b == Known(Const(None)))
    is_tuple, count = _count(a) is not None, _count(b)
    if is_tuple and count is not None:
        return count != _count(a)
    return is_tuple and (told or isinstance(b, Scalar) and b.weak or isinstance(b, Known) and type(b.value) is bool)


def _count(t: Type) -> int | None:
    """How many items a tuple has."""
    if isinstance(t, Tuple) and t.cls is None:
        return len(t.items)
    return len(t.value) if isinstance(t, Known) and type(t.value) is tuple else None


def _is_plain(value: object) -> bool:
    """Whether two values like this one are equal when what they are made of is."""
    return all(map(_is_plain, value)) if type(value) is tuple else isinstance(value, (*PLAIN, int))


def _is_scalar(t: Type) -> bool | None:
    if isinstance(t, Scalar) or isinstance(t, Known) and isinstance(t.value, (bool, str)):
        return True
    return False if isinstance(t, Array) or is_container(t) or isinstance(t, Known) and t.value is None else None


def truth(t: Type) -> bool | None:
    """Whether a value of this type is true, None where the type does not tell."""
    match t:
        case Known() if isinstance(t.value, PLAIN) or _is_rank(t):
            return bool(t.value)
        case Known() if callable(t.value):
            return True
        case Tuple(items, None) if not t.or_none:
            return bool(items)
        case Dict(keys) if keys and not t.loses and not t.or_none:
            return True
    return None


def taken(s: If, of: Callable[[Atom], Type]) -> bool | None:
    """The branch that surely runs; None where it is not known, or where what is read behind it has a value on the
    other path alone."""
    t = of(s.test)
    known = truth(t)
    if known is None and (answer := counted_answer(t)) is not None:
        known = answer if _differ(s, answer, of) else None
    nothing = Const(ops.UNDEFINED)
    lacks = known is not None and any((m.then if known else m.orelse) == nothing for m in s.merged)
    return None if lacks else known


def _differ(s: If, known: bool, of: Callable[[Atom], Type]) -> bool:
    """Whether no one type is that of both paths, or the path that is not taken is refused."""
    if any(map(refused, s.orelse if known else s.then)):
        return True
    ends = ((of(m.name), of(m.then if known else m.orelse)) for m in s.merged)
    return any(unlike(joined, alone) for joined, alone in ends)


def unlike(joined: Type, alone: Type) -> bool:
    """Whether less is known of what both paths give than of what one gives: it is of different kinds."""
    if isinstance(joined, Unknown):
        return not isinstance(alone, Unknown)
    if is_container(joined) and lost_parts(joined) - lost_parts(alone):
        return True
    return may_be_number(joined) and not may_be_number(alone)


def refused(s: Statement) -> TangentcError | None:
    """The error that stands in place of code that is refused."""
    return getattr(s.tree, "refused", None) if isinstance(s, Opaque) else None


def without_never(function: Function, chosen: dict[int, bool]) -> Function:
    """The function without the branches that never run; ``chosen`` is what `taken` said of each `If`, by its id."""

    def inside(block: Block) -> Block:
        return tuple(x for s in block for x in statement(s))

    def statement(s: Statement) -> Block:
        known = chosen.get(id(s)) if isinstance(s, If) else None
        match s:
            case If() if known is None:
                return (replace(s, then=inside(s.then), orelse=inside(s.orelse)),)
            case If():
                given = (Assign(m.name, ops.identity, (m.then if known else m.orelse,), (), s.span) for m in s.merged)
                return (*inside(s.then if known else s.orelse), *given)
            case For():
                return (replace(s, body=inside(s.body)),)
            case While():
                return (replace(s, head=inside(s.head), body=inside(s.body)),)
        return (s,)

    return replace(function, body=inside(function.body)) if chosen else function
