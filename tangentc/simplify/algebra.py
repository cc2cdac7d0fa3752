"""Algebra on single operations, applied while the adjoint is written.

    1 * x            ->  x              b * (1 / y)         ->  b / y
    x + -y           ->  x - y          b * (-p)            ->  -(b * p)
    x + x            ->  2 * x          b * where(c, 1, 0)  ->  where(c, b, 0)
    a * (2 * b)      ->  2 * a * b      (1 / y) / y         ->  (1 / y) ** 2
    b * abs(x) * sign(x)  ->  b * x

    a / (1 + e) * e, with e = np.exp(x)  ->  a / (1 + np.exp(-x)), which is right where e overflows

Nothing is rewritten that changes a dtype or a shape, and no product with zero is dropped, since zero
times infinity is not zero.
"""

from __future__ import annotations

import math
import operator
from collections import Counter

import numpy as np

from tangentc.core import ops
from tangentc.core.build import Builder, is_number, is_sure
from tangentc.core.nodes import Assign, Atom, Const, Op, version_base
from tangentc.core.types import Array, Scalar, is_complex, is_narrow
from tangentc.runtime import split_like
from tangentc.simplify.denominators import without_denominators
from tangentc.simplify.factors import cancelled, joined
from tangentc.simplify.newaxes import without_leading
from tangentc.simplify.slices import part_of_split
from tangentc.simplify.transposes import of_negative, swapped, transposed

ADD, SUB, MUL, DIV, NEG, POW = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pow,
)  # fmt: skip


def simplify(b: Builder, op: Op, args: tuple[Atom, ...]) -> Atom | None:
    """A simpler atom for ``op(*args)``, or None."""
    rewrite = REWRITES.get(op)
    if rewrite is None:
        return None
    if op in FOLDED and all(is_number(a) for a in args):
        return Const(op(*(a.value for a in args)))  # type: ignore[union-attr]
    if op in BROADCASTING and (shorter := without_leading(b, op, *args)) is not None:
        return shorter
    return rewrite(b, *args)  # type: ignore[operator]


def _made_by(b: Builder, atom: Atom, op: Op) -> Assign | None:
    """The operation behind a temporary; a value that has a name of its own is left whole."""
    definition = b.definition(atom) if isinstance(atom, str) and atom.startswith("%") else None
    if definition is None or definition.op is not op or definition.keywords:
        return None
    return definition


def _add(b: Builder, x: Atom, y: Atom) -> Atom | None:
    if x == y and isinstance(x, str):
        return b.mul(Const(2), x)
    if (collected := _collected(b, x, y)) is not None:
        return collected
    sum_so_far = b.definition(x)
    if sum_so_far is not None and sum_so_far.op is ADD and b.type(x) == b.type(sum_so_far.args[0]):
        if (collected := _collected(b, sum_so_far.args[1], y)) is not None:
            return b.add(sum_so_far.args[0], collected)
    if neg := _made_by(b, y, NEG):
        return b.emit(SUB, (x, neg.args[0]))
    if neg := _made_by(b, x, NEG):
        return b.emit(SUB, (y, neg.args[0]))
    if is_number(x, 0) and isinstance(y, str):
        return y
    if is_number(y, 0) and isinstance(x, str):
        return x
    for first, second in ((x, y), (y, x)):
        if (product := _made_by(b, second, MUL)) and is_number(product.args[0]) and product.args[0].value < 0:  # type: ignore
            return b.emit(SUB, (first, b.mul(Const(-product.args[0].value), product.args[1])))  # type: ignore[union-attr]
    for first, second in ((x, y), (y, x)):
        if (bare := _bare(b, second, first)) is not None:
            return b.add(first, bare)
    return joined(b, ADD, x, y)


