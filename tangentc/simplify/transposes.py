"""Transposed arrays, and signs in products of matrices.

A.T.T                                    ->  A
np.swapaxes(np.transpose(k, (0, 1, 3, 2)), -1, -2)    ->  k
(A.T @ B).T                              ->  B.T @ A
A @ -b                                   ->  -(A @ b)
"""

from __future__ import annotations

import operator

import numpy as np

from tangentc.core.build import Builder, is_number
from tangentc.core.nodes import Assign, Atom, Const, version_base
from tangentc.core.types import Array, rank

MATMUL, NEG = operator.matmul, operator.neg


def of_negative(b: Builder, x: Atom, y: Atom) -> Atom | None:
    """A product of matrices of which one is the opposite of what is there."""
    for one, left in ((x, True), (y, False)):
        made = _written(b, one)
        if made is not None and made.op is NEG:
            inner = made.args[0]
            return b.emit(NEG, (b.emit(MATMUL, (inner, y) if left else (x, inner)),))
    return None


def swapped(b: Builder, x: Atom, *axes: Atom) -> Atom | None:
    """``np.swapaxes(x, *axes)``."""
    t = b.type(x)
    if len(axes) != 2 or not isinstance(t, Array) or len(t.shape) < 2 or not all(map(is_number, axes)):
        return None
    order = [*range(len(t.shape))]
    i, j = (a.value % len(order) for a in axes)  # type: ignore[union-attr]
    order[i], order[j] = order[j], order[i]
    return _in_order(b, x, order)


def transposed(b: Builder, x: Atom, *axes: Atom) -> Atom | None:
    """``np.transpose(x, *axes)``."""
    t = b.type(x)
    if not isinstance(t, Array) or len(axes) > 1:
        return None
    if axes:
        order = _numbers(axes[0], len(t.shape))
        return None if order is None else _in_order(b, x, order)
    made = _written(b, x)
    if made is not None and made.op is NEG:
        return b.emit(NEG, (b.emit(np.transpose, made.args),))
    if made is not None and made.op is np.outer:
        return b.emit(np.outer, made.args[::-1])
    return _in_order(b, x, [*reversed(range(len(t.shape)))])


def _in_order(b: Builder, x: Atom, order: list[int]) -> Atom | None:
    """An array with its axes in another order, where that is one that is there; both are views, also of one that
    changes."""
    before = _order_of(b, x)
    if before is not None and [before[1][k] for k in order] == [*range(len(order))]:
        return before[0]
    if len(order) < 2:
        return None
    last = [*range(len(order) - 2), len(order) - 1, len(order) - 2]
    return _product(b, x, len(order)) if order == last else None


def _order_of(b: Builder, x: Atom) -> tuple[Atom, list[int]] | None:
    """Of what an array is the transposed one, and the order of the axes."""
    made = b.definition(x) or b.primal.get(x) if isinstance(x, str) else None
    ndim = (
        rank(b.type(made.args[0]))
        if made is not None and made.args and isinstance(b.type(made.args[0]), Array)
        else None
    )
    if made is None or made.keywords or ndim is None:
        return None
    order = [*range(ndim)]
    if made.op is np.swapaxes and ndim > 1 and all(map(is_number, made.args[1:])):
        i, j = (a.value % ndim for a in made.args[1:])  # type: ignore[union-attr]
        order[i], order[j] = order[j], order[i]
        return made.args[0], order
    if made.op is not np.transpose or len(made.args) > 2:
        return None
    if len(made.args) == 1:
        return made.args[0], order[::-1]
    given = _numbers(made.args[1], ndim)
    return None if given is None else (made.args[0], given)


def _numbers(order: Atom, ndim: int) -> list[int] | None:
    """An order of axes that is written out."""
    given = order.value if isinstance(order, Const) else None
    if not isinstance(given, tuple) or len(given) != ndim or any(type(k) is not int for k in given):
        return None
    return [k % ndim for k in given]


def _product(b: Builder, x: Atom, ndim: int) -> Atom | None:
    """``(A.T @ B).T`` is ``B.T @ A``, of an adjoint, which nothing else reads."""
    is_adjoint = isinstance(x, str) and version_base(x).endswith("_bar")
    product = _written(b, x) if is_adjoint or isinstance(x, str) and b.definition(x) is not None else None
    if product is None or product.op is not MATMUL or not all(rank(b.type(a)) == ndim for a in product.args):
        return None
    if not any(_order_of(b, a) == (inner[0], [*range(ndim - 2), ndim - 1, ndim - 2])
               for a in product.args if (inner := _order_of(b, a)) is not None):  # fmt: skip
        return None
    op, axes = (np.transpose, ()) if ndim == 2 else (np.swapaxes, (Const(-1), Const(-2)))
    left, right = (b.emit(op, (a, *axes)) for a in product.args)
    return b.emit(MATMUL, (right, left))


def _written(b: Builder, x: Atom) -> Assign | None:
    """How the adjoint sweep has computed a value of no name of its own."""
    made = b.definition(x) if isinstance(x, str) and x.startswith("%") else None
    return None if made is None or made.keywords or any(map(b.mutable, made.args)) else made
