"""Axes of length one in front, which broadcasting adds by itself.

x - np.mean(x, axis=0, keepdims=True)    ->  x - np.mean(x, axis=0)
a[None] / n + x                          ->  a / n + x
"""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np

from tangentc.core.build import Builder
from tangentc.core.nodes import Assign, Atom, Const, Op
from tangentc.core.types import Array, Scalar, rank

ARITHMETIC = (operator.add, operator.sub, operator.mul, operator.truediv, operator.neg)
REDUCTIONS = (np.sum, np.mean, np.max, np.min, np.prod, np.var, np.std)


def without_leading(b: Builder, op: Op, x: Atom, y: Atom) -> Atom | None:
    """``op(x, y)`` where one of them has axes in front that the other makes needless, or None."""
    for one, other, turned in ((x, y, False), (y, x, True)):
        if op is operator.truediv and turned and isinstance(b.type(other), Scalar):
            continue
        found = _base(b, one)
        if found is None:
            continue
        base, axes = found
        if isinstance(b.type(other), Scalar) and op in (operator.mul, operator.truediv):
            inner = b.emit(op, (other, base()) if turned else (base(), other))
            return b.emit(operator.getitem, (inner, Const(None if axes == 1 else (None,) * axes)))
        t = b.type(other)
        if isinstance(t, Array) and not t.or_number and len(t.shape) >= (rank(b.type(one)) or 0):
            return b.emit(op, (other, base()) if turned else (base(), other))
    return None


def _base(b: Builder, atom: Atom) -> tuple[Callable[[], Atom], int] | None:
    """What an array is without the axes of length one in front, to be written, and how many they are."""
    made = b.definition(atom) if isinstance(atom, str) and atom.startswith("%") else None
    if (
        made is None
        or not made.args
        or not isinstance(b.type(atom), Array)
        or not isinstance(b.type(made.args[0]), Array)
    ):
        return None
    if made.op is operator.getitem and isinstance(made.args[1], Const):
        key = made.args[1].value
        parts = key if isinstance(key, tuple) else (key,)
        if parts and all(p is None for p in parts):
            return (lambda: made.args[0]), len(parts)
    options = dict(made.keywords)
    axes = getattr(options.get("axis"), "value", None)
    axes = axes if isinstance(axes, tuple) else (axes,)
    if made.op in REDUCTIONS and getattr(options.get("keepdims"), "value", False) and axes == tuple(range(len(axes))):
        rest = tuple((k, v) for k, v in made.keywords if k != "keepdims")
        is_there = b.of_primal(made.op, made.args, made.keywords) is not None
        if not is_there and not any(map(b.mutable, made.args)) and len(made.args) == 1:
            return (lambda: b.emit(made.op, made.args, rest)), len(axes)
    return None


def without_axes(b: Builder, x: Atom, axes: tuple[int, ...]) -> Atom:
    """An adjoint without axes of one entry; those that a sum has kept for nothing it does not keep."""
    if not _is_without(b, x, axes, rank(b.type(x)) or 0):
        return b.emit(np.squeeze, (x,), (("axis", Const(axes[0] if len(axes) == 1 else axes)),))
    return _written_without(b, x, axes, rank(b.type(x)) or 0)


def _lacks(b: Builder, x: Atom, axes: tuple[int, ...], ndim: int) -> bool:
    """Whether a value is broadcast along axes in front of its own."""
    own = rank(b.type(x))
    return isinstance(b.type(x), Scalar) or own is not None and all(k < ndim - own for k in axes)


def _summed(b: Builder, x: Atom, axes: tuple[int, ...]) -> Assign | None:
    """The sum along these axes that has kept them, or what gives them to an array."""
    made = b.maker(x)
    if made is None or any(map(b.mutable, made.args)):
        return None
    if made.op is operator.getitem and isinstance(made.args[1], Const):
        return made if new_axes(made.args[1].value, rank(b.type(made.args[0])) or 0) == axes else None
    over = dict(made.keywords).get("axis")
    kept = dict(made.keywords) == {"axis": over, "keepdims": Const(True)} and over in (Const(axes), Const(axes[0]))
    return made if kept and made.op is np.sum else None


def new_axes(key: object, ndim: int) -> tuple[int, ...] | None:
    """The places of the axes that ``x[:, None]`` gives to an array with so many, and no more; None if it does more."""
    parts = key if isinstance(key, tuple) else (key,)
    if any(p is Ellipsis for p in parts):
        k = next(k for k, p in enumerate(parts) if p is Ellipsis)
        kept = ndim - sum(p is not None for p in parts) + 1
        parts = (*parts[:k], *[slice(None)] * kept, *parts[k + 1 :])
    if any(p is not None and p != slice(None) for p in parts):
        return None
    return tuple(k for k, p in enumerate(parts) if p is None)


def _is_without(b: Builder, x: Atom, axes: tuple[int, ...], ndim: int) -> bool:
    """Whether a value is computed from sums that need not have kept the axes, and from numbers."""
    if not isinstance(x, str) or _lacks(b, x, axes, ndim) or _summed(b, x, axes) is not None:
        return True
    made = b.maker(x) if x.startswith("%") else None
    if made is None or made.op not in ARITHMETIC or any(map(b.mutable, made.args)) or rank(b.type(x)) != ndim:
        return False
    return all(_is_without(b, a, axes, ndim) for a in made.args)


def _written_without(b: Builder, x: Atom, axes: tuple[int, ...], ndim: int) -> Atom:
    if not isinstance(x, str) or _lacks(b, x, axes, ndim):
        return x
    if (summed := _summed(b, x, axes)) is not None and summed.op is operator.getitem:
        return summed.args[0]
    if summed is not None:
        return b.emit(np.sum, summed.args, (("axis", dict(summed.keywords)["axis"]),))
    made = b.maker(x)
    assert made is not None
    return b.emit(made.op, tuple(_written_without(b, a, axes, ndim) for a in made.args))