def _bare(b: Builder, x: Atom, beside: Atom) -> Atom | None:
    """What ``c * y / y`` is beside a value of the same shape: ``c``, which may be a number."""
    quotient = _made_by(b, x, DIV)
    product = _made_by(b, quotient.args[0], MUL) if quotient else None
    if quotient is None or product is None or quotient.args[1] not in product.args or not b.same_shape(x, beside):
        return None
    first, second = product.args
    rest = first if second == quotient.args[1] else second
    return rest if isinstance(b.type(rest), Scalar) and not is_narrow(b.type(x)) else None


def _monomial(b: Builder, x: Atom) -> tuple[float, list[Atom]]:
    """A product as its coefficient and its factors, in the order of the text."""
    coefficient, factors, stack = 1.0, [], [x]  # type: ignore[var-annotated]
    while stack and len(factors) < 8:
        atom = stack.pop()
        if is_number(atom):
            coefficient *= atom.value  # type: ignore[union-attr]
        elif product := _made_by(b, atom, MUL) or _primal_product(b, atom):
            stack.extend(reversed(product.args))
        elif negative := _made_by(b, atom, NEG):
            coefficient = -coefficient
            stack.append(negative.args[0])
        else:
            factors.append(atom)
    return coefficient, factors + stack


def _primal_product(b: Builder, atom: Atom) -> Assign | None:
    """A product that the primal sweep made without giving it a name."""
    made = b.primal.get(atom) if isinstance(atom, str) and atom.startswith("%") else None
    if made is None or made.op is not MUL or any(isinstance(a, str) and b.mutable(a) for a in made.args):
        return None
    return made


def _has_number(b: Builder, x: Atom) -> bool:
    """Whether a product, or a quotient of one, begins with a number that another one may be multiplied with."""
    while (quotient := _made_by(b, x, DIV)) is not None:
        x = quotient.args[0]
    product = _made_by(b, x, MUL)
    return product is not None and (is_number(product.args[0]) or _has_number(b, product.args[0]))


MOST_DIGITS = 10  # of a number that is made out of two


def _and_more(b: Builder, x: Atom, factors: list[Atom], by: float, more: list[Atom]) -> Atom | None:
    """``x * y + 3 * x * y * z`` is ``x * y * (1 + 3 * z)``."""
    rest = Counter(more) - Counter(factors)
    if len(factors) < 2 or Counter(factors) - Counter(more) or is_narrow(b.type(x)) or len(repr(by)) > MOST_DIGITS:
        return None
    product: Atom = Const(int(by) if by % 1 == 0 else by)
    for factor in rest.elements():
        product = factor if is_number(product, 1) else b.mul(product, factor)
    return b.mul(x, b.add(Const(1), product))


def _collected(b: Builder, x: Atom, y: Atom) -> Atom | None:
    """``a * (0.5 * k) + 0.5 * k * a`` is ``a * k``: like products are added by their coefficients."""
    if not (isinstance(x, str) and isinstance(y, str) and b.type(x) == b.type(y)):
        return None
    if not (_made_by(b, x, MUL) or _made_by(b, x, NEG)) or not (_made_by(b, y, MUL) or _made_by(b, y, NEG)):
        return None
    (p, first), (q, second) = _monomial(b, x), _monomial(b, y)
    if Counter(first) != Counter(second):
        found = _and_more(b, x, first, q / p, second) if p > 0 else None
        return found or (_and_more(b, y, second, p / q, first) if q > 0 else None)
    if p + q == 0:
        return None
    total = p + q
    out: Atom = Const(int(total) if total % 1 == 0 else total)
    for factor in second:
        out = factor if is_number(out, 1) else b.mul(out, factor)
    return out


def _sub(b: Builder, x: Atom, y: Atom) -> Atom | None:
    if neg := _made_by(b, y, NEG):
        return b.add(x, neg.args[0])
    if is_number(x, 0) and isinstance(y, str):
        return b.emit(NEG, (y,))
    if is_number(y, 0) and isinstance(x, str):
        return x
    if (bare := _bare(b, y, x)) is not None:
        return b.emit(SUB, (x, bare))
    return joined(b, SUB, x, y)


