"""The statements of a batch, one by one: assignments, stores, calls for their effect, branches and loops.

Branches and loops that all examples take alike stay as they are.  Where examples differ: a branch that computes little
is computed by all, and `np.where` chooses; in one that computes more, the examples that take it are taken out of the
batch and put back (`rows`); all else is done for one example after the other (`each`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tangentc.batching import containers, forms, part, products, shapes, subscripts
from tangentc.batching.each import each
from tangentc.batching.forms import chosen
from tangentc.batching.marks import EACH, Mark, is_batched, join, parts, place, tidy, whole
from tangentc.batching.registry import written
from tangentc.batching.writer import FIRST, Entangled, NoWay, Writer
from tangentc.core import ops
from tangentc.core.nodes import (
    Assign,
    Atom,
    Block,
    Carry,
    Const,
    Effect,
    For,
    If,
    Leave,
    Merge,
    Opaque,
    Statement,
    Store,
    While,
)
from tangentc.core.types import Array, Scalar, is_container
from tangentc.core.walk import statements
from tangentc.ops.table import known_of

RULES = (containers, forms, products, shapes)  # which register when they are imported


class Unlike(Exception):
    """Examples leave a loop in different trips."""


def block(w: Writer, statements_: Block) -> None:
    for s in statements_:
        w.span = s.span
        statement(w, s)


def statement(w: Writer, s: Statement) -> None:
    match s:
        case Assign():
            assign(w, s)
        case Store():
            store(w, s)
        case Effect():
            effect(w, s)
        case If():
            branch(w, s)
        case For() | While():
            loop(w, s)
        case Leave():
            w.out.append(s)
        case Opaque():
            opaque(w, s)


def assign(w: Writer, s: Assign) -> None:
    wanted, marks = w.raised.get(s.target, False), [w.mark(a) for a in s.atoms]
    if EACH in (wanted, *marks):
        each(w, (s,), (s.target,))
        return
    if not any(map(is_batched, marks)):
        made = shapes.allocated(w, s) if wanted is True else None
        if made is not None:
            w.bind(s.target, made, True)
            return
        args, keywords = tuple(map(w.now, s.args)), tuple((k, w.now(a)) for k, a in s.keywords)
        if s.op is operator.getitem and args[0] in w.shapes and isinstance(k := args[1], Const) and _is_natural(k):
            args = w.shapes[args[0]], Const(k.value + 1)
        if s.op is operator.mul and not wanted and (same := _without_seed(w, s)) is not None:
            w.names[s.target], w.marks[s.target] = w.named(s.target, same), False
        elif wanted and s.op in FIRST and (found := containers.put_together(w, s)) is not None:
            w.bind(s.target, *found)
        elif wanted:
            w.bind(s.target, w.emit(s.op, args, keywords), False)
        else:
            w.out.append(replace(s, args=args, keywords=keywords))
            w.bind(s.target, s.target, False)
        return
    with w.block() as statements_:
        found = _written(w, s)
    if found is None:
        each(w, (s,), (s.target,))
        return
    w.out += statements_
    w.bind(s.target, *found)


def _written(w: Writer, s: Assign) -> tuple[Atom, Mark] | None:
    if s.op is operator.getitem and w.mark(s.args[1]) or known_of(s.op).may_copy:
        if isinstance(w.type(s.target), Array) and w.program.aliases.is_changed(s.target):
            raise Entangled  # what is a view in one example is none in the batch
    try:
        return written(w, s) if s.target not in w.forced else None
    except NoWay:
        return None


def _without_seed(w: Writer, s: Assign) -> Atom | None:
    """A product with the seed of a gradient, which is 1.0 here."""
    seeds = [isinstance(a, str) and w.now(a) == Const(1.0) for a in s.args]
    if not any(seeds) or w.program.aliases.is_changed(s.target):
        return None
    other = s.args[not seeds.index(True)]
    if isinstance(now := w.now(other), Const) and type(now.value) in (int, float):
        return Const(float(now.value))
    same = isinstance(t := w.type(s.target), (Array, Scalar)) and t == w.type(other)
    return now if same else None


def _is_natural(k: Const) -> bool:
    return type(k.value) is int and k.value >= 0


def store(w: Writer, s: Store) -> None:
    t, value = w.type(s.object), w.mark(s.value)
    key = w.mark(s.key) if s.key is not None else False
    own = w.mark(s.object)
    if is_container(t):
        if EACH in (own, value) or is_batched(key):
            w.need(s.object, EACH)
            each(w, (s,), ())
            return
        k = place(t, s.key.value if isinstance(s.key, Const) else None)
        held = list(parts(own, t))
        for i in range(len(held)) if k is None else (k,):
            held[i] = join(held[i], value)
        w.need(s.object, tidy(tuple(held))) if any(map(is_batched, held)) else None
        now = w.raised_to(s.value, held[k] if k is not None else held[0]) if held else w.now(s.value)
        w.out.append(replace(s, object=str(w.now(s.object)), key=s.key and w.now(s.key), value=now))
        return
    if EACH in (own, value, key):
        w.need(s.object, EACH if own is EACH else whole(t))
        each(w, (s,), ())
    elif not any(map(is_batched, (own, value, key))):
        at = None if s.key is None else w.now(s.key)
        w.out.append(replace(s, object=str(w.now(s.object)), key=at, value=w.now(s.value)))
    elif own is not True:
        w.need(s.object, whole(t))
    elif not subscripts.store(w, s):
        each(w, (s,), ())


def effect(w: Writer, s: Effect) -> None:
    marks = [w.mark(a) for a in s.atoms]
    first = s.args[0] if s.args else None
    if s.op in (ops.append, ops.insert) and is_container(t := w.type(s.args[0])):
        value = w.mark(s.args[-1])
        held = [join(m, value) for m in parts(marks[0], t)]
        if EACH in marks or EACH in held or s.op is ops.insert and is_batched(marks[1]) or not held and value:
            w.need(first, EACH)  # type: ignore[arg-type]
            each(w, (s,), ())
            return
        if any(map(is_batched, held)):
            w.need(first, tidy(tuple(held)))  # type: ignore[arg-type]
        item = w.raised_to(s.args[-1], held[0]) if held else w.now(s.args[-1])
        w.out.append(replace(s, args=(*map(w.now, s.args[:-1]), item)))
    elif not any(map(is_batched, marks)):
        w.out.append(replace(s, args=tuple(map(w.now, s.args)), keywords=tuple((k, w.now(a)) for k, a in s.keywords)))
    elif s.op == np.add.at and EACH not in marks and marks[0] is not True:
        w.need(first, True)  # type: ignore[arg-type]
    elif s.op == np.add.at and EACH not in marks and (found := subscripts.place_of(w, *s.args)) is not None:
        w.out.append(replace(s, args=(w.now(s.args[0]), *found)))
    else:
        each(w, (s,), ())


def opaque(w: Writer, s: Opaque) -> None:
    if any(is_batched(w.mark(a)) for _, a in s.reads) or any(w.raised.get(n) for _, n in s.writes):
        each(w, (s,), [n for _, n in s.writes])
        return
    w.out.append(replace(s, reads=tuple((text, w.now(a)) for text, a in s.reads)))
    for _, name in s.writes:
        w.bind(name, name, False)


# ---------------------------------------------------------------- branches
def branch(w: Writer, s: If) -> None:
    mark = w.mark(s.test)
    if is_batched(mark):
        _apart(w, s)
        return
    sides: list[tuple[Block, list[tuple[Atom, Mark]]]] = []
    wanted = [w.raised.get(m.name, False) for m in s.merged]
    arms = []
    for arm, values in ((s.then, [m.then for m in s.merged]), (s.orelse, [m.orelse for m in s.merged])):
        with w.block() as out:
            block(w, arm)
        wanted = [join(x, w.mark(v)) for x, v in zip(wanted, values, strict=True)]
        arms.append((out, values))
    for out, values in arms:
        with w.block() as more:
            now = [(w.raised_to(v, x, w.type(m.name)), x) for v, x, m in zip(values, wanted, s.merged, strict=True)]
        sides.append(((*out, *more), now))
    merged = tuple(
        Merge(m.name, x[0], y[0]) for m, x, y in zip(s.merged, sides[0][1], sides[1][1], strict=True)
    )  # fmt: skip
    w.out.append(replace(s, test=w.now(s.test), then=sides[0][0], orelse=sides[1][0], merged=merged))
    for m, x in zip(s.merged, wanted, strict=True):
        w.names[m.name], w.marks[m.name] = m.name, x


def _apart(w: Writer, s: If) -> None:
    """A branch that some examples take, and others not."""
    if any(isinstance(b, Leave) for b in statements((s,))):
        raise Unlike
    if w.mark(s.test) is not EACH and _is_cheap(s):
        if attempt(w, lambda: _chosen(w, s)):
            return
    if not attempt(w, lambda: part.branch(w, s, block)):
        each(w, (s,), [m.name for m in s.merged])


def _chosen(w: Writer, s: If) -> None:
    """Both sides of a branch, and for each example what it wants of them."""
    block(w, (*s.then, *s.orelse))
    for m in s.merged:
        found = chosen(w, s.test, m.then, m.orelse, w.type(m.name))
        if found is None or EACH in (w.mark(m.then), w.mark(m.orelse)):
            raise NoWay
        w.bind(m.name, *found)


def attempt(w: Writer, write: Callable[[], None]) -> bool:
    """Write in one way, if there is that way; else nothing is written."""
    state = {**w.names}, {**w.marks}, w.size, w.loops, {**w.looped}
    try:
        with w.block() as out:
            write()
    except (NoWay, Unlike):
        w.names, w.marks, w.size, w.loops, w.looped = state
        return False
    w.out += out
    return True


def _is_cheap(s: If) -> bool:
    """Whether both sides of a branch may be computed where one is wanted: neither changes anything, takes long, or can
    give NaN where it is not wanted."""
    return all(
        isinstance(b, Assign) and (known_of(b.op).cheap_on_arrays or b.op is operator.getitem or b.op is ops.identity)
        or isinstance(b, If) and _is_cheap(b)
        for arm in (s.then, s.orelse) for b in arm
    )  # fmt: skip


# ---------------------------------------------------------------- loops
def loop(w: Writer, s: For | While) -> None:
    if attempt(w, lambda: _together(w, s)):
        return
    if isinstance(s, While) and attempt(w, lambda: part.loop(w, s, block)):
        return
    each(w, (s,), [c.name for c in s.carried])


def _together(w: Writer, s: For | While) -> None:
    """A loop whose trips all examples make."""
    carried = []
    for c in s.carried:
        mark = join(w.mark(c.init), w.raised.get(c.name, False))
        carried.append((w.raised_to(c.init, mark, w.type(c.name)), mark))
        w.names[c.name], w.marks[c.name] = c.name, mark
    head: Block = ()
    if isinstance(s, For):
        iterable = _target(w, s)
    else:
        with w.block() as out:
            block(w, s.head)
        if is_batched(w.mark(s.test)):
            raise Unlike
        head = tuple(out)
    with w.block() as body:
        block(w, s.body)
        nexts = []
        for c, (_, mark) in zip(s.carried, carried, strict=True):
            more = join(mark, w.mark(c.next))
            if more != mark:
                w.raised[c.name] = join(w.raised.get(c.name, False), more)
                w.grew = True
            nexts.append(w.raised_to(c.next, more, w.type(c.name)))
    new = tuple(Carry(c.name, i, n) for c, (i, _), n in zip(s.carried, carried, nexts, strict=True))
    if isinstance(s, For):
        w.out.append(replace(s, iterable=iterable, body=tuple(body), carried=new))
    else:
        w.out.append(replace(s, head=head, test=w.now(s.test), body=tuple(body), carried=new))


def _target(w: Writer, s: For) -> Atom:
    """Let a loop's target be what it takes in a trip; gives what it runs over."""
    t = w.type(s.iterable)
    if (
        w.mark(s.iterable) is EACH
        or is_batched(w.mark(s.iterable))
        and not is_container(t)
        and not isinstance(t, Array)
    ):
        raise Unlike
    found = containers.rows(w, s.iterable) if isinstance(t, Array) or is_container(t) else (w.now(s.iterable), False)
    if found is None or isinstance(t, Array) and len(t.shape) == 1 and w.program.aliases.is_changed(str(s.iterable)):
        raise Unlike
    iterable, mark = found
    wanted = join(mark, w.raised.get(s.target, False))
    w.names[s.target], w.marks[s.target] = s.target, wanted
    if wanted != mark:
        w.need(s.iterable, tidy((wanted,) * len(t.items)) if is_container(t) else wanted)
    return iterable
