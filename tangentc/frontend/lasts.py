"""The last item of a list that a loop has filled is what its last trip has appended.

    for x in xs:                        for x in xs:
        h = np.tanh(W @ h + x)              h = np.tanh(W @ h + x)
        hs.append(h)              ->        hs.append(h)
    return np.sum(hs[-1])               return np.sum(h)

A list that serves nothing else is not made.
"""

from __future__ import annotations

import builtins
import operator
from collections import Counter
from dataclasses import replace

from tangentc.analysis.program import Program
from tangentc.core import ops
from tangentc.core.lengths import Length
from tangentc.core.nodes import Assign, Atom, Block, Const, Effect, For, Function, Leave, Statement
from tangentc.core.walk import changed_by, definitions, rebuilt, statements, with_blocks, with_body
from tangentc.frontend.fused import is_new_list, without_needless


def lasts(program: Program) -> Function:
    """The function that asks its loops for what their last trips have made."""
    function = program.function
    if not any(isinstance(s, Effect) and s.op is ops.append for s in statements(function.body)):
        return function
    body = _Lasts(program).block(function.body)
    return function if body is function.body else without_needless(with_body(function, body))


class _Lasts:
    def __init__(self, program: Program):
        self.types, self.aliases = program.types, program.aliases
        body = program.function.body
        self.made = definitions(body)
        self.changes: Counter[Atom] = Counter(filter(None, map(changed_by, statements(body))))

    def block(self, block: Block) -> Block:
        last: dict[Atom, tuple[For, Atom]] = {}
        out: list[Statement] = []
        for s in block:
            if isinstance(s, For) and self.is_run(s):
                filled = [x for x in s.body if isinstance(x, Effect) and x.op is ops.append]
                new = [x for x in filled if is_new_list(self.made.get(str(x.args[0])))]
                last |= {x.args[0]: (s, x.args[1]) for x in new if self.changes[x.args[0]] == 1}
            if isinstance(s, Assign) and s.op is operator.getitem and s.args[1] == Const(-1) and s.args[0] in last:
                s = self.again(s, *last[s.args[0]])
            out.append(with_blocks(s, self.block))
        return rebuilt(block, out)

    def is_run(self, s: For) -> bool:
        """Whether a loop surely makes a trip, and all that it begins to make."""
        made = self.made.get(s.iterable) if isinstance(s.iterable, str) else None
        counted = isinstance(made, Assign) and made.op is builtins.range and len(made.args) == 1
        if not counted or any(isinstance(x, Leave) for x in statements(s.body)):
            return False
        count = getattr(self.types.of(made.args[0]), "value", None)  # type: ignore[union-attr]
        return (count.least if isinstance(count, Length) else count or 0) > 0

    def again(self, s: Assign, loop: For, item: Atom) -> Assign:
        """What takes the last item, from what the loop hands on behind its last trip, where that is possible."""
        handed = {c.next: c.name for c in loop.carried if not self.aliases.is_changed(c.name)}
        if item in handed:
            return replace(s, op=ops.identity, args=(handed[item],))
        made = self.made.get(item) if isinstance(item, str) else None
        if not isinstance(made, Assign) or made.op is not operator.getitem or not isinstance(made.args[1], Const):
            return s
        return replace(s, args=(handed[made.args[0]], made.args[1])) if made.args[0] in handed else s
