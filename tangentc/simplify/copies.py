"""Removing names that are only other names for something.

    t = u                      return u + v               a loop that hands x on unchanged
    return t + v        ->                                carries nothing

and copies that are used once, at once:

    rhs_bar = A_bar[1:-1].copy()          rhs_bar = A_bar[1:-1] / 3
    A_bar[1:-1] = 0                  ->   A_bar[1:-1] = 0
    sum_bar = rhs_bar / 3
"""

from __future__ import annotations

import operator
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

from tangentc.analysis.aliases import Aliases, asks_for_layout
from tangentc.analysis.elementwise import is_elementwise
from tangentc.analysis.program import Program
from tangentc.core import ops
from tangentc.core.nodes import (
    Assign,
    Atom,
    Block,
    Const,
    For,
    Function,
    If,
    Opaque,
    Statement,
    Store,
    While,
    is_temporary,
    version_base,
)
from tangentc.core.types import Array
from tangentc.core.walk import (
    blocks,
    changed_by,
    defines,
    definitions,
    reads,
    statements,
    substitute,
    substitute_block,
    transform,
    with_blocks,
)

COPIES = {np.copy, ops.copied}


def copies(function: Function, present: bool = True) -> Function:
    """The function without names that stand for other names; ``present``: also where None is not among the values."""
    return _Copies(function, present).run()


class _Copies:
    def __init__(self, function: Function, present: bool):
        self.function, self.present = function, present
        self.known: dict[str, Atom] = {}
        self.renamed: dict[str, str] = {}
        self.taken: set[str] = set()  # items of tuples
        self.defined = definitions(function.body)
        self.lists = _lists_for_their_items(function)
        self.stored = {changed_by(s) for s in statements(function.body)}

    def run(self) -> Function:
        changed = True
        while changed:
            changed = False
            for s in statements(self.function.body):
                for name, atom in self.names_of(s):
                    if isinstance(s, Assign) and s.op is operator.getitem:
                        self.taken.add(name)
                    changed |= self.note(name, self.resolve(atom), s)
        if not self.known:
            return self.function
        self.table = {name: self.resolve(name) for name in self.known}
        body, result = transform(self.function.body, self.rewrite), self.function.result
        return replace(self.function, body=body, result=self.table.get(result, result))  # type: ignore[arg-type]

    def resolve(self, atom: Atom) -> Atom:
        seen = []
        while isinstance(atom, str) and atom in self.known:
            seen.append(atom)
            atom = self.known[atom]
        for name in seen:
            self.known[name] = atom
        return atom

    def is_name(self, s: Assign) -> bool:
        return s.op is ops.identity and (self.present or not s.keywords)

    def names_of(self, s: Statement) -> list[tuple[str, Atom]]:
        """The names that a statement gives to what has one already."""
        resolve = self.resolve
        match s:
            case Assign() if self.is_name(s):
                return [(s.target, s.args[0])]
            case Assign() if (item := self.item_of_tuple(s)) is not None:
                return [(s.target, item)]
            case If():
                return [(m.name, m.then) for m in s.merged if resolve(m.then) == resolve(m.orelse)]
            case For() | While():
                return [(c.name, c.init) for c in s.carried if resolve(c.next) in (c.name, resolve(c.init))]
        return []

    def item_of_tuple(self, s: Assign) -> Atom | None:
        """``t[1]`` of ``t = a, b`` is b."""
        if not _is_item(s):
            return None
        made = self.defined.get(self.resolve(s.args[0]))  # type: ignore[arg-type]
        if not isinstance(made, Assign):
            return None
        named = made.op is ops.make_struct and issubclass(made.args[0].value, tuple)  # type: ignore[union-attr]
        items, k = made.args[2:] if named else made.args, s.args[1].value  # type: ignore[union-attr]
        is_tuple = named or made.op is ops.make_tuple or made.target in self.lists
        return items[k] if is_tuple and -len(items) <= k < len(items) else None

    def note(self, name: str, target: Atom, s: Statement) -> bool:
        """Note what a name stands for; gives whether that is news."""
        if not isinstance(target, str) and name in self.stored:
            return False
        if name in self.known or target == name or name in self.renamed:
            return False
        better = not is_temporary(name) or version_base(name) == "%out"
        if isinstance(target, str) and is_temporary(target) and better and target not in self.renamed:
            if isinstance(self.defined.get(target), Assign) and isinstance(s, Assign):
                self.renamed[target] = self.known[target] = name  # the user's name is the better one
                return True
        self.known[name] = target
        return True

    def rewrite(self, s: Statement) -> tuple[Statement, ...]:
        table: Any = self.table
        if isinstance(s, Assign) and s.target in self.taken:
            return ()
        if isinstance(s, Assign) and self.is_name(s) and (s.target in table or table.get(s.args[0]) == s.target):
            return ()
        s = substitute(s, table)
        match s:
            case Assign() if s.target in self.renamed:
                return (replace(s, target=table[s.target]),)
            case If():
                return (replace(s, merged=tuple(m for m in s.merged if m.name not in table)),)
            case For() | While():
                return (replace(s, carried=tuple(c for c in s.carried if c.name not in table)),)
        return (s,)


def _is_item(s: Statement) -> bool:
    place = s.args[1] if isinstance(s, Assign) and s.op is operator.getitem else None
    return isinstance(place, Const) and type(place.value) is int


