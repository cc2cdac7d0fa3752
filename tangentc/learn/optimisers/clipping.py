"""Clipping of gradients, by value and by their global norm."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from tangentc import tree
from tangentc.errors import BadArgument, NotFinite

BLOCK = 1 << 13  # entries that are added up in their own dtype


def global_norm(gradients: Any) -> float:
    """The square root of the sum of the squares of all gradients: of a dict from path to array, or what `grad` gave.

    All numbers count in what `grad` gave, those by settings of a model too: `gradients` leaves out what is not trained.

    >>> global_norm({"w": np.array([3.0, 0.0]), "b": np.array(4.0)})
    5.0
    """
    return norm([leaf for _, leaf in tree.items(gradients)])


def clip_by_global_norm(gradients: Any, most: float) -> float:
    """Shorten all gradients by one factor where their global norm is more than ``most``; gives the norm before.

    The arrays themselves stay, for they may be views of something else: shortened ones take their place, in the dict
    or the object.  Raises `NotFinite` for a norm that is NaN or infinite.  Pascanu, Mikolov, Bengio (2013), "On the
    difficulty of training recurrent neural networks", algorithm 1.

    >>> g = {"w": np.array([3.0, 0.0]), "b": np.array(4.0)}
    >>> clip_by_global_norm(g, 1.0), g["w"]
    (5.0, array([0.6, 0. ]))
    """
    found = tree.walk(gradients)
    leaves = [one.leaf for one in found]
    total = norm(leaves)
    factor = _factor(total, most)
    if factor is not None:
        for one in found:
            tree.put(gradients, _inside(one.way), factor * one.leaf)
    return total


def clip_by_value(gradients: Any, most: float) -> None:
    """Bring each entry of the gradients into the range from ``-most`` to ``most``; NaN stays NaN.

    Of a complex entry both parts are brought into it.  New arrays take the place of the old, as above.

    >>> g = {"w": np.array([3.0, -0.5])}
    >>> clip_by_value(g, 1.0)
    >>> g["w"]
    array([ 1. , -0.5])
    """
    _positive(most)
    for one in tree.walk(gradients):
        tree.put(gradients, _inside(one.way), _cut(one.leaf, most))


def _cut(g: Any, most: float) -> Any:
    if np.iscomplexobj(g):
        return g.real.clip(-most, most) + 1j * g.imag.clip(-most, most)
    return g.clip(-most, most) if hasattr(g, "clip") else min(max(g, -most), most)


def _inside(way: tree.Steps) -> tree.Steps:
    if not way:
        raise BadArgument(
            "one array cannot be clipped in place", why="the clipped one has to stand somewhere",
            way_out='give a dict: {"w": gradient}',
        )  # fmt: skip
    return way


def shrinking(gradients: list[Any], most: float | None) -> float | None:
    """The factor by which the gradients become short enough; None if they are."""
    return None if most is None else _factor(norm(gradients), most)


def _factor(total: float, most: float) -> float | None:
    _positive(most)
    if not math.isfinite(total):
        raise NotFinite(
            f"the global norm of the gradients is {total}", why="an entry is NaN or infinite, so no factor helps",
            way_out="find the first such number with tangentc.trace, or lower the rate",
        )  # fmt: skip
    return most / total if total > most else None


def _positive(most: float) -> None:
    if not most > 0:
        raise BadArgument(
            f"gradients cannot be clipped to {most}", why="nothing would be left of them", way_out="say more than 0"
        )


def norm(arrays: Iterable[Any]) -> float:
    """The norm of all entries: each block in its dtype, and these together in double precision."""
    total = math.fsum(_squares(np.asarray(a) if isinstance(a, (float, complex)) else a) for a in arrays)
    return math.sqrt(total)


def _squares(a: Any) -> float:
    if not isinstance(a, np.ndarray):
        return float((abs(a) ** 2).sum(dtype=np.float64))
    flat = a.reshape(-1) if a.flags.c_contiguous else a.T.reshape(-1)
    if flat.size <= BLOCK:
        total = float(np.vdot(flat, flat).real)
    else:
        parts = [flat[k : k + BLOCK] for k in range(0, flat.size, BLOCK)]
        total = math.fsum(float(np.vdot(part, part).real) for part in parts)
    if math.isfinite(total) and total > 1e-30:
        return total
    with np.errstate(over="ignore", invalid="ignore"):  # squares may be beyond the dtype where the norm is not
        return float(np.sum(np.square(np.abs(flat), dtype=np.float64)))
