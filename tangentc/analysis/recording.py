"""What to save and what to recompute at a boundary: a loop's body, or a primal/adjoint pair.

The adjoint of a region reads some of its values.  Between what the region is given and those values a
minimum cut is taken: what lies in the cut is saved, what is above it is recomputed from it.  Saving a
number costs 1 and an array 4; only cheap operations are recomputed, and never a draw of random numbers
or an effect.  The idea of choosing by a cut: Chen et al., "Training deep nets with sublinear memory cost"
(2016), and the to-be-recorded analysis of Hascoet, Naumann and Pascual (2005).
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping

from tangentc.core.build import Types
from tangentc.core.nodes import Assign
from tangentc.core.types import Array, Scalar, is_container
from tangentc.ops.table import every

Node = str | tuple[str, str]
Capacity = dict[Node, dict[Node, float]]
CHEAP_ON_ARRAYS = every("cheap_on_arrays")
CHEAP = every("cheap")
FREE = every("free")


def is_cheap(s: Assign, types: Types) -> bool:
    """Whether recomputing a value costs no more than saving it."""
    if s.op is builtins.len and getattr(types.of(s.args[0]), "kind", None) is dict:
        return False  # a key that was put into a dict stays there when its item is restored
    if s.op in FREE:
        return True
    if isinstance(types.of(s.target), Scalar) and all(isinstance(types.of(a), Scalar) for a in s.atoms):
        return s.op in CHEAP
    return s.op in CHEAP_ON_ARRAYS


def weight(name: str, types: Types) -> int:
    """What saving a value costs."""
    t = types.of(name)
    return 1 if isinstance(t, Scalar) else 8 if is_container(t) else 4 if isinstance(t, Array) else 4


def cut(
    needed: set[str], definitions: Mapping[str, Assign | None], may_recompute: Callable[[str], bool], types: Types
) -> set[str]:
    """The values of a region to save so that the needed ones can be had.

    ``definitions`` gives the statement of each value of the region, None for what it is given.
    """
    order: list[str] = []
    seen: set[str] = set()
    stack = sorted(needed)
    while stack:
        name = stack.pop()
        if name in seen or name not in definitions:
            continue
        seen.add(name)
        order.append(name)
        if may_recompute(name) and (made := definitions[name]) is not None:
            stack.extend(sorted({a for a in made.atoms if isinstance(a, str)}))
    capacity: Capacity = {}

    def edge(a: Node, b: Node, c: float) -> None:
        capacity.setdefault(a, {})[b] = capacity.get(a, {}).get(b, 0) + c
        capacity.setdefault(b, {}).setdefault(a, 0)

    infinite = float("inf")
    for name in order:
        edge(("in", name), ("out", name), weight(name, types))
        made = definitions[name]
        if made is None or not may_recompute(name):
            edge("source", ("in", name), infinite)
        else:
            for atom in {a for a in made.atoms if isinstance(a, str) and a in definitions}:
                edge(("out", atom), ("in", name), infinite)
        if name in needed:
            edge(("out", name), "sink", infinite)
    if "source" not in capacity or "sink" not in capacity:
        return set()
    if len(order) > 4000:  # too large for augmenting paths: save what is needed
        return {n for n in needed if n in definitions}
    while path := _path(capacity):
        flow = min(capacity[a][b] for a, b in zip(path, path[1:], strict=False))
        for a, b in zip(path, path[1:], strict=False):
            capacity[a][b] -= flow
            capacity[b][a] += flow
    reached = _reachable(capacity)
    return {n for n in order if ("in", n) in reached and ("out", n) not in reached}


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


def _reachable(capacity: Capacity) -> set[Node]:
    seen: set[Node] = {"source"}
    queue: list[Node] = ["source"]
    for node in queue:
        for other, left in capacity[node].items():
            if left > 0 and other not in seen:
                seen.add(other)
                queue.append(other)
    return seen
