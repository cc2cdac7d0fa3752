"""Final names: versions that never live at the same time share the user's name.

Each name has the stretches of the program in which its value is needed.  The names that meet at a branch
or in a loop become one where their stretches do not overlap; then each group gets the shortest free name:
``y``, else ``y_1``.  The adjoint of what is now called ``y_1`` is called ``y_1_bar``.
"""

from __future__ import annotations

import bisect
import heapq
import keyword
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tangentc.core.nodes import Assign, Atom, Block, For, Function, If, While, is_temporary, version_base
from tangentc.core.walk import defines, reads

Stretch = tuple[float, float]
Point = tuple[Atom, Stretch, float]  # what is written at the end of a branch, when, and when the other one ends
FEW = 6  # versions that are compared one by one


class Naming:
    """``final`` maps each name of the program to the name that is written."""

    def __init__(self, function: Function, folding: Any, reserved: set[str], types: Any):
        self.folding, self.types = folding, types
        self.branches: list[int] = []  # the branches that we are in
        self.home: dict[str, tuple[int, ...]] = {}
        self.partial: set[str] = set()  # what a branch makes for a later one: elsewhere it has no value
        self.reserved = set(reserved) | set(keyword.kwlist)
        self.time = 0.0
        self.start: dict[str, list[float]] = defaultdict(list)
        self.stretches: dict[str, list[Stretch]] = defaultdict(list)
        self.points: dict[str, list[Point]] = defaultdict(list)
        self.loops: list[tuple[float, list[str]]] = []
        self.others: list[dict[str, float]] = []  # what second branches need, and when it was needed last before
        self.gaps: dict[str, list[tuple[float, float, float]]] = defaultdict(
            list
        )  # first branches, and the ends of both
        self.order: list[str] = []
        self.unions: list[tuple[str, Atom, bool]] = []  # with whether it is made in the branch or the loop
        self.used: set[str] = set()
        self.last: dict[str, float] = {}
        self.begin: dict[str, float] = {}
        self.scope: dict[str, int] = {}
        for p in function.params:
            self._define(p.name)
        self.block(function.body)
        self.time += 1
        self._use(function.result)
        for name in self.order:
            self._close(name)
        self.group: dict[str, str] = {n: n for n in self.order}
        self.groups = {n: _Group([n], sorted(self.stretches[n]), sorted(self.points[n], key=_when)) for n in self.order}
        self.params = [p.name for p in function.params]
        for name, other, inside in self.unions:
            self._merge(name, other, inside)
        self.final: dict[str, str] = {}
        self._assign_names()

    # ---------------------------------------------------------- stretches
    def _define(self, name: str) -> None:
        if name in self.begin:
            self._close(name)
        else:
            self.order.append(name)
        self.home[name] = tuple(self.branches)
        self.begin[name] = self.time + 0.5
        self.last[name] = self.time + 0.6
        self.scope.setdefault(name, len(self.loops))

    def _close(self, name: str) -> None:
        if name in self.begin:
            start, end = self.begin.pop(name), self.last.pop(name)
            for first, second, behind in sorted(self.gaps.pop(name, ())):
                if end <= behind and start < first:  # what the second branch alone needs, the first may overwrite
                    self.stretches[name].append((start, first))
                    start = second
            self.stretches[name].append((start, end))

    def _leaves(self, atom: Atom) -> Iterator[str]:
        """The names that are read where an atom is written."""
        stack = [atom]
        while stack:
            name = stack.pop()
            if not isinstance(name, str):
                continue
            if name in self.folding.folded:
                stack.extend(self._parts(self.folding.made[name]))
            else:
                yield name

    def _use(self, atom: Atom) -> None:
        for name in self._leaves(atom):
            self.used.add(name)
            if name in self.begin:
                if self.home[name] != tuple(self.branches[: len(self.home[name])]):
                    self.partial.add(name)
                for needed in self.others:
                    needed.setdefault(name, self.last[name])
                self.last[name] = max(self.last[name], self.time)
                for depth, (_, outer_uses) in enumerate(self.loops):
                    if self.scope[name] <= depth:
                        outer_uses.append(name)
                        break

    def _parts(self, made: Any) -> list[Atom]:
        if isinstance(made, If):
            m = made.merged[0]
            return [made.test, m.then, m.orelse]
        return list(made.atoms)

    def block(self, block: Block) -> None:
        for s in block:
            self.time += 1
            match s:
                case Assign() if s.target in self.folding.folded:
                    continue
                case If():
                    self._if(s)
                case For() | While():
                    self._loop(s)
                case _:
                    for atom in reads(s):
                        self._use(atom)
                    for name in defines(s):
                        self._define(name)

    def _if(self, s: If) -> None:
        if s.merged and s.merged[0].name in self.folding.folded:
            return
        if s.merged and s.merged[0].name in self.folding.expressions:
            for part in self._parts(s):
                self._use(part)
            self._define(s.merged[0].name)
            return
        self._use(s.test)
        written: list[tuple[str, Atom, float]] = []
        tested = self.time
        for block, pick in ((s.then, 0), (s.orelse, 1)):
            if pick:
                second = self.time + 0.5
                self.others.append({})
            self.branches.append(2 * len(self.home) + pick)
            self.block(block)
            self.time += 1
            for m in s.merged:
                self._use((m.then, m.orelse)[pick])
            self.branches.pop()
            written += [(m.name, (m.then, m.orelse)[pick], self.time + 0.5) for m in s.merged]
        for name, last in self.others.pop().items():
            if name in self.begin and self.begin[name] < tested:
                self.gaps[name].append((max(last, tested) + 0.1, second, self.time))
        for name, arm, when in written:  # unless it has the name of what it takes there
            self.points[name].append((arm, (when, when + 0.1), max(when, self.time)))
        self.time += 1
        for m in s.merged:
            self._define(m.name)
            depth = len(self.branches)
            self.unions += [(m.name, a, len(self.home.get(str(a), ())) > depth) for a in (m.then, m.orelse)]

    def _loop(self, s: For | While) -> None:
        if isinstance(s, For):
            self._use(s.iterable)
        for c in s.carried:
            self._use(c.init)
        for c in s.carried:
            self._define(c.name)
            self.scope[c.name] = len(self.loops) + 1
        if isinstance(s, For):  # what a loop carries is set before what it runs over is read
            leaves = set(self._leaves(s.iterable))
            bases = {plain_base(c.name) for c in s.carried if c.init not in leaves}
            if any(plain_base(name) in bases for name in leaves):
                self.time += 1
                self._use(s.iterable)
        self.loops.append((self.time, []))
        if isinstance(s, For):
            self._define(s.target)
            self.scope[s.target] = len(self.loops)
        else:
            self.block(s.head)
            self.time += 1
            self._use(s.test)
        self.block(s.body)
        self.time += 1
        for c in s.carried:
            self._use(c.next)
        _, outer = self.loops.pop()
        self.time += 1
        for name in outer:  # values from outside are needed in every trip
            if name in self.last:
                self.last[name] = max(self.last[name], self.time)
            for depth, (_, uses) in enumerate(self.loops):
                if self.scope[name] <= depth:
                    uses.append(name)
                    break
        for c in s.carried:
            self._define(c.name)
            self.scope[c.name] = len(self.loops)
            if isinstance(s, While):  # the test reads it at the start of each trip
                pass
            inside = self.scope.get(str(c.next), 0) > len(self.loops)
            self.unions += [(c.name, c.next, inside), (c.name, c.init, False)]

    # ---------------------------------------------------------- groups
    def _find(self, name: str) -> str:
        while self.group[name] != name:
            self.group[name] = self.group[self.group[name]]
            name = self.group[name]
        return name

    def _merge(self, name: str, other: Atom, inside: bool) -> None:
        """Write two names as one, if they are versions of one, or one that has no name of its own is made for it."""
        if not isinstance(other, str) or other not in self.group or name not in self.group:
            return
        if base(name) != base(other) and not (inside and is_temporary(other)):
            return
        a, b = self._find(name), self._find(other)
        if a != b and not self.groups[a].overlaps(self.groups[b]):
            self.group[b] = a
            self.groups[a].take(self.groups.pop(b))

    def _kinds(self, names: list[str]) -> set[Any]:
        return {_kind(self.types.of_name.get(name)) for name in names}

    def _assign_names(self) -> None:
        taken: dict[str, _Shared] = defaultdict(lambda: _Shared(self))
        self.numbered: dict[str, tuple[list, list, list[int], set[str]]] = {}
        pinned = {self._find(p): p for p in self.params}

        def name_group(root: str, wanted: str) -> None:
            group = self.groups[root]
            for k in range(FEW):
                candidate = wanted if k == 0 else f"{wanted}_{k}"
                others = taken[candidate]
                if candidate not in self.reserved and not others.overlaps(group) and not others.mixes(group):
                    break
            else:
                candidate = self._numbered(wanted, group, taken)
            taken[candidate].add(group)
            for member in group.members:
                self.final[member] = candidate

        for root, param in pinned.items():
            name_group(root, plain_base(param))
        roots = list(dict.fromkeys(self._find(n) for n in self.order))
        adjoint = [r for r in roots if r not in pinned and "_bar" in r]
        for root in (r for r in roots if r not in pinned and "_bar" not in r):
            name_group(root, self._written(root))
        for root in adjoint:
            name_group(root, self._written(root))

    def _numbered(self, wanted: str, group: _Group, taken: dict[str, _Shared]) -> str:
        """A name with a higher number, from those whose values are all dead: groups come in the order in
        which they begin, so a heap of ends finds one without looking at all of them.  A number that is
        part of another name, the user's own ``y_6``, is passed over while that is needed."""
        busy, free, count, own = self.numbered.setdefault(wanted, ([], [], [FEW - 1], set()))
        start, end = group.span()
        while busy and busy[0][0] <= start:
            heapq.heappush(free, heapq.heappop(busy)[1])
        passed: list[int] = []
        while True:
            if free:
                number = heapq.heappop(free)
            else:
                count[0] += 1
                number = count[0]
            candidate = f"{wanted}_{number}"
            others = taken[candidate]
            if candidate in self.reserved or others.overlaps(group) or others.mixes(group):
                passed += [number] * (candidate in own)
                continue
            if candidate in own or not others.groups:
                own.add(candidate)
                heapq.heappush(busy, (end, number))
                for other in passed:
                    heapq.heappush(free, other)
                return candidate

    def _written(self, root: str) -> str:
        if all(m not in self.used for m in self.groups[root].members):
            return "_" if self._is_target(root) else plain_base(root)
        return self.display(root)

    def _is_target(self, name: str) -> bool:
        return not name.startswith("%") and name not in self.params

    def display(self, name: str) -> str:
        """The name to be written: the adjoint of a value follows the value's written name."""
        name = version_base(name)
        for suffix in ("_bar", "_dot", "_saved"):
            if name.endswith(suffix) and name != suffix:
                inner = name[: -len(suffix)]
                shown = self.final.get(inner)
                return f"{shown if shown not in (None, '_') else self.display(inner)}{suffix}"
        return plain_base(name)


