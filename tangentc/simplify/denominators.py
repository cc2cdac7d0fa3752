"""Sums of quotients times what these are divided by.

    p_bar = (1 - y) / (1 - p) - y / p
    p_bar * p * (1 - p)                    ->  p - y

which is the adjoint of the logits in a cross-entropy of a sigmoid, and is a number where a probability is 0 or 1.
"""

from __future__ import annotations

import operator
from collections import Counter

from tangentc.core.build import Builder, is_number
from tangentc.core.nodes import Atom, Const
from tangentc.core.types import Scalar, rank
from tangentc.simplify.cancel import Sums, Term, TooMany, canonical

MOST_TERMS = 2  # of what is written in place of the sum


def without_denominators(b: Builder, total: Atom, factors: list[Atom]) -> Atom | None:
    """``total`` times ``factors``, if these cancel all that its terms are divided by, and that is short; or None."""
    made = b.definition(total) if isinstance(total, str) else None
    if made is None or made.op not in (operator.add, operator.sub) or any(map(b.mutable, made.args)):
        return None
    try:
        found = _expanded(b, total, factors)
    except TooMany:
        return None
    if found is None or not 0 < len(found[1]) <= MOST_TERMS:
        return None
    out = _written(b, *found)
    return out if out is not None and b.same_shape(out, total) else None


def _expanded(b: Builder, total: Atom, factors: list[Atom]) -> tuple[Counter, list[Term]] | None:
    """What all terms of the product are multiplied with, and the rest of them, which is divided by nothing."""
    made = b.definition(total)
    assert made is not None
    sums = Sums(b, (), rank(b.type(total)) or 0, True, tuple(factors))
    sign = -1.0 if made.op is operator.sub else 1.0
    parts = [*sums.terms(made.args[0]), *((sign * c, n, d) for c, n, d in sums.terms(made.args[1]))]
    if not all(set(factors) & set(below) for _, _, below in parts):
        return None
    parts = canonical([(c, above + Counter(factors), below) for c, above, below in parts])
    if not parts or any(set(factors) & set(below) for _, _, below in parts):
        return None
    below = parts[0][2]
    if any(other != below for _, _, other in parts):
        return None
    common = Counter(parts[0][1])
    for _, above, _ in parts:
        common &= above
    whole = Sums(b, (), sums.ndim, False, tuple(factors[:1]))
    rest: list[Term] = []
    for coefficient, above, _ in parts:
        rest += _product(whole, coefficient, above - common)
    return Counter({**common, **{("below", f): n for f, n in below.items()}}), canonical(rest)


def _product(sums: Sums, coefficient: float, factors: Counter) -> list[Term]:
    """A product of sums as a sum of products."""
    out: list[Term] = [(coefficient, Counter(), Counter())]
    for factor in factors.elements():
        out = [(c * e, n + m, d + f) for c, n, d in out for e, m, f in sums.terms(factor)]
    return out


def _written(b: Builder, common: Counter, rest: list[Term]) -> Atom | None:
    if any(below or not all(isinstance(f, str) for f in above) for _, above, below in rest):
        return None
    rest = sorted(rest, key=lambda term: term[0] < 0)
    total: Atom | None = None
    for coefficient, above, _ in rest:
        size = coefficient if total is None else abs(coefficient)
        term: Atom = Const(int(size) if size % 1 == 0 else size)
        for factor in above.elements():
            term = factor if is_number(term, 1) else b.mul(term, factor)
        total = term if total is None else b.emit(operator.sub if coefficient < 0 else operator.add, (total, term))
    assert total is not None
    parts: list[tuple[Atom, bool]] = [(f, False) if isinstance(f, str) else (f[1], True) for f in common.elements()]
    numbers = [p for p in parts if isinstance(b.type(p[0]), Scalar)]
    out: Atom = Const(1)
    for atom, below in (*numbers, (total, False), *(p for p in parts if p not in numbers)):
        if below:
            out = b.emit(operator.truediv, (out, atom))
        else:
            out = atom if is_number(out, 1) else b.mul(out, atom)
    return out
