"""Sums of what has a factor in common, written while the adjoint is.

    a * k + b * k                            ->  (a + b) * k
    u + a * k - b * k                        ->  u + (a - b) * k
    a * k - k                                ->  k * (a - 1)
    A @ M + B @ M                            ->  (A + B) @ M
    A + np.outer(np.full_like(u, s), v)      ->  A + s * v
    where(t, a, 0) + where(t, 0, b)          ->  where(t, a, b)
    a / n * n,  a * n / n                    ->  a
    a / (n * m) * n                          ->  a / m

So the adjoint of a value that is used twice is summed first, and multiplied once.
"""

from __future__ import annotations

import operator

import numpy as np

from tangentc.core.build import Builder, is_number
from tangentc.core.nodes import Assign, Atom, Const, Op
from tangentc.core.types import Array, is_narrow

ADD, SUB, MUL, DIV, MATMUL = operator.add, operator.sub, operator.mul, operator.truediv, operator.matmul
LINEAR = (MUL, DIV, MATMUL)
MOST_LINKS = 6  # of a product that is looked through for a factor


def joined(b: Builder, op: Op, x: Atom, y: Atom) -> Atom | None:
    """``x + y`` or ``x - y`` where both have something in common, or None."""
    found = _multiplied(b, op, x, y) or _once_more(b, op, x, y) or _chosen(b, op, x, y) or _in_all_rows(b, op, x, y)
    if found is not None:
        return found
    before = _written(b, x)
    if before is not None and before.op in (ADD, SUB) and b.type(before.args[0]) == b.type(x):
        same = ADD if (before.op is ADD) is (op is ADD) else SUB
        last = _multiplied(b, same, before.args[1], y)
        return last and b.emit(before.op, (before.args[0], last))
    return None


def _written(b: Builder, atom: Atom) -> Assign | None:
    """How the adjoint sweep has computed a value of no name of its own, from what does not change."""
    made = b.definition(atom) if isinstance(atom, str) and atom.startswith("%") else None
    if made is None or made.keywords or any(map(b.mutable, made.args)):
        return None
    return made


def _multiplied(b: Builder, op: Op, x: Atom, y: Atom) -> Atom | None:
    first, second = _written(b, x), _written(b, y)
    if first is None or second is None or first.op is not second.op or first.op not in LINEAR:
        return None
    if is_narrow(b.type(x)) or is_narrow(b.type(y)) or first.op is MATMUL and b.type(x) != b.type(y):
        return None
    (p, q), (r, s) = first.args, second.args
    if q == s and _alike(b, first.op, p, r):
        return b.emit(first.op, (b.emit(op, (p, r)), q))
    if first.op is not DIV and p == r and _alike(b, first.op, q, s):
        return b.emit(first.op, (p, b.emit(op, (q, s))))
    if first.op is MUL and p == s and _alike(b, MUL, q, r):
        return b.emit(MUL, (b.emit(op, (q, r)), p))
    if first.op is MUL and q == r and _alike(b, MUL, p, s):
        return b.emit(MUL, (b.emit(op, (p, s)), q))
    return None


def _once_more(b: Builder, op: Op, x: Atom, y: Atom) -> Atom | None:
    """``a * k`` and ``k`` itself, of a product that has the shape of both."""
    for product, other, turned in ((x, y, False), (y, x, True)):
        made = _written(b, product)
        if made is None or made.op is not MUL or other not in made.args or is_number(other) or turned and op is SUB:
            continue
        factor = made.args[0] if made.args[1] == other else made.args[1]
        whole = isinstance(b.type(factor), Array) and not is_number(factor) and b.same_shape(factor, product)
        if whole and not is_narrow(b.type(product)) and b.type(factor) == b.type(product):
            return b.emit(MUL, (other, b.emit(op, (factor, Const(1)))))
    return None


