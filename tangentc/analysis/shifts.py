"""Values that the result does not depend on though it is computed with them: the shifts of sums of exponentials.

    top = np.max(x)
    e = np.exp(x - top)              moves by -1 * e where top moves by 1
    y = np.log(np.sum(e)) + top      moves by -1 + 1 = 0

A value that moves in proportion to the shift (a term), or to the shift and to itself (a factor), is followed through
sums, products, exponentials and logarithms; where each way ends in a value that does not move, the shift has no
derivative.  A shift that has axes moves the entries along one of them apart: sums are only over the others.
"""

from __future__ import annotations

import builtins
import math
import operator
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from tangentc.core import ops
from tangentc.core.build import is_number, shape_of
from tangentc.core.nodes import Assign, Atom, Block, Const, For, If, Statement, While
from tangentc.core.types import Array, Scalar, Type, rank
from tangentc.core.walk import blocks, joins_of, reads

SAME = {ops.identity, ops.copied, ops.seen, np.copy, np.asarray, np.ascontiguousarray, operator.pos, builtins.float}
EXTREMES = {np.max, np.min, np.amax, np.amin, builtins.max, builtins.min, np.mean}
INFINITE = [(Const(module), Const("inf")) for module in (np, math)]
AXES = {"axis", "keepdims"}
TAKING = {operator.getitem, np.ravel, np.reshape, np.flip, np.roll}  # entries, each as it is
FORMS = {*TAKING, *SAME, operator.neg, np.expand_dims, np.squeeze, np.transpose}


class Felt(Exception):
    """What is followed may move."""


@dataclass(frozen=True)
class Moved:
    """How a value moves with the shift: by ``rate`` times the shift, and with ``factor`` times itself too.

    ``varies`` says for each axis of the value whether the shift varies along it.  Where it is the same along one axis
    that only a name stands for, ``along`` is that name, and ``kept`` says whether the value has this axis.
    """

    factor: bool
    rate: float
    varies: tuple[bool, ...] = ()
    along: Atom | None = None
    kept: bool = False

    def alike(self) -> bool:
        """Whether the shift is the same for all entries."""
        return self.along is None and not any(self.varies)


def shifts(body: Block, of: Callable[[Atom], Type], result: Atom, is_zero: Callable[..., bool],
           is_changed: Callable[[str], bool]) -> set[str]:  # fmt: skip
    """The names of such values among those that are subtracted somewhere."""
    program = list(_in_order(body))
    made: dict[Atom, Assign] = {s.target: s for s in program if isinstance(s, Assign)}
    subtracted = {s.args[1] for s in made.values() if s.op in (operator.sub, np.subtract)} & made.keys()
    if not subtracted:
        return set()
    for name in list(subtracted):
        subtracted |= set(_made_of(name, made))
    users: dict[str, list[int]] = defaultdict(list)
    for k, s in enumerate(program):
        for atom in {a for a in _read(s) if isinstance(a, str)}:
            users[atom].append(k)
    follow = _Following(program, made, users, of, result, is_zero, is_changed)
    return {made[name].target for name in subtracted if follow.is_shift(made[name])}


def _made_of(name: Atom, made: Mapping[Atom, Assign]) -> Iterator[Atom]:
    """The value that is subtracted in another form, or multiplied with a number."""
    s = made[name]
    rest = [a for a in s.args if not is_number(a)]
    scaled = s.op in (operator.mul, operator.truediv) and len(rest) == 1
    if rest and rest[0] in made and (scaled or s.op in FORMS):
        yield rest[0]
        yield from _made_of(rest[0], made)


def _in_order(block: Block) -> Iterator[Statement]:
    """Every statement, a branch behind what it joins."""
    for s in block:
        for inner in blocks(s):
            yield from _in_order(inner)
        yield s


def _read(s: Statement) -> Iterable[Atom]:
    """What a statement reads, the statements in it left out."""
    if isinstance(s, If):
        return (s.test, *(a for _, *arms in joins_of(s) for a in arms))
    if isinstance(s, (For, While)):
        return (*reads(s), *(a for _, *arms in joins_of(s) for a in arms))
    return reads(s)


