"""Sums of adjoints by algebra: what cancels, and what is the same along the axis.

In a softmax that is shifted by its maximum the adjoint of the shift is

    sum(g + n * e)   with   n = -sum(g) / sum(e)

which is zero whatever g and e are.  The sum is expanded into terms (coefficient, factors above, factors below), a
factor that is constant along the summed axes moves out, a quotient whose denominator is one of the factors cancels, and
what is left is compared.  If nothing is left, nothing is summed; if it is one product without a sum, that product is.
"""

from __future__ import annotations

import operator
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from tangentc.core.build import Builder, is_number, shape_of
from tangentc.core.nodes import Assign, Atom, Const
from tangentc.core.types import Array, Scalar, is_narrow, rank
from tangentc.simplify.newaxes import new_axes

Term = tuple[float, Counter, Counter]  # coefficient, factors above, factors below
LIMIT = 12
MOST_FACTORS = 3  # of a product that is written in place of a sum
Options = tuple[tuple[str, Atom], ...]


class TooMany(Exception):
    pass


def summed(b: Builder, x: Atom, axes: tuple[int, ...], keepdims: bool) -> Atom | None:
    """Write the sum of an adjoint along axes; None if it is zero by algebra."""
    ndim = rank(b.type(x)) or 0
    sums = Sums(b, axes, ndim)
    if sums.known(x) == []:
        return None
    found = Sums(b, axes, ndim, True).known(x)
    if found is not None and len(found) == 1 and (product := sums.written(found[0], keepdims)) is not None:
        return product
    return _outside_in(b, x, sums, keepdims)


def _options(axes: tuple[int, ...], ndim: int, keepdims: bool) -> Options:
    axis: Options = () if len(axes) == ndim else (("axis", Const(axes[0] if len(axes) == 1 else axes)),)
    return (*axis, ("keepdims", Const(True))) if keepdims else axis


def _outside_in(b: Builder, x: Atom, sums: Sums, keepdims: bool) -> Atom:
    """The sum with what is constant along the axes behind it."""
    made = b.definition(x) if isinstance(x, str) and x.startswith("%") else None
    if made is None or made.keywords or any(map(b.mutable, made.args)):
        return b.emit(np.sum, (x,), _options(sums.axes, sums.ndim, keepdims))
    if made.op is operator.neg:
        return b.emit(operator.neg, (_outside_in(b, made.args[0], sums, keepdims),))
    if (parts := _number_first(b, x)) is not None and not is_narrow(b.type(x)):
        return b.mul(parts[0], _outside_in(b, parts[1], sums, keepdims))
    if made.op in (operator.truediv, operator.mul):
        top, other = made.args
        if sums.stays(top, other, keepdims):
            return b.emit(made.op, (_outside_in(b, top, sums, keepdims), other))
        if made.op is operator.mul and sums.stays(other, top, keepdims):
            return b.emit(operator.mul, (top, _outside_in(b, other, sums, keepdims)))
    return b.emit(np.sum, (x,), _options(sums.axes, sums.ndim, keepdims))


def _number_first(b: Builder, x: Atom) -> tuple[Atom, Atom] | None:
    """The number that a product, or a quotient of one, begins with, and the rest of it; None if it has none."""
    made = b.definition(x) if isinstance(x, str) and x.startswith("%") else None
    if made is None or made.op not in (operator.mul, operator.truediv) or any(map(b.mutable, made.args)):
        return None
    if made.op is operator.mul and is_number(made.args[0]):
        array = isinstance(b.type(made.args[1]), Array) and b.same_shape(made.args[1], x)
        return made.args if array else None  # type: ignore[return-value]
    inner = _number_first(b, made.args[0])
    return None if inner is None else (inner[0], b.emit(made.op, (inner[1], made.args[1])))


