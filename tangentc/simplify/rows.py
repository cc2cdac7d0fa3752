"""New zeros whose items are all set are made of these, and what is added to all items of an array is one array.

p_bar = np.zeros_like(p)
p_bar[1] = b_bar                ->        p_bar = np.array([a_bar, b_bar])
p_bar[0] = a_bar

p_bar[2] += c_bar
p_bar[1] += b_bar               ->        p_bar += np.array([a_bar, b_bar, c_bar])
p_bar[0] += a_bar
"""

from __future__ import annotations

import operator
from dataclasses import replace

import numpy as np

from tangentc.analysis.program import Program
from tangentc.core.build import Builder, is_sure
from tangentc.core.nodes import Assign, Atom, Block, Const, Function, Statement, Store
from tangentc.core.ops import make_list
from tangentc.core.types import Array, Scalar
from tangentc.core.walk import all_reads, changed_by, rebuilt, statements, with_blocks, with_body

MOST_ITEMS = 8
FEWEST_SUMS = 3  # two are as short one by one


def rows(program: Program) -> Function:
    """The function that makes such arrays of their items."""
    function = program.function
    every = statements(function.body)
    if not any(isinstance(s, Store) or isinstance(s, Assign) and s.op is np.zeros_like for s in every):
        return function
    return with_body(function, _Rows(program).block(function.body))


class _Rows:
    def __init__(self, program: Program):
        self.of, self.aliases = program.types.of, program.aliases
        self.b = Builder(program.types, [*program.types.of_name])

    def block(self, block: Block) -> Block:
        out = [with_blocks(s, self.block) for s in block]
        for s in block:
            if isinstance(s, Assign) and s.op is np.zeros_like and isinstance(self.of(s.target), Array):
                out = self.made_of_items(s, out) or out
        return rebuilt(block, self.added_together(out))

    def added_together(self, block: list[Statement]) -> list[Statement]:
        """A block in which numbers that are added to all items of an array, one behind the other, are one array."""
        out: list[Statement] = []
        for s in block:
            out.append(s)
            sums = self.sums_at_the_end(out)
            if sums is not None:
                items = sorted(sums, key=lambda x: x.key.value)  # type: ignore[union-attr]
                made: list[Statement] = []
                with self.b.reopen(made):
                    self.b.span = s.span
                    listed = self.b.emit(make_list, tuple(x.value for x in items))
                    total = self.b.emit(np.array, (listed,))
                out = [x for x in out if x not in sums] + [*made, replace(items[0], key=None, value=total)]
        return out

    def sums_at_the_end(self, block: list[Statement]) -> list[Store] | None:
        """The statements before the end of a block that add a number to each item of one array."""
        last = block[-1]
        t = self.of(last.object) if isinstance(last, Store) else None
        n = t.shape[0] if isinstance(t, Array) and len(t.shape) == 1 and not t.or_number else None
        if not isinstance(n, int) or not FEWEST_SUMS <= n <= MOST_ITEMS:
            return None
        found: dict[int, Store] = {}
        for s in reversed(block):
            if isinstance(s, Store) and s.object == last.object and s.op is operator.add and s.adjoint_of:  # type: ignore[union-attr]
                k = s.key.value if isinstance(s.key, Const) else None
                if type(k) is not int or not 0 <= k < n or k in found or not self.is_item(s.value, t):  # type: ignore[arg-type]
                    return None
                found[k] = s
                if len(found) == n:
                    return list(found.values())
            elif not isinstance(s, Assign) or last.object in s.atoms or changed_by(s) is not None:  # type: ignore[union-attr]
                return None
        return None

    def made_of_items(self, zeros: Assign, block: list[Statement]) -> list[Statement] | None:
        """The block in which an array is made where the last of its items is set, None where some are not."""
        z, t = zeros.target, self.of(zeros.target)
        if not isinstance(t, Array) or not t.shape or t.or_number or zeros not in block:
            return None
        n = t.shape[0]
        if not isinstance(n, int) or not 0 < n <= MOST_ITEMS:
            return None
        sets = [s for s in block if z in all_reads((s,))][:n]
        items: dict[int, Atom] = {}
        for s in sets:
            if not isinstance(s, Store) or s.object != z or s.op is not None or not self.is_item(s.value, t):
                return None
            if not isinstance(s.key, Const) or type(s.key.value) is not int:
                return None
            items[s.key.value % n] = s.value
        if len(items) < n:
            return None
        made: list[Statement] = []
        with self.b.reopen(made):
            self.b.span = sets[-1].span
            listed = self.b.emit(make_list, tuple(items[k] for k in range(n)))
        made.append(Assign(z, np.array, (listed,), (), sets[-1].span))
        return [x for s in block if s is not zeros for x in (made if s is sets[-1] else () if s in sets else (s,))]

    def is_item(self, value: Atom, t: Array) -> bool:
        """Whether a value is an item of such an array: a number or an array of its dtype, which does not change."""
        own = self.of(value)
        if isinstance(value, str) and self.aliases.is_changed(value):
            return False
        if isinstance(own, Scalar):
            return len(t.shape) == 1 and own.dtype == t.dtype and (t.dtype == "float64" or not own.weak)
        full = isinstance(own, Array) and own.shape == t.shape[1:] and is_sure(own.shape) and not own.or_number
        return full and own.dtype == t.dtype  # type: ignore[union-attr]