def _lists_for_their_items(function: Function) -> set[str]:
    """The lists of no name that are made for their items alone, ``q, k = [f(x) for x in (a, b)]``."""
    found = {
        s.target for s in statements(function.body)
        if isinstance(s, Assign) and s.op is ops.make_list and is_temporary(s.target)
    }  # fmt: skip
    for s in statements(function.body) if found else ():
        found -= {*(reads(s)[1:] if _is_item(s) else reads(s)), changed_by(s)}
    return found - {function.result}


def borrowed(program: Program) -> Function:
    """The function without copies of its parameters that nothing changes any more, and that it does not give away."""
    function = program.function
    params = {p.name for p in function.params}
    copied = [s for s in function.body if isinstance(s, Assign) and s.op in COPIES and not s.keywords]
    of = program.types.of  # `np.copy` of a number, or of a list, is an array
    same = (s for s in copied if s.args[0] in params and (s.op is ops.copied or of(s.target) == of(s.args[0])))
    table: dict[str, Atom] = {s.target: s.args[0] for s in same}
    if not table or any(isinstance(s, Opaque) for s in statements(function.body)):
        return function
    aliases = program.aliases
    given = aliases.root(function.result) if isinstance(function.result, str) else ""
    table = {n: p for n, p in table.items() if not aliases.is_changed(n) and aliases.root(n) != given}
    kept = tuple(s for s in function.body if not (isinstance(s, Assign) and s.target in table))
    return replace(function, body=substitute_block(kept, table)) if table else function


def elide(function: Function, types: Any, aliases: Aliases) -> Function:
    """The function without copies that are read once, by an elementwise operation in the same block."""
    uses = Counter(a for s in statements(function.body) for a in reads(s) if isinstance(a, str))
    uses[function.result] += 1  # type: ignore[index]
    views: dict[str, Atom] = {}  # in place of copies
    lent: set[Atom] = set()  # what is no copy any more
    defined = definitions(function.body)
    shows = asks_for_layout(function)  # the order of entries, which a copy may change

    def block(statements_: Block) -> Block:
        out: list[Statement] = []
        waiting: dict[str, int] = {}  # copied name -> where its copy stands in out
        for k, s in enumerate(statements_):
            s = with_blocks(s, block)
            may = isinstance(s, Assign) and s.op is np.copy and s.args[0] not in lent
            if isinstance(s, Assign) and may and _is_read_in_time(s, statements_[k + 1 :], uses, types, aliases):
                lent.add(s.target)
                made = defined.get(s.args[0])  # type: ignore[arg-type]
                if uses[s.target] > 1 and isinstance(made, Assign) and _is_part(made, types, aliases):
                    s = replace(made, target=s.target, span=s.span)  # under a name of its own
                else:
                    views[s.target] = s.args[0]
                    continue
            if isinstance(s, Assign) and is_elementwise(s.op) and isinstance(types.of(s.target), Array):
                moved = [a for a in s.atoms if isinstance(a, str) and a in waiting]
                if len(moved) == 1 and uses[moved[0]] == 1:
                    place = waiting[moved[0]]
                    copy = out[place]
                    assert isinstance(copy, Assign)
                    since = {name for later in out[place + 1 :] for name in defines(later)}
                    others = {a for a in s.atoms if isinstance(a, str)} - {moved[0]}
                    same = types.of(s.target) == types.of(moved[0])
                    if same and not others & (since | lent) and not any(map(aliases.is_changed, others)):
                        out[place] = substitute(s, {moved[0]: copy.args[0]})
                        waiting = {n: k for n, k in waiting.items() if n != moved[0]}
                        continue
            if isinstance(s, Assign) and s.op is np.copy and (s.span.sweep or not shows):
                waiting[s.target] = len(out)
            elif not isinstance(s, (Assign, Store)) or isinstance(s, Assign) and not ops.is_pure(s.op):
                waiting = {}
            out.append(s)
        return tuple(out)

    return replace(function, body=substitute_block(block(function.body), views))


def _is_read_in_time(copy: Assign, after: Block, uses: Counter[str], types: Any, aliases: Aliases) -> bool:
    """Whether the adjoint reads a copy for the last time before what is copied changes."""
    if copy.span.sweep != "adjoint" or not isinstance(copy.args[0], str):
        return False
    left, root = uses[copy.target], aliases.root(copy.args[0])
    if aliases.is_changed(copy.target):
        return False
    for s in after:
        count = reads(s).count(copy.target)
        if blocks(s) or _may_call(s, root, aliases):
            return False
        if count and (not isinstance(s, (Assign, Store)) or isinstance(s, Assign) and aliases.shares(s)):
            return False
        if count and isinstance(s, Store) and not isinstance(types.of(s.object), Array):
            return False  # a list holds what is stored into it
        left -= count
        changed = changed_by(s)
        if not left or changed is not None and aliases.root(changed) == root:
            return not left
    return False


def _is_part(made: Assign, types: Any, aliases: Aliases) -> bool:
    """Whether a statement names a part of an array, which is the same memory each time."""
    return made.op is operator.getitem and isinstance(types.of(made.args[0]), Array) and bool(aliases.shares(made))


def _may_call(s: Statement, root: str, aliases: Aliases) -> bool:
    """Whether a statement may call what changes this memory."""
    if not isinstance(s, Assign):
        return False
    given = isinstance(s.op, (ops.Emitted, ops.UserFunction)) and any(
        isinstance(a, str) and aliases.root(a) == root for a in s.atoms
    )
    return given or not ops.is_pure(s.op) and s.op is not ops.pop
