"""Which threads run the trips of a nest of loops.

    for i in range(n):                 a grid: a thread for each (i, j), those of neighbours in j lie next to each other
        for j in range(m):
            y[i, j] = f(x[i, j])

    for i in range(n):                 rows: a block of threads for each i, which share the inner loops, and add up what
        for j in range(m):             each of them has in an order that is always the same
            total += x[i, j]
        s[i] = total

Loops whose trips meet only in entries that index arrays name, and to which they add, are a grid as well: the device
adds one after the other there (atomics), in an order that nobody knows; or one thread runs them all.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tangentc.core import ops
from tangentc.core.build import Types
from tangentc.core.nodes import Assign, Block, For, Statement, Store
from tangentc.core.walk import all_defines, all_reads, statements
from tangentc.kernels.accesses import Access, Accesses
from tangentc.kernels.language import is_number
from tangentc.kernels.writing import NotSaid


@dataclass
class Shape:
    """How a nest is run: the loops that are the grid, outermost first, those that each thread runs around the rest,
    what stands between them, and the rest; ``rows`` says that a block shares the loops in it, and ``atomic`` names the
    memory that several threads add to."""

    grid: list[For]
    inner: list[For]
    between: list[Statement]
    body: Block
    rows: bool
    atomic: set[str]


class Shapes:
    """Finds the shapes of nests."""

    def __init__(self, types: Types, definitions: Mapping[str, Statement], root: Callable[[str], str]):
        self.types, self.definitions, self.root = types, definitions, root
        self.accesses = Accesses(types, definitions, root)

    def of(self, nest: For, atomics: bool = True) -> Shape:
        """The shape of a nest.  Raises `NotSaid` if none of its loops can be shared."""
        loops, between, body = self._chain(nest)
        found = self.accesses.of((nest,))
        if found is None:
            raise NotSaid("a loop that is left, or that saves")
        free = [s for s in loops if self._is_free(s, nest, found)]
        atomic: set[str] = set()
        if len(free) < len(loops) and atomics:
            atomic = self._added_to(nest, found)
            left = [a for a in found if a.memory not in atomic]
            free = [s for s in loops if self._is_free(s, nest, left)]
        inside = all_defines((nest,)) | {s.target for s in loops}
        if any(a in inside for s in loops for a in self._ends(s)):  # none may be moved out of another one
            free = [s for k, s in enumerate(loops) if loops[: k + 1] == free[: k + 1]]
        if not free and not atomics and self._added_to(nest, found):
            return Shape([], loops, between, body, False, set())
        if not free:
            raise NotSaid("loops whose trips depend on one another")
        grid, inner = free[-3:], [s for s in loops if s not in free]
        inner = [*free[:-3], *inner]
        rows = not inner and self._is_of_rows(body, free[-1])
        return Shape(grid, inner, between, body, rows, atomic)

    def _chain(self, nest: For) -> tuple[list[For], list[Statement], Block]:
        """The loops that have nothing but one another inside, what they compute for it, and the innermost body."""
        loops, between, body = [nest], list[Statement](), nest.body
        if nest.carried:
            raise NotSaid("a sum of everything")
        written = {self.root(s.object) for s in statements((nest,)) if isinstance(s, Store)}
        while True:
            inside = [s for s in body if isinstance(s, For)]
            rest = [s for s in body if not isinstance(s, For)]
            plain = all(isinstance(s, Assign) and not self._is_changed(s, written) for s in rest)
            if len(inside) != 1 or inside[0].carried or not plain or body[-1] is not inside[0]:
                return loops, between, body
            loops.append(inside[0])
            between += rest
            body = inside[0].body

    def _is_changed(self, s: Assign, written: set[str]) -> bool:
        """Whether this reads an entry of memory that is written."""
        return s.op is operator.getitem and self.root(str(s.args[0])) in written

    def _ends(self, s: For) -> tuple:
        made = self.definitions.get(str(s.iterable))
        if not isinstance(made, Assign) or made.op is not builtins.range or len(made.args) != 2:
            raise NotSaid("a loop with steps")
        return made.args

    def _is_free(self, s: For, nest: For, found: list[Access]) -> bool:
        """Whether no two trips of a loop touch one entry that one of them writes, whatever the loops around and inside
        of it do."""
        self._ends(s)
        inner = (all_defines((nest,)) | {x.target for x in statements((nest,)) if isinstance(x, For)}) - {s.target}
        return self.accesses.are_apart(found, found, s.target, inner)

    def _added_to(self, nest: For, found: list[Access]) -> set[str]:
        """The memory to which the nest adds at subscripts of index arrays, and of which it does nothing else."""
        out: set[str] = set()
        made = all_defines((nest,)) - {x.target for x in statements((nest,)) if isinstance(x, For)}
        for s in statements((nest,)):
            if isinstance(s, Store) and s.op in (operator.add, operator.sub):
                if any(f is None or not made.isdisjoint(f) for f in self.accesses.subscripts(s.key)):
                    out.add(self.root(s.object))
        for s in statements((nest,)):
            if isinstance(s, Store) and self.root(s.object) in out:
                dtype = getattr(self.types.of(s.object), "dtype", "")
                if s.op not in (operator.add, operator.sub) or dtype not in ("float64", "float32"):
                    out.discard(self.root(s.object))
        return out - {a.memory for a in found if not a.writes}

    # ---------------------------------------------------------- rows
    def _is_of_rows(self, body: Block, around: For) -> bool:
        """Whether a block of threads shares the loops in a body: they run along the last axes of what they touch, and
        their trips depend on one another only for sums."""
        inside = [s for s in body if isinstance(s, For)]
        if not inside or not all(map(self.is_shared, inside)):
            return False
        along = across = 0
        for s in inside:
            for a in self.accesses.of(s.body) or ():
                last = a.at[-1] if a.at else None
                along += last is not None and s.target in last
                across += last is not None and around.target in last and len(a.at) > 1
        return along > across

    def is_shared(self, s: For) -> bool:
        """Whether the trips of a loop may be run by the threads of a block."""
        self._ends(s)
        found = self.accesses.of(s.body)
        if found is None or not all(self._is_sum(s, c) for c in s.carried):
            return False
        inner = all_defines(s.body) | {x.target for x in statements(s.body) if isinstance(x, For)}
        return self.accesses.are_apart(found, found, s.target, inner)

    def _is_sum(self, s: For, carry: object) -> bool:
        """Whether what trips hand on is what they add up, each once."""
        name, after = carry.name, carry.next  # type: ignore[attr-defined]
        users = [x for x in statements(s.body) if name in all_reads((x,))]
        made = users[0] if len(users) == 1 else None
        if (
            not isinstance(made, Assign)
            or made.op not in (operator.add, operator.sub)
            or not is_number(self.types.of(name))
        ):
            return False
        read_again = any(after in all_reads((x,)) for x in statements(s.body))
        return made.target == after and made.args[0] == name and made.args[1] != name and not read_again


def is_index(s: Statement) -> bool:
    """Whether a statement says the subscripts of an entry, or the trips of a loop."""
    return isinstance(s, Assign) and s.op in (ops.make_tuple, builtins.range)
