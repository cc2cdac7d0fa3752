"""Arrays in another shape, and cut into parts.

y = np.reshape(x, (5, 4))           y[i, j] is x[4 * i + j]
y = np.reshape(x, (20,))            y[4 * i + j] = x[i, j]
a, b = split_like(x, (a0, b0))      a[i] is x[i], b[i] is x[n + i]

An axis that is taken apart is said in the subscripts; axes that become one have memory of their own.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tangentc.core.nodes import Assign, Atom, Const
from tangentc.core.types import Array
from tangentc.kernels.words import Words, numbers, word
from tangentc.kernels.writing import Axis, NotSaid, View
from tangentc.runtime import split_like

UNKNOWN_MEMORY = "an array in another shape, of which it is not known whether it is the same memory"
Group = tuple[list[Atom], list[Atom]]  # lengths of axes that become others, and the lengths of these


@word(np.reshape)
def reshaped(nests: Words, s: Assign) -> None:
    """The entries in the same order, along other axes of known lengths."""
    if len(s.args) != 2 or s.keywords:
        raise NotSaid("an array in another order")
    x = s.args[0]
    view = without_ones(nests, nests.whole(x))
    new = new_lengths(nests, s)
    groups = matched(nests, [a.length for a in view.axes], [n for n in new if n != Const(1)])
    if any(len(own) > 1 for own, _ in groups):
        if nests.is_changed(s.target) and s.target not in nests.unchanged:
            raise NotSaid(UNKNOWN_MEMORY)
        view = in_one(nests, s, view, groups)
    axes = iter([part for a, (_, lengths) in zip(view.axes, groups, strict=True) for part in apart(a, lengths)])
    all_axes = tuple(Axis(None, Const(0), 1, Const(1)) if n == Const(1) else next(axes) for n in new)
    nests.views[s.target] = replace(view, axes=all_axes)


def new_lengths(nests: Words, s: Assign) -> list[Atom]:
    """The lengths that a shape says."""
    shape, dims = s.args[1], nests.types.of(s.target).shape  # type: ignore[union-attr]
    said = nests._keys(shape) if not isinstance(shape, str) else nests.parts.get(shape, (shape,))
    if len(said) != len(dims):
        raise NotSaid("a shape that is not known")
    return [nests.canonical(nests.of_dim(d) if n == Const(-1) else n) for n, d in zip(said, dims)]


def without_ones(nests: Words, view: View) -> View:
    """A view without its axes of one entry."""
    fixed = dict(view.fixed)
    for a in view.axes:
        if a.length == Const(1):
            nests.placed(fixed, a, Const(0))
    return View(view.array, tuple(a for a in view.axes if a.length != Const(1)), tuple(fixed.items()))


def matched(nests: Words, own: list[Atom], new: list[Atom]) -> list[Group]:
    """Which axes become which.  Raises `NotSaid` where that is not known."""
    groups: list[Group] = []
    own, new = [*map(nests.canonical, own)], [*new]
    while own and new:
        group: Group = [own.pop(0)], [new.pop(0)]
        groups.append(group)
        if group[0] == group[1]:
            continue
        if is_known(group[0]) and is_known(group[1]):
            while (a := count(group[0])) != (b := count(group[1])):
                left, side = (own, group[0]) if a < b else (new, group[1])
                if not left or not is_known(left[:1]):
                    raise NotSaid("axes of other lengths")
                side.append(left.pop(0))
        else:  # all that is left, of which one side is known
            group[0].extend(own)
            group[1].extend(new)
            own, new = [], []
            unknown, known = group if is_known(group[1]) else group[::-1]
            if len(unknown) != 1 or not is_known(known) or not nests.same(unknown[0], Const(count(known))):
                raise NotSaid("axes of lengths that are not known")
    if own or new:
        raise NotSaid("axes of other lengths")
    return groups


def is_known(lengths: Sequence[Atom]) -> bool:
    return all(isinstance(n, Const) and n.value > 0 for n in lengths)


def count(lengths: Sequence[Atom]) -> int:
    return functools.reduce(operator.mul, (n.value for n in lengths if isinstance(n, Const)), 1)


def strides(lengths: Sequence[Atom]) -> list[int]:
    """How far apart entries along each axis are."""
    return [count(lengths[k + 1 :]) for k in range(len(lengths))]


def apart(axis: Axis, lengths: list[Atom]) -> list[Axis]:
    """An axis as several ones."""
    if len(lengths) == 1:
        return [axis]
    first, *others = zip(lengths, strides(lengths))
    head = Axis(axis.of, axis.start, axis.step * first[1], first[0])
    return [head, *(Axis(axis.of, Const(0), axis.step * step, n) for n, step in others)]


def in_one(nests: Words, s: Assign, view: View, groups: list[Group]) -> View:
    """An array in which axes that are to become others are one."""
    lengths = tuple(own[0] if len(own) == 1 else Const(count(own)) for own, _ in groups)
    target = nests.fresh("%joined")
    t = nests.types.of(s.target)
    assert isinstance(t, Array)
    nests.types.of_name[target] = replace(t, shape=tuple(map(nests.dim_of, lengths)))
    nests._allocate(target, lengths, np.empty)
    into = nests.view(target)
    axes = [a for axis, (own, _) in zip(into.axes, groups) for a in apart(axis, own)]
    name = nests.fresh("%parted")
    nests.types.of_name[name] = replace(t, shape=tuple(nests.dim_of(a.length) for a in view.axes))
    nests.views[name] = view
    own_lengths = tuple(a.length for a in axes)
    nests.nest(
        own_lengths,
        lambda at: nests._store(replace(into, axes=tuple(axes)), at, nests.entry(name, at, own_lengths), None),
    )
    return into


@word(np.ravel)
def ravelled(nests: Words, s: Assign) -> None:
    """All entries along one axis."""
    if len(s.args) > 1 or s.keywords:
        raise NotSaid("an array in another order")
    if nests.is_changed(s.target) and s.target not in nests.unchanged and not is_in_a_row(nests, s.args[0]):
        raise NotSaid(UNKNOWN_MEMORY)
    total = count(nests.lengths(s.args[0])) if is_known(nests.lengths(s.args[0])) else -1
    nests.write(s, np.reshape, (s.args[0], Const((total,))), (), s.target)


def is_in_a_row(nests: Words, x: Atom) -> bool:
    """Whether entries lie one behind the other, so that NumPy copies nothing; of several axes `reshaped` decides."""
    view = without_ones(nests, nests.whole(x))
    last = len(nests.types.of(view.array).shape) - 1  # type: ignore[union-attr]
    return len(view.axes) != 1 or view.axes[0].step == 1 and view.axes[0].of == last


@word(np.squeeze)
def squeezed(nests: Words, s: Assign) -> None:
    """Without axes of one entry."""
    view = nests.whole(s.args[0])
    (axis,) = numbers(s) if len(s.args) > 1 or s.keywords else (None,)
    axes = dict(enumerate(view.axes))
    gone = [k for k, a in axes.items() if a.length == Const(1)]
    if axis is not None:
        gone = [k % len(axes) for k in np.atleast_1d(axis).tolist()]
    fixed = dict(view.fixed)
    for k in gone:
        if axes[k].length != Const(1):
            raise NotSaid("an axis that may have more than one entry")
        nests.placed(fixed, axes.pop(k), Const(0))
    if len(axes) != len(getattr(nests.types.of(s.target), "shape", ())):
        raise NotSaid("axes of which it is not known whether they have one entry")
    nests.views[s.target] = View(view.array, tuple(axes.values()), tuple(fixed.items()))


@word(split_like)
def cut(nests: Words, s: Assign) -> None:
    """The parts of an array, as long as others are."""
    x, arrays, axis = s.args if len(s.args) == 3 else (*s.args, Const(0))
    view = nests.whole(x)
    like = nests.parts.get(str(arrays))
    if like is None or type(getattr(axis, "value", None)) is not int:
        raise NotSaid("parts that are not known")
    k = axis.value % len(view.axes)  # type: ignore[union-attr]
    counts = [nests.lengths(a)[k] for a in like]
    start: Atom = Const(0)
    parts: list[Atom] = []
    for n in counts:
        own = nests._from(view.axes[k], start, 1, n)
        part = nests.fresh("%part")
        t = nests.types.of(x)
        assert isinstance(t, Array)
        nests.types.of_name[part] = replace(t, shape=(*t.shape[:k], nests.dim_of(n), *t.shape[k + 1 :]))
        nests.views[part] = replace(view, axes=(*view.axes[:k], own, *view.axes[k + 1 :]))
        parts.append(part)
        start = nests.plus(start, n)
    total = nests.named(nests.bounds.form(start)) or start
    if not nests.same(total, view.axes[k].length):
        raise NotSaid("parts that may not be all of an array")
    nests.parts[s.target] = tuple(parts)