def _neg(b: Builder, x: Atom) -> Atom | None:
    if inner := _made_by(b, x, NEG):
        return inner.args[0]
    if (inner := _made_by(b, x, MUL)) and is_number(inner.args[0]):
        return b.mul(Const(-inner.args[0].value), inner.args[1])  # type: ignore[union-attr]
    return None


def _is_absolute(b: Builder, x: Atom, of: Atom) -> bool:
    """Whether ``x`` is the absolute value of a real number."""
    made = b.definition(x) or b.primal.get(x) if isinstance(x, str) else None
    whole = made is not None and not made.keywords and not (isinstance(of, str) and b.mutable(of))
    return whole and made.op in (np.abs, abs) and made.args == (of,) and not is_complex(b.type(of))  # type: ignore


def _mul(b: Builder, x: Atom, y: Atom) -> Atom | None:
    if (rest := cancelled(b, MUL, x, y)) is not None:
        return rest
    if is_number(y) and not is_number(x):
        x, y = y, x
        if not is_number(x, 1) and not is_number(x, -1) and not _made_by(b, y, MUL):
            return b.mul(x, y)
    if is_number(x, 1) and isinstance(y, str):
        return y
    if is_number(x, -1) and isinstance(y, str):
        return b.emit(NEG, (y,))
    if (sign := _made_by(b, y, np.sign)) and (product := _made_by(b, x, MUL)):
        if _is_absolute(b, product.args[1], sign.args[0]):
            return b.mul(product.args[0], sign.args[0])
    if choice := _times_choice(b, x, y):
        return choice
    if (times := _filled(b, x, y) or _filled(b, y, x)) is not None:
        return times
    if (first := _opposite(b, x)) is not None and (second := _opposite(b, y)) is not None:
        return b.mul(first, second)
    if (other := _opposite(b, y)) is not None:
        return b.emit(NEG, (b.mul(x, other),))
    if (other := _opposite(b, x)) is not None:
        return b.emit(NEG, (b.mul(other, y),))
    known = _logistic(b, x, y) or _logistic(b, y, x) or _primal_ratio(b, x, y) or _primal_ratio(b, y, x)
    if known is not None:
        return known
    if quotient := _made_by(b, y, DIV):
        top, bottom = quotient.args
        return b.emit(DIV, (b.mul(x, top), bottom))
    if (product := _made_by(b, y, MUL)) and is_number(product.args[0]):
        return b.mul(b.mul(product.args[0], x), product.args[1])
    if (product := _primal_product(b, y)) and is_number(product.args[0]) and _has_number(b, x):
        return b.mul(b.mul(product.args[0], x), product.args[1])
    if is_number(x) and (product := _made_by(b, y, MUL)) and not is_narrow(b.type(product.args[0])):
        return b.mul(b.mul(x, product.args[0]), product.args[1])
    return None


def _where(b: Builder, test: Atom, x: Atom, y: Atom) -> Atom | None:
    return _both(b, np.where, test, x, y)


def _select(b: Builder, test: Atom, x: Atom, y: Atom) -> Atom | None:
    return _both(b, ops.select, test, x, y)


def _both(b: Builder, op: Op, test: Atom, x: Atom, y: Atom) -> Atom | None:
    """``where(t, where(u, x, 0), 0)`` is ``where(t & u, x, 0)``, and ``where(t, where(t, x, 0) * a, y)`` is
    ``where(t, x * a, y)``."""
    arms = tuple(_where_taken(b, op, test, arm, k) for k, arm in enumerate((x, y), 1))
    if arms != (x, y):
        return b.emit(op, (test, *arms))
    inner = _made_by(b, x, op)
    if (
        inner is None
        or y != Const(0.0)
        or inner.args[2] != y
        or not _is_test(b, test)
        or not _is_test(b, inner.args[0])
    ):
        return None
    if inner.args[0] == test:
        return x
    return b.emit(op, (b.emit(operator.and_, (inner.args[0], test)), inner.args[1], y))


