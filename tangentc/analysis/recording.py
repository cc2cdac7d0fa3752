"""What to save and what to recompute at a boundary: a loop's body, or a primal/adjoint pair.

The adjoint of a region reads some of its values.  Between what the region is given and those values a
minimum cut is taken: what lies in the cut is saved, what is behind it is recomputed from it, and what the adjoint
does not need is neither.  Saving a value has a price (its memory, and for what is copied before it is overwritten the
copy and the restore), and so has computing it again (the statement, and the pass over the array).  A value that is read
out of an array that changes asks for what puts the array back.  Never computed again: a draw of random numbers, an
effect, what is not cheap.  The idea of choosing by a cut: Chen et al., "Training deep nets with sublinear memory cost"
(2016), and the to-be-recorded analysis of Hascoet, Naumann and Pascual (2005).
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np

from tangentc.core.build import Types
from tangentc.core.nodes import Assign, Atom, Const
from tangentc.core.types import Array, Scalar, is_container
from tangentc.ops.table import every

Node = str | tuple[str, str]
Capacity = dict[Node, dict[Node, float]]
CHEAP_ON_ARRAYS = every("cheap_on_arrays")
CHEAP = every("cheap")
FREE = every("free")


class Prices(NamedTuple):
    """What saving a value costs, and computing one again: with a pass over memory and a line of text for each."""

    number: float = 1.0
    array: float = 4.0
    container: float = 8.0
    number_again: float = 0.3
    array_again: float = 2.1  # a pass over an array costs half of what keeping it does
    arithmetic: bool = False  # whether all of arithmetic is cheap, division and powers of arrays too


NUMPY = Prices()
KERNELS = Prices(number_again=0.1, array_again=0.2, arithmetic=True)  # in a loop that reads its operands anyway
ARITHMETIC = {operator.truediv, np.square, np.maximum, np.minimum, np.where, np.abs}


def is_product(exponent: Atom) -> bool:
    """Whether a power with this exponent is a few products; any other one takes as long as ten numbers to save."""
    return isinstance(exponent, Const) and exponent.value in (-2, -1, 0, 0.5, 1, 2, 3, 4)


def is_cheap(s: Assign, types: Types, prices: Prices = NUMPY) -> bool:
    """Whether recomputing a value costs no more than saving it."""
    if prices.arithmetic and s.op is operator.pow:
        return is_product(s.args[1])
    if prices.arithmetic and s.op in ARITHMETIC:
        return True
    if s.op is builtins.len and getattr(types.of(s.args[0]), "kind", None) is dict:
        return False  # a key that was put into a dict stays there when its item is restored
    if s.op in FREE:
        return True
    if isinstance(types.of(s.target), Scalar) and all(isinstance(types.of(a), Scalar) for a in s.atoms):
        return s.op in CHEAP
    return s.op in CHEAP_ON_ARRAYS


PART = 0.1  # what is part of another value is not saved if that may be for as much
OVERWRITTEN = 2.0  # times as much: it is copied before, and put back after
TOO_LARGE = 4000  # values, for augmenting paths


class Choice(NamedTuple):
    """What is saved, and the price of that and of what is computed again from it."""

    saved: set[str]
    price: float


def price_of_saving(name: str, made: Assign | None, types: Types, overwritten: bool, prices: Prices = NUMPY) -> float:
    """What saving a value costs."""
    t = types.of(name)
    price = prices.number if isinstance(t, Scalar) else prices.container if is_container(t) else prices.array
    if made is not None and made.op in FREE:
        return price + PART
    return price * OVERWRITTEN if overwritten else price


def price_of_again(s: Assign, types: Types, prices: Prices = NUMPY) -> float:
    """What computing a cheap value once more costs."""
    if s.op in FREE:
        return 0.0
    return prices.array_again if isinstance(types.of(s.target), Array) else prices.number_again


def choose(
    needed: set[str],
    definitions: Mapping[str, Assign | None],
    may_recompute: Callable[[str], bool],
    asks: Callable[[str], Iterable[str]],
    price: Callable[[str], float],
    types: Types,
    prices: Prices = NUMPY,
) -> Choice:
    """The values of a region to save so that the needed ones can be had, by themselves or computed again.

    ``definitions`` gives the statement of each value of the region, None for what it is given; ``asks`` what else has
    to be had where a value is, as what was overwritten in the array that it is read out of.
    """
    order: list[str] = []
    above: dict[str, list[str]] = {}
    stack = sorted(needed)
    while stack:
        name = stack.pop()
        if name in above or name not in definitions:
            continue
        order.append(name)
        above[name] = [a for a in _above(name, definitions[name], may_recompute) if a in definitions]
        stack += [*above[name], *asks(name)]
    if len(order) > TOO_LARGE:
        saved = {n for n in needed if n in definitions}
        return Choice(saved, sum(map(price, saved)))
    capacity: Capacity = {"source": {}, "sink": {}}

    def edge(a: Node, b: Node, c: float) -> None:
        capacity.setdefault(a, {})[b] = capacity.get(a, {}).get(b, 0) + c
        capacity.setdefault(b, {}).setdefault(a, 0)

    infinite = float("inf")
    for name in order:
        made = definitions[name]
        edge(("in", name), ("out", name), price(name))
        again = made is not None and may_recompute(name)
        edge("source", ("in", name), price_of_again(made, types, prices) if again else infinite)  # type: ignore[arg-type]
        for atom in above[name]:
            edge(("out", atom), ("in", name), infinite)
        for other in asks(name):
            edge(("out", other), ("out" if name in needed else "in", name), infinite)
        if name in needed:
            edge(("out", name), "sink", infinite)
    flows = 0.0
    while path := _path(capacity):
        flow = min(capacity[a][b] for a, b in zip(path, path[1:], strict=False))
        flows += flow
        for a, b in zip(path, path[1:], strict=False):
            capacity[a][b] -= flow
            capacity[b][a] += flow
    wanted = _reaching_sink(capacity)
    return Choice({n for n in order if ("out", n) in wanted and ("in", n) not in wanted}, flows)


def _above(name: str, made: Assign | None, may_recompute: Callable[[str], bool]) -> list[str]:
    """What a value would be computed from, if it may be."""
    return sorted({a for a in made.atoms if isinstance(a, str)}) if made is not None and may_recompute(name) else []


def _path(capacity: Capacity) -> list[Node] | None:
    """A shortest path from source to sink that has capacity left."""
    before: dict[Node, Node | None] = {"source": None}
    queue: list[Node] = ["source"]
    for node in queue:
        for other, left in capacity[node].items():
            if left > 0 and other not in before:
                before[other] = node
                if other == "sink":
                    path: list[Node] = [other]
                    while (last := before[path[-1]]) is not None:
                        path.append(last)
                    return path[::-1]
                queue.append(other)
    return None


def _reaching_sink(capacity: Capacity) -> set[Node]:
    """The nodes with capacity left to the sink: of all minimum cuts, the one that computes the fewest values again."""
    seen: set[Node] = {"sink"}
    queue: list[Node] = ["sink"]
    for node in queue:
        for other in capacity[node]:
            if other not in seen and capacity[other][node] > 0:
                seen.add(other)
                queue.append(other)
    return seen