def _in_all_rows(b: Builder, op: Op, x: Atom, y: Atom) -> Atom | None:
    """``x + np.outer(np.full_like(u, s), v)`` is ``x + s * v``."""
    made = _written(b, y)
    full = _written(b, made.args[0]) if made is not None and made.op is np.outer else None
    if made is None or full is None or full.op is not np.full_like or b.type(x) != b.type(y):
        return None
    return b.emit(op, (x, b.mul(full.args[1], made.args[1])))


def _alike(b: Builder, op: Op, x: Atom, y: Atom) -> bool:
    """Whether two factors may be added before they are multiplied: what they give has the shape that it had."""
    if is_number(x) and is_number(y):
        return False
    return op is not MATMUL or b.type(x) == b.type(y)


def _chosen(b: Builder, op: Op, x: Atom, y: Atom) -> Atom | None:
    """Two choices by one test, each of which is zero on one side, and times a number perhaps."""
    first, second = _choice(b, x), _choice(b, y)
    if first is None or second is None or first[0] != second[0] or b.type(x) != b.type(y):
        return None
    (test, a, c), (_, d, e) = first, second
    if is_number(c, 0) and is_number(d, 0) and not is_number(a, 0):
        return b.emit(np.where, (test, a, e if op is ADD else b.emit(operator.neg, (e,))))
    if is_number(a, 0) and is_number(e, 0) and not is_number(c, 0):
        return b.emit(np.where, (test, d if op is ADD else b.emit(operator.neg, (d,)), c))
    return None


def _choice(b: Builder, x: Atom) -> tuple[Atom, Atom, Atom] | None:
    """The arguments of ``where(t, a, c)``, with what it is multiplied with inside; where that is no number, one arm is
    zero."""
    made = _written(b, x)
    if made is None or made.op is np.where:
        return made and made.args  # type: ignore[return-value]
    for k, factor in enumerate(made.args if made.op is MUL else ()):
        by, chosen = made.args[1 - k], _written(b, factor)
        if (
            chosen is None
            or chosen.op is not np.where
            or not (is_number(by) or any(is_number(a, 0) for a in chosen.args))
        ):
            continue
        test, *arms = chosen.args
        a, c = (arm if is_number(arm, 0) else b.mul(by, arm) if k else b.mul(arm, by) for arm in arms)
        return test, a, c
    return None


def cancelled(b: Builder, op: Op, x: Atom, y: Atom) -> Atom | None:
    """``x * y`` where x is divided by y, or ``x / y`` where it is multiplied with it."""
    if not isinstance(y, str):
        return None
    chain, rest = _without(b, x, y, DIV if op is MUL else MUL, MOST_LINKS)
    if not chain or rest is None or not b.same_shape(rest, x) or b.type(rest) != b.type(x):
        return None
    return rest


def _product(b: Builder, x: Atom) -> Assign | None:
    """How either sweep has computed a product of no name of its own."""
    made = _written(b, x) or (b.primal.get(x) if isinstance(x, str) and x.startswith("%") else None)
    return made if made is not None and made.op is MUL and not any(map(b.mutable, made.args)) else None


def _without(b: Builder, x: Atom, y: Atom, by: Op, links: int) -> tuple[bool, Atom | None]:
    """A product of quotients without ``* y``, or without ``/ y``, and whether there was one."""
    made = _written(b, x) if links else None
    if made is None or made.op not in (MUL, DIV, operator.neg):
        return False, None
    if made.op is by and made.args[1] == y:
        return True, made.args[0]
    if made.op is by is MUL and made.args[0] == y:
        return True, made.args[1]
    if made.op is by is DIV and (product := _product(b, made.args[1])) is not None and y in product.args:
        other = product.args[1 - product.args.index(y)]
        return True, b.emit(DIV, (made.args[0], other))
    found, rest = _without(b, made.args[0], y, by, links - 1)
    return found, b.emit(made.op, (rest, *made.args[1:])) if rest is not None else None