def _where_taken(b: Builder, op: Op, test: Atom, arm: Atom, k: int) -> Atom:
    """One arm of a choice, in which a factor that is chosen by the same test is what it is there."""
    made = _made_by(b, arm, MUL)
    for place, factor in enumerate(made.args if made is not None else ()):
        inner = _made_by(b, factor, op)
        if inner is not None and inner.args[0] == test:
            other = made.args[1 - place]  # type: ignore[union-attr]
            return b.mul(*((inner.args[k], other) if place == 0 else (other, inner.args[k])))
    return arm


def _is_test(b: Builder, atom: Atom) -> bool:
    return getattr(b.type(atom), "dtype", "") == "bool"


def _filled(b: Builder, x: Atom, y: Atom) -> Atom | None:
    """``np.full_like(y, s) * y`` is ``s * y``."""
    filled = _made_by(b, x, np.full_like)
    if filled is None or b.type(filled.target) != b.type(y) or not b.same_shape(filled.args[0], y):
        return None
    return b.mul(filled.args[1], y)


def _times_choice(b: Builder, x: Atom, y: Atom) -> Atom | None:
    """``x * where(c, 1, 0)`` is ``where(c, x, 0)``."""
    for choose in (np.where, ops.select):
        if (chosen := _made_by(b, y, choose)) and any(is_number(a, 1) or is_number(a, 0) for a in chosen.args[1:]):
            if all(is_number(a) for a in chosen.args[1:]):
                arms = tuple(Const(0.0) if is_number(a, 0) else b.mul(x, a) for a in chosen.args[1:])
                return b.emit(choose, (chosen.args[0], *arms))
    return None


def _opposite(b: Builder, x: Atom) -> Atom | None:
    """The y of ``-y``; of the primal sweep for a number, of which the sign may move."""
    if made := _made_by(b, x, NEG):
        return made.args[0]
    made = _known(b, x) if isinstance(x, str) and x.startswith("%") and isinstance(b.type(x), Scalar) else None
    return made.args[0] if made is not None and made.op is NEG else None


def _logistic(b: Builder, quotient: Atom, y: Atom) -> Atom | None:
    """``a / (1 + e) * (e * c)`` for ``e = np.exp(x)``, and ``(a / (1 + e)) ** 2 * (e * c)``; where a is a multiple of
    ``y = 1 / (1 + e)`` that is there, ``a * c * (1 - y)``."""
    made = _known(b, quotient)
    square = made if made is not None and made.op is POW and is_number(made.args[1], 2) else None
    made = made if square is None else _known(b, square.args[0])
    e = _exponential(b, made.args[1]) if made is not None and made.op is DIV else None
    if e is None or e not in (factors := _monomial(b, y)[1]):
        return None
    top = _without(b, y, factors, e)
    y_bar, total = made.args  # type: ignore[union-attr]
    out = next((f for f in _monomial(b, y_bar)[1] if _is_reciprocal(b, f, total)), None) if square is None else None
    top = y_bar if is_number(top, 1) else b.mul(y_bar, top)
    if out is not None:
        return _times_slope(b, top, out)
    ratio = b.emit(DIV, (top, _other_total(b, e)))
    return ratio if square is None else b.mul(square.args[0], ratio)


def _primal_ratio(b: Builder, x: Atom, y: Atom) -> Atom | None:
    """``a / s * e`` is ``a * w`` where the primal sweep has ``w = e / s``."""
    quotient = _made_by(b, x, DIV) or _adjoint_quotient(b, x)
    ratio = None if quotient is None else b.of_primal(DIV, (y, quotient.args[1]))
    return None if ratio is None else b.mul(quotient.args[0], ratio)  # type: ignore[union-attr]


