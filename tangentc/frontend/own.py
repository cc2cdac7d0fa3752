"""Parameters that a function writes are copied first, and diagonals and imaginary parts that change are views that a
shadow can have too.
"""

from __future__ import annotations

import builtins
import operator
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from tangentc import runtime
from tangentc.analysis.aliases import Aliases, arms, asks_for_layout
from tangentc.analysis.points import COPIES
from tangentc.analysis.program import Program
from tangentc.analysis.types import Types
from tangentc.core import ops
from tangentc.core.build import Builder
from tangentc.core.nodes import Assign, Atom, Block, Const, Effect, For, Function, Statement, While
from tangentc.core.types import Array, Sequence, Struct, is_complex, is_container, rank
from tangentc.core.walk import blocks, changed_by, defines, reads, statements, substitute_block, transform, with_body
from tangentc.errors import UnsafeMutation
from tangentc.ops.table import every

BY_LAYOUT = every("by_layout")


def own_parameters(program: Program) -> Function:
    """Copy a parameter that the function writes, at its top, so that the caller's array is not changed."""
    function, aliases = _diagonals(program), program.aliases
    table: dict[str, str] = {}
    head: list[Statement] = []
    builder = Builder(program.types, [*program.types.of_name])
    carried = {c.name for s in statements(function.body) for c in getattr(s, "carried", ())}
    seen_twice = _read_beside_reshaped(function, aliases)
    held: set[str] = set()  # what a container may stand for that changes, or is another one in each trip
    while held != (held := held | _held_by(function, program.types, carried | held, aliases)):
        pass
    if (own := _with_own_parts(function, aliases, builder)) is not None:
        function, aliases = own
    for name in aliases.params:
        if not aliases.is_changed(name) and name not in held:
            continue
        copy = builder.fresh(name)
        op: Any = np.copy if isinstance(program.types.of(name), Array) else ops.copied
        if op is np.copy and aliases.root(name) in seen_twice:
            head.append(Effect(runtime.require_without_gaps, (name,), (), function.span))
        keywords = (("order", Const("K")),) if op is np.copy and asks_for_layout(function) else ()
        head.append(Assign(copy, op, (name,), keywords, function.span))
        table[name] = copy
    if not table:
        return function
    body = substitute_block(function.body, table)
    result = table.get(function.result, function.result) if isinstance(function.result, str) else function.result
    return replace(function, body=(*head, *body), result=result)


def _with_own_parts(function: Function, aliases: Aliases, builder: Builder) -> tuple[Function, Aliases] | None:
    """The function with copies of the arrays alone that it changes of an object, where it reads them once, at its top,
    and all else that is done with the object is to read its attributes; None where more is changed."""
    types = builder.types
    objects: set[Atom] = {p for p in aliases.params if isinstance(types.of(p), Struct)}

    def place(s: Statement) -> tuple[Atom, Any] | None:
        """The part of an object that a statement reads, under a name or at a place that stands in the text."""
        by_name = isinstance(s, Assign) and s.op in (builtins.getattr, operator.getitem) and s.args[0] in objects
        if not by_name or not isinstance(s.args[1], Const):  # type: ignore[union-attr]
            return None
        t, key = types.of(s.args[0]), s.args[1].value  # type: ignore[union-attr]
        if not isinstance(t, Sequence):
            return s.args[0], key  # type: ignore[union-attr]
        return (s.args[0], key % t.length) if type(key) is int and t.length else None  # type: ignore[union-attr]

    head: list[Assign] = []
    for s in function.body:
        if not isinstance(s, Assign) or place(s) is None:
            break
        head.append(s)
        objects |= {s.target} if is_container(types.of(s.target)) else set()
    stored = {_viewed(changed_by(s), aliases) for s in statements(function.body)}
    changed = [s for s in head if isinstance(types.of(s.target), Array) and s.target in stored]
    parts = {place(s): s.target for s in changed}
    rest = function.body[len(head) :]
    others = {a for s in statements(rest) if place(s) is None or place(s) in parts for a in reads(s)} | {
        function.result
    }
    if len(parts) != len(changed) or not parts or others & objects or asks_for_layout(function):
        return None
    own: list[Assign] = []
    for s in head:
        own.append(s)
        if s in changed:
            own[-1] = replace(s, target=builder.fresh(f"%{s.target}"))
            types.of_name[own[-1].target] = types.of(s.target)
            own.append(Assign(s.target, np.copy, (own[-1].target,), (), s.span))
    new = replace(function, body=(*own, *rest))
    now = Aliases(new, types, aliases.call_aliases)
    return None if any(now.is_changed(o) for o in objects if isinstance(o, str)) else (new, now)


def _viewed(name: Any, aliases: Aliases) -> Any:
    """The array of which a name is a view."""
    while name in aliases.views and not is_container(aliases.types.of(aliases.views[name].args[0])):
        name = aliases.views[name].args[0]
    return name