@dataclass
class Sums:
    """Sums along some axes of arrays with so many; with ``whole`` a sum of two values is one factor, and so are
    ``leaves``."""

    b: Builder
    axes: tuple[int, ...]
    ndim: int
    whole: bool = False
    leaves: tuple[Atom, ...] = ()

    def known(self, x: Atom) -> list[Term] | None:
        """The sum as terms, of which no two are alike; None if it is too long for that."""
        try:
            return canonical(self._sum(self.terms(x, 0)))
        except TooMany:
            return None

    def stays(self, summed: Atom, factor: Atom, keepdims: bool) -> bool:
        """Whether a factor may be multiplied with after the sum of the other one, which has the shape of both."""
        shape = shape_of(self.b.type(factor))
        if shape is None or rank(self.b.type(summed)) != self.ndim or not self._constant(factor):
            return False
        return keepdims or len(shape) <= self.ndim - len(self.axes)

    def written(self, term: Term, keepdims: bool) -> Atom | None:
        """A product of values that are there, if it has the shape of the sum; None if it is another."""
        coefficient, above, below = term
        atoms = [*above.elements(), *below.elements()]
        arrays = [a for a in atoms if not isinstance(a, str) or isinstance(self.b.type(a), Array)]
        if not 0 < len(atoms) <= MOST_FACTORS or not all(map(self._is_there, arrays)):
            return None
        if not arrays and len(self.axes) < self.ndim:
            return None
        out: Atom = Const(coefficient)
        for factor in above.elements():
            atom = self._factor(factor, keepdims)
            out = atom if is_number(out, 1) else self.b.mul(out, atom)
        for factor in below.elements():
            out = self.b.emit(operator.truediv, (out, self._factor(factor, keepdims)))
        return out

    def _is_there(self, factor: Any) -> bool:
        """Whether a factor is an array without the summed axes."""
        if isinstance(factor, tuple):
            return factor[0] == "at"
        leads = self.axes == tuple(range(len(self.axes)))
        return leads and rank(self.b.type(factor)) == self.ndim - len(self.axes)

    def _factor(self, factor: Any, keepdims: bool) -> Atom:
        atom = factor[1] if isinstance(factor, tuple) else factor
        if not keepdims or isinstance(self.b.type(atom), Scalar):
            return atom  # type: ignore[no-any-return]
        axes = self.axes[0] if len(self.axes) == 1 else self.axes
        return self.b.emit(np.expand_dims, (atom, Const(axes)))

    def _constant(self, x: Any) -> bool:
        """Whether a factor has length one along the summed axes."""
        if isinstance(x, tuple):
            return True  # a sum along them
        shape = shape_of(self.b.type(x))
        if shape is None:
            return False
        places = [axis - self.ndim + len(shape) for axis in self.axes]
        return all(k < 0 or shape[k] == 1 for k in places)

    def _sum(self, terms: list[Term]) -> list[Term]:
        """The sum of terms: what is constant along the axes moves out, the rest is one opaque sum."""
        out = []
        for coefficient, above, below in terms:
            outer = Counter({f: n for f, n in above.items() if self._constant(f)})
            outer_below = Counter({f: n for f, n in below.items() if self._constant(f)})
            inner = (frozenset((above - outer).items()), frozenset((below - outer_below).items()))
            outer[("sum", inner)] += 1
            out.append((coefficient, outer, outer_below))
        return out

    def terms(self, x: Atom, depth: int = 0, summed: bool = False) -> list[Term]:
        """``x`` as a sum of products; with ``summed`` it is without the summed axes, which it is given later."""
        if depth > LIMIT:
            raise TooMany
        if is_number(x):
            return [(float(x.value), Counter(), Counter())]  # type: ignore[union-attr]
        leaf: Any = ("at", x) if summed and isinstance(self.b.type(x), Array) else x
        made = self.b.definition(x) or self.b.primal.get(x)  # type: ignore[arg-type]
        if x in self.leaves:
            made = None
        if made is None or any(map(self.b.mutable, made.args)):
            return [(1.0, Counter([leaf]), Counter())]
        if leaf == x:  # under the name that it has in the primal sweep
            leaf = self.b.of_primal(made.op, made.args, made.keywords) or x
        if self._is_such_a_sum(made, summed):
            return self._sum(self.terms(made.args[0], depth + 1))
        if made.keywords or len(made.args) > 2:
            return [(1.0, Counter([leaf]), Counter())]
        return self._of_operation(leaf, made, depth, summed)

    def _of_operation(self, leaf: Any, made: Assign, depth: int, summed: bool) -> list[Term]:
        def terms(atom: Atom) -> list[Term]:
            return self.terms(atom, depth + 1, summed)

        first, *rest = made.args
        if made.op is operator.neg:
            return [(-c, n, d) for c, n, d in terms(first)]
        if made.op in (operator.add, operator.sub) and not self.whole:
            sign = -1.0 if made.op is operator.sub else 1.0
            return _limited(terms(first) + [(sign * c, n, d) for c, n, d in terms(rest[0])])
        if made.op is operator.mul:
            right = terms(rest[0])
            return _limited([(c * e, n + m, d + f) for c, n, d in terms(first) for e, m, f in right])
        if made.op is operator.truediv:
            bottom = terms(rest[0])
            if len(bottom) == 1 and bottom[0][0] != 0:
                e, m, f = bottom[0]
                return [(c / e, n + f, d + m) for c, n, d in terms(first)]
        given = self._new_axes(made) if made.op is operator.getitem and not summed else None
        if given and given == tuple(range(len(given))):
            return terms(first)  # as broadcasting does
        if given and given == self.axes:
            return self.terms(first, depth + 1, True)
        return [(1.0, Counter([leaf]), Counter())]

    def _is_such_a_sum(self, made: Assign, summed: bool) -> bool:
        """Whether this is a sum along the same axes, which broadcasts to what it is of, or is given its axes later."""
        ndim, options = rank(self.b.type(made.args[0])) if made.args else None, dict(made.keywords)
        if (
            made.op is not np.sum
            or ndim != self.ndim
            or len(made.args) != 1
            or not options.keys() <= {"axis", "keepdims"}
        ):
            return False
        axis, keepdims = (self._option(options.get(k)) for k in ("axis", "keepdims"))
        if axis is NotImplemented or keepdims is NotImplemented:
            return False  # which axes these are only the run knows
        axes = range(ndim) if axis is None else [axis] if isinstance(axis, int) else axis
        axes = tuple(sorted(a % ndim for a in axes)) if ndim else ()
        if summed:
            return axes == self.axes and not keepdims
        return axes == self.axes and (bool(keepdims) or axes == tuple(range(len(axes))))

    def _option(self, atom: Atom | None) -> Any:
        """The value of an option, `NotImplemented` if it is not known."""
        if atom is None or isinstance(atom, Const):
            return getattr(atom, "value", None)
        value = getattr(self.b.type(atom), "value", None)
        return value if isinstance(value, int) else NotImplemented

    def _new_axes(self, made: Assign) -> tuple[int, ...] | None:
        """The axes that ``x[:, None]`` gives to an array, None of another subscript."""
        ndim = rank(self.b.type(made.args[0]))
        if ndim is None or not isinstance(made.args[1], Const):
            return None
        return new_axes(made.args[1].value, ndim)


def canonical(terms: list[Term]) -> list[Term]:
    out: dict = {}
    for coefficient, above, below in terms:
        common = above & below
        key = frozenset((above - common).items()), frozenset((below - common).items())
        out[key] = out.get(key, 0.0) + coefficient
    return [(v, Counter(dict(above)), Counter(dict(below))) for (above, below), v in out.items() if v != 0]


def _limited(terms: list[Term]) -> list[Term]:
    if len(terms) > LIMIT:
        raise TooMany
    return terms
