"""Blocks that only a part of the examples run: these are taken out of the batch, and what they make is put back.

if x > 0:                          y = x.copy()
    y = np.log(x)         ->       y[positive] = np.log(x[positive])
else:
    y = x

while abs(x * x - a) > 1e-9:       while True:
    x = (x + a / x) / 2   ->           active = active[abs(x[active] * x[active] - a[active]) > 1e-9]
                                       if len(active) == 0:
                                           break
                                       x[active] = (x[active] + a[active] / x[active]) / 2

No example runs what it would not run by itself, so that nothing raises, or is NaN, that would not be so in a loop.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from tangentc.batching.each import outside
from tangentc.batching.marks import EACH, Mark, is_batched, parts
from tangentc.batching.writer import BEHIND, NoWay, Writer
from tangentc.core import ops
from tangentc.core.nodes import (
    Assign,
    Atom,
    Block,
    Carry,
    Const,
    If,
    Leave,
    Merge,
    Op,
    Statement,
    Store,
    While,
    version_base,
)
from tangentc.core.types import Array, Scalar, Type, is_container
from tangentc.core.walk import all_changed_by, all_defines, statements

Write = Callable[[Writer, Block], None]


@contextmanager
def taken_out(w: Writer, block: Block, index: Atom, more: Sequence[Atom] = (), count: Op = len) -> Iterator[None]:
    """Write for the examples that an index names: what the block reads of the batch is that of these examples, and what
    it changes is put back."""
    if any(isinstance(s, Leave) for s in statements(block)):
        raise NoWay
    names, marks, size, loops = {**w.names}, {**w.marks}, w.size, w.loops
    inner = all_defines(block)
    read = [a for a in dict.fromkeys([*outside(block), *more]) if isinstance(a, str) and a not in inner]
    changed = _changed(w, block, read)
    for a in read:
        if is_batched(w.mark(a)):
            name = f"{version_base(a).lstrip('%')}_part" if a in changed else ""
            w.names[a] = _part(w, w.now(a), w.mark(a), w.type(a), index, name)
    w.size = w.emit(count, (index,))
    with w.block() as out:
        yield
    if w.loops != loops or any(_needs_examples(s) for s in statements(tuple(out))):
        raise NoWay  # which have nothing to be done for where the part is empty
    w.out += out
    for a in changed:
        w.out.append(Store(str(names[a]), index, w.now(a), None, w.span))
    inside = {k: v for k, v in w.names.items() if k in inner}
    w.names, w.size = {**w.names, **names, **inside}, size
    w.marks = {**w.marks, **marks, **{k: w.marks[k] for k in inside}}


def _changed(w: Writer, block: Block, read: Sequence[str]) -> list[str]:
    """The arrays made before a block that it changes."""
    aliases = w.program.aliases
    roots = {aliases.root(n) for s in statements(block) for n in all_changed_by(s)}
    found = [a for a in read if aliases.root(a) in roots and isinstance(w.type(a), Array)]
    found_roots = [aliases.root(a) for a in found]
    if len(set(found_roots)) < len(found) or any(
        is_container(w.type(a)) and aliases.root(a) in roots for a in read
    ):  # fmt: skip
        raise NoWay
    for a in found:
        w.need(a, True)
        if w.mark(a) is not True:
            raise NoWay
    return found


def _needs_examples(s: Statement) -> bool:
    """Whether a length is left to NumPy, which does not know it where there are no examples."""
    made = isinstance(s, Assign) and s.op is np.reshape and isinstance(s.args[1], str | Const)
    return made and (not isinstance(s.args[1], Const) or -1 in np.atleast_1d(s.args[1].value))  # type: ignore[union-attr]


def _part(w: Writer, atom: Atom, mark: Mark, t: Type, index: Atom, name: str = "") -> Atom:
    if mark is EACH or getattr(t, "or_number", False):
        raise NoWay
    if isinstance(mark, tuple):
        return w.rebuilt(atom, t, lambda part, k, item: _part(w, part, parts(mark, t)[k], item, index))
    return w.emit(operator.getitem, (atom, index), name=name) if mark else atom


def branch(w: Writer, s: If, write: Write) -> None:
    """A branch of which each side is run by the examples that take it.  Raises `NoWay` if it cannot be."""
    if w.mark(s.test) is not True or any(not isinstance(w.type(m.name), (Array, Scalar)) for m in s.merged):
        raise NoWay
    test = w.now(s.test)
    if getattr(w.type(s.test), "dtype", "") != "bool":
        test = w.emit(operator.ne, (test, Const(0)))
    w.unnamed |= {a for m in s.merged for a in (m.then, m.orelse)}
    size = w.size
    begun: dict[str, Atom] = {}
    firsts: dict[str, int] = {}
    for m in s.merged:  # what one side leaves as it was
        for k, (atom, arm) in enumerate(((m.then, s.then), (m.orelse, s.orelse))):
            if m.name not in begun and (not isinstance(atom, str) or atom not in all_defines(arm)):
                begun[m.name], firsts[m.name] = _begun(w, m, atom), k
    for k, arm in enumerate((s.then, s.orelse)):
        put = [(m, (m.then, m.orelse)[k]) for m in s.merged if firsts.get(m.name) != k]
        if not arm and not put:
            continue
        index = w.emit(operator.invert, (test,)) if k else test
        with taken_out(w, arm, index, [value for _, value in put], np.count_nonzero):
            write(w, arm)
            for m, value in put:
                if w.mark(value) is EACH:
                    raise NoWay
                if m.name not in begun:
                    begun[m.name] = _empty(w, m, value, size)
                now = w.aligned(value, w.rank(m.name) or 0)
                w.out.append(Store(str(begun[m.name]), index, now, None, w.span))
    for m in s.merged:
        w.bind(m.name, begun[m.name], True)


def _begun(w: Writer, m: Merge, atom: Atom) -> Atom:
    """A copy of a value for all examples, that some get another one in."""
    t = w.type(m.name)
    if getattr(t, "or_number", False) or w.mark(atom) is EACH:
        raise NoWay
    whole = w.mark(atom) is True
    made = w.now(atom) if whole else w.converted(w.now(atom), False, True, t, True)
    if w.type(atom).dtype != t.dtype:  # type: ignore[union-attr]
        return w.emit(np.astype, (made, Const(np.dtype(t.dtype).type)))  # type: ignore[union-attr]
    return w.emit(np.copy, (made,)) if whole else made


def _empty(w: Writer, m: Merge, value: Atom, whole: Atom) -> Atom:
    """An array for the values of all examples."""
    t = w.type(m.name)
    assert isinstance(t, (Array, Scalar))
    if isinstance(t, Scalar):
        shape: Atom = whole
    elif all(isinstance(d, int) for d in t.shape):
        shape = w.joined((whole, *map(Const, t.shape)))
    else:
        lengths = w.emit(getattr, (w.now(value), Const("shape")))
        if w.mark(value):
            lengths = w.emit(operator.getitem, (lengths, BEHIND))
        shape = w.emit(operator.add, (w.emit(ops.make_tuple, (whole,)), lengths))
    dtype = (("dtype", Const(np.dtype(t.dtype).type)),) if t.dtype != "float64" else ()
    return w.emit(np.empty, (shape,), dtype)


def loop(w: Writer, s: While, write: Write) -> None:
    """A loop that each example runs for as many trips as it takes.  Raises `NoWay` if it cannot be."""
    if any(not isinstance(w.type(c.name), (Array, Scalar)) for c in s.carried):
        raise NoWay
    for c in s.carried:
        made = _begun(w, Merge(c.name, c.init, c.init), c.init)
        w.names[c.name], w.marks[c.name] = w.named(c.name, made), True
    state = {c.name: str(w.names[c.name]) for c in s.carried}
    w.unnamed |= {c.next for c in s.carried}
    start = w.examples()
    active = w.builder.fresh("active")
    with w.block() as head:
        with taken_out(w, s.head, active, [s.test]):
            write(w, s.head)
            if w.mark(s.test) is not True:
                raise NoWay
            test = w.now(s.test)
            if getattr(w.type(s.test), "dtype", "") != "bool":
                test = w.emit(operator.ne, (test, Const(0)))
        left = w.emit(operator.getitem, (active, test), name="active")
        goes = w.emit(operator.gt, (w.emit(len, (left,)), Const(0)))
    with w.block() as body:
        for name in all_defines(s.head):  # what the head made, of those that go on
            if name in w.names and w.mark(name):
                w.names[name] = _part(w, w.now(name), w.mark(name), w.type(name), test)
        of_head = {n: w.names.pop(n) for n in all_defines(s.head) if n in w.names}
        with taken_out(w, s.body, left, [c.next for c in s.carried]):
            w.names.update(of_head)
            write(w, s.body)
            for c in s.carried:
                if w.mark(c.next) is EACH:
                    raise NoWay
                if c.next != c.name:
                    value = w.aligned(c.next, w.rank(c.name) or 0)
                    w.out.append(Store(state[c.name], left, value, None, w.span))
    w.out.append(While(tuple(head), goes, tuple(body), (Carry(active, start, left),), s.span))
