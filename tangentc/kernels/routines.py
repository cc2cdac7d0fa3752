"""Elementary functions by branch-free routines, where a loop becomes SIMD code or they are quicker than the C library.

for i in range(n):                      for i in range(n):
    y[i] = np.exp(x[i])        ->           y[i] = exp(x[i])  # of `tangentc.runtime.elementary`

A routine takes about a third of the time in a loop whose trips do not wait for one another.  Where they do, there is
one call at a time, and most of the C library's functions answer sooner (`benchmarks/elementary.py`).
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tangentc.core.build import Types
from tangentc.core.nodes import Assign, Block, For, If, Statement, While
from tangentc.core.walk import definitions, statements, with_blocks
from tangentc.kernels.accesses import Accesses
from tangentc.kernels.threads import is_shared, trips_are_apart
from tangentc.ops.table import known_of, say

QUICK = {  # one call at a time, too; for the sigmoid there is no other
    "float64": {"tanh", "log1p", "sigmoid"},
    "float32": {"tanh", "log1p", "sigmoid", "erf"},
}
OF_DOUBLES = {"sin", "cos"}


def with_routines(block: Block, types: Types, root: Callable[[str], str], is_checked: bool) -> Block:
    """The block with its elementary functions chosen; ``is_checked``: each subscript may raise."""
    return _Choose(block, types, root, is_checked).block(block, False)


class _Choose:
    def __init__(self, block: Block, types: Types, root: Callable[[str], str], is_checked: bool):
        self.types, self.made, self.is_checked = types, definitions(block), is_checked
        self.accesses = Accesses(types, self.made, root)

    def block(self, block: Block, is_free: bool) -> Block:
        """A block; ``is_free`` in a loop whose trips do not wait for one another."""
        return tuple(self.statement(s, is_free) for s in block)

    def statement(self, s: Statement, is_free: bool) -> Statement:
        if isinstance(s, For):
            return with_blocks(s, lambda b: self.block(b, self.becomes_simd(s)))
        if isinstance(s, While):
            return with_blocks(s, lambda b: self.block(b, False))
        if isinstance(s, If):
            return with_blocks(s, lambda b: self.block(b, is_free))
        if isinstance(s, Assign) and (name := known_of(s.op).routine) and (name := self.of_type(name, s, is_free)):
            return replace(s, op=routine(name))
        return s

    def becomes_simd(self, s: For) -> bool:
        """Whether trips hand nothing on, and no other loop is inside."""
        made = self.made.get(str(s.iterable))
        is_range = isinstance(made, Assign) and (made.op is builtins.range or is_shared(s, made))
        has_loop = any(isinstance(x, (For, While)) for x in statements(s.body))
        if not is_range or has_loop or s.carried or self.is_checked:
            return False
        return trips_are_apart(s, self.accesses)

    def of_type(self, name: str, s: Assign, is_free: bool) -> str:
        """The routine that is to be called, if one is.  For a number of `float32` it gives one; `math.exp` does not."""
        given, gives = (getattr(self.types.of(a), "dtype", "") for a in (s.args[0], s.target))
        dtype = "float32" if given == "float32" else "float64"
        if gives != dtype or dtype == "float32" and name in OF_DOUBLES or not (is_free or name in QUICK[dtype]):
            return ""
        return name if dtype == "float64" else f"{name}_32"


def routine(name: str) -> Any:
    """The branch-free function of this name; it needs Numba."""
    from tangentc.runtime import elementary

    found = getattr(elementary, name)
    say(found, pure=True)
    return found