def _adjoint_quotient(b: Builder, x: Atom) -> Assign | None:
    """How an adjoint that has its name already is a quotient."""
    made = b.definition(x) if isinstance(x, str) and version_base(x).endswith("_bar") else None
    return made if made is not None and made.op is DIV and not any(map(b.mutable, made.args)) else None


def _times_slope(b: Builder, top: Atom, out: Atom) -> Atom:
    """``a * y * (1 - y)`` for a sigmoid y, of whose logarithm a may be the derivative."""
    rest = b.of_primal(SUB, (Const(1), out)) or b.emit(SUB, (Const(1), out))
    coefficient, factors = _monomial(b, top)
    sums = [f for f in factors if f != out]
    if coefficient == 1 and len(sums) == 1 and factors.count(out) == 1:
        short = without_denominators(b, sums[0], [out, rest])
        if short is not None:
            return short
    return b.mul(top, rest)


def _is_reciprocal(b: Builder, x: Atom, of: Atom) -> bool:
    """Whether ``x`` is ``1 / of``."""
    made = _known(b, x)
    return made is not None and made.op is DIV and is_number(made.args[0], 1) and made.args[1] == of


def _without(b: Builder, x: Atom, factors: list[Atom], factor: Atom) -> Atom:
    """A product without one of its factors."""
    factors.remove(factor)
    top: Atom = Const(1.0)
    for other in factors:
        top = other if is_number(top, 1) else b.mul(top, other)
    coefficient = _monomial(b, x)[0]
    return top if coefficient == 1 else b.mul(Const(coefficient), top)


def _exponential(b: Builder, total: Atom) -> Atom | None:
    """The e of ``1 + e``, where it is ``np.exp(x)``."""
    made = _known(b, total)
    if made is None or made.op is not ADD or not any(is_number(a, 1) for a in made.args):
        return None
    e = made.args[0] if is_number(made.args[1], 1) else made.args[1]
    exp = _known(b, e)
    return e if exp is not None and exp.op in (np.exp, math.exp) else None


def _other_total(b: Builder, e: Atom) -> Atom:
    """``1 + np.exp(-x)`` for ``e = np.exp(x)``."""
    exp = _known(b, e)
    assert exp is not None
    negative = _known(b, exp.args[0])
    opposite = negative.args[0] if negative is not None and negative.op is NEG else b.emit(NEG, exp.args)
    return b.add(Const(1), b.emit(exp.op, (opposite,)))


def _known(b: Builder, atom: Atom) -> Assign | None:
    """The operation behind a value, of the primal or the adjoint sweep, if nothing that it reads changes."""
    made = b.definition(atom) or b.primal.get(atom) if isinstance(atom, str) else None
    if made is None or made.keywords or any(isinstance(a, str) and b.mutable(a) for a in (atom, *made.args)):
        return None
    return made


def _div(b: Builder, x: Atom, y: Atom) -> Atom | None:
    if (rest := cancelled(b, DIV, x, y)) is not None:
        return rest
    if is_number(y, 1) and isinstance(x, str):
        return x
    if (e := _exponential(b, y)) is not None and e in (factors := _monomial(b, x)[1]):  # a * e / (1 + e)
        return b.emit(DIV, (_without(b, x, factors, e), _other_total(b, e)))
    if neg := _made_by(b, x, NEG):
        return b.emit(NEG, (b.emit(DIV, (neg.args[0], y)),))
    if (reciprocal := _made_by(b, x, DIV)) and is_number(reciprocal.args[0], 1) and reciprocal.args[1] == y:
        return b.emit(POW, (x, Const(2)))
    if (product := _made_by(b, x, MUL)) and (reciprocal := _made_by(b, product.args[1], DIV)):
        if is_number(reciprocal.args[0], 1) and reciprocal.args[1] == y:
            return b.mul(product.args[0], b.emit(POW, (product.args[1], Const(2))))
    return None