def _when(point: Point) -> Stretch:
    return point[1]


def _begin(point: Point) -> float:
    return point[1][0]


@dataclass
class _Group:
    """Names that are written as one: the stretches in which their values are needed, in order, and the points where
    they are written at the ends of branches, each with what is written there, which is no group of its own."""

    members: list[str]
    stretches: list[Stretch]
    points: list[Point]

    def __post_init__(self) -> None:
        self.has = set(self.members)

    def take(self, other: _Group) -> None:
        """Take in another group."""
        self.members += other.members
        self.has |= other.has
        for stretch in other.stretches:
            bisect.insort(self.stretches, stretch)
        for point in other.points:
            bisect.insort(self.points, point, key=_when)

    def span(self) -> Stretch:
        """From when to when its values are needed."""
        needed = [*self.stretches, *(when for arm, when, _ in self.points if arm not in self.has)]
        return min((s[0] for s in needed), default=0.0), max((s[1] for s in needed), default=0.0)

    def overlaps(self, other: _Group) -> bool:
        """Whether a value of one is needed while one of the other is, if they had one name."""
        few, many = sorted((self, other), key=lambda g: len(g.stretches) + len(g.points))
        outside = [(when, until) for arm, when, until in few.points if arm not in few.has and arm not in many.has]
        return any(many._is_needed(*stretch, few) for stretch in few.stretches) or any(
            many._is_needed(start, end, few, until) for (start, end), until in outside
        )

    def _is_needed(self, start: float, end: float, other: _Group, until: float | None = None) -> bool:
        """Whether a value of this group is needed in a stretch, or at a point.  What the other branch alone needs,
        which ends at ``until``, is not needed at the end of the first."""
        k = bisect.bisect_left(self.stretches, (end,))
        if k and self.stretches[k - 1][1] > (start if until is None else until):
            return True
        k = bisect.bisect_left(self.points, end, key=_begin)
        while k and self.points[k - 1][1][1] > start:
            k -= 1
            arm, _, last = self.points[k]
            if arm not in self.has and arm not in other.has and (until is not None or end > last):
                return True
        return False