@dataclass
class _Following:
    program: list[Statement]
    made: Mapping[Atom, Assign]
    users: dict[str, list[int]]
    of: Callable[[Atom], Type]
    result: Atom
    is_zero: Callable[..., bool]
    is_changed: Callable[[str], bool]

    def is_shift(self, made: Assign) -> bool:
        """Whether the result is the same whatever this value is."""
        start = self._itself(made)
        if start is None or self.is_changed(made.target) or made.target == self.result:
            return False
        self.moved: dict[Atom, Moved] = {made.target: start}
        waiting = sorted(self.users[made.target])
        done = 0
        while done < len(waiting):
            k = waiting[done]
            done += 1
            s = self.program[k]
            try:
                found = self._of(s) if isinstance(s, Assign) else self._joined(s)
            except Felt:
                return False
            for name, how in found:
                if how is not None and how.rate:
                    if name == self.result or self.is_changed(name) or isinstance(s, While):
                        return False
                    self.moved[name] = how
                    waiting = waiting[:done] + sorted({*waiting[done:], *(u for u in self.users[name] if u > k)})
        return True

    def _itself(self, made: Assign) -> Moved | None:
        """A shift as it moves with itself; None if its axes are not known."""
        t = self.of(made.target)
        axis = dict(made.keywords).get("axis")
        if isinstance(axis, str) and made.op in EXTREMES and len(made.args) == 1:
            keeps = dict(made.keywords).get("keepdims", Const(False))
            return Moved(False, 1.0, along=axis, kept=bool(keeps.value)) if isinstance(keeps, Const) else None
        if not isinstance(t, (Array, Scalar)) or isinstance(t, Array) and t.or_number:
            return None
        return Moved(False, 1.0, tuple(d != 1 for d in shape_of(t) or ()))

    # ---------------------------------------------------------- statements
    def _joined(self, s: Statement) -> list[tuple[str, Moved | None]]:
        """What a branch joins, if both arms move alike."""
        if not isinstance(s, If) or s.test in self.moved:
            raise Felt
        found = []
        for name, *arms in joins_of(s):
            ways = {self.moved.get(a) for a in arms}
            if len(ways) > 1:
                raise Felt
            found.append((str(name), ways.pop()))
        return found

    def _of(self, s: Assign) -> list[tuple[str, Moved | None]]:
        if self.is_zero(s.op) or s.op is builtins.len or s.op is ops.stopped:
            return []
        found, ndim = self._result(s), rank(self.of(s.target))
        if found is not None and found.along is None and len(found.varies) != ndim:
            raise Felt
        return [(s.target, found)]

    def _result(self, s: Assign) -> Moved | None:
        """How the result of an operation moves, None if it does not."""
        options = dict(s.keywords)
        if any(a in self.moved for a in options.values()) or s.op not in SAME and not options.keys() <= AXES:
            raise Felt
        given = [self.moved.get(a) for a in s.args]
        x = given[0] if given else None
        if s.op in SAME and x is not None:
            return x
        if s.op is operator.neg and x is not None:
            return x if x.factor else replace(x, rate=-x.rate)
        if s.op in (operator.add, operator.sub, np.add, np.subtract):
            return self._sum(s, given)
        if s.op in (operator.mul, operator.truediv, np.multiply, np.divide):
            return self._product(s, given)
        if s.op in (np.exp, math.exp) and x is not None and not x.factor and not options:
            return replace(x, factor=True)
        if s.op in (np.log, math.log) and x is not None and x.factor and len(s.args) == 1 and not options:
            return replace(x, factor=False)
        if s.op in (np.sqrt, math.sqrt) and x is not None and x.factor and not options:
            return replace(x, rate=x.rate / 2)
        if s.op in (np.where, ops.select) and x is None and len(given) == 3:
            return self._chosen(s, given)
        if s.op in (np.matmul, np.dot, operator.matmul):
            return self._matmul(s, given)
        if x is None or any(g is not None for g in given[1:]):
            raise Felt
        return self._of_array(s, x, options)

    def _sum(self, s: Assign, given: list[Moved | None]) -> Moved | None:
        x, y = given
        sign = -1.0 if s.op in (operator.sub, np.subtract) else 1.0
        if x is None or y is None:
            one = x or y
            if one is None or one.factor:
                raise Felt
            return self._spread(s, replace(one, rate=one.rate * (sign if x is None else 1.0)))
        one, other = self._spread(s, x), self._spread(s, y)
        if replace(one, rate=0.0) != replace(other, rate=0.0) or one.factor and one.rate != other.rate:
            raise Felt
        return one if one.factor else replace(one, rate=one.rate + sign * other.rate)

    def _product(self, s: Assign, given: list[Moved | None]) -> Moved | None:
        x, y = given
        over = s.op in (operator.truediv, np.divide)
        sign = -1.0 if over else 1.0
        if x is not None and y is not None:
            one, other = self._spread(s, x), self._spread(s, y)
            if not one.factor or replace(one, rate=0.0) != replace(other, rate=0.0):
                raise Felt
            return replace(one, rate=one.rate + sign * other.rate)
        alone, factor = (x, s.args[1]) if x is not None else (y, s.args[0])
        if alone is not None and alone.factor:
            return self._spread(s, replace(alone, rate=alone.rate * (sign if x is None else 1.0)))
        if alone is None or not isinstance(factor, Const) or not is_number(factor):
            raise Felt
        number = factor.value
        if over and (x is None or number == 0):
            raise Felt
        return replace(alone, rate=alone.rate / number if over else alone.rate * number)

    def _chosen(self, s: Assign, given: list[Moved | None]) -> Moved:
        """One of two that move alike; zero is any multiple, infinity plus anything is itself."""
        ways = {self._spread(s, g) for g in given[1:] if g is not None}
        rest = [a for a, g in zip(s.args[1:], given[1:], strict=True) if g is None]
        (way,) = ways if len(ways) == 1 else (None,)
        if way is None or not all(is_number(a, 0) if way.factor else self._is_infinite(a) for a in rest):
            raise Felt
        return way

    def _is_infinite(self, atom: Atom) -> bool:
        made = self.made.get(atom)
        if made is not None and made.op is operator.neg:
            return self._is_infinite(made.args[0])
        if made is not None:  # np.inf
            return made.op is builtins.getattr and made.args in INFINITE
        return isinstance(atom, Const) and isinstance(atom.value, float) and math.isinf(atom.value)

    def _matmul(self, s: Assign, given: list[Moved | None]) -> Moved:
        """A product of a matrix with what does not move, where the shift is the same along the axis that is summed."""
        x, y = given[:2]
        one, k = (x, 0) if x is not None else (y, 1)
        ranks = [rank(self.of(a)) for a in s.args[:2]]
        if one is None or x is not None and y is not None or not one.factor or one.along is not None:
            raise Felt
        if not all(r in (1, 2) for r in ranks):
            raise Felt
        varies = list(one.varies)
        if varies.pop(len(varies) - 1 if k == 0 else 0):
            raise Felt
        new = [False] if ranks[1 - k] == 2 else []
        return replace(one, varies=tuple(varies + new if k == 0 else new + varies))

    # ---------------------------------------------------------- axes
    def _spread(self, s: Assign, one: Moved) -> Moved:
        """The same where it is broadcast to the result of an operation."""
        ndim = rank(self.of(s.target))
        if ndim is None:
            raise Felt
        if one.along is not None:
            if one.kept and any(rank(self.of(a)) != ndim for a in s.args if a in self.moved):
                raise Felt
            if not one.kept and any(rank(self.of(a)) not in (0, ndim) for a in s.args):
                raise Felt
            return one
        return replace(one, varies=(False,) * (ndim - len(one.varies)) + one.varies)

    def _of_array(self, s: Assign, x: Moved, options: dict[str, Atom]) -> Moved:
        """How a sum, a part or another form of an array moves."""
        ndim, axis = rank(self.of(s.target)), options.get("axis", Const(None))
        if ndim is None:
            raise Felt
        sums = s.op in (np.sum, np.cumsum, builtins.sum) and x.factor
        if (sums or s.op in EXTREMES) and len(s.args) == 1:
            return self._reduced(s, x, ndim, axis, options.get("keepdims", Const(False)))
        if s.op in (np.squeeze, np.expand_dims) and x.along is not None and x.along in (axis, *s.args[1:]):
            return replace(x, kept=s.op is np.expand_dims)
        if x.alike() and (s.op in TAKING or s.op in (np.squeeze, np.expand_dims, np.transpose)):
            return replace(x, varies=(False,) * ndim)
        if x.along is not None:
            raise Felt
        if s.op is np.transpose and len(s.args) == 1 and not options:
            return replace(x, varies=x.varies[::-1])
        if s.op is operator.getitem and isinstance(s.args[1], Const):
            return replace(x, varies=_taken(x.varies, s.args[1].value))
        raise Felt

    def _reduced(self, s: Assign, x: Moved, ndim: int, axis: Atom, keepdims: Atom) -> Moved:
        """How a sum over axes moves along which the shift is the same."""
        keeps = s.op is np.cumsum or isinstance(keepdims, Const) and bool(keepdims.value)
        if x.along is not None:
            if x.along != axis or not x.kept:
                raise Felt
            return replace(x, kept=keeps)
        given = axis.value if isinstance(axis, Const) else None
        if isinstance(axis, str) or given is None or not x.varies:
            if not x.alike():
                raise Felt
            return replace(x, varies=(False,) * ndim)
        over = {k % len(x.varies) for k in (given if isinstance(given, tuple) else (given,))}
        if any(x.varies[k] for k in over):
            raise Felt
        return replace(x, varies=tuple(v for k, v in enumerate(x.varies) if keeps or k not in over))


def _taken(varies: tuple[bool, ...], key: object) -> tuple[bool, ...]:
    """Along which axes of ``x[key]`` the shift varies; of those along which it does in x the whole is taken."""
    parts = key if isinstance(key, tuple) else (key,)
    count = sum(p is not None and p is not Ellipsis for p in parts)
    if Ellipsis not in parts:
        parts = (*parts, Ellipsis)
    left, out = list(varies), []
    for p in parts:
        if p is None:
            out.append(False)
        elif p is Ellipsis:
            out += [left.pop(0) for _ in range(len(varies) - count)]
        elif not isinstance(p, (int, slice)) or isinstance(p, bool) or left.pop(0) and p != slice(None):
            raise Felt
        elif isinstance(p, slice):
            out.append(varies[len(varies) - len(left) - 1])
    return tuple(out)