def _pow(b: Builder, x: Atom, y: Atom) -> Atom | None:
    return x if is_number(y, 1) and isinstance(x, str) else None


def _expand_dims(b: Builder, x: Atom, axis: Atom) -> Atom | None:
    """``x[:, None]``, as people write it."""
    t, axes = b.type(x), getattr(axis if isinstance(axis, Const) else b.type(axis), "value", None)
    axes = axes if isinstance(axes, tuple) else (axes,)
    if not isinstance(t, Array) or t.or_number or not axes or any(type(k) is not int for k in axes):
        return None
    many = len(t.shape) + len(axes)
    places = sorted(k % many for k in axes)
    quotient = _made_by(b, x, DIV)
    product = _made_by(b, quotient.args[0] if quotient else x, MUL)
    if product and is_number(product.args[0]):  # so that it meets other numbers
        rest = b.emit(DIV, (product.args[1], quotient.args[1])) if quotient else product.args[1]
        return b.mul(product.args[0], b.emit(np.expand_dims, (rest, axis)))
    key: list[object] = [None if k in places else slice(None) for k in range(places[-1] + 1)]
    if places[0] == many - len(places) and len(t.shape) > 1:  # behind all others
        key = [..., *[None] * len(places)]
    return b.emit(operator.getitem, (x, Const(key[0] if len(key) == 1 else tuple(key))))


def _reshape(b: Builder, x: Atom, shape: Atom) -> Atom | None:
    """An array in the shape that it has already."""
    t, made = b.type(x), b.definition(shape) if isinstance(shape, str) else None
    if made is None or made.op is not np.shape or not isinstance(t, Array) or t.or_number:
        return None
    return x if is_sure(t.shape) and b.same_shape(x, made.args[0]) else None


def _sum(b: Builder, x: Atom, *axis: Atom) -> Atom | None:
    """The sum of one number in each entry."""
    filled, t = None if axis else _made_by(b, x, np.full_like), b.type(x)
    one = filled is not None and isinstance(b.type(filled.args[1]), Scalar)
    if filled is None or not one or not isinstance(t, Array) or t.dtype != "float64":
        return None
    return b.mul(filled.args[1], b.emit(np.size, filled.args[:1]))


def _diag(b: Builder, x: Atom, *offset: Atom) -> Atom | None:
    """The diagonal of an outer product."""
    outer = _made_by(b, x, np.outer) if all(is_number(k, 0) for k in offset) else None
    if outer is None or not b.same_shape(outer.args[0], outer.args[1]):
        return None
    return b.mul(outer.args[0], outer.args[1])


def _getitem(b: Builder, x: Atom, key: Atom) -> Atom | None:
    """An item of a named tuple that has just been put together, or of what is cut into parts."""
    cut = b.definitions.get(x) if isinstance(x, str) and is_number(key) else None
    if cut is not None and cut.op is split_like and not cut.keywords:  # into views, as slices are
        return part_of_split(b, cut, key.value)  # type: ignore[union-attr]
    made = b.definition(x) if isinstance(x, str) and is_number(key) else None
    if made is None or made.op is not ops.make_struct or not issubclass(made.args[0].value, tuple):  # type: ignore[union-attr]
        return None
    return made.args[2:][key.value]  # type: ignore[union-attr]


REWRITES = {
    ADD: _add, SUB: _sub, NEG: _neg, MUL: _mul, DIV: _div, POW: _pow,
    np.transpose: transposed, np.swapaxes: swapped, operator.matmul: of_negative, np.expand_dims: _expand_dims,
    np.reshape: _reshape, operator.getitem: _getitem, np.sum: _sum, np.diag: _diag,
    np.where: _where, ops.select: _select,
}  # fmt: skip
FOLDED = {ADD, SUB, MUL, NEG}
BROADCASTING = {ADD, SUB, MUL, DIV}
