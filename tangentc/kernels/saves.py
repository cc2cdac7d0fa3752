"""What a loop saves for its adjoint, in arrays that are made before it.

    saved = []                              saved = np.empty(2 * n)
    for i in range(n):                      top = 0
        saved.append((r, u))       ->       for i in range(n):
                                                saved[top] = r
                                                saved[top + 1] = u
                                                top += 2

Values of one dtype and one shape have an array of their own, so that what is pushed last is popped first from it too.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace

from tangentc.analysis.linear import Form
from tangentc.core.build import Types
from tangentc.core.nodes import Assign, Atom, Block, Carry, Const, For, If, Merge, Statement, While
from tangentc.core.types import Type
from tangentc.core.walk import all_defines, substitute


@dataclass(frozen=True)
class Extent:
    """A length that is another one in each trip: the largest, and what it is computed from."""

    most: Form
    value: frozenset[tuple[Hashable, int]]


@dataclass
class Stack:
    """An array that values are saved in: its name, that of how many there are in it, and of what shape they are."""

    array: str
    top: str
    of: Type
    lengths: tuple[Atom, ...]
    given: Atom = Const(0)  # how many there are behind the loop that saves them
    trips: tuple[Hashable, ...] = ()  # of the loops around, where each trip has a place of its own,
    most: tuple[Form, ...] = ()  # and how many these are at most
    extents: tuple[Extent | None, ...] = ()  # of its lengths that are others in each trip


def threaded(block: Block, now: Mapping[str, Atom], types: Types, fresh: Callable[[str], str]) -> tuple[Block, dict]:
    """The block with each change of some variables as a name of its own; gives what they are behind it.

    ``now`` has for each variable what it is before the block.
    """
    out: list[Statement] = []
    now = dict(now)

    def new(variable: str) -> str:
        name = fresh(variable)
        types.of_name[name] = types.of(variable)
        return name

    def changed(*inner: Block) -> list[str]:
        names = set().union(*map(all_defines, inner))
        return [v for v in now if v in names]

    for s in block:
        if isinstance(s, Assign) and s.target in now:
            made = substitute(s, now)
            assert isinstance(made, Assign)
            now[s.target] = name = new(s.target)
            out.append(replace(made, target=name))
        elif isinstance(s, (For, While)):
            inner: tuple[Block, ...] = (s.body,) if isinstance(s, For) else (s.head, s.body)
            names = {v: new(v) for v in changed(*inner)}
            loop, at = substitute(s, now), {**now, **names}
            assert isinstance(loop, (For, While))
            if isinstance(loop, While):
                head, at = threaded(loop.head, at, types, fresh)
                loop = replace(loop, head=head)
            body, end = threaded(loop.body, at, types, fresh)
            carried = tuple(Carry(name, now[v], end[v]) for v, name in names.items())
            out.append(replace(loop, body=body, carried=(*loop.carried, *carried)))
            now.update(names)
        elif isinstance(s, If):
            branch = substitute(s, now)
            assert isinstance(branch, If)
            then, first = threaded(branch.then, now, types, fresh)
            orelse, second = threaded(branch.orelse, now, types, fresh)
            merges = []
            for v in now:
                if first[v] != second[v]:
                    merges.append(Merge(new(v), first[v], second[v]))
                    now[v] = merges[-1].name
                else:
                    now[v] = first[v]
            out.append(replace(branch, then=then, orelse=orelse, merged=(*branch.merged, *merges)))
        else:
            out.append(substitute(s, now))
    return tuple(out), now