def _read_beside_reshaped(function: Function, aliases: Aliases) -> set[str]:
    """The classes of arrays that are read beside what reshapes them, so that it shows whether that is a view."""
    reshaped = {n for n, made in aliases.views.items() if made.op in BY_LAYOUT}
    classes = {aliases.root(n) for n in reshaped}
    loops = [s for s in statements(function.body) if isinstance(s, (For, While))] if reshaped else []
    again = {name for loop in loops for s in statements(loop.body) for name in defines(s)}
    from_array = [n for n in reshaped if aliases.views[n].args[0] not in reshaped]
    times = Counter(aliases.root(n) for n in from_array) + Counter(aliases.root(n) for n in from_array if n in again)
    found = {root for root, count in times.items() if count > 1}
    for s in statements(function.body) if reshaped else ():
        if isinstance(s, Assign) and s.target in aliases.views and aliases.root(s.target) in classes:
            reshaped |= {s.target} if s.args[0] in reshaped else set()
            continue
        found |= {aliases.root(a) for a in reads(s) if isinstance(a, str) and a not in reshaped}
    if isinstance(function.result, str) and function.result not in reshaped:
        found.add(aliases.root(function.result))
    return found & classes


def _held_by(function: Function, types: Types, chosen: set[str], aliases: Aliases) -> set[str]:
    """What containers may be that are chosen, or changed: what joins hand on, and lists that are joined."""
    names = set(arms(function, lambda n: is_container(types.of(n)) and (n in chosen or aliases.is_mirrored(n))))
    for s in statements(function.body):
        if isinstance(s, Assign) and s.op in COPIES and s.target in chosen and is_container(types.of(s.target)):
            names |= {a for a in s.args if isinstance(a, str) and is_container(types.of(a))}
    return names


def _square(x: str, s: Assign, program: Program) -> tuple[Any, ...]:
    """The statements that take the part of a matrix in which its diagonal lies, and at last its name."""
    t = program.types.of(x)
    if isinstance(t, Array) and t.shape[0] == t.shape[1]:
        return (x,)
    fresh = Builder(program.types, program.types.of_name).fresh
    shape, count, side, key, square = map(fresh, ("%shape", "%count", "%side", "%key", "%square"))
    before = (
        Assign(shape, np.shape, (x,), (), s.span), Assign(count, builtins.min, (shape,), (), s.span),
        Assign(side, builtins.slice, (Const(None), count, Const(None)), (), s.span),
        Assign(key, ops.make_tuple, (side, side), (), s.span),
        Assign(square, operator.getitem, (x, key), (), s.span),
    )  # fmt: skip
    for made in before:
        program.types.of_name[made.target] = program.types.result(made.op, made.args)
    return *before, square


def _diagonals(program: Program) -> Function:
    """The diagonal of a matrix that is changed in place, as a view that its shadow can have too."""

    momentary = set(_momentary(program))

    def rewrite(s: Statement) -> tuple[Statement, ...]:
        if isinstance(s, Assign) and s.op in (np.diag, np.diagonal) and len(s.args) == 1 and not s.keywords:
            x = s.args[0]
            if rank(program.types.of(x)) == 2 and isinstance(x, str) and program.aliases.is_changed(x):
                *before, square = _square(x, s, program)
                return *before, replace(s, op=np.einsum, args=(Const("ii->i"), square))
        if isinstance(s, Assign) and s.op is np.imag and isinstance(s.args[0], str):
            if is_complex(program.types.of(s.args[0])) and program.aliases.is_changed(s.args[0]):
                if s.target in momentary:  # and nobody sees that it is no memory of the array
                    copied = f"{s.target}_of"
                    program.types.of_name[copied] = program.types.of(s.args[0])
                    return Assign(copied, np.copy, s.args, (), s.span), replace(s, args=(copied,))
                raise UnsafeMutation(
                    "the imaginary part of an array that is changed in place is taken", s.span,
                    why="it is memory of the array, and its adjoint has the other sign",
                    way_out="take it of a copy: np.imag(z.copy())",
                )  # fmt: skip
        return (s,)

    return with_body(program.function, transform(program.function.body, rewrite))


def _momentary(program: Program) -> Iterator[str]:
    """The imaginary parts that are read before anything changes, by operations that give new values."""
    every = list(statements(program.function.body))
    if any(isinstance(s, Assign) and s.op is np.imag for s in every):
        count = Counter(a for s in every for a in reads(s) if isinstance(a, str))
        yield from _momentary_in(program, program.function.body, count)


def _momentary_in(program: Program, block: Block, count: Counter[str]) -> Iterator[str]:
    for k, s in enumerate(block):
        for inner in blocks(s):
            yield from _momentary_in(program, inner, count)
        if not isinstance(s, Assign) or s.op is not np.imag:
            continue
        left, root = count[s.target], program.aliases.root(s.target)
        if s.target == program.function.result:
            left += block is not program.function.body or not all(isinstance(t, Assign) for t in block[k:])
        for after in block[k + 1 :]:
            if not left or not isinstance(after, Assign) or isinstance(after.op, ops.UserFunction):
                break
            if s.target in after.atoms and program.aliases.root(after.target) == root:
                break
            left -= after.atoms.count(s.target)
        if not left:
            yield s.target