class _Shared:
    """The groups that have one written name, found again by when their values are needed."""

    def __init__(self, naming: Naming):
        self.naming = naming
        self.groups: list[_Group] = []  # in the order in which their values begin to be needed
        self.starts: list[float] = []
        self.latest: list[float] = []  # the end of what is needed of a group and of those before it
        self.kinds: set[Any] = set()
        self.partial: set[Any] = set()  # the kinds of groups that a branch makes for a later one

    def add(self, group: _Group) -> None:
        start, end = group.span()
        k = bisect.bisect(self.starts, start)
        self.starts.insert(k, start)
        self.groups.insert(k, group)
        self.latest.insert(k, end)
        for i in range(k, len(self.latest)):
            self.latest[i] = max(self.latest[i], end, self.latest[i - 1] if i else end)
        kinds = self.naming._kinds(group.members)
        self.kinds |= kinds
        if not self.naming.partial.isdisjoint(group.members):
            self.partial |= kinds

    def overlaps(self, group: _Group) -> bool:
        """Whether a value of the group is needed while one of those that have the name is."""
        start, end = group.span()
        k = bisect.bisect_left(self.starts, end)
        while k and self.latest[k - 1] > start:
            k -= 1
            if group.overlaps(self.groups[k]):
                return True
        return False

    def mixes(self, group: _Group) -> bool:
        """Whether one name for all would stand for different kinds of things after a branch: the adjoint of
        what is written, if it is read in its turn, has to know which."""
        others = self.partial if self.naming.partial.isdisjoint(group.members) else self.kinds
        return bool(others) and len(others | self.naming._kinds(group.members)) > 1


def _kind(t: Any) -> Any:
    items = getattr(t, "items", ())
    return type(t), getattr(t, "dtype", None), len(getattr(t, "shape", ())), tuple(map(_kind, items))


def base(name: str) -> str:
    """What a name is a version of: the adjoints of two versions of y are versions of y's adjoint."""
    out = version_base(name)
    for suffix in ("_bar", "_dot", "_saved"):
        if out.endswith(suffix) and len(out) > len(suffix):
            return base(out[: -len(suffix)]) + suffix
    return out


def plain_base(name: str) -> str:
    out = "".join(c if c.isalnum() or c == "_" else "_" for c in version_base(name).lstrip("%"))
    return out if out and not out[0].isdigit() else f"value_{out}".rstrip("_")
