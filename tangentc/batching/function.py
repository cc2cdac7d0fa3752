"""A function of one example as a function of a batch.

The function that is given is in core form, with types and effects known.  It is written until no name turns out to be
batched that was not taken to be; a statement whose value has not the axes and the dtype of a batch is done for one
example after the other.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from tangentc.analysis.program import Program, draws, has_effect
from tangentc.batching import statements
from tangentc.batching.each import each
from tangentc.batching.empty import without_examples
from tangentc.batching.marks import EACH, Mark, is_batched, parts, whole
from tangentc.batching.writer import NoWay, Writer
from tangentc.core import ops
from tangentc.core.lengths import Length
from tangentc.core.nodes import NOWHERE, Assign, Atom, Block, Const, Function, Opaque, Param, Statement
from tangentc.core.splice import in_order
from tangentc.core.texts import is_emitted
from tangentc.core.types import Array, Scalar, Type, Unknown, is_container
from tangentc.core.walk import definitions, transform, with_body
from tangentc.core.walk import statements as statements_of
from tangentc.errors import InternalError, Span, UnsupportedSyntax
from tangentc.frontend.recursion import calls_itself

MOST_TIMES = 64  # that a function is written
Axes = Any  # an int or None for all leaves of a value, or a tuple of them, one for each item of its type


class Compilation(Protocol):
    """What functions of a batch are written into: `tangentc.compiler.context.Context`."""

    front: Any
    emitted: list[tuple[Program, Any]]

    def unique_name(self, name: str) -> str: ...
    def simplify(self, function: Function, types: Any, source: Any, /) -> Program: ...


@dataclass
class Batched:
    """A function of a batch: what it gives in marks, and what is done for one example after the other, by line."""

    program: Program
    mark: Mark
    looped: dict[Span, str]


class Functions:
    """The functions of one compilation that are written for a batch, each once for its types and marks."""

    def __init__(self, context: Compilation):
        self.context = context
        self.made: dict[Any, Batched | None] = {}
        self.looped: dict[Span, str] = {}

    def call(self, s: Assign, w: Writer) -> tuple[Atom, Mark] | None:
        """A call of a user's function, as one of that of a batch; None if it calls itself."""
        function: Any = getattr(s.op, "function", s.op)
        if calls_itself(function):
            return None
        callee = self.context.front.callee(function, s, w.types)
        given = in_order(function, s)
        marks = tuple(map(w.mark, given))
        key = id(callee), marks
        if key not in self.made:
            name = self.context.unique_name(f"{callee.function.name}_vmap")
            self.made[key] = self.write(callee, marks, name, None, _as_it_is)
        made = self.made[key]
        if made is None or callee.changes:
            return None
        result = Unknown("it is a list of examples") if made.mark is EACH else batch_of(w.type(s.target), made.mark)
        w.loops += bool(made.looped)
        op = ops.Emitted(made.program.function.name, callee.pure, result)
        return w.emit(op, tuple(map(w.now, given))), made.mark

    def write(
        self, program: Program, marks: Sequence[Mark], name: str, given: Callable[[Writer], None] | None,
        end: Callable[[Writer], tuple[Atom, Mark]], types: Sequence[Type] | None = None, doc: str = "",
        seeds: int = 0, is_empty: bool = False,
    ) -> Batched:  # fmt: skip
        """Write a function for arguments with these marks, and put it among what is emitted."""
        params = [p.name for p in program.function.params]
        of_params = types or [batch_of(program.types.of(p), m) for p, m in zip(params, marks, strict=True)]
        kept = program.function.params[: len(params) - seeds]
        raised: dict[str, Mark] = {}
        forced: set[str] = set()
        is_whole = _goes_in_order(program)
        for _ in range(MOST_TIMES):
            w = Writer(program, raised, forced, self.call)
            w.span = program.function.span
            for p, m in zip(params, marks, strict=True):
                w.names[p], w.marks[p] = p, m
            if given is not None:
                given(w)
            w.size = w.emit(len, (first_batched(w, params),), name="batch_size")
            try:
                for p in params:
                    if p in raised:
                        w.bind(p, w.now(p), w.mark(p))
                if is_whole:
                    each(w, program.function.body, [str(program.function.result)], True)
                elif not (is_empty and statements.attempt(w, partial(_without_examples, w, params))):
                    statements.block(w, program.function.body)
            except NoWay:
                if is_whole:
                    raise _without_form(program) from None
                is_whole, raised = True, {}
                continue
            result, mark = end(w)
            if w.grew:
                continue
            new = Function(
                name, tuple(Param(p.name, p.default) for p in kept), _quoting(w.out, program.source), result,
                program.function.span, doc or f"{program.function.name} for a batch of examples.",
            )  # fmt: skip
            typed = self.context.front.typed(
                new, dict(zip(params[: len(kept)], of_params, strict=False)), program.source
            )
            if wrong := _wrong(w, typed) - forced:
                forced |= wrong
                continue
            self.looped |= w.looped
            done = self.context.simplify(typed.function, typed.types, program.source)
            self.context.emitted.append((done, program.source))
            return Batched(done, mark, w.looped)
        raise InternalError(f"{program.function.name} does not get a form for a batch")


