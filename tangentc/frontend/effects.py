"""What is known of the user's functions that are called: their effects, and what their results share with arguments."""

from __future__ import annotations

import dataclasses
import inspect
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tangentc.analysis.points import DEEP_COPIES
from tangentc.analysis.program import Program
from tangentc.core import ops
from tangentc.core.build import Builder
from tangentc.core.nodes import Assign, Const, Effect, Function, Statement
from tangentc.core.splice import in_order, spliced
from tangentc.core.types import Array, Dict, Sequence, Struct, Type, Unknown, is_container, may_be_none
from tangentc.core.walk import statements, transform, with_body
from tangentc.errors import UnsafeMutation
from tangentc.frontend.callables import is_user_function
from tangentc.frontend.recursion import calls_itself

if TYPE_CHECKING:
    from tangentc.compiler.front import Front


def user_functions(program: Program, front: Front) -> Function:
    """Say of each function of the user that is called whether it has effects.

    What a function gives may be memory of its argument, or twice the same: where that is changed, its body stands in
    place of the call."""
    builder = Builder(program.types, program.types.of_name)

    def rewrite(s: Statement) -> tuple[Statement, ...]:
        if isinstance(s, (Assign, Effect)) and is_user_function(s.op):
            callee = front.callee(s.op, s, program.types)
            if callee.changes:
                raise UnsafeMutation(
                    f"{s.op.__name__} changes its argument {callee.changes[0]} in place, and calls itself", s.span,
                    why="changes in place are not followed through recursion",
                    way_out="let the function return a new array",
                )  # fmt: skip
            shares = _gives_back(callee)
            if isinstance(s, Assign) and _is_followed(program, s, callee):
                if not calls_itself(s.op):  # type: ignore[arg-type]
                    return spliced(s, callee.function, in_order(s.op, s), builder.fresh)
                if shares:
                    raise _refusal(s)
            op = ops.UserFunction(s.op, callee.pure, shares)
            return (replace(s, op=op),)
        if isinstance(s, Assign) and isinstance(s.op, type) and (built := _structure(s)) is not None:
            return (built,)
        return (s,)

    return with_body(program.function, transform(program.function.body, rewrite))


def _is_followed(program: Program, s: Assign, callee: Program) -> bool:
    """Whether what a call gives is changed, and may be memory of something else, or is a container or None."""
    copies = _changed_copies(program)
    return (
        may_be_none(callee.result)
        or (_gives_back(callee) or _holds_what_changes(callee.result))
        and _is_changed(program, s)
        or bool(_changed_copies(callee))
        or any(program.aliases.root(n) == program.aliases.root(s.target) for n in copies)
    )


def _refusal(call: Any) -> UnsafeMutation:
    return UnsafeMutation(
        f"what {call.op.__name__} gives may be memory of its argument, and one of them is changed", call.span,
        why="changes in place are followed through calls that can be written into their caller, which those of a "
        "function that calls itself cannot",
        way_out="change a copy of what it gives",
    )  # fmt: skip


def _changed_copies(program: Program) -> list[str]:
    """What a function copies with all that it holds, to change it: which parts of it are one and the same, and so
    change together, only those know who put it together."""
    copies = (s for s in statements(program.function.body) if isinstance(s, Assign) and s.op in DEEP_COPIES)
    return [s.args[0] for s in copies if isinstance(s.args[0], str) and program.aliases.is_changed(s.target)]


def _holds_what_changes(t: Type) -> bool:
    """Whether the type is that of a container that may hold one array, list or object twice."""
    can_change = (Array, Unknown, Sequence, Dict, Struct)
    return is_container(t) and any(isinstance(i, can_change) or _holds_what_changes(i) for i in t.items)


def _structure(s: Assign) -> Assign | None:
    """A call of a NamedTuple or a dataclass puts its fields together."""
    cls: Any = s.op
    if hasattr(cls, "_fields"):
        fields = cls._fields
    elif dataclasses.is_dataclass(cls):
        fields = tuple(f.name for f in dataclasses.fields(cls))
    else:
        return None
    try:
        bound = inspect.signature(cls).bind(*s.args, **dict(s.keywords))
    except TypeError:
        return None
    bound.apply_defaults()
    values = [v if isinstance(v, (str, Const)) else Const(v) for v in (bound.arguments[f] for f in fields)]
    return replace(s, op=ops.make_struct, args=(Const(cls), Const(tuple(fields)), *values), keywords=())


def _gives_back(callee: Program) -> bool:
    """Whether the result of a function may share memory with an argument."""
    result = callee.function.result
    return isinstance(result, str) and any(
        callee.aliases.root(p.name) == callee.aliases.root(result) for p in callee.function.params
    )


def _is_changed(program: Program, s: Assign) -> bool:
    return any(isinstance(a, str) and program.aliases.is_changed(a) for a in (s.target, *s.atoms))
