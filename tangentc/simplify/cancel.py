"""Sums of adjoints that are zero because their terms cancel.

In a softmax that is shifted by its maximum the adjoint of the shift is

    sum(g + n * e)   with   n = -sum(g) / sum(e)

which is zero whatever g and e are.  The sum is expanded into terms (coefficient, factors), a factor that
is constant along the summed axis moves out, a quotient whose denominator is one of the factors cancels,
and what is left is compared.
"""

from __future__ import annotations

import operator
from collections import Counter
from typing import Any

import numpy as np

from tangentc.core.build import Builder, is_number, shape_of
from tangentc.core.nodes import Assign, Atom

Term = tuple[float, Counter, Counter]  # coefficient, factors above, factors below
LIMIT = 12


class _TooMany(Exception):
    pass


def sums_to_zero(b: Builder, x: Atom, axis: Any, keepdims: bool) -> bool:
    """Whether ``np.sum(x, axis=axis, keepdims=keepdims)`` is zero by algebra."""
    made = b.definition(x)
    while made is not None and made.op is operator.neg:
        x, made = made.args[0], b.definition(made.args[0])
    if made is None or made.op not in (operator.add, operator.sub):
        return False
    try:
        return not _canonical(_sum(b, _terms(b, x, axis, 0), axis))
    except _TooMany:
        return False


def _canonical(terms: list[Term]) -> dict:
    out: dict = {}
    for coefficient, above, below in terms:
        common = above & below
        key = frozenset((above - common).items()), frozenset((below - common).items())
        out[key] = out.get(key, 0.0) + coefficient
    return {k: v for k, v in out.items() if v != 0}


def _constant_along(b: Builder, x: Any, axis: Any) -> bool:
    """Whether a factor has length one along the summed axes."""
    if isinstance(x, tuple):
        return True  # a sum along the axis
    shape = shape_of(b.type(x))
    if shape == ():
        return True
    if shape is None or axis is None:
        return False
    axes = axis if isinstance(axis, tuple) else (axis,)
    return all(-len(shape) <= a < len(shape) and shape[a] == 1 for a in axes)


def _sum(b: Builder, terms: list[Term], axis: Any) -> list[Term]:
    """The sum of terms: what is constant along the axis moves out, the rest is one opaque sum."""
    out = []
    for coefficient, above, below in terms:
        outer = Counter({f: n for f, n in above.items() if _constant_along(b, f, axis)})
        outer_below = Counter({f: n for f, n in below.items() if _constant_along(b, f, axis)})
        inner = (frozenset((above - outer).items()), frozenset((below - outer_below).items()))
        outer[("sum", axis, inner)] += 1
        out.append((coefficient, outer, outer_below))
    return out


def _terms(b: Builder, x: Atom, axis: Any, depth: int) -> list[Term]:
    """``x`` as a sum of products."""
    if depth > LIMIT:
        raise _TooMany
    if is_number(x):
        return [(float(x.value), Counter(), Counter())]  # type: ignore[union-attr]
    made = b.definition(x) or b.primal.get(x)  # type: ignore[arg-type]
    if made is None or any(isinstance(a, str) and b.mutable(a) for a in made.args) and made.op is not np.sum:
        return [(1.0, Counter([x]), Counter())]
    down = list(made.args)
    if made.op in (operator.add, operator.sub):
        sign = -1.0 if made.op is operator.sub else 1.0
        right = [(sign * c, n, d) for c, n, d in _terms(b, down[1], axis, depth + 1)]
        return _limited(_terms(b, down[0], axis, depth + 1) + right)
    if made.op is operator.neg:
        return [(-c, n, d) for c, n, d in _terms(b, down[0], axis, depth + 1)]
    if made.op is operator.mul:
        products = [
            (c * e, n + m, d + f)
            for c, n, d in _terms(b, down[0], axis, depth + 1)
            for e, m, f in _terms(b, down[1], axis, depth + 1)
        ]
        return _limited(products)
    if made.op is operator.truediv:
        bottom = _terms(b, down[1], axis, depth + 1)
        if len(bottom) == 1 and bottom[0][0] != 0:
            e, m, f = bottom[0]
            return [(c / e, n + f, d + m) for c, n, d in _terms(b, down[0], axis, depth + 1)]
    if made.op is np.sum and _is_same_sum(made, axis):
        return _sum(b, _terms(b, down[0], axis, depth + 1), axis)
    return [(1.0, Counter([x]), Counter())]


def _limited(terms: list[Term]) -> list[Term]:
    if len(terms) > LIMIT:
        raise _TooMany
    return terms


def _is_same_sum(made: Assign, axis: Any) -> bool:
    keywords = {k: getattr(v, "value", v) for k, v in made.keywords}
    return keywords == ({} if axis is None else {"axis": axis, "keepdims": True})