def _without_form(program: Program) -> UnsupportedSyntax:
    return UnsupportedSyntax(
        f"{program.function.name} has no form for a batch", program.function.span,
        why="it changes what a container holds, which may be there under other names too",
        way_out="call it for one example after the other, or let it change copies",
    )  # fmt: skip


def _goes_in_order(program: Program) -> bool:
    """Whether a function does something beside its result, or draws random numbers, which is to happen for one example
    after the other; what it refuses for one example it may refuse for all at once."""

    def without(s: Statement) -> Block:
        return () if isinstance(s, Opaque) and isinstance(s.tree, (ast.Raise, ast.Assert)) else (s,)

    rest = with_body(program.function, transform(program.function.body, without))
    made = definitions(rest.body)
    return draws(replace(program, function=rest)) or any(has_effect(s, made) for s in statements_of(rest.body))


def _without_examples(w: Writer, params: Sequence[str]) -> None:
    """In place of the body, what it gives for no examples."""
    result = w.program.function.result
    if result in params or not isinstance(result, str):
        raise NoWay
    t = w.type(result)
    w.bind(result, without_examples(w, t, params), whole(t))


def _as_it_is(w: Writer) -> tuple[Atom, Mark]:
    """The result with what of it is batched."""
    result = w.program.function.result
    return w.now(result), w.mark(result)


def _quoting(body: Sequence[Statement], source: Any) -> Block:
    """Statements that quote lines of the user's, and not those of a function that was emitted."""
    return transform(tuple(body), lambda s: (replace(s, span=NOWHERE if is_emitted(source) else s.span),))


def _wrong(w: Writer, program: Program) -> set[str]:
    """The names whose values have not the axes, or the dtype, that those of a batch have."""
    found = set()
    for name, atom in w.names.items():
        if w.marks[name] is not True or not isinstance(atom, str) or not isinstance(w.made.get(name), Assign):
            continue
        if name not in w.types.of_name or atom not in program.types.of_name:
            continue
        t, of_batch = w.type(name), program.types.of(atom)
        if isinstance(t, (Array, Scalar)) and isinstance(of_batch, (Array, Scalar)):
            axes = 1 + (len(t.shape) if isinstance(t, Array) else 0)
            if not isinstance(of_batch, Array) or len(of_batch.shape) != axes or of_batch.dtype != t.dtype:
                found.add(name)
    return found


