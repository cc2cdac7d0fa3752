"""How operations are written for a batch: rules in the table of operations, then what NumPy is found to do, then one
example after the other.

A rule is given the writer and the statement of one example, of which an argument is batched.  It gives the value and
its mark, or None where it does not cover the call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tangentc.analysis.elementwise import is_elementwise
from tangentc.batching.elementwise import OF_A_BATCH, elementwise
from tangentc.batching.generic import generic
from tangentc.batching.marks import Mark
from tangentc.batching.writer import Writer
from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom
from tangentc.frontend.callables import is_user_function
from tangentc.ops.table import known_of, record_of

Found = tuple[Atom, Mark] | None
Rule = Callable[[Writer, Assign], Found]


def batches(*functions: Any) -> Callable[[Rule], Rule]:
    """Register how functions are written for a batch."""

    def register(rule: Rule) -> Rule:
        for function in functions:
            record_of(function).batching = rule
        return rule

    return register


def written(w: Writer, s: Assign) -> Found:
    """A statement for the batch; None if it has to be done for one example after the other."""
    if isinstance(s.op, ops.UserFunction) or is_user_function(s.op):
        return w.calls(s, w) if w.calls is not None else None
    record = known_of(s.op)
    if record.batching is not None:
        return record.batching(w, s)  # type: ignore[no-any-return]
    if is_elementwise(s.op) or s.op in OF_A_BATCH or getattr(record.rule, "kind", "") == "elementwise":
        return elementwise(w, s)
    if ops.is_pure(s.op):
        return generic(w, s)
    return None
