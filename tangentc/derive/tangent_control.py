"""Tangents through branches and loops: a tangent is carried beside each active value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tangentc.core import ops
from tangentc.core.build import Builder
from tangentc.core.nodes import Atom, Block, Carry, Const, For, If, Leave, Merge, Statement, While
from tangentc.core.types import Array, is_complex
from tangentc.core.walk import statements
from tangentc.derive.calls import refuse_active_items


class TangentControl:
    """The part of forward mode that knows control flow."""

    b: Builder
    active: set[str]
    dots: dict[str, Atom]
    block: Callable[[Block], None]
    dot: Callable[..., Atom]
    fit: Callable[..., Atom]
    zero: Callable[..., Atom]
    name: Callable[[Atom], str]
    _keep: Callable[[str, Atom], None]

    def branch(self, s: If) -> None:
        blocks: list[list[Statement]] = []
        ends: list[dict[str, Atom]] = []
        before = self.dots
        for block in (s.then, s.orelse):
            self.dots = dict(before)
            with self.b.block() as out:
                self.block(block)
                blocks.append(out)
            ends.append(self.dots)
        self.dots = before
        merged = list(s.merged)
        for m in s.merged:
            if m.name not in self.active or not (m.then in ends[0] or m.orelse in ends[1]):
                continue
            arms = []
            for k, atom in enumerate((m.then, m.orelse)):
                self.dots = ends[k]
                with self.b.reopen(blocks[k]):
                    arms.append(self.arm(atom, m.name))
            self.dots = before
            name = self.b.fresh(self.name(m.name))
            self.b.types.of_name[name] = self.b.type(m.name)
            merged.append(Merge(name, *arms))
            self._keep(m.name, name)
        self.b.out.append(replace(s, then=tuple(blocks[0]), orelse=tuple(blocks[1]), merged=tuple(merged)))

    def arm(self, atom: Atom, joined: str) -> Atom:
        """The tangent of what a joined name stands for on one path; complex where that may be."""
        if isinstance(atom, str):
            dot, t = self.fit(self.dot(atom), atom), self.b.type(joined)
            if (
                isinstance(self.b.type(dot), Array)
                and isinstance(t, Array)
                and is_complex(t) > is_complex(self.b.type(dot))
            ):
                return self.b.emit(ops.method, (dot, Const("astype"), Const(getattr(np, t.dtype))))
            return dot
        return Const(0.0) if isinstance(atom, Const) and not isinstance(atom.value, tuple) else self.zero(atom)

    def loop(self, s: For | While) -> None:
        refuse_active_items(s, self.active)
        self.b.passed()  # the body may have run before
        carries: list[tuple[Carry, str, Atom]] = []
        for c in s.carried:
            if c.name not in self.active:
                continue
            name = self.b.fresh(self.name(c.name))
            self.b.types.of_name[name] = self.b.type(c.name)
            carries.append((c, name, self.arm(c.init, c.name)))
        before = self.dots
        self.dots = dict(before)
        for c, name, _ in carries:
            self._keep(c.name, name)
        with self.b.block() as head:
            if isinstance(s, While):
                self.block(s.head)
        with self.b.block() as out:
            self.block(s.body)
            nexts = {}
            for c, _, _ in carries:
                nexts[c.name] = self.arm(c.next, c.name)
            body = tuple(out)
        self.dots = dict(before)
        for c, name, _ in carries:
            self._keep(c.name, name)
        carried = (*s.carried, *(Carry(name, init, nexts[c.name]) for c, name, init in carries))
        if _leaves(body):
            body = _before_leaving(body)
        whole = replace(s, body=body, carried=carried)
        self.b.out.append(replace(whole, head=tuple(head)) if isinstance(whole, While) else whole)


def _leaves(block: Block) -> bool:
    return any(isinstance(s, Leave) for s in statements(block))


def _before_leaving(block: Block) -> Block:
    """A branch that leaves ends with leaving, also after tangents have been added behind it."""
    out: list[Statement] = []
    last: list[Statement] = []
    for s in block:
        if isinstance(s, If):
            s = replace(s, then=_before_leaving(s.then), orelse=_before_leaving(s.orelse))
        (last if isinstance(s, Leave) else out).append(s)
    return tuple(out + last)