def batch_of(t: Type, mark: Mark) -> Type:
    """The type of a value of a batch."""
    if not is_batched(mark):
        return t
    if is_container(t) and mark is not EACH:
        return dataclasses.replace(t, items=tuple(map(batch_of, t.items, parts(mark, t))))
    size = Length("?batch")
    if isinstance(t, Scalar):
        return Array(t.dtype, (size,))
    return dataclasses.replace(t, shape=(size, *t.shape)) if isinstance(t, Array) else t


def first_batched(w: Writer, params: Sequence[str]) -> Atom:
    """The first array among the arguments that has the batch along its first axis."""
    for p in params:
        if is_batched(w.mark(p)):
            return _leaf(w, w.now(p), w.mark(p), w.type(p))
    raise InternalError("nothing is batched")


def _leaf(w: Writer, atom: Atom, mark: Mark, t: Type) -> Atom:
    if not isinstance(mark, tuple):
        return atom
    k = next(k for k, m in enumerate(mark) if is_batched(m))
    return _leaf(w, w.part(atom, t, k), mark[k], t.items[k])  # type: ignore[union-attr]


# ---------------------------------------------------------------- axes
def mark_of(axes: Axes) -> Mark:
    """The mark of a value whose leaves are mapped along axes."""
    if isinstance(axes, tuple):
        held = tuple(map(mark_of, axes))
        return held if any(map(is_batched, held)) else False
    return axes is not None


def one_example(t: Type, axes: Axes) -> Type:
    """The type of one example of a batch."""
    if axes is None:
        return t
    if isinstance(axes, tuple):
        return dataclasses.replace(t, items=tuple(map(one_example, t.items, axes)))  # type: ignore[union-attr, arg-type]
    assert isinstance(t, Array)
    shape = t.shape[: axes % len(t.shape)] + t.shape[axes % len(t.shape) + 1 :]
    return Array(t.dtype, shape) if shape else Scalar(t.dtype)


def put_first(w: Writer, atom: Atom, t: Type, axes: Axes) -> Atom:
    """A value with the mapped axes in front."""
    if isinstance(axes, tuple):
        if not any(_is_elsewhere(a, i) for a, i in zip(axes, t.items)):  # type: ignore[union-attr]
            return atom
        return w.rebuilt(atom, t, lambda part, k, item: put_first(w, part, item, axes[k]))
    return w.emit(np.moveaxis, (atom, Const(axes), Const(0))) if _is_elsewhere(axes, t) else atom


def _is_elsewhere(axes: Axes, t: Type) -> bool:
    if isinstance(axes, tuple):
        return any(_is_elsewhere(a, i) for a, i in zip(axes, t.items))  # type: ignore[union-attr]
    return bool(axes)


def put_last(w: Writer, atom: Atom, mark: Mark, t: Type, axes: Axes, own: bool = True) -> Atom:
    """A result with the batch along the axes that are asked for, of what is the same for all examples too; a copy
    unless it is the function's ``own``."""
    if is_container(t) and mark is not EACH:
        each_axis = axes if isinstance(axes, tuple) else (axes,) * len(t.items)
        marks = parts(mark, t)
        if (
            own
            and all(a == 0 for a in _flat(axes))
            and mark == whole(t)
            or not is_batched(mark)
            and not any(a is not None for a in _flat(axes))
        ):
            return atom
        return w.rebuilt(atom, t, lambda part, k, item: put_last(w, part, marks[k], item, each_axis[k], own))
    if axes is None or not is_batched(mark) and not isinstance(t, (Array, Scalar)):
        return atom
    if mark is EACH:
        atom = w.stacked(atom, t)
        return put_last(w, atom, whole(t), t, axes) if whole(t) is not EACH else atom
    if not is_batched(mark):
        atom = w.converted(atom, False, True, t, True)
    elif not own:
        atom = w.emit(np.copy, (atom,))
    return w.emit(np.moveaxis, (atom, Const(0), Const(axes))) if axes else atom


def _flat(axes: Axes) -> Iterator[int | None]:
    if isinstance(axes, tuple):
        for a in axes:
            yield from _flat(a)
    else:
        yield axes
